/* Agreement between the ranks that share a file. All functions are collective. */
#ifndef PNC_FILE_AGREE_H
#define PNC_FILE_AGREE_H

#include "file/file.h"

/* Returns NC_NOERR if all ranks pass NC_NOERR; otherwise this rank's error or, if it has none, the most negative one of
 * the others. */
int pnc_file_status_agree(pnc_file *file, int status);
/* Return rank 0's status, and set its message, on all ranks. */
int pnc_file_status_broadcast(pnc_file *file, int status);
/* Replace each value by the largest one of all ranks. `what` names the values in messages. */
int pnc_file_maxima_agree(pnc_file *file, int64_t *values, int n, const char *what);
/* Replace each value by the sum over the ranks. */
int pnc_file_sums_agree(pnc_file *file, int64_t *values, int n, const char *what);
/* Copy rank 0's bytes to all ranks. */
int pnc_file_bytes_broadcast(pnc_file *file, void *bytes, int64_t size, const char *what);

#endif
