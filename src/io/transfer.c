/* Execution of requests, by one of three strategies: direct access for large runs; merging for small runs of one
 * rank; two-phase I/O for small runs of several ranks, which may interleave. */
#include "io/transfer.h"

#include <string.h>

#include "base/memory.h"
#include "io/cursors.h"
#include "io/two_phase.h"

/* Runs below this many bytes are written through an exchange between ranks. Measured on tmpfs, 2 ranks on 2 cores, each
 * writing every other row, ns per row and rank (one write per row / exchange in rounds of 8 MiB):
 *     64 B: 906 / 202    256 B: 933 / 205    1 KiB: 1242 / 719    4 KiB: 1786 / 2358    64 KiB: 20496 / 36053
 * Reads: 568 / 192 at 64 B, 1115 / 2566 at 4 KiB, but 13 and 1483 with data sieving in the driver: on one node, reads
 * never use the exchange. Between nodes the round trips to the file system dominate. */
#define SMALL_RUN_ONE_NODE 2048
#define SMALL_RUN (1 << 20)

/* Up to this many runs are accessed one by one on one node: merging them costs as much. Rows of 64 bytes, us of CPU
 * time per put and rank (one by one / exchange): 4 rows of 2 ranks 6.7 / 9.7, 8 rows 10.6 / 10.2; on 4 ranks that
 * share 2 cores 8.5 / 21 and 12 / 22. wait_all for 4 requests of one rank: 4.8 / 81. */
#define FEW_RUNS 8

#define EXTENTS_AT_A_TIME 4096   /* direct strategy: 64 KiB of extents */
#define DIRECT_BYTES (512 << 20) /* without a staging buffer; the store accepts less than 1 GiB */
#define MAX_INTERLEAVED 24       /* requests */
#define CACHE_LINE 64

typedef struct transfer {
    pnc_dataset *ds;
    pnc_direction way;
    bool collective;
    pnc_request **list;
    int64_t n;
} transfer;

static int no_memory(transfer *t, int64_t bytes)
{
    return pnc_error_set(&t->ds->error, NC_ENOMEM, "%s: no memory for a transfer buffer of %lld bytes", t->ds->path,
                         (long long)bytes);
}

/* --- direct --- */

/* Staging buffer and extents of one portion. */
typedef struct staging {
    pnc_extent *extents, few[16];
    int64_t max_extents, max_bytes;
    char *stage; /* staging buffer; NULL if the user's memory is accessed directly */
} staging;

/* A get whose values have the same size in file and memory reads into the user's buffer and converts in place: with
 * a staging buffer the processor would fetch the user's memory only to overwrite it (swapping gets: 0.76 of the
 * limit). */
static bool converts_in_place(const transfer *t, const pnc_packer *packer)
{
    return t->way == PNC_GET && packer->flat != NULL && packer->mem_size == packer->ext_size;
}

/* Kernels need distinct source and destination: the source is copied to a block in the first-level cache. */
static void convert_in_place(pnc_packer *packer, int64_t elements)
{
    char block[4096];
    int64_t most = (int64_t)sizeof block / packer->ext_size;

    for (int64_t n; elements > 0; elements -= n) {
        n = elements < most ? elements : most;
        memcpy(block, packer->flat, (size_t)(n * packer->ext_size));
        pnc_convert_packer_unpack(packer, block, n);
    }
}

/* Read the next extents and convert what was read; `bytes_at` is the staging buffer or the user's memory. If the
 * read fails, the complete values are still returned to the user. A value that was read in part is set to 0. */
static int read_piece(transfer *t, staging *p, pnc_packer *packer, int64_t n, char *bytes_at)
{
    pnc_dataset *ds = t->ds;
    int64_t got, elements, rest;
    int err = ds->store->ops->read(ds->store, p->extents, n, bytes_at, &got, &ds->error);

    elements = got / packer->ext_size;
    rest = got % packer->ext_size;
    if (rest > 0 && bytes_at != p->stage)
        memset(bytes_at + got - rest, 0, (size_t)packer->ext_size);
    if (converts_in_place(t, packer))
        convert_in_place(packer, elements);
    else if (packer->direct == NULL)
        pnc_convert_packer_unpack(packer, bytes_at, elements);
    return err;
}

