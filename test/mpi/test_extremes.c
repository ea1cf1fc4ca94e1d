/* Arguments and sizes at the ends of their ranges: imap that no address space has, or that runs backwards; lists of
 * hyperslabs with more elements than 63 bits count; names, variables and offsets that just fit a format, and by one do
 * not. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../expect.h"

enum { NY = 4, NX = 5, N = NY * NX };

static char path[4096];

static int create(int cmode)
{
    int ncid = -1;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    return ncid;
}

/* --- imap --- */

static void expect_values(int ncid, const int *wanted, const char *what)
{
    int got[N] = {0};

    t_local(ncmpi_get_var_int_all(ncid, 0, got) == NC_NOERR, "%s: get", what);
    t_check(memcmp(got, wanted, sizeof got) == 0, "%s: the values in the file", what);
}

static void test_huge_imap(int ncid, const int *values)
{
    static const MPI_Offset huge[] = {INT64_MAX, INT64_MIN, INT64_MAX / 4, (MPI_Offset)1 << 62, -((MPI_Offset)1 << 62)};
    const MPI_Offset start[2] = {0, 0}, count[2] = {NY, NX};
    int buf[N] = {0};
    char what[100];

    for (int i = 0; i < (int)(sizeof huge / sizeof *huge); i++)
        for (int dim = 0; dim < 2; dim++) {
            MPI_Offset imap[2] = {dim == 0 ? huge[i] : NX, dim == 0 ? 1 : huge[i]};

            snprintf(what, sizeof what, "imap[%d] = %lld", dim, (long long)huge[i]);
            expect_code(ncmpi_put_varm_int_all(ncid, 0, start, count, NULL, imap, buf), NC_EINVAL, what);
            expect_code(ncmpi_get_varm_int_all(ncid, 0, start, count, NULL, imap, buf), NC_EINVAL, what);
            expect_code(ncmpi_iput_varm_int(ncid, 0, start, count, NULL, imap, buf, NULL), NC_EINVAL, what);
            expect_code(ncmpi_put_varm_all(ncid, 0, start, count, NULL, imap, buf, N, MPI_INT), NC_EINVAL, what);
        }
    expect_values(ncid, values, "after huge imaps");
}

/* An MPI datatype whose elements have no common distance: imap can only name elements that it has. */
static void test_imap_of_type(int ncid, const int *values)
{
    static const MPI_Offset outside[][2] = {{-NX, 1}, {NX, -1}, {NX + 1, 1}, {INT64_MAX, 1}, {INT64_MIN, 1}};
    const MPI_Offset start[2] = {0, 0}, count[2] = {NY, NX};
    int lengths[2] = {1, N - 1}, at[2] = {0, 3}, buf[N + 3] = {0};
    MPI_Datatype type;

    MPI_Type_indexed(2, lengths, at, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < (int)(sizeof outside / sizeof *outside); i++)
        expect_code(ncmpi_put_varm_all(ncid, 0, start, count, NULL, outside[i], buf, 1, type), NC_EINVAL,
                    "imap beyond the elements of a datatype");
    MPI_Type_free(&type);
    expect_values(ncid, values, "after them");
}

static void test_negative_imap(int ncid, const int *values)
{
    const MPI_Offset start[2] = {0, 0}, count[2] = {NY, NX}, back[2] = {-NX, -1}, same[2] = {0, 1};
    int reversed[N], got[N] = {0}, rows[N], wrong = 0;

    for (int i = 0; i < N; i++) {
        reversed[i] = values[N - 1 - i];
        rows[i] = 700 + i % NX;
    }
    expect_ok(ncmpi_get_varm_int_all(ncid, 0, start, count, NULL, back, got + N - 1), "get with a negative imap");
    for (int i = 0; i < N; i++)
        wrong += got[i] != reversed[i];
    t_check(wrong == 0, "the last element comes first (%d wrong)", wrong);
    expect_ok(ncmpi_put_varm_int_all(ncid, 0, start, count, NULL, back, (int *)values + N - 1), "put with one");
    expect_values(ncid, reversed, "reversed");
    expect_ok(ncmpi_put_varm_int_all(ncid, 0, start, count, NULL, same, rows), "imap 0: all rows from one");
    expect_values(ncid, rows, "equal rows");
}

static void test_imap(void)
{
    int ncid = create(0), dims[2], id, values[N];

    for (int i = 0; i < N; i++)
        values[i] = 100 + i;
    ncmpi_def_dim(ncid, "y", NY, &dims[0]);
    ncmpi_def_dim(ncid, "x", NX, &dims[1]);
    ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &id);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(ncmpi_put_var_int_all(ncid, 0, values), "put");
    test_huge_imap(ncid, values);
    test_imap_of_type(ncid, values);
    test_negative_imap(ncid, values);
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- varn --- */

