/* Small interleaved extents of several ranks, moved together. */
#include "dataset/exchange.h"

#include <string.h>

#include "base/memory.h"
#include "dataset/cursors.h"
#include "dataset/stripes.h"

/* What passes between this rank and each other one in a round, in the layout of MPI_Alltoallv. */
typedef struct traffic {
    int *extents, *extents_at; /* counted in int64_t, two for an extent */
    int *bytes, *bytes_at;
} traffic;

/* A part of an extent that lies in one stripe, and where its bytes are in the stream. */
typedef struct cutting {
    pnc_extent extent;
    int64_t at;
} cutting;

typedef struct exchange {
    pnc_dataset *ds;
    pnc_direction way;
    int nprocs;                /* 1 where the rank is by itself */
    pnc_extent_cursor extents; /* of this rank's requests, and their values */
    pnc_value_cursor values;
    int64_t left;       /* bytes still to be brought */
    int64_t max_bytes, max_extents; /* that this rank takes in a round */
    pnc_extent *taken;  /* in the order of the requests */
    char *stream;       /* their bytes */
    int64_t stream_bytes;
    cutting *cuttings, *sorted; /* the same cut at stripes, and memory to sort them */
    int64_t ncuttings;
    pnc_extent *mine;   /* the same grouped by owner, for each in the order of stripes */
    char *grouped;
    pnc_extent *theirs; /* what this rank owns, grouped by the rank that sent it */
    char *served;
    int64_t theirs_capacity, served_capacity;
    int *counts;        /* memory of the two below, and of the counts in transit */
    traffic to, from;
    int64_t *cursor;    /* per rank: a position in the lists above */
    pnc_stripe stripe;
} exchange;

static int owner(const exchange *x, int64_t offset)
{
    int64_t stripe = offset / PNC_STRIPE;

    /* shifted by one from turn to turn: a stride of nprocs stripes still meets all ranks */
    return (int)((stripe + stripe / x->nprocs) % x->nprocs);
}

/* --- what this rank brings --- */

static int64_t stripe_of(const cutting *c)
{
    return c->extent.offset / PNC_STRIPE;
}

/* Cut what was taken at the borders of stripes; returns whether the stripes ascend. */
static bool cut(exchange *x, int64_t ntaken)
{
    bool ascend = true;
    int64_t at = 0;

    x->ncuttings = 0;
    for (int64_t i = 0; i < ntaken; i++) {
        pnc_extent rest = x->taken[i];

        while (rest.length > 0) {
            int64_t space = PNC_STRIPE - rest.offset % PNC_STRIPE;
            cutting *c = &x->cuttings[x->ncuttings++];

            *c = (cutting){{rest.offset, rest.length < space ? rest.length : space}, at};
            ascend = ascend && (c == x->cuttings || stripe_of(c) >= stripe_of(c - 1));
            at += c->extent.length;
            rest.offset += c->extent.length;
            rest.length -= c->extent.length;
        }
    }
    return ascend;
}

/* Merge sort by stripe. It is stable: of pieces that overlap, the one posted last is written last. */
static void sort_by_stripe(exchange *x)
{
    cutting *from = x->cuttings, *to = x->sorted;
    int64_t n = x->ncuttings;

    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t first = 0; first < n; first += 2 * width) {
            int64_t middle = first + width < n ? first + width : n, end = middle + width < n ? middle + width : n;
            int64_t a = first, b = middle;

            for (int64_t k = first; k < end; k++)
                to[k] = b == end || (a < middle && stripe_of(&from[a]) <= stripe_of(&from[b])) ? from[a++] : from[b++];
        }
        cutting *swap = from;
        from = to;
        to = swap;
    }
    x->cuttings = from;
    x->sorted = to;
}

static void place(traffic *t, int nprocs)
{
    for (int r = 0; r < nprocs; r++) {
        t->extents_at[r] = r == 0 ? 0 : t->extents_at[r - 1] + t->extents[r - 1];
        t->bytes_at[r] = r == 0 ? 0 : t->bytes_at[r - 1] + t->bytes[r - 1];
    }
}

