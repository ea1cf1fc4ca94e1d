/* The error code of every wrong call that concerns definitions, attributes, modes and blocking access, and the order of
 * precedence if there are several errors. All ranks make the same mistake; test_collective_errors.c has the other case.
 * */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../expect.h"

enum { NX = 5, NY = 4 };

/* A file in define mode with t (unlimited), y, x and the variables below; ids are the same in every test. */
enum { DIM_T, DIM_Y, DIM_X };
enum { FIXED, RECORD, TEXT, BYTES, SCALAR, REALS };

static char path[4096];

static int create(int cmode)
{
    int ncid = -1, dims[3], id;
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, MPI_INFO_NULL, &ncid), "create");
    t_local(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[DIM_T]) == NC_NOERR, "def_dim t");
    t_local(ncmpi_def_dim(ncid, "y", NY, &dims[DIM_Y]) == NC_NOERR, "def_dim y");
    t_local(ncmpi_def_dim(ncid, "x", NX, &dims[DIM_X]) == NC_NOERR, "def_dim x");
    t_local(ncmpi_def_var(ncid, "fixed", NC_INT, 2, dims + 1, &id) == NC_NOERR && id == FIXED, "def_var fixed");
    t_local(ncmpi_def_var(ncid, "record", NC_INT, 2, (int[]){DIM_T, DIM_X}, &id) == NC_NOERR, "def_var record");
    t_local(ncmpi_def_var(ncid, "text", NC_CHAR, 1, dims + 2, &id) == NC_NOERR && id == TEXT, "def_var text");
    t_local(ncmpi_def_var(ncid, "bytes", NC_BYTE, 1, dims + 2, &id) == NC_NOERR && id == BYTES, "def_var bytes");
    t_local(ncmpi_def_var(ncid, "scalar", NC_INT, 0, NULL, &id) == NC_NOERR && id == SCALAR, "def_var scalar");
    t_local(ncmpi_def_var(ncid, "reals", NC_FLOAT, 1, dims + 1, &id) == NC_NOERR && id == REALS, "def_var reals");
    return ncid;
}

static void test_definitions(void)
{
    int ncid = create(0), id;
    expect_code(ncmpi_def_dim(ncid, "t2", NC_UNLIMITED, &id), NC_EUNLIMIT, "second unlimited dimension");
    expect_code(ncmpi_def_dim(ncid, "x", 3, &id), NC_ENAMEINUSE, "def_dim: name in use");
    expect_code(ncmpi_def_dim(ncid, NULL, 3, &id), NC_EBADNAME, "def_dim: name NULL");
    expect_code(ncmpi_def_dim(ncid, "", 3, &id), NC_EBADNAME, "def_dim: empty name");
    expect_code(ncmpi_def_dim(ncid, "a/b", 3, &id), NC_EBADNAME, "def_dim: slash in name");
    expect_code(ncmpi_def_dim(ncid, "a/b", -3, &id), NC_EBADNAME, "def_dim: bad name outranks bad size");
    expect_code(ncmpi_def_dim(ncid, "neg", -3, &id), NC_EDIMSIZE, "def_dim: negative length");
    expect_code(ncmpi_def_dim(ncid + 77, "a/b", -3, &id), NC_EBADID, "def_dim: bad ncid outranks all");
    expect_code(ncmpi_def_var(ncid, "v", NC_INT, 2, (int[]){DIM_X, DIM_T}, &id), NC_EUNLIMPOS,
                "def_var: unlimited dimension not first");
    expect_code(ncmpi_def_var(ncid, "v", NC_INT, 1, (int[]){99}, &id), NC_EBADDIM, "def_var: unknown dimension");
    expect_code(ncmpi_def_var(ncid, "v", NC_INT, 1, (int[]){-1}, &id), NC_EBADDIM, "def_var: negative dimension");
    expect_code(ncmpi_def_var(ncid, "fixed", NC_INT, 0, NULL, &id), NC_ENAMEINUSE, "def_var: name in use");
    expect_code(ncmpi_def_var(ncid, "v", 99, 0, NULL, &id), NC_EBADTYPE, "def_var: no such type");
    expect_code(ncmpi_def_var(ncid, "v", NC_NAT, 0, NULL, &id), NC_EBADTYPE, "def_var: NC_NAT");
    expect_code(ncmpi_def_var(ncid, "v", NC_INT64, 0, NULL, &id), NC_ESTRICTCDF2, "def_var: CDF-5 type in CDF-1");
    expect_code(ncmpi_def_var(ncid, "v", NC_INT, -1, NULL, &id), NC_EINVAL, "def_var: negative number of dimensions");
    expect_code(ncmpi_def_var(ncid, NULL, 99, 0, NULL, &id), NC_EBADNAME, "def_var: bad name outranks bad type");
    expect_code(ncmpi_def_var(ncid, "v", 99, 1, (int[]){99}, &id), NC_EBADTYPE,
                "def_var: bad type outranks bad dimension");
    expect_code(ncmpi_def_var(ncid, "fixed", NC_INT, 1, (int[]){99}, &id), NC_EBADDIM,
                "def_var: bad dimension outranks name in use");
    expect_code(ncmpi_def_var(ncid + 77, NULL, 99, 0, NULL, &id), NC_EBADID, "def_var: bad ncid outranks all");
    expect_code(ncmpi_rename_dim(ncid, DIM_X, "y"), NC_ENAMEINUSE, "rename_dim: name in use");
    expect_code(ncmpi_rename_dim(ncid, 9, "z"), NC_EBADDIM, "rename_dim: unknown dimension");
    expect_code(ncmpi_rename_dim(ncid, DIM_X, NULL), NC_EBADNAME, "rename_dim: name NULL");
    expect_code(ncmpi_rename_var(ncid, FIXED, "record"), NC_ENAMEINUSE, "rename_var: name in use");
    expect_code(ncmpi_rename_var(ncid, 99, "z"), NC_ENOTVAR, "rename_var: unknown variable");
    expect_code(ncmpi_rename_var(ncid, FIXED, ""), NC_EBADNAME, "rename_var: empty name");
    expect_ok(ncmpi_close(ncid), "close in define mode");
}

