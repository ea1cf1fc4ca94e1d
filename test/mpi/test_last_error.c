/* ncmpi_inq_last_error and PNETCDF_VERBOSE: the message of a failing call names the call, the rank, the file, the
 * object, the index and its bound, and a cure; which thread and file keep it, and how often it is printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../expect.h"
#include "dataset/caller.h"

static char path[4096];

/* The message must have the code and all words, which are separated by '|'; "%r" means the rank. */
static void expect_message(int ncid, int wanted, const char *words, const char *what)
{
    char message[NC_MAX_MESSAGE] = "", list[512], word[64], *rest = NULL;
    int code = 12345, err = ncmpi_inq_last_error(ncid, &code, message);
    const char *missing = NULL;

    snprintf(list, sizeof list, "%s", words);
    for (char *next = strtok_r(list, "|", &rest); next != NULL && missing == NULL; next = strtok_r(NULL, "|", &rest)) {
        char *rank = strstr(next, "%r");
        if (rank != NULL)
            snprintf(word, sizeof word, "%.*s%d%s", (int)(rank - next), next, t_rank, rank + 2);
        else
            snprintf(word, sizeof word, "%s", next);
        if (strstr(message, word) == NULL)
            missing = word;
    }
    t_check(err == NC_NOERR && code == wanted && missing == NULL, "%s: %s (expected %s with \"%s\")", what, message,
            ncmpi_strerrno(wanted), missing == NULL ? words : missing);
}

static void expect_silence(int ncid, const char *what)
{
    char message[NC_MAX_MESSAGE] = "left over";
    int code = 12345, err = ncmpi_inq_last_error(ncid, &code, message);
    t_check(err == NC_NOERR && code == NC_NOERR && message[0] == '\0', "%s: no failure, no message (%s)", what,
            message);
}

static int make_file(void)
{
    int ncid, dims[2], varid;
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "x", 10, &dims[1]);
    ncmpi_def_var(ncid, "grid", NC_FLOAT, 1, &dims[1], &varid);
    ncmpi_def_var(ncid, "series", NC_SHORT, 2, dims, &varid);
    ncmpi_put_att_text(ncid, 0, "units", 1, "K");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    return ncid;
}

static void test_calls(int ncid)
{
    MPI_Offset start[2] = {0, 12}, count[2] = {1, 1};
    float value[20] = {1e10f};

    expect_silence(ncid, "a new file");
    ncmpi_put_vara_float_all(ncid, 0, &start[1], count, value);
    expect_message(ncid, NC_EINVALCOORDS,
                   "ncmpi_put_vara_float_all|rank %r|last.nc|"
                   "start[0] = 12, but dimension \"x\" of variable \"grid\" has length 10|NC_EINVALCOORDS",
                   "put_vara");
    start[1] = 8, count[1] = 5;
    ncmpi_get_vara_float_all(ncid, 0, start + 1, count + 1, value);
    expect_message(ncid, NC_EEDGE, "ncmpi_get_vara_float_all|rank %r: |last.nc|\"x\"|\"grid\"|count[0] = 5|at most 2",
                   "get_vara");
    start[1] = 0, count[1] = 1;
    ncmpi_put_vara_float_all(ncid, 1, start, count, value);
    expect_message(ncid, NC_ERANGE, "ncmpi_put_vara_float_all|last.nc|\"series\"|float|short", "a value out of range");
    ncmpi_put_var_text_all(ncid, 0, "text");
    expect_message(ncid, NC_ECHAR, "ncmpi_put_var_text_all|\"grid\"|float", "text for numbers");
    ncmpi_put_var1_float(ncid, 0, start, value);
    expect_message(ncid, NC_ENOTINDEP, "ncmpi_put_var1_float|ncmpi_begin_indep_data|_all", "independent put");
    ncmpi_def_dim(ncid, "y", 5, NULL);
    expect_message(ncid, NC_ENOTINDEFINE, "ncmpi_def_dim|last.nc|ncmpi_redef", "def_dim in data mode");
    ncmpi_inq_varname(ncid, 7, NULL);
    expect_message(ncid, NC_ENOTVAR, "ncmpi_inq_varname|last.nc|id 7|0..1", "a bad varid");
    ncmpi_inq_dimlen(ncid, -3, NULL);
    expect_message(ncid, NC_EBADDIM, "ncmpi_inq_dimlen|id -3|0..1", "a bad dimid");
    ncmpi_inq_varid(ncid, "Grid", NULL);
    expect_message(ncid, NC_ENOTVAR, "ncmpi_inq_varid|last.nc|\"Grid\"", "no such name");
    ncmpi_put_att_text(ncid, 0, "units", 9, "far warmer");
    expect_message(ncid, NC_ENOTINDEFINE, "ncmpi_put_att_text|grid:units|ncmpi_redef", "an attribute that grows");
    ncmpi_get_att_int(ncid, 0, "units", (int *)value);
    expect_message(ncid, NC_ECHAR, "ncmpi_get_att_int|grid:units|char", "an attribute as numbers");
    ncmpi_inq_att(ncid, 1, "units", NULL, NULL);
    expect_message(ncid, NC_ENOTATT, "ncmpi_inq_att|series|\"units\"", "no such attribute");
    ncmpi_wait_all(ncid, 1, (int[]){77}, NULL);
    expect_message(ncid, NC_EINVAL_REQUEST, "ncmpi_wait_all|77", "no such request");
    ncmpi_bput_vara_float(ncid, 0, start, count, value, NULL);
    expect_message(ncid, NC_ENULLABUF, "ncmpi_bput_vara_float|ncmpi_buffer_attach", "bput without a buffer");
}