/* Access the next extents; their values are converted while they are in the cache. */
static int access_portion(transfer *t, staging *p, pnc_packer *packer, int64_t n, int64_t bytes)
{
    pnc_dataset *ds = t->ds;
    int64_t elements = bytes / packer->ext_size;
    char *bytes_at = p->stage;

    if (packer->direct != NULL)
        bytes_at = pnc_convert_packer_take_direct(packer, elements);
    else if (converts_in_place(t, packer))
        bytes_at = packer->flat;
    else if (t->way == PNC_PUT)
        pnc_convert_packer_pack(packer, bytes_at, elements);
    if (t->way == PNC_GET)
        return read_piece(t, p, packer, n, bytes_at);
    return ds->store->ops->write(ds->store, p->extents, n, bytes_at, &ds->error);
}

static int make_staging(transfer *t, const pnc_packer *packer, int64_t wanted, staging *p)
{
    p->max_bytes = packer->direct != NULL ? DIRECT_BYTES : PNC_STAGE_BYTES;
    p->max_extents = wanted < 16 ? 16 : wanted < EXTENTS_AT_A_TIME ? wanted : EXTENTS_AT_A_TIME;
    p->extents = p->max_extents == 16 ? p->few : pnc_memory_alloc(p->max_extents, sizeof *p->extents);
    if (p->extents == NULL)
        return no_memory(t, p->max_extents * (int64_t)sizeof *p->extents);
    if (packer->direct != NULL || converts_in_place(t, packer))
        return NC_NOERR;
    if (t->ds->stage == NULL)
        t->ds->stage = pnc_memory_alloc(PNC_STAGE_BYTES, 1);
    p->stage = t->ds->stage;
    return p->stage == NULL ? no_memory(t, PNC_STAGE_BYTES) : NC_NOERR;
}

/* A request in progress. Its cursors point into this struct, so it must not be moved. */
typedef struct active_request {
    pnc_request *request;
    pnc_extent_cursor extents;
    pnc_packer packer;
    staging staging;
    int64_t left; /* bytes */
} active_request;

static int start_request(transfer *t, pnc_request *r, active_request *m)
{
    int err;

    m->request = r;
    m->staging = (staging){.extents = NULL};
    m->left = pnc_io_requests_count_bytes(t->ds, &r, 1);
    pnc_io_extent_cursor_init(&m->extents, t->ds, &m->request, 1);
    err = pnc_io_request_init_packer(t->ds, r, &m->packer);
    return err != NC_NOERR ? err : make_staging(t, &m->packer, r->elements, &m->staging);
}

static int step_request(transfer *t, active_request *m)
{
    int64_t n, bytes;
    int err = pnc_io_extent_cursor_take(&m->extents, m->staging.max_bytes, m->staging.extents, m->staging.max_extents,
                                        &n, &bytes);

    m->left -= bytes;
    return err != NC_NOERR ? err : access_portion(t, &m->staging, &m->packer, n, bytes);
}

static void finish_request(active_request *m)
{
    pnc_io_extent_cursor_free(&m->extents);
    if (m->staging.extents != m->staging.few)
        pnc_memory_free(m->staging.extents);
    if (m->packer.status != NC_NOERR)
        m->request->status = m->packer.status;
    pnc_convert_packer_free(&m->packer);
}

/* Direct strategy: large runs, or a regular pattern of one rank, for which the store does data sieving. The requests
 * advance alternately, one portion each. */
