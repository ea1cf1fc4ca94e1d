/* A collective call of a variable in chunks: each chunk has one rank, its aggregator, to which the others send values,
 * and which encodes and writes it, or reads and decodes it for them. The grid of chunks, their aggregators, the boxes
 * of hyperslabs and the bytes of messages are those of the library (drivers/chunks, array). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/walk.h"
#include "base/bits.h"
#include "base/memory.h"
#include "drivers/chunks/aggregator.h"
#include "drivers/chunks/grid.h"
#include "drivers/chunks/messages.h"
#include "drivers/chunks/packing.h"
#include "drivers/chunks/sizes.h"
#include "tools/common/message.h"
#include "tools/plan/chunked.h"
#include "tools/plan/map.h"

#define MOST_BOXES (1 << 22) /* of all ranks: 170 MB */
/* A variable grows to this length at most, in a plan: numbers of chunks fit in 63 bits. */
#define MOST_RECORDS (INT64_C(1) << 40)

/* What a rank has of a chunk. */
typedef struct plan_box {
    int64_t chunk, n; /* elements */
    int64_t parts;    /* in messages: of at most PNC_BOX_BYTES */
    int64_t head;     /* bytes of the head of each part */
    int aggregator, rank, round;
} plan_box;

typedef struct chunked_call {
    const plan_decomposition *d;
    const plan_options *options;
    const pnc_var *var;
    const pnc_stored *storage;
    pnc_chunk_grid grid;
    int64_t first; /* number of the array */
    int ranks_per_node;
    plan_box *boxes;
    int64_t n, capacity;
    plan_chunk_result *out;
} chunked_call;

static int fail_chunked(const chunked_call *call, const char *why)
{
    tool_error_print("%s: variable \"%s\" %s", call->options->path, call->var->name, why);
    return NC_EINVAL;
}

/* --- the grid of chunks --- */

static int init_chunk_grid(chunked_call *call)
{
    int64_t shape[PNC_ARRAY_DIMS], along[PNC_ARRAY_DIMS];
    const pnc_var *var = call->var;
    const pnc_chunk_array array = {.ndims = var->ndims,
                                   .elem_size = (int)pnc_type_get_size(var->type),
                                   .shape = shape,
                                   .extent = shape,
                                   .growing = var->is_record,
                                   .chunk = call->storage->array.chunk};

    for (int d = 0; d < var->ndims; d++)
        shape[d] = var->is_record && d == 0 ? MOST_RECORDS : var->shape[d];
    if (var->inner_unlimited)
        return fail_chunked(call, "has an unlimited dimension that is not the first one: no plan of it is made");
    if (pnc_array_chunks_count(var->ndims, shape, array.chunk, along) == INT64_MAX)
        return fail_chunked(call, "has too many chunks");
    pnc_chunks_grid_init(&call->grid, &array);
    return NC_NOERR;
}

/* --- the boxes of all ranks --- */

/* A box that is divided, as in messages. */
static int count_part(void *own, const pnc_box *part)
{
    plan_box *box = own;
    int64_t head = pnc_chunks_head_count(part->naxes);

    box->parts++;
    box->head = head > box->head ? head : box->head;
    return NC_NOERR;
}

static int fail_many_boxes(const chunked_call *call)
{
    char why[100];

    snprintf(why, sizeof why, "is put or got in too many chunks: a plan follows at most %d of all ranks", MOST_BOXES);
    return fail_chunked(call, why);
}

static int add_box(chunked_call *call, int rank, const pnc_box *box, int round)
{
    plan_box *to;

    if (call->n == MOST_BOXES)
        return fail_many_boxes(call);
    if (!pnc_memory_grow(&call->boxes, &call->capacity, call->n + 1, sizeof *call->boxes)) {
        tool_error_print("%s: no memory for the chunks of %d ranks", call->options->path, call->d->nranks);
        return NC_ENOMEM;
    }
    to = &call->boxes[call->n++];
    *to = (plan_box){.chunk = box->chunk, .n = box->n, .rank = rank, .round = round};
    to->aggregator = pnc_chunks_aggregator_find(box->chunk, call->grid.row, call->first, call->d->nranks);
    (void)pnc_array_box_divide(box, PNC_BOX_BYTES / call->grid.elem_size, count_part, to);
    return NC_NOERR;
}

