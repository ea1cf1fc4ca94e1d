/* Carrying out requests: each rank on its own where its runs are large, merged where they are small, and together with
 * the other ranks through an exchange where small runs may interleave. */
#include "dataset/transfer.h"

#include <string.h>

#include "base/memory.h"
#include "dataset/cursors.h"
#include "dataset/two_phase.h"

/* Runs below this many bytes are written through an exchange between ranks. Measured on tmpfs, 2 ranks on 2 cores, each
 * writing every other row, ns per row and rank (one write per row / exchange in rounds of 8 MiB):
 *     64 B: 906 / 202    256 B: 933 / 205    1 KiB: 1242 / 719    4 KiB: 1786 / 2358    64 KiB: 20496 / 36053
 * Reads: 568 / 192 at 64 B, 1115 / 2566 at 4 KiB, but 13 and 1483 where the driver reads across the gaps; so that on
 * one node a read never needs the exchange. Between nodes the file system's round trips count, not ours. */
#define SMALL_RUN_ONE_NODE 2048
#define SMALL_RUN (1 << 20)

/* So few are moved one by one, on one node: to merge them costs as much. Rows of 64 bytes, us of CPU time per put and
 * rank (one by one / exchange): 4 rows of 2 ranks 6.7 / 9.7, 8 rows 10.6 / 10.2; on 4 ranks that share 2 cores 8.5 / 21
 * and 12 / 22. wait_all for 4 requests of one rank: 4.8 / 81. */
#define FEW_RUNS 8

#define EXTENTS_AT_A_TIME 4096     /* of the direct path: 64 KiB */
#define DIRECT_BYTES (512 << 20)   /* straight from or to the user's memory; the store wants less than 1 GiB */
#define MOST_IN_TURN 24            /* requests */
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

/* --- straight --- */

/* Room for the bytes and extents of one piece. */
typedef struct piece {
    pnc_extent *extents, few[16];
    int64_t max_extents, max_bytes;
    char *stage; /* NULL where the user's memory serves */
} piece;

/* A get whose values have one size in file and memory reads into the user's buffer and converts there: a buffer between
 * them would make the processor fetch the user's memory only to overwrite it (swapping gets: 0.76 of the limit). */
static bool converts_in_place(const transfer *t, const pnc_packer *packer)
{
    return t->way == PNC_GET && packer->flat != NULL && packer->mem_size == packer->ext_size;
}

/* Kernels want two buffers: a block in the first-level cache is one of them. */
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

/* Read the next extents and convert what came; `place` is the stage, or user's memory. Where reading fails, the values
 * that are complete are the user's; of one that was cut a part may lie in the user's memory, and becomes 0. */
static int read_piece(transfer *t, piece *p, pnc_packer *packer, int64_t n, char *place)
{
    pnc_dataset *ds = t->ds;
    int64_t got, elements, rest;
    int err = ds->store->ops->read(ds->store, p->extents, n, place, &got, &ds->error);

    elements = got / packer->ext_size;
    rest = got % packer->ext_size;
    if (rest > 0 && place != p->stage)
        memset(place + got - rest, 0, (size_t)rest);
    if (converts_in_place(t, packer))
        convert_in_place(packer, elements);
    else if (packer->direct == NULL)
        pnc_convert_packer_unpack(packer, place, elements);
    return err;
}

/* Move the next extents, converting on the way while they are in cache. */
static int move_piece(transfer *t, piece *p, pnc_packer *packer, int64_t n, int64_t bytes)
{
    pnc_dataset *ds = t->ds;
    int64_t elements = bytes / packer->ext_size;
    char *place = p->stage;

    if (packer->direct != NULL)
        place = pnc_convert_packer_take_direct(packer, elements);
    else if (converts_in_place(t, packer))
        place = packer->flat;
    else if (t->way == PNC_PUT)
        pnc_convert_packer_pack(packer, place, elements);
    if (t->way == PNC_GET)
        return read_piece(t, p, packer, n, place);
    return ds->store->ops->write(ds->store, p->extents, n, place, &ds->error);
}

