/* The nodes of a memory map; known to its builders and to its cursor only. Nodes are shared and never change once
 * built, so that every simplification makes a new one. */
#ifndef PNC_SELECT_MEMNODE_H
#define PNC_SELECT_MEMNODE_H

#include "select/memmap.h"

typedef enum pnc_memkind { PNC_MEM_RUNS, PNC_MEM_VECTOR, PNC_MEM_SEQUENCE } pnc_memkind;

struct pnc_memmap {
    pnc_memkind kind;
    int elem_size;
    int height;       /* levels below and including this one */
    int64_t refs;
    int64_t elements;
    int64_t reach;    /* no element lies further from the user's pointer, in bytes */
    int64_t offset;   /* bytes, added to all that lies below */
    int64_t n;        /* runs, copies or children */
    int64_t stride;   /* vector: bytes from copy to copy */
    pnc_memmap *child;         /* vector */
    pnc_memmap **children;     /* sequence */
    pnc_memrun *runs;          /* runs: &single or an array of its own */
    pnc_memrun single;
};

static inline bool pnc_memnode_is_run(const pnc_memmap *node)
{
    return node->kind == PNC_MEM_RUNS && node->n == 1;
}

#endif
