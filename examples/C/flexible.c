/* One member of an array of structs becomes a variable, without a copy.
 *
 *     mpiexec -n 4 ./flexible flexible.nc
 *
 * The flexible functions have no type in their names: an MPI datatype describes the memory. Here it is one int or
 * double, resized to the distance between two particles. The buffer of each call is the address of a member. */
#include "check.h"

enum { N = 6 };

struct particle {
    int id;
    double position[3], mass;
};

/* One `element` of each particle. */
static MPI_Datatype one_per_particle(MPI_Datatype element)
{
    MPI_Datatype type;

    MPI_Type_create_resized(element, 0, sizeof(struct particle), &type);
    MPI_Type_commit(&type);
    return type;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "flexible.nc";
    int rank, nprocs, ncid, dim, id, mass;
    struct particle particles[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    for (int i = 0; i < N; i++)
        particles[i] = (struct particle){.id = rank * N + i, .mass = 0.5 * (rank * N + i)};
    MPI_Datatype ints = one_per_particle(MPI_INT), doubles = one_per_particle(MPI_DOUBLE);

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "particle", N * nprocs, &dim));
    NC_TRY(path, ncmpi_def_var(ncid, "id", NC_INT64, 1, &dim, &id)); /* int in memory: converted */
    NC_TRY(path, ncmpi_def_var(ncid, "mass", NC_DOUBLE, 1, &dim, &mass));
    NC_TRY(path, ncmpi_enddef(ncid));
    MPI_Offset start = rank * N, count = N;
    NC_TRY(path, ncmpi_put_vara_all(ncid, id, &start, &count, &particles[0].id, N, ints));
    NC_TRY(path, ncmpi_put_vara_all(ncid, mass, &start, &count, &particles[0].mass, N, doubles));
    NC_TRY(path, ncmpi_close(ncid));
    MPI_Type_free(&ints);
    MPI_Type_free(&doubles);
    return MPI_Finalize();
}
