/* The store of a file descriptor: plain calls of the operating system. */
#include "formats/netcdf4/descriptor.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int read_descriptor(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                           pnc_error *error)
{
    const pnc_netcdf4_descriptor *s = (const pnc_netcdf4_descriptor *)store;
    char *to = buf;

    for (int64_t i = 0; i < n; i++)
        for (int64_t done = 0; done < extents[i].length;) {
            ssize_t now = pread(s->fd, to, (size_t)(extents[i].length - done), (off_t)(extents[i].offset + done));

            if (now < 0 && errno == EINTR)
                continue;
            if (now <= 0)
                return pnc_error_set(error, NC_EREAD, "%s: cannot read %lld bytes at byte %lld: %s", s->path,
                                     (long long)(extents[i].length - done), (long long)(extents[i].offset + done),
                                     now < 0 ? strerror(errno) : "the file is truncated");
            done += now;
            to += now;
        }
    if (got != NULL)
        *got = to - (char *)buf;
    return NC_NOERR;
}

static int write_descriptor(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    const pnc_netcdf4_descriptor *s = (const pnc_netcdf4_descriptor *)store;
    const char *from = buf;

    for (int64_t i = 0; i < n; i++)
        for (int64_t done = 0; done < extents[i].length;) {
            ssize_t now = pwrite(s->fd, from, (size_t)(extents[i].length - done), (off_t)(extents[i].offset + done));

            if (now < 0 && errno == EINTR)
                continue;
            if (now <= 0)
                return pnc_error_set(error, errno == ENOSPC ? NC_ENO_SPACE : NC_EWRITE, "%s: cannot be written: %s",
                                     s->path, strerror(errno));
            done += now;
            from += now;
        }
    return NC_NOERR;
}

static const pnc_store_ops descriptor_ops = {.name = "descriptor", .read = read_descriptor, .write = write_descriptor};

void pnc_netcdf4_descriptor_init(pnc_netcdf4_descriptor *s, pnc_file *file, int fd, char *path, pnc_error *error)
{
    *s = (pnc_netcdf4_descriptor){.store = {.ops = &descriptor_ops, .nprocs = 1, .nnodes = 1}, .path = path, .fd = fd};
    s->store.end = &s->end;
    *file = (pnc_file){.path = path, .nprocs = 1, .read_only = true, .store = &s->store, .error = error};
}
