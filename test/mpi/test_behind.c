/* Delayed writes (nc_write_behind=enable). The system's writes are replaced here, so that those of the worker, which no
 * other thread makes, can be held, fail, be interrupted or short: what is put and not yet written is then certain. What
 * the file has is read by the system, not by the library. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FILE_OFFSET_BITS /* on 32-bit processors it makes one name of pwrite and pwrite64 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rows.h"

enum { MIB = 1 << 20 };
typedef enum fault { NONE, FAIL, INTERRUPT, SHORT, EMPTY } fault;

static pthread_t program;
static atomic_bool is_held;                            /* the worker waits before it writes */
static atomic_int delay_us, fault_kind, number, after; /* a fault, its errno, and the writes before it */
static atomic_int writes, faults, bad_threads;
static atomic_int all_writes; /* of the program, too */

static int dies_at = -1; /* the write of the worker at which this process dies; with half of its bytes, if it is odd */

/* --- the system --- */

static void check_signals(void)
{
    sigset_t blocked;

    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGUSR1) || !sigismember(&blocked, SIGALRM))
        bad_threads++;
}

/* 0, or what the write returns beside `n`, which it may change: 1: nothing; -1: the error is set. */
static int disturb(size_t *n)
{
    all_writes++;
    if (pthread_equal(pthread_self(), program))
        return 0;
    check_signals();
    while (is_held)
        usleep(200);
    if (delay_us > 0)
        usleep((useconds_t)delay_us);
    if (writes == dies_at && dies_at % 2 == 0)
        kill(getpid(), SIGKILL);
    if (writes++ < after || fault_kind == NONE)
        return 0;
    faults++;
    errno = fault_kind == INTERRUPT ? EINTR : number;
    if (fault_kind == INTERRUPT && faults % 2 == 0)
        return 0;
    if (fault_kind == SHORT)
        *n = *n > 1 ? *n / 2 : *n;
    if (fault_kind == EMPTY)
        return 1;
    return fault_kind == SHORT ? 0 : -1;
}

static bool is_last(void)
{
    return dies_at >= 0 && writes == dies_at + 1 && !pthread_equal(pthread_self(), program);
}

static void die_after(ssize_t written)
{
    if (written >= 0)
        kill(getpid(), SIGKILL);
}

/* clang-format off */
#define ACCESS(name, position)                                                    \
    ssize_t name(int fd, const void *bytes, size_t n, position offset)            \
    {                                                                             \
        static ssize_t (*real)(int, const void *, size_t, position);              \
        int result = disturb(&n);                                                 \
                                                                                  \
        if (real == NULL)                                                         \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                            \
        if (result != 0)                                                          \
            return result < 0 ? -1 : 0;                                           \
        if (is_last())                                                            \
            die_after(real(fd, bytes, n / 2, offset));                            \
        return real(fd, bytes, n, offset);                                        \
    }
ACCESS(pwrite, off_t)
ACCESS(pwrite64, off64_t)
/* clang-format on */

static void hold_writes(bool on)
{
    MPI_Barrier(MPI_COMM_WORLD);
    is_held = on;
}

static void set_fault(fault kind, int error, int later)
{
    MPI_Barrier(MPI_COMM_WORLD);
    fault_kind = NONE;
    writes = faults = 0;
    number = error;
    after = later;
    fault_kind = kind;
}

/* --- files --- */

static MPI_Info hints(const char *memory, const char *strategy)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_write_behind", "enable");
    MPI_Info_set(info, "nc_write_behind_memory", memory);
    if (strategy != NULL)
        MPI_Info_set(info, "nc_strategy", strategy);
    return info;
}

static const char *const small_memory = "2097152";

/* v(time, rank, x), and f(ROWS, rank, x) */
static int create_file(const char *path, int cmode, MPI_Info info)
{
    int ncid = -1, fixed[3];

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, info, &ncid), "create");
    define_rows(ncid, fixed);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    MPI_Info_free(&info);
    return ncid;
}

