/* References as the store of a dataset, which is only read. Rank 0 reads the file. */
#include "config.h" /* realpath */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "drivers/kerchunk/kerchunk.h"

typedef struct kerchunk_store {
    pnc_store store;
    pnc_store_end end;
    const char *path; /* the caller's */
    pnc_kerchunk kerchunk;
} kerchunk_store;

static kerchunk_store *kerchunk_store_of(const pnc_store *store)
{
    return (kerchunk_store *)(uintptr_t)store;
}

static const pnc_objects *get_objects_of_references(const pnc_store *store)
{
    return &kerchunk_store_of(store)->kerchunk.objects;
}

#define ENDING ".json"
enum { FRONT_BYTES = 64 };

static bool is_file_of_references(const char *path)
{
    const char *local = pnc_path_strip(path);
    size_t n = strlen(local), ending = strlen(ENDING);
    char front[FRONT_BYTES];
    struct stat facts;
    ssize_t got = 0;
    int fd =
        n > ending && strcmp(local + n - ending, ENDING) == 0 ? open(local, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;

    if (fd < 0)
        return false;
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
        got = pread(fd, front, sizeof front, 0);
    close(fd);
    return got > 0 && pnc_kerchunk_front_is_json(front, got);
}

static void inspect_references(const char *path, pnc_open_purpose purpose, pnc_inspection *found)
{
    if (purpose != PNC_OPEN_READ)
        pnc_error_set(&found->error, NC_EPERM,
                      "%s has references to parts of other files, which are only read: open it with NC_NOWRITE", path);
}

/* Collective. The text that rank 0 has read. */
static int share_text(const pnc_store *store, const char *path, char **text, int64_t n, pnc_error *error)
{
    int lacks, code = MPI_SUCCESS;

    if (store->rank > 0)
        *text = pnc_memory_alloc(n + 1, 1);
    lacks = *text == NULL;
    if (store->nprocs > 1)
        code = MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, store->comm);
    if (lacks == 0 && store->nprocs > 1) /* also after an error: the other ranks may have none */
        code |= MPI_Bcast(*text, (int)n, MPI_BYTE, 0, store->comm);
    if (code != MPI_SUCCESS)
        return pnc_error_set(error, NC_EMPI, "%s: MPI_Bcast of its references failed", path);
    if (lacks != 0)
        return pnc_error_set(error, NC_ENOMEM, "%s: no memory for its references", path);
    (*text)[n] = '\0';
    return NC_NOERR;
}

/* Collective. What rank 0 has found. */
static int read_text_of_references(const pnc_store *store, const char *path, char **text, int64_t *n, pnc_error *error)
{
    int64_t facts[] = {NC_NOERR, 0}; /* code and bytes */
    int code = MPI_SUCCESS, err;

    if (store->rank == 0)
        facts[0] = pnc_kerchunk_file_load(path, text, &facts[1], error);
    if (store->nprocs > 1)
        code = MPI_Bcast(facts, 2, MPI_INT64_T, 0, store->comm);
    *n = facts[1];
    err = facts[0] == NC_NOERR ? share_text(store, path, text, *n, error) : NC_NOERR;
    if (code != MPI_SUCCESS)
        return pnc_error_set(error, NC_EMPI, "%s: MPI_Bcast of the status failed", path);
    if (facts[0] == NC_NOERR)
        return err;
    return store->rank == 0 ? (int)facts[0] : pnc_error_set_remote(error, (int)facts[0], "rank 0 cannot read %s", path);
}

static int open_references(const pnc_open_call *call, pnc_store *store, pnc_error *error)
{
    kerchunk_store *k = kerchunk_store_of(store);
    char *text = NULL, *path;
    int64_t n = 0;
    int err;

    store->ops = &pnc_store_kerchunk;
    store->comm = call->comm;
    store->nnodes = 1;
    store->end = &k->end;
    k->path = call->path;
    MPI_Comm_rank(call->comm, &store->rank);
    MPI_Comm_size(call->comm, &store->nprocs);
    err = read_text_of_references(store, call->path, &text, &n, error);
    if (err != NC_NOERR) {
        pnc_memory_free(text);
        return err;
    }
    path = realpath(pnc_path_strip(call->path), NULL);
    store->full_path = path == NULL ? NULL : pnc_string_copy(path);
    free(path);
    return pnc_kerchunk_text_parse(&k->kerchunk, call->path, text, n, error);
}

static int close_references(pnc_store *store, pnc_error *error)
{
    (void)error;
    if (store->ops != NULL)
        pnc_kerchunk_references_free(&kerchunk_store_of(store)->kerchunk);
    pnc_memory_free(store->full_path);
    pnc_memory_free(store);
    return NC_NOERR;
}

/* The files to which the references point stay. */
static int remove_file_of_references(const char *path, MPI_Info info, pnc_error *error)
{
    (void)info;
    return unlink(pnc_path_strip(path)) == 0 ? NC_NOERR
                                             : pnc_objects_error_set(error, errno, NC_EFILE, "delete it", path, "");
}

/* --- bytes --- */

static int refuse_write_to_references(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf,
                                      pnc_error *error)
{
    (void)extents, (void)n, (void)buf;
    return pnc_error_set(error, NC_EPERM, "%s has references, which are only read", kerchunk_store_of(store)->path);
}

static int read_root_of_references(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                                   pnc_error *error)
{
    return pnc_objects_root_read(get_objects_of_references(store), extents, n, buf, got, error);
}

static int get_root_size_of_references(pnc_store *store, int64_t *out, pnc_error *error)
{
    return pnc_objects_root_get_size(get_objects_of_references(store), out, error);
}

static int refuse_size_of_references(pnc_store *store, int64_t size, pnc_error *error)
{
    (void)size;
    return refuse_write_to_references(store, NULL, 0, NULL, error);
}

static int sync_nothing(pnc_store *store, pnc_error *error)
{
    (void)store, (void)error;
    return NC_NOERR;
}

static int create_hints_of_references(pnc_store *store, MPI_Info *used, pnc_error *error)
{
    (void)store;
    return MPI_Info_create(used) == MPI_SUCCESS ? NC_NOERR : pnc_error_set(error, NC_EMPI, "MPI_Info_create failed");
}

const pnc_store_ops pnc_store_kerchunk = {.name = "references",
                                          .store_bytes = sizeof(kerchunk_store),
                                          .has_dataset = is_file_of_references,
                                          .get_objects = get_objects_of_references,
                                          .inspect = inspect_references,
                                          .open = open_references,
                                          .remove = remove_file_of_references,
                                          .close = close_references,
                                          .write = refuse_write_to_references,
                                          .read = read_root_of_references,
                                          .sync = sync_nothing,
                                          .size = get_root_size_of_references,
                                          .set_size = refuse_size_of_references,
                                          .hints = create_hints_of_references};
