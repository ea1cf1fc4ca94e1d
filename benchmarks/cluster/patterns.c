/* The workloads: which rank accesses what. */
#include "plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FLASH_VARIABLES = 24,
    FLASH_PLOT_VARIABLES = 4,
    FLASH_BLOCKS = 80, /* of each rank */
    WRF_FIELDS_2D = 40,
    WRF_FIELDS_3D = 10,
    WRF_LEVELS = 20,
    SMALL_REQUESTS = 100000, /* of all ranks */
    SMALL_ELEMENTS = 4,
    SHUFFLE = 99991, /* prime, and greater than all factors of their number */
    RECORDS = 4,
    BT_COMPONENTS = 5,
    S3D_SPECIES = 11,
    S3D_VELOCITIES = 3,
    MADBENCH_MATRICES = 8,
    IOR_TRANSFERS = 8, /* of each rank */
    HALO_FIELDS = 4,
    HALO_WIDTH = 2,
    LONG_EXCESS = 3 /* elements that keep the pieces from beginning at stripes */
};

/* --- plans --- */

/* An array with space for element n. Its capacity is the power of two above n. */
static void *grow(void *array, int n, size_t size)
{
    if ((n & (n - 1)) != 0)
        return array;
    array = realloc(array, (n == 0 ? 1 : 2 * (size_t)n) * size);
    if (array == NULL)
        check(NC_ENOMEM, "the plan of a workload");
    return array;
}

int plan_add_variable(plan *p, int ndims, const MPI_Offset *shape)
{
    variable *v = &p->variables[p->nvariables];

    v->ndims = ndims;
    memcpy(v->shape, shape, (size_t)ndims * sizeof *shape);
    return p->nvariables++;
}

void plan_add_request(plan *p, int variable)
{
    p->requests = grow(p->requests, p->nrequests, sizeof *p->requests);
    p->requests[p->nrequests++] = (request){variable, p->nslabs, 0};
}

void plan_add_slab(plan *p, const MPI_Offset *start, const MPI_Offset *count)
{
    request *last = &p->requests[p->nrequests - 1];
    size_t bytes = (size_t)p->variables[last->variable].ndims * sizeof *start;

    p->slabs = grow(p->slabs, p->nslabs, sizeof *p->slabs);
    memcpy(p->slabs[p->nslabs].start, start, bytes);
    memcpy(p->slabs[p->nslabs].count, count, bytes);
    p->nslabs++;
    last->nslabs++;
}

void plan_free(plan *p)
{
    free(p->requests);
    free(p->slabs);
    free(p);
}

/* --- blocks --- */

/* Sizes of a grid of `nprocs` ranks, the largest first. */
static void divide(int nprocs, int ndims, int *grid)
{
    memset(grid, 0, (size_t)ndims * sizeof *grid);
    MPI_Dims_create(nprocs, ndims, grid);
}

/* The block of a rank in an array that a grid of ranks divides. The last dimension of the grid varies fastest. */
static void find_block(int rank, int ndims, const int *grid, const MPI_Offset *shape, slab *out)
{
    for (int d = ndims - 1; d >= 0; d--) {
        int at = rank % grid[d];

        rank /= grid[d];
        out->start[d] = shape[d] * at / grid[d];
        out->count[d] = shape[d] * (at + 1) / grid[d] - out->start[d];
    }
}

/* Planes of n x n elements for each rank: their shape, and the block of a rank. */
static void divide_plane(const part *part, MPI_Offset n, MPI_Offset *shape, slab *out)
{
    int grid[2];

    divide(part->nprocs, 2, grid);
    for (int d = 0; d < 2; d++)
        shape[d] = n * grid[d];
    find_block(part->rank, 2, grid, shape, out);
}

static MPI_Offset root(double elements, int degree)
{
    MPI_Offset n = (MPI_Offset)floor(pow(elements, 1. / degree) + 1e-9);

    return n < 1 ? 1 : n;
}

static double elements_of(const part *part)
{
    return (double)part->bytes / sizeof(double);
}

