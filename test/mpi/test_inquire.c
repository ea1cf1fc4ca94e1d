/* Inquiry calls against what was defined: dimensions, variables, counts, sizes, paths, open files, formats, hints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../expect.h"

static char path[4096];

static int make(void)
{
    int ncid, dims[3], id;
    short cell[6] = {1, 2, 3, 4, 5, 6};
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_OFFSET, MPI_INFO_NULL, &ncid) == NC_NOERR,
            "create");
    t_local(ncmpi_def_dim(ncid, "lat", 2, &dims[0]) == NC_NOERR && dims[0] == 0, "def_dim lat");
    t_local(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[1]) == NC_NOERR && dims[1] == 1, "def_dim time");
    t_local(ncmpi_def_dim(ncid, "lon", 3, &dims[2]) == NC_NOERR && dims[2] == 2, "def_dim lon");
    t_local(ncmpi_def_var(ncid, "grid", NC_DOUBLE, 2, (int[]){0, 2}, &id) == NC_NOERR && id == 0, "def_var grid");
    t_local(ncmpi_def_var(ncid, "temp", NC_SHORT, 3, (int[]){1, 0, 2}, &id) == NC_NOERR && id == 1, "def_var temp");
    t_local(ncmpi_def_var(ncid, "flag", NC_BYTE, 1, (int[]){1}, &id) == NC_NOERR && id == 2, "def_var flag");
    t_local(ncmpi_def_var(ncid, "one", NC_CHAR, 0, NULL, &id) == NC_NOERR && id == 3, "def_var one");
    t_local(ncmpi_put_att_text(ncid, 1, "units", 1, "K") == NC_NOERR, "put_att");
    t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 4, "test") == NC_NOERR, "put_att");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(ncmpi_put_vara_short_all(ncid, 1, (MPI_Offset[]){4, 0, 0}, (MPI_Offset[]){1, 2, 3}, cell) == NC_NOERR,
            "put");
    t_check(true, "make a file");
    return ncid;
}

static void check_counts(int ncid)
{
    int n[4], single[4], fixed = -1, records = -1;
    t_local(ncmpi_inq(ncid, &n[0], &n[1], &n[2], &n[3]) == NC_NOERR, "inq");
    t_check(n[0] == 3 && n[1] == 4 && n[2] == 1 && n[3] == 1,
            "inq: 3 dimensions, 4 variables, 1 attribute, unlimited is 1");
    t_local(ncmpi_inq_ndims(ncid, &single[0]) == NC_NOERR && ncmpi_inq_nvars(ncid, &single[1]) == NC_NOERR &&
                ncmpi_inq_natts(ncid, &single[2]) == NC_NOERR && ncmpi_inq_unlimdim(ncid, &single[3]) == NC_NOERR,
            "inq_n...");
    t_check(memcmp(n, single, sizeof n) == 0, "inq_ndims, inq_nvars, inq_natts and inq_unlimdim say the same");
    t_local(ncmpi_inq_num_fix_vars(ncid, &fixed) == NC_NOERR && ncmpi_inq_num_rec_vars(ncid, &records) == NC_NOERR,
            "inq_num");
    t_check(fixed == 2 && records == 2, "2 fixed and 2 record variables (%d, %d)", fixed, records);
    t_local(ncmpi_inq_unlimdims(ncid, &single[0], &single[1]) == NC_NOERR && single[0] == 1 && single[1] == n[3],
            "inq_unlimdims: the record dimension");
}

static void check_dimensions(int ncid)
{
    static const struct {
        const char *name;
        MPI_Offset length;
    } dims[] = {{"lat", 2}, {"time", 5}, {"lon", 3}};
    for (int i = 0; i < 3; i++) {
        char name[NC_MAX_NAME + 1] = "", again[NC_MAX_NAME + 1] = "";
        MPI_Offset length = -1, same = -1;
        int id = -1;
        t_local(ncmpi_inq_dim(ncid, i, name, &length) == NC_NOERR && ncmpi_inq_dimname(ncid, i, again) == NC_NOERR,
                "inq_dim");
        t_local(ncmpi_inq_dimid(ncid, dims[i].name, &id) == NC_NOERR && ncmpi_inq_dimlen(ncid, i, &same) == NC_NOERR,
                "inq_dimid");
        t_check(strcmp(name, dims[i].name) == 0 && strcmp(again, name) == 0 && length == dims[i].length &&
                    same == length && id == i,
                "dimension %s, length %lld", dims[i].name, (long long)dims[i].length);
    }
    int id;
    MPI_Offset n;
    expect_code(ncmpi_inq_dimid(ncid, "none", &id), NC_EBADDIM, "inq_dimid: no such name");
    expect_code(ncmpi_inq_dimlen(ncid, 3, &n), NC_EBADDIM, "inq_dimlen: no such id");
    expect_code(ncmpi_inq_dimlen(ncid, -1, &n), NC_EBADDIM, "inq_dimlen: id -1");
}

static void check_variables(int ncid)
{
    static const struct {
        const char *name;
        nc_type type;
        int rank, dimids[3], natts;
    } vars[] = {
        {"grid", NC_DOUBLE, 2, {0, 2}, 0},
        {"temp", NC_SHORT, 3, {1, 0, 2}, 1},
        {"flag", NC_BYTE, 1, {1}, 0},
        {"one", NC_CHAR, 0, {0}, 0},
    };
    for (int i = 0; i < 4; i++) {
        char name[NC_MAX_NAME + 1] = "", again[NC_MAX_NAME + 1] = "";
        nc_type type = 0, same_type = 0;
        int rank = -1, dimids[3] = {0}, natts = -1, id = -1, same[2] = {-1, -1}, same_dims[3] = {0};
        t_local(ncmpi_inq_var(ncid, i, name, &type, &rank, dimids, &natts) == NC_NOERR, "inq_var");
        t_local(ncmpi_inq_varname(ncid, i, again) == NC_NOERR && ncmpi_inq_vartype(ncid, i, &same_type) == NC_NOERR &&
                    ncmpi_inq_varndims(ncid, i, &same[0]) == NC_NOERR &&
                    ncmpi_inq_varnatts(ncid, i, &same[1]) == NC_NOERR &&
                    ncmpi_inq_vardimid(ncid, i, same_dims) == NC_NOERR &&
                    ncmpi_inq_varid(ncid, vars[i].name, &id) == NC_NOERR,
                "inq_var...");
        t_local(strcmp(again, name) == 0 && same_type == type && same[0] == rank && same[1] == natts &&
                    memcmp(dimids, same_dims, sizeof dimids) == 0,
                "single inquiries differ from inq_var");
        t_check(strcmp(name, vars[i].name) == 0 && type == vars[i].type && rank == vars[i].rank &&
                    natts == vars[i].natts && id == i &&
                    memcmp(dimids, vars[i].dimids, (size_t)rank * sizeof *dimids) == 0,
                "variable %s", vars[i].name);
    }
    int id;
    expect_code(ncmpi_inq_varid(ncid, "none", &id), NC_ENOTVAR, "inq_varid: no such name");
    expect_code(ncmpi_inq_varndims(ncid, 4, &id), NC_ENOTVAR, "inq_varndims: no such id");
    id = -1;
    expect_ok(ncmpi_inq_var(ncid, NC_GLOBAL, NULL, NULL, NULL, NULL, &id), "inq_var: attributes of the file");
    t_check(id == 1, "the file has 1 attribute (%d)", id);
    expect_code(ncmpi_inq_var(ncid, NC_GLOBAL, NULL, NULL, &id, NULL, NULL), NC_EGLOBAL,
                "inq_var: the file has no dimensions as a variable has");
    expect_code(ncmpi_inq_varndims(ncid, NC_GLOBAL, &id), NC_EGLOBAL, "inq_varndims: nor here");
}

static void check_sizes(int ncid)
{
    MPI_Offset recsize = 0, put = -1, got = -1, header = -1;
    double grid[6];
    t_local(ncmpi_inq_recsize(ncid, &recsize) == NC_NOERR, "inq_recsize");
    t_check(recsize == 12 + 4, "a record takes 6 shorts and a padded byte, 16 bytes (%lld)", (long long)recsize);
    t_local(ncmpi_inq_put_size(ncid, &put) == NC_NOERR && ncmpi_inq_get_size(ncid, &got) == NC_NOERR, "inq_put_size");
    t_local(ncmpi_inq_header_size(ncid, &header) == NC_NOERR, "inq_header_size");
    MPI_Offset before = got, own = t_rank == 0 ? header + 4 : 0;
    t_check(put == 12 + own || (!t_classic() && put > 0),
            "inq_put_size counts 12 bytes put, and on rank 0 the header and the number of records (%lld)",
            (long long)put);
    t_local(ncmpi_get_var_double_all(ncid, 0, grid) == NC_NOERR, "get");
    t_local(ncmpi_inq_get_size(ncid, &got) == NC_NOERR, "inq_get_size");
    t_check(got == before + 48, "inq_get_size grew by the 48 bytes got (%lld to %lld)", (long long)before,
            (long long)got);
}

/* A new file has the format that the hint names. */
static void check_identity(int ncid, bool is_new)
{
    char name[4096] = "";
    int length = 0, format = 0, mode = 0, n = 0, ids[16] = {0};
    int expected = is_new ? NC_FORMAT_NETCDF4 : NC_FORMAT_NETCDF4_CLASSIC;

    t_local(ncmpi_inq_path(ncid, &length, name) == NC_NOERR, "inq_path");
    t_check(strcmp(name, path) == 0 && length == (int)strlen(path), "inq_path: %s", name);
    t_check(ncmpi_inq_format(ncid, &format) == NC_NOERR && format == (t_classic() ? NC_FORMAT_CDF2 : expected),
            "inq_format: CDF-2 (%d)", format);
    t_check(ncmpi_inq_version(ncid, &mode) == NC_NOERR &&
                mode == (t_classic() ? NC_64BIT_OFFSET : NC_NETCDF4 | NC_CLASSIC_MODEL),
            "inq_version: NC_64BIT_OFFSET (%d)", mode);
    t_local(ncmpi_inq_files_opened(&n, NULL) == NC_NOERR, "inq_files_opened");
    t_check(n == 1 && ncmpi_inq_files_opened(&n, ids) == NC_NOERR && ids[0] == ncid, "one file is open (%d), ours", n);
}

