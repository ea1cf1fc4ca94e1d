/* The burst buffer of netCDF-4 files (nc_burst_buf=enable): values wait in logs, and pass the filters when they are put
 * into the file. The system's writes are replaced here: this process may die at one of them, and those to its log can
 * fail. With arguments, for test_burst_netcdf4.py:
 *
 *   test_burst_values FILE LOGS 0|1 STEPS RANK WRITE: without or with logs; RANK, or -1: all, dies at this write (-1:
 *       none, -2: when the steps are put; -3: the disk is full at close; -4: the file is not closed; -5: a file that
 *       is there, of whose variables z cannot be written, and y can) */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FILE_OFFSET_BITS /* on 32-bit processors it makes one name of pwrite and pwrite64 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "info.h"

enum { X = 24, STEPS = 12, V = 0, F, W, B, C, M, N, VARS };

static atomic_int writes, log_error, file_error, log_writes;
static int dies_at = -1; /* with a part of it, if that is odd */

/* --- the system --- */

/* About half of the bytes, up to the end of a page: the kernel writes those of a page all or not at all. */
static size_t cut(size_t n, long long offset)
{
    size_t end = ((size_t)offset + n / 2) / 4096 * 4096;

    return end > (size_t)offset ? end - (size_t)offset : 0;
}

/* clang-format off */
#define WRITE(name, position)                                                     \
    ssize_t name(int fd, const void *bytes, size_t n, position offset)            \
    {                                                                             \
        static ssize_t (*real)(int, const void *, size_t, position);              \
        int at = writes++;                                                        \
                                                                                  \
        if (real == NULL)                                                         \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                            \
        errno = file_error;                                                       \
        if (file_error != 0)                                                      \
            return -1;                                                            \
        if (at == dies_at && at % 2 == 1)                                         \
            (void)!real(fd, bytes, cut(n, offset), offset);                        \
        if (at == dies_at)                                                        \
            kill(getpid(), SIGKILL);                                              \
        return real(fd, bytes, n, offset);                                        \
    }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)

#define WRITE_VECTOR(name, position)                                              \
    ssize_t name(int fd, const struct iovec *parts, int n, position offset)       \
    {                                                                             \
        static ssize_t (*real)(int, const struct iovec *, int, position);         \
        struct iovec half = {parts[n - 1].iov_base, parts[n - 1].iov_len / 2};    \
        int at = writes++;                                                        \
                                                                                  \
        log_writes++;                                                             \
        if (real == NULL)                                                         \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                            \
        if (at == dies_at && at % 2 == 1)                                         \
            (void)!(n > 1 ? real(fd, parts, 1, offset) : real(fd, &half, 1, offset)); \
        if (at == dies_at)                                                        \
            kill(getpid(), SIGKILL);                                              \
        errno = log_error;                                                        \
        return log_error != 0 ? -1 : real(fd, parts, n, offset);                  \
    }
WRITE_VECTOR(pwritev, off_t)
WRITE_VECTOR(pwritev64, off64_t)
/* clang-format on */

/* --- files --- */

static char folder[4200], path[4200];
static int varids[VARS];

static MPI_Info hints(bool logs, const char *size)
{
    MPI_Info info;

    MPI_Info_create(&info);
    if (!logs)
        return info;
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", folder);
    if (size != NULL)
        MPI_Info_set(info, "nc_burst_buf_size", size);
    return info;
}

static int define(int ncid, const char *name, nc_type type, int ndims, const int *dims, const MPI_Offset *chunk,
                  int deflates)
{
    int varid = -1, err = ncmpi_def_var(ncid, name, type, ndims, dims, &varid);

    if (err == NC_NOERR && chunk != NULL)
        err = ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, chunk);
    if (err == NC_NOERR && deflates)
        err = ncmpi_def_var_deflate(ncid, varid, 1, 1, 1);
    t_local(err == NC_NOERR, "define %s: %s", name, ncmpi_strerrno(err));
    return varid;
}

/* v(time, rank, x), f(row, rank, x), w(rank, x), b(time, rank, three) of bytes, c(rank, x) contiguous, m(more, rank),
 * and n, a scalar */
