/* Two-phase I/O for small interleaved extents of several ranks. */
#include "io/two_phase.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "file/agree.h"
#include "io/collective_buffer.h"
#include "io/cursors.h"

/* Data between this rank and each other one in a round, in the layout of MPI_Alltoallv. */
typedef struct traffic {
    int *extents, *extents_at; /* unit: int64_t, two per extent */
    int *bytes, *bytes_at;
} traffic;

/* A piece, and the position of its bytes in the stream. */
typedef struct piece {
    pnc_extent extent;
    int64_t at;
} piece;

typedef struct two_phase {
    pnc_io_context *io;
    pnc_direction direction;
    int nprocs;                /* 1 in an independent call */
    pnc_extent_cursor extents; /* of this rank's requests */
    pnc_value_cursor values;
    int64_t left;                   /* bytes of the requests not yet taken */
    int64_t max_bytes, max_extents; /* bounds on what this rank takes in a round */
    pnc_extent *taken;              /* extents of the round in the order of the requests */
    char *stream;                   /* bytes of the values in the order of the requests */
    int64_t stream_bytes;
    piece *pieces, *sorted; /* the extents cut at borders of blocks; memory for the sort */
    int64_t npieces;
    pnc_extent *own_extents; /* the pieces grouped by aggregator, for each one in the order of blocks */
    char *own_bytes;
    pnc_extent *others_extents; /* pieces for which this rank is the aggregator, grouped by the rank that sent them */
    char *others_bytes;
    int64_t others_extents_capacity, others_bytes_capacity;
    int *counts; /* memory of `to`, `from`, and of the counts in exchange_counts */
    traffic to, from;
    int64_t *cursor; /* a position per rank in the lists above */
    pnc_collective_buffer buffer;
} two_phase;

static int aggregator_of(const two_phase *x, int64_t offset)
{
    int64_t block = offset / PNC_DOMAIN_BLOCK;

    /* shifted by one every nprocs blocks: accesses with a stride of nprocs blocks still use all aggregators */
    return (int)((block + block / x->nprocs) % x->nprocs);
}

/* --- pieces of this rank --- */

static int64_t block_of(const piece *c)
{
    return c->extent.offset / PNC_DOMAIN_BLOCK;
}

/* Cut the extents of the round at borders of blocks; returns true if the blocks ascend. */
static bool cut(two_phase *x, int64_t ntaken)
{
    bool ascend = true;
    int64_t at = 0;

    x->npieces = 0;
    for (int64_t i = 0; i < ntaken; i++) {
        pnc_extent rest = x->taken[i];

        while (rest.length > 0) {
            int64_t space = PNC_DOMAIN_BLOCK - rest.offset % PNC_DOMAIN_BLOCK;
            piece *c = &x->pieces[x->npieces++];

            *c = (piece){{rest.offset, rest.length < space ? rest.length : space}, at};
            ascend = ascend && (c == x->pieces || block_of(c) >= block_of(c - 1));
            at += c->extent.length;
            rest.offset += c->extent.length;
            rest.length -= c->extent.length;
        }
    }
    return ascend;
}

/* Merge sort by block. It must be stable: of pieces that overlap, the one posted last is written last. */
static void sort_by_block(two_phase *x)
{
    piece *from = x->pieces, *to = x->sorted;
    int64_t n = x->npieces;

    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t first = 0; first < n; first += 2 * width) {
            int64_t middle = first + width < n ? first + width : n, end = middle + width < n ? middle + width : n;
            int64_t a = first, b = middle;

            for (int64_t k = first; k < end; k++)
                to[k] = b == end || (a < middle && block_of(&from[a]) <= block_of(&from[b])) ? from[a++] : from[b++];
        }
        piece *swap = from;
        from = to;
        to = swap;
    }
    x->pieces = from;
    x->sorted = to;
}

static void set_offsets(traffic *t, int nprocs)
{
    for (int r = 0; r < nprocs; r++) {
        t->extents_at[r] = r == 0 ? 0 : t->extents_at[r - 1] + t->extents[r - 1];
        t->bytes_at[r] = r == 0 ? 0 : t->bytes_at[r - 1] + t->bytes[r - 1];
    }
}