/* Values that do not fit: how many, the first one and where it is, in the order in which the program passes them. */
static void test_range(int ncid)
{
    MPI_Offset start[2] = {2, 1}, count[2] = {1, 4}, stride[2] = {1, 2}, rows[2] = {3, 5}, one[2] = {1, 1};
    MPI_Offset *starts[2] = {rows, start}, *counts[2] = {one, one};
    double values[4] = {1, -4e4, 1e300, 2};
    long long wide[3] = {1, 2, 3000000000}, *memory = wide;
    signed char bytes[8];
    int id, status;
    MPI_Datatype every_second;

    ncmpi_put_vars_double_all(ncid, 1, start, count, stride, values);
    expect_message(ncid, NC_ERANGE,
                   "\"series\": 2 values of type double do not fit type short|"
                   "the first one is -40000 at time = 2, x = 3",
                   "put of a strided hyperslab");
    ncmpi_put_varn_double_all(ncid, 1, 2, starts, counts, (double[2]){1e9, 5});
    expect_message(ncid, NC_ERANGE, "1 value of type double does not fit|first one is 1000000000 at time = 3, x = 5",
                   "put of a list");
    MPI_Type_vector(2, 1, 2, MPI_LONG_LONG, &every_second);
    MPI_Type_commit(&every_second);
    count[1] = 2;
    ncmpi_put_vara_all(ncid, 1, start, count, memory, 1, every_second);
    expect_message(ncid, NC_ERANGE, "1 value of type longlong|first one is 3000000000 at time = 2, x = 2",
                   "put of memory with gaps");
    MPI_Type_free(&every_second);
    ncmpi_iput_vara_double(ncid, 1, start, count, values, &id);
    expect_message(ncid, NC_ERANGE, "1 value of type double|first one is -40000 at time = 2, x = 2", "iput");
    expect_ok(ncmpi_wait_all(ncid, 1, &id, &status), "complete it");

    count[1] = 4;
    ncmpi_put_vara_short_all(ncid, 1, start, count, (short[4]){7, 300, -1, -129});
    ncmpi_get_vara_schar_all(ncid, 1, start, count, bytes);
    expect_message(ncid, NC_ERANGE, "2 values of type short do not fit type schar|first one is 300 at time = 2, x = 2",
                   "get");
    ncmpi_iget_vara_schar(ncid, 1, start, count, bytes, &id);
    ncmpi_wait_all(ncid, 1, &id, &status);
    expect_message(ncid, NC_ERANGE, "ncmpi_wait_all|2 values of type short|300 at time = 2, x = 2", "wait for an iget");
    ncmpi_get_vara_schar_all(ncid, 1, start, one, bytes);
    ncmpi_redef(ncid);
    ncmpi_put_att_double(ncid, 0, "limits", NC_SHORT, 4, values);
    expect_message(ncid, NC_ERANGE, "\"grid:limits\": 2 values do not fit type short|first one is -40000, at index 1",
                   "put of an attribute");
    ncmpi_put_att_double(ncid, 0, "limits", NC_DOUBLE, 4, values);
    ncmpi_get_att_float(ncid, 0, "limits", (float[4]){0});
    expect_message(ncid, NC_ERANGE, "1 value does not fit type float|first one is 1e+300, at index 2",
                   "get of an attribute");
    expect_ok(ncmpi_enddef(ncid), "enddef");
}

