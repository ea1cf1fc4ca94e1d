/* Collective puts that a later call writes (nc_defer_puts=enable). What the file has is read by the system, not by the
 * library; how often the library writes is counted by its statistics. The system's writes are replaced here, so that
 * they can fail. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FILE_OFFSET_BITS /* on 32-bit processors it makes one name of pwrite and pwrite64 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rows.h"

static int failing; /* errno of each write of data; 0: none fails */

/* clang-format off */
#define WRITE(name, position)                                            \
    ssize_t name(int fd, const void *bytes, size_t n, position offset)   \
    {                                                                    \
        static ssize_t (*real)(int, const void *, size_t, position);     \
                                                                         \
        if (real == NULL)                                                \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                   \
        if (failing == 0)                                                \
            return real(fd, bytes, n, offset);                           \
        errno = failing;                                                 \
        return -1;                                                       \
    }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)
static MPI_Info hints(const char *memory)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_defer_puts", "enable");
    MPI_Info_set(info, "nc_stats", "keep");
    if (memory != NULL)
        MPI_Info_set(info, "nc_defer_puts_memory", memory);
    return info;
}

/* v(time, rank, x), w likewise, and f(ROWS, rank, x) */
static int create_file(const char *path, int cmode, MPI_Info info)
{
    int ncid = -1, fixed[3];

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, info, &ncid), "create");
    define_rows(ncid, fixed);
    ncmpi_put_att_text(ncid, NC_GLOBAL, "note", 4, "long");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    MPI_Info_free(&info);
    return ncid;
}

