/* Writes and reads back the data of one workload, through the public interface only, so that any libpnetcdf of this
 * interface can be linked.
 *
 *     workloads FILE WORKLOAD [BYTES [MAP]]    BYTES: of each rank, about; MAP: a file with decompositions of E3SM
 *     workloads                                list the workloads
 *
 * With CLUSTER_MPI_IO in the environment, the library only defines the variables, and MPI-IO accesses them. With
 * CLUSTER_STEPS=N, they are record variables, and all is put and got for each of N records; CLUSTER_COMPUTE: after each
 * record the program computes for so many simulated seconds.
 *
 * A rank reads what the next rank wrote. Each value is a function of its place in the file. The last line on stdout has
 * the seconds of the puts and of the gets, and the bytes that were put. Exit status 77: the workload cannot run on this
 * number of ranks. */
#include "mpi_io.h"
#include "plan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 };

/* Defined by the preload that records phases. */
void parallel_fs_phase(const char *name) __attribute__((weak));
void parallel_fs_compute(double seconds) __attribute__((weak));

enum { PREPARED_ROWS = 16 };

typedef struct run {
    const char *path;
    int rank, nprocs;
    int ncid, prepared; /* a variable of a few bytes for each rank, before the others */
    int varids[MAX_VARIABLES];
    int nsteps, step; /* 0: the variables are not record variables */
    int steps_dim;    /* of records; -1: none, or not yet */
    double computes;  /* simulated seconds after each step */
    bool with_mpi_io;
    MPI_File file; /* with MPI-IO */
    MPI_Offset begins[MAX_VARIABLES];
    double *values;    /* of all requests, in their order */
    double seconds[2]; /* of puts and gets; closing belongs to the puts */
} run;

