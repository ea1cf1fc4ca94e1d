/* One rank has no memory in a call that changes a name or an attribute in data mode, at each of its allocations: all
 * ranks return an error, none blocks, and file and definitions are as before. And such a call takes no more memory in a
 * file of 10,000 variables than in one of 10. The same for collective puts and gets: all ranks return an error, or the
 * values are right. Then the memory of a redef and enddef as a multiple of the header. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../expect.h"
#include "allocations.h"
#include "base/memory.h"

enum { HANG = 60 };

static char path[4096];

/* --- the calls --- */

static char text[9000];

static int put_same(int ncid)
{
    return ncmpi_put_att_text(ncid, NC_GLOBAL, "history", sizeof text, text);
}

static int put_shorter(int ncid)
{
    return ncmpi_put_att_text(ncid, NC_GLOBAL, "history", 5000, text);
}

static int put_small(int ncid)
{
    return ncmpi_put_att_text(ncid, NC_GLOBAL, "note", 4, "wxyz");
}

static int rename_att(int ncid)
{
    return ncmpi_rename_att(ncid, NC_GLOBAL, "note", "memo");
}

static int rename_dim(int ncid)
{
    return ncmpi_rename_dim(ncid, 0, "y");
}

static int rename_var(int ncid)
{
    return ncmpi_rename_var(ncid, 0, "w");
}

static const struct {
    const char *name;
    int (*make)(int ncid);
} calls[] = {{"overwrite an attribute of several pages", put_same},
             {"shorten an attribute", put_shorter},
             {"overwrite a small attribute", put_small},
             {"rename an attribute", rename_att},
             {"rename a dimension", rename_dim},
             {"rename a variable", rename_var}};

static int create(void)
{
    int ncid, dim, id;
    char old[sizeof text];

    memset(old, 'o', sizeof old);
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, "note", 4, "abcd") == NC_NOERR, "put_att");
    t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, "history", sizeof old, old) == NC_NOERR, "put_att");
    t_local(ncmpi_def_dim(ncid, "x", 3, &dim) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    return ncid;
}

static void check_definitions(int ncid, const char *what)
{
    char note[5] = "", name[NC_MAX_NAME + 1], history[sizeof text];
    MPI_Offset length = 0;

    t_local(ncmpi_get_att_text(ncid, NC_GLOBAL, "note", note) == NC_NOERR && strcmp(note, "abcd") == 0,
            "%s: note is %s", what, note);
    t_local(ncmpi_inq_attlen(ncid, NC_GLOBAL, "history", &length) == NC_NOERR && length == sizeof history,
            "%s: history has %lld bytes", what, (long long)length);
    t_local(length == sizeof history && ncmpi_get_att_text(ncid, NC_GLOBAL, "history", history) == NC_NOERR &&
                history[0] == 'o' && history[sizeof history - 1] == 'o',
            "%s: history has other bytes", what);
    t_local(ncmpi_inq_dimname(ncid, 0, name) == NC_NOERR && strcmp(name, "x") == 0, "%s: dimension %s", what, name);
    t_local(ncmpi_inq_varname(ncid, 0, name) == NC_NOERR && strcmp(name, "v") == 0, "%s: variable %s", what, name);
}

/* Returns false when the call has fewer allocations. */
static bool try_position(int k, int rank, long position)
{
    int ncid = create(), other, err, least, most;
    bool failed;

    alarm(HANG);
    allocation_arm(rank, position);
    err = calls[k].make(ncid);
    failed = allocation_disarm(rank);
    MPI_Allreduce(&err, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&err, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    t_local(least == most && (least == NC_NOERR || least == NC_ENOMEM),
            "%s, allocation %ld: the ranks return %d and %d", calls[k].name, position, least, most);
    if (least != NC_NOERR) {
        check_definitions(ncid, calls[k].name);
        t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &other) == NC_NOERR, "open");
        check_definitions(other, "in the file");
        t_local(ncmpi_close(other) == NC_NOERR, "close");
        t_local(calls[k].make(ncid) == NC_NOERR, "%s: the second time", calls[k].name);
    }
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    alarm(0);
    return failed;
}