static int make_piece(transfer *t, const pnc_packer *packer, int64_t wanted, piece *p)
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

/* A request on its way. Its cursors point into it: it stays where it is. */
typedef struct mover {
    pnc_request *request;
    pnc_extent_cursor extents;
    pnc_packer packer;
    piece piece;
    int64_t left; /* bytes */
} mover;

static int start_mover(transfer *t, pnc_request *r, mover *m)
{
    int err;

    m->request = r;
    m->piece = (piece){.extents = NULL};
    m->left = pnc_io_requests_count_bytes(t->ds, &r, 1);
    pnc_io_extent_cursor_init(&m->extents, t->ds, &m->request, 1);
    err = pnc_io_request_init_packer(t->ds, r, &m->packer);
    return err != NC_NOERR ? err : make_piece(t, &m->packer, r->elements, &m->piece);
}

static int step_mover(transfer *t, mover *m)
{
    int64_t n, bytes;
    int err = pnc_io_extent_cursor_take(&m->extents, m->piece.max_bytes, m->piece.extents, m->piece.max_extents, &n,
                                        &bytes);

    m->left -= bytes;
    return err != NC_NOERR ? err : move_piece(t, &m->piece, &m->packer, n, bytes);
}

static void end_mover(mover *m)
{
    pnc_io_extent_cursor_free(&m->extents);
    if (m->piece.extents != m->piece.few)
        pnc_memory_free(m->piece.extents);
    if (m->packer.status != NC_NOERR)
        m->request->status = m->packer.status;
    pnc_convert_packer_free(&m->packer);
}

/* Large runs, or one rank's regular pattern, which the store knows to sieve: a piece of each request in turn. */
static int move_straight(transfer *t, pnc_request **list, int64_t n)
{
    mover movers[MOST_IN_TURN];
    int64_t begun = 0;
    int err = NC_NOERR;
    bool more = true;

    while (begun < n && err == NC_NOERR) {
        err = start_mover(t, list[begun], &movers[begun]);
        begun++;
    }
    while (more && err == NC_NOERR) {
        more = false;
        for (mover *m = movers; m < movers + n && err == NC_NOERR; m++) {
            if (m->left > 0)
                err = step_mover(t, m);
            more = more || m->left > 0;
        }
    }
    for (int64_t i = 0; i < begun; i++)
        end_mover(&movers[i]);
    return err;
}

static bool scattered(const pnc_request *r)
{
    int64_t offset;

    return r->flat != NULL && !pnc_select_flat_is_contiguous(r->flat, &offset);
}

/* How many requests, from number `first` on, are moved in turn: those whose values lie side by side, as the variables
 * of each cell of a mesh do. While a cache line is at hand it serves all of them: one after the other took 3 times as
 * long for 24 doubles of each cell. Of a variable only one, and for one place in memory, as the last of two that
 * overlap wins. */
static int64_t count_in_turn(const transfer *t, int64_t first)
{
    int64_t n = 1;

    for (pnc_request **r = t->list + first; first + n < t->n && n < MOST_IN_TURN; n++) {
        int64_t apart = (int64_t)((uintptr_t)r[n]->memory - (uintptr_t)r[n - 1]->memory);

        if (!scattered(r[n - 1]) || !scattered(r[n]) || apart < -CACHE_LINE || apart > CACHE_LINE)
            break;
        for (int64_t i = 0; i < n; i++)
            if (r[i]->varid == r[n]->varid || (t->way == PNC_GET && r[i]->memory == r[n]->memory))
                return n;
    }
    return n;
}

/* --- which way --- */

typedef enum way_to_go { STRAIGHT, MERGED, TOGETHER } way_to_go;

