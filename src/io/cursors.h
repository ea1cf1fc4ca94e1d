/* Two cursors over a list of requests: extents of the file, and values in memory. Both walk the elements in the same
 * order. */
#ifndef PNC_IO_CURSORS_H
#define PNC_IO_CURSORS_H

#include "io/request.h"

/* Extents of the file, ordered by request, by hyperslab, and by element. */
typedef struct pnc_extent_cursor {
    pnc_io_context *io;
    pnc_request **list;
    int64_t n, at, slab;
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

/* External bytes of the values in memory. A value out of range sets the status of its request. */
typedef struct pnc_value_cursor {
    pnc_io_context *io;
    pnc_request **list;
    int64_t n, at;
    pnc_packer packer; /* of the current request */
    int64_t left;      /* elements of the current request not yet converted */
    bool open;
} pnc_value_cursor;

void pnc_io_value_cursor_init(pnc_value_cursor *cursor, pnc_io_context *io, pnc_request **list, int64_t n);
void pnc_io_value_cursor_free(pnc_value_cursor *cursor);
/* Pack memory into the next bytes of the stream (put), or unpack them into memory (get). `bytes` must be a whole number
 * of elements. */
int pnc_io_value_cursor_convert(pnc_value_cursor *cursor, char *stream, int64_t bytes);

/* Bytes of all requests in the file. */
int64_t pnc_io_requests_count_bytes(const pnc_io_context *io, pnc_request *const *list, int64_t n);

#endif
