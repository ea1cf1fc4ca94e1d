/* What a rank writes and reads in a workload: variables, and requests for hyperslabs of them. */
#ifndef CLUSTER_PLAN_H
#define CLUSTER_PLAN_H

#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>

enum { MAX_DIMS = 4, MAX_VARIABLES = 256 };

/* Of type NC_DOUBLE. */
typedef struct variable {
    int ndims;
    MPI_Offset shape[MAX_DIMS];
} variable;

/* A put or a get of one call: hyperslabs first_slab .. first_slab + nslabs - 1 of the plan. */
typedef struct request {
    int variable;
    int first_slab, nslabs;
} request;

typedef struct slab {
    MPI_Offset start[MAX_DIMS], count[MAX_DIMS];
} slab;

typedef struct plan {
    int nvariables, nrequests, nslabs;
    variable variables[MAX_VARIABLES];
    request *requests;
    slab *slabs;
    bool nonblocking; /* one wait_all completes all requests; otherwise each request is a collective call */
    bool updates; /* between the puts and the gets of the next rank's, a rank gets its own data and puts them again */
} plan;

/* Who makes a plan. */
typedef struct part {
    int rank, nprocs;
    MPI_Offset bytes; /* of each rank, about */
    const char *map;  /* path of a decomposition, or NULL */
    bool reads;       /* for gets, which may be of more than was put by the rank */
} part;

/* A workload. make: its plan for one rank. Returns NULL, or the reason why it cannot run on this number of ranks. */
typedef struct workload {
    const char *name;
    const char *(*make)(plan *p, const part *part, int variant);
    int variant; /* of workloads that differ in a number */
} workload;

extern const workload workloads[];               /* the last name is NULL */
const workload *workload_find(const char *name); /* NULL: there is none */

int plan_add_variable(plan *p, int ndims, const MPI_Offset *shape);
void plan_add_request(plan *p, int variable);
/* A hyperslab of the last request. */
void plan_add_slab(plan *p, const MPI_Offset *start, const MPI_Offset *count);
void plan_free(plan *p);

/* --- values.c --- */

/* Each value is a function of its variable and position. Elements of requests are in the order of the hyperslabs. */
MPI_Offset count_slab(const slab *s, int ndims);
MPI_Offset count_request(const plan *p, const request *r);
MPI_Offset count_plan(const plan *p);
/* Memory for the values of all requests, zeros. */
double *allocate_values(const plan *p);
/* Store the values, or count those that differ. */
MPI_Offset walk_values(const plan *p, double *values, bool store);

/* --- e3sm.c --- */

const char *e3sm_make(plan *p, const part *part, int variant); /* 'f' or 'g' */

/* End the program with the text of an error code. */
void check(int code, const char *what);
#define TRY(call) check(call, #call)

#endif
