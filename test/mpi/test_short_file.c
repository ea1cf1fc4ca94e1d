/* Files that are shorter than their headers describe: data beyond the end read as zeros, by every kind of read, in both
 * drivers. A file that is truncated while it is open is an error on every rank, after which the user's memory contains
 * only values of the file or its previous contents. Expected values are decoded here from the bytes of the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/driver.h"
#include "../expect.h"

enum { NX = 3000, NY = 7, RECORDS = 40 };
enum { WIDE, SERIES, BYTES }; /* variables */

static char path[4096];
static char *image;     /* of the whole file; from `end` on zeros */
static long whole, end; /* bytes */
static MPI_Offset begin[3], recsize;

/* --- files --- */

static void make_file(void)
{
    int ncid, dims[3], id;
    double *wide = malloc(NX * sizeof *wide);
    int series[RECORDS * NY];
    signed char bytes[RECORDS * NY];

    for (int i = 0; i < NX; i++)
        wide[i] = 1 + i * 1.5;
    for (int i = 0; i < RECORDS * NY; i++) {
        series[i] = 100000 + i;
        bytes[i] = (signed char)(1 + i % 100);
    }
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "y", NY, &dims[1]);
    ncmpi_def_dim(ncid, "x", NX, &dims[2]);
    ncmpi_def_var(ncid, "wide", NC_DOUBLE, 1, &dims[2], &id);
    ncmpi_def_var(ncid, "series", NC_INT, 2, dims, &id);
    ncmpi_def_var(ncid, "bytes", NC_BYTE, 2, dims, &id);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    MPI_Offset start[2] = {0, 0}, count[2] = {RECORDS, NY};
    t_local(ncmpi_put_var_double_all(ncid, WIDE, wide) == NC_NOERR, "put wide");
    t_local(ncmpi_put_vara_int_all(ncid, SERIES, start, count, series) == NC_NOERR, "put series");
    t_local(ncmpi_put_vara_schar_all(ncid, BYTES, start, count, bytes) == NC_NOERR, "put bytes");
    for (int i = 0; i < 3; i++)
        ncmpi_inq_varoffset(ncid, i, &begin[i]);
    ncmpi_inq_recsize(ncid, &recsize);
    t_check(ncmpi_close(ncid) == NC_NOERR, "close the file");
    free(wide);
}

static void read_image(void)
{
    FILE *file = fopen(path, "rb");

    fseek(file, 0, SEEK_END);
    whole = ftell(file);
    rewind(file);
    image = malloc((size_t)whole);
    t_check(fread(image, 1, (size_t)whole, file) == (size_t)whole, "read the bytes of the file");
    fclose(file);
}

