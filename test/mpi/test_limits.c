/* Arguments at the far end of what a type can hold, places where no file can be, communicators that are none: each has
 * a code of its own, and none ends the program. */
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
    test_far_records();
    test_many_dimensions(false);
    test_many_dimensions(true);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
