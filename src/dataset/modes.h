/* What a call needs before it may begin: a mode, a permission, an object that exists. Each returns NC_NOERR, or the
 * code with a sentence in ds->error. */
#ifndef PNC_DATASET_MODES_H
#define PNC_DATASET_MODES_H

#include "dataset/dataset.h"

int pnc_mode_need_write(pnc_dataset *ds);       /* NC_EPERM */
int pnc_mode_need_define(pnc_dataset *ds);      /* NC_EPERM NC_ENOTINDEFINE */
int pnc_mode_need_defining(pnc_dataset *ds);    /* NC_ENOTINDEFINE, also for a file that is read-only */
int pnc_mode_need_data(pnc_dataset *ds);        /* NC_EINDEFINE */
int pnc_mode_need_collective(pnc_dataset *ds);  /* NC_EINDEFINE NC_EINDEP */
int pnc_mode_need_independent(pnc_dataset *ds); /* NC_EINDEFINE NC_ENOTINDEP */

int pnc_mode_no_var(pnc_dataset *ds, int varid);   /* NC_ENOTVAR always: varid is not one of them */
int pnc_mode_need_dim(pnc_dataset *ds, int dimid); /* NC_EBADDIM */
int pnc_mode_need_var(pnc_dataset *ds, int varid); /* NC_EGLOBAL NC_ENOTVAR */
/* The attributes of varid or NC_GLOBAL, and the number of the one called name: NC_ENOTVAR NC_EBADNAME NC_ENOTATT */
int pnc_mode_need_att(pnc_dataset *ds, int varid, const char *name, pnc_atts **atts, int *index);

#endif
