/* Arguments at the limits of their types, paths that cannot be created, invalid communicators: each has a code of its
 * own, and none ends the program. */
#define _GNU_SOURCE /* unshare */
#include <limits.h>
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

static char path[4096];

static int create(int cmode)
{
    int ncid = -1, dims[2], id;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "x", 4, &dims[1]);
    ncmpi_def_var(ncid, "record", NC_INT, 2, dims, &id);
    return ncid;
}

/* More dimensions than the caller's array can have: it is not read to its end, and beyond. */
static void test_many_dimensions(bool safe)
{
    int ncid, id, *dimids, page = (int)sysconf(_SC_PAGESIZE) / (int)sizeof(int);

    setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1);
    ncid = create(0);
    dimids = malloc((size_t)page * sizeof *dimids);
    for (int i = 0; i < page; i++)
        dimids[i] = 1;
    expect_code(ncmpi_def_var(ncid, "v", NC_INT, INT_MAX, dimids, &id), NC_EMAXDIMS,
                safe ? "INT_MAX dimensions, safe mode" : "INT_MAX dimensions");
    expect_code(ncmpi_def_var(ncid, "v", NC_INT, NC_MAX_VAR_DIMS - 1, dimids, &id), NC_EMAXDIMS,
                "one less than NC_MAX_VAR_DIMS");
    free(dimids);
    expect_ok(ncmpi_abort(ncid), "abort");
    unsetenv("PNETCDF_SAFE_MODE");
}

enum { RANK = 102400, LAST = 4 }; /* dimensions of a variable: the record dimension, many of length 1, one of 4 */

static int value_at(MPI_Offset record, int x)
{
    return (int)record * 10 + x;
}

static MPI_Offset *numbers(MPI_Offset first, MPI_Offset between, MPI_Offset last)
{
    MPI_Offset *all = malloc(RANK * sizeof *all);

    for (int i = 0; i < RANK; i++)
        all[i] = between;
    all[0] = first;
    all[RANK - 1] = last;
    return all;
}

/* Record t_rank, by all ways of access that have a start. */
static void get_record(int ncid)
{
    MPI_Offset *start = numbers(t_rank, 0, 0), *count = numbers(1, 1, LAST), *imap = numbers(LAST, LAST, 1);
    MPI_Offset *stride = numbers(1, 1, 2), *two = numbers(1, 1, 2), *one = numbers(t_rank, 0, 3);
    int a[LAST] = {0}, b[LAST] = {0}, c[LAST] = {0}, d[LAST] = {0}, e[LAST] = {0}, f = 0, wrong = 0;

    expect_ok(ncmpi_get_vara_int_all(ncid, 0, start, count, a), "get_vara");
    expect_ok(ncmpi_get_vars_int_all(ncid, 0, start, two, stride, b), "get_vars");
    expect_ok(ncmpi_get_varm_int_all(ncid, 0, start, count, NULL, imap, c), "get_varm");
    expect_ok(ncmpi_get_varn_int_all(ncid, 0, 1, &start, &count, d), "get_varn");
    expect_ok(ncmpi_get_var1_int_all(ncid, 0, one, &f), "get_var1");
    expect_ok(ncmpi_iget_vara_int(ncid, 0, start, count, e, NULL), "iget_vara");
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    for (int x = 0; x < LAST; x++) {
        int wanted = value_at(t_rank, x);
        wrong += a[x] != wanted || c[x] != wanted || d[x] != wanted || e[x] != wanted;
    }
    t_local(wrong == 0 && b[0] == value_at(t_rank, 0) && b[1] == value_at(t_rank, 2) && f == value_at(t_rank, 3),
            "the values of record %d", t_rank);
    t_check(true, "they are what was put");
    free(start), free(count), free(imap), free(stride), free(two), free(one);
}