static const char *make_blocks_2d(plan *p, const part *part, int none)
{
    MPI_Offset n = root(elements_of(part), 2), shape[2];
    slab s;

    (void)none;
    divide_plane(part, n, shape, &s);
    plan_add_request(p, plan_add_variable(p, 2, shape));
    plan_add_slab(p, s.start, s.count);
    return NULL;
}

static const char *make_records(plan *p, const part *part, int none)
{
    MPI_Offset n = root(elements_of(part) / RECORDS, 2), shape[3] = {RECORDS, 0, 0};
    slab s;
    int v;

    (void)none;
    divide_plane(part, n, shape + 1, &s);
    v = plan_add_variable(p, 3, shape);
    for (int record = 0; record < RECORDS; record++) {
        plan_add_request(p, v);
        plan_add_slab(p, (MPI_Offset[]){record, s.start[0], s.start[1]}, (MPI_Offset[]){1, s.count[0], s.count[1]});
    }
    return NULL;
}

/* The three-dimensional array of the LBNL test of parallel netCDF, divided along the dimensions of a mask: 4 is Z, the
 * slowest one, 2 is Y, 1 is X. Its shape does not depend on the mask. */
static const char *make_lbnl(plan *p, const part *part, int mask)
{
    MPI_Offset n = root(elements_of(part), 3), shape[3];
    int grid[3], factors[3], next = 0, ndivided = 0;
    slab s;

    divide(part->nprocs, 3, grid);
    for (int d = 0; d < 3; d++) {
        shape[d] = n * grid[d];
        ndivided += mask >> (2 - d) & 1;
    }
    divide(part->nprocs, ndivided, factors);
    for (int d = 0; d < 3; d++) {
        grid[d] = mask >> (2 - d) & 1 ? factors[next++] : 1;
        if (grid[d] > shape[d])
            return "more ranks than elements along a dimension";
    }
    find_block(part->rank, 3, grid, shape, &s);
    plan_add_request(p, plan_add_variable(p, 3, shape));
    plan_add_slab(p, s.start, s.count);
    return NULL;
}

/* --- codes --- */

/* Files of FLASH: variables of blocks of cells, of which each rank has consecutive ones. A checkpoint has 24 variables,
 * a plot file 4, at the centers or at the corners of cells. */
enum { FLASH_CHECKPOINT, FLASH_PLOT, FLASH_CORNERS };

static const char *make_flash(plan *p, const part *part, int kind)
{
    int nvariables = kind == FLASH_CHECKPOINT ? FLASH_VARIABLES : FLASH_PLOT_VARIABLES;
    MPI_Offset n = root(elements_of(part) / FLASH_VARIABLES / FLASH_BLOCKS, 3) + (kind == FLASH_CORNERS);
    MPI_Offset shape[4] = {FLASH_BLOCKS * part->nprocs, n, n, n};
    MPI_Offset start[4] = {FLASH_BLOCKS * part->rank, 0, 0, 0}, count[4] = {FLASH_BLOCKS, n, n, n};

    p->nonblocking = true;
    for (int i = 0; i < nvariables; i++) {
        plan_add_request(p, plan_add_variable(p, 4, shape));
        plan_add_slab(p, start, count);
    }
    return NULL;
}

/* BTIO: q * q ranks and q * q * q cells. Each rank has one cell in each of the q layers of every dimension (diagonal
 * multipartitioning). */
static const char *make_btio(plan *p, const part *part, int none)
{
    int q = (int)root(part->nprocs, 2);
    MPI_Offset n = root(elements_of(part) / BT_COMPONENTS / q, 3), shape[4] = {n * q, n * q, n * q, BT_COMPONENTS};
    MPI_Offset count[4] = {n, n, n, BT_COMPONENTS};
    int v, row = part->rank / q, column = part->rank % q;

    (void)none;
    if (q * q != part->nprocs)
        return "diagonal multipartitioning needs a square number of ranks";
    p->nonblocking = true;
    v = plan_add_variable(p, 4, shape);
    for (int z = 0; z < q; z++) {
        plan_add_request(p, v);
        plan_add_slab(p, (MPI_Offset[]){n * z, n * ((row + z) % q), n * ((column + q - z) % q), 0}, count);
    }
    return NULL;
}

