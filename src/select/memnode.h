/* The nodes of a memory map; known to its builders and to its cursor only. Nodes are shared and change only
 * while one holder has them; a simplification of a shared one makes a new one. `ends` tell nothing that is new. */
#ifndef PNC_SELECT_MEMNODE_H
#define PNC_SELECT_MEMNODE_H

#include "select/memmap.h"

typedef enum pnc_memkind { PNC_MEM_RUNS, PNC_MEM_VECTOR, PNC_MEM_SEQUENCE, PNC_MEM_PICK } pnc_memkind;

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
    pnc_memmap *child;         /* vector; pick: the order */
    pnc_memmap *inner;         /* pick: what is picked from */
    int64_t *ends;             /* below a pick, of several runs or children: elements up to the end of each */
    pnc_memmap **children;     /* sequence */
    pnc_memrun *runs;          /* runs: &single or an array of its own */
    pnc_memrun single;
};

/* pick.c: the run that element number `at` of a map below a pick is in, from that element on. */
pnc_memrun pnc_memnode_locate(const pnc_memmap *node, int64_t at);

static inline bool pnc_memnode_is_run(const pnc_memmap *node)
{
    return node->kind == PNC_MEM_RUNS && node->n == 1;
}

#endif
