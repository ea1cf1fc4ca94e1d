/* Puts and gets no values, by calls of all kinds, in every variable of a netCDF-4 file that has none, for
 * test_netcdf4_empty.py: a dimension of fixed length 0 comes from other programs only.
 *
 * netcdf4_empty FILE [fill]: then it defines such variables of its own, with all storages, in fill mode or without, and
 *     does the same with them, fills a record of those that have records, and opens the file again.
 *
 * netcdf4_empty FILE null: puts a value into the variable "null", whose dataspace is null, and then into "one".
 *
 * A code that is not expected is printed as a line "wrong ..". */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "pnetcdf.h"

enum { MOST_DIMS = 8 };

typedef struct empty_var {
    int id, ndims, dimids[MOST_DIMS];
    char name[NC_MAX_NAME + 1];
    MPI_Offset start[MOST_DIMS], count[MOST_DIMS], stride[MOST_DIMS], imap[MOST_DIMS];
} empty_var;

static int rank, ncid;

static void expect(int err, int expected, const char *what, const char *name)
{
    char message[NC_MAX_MESSAGE] = "";

    if (err == expected)
        return;
    ncmpi_inq_last_error(ncid, NULL, message);
    printf("wrong: rank %d: %s of %s: %s, expected %s: %s\n", rank, what, name, ncmpi_strerrno(err),
           ncmpi_strerrno(expected), message);
    fflush(stdout);
}

#define OK(call, what, v) expect(call, NC_NOERR, what, (v)->name)

/* --- calls --- */

static void access_all(const empty_var *v, int *values)
{
    MPI_Offset *starts[2] = {(MPI_Offset *)v->start, (MPI_Offset *)v->start};
    MPI_Offset *counts[2] = {(MPI_Offset *)v->count, (MPI_Offset *)v->count};
    double real = 0;

    OK(ncmpi_put_vara_int_all(ncid, v->id, v->start, v->count, values), "put_vara", v);
    OK(ncmpi_get_vara_int_all(ncid, v->id, v->start, v->count, values), "get_vara", v);
    OK(ncmpi_put_vars_int_all(ncid, v->id, v->start, v->count, v->stride, values), "put_vars", v);
    OK(ncmpi_get_vars_int_all(ncid, v->id, v->start, v->count, v->stride, values), "get_vars", v);
    OK(ncmpi_put_varm_int_all(ncid, v->id, v->start, v->count, v->stride, v->imap, values), "put_varm", v);
    OK(ncmpi_get_varm_int_all(ncid, v->id, v->start, v->count, v->stride, v->imap, values), "get_varm", v);
    OK(ncmpi_put_varn_int_all(ncid, v->id, 2, starts, counts, values), "put_varn", v);
    OK(ncmpi_get_varn_int_all(ncid, v->id, 2, starts, counts, values), "get_varn", v);
    OK(ncmpi_put_varn_int_all(ncid, v->id, 0, NULL, NULL, values), "put_varn of nothing", v);
    OK(ncmpi_put_vara_double_all(ncid, v->id, v->start, v->count, &real), "put_vara_double", v);
    OK(ncmpi_put_vara_all(ncid, v->id, v->start, v->count, values, 0, MPI_INT), "flexible put_vara", v);
    OK(ncmpi_put_vard_all(ncid, v->id, MPI_DATATYPE_NULL, values, 0, MPI_INT), "put_vard", v);
    OK(ncmpi_get_vard_all(ncid, v->id, MPI_DATATYPE_NULL, values, 0, MPI_INT), "get_vard", v);
}

static void access_whole(const empty_var *v, int *values)
{
    OK(ncmpi_put_var_int_all(ncid, v->id, values), "put_var", v);
    OK(ncmpi_get_var_int_all(ncid, v->id, values), "get_var", v);
    OK(ncmpi_begin_indep_data(ncid), "begin_indep_data", v);
    OK(ncmpi_put_vara_int(ncid, v->id, v->start, v->count, values), "independent put_vara", v);
    OK(ncmpi_put_vars_int(ncid, v->id, v->start, v->count, v->stride, values), "independent put_vars", v);
    OK(ncmpi_put_varm_int(ncid, v->id, v->start, v->count, v->stride, v->imap, values), "independent put_varm", v);
    OK(ncmpi_put_var_int(ncid, v->id, values), "independent put_var", v);
    OK(ncmpi_get_var_int(ncid, v->id, values), "independent get_var", v);
    OK(ncmpi_end_indep_data(ncid), "end_indep_data", v);
}