/* `n` times all 2^42 elements of a variable: 2^21 times are 2^63, and 2^22 times 2^64, which is 0 in 64 bits. The file
 * is sparse. */
static void test_varn(int n)
{
    MPI_Offset start = 0, count = (MPI_Offset)1 << 42, **starts, **counts;
    int ncid = create(NC_64BIT_DATA), dim, id;
    signed char byte = 1;
    char what[100];

    starts = malloc((size_t)n * sizeof *starts);
    counts = malloc((size_t)n * sizeof *counts);
    for (int i = 0; i < n; i++) {
        starts[i] = &start;
        counts[i] = &count;
    }
    snprintf(what, sizeof what, "%d hyperslabs of 2^42 elements", n);
    ncmpi_def_dim(ncid, "x", count, &dim);
    ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &id);
    if (ncmpi_enddef(ncid) != NC_NOERR) {
        t_skip("the file system has no files of 4 TiB");
    } else {
        expect_code(ncmpi_put_varn_schar_all(ncid, id, n, starts, counts, &byte), NC_EINVAL, what);
        expect_code(ncmpi_get_varn_schar_all(ncid, id, n, starts, counts, &byte), NC_EINVAL, what);
        expect_code(ncmpi_put_varn_all(ncid, id, n, starts, counts, &byte, 0, MPI_SIGNED_CHAR), NC_EINVAL, what);
        expect_code(ncmpi_put_varn_all(ncid, id, n, starts, counts, &byte, -1, MPI_SIGNED_CHAR), NC_EINVAL, what);
        expect_code(ncmpi_iput_varn_schar(ncid, id, n, starts, counts, &byte, NULL), NC_EINVAL, what);
        expect_code(ncmpi_iget_varn_schar(ncid, id, n, starts, counts, &byte, NULL), NC_EINVAL, what);
    }
    expect_ok(ncmpi_abort(ncid), "abort");
    free(starts), free(counts);
}

/* --- names --- */

