/* The chunks of a variable of a netCDF-4 file. */
#ifndef PNC_REFERENCES_CHUNKS_H
#define PNC_REFERENCES_CHUNKS_H

#include "formats/reader.h"

typedef struct pnc_references_chunk {
    const int64_t *index;  /* of its first element */
    pnc_chunk_place place; /* in the file */
    int64_t bytes;         /* uncompressed */
} pnc_references_chunk;

/* Chunks that a chunked variable of this shape has, written or not; INT64_MAX if there are more. */
int64_t pnc_references_chunks_count(const pnc_stored *storage, int ndims);

/* Uncompressed. */
int64_t pnc_references_chunk_bytes_count(const pnc_stored *storage, const pnc_var *var);

/* Visit the chunks of a chunked variable that were written, in row-major order, until a visit returns an error.
 * NC_EINVAL: there are too many; codes of the reader have a message in its error. */
int pnc_references_chunks_scan(pnc_reader *reader, const pnc_model *model, int varid,
                               int (*visit)(void *with, const pnc_references_chunk *chunk), void *with);

#endif