/* In define mode variables have no offsets, or those before ncmpi_redef. */
static void test_define_mode(int old)
{
    MPI_Offset start[2] = {2, 1}, count[2] = {1, 4};
    double values[4] = {1, -4e4, 1e300, 2};
    char name[241];
    int ncid, dims[2], varid, id;

    ncmpi_redef(old);
    ncmpi_iput_vara_double(old, 1, start, count, values, &id);
    expect_message(old, NC_ERANGE, "2 values of type double|first one is -40000 (NC_ERANGE)", "iput after redef");
    expect_ok(ncmpi_cancel(old, 1, &id, NULL), "cancel");
    expect_ok(ncmpi_enddef(old), "enddef");

    memset(name, 'v', 240);
    name[240] = '\0';
    expect_ok(ncmpi_create(MPI_COMM_WORLD, t_path("define.nc"), NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "x", 8, &dims[1]);
    ncmpi_def_var(ncid, name, NC_SHORT, 2, dims, &varid);
    ncmpi_iput_vara_double(ncid, varid, start, count, values, &id);
    t_check(strlen(ncmpi_strerror(NC_ERANGE)) == 255, "the text of a code has at most 255 characters");
    expect_message(ncid, NC_ERANGE, "2 values of type double|first one is -40000 (NC_ERANGE)", "iput into a new file");
    expect_ok(ncmpi_cancel(ncid, 1, &id, NULL), "cancel");
    ncmpi_iput_vara_double(ncid, varid, start, (MPI_Offset[]){2, 2}, values, &id);
    expect_message(ncid, NC_ERANGE, "2 values of type double|first one is -40000 (NC_ERANGE)", "iput of two records");
    expect_ok(ncmpi_cancel(ncid, 1, &id, NULL), "cancel");
    expect_ok(ncmpi_abort(ncid), "abort");
}

static void test_names(int ncid)
{
    MPI_Offset start[2] = {-1, 0}, count[2] = {1, 1}, stride[2] = {0, 1};
    short value = 1;
    int id;

    ncmpi_inq_varid(ncid, "seires", &id);
    expect_message(ncid, NC_ENOTVAR, "no variable \"seires\": did you mean \"series\"?", "a variable that is near");
    ncmpi_inq_varid(ncid, "temperature", &id);
    expect_message(ncid, NC_ENOTVAR, "no variable \"temperature\" (", "none is near");
    ncmpi_inq_dimid(ncid, "Times", &id);
    expect_message(ncid, NC_EBADDIM, "no dimension \"Times\": did you mean \"time\"?", "a dimension");
    ncmpi_inq_attid(ncid, 0, "unit", &id);
    expect_message(ncid, NC_ENOTATT, "no attribute \"unit\": did you mean \"units\"?", "an attribute");
    ncmpi_inq_varid(ncid, NULL, &id);
    expect_message(ncid, NC_EBADNAME, "no variable \"\" (", "no name");

    ncmpi_put_vara_short_all(ncid, 1, start, count, &value);
    expect_message(ncid, NC_EINVALCOORDS,
                   "start[0] = -1, dimension \"time\" of variable \"series\": must be at least 0", "a negative start");
    start[0] = 100;
    ncmpi_get_vara_short_all(ncid, 1, start, count, &value);
    expect_message(ncid, NC_EINVALCOORDS, "start[0] = 100, but dimension \"time\" of variable \"series\" has |record",
                   "a record that is not there");
    start[0] = 0;
    ncmpi_get_vars_short_all(ncid, 1, start, count, stride, &value);
    expect_message(ncid, NC_ESTRIDE, "stride[0] = 0, dimension \"time\" of variable \"series\"", "a stride of 0");
    count[1] = -2;
    ncmpi_get_vara_short_all(ncid, 1, start, count, &value);
    expect_message(ncid, NC_ENEGATIVECNT, "count[1] = -2, dimension \"x\" of variable \"series\"", "a negative count");

    ncmpi_redef(ncid);
    ncmpi_def_var(ncid, "names", NC_STRING, 0, NULL, &id);
    expect_message(ncid, NC_EBADTYPE, "\"names\": xtype is 12 (NC_STRING), a type of netCDF-4 files: use NC_CHAR",
                   "a type of netCDF-4");
    ncmpi_put_att(ncid, 0, "kind", NC_COMPOUND, 1, &value);
    expect_message(ncid, NC_EBADTYPE, "\"grid:kind\": xtype is 16, a user-defined type of netCDF-4", "another one");
    ncmpi_def_var(ncid, "names", 77, 0, NULL, &id);
    expect_message(ncid, NC_EBADTYPE, "xtype is 77: must be an external type", "no type at all");
    expect_ok(ncmpi_enddef(ncid), "enddef");
}

/* The text of a code has the sentence of a failure only right after it. */
static void expect_text(int code, const char *standard, const char *words, const char *what)
{
    const char *text = ncmpi_strerror(code);
    size_t n = strlen(standard);

    t_check(strncmp(text, standard, n) == 0 && (words == NULL ? text[n] == '\0' : strstr(text + n, words) != NULL),
            "%s: %s", what, text);
}

static void test_texts(int ncid)
{
    const char *outside = "NetCDF: Index exceeds dimension bound", *missing = "NetCDF: Variable not found", *kept;
    MPI_Offset start = 12, count = 1;
    float value = 1;
    char copy[NC_MAX_MESSAGE];
    int err = ncmpi_put_vara_float_all(ncid, 0, &start, &count, &value), varid;

    expect_text(err, outside, "last.nc: start[0] = 12, but dimension \"x\" of variable \"grid\" has length 10",
                "the text after a failure has its sentence");
    kept = ncmpi_strerror(err);
    snprintf(copy, sizeof copy, "%s", kept);
    expect_text(NC_ENOTVAR, missing, NULL, "the text of another code has not");
    expect_text(NC_NOERR, "No error", NULL, "nor has that of success");
    ncmpi_inq_last_error(ncid, NULL, NULL);
    t_check(ncmpi_strerror(err) == kept, "a question about the failure changes nothing, the address stays");
    ncmpi_inq_varname(ncid, 7, NULL);
    expect_text(err, outside, NULL, "after another failure: the short text");
    expect_text(NC_ENOTVAR, missing, "id 7", "and the sentence of the other failure");
    t_check(strcmp(kept, copy) == 0, "a text that the program keeps does not change: %s", kept);
    expect_ok(ncmpi_inq_varid(ncid, "grid", &varid), "a call that succeeds");
    expect_text(NC_ENOTVAR, missing, NULL, "after a call that succeeds: the short text");
    ncmpi_put_vara_float_all(ncid, 0, &start, &count, &value);
    t_check(ncmpi_strerror(err) == kept, "the same failure has the same text");
    ncmpi_set_default_format(NC_FORMAT_CLASSIC, NULL);
    expect_text(err, outside, NULL, "a call without a file that succeeds");
}

/* A program that never ends must not need more and more memory. */
static void test_many_texts(void)
{
    int err = ncmpi_inq_ndims(-1, NULL), longest = 0;
    const char *kept = ncmpi_strerror(err);
    char copy[NC_MAX_MESSAGE];

    snprintf(copy, sizeof copy, "%s", kept);
    for (int i = 1; i < 3000; i++) {
        ncmpi_inq_ndims(-1 - i, NULL);
        if (strlen(ncmpi_strerror(err)) > strlen("NetCDF: Not a valid ID"))
            longest = i;
    }
    t_check(longest >= 500 && longest < 2900, "the texts of %d failures are kept", longest);
    expect_text(err, "NetCDF: Not a valid ID", NULL, "further ones are short");
    t_check(strcmp(kept, copy) == 0, "the first one is unchanged: %s", kept);
}

/* A profiler may call other functions while it forwards a call from Fortran. These are calls from C. */
static void test_profiler(int ncid)
{
    MPI_Offset start = 12, one = 1;
    float value = 1;
    pnc_caller caller;
    int err;

    pnc_dataset_caller_begin(&caller, PNC_LANGUAGE_F90, "nf90mpi_put_var_all", "ncmpi_put_vara_float_all", ncid);
    ncmpi_inq_varname(ncid, 7, NULL);
    expect_message(ncid, NC_ENOTVAR, "ncmpi_inq_varname|id 7|0..1|(NC_ENOTVAR)", "a call that a profiler makes");
    err = ncmpi_put_vara_float_all(ncid, 0, &start, &one, &value);
    err = pnc_dataset_caller_end(&caller, err);
    t_check(err == NC_EINVALCOORDS, "the call from Fortran returns the error");
    expect_message(ncid, err, "nf90mpi_put_var_all|start(1) = 13|length 10|(NF90_EINVALCOORDS)", "a call from Fortran");
    ncmpi_put_vara_float_all(ncid, 0, &start, &one, &value);
    expect_message(ncid, NC_EINVALCOORDS, "ncmpi_put_vara_float_all|start[0] = 12|length 10|(NC_EINVALCOORDS)",
                   "the same call from C, later");
}

/* Whose failure is asked for, and how long it is remembered. */
static void test_memory(int ncid)
{
    int other, code = 0;
    char own[32];
    snprintf(own, sizeof own, "other%d.nc", t_rank);
    expect_ok(ncmpi_create(MPI_COMM_SELF, t_path(own), NC_CLOBBER, MPI_INFO_NULL, &other), "create another one");
    expect_silence(other, "the other file");
    ncmpi_inq_dimlen(other, 0, NULL);
    expect_message(ncid, NC_ENULLABUF, "ncmpi_bput_vara_float",
                   "a failure on another file does not count for this one");
    expect_message(other, NC_EBADDIM, "ncmpi_inq_dimlen|no dimensions", "but for that one");
    expect_message(NC_GLOBAL, NC_EBADDIM, "ncmpi_inq_dimlen|no dimensions", "and for the thread");
    expect_ok(ncmpi_close(other), "close it");
    expect_ok(ncmpi_inq_ndims(ncid, &code), "a call that succeeds");
    expect_message(ncid, NC_ENULLABUF, "ncmpi_bput_vara_float", "the last failure stays");
    expect_ok(ncmpi_inq_last_error(ncid, NULL, NULL), "both pointers may be NULL");
    expect_code(ncmpi_inq_last_error(ncid + 500, &code, NULL), NC_EBADID, "a bad ncid");
    expect_message(-7, NC_EBADDIM, "ncmpi_inq_dimlen|no dimensions", "a negative ncid: the thread's");
}

/* Failures of calls that have no file, or none any more. */
static void test_without_file(void)
{
    int ncid = -1;
    ncmpi_open(MPI_COMM_WORLD, t_path("missing.nc"), NC_NOWRITE, MPI_INFO_NULL, &ncid);
    expect_text(NC_ENOENT, "The file does not exist: ", "missing.nc: No such file", "open of a missing file: the text");
    expect_message(NC_GLOBAL, NC_ENOENT, "ncmpi_open|rank %r|missing.nc|No such file", "open of a missing file");
    ncmpi_create(MPI_COMM_WORLD, t_path("no_folder/a.nc"), NC_CLOBBER, MPI_INFO_NULL, &ncid);
    expect_message(NC_GLOBAL, NC_ENOENT,
                   "ncmpi_create|cannot create|no_folder/a.nc: the folder|no_folder does not exist (",
                   "create in a folder that does not exist");
    ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA | NC_64BIT_OFFSET, MPI_INFO_NULL, &ncid);
    expect_message(NC_GLOBAL, NC_EINVAL_CMODE, "ncmpi_create|last.nc|NC_64BIT_OFFSET and NC_64BIT_DATA|choose one",
                   "create with two formats");
    ncmpi_create(MPI_COMM_WORLD, path, NC_NOCLOBBER, MPI_INFO_NULL, &ncid);
    expect_message(NC_GLOBAL, NC_EEXIST, "ncmpi_create|last.nc|NC_NOCLOBBER", "create of an existing file");
    ncmpi_inq_ndims(1000, NULL);
    expect_message(NC_GLOBAL, NC_EBADID, "ncmpi_inq_ndims|1000|closed", "a bad ncid");
    ncmpi_delete(t_path("missing.nc"), MPI_INFO_NULL);
    expect_message(NC_GLOBAL, NC_ENOENT, "ncmpi_delete|missing.nc", "delete of a missing file");
    ncmpi_set_default_format(99, NULL);
    expect_message(NC_GLOBAL, NC_EINVAL, "ncmpi_set_default_format|99|NC_FORMAT_CDF5", "no such format");
    ncmpi_inq_file_format(t_path("missing.nc"), NULL);
    expect_message(NC_GLOBAL, NC_ENOENT, "ncmpi_inq_file_format|missing.nc", "format of a missing file");
    cdl_hdr_open(t_path("missing.cdl"), &ncid);
    expect_message(NC_GLOBAL, NC_ENOENT, "cdl_hdr_open|missing.cdl", "a missing CDL file");
}

