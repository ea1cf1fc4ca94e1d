/* The sources of a list of requests, sorted by the file offsets at which they begin, in bounded memory.
 *
 * A stretch has the sources that begin in a range of the file. Of long lists each stretch takes a scan of all requests,
 * which is faster than to sort all sources at once: the stretch fits in a cache. */
#ifndef PNC_IO_SORTED_SOURCES_H
#define PNC_IO_SORTED_SOURCES_H

#include "io/order/sources.h"

typedef struct pnc_source_stretch {
    int64_t low, high; /* the sources begin in [low, high) */
    int64_t n;
    int shift;           /* of offsets in keys */
    pnc_source *sources; /* in the order of posting */
    uint64_t *keys; /* offset - low and index, in the order of the file, and of posting where the offset is equal */
    int users;      /* orders at this stretch, and the stretch before */
    struct pnc_source_stretch *next; /* NULL: not made yet, or none */
} pnc_source_stretch;

static inline int64_t pnc_io_source_stretch_get_first(const pnc_source_stretch *stretch, int64_t i)
{
    return stretch->low + (int64_t)(stretch->keys[i] >> stretch->shift);
}

static inline pnc_source *pnc_io_source_stretch_get(const pnc_source_stretch *stretch, int64_t i)
{
    return &stretch->sources[stretch->keys[i] & ((UINT64_C(1) << stretch->shift) - 1)];
}

typedef struct pnc_source_sorter pnc_source_sorter;

/* A sorter of the sources of a list, which the finder has found with these totals, and its first stretch, which the
 * caller releases. NC_ENOMEM */
int pnc_io_source_sorter_create(pnc_io_context *io, const pnc_request_list *list, const pnc_source_totals *totals,
                                pnc_source_sorter **sorter, pnc_source_stretch **first);
/* sorter may be NULL */
void pnc_io_source_sorter_free(pnc_source_sorter *sorter);

/* From a stretch to the next one; NULL after the last. */
int pnc_io_source_stretch_move(pnc_source_sorter *sorter, pnc_source_stretch **stretch);
/* stretch may be NULL */
void pnc_io_source_stretch_release(pnc_source_stretch *stretch);

#endif
