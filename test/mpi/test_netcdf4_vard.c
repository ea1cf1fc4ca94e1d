/* vard on netCDF-4 files: values are where the filetype says, in variables of every storage, or the call is refused and
 * nothing has changed. What the file must have is kept in arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../expect.h"

enum { NY = 5, PART = 3, MOST_RANKS = 16, NVARS = 7, RECORDS = 2 };

/* Those with records are the last three; "two" has two unlimited dimensions. */
enum { PLAIN, CHUNKED, DEFLATED, COMPACT, RECORD, OTHER, TWO };

static const char *const names[NVARS] = {"plain", "chunked", "deflated", "compact", "record", "other", "two"};

static char path[4096];
static int nx, mine;
static int values[NVARS][NY * PART * MOST_RANKS]; /* that the file must have; "other" has shorts in it */

/* --- the file --- */

static int count_values(int v)
{
    return v < RECORD ? NY * nx : RECORDS * nx;
}

static void put_all(int ncid)
{
    MPI_Offset start[2] = {0, 0}, count[2] = {RECORDS, nx};

    for (int v = 0; v < NVARS; v++) {
        for (int i = 0; i < count_values(v); i++)
            values[v][i] = 1000 * v + i;
        if (v < RECORD)
            t_local(ncmpi_put_var_int_all(ncid, v, values[v]) == NC_NOERR, "put %s", names[v]);
        else
            t_local(ncmpi_put_vara_int_all(ncid, v, start, count, values[v]) == NC_NOERR, "put %s", names[v]);
    }
}

static int make_file(void)
{
    int ncid, t, u, x, y, dims[2], id;
    MPI_Offset chunks[2] = {2, 4};

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &t);
    ncmpi_def_dim(ncid, "u", NC_UNLIMITED, &u);
    ncmpi_def_dim(ncid, "y", NY, &y);
    ncmpi_def_dim(ncid, "x", nx, &x);
    for (int v = 0; v < NVARS; v++) {
        dims[0] = v < RECORD ? y : t;
        dims[1] = v == TWO ? u : x;
        t_local(ncmpi_def_var(ncid, names[v], v == OTHER ? NC_SHORT : NC_INT, 2, dims, &id) == NC_NOERR && id == v,
                "def_var %s", names[v]);
    }
    chunks[1] = nx < 4 ? nx : 4;
    ncmpi_def_var_chunking(ncid, CHUNKED, NC_CHUNKED, chunks);
    ncmpi_def_var_chunking(ncid, DEFLATED, NC_CHUNKED, chunks);
    ncmpi_def_var_deflate(ncid, DEFLATED, 1, 1, 1);
    ncmpi_def_var_chunking(ncid, COMPACT, NC_COMPACT, NULL);
    ncmpi_def_var_deflate(ncid, RECORD, 1, 1, 1);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    put_all(ncid);
    return ncid;
}

static void check_all(int ncid, const char *what)
{
    static int got[NY * PART * MOST_RANKS];
    MPI_Offset start[2] = {0, 0}, count[2] = {RECORDS, nx}, length = -1;
    int wrong = 0;

    for (int v = 0; v < NVARS; v++) {
        int err = v < RECORD ? ncmpi_get_var_int_all(ncid, v, got) : ncmpi_get_vara_int_all(ncid, v, start, count, got);

        t_local(err == NC_NOERR, "%s: get %s: %s", what, names[v], ncmpi_strerrno(err));
        for (int i = 0; i < count_values(v); i++)
            if (got[i] != values[v][i] && wrong++ == 0)
                t_local(false, "%s: %s[%d] is %d, not %d", what, names[v], i, got[i], values[v][i]);
    }
    ncmpi_inq_dimlen(ncid, 0, &length);
    t_check(wrong == 0 && length == RECORDS, "%s: all values are right, %lld records", what, (long long)length);
}

/* --- filetypes --- */

