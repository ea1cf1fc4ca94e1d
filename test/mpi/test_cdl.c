/* cdl_hdr_*: a file created from a header in CDL has the bytes of one that was created call by call; results and codes
 * of the inquiry functions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../create_from_cdl.h"
#include "../expect.h"

static const char *const comments[] = {"CDF-1", "CDF-2 (large file)", "CDF-5 (big variables)"};
static const int formats[] = {NC_FORMAT_CLASSIC, NC_FORMAT_CDF2, NC_FORMAT_CDF5};
static const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA};

/* As ncmpidump -h prints the file that define_by_hand makes. */
static const char classic_part[] =
    "dimensions:\n"
    "\ttime = UNLIMITED ; // (0 currently)\n"
    "\tx = 5 ;\n"
    "\t\\2\\ y = 3 ;\n"
    "variables:\n"
    "\tdouble time(time) ;\n"
    "\t\ttime:units = \"days since 2000-01-01\" ;\n"
    "\t\ttime:valid_range = -1.5, 0.333333333333333, NaN, Infinity ;\n"
    "\tshort data(time, x, \\2\\ y) ;\n"
    "\t\tdata :_FillValue = -999s ;\n"
    "\t\tdata :small = -128b, 127b ;\n"
    "\tchar text(x) ;\n"
    "\t\ttext:note = \"two \\\"lines\\\"\\n\",\n"
    "\t\t\t\"tab\\tand \\001 code\" ;\n"
    "\tfloat scalar ;\n"
    "\t\tscalar:f = 1.f, -0.1f, 3.402823e+38f ;\n"
    "\tint int(x) ;\n"
    "\t\tint:i = -2147483648, 2147483647 ;\n"
    "\tbyte flag ;\n";
static const char wide_part[] =
    "\tuint64 wide(x) ;\n"
    "\t\twide:ub = 255UB ;\n"
    "\t\twide:us = 65535US ;\n"
    "\t\twide:u = 4294967295U ;\n"
    "\t\twide:ll = -9223372036854775808LL, 5LL ;\n"
    "\t\twide:ull = 18446744073709551615ULL ;\n";
static const char last_part[] =
    "\n"
    "// global attributes:\n"
    "\t\t:title = \"by hand\" ;\n"
    "\t\t:empty = \"\" ;\n"
    "}\n";

static int failures;

static void must(int err)
{
    failures += err != NC_NOERR;
}

static void define_wide(int ncid, int x)
{
    static const unsigned char ub = 255;
    static const unsigned short us = 65535;
    static const unsigned u = 4294967295U;
    static const long long ll[] = {-9223372036854775807LL - 1, 5};
    static const unsigned long long ull = 18446744073709551615ULL;
    int v;

    must(ncmpi_def_var(ncid, "wide", NC_UINT64, 1, &x, &v));
    must(ncmpi_put_att_uchar(ncid, v, "ub", NC_UBYTE, 1, &ub));
    must(ncmpi_put_att_ushort(ncid, v, "us", NC_USHORT, 1, &us));
    must(ncmpi_put_att_uint(ncid, v, "u", NC_UINT, 1, &u));
    must(ncmpi_put_att_longlong(ncid, v, "ll", NC_INT64, 2, ll));
    must(ncmpi_put_att_ulonglong(ncid, v, "ull", NC_UINT64, 1, &ull));
}

