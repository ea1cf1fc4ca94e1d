/* The groups of an HDF5 file and their datasets, read before they are described. Every function is called while the
 * library has begun. */
#ifndef PNC_NETCDF4_METADATA_TREE_H
#define PNC_NETCDF4_METADATA_TREE_H

#include "formats/netcdf4/metadata_hdf5.h"

typedef struct pnc_tree_dataset {
    char *path;
    int64_t group;
    int ndims;
    int64_t extent[PNC_STORAGE_DIMS_MOST];
    bool is_unlimited[PNC_STORAGE_DIMS_MOST];
    bool is_scale, has_variable;
    bool is_soft;  /* a soft link leads to it */
    bool is_alias; /* another link leads to it, which is that of the dataset */
    hobj_ref_t reference;
    int64_t own_id; /* _Netcdf4Dimid; -1: none */
    int64_t dim;    /* the dimension whose scale it is; -1: none */
    int64_t dimids[PNC_STORAGE_DIMS_MOST];
} pnc_tree_dataset;

typedef struct pnc_tree_group {
    char *path; /* "" for the root group */
    hobj_ref_t reference;
    int64_t first, n;               /* its datasets */
    int64_t children, children_end; /* groups */
} pnc_tree_group;

typedef struct pnc_tree_dim {
    char name[NC_MAX_NAME + 1];
    int64_t group, length;
    bool is_unlimited;
    hobj_ref_t reference; /* of the scale; 0: none */
} pnc_tree_dim;

/* A group comes before its children, as in the text of ncdump. */
typedef struct pnc_tree {
    pnc_netcdf4_metadata *m;
    pnc_error *error;
    pnc_netcdf4_scope scope;
    hid_t access;           /* properties by which links to other files are not followed */
    pnc_tree_group *groups; /* the first one is the root group */
    int64_t ngroups, groups_capacity;
    pnc_tree_dataset *datasets; /* those of a group are one behind the other, and in front of those of its children */
    int64_t n, capacity;
    pnc_tree_dim *dims;
    int64_t ndims, dims_capacity;
} pnc_tree;

/* Read groups and datasets. What is in a group that several links lead to has one path. Left out: what has a path that
 * is longer than NC_MAX_NAME, and soft links to groups, to dimensions, to other files and to nothing. */
int pnc_netcdf4_tree_read(pnc_tree *t);
void pnc_netcdf4_tree_free(pnc_tree *t);
/* NC_ENOMEM */
int pnc_netcdf4_tree_fail(pnc_tree *t);
/* Another entry of an array, which may move; NULL without memory. */
void *pnc_netcdf4_tree_reserve(void **at, int64_t n, int64_t *capacity, size_t size);
/* The name of the variable of a dataset; capacity NC_MAX_NAME + 1. */
void pnc_netcdf4_tree_copy(const char *path, char *name);

/* metadata_dims.c: the dimensions, and those of each dataset. */
int pnc_netcdf4_tree_resolve(pnc_tree *t);

#endif
