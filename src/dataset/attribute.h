/* Attributes with conversion between memory and external types. */
#ifndef PNC_DATASET_ATTRIBUTE_H
#define PNC_DATASET_ATTRIBUTE_H

#include "dataset/dataset.h"

/* An attribute as the caller passes it. */
typedef struct pnc_new_att {
    const char *name;
    nc_type xtype;
    int64_t len;
    const void *values;
    pnc_mem_type mem; /* type of the values */
} pnc_new_att;

int pnc_dataset_attribute_put(pnc_dataset *ds, int varid, const pnc_new_att *att);
/* mem is the type of the values at ip. */
int pnc_dataset_attribute_get(pnc_dataset *ds, int varid, const char *name, void *ip, pnc_mem_type mem);

/* Between two datasets, or inside one. */
typedef struct pnc_att_copy {
    pnc_dataset *from;
    int varid_in;
    const char *name;
    pnc_dataset *to;
    int varid_out;
} pnc_att_copy;
int pnc_dataset_attribute_copy(const pnc_att_copy *copy);

#endif
