/* The hint nc_error: which variables have a bound, which hint or choice of the program decides, what their attributes
 * say, files that are opened again, and values whose chunk is written ten times, which are rounded once. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "info.h"

enum { X = 64, STEPS = 10 };
enum { TEMP, WIND, RAIN, DEPTH, COUNTS, X_OF, OWN, STATED, NVARS };
static const char *const names[] = {"temp", "wind", "rain", "depth", "counts", "x", "own", "stated"};
static const nc_type types[] = {NC_FLOAT, NC_DOUBLE, NC_FLOAT, NC_FLOAT, NC_INT, NC_DOUBLE, NC_FLOAT, NC_FLOAT};
static const double other_bound = 5;

static char path[4096];

static void is_fine(int got, const char *text)
{
    t_local(got == NC_NOERR, "%s: %s", text, ncmpi_strerror(got));
}

static int create(const char *const *pairs, int *ids)
{
    MPI_Info info = make_info(pairs);
    int ncid = -1, dims[2];

    is_fine(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    MPI_Info_free(&info);
    is_fine(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]), "def_dim");
    is_fine(ncmpi_def_dim(ncid, "x", X, &dims[1]), "def_dim");
    for (int i = 0; i < NVARS; i++)
        is_fine(ncmpi_def_var(ncid, names[i], types[i], i == X_OF ? 1 : 2, i == X_OF ? dims + 1 : dims, &ids[i]),
                names[i]);
    is_fine(ncmpi_put_att_double(ncid, ids[STATED], "maximum_absolute_error", NC_DOUBLE, 1, &other_bound), "put_att");
    return ncid;
}

/* The bound that an attribute says; 0: none. */
static double get_bound(int ncid, int id, const char *attribute)
{
    double bound = 0;

    if (ncmpi_get_att_double(ncid, id, attribute, &bound) != NC_NOERR)
        return 0;
    return bound;
}

static void bounds_are(int ncid, const int *ids, const double *absolute, const double *relative, const char *text)
{
    for (int i = 0; i < NVARS; i++) {
        double a = get_bound(ncid, ids[i], "maximum_absolute_error"),
               r = get_bound(ncid, ids[i], "maximum_relative_error");

        t_local(a == absolute[i] && r == relative[i], "%s: %s has %g, %g; expected %g, %g", text, names[i], a, r,
                absolute[i], relative[i]);
    }
    t_check(true, "%s", text);
}

/* One record, of the value 0.3 in all places but the first, in which rank 0 puts it. */
static float put_and_get(int ncid, int id, MPI_Offset record)
{
    const MPI_Offset at[] = {record, 1}, count[] = {1, 1}, none[] = {0, 0};
    const float value = 0.3F;
    float got = 0;

    is_fine(ncmpi_put_vara_float_all(ncid, id, at, t_rank == 0 ? count : none, &value), "put_vara_float_all");
    is_fine(ncmpi_get_var1_float_all(ncid, id, at, &got), "get_var1_float_all");
    return got;
}

/* --- which variables --- */

static void test_choice(const char *format)
{
    const char *const pairs[] = {"nc_format",   format,          "nc_error", "abs:0.01",         "nc_error@wi*",
                                 "rel:1e-4",    "nc_error@rain", "none",     "nc_quantize@dep*", "bitround:4",
                                 "nc_quantize", "bitround:3",    NULL};
    const double absolute[] = {0.01, 0, 0, 0, 0, 0, 0.01, other_bound}, relative[NVARS] = {[WIND] = 1e-4};
    const double own_absolute[] = {0.01, 0, 0, 0, 0, 0, 0, other_bound};
    int ids[NVARS], ncid = create(pairs, ids), mode = -1, bits = -1;
    bool has_storage = strcmp(format, "netcdf4") == 0;

    if (has_storage)
        is_fine(ncmpi_def_var_quantize(ncid, ids[OWN], NC_QUANTIZE_BITROUND, 5), "def_var_quantize");
    is_fine(ncmpi_enddef(ncid), "enddef");
    bounds_are(ncid, ids, has_storage ? own_absolute : absolute, relative, format);
    if (has_storage) {
        is_fine(ncmpi_inq_var_quantize(ncid, ids[DEPTH], &mode, &bits), "inq_var_quantize");
        t_check(mode == NC_QUANTIZE_BITROUND && bits == 4, "a pattern of nc_quantize decides before nc_error");
        is_fine(ncmpi_inq_var_quantize(ncid, ids[TEMP], &mode, &bits), "inq_var_quantize");
        t_check(mode == NC_NOQUANTIZE, "nc_error decides before nc_quantize");
        is_fine(ncmpi_inq_var_quantize(ncid, ids[RAIN], &mode, &bits), "inq_var_quantize");
        t_check(mode == NC_QUANTIZE_BITROUND && bits == 3, "nc_error=none leaves nc_quantize");
    }
    /* 0.3 is 1.0011001.. / 4 in binary numbers: four bits give 0.296875, three 0.3125 */
    t_check(put_and_get(ncid, ids[TEMP], 0) == 0.296875F, "%s: 0.3 within 0.01: %g", format,
            put_and_get(ncid, ids[TEMP], 0));
    is_fine(ncmpi_close(ncid), "close");
}

