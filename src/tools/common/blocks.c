/* Arrays in bounded blocks. */
#include "tools/common/blocks.h"

#include <assert.h>

#include "base/error.h"
#include "base/memory.h"

/* Total number of blocks. If an invalid header makes it overflow, reading fails long before the last block. */
static int64_t count_blocks(const tool_blocks *blocks)
{
    int64_t total = blocks->parts;

    for (int i = 0; i < blocks->ndims; i++)
        if (blocks->shape[i] == 0)
            return 0;
    for (int i = 0; i < blocks->split; i++)
        if (pnc_size_multiply(total, blocks->shape[i], &total) != 0)
            return INT64_MAX;
    return total;
}

int tool_blocks_init(int ndims, const int64_t *shape, tool_blocks *blocks)
{
    return tool_blocks_init_bounded(ndims, shape, TOOL_BLOCK_ELEMENTS, blocks);
}

int tool_blocks_init_bounded(int ndims, const int64_t *shape, int64_t most, tool_blocks *blocks)
{
    int64_t whole = 1, along;
    int split = ndims > 0 ? ndims - 1 : 0;

    *blocks = (tool_blocks){.ndims = ndims, .shape = shape, .number = -1};
    while (split > 0 && shape[split] > 0 && shape[split] <= most / whole)
        whole *= shape[split--];
    along = ndims > 0 ? shape[split] : 1;
    blocks->split = split;
    blocks->whole = whole;
    blocks->split_length = most / whole;
    blocks->parts = along / blocks->split_length + (along % blocks->split_length > 0);
    blocks->largest = whole * (along < blocks->split_length ? along : blocks->split_length);
    blocks->total = count_blocks(blocks);
    blocks->start = pnc_memory_alloc_zeroed(2 * ((int64_t)ndims + 1), sizeof *blocks->start);
    if (blocks->start == NULL)
        return NC_ENOMEM;
    blocks->count = blocks->start + ndims + 1;
    return NC_NOERR;
}

/* Lengths of a block: units, cut along the slowest dimensions until they fit, or as many as fit. */
static void choose_box(int ndims, const int64_t *shape, const int64_t *unit, int64_t most, int64_t *box)
{
    int64_t n = 1;

    for (int d = ndims - 1; d >= 0; d--) {
        box[d] = unit[d] < shape[d] ? unit[d] : shape[d];
        box[d] = box[d] < most / n ? box[d] : most / n;
        box[d] = box[d] > 0 ? box[d] : 1;
        n *= box[d];
    }
    for (int d = ndims - 1; d >= 0; d--) {
        int64_t times = most / n;

        n /= box[d];
        if (times >= shape[d] / box[d] + (shape[d] % box[d] > 0))
            box[d] = shape[d] > 0 ? shape[d] : 1;
        else
            box[d] *= times;
        n *= box[d];
    }
    assert(n <= most);
}

int tool_blocks_init_chunked(int ndims, const int64_t *shape, const int64_t *unit, int64_t most, tool_blocks *blocks)
{
    *blocks = (tool_blocks){.ndims = ndims, .shape = shape, .number = -1, .total = 1, .largest = 1};
    blocks->start = pnc_memory_alloc_zeroed(4 * ((int64_t)ndims + 1), sizeof *blocks->start);
    if (blocks->start == NULL)
        return NC_ENOMEM;
    blocks->count = blocks->start + ndims + 1;
    blocks->box = blocks->count + ndims + 1;
    blocks->boxes = blocks->box + ndims + 1;
    choose_box(ndims, shape, unit, most, blocks->box);
    for (int d = 0; d < ndims; d++) {
        blocks->boxes[d] = shape[d] / blocks->box[d] + (shape[d] % blocks->box[d] > 0);
        blocks->largest *= blocks->box[d];
        if (blocks->boxes[d] == 0 || blocks->total == 0)
            blocks->total = 0;
        else if (pnc_size_multiply(blocks->total, blocks->boxes[d], &blocks->total) != 0)
            blocks->total = INT64_MAX;
    }
    return NC_NOERR;
}

static void seek_box(tool_blocks *blocks, int64_t number)
{
    int64_t inner = 1;

    blocks->length = 1;
    for (int d = blocks->ndims - 1; d >= 0; d--) {
        int64_t begin = number % blocks->boxes[d] * blocks->box[d], left = blocks->shape[d] - begin;

        number /= blocks->boxes[d];
        blocks->start[d] = begin;
        blocks->count[d] = left < blocks->box[d] ? left : blocks->box[d];
        blocks->length *= blocks->count[d];
        blocks->first += begin * inner;
        inner *= blocks->shape[d];
    }
}

void tool_blocks_truncate(tool_blocks *blocks, int64_t elements)
{
    int64_t row, number, length = blocks->ndims > 0 ? blocks->shape[blocks->split] : 1;

    assert(blocks->box == NULL);
    if (elements <= 0 || blocks->total == 0) {
        blocks->total = 0;
        return;
    }
    row = (elements - 1) / blocks->whole; /* index of the last element in the dimensions up to the split one */
    number = row / length * blocks->parts + row % length / blocks->split_length;
    if (number < blocks->total)
        blocks->total = number + 1;
}

bool tool_blocks_next(tool_blocks *blocks)
{
    return tool_blocks_seek(blocks, blocks->number + 1);
}

bool tool_blocks_seek(tool_blocks *blocks, int64_t number)
{
    int64_t outer, begin, left, split = blocks->split;

    blocks->number = number < blocks->total ? number : blocks->total;
    blocks->first = blocks->length = 0;
    for (int i = 0; i <= blocks->ndims; i++)
        blocks->start[i] = blocks->count[i] = 0;
    if (number >= blocks->total)
        return false;
    if (blocks->box != NULL) {
        seek_box(blocks, number);
        return true;
    }
    outer = number / blocks->parts;
    begin = number % blocks->parts * blocks->split_length;
    left = blocks->ndims > 0 ? blocks->shape[split] - begin : 1;
    blocks->first = blocks->ndims > 0 ? (outer * blocks->shape[split] + begin) * blocks->whole : 0;
    blocks->start[split] = begin;
    blocks->count[split] = left < blocks->split_length ? left : blocks->split_length;
    blocks->length = blocks->count[split] * blocks->whole;
    for (int64_t i = split + 1; i < blocks->ndims; i++)
        blocks->count[i] = blocks->shape[i];
    for (int64_t i = split - 1; i >= 0; i--) {
        blocks->start[i] = outer % blocks->shape[i];
        blocks->count[i] = 1;
        outer /= blocks->shape[i];
    }
    return true;
}

void tool_blocks_free(tool_blocks *blocks)
{
    pnc_memory_free(blocks->start);
    blocks->start = blocks->count = NULL;
}