/* Count the pieces and bytes for each aggregator, and group the extents (for a put also the bytes) accordingly. */
static void group_by_aggregator(two_phase *x)
{
    int64_t *extent_at = x->cursor, *byte_at = x->cursor + x->nprocs;

    memset(x->to.extents, 0, (size_t)x->nprocs * sizeof(int));
    memset(x->to.bytes, 0, (size_t)x->nprocs * sizeof(int));
    for (const piece *c = x->pieces; c < x->pieces + x->npieces; c++) {
        /* blocks ascend, and the pieces of a block keep their order */
        assert(c == x->pieces || block_of(c) > block_of(c - 1) ||
               (block_of(c) == block_of(c - 1) && c->at > (c - 1)->at));
        x->to.extents[aggregator_of(x, c->extent.offset)] += 2;
        x->to.bytes[aggregator_of(x, c->extent.offset)] += (int)c->extent.length;
    }
    set_offsets(&x->to, x->nprocs);
    for (int r = 0; r < x->nprocs; r++) {
        extent_at[r] = x->to.extents_at[r] / 2;
        byte_at[r] = x->to.bytes_at[r];
    }
    for (const piece *c = x->pieces; c < x->pieces + x->npieces; c++) {
        int r = aggregator_of(x, c->extent.offset);

        x->own_extents[extent_at[r]++] = c->extent;
        if (x->direction == PNC_PUT)
            memcpy(x->own_bytes + byte_at[r], x->stream + c->at, (size_t)c->extent.length);
        byte_at[r] += c->extent.length;
    }
}

/* Take the next extents of the requests, for a put with their values, and group them by aggregator. */
static int start_round(two_phase *x)
{
    int64_t ntaken;
    int err = pnc_io_extent_cursor_take(&x->extents, x->max_bytes, x->taken, x->max_extents, &ntaken, &x->stream_bytes);

    x->left -= x->stream_bytes;
    if (err == NC_NOERR && x->direction == PNC_PUT)
        err = pnc_io_value_cursor_convert(&x->values, x->stream, x->stream_bytes);
    if (err != NC_NOERR)
        ntaken = 0;
    if (!cut(x, ntaken))
        sort_by_block(x);
    group_by_aggregator(x);
    return err;
}

/* Reorder the bytes that the aggregators sent to the order of the requests, and unpack them into the user's memory. */
static int return_values(two_phase *x)
{
    int64_t *byte_at = x->cursor;

    for (int r = 0; r < x->nprocs; r++)
        byte_at[r] = x->to.bytes_at[r];
    for (const piece *c = x->pieces; c < x->pieces + x->npieces; c++) {
        int r = aggregator_of(x, c->extent.offset);

        memcpy(x->stream + c->at, x->own_bytes + byte_at[r], (size_t)c->extent.length);
        byte_at[r] += c->extent.length;
    }
    return pnc_io_value_cursor_convert(&x->values, x->stream, x->stream_bytes);
}

/* --- exchange phase --- */

static int mpi_failed(two_phase *x)
{
    return pnc_error_set(x->io->file->error, NC_EMPI, "%s: an MPI call of the exchange phase failed",
                         x->io->file->path);
}