static int create_file(MPI_Info info)
{
    const MPI_Offset one[] = {1, 1, X}, two[] = {5, t_nprocs, 7}, three[] = {2, 1, 2}, both[] = {t_nprocs, X};
    int ncid = -1, time, rank, x, row, small, more;

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, info, &ncid), "create");
    MPI_Info_free(&info);
    ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &time);
    ncmpi_def_dim(ncid, "rank", t_nprocs, &rank);
    ncmpi_def_dim(ncid, "x", X, &x);
    ncmpi_def_dim(ncid, "row", STEPS, &row);
    ncmpi_def_dim(ncid, "three", 3, &small);
    varids[V] = define(ncid, "v", NC_DOUBLE, 3, (int[]){time, rank, x}, one, 1);
    varids[F] = define(ncid, "f", NC_INT, 3, (int[]){row, rank, x}, two, 1);
    varids[W] = define(ncid, "w", NC_INT, 2, (int[]){rank, x}, both, 1);
    varids[B] = define(ncid, "b", NC_BYTE, 3, (int[]){time, rank, small}, three, 0);
    varids[C] = define(ncid, "c", NC_SHORT, 2, (int[]){rank, x}, NULL, 0);
    ncmpi_def_dim(ncid, "more", NC_UNLIMITED, &more);
    varids[M] = define(ncid, "m", NC_UINT, 2, (int[]){more, rank}, NULL, 0);
    varids[N] = define(ncid, "n", NC_INT64, 0, NULL, NULL, 0);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    return ncid;
}

/* Without a fraction, and small enough for short. */
static int value_of(int step, int column, int x)
{
    return 1000 * step + 100 * column + x;
}

/* Strided: the even columns, then the odd ones from another array. */
static int put_strided(int ncid, int varid, int step)
{
    int err = NC_NOERR;

    for (int odd = 0; odd < 2 && err == NC_NOERR; odd++) {
        MPI_Offset start[] = {step, t_rank, odd}, count[] = {1, 1, X / 2}, stride[] = {1, 1, 2};
        double values[X / 2];

        for (int i = 0; i < X / 2; i++)
            values[i] = value_of(step, t_rank, 2 * i + odd);
        err = ncmpi_put_vars_double_all(ncid, varid, start, count, stride, values);
    }
    return err;
}

/* A rank has two pieces of row `step` of f, and one without elements between them. */
static int put_list(int ncid, int step)
{
    MPI_Offset starts[3][3] = {{step, t_rank, X / 3}, {step, t_rank, X / 2}, {step, t_rank, 0}},
               counts[3][3] = {{1, 1, X - X / 3}, {1, 1, 0}, {1, 1, X / 3}};
    MPI_Offset *s[] = {starts[0], starts[1], starts[2]}, *c[] = {counts[0], counts[1], counts[2]};
    long long values[X];

    for (int i = 0; i < X; i++)
        values[i] = value_of(step, t_rank, (X / 3 + i) % X);
    return ncmpi_put_varn_longlong_all(ncid, varids[F], 3, s, c, values);
}

static int post_bytes(int ncid, int step)
{
    MPI_Offset start[] = {step, t_rank, 0}, count[] = {1, 1, 3}, all[] = {t_rank, 0}, whole[] = {1, X};
    signed char values[3] = {(signed char)step, (signed char)t_rank, (signed char)-step};
    short shorts[X];
    int err = ncmpi_iput_vara_schar(ncid, varids[B], start, count, values, NULL);

    for (int i = 0; i < X; i++)
        shorts[i] = (short)value_of(step, t_rank, i);
    if (err == NC_NOERR)
        err = ncmpi_iput_vara_short(ncid, varids[C], all, whole, shorts, NULL);
    return err == NC_NOERR ? ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL) : err;
}

/* Of the other unlimited dimension: by the last rank one more. */
static int put_more(int ncid, int step)
{
    MPI_Offset start[] = {step, t_rank}, count[] = {t_rank == t_nprocs - 1 ? 2 : 1, 1};
    unsigned values[2] = {(unsigned)(step + t_rank), 77};

    return ncmpi_put_vara_uint_all(ncid, varids[M], start, count, values);
}

/* w is overwritten in each step, each column by another rank; n by rank 0. */
static int put_again(int ncid, int step)
{
    int column = (t_rank + step) % t_nprocs, values[X], err;
    MPI_Offset start[] = {column, 0}, count[] = {1, X};
    long long number = step;

    for (int i = 0; i < X; i++)
        values[i] = value_of(step, column, i);
    err = ncmpi_put_vara_int_all(ncid, varids[W], start, count, values);
    if (err != NC_NOERR)
        return err;
    return t_rank == 0 ? ncmpi_put_var_longlong_all(ncid, varids[N], &number)
                       : ncmpi_put_varn_longlong_all(ncid, varids[N], 0, NULL, NULL, &number);
}