static void close_and_check(int ncid, const char *path, int rows, int version, const char *what)
{
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    check_rows(ncid, 0, 0, rows, version, what);
    check_rows(ncid, 1, 0, rows, version, what);
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- tests --- */

/* Puts return although nothing is written, and the number of records does not count what is not. */
static void test_delay(const char *strategy)
{
    const char *path = t_path("behind.nc");
    int ncid = create_file(path, 0, hints(small_memory, strategy));

    hold_writes(true);
    expect_ok(put_rows(ncid, 0, 0, ROWS, 1), "puts while no write is made");
    t_check(t_rank != 0 || count_records(path) == 0, "the file counts no record whose data are not written");
    hold_writes(false);
    expect_ok(ncmpi_sync(ncid), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
    t_check(t_rank != 0 || count_records(path) == ROWS, "after ncmpi_sync it counts them");
    expect_ok(put_rows(ncid, 1, 0, ROWS, 1), "puts");
    close_and_check(ncid, path, ROWS, 1, "after close");
}

/* Each rank reads what others have put, while their writes take time; and later puts overwrite those of others. */
static void test_visibility(const char *strategy)
{
    const char *path = t_path("behind.nc");
    int ncid = create_file(path, 0, hints(small_memory, strategy));

    for (int round = 1; round <= 3; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        delay_us = t_rank == round % t_nprocs ? 20000 : 0;
        for (int varid = 0; varid < 2; varid++) {
            int err = NC_NOERR;

            for (int row = 0; row < 3 && err == NC_NOERR; row++)
                err = transfer(ncid, varid, true, row, (t_rank + round) % t_nprocs, round);
            expect_ok(err, "puts");
        }
        if (round != 2)
            check_rows(ncid, 1, 0, 3, round, "gets after puts");
    }
    delay_us = 0;
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    for (int i = 0; i < t_nprocs; i++) {
        MPI_Offset start[3] = {2, i, 0}, count[3] = {1, 1, NX};
        int values[NX];

        t_local(ncmpi_get_vara_int(ncid, 0, start, count, values) == NC_NOERR && values[1] == value_of(2, i, 1, 3),
                "independent get of column %d: %d", i, values[1]);
    }
    t_check(true, "independent gets after collective puts, %s", strategy);
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
    close_and_check(ncid, path, 3, 3, "after close");
}

static int put_own_row(int ncid, int version)
{
    MPI_Offset start[3] = {1, 0, 0}, count[3] = {1, 1, NX};
    int values[NX];

    for (int i = 0; i < NX; i++)
        values[i] = value_of(1, 0, i, version);
    return ncmpi_put_vara_int(ncid, 1, start, count, values);
}

/* docs/hidden.md: "The order of overlapping puts is kept", also of independent ones that a barrier orders. */
static void test_independent_order(void)
{
    const char *path = t_path("behind.nc");
    int ncid = create_file(path, 0, hints(small_memory, NULL));

    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    for (int round = 1; round <= 2 * t_nprocs; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        delay_us = t_rank + 1 < t_nprocs ? 20000 : 0;
        if (round % t_nprocs == t_rank)
            t_local(put_own_row(ncid, round) == NC_NOERR, "independent put of version %d", round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == t_nprocs - 1)
        t_local(put_own_row(ncid, 100) == NC_NOERR, "the last independent put");
    delay_us = 0;
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
    expect_ok(transfer(ncid, 1, false, 1, 0, 100), "the file has the last one");
    expect_ok(ncmpi_close(ncid), "close");
}

/* In one call rank 0 puts whole rows by itself, and the others exchange columns: all ranks wait within the call, and
 * what it puts afterwards may not be taken for written. */
static void test_mixed_call(void)
{
    const char *path = t_path("behind.nc");
    int ncid = create_file(path, 0, hints(small_memory, NULL));
    int *values = malloc(sizeof *values * ROWS * (size_t)t_nprocs * NX);

    for (int version = 1; version <= 3; version++) {
        bool whole = t_rank == 0;
        MPI_Offset start[3] = {whole ? ROWS / 2 : 0, whole ? 0 : t_rank, 0};
        MPI_Offset count[3] = {ROWS / 2, whole ? t_nprocs : 1, NX};
        int n = (int)(count[0] * count[1] * NX), wrong = 0;

        for (int i = 0; i < n; i++)
            values[i] = value_of((int)start[0] + i / NX / (int)count[1], (int)start[1] + i / NX % (int)count[1], i % NX,
                                 version);
        MPI_Barrier(MPI_COMM_WORLD);
        delay_us = 20000;
        expect_ok(ncmpi_put_vara_int_all(ncid, 1, start, count, values), "a put of rows and columns");
        start[0] = 0;
        start[1] = t_nprocs > 1 ? 1 + t_rank % (t_nprocs - 1) : 0;
        count[0] = ROWS / 2;
        count[1] = 1;
        expect_ok(ncmpi_get_vara_int_all(ncid, 1, start, count, values), "a get of columns");
        for (int i = 0; i < ROWS / 2 * NX && t_nprocs > 1; i++)
            wrong += values[i] != value_of(i / NX, (int)start[1], i % NX, version);
        t_check(wrong == 0, "all of version %d: %d are not", version, wrong);
        delay_us = 0;
    }
    expect_ok(ncmpi_close(ncid), "close");
    free(values);
}

static void test_faults(void)
{
    const char *path = t_path("behind.nc");
    static const char *const names[] = {"", "", "interrupted", "short"};

    for (fault kind = INTERRUPT; kind <= SHORT; kind++)
        for (int later = 0; later < 3; later++) {
            int ncid = create_file(path, 0, hints(small_memory, NULL));

            set_fault(kind, EINTR, later);
            expect_ok(put_rows(ncid, 0, 0, ROWS, 1), names[kind]);
            expect_ok(put_rows(ncid, 1, 0, ROWS, 1), names[kind]);
            expect_ok(ncmpi_sync(ncid), "sync");
            set_fault(NONE, 0, 0);
            close_and_check(ncid, path, ROWS, 1, "after close");
        }
}

/* The write of one rank, which puts its own values, fails: one call reports it on all ranks, then sync and close. */
static void test_failure(fault kind, int error, int code, const char *text)
{
    const char *path = t_path("behind.nc");
    int ncid = create_file(path, 0, hints(small_memory, "direct")), err;
    char message[NC_MAX_MESSAGE] = "";

    expect_ok(put_rows(ncid, 0, 0, 2, 1), "puts");
    expect_ok(ncmpi_sync(ncid), "sync");
    set_fault(t_rank == t_nprocs - 1 ? kind : NONE, error, 0);
    hold_writes(true);
    expect_ok(put_rows(ncid, 0, 2, 4, 1), "a put whose write will fail");
    hold_writes(false);
    while (t_rank == t_nprocs - 1 && faults == 0)
        usleep(200);
    usleep(50000);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_code(put_rows(ncid, 0, 4, 5, 1), code, "the next call reports the failure");
    ncmpi_inq_last_error(ncid, NULL, message);
    t_check(t_rank != t_nprocs - 1 || (strstr(message, text) != NULL && strstr(message, "behind.nc: ") != NULL &&
                                       strstr(message, "bytes ") != NULL && strstr(message, "variable \"v\"") != NULL),
            "with file, bytes, variable and cause: %s", message);
    set_fault(NONE, 0, 0);
    expect_ok(put_rows(ncid, 1, 0, 1, 1), "the call after it does not");
    expect_code(ncmpi_begin_indep_data(ncid), code, "calls that wait for all report it");
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data in collective mode");
    t_check(t_rank != 0 || count_records(path) == 2, "the records before remain counted, and no other");
    expect_code(ncmpi_sync(ncid), code, "sync reports it");
    expect_code(ncmpi_sync(ncid), code, "and again");
    err = ncmpi_close(ncid);
    expect_code(err, code, "and close");
    t_check(t_rank != 0 || count_records(path) == 2, "the file counts no record that is lost");
}

/* More than the memory: puts wait. */
static void test_memory(void)
{
    const char *path = t_path("behind.nc");
    enum { N = 12 * MIB / 4 };
    int *values = malloc(N * sizeof *values), ncid, dims[2], varid, wrong = 0;
    MPI_Offset start[2] = {t_rank, 0}, count[2] = {1, N};
    MPI_Info info = hints(small_memory, NULL);

    MPI_Info_set(info, "nc_stats", "keep");
    for (int i = 0; i < N; i++)
        values[i] = i + t_rank;
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    ncmpi_def_dim(ncid, "y", t_nprocs, &dims[0]);
    ncmpi_def_dim(ncid, "x", N, &dims[1]);
    ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &varid);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    delay_us = 1000;
    expect_ok(ncmpi_put_vara_int_all(ncid, varid, start, count, values), "a put larger than the memory");
    delay_us = 0;
    expect_ok(ncmpi_sync(ncid), "sync");
    t_check(statistic(ncid, "behind_bytes") == (int64_t)N * 4 || t_nprocs > 1, "all bytes are written by the worker");
    t_check(statistic(ncid, "behind_memory") <= 2 * MIB, "in the memory of the hint: %lld bytes",
            (long long)statistic(ncid, "behind_memory"));
    memset(values, 0, N * sizeof *values);
    start[0] = (t_rank + 1) % t_nprocs;
    expect_ok(ncmpi_get_vara_int_all(ncid, varid, start, count, values), "get");
    for (int i = 0; i < N; i++)
        wrong += values[i] != i + (int)start[0];
    t_check(wrong == 0, "the values");
    expect_ok(ncmpi_close(ncid), "close");
    MPI_Info_free(&info);
    free(values);
}

/* What changes the layout waits. */
static void test_growth(int cmode)
{
    const char *path = t_path("behind.nc");
    int ncid = create_file(path, cmode, hints(small_memory, NULL));
    char *text = calloc(1, 100000);

    MPI_Barrier(MPI_COMM_WORLD);
    delay_us = 3000;
    expect_ok(put_rows(ncid, 0, 0, 5, 1), "puts of records");
    expect_ok(put_rows(ncid, 1, 0, 5, 1), "puts");
    expect_ok(ncmpi_redef(ncid), "redef");
    expect_ok(ncmpi_put_att_text(ncid, NC_GLOBAL, "large", 100000, text), "an attribute that moves all data");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(put_rows(ncid, 0, 5, ROWS, 1), "puts");
    expect_ok(ncmpi_rename_var(ncid, 0, "w"), "rename in data mode");
    expect_ok(put_rows(ncid, 1, 5, ROWS, 1), "puts");
    delay_us = 0;
    close_and_check(ncid, path, ROWS, 1, "after close");
    free(text);
}

/* A child has no worker and writes nothing; the parent writes all. */
static void test_fork(void)
{
    const char *path = t_path("behind.nc");
    int ncid = create_file(path, 0, hints(small_memory, NULL)), status = -1;
    pid_t child;

    hold_writes(true);
    expect_ok(put_rows(ncid, 0, 0, ROWS, 1), "puts");
    child = fork();
    if (child == 0)
        _exit(7);
    t_local(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7, "the child ends");
    hold_writes(false);
    expect_ok(put_rows(ncid, 1, 0, ROWS, 1), "puts after a fork");
    close_and_check(ncid, path, ROWS, 1, "after close");
}

static int count_threads(void)
{
    int n = 0;
    char line[200];
    FILE *file = fopen("/proc/self/status", "r");

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Threads: %d", &n) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return n;
}

/* Two files of one worker, a thread only while one of them is open, and none without the hint. */
static void test_threads(void)
{
    int before = count_threads(), first, second;

    first = create_file(t_path("behind.nc"), 0, hints(small_memory, NULL));
    second = create_file(t_path("behind2.nc"), 0, hints(small_memory, NULL));
    t_local(count_threads() == before, "%d threads before the first put", count_threads());
    hold_writes(true);
    for (int row = 0; row < ROWS; row++) {
        expect_ok(put_rows(first, 0, row, row + 1, 1), "put to a file");
        expect_ok(put_rows(second, 0, row, row + 1, 2), "put to another one");
    }
    t_check(count_threads() == before + 1, "one more thread: %d and %d", before, count_threads());
    hold_writes(false);
    put_rows(first, 1, 0, ROWS, 1);
    put_rows(second, 1, 0, ROWS, 2);
    close_and_check(first, t_path("behind.nc"), ROWS, 1, "the first file");
    close_and_check(second, t_path("behind2.nc"), ROWS, 2, "the second file");
    t_check(count_threads() == before, "after close: %d threads", count_threads());
    t_check(bad_threads == 0, "the worker blocks signals");
    if (t_rank == 0)
        unlink(t_path("behind2.nc"));
}

static void check_hint(const char *path, int cmode, MPI_Info info, const char *wanted, const char *what)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info used;
    int ncid, found = 0;

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, info, &ncid), what);
    ncmpi_inq_file_info(ncid, &used);
    MPI_Info_get(used, "nc_write_behind", MPI_MAX_INFO_VAL, value, &found);
    t_check(found && strcmp(value, wanted) == 0, "%s: nc_write_behind is %s", what, value);
    MPI_Info_free(&used);
    expect_ok(ncmpi_close(ncid), "close");
    MPI_Info_free(&info);
}

