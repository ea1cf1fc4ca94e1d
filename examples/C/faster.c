/* The same file in five ways, each faster than the one before: docs/slow.md shows what PNETCDF_STATS=1 reports of each.
 *
 *     PNETCDF_STATS=1 mpiexec -n 4 ./faster faster.nc 1
 *
 * Each rank has the same columns x of all fields, as in a model whose domain is cut along one axis. */
#include "check.h"

enum { FIELDS = 8, LEVELS = 3, ROWS = 32, COLUMNS = 8 };
enum { VALUES = 1, LINES = 2, BLOCKS = 3, AT_ONCE = 4, DEFINED_FIRST = 5 }; /* the steps */

static const char *path = "faster.nc";
static int rank, nprocs, ncid, varids[FIELDS];
static float field[FIELDS][LEVELS][ROWS][COLUMNS];

static void describe(void)
{
    static const char text[] = "a model run";

    NC_TRY(path, ncmpi_put_att_text(ncid, NC_GLOBAL, "title", sizeof text - 1, text));
    for (int f = 0; f < FIELDS; f++)
        NC_TRY(path, ncmpi_put_att_text(ncid, varids[f], "long_name", sizeof text - 1, text));
}

static void define(int step)
{
    int dims[3];

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "level", LEVELS, &dims[0]));
    NC_TRY(path, ncmpi_def_dim(ncid, "y", ROWS, &dims[1]));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", (MPI_Offset)COLUMNS * nprocs, &dims[2]));
    for (int f = 0; f < FIELDS; f++) {
        char name[24];

        snprintf(name, sizeof name, "field_%d", f);
        NC_TRY(path, ncmpi_def_var(ncid, name, NC_FLOAT, 3, dims, &varids[f]));
    }
    if (step >= DEFINED_FIRST)
        describe();
    NC_TRY(path, ncmpi_enddef(ncid));
}

/* Step 1: each value on its own, by each rank on its own. */
static void write_values(int f)
{
    for (int z = 0; z < LEVELS; z++)
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLUMNS; x++) {
                MPI_Offset at[] = {z, y, rank * COLUMNS + x};

                NC_TRY(path, ncmpi_put_var1_float(ncid, varids[f], at, &field[f][z][y][x]));
            }
}

/* Step 2: a row of the rank's columns at a time. */
static void write_lines(int f)
{
    for (int z = 0; z < LEVELS; z++)
        for (int y = 0; y < ROWS; y++) {
            MPI_Offset start[] = {z, y, rank * COLUMNS}, count[] = {1, 1, COLUMNS};

            NC_TRY(path, ncmpi_put_vara_float(ncid, varids[f], start, count, field[f][z][y]));
        }
}

/* Step 3: all ranks write a field in one call. */
static void write_block(int f)
{
    MPI_Offset start[] = {0, 0, rank * COLUMNS}, count[] = {LEVELS, ROWS, COLUMNS};

    NC_TRY(path, ncmpi_put_vara_float_all(ncid, varids[f], start, count, &field[f][0][0][0]));
}

/* Step 4: all fields in one access. */
static void post_block(int f)
{
    MPI_Offset start[] = {0, 0, rank * COLUMNS}, count[] = {LEVELS, ROWS, COLUMNS};

    NC_TRY(path, ncmpi_iput_vara_float(ncid, varids[f], start, count, &field[f][0][0][0], NULL));
}

static void write_fields(int step)
{
    if (step < BLOCKS)
        NC_TRY(path, ncmpi_begin_indep_data(ncid));
    for (int f = 0; f < FIELDS; f++) {
        if (step == VALUES)
            write_values(f);
        else if (step == LINES)
            write_lines(f);
        else if (step == BLOCKS)
            write_block(f);
        else
            post_block(f);
    }
    if (step < BLOCKS)
        NC_TRY(path, ncmpi_end_indep_data(ncid));
    NC_TRY(path, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
}

int main(int argc, char **argv)
{
    int step = argc > 2 ? atoi(argv[2]) : DEFINED_FIRST;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc > 1)
        path = argv[1];
    for (int f = 0; f < FIELDS; f++)
        for (int z = 0; z < LEVELS; z++)
            for (int y = 0; y < ROWS; y++)
                for (int x = 0; x < COLUMNS; x++)
                    field[f][z][y][x] = (float)(1000 * f + 100 * z + y) + 0.25f * (float)(rank * COLUMNS + x);
    define(step);
    write_fields(step);
    if (step < DEFINED_FIRST) { /* late: the header grows, and data move */
        NC_TRY(path, ncmpi_redef(ncid));
        describe();
        NC_TRY(path, ncmpi_enddef(ncid));
    }
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
