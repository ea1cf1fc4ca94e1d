/* One rank has no memory in a call that changes a name or an attribute in data mode, at each of its allocations: all
 * ranks return an error, none blocks, and file and definitions are as before. And such a call takes no more memory in a
 * file of 10,000 variables than in one of 10. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../expect.h"
#include "allocations.h"

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
    t_local((least == NC_NOERR) == (most == NC_NOERR), "%s, allocation %ld: the ranks return %d and %d", calls[k].name,
            position, least, most);
    if (least != NC_NOERR) {
        /* without memory for its values, rank 0 has other values than the others */
        t_local(least == NC_ENOMEM || least == NC_EMULTIDEFINE_ATTR_VAL, "%s, allocation %ld: %s", calls[k].name,
                position, ncmpi_strerrno(least));
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

int main(int argc, char **argv)
{
    bool can_fail;

    t_start(&argc, &argv);
    can_fail = allocation_can_fail();
    snprintf(path, sizeof path, "%s", t_path("memory_failure.nc"));
    memset(text, 'n', sizeof text);
    for (int k = 0; can_fail && k < (int)(sizeof calls / sizeof *calls); k++)
        for (int rank = 0; rank<t_nprocs; rank += t_nprocs> 1 ? t_nprocs - 1 : 1) {
            long position = 0;

            while (try_position(k, rank, position))
                position++;
            t_check(position > 0, "%s: each of %ld allocations of rank %d fails", calls[k].name, position, rank);
        }
    if (can_fail)
        test_cost();
    else
        t_skip("allocations cannot be made to fail");
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
