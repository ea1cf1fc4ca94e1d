/* The attribute _ncmpi of the root group: what Zarr has no place for.
 *
 *     {"version": 1, "dimensions": [["time", 12, true], ["lat", 90], ..], "variables": ["time", "tas", ..],
 *      "groups": ["forecast", ..], "types": {"": {"history": "latin1"}, "tas": {"scale_factor": "float"}, ..},
 *      "attributes": {"station": {"_FillValue": "x"}, ..}, "axes": {"forecast/tas": ["time", "x"], ..}}
 *
 * and "model": "classic" in a store with the classic model of netCDF-4. Dimensions in the order of their ids: name,
 * length, and true for an unlimited one. Variables and groups in the order of theirs.
 * Types of those attributes that would be read as others. Attributes for which xarray would not open the store. The
 * dimensions, with their paths, of variables of groups in which others of the same names are nearer. Each member may be
 * missing. Another program may have changed what it describes: nothing in it is an error. Of this folder only. */
#ifndef PNC_ZARR_ABOUT_H
#define PNC_ZARR_ABOUT_H

#include "formats/zarr/document.h"
#include "formats/zarr/value.h"

typedef struct pnc_zarr_about {
    bool is_classic; /* of the classic model */
    int ndims, nvars, ngroups;
    pnc_zarr_dim *dims;
    const char **vars, **groups;
    void *types, *attributes, *axes; /* values of JSON, or NULL */
} pnc_zarr_about;

/* value: of the attribute, or NULL. NC_ENOMEM */
int pnc_zarr_about_read(const pnc_zarr_context *c, void *value, pnc_zarr_about *out);
/* Of an attribute of the node with this path. */
pnc_zarr_att_type pnc_zarr_about_get_type(const pnc_zarr_context *c, const pnc_zarr_about *about, const char *path,
                                          const char *name);

/* Those of the node with this path that its document does not have, or NULL. */
void *pnc_zarr_about_get_attributes(const pnc_zarr_context *c, const pnc_zarr_about *about, const char *path);

/* What the store had, with nothing in the lists of one that is new or whose model lists groups. */
typedef struct pnc_zarr_previous {
    const pnc_zarr_about *about;
    bool hides_groups; /* the store does not show them, and they stay */
} pnc_zarr_previous;

/* The value for a store. NULL without memory. */
void *pnc_zarr_about_make(const pnc_zarr_context *c, const pnc_zarr_store *store, const pnc_zarr_previous *previous,
                          void *types, void *attributes);

#endif
