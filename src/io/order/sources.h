/* Splits requests into sources: consecutive extents or hyperslabs of a request (or elements of its filetype) that
 * ascend in the file. */
#ifndef PNC_IO_SOURCES_H
#define PNC_IO_SOURCES_H

#include "io/request/request.h"

typedef struct pnc_source {
    int64_t first;          /* file offset of the first byte */
    int64_t end;            /* file offset after the last byte */
    int64_t position;       /* bytes that the values of the request before it have in the file */
    int64_t slab, slab_end; /* extents, hyperslabs, or elements of the filetype */
    int64_t request;        /* index in the list: where puts overlap, the later request wins */
} pnc_source;

/* What the sources of a list have in common. */
typedef struct pnc_source_totals {
    int64_t n;
    int64_t low, high; /* range of the file; equal: there is no source */
    pnc_source first;
    bool ascend; /* each source begins after the end of the one before it */
    int64_t least_run;
} pnc_source_totals;

/* A position in a list of requests. */
typedef struct pnc_source_position {
    int64_t request, slab, position;
    int64_t singles; /* the extents or hyperslabs before this one are sources, not parts of runs */
} pnc_source_position;

typedef struct pnc_source_finder {
    pnc_io_context *io;
    const pnc_request_list *list;
    pnc_source_position at, end;
    int64_t least_run; /* shorter runs of extents or hyperslabs are not sources, but each of their members is one;
                        * 0: not known yet */
    int64_t low, high; /* only sources that begin here are found */
    pnc_target target;
} pnc_source_finder;

void pnc_io_source_finder_init(pnc_source_finder *finder, pnc_io_context *io, const pnc_request_list *list);
/* Back to the beginning, to find all sources. */
void pnc_io_source_finder_start(pnc_source_finder *finder);
/* Find the next source in the order of posting; *found is false at the end. NC_ENOMEM */
int pnc_io_source_find_next(pnc_source_finder *finder, pnc_source *out, bool *found);
/* Find all sources; then the finder is behind the first one. NC_ENOMEM */
int pnc_io_sources_count(pnc_source_finder *finder, pnc_source_totals *totals);

#endif
