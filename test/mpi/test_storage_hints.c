/* Hints for the storage of variables (nc_compression, nc_shuffle, nc_chunks, nc_quantize): which variables get what,
 * which hint decides, what a program chooses by itself and cannot, values that are ignored, classic files; and what the
 * inquiries that only classic files can answer return for a netCDF-4 file that a hint has made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "info.h"

enum { T = 3, Y = 40, X = 50 };
enum { TEMP, TOTAL, TMIN, LAT, LON, BOUNDS, MASK, NAMES, SCALAR, OWN, NVARS };
static const char *const names[] = {"temp",     "total", "tmin",  "lat",    "lon",
                                    "lat_bnds", "mask",  "names", "scalar", "own"};

static char path[4096];

static void is_fine(int got, const char *text)
{
    t_local(got == NC_NOERR, "%s: %s", text, ncmpi_strerror(got));
}

static void define(int ncid, int *ids)
{
    static const struct {
        nc_type type;
        int ndims, dims[3];
    } vars[NVARS] = {
        [TEMP] = {NC_FLOAT, 3, {0, 1, 2}}, [TOTAL] = {NC_DOUBLE, 2, {1, 2}}, [TMIN] = {NC_FLOAT, 2, {0, 2}},
        [LAT] = {NC_FLOAT, 1, {1}},        [LON] = {NC_FLOAT, 2, {1, 2}},    [BOUNDS] = {NC_DOUBLE, 2, {1, 2}},
        [MASK] = {NC_INT, 2, {1, 2}},      [NAMES] = {NC_CHAR, 2, {1, 2}},   [SCALAR] = {NC_FLOAT, 0, {0}},
        [OWN] = {NC_FLOAT, 2, {1, 2}}};
    int dims[3];

    is_fine(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]), "def_dim");
    is_fine(ncmpi_def_dim(ncid, "lat", Y, &dims[1]), "def_dim");
    is_fine(ncmpi_def_dim(ncid, "x", X, &dims[2]), "def_dim");
    for (int i = 0; i < NVARS; i++) {
        int dimids[3];

        for (int d = 0; d < vars[i].ndims; d++)
            dimids[d] = dims[vars[i].dims[d]];
        is_fine(ncmpi_def_var(ncid, names[i], vars[i].type, vars[i].ndims, dimids, &ids[i]), names[i]);
    }
    is_fine(ncmpi_put_att_text(ncid, ids[TEMP], "coordinates", 8, "none lon"), "put_att");
    is_fine(ncmpi_put_att_text(ncid, ids[LAT], "bounds", 8, "lat_bnds"), "put_att");
}

static int create(const char *const *pairs, int *ids)
{
    MPI_Info info = make_info(pairs);
    int ncid = -1;

    is_fine(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    MPI_Info_free(&info);
    define(ncid, ids);
    return ncid;
}

static bool has_netcdf4(void)
{
    int ncid, err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid);

    if (err == NC_NOERR)
        is_fine(ncmpi_close(ncid), "close");
    return err != NC_ENOTBUILT;
}

/* --- which variables get what --- */

/* "deflate 2 shuffle" or the like. */
static const char *describe_filters(int ncid, int id)
{
    static char text[80];
    int shuffle = 0, deflate = 0, level = 0, has_zstd = 0, zstd_level = 0;

    is_fine(ncmpi_inq_var_deflate(ncid, id, &shuffle, &deflate, &level), "inq_var_deflate");
    is_fine(ncmpi_inq_var_zstandard(ncid, id, &has_zstd, &zstd_level), "inq_var_zstandard");
    snprintf(text, sizeof text, "%s%s%d%s", deflate ? "deflate " : "", has_zstd ? "zstd " : "",
             has_zstd ? zstd_level : level, shuffle ? " shuffle" : "");
    return text;
}

static void filters_are(int ncid, const int *ids, const char *const *wanted, const char *text)
{
    for (int i = 0; i < NVARS; i++)
        t_local(strcmp(describe_filters(ncid, ids[i]), wanted[i]) == 0, "%s: %s has \"%s\", expected \"%s\"", text,
                names[i], describe_filters(ncid, ids[i]), wanted[i]);
    t_check(true, "%s", text);
}

