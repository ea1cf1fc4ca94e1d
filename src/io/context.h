/* What requests of one open file need. A dataset has one; this room depends on nothing else of a dataset. */
#ifndef PNC_IO_CONTEXT_H
#define PNC_IO_CONTEXT_H

#include <stdbool.h>
#include "file/file.h"
#include "format/addressing.h"
#include "format/model.h"
#include "io/choose/sizes.h"
#include "io/choose/strategy.h"

typedef struct pnc_io_context {
    pnc_file *file;
    const pnc_model *model;
    const pnc_addressing *addressing; /* of its format; set once that is known */
    bool defines;                     /* in define mode: variables have no offsets, or those before ncmpi_redef */
    bool relax;                       /* PNETCDF_RELAX_COORD_BOUND: start == length with count 0 is allowed */
    const pnc_access_hints *hints;
    int64_t buffer_size;     /* bound on extra memory per rank, in bytes (hint nc_ibuf_size) */
    char *stage;             /* staging buffer, allocated at first use */
    bool has_unplaced;       /* pending requests may be older than the addresses of variables: they are checked again */
    bool exclusive;          /* during a call: no other rank writes between the first and last byte of this one */
    bool has_out_of_range;   /* during a call: a request has values out of range */
    char *sieve;             /* for puts that write gaps back, allocated at first use */
    struct pnc_queue *queue; /* pending requests */
    struct pnc_two_phase *two_phase; /* aggregators and buffers, made by the first call that needs them */
    struct pnc_collective_access *collective_access; /* likewise, for the strategy PNC_MPI_IO */
    bool no_collective_access;
    bool no_two_phase;                    /* they could not be made: all access is independent */
    int shown[2][2], shown_collective[2]; /* what the display has shown last, by class of calls */
} pnc_io_context;

static inline pnc_mapping pnc_io_context_get_mapping(const pnc_io_context *io, int varid)
{
    return io->addressing->get_mapping(io->model, io->model->vars[varid]);
}

static inline int64_t pnc_io_context_get_striping_unit(const pnc_io_context *io)
{
    return pnc_io_striping_unit_compute(io->file->store->striping.unit, io->hints->striping_unit);
}

/* Whether the file is on servers that nodes share: the file system is known to have them, or several nodes have opened
 * the file. */
static inline bool pnc_io_context_is_on_servers(const pnc_io_context *io)
{
    return io->file->store->nnodes > 1 || io->file->store->striping.on_servers;
}

static inline pnc_buffer_shape pnc_io_context_get_buffer_shape(const pnc_io_context *io)
{
    return (pnc_buffer_shape){.nnodes = io->file->store->nnodes,
                              .on_servers = pnc_io_context_is_on_servers(io),
                              .given = io->hints->buffer_size,
                              .most = io->buffer_size,
                              .striping_unit = pnc_io_context_get_striping_unit(io),
                              .round_robin = io->file->store->striping.round_robin};
}

/* Bytes of the staging buffer. */
static inline int64_t pnc_io_context_get_stage_bytes(const pnc_io_context *io)
{
    return pnc_io_stage_get_bytes(pnc_io_context_is_on_servers(io));
}

int pnc_io_context_init(pnc_io_context *io, pnc_file *file, const pnc_model *model); /* NC_ENOMEM */
/* Collective. Close what the strategies have opened; part of closing a file. */
int pnc_io_context_close(pnc_io_context *io);
/* Collective. Discards pending requests. Also for a struct of zeros. */
void pnc_io_context_free(pnc_io_context *io);

#endif