static void test_attributes(void)
{
    int ncid = create(0), value[2] = {300, 1};
    char name[NC_MAX_NAME + 40];
    memset(name, 'n', sizeof name);
    name[NC_MAX_NAME + 1] = '\0';
    expect_code(ncmpi_put_att_int(ncid, 99, "a", NC_INT, 1, value), NC_ENOTVAR, "put_att: unknown variable");
    expect_code(ncmpi_put_att_int(ncid, NC_GLOBAL, NULL, NC_INT, 1, value), NC_EBADNAME, "put_att: name NULL");
    expect_code(ncmpi_put_att_int(ncid, NC_GLOBAL, "", NC_INT, 1, value), NC_EBADNAME, "put_att: empty name");
    expect_code(ncmpi_put_att_int(ncid, NC_GLOBAL, name, NC_INT, 1, value), NC_EMAXNAME, "put_att: name too long");
    expect_code(ncmpi_put_att_int(ncid, NC_GLOBAL, "a", 99, 1, value), NC_EBADTYPE, "put_att: no such type");
    expect_code(ncmpi_put_att_int(ncid, NC_GLOBAL, "a", NC_INT64, 1, value), NC_ESTRICTCDF2,
                "put_att: CDF-5 type in CDF-1");
    expect_code(ncmpi_put_att_int(ncid, NC_GLOBAL, "a", NC_CHAR, 1, value), NC_ECHAR, "put_att: numbers as text");
    expect_code(ncmpi_put_att_int(ncid, NC_GLOBAL, "a", NC_INT, -1, value), NC_EINVAL, "put_att: negative length");
    expect_code(ncmpi_put_att_int(ncid, NC_GLOBAL, "a", NC_INT, 1, NULL), NC_EINVAL, "put_att: NULL values");
    expect_ok(ncmpi_put_att_int(ncid, NC_GLOBAL, "empty", NC_INT, 0, NULL), "put_att: NULL values of length 0");
    expect_code(ncmpi_put_att_int(ncid, NC_GLOBAL, "a", NC_BYTE, 2, value), NC_ERANGE, "put_att: 300 as NC_BYTE");
    expect_code(ncmpi_put_att_int(ncid + 77, 99, NULL, 99, -1, NULL), NC_EBADID, "put_att: bad ncid outranks all");
    expect_code(ncmpi_put_att_int(ncid, 99, NULL, 99, -1, NULL), NC_ENOTVAR, "put_att: bad variable outranks the rest");
    expect_code(ncmpi_put_att_int(ncid, FIXED, NULL, 99, -1, NULL), NC_EBADNAME, "put_att: bad name outranks the rest");
    expect_code(ncmpi_put_att_int(ncid, FIXED, "a", 99, -1, NULL), NC_EBADTYPE, "put_att: bad type outranks the rest");
    expect_code(ncmpi_put_att_int(ncid, FIXED, "a", NC_CHAR, -1, NULL), NC_ECHAR, "put_att: ECHAR outranks EINVAL");
    expect_code(ncmpi_get_att_int(ncid + 77, 99, NULL, value), NC_EBADID, "get_att: bad ncid outranks all");
    expect_code(ncmpi_get_att_int(ncid, 99, NULL, NULL), NC_ENOTVAR, "get_att: bad variable outranks the rest");
    expect_code(ncmpi_get_att_int(ncid, FIXED, NULL, NULL), NC_EBADNAME, "get_att: bad name outranks the rest");
    expect_code(ncmpi_get_att_int(ncid, FIXED, "missing", value), NC_ENOTATT, "get_att: no such attribute");
    t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "hello") == NC_NOERR, "put_att_text");
    expect_code(ncmpi_get_att_int(ncid, NC_GLOBAL, "title", NULL), NC_ECHAR, "get_att: ECHAR outranks a NULL buffer");
    expect_code(ncmpi_get_att_text(ncid, NC_GLOBAL, "title", NULL), NC_EINVAL, "get_att: NULL buffer");
    t_local(ncmpi_put_att_int(ncid, NC_GLOBAL, "number", NC_INT, 1, (int[]){1000}) == NC_NOERR, "put_att_int");
    expect_code(ncmpi_get_att_schar(ncid, NC_GLOBAL, "number", (signed char *)value), NC_ERANGE,
                "get_att: 1000 as schar");
    expect_code(ncmpi_del_att(ncid, 99, NULL), NC_ENOTVAR, "del_att: all bad");
    expect_code(ncmpi_del_att(ncid, FIXED, NULL), NC_EBADNAME, "del_att: name NULL");
    expect_code(ncmpi_del_att(ncid, FIXED, "missing"), NC_ENOTATT, "del_att: no such attribute");
    expect_code(ncmpi_del_att(ncid + 77, 99, NULL), NC_EBADID, "del_att: bad ncid");
    expect_code(ncmpi_rename_att(ncid, NC_GLOBAL, "missing", "b"), NC_ENOTATT, "rename_att: no such attribute");
    expect_code(ncmpi_rename_att(ncid, NC_GLOBAL, "title", "number"), NC_ENAMEINUSE, "rename_att: name in use");
    expect_code(ncmpi_copy_att(ncid, NC_GLOBAL, "missing", ncid, FIXED), NC_ENOTATT, "copy_att: no such attribute");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_code(ncmpi_put_att_int(ncid, FIXED, "new", NC_INT, 1, value), NC_ENOTINDEFINE, "put_att: new in data mode");
    expect_code(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 9, "too large"), NC_ENOTINDEFINE,
                "put_att: grows in data mode");
    expect_ok(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "HELLO"), "put_att: same size in data mode");
    expect_code(ncmpi_del_att(ncid, NC_GLOBAL, "title"), NC_ENOTINDEFINE, "del_att in data mode");
    expect_code(ncmpi_rename_var(ncid, FIXED, "longer_than_fixed"), NC_ENOTINDEFINE, "rename_var: longer in data mode");
    expect_ok(ncmpi_rename_var(ncid, FIXED, "FIXED"), "rename_var: same length in data mode");
    expect_code(ncmpi_rename_dim(ncid, DIM_X, "y"), NC_ENAMEINUSE, "rename_dim: name in use in data mode");
    expect_ok(ncmpi_close(ncid), "close");
}

