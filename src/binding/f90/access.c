/* The generics that put and get values. Each makes one call of the C interface, with order and base of start and count
 * converted: of a flexible function with an MPI datatype for an array section, of the typed function for all else. */
#include "binding/f90/f90.h"

#include <stdint.h>
#include <stdlib.h>

/* --- the buffer --- */

static void release(pnc_f90_buffer *b)
{
    if (b->owned)
        MPI_Type_free(&b->type);
}

/* The first n elements of an array, of a type that has their size. If the array has fewer, *b has its actual size, and
 * the C interface returns the error. */
static int take_elements(const pnc_f90_array *array, MPI_Datatype element, MPI_Offset n, pnc_f90_buffer *b)
{
    MPI_Offset held = pnc_f90_array_count_elements(array);
    int err;

    if (n <= 1 || n > held || pnc_f90_array_is_contiguous(array)) {
        *b = (pnc_f90_buffer){.base = array->base, .count = n > held ? held : n, .type = element};
        return NC_NOERR;
    }
    *b = (pnc_f90_buffer){.base = array->base, .count = 1};
    err = pnc_f90_array_create_type(array, element, n, &b->type);
    b->owned = err == NC_NOERR;
    return err;
}

/* The same, of the array's own type; if it is contiguous, for the function of that type. */
static int take_values(const pnc_f90_array *array, MPI_Offset n, pnc_f90_buffer *b)
{
    int err = take_elements(array, array->element, n, b);

    if (err == NC_NOERR && !b->owned && b->count == n)
        b->kind = array->kind;
    return err;
}

