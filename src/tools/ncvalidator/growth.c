/* Completing an interrupted growth of the header: src/growth, for one process and a file descriptor. */
#include "tools/ncvalidator/growth.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/message.h"

typedef struct target {
    const char *path;
    int fd;
    pnc_error error;
} target;

static int failed(target *t, int code, const char *what)
{
    return pnc_error_set(&t->error, code, "%s: cannot be %s: %s", t->path, what, strerror(errno));
}

static int transfer(target *t, bool is_write, pnc_extent rest, char *bytes)
{
    while (rest.length > 0) {
        size_t n = (size_t)rest.length;
        ssize_t done = is_write ? pwrite(t->fd, bytes, n, rest.offset) : pread(t->fd, bytes, n, rest.offset);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && is_write)
            return failed(t, errno == ENOSPC ? NC_ENO_SPACE : NC_EWRITE, "written");
        if (done < 0)
            return failed(t, NC_EREAD, "read");
        if (done == 0 && !is_write)
            return pnc_error_set(&t->error, NC_EREAD, "%s: the file is truncated", t->path);
        bytes += done;
        rest.offset += done;
        rest.length -= done;
    }
    return NC_NOERR;
}

static int read_extents(void *file, const pnc_extent *extents, int64_t n, void *bytes)
{
    char *to = bytes;

    for (int64_t i = 0; i < n; to += extents[i].length, i++)
        PNC_TRY(transfer(file, false, extents[i], to));
    return NC_NOERR;
}

static int write_extents(void *file, const pnc_extent *extents, int64_t n, const void *bytes)
{
    char *from = (char *)bytes; /* not changed */

    for (int64_t i = 0; i < n; from += extents[i].length, i++)
        PNC_TRY(transfer(file, true, extents[i], from));
    return NC_NOERR;
}

static int agree(void *file, int err)
{
    (void)file;
    return err;
}

static int sync_file(void *file)
{
    target *t = file;

    return fsync(t->fd) == 0 || errno == EINVAL ? NC_NOERR : failed(t, NC_EWRITE, "written");
}

static int set_size(void *file, int64_t size)
{
    target *t = file;

    return ftruncate(t->fd, (off_t)size) == 0 ? NC_NOERR : failed(t, NC_EWRITE, "written");
}

int validator_growth_repair(const char *path, int fd, pnc_growth_outcome *outcome)
{
    target t = {.path = path, .fd = fd};
    pnc_growth_io io = {.file = &t,
                        .path = path,
                        .nprocs = 1,
                        .error = &t.error,
                        .read = read_extents,
                        .write = write_extents,
                        .agree = agree,
                        .sync = sync_file,
                        .set_size = set_size};
    struct stat facts;
    int err = fstat(fd, &facts) == 0 ? NC_NOERR : failed(&t, NC_EFILE, "examined");

    if (err == NC_NOERR)
        err = pnc_growth_file_repair(&io, facts.st_size, outcome);
    if (err != NC_NOERR)
        tool_error_print("%s", t.error.text);
    return err;
}