static void test_variable_of_many_dimensions(int cmode)
{
    int ncid, id, ndims = 0, *dimids = malloc(RANK * sizeof *dimids), *back = calloc(RANK, sizeof *back), row[LAST];
    MPI_Offset *start = numbers(t_rank, 0, 0), *count = numbers(1, 1, LAST), *last = numbers(t_rank, 0, LAST - 1);
    int *all = malloc(sizeof *all * (size_t)t_nprocs * LAST);
    bool good = true;

    ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, MPI_INFO_NULL, &ncid);
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &id);
    ncmpi_def_dim(ncid, "one", 1, &id);
    ncmpi_def_dim(ncid, "x", LAST, &id);
    for (int i = 0; i < RANK; i++)
        dimids[i] = 1;
    dimids[0] = 0;
    dimids[RANK - 1] = 2;
    expect_ok(ncmpi_def_var(ncid, "v", NC_SHORT, RANK, dimids, &id), "def_var of 102,400 dimensions");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    for (int x = 0; x < LAST; x++)
        row[x] = x < LAST - 1 ? value_at(t_rank, x) : -1;
    expect_ok(ncmpi_put_vara_int_all(ncid, 0, start, count, row), "put_vara");
    expect_ok(ncmpi_put_var1_int_all(ncid, 0, last, (int[]){value_at(t_rank, LAST - 1)}), "put_var1");
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    expect_ok(ncmpi_inq_var(ncid, 0, NULL, NULL, &ndims, back, NULL), "inq_var");
    t_check(ndims == RANK && memcmp(dimids, back, RANK * sizeof *back) == 0, "%d dimensions", ndims);
    get_record(ncid);
    expect_ok(ncmpi_get_var_int_all(ncid, 0, all), "get_var");
    for (int i = 0; i < t_nprocs * LAST; i++)
        good = good && all[i] == value_at(i / LAST, i % LAST);
    t_check(good, "the whole variable is what was put");
    expect_ok(ncmpi_close(ncid), "close");
    free(dimids), free(back), free(start), free(count), free(last), free(all);
}

/* Offsets that 63 bits hold, but no file system; where one does, a limit takes its place. */
static void test_far_records(void)
{
    int ncid = create(NC_64BIT_DATA), value[4] = {0};
    MPI_Offset start[2] = {(MPI_Offset)1 << 56, 0}, count[2] = {1, 4}, records = -1;
    struct rlimit size;

    expect_ok(ncmpi_enddef(ncid), "enddef");
    getrlimit(RLIMIT_FSIZE, &size);
    size.rlim_cur = 1 << 30;
    t_check(setrlimit(RLIMIT_FSIZE, &size) == 0, "no file beyond 1 GiB");
    expect_code(ncmpi_put_vara_int_all(ncid, 0, start, count, value), NC_ENO_SPACE, "put record 2^56");
    size.rlim_cur = size.rlim_max;
    setrlimit(RLIMIT_FSIZE, &size);
    ncmpi_inq_dimlen(ncid, 0, &records);
    t_check(records == 0, "no record has come: %lld", (long long)records);
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- puts that are posted before variables have addresses --- */

enum { X = 16, EXTRA = 64, SMALL = 0, ROWS = 1, OTHER = 2 };

/* Records whose addresses are too large; in a netCDF-4 file variables of more than 2^62 bytes. */
typedef struct far_case {
    const char *name;
    int cmode;
    MPI_Offset wide;           /* elements of a record of two more variables; 0: there are none */
    MPI_Offset small, row;     /* for the variables SMALL and ROWS: the indices of records */
    bool are_neighbours_bytes; /* row: how many bytes that many records have */
} far_case;

static const far_case far_cases[] = {
    {"CDF-2", NC_64BIT_OFFSET, (1 << 29) - 1, INT_MAX - 8, INT_MAX - 8, false},
    {"CDF-5", NC_64BIT_DATA, 0, (MPI_Offset)1 << 53, (MPI_Offset)1 << 62, true},
    {"netCDF-4", NC_NETCDF4, 0, (MPI_Offset)1 << 60, (MPI_Offset)1 << 62, true},
};

static int create_posted(const far_case *f)
{
    int ncid = -1, dims[3], id;
    char name[20];

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | f->cmode, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "x", X, &dims[1]);
    ncmpi_def_var(ncid, "small", NC_INT, 1, dims, &id);
    ncmpi_def_var(ncid, "rows", NC_INT, 2, dims, &id);
    for (int i = 0; i < EXTRA; i++) {
        snprintf(name, sizeof name, "other%d", i);
        ncmpi_def_var(ncid, name, NC_INT, 2, dims, &id);
    }
    if (f->wide > 0)
        ncmpi_def_dim(ncid, "wide", f->wide, &dims[1]);
    for (int i = 0; f->wide > 0 && i < 2; i++) {
        snprintf(name, sizeof name, "wide%d", i);
        t_local(ncmpi_def_var(ncid, name, NC_DOUBLE, 2, dims, &id) == NC_NOERR, "def_var %s", name);
    }
    return ncid;
}

/* Each rank has record t_rank; far ones only rank `bad` or, if it is negative, all. */
enum { POSTED = 6 };

