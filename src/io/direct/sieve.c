/* Read, modify and write. */
#include "io/direct/sieve.h"

#include "base/memory.h"
#include "select/sieving.h"

bool pnc_io_span_lock(pnc_io_context *io, pnc_extent span)
{
    return io->exclusive || pnc_file_span_lock(io->file, span);
}

int pnc_io_span_unlock(pnc_io_context *io, pnc_extent span)
{
    return io->exclusive ? NC_NOERR : pnc_file_span_unlock(io->file, span);
}

int pnc_io_span_read(pnc_io_context *io, pnc_extent span, char *bytes)
{
    int64_t size;

    PNC_TRY(pnc_file_get_size(io->file, &size));
    return pnc_file_span_read(io->file, size, span, bytes);
}

static int write_sieved(pnc_io_context *io, const pnc_extent *extents, int64_t n, const char *bytes, pnc_extent span)
{
    PNC_TRY(pnc_io_span_read(io, span, io->sieve));
    for (int64_t i = 0; i < n; i++) {
        pnc_select_extent_copy(io->sieve + (extents[i].offset - span.offset), bytes, extents[i].length);
        bytes += extents[i].length;
    }
    return pnc_file_extents_write(io->file, &span, 1, io->sieve);
}

/* Write each extent by itself, or several of them with the gaps between them. */
static int write_groups(pnc_io_context *io, const pnc_extent *extents, int64_t n, const char *bytes,
                        const pnc_sieve_limits *most)
{
    while (n > 0) {
        pnc_sieved some = pnc_select_extents_count_sieved(extents, n, most);

        if (some.n > io->file->store->few_extents)
            PNC_TRY(write_sieved(io, extents, some.n, bytes, some.span));
        else
            PNC_TRY(pnc_file_extents_write(io->file, extents, some.n, bytes));
        extents += some.n;
        n -= some.n;
        bytes += some.bytes;
    }
    return NC_NOERR;
}

/* Allocated once a span is locked: most programs never get a lock. Without memory the driver writes the extents. */
static bool reserve_sieve(pnc_io_context *io)
{
    if (io->sieve == NULL)
        io->sieve = pnc_memory_alloc(PNC_SIEVE_WRITE_BYTES, 1);
    return io->sieve != NULL;
}

int pnc_io_extents_write(pnc_io_context *io, const pnc_extent *extents, int64_t n, const char *bytes)
{
    const pnc_store *store = io->file->store;
    const pnc_sieve_limits most = pnc_select_sieve_get_limits(store->sieve_write_gap, PNC_SIEVE_WRITE_BYTES);
    pnc_extent span;
    int err;

    if (n <= store->few_extents || !(io->exclusive || pnc_select_extents_is_dense(extents, n, &most)))
        return pnc_file_extents_write(io->file, extents, n, bytes);
    span = pnc_select_extents_get_span(extents, n);
    if (!pnc_io_span_lock(io, span))
        return pnc_file_extents_write(io->file, extents, n, bytes);
    if (reserve_sieve(io))
        err = write_groups(io, extents, n, bytes, &most);
    else
        err = pnc_file_extents_write(io->file, extents, n, bytes);
    return pnc_error_keep_first(err, pnc_io_span_unlock(io, span));
}
