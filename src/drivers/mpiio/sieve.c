/* Data sieving of reads for many small extents of one rank: one access covers all extents that fit into the sieve
 * buffer, with the gaps between them. */
#include "drivers/mpiio/mpiio.h"

#include <assert.h>

#include "base/memory.h"

/* If allocation fails, each extent is read on its own. */
static bool allocate_sieve_buffer(pnc_mpiio *io)
{
    if (io->sieve_buffer == NULL)
        io->sieve_buffer = pnc_memory_alloc(PNC_SIEVE_READ_BYTES, 1);
    return io->sieve_buffer != NULL;
}

static int64_t sum_lengths(const pnc_extent *extents, int64_t n)
{
    int64_t bytes = 0;

    for (int64_t i = 0; i < n; i++)
        bytes += extents[i].length;
    return bytes;
}

/* Decides which gaps are read: returns the number of leading extents that one sieve buffer covers; 1 if the first is
 * accessed on its own. */
static int64_t count_sieved(pnc_mpiio *io, const pnc_extent *extents, int64_t n)
{
    const pnc_sieve_limits most = pnc_select_sieve_get_limits(PNC_SIEVE_READ_GAP, PNC_SIEVE_READ_BYTES);

    if (n == 1 || extents[0].length > most.extent || !allocate_sieve_buffer(io))
        return 1;
    return pnc_select_extents_count_sieved(extents, n, &most).n;
}

/* The span ends with the last extent: it exceeds the end of the file only if that extent does. */
static int read_sieve_buffer(pnc_mpiio *io, const pnc_extent *extents, int64_t n, char *buf, int64_t *got,
                             pnc_error *error)
{
    pnc_extent all = pnc_select_extents_get_span(extents, n);
    int64_t present = 0;
    int err;

    assert(all.length <= PNC_SIEVE_READ_BYTES);
    err = pnc_mpiio_extent_read(io, all, io->sieve_buffer, &present, error);
    for (int64_t i = 0; i < n && extents[i].offset - all.offset + extents[i].length <= present; i++) {
        pnc_select_extent_copy(buf, io->sieve_buffer + (extents[i].offset - all.offset), extents[i].length);
        buf += extents[i].length;
        *got += extents[i].length;
    }
    return err;
}

int pnc_mpiio_sieve_read(pnc_mpiio *io, const pnc_extent *extents, int64_t n, char *buf, int64_t *got, pnc_error *error)
{
    int err = NC_NOERR;
    int64_t some;

    for (int64_t i = 0; i < n && err == NC_NOERR; i += some) {
        some = count_sieved(io, extents + i, n - i);
        err = some > 1 ? read_sieve_buffer(io, extents + i, some, buf, got, error)
                       : pnc_mpiio_extent_read(io, extents[i], buf, got, error);
        buf += sum_lengths(extents + i, some);
    }
    return err;
}