static void test_compression(void)
{
    const char *const all[] = {"nc_format", "netcdf4", "nc_compression", "deflate:2", NULL};
    const char *const patterns[] = {"nc_format",
                                    "netcdf4",
                                    "nc_compression",
                                    "deflate",
                                    "nc_compression@t*",
                                    "deflate:3",
                                    "nc_compression@temp",
                                    "deflate:4",
                                    "nc_compression@la*",
                                    "none",
                                    "nc_shuffle@temp",
                                    "disable",
                                    "nc_compression@n*",
                                    "deflate:5",
                                    NULL};
    const char *const by_all[NVARS] = {[TEMP] = "deflate 2 shuffle",
                                       [TOTAL] = "deflate 2 shuffle",
                                       [TMIN] = "deflate 2 shuffle",
                                       [LAT] = "deflate 2 shuffle",
                                       [LON] = "deflate 2 shuffle",
                                       [BOUNDS] = "deflate 2 shuffle",
                                       [MASK] = "deflate 2 shuffle",
                                       [NAMES] = "0",
                                       [SCALAR] = "0",
                                       [OWN] = "deflate 9"};
    const char *const by_patterns[NVARS] = {[TEMP] = "deflate 4",
                                            [TOTAL] = "deflate 3 shuffle",
                                            [TMIN] = "deflate 3 shuffle",
                                            [LAT] = "0",
                                            [LON] = "deflate 1 shuffle",
                                            [BOUNDS] = "0",
                                            [MASK] = "deflate 1 shuffle",
                                            [NAMES] = "deflate 5",
                                            [SCALAR] = "0",
                                            [OWN] = "0"};
    int ids[NVARS], ncid = create(all, ids);

    is_fine(ncmpi_def_var_deflate(ncid, ids[OWN], 0, 1, 9), "def_var_deflate");
    is_fine(ncmpi_enddef(ncid), "enddef");
    filters_are(ncid, ids, by_all, "nc_compression: all but scalars, text, and what the program chose");
    is_fine(ncmpi_redef(ncid), "redef");
    is_fine(ncmpi_def_var(ncid, "later", NC_SHORT, 2, (const int[]){1, 2}, &ids[SCALAR]), "def_var");
    is_fine(ncmpi_enddef(ncid), "enddef");
    t_check(strcmp(describe_filters(ncid, ids[SCALAR]), "deflate 2 shuffle") == 0,
            "a variable of a later define mode: %s", describe_filters(ncid, ids[SCALAR]));
    is_fine(ncmpi_close(ncid), "close");

    ncid = create(patterns, ids);
    is_fine(ncmpi_def_var_chunking(ncid, ids[OWN], NC_CONTIGUOUS, NULL), "def_var_chunking");
    is_fine(ncmpi_enddef(ncid), "enddef");
    filters_are(ncid, ids, by_patterns, "the pattern with most characters decides; a contiguous variable stays so");
    is_fine(ncmpi_close(ncid), "close");
}

static void chunks_are(int ncid, int id, int ndims, const MPI_Offset *wanted, const char *text)
{
    MPI_Offset chunks[3] = {0};
    int layout = -1;

    is_fine(ncmpi_inq_var_chunking(ncid, id, &layout, chunks), "inq_var_chunking");
    for (int d = 0; d < ndims; d++)
        t_local(wanted[d] <= 0 || chunks[d] == wanted[d], "%s: chunk length %d is %lld, expected %lld", text, d,
                (long long)chunks[d], (long long)wanted[d]);
    t_check(layout == (wanted[0] < 0 ? NC_CONTIGUOUS : NC_CHUNKED), "%s: layout %d", text, layout);
}

