/* Access to variables in chunks, each of which has one aggregator (drivers/chunks). */
#ifndef PNC_IO_CHUNKED_H
#define PNC_IO_CHUNKED_H

#include "io/request/request.h"

/* Whether a variable is one of these. */
bool pnc_io_chunked_has_var(const pnc_io_context *io, int varid);
/* The same of the variable of a request. In a collective call it needs all ranks. */
bool pnc_io_chunked_is_request(const pnc_io_context *io, const pnc_request *r);

/* Whether the variables of puts can be written, some of which are such ones: NC_ENOTSUPPORT NC_EFILTER. */
int pnc_io_chunked_puts_check(const pnc_io_context *io, const pnc_request_list *list);
/* Execute the requests, all of such variables. list->collective: with all ranks, of which some may have none; puts in
 * rounds of about `bytes` of values, at most a chunk more. Returns this rank's error, on which the caller agrees. */
int pnc_io_chunked_execute(pnc_io_context *io, const pnc_request_list *list, int64_t bytes);

#endif
