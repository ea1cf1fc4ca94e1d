/* References of kerchunk as a container of objects that is only read: JSON that says of each key which bytes of which
 * file it has, or has the bytes itself.
 *
 * Nothing about them is trusted: paths are only read, and what a reference says is compared with the size of its file.
 * Memory: the text, and some 100 bytes for each reference. Functions return NC_NOERR, or a code with a message in
 * *error. */
#ifndef PNC_KERCHUNK_KERCHUNK_H
#define PNC_KERCHUNK_KERCHUNK_H

#include "base/table.h"
#include "drivers/objects.h"
#include "drivers/store.h"

extern const pnc_store_ops pnc_store_kerchunk;

typedef struct pnc_kerchunk_reference {
    const char *key;
    const char *text; /* the bytes; or the path or URL of a file */
    bool is_file;
    int64_t offset, n; /* of the file; n -1: all of it */
} pnc_kerchunk_reference;

typedef struct pnc_kerchunk {
    pnc_objects objects; /* root NULL: no key is that of a group */
    char *text;          /* of the file, with its texts decoded */
    int64_t n, capacity;
    pnc_kerchunk_reference *references;
    pnc_table keys; /* to their numbers */
    int64_t nnodes, nodes_capacity;
    char **nodes; /* keys of groups and arrays but the root: in order */
} pnc_kerchunk;

/* Whether these first bytes of a file may be those of references. */
bool pnc_kerchunk_front_is_json(const char *front, int64_t n);

/* Decode n bytes, and a 0 behind them, which become those of *k, also after an error. Pure. */
int pnc_kerchunk_text_parse(pnc_kerchunk *k, const char *path, char *text, int64_t n, pnc_error *error);
/* The same of a file. The path is the caller's. */
int pnc_kerchunk_file_open(pnc_kerchunk *k, const char *path, pnc_error *error);
/* The bytes of the file, for pnc_kerchunk_text_parse. */
int pnc_kerchunk_file_load(const char *path, char **text, int64_t *n, pnc_error *error);
void pnc_kerchunk_references_free(pnc_kerchunk *k); /* also zeros, and after an error */

extern const pnc_objects_ops pnc_kerchunk_operations;

#endif