static void test_hint(void)
{
    MPI_Info info = hints(small_memory, NULL), none;

    MPI_Info_create(&none);
    check_hint(t_path("behind.nc"), 0, hints(small_memory, NULL), "enable", "a file");
    check_hint(t_path("behind.nc"), NC_SHARE, hints(small_memory, NULL), "disable", "NC_SHARE");
    check_hint(t_path("behind.nc"), 0, none, "disable", "without the hint");
    MPI_Info_set(info, "nc_driver", "memory");
    if (t_nprocs == 1)
        check_hint("behind", 0, info, "disable", "the memory driver");
    else
        MPI_Info_free(&info);
    if (t_nprocs == 1)
        ncmpi_delete("behind", MPI_INFO_NULL);
}

/* --- files of one rank --- */

/* System writes for every second element of many rows, in logs as well, and whether the file has them. */
static int count_strided(const char *hint, const char *strategy)
{
    enum { N = 4000 };
    const MPI_Offset start = 0, count = N, stride = 2;
    static double values[N], got[N];
    char path[4300];
    MPI_Info info;
    int ncid, dim, varid, wrong = 0, before;

    snprintf(path, sizeof path, "%s.%d", t_path("behind.nc"), t_rank);
    MPI_Info_create(&info);
    if (hint != NULL)
        MPI_Info_set(info, hint, "enable");
    MPI_Info_set(info, "nc_strategy", strategy);
    MPI_Info_set(info, "nc_stats", "keep");
    for (int i = 0; i < N; i++)
        values[i] = i + t_rank;
    t_local(ncmpi_create(MPI_COMM_SELF, path, NC_CLOBBER, info, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "x", 2 * N, &dim);
    ncmpi_def_var(ncid, "v", NC_DOUBLE, 1, &dim, &varid);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    before = all_writes;
    for (int k = 0; k < 2; k++) {
        const MPI_Offset from = start + k;

        t_local(ncmpi_put_vars_double_all(ncid, varid, &from, &count, &stride, values) == NC_NOERR, "put");
    }
    t_local(ncmpi_sync(ncid) == NC_NOERR, "sync");
    before = all_writes - before + (int)statistic(ncid, "log_writes");
    for (int k = 0; k < 2; k++) {
        const MPI_Offset from = start + k;

        ncmpi_get_vars_double_all(ncid, varid, &from, &count, &stride, got);
        for (int i = 0; i < N; i++)
            wrong += got[i] != values[i];
    }
    t_local(ncmpi_close(ncid) == NC_NOERR && wrong == 0, "%d values are wrong", wrong);
    MPI_Info_free(&info);
    unlink(path);
    return before;
}

/* docs/hidden.md: "Data sieving is not lost". */
static void test_sieving(void)
{
    static const char *const hinted[] = {"nc_write_behind", "nc_burst_buf"};
    static const char *const strategies[] = {"automatic", "direct", "merged"};

    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            int plain = count_strided(NULL, strategies[k]), found = count_strided(hinted[i], strategies[k]);

            t_local(found <= plain + 16, "%s, %s: %d writes, without the hint %d", hinted[i], strategies[k], found,
                    plain);
        }
    t_check(true, "writes of strided puts of one rank");
}

