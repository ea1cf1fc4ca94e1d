/* A cursor over elements: where they are, as extents of the address space, in the order of their values. */
#ifndef PNC_MAPPING_CURSOR_H
#define PNC_MAPPING_CURSOR_H

#include "mapping/elements.h"

/* It must not be moved. */
typedef struct pnc_elements_cursor {
    const pnc_elements *of;
    pnc_mapping mapping;
    pnc_locator locator;
    int64_t at, end; /* hyperslabs, extents, or elements of the filetype */
    int64_t within;  /* bytes of the current extent that were taken */
    bool is_open;    /* a hyperslab is in progress, or the filetype */
    pnc_selection own;
    pnc_selection_cursor in_slab;
    pnc_run_cursor runs;
    pnc_memory_run run; /* the rest of the current one */
} pnc_elements_cursor;

/* Over those from `first` to before `end`. */
void pnc_mapping_cursor_init(pnc_elements_cursor *cursor, const pnc_mapping *mapping, const pnc_elements *elements,
                             int64_t first, int64_t end);
/* The end of all elements. */
static inline int64_t pnc_mapping_elements_get_end(const pnc_elements *e)
{
    return e->form == PNC_FILETYPE ? e->count : e->n;
}
void pnc_mapping_cursor_free(pnc_elements_cursor *cursor);
/* Take the next extents, at most max_extents of them and max_bytes (>= 8) in total, cut between elements. *n is their
 * number, 0 at the end; *bytes is their total length. NC_ENOMEM */
int pnc_mapping_cursor_take(pnc_elements_cursor *cursor, int64_t max_bytes, pnc_extent *out, int64_t max_extents,
                            int64_t *n, int64_t *bytes);

#endif
