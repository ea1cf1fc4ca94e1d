/* Posting nonblocking requests. */
#ifndef PNC_IO_POST_H
#define PNC_IO_POST_H

#include "io/request/call.h"
#include "io/context.h"

/* iput, iget and bput: check the arguments, add a request to the queue, and set *call->reqid, if it is not NULL, to its
 * id. A request without elements completes at once, without an id. NC_ERANGE of a put is returned here, though its
 * request is pending. */
int pnc_io_call_post(pnc_io_context *io, const pnc_call *call);

#endif
