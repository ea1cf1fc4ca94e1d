/* A flattened datatype: the positions of a request's elements in the user's memory, in the order of the file.
 *
 * A tree of loops over elements of one size, made from an imap or from an MPI datatype (in src/mpitype, because this
 * room does not use MPI). Offsets are bytes relative to the user's pointer and may be negative. */
#ifndef PNC_SELECT_FLAT_TYPE_H
#define PNC_SELECT_FLAT_TYPE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"

typedef struct pnc_flat_type pnc_flat_type;

/* Builders. They return NULL if allocation fails or a distance exceeds 64 bits. They take ownership of their
 * children even then; a NULL child gives NULL. They simplify: a vector of a contiguous child whose stride is the
 * extent of the child becomes one block. A negative count counts as 0. */
/* Contiguous elements. */
pnc_flat_type *pnc_select_flat_create_block(int64_t count, int elem_size);
/* stride: bytes from copy to copy. */
pnc_flat_type *pnc_select_flat_create_vector(pnc_flat_type *child, int64_t count, int64_t stride);
/* The child, displaced by `offset` bytes. */
pnc_flat_type *pnc_select_flat_create_shifted(pnc_flat_type *child, int64_t offset);
/* Children in sequence; the array remains the caller's. */
pnc_flat_type *pnc_select_flat_create_sequence(pnc_flat_type **children, int64_t n);
/* ndims counts with distances in elements between neighbours along each dimension (imap of varm; NULL = C order). */
pnc_flat_type *pnc_select_flat_create_imap(int ndims, const int64_t *count, const int64_t *imap, int elem_size);
/* The elements of `inner` in another order: `order` indexes them as if they were contiguous from offset 0. It must
 * not exceed their number (imap over an MPI datatype). */
pnc_flat_type *pnc_select_flat_create_pick(pnc_flat_type *order, pnc_flat_type *inner);
void pnc_select_flat_free(pnc_flat_type *flat);
/* Add a reference: a deep copy costs too much for a queue of requests. The counter is not atomic: callers hold a
 * lock. */
pnc_flat_type *pnc_select_flat_share(pnc_flat_type *flat);

int64_t pnc_select_flat_count_elements(const pnc_flat_type *flat);
int pnc_select_flat_get_element_size(const pnc_flat_type *flat);
/* True if the elements are contiguous; *offset is the offset of the first one. */
bool pnc_select_flat_is_contiguous(const pnc_flat_type *flat, int64_t *offset);

/* Make an index for pnc_select_run_cursor_seek; of 8 bytes for each run. NC_ENOMEM: there is none. */
int pnc_select_index_make(pnc_flat_type *flat);

/* A run: elements at equal distances. */
typedef struct pnc_memory_run {
    int64_t offset, stride, count;
} pnc_memory_run; /* bytes, bytes, elements */

typedef struct pnc_run_cursor {
    const pnc_flat_type *flat;
    struct pnc_run_level *stack; /* one level per loop of the tree */
    int depth;
    int64_t done;        /* elements already returned */
    pnc_memory_run left; /* rest of the current run */
} pnc_run_cursor;

int pnc_select_run_cursor_init(pnc_run_cursor *cursor, const pnc_flat_type *flat);
void pnc_select_run_cursor_free(pnc_run_cursor *cursor);
/* Continue at element number `element`, from 0 to the number of elements: a search, with an index in a time that is
 * logarithmic. */
void pnc_select_run_cursor_seek(pnc_run_cursor *cursor, int64_t element);
/* The next run of at most max (> 0) elements; false at the end. */
bool pnc_select_run_cursor_next(pnc_run_cursor *cursor, int64_t max, pnc_memory_run *run);
/* Take at most `most` runs that follow the one just returned and are like it, each *distance bytes beyond the one
 * before. Returns their number; 0 if there are none, or if that one was not returned as a whole (`count` elements). */
int64_t pnc_select_run_cursor_take_alike(pnc_run_cursor *cursor, int64_t count, int64_t most, int64_t *distance);

#endif
