/* The access phase of two-phase I/O for one block. */
#include "io/collective_buffer.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

#define WORDS (PNC_DOMAIN_BLOCK / 64)

#define RUNS_AT_A_TIME 512

int pnc_io_collective_buffer_init(pnc_collective_buffer *cb, pnc_io_context *io)
{
    cb->io = io;
    cb->bytes = pnc_memory_alloc(PNC_DOMAIN_BLOCK, 1);
    cb->old = pnc_memory_alloc(PNC_DOMAIN_BLOCK, 1);
    cb->covered = pnc_memory_alloc_zeroed(WORDS, sizeof *cb->covered);
    return cb->bytes == NULL || cb->old == NULL || cb->covered == NULL ? NC_ENOMEM : NC_NOERR;
}

void pnc_io_collective_buffer_free(pnc_collective_buffer *cb)
{
    pnc_memory_free(cb->bytes);
    pnc_memory_free(cb->old);
    pnc_memory_free(cb->covered);
}

void pnc_io_collective_buffer_start(pnc_collective_buffer *cb, int64_t index)
{
    int64_t word = (cb->low - cb->first) / 64, end = (cb->high - cb->first + 63) / 64;

    /* clears only the words that the last block has set: clearing all 128 KiB would dominate the cost of a small
     * piece */
    memset(cb->covered + word, 0, (size_t)(end - word) * sizeof *cb->covered);
    cb->first = cb->low = cb->high = index * PNC_DOMAIN_BLOCK;
}

void pnc_io_collective_buffer_include(pnc_collective_buffer *cb, pnc_extent piece)
{
    int64_t end = piece.offset + piece.length;

    if (cb->low == cb->high) {
        cb->low = piece.offset;
        cb->high = end;
    }
    if (piece.offset < cb->low)
        cb->low = piece.offset;
    if (end > cb->high)
        cb->high = end;
}

static void cover(uint64_t *bits, int64_t from, int64_t to)
{
    int64_t word = from / 64, last = (to - 1) / 64;
    uint64_t head = ~UINT64_C(0) << (from % 64), tail = ~UINT64_C(0) >> (63 - (to - 1) % 64);

    if (word == last) {
        bits[word] |= head & tail;
        return;
    }
    bits[word++] |= head;
    while (word < last)
        bits[word++] = ~UINT64_C(0);
    bits[last] |= tail;
}

void pnc_io_collective_buffer_put(pnc_collective_buffer *cb, pnc_extent piece, const char *data)
{
    int64_t at = piece.offset - cb->first;

    assert(at >= 0 && at + piece.length <= PNC_DOMAIN_BLOCK);
    pnc_io_collective_buffer_include(cb, piece);
    memcpy(cb->bytes + at, data, (size_t)piece.length);
    cover(cb->covered, at, at + piece.length);
}

void pnc_io_collective_buffer_get(const pnc_collective_buffer *cb, pnc_extent piece, char *data)
{
    memcpy(data, cb->bytes + (piece.offset - cb->first), (size_t)piece.length);
}

/* The first position in [at, end) whose bit equals `set`, or `end`. */
static int64_t find(const uint64_t *bits, int64_t at, int64_t end, bool set)
{
    while (at < end) {
        uint64_t word = (set ? bits[at / 64] : ~bits[at / 64]) >> (at % 64);

        if (word != 0) {
            at += __builtin_ctzll(word);
            return at < end ? at : end;
        }
        at += 64 - at % 64;
    }
    return end;
}

typedef struct gaps {
    int64_t n, bytes;
} gaps;

static gaps count_gaps(const pnc_collective_buffer *cb)
{
    int64_t at = cb->low - cb->first, end = cb->high - cb->first;
    gaps g = {0, 0};

    for (;;) {
        int64_t gap = find(cb->covered, at, end, false);

        if (gap == end)
            return g;
        at = find(cb->covered, gap, end, true);
        g.n++;
        g.bytes += at - gap;
    }
}

/* Write the covered runs, in lists of at most RUNS_AT_A_TIME. The bytes of a list are compacted within the buffer. */
static int write_runs(pnc_collective_buffer *cb)
{
    int64_t at = cb->low - cb->first, end = cb->high - cb->first;

    while (at < end) {
        pnc_extent runs[RUNS_AT_A_TIME];
        int64_t n = 0, first = at, packed = at;

        while (at < end && n < RUNS_AT_A_TIME) {
            int64_t gap = find(cb->covered, at, end, false);

            runs[n++] = (pnc_extent){cb->first + at, gap - at};
            memmove(cb->bytes + packed, cb->bytes + at, (size_t)(gap - at));
            packed += gap - at;
            at = find(cb->covered, gap, end, true);
        }
        PNC_TRY(pnc_file_extents_write(cb->io->file, runs, n, cb->bytes + first));
    }
    return NC_NOERR;
}

/* Bytes of a span that lie before the end of the file. */
static int64_t bytes_present(int64_t low, int64_t high, int64_t size)
{
    if (size <= low)
        return 0;
    return (size < high ? size : high) - low;
}

/* Fill the gaps with the bytes that the file holds there. This is safe because no other rank writes to the block
 * during the call: all ranks send their pieces to its aggregator, and direct writes have ended before. */
static int fill_gaps(pnc_collective_buffer *cb)
{
    pnc_file *file = cb->io->file;
    int64_t at = cb->low - cb->first, end = cb->high - cb->first, size, present;

    PNC_TRY(pnc_file_get_size(file, &size));
    present = bytes_present(cb->low, cb->high, size);
    if (present > 0)
        PNC_TRY(pnc_file_extents_read(file, &(pnc_extent){cb->low, present}, 1, cb->old + at, NULL));
    memset(cb->old + at + present, 0, (size_t)(end - at - present));
    while (at < end) {
        int64_t gap = find(cb->covered, at, end, false);

        at = find(cb->covered, gap, end, true);
        memcpy(cb->bytes + gap, cb->old + gap, (size_t)(at - gap));
    }
    return NC_NOERR;
}

int pnc_io_collective_buffer_write(pnc_collective_buffer *cb)
{
    const pnc_store *store = cb->io->file->store;
    gaps g = count_gaps(cb);

    if (cb->low == cb->high)
        return NC_NOERR;
    if (!cb->exclusive || g.n < store->few_extents || g.bytes / g.n > store->sieve_gap)
        return write_runs(cb);
    PNC_TRY(fill_gaps(cb));
    return pnc_file_extents_write(cb->io->file, &(pnc_extent){cb->low, cb->high - cb->low}, 1,
                                  cb->bytes + (cb->low - cb->first));
}

int pnc_io_collective_buffer_read(pnc_collective_buffer *cb)
{
    pnc_extent extent = {cb->low, cb->high - cb->low};

    return pnc_file_extents_read(cb->io->file, &extent, 1, cb->bytes + (cb->low - cb->first), NULL);
}