/* The boxes of a hyperslab, and the round of each: a rank begins the next one when it has put as many bytes as its
 * buffer has. *done: those of the round. */
static int add_hyperslab(chunked_call *call, int rank, const int64_t *start, const int64_t *count, int64_t *done,
                         int *round)
{
    const pnc_array_grid grid = pnc_chunks_grid_get(&call->grid);
    const pnc_array_slab slab = {.start = start, .count = count};
    pnc_array_walk walk;
    pnc_box box;

    pnc_array_walk_init(&walk, &grid, &slab);
    while (pnc_array_walk_next(&walk, &box)) {
        PNC_TRY(add_box(call, rank, &box, *round));
        *done += box.n * call->grid.elem_size;
        call->out->bytes += box.n * call->grid.elem_size;
        if (call->options->direction == PNC_PUT && *done >= call->options->most_buffer) {
            (*round)++;
            *done = 0;
        }
    }
    return NC_NOERR;
}

static int add_rank(chunked_call *call, int rank)
{
    int64_t start[PLAN_MOST_DIMS], count[PLAN_MOST_DIMS], first = 0, end = 1, done = 0, before = call->n;
    const plan_map *map = call->d->map;
    int round = 0;

    if (map != NULL)
        plan_map_find(map, rank, &first, &end);
    else if (!plan_block_find(call->d, call->var, rank, start, count))
        end = 0;
    for (int64_t i = first; i < end; i++) {
        const int64_t *numbers = map != NULL ? map->numbers + map->slabs[i].at : NULL;

        PNC_TRY(add_hyperslab(call, rank, numbers != NULL ? numbers : start,
                              numbers != NULL ? numbers + call->var->ndims : count, &done, &round));
    }
    call->out->nidle += call->n == before;
    call->out->rounds = round + 1 > call->out->rounds ? round + 1 : call->out->rounds;
    return NC_NOERR;
}

/* --- messages --- */

static int find_node(const chunked_call *call, int rank)
{
    return rank / call->ranks_per_node;
}