static void cut_file(long bytes)
{
    MPI_Barrier(MPI_COMM_WORLD);
    end = bytes;
    if (t_rank == 0)
        t_local(truncate(path, bytes) == 0, "truncate");
    memset(image + bytes, 0, (size_t)(whole - bytes));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- what the bytes mean --- */

static int size_of(int varid)
{
    if (varid == WIDE)
        return 8;
    return varid == SERIES ? 4 : 1;
}

static long place_of(int varid, int i)
{
    return (long)(varid == WIDE ? begin[WIDE] + 8 * i : begin[varid] + i / NY * recsize + i % NY * size_of(varid));
}

/* Element number i of a variable: big-endian bytes. */
static double value_of(int varid, int i)
{
    const unsigned char *at = (const unsigned char *)image + place_of(varid, i);
    unsigned long long bits = 0;
    double value;

    for (int k = 0; k < size_of(varid); k++)
        bits = bits << 8 | at[k];
    if (varid == SERIES)
        return (int)bits;
    if (varid == BYTES)
        return (signed char)bits;
    memcpy(&value, &bits, 8);
    return value;
}

static int length_of(int varid)
{
    return varid == WIDE ? NX : RECORDS * NY;
}

/* --- reads --- */

static double *got; /* of the largest variable, twice */
#define UNTOUCHED (-77)

static void clear(void)
{
    for (int i = 0; i < 2 * NX; i++)
        got[i] = UNTOUCHED;
}

static int count_wrong(int varid, int first, int n, int step, int apart)
{
    int wrong = 0;

    for (int i = 0; i < n; i++)
        wrong += got[i * apart] != value_of(varid, first + i * step);
    return wrong;
}

static void judge(int err, int wrong, int varid, const char *what)
{
    t_check(t_local(err == NC_NOERR && wrong == 0, "%s, %d values wrong", ncmpi_strerrno(err), wrong),
            "cut after %ld of %ld bytes, variable %d: %s", end, whole, varid, what);
}

/* This rank's part of a variable: elements of a fixed-size one, records of the others. */
static void take_share(int varid, MPI_Offset *start, MPI_Offset *count)
{
    int all = varid == WIDE ? NX : RECORDS;

    start[0] = (MPI_Offset)all * t_rank / t_nprocs;
    count[0] = (MPI_Offset)all * (t_rank + 1) / t_nprocs - start[0];
    start[1] = 0;
    count[1] = NY;
}

static void read_native(int ncid)
{
    int series[RECORDS * NY];
    signed char bytes[RECORDS * NY];

    clear();
    int err = ncmpi_get_var_double_all(ncid, WIDE, got);
    judge(err, count_wrong(WIDE, 0, NX, 1, 1), WIDE, "the whole variable");
    err = ncmpi_get_var_int_all(ncid, SERIES, series);
    for (int i = 0; i < RECORDS * NY; i++)
        got[i] = series[i];
    judge(err, count_wrong(SERIES, 0, RECORDS * NY, 1, 1), SERIES, "the whole variable");
    err = ncmpi_get_var_schar_all(ncid, BYTES, bytes);
    for (int i = 0; i < RECORDS * NY; i++)
        got[i] = bytes[i];
    judge(err, count_wrong(BYTES, 0, RECORDS * NY, 1, 1), BYTES, "the whole variable");
}

/* Converted on the way: another type in memory, memory with gaps, every other element, blocks, nonblocking. */
static void read_converted(int ncid, int varid)
{
    MPI_Offset start[2] = {0, 0}, count[2], stride[2] = {2, 1}, imap[2] = {2 * NY, 2};
    int n = varid == WIDE ? 1 : NY, first, err;

    if (varid == WIDE)
        imap[0] = 2;
    clear();
    err = ncmpi_get_var_double_all(ncid, varid, got);
    judge(err, count_wrong(varid, 0, length_of(varid), 1, 1), varid, "as doubles");
    take_share(varid, start, count);
    first = (int)start[0] * n;
    clear();
    err = ncmpi_get_varm_double_all(ncid, varid, start, count, NULL, imap, got);
    judge(err, count_wrong(varid, first, (int)count[0] * n, 1, 2), varid, "a part into memory with gaps");
    start[0] = varid == WIDE ? t_rank % 2 : 0;
    count[0] = (varid == WIDE ? NX : RECORDS) / 2;
    start[1] = count[1] = 1;
    clear();
    err = ncmpi_get_vars_double_all(ncid, varid, start, count, stride, got);
    judge(err,
          varid == WIDE ? count_wrong(varid, (int)start[0], (int)count[0], 2, 1)
                        : count_wrong(varid, 1, (int)count[0], 2 * NY, 1),
          varid, "every other element");
}

static void read_blocks(int ncid, int varid)
{
    enum { BLOCKS = 20 };
    MPI_Offset at[BLOCKS][2], *starts[BLOCKS];
    int wrong = 0, err;

    for (int i = 0; i < BLOCKS; i++) {
        int element = i * (length_of(varid) / BLOCKS) + t_rank;

        starts[i] = at[i];
        at[i][0] = varid == WIDE ? element : element / NY;
        at[i][1] = element % NY;
    }
    clear();
    err = ncmpi_get_varn_double_all(ncid, varid, BLOCKS, starts, NULL, got);
    for (int i = 0; i < BLOCKS; i++)
        wrong += got[i] != value_of(varid, i * (length_of(varid) / BLOCKS) + t_rank);
    judge(err, wrong, varid, "single values by varn");
    clear();
    for (int i = 0; i < BLOCKS; i++)
        t_local(ncmpi_iget_var1_double(ncid, varid, starts[i], got + i, NULL) == NC_NOERR, "iget");
    err = ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL);
    wrong = 0;
    for (int i = 0; i < BLOCKS; i++)
        wrong += got[i] != value_of(varid, i * (length_of(varid) / BLOCKS) + t_rank);
    judge(err, wrong, varid, "single values by wait_all");
}