static void test_names(void)
{
    char name[NC_MAX_NAME + 2], got[NC_MAX_NAME + 1] = "";
    int ncid = create(0), dim, id;

    memset(name, 'n', sizeof name);
    name[NC_MAX_NAME + 1] = '\0';
    expect_code(ncmpi_def_dim(ncid, name, 3, &dim), NC_EMAXNAME, "a dimension of 257 bytes");
    expect_code(ncmpi_put_att_text(ncid, NC_GLOBAL, name, 1, "a"), NC_EMAXNAME, "an attribute");
    name[NC_MAX_NAME] = '\0';
    expect_ok(ncmpi_def_dim(ncid, name, 3, &dim), "a dimension of 256 bytes");
    expect_ok(ncmpi_def_var(ncid, name, NC_INT, 1, &dim, &id), "a variable");
    expect_ok(ncmpi_put_att_text(ncid, id, name, 1, "a"), "an attribute");
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    t_check(ncmpi_inq_dimname(ncid, 0, got) == NC_NOERR && strcmp(got, name) == 0, "the dimension");
    t_check(ncmpi_inq_varname(ncid, 0, got) == NC_NOERR && strcmp(got, name) == 0, "the variable");
    t_check(ncmpi_inq_attname(ncid, 0, 0, got) == NC_NOERR && strcmp(got, name) == 0, "the attribute");
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- sizes --- */

/* Bytes of the file, big endian. */
static uint64_t read_number(MPI_Offset at, int n)
{
    unsigned char bytes[8] = {0};
    uint64_t number = 0;
    int fd = open(path, O_RDONLY);

    t_local(fd >= 0 && pread(fd, bytes, (size_t)n, (off_t)at) == n, "read byte %lld", (long long)at);
    close(fd);
    for (int i = 0; i < n; i++)
        number = number << 8 | bytes[i];
    return number;
}

/* A variable of rows * width bytes, and one of 4 bytes after it. */
static int define_two(int cmode, MPI_Offset rows, MPI_Offset width)
{
    int ncid = create(cmode), dims[3], id;

    ncmpi_def_dim(ncid, "row", rows, &dims[0]);
    ncmpi_def_dim(ncid, "width", width, &dims[1]);
    ncmpi_def_dim(ncid, "four", 4, &dims[2]);
    t_local(ncmpi_def_var(ncid, "a", NC_BYTE, 2, dims, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "b", NC_BYTE, 1, &dims[2], &id) == NC_NOERR, "def_var");
    return ncid;
}

/* The variable after the large one is where it must be, and so are its bytes; the files are sparse. */
static MPI_Offset expect_second(int ncid, MPI_Offset size, const char *what)
{
    MPI_Offset first = -1, second = -1;

    expect_ok(ncmpi_enddef(ncid), what);
    ncmpi_inq_varoffset(ncid, 0, &first);
    ncmpi_inq_varoffset(ncid, 1, &second);
    t_check(second == first + size, "the variables begin at %lld and %lld", (long long)first, (long long)second);
    expect_ok(ncmpi_put_var_schar_all(ncid, 1, (signed char[]){1, 2, 3, 4}), "put");
    expect_ok(ncmpi_close(ncid), "close");
    t_check(read_number(second, 4) == 0x01020304, "its bytes are there");
    return second;
}

static void test_offsets_of_cdf1(void)
{
    const MPI_Offset last = INT32_MAX - 3; /* the largest offset that is a multiple of 4 */
    MPI_Offset first = 0;
    int ncid = define_two(0, 1, 4);

    expect_ok(ncmpi_enddef(ncid), "enddef");
    ncmpi_inq_varoffset(ncid, 0, &first);
    expect_ok(ncmpi_close(ncid), "close");
    t_check(expect_second(define_two(0, 1, last - first), last - first, "CDF-1: two variables") == last,
            "the second one begins at 2^31 - 4");
    ncid = define_two(0, 1, last - first + 1);
    expect_code(ncmpi_enddef(ncid), NC_EVARSIZE, "CDF-1: one that would begin at 2^31");
    expect_ok(ncmpi_abort(ncid), "abort");
}

static void test_sizes_of_cdf2(void)
{
    const MPI_Offset most = ((MPI_Offset)1 << 32) - 4;
    MPI_Offset first = 0, header = 0;
    int ncid, dims[2], id;

    expect_second(define_two(NC_64BIT_OFFSET, 4, most / 4), most, "CDF-2: 2^32 - 4 bytes before another variable");
    ncid = define_two(NC_64BIT_OFFSET, 4, most / 4 + 1);
    expect_code(ncmpi_enddef(ncid), NC_EVARSIZE, "CDF-2: 2^32 bytes before another variable");
    expect_ok(ncmpi_abort(ncid), "abort");
    ncid = create(NC_64BIT_OFFSET);
    ncmpi_def_dim(ncid, "row", 4, &dims[0]);
    ncmpi_def_dim(ncid, "width", most / 4 + 1, &dims[1]);
    ncmpi_def_var(ncid, "last", NC_BYTE, 2, dims, &id);
    expect_ok(ncmpi_enddef(ncid), "CDF-2: 2^32 bytes in the last variable");
    ncmpi_inq_header_size(ncid, &header);
    expect_ok(ncmpi_put_var1_schar_all(ncid, id, (MPI_Offset[]){3, most / 4}, &(signed char){7}), "put its last byte");
    ncmpi_inq_varoffset(ncid, id, &first);
    expect_ok(ncmpi_close(ncid), "close");
    t_check(read_number(header - 12, 4) == UINT32_MAX, "vsize is 2^32 - 1: it does not fit");
    t_check(read_number(first + most + 3, 1) == 7, "the byte is there");
}

/* Record 2^31 - 2 is the last one whose number fits. */
static void test_last_record(int cmode)
{
    MPI_Offset start = INT32_MAX - 1, count = 1, records = 0;
    int ncid = create(cmode), dim, id;
    signed char value = 5, got = 0;

    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dim);
    ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &id);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(ncmpi_put_vara_schar_all(ncid, id, &start, &count, &value), "put record 2^31 - 2");
    start++;
    expect_code(ncmpi_put_vara_schar_all(ncid, id, &start, &count, &value), NC_EINVALCOORDS, "put record 2^31 - 1");
    ncmpi_inq_dimlen(ncid, dim, &records);
    t_check(records == INT32_MAX, "%lld records", (long long)records);
    expect_ok(ncmpi_close(ncid), "close");
    t_check(read_number(4, 4) == INT32_MAX, "in the file, too");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    start--;
    expect_ok(ncmpi_get_vara_schar_all(ncid, id, &start, &count, &got), "get it");
    t_check(got == value, "its value is %d", got);
    expect_ok(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("extremes.nc"));
    test_imap();
    test_varn(1 << 21);
    test_varn(1 << 22);
    test_names();
    test_offsets_of_cdf1();
    test_sizes_of_cdf2();
    test_last_record(0);
    test_last_record(NC_64BIT_OFFSET);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
