/* Calls about chunks, filters, byte order and quantization on classic files, against the codes and values of netCDF-C
 * 4.9.0 for the same calls. */
#include <stdio.h>
#include <unistd.h>
#include "../expect.h"

static char path[4096];

static void code_is(int got, int wanted, const char *text)
{
    t_local(got == wanted, "%s: got %d, expected %d", text, got, wanted);
}

static void is_fine(int got, const char *text)
{
    code_is(got, NC_NOERR, text);
}

/* No call may change the file, or succeed in one mode only. */
static void check_definitions(int ncid, int varid, const char *mode)
{
    const MPI_Offset chunks[] = {1, 2};
    int dims[] = {1, 2};
    const unsigned level = 1;

    code_is(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, chunks), NC_ENOTNC4, mode);
    code_is(ncmpi_def_var_chunking(ncid, varid, NC_CONTIGUOUS, NULL), NC_ENOTNC4, mode);
    code_is(ncmpi_def_var_chunking(ncid, 99, NC_CHUNKED, NULL), NC_ENOTNC4, mode);
    code_is(ncmpi_def_var_deflate(ncid, varid, 1, 1, 5), NC_ENOTNC4, mode);
    code_is(ncmpi_def_var_deflate(ncid, varid, 1, 1, 99), NC_ENOTNC4, mode);
    code_is(ncmpi_def_var_fletcher32(ncid, varid, NC_FLETCHER32), NC_ENOTNC4, mode);
    code_is(ncmpi_def_var_endian(ncid, varid, NC_ENDIAN_LITTLE), NC_ENOTNC4, mode);
    code_is(ncmpi_def_var_filter(ncid, varid, 1, 1, &level), NC_ENOTNC4, mode);
    code_is(ncmpi_def_var_filter(ncid, varid, 7777, 0, NULL), NC_ENOTNC4, mode);
    code_is(ncmpi_def_var_zstandard(ncid, varid, 3), NC_ENOTNC4, mode);
    code_is(ncmpi_def_var_quantize(ncid, varid, NC_QUANTIZE_BITROUND, 3), NC_ENOTNC4, mode);
    code_is(ncmpi_var_set_chunk(ncid, varid, dims), NC_ENOTNC4, mode);
    code_is(ncmpi_var_get_chunk(ncid, varid, dims), NC_ENOTNC4, mode);
    code_is(ncmpi_var_set_filter(ncid, varid, NC_FILTER_DEFLATE), NC_ENOTNC4, mode);
}

static void check_inquiries(int ncid, int varid, const char *mode)
{
    MPI_Offset chunks[2] = {77, 77}, n = 77;
    int a = -7, b = -7, c = -7;
    unsigned ids[32] = {77};

    is_fine(ncmpi_inq_var_chunking(ncid, varid, &a, chunks), mode);
    t_local(a == NC_CONTIGUOUS && chunks[0] == 77, "%s: a classic variable is contiguous", mode);
    is_fine(ncmpi_inq_var_deflate(ncid, varid, &a, &b, &c), mode);
    t_local(a == 0 && b == 0 && c == 0, "%s: it is not compressed", mode);
    a = -7;
    is_fine(ncmpi_inq_var_fletcher32(ncid, varid, &a), mode);
    t_local(a == NC_NOCHECKSUM, "%s: it has no checksums", mode);
    code_is(ncmpi_inq_var_endian(ncid, varid, &a), NC_ENOTNC4, mode);
    is_fine(ncmpi_inq_var_filter_ids(ncid, varid, &n, ids), mode);
    t_local(n == 0 && ids[0] == 77, "%s: it has no filters", mode);
    code_is(ncmpi_inq_var_filter_info(ncid, varid, 1, &n, ids), NC_ENOFILTER, mode);
    code_is(ncmpi_inq_var_quantize(ncid, varid, &a, &b), NC_ENOTNC4, mode);
    a = b = -7;
    is_fine(ncmpi_inq_var_zstandard(ncid, varid, &a, &b), mode);
    t_local(a == 0 && b == -7, "%s: it has no zstd", mode);
    is_fine(ncmpi_var_get_filter(ncid, varid, &a), mode);
    t_local(a == NC_FILTER_NONE, "%s: NC_FILTER_NONE", mode);
    is_fine(ncmpi_inq_var_chunking(ncid, varid, NULL, NULL), mode);
    is_fine(ncmpi_inq_var_deflate(ncid, varid, NULL, NULL, NULL), mode);
    is_fine(ncmpi_inq_var_filter_ids(ncid, varid, NULL, NULL), mode);
    is_fine(ncmpi_inq_var_zstandard(ncid, varid, NULL, NULL), mode);
    code_is(ncmpi_inq_var_chunking(ncid, 99, &a, chunks), NC_ENOTVAR, mode);
    code_is(ncmpi_inq_var_deflate(ncid, 99, &a, &b, &c), NC_ENOTVAR, mode);
    code_is(ncmpi_inq_var_fletcher32(ncid, 99, &a), NC_ENOTVAR, mode);
    code_is(ncmpi_inq_var_filter_ids(ncid, 99, &n, ids), NC_ENOTVAR, mode);
    code_is(ncmpi_inq_var_filter_info(ncid, 99, 1, &n, ids), NC_ENOTVAR, mode);
    code_is(ncmpi_inq_var_chunking(ncid, NC_GLOBAL, &a, chunks), NC_EGLOBAL, mode);
}

static void check_both(int ncid, const char *mode)
{
    for (int varid = 0; varid < 3; varid++) {
        check_definitions(ncid, varid, mode);
        check_inquiries(ncid, varid, mode);
        t_check(true, "variable %d: %s", varid, mode);
    }
}

static void test_format(int flag)
{
    const int dims[] = {0, 1};
    int ncid, id;

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | flag, MPI_INFO_NULL, &ncid), "create");
    expect_ok(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &id), "t");
    expect_ok(ncmpi_def_dim(ncid, "x", 10, &id), "x");
    expect_ok(ncmpi_def_var(ncid, "v", NC_FLOAT, 1, &dims[1], &id), "v");
    expect_ok(ncmpi_def_var(ncid, "r", NC_FLOAT, 2, dims, &id), "r");
    expect_ok(ncmpi_def_var(ncid, "s", NC_FLOAT, 0, NULL, &id), "s");
    check_both(ncid, "define mode");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    check_both(ncid, "data mode");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    check_both(ncid, "independent data mode");
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    check_both(ncid, "a file that cannot be written");
    expect_ok(ncmpi_close(ncid), "close");
    expect_code(ncmpi_def_var_deflate(ncid, 0, 1, 1, 1), NC_EBADID, "a file that is closed");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("classic_storage.nc"));
    test_format(0);
    test_format(NC_64BIT_OFFSET);
    test_format(NC_64BIT_DATA);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