static int transfer_direct(transfer *t, pnc_request **list, int64_t n)
{
    active_request active[MAX_INTERLEAVED];
    int64_t begun = 0;
    int err = NC_NOERR;
    bool more = true;

    while (begun < n && err == NC_NOERR) {
        err = start_request(t, list[begun], &active[begun]);
        begun++;
    }
    while (more && err == NC_NOERR) {
        more = false;
        for (active_request *m = active; m < active + n && err == NC_NOERR; m++) {
            if (m->left > 0)
                err = step_request(t, m);
            more = more || m->left > 0;
        }
    }
    for (int64_t i = 0; i < begun; i++)
        finish_request(&active[i]);
    return err;
}

static bool scattered(const pnc_request *r)
{
    int64_t offset;

    return r->flat != NULL && !pnc_select_flat_is_contiguous(r->flat, &offset);
}

/* Number of requests, from index `first` on, that advance alternately: their values are adjacent in memory, like the
 * variables of each cell of a mesh. A cache line is then used for all of them: one request after the other took 3
 * times as long for 24 doubles per cell. Each variable, and for gets each memory address, occurs only once, since
 * the last of two overlapping requests must win. */
static int64_t count_interleaved(const transfer *t, int64_t first)
{
    int64_t n = 1;

    for (pnc_request **r = t->list + first; first + n < t->n && n < MAX_INTERLEAVED; n++) {
        int64_t apart = (int64_t)((uintptr_t)r[n]->memory - (uintptr_t)r[n - 1]->memory);

        if (!scattered(r[n - 1]) || !scattered(r[n]) || apart < -CACHE_LINE || apart > CACHE_LINE)
            break;
        for (int64_t i = 0; i < n; i++)
            if (r[i]->varid == r[n]->varid || (t->way == PNC_GET && r[i]->memory == r[n]->memory))
                return n;
    }
    return n;
}

/* --- which strategy --- */

typedef enum strategy { DIRECT, MERGED, TWO_PHASE } strategy;

/* Average bytes of a run, and number of runs. */
static int measure_runs(transfer *t, int64_t small, int64_t few, int64_t *run, int64_t *nruns)
{
    int64_t bytes = pnc_io_requests_count_bytes(t->ds, t->list, t->n), parts = 0;

    *nruns = 0;
    for (int64_t i = 0; i < t->n; i++)
        parts += t->list[i]->elements > 0 ? t->list[i]->nslabs : 0;
    if (parts > few && bytes / parts < small) { /* bounds from above and below: enough to decide */
        *run = bytes / parts;
        *nruns = parts;
        return NC_NOERR;
    }
    for (int64_t i = 0; i < t->n; i++) {
        if (t->list[i]->filetype != NULL)
            *nruns += t->list[i]->nslabs;
        for (int64_t k = 0; t->list[i]->filetype == NULL && k < t->list[i]->nslabs; k++) {
            pnc_selection selection;
            int err = pnc_io_request_get_selection(t->ds, t->list[i], k, &selection);

            if (err != NC_NOERR)
                return err;
            *nruns += selection.nruns;
            pnc_select_selection_free(&selection);
        }
    }
    *run = *nruns > 0 ? bytes / *nruns : 0;
    return NC_NOERR;
}

static int choose_strategy(transfer *t, strategy *choice)
{
    bool several_ranks = t->collective && t->ds->nprocs > 1, one_node = t->ds->store->nnodes == 1;
    bool near = one_node || !several_ranks;
    int64_t small = near ? SMALL_RUN_ONE_NODE : SMALL_RUN, few = near ? FEW_RUNS : 1, run, nruns;
    bool one_part = t->n == 1 && t->list[0]->nslabs == 1;
    int err = measure_runs(t, small, few, &run, &nruns);

    *choice = DIRECT;
    if (err != NC_NOERR || nruns <= few || run >= small)
        return err;
    if (several_ranks && !(one_node && t->way == PNC_GET))
        *choice = TWO_PHASE;
    else if (!one_part)
        *choice = MERGED;
    return NC_NOERR;
}