static void test_chunks(void)
{
    const char *const by_length[] = {"nc_format", "netcdf4", "nc_chunks", "10,5000", "nc_chunks@m*", "auto", NULL};
    const char *const by_name[] = {"nc_format", "netcdf4", "nc_chunks", "time/2,lat/7", NULL};
    const char *const too_large[] = {"nc_format", "netcdf4", "nc_chunks", "time/4000000000", NULL};
    const MPI_Offset none[] = {-1, -1}, own[] = {3, 4};
    int ids[NVARS], ncid = create(by_length, ids), code = -1;
    char message[NC_MAX_MESSAGE] = "";

    is_fine(ncmpi_def_var_chunking(ncid, ids[OWN], NC_CHUNKED, own), "def_var_chunking");
    is_fine(ncmpi_enddef(ncid), "enddef");
    chunks_are(ncid, ids[TOTAL], 2, (const MPI_Offset[]){10, X}, "lengths, at most those of the dimensions");
    chunks_are(ncid, ids[TEMP], 3, (const MPI_Offset[]){0, 0, X},
               "another number of dimensions: chosen by the library");
    chunks_are(ncid, ids[MASK], 2, none, "auto: as without the hint");
    chunks_are(ncid, ids[OWN], 2, own, "the program has chosen");
    is_fine(ncmpi_close(ncid), "close");

    ncid = create(by_name, ids);
    is_fine(ncmpi_enddef(ncid), "enddef");
    chunks_are(ncid, ids[TEMP], 3, (const MPI_Offset[]){2, 7, X}, "by the names of two dimensions");
    chunks_are(ncid, ids[MASK], 2, (const MPI_Offset[]){7, X}, "by the name of one");
    is_fine(ncmpi_close(ncid), "close");

    ncid = create(too_large, ids);
    is_fine(ncmpi_enddef(ncid), "enddef");
    is_fine(ncmpi_inq_last_error(ncid, &code, message), "inq_last_error");
    t_check(code == NC_NOERR && strstr(message, "4 GiB") != NULL, "chunks that are too large are ignored: %s", message);
    chunks_are(ncid, ids[TEMP], 3, (const MPI_Offset[]){0, 0, X}, "and the library chooses");
    is_fine(ncmpi_close(ncid), "close");
}

/* --- quantization --- */

static const char *const attribute = "_QuantizeBitRoundNumberOfSignificantBits";

static int get_bits(int ncid, int id)
{
    int bits = 0;

    return ncmpi_get_att_int(ncid, id, attribute, &bits) == NC_NOERR ? bits : 0;
}

static void put_thirds(int ncid, int id, MPI_Offset record)
{
    float third[X];
    const MPI_Offset start[] = {record, 0}, count[] = {t_rank == 0, X};

    for (int i = 0; i < X; i++)
        third[i] = 1 / 3.0F;
    is_fine(ncmpi_put_vara_float_all(ncid, id, start, count, third), "put_vara_float_all");
    t_local(third[0] == 1 / 3.0F, "the buffer of the program");
}

static float get_first(int ncid, int id, MPI_Offset record)
{
    const MPI_Offset index[] = {record, 0};
    float value = 0;

    is_fine(ncmpi_get_var1_float_all(ncid, id, index, &value), "get_var1_float_all");
    return value;
}

/* A third with 4 bits: 1.0101 / 4 in binary numbers, rounded up at the next one. */
#define THIRD 0.328125F

static void check_quantization(const char *format)
{
    const char *const pairs[] = {"nc_format",       format,        "nc_quantize", "bitround:4",
                                 "nc_quantize@own", "bitround:30", NULL};
    const char *const same[] = {"nc_quantize@t*", "bitround:4", NULL};
    const char *const other[] = {"nc_quantize", "bitround:5", NULL};
    bool is_classic = format[0] == 'c';
    int ids[NVARS], ncid = create(pairs, ids);

    is_fine(ncmpi_enddef(ncid), "enddef");
    for (int i = 0; i < NVARS; i++) {
        bool is_quantized = i == TEMP || i == TOTAL || i == TMIN || i == SCALAR;

        t_local(get_bits(ncid, ids[i]) == (is_quantized ? 4 : 0), "%s: %s: %d bits", format, names[i],
                get_bits(ncid, ids[i]));
    }
    t_check(true, "%s: floats are quantized; not coordinates, bounds, integers, nor with more bits than they have",
            format);
    put_thirds(ncid, ids[TMIN], 0);
    put_thirds(ncid, ids[LON], 0);
    t_check(get_first(ncid, ids[TMIN], 0) == THIRD, "%s: what is put: %g", format, get_first(ncid, ids[TMIN], 0));
    t_check(get_first(ncid, ids[LON], 0) == 1 / 3.0F, "%s: a coordinate: %g", format, get_first(ncid, ids[LON], 0));
    is_fine(ncmpi_close(ncid), "close");

    for (int k = 0; k < 3; k++) { /* again: without a hint, with the same one, with another one */
        MPI_Info info = k == 0 ? MPI_INFO_NULL : make_info(k == 1 ? same : other);
        bool is_quantized = !is_classic || k == 1;

        is_fine(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid), "open");
        put_thirds(ncid, ids[TMIN], k + 1);
        t_check(get_first(ncid, ids[TMIN], k + 1) == (is_quantized ? THIRD : 1 / 3.0F), "%s, opened again, %d: %g",
                format, k, get_first(ncid, ids[TMIN], k + 1));
        is_fine(ncmpi_close(ncid), "close");
        if (info != MPI_INFO_NULL)
            MPI_Info_free(&info);
    }
}

