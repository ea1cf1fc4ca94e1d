/* Puts whose values wait in a log (hint nc_burst_buf, netCDF-4 files): from requests to records of the log of this
 * rank, and back. file/value_log.h has the logs. Local. */
#ifndef PNC_IO_LOGGED_H
#define PNC_IO_LOGGED_H

#include "file/value_log.h"
#include "io/request/request.h"

/* Bytes of the log for the puts of a call, with the end of the call. */
int64_t pnc_io_logged_count(const pnc_io_context *io, const pnc_request_list *list);
/* Append the values of the requests, as the file will have them before filters. list->out_of_range is set as by
 * execution. Returns errno or 0. */
int pnc_io_logged_append(pnc_io_context *io, pnc_request_list *list);

/* Requests of one call that was logged, as many as there is memory for. */
enum { PNC_LOGGED_MOST = 4096 };
typedef struct pnc_logged_batch {
    int64_t at;   /* position in the log behind those of the batch */
    int64_t call; /* INT64_MAX: there are none */
    int64_t n;
    pnc_request requests[PNC_LOGGED_MOST];
    pnc_request *pointers[PNC_LOGGED_MOST];
} pnc_logged_batch;

/* Make the requests of the next values at batch->at. Returns errno or 0. */
int pnc_io_logged_batch_load(const pnc_io_context *io, pnc_logged_batch *batch);
/* As a list. */
pnc_request_list pnc_io_logged_batch_get(pnc_logged_batch *batch);

#endif
