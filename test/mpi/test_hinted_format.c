/* The hint nc_format=netcdf4 changes neither codes nor values: a program that asks for CDF-1 or CDF-2 makes the same
 * calls with and without it. One that asks for CDF-5 has its types, one that asks for the classic model keeps it. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../expect.h"

enum { MOST = 400, NX = 5 };

/* What a program sees: codes and values, in the order of its calls. */
typedef struct trace {
    const char *what[MOST];
    long long got[MOST];
    int n;
} trace;

static char path[4096];

static void note(trace *t, const char *what, long long got)
{
    if (t->n == MOST) {
        t_local(false, "more than %d results", MOST);
        return;
    }
    t->what[t->n] = what;
    t->got[t->n++] = got;
}

/* The text of the call is its name in the trace. */
#define NOTE(call) note(t, #call, call)

static int create(int cmode, const char *format, int *ncid)
{
    MPI_Info info = MPI_INFO_NULL;
    int err;

    if (format != NULL) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "nc_format", format);
    }
    err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, info, ncid);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return err;
}

/* --- definitions --- */

enum { DIM_T, DIM_X };

enum { BYTES, RECORD, TEXT, REALS, FILLED };

static void define_dims(int ncid, trace *t)
{
    int id = -1, ids[4] = {-1, -1, -1, -1}, n = -1;

    NOTE(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &id));
    NOTE(ncmpi_def_dim(ncid, "x", NX, &id));
    NOTE(ncmpi_def_dim(ncid, "u", NC_UNLIMITED, &id));
    NOTE(ncmpi_def_dim(ncid, "x", NC_UNLIMITED, &id));
    NOTE(ncmpi_def_dim(ncid, "x", 3, &id));
    NOTE(ncmpi_def_dim(ncid, "long", (MPI_Offset)INT_MAX + 1, &id));
    NOTE(ncmpi_def_dim(ncid, "a/b", -3, &id));
    NOTE(ncmpi_def_dim(ncid, "negative", -3, &id));
    NOTE(ncmpi_inq_unlimdim(ncid, &id));
    note(t, "the unlimited dimension", id);
    NOTE(ncmpi_inq_unlimdims(ncid, &n, ids));
    note(t, "unlimited dimensions", n);
    NOTE(ncmpi_rename_dim(ncid, DIM_X, "t"));
}

static void define_vars(int ncid, trace *t)
{
    int x = DIM_X, both[2] = {DIM_T, DIM_X}, wrong[2] = {DIM_X, DIM_T}, id;

    NOTE(ncmpi_def_var(ncid, "bytes", NC_BYTE, 1, &x, &id));
    NOTE(ncmpi_def_var(ncid, "record", NC_SHORT, 2, both, &id));
    NOTE(ncmpi_def_var(ncid, "text", NC_CHAR, 1, &x, &id));
    NOTE(ncmpi_def_var(ncid, "reals", NC_FLOAT, 2, both, &id));
    NOTE(ncmpi_def_var(ncid, "filled", NC_INT, 2, both, &id));
    NOTE(ncmpi_def_var(ncid, "inner", NC_INT, 2, wrong, &id));
    for (int type = -1; type <= 14; type++)
        if (type < NC_BYTE || type > NC_DOUBLE)
            NOTE(ncmpi_def_var(ncid, "new", type, 1, &x, &id));
    NOTE(ncmpi_def_var(ncid, "new", NC_UINT64, 1, &(int){9}, &id));
    NOTE(ncmpi_def_var(ncid, "", NC_UINT64, 1, &x, &id));
    NOTE(ncmpi_def_var(ncid, "bytes", NC_UINT64, 2, wrong, &id));
    NOTE(ncmpi_def_var(ncid, "bytes", NC_INT, 2, wrong, &id));
    NOTE(ncmpi_def_var(ncid, "bytes", NC_INT, 1, &x, &id));
    NOTE(ncmpi_def_var_fill(ncid, FILLED, 0, &(int){-7}));
    NOTE(ncmpi_def_var_fill(ncid, BYTES, 0, NULL));
    NOTE(ncmpi_def_var_fill(ncid, NC_GLOBAL, 0, NULL));
}

