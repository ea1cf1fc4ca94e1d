/* Single values at equal distances, such as every second element: data sieving without a list of extents, for gets, and
 * for puts of a rank that is the only one to write to its range. */
#ifndef PNC_IO_STRIDED_H
#define PNC_IO_STRIDED_H

#include "io/request/request.h"

/* Execute the request if it is such an access; *done says whether it was. */
int pnc_io_strided_execute(pnc_io_context *io, pnc_request *request, bool *done);

#endif