/* --- the number of variables --- */

static int rename_again(int ncid, int varid, int i)
{
    return ncmpi_rename_var(ncid, varid, (char[]){'n', (char)('b' + i), '\0'});
}

static int rename_att_again(int ncid, int varid, int i)
{
    return ncmpi_rename_att(ncid, varid, i % 2 == 0 ? "units" : "Units", i % 2 == 0 ? "Units" : "units");
}

static int rename_dim_again(int ncid, int varid, int i)
{
    (void)varid;
    return ncmpi_rename_dim(ncid, 0, (char[]){'d', (char)('j' + i), '\0'});
}

static int put_again(int ncid, int varid, int i)
{
    return ncmpi_put_att_text(ncid, varid, "units", 1, i % 2 == 0 ? "K" : "C");
}

static const struct {
    const char *name;
    int (*make)(int ncid, int varid, int i);
} repeated[] = {{"rename a variable", rename_again},
                {"rename a dimension", rename_dim_again},
                {"overwrite an attribute", put_again},
                {"rename an attribute", rename_att_again}};

enum { REPEATED = sizeof repeated / sizeof *repeated, TIMES = 8 };

static int create_variables(int n)
{
    int ncid, dim, id;
    char name[20];

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "di", 1, &dim) == NC_NOERR, "def_dim");
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, i == n / 2 ? "na" : "variable%05d", i);
        t_local(ncmpi_def_var(ncid, name, NC_BYTE, 1, &dim, &id) == NC_NOERR, "def_var");
        t_local(ncmpi_put_att_text(ncid, id, "units", 1, "m") == NC_NOERR, "put_att");
    }
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    return ncid;
}

/* Bytes of the call that allocates least: the memory of definitions grows in chunks, once in many calls. */
static void measure(int n, size_t *least)
{
    int ncid = create_variables(n);

    for (int k = 0; k < REPEATED; k++) {
        least[k] = (size_t)-1;
        for (int i = 0; i < TIMES; i++) {
            allocated = 0;
            t_local(repeated[k].make(ncid, n / 2, i) == NC_NOERR, "%s, time %d", repeated[k].name, i);
            if (allocated < least[k])
                least[k] = allocated;
        }
    }
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

static void test_cost(void)
{
    size_t of_few[REPEATED], of_many[REPEATED];

    measure(10, of_few);
    measure(10000, of_many);
    for (int k = 0; k < REPEATED; k++)
        t_check(of_few[k] == of_many[k] && of_few[k] > 0, "%s: %zu bytes of memory with 10 variables, %zu with 10,000",
                repeated[k].name, of_few[k], of_many[k]);
}

/* --- large headers --- */

/* Bytes of the header; tenths of it; the collective buffer of an earlier call on several nodes, with its bits. */
enum { LARGE = 1 << 24, MOST_TIMES = 45, BUFFER = 20 << 20 };

/* The most memory that the library has had so far: the definitions before and after the change, the new header, and the
 * old one. */
static void check_peak(const char *what)
{
    int64_t most = pnc_memory_get_peak();

    t_local((most - BUFFER) / (LARGE / 10) <= MOST_TIMES, "%s: %lld bytes", what, (long long)most);
    t_check(true, "%s: memory of %.2f times the header (rank 0)", what, (double)most / LARGE);
}

static void test_peak(void)
{
    char *large = malloc(LARGE);
    int ncid, dim, id, values[1000];

    for (int i = 0; i < 1000; i++)
        values[i] = i;
    memset(large, 'a', LARGE);
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_put_att_text(ncid, NC_GLOBAL, "large", LARGE, large);
    ncmpi_def_dim(ncid, "x", 1000, &dim);
    ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &id);
    t_local(ncmpi_enddef(ncid) == NC_NOERR && ncmpi_put_var_int_all(ncid, id, values) == NC_NOERR, "enddef and put");
    check_peak("a new file");
    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    ncmpi_put_att_text(ncid, NC_GLOBAL, "more", 10000, large);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    check_peak("redef and enddef, data move");
    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    ncmpi_rename_var(ncid, id, "w");
    ncmpi_rename_dim(ncid, dim, "y");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    check_peak("redef and enddef, no data move and all of the header is in the journal");
    memset(values, 0, sizeof values);
    t_local(ncmpi_get_var_int_all(ncid, id, values) == NC_NOERR && values[999] == 999, "get");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    free(large);
}

