/* Where the elements of a request lie in the user's memory, in the order in which they go to the file.
 *
 * A tree of loops over elements of one size: imap and MPI datatypes (decoded one level higher, where MPI is known)
 * both become one. Offsets are bytes relative to the user's pointer and may be negative. */
#ifndef PNC_SELECT_MEMMAP_H
#define PNC_SELECT_MEMMAP_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"

typedef struct pnc_memmap pnc_memmap;

/* Builders. Each returns NULL when memory runs out or a distance exceeds 64 bits, and takes ownership of its children
 * also then (a NULL child gives NULL). They simplify as they go: a vector whose stride is its child's extent of a
 * contiguous child is one block. A negative count counts as 0. */
pnc_memmap *pnc_memmap_block(int64_t count, int elem_size);                         /* contiguous elements */
pnc_memmap *pnc_memmap_vector(pnc_memmap *child, int64_t count, int64_t stride);    /* bytes from copy to copy */
pnc_memmap *pnc_memmap_shift(pnc_memmap *child, int64_t offset);                    /* child moved by bytes */
pnc_memmap *pnc_memmap_sequence(pnc_memmap **children, int64_t n);         /* one after the other; array not kept */
/* ndims counts with distances in elements between neighbours along each dimension (imap of varm; NULL = C order). */
pnc_memmap *pnc_memmap_imap(int ndims, const int64_t *count, const int64_t *imap, int elem_size);
/* The elements of `inner` in another order: `order` walks through them as if they lay side by side from offset 0, and
 * must not lead beyond them (imap over an MPI datatype). */
pnc_memmap *pnc_memmap_pick(pnc_memmap *order, pnc_memmap *inner);
void pnc_memmap_free(pnc_memmap *map);
/* A deep copy costs too much for a queue of requests: share instead. The counter is not atomic: callers hold a lock. */
pnc_memmap *pnc_memmap_share(pnc_memmap *map);

int64_t pnc_memmap_elements(const pnc_memmap *map);
int pnc_memmap_elem_size(const pnc_memmap *map);
/* True where all elements lie side by side; *offset is where they begin. */
bool pnc_memmap_contiguous(const pnc_memmap *map, int64_t *offset);

/* A run of elements at equal distances. */
typedef struct pnc_memrun { int64_t offset, stride, count; } pnc_memrun; /* bytes, bytes, elements */

typedef struct pnc_memcursor {
    const pnc_memmap *map;
    struct pnc_memlevel *stack; /* one level per loop of the tree */
    int depth;
    int64_t done;               /* elements already taken */
    pnc_memrun left;            /* what is left of the current run */
} pnc_memcursor;

int pnc_memcursor_start(pnc_memcursor *cursor, const pnc_memmap *map);
void pnc_memcursor_end(pnc_memcursor *cursor);
/* The next run of at most max (> 0) elements; false at the end. */
bool pnc_memcursor_next(pnc_memcursor *cursor, int64_t max, pnc_memrun *run);

#endif