/* Files that this process can have open at once, each with a put, until create fails. */
static int count_files(const char *hint)
{
    enum { MOST = 200 };
    int ids[MOST], n = 0, dim, varid, wrong = 0, value;
    char path[4300];
    MPI_Info info;

    MPI_Info_create(&info);
    if (hint != NULL)
        MPI_Info_set(info, hint, "enable");
    for (; n < MOST; n++) {
        snprintf(path, sizeof path, "%s.%d.%d", t_path("behind.nc"), t_rank, n);
        if (ncmpi_create(MPI_COMM_SELF, path, NC_CLOBBER, info, &ids[n]) != NC_NOERR)
            break;
        ncmpi_def_dim(ids[n], "x", 1, &dim);
        ncmpi_def_var(ids[n], "v", NC_INT, 1, &dim, &varid);
        wrong += ncmpi_enddef(ids[n]) != NC_NOERR || ncmpi_put_var_int_all(ids[n], varid, &n) != NC_NOERR;
    }
    for (int i = 0; i < n; i++) {
        value = 1000 + i;
        wrong += ncmpi_put_var_int_all(ids[i], 0, &value) != NC_NOERR;
        value = 0;
        wrong += ncmpi_get_var_int_all(ids[i], 0, &value) != NC_NOERR || value != 1000 + i;
        wrong += ncmpi_close(ids[i]) != NC_NOERR;
        snprintf(path, sizeof path, "%s.%d.%d", t_path("behind.nc"), t_rank, i);
        unlink(path);
    }
    unlink(path);
    MPI_Info_free(&info);
    t_local(wrong == 0, "%d of %d files: a call fails, or the value is wrong", wrong, n);
    return n;
}