/* --- puts and gets --- */

enum { ROWS = 12, COLUMNS = 20, PARTS = 30 }; /* of each rank; many parts need memory for their indices */

static int grid[ROWS][COLUMNS]; /* of this rank */

static int value_at(int row, int column)
{
    return 1000 * (t_rank + 1) + row * COLUMNS + column;
}

/* Each rank has rows of its own; here by columns. */
static int access_varm(int ncid, bool writes)
{
    MPI_Offset start[2] = {ROWS * t_rank, 0}, count[2] = {ROWS, COLUMNS}, stride[2] = {1, 1}, imap[2] = {1, ROWS};
    int values[COLUMNS][ROWS], err;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i / ROWS][i % ROWS] = grid[i % ROWS][i / ROWS];
    if (writes)
        return ncmpi_put_varm_int_all(ncid, 0, start, count, stride, imap, values[0]);
    err = ncmpi_get_varm_int_all(ncid, 0, start, count, stride, imap, values[0]);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        grid[i % ROWS][i / ROWS] = values[i / ROWS][i % ROWS];
    return err;
}

static int put_varm(int ncid)
{
    return access_varm(ncid, true);
}

static int get_varm(int ncid)
{
    return access_varm(ncid, false);
}

/* A datatype of the rows, with a gap after each. */
static int access_flexible(int ncid, bool writes)
{
    enum { GAP = 3 };
    MPI_Offset start[2] = {ROWS * t_rank, 0}, count[2] = {ROWS, COLUMNS};
    int values[ROWS][COLUMNS + GAP] = {{0}}, err;
    MPI_Datatype type;

    MPI_Type_vector(ROWS, COLUMNS, COLUMNS + GAP, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int r = 0; r < ROWS; r++)
        memcpy(values[r], grid[r], sizeof grid[r]);
    err = writes ? ncmpi_put_vara_all(ncid, 0, start, count, values, 1, type)
                 : ncmpi_get_vara_all(ncid, 0, start, count, values, 1, type);
    MPI_Type_free(&type);
    for (int r = 0; r < ROWS; r++)
        memcpy(grid[r], values[r], sizeof grid[r]);
    return err;
}

static int put_flexible(int ncid)
{
    return access_flexible(ncid, true);
}

static int get_flexible(int ncid)
{
    return access_flexible(ncid, false);
}

/* In blocks of 4 rows and 2 columns. */
static int access_varn(int ncid, bool writes)
{
    enum { HIGH = 4, WIDE = 2, ACROSS = COLUMNS / WIDE };
    MPI_Offset starts[PARTS][2], counts[PARTS][2], *start[PARTS], *count[PARTS];

    _Static_assert(PARTS == ROWS / HIGH * ACROSS, "the blocks are all values");
    for (int i = 0; i < PARTS; i++) {
        starts[i][0] = ROWS * t_rank + i / ACROSS * HIGH;
        starts[i][1] = i % ACROSS * WIDE;
        counts[i][0] = HIGH;
        counts[i][1] = WIDE;
        start[i] = starts[i];
        count[i] = counts[i];
    }
    return writes ? ncmpi_put_varn_int_all(ncid, 1, PARTS, start, count, grid[0])
                  : ncmpi_get_varn_int_all(ncid, 1, PARTS, start, count, grid[0]);
}

static int put_varn(int ncid)
{
    return access_varn(ncid, true);
}

static int get_varn(int ncid)
{
    return access_varn(ncid, false);
}