static void access_later(const empty_var *v, int *values)
{
    MPI_Offset bytes = 64;
    int requests[4], statuses[4];

    OK(ncmpi_buffer_attach(ncid, bytes), "buffer_attach", v);
    OK(ncmpi_iput_vara_int(ncid, v->id, v->start, v->count, values, &requests[0]), "iput_vara", v);
    OK(ncmpi_iput_vars_int(ncid, v->id, v->start, v->count, v->stride, values, &requests[1]), "iput_vars", v);
    OK(ncmpi_bput_vara_int(ncid, v->id, v->start, v->count, values, &requests[2]), "bput_vara", v);
    OK(ncmpi_iget_vara_int(ncid, v->id, v->start, v->count, values, &requests[3]), "iget_vara", v);
    OK(ncmpi_wait_all(ncid, 4, requests, statuses), "wait_all", v);
    for (int i = 0; i < 4; i++)
        OK(statuses[i], "a status", v);
    OK(ncmpi_buffer_detach(ncid), "buffer_detach", v);
}

static void read_only(const empty_var *v, int *values)
{
    OK(ncmpi_get_vara_int_all(ncid, v->id, v->start, v->count, values), "get_vara for reading", v);
    OK(ncmpi_get_vars_int_all(ncid, v->id, v->start, v->count, v->stride, values), "get_vars for reading", v);
    OK(ncmpi_get_var_int_all(ncid, v->id, values), "get_var for reading", v);
}

/* --- variables --- */

static MPI_Offset get_length(int dimid)
{
    MPI_Offset length = -1;

    ncmpi_inq_dimlen(ncid, dimid, &length);
    return length;
}

/* false: it has values. */
static bool inquire(int varid, empty_var *v)
{
    bool is_empty = false;

    *v = (empty_var){.id = varid};
    ncmpi_inq_var(ncid, varid, v->name, NULL, &v->ndims, NULL, NULL);
    if (v->ndims > MOST_DIMS)
        return false;
    ncmpi_inq_vardimid(ncid, varid, v->dimids);
    for (int d = v->ndims - 1; d >= 0; d--) {
        v->count[d] = get_length(v->dimids[d]);
        v->stride[d] = 1;
        v->imap[d] = d == v->ndims - 1 ? 1 : v->imap[d + 1] * v->count[d + 1];
        is_empty = is_empty || v->count[d] == 0;
    }
    return is_empty;
}

static void access_empty(bool is_writable, int *tried)
{
    int nvars = 0, values[8] = {0};

    *tried = 0;
    ncmpi_inq_nvars(ncid, &nvars);
    for (int i = 0; i < nvars; i++) {
        empty_var v;

        if (!inquire(i, &v))
            continue;
        (*tried)++;
        if (is_writable) {
            access_all(&v, values);
            access_whole(&v, values);
            access_later(&v, values);
        } else {
            read_only(&v, values);
        }
    }
}