static void put_atts(int ncid, trace *t)
{
    unsigned char bytes[3] = {200, 127, 255}, back[3] = {0};
    signed char small[3] = {-56, 1, -1};
    long long many[2] = {1, 2};
    int values[3] = {300, 1};

    NOTE(ncmpi_put_att_uchar(ncid, BYTES, "u", NC_BYTE, 3, bytes));
    NOTE(ncmpi_get_att_schar(ncid, BYTES, "u", small));
    note(t, "an unsigned byte as a signed one", small[0]);
    NOTE(ncmpi_get_att_uchar(ncid, BYTES, "u", back));
    note(t, "and back", back[0]);
    NOTE(ncmpi_get_att_int(ncid, BYTES, "u", values));
    note(t, "and as an int", values[0]);
    values[0] = 300;
    NOTE(ncmpi_put_att_int(ncid, BYTES, "wide", NC_BYTE, 2, values));
    for (int type = NC_UBYTE; type <= 14; type++)
        NOTE(ncmpi_put_att_longlong(ncid, NC_GLOBAL, "new", type, 2, many));
    NOTE(ncmpi_put_att_longlong(ncid, NC_GLOBAL, "new", NC_UINT64, -2, NULL));
    NOTE(ncmpi_put_att_longlong(ncid, NC_GLOBAL, "", NC_UINT64, 2, many));
    NOTE(ncmpi_put_att_longlong(ncid, 77, "new", NC_UINT64, 2, many));
    NOTE(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "hello"));
    NOTE(ncmpi_put_att_int(ncid, TEXT, "_FillValue", NC_INT, 1, values));
    NOTE(ncmpi_put_att_int(ncid, REALS, "_FillValue", NC_FLOAT, 2, values));
}

/* --- data --- */

static void put_bytes(int ncid, trace *t)
{
    unsigned char bytes[NX] = {200, 127, 255, 0, 128}, back[NX] = {0};
    short wide[NX] = {200, -200, 1, 127, -128};
    signed char small[NX] = {0};

    NOTE(ncmpi_put_var_uchar_all(ncid, BYTES, bytes));
    NOTE(ncmpi_get_var_schar_all(ncid, BYTES, small));
    for (int i = 0; i < NX; i++)
        note(t, "unsigned bytes as signed ones", small[i]);
    NOTE(ncmpi_get_var_uchar_all(ncid, BYTES, back));
    for (int i = 0; i < NX; i++)
        note(t, "unsigned bytes", back[i]);
    NOTE(ncmpi_get_var_short_all(ncid, BYTES, wide));
    for (int i = 0; i < NX; i++)
        note(t, "unsigned bytes as short", wide[i]);
    wide[0] = 200;
    NOTE(ncmpi_put_var_short_all(ncid, BYTES, wide));
    NOTE(ncmpi_get_var_schar_all(ncid, BYTES, small));
    for (int i = 0; i < NX; i++)
        note(t, "what did not fit", small[i]);
}

/* Rank r puts record r; the record behind them is filled. */
static void put_records(int ncid, trace *t)
{
    MPI_Offset start[2] = {t_rank, 0}, count[2] = {1, NX}, length = -1, last[2] = {t_nprocs, 0};
    double reals[NX] = {1e300, 2.5, -1, 1e5, 70000};
    int values[NX] = {0}, request = 0, status = 1, outside[NX] = {1, 2, 70000, 4, -40000};

    NOTE(ncmpi_put_vara_int_all(ncid, RECORD, start, count, outside));
    NOTE(ncmpi_put_vara_double_all(ncid, REALS, start, count, reals));
    NOTE(ncmpi_iput_vara_int(ncid, FILLED, start, count, outside, &request));
    NOTE(ncmpi_wait_all(ncid, 1, &request, &status));
    note(t, "status", status);
    NOTE(ncmpi_fill_var_rec(ncid, FILLED, t_nprocs));
    NOTE(ncmpi_fill_var_rec(ncid, BYTES, 0));
    NOTE(ncmpi_fill_var_rec(ncid, RECORD, 0));
    NOTE(ncmpi_inq_dimlen(ncid, DIM_T, &length));
    note(t, "records", length);
    NOTE(ncmpi_get_vara_int_all(ncid, RECORD, start, count, values));
    for (int i = 0; i < NX; i++)
        note(t, "shorts", values[i]);
    NOTE(ncmpi_get_vara_int_all(ncid, FILLED, last, count, values));
    for (int i = 0; i < NX; i++)
        note(t, "fill values", values[i]);
    NOTE(ncmpi_get_vara_double_all(ncid, REALS, start, count, reals));
    for (int i = 1; i < NX; i++)
        note(t, "reals", (long long)(10 * reals[i]));
    note(t, "what is too large", reals[0] > 1e36);
}

