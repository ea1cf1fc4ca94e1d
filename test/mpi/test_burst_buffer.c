/* The burst buffer (nc_burst_buf=enable): puts wait in logs. The system's writes are replaced here: those of the worker
 * to the file can be held, or fail; those of the program to its log can fail. What file and folder have is read by the
 * system, not by the library. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FILE_OFFSET_BITS /* on 32-bit processors it makes one name of pwrite and pwrite64 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "info.h"
#include "rows.h"

enum { MIB = 1 << 20 };

static pthread_t program;
static atomic_bool is_held;                            /* the worker waits before it writes */
static atomic_int delay_us, worker_error, log_error;   /* errno; 0: none */
static atomic_int log_delay_us;                        /* before a write to the log */
static atomic_int worker_writes, log_writes, log_fine; /* log_fine: writes to the log before log_error */
static atomic_int mark_syncs, log_syncs, sync_error;   /* of folders; errno for that of logs, 0: none */
static atomic_int interruptions;                       /* of the next calls that sync */
static atomic_int data_syncs;                          /* of the file `data` */
static ino_t log_folder, data;
static int worker_dies = -1, log_dies = -1; /* the write at which this process dies; with half of it, if it is odd */

/* --- the system --- */

static bool is_worker(void)
{
    return !pthread_equal(pthread_self(), program);
}

/* The worker is about to write to the file. 0, or an errno. */
static int disturb_worker(void)
{
    while (is_held)
        usleep(200);
    if (delay_us > 0)
        usleep((useconds_t)delay_us);
    if (worker_writes == worker_dies && worker_dies % 2 == 0)
        kill(getpid(), SIGKILL);
    worker_writes++;
    return worker_error;
}

/* clang-format off */
#define WRITE(name, position)                                                     \
    ssize_t name(int fd, const void *bytes, size_t n, position offset)            \
    {                                                                             \
        static ssize_t (*real)(int, const void *, size_t, position);              \
        int number = is_worker() ? disturb_worker() : 0;                          \
                                                                                  \
        if (real == NULL)                                                         \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                            \
        errno = number;                                                           \
        if (number != 0)                                                          \
            return -1;                                                            \
        if (is_worker() && worker_writes == worker_dies + 1 && worker_dies >= 0 && \
            real(fd, bytes, n / 2, offset) >= 0)                                  \
            kill(getpid(), SIGKILL);                                              \
        return real(fd, bytes, n, offset);                                        \
    }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)

/* To the log, by the program and the worker. A write that dies, or fails, leaves a part. */
#define WRITE_VECTOR(name, position)                                              \
    ssize_t name(int fd, const struct iovec *parts, int n, position offset)       \
    {                                                                             \
        static ssize_t (*real)(int, const struct iovec *, int, position);         \
        struct iovec half = {parts[n - 1].iov_base, parts[n - 1].iov_len / 2};    \
        int at = log_writes++;                                                    \
                                                                                  \
        if (log_delay_us > 0)                                                     \
            usleep((useconds_t)log_delay_us);                                     \
        if (real == NULL)                                                         \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                            \
        if (at == log_dies && at % 2 == 1)                                        \
            (void)!(n > 1 ? real(fd, parts, 1, offset) : real(fd, &half, 1, offset)); \
        if (at == log_dies)                                                       \
            kill(getpid(), SIGKILL);                                              \
        if (log_error != 0 && at >= log_fine) {                                   \
            errno = log_error;                                                    \
            return -1;                                                            \
        }                                                                         \
        return real(fd, parts, n, offset);                                        \
    }
WRITE_VECTOR(pwritev, off_t)
WRITE_VECTOR(pwritev64, off64_t)
/* clang-format on */

int fdatasync(int fd)
{
    static int (*real)(int);
    struct stat facts;

    data_syncs += fstat(fd, &facts) == 0 && facts.st_ino == data;
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "fdatasync");
    if (interruptions > 0) {
        interruptions--;
        errno = EINTR;
        return -1;
    }
    return real(fd);
}