/* Exchange the numbers of pieces and bytes, and allocate the receive buffers of the aggregator. */
static int exchange_counts(two_phase *x)
{
    int nprocs = x->nprocs, *sent = x->counts + 8 * nprocs, *got = sent + 2 * nprocs, last = nprocs - 1;
    int64_t extents, bytes;

    for (int r = 0; r < nprocs; r++) {
        sent[2 * r] = x->to.extents[r];
        sent[2 * r + 1] = x->to.bytes[r];
    }
    if (MPI_Alltoall(sent, 2, MPI_INT, got, 2, MPI_INT, x->io->file->comm) != MPI_SUCCESS)
        return mpi_failed(x);
    for (int r = 0; r < nprocs; r++) {
        x->from.extents[r] = got[2 * r];
        x->from.bytes[r] = got[2 * r + 1];
    }
    set_offsets(&x->from, nprocs);
    extents = (x->from.extents_at[last] + x->from.extents[last]) / 2;
    bytes = x->from.bytes_at[last] + x->from.bytes[last];
    if (extents > x->others_extents_capacity) {
        pnc_memory_free(x->others_extents);
        x->others_extents = pnc_memory_alloc(extents, sizeof *x->others_extents);
        x->others_extents_capacity = x->others_extents == NULL ? 0 : extents;
    }
    if (bytes > x->others_bytes_capacity) {
        pnc_memory_free(x->others_bytes);
        x->others_bytes = pnc_memory_alloc(bytes, 1);
        x->others_bytes_capacity = x->others_bytes == NULL ? 0 : bytes;
    }
    if (extents <= x->others_extents_capacity && bytes <= x->others_bytes_capacity)
        return NC_NOERR;
    return pnc_error_set(x->io->file->error, NC_ENOMEM, "%s: no memory to receive %lld bytes from other ranks",
                         x->io->file->path, (long long)bytes);
}

static int exchange_extents(two_phase *x)
{
    int code = MPI_Alltoallv(x->own_extents, x->to.extents, x->to.extents_at, MPI_INT64_T, x->others_extents,
                             x->from.extents, x->from.extents_at, MPI_INT64_T, x->io->file->comm);

    return code == MPI_SUCCESS ? NC_NOERR : mpi_failed(x);
}

/* The bytes of values: of a put to the aggregators, of a get from them. */
static int exchange_data(two_phase *x)
{
    const traffic *to = &x->to, *from = &x->from;
    MPI_Comm comm = x->io->file->comm;
    int code;

    if (x->direction == PNC_PUT)
        code = MPI_Alltoallv(x->own_bytes, to->bytes, to->bytes_at, MPI_BYTE, x->others_bytes, from->bytes,
                             from->bytes_at, MPI_BYTE, comm);
    else
        code = MPI_Alltoallv(x->others_bytes, from->bytes, from->bytes_at, MPI_BYTE, x->own_bytes, to->bytes,
                             to->bytes_at, MPI_BYTE, comm);
    return code == MPI_SUCCESS ? NC_NOERR : mpi_failed(x);
}

/* --- access phase --- */

/* The next piece of rank r, at *at, if it lies in `block`; false if it does not, since the pieces of a rank ascend. */
static bool next_in_block(const two_phase *x, int r, int64_t *at, int64_t block, pnc_extent *extent)
{
    if (*at == (x->from.extents_at[r] + x->from.extents[r]) / 2)
        return false;
    *extent = x->others_extents[*at];
    if (extent->offset / PNC_DOMAIN_BLOCK != block)
        return false;
    ++*at;
    return true;
}

/* The lowest block among the next pieces of all ranks, or -1. */
static int64_t lowest_block(const two_phase *x, const int64_t *at)
{
    int64_t lowest = -1;

    for (int r = 0; r < x->nprocs; r++) {
        if (at[r] < (x->from.extents_at[r] + x->from.extents[r]) / 2) {
            int64_t block = x->others_extents[at[r]].offset / PNC_DOMAIN_BLOCK;

            if (lowest < 0 || block < lowest)
                lowest = block;
        }
    }
    return lowest;
}

static void take_block(two_phase *x, int64_t block, int r, int64_t *at, int64_t *byte_at)
{
    pnc_extent extent;

    while (next_in_block(x, r, at, block, &extent)) {
        pnc_io_collective_buffer_put(&x->buffer, extent, x->others_bytes + *byte_at);
        *byte_at += extent.length;
    }
}

static int write_block(two_phase *x, int64_t block, int64_t *at, int64_t *byte_at)
{
    for (int r = 0; r < x->nprocs; r++)
        take_block(x, block, r, &at[r], &byte_at[r]);
    return pnc_io_collective_buffer_write(&x->buffer);
}

