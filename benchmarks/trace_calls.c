/* Which functions of the library a call enters: trace_calls.py builds this with the library, whose functions call the
 * two hooks.
 *
 * Usage: trace_calls CASE FILE RESULT. CASE is op_shape[_all]: put or get, vara, var1 or chunks. Each rank writes
 * RESULT.RANK: lines "call address times", one for each function that the first and the second call have entered on its
 * thread. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLACES = 1 << 13, /* of functions; those of the library are fewer than half of it */
    EDGE = 16,        /* of the block of a rank, in elements */
    CHUNK = 64,       /* likewise of a chunk, with the shape `chunks` */
    CHUNKS = 3        /* of a rank, side by side */
};

/* By address, from a hash on. */
static struct place {
    uintptr_t function;
    long times;
} places[PLACES];
static _Thread_local bool is_traced; /* the thread that makes the call, while it does */

__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *function, void *caller)
{
    size_t i = (uintptr_t)function / 4 % PLACES;

    (void)caller;
    if (!is_traced)
        return;
    while (places[i].function != 0 && places[i].function != (uintptr_t)function)
        i = (i + 1) % PLACES;
    places[i].function = (uintptr_t)function;
    places[i].times++;
}

__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
}

static void check(int err, const char *step)
{
    if (err == NC_NOERR)
        return;
    fprintf(stderr, "trace_calls: %s: %s\n", step, ncmpi_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The ranks have blocks of EDGE * EDGE elements of a record, side by side: rows of all ranks of a row of blocks
 * interleave in the file. */
static int make_call(const char *name, int ncid, int rank, int across)
{
    static double values[CHUNKS * CHUNK * CHUNK];
    MPI_Offset own[3] = {0, rank * CHUNK, 0}, block[3] = {1, CHUNK, CHUNKS * CHUNK};
    MPI_Offset start[3] = {0, rank / across * EDGE, rank % across * EDGE}, count[3] = {1, EDGE, EDGE};

    if (strcmp(name, "put_vara_all") == 0)
        return ncmpi_put_vara_double_all(ncid, 0, start, count, values);
    if (strcmp(name, "get_vara_all") == 0)
        return ncmpi_get_vara_double_all(ncid, 0, start, count, values);
    if (strcmp(name, "put_var1") == 0)
        return ncmpi_put_var1_double(ncid, 0, start, values);
    if (strcmp(name, "get_var1") == 0)
        return ncmpi_get_var1_double(ncid, 0, start, values);
    if (strcmp(name, "put_var1_all") == 0)
        return ncmpi_put_var1_double_all(ncid, 0, start, values);
    if (strcmp(name, "put_chunks_all") == 0)
        return ncmpi_put_vara_double_all(ncid, 0, own, block, values);
    if (strcmp(name, "get_chunks_all") == 0)
        return ncmpi_get_vara_double_all(ncid, 0, own, block, values);
    return NC_EINVAL;
}

static void write_places(FILE *out, int call)
{
    for (int i = 0; i < PLACES; i++)
        if (places[i].function != 0)
            fprintf(out, "%d %llx %ld\n", call, (unsigned long long)places[i].function, places[i].times);
    memset(places, 0, sizeof places);
}

static int create(const char *path, int across, int down)
{
    int ncid, dims[3], varid;

    check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid), "create");
    check(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]), "time");
    check(ncmpi_def_dim(ncid, "y", (MPI_Offset)down * EDGE, &dims[1]), "y");
    check(ncmpi_def_dim(ncid, "x", (MPI_Offset)across * EDGE, &dims[2]), "x");
    check(ncmpi_def_var(ncid, "v", NC_DOUBLE, 3, dims, &varid), "v");
    check(ncmpi_enddef(ncid), "enddef");
    return ncid;
}

/* Deflated chunks: each rank has three of a record of its own. */
static int create_chunked(const char *path, int nprocs)
{
    MPI_Offset chunk[3] = {1, CHUNK, CHUNK};
    int ncid, dims[3], varid;

    check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid), "create");
    check(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]), "time");
    check(ncmpi_def_dim(ncid, "y", (MPI_Offset)nprocs * CHUNK, &dims[1]), "y");
    check(ncmpi_def_dim(ncid, "x", CHUNKS * CHUNK, &dims[2]), "x");
    check(ncmpi_def_var(ncid, "v", NC_DOUBLE, 3, dims, &varid), "v");
    check(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, chunk), "chunks");
    check(ncmpi_def_var_deflate(ncid, varid, 0, 1, 1), "deflate");
    check(ncmpi_enddef(ncid), "enddef");
    return ncid;
}

int main(int argc, char **argv)
{
    int rank, nprocs, across = 1, ncid;
    char path[4096];
    FILE *out;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc != 4)
        check(NC_EINVAL, "usage: trace_calls CASE FILE RESULT");
    while (across * across < nprocs)
        across++;
    snprintf(path, sizeof path, "%s.%d", argv[3], rank);
    out = fopen(path, "w");
    if (out == NULL)
        check(NC_EPERM, path);
    if (strstr(argv[1], "chunks") != NULL)
        ncid = create_chunked(argv[2], nprocs);
    else
        ncid = create(argv[2], across, (nprocs + across - 1) / across);
    if (strcmp(argv[1], "get_chunks_all") == 0)
        check(make_call("put_chunks_all", ncid, rank, across), "put");
    else if (strncmp(argv[1], "get", 3) == 0)
        check(make_call("put_vara_all", ncid, rank, across), "put");
    if (strstr(argv[1], "_all") == NULL)
        check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    for (int call = 1; call <= 2; call++) {
        int err;

        is_traced = true;
        err = make_call(argv[1], ncid, rank, across);
        is_traced = false;
        check(err, argv[1]);
        write_places(out, call);
    }
    check(ncmpi_close(ncid), "close");
    if (fclose(out) != 0)
        check(NC_EPERM, path);
    MPI_Finalize();
    return 0;
}
