/* Opening and closing a file through MPI. */
#include "drivers/mpiio/mpiio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/host.h"

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
    MPI_Comm parent = MPI_COMM_NULL;

    if (pnc_driver_count_world() != 1)
        return false;
    MPI_Comm_get_parent(&parent);
    return !pnc_driver_has_threads() && parent == MPI_COMM_NULL;
}

static bool has_hint(MPI_Info info, const char *name)
{
    int length, found = 0;

    if (info != MPI_INFO_NULL)
        MPI_Info_get_valuelen(info, name, &length, &found);
    return found;
}

/* True if the MPI-IO is ROMIO (MPICH, Intel MPI, MPI of HPE Cray, ..), which reports hints of its own; OMPIO reports
 * those that it was given. OMPIO of Open MPI 4.1 writes beyond its buffers where extents of different ranks overlap,
 * and reads, modifies and writes gaps without a lock between its aggregators. */
static bool is_romio(MPI_Info used, MPI_Info given)
{
    static const char *const names[] = {"romio_cb_write", "romio_cb_read", "romio_ds_write", "romio_cb_pfr"};
    bool found = pnc_mpiio_library_get() == PNC_MPIIO_MPICH;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found = found || (has_hint(used, names[i]) && !has_hint(given, names[i]));
    return found;
}

/* On rank 0, set the striping that the file system reports. True if it reports none, and the hints in effect may
 * describe it. A file system in memory has no stripes: there the unit is that of the program's hint. */
static bool lacks_striping(pnc_store *store, MPI_Info given)
{
    if (store->rank != 0 || store->full_path == NULL || pnc_mpiio_striping_find(store->full_path, &store->striping))
        return false;
    return !store->striping.in_memory || has_hint(given, "striping_unit");
}

/* Find whether the MPI-IO is ROMIO and, on rank 0, the striping. MPI copies all hints to return those in effect, which
 * takes 1.3 us of the 23 us to create and close a file (MPICH): only where they are needed. */
static void examine_hints(pnc_mpiio *io, MPI_Info given)
{
    bool needs_hints = lacks_striping(&io->store, given);
    MPI_Info used = MPI_INFO_NULL;

    if ((needs_hints || pnc_mpiio_library_get() != PNC_MPIIO_MPICH) &&
        MPI_File_get_info(io->file, &used) != MPI_SUCCESS)
        used = MPI_INFO_NULL;
    io->store.has_collective = is_romio(used, given);
    if (needs_hints && used != MPI_INFO_NULL)
        pnc_mpiio_striping_derive(used, &io->store.striping);
    if (used != MPI_INFO_NULL)
        MPI_Info_free(&used);
}

static void init_store(pnc_mpiio *io, const pnc_open_call *call)
{
    io->path = call->path;
    io->file = MPI_FILE_NULL;
    io->lock = -1;
    for (int i = 0; i < PNC_MPIIO_CHANNELS; i++)
        io->channels[i].fd = -1;
    io->read_only = call->purpose == PNC_OPEN_READ;
    io->sole_writer = is_sole_writer() && !forbids_sieving(call->info);
    io->store.ops = &pnc_store_mpiio;
    io->store.comm = call->comm;
    io->store.nnodes = 1;
    io->store.end = &io->end;
    io->store.full_path = pnc_mpiio_path_make_absolute(call->path);
    io->store.sieve_read_gap = PNC_SIEVE_READ_GAP;
    io->store.sieve_write_gap = PNC_SIEVE_WRITE_GAP;
    io->store.few_extents = PNC_SIEVE_MIN_EXTENTS;
    MPI_Comm_rank(call->comm, &io->store.rank);
    MPI_Comm_size(call->comm, &io->store.nprocs);
    io->store.sieves_writes = io->store.nprocs == 1 && !forbids_sieving(call->info);
}

/* Open MPI needs file descriptors in addition to that of the file, and has no error class for their lack. */
#define DESCRIPTORS 4

static int get_access_mode(pnc_open_purpose purpose)
{
    switch (purpose) {
    case PNC_OPEN_READ: return MPI_MODE_RDONLY;
    case PNC_OPEN_UPDATE: return MPI_MODE_RDWR;
    case PNC_OPEN_REPLACE: return MPI_MODE_RDWR | MPI_MODE_CREATE;
    default: return MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL;
    }
}

/* Rank 0 has created the file, and MPI cannot open it. */
static void remove_created(const pnc_open_call *call, const pnc_new_striping *s)
{
    pnc_identity now = {0};

    if (pnc_mpiio_path_identify(call->path, &now) && now.inode == s->inode && now.device == s->device)
        unlink(pnc_path_strip(call->path));
}