/* Small puts in define mode are kept before it is known whether they are quantized. */
static void test_early_puts(void)
{
    const char *const pairs[] = {"nc_quantize@tm*", "bitround:4", NULL};
    const float third = 1 / 3.0F;
    const MPI_Offset start[] = {t_rank, 0}, count[] = {1, 1};
    int ids[NVARS], ncid = create(pairs, ids), request, status = -1;

    is_fine(ncmpi_buffer_attach(ncid, 100), "buffer_attach");
    is_fine(ncmpi_bput_vara_float(ncid, ids[TMIN], start, count, &third, &request), "bput_vara_float");
    is_fine(ncmpi_enddef(ncid), "enddef");
    is_fine(ncmpi_wait_all(ncid, 1, &request, &status), "wait_all");
    t_check(get_first(ncid, ids[TMIN], t_rank) == THIRD, "bput in define mode: %g", get_first(ncid, ids[TMIN], t_rank));
    is_fine(ncmpi_buffer_detach(ncid), "buffer_detach");
    is_fine(ncmpi_close(ncid), "close");
}

/* --- values that are ignored, and reports --- */

static void test_values(void)
{
    static const struct {
        const char *key, *value, *reason; /* NULL: valid */
    } rows[] = {{"nc_compression", "deflate:1", NULL},
                {"nc_compression", "deflate", NULL},
                {"nc_compression", "none", NULL},
                {"nc_compression", "deflate:0", "zstd:LEVEL"},
                {"nc_compression", "deflate:10", "deflate:9"},
                {"nc_compression", "deflate:", "deflate:9"},
                {"nc_compression", "gzip", "deflate:9"},
                {"nc_compression@T*", "deflate:x", "nc_compression@T*"},
                {"nc_compression@", "deflate:1", "must follow the @"},
                {"nc_chunks@", "auto", "must follow the @"},
                {"nc_shuffle", "enable", NULL},
                {"nc_shuffle", "yes", "automatic"},
                {"nc_chunks", "1,2,3", NULL},
                {"nc_chunks", "auto", NULL},
                {"nc_chunks", "a/1,b/2", NULL},
                {"nc_chunks", "1,b/2", "lat/180"},
                {"nc_chunks", "1,", "lat/180"},
                {"nc_chunks", "-1", "lat/180"},
                {"nc_chunks", "a/", "lat/180"},
                {"nc_chunks", "/3", "lat/180"},
                {"nc_chunks", "99999999999999999999", "lat/180"},
                {"nc_quantize", "bitround:52", NULL},
                {"nc_quantize", "bitround:53", "bitround:BITS"},
                {"nc_quantize", "granular:0", "granular"},
                {"nc_quantize", "bitgroom:16", "granular"},
                {"nc_quantize", "bitround", "bitround:BITS"},
                {"nc_quantize", "none", NULL},
                {"nc_error", "abs:0.01", NULL},
                {"nc_error", "rel:1e-4", NULL},
                {"nc_error", "abs:.5E+3", NULL},
                {"nc_error", "none", NULL},
                {"nc_error", "abs:0", "greater than 0"},
                {"nc_error", "abs:-1", "greater than 0"},
                {"nc_error", "abs:nan", "abs:NUMBER"},
                {"nc_error", "abs:0x1p3", "abs:NUMBER"},
                {"nc_error", "abs:1e999", "abs:NUMBER"},
                {"nc_error", "abs:1e", "abs:NUMBER"},
                {"nc_error", "rel:1", "less than 1"},
                {"nc_error", "0.01", "abs:NUMBER"},
                {"nc_error@T*", "abs:", "nc_error@T*"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const pairs[] = {"nc_format", "netcdf4", rows[i].key, rows[i].value, NULL};
        char message[NC_MAX_MESSAGE] = "";
        MPI_Info info = make_info(pairs);
        int ncid, code = -1;

        is_fine(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
        MPI_Info_free(&info);
        ncmpi_inq_last_error(ncid, &code, message);
        t_check(rows[i].reason == NULL ? strstr(message, rows[i].key) == NULL
                                       : code == NC_NOERR && strstr(message, rows[i].reason) != NULL &&
                                             strstr(message, "is ignored") != NULL,
                "%s=%s: %s", rows[i].key, rows[i].value, message);
        is_fine(ncmpi_close(ncid), "close");
    }
}

static bool is_reported(int ncid, const char *key)
{
    char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info used = MPI_INFO_NULL;
    int found = 0;

    is_fine(ncmpi_inq_file_info(ncid, &used), "inq_file_info");
    MPI_Info_get(used, key, MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&used);
    return found != 0;
}

static void test_reports(bool netcdf4)
{
    const char *const pairs[] = {"nc_format",
                                 netcdf4 ? "netcdf4" : "cdf2",
                                 "nc_compression@t*",
                                 "deflate:1",
                                 "nc_chunks",
                                 "10,20",
                                 "nc_quantize",
                                 "granular:3",
                                 NULL};
    int ids[NVARS], ncid = create(pairs, ids);

    t_check(is_reported(ncid, "nc_compression@t*") == netcdf4, "inq_file_info: nc_compression@t* in netCDF-4 only");
    t_check(is_reported(ncid, "nc_chunks") == netcdf4, "inq_file_info: nc_chunks in netCDF-4 only");
    t_check(is_reported(ncid, "nc_quantize"), "inq_file_info: nc_quantize");
    is_fine(ncmpi_close(ncid), "close");
}

static void remark_has(int ncid, const char *wanted, bool has, const char *text)
{
    char message[NC_MAX_MESSAGE] = "";
    int code = -1;

    is_fine(ncmpi_inq_last_error(ncid, &code, message), "inq_last_error");
    t_check((code == NC_NOERR && strstr(message, wanted) != NULL) == has, "%s: %s%s: %s", text, has ? "" : "not ",
            wanted, message);
}

static void test_unused(void)
{
    const char *const pairs[] = {"nc_format",
                                 "netcdf4",
                                 "nc_compression@t*",
                                 "deflate:1",
                                 "nc_chunks@later",
                                 "1,2",
                                 "nc_shuffle@T[",
                                 "disable",
                                 "nc_chunks",
                                 "z/9",
                                 "nc_chunks@t*",
                                 "y/4,lat/3",
                                 NULL};
    const char *const classic[] = {"nc_format", "cdf2", "nc_compression@none", "deflate:1", NULL};
    const char *const unused[] = {"nc_shuffle@T[=disable", "nc_chunks=z/9", "nc_chunks@later=1,2"};
    int ids[NVARS], ncid = create(pairs, ids);

    is_fine(ncmpi_enddef(ncid), "enddef");
    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++)
        remark_has(ncid, unused[i], true, "hints for no variable are a remark");
    remark_has(ncid, "nc_compression", false, "other hints are not among them");
    remark_has(ncid, "nc_chunks@t*", false, "nor chunks of which a variable has one of the dimensions");
    is_fine(ncmpi_redef(ncid), "redef");
    is_fine(ncmpi_def_var(ncid, "later", NC_SHORT, 2, (const int[]){1, 2}, &ids[0]), "def_var");
    is_fine(ncmpi_enddef(ncid), "enddef");
    remark_has(ncid, unused[0], true, "after later definitions");
    remark_has(ncid, unused[2], false, "later definitions have it");
    is_fine(ncmpi_close(ncid), "close");

    ncid = create(classic, ids);
    is_fine(ncmpi_enddef(ncid), "enddef");
    remark_has(ncid, "no variable", false, "hints without effect in a classic file");
    is_fine(ncmpi_close(ncid), "close");
}

/* The ranks have other values: rank 0's apply. */
static void test_ranks(void)
{
    const char *const pairs[] = {"nc_format", "netcdf4", "nc_compression", t_rank == 0 ? "deflate:3" : "none", NULL};
    int ids[NVARS], ncid = create(pairs, ids);

    expect_ok(ncmpi_enddef(ncid), "hints that differ across the ranks");
    t_check(strcmp(describe_filters(ncid, ids[TEMP]), "deflate 3 shuffle") == 0, "those of rank 0 apply: %s",
            describe_filters(ncid, ids[TEMP]));
    is_fine(ncmpi_close(ncid), "close");
}

/* --- what only classic files have --- */

static void check_classic_inquiries(int ncid, const int *ids, const char *mode)
{
    MPI_Offset header = -1, extent = -1, record = -1, offset = -1;
    MPI_Offset expected = strcmp(mode, "define mode") == 0 ? 0 : 4 * X * (Y + 1); /* of "temp" and "tmin" */
    int fixed = -1, records = -1, unlimited = -1;

    is_fine(ncmpi_inq_header_size(ncid, &header), mode);
    is_fine(ncmpi_inq_header_extent(ncid, &extent), mode);
    is_fine(ncmpi_inq_recsize(ncid, &record), mode);
    t_check(header == 0 && extent == 0 && record == expected, "%s: no header, a record size: %lld %lld %lld", mode,
            (long long)header, (long long)extent, (long long)record);
    is_fine(ncmpi_inq_varoffset(ncid, ids[TEMP], &offset), mode);
    t_check(offset == 0, "%s: chunks have no offset: %lld", mode, (long long)offset);
    is_fine(ncmpi_inq_num_rec_vars(ncid, &records), mode);
    is_fine(ncmpi_inq_num_fix_vars(ncid, &fixed), mode);
    is_fine(ncmpi_inq_unlimdim(ncid, &unlimited), mode);
    t_check(records == 2 && fixed == NVARS - 2 && unlimited == 0, "%s: %d variables with records, %d without", mode,
            records, fixed);
    t_check(!is_reported(ncid, "nc_var_align_size") && !is_reported(ncid, "nc_header_reserve"),
            "%s: hints of classic headers are not in effect", mode);
}

static void test_classic_inquiries(void)
{
    const char *const pairs[] = {"nc_format", "netcdf4_classic",   "nc_compression", "deflate:1", "nc_var_align_size",
                                 "4096",      "nc_header_reserve", "4096",           NULL};
    int ids[NVARS], ncid = create(pairs, ids), format = 0, mode = 0;

    check_classic_inquiries(ncid, ids, "define mode");
    expect_ok(ncmpi__enddef(ncid, 1000, 512, 1000, 512), "the arguments of ncmpi__enddef have no effect");
    check_classic_inquiries(ncid, ids, "data mode");
    is_fine(ncmpi_inq_format(ncid, &format), "inq_format");
    is_fine(ncmpi_inq_version(ncid, &mode), "inq_version");
    t_check(format == NC_FORMAT_NETCDF4_CLASSIC && mode == (NC_NETCDF4 | NC_CLASSIC_MODEL), "format %d, mode %d",
            format, mode);
    is_fine(ncmpi_close(ncid), "close");
}

/* --- what a program cannot choose --- */

static void is_refused(int got, int wanted, const char *text)
{
    t_local(got == wanted, "%s: %s", text, ncmpi_strerror(got));
}

/* Names of attributes that make the dimensions of a file: a user's value would break it. */
static void test_hidden_names(int ncid)
{
    static const char *const hidden[] = {"CLASS",          "NAME",          "REFERENCE_LIST",
                                         "DIMENSION_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates",
                                         "_NCProperties",  "_nc3_strict"};

    is_fine(ncmpi_put_att_text(ncid, 0, "class", 1, "a"), "put_att");
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        is_refused(ncmpi_put_att_text(ncid, 0, hidden[i], 1, "a"), NC_ENAMEINUSE, hidden[i]);
        is_refused(ncmpi_put_att_text(ncid, NC_GLOBAL, hidden[i], 1, "a"), NC_ENAMEINUSE, hidden[i]);
        is_refused(ncmpi_rename_att(ncid, 0, "class", hidden[i]), NC_ENAMEINUSE, hidden[i]);
    }
}

