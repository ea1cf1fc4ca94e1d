/* Small interleaved extents of several ranks, moved together. */
#include "dataset/exchange.h"

#include <string.h>

#include "base/memory.h"
#include "dataset/stripes.h"

/* What passes between this rank and each other one in a round, in the layout of MPI_Alltoallv. */
typedef struct traffic {
    int *extents, *extents_at; /* counted in int64_t, two for an extent */
    int *bytes, *bytes_at;
} traffic;

typedef struct exchange {
    pnc_dataset *ds;
    pnc_direction way;
    pnc_pump *pump;
    int64_t max_bytes, max_extents; /* that this rank takes in a round */
    pnc_extent *taken;  /* in the order of the selection */
    int64_t ntaken;
    char *stream;       /* their bytes: our buffer, or the user's memory where no conversion is needed */
    char *buffer;
    pnc_extent *mine;   /* the same cut at stripes and grouped by owner */
    char *grouped;
    pnc_extent *theirs; /* what this rank owns, grouped by the rank that sent it */
    char *served;
    int64_t theirs_room, served_room;
    int *counts;        /* memory of the two below, and of the counts in transit */
    traffic to, from;
    int64_t *cursor;    /* per rank: a position in the lists above */
    pnc_stripe stripe;
} exchange;

static int owner(const exchange *x, int64_t offset)
{
    int64_t stripe = offset / PNC_STRIPE, n = x->ds->nprocs;

    /* shifted by one from turn to turn: a stride of n stripes still meets all ranks */
    return (int)((stripe + stripe / n) % n);
}

/* Walks extents cut at the borders of stripes. */
typedef struct cutter {
    const pnc_extent *extents;
    int64_t n, i, done;
} cutter;

static bool cut(cutter *c, pnc_extent *piece)
{
    int64_t offset, left, room;

    if (c->i == c->n)
        return false;
    offset = c->extents[c->i].offset + c->done;
    left = c->extents[c->i].length - c->done;
    room = PNC_STRIPE - offset % PNC_STRIPE;
    *piece = (pnc_extent){offset, left < room ? left : room};
    c->done += piece->length;
    if (piece->length == left) {
        c->i++;
        c->done = 0;
    }
    return true;
}

/* --- what the others are told --- */

static void place(traffic *t, int nprocs)
{
    for (int r = 0; r < nprocs; r++) {
        t->extents_at[r] = r == 0 ? 0 : t->extents_at[r - 1] + t->extents[r - 1];
        t->bytes_at[r] = r == 0 ? 0 : t->bytes_at[r - 1] + t->bytes[r - 1];
    }
}

/* Take the next extents of the selection (and convert what is to be written), and group their pieces by owner. */
static void deal(exchange *x, pnc_cursor *cursor)
{
    int nprocs = x->ds->nprocs;
    int64_t bytes = 0, *byte_at = x->cursor;
    pnc_extent piece;

    memset(x->to.extents, 0, (size_t)nprocs * sizeof(int));
    memset(x->to.bytes, 0, (size_t)nprocs * sizeof(int));
    x->ntaken = cursor == NULL ? 0 : pnc_cursor_take(cursor, x->max_bytes, x->pump->ext_size, x->taken, x->max_extents,
                                                     &bytes);
    x->stream = x->buffer;
    if (x->ntaken > 0 && x->pump->direct != NULL)
        x->stream = pnc_pump_place(x->pump, bytes / x->pump->ext_size);
    else if (x->ntaken > 0 && x->way == PNC_PUT)
        pnc_pump_put(x->pump, x->stream, bytes / x->pump->ext_size);

    for (cutter c = {x->taken, x->ntaken, 0, 0}; cut(&c, &piece);) {
        x->to.extents[owner(x, piece.offset)] += 2;
        x->to.bytes[owner(x, piece.offset)] += (int)piece.length;
    }
    place(&x->to, nprocs);
    for (int r = 0; r < nprocs; r++) {
        byte_at[r] = x->to.bytes_at[r];
        x->to.extents[r] = 0; /* counted anew while they are put in place */
    }
    const char *from = x->stream;
    for (cutter c = {x->taken, x->ntaken, 0, 0}; cut(&c, &piece); from += piece.length) {
        int r = owner(x, piece.offset);

        x->mine[(x->to.extents_at[r] + x->to.extents[r]) / 2] = piece;
        x->to.extents[r] += 2;
        if (x->way == PNC_PUT)
            memcpy(x->grouped + byte_at[r], from, (size_t)piece.length);
        byte_at[r] += piece.length;
    }
}

/* Bytes that the owners sent, back into the order of the selection and on to the user's memory. */
static void collect(exchange *x)
{
    int64_t *byte_at = x->cursor, bytes = 0;
    pnc_extent piece;
    char *to = x->stream;

    for (int r = 0; r < x->ds->nprocs; r++)
        byte_at[r] = x->to.bytes_at[r];
    for (cutter c = {x->taken, x->ntaken, 0, 0}; cut(&c, &piece); to += piece.length) {
        int r = owner(x, piece.offset);

        memcpy(to, x->grouped + byte_at[r], (size_t)piece.length);
        byte_at[r] += piece.length;
        bytes += piece.length;
    }
    if (bytes > 0 && x->stream == x->buffer)
        pnc_pump_get(x->pump, x->buffer, bytes / x->pump->ext_size);
}

static int mpi_failed(exchange *x)
{
    return pnc_fail(&x->ds->error, NC_EMPI, "%s: the ranks could not exchange their data", x->ds->path);
}

