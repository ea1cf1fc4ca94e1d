/* A netCDF-4 file: where the chunks of its variables are, as text, JSON, a picture, and references. */
#ifndef PNC_TOOLS_NCOFFSETS_CHUNKS_H
#define PNC_TOOLS_NCOFFSETS_CHUNKS_H

#include <stdio.h>

#include "references/chunks.h"
#include "tools/common/file.h"
#include "tools/ncoffsets/options.h"

typedef pnc_references_chunk offsets_chunk;

/* All functions below return NC_NOERR, or a code after an error message. */

/* Visit the chunks of a chunked variable that were written, in row-major order, until a visit returns an error. */
int offsets_chunks_scan(const tool_file *file, int varid, int (*visit)(void *with, const offsets_chunk *chunk),
                        void *with);

typedef struct offsets_chunk_sum {
    int64_t chunks;  /* that the shape has */
    int64_t written; /* that the file has */
    int64_t stored;  /* their bytes in the file */
    int64_t bytes;   /* the same, uncompressed */
} offsets_chunk_sum;

/* Of a variable that is in one part: one chunk, or none. */
int offsets_chunks_add(const tool_file *file, int varid, offsets_chunk_sum *sum);

/* "deflate:4" */
void offsets_filter_format(const pnc_filter *filter, char *text, size_t capacity);

int offsets_chunks_print(const tool_file *file, const options *o);
int offsets_chunks_print_json(const tool_file *file, const options *o);
int offsets_chunks_draw(const tool_file *file, const options *o, FILE *out);
int offsets_chunks_write_page(const tool_file *file, const options *o, FILE *out);

#endif