/* A block of szip that is longer than a chunk: libhdf5 would not create the variable. */
static void test_szip_blocks(int ncid, int dim)
{
    static const unsigned short_block[] = {4, 8}, long_block[] = {4, 32};
    const MPI_Offset few[] = {8}, many[] = {32};
    int small, varid;

    is_fine(ncmpi_def_dim(ncid, "few", 16, &small), "def_dim");
    is_fine(ncmpi_def_var(ncid, "chunks_first", NC_INT, 1, &dim, &varid), "def_var");
    is_fine(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, few), "def_var_chunking");
    is_refused(ncmpi_def_var_filter(ncid, varid, 4, 2, long_block), NC_EFILTER, "szip blocks of 32 in chunks of 8");
    is_fine(ncmpi_def_var_filter(ncid, varid, 4, 2, short_block), "szip blocks of 8 in chunks of 8");
    is_fine(ncmpi_def_var(ncid, "szip_first", NC_INT, 1, &dim, &varid), "def_var");
    is_fine(ncmpi_def_var_filter(ncid, varid, 4, 2, long_block), "szip blocks of 32 without chunks");
    is_refused(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, few), NC_EFILTER, "chunks of 8 with blocks of 32");
    is_fine(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, many), "chunks of 32 with blocks of 32");
    is_fine(ncmpi_def_var(ncid, "short_var", NC_INT, 1, &small, &varid), "def_var");
    is_refused(ncmpi_def_var_filter(ncid, varid, 4, 2, long_block), NC_EFILTER, "szip blocks of 32 of 16 elements");
}

