/* The requests of a wait or cancel call. */
#ifndef PNC_IO_BATCH_H
#define PNC_IO_BATCH_H

#include "io/request/request.h"

/* The arguments of the call. */
typedef struct pnc_request_ids {
    int count;     /* or NC_REQ_ALL, NC_PUT_REQ_ALL, NC_GET_REQ_ALL */
    int *ids;      /* those of executed requests become NC_REQ_NULL */
    int *statuses; /* may be NULL */
} pnc_request_ids;

/* The requests are removed from the queue, each kind is in the order of posting. */
typedef struct pnc_batch {
    pnc_request **memory; /* of both lists */
    pnc_request_list puts, gets;
    pnc_request_list unplaced; /* puts that are not executed: their statuses say why */
    bool any_puts, any_gets;   /* of any rank in a collective call, otherwise of this one */
} pnc_batch;

/* Returns an error if an id is not pending (NC_EINVAL_REQUEST), but the other requests are still taken; free the batch
 * in any case. */
int pnc_io_batch_init(pnc_batch *batch, pnc_io_context *io, bool collective, const pnc_request_ids *named);
void pnc_io_batch_free(pnc_batch *batch, pnc_io_context *io);
/* Of puts that were posted before the variables had their addresses: those that exceed them are taken from `puts`.
 * Returns the error of the first one: NC_EINVALCOORDS NC_EEDGE, or NC_ENOMEM. */
int pnc_io_batch_check_places(pnc_batch *batch, pnc_io_context *io);

/* Collective: set any_puts and any_gets. A direction without requests on all ranks needs no collective call.
 * err: of pnc_io_batch_init on this rank; the ranks that have the same one are counted. NC_EMULTICALL if other ranks
 * are in other calls. */
int pnc_io_batch_agree(pnc_batch *batch, pnc_io_context *io, int err);
/* The call has no effect: its requests are pending again, and the statuses are the error. */
void pnc_io_batch_return(pnc_batch *batch, pnc_io_context *io, const pnc_request_ids *named, int err);

/* Set the status of each request that the call names, and its id to NC_REQ_NULL; the errors are those of executing all
 * puts and all gets. */
void pnc_io_batch_report(const pnc_batch *batch, const pnc_request_ids *named, int put_err, int get_err);

#endif