/* The order of checks that was observed in PnetCDF 1.12. */
static void test_names(void)
{
    int ncid = create(0), value[2] = {300, 1};
    char name[NC_MAX_NAME + 2];
    memset(name, 'n', sizeof name - 1);
    name[NC_MAX_NAME + 1] = '\0';
    expect_code(ncmpi_get_att_int(ncid, FIXED, "\xff", value), NC_EBADNAME, "get_att: no UTF-8");
    expect_code(ncmpi_get_att_int(ncid, FIXED, name, value), NC_EMAXNAME, "get_att: a name too long");
    expect_code(ncmpi_inq_varid(ncid, name, value), NC_EMAXNAME, "inq_varid: a name too long");
    expect_code(ncmpi_inq_dimid(ncid, "\xff", value), NC_EBADNAME, "inq_dimid: no UTF-8");
    expect_code(ncmpi_rename_dim(ncid, 99, "bad/name"), NC_EBADNAME, "rename_dim: a bad name outranks a bad id");
    expect_code(ncmpi_rename_var(ncid, 99, "bad/name"), NC_ENOTVAR, "rename_var: a bad id outranks a bad name");
    expect_code(ncmpi_rename_att(ncid, FIXED, "missing", "bad/name"), NC_EBADNAME, "rename_att: a bad new name");
    expect_code(ncmpi_copy_att(ncid, FIXED, "missing", ncid, 99), NC_ENOTVAR, "copy_att: bad target outranks the name");
    t_local(ncmpi_rename_dim(ncid, DIM_Y, "longer_than_x") == NC_NOERR, "rename_dim");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_code(ncmpi_rename_dim(ncid, DIM_X, "longer_than_x"), NC_ENAMEINUSE,
                "rename_dim in data mode: a name in use outranks a longer one");
    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    for (int n = 0; n < 20; n++) { /* short and long lists of attributes */
        char other[24];
        snprintf(other, sizeof other, "attribute%d", n);
        t_local(ncmpi_put_att_int(ncid, FIXED, n == 0 ? "a" : other, NC_INT, 1, value) == NC_NOERR, "put_att");
        if (n != 1 && n < 14)
            continue;
        t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
        expect_code(ncmpi_rename_att(ncid, FIXED, "a", other), NC_ENAMEINUSE,
                    "rename_att in data mode: a name in use outranks a longer one");
        expect_code(ncmpi_rename_att(ncid, FIXED, "a", "another"), NC_ENOTINDEFINE, "rename_att: longer in data mode");
        t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    }
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    expect_ok(ncmpi_close(ncid), "close");
}