int fsync(int fd)
{
    static int (*real)(int);
    struct stat facts;

    if (interruptions > 0) {
        interruptions--;
        errno = EINTR;
        return -1;
    }
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "fsync");
    if (fstat(fd, &facts) != 0 || !S_ISDIR(facts.st_mode))
        return real(fd);
    ++*(facts.st_ino == log_folder ? &log_syncs : &mark_syncs);
    errno = sync_error;
    return sync_error != 0 && facts.st_ino == log_folder ? -1 : real(fd);
}

static void hold_writes(bool on)
{
    MPI_Barrier(MPI_COMM_WORLD);
    is_held = on;
}

/* --- files --- */

static char folder[4200], path[4200];

static MPI_Info hints(const char *size, const char *strategy)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", folder);
    if (size != NULL)
        MPI_Info_set(info, "nc_burst_buf_size", size);
    if (strategy != NULL)
        MPI_Info_set(info, "nc_strategy", strategy);
    return info;
}

/* v(time, rank, x); f and w(ROWS, rank, x) */
static int create_file(int cmode, MPI_Info info)
{
    int ncid = -1, fixed[3], varid;

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, info, &ncid), "create");
    define_rows(ncid, fixed);
    ncmpi_def_var(ncid, "w", NC_INT, 3, fixed, &varid);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    MPI_Info_free(&info);
    return ncid;
}

static bool has_mark(void)
{
    char mark[4300];

    snprintf(mark, sizeof mark, "%s.burst", path);
    return access(mark, F_OK) == 0;
}

/* Logs in the folder, and the bytes of the largest one. */
static int count_logs(int64_t *largest)
{
    DIR *all = opendir(folder);
    int n = 0;

    *largest = 0;
    for (struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
        char name[4500];
        struct stat facts;

        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || stat(name, &facts) != 0)
            continue;
        n++;
        *largest = facts.st_size > *largest ? facts.st_size : *largest;
    }
    if (all != NULL)
        closedir(all);
    return n;
}

/* On rank 0, when all ranks are here. */
static void check_logs(int wanted, bool mark, const char *what)
{
    int64_t largest;
    int n;

    MPI_Barrier(MPI_COMM_WORLD);
    n = count_logs(&largest);
    t_check(t_rank != 0 || (n == wanted && has_mark() == mark), "%s: %d logs, and %s mark", what, n,
            has_mark() ? "a" : "no");
}