/* An output time of a weather model: many fields of 2 and of 3 dimensions, which blocks of columns divide. */
static const char *make_wrf(plan *p, const part *part, int none)
{
    MPI_Offset n = root(elements_of(part) / (WRF_FIELDS_2D + WRF_FIELDS_3D * WRF_LEVELS), 2);
    MPI_Offset shape[3] = {WRF_LEVELS, 0, 0}, start[3] = {0}, count[3] = {WRF_LEVELS, 0, 0};
    slab s;

    (void)none;
    p->nonblocking = true;
    divide_plane(part, n, shape + 1, &s);
    memcpy(start + 1, s.start, 2 * sizeof *start);
    memcpy(count + 1, s.count, 2 * sizeof *count);
    for (int i = 0; i < WRF_FIELDS_2D + WRF_FIELDS_3D; i++) {
        int first = i % (1 + WRF_FIELDS_2D / WRF_FIELDS_3D) == 0 ? 0 : 1; /* the fields of 2 dimensions lie between */

        plan_add_request(p, plan_add_variable(p, 3 - first, shape + first));
        plan_add_slab(p, start + first, count + first);
    }
    return NULL;
}

/* A checkpoint of the combustion code S3D: mass fractions of species, velocities, pressure and temperature on a grid of
 * 3 dimensions, which blocks of all three divide. */
static const char *make_s3d(plan *p, const part *part, int none)
{
    static const MPI_Offset components[] = {S3D_SPECIES, S3D_VELOCITIES, 1, 1};
    MPI_Offset n = root(elements_of(part) / (S3D_SPECIES + S3D_VELOCITIES + 2), 3), shape[4], start[4] = {0}, count[4];
    int grid[3];
    slab s;

    (void)none;
    p->nonblocking = true;
    divide(part->nprocs, 3, grid);
    for (int d = 0; d < 3; d++)
        shape[d + 1] = n * grid[d];
    find_block(part->rank, 3, grid, shape + 1, &s);
    memcpy(start + 1, s.start, 3 * sizeof *start);
    memcpy(count + 1, s.count, 3 * sizeof *count);
    for (int i = 0; i < 4; i++) {
        int first = components[i] == 1; /* pressure and temperature have 3 dimensions */

        shape[0] = count[0] = components[i];
        plan_add_request(p, plan_add_variable(p, 4 - first, shape + first));
        plan_add_slab(p, start + first, count + first);
    }
    return NULL;
}

/* MADbench2, out of core: matrices that are distributed over the ranks in contiguous parts. One function puts them, one
 * gets and puts each, one gets all. */
static const char *make_madbench(plan *p, const part *part, int none)
{
    MPI_Offset each = (MPI_Offset)elements_of(part) / MADBENCH_MATRICES, shape[2] = {MADBENCH_MATRICES, 0};
    int v;

    (void)none;
    p->updates = true;
    shape[1] = each * part->nprocs;
    v = plan_add_variable(p, 2, shape);
    for (int i = 0; i < MADBENCH_MATRICES; i++) {
        plan_add_request(p, v);
        plan_add_slab(p, (MPI_Offset[]){i, each * part->rank}, (MPI_Offset[]){1, each});
    }
    return NULL;
}

/* IOR to one shared file: each rank has a segment, which several transfers write, or the transfers of all ranks
 * alternate. */
static const char *make_ior(plan *p, const part *part, int strided)
{
    MPI_Offset each = (MPI_Offset)elements_of(part) / IOR_TRANSFERS, shape = each * IOR_TRANSFERS * part->nprocs;
    int v = plan_add_variable(p, 1, &shape);

    for (int i = 0; i < IOR_TRANSFERS; i++) {
        MPI_Offset transfer =
            strided ? (MPI_Offset)i * part->nprocs + part->rank : (MPI_Offset)part->rank * IOR_TRANSFERS + i;

        plan_add_request(p, v);
        plan_add_slab(p, (MPI_Offset[]){each * transfer}, &each);
    }
    return NULL;
}