/* A foreign file may hold a name that is not in NFC: "e" and a combining accent, 3 bytes, are 2 bytes in NFC. */
static void test_foreign_name(void)
{
    static const char foreign[] = "e\xcc\x81";
    int ncid = -1, dim = -1;
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    expect_ok(ncmpi_def_dim(ncid, "a", 1, &dim), "def_dim");
    expect_ok(ncmpi_def_dim(ncid, "Q#Q", 2, &dim), "def_dim");
    expect_ok(ncmpi_close(ncid), "close");
    if (t_rank == 0) {
        FILE *file = fopen(path, "r+");
        char bytes[64];
        size_t n = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file), at = 0;
        while (at + 3 < n && memcmp(bytes + at, "Q#Q", 3) != 0)
            at++;
        if (t_local(at + 3 < n, "the name is in the file")) {
            fseek(file, (long)at, SEEK_SET);
            fwrite(foreign, 1, 3, file);
        }
        if (file != NULL)
            fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open");
    expect_code(ncmpi_rename_dim(ncid, 0, foreign), NC_ENOTINDEFINE,
                "rename_dim in data mode: in NFC it is new, and longer");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_fill(void)
{
    int ncid = create(0), old = -1, ivalue[2] = {7, 8};
    double dvalue = 7;
    expect_ok(ncmpi_set_fill(ncid, NC_FILL, &old), "set_fill");
    t_check(old == NC_NOFILL, "the old fill mode was NC_NOFILL (got %d)", old);
    expect_code(ncmpi_set_fill(ncid, 12345, &old), NC_EINVAL, "set_fill: no such mode");
    expect_ok(ncmpi_set_fill(ncid, NC_NOFILL, &old), "set_fill back");
    t_check(old == NC_FILL, "the old fill mode was NC_FILL (got %d)", old);
    expect_code(ncmpi_def_var_fill(ncid, NC_GLOBAL, 0, NULL), NC_EGLOBAL, "def_var_fill: NC_GLOBAL");
    expect_code(ncmpi_def_var_fill(ncid, 99, 0, NULL), NC_ENOTVAR, "def_var_fill: unknown variable");
    expect_code(ncmpi_put_att_double(ncid, FIXED, "_FillValue", NC_DOUBLE, 1, &dvalue), NC_EBADTYPE,
                "_FillValue: wrong type");
    expect_code(ncmpi_put_att_int(ncid, FIXED, "_FillValue", NC_INT, 2, ivalue), NC_EINVAL, "_FillValue: length 2");
    expect_code(ncmpi_put_att_int(ncid, FIXED, "_FillValue", NC_INT, 0, ivalue), NC_EINVAL, "_FillValue: length 0");
    expect_ok(ncmpi_put_att_int(ncid, NC_GLOBAL, "_FillValue", NC_INT, 1, ivalue), "_FillValue: global");
    expect_code(ncmpi_fill_var_rec(ncid, RECORD, 0), NC_EINDEFINE, "fill_var_rec in define mode");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_code(ncmpi_fill_var_rec(ncid, FIXED, 0), NC_ENOTRECVAR, "fill_var_rec: fixed variable");
    expect_code(ncmpi_fill_var_rec(ncid, RECORD, 0), NC_ENOTFILL, "fill_var_rec: fill mode off");
    expect_code(ncmpi_fill_var_rec(ncid, 99, 0), NC_ENOTVAR, "fill_var_rec: unknown variable");
    expect_code(ncmpi_def_var_fill(ncid, FIXED, 0, ivalue), NC_ENOTINDEFINE, "def_var_fill in data mode");
    expect_code(ncmpi_set_fill(ncid, NC_FILL, &old), NC_ENOTINDEFINE, "set_fill in data mode");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    expect_code(ncmpi_fill_var_rec(ncid, RECORD, 0), NC_EINDEP, "fill_var_rec in independent mode");
    expect_ok(ncmpi_redef(ncid), "redef in independent mode");
    expect_ok(ncmpi_def_var_fill(ncid, FIXED, 0, NULL), "def_var_fill(0, NULL) on an old variable");
    expect_code(ncmpi_def_var_fill(ncid, RECORD, 0, ivalue), NC_ELATEFILL,
                "def_var_fill with a value on an old variable");
    expect_code(ncmpi_put_att_int(ncid, FIXED, "_FillValue", NC_INT, 1, ivalue), NC_ELATEFILL,
                "_FillValue on an old variable");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_modes(void)
{
    int ncid = create(0), values[NY * NX] = {0};
    MPI_Offset start[2] = {0, 0}, count[2] = {1, 1};
    expect_code(ncmpi_redef(ncid), NC_EINDEFINE, "redef in define mode");
    expect_code(ncmpi_begin_indep_data(ncid), NC_EINDEFINE, "begin_indep_data in define mode");
    expect_code(ncmpi_sync(ncid), NC_EINDEFINE, "sync in define mode");
    expect_code(ncmpi_sync_numrecs(ncid), NC_EINDEFINE, "sync_numrecs in define mode");
    expect_code(ncmpi_put_vara_int_all(ncid, FIXED, start, count, values), NC_EINDEFINE, "put in define mode");
    expect_code(ncmpi_get_vara_int_all(ncid, FIXED, start, count, values), NC_EINDEFINE, "get in define mode");
    expect_code(ncmpi_put_vara_int_all(ncid, 99, NULL, NULL, values), NC_EINDEFINE,
                "put: define mode outranks arguments");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_code(ncmpi_enddef(ncid), NC_ENOTINDEFINE, "enddef in data mode");
    expect_code(ncmpi__enddef(ncid, 0, 0, 0, 0), NC_ENOTINDEFINE, "_enddef in data mode");
    expect_code(ncmpi_def_dim(ncid, "", -1, values), NC_ENOTINDEFINE, "def_dim in data mode outranks its arguments");
    expect_code(ncmpi_def_var(ncid, "", 99, 0, NULL, values), NC_ENOTINDEFINE,
                "def_var in data mode outranks its arguments");
    expect_code(ncmpi_put_vara_int(ncid, FIXED, start, count, values), NC_ENOTINDEP,
                "independent put in collective mode");
    expect_code(ncmpi_get_vara_int(ncid, FIXED, start, count, values), NC_ENOTINDEP,
                "independent get in collective mode");
    expect_code(ncmpi_put_vara_int(ncid, 99, NULL, NULL, values), NC_ENOTINDEP, "put: ENOTINDEP outranks arguments");
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data in collective mode");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data again");
    expect_code(ncmpi_put_vara_int_all(ncid, FIXED, start, count, values), NC_EINDEP,
                "collective put in independent mode");
    expect_code(ncmpi_get_vara_int_all(ncid, FIXED, start, count, values), NC_EINDEP,
                "collective get in independent mode");
    expect_code(ncmpi_put_vara_int_all(ncid, 99, NULL, NULL, values), NC_EINDEP, "put: EINDEP outranks arguments");
    expect_ok(ncmpi_rename_var(ncid, FIXED, "FIXED"), "rename_var: same length in independent mode");
    expect_ok(ncmpi_redef(ncid), "redef in independent mode");
    expect_ok(ncmpi_enddef(ncid), "enddef after redef");
    expect_ok(ncmpi_put_vara_int_all(ncid, FIXED, start, count, values), "collective put after redef and enddef");
    expect_ok(ncmpi_close(ncid), "close");
    expect_code(ncmpi_close(ncid), NC_EBADID, "close again");
}

/* sync, sync_numrecs and flush keep the data mode they are called in. */
static void test_sync_keeps_mode(void)
{
    static const struct {
        const char *name;
        int (*call)(int ncid);
    } rows[] = {{"sync", ncmpi_sync}, {"sync_numrecs", ncmpi_sync_numrecs}, {"flush", ncmpi_flush}};
    int ncid = create(0), value, got;
    MPI_Offset start[2] = {0, 0}, count[2] = {1, 1};

    expect_ok(ncmpi_enddef(ncid), "enddef");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        start[0] = t_rank;
        value = 100 * (int)i + t_rank;
        got = -1;
        expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
        expect_ok(ncmpi_put_vara_int(ncid, RECORD, start, count, &value), "independent put");
        t_check(rows[i].call(ncid) == NC_NOERR, "%s in independent mode", rows[i].name);
        t_check(ncmpi_get_vara_int_all(ncid, RECORD, start, count, &got) == NC_EINDEP,
                "collective get after %s in independent mode: NC_EINDEP", rows[i].name);
        t_check(ncmpi_get_vara_int(ncid, RECORD, start, count, &got) == NC_NOERR && got == value,
                "independent get after %s in independent mode: %d (expected %d)", rows[i].name, got, value);
        expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
        t_check(rows[i].call(ncid) == NC_NOERR, "%s in collective mode", rows[i].name);
        t_check(ncmpi_get_vara_int(ncid, RECORD, start, count, &got) == NC_ENOTINDEP,
                "independent get after %s in collective mode: NC_ENOTINDEP", rows[i].name);
    }
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    expect_ok(ncmpi_close(ncid), "close in independent mode");
}

