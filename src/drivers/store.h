/* A store transfers bytes between memory and extents of one open file. The interface is small: a driver is a dozen
 * functions. A wrapper is a driver in front of another one, whose operations it has but for those that it changes
 * (wrapper.h).
 *
 * All functions return NC_NOERR, or a code with a message in *error. Every rank of the communicator must make a call
 * that is marked collective. */
#ifndef PNC_DRIVERS_STORE_H
#define PNC_DRIVERS_STORE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "base/hold.h"
#include "drivers/new_striping.h"
#include "drivers/reads.h"
#include "select/selection.h"
#include "statistics/statistics.h"

typedef struct pnc_store pnc_store;
typedef struct pnc_store_ops pnc_store_ops;

#define PNC_STORE_BYTES_MAX (1 << 30) /* bound on the bytes of one read or write */

typedef enum pnc_open_purpose { PNC_OPEN_READ, PNC_OPEN_UPDATE, PNC_OPEN_REPLACE, PNC_OPEN_NEW } pnc_open_purpose;

/* How the content of a file that is replaced is removed. PNC_TRUNCATE_ON_ROOT: by rank 0 without a collective call,
 * where the path means the same to the system and to the driver; a single rank truncates through the driver. */
typedef enum pnc_truncation { PNC_TRUNCATE_NOTHING, PNC_TRUNCATE_ON_ROOT, PNC_TRUNCATE_COLLECTIVELY } pnc_truncation;

/* Whether stripes are chosen for a file that is created. */
typedef enum pnc_creation {
    PNC_CREATION_ELSEWHERE, /* no: the file system has no choice, or is not known; also of a file that is opened */
    PNC_CREATION_REPLACES,  /* no: the file exists and keeps its stripes */
    PNC_CREATION_CHOOSES
} pnc_creation;

/* What rank 0 finds at a path before the file is opened. Plain bytes: the ranks broadcast it. */
#define PNC_PREFIX_BYTES 8
#define PNC_SUFFIX_BYTES 24
typedef struct pnc_inspection {
    pnc_error error; /* one that is certain, with a clear message */
    pnc_truncation truncation;
    pnc_creation creation;
    char prefix[PNC_PREFIX_BYTES]; /* MPI-IO needs it in front of the path; empty: it needs none */
    char suffix[PNC_SUFFIX_BYTES]; /* set before: of the temporary name of a new file; empty: it has its own name */
} pnc_inspection;

typedef struct pnc_open_call {
    const pnc_store_ops *driver; /* that opens the file */
    MPI_Comm comm;               /* the store borrows it, and the path */
    const char *path;            /* as the user gave it */
    pnc_open_purpose purpose;
    MPI_Info info;
    pnc_statistics *statistics; /* of the store, for pnc_driver_store_open and pnc_driver_file_open; NULL: off */
    pnc_truncation truncation;  /* what rank 0 has found */
    const char *prefix;         /* likewise; may be NULL */
    pnc_creation creation;      /* likewise */
    bool is_leader;             /* one rank of each node is */
    bool inherits;              /* hint file_striping */
    int64_t expected_size;      /* hint nc_expected_size; 0: none */
    int64_t inode;              /* not 0: the file must have it, or open fails with NC_EFILE */
    int status;                 /* an error of this rank so far, for pnc_driver_file_open only; NC_NOERR: none */
} pnc_open_call;

/* A read or write that has begun. */
typedef struct pnc_store_transfer {
    bool is_write;
    pnc_extent extent;
    char *bytes;
    void *own; /* what the driver has of it while it is in the background; NULL: finish does all of it */
} pnc_store_transfer;

/* A get that will probably follow the one that has ended. */
typedef struct pnc_store_foreseen {
    int varid;
    int64_t step;    /* from the range of that get to its own: bytes of values in row-major order */
    bool collective; /* of several ranks together */
    int64_t most;    /* reads for which there may be memory */
} pnc_store_foreseen;

