/* The access phase of two-phase I/O. */
#include "io/two_phase/collective_buffer.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "io/choose/sizes.h"

#define RUNS_AT_A_TIME 512
#define GRAIN 4 /* bytes for a bit; see pnc_collective_memory */
#define SIEVE_BYTES (256 << 10)

static int64_t count_words(const pnc_collective_memory *memory, int grain)
{
    return (memory->capacity + 64 * grain - 1) / (64 * grain);
}

int pnc_io_collective_memory_alloc(pnc_collective_memory *memory, pnc_file *file, int64_t capacity)
{
    memory->capacity = capacity;
    memory->grain = GRAIN;
    memory->bytes = pnc_memory_alloc(capacity, 1);
    memory->covered = pnc_memory_alloc_zeroed(count_words(memory, GRAIN), sizeof *memory->covered);
    if (memory->bytes != NULL && memory->covered != NULL)
        return NC_NOERR;
    pnc_io_collective_memory_free(memory);
    return pnc_error_set(file->error, NC_ENOMEM, "%s: no memory for a collective buffer of %lld bytes", file->path,
                         (long long)capacity);
}

void pnc_io_collective_memory_free(pnc_collective_memory *memory)
{
    pnc_memory_free(memory->bytes);
    pnc_memory_free(memory->covered);
    pnc_memory_free(memory->sieve);
    *memory = (pnc_collective_memory){0};
}

void pnc_io_collective_buffer_init(pnc_collective_buffer *cb, pnc_file *file, pnc_collective_memory *memory,
                                   int64_t first, int64_t capacity)
{
    assert(first % (64 * GRAIN) == 0 && first + capacity <= memory->capacity);
    *cb = (pnc_collective_buffer){.file = file, .memory = memory, .first = first, .capacity = capacity};
    cb->bytes = memory->bytes + first;
}

static uint64_t *bits_of(const pnc_collective_buffer *cb)
{
    return cb->memory->covered + cb->first / (64 * cb->memory->grain);
}

static void clear_bits(pnc_collective_buffer *cb)
{
    int64_t bits = 64 * cb->memory->grain, word = cb->low / bits, end = (cb->high + bits - 1) / bits;

    memset(bits_of(cb) + word, 0, (size_t)(end - word) * sizeof(uint64_t));
    cb->low = cb->high = 0;
}

void pnc_io_collective_buffer_free(pnc_collective_buffer *cb)
{
    assert(cb->ntransfers == 0);
    clear_bits(cb);
}

void pnc_io_collective_buffer_start(pnc_collective_buffer *cb, const pnc_file_domains *domains, int aggregator)
{
    assert(cb->ntransfers == 0);
    clear_bits(cb);
    cb->domains = *domains;
    cb->aggregator = aggregator;
    cb->block = (pnc_block){0};
    cb->has_blocks = false;
    cb->status = NC_NOERR;
}

static int64_t file_offset(const pnc_collective_buffer *cb, int64_t position)
{
    pnc_block block = pnc_io_file_domains_find_block_at(&cb->domains, cb->aggregator, position);

    return block.low + (position - block.position);
}

/* The position at which the block of a position ends. */
static int64_t find_block_end(const pnc_collective_buffer *cb, int64_t position)
{
    pnc_block block = pnc_io_file_domains_find_block_at(&cb->domains, cb->aggregator, position);

    return block.position + (block.high - block.low);
}

/* The position of a file offset. Most pieces lie in the block of the piece before: no divisions for them. */
static int64_t find_position(pnc_collective_buffer *cb, int64_t offset)
{
    if (offset < cb->block.low || offset >= cb->block.high)
        cb->block = pnc_io_file_domains_find_block(&cb->domains, offset);
    return cb->block.position + (offset - cb->block.low);
}

/* The position of a piece, which becomes a part of the span. */
static int64_t extend_span(pnc_collective_buffer *cb, pnc_extent piece)
{
    int64_t at = find_position(cb, piece.offset), end = at + piece.length;

    assert(at >= 0 && end <= cb->capacity);
    if (cb->low == cb->high)
        cb->low = at;
    cb->low = at < cb->low ? at : cb->low;
    cb->high = end > cb->high ? end : cb->high;
    return at;
}

/* --- the bits --- */

static void set_bits(uint64_t *bits, int64_t from, int64_t to)
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