/* docs/hidden.md: "No file fails to open for want of descriptors that the hints use". */
static void test_descriptors(void)
{
    static const char *const hinted[] = {"nc_write_behind", "nc_burst_buf", "nc_prefetch"};
    int last = open("/dev/null", O_RDONLY), plain, level;
    struct rlimit before, few;

    close(last);
    MPI_Query_thread(&level);
    if (level == MPI_THREAD_MULTIPLE) /* descriptors are not released: another thread may be closing a file */
        return;
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = (rlim_t)last + 60;
    setrlimit(RLIMIT_NOFILE, &few);
    plain = count_files(NULL);
    for (int i = 0; i < 3; i++) {
        int found = count_files(hinted[i]);

        t_local(found >= plain, "%s: %d files can be open, without the hint %d", hinted[i], found, plain);
    }
    setrlimit(RLIMIT_NOFILE, &before);
    t_check(plain > 20, "as many files can be open as without the hints");
}

/* --- for test/tools/test_behind_death.py --- */

/* Gets that follow each other, for reading ahead (nc_prefetch). */
static bool get_rows(int ncid, int rows)
{
    for (int row = 0; row < rows; row++)
        if (transfer(ncid, 1, false, row, t_rank, 1) != NC_NOERR)
            return false;
    return true;
}

