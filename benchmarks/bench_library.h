/* The library's side of the benchmark: one dataset with one or two variables, and the calls to be timed. Only the
   public API, so that the same source links against any library that has it. */
#ifndef BENCH_LIBRARY_H
#define BENCH_LIBRARY_H

#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>

#include "bench_limit.h"

struct bench_type {
    const char *name; /* the suffix of the API */
    nc_type external;
    size_t size;
    int (*put)(int, int, const MPI_Offset *, const MPI_Offset *, const void *);
    int (*get)(int, int, const MPI_Offset *, const MPI_Offset *, void *);
};

/* Everything that the contenders of one case need. Elements are counted by rank: start and count are this rank's. */
struct bench_job {
    const char *path;
    int rank, nprocs;
    const struct bench_type *memory, *external;
    int ndims;
    MPI_Offset shape[3], start[3], count[3], stride[3], imap[3]; /* imap[0] != 0: varm; stride[0] > 1: vars */
    MPI_Datatype buftype;                                        /* not MPI_DATATYPE_NULL: flexible, one of it */
    int ncid, varid;
    MPI_File fh;
    struct bench_plan plan;
    size_t bytes;        /* of the file, all ranks together */
    size_t memory_bytes; /* of this rank's buffer, gaps included */
    char *source, *sink;
    MPI_Offset records; /* record cases: how many, and how the variables lie in the file */
    MPI_Offset header, record_bytes, variable_bytes;
};

const struct bench_type *bench_type_find(const char *name);
size_t bench_type_count(void);
const struct bench_type *bench_type_at(size_t i);

/* Creates the file with variable "v" of the job's shape, allocates all of its pages and opens it three ways. */
void bench_job_open(struct bench_job *job);
void bench_job_close(struct bench_job *job);

/* Fills the source with values that every type can hold, different for each seed, and the sink with others. */
void bench_job_fill(struct bench_job *job, unsigned seed);
/* The limit reads what the library wrote and the other way round; ends the program where they differ. */
void bench_job_verify(struct bench_job *job);

/* Contenders: argument is the job. */
void bench_library_put(void *job);
void bench_library_get(void *job);
void bench_raw_put(void *job);
void bench_raw_get(void *job);
void bench_mpiio_put(void *job);
void bench_mpiio_get(void *job);
void bench_mpiio_put_all(void *job);
void bench_mpiio_get_all(void *job);
void bench_mpiio_view(struct bench_job *job); /* sets the subarray of the job as the file view */
void bench_memcpy(void *job);

/* Record variables: a fresh file for each run, then one record after the other to each of two variables. */
void bench_records_create(void *job);
void bench_records_put(void *job);
void bench_records_get(void *job);
void bench_records_close(void *job);
void bench_records_reopen(struct bench_job *job); /* to read what the last run left, by both ways */
void bench_records_raw_create(void *job);
void bench_records_raw_put(void *job);
void bench_records_raw_get(void *job);
void bench_records_raw_close(void *job);

#endif
