/* Read, modify and write.
 *
 * Drivers do this for programs of one rank only, because they know nothing about other ranks. */
#include "io/sieve.h"

#include <string.h>

#include "base/memory.h"

#define SIEVE_BYTES (256 << 10)

/* With a constant size the compiler replaces the call of memcpy by a move: most extents here are single values. */
static inline void copy_extent(char *to, const char *from, int64_t length)
{
    if (length == 8)
        memcpy(to, from, 8);
    else if (length == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, (size_t)length);
}

/* The number of extents at the front that one sieve buffer covers, and the bytes of their values and gaps. */
static int64_t count_sieved(const pnc_store *store, const pnc_extent *extents, int64_t n, int64_t *bytes,
                            pnc_extent *span)
{
    int64_t i = 1, end = extents[0].offset + extents[0].length;

    *bytes = extents[0].length;
    for (; i < n; i++) {
        int64_t gap = extents[i].offset - end, next = extents[i].offset + extents[i].length;

        if (gap < 0 || gap > store->sieve_gap || next - extents[0].offset > SIEVE_BYTES)
            break;
        *bytes += extents[i].length;
        end = next;
    }
    *span = (pnc_extent){extents[0].offset, end - extents[0].offset};
    return i;
}

/* Read what the file has of the span; bytes beyond its end are zeros. */
static int fetch(pnc_io_context *io, pnc_extent span)
{
    int64_t size, present = 0;

    PNC_TRY(pnc_file_get_size(io->file, &size));
    if (size > span.offset)
        present = size - span.offset < span.length ? size - span.offset : span.length;
    memset(io->sieve + present, 0, (size_t)(span.length - present));
    if (present == 0)
        return NC_NOERR;
    return pnc_file_extents_read(io->file, &(pnc_extent){span.offset, present}, 1, io->sieve, NULL);
}

static int write_sieved(pnc_io_context *io, const pnc_extent *extents, int64_t n, const char *bytes, pnc_extent span)
{
    PNC_TRY(fetch(io, span));
    for (int64_t i = 0; i < n; i++) {
        copy_extent(io->sieve + (extents[i].offset - span.offset), bytes, extents[i].length);
        bytes += extents[i].length;
    }
    return pnc_file_extents_write(io->file, &span, 1, io->sieve);
}

int pnc_io_extents_write(pnc_io_context *io, const pnc_extent *extents, int64_t n, const char *bytes)
{
    const pnc_store *store = io->file->store;

    if (!io->exclusive || n <= store->few_extents)
        return pnc_file_extents_write(io->file, extents, n, bytes);
    if (io->sieve == NULL)
        io->sieve = pnc_memory_alloc(SIEVE_BYTES, 1);
    if (io->sieve == NULL)
        return pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory for a sieve buffer of %d bytes", io->file->path,
                             SIEVE_BYTES);
    for (int64_t some, length; n > 0; n -= some) {
        pnc_extent span;

        some = count_sieved(store, extents, n, &length, &span);
        if (some > store->few_extents)
            PNC_TRY(write_sieved(io, extents, some, bytes, span));
        else
            PNC_TRY(pnc_file_extents_write(io->file, extents, some, bytes));
        extents += some;
        bytes += length;
    }
    return NC_NOERR;
}
