/* A folder as a container of objects: bytes by key. A key is a path in the folder, such as "tas/c.0.0": no component is
 * "." or "..", and no symbolic link is followed, so that whatever a dataset says, nothing outside is read or written.
 *
 * An object that is put is the old one or the new one at any time, also after a death. All functions are local, and
 * return NC_NOERR, or a code with a message in *error. */
#ifndef PNC_FOLDER_FOLDER_H
#define PNC_FOLDER_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "drivers/store.h"

extern const pnc_store_ops pnc_store_folder;

typedef struct pnc_folder {
    const char *path; /* as the user gave it, for messages; the caller's */
    int fd;           /* of the folder; -1: not open */
    const char *root; /* the object by which it is a dataset; if it is none, PNC_FOLDER_ROOT */
    bool in_memory;   /* nothing is flushed: there is no disk */
} pnc_folder;

/* A number for temporary names, not negative, that no other call on any node returns. */
int64_t pnc_folder_id_create(void);

#define PNC_FOLDER_KEY_MOST 4096 /* bytes of a key, with its end: PATH_MAX of Linux */

/* The object by which a folder is a dataset of Zarr v3, as new ones are. Of v2: pnc_folder_root_find. */
#define PNC_FOLDER_ROOT "zarr.json"

/* The object by which an open folder is a dataset of Zarr; NULL: it is none. */
const char *pnc_folder_root_find(int fd);

/* The folder of a store that pnc_store_folder has opened, or of one that wraps it; NULL: it is another one. */
const pnc_folder *pnc_folder_store_get(const pnc_store *store);

int pnc_folder_root_open(pnc_folder *folder, const char *path, pnc_error *error);
void pnc_folder_root_close(pnc_folder *folder);

/* *size: bytes of the object; -1: there is none. NC_EBAD_FILE if it is no regular file. */
int pnc_folder_object_find(const pnc_folder *folder, const char *key, int64_t *size, pnc_error *error);
/* What differs between an object and one that replaces it, or the same with other bytes. No padding. */
typedef struct pnc_folder_facts {
    int64_t size;           /* -1: there is no object */
    int64_t inode, changed; /* changed: in nanoseconds, as the file system counts that; programs cannot set it */
} pnc_folder_facts;
int pnc_folder_object_inspect(const pnc_folder *folder, const char *key, pnc_folder_facts *out, pnc_error *error);
/* n bytes from `offset`. NC_EREAD if it has fewer. */
int pnc_folder_object_read(const pnc_folder *folder, const char *key, int64_t offset, void *to, int64_t n,
                           pnc_error *error);
/* All of an object, which has at most so many bytes, and a 0 behind them. pnc_memory_free frees *bytes. NC_ENOENT */
int pnc_folder_object_load(const pnc_folder *folder, const char *key, int64_t most, char **bytes, int64_t *n,
                           pnc_error *error);
/* The object has these bytes and no others; folders of its key are made. is_durable: also after the death of the node,
 * before this returns. */
int pnc_folder_object_put(const pnc_folder *folder, const char *key, const void *bytes, int64_t n, bool is_durable,
                          pnc_error *error);
/* The same for an object that only this rank knows, under this key at once: after an error, or a death, it may have a
 * part of the bytes. */
int pnc_folder_object_create(const pnc_folder *folder, const char *key, const void *bytes, int64_t n, bool is_durable,
                             pnc_error *error);
/* Write bytes of an object, which is created if there is none, as are folders: the old bytes, the new ones, or some of
 * each. */
int pnc_folder_object_write(const pnc_folder *folder, const char *key, int64_t offset, const void *bytes, int64_t n,
                            pnc_error *error);
/* What was written survives the death of the node. */
int pnc_folder_object_sync(const pnc_folder *folder, const char *key, pnc_error *error);
/* The same for the entries of a folder. "": those of the folder itself. */
int pnc_folder_key_sync(const pnc_folder *folder, const char *key, pnc_error *error);
/* The object gets another key in the same folder, of which it replaces the object. */
int pnc_folder_object_rename(const pnc_folder *folder, const char *from, const char *to, pnc_error *error);
/* Also if there is none. */
int pnc_folder_object_delete(const pnc_folder *folder, const char *key, pnc_error *error);

/* A folder that has nothing. */
int pnc_folder_key_delete(const pnc_folder *folder, const char *key, pnc_error *error);

/* Open the folder of a key; "": that of the dataset, whose descriptor is not to be closed. Returns 0, or an errno. */
int pnc_folder_key_open(const pnc_folder *folder, const char *key, int *fd);

/* Call `each` for the names in a folder, in no order, but for "." and ".."; it returns NC_NOERR to continue. */
int pnc_folder_key_list(const pnc_folder *folder, const char *key, void *own,
                        int (*each)(void *own, const char *name, bool is_folder, pnc_error *error), pnc_error *error);

/* Delete what is in the folder, of which the root comes last. */
int pnc_folder_content_delete(const pnc_folder *folder, pnc_error *error);

/* Set the error of a system call that has failed. */
int pnc_folder_error_set(pnc_error *error, int number, int otherwise, const char *what, const char *path,
                         const char *key);

#endif
