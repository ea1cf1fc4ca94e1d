/* Files in which statistics are written. Their paths come from the environment, and may name a file with data. */
#ifndef PNC_DATASET_REPORT_FILE_H
#define PNC_DATASET_REPORT_FILE_H

#include <stdio.h>

#include "dataset/dataset.h"

/* Open the file for an empty report; `what` names the report in the warning that NULL comes with. Only reports and
 * empty files are replaced, and never the dataset itself, by whatever name. Local. */
FILE *pnc_dataset_report_file_open(const pnc_dataset *ds, const char *what, const char *path);
/* Warn that the report is not complete, and why; or errno has the reason. */
void pnc_dataset_report_file_explain(const pnc_dataset *ds, const char *what, const char *path, const char *why);
void pnc_dataset_report_file_warn(const pnc_dataset *ds, const char *what, const char *path);

#endif
