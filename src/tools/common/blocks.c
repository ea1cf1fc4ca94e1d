/* Arrays in bounded blocks. */
#include "tools/common/blocks.h"

#include "base/error.h"
#include "base/memory.h"

int tool_blocks_start(int ndims, const int64_t *shape, tool_blocks *blocks)
{
    int64_t whole = 1; /* elements for one index of dimension split */
    int split = ndims > 0 ? ndims - 1 : 0;

    *blocks = (tool_blocks){.ndims = ndims, .shape = shape};
    for (int i = 0; i < ndims; i++)
        blocks->end = blocks->end || shape[i] == 0;
    while (split > 0 && !blocks->end && shape[split] <= TOOL_BLOCK_ELEMENTS / whole)
        whole *= shape[split--];
    blocks->split = split;
    blocks->split_length = TOOL_BLOCK_ELEMENTS / whole;
    if (ndims == 0 || shape[split] < blocks->split_length)
        blocks->largest = ndims == 0 ? 1 : whole * shape[split];
    else
        blocks->largest = whole * blocks->split_length;
    blocks->start = pnc_zalloc(2 * ((int64_t)ndims + 1), sizeof *blocks->start);
    if (blocks->start == NULL)
        return NC_ENOMEM;
    blocks->count = blocks->start + ndims + 1;
    return NC_NOERR;
}

/* Moves start behind the block at hand. */
static void advance(tool_blocks *blocks)
{
    int i = blocks->split;

    blocks->start[i] += blocks->count[i];
    while (i > 0 && blocks->start[i] == blocks->shape[i]) {
        blocks->start[i] = 0;
        blocks->start[--i]++;
    }
    blocks->end = blocks->ndims == 0 || blocks->start[0] == blocks->shape[0];
}

bool tool_blocks_next(tool_blocks *blocks)
{
    if (blocks->length > 0)
        advance(blocks);
    blocks->length = 0;
    if (blocks->end)
        return false;
    blocks->length = blocks->count[0] = 1;
    for (int i = 0; i < blocks->ndims; i++) {
        int64_t left = blocks->shape[i] - blocks->start[i];

        blocks->count[i] = i < blocks->split ? 1 : left;
        if (i == blocks->split && left > blocks->split_length)
            blocks->count[i] = blocks->split_length;
        blocks->length *= blocks->count[i];
    }
    return true;
}

void tool_blocks_free(tool_blocks *blocks)
{
    pnc_free(blocks->start);
    blocks->start = blocks->count = NULL;
}