/* A file that was opened for reading can be synchronised as well, in either mode. */
static void test_sync_read_only(int ncid)
{
    MPI_Offset start[2] = {0, 0}, count[2] = {1, 1};
    int got;

    expect_ok(ncmpi_sync(ncid), "sync of a read-only file");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    expect_ok(ncmpi_sync(ncid), "sync of a read-only file in independent mode");
    expect_ok(ncmpi_get_vara_int(ncid, FIXED, start, count, &got), "independent get after it");
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
}

static void test_read_only(void)
{
    int ncid, values[NY * NX] = {0}, id;
    MPI_Offset start[2] = {0, 0}, count[2] = {1, 1};
    ncid = create(0);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open for reading");
    test_sync_read_only(ncid);
    expect_code(ncmpi_redef(ncid), NC_EPERM, "redef of a read-only file");
    expect_code(ncmpi_put_vara_int_all(ncid, FIXED, start, count, values), NC_EPERM, "put to a read-only file");
    expect_code(ncmpi_put_vara_int_all(ncid, 99, NULL, NULL, NULL), NC_EPERM, "put: EPERM outranks arguments");
    expect_code(ncmpi_put_att_int(ncid, 99, NULL, 99, -1, NULL), NC_EPERM, "put_att to a read-only file, bad variable");
    expect_code(ncmpi_enddef(ncid), NC_ENOTINDEFINE, "enddef of a read-only file");
    expect_code(ncmpi_def_dim(ncid, NULL, -1, &id), NC_EPERM, "def_dim in a read-only file");
    expect_code(ncmpi_def_var(ncid, NULL, 99, -1, NULL, &id), NC_EPERM, "def_var in a read-only file");
    expect_code(ncmpi_del_att(ncid, FIXED, "a"), NC_EPERM, "del_att in a read-only file");
    expect_code(ncmpi_rename_var(ncid, FIXED, "a"), NC_EPERM, "rename_var in a read-only file");
    expect_code(ncmpi_fill_var_rec(ncid, RECORD, 0), NC_EPERM, "fill_var_rec in a read-only file");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data in a read-only file");
    expect_ok(ncmpi_abort(ncid), "abort");
    expect_code(ncmpi_abort(ncid), NC_EBADID, "abort again");
}

/* Wrong selections, the same for a put and a get of the fixed variable. */
static void test_selections(int ncid, bool put)
{
    static const struct {
        const char *text;
        MPI_Offset start[2], count[2], stride[2];
        int code;
    } rows[] = {
        {"negative start", {-1, 0}, {1, 1}, {1, 1}, NC_EINVALCOORDS},
        {"start at the length, count 1", {0, NX}, {1, 1}, {1, 1}, NC_EINVALCOORDS},
        {"start at the length, count 0", {0, NX}, {1, 0}, {1, 1}, NC_NOERR},
        {"start beyond the length, count 0", {0, NX + 1}, {1, 0}, {1, 1}, NC_EINVALCOORDS},
        {"count too large", {0, 1}, {1, NX}, {1, 1}, NC_EEDGE},
        {"count negative", {0, 0}, {1, -1}, {1, 1}, NC_ENEGATIVECNT},
        {"stride 0", {0, 0}, {1, 2}, {1, 0}, NC_ESTRIDE},
        {"stride negative", {0, 0}, {1, 2}, {1, -1}, NC_ESTRIDE},
        {"strided count too large", {0, 0}, {1, 3}, {1, 3}, NC_EEDGE},
        {"strided count just fits", {0, 0}, {1, 3}, {1, 2}, NC_NOERR},
        {"start outranks count", {9, 0}, {1, NX + 1}, {1, 1}, NC_EINVALCOORDS},
        {"count outranks stride", {0, 0}, {1, NX + 1}, {1, 0}, NC_EEDGE},
        {"start near overflow", {INT64_MAX, 0}, {1, 1}, {1, 1}, NC_EINVALCOORDS},
        {"count near overflow", {0, 1}, {1, INT64_MAX}, {1, 1}, NC_EEDGE},
        {"stride near overflow", {0, 0}, {1, 3}, {1, INT64_MAX}, NC_EEDGE},
    };
    int values[NY * NX] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[80];
        const MPI_Offset *start = rows[i].start, *count = rows[i].count, *stride = rows[i].stride;
        snprintf(text, sizeof text, "%s vars: %s", put ? "put" : "get", rows[i].text);
        expect_code(put ? ncmpi_put_vars_int_all(ncid, FIXED, start, count, stride, values)
                        : ncmpi_get_vars_int_all(ncid, FIXED, start, count, stride, values),
                    rows[i].code, text);
        if (stride[0] != 1 || stride[1] != 1)
            continue;
        snprintf(text, sizeof text, "%s vara: %s", put ? "put" : "get", rows[i].text);
        expect_code(put ? ncmpi_put_vara_int_all(ncid, FIXED, start, count, values)
                        : ncmpi_get_vara_int_all(ncid, FIXED, start, count, values),
                    rows[i].code, text);
    }
}

