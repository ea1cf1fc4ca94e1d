/* Zarr stores of this library: `make bench-zarr` compares it with peer_zarr.py, which times the same cases.
 *
 * An array of TIMES records of ROWS x COLUMNS floats, in chunks of half a record, 24 of them in a shard; one put, and
 * one get, for each record. Aligned: each rank has whole chunks (1 and 2 ranks); shared: ranks have columns of all. */
#include "../netcdf4/cases.h"

#include <pnetcdf.h>

enum { STORE_TIMES = 24, SHARD_TIMES = 12 };

static const struct {
    const char *name, *compression, *shuffle;
    bool by_columns;
} cases[] = {{"blosc zstd 1, aligned", "zstd:1", "automatic", false},
             {"blosc zstd 1, shared", "zstd:1", "automatic", true},
             {"gzip 1, aligned", "deflate:1", "disable", false},
             {"gzip 1, shared", "deflate:1", "disable", true}};

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

static MPI_Info make_info(int number)
{
    char bytes[20];
    MPI_Info info;

    snprintf(bytes, sizeof bytes, "%ld", (long)SHARD_TIMES * ROWS * COLUMNS * (long)sizeof(float));
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_format", "zarr");
    MPI_Info_set(info, "nc_shards", bytes);
    MPI_Info_set(info, "nc_compression", cases[number].compression);
    MPI_Info_set(info, "nc_shuffle", cases[number].shuffle);
    return info;
}

static void put_store(int number, const float *values)
{
    const MPI_Offset chunk[3] = {1, CHUNK_ROWS, COLUMNS};
    const layout l = {.by_columns = cases[number].by_columns};
    block b = block_of(&l, rank, nprocs);
    MPI_Info info = make_info(number);
    int ncid, dims[3], varid;
    stopwatch w;

    DO(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid));
    MPI_Info_free(&info);
    DO(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
    DO(ncmpi_def_dim(ncid, "y", ROWS, &dims[1]));
    DO(ncmpi_def_dim(ncid, "x", COLUMNS, &dims[2]));
    DO(ncmpi_def_var(ncid, "field", NC_FLOAT, 3, dims, &varid));
    DO(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, chunk));
    DO(ncmpi_enddef(ncid));
    w = start_watch();
    for (int t = 0; t < STORE_TIMES; t++) {
        MPI_Offset start[3] = {t, (MPI_Offset)b.row, (MPI_Offset)b.column};
        MPI_Offset count[3] = {1, (MPI_Offset)b.rows, (MPI_Offset)b.columns};

        DO(ncmpi_put_vara_float_all(ncid, varid, start, count, values));
    }
    DO(ncmpi_close(ncid));
    stop_watch(w, "put", cases[number].name);
}

static void get_store(int number, float *values)
{
    const layout l = {.by_columns = cases[number].by_columns};
    block b = block_of(&l, rank, nprocs);
    stopwatch w = start_watch();
    int ncid, varid;

    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    DO(ncmpi_inq_varid(ncid, "field", &varid));
    for (int t = 0; t < STORE_TIMES; t++) {
        MPI_Offset start[3] = {t, (MPI_Offset)b.row, (MPI_Offset)b.column};
        MPI_Offset count[3] = {1, (MPI_Offset)b.rows, (MPI_Offset)b.columns};

        DO(ncmpi_get_vara_float_all(ncid, varid, start, count, values));
    }
    DO(ncmpi_close(ncid));
    stop_watch(w, "get", cases[number].name);
}

int main(int argc, char **argv)
{
    float *values = malloc((size_t)ROWS * COLUMNS * sizeof *values);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    path = argc > 1 ? argv[1] : "/dev/shm/bench_zarr.zarr";
    make_field(values, (size_t)ROWS * COLUMNS, (unsigned)rank + 1);
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        put_store(i, values);
        get_store(i, values);
    }
    if (rank == 0)
        ncmpi_delete(path, MPI_INFO_NULL);
    free(values);
    MPI_Finalize();
    return 0;
}
