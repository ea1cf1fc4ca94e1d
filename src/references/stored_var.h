/* A variable of a file with a reader, whose references are being written. */
#ifndef PNC_REFERENCES_STORED_VAR_H
#define PNC_REFERENCES_STORED_VAR_H

#include "references/references.h"
#include "references/zarr.h"

typedef struct pnc_references_var {
    const pnc_references *all;
    pnc_filter_worker *worker; /* that encodes chunks */
    pnc_reader *reader;
    FILE *out;
    int varid;
    const pnc_var *var;
    const pnc_stored *storage;
    int64_t before;                      /* chunks of files before it along the first dimension */
    int64_t written;                     /* chunks that have a reference */
    pnc_filter filters[PNC_FILTER_MOST]; /* of the variable, none of which may be left out */
} pnc_references_var;

/* The values of a chunk with all filters, which the worker keeps until its next chunk. */
int pnc_references_chunk_encode(pnc_references_var *r, const void *values, int64_t bytes, const void **stored,
                                int64_t *n);
/* Before the reference of the chunk that begins at this index: its key, and the colon. */
void pnc_references_chunk_begin(const pnc_references_var *r, const int64_t *index);

/* gaps.c: chunks that were never written. Readers of Zarr find the fill value there, and xarray takes that for missing
 * values wherever it is: only a declared _FillValue, or none for values of zero bits, serves. Others are within the
 * references. *left: chunks of other values would be too many bytes, and the array needs a fill value.
 * NC_ENOTSUPPORT: they would be, and the array has another one. */
int pnc_references_gaps_write(pnc_references_var *r, bool *left);
/* The same of a variable in one part, which was never written and is divided so. */
int pnc_references_gap_parts_write(pnc_references_var *r, const pnc_zarr_chunks *chunks, bool *left);

#endif