/* Refused when they are chosen: later the file would be one that other software cannot read. */
static void test_refusals(void)
{
    static const unsigned szip[] = {4, 8};
    static const struct {
        unsigned id;
        int n;
        unsigned params[2];
        int code;
    } filters[] = {{0, 0, {0}, NC_EFILTER},    {65536, 0, {0}, NC_EFILTER}, {7777, 0, {0}, NC_ENOFILTER},
                   {1, 0, {0}, NC_EFILTER},    {1, 2, {1, 1}, NC_EFILTER},  {1, 1, {10}, NC_EINVAL},
                   {1, 1, {9}, NC_NOERR},      {4, 1, {4}, NC_EFILTER},     {4, 2, {4, 7}, NC_EINVAL},
                   {4, 2, {4, 34}, NC_EINVAL}, {4, 2, {4, 0}, NC_EINVAL},   {4, 2, {4, 32}, NC_NOERR},
                   {32015, 1, {23}, NC_EINVAL}};
    int ncid, dim, varid;

    is_fine(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid), "create");
    is_fine(ncmpi_def_dim(ncid, "x", 100, &dim), "def_dim");
    is_fine(ncmpi_def_var(ncid, "filtered", NC_INT, 1, &dim, &varid), "def_var");
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        char text[40];

        snprintf(text, sizeof text, "filter %u, %d parameters", filters[i].id, filters[i].n);
        is_refused(ncmpi_def_var_filter(ncid, varid, filters[i].id, filters[i].n, filters[i].params), filters[i].code,
                   text);
    }
    is_fine(ncmpi_def_var(ncid, "text", NC_CHAR, 1, &dim, &varid), "def_var");
    is_refused(ncmpi_def_var_filter(ncid, varid, 4, 2, szip), NC_EFILTER, "szip of text");
    test_szip_blocks(ncid, dim);
    for (int n = 65531; n <= 65532; n++) {
        char name[16];

        snprintf(name, sizeof name, "of_%d", n);
        is_fine(ncmpi_def_dim(ncid, name, n, &dim), "def_dim");
        is_fine(ncmpi_def_var(ncid, name, NC_BYTE, 1, &dim, &varid), "def_var");
        is_refused(ncmpi_def_var_chunking(ncid, varid, NC_COMPACT, NULL), n == 65531 ? NC_NOERR : NC_EVARSIZE, name);
    }
    test_hidden_names(ncid);
    is_fine(ncmpi_enddef(ncid), "the refused choices are no obstacle");
    is_fine(ncmpi_close(ncid), "close");
}

