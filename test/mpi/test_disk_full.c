/* A full file system, and a truncated file: every rank of a collective call gets the error, no rank
 * blocks, and the previous contents of the file can be read. The disk is a real one of 1 MiB (tmpfs, where the test
 * may mount one) or the limit of the process on the size of a file. */
#define _GNU_SOURCE /* unshare, setns */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../expect.h"

enum { SMALL = 50, ROWS = 1024, COLUMNS = 1024, MIB = 1 << 20 }; /* the large variable has 4 MiB */
enum { FIXED, LARGE, RECORD };

static char path[4300];
static const char *disk; /* "tmpfs" or "limit" */
static bool limited;     /* by the process */
static MPI_Info hints = MPI_INFO_NULL;

/* --- the disk --- */

static void set_limit(bool on)
{
    struct rlimit size;

    getrlimit(RLIMIT_FSIZE, &size);
    size.rlim_cur = on && limited ? MIB : size.rlim_max;
    t_local(setrlimit(RLIMIT_FSIZE, &size) == 0, "setrlimit");
}

/* A disk of 1 MiB in a mount name space that only our ranks see, and that goes away with them. */
static bool mount_disk(const char *dir)
{
    char name[64] = "";
    int ready = 1, root = 0;

    if (t_rank == 0) {
        mkdir(dir, 0700);
        ready = unshare(CLONE_NEWNS) == 0 && mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
                mount("none", dir, "tmpfs", 0, "size=1m") == 0;
        root = (int)getpid();
    }
    MPI_Bcast(&root, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (t_rank != 0) {
        int space;

        snprintf(name, sizeof name, "/proc/%d/ns/mnt", root);
        space = open(name, O_RDONLY);
        MPI_Bcast(&ready, 1, MPI_INT, 0, MPI_COMM_WORLD);
        ready = ready && space >= 0 && unshare(CLONE_FS) == 0 && setns(space, CLONE_NEWNS) == 0;
        if (space >= 0)
            close(space);
    } else {
        MPI_Bcast(&ready, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return ready;
}

/* --- the file --- */

static int small_value(int i)
{
    return i * 7 + 3;
}

static int define(int fill)
{
    int ncid, dims[4], id;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, hints, &ncid) == NC_NOERR, "create");
    ncmpi_set_fill(ncid, fill, NULL);
    ncmpi_def_dim(ncid, "small", SMALL, &dims[0]);
    ncmpi_def_dim(ncid, "row", ROWS, &dims[1]);
    ncmpi_def_dim(ncid, "column", COLUMNS, &dims[2]);
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[3]);
    ncmpi_def_var(ncid, "fixed", NC_INT, 1, dims, &id);
    ncmpi_def_var(ncid, "large", NC_INT, 2, dims + 1, &id);
    ncmpi_def_var(ncid, "record", NC_INT, 2, (int[]){dims[3], dims[2]}, &id);
    return ncid;
}

static void put_small(int ncid)
{
    int values[SMALL];

    for (int i = 0; i < SMALL; i++)
        values[i] = small_value(i);
    t_local(ncmpi_put_var_int_all(ncid, FIXED, values) == NC_NOERR, "put what is small");
}

static void check_small(int ncid, const char *when)
{
    int values[SMALL] = {0}, wrong = 0, err = ncmpi_get_var_int_all(ncid, FIXED, values);

    for (int i = 0; i < SMALL; i++)
        wrong += values[i] != small_value(i);
    t_check(err == NC_NOERR && wrong == 0, "%s, %s: what was there can be read (%s, %d wrong)", disk, when,
            ncmpi_strerrno(err), wrong);
}

static void expect_full(int got, const char *what)
{
    char text[100];

    snprintf(text, sizeof text, "%s: %s", disk, what);
    expect_code(got, NC_ENO_SPACE, text);
}

static void expect_fine(int got, const char *what)
{
    char text[100];

    snprintf(text, sizeof text, "%s: %s", disk, what);
    expect_ok(got, text);
}

/* The message distinguishes a full disk from a file that may not grow. It continues the text of the code right after
 * the call; only a rank that has failed by itself knows the cause. */
static void check_cause(int err)
{
    const char *text = ncmpi_strerror(err);

    t_local(strstr(text, path) != NULL, "%s: the path is missing", text);
    if (strstr(text, "bytes were written at offset") != NULL) /* OMPIO reports no cause of a short write */
        return;
    t_local((strstr(text, "the offset exceeds the largest file size of the file system") != NULL) == limited, "%s",
            text);
    t_local((strstr(text, "no space left on its file system") != NULL) == !limited, "%s", text);
}