static bool is_named(MPI_Datatype type)
{
    int integers, addresses, types, combiner;

    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/* bufcount instances of buftype, for `wanted` elements of the file. A section is valid if buftype is the type of its
 * elements; a derived datatype requires contiguous memory. */
static int take_flexible(const pnc_f90_call *call, const pnc_f90_array *array, MPI_Offset wanted, pnc_f90_buffer *b)
{
    MPI_Datatype type = MPI_Type_f2c(*call->buftype);
    MPI_Offset count = call->bufcount == NULL ? NC_COUNT_IGNORE : *call->bufcount;
    int size;

    *b = (pnc_f90_buffer){.base = array->base, .count = count, .type = type};
    if (pnc_f90_array_is_contiguous(array))
        return NC_NOERR;
    if (type == MPI_DATATYPE_NULL)
        return array->element == MPI_DATATYPE_NULL ? NC_EINVAL : take_elements(array, array->element, wanted, b);
    MPI_Type_size(type, &size);
    if (!is_named(type) || size != array->size)
        return NC_EINVAL;
    return take_elements(array, type, count < 0 ? wanted : count, b);
}

/* Whether an imap, in elements, stays within the `held` elements of the array. */
static bool map_stays_inside(int ndims, const MPI_Offset *count, const MPI_Offset *map, MPI_Offset held)
{
    MPI_Offset last = 0;

    for (int i = 0; i < ndims; i++) {
        if (count[i] <= 1)
            continue;
        if (map[i] < 0 || map[i] > (held - 1 - last) / (count[i] - 1))
            return false;
        last += map[i] * (count[i] - 1);
    }
    return true;
}

/* --- hyperslabs --- */

/* numbers(f), and numbers(f, part) of a list, counted from 0. These arrays are declared contiguous. */
static MPI_Offset number_at(const CFI_cdesc_t *numbers, int f, int part)
{
    return ((const MPI_Offset *)numbers->base_addr)[f + part * numbers->dim[0].extent];
}

static bool is_short(const CFI_cdesc_t *numbers, int ndims)
{
    return numbers != NULL && numbers->dim[0].extent < ndims;
}

/* The codes are those of the C interface for a missing argument. */
static int check_lengths(const pnc_f90_call *call, int ndims)
{
    if (is_short(call->start, ndims))
        return NC_EINVALCOORDS;
    if (is_short(call->count, ndims))
        return NC_EEDGE;
    if (is_short(call->stride, ndims))
        return NC_ESTRIDE;
    return is_short(call->map, ndims) ? NC_EINVAL : NC_NOERR;
}

static pnc_f90_shape shape_of(const pnc_f90_call *call, const pnc_f90_array *array)
{
    if (call->map != NULL)
        return PNCF90_VARM;
    if (call->stride != NULL)
        return PNCF90_VARS;
    return call->count == NULL && array->rank == 0 ? PNCF90_VAR1 : PNCF90_VARA;
}

/* An absent count is the shape of the values. p->start is the only allocation; the caller frees it. */
static int make_place(const pnc_f90_call *call, const pnc_f90_array *array, int n, pnc_f90_hyperslab *p)
{
    int err = check_lengths(call, n);

    p->shape = shape_of(call, array);
    if (err != NC_NOERR)
        return err;
    p->start = malloc(((size_t)n * 4 + 1) * sizeof *p->start);
    if (p->start == NULL)
        return NC_ENOMEM;
    p->count = p->start + n;
    p->stride = call->stride != NULL ? p->count + n : NULL;
    p->map = call->map != NULL ? p->count + 2 * n : NULL;
    for (int f = 0, c = n - 1; f < n; f++, c--) {
        p->start[c] = call->start != NULL ? number_at(call->start, f, 0) - 1 : 0;
        p->count[c] = call->count != NULL ? number_at(call->count, f, 0) : f < array->rank ? array->extent[f] : 1;
        if (p->stride != NULL)
            p->stride[c] = number_at(call->stride, f, 0);
        if (p->map != NULL)
            p->map[c] = number_at(call->map, f, 0);
    }
    return NC_NOERR;
}

/* Elements of a block. The C interface rejects counts that no array can have. */
static MPI_Offset elements_of(int ndims, const MPI_Offset *count)
{
    MPI_Offset n = 1;

    for (int i = 0; i < ndims; i++)
        if (count[i] <= 0)
            return 0;
    for (int i = 0; i < ndims; i++) {
        if (count[i] > INT64_MAX / n)
            return INT64_MAX;
        n *= count[i];
    }
    return n;
}

/* Whether the values have dimensions, longer than 1, that the variable does not have. */
static bool loses_values(const pnc_f90_call *call, const pnc_f90_array *array, int ndims)
{
    for (int i = ndims; call->count == NULL && i < array->rank; i++)
        if (array->extent[i] != 1)
            return true;
    return false;
}

/* Text for numbers, or numbers for text: a call with a datatype would detect it later than one with a type. */
static bool mixes_text(const pnc_f90_call *call, const pnc_f90_array *array)
{
    nc_type type;

    return call->buftype == NULL && ncmpi_inq_vartype(call->ncid, call->varid, &type) == NC_NOERR &&
           (type == NC_CHAR) != (array->element == MPI_CHAR);
}

static int make_buffer(const pnc_f90_call *call, const pnc_f90_array *array, int ndims, const pnc_f90_hyperslab *p,
                       pnc_f90_buffer *b)
{
    MPI_Offset wanted = elements_of(ndims, p->count), held = pnc_f90_array_count_elements(array);

    if (call->buftype != NULL)
        return take_flexible(call, array, wanted, b);
    if (p->map != NULL && pnc_f90_array_is_contiguous(array)) {
        *b = (pnc_f90_buffer){.kind = array->kind, .base = array->base};
        return map_stays_inside(ndims, p->count, p->map, held) ? NC_NOERR : NC_EINVAL;
    }
    if (loses_values(call, array, ndims))
        return take_elements(array, array->element, held, b);
    return take_values(array, wanted, b);
}

/* --- the calls --- */

/* A rank with invalid arguments still makes a collective call, which transfers nothing: start is NULL and the buffer is
 * empty text. The error found here is returned, unless that call returns one that outranks it. */
static int refuse(int err, int status)
{
    switch (status) { /* errors that such a call returns by itself */
    case NC_NOERR:
    case NC_EINVALCOORDS:
    case NC_ENULLSTART:
    case NC_EIOMISMATCH:
    case NC_ECHAR: return err;
    default: return status;
    }
}

int pnc_f90_call_execute(const pnc_f90_call *call)
{
    pnc_f90_hyperslab p = {0}, nowhere = {.shape = PNCF90_VARA};
    pnc_f90_buffer b = {0}, nothing = {.type = MPI_CHAR};
    pnc_f90_array array;
    int ndims = 0, err;

    ncmpi_inq_varndims(call->ncid, call->varid, &ndims); /* the call below returns the error */
    array = pnc_f90_array_get(call->values, ndims);
    err = mixes_text(call, &array) ? NC_ECHAR : make_place(call, &array, ndims, &p);
    if (err == NC_NOERR)
        err = make_buffer(call, &array, ndims, &p, &b);
    err = err == NC_NOERR ? pnc_f90_call_dispatch(call, &p, &b)
                          : refuse(err, pnc_f90_call_dispatch(call, &nowhere, &nothing));
    release(&b);
    free(p.start);
    return err;
}

/* --- lists of blocks --- */

/* Without num, a scalar is one request, however long the lists are. A string is one character of it, or as many as
 * the counts of all blocks say. */
static CFI_index_t requests_in(const pnc_f90_call *call, const pnc_f90_array *array)
{
    if (call->num != NULL)
        return *call->num;
    if (array->rank == 0 || (call->values->rank == 0 && call->count == NULL))
        return 1;
    return call->start->dim[1].extent;
}

static int check_lists(const pnc_f90_call *call, int ndims, CFI_index_t num)
{
    if (call->start->dim[0].extent < ndims)
        return NC_EINVALCOORDS;
    if (call->count != NULL && call->count->dim[0].extent < ndims)
        return NC_EEDGE;
    if (num > INT32_MAX || num > call->start->dim[1].extent)
        return NC_EINVAL;
    if (call->count != NULL && call->count->dim[1].extent < num)
        return NC_EINVAL;
    return NC_NOERR;
}

/* Returns the number of elements of all blocks. */
static MPI_Offset fill_places(const pnc_f90_call *call, int ndims, pnc_f90_hyperslab *p)
{
    MPI_Offset *at = p->start, elements = 0;

    for (int part = 0; part < p->num; part++) {
        p->starts[part] = at;
        p->counts[part] = at + ndims;
        at += 2 * ndims;
        for (int f = 0, c = ndims - 1; f < ndims; f++, c--) {
            p->starts[part][c] = number_at(call->start, f, part) - 1;
            p->counts[part][c] = call->count != NULL ? number_at(call->count, f, part) : 1;
        }
        if (elements_of(ndims, p->counts[part]) < INT64_MAX - elements)
            elements += elements_of(ndims, p->counts[part]);
    }
    return elements;
}

/* p->start has all numbers; the caller frees it and p->starts. */
static int make_places(const pnc_f90_call *call, const pnc_f90_array *array, int ndims, pnc_f90_hyperslab *p,
                       MPI_Offset *elements)
{
    CFI_index_t listed = requests_in(call, array);
    int err = check_lists(call, ndims, listed);
    size_t num;

    if (err != NC_NOERR)
        return err;
    p->num = (int)listed;
    num = p->num > 0 ? (size_t)p->num : 0;
    p->start = calloc(num * (size_t)ndims + 1, 2 * sizeof *p->start);
    p->starts = calloc(2 * num + 1, sizeof *p->starts);
    if (p->start == NULL || p->starts == NULL)
        return NC_ENOMEM;
    p->counts = p->starts + num;
    *elements = fill_places(call, ndims, p);
    return NC_NOERR;
}

int pnc_f90_call_execute_varn(const pnc_f90_call *call)
{
    pnc_f90_hyperslab p = {.shape = PNCF90_VARN}, nowhere = {.shape = PNCF90_VARN, .num = 1};
    pnc_f90_buffer b = {0}, nothing = {.type = MPI_CHAR};
    pnc_f90_array array;
    MPI_Offset elements = 0;
    int ndims = 0, err;

    ncmpi_inq_varndims(call->ncid, call->varid, &ndims);
    array = pnc_f90_array_get(call->values, ndims);
    err = mixes_text(call, &array) ? NC_ECHAR : make_places(call, &array, ndims, &p, &elements);
    if (err == NC_NOERR)
        err = call->buftype != NULL ? take_flexible(call, &array, elements, &b) : take_values(&array, elements, &b);
    err = err == NC_NOERR ? pnc_f90_call_dispatch(call, &p, &b)
                          : refuse(err, pnc_f90_call_dispatch(call, &nowhere, &nothing));
    release(&b);
    free(p.starts);
    free(p.start);
    return err;
}

/* --- filetypes --- */

static int call_vard(const pnc_f90_call *call, MPI_Datatype filetype, const pnc_f90_buffer *b)
{
    if (call->op == PNCF90_PUT)
        return (call->collective ? ncmpi_put_vard_all : ncmpi_put_vard)(call->ncid, call->varid, filetype, b->base,
                                                                        b->count, b->type);
    return (call->collective ? ncmpi_get_vard_all : ncmpi_get_vard)(call->ncid, call->varid, filetype, b->base,
                                                                    b->count, b->type);
}

int pnc_f90_call_execute_vard(const pnc_f90_call *call, MPI_Datatype filetype)
{
    pnc_f90_array array = pnc_f90_array_get(call->values, -1);
    pnc_f90_buffer b = {0}, nothing = {.type = MPI_CHAR};
    int err = take_flexible(call, &array, pnc_f90_array_count_elements(&array), &b);

    err = err == NC_NOERR ? call_vard(call, filetype, &b) : refuse(err, call_vard(call, filetype, &nothing));
    release(&b);
    return err;
}