static void remove_logs(void)
{
    DIR *all;
    char name[4500];

    MPI_Barrier(MPI_COMM_WORLD);
    all = t_rank == 0 ? opendir(folder) : NULL;
    for (struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(name);
    }
    if (all != NULL)
        closedir(all);
    snprintf(name, sizeof name, "%s.burst", path);
    if (t_rank == 0)
        unlink(name);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void close_and_check(int ncid, int rows, int version, const char *what)
{
    expect_ok(ncmpi_close(ncid), "close");
    check_logs(0, false, what);
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    check_rows(ncid, 0, 0, rows, version, what);
    check_rows(ncid, 1, 0, rows, version, what);
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- tests --- */

/* Puts and a flush return although nothing is written to the file; sync writes it. */
static void test_delay(const char *strategy)
{
    int ncid = create_file(0, hints(NULL, strategy));

    check_logs(0, false, "before the first put");
    hold_writes(true);
    expect_ok(put_rows(ncid, 0, 0, ROWS, 1), "puts while no write is made");
    expect_ok(ncmpi_flush(ncid), "flush while no write is made");
    check_logs(t_nprocs, true, "after puts");
    t_check(t_rank != 0 || count_records(path) == 0, "the file counts no record whose data are not written");
    t_check(is_enabled(ncid, "nc_burst_buf"), "the hint is in effect");
    hold_writes(false);
    expect_ok(ncmpi_sync(ncid), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
    t_check(t_rank != 0 || count_records(path) == ROWS, "after ncmpi_sync it counts them");
    expect_ok(put_rows(ncid, 1, 0, ROWS, 1), "puts");
    close_and_check(ncid, ROWS, 1, "after close");
}

/* Each rank reads what others have put, while their writes take time; and later puts overwrite those of others. */
static void test_visibility(const char *strategy)
{
    int ncid = create_file(0, hints(NULL, strategy));

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
    for (int row = 3; row < ROWS; row++) {
        MPI_Offset start[3] = {row, t_rank, 0}, count[3] = {1, 1, NX};
        int values[NX];

        for (int i = 0; i < NX; i++)
            values[i] = value_of(row, t_rank, i, 3);
        t_local(ncmpi_put_vara_int(ncid, 0, start, count, values) == NC_NOERR &&
                    ncmpi_put_vara_int(ncid, 1, start, count, values) == NC_NOERR,
                "independent puts");
    }
    t_check(true, "independent calls after collective puts, %s", strategy);
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
    expect_ok(put_rows(ncid, 1, 3, 5, 3), "collective puts again");
    close_and_check(ncid, ROWS, 3, "after close");
}

/* More than the log has space for: puts wait, and the log remains within its bound. */
static void test_bound(void)
{
    enum { N = 12 * MIB / 4 };
    int *values = malloc(N * sizeof *values), ncid, dims[2], varid, wrong = 0;
    MPI_Offset start[2] = {t_rank, 0}, count[2] = {1, N};
    MPI_Info info = hints("1048576", NULL);
    int64_t largest;

    for (int i = 0; i < N; i++)
        values[i] = i + t_rank;
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    ncmpi_def_dim(ncid, "y", t_nprocs, &dims[0]);
    ncmpi_def_dim(ncid, "x", N, &dims[1]);
    ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &varid);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    delay_us = 20000; /* longer than a piece takes to the log, also with the thread sanitizer */
    expect_ok(ncmpi_put_vara_int_all(ncid, varid, start, count, values), "a put larger than the log");
    delay_us = 0;
    count_logs(&largest);
    t_check(largest <= MIB + 4096 && largest >= MIB / 2, "the largest log has %lld bytes", (long long)largest);
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

/* A write to the log of one rank, or of all, fails: the values go to the file, and no call fails. */
static void test_full_log(int error, int fine, bool of_all)
{
    int ncid = create_file(0, hints(NULL, fine % 2 == 0 ? "direct" : NULL));

    expect_ok(put_rows(ncid, 0, 0, 1, 1), "the first put");
    MPI_Barrier(MPI_COMM_WORLD);
    log_writes = 0;
    log_fine = fine;
    log_error = of_all || t_rank == t_nprocs - 1 ? error : 0;
    expect_ok(put_rows(ncid, 0, 1, ROWS, 1), "puts that a log cannot have");
    expect_ok(put_rows(ncid, 1, 0, ROWS, 1), "puts that a log cannot have");
    t_check(is_enabled(ncid, "nc_burst_buf") == (log_error == 0), "the hint says so");
    log_error = 0;
    expect_ok(ncmpi_flush(ncid), "flush");
    check_rows(ncid, 1, 0, ROWS, 1, "gets after it");
    close_and_check(ncid, ROWS, 1, "after a log that was full");
}

/* Logs cannot be made, or not by one rank. */
static void test_no_folder(bool of_all, bool with_memory)
{
    MPI_Info info = hints(NULL, NULL);
    int ncid;

    if (of_all || t_rank == t_nprocs - 1)
        MPI_Info_set(info, "nc_burst_buf_dirname", "/nonexistent/folder");
    if (with_memory)
        MPI_Info_set(info, "nc_write_behind", "enable");
    ncid = create_file(0, info);
    expect_ok(put_rows(ncid, 0, 0, ROWS, 1), "puts without logs");
    expect_ok(put_rows(ncid, 1, 0, ROWS, 1), "puts without logs");
    t_check(!is_enabled(ncid, "nc_burst_buf"), "the hint is not in effect");
    check_logs(0, false, "without a folder");
    close_and_check(ncid, ROWS, 1, "without logs");
}

/* Entries of folders survive the death of a node when flush returns: that of the mark, and of each log, once. */
static void test_entries(int error)
{
    int ncid = create_file(0, hints(NULL, NULL));

    mark_syncs = log_syncs = 0;
    sync_error = t_rank == t_nprocs - 1 ? error : 0;
    expect_ok(put_rows(ncid, 0, 0, 2, 1), "puts");
    t_check(mark_syncs == (t_rank == 0) && log_syncs == 0, "the entry of the mark is synced when it is made");
    for (int i = 0; i < 3; i++) {
        expect_ok(ncmpi_flush(ncid), "flush");
        expect_ok(put_rows(ncid, 0, 2, 3 + i, 1), "puts");
    }
    t_local(log_syncs == 1, "%d syncs of the folder of the log", log_syncs);
    t_check(is_enabled(ncid, "nc_burst_buf") == (sync_error == 0 || sync_error == EINVAL), "syncs of folders, error %d",
            error);
    sync_error = 0;
    expect_ok(put_rows(ncid, 0, 5, ROWS, 1), "puts");
    expect_ok(put_rows(ncid, 1, 0, ROWS, 1), "puts");
    close_and_check(ncid, ROWS, 1, "after close");
}

/* docs/hidden.md: "they survive the death of a node whose disk survives": also if the log ends after the flush. */
static void test_end_after_flush(void)
{
    int ncid = create_file(0, hints(NULL, "direct"));
    struct stat facts = {0};

    hold_writes(true);
    expect_ok(put_rows(ncid, 0, 0, 2, 1), "puts that wait in the log");
    expect_ok(ncmpi_flush(ncid), "flush");
    stat(path, &facts);
    data = facts.st_ino;
    data_syncs = 0;
    hold_writes(false);
    log_writes = log_fine = 0;
    log_error = ENOSPC;
    expect_ok(put_rows(ncid, 0, 2, ROWS, 1), "puts that a log cannot have");
    log_error = 0;
    t_local(data_syncs > 0, "the file is not synced before its log ends");
    t_check(!is_enabled(ncid, "nc_burst_buf"), "the log has ended, and the file was synced before");
    expect_ok(put_rows(ncid, 1, 0, ROWS, 1), "puts");
    close_and_check(ncid, ROWS, 1, "after close");
}

/* A signal ends no log. */
static void test_interrupted_sync(void)
{
    int ncid = create_file(0, hints(NULL, NULL));

    interruptions = 3;
    expect_ok(put_rows(ncid, 0, 0, 2, 1), "puts while a sync of the mark is interrupted");
    interruptions = 3;
    expect_ok(ncmpi_flush(ncid), "flush while syncs are interrupted");
    t_check(is_enabled(ncid, "nc_burst_buf"), "the hint is still in effect");
    interruptions = 0;
    expect_ok(put_rows(ncid, 0, 2, ROWS, 1), "puts");
    expect_ok(put_rows(ncid, 1, 0, ROWS, 1), "puts");
    close_and_check(ncid, ROWS, 1, "after close");
}

/* Two handles, of one program or of two, that were opened before either has put: the second one has no logs. */
static void test_second_handle(void)
{
    int first = create_file(0, hints(NULL, NULL)), second;
    MPI_Info info = hints(NULL, NULL);

    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &second), "a second handle");
    MPI_Info_free(&info);
    expect_ok(put_rows(first, 0, 0, ROWS, 1), "puts by the first handle");
    check_logs(t_nprocs, true, "after them");
    expect_ok(put_rows(second, 1, 0, ROWS, 1), "puts by the second handle");
    check_logs(t_nprocs, true, "after these");
    t_check(is_enabled(first, "nc_burst_buf") && !is_enabled(second, "nc_burst_buf"),
            "the hint is ignored for the second handle");
    expect_ok(ncmpi_close(second), "close the second handle");
    check_logs(t_nprocs, true, "after the second handle is closed");
    close_and_check(first, ROWS, 1, "after both are closed");
}

/* What else opens, replaces or deletes a file with a mark. */
static void test_mark(void)
{
    int ncid = create_file(0, hints(NULL, NULL)), other, err;
    char message[NC_MAX_MESSAGE] = "";

    expect_ok(put_rows(ncid, 0, 0, 2, 1), "puts");
    err = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &other);
    expect_code(err, NC_EINTERRUPTED, "open for writing while values are in logs");
    ncmpi_inq_last_error(NC_GLOBAL, &err, message);
    t_check(t_rank != 0 || strstr(message, "ncmpilog") != NULL, "with the command: %s", message);
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &other), "open for reading");
    expect_ok(ncmpi_close(other), "close");
    expect_ok(put_rows(ncid, 1, 0, 2, 1), "puts");
    expect_ok(put_rows(ncid, 0, 2, ROWS, 1), "puts");
    expect_ok(put_rows(ncid, 1, 2, ROWS, 1), "puts");
    close_and_check(ncid, ROWS, 1, "after close");
    for (int deletes = 0; deletes < 2; deletes++) {
        char mark[4300];
        FILE *made;

        snprintf(mark, sizeof mark, "%s.burst", path);
        made = t_rank == 0 ? fopen(mark, "w") : NULL;
        if (made != NULL)
            fclose(made);
        MPI_Barrier(MPI_COMM_WORLD);
        if (deletes != 0) {
            t_check(t_rank != 0 || ncmpi_delete(path, MPI_INFO_NULL) == NC_NOERR, "delete");
            check_logs(0, false, "a file that was deleted");
        } else {
            expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid), "replace");
            check_logs(0, false, "a file that was replaced");
            expect_ok(ncmpi_close(ncid), "close");
        }
    }
}