/* Only the last rank reads, and only where there is nothing. */
static void read_alone(int ncid)
{
    MPI_Offset start = NX - 5, count = t_rank == t_nprocs - 1 ? 5 : 0;

    clear();
    int err = ncmpi_get_vara_double_all(ncid, WIDE, &start, &count, got);
    judge(err, count_wrong(WIDE, NX - 5, (int)count, 1, 1), WIDE, "one rank's part of a collective call");
    expect_ok(ncmpi_begin_indep_data(ncid), "independent mode");
    clear();
    err = count > 0 ? ncmpi_get_vara_double(ncid, WIDE, &start, &count, got) : NC_NOERR;
    judge(err, count_wrong(WIDE, NX - 5, (int)count, 1, 1), WIDE, "an independent call");
    expect_ok(ncmpi_end_indep_data(ncid), "collective mode");
}

static void read_all(int ncid)
{
    read_native(ncid);
    for (int varid = WIDE; varid <= BYTES; varid++) {
        read_converted(ncid, varid);
        read_blocks(ncid, varid);
    }
    read_alone(ncid);
}

/* --- tests --- */

static long cut_in(int varid, int i, int bytes)
{
    return place_of(varid, i) + bytes;
}

static void test_short(void)
{
    const long cuts[] = {whole - 1,
                         cut_in(BYTES, 25 * NY, 3),
                         cut_in(SERIES, 12 * NY, 6),
                         cut_in(SERIES, 0, 0),
                         cut_in(WIDE, NX / 2, 3),
                         cut_in(WIDE, 100, 0)};

    for (int i = 0; i < 6; i++) {
        int ncid;

        cut_file(cuts[i]);
        expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open a short file");
        read_all(ncid);
        expect_ok(ncmpi_close(ncid), "close");
    }
}

static bool has_words(int ncid, const char *words, long number)
{
    char message[NC_MAX_MESSAGE] = "", digits[32];
    int code = 1;

    snprintf(digits, sizeof digits, "%ld", number);
    ncmpi_inq_last_error(ncid, &code, message);
    return t_local(code == NC_NOERR && strstr(message, words) != NULL && strstr(message, digits) != NULL &&
                       strstr(message, path) != NULL,
                   "%d \"%s\"", code, message);
}

/* What rank 0 prints while the file is opened. */
static int open_verbosely(MPI_Info info, char *text, size_t room)
{
    int kept = dup(2), ncid = -1;
    const char *log = t_path("short_file.log");
    FILE *file;

    memset(text, 0, room);
    setenv("PNETCDF_VERBOSE", "1", 1);
    if (t_rank == 0 && freopen(log, "w", stderr) == NULL)
        return -1;
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid), "open");
    fflush(stderr);
    if (t_rank == 0)
        dup2(kept, 2);
    close(kept);
    unsetenv("PNETCDF_VERBOSE");
    file = t_rank == 0 ? fopen(log, "r") : NULL;
    if (file != NULL) {
        text[fread(text, 1, room - 1, file)] = '\0';
        fclose(file);
        unlink(log);
    }
    return ncid;
}

