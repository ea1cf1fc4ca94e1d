/* Started by test_patterns.py. open_files [RANKS FILE]...: create each file with a communicator of these ranks, "all",
 * "first" (rank 0) or "others", and close it. The program ends by MPI_Finalize. */
#include <stdio.h>
#include <string.h>

#include "pnetcdf.h"

static void create(MPI_Comm comm, const char *path)
{
    int ncid, err = ncmpi_create(comm, path, NC_CLOBBER, MPI_INFO_NULL, &ncid);

    if (err == NC_NOERR)
        err = ncmpi_close(ncid);
    if (err != NC_NOERR) {
        fprintf(stderr, "open_files: %s: %s\n", path, ncmpi_strerror(err));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm part;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &part);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "all") == 0)
            create(MPI_COMM_WORLD, argv[i + 1]);
        else if ((rank == 0) == (strcmp(argv[i], "first") == 0))
            create(part, argv[i + 1]);
    }
    MPI_Comm_free(&part);
    MPI_Finalize();
    return 0;
}
