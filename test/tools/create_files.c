/* Started by test_new_striping.py: FILE [own] [keep]: create FILE, put a value of each rank, and print its stripes.
 * own: each rank a file of its own, FILE.RANK, of which rank 0 prints the stripes. keep: with NC_NOCLOBBER. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

static int rank;

static void check(int err, const char *what)
{
    if (err == NC_NOERR)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, ncmpi_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void put_value(int ncid, MPI_Comm comm)
{
    MPI_Offset at;
    int own, n, dim, var, value = 100 + rank;

    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &n);
    at = own;
    check(ncmpi_def_dim(ncid, "x", n, &dim), "def_dim");
    check(ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &var), "def_var");
    check(ncmpi_enddef(ncid), "enddef");
    check(ncmpi_put_var1_int_all(ncid, var, &at, &value), "put");
    value = 0;
    check(ncmpi_get_var1_int_all(ncid, var, &at, &value), "get");
    check(value == 100 + rank ? NC_NOERR : NC_EREAD, "the value");
}

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int ncid, count, size, mode = NC_CLOBBER;
    char path[1000];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s", argv[1]);
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "own") == 0) {
            comm = MPI_COMM_SELF;
            snprintf(path, sizeof path, "%s.%d", argv[1], rank);
        } else
            mode = NC_NOCLOBBER;
    }
    check(ncmpi_create(comm, path, mode, MPI_INFO_NULL, &ncid), "create");
    check(ncmpi_inq_striping(ncid, &size, &count), "inq_striping");
    put_value(ncid, comm);
    check(ncmpi_close(ncid), "close");
    if (rank == 0)
        printf("%d of %d\n", count, size);
    MPI_Finalize();
    return 0;
}
