/* Execution of requests, by one of three strategies: direct access for large runs; merging for small runs of one
 * rank; two-phase I/O for small runs of several ranks, which may interleave. */
#include "io/transfer.h"

#include <assert.h>

#include "file/agree.h"
#include "io/cursors.h"
#include "io/direct.h"
#include "io/merged.h"
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

/* --- which strategy --- */

typedef enum strategy { DIRECT, MERGED, TWO_PHASE } strategy;

/* Runs of the file in a list of requests. */
typedef struct run_count {
    int64_t runs, bytes; /* bytes: the average of a run */
} run_count;

/* From here on, runs are accessed directly. */
typedef struct threshold {
    int64_t runs;  /* up to so many */
    int64_t bytes; /* of so many bytes on average */
} threshold;

static int count_runs_of(pnc_io_context *io, const pnc_request *r, int64_t *runs)
{
    if (r->filetype != NULL) {
        *runs += r->nslabs;
        return NC_NOERR;
    }
    for (int64_t k = 0; k < r->nslabs; k++) {
        pnc_selection selection;

        PNC_TRY(pnc_io_request_get_selection(io, r, k, &selection));
        *runs += selection.nruns;
        pnc_select_selection_free(&selection);
    }
    return NC_NOERR;
}

static int count_runs(pnc_io_context *io, const pnc_request_list *list, threshold least, run_count *out)
{
    int64_t bytes = pnc_io_requests_count_bytes(io, list->at, list->n), slabs = 0, runs = 0;

    for (int64_t i = 0; i < list->n; i++)
        slabs += list->at[i]->elements > 0 ? list->at[i]->nslabs : 0;
    if (slabs > least.runs && bytes / slabs < least.bytes) { /* bounds from below and above: enough to decide */
        *out = (run_count){slabs, bytes / slabs};
        return NC_NOERR;
    }
    for (int64_t i = 0; i < list->n; i++)
        PNC_TRY(count_runs_of(io, list->at[i], &runs));
    *out = (run_count){runs, runs > 0 ? bytes / runs : 0};
    return NC_NOERR;
}

static int choose_strategy(pnc_io_context *io, const pnc_request_list *list, strategy *choice)
{
    bool several_ranks = list->collective && io->file->nprocs > 1, one_node = io->file->store->nnodes == 1;
    bool near = one_node || !several_ranks;
    threshold least = {near ? FEW_RUNS : 1, near ? SMALL_RUN_ONE_NODE : SMALL_RUN};
    bool one_slab = list->n == 1 && list->at[0]->nslabs == 1;
    run_count count;

    PNC_TRY(count_runs(io, list, least, &count));
    if (count.runs <= least.runs || count.bytes >= least.bytes)
        *choice = DIRECT;
    else if (several_ranks && !(one_node && list->direction == PNC_GET))
        *choice = TWO_PHASE;
    else
        *choice = one_slab ? DIRECT : MERGED;
    return NC_NOERR;
}

static int execute_independent(pnc_io_context *io, const pnc_request_list *list, strategy choice)
{
    assert(choice != TWO_PHASE);
    if (choice == MERGED)
        return pnc_io_merged_execute(io, list);
    return pnc_io_direct_execute(io, list->at, list->n);
}

/* --- agreement --- */

/* Values that the ranks agree on in one reduction: the maximum of each. */
typedef struct agreement {
    int64_t failure; /* the most negative code, negated, in the high 32 bits; its rank in the low ones; 0 = none */
    int64_t numrecs;
    int64_t minus_low, high; /* range of the file for two-phase I/O; high = 0: no rank needs it */
} agreement;

static int agree(pnc_io_context *io, pnc_direction direction, int status, agreement *v)
{
    pnc_file *file = io->file;
    int64_t values[4] = {status == NC_NOERR ? 0 : ((int64_t)-status << 32) + file->rank, v->numrecs, v->minus_low,
                         v->high};

    PNC_TRY(pnc_file_maxima_agree(file, values, 4, "the results of a collective call"));
    *v = (agreement){values[0], values[1], values[2], values[3]};
    if (status == NC_NOERR && v->failure != 0) {
        status = -(int)(v->failure >> 32);
        pnc_error_set_remote(file->error, status, "%s: a collective %s failed on rank %d: %s", file->path,
                             direction == PNC_PUT ? "write" : "read", (int)(v->failure & 0xffffffff),
                             pnc_error_get_text(status));
    }
    return status;
}

/* Make the aggregators and their buffers, once. Where memory, or the MPI library, does not allow it, all ranks access
 * the file on their own: slower, with the same result. */
static void prepare_two_phase(pnc_io_context *io)
{
    int err;

    if (io->two_phase != NULL || io->no_two_phase) /* on all ranks or on none */
        return;
    err = pnc_io_two_phase_create(io, &io->two_phase);
    if (err == NC_NOERR)
        return;
    io->no_two_phase = true;
    pnc_error_clear(io->file->error);
}

/* Collective. `order` has this rank's requests for two-phase I/O. */
static int transfer_two_phase(pnc_io_context *io, pnc_file_order *order, agreement *v)
{
    int err;

    prepare_two_phase(io);
    if (io->no_two_phase)
        err = execute_independent(io, order->list, MERGED);
    else
        err = pnc_io_two_phase_execute(io->two_phase, order, -v->minus_low, v->high);
    return agree(io, order->list->direction, err, v);
}

/* A collective call of several ranks: independent access, then two-phase I/O if any rank needs it. If any rank has
 * an error, all ranks return an error. */
static int transfer_collective(pnc_io_context *io, const pnc_request_list *list, int64_t *numrecs)
{
    pnc_request_list exchanged = {.direction = list->direction, .collective = true};
    agreement v = {.numrecs = *numrecs, .minus_low = INT64_MIN};
    pnc_file_order order;
    strategy choice = DIRECT;
    int err = choose_strategy(io, list, &choice);

    if (err == NC_NOERR && choice == TWO_PHASE)
        exchanged = *list;
    err = pnc_error_keep_first(err, pnc_io_file_order_init(&order, io, &exchanged));
    if (err == NC_NOERR && order.high > order.low) {
        v.minus_low = -order.low;
        v.high = order.high;
    }
    if (err == NC_NOERR && choice != TWO_PHASE)
        err = execute_independent(io, list, choice);
    err = agree(io, list->direction, err, &v);
    *numrecs = v.numrecs;
    if (err == NC_NOERR && v.high > 0) /* the same on all ranks */
        err = transfer_two_phase(io, &order, &v);
    pnc_io_file_order_free(&order);
    return err;
}

static int transfer_independent(pnc_io_context *io, const pnc_request_list *list)
{
    strategy choice;

    PNC_TRY(choose_strategy(io, list, &choice));
    return execute_independent(io, list, choice);
}

int pnc_io_requests_transfer(pnc_io_context *io, const pnc_request_list *list, int64_t *numrecs)
{
    int64_t most = 0, bytes;

    for (int64_t i = 0; i < list->n; i++) {
        assert(list->at[i]->direction == list->direction);
        most = list->at[i]->numrecs > most ? list->at[i]->numrecs : most;
    }
    if (list->collective && io->file->nprocs > 1)
        PNC_TRY(transfer_collective(io, list, &most));
    else
        PNC_TRY(transfer_independent(io, list));
    bytes = pnc_io_requests_count_bytes(io, list->at, list->n);
    if (list->direction == PNC_PUT)
        io->file->put_size += bytes;
    else
        io->file->get_size += bytes;
    *numrecs = most;
    return NC_NOERR;
}
