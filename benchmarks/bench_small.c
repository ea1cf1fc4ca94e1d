/* Small calls, metadata, and data that move, timed on the public API alone, so that any library with this API can be
 * linked and compared (compare.py runs two such programs in turn).
 *
 * Prints one line for each case: its name, wall time of the slowest rank in ms, CPU time of all ranks in ms, medians of
 * several repetitions after one that is not timed. A line "limit of CASE" is what MPI-IO or MPI needs for the same
 * bytes and agreements; for a header, and 0.1 us for each of its objects.
 * Usage: bench_small [--dir FOLDER] [--only TEXT] [--repeat N] */
#include "bench_calls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CALLS = 1000,      /* of a case with small calls: its ms are us of one call */
    VARIABLES = 10000, /* of a large header, with 2 attributes each */
    OBJECTS = 3 * VARIABLES + 1,
    SMALL = 20000,   /* variables that are filled, of 16 floats */
    MOVED = 64,      /* MiB */
    PIECE = 1 << 20, /* bytes */
    MOST = 100       /* repetitions */
};

struct bench {
    int rank, nprocs, repeat, ncid, varid;
    const char *dir, *only;
    char path[1024], limit_path[1024];
    MPI_Offset header; /* bytes of the large one */
    MPI_File file;     /* of the limits */
    char *bytes;       /* PIECE of them */
};

typedef void (*action)(struct bench *b);

static void nothing(struct bench *b)
{
    (void)b;
}

/* --- measuring --- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[n / 2];
}

/* prepare and finish are not timed; `more` seconds are added. */
static void measure(struct bench *b, const char *name, double more, action prepare, action run, action finish)
{
    double wall[MOST], cpu[MOST];
    for (int i = -1; i < b->repeat; i++) {
        prepare(b);
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime(), used = cpu_now(), slowest;
        run(b);
        double mine = MPI_Wtime() - start;
        used = cpu_now() - used;
        finish(b);
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (i >= 0) {
            wall[i] = slowest;
            cpu[i] = used;
        }
    }
    print_times(name, median(wall, b->repeat) + more, median(cpu, b->repeat) + more);
}

/* --- files --- */

static void create(struct bench *b)
{
    DO(ncmpi_create(MPI_COMM_WORLD, b->path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &b->ncid));
}

static void close_file(struct bench *b)
{
    DO(ncmpi_close(b->ncid));
}

static void create_and_close(struct bench *b)
{
    create(b);
    close_file(b);
}

static void end_definitions(struct bench *b)
{
    DO(ncmpi_enddef(b->ncid));
}

static void open_file(struct bench *b)
{
    DO(ncmpi_open(MPI_COMM_WORLD, b->path, NC_NOWRITE, MPI_INFO_NULL, &b->ncid));
}

/* --- small calls --- */

static void line_of_ints(struct bench *b)
{
    int dim;
    create(b);
    DO(ncmpi_def_dim(b->ncid, "x", (MPI_Offset)CALLS * b->nprocs, &dim));
    DO(ncmpi_def_var(b->ncid, "v", NC_INT, 1, &dim, &b->varid));
    end_definitions(b);
}

static MPI_Offset place(const struct bench *b, int i)
{
    return (MPI_Offset)i * b->nprocs + b->rank;
}

#define EACH_CALL(name, call)                        \
    static void name(struct bench *b)                \
    {                                                \
        for (int i = 0; i < CALLS; i++) {            \
            MPI_Offset start = place(b, i), one = 1; \
            int value = i;                           \
            (void)one;                               \
            DO(call);                                \
        }                                            \
    }
EACH_CALL(put_all, ncmpi_put_var1_int_all(b->ncid, b->varid, &start, &value))
EACH_CALL(get_all, ncmpi_get_var1_int_all(b->ncid, b->varid, &start, &value))
EACH_CALL(put_alone, ncmpi_put_var1_int(b->ncid, b->varid, &start, &value))
EACH_CALL(get_alone, ncmpi_get_var1_int(b->ncid, b->varid, &start, &value))
EACH_CALL(put_flexible, ncmpi_put_vara_all(b->ncid, b->varid, &start, &one, &value, 1, MPI_INT))
EACH_CALL(get_flexible, ncmpi_get_vara_all(b->ncid, b->varid, &start, &one, &value, 1, MPI_INT))

static void records(struct bench *b)
{
    int dims[2];
    create(b);
    DO(ncmpi_def_dim(b->ncid, "time", NC_UNLIMITED, &dims[0]));
    DO(ncmpi_def_dim(b->ncid, "x", 4 * (MPI_Offset)b->nprocs, &dims[1]));
    DO(ncmpi_def_var(b->ncid, "v", NC_DOUBLE, 2, dims, &b->varid));
    DO(ncmpi_def_var(b->ncid, "w", NC_INT, 1, dims, &dims[1]));
    end_definitions(b);
}

static void put_records(struct bench *b)
{
    for (int i = 0; i < CALLS; i++) {
        MPI_Offset start[2] = {i, 4 * (MPI_Offset)b->rank}, count[2] = {1, 4};
        DO(ncmpi_put_vara_double_all(b->ncid, b->varid, start, count, (double *)(void *)b->bytes));
    }
}

