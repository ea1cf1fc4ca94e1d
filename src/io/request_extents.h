/* Requests as lists of extents: of hyperslabs that are contiguous in the file. */
#ifndef PNC_IO_REQUEST_EXTENTS_H
#define PNC_IO_REQUEST_EXTENTS_H

#include "io/request.h"

/* Try to make extents of the call's hyperslabs, in the memory of r->numbers. False if a hyperslab is not contiguous or
 * not valid, or if the call has strides or an imap: nothing has changed then, except the contents of that memory. */
bool pnc_io_request_make_extents(const pnc_io_context *io, const pnc_call *call, pnc_request *r);

/* From offsets in a variable to offsets in the file. The records of a variable are contiguous in the former. */
typedef struct pnc_locator {
    int varid;            /* -1: none */
    int64_t begin;        /* of the variable */
    int64_t record, step; /* bytes of one of its records; from record to record in the file */
    int64_t low, high;    /* offsets in the current record, or in a fixed-size variable */
    int64_t shift;        /* what is added to them */
} pnc_locator;

void pnc_io_locator_init(pnc_locator *locator, const pnc_io_context *io, int varid);
void pnc_io_locator_seek(pnc_locator *locator, int64_t offset);

/* Set the variable, unless it is set. */
static inline void pnc_io_locator_load(pnc_locator *locator, const pnc_io_context *io, int varid)
{
    if (locator->varid != varid)
        pnc_io_locator_init(locator, io, varid);
}

static inline int64_t pnc_io_offset_locate(pnc_locator *locator, int64_t offset)
{
    if (offset < locator->low || offset >= locator->high)
        pnc_io_locator_seek(locator, offset);
    return offset + locator->shift;
}

#endif
