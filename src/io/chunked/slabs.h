/* The elements of a request as hyperslabs of its variable, in the order of their values. */
#ifndef PNC_IO_SLABS_H
#define PNC_IO_SLABS_H

#include "array/walk.h"
#include "io/request/request.h"

/* A cursor over them. It must not be moved. */
typedef struct pnc_slab_cursor {
    const pnc_request *request;
    pnc_mapping mapping;
    int64_t at;       /* of the next hyperslab, extent, or element of the filetype */
    int64_t value;    /* number of the next value */
    pnc_extent range; /* in elements: the rest of an extent */
    int64_t start[PNC_ARRAY_DIMS], count[PNC_ARRAY_DIMS]; /* of the current hyperslab, in a range */
    bool has_runs;
    pnc_run_cursor runs; /* of a filetype */
    pnc_memory_run run;  /* the rest of the current one */
} pnc_slab_cursor;

/* NC_ENOMEM. After a failure, too, the cursor must be freed. */
int pnc_io_slab_cursor_init(pnc_slab_cursor *cursor, const pnc_io_context *io, const pnc_request *request);
void pnc_io_slab_cursor_free(pnc_slab_cursor *cursor);
/* false: there is none left. The numbers of *slab are valid until the next call. */
bool pnc_io_slab_cursor_next(pnc_slab_cursor *cursor, pnc_array_slab *slab);

#endif
