/* The state of an open dataset, and the operations that the entry points of src/api hand down to.
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

/* Hints that the library itself obeys; everything else goes to MPI-IO. */
typedef struct pnc_hints {
    pnc_layout_hints layout;    /* -1 where no hint was given */
    int64_t header_read_chunk;  /* bytes of the header read at a time */
    int64_t data_move_chunk;    /* bytes per round when data moves at enddef */
    int64_t buffer_size;        /* cap on extra memory per rank (nc_ibuf_size) */
    int64_t driver;             /* its number among the names of drivers */
    int64_t short_file;         /* 0: reads beyond the end of the file give zeros, 1: an error */
} pnc_hints;

/* A call that failed, for a person: call, rank, file, what was wrong, and the name of the code. */
typedef struct pnc_failure {
    int code;
    char message[NC_MAX_MESSAGE];
} pnc_failure;

typedef struct pnc_dataset {
    int ncid;
    char *path;
    MPI_Comm comm;        /* our duplicate */
    int rank, nprocs;
    MPI_Info info;        /* hints as given by user and environment, or MPI_INFO_NULL */
    MPI_Info environment; /* those of PNETCDF_HINTS alone, or MPI_INFO_NULL */
    pnc_hints hints;
    pnc_layout_hints layout_hints; /* of the last enddef */
    bool overruled;                /* there rank 0's definitions took the place of this rank's own, which differed */
    const pnc_store_ops *driver;
    pnc_store *store;
    pnc_mode mode;
    bool read_only;
    bool is_new;          /* created and not yet through its first enddef */
    bool safe;            /* PNETCDF_SAFE_MODE: compare the arguments of collective calls across ranks */
    bool relax;           /* PNETCDF_RELAX_COORD_BOUND: start == length with count 0 is allowed */
    bool share;           /* NC_SHARE: flush after each collective write */
    int fill_mode;        /* NC_FILL or NC_NOFILL, for variables defined from now on */
    pnc_model model;
    pnc_model *before;    /* the model before redef; NULL outside define mode and in a new file */
    bool numrecs_dirty;   /* the file's header does not know model.numrecs yet */
    int64_t put_size, get_size; /* bytes moved so far by this rank */
    struct pnc_queue *queue; /* pending nonblocking requests */
    void *stage;          /* conversion buffer of PNC_STAGE_BYTES, made at first use, freed at close */
    const char *call;     /* name of the API function that works on it */
    pnc_error error;      /* of that call */
    pnc_failure last;     /* the last call that failed */
} pnc_dataset;

#define PNC_STAGE_BYTES (256 * 1024) /* stays in the second-level cache between conversion and system call */

/* --- registry.c: ncids --- */
int pnc_dataset_registry_add(pnc_dataset *ds, int *ncid); /* NC_ENFILE */
void pnc_dataset_registry_remove(int ncid);
/* The dataset that the API function `call` will work on, with its error object cleared; or NC_EBADID, which is
 * reported. */
int pnc_dataset_registry_find(int ncid, const char *call, pnc_dataset **out);
/* The same for a look that is no call. */
pnc_dataset *pnc_dataset_registry_peek(int ncid);
int pnc_dataset_registry_list(int *num, int *ncids);

/* An environment variable that is on unless its value begins with 0. */
bool pnc_dataset_environment_is_on(const char *name, bool otherwise);

/* --- last_error.c: what went wrong, for a person --- */
/* The end of a call: where it failed, keep call, file, rank and sentence for ncmpi_inq_last_error, and print them where
 * PNETCDF_VERBOSE asks for it. Returns err. */
int pnc_dataset_error_report(pnc_dataset *ds, int err);
/* The same for a call without a dataset. path and error may be NULL. */
int pnc_dataset_error_report_call(const char *call, const char *path, int err, const pnc_error *error);
/* The end of a call that succeeds, with a remark in ds->error: kept for ncmpi_inq_last_error until a call fails, with
 * the code NC_NOERR, and printed by rank 0 where PNETCDF_VERBOSE asks for it. */
void pnc_dataset_remark_report(pnc_dataset *ds);
/* The last failure on a dataset, or with a negative ncid of this thread. NC_EBADID. */
int pnc_dataset_error_get_last(int ncid, const pnc_failure **out);

/* --- agree.c: what ranks agree on --- */
/* Safe mode: every argument must be the same bytes on all ranks as on rank 0. Returns on every rank the code of the
 * first argument that differs somewhere, or NC_NOERR. A rank whose call already failed passes its error in `local`;
 * then every rank returns an error. Outside safe mode that depends on what the call goes on to do. */
typedef struct pnc_argument { int code; const void *bytes; int64_t length; } pnc_argument;
typedef enum pnc_consequence {
    PNC_STAYS_LOCAL,    /* each rank returns its own `local`; not collective */
    PNC_IS_COLLECTIVE,  /* an error of one rank is returned by all ranks: none blocks in a later step */
    PNC_CHANGES_HEADER  /* the same as in safe mode: in data mode no later step would make the ranks' headers one */
} pnc_consequence;
int pnc_dataset_arguments_agree(pnc_dataset *ds, int local, const pnc_argument *args, int n,
                                pnc_consequence consequence);
/* Rank 0's bytes become everybody's. Collective. */
int pnc_dataset_bytes_broadcast(pnc_dataset *ds, char *bytes, int64_t size);
/* Rank 0's result becomes everybody's. Collective. */
int pnc_dataset_status_broadcast(pnc_dataset *ds, int status);
/* NC_NOERR only where all ranks pass NC_NOERR; else this rank's own code, or the most negative one of the others. */
int pnc_dataset_status_agree(pnc_dataset *ds, int status);

/* --- headerio.c: the header in the file --- */
int pnc_dataset_header_read(pnc_dataset *ds);                          /* collective: rank 0 reads, all decode */
int pnc_dataset_header_write(pnc_dataset *ds);                         /* collective: rank 0 writes all of it */
/* The same in two steps, both collective. First all ranks take over rank 0's definitions; what they hold is encoded,
 * and the caller frees *bytes. Then rank 0 writes it; where that fails, the header of ds->before is put back. */
int pnc_dataset_header_agree(pnc_dataset *ds, char **bytes, int64_t *n);
int pnc_dataset_header_replace(pnc_dataset *ds, const char *bytes, int64_t n);
/* Collective, in data mode: a name that changed or, where att is given, an attribute. Written alone, in place, if no
 * other byte of the header moves. */
int pnc_dataset_header_update(pnc_dataset *ds, int64_t where, int64_t old_size, const char *name, const pnc_att *att);
int pnc_dataset_numrecs_write(pnc_dataset *ds);                        /* collective: rank 0 writes model.numrecs */
int pnc_dataset_file_extend(pnc_dataset *ds);                          /* collective: the file is as long as it says */

/* --- records --- */
/* Collective: all ranks agree on the largest number of records; sync: and rank 0 writes it if it grew. */
int pnc_dataset_numrecs_agree(pnc_dataset *ds);
int pnc_dataset_numrecs_flush(pnc_dataset *ds);

/* --- fill.c --- */
/* This rank's share of filling a variable; of a record variable, n records from number `first` on. Local. */
int pnc_dataset_var_fill(pnc_dataset *ds, const pnc_var *var, int64_t first, int64_t n);

#include "dataset/operations.h" /* generated: pnc_dataset_<name> for each single function */

#endif