static void test_sentence(void)
{
    char text[4096];
    int ncid = open_verbosely(MPI_INFO_NULL, text, sizeof text), length;

    t_check(has_words(ncid, "zeros", end) && has_words(ncid, "ncmpi_open", cut_in(BYTES, RECORDS * NY - 1, 1)),
            "the sentence after open");
    t_check(t_rank != 0 || (strstr(text, "PnetCDF: ncmpi_open") != NULL && strstr(text, "zeros") != NULL),
            "and with PNETCDF_VERBOSE: %s", text);
    expect_code(ncmpi_inq_dimlen(ncid, 99, NULL), NC_EBADDIM, "a call that fails");
    t_check(ncmpi_inq_last_error(ncid, &length, NULL) == NC_NOERR && length == NC_EBADDIM, "and takes its place");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_refused(void)
{
    char text[4096], value[16] = "";
    MPI_Info info, used;
    int ncid, flag = 0;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_short_file", "error");
    ncid = open_verbosely(info, text, sizeof text);
    MPI_Info_free(&info);
    t_check(has_words(ncid, "NC_EREAD", end), "nc_short_file=error: the sentence after open");
    expect_ok(ncmpi_inq_file_info(ncid, &used), "inq_file_info");
    MPI_Info_get(used, "nc_short_file", 15, value, &flag);
    MPI_Info_free(&used);
    t_check(flag && strcmp(value, "error") == 0, "nc_short_file=%s is in use", value);
    clear();
    expect_code(ncmpi_get_var_double_all(ncid, WIDE, got), NC_EREAD, "nc_short_file=error: a read beyond the end");
    MPI_Offset start = 0, count = 10;
    int err = ncmpi_get_vara_double_all(ncid, WIDE, &start, &count, got);
    judge(err, count_wrong(WIDE, 0, 10, 1, 1), WIDE, "before the end there is no error");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Each value is right, or as it was before; of one that was cut in the middle a 0 may be left. */
static void judge_failed(int err, int varid, int n, const char *what)
{
    int wrong = 0, kept = 0;

    for (int i = 0; i < n; i++) {
        bool torn = place_of(varid, i) < end && place_of(varid, i) + size_of(varid) > end;
        bool there = place_of(varid, i) + size_of(varid) <= end;

        wrong += got[i] != UNTOUCHED && !(there && got[i] == value_of(varid, i)) && !(torn && got[i] == 0);
        kept += got[i] == UNTOUCHED;
    }
    t_check(t_local(err == NC_EREAD && wrong == 0 && kept > 0, "%s, %d values wrong, %d kept", ncmpi_strerrno(err),
                    wrong, kept),
            "truncated while open, variable %d: %s", varid, what);
}

/* The file is whole when it is opened. */
static void test_truncated(void)
{
    MPI_Offset stride[1] = {2}, start[2] = {t_rank % 2, 0}, count[2] = {NX / 2, NY};
    int ncid, *as_int = malloc(NX * sizeof *as_int), err;

    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    cut_file(cut_in(WIDE, NX / 2, 7)); /* UNTOUCHED has other bytes than 0 among these 7 */
    clear();
    expect_ok(ncmpi_begin_indep_data(ncid), "independent mode"); /* without aggregators */
    err = ncmpi_get_var_double(ncid, WIDE, got);
    judge_failed(err, WIDE, NX, "read and swapped in the user's memory");
    t_check(t_local(got[NX / 2 - 1] == value_of(WIDE, NX / 2 - 1), "%g", got[NX / 2 - 1]),
            "up to the last value that is left");
    expect_ok(ncmpi_end_indep_data(ncid), "collective mode");
    clear();
    err = ncmpi_get_var_double_all(ncid, WIDE, got);
    judge_failed(err, WIDE, NX, "read by all ranks");
    for (int i = 0; i < NX; i++)
        as_int[i] = UNTOUCHED;
    err = ncmpi_get_var_int_all(ncid, WIDE, as_int);
    for (int i = 0; i < NX; i++) {
        got[i] = as_int[i] == (int)value_of(WIDE, i) ? value_of(WIDE, i) : -1;
        if (as_int[i] == UNTOUCHED)
            got[i] = UNTOUCHED;
    }
    judge_failed(err, WIDE, NX, "converted through a buffer");
    clear();
    err = ncmpi_get_vars_double_all(ncid, WIDE, start, count, stride, got);
    for (int i = NX / 2 - 1; i >= 0; i--) {
        got[2 * i + start[0]] = got[i];
        got[2 * i + 1 - start[0]] = UNTOUCHED;
    }
    judge_failed(err, WIDE, NX, "every other element");
    clear();
    start[0] = NX - 5;
    count[0] = t_rank == t_nprocs - 1 ? 5 : 0;
    err = ncmpi_get_vara_double_all(ncid, WIDE, start, count, got);
    judge_failed(err, WIDE, 5, "one rank's part");
    expect_ok(ncmpi_close(ncid), "close");
    free(as_int);
}

/* A short file to which a record is added is as long as its header describes, and known to be so by all ranks. */
static void test_grown(void)
{
    MPI_Offset start[2] = {RECORDS, 0}, count[2] = {t_rank == 0, NY};
    struct stat facts;
    int ncid, sum = 0, values[NY] = {1, 2, 3, 4, 5, 6, 7};
    signed char bytes[NY];

    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open to write");
    expect_ok(ncmpi_put_vara_int_all(ncid, SERIES, start, count, values), "add a record");
    t_check(t_rank != 0 || (stat(path, &facts) == 0 && facts.st_size == whole + recsize), "the file is complete");
    count[0] = 1;
    memset(bytes, 1, sizeof bytes);
    expect_ok(ncmpi_get_vara_schar_all(ncid, BYTES, start, count, bytes), "the new record of the other variable");
    for (int i = 0; i < NY; i++)
        sum += bytes[i];
    t_check(sum == 0, "is zeros");
    MPI_Barrier(MPI_COMM_WORLD);
    t_local(t_rank != 0 || truncate(path, whole + 4) == 0, "truncate");
    MPI_Barrier(MPI_COMM_WORLD);
    expect_code(ncmpi_get_vara_schar_all(ncid, BYTES, start, count, bytes), NC_EREAD, "until it is truncated");
    expect_ok(ncmpi_close(ncid), "close");
}

/* One rank adds a record independently; the rest of the record is not in the file yet. */
static void test_independent_record(void)
{
    MPI_Offset start[2] = {RECORDS + 3, 0}, count[2] = {1, NY};
    int ncid, values[NY] = {1, 2, 3, 4, 5, 6, 7}, sum = 0, err = NC_NOERR;
    signed char bytes[NY] = {1};

    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open to write");
    expect_ok(ncmpi_begin_indep_data(ncid), "independent mode");
    if (t_rank == t_nprocs - 1) {
        err = ncmpi_put_vara_int(ncid, SERIES, start, count, values);
        if (err == NC_NOERR)
            err = ncmpi_get_vara_schar(ncid, BYTES, start, count, bytes);
        for (int i = 0; i < NY; i++)
            sum += bytes[i];
    }
    t_check(t_local(err == NC_NOERR && sum == 0, "%s, sum %d", ncmpi_strerrno(err), sum),
            "a variable of a record that one rank has begun reads as zeros");
    expect_ok(ncmpi_close(ncid), "close");
}

/* The bytes of the file in the memory of each rank. */
static void test_memory_driver(void)
{
    pnc_store *store = NULL;
    pnc_open_call call = {.comm = MPI_COMM_SELF, .path = "short", .purpose = PNC_OPEN_REPLACE, .info = MPI_INFO_NULL};
    pnc_extent extent = {0, end};
    MPI_Info info;
    int ncid;

    t_check(pnc_driver_file_open(&pnc_store_memory, call, &store, NULL) == NC_NOERR &&
                store->ops->write(store, &extent, 1, image, NULL) == NC_NOERR &&
                store->ops->close(store, NULL) == NC_NOERR,
            "a short file in memory");
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_driver", "memory");
    expect_ok(ncmpi_open(MPI_COMM_SELF, "short", NC_NOWRITE, info, &ncid), "memory driver: open");
    read_native(ncid);
    for (int varid = WIDE; varid <= BYTES; varid++) {
        read_converted(ncid, varid);
        read_blocks(ncid, varid);
    }
    expect_ok(ncmpi_close(ncid), "close");
    MPI_Info_set(info, "nc_short_file", "error");
    expect_ok(ncmpi_open(MPI_COMM_SELF, "short", NC_NOWRITE, info, &ncid), "memory driver: open");
    expect_code(ncmpi_get_var_double_all(ncid, WIDE, got), NC_EREAD, "memory driver: nc_short_file=error");
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_delete("short", info), "delete");
    MPI_Info_free(&info);
}

/* 4 GiB that were never written: no memory is needed for them. */
static void test_large(void)
{
    int ncid, dim, varid, values[5] = {1, 1, 1, 1, 1}, sum = 0;
    MPI_Offset length = (MPI_Offset)1 << 30, start = length - 5, count = 5, where;

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid), "create");
    ncmpi_def_dim(ncid, "n", length, &dim);
    ncmpi_def_var(ncid, "large", NC_INT, 1, &dim, &varid);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    ncmpi_inq_varoffset(ncid, varid, &where);
    expect_ok(ncmpi_close(ncid), "close");
    MPI_Barrier(MPI_COMM_WORLD);
    t_local(t_rank != 0 || truncate(path, where) == 0, "truncate");
    MPI_Barrier(MPI_COMM_WORLD);
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    int err = ncmpi_get_vara_int_all(ncid, varid, &start, &count, values);
    for (int i = 0; i < 5; i++)
        sum += values[i];
    t_check(t_local(err == NC_NOERR && sum == 0, "%s, sum %d", ncmpi_strerrno(err), sum), "the end of 4 GiB");
    expect_ok(ncmpi_close(ncid), "close");
}