/* In place, from the end: there is no memory for both. */
static int refine_bits(pnc_collective_buffer *cb)
{
    pnc_collective_memory *memory = cb->memory;
    int64_t words = count_words(memory, GRAIN);
    uint64_t *bits = pnc_memory_resize(memory->covered, GRAIN * words, sizeof *bits);

    if (bits == NULL)
        return pnc_error_set(cb->file->error, NC_ENOMEM, "%s: no memory for a bit for each byte of %lld bytes",
                             cb->file->path, (long long)memory->capacity);
    for (int64_t i = words - 1; i >= 0; i--) {
        uint64_t word = bits[i];

        for (int k = 0; k < GRAIN; k++) { /* each bit of the k-th quarter four times */
            uint64_t out = 0;

            for (int bit = 0; bit < 64 / GRAIN; bit++)
                if (word >> (64 / GRAIN * k + bit) & 1)
                    out |= UINT64_C(15) << (GRAIN * bit);
            bits[GRAIN * i + k] = out;
        }
    }
    memory->covered = bits;
    memory->grain = 1;
    return NC_NOERR;
}

static int cover(pnc_collective_buffer *cb, int64_t from, int64_t to)
{
    if (cb->memory->grain > 1 && (from | to) % GRAIN != 0)
        PNC_TRY(refine_bits(cb));
    set_bits(bits_of(cb), from / cb->memory->grain, to / cb->memory->grain);
    return NC_NOERR;
}

/* The first position in [at, end) whose bit equals `set`, or `end`. */
static int64_t find_bit(const pnc_collective_buffer *cb, int64_t at, int64_t end, bool set)
{
    const uint64_t *bits = bits_of(cb);
    int64_t grain = cb->memory->grain, i = at / grain;

    while (i * grain < end) {
        uint64_t word = (set ? bits[i / 64] : ~bits[i / 64]) >> (i % 64);

        if (word != 0) {
            int64_t found = (i + __builtin_ctzll(word)) * grain;

            found = found > at ? found : at;
            return found < end ? found : end;
        }
        i += 64 - i % 64;
    }
    return end;
}

/* The gaps between the pieces in [at, *end), which begins with a piece; *end becomes the end of the last piece. */
static pnc_gaps count_gaps(const pnc_collective_buffer *cb, int64_t at, int64_t *end)
{
    pnc_gaps g = {0, 0};

    for (;;) {
        int64_t gap = find_bit(cb, at, *end, false);

        at = find_bit(cb, gap, *end, true);
        if (at == *end) {
            *end = gap;
            return g;
        }
        g.n++;
        g.bytes += at - gap;
    }
}

/* --- in the background --- */

/* If as many transfers are in progress as may be, wait for the oldest one and return its error. */
static int start_transfer(pnc_collective_buffer *cb, bool is_write, pnc_extent extent, char *bytes)
{
    pnc_store_transfer *t = &cb->transfers[cb->ntransfers];
    int err = NC_NOERR;

    if (cb->ntransfers < PNC_TRANSFERS_AT_ONCE) {
        cb->ntransfers++;
    } else {
        t = &cb->transfers[cb->oldest];
        cb->oldest = (cb->oldest + 1) % PNC_TRANSFERS_AT_ONCE;
        err = pnc_file_transfer_finish(cb->file, t);
    }
    cb->is_reading = !is_write;
    pnc_file_transfer_start(cb->file, is_write, extent, bytes, t);
    return err;
}

/* --- put --- */

int pnc_io_collective_buffer_put(pnc_collective_buffer *cb, pnc_extent piece, const char *data)
{
    int64_t at = extend_span(cb, piece);

    memcpy(cb->bytes + at, data, (size_t)piece.length);
    return cover(cb, at, at + piece.length);
}

/* Write the pieces in [at, end), in lists of at most RUNS_AT_A_TIME. The bytes of a list are compacted within the
 * buffer. */
static int write_runs(pnc_collective_buffer *cb, int64_t at, int64_t end)
{
    int err = NC_NOERR;

    while (at < end && err == NC_NOERR) {
        pnc_extent runs[RUNS_AT_A_TIME];
        int64_t n = 0, first = at, packed = at;

        while (at < end && n < RUNS_AT_A_TIME) {
            int64_t gap = find_bit(cb, at, end, false);

            runs[n++] = (pnc_extent){file_offset(cb, at), gap - at};
            memmove(cb->bytes + packed, cb->bytes + at, (size_t)(gap - at));
            packed += gap - at;
            at = find_bit(cb, gap, end, true);
        }
        err = pnc_file_extents_write(cb->file, runs, n, cb->bytes + first);
    }
    return err;
}