/* Count what goes to whom, and put the extents (and bytes, for a put) into that order. */
static void group_by_owner(exchange *x)
{
    int64_t *extent_at = x->cursor, *byte_at = x->cursor + x->nprocs;

    memset(x->to.extents, 0, (size_t)x->nprocs * sizeof(int));
    memset(x->to.bytes, 0, (size_t)x->nprocs * sizeof(int));
    for (const cutting *c = x->cuttings; c < x->cuttings + x->ncuttings; c++) {
        x->to.extents[owner(x, c->extent.offset)] += 2;
        x->to.bytes[owner(x, c->extent.offset)] += (int)c->extent.length;
    }
    place(&x->to, x->nprocs);
    for (int r = 0; r < x->nprocs; r++) {
        extent_at[r] = x->to.extents_at[r] / 2;
        byte_at[r] = x->to.bytes_at[r];
    }
    for (const cutting *c = x->cuttings; c < x->cuttings + x->ncuttings; c++) {
        int r = owner(x, c->extent.offset);

        x->mine[extent_at[r]++] = c->extent;
        if (x->way == PNC_PUT)
            memcpy(x->grouped + byte_at[r], x->stream + c->at, (size_t)c->extent.length);
        byte_at[r] += c->extent.length;
    }
}

/* Take the next extents of the requests, with their values where they are to be written, and group them by owner. */
static int deal(exchange *x)
{
    int64_t ntaken;
    int err = pnc_io_extent_cursor_take(&x->extents, x->max_bytes, x->taken, x->max_extents, &ntaken, &x->stream_bytes);

    x->left -= x->stream_bytes;
    if (err == NC_NOERR && x->way == PNC_PUT)
        err = pnc_io_value_cursor_pack(&x->values, x->stream, x->stream_bytes);
    if (err != NC_NOERR)
        ntaken = 0;
    if (!cut(x, ntaken))
        sort_by_stripe(x);
    group_by_owner(x);
    return err;
}

/* Bytes that the owners sent, back into the order of the requests and on to the user's memory. */
static int collect(exchange *x)
{
    int64_t *byte_at = x->cursor;

    for (int r = 0; r < x->nprocs; r++)
        byte_at[r] = x->to.bytes_at[r];
    for (const cutting *c = x->cuttings; c < x->cuttings + x->ncuttings; c++) {
        int r = owner(x, c->extent.offset);

        memcpy(x->stream + c->at, x->grouped + byte_at[r], (size_t)c->extent.length);
        byte_at[r] += c->extent.length;
    }
    return pnc_io_value_cursor_unpack(&x->values, x->stream, x->stream_bytes);
}

/* --- what passes between ranks --- */

static int mpi_failed(exchange *x)
{
    return pnc_error_set(&x->ds->error, NC_EMPI, "%s: the ranks could not exchange their data", x->ds->path);
}

/* Let every owner know how much comes from whom, and make room for it. */
static int announce(exchange *x)
{
    int nprocs = x->nprocs, *sent = x->counts + 8 * nprocs, *got = sent + 2 * nprocs, last = nprocs - 1;
    int64_t extents, bytes;

    for (int r = 0; r < nprocs; r++) {
        sent[2 * r] = x->to.extents[r];
        sent[2 * r + 1] = x->to.bytes[r];
    }
    if (MPI_Alltoall(sent, 2, MPI_INT, got, 2, MPI_INT, x->ds->comm) != MPI_SUCCESS)
        return mpi_failed(x);
    for (int r = 0; r < nprocs; r++) {
        x->from.extents[r] = got[2 * r];
        x->from.bytes[r] = got[2 * r + 1];
    }
    place(&x->from, nprocs);
    extents = (x->from.extents_at[last] + x->from.extents[last]) / 2;
    bytes = x->from.bytes_at[last] + x->from.bytes[last];
    if (extents > x->theirs_capacity) {
        pnc_memory_free(x->theirs);
        x->theirs = pnc_memory_alloc(extents, sizeof *x->theirs);
        x->theirs_capacity = x->theirs == NULL ? 0 : extents;
    }
    if (bytes > x->served_capacity) {
        pnc_memory_free(x->served);
        x->served = pnc_memory_alloc(bytes, 1);
        x->served_capacity = x->served == NULL ? 0 : bytes;
    }
    if (extents <= x->theirs_capacity && bytes <= x->served_capacity)
        return NC_NOERR;
    return pnc_error_set(&x->ds->error, NC_ENOMEM, "%s: no memory for an exchange of %lld bytes", x->ds->path,
                         (long long)bytes);
}

static int trade_extents(exchange *x)
{
    return MPI_Alltoallv(x->mine, x->to.extents, x->to.extents_at, MPI_INT64_T, x->theirs, x->from.extents,
                         x->from.extents_at, MPI_INT64_T, x->ds->comm) == MPI_SUCCESS ? NC_NOERR : mpi_failed(x);
}

static int trade_bytes(exchange *x)
{
    const traffic *out = x->way == PNC_PUT ? &x->to : &x->from, *in = x->way == PNC_PUT ? &x->from : &x->to;
    char *give = x->way == PNC_PUT ? x->grouped : x->served, *take = x->way == PNC_PUT ? x->served : x->grouped;

    return MPI_Alltoallv(give, out->bytes, out->bytes_at, MPI_BYTE, take, in->bytes, in->bytes_at, MPI_BYTE,
                         x->ds->comm) == MPI_SUCCESS ? NC_NOERR : mpi_failed(x);
}