/* Let every owner know how much comes from whom, and make room for it. */
static int announce(exchange *x)
{
    int nprocs = x->ds->nprocs, *sent = x->counts + 8 * nprocs, *got = sent + 2 * nprocs, last = nprocs - 1;
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
    if (extents > x->theirs_room) {
        pnc_free(x->theirs);
        x->theirs = pnc_alloc(extents, sizeof *x->theirs);
        x->theirs_room = x->theirs == NULL ? 0 : extents;
    }
    if (bytes > x->served_room) {
        pnc_free(x->served);
        x->served = pnc_alloc(bytes, 1);
        x->served_room = x->served == NULL ? 0 : bytes;
    }
    if (extents <= x->theirs_room && bytes <= x->served_room)
        return NC_NOERR;
    return pnc_fail(&x->ds->error, NC_ENOMEM, "%s: no memory for an exchange of %lld bytes", x->ds->path,
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

/* The pieces that rank r sent and that lie in a stripe, from position *at on: they ascend. Returns false at their end. */
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

    for (int r = 0; r < x->ds->nprocs; r++) {
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

    for (int r = 0; r < x->ds->nprocs; r++)
        for (int64_t ahead = at[r]; next_in_stripe(x, r, &ahead, stripe, &piece);)
            pnc_stripe_want(&x->stripe, piece);
    err = pnc_stripe_read(&x->stripe);
    for (int r = 0; r < x->ds->nprocs && err == NC_NOERR; r++) {
        while (next_in_stripe(x, r, &at[r], stripe, &piece)) {
            pnc_stripe_get(&x->stripe, piece, x->served + byte_at[r]);
            byte_at[r] += piece.length;
        }
    }
    return err;
}

static int serve(exchange *x)
{
    int nprocs = x->ds->nprocs, err = NC_NOERR;
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
    if (err == NC_NOERR && x->way == PNC_PUT)
        err = serve(x);
    else if (err == NC_NOERR)
        collect(x);
    return err;
}

/* One round: *left is what this rank has still to bring, *more whether a further round is needed. */
static int one_round(exchange *x, pnc_cursor *cursor, int64_t *left, int err, bool *more)
{
    int own[2], all[2] = {1, 0}, met;

    deal(x, err == NC_NOERR ? cursor : NULL);
    for (int64_t i = 0; i < x->ntaken; i++)
        *left -= x->taken[i].length;
    met = announce(x);
    err = err != NC_NOERR ? err : met;
    own[0] = err != NC_NOERR;
    own[1] = *left > 0;
    /* a rank that failed is heard here, before the others count on it */
    if (MPI_Allreduce(own, all, 2, MPI_INT, MPI_MAX, x->ds->comm) != MPI_SUCCESS)
        err = mpi_failed(x);
    *more = !all[0] && all[1];
    return all[0] ? err : move_pieces(x);
}

/* What all of this may take is half the hint: the user's bytes twice, and what others send to an owner if all of them
 * meet on one. */
static void size_rounds(exchange *x)
{
    int64_t limit = x->ds->hints.buffer_size < (1 << 29) ? x->ds->hints.buffer_size : 1 << 29;
    int64_t shares = x->ds->nprocs + 2;

    x->max_bytes = limit / (2 * shares);
    x->max_extents = limit / (64 * shares);
    if (x->max_bytes < 65536)
        x->max_bytes = 65536;
    if (x->max_extents < 1024)
        x->max_extents = 1024;
}

static int make(exchange *x)
{
    int n = x->ds->nprocs;

    size_rounds(x);
    x->taken = pnc_alloc(x->max_extents, sizeof *x->taken);
    x->mine = pnc_alloc(2 * x->max_extents + x->max_bytes / PNC_STRIPE + 2, sizeof *x->mine);
    x->buffer = pnc_alloc(x->max_bytes, 1);
    x->grouped = pnc_alloc(x->max_bytes, 1);
    x->counts = pnc_alloc(12 * (int64_t)n, sizeof *x->counts);
    x->cursor = pnc_alloc(2 * (int64_t)n, sizeof *x->cursor);
    if (x->taken == NULL || x->mine == NULL || x->buffer == NULL || x->grouped == NULL || x->counts == NULL ||
        x->cursor == NULL || pnc_stripe_make(&x->stripe, x->ds) != NC_NOERR)
        return pnc_fail(&x->ds->error, NC_ENOMEM, "%s: no memory for an exchange between ranks", x->ds->path);
    x->to = (traffic){x->counts, x->counts + n, x->counts + 2 * n, x->counts + 3 * n};
    x->from = (traffic){x->counts + 4 * n, x->counts + 5 * n, x->counts + 6 * n, x->counts + 7 * n};
    return NC_NOERR;
}

static void destroy(exchange *x)
{
    pnc_stripe_free(&x->stripe);
    pnc_free(x->taken);
    pnc_free(x->mine);
    pnc_free(x->buffer);
    pnc_free(x->grouped);
    pnc_free(x->theirs);
    pnc_free(x->served);
    pnc_free(x->counts);
    pnc_free(x->cursor);
}

int pnc_exchange(pnc_dataset *ds, pnc_direction way, const pnc_selection *selection, pnc_pump *pump, int64_t *moved)
{
    exchange x = {.ds = ds, .way = way, .pump = pump};
    pnc_cursor cursor;
    int64_t left = 0;
    int err = make(&x);
    bool started = false;

    /* a rank without memory for its part cannot even serve: nobody begins */
    if (pnc_agree_worst(ds, err) != NC_NOERR) {
        destroy(&x);
        return err;
    }
    if (selection != NULL) {
        err = pnc_cursor_start(&cursor, selection);
        started = err == NC_NOERR;
        left = started ? selection->bytes : 0;
    }
    for (bool more = true; more;)
        err = one_round(&x, started ? &cursor : NULL, &left, err, &more);
    if (started && err == NC_NOERR)
        *moved += selection->bytes;
    if (started)
        pnc_cursor_end(&cursor);
    destroy(&x);
    return err;
}
