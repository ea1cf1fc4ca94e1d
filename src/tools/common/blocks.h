/* Walk through an array in blocks of a bounded number of elements: as many whole rows, planes ... as fit, or parts of a
 * row; or as many chunks as fit. */
#ifndef PNC_TOOLS_COMMON_BLOCKS_H
#define PNC_TOOLS_COMMON_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

enum { TOOL_BLOCK_ELEMENTS = 1 << 19 }; /* 4 MiB of doubles; larger blocks do not make reading faster */
enum { TOOL_BLOCK_STRINGS = 256 };      /* each string may be long */
/* Of blocks of chunks, as a chunk of netCDF-C has 4 or 16 MiB: it should be in one block. */
enum { TOOL_CHUNKED_BLOCK_ELEMENTS = 1 << 21 };

typedef struct tool_blocks {
    int ndims;
    const int64_t *shape;   /* the caller's */
    int64_t *start, *count; /* of the block; one number also where ndims is 0 */
    int64_t first;          /* number of the block's first element in the array */
    int64_t length;         /* elements in the block */
    int64_t largest;        /* elements in the largest block */
    int64_t number, total;  /* of the block; of blocks, 0 where a dimension has length 0 */
    int split;              /* the dimension that blocks cut; those after it are whole */
    int64_t whole;          /* elements for one index of it */
    int64_t split_length;   /* at most so many of its indices at once */
    int64_t parts;          /* so many blocks along it */
    /* of blocks of chunks, else NULL: lengths of a block, and how many are along each dimension */
    int64_t *box, *boxes;
} tool_blocks;

/* NC_NOERR or NC_ENOMEM; may be freed in any case. */
int tool_blocks_init(int ndims, const int64_t *shape, tool_blocks *blocks);
/* The same in blocks of at most so many elements. */
int tool_blocks_init_bounded(int ndims, const int64_t *shape, int64_t most, tool_blocks *blocks);
/* The same in blocks of whole units: of chunks with these lengths. Blocks of chunks that are too large are parts of
 * them. most: elements of a block. Such blocks cannot be truncated. */
int tool_blocks_init_chunked(int ndims, const int64_t *shape, const int64_t *unit, int64_t most, tool_blocks *blocks);
/* Only the blocks with the first `elements` elements of the array: what follows is beyond the end of a file. */
void tool_blocks_truncate(tool_blocks *blocks, int64_t elements);
/* Go to the first or next block; false if there is none. An array with a dimension of length 0 has none. */
bool tool_blocks_next(tool_blocks *blocks);
/* Go to any block. false, and an empty block, if there is none of this number. */
bool tool_blocks_seek(tool_blocks *blocks, int64_t number);
void tool_blocks_free(tool_blocks *blocks);

#endif