/* A write of one rank fails: as without logs, and these remain for a replay. */
static void test_failure(void)
{
    int ncid = create_file(0, hints(NULL, "direct")), written, err;

    expect_ok(put_rows(ncid, 0, 0, 2, 1), "puts");
    expect_ok(ncmpi_sync(ncid), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
    written = worker_writes;
    worker_error = t_rank == t_nprocs - 1 ? ENOSPC : 0;
    hold_writes(true);
    expect_ok(put_rows(ncid, 0, 2, 4, 1), "a put whose write will fail");
    hold_writes(false);
    while (worker_writes == written)
        usleep(200);
    usleep(50000);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_code(put_rows(ncid, 0, 4, 5, 1), NC_ENO_SPACE, "the next call reports the failure");
    expect_ok(put_rows(ncid, 1, 0, 1, 1), "the call after it does not");
    t_check(t_rank != 0 || count_records(path) == 2, "the records before remain counted, and no other");
    expect_code(ncmpi_sync(ncid), NC_ENO_SPACE, "sync reports it");
    expect_code(ncmpi_close(ncid), NC_ENO_SPACE, "and close");
    worker_error = 0;
    check_logs(t_nprocs, true, "after a write that failed");
    err = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid);
    expect_code(err, NC_EINTERRUPTED, "open for writing");
    remove_logs();
}

