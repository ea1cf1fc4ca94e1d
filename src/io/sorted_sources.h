/* The sources of a list of requests, sorted by the file offsets at which they begin. */
#ifndef PNC_IO_SORTED_SOURCES_H
#define PNC_IO_SORTED_SOURCES_H

#include "io/sources.h"

typedef struct pnc_source_key {
    int64_t first; /* of the source */
    int64_t index; /* its number */
} pnc_source_key;

typedef struct pnc_sorted_sources {
    int64_t n;
    pnc_source *sources;  /* in the order of posting */
    pnc_source_key *keys; /* in the order of the file, and of posting where the offset is the same */
} pnc_sorted_sources;

/* Take all n sources from the finder, which begin in [low, high). After a failure n is 0; the result must be freed. */
int pnc_io_sorted_sources_init(pnc_sorted_sources *sorted, pnc_source_finder *finder, int64_t n, int64_t low,
                               int64_t high);
void pnc_io_sorted_sources_free(pnc_sorted_sources *sorted);

static inline pnc_source *pnc_io_sorted_sources_get(const pnc_sorted_sources *sorted, int64_t i)
{
    return &sorted->sources[sorted->keys[i].index];
}

#endif