static void fail_data(int ncid, trace *t)
{
    MPI_Offset start[2] = {0, 0}, count[2] = {1, NX}, far[2] = {100, 0}, wide[2] = {1, NX + 1}, stride[2] = {1, 0};
    int values[2 * NX] = {0};

    NOTE(ncmpi_get_vara_int_all(ncid, RECORD, far, count, values));
    NOTE(ncmpi_get_vara_int_all(ncid, RECORD, start, wide, values));
    NOTE(ncmpi_put_vara_int_all(ncid, RECORD, start, wide, values));
    NOTE(ncmpi_put_vars_int_all(ncid, RECORD, start, count, stride, values));
    NOTE(ncmpi_put_vara_int_all(ncid, TEXT, start, count, values));
    NOTE(ncmpi_put_vara_text_all(ncid, RECORD, start, count, "abcde"));
    NOTE(ncmpi_put_vara_int_all(ncid, 77, start, count, values));
    NOTE(ncmpi_def_dim(ncid, "late", 2, values));
    NOTE(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 9, "too long!"));
    NOTE(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 4, "less"));
    NOTE(ncmpi_rename_dim(ncid, DIM_X, "longer"));
    NOTE(ncmpi_rename_var(ncid, RECORD, "short"));
}

static void redefine(int ncid, trace *t)
{
    MPI_Offset size = -1;
    int dims[2] = {DIM_T, DIM_X}, id;

    NOTE(ncmpi_put_att_longlong(ncid, NC_GLOBAL, "title", NC_INT64, 1, &(long long){1}));
    NOTE(ncmpi_redef(ncid));
    NOTE(ncmpi_def_dim(ncid, "u", NC_UNLIMITED, &id));
    NOTE(ncmpi_def_dim(ncid, "long", (MPI_Offset)INT_MAX + 1, &id));
    NOTE(ncmpi_def_var(ncid, "new", NC_UBYTE, 2, dims, &id));
    NOTE(ncmpi_def_var(ncid, "more", NC_BYTE, 2, dims, &id));
    NOTE(ncmpi_put_att_longlong(ncid, id, "new", NC_UINT, 1, &(long long){1}));
    NOTE(ncmpi_def_var_fill(ncid, RECORD, 0, &(short){1}));
    NOTE(ncmpi_inq_recsize(ncid, &size));
    note(t, "record size in define mode", size);
    NOTE(ncmpi_enddef(ncid));
    NOTE(ncmpi_inq_recsize(ncid, &size));
    note(t, "record size", size);
    put_bytes(ncid, t);
}

/* The file that is opened again is netCDF-4 with the classic model, whose code for other types is NC_ESTRICTNC3. */
static void run_program(int cmode, const char *format, trace *t)
{
    int ncid = -1, old;

    t->n = 0;
    NOTE(create(cmode, format, &ncid));
    NOTE(ncmpi_set_fill(ncid, NC_FILL, &old));
    define_dims(ncid, t);
    define_vars(ncid, t);
    put_atts(ncid, t);
    NOTE(ncmpi_enddef(ncid));
    put_bytes(ncid, t);
    put_records(ncid, t);
    fail_data(ncid, t);
    redefine(ncid, t);
    NOTE(ncmpi_close(ncid));
    NOTE(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid));
    put_bytes(ncid, t);
    put_records(ncid, t);
    fail_data(ncid, t);
    NOTE(ncmpi_close(ncid));
}

/* --- cases --- */

static void check_same(int cmode, const char *format, const char *name)
{
    static trace without, with;
    int different = 0;

    run_program(cmode, NULL, &without);
    run_program(cmode, format, &with);
    for (int i = 0; i < without.n && i < with.n; i++)
        if (without.got[i] != with.got[i] && ++different <= 8)
            t_local(false, "%s: %lld with the hint, %lld without", with.what[i], with.got[i], without.got[i]);
    t_check(different == 0 && with.n == without.n, "%s with nc_format=%s: %d results are the same", name, format,
            without.n);
}