static void define(bool fills)
{
    static const char *const names[] = {"own_plain", "own_chunked", "own_deflated", "own_compact", "own_rows"};
    int none, x, t, dimids[2], varid, old;

    expect(ncmpi_redef(ncid), NC_NOERR, "redef", "the file");
    expect(ncmpi_set_fill(ncid, fills ? NC_FILL : NC_NOFILL, &old), NC_NOERR, "set_fill", "the file");
    expect(ncmpi_inq_dimid(ncid, "z", &none), NC_NOERR, "inq_dimid", "z");
    expect(ncmpi_inq_dimid(ncid, "x", &x), NC_NOERR, "inq_dimid", "x");
    expect(ncmpi_inq_unlimdim(ncid, &t), NC_NOERR, "inq_unlimdim", "the file");
    for (int i = 0; i < 5; i++) {
        dimids[0] = i == 4 ? x : none;
        dimids[1] = none;
        expect(ncmpi_def_var(ncid, names[i], NC_INT, 1 + (i == 4), dimids, &varid), NC_NOERR, "def_var", names[i]);
        if (i == 1)
            expect(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, NULL), NC_NOERR, "def_var_chunking", names[i]);
        if (i == 2)
            expect(ncmpi_def_var_deflate(ncid, varid, 1, 1, 1), NC_NOERR, "def_var_deflate", names[i]);
        if (i == 3)
            expect(ncmpi_def_var_chunking(ncid, varid, NC_COMPACT, NULL), NC_NOERR, "def_var_chunking", names[i]);
    }
    dimids[0] = t;
    expect(ncmpi_def_var(ncid, "own_records", NC_INT, 2, dimids, &varid), NC_NOERR, "def_var", "own_records");
    expect(ncmpi_def_var_deflate(ncid, varid, 1, 1, 1), NC_NOERR, "def_var_deflate", "own_records");
    expect(ncmpi_enddef(ncid), NC_NOERR, "enddef", "the file");
}

/* A record without values counts. */
static void fill_records(void)
{
    int varid;
    MPI_Offset length;

    expect(ncmpi_inq_varid(ncid, "own_records", &varid), NC_NOERR, "inq_varid", "own_records");
    expect(ncmpi_fill_var_rec(ncid, varid, 2), NC_NOERR, "fill_var_rec", "own_records");
    ncmpi_inq_dimid(ncid, "t", &varid);
    length = get_length(varid);
    if (length != 3)
        printf("wrong: rank %d: %lld records\n", rank, (long long)length);
}

static void put_into_null(const char *path)
{
    int null, one, value = 7, request;

    expect(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), NC_NOERR, "open", path);
    expect(ncmpi_inq_varid(ncid, "null", &null), NC_NOERR, "inq_varid", "null");
    expect(ncmpi_inq_varid(ncid, "one", &one), NC_NOERR, "inq_varid", "one");
    expect(ncmpi_put_var_int_all(ncid, null, &value), NC_ENOTSUPPORT, "put_var", "null");
    expect(ncmpi_begin_indep_data(ncid), NC_NOERR, "begin_indep_data", path);
    expect(ncmpi_put_var_int(ncid, null, &value), NC_ENOTSUPPORT, "independent put_var", "null");
    expect(ncmpi_end_indep_data(ncid), NC_NOERR, "end_indep_data", path);
    expect(ncmpi_iput_var_int(ncid, null, &value, &request), NC_NOERR, "iput_var", "null");
    expect(ncmpi_wait_all(ncid, 1, &request, NULL), NC_ENOTSUPPORT, "wait_all", "null");
    expect(ncmpi_put_var_int_all(ncid, one, &value), NC_NOERR, "put_var", "one");
    expect(ncmpi_close(ncid), NC_NOERR, "close", path);
}

static void use_empty(const char *path, bool fills, int *tried)
{
    expect(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), NC_NOERR, "open", path);
    access_empty(true, &tried[0]);
    define(fills);
    access_empty(true, &tried[1]);
    expect(ncmpi_sync(ncid), NC_NOERR, "sync", path);
    if (fills)
        fill_records();
    expect(ncmpi_close(ncid), NC_NOERR, "close", path);
    expect(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), NC_NOERR, "open again", path);
    access_empty(true, &tried[2]);
    expect(ncmpi_close(ncid), NC_NOERR, "close again", path);
    expect(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), NC_NOERR, "open to read", path);
    access_empty(false, &tried[3]);
    expect(ncmpi_close(ncid), NC_NOERR, "close what was read", path);
}

int main(int argc, char **argv)
{
    int tried[4] = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 2 && strcmp(argv[2], "null") == 0)
        put_into_null(argv[1]);
    else
        use_empty(argv[1], argc > 2, tried);
    if (rank == 0)
        printf("empty: %d, %d, %d, %d\n", tried[0], tried[1], tried[2], tried[3]);
    MPI_Finalize();
    return 0;
}
