/* A list of requests as two streams that run side by side: places in the file, and values in memory. */
#ifndef PNC_DATASET_STREAM_H
#define PNC_DATASET_STREAM_H

#include "dataset/request.h"

/* The file's side: extents in the order of the requests, of their parts, and of the elements in each. */
typedef struct pnc_places {
    pnc_dataset *ds;
    pnc_request **list;
    int64_t n, at, slab;
    pnc_selection selection; /* of the current part */
    pnc_selection_cursor cursor;
    pnc_run_cursor runs;     /* of a request with a place, which is one part here */
    pnc_memory_run run;      /* what is left of the current one */
    bool open;
} pnc_places;

void pnc_places_start(pnc_places *places, pnc_dataset *ds, pnc_request **list, int64_t n);
void pnc_places_end(pnc_places *places);
/* Take the next extents, at most max_extents and max_bytes (which is at least 8). Returns NC_NOERR and their number and
 * bytes, 0 at the end. */
int pnc_places_take(pnc_places *places, int64_t max_bytes, pnc_extent *out, int64_t max_extents, int64_t *taken,
                    int64_t *bytes);

/* The memory's side: external bytes. Values out of range set the status of their request. */
typedef struct pnc_values {
    pnc_dataset *ds;
    pnc_request **list;
    int64_t n, at;
    pnc_packer packer; /* of the current request */
    int64_t left;      /* elements of it */
    bool open;
} pnc_values;

void pnc_values_start(pnc_values *values, pnc_dataset *ds, pnc_request **list, int64_t n);
void pnc_values_end(pnc_values *values);
/* Make the next bytes of the stream from memory, or give the next bytes of it to memory. bytes ends with an element. */
int pnc_values_put(pnc_values *values, char *stream, int64_t bytes);
int pnc_values_get(pnc_values *values, const char *stream, int64_t bytes);

/* Bytes that the requests move in the file. */
int64_t pnc_stream_bytes(const pnc_dataset *ds, pnc_request *const *list, int64_t n);

#endif
