/* Extents, cut where arrays begin and end. */
#include "drivers/chunks/chunk_store.h"

#include <string.h>

#include "base/minmax.h"

/* The array with this address, or the next one; narrays: none. */
static int64_t find_array(pnc_chunk_store *s, int64_t address)
{
    const pnc_chunk_array *arrays = s->source.arrays;
    int64_t low = 0, high = s->source.narrays;

    if (s->latest < s->source.narrays && address >= arrays[s->latest].begin &&
        address - arrays[s->latest].begin < arrays[s->latest].bytes)
        return s->latest;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (address - arrays[middle].begin >= arrays[middle].bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What is between arrays is accessed only with gaps, and not used. */
static int visit_behind(pnc_chunk_store *s, const pnc_extent_visitor *visitor, int64_t address, int64_t length,
                        char *bytes, pnc_error *error)
{
    for (int64_t n; length > 0; address += n, bytes += n, length -= n) {
        int64_t array = find_array(s, address);
        const pnc_chunk_array *a = &s->source.arrays[array];

        n = length;
        if (array == s->source.narrays || address < a->begin) {
            if (array < s->source.narrays)
                n = pnc_min64(n, a->begin - address);
            if (visitor->clears_gaps)
                memset(bytes, 0, (size_t)n);
            continue;
        }
        s->latest = array;
        n = pnc_min64(n, a->begin + a->bytes - address);
        PNC_TRY(visitor->in_array(s, array, address - a->begin, n, bytes, error));
    }
    return NC_NOERR;
}

bool pnc_chunks_file_has_extents(const pnc_chunk_store *s, const pnc_extent *extents, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (s->source.narrays > 0 && extents[i].offset + extents[i].length > s->source.arrays[0].begin)
            return false;
    return true;
}

int pnc_chunks_extents_scan(pnc_chunk_store *s, const pnc_extent_visitor *visitor, const pnc_extent *extents, int64_t n,
                            char *bytes, pnc_error *error)
{
    for (int64_t i = 0; i < n; bytes += extents[i++].length) {
        int64_t front = extents[i].length;

        if (s->source.narrays > 0)
            front = pnc_min64(front, pnc_max64(0, s->source.arrays[0].begin - extents[i].offset));
        if (front > 0)
            PNC_TRY(visitor->in_file(s, (pnc_extent){extents[i].offset, front}, bytes, error));
        PNC_TRY(visit_behind(s, visitor, extents[i].offset + front, extents[i].length - front, bytes + front, error));
    }
    return NC_NOERR;
}