/* Open the file, which rank 0 may have created for it. */
static int call_mpi(pnc_mpiio *io, const pnc_open_call *call, MPI_Info info, pnc_error *error)
{
    char buffer[PNC_MPIIO_PATH_BYTES];
    const char *path = pnc_mpiio_path_derive(call->path, call->prefix, buffer);
    bool is_created = io->store.new_striping.is_created;
    int amode = is_created && call->purpose == PNC_OPEN_NEW ? MPI_MODE_RDWR : get_access_mode(call->purpose), code;
    bool turn = pnc_mpiio_turn_take(call->comm);

    code = MPI_File_open(call->comm, path, amode, info, &io->file);
    if (code == MPI_SUCCESS)
        pnc_mpiio_turn_set_prepared();
    pnc_mpiio_turn_end(turn);
    if (code == MPI_SUCCESS) {
        examine_hints(io, call->info);
        return NC_NOERR;
    }
    if (is_created && io->store.rank == 0)
        remove_created(call, &io->store.new_striping);
    /* a file that MPI has opened nevertheless is closed with those of the other ranks */
    return pnc_mpiio_error_set(error, code, pnc_host_has_descriptors(DESCRIPTORS) ? NC_EOFILE : NC_ENFILE,
                               call->purpose == PNC_OPEN_REPLACE || call->purpose == PNC_OPEN_NEW ? "create" : "open",
                               call->path);
}

static int open_by_mpi(pnc_mpiio *io, const pnc_open_call *call, pnc_error *error)
{
    MPI_Info info = call->info;
    int err = NC_NOERR, opened;

    if (call->creation == PNC_CREATION_CHOOSES)
        err = pnc_mpiio_new_file_create(call, &info, &io->store.new_striping, error);
    else if (call->creation == PNC_CREATION_REPLACES)
        io->store.new_striping.choice.reason = PNC_STRIPING_KEPT;
    opened = call_mpi(io, call, info, error);
    if (info != call->info)
        MPI_Info_free(&info);
    return pnc_error_keep_first(err, opened);
}

/* Remove the content of the file, instead of the file: a symbolic link stays, and its target is overwritten. With one
 * rank no rank waits, and MPI has the file open: the path is not resolved again. */
static int truncate_file(pnc_mpiio *io, const pnc_open_call *call, pnc_error *error)
{
    if (call->truncation == PNC_TRUNCATE_NOTHING)
        return NC_NOERR;
    if (call->truncation == PNC_TRUNCATE_COLLECTIVELY || io->store.nprocs == 1)
        return io->store.ops->set_size(&io->store, 0, error);
    if (io->store.rank == 0)
        return pnc_mpiio_path_truncate(call->path, error);
    return NC_NOERR;
}

/* Rank 0. */
static int identify_file(const pnc_open_call *call, pnc_store *store, pnc_error *error)
{
    pnc_mpiio_path_identify(store->full_path, &store->identity);
    if (call->inode == 0 || call->inode == store->identity.inode)
        return NC_NOERR;
    return pnc_error_set(error, NC_EFILE, "%s is another file than the one that was opened: it was replaced",
                         call->path);
}

int pnc_mpiio_file_open(const pnc_open_call *call, pnc_store *store, pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    int err = NC_NOERR, truncated;

    init_store(io, call);
    err = open_by_mpi(io, call, error);
    if (io->file == MPI_FILE_NULL)
        return err;
    if (err == NC_NOERR && store->full_path == NULL)
        err = pnc_error_set(error, NC_ENOMEM, "no memory to open %s", call->path);
    else if (err == NC_NOERR && store->rank == 0)
        err = identify_file(call, store, error);
    if (call->purpose != PNC_OPEN_REPLACE)
        return err;
    truncated = truncate_file(io, call, error); /* the other ranks may wait for this rank in it */
    return pnc_error_keep_first(err, truncated);
}

int pnc_mpiio_file_close(pnc_store *store, pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    int code = MPI_SUCCESS, err = NC_NOERR;
    bool turn = pnc_mpiio_turn_take(store->comm);

    if (io->file != MPI_FILE_NULL)
        code = MPI_File_close(&io->file);
    pnc_mpiio_turn_end(turn);
    if (code != MPI_SUCCESS)
        err = pnc_mpiio_error_set(error, code, NC_EFILE, "close", io->path);
    if (io->lock >= 0)
        close(io->lock);
    pnc_mpiio_background_close(io);
    pnc_memory_free(io->sieve_buffer);
    pnc_memory_free(store->full_path);
    pnc_memory_free(io);
    return err;
}