static void check_file(const char *path, int records, const char *what)
{
    int found = count_records(path);

    MPI_Barrier(MPI_COMM_WORLD);
    t_check(t_rank != 0 || found == records, "%s: the file counts %d records", what, found);
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Offset get_length(int ncid)
{
    MPI_Offset n = -1;

    ncmpi_inq_dimlen(ncid, 0, &n);
    return n;
}

static void close_and_check(int ncid, const char *path, int rows, int version, const char *what)
{
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    t_check(get_length(ncid) == rows, "%lld records", (long long)get_length(ncid));
    check_rows(ncid, 0, 0, rows, version, what);
    check_rows(ncid, 1, 0, rows, version, what);
    expect_ok(ncmpi_close(ncid), "close");
}

/* Puts of a step are written together; the file counts no record before, and the program sees them at once. */
static void test_steps(int cmode)
{
    const char *path = t_path("deferred.nc");
    int ncid = create_file(path, cmode, hints(NULL));

    failing = EIO; /* no put writes */
    expect_ok(put_rows(ncid, 0, 0, ROWS / 2, 1), "puts of records");
    expect_ok(put_rows(ncid, 1, 0, ROWS / 2, 1), "puts");
    failing = 0;
    t_check(get_length(ncid) == ROWS / 2, "the program sees %lld records", (long long)get_length(ncid));
    if (t_classic())
        check_file(path, 0, "before they are written");
    expect_ok(ncmpi_sync(ncid), "sync");
    if (t_classic())
        check_file(path, ROWS / 2, "after sync");
    t_check(statistic(ncid, "deferred_puts") == ROWS && statistic(ncid, "deferred_writes") == 1 &&
                statistic(ncid, "deferred_bytes") == ROWS * NX * 4,
            "%lld puts in %lld writes", (long long)statistic(ncid, "deferred_puts"),
            (long long)statistic(ncid, "deferred_writes"));
    expect_ok(put_rows(ncid, 0, ROWS / 2, ROWS, 1), "puts of records");
    expect_ok(put_rows(ncid, 1, ROWS / 2, ROWS, 1), "puts");
    close_and_check(ncid, path, ROWS, 1, "after close");
}

/* With delayed writes a new record writes the ones before, so that the time of these writes can be hidden. */
static void test_delayed_steps(void)
{
    const char *path = t_path("deferred.nc");
    MPI_Info info = hints(NULL);
    int ncid;

    MPI_Info_set(info, "nc_write_behind", "enable");
    ncid = create_file(path, 0, info);
    for (int row = 0; row < ROWS; row++) {
        expect_ok(put_rows(ncid, 0, row, row + 1, 1), "a put of a record");
        expect_ok(put_rows(ncid, 1, row, row + 1, 1), "a put");
    }
    t_check(statistic(ncid, "deferred_puts") == 2 * ROWS && statistic(ncid, "deferred_writes") == ROWS - 1,
            "%lld writes of %d steps", (long long)statistic(ncid, "deferred_writes"), ROWS);
    close_and_check(ncid, path, ROWS, 1, "after close");
}

/* The last put of any rank remains, and gets see it. */
static void test_overlap(void)
{
    const char *path = t_path("deferred.nc");
    int ncid = create_file(path, 0, hints(NULL));

    for (int version = 1; version <= 4; version++)
        for (int varid = 0; varid < 2; varid++)
            for (int row = 0; row < 3; row++)
                expect_ok(transfer(ncid, varid, true, row, (t_rank + version) % t_nprocs, version), "puts in turns");
    check_rows(ncid, 0, 0, 3, 4, "gets of the last version");
    check_rows(ncid, 1, 0, 3, 4, "likewise");
    expect_ok(put_rows(ncid, 1, 3, 4, 4), "a put");
    check_rows(ncid, 1, 0, 2, 4, "gets that do not overlap it");
    t_check(statistic(ncid, "deferred_puts") - statistic(ncid, "deferred_writes") >= 1, "leave it");
    expect_ok(put_rows(ncid, 0, 3, 4, 4), "a put");
    close_and_check(ncid, path, 4, 4, "after close");
}

/* What the caller passes may change after the call: values, lists, buffers of other types. */
static void test_forms(int cmode)
{
    const char *path = t_path("deferred.nc");
    int ncid = create_file(path, cmode, hints(NULL)), wrong = 0, got[ROWS * NX];
    double wide[ROWS * NX * 2];
    MPI_Offset start[3] = {0, t_rank, 0}, count[3] = {3, 1, NX}, stride[3] = {2, 1, 1}, imap[3] = {2 * NX, 2 * NX, 2};
    MPI_Offset lists[2][2][3] = {{{1, t_rank, 0}, {3, t_rank, 0}}, {{1, 1, NX}, {1, 1, NX}}};
    MPI_Offset *starts[2] = {lists[0][0], lists[0][1]}, *counts[2] = {lists[1][0], lists[1][1]};
    MPI_Datatype every;

    for (int i = 0; i < ROWS * NX * 2; i++)
        wide[i] = i;
    expect_ok(ncmpi_put_varm_double_all(ncid, 1, start, count, stride, imap, wide), "varm");
    memset(start, -1, sizeof start);
    memset(stride, -1, sizeof stride);
    expect_ok(ncmpi_put_varn_double_all(ncid, 1, 2, starts, counts, wide + NX), "varn");
    memset(lists, -1, sizeof lists);
    MPI_Type_vector(NX, 1, 2, MPI_DOUBLE, &every);
    MPI_Type_commit(&every);
    start[0] = 5, start[1] = t_rank, start[2] = 0, count[0] = 1;
    expect_ok(ncmpi_put_vara_all(ncid, 1, start, count, wide + 7, 1, every), "a flexible put");
    MPI_Type_free(&every);
    for (int i = 0; i < ROWS * NX * 2; i++)
        wide[i] = -1;
    start[0] = 0, count[0] = 6;
    expect_ok(ncmpi_get_vara_int_all(ncid, 1, start, count, got), "get");
    for (int i = 0; i < NX; i++) {
        const int wanted[6] = {2 * i, NX + i, 2 * NX + 2 * i, 2 * NX + i, 4 * NX + 2 * i, 7 + 2 * i};

        for (int row = 0; row < 6; row++)
            wrong += got[row * NX + i] != wanted[row];
    }
    t_check(wrong == 0, "%d wrong values of other forms", wrong);
    expect_ok(ncmpi_close(ncid), "close");
}

/* Values out of range, and wrong arguments, are those of the call itself, also if only one rank has them. */
static void test_arguments(void)
{
    const char *path = t_path("deferred.nc");
    int ncid = create_file(path, 0, hints(NULL)), err;
    MPI_Offset start[3] = {0, t_rank, 0}, count[3] = {1, 1, NX}, beyond[3] = {ROWS, t_rank, 0};
    double values[NX] = {0};

    values[3] = t_rank == t_nprocs - 1 ? 1e30 : 3;
    err = ncmpi_put_vara_double_all(ncid, 0, start, count, values);
    t_check(err == (t_rank == t_nprocs - 1 ? NC_ERANGE : NC_NOERR), "a value out of range: %s", ncmpi_strerrno(err));
    err = ncmpi_put_vara_double_all(ncid, 1, t_rank == 0 ? beyond : start, count, values);
    t_check(t_rank != 0 || err == NC_EINVALCOORDS, "an index out of bounds: %s", ncmpi_strerrno(err));
    expect_ok(ncmpi_sync(ncid), "what was right is written, and reported no more");
    values[0] = 5;
    expect_ok(ncmpi_get_vara_double_all(ncid, 0, start, count, values), "get");
    t_check(values[0] == 0 && values[4] == 0 && (t_rank == t_nprocs - 1 || values[3] == 3), "the values");
    expect_ok(ncmpi_close(ncid), "close");
}

/* The call that writes them reports a failure, with a variable; no later one does, and no record is counted. */
static void test_failure(void)
{
    const char *path = t_path("deferred.nc");
    int ncid = create_file(path, 0, hints(NULL));
    char message[NC_MAX_MESSAGE] = "";

    expect_ok(put_rows(ncid, 0, 0, 2, 1), "puts");
    expect_ok(put_rows(ncid, 1, 0, ROWS, 1), "puts");
    expect_ok(ncmpi_sync(ncid), "sync");
    expect_ok(put_rows(ncid, 0, 2, 4, 1), "puts that cannot be written");
    failing = ENOSPC;
    expect_code(ncmpi_sync(ncid), NC_ENO_SPACE, "sync");
    failing = 0;
    ncmpi_inq_last_error(ncid, NULL, message);
    t_check(!t_classic() || (strstr(message, "nc_defer_puts") != NULL && strstr(message, "\"v\"") != NULL &&
                             strstr(message, "deferred.nc") != NULL),
            "with hint, variable and file: %s", message);
    t_check(!t_classic() || get_length(ncid) == 2, "%lld records", (long long)get_length(ncid));
    expect_ok(ncmpi_sync(ncid), "the next sync");
    if (t_classic())
        check_file(path, 2, "after a failure");
    expect_ok(put_rows(ncid, 0, 2, 3, 1), "a put");
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    check_rows(ncid, 0, 0, 3, 1, "the records before and after");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Memory of which a step needs several times, and puts that are larger than all of it, on one rank. */
static void test_memory(void)
{
    const char *path = t_path("deferred.nc");
    int ncid = create_file(path, 0, hints("65536")), dims[2], varid, wrong = 0;
    enum { LARGE = 40000 };
    int *values = malloc(LARGE * sizeof *values);
    MPI_Offset start[2] = {t_rank, 0}, count[2] = {1, t_rank == 0 ? LARGE : 10};

    expect_ok(ncmpi_redef(ncid), "redef");
    ncmpi_def_dim(ncid, "large", LARGE, &dims[1]);
    dims[0] = 1;
    expect_ok(ncmpi_def_var(ncid, "l", NC_INT, 2, dims, &varid), "def_var");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    for (int step = 0; step < ROWS; step++)
        for (int k = 0; k < 20; k++)
            expect_ok(put_rows(ncid, k % 2, step, step + 1, 1), "puts");
    for (int i = 0; i < LARGE; i++)
        values[i] = i + t_rank;
    expect_ok(ncmpi_put_vara_int_all(ncid, varid, start, count, values), "a put that is larger on one rank");
    memset(values, 0, LARGE * sizeof *values);
    expect_ok(ncmpi_get_vara_int_all(ncid, varid, start, count, values), "get");
    for (int i = 0; i < count[1]; i++)
        wrong += values[i] != i + t_rank;
    t_check(wrong == 0, "%d wrong values", wrong);
    close_and_check(ncid, path, ROWS, 1, "after close");
    free(values);
}

/* All that needs them in the file writes them. */
static void test_other_calls(int cmode)
{
    const char *path = t_path("deferred.nc");
    int ncid = create_file(path, cmode, hints(NULL)), request, values[NX];
    MPI_Offset start[3] = {0, t_rank, 0}, count[3] = {1, 1, NX};

    expect_ok(put_rows(ncid, 1, 0, 1, 1), "a put");
    for (int i = 0; i < NX; i++)
        values[i] = value_of(0, t_rank, i, 2);
    expect_ok(ncmpi_iput_vara_int(ncid, 1, start, count, values, &request), "iput");
    expect_ok(ncmpi_wait_all(ncid, 1, &request, NULL), "wait_all");
    check_rows(ncid, 1, 0, 1, 2, "the later one remains");
    expect_ok(put_rows(ncid, 1, 0, 1, 3), "a put");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    expect_ok(ncmpi_get_vara_int(ncid, 1, start, count, values), "an independent get");
    t_check(values[5] == value_of(0, t_rank, 5, 3), "sees it: %d", values[5]);
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
    expect_ok(put_rows(ncid, 0, 0, ROWS / 2, 1), "puts");
    expect_ok(ncmpi_rename_var(ncid, 0, "w"), "rename_var");
    if (t_classic())
        check_file(path, ROWS / 2, "a header that is written");
    expect_ok(put_rows(ncid, 0, ROWS / 2, ROWS, 1), "puts");
    expect_ok(ncmpi_put_att_text(ncid, NC_GLOBAL, "note", 4, "same"), "put_att");
    expect_ok(put_rows(ncid, 1, 0, ROWS / 2, 1), "puts");
    expect_ok(ncmpi_redef(ncid), "redef");
    expect_ok(ncmpi_put_att_text(ncid, NC_GLOBAL, "new", 4, "text"), "put_att");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(put_rows(ncid, 1, ROWS / 2, ROWS, 1), "puts");
    close_and_check(ncid, path, ROWS, 1, "after close");
}

static void test_hint(void)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    const char *path = t_path("deferred.nc");
    int ncid, found = 0;
    MPI_Info used, info = hints(NULL);

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_SHARE, info, &ncid), "create");
    ncmpi_inq_file_info(ncid, &used);
    MPI_Info_get(used, "nc_defer_puts", MPI_MAX_INFO_VAL, value, &found);
    t_check(found && strcmp(value, "disable") == 0, "with NC_SHARE: %s", value);
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    expect_ok(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    test_steps(0);
    test_steps(NC_64BIT_DATA);
    test_delayed_steps();
    test_overlap();
    test_forms(0);
    test_forms(NC_64BIT_OFFSET);
    test_arguments();
    test_failure();
    test_memory();
    test_other_calls(0);
    test_other_calls(NC_64BIT_DATA);
    test_hint();
    if (t_rank == 0)
        unlink(t_path("deferred.nc"));
    return t_finish();
}