/* Fill the gaps in [at, end), at most SIEVE_BYTES, with the bytes that the file holds there. */
static int fill_gaps(pnc_collective_buffer *cb, int64_t at, int64_t end, int64_t file_size)
{
    int64_t gap = find_bit(cb, at, end, false), first = gap, last = end;

    if (gap == end)
        return NC_NOERR;
    if (cb->memory->sieve == NULL)
        cb->memory->sieve = pnc_memory_alloc(SIEVE_BYTES, 1);
    if (cb->memory->sieve == NULL)
        return pnc_error_set(cb->file->error, NC_ENOMEM, "%s: no memory for a sieve buffer of %d bytes", cb->file->path,
                             SIEVE_BYTES);
    PNC_TRY(
        pnc_file_span_read(cb->file, file_size, (pnc_extent){file_offset(cb, first), last - first}, cb->memory->sieve));
    while (gap < end) {
        at = find_bit(cb, gap, end, true);
        memcpy(cb->bytes + gap, cb->memory->sieve + (gap - first), (size_t)(at - gap));
        gap = find_bit(cb, at, end, false);
    }
    return NC_NOERR;
}

/* Read, modify and write: one access. This is safe if no other rank writes to the block during the call: all ranks
 * send their pieces to its aggregator, and direct writes have ended before. */
static int write_span(pnc_collective_buffer *cb, int64_t at, int64_t end, const pnc_gaps *g)
{
    pnc_extent extent = {file_offset(cb, at), end - at};
    int64_t size = 0;

    if (g->n > 0)
        PNC_TRY(pnc_file_get_size(cb->file, &size));
    for (int64_t some; g->n > 0 && at < end; at += some) {
        some = end - at < SIEVE_BYTES ? end - at : SIEVE_BYTES;
        PNC_TRY(fill_gaps(cb, at, at + some, size));
    }
    if (cb->in_background)
        return start_transfer(cb, true, extent, cb->bytes + (end - extent.length));
    return pnc_file_extents_write(cb->file, &extent, 1, cb->bytes + (end - extent.length));
}

/* Write the pieces in one block, [at, end). */
static int write_block(pnc_collective_buffer *cb, int64_t at, int64_t end)
{
    const pnc_store *store = cb->file->store;
    pnc_gaps g;

    at = find_bit(cb, at, end, true);
    if (at == end)
        return NC_NOERR;
    g = count_gaps(cb, at, &end);
    if (g.n > 0 && !(cb->sieves_writes && pnc_io_gaps_is_small(g, store->few_extents, cb->sieve_gap)))
        return write_runs(cb, at, end);
    return write_span(cb, at, end, &g);
}

int pnc_io_collective_buffer_write(pnc_collective_buffer *cb)
{
    int err = NC_NOERR;

    for (int64_t at = cb->low, end; at < cb->high && err == NC_NOERR; at = end) {
        end = find_block_end(cb, at);
        end = end < cb->high ? end : cb->high;
        err = write_block(cb, at, end);
    }
    return err;
}

int pnc_io_collective_buffer_finish(pnc_collective_buffer *cb)
{
    int err = NC_NOERR;

    for (int i = 0; i < cb->ntransfers; i++)
        err = pnc_error_keep_first(err, pnc_file_transfer_finish(cb->file, &cb->transfers[i]));
    cb->ntransfers = cb->oldest = 0;
    if (!cb->is_reading)
        return err;
    cb->is_reading = false;
    cb->status = pnc_error_keep_first(cb->status, err);
    return NC_NOERR;
}

bool pnc_io_collective_buffer_is_complete(const pnc_collective_buffer *cb)
{
    bool complete = true;

    for (int i = 0; i < cb->ntransfers && complete; i++)
        complete = pnc_file_transfer_is_complete(cb->file, &cb->transfers[i]);
    return complete;
}

/* --- get --- */

/* At a position of the buffer. */
static int read_extent(pnc_collective_buffer *cb, pnc_extent extent, int64_t at)
{
    if (!cb->in_background)
        return pnc_file_extents_read(cb->file, &extent, 1, cb->bytes + at, NULL);
    return start_transfer(cb, false, extent, cb->bytes + at);
}

