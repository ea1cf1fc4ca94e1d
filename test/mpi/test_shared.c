/* Collective gets in which all ranks want the same bytes: on several nodes the job reads them about once, and all ranks
 * have the values, also those with other types in memory; where one rank wants others, where it fails to read, or where
 * it wants nothing, each has what it must have. Values are compared with a formula, and bytes are counted in a wrapper
 * of MPI. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pnetcdf.h>

#include "../harness.h"

enum { ROWS = 24, WIDTH = 640, RECORDS = 3, RECORD_WIDTH = 100003 };

static int ncid, fixed, record, large, nnodes;
static MPI_Offset large_length;
static const char *path;

/* --- reads of the file --- */

static int64_t bytes_read, failing_read; /* the number of the read that fails; 0: none */

int MPI_File_read_at(MPI_File file, MPI_Offset at, void *buf, int count, MPI_Datatype type, MPI_Status *status)
{
    int size;

    MPI_Type_size(type, &size);
    bytes_read += (int64_t)count * size;
    if (failing_read > 0 && --failing_read == 0)
        return MPI_ERR_IO;
    return PMPI_File_read_at(file, at, buf, count, type, status);
}

/* Of all ranks since the last time. */
static int64_t count_bytes_read(void)
{
    int64_t sum = 0;

    MPI_Allreduce(&bytes_read, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    bytes_read = 0;
    return sum;
}

/* --- the file --- */

static void expect_ok(int err, const char *what)
{
    t_local(err == NC_NOERR, "%s: %s", what, ncmpi_strerror(err));
}

static int count_nodes(void)
{
    MPI_Comm node;
    int rank, first, n;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    first = rank == 0;
    MPI_Allreduce(&first, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&node);
    return n;
}

/* Of element i of a variable. */
static int value_of(int varid, int64_t i)
{
    return (int)(i % 30011 * 3 + varid * 100003);
}

/* A large variable has more than rounds of aggregators hold, and a length that no number of readers divides. */
static void make_file(void)
{
    int dims[2], x, *values;

    expect_ok(ncmpi_create(MPI_COMM_SELF, path, NC_64BIT_DATA, MPI_INFO_NULL, &ncid), "create");
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "w", RECORD_WIDTH, &dims[1]);
    ncmpi_def_var(ncid, "record", NC_INT, 2, dims, &record);
    ncmpi_def_var(ncid, "other", NC_DOUBLE, 2, dims, &x);
    ncmpi_def_dim(ncid, "y", ROWS, &dims[0]);
    ncmpi_def_dim(ncid, "x", WIDTH, &dims[1]);
    ncmpi_def_var(ncid, "fixed", NC_INT, 2, dims, &fixed);
    ncmpi_def_dim(ncid, "z", large_length, &dims[0]);
    ncmpi_def_var(ncid, "large", NC_INT, 1, dims, &large);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    values = malloc((size_t)large_length * sizeof *values);
    for (int64_t i = 0; i < large_length; i++)
        values[i] = value_of(large, i);
    expect_ok(ncmpi_put_var_int_all(ncid, large, values), "put large");
    for (int i = 0; i < ROWS * WIDTH; i++)
        values[i] = value_of(fixed, i);
    expect_ok(ncmpi_put_var_int_all(ncid, fixed, values), "put fixed");
    for (int i = 0; i < RECORDS * RECORD_WIDTH; i++)
        values[i] = value_of(record, i);
    expect_ok(ncmpi_put_vara_int_all(ncid, record, (MPI_Offset[]){0, 0}, (MPI_Offset[]){RECORDS, RECORD_WIDTH}, values),
              "put records");
    expect_ok(ncmpi_close(ncid), "close");
    free(values);
}

/* memory: of a step, of stripes of a page; NULL: more than most variables have. overlap: nc_overlap; without it all
 * reads are counted. */
static void open_with(const char *strategy, const char *memory, const char *overlap)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_stats", "keep");
    MPI_Info_set(info, "nc_overlap", overlap);
    if (strategy != NULL)
        MPI_Info_set(info, "nc_strategy", strategy);
    if (memory != NULL) {
        MPI_Info_set(info, "nc_ibuf_size", memory);
        MPI_Info_set(info, "striping_unit", "4096");
    }
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid), "open");
    MPI_Info_free(&info);
    (void)count_bytes_read();
}