static void test_close(void)
{
    int ncid, value = 1;
    MPI_Offset start = 0, count = 1;
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open");
    ncmpi_iput_vara_int(ncid, 0, &start, &count, &value, NULL);
    expect_code(ncmpi_close(ncid), NC_EPENDING, "close with a pending request");
    expect_text(NC_EPENDING, "Nonblocking requests were still pending when the file was closed: ",
                "last.nc was closed with pending requests: call ncmpi_wait_all", "the text of that");
    expect_message(NC_GLOBAL, NC_EPENDING, "ncmpi_close|rank %r|last.nc|ncmpi_wait_all",
                   "close with a pending request");
}

/* --- PNETCDF_VERBOSE --- */

static int saved_stderr;

static void catch_stderr(const char *file)
{
    fflush(stderr);
    saved_stderr = dup(2);
    if (freopen(file, "w", stderr) == NULL)
        abort();
}

/* The lines that were written, and in *text what they were. */
static int release_stderr(const char *file, char *text, size_t room)
{
    FILE *f;
    int lines = 0;
    fflush(stderr);
    dup2(saved_stderr, 2);
    close(saved_stderr);
    memset(text, 0, room);
    f = fopen(file, "r");
    if (f != NULL) {
        size_t n = fread(text, 1, room - 1, f);
        for (size_t i = 0; i < n; i++)
            lines += text[i] == '\n';
        fclose(f);
    }
    unlink(file);
    return lines;
}