void check(int code, const char *what)
{
    if (code == NC_NOERR)
        return;
    fprintf(stderr, "workloads: %s: %s\n", what, ncmpi_strerror(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- phases --- */

static void begin_phase(const char *name)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (parallel_fs_phase != NULL)
        parallel_fs_phase(name);
}

static void end_phase(void)
{
    if (parallel_fs_phase != NULL)
        parallel_fs_phase(NULL);
}

/* --- accesses --- */

static void define_variable(const run *x, const variable *v, const char *name, int *varid)
{
    char of_dim[64];
    int dims[MAX_DIMS + 1] = {x->steps_dim}, first = x->steps_dim >= 0;

    for (int d = 0; d < v->ndims; d++) {
        snprintf(of_dim, sizeof of_dim, "%s_%d", name, d);
        TRY(ncmpi_def_dim(x->ncid, of_dim, v->shape[d], &dims[first + d]));
    }
    TRY(ncmpi_def_var(x->ncid, name, NC_DOUBLE, first + v->ndims, dims, varid));
}

static void define(run *x, const plan *p)
{
    variable prepared = {2, {PREPARED_ROWS, x->nprocs}};
    char name[32];

    begin_phase("define");
    TRY(ncmpi_create(MPI_COMM_WORLD, x->path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &x->ncid));
    define_variable(x, &prepared, "prepared", &x->prepared);
    if (x->nsteps > 0)
        TRY(ncmpi_def_dim(x->ncid, "steps", NC_UNLIMITED, &x->steps_dim));
    for (int i = 0; i < p->nvariables; i++) {
        snprintf(name, sizeof name, "v%d", i);
        define_variable(x, &p->variables[i], name, &x->varids[i]);
    }
    TRY(ncmpi_enddef(x->ncid));
    end_phase();
}

/* Rows of hyperslabs. */
static MPI_Offset count_pieces(const plan *p)
{
    MPI_Offset n = 0;

    for (const request *r = p->requests; r < p->requests + p->nrequests; r++) {
        int ndims = p->variables[r->variable].ndims;

        for (const slab *s = p->slabs + r->first_slab; s < p->slabs + r->first_slab + r->nslabs; s++)
            n += count_slab(s, ndims) / s->count[ndims - 1];
    }
    return n;
}

/* Where the variables begin in the file, and how many pieces a rank has, for the program that examines the accesses. */
static void describe(run *x, const plan *p)
{
    if (x->rank == 0)
        printf("pieces %lld\n", (long long)count_pieces(p));
    for (int i = 0; i < p->nvariables; i++) {
        TRY(ncmpi_inq_varoffset(x->ncid, x->varids[i], &x->begins[i]));
        if (x->rank == 0)
            printf("offset %lld\n", (long long)x->begins[i]);
    }
}

/* Each rank has a column. A library may make what it needs for collective access at the first call that needs it. */
static void prepare(const run *x, direction direction)
{
    MPI_Offset start[2] = {0, x->rank}, count[2] = {PREPARED_ROWS, 1};
    double values[PREPARED_ROWS] = {0};

    begin_phase("prepare");
    if (direction == PUT)
        TRY(ncmpi_put_vara_double_all(x->ncid, x->prepared, start, count, values));
    else
        TRY(ncmpi_get_vara_double_all(x->ncid, x->prepared, start, count, values));
    end_phase();
}

/* A hyperslab, in the record of this step. */
typedef struct place {
    MPI_Offset start[MAX_DIMS + 1], count[MAX_DIMS + 1];
} place;

static place find_place(const run *x, const slab *s)
{
    place p = {{x->step}, {1}};
    int first = x->nsteps > 0;

    memcpy(p.start + first, s->start, sizeof s->start);
    memcpy(p.count + first, s->count, sizeof s->count);
    return p;
}

static void access_blocking(const run *x, const plan *p, const request *r, double *values, direction direction)
{
    place at = find_place(x, &p->slabs[r->first_slab]);
    int varid = x->varids[r->variable];

    if (x->with_mpi_io)
        mpi_io_access(x->file, p, r, 1, x->begins, values, direction);
    else if (direction == PUT)
        TRY(ncmpi_put_vara_double_all(x->ncid, varid, at.start, at.count, values));
    else
        TRY(ncmpi_get_vara_double_all(x->ncid, varid, at.start, at.count, values));
}

/* A list of hyperslabs; the library copies it. */
static void post_list(const run *x, direction direction, int varid, const slab *slabs, int n, double *values)
{
    MPI_Offset **starts = malloc((size_t)n * sizeof *starts), **counts = malloc((size_t)n * sizeof *counts);
    place *places = malloc((size_t)n * sizeof *places);

    if (starts == NULL || counts == NULL || places == NULL)
        check(NC_ENOMEM, "a list of hyperslabs");
    for (int i = 0; i < n; i++) {
        places[i] = find_place(x, &slabs[i]);
        starts[i] = places[i].start;
        counts[i] = places[i].count;
    }
    if (direction == PUT)
        TRY(ncmpi_iput_varn_double(x->ncid, varid, n, starts, counts, values, NULL));
    else
        TRY(ncmpi_iget_varn_double(x->ncid, varid, n, starts, counts, values, NULL));
    free(starts);
    free(counts);
    free(places);
}

static void post(const run *x, direction direction, int varid, const slab *s, double *values)
{
    place at = find_place(x, s);

    if (direction == PUT)
        TRY(ncmpi_iput_vara_double(x->ncid, varid, at.start, at.count, values, NULL));
    else
        TRY(ncmpi_iget_vara_double(x->ncid, varid, at.start, at.count, values, NULL));
}

static void run_blocking(const run *x, const plan *p, direction direction)
{
    double *values = x->values;

    for (int i = 0; i < p->nrequests; i++) {
        const request *r = &p->requests[i];

        begin_phase(direction == PUT ? "put" : "get");
        access_blocking(x, p, r, values, direction);
        end_phase();
        values += count_request(p, r);
    }
}

static void wait_for_all(const run *x, const plan *p, direction direction)
{
    double *values = x->values;

    for (int i = 0; i < p->nrequests; i++) {
        const request *r = &p->requests[i];
        const slab *slabs = &p->slabs[r->first_slab];

        if (r->nslabs == 1)
            post(x, direction, x->varids[r->variable], slabs, values);
        else if (r->nslabs > 1)
            post_list(x, direction, x->varids[r->variable], slabs, r->nslabs, values);
        values += count_request(p, r);
    }
    TRY(ncmpi_wait_all(x->ncid, direction == PUT ? NC_PUT_REQ_ALL : NC_GET_REQ_ALL, NULL, NULL));
}

static void run_nonblocking(const run *x, const plan *p, direction direction)
{
    begin_phase(direction == PUT ? "put" : "get");
    if (x->with_mpi_io)
        mpi_io_access(x->file, p, p->requests, p->nrequests, x->begins, x->values, direction);
    else
        wait_for_all(x, p, direction);
    end_phase();
}

static void access_step(const run *x, const plan *p, direction direction)
{
    if (p->nonblocking)
        run_nonblocking(x, p, direction);
    else
        run_blocking(x, p, direction);
}

static void compute(const run *x)
{
    begin_phase("compute");
    if (parallel_fs_compute != NULL)
        parallel_fs_compute(x->computes);
    end_phase();
}

/* Values of a step differ from those of the step before by 0.5, which no value of a variable has. */
static void add_steps(const plan *p, double *values, int steps)
{
    for (MPI_Offset i = 0; i < count_plan(p); i++)
        values[i] += 0.5 * steps;
}

static void access_steps(run *x, const plan *p, direction direction)
{
    for (x->step = 0; x->step < x->nsteps; x->step++) {
        if (direction == PUT && x->step > 0)
            add_steps(p, x->values, 1);
        access_step(x, p, direction);
        compute(x);
        if (direction == GET)
            add_steps(p, x->values, -x->step);
        if (direction == GET && walk_values(p, x->values, false) > 0)
            check(NC_EREAD, "wrong values were read");
    }
}

static void access_all(run *x, const plan *p, direction direction)
{
    double begin;

    x->values = allocate_values(p);
    prepare(x, direction);
    if (direction == PUT)
        walk_values(p, x->values, true);
    if (x->with_mpi_io)
        mpi_io_open(x->path, &x->file);
    begin = MPI_Wtime();
    if (x->nsteps > 0)
        access_steps(x, p, direction);
    else
        access_step(x, p, direction);
    if (x->with_mpi_io)
        MPI_File_close(&x->file);
    x->seconds[direction] += MPI_Wtime() - begin;
    if (x->nsteps == 0 && direction == GET && walk_values(p, x->values, false) > 0)
        check(NC_EREAD, "wrong values were read");
    free(x->values);
}

/* --- main --- */

static plan *make_plan(const workload *w, const part *part)
{
    plan *p = calloc(1, sizeof *p);
    const char *reason;

    if (p == NULL)
        check(NC_ENOMEM, "a plan");
    reason = w->make(p, part, w->variant);
    if (reason == NULL)
        return p;
    if (part->rank == 0)
        printf("%s\n", reason);
    plan_free(p);
    return NULL;
}

/* The seconds are those of the slowest rank, the bytes those of all ranks. */
static void print_times(const run *x, MPI_Offset bytes)
{
    double slowest[2], sum, own = (double)bytes;

    MPI_Reduce(x->seconds, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (x->rank == 0)
        printf("times %.9f %.9f %.0f\n", slowest[PUT], slowest[GET], sum);
}

static void close_written(run *x)
{
    double begin;

    begin_phase("close");
    begin = MPI_Wtime();
    TRY(ncmpi_close(x->ncid));
    x->seconds[PUT] += MPI_Wtime() - begin;
    end_phase();
}

static double read_number(const char *name)
{
    const char *text = getenv(name);

    return text != NULL ? atof(text) : 0;
}

static int execute(const workload *w, const char *path, part part)
{
    run x = {.path = path,
             .rank = part.rank,
             .nprocs = part.nprocs,
             .nsteps = (int)read_number("CLUSTER_STEPS"),
             .steps_dim = -1,
             .computes = read_number("CLUSTER_COMPUTE"),
             .with_mpi_io = getenv("CLUSTER_MPI_IO") != NULL};
    plan *put = make_plan(w, &part), *get;
    MPI_Offset bytes;

    if (put == NULL)
        return SKIPPED;
    define(&x, put);
    describe(&x, put);
    bytes = count_plan(put) * (MPI_Offset)sizeof(double);
    access_all(&x, put, PUT);
    if (put->updates) {
        access_all(&x, put, GET);
        access_all(&x, put, PUT);
    }
    plan_free(put);
    close_written(&x);
    part.rank = (part.rank + 1) % part.nprocs;
    part.reads = true;
    get = make_plan(w, &part);
    begin_phase("open");
    TRY(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &x.ncid));
    end_phase();
    access_all(&x, get, GET);
    plan_free(get);
    TRY(ncmpi_close(x.ncid));
    print_times(&x, bytes);
    return 0;
}

int main(int argc, char **argv)
{
    part part = {.bytes = 2 << 20};
    const workload *w;
    int status = 2;

    if (argc < 3) {
        for (w = workloads; w->name != NULL; w++)
            puts(w->name);
        return argc == 1 ? 0 : status;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &part.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &part.nprocs);
    if (argc > 3)
        part.bytes = atoll(argv[3]);
    part.map = argc > 4 ? argv[4] : NULL;
    w = workload_find(argv[2]);
    if (w != NULL && part.bytes > 0)
        status = execute(w, argv[1], part);
    else if (part.rank == 0)
        fprintf(stderr, "workloads: no workload %s, or %s is no number of bytes\n", argv[2], argc > 3 ? argv[3] : "");
    MPI_Finalize();
    return status;
}
