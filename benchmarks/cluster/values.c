/* The values of a workload: how many, and which. */
#include "plan.h"

#include <stdlib.h>

MPI_Offset count_slab(const slab *s, int ndims)
{
    MPI_Offset n = 1;

    for (int d = 0; d < ndims; d++)
        n *= s->count[d];
    return n;
}

MPI_Offset count_request(const plan *p, const request *r)
{
    MPI_Offset n = 0;

    for (int i = 0; i < r->nslabs; i++)
        n += count_slab(&p->slabs[r->first_slab + i], p->variables[r->variable].ndims);
    return n;
}

MPI_Offset count_plan(const plan *p)
{
    MPI_Offset n = 0;

    for (int i = 0; i < p->nrequests; i++)
        n += count_request(p, &p->requests[i]);
    return n;
}

/* The position in its variable of element i of a hyperslab. */
static MPI_Offset find_position(const variable *v, const slab *s, MPI_Offset i)
{
    MPI_Offset position = 0, size = 1;

    for (int d = v->ndims - 1; d >= 0; d--) {
        position += (s->start[d] + i % s->count[d]) * size;
        i /= s->count[d];
        size *= v->shape[d];
    }
    return position;
}

static double expected_value(int variable, MPI_Offset position)
{
    return (double)(1 + variable + MAX_VARIABLES * position);
}

MPI_Offset walk_values(const plan *p, double *values, bool store)
{
    MPI_Offset wrong = 0;

    for (int i = 0; i < p->nrequests; i++) {
        const request *r = &p->requests[i];
        const variable *v = &p->variables[r->variable];

        for (const slab *s = p->slabs + r->first_slab; s < p->slabs + r->first_slab + r->nslabs; s++) {
            MPI_Offset n = count_slab(s, v->ndims);

            for (MPI_Offset k = 0; k < n; k++, values++) {
                double value = expected_value(r->variable, find_position(v, s, k));

                wrong += *values != value;
                if (store)
                    *values = value;
            }
        }
    }
    return wrong;
}

double *allocate_values(const plan *p)
{
    size_t n = (size_t)count_plan(p);
    double *values = calloc(n > 0 ? n : 1, sizeof *values);

    if (values == NULL)
        check(NC_ENOMEM, "the values of a rank");
    return values;
}
