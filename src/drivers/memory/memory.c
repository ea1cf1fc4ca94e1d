/* Files in memory, for scratch data and tests: one growing buffer per path. It persists after close, until the file
 * is removed or the program ends. One rank only. */
#include "drivers/driver.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

typedef struct memory_file {
    struct memory_file *next;
    char *path;
    char *bytes;
    int64_t size, capacity;
    int stores;              /* number of stores that have the file open */
    const pnc_store *holder; /* the one that is changing it, or NULL */
    bool removed;            /* removed from the list; freed when the last store closes */
} memory_file;

typedef struct memory_store {
    pnc_store store;
    pnc_store_end end;
    memory_file *file;
} memory_store;

/* Different threads may open, close and remove different files concurrently. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static memory_file *files; /* all files of the process */

static memory_file **find_link(const char *path)
{
    memory_file **at = &files;

    while (*at != NULL && strcmp((*at)->path, path) != 0)
        at = &(*at)->next;
    return at;
}

static int check_communicator(MPI_Comm comm, const char *path, pnc_error *error)
{
    int nprocs;

    MPI_Comm_size(comm, &nprocs);
    if (nprocs != 1)
        return pnc_error_set(error, NC_EDRIVER,
                             "%s: the memory driver supports 1 process, not %d: use MPI_COMM_SELF "
                             "or nc_driver=mpiio",
                             path, nprocs);
    return path[0] != '\0' ? NC_NOERR : pnc_error_set(error, NC_EBAD_FILE, "the file name is empty");
}

static int add_file(const char *path, memory_file **out, pnc_error *error)
{
    memory_file *file = pnc_memory_alloc_zeroed(1, sizeof *file);
    char *copy = pnc_string_copy(path);

    if (file == NULL || copy == NULL) {
        pnc_memory_free(file);
        pnc_memory_free(copy);
        return pnc_error_set(error, NC_ENOMEM, "no memory to create %s", path);
    }
    file->path = copy;
    file->next = files;
    files = file;
    *out = file;
    return NC_NOERR;
}

/* Find or create the file. The caller holds the lock. */
static int find_file(const char *path, pnc_open_purpose purpose, memory_file **out, pnc_error *error)
{
    memory_file *file = *find_link(path);
    bool creates = purpose == PNC_OPEN_REPLACE || purpose == PNC_OPEN_NEW;

    if (file == NULL && !creates)
        return pnc_error_set(error, NC_ENOENT, "%s does not exist", path);
    if (file != NULL && purpose == PNC_OPEN_NEW)
        return pnc_error_set(error, NC_EEXIST, "%s already exists, and NC_NOCLOBBER forbids replacing it", path);
    if (file == NULL)
        PNC_TRY(add_file(path, &file, error));
    if (creates)
        file->size = 0;
    file->stores++;
    *out = file;
    return NC_NOERR;
}

static int memory_open(const pnc_open_call *call, pnc_store *store, pnc_error *error)
{
    memory_store *memory = (memory_store *)store;
    int err;

    *store = (pnc_store){.ops = &pnc_store_memory,
                         .comm = call->comm,
                         .nprocs = 1,
                         .nnodes = 1,
                         .has_collective = true,
                         .striping.is_local = true,
                         .end = &memory->end};
    PNC_TRY(check_communicator(call->comm, call->path, error));
    pthread_mutex_lock(&lock);
    err = find_file(call->path, call->purpose, &memory->file, error);
    pthread_mutex_unlock(&lock);
    return err;
}

static void free_if_unused(memory_file *file)
{
    if (!file->removed || file->stores > 0)
        return;
    pnc_memory_free(file->bytes);
    pnc_memory_free(file->path);
    pnc_memory_free(file);
}

static int memory_remove(const char *path, MPI_Info info, pnc_error *error)
{
    memory_file **at, *file;

    (void)info;
    pthread_mutex_lock(&lock);
    at = find_link(path);
    file = *at;
    if (file != NULL) {
        *at = file->next;
        file->removed = true;
        free_if_unused(file);
    }
    pthread_mutex_unlock(&lock);
    return file != NULL ? NC_NOERR : pnc_error_set(error, NC_ENOENT, "%s does not exist", path);
}