static MPI_Datatype commit(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

/* This rank's columns of all rows but the first: with holes. */
static MPI_Datatype make_columns(int rows)
{
    MPI_Datatype type;

    MPI_Type_create_subarray(2, (int[]){rows, nx}, (int[]){rows - 1, PART}, (int[]){1, mine}, MPI_ORDER_C, MPI_INT,
                             &type);
    return commit(type);
}

/* Single elements at these displacements. */
static MPI_Datatype make_list(int n, const MPI_Aint *at, MPI_Datatype element)
{
    MPI_Datatype type;

    MPI_Type_create_hindexed_block(n, 1, at, element, &type);
    return commit(type);
}

static int put(int ncid, int v, MPI_Datatype type, const int *from, int n, bool collective)
{
    return collective ? ncmpi_put_vard_all(ncid, v, type, from, n, MPI_INT)
                      : ncmpi_put_vard(ncid, v, type, from, n, MPI_INT);
}

static int get(int ncid, int v, MPI_Datatype type, int *to, int n, bool collective)
{
    return collective ? ncmpi_get_vard_all(ncid, v, type, to, n, MPI_INT)
                      : ncmpi_get_vard(ncid, v, type, to, n, MPI_INT);
}

/* --- what fits --- */

static void note_columns(int v, int generation)
{
    for (int r = 0; r < t_nprocs; r++)
        for (int i = 0; i < (NY - 1) * PART; i++)
            values[v][(1 + i / PART) * nx + r * PART + i % PART] = generation + 100 * r + i;
}

static void test_columns(int ncid, bool collective)
{
    MPI_Datatype type = make_columns(NY);
    int from[(NY - 1) * PART], got[(NY - 1) * PART], n = (NY - 1) * PART;

    if (!collective)
        ncmpi_begin_indep_data(ncid);
    for (int v = 0; v < RECORD; v++) {
        int generation = (collective ? 20000 : 50000) + 5000 * v;

        for (int i = 0; i < n; i++)
            from[i] = generation + 100 * t_rank + i;
        t_local(put(ncid, v, type, from, n, collective) == NC_NOERR, "put %s", names[v]);
        t_local(get(ncid, v, type, got, n, collective) == NC_NOERR, "get %s", names[v]);
        t_local(memcmp(got, from, sizeof got) == 0, "%s: got what was put", names[v]);
        note_columns(v, generation);
    }
    if (!collective)
        ncmpi_end_indep_data(ncid);
    MPI_Type_free(&type);
    check_all(ncid, collective ? "columns" : "columns, independent");
}

/* The first record, of several variables. */
static void test_first_record(int ncid)
{
    MPI_Aint at[2] = {4 * (mine + 2), 4 * mine};
    MPI_Datatype type = make_list(2, at, MPI_INT);
    int from[2] = {70 + t_rank, 80 + t_rank};

    t_local(put(ncid, RECORD, type, from, 2, true) == NC_NOERR, "put");
    for (int r = 0; r < t_nprocs; r++) {
        values[RECORD][r * PART + 2] = 70 + r;
        values[RECORD][r * PART] = 80 + r;
    }
    MPI_Type_free(&type);
    check_all(ncid, "the first record");
}

/* --- what does not fit --- */

static void refuse_type(int ncid, int v, MPI_Datatype type, int n, int code, const char *what)
{
    int from[8] = {-1, -2, -3, -4, -5, -6, -7, -8}, got[8];

    for (int collective = 1; collective >= 0; collective--) {
        int err;

        if (!collective)
            ncmpi_begin_indep_data(ncid);
        err = put(ncid, v, type, from, n, collective);
        t_local(err == code, "put_vard of %s, %s: %s", names[v], what, ncmpi_strerrno(err));
        err = get(ncid, v, type, got, n, collective);
        t_local(err == code, "get_vard of %s, %s: %s", names[v], what, ncmpi_strerrno(err));
        if (!collective)
            ncmpi_end_indep_data(ncid);
    }
    MPI_Type_free(&type);
}

static void test_refusals(int ncid)
{
    int whole = 4 * NY * nx, record = 4 * nx;

    for (int v = 0; v < RECORD; v++) {
        refuse_type(ncid, v, make_list(2, (MPI_Aint[]){0, whole}, MPI_INT), 2, NC_ETYPESIZE, "behind the variable");
        refuse_type(ncid, v, make_list(1, (MPI_Aint[]){1 << 20}, MPI_INT), 1, NC_ETYPESIZE, "far behind it");
        refuse_type(ncid, v, make_list(2, (MPI_Aint[]){4, -4}, MPI_INT), 2, NC_ETYPESIZE, "before it");
        refuse_type(ncid, v, make_list(2, (MPI_Aint[]){0, 4}, MPI_SHORT), 2, NC_ETYPE_MISMATCH, "of shorts");
        refuse_type(ncid, v, make_list(2, (MPI_Aint[]){0, 8}, MPI_DOUBLE), 4, NC_ETYPE_MISMATCH, "of doubles");
        refuse_type(ncid, v, make_list(1, (MPI_Aint[]){6}, MPI_INT), 1, NC_ETYPESIZE, "between elements");
        refuse_type(ncid, v, make_list(2, (MPI_Aint[]){0, 10}, MPI_INT), 2, NC_ETYPESIZE, "partly between elements");
    }
    check_all(ncid, "refused filetypes of fixed-size variables");
    refuse_type(ncid, RECORD, make_list(1, (MPI_Aint[]){-4}, MPI_INT), 1, NC_ETYPESIZE, "before it");
    refuse_type(ncid, RECORD, make_list(1, (MPI_Aint[]){2}, MPI_INT), 1, NC_ETYPESIZE, "between elements");
    refuse_type(ncid, TWO, make_list(1, (MPI_Aint[]){0}, MPI_INT), 1, NC_ETYPESIZE, "with two unlimited dimensions");
    refuse_type(ncid, RECORD, make_list(1, (MPI_Aint[]){record}, MPI_INT), 1, NC_ETYPESIZE, "behind the first record");
    check_all(ncid, "refused filetypes of record variables");
}

/* Records of a program that knows classic files are at the distance that ncmpi_inq_recsize returns. */
static void test_distance(int ncid)
{
    MPI_Offset recsize = 0;
    MPI_Aint at[3];

    expect_ok(ncmpi_inq_recsize(ncid, &recsize), "inq_recsize");
    for (int i = 0; i < 3; i++)
        at[i] = (MPI_Aint)(i * recsize + 4 * mine);
    refuse_type(ncid, RECORD, make_list(3, at, MPI_INT), 3, NC_ETYPESIZE, "over records");
    check_all(ncid, "refused filetypes over records");
}

/* One rank's error leaves the others' values. */
static void test_one_rank(int ncid)
{
    bool fails = t_rank == t_nprocs - 1;
    MPI_Aint at = fails ? 4 * NY * nx : 4 * mine;
    MPI_Datatype type = make_list(1, &at, MPI_INT);
    int from = 900 + t_rank, err = put(ncid, DEFLATED, type, &from, 1, true);

    t_local(err == (fails ? NC_ETYPESIZE : NC_NOERR), "put: %s", ncmpi_strerrno(err));
    for (int r = 0; r < t_nprocs - 1; r++)
        values[DEFLATED][r * PART] = 900 + r;
    MPI_Type_free(&type);
    check_all(ncid, "a filetype of one rank is refused");
}

/* --- files with one record variable --- */

static void test_single(void)
{
    int ncid, t, x, id, from[4] = {40, 30, 20, 10}, got[4] = {0}, one = 0, refused;
    MPI_Offset recsize = 0, n = -1;
    MPI_Aint at[4];
    MPI_Datatype type;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &t);
    ncmpi_def_dim(ncid, "x", nx, &x);
    ncmpi_def_var(ncid, "v", NC_INT, 2, (int[]){t, x}, &id);
    ncmpi_def_var_deflate(ncid, id, 1, 1, 1);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_check(ncmpi_inq_recsize(ncid, &recsize) == NC_NOERR && recsize == 4 * nx, "record size %lld", (long long)recsize);
    for (int i = 0; i < 4; i++)
        at[i] = (MPI_Aint)(i * recsize + 4 * (mine + i % PART));
    type = make_list(4, at, MPI_INT);
    expect_code(get(ncid, id, type, got, 4, true), NC_EINVALCOORDS, "get_vard beyond the records");
    refused = ncmpi_put_vard_all(ncid, id, type, from, 3, MPI_INT);
    ncmpi_inq_dimlen(ncid, t, &n);
    t_check(refused == NC_EIOMISMATCH && n == 0, "a refused put adds no records: %lld", (long long)n);
    expect_ok(put(ncid, id, type, from, 4, true), "put_vard over records");
    t_check(ncmpi_inq_dimlen(ncid, t, &n) == NC_NOERR && n == 4, "4 records, got %lld", (long long)n);
    expect_ok(get(ncid, id, type, got, 4, true), "get_vard over records");
    t_check(memcmp(got, from, sizeof got) == 0, "got what was put");
    expect_ok(ncmpi_get_var1_int_all(ncid, id, (MPI_Offset[]){3, mine}, &one), "get the last");
    t_check(one == 10, "it is 10, got %d", one);
    MPI_Type_free(&type);
    expect_ok(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    int ncid, err;

    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("netcdf4_vard.nc"));
    nx = PART * t_nprocs;
    mine = PART * t_rank;
    err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid);
    if (err == NC_ENOTBUILT) {
        t_skip("the build is without HDF5");
        return t_finish();
    }
    ncmpi_close(ncid);
    ncid = make_file();
    check_all(ncid, "a new file");
    test_columns(ncid, true);
    test_columns(ncid, false);
    test_first_record(ncid);
    test_refusals(ncid);
    test_distance(ncid);
    test_one_rank(ncid);
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open for reading");
    check_all(ncid, "the file");
    expect_ok(ncmpi_close(ncid), "close");
    test_single();
    return t_finish();
}