/* To aggregators in turn, from the rank on; those of a round are together. */
static int compare_sent(const void *a, const void *b)
{
    const plan_box *x = a, *y = b;
    int by_round = (x->round > y->round) - (x->round < y->round);
    bool x_before = x->aggregator < x->rank, y_before = y->aggregator < y->rank;

    if (by_round != 0)
        return by_round;
    if (x_before != y_before)
        return x_before - y_before;
    if (x->aggregator != y->aggregator)
        return (x->aggregator > y->aggregator) - (x->aggregator < y->aggregator);
    return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

/* Values of a put have heads beside them; of a get the answers count, and their requests come first. */
static void count_message(chunked_call *call, const plan_box *box, int64_t bytes, int64_t *of_rank)
{
    bool is_near = find_node(call, box->rank) == find_node(call, box->aggregator);

    call->out->messages += !is_near;
    *of_rank += (!is_near) * (call->options->direction == PNC_GET ? 2 : 1);
    call->out->messages_within += is_near;
    *(is_near ? &call->out->node_bytes : &call->out->message_bytes) += bytes;
}

/* The boxes of a rank for others. */
static void count_messages(chunked_call *call, plan_box *boxes, int64_t n)
{
    bool is_put = call->options->direction == PNC_PUT;
    const plan_box *last = NULL;
    int64_t used = 0, of_rank = 0;

    qsort(boxes, (size_t)n, sizeof *boxes, compare_sent);
    for (int64_t i = 0; i < n; i++) {
        const plan_box *box = &boxes[i];
        int64_t left = box->n * call->grid.elem_size;
        bool is_begun = false;

        for (int64_t k = box->aggregator != box->rank ? box->parts : 0; k > 0; k--) {
            int64_t part = (left + k - 1) / k, head = is_put ? box->head : 0, chunk = is_put ? PNC_CHUNK_HEAD : 0;
            bool fits = last != NULL && last->aggregator == box->aggregator && last->round == box->round &&
                        PNC_MESSAGE_BYTES - used >= head + part + (is_begun ? 0 : chunk);

            if (last != NULL && !fits)
                count_message(call, last, used, &of_rank);
            used = (fits ? used : 0) + head + part + (fits && is_begun ? 0 : chunk);
            is_begun = true;
            last = box;
            left -= part;
        }
    }
    if (last != NULL)
        count_message(call, last, used, &of_rank);
    call->out->messages_of_rank = of_rank > call->out->messages_of_rank ? of_rank : call->out->messages_of_rank;
}

/* --- chunks --- */

static int compare_boxes_by_chunk(const void *a, const void *b)
{
    const plan_box *x = a, *y = b;

    return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

/* One box for each chunk: all elements that it gets, and the round in which it gets the last ones. */
static void join_boxes(chunked_call *call)
{
    int64_t kept = 0;

    if (call->n > 0)
        qsort(call->boxes, (size_t)call->n, sizeof *call->boxes, compare_boxes_by_chunk);
    for (int64_t i = 0; i < call->n; i++) {
        plan_box *last = kept > 0 ? &call->boxes[kept - 1] : NULL;

        if (last == NULL || last->chunk != call->boxes[i].chunk) {
            call->boxes[kept++] = call->boxes[i];
            continue;
        }
        last->n += call->boxes[i].n;
        last->round = last->round > call->boxes[i].round ? last->round : call->boxes[i].round;
    }
    call->n = kept;
}

/* A put of a part of a chunk is written with later ones. */
static void leave_incomplete(chunked_call *call)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < call->n; i++)
        if (call->boxes[i].n * call->grid.elem_size >= pnc_chunks_grid_count_inside(&call->grid, call->boxes[i].chunk))
            call->boxes[kept++] = call->boxes[i];
    call->out->incomplete = call->n - kept;
    call->n = kept;
}

static int compare_written(const void *a, const void *b)
{
    const plan_box *x = a, *y = b;

    if (x->aggregator != y->aggregator)
        return (x->aggregator > y->aggregator) - (x->aggregator < y->aggregator);
    if (x->round != y->round)
        return (x->round > y->round) - (x->round < y->round);
    return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

/* The chunks of an aggregator: those that filters have changed, or small ones, are written together in a round, up to
 * PNC_CHUNKS_ROUND_BYTES; others, and those that are read, one by one. Returns the accesses. */
static int64_t count_chunk_accesses(const chunked_call *call, const plan_box *boxes, int64_t n, int64_t stored)
{
    int64_t bound = pnc_filter_chain_get_bound(&call->storage->array.filters, call->grid.chunk_bytes), used = 0,
            accesses = 0;
    bool is_direct = call->storage->array.filters.nfilters == 0 && call->grid.chunk_bytes >= PNC_CHUNKS_DIRECT_BYTES;

    if (call->options->direction == PNC_GET || is_direct)
        return n;
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || boxes[i].round != boxes[i - 1].round || used + bound > PNC_CHUNKS_ROUND_BYTES) {
            accesses++;
            used = 0;
        }
        used += stored;
    }
    return accesses;
}

static void count_chunks(chunked_call *call)
{
    plan_chunk_result *out = call->out;
    int64_t stored = (int64_t)((double)call->grid.chunk_bytes / call->options->ratio), accesses;

    if (call->storage->array.filters.nfilters == 0)
        stored = call->grid.chunk_bytes;
    if (call->n > 0)
        qsort(call->boxes, (size_t)call->n, sizeof *call->boxes, compare_written);
    for (int64_t i = 0, end; i < call->n; i = end) {
        for (end = i + 1; end < call->n && call->boxes[end].aggregator == call->boxes[i].aggregator;)
            end++;
        accesses = count_chunk_accesses(call, call->boxes + i, end - i, stored);
        out->naggregators++;
        out->chunks_of_rank = end - i > out->chunks_of_rank ? end - i : out->chunks_of_rank;
        out->accesses += accesses;
        out->accesses_of_rank = accesses > out->accesses_of_rank ? accesses : out->accesses_of_rank;
    }
    out->chunks = call->n;
    out->access_bytes = call->n * stored;
}

