/* The output of the climate model E3SM: decompositions of real runs, as lists of pieces for each of 16 processes. More
 * ranks write copies of the grid, side by side along its horizontal dimension; fewer ranks have several lists each. */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Variables of each decomposition, about one in ten of the atmosphere's and half of the ocean's. */
static const int variables_f[] = {1, 32, 6, 0};
static const int variables_g[] = {3, 1, 8, 2, 2, 10, 0};

typedef struct decomposition {
    int ndims, horizontal; /* the dimension of the columns, or of the cells */
    int dims[MAX_DIMS];
    int nlists;
    int *npieces;           /* of each list */
    int *offsets, *lengths; /* of all lists */
} decomposition;

static int *read_variable(int ncid, int number, const char *what)
{
    char name[NC_MAX_NAME];
    MPI_Offset length;
    int varid, dimid;
    int *values;

    snprintf(name, sizeof name, "D%d.%s", number, what);
    TRY(ncmpi_inq_varid(ncid, name, &varid));
    TRY(ncmpi_inq_vardimid(ncid, varid, &dimid));
    TRY(ncmpi_inq_dimlen(ncid, dimid, &length));
    values = malloc((size_t)length * sizeof *values);
    if (values == NULL)
        check(NC_ENOMEM, name);
    TRY(ncmpi_get_var_int_all(ncid, varid, values));
    return values;
}

static void read_decomposition(int ncid, int number, decomposition *out)
{
    char name[NC_MAX_NAME];
    MPI_Offset nlists;
    int dimid;

    *out = (decomposition){0};
    snprintf(name, sizeof name, "D%d.ndims", number);
    TRY(ncmpi_get_att_int(ncid, NC_GLOBAL, name, &out->ndims));
    if (out->ndims < 1 || out->ndims > MAX_DIMS)
        check(NC_EINVAL, name);
    snprintf(name, sizeof name, "D%d.dims", number);
    TRY(ncmpi_get_att_int(ncid, NC_GLOBAL, name, out->dims));
    TRY(ncmpi_inq_dimid(ncid, "decomp_nprocs", &dimid));
    TRY(ncmpi_inq_dimlen(ncid, dimid, &nlists));
    out->nlists = (int)nlists;
    for (int d = 1; d < out->ndims; d++) /* in these files it is the longest */
        if (out->dims[d] > out->dims[out->horizontal])
            out->horizontal = d;
    out->npieces = read_variable(ncid, number, "nreqs");
    out->offsets = read_variable(ncid, number, "offsets");
    out->lengths = read_variable(ncid, number, "lengths");
}

static void free_decomposition(decomposition *d)
{
    free(d->npieces);
    free(d->offsets);
    free(d->lengths);
}

/* A piece of a copy of the grid: consecutive elements, in as many hyperslabs as it has rows. */
static void add_piece(plan *p, const decomposition *d, int copy, int offset, int length)
{
    int last = d->ndims - 1;

    while (length > 0) {
        MPI_Offset start[MAX_DIMS], count[MAX_DIMS];
        int rest = offset, some = d->dims[last] - offset % d->dims[last];

        some = some < length ? some : length;
        for (int i = last; i >= 0; i--) {
            start[i] = rest % d->dims[i];
            count[i] = 1;
            rest /= d->dims[i];
        }
        start[d->horizontal] += (MPI_Offset)copy * d->dims[d->horizontal];
        count[last] = some;
        plan_add_slab(p, start, count);
        offset += some;
        length -= some;
    }
}

static void add_list(plan *p, const decomposition *d, int copy, int list)
{
    int first = 0;

    for (int i = 0; i < list; i++)
        first += d->npieces[i];
    for (int i = first; i < first + d->npieces[list]; i++)
        add_piece(p, d, copy, d->offsets[i], d->lengths[i]);
}

static void add_variables(plan *p, const part *part, const decomposition *d, int n)
{
    int copies = (part->nprocs + d->nlists - 1) / d->nlists;
    MPI_Offset shape[MAX_DIMS];

    for (int i = 0; i < d->ndims; i++)
        shape[i] = (MPI_Offset)d->dims[i] * (i == d->horizontal ? copies : 1);
    for (int v = 0; v < n; v++) {
        plan_add_request(p, plan_add_variable(p, d->ndims, shape));
        for (int list = part->rank; list < copies * d->nlists; list += part->nprocs)
            add_list(p, d, list / d->nlists, list % d->nlists);
    }
}

const char *e3sm_make(plan *p, const part *part, int variant)
{
    const int *variables = variant == 'f' ? variables_f : variables_g;
    int ncid;

    if (part->map == NULL)
        return "no file with the decompositions";
    p->nonblocking = true;
    TRY(ncmpi_open(MPI_COMM_SELF, part->map, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    for (int i = 0; variables[i] > 0; i++) {
        decomposition d;

        read_decomposition(ncid, i + 1, &d);
        add_variables(p, part, &d, variables[i]);
        free_decomposition(&d);
    }
    TRY(ncmpi_close(ncid));
    return NULL;
}
