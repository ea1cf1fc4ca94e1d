/* Changes of the header in the file. All functions are collective; all ranks return an error, or none does. */
#ifndef PNC_DATASET_HEADER_CHANGE_H
#define PNC_DATASET_HEADER_CHANGE_H

#include "dataset/dataset.h"

/* At the end of define mode; n: bytes of the new header. create: of a new file. update: from the header of ds->before;
 * data move as far as their offsets differ. After an error, the file has the old header and data; if they cannot be
 * restored, as on a full disk, ds->unrestored is set, and the next update begins with `restore`. */
int pnc_dataset_header_create(pnc_dataset *ds, const char *header, int64_t n);
int pnc_dataset_header_update(pnc_dataset *ds, const char *header, int64_t n);
/* Restore a file whose change, also one in data mode, could not be undone. Without one, nothing, not even a collective
 * step. */
int pnc_dataset_header_restore(pnc_dataset *ds);
/* The same at the start of a put. An independent one of several ranks cannot: NC_EINTERRUPTED. */
int pnc_dataset_header_restore_before_put(pnc_dataset *ds, bool collective);
/* Free what `restore` needs: the file stays as it is. Local. */
void pnc_dataset_header_unrestored_free(pnc_dataset *ds);

/* A name or attribute of ds->model changes. In define mode, and if another header results, the change is made between
 * `begin` and `end`. In define mode they do nothing. In data mode `begin`, which is local, keeps a copy of the
 * definitions, and `end` writes the whole header. `err` is the result so far of this rank. After an error on any rank,
 * file and definitions are as before. A process that dies meanwhile leaves the old or the new header, or the journal.
 */
int pnc_dataset_header_change_begin(pnc_dataset *ds);
int pnc_dataset_header_change_end(pnc_dataset *ds, int err);

#define PNC_HEADER_PAGE 4096 /* bytes that the kernel writes all or not at all if the process is killed */

/* Whether, in data mode, an entry of the header that becomes `length` bytes long can be written over the old one: both
 * have the same size. The same on all ranks. */
bool pnc_dataset_header_entry_is_in_place(const pnc_dataset *ds, pnc_extent old, int64_t length);

/* A name or an attribute that is written over the old one. */
typedef struct pnc_rewrite {
    pnc_extent where; /* of the entry in the header */
    bool is_known;    /* the file has the old one, encoded as this library does */
    const char *old_name, *name;
    const pnc_att *old_att, *att; /* NULL: a name */
} pnc_rewrite;

/* Write what changes of it; ds->model has changed. Before the change, the caller calls pnc_dataset_header_entry_check,
 * and keeps what it was, which it restores after an error. */
int pnc_dataset_header_entry_write(pnc_dataset *ds, int err, const pnc_rewrite *rewrite);

#endif