static void open_file(const char *strategy, const char *memory)
{
    open_with(strategy, memory, "disable");
}

/* --- what is compared --- */

/* Rows of a variable, or elements of the large one. */
typedef struct part {
    int varid;
    MPI_Offset start[2], count[2], stride[2];
} part;

static int64_t count_values(const part *p)
{
    return p->varid == large ? p->count[0] : p->count[0] * p->count[1];
}

static int expected_value(const part *p, int64_t i)
{
    int64_t row;

    if (p->varid == large)
        return value_of(large, p->start[0] + i * p->stride[0]);
    row = p->start[0] + i / p->count[1] * p->stride[0];
    return value_of(p->varid,
                    row * (p->varid == record ? RECORD_WIDTH : WIDTH) + p->start[1] + i % p->count[1] * p->stride[1]);
}

static int64_t count_wrong_values(const part *p, const int *got)
{
    int64_t wrong = 0;

    for (int64_t i = 0; i < count_values(p); i++)
        wrong += got[i] != expected_value(p, i);
    return wrong;
}

/* Types in memory differ: int, double, long long, and int with gaps, which is a datatype of MPI. */
static int64_t get_as(const part *p, int kind, int *err)
{
    int64_t n = count_values(p);
    int *got = malloc((size_t)n * sizeof *got + 8);
    double *wide = calloc((size_t)n + 1, sizeof *wide);
    int64_t wrong;
    MPI_Datatype apart;

    memset(got, -1, (size_t)n * sizeof *got);
    switch (kind) {
    case 0: *err = ncmpi_get_vars_int_all(ncid, p->varid, p->start, p->count, p->stride, got); break;
    case 1: *err = ncmpi_get_vars_double_all(ncid, p->varid, p->start, p->count, p->stride, wide); break;
    case 2:
        *err = ncmpi_get_vars_longlong_all(ncid, p->varid, p->start, p->count, p->stride, (long long *)(void *)wide);
        break;
    default:
        MPI_Type_vector((int)n, 1, 2, MPI_INT, &apart);
        MPI_Type_commit(&apart);
        *err = ncmpi_get_vars_all(ncid, p->varid, p->start, p->count, p->stride, wide, 1, apart);
        MPI_Type_free(&apart);
    }
    for (int64_t i = 0; kind > 0 && i < n; i++) {
        long long integer;
        int pair[2];

        memcpy(&integer, &wide[i], sizeof integer);
        memcpy(pair, &wide[i], sizeof pair);
        got[i] = kind == 1 ? (int)wide[i] : pair[0];
        if (kind == 2)
            got[i] = (int)integer;
    }
    wrong = count_wrong_values(p, got);
    free(got);
    free(wide);
    return wrong;
}

/* --- cases --- */

