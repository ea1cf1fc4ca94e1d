/* What containers of objects have in common. */
#include "drivers/objects.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "host/host.h"

/* --- errors --- */

static int get_code_of_errno(int number, int otherwise)
{
    switch (number) {
    case ENOENT: return NC_ENOENT;
    case EEXIST: return NC_EEXIST;
    case EACCES:
    case EPERM: return NC_EACCESS;
    case EROFS: return NC_EPERM;
    case ENOSPC:
    case EFBIG: return NC_ENO_SPACE;
    case EDQUOT: return NC_EQUOTA;
    case EMFILE:
    case ENFILE: return NC_ENFILE;
    case ENAMETOOLONG:
    case ENOTDIR:
    case ELOOP: return NC_EBAD_FILE;
    default: return otherwise;
    }
}

int pnc_objects_error_set(pnc_error *error, int number, int otherwise, const char *what, const char *path,
                          const char *key)
{
    const char *slash = key[0] == '\0' ? "" : "/";

    if (number == ELOOP || number == ENOTDIR)
        return pnc_error_set(error, NC_EBAD_FILE,
                             "%s%s%s: cannot %s: it is not where a dataset has such objects, or a symbolic link, which "
                             "is not followed",
                             path, slash, key, what);
    return pnc_error_set(error, get_code_of_errno(number, otherwise), "%s%s%s: cannot %s: %s", path, slash, key, what,
                         number < 0 ? "it ends before" : strerror(number));
}

int64_t pnc_objects_id_create(void)
{
    return pnc_host_id_create();
}

/* --- operations --- */

int pnc_objects_load(const pnc_objects *objects, const char *key, int64_t most, char **bytes, int64_t *n,
                     pnc_error *error)
{
    int64_t size;
    char *read;
    int err;

    PNC_TRY(objects->ops->find(objects, key, &size, error));
    if (size < 0)
        return pnc_error_set(error, NC_ENOENT, "%s/%s: there is no such object", objects->path, key);
    read = size <= most ? pnc_memory_alloc(size + 1, 1) : NULL;
    if (read == NULL)
        return pnc_error_set(error, size <= most ? NC_ENOMEM : NC_EREAD, "%s/%s: it has %lld bytes, which is too much",
                             objects->path, key, (long long)size);
    err = objects->ops->read(objects, key, 0, read, size, error);
    if (err != NC_NOERR) {
        pnc_memory_free(read);
        return err;
    }
    read[size] = '\0';
    *bytes = read;
    *n = size;
    return NC_NOERR;
}

int pnc_objects_root_read(const pnc_objects *objects, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                          pnc_error *error)
{
    int64_t done = 0;
    int err = NC_NOERR;

    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        err =
            objects->ops->read(objects, objects->root, extents[i].offset, (char *)buf + done, extents[i].length, error);
        done += err == NC_NOERR ? extents[i].length : 0;
    }
    if (got != NULL)
        *got = done;
    return err;
}

int pnc_objects_root_get_size(const pnc_objects *objects, int64_t *out, pnc_error *error)
{
    PNC_TRY(objects->ops->find(objects, objects->root, out, error));
    *out = *out < 0 ? 0 : *out;
    return NC_NOERR;
}
