/* Attributes: units, history, valid range; of the file, and of a variable.
 *
 *     mpiexec -n 4 ./attributes attributes.nc
 *
 * Writing is collective, and every rank passes the same value: attributes are in the header, which rank 0 writes.
 * Reading is local: every rank has the header in memory. */
#include "check.h"

#include <string.h>

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "attributes.nc";
    const char *title = "Attributes in a parallel program", *units = "m s-1", *more = "m/s";
    const float range[2] = {-100, 100};
    int rank, ncid, dim, wind;
    nc_type type;
    MPI_Offset length;
    double limits[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", 10, &dim));
    NC_TRY(path, ncmpi_def_var(ncid, "wind", NC_SHORT, 1, &dim, &wind));
    NC_TRY(path, ncmpi_put_att_text(ncid, NC_GLOBAL, "title", (MPI_Offset)strlen(title), title));
    NC_TRY(path, ncmpi_put_att_text(ncid, wind, "units", (MPI_Offset)strlen(units), units));
    NC_TRY(path, ncmpi_put_att_float(ncid, wind, "valid_range", NC_SHORT, 2, range)); /* float to short */
    NC_TRY(path, ncmpi_put_att_double(ncid, wind, "scale_factor", NC_DOUBLE, 1, (double[]){0.01}));
    NC_TRY(path, ncmpi_enddef(ncid));

    /* In data mode an attribute can be replaced by one that is not longer. */
    NC_TRY(path, ncmpi_put_att_text(ncid, wind, "units", (MPI_Offset)strlen(more), more));

    NC_TRY(path, ncmpi_inq_att(ncid, wind, "valid_range", &type, &length));
    if (type != NC_SHORT || length != 2)
        die("valid_range has type %d and %lld elements", type, (long long)length);
    NC_TRY(path, ncmpi_get_att_double(ncid, wind, "valid_range", limits));
    if (rank == 0)
        printf("wind from %g to %g\n", limits[0], limits[1]);
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
