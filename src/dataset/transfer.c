/* Moving a selection between memory and file: each rank on its own where its runs are large, together through an
 * exchange where they are small and interleave. */
#include "dataset/call.h"

#include <string.h>

#include "base/memory.h"
#include "dataset/exchange.h"

/* Runs below this many bytes are written through an exchange between ranks. Measured on tmpfs, 2 ranks on 2 cores, each
 * writing every other row, ns per row and rank (one write per row / exchange in rounds of 8 MiB):
 *     64 B: 906 / 202    256 B: 933 / 205    1 KiB: 1242 / 719    4 KiB: 1786 / 2358    64 KiB: 20496 / 36053
 * Reads: 568 / 192 at 64 B, 1115 / 2566 at 4 KiB, but 13 and 1483 where the driver reads across the gaps; so that on one
 * node a read never needs the exchange. Between nodes the file system's round trips count, not ours. */
#define SMALL_RUN_ONE_NODE 2048
#define SMALL_RUN (1 << 20)

#define EXTENTS_AT_A_TIME 4096     /* of the direct path: 64 KiB */
#define DIRECT_BYTES (512 << 20)   /* straight from or to the user's memory; the store wants less than 1 GiB */

typedef struct transfer {
    pnc_dataset *ds;
    pnc_direction way;
    const pnc_selection *selection;
    pnc_pump *pump;     /* NULL where nothing is selected */
    int64_t moved;      /* bytes */
} transfer;

/* Room for the bytes and extents of one piece. */
typedef struct piece {
    pnc_extent *extents, few[16];
    int64_t max_extents, max_bytes;
    char *bytes;        /* NULL where the user's memory serves */
} piece;

static int no_memory(transfer *t, int64_t bytes)
{
    return pnc_fail(&t->ds->error, NC_ENOMEM, "%s: no memory for a transfer buffer of %lld bytes", t->ds->path,
                    (long long)bytes);
}

static int make_extents(transfer *t, piece *p, int64_t wanted)
{
    p->max_extents = wanted < 16 ? 16 : wanted;
    p->extents = wanted <= 16 ? p->few : pnc_alloc(wanted, sizeof *p->extents);
    return p->extents != NULL ? NC_NOERR : no_memory(t, wanted * (int64_t)sizeof *p->extents);
}

static void free_extents(piece *p)
{
    if (p->extents != p->few)
        pnc_free(p->extents);
}

/* A get whose values have one size in file and memory reads into the user's buffer and converts there: a buffer between
 * them would make the processor fetch the user's memory only to overwrite it (swapping gets: 0.76 of the limit). */
static bool converts_in_place(const transfer *t)
{
    return t->way == PNC_GET && t->pump->flat != NULL && t->pump->mem_size == t->pump->ext_size;
}

/* Kernels want two buffers: a block in the first-level cache is one of them. */
static void convert_in_place(pnc_pump *pump, int64_t elements)
{
    char block[4096];
    int64_t most = (int64_t)sizeof block / pump->ext_size;

    for (int64_t n; elements > 0; elements -= n) {
        n = elements < most ? elements : most;
        memcpy(block, pump->flat, (size_t)(n * pump->ext_size));
        pnc_pump_get(pump, block, n);
    }
}

static bool needs_buffer(const transfer *t)
{
    return t->pump->direct == NULL && !converts_in_place(t);
}

/* Take the next piece of the selection, convert it and hand it to the store, or the other way round. */
static int move_piece(transfer *t, piece *p, pnc_cursor *cursor)
{
    pnc_dataset *ds = t->ds;
    int64_t bytes, n = pnc_cursor_take(cursor, p->max_bytes, t->pump->ext_size, p->extents, p->max_extents, &bytes);
    int64_t elements = bytes / t->pump->ext_size;
    char *place = p->bytes;
    int err;

    if (t->pump->direct != NULL)
        place = pnc_pump_place(t->pump, elements);
    else if (converts_in_place(t))
        place = t->pump->flat;
    else if (t->way == PNC_PUT)
        pnc_pump_put(t->pump, place, elements);
    if (t->way == PNC_PUT)
        err = ds->store->ops->write(ds->store, p->extents, n, place, &ds->error);
    else
        err = ds->store->ops->read(ds->store, p->extents, n, place, &ds->error);
    if (err != NC_NOERR)
        return err;
    if (converts_in_place(t))
        convert_in_place(t->pump, elements);
    else if (t->way == PNC_GET && t->pump->direct == NULL)
        pnc_pump_get(t->pump, place, elements);
    t->moved += bytes;
    return NC_NOERR;
}

