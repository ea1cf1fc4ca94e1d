/* How this room accesses a file: by functions of its caller. */
#ifndef PNC_GROWTH_IO_H
#define PNC_GROWTH_IO_H

#include <stdbool.h>
#include "base/error.h"
#include "base/hold.h"
#include "growth/number.h"
#include "select/selection.h"

/* Who changes a file; it is recorded in the journal. */
typedef struct pnc_growth_program {
    int64_t id;      /* random, not negative */
    int64_t node[2]; /* on which all its processes run; zeros: unknown, or several */
    bool is_locked;  /* each process that changes the file holds it */
    bool is_local;   /* for it, the file system is local */
} pnc_growth_program;

typedef struct pnc_growth_life pnc_growth_life; /* life.h */

/* Functions return NC_NOERR or a code. read and write are local, their extents as in pnc_store_ops. The others are
 * collective, and all ranks return an error or none does. */
typedef struct pnc_growth_io {
    void *file; /* passed to the functions */
    const char *path;
    int rank, nprocs;
    bool is_volatile;  /* the file system is in memory: nothing survives the death of a node, so nothing is flushed */
    bool assumes_dead; /* the user says that the program has ended whose journal is in the file */
    pnc_growth_life *life; /* of the change or repair; NULL where there is no journal */
    pnc_error *error;      /* for messages; may be NULL */
    int (*read)(void *file, const pnc_extent *extents, int64_t n, void *bytes);
    int (*write)(void *file, const pnc_extent *extents, int64_t n, const void *bytes);
    int (*agree)(void *file, int err);
    int (*sync)(void *file); /* what was written before survives the death of a node */
    int (*set_size)(void *file, int64_t size);
    int (*maximize)(void *file, int64_t *values, int n); /* each value becomes the largest one of all ranks */
    /* Local. NULL: the file has no locks. */
    pnc_held (*hold)(void *file, pnc_hold hold);
    void (*identify)(void *file, pnc_growth_program *own); /* set id, node and is_local */
} pnc_growth_io;

/* Local: write, unless another program has taken the file over. */
int pnc_growth_extents_write(const pnc_growth_io *io, const pnc_extent *extents, int64_t n, const void *bytes);
/* Local: contiguous bytes. */
int pnc_growth_bytes_read(const pnc_growth_io *io, int64_t at, char *bytes, int64_t n);
int pnc_growth_bytes_write(const pnc_growth_io *io, int64_t at, const char *bytes, int64_t n);
/* Local: pieces of a journal, one behind the other. Small ones take one write; large ones are not copied. */
typedef struct pnc_growth_writer {
    const pnc_growth_io *io;
    int64_t at, held; /* offset of the next write, and its bytes so far */
    pnc_growth_digest digest;
    char bytes[1 << 14];
} pnc_growth_writer;

void pnc_growth_writer_begin(pnc_growth_writer *writer, const pnc_growth_io *io, int64_t at);
int pnc_growth_writer_put(pnc_growth_writer *writer, const char *bytes, int64_t n);
int pnc_growth_writer_end(pnc_growth_writer *writer);

/* The last byte of the magic number, with or without the mark. One byte: no death can leave a part of it. */
int pnc_growth_mark_write(const pnc_growth_io *io, int format, bool marked);

int pnc_growth_memory_fail(const pnc_growth_io *io, int64_t bytes);
/* Collective. A file that stays longer is not an error: io->error does not change. */
void pnc_growth_size_restore(const pnc_growth_io *io, int64_t size);
/* The error so far, and its message if the undo after it failed too. */
pnc_error pnc_growth_cause_get(const pnc_growth_io *io);
void pnc_growth_undo_fail(const pnc_growth_io *io, const pnc_error *cause);

#endif
