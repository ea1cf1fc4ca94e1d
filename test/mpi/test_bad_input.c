/* Invalid input: files that are missing, truncated or of another kind, NULL pointers, wrong and closed ids. Every rank
 * gets an error, and nothing is written. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../expect.h"

enum { COUNT = 40 };

static char path[4096];

static void write_file(const char *name, const void *bytes, size_t n)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0) {
        FILE *f = fopen(name, "wb");
        t_local(f != NULL && fwrite(bytes, 1, n, f) == n && fclose(f) == 0, "cannot write %s", name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static size_t read_file(const char *name, char *bytes, size_t most)
{
    FILE *f = fopen(name, "rb");
    size_t n = f == NULL ? 0 : fread(bytes, 1, most, f);
    if (f != NULL)
        fclose(f);
    return n;
}

/* Opens a file of these bytes for writing; returns the code; the bytes must be the same afterwards. */
static int open_bytes(const char *bytes, size_t n)
{
    static char after[8192];
    int ncid = -1, code;
    write_file(path, bytes, n);
    code = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid);
    if (code == NC_NOERR)
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    MPI_Barrier(MPI_COMM_WORLD);
    t_local(read_file(path, after, sizeof after) == n && memcmp(bytes, after, n) == 0, "opening changed the file");
    return code;
}

static void test_no_file(void)
{
    int ncid, format;
    expect_code(ncmpi_open(MPI_COMM_WORLD, t_path("bad_missing.nc"), NC_NOWRITE, MPI_INFO_NULL, &ncid), NC_ENOENT,
                "open a missing file");
    expect_code(ncmpi_open(MPI_COMM_WORLD, t_path("bad_missing.nc"), NC_WRITE, MPI_INFO_NULL, &ncid), NC_ENOENT,
                "open a missing file for writing");
    t_check(access(t_path("bad_missing.nc"), F_OK) != 0, "it was not created");
    expect_error(ncmpi_open(MPI_COMM_WORLD, t_path("."), NC_NOWRITE, MPI_INFO_NULL, &ncid), "open a directory");
    expect_error(ncmpi_create(MPI_COMM_WORLD, t_path("."), NC_CLOBBER, MPI_INFO_NULL, &ncid),
                 "create where a directory is");
    expect_error(ncmpi_create(MPI_COMM_WORLD, t_path("no_folder/a.nc"), NC_CLOBBER, MPI_INFO_NULL, &ncid),
                 "create in a missing folder");
    expect_error(ncmpi_open(MPI_COMM_WORLD, "", NC_NOWRITE, MPI_INFO_NULL, &ncid), "open the empty name");
    expect_error(ncmpi_inq_file_format(t_path("bad_missing.nc"), &format), "inq_file_format of a missing file");
}