struct pnc_store_ops {
    const char *name;   /* value of the hint nc_driver */
    size_t store_bytes; /* size of the driver's own struct */
    bool is_wrapper;
    const pnc_store_ops *below; /* of a wrapper in a stack: the driver that it wraps */
    /* Local. Whether there is a dataset of this driver at a path, which no other one opens or deletes. NULL: it opens
     * what hints choose it for. */
    bool (*has_dataset)(const char *path);
    /* Local. The container of a store of objects, which a format reads and writes by key. NULL: it is one of a file. */
    const struct pnc_objects *(*get_objects)(const pnc_store *store);
    /* Rank 0 calls it before open. Local. NULL if the driver inspects nothing. */
    void (*inspect)(const char *path, pnc_open_purpose purpose, pnc_inspection *found);
    /* Collective. store has store_bytes bytes of zeros, except for `statistics`. Returns the result of this rank: the
     * ranks agree afterwards, and if open failed on any of them, all close the store. Error codes: NC_EEXIST,
     * NC_ENOENT, NC_EACCESS .. */
    int (*open)(const pnc_open_call *call, pnc_store *store, pnc_error *error);
    int (*remove)(const char *path, MPI_Info info, pnc_error *error); /* not collective */
    /* Collective. Close, and delete the file, unless its path names another one by now (NC_EFILE on rank 0) or none.
     * NULL: close and remove do it. */
    int (*discard)(pnc_store *store, MPI_Info info, pnc_error *error);
    /* Rank 0. Remove the last `suffix` bytes of the name of a new file. NC_EEXIST if a file has that name already,
     * unless it may be replaced. NULL: files are created under their own names only. */
    int (*publish)(pnc_store *store, int suffix, bool replaces, pnc_error *error);
    const char *(*local_path)(const char *path); /* the path without the prefix of MPI-IO; only of mpiio, else NULL */
    /* Collective; also after an open that failed. Frees the store even if it fails. */
    int (*close)(pnc_store *store, pnc_error *error);
    /* Read or write n extents, in any order; their bytes are contiguous in buf, and less than PNC_STORE_BYTES_MAX.
     * Local. */
    int (*write)(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);
    /* *got is also set on failure: the number of bytes at the front of buf that were read. Later bytes of buf are
     * unchanged, except those of one extent if MPI reports the failure. got may be NULL. */
    int (*read)(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got, pnc_error *error);
    /* For a read-modify-write. If lock returns true, no other rank or thread of the program writes to the span until
     * unlock, which must follow, and no other program that locks what it modifies. False: the driver cannot exclude it.
     * Local. NULL, both: it never can. */
    bool (*lock)(pnc_store *store, pnc_extent span);
    int (*unlock)(pnc_store *store, pnc_extent span, pnc_error *error);
    /* Show to other programs that this one changes the file, or find whether another one does: as pnc_host_file_hold.
     * Local. NULL: the driver has no such locks. */
    pnc_held (*hold)(pnc_store *store, pnc_hold hold);
    /* Read or write one extent while the program does something else, until finish; until then bytes must not be used,
     * or changed. finish does what the system did not do in the background, and returns the errors. is_complete:
     * nothing is in progress in the background. An error is one of its transfer: no other function returns it. Local.
     * The three are NULL if the driver has only complete accesses. */
    void (*start)(pnc_store *store, bool is_write, pnc_extent extent, void *bytes, pnc_store_transfer *out);
    bool (*is_complete)(const pnc_store *store, const pnc_store_transfer *transfer);
    int (*finish)(pnc_store *store, pnc_store_transfer *transfer, pnc_error *error);
    /* Collective. Write the extents of all ranks: those of a rank ascend and do not overlap; where those of two ranks
     * overlap, the bytes of either are written. Their bytes are contiguous in buf, and less than PNC_STORE_BYTES_MAX. A
     * rank may have none. The code is that of this rank. Only if has_collective is set. */
    int (*write_all)(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);
    /* The same for reading. *got as for read; if MPI reports a failure it is 0. */
    int (*read_all)(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got, pnc_error *error);
    int (*sync)(pnc_store *store, pnc_error *error);                   /* collective */
    int (*size)(pnc_store *store, int64_t *out, pnc_error *error);     /* local */
    int (*set_size)(pnc_store *store, int64_t size, pnc_error *error); /* collective */
    int (*hints)(pnc_store *store, MPI_Info *used, pnc_error *error);  /* local; the caller frees it */
    /* Of wrappers, called by the functions of wrapper.h; NULL: there is nothing to do. Local. */
    int (*flush)(pnc_store *store, pnc_error *error); /* write what the wrapper has kept to the inner store */
    /* End the wrapper's part of the store, before the inner store is closed: after a flush, or without one to discard
     * what is kept. Also after an open that failed. */
    void (*release)(pnc_store *store);
    /* Of a wrapper that has arrays: what this rank will read of its inner store for a get that has the hyperslabs of
     * the last one, moved by a step. false: the variable is no array, and its values are in the file. *out: the caller
     * frees it, or NULL: nothing, or that is not known, which *is_known says. Local. NULL: it has no arrays. */
    bool (*find_reads)(pnc_store *store, const pnc_store_foreseen *next, pnc_store_reads **out, bool *is_known);
};

