/* One failure of one rank in a collective put or get, with every strategy, or in puts that a later call writes: an
 * access of the file, or an allocation of the library, fails, each in turn. All ranks return an error or none does, no
 * rank hangs, and the next call succeeds with the right values. */
#include <aio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pnetcdf.h>

#include "io/choose/sizes.h"
#include "../harness.h"

enum { ROWS = 600, FAR_ROWS = 3 * PNC_TRANSFERS_AT_ONCE, WIDTH = 8, FAR = 3 << 18, MOST_STEPS = 100 };
typedef enum kind { ACCESS, ALLOCATION, KINDS } kind;
static const char *const kind_names[] = {"accesses", "allocations"};
static const char *const strategies[] = {"direct",       "merged",    "shared", "separate",
                                         "within_nodes", "two_phase", "mpi_io"};

/* --- the failure --- */

static kind failing;
static int left = -1; /* calls before the one that fails; negative: none fails */
static bool failed;

static bool fails(kind which)
{
    if (which != failing || left < 0 || left-- > 0)
        return false;
    failed = true;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails(ALLOCATION) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails(ALLOCATION) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails(ALLOCATION) ? NULL : __real_realloc(old, size);
}

/* What does not begin in the background is done by MPI-IO: that fails, too. */
static bool fails_again;

static bool fails_in_background(void)
{
    bool now = fails(ACCESS);

    fails_again = fails_again || now;
    errno = EIO;
    return now;
}

static bool access_fails(void)
{
    bool again = fails_again;

    fails_again = false;
    return again || fails(ACCESS);
}

/* The second name is the one of 32-bit processors with large files. */
/* clang-format off */
#define BACKGROUND(name)                                                                  \
    int __real_##name(struct aiocb *block);                                               \
    int __wrap_##name(struct aiocb *block);                                               \
                                                                                          \
    int __wrap_##name(struct aiocb *block)                                                \
    {                                                                                     \
        return fails_in_background() ? -1 : __real_##name(block);                         \
    }
BACKGROUND(aio_read)
BACKGROUND(aio_read64)
BACKGROUND(aio_write)
BACKGROUND(aio_write64)
/* clang-format on */

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void *buf, int count, MPI_Datatype type, MPI_Status *status)
{
    return access_fails() ? MPI_ERR_IO : PMPI_File_write_at(file, at, buf, count, type, status);
}

int MPI_File_read_at(MPI_File file, MPI_Offset at, void *buf, int count, MPI_Datatype type, MPI_Status *status)
{
    return access_fails() ? MPI_ERR_IO : PMPI_File_read_at(file, at, buf, count, type, status);
}

/* A collective call fails after the fact, so that the other ranks do not wait for this one. */
int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void *buf, int count, MPI_Datatype type,
                          MPI_Status *status)
{
    int code = PMPI_File_write_at_all(file, at, buf, count, type, status);

    return fails(ACCESS) ? MPI_ERR_IO : code;
}

int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void *buf, int count, MPI_Datatype type, MPI_Status *status)
{
    int code = PMPI_File_read_at_all(file, at, buf, count, type, status);

    return fails(ACCESS) ? MPI_ERR_IO : code;
}

/* --- calls --- */

/* Rows of FAR elements, 3 MiB: between nodes an aggregator reads several pieces at the same time. */
static bool is_far;
static bool is_deferred; /* puts return before they are written (nc_defer_puts) */

static int count_rows(void)
{
    return is_far ? FAR_ROWS : ROWS;
}

static int create(const char *strategy)
{
    /* one run of the file needs no allocation: the rows of one rank are not adjacent either */
    int columns = t_nprocs > 1 ? WIDTH * t_nprocs : WIDTH + 1;
    int ncid, dims[2], varid;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_strategy", strategy);
    MPI_Info_set(info, "nc_defer_puts", is_deferred ? "enable" : "disable");
    MPI_Info_set(info, "cb_buffer_size", is_far ? "33554432" : "8192"); /* several rounds, which overlap if not far */
    t_local(ncmpi_create(MPI_COMM_WORLD, t_path("failure.nc"), NC_CLOBBER, info, &ncid) == NC_NOERR, "create");
    MPI_Info_free(&info);
    ncmpi_def_dim(ncid, "row", count_rows(), &dims[0]);
    ncmpi_def_dim(ncid, "column", is_far ? FAR : columns, &dims[1]);
    ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &varid);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    return ncid;
}

/* Two puts that ncmpi_sync writes. */
static int put_halves(int ncid, MPI_Offset *start, MPI_Offset *count, const double *values)
{
    int err;

    count[0] /= 2;
    err = ncmpi_put_vara_double_all(ncid, 0, start, count, values);
    start[0] += count[0];
    if (err == NC_NOERR)
        err = ncmpi_put_vara_double_all(ncid, 0, start, count, values + count[0] * count[1]);
    return err == NC_NOERR ? ncmpi_sync(ncid) : err;
}

static int access_columns(int ncid, bool put, double *values)
{
    MPI_Offset start[2] = {0, t_rank * WIDTH}, count[2] = {count_rows(), WIDTH};

    if (put && is_deferred)
        return put_halves(ncid, start, count, values);
    if (put)
        return ncmpi_put_vara_double_all(ncid, 0, start, count, values);
    return ncmpi_get_vara_double_all(ncid, 0, start, count, values);
}

static double value_of(int i)
{
    return t_rank * 100000 + i;
}

/* Whether the values that a call without a failure gets are right. */
static bool is_right(int ncid)
{
    static double values[ROWS * WIDTH];
    bool right = true;

    memset(values, 0, sizeof values);
    if (access_columns(ncid, false, values) != NC_NOERR)
        return false;
    for (int i = 0; i < count_rows() * WIDTH; i++)
        right = right && values[i] == value_of(i);
    return right;
}

