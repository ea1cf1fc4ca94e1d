/* The cases of bench_netcdf4 that serial netCDF-C has, on one rank. */
#include "cases.h"
#include "peer_netcdf.h"

static void put_model(const float *values)
{
    int ncid, dims[2], varids[VARIABLES];
    stopwatch w;

    DO(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &ncid));
    DO(nc_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
    DO(nc_def_dim(ncid, "point", POINTS, &dims[1]));
    for (int v = 0; v < VARIABLES; v++) {
        const size_t chunk[2] = {1, POINTS};
        char name[32];

        snprintf(name, sizeof name, "variable_%03d", v);
        DO(nc_def_var(ncid, name, NC_FLOAT, 2, dims, &varids[v]));
        DO(nc_def_var_chunking(ncid, varids[v], NC_CHUNKED, chunk));
        DO(nc_def_var_deflate(ncid, varids[v], 1, 1, 1));
    }
    DO(nc_enddef(ncid));
    w = start_watch();
    for (size_t t = 0; t < RECORDS; t++)
        for (int v = 0; v < VARIABLES; v++) {
            size_t start[2] = {t, 0}, count[2] = {1, POINTS};

            DO(nc_put_vara_float(ncid, varids[v], start, count, values));
        }
    DO(nc_close(ncid));
    stop_watch(w, "100 variables x 20 records, deflate 1", "");
}

static void define_many(void)
{
    stopwatch w = start_watch();
    int ncid, dim, varid;

    DO(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &ncid));
    DO(nc_def_dim(ncid, "x", 10, &dim));
    for (int v = 0; v < DEFINED; v++) {
        char name[32];

        snprintf(name, sizeof name, "variable_%04d", v);
        DO(nc_def_var(ncid, name, NC_FLOAT, 1, &dim, &varid));
        DO(nc_put_att_text(ncid, varid, "units", 5, "m s-1"));
    }
    DO(nc_close(ncid));
    stop_watch(w, "define 1000 variables", "");
    w = start_watch();
    DO(nc_open(path, NC_NOWRITE, &ncid));
    DO(nc_close(ncid));
    stop_watch(w, "open 1000 variables", "");
}

static void get_values(float *values)
{
    const size_t chunk[3] = {1, CHUNK_ROWS, CHUNK_COLUMNS}, count[3] = {1, ROWS, COLUMNS};
    int ncid, dims[3], varid;
    unsigned state = 7;
    stopwatch w;
    float value;

    make_field(values, (size_t)ROWS * COLUMNS, 1);
    DO(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &ncid));
    DO(nc_def_dim(ncid, "time", TIMES, &dims[0]));
    DO(nc_def_dim(ncid, "y", ROWS, &dims[1]));
    DO(nc_def_dim(ncid, "x", COLUMNS, &dims[2]));
    DO(nc_def_var(ncid, "field", NC_FLOAT, 3, dims, &varid));
    DO(nc_def_var_chunking(ncid, varid, NC_CHUNKED, chunk));
    DO(nc_def_var_deflate(ncid, varid, 1, 1, 1));
    for (size_t t = 0; t < TIMES; t++) {
        size_t start[3] = {t, 0, 0};

        DO(nc_put_vara_float(ncid, varid, start, count, values));
    }
    DO(nc_close(ncid));
    DO(nc_open(path, NC_NOWRITE, &ncid));
    DO(nc_inq_varid(ncid, "field", &varid));
    w = start_watch();
    for (int i = 0; i < 1000; i++) {
        size_t at[3];

        state = state * 1664525u + 1013904223u;
        at[0] = (state >> 8) % TIMES;
        at[1] = (state >> 10) % ROWS;
        at[2] = (state >> 20) % COLUMNS;
        DO(nc_get_var1_float(ncid, varid, at, &value));
    }
    stop_watch(w, "get 1000 values at random, deflate 1", "");
    DO(nc_close(ncid));
}

int main(int argc, char **argv)
{
    float *values = malloc((size_t)ROWS * COLUMNS * sizeof *values);

    MPI_Init(&argc, &argv);
    path = file_name(argc, argv);
    get_values(values);
    make_field(values, POINTS, 1);
    put_model(values);
    define_many();
    remove(path);
    free(values);
    MPI_Finalize();
    return 0;
}
