/* Completing an interrupted growth of the header: src/growth, for one process and a file descriptor. */
#include "tools/ncvalidator/growth.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/bytes.h"
#include "tools/common/message.h"

typedef struct target {
    const char *path;
    int fd;
    pnc_error error;
} target;

static int failed(target *t, int number, int code, const char *what)
{
    return pnc_error_set(&t->error, number == ENOSPC ? NC_ENO_SPACE : code, "%s: cannot be %s: %s", t->path, what,
                         number > 0 ? strerror(number) : "the file is truncated");
}

static int read_extents(void *file, const pnc_extent *extents, int64_t n, void *bytes)
{
    target *t = file;
    char *to = bytes;

    for (int64_t i = 0; i < n; to += extents[i].length, i++) {
        int number = tool_bytes_read(t->fd, extents[i].offset, to, extents[i].length);
        if (number != 0)
            return failed(t, number, NC_EREAD, "read");
    }
    return NC_NOERR;
}

static int write_extents(void *file, const pnc_extent *extents, int64_t n, const void *bytes)
{
    target *t = file;
    const char *from = bytes;

    for (int64_t i = 0; i < n; from += extents[i].length, i++) {
        int number = tool_bytes_write(t->fd, extents[i].offset, from, extents[i].length);
        if (number != 0)
            return failed(t, number, NC_EWRITE, "written");
    }
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

    return fsync(t->fd) == 0 || errno == EINVAL ? NC_NOERR : failed(t, errno, NC_EWRITE, "written");
}

static int set_size(void *file, int64_t size)
{
    target *t = file;

    return ftruncate(t->fd, (off_t)size) == 0 ? NC_NOERR : failed(t, errno, NC_EWRITE, "written");
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
    int err = fstat(fd, &facts) == 0 ? NC_NOERR : failed(&t, errno, NC_EFILE, "examined");

    if (err == NC_NOERR)
        err = pnc_growth_file_repair(&io, facts.st_size, outcome);
    if (err != NC_NOERR)
        tool_error_print("%s", t.error.text);
    return err;
}
