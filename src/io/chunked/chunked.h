/* Collective access to variables in chunks, each of which has one aggregator (drivers/chunks). */
#ifndef PNC_IO_CHUNKED_H
#define PNC_IO_CHUNKED_H

#include "io/order/file_order.h"

/* Whether the request is one of such a variable: it needs all ranks. */
bool pnc_io_chunked_is_request(const pnc_io_context *io, const pnc_request *r);

/* Collective. Execute the requests, all of such variables; a rank may have none. At most `bytes` of memory for values.
 * Returns this rank's own error, on which the caller agrees. */
int pnc_io_chunked_execute(pnc_io_context *io, const pnc_request_list *list, int64_t bytes);

#endif