/* This rank alone, in pieces that are still in cache when the system call or the conversion looks at them again. */
static int move_alone(transfer *t)
{
    const pnc_selection *selection = t->selection;
    piece p = {.max_bytes = PNC_STAGE_BYTES};
    pnc_cursor cursor;
    int err;

    if (selection->bytes == 0)
        return NC_NOERR;
    if (t->pump->direct != NULL)
        p.max_bytes = DIRECT_BYTES;
    if (needs_buffer(t)) {
        if (t->ds->stage == NULL)
            t->ds->stage = pnc_alloc(PNC_STAGE_BYTES, 1);
        if (t->ds->stage == NULL)
            return no_memory(t, PNC_STAGE_BYTES);
        p.bytes = t->ds->stage;
    }
    err = make_extents(t, &p, selection->nruns < EXTENTS_AT_A_TIME ? selection->nruns : EXTENTS_AT_A_TIME);
    if (err != NC_NOERR)
        return err;
    err = pnc_cursor_start(&cursor, selection);
    if (err == NC_NOERR) {
        while (err == NC_NOERR && t->moved < selection->bytes)
            err = move_piece(t, &p, &cursor);
        pnc_cursor_end(&cursor);
    }
    free_extents(&p);
    return err;
}

/* Whether this rank does better together with the others. */
static bool wants_exchange(const transfer *t)
{
    bool one_node = t->ds->store->nnodes == 1;
    int64_t small = one_node ? SMALL_RUN_ONE_NODE : SMALL_RUN;

    return t->selection->nruns > 1 && t->selection->run < small && !(one_node && t->way == PNC_GET);
}

/* What the ranks settle in one reduction: the largest of each. */
typedef struct verdict {
    int64_t failure;  /* the worst code, negated, and the rank that met it; 0 = none */
    int64_t exchange; /* 1: some rank waits for the others */
    int64_t newrecs;
} verdict;

static int settle(transfer *t, int status, verdict *v)
{
    pnc_dataset *ds = t->ds;
    int64_t own[3] = {status == NC_NOERR ? 0 : ((int64_t)-status << 32) + ds->rank, v->exchange, v->newrecs}, all[3];

    if (MPI_Allreduce(own, all, 3, MPI_INT64_T, MPI_MAX, ds->comm) != MPI_SUCCESS)
        return pnc_fail(&ds->error, NC_EMPI, "%s: the ranks could not exchange the results of a collective call",
                        ds->path);
    *v = (verdict){all[0], all[1], all[2]};
    if (status == NC_NOERR && v->failure != 0) {
        status = -(int)(v->failure >> 32);
        pnc_fail(&ds->error, status, "%s: a collective %s failed on rank %d: %s", ds->path,
                 t->way == PNC_PUT ? "write" : "read", (int)(v->failure & 0xffffffff), pnc_code_text(status));
    }
    return status;
}

/* A collective call of several ranks: alone, then together if any asks for it. Every rank returns the same kind of
 * answer: an error if there was one anywhere. */
static int move_collective(transfer *t, int64_t *newrecs)
{
    bool waits = wants_exchange(t);
    verdict v = {0, waits, *newrecs};
    int err = settle(t, waits ? NC_NOERR : move_alone(t), &v);

    *newrecs = v.newrecs;
    if (v.failure == 0 && v.exchange) {
        err = pnc_exchange(t->ds, t->way, waits ? t->selection : NULL, t->pump, &t->moved);
        err = settle(t, err, &v);
    }
    return err;
}

/* The number of records after a put that went well; the same on all ranks of a collective call. */
static int grow_records(pnc_dataset *ds, bool collective, int64_t newrecs)
{
    if (newrecs <= ds->model.numrecs)
        return NC_NOERR;
    ds->model.numrecs = newrecs;
    ds->numrecs_dirty = true;
    return collective ? pnc_header_write_numrecs(ds) : NC_NOERR;
}

int pnc_transfer(pnc_dataset *ds, pnc_direction way, bool collective, const pnc_selection *selection, pnc_pump *pump,
                 int64_t newrecs)
{
    transfer t = {.ds = ds, .way = way, .selection = selection, .pump = pump};
    int err;

    err = collective && ds->nprocs > 1 ? move_collective(&t, &newrecs) : move_alone(&t);
    if (way == PNC_PUT)
        ds->put_size += t.moved;
    else
        ds->get_size += t.moved;
    if (err == NC_NOERR && way == PNC_PUT) {
        err = grow_records(ds, collective, newrecs);
        if (err == NC_NOERR && collective && ds->share)
            err = ds->store->ops->sync(ds->store, &ds->error);
    }
    return err;
}