static void get_records(struct bench *b)
{
    for (int i = 0; i < CALLS; i++) {
        MPI_Offset start[2] = {i, 4 * (MPI_Offset)b->rank}, count[2] = {1, 4};
        DO(ncmpi_get_vara_double_all(b->ncid, b->varid, start, count, (double *)(void *)b->bytes));
    }
}

static void sync_numrecs(struct bench *b)
{
    for (int i = 0; i < CALLS; i++)
        DO(ncmpi_sync_numrecs(b->ncid));
}

static void sync_file(struct bench *b)
{
    for (int i = 0; i < CALLS; i++)
        DO(ncmpi_sync(b->ncid));
}

static void change_modes(struct bench *b)
{
    for (int i = 0; i < CALLS; i++) {
        DO(ncmpi_begin_indep_data(b->ncid));
        DO(ncmpi_end_indep_data(b->ncid));
    }
}

/* --- metadata --- */

static void large_header(struct bench *b)
{
    create(b);
    define_variables(b->ncid, VARIABLES, 4, true);
}

static void close_large_header(struct bench *b)
{
    DO(ncmpi_inq_header_size(b->ncid, &b->header));
    close_file(b);
}

static void many_to_fill(struct bench *b)
{
    int old;
    create(b);
    DO(ncmpi_set_fill(b->ncid, NC_FILL, &old));
    define_variables(b->ncid, SMALL, 16, false);
}

/* A new fixed-size variable in front of MOVED MiB of records. */
static void records_to_move(struct bench *b)
{
    int dims[2], var, extra;
    MPI_Offset length = PIECE / 8, share = length / b->nprocs;
    create(b);
    DO(ncmpi_def_dim(b->ncid, "time", NC_UNLIMITED, &dims[0]));
    DO(ncmpi_def_dim(b->ncid, "x", length, &dims[1]));
    DO(ncmpi_def_var(b->ncid, "v", NC_DOUBLE, 2, dims, &var));
    DO(ncmpi_def_var(b->ncid, "w", NC_INT, 1, dims, &extra));
    end_definitions(b);
    for (int i = 0; i < MOVED; i++) {
        MPI_Offset start[2] = {i, b->rank * share}, count[2] = {1, share};
        DO(ncmpi_put_vara_double_all(b->ncid, var, start, count, (double *)(void *)b->bytes));
    }
    DO(ncmpi_redef(b->ncid));
    DO(ncmpi_def_dim(b->ncid, "extra", 1000, &extra));
    DO(ncmpi_def_var(b->ncid, "fixed", NC_DOUBLE, 1, &extra, &var));
}

/* --- limits --- */

static void agree(const struct bench *b)
{
    long long values[4] = {b->rank, 0, 0, 0};
    if (b->nprocs > 1)
        MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
}

static void access_small(struct bench *b, bool writes, int bytes, bool agrees)
{
    MPI_Status status;
    for (int i = 0; i < CALLS; i++) {
        MPI_Offset at = place(b, i) * bytes;
        if (writes)
            MPI_File_write_at(b->file, at, b->bytes, bytes, MPI_BYTE, &status);
        else
            MPI_File_read_at(b->file, at, b->bytes, bytes, MPI_BYTE, &status);
        if (agrees)
            agree(b);
    }
}

static void limit_put_all(struct bench *b)
{
    access_small(b, true, 4, true);
}

static void limit_get_all(struct bench *b)
{
    access_small(b, false, 4, true);
}

static void limit_put_alone(struct bench *b)
{
    access_small(b, true, 4, false);
}

static void limit_get_alone(struct bench *b)
{
    access_small(b, false, 4, false);
}

static void limit_put_records(struct bench *b)
{
    access_small(b, true, 32, true);
}

static void limit_get_records(struct bench *b)
{
    access_small(b, false, 32, true);
}

static void limit_sync(struct bench *b)
{
    for (int i = 0; i < CALLS; i++) {
        MPI_File_sync(b->file);
        agree(b);
    }
}

static void limit_create(struct bench *b)
{
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, b->limit_path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
}

/* Rank 0 accesses the bytes of the large header. */
static void access_header(struct bench *b, bool writes)
{
    MPI_Status status;
    for (MPI_Offset at = 0; at < b->header && b->rank == 0; at += PIECE) {
        int n = (int)(b->header - at < PIECE ? b->header - at : PIECE);
        if (writes)
            MPI_File_write_at(b->file, at, b->bytes, n, MPI_BYTE, &status);
        else
            MPI_File_read_at(b->file, at, b->bytes, n, MPI_BYTE, &status);
    }
    agree(b);
}

static void limit_enddef(struct bench *b)
{
    access_header(b, true);
}

static void limit_open(struct bench *b)
{
    access_header(b, false);
}

/* Each rank reads and writes its part once. */
static void limit_move(struct bench *b)
{
    MPI_Status status;
    for (int i = b->rank; i < MOVED; i += b->nprocs) {
        MPI_Offset at = (MPI_Offset)i * PIECE;
        MPI_File_read_at(b->file, at, b->bytes, PIECE, MPI_BYTE, &status);
        MPI_File_write_at(b->file, at, b->bytes, PIECE, MPI_BYTE, &status);
    }
    agree(b);
}

