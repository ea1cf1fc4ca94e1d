/* Sizes of collective buffers, and how a hyperslab is accessed without other ranks. */
#include "io/choose/sizes.h"

/* On one node every rank is an aggregator, and the buffer fits in a cache, on servers half of it; between nodes few
 * large accesses are best. */
#define BUFFER_LOCAL (2 << 20)
#define BUFFER_ONE_NODE (4 << 20)
#define BUFFER_NODES (16 << 20)
#define LEAST_BUFFER PNC_PAGE
#define MOST_EXCESS (1 << 20)
#define MOST_BITS (2 << 20)
#define MOST_BUFFER (INT64_C(1) << 29)

/* Whether all gaps, also those between rows, are smaller than `gap`. */
static bool is_dense(const pnc_selection *s, int64_t gap)
{
    const pnc_axis *axes = pnc_select_selection_get_axes(s);
    int64_t span = s->run;

    for (int i = s->rank - 1; i >= 0; i--) {
        if (axes[i].stride - span >= gap)
            return false;
        span += (axes[i].count - 1) * axes[i].stride;
    }
    return true;
}

bool pnc_io_selection_is_strided(const pnc_selection *s, int64_t elem_size, int64_t gap)
{
    return s->rank > 0 && s->run == elem_size &&
           pnc_select_selection_get_axes(s)[s->rank - 1].count >= PNC_STRIDED_LEAST_ROW && is_dense(s, gap);
}

int64_t pnc_io_reads_count(const pnc_selection *s, int64_t elem_size)
{
    bool is_strided = pnc_io_selection_is_strided(s, elem_size, PNC_SIEVE_READ_GAP);
    int64_t most = is_strided ? PNC_STAGE_BYTES_SERVERS : PNC_SIEVE_READ_BYTES;
    int64_t reads = pnc_select_selection_count_reads(s, most);
    int64_t lists = (s->nruns + PNC_PORTION_EXTENTS - 1) / PNC_PORTION_EXTENTS;

    return is_strided || reads > lists ? reads : lists;
}

/* With a hint, the buffer and a bit for each of its bytes (collective_buffer.h) take at most 2 MiB more than that.
 * Variables rarely begin at a multiple of the striping unit: one more block avoids a last round for little data. */
int64_t pnc_io_buffer_compute_size(const pnc_buffer_shape *b)
{
    int64_t size = b->on_servers ? BUFFER_ONE_NODE : BUFFER_LOCAL, unit = b->striping_unit;

    if (b->nnodes > 1)
        size = BUFFER_NODES;
    if (b->given > 0)
        size = b->given / 8 <= MOST_BITS ? b->given : (b->given / 9 * 8 + MOST_BITS / 9 * 8) / PNC_PAGE * PNC_PAGE;
    else if (size > b->most)
        size = b->most;
    size = size < LEAST_BUFFER ? LEAST_BUFFER : size;
    size = size < MOST_BUFFER ? size : MOST_BUFFER;
    return b->nnodes > 1 && unit <= size / 8 && unit <= MOST_EXCESS ? size + unit : size;
}

/* Two buffers, each of whole blocks, if the call takes more than one round. Not on a local file system: an access ends
 * in the page cache, and takes no time that could overlap. */
pnc_rounds pnc_io_rounds_choose(const pnc_buffer_shape *b, const pnc_rounds_shape *call)
{
    bool is_put = call->direction == PNC_PUT, is_dense = call->bytes >= call->length / 2;
    bool reads_blocks = !is_put && b->on_servers && is_dense, accesses_blocks = is_put || reads_blocks;
    int64_t half = call->buffer / 2, unit = b->striping_unit <= half ? b->striping_unit : PNC_PAGE;
    bool overlaps = accesses_blocks && b->on_servers && call->can_overlap && half / unit * unit >= LEAST_BUFFER &&
                    call->length > call->naggregators * call->buffer;

    return (pnc_rounds){
        .reads_blocks = reads_blocks,
        .overlaps = overlaps,
        .in_background = overlaps || (!is_put && b->on_servers && call->can_overlap),
        .domains = {.naggregators = call->naggregators,
                    .buffer = overlaps ? half / unit * unit : call->buffer,
                    .striping_unit = b->striping_unit,
                    .cyclic = b->round_robin,
                    .may_wrap = accesses_blocks && b->nnodes > 1 && !call->within_nodes},
    };
}