void pnc_io_collective_buffer_read_blocks(pnc_collective_buffer *cb, int64_t low, int64_t high)
{
    pnc_block block;

    cb->has_blocks = true;
    for (int64_t at = 0; cb->status == NC_NOERR; at += block.high - block.low) {
        block = pnc_io_file_domains_find_block_at(&cb->domains, cb->aggregator, at);
        if (block.low == block.high)
            return;
        pnc_extent extent = {block.low > low ? block.low : low, block.high < high ? block.high : high};

        extent.length -= extent.offset;
        if (extent.length > 0)
            cb->status = read_extent(cb, extent, find_position(cb, extent.offset));
    }
}

/* Read what the buffer does not hold of [at, end), which lies in one block. The bits are set before a read in the
 * background ends: no other call reads these bytes again. */
static int load_gaps(pnc_collective_buffer *cb, int64_t at, int64_t end)
{
    for (at = find_bit(cb, at, end, false); at < end; at = find_bit(cb, at, end, false)) {
        int64_t to = find_bit(cb, at, end, true);
        pnc_extent extent = {file_offset(cb, at), to - at};

        PNC_TRY(read_extent(cb, extent, at));
        PNC_TRY(cover(cb, at, to));
    }
    return NC_NOERR;
}

void pnc_io_collective_buffer_include(pnc_collective_buffer *cb, const pnc_extent *pieces, int64_t n)
{
    pnc_wanted *w = &cb->wanted;

    if (cb->has_blocks)
        return;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = extend_span(cb, pieces[i]), end = at + pieces[i].length;

        w->low = w->n == 0 || at < w->low ? at : w->low;
        w->high = w->n == 0 || end > w->high ? end : w->high;
        w->bytes += pieces[i].length;
        w->n++;
    }
}

/* If the gaps are small on average, one access for each block. */
void pnc_io_collective_buffer_read(pnc_collective_buffer *cb)
{
    const pnc_wanted w = cb->wanted;

    cb->wanted = (pnc_wanted){0};
    if (w.n == 0 || (w.high - w.low - w.bytes) / w.n > cb->sieve_gap)
        return;
    for (int64_t at = w.low, end; at < w.high && cb->status == NC_NOERR; at = end) {
        end = find_block_end(cb, at);
        end = end < w.high ? end : w.high;
        cb->status = load_gaps(cb, at, end);
    }
}

/* Ascending pieces from index i on that are read by one access, with the gaps between them (data sieving): the index
 * after them. *end is the file offset at which they end. */
static int64_t find_sieved(const pnc_collective_buffer *cb, const pnc_extent *pieces, int64_t n, int64_t i,
                           int64_t *end)
{
    int64_t first = pieces[i].offset, block_end = pnc_io_file_domains_find_block(&cb->domains, first).high;

    *end = first + pieces[i].length;
    for (i++; i < n; i++) {
        if (pieces[i].offset < first || pieces[i].offset - *end > cb->sieve_gap || pieces[i].offset >= block_end)
            return i;
        if (pieces[i].offset + pieces[i].length > *end)
            *end = pieces[i].offset + pieces[i].length;
    }
    return n;
}

void pnc_io_collective_buffer_read_pieces(pnc_collective_buffer *cb, const pnc_extent *pieces, int64_t n)
{
    int64_t end = 0;

    if (cb->has_blocks)
        return;
    for (int64_t i = 0, next; i < n && cb->status == NC_NOERR; i = next) {
        int64_t at = extend_span(cb, pieces[i]);

        next = find_sieved(cb, pieces, n, i, &end);
        extend_span(cb, (pnc_extent){end - 1, 1});
        cb->status = load_gaps(cb, at, at + (end - pieces[i].offset));
    }
}

int pnc_io_collective_buffer_get(pnc_collective_buffer *cb, const pnc_extent *pieces, int64_t n, char *data)
{
    if (!cb->has_blocks)
        (void)pnc_io_collective_buffer_finish(cb);
    PNC_TRY(cb->status);
    for (int64_t i = 0; i < n; i++) {
        memcpy(data, cb->bytes + find_position(cb, pieces[i].offset), (size_t)pieces[i].length);
        data += pieces[i].length;
    }
    return NC_NOERR;
}
