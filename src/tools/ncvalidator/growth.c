/* Completing an interrupted growth of the header: src/growth, for one process and a file descriptor. */
#include "tools/ncvalidator/growth.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/path.h"
#include "host/host.h"
#include "host/bytes.h"
#include "tools/common/message.h"

static int failed(validator_hold *t, int number, int code, const char *what)
{
    return pnc_error_set(&t->error, number == ENOSPC ? NC_ENO_SPACE : code, "%s: cannot be %s: %s", t->path, what,
                         number > 0 ? strerror(number) : "the file is truncated");
}

static int read_extents(void *file, const pnc_extent *extents, int64_t n, void *bytes)
{
    validator_hold *t = file;
    char *to = bytes;

    for (int64_t i = 0; i < n; to += extents[i].length, i++) {
        int number = pnc_host_bytes_read(t->fd, extents[i].offset, to, extents[i].length);
        if (number != 0)
            return failed(t, number, NC_EREAD, "read");
    }
    return NC_NOERR;
}

static int write_extents(void *file, const pnc_extent *extents, int64_t n, const void *bytes)
{
    validator_hold *t = file;
    const char *from = bytes;

    for (int64_t i = 0; i < n; from += extents[i].length, i++) {
        int number = pnc_host_bytes_write(t->fd, extents[i].offset, from, extents[i].length);
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
    validator_hold *t = file;

    return fsync(t->fd) == 0 || errno == EINVAL ? NC_NOERR : failed(t, errno, NC_EWRITE, "written");
}

static int set_size(void *file, int64_t size)
{
    validator_hold *t = file;

    return ftruncate(t->fd, (off_t)size) == 0 ? NC_NOERR : failed(t, errno, NC_EWRITE, "written");
}

static pnc_held hold_file(void *file, pnc_hold hold)
{
    validator_hold *t = file;

    return pnc_host_file_hold(t->fd, t->writes || hold != PNC_HOLD_EXCLUSIVE ? hold : PNC_HOLD_INQUIRE);
}

static void identify(void *file, pnc_growth_program *own)
{
    own->id = pnc_host_id_create();
    own->is_local = ((validator_hold *)file)->is_local;
    if (!own->is_local)
        pnc_host_node_get(own->node);
}

static pnc_growth_io get_io(validator_hold *held)
{
    return (pnc_growth_io){.file = held,
                           .path = held->path,
                           .nprocs = 1,
                           .assumes_dead = held->assumes_dead,
                           .life = &held->life,
                           .error = &held->error,
                           .read = read_extents,
                           .write = write_extents,
                           .agree = agree,
                           .sync = sync_file,
                           .set_size = set_size,
                           .hold = hold_file,
                           .identify = identify};
}

static int report(const validator_hold *held, int err)
{
    if (err != NC_NOERR)
        tool_error_print("%s", held->error.text);
    return err;
}

int validator_hold_begin(const char *path, bool writes, bool assumes_dead, validator_hold *held)
{
    struct statfs system;
    pnc_growth_io io;

    *held = (validator_hold){.path = path, .writes = writes, .assumes_dead = assumes_dead};
    /* opening a FIFO must not block */
    held->fd = open(pnc_path_strip(path), (writes ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC);
    if (held->fd < 0)
        return NC_NOERR;
    held->is_local = fstatfs(held->fd, &system) == 0 && pnc_host_type_is_local((uint32_t)system.f_type);
    io = get_io(held);
    return report(held, pnc_growth_life_begin(&io));
}

/* Closing the file releases it. */
void validator_hold_end(validator_hold *held)
{
    if (held->fd >= 0)
        close(held->fd);
    held->fd = -1;
}

static int get_size(validator_hold *held, int64_t *size)
{
    struct stat facts;

    if (fstat(held->fd, &facts) != 0)
        return failed(held, errno, NC_EFILE, "examined");
    *size = facts.st_size;
    return NC_NOERR;
}

int validator_growth_examine(validator_hold *held)
{
    pnc_growth_io io = get_io(held);
    int64_t size = 0;
    int err = get_size(held, &size);

    return report(held, err != NC_NOERR ? err : pnc_growth_file_examine(&io, size));
}

int validator_growth_repair(validator_hold *held, pnc_growth_outcome *outcome)
{
    pnc_growth_io io = get_io(held);
    int64_t size = 0;
    int err = get_size(held, &size);

    return report(held, err != NC_NOERR ? err : pnc_growth_file_repair(&io, size, outcome));
}
