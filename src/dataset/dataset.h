/* The state of an open dataset, and the operations that the entry points of src/api call.
 *
 * Every function of the public API that takes an ncid has one counterpart here, pnc_dataset_<name>; the generated
 * entry point looks the dataset up and passes the other arguments on. */
#ifndef PNC_DATASET_DATASET_H
#define PNC_DATASET_DATASET_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "drivers/driver.h"
#include "file/file.h"
#include "format/model.h"
#include "formats/format.h"
#include "io/context.h"
#include "io/choose/strategy.h"
#include "io/deferred.h"

typedef enum pnc_mode { PNC_DEFINE, PNC_COLLECTIVE, PNC_INDEPENDENT } pnc_mode;

/* What follows when the time for a collective call is over. */
enum { PNC_TIMEOUT_FAILS, PNC_TIMEOUT_ABORTS, PNC_TIMEOUT_WARNS };

/* Hints that the library itself uses; all others are passed to MPI-IO. */
typedef struct pnc_hints {
    pnc_format_hints format;
    pnc_access_hints access;
    int64_t buffer_size;       /* bound on extra memory per rank (nc_ibuf_size) */
    int64_t new_format;        /* of new files; 0: what the mode says */
    int64_t whole_files;       /* 1: a new file has a temporary name until it is closed */
    int64_t inherits_striping; /* 1: a new file has the stripes of its folder */
    int64_t expected_size;     /* bytes that a new file will have; 0: not known */
    int64_t driver;            /* index into the names of drivers */
    int64_t write_behind;      /* 1: writes are delayed */
    int64_t burst_buf;         /* 1: in logs on the disks of the nodes */
    int64_t burst_buf_size;    /* bytes of the log of a rank; 0: a share of the folder */
    int64_t prefetch;          /* 1: what gets will probably need is read before */
    int64_t behind_memory;     /* bytes for both on each rank; 0: a share of the memory of the node */
    int64_t defer_puts;        /* 1: collective puts wait for each other */
    int64_t deferred_memory;   /* bytes for them on each rank */
    int64_t timeout;           /* seconds that a collective call waits for the other ranks; 0: without a limit */
    int64_t timeout_action;    /* PNC_TIMEOUT_FAILS .. */
    int64_t statistics;        /* PNC_STATS_OFF .. */
    int64_t references;        /* 1: close writes references beside the file */
    int64_t checksum;          /* 1: close writes checksums of values */
    int64_t quantize_cf;       /* 1: new files have the attributes of CF for quantized variables */
} pnc_hints;

/* The report of a call that failed. The message has call, rank, file, cause, and the name of the code. */
typedef struct pnc_failure {
    int code;
    char message[NC_MAX_MESSAGE];
    int sentence, sentence_length; /* file and cause, as a part of the message */
    int path, path_length;         /* the name of the file in the sentence; length 0: it is not there */
} pnc_failure;

/* Other handles of this process on the same netCDF-4 file (same_file.h). */
typedef struct pnc_same_file {
    bool is_shared; /* there is one, or was */
    bool has_put;   /* since the last flush */
    bool is_stale;  /* another one has put since this one read the places of values */
    bool has_warned;
} pnc_same_file;

/* Independent and collective calls in the same mode (united.h). */
typedef struct pnc_united {
    bool is_on;
    bool has_puts;   /* of this rank, which the others do not see yet */
    bool *waits;     /* by variable: values of collective puts may wait at other ranks; NULL: none */
    int nvars;       /* of `waits` */
    bool all_wait;   /* as if all were set */
    int64_t numrecs; /* during a put: before it */
} pnc_united;

typedef struct pnc_dataset {
    int ncid;
    pnc_file file;            /* its `error` is the one below */
    pnc_driver_stack drivers; /* file.driver is its first one, if there are several */
    char *store_path;         /* file.path, and the suffix of a temporary name */
    int suffix;               /* its length; 0: the file has its own name */
    bool replaces;            /* a new file: it may replace one that exists */
    char *references_of;      /* on rank 0, if references are written: the absolute path of the file; NULL: no memory */

    /* hints */
    MPI_Info info;        /* as given by user and environment, or MPI_INFO_NULL */
    MPI_Info environment; /* those of PNETCDF_HINTS alone, or MPI_INFO_NULL */
    pnc_hints hints;
    char *storage_hints; /* those for variables, of rank 0 (storage_hints.h), or NULL */

    /* state */
    pnc_mode mode;
    bool safe;     /* PNETCDF_SAFE_MODE: compare the arguments of collective calls across ranks */
    bool share;    /* NC_SHARE: flush after each collective write */
    int fill_mode; /* NC_FILL or NC_NOFILL, for variables defined from now on */
    pnc_model model;
    int nvars_found;    /* when the file was opened: hints do not change how these are stored */
    pnc_format *format; /* how the dataset is stored; it sees the model, the file and the hints */

    pnc_io_context io;       /* for requests */
    pnc_deferred deferred;   /* collective puts that a later call writes */
    int64_t *logged_lengths; /* while values wait in logs of a netCDF-4 file: of dimensions, as the file has them */
    pnc_same_file same_file;
    pnc_united united;

    /* the error of the call in progress, and of the last one that failed */
    pnc_error error;
    pnc_failure last;

    int missing_names; /* for which a similar name was searched */
    struct pnc_dataset *next_abandoned;
} pnc_dataset;

#include "dataset/operations.h" /* generated: pnc_dataset_<name> for each single function */

/* An output argument of a public function, which may be NULL. */
#define PNC_SET_OUTPUT(out, value) \
    do {                           \
        if ((out) != NULL)         \
            *(out) = (value);      \
    } while (0)

#endif
