/* The nodes of a flattened datatype, private to its builders and its cursor. A node may be shared; it is changed
 * only while it has a single reference, else a simplification makes a new node. `ends` is a cache of derived values
 * and is exempt. */
#ifndef PNC_SELECT_FLAT_NODE_H
#define PNC_SELECT_FLAT_NODE_H

#include "select/flat_type.h"

typedef enum pnc_flat_kind { PNC_FLAT_RUNS, PNC_FLAT_VECTOR, PNC_FLAT_SEQUENCE, PNC_FLAT_PICK } pnc_flat_kind;

struct pnc_flat_type {
    pnc_flat_kind kind;
    int elem_size;
    int height; /* levels below and including this one */
    int64_t refs;
    int64_t elements;
    int64_t reach;            /* maximum distance in bytes of an element from the user's pointer */
    int64_t offset;           /* bytes, added to all offsets below this node */
    int64_t n;                /* runs, copies or children */
    int64_t stride;           /* vector: bytes from copy to copy */
    pnc_flat_type *child;     /* vector: what is repeated; pick: the order */
    pnc_flat_type *inner;     /* pick: the elements */
    int64_t *ends;            /* of several runs or children: elements up to the end of each; NULL: no index */
    pnc_flat_type **children; /* sequence */
    pnc_memory_run *runs;     /* runs: &single or an owned array */
    pnc_memory_run single;
};

/* flat_pick.c: the index of the run, copy or child that holds element *at of the node; *at becomes relative to it. */
int64_t pnc_select_flat_find_part(const pnc_flat_type *node, int64_t *at);
/* flat_pick.c: the rest of the run that holds element number `at`, for a flattened datatype below a pick. */
pnc_memory_run pnc_select_flat_locate_run(const pnc_flat_type *node, int64_t at);

static inline bool pnc_select_flat_is_run(const pnc_flat_type *node)
{
    return node->kind == PNC_FLAT_RUNS && node->n == 1;
}

#endif