/* --- storage that needs care --- */

/* A compact variable that was just defined has values: none is in the file beside the metadata. */
static void test_compact(void)
{
    const short own = -3;
    short got[6] = {0};
    int ncid, dims[2], varid, alone, storage = -1, is_same = 1;

    is_fine(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid), "create");
    is_fine(ncmpi_def_dim(ncid, "y", 2, &dims[0]), "def_dim");
    is_fine(ncmpi_def_dim(ncid, "x", 3, &dims[1]), "def_dim");
    is_fine(ncmpi_def_var(ncid, "compact", NC_SHORT, 2, dims, &varid), "def_var");
    is_fine(ncmpi_def_var_chunking(ncid, varid, NC_COMPACT, NULL), "def_var_chunking");
    is_fine(ncmpi_def_var_endian(ncid, varid, NC_ENDIAN_BIG), "def_var_endian");
    is_fine(ncmpi_def_var_fill(ncid, varid, 0, &own), "def_var_fill");
    is_fine(ncmpi_def_var(ncid, "scalar", NC_SHORT, 0, NULL, &alone), "def_var");
    is_fine(ncmpi_def_var_chunking(ncid, alone, NC_COMPACT, NULL), "def_var_chunking");
    expect_ok(ncmpi_enddef(ncid), "define compact variables");
    is_fine(ncmpi_inq_var_chunking(ncid, varid, &storage, NULL), "inq_var_chunking");
    t_check(storage == NC_COMPACT, "their storage is %d after enddef", storage);
    is_fine(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    if (t_rank == t_nprocs - 1)
        is_fine(ncmpi_put_var1_short(ncid, varid, (const MPI_Offset[]){1, 1}, &(short){5}), "put_var1");
    is_fine(ncmpi_end_indep_data(ncid), "end_indep_data");
    is_fine(ncmpi_put_var_short_all(ncid, alone, &(short){7}), "put_var_all");
    for (int opened = 0; opened < 2; opened++) {
        is_fine(ncmpi_get_var_short_all(ncid, varid, got), "get_var_all");
        for (int i = 0; i < 6; i++)
            is_same = is_same && got[i] == (i == 4 ? 5 : own);
        is_fine(ncmpi_get_var_short_all(ncid, alone, got), "get_var_all");
        t_check(is_same && got[0] == 7, "%s: values of compact variables", opened ? "another open" : "data mode");
        is_fine(ncmpi_close(ncid), "close");
        if (opened == 0)
            is_fine(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    }
}

/* libhdf5 takes the new place of a chunk with filters by way of another length: of two bytes here, at the end of the
 * file, where there is only one. */
static void test_last_byte(void)
{
    const MPI_Offset start = 0, count = 1, chunk = 1;
    signed char got = 0;
    int ncid, dim, varid;

    is_fine(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid), "create");
    is_fine(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dim), "def_dim");
    is_fine(ncmpi_def_var(ncid, "bytes", NC_BYTE, 1, &dim, &varid), "def_var");
    is_fine(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, &chunk), "def_var_chunking");
    is_fine(ncmpi_def_var_deflate(ncid, varid, NC_SHUFFLE, 0, 0), "def_var_deflate");
    is_fine(ncmpi_enddef(ncid), "enddef");
    for (signed char value = 1; value <= 3; value++) {
        is_fine(ncmpi_put_vara_schar_all(ncid, varid, &start, &count, &value), "put_vara_all");
        expect_ok(ncmpi_sync(ncid), "a chunk of one byte gets another place");
    }
    is_fine(ncmpi_close(ncid), "close");
    is_fine(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    is_fine(ncmpi_get_vara_schar_all(ncid, varid, &start, &count, &got), "get_vara_all");
    t_check(got == 3, "it has the last value: %d", got);
    is_fine(ncmpi_close(ncid), "close");
}