static long long get_size(void)
{
    struct stat facts;

    MPI_Barrier(MPI_COMM_WORLD);
    return stat(path, &facts) == 0 ? (long long)facts.st_size : -1;
}

/* A new file is as long as what was written: its variable, of 2^62 bytes, is larger than file systems permit. Once the
 * ranks have agreed, each knows what the others have written, and detects a truncation. */
static void test_new(void)
{
    MPI_Offset length = (MPI_Offset)1 << 62, start = 4 * t_rank, count = 4, at;
    signed char values[8] = {1, 2, 3, 4}, all[8];
    int ncid, dim, id;

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid), "create");
    t_local(ncmpi_def_dim(ncid, "x", length, &dim) == NC_NOERR && ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &id) == 0,
            "define");
    expect_ok(ncmpi_enddef(ncid), "enddef of a variable of 2^62 bytes");
    t_check(get_size() == 128, "the file ends with its header"); /* counted by the specification of the format */
    ncmpi_inq_varoffset(ncid, id, &at);
    expect_ok(ncmpi_put_vara_schar_all(ncid, id, &start, &count, values), "each rank puts 4 values");
    t_check(get_size() == at + 4 * t_nprocs, "the file ends with the last of them");
    start = 4 * (t_nprocs - 1);
    count = 8;
    expect_ok(ncmpi_get_vara_schar_all(ncid, id, &start, &count, all), "get beyond the end");
    t_check(t_local(memcmp(all, (signed char[8]){1, 2, 3, 4}, 8) == 0, "%d %d", all[3], all[4]),
            "what was not written reads as zeros");
    start = length - 8;
    expect_ok(ncmpi_get_vara_schar_all(ncid, id, &start, &count, all), "get the last values");
    expect_ok(ncmpi_sync(ncid), "sync");
    t_local(t_rank != 0 || truncate(path, at + 2) == 0, "truncate");
    MPI_Barrier(MPI_COMM_WORLD);
    start = 0;
    expect_code(ncmpi_get_vara_schar_all(ncid, id, &start, &count, all), NC_EREAD, "get after the file was truncated");
    ncmpi_close(ncid);
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("short_file.nc"));
    got = malloc(2 * NX * sizeof *got);
    make_file();
    read_image();
    test_short();
    test_sentence();
    test_refused();
    test_memory_driver();
    test_grown();
    free(image);
    make_file();
    read_image();
    test_independent_record();
    make_file();
    test_truncated();
    test_large();
    test_new();
    if (t_rank == 0)
        unlink(path);
    free(image);
    free(got);
    return t_finish();
}
