/* What programs do all day, timed on the public API alone, so that any library with this API can be linked and compared
 * (compare.py runs two such programs in turn).
 *
 * Prints one line for each case: its name, wall time of the slowest rank in ms, CPU time of all ranks in ms. Making the
 * file that a case works on is not timed.
 * Usage: bench_clients [--dir FOLDER] [--only TEXT] */
#include "bench_calls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    VARIABLES = 20000, /* of a huge header */
    CHANGES = 2000,    /* of names and attributes in it */
    REQUESTS = 100000, /* nonblocking, per rank */
    REQUEST = 8,       /* ints of one */
    SMALL_PUTS = 2000, /* collective calls of a few bytes */
    RECORDS = 500,
    BYTES = 128 << 20, /* of a large variable */
    COLUMNS = 1024,    /* doubles in a row of it */
    FIELDS = 24        /* doubles of each cell of a mesh */
};

struct bench {
    int rank, nprocs, ncid, varid;
    const char *dir, *only;
    char path[1024];
    double *values;     /* this rank's part of a large variable */
    MPI_Offset rows, n; /* its rows, and its elements */
};

static void create(struct bench *b)
{
    DO(ncmpi_create(MPI_COMM_WORLD, b->path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &b->ncid));
}

static void open_again(struct bench *b, int mode)
{
    DO(ncmpi_open(MPI_COMM_WORLD, b->path, mode, MPI_INFO_NULL, &b->ncid));
}

static void close_file(struct bench *b)
{
    DO(ncmpi_close(b->ncid));
}

static void nothing(struct bench *b)
{
    (void)b;
}

/* --- headers --- */
static void huge_header(struct bench *b)
{
    create(b);
    define_variables(b->ncid, VARIABLES, 4, true);
    DO(ncmpi_enddef(b->ncid));
}

static void define_and_close(struct bench *b)
{
    huge_header(b);
    close_file(b);
}

static void open_and_close(struct bench *b)
{
    open_again(b, NC_NOWRITE);
    close_file(b);
}

/* Small variables that are filled, without attributes. */
static void many_to_fill(struct bench *b)
{
    int old;
    create(b);
    DO(ncmpi_set_fill(b->ncid, NC_FILL, &old));
    define_variables(b->ncid, VARIABLES, 16, false);
}

static void rename_variables(struct bench *b)
{
    char name[32];
    for (int i = 0; i < CHANGES; i++) {
        snprintf(name, sizeof name, "renamed__%06d", i);
        DO(ncmpi_rename_var(b->ncid, i, name));
    }
}

static void overwrite_attributes(struct bench *b)
{
    for (int i = 0; i < CHANGES; i++)
        DO(ncmpi_put_att_text(b->ncid, i, "units", 5, "m h-1"));
}

/* --- small accesses --- */
static void line_of_ints(struct bench *b)
{
    int dim;
    create(b);
    DO(ncmpi_def_dim(b->ncid, "x", (MPI_Offset)REQUESTS * REQUEST * b->nprocs, &dim));
    DO(ncmpi_def_var(b->ncid, "v", NC_INT, 1, &dim, &b->varid));
    DO(ncmpi_enddef(b->ncid));
}

static void request_place(const struct bench *b, int i, MPI_Offset *start, MPI_Offset *count)
{
    *start = ((MPI_Offset)i * b->nprocs + b->rank) * REQUEST;
    *count = REQUEST;
}

static void many_iputs(struct bench *b)
{
    MPI_Offset start, count;
    for (int i = 0; i < REQUESTS; i++) {
        request_place(b, i, &start, &count);
        DO(ncmpi_iput_vara_int(b->ncid, b->varid, &start, &count, (int *)b->values + i * REQUEST, NULL));
    }
    DO(ncmpi_wait_all(b->ncid, NC_REQ_ALL, NULL, NULL));
}

static void many_places(struct bench *b)
{
    MPI_Offset *places = malloc(2 * REQUESTS * sizeof *places);
    MPI_Offset **starts = malloc(2 * REQUESTS * sizeof *starts);
    if (places == NULL || starts == NULL)
        check(NC_ENOMEM, "memory");
    for (int i = 0; i < REQUESTS; i++) {
        starts[i] = places + 2 * i;
        starts[REQUESTS + i] = places + 2 * i + 1;
        request_place(b, i, starts[i], starts[REQUESTS + i]);
    }
    DO(ncmpi_put_varn_int_all(b->ncid, b->varid, REQUESTS, starts, starts + REQUESTS, (int *)b->values));
    free(starts);
    free(places);
}

static void small_puts(struct bench *b)
{
    MPI_Offset start, count;
    for (int i = 0; i < SMALL_PUTS; i++) {
        request_place(b, i, &start, &count);
        DO(ncmpi_put_vara_int_all(b->ncid, b->varid, &start, &count, (int *)b->values + i * REQUEST));
    }
}

