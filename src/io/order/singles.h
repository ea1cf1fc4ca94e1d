/* A list of single requests, each one extent of file and memory, in the order of the file. They need no sources,
 * streams, or stretches: lists that are posted in this order are used as they are, others are sorted. */
#ifndef PNC_IO_SINGLES_H
#define PNC_IO_SINGLES_H

#include "base/memory.h"
#include "io/request/request.h"

/* Requests in random order are at random addresses, and each access to one costs cache misses: what accesses need is
 * copied here. */
typedef struct pnc_sorted_single {
    int64_t first;          /* file offset; the key by which they are sorted */
    char *memory;           /* the values */
    uint32_t index, length; /* in the list; bytes */
} pnc_sorted_single;

typedef struct pnc_singles {
    pnc_request **list;
    int64_t n;             /* 0: the list is empty, or has other requests, or extents that overlap */
    pnc_sorted_single *at; /* NULL: the list is in the order of the file */
    bool are_alike;        /* sorted ones differ in their extents and memory only */
    int64_t low, high;     /* range of the file */
} pnc_singles;

typedef struct pnc_single {
    int64_t first, length; /* file offset, bytes */
    int64_t index;         /* in the list */
    char *memory;          /* the values */
} pnc_single;

/* Make the order of a list that has one. NC_ENOMEM */
int pnc_io_singles_init(pnc_singles *singles, pnc_io_context *io, const pnc_request_list *list);
void pnc_io_singles_free(pnc_singles *singles, pnc_io_context *io);

/* Number i in the order of the file. */
static inline pnc_single pnc_io_singles_get(const pnc_singles *s, pnc_io_context *io, pnc_target *target, int64_t i)
{
    const pnc_extent *e;
    pnc_request *r;

    if (s->at != NULL)
        return (pnc_single){s->at[i].first, s->at[i].length, s->at[i].index, s->at[i].memory};
    r = s->list[i];
    e = r->elements.extents;
    pnc_io_target_load(target, io, r->elements.varid);
    return (pnc_single){pnc_mapping_offset_locate(&target->locator, e->offset), e->length, i, r->memory};
}

/* Load what the access to number i needs into the cache: its values, and its request if it is read. */
static inline void pnc_io_single_load(const pnc_singles *s, int64_t i)
{
    const pnc_sorted_single *sorted;

    if (i >= s->n)
        return;
    if (s->at == NULL) {
        pnc_io_request_prefetch(s->list[i]);
        return;
    }
    sorted = &s->at[i];
    pnc_memory_prefetch(sorted->memory, sorted->length);
    if (!s->are_alike)
        pnc_io_request_prefetch(s->list[sorted->index]);
}

#endif
