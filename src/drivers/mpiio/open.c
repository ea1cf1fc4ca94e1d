/* Open, create and close; all ranks return the same code. */
#include "drivers/mpiio/mpiio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* What the user passes to create or open. */
typedef struct open_call {
    MPI_Comm comm;
    const char *path;
    MPI_Info info;
    pnc_error *error;
} open_call;

/* Inspect the path on rank 0 and broadcast the result. Collective. */
static int inspect_path(const open_call *call, pnc_mpiio_purpose purpose, pnc_mpiio_inspection *found)
{
    int rank, nprocs, code = MPI_SUCCESS;

    memset(found, 0, sizeof *found);
    MPI_Comm_rank(call->comm, &rank);
    MPI_Comm_size(call->comm, &nprocs);
    if (rank == 0)
        pnc_mpiio_path_inspect(call->path, purpose, found);
    if (nprocs > 1)
        code = MPI_Bcast(found, (int)sizeof *found, MPI_BYTE, 0, call->comm);
    if (code != MPI_SUCCESS)
        return pnc_error_set(call->error, NC_EMPI, "%s: MPI_Bcast of rank 0's check of the path failed", call->path);
    if (found->error.code == NC_NOERR)
        return NC_NOERR;
    if (rank == 0)
        return pnc_error_set(call->error, found->error.code, "%s", found->error.text);
    return pnc_error_set_remote(call->error, found->error.code, "%s", found->error.text);
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

static pnc_mpiio *create_store(const open_call *call, MPI_File file)
{
    pnc_mpiio *io = pnc_memory_alloc_zeroed(1, sizeof *io);

    if (io == NULL)
        return NULL;
    io->path = pnc_string_copy(call->path);
    if (io->path == NULL) {
        pnc_memory_free(io);
        return NULL;
    }
    io->file = file;
    io->lock = -1;
    io->sole_writer = is_sole_writer() && !forbids_sieving(call->info);
    io->store.ops = &pnc_store_mpiio;
    io->store.comm = call->comm;
    io->store.end = &io->end;
    io->store.sieve_gap = PNC_MPIIO_SIEVE_GAP;
    io->store.few_extents = PNC_MPIIO_SIEVE_MIN_EXTENTS;
    MPI_Comm_rank(call->comm, &io->store.rank);
    MPI_Comm_size(call->comm, &io->store.nprocs);
    return io;
}

static void free_store(pnc_mpiio *io)
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
static int check_communicators(const open_call *call)
{
    MPI_Comm spare;

    if (MPI_Comm_dup(call->comm, &spare) != MPI_SUCCESS)
        return pnc_error_set(call->error, NC_ENFILE,
                             "%s: MPI_Comm_dup failed: no communicator is left for another open file: "
                             "close some files",
                             call->path);
    MPI_Comm_free(&spare);
    return NC_NOERR;
}

/* Open MPI needs file descriptors in addition to that of the file, and has no error class for their lack. */
static bool has_no_descriptors(void)
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

/* Open the file and allocate its store. After an error on any rank, all ranks return one. */
static int open_store(const open_call *call, int amode, pnc_mpiio **out)
{
    MPI_File file = MPI_FILE_NULL;
    pnc_mpiio *io = NULL;
    int code, err = NC_NOERR;
    bool turn = pnc_mpiio_turn_take(call->comm);

    code = MPI_File_open(call->comm, call->path, amode, call->info, &file);
    pnc_mpiio_turn_end(turn);
    if (code == MPI_SUCCESS) {
        io = create_store(call, file);
        if (io == NULL)
            err = pnc_error_set(call->error, NC_ENOMEM, "no memory to open %s", call->path);
    } else {
        file = MPI_FILE_NULL;
        err = pnc_mpiio_error_set(call->error, code, has_no_descriptors() ? NC_ENFILE : NC_EOFILE,
                                  (amode & MPI_MODE_CREATE) != 0 ? "create" : "open", call->path);
    }
    err = pnc_driver_status_agree(call->comm, err, call->path, call->error);
    if (err == NC_NOERR) {
        *out = io;
        return NC_NOERR;
    }
    if (file != MPI_FILE_NULL)
        close_file(call->comm, &file);
    free_store(io);
    return err;
}

/* Remove the contents of the file. Collective; all ranks return the same code. */
static int truncate_file(const open_call *call, MPI_File file)
{
    int code, err = NC_NOERR;
    bool turn = pnc_mpiio_turn_take(call->comm);

    code = MPI_File_set_size(file, 0);
    pnc_mpiio_turn_end(turn);
    if (code != MPI_SUCCESS)
        err = pnc_mpiio_error_set(call->error, code, NC_EFILE, "truncate", call->path);
    return pnc_driver_status_agree(call->comm, err, call->path, call->error);
}

static int open_file(const open_call *call, int amode, bool truncate, pnc_store **out)
{
    pnc_mpiio *io = NULL;
    int err;

    PNC_TRY(check_communicators(call));
    PNC_TRY(open_store(call, amode, &io));
    if (truncate) {
        err = truncate_file(call, io->file);
        if (err != NC_NOERR) {
            close_file(call->comm, &io->file);
            free_store(io);
            return err;
        }
    }
    io->store.nnodes = io->store.nprocs == 1 ? 1 : count_nodes(call->comm);
    *out = &io->store;
    return NC_NOERR;
}

int pnc_mpiio_file_create(MPI_Comm comm, const char *path, int mode, MPI_Info info, pnc_store **out, pnc_error *error)
{
    const open_call call = {comm, path, info, error};
    bool fresh = (mode & NC_NOCLOBBER) != 0;
    int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | (fresh ? MPI_MODE_EXCL : 0);
    pnc_mpiio_inspection found;

    PNC_TRY(inspect_path(&call, fresh ? PNC_MPIIO_NEW : PNC_MPIIO_REPLACE, &found));
    /* truncate instead of remove: a symbolic link stays, and its target is overwritten */
    return open_file(&call, amode, !fresh && found.must_truncate, out);
}

int pnc_mpiio_file_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, pnc_store **out, pnc_error *error)
{
    const open_call call = {comm, path, info, error};
    bool writes = (mode & NC_WRITE) != 0;
    pnc_mpiio_inspection found;

    PNC_TRY(inspect_path(&call, writes ? PNC_MPIIO_UPDATE : PNC_MPIIO_READ, &found));
    return open_file(&call, writes ? MPI_MODE_RDWR : MPI_MODE_RDONLY, false, out);
}

int pnc_mpiio_file_close(pnc_store *store, pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    int err = NC_NOERR;
    int code = close_file(store->comm, &io->file);

    if (code != MPI_SUCCESS)
        err = pnc_mpiio_error_set(error, code, NC_EFILE, "close", io->path);
    free_store(io);
    return err;
}