static int put_step(int ncid, int step)
{
    int err = put_strided(ncid, varids[V], step);

    if (err == NC_NOERR)
        err = put_list(ncid, step);
    if (err == NC_NOERR)
        err = put_more(ncid, step);
    if (err == NC_NOERR)
        err = post_bytes(ncid, step);
    return err == NC_NOERR ? put_again(ncid, step) : err;
}

static int put_steps(int ncid, int from, int to)
{
    int err = NC_NOERR;

    for (int step = from; step < to && err == NC_NOERR; step++)
        err = put_step(ncid, step);
    return err;
}

/* What another rank has put into row or record `step`. */
static void check_step(int ncid, int step, int last)
{
    int column = (t_rank + 1) % t_nprocs, got[X], err;
    MPI_Offset start[] = {step, column, 0}, count[] = {1, 1, X};

    for (int k = V; k <= F; k++) {
        err = ncmpi_get_vara_int_all(ncid, varids[k], start, count, got);
        t_local(err == NC_NOERR, "get: %s", ncmpi_strerrno(err));
        for (int i = 0; i < X; i++)
            t_local(got[i] == value_of(step, column, i), "%d of variable %d, step %d: %d", i, k, step, got[i]);
    }
    err = ncmpi_get_vara_int_all(ncid, varids[W], start + 1, count + 1, got);
    for (int i = 0; i < X; i++)
        t_local(err == NC_NOERR && got[i] == value_of(last, column, i), "%d of w: %d", i, got[i]);
}

static void check_steps(int ncid, int n, const char *what)
{
    for (int step = 0; step < n; step++)
        check_step(ncid, step, n - 1);
    t_check(true, "%s", what);
}

/* Logs in the folder, and the mark. */
static void check_logs(int wanted, bool mark, const char *what)
{
    DIR *all;
    char name[4300];
    int n = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    all = opendir(folder);
    for (struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;)
        n += entry->d_name[0] != '.';
    if (all != NULL)
        closedir(all);
    snprintf(name, sizeof name, "%s.burst", path);
    t_check(n == wanted && (access(name, F_OK) == 0) == mark, "%s: %d logs, of %d", what, n, wanted);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void close_and_check(int ncid, int n, const char *what)
{
    expect_ok(ncmpi_close(ncid), "close");
    check_logs(0, false, what);
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    check_steps(ncid, n, what);
    expect_ok(ncmpi_close(ncid), "close");
}

static bool has_format(void)
{
    int ncid, err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid);

    if (err == NC_NOERR)
        ncmpi_close(ncid);
    return err != NC_ENOTBUILT;
}

/* --- tests --- */

/* Alone, and beside other hints that make values wait. */
static void test_calls(bool has_others)
{
    MPI_Info info = hints(true, NULL);
    MPI_Offset length = 0, laps = -1;
    int ncid, dimid, varid, other;

    MPI_Info_set(info, "nc_stats", "keep");
    if (has_others) {
        MPI_Info_set(info, "nc_write_behind", "enable");
        MPI_Info_set(info, "nc_filter_threads", "2");
        MPI_Info_set(info, "nc_defer_puts", "enable");
        MPI_Info_set(info, "nc_prefetch", "enable");
    }
    ncid = create_file(info);

    check_logs(0, false, "before the first put");
    expect_ok(put_steps(ncid, 0, 3), "puts");
    check_logs(t_nprocs, true, "after puts");
    t_check(is_enabled(ncid, "nc_burst_buf"), "the hint is in effect");
    expect_ok(ncmpi_inq_dimid(ncid, "time", &dimid), "inq_dimid");
    expect_ok(ncmpi_inq_dimlen(ncid, dimid, &length), "inq_dimlen");
    t_check(length == 3, "the program sees %lld records", (long long)length);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_code(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &other), NC_EINTERRUPTED,
                "another handle for writing");
    expect_ok(ncmpi_flush(ncid), "flush");
    check_steps(ncid, 3, "gets of what waits");
    expect_ok(put_steps(ncid, 3, 5), "puts after gets");
    expect_ok(ncmpi_sync(ncid), "sync");
    expect_ok(put_steps(ncid, 5, 7), "puts after sync");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
    expect_ok(put_steps(ncid, 7, 8), "puts after independent mode");
    expect_ok(ncmpi_redef(ncid), "redef");
    expect_ok(ncmpi_def_var(ncid, "more", NC_INT, 1, &dimid, &varid), "def_var");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    check_logs(0, false, "after other definitions");
    expect_ok(put_steps(ncid, 8, STEPS), "puts after them");
    check_logs(t_nprocs, true, "after puts");
    expect_ok(ncmpi_rename_dim(ncid, dimid, "when"), "rename_dim");
    check_logs(0, false, "after another name");
    expect_ok(put_steps(ncid, STEPS - 1, STEPS), "puts after it");
    expect_ok(ncmpi_inq_stats(ncid, "log_laps", &laps), "inq_stats");
    t_check(laps == 5, "%lld laps of the log", (long long)laps);
    close_and_check(ncid, STEPS, "after close");
}

