/* A folder as the store of a dataset: what opens, lists and ends it. Its bytes are those of the root document, which
 * are only read: values are put and got by the store of chunks in front of it, and documents as objects. */
#include "drivers/folder/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "host/host.h"

typedef struct folder_store {
    pnc_store store;
    pnc_store_end end;
    pnc_folder folder;
} folder_store;

static folder_store *store_of(const pnc_store *store)
{
    return (folder_store *)(uintptr_t)store;
}

static const pnc_objects *get_objects_of_folder(const pnc_store *store)
{
    return &store_of(store)->folder.objects;
}

/* --- what is at a path --- */

static bool has_root(const char *path)
{
    int fd = open(pnc_path_strip(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool has = fd >= 0 && pnc_folder_root_find(fd) != NULL;

    if (fd >= 0)
        close(fd);
    return has;
}

static int stop_list(void *own, const char *name, bool is_folder, pnc_error *error)
{
    (void)name, (void)is_folder, (void)error;
    *(bool *)own = false;
    return NC_ENOTVAR; /* any: it ends the list */
}

static bool is_empty(const char *path)
{
    pnc_folder folder;
    bool is = true;

    if (pnc_folder_root_open(&folder, path, NULL) != NC_NOERR)
        return false;
    (void)pnc_folder_key_list(&folder.objects, "", &is, stop_list, NULL);
    pnc_folder_root_close(&folder);
    return is;
}

/* Only what is a dataset is ever deleted. */
static int check_replaced(const char *path, pnc_error *error)
{
    if (has_root(path) || is_empty(path))
        return NC_NOERR;
    return pnc_error_set(error, NC_EBAD_FILE,
                         "%s is a folder that is not empty and has no " PNC_FOLDER_ROOT
                         " or .zgroup: it is not a dataset, and stays as it is: choose another name",
                         path);
}

/* Whether the folder of a new one exists is found out when it is made. */
static void judge_missing(const char *path, int number, bool creates, pnc_inspection *found)
{
    if (number != ENOENT || !creates)
        pnc_objects_error_set(&found->error, number, NC_EFILE, "open it", path, "");
}

static void inspect_path(const char *path, pnc_open_purpose purpose, pnc_inspection *found)
{
    const char *local = pnc_path_strip(path);
    bool creates = purpose == PNC_OPEN_REPLACE || purpose == PNC_OPEN_NEW;
    struct stat facts;

    if (path[0] == '\0')
        pnc_error_set(&found->error, NC_EBAD_FILE, "the file name is empty");
    else if (stat(local, &facts) != 0)
        judge_missing(path, errno, creates, found);
    else if (purpose == PNC_OPEN_NEW)
        pnc_error_set(&found->error, NC_EEXIST, "%s already exists, and NC_NOCLOBBER forbids replacing it", path);
    else if (!S_ISDIR(facts.st_mode))
        pnc_error_set(&found->error, NC_EBAD_FILE,
                      "%s is a file, and a Zarr store is a folder: delete the file, or choose another name", path);
    else if (creates)
        check_replaced(path, &found->error);
    else if (access(local, purpose == PNC_OPEN_READ ? R_OK | X_OK : R_OK | W_OK | X_OK) != 0)
        pnc_error_set(&found->error, NC_EACCESS, "no permission to %s %s: %s",
                      purpose == PNC_OPEN_READ ? "read" : "write", path, strerror(errno));
}

/* --- begin and end --- */

/* On rank 0: an empty folder. */
static int create_folder(const char *path, pnc_error *error)
{
    pnc_folder folder;
    int err;

    if (mkdir(pnc_path_strip(path), 0777) == 0)
        return NC_NOERR;
    if (errno != EEXIST)
        return pnc_objects_error_set(error, errno, NC_EFILE, "create the folder", path, "");
    PNC_TRY(check_replaced(path, error));
    PNC_TRY(pnc_folder_root_open(&folder, path, error));
    err = pnc_folder_content_delete(&folder, error);
    pnc_folder_root_close(&folder);
    return err;
}

static void find_facts(folder_store *f)
{
    char *path = realpath(pnc_path_strip(f->folder.objects.path), NULL);
    struct stat facts;

    f->store.full_path = path == NULL ? NULL : pnc_string_copy(path);
    free(path);
    f->store.striping.is_local = pnc_host_file_is_local(f->folder.fd);
    f->store.striping.in_memory = f->folder.in_memory;
    if (fstat(f->folder.fd, &facts) == 0)
        f->store.identity = (pnc_identity){(int64_t)facts.st_dev, (int64_t)facts.st_ino};
}

static int open_folder(const pnc_open_call *call, pnc_store *store, pnc_error *error)
{
    folder_store *f = store_of(store);
    int err = NC_NOERR, code = MPI_SUCCESS;

    f->folder = (pnc_folder){.fd = -1};
    store->ops = &pnc_store_folder;
    store->comm = call->comm;
    store->nnodes = 1;
    store->end = &f->end;
    MPI_Comm_rank(call->comm, &store->rank);
    MPI_Comm_size(call->comm, &store->nprocs);
    if (call->purpose == PNC_OPEN_REPLACE || call->purpose == PNC_OPEN_NEW) {
        if (store->rank == 0)
            err = create_folder(call->path, error);
        if (store->nprocs > 1)
            code = MPI_Bcast(&err, 1, MPI_INT, 0, call->comm);
    }
    if (code != MPI_SUCCESS)
        return pnc_error_set(error, NC_EMPI, "%s: MPI_Bcast of the status failed", call->path);
    if (err != NC_NOERR)
        return store->rank == 0 ? err : pnc_error_set_remote(error, err, "rank 0 cannot create %s", call->path);
    PNC_TRY(pnc_folder_root_open(&f->folder, call->path, error));
    find_facts(f);
    return NC_NOERR;
}

static int close_folder(pnc_store *store, pnc_error *error)
{
    folder_store *f = store_of(store);

    (void)error;
    if (store->ops != NULL)
        pnc_folder_root_close(&f->folder);
    pnc_memory_free(store->full_path);
    pnc_memory_free(store);
    return NC_NOERR;
}

static int remove_folder(const char *path, MPI_Info info, pnc_error *error)
{
    pnc_folder folder;
    int err;

    (void)info;
    PNC_TRY(pnc_folder_root_open(&folder, path, error));
    err = check_replaced(path, error);
    if (err == NC_NOERR)
        err = pnc_folder_content_delete(&folder, error);
    pnc_folder_root_close(&folder);
    if (err == NC_NOERR && rmdir(pnc_path_strip(path)) != 0)
        err = pnc_objects_error_set(error, errno, NC_EFILE, "delete it", path, "");
    return err;
}

/* --- bytes --- */

static int refuse_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    (void)extents, (void)n, (void)buf;
    return pnc_error_set(error, NC_EDRIVER, "%s is a folder: only datasets of Zarr can be written to one",
                         store_of(store)->folder.objects.path);
}

static int read_root_of_folder(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                               pnc_error *error)
{
    return pnc_objects_root_read(get_objects_of_folder(store), extents, n, buf, got, error);
}

static int get_root_size_of_folder(pnc_store *store, int64_t *out, pnc_error *error)
{
    return pnc_objects_root_get_size(get_objects_of_folder(store), out, error);
}

static int refuse_size(pnc_store *store, int64_t size, pnc_error *error)
{
    (void)size;
    return refuse_write(store, NULL, 0, NULL, error);
}

/* Objects are flushed by the format, which knows their order. */
static int sync_entries(pnc_store *store, pnc_error *error)
{
    const pnc_objects *objects = get_objects_of_folder(store);

    return store->rank == 0 ? objects->ops->sync_names(objects, "", error) : NC_NOERR;
}

static int create_hints(pnc_store *store, MPI_Info *used, pnc_error *error)
{
    (void)store;
    return MPI_Info_create(used) == MPI_SUCCESS ? NC_NOERR : pnc_error_set(error, NC_EMPI, "MPI_Info_create failed");
}

const pnc_store_ops pnc_store_folder = {.name = "folder",
                                        .store_bytes = sizeof(folder_store),
                                        .has_dataset = has_root,
                                        .get_objects = get_objects_of_folder,
                                        .inspect = inspect_path,
                                        .open = open_folder,
                                        .remove = remove_folder,
                                        .close = close_folder,
                                        .write = refuse_write,
                                        .read = read_root_of_folder,
                                        .sync = sync_entries,
                                        .size = get_root_size_of_folder,
                                        .set_size = refuse_size,
                                        .hints = create_hints};
