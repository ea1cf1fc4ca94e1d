/* Reading ahead (nc_prefetch=enable), against a model of the values in memory. The system's reads are replaced here, so
 * that those of the worker, which no other thread makes, can be counted, fail or be short. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FILE_OFFSET_BITS /* on 32-bit processors it makes one name of pread and pread64 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../expect.h"

enum { NX = 512, ROWS = 24, VARS = 3, FILLED = -7 };
typedef enum fault { NONE, FAIL, INTERRUPT, SHORT, FAULTS } fault;

static pthread_t program;
static atomic_int fault_kind, reads, delay_us;

/* --- the system --- */

/* -1: the read fails, and the error is set. */
static int disturb(size_t *n)
{
    if (pthread_equal(pthread_self(), program))
        return 0;
    reads++;
    if (delay_us > 0)
        usleep((useconds_t)delay_us);
    if (fault_kind == SHORT)
        *n = *n > 8 ? *n / 3 : *n;
    errno = fault_kind == FAIL ? EIO : EINTR;
    return fault_kind == FAIL || (fault_kind == INTERRUPT && reads % 2 == 0) ? -1 : 0;
}

/* clang-format off */
#define ACCESS(name, position)                                                    \
    ssize_t name(int fd, void *bytes, size_t n, position offset)                  \
    {                                                                             \
        static ssize_t (*real)(int, void *, size_t, position);                    \
                                                                                  \
        if (real == NULL)                                                         \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                            \
        return disturb(&n) < 0 ? -1 : real(fd, bytes, n, offset);                 \
    }
ACCESS(pread, off_t)
ACCESS(pread64, off64_t)
/* clang-format on */

/* --- files --- */

static int model[VARS][ROWS * 2][8]; /* version of the values of a row and column */
static int nrows;

static MPI_Info hints(const char *behind, const char *strategy)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_prefetch", "enable");
    MPI_Info_set(info, "nc_write_behind", behind);
    MPI_Info_set(info, "nc_write_behind_memory", "4194304");
    MPI_Info_set(info, "nc_stats", "keep");
    MPI_Info_set(info, "nc_strategy", strategy);
    return info;
}

static int value_of(int varid, int row, int column, int x)
{
    return 1000000 * (model[varid][row][column] + 1) + 100000 * varid + 1000 * row + 100 * column + x % 100;
}

static int put(int ncid, int varid, int row, int column, bool collective)
{
    MPI_Offset start[3] = {row, column, 0}, count[3] = {1, 1, NX};
    int values[NX];

    for (int x = 0; x < NX; x++)
        values[x] = value_of(varid, row, column, x);
    return collective ? ncmpi_put_vara_int_all(ncid, varid, start, count, values)
                      : ncmpi_put_vara_int(ncid, varid, start, count, values);
}

/* All ranks put a row, each a column. */
static void put_row(int ncid, int varid, int row)
{
    for (int column = 0; column < t_nprocs; column++)
        model[varid][row][column]++;
    t_local(put(ncid, varid, row, t_rank, true) == NC_NOERR, "put of row %d", row);
    nrows = row >= nrows ? row + 1 : nrows;
}

/* Each rank gets the column of another one, or all of them. */
static void get_rows(int ncid, int varid, int row, int n, int shift, bool collective)
{
    int from = shift < 0 ? 0 : (t_rank + shift) % t_nprocs, columns = shift < 0 ? t_nprocs : 1;
    MPI_Offset start[3] = {row, from, 0}, count[3] = {n, columns, NX};
    int *values = malloc(sizeof *values * (size_t)n * (size_t)columns * NX), wrong = 0;
    int err = collective ? ncmpi_get_vara_int_all(ncid, varid, start, count, values)
                         : ncmpi_get_vara_int(ncid, varid, start, count, values);

    for (int i = 0; i < n * columns * NX && err == NC_NOERR; i++)
        wrong += values[i] != value_of(varid, row + i / NX / columns, from + i / NX % columns, i % NX);
    t_local(err == NC_NOERR && wrong == 0, "get of %d rows from %d, shift %d: %s, %d wrong", n, row, shift,
            ncmpi_strerrno(err), wrong);
    free(values);
}

static int create_file(const char *path, const char *behind, const char *strategy)
{
    int ncid = -1, dims[3], varid;
    MPI_Info info = hints(behind, strategy);

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "rank", t_nprocs, &dims[1]);
    ncmpi_def_dim(ncid, "x", NX, &dims[2]);
    for (int i = 0; i < VARS; i++) {
        char name[] = {'v', (char)('0' + i), 0};

        ncmpi_def_var(ncid, name, NC_INT, 3, dims, &varid);
    }
    ncmpi_def_var(ncid, "small", NC_INT, 1, dims, &varid);
    ncmpi_put_att_int(ncid, varid, "_FillValue", NC_INT, 1, &(int){FILLED});
    expect_ok(ncmpi_enddef(ncid), "enddef");
    MPI_Info_free(&info);
    memset(model, 0, sizeof model);
    nrows = 0;
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < VARS; i++)
            put_row(ncid, i, row);
    return ncid;
}

