/* Read, modify and write.
 *
 * Drivers do this for programs of one rank only, because they know nothing about other ranks. */
#include "io/sieve.h"

#include <string.h>

#include "base/memory.h"
#include "select/sieving.h"

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

int pnc_io_span_read(pnc_io_context *io, pnc_extent span, char *bytes)
{
    int64_t size, present = 0;

    PNC_TRY(pnc_file_get_size(io->file, &size));
    if (size > span.offset)
        present = size - span.offset < span.length ? size - span.offset : span.length;
    memset(bytes + present, 0, (size_t)(span.length - present));
    if (present == 0)
        return NC_NOERR;
    return pnc_file_extents_read(io->file, &(pnc_extent){span.offset, present}, 1, bytes, NULL);
}

static int write_sieved(pnc_io_context *io, const pnc_extent *extents, int64_t n, const char *bytes, pnc_extent span)
{
    PNC_TRY(pnc_io_span_read(io, span, io->sieve));
    for (int64_t i = 0; i < n; i++) {
        copy_extent(io->sieve + (extents[i].offset - span.offset), bytes, extents[i].length);
        bytes += extents[i].length;
    }
    return pnc_file_extents_write(io->file, &span, 1, io->sieve);
}

int pnc_io_extents_write(pnc_io_context *io, const pnc_extent *extents, int64_t n, const char *bytes)
{
    const pnc_store *store = io->file->store;
    const pnc_sieve_limits most = {store->sieve_gap, INT64_MAX, PNC_SIEVE_WRITE_BYTES};

    if (!io->exclusive || n <= store->few_extents)
        return pnc_file_extents_write(io->file, extents, n, bytes);
    if (io->sieve == NULL)
        io->sieve = pnc_memory_alloc(PNC_SIEVE_WRITE_BYTES, 1);
    if (io->sieve == NULL)
        return pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory for a sieve buffer of %d bytes", io->file->path,
                             PNC_SIEVE_WRITE_BYTES);
    while (n > 0) {
        pnc_sieved some = pnc_select_extents_count_sieved(extents, n, &most);

        if (some.n > store->few_extents)
            PNC_TRY(write_sieved(io, extents, some.n, bytes, some.span));
        else
            PNC_TRY(pnc_file_extents_write(io->file, extents, some.n, bytes));
        extents += some.n;
        n -= some.n;
        bytes += some.bytes;
    }
    return NC_NOERR;
}
