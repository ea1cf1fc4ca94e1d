/* Where the elements of a request lie in the user's memory, in the order in which they go to the file.
 *
 * A tree of loops over elements of one size: imap and MPI datatypes (decoded one level higher, where MPI is known)
 * both become one. Offsets are bytes relative to the user's pointer and may be negative. */
#ifndef PNC_SELECT_FLAT_TYPE_H
#define PNC_SELECT_FLAT_TYPE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"

typedef struct pnc_flat_type pnc_flat_type;

/* Builders. Each returns NULL when memory runs out or a distance exceeds 64 bits, and takes ownership of its children
 * also then (a NULL child gives NULL). They simplify as they go: a vector whose stride is its child's extent of a
 * contiguous child is one block. A negative count counts as 0. */
/* contiguous elements */
pnc_flat_type *pnc_select_flat_create_block(int64_t count, int elem_size);
/* bytes from copy to copy */
pnc_flat_type *pnc_select_flat_create_vector(pnc_flat_type *child, int64_t count, int64_t stride);
/* child moved by bytes */
pnc_flat_type *pnc_select_flat_create_shifted(pnc_flat_type *child, int64_t offset);
/* one after the other; array not kept */
pnc_flat_type *pnc_select_flat_create_sequence(pnc_flat_type **children, int64_t n);
/* ndims counts with distances in elements between neighbours along each dimension (imap of varm; NULL = C order). */
pnc_flat_type *pnc_select_flat_create_imap(int ndims, const int64_t *count, const int64_t *imap, int elem_size);
/* The elements of `inner` in another order: `order` walks through them as if they lay side by side from offset 0, and
 * must not lead beyond them (imap over an MPI datatype). */
pnc_flat_type *pnc_select_flat_create_pick(pnc_flat_type *order, pnc_flat_type *inner);
void pnc_select_flat_free(pnc_flat_type *flat);
/* A deep copy costs too much for a queue of requests: share instead. The counter is not atomic: callers hold a lock. */
pnc_flat_type *pnc_select_flat_share(pnc_flat_type *flat);

int64_t pnc_select_flat_count_elements(const pnc_flat_type *flat);
int pnc_select_flat_get_element_size(const pnc_flat_type *flat);
/* True where all elements lie side by side; *offset is where they begin. */
bool pnc_select_flat_is_contiguous(const pnc_flat_type *flat, int64_t *offset);

/* A run of elements at equal distances. */
typedef struct pnc_memory_run { int64_t offset, stride, count; } pnc_memory_run; /* bytes, bytes, elements */

typedef struct pnc_run_cursor {
    const pnc_flat_type *flat;
    struct pnc_run_level *stack; /* one level per loop of the tree */
    int depth;
    int64_t done;               /* elements already taken */
    pnc_memory_run left;        /* what is left of the current run */
} pnc_run_cursor;

int pnc_select_run_cursor_init(pnc_run_cursor *cursor, const pnc_flat_type *flat);
void pnc_select_run_cursor_free(pnc_run_cursor *cursor);
/* The next run of at most max (> 0) elements; false at the end. */
bool pnc_select_run_cursor_next(pnc_run_cursor *cursor, int64_t max, pnc_memory_run *run);

#endif
