/* The checks at the start of a call: mode and permission. Each returns NC_NOERR, or sets ds->error and
 * returns its code. */
#ifndef PNC_DATASET_MODES_H
#define PNC_DATASET_MODES_H

#include "dataset/dataset.h"

int pnc_dataset_mode_check_write(pnc_dataset *ds);        /* NC_EPERM */
int pnc_dataset_mode_check_define_write(pnc_dataset *ds); /* NC_EPERM NC_ENOTINDEFINE */
int pnc_dataset_mode_check_define(pnc_dataset *ds);       /* NC_ENOTINDEFINE, also for a file that is read-only */
int pnc_dataset_mode_check_data(pnc_dataset *ds);         /* NC_EINDEFINE */
int pnc_dataset_mode_check_collective(pnc_dataset *ds);   /* NC_EINDEFINE NC_EINDEP */
int pnc_dataset_mode_check_independent(pnc_dataset *ds);  /* NC_EINDEFINE NC_ENOTINDEP */
/* Whether a variable may get another fill value: it is new. netCDF allows it for each of a classic file. */
bool pnc_dataset_mode_allows_fill(const pnc_dataset *ds, int varid);

#endif
