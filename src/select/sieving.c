/* Which extents one access covers. */
#include "select/sieving.h"

pnc_sieved pnc_select_extents_count_sieved(const pnc_extent *extents, int64_t n, const pnc_sieve_limits *most)
{
    int64_t first = extents[0].offset, end = first + extents[0].length, i = 1;
    pnc_sieved found = {.bytes = extents[0].length};

    for (; i < n && extents[0].length <= most->extent; i++) {
        int64_t gap = extents[i].offset - end, next = extents[i].offset + extents[i].length;

        if (gap < 0 || gap > most->gap || extents[i].length > most->extent || next - first > most->span)
            break;
        found.bytes += extents[i].length;
        end = next;
    }
    found.n = i;
    found.span = (pnc_extent){first, end - first};
    return found;
}

int64_t pnc_select_selection_count_reads(const pnc_selection *selection, int64_t most)
{
    const pnc_sieve_limits limits = pnc_select_sieve_get_limits(PNC_SIEVE_READ_GAP, most);
    const pnc_axis *axes = pnc_select_selection_get_axes(selection);
    int64_t reads = selection->nruns > 0, span = selection->run;
    bool is_dense = span <= limits.extent;

    for (int i = selection->rank - 1; i >= 0; i--) {
        int64_t gap = axes[i].stride - span;

        is_dense = is_dense && gap >= 0 && gap <= limits.gap;
        span += (axes[i].count - 1) * axes[i].stride;
        reads = is_dense ? (span + most - 1) / most : reads * axes[i].count;
    }
    return reads;
}

bool pnc_select_extents_is_dense(const pnc_extent *extents, int64_t n, const pnc_sieve_limits *most)
{
    int64_t bytes = 0, gaps;

    for (int64_t i = 0; i < n; i++) {
        bytes += extents[i].length;
        if (i > 0 && extents[i].offset < extents[i - 1].offset + extents[i - 1].length)
            return false;
    }
    gaps = pnc_select_extents_get_span(extents, n).length - bytes;
    return bytes / n <= most->extent && gaps / n <= most->gap;
}