/* --- what an owner does --- */

/* The pieces that rank r sent and that lie in a stripe, from position *at on: they ascend. Returns false at their
 * end. */
static bool next_in_stripe(const exchange *x, int r, int64_t *at, int64_t stripe, pnc_extent *piece)
{
    if (*at == (x->from.extents_at[r] + x->from.extents[r]) / 2)
        return false;
    *piece = x->theirs[*at];
    if (piece->offset / PNC_STRIPE != stripe)
        return false;
    ++*at;
    return true;
}

/* The lowest stripe that some rank's list has next, or -1. */
static int64_t lowest_stripe(const exchange *x, const int64_t *at)
{
    int64_t lowest = -1;

    for (int r = 0; r < x->nprocs; r++) {
        if (at[r] < (x->from.extents_at[r] + x->from.extents[r]) / 2) {
            int64_t stripe = x->theirs[at[r]].offset / PNC_STRIPE;

            if (lowest < 0 || stripe < lowest)
                lowest = stripe;
        }
    }
    return lowest;
}

static void take_in(exchange *x, int64_t stripe, int r, int64_t *at, int64_t *byte_at)
{
    pnc_extent piece;

    while (next_in_stripe(x, r, at, stripe, &piece)) {
        pnc_stripe_put(&x->stripe, piece, x->served + *byte_at);
        *byte_at += piece.length;
    }
}

static int serve_stripe_get(exchange *x, int64_t stripe, int64_t *at, int64_t *byte_at)
{
    pnc_extent piece;
    int err;

    for (int r = 0; r < x->nprocs; r++)
        for (int64_t ahead = at[r]; next_in_stripe(x, r, &ahead, stripe, &piece);)
            pnc_stripe_want(&x->stripe, piece);
    err = pnc_stripe_read(&x->stripe);
    for (int r = 0; r < x->nprocs && err == NC_NOERR; r++) {
        while (next_in_stripe(x, r, &at[r], stripe, &piece)) {
            pnc_stripe_get(&x->stripe, piece, x->served + byte_at[r]);
            byte_at[r] += piece.length;
        }
    }
    return err;
}

static int serve(exchange *x)
{
    int nprocs = x->nprocs, err = NC_NOERR;
    int64_t *at = x->cursor, *byte_at = x->cursor + nprocs, stripe;

    for (int r = 0; r < nprocs; r++) {
        at[r] = x->from.extents_at[r] / 2;
        byte_at[r] = x->from.bytes_at[r];
    }
    while (err == NC_NOERR && (stripe = lowest_stripe(x, at)) >= 0) {
        pnc_stripe_begin(&x->stripe, stripe);
        if (x->way == PNC_GET) {
            err = serve_stripe_get(x, stripe, at, byte_at);
            continue;
        }
        for (int r = 0; r < nprocs; r++)
            take_in(x, stripe, r, &at[r], &byte_at[r]);
        err = pnc_stripe_write(&x->stripe);
    }
    return err;
}

/* --- rounds --- */

/* Bytes between this rank and the others, and between owner and file. */
static int move_pieces(exchange *x)
{
    int err = trade_extents(x), traded;

    if (err == NC_NOERR && x->way == PNC_GET)
        err = serve(x);
    traded = trade_bytes(x); /* whatever happened: the others are waiting */
    err = err != NC_NOERR ? err : traded;
    if (x->way == PNC_PUT)
        return err != NC_NOERR ? err : serve(x);
    /* what a rank could not read for others must not reach their memory */
    err = pnc_agree_worst(x->ds, err);
    return err != NC_NOERR ? err : collect(x);
}

/* One round; *more: whether a further one is needed. */
static int one_round(exchange *x, int err, bool *more)
{
    int own[2], all[2] = {1, 0}, met;

    if (err != NC_NOERR) { /* it goes on with nothing */
        pnc_io_extent_cursor_free(&x->extents);
        pnc_io_extent_cursor_init(&x->extents, x->ds, NULL, 0);
        x->left = 0;
    }
    met = deal(x);
    err = err != NC_NOERR ? err : met;
    met = announce(x);
    err = err != NC_NOERR ? err : met;
    own[0] = err != NC_NOERR;
    own[1] = x->left > 0;
    /* a rank that failed is heard here, before the others count on it */
    if (MPI_Allreduce(own, all, 2, MPI_INT, MPI_MAX, x->ds->comm) != MPI_SUCCESS)
        err = mpi_failed(x);
    *more = !all[0] && all[1];
    return all[0] ? err : move_pieces(x);
}

