/* Execution of requests. */
#ifndef PNC_IO_TRANSFER_H
#define PNC_IO_TRANSFER_H

#include "io/request.h"

/* Execute a list of requests, all puts or all gets. Where requests overlap, the last one wins. If `collective`,
 * every rank makes the call (with n = 0 if it has no requests or an error in its arguments), and the ranks agree on
 * I/O errors and on the number of records. NC_ERANGE is set in the status of each request only. */
int pnc_io_requests_transfer(pnc_dataset *ds, pnc_direction way, bool collective, pnc_request **list, int64_t n);

#endif