static void small_gets(struct bench *b)
{
    MPI_Offset start, count;
    int got[REQUEST];
    for (int i = 0; i < SMALL_PUTS; i++) {
        request_place(b, i, &start, &count);
        DO(ncmpi_get_vara_int_all(b->ncid, b->varid, &start, &count, got));
        if (memcmp(got, (int *)b->values + i * REQUEST, sizeof got) != 0)
            check(NC_EINTERNAL, "values differ");
    }
}

static void line_of_ints_with_values(struct bench *b)
{
    line_of_ints(b);
    small_puts(b);
}

static void record_variables(struct bench *b)
{
    int dims[2], var;
    create(b);
    DO(ncmpi_def_dim(b->ncid, "time", NC_UNLIMITED, &dims[0]));
    DO(ncmpi_def_dim(b->ncid, "x", (MPI_Offset)b->nprocs * COLUMNS, &dims[1]));
    DO(ncmpi_def_var(b->ncid, "u", NC_DOUBLE, 2, dims, &b->varid));
    DO(ncmpi_def_var(b->ncid, "v", NC_DOUBLE, 2, dims, &var));
    DO(ncmpi_enddef(b->ncid));
}

static void append_records(struct bench *b)
{
    for (int i = 0; i < RECORDS; i++)
        for (int var = 0; var < 2; var++) {
            MPI_Offset start[2] = {i, (MPI_Offset)b->rank * COLUMNS}, count[2] = {1, COLUMNS};
            DO(ncmpi_put_vara_double_all(b->ncid, b->varid + var, start, count, b->values));
        }
}

/* --- variables that lie side by side in each cell in memory --- */
static MPI_Offset cells_of(const struct bench *b)
{
    return b->n / FIELDS;
}

static void fields(struct bench *b)
{
    int dim, var;
    char name[32];
    create(b);
    DO(ncmpi_def_dim(b->ncid, "cell", cells_of(b) * b->nprocs, &dim));
    for (int i = 0; i < FIELDS; i++) {
        snprintf(name, sizeof name, "field_%02d", i);
        DO(ncmpi_def_var(b->ncid, name, NC_DOUBLE, 1, &dim, &var));
    }
    DO(ncmpi_enddef(b->ncid));
}

static void put_fields(struct bench *b)
{
    MPI_Offset start = cells_of(b) * b->rank, count = cells_of(b), imap = FIELDS;
    for (int i = 0; i < FIELDS; i++)
        DO(ncmpi_iput_varm_double(b->ncid, i, &start, &count, NULL, &imap, b->values + i, NULL));
    DO(ncmpi_wait_all(b->ncid, NC_REQ_ALL, NULL, NULL));
}

static void get_fields(struct bench *b)
{
    MPI_Offset start = cells_of(b) * b->rank, count = cells_of(b), imap = FIELDS;
    for (int i = 0; i < FIELDS; i++)
        DO(ncmpi_iget_varm_double(b->ncid, i, &start, &count, NULL, &imap, b->values + i, NULL));
    DO(ncmpi_wait_all(b->ncid, NC_REQ_ALL, NULL, NULL));
}

static void written_fields(struct bench *b)
{
    fields(b);
    put_fields(b);
}

/* --- a large variable [rows of all ranks][COLUMNS] --- */
static void define_large(struct bench *b, nc_type type)
{
    int dims[2];
    create(b);
    DO(ncmpi_def_dim(b->ncid, "y", b->rows * b->nprocs, &dims[0]));
    DO(ncmpi_def_dim(b->ncid, "x", COLUMNS, &dims[1]));
    DO(ncmpi_def_var(b->ncid, "v", type, 2, dims, &b->varid));
}

static void large_doubles(struct bench *b)
{
    define_large(b, NC_DOUBLE);
    DO(ncmpi_enddef(b->ncid));
}

static void large_floats(struct bench *b)
{
    define_large(b, NC_FLOAT);
    DO(ncmpi_enddef(b->ncid));
}

static void large_to_fill(struct bench *b)
{
    define_large(b, NC_DOUBLE);
    DO(ncmpi_def_var_fill(b->ncid, b->varid, 0, NULL));
}

static void fill(struct bench *b)
{
    DO(ncmpi_enddef(b->ncid));
}

/* A rank's part of the variable. */
struct part {
    MPI_Offset start[2], count[2];
};

static struct part rows_of(const struct bench *b)
{
    return (struct part){{b->rows * b->rank, 0}, {b->rows, COLUMNS}};
}

static struct part columns_of(const struct bench *b)
{
    MPI_Offset columns = COLUMNS / b->nprocs;
    return (struct part){{0, columns * b->rank}, {b->rows * b->nprocs, columns}};
}

static void put(struct bench *b, struct part p)
{
    DO(ncmpi_put_vara_double_all(b->ncid, b->varid, p.start, p.count, b->values));
}

static void get(struct bench *b, struct part p)
{
    DO(ncmpi_get_vara_double_all(b->ncid, b->varid, p.start, p.count, b->values));
}

static void put_rows(struct bench *b)
{
    put(b, rows_of(b));
}

static void get_rows(struct bench *b)
{
    get(b, rows_of(b));
}

static void put_columns(struct bench *b)
{
    put(b, columns_of(b));
}

static void get_columns(struct bench *b)
{
    get(b, columns_of(b));
}