/* --- puts --- */

/* All ranks' rows, or interleaved columns, or rows by requests. */
static void put_large(int ncid, int *values)
{
    MPI_Offset rows = ROWS / t_nprocs, wide = COLUMNS / t_nprocs;
    MPI_Offset start[2] = {rows * t_rank, 0}, count[2] = {rows, COLUMNS};
    MPI_Offset corner[2] = {0, wide * t_rank}, block[2] = {ROWS, wide}, odd[2] = {0, t_rank};
    MPI_Offset each[2] = {ROWS, COLUMNS / t_nprocs}, apart[2] = {1, t_nprocs};
    int status[2] = {0, 0}, ids[2];

    expect_full(ncmpi_put_vara_int_all(ncid, LARGE, start, count, values), "put blocks of rows");
    check_small(ncid, "after it");
    expect_full(ncmpi_put_vara_int_all(ncid, LARGE, corner, block, values), "put blocks of columns");
    expect_full(ncmpi_put_vars_int_all(ncid, LARGE, odd, each, apart, values), "put every other column");
    check_small(ncid, "after them");
    ncmpi_iput_vara_int(ncid, LARGE, start, count, values, &ids[0]);
    ncmpi_iput_vara_int(ncid, LARGE, corner, block, values, &ids[1]);
    expect_full(ncmpi_wait_all(ncid, 2, ids, status), "wait_all");
    t_check(status[0] == NC_ENO_SPACE && status[1] == NC_ENO_SPACE, "%s: status of the requests: %d %d", disk,
            status[0], status[1]);
}

static void put_records(int ncid, int *values)
{
    MPI_Offset start[2] = {4 * MIB / (4 * COLUMNS) + t_rank, 0}, count[2] = {1, COLUMNS}, records = -1;

    expect_full(ncmpi_put_vara_int_all(ncid, RECORD, start, count, values), "put records");
    ncmpi_inq_dimlen(ncid, 3, &records);
    t_check(records == 0, "%s: no record has come: %lld", disk, (long long)records);
}