/* Rounded only if attribute and hint say the same. */
static void test_open(const char *format)
{
    const char *const pairs[] = {"nc_format", format, "nc_error", "abs:0.01", NULL};
    const char *const same[] = {"nc_error@t*", "abs:1e-2", NULL}, *const other[] = {"nc_error", "abs:0.02", NULL};
    const char *const *const hints[] = {NULL, same, other};
    int ids[NVARS], ncid = create(pairs, ids);

    is_fine(ncmpi_enddef(ncid), "enddef");
    is_fine(ncmpi_close(ncid), "close");
    for (int k = 0; k < 3; k++) {
        MPI_Info info = hints[k] == NULL ? MPI_INFO_NULL : make_info(hints[k]);
        float got;

        is_fine(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid), "open");
        got = put_and_get(ncid, ids[TEMP], k);
        t_check(got == (k == 1 ? 0.296875F : 0.3F), "%s, opened again, %d: %g", format, k, got);
        got = put_and_get(ncid, ids[STATED], k);
        t_check(got == 0.3F, "%s: an attribute of the program with another bound: %g", format, got);
        is_fine(ncmpi_redef(ncid), "redef");
        is_fine(ncmpi_enddef(ncid), "enddef");
        got = put_and_get(ncid, ids[TEMP], k);
        t_check(got == (k == 1 ? 0.296875F : 0.3F), "%s, after redef, %d: %g", format, k, got);
        is_fine(ncmpi_close(ncid), "close");
        if (info != MPI_INFO_NULL)
            MPI_Info_free(&info);
    }
}

/* The definitions of another rank are replaced by those of rank 0, whose variables have bounds. */
static void test_overruled(void)
{
    const char *const pairs[] = {"nc_format", "netcdf4", "nc_error", "abs:0.01", NULL};
    int ids[NVARS], ncid, err;
    const MPI_Offset at[] = {t_rank, 1}, count[] = {1, 1};
    const float value = 0.3F;
    float got = 0;

    if (t_nprocs == 1)
        return;
    ncid = create(pairs, ids);
    if (t_rank > 0)
        is_fine(ncmpi_put_att_text(ncid, ids[TEMP], "units", 1, "K"), "put_att");
    err = ncmpi_enddef(ncid);
    t_local(err == NC_NOERR || err == NC_EMULTIDEFINE || err == NC_EMULTIDEFINE_ATTR_NUM, "enddef: %s",
            ncmpi_strerrno(err));
    is_fine(ncmpi_put_vara_float_all(ncid, ids[TEMP], at, count, &value), "put_vara_float_all");
    is_fine(ncmpi_get_vara_float_all(ncid, ids[TEMP], at, count, &got), "get_vara_float_all");
    t_check(got == 0.296875F, "definitions that rank 0 has overruled: %g", got);
    is_fine(ncmpi_close(ncid), "close");
}

/* --- once --- */

/* Of all ranks; nothing that few bits say. */
static double get_value(int step, int i)
{
    return 280 + 20 * sin(0.37 * i + 1.7 * step + 100 * t_rank) + 1e-7 * i;
}

static void put_step(int ncid, int id, int step)
{
    const int n = (X - step + STEPS - 1) / STEPS;
    const MPI_Offset start[] = {t_rank, step}, count[] = {1, n}, stride[] = {1, STEPS};
    double values[X];

    for (int i = 0; i < n; i++)
        values[i] = get_value(step, i);
    is_fine(ncmpi_put_vars_double_all(ncid, id, start, count, stride, values), "put_vars_double_all");
}

/* Those of earlier steps have not changed, and all are within the bound. */
static void compare_steps(int ncid, int id, int step, double bound, bool is_relative, double *known)
{
    const MPI_Offset start[] = {t_rank, 0}, count[] = {1, X};
    double got[X];

    is_fine(ncmpi_get_vara_double_all(ncid, id, start, count, got), "get_vara_double_all");
    for (int i = 0; i < X; i++) {
        int at = i % STEPS;
        double put = get_value(at, i / STEPS);

        if (at > step)
            continue;
        t_local(fabs(got[i] - put) <= (is_relative ? bound * fabs(put) : bound),
                "step %d: value %d is %.17g, not %.17g", step, i, got[i], put);
        t_local(at == step || got[i] == known[i], "step %d: value %d was %.17g, and is %.17g", step, i, known[i],
                got[i]);
        known[i] = got[i];
    }
}

/* A chunk has the records of all ranks, and gets a tenth of its values at a time; in between it is written, and every
 * other time read again from the file. */
static void test_rewriting(const char *hint, double bound, bool is_relative)
{
    const char *const pairs[] = {"nc_format", "netcdf4",      "nc_error",       hint, "nc_compression",
                                 "deflate",   "nc_chunks@t*", "time/1000,x/64", NULL};
    int ids[NVARS], ncid = create(pairs, ids);
    double known[2][X] = {{0}};

    is_fine(ncmpi_enddef(ncid), "enddef");
    for (int step = 0; step < STEPS; step++) {
        for (int k = 0; k < 2; k++)
            put_step(ncid, ids[k], step);
        is_fine(ncmpi_sync(ncid), "sync");
        if (step % 2 == 1) {
            MPI_Info info = make_info(pairs);

            is_fine(ncmpi_close(ncid), "close");
            is_fine(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid), "open");
            MPI_Info_free(&info);
        }
        for (int k = 0; k < 2; k++)
            compare_steps(ncid, ids[k], step, bound, is_relative, known[k]);
    }
    is_fine(ncmpi_close(ncid), "close");
    t_check(true, "nc_error=%s: ten puts into a chunk: each value is rounded once", hint);
}

int main(int argc, char **argv)
{
    int ncid;

    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("error_bound.nc"));
    test_choice("cdf2");
    test_open("cdf5");
    if (ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid) == NC_ENOTBUILT) {
        t_skip("netCDF-4 files: the build is without HDF5");
        return t_finish();
    }
    is_fine(ncmpi_close(ncid), "close");
    test_choice("netcdf4");
    test_open("netcdf4");
    test_overruled();
    test_rewriting("abs:0.01", 0.01, false);
    test_rewriting("rel:1e-4", 1e-4, true);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
