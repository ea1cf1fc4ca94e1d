/* Carrying out requests. */
#ifndef PNC_IO_TRANSFER_H
#define PNC_IO_TRANSFER_H

#include "io/request.h"

/* Move all requests of a list, which go the same way; where they overlap the last one wins. Collective where
 * `collective` is set (a rank without requests, or with a wrong argument, passes n = 0), and then carries the ranks'
 * agreement on errors of I/O and on the number of records. NC_ERANGE is left in the status of each request. */
int pnc_io_requests_transfer(pnc_dataset *ds, pnc_direction way, bool collective, pnc_request **list, int64_t n);

#endif
