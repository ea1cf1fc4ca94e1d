/* A store moves bytes between memory and extents of one open file. Small on purpose: a driver is a dozen functions.
 *
 * All functions return NC_NOERR or a code with a message in *error. A call marked collective is made by every rank of
 * the communicator, with n = 0 where a rank has nothing to move. */
#ifndef PNC_DRIVERS_STORE_H
#define PNC_DRIVERS_STORE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "select/selection.h"

typedef struct pnc_store pnc_store;

typedef struct pnc_store_ops {
    const char *name; /* value of the hint nc_driver */
    /* Collective. mode: NC_WRITE, NC_NOCLOBBER bits as given by the caller; create truncates. Codes: NC_EEXIST
     * NC_ENOENT NC_EACCESS.. as in the error rules. All ranks get the same code. */
    int (*create)(MPI_Comm comm, const char *path, int mode, MPI_Info info, pnc_store **out, pnc_error *error);
    int (*open)(MPI_Comm comm, const char *path, int mode, MPI_Info info, pnc_store **out, pnc_error *error);
    int (*remove)(const char *path, MPI_Info info, pnc_error *error); /* not collective */
    const char *(*local_path)(const char *path); /* the path without MPI-IO's prefix; or NULL */
    /* Collective; frees the store also when it fails. */
    int (*close)(pnc_store *store, pnc_error *error);
    /* Move n extents, in any order, from or to buf, where their bytes follow each other. The sum of the lengths is
     * below 1 GiB (the caller cuts). Local. */
    int (*write)(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);
    /* *got, also where the call fails: how many bytes at the front of buf are those of the extents. All others are as
     * they were, but for those of one extent where MPI itself reports the failure. May be NULL. */
    int (*read)(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got, pnc_error *error);
    int (*sync)(pnc_store *store, pnc_error *error);                      /* collective */
    int (*size)(pnc_store *store, int64_t *out, pnc_error *error);        /* local */
    int (*set_size)(pnc_store *store, int64_t size, pnc_error *error);    /* collective */
    int (*hints)(pnc_store *store, MPI_Info *used, pnc_error *error);     /* local; the caller frees it */
} pnc_store_ops;

/* What is known of the end of the file. */
typedef struct pnc_store_end {
    int64_t least_size; /* bytes that the file has had while it was open: if it has fewer, it was truncated */
    bool refuses_short; /* reads beyond the end of the file are errors */
} pnc_store_end;

/* First member of every driver's own struct. */
struct pnc_store {
    const pnc_store_ops *ops;
    MPI_Comm comm; /* borrowed from the dataset */
    int rank, nprocs;
    int nnodes;          /* nodes that the communicator spans, at least 1 */
    int64_t sieve_gap;   /* bytes: a smaller gap between two extents is cheaper to read than to skip */
    int64_t few_extents; /* so few extents are cheaper to access one by one */
    pnc_store_end *end;  /* of the driver that has the file: a wrapper shares it */
};

/* A read of an extent stopped at byte rest.offset, and the file has `size` bytes now. Where the file simply ends there
 * (its writer left it short) the rest reads as zeros; where it was truncated while it was open, where the bytes are
 * there but do not come, or where the user wants no zeros: NC_EREAD. */
int pnc_store_pass_end(const pnc_store *store, const char *path, pnc_extent rest, int64_t size, char *to,
                       pnc_error *error);

#endif
