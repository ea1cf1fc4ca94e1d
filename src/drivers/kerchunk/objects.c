/* The bytes to which references point. */
#include "config.h" /* system extensions */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "drivers/kerchunk/kerchunk.h"
#include "host/bytes.h"

/* A broadcast of MPI has so many. */
#define TEXT_BYTES_MOST (INT64_C(0x7FFFFFFF) - 1)

static const pnc_kerchunk *kerchunk_of(const pnc_objects *objects)
{
    return (const pnc_kerchunk *)(const void *)objects;
}

static const pnc_kerchunk_reference *find_reference(const pnc_objects *objects, const char *key)
{
    int i = pnc_table_find(&kerchunk_of(objects)->keys, key);

    return i < 0 ? NULL : &kerchunk_of(objects)->references[i];
}

/* --- files --- */

/* A relative path is one from the folder of the references. */
static int find_target_path(const pnc_objects *objects, const pnc_kerchunk_reference *r, char *out, pnc_error *error)
{
    static const char *const local[] = {"file://localhost/", "file:///", "local:///"};
    const char *path = r->text, *own = pnc_path_strip(objects->path);
    int folder = (int)(pnc_path_get_name(own) - own);

    for (size_t i = 0; i < sizeof local / sizeof *local && path == r->text; i++)
        if (strncmp(path, local[i], strlen(local[i])) == 0)
            path += strlen(local[i]) - 1;
    if (path == r->text && strstr(path, "://") != NULL)
        return pnc_error_set(error, NC_ENOTSUPPORT,
                             "%s: %s is in %s, and this library reads only files of this machine: copy them, and write "
                             "the references with their new names",
                             objects->path, r->key, path);
    if (snprintf(out, PATH_MAX, "%.*s%s", path[0] == '/' ? 0 : folder, own, path) < PATH_MAX)
        return NC_NOERR;
    return pnc_error_set(error, NC_EBAD_FILE, "%s: %s is in a file whose path is too long", objects->path, r->key);
}

static int fail_target(const pnc_kerchunk_reference *r, const char *path, int number, pnc_error *error)
{
    char what[64];

    snprintf(what, sizeof what, "read %.50s", r->key);
    return pnc_objects_error_set(error, number, NC_EREAD, what, path, "");
}

/* Whether the file has what the reference says; *n: how many bytes. */
static int check_part(const pnc_objects *objects, const pnc_kerchunk_reference *r, const char *path, int64_t size,
                      int64_t *n, pnc_error *error)
{
    *n = r->n < 0 ? size : r->n;
    if (r->offset <= size && *n <= size - r->offset)
        return NC_NOERR;
    return pnc_error_set(error, NC_EREAD, "%s: %s is %lld bytes at byte %lld of %s, which has only %lld", objects->path,
                         r->key, (long long)*n, (long long)r->offset, path, (long long)size);
}

/* --- operations --- */

static int find_referenced(const pnc_objects *objects, const char *key, int64_t *size, pnc_error *error)
{
    const pnc_kerchunk_reference *r = find_reference(objects, key);
    char path[PATH_MAX];
    struct stat facts;

    *size = r == NULL ? -1 : r->n;
    if (r == NULL || !r->is_file)
        return NC_NOERR;
    *size = -1;
    PNC_TRY(find_target_path(objects, r, path, error));
    if (stat(path, &facts) != 0)
        return fail_target(r, path, errno, error);
    if (!S_ISREG(facts.st_mode))
        return pnc_error_set(error, NC_EBAD_FILE, "%s: %s is in %s, which is not a regular file", objects->path, key,
                             path);
    return check_part(objects, r, path, (int64_t)facts.st_size, size, error);
}

static int read_target(const pnc_objects *objects, const pnc_kerchunk_reference *r, int64_t offset, void *to, int64_t n,
                       pnc_error *error)
{
    char path[PATH_MAX];
    struct stat facts;
    int fd, number;

    PNC_TRY(find_target_path(objects, r, path, error));
    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO must not block */
    number = fd < 0 || fstat(fd, &facts) != 0 ? errno : 0;
    if (number == 0 && !S_ISREG(facts.st_mode))
        number = ENOTDIR;
    if (number == 0)
        number = pnc_host_bytes_read(fd, r->offset + offset, to, n);
    if (fd >= 0)
        close(fd);
    return number == 0 ? NC_NOERR : fail_target(r, path, number, error);
}