/* Values that do not fit; arguments of one rank. */
static void test_errors(void)
{
    int ncid = create_file(hints(true, NULL)), last = t_rank == t_nprocs - 1;
    MPI_Offset start[] = {0, t_rank, 0}, count[] = {1, 1, 3};
    int values[3] = {1, last ? 1000 : 2, 3}, got[3] = {0}, err;

    err = ncmpi_put_vara_int_all(ncid, varids[B], start, count, values);
    t_check(err == (last ? NC_ERANGE : NC_NOERR), "a value that does not fit: %s", ncmpi_strerrno(err));
    count[2] = last ? 4 : 3;
    err = ncmpi_put_vara_int_all(ncid, varids[B], start, count, values);
    t_check(last ? err == NC_EEDGE : err == NC_NOERR || err == NC_EEDGE, "too many values: %s", ncmpi_strerrno(err));
    count[2] = 3;
    expect_ok(ncmpi_get_vara_int_all(ncid, varids[B], start, count, got), "get");
    t_check(got[0] == 1 && got[2] == 3 && (last ? got[1] == NC_FILL_BYTE : got[1] == 2), "the others: %d", got[1]);
    expect_ok(put_steps(ncid, 0, STEPS), "puts");
    close_and_check(ncid, STEPS, "after errors");
}

/* Puts that a log has no space for, and one that is larger than it. */
static void test_small_log(void)
{
    enum { LARGE = 300000 };
    int ncid = create_file(hints(true, "1048576")), dim, varid, err = NC_NOERR, wrong = 0;
    int *values = malloc(LARGE * sizeof *values);
    MPI_Offset start[] = {t_rank * (MPI_Offset)LARGE}, count[] = {LARGE / 3};

    expect_ok(ncmpi_redef(ncid), "redef");
    ncmpi_def_dim(ncid, "large", t_nprocs * (MPI_Offset)LARGE, &dim);
    ncmpi_def_var(ncid, "large", NC_INT, 1, &dim, &varid);
    ncmpi_def_var_deflate(ncid, varid, 1, 1, 1);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    for (int k = 0; k < 5 && err == NC_NOERR; k++) {
        for (int i = 0; i < LARGE; i++)
            values[i] = i / 100 + k;
        err = ncmpi_put_vara_int_all(ncid, varid, start, count, values);
    }
    expect_ok(err, "puts that fill the log");
    expect_ok(put_steps(ncid, 0, 2), "puts");
    count[0] = LARGE;
    expect_ok(ncmpi_put_vara_int_all(ncid, varid, start, count, values), "a put larger than the log");
    t_check(is_enabled(ncid, "nc_burst_buf"), "the hint is in effect");
    memset(values, 0, LARGE * sizeof *values);
    expect_ok(ncmpi_get_vara_int_all(ncid, varid, start, count, values), "get");
    for (int i = 0; i < LARGE; i++)
        wrong += values[i] != i / 100 + 4;
    t_check(wrong == 0, "%d values are wrong", wrong);
    expect_ok(put_steps(ncid, 2, STEPS), "puts");
    close_and_check(ncid, STEPS, "after a full log");
    free(values);
}

/* A write to the log of one rank, or of all, fails: the values go to the file, and no call fails. */
static void test_failed_log(int error, int before, bool of_all)
{
    int ncid = create_file(hints(true, NULL));

    expect_ok(put_steps(ncid, 0, before), "puts");
    log_error = of_all || t_rank == t_nprocs - 1 ? error : 0;
    expect_ok(put_steps(ncid, before, STEPS), "puts that a log cannot have");
    t_check(!is_enabled(ncid, "nc_burst_buf"), "the hint says so");
    check_logs(0, false, "without logs");
    log_error = 0;
    close_and_check(ncid, STEPS, "after a log that was full");
}

static void test_no_folder(bool of_all)
{
    MPI_Info info = hints(true, NULL);
    int ncid;

    if (of_all || t_rank == t_nprocs - 1)
        MPI_Info_set(info, "nc_burst_buf_dirname", "/nonexistent/folder");
    ncid = create_file(info);
    expect_ok(put_steps(ncid, 0, STEPS), "puts without logs");
    t_check(!is_enabled(ncid, "nc_burst_buf"), "the hint is not in effect");
    close_and_check(ncid, STEPS, "without logs");
}

