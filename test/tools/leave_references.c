/* Started by test_references.py and test_checksum.py. FILE ACTION: create, append to, grow, keep (open for writing and
 * close), abort, abort in define mode after an append (redefine), or leave open a file; or create one, and fail to read
 * it on rank 0 (fail). The last line of stdout has the code of closing it on each rank, and the message of rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pnetcdf.h>

#define X 12

static int rank, nprocs, fails;

int MPI_File_read_at(MPI_File file, MPI_Offset at, void *buf, int count, MPI_Datatype type, MPI_Status *status)
{
    return fails && rank == 0 ? MPI_ERR_IO : PMPI_File_read_at(file, at, buf, count, type, status);
}

static void check(int err)
{
    if (err == NC_NOERR)
        return;
    fprintf(stderr, "%s\n", ncmpi_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void define(int ncid)
{
    const double missing = -1;
    int dims[2], fixed, record;

    check(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
    check(ncmpi_def_dim(ncid, "x", X, &dims[1]));
    check(ncmpi_def_var(ncid, "fixed", NC_SHORT, 1, &dims[1], &fixed));
    check(ncmpi_def_var(ncid, "record", NC_DOUBLE, 2, dims, &record));
    check(ncmpi_put_att_double(ncid, record, "_FillValue", NC_DOUBLE, 1, &missing));
    check(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "a \"b\""));
    check(ncmpi_enddef(ncid));
}

/* Each rank puts a part of x. */
static void put(int ncid, const char *name, MPI_Offset time)
{
    MPI_Offset first = X * rank / nprocs, n = X * (rank + 1) / nprocs - first;
    MPI_Offset start[2] = {time, first}, count[2] = {1, n};
    double values[X];
    int varid, ndims;

    for (int i = 0; i < n; i++)
        values[i] = (double)(100 * time + first) + i;
    check(ncmpi_inq_varid(ncid, name, &varid));
    check(ncmpi_inq_varndims(ncid, varid, &ndims));
    check(ncmpi_put_vara_double_all(ncid, varid, start + 2 - ndims, count + 2 - ndims, values));
}

static void append(int ncid)
{
    MPI_Offset n;
    int dimid;

    check(ncmpi_inq_dimid(ncid, "time", &dimid));
    check(ncmpi_inq_dimlen(ncid, dimid, &n));
    put(ncid, "record", n);
}

/* Much more metadata than before, so that values of a classic file move. */
static void grow(int ncid)
{
    char name[20];
    int x, varid;

    check(ncmpi_redef(ncid));
    check(ncmpi_inq_dimid(ncid, "x", &x));
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "more_%d", i);
        check(ncmpi_def_var(ncid, name, NC_INT, 1, &x, &varid));
    }
    check(ncmpi_enddef(ncid));
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "more_%d", i);
        put(ncid, name, 0);
    }
}

/* Definitions that ncmpi_abort drops. */
static void redefine(int ncid)
{
    int varid;

    check(ncmpi_redef(ncid));
    check(ncmpi_def_var(ncid, "dropped", NC_INT, 0, NULL, &varid));
}

static void print_codes(int code)
{
    char message[NC_MAX_MESSAGE] = "";
    int codes[64], failed = NC_NOERR;

    if (code != NC_NOERR)
        ncmpi_inq_last_error(-1, &failed, message);
    MPI_Gather(&code, 1, MPI_INT, codes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < nprocs; i++)
        printf("%d ", codes[i]);
    if (rank == 0)
        printf("%s\n", message);
}

int main(int argc, char **argv)
{
    const char *action = argv[argc - 1];
    int ncid, is_new, err;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    is_new = strcmp(action, "fail") == 0 || strcmp(action, "create") == 0 || strcmp(action, "leave") == 0 ||
             strcmp(action, "abort") == 0;
    check(is_new ? ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid)
                 : ncmpi_open(MPI_COMM_WORLD, argv[1], NC_WRITE, MPI_INFO_NULL, &ncid));
    if (is_new) {
        define(ncid);
        put(ncid, "fixed", 0);
        append(ncid);
        append(ncid);
    }
    if (strcmp(action, "append") == 0 || strcmp(action, "redefine") == 0)
        append(ncid);
    if (strcmp(action, "redefine") == 0)
        redefine(ncid);
    if (strcmp(action, "grow") == 0)
        grow(ncid);
    if (strcmp(action, "leave") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        _exit(0);
    }
    fails = strcmp(action, "fail") == 0;
    err = strcmp(action, "abort") == 0 || strcmp(action, "redefine") == 0 ? ncmpi_abort(ncid) : ncmpi_close(ncid);
    print_codes(err);
    MPI_Finalize();
    return 0;
}
