/* What changes when the definitions of an HDF5 file become those of a model. Every function is called while the library
 * has begun. */
#ifndef PNC_NETCDF4_METADATA_DEFINE_H
#define PNC_NETCDF4_METADATA_DEFINE_H

#include "formats/netcdf4/metadata_scales.h"

/* The scale of a dimension is the dataset of its name: that of its coordinate variable, which has the same name and
 * this dimension first, or one without a variable. */
typedef struct pnc_define_dim {
    hobj_ref_t old, now; /* the scale; old is 0: none */
    int old_var, var;    /* the coordinate variable; -1: none */
    int id;              /* _Netcdf4Dimid; -1: not in the file */
    const char *doomed;  /* link of an old scale that a coordinate variable replaces; NULL: none */
    bool is_changed;     /* datasets that have it must refer to another scale */
    bool is_used_anew;   /* more or fewer datasets have it */
} pnc_define_dim;

typedef struct pnc_define_var {
    const char *old_path, *path;
    hobj_ref_t reference;
    bool detaches, attaches; /* loses its references to scales; gets new ones */
} pnc_define_var;

typedef struct pnc_definition {
    pnc_netcdf4_metadata *m;
    pnc_error *error;
    const pnc_model *before, *now; /* before: without entries for a new file */
    pnc_model moved;               /* `before` with the paths that groups have now, if some have others */
    pnc_region *region;
    bool is_new; /* the file has no definitions */
    int old_dims, old_vars;
    pnc_define_dim *dims; /* as many as now */
    pnc_define_var *vars;
} pnc_definition;

/* A text in the region; NULL after an error, which is set. */
const char *pnc_netcdf4_definition_format(pnc_definition *x, const char *format, ...) PNC_PRINTF(2, 3);

/* metadata_groups.c: give groups their new names, in the file and in `before`; create new groups; give all groups, and
 * the root group, their attributes. */
bool pnc_netcdf4_groups_move_is_needed(const pnc_definition *x);
int pnc_netcdf4_groups_move(pnc_definition *x);
int pnc_netcdf4_groups_create(pnc_definition *x);
int pnc_netcdf4_groups_update(pnc_definition *x);

/* Move the datasets of variables and scales to their new paths. The order of variables stays that of their links'
 * creation. */
int pnc_netcdf4_definition_move(pnc_definition *x);

/* Make datasets and scales refer to each other, as the flags of dimensions and variables say. */
int pnc_netcdf4_definition_attach(pnc_definition *x);

#endif