static void test_null_arguments(int ncid)
{
    MPI_Offset start[2] = {0, 0}, count[2] = {NY, NX}, imap[2] = {NX, 1};
    int v[NY * NX] = {0};
    expect_code(ncmpi_put_var1_int_all(ncid, FIXED, NULL, v), NC_EINVALCOORDS, "put_var1: start NULL");
    expect_code(ncmpi_put_vara_int_all(ncid, FIXED, NULL, count, v), NC_EINVALCOORDS, "put_vara: start NULL");
    expect_code(ncmpi_put_vars_int_all(ncid, FIXED, NULL, count, NULL, v), NC_EINVALCOORDS, "put_vars: start NULL");
    expect_code(ncmpi_put_varm_int_all(ncid, FIXED, NULL, count, NULL, imap, v), NC_EINVALCOORDS,
                "put_varm: start NULL");
    expect_code(ncmpi_put_vara_int_all(ncid, FIXED, start, NULL, v), NC_EEDGE, "put_vara: count NULL");
    expect_code(ncmpi_put_vars_int_all(ncid, FIXED, start, NULL, NULL, v), NC_EEDGE, "put_vars: count NULL");
    expect_code(ncmpi_put_varm_int_all(ncid, FIXED, start, NULL, NULL, imap, v), NC_EEDGE, "put_varm: count NULL");
    expect_code(ncmpi_get_vara_int_all(ncid, FIXED, NULL, NULL, v), NC_EINVALCOORDS,
                "get_vara: start outranks count NULL");
    expect_ok(ncmpi_put_vars_int_all(ncid, FIXED, start, count, NULL, v), "put_vars: stride NULL");
    expect_ok(ncmpi_put_varm_int_all(ncid, FIXED, start, count, NULL, NULL, v), "put_varm: stride and imap NULL");
    expect_ok(ncmpi_get_varm_int_all(ncid, FIXED, start, count, NULL, imap, v), "get_varm: stride NULL");
    expect_ok(ncmpi_put_var1_int_all(ncid, SCALAR, NULL, v), "put_var1 of a scalar: start NULL");
    expect_ok(ncmpi_get_vara_int_all(ncid, SCALAR, NULL, NULL, v), "get_vara of a scalar: start and count NULL");
    expect_ok(ncmpi_inq(ncid, NULL, NULL, NULL, NULL), "inq: every output NULL");
    expect_ok(ncmpi_inq_var(ncid, FIXED, NULL, NULL, NULL, NULL, NULL), "inq_var: every output NULL");
    expect_ok(ncmpi_inq_dim(ncid, DIM_X, NULL, NULL), "inq_dim: every output NULL");
    expect_code(ncmpi_put_vara_int_all(ncid, FIXED, start, count, NULL), NC_EINVAL, "put_vara: buffer NULL");
    expect_code(ncmpi_get_vara_int_all(ncid, FIXED, start, count, NULL), NC_EINVAL, "get_vara: buffer NULL");
    count[0] = 0;
    expect_ok(ncmpi_put_vara_int_all(ncid, FIXED, start, count, NULL), "put_vara: buffer NULL, nothing to write");
}

static void test_precedence(int ncid)
{
    MPI_Offset bad[2] = {-1, -1}, start[2] = {0, 0}, count[2] = {1, 9};
    int v[NX] = {0};
    expect_code(ncmpi_put_vara_int_all(ncid + 77, 99, NULL, NULL, NULL), NC_EBADID, "put: EBADID outranks all");
    expect_code(ncmpi_put_vara_int_all(ncid, 99, bad, bad, v), NC_ENOTVAR, "put: ENOTVAR outranks coordinates");
    expect_code(ncmpi_put_vara_int_all(ncid, NC_GLOBAL, start, count, v), NC_EGLOBAL, "put to NC_GLOBAL");
    expect_code(ncmpi_put_vara_int_all(ncid, TEXT, bad, bad, v), NC_ECHAR, "put: ECHAR outranks coordinates");
    expect_code(ncmpi_put_vara_text_all(ncid, FIXED, bad, bad, "x"), NC_ECHAR, "put of text to a number");
    expect_code(ncmpi_get_vara_int_all(ncid, TEXT, bad, bad, v), NC_ECHAR, "get: ECHAR outranks coordinates");
    expect_code(ncmpi_put_vara_int_all(ncid, FIXED, start, count, NULL), NC_EEDGE, "put: EEDGE outranks a NULL buffer");
    expect_code(ncmpi_get_vara_int_all(ncid, RECORD, start, (MPI_Offset[]){1, 1}, v), NC_EINVALCOORDS,
                "get beyond the last record");
    expect_code(ncmpi_put_vara_int_all(ncid, RECORD, bad, count, v), NC_EINVALCOORDS, "put: negative record");
}

