/* A wrong argument on one rank of a collective call: that rank gets its code, the others succeed and write their data,
 * and no rank blocks. In safe mode (PNETCDF_SAFE_MODE=1) every rank gets an error. Arguments that differ between
 * ranks where they must agree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../expect.h"

enum { WIDTH = 6 }; /* columns of each rank */

static char path[4096];
static int wrong; /* the rank that makes the mistake */

/* Which code this rank must get. */
static int mine(int code)
{
    return t_rank == wrong ? code : NC_NOERR;
}

static void expect_mine(int got, int code, const char *text)
{
    t_local(got == mine(code), "got code %d, expected %s (%d)", got, ncmpi_strerrno(mine(code)), mine(code));
    t_check(true, "%s", text);
}

static int create(void)
{
    int ncid, dims[2], id;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_dim(ncid, "x", WIDTH * t_nprocs, &dims[1]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "fixed", NC_INT, 1, dims + 1, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "record", NC_SHORT, 2, dims, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "text", NC_CHAR, 1, dims + 1, &id) == NC_NOERR, "def_var");
    t_check(ncmpi_enddef(ncid) == NC_NOERR, "define a file");
    return ncid;
}

enum { FIXED, RECORD, TEXT };

/* Column i of the fixed variable must hold expected[rank that owns it]. */
static void check_columns(int ncid, const int *expected, const char *text)
{
    int *all = malloc((size_t)(WIDTH * t_nprocs) * sizeof *all);
    int code = ncmpi_get_var_int_all(ncid, FIXED, all), bad = -1;
    for (int i = 0; i < WIDTH * t_nprocs; i++)
        if (all[i] != expected[i / WIDTH])
            bad = i;
    t_local(code == NC_NOERR, "get: %s", ncmpi_strerrno(code));
    t_local(bad < 0, "column %d holds %d, expected %d", bad, bad < 0 ? 0 : all[bad],
            bad < 0 ? 0 : expected[bad / WIDTH]);
    t_check(true, "%s", text);
    free(all);
}

/* Puts with one rank's mistake; the other ranks' columns take the new value. */
static void test_puts(int ncid)
{
    static const struct {
        const char *text;
        int varid;
        MPI_Offset start, count, stride;
        bool null_buffer;
        int code;
    } rows[] = {
        {"start beyond the dimension", FIXED, 100000, 1, 1, false, NC_EINVALCOORDS},
        {"negative start", FIXED, -1, 1, 1, false, NC_EINVALCOORDS},
        {"count beyond the dimension", FIXED, 0, 100000, 1, false, NC_EEDGE},
        {"negative count", FIXED, 0, -2, 1, false, NC_ENEGATIVECNT},
        {"stride 0", FIXED, 0, 2, 0, false, NC_ESTRIDE},
        {"unknown variable", 99, 0, 1, 1, false, NC_ENOTVAR},
        {"the variable after the last one", TEXT + 1, 0, 1, 1, false, NC_ENOTVAR},
        {"numbers as text", TEXT, 0, 1, 1, false, NC_ECHAR},
        {"NULL buffer", FIXED, 0, 1, 1, true, NC_EINVAL},
    };
    int *expected = calloc((size_t)t_nprocs, sizeof *expected), values[WIDTH], zero[WIDTH] = {0};
    MPI_Offset first = WIDTH * t_rank, width = WIDTH, one = 1;
    t_local(ncmpi_put_vara_int_all(ncid, FIXED, &first, &width, zero) == NC_NOERR, "put zeros");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[100];
        int code;
        wrong = (int)(i + 1) % t_nprocs;
        for (int k = 0; k < WIDTH; k++)
            values[k] = (int)i + 1;
        if (t_rank == wrong)
            code = ncmpi_put_vars_int_all(ncid, rows[i].varid, &rows[i].start, &rows[i].count, &rows[i].stride,
                                          rows[i].null_buffer ? NULL : values);
        else
            code = ncmpi_put_vars_int_all(ncid, FIXED, &first, &width, &one, values);
        snprintf(text, sizeof text, "put, rank %d has %s", wrong, rows[i].text);
        expect_mine(code, rows[i].code, text);
        for (int r = 0; r < t_nprocs; r++)
            expected[r] = r == wrong ? expected[r] : (int)i + 1;
        check_columns(ncid, expected, "the other ranks' data is in the file, and nothing else");
    }
    free(expected);
}