static void test_permission(void)
{
    int ncid;
    if (geteuid() == 0) {
        t_skip("root may read and write every file");
        return;
    }
    write_file(path, "CDF\1", 4);
    if (t_rank == 0)
        t_local(chmod(path, 0) == 0, "chmod");
    MPI_Barrier(MPI_COMM_WORLD);
    expect_error(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open without permission");
    expect_error(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create without permission");
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
}

/* The format that the first bytes identify: "CDF" and 1, 2 or 5 for the classic formats, HDF5's signature,
 * or an unknown one. */
static void test_identified(const char *bytes, size_t n, int wanted, const char *what)
{
    int format = 12345, code;
    write_file(path, bytes, n);
    code = ncmpi_inq_file_format(path, &format);
    t_check(code == NC_NOERR && format == wanted, "inq_file_format of %s: format %d (%s)", what, format,
            ncmpi_strerrno(code));
}

static void test_other_formats(void)
{
    static const char hdf5[600] = "\x89HDF\r\n\x1a\n", junk[600] = "This is a letter to the editor, and no dataset.";
    char version[64] = "CDF\7", typed[5000];
    int format = 0, ncid;
    t_check(open_bytes("", 0) == NC_ENOTNC, "open an empty file: NC_ENOTNC");
    t_check(open_bytes(junk, sizeof junk) == NC_ENOTNC, "open a file of text: NC_ENOTNC");
    int code = open_bytes(hdf5, sizeof hdf5);
    t_check(code == NC_EHDFERR || code == NC_ENOTBUILT, "open a damaged HDF5 file for writing: %s",
            ncmpi_strerrno(code));
    code = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid);
    t_check(code == NC_EHDFERR || code == NC_ENOTBUILT, "open a damaged HDF5 file: %s", ncmpi_strerrno(code));
    t_check(open_bytes(version, sizeof version) == NC_ENOTNC, "open a file of a later version: NC_ENOTNC");
    test_identified("CDF\1\0\0\0\0", 8, NC_FORMAT_CLASSIC, "CDF-1");
    test_identified("CDF\2\0\0\0\0", 8, NC_FORMAT_CDF2, "CDF-2");
    test_identified("CDF\5\0\0\0\0", 8, NC_FORMAT_CDF5, "CDF-5");
    test_identified(version, sizeof version, NC_FORMAT_UNKNOWN, "a later version");
    test_identified(junk, sizeof junk, NC_FORMAT_UNKNOWN, "a text");
    test_identified(hdf5, sizeof hdf5, NC_FORMAT_NETCDF4, "an HDF5 file");
    snprintf(typed, sizeof typed, "ufs:%s", path);
    code = ncmpi_inq_file_format(typed, &format);
    t_check(code == NC_NOERR && format == NC_FORMAT_NETCDF4, "the same behind a type of file system");
    write_file(path, hdf5, 7);
    t_check(ncmpi_inq_file_format(path, &format) == NC_EFILE, "inq_file_format of 7 bytes: NC_EFILE");
}

/* Headers by hand whose counts or variables no file of their format can have. The message names the byte. */
static void test_impossible_headers(void)
{
    static const struct {
        const char *what;
        size_t n;
        const char *bytes;
        int code;
        const char *byte;
    } rows[] = {
        {"CDF-1: 2^31 dimensions", 32,
         "CDF\1\0\0\0\0"
         "\0\0\0\12\x80\0\0\0"
         "\0\0\0\0\0\0\0\0"
         "\0\0\0\0\0\0\0\0",
         NC_EMAXDIMS, "byte 12"},
        {"CDF-2: 2^32 - 1 attributes", 32,
         "CDF\2\0\0\0\0"
         "\0\0\0\0\0\0\0\0"
         "\0\0\0\14\xff\xff\xff\xff"
         "\0\0\0\0\0\0\0\0",
         NC_EMAXATTS, "byte 20"},
        {"CDF-1: 2^31 variables", 32,
         "CDF\1\0\0\0\0"
         "\0\0\0\0\0\0\0\0"
         "\0\0\0\0\0\0\0\0"
         "\0\0\0\13\x80\0\0\0",
         NC_EMAXVARS, "byte 28"},
        {"CDF-1: 2^31 - 1 variables, more than the file has", 32,
         "CDF\1\0\0\0\0"
         "\0\0\0\0\0\0\0\0"
         "\0\0\0\0\0\0\0\0"
         "\0\0\0\13\x7f\xff\xff\xff",
         NC_ENOTNC, "byte 28"},
        {"CDF-5: 2^31 dimensions", 24,
         "CDF\5\0\0\0\0\0\0\0\0"
         "\0\0\0\12\0\0\0\0\x80\0\0\0",
         NC_EMAXDIMS, "byte 16"},
        {"CDF-5: -1 attributes", 36,
         "CDF\5\0\0\0\0\0\0\0\0"
         "\0\0\0\0\0\0\0\0\0\0\0\0"
         "\0\0\0\14\xff\xff\xff\xff\xff\xff\xff\xff",
         NC_EMAXATTS, "byte 28"},
        {"CDF-2: a variable of 2^32 bytes before another one", 120,
         "CDF\2\0\0\0\0"
         "\0\0\0\12\0\0\0\1"
         "\0\0\0\1x\0\0\0\x80\0\0\0"
         "\0\0\0\0\0\0\0\0"
         "\0\0\0\13\0\0\0\2"
         "\0\0\0\1a\0\0\0"
         "\0\0\0\1\0\0\0\0"
         "\0\0\0\0\0\0\0\0"
         "\0\0\0\3\xff\xff\xff\xff"
         "\0\0\0\0\0\0\1\0"
         "\0\0\0\1b\0\0\0"
         "\0\0\0\0"
         "\0\0\0\0\0\0\0\0"
         "\0\0\0\1\0\0\0\4"
         "\0\0\0\1\0\0\1\0",
         NC_EVARSIZE, "byte 44"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[NC_MAX_MESSAGE] = "";
        int code = open_bytes(rows[i].bytes, rows[i].n);

        ncmpi_inq_last_error(-1, NULL, message);
        t_check(code == rows[i].code && strstr(message, rows[i].byte) != NULL, "%s: %s (expected %s), %s", rows[i].what,
                ncmpi_strerrno(code), ncmpi_strerrno(rows[i].code), message);
    }
}

static void make_small_file(int cmode)
{
    int ncid, dims[2], var, values[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = i + 1;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_dim(ncid, "x", COUNT, &dims[1]) == NC_NOERR, "def_dim");
    t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 3, "abc") == NC_NOERR, "put_att");
    t_local(ncmpi_def_var(ncid, "v", NC_INT, 1, dims + 1, &var) == NC_NOERR, "def_var");
    t_local(ncmpi_put_att_double(ncid, var, "scale", NC_DOUBLE, 1, (double[]){0.5}) == NC_NOERR, "put_att");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(ncmpi_put_var_int_all(ncid, var, values) == NC_NOERR, "put");
    t_check(ncmpi_close(ncid) == NC_NOERR, "make a small file");
}