static void check_hints(void)
{
    MPI_Info info, used = MPI_INFO_NULL;
    int ncid, flag = 0;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_var_align_size", "1024");
    MPI_Info_set(info, "nc_record_align_size", "6");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid), "open with hints");
    MPI_Info_free(&info);
    expect_ok(ncmpi_inq_file_info(ncid, &used), "inq_file_info");
    t_check(used != MPI_INFO_NULL, "it gives an info object");
    if (used != MPI_INFO_NULL) {
        MPI_Info_get(used, "nc_var_align_size", MPI_MAX_INFO_VAL, value, &flag);
        t_check(!t_classic() || (flag && atol(value) == 1024), "it holds nc_var_align_size = 1024 (%s)", value);
        MPI_Info_free(&used);
    }
    expect_ok(ncmpi_close(ncid), "close");
}

/* Texts that programs compare. */
static const struct {
    int code;
    const char *text;
} known[] = {
    {NC_NOERR, "No error"},
    {NC_EBADID, "NetCDF: Not a valid ID"},
    {NC_ENFILE, "NetCDF: Too many files open"},
    {NC_EEXIST, "NetCDF: File exists && NC_NOCLOBBER"},
    {NC_EINVAL, "NetCDF: Invalid argument"},
    {NC_EPERM, "NetCDF: Write to read only"},
    {NC_ENOTINDEFINE, "NetCDF: Operation not allowed in data mode"},
    {NC_EINDEFINE, "NetCDF: Operation not allowed in define mode"},
    {NC_EINVALCOORDS, "NetCDF: Index exceeds dimension bound"},
    {NC_EMAXDIMS, "NetCDF: NC_MAX_DIMS or NC_MAX_VAR_DIMS exceeded"},
    {NC_ENAMEINUSE, "NetCDF: String match to name in use"},
    {NC_ENOTATT, "NetCDF: Attribute not found"},
    {NC_EMAXATTS, "NetCDF: NC_MAX_ATTRS exceeded"},
    {NC_EBADTYPE, "NetCDF: Not a valid data type or _FillValue type mismatch"},
    {NC_EBADDIM, "NetCDF: Invalid dimension ID or name"},
    {NC_EUNLIMPOS, "NetCDF: NC_UNLIMITED in the wrong index"},
    {NC_EMAXVARS, "NetCDF: NC_MAX_VARS exceeded"},
    {NC_ENOTVAR, "NetCDF: Variable not found"},
    {NC_EGLOBAL, "NetCDF: Action prohibited on NC_GLOBAL varid"},
    {NC_ENOTNC, "NetCDF: Unknown file format (file format violates CDF specification)"},
    {NC_ESTS, "NetCDF: In Fortran, string too short"},
    {NC_EMAXNAME, "NetCDF: NC_MAX_NAME exceeded"},
    {NC_EUNLIMIT, "NetCDF: NC_UNLIMITED size already in use"},
    {NC_ENORECVARS, "NetCDF: nc_rec op when there are no record vars"},
    {NC_ECHAR, "NetCDF: Attempt to convert between text & numbers"},
    {NC_EEDGE, "NetCDF: Start+count exceeds dimension bound"},
    {NC_ESTRIDE, "NetCDF: Illegal stride"},
    {NC_EBADNAME, "NetCDF: Name contains illegal characters"},
    {NC_ERANGE, "NetCDF: Numeric conversion not representable"},
    {NC_ENOMEM, "NetCDF: Memory allocation (malloc) failure"},
    {NC_EVARSIZE, "NetCDF: One or more variable sizes violate format constraints"},
    {NC_EDIMSIZE, "NetCDF: Invalid dimension size"},
    {NC_ENOTNC3, "NetCDF: Attempting netcdf-3 operation on netcdf-4 file"},
    {NC_EMULTIDEFINE_VAR_NUM, "Number of variables is inconsistent among processes."},
    {NC_EMULTIDEFINE_ATTR_VAL, "Attribute value is inconsistent among processes."},
};