static int ends_after = -1; /* the record after whose puts this process ends */
static const char *ending;  /* how */

static void end_process(void)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"SIGHUP", SIGHUP}, {"SIGTERM", SIGTERM}, {"SIGKILL", SIGKILL}, {"SIGSEGV", SIGSEGV}};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (strcmp(ending, signals[i].name) == 0) {
            signal(signals[i].number, SIG_DFL);
            raise(signals[i].number);
        }
    if (strcmp(ending, "MPI_Abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(ending, "exit") == 0)
        exit(9);
    _exit(9);
}

/* Put rows; after each sync, rank 0 writes the number of records to PATH.synced. */
static int put_and_die(const char *path, int rank, int at)
{
    char name[4300];
    int ncid = create_file(path, 0, hints(small_memory, NULL));
    FILE *file;

    snprintf(name, sizeof name, "%s.synced", path);
    dies_at = rank < 0 || rank == t_rank ? at : -1;
    for (int row = 0; row < ROWS; row++) {
        if (put_rows(ncid, 0, row, row + 1, 1) != NC_NOERR || put_rows(ncid, 1, row, row + 1, 1) != NC_NOERR)
            return 3;
        if (row == ends_after)
            end_process();
        if (row % 4 == 2 && !get_rows(ncid, row))
            return 5;
        if (row % 4 != 3)
            continue;
        if (ncmpi_sync(ncid) != NC_NOERR)
            return 4;
        file = t_rank == 0 ? fopen(name, "w") : NULL;
        if (file != NULL) {
            fprintf(file, "%d\n", row + 1);
            fclose(file);
        }
    }
    ncmpi_close(ncid);
    return t_finish();
}

/* nc_overlap has threads of the system, which end when they like. */
static void set_environment(void)
{
    const char *more = getenv("TEST_HINTS");
    char text[200];

    snprintf(text, sizeof text, "nc_overlap=disable;%s", more != NULL ? more : "");
    setenv("PNETCDF_HINTS", text, 1);
}

int main(int argc, char **argv)
{
    static const char *const strategies[] = {"automatic", "direct", "two_phase", "separate", "merged"};

    set_environment();
    t_start(&argc, &argv);
    program = pthread_self();
    if (argc == 4)
        return put_and_die(argv[1], atoi(argv[2]), atoi(argv[3]));
    if (argc == 5) {
        ending = argv[4];
        ends_after = atoi(argv[2]) < 0 || atoi(argv[2]) == t_rank ? atoi(argv[3]) : -1;
        return put_and_die(argv[1], -1, -1);
    }
    for (int i = 0; i < 5; i++) {
        test_delay(strategies[i]);
        test_visibility(strategies[i]);
    }
    test_independent_order();
    test_mixed_call();
    test_faults();
    test_failure(FAIL, EIO, NC_EWRITE, "Input/output error");
    test_failure(FAIL, ENOSPC, NC_ENO_SPACE, "No space left");
    test_failure(EMPTY, 0, NC_ENO_SPACE, "the system writes nothing");
    test_memory();
    test_growth(0);
    test_growth(NC_64BIT_DATA);
    test_fork();
    test_threads();
    test_hint();
    test_sieving();
    test_descriptors();
    if (t_rank == 0)
        unlink(t_path("behind.nc"));
    return t_finish();
}
