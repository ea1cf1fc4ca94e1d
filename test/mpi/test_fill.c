/* Fill values: the default of each type, own values, per variable and per file, new variables after redef, records by
 * fill_var_rec, inq_var_fill. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../expect.h"
#include "../naive.h"

enum { NX = 1003 };

static char path[4096];

static void type_name(char name[24], const char *prefix, int type)
{
    snprintf(name, 24, "%s_%s", prefix, type_names[type]);
}

/* Every element of a fixed variable or of one record must be `wanted`. */
static void check_filled(int ncid, int varid, int type, int record, wide wanted)
{
    enum memory memory = memory_of_type[type];
    char *values = calloc(NX, 8);
    MPI_Offset start[2] = {record, 0}, count[2] = {1, NX};
    int bad = -1, skip = record < 0;
    struct call c = {.collective = true,
                     .shape = VARA,
                     .memory = memory,
                     .start = start + skip,
                     .count = count + skip,
                     .buffer = values};
    int code = call_run(ncid, varid, &c);
    for (int i = 0; i < NX; i++)
        if (!wide_same(naive_load(memory, values + (size_t)i * memory_types[memory].size), wanted))
            bad = i;
    t_local(code == NC_NOERR && bad < 0, "%s, variable %d, element %d: %Lg, expected %Lg (%s)", type_names[type], varid,
            bad, (long double)naive_load(memory, values + (bad < 0 ? 0 : (size_t)bad * memory_types[memory].size)),
            (long double)wanted, ncmpi_strerrno(code));
    free(values);
}

static int create(int types, const int dims[2])
{
    int ncid, id, old;
    char name[24], own[8];
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | (types > 6 ? NC_64BIT_DATA : 0), MPI_INFO_NULL, &ncid) ==
                NC_NOERR,
            "create");
    t_local(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &id) == NC_NOERR && id == dims[0], "def_dim");
    t_local(ncmpi_def_dim(ncid, "x", NX, &id) == NC_NOERR && id == dims[1], "def_dim");
    t_local(ncmpi_set_fill(ncid, NC_FILL, &old) == NC_NOERR, "set_fill");
    for (int type = 1; type <= types; type++) {
        type_name(name, "fixed", type);
        t_local(ncmpi_def_var(ncid, name, type, 1, dims + 1, &id) == NC_NOERR, "def_var");
        type_name(name, "own", type);
        t_local(ncmpi_def_var(ncid, name, type, 1, dims + 1, &id) == NC_NOERR, "def_var");
        naive_store(memory_of_type[type], own, 65);
        t_local(ncmpi_def_var_fill(ncid, id, 0, own) == NC_NOERR, "def_var_fill");
        type_name(name, "record", type);
        t_local(ncmpi_def_var(ncid, name, type, 2, dims, &id) == NC_NOERR, "def_var");
    }
    t_check(ncmpi_enddef(ncid) == NC_NOERR, "define variables of %d types in fill mode", types);
    return ncid;
}

static void check_inquiry(int ncid, int varid, int type, wide wanted)
{
    int no_fill = -1;
    char value[8] = {0};
    int code = ncmpi_inq_var_fill(ncid, varid, &no_fill, value);
    t_local(code == NC_NOERR && no_fill == 0 && wide_same(naive_load(memory_of_type[type], value), wanted),
            "inq_var_fill of variable %d: %s, no_fill %d, value %Lg, expected %Lg", varid, ncmpi_strerrno(code),
            no_fill, (long double)naive_load(memory_of_type[type], value), (long double)wanted);
}

