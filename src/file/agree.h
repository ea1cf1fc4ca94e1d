/* Agreement between the ranks that share a file. All functions are collective, except the first two.
 *
 * An MPI call that fails on this rank may have succeeded on the others, which continue by its result. So does this
 * rank, as they would wait for it. Its error becomes its status in the next agreement and, after the last one, the
 * result of the call. */
#ifndef PNC_FILE_AGREE_H
#define PNC_FILE_AGREE_H

#include "file/file.h"

/* Keep the error of a step that has failed: "CALL of WHAT failed". */
void pnc_file_step_check(pnc_file *file, int code, const char *call, const char *what);
/* The status or, if it is NC_NOERR, the error of a collective step that no agreement has had. */
int pnc_file_late_take(pnc_file *file, int status);
/* Returns NC_NOERR if all ranks pass NC_NOERR; otherwise this rank's error or, if it has none, the most negative one of
 * the others. */
int pnc_file_status_agree(pnc_file *file, int status);
/* Return rank 0's status, and set its message, on all ranks. */
int pnc_file_status_broadcast(pnc_file *file, int status);
/* Replace each value by the largest one of all ranks. `what` names the values in messages. */
void pnc_file_maxima_agree(pnc_file *file, int64_t *values, int n, const char *what);
/* Replace each value by the sum over the ranks. */
void pnc_file_sums_agree(pnc_file *file, int64_t *values, int n, const char *what);
/* Copy rank 0's bytes to all ranks. */
void pnc_file_bytes_broadcast(pnc_file *file, void *bytes, int64_t size, const char *what);

#endif
