/* Direct access: each request accesses its own extents of the file. */
#ifndef PNC_IO_DIRECT_H
#define PNC_IO_DIRECT_H

#include "io/request/request.h"

/* Execute n requests in portions that fit the cache. Local. */
int pnc_io_direct_execute(pnc_io_context *io, pnc_request **requests, int64_t n);

#endif