static void written_doubles(struct bench *b)
{
    large_doubles(b);
    put_rows(b);
}

static void written_floats(struct bench *b)
{
    large_floats(b);
    put_rows(b);
}

static const MPI_Offset every_second[2] = {1, 2};

static void put_strided(struct bench *b)
{
    struct part p = rows_of(b);
    p.count[1] /= 2;
    DO(ncmpi_put_vars_double_all(b->ncid, b->varid, p.start, p.count, every_second, b->values));
}

static void get_strided(struct bench *b)
{
    struct part p = rows_of(b);
    p.count[1] /= 2;
    DO(ncmpi_get_vars_double_all(b->ncid, b->varid, p.start, p.count, every_second, b->values));
}

static void put_transposed(struct bench *b)
{
    struct part p = rows_of(b);
    MPI_Offset imap[2] = {1, b->rows};
    DO(ncmpi_put_varm_double_all(b->ncid, b->varid, p.start, p.count, NULL, imap, b->values));
}

/* A fifth of each row is ghost cells of the memory. */
static void put_without_ghosts(struct bench *b)
{
    int sizes[2] = {(int)b->rows, COLUMNS}, inner[2] = {(int)b->rows, COLUMNS / 5 * 4}, first[2] = {0, COLUMNS / 10};
    struct part p = rows_of(b);
    MPI_Datatype memory;
    MPI_Type_create_subarray(2, sizes, inner, first, MPI_ORDER_C, MPI_DOUBLE, &memory);
    MPI_Type_commit(&memory);
    p.count[1] = inner[1];
    DO(ncmpi_put_vara_all(b->ncid, b->varid, p.start, p.count, b->values, 1, memory));
    MPI_Type_free(&memory);
}

static const struct work {
    const char *name;
    void (*prepare)(struct bench *b);
    void (*run)(struct bench *b);
    void (*finish)(struct bench *b);
} works[] = {
    {"define 20000 variables, enddef, close", nothing, define_and_close, nothing},
    {"open a file of 20000 variables, close", define_and_close, open_and_close, nothing},
    {"fill 20000 variables at enddef", many_to_fill, fill, close_file},
    {"2000 renames in data mode", huge_header, rename_variables, close_file},
    {"2000 attributes overwritten in data mode", huge_header, overwrite_attributes, close_file},
    {"100000 iputs of 32 bytes, wait_all", line_of_ints, many_iputs, close_file},
    {"put_varn_all of 100000 places", line_of_ints, many_places, close_file},
    {"2000 put_vara_all of 32 bytes", line_of_ints, small_puts, close_file},
    {"2000 get_vara_all of 32 bytes", line_of_ints_with_values, small_gets, close_file},
    {"append 500 records of 2 variables", record_variables, append_records, close_file},
    {"iput 24 fields of each cell, wait_all", fields, put_fields, close_file},
    {"iget 24 fields of each cell, wait_all", written_fields, get_fields, close_file},
    {"fill 128 MiB at enddef", large_to_fill, fill, close_file},
    {"put rows", large_doubles, put_rows, close_file},
    {"get rows", written_doubles, get_rows, close_file},
    {"put columns", large_doubles, put_columns, close_file},
    {"get columns", written_doubles, get_columns, close_file},
    {"put every second element", written_doubles, put_strided, close_file},
    {"get every second element", written_doubles, get_strided, close_file},
    {"put transposed (varm)", large_doubles, put_transposed, close_file},
    {"put without ghost cells (subarray)", large_doubles, put_without_ghosts, close_file},
    {"put double as NC_FLOAT", large_floats, put_rows, close_file},
    {"get NC_FLOAT as double", written_floats, get_rows, close_file},
};

static void set_values(struct bench *b)
{
    for (MPI_Offset i = 0; i < b->n; i++)
        b->values[i] = (double)(i % 1000) + b->rank;
}

static void measure(struct bench *b, const struct work *work)
{
    set_values(b);
    work->prepare(b);
    MPI_Barrier(MPI_COMM_WORLD);
    double wall = MPI_Wtime(), cpu = cpu_now();
    work->run(b);
    wall = MPI_Wtime() - wall;
    cpu = cpu_now() - cpu;
    work->finish(b);
    print_times(work->name, wall, cpu);
    if (b->rank == 0)
        unlink(b->path);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct bench b = {.dir = "/dev/shm", .only = ""};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.nprocs);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--dir") == 0)
            b.dir = argv[i + 1];
        else if (strcmp(argv[i], "--only") == 0)
            b.only = argv[i + 1];
    }
    snprintf(b.path, sizeof b.path, "%s/bench_clients.nc", b.dir);
    b.rows = BYTES / (MPI_Offset)sizeof(double) / COLUMNS / b.nprocs;
    b.n = b.rows * COLUMNS;
    b.values = malloc((size_t)b.n * sizeof *b.values);
    if (b.values == NULL)
        check(NC_ENOMEM, "memory");
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (strstr(works[i].name, b.only) != NULL)
            measure(&b, &works[i]);
    free(b.values);
    MPI_Finalize();
    return 0;
}