/* The file cannot be written: the values wait, and are written later. */
static void test_failed_file(void)
{
    int ncid = create_file(hints(true, NULL)), err;

    expect_ok(put_steps(ncid, 0, 4), "puts");
    file_error = ENOSPC;
    err = ncmpi_sync(ncid);
    t_check(err == NC_ENO_SPACE || err == NC_EWRITE, "sync: %s", ncmpi_strerrno(err));
    check_logs(t_nprocs, true, "after a sync that failed");
    expect_ok(put_steps(ncid, 4, 6), "puts, whose values the logs have");
    file_error = 0;
    expect_ok(ncmpi_sync(ncid), "sync");
    expect_ok(put_steps(ncid, 6, STEPS), "puts");
    close_and_check(ncid, STEPS, "after a disk that was full");
}

/* --- deaths --- */

static void note_flushed(int step)
{
    char name[4300];
    FILE *file;

    snprintf(name, sizeof name, "%s.flushed", path);
    file = t_rank == 0 ? fopen(name, "w") : NULL;
    if (file == NULL)
        return;
    fprintf(file, "%d\n", step);
    fclose(file);
}

/* A variable that cannot be written is refused by the put, not by those that put what waits into the file. */
static int put_refused(void)
{
    MPI_Info info = hints(true, NULL);
    MPI_Offset start[] = {4 * t_rank}, count[] = {4};
    int ncid, y = -1, z = -1, values[4] = {t_rank, 1, 2, 3};

    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid), "open");
    MPI_Info_free(&info);
    expect_ok(ncmpi_inq_varid(ncid, "y", &y), "inq_varid");
    expect_ok(ncmpi_inq_varid(ncid, "z", &z), "inq_varid");
    expect_ok(ncmpi_put_vara_int_all(ncid, y, start, count, values), "a put");
    expect_code(ncmpi_put_vara_int_all(ncid, z, start, count, values), NC_ENOTSUPPORT, "a put that is refused");
    check_logs(t_nprocs, true, "after it");
    expect_ok(ncmpi_close(ncid), "close");
    check_logs(0, false, "after close");
    return t_finish();
}

static int run_program(char **argv)
{
    int steps = atoi(argv[4]), rank = atoi(argv[5]), at = atoi(argv[6]), status = 0, ncid;

    snprintf(path, sizeof path, "%s", argv[1]);
    snprintf(folder, sizeof folder, "%s", argv[2]);
    if (at == -5)
        return put_refused();
    ncid = create_file(hints(argv[3][0] == '1', NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    writes = 0;
    dies_at = at >= 0 && (rank < 0 || rank == t_rank) ? at : -1;
    for (int step = 0; step < steps && status == NC_NOERR; step++) {
        status = put_step(ncid, step);
        if (status == NC_NOERR && step % 5 == 4)
            status = ncmpi_sync(ncid);
        if (status == NC_NOERR && step % 2 == 1)
            status = ncmpi_flush(ncid);
        if (status == NC_NOERR && (step % 5 == 4 || step % 2 == 1))
            note_flushed(step + 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (at == -2)
        kill(getpid(), SIGKILL);
    if (at == -3) {
        file_error = ENOSPC;
        t_check(ncmpi_close(ncid) != NC_NOERR, "close fails");
        return t_finish();
    }
    expect_ok(status, "the calls");
    if (at == -4)
        return t_finish();
    expect_ok(ncmpi_close(ncid), "close");
    t_check(true, "%d writes", (int)writes);
    return t_finish();
}

int main(int argc, char **argv)
{
    setenv("PNETCDF_HINTS", "nc_overlap=disable", 1); /* it has threads of the system, which end when they like */
    t_start(&argc, &argv);
    if (argc == 7)
        return run_program(argv);
    snprintf(path, sizeof path, "%s", t_path("burst_values.nc"));
    snprintf(folder, sizeof folder, "%s", t_path("burst_values_logs"));
    if (t_rank == 0)
        mkdir(folder, 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!has_format()) {
        t_skip("the build is without HDF5");
        return t_finish();
    }
    test_calls(false);
    test_calls(true);
    test_errors();
    test_small_log();
    for (int k = 0; k < 2; k++) {
        test_failed_log(ENOSPC, 3 * k, k == 0);
        test_no_folder(k == 0);
    }
    test_failed_log(EIO, 2, false);
    test_failed_file();
    return t_finish();
}
