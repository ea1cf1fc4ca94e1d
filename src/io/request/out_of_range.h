/* The message about values that do not fit the type that they are converted to. */
#ifndef PNC_IO_OUT_OF_RANGE_H
#define PNC_IO_OUT_OF_RANGE_H

#include "io/request/request.h"

/* Set the error NC_ERANGE of a request: how many values do not fit, the first one and its index. The values of a put
 * must still be in the memory of the program; those of a get are read once more. Returns NC_ERANGE. Local. */
int pnc_io_out_of_range_report(pnc_io_context *io, const pnc_request *r);
/* The same for the first such request of a list, if it has one; else NC_NOERR. */
int pnc_io_requests_report_status(pnc_io_context *io, const pnc_request_list *list);

#endif
