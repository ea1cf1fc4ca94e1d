/* A folder as a container of objects. A key is a path in the folder: no component is "." or "..", and no symbolic link
 * is followed, so that whatever a dataset says, nothing outside is read or written. */
#ifndef PNC_FOLDER_FOLDER_H
#define PNC_FOLDER_FOLDER_H

#include "drivers/objects.h"
#include "drivers/store.h"

extern const pnc_store_ops pnc_store_folder;

typedef struct pnc_folder {
    pnc_objects objects; /* root: if the folder is no dataset, PNC_FOLDER_ROOT */
    int fd;              /* -1: not open */
    bool in_memory;      /* nothing is flushed: there is no disk */
} pnc_folder;

/* The object by which a folder is a dataset of Zarr v3, as new ones are. Of v2: pnc_folder_root_find. */
#define PNC_FOLDER_ROOT "zarr.json"

/* The object by which an open folder is a dataset of Zarr; NULL: it is none. */
const char *pnc_folder_root_find(int fd);

/* The path is the caller's. */
int pnc_folder_root_open(pnc_folder *folder, const char *path, pnc_error *error);
void pnc_folder_root_close(pnc_folder *folder);

/* Open the folder of a key; "": that of the dataset, whose descriptor is not to be closed. Returns 0, or an errno. */
int pnc_folder_key_open(const pnc_folder *folder, const char *key, int *fd);

/* Operations of the container. Names are all but "." and "..". */
int pnc_folder_key_list(const pnc_objects *objects, const char *key, void *own, pnc_objects_visit *each,
                        pnc_error *error);
int pnc_folder_object_delete(const pnc_objects *objects, const char *key, pnc_error *error);

/* Delete what is in the folder, of which the root comes last. */
int pnc_folder_content_delete(const pnc_folder *folder, pnc_error *error);

#endif
