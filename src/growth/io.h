/* How this room accesses a file: by functions of its caller. */
#ifndef PNC_GROWTH_IO_H
#define PNC_GROWTH_IO_H

#include <stdbool.h>
#include "base/error.h"
#include "select/selection.h"

/* Functions return NC_NOERR or a code. read and write are local, their extents as in pnc_store_ops. The others are
 * collective, and all ranks return an error or none does. */
typedef struct pnc_growth_io {
    void *file; /* passed to the functions */
    const char *path;
    int rank, nprocs;
    bool is_volatile; /* the file system is in memory: nothing survives the death of a node, so nothing is flushed */
    pnc_error *error; /* for messages; may be NULL */
    int (*read)(void *file, const pnc_extent *extents, int64_t n, void *bytes);
    int (*write)(void *file, const pnc_extent *extents, int64_t n, const void *bytes);
    int (*agree)(void *file, int err);
    int (*sync)(void *file); /* what was written before survives the death of a node */
    int (*set_size)(void *file, int64_t size);
} pnc_growth_io;

/* Local: contiguous bytes. */
int pnc_growth_bytes_read(const pnc_growth_io *io, int64_t at, char *bytes, int64_t n);
int pnc_growth_bytes_write(const pnc_growth_io *io, int64_t at, const char *bytes, int64_t n);
/* The last byte of the magic number, with or without the mark. One byte: no death can leave a part of it. */
int pnc_growth_mark_write(const pnc_growth_io *io, int format, bool marked);

int pnc_growth_memory_fail(const pnc_growth_io *io, int64_t bytes);
/* The error so far, and its message if the undo after it failed too. */
pnc_error pnc_growth_cause_get(const pnc_growth_io *io);
void pnc_growth_undo_fail(const pnc_growth_io *io, const pnc_error *cause);

#endif