/* The container of a store of objects, or of one that wraps such a store. */
const struct pnc_objects *pnc_store_get_objects(const pnc_store *store);

/* Known facts about the end of the file. */
typedef struct pnc_store_end {
    int64_t least_size; /* lower bound of the size while open: a smaller file was truncated */
    bool refuses_short; /* reads beyond the end of the file are errors */
} pnc_store_end;

/* How the file system distributes the file over its servers. Open sets it on rank 0, and the caller copies it to the
 * other ranks. */
typedef struct pnc_striping {
    int64_t unit;     /* striping unit in bytes; 0: the file system reports none */
    int64_t factor;   /* number of servers that hold stripes of the file; 0: unknown */
    bool round_robin; /* consecutive stripes are on different servers, which take turns */
    bool in_memory;   /* there is no disk: the file does not survive the death of its node */
    bool on_servers;  /* nodes share the file system: an access is a request to a server */
    bool is_local;    /* one kernel makes all accesses, and knows the locks of all programs. Neither: that is unknown */
} pnc_striping;

/* What distinguishes a file from all others. Nodes may number devices differently. */
typedef struct pnc_identity {
    int64_t device, inode; /* 0: unknown */
} pnc_identity;

/* The ranks of this node, ascending. The caller of open keeps them until close; n = 0: they are not known. */
typedef struct pnc_neighbours {
    const int *ranks;
    int n;
} pnc_neighbours;

/* First member of every driver's own struct. */
struct pnc_store {
    const pnc_store_ops *ops;
    MPI_Comm comm; /* borrowed from the dataset */
    int rank, nprocs;
    bool has_collective;           /* write_all and read_all may be used, if data sieving of writes is disabled */
    bool has_arrays;               /* of drivers/chunks, which accesses these variables by hyperslabs */
    bool notes_gets;               /* of those: what a get has is noted, for find_reads; set by the caller */
    int nnodes;                    /* nodes that the communicator spans, at least 1; set by the caller of open */
    pnc_neighbours neighbours;     /* set by the caller of open */
    pnc_striping striping;         /* all zero if nothing is known about it */
    pnc_new_striping new_striping; /* of a new file */
    pnc_identity identity;  /* of the file at the time of open. Set like striping, but the device on rank 0 only */
    char *full_path;        /* to open the file again from any working folder; NULL: the path that was passed to open */
    int64_t sieve_read_gap; /* smaller gaps between two extents are cheaper to read than to skip */
    int64_t sieve_write_gap;    /* likewise, to read and to write */
    bool sieves_writes;         /* a write of many small extents close to each other takes few accesses */
    int64_t few_extents;        /* up to this many extents are cheaper to access one by one */
    pnc_store_end *end;         /* owned by the driver that opened the file; wrappers share it */
    pnc_statistics *statistics; /* of the caller of open, to which the driver adds its accesses; NULL: off */
    pnc_store *inner;           /* of a wrapper: the store that it wraps */
};

/* Set what the ranks agree on after open, and the ranks of this node, also in the stores that are wrapped. */
void pnc_store_facts_set(pnc_store *store, int nnodes, pnc_neighbours neighbours, const pnc_striping *striping,
                         int64_t inode);
/* Whether a rank is one of this node, as far as that is known. */
bool pnc_store_has_neighbour(const pnc_store *store, int rank);

/* Complete a read that returned no bytes at rest.offset; `size` is the current size of the file. Beyond the end of a
 * file whose writer left it short, the rest reads as zeros. NC_EREAD if the file was truncated while open, if the
 * bytes exist but cannot be read, or if refuses_short is set. */
int pnc_store_pass_end(const pnc_store *store, const char *path, pnc_extent rest, int64_t size, char *to,
                       pnc_error *error);

#endif
