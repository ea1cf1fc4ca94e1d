/* Definitions: limits of the formats, names of every kind, many objects, rename in both modes, abort in all states. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../expect.h"

enum { MANY = 1000 };

static char path[4096];

static int create(int cmode)
{
    int ncid = -1;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    return ncid;
}

static void test_names(void)
{
    static const char *const good[] = {
        "a",   "_x",   "7up", "with space", "dot.dash-plus+at@", "\303\274ber", "\xe6\xb8\xa9\xe5\xba\xa6",
        "a:b", "x(y)", "100%"};
    static const char *const bad[] = {"",        "a/b",  "trailing ", "tab\t", "\x01", "bad\377utf8",
                                      "cut\xc3", "\x7f", " leading"};
    int ncid = create(0), id, same;
    char name[NC_MAX_NAME + 40], text[60];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int code = ncmpi_def_dim(ncid, good[i], 2, &id);
        t_local(code == NC_NOERR, "name \"%s\": %s", good[i], ncmpi_strerrno(code));
        t_local(ncmpi_inq_dimid(ncid, good[i], &same) == NC_NOERR && same == id, "find \"%s\"", good[i]);
    }
    t_check(true, "good names are accepted and found");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "bad name %zu", i);
        expect_code(ncmpi_def_dim(ncid, bad[i], 2, &id), NC_EBADNAME, text);
    }
    memset(name, 'n', sizeof name);
    name[NC_MAX_NAME] = '\0';
    expect_ok(ncmpi_def_dim(ncid, name, 2, &id), "a name of NC_MAX_NAME bytes");
    name[NC_MAX_NAME] = 'n';
    name[NC_MAX_NAME + 1] = '\0';
    expect_code(ncmpi_def_var(ncid, name, NC_INT, 0, NULL, &id), NC_EMAXNAME, "a name one byte longer");
    expect_ok(ncmpi_def_var(ncid, "u\xcc\x88", NC_INT, 0, NULL, &id), "a name in decomposed form");
    expect_code(ncmpi_def_var(ncid, "\xc3\xbc", NC_INT, 0, NULL, &id), NC_ENAMEINUSE,
                "its composed form is the same name");
    t_check(ncmpi_inq_varname(ncid, id = 0, name) == NC_NOERR && strcmp(name, "\xc3\xbc") == 0,
            "it is stored composed");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_many(int cmode, const char *format)
{
    int ncid = create(cmode), id, n[3];
    char name[40];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "object_%d", i);
        t_local(ncmpi_def_dim(ncid, name, 1 + i % 3, &id) == NC_NOERR && id == i, "def_dim %d", i);
        t_local(ncmpi_def_var(ncid, name, NC_BYTE, 1, &id, &id) == NC_NOERR && id == i, "def_var %d", i);
        t_local(ncmpi_put_att_text(ncid, id, name, 3, "abc") == NC_NOERR, "put_att %d", i);
    }
    t_local(ncmpi_enddef(ncid) == NC_NOERR && ncmpi_close(ncid) == NC_NOERR, "enddef, close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open a file of many objects");
    t_local(ncmpi_inq(ncid, &n[0], &n[1], &n[2], NULL) == NC_NOERR && n[0] == MANY && n[1] == MANY && n[2] == 0, "inq");
    for (int i = MANY - 1; i >= 0; i--) {
        MPI_Offset length;
        snprintf(name, sizeof name, "object_%d", i);
        t_local(ncmpi_inq_varid(ncid, name, &id) == NC_NOERR && id == i, "inq_varid %d", i);
        t_local(ncmpi_inq_dimid(ncid, name, &id) == NC_NOERR && id == i, "inq_dimid %d", i);
        t_local(ncmpi_inq_attlen(ncid, i, name, &length) == NC_NOERR && length == 3, "inq_attlen %d", i);
    }
    t_check(true, "%s: %d dimensions, variables and attributes are found by name", format, MANY);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* A dimension of the longest length, alone in its file with a variable of as many bytes. */
static void test_longest_dimension(int cmode, MPI_Offset longest)
{
    int ncid = create(cmode), id, dim = -1;
    MPI_Offset start = longest - 1, count = t_rank == 0, length = 0;
    signed char value = 77, got = 0;
    if (longest < INT64_MAX) {
        expect_code(ncmpi_def_dim(ncid, "larger", longest + 1, &id), NC_EDIMSIZE, "one more than the longest");
        expect_ok(ncmpi_def_dim(ncid, "longest", longest, &dim), "the longest dimension");
        expect_ok(ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &id), "a variable");
        expect_ok(ncmpi_enddef(ncid), "enddef");
        expect_ok(ncmpi_put_vara_schar_all(ncid, id, &start, &count, &value), "put its last byte (a sparse file)");
    } else {
        expect_ok(ncmpi_def_dim(ncid, "longest", longest, &dim), "the longest dimension");
    }
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    expect_ok(ncmpi_inq_dimlen(ncid, 0, &length), "inq_dimlen");
    t_check(length == longest, "it has %lld elements", (long long)length);
    if (longest < INT64_MAX) {
        expect_ok(ncmpi_get_vara_schar_all(ncid, 0, &start, (MPI_Offset[]){1}, &got), "get the last byte");
        t_check(got == value, "which is %d", got);
    }
    expect_ok(ncmpi_close(ncid), "close");
}

