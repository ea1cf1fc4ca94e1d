/* Attributes with conversion between memory and external types. */
#ifndef PNC_DATASET_ATTRIBUTE_H
#define PNC_DATASET_ATTRIBUTE_H

#include "dataset/dataset.h"

/* mem is the type of the values at op or ip. */
int pnc_dataset_attribute_put(pnc_dataset *ds, int varid, const char *name, nc_type xtype, int64_t len, const void *op,
                              pnc_mem_type mem);
int pnc_dataset_attribute_get(pnc_dataset *ds, int varid, const char *name, void *ip, pnc_mem_type mem);
/* Between two datasets, or inside one. */
int pnc_dataset_attribute_copy(pnc_dataset *from, int varid_in, const char *name, pnc_dataset *to, int varid_out);

#endif