static int read_block(two_phase *x, int64_t block, int64_t *at, int64_t *byte_at)
{
    pnc_extent extent;
    int err;

    for (int r = 0; r < x->nprocs; r++)
        for (int64_t ahead = at[r]; next_in_block(x, r, &ahead, block, &extent);)
            pnc_io_collective_buffer_include(&x->buffer, extent);
    err = pnc_io_collective_buffer_read(&x->buffer);
    for (int r = 0; r < x->nprocs && err == NC_NOERR; r++) {
        while (next_in_block(x, r, &at[r], block, &extent)) {
            pnc_io_collective_buffer_get(&x->buffer, extent, x->others_bytes + byte_at[r]);
            byte_at[r] += extent.length;
        }
    }
    return err;
}

static int access_file(two_phase *x)
{
    int nprocs = x->nprocs;
    int64_t *at = x->cursor, *byte_at = x->cursor + nprocs;

    for (int r = 0; r < nprocs; r++) {
        at[r] = x->from.extents_at[r] / 2;
        byte_at[r] = x->from.bytes_at[r];
    }
    for (int64_t block = lowest_block(x, at), next; block >= 0; block = next) {
        pnc_io_collective_buffer_start(&x->buffer, block);
        if (x->direction == PNC_GET)
            PNC_TRY(read_block(x, block, at, byte_at));
        else
            PNC_TRY(write_block(x, block, at, byte_at));
        next = lowest_block(x, at);
        assert(next < 0 || next > block); /* the pieces of each rank ascend: a block is accessed once in a round */
    }
    return NC_NOERR;
}

/* --- rounds --- */

/* The exchange phase and the access phase of one round. */
static int exchange_and_access(two_phase *x)
{
    int err = exchange_extents(x), exchanged;

    if (err == NC_NOERR && x->direction == PNC_GET)
        err = access_file(x);
    exchanged = exchange_data(x); /* also after an error: the call is collective */
    err = pnc_error_keep_first(err, exchanged);
    if (x->direction == PNC_PUT)
        return err == NC_NOERR ? access_file(x) : err;
    /* if any aggregator failed to read, no rank may unpack its bytes into the user's memory */
    PNC_TRY(pnc_file_status_agree(x->io->file, err));
    return return_values(x);
}

/* One round; *more is set if another one is needed. */
static int run_round(two_phase *x, int err, bool *more)
{
    int own[2], all[2] = {1, 0}, met;

    if (err != NC_NOERR) { /* takes part in the remaining rounds with an empty list */
        pnc_io_extent_cursor_free(&x->extents);
        pnc_io_extent_cursor_init(&x->extents, x->io, NULL, 0);
        x->left = 0;
    }
    met = start_round(x);
    err = pnc_error_keep_first(err, met);
    met = exchange_counts(x);
    err = pnc_error_keep_first(err, met);
    own[0] = err != NC_NOERR;
    own[1] = x->left > 0;
    /* an error of any rank stops the rounds here, before the exchange phase */
    if (MPI_Allreduce(own, all, 2, MPI_INT, MPI_MAX, x->io->file->comm) != MPI_SUCCESS)
        err = mpi_failed(x);
    *more = !all[0] && all[1];
    return all[0] ? err : exchange_and_access(x);
}

/* A round of an independent call: the rank is the only aggregator, its own pieces are its input. */
static int run_round_independent(two_phase *x)
{
    int err = start_round(x);

    x->from = x->to;
    x->others_extents = x->own_extents;
    x->others_bytes = x->own_bytes;
    if (err == NC_NOERR)
        err = access_file(x);
    x->others_extents = NULL;
    x->others_bytes = NULL;
    if (err == NC_NOERR && x->direction == PNC_GET)
        err = return_values(x);
    return err;
}

/* Minimum per rank and round, independent of the number of ranks. MPI_Alltoallv counts in int: an aggregator may
 * receive from up to 2^18 ranks. */
#define LEAST_BYTES 8192

/* The hint limits the memory of all buffers: two blocks, the bytes of this rank twice, and the bytes of all ranks if
 * all of their pieces have the same aggregator. */