/* The file of the limits has pages. */
static void limit_fill_file(struct bench *b)
{
    MPI_Status status;
    for (int i = b->rank; i < MOVED; i += b->nprocs)
        MPI_File_write_at(b->file, (MPI_Offset)i * PIECE, b->bytes, PIECE, MPI_BYTE, &status);
}

/* --- cases --- */

static const struct work {
    const char *name;
    action prepare, run, finish; /* prepare and finish: before and after each repetition */
    action limit;                /* NULL: none is measured */
    action before;               /* makes the file that all repetitions use; NULL: prepare does */
} works[] = {
    {"create and close", nothing, create_and_close, nothing, limit_create, NULL},
    {"1000 put_var1_all", nothing, put_all, nothing, limit_put_all, line_of_ints},
    {"1000 get_var1_all", nothing, get_all, nothing, limit_get_all, line_of_ints},
    {"1000 put_vara_all of MPI_INT", nothing, put_flexible, nothing, limit_put_all, line_of_ints},
    {"1000 get_vara_all of MPI_INT", nothing, get_flexible, nothing, limit_get_all, line_of_ints},
    {"1000 put_var1, independent", nothing, put_alone, nothing, limit_put_alone, line_of_ints},
    {"1000 get_var1, independent", nothing, get_alone, nothing, limit_get_alone, line_of_ints},
    {"1000 put_vara_all of a record", nothing, put_records, nothing, limit_put_records, records},
    {"1000 get_vara_all of a record", nothing, get_records, nothing, limit_get_records, records},
    {"1000 sync_numrecs, nothing new", nothing, sync_numrecs, nothing, NULL, records},
    {"1000 sync, nothing new", nothing, sync_file, nothing, limit_sync, records},
    {"1000 begin_indep_data, end_indep_data", nothing, change_modes, nothing, NULL, records},
    {"enddef of 10000 variables", large_header, end_definitions, close_large_header, limit_enddef, NULL},
    {"open of 10000 variables", nothing, open_file, close_large_header, limit_open, large_header},
    {"fill 20000 variables at enddef", many_to_fill, end_definitions, close_file, NULL, NULL},
    {"move 64 MiB of records at enddef", records_to_move, end_definitions, close_file, limit_move, NULL},
};

static bool is_independent(const struct work *work)
{
    return work->run == put_alone || work->run == get_alone;
}

static bool is_of_header(const struct work *work)
{
    return work->finish == close_large_header;
}

/* The file that all repetitions use. */
static void begin_case(struct bench *b, const struct work *work)
{
    if (work->before == NULL)
        return;
    work->before(b);
    if (work->run == open_file) {
        close_file(b);
        return;
    }
    if (work->before == line_of_ints)
        put_all(b);
    else
        put_records(b);
    if (is_independent(work))
        DO(ncmpi_begin_indep_data(b->ncid));
}

static void end_case(struct bench *b, const struct work *work)
{
    if (is_independent(work))
        DO(ncmpi_end_indep_data(b->ncid));
    if (work->before != NULL && work->run != open_file)
        close_file(b);
    if (b->rank == 0)
        unlink(b->path);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void measure_case(struct bench *b, const struct work *work)
{
    char name[100];
    begin_case(b, work);
    measure(b, work->name, 0, work->prepare, work->run, work->finish);
    end_case(b, work);
    if (work->limit == NULL)
        return;
    snprintf(name, sizeof name, "limit of %s", work->name);
    measure(b, name, is_of_header(work) ? OBJECTS * 1e-7 : 0, nothing, work->limit, nothing);
}

static void read_options(struct bench *b, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--dir") == 0)
            b->dir = argv[i + 1];
        else if (strcmp(argv[i], "--only") == 0)
            b->only = argv[i + 1];
        else if (strcmp(argv[i], "--repeat") == 0)
            b->repeat = atoi(argv[i + 1]);
    }
    if (b->repeat < 1 || b->repeat > MOST)
        check(NC_EINVAL, "--repeat");
    snprintf(b->path, sizeof b->path, "%s/bench_small.nc", b->dir);
    snprintf(b->limit_path, sizeof b->limit_path, "%s/bench_small.limit", b->dir);
}

int main(int argc, char **argv)
{
    struct bench b = {.dir = "/dev/shm", .only = "", .repeat = 9};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.nprocs);
    read_options(&b, argc, argv);
    b.bytes = calloc(PIECE, 1);
    check(b.bytes == NULL ? NC_ENOMEM : NC_NOERR, "memory");
    if (MPI_File_open(MPI_COMM_WORLD, b.limit_path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &b.file) !=
        MPI_SUCCESS)
        check(NC_EFILE, b.limit_path);
    limit_fill_file(&b);
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (strstr(works[i].name, b.only) != NULL)
            measure_case(&b, &works[i]);
    MPI_File_close(&b.file);
    if (b.rank == 0)
        unlink(b.limit_path);
    free(b.bytes);
    MPI_Finalize();
    return 0;
}
