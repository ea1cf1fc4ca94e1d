/* Open, create and close; all ranks return the same code. */
#include "drivers/mpiio/mpiio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* Inspect the path on rank 0 and broadcast the result. */
static int look(MPI_Comm comm, const char *path, pnc_mpiio_purpose purpose, pnc_mpiio_sight *sight, pnc_error *error)
{
    int rank, nprocs;

    memset(sight, 0, sizeof *sight);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nprocs);
    if (rank == 0)
        pnc_mpiio_path_inspect(path, purpose, sight);
    if (nprocs > 1 && MPI_Bcast(sight, (int)sizeof *sight, MPI_BYTE, 0, comm) != MPI_SUCCESS)
        return pnc_error_set(error, NC_EMPI, "%s: MPI_Bcast of rank 0's check of the path failed", path);
    if (sight->error.code != NC_NOERR)
        return (rank == 0 ? pnc_error_set : pnc_error_set_remote)(error, sight->error.code, "%s", sight->error.text);
    return NC_NOERR;
}

static int count_nodes(MPI_Comm comm)
{
    MPI_Comm node;
    int on_node = 0, leads, nodes = 1;

    /* if the split fails on a rank, the rank counts as a node of its own and still takes part in the MPI_Allreduce */
    if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
        MPI_Comm_rank(node, &on_node);
        MPI_Comm_free(&node);
    }
    leads = on_node == 0;
    MPI_Allreduce(&leads, &nodes, 1, MPI_INT, MPI_SUM, comm);
    return nodes < 1 ? 1 : nodes;
}

/* True if the hint romio_ds_write disables data sieving of writes. */
static bool forbids_sieving(MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int given = 0;

    if (info != MPI_INFO_NULL)
        MPI_Info_get(info, "romio_ds_write", MPI_MAX_INFO_VAL, value, &given);
    return given && strcmp(value, "disable") == 0;
}

/* True for a program of one rank without threads: only then no other rank can have opened the file with
 * MPI_COMM_SELF. In a program that only uses MPI sessions there is no MPI_COMM_WORLD: false. */
static bool is_sole_writer(void)
{
    int ranks = 0, level = MPI_THREAD_MULTIPLE, has_world = 0;
    MPI_Comm parent = MPI_COMM_NULL;

    MPI_Initialized(&has_world);
    if (!has_world)
        return false;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Query_thread(&level);
    MPI_Comm_get_parent(&parent);
    return ranks == 1 && level != MPI_THREAD_MULTIPLE && parent == MPI_COMM_NULL;
}

static pnc_mpiio *make(MPI_Comm comm, const char *path, MPI_File file, MPI_Info info)
{
    pnc_mpiio *io = pnc_memory_alloc_zeroed(1, sizeof *io);

    if (io == NULL)
        return NULL;
    io->path = pnc_string_copy(path);
    if (io->path == NULL) {
        pnc_memory_free(io);
        return NULL;
    }
    io->file = file;
    io->lock = -1;
    io->sole_writer = is_sole_writer() && !forbids_sieving(info);
    io->store.ops = &pnc_store_mpiio;
    io->store.comm = comm;
    io->store.end = &io->end;
    io->store.sieve_gap = PNC_MPIIO_SIEVE_GAP;
    io->store.few_extents = PNC_MPIIO_SIEVE_MIN_EXTENTS;
    MPI_Comm_rank(comm, &io->store.rank);
    MPI_Comm_size(comm, &io->store.nprocs);
    return io;
}

static void dispose(pnc_mpiio *io)
{
    if (io == NULL)
        return;
    if (io->lock >= 0)
        close(io->lock);
    pnc_memory_free(io->sieve_buffer);
    pnc_memory_free(io->path);
    pnc_memory_free(io);
}

static int close_file(MPI_Comm comm, MPI_File *file)
{
    bool turn = pnc_mpiio_turn_take(comm);
    int code = MPI_File_close(file);

    pnc_mpiio_turn_end(turn);
    return code;
}

/* ROMIO duplicates the communicator and, if MPI has no communicator left, continues with MPI_COMM_NULL, which aborts
 * the program: test first. Collective, and fails on all ranks alike. */