/* A put whose write fails on the last rank: the next call reports it on all ranks. */
static int put_lost_rows(void)
{
    int ncid = create_file(0, hints(NULL, "direct")), written;

    expect_ok(put_rows(ncid, 0, 0, 2, 1), "puts");
    expect_ok(put_rows(ncid, 1, 0, 1, 1), "puts");
    expect_ok(ncmpi_sync(ncid), "sync");
    written = worker_writes;
    worker_error = t_rank == t_nprocs - 1 ? ENOSPC : 0;
    hold_writes(true);
    expect_ok(put_rows(ncid, 0, 2, 10, 1), "puts whose writes will fail");
    hold_writes(false);
    while (worker_writes == written)
        usleep(200);
    usleep(50000);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_code(put_rows(ncid, 0, 10, 11, 1), NC_ENO_SPACE, "the next call reports the failure");
    worker_error = 0;
    return ncid;
}

/* docs/hidden.md: "no call deletes the logs", and "The number of records in the file stays that of before". */
static void test_kept_logs(void)
{
    int ncid = put_lost_rows();

    expect_ok(put_rows(ncid, 1, 1, 2, 1), "a put elsewhere");
    expect_ok(transfer(ncid, 1, false, 0, (t_rank + 1) % t_nprocs, 1), "a get elsewhere");
    expect_code(transfer(ncid, 0, false, 2, (t_rank + 1) % t_nprocs, 1), NC_ENO_SPACE, "a get of what the logs have");
    check_logs(t_nprocs, true, "after a get");
    expect_code(put_rows(ncid, 0, 3, 4, 2), NC_ENO_SPACE, "a put to what the logs have");
    check_logs(t_nprocs, true, "after a put");
    expect_code(ncmpi_begin_indep_data(ncid), NC_ENO_SPACE, "begin_indep_data");
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data in collective mode");
    check_logs(t_nprocs, true, "after begin_indep_data");
    t_check(t_rank != 0 || count_records(path) == 2, "the records before remain counted, and no other");
    expect_code(ncmpi_close(ncid), NC_ENO_SPACE, "close");
    check_logs(t_nprocs, true, "after close");
    t_check(t_rank != 0 || count_records(path) == 2, "the file counts no record that is lost");
    remove_logs();
}