static int64_t statistic(int ncid, const char *name)
{
    MPI_Offset value = -1;

    ncmpi_inq_stats(ncid, name, &value);
    return value;
}

static void open_file(const char *path, int mode, const char *behind, const char *strategy, int *ncid)
{
    MPI_Info info = hints(behind, strategy);

    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, mode, info, ncid), "open");
    MPI_Info_free(&info);
}

/* The values of a record as the model has them, by calls of the system: values of an int in the order of XDR, where
 * the library says that the variable begins. */
static bool write_row(const char *path, int row)
{
    unsigned char bytes[NX * 4];
    MPI_Offset begin, size;
    int ncid, fd = open(path, O_WRONLY);
    bool good = fd >= 0 && ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR &&
                ncmpi_inq_varoffset(ncid, 0, &begin) == NC_NOERR && ncmpi_inq_recsize(ncid, &size) == NC_NOERR &&
                ncmpi_close(ncid) == NC_NOERR;

    for (int column = 0; column < t_nprocs && good; column++) {
        for (int x = 0; x < NX; x++)
            for (int i = 0; i < 4; i++)
                bytes[4 * x + i] = (unsigned char)(value_of(0, row, column, x) >> (24 - 8 * i));
        good = pwrite(fd, bytes, sizeof bytes, begin + row * size + column * (off_t)sizeof bytes) == sizeof bytes;
    }
    if (fd >= 0)
        close(fd);
    return good;
}

/* --- tests --- */

/* Records of several variables in turns: all but the first two of each are read ahead. */
static void test_sequence(const char *strategy)
{
    const char *path = t_path("prefetch.nc");
    int ncid = create_file(path, "disable", strategy);
    int64_t used;

    expect_ok(ncmpi_close(ncid), "close");
    open_file(path, NC_NOWRITE, "disable", strategy, &ncid);
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < VARS; i++)
            get_rows(ncid, i, row, 1, 0, true);
    t_check(true, "gets of records in turn, %s", strategy);
    used = statistic(ncid, "ahead_used");
    t_check(strcmp(strategy, "direct") != 0 || used == (int64_t)(ROWS - 2) * VARS * NX * 4, "%lld bytes are read ahead",
            (long long)used);
    for (int row = ROWS - 2; row >= 0; row -= 2)
        get_rows(ncid, 1, row, 2, -1, true);
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    for (int row = 0; row < ROWS; row += 3)
        get_rows(ncid, 2, row, 1, 1, false);
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
    t_check(true, "gets backwards, and independent ones");
    expect_ok(ncmpi_close(ncid), "close");
}

/* What was read ahead is not returned after a put. */
static void test_puts(const char *behind, const char *strategy)
{
    const char *path = t_path("prefetch.nc");
    int ncid = create_file(path, behind, strategy);

    delay_us = 300;
    for (int row = 0; row + 3 < ROWS; row += 3) {
        get_rows(ncid, 0, row, 1, 1, true);
        get_rows(ncid, 0, row + 1, 1, 1, true);
        usleep((row % 4) * 1000);
        put_row(ncid, 0, row + 2);
        get_rows(ncid, 0, row + 2, 1, 1, true);
    }
    t_check(true, "gets after puts into what was read ahead, %s, delayed writes: %s", strategy, behind);
    for (int row = 0; row < ROWS; row++) { /* the next record does not exist yet */
        get_rows(ncid, 1, ROWS - 2 + row, 1, 1, true);
        if (row > 0)
            put_row(ncid, 1, ROWS - 1 + row);
    }
    t_check(true, "gets of records that are put one after the other");
    delay_us = 0;
    expect_ok(ncmpi_close(ncid), "close");
}