static void check_texts(void)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        t_check(strcmp(ncmpi_strerror(known[i].code), known[i].text) == 0, "strerror(%s): %s",
                ncmpi_strerrno(known[i].code), ncmpi_strerror(known[i].code));
    t_check(strncmp(ncmpi_strerror(-666), "Unknown Error", 13) == 0, "strerror of an unknown code");
    t_check(strcmp(ncmpi_strerrno(NC_EBADID), "NC_EBADID") == 0, "strerrno(NC_EBADID)");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("inquire.nc"));
    int ncid = make(), format = 0;
    for (int round = 0; round < 2; round++) {
        check_counts(ncid);
        check_dimensions(ncid);
        check_variables(ncid);
        check_identity(ncid, round == 0);
        if (round == 0)
            check_sizes(ncid);
        expect_ok(ncmpi_close(ncid), "close");
        if (round == 0)
            expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open again");
    }
    t_check(ncmpi_inq_file_format(path, &format) == NC_NOERR &&
                format == (t_classic() ? NC_FORMAT_CDF2 : NC_FORMAT_NETCDF4_CLASSIC),
            "inq_file_format: CDF-2 (%d)", format);
    check_hints();
    t_check(strlen(ncmpi_inq_libvers()) > 0, "inq_libvers: %s", ncmpi_inq_libvers());
    check_texts();
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
