/* Collective calls whose ranks lie far apart in the file. Between nodes each rank that has stripes of its own accesses
 * them itself; if stripes are shared, only aggregators do. Accesses of the file are counted in wrappers of MPI; one
 * rank reads the file without the library of values: byte for byte, by a formula. */
#include <stdio.h>
#include <string.h>

#include <pnetcdf.h>

#include "../expect.h"

enum { UNIT = 65536, COUNT = 1000, BEGIN = 4 * UNIT, NOWHERE = -1 };

static int accesses, ncid, varid, nnodes;

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void *buf, int count, MPI_Datatype type, MPI_Status *status)
{
    accesses++;
    return PMPI_File_write_at(file, at, buf, count, type, status);
}

int MPI_File_read_at(MPI_File file, MPI_Offset at, void *buf, int count, MPI_Datatype type, MPI_Status *status)
{
    accesses++;
    return PMPI_File_read_at(file, at, buf, count, type, status);
}

/* As the library finds it: ranks that can share memory. */
static int count_nodes(void)
{
    MPI_Comm node;
    int rank, leader;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_free(&node);
    leader = rank == 0;
    MPI_Allreduce(MPI_IN_PLACE, &leader, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return leader;
}

static int value_of(MPI_Offset element)
{
    return (int)(element * 7 + 3);
}

/* Where a rank begins, in elements; NOWHERE: it has none. */
typedef MPI_Offset place(int rank);

static MPI_Offset ascending(int rank)
{
    return (MPI_Offset)rank * UNIT;
}

static MPI_Offset shifted(int rank)
{
    return ascending((rank + 1) % t_nprocs);
}

static MPI_Offset with_gaps(int rank)
{
    return rank % 2 == 0 ? ascending(rank) : NOWHERE;
}

/* With more than two ranks, this is not an ascending order with a shift. */
static MPI_Offset descending(int rank)
{
    return ascending(t_nprocs - 1 - rank);
}

/* Two ranks in the first stripe, the others far behind. */
static MPI_Offset shared(int rank)
{
    return rank < 2 ? (MPI_Offset)rank * COUNT : ascending(rank);
}

static void define(const char *path)
{
    MPI_Info info;
    int dim;

    MPI_Info_create(&info);
    MPI_Info_set(info, "striping_unit", "65536");
    MPI_Info_set(info, "nc_var_align_size", "262144");
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    MPI_Info_free(&info);
    expect_ok(ncmpi_def_dim(ncid, "x", (MPI_Offset)UNIT * t_nprocs, &dim), "def_dim");
    expect_ok(ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &varid), "def_var");
    expect_ok(ncmpi_enddef(ncid), "enddef");
}

/* Ranks that accessed the file. */
static int count_ranks(void)
{
    int n = accesses > 0;

    MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return n;
}

static int count_wrong(const char *path, place *at)
{
    int wrong = 0;
    FILE *file = t_rank == 0 ? fopen(path, "rb") : NULL;

    for (int rank = 0; file != NULL && rank < t_nprocs; rank++) {
        unsigned char bytes[COUNT][4];

        if (at(rank) == NOWHERE)
            continue;
        wrong += fseek(file, BEGIN + (long)at(rank) * 4, SEEK_SET) != 0 || fread(bytes, 4, COUNT, file) != COUNT;
        for (int i = 0; i < COUNT; i++) {
            const unsigned char *b = bytes[i];

            wrong += (int)((unsigned)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]) != value_of(at(rank) + i);
        }
    }
    if (file != NULL)
        fclose(file);
    return wrong;
}

/* separate: each rank with values accesses the file, also between nodes. */
static void try_place(const char *name, place *at, bool separate)
{
    MPI_Offset start = at(t_rank) == NOWHERE ? 0 : at(t_rank), count = at(t_rank) == NOWHERE ? 0 : COUNT;
    int values[COUNT], got[COUNT] = {0}, wrong = 0, busy = count > 0, most = nnodes, nwriters, nreaders;
    const char *path = t_path("sparse.nc");

    MPI_Allreduce(MPI_IN_PLACE, &busy, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    define(path);
    for (int i = 0; i < COUNT; i++)
        values[i] = value_of(start + i);
    accesses = 0;
    expect_ok(ncmpi_put_vara_int_all(ncid, varid, &start, &count, values), "put");
    nwriters = count_ranks();
    accesses = 0;
    expect_ok(ncmpi_get_vara_int_all(ncid, varid, &start, &count, got), "get");
    nreaders = count_ranks();
    wrong = memcmp(got, values, (size_t)count * sizeof *got) != 0;
    expect_ok(ncmpi_close(ncid), "close");
    wrong += count_wrong(path, at);
    t_check(wrong == 0, "%s: values", name);
    if (separate || nnodes == 1)
        t_check(nwriters == busy && nreaders == busy, "%s: %d ranks write and read, not %d and %d", name, busy,
                nwriters, nreaders);
    else
        t_check(nwriters <= most && nreaders <= most,
                "%s: only the aggregators of %d nodes write and read, not %d and %d", name, most, nwriters, nreaders);
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    nnodes = count_nodes();
    try_place("ascending", ascending, true);
    try_place("shifted", shifted, true);
    try_place("ranks without values", with_gaps, true);
    try_place("descending", descending, t_nprocs <= 2);
    try_place("a stripe of two ranks", shared, false);
    return t_finish();
}