/* A header cut at any byte is refused; with all of the header the file opens. */
static void test_cut_header(int cmode, const char *format)
{
    char bytes[8192];
    MPI_Offset header = 0;
    int ncid, opened = -1;
    make_small_file(cmode);
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    t_local(ncmpi_inq_header_size(ncid, &header) == NC_NOERR, "inq_header_size");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    MPI_Barrier(MPI_COMM_WORLD);
    size_t n = read_file(path, bytes, sizeof bytes);
    t_check(n > (size_t)header && header > 100, "%s: the file has %zu bytes, its header %lld", format, n,
            (long long)header);
    for (size_t cut = 0; cut < (size_t)header; cut += t_quick() ? 5 : 1) {
        int code = open_bytes(bytes, cut);
        if (code != NC_ENOTNC && opened < 0)
            opened = (int)cut;
        t_local(code == NC_ENOTNC, "cut after %zu bytes: %s", cut, ncmpi_strerrno(code));
    }
    t_check(opened < 0, "%s: a header cut at any byte is NC_ENOTNC", format);
}

/* Bytes that lie about counts must not lead to huge allocations or crashes; whatever opens must also close. */
static void test_damaged_header(int cmode, const char *format)
{
    static const unsigned char damage[] = {0xff, 0x7f, 0x80, 0x00};
    char bytes[8192], bad[8192];
    MPI_Barrier(MPI_COMM_WORLD);
    make_small_file(cmode);
    MPI_Barrier(MPI_COMM_WORLD);
    size_t n = read_file(path, bytes, sizeof bytes);
    for (size_t at = 4; at < n && at < 200; at += t_quick() ? 7 : 1) {
        memcpy(bad, bytes, n);
        bad[at] = (char)damage[at % sizeof damage];
        int code = open_bytes(bad, n);
        t_local(code == NC_NOERR || code < -32, "damage at byte %zu: code %d", at, code);
    }
    t_check(true, "%s: a damaged byte anywhere in the header opens or is refused, and crashes nothing", format);
}

/* The data section is cut while the file is open: an error, never zeros for what is missing. test_short_file.c has
 * files that were short before. */