static void test_conversions(int ncid)
{
    int v[NX] = {300, 1, 2, 3, 4};
    signed char c[NX] = {0};
    double d[NY] = {1e300, INFINITY, NAN, 1}, whole[NY * NX] = {3.99, -3.99};
    float f[NY] = {0};
    expect_code(ncmpi_put_var_int_all(ncid, BYTES, v), NC_ERANGE, "put 300 to NC_BYTE");
    t_check(v[0] == 300, "the put buffer still holds 300 (%d)", v[0]);
    expect_ok(ncmpi_get_var_schar_all(ncid, BYTES, c), "get it back");
    t_check(c[0] == NC_FILL_BYTE && c[1] == 1 && c[4] == 4,
            "300 was stored as the fill value, the others as they are (%d)", c[0]);
    t_local(ncmpi_put_var1_int_all(ncid, FIXED, (MPI_Offset[]){0, 0}, (int[]){1000}) == NC_NOERR, "put 1000");
    expect_code(ncmpi_get_vara_schar_all(ncid, FIXED, (MPI_Offset[]){0, 0}, (MPI_Offset[]){1, NX}, c), NC_ERANGE,
                "get 1000 as schar");
    t_check(c[0] == NC_FILL_BYTE, "an element out of range reads as the fill value of its memory type (%d)", c[0]);
    expect_code(ncmpi_put_var_double_all(ncid, REALS, d), NC_ERANGE, "put 1e300, inf, nan, 1 to NC_FLOAT");
    expect_ok(ncmpi_get_var_float_all(ncid, REALS, f), "get them back");
    t_check(f[0] == NC_FILL_FLOAT && f[1] == NC_FILL_FLOAT && isnan(f[2]) && f[3] == 1,
            "fill, fill, nan, 1 were stored");
    d[0] = d[1] = d[3] = NAN;
    expect_ok(ncmpi_put_var_double_all(ncid, REALS, d), "put nan to NC_FLOAT");
    expect_ok(ncmpi_put_var_double_all(ncid, FIXED, whole), "put 3.99 to NC_INT");
    int stored[NY * NX];
    t_local(ncmpi_get_var_int_all(ncid, FIXED, stored) == NC_NOERR, "get");
    t_check(stored[0] == 3 && stored[1] == -3, "3.99 and -3.99 were stored as 3 and -3 (%d, %d)", stored[0], stored[1]);
    whole[0] = NAN;
    expect_ok(ncmpi_put_var_double_all(ncid, FIXED, whole), "put nan to NC_INT");
    unsigned char u[NX] = {200, 255, 0, 127, 128}, back[NX];
    expect_ok(ncmpi_put_var_uchar_all(ncid, BYTES, u), "put uchar 200 to NC_BYTE in CDF-1");
    expect_ok(ncmpi_get_var_uchar_all(ncid, BYTES, back), "get it as uchar");
    t_check(memcmp(u, back, NX) == 0, "CDF-1: NC_BYTE through uchar copies bits");
}

static void test_flexible(int ncid)
{
    int v[NY * NX] = {0}, id = -77;
    MPI_Datatype pair, mixed;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &mixed);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&mixed);
    expect_ok(ncmpi_put_var_all(ncid, FIXED, v, NY * NX / 2, pair), "flexible: ten pairs of int");
    expect_code(ncmpi_put_var_all(ncid, FIXED, v, 3, pair), NC_EIOMISMATCH,
                "flexible: fewer elements than the request");
    expect_code(ncmpi_put_var_all(ncid, FIXED, v, 9, mixed), NC_EMULTITYPES, "flexible: a datatype of two types");
    expect_code(ncmpi_put_var_all(ncid, TEXT, v, NX, MPI_INT), NC_ECHAR, "flexible: numbers as text");
    expect_code(ncmpi_put_var_all(ncid, FIXED, v, 0, pair), NC_EIOMISMATCH, "flexible: bufcount 0 with a datatype");
    expect_ok(ncmpi_iput_var(ncid, FIXED, v, 0, pair, &id), "flexible: posted with bufcount 0");
    t_check(id == NC_REQ_NULL, "there is nothing to wait for");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    int before[NY * NX], after[NY * NX];
    t_local(ncmpi_get_var_int(ncid, FIXED, before) == NC_NOERR, "get_var");
    v[0] = before[0] + 1;
    expect_ok(ncmpi_put_var(ncid, FIXED, v, 0, pair), "flexible: independent put with bufcount 0");
    expect_ok(ncmpi_get_var(ncid, FIXED, v, 0, pair), "flexible: independent get with bufcount 0");
    t_check(v[0] == before[0] + 1, "the get leaves memory as it was");
    t_local(ncmpi_get_var_int(ncid, FIXED, after) == NC_NOERR, "get_var");
    t_check(memcmp(before, after, sizeof after) == 0, "the put leaves the file as it was");
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
    expect_ok(ncmpi_put_var_all(ncid, FIXED, v, 0, MPI_DATATYPE_NULL),
              "flexible: MPI_DATATYPE_NULL takes the variable's type");
    MPI_Type_free(&pair);
    MPI_Type_free(&mixed);
}

