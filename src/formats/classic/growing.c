/* The file of a dataset as src/growth accesses it. */
#include "formats/classic/growing.h"

#include "file/agree.h"
#include "host/host.h"

static int64_t bytes_of(const pnc_extent *extents, int64_t n)
{
    int64_t bytes = 0;

    for (int64_t i = 0; i < n; i++)
        bytes += extents[i].length;
    return bytes;
}

static int read_extents(void *file, const pnc_extent *extents, int64_t n, void *bytes)
{
    PNC_TRY(pnc_file_extents_read(file, extents, n, bytes, NULL));
    ((pnc_file *)file)->get_size += bytes_of(extents, n);
    return NC_NOERR;
}

static int write_extents(void *file, const pnc_extent *extents, int64_t n, const void *bytes)
{
    PNC_TRY(pnc_file_extents_write(file, extents, n, bytes));
    ((pnc_file *)file)->put_size += bytes_of(extents, n);
    return NC_NOERR;
}

static int agree_error(void *file, int err)
{
    return pnc_file_status_agree(file, err);
}

static int sync_file(void *file)
{
    int err = pnc_file_data_sync(file);

    return pnc_file_status_agree(file, err);
}

static int set_size(void *file, int64_t size)
{
    pnc_store *store = ((pnc_file *)file)->store;
    int err;

    ((pnc_file *)file)->unsynced = true;
    err = store->ops->set_size(store, size, ((pnc_file *)file)->error);

    return pnc_file_status_agree(file, err);
}

static int maximize(void *file, int64_t *values, int n)
{
    return pnc_file_maxima_agree(file, values, n, "which ranks hold the file");
}

static pnc_held hold_file(void *file, pnc_hold hold)
{
    return pnc_file_hold_set(file, hold);
}

/* The node counts only where other nodes may access the file. */
static void identify(void *file, pnc_growth_program *own)
{
    const pnc_store *store = ((pnc_file *)file)->store;

    own->id = pnc_host_id_create();
    own->is_local = store->striping.is_local;
    if (!own->is_local && store->nnodes == 1)
        pnc_host_node_get(own->node);
}

pnc_growth_io pnc_classic_growing_get_io(pnc_file *file)
{
    return (pnc_growth_io){.file = file,
                           .path = file->path,
                           .rank = file->rank,
                           .nprocs = file->nprocs,
                           .is_volatile = file->store->striping.in_memory,
                           .error = file->error,
                           .read = read_extents,
                           .write = write_extents,
                           .agree = agree_error,
                           .sync = sync_file,
                           .set_size = set_size,
                           .maximize = maximize,
                           .hold = hold_file,
                           .identify = identify};
}

static int repair_opened(pnc_file *file, bool assumes_dead)
{
    pnc_growth_io io = pnc_classic_growing_get_io(file);
    pnc_growth_outcome outcome;
    pnc_growth_life life;
    int64_t size;
    int err;

    io.life = &life;
    io.assumes_dead = assumes_dead;
    err = pnc_growth_life_begin(&io);
    if (err == NC_NOERR)
        err = pnc_file_get_size(file, &size);
    if (err == NC_NOERR)
        err = pnc_growth_file_repair(&io, size, &outcome);
    pnc_growth_life_end(&io);
    return err;
}

/* The other ranks do not take part: a repair is rare, and they wait for the header. */
int pnc_classic_growing_repair(const pnc_file *file, bool assumes_dead)
{
    MPI_Info info;
    pnc_file own = {0};
    int err;

    PNC_TRY(pnc_file_hints_create(file, &info));
    err = pnc_file_open_again(file, MPI_COMM_SELF, info, &own);
    if (err == NC_NOERR)
        err = repair_opened(&own, assumes_dead);
    if (own.store != NULL)
        err = pnc_error_keep_first(err, pnc_file_close_again(&own));
    MPI_Info_free(&info);
    return err;
}

int pnc_classic_growing_inquire(pnc_file *file)
{
    pnc_growth_io io = pnc_classic_growing_get_io(file);

    return pnc_growth_life_inquire(&io);
}
