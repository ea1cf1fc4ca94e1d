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
#include "format/layout.h"
#include "format/model.h"
#include "growth/cause.h"
#include "growth/growth.h"
#include "growth/patch.h"
#include "io/context.h"
#include "io/choose/strategy.h"

typedef enum pnc_mode { PNC_DEFINE, PNC_COLLECTIVE, PNC_INDEPENDENT } pnc_mode;

/* What follows when the time for a collective call is over. */
enum { PNC_TIMEOUT_FAILS, PNC_TIMEOUT_ABORTS, PNC_TIMEOUT_WARNS };

/* Hints that the library itself uses; all others are passed to MPI-IO. */
typedef struct pnc_hints {
    pnc_layout_hints layout; /* -1 where no hint was given */
    pnc_access_hints access;
    int64_t header_read_chunk; /* bytes of the header read at a time */
    int64_t data_move_chunk;   /* bytes per round when data moves at enddef */
    int64_t data_move_limit;   /* bytes that may move in an enddef */
    int64_t buffer_size;       /* bound on extra memory per rank (nc_ibuf_size) */
    int64_t whole_files;       /* 1: a new file has a temporary name until it is closed */
    int64_t driver;            /* index into the names of drivers */
    int64_t timeout;           /* seconds that a collective call waits for the other ranks; 0: without a limit */
    int64_t timeout_action;    /* PNC_TIMEOUT_FAILS .. */
    int64_t statistics;        /* PNC_STATS_OFF .. */
    int64_t short_file;        /* 0: reads beyond the end of the file give zeros, 1: an error */
    int64_t assumes_dead;      /* 1: of a program of which it is not known whether it still changes the file */
} pnc_hints;

/* The report of a call that failed. The message has call, rank, file, cause, and the name of the code. */
typedef struct pnc_failure {
    int code;
    char message[NC_MAX_MESSAGE];
    int sentence, sentence_length; /* file and cause, as a part of the message */
    int path, path_length;         /* the name of the file in the sentence; length 0: it is not there */
} pnc_failure;

typedef enum pnc_unrestored { PNC_RESTORED, PNC_UNRESTORED_GROWTH, PNC_UNRESTORED_PATCH } pnc_unrestored;

typedef struct pnc_dataset {
    int ncid;
    pnc_file file;            /* its `error` is the one below */
    pnc_driver_stack drivers; /* file.driver is its first one, if there are several */
    char *store_path;         /* file.path, and the suffix of a temporary name */
    int suffix;               /* its length; 0: the file has its own name */
    bool replaces;            /* a new file: it may replace one that exists */

    /* hints */
    MPI_Info info;        /* as given by user and environment, or MPI_INFO_NULL */
    MPI_Info environment; /* those of PNETCDF_HINTS alone, or MPI_INFO_NULL */
    pnc_hints hints;
    pnc_layout_hints layout_hints; /* of the last enddef */

    /* state */
    pnc_mode mode;
    bool is_new;   /* created, and its first enddef has not completed */
    bool safe;     /* PNETCDF_SAFE_MODE: compare the arguments of collective calls across ranks */
    bool share;    /* NC_SHARE: flush after each collective write */
    int fill_mode; /* NC_FILL or NC_NOFILL, for variables defined from now on */
    pnc_model model;
    pnc_model *before; /* the model before redef; NULL outside define mode and in a new file */
    pnc_growth_io growth_io;
    pnc_growth_life life;
    pnc_growth_change growth;   /* of the enddef in progress, or of one that has failed */
    pnc_growth_patch patch;     /* likewise, where no data move */
    pnc_unrestored unrestored;  /* which of them could not be undone either: the file is still marked */
    bool overruled;             /* by an enddef: this rank's definitions differed and were replaced by rank 0's */
    char difference[256];       /* which; empty if only attributes, fill modes or offsets differed */
    pnc_growth_origin origin;   /* what was there before data moved */
    pnc_growth_cause moved_for; /* why they did */
    bool numrecs_dirty;         /* model.numrecs is not yet written to the file */

    pnc_io_context io; /* for requests */

    /* the error of the call in progress, and of the last one that failed */
    pnc_error error;
    pnc_failure last;

    int missing_names; /* for which a similar name was searched */
    struct pnc_dataset *next_abandoned;
} pnc_dataset;

#include "dataset/operations.h" /* generated: pnc_dataset_<name> for each single function */

#endif
