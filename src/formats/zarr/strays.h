/* Objects of a store that belong to nothing: what a program has left that died. Of this folder only. */
#ifndef PNC_ZARR_STRAYS_H
#define PNC_ZARR_STRAYS_H

#include "drivers/objects.h"
#include "formats/zarr/document.h"

/* Local. Call `each` for the objects with temporary names, the chunks outside of the shapes, and the shards that are
 * shorter than their index; and for folders that only have such objects, behind these. What this library does not know
 * is left out. */
int pnc_zarr_strays_find(const pnc_objects *objects, const pnc_zarr_store *store, void *own,
                         int (*each)(void *own, const char *key, bool is_folder, const char *why, pnc_error *error),
                         pnc_error *error);

#endif
