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
#include "drivers/store.h"
#include "format/layout.h"
#include "format/model.h"

typedef enum pnc_mode { PNC_DEFINE, PNC_COLLECTIVE, PNC_INDEPENDENT } pnc_mode;

/* Hints that the library itself uses; all others are passed to MPI-IO. */
typedef struct pnc_hints {
    pnc_layout_hints layout;   /* -1 where no hint was given */
    int64_t header_read_chunk; /* bytes of the header read at a time */
    int64_t data_move_chunk;   /* bytes per round when data moves at enddef */
    int64_t buffer_size;       /* cap on extra memory per rank (nc_ibuf_size) */
    int64_t driver;            /* index into the names of drivers */
    int64_t short_file;        /* 0: reads beyond the end of the file give zeros, 1: an error */
} pnc_hints;

/* The report of a call that failed. The message has call, rank, file, cause, and the name of the code. */
typedef struct pnc_failure {
    int code;
    char message[NC_MAX_MESSAGE];
} pnc_failure;

typedef struct pnc_dataset {
    int ncid;
    char *path;
    MPI_Comm comm; /* duplicate of the user's communicator */
    int rank, nprocs;
    MPI_Info info;        /* hints as given by user and environment, or MPI_INFO_NULL */
    MPI_Info environment; /* those of PNETCDF_HINTS alone, or MPI_INFO_NULL */
    pnc_hints hints;
    pnc_layout_hints layout_hints; /* of the last enddef */
    bool overruled;                /* by it: this rank's definitions differed and were replaced by rank 0's */
    const pnc_store_ops *driver;
    pnc_store *store;
    pnc_mode mode;
    bool read_only;
    bool is_new;   /* created, and its first enddef has not completed */
    bool safe;     /* PNETCDF_SAFE_MODE: compare the arguments of collective calls across ranks */
    bool relax;    /* PNETCDF_RELAX_COORD_BOUND: start == length with count 0 is allowed */
    bool share;    /* NC_SHARE: flush after each collective write */
    int fill_mode; /* NC_FILL or NC_NOFILL, for variables defined from now on */
    pnc_model model;
    pnc_model *before;          /* the model before redef; NULL outside define mode and in a new file */
    bool numrecs_dirty;         /* model.numrecs is not yet written to the file */
    int64_t put_size, get_size; /* bytes that this rank has written and read */
    struct pnc_queue *queue;    /* pending nonblocking requests */
    void *stage;                /* staging buffer of PNC_STAGE_BYTES, allocated at first use, freed at close */
    const char *call;           /* name of the API function in progress */
    pnc_error error;            /* of that call */
    pnc_failure last;           /* the last call that failed */
} pnc_dataset;

#define PNC_STAGE_BYTES (256 * 1024) /* fits the second-level cache, from conversion to system call */

/* --- registry.c: ncids --- */
int pnc_dataset_registry_add(pnc_dataset *ds, int *ncid); /* NC_ENFILE */
void pnc_dataset_registry_remove(int ncid);
/* Set *out to the dataset and clear its error object; `call` is the name of the API function in progress. Reports and
 * returns NC_EBADID if there is none. */
int pnc_dataset_registry_find(int ncid, const char *call, pnc_dataset **out);
/* The dataset or NULL; without side effects. */
pnc_dataset *pnc_dataset_registry_peek(int ncid);
int pnc_dataset_registry_list(int *num, int *ncids);

/* Whether an environment variable is on: its value does not begin with 0. `otherwise` if it is not set. */
bool pnc_dataset_environment_is_on(const char *name, bool otherwise);

/* --- last_error.c: messages of calls that failed --- */
/* At the end of a call: if it failed, keep its message for ncmpi_inq_last_error, and print it if PNETCDF_VERBOSE is on.
 * Returns err. */
int pnc_dataset_error_report(pnc_dataset *ds, int err);
/* The same for a call without a dataset. path and error may be NULL. */
int pnc_dataset_error_report_call(const char *call, const char *path, int err, const pnc_error *error);
/* At the end of a successful call with a remark in ds->error: keep it, with the code NC_NOERR, for ncmpi_inq_last_error
 * until a call fails; rank 0 prints it if PNETCDF_VERBOSE is on. */
void pnc_dataset_remark_report(pnc_dataset *ds);
/* The last failure on a dataset; of this thread if ncid is negative. NC_EBADID. */
int pnc_dataset_error_get_last(int ncid, const pnc_failure **out);

/* --- agree.c: what ranks agree on --- */
/* In safe mode, compare every argument with that of rank 0, byte by byte. Returns on every rank the code of the first
 * argument that differs on any rank, or NC_NOERR. A rank whose call has already failed passes its error in `local`;
 * then every rank returns an error. Outside safe mode the result depends on what the call does next: */
typedef struct pnc_argument {
    int code;
    const void *bytes;
    int64_t length;
} pnc_argument;
typedef enum pnc_consequence {
    PNC_STAYS_LOCAL,   /* each rank returns its own `local`; not collective */
    PNC_IS_COLLECTIVE, /* all ranks return an error if one does: none blocks in a later step */
    PNC_CHANGES_HEADER /* as in safe mode: in data mode no later step reconciles the headers of the ranks */
} pnc_consequence;
int pnc_dataset_arguments_agree(pnc_dataset *ds, int local, const pnc_argument *args, int n,
                                pnc_consequence consequence);
/* Copy rank 0's bytes to all ranks. Collective. */
int pnc_dataset_bytes_broadcast(pnc_dataset *ds, char *bytes, int64_t size);
/* Return rank 0's status, and set its message, on all ranks. Collective. */
int pnc_dataset_status_broadcast(pnc_dataset *ds, int status);
/* Returns NC_NOERR if all ranks pass NC_NOERR; otherwise this rank's error or, if it has none, the most negative one of
 * the others. Collective. */
int pnc_dataset_status_agree(pnc_dataset *ds, int status);

/* --- headerio.c: the header in the file --- */
int pnc_dataset_header_read(pnc_dataset *ds);  /* collective: rank 0 reads, all decode */
int pnc_dataset_header_write(pnc_dataset *ds); /* collective: rank 0 writes all of it */
/* header_write in two steps, both collective. First all ranks adopt rank 0's definitions and encode them; the caller
 * frees *bytes. Then rank 0 writes the bytes; if that fails, it writes the header of ds->before again. */
int pnc_dataset_header_agree(pnc_dataset *ds, char **bytes, int64_t *n);
int pnc_dataset_header_replace(pnc_dataset *ds, const char *bytes, int64_t n);
/* Collective, in data mode: write a changed name or, if att is not NULL, a changed attribute. It is written in place if
 * its size has not changed; otherwise the whole header is written. */
int pnc_dataset_header_update(pnc_dataset *ds, int64_t where, int64_t old_size, const char *name, const pnc_att *att);
int pnc_dataset_numrecs_write(pnc_dataset *ds); /* collective: rank 0 writes model.numrecs */
int pnc_dataset_file_extend(pnc_dataset *ds);   /* collective: to the end of its data */

/* --- records --- */
/* Collective: all ranks agree on the largest number of records; flush: and rank 0 writes it if it grew. */
int pnc_dataset_numrecs_agree(pnc_dataset *ds);
int pnc_dataset_numrecs_flush(pnc_dataset *ds);

/* --- fill.c --- */
/* Write fill values to this rank's share of a variable; of a record variable, to n records from `first` on. Local. */
int pnc_dataset_var_fill(pnc_dataset *ds, const pnc_var *var, int64_t first, int64_t n);

#include "dataset/operations.h" /* generated: pnc_dataset_<name> for each single function */

#endif