static void test_gets(int ncid)
{
    MPI_Offset first = WIDTH * t_rank, width = WIDTH, beyond = 100000;
    int values[WIDTH], got[WIDTH] = {0};
    wrong = t_nprocs - 1;
    for (int k = 0; k < WIDTH; k++)
        values[k] = 1000 * t_rank + k;
    t_local(ncmpi_put_vara_int_all(ncid, FIXED, &first, &width, values) == NC_NOERR, "put");
    expect_mine(ncmpi_get_vara_int_all(ncid, FIXED, t_rank == wrong ? &beyond : &first, &width, got), NC_EINVALCOORDS,
                "get, last rank has a start beyond the dimension");
    t_check(t_rank == wrong || memcmp(values, got, sizeof values) == 0, "the other ranks got their data");
    values[1] = 70000;
    expect_mine(ncmpi_put_vara_int_all(ncid, RECORD, (MPI_Offset[]){0, first}, (MPI_Offset[]){1, WIDTH},
                                       t_rank == wrong ? values : got),
                NC_ERANGE, "put, last rank's value is out of range");
    short stored[WIDTH];
    t_local(ncmpi_get_vara_short_all(ncid, RECORD, (MPI_Offset[]){0, first}, (MPI_Offset[]){1, WIDTH}, stored) ==
                NC_NOERR,
            "get");
    t_check(t_rank != wrong || (stored[1] == NC_FILL_SHORT && stored[2] == values[2]),
            "its other values are stored, the one out of range as the fill value");
}

/* A mistake in a put that adds records must not keep the others' records from being counted. */
static void test_records(int ncid)
{
    MPI_Offset n = -1, start[2] = {3 + t_rank, 0}, count[2] = {1, WIDTH};
    short values[WIDTH] = {1, 2, 3, 4, 5, 6};
    wrong = t_nprocs - 1;
    if (t_rank == wrong)
        start[0] = -5;
    expect_mine(ncmpi_put_vara_short_all(ncid, RECORD, start, count, values), NC_EINVALCOORDS,
                "put of records, last rank has a negative record");
    ncmpi_inq_dimlen(ncid, 0, &n);
    MPI_Offset expected = t_nprocs == 1 ? 1 : 3 + t_nprocs - 1;
    t_check(n == expected, "every rank sees %lld records (%lld)", (long long)expected, (long long)n);
}

static void test_safe_mode(void)
{
    MPI_Offset start = 0, count = 1;
    MPI_Offset put_before, put_after;
    int value = 1, ncid;
    setenv("PNETCDF_SAFE_MODE", "1", 1);
    ncid = create();
    unsetenv("PNETCDF_SAFE_MODE");
    ncmpi_inq_put_size(ncid, &put_before);
    if (t_rank == t_nprocs - 1)
        start = 100000;
    expect_error(ncmpi_put_vara_int_all(ncid, FIXED, &start, &count, &value),
                 "safe mode: put, last rank's start is wrong");
    ncmpi_inq_put_size(ncid, &put_after);
    t_check(put_after == put_before, "safe mode: no rank has written");
    expect_error(ncmpi_get_vara_int_all(ncid, FIXED, &start, &count, &value),
                 "safe mode: get, last rank's start is wrong");
    start = t_rank;
    expect_ok(ncmpi_put_vara_int_all(ncid, FIXED, &start, &count, &value), "safe mode: a good put");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_definitions(bool safe)
{
    const char *mode = safe ? "safe mode" : "default mode";
    int ncid, id, code;
    char text[100];
    setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1);
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    snprintf(text, sizeof text, "%s: def_dim with different lengths", mode);
    code = ncmpi_def_dim(ncid, "a", 10 + (t_rank == t_nprocs - 1), &id);
    expect_code(code, safe && t_nprocs > 1 ? NC_EMULTIDEFINE_DIM_SIZE : NC_NOERR, text);
    if (safe && t_nprocs > 1) {
        static const char *const names[] = {"one", "two"};
        bool last = t_rank == t_nprocs - 1;
        t_local(ncmpi_def_dim(ncid, "good", 4, &id) == NC_NOERR, "def_dim that all ranks agree on");
        expect_code(ncmpi_def_dim(ncid, names[last], 4, &id), NC_EMULTIDEFINE_DIM_NAME,
                    "safe mode: def_dim, names differ");
        expect_code(ncmpi_def_var(ncid, names[last], NC_INT, 0, NULL, &id), NC_EMULTIDEFINE_VAR_NAME,
                    "safe mode: def_var, names differ");
        expect_code(ncmpi_def_var(ncid, "v", last ? NC_INT : NC_FLOAT, 0, NULL, &id), NC_EMULTIDEFINE_VAR_TYPE,
                    "safe mode: def_var, types differ");
        expect_code(ncmpi_put_att_text(ncid, NC_GLOBAL, "a", 3, last ? "abc" : "abd"), NC_EMULTIDEFINE_ATTR_VAL,
                    "safe mode: put_att, values differ");
        expect_code(ncmpi_put_att_text(ncid, NC_GLOBAL, "a", 2 + last, "abc"), NC_EMULTIDEFINE_ATTR_LEN,
                    "safe mode: put_att, lengths differ");
        expect_code(ncmpi_put_att_text(ncid, NC_GLOBAL, names[last], 3, "abc"), NC_EMULTIDEFINE_ATTR_NAME,
                    "safe mode: put_att, names differ");
    }
    expect_ok(ncmpi_abort(ncid), "abort");
    unsetenv("PNETCDF_SAFE_MODE");
}