/* Bytes of a run on average, and how many there are. */
static int survey(transfer *t, int64_t small, int64_t few, int64_t *run, int64_t *nruns)
{
    int64_t bytes = pnc_io_requests_count_bytes(t->ds, t->list, t->n), parts = 0;

    *nruns = 0;
    for (int64_t i = 0; i < t->n; i++)
        parts += t->list[i]->elements > 0 ? t->list[i]->nslabs : 0;
    if (parts > few && bytes / parts < small) { /* so small, and so many, that no closer look is needed */
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

static int choose(transfer *t, way_to_go *way)
{
    bool several_ranks = t->collective && t->ds->nprocs > 1, one_node = t->ds->store->nnodes == 1;
    bool near = one_node || !several_ranks;
    int64_t small = near ? SMALL_RUN_ONE_NODE : SMALL_RUN, few = near ? FEW_RUNS : 1, run, nruns;
    bool one_part = t->n == 1 && t->list[0]->nslabs == 1;
    int err = survey(t, small, few, &run, &nruns);

    *way = STRAIGHT;
    if (err != NC_NOERR || nruns <= few || run >= small)
        return err;
    if (several_ranks && !(one_node && t->way == PNC_GET))
        *way = TOGETHER;
    else if (!one_part)
        *way = MERGED;
    return NC_NOERR;
}

static int move_alone(transfer *t, way_to_go way)
{
    int err = NC_NOERR;

    if (way == MERGED)
        return pnc_io_two_phase_execute_independent(t->ds, t->way, t->list, t->n);
    for (int64_t i = 0, some; i < t->n && err == NC_NOERR; i += some) {
        some = count_in_turn(t, i);
        if (t->list[i]->elements > 0)
            err = move_straight(t, t->list + i, some);
    }
    return err;
}

/* What the ranks settle in one reduction: the largest of each. */
typedef struct verdict {
    int64_t failure;  /* the worst code, negated, and the rank that met it; 0 = none */
    int64_t exchange; /* 1: some rank waits for the others */
    int64_t numrecs;
} verdict;

static int settle(transfer *t, int status, verdict *v)
{
    pnc_dataset *ds = t->ds;
    int64_t own[3] = {status == NC_NOERR ? 0 : ((int64_t)-status << 32) + ds->rank, v->exchange, v->numrecs}, all[3];

    if (MPI_Allreduce(own, all, 3, MPI_INT64_T, MPI_MAX, ds->comm) != MPI_SUCCESS)
        return pnc_error_set(&ds->error, NC_EMPI, "%s: the ranks could not exchange the results of a collective call",
                             ds->path);
    *v = (verdict){all[0], all[1], all[2]};
    if (status == NC_NOERR && v->failure != 0) {
        status = -(int)(v->failure >> 32);
        pnc_error_set_remote(&ds->error, status, "%s: a collective %s failed on rank %d: %s", ds->path,
                             t->way == PNC_PUT ? "write" : "read", (int)(v->failure & 0xffffffff),
                             pnc_error_get_text(status));
    }
    return status;
}

/* A collective call of several ranks: alone, then together if any asks for it. Every rank returns the same kind of
 * answer: an error if there was one anywhere. */
static int move_collective(transfer *t, int64_t *numrecs)
{
    way_to_go way;
    int err = choose(t, &way);
    bool waits = err == NC_NOERR && way == TOGETHER;
    verdict v = {0, waits, *numrecs};

    if (err == NC_NOERR && !waits)
        err = move_alone(t, way);
    err = settle(t, err, &v);
    *numrecs = v.numrecs;
    if (v.failure == 0 && v.exchange) {
        err = pnc_io_two_phase_execute(t->ds, t->way, t->list, waits ? t->n : 0);
        err = settle(t, err, &v);
    }
    return err;
}

static int move_independent(transfer *t)
{
    way_to_go way;
    int err = choose(t, &way);

    return err != NC_NOERR ? err : move_alone(t, way);
}

/* The number of records after a put that went well; the same on all ranks of a collective call. */
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
    err = collective && ds->nprocs > 1 ? move_collective(&t, &numrecs) : move_independent(&t);
    if (err == NC_NOERR)
        *(way == PNC_PUT ? &ds->put_size : &ds->get_size) += pnc_io_requests_count_bytes(ds, list, n);
    if (err == NC_NOERR && way == PNC_PUT) {
        err = increase_numrecs(ds, collective, numrecs);
        if (err == NC_NOERR && collective && ds->share)
            err = ds->store->ops->sync(ds->store, &ds->error);
    }
    return err;
}
