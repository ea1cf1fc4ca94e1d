/* A store transfers bytes between memory and extents of one open file. The interface is small: a driver is a dozen
 * functions.
 *
 * All functions return NC_NOERR, or a code with a message in *error. Every rank of the communicator must make a call
 * that is marked collective. */
#ifndef PNC_DRIVERS_STORE_H
#define PNC_DRIVERS_STORE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "select/selection.h"

typedef struct pnc_store pnc_store;

#define PNC_STORE_BYTES_MAX (1 << 30) /* bound on the bytes of one read or write */

typedef struct pnc_store_ops {
    const char *name; /* value of the hint nc_driver */
    /* Collective. mode: the caller's NC_WRITE and NC_NOCLOBBER bits; create truncates. Error codes (NC_EEXIST,
     * NC_ENOENT, NC_EACCESS ..) are the same on all ranks. */
    int (*create)(MPI_Comm comm, const char *path, int mode, MPI_Info info, pnc_store **out, pnc_error *error);
    int (*open)(MPI_Comm comm, const char *path, int mode, MPI_Info info, pnc_store **out, pnc_error *error);
    int (*remove)(const char *path, MPI_Info info, pnc_error *error); /* not collective */
    const char *(*local_path)(const char *path); /* the path without the prefix of MPI-IO; only of mpiio, else NULL */
    /* Collective; frees the store even if it fails. */
    int (*close)(pnc_store *store, pnc_error *error);
    /* Read or write n extents, in any order; their bytes are contiguous in buf, and less than PNC_STORE_BYTES_MAX.
     * Local. */
    int (*write)(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);
    /* *got is also set on failure: the number of bytes at the front of buf that were read. Later bytes of buf are
     * unchanged, except those of one extent if MPI reports the failure. got may be NULL. */
    int (*read)(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got, pnc_error *error);
    int (*sync)(pnc_store *store, pnc_error *error);                   /* collective */
    int (*size)(pnc_store *store, int64_t *out, pnc_error *error);     /* local */
    int (*set_size)(pnc_store *store, int64_t size, pnc_error *error); /* collective */
    int (*hints)(pnc_store *store, MPI_Info *used, pnc_error *error);  /* local; the caller frees it */
} pnc_store_ops;

/* Known facts about the end of the file. */
typedef struct pnc_store_end {
    int64_t least_size; /* lower bound of the size while open: a smaller file was truncated */
    bool refuses_short; /* reads beyond the end of the file are errors */
} pnc_store_end;

/* First member of every driver's own struct. */
struct pnc_store {
    const pnc_store_ops *ops;
    MPI_Comm comm; /* borrowed from the dataset */
    int rank, nprocs;
    int nnodes;          /* nodes that the communicator spans, at least 1 */
    int64_t sieve_gap;   /* smaller gaps between two extents are cheaper to read than to skip */
    int64_t few_extents; /* up to this many extents are cheaper to access one by one */
    pnc_store_end *end;  /* owned by the driver that opened the file; wrappers share it */
};

/* Complete a read that returned no bytes at rest.offset; `size` is the current size of the file. Beyond the end of a
 * file whose writer left it short, the rest reads as zeros. NC_EREAD if the file was truncated while open, if the
 * bytes exist but cannot be read, or if refuses_short is set. */
int pnc_store_pass_end(const pnc_store *store, const char *path, pnc_extent rest, int64_t size, char *to,
                       pnc_error *error);

#endif