/* Inner unlimited dimensions keep their length: a record is filled up to there. */
static void test_fill_record(void)
{
    const MPI_Offset start[3] = {0, 1, 2}, count[3] = {1, 1, 1};
    short got[3][2][3], own = -7;
    MPI_Offset lengths[3];
    int ncid, dims[3], varid, is_same = 1;

    is_fine(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid), "create");
    is_fine(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]), "def_dim");
    is_fine(ncmpi_def_dim(ncid, "y", NC_UNLIMITED, &dims[1]), "def_dim");
    is_fine(ncmpi_def_dim(ncid, "x", NC_UNLIMITED, &dims[2]), "def_dim");
    is_fine(ncmpi_def_var(ncid, "v", NC_SHORT, 3, dims, &varid), "def_var");
    is_fine(ncmpi_def_var_fill(ncid, varid, 0, &own), "def_var_fill");
    is_fine(ncmpi_enddef(ncid), "enddef");
    is_fine(ncmpi_put_vara_short_all(ncid, varid, start, count, &(short){5}), "put_vara_all");
    expect_ok(ncmpi_fill_var_rec(ncid, varid, 0), "fill a record that has values");
    expect_ok(ncmpi_fill_var_rec(ncid, varid, 2), "fill a record behind the last one");
    for (int i = 0; i < 3; i++)
        is_fine(ncmpi_inq_dimlen(ncid, dims[i], &lengths[i]), "inq_dimlen");
    t_check(lengths[0] == 3 && lengths[1] == 2 && lengths[2] == 3, "lengths are %lld, %lld, %lld",
            (long long)lengths[0], (long long)lengths[1], (long long)lengths[2]);
    is_fine(ncmpi_get_var_short_all(ncid, varid, &got[0][0][0]), "get_var_all");
    for (int i = 0; i < 18; i++)
        is_same = is_same && (&got[0][0][0])[i] == own;
    t_check(is_same, "all values are the fill value");
    is_fine(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("storage_hints.nc"));
    check_quantization("cdf2");
    check_quantization("cdf5");
    test_early_puts();
    test_reports(false);
    if (!has_netcdf4()) {
        t_skip("netCDF-4 files: the build is without HDF5");
        return t_finish();
    }
    check_quantization("netcdf4");
    test_compression();
    test_chunks();
    test_values();
    test_reports(true);
    test_unused();
    test_ranks();
    test_classic_inquiries();
    test_refusals();
    test_compact();
    test_last_byte();
    test_fill_record();
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