static int memory_close(pnc_store *store, pnc_error *error)
{
    memory_file *file = ((memory_store *)store)->file;

    (void)error;
    pthread_mutex_lock(&lock);
    if (file != NULL) { /* open has succeeded */
        assert(file->stores > 0);
        file->stores--;
        if (file->holder == store)
            file->holder = NULL;
        free_if_unused(file);
    }
    pthread_mutex_unlock(&lock);
    pnc_memory_free(store);
    return NC_NOERR;
}

static int resize_file(memory_file *file, int64_t size, pnc_error *error)
{
    if (!pnc_memory_grow(&file->bytes, &file->capacity, size, 1))
        return pnc_error_set(error, NC_ENO_SPACE, "%s: no memory for %lld bytes", file->path, (long long)size);
    if (size > file->size)
        memset(file->bytes + file->size, 0, (size_t)(size - file->size));
    file->size = size;
    return NC_NOERR;
}

static int memory_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    memory_file *file = ((memory_store *)store)->file;
    const char *from = buf;

    for (int64_t i = 0; i < n; i++) {
        int64_t end = extents[i].offset + extents[i].length;

        assert(extents[i].offset >= 0 && extents[i].length >= 0);
        if (end > file->size)
            PNC_TRY(resize_file(file, end, error));
        memcpy(file->bytes + extents[i].offset, from, (size_t)extents[i].length);
        from += extents[i].length;
    }
    return NC_NOERR;
}

static int read_one(memory_store *memory, pnc_extent extent, char *to, int64_t *got, pnc_error *error)
{
    const memory_file *file = memory->file;
    int64_t present = pnc_max64(file->size - extent.offset, 0), some;

    some = pnc_min64(present, extent.length);
    if (some > 0)
        memcpy(to, file->bytes + extent.offset, (size_t)some);
    *got += some;
    if (some == extent.length)
        return NC_NOERR;
    PNC_TRY(pnc_store_pass_end(&memory->store, file->path, (pnc_extent){extent.offset + some, extent.length - some},
                               file->size, to + some, error));
    *got += extent.length - some;
    return NC_NOERR;
}

static int memory_read(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                       pnc_error *error)
{
    int64_t done = 0;
    int err = NC_NOERR;

    for (int64_t i = 0; i < n && err == NC_NOERR; i++)
        err = read_one((memory_store *)store, extents[i], (char *)buf + done, &done, error);
    if (got != NULL)
        *got = done;
    return err;
}

/* A store is of one rank: it shares the file with no other one. */
static pnc_held memory_hold(pnc_store *store, pnc_hold hold)
{
    memory_file *file = ((memory_store *)store)->file;
    bool is_free;

    pthread_mutex_lock(&lock);
    is_free = file->holder == NULL || file->holder == store;
    if (is_free && hold != PNC_HOLD_INQUIRE)
        file->holder = hold == PNC_HOLD_NOTHING ? NULL : store;
    pthread_mutex_unlock(&lock);
    return is_free ? PNC_HELD : PNC_HELD_BY_OTHERS;
}

static int memory_sync(pnc_store *store, pnc_error *error)
{
    (void)store;
    (void)error;
    return NC_NOERR;
}

static int memory_get_size(pnc_store *store, int64_t *out, pnc_error *error)
{
    (void)error;
    *out = ((memory_store *)store)->file->size;
    return NC_NOERR;
}

static int memory_set_size(pnc_store *store, int64_t size, pnc_error *error)
{
    PNC_TRY(resize_file(((memory_store *)store)->file, size, error));
    store->end->least_size = size;
    return NC_NOERR;
}

static int memory_hints(pnc_store *store, MPI_Info *used, pnc_error *error)
{
    (void)store;
    if (MPI_Info_create(used) != MPI_SUCCESS)
        return pnc_error_set(error, NC_EMPI, "MPI_Info_create failed");
    return NC_NOERR;
}

const pnc_store_ops pnc_store_memory = {
    .name = "memory",
    .store_bytes = sizeof(memory_store),
    .open = memory_open,
    .remove = memory_remove,
    .close = memory_close,
    .write = memory_write,
    .read = memory_read,
    .write_all = memory_write,
    .read_all = memory_read,
    .hold = memory_hold,
    .sync = memory_sync,
    .size = memory_get_size,
    .set_size = memory_set_size,
    .hints = memory_hints,
};