/* Buffered puts without an attached buffer, whose values may be changed at once; and NC_ERANGE at the put. */
static void test_bput(void)
{
    int ncid = create_file(0, hints(NULL, NULL)), values[NX], err = NC_NOERR, fixed[3], bytes;
    MPI_Offset start[3] = {0, t_rank, 0}, count[3] = {1, 1, NX};

    expect_ok(ncmpi_redef(ncid), "redef");
    ncmpi_inq_vardimid(ncid, 1, fixed);
    ncmpi_def_var(ncid, "bytes", NC_BYTE, 3, fixed, &bytes);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    for (int row = 0; row < ROWS && err == NC_NOERR; row++) {
        start[0] = row;
        for (int i = 0; i < NX; i++)
            values[i] = value_of(row, t_rank, i, 1);
        err = ncmpi_bput_vara_int(ncid, 1, start, count, values, NULL);
        memset(values, 0, sizeof values);
    }
    expect_ok(err, "bput without an attached buffer");
    expect_code(ncmpi_inq_buffer_size(ncid, &count[2]), NC_ENULLABUF, "there is none");
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    check_rows(ncid, 1, 0, ROWS, 1, "gets after it");
    values[0] = 1000;
    count[2] = 1;
    expect_code(ncmpi_put_vara_int_all(ncid, bytes, start, count, values), NC_ERANGE, "a put of a large value");
    expect_ok(ncmpi_flush(ncid), "flush after it");
    expect_ok(ncmpi_close(ncid), "close");
}

/* What changes the layout waits. */
static void test_growth(int cmode)
{
    int ncid = create_file(cmode, hints(NULL, NULL));
    char *text = calloc(1, 100000);

    MPI_Barrier(MPI_COMM_WORLD);
    delay_us = 3000;
    expect_ok(put_rows(ncid, 0, 0, 5, 1), "puts of records");
    expect_ok(put_rows(ncid, 1, 0, 5, 1), "puts");
    expect_ok(ncmpi_redef(ncid), "redef");
    expect_ok(ncmpi_put_att_text(ncid, NC_GLOBAL, "large", 100000, text), "an attribute that moves all data");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(put_rows(ncid, 0, 5, ROWS, 1), "puts");
    expect_ok(ncmpi_rename_var(ncid, 0, "u"), "rename in data mode");
    expect_ok(put_rows(ncid, 1, 5, ROWS, 1), "puts");
    delay_us = 0;
    close_and_check(ncid, ROWS, 1, "after close");
    free(text);
}

static void test_fork(void)
{
    int ncid = create_file(0, hints(NULL, NULL)), status = -1;
    pid_t child;

    hold_writes(true);
    expect_ok(put_rows(ncid, 0, 0, ROWS, 1), "puts");
    child = fork();
    if (child == 0)
        _exit(7);
    t_local(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7, "the child ends");
    hold_writes(false);
    expect_ok(put_rows(ncid, 1, 0, ROWS, 1), "puts after a fork");
    close_and_check(ncid, ROWS, 1, "after close");
}

static void test_hint(int cmode, const char *key, const char *value, bool wanted)
{
    MPI_Info info = hints(NULL, NULL);
    int ncid, err;

    if (key != NULL)
        MPI_Info_set(info, key, value);
    err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, info, &ncid);
    if (err == NC_NOERR) {
        t_check(is_enabled(ncid, "nc_burst_buf") == wanted, "mode %d, %s: %s", cmode,
                key != NULL ? value : "no other hint", wanted ? "in effect" : "ignored");
        expect_ok(ncmpi_close(ncid), "close");
    }
    MPI_Info_free(&info);
}

