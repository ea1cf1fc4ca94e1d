/* A container of objects: bytes by key, such as "tas/c.0.0". A folder is one (folder/folder.h), and so are references
 * to parts of other files (references/references.h).
 *
 * All functions are local, and return NC_NOERR, or a code with a message in *error. */
#ifndef PNC_DRIVERS_OBJECTS_H
#define PNC_DRIVERS_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "select/selection.h"

typedef struct pnc_objects pnc_objects;

#define PNC_OBJECTS_KEY_MOST 4096 /* bytes of a key, with its end: PATH_MAX of Linux */

/* Called for each name; it returns NC_NOERR to continue. */
typedef int pnc_objects_visit(void *own, const char *name, bool is_folder, pnc_error *error);

/* What differs between an object and one that replaces it, or the same with other bytes. No padding. */
typedef struct pnc_objects_facts {
    int64_t size;                  /* -1: there is no object */
    int64_t inode, birth, changed; /* birth: 0 if it is unknown; a new object may have the inode of one that is gone;
                                    * both times in nanoseconds, as the file system counts; programs cannot set them */
} pnc_objects_facts;

/* A container that is only read has no operations from `inspect` on. */
typedef struct pnc_objects_ops {
    /* *size: bytes of the object; -1: there is none. NC_EBAD_FILE if it is no regular file. */
    int (*find)(const pnc_objects *objects, const char *key, int64_t *size, pnc_error *error);
    /* n bytes from `offset`. NC_EREAD if it has fewer. */
    int (*read)(const pnc_objects *objects, const char *key, int64_t offset, void *to, int64_t n, pnc_error *error);
    /* The names below a key, in no order; "": those of the container itself. */
    int (*list)(const pnc_objects *objects, const char *key, void *own, pnc_objects_visit *each, pnc_error *error);
    /* What differs between an object and one that replaces it. */
    int (*inspect)(const pnc_objects *objects, const char *key, pnc_objects_facts *out, pnc_error *error);
    /* The object has these bytes and no others; folders of its key are made. is_durable: also after the death of the
     * node, before this returns. It is the old one or the new one at any time, also after a death. */
    int (*put)(const pnc_objects *objects, const char *key, const void *bytes, int64_t n, bool is_durable,
               pnc_error *error);
    /* The same for an object that only this rank knows, under this key at once: after an error, or a death, it may have
     * a part of the bytes. */
    int (*create)(const pnc_objects *objects, const char *key, const void *bytes, int64_t n, bool is_durable,
                  pnc_error *error);
    /* Write bytes of an object, which is created if there is none, as are folders: the old bytes, the new ones, or some
     * of each. */
    int (*write)(const pnc_objects *objects, const char *key, int64_t offset, const void *bytes, int64_t n,
                 pnc_error *error);
    /* What was written survives the death of the node. */
    int (*sync)(const pnc_objects *objects, const char *key, pnc_error *error);
    /* The same for the names below a key. */
    int (*sync_names)(const pnc_objects *objects, const char *key, pnc_error *error);
    /* The object gets another key in the same folder, of which it replaces the object. */
    int (*rename)(const pnc_objects *objects, const char *from, const char *to, pnc_error *error);
    /* Also if there is none. */
    int (*remove)(const pnc_objects *objects, const char *key, pnc_error *error);
    /* A folder that has nothing. */
    int (*remove_folder)(const pnc_objects *objects, const char *key, pnc_error *error);
} pnc_objects_ops;

/* The first member of each container. */
struct pnc_objects {
    const pnc_objects_ops *ops;
    const char *path; /* as the user gave it, for messages; the caller's */
    const char *root; /* the key of the object by which it is a dataset */
};

/* A number for temporary names, not negative, that no other call on any node returns. */
int64_t pnc_objects_id_create(void);

/* Set the error of a system call that has failed; number -1: a file ends before. */
int pnc_objects_error_set(pnc_error *error, int number, int otherwise, const char *what, const char *path,
                          const char *key);

/* All of an object, which has at most so many bytes, and a 0 behind them. pnc_memory_free frees *bytes. NC_ENOENT */
int pnc_objects_load(const pnc_objects *objects, const char *key, int64_t most, char **bytes, int64_t *n,
                     pnc_error *error);

/* The bytes of a store of objects are those of the root, of which *got are read; got may be NULL. */
int pnc_objects_root_read(const pnc_objects *objects, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                          pnc_error *error);
int pnc_objects_root_get_size(const pnc_objects *objects, int64_t *out, pnc_error *error);

#endif
