/* What requests of one open file need. A dataset has one; this room depends on nothing else of a dataset. */
#ifndef PNC_IO_CONTEXT_H
#define PNC_IO_CONTEXT_H

#include <stdbool.h>
#include "file/file.h"
#include "format/model.h"

#define PNC_STAGE_BYTES (256 * 1024) /* fits the second-level cache, from conversion to system call */

typedef struct pnc_io_context {
    pnc_file *file;
    const pnc_model *model;
    bool relax;                      /* PNETCDF_RELAX_COORD_BOUND: start == length with count 0 is allowed */
    int64_t buffer_size;             /* bound on extra memory per rank, in bytes (hint nc_ibuf_size) */
    char *stage;                     /* staging buffer of PNC_STAGE_BYTES, allocated at first use */
    struct pnc_queue *queue;         /* pending requests */
    struct pnc_two_phase *two_phase; /* aggregators and buffers, made by the first call that needs them */
    bool no_two_phase;               /* they could not be made: all access is independent */
} pnc_io_context;

int pnc_io_context_init(pnc_io_context *io, pnc_file *file, const pnc_model *model); /* NC_ENOMEM */
/* Collective. Discards pending requests. Also for a struct of zeros. */
void pnc_io_context_free(pnc_io_context *io);

#endif
