/* Lines on stderr that are no errors of a call. */
#ifndef PNC_DATASET_MESSAGE_H
#define PNC_DATASET_MESSAGE_H

#include "base/error.h"
#include "dataset/dataset.h"

/* "PnetCDF warning: <file>: <text>". The text has the names of the program's language; control characters become '?'.
 */
void pnc_dataset_warning_print(const pnc_dataset *ds, const char *format, ...) PNC_PRINTF(2, 3);
/* "PnetCDF: <call>: <file>: <text>", likewise, on rank 0 and if PNETCDF_VERBOSE is on. */
void pnc_dataset_message_print(const pnc_file *file, const char *format, ...) PNC_PRINTF(2, 3);

#endif