/* A rank whose definitions differ takes over rank 0's, and with them which variables are filled. */
static void test_adoption(void)
{
    int ncid, dim, filled, bare, no_fill[2] = {-1, -1};
    char note = (char)('a' + t_rank), got = 0;
    setenv("PNETCDF_SAFE_MODE", "0", 1);
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "x", 4, &dim);
    ncmpi_def_var(ncid, "filled", NC_INT, 1, &dim, &filled);
    ncmpi_def_var(ncid, "bare", NC_INT, 1, &dim, &bare);
    ncmpi_def_var_fill(ncid, filled, 0, NULL);
    ncmpi_put_att_text(ncid, NC_GLOBAL, "note", 1, &note);
    expect_ok(ncmpi_enddef(ncid), "enddef with an attribute that differs");
    t_check(ncmpi_get_att_text(ncid, NC_GLOBAL, "note", &got) == NC_NOERR && got == 'a', "rank 0's value: %c", got);
    ncmpi_inq_var_fill(ncid, filled, &no_fill[0], NULL);
    ncmpi_inq_var_fill(ncid, bare, &no_fill[1], NULL);
    t_check(no_fill[0] == 0 && no_fill[1] == 1, "fill modes stay on all ranks: %d %d", no_fill[0], no_fill[1]);
    expect_ok(ncmpi_close(ncid), "close");
    unsetenv("PNETCDF_SAFE_MODE");
}

/* In data mode a change goes to the file at once: it has to be the same on all ranks, and else nothing changes. */
static void test_header_changes(void)
{
    bool last = t_rank == t_nprocs - 1;
    int ncid, id;

    if (t_nprocs == 1)
        return;
    ncid = create();
    ncmpi_redef(ncid);
    ncmpi_put_att_text(ncid, NC_GLOBAL, "note", 8, "abcdefgh");
    ncmpi_put_att_text(ncid, NC_GLOBAL, "other", 8, "abcdefgh");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_code(ncmpi_put_att_text(ncid, NC_GLOBAL, "note", last ? 1 : 8, "ABCDEFGH"), NC_EMULTIDEFINE_ATTR_LEN,
                "put_att in data mode, lengths differ");
    expect_code(ncmpi_rename_att(ncid, NC_GLOBAL, last ? "other" : "note", "name"), NC_EMULTIDEFINE_ATTR_NAME,
                "rename_att in data mode, old names differ");
    expect_code(ncmpi_rename_dim(ncid, 1, last ? "y" : "z"), NC_EMULTIDEFINE_DIM_NAME,
                "rename_dim in data mode, new names differ");
    expect_code(ncmpi_rename_var(ncid, last ? FIXED : RECORD, "q"), NC_EMULTIDEFINE_FNC_ARGS,
                "rename_var in data mode, variables differ");
    expect_code(ncmpi_rename_var(ncid, RECORD, last ? "text" : "r"), NC_EMULTIDEFINE_VAR_NAME,
                "rename_var in data mode, one rank's new name is in use");
    t_check(ncmpi_inq_dimid(ncid, "x", &id) == NC_NOERR && ncmpi_inq_varid(ncid, "record", &id) == NC_NOERR &&
                ncmpi_inq_attid(ncid, NC_GLOBAL, "other", &id) == NC_NOERR,
            "all names stayed");
    expect_ok(ncmpi_rename_var(ncid, RECORD, "r"), "rename_var that all ranks agree on");
    expect_ok(ncmpi_close(ncid), "close");
}

