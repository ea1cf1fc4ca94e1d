/* What went wrong: the code, its short meaning, and the sentence that names the variable, the index and the cure.
 *
 *     mpiexec -n 4 ./last_error last_error.nc
 *
 * A program that handles errors itself, instead of ending, tests the code and shows the sentence to people. Here each
 * rank but the last one asks for cells that exist; the last one asks for one too many. In a collective call every rank
 * still gets an answer: its own error, or that its own data were written. */
#include "check.h"

#include <string.h>

enum { N = 3 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "last_error.nc";
    int rank, nprocs, ncid, dim, varid, status, code;
    char sentence[NC_MAX_MESSAGE];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "cell", N * nprocs, &dim));
    NC_TRY(path, ncmpi_def_var(ncid, "salt", NC_INT, 1, &dim, &varid));
    NC_TRY(path, ncmpi_enddef(ncid));

    int last = rank == nprocs - 1, values[N + 1];
    MPI_Offset start = rank * N, count = N + last;
    for (int i = 0; i <= N; i++)
        values[i] = rank * N + i;
    status = ncmpi_put_vara_int_all(ncid, varid, &start, &count, values);
    if (status == NC_EINVALCOORDS || status == NC_EEDGE) {
        NC_TRY(path, ncmpi_inq_last_error(ncid, &code, sentence));
        printf("%s, code %d\n%s\n", ncmpi_strerrno(status), code, sentence);
        count = N; /* what fits */
    } else {
        NC_TRY(path, status);
    }
    NC_TRY(path, ncmpi_put_vara_int_all(ncid, varid, &start, &count, values)); /* collective: all ranks call it again */
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
