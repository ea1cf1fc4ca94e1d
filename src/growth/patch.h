/* A change of the header where no data move, in bytes of several pages. A process that dies while it writes them could
 * leave half of them; to prevent this, the file has the mark and a journal at its end meanwhile:
 *
 *   two slots for the owner, see life.h; the bytes before the change, the bytes after it, numbers with a digest
 *
 * Nothing is flushed: the death of a node is not covered. */
#ifndef PNC_GROWTH_PATCH_H
#define PNC_GROWTH_PATCH_H

#include "growth/growth.h"
#include "growth/io.h"

typedef struct pnc_growth_patch {
    int format;                 /* of the file: the last byte of its magic number */
    pnc_extent where;           /* behind the magic number */
    const char *before, *after; /* on rank 0: the bytes there */
    int64_t old_size, new_size; /* of the file; the journal begins at new_size */
    bool has_owner;             /* slots for it; set by execute, not in a file of an older version */
    bool is_exposed;            /* set by execute: the file may have the mark, or a part of the bytes */
    char *kept;                 /* by keep: both */
} pnc_growth_patch;

/* Collective, between pnc_growth_life_begin and _end with io->life: only rank 0 writes. */
int pnc_growth_patch_execute(const pnc_growth_io *io, pnc_growth_patch *patch);
/* After an error: restore the old bytes, unless another program has the file now. io->error has the cause; its message
 * reports if that fails. Then the file keeps its mark and the journal, which nothing may overwrite; restore, with the
 * same patch and before pnc_growth_life_end, tries again. */
int pnc_growth_patch_undo(const pnc_growth_io *io, pnc_growth_patch *patch);
int pnc_growth_patch_restore(const pnc_growth_io *io, pnc_growth_patch *patch);
/* Between both: copy the bytes, which are the caller's. Local. Without memory, restore returns NC_ENOMEM. */
void pnc_growth_patch_keep(const pnc_growth_io *io, pnc_growth_patch *patch);
void pnc_growth_patch_free(pnc_growth_patch *patch); /* what keep has copied */

/* As pnc_growth_file_repair, for this kind of journal. */
int pnc_growth_patch_repair(const pnc_growth_io *io, int64_t file_size, const char *magic, pnc_growth_outcome *outcome);
/* Whether a file that ends with the bytes before `end` has this kind of journal. at: that of its slots for the owner,
 * or -1. */
bool pnc_growth_patch_find_owner(const char *end, int64_t file_size, int64_t *at);

#endif
