/* The sources of a list of requests, sorted by the file offsets at which they begin, in bounded memory.
 *
 * A window has the sources that begin in a range of the file. Of long lists each window takes a scan of all requests,
 * which is faster than to sort all sources at once: the window fits in a cache. */
#ifndef PNC_IO_SORTED_SOURCES_H
#define PNC_IO_SORTED_SOURCES_H

#include "io/order/sources.h"

typedef struct pnc_source_window {
    int64_t low, high; /* the sources begin in [low, high) */
    int64_t n;
    int shift;           /* of offsets in keys */
    pnc_source *sources; /* in the order of posting */
    uint64_t *keys; /* offset - low and index, in the order of the file, and of posting where the offset is equal */
    int users;      /* orders at this window, and the window before */
    struct pnc_source_window *next; /* NULL: not made yet, or none */
} pnc_source_window;

static inline int64_t pnc_io_source_window_get_first(const pnc_source_window *window, int64_t i)
{
    return window->low + (int64_t)(window->keys[i] >> window->shift);
}

static inline pnc_source *pnc_io_source_window_get(const pnc_source_window *window, int64_t i)
{
    return &window->sources[window->keys[i] & ((UINT64_C(1) << window->shift) - 1)];
}

typedef struct pnc_source_sorter pnc_source_sorter;

/* A sorter of the sources of a list, which the finder has found with these totals, and its first window, which the
 * caller releases. NC_ENOMEM */
int pnc_io_source_sorter_create(pnc_io_context *io, const pnc_request_list *list, const pnc_source_totals *totals,
                                pnc_source_sorter **sorter, pnc_source_window **first);
/* sorter may be NULL */
void pnc_io_source_sorter_free(pnc_source_sorter *sorter);

/* From a window to the next one; NULL after the last. */
int pnc_io_source_window_move(pnc_source_sorter *sorter, pnc_source_window **window);
/* window may be NULL */
void pnc_io_source_window_release(pnc_source_window *window);

#endif