static void test_cut_data(void)
{
    char bytes[8192];
    int ncid, values[COUNT];
    MPI_Offset start = 0, count = COUNT / 2;
    make_small_file(0);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open the whole file");
    MPI_Barrier(MPI_COMM_WORLD);
    size_t n = read_file(path, bytes, sizeof bytes);
    write_file(path, bytes, n - COUNT / 4 * sizeof(int)); /* the last quarter is gone */
    expect_error(ncmpi_get_var_int_all(ncid, 0, values), "get a variable whose last values are cut off");
    expect_ok(ncmpi_get_vara_int_all(ncid, 0, &start, &count, values), "get the half that is there");
    t_check(values[0] == 1 && values[COUNT / 2 - 1] == COUNT / 2, "its values are right");
    start = t_rank == t_nprocs - 1 ? COUNT / 2 : 0; /* only the last rank reads the missing part */
    expect_error(ncmpi_get_vara_int_all(ncid, 0, &start, &count, values),
                 "an I/O error of one rank is reported on all");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    expect_error(ncmpi_get_var_int(ncid, 0, values), "independent get of what is cut off");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_null_pointers(void)
{
    int ncid, id;
    expect_error(ncmpi_create(MPI_COMM_WORLD, NULL, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create: path NULL");
    expect_error(ncmpi_open(MPI_COMM_WORLD, NULL, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open: path NULL");
    expect_error(ncmpi_delete(NULL, MPI_INFO_NULL), "delete: path NULL");
    expect_error(ncmpi_inq_file_format(NULL, &id), "inq_file_format: path NULL");
    make_small_file(0);
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    expect_error(ncmpi_inq_varid(ncid, NULL, &id), "inq_varid: name NULL");
    expect_error(ncmpi_inq_dimid(ncid, NULL, &id), "inq_dimid: name NULL");
    expect_error(ncmpi_inq_att(ncid, 0, NULL, NULL, NULL), "inq_att: name NULL");
    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    expect_error(ncmpi_def_var(ncid, "w", NC_INT, 1, NULL, &id), "def_var: dimids NULL with one dimension");
    expect_ok(ncmpi_def_dim(ncid, "z", 3, NULL), "def_dim: id not wanted");
    expect_ok(ncmpi_def_var(ncid, "z", NC_INT, 0, NULL, NULL), "def_var: id not wanted");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Every kind of call with one id. */
static void expect_bad_id(int ncid, const char *what)
{
    int i;
    MPI_Offset n = 0;
    nc_type type;
    int const codes[] = {
        ncmpi_redef(ncid),
        ncmpi_enddef(ncid),
        ncmpi_sync(ncid),
        ncmpi_close(ncid),
        ncmpi_abort(ncid),
        ncmpi_begin_indep_data(ncid),
        ncmpi_end_indep_data(ncid),
        ncmpi_inq(ncid, &i, &i, &i, &i),
        ncmpi_inq_dimlen(ncid, 0, &n),
        ncmpi_inq_varid(ncid, "v", &i),
        ncmpi_inq_vartype(ncid, 0, &type),
        ncmpi_inq_attlen(ncid, 0, "scale", &n),
        ncmpi_def_dim(ncid, "d", 3, &i),
        ncmpi_put_att_text(ncid, -1, "a", 1, "a"),
        ncmpi_get_var_int_all(ncid, 0, &i),
        ncmpi_put_var_int_all(ncid, 0, &i),
        ncmpi_inq_format(ncid, &i),
        ncmpi_set_fill(ncid, NC_FILL, &i),
        ncmpi_sync_numrecs(ncid),
        ncmpi_inq_varoffset(ncid, 0, &n),
    };
    for (size_t k = 0; k < sizeof codes / sizeof *codes; k++)
        t_local(codes[k] == NC_EBADID, "call %zu of the list: %s", k, ncmpi_strerrno(codes[k]));
    t_check(true, "NC_EBADID from every call with %s", what);
}

static void test_bad_ids(void)
{
    int ncid;
    make_small_file(0);
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    expect_bad_id(-1, "id -1");
    expect_bad_id(1000000000, "a huge id");
    expect_bad_id(ncid + 77, "an id that was never given");
    expect_ok(ncmpi_close(ncid), "close");
    expect_bad_id(ncid, "a closed id");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("bad_input.nc"));
    test_no_file();
    test_permission();
    test_other_formats();
    test_impossible_headers();
    test_cut_header(0, "CDF-1");
    test_cut_header(NC_64BIT_OFFSET, "CDF-2");
    test_cut_header(NC_64BIT_DATA, "CDF-5");
    test_damaged_header(0, "CDF-1");
    test_damaged_header(NC_64BIT_DATA, "CDF-5");
    test_cut_data();
    test_null_pointers();
    test_bad_ids();
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
