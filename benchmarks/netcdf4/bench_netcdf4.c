/* netCDF-4 files of this library: `make bench-netcdf4` compares it with the programs beside it. */
#include "cases.h"

#include <pnetcdf.h>

static int rank, nprocs;
static const char *path;

static void check(int code, const char *what)
{
    char message[NC_MAX_MESSAGE] = "";

    if (code == NC_NOERR)
        return;
    ncmpi_inq_last_error(NC_GLOBAL, NULL, message);
    fprintf(stderr, "%s: %s %s\n", what, ncmpi_strerror(code), message);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define DO(call) check(call, #call)

static void put_field(const layout *l, float *values)
{
    const MPI_Offset chunk[3] = {1, CHUNK_ROWS, CHUNK_COLUMNS};
    block b = block_of(l, rank, nprocs);
    MPI_Offset count[3] = {1, (MPI_Offset)b.rows, (MPI_Offset)b.columns};
    int ncid, dims[3], varid;
    stopwatch w;

    make_field(values, b.rows * b.columns, (unsigned)rank + 1);
    DO(ncmpi_create(MPI_COMM_WORLD, path, NC_NETCDF4 | NC_CLOBBER, MPI_INFO_NULL, &ncid));
    DO(ncmpi_def_dim(ncid, "time", TIMES, &dims[0]));
    DO(ncmpi_def_dim(ncid, "y", ROWS, &dims[1]));
    DO(ncmpi_def_dim(ncid, "x", COLUMNS, &dims[2]));
    DO(ncmpi_def_var(ncid, "field", NC_FLOAT, 3, dims, &varid));
    if (l->chunked)
        DO(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, chunk));
    if (l->compressed)
        DO(ncmpi_def_var_deflate(ncid, varid, 1, 1, 1));
    DO(ncmpi_enddef(ncid));
    w = start_watch();
    for (int t = 0; t < TIMES; t++) {
        MPI_Offset start[3] = {t, (MPI_Offset)b.row, (MPI_Offset)b.column};

        DO(ncmpi_put_vara_float_all(ncid, varid, start, count, values));
    }
    DO(ncmpi_close(ncid));
    stop_watch(w, "put", l->name);
}

static void get_field(const layout *l, float *values)
{
    block b = block_of(l, rank, nprocs);
    MPI_Offset count[3] = {1, (MPI_Offset)b.rows, (MPI_Offset)b.columns};
    stopwatch w = start_watch();
    int ncid, varid;

    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    DO(ncmpi_inq_varid(ncid, "field", &varid));
    for (int t = 0; t < TIMES; t++) {
        MPI_Offset start[3] = {t, (MPI_Offset)b.row, (MPI_Offset)b.column};

        DO(ncmpi_get_vara_float_all(ncid, varid, start, count, values));
    }
    DO(ncmpi_close(ncid));
    stop_watch(w, "get", l->name);
}

/* Each rank has a part of the points. */
static void put_model(float *values)
{
    int ncid, dims[2], varids[VARIABLES], requests[VARIABLES], statuses[VARIABLES];
    MPI_Offset first = (MPI_Offset)POINTS * rank / nprocs, n = (MPI_Offset)POINTS * (rank + 1) / nprocs - first;
    stopwatch w;

    make_field(values, (size_t)n, (unsigned)rank + 1);
    DO(ncmpi_create(MPI_COMM_WORLD, path, NC_NETCDF4 | NC_CLOBBER, MPI_INFO_NULL, &ncid));
    DO(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
    DO(ncmpi_def_dim(ncid, "point", POINTS, &dims[1]));
    for (int v = 0; v < VARIABLES; v++) {
        const MPI_Offset chunk[2] = {1, POINTS};
        char name[32];

        snprintf(name, sizeof name, "variable_%03d", v);
        DO(ncmpi_def_var(ncid, name, NC_FLOAT, 2, dims, &varids[v]));
        DO(ncmpi_def_var_chunking(ncid, varids[v], NC_CHUNKED, chunk));
        DO(ncmpi_def_var_deflate(ncid, varids[v], 1, 1, 1));
    }
    DO(ncmpi_enddef(ncid));
    w = start_watch();
    for (int t = 0; t < RECORDS; t++) {
        for (int v = 0; v < VARIABLES; v++) {
            MPI_Offset start[2] = {t, first}, count[2] = {1, n};

            DO(ncmpi_iput_vara_float(ncid, varids[v], start, count, values, &requests[v]));
        }
        DO(ncmpi_wait_all(ncid, VARIABLES, requests, statuses));
    }
    DO(ncmpi_close(ncid));
    stop_watch(w, "100 variables x 20 records, deflate 1", "");
}

static void define_many(void)
{
    stopwatch w = start_watch();
    int ncid, dim, varid;

    DO(ncmpi_create(MPI_COMM_WORLD, path, NC_NETCDF4 | NC_CLOBBER, MPI_INFO_NULL, &ncid));
    DO(ncmpi_def_dim(ncid, "x", 10, &dim));
    for (int v = 0; v < DEFINED; v++) {
        char name[32];

        snprintf(name, sizeof name, "variable_%04d", v);
        DO(ncmpi_def_var(ncid, name, NC_FLOAT, 1, &dim, &varid));
        DO(ncmpi_put_att_text(ncid, varid, "units", 5, "m s-1"));
    }
    DO(ncmpi_close(ncid));
    stop_watch(w, "define 1000 variables", "");
    w = start_watch();
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    DO(ncmpi_close(ncid));
    stop_watch(w, "open 1000 variables", "");
}

/* After put_field: 1000 values at random places, on one rank. */
static void get_values(void)
{
    unsigned state = 7;
    int ncid, varid;
    stopwatch w;
    float value;

    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    DO(ncmpi_inq_varid(ncid, "field", &varid));
    DO(ncmpi_begin_indep_data(ncid));
    w = start_watch();
    for (int i = 0; i < 1000 && rank == 0; i++) {
        MPI_Offset at[3];

        state = state * 1664525u + 1013904223u;
        at[0] = (state >> 8) % TIMES;
        at[1] = (state >> 10) % ROWS;
        at[2] = (state >> 20) % COLUMNS;
        DO(ncmpi_get_var1_float(ncid, varid, at, &value));
    }
    stop_watch(w, "get 1000 values at random, deflate 1", "");
    DO(ncmpi_close(ncid));
}

int main(int argc, char **argv)
{
    float *values = malloc((size_t)ROWS * COLUMNS * sizeof *values);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    path = file_name(argc, argv);
    for (int i = 0; i < LAYOUTS; i++) {
        put_field(&layouts[i], values);
        get_field(&layouts[i], values);
        if (i == 0)
            get_values();
    }
    put_model(values);
    define_many();
    if (rank == 0)
        remove(path);
    free(values);
    MPI_Finalize();
    return 0;
}
