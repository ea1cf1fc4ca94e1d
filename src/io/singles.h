/* A list of single requests, each one extent of file and memory, in the order of the file. They need no sources,
 * streams, or windows: lists that are posted in this order are used as they are, others are sorted. */
#ifndef PNC_IO_SINGLES_H
#define PNC_IO_SINGLES_H

#include "io/request_extents.h"

typedef struct pnc_single {
    int64_t first; /* file offset */
    pnc_request *request;
} pnc_single;

typedef struct pnc_singles {
    pnc_request **list;
    int64_t n;         /* 0: the list is empty, or has other requests, or extents that overlap */
    pnc_single *at;    /* sorted; NULL: the list is in the order of the file */
    int64_t low, high; /* range of the file */
} pnc_singles;

/* Make the order of a list that has one. NC_ENOMEM */
int pnc_io_singles_init(pnc_singles *singles, pnc_io_context *io, const pnc_request_list *list);
void pnc_io_singles_free(pnc_singles *singles);

/* Number i in the order of the file. */
static inline pnc_single pnc_io_singles_get(const pnc_singles *s, pnc_io_context *io, pnc_locator *locator, int64_t i)
{
    pnc_request *r;

    if (s->at != NULL)
        return s->at[i];
    r = s->list[i];
    pnc_io_locator_load(locator, io, r->varid);
    return (pnc_single){pnc_io_offset_locate(locator, r->extents->offset), r};
}

/* Load number i into the cache. Requests in random order are at random addresses: without this, each of them costs
 * cache misses. Three lines have the request, its extent, and the first values of a put. */
static inline void pnc_io_single_load(const pnc_singles *s, int64_t i)
{
    if (s->at == NULL || i >= s->n)
        return;
    __builtin_prefetch(s->at[i].request);
    __builtin_prefetch((const char *)s->at[i].request + 64);
    __builtin_prefetch((const char *)s->at[i].request + 128);
}

#endif
