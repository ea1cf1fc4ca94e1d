/* A store moves bytes between memory and extents of one open file. Small on purpose: a driver is a dozen functions.
 *
 * All functions return NC_NOERR or a code with a message in *error. A call marked collective is made by every rank of
 * the communicator, with n = 0 where a rank has nothing to move. Reads that reach past the end of the file fail with
 * NC_EREAD: nothing is ever read as zeros that was not written. */
#ifndef PNC_DRIVERS_STORE_H
#define PNC_DRIVERS_STORE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
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
    /* Collective; frees the store also when it fails. */
    int (*close)(pnc_store *store, pnc_error *error);
    /* Move n extents, in any order, from or to buf, where their bytes follow each other. The sum of the lengths is
     * below 1 GiB (the caller cuts). Local. */
    int (*write)(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);
    int (*read)(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, pnc_error *error);
    int (*sync)(pnc_store *store, pnc_error *error);                      /* collective */
    int (*size)(pnc_store *store, int64_t *out, pnc_error *error);        /* local */
    int (*set_size)(pnc_store *store, int64_t size, pnc_error *error);    /* collective */
    int (*hints)(pnc_store *store, MPI_Info *used, pnc_error *error);     /* local; the caller frees it */
} pnc_store_ops;

/* Measured on tmpfs, one rank: a read at an offset costs 550 ns and memory is passed over at 6 GB/s, so that up to
 * about 2 KiB of gap is cheaper to read than to skip. (Row of 64, 1024, 4096 B with a gap of the same size: 550, 770,
 * 1080 ns one by one; 25, 360, 1320 ns through a window.) For writes through a view the figures are 755, 890, 1120 ns
 * against 63, 440, 1690. */
#define PNC_WORTH_SKIPPING 2048
#define PNC_FEW_EXTENTS 4 /* that are always worth their system calls */

/* First member of every driver's own struct. */
struct pnc_store {
    const pnc_store_ops *ops;
    MPI_Comm comm; /* borrowed from the dataset */
    int rank, nprocs;
    int nnodes;    /* nodes that the communicator spans, at least 1 */
};

extern const pnc_store_ops pnc_store_mpiio;
extern const pnc_store_ops pnc_store_memory;

/* MPI-IO takes "type:path" to name a kind of file system, of those that ROMIO has a driver for; the path alone. */
static inline const char *pnc_store_bare_path(const char *path)
{
    static const char *const types[] = {"ufs", "nfs", "xfs", "pvfs2", "gpfs", "panfs", "lustre", "daos", "ime",
                                        "quobyte", "testfs"};
    size_t n = strcspn(path, ":");

    for (size_t i = 0; path[n] == ':' && i < sizeof types / sizeof *types; i++)
        if (strlen(types[i]) == n && strncmp(path, types[i], n) == 0)
            return path + n + 1;
    return path;
}

#endif
