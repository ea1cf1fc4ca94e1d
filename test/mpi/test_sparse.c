/* Collective calls whose ranks lie far apart in the file. Between nodes each rank that has stripes of its own accesses
 * them itself; otherwise aggregators do. The statistics say which strategy was used. Rank 0 reads the bytes of the file
 * with stdio and compares them with a formula. */
#include <stdio.h>
#include <string.h>

#include <pnetcdf.h>

#include "../expect.h"

enum { UNIT = 65536, COUNT = 1000, BEGIN = 4 * UNIT, NOWHERE = -1, BACKGROUND = 77 };

static int ncid, varid, nnodes;
static const char *buffer_size = "16777216"; /* hint cb_buffer_size */

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

/* --- places --- */

/* What a rank puts: COUNT values from `start` on, every `stride`-th element. */
typedef struct place {
    MPI_Offset start, stride; /* start: NOWHERE if the rank has no values */
} place;

/* Ranks are UNIT elements apart, which are four stripes of 65536 bytes. */
static place ascending(int rank)
{
    return (place){(MPI_Offset)rank * UNIT, 1};
}

static place shifted(int rank)
{
    return ascending((rank + 1) % t_nprocs);
}

static place with_gaps(int rank)
{
    return rank % 2 == 0 ? ascending(rank) : (place){NOWHERE, 1};
}

/* With more than two ranks, this is not an ascending order with a shift. */
static place descending(int rank)
{
    return ascending(t_nprocs - 1 - rank);
}

/* Two ranks in the first stripe, the others far behind. */
static place shared(int rank)
{
    return rank < 2 ? (place){(MPI_Offset)rank * COUNT, 1} : ascending(rank);
}

/* Each rank has two stripes of its own, which are most of the range of the call. */
static place dense(int rank)
{
    return (place){(MPI_Offset)rank * 2 * COUNT * 17, 17};
}

/* Each rank has many values in one stripe: an aggregator writes this stripe at once. */
static place strided(int rank)
{
    return (place){(MPI_Offset)rank * UNIT, 7};
}

/* --- one call --- */

static int value_of(MPI_Offset element)
{
    return (int)(element * 7 + 3);
}

static bool is_put(MPI_Offset element, place (*at)(int))
{
    for (int rank = 0; rank < t_nprocs; rank++) {
        place p = at(rank);
        MPI_Offset i = element - p.start;

        if (p.start != NOWHERE && i >= 0 && i % p.stride == 0 && i / p.stride < COUNT)
            return true;
    }
    return false;
}

static void define(const char *path, const char *strategy)
{
    MPI_Offset all[1] = {(MPI_Offset)UNIT * t_nprocs}, start[1] = {0}, none[1] = {0};
    static int background[UNIT * 4];
    MPI_Info info;
    int dim;

    MPI_Info_create(&info);
    MPI_Info_set(info, "striping_unit", "65536");
    MPI_Info_set(info, "nc_var_align_size", "262144");
    MPI_Info_set(info, "nc_stats", "keep");
    MPI_Info_set(info, "nc_strategy", strategy);
    MPI_Info_set(info, "cb_buffer_size", buffer_size);
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    MPI_Info_free(&info);
    expect_ok(ncmpi_def_dim(ncid, "x", all[0], &dim), "def_dim");
    expect_ok(ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &varid), "def_var");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    for (int i = 0; i < UNIT * t_nprocs; i++)
        background[i] = BACKGROUND;
    expect_ok(ncmpi_put_vara_int_all(ncid, varid, start, t_rank == 0 ? all : none, background), "put the background");
}

static int count_wrong(const char *path, place (*at)(int))
{
    FILE *file = fopen(path, "rb");
    unsigned char b[4];
    int wrong = file == NULL || fseek(file, BEGIN, SEEK_SET) != 0;

    for (MPI_Offset i = 0; wrong == 0 && i < (MPI_Offset)UNIT * t_nprocs; i++) {
        int wanted = is_put(i, at) ? value_of(i) : BACKGROUND;

        wrong += fread(b, 1, 4, file) != 4 ||
                 (int)((unsigned)b[0] << 24 | (unsigned)b[1] << 16 | (unsigned)b[2] << 8 | b[3]) != wanted;
    }
    if (file != NULL)
        fclose(file);
    return wrong;
}

/* Calls with this strategy in which this rank had values. */
static int count_calls(const char *counter)
{
    MPI_Offset n = -1;

    t_local(ncmpi_inq_stats(ncid, counter, &n) == NC_NOERR, "%s", counter);
    return (int)n;
}

/* Between nodes, whether each rank with values accesses the file itself. On one node only the values are compared. */
static void try_place(const char *name, place (*at)(int), const char *strategy, bool puts_alone, bool gets_alone)
{
    place own = at(t_rank);
    MPI_Offset start = own.start == NOWHERE ? 0 : own.start, count = own.start == NOWHERE ? 0 : COUNT;
    int values[COUNT], got[COUNT] = {0}, wrong, puts, gets;
    const char *path = t_path("sparse.nc");

    define(path, strategy);
    puts = -count_calls("collective_puts_separate"); /* of the background */
    for (int i = 0; i < COUNT; i++)
        values[i] = value_of(start + i * own.stride);
    expect_ok(ncmpi_put_vars_int_all(ncid, varid, &start, &count, &own.stride, values), "put");
    expect_ok(ncmpi_get_vars_int_all(ncid, varid, &start, &count, &own.stride, got), "get");
    wrong = memcmp(got, values, (size_t)count * sizeof *got) != 0;
    puts += count_calls("collective_puts_separate");
    gets = count_calls("collective_gets_separate");
    expect_ok(ncmpi_close(ncid), "close");
    if (t_rank == 0)
        wrong += count_wrong(path, at);
    t_check(wrong == 0, "%s: values", name);
    if (nnodes > 1)
        t_check(puts == (puts_alone && count > 0) && gets == (gets_alone && count > 0), "%s: put %s, get %s", name,
                puts_alone ? "each rank on its own" : "with aggregators",
                gets_alone ? "each rank on its own" : "with aggregators");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    nnodes = count_nodes();
    try_place("ascending", ascending, "automatic", true, true);
    try_place("shifted", shifted, "automatic", true, false); /* not in the shares of the ranks */
    try_place("shifted, separate by hint", shifted, "separate", true, true);
    buffer_size = "65536"; /* aggregators would read in several rounds */
    try_place("shifted, small buffers", shifted, "automatic", true, true);
    buffer_size = "16777216";
    try_place("ranks without values", with_gaps, "automatic", true, t_nprocs <= 2); /* the range ends before the last */
    try_place("descending", descending, "automatic", t_nprocs <= 2, false);
    try_place("a stripe of two ranks", shared, "automatic", false, false);
    try_place("dense", dense, "automatic", false, false);
    try_place("many runs in a stripe", strided, "automatic", false, false);
    try_place("many runs in a stripe, separate by hint", strided, "separate", true, true);
    try_place("descending, separate by hint", descending, "separate", t_nprocs <= 2, t_nprocs <= 2);
    return t_finish();
}