/* A file that appears when it is closed, and the folder of the file. */
static void test_places(void)
{
    MPI_Info info = hints(NULL, NULL);
    int ncid;

    MPI_Info_set(info, "nc_whole_files", "enable");
    ncid = create_file(0, info);
    expect_ok(put_rows(ncid, 0, 0, ROWS, 1), "puts to a file with a temporary name");
    expect_ok(put_rows(ncid, 1, 0, ROWS, 1), "puts");
    check_logs(t_nprocs, false, "the mark is beside the temporary name");
    close_and_check(ncid, ROWS, 1, "after close");
    info = hints(NULL, NULL);
    MPI_Info_delete(info, "nc_burst_buf_dirname");
    ncid = create_file(0, info);
    expect_ok(put_rows(ncid, 0, 0, ROWS, 1), "puts");
    check_logs(0, true, "logs in the folder of the file");
    expect_ok(put_rows(ncid, 1, 0, ROWS, 1), "puts");
    close_and_check(ncid, ROWS, 1, "after close");
}

/* --- for test/tools/test_burst_death.py --- */

static bool is_kind(const char *kind, const char *wanted)
{
    return strcmp(kind, wanted) == 0;
}

/* Wait for another program, which makes a file. */
static void wait_for_file(const char *suffix)
{
    char name[4300];

    snprintf(name, sizeof name, "%s%s", path, suffix);
    for (int i = 0; i < 60000 && access(name, F_OK) != 0; i++)
        usleep(1000);
}

/* When this process dies. held: at a write to its log, and nothing leaves the logs before; rows: the same, when all
 * ranks have put so many rows; changes: the same, and the definitions change before; waits: not. */
static void plan_death(const char *kind, int at)
{
    worker_writes = log_writes = 0;
    if (is_kind(kind, "worker"))
        worker_dies = at;
    if (is_kind(kind, "log") || is_kind(kind, "held"))
        log_dies = at;
}

/* In each step: a record, a row of f, and row 0 of w, each time by another rank; or another row, as a put that overlaps
 * one of another rank waits for it. */
static int put_step(int ncid, int row, bool overlaps)
{
    if (put_rows(ncid, 0, row, row + 1, 1) != NC_NOERR || put_rows(ncid, 1, row, row + 1, 1) != NC_NOERR)
        return 3;
    return transfer(ncid, 2, true, overlaps ? 0 : row, (t_rank + row) % t_nprocs, row + 1) != NC_NOERR ? 3 : 0;
}

/* Rank 0 writes the number of steps that were flushed to PATH.flushed. */
static int flush_step(int ncid, int row)
{
    char name[4300];
    FILE *file;

    if (row % 5 == 4 && ncmpi_sync(ncid) != NC_NOERR)
        return 4;
    if (row % 2 != 1)
        return 0;
    if (ncmpi_flush(ncid) != NC_NOERR)
        return 5;
    snprintf(name, sizeof name, "%s.flushed", path);
    file = t_rank == 0 ? fopen(name, "w") : NULL;
    if (file != NULL) {
        fprintf(file, "%d\n", row + 1);
        fclose(file);
    }
    return 0;
}

/* A shorter name, a new variable, data that move, and another name of the same length. */
static int change_definitions(int ncid)
{
    int err = ncmpi_rename_dim(ncid, 1, "r"), varid;

    if (err == NC_NOERR)
        err = ncmpi_redef(ncid);
    if (err == NC_NOERR)
        err = ncmpi_def_var(ncid, "y", NC_INT, 0, NULL, &varid);
    if (err == NC_NOERR)
        err = ncmpi__enddef(ncid, 5000, 4, 0, 4);
    if (err == NC_NOERR)
        err = put_rows(ncid, 0, 0, 1, 1);
    return err == NC_NOERR ? ncmpi_rename_var(ncid, varid, "z") : err;
}