/* --- time --- */

/* One after the other: messages, filters, accesses. */
static void estimate_time(chunked_call *call)
{
    const plan_options *o = call->options;
    const plan_file_system *fs = &o->fs;
    plan_chunk_result *r = call->out;
    double bytes = (double)r->access_bytes, servers = bytes / (double)fs->unit + 1;
    double nodes = r->nnodes < r->naggregators ? r->nnodes : r->naggregators, exchange, access;
    int64_t steps = pnc_bits_count_doublings(r->nnodes);

    servers = servers < fs->servers ? servers : fs->servers;
    r->limits = (plan_chunk_limits){
        .network = 1e-9 * (double)r->message_bytes * o->network_byte / r->nnodes,
        .messages = 1e-9 * (double)r->messages_of_rank * o->message,
        .agreements = 1e-9 * (double)(r->rounds * PLAN_CHUNK_STEPS * steps) * o->message,
        .servers = 1e-9 * (bytes * fs->server_byte + (double)r->accesses * (double)fs->request) / servers,
        .links = nodes > 0 ? 1e-9 * bytes * fs->link_byte / nodes : 0,
        .latency = 1e-9 * (double)r->accesses_of_rank * (double)fs->latency};
    if (call->storage->array.filters.nfilters > 0)
        r->limits.filters = 1e-9 * (double)r->chunks_of_rank * (double)call->grid.chunk_bytes * o->filter_byte;
    exchange = r->limits.network > r->limits.messages ? r->limits.network : r->limits.messages;
    access = r->limits.servers > r->limits.links ? r->limits.servers : r->limits.links;
    access = access > r->limits.latency ? access : r->limits.latency;
    r->exchange = exchange + r->limits.agreements;
    r->access = access;
    r->seconds = r->exchange + r->limits.filters + access;
}

/* --- interface --- */

/* Arrays are numbered in the order of the file, as the library numbers those in chunks. */
static int64_t find_array(const plan_decomposition *d, int varid)
{
    int64_t first = 0;

    for (int i = 0; i < varid; i++)
        first += plan_storage_get(d, i)->layout == NC_CHUNKED;
    return first;
}

static int follow_ranks(chunked_call *call)
{
    PNC_TRY(init_chunk_grid(call));
    call->first = find_array(call->d, call->d->varids[0]);
    for (int rank = 0; rank < call->d->nranks; rank++) {
        int64_t before = call->n;

        PNC_TRY(add_rank(call, rank));
        if (call->n > before)
            count_messages(call, call->boxes + before, call->n - before);
    }
    join_boxes(call);
    call->out->chunk_bytes = call->grid.chunk_bytes;
    call->out->is_filtered = call->storage->array.filters.nfilters > 0;
    if (call->options->direction == PNC_PUT)
        leave_incomplete(call);
    count_chunks(call);
    estimate_time(call);
    return NC_NOERR;
}

int plan_chunked_compute(const plan_decomposition *d, plan_chunk_result *out)
{
    const plan_options *o = d->options;
    chunked_call call = {.d = d, .options = o, .out = out};
    int err = NC_EINVAL;

    call.var = d->whole->vars[d->varids[0]];
    call.storage = plan_storage_get(d, d->varids[0]);
    call.ranks_per_node = d->nranks < o->ranks_per_node ? d->nranks : (int)o->ranks_per_node;
    *out = (plan_chunk_result){.nranks = d->nranks};
    out->nnodes = (d->nranks + call.ranks_per_node - 1) / call.ranks_per_node;
    if (d->nvars > 1 || o->weak)
        tool_error_print("%s: a plan of a variable in chunks has one variable, and no --weak", o->path);
    else if (call.storage->layout != NC_CHUNKED)
        err = fail_chunked(
            &call, "has no chunks: of netCDF-4 files a plan has those in chunks; PNETCDF_STATS=1 counts a short run");
    else
        err = follow_ranks(&call);
    pnc_memory_free(call.boxes);
    return err;
}
