/* The memory of a request: buffer, MPI datatype and imap as runs of memory. */
#ifndef PNC_IO_REQUEST_MEMORY_H
#define PNC_IO_REQUEST_MEMORY_H

#include "io/request/request.h"

/* Text is only accessed as text: NC_ECHAR. */
int pnc_io_conversion_check(pnc_io_context *io, const pnc_var *var, pnc_mem_type mem);
/* Set the memory of a request from buffer, datatype and imap (NC_ECHAR, NC_EIOMISMATCH ..). r->elements must be set,
 * and with imap also the numbers. */
int pnc_io_request_set_memory(pnc_io_context *io, const pnc_call *call, pnc_request *r);

#endif
