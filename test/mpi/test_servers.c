/* A file on servers, as the hint striping_unit says. There an access of each row takes long, also from one node:
 * aggregators access rows of several ranks, and many rows of one rank. The statistics say which strategy was used. */
#include <pnetcdf.h>

#include "../expect.h"

enum { ROWS = 64, ROW = 512 }; /* values of a rank in a row: 2 KiB, with more than 4 KiB between its rows */

static int ncid, together, apart; /* variables: ranks share rows; each has rows of its own */

static int value_of(MPI_Offset row, MPI_Offset column)
{
    return (int)(row * 100003 + column * 7 + 1);
}

/* Calls with a strategy in which this rank had values. */
static int count_calls(const char *counter)
{
    MPI_Offset n = -1;

    t_local(ncmpi_inq_stats(ncid, counter, &n) == NC_NOERR, "%s", counter);
    return (int)n;
}

static void define(const char *path)
{
    int dims[3];
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "striping_unit", "1048576");
    MPI_Info_set(info, "nc_stats", "keep");
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    MPI_Info_free(&info);
    expect_ok(ncmpi_def_dim(ncid, "rank", t_nprocs, &dims[0]), "def_dim");
    expect_ok(ncmpi_def_dim(ncid, "y", ROWS, &dims[1]), "def_dim");
    expect_ok(ncmpi_def_dim(ncid, "x", (t_nprocs + 3) * ROW, &dims[2]), "def_dim");
    expect_ok(ncmpi_def_var(ncid, "together", NC_INT, 2, dims + 1, &together), "def_var");
    expect_ok(ncmpi_def_var(ncid, "apart", NC_INT, 3, dims, &apart), "def_var");
    expect_ok(ncmpi_enddef(ncid), "enddef");
}

/* Put the rows of this rank, and get those of the next one. is_apart: the variable has the dimension of ranks. */
static void try_rows(const char *name, int varid, bool is_apart)
{
    static int values[ROWS * ROW], got[ROWS * ROW];
    int next = (t_rank + 1) % t_nprocs, puts = -count_calls("collective_puts_two_phase");
    int gets = -count_calls("collective_gets_two_phase"), wrong = 0;
    MPI_Offset start[3] = {t_rank, 0, (MPI_Offset)t_rank * ROW}, count[3] = {1, ROWS, ROW};
    int first = is_apart ? 0 : 1;

    for (int i = 0; i < ROWS * ROW; i++)
        values[i] = value_of(i / ROW, start[2] + i % ROW);
    expect_ok(ncmpi_put_vara_int_all(ncid, varid, start + first, count + first, values), "put");
    start[0] = next;
    start[2] = (MPI_Offset)next * ROW;
    expect_ok(ncmpi_get_vara_int_all(ncid, varid, start + first, count + first, got), "get");
    for (int i = 0; i < ROWS * ROW; i++)
        wrong += got[i] != value_of(i / ROW, start[2] + i % ROW);
    puts += count_calls("collective_puts_two_phase");
    gets += count_calls("collective_gets_two_phase");
    t_check(t_local(wrong == 0, "%d wrong", wrong), "%s: values", name);
    t_check(t_local(puts == (t_nprocs > 1) && gets == (t_nprocs > 1), "%d puts, %d gets", puts, gets),
            "%s: aggregators, if there are several ranks", name);
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    define(t_path("servers.nc"));
    try_rows("rows of all ranks", together, false);
    try_rows("rows of each rank", apart, true);
    expect_ok(ncmpi_close(ncid), "close");
    return t_finish();
}