static int look_for_communicator(MPI_Comm comm, const char *path, pnc_error *error)
{
    MPI_Comm spare;

    if (MPI_Comm_dup(comm, &spare) != MPI_SUCCESS)
        return pnc_error_set(error, NC_ENFILE,
                             "%s: MPI_Comm_dup failed: no communicator left for another open file, "
                             "close some files",
                             path);
    MPI_Comm_free(&spare);
    return NC_NOERR;
}

/* Open MPI needs file descriptors in addition to that of the file, and has no error class for their lack. */
static bool lacks_descriptors(void)
{
    int own[4], n = 0;
    bool lacks = false;

    while (n < 4 && !lacks) {
        own[n] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        lacks = own[n] < 0 && (errno == EMFILE || errno == ENFILE);
        n++;
    }
    while (n-- > 0)
        if (own[n] >= 0)
            close(own[n]);
    return lacks;
}

static int open_file(MPI_Comm comm, const char *path, int amode, bool truncate, MPI_Info info, pnc_store **out,
                     pnc_error *error)
{
    bool creates = (amode & MPI_MODE_CREATE) != 0;
    pnc_mpiio *io = NULL;
    MPI_File file = MPI_FILE_NULL;
    int code, err = look_for_communicator(comm, path, error);
    bool turn;

    if (err != NC_NOERR)
        return err;
    turn = pnc_mpiio_turn_take(comm);
    code = MPI_File_open(comm, path, amode, info, &file);
    pnc_mpiio_turn_end(turn);
    if (code != MPI_SUCCESS) {
        file = MPI_FILE_NULL;
        err = pnc_mpiio_error_set(error, code, lacks_descriptors() ? NC_ENFILE : NC_EOFILE, creates ? "create" : "open",
                                  path);
    } else if ((io = make(comm, path, file, info)) == NULL) {
        err = pnc_error_set(error, NC_ENOMEM, "no memory to open %s", path);
    }
    err = pnc_driver_status_agree(comm, err, path, error);
    if (err == NC_NOERR && truncate) {
        turn = pnc_mpiio_turn_take(comm);
        code = MPI_File_set_size(file, 0);
        pnc_mpiio_turn_end(turn);
        if (code != MPI_SUCCESS)
            err = pnc_mpiio_error_set(error, code, NC_EFILE, "truncate", path);
        err = pnc_driver_status_agree(comm, err, path, error);
    }
    if (err != NC_NOERR)
        goto give_up;
    io->store.nnodes = io->store.nprocs == 1 ? 1 : count_nodes(comm);
    *out = &io->store;
    return NC_NOERR;

give_up:
    if (file != MPI_FILE_NULL)
        close_file(comm, &file);
    dispose(io);
    return err;
}

int pnc_mpiio_file_create(MPI_Comm comm, const char *path, int mode, MPI_Info info, pnc_store **out, pnc_error *error)
{
    bool fresh = (mode & NC_NOCLOBBER) != 0;
    int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | (fresh ? MPI_MODE_EXCL : 0);
    pnc_mpiio_sight sight;
    int err = look(comm, path, fresh ? PNC_MPIIO_NEW : PNC_MPIIO_REPLACE, &sight, error);

    if (err != NC_NOERR)
        return err;
    /* truncate instead of remove: a symbolic link stays, and its target is overwritten */
    return open_file(comm, path, amode, !fresh && sight.must_truncate, info, out, error);
}

int pnc_mpiio_file_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, pnc_store **out, pnc_error *error)
{
    bool writes = (mode & NC_WRITE) != 0;
    pnc_mpiio_sight sight;
    int err = look(comm, path, writes ? PNC_MPIIO_UPDATE : PNC_MPIIO_READ, &sight, error);

    if (err != NC_NOERR)
        return err;
    return open_file(comm, path, writes ? MPI_MODE_RDWR : MPI_MODE_RDONLY, false, info, out, error);
}

int pnc_mpiio_file_close(pnc_store *store, pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    int code = close_file(store->comm, &io->file), err = NC_NOERR;

    if (code != MPI_SUCCESS)
        err = pnc_mpiio_error_set(error, code, NC_EFILE, "close", io->path);
    dispose(io);
    return err;
}