static void test_access(void)
{
    int ncid = create(0), zero[NY * NX] = {0};
    expect_ok(ncmpi_enddef(ncid), "enddef");
    t_local(ncmpi_put_var_int_all(ncid, FIXED, zero) == NC_NOERR, "put zeros");
    t_local(ncmpi_put_var_text_all(ncid, TEXT, "abcde") == NC_NOERR, "put text");
    test_selections(ncid, true);
    test_selections(ncid, false);
    test_null_arguments(ncid);
    test_precedence(ncid);
    test_conversions(ncid);
    test_flexible(ncid);
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_cdf5_conversions(void)
{
    int ncid = create(NC_64BIT_DATA);
    unsigned char u[NX] = {200, 1, 2, 3, 4};
    signed char c[NX] = {-1, 1, 2, 3, 4};
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_code(ncmpi_put_var_uchar_all(ncid, BYTES, u), NC_ERANGE, "CDF-5: put uchar 200 to NC_BYTE");
    expect_ok(ncmpi_put_var_schar_all(ncid, BYTES, c), "CDF-5: put schar");
    expect_code(ncmpi_get_var_uchar_all(ncid, BYTES, u), NC_ERANGE, "CDF-5: get NC_BYTE -1 as uchar");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_formats(void)
{
    static const struct {
        int cmode, format;
    } rows[] = {
        {0, 1},
        {NC_64BIT_OFFSET, 2},
        {NC_64BIT_DATA, 5},
    };
    int ncid, format, old;
    for (int i = 0; i < 3; i++) {
        expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | rows[i].cmode, MPI_INFO_NULL, &ncid), "create");
        t_local(ncmpi_inq_format(ncid, &format) == NC_NOERR, "inq_format");
        t_check(format == rows[i].format, "cmode 0x%x gives format %d (%d)", (unsigned)rows[i].cmode, rows[i].format,
                format);
        expect_ok(ncmpi_close(ncid), "close");
    }
    expect_code(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_OFFSET | NC_64BIT_DATA, MPI_INFO_NULL, &ncid),
                NC_EINVAL_CMODE, "create: two formats at once");
    expect_code(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_DISKLESS, MPI_INFO_NULL, &ncid), NC_EINVAL_CMODE,
                "create: NC_DISKLESS");
    expect_code(ncmpi_open(MPI_COMM_WORLD, path, NC_MMAP, MPI_INFO_NULL, &ncid), NC_EINVAL_OMODE, "open: NC_MMAP");
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_INMEMORY, MPI_INFO_NULL, &ncid),
              "create: a flag of others");
    expect_ok(ncmpi_close(ncid), "close");
    expect_code(ncmpi_create(MPI_COMM_WORLD, path, NC_NOCLOBBER, MPI_INFO_NULL, &ncid), NC_EEXIST,
                "NOCLOBBER, file exists");
    expect_ok(ncmpi_set_default_format(NC_FORMAT_CDF5, &old), "set_default_format");
    t_check(old == NC_FORMAT_CLASSIC, "the default format was classic (%d)", old);
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create in the default format");
    t_local(ncmpi_inq_format(ncid, &format) == NC_NOERR, "inq_format");
    t_check(format == NC_FORMAT_CDF5, "the default format is CDF-5 (%d)", format);
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_inq_default_format(&format), "inq_default_format");
    t_check(format == NC_FORMAT_CDF5, "inq_default_format says so (%d)", format);
    expect_ok(ncmpi_set_default_format(NC_FORMAT_CLASSIC, NULL), "set_default_format back, old format not wanted");
    expect_code(ncmpi_set_default_format(99, &old), NC_EINVAL, "set_default_format: no such format");
}

static void test_symbolic_link(void)
{
    char target[4096], link[4096], seen[4096] = "";
    int ncid;
    snprintf(target, sizeof target, "%s", t_path("errors_target.nc"));
    snprintf(link, sizeof link, "%s", t_path("errors_link.nc"));
    if (t_rank == 0) {
        FILE *f = fopen(target, "w");
        fputs("some old text that must go, longer than a header of nothing", f);
        fclose(f);
        unlink(link);
        t_local(symlink("errors_target.nc", link) == 0, "symlink");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect_ok(ncmpi_create(MPI_COMM_WORLD, link, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create through a symbolic link");
    expect_ok(ncmpi_close(ncid), "close");
    ssize_t n = readlink(link, seen, sizeof seen - 1);
    t_check(n > 0 && strcmp(seen, "errors_target.nc") == 0, "the symbolic link is still there");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, target, NC_NOWRITE, MPI_INFO_NULL, &ncid), "its target is the new file");
    expect_ok(ncmpi_close(ncid), "close");
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        t_local(unlink(link) == 0 && unlink(target) == 0, "unlink");
}

static void test_files(void)
{
    expect_code(ncmpi_delete(t_path("errors_missing.nc"), MPI_INFO_NULL), NC_ENOENT, "delete a missing file");
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0) /* a local operation, for it has no communicator */
        t_local(ncmpi_delete(path, MPI_INFO_NULL) == NC_NOERR, "delete");
    MPI_Barrier(MPI_COMM_WORLD);
    t_check(access(path, F_OK) != 0, "the file is gone");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("errors.nc"));
    test_definitions();
    test_attributes();
    test_names();
    if (t_classic())
        test_foreign_name();
    test_fill();
    test_modes();
    test_sync_keeps_mode();
    test_read_only();
    test_access();
    if (t_classic()) {
        test_cdf5_conversions();
        test_formats();
    }
    test_symbolic_link();
    test_files();
    return t_finish();
}