static void post_far(int ncid, const far_case *f, bool far, const int *row, int *ids)
{
    MPI_Offset at[2] = {t_rank, 0}, one[2] = {1, 1}, count[2] = {1, X}, row_bytes = f->are_neighbours_bytes ? 4 * X : 1;
    MPI_Offset away[2] = {f->row / row_bytes + t_rank, 0}, small = f->small + t_rank;
    MPI_Offset *starts[2] = {at, away}, *counts[2] = {count, count};
    int lost[2 * X] = {0};

    for (int i = 0; i < POSTED; i++)
        ids[i] = NC_REQ_NULL;
    t_local(ncmpi_buffer_attach(ncid, 4096) == NC_NOERR, "attach");
    t_local(ncmpi_iput_vara_int(ncid, SMALL, at, one, row, &ids[0]) == NC_NOERR, "iput of a value");
    if (far)
        t_local(ncmpi_iput_var1_int(ncid, SMALL, &small, lost, &ids[1]) == NC_NOERR, "iput of a far value");
    t_local(ncmpi_iput_vara_int(ncid, ROWS, at, count, row, &ids[2]) == NC_NOERR, "iput of a row");
    if (far) {
        t_local(ncmpi_bput_vara_int(ncid, ROWS, away, count, lost, &ids[3]) == NC_NOERR, "bput of a far row");
        t_local(ncmpi_iput_varn_int(ncid, OTHER + 1, 2, starts, counts, lost, &ids[4]) == NC_NOERR, "iput_varn");
    }
    t_local(ncmpi_bput_vara_int(ncid, OTHER, at, count, row, &ids[5]) == NC_NOERR, "bput of a row");
    t_check(true, "%s: puts are posted in define mode", f->name);
}

static void check_far(int ncid, const far_case *f, const int *row)
{
    MPI_Offset at[2] = {t_rank, 0}, count[2] = {1, X}, records = -1;
    int got[X] = {0}, value = 0;

    ncmpi_inq_dimlen(ncid, 0, &records);
    t_check(records == t_nprocs, "%s: %lld records", f->name, (long long)records);
    t_check(ncmpi_get_var1_int_all(ncid, SMALL, at, &value) == NC_NOERR && value == row[0], "the value: %d", value);
    for (int id = ROWS; id <= OTHER; id++)
        t_check(ncmpi_get_vara_int_all(ncid, id, at, count, got) == NC_NOERR && memcmp(got, row, sizeof got) == 0,
                "the row of variable %d", id);
}

static void test_far_posted(const far_case *f, bool collective, int bad)
{
    bool far = bad < 0 || bad == t_rank;
    int ncid = create_posted(f), row[X], ids[POSTED], statuses[POSTED] = {0}, code;

    for (int x = 0; x < X; x++)
        row[x] = 1000 * (t_rank + 1) + x;
    post_far(ncid, f, far, row, ids);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    if (!collective)
        ncmpi_begin_indep_data(ncid);
    code = collective ? ncmpi_wait_all(ncid, POSTED, ids, statuses) : ncmpi_wait(ncid, POSTED, ids, statuses);
    if (!collective)
        ncmpi_end_indep_data(ncid);
    expect_code(code, far ? NC_EINVALCOORDS : NC_NOERR, "the wait, on ranks with far records");
    for (int i = 0; i < POSTED; i++) {
        int wanted = far && (i == 1 || i == 3 || i == 4) ? NC_EINVALCOORDS : NC_NOERR;

        t_local(statuses[i] == wanted && ids[i] == NC_REQ_NULL, "status %d of request %d", statuses[i], i);
    }
    t_check(true, "the statuses say which");
    expect_ok(ncmpi_buffer_detach(ncid), "the buffer is free");
    check_far(ncid, f, row);
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    check_far(ncid, f, row);
    expect_ok(ncmpi_close(ncid), "close");
}

