/* The merged strategy: many small runs of one rank in the order of the file, adjacent ones as one access. */
#ifndef PNC_IO_MERGED_H
#define PNC_IO_MERGED_H

#include "io/order/file_order.h"

/* Execute the requests of this rank. Local. Where requests overlap, the last one wins. */
int pnc_io_merged_execute(pnc_io_context *io, const pnc_request_list *list);
/* The same for requests in order, of which nothing has been taken. */
int pnc_io_merged_execute_order(pnc_io_context *io, pnc_file_order *order);

#endif
