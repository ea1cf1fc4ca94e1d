/* The MPI-IO driver: its table of operations, and the short ones among them. */
#include "drivers/mpiio/mpiio.h"

#include "base/memory.h"

int pnc_mpiio_path_remove(const char *path, MPI_Info info, pnc_error *error)
{
    char prefix[PNC_PREFIX_BYTES], buffer[PNC_MPIIO_PATH_BYTES];
    bool turn;
    int code;

    pnc_mpiio_path_choose_prefix(path, prefix);
    turn = pnc_mpiio_turn_take_local();
    code = MPI_File_delete(pnc_mpiio_path_derive(path, prefix, buffer), info);
    pnc_mpiio_turn_end(turn);
    return code == MPI_SUCCESS ? NC_NOERR : pnc_mpiio_error_set(error, code, NC_EFILE, "delete", path);
}

static int sync_by_mpi(pnc_store *store, pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    bool turn = pnc_mpiio_turn_take(store->comm);
    int code = MPI_File_sync(io->file);

    pnc_mpiio_turn_end(turn);
    return code == MPI_SUCCESS ? NC_NOERR : pnc_mpiio_error_set(error, code, NC_EWRITE, "flush", io->path);
}

int pnc_mpiio_file_get_size(pnc_store *store, int64_t *out, pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    MPI_Offset size;
    int code = MPI_File_get_size(io->file, &size);

    if (code != MPI_SUCCESS)
        return pnc_mpiio_error_set(error, code, NC_EFILE, "find the size of", io->path);
    *out = size;
    return NC_NOERR;
}

static int set_size_by_mpi(pnc_store *store, int64_t size, pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    bool turn = pnc_mpiio_turn_take(store->comm);
    int code = MPI_File_set_size(io->file, size);

    pnc_mpiio_turn_end(turn);
    if (code != MPI_SUCCESS)
        return pnc_mpiio_error_set(error, code, NC_EWRITE, "set the size of", io->path);
    store->end->least_size = size;
    return NC_NOERR;
}

static int hints_in_use(pnc_store *store, MPI_Info *used, pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    int code = MPI_File_get_info(io->file, used);

    return code == MPI_SUCCESS ? NC_NOERR : pnc_mpiio_error_set(error, code, NC_EFILE, "list the hints of", io->path);
}

static int publish_by_rename(pnc_store *store, int suffix, bool replaces, pnc_error *error)
{
    return pnc_mpiio_path_rename(store->full_path, suffix, replaces, error);
}

static int discard_by_mpi(pnc_store *store, MPI_Info info, pnc_error *error)
{
    char *path = store->full_path;
    bool is_root = store->rank == 0;
    pnc_identity own = store->identity;
    int err;

    store->full_path = NULL; /* close frees the store */
    err = pnc_mpiio_file_close(store, error);
    if (is_root)
        err = pnc_error_keep_first(err, pnc_mpiio_path_discard(path, own, info, error));
    pnc_memory_free(path);
    return err;
}

const pnc_store_ops pnc_store_mpiio = {
    .name = "mpiio",
    .store_bytes = sizeof(pnc_mpiio),
    .inspect = pnc_mpiio_path_inspect,
    .open = pnc_mpiio_file_open,
    .remove = pnc_mpiio_path_remove,
    .discard = discard_by_mpi,
    .publish = publish_by_rename,
    .local_path = pnc_path_strip,
    .close = pnc_mpiio_file_close,
    .write = pnc_mpiio_extents_write,
    .read = pnc_mpiio_extents_read,
    .lock = pnc_mpiio_span_lock,
    .unlock = pnc_mpiio_span_unlock,
    .hold = pnc_mpiio_file_hold,
    .start = pnc_mpiio_transfer_start,
    .is_complete = pnc_mpiio_transfer_is_complete,
    .finish = pnc_mpiio_transfer_finish,
    .write_all = pnc_mpiio_extents_write_all,
    .read_all = pnc_mpiio_extents_read_all,
    .sync = sync_by_mpi,
    .size = pnc_mpiio_file_get_size,
    .set_size = set_size_by_mpi,
    .hints = hints_in_use,
};
