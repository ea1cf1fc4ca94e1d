/* Messages of calls that failed. */
#ifndef PNC_DATASET_LAST_ERROR_H
#define PNC_DATASET_LAST_ERROR_H

#include "dataset/dataset.h"

/* At the end of a call: if it failed, keep its message for ncmpi_inq_last_error, and print it if PNETCDF_VERBOSE is on.
 * Returns err. */
int pnc_dataset_error_report(pnc_dataset *ds, int err);
/* The same for a call without a dataset; `call` is the name of the public function. path and error may be NULL. */
int pnc_dataset_error_report_call(const char *call, const char *path, int err, const pnc_error *error);
/* At the end of a successful call with a remark in ds->error: keep it, with the code NC_NOERR, for ncmpi_inq_last_error
 * until a call fails; rank 0 prints it if PNETCDF_VERBOSE is on, or always. */
void pnc_dataset_remark_report(pnc_dataset *ds, bool always);
/* At the beginning of a call: a failure of an earlier one no longer explains a code. */
void pnc_dataset_call_begin(void);
/* The text of a code and, if the most recent call of this thread has failed with it, the sentence of that failure.
 * Valid until the program ends. */
const char *pnc_dataset_error_explain(int code);
/* The last failure on a dataset; of this thread if ncid is negative. NC_EBADID. */
int pnc_dataset_error_get_last(int ncid, const pnc_failure **out);

#endif
