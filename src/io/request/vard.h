/* put_vard and get_vard. */
#ifndef PNC_IO_VARD_H
#define PNC_IO_VARD_H

#include "io/request/request.h"

/* Check the arguments and fill in *r, which is to be freed in any case. A request without elements has nothing to
 * transfer. */
int pnc_io_vard_request_init(pnc_io_context *io, const pnc_vard *vard, pnc_request *r);

#endif
