/* Gets of single values at equal distances, as of every second element: data sieving without a list of extents. */
#ifndef PNC_IO_STRIDED_H
#define PNC_IO_STRIDED_H

#include "io/request.h"

/* Execute the request if it is such a get; *done says whether it was. */
int pnc_io_strided_execute(pnc_io_context *io, pnc_request *request, bool *done);

#endif