/* What a rank posted for definitions of its own, which rank 0's replaced, must not reach the file. */
static void test_overruled(void)
{
    bool last = t_rank == t_nprocs - 1;
    MPI_Offset start = 900, count = 1;
    int ncid, dim, id, value = 7, request, pending = -1;

    if (t_nprocs == 1)
        return;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "m", last ? 1000 : 2, &dim);
    ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &id);
    if (last)
        ncmpi_def_var(ncid, "extra", NC_INT, 1, &dim, &id);
    t_local(ncmpi_buffer_attach(ncid, 100) == NC_NOERR, "attach");
    if (last)
        t_local(ncmpi_iput_vara_int(ncid, id, &start, &count, &value, &request) == NC_NOERR &&
                    ncmpi_bput_vara_int(ncid, id, &start, &count, &value, &request) == NC_NOERR,
                "iput and bput in define mode");
    wrong = t_nprocs - 1;
    expect_mine(ncmpi_enddef(ncid), NC_EMULTIDEFINE, "enddef of a rank with other definitions and a pending request");
    t_check(ncmpi_inq_nreqs(ncid, &pending) == NC_NOERR && pending == 0, "nothing is pending: %d", pending);
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    expect_ok(ncmpi_buffer_detach(ncid), "detach, as no buffered put is pending");
    expect_ok(ncmpi_close(ncid), "close");
}

/* The file is created with rank 0's mode; ranks with another mode get an error, in safe mode all do. */
static void test_cmode(bool safe)
{
    const char *mode = safe ? "safe mode" : "default mode";
    int ncid = -1, format = 0, code;
    char text[100];
    setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1);
    code =
        ncmpi_create(MPI_COMM_WORLD, path, t_rank == 0 ? NC_CLOBBER : NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid);
    bool fails = t_nprocs > 1 && (safe || t_rank > 0);
    t_local(code == (fails ? NC_EMULTIDEFINE_CMODE : NC_NOERR), "got %s (%d)", ncmpi_strerrno(code), code);
    t_check(true, "%s: create with different modes", mode);
    snprintf(text, sizeof text, "%s: the file has rank 0's format", mode);
    int inquired = ncmpi_inq_format(ncid, &format);
    t_check(inquired == NC_NOERR && format == (t_classic() ? NC_FORMAT_CLASSIC : NC_FORMAT_NETCDF4), "%s (%d, code %d)",
            text, format, inquired);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    code = ncmpi_open(MPI_COMM_WORLD, path, t_rank == 0 ? NC_NOWRITE : NC_WRITE, MPI_INFO_NULL, &ncid);
    t_local(code == (fails ? NC_EMULTIDEFINE_OMODE : NC_NOERR), "got %s (%d)", ncmpi_strerrno(code), code);
    t_check(true, "%s: open with different modes", mode);
    snprintf(text, sizeof text, "%s: the file is open in rank 0's mode, for reading", mode);
    expect_code(ncmpi_redef(ncid), NC_EPERM, text);
    expect_ok(ncmpi_close(ncid), "close");
    unsetenv("PNETCDF_SAFE_MODE");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("collective_errors.nc"));
    setenv("PNETCDF_SAFE_MODE", "0", 1);
    int ncid = create();
    test_puts(ncid);
    test_gets(ncid);
    test_records(ncid);
    expect_ok(ncmpi_close(ncid), "close");
    test_safe_mode();
    test_definitions(false);
    test_definitions(true);
    test_adoption();
    test_header_changes();
    test_overruled();
    test_cmode(false);
    test_cmode(true);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