static void define_by_hand(const char *path, int mode)
{
    static const double range[] = {-1.5, 0.333333333333333, (double)NAN, (double)INFINITY};
    static const float f[] = {1, -0.1f, 3.402823e+38f};
    static const short fill = -999;
    static const signed char small[] = {-128, 127};
    static const int i[] = {-2147483647 - 1, 2147483647};
    static const char note[] = "two \"lines\"\ntab\tand \001 code";
    int ncid, v, d[3];

    must(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | mode, MPI_INFO_NULL, &ncid));
    must(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &d[0]));
    must(ncmpi_def_dim(ncid, "x", 5, &d[1]));
    must(ncmpi_def_dim(ncid, "2 y", 3, &d[2]));
    must(ncmpi_def_var(ncid, "time", NC_DOUBLE, 1, d, &v));
    must(ncmpi_put_att_text(ncid, v, "units", 21, "days since 2000-01-01"));
    must(ncmpi_put_att_double(ncid, v, "valid_range", NC_DOUBLE, 4, range));
    must(ncmpi_def_var(ncid, "data", NC_SHORT, 3, d, &v));
    must(ncmpi_put_att_short(ncid, v, "_FillValue", NC_SHORT, 1, &fill));
    must(ncmpi_put_att_schar(ncid, v, "small", NC_BYTE, 2, small));
    must(ncmpi_def_var(ncid, "text", NC_CHAR, 1, d + 1, &v));
    must(ncmpi_put_att_text(ncid, v, "note", sizeof note - 1, note));
    must(ncmpi_def_var(ncid, "scalar", NC_FLOAT, 0, NULL, &v));
    must(ncmpi_put_att_float(ncid, v, "f", NC_FLOAT, 3, f));
    must(ncmpi_def_var(ncid, "int", NC_INT, 1, d + 1, &v));
    must(ncmpi_put_att_int(ncid, v, "i", NC_INT, 2, i));
    must(ncmpi_def_var(ncid, "flag", NC_BYTE, 0, NULL, NULL));
    if (mode == NC_64BIT_DATA)
        define_wide(ncid, d[1]);
    must(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 7, "by hand"));
    must(ncmpi_put_att_text(ncid, NC_GLOBAL, "empty", 0, ""));
    must(ncmpi_close(ncid));
}