/* The counters of all ranks: what was read for all, and received. */
static int64_t count_stat(const char *name)
{
    MPI_Offset own = 0;
    int64_t value, sum = 0;

    t_local(ncmpi_inq_stats(ncid, name, &own) == NC_NOERR, "%s", name);
    value = own;
    MPI_Allreduce(&value, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* All ranks get the part, of types in memory that differ; the file has the values once. idle: ranks that get none. */
static void try_same(const part *p, bool is_shared, int nidle, const char *label)
{
    int64_t bytes = count_values(p) * 4, wrong, got, read = count_stat("shared_bytes_read");
    int64_t received = count_stat("shared_bytes_received");
    int err, kind = (t_rank + p->varid) % 4;
    part own = *p;

    if (t_rank < nidle)
        own.count[0] = own.count[1] = 0;
    wrong = get_as(&own, kind, &err);
    t_check(err == NC_NOERR && wrong == 0, "%s: values: %d differ: %s", label, (int)wrong, ncmpi_strerror(err));
    got = count_bytes_read();
    read = count_stat("shared_bytes_read") - read;
    received = count_stat("shared_bytes_received") - received;
    if (!is_shared)
        return;
    t_check(got <= bytes + bytes / 10 && got >= bytes, "%s: read once: %lld of %lld bytes", label, (long long)got,
            (long long)bytes);
    if (t_nprocs - nidle == 1) /* nothing is sent */
        return;
    t_check(read == bytes && read + received == bytes * (t_nprocs - nidle), "%s: counted: %lld read, %lld received",
            label, (long long)read, (long long)received);
}

static void try_parts(const char *strategy, const char *memory)
{
    bool is_shared = t_nprocs > 1 && (strategy != NULL || nnodes > 1);
    const part whole = {fixed, {0, 0}, {ROWS, WIDTH}, {1, 1}},
               records = {record, {0, 0}, {RECORDS, RECORD_WIDTH}, {1, 1}};
    const part block = {fixed, {3, 7}, {15, 600}, {1, 1}}, one = {record, {2, 9}, {1, 1}, {1, 1}};
    const part all = {large, {0, 0}, {large_length, 0}, {1, 1}}, some = {fixed, {1, 3}, {9, 100}, {2, 5}};

    open_file(strategy, memory);
    if (t_rank == 0)
        printf("# strategy %s, memory %s\n", strategy != NULL ? strategy : "-", memory != NULL ? memory : "-");
    try_same(&whole, is_shared, 0, "a fixed variable");
    try_same(&records, is_shared, 0, "records");
    try_same(&block, is_shared, 0, "a block");
    try_same(&one, is_shared, 0, "one value");
    try_same(&all, is_shared, 0, "a large variable");
    try_same(&all, is_shared, t_nprocs / 2, "a large variable, ranks without values");
    try_same(&records, is_shared, t_nprocs - 1, "records, one rank with values");
    try_same(&some, false, 0, "strided values");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Reads of records overlap. */
static void test_overlap(void)
{
    const part records = {record, {0, 0}, {RECORDS, RECORD_WIDTH}, {1, 1}};

    open_with("shared", NULL, "enable");
    try_same(&records, false, 0, "records, with overlap");
    t_check(t_nprocs == 1 || count_stat("shared_bytes_read") == 4 * RECORDS * RECORD_WIDTH, "they were read once");
    expect_ok(ncmpi_close(ncid), "close");
}

/* A list of pieces in two variables, and a blocking list that does not ascend. */
static void test_lists(const char *memory)
{
    enum { N = 5 };
    const part parts[N] = {{fixed, {0, 0}, {4, WIDTH}, {1, 1}},
                           {record, {1, 0}, {2, RECORD_WIDTH}, {1, 1}},
                           {fixed, {9, 2}, {0, 5}, {1, 1}},
                           {record, {2, 5}, {1, 11}, {1, 1}},
                           {fixed, {7, 0}, {2, WIDTH}, {1, 1}}};
    int *got[N], requests[N], statuses[N], row[3 * 10], wrong = 0, err;
    MPI_Offset starts[3][2] = {{9, 30}, {2, 10}, {2, 300}}, count[2] = {1, 10}, *at[3], *counts[3];

    open_file(NULL, memory);
    for (int i = 0; i < N; i++) {
        got[i] = calloc((size_t)count_values(&parts[i]) + 1, sizeof *got[i]);
        expect_ok(ncmpi_iget_vara_int(ncid, parts[i].varid, parts[i].start, parts[i].count, got[i], &requests[i]),
                  "iget");
    }
    err = ncmpi_wait_all(ncid, N, requests, statuses);
    for (int i = 0; i < N; i++) {
        wrong += count_wrong_values(&parts[i], got[i]) != 0 || statuses[i] != NC_NOERR;
        free(got[i]);
    }
    t_check(err == NC_NOERR && wrong == 0, "wait_all of the same gets: %d wrong: %s", wrong, ncmpi_strerror(err));
    for (int i = 0; i < 3; i++) {
        at[i] = starts[i];
        counts[i] = count;
    }
    err = ncmpi_get_varn_int_all(ncid, fixed, 3, at, counts, row);
    for (int i = 0; i < 30; i++)
        wrong += row[i] != value_of(fixed, starts[i / 10][0] * WIDTH + starts[i / 10][1] + i % 10);
    t_check(err == NC_NOERR && wrong == 0, "a list that does not ascend: %d wrong: %s", wrong, ncmpi_strerror(err));
    expect_ok(ncmpi_close(ncid), "close");
}

/* Half of the ranks want another row, or small pieces; each has its own values. */
static void test_mixed(void)
{
    const part rows = {fixed, {4, 0}, {2, WIDTH}, {1, 1}}, others = {fixed, {11, 0}, {3, WIDTH}, {1, 1}};
    const part pieces = {fixed, {0, t_rank % 7}, {ROWS, 30}, {1, 3}},
               values = {large, {5, 0}, {large_length - 9, 0}, {1, 1}};
    const part *const halves[][2] = {{&rows, &others}, {&rows, &pieces}, {&values, &rows}, {&pieces, &values}};

    open_file(NULL, NULL);
    for (int i = 0; i < 4; i++) {
        int err;
        int64_t wrong = get_as(halves[i][t_rank % 2], 0, &err);

        t_check(err == NC_NOERR && wrong == 0, "halves of the ranks want other values, case %d: %d differ: %s", i,
                (int)wrong, ncmpi_strerror(err));
    }
    expect_ok(ncmpi_close(ncid), "close");
}

/* Values that do not fit are an error of the rank that has the small type. */
static void test_out_of_range(void)
{
    signed char small[WIDTH];
    int got[WIDTH], err, wrong = 0;
    MPI_Offset start[2] = {5, 0}, count[2] = {1, WIDTH};
    const part row = {fixed, {5, 0}, {1, WIDTH}, {1, 1}};

    open_file(NULL, NULL);
    if (t_rank == t_nprocs - 1) {
        err = ncmpi_get_vara_schar_all(ncid, fixed, start, count, small);
        wrong = err != NC_ERANGE;
    } else {
        err = ncmpi_get_vara_int_all(ncid, fixed, start, count, got);
        wrong = err != NC_NOERR || count_wrong_values(&row, got) != 0;
    }
    t_check(!wrong, "values out of range on one rank: %s", ncmpi_strerror(err));
    expect_ok(ncmpi_close(ncid), "close");
}

/* A mistake in the arguments of one rank is its own: the others have their values. */
static void test_mistake(void)
{
    const part row = {fixed, {5, 0}, {1, WIDTH}, {1, 1}};
    part own = row;
    int err;
    int64_t wrong;

    open_file(NULL, NULL);
    if (t_rank == 0 && t_nprocs > 1)
        own.start[0] = ROWS;
    wrong = get_as(&own, 0, &err);
    if (own.start[0] == ROWS)
        wrong = err != NC_EINVALCOORDS;
    else
        wrong += err != NC_NOERR;
    t_check(wrong == 0, "a mistake of one rank: %s", ncmpi_strerror(err));
    expect_ok(ncmpi_close(ncid), "close");
}

/* Each rank fails in turn, in its first or a later read: all have an error, or all have the values as it reads none;
 * and the next get succeeds. */
static void test_failure(const char *strategy)
{
    const part parts[2] = {{fixed, {0, 0}, {ROWS, WIDTH}, {1, 1}}, {large, {0, 0}, {large_length, 0}, {1, 1}}};

    open_file(strategy, NULL);
    for (int i = 0; i < 2; i++) {
        for (int rank = 0; rank < t_nprocs; rank++) {
            int err, failures, anywhere, left;
            int64_t wrong;

            failing_read = rank == t_rank ? 1 + (rank & i) : 0;
            wrong = get_as(&parts[i], 0, &err);
            left = rank == t_rank && failing_read > 0;
            failing_read = 0;
            failures = err != NC_NOERR;
            MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            MPI_Allreduce(&failures, &anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            t_check(left > 0 ? err == NC_NOERR && wrong == 0 : anywhere == t_nprocs,
                    "part %d, rank %d fails to read%s: %d errors", i, rank, left > 0 ? ", which reads nothing" : "",
                    anywhere);
            wrong = get_as(&parts[i], 0, &err);
            t_check(err == NC_NOERR && wrong == 0, "the next get: %s", ncmpi_strerror(err));
        }
    }
    expect_ok(ncmpi_close(ncid), "close");
}

/* Compressed chunks of a netCDF-4 file: each is read and decompressed once, by its aggregator. */
static void test_chunks(void)
{
    enum { CHUNK = 5000, CHUNKS = 37 };
    const char *name = t_path("chunks.nc"), *own;
    char number[32];
    int *values = malloc(CHUNK * CHUNKS * sizeof *values), wrong = 0, dim, varid, err;
    MPI_Offset chunk = CHUNK;

    snprintf(number, sizeof number, "chunks_%d.nc", t_rank); /* of ranks that make one for nothing */
    own = t_path(number);
    err = ncmpi_create(MPI_COMM_SELF, t_rank == 0 ? name : own, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid);
    if (err == NC_ENOTBUILT) {
        t_skip("the library reads no netCDF-4 files");
        free(values);
        return;
    }
    ncmpi_def_dim(ncid, "x", (MPI_Offset)CHUNK * CHUNKS, &dim);
    ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &varid);
    ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, &chunk);
    ncmpi_def_var_deflate(ncid, varid, 1, 1, 1);
    expect_ok(ncmpi_enddef(ncid), "enddef of chunks");
    for (int i = 0; i < CHUNK * CHUNKS; i++)
        values[i] = value_of(varid, i);
    expect_ok(ncmpi_put_var_int_all(ncid, varid, values), "put chunks");
    expect_ok(ncmpi_close(ncid), "close of chunks");
    path = name;
    open_file(NULL, NULL);
    memset(values, 0, CHUNK * CHUNKS * sizeof *values);
    err = ncmpi_get_var_int_all(ncid, varid, values);
    for (int i = 0; i < CHUNK * CHUNKS; i++)
        wrong += values[i] != value_of(varid, i);
    t_check(err == NC_NOERR && wrong == 0, "chunks: %d values differ: %s", wrong, ncmpi_strerror(err));
    t_check(count_stat("chunks_read") == CHUNKS, "each of %d chunks is read once", CHUNKS);
    expect_ok(ncmpi_close(ncid), "close");
    free(values);
}

/* The file was truncated: all ranks have the error. If they share, each has the values before the end of the file,
 * also the one that has failed to read the others. */
static void test_truncated(const char *strategy, MPI_Offset length)
{
    MPI_Offset start = 0, count = large_length, offset, wrong = 0;
    int *got = calloc((size_t)large_length, sizeof *got), err;

    open_file(strategy, NULL);
    ncmpi_inq_varoffset(ncid, large, &offset);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        t_local(truncate(path, length) == 0, "truncate");
    MPI_Barrier(MPI_COMM_WORLD);
    err = ncmpi_get_vara_int_all(ncid, large, &start, &count, got);
    t_check(err != NC_NOERR, "a get of a truncated file: %s", ncmpi_strerror(err));
    for (MPI_Offset i = 0; strategy != NULL && i < (length - offset) / 4; i++)
        wrong += got[i] != value_of(large, i);
    t_check(length > offset && wrong == 0, "%lld values before its end differ", (long long)wrong);
    expect_ok(ncmpi_close(ncid), "close");
    free(got);
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    nnodes = count_nodes();
    path = t_path("shared.nc");
    large_length = t_quick() ? 1300001 : 2600001; /* more than one step has */
    if (t_rank == 0)
        make_file();
    MPI_Bcast(&fixed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&large, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&record, 1, MPI_INT, 0, MPI_COMM_WORLD);
    try_parts(NULL, NULL);
    try_parts(NULL, "65536");
    try_parts("shared", NULL);
    test_overlap();
    test_lists(NULL);
    test_lists("9000");
    test_mixed();
    test_out_of_range();
    test_mistake();
    test_failure(NULL);
    test_failure("shared");
    test_truncated(NULL, 100000);
    test_truncated("shared", 90000);
    test_chunks();
    return t_finish();
}