/* A record that one variable has is too far for another one with larger records, but not for many with small ones. */
static void test_large_records(void)
{
    MPI_Offset far = (MPI_Offset)1 << 58, records = 0;
    int ncid = -1, dims[2], id;
    char name[16];

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid), "create");
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "x", 6, &dims[1]);
    ncmpi_def_var(ncid, "only", NC_BYTE, 1, dims, &id);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(ncmpi_put_var1_schar_all(ncid, id, &far, &(signed char){7}), "put record 2^58");
    expect_ok(ncmpi_redef(ncid), "redef");
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "more%d", i);
        ncmpi_def_var(ncid, name, NC_BYTE, 1, dims, &id);
    }
    expect_ok(ncmpi_enddef(ncid), "enddef with 100 variables more");
    expect_ok(ncmpi_redef(ncid), "redef");
    ncmpi_def_var(ncid, "rows", NC_INT, 2, dims, &id);
    expect_code(ncmpi_enddef(ncid), NC_EVARSIZE, "enddef with a variable of 1.5 * 2^62 bytes");
    expect_ok(ncmpi_abort(ncid), "abort");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    ncmpi_inq_dimlen(ncid, 0, &records);
    t_check(records == far + 1, "the file is as before: %lld records", (long long)records);
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_posted(void)
{
    int ncid, err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid);

    if (err == NC_NOERR)
        expect_ok(ncmpi_close(ncid), "close");
    for (int i = 0; i < (int)(sizeof far_cases / sizeof *far_cases); i++) {
        const far_case *f = &far_cases[i];

        if (f->cmode == NC_NETCDF4 ? err == NC_ENOTBUILT : !t_classic())
            continue;
        test_far_posted(f, true, -1);
        test_far_posted(f, true, t_nprocs - 1);
        test_far_posted(f, false, 0);
    }
    if (err == NC_ENOTBUILT)
        t_skip("built without netCDF-4");
    else
        test_large_records();
}

/* A small file system that only this rank sees, holding one file. */
static bool mount_own(const char *dir, const char *file)
{
    FILE *out;

    if (t_rank == 0)
        mkdir(dir, 0700);
    MPI_Barrier(MPI_COMM_WORLD);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", dir, "tmpfs", 0, NULL) != 0)
        return false;
    out = fopen(file, "wb");
    return out != NULL && fwrite("CDF\1\0\0\0\0", 1, 8, out) == 8 && fclose(out) == 0 &&
           mount("none", dir, "none", MS_REMOUNT | MS_RDONLY, NULL) == 0;
}

static void test_places(void)
{
    char dir[4096], file[4200];
    int ncid, all;
    bool mounted;
    struct stat facts;

    expect_code(ncmpi_open(MPI_COMM_WORLD, "/tmp", NC_NOWRITE, MPI_INFO_NULL, &ncid), NC_EBAD_FILE, "open a directory");
    expect_code(ncmpi_create(MPI_COMM_WORLD, "/tmp", NC_CLOBBER, MPI_INFO_NULL, &ncid), NC_EBAD_FILE,
                "create where a directory is");
    if (stat("/dev/null", &facts) == 0 && S_ISCHR(facts.st_mode)) {
        expect_code(ncmpi_open(MPI_COMM_WORLD, "/dev/null", NC_NOWRITE, MPI_INFO_NULL, &ncid), NC_EBAD_FILE,
                    "open a device");
        expect_code(ncmpi_create(MPI_COMM_WORLD, "/dev/null", NC_CLOBBER, MPI_INFO_NULL, &ncid), NC_EBAD_FILE,
                    "create where a device is");
    } else {
        t_skip("/dev/null is not a device");
    }
    snprintf(dir, sizeof dir, "%s", t_path("read_only"));
    snprintf(file, sizeof file, "%s/old.nc", dir);
    mounted = mount_own(dir, file);
    all = mounted;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all) {
        expect_code(ncmpi_open(MPI_COMM_WORLD, file, NC_WRITE, MPI_INFO_NULL, &ncid), NC_EPERM,
                    "open for writing on a read-only file system");
        expect_code(ncmpi_create(MPI_COMM_WORLD, file, NC_CLOBBER, MPI_INFO_NULL, &ncid), NC_EPERM,
                    "create over a file on a read-only file system");
        snprintf(file, sizeof file, "%s/new.nc", dir);
        expect_code(ncmpi_create(MPI_COMM_WORLD, file, NC_CLOBBER, MPI_INFO_NULL, &ncid), NC_EPERM,
                    "create a new file on a read-only file system");
    } else {
        t_skip("a read-only file system can only be mounted by root");
    }
    if (mounted)
        umount(dir);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        rmdir(dir);
}

static void test_no_communicator(void)
{
    int ncid = -1;

    expect_code(ncmpi_open(MPI_COMM_NULL, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), NC_EINVAL, "open: MPI_COMM_NULL");
    expect_code(ncmpi_create(MPI_COMM_NULL, path, 0, MPI_INFO_NULL, &ncid), NC_EINVAL, "create: MPI_COMM_NULL");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);
    snprintf(path, sizeof path, "%s", t_path("limits.nc"));
    test_no_communicator();
    test_places();
    test_many_dimensions(false);
    test_many_dimensions(true);
    if (t_classic()) {
        test_far_records();
        test_variable_of_many_dimensions(0);
        test_variable_of_many_dimensions(NC_64BIT_DATA);
    }
    test_posted();
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