static int execute_independent(transfer *t, strategy choice)
{
    int err = NC_NOERR;

    if (choice == MERGED)
        return pnc_io_two_phase_execute_independent(t->ds, t->way, t->list, t->n);
    for (int64_t i = 0, some; i < t->n && err == NC_NOERR; i += some) {
        some = count_interleaved(t, i);
        if (t->list[i]->elements > 0)
            err = transfer_direct(t, t->list + i, some);
    }
    return err;
}

/* Values that the ranks agree on in one reduction: the maximum of each. */
typedef struct agreement {
    int64_t failure;  /* the most negative code, negated, in the high 32 bits; its rank in the low ones; 0 = none */
    int64_t exchange; /* 1: some rank needs two-phase I/O */
    int64_t numrecs;
} agreement;

static int agree(transfer *t, int status, agreement *v)
{
    pnc_dataset *ds = t->ds;
    int64_t own[3] = {status == NC_NOERR ? 0 : ((int64_t)-status << 32) + ds->rank, v->exchange, v->numrecs}, all[3];

    if (MPI_Allreduce(own, all, 3, MPI_INT64_T, MPI_MAX, ds->comm) != MPI_SUCCESS)
        return pnc_error_set(&ds->error, NC_EMPI,
                             "%s: MPI_Allreduce of the results of a collective call "
                             "failed",
                             ds->path);
    *v = (agreement){all[0], all[1], all[2]};
    if (status == NC_NOERR && v->failure != 0) {
        status = -(int)(v->failure >> 32);
        pnc_error_set_remote(&ds->error, status, "%s: a collective %s failed on rank %d: %s", ds->path,
                             t->way == PNC_PUT ? "write" : "read", (int)(v->failure & 0xffffffff),
                             pnc_error_get_text(status));
    }
    return status;
}

/* A collective call of several ranks: independent access, then two-phase I/O if any rank needs it. If any rank has
 * an error, all ranks return an error. */
static int transfer_collective(transfer *t, int64_t *numrecs)
{
    strategy choice;
    int err = choose_strategy(t, &choice);
    bool waits = err == NC_NOERR && choice == TWO_PHASE;
    agreement v = {0, waits, *numrecs};

    if (err == NC_NOERR && !waits)
        err = execute_independent(t, choice);
    err = agree(t, err, &v);
    *numrecs = v.numrecs;
    if (v.failure == 0 && v.exchange) {
        err = pnc_io_two_phase_execute(t->ds, t->way, t->list, waits ? t->n : 0);
        err = agree(t, err, &v);
    }
    return err;
}

static int transfer_independent(transfer *t)
{
    strategy choice;
    int err = choose_strategy(t, &choice);

    return err != NC_NOERR ? err : execute_independent(t, choice);
}

/* Set the number of records after a successful put; the same on all ranks of a collective call. */
static int increase_numrecs(pnc_dataset *ds, bool collective, int64_t numrecs)
{
    if (numrecs <= ds->model.numrecs)
        return NC_NOERR;
    ds->model.numrecs = numrecs;
    ds->numrecs_dirty = true;
    return collective ? pnc_dataset_numrecs_write(ds) : NC_NOERR;
}

int pnc_io_requests_transfer(pnc_dataset *ds, pnc_direction way, bool collective, pnc_request **list, int64_t n)
{
    transfer t = {.ds = ds, .way = way, .collective = collective, .list = list, .n = n};
    int64_t numrecs = 0;
    int err;

    for (int64_t i = 0; i < n; i++)
        numrecs = list[i]->numrecs > numrecs ? list[i]->numrecs : numrecs;
    err = collective && ds->nprocs > 1 ? transfer_collective(&t, &numrecs) : transfer_independent(&t);
    if (err == NC_NOERR)
        *(way == PNC_PUT ? &ds->put_size : &ds->get_size) += pnc_io_requests_count_bytes(ds, list, n);
    if (err == NC_NOERR && way == PNC_PUT) {
        err = increase_numrecs(ds, collective, numrecs);
        if (err == NC_NOERR && collective && ds->share)
            err = ds->store->ops->sync(ds->store, &ds->error);
    }
    return err;
}
