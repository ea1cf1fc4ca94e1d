/* Execution of requests. */
#ifndef PNC_IO_TRANSFER_H
#define PNC_IO_TRANSFER_H

#include "file/behind.h"
#include "io/request/request.h"

/* Execute the requests of a list. Where requests overlap, the last one wins. In a collective call every rank calls this
 * function (with an empty list if it has no requests or an error in its arguments), and an I/O error of one rank is
 * returned on all. NC_ERANGE is set in the status of each request, and in the list, only. *numrecs is the length of the
 * first unlimited dimension, at least, after a put, also one that has failed, or 0 if it is not known; in a collective
 * call it is the same on all ranks. */
int pnc_io_requests_transfer(pnc_io_context *io, pnc_request_list *list, int64_t *numrecs);

/* The range that the requests access; empty: none. Without those of variables in chunks, if with_chunks is not set: it
 * is one of the file then. Each chunk has one rank, which sees what it has put. Local. */
pnc_behind_range pnc_io_list_find_range(pnc_io_context *io, const pnc_request_list *list, bool with_chunks);

#endif