static int put_several(int ncid)
{
    MPI_Offset starts[2] = {ROWS * t_rank, 0}, counts[2] = {ROWS, COLUMNS};
    MPI_Offset *start[2] = {starts, starts}, *count[2] = {counts, counts};
    int *values[2] = {grid[0], grid[0]}, varids[2] = {0, 1};

    return ncmpi_mput_vara_int_all(ncid, 2, varids, start, count, values);
}

static const struct {
    const char *name;
    int (*put)(int ncid), (*get)(int ncid);
    bool fails_in_put;
} accesses[] = {{"put_varm", put_varm, get_varm, true},
                {"get_varm", put_varm, get_varm, false},
                {"flexible put", put_flexible, get_flexible, true},
                {"flexible get", put_flexible, get_flexible, false},
                {"put_varn", put_varn, get_varn, true},
                {"get_varn", put_varn, get_varn, false},
                {"mput", put_several, get_varm, true}};

static int create_grid(void)
{
    int ncid, dims[2], id;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "row", ROWS * t_nprocs, &dims[0]);
    ncmpi_def_dim(ncid, "column", COLUMNS, &dims[1]);
    ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &id);
    ncmpi_def_var(ncid, "w", NC_INT, 2, dims, &id);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    return ncid;
}

static void set_grid(bool has_values)
{
    for (int i = 0; i < ROWS * COLUMNS; i++)
        grid[i / COLUMNS][i % COLUMNS] = has_values ? value_at(i / COLUMNS, i % COLUMNS) : -1;
}

static bool has_grid(void)
{
    int wrong = 0;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        wrong += grid[i / COLUMNS][i % COLUMNS] != value_at(i / COLUMNS, i % COLUMNS);
    return wrong == 0;
}

/* As try_position. */
static bool try_access(int k, int rank, long position)
{
    const char *name = accesses[k].name;
    int ncid = create_grid(), err, least, most;
    bool failed;

    alarm(HANG);
    set_grid(true);
    if (!accesses[k].fails_in_put)
        t_local(accesses[k].put(ncid) == NC_NOERR, "%s: put", name);
    allocation_arm(rank, position);
    err = accesses[k].fails_in_put ? accesses[k].put(ncid) : accesses[k].get(ncid);
    failed = allocation_disarm(rank);
    MPI_Allreduce(&err, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&err, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    t_local(least == most && (least == NC_NOERR || least == NC_ENOMEM),
            "%s, allocation %ld: the ranks return %d and %d", name, position, least, most);
    if (least != NC_NOERR && accesses[k].fails_in_put)
        t_local(accesses[k].put(ncid) == NC_NOERR, "%s: the second time", name);
    set_grid(false);
    t_local(accesses[k].get(ncid) == NC_NOERR && has_grid(), "%s, allocation %ld: the values", name, position);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    alarm(0);
    return failed;
}

static void test_accesses(void)
{
    for (int k = 0; k < (int)(sizeof accesses / sizeof *accesses); k++)
        for (int rank = 0; rank<t_nprocs; rank += t_nprocs> 1 ? t_nprocs - 1 : 1) {
            long position = 0;

            while (try_access(k, rank, position))
                position++;
            t_check(position > 0, "%s: each of %ld allocations of rank %d fails", accesses[k].name, position, rank);
        }
}

int main(int argc, char **argv)
{
    bool can_fail;

    t_start(&argc, &argv);
    can_fail = allocation_can_fail();
    snprintf(path, sizeof path, "%s", t_path("memory_failure.nc"));
    memset(text, 'n', sizeof text);
    if (t_classic())
        test_peak(); /* first: it is the largest so far that is counted */
    for (int k = 0; can_fail && k < (int)(sizeof calls / sizeof *calls); k++)
        for (int rank = 0; rank<t_nprocs; rank += t_nprocs> 1 ? t_nprocs - 1 : 1) {
            long position = 0;

            while (try_position(k, rank, position))
                position++;
            t_check(position > 0, "%s: each of %ld allocations of rank %d fails", calls[k].name, position, rank);
        }
    if (can_fail) {
        test_accesses();
        if (t_classic())
            test_cost();
    } else {
        t_skip("allocations cannot be made to fail");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
