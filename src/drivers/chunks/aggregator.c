/* Which rank has the values of a chunk that are not in the file yet: a pure function, so that no rank asks another. */
#include "drivers/chunks/aggregator.h"

#include <assert.h>

/* SplitMix64: each bit of the result depends on all of the number. */
static uint64_t mix_number(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* n things in blocks of n / nprocs or one more, those first. */
static int find_block_of(int64_t i, int64_t n, int nprocs)
{
    int64_t length = n / nprocs, longer = n % nprocs;

    if (i < longer * (length + 1))
        return (int)(i / (length + 1));
    return (int)(longer + (i - longer * (length + 1)) / length);
}

int pnc_chunks_aggregator_find(int64_t chunk, int64_t row, int64_t first, int nprocs)
{
    assert(chunk >= 0 && row >= 0 && first >= 0 && nprocs > 0);
    if (nprocs == 1)
        return 0;
    if (row == 0)
        return (int)(mix_number((uint64_t)chunk * 0x9E3779B97F4A7C15u + (uint64_t)first) % (uint64_t)nprocs);
    if (row >= nprocs)
        return find_block_of(chunk % row, row, nprocs);
    return (int)((chunk % row * nprocs / row + first % nprocs + chunk / row % nprocs) % nprocs);
}
