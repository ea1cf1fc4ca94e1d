/* create_from_cdl HEADER.cdl FILE.nc: the program that test_cdl.py runs. */
#include <stdio.h>
#include "../create_from_cdl.h"

int main(int argc, char **argv)
{
    int err;

    MPI_Init(&argc, &argv);
    if (argc != 3) {
        fprintf(stderr, "usage: create_from_cdl HEADER.cdl FILE.nc\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    err = create_from_cdl(MPI_COMM_WORLD, argv[1], argv[2]);
    if (err != NC_NOERR)
        fprintf(stderr, "create_from_cdl: %s: %s\n", argv[1], ncmpi_strerror(err));
    MPI_Finalize();
    return err != NC_NOERR;
}