/* The rank is its own owner: nothing is traded, and what it brings is what it serves. */
static int one_round_alone(exchange *x)
{
    int err = deal(x);

    x->from = x->to;
    x->theirs = x->mine;
    x->served = x->grouped;
    if (err == NC_NOERR)
        err = serve(x);
    x->theirs = NULL;
    x->served = NULL;
    if (err == NC_NOERR && x->way == PNC_GET)
        err = collect(x);
    return err;
}

/* Of a rank in a round, however many ranks share the memory; an owner of all has 2^18 ranks'. */
#define LEAST_BYTES 8192

/* What all of this may take is the hint: two stripes, the user's bytes twice, and what others send to an owner if all
 * of them meet on one. */
static void size_rounds(exchange *x)
{
    int64_t limit = (x->ds->hints.buffer_size < (1 << 29) ? x->ds->hints.buffer_size : 1 << 29) - PNC_STRIPE_MEMORY;
    int64_t shares = x->nprocs + 2;

    x->max_bytes = limit / (2 * shares);
    x->max_extents = limit / (128 * shares);
    if (x->max_bytes < LEAST_BYTES)
        x->max_bytes = LEAST_BYTES;
    if (x->max_extents < 1024)
        x->max_extents = 1024;
}

static int make(exchange *x)
{
    int64_t n = x->nprocs, pieces;

    size_rounds(x);
    pieces = 2 * x->max_extents + x->max_bytes / PNC_STRIPE + 2;
    x->taken = pnc_memory_alloc(x->max_extents, sizeof *x->taken);
    x->cuttings = pnc_memory_alloc(pieces, sizeof *x->cuttings);
    x->sorted = pnc_memory_alloc(pieces, sizeof *x->sorted);
    x->mine = pnc_memory_alloc(pieces, sizeof *x->mine);
    x->stream = pnc_memory_alloc(x->max_bytes, 1);
    x->grouped = pnc_memory_alloc(x->max_bytes, 1);
    x->counts = pnc_memory_alloc(12 * n, sizeof *x->counts);
    x->cursor = pnc_memory_alloc(2 * n, sizeof *x->cursor);
    if (x->taken == NULL || x->cuttings == NULL || x->sorted == NULL || x->mine == NULL || x->stream == NULL ||
        x->grouped == NULL || x->counts == NULL || x->cursor == NULL ||
        pnc_stripe_make(&x->stripe, x->ds) != NC_NOERR)
        return pnc_error_set(&x->ds->error, NC_ENOMEM, "%s: no memory to merge small requests", x->ds->path);
    x->to = (traffic){x->counts, x->counts + n, x->counts + 2 * n, x->counts + 3 * n};
    x->from = (traffic){x->counts + 4 * n, x->counts + 5 * n, x->counts + 6 * n, x->counts + 7 * n};
    return NC_NOERR;
}

static void begin(exchange *x, pnc_request **list, int64_t n)
{
    pnc_io_extent_cursor_init(&x->extents, x->ds, list, n);
    pnc_io_value_cursor_init(&x->values, x->ds, list, n);
    x->left = pnc_io_requests_count_bytes(x->ds, list, n);
}

static void destroy(exchange *x)
{
    pnc_io_extent_cursor_free(&x->extents);
    pnc_io_value_cursor_free(&x->values);
    pnc_stripe_free(&x->stripe);
    pnc_memory_free(x->taken);
    pnc_memory_free(x->cuttings);
    pnc_memory_free(x->sorted);
    pnc_memory_free(x->mine);
    pnc_memory_free(x->stream);
    pnc_memory_free(x->grouped);
    pnc_memory_free(x->theirs);
    pnc_memory_free(x->served);
    pnc_memory_free(x->counts);
    pnc_memory_free(x->cursor);
}

int pnc_exchange(pnc_dataset *ds, pnc_direction way, pnc_request **list, int64_t n)
{
    exchange x = {.ds = ds, .way = way, .nprocs = ds->nprocs, .stripe.exclusive = true};
    int err = make(&x);

    /* a rank without memory for its part cannot even serve: nobody begins */
    if (pnc_agree_worst(ds, err) == NC_NOERR) {
        begin(&x, list, n);
        for (bool more = true; more;)
            err = one_round(&x, err, &more);
    }
    destroy(&x);
    return err;
}

int pnc_exchange_alone(pnc_dataset *ds, pnc_direction way, pnc_request **list, int64_t n)
{
    exchange x = {.ds = ds, .way = way, .nprocs = 1};
    int err = make(&x);

    if (err == NC_NOERR)
        begin(&x, list, n);
    while (err == NC_NOERR && x.left > 0)
        err = one_round_alone(&x);
    destroy(&x);
    return err;
}