/* The history of a model that exchanges halos: each rank puts its block of some fields, and a restart gets it with the
 * cells around it, which several ranks read. */
static const char *make_halo(plan *p, const part *part, int none)
{
    MPI_Offset n = root(elements_of(part) / HALO_FIELDS, 2), shape[2];
    slab s;

    (void)none;
    p->nonblocking = true;
    divide_plane(part, n, shape, &s);
    for (int d = 0; d < 2 && part->reads; d++) {
        MPI_Offset end = s.start[d] + s.count[d] + HALO_WIDTH;

        s.start[d] = s.start[d] > HALO_WIDTH ? s.start[d] - HALO_WIDTH : 0;
        s.count[d] = (end < shape[d] ? end : shape[d]) - s.start[d];
    }
    for (int i = 0; i < HALO_FIELDS; i++) {
        plan_add_request(p, plan_add_variable(p, 2, shape));
        plan_add_slab(p, s.start, s.count);
    }
    return NULL;
}

/* --- small requests, and long ones --- */

/* Requests of 32 bytes, which interleave with those of the other ranks. A step that has no factor in common with their
 * number leads through all of them. */
static const char *make_iputs(plan *p, const part *part, int step)
{
    MPI_Offset each = SMALL_REQUESTS / part->nprocs, shape = each * part->nprocs * SMALL_ELEMENTS;
    int v = plan_add_variable(p, 1, &shape);

    p->nonblocking = true;
    for (MPI_Offset i = 0; i < each; i++) {
        MPI_Offset at = i * step % each;

        plan_add_request(p, v);
        plan_add_slab(p, (MPI_Offset[]){(at * part->nprocs + part->rank) * SMALL_ELEMENTS},
                      (MPI_Offset[]){SMALL_ELEMENTS});
    }
    return NULL;
}

static const char *make_long(plan *p, const part *part, int none)
{
    MPI_Offset each = (MPI_Offset)elements_of(part) + LONG_EXCESS, shape = each * part->nprocs;

    (void)none;
    plan_add_request(p, plan_add_variable(p, 1, &shape));
    plan_add_slab(p, (MPI_Offset[]){each * part->rank}, &each);
    return NULL;
}

const workload workloads[] = {
    {"blocks-2d", make_blocks_2d, 0},
    {"records", make_records, 0},
    {"lbnl-x", make_lbnl, 1},
    {"lbnl-y", make_lbnl, 2},
    {"lbnl-z", make_lbnl, 4},
    {"lbnl-xy", make_lbnl, 3},
    {"lbnl-xz", make_lbnl, 5},
    {"lbnl-yz", make_lbnl, 6},
    {"lbnl-xyz", make_lbnl, 7},
    {"e3sm-f", e3sm_make, 'f'},
    {"e3sm-g", e3sm_make, 'g'},
    {"flash", make_flash, 0},
    {"btio", make_btio, 0},
    {"wrf", make_wrf, 0},
    {"iputs-ordered", make_iputs, 1},
    {"iputs-shuffled", make_iputs, SHUFFLE},
    {"long", make_long, 0},
    {"flash-plot", make_flash, FLASH_PLOT},
    {"s3d", make_s3d, 0},
    {"flash-corners", make_flash, FLASH_CORNERS},
    {"madbench", make_madbench, 0},
    {"ior-segmented", make_ior, 0},
    {"halo", make_halo, 0},
    {"ior-strided", make_ior, 1},
    {NULL, NULL, 0},
};

const workload *workload_find(const char *name)
{
    const workload *w = workloads;

    while (w->name != NULL && strcmp(w->name, name) != 0)
        w++;
    return w->name != NULL ? w : NULL;
}
