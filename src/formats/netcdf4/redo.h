/* Metadata of a netCDF-4 file become part of it all or none, also if the program or the node dies at any instant.
 *
 *               write the log            write the mark             write the rest
 *     OLD FILE  ------------->  LOGGED  --------------->  MARKED  ------------------>  WRITTEN
 *     valid                     valid                     not HDF5                     not HDF5
 *                                                            ^  |                         |
 *                                                            +--+ repair: write again     | write the superblock
 *                                                                                         v
 *                                                                                      NEW FILE, valid
 *
 * The log is behind all that is allocated. The mark replaces the first bytes of the superblock, whose own come last: so
 * other programs refuse the file in between. Data that are not metadata are not logged. The caller flushes the file
 * after each step where nodes may die. If the mark cannot be flushed, it is removed again; what cannot be written after
 * it is tried once more, and remains to be completed. A new file has no old metadata and needs no log.
 *
 * All functions are local. */
#ifndef PNC_NETCDF4_REDO_H
#define PNC_NETCDF4_REDO_H

#include "file/file.h"

#define PNC_REDO_HEAD 32 /* bytes of the superblock that the mark replaces */

typedef struct pnc_redo {
    pnc_extent *extents; /* all that is written; they ascend and are disjoint. Owned, like the bytes */
    int64_t n;
    char *bytes; /* in their order */
    int64_t nbytes;
    int64_t superblock; /* its offset */
    int64_t log, length;
    char head[PNC_REDO_HEAD];     /* of the new superblock */
    char old_head[PNC_REDO_HEAD]; /* of the superblock before */
    bool has_old_head;            /* it is known: the file may have a mark there */
} pnc_redo;

/* It takes extents and bytes, which pnc_memory_free frees; the log will be at or behind `end`. */
void pnc_netcdf4_redo_init(pnc_redo *redo, pnc_extent *extents, int64_t n, char *bytes, int64_t end,
                           int64_t superblock);
void pnc_netcdf4_redo_free(pnc_redo *redo); /* also zeros */
/* Put its log behind that of an unfinished one, whose mark the file may have: until the mark is that of this one, the
 * file is completed by the other log. This one has all extents of the other. */
void pnc_netcdf4_redo_append(pnc_redo *redo, const pnc_redo *unfinished);

/* The steps. An error of the first one leaves the old file. After one of the others the file can be completed only: by
 * the same step again. */
int pnc_netcdf4_redo_begin(pnc_redo *redo, pnc_file *file);
int pnc_netcdf4_mark_write(pnc_redo *redo, pnc_file *file);
/* Back to the old file, before redo_write. */
int pnc_netcdf4_mark_remove(pnc_redo *redo, pnc_file *file);
int pnc_netcdf4_redo_write(pnc_redo *redo, pnc_file *file);
int pnc_netcdf4_redo_finish(pnc_redo *redo, pnc_file *file);

/* The mark of such a log: PNC_REDO_HEAD bytes. */
void pnc_netcdf4_mark_make(const pnc_redo *redo, char *mark);
/* Put what is written to these bytes of the file over those in `bytes`. */
void pnc_netcdf4_redo_apply(const pnc_redo *redo, pnc_extent extent, char *bytes);

/* Whether a file that begins with these n bytes is an HDF5 file, or has the mark. */
bool pnc_netcdf4_front_is_known(const char *front, int64_t n);
/* The length that its superblock states; 0: it is not known. PNC_REDO_FRONT bytes suffice. */
#define PNC_REDO_FRONT 52
int64_t pnc_netcdf4_front_get_length(const char *front, int64_t n);
/* Whether it is an HDF5 file without the mark. *superblock: its offset. */
bool pnc_netcdf4_signature_find(const char *front, int64_t n, int64_t *superblock);
/* Whether a file that begins with these n bytes has the mark. *superblock: its offset. */
bool pnc_netcdf4_redo_find(const char *front, int64_t n, int64_t *superblock);
/* Read the log of such a file, which has `size` bytes. NC_EHDFERR: it is damaged. */
int pnc_netcdf4_redo_load(pnc_redo *redo, pnc_file *file, int64_t size, int64_t superblock);

#endif
