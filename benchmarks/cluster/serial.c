/* Writes and reads the data of a workload by one process and serial netCDF, to compare with: as a program does that
 * collects all data on one rank, without the time to collect them.
 *
 *     serial FILE WORKLOAD RANKS [BYTES [MAP]]    RANKS, BYTES: of the parallel program
 *
 * The last line on stdout is that of the program workloads. Exit status 77: it cannot run on this number of ranks. */
#define _POSIX_C_SOURCE 200809L
#include "plan.h"

#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SKIPPED = 77 };

typedef struct run {
    const workload *workload;
    part part;
    int ncid;
    int varids[MAX_VARIABLES];
    double seconds;
    MPI_Offset bytes;
} run;

void check(int code, const char *what)
{
    if (code == NC_NOERR)
        return;
    fprintf(stderr, "serial: %s: %s\n", what, nc_strerror(code));
    exit(1);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* --- the file --- */

static void define(run *x, const plan *p)
{
    char name[64];
    int dims[MAX_DIMS];

    for (int i = 0; i < p->nvariables; i++) {
        const variable *v = &p->variables[i];

        for (int d = 0; d < v->ndims; d++) {
            snprintf(name, sizeof name, "v%d_%d", i, d);
            TRY(nc_def_dim(x->ncid, name, (size_t)v->shape[d], &dims[d]));
        }
        snprintf(name, sizeof name, "v%d", i);
        TRY(nc_def_var(x->ncid, name, NC_DOUBLE, v->ndims, dims, &x->varids[i]));
    }
    TRY(nc_set_fill(x->ncid, NC_NOFILL, NULL));
    TRY(nc_enddef(x->ncid));
}

static void access_slab(const run *x, const plan *p, const request *r, const slab *s, double *values)
{
    size_t start[MAX_DIMS], count[MAX_DIMS];

    for (int d = 0; d < p->variables[r->variable].ndims; d++) {
        start[d] = (size_t)s->start[d];
        count[d] = (size_t)s->count[d];
    }
    if (x->part.reads)
        TRY(nc_get_vara_double(x->ncid, x->varids[r->variable], start, count, values));
    else
        TRY(nc_put_vara_double(x->ncid, x->varids[r->variable], start, count, values));
}

/* The data of one rank. */
static void access_part(run *x, const plan *p)
{
    double *values = allocate_values(p), *at = values, begin;

    if (!x->part.reads)
        walk_values(p, values, true);
    begin = now();
    for (const request *r = p->requests; r < p->requests + p->nrequests; r++)
        for (int i = 0; i < r->nslabs; i++) {
            const slab *s = &p->slabs[r->first_slab + i];

            access_slab(x, p, r, s, at);
            at += count_slab(s, p->variables[r->variable].ndims);
        }
    x->seconds += now() - begin;
    x->bytes += count_plan(p) * (MPI_Offset)sizeof(double);
    if (x->part.reads && walk_values(p, values, false) > 0)
        check(NC_EINVAL, "wrong values were read");
    free(values);
}

/* The plan of a rank; NULL: the workload cannot run. */
static plan *make_plan(run *x, int rank)
{
    plan *p = calloc(1, sizeof *p);
    const char *reason;

    if (p == NULL)
        check(NC_ENOMEM, "a plan");
    x->part.rank = rank;
    reason = x->workload->make(p, &x->part, x->workload->variant);
    if (reason == NULL)
        return p;
    printf("%s\n", reason);
    plan_free(p);
    return NULL;
}

/* Returns the seconds; less than 0: the workload cannot run. */
static double access_all(run *x, const char *path)
{
    double begin;

    x->seconds = 0;
    x->bytes = 0;
    for (int rank = 0; rank < x->part.nprocs; rank++) {
        plan *p = make_plan(x, rank);

        if (p == NULL)
            return -1;
        if (rank == 0 && x->part.reads)
            TRY(nc_open(path, NC_NOWRITE, &x->ncid));
        if (rank == 0 && !x->part.reads) {
            TRY(nc_create(path, NC_CLOBBER | NC_64BIT_DATA, &x->ncid));
            define(x, p);
        }
        for (int times = p->updates && !x->part.reads ? 2 : 1; times > 0; times--)
            access_part(x, p);
        plan_free(p);
    }
    begin = now();
    TRY(nc_close(x->ncid));
    return x->seconds + now() - begin;
}

int main(int argc, char **argv)
{
    run x = {.part = {.bytes = 2 << 20}};
    double put, get;
    MPI_Offset bytes;

    MPI_Init(&argc, &argv); /* for its functions that divide ranks */
    x.workload = argc > 3 ? workload_find(argv[2]) : NULL;
    x.part.nprocs = argc > 3 ? atoi(argv[3]) : 0;
    if (argc > 4)
        x.part.bytes = atoll(argv[4]);
    x.part.map = argc > 5 ? argv[5] : NULL;
    if (x.workload == NULL || x.part.nprocs < 1 || x.part.bytes < 1) {
        fputs("usage: serial FILE WORKLOAD RANKS [BYTES [MAP]]\n", stderr);
        return 2;
    }
    put = access_all(&x, argv[1]);
    if (put < 0)
        return SKIPPED;
    bytes = x.bytes;
    x.part.reads = true;
    get = access_all(&x, argv[1]);
    printf("times %.9f %.9f %lld\n", put, get, (long long)bytes);
    MPI_Finalize();
    return 0;
}
