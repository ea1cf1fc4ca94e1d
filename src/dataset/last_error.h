/* Messages of calls that failed. */
#ifndef PNC_DATASET_LAST_ERROR_H
#define PNC_DATASET_LAST_ERROR_H

#include <stdatomic.h>

#include "dataset/dataset.h"

/* At the end of a call: if it failed, keep its message for ncmpi_inq_last_error, and print it if PNETCDF_VERBOSE is on.
 * Returns err, or the error of a collective step that was part of no agreement. */
int pnc_dataset_call_end(pnc_dataset *ds, int err);
static inline int pnc_dataset_error_report(pnc_dataset *ds, int err)
{
    if (err == NC_NOERR && ds->file.late == NC_NOERR && ds->file.statistics == NULL)
        return NC_NOERR;
    return pnc_dataset_call_end(ds, err);
}
/* The same for a call without a dataset; `call` is the name of the public function. path and error may be NULL. */
int pnc_dataset_error_report_call(const char *call, const char *path, int err, const pnc_error *error);
/* At the end of a successful call with a remark in ds->error: keep it, with the code NC_NOERR, for ncmpi_inq_last_error
 * until a call fails; rank 0 prints it if PNETCDF_VERBOSE is on, or always. */
void pnc_dataset_remark_report(pnc_dataset *ds, bool always);
/* At the beginning of a call: a failure of an earlier one no longer explains a code. Without effect while no thread has
 * a recent failure. */
extern atomic_int pnc_dataset_failed_threads;
static inline bool pnc_dataset_failure_is_recent(void)
{
    return atomic_load_explicit(&pnc_dataset_failed_threads, memory_order_relaxed) != 0;
}
void pnc_dataset_failure_clear(void);
static inline void pnc_dataset_call_begin(void)
{
    if (pnc_dataset_failure_is_recent())
        pnc_dataset_failure_clear();
}
/* The text of a code, which programs compare: the same in all languages. If the most recent call of this thread has
 * failed with it, that and the sentence of the failure, in the terms of the program's language and as it has room for
 * them. Valid until the program ends. */
const char *pnc_dataset_error_explain(int code, pnc_language language);
/* The last failure on a dataset; of this thread if ncid is negative. NC_EBADID. */
int pnc_dataset_error_get_last(int ncid, const pnc_failure **out);

#endif
