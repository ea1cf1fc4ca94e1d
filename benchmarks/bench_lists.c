/* Lists of small pieces, timed on the public API alone, so that any library with this API can be linked and compared
 * (compare.py runs two such programs in turn).
 *
 * Prints one line for each case: its name, wall time of the slowest rank in ms, CPU time of all ranks in ms, averages
 * of several repetitions after one that is not timed. Values that were read are compared.
 * Usage: bench_lists [--dir FOLDER] [--maps FOLDER] [--only TEXT] [--repeat N] */
#include "bench_calls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH = 8 /* ints of a request */, DECOMPOSITIONS = 6, PATH = 1024 };

/* Hyperslabs of this rank, in the order of the variable. */
struct list {
    MPI_Offset *numbers, **starts, **counts, elements;
    int n, ndims;
};

struct variable {
    int varid, decomposition;
    char *values, *got;
};

struct bench {
    int rank, nprocs, ncid, varid, repeat;
    const char *dir, *maps, *only;
    char path[PATH];
    long n; /* requests */
    long *order;
    int *values, *got;
    struct list lists[DECOMPOSITIONS];
    struct variable *variables;
    int nvariables;
    MPI_Datatype type;
};

static void *allocate(size_t n, size_t size)
{
    void *memory = calloc(n + 1, size);
    check(memory == NULL ? NC_ENOMEM : NC_NOERR, "memory");
    return memory;
}

static void measure(struct bench *b, const char *name, void (*run)(struct bench *b))
{
    double wall, cpu;
    run(b);
    MPI_Barrier(MPI_COMM_WORLD);
    wall = MPI_Wtime();
    cpu = cpu_now();
    for (int i = 0; i < b->repeat; i++)
        run(b);
    print_times(name, (MPI_Wtime() - wall) / b->repeat, (cpu_now() - cpu) / b->repeat);
}

static void create(struct bench *b)
{
    DO(ncmpi_create(MPI_COMM_WORLD, b->path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &b->ncid));
}