static void size_rounds(two_phase *x)
{
    int64_t limit = (x->io->buffer_size < (1 << 29) ? x->io->buffer_size : 1 << 29) - PNC_COLLECTIVE_BUFFER_MEMORY;
    int64_t shares = x->nprocs + 2;

    x->max_bytes = limit / (2 * shares);
    x->max_extents = limit / (128 * shares);
    if (x->max_bytes < LEAST_BYTES)
        x->max_bytes = LEAST_BYTES;
    if (x->max_extents < 1024)
        x->max_extents = 1024;
}

static int init(two_phase *x)
{
    int64_t n = x->nprocs, most;

    size_rounds(x);
    most = 2 * x->max_extents + x->max_bytes / PNC_DOMAIN_BLOCK + 2;
    x->taken = pnc_memory_alloc(x->max_extents, sizeof *x->taken);
    x->pieces = pnc_memory_alloc(most, sizeof *x->pieces);
    x->sorted = pnc_memory_alloc(most, sizeof *x->sorted);
    x->own_extents = pnc_memory_alloc(most, sizeof *x->own_extents);
    x->stream = pnc_memory_alloc(x->max_bytes, 1);
    x->own_bytes = pnc_memory_alloc(x->max_bytes, 1);
    x->counts = pnc_memory_alloc(12 * n, sizeof *x->counts);
    x->cursor = pnc_memory_alloc(2 * n, sizeof *x->cursor);
    if (x->taken == NULL || x->pieces == NULL || x->sorted == NULL || x->own_extents == NULL || x->stream == NULL ||
        x->own_bytes == NULL || x->counts == NULL || x->cursor == NULL ||
        pnc_io_collective_buffer_init(&x->buffer, x->io) != NC_NOERR)
        return pnc_error_set(x->io->file->error, NC_ENOMEM, "%s: no memory for the buffers of two-phase I/O",
                             x->io->file->path);
    x->to = (traffic){x->counts, x->counts + n, x->counts + 2 * n, x->counts + 3 * n};
    x->from = (traffic){x->counts + 4 * n, x->counts + 5 * n, x->counts + 6 * n, x->counts + 7 * n};
    return NC_NOERR;
}

static void start(two_phase *x, const pnc_request_list *list)
{
    pnc_io_extent_cursor_init(&x->extents, x->io, list->at, list->n);
    pnc_io_value_cursor_init(&x->values, x->io, list->at, list->n);
    x->left = pnc_io_requests_count_bytes(x->io, list->at, list->n);
}

static void free_all(two_phase *x)
{
    pnc_io_extent_cursor_free(&x->extents);
    pnc_io_value_cursor_free(&x->values);
    pnc_io_collective_buffer_free(&x->buffer);
    pnc_memory_free(x->taken);
    pnc_memory_free(x->pieces);
    pnc_memory_free(x->sorted);
    pnc_memory_free(x->own_extents);
    pnc_memory_free(x->stream);
    pnc_memory_free(x->own_bytes);
    pnc_memory_free(x->others_extents);
    pnc_memory_free(x->others_bytes);
    pnc_memory_free(x->counts);
    pnc_memory_free(x->cursor);
}

int pnc_io_two_phase_execute(pnc_io_context *io, const pnc_request_list *list)
{
    two_phase x = {.io = io, .direction = list->direction, .nprocs = io->file->nprocs, .buffer.exclusive = true};
    bool more = true;
    int err = init(&x), agreed;

    /* if any rank cannot allocate its buffers, no rank starts the exchange */
    agreed = pnc_file_status_agree(io->file, err);
    if (agreed == NC_NOERR)
        start(&x, list);
    while (agreed == NC_NOERR && more)
        err = run_round(&x, err, &more);
    free_all(&x);
    return err;
}

int pnc_io_two_phase_execute_independent(pnc_io_context *io, const pnc_request_list *list)
{
    two_phase x = {.io = io, .direction = list->direction, .nprocs = 1};
    int err = init(&x);

    if (err == NC_NOERR)
        start(&x, list);
    while (err == NC_NOERR && x.left > 0)
        err = run_round_independent(&x);
    free_all(&x);
    return err;
}
