/* Arrays of values from Fortran's descriptors, and MPI datatypes of their sections: nothing is copied. */
#include "binding/f90/f90.h"

#include <limits.h>
#include <stdint.h>

/* Set the MPI datatype of an element, and the external type of the same values. */
static void set_element(pnc_f90_array *array, CFI_type_t type)
{
    switch (type) {
    case CFI_type_char: array->element = MPI_CHAR, array->kind = NC_CHAR; break;
    case CFI_type_int8_t: array->element = MPI_SIGNED_CHAR, array->kind = NC_BYTE; break;
    case CFI_type_int16_t: array->element = MPI_SHORT, array->kind = NC_SHORT; break;
    case CFI_type_int32_t: array->element = MPI_INT, array->kind = NC_INT; break;
    case CFI_type_int64_t: array->element = MPI_LONG_LONG, array->kind = NC_INT64; break;
    case CFI_type_float: array->element = MPI_FLOAT, array->kind = NC_FLOAT; break;
    case CFI_type_double: array->element = MPI_DOUBLE, array->kind = NC_DOUBLE; break;
    default: array->element = MPI_DATATYPE_NULL, array->kind = NC_NAT; break;
    }
}

pnc_f90_array pnc_f90_array_get(const CFI_cdesc_t *values, int ndims)
{
    pnc_f90_array array = {.base = values->base_addr, .size = (MPI_Offset)values->elem_len};

    set_element(&array, values->type);
    if (values->type == CFI_type_char) {
        array.size = 1;
        if (values->elem_len != 1 || values->rank != ndims) {
            array.extent[0] = (MPI_Offset)values->elem_len;
            array.distance[0] = 1;
            array.rank = 1;
        }
    }
    for (int i = 0; i < values->rank; i++, array.rank++) {
        array.extent[array.rank] = values->dim[i].extent;
        array.distance[array.rank] = values->dim[i].sm;
    }
    return array;
}

MPI_Offset pnc_f90_array_count_elements(const pnc_f90_array *array)
{
    MPI_Offset n = 1;

    for (int i = 0; i < array->rank; i++) {
        if (array->extent[i] < 0)
            return PNCF90_UNKNOWN;
        n *= array->extent[i];
    }
    return n;
}

bool pnc_f90_array_is_contiguous(const pnc_f90_array *array)
{
    MPI_Offset distance = array->size;

    for (int i = 0; i < array->rank; i++) {
        if (array->extent[i] == 0)
            return true;
        if (array->extent[i] != 1 && array->distance[i] != distance)
            return false;
        distance *= array->extent[i];
    }
    return true;
}

/* Replace *type by *type and `more` at the displacement `place`; both are freed. */
static int append_type(MPI_Datatype *type, MPI_Datatype more, MPI_Aint place)
{
    int lengths[2] = {1, 1}, err;
    MPI_Aint places[2] = {0, place};
    MPI_Datatype types[2] = {*type, more};

    err = MPI_Type_create_struct(2, lengths, places, types, type);
    MPI_Type_free(&types[0]);
    MPI_Type_free(&types[1]);
    return err == MPI_SUCCESS ? NC_NOERR : NC_ENOMEM;
}

/* n instances of a type, `distance` bytes apart. MPI-3 counts are int. */
static int repeat(MPI_Datatype one, MPI_Offset n, MPI_Aint distance, MPI_Datatype *out)
{
    const MPI_Offset chunk = 1 << 30;
    MPI_Datatype part, rest;
    int err;

    if (n <= chunk)
        return MPI_Type_create_hvector((int)n, 1, distance, one, out) == MPI_SUCCESS ? NC_NOERR : NC_ENOMEM;
    err = MPI_Type_create_hvector((int)chunk, 1, distance, one, &part);
    if (err != MPI_SUCCESS)
        return NC_ENOMEM;
    err = repeat(part, n / chunk, chunk * distance, out);
    MPI_Type_free(&part);
    if (err != NC_NOERR || n % chunk == 0)
        return err;
    err = repeat(one, n % chunk, distance, &rest);
    return err != NC_NOERR ? err : append_type(out, rest, n / chunk * chunk * distance);
}

/* The first n > 0 elements of the `rank` fastest dimensions. */
static int first_elements(const pnc_f90_array *array, int rank, MPI_Datatype element, MPI_Offset n, MPI_Datatype *out)
{
    MPI_Offset inner = 1;
    MPI_Datatype one, rest;
    int err;

    if (rank == 0)
        return MPI_Type_dup(element, out) == MPI_SUCCESS ? NC_NOERR : NC_ENOMEM;
    for (int i = 0; i < rank - 1; i++)
        inner *= array->extent[i];
    if (n < inner)
        return first_elements(array, rank - 1, element, n, out);
    err = first_elements(array, rank - 1, element, inner, &one);
    if (err != NC_NOERR)
        return err;
    err = repeat(one, n / inner, array->distance[rank - 1], out);
    MPI_Type_free(&one);
    if (err != NC_NOERR || n % inner == 0)
        return err;
    err = first_elements(array, rank - 1, element, n % inner, &rest);
    return err != NC_NOERR ? err : append_type(out, rest, n / inner * array->distance[rank - 1]);
}

int pnc_f90_array_create_type(const pnc_f90_array *array, MPI_Datatype element, MPI_Offset n, MPI_Datatype *type)
{
    int err = first_elements(array, array->rank, element, n, type);

    if (err == NC_NOERR && MPI_Type_commit(type) != MPI_SUCCESS) {
        MPI_Type_free(type);
        err = NC_ENOMEM;
    }
    return err;
}
