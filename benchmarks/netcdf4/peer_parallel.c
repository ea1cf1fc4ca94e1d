/* The fields of bench_netcdf4 by calls of netCDF: through libpnetcdf-netcdf (pnetcdf-run), or a parallel netCDF-C. */
#include "cases.h"
#include "peer_netcdf.h"

#ifndef NC_COLLECTIVE /* netcdf_par.h, which a serial netCDF does not install */
#define NC_COLLECTIVE 1
int nc_create_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_open_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_var_par_access(int ncid, int varid, int access);
#endif

static int rank, nprocs;

static void put_field(const layout *l, float *values)
{
    const size_t chunk[3] = {1, CHUNK_ROWS, CHUNK_COLUMNS};
    block b = block_of(l, rank, nprocs);
    size_t count[3] = {1, b.rows, b.columns};
    int ncid, dims[3], varid;
    stopwatch w;

    make_field(values, b.rows * b.columns, (unsigned)rank + 1);
    DO(nc_create_par(path, NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
    DO(nc_def_dim(ncid, "time", TIMES, &dims[0]));
    DO(nc_def_dim(ncid, "y", ROWS, &dims[1]));
    DO(nc_def_dim(ncid, "x", COLUMNS, &dims[2]));
    DO(nc_def_var(ncid, "field", NC_FLOAT, 3, dims, &varid));
    DO(nc_def_var_fill(ncid, varid, NC_NOFILL, NULL));
    if (l->chunked)
        DO(nc_def_var_chunking(ncid, varid, NC_CHUNKED, chunk));
    if (l->compressed)
        DO(nc_def_var_deflate(ncid, varid, 1, 1, 1));
    DO(nc_enddef(ncid));
    DO(nc_var_par_access(ncid, varid, NC_COLLECTIVE));
    w = start_watch();
    for (int t = 0; t < TIMES; t++) {
        size_t start[3] = {(size_t)t, b.row, b.column};

        DO(nc_put_vara_float(ncid, varid, start, count, values));
    }
    DO(nc_close(ncid));
    stop_watch(w, "put", l->name);
}

static void get_field(const layout *l, float *values)
{
    block b = block_of(l, rank, nprocs);
    size_t count[3] = {1, b.rows, b.columns};
    stopwatch w = start_watch();
    int ncid, varid;

    DO(nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
    DO(nc_inq_varid(ncid, "field", &varid));
    DO(nc_var_par_access(ncid, varid, NC_COLLECTIVE));
    for (int t = 0; t < TIMES; t++) {
        size_t start[3] = {(size_t)t, b.row, b.column};

        DO(nc_get_vara_float(ncid, varid, start, count, values));
    }
    DO(nc_close(ncid));
    stop_watch(w, "get", l->name);
}

int main(int argc, char **argv)
{
    float *values;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    path = file_name(argc, argv);
    values = malloc((size_t)ROWS * COLUMNS * sizeof *values);
    for (int i = 0; i < LAYOUTS; i++) {
        put_field(&layouts[i], values);
        get_field(&layouts[i], values);
    }
    free(values);
    if (rank == 0)
        remove(path);
    MPI_Finalize();
    return 0;
}