/* Rank 0 writes; all ranks may read afterwards. */
static void write_text(const char *path, const char *comment, const char *first, const char *second, const char *third)
{
    if (t_rank == 0) {
        FILE *file = fopen(path, "w");
        bool good = file != NULL &&
                    fprintf(file, "netcdf test {\n// file format: %s\n%s%s%s", comment, first, second, third) > 0;
        t_local(file != NULL && fclose(file) == 0 && good, "cannot write %s", path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Both files have a header only: there are no data. */
static bool same_bytes(const char *one, const char *two)
{
    FILE *a = fopen(one, "rb"), *b = fopen(two, "rb");
    bool same = a != NULL && b != NULL;
    long n = 0;

    while (same) {
        int c = getc(a);
        same = c == getc(b);
        if (c == EOF)
            break;
        n++;
    }
    if (!same)
        printf("# %s and %s differ at byte %ld\n", one, two, n);
    if (a != NULL)
        fclose(a);
    if (b != NULL)
        fclose(b);
    return same && n > 500;
}

static void test_create(int k)
{
    const char *cdl = t_path("header.cdl"), *by_hand = t_path("by_hand.nc"), *made = t_path("made.nc");
    bool wide = formats[k] == NC_FORMAT_CDF5;
    int err, same = 0;

    write_text(cdl, comments[k], classic_part, wide ? wide_part : "", last_part);
    for (int i = 0; i < 5 && !same; i++) { /* HDF5 writes the second in which a file is made */
        failures = 0;
        define_by_hand(by_hand, modes[k]);
        t_check(failures == 0, "%s: a file is created call by call", comments[k]);
        err = create_from_cdl(MPI_COMM_WORLD, cdl, made);
        expect_ok(err, "and one from CDL");
        same = t_rank > 0 || same_bytes(by_hand, made);
        MPI_Bcast(&same, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    t_check(same, "%s: both files are the same", comments[k]);
}

/* Values are ready for use in memory, aligned, and pointers stay the same. */
static void test_inquire(void)
{
    const char *cdl = t_path("header.cdl"); /* the CDF-5 one */
    int hid, format = 0, n[4] = {-1, -1, -1, -1}, rank = -1, *dimids = NULL;
    char *name = NULL, *again = NULL;
    MPI_Offset len = -1;
    nc_type type = 0;
    void *value = NULL;

    if (!expect_ok(cdl_hdr_open(cdl, &hid), "open"))
        return;
    must(cdl_hdr_inq_format(hid, &format));
    must(cdl_hdr_inq_ndims(hid, &n[0]));
    must(cdl_hdr_inq_nvars(hid, &n[1]));
    must(cdl_hdr_inq_nattrs(hid, NC_GLOBAL, &n[2]));
    must(cdl_hdr_inq_nattrs(hid, 6, &n[3]));
    t_check(format == NC_FORMAT_CDF5 && n[0] == 3 && n[1] == 7 && n[2] == 2 && n[3] == 5,
            "format %d and counts %d %d %d %d", format, n[0], n[1], n[2], n[3]);
    must(cdl_hdr_inq_dim(hid, 0, &name, &len));
    t_check(strcmp(name, "time") == 0 && len == NC_UNLIMITED, "the record dimension is NC_UNLIMITED");
    must(cdl_hdr_inq_var(hid, 1, &name, &type, &rank, &dimids));
    t_check(strcmp(name, "data") == 0 && type == NC_SHORT && rank == 3 && dimids[0] == 0 && dimids[2] == 2,
            "a variable");
    must(cdl_hdr_inq_attr(hid, 6, 3, &name, &type, &len, &value));
    t_check(strcmp(name, "ll") == 0 && type == NC_INT64 && len == 2 && (size_t)value % sizeof(long long) == 0 &&
                ((long long *)value)[1] == 5,
            "values of an attribute in memory form");
    must(cdl_hdr_inq_attr(hid, 6, 3, &again, NULL, NULL, NULL));
    t_check(name == again, "pointers stay the same");
    must(cdl_hdr_inq_attr(hid, NC_GLOBAL, 1, &name, &type, &len, &value));
    t_check(strcmp(name, "empty") == 0 && type == NC_CHAR && len == 0 && value == NULL,
            "an attribute without elements");
    must(cdl_hdr_inq_var(hid, 3, &name, &type, &rank, &dimids));
    t_check(strcmp(name, "scalar") == 0 && rank == 0 && dimids == NULL, "a scalar");
    must(cdl_hdr_inq_format(hid, NULL) | cdl_hdr_inq_ndims(hid, NULL) | cdl_hdr_inq_nvars(hid, NULL) |
         cdl_hdr_inq_nattrs(hid, 0, NULL) | cdl_hdr_inq_dim(hid, 1, NULL, NULL) |
         cdl_hdr_inq_var(hid, 0, NULL, NULL, NULL, NULL) | cdl_hdr_inq_attr(hid, 0, 0, NULL, NULL, NULL, NULL));
    t_check(failures == 0, "every output pointer may be NULL");
    expect_code(cdl_hdr_inq_dim(hid, 3, NULL, NULL), NC_EBADDIM, "dimension 3 of 3");
    expect_code(cdl_hdr_inq_dim(hid, -1, NULL, NULL), NC_EBADDIM, "dimension -1");
    expect_code(cdl_hdr_inq_var(hid, 7, NULL, NULL, NULL, NULL), NC_ENOTVAR, "variable 7 of 7");
    expect_code(cdl_hdr_inq_var(hid, NC_GLOBAL, NULL, NULL, NULL, NULL), NC_ENOTVAR, "variable NC_GLOBAL");
    expect_code(cdl_hdr_inq_nattrs(hid, 7, NULL), NC_ENOTVAR, "attributes of variable 7 of 7");
    expect_code(cdl_hdr_inq_attr(hid, -2, 0, NULL, NULL, NULL, NULL), NC_ENOTVAR, "attribute of variable -2");
    expect_code(cdl_hdr_inq_attr(hid, NC_GLOBAL, 2, NULL, NULL, NULL, NULL), NC_ENOTATT, "attribute 2 of 2");
    expect_code(cdl_hdr_inq_attr(hid, 5, 0, NULL, NULL, NULL, NULL), NC_ENOTATT, "attribute 0 of none");
    expect_ok(cdl_hdr_close(hid), "close");
    expect_code(cdl_hdr_inq_ndims(hid, n), NC_EBADID, "what is closed");
    expect_code(cdl_hdr_close(hid), NC_EBADID, "close twice");
}

static void test_ids(void)
{
    static int hids[NC_MAX_NFILES];
    int opened = 0, hid = 77, err;
    char cdl[4096];

    snprintf(cdl, sizeof cdl, "%s", t_path("header.cdl")); /* t_path's own text does not last */
    expect_code(cdl_hdr_close(-1), NC_EBADID, "close -1");
    expect_code(cdl_hdr_inq_format(NC_MAX_NFILES, NULL), NC_EBADID, "an id beyond all");
    expect_code(cdl_hdr_open(t_path("absent.cdl"), &hid), NC_ENOENT, "a file that is not there");
    expect_code(cdl_hdr_open("", &hid), NC_EBAD_FILE, "no name");
    expect_code(cdl_hdr_open(NULL, &hid), NC_EBAD_FILE, "a name that is NULL");
    expect_code(cdl_hdr_open(cdl, NULL), NC_EINVAL, "a NULL pointer for the id");
    expect_code(cdl_hdr_open(t_path("made.nc"), &hid), NC_ENOTNC, "a netCDF file");
    write_text(t_path("wrong.cdl"), "CDF-1", classic_part, "\tfloat new(z) ;\n", last_part);
    expect_code(cdl_hdr_open(t_path("wrong.cdl"), &hid), NC_EBADDIM, "a dimension that is not defined");
    write_text(t_path("wrong.cdl"), "CDF-1", classic_part, wide_part, last_part);
    expect_code(cdl_hdr_open(t_path("wrong.cdl"), &hid), NC_ESTRICTCDF2, "a CDF-5 type in CDF-1");
    t_check(hid == 77, "a failure leaves the id alone");
    while (opened < NC_MAX_NFILES && cdl_hdr_open(cdl, &hids[opened]) == NC_NOERR)
        opened++;
    err = cdl_hdr_open(cdl, &hid);
    for (int i = 0; i < opened; i++)
        must(cdl_hdr_close(hids[i]));
    t_check(opened == NC_MAX_NFILES && err == NC_ENFILE && failures == 0, "%d headers open at once, and no more",
            opened);
}

/* The message for people, which names file, line and column. */
static void test_message(void)
{
    const char *cdl = t_path("wrong.cdl"), *caught = t_path("stderr.txt");
    char line[4096] = "";
    int err = NC_NOERR, hid, saved;

    write_text(cdl, "CDF-1", "dimensions:\n\tx 5 ;\n", "", last_part);
    if (t_rank == 0) {
        FILE *file = NULL;
        fflush(stderr);
        saved = dup(2);
        setenv("PNETCDF_VERBOSE", "1", 1);
        if (freopen(caught, "w", stderr) != NULL)
            err = cdl_hdr_open(cdl, &hid);
        fflush(stderr);
        dup2(saved, 2);
        close(saved);
        unsetenv("PNETCDF_VERBOSE");
        file = fopen(caught, "r");
        t_local(file != NULL && fgets(line, sizeof line, file) != NULL, "nothing was printed");
        if (file != NULL)
            fclose(file);
        t_local(err == NC_ENOTNC && strstr(line, "cdl_hdr_open") != NULL && strstr(line, cdl) != NULL &&
                    strstr(line, "line 4, column 4: found 5, but") != NULL,
                "%s", line);
    }
    t_check(true, "PNETCDF_VERBOSE=1: call, file, line and column on stderr");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    for (int k = 0; k < 3; k++)
        test_create(k);
    failures = 0;
    test_inquire();
    test_ids();
    test_message();
    return t_finish();
}
