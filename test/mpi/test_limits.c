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

    expect_code(ncmpi_open(MPI_COMM_WORLD, "/tmp", NC_NOWRITE, MPI_INFO_NULL, &ncid), NC_EBAD_FILE, "open a directory");
    expect_code(ncmpi_create(MPI_COMM_WORLD, "/tmp", NC_CLOBBER, MPI_INFO_NULL, &ncid), NC_EBAD_FILE,
                "create where a directory is");
    expect_code(ncmpi_open(MPI_COMM_WORLD, "/dev/null", NC_NOWRITE, MPI_INFO_NULL, &ncid), NC_EBAD_FILE,
                "open a device");
    expect_code(ncmpi_create(MPI_COMM_WORLD, "/dev/null", NC_CLOBBER, MPI_INFO_NULL, &ncid), NC_EBAD_FILE,
                "create where a device is");
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
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