/* Sizes of variables that the offsets can address. */
static void test_limits(void)
{
    int ncid = create(0), id, huge;
    t_local(ncmpi_def_dim(ncid, "large", 2147483644, &id) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_DOUBLE, 1, (int[]){0}, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "w", NC_DOUBLE, 1, (int[]){0}, &id) == NC_NOERR, "def_var");
    expect_code(ncmpi_enddef(ncid), NC_EVARSIZE, "CDF-1: two variables of 16 GiB");
    t_local(ncmpi_abort(ncid) == NC_NOERR, "abort");
    ncid = create(NC_64BIT_OFFSET);
    t_local(ncmpi_def_dim(ncid, "large", 2147483644, &huge) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_DOUBLE, 1, &huge, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "w", NC_DOUBLE, 0, NULL, &id) == NC_NOERR, "def_var");
    expect_code(ncmpi_enddef(ncid), NC_EVARSIZE, "CDF-2: a variable of 16 GiB that is not the last");
    t_local(ncmpi_abort(ncid) == NC_NOERR, "abort");
    ncid = create(NC_64BIT_DATA);
    expect_ok(ncmpi_def_dim(ncid, "large", 1LL << 40, &huge), "CDF-5: a dimension of 2^40");
    expect_ok(ncmpi_def_var(ncid, "v", NC_BYTE, 1, &huge, &id), "CDF-5: a variable of 2^40 bytes");
    expect_ok(ncmpi_def_var(ncid, "w", NC_BYTE, 1, &huge, &id), "CDF-5: another");
    expect_ok(ncmpi_enddef(ncid), "CDF-5: enddef");
    MPI_Offset last = (1LL << 40) - 1;
    signed char value = (signed char)(t_rank == 0 ? 77 : 0), got = 0;
    MPI_Offset start = last, count = t_rank == 0;
    expect_ok(ncmpi_put_vara_schar_all(ncid, 0, &start, &count, &value), "CDF-5: put its last byte (a sparse file)");
    count = 1;
    expect_ok(ncmpi_get_vara_schar_all(ncid, 0, &start, &count, &got), "CDF-5: get it");
    t_check(got == 77, "it is what was put (%d)", got);
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_rename(void)
{
    int ncid = create(0), id, value = 5;
    char name[NC_MAX_NAME + 1];
    t_local(ncmpi_def_dim(ncid, "dimension", 1, &id) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "variable", NC_INT, 1, &id, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_enddef(ncid) == NC_NOERR && ncmpi_put_var_int_all(ncid, 0, &value) == NC_NOERR, "put");
    expect_ok(ncmpi_rename_dim(ncid, 0, "dim"), "rename_dim to a shorter name in data mode");
    expect_ok(ncmpi_rename_var(ncid, 0, "v"), "rename_var to a shorter name in data mode");
    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    expect_ok(ncmpi_rename_dim(ncid, 0, "a_much_longer_name_than_before"),
              "rename_dim to a longer name in define mode");
    t_local(ncmpi_enddef(ncid) == NC_NOERR && ncmpi_close(ncid) == NC_NOERR, "close");
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    t_local(ncmpi_inq_varname(ncid, 0, name) == NC_NOERR && strcmp(name, "v") == 0, "variable is %s", name);
    t_local(ncmpi_inq_dimname(ncid, 0, name) == NC_NOERR && strcmp(name, "a_much_longer_name_than_before") == 0, "%s",
            name);
    value = 0;
    t_local(ncmpi_get_var_int_all(ncid, 0, &value) == NC_NOERR && value == 5, "value %d", value);
    t_check(true, "the new names and the old data are in the file");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* abort undoes a redef, and removes a file that was just created. */
static void test_abort(void)
{
    int ncid = create(0), id, n = -1, value = 9;
    t_local(ncmpi_def_var(ncid, "kept", NC_INT, 0, NULL, &id) == NC_NOERR && ncmpi_enddef(ncid) == NC_NOERR, "define");
    t_local(ncmpi_put_var_int_all(ncid, id, &value) == NC_NOERR, "put");
    t_local(ncmpi_redef(ncid) == NC_NOERR && ncmpi_def_var(ncid, "lost", NC_INT, 0, NULL, &id) == NC_NOERR, "redef");
    expect_ok(ncmpi_abort(ncid), "abort a redefinition");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "the file is still there");
    value = 0;
    t_local(ncmpi_inq_nvars(ncid, &n) == NC_NOERR && n == 1, "%d variables", n);
    t_local(ncmpi_get_var_int_all(ncid, 0, &value) == NC_NOERR && value == 9, "value %d", value);
    t_check(true, "with the one variable it had, and its value");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    ncid = create(0);
    t_local(ncmpi_abort(ncid) == NC_NOERR || t_rank > 0, "abort");
    MPI_Barrier(MPI_COMM_WORLD);
    t_check(access(path, F_OK) != 0, "abort of a new file in define mode removes it");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("define.nc"));
    test_names();
    test_many(0, "CDF-1");
    test_many(NC_64BIT_DATA, "CDF-5");
    test_longest_dimension(0, NC_MAX_INT);
    test_longest_dimension(NC_64BIT_OFFSET, NC_MAX_INT);
    if (t_classic()) {
        test_longest_dimension(NC_64BIT_DATA, NC_MAX_INT64);
        test_limits();
    }
    test_rename();
    test_abort();
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
