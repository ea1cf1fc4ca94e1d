/* A cursor over the extents of a list of requests. */
#ifndef PNC_IO_CURSORS_H
#define PNC_IO_CURSORS_H

#include "io/request_extents.h"

/* Extents of the file, ordered by request, by hyperslab, and by element. */
typedef struct pnc_extent_cursor {
    pnc_io_context *io;
    pnc_request **list;
    int64_t n, at, slab;     /* slab: or extent of the current request */
    int64_t within;          /* bytes of it that were taken */
    pnc_locator locator;     /* of a request with extents */
    pnc_selection selection; /* of the current hyperslab */
    pnc_selection_cursor cursor;
    pnc_run_cursor runs; /* of the current request, if it has a filetype */
    pnc_memory_run run;  /* the rest of the current run */
    bool open;
} pnc_extent_cursor;

void pnc_io_extent_cursor_init(pnc_extent_cursor *cursor, pnc_io_context *io, pnc_request **list, int64_t n);
void pnc_io_extent_cursor_free(pnc_extent_cursor *cursor);
/* Return the next extents, at most max_extents of them and max_bytes (>= 8) in total. *taken is their number, 0 at
 * the end; *bytes is their total length. */
int pnc_io_extent_cursor_take(pnc_extent_cursor *cursor, int64_t max_bytes, pnc_extent *out, int64_t max_extents,
                              int64_t *taken, int64_t *bytes);

#endif