/* Another handle of this process, or another program, which the system's calls stand for, replaces a record. */
static void replace_row(const char *path, int row, bool by_handle)
{
    int ncid;

    MPI_Barrier(MPI_COMM_WORLD);
    if (by_handle) {
        expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open by another handle");
        put_row(ncid, 0, row);
        expect_ok(ncmpi_close(ncid), "close");
        return;
    }
    for (int column = 0; column < t_nprocs; column++)
        model[0][row][column]++;
    if (t_rank == 0)
        t_local(write_row(path, row), "write of row %d by the system", row);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* docs/hidden.md: "It never returns old values". */
static void test_replaced(bool by_handle)
{
    const char *path = t_path("prefetch.nc");
    int ncid = create_file(path, "disable", "direct");

    expect_ok(ncmpi_close(ncid), "close");
    open_file(path, NC_NOWRITE, "disable", "direct", &ncid);
    for (int row = 0; row + 2 < ROWS; row += 3) {
        get_rows(ncid, 0, row, 1, 1, true);
        get_rows(ncid, 0, row + 1, 1, 1, true);
        usleep(20000); /* the worker reads the next one, and the time of the file advances */
        replace_row(path, row + 2, by_handle);
        get_rows(ncid, 0, row + 2, 1, 1, true);
    }
    t_check(true, "gets of records that %s has replaced", by_handle ? "another handle" : "another program");
    expect_ok(ncmpi_close(ncid), "close");
}

/* One rank writes the fill value, and all of them have read ahead what was there before. */
static void test_fill(void)
{
    const char *path = t_path("prefetch.nc");
    int ncid = create_file(path, "disable", "direct"), value;
    MPI_Offset start = 0, one = 1, count = t_rank == 0;

    for (start = 0; start < ROWS; start++)
        t_local(ncmpi_put_vara_int_all(ncid, VARS, &start, &count, &(int){1}) == NC_NOERR, "put of a small record");
    for (start = 0; start < ROWS; start++) {
        if (start % 3 == 2)
            expect_ok(ncmpi_fill_var_rec(ncid, VARS, start), "fill_var_rec");
        t_local(ncmpi_get_vara_int_all(ncid, VARS, &start, &one, &value) == NC_NOERR, "get of a small record");
        t_local(value == (start % 3 == 2 ? FILLED : 1), "record %d has the value %d", (int)start, value);
        usleep(2000); /* the worker reads the next one */
    }
    t_check(true, "gets after fill values");
    expect_ok(ncmpi_close(ncid), "close");
}

static uint64_t state = 88172645463325252u;

static int draw(int n) /* the same on all ranks */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state % (uint64_t)n);
}

static void test_random(const char *behind)
{
    static const char *const strategies[] = {"automatic", "direct", "two_phase", "merged"};
    const char *path = t_path("prefetch.nc");

    for (int run = 0; run < 8; run++) {
        int ncid = create_file(path, behind, strategies[run % 4]), row = 0, step = 1;

        fault_kind = run < 4 ? NONE : draw(FAULTS);
        for (int i = 0; i < 60; i++) {
            int varid = draw(VARS), kind = draw(12);

            if (kind == 0)
                put_row(ncid, varid, draw(nrows));
            else if (kind == 1)
                expect_ok(ncmpi_sync(ncid), "sync");
            else if (kind == 2)
                step = draw(4) - 1;
            row = row + step >= 0 && row + step + 1 < nrows ? row + step : 0;
            get_rows(ncid, kind < 9 ? 0 : varid, row, 1 + (kind == 3), draw(3) - 1, true);
        }
        t_check(true, "random calls, run %d, delayed writes: %s, fault %d", run, behind, (int)fault_kind);
        fault_kind = NONE;
        expect_ok(ncmpi_close(ncid), "close");
    }
}

/* Of a program that gets in no order little is read ahead. */
static void test_disorder(void)
{
    const char *path = t_path("prefetch.nc");
    int ncid = create_file(path, "disable", "direct");
    int64_t read;

    for (int i = 0; i < 200; i++) {
        int row = i % 3 < 2 ? i % 20 : draw(ROWS); /* two that follow each other, and another one */

        get_rows(ncid, 0, row, 1, 0, true);
    }
    read = statistic(ncid, "ahead_bytes");
    t_check(read <= (int64_t)20 * NX * 4, "%lld bytes were read ahead for gets that did not follow", (long long)read);
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- netCDF-4 --- */

enum { CHUNKS_OF_ROWS = 3 };
typedef enum kind { ROW_CHUNKS, LONG_CHUNKS, BLOCKS, CONTIGUOUS, KINDS } kind;

/* c(time, x): chunks of a row; of 3 rows; of a row and a quarter of x, compressed; f(row, x) is contiguous. */
static int create_chunks(const char *path)
{
    static const MPI_Offset shapes[CONTIGUOUS][2] = {{1, NX}, {CHUNKS_OF_ROWS, NX}, {1, NX / 4}};
    MPI_Info info = hints("disable", "automatic");
    int ncid = -1, dims[2], fixed, varid,
        err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, info, &ncid);
    char name[16];

    MPI_Info_free(&info);
    if (err == NC_ENOTBUILT)
        return -1;
    expect_ok(err, "create");
    ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "row", ROWS, &fixed);
    ncmpi_def_dim(ncid, "x", NX, &dims[1]);
    for (int i = 0; i < KINDS; i++) {
        int of[2] = {i == CONTIGUOUS ? fixed : dims[0], dims[1]};

        snprintf(name, sizeof name, "v%d", i);
        ncmpi_def_var(ncid, name, NC_INT, 2, of, &varid);
        if (i < CONTIGUOUS)
            expect_ok(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, shapes[i]), "chunks");
        if (i == BLOCKS)
            expect_ok(ncmpi_def_var_deflate(ncid, varid, 1, 1, 1), "deflate");
    }
    expect_ok(ncmpi_enddef(ncid), "enddef");
    return ncid;
}

