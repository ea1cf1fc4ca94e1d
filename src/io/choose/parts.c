/* Parts of a round, and messages. */
#include "io/choose/parts.h"

#include <assert.h>
#include <stdlib.h>

static int compare_parts(const void *a, const void *b)
{
    const pnc_part *x = a, *y = b;

    return x->turn != y->turn ? x->turn - y->turn : x->extent - y->extent;
}

/* Add a piece that lies in one block, of at most PNC_PART_BYTES. */
static void add_piece_to_part(pnc_segment *segment, const pnc_part *next, pnc_extent piece)
{
    pnc_part *part = segment->nparts > 0 ? &segment->parts[segment->nparts - 1] : NULL;

    if (part == NULL || part->aggregator != next->aggregator || part->nextents == PNC_PART_EXTENTS ||
        part->nbytes + piece.length > PNC_PART_BYTES) {
        part = &segment->parts[segment->nparts++];
        *part = *next;
    }
    segment->extents[next->extent] = piece;
    part->nextents++;
    part->nbytes += (int)piece.length;
}

/* All nodes send at the same time: the turn of each begins with another aggregator. Most pieces lie in the block of the
 * piece before: the divisions that find a block would cost more than the rest. */
void pnc_io_parts_make(pnc_segment *segment, const pnc_extent *pieces, int64_t n, const pnc_file_domains *domains,
                       const pnc_aggregators *aggregators)
{
    pnc_part next = {0}; /* as it begins with the next piece */
    pnc_block block = {0};
    bool is_sorted = true;

    for (int64_t i = 0; i < n; i++) {
        pnc_extent rest = pieces[i];

        while (rest.length > 0) {
            pnc_extent piece = rest;

            if (rest.offset < block.low || rest.offset >= block.high) {
                block = pnc_io_file_domains_find_block(domains, rest.offset);
                next.aggregator = block.aggregator;
                next.turn = (block.aggregator - (aggregators->first + aggregators->n)) % aggregators->all;
                next.turn += next.turn < 0 ? aggregators->all : 0;
            }
            if (piece.length > block.high - piece.offset)
                piece.length = block.high - piece.offset;
            if (piece.length > PNC_PART_BYTES)
                piece.length = PNC_PART_BYTES;
            assert(next.extent < PNC_SEGMENT_PARTS);
            add_piece_to_part(segment, &next, piece);
            next.extent++;
            next.byte += (int)piece.length;
            rest.offset += piece.length;
            rest.length -= piece.length;
        }
    }
    for (int i = 1; i < segment->nparts; i++)
        is_sorted = is_sorted && segment->parts[i].turn >= segment->parts[i - 1].turn;
    if (!is_sorted)
        qsort(segment->parts, (size_t)segment->nparts, sizeof *segment->parts, compare_parts);
}

int pnc_io_parts_find_next(const pnc_node_parts *parts)
{
    const pnc_part *next = NULL;

    for (int rank = 0; rank < parts->nprocs; rank++) {
        const pnc_part *part = pnc_io_parts_peek(parts, rank);

        if (part != NULL && (next == NULL || part->turn < next->turn))
            next = part;
    }
    return next == NULL ? -1 : next->aggregator;
}

const pnc_part *pnc_io_message_take(pnc_message *m, const pnc_node_parts *parts, int *rank)
{
    for (; m->rank < parts->nprocs; m->rank++) {
        const pnc_part *part = pnc_io_parts_peek(parts, m->rank);

        if (part == NULL || part->aggregator != m->aggregator)
            continue;
        if (m->nextents + part->nextents > PNC_PART_EXTENTS || m->nbytes + part->nbytes > PNC_PART_BYTES)
            return NULL;
        m->nextents += part->nextents;
        m->nbytes += part->nbytes;
        parts->heads[m->rank]++;
        *rank = m->rank++;
        return part;
    }
    return NULL;
}