static void test_types(int types)
{
    static const int dims[2] = {0, 1};
    int ncid = create(types, dims);
    for (int type = 1; type <= types; type++) {
        check_filled(ncid, 3 * type - 3, type, -1, kind_of_type[type].fill);
        check_filled(ncid, 3 * type - 2, type, -1, 65);
        check_inquiry(ncid, 3 * type - 3, type, kind_of_type[type].fill);
        check_inquiry(ncid, 3 * type - 2, type, 65);
    }
    t_check(true, "fixed variables of %d types hold the default or their own fill value", types);
    for (int type = 1; type <= types; type++)
        for (int record = 0; record < 3; record += 2)
            t_local(ncmpi_fill_var_rec(ncid, 3 * type - 1, record) == NC_NOERR, "fill_var_rec");
    for (int type = 1; type <= types; type++)
        for (int record = 0; record < 3; record += 2)
            check_filled(ncid, 3 * type - 1, type, record, kind_of_type[type].fill);
    MPI_Offset n = 0;
    t_local(ncmpi_inq_dimlen(ncid, 0, &n) == NC_NOERR && n == 3, "%lld records", (long long)n);
    t_check(true, "fill_var_rec fills a record of each type");
    t_check(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* What was there stays; only new variables are filled when the define mode ends a second time. */
static void test_redef(void)
{
    static const int dims[2] = {0, 1};
    int ncid = create(6, dims), id, record, plain, old;
    int *values = malloc(NX * sizeof *values);
    for (int i = 0; i < NX; i++)
        values[i] = i;
    t_local(ncmpi_put_var_int_all(ncid, 3 * NC_INT - 3, values) == NC_NOERR, "put");
    for (MPI_Offset r = 0; r < 2; r++)
        t_local(ncmpi_fill_var_rec(ncid, 3 * NC_INT - 1, r) == NC_NOERR, "fill_var_rec");
    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    t_local(ncmpi_set_fill(ncid, NC_FILL, &old) == NC_NOERR, "set_fill");
    t_local(ncmpi_def_var(ncid, "late", NC_DOUBLE, 1, dims + 1, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "late_record", NC_SHORT, 2, dims, &record) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "plain", NC_SHORT, 1, dims + 1, &plain) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var_fill(ncid, plain, 1, NULL) == NC_NOERR, "def_var_fill off");
    t_check(ncmpi_enddef(ncid) == NC_NOERR, "add variables to a file with data");
    check_filled(ncid, id, NC_DOUBLE, -1, NC_FILL_DOUBLE);
    check_filled(ncid, record, NC_SHORT, 0, NC_FILL_SHORT);
    check_filled(ncid, record, NC_SHORT, 1, NC_FILL_SHORT);
    t_check(true, "a new fixed variable is filled, and a new record variable in the records that exist");
    memset(values, 0, NX * sizeof *values);
    t_local(ncmpi_get_var_int_all(ncid, 3 * NC_INT - 3, values) == NC_NOERR, "get");
    for (int i = 0; i < NX; i++)
        t_local(values[i] == i, "element %d became %d", i, values[i]);
    t_check(true, "old data are not filled again");
    int no_fill = -1;
    t_check(ncmpi_inq_var_fill(ncid, plain, &no_fill, NULL) == NC_NOERR && no_fill == 1,
            "inq_var_fill: fill is off (%d)", no_fill);
    t_check(ncmpi_close(ncid) == NC_NOERR, "close");
    free(values);
}

/* Writing the attribute _FillValue sets the fill value as def_var_fill does. */
static void test_attribute(void)
{
    int ncid, id, dim, no_fill;
    short own = -7, got = 0;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "x", NX, &dim) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_SHORT, 1, &dim, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var_fill(ncid, id, 0, NULL) == NC_NOERR, "def_var_fill");
    expect_ok(ncmpi_put_att_short(ncid, id, "_FillValue", NC_SHORT, 1, &own), "put _FillValue");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    check_filled(ncid, id, NC_SHORT, -1, own);
    t_check(true, "the variable is filled with it");
    t_check(ncmpi_inq_var_fill(ncid, id, &no_fill, &got) == NC_NOERR && got == own && no_fill == 0, "inq_var_fill: %d",
            got);
    expect_code(ncmpi_put_var_int_all(ncid, id, (int[NX]){100000, 1}), NC_ERANGE, "put a value out of range");
    t_local(ncmpi_get_var1_short_all(ncid, id, (MPI_Offset[]){0}, &got) == NC_NOERR, "get");
    t_check(got == own, "it is stored as the variable's own fill value (%d)", got);
    t_check(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* An attribute's values that do not fit become the fill value of its type, whatever the variable's own is. */
static void test_attribute_range(void)
{
    int ncid, var, value = 7, big = 1000;
    signed char got = 0;
    t_local(ncmpi_create(MPI_COMM_WORLD, t_path("range.nc"), NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_var(ncid, "v", NC_BYTE, 0, NULL, &var) == NC_NOERR, "def_var");
    t_local(ncmpi_put_att_int(ncid, var, "_FillValue", NC_BYTE, 1, &value) == NC_NOERR, "_FillValue 7");
    expect_code(ncmpi_put_att_int(ncid, var, "most", NC_BYTE, 1, &big), NC_ERANGE, "attribute of 1000 as NC_BYTE");
    t_check(ncmpi_get_att_schar(ncid, var, "most", &got) == NC_NOERR && got == NC_FILL_BYTE, "it is NC_FILL_BYTE (%d)",
            got);
    expect_ok(ncmpi_close(ncid), "close");
}

/* Without fill mode, _FillValue alone makes fill_var_rec succeed; inq_var_fill still returns that filling is off. */
static void test_attribute_alone(void)
{
    int ncid, dims[2], with, without, no_fill = -1;
    short own = -7;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_dim(ncid, "x", NX, &dims[1]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "with", NC_SHORT, 2, dims, &with) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "without", NC_SHORT, 2, dims, &without) == NC_NOERR, "def_var");
    expect_ok(ncmpi_put_att_short(ncid, with, "_FillValue", NC_SHORT, 1, &own), "put _FillValue");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    t_check(ncmpi_inq_var_fill(ncid, with, &no_fill, NULL) == NC_NOERR && no_fill == 1, "inq_var_fill: off");
    expect_ok(ncmpi_fill_var_rec(ncid, with, 1), "fill_var_rec of a variable with _FillValue");
    expect_code(ncmpi_fill_var_rec(ncid, without, 1), NC_ENOTFILL, "fill_var_rec of a variable without");
    check_filled(ncid, with, NC_SHORT, 1, own);
    t_check(true, "the record is filled with it");
    t_check(ncmpi_close(ncid) == NC_NOERR, "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("fill.nc"));
    test_types(6);
    test_types(11);
    test_redef();
    test_attribute();
    test_attribute_alone();
    test_attribute_range();
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