static int read_referenced(const pnc_objects *objects, const char *key, int64_t offset, void *to, int64_t n,
                           pnc_error *error)
{
    const pnc_kerchunk_reference *r = find_reference(objects, key);

    if (r == NULL)
        return pnc_error_set(error, NC_ENOENT, "%s: no reference has the key %s", objects->path, key);
    if (r->n >= 0 && (offset > r->n || n > r->n - offset))
        return pnc_error_set(error, NC_EREAD, "%s: %s has only %lld bytes", objects->path, key, (long long)r->n);
    if (r->is_file)
        return read_target(objects, r, offset, to, n, error);
    memcpy(to, r->text + offset, (size_t)n);
    return NC_NOERR;
}

/* Groups and arrays; chunks have no names of their own. */
static int list_referenced(const pnc_objects *objects, const char *key, void *own, pnc_objects_visit *each,
                           pnc_error *error)
{
    const pnc_kerchunk *k = kerchunk_of(objects);
    size_t n = strlen(key), skip = n + (n > 0);
    int64_t low = 0, high = k->nnodes;

    while (low < high) { /* the first one that is not before the key */
        int64_t middle = low + (high - low) / 2;

        if (strncmp(k->nodes[middle], key, n) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < k->nnodes && strncmp(k->nodes[low], key, n) == 0; low++) {
        const char *node = k->nodes[low];
        bool is_again = low > 0 && strcmp(k->nodes[low - 1], node) == 0;

        if ((n == 0 || node[n] == '/') && node[skip] != '\0' && strchr(node + skip, '/') == NULL && !is_again)
            PNC_TRY(each(own, node + skip, true, error));
    }
    return NC_NOERR;
}

const pnc_objects_ops pnc_kerchunk_operations = {
    .find = find_referenced, .read = read_referenced, .list = list_referenced};

/* --- the file of the references --- */

static int load_text(int fd, const char *path, char **text, int64_t *n, pnc_error *error)
{
    struct stat facts;
    int number = fstat(fd, &facts) != 0 ? errno : 0;

    if (number == 0 && !S_ISREG(facts.st_mode))
        return pnc_error_set(error, NC_EBAD_FILE, "%s is not a regular file", path);
    if (number == 0 && facts.st_size > TEXT_BYTES_MOST)
        return pnc_error_set(error, NC_ENOMEM, "%s: this library reads references of up to 2 GiB: divide them", path);
    if (number == 0) {
        *n = (int64_t)facts.st_size;
        *text = pnc_memory_alloc(*n + 1, 1);
        if (*text == NULL)
            return pnc_error_set(error, NC_ENOMEM, "%s: no memory for its references", path);
        (*text)[*n] = '\0';
        number = pnc_host_bytes_read(fd, 0, *text, *n);
    }
    return number == 0 ? NC_NOERR : pnc_objects_error_set(error, number, NC_EREAD, "read it", path, "");
}

int pnc_kerchunk_file_load(const char *path, char **text, int64_t *n, pnc_error *error)
{
    int fd = open(pnc_path_strip(path), O_RDONLY | O_NONBLOCK | O_CLOEXEC), err;

    *text = NULL;
    if (fd < 0)
        return pnc_objects_error_set(error, errno, NC_EFILE, "open it", path, "");
    err = load_text(fd, path, text, n, error);
    close(fd);
    if (err != NC_NOERR) {
        pnc_memory_free(*text);
        *text = NULL;
    }
    return err;
}

int pnc_kerchunk_file_open(pnc_kerchunk *k, const char *path, pnc_error *error)
{
    char *text;
    int64_t n;

    *k = (pnc_kerchunk){.n = 0};
    PNC_TRY(pnc_kerchunk_file_load(path, &text, &n, error));
    return pnc_kerchunk_text_parse(k, path, text, n, error);
}