static void put_alone(int ncid, int *values)
{
    MPI_Offset start[2] = {0, 0}, count[2] = {ROWS, COLUMNS};
    int err = NC_NOERR;

    expect_fine(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    if (t_rank == t_nprocs - 1)
        err = ncmpi_put_vara_int(ncid, LARGE, start, count, values);
    if (t_rank == t_nprocs - 1)
        check_cause(err);
    t_local(err == (t_rank == t_nprocs - 1 ? NC_ENO_SPACE : NC_NOERR), "an independent put: %s", ncmpi_strerrno(err));
    expect_fine(ncmpi_end_indep_data(ncid), "end_indep_data");
}

static void test_puts(void)
{
    int *values = malloc((size_t)ROWS * COLUMNS * sizeof *values), ncid = define(NC_NOFILL);
    MPI_Offset records = -1;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = i;
    expect_fine(ncmpi_enddef(ncid), "enddef");
    put_small(ncid);
    set_limit(true);
    put_large(ncid, values);
    put_records(ncid, values);
    put_alone(ncid, values);
    check_small(ncid, "before close");
    expect_fine(ncmpi_close(ncid), "close");
    set_limit(false);
    expect_fine(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    check_small(ncid, "opened again");
    ncmpi_inq_dimlen(ncid, 3, &records);
    t_check(records == 0, "%s: no record in the file: %lld", disk, (long long)records);
    expect_fine(ncmpi_close(ncid), "close");
    free(values);
}

/* --- leaving define mode --- */

static void test_fill(void)
{
    int ncid = define(NC_FILL);

    set_limit(true);
    expect_full(ncmpi_enddef(ncid), "enddef that fills");
    expect_full(ncmpi_enddef(ncid), "the same once more");
    expect_full(ncmpi_close(ncid), "close, which leaves define mode");
    ncid = define(NC_FILL);
    expect_full(ncmpi_enddef(ncid), "enddef of a new file");
    expect_fine(ncmpi_abort(ncid), "abort");
    t_check(access(path, F_OK) != 0, "%s: no file is left", disk);
    set_limit(false);
}

/* A header of 600 KiB would have to move the data, but the disk is too small for both. */
static void test_growth(void)
{
    int ncid, dim, id, wrong = 0, *values = malloc(MIB / 2), n = MIB / 2 / (int)sizeof *values;
    char *text = malloc(600000);

    for (int i = 0; i < n; i++)
        values[i] = i;
    memset(text, 't', 600000);
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "x", n, &dim);
    ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &id);
    expect_fine(ncmpi_enddef(ncid), "enddef");
    expect_fine(ncmpi_put_var_int_all(ncid, id, values), "put 512 KiB");
    expect_fine(ncmpi_redef(ncid), "redef");
    expect_fine(ncmpi_put_att_text(ncid, NC_GLOBAL, "long", 600000, text), "a long attribute");
    set_limit(true);
    expect_full(ncmpi_enddef(ncid), "enddef that moves data");
    expect_fine(ncmpi_abort(ncid), "abort");
    set_limit(false);
    memset(values, 0, MIB / 2);
    expect_fine(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    expect_fine(ncmpi_get_var_int_all(ncid, id, values), "get");
    for (int i = 0; i < n; i++)
        wrong += values[i] != i;
    t_check(wrong == 0 && ncmpi_inq_attid(ncid, NC_GLOBAL, "long", NULL) == NC_ENOTATT,
            "%s: the file is as it was before (%d values wrong)", disk, wrong);
    expect_fine(ncmpi_close(ncid), "close");
    free(values);
    free(text);
}

static void remove_file(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- data with holes, which take space once they have moved --- */

enum { HOLE = 75 * 1024 }; /* values: 300 KiB */

static void put_ends(int ncid, int id)
{
    MPI_Offset starts[2][1] = {{0}, {HOLE - SMALL}}, counts[2][1] = {{SMALL}, {SMALL}};
    MPI_Offset *start[2] = {starts[0], starts[1]}, *count[2] = {counts[0], counts[1]};
    int values[2 * SMALL];

    for (int i = 0; i < 2 * SMALL; i++)
        values[i] = small_value(i);
    t_local(ncmpi_put_varn_int_all(ncid, id, 2, start, count, values) == NC_NOERR, "put both ends");
}

static bool has_ends(int ncid)
{
    static int values[HOLE];
    int wrong = ncmpi_get_var_int_all(ncid, 0, values) != NC_NOERR;

    for (int i = 0; i < HOLE; i++) {
        bool is_last = i >= HOLE - SMALL;
        int expected = i < SMALL ? small_value(i) : 0;

        if (is_last)
            expected = small_value(i - HOLE + 2 * SMALL);
        wrong += values[i] != expected;
    }
    return wrong == 0;
}

static void make_hole(void)
{
    int ncid, dim, id;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "x", HOLE, &dim);
    ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &id);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    put_ends(ncid, id);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* Another file that takes space of the disk. */
static void set_filler(int64_t bytes)
{
    static char zeros[MIB];
    char name[4400];
    FILE *file;

    snprintf(name, sizeof name, "%s.filler", path);
    if (t_rank == 0 && bytes > 0) {
        file = fopen(name, "wb");
        t_local(file != NULL && fwrite(zeros, 1, (size_t)bytes, file) == (size_t)bytes && fclose(file) == 0, "filler");
    } else if (t_rank == 0) {
        unlink(name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* With so many bytes in use: an enddef that moves the data. Returns whether the old file could not be restored either.
 * With space the same ncid goes on. */
static bool try_hole(int64_t in_use, bool aborts)
{
    char text[9000];
    int ncid, err, failed;
    const char *said;

    make_hole();
    memset(text, 't', sizeof text);
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    ncmpi_redef(ncid);
    ncmpi_put_att_text(ncid, NC_GLOBAL, "long", sizeof text, text);
    set_filler(in_use);
    err = ncmpi_enddef(ncid);
    said = ncmpi_strerror(err);
    failed = err != NC_NOERR && strstr(said, "restoring the file failed too") != NULL;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    t_local(err == NC_NOERR || err == NC_ENO_SPACE, "enddef with %lld bytes in use: %s", (long long)in_use, said);
    if (failed) {
        err = ncmpi_enddef(ncid);
        t_local(err == NC_ENO_SPACE, "the disk is still full: %s", ncmpi_strerror(err));
    }
    set_filler(0);
    if (err != NC_NOERR && !aborts) {
        err = ncmpi_enddef(ncid);
        t_local(err == NC_NOERR && has_ends(ncid), "%lld bytes, enddef with space: %s", (long long)in_use,
                ncmpi_strerror(err));
    }
    err = aborts ? ncmpi_abort(ncid) : ncmpi_close(ncid);
    t_local(err == NC_NOERR, "%lld bytes, the end: %s", (long long)in_use, ncmpi_strerror(err));
    err = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid);
    t_local(err == NC_NOERR && has_ends(ncid), "%lld bytes, opened again: %s", (long long)in_use, ncmpi_strerror(err));
    t_local(err != NC_NOERR || ncmpi_close(ncid) == NC_NOERR, "close");
    return failed;
}

/* Open MPI's own MPI-IO on one rank extends the file so that a disk that is too small fails before data move. */
#if defined(OPEN_MPI)
enum { IS_OPEN_MPI = 1 };
#else
enum { IS_OPEN_MPI = 0 };
#endif

static void test_holes(void)
{
    bool is_met;
    int met[2] = {0, 0};

    for (int i = 0; i < 48; i++)
        met[i % 2] += try_hole(i * (MIB - 64 * 1024) / 48, i % 2 == 1);
    is_met = met[0] > 0 && met[1] > 0;
    if (!is_met && IS_OPEN_MPI && t_nprocs == 1)
        t_skip("one rank of Open MPI met no disk on which the file could not be restored");
    else
        t_check(is_met, "%s: an ncid goes on whose file could not be restored (%d and %d times)", disk, met[0], met[1]);
}

static void test_disk(const char *kind)
{
    disk = kind;
    limited = strcmp(kind, "limit") == 0;
    test_puts();
    remove_file();
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "cb_buffer_size", "65536"); /* several rounds; between nodes they overlap */
    test_puts();
    MPI_Info_free(&hints);
    remove_file();
    test_fill();
    remove_file();
    test_growth();
    remove_file();
}

/* --- a file that was cut --- */

/* `left` is how many bytes of the large variable are left; what is lost is an error, or zeros. */
static void check_cut(int ncid, const char *when, int code, int64_t left)
{
    int *values = malloc((size_t)ROWS * COLUMNS * sizeof *values), wrong = 0;
    MPI_Offset wide = COLUMNS / t_nprocs, corner[2] = {0, wide * t_rank}, block[2] = {ROWS, wide}, first[2] = {0, 0};
    MPI_Offset rows[2] = {left / (4 * COLUMNS), COLUMNS};

    disk = when;
    check_small(ncid, "cut");
    expect_code(ncmpi_get_vara_int_all(ncid, LARGE, corner, block, values), code, when);
    expect_code(ncmpi_get_var_int_all(ncid, LARGE, values), code, when);
    for (int i = (int)(left / 4) + COLUMNS; i < ROWS * COLUMNS && code == NC_NOERR; i++)
        wrong += values[i] != 0;
    memset(values, 0, (size_t)left);
    expect_fine(ncmpi_get_vara_int_all(ncid, LARGE, first, rows, values), "rows that are left");
    for (int i = 0; i < rows[0] * COLUMNS; i++)
        wrong += values[i] != i;
    t_check(wrong == 0, "%s: %d values wrong", when, wrong);
    free(values);
}

static void test_cut(void)
{
    int *values = malloc((size_t)ROWS * COLUMNS * sizeof *values), ncid = define(NC_NOFILL);
    MPI_Offset begin;

    disk = "cut file";
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = i;
    expect_fine(ncmpi_enddef(ncid), "enddef");
    put_small(ncid);
    expect_fine(ncmpi_put_var_int_all(ncid, LARGE, values), "put");
    ncmpi_inq_varoffset(ncid, LARGE, &begin);
    MPI_Barrier(MPI_COMM_WORLD);
    t_local(t_rank != 0 || truncate(path, begin + 4 * COLUMNS * 100 + 50) == 0, "truncate");
    MPI_Barrier(MPI_COMM_WORLD);
    check_cut(ncid, "truncated while it is open", NC_EREAD, 4 * COLUMNS * 100);
    expect_fine(ncmpi_close(ncid), "close");
    expect_fine(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    check_cut(ncid, "cut before it was opened", NC_NOERR, 4 * COLUMNS * 100);
    expect_fine(ncmpi_close(ncid), "close");
    remove_file();
    free(values);
}

int main(int argc, char **argv)
{
    char dir[4096];
    const char *folder;

    t_start(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);
    folder = realpath(t_path("."), dir);
    if (folder == NULL)
        snprintf(dir, sizeof dir, ".");
    snprintf(path, sizeof path, "%s/disk_full.nc", dir);
    test_disk("limit");
    test_cut();
    strncat(dir, "/disk", sizeof dir - strlen(dir) - 1);
    snprintf(path, sizeof path, "%s/disk_full.nc", dir);
    if (mount_disk(dir)) {
        test_disk("tmpfs");
        test_holes();
    } else {
        t_skip("a file system of 1 MiB can only be mounted by root");
    }
    if (t_rank == 0) {
        umount2(dir, MNT_DETACH);
        rmdir(dir);
    }
    return t_finish();
}