static int put_and_die(int rank, const char *kind, int at)
{
    bool dies_with_rows = is_kind(kind, "rows") || is_kind(kind, "changes");
    int ncid = create_file(0, hints(NULL, dies_with_rows ? "direct" : NULL)), status = 0;

    if (rank < 0 || rank == t_rank)
        plan_death(kind, at);
    if (is_kind(kind, "changes") && (put_step(ncid, 0, false) != 0 || change_definitions(ncid) != NC_NOERR))
        return 6;
    hold_writes(is_kind(kind, "held") || dies_with_rows);
    delay_us = 300;
    for (int row = 0; row < ROWS && status == 0; row++) {
        status = put_step(ncid, row, !dies_with_rows);
        MPI_Barrier(MPI_COMM_WORLD);
        if (dies_with_rows && row + 1 == at)
            kill(getpid(), SIGKILL);
        if (status == 0)
            status = flush_step(ncid, row);
    }
    if (status != 0)
        return status;
    if (is_kind(kind, "waits"))
        wait_for_file(".go");
    ncmpi_close(ncid);
    return t_finish();
}

/* The worker of one rank fails to write the last of so many rows before the others have it in their logs. */
static int put_and_fail(int rank, int rows)
{
    int ncid = create_file(0, hints(NULL, "direct"));

    expect_ok(put_rows(ncid, 0, 0, rows - 1, 1), "puts");
    expect_ok(ncmpi_sync(ncid), "sync");
    worker_error = t_rank == rank ? ENOSPC : 0;
    log_delay_us = t_rank == rank ? 0 : 100000;
    expect_ok(put_rows(ncid, 0, rows - 1, rows, 1), "a put whose values have come into the logs");
    expect_code(transfer(ncid, 0, false, rows - 1, (t_rank + 1) % t_nprocs, 1), NC_ENO_SPACE, "a get of it");
    expect_code(ncmpi_begin_indep_data(ncid), NC_ENO_SPACE, "begin_indep_data");
    expect_code(put_rows(ncid, 0, rows - 1, rows, 2), NC_ENO_SPACE, "another put there");
    expect_code(ncmpi_close(ncid), NC_ENO_SPACE, "close");
    return t_finish();
}

int main(int argc, char **argv)
{
    static const char *const strategies[] = {"automatic", "direct", "two_phase", "separate", "merged"};
    struct stat facts;

    setenv("PNETCDF_HINTS", "nc_overlap=disable", 1); /* it has threads of the system, which end when they like */
    program = pthread_self();
    t_start(&argc, &argv);
    if (argc == 6) {
        snprintf(path, sizeof path, "%s", argv[1]);
        snprintf(folder, sizeof folder, "%s", argv[2]);
        if (is_kind(argv[4], "fails"))
            return put_and_fail(atoi(argv[3]), atoi(argv[5]));
        return put_and_die(atoi(argv[3]), argv[4], atoi(argv[5]));
    }
    snprintf(path, sizeof path, "%s", t_path("burst.nc"));
    snprintf(folder, sizeof folder, "%s", t_path("burst_logs"));
    if (t_rank == 0)
        mkdir(folder, 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    log_folder = stat(folder, &facts) == 0 ? facts.st_ino : 0;
    for (int i = 0; i < 5; i++) {
        test_delay(strategies[i]);
        test_visibility(strategies[i]);
    }
    test_bound();
    for (int fine = 0; fine < 6; fine++)
        test_full_log(fine < 4 ? ENOSPC : EIO, fine, fine % 3 == 0);
    test_end_after_flush();
    for (int i = 0; i < 4; i++)
        test_no_folder(i % 2 == 0, i > 1);
    test_entries(0);
    test_entries(EINVAL);
    test_entries(EIO);
    test_interrupted_sync();
    test_second_handle();
    test_mark();
    test_failure();
    test_kept_logs();
    test_bput();
    test_growth(0);
    test_growth(NC_64BIT_DATA);
    test_fork();
    test_hint(0, NULL, NULL, true);
    test_hint(NC_SHARE, NULL, NULL, false);
    test_hint(0, "nc_burst_buf_dirname", "/nonexistent/folder", false);
    test_hint(0, "nc_format", "netcdf4", true);
    test_places();
    if (t_rank == 0) {
        unlink(path);
        rmdir(folder);
    }
    return t_finish();
}
