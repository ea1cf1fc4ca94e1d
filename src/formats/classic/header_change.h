/* Changes of the header in the file. All functions are collective; all ranks return an error, or none does. */
#ifndef PNC_CLASSIC_HEADER_CHANGE_H
#define PNC_CLASSIC_HEADER_CHANGE_H

#include "formats/classic/classic.h"

/* At the end of define mode; n: bytes of the new header. create: of a new file. update: from the header of f->before;
 * data move as far as their offsets differ. After an error, the file has the old header and data; if they cannot be
 * restored, as on a full disk, `unrestored` is set, and the next update begins with `restore`. */
int pnc_classic_header_create(pnc_format *f, const char *header, int64_t n);
int pnc_classic_header_update(pnc_format *f, const char *header, int64_t n);
/* Restore a file whose change, also one in data mode, could not be undone. Without one, nothing, not even a collective
 * step. */
int pnc_classic_header_restore(pnc_format *f);
/* The same at the start of a put. An independent one of several ranks cannot: NC_EINTERRUPTED. */
int pnc_classic_header_restore_before_put(pnc_format *f, bool collective);
/* Free what `restore` needs: the file stays as it is. Local. */
void pnc_classic_header_unrestored_free(pnc_format *f);

#define PNC_HEADER_PAGE 4096 /* bytes that the kernel writes all or not at all if the process is killed */

/* A name or an attribute that is written over the old one. */
typedef struct pnc_rewrite {
    pnc_extent where; /* of the entry in the header */
    bool is_known;    /* the file has the old one, encoded as this library does */
    const char *old_name, *name;
    const pnc_att *old_att, *att; /* NULL: a name */
} pnc_rewrite;

/* Write what changes of it; the model has changed. Before the change, the caller calls pnc_classic_header_entry_check,
 * and keeps what it was, which it restores after an error. */
int pnc_classic_header_entry_write(pnc_format *f, int err, const pnc_rewrite *rewrite);

#endif