static void close_and_remove(struct bench *b)
{
    DO(ncmpi_close(b->ncid));
    if (b->rank == 0)
        unlink(b->path);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- requests of 32 bytes, which interleave with those of the other ranks --- */

static MPI_Offset start_of(const struct bench *b, long i)
{
    return ((MPI_Offset)b->order[i] * b->nprocs + b->rank) * LENGTH;
}

static void put_requests(struct bench *b)
{
    MPI_Offset count = LENGTH;
    for (long i = 0; i < b->n; i++) {
        MPI_Offset start = start_of(b, i);
        DO(ncmpi_iput_vara_int(b->ncid, b->varid, &start, &count, b->values + b->order[i] * LENGTH, NULL));
    }
    DO(ncmpi_wait_all(b->ncid, NC_REQ_ALL, NULL, NULL));
}

static void buffer_requests(struct bench *b)
{
    MPI_Offset count = LENGTH;
    DO(ncmpi_buffer_attach(b->ncid, (MPI_Offset)b->n * LENGTH * (MPI_Offset)sizeof(int)));
    for (long i = 0; i < b->n; i++) {
        MPI_Offset start = start_of(b, i);
        DO(ncmpi_bput_vara_int(b->ncid, b->varid, &start, &count, b->values + b->order[i] * LENGTH, NULL));
    }
    DO(ncmpi_wait_all(b->ncid, NC_REQ_ALL, NULL, NULL));
    DO(ncmpi_buffer_detach(b->ncid));
}

static void get_requests(struct bench *b)
{
    MPI_Offset count = LENGTH;
    for (long i = 0; i < b->n; i++) {
        MPI_Offset start = start_of(b, i);
        DO(ncmpi_iget_vara_int(b->ncid, b->varid, &start, &count, b->got + b->order[i] * LENGTH, NULL));
    }
    DO(ncmpi_wait_all(b->ncid, NC_REQ_ALL, NULL, NULL));
}

static void put_list(struct bench *b)
{
    const struct list *list = &b->lists[0];
    DO(ncmpi_put_varn_int_all(b->ncid, b->varid, list->n, list->starts, list->counts, b->values));
}

static void get_list(struct bench *b)
{
    const struct list *list = &b->lists[0];
    DO(ncmpi_get_varn_int_all(b->ncid, b->varid, list->n, list->starts, list->counts, b->got));
}

static void compare_requests(struct bench *b)
{
    size_t bytes = (size_t)b->n * LENGTH * sizeof *b->got;
    if (memcmp(b->got, b->values, bytes) != 0)
        check(NC_EINTERNAL, "values differ");
    memset(b->got, 0, bytes);
}

static void list_allocate(struct list *list, int n, int ndims)
{
    *list = (struct list){.ndims = ndims};
    list->numbers = allocate(2 * (size_t)n * (size_t)ndims, sizeof *list->numbers);
    list->starts = allocate((size_t)n, sizeof *list->starts);
    list->counts = allocate((size_t)n, sizeof *list->counts);
}

static void list_free(struct list *list)
{
    free(list->numbers);
    free(list->starts);
    free(list->counts);
}

/* Memory for one more hyperslab of `elements`. */
static void list_add(struct list *list, MPI_Offset elements)
{
    list->starts[list->n] = list->numbers + 2 * list->n * list->ndims;
    list->counts[list->n] = list->starts[list->n] + list->ndims;
    list->elements += elements;
    list->n++;
}

static void requests_begin(struct bench *b, long n)
{
    int dim;
    b->n = n;
    b->order = allocate((size_t)n, sizeof *b->order);
    b->values = allocate((size_t)n * LENGTH, sizeof *b->values);
    b->got = allocate((size_t)n * LENGTH, sizeof *b->got);
    list_allocate(&b->lists[0], (int)n, 1);
    for (long i = 0; i < n * LENGTH; i++)
        b->values[i] = (int)((unsigned)i * 2654435761u) + b->rank;
    for (long i = 0; i < n; i++) {
        b->order[i] = i;
        list_add(&b->lists[0], LENGTH);
        b->lists[0].starts[i][0] = start_of(b, i);
        b->lists[0].counts[i][0] = LENGTH;
    }
    create(b);
    DO(ncmpi_def_dim(b->ncid, "x", (MPI_Offset)n * b->nprocs * LENGTH, &dim));
    DO(ncmpi_def_var(b->ncid, "v", NC_INT, 1, &dim, &b->varid));
    DO(ncmpi_enddef(b->ncid));
}

static void requests_end(struct bench *b)
{
    close_and_remove(b);
    list_free(&b->lists[0]);
    free(b->order);
    free(b->values);
    free(b->got);
}

static void case_requests(struct bench *b)
{
    requests_begin(b, 10000);
    measure(b, "10000 iputs in order", put_requests);
    measure(b, "10000 igets in order", get_requests);
    compare_requests(b);
    measure(b, "10000 bputs in order", buffer_requests);
    measure(b, "put_varn of 10000 pieces", put_list);
    measure(b, "get_varn of 10000 pieces", get_list);
    compare_requests(b);
    requests_end(b);
    requests_begin(b, 100000);
    shuffle(b->order, b->n);
    measure(b, "100000 iputs shuffled", put_requests);
    measure(b, "100000 igets shuffled", get_requests);
    compare_requests(b);
    requests_end(b);
}

/* --- decompositions of the climate model E3SM, from files of the E3SM-IO benchmark --- */

/* How many variables have which decomposition. */
struct mix {
    const char *name, *map;
    nc_type type;
    int count[DECOMPOSITIONS];
};

static const struct mix mixes[] = {
    {"E3SM F", "e3sm_map_f_case_16p.nc", NC_FLOAT, {1, 323, 63, 0, 0, 0}},
    {"E3SM G", "e3sm_map_g_case_16p.nc", NC_DOUBLE, {6, 2, 25, 2, 2, 4}},
};

struct run {
    int offset, length;
};

static int compare_runs(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static MPI_Offset length_of(int ncid, const char *dim)
{
    int id;
    MPI_Offset length;
    DO(ncmpi_inq_dimid(ncid, dim, &id));
    DO(ncmpi_inq_dimlen(ncid, id, &length));
    return length;
}

/* All values of an integer variable of decomposition d. */
static int *read_ints(int ncid, int d, const char *what, MPI_Offset n)
{
    char name[64];
    int varid, *values = allocate((size_t)n, sizeof *values);
    snprintf(name, sizeof name, "D%d.%s", d + 1, what);
    DO(ncmpi_inq_varid(ncid, name, &varid));
    DO(ncmpi_get_var_int_all(ncid, varid, values));
    return values;
}

/* The runs of the processes of the map whose work this rank does, in ascending order. */
static struct run *read_runs(const struct bench *b, int ncid, int d, int *n)
{
    char dim[64];
    int procs = (int)length_of(ncid, "decomp_nprocs"), first = procs * b->rank / b->nprocs,
        end = procs * (b->rank + 1) / b->nprocs, at = 0;
    snprintf(dim, sizeof dim, "D%d.total_nreqs", d + 1);
    MPI_Offset total = length_of(ncid, dim);
    int *nreqs = read_ints(ncid, d, "nreqs", procs), *offsets = read_ints(ncid, d, "offsets", total),
        *lengths = read_ints(ncid, d, "lengths", total);
    struct run *runs = allocate((size_t)total, sizeof *runs);
    *n = 0;
    for (int p = 0; p < end; at += nreqs[p++])
        for (int i = 0; i < nreqs[p] && p >= first; i++)
            runs[(*n)++] = (struct run){offsets[at + i], lengths[at + i]};
    qsort(runs, (size_t)*n, sizeof *runs, compare_runs);
    free(nreqs);
    free(offsets);
    free(lengths);
    return runs;
}

/* Add a hyperslab of the only record; adjacent ones of a row become one. */
static void add_run(struct list *list, const struct run *run, int columns)
{
    int row = run->offset / columns, column = run->offset % columns, last = list->ndims - 1;
    MPI_Offset *start, *count;
    if (list->n > 0) {
        start = list->starts[list->n - 1];
        count = list->counts[list->n - 1];
        if ((list->ndims == 2 || start[1] == row) && start[last] + count[last] == column) {
            count[last] += run->length;
            list->elements += run->length;
            return;
        }
    }
    list_add(list, run->length);
    start = list->starts[list->n - 1];
    count = list->counts[list->n - 1];
    for (int i = 0; i < list->ndims; i++)
        count[i] = 1;
    if (list->ndims == 3)
        start[1] = row;
    start[last] = column;
    count[last] = run->length;
}

/* The list of decomposition d, and its dimensions in the file of the benchmark. */
static void read_decomposition(struct bench *b, int ncid, int d, int dims[3])
{
    char name[64];
    int ndims, shape[2], n;
    struct run *runs = read_runs(b, ncid, d, &n);
    snprintf(name, sizeof name, "D%d.ndims", d + 1);
    DO(ncmpi_get_att_int(ncid, NC_GLOBAL, name, &ndims));
    check(ndims > 2 ? NC_EINTERNAL : NC_NOERR, "more than 2 dimensions");
    snprintf(name, sizeof name, "D%d.dims", d + 1);
    DO(ncmpi_get_att_int(ncid, NC_GLOBAL, name, shape));
    for (int i = 0; i < ndims; i++) {
        snprintf(name, sizeof name, "D%d_%d", d + 1, i);
        DO(ncmpi_def_dim(b->ncid, name, shape[i], &dims[1 + i]));
    }
    list_allocate(&b->lists[d], n, 1 + ndims);
    for (int i = 0; i < n; i++)
        add_run(&b->lists[d], &runs[i], shape[ndims - 1]);
    free(runs);
}

static void define_variable(struct bench *b, nc_type type, int d, const int *dims)
{
    struct variable *v = &b->variables[b->nvariables];
    size_t size = type == NC_FLOAT ? sizeof(float) : sizeof(double), n = (size_t)b->lists[d].elements;
    char name[32];
    snprintf(name, sizeof name, "variable_%03d", b->nvariables++);
    v->decomposition = d;
    v->values = allocate(n, size);
    v->got = allocate(n, size);
    for (size_t i = 0; i < n; i++) {
        double value = (double)(i % 1000) + b->rank + b->nvariables;
        if (type == NC_FLOAT)
            ((float *)(void *)v->values)[i] = (float)value;
        else
            ((double *)(void *)v->values)[i] = value;
    }
    DO(ncmpi_def_var(b->ncid, name, type, b->lists[d].ndims, dims, &v->varid));
}

/* Variables of different decompositions alternate, as in the files of the model. */
static void define_mix(struct bench *b, const struct mix *mix, int dims[][3])
{
    int left[DECOMPOSITIONS], total = 0;
    for (int d = 0; d < DECOMPOSITIONS; d++)
        total += left[d] = mix->count[d];
    b->variables = allocate((size_t)total, sizeof *b->variables);
    b->type = mix->type == NC_FLOAT ? MPI_FLOAT : MPI_DOUBLE;
    while (b->nvariables < total)
        for (int d = 0; d < DECOMPOSITIONS; d++)
            for (int i = 0; left[d] > 0 && i < mix->count[d] / 20 + 1; i++, left[d]--)
                define_variable(b, mix->type, d, dims[d]);
}

/* False if there is no such map. */
static int mix_begin(struct bench *b, const struct mix *mix)
{
    char map[PATH];
    int ncid, time, dims[DECOMPOSITIONS][3];
    if (b->maps == NULL || (size_t)snprintf(map, sizeof map, "%s/%s", b->maps, mix->map) >= sizeof map ||
        access(map, R_OK) != 0)
        return 0;
    DO(ncmpi_open(MPI_COMM_SELF, map, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    create(b);
    DO(ncmpi_def_dim(b->ncid, "time", NC_UNLIMITED, &time));
    for (int d = 0; d < DECOMPOSITIONS; d++) {
        dims[d][0] = time;
        if (mix->count[d] > 0)
            read_decomposition(b, ncid, d, dims[d]);
    }
    DO(ncmpi_close(ncid));
    define_mix(b, mix, dims);
    DO(ncmpi_enddef(b->ncid));
    return 1;
}

static void mix_end(struct bench *b, const struct mix *mix)
{
    close_and_remove(b);
    for (int i = 0; i < b->nvariables; i++) {
        free(b->variables[i].values);
        free(b->variables[i].got);
    }
    for (int d = 0; d < DECOMPOSITIONS; d++)
        if (mix->count[d] > 0)
            list_free(&b->lists[d]);
    free(b->variables);
    b->nvariables = 0;
}

static void put_variables(struct bench *b)
{
    for (const struct variable *v = b->variables; v < b->variables + b->nvariables; v++) {
        const struct list *list = &b->lists[v->decomposition];
        DO(ncmpi_iput_varn(b->ncid, v->varid, list->n, list->starts, list->counts, v->values, list->elements, b->type,
                           NULL));
    }
    DO(ncmpi_wait_all(b->ncid, NC_REQ_ALL, NULL, NULL));
}

static void get_variables(struct bench *b)
{
    for (const struct variable *v = b->variables; v < b->variables + b->nvariables; v++) {
        const struct list *list = &b->lists[v->decomposition];
        DO(ncmpi_iget_varn(b->ncid, v->varid, list->n, list->starts, list->counts, v->got, list->elements, b->type,
                           NULL));
    }
    DO(ncmpi_wait_all(b->ncid, NC_REQ_ALL, NULL, NULL));
}

static void compare_variables(struct bench *b)
{
    size_t size = b->type == MPI_FLOAT ? sizeof(float) : sizeof(double);
    for (const struct variable *v = b->variables; v < b->variables + b->nvariables; v++)
        if (memcmp(v->got, v->values, (size_t)b->lists[v->decomposition].elements * size) != 0)
            check(NC_EINTERNAL, "values differ");
}

static void case_mix(struct bench *b, const struct mix *mix)
{
    char name[64];
    if (!mix_begin(b, mix)) {
        if (b->rank == 0)
            fprintf(stderr, "bench_lists: %s is skipped: --maps names no folder with %s\n", mix->name, mix->map);
        return;
    }
    snprintf(name, sizeof name, "%s, iput_varn of %d variables", mix->name, b->nvariables);
    measure(b, name, put_variables);
    snprintf(name, sizeof name, "%s, iget_varn of %d variables", mix->name, b->nvariables);
    measure(b, name, get_variables);
    compare_variables(b);
    mix_end(b, mix);
}

int main(int argc, char **argv)
{
    struct bench b = {.dir = "/dev/shm", .only = "", .maps = getenv("PNC_TEST_DATA"), .repeat = 10};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.nprocs);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--dir") == 0)
            b.dir = argv[i + 1];
        else if (strcmp(argv[i], "--maps") == 0)
            b.maps = argv[i + 1];
        else if (strcmp(argv[i], "--only") == 0)
            b.only = argv[i + 1];
        else if (strcmp(argv[i], "--repeat") == 0)
            b.repeat = atoi(argv[i + 1]);
    }
    snprintf(b.path, sizeof b.path, "%s/bench_lists.nc", b.dir);
    if (strstr("requests", b.only) != NULL)
        case_requests(&b);
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++)
        if (strstr(mixes[i].name, b.only) != NULL)
            case_mix(&b, &mixes[i]);
    MPI_Finalize();
    return 0;
}
