/* A file for values that have no space in memory. */
#include "drivers/chunks/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/bytes.h"

enum { PATH_BYTES = 4096 };

/* The advice is the same for all errors. */
static int set_spill_error(const char *what, const char *folder, int code, pnc_error *error)
{
    return pnc_error_set(error, NC_EWRITE,
                         "cannot %s a temporary file in %s: %s: it keeps the values of independent puts, which have no "
                         "space in memory until the next collective call: set TMPDIR to a folder that has space, or "
                         "call ncmpi_sync more often",
                         what, folder, strerror(code));
}

static int open_spill(pnc_spill *spill, const char *folder, pnc_error *error)
{
    char path[PATH_BYTES];

    if (spill->is_open)
        return NC_NOERR;
    if (snprintf(path, sizeof path, "%s/.pnetcdf-XXXXXX", folder) >= (int)sizeof path)
        return set_spill_error("create", folder, ENAMETOOLONG, error);
    spill->fd = mkstemp(path);
    if (spill->fd < 0)
        return set_spill_error("create", folder, errno, error);
    unlink(path);
    fcntl(spill->fd, F_SETFD, FD_CLOEXEC);
    spill->is_open = true;
    spill->end = 0;
    return NC_NOERR;
}

int pnc_chunks_spill_write(pnc_spill *spill, const char *folder, const void *bytes, int64_t n, pnc_error *error)
{
    int number;

    if (open_spill(spill, folder, error) != NC_NOERR)
        return NC_EWRITE;
    number = pnc_host_bytes_write(spill->fd, spill->end, bytes, n);
    if (number != 0)
        return set_spill_error("write", folder, number, error);
    spill->end += n;
    return NC_NOERR;
}

int pnc_chunks_spill_read(const pnc_spill *spill, int64_t at, void *bytes, int64_t n, pnc_error *error)
{
    int number = pnc_host_bytes_read(spill->fd, at, bytes, n);

    if (number == 0)
        return NC_NOERR;
    return pnc_error_set(error, NC_EREAD,
                         "values of independent puts are lost: the temporary file that has them cannot be read: %s",
                         number > 0 ? strerror(number) : "it is shorter than what was written");
}

void pnc_chunks_spill_close(pnc_spill *spill)
{
    if (spill->is_open)
        close(spill->fd);
    *spill = (pnc_spill){0};
}
