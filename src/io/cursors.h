/* A list of requests as two cursors side by side: extents of the file, and values in memory. */
#ifndef PNC_IO_CURSORS_H
#define PNC_IO_CURSORS_H

#include "io/request.h"

/* The file's side: extents in the order of the requests, of their hyperslabs, and of the elements in each. */
typedef struct pnc_extent_cursor {
    pnc_dataset *ds;
    pnc_request **list;
    int64_t n, at, slab;
    pnc_selection selection; /* of the current hyperslab */
    pnc_selection_cursor cursor;
    pnc_run_cursor runs;     /* of a request with a filetype, which is one here */
    pnc_memory_run run;      /* what is left of the current one */
    bool open;
} pnc_extent_cursor;

void pnc_io_extent_cursor_init(pnc_extent_cursor *cursor, pnc_dataset *ds, pnc_request **list, int64_t n);
void pnc_io_extent_cursor_free(pnc_extent_cursor *cursor);
/* Take the next extents, at most max_extents and max_bytes (which is at least 8). Returns NC_NOERR and their number and
 * bytes, 0 at the end. */
int pnc_io_extent_cursor_take(pnc_extent_cursor *cursor, int64_t max_bytes, pnc_extent *out, int64_t max_extents,
                              int64_t *taken, int64_t *bytes);

/* The memory's side: external bytes. Values out of range set the status of their request. */
typedef struct pnc_value_cursor {
    pnc_dataset *ds;
    pnc_request **list;
    int64_t n, at;
    pnc_packer packer; /* of the current request */
    int64_t left;      /* elements of it */
    bool open;
} pnc_value_cursor;

void pnc_io_value_cursor_init(pnc_value_cursor *cursor, pnc_dataset *ds, pnc_request **list, int64_t n);
void pnc_io_value_cursor_free(pnc_value_cursor *cursor);
/* Make the next bytes of the stream from memory, or give the next bytes of it to memory. bytes ends with an element. */
int pnc_io_value_cursor_pack(pnc_value_cursor *cursor, char *stream, int64_t bytes);
int pnc_io_value_cursor_unpack(pnc_value_cursor *cursor, const char *stream, int64_t bytes);

/* Bytes that the requests move in the file. */
int64_t pnc_io_requests_count_bytes(const pnc_dataset *ds, pnc_request *const *list, int64_t n);

#endif
