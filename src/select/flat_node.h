/* The nodes of a flattened datatype; known to its builders and to its cursor only. Nodes are shared and change only
 * while one holder has them; a simplification of a shared one makes a new one. `ends` tell nothing that is new. */
#ifndef PNC_SELECT_FLAT_NODE_H
#define PNC_SELECT_FLAT_NODE_H

#include "select/flat_type.h"

typedef enum pnc_flat_kind { PNC_FLAT_RUNS, PNC_FLAT_VECTOR, PNC_FLAT_SEQUENCE, PNC_FLAT_PICK } pnc_flat_kind;

struct pnc_flat_type {
    pnc_flat_kind kind;
    int elem_size;
    int height;       /* levels below and including this one */
    int64_t refs;
    int64_t elements;
    int64_t reach;    /* no element lies further from the user's pointer, in bytes */
    int64_t offset;   /* bytes, added to all that lies below */
    int64_t n;        /* runs, copies or children */
    int64_t stride;   /* vector: bytes from copy to copy */
    pnc_flat_type *child;      /* vector; pick: the order */
    pnc_flat_type *inner;      /* pick: what is picked from */
    int64_t *ends;             /* below a pick, of several runs or children: elements up to the end of each */
    pnc_flat_type **children;  /* sequence */
    pnc_memory_run *runs;      /* runs: &single or an array of its own */
    pnc_memory_run single;
};

/* flat_pick.c: the run that element number `at` of a flattened datatype below a pick is in, from that element on. */
pnc_memory_run pnc_select_flat_locate_run(const pnc_flat_type *node, int64_t at);

static inline bool pnc_select_flat_is_run(const pnc_flat_type *node)
{
    return node->kind == PNC_FLAT_RUNS && node->n == 1;
}

#endif
