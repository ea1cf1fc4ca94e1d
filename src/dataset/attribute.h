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
    pnc_mem_type mem;    /* type of the values */
    pnc_strings strings; /* without lengths: none; otherwise the values are their text, of type NC_CHAR */
} pnc_new_att;

/* Collective. NC_ERANGE if values are out of range; the attribute is stored with fill values in their place. */
int pnc_dataset_attribute_put(pnc_dataset *ds, int varid, const pnc_new_att *att);
/* Local. mem is the type of the values at ip. */
int pnc_dataset_attribute_get(pnc_dataset *ds, int varid, const char *name, pnc_mem_type mem, void *ip);
/* Local. Find the attributes of varid or NC_GLOBAL, and the index of attribute `name` among them. NC_ENOTVAR
 * NC_EBADNAME NC_ENOTATT */
int pnc_dataset_attribute_find(pnc_dataset *ds, int varid, const char *name, pnc_atts **atts, int *index);

/* Between two datasets, or inside one. */
typedef struct pnc_att_copy {
    pnc_dataset *from;
    int varid_in;
    const char *name;
    pnc_dataset *to;
    int varid_out;
} pnc_att_copy;
/* Collective over the communicator of `to`. */
int pnc_dataset_attribute_copy(const pnc_att_copy *copy);

#endif