/* All ranks access all of a row. */
static void access_row(int ncid, int varid, int row, bool puts)
{
    MPI_Offset start[2] = {row, 0}, count[2] = {1, NX};
    int values[NX], wrong = 0, err;

    for (int x = 0; x < NX; x++)
        values[x] = puts ? value_of(0, row, varid, x) : 0;
    err = puts ? ncmpi_put_vara_int_all(ncid, varid, start, count, values)
               : ncmpi_get_vara_int_all(ncid, varid, start, count, values);
    for (int x = 0; x < NX; x++)
        wrong += values[x] != value_of(0, row, varid, x);
    t_local(err == NC_NOERR && wrong == 0, "row %d of variable %d: %s, %d wrong", row, varid, ncmpi_strerrno(err),
            wrong);
}

/* Of all ranks, since `before`. */
static int64_t sum_of(int ncid, const char *name, int64_t before)
{
    long long own = statistic(ncid, name) - before, sum = 0;

    MPI_Allreduce(&own, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* Bytes of the chunks that gets of one row after the other need from the third one on. */
static int64_t count_ahead(int ncid, kind what, int64_t stored)
{
    int64_t row = (int64_t)NX * sizeof(int);

    switch (what) {
    case ROW_CHUNKS: return (ROWS - 2) * row;
    case LONG_CHUNKS: return (ROWS - CHUNKS_OF_ROWS) * row;
    case BLOCKS: return sum_of(ncid, "stored_bytes_read", 0) - stored;
    default: return (ROWS - 2) * row * t_nprocs;
    }
}

static void test_chunks(fault kind_of_fault)
{
    const char *path = t_path("prefetch.nc");
    int ncid = create_chunks(path);
    MPI_Info info = hints("disable", "automatic");

    if (ncid < 0) {
        t_skip("the build is without netCDF-4");
        return;
    }
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < KINDS; i++)
            access_row(ncid, i, row, true);
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid), "open");
    fault_kind = kind_of_fault;
    for (int i = 0; i < KINDS; i++) {
        int64_t used = statistic(ncid, "ahead_used"), stored = 0, wanted, found;

        for (int row = 0; row < ROWS; row++) {
            if (row == 2)
                stored = sum_of(ncid, "stored_bytes_read", 0);
            access_row(ncid, i, row, false);
        }
        found = sum_of(ncid, "ahead_used", used);
        wanted = count_ahead(ncid, (kind)i, stored);
        if (i == CONTIGUOUS && found < wanted && found >= wanted / t_nprocs)
            found = wanted; /* aggregators read for others */
        t_check(kind_of_fault == FAIL ? found == 0 : found == wanted,
                "variable %d, fault %d: gets used %lld bytes that were read ahead, not %lld", i, (int)kind_of_fault,
                (long long)found, (long long)wanted);
    }
    fault_kind = NONE;
    MPI_Info_free(&info);
    expect_ok(ncmpi_close(ncid), "close");
}

/* Blocks of columns, which need some of the chunks, and puts between gets, with delayed writes. */
static void test_chunks_put(void)
{
    const char *path = t_path("prefetch.nc");
    int ncid = create_chunks(path);

    if (ncid < 0)
        return;
    for (int turn = 0; turn < 2; turn++)
        for (int row = 0; row < ROWS; row++) {
            MPI_Offset start[2] = {row, NX * t_rank / t_nprocs}, count[2] = {1, NX / 8};
            int values[NX / 8];

            access_row(ncid, BLOCKS, row, turn == 0 || row % 7 == 3);
            if (row % 2 == 0)
                continue;
            t_local(ncmpi_get_vara_int_all(ncid, BLOCKS, start, count, values) == NC_NOERR &&
                        values[1] == value_of(0, row, BLOCKS, (int)start[1] + 1),
                    "a part of row %d", row);
        }
    t_check(true, "gets of parts, and puts");
    expect_ok(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    program = pthread_self();
    test_sequence("direct");
    test_sequence("automatic");
    test_sequence("two_phase");
    test_puts("disable", "direct");
    test_puts("disable", "two_phase");
    test_puts("enable", "direct");
    test_puts("enable", "automatic");
    test_replaced(true);
    test_replaced(false);
    test_fill();
    test_random("disable");
    test_random("enable");
    test_disorder();
    for (int i = 0; i < FAULTS; i++)
        test_chunks((fault)i);
    test_chunks_put();
    if (t_rank == 0)
        unlink(t_path("prefetch.nc"));
    return t_finish();
}
