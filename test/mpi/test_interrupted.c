/* Signals that interrupt reads and writes of the MPI library, and accesses that transfer less than they were asked for:
 * put and get succeed, and the values are right. The functions of the system are replaced here, for all libraries. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FILE_OFFSET_BITS /* on 32-bit processors it makes one name of pread and pread64 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../expect.h"

enum { NX = 40, ROWS = 30 };
enum fault { NONE, INTERRUPT, SHORT };

static enum fault fault;
static int every = 1, calls, faults;

/* True if this access is to fail: one of `every`, and never two at once. */
static bool fails(void)
{
    if (fault == NONE || calls++ % (every + 1) != 0)
        return false;
    faults++;
    errno = EINTR;
    return true;
}

/* clang-format off */
#define ACCESS(name, type, position)                                              \
    ssize_t name(int fd, type bytes, size_t n, position offset)                   \
    {                                                                             \
        static ssize_t (*real)(int, type, size_t, position);                      \
                                                                                  \
        if (real == NULL)                                                         \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                            \
        if (n > 1 && fails()) {                                                   \
            if (fault == INTERRUPT)                                               \
                return -1;                                                        \
            n /= 2;                                                               \
        }                                                                         \
        return real(fd, bytes, n, offset);                                        \
    }
ACCESS(pread, void *, off_t)
ACCESS(pread64, void *, off64_t)
ACCESS(pwrite, const void *, off_t)
ACCESS(pwrite64, const void *, off64_t)
/* clang-format on */

static void begin_faults(enum fault kind, int one_of)
{
    MPI_Barrier(MPI_COMM_WORLD);
    calls = faults = 0;
    every = one_of;
    fault = kind;
}

/* At least one rank must have seen a fault, or nothing was tested. */
static void end_faults(const char *what)
{
    int all;

    fault = NONE;
    MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    t_check(all > 0, "%s: %d accesses were interrupted or short", what, all);
}

static int value_of(int row, int x)
{
    return 100 * row + x + 1;
}

/* Rows in turns, so that each rank has many small extents in the file. */
static int transfer(int ncid, bool puts, int *values)
{
    MPI_Offset start[2] = {t_rank, 0}, count[2] = {ROWS, NX}, stride[2] = {t_nprocs, 1};

    return puts ? ncmpi_put_vars_int_all(ncid, 0, start, count, stride, values)
                : ncmpi_get_vars_int_all(ncid, 0, start, count, stride, values);
}

static void try_fault(const char *path, enum fault kind, int one_of, const char *strategy, const char *what)
{
    int ncid, dims[2], varid, *values = malloc(ROWS * NX * sizeof *values), wrong = 0;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_strategy", strategy);
    begin_faults(kind, one_of);
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    ncmpi_def_dim(ncid, "y", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "x", NX, &dims[1]);
    ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &varid);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    for (int i = 0; i < ROWS * NX; i++)
        values[i] = value_of(t_rank + i / NX * t_nprocs, i % NX);
    expect_ok(transfer(ncid, true, values), "put");
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid), "open");
    for (int i = 0; i < ROWS * NX; i++)
        values[i] = 0;
    expect_ok(transfer(ncid, false, values), "get");
    end_faults(what);
    for (int i = 0; i < ROWS * NX; i++)
        wrong += values[i] != value_of(t_rank + i / NX * t_nprocs, i % NX);
    t_check(t_local(wrong == 0, "%d wrong", wrong), "%s, nc_strategy=%s: the values", what, strategy);
    expect_ok(ncmpi_close(ncid), "close");
    MPI_Info_free(&info);
    free(values);
}

int main(int argc, char **argv)
{
    static const char *const strategies[] = {"automatic", "direct", "two_phase", "separate"};

    t_start(&argc, &argv);
    for (int i = 0; i < 4; i++)
        for (int one_of = 1; one_of <= 3; one_of++) {
            try_fault(t_path("interrupted.nc"), INTERRUPT, one_of, strategies[i], "interrupted");
            try_fault(t_path("interrupted.nc"), SHORT, one_of, strategies[i], "short");
        }
    if (t_rank == 0)
        unlink(t_path("interrupted.nc"));
    return t_finish();
}