/* Collective. */
static void write_text(const char *file)
{
    FILE *f = t_rank == 0 ? fopen(file, "w") : NULL;

    if (f != NULL) {
        fputs("this is no netCDF file, but text", f);
        fclose(f);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void test_verbose(int ncid)
{
    char name[4200], text[8192], others[40];
    MPI_Offset start = t_rank == t_nprocs - 1 ? 12 : 0, count = 1;
    float value = 1;
    int lines, missing = -1;

    snprintf(name, sizeof name, "%s.%d", t_path("stderr"), t_rank);
    setenv("PNETCDF_VERBOSE", "1", 1);
    catch_stderr(name);
    ncmpi_put_vara_float_all(ncid, 0, &start, &count, &value);
    lines = release_stderr(name, text, sizeof text);
    t_check(lines == (t_rank == t_nprocs - 1) && (lines == 0 || strstr(text, "ncmpi_put_vara_float_all") != NULL),
            "PNETCDF_VERBOSE: a wrong argument of one rank is printed once, there (%d lines: %s)", lines, text);

    start = 12;
    snprintf(others, sizeof others, ", and on %d more rank", t_nprocs - 1);
    catch_stderr(name);
    ncmpi_put_vara_float_all(ncid, 0, &start, &count, &value);
    lines = release_stderr(name, text, sizeof text);
    t_check(lines == (t_rank == t_nprocs - 1) && (lines == 0 || t_nprocs == 1 || strstr(text, others) != NULL),
            "a wrong argument of all ranks is printed once, with their number (%d lines: %s)", lines, text);

    catch_stderr(name);
    ncmpi_open(MPI_COMM_WORLD, t_path("missing.nc"), NC_NOWRITE, MPI_INFO_NULL, &missing);
    lines = release_stderr(name, text, sizeof text);
    t_check(lines == (t_rank == 0) && (lines == 0 || strstr(text, "ncmpi_open") != NULL),
            "what rank 0 found for all is printed once (%d lines: %s)", lines, text);

    write_text(t_path("text.nc"));
    catch_stderr(name);
    ncmpi_open(MPI_COMM_WORLD, t_path("text.nc"), NC_NOWRITE, MPI_INFO_NULL, &missing);
    lines = release_stderr(name, text, sizeof text);
    t_check(lines == (t_rank == 0) && (lines == 0 || strstr(text, "more rank") == NULL),
            "what rank 0 found in the header is printed there (%d lines: %s)", lines, text);

    catch_stderr(name);
    ncmpi_inq_ndims(1000, NULL);
    lines = release_stderr(name, text, sizeof text);
    t_check(lines == 1 && strstr(text, "ncmpi_inq_ndims") != NULL, "a bad ncid is printed (%d lines: %s)", lines, text);

    setenv("PNETCDF_VERBOSE", "0", 1);
    catch_stderr(name);
    ncmpi_inq_ndims(1000, NULL);
    lines = release_stderr(name, text, sizeof text);
    t_check(lines == 0, "PNETCDF_VERBOSE=0: nothing is printed (%s)", text);
    unsetenv("PNETCDF_VERBOSE");
}

/* One rank prints what `n` ranks, the last ones, have found: the line has the words and the number of the others. */
static void expect_printed_once(int n, const char *words, const char *what, int (*call)(int ncid, bool fails), int ncid)
{
    char name[4200], text[8192], others[40] = "";
    bool fails = t_rank >= t_nprocs - n;
    int lines, err, total;

    snprintf(name, sizeof name, "%s.%d", t_path("stderr"), t_rank);
    if (n > 1)
        snprintf(others, sizeof others, ", and on %d more rank", n - 1);
    catch_stderr(name);
    err = call(ncid, fails);
    lines = release_stderr(name, text, sizeof text);
    total = lines;
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    t_check((err != NC_NOERR) == fails && total == 1 &&
                (lines == 0 || (fails && strstr(text, words) != NULL && strstr(text, others) != NULL &&
                                (n > 1) == (strstr(text, "more rank") != NULL))),
            "%s on %d ranks: status %d, printed once (%d lines: %s)", what, n, err, total, text);
}

/* Rows: each rank has its own range of the file. Columns: they are interleaved. */
static int put_rows(int ncid, bool fails)
{
    MPI_Offset start[] = {t_rank, 0}, count[] = {1, 4};
    int values[] = {1, fails ? 1000 : 2, 3, 4};

    return ncmpi_put_vara_int_all(ncid, 0, start, count, values);
}

static int put_columns(int ncid, bool fails)
{
    MPI_Offset start[] = {0, t_rank}, count[] = {4, 1};
    int values[] = {1, fails ? 1000 : 2, 3, 4};

    return ncmpi_put_vara_int_all(ncid, 1, start, count, values);
}

/* Values of 1000 do not fit; the first of 4 rows of `wide` has others. */
static int get_columns(int ncid, bool fails)
{
    MPI_Offset start[] = {fails, t_rank}, count[] = {1, 1};
    signed char value;

    return ncmpi_get_vara_schar_all(ncid, 2, start, count, &value);
}

static int get_pending(int ncid, bool fails)
{
    MPI_Offset start[] = {fails, t_rank}, count[] = {1, 1};
    signed char value;
    int request;

    ncmpi_iget_vara_schar(ncid, 2, start, count, &value, &request);
    return ncmpi_wait_all(ncid, 1, &request, NULL);
}

static int wait_for_nothing(int ncid, bool fails)
{
    int request = fails ? 4711 : NC_REQ_NULL;

    return ncmpi_wait_all(ncid, 1, &request, NULL);
}

/* The ranks agree on these errors without a step of its own, so that one rank prints them. */
static void test_verbose_values(const char *strategy)
{
    int (*const calls[])(int, bool) = {put_rows, put_columns, get_columns, get_pending, wait_for_nothing};
    const char *const names[] = {"put of rows", "put of columns", "get of columns", "iget of columns", "wait_all"};
    const int wide[] = {1, 1000, 1000, 1000};
    int ncid, dims[2], varid;
    MPI_Offset start[] = {0, t_rank}, count[] = {4, 1};
    char what[100];
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_strategy", strategy);
    expect_ok(ncmpi_create(MPI_COMM_WORLD, t_path("verbose.nc"), NC_CLOBBER, info, &ncid), "create");
    MPI_Info_free(&info);
    ncmpi_def_dim(ncid, "row", t_nprocs > 4 ? t_nprocs : 4, &dims[0]);
    ncmpi_def_dim(ncid, "column", t_nprocs > 4 ? t_nprocs : 4, &dims[1]);
    ncmpi_def_var(ncid, "rows", NC_BYTE, 2, dims, &varid);
    ncmpi_def_var(ncid, "columns", NC_BYTE, 2, dims, &varid);
    ncmpi_def_var(ncid, "wide", NC_INT, 2, dims, &varid);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(ncmpi_put_vara_int_all(ncid, 2, start, count, wide), "put");
    setenv("PNETCDF_VERBOSE", "1", 1);
    for (int i = 0; i < 5; i++)
        for (int n = 1; n <= t_nprocs; n += t_nprocs > 1 ? t_nprocs - 1 : 1) {
            snprintf(what, sizeof what, "PNETCDF_VERBOSE, %s: %s", strategy, names[i]);
            expect_printed_once(n, i < 4 ? "1 value of type" : "request 4711 is not pending", what, calls[i], ncid);
        }
    unsetenv("PNETCDF_VERBOSE");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Open MPI's mpiexec starts a program of MPICH as processes of one rank each, and the other way round. */
static void test_launcher(void)
{
    const char *sizes[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"};
    char name[4200], text[8192];
    int lines[3], ncid;

    snprintf(name, sizeof name, "%s.%d", t_path("stderr"), t_rank);
    unsetenv("PMI_SIZE"); /* MPI_Init has used it */
    for (int i = 0; i < 3; i++) {
        setenv(sizes[i], "4", 1);
        setenv("OMPI_COMM_WORLD_RANK", i == 0 ? "0" : "3", 1);
        setenv("PMI_RANK", i == 0 ? "3" : "0", 1);
        catch_stderr(name);
        for (int again = 0; again < 2; again++)
            if (ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR)
                ncmpi_close(ncid);
        lines[i] = release_stderr(name, text, sizeof text);
        unsetenv(sizes[i]);
    }
    t_check(lines[0] == 0 && lines[1] == 0, "a process that is not the first of the job says nothing");
    t_check(lines[2] == (t_nprocs == 1) &&
                (lines[2] == 0 || (strstr(text, "srun started 4 processes") != NULL && strstr(text, path) != NULL)),
            "a launcher of another MPI library is noticed, once: %s", text);
}

/* A rank gets an error if another rank failed. */
static void test_peer(int ncid)
{
    MPI_Offset start = t_rank == t_nprocs - 1 ? 12 : 0, count = 1;
    float value = 1;
    setenv("PNETCDF_SAFE_MODE", "1", 1);
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open in safe mode");
    ncmpi_put_vara_float_all(ncid, 0, &start, &count, &value);
    expect_message(ncid, NC_EINVALCOORDS, t_rank == t_nprocs - 1 ? "start[0] = 12" : "the call failed on rank",
                   "safe mode");
    unsetenv("PNETCDF_SAFE_MODE");
    expect_ok(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("last.nc"));
    expect_silence(NC_GLOBAL, "a new thread");
    int ncid = make_file();
    test_calls(ncid);
    test_memory(ncid);
    test_profiler(ncid);
    test_without_file();
    test_texts(ncid);
    test_names(ncid);
    test_range(ncid);
    test_define_mode(ncid);
    test_verbose(ncid);
    test_verbose_values("automatic");
    test_verbose_values("two_phase");
    test_verbose_values("direct");
    test_peer(ncid);
    test_close();
    test_many_texts();
    test_launcher();
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