static int get_format(int cmode, const char *hint)
{
    int ncid, format = -1, seen = -1, id, err;

    t_local(create(cmode, hint, &ncid) == NC_NOERR, "create");
    ncmpi_inq_format(ncid, &seen);
    err = ncmpi_def_var(ncid, "v", NC_UINT64, 0, NULL, &id);
    ncmpi_close(ncid);
    ncmpi_inq_file_format(path, &format);
    t_local((err == NC_NOERR) == (format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_CDF5), "NC_UINT64: %s",
            ncmpi_strerrno(err));
    if (cmode == 0 || cmode == NC_64BIT_OFFSET) /* what the hint names */
        t_local(seen == NC_FORMAT_NETCDF4, "inq_format: %d", seen);
    else
        t_local(seen == format, "inq_format: %d, not %d", seen, format);
    return format;
}

static void check_formats(void)
{
    static const struct {
        int cmode;
        const char *hint;
        int format;
    } rows[] = {{0, "netcdf4", NC_FORMAT_NETCDF4_CLASSIC},
                {NC_64BIT_OFFSET, "netcdf4", NC_FORMAT_NETCDF4_CLASSIC},
                {NC_64BIT_DATA, "netcdf4", NC_FORMAT_NETCDF4},
                {NC_NETCDF4, "netcdf4", NC_FORMAT_NETCDF4},
                {NC_NETCDF4 | NC_CLASSIC_MODEL, "netcdf4", NC_FORMAT_NETCDF4_CLASSIC},
                {NC_64BIT_DATA, "netcdf4_classic", NC_FORMAT_NETCDF4_CLASSIC},
                {NC_NETCDF4, "cdf2", NC_FORMAT_CDF2},
                {NC_NETCDF4, "automatic", NC_FORMAT_NETCDF4}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int format = get_format(rows[i].cmode, rows[i].hint);

        t_check(format == rows[i].format, "mode %d with nc_format=%s: format %d", rows[i].cmode, rows[i].hint, format);
    }
}

/* With the classic model alone: as in netCDF-C 4.9. */
static void check_classic_model(void)
{
    unsigned char bytes[2] = {200, 255};
    signed char back[2] = {0};
    int ncid, dim, id;

    t_local(create(NC_NETCDF4 | NC_CLASSIC_MODEL, NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "x", 2, &dim) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &id) == NC_NOERR, "def_var");
    expect_code(ncmpi_def_var(ncid, "w", NC_UBYTE, 1, &dim, &dim), NC_ESTRICTNC3, "NC_UBYTE in the classic model");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    expect_ok(ncmpi_put_var_uchar_all(ncid, id, bytes), "put unsigned bytes into NC_BYTE");
    expect_ok(ncmpi_get_var_schar_all(ncid, id, back), "get them as signed ones");
    t_check(back[0] == -56 && back[1] == -1, "they keep their bits");
    expect_ok(ncmpi_close(ncid), "close");
}

/* netCDF-C 4.9 returns NC_ERANGE here, and its constant of the same name has the same value. */
static void check_full_model(void)
{
    int ncid, id;

    t_local(create(NC_NETCDF4, NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_var(ncid, "v", NC_BYTE, 0, NULL, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    expect_code(ncmpi_put_var_uchar_all(ncid, id, &(unsigned char){200}), NC_ERANGE,
                "200 as NC_BYTE, where it has a sign");
    expect_ok(ncmpi_close(ncid), "close");
}

static bool has_netcdf4(void)
{
    int ncid, err = create(NC_NETCDF4, NULL, &ncid);

    if (err != NC_NOERR)
        t_skip("the build is without HDF5");
    else
        ncmpi_close(ncid);
    return err == NC_NOERR;
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("hinted.nc"));
    if (has_netcdf4()) {
        check_same(0, "netcdf4", "CDF-1");
        check_same(NC_64BIT_OFFSET, "netcdf4", "CDF-2");
        check_same(0, "netcdf4_classic", "CDF-1");
        check_formats();
        check_classic_model();
        check_full_model();
    }
    return t_finish();
}