/* Fail `step` on rank `where`. Returns false on all ranks if the call has fewer steps. */
static bool try_step(int ncid, bool put, int where, int step)
{
    static double values[ROWS * WIDTH];
    int all[2], err;

    for (int i = 0; i < count_rows() * WIDTH; i++)
        values[i] = value_of(i);
    failed = false;
    left = t_rank == where ? step : -1;
    err = access_columns(ncid, put, values);
    left = -1;
    all[0] = failed;
    all[1] = err != NC_NOERR;
    MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    t_local(all[1] == 0 || err != NC_NOERR, "step %d: another rank has an error, this one none", step);
    /* without memory for aggregators the ranks access the file on their own */
    t_local(all[0] == 0 || all[1] > 0 || failing == ALLOCATION, "step %d failed in silence", step);
    t_local(all[0] > 0 || all[1] == 0, "step %d: error %d without a cause", step, err);
    if (all[1] > 0) {
        for (int i = 0; i < count_rows() * WIDTH; i++)
            values[i] = value_of(i);
        t_local(access_columns(ncid, true, values) == NC_NOERR, "the put after step %d fails", step);
    }
    t_local(is_right(ncid), "wrong values after step %d", step);
    return all[0] > 0;
}

static void test_strategy(const char *strategy, bool put, int where)
{
    int steps = 0, each = t_choose(2, 5, 20);
    bool more = true;

    /* the first call also makes the aggregators: a new file for each step */
    while (more && steps < MOST_STEPS) {
        int ncid = create(strategy);

        if (!put) {
            static double values[ROWS * WIDTH];

            for (int i = 0; i < count_rows() * WIDTH; i++)
                values[i] = value_of(i);
            t_local(access_columns(ncid, true, values) == NC_NOERR, "put before the get");
        }
        more = try_step(ncid, put, where, steps);
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
        steps += more && steps > each ? 17 : more; /* later steps resemble each other */
    }
    t_check(steps > 0 || where > 0, "%s%s, %s%s: rank %d fails in each of %d %s", strategy, is_far ? ", far apart" : "",
            is_deferred ? "deferred " : "", put ? "put" : "get", where, steps, kind_names[failing]);
}

static void test_ranks(const char *strategy, bool put)
{
    for (int where = 0; where<t_nprocs; where += t_nprocs> 2 ? t_nprocs - 1 : 1)
        test_strategy(strategy, put, where);
}

/* --- a netCDF-4 file whose chunks wait for more values until it is closed --- */

enum { CHUNKS = 16, CHUNK_ROWS = 4, COLUMNS = 100 };

static int create_waiting(int *values)
{
    MPI_Offset share = CHUNKS * CHUNK_ROWS / t_nprocs, start[2] = {share * t_rank, 0}, count[2] = {share, COLUMNS / 2};
    int ncid = -1, dims[2], varid;

    t_local(ncmpi_create(MPI_COMM_WORLD, t_path("failure.nc"), NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "row", CHUNKS * CHUNK_ROWS, &dims[0]);
    ncmpi_def_dim(ncid, "column", COLUMNS, &dims[1]);
    ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &varid);
    t_local(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, (MPI_Offset[]){CHUNK_ROWS, COLUMNS}) == NC_NOERR, "chunks");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    for (int i = 0; i < share * COLUMNS / 2; i++)
        values[i] = 1000 * t_rank + i;
    t_local(ncmpi_put_vara_int_all(ncid, varid, start, count, values) == NC_NOERR, "put");
    return ncid;
}

/* The last rank cannot write: all ranks get the error, and the file is that of the last flush, without any part of what
 * was put since. */
static void test_closing(void)
{
    static int values[CHUNKS * CHUNK_ROWS * COLUMNS], found[CHUNKS * CHUNK_ROWS * COLUMNS];
    MPI_Offset share = CHUNKS * CHUNK_ROWS / t_nprocs, start[2] = {share * t_rank, 0}, count[2] = {share, COLUMNS / 2};
    int ncid = create_waiting(values), n = (int)share * COLUMNS / 2, sums[3] = {0}, err;

    failing = ACCESS;
    failed = false;
    left = t_rank == t_nprocs - 1 ? 0 : -1;
    err = ncmpi_close(ncid);
    left = -1;
    t_check(err != NC_NOERR && failed == (t_rank == t_nprocs - 1), "a write fails at close: %s", ncmpi_strerrno(err));
    t_local(ncmpi_open(MPI_COMM_WORLD, t_path("failure.nc"), NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    t_local(ncmpi_get_vara_int_all(ncid, 0, start, count, found) == NC_NOERR, "get");
    for (int i = 0; i < n; i++)
        sums[found[i] == values[i] ? 0 : 1 + (found[i] == NC_FILL_INT)]++;
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    t_check(sums[0] == 0 && sums[1] == 0, "%d values are in the file, %d are wrong, %d were not written", sums[0],
            sums[1], sums[2]);
    t_check(ncmpi_close(ncid) == NC_NOERR, "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    if (!t_classic() && t_nprocs > 1)
        test_closing();
    for (failing = 0; failing < KINDS; failing++) {
        for (int i = 0; i < 6; i++)
            for (int put = 0; put < 2; put++)
                test_ranks(strategies[i], put);
        is_far = true;
        test_ranks("two_phase", false);
        is_far = false;
        is_deferred = true;
        for (int i = 0; i < 6; i++)
            test_ranks(strategies[i], true);
        is_deferred = false;
    }
    return t_finish();
}
