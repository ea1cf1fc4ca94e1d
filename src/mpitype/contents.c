/* Envelope and contents of MPI datatypes. MPI-4 has a second set of constructors, with counts of type MPI_Count; the
 * arguments of both are stored in one list of 64-bit integers. */
#include "mpitype/contents.h"

#include <assert.h>

#include "base/error.h"
#include "base/memory.h"

/* Arguments as MPI returns them: by C type. */
typedef struct arguments {
    MPI_Count nints, naddresses, ncounts, ntypes;
    int *ints;
    MPI_Aint *addresses;
    MPI_Count *counts;
    MPI_Datatype *types;
} arguments;

#if MPI_VERSION >= 4
static int get_envelope(MPI_Datatype type, arguments *a, int *combiner)
{
    return MPI_Type_get_envelope_c(type, &a->nints, &a->naddresses, &a->ncounts, &a->ntypes, combiner);
}

static int get_contents(MPI_Datatype type, arguments *a)
{
    return MPI_Type_get_contents_c(type, a->nints, a->naddresses, a->ncounts, a->ntypes, a->ints, a->addresses,
                                   a->counts, a->types);
}
#else
static int get_envelope(MPI_Datatype type, arguments *a, int *combiner)
{
    int nints = 0, naddresses = 0, ntypes = 0, err;

    err = MPI_Type_get_envelope(type, &nints, &naddresses, &ntypes, combiner);
    a->nints = nints;
    a->naddresses = naddresses;
    a->ncounts = 0;
    a->ntypes = ntypes;
    return err;
}

static int get_contents(MPI_Datatype type, arguments *a)
{
    return MPI_Type_get_contents(type, (int)a->nints, (int)a->naddresses, (int)a->ntypes, a->ints, a->addresses,
                                 a->types);
}
#endif

int pnc_mpitype_combiner_get(MPI_Datatype type)
{
    arguments a = {0};
    int combiner;

    return get_envelope(type, &a, &combiner) == MPI_SUCCESS ? combiner : MPI_UNDEFINED;
}

bool pnc_mpitype_combiner_is_element(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_COMPLEX;
}

static int get_arguments(MPI_Datatype type, arguments *a, int *combiner)
{
    if (get_envelope(type, a, combiner) != MPI_SUCCESS)
        return NC_EUNSPTETYPE;
    a->ints = pnc_memory_alloc(a->nints, sizeof *a->ints);
    a->addresses = pnc_memory_alloc(a->naddresses, sizeof *a->addresses);
    a->counts = pnc_memory_alloc(a->ncounts, sizeof *a->counts);
    a->types = pnc_memory_alloc(a->ntypes, sizeof *a->types);
    if (a->ints == NULL || a->addresses == NULL || a->counts == NULL || a->types == NULL)
        return NC_ENOMEM;
    return get_contents(type, a) == MPI_SUCCESS ? NC_NOERR : NC_EUNSPTETYPE;
}

/* The order of the constructor's arguments (MPI-4.0, 5.1.13): counts come first, except that two constructors begin
 * with ints. Byte displacements come last; with large counts they are counts too. */
static int64_t *merge_numbers(const arguments *a, int combiner)
{
    int64_t *numbers = pnc_memory_alloc(a->nints + a->ncounts + a->naddresses, sizeof *numbers);
    MPI_Count before = 0, n = 0;

    if (combiner == MPI_COMBINER_SUBARRAY)
        before = 1; /* ndims */
    else if (combiner == MPI_COMBINER_DARRAY)
        before = 3; /* size, rank, ndims */
    if (numbers == NULL)
        return NULL;
    for (MPI_Count i = 0; i < before && i < a->nints; i++)
        numbers[n++] = a->ints[i];
    for (MPI_Count i = 0; i < a->ncounts; i++)
        numbers[n++] = a->counts[i];
    for (MPI_Count i = before; i < a->nints; i++)
        numbers[n++] = a->ints[i];
    for (MPI_Count i = 0; i < a->naddresses; i++)
        numbers[n++] = a->addresses[i];
    assert(n == a->nints + a->ncounts + a->naddresses);
    return numbers;
}

int pnc_mpitype_contents_get(MPI_Datatype type, pnc_type_contents *contents)
{
    pnc_type_contents got = {0};
    arguments a = {0};
    int err = get_arguments(type, &a, &got.combiner);

    got.types = a.types;
    got.ntypes = err == NC_NOERR ? a.ntypes : 0; /* types that MPI has returned */
    if (err == NC_NOERR)
        got.numbers = merge_numbers(&a, got.combiner);
    if (err == NC_NOERR && got.numbers == NULL)
        err = NC_ENOMEM;
    if (err == NC_NOERR)
        *contents = got;
    else
        pnc_mpitype_contents_free(&got);
    pnc_memory_free(a.ints);
    pnc_memory_free(a.addresses);
    pnc_memory_free(a.counts);
    return err;
}

void pnc_mpitype_contents_free(pnc_type_contents *contents)
{
    for (int64_t i = 0; i < contents->ntypes; i++)
        if (!pnc_mpitype_combiner_is_element(pnc_mpitype_combiner_get(contents->types[i])))
            MPI_Type_free(&contents->types[i]);
    pnc_memory_free(contents->types);
    pnc_memory_free(contents->numbers);
}
