/* The generics that move values. Each becomes one call of a flexible function of the C interface: start and count change
 * their order and base, and an array section becomes an MPI datatype. */
#include "binding/f90/f90.h"

#include <stdint.h>
#include <stdlib.h>

/* --- the buffer --- */

/* What a flexible function takes for the buffer. */
typedef struct buffer {
    void *base;
    MPI_Offset count;
    MPI_Datatype type;
    bool owned; /* the type is ours to free */
} buffer;

static void release(buffer *b)
{
    if (b->owned)
        MPI_Type_free(&b->type);
}

/* The first n elements of an array, of a type that has their size. A mismatch of numbers is left to the C interface to
 * tell: it is given what the array really holds. */
static int take_elements(const pnc_f90_array *array, MPI_Datatype element, MPI_Offset n, buffer *b)
{
    MPI_Offset held = pnc_f90_elements(array);
    int err;

    if (n <= 1 || n > held || pnc_f90_contiguous(array)) {
        *b = (buffer){array->base, n > held ? held : n, element, false};
        return NC_NOERR;
    }
    b->base = array->base;
    b->count = 1;
    err = pnc_f90_section_type(array, element, n, &b->type);
    b->owned = err == NC_NOERR;
    return err;
}

static bool is_named(MPI_Datatype type)
{
    int integers, addresses, types, combiner;

    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/* bufcount instances of buftype, for `wanted` elements of the file. A section is taken where the type is that of its
 * elements; a type that describes memory by itself needs memory without gaps to lie over. */
static int take_flexible(const pnc_f90_call *call, const pnc_f90_array *array, MPI_Offset wanted, buffer *b)
{
    MPI_Datatype type = MPI_Type_f2c(*call->buftype);
    MPI_Offset count = call->bufcount == NULL ? NC_COUNT_IGNORE : *call->bufcount;
    int size;

    *b = (buffer){array->base, count, type, false};
    if (pnc_f90_contiguous(array))
        return NC_NOERR;
    if (type == MPI_DATATYPE_NULL)
        return array->element == MPI_DATATYPE_NULL ? NC_EINVAL : take_elements(array, array->element, wanted, b);
    MPI_Type_size(type, &size);
    if (!is_named(type) || size != array->size)
        return NC_EINVAL;
    return take_elements(array, type, count < 0 ? wanted : count, b);
}

/* True where a map, in elements, stays among the `held` elements that follow the first. */
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

/* --- places in the file --- */

/* start, count .. in C's order and base; NULL where the C interface has a default. */
typedef struct place {
    int ndims;
    MPI_Offset *numbers, *start, *count, *stride, *map;
} place;

/* numbers(f), and numbers(f, part) of a list, counted from 0. These arrays are declared contiguous. */
static MPI_Offset number_at(const CFI_cdesc_t *numbers, int f, int part)
{
    return ((const MPI_Offset *)numbers->base_addr)[f + part * numbers->dim[0].extent];
}

static bool is_short(const CFI_cdesc_t *numbers, int ndims)
{
    return numbers != NULL && numbers->dim[0].extent < ndims;
}

/* The codes are those that the C interface has for an argument that is missing altogether. */
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

/* Room for the numbers and then the numbers; without a count it is the shape of the values. */
static int make_place(const pnc_f90_call *call, const pnc_f90_array *array, place *p)
{
    int n = p->ndims, err = check_lengths(call, n);

    if (err != NC_NOERR)
        return err;
    p->numbers = malloc(((size_t)n * 4 + 1) * sizeof *p->numbers);
    if (p->numbers == NULL)
        return NC_ENOMEM;
    p->start = p->numbers;
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

/* Elements of a block. Counts that no array can have are left to the C interface to refuse. */
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

/* Values have been given for dimensions that the variable does not have. */
static bool loses_values(const pnc_f90_call *call, const pnc_f90_array *array, int ndims)
{
    for (int i = ndims; call->count == NULL && i < array->rank; i++)
        if (array->extent[i] != 1)
            return true;
    return false;
}

/* Text and numbers, of which the C interface can tell only later, as it is given a datatype. */
static bool mixes_text(const pnc_f90_call *call, const pnc_f90_array *array)
{
    nc_type type;

    return call->buftype == NULL && ncmpi_inq_vartype(call->ncid, call->varid, &type) == NC_NOERR &&
           (type == NC_CHAR) != (array->element == MPI_CHAR);
}

static int make_buffer(const pnc_f90_call *call, const pnc_f90_array *array, const place *p, buffer *b)
{
    MPI_Offset wanted = elements_of(p->ndims, p->count), held = pnc_f90_elements(array);

    if (call->buftype != NULL)
        return take_flexible(call, array, wanted, b);
    if (p->map != NULL && pnc_f90_contiguous(array)) {
        *b = (buffer){array->base, NC_COUNT_IGNORE, array->element, false};
        return map_stays_inside(p->ndims, p->count, p->map, held) ? NC_NOERR : NC_EINVAL;
    }
    return take_elements(array, array->element, loses_values(call, array, p->ndims) ? held : wanted, b);
}

/* --- the calls --- */

static int call_varm(const pnc_f90_call *call, const place *p, const buffer *b)
{
    int ncid = call->ncid, varid = call->varid;

    switch (call->op) {
    case PNCF90_PUT:
        return (call->collective ? ncmpi_put_varm_all : ncmpi_put_varm)(ncid, varid, p->start, p->count, p->stride,
                                                                        p->map, b->base, b->count, b->type);
    case PNCF90_GET:
        return (call->collective ? ncmpi_get_varm_all : ncmpi_get_varm)(ncid, varid, p->start, p->count, p->stride,
                                                                        p->map, b->base, b->count, b->type);
    case PNCF90_IPUT:
        return ncmpi_iput_varm(ncid, varid, p->start, p->count, p->stride, p->map, b->base, b->count, b->type, call->req);
    case PNCF90_IGET:
        return ncmpi_iget_varm(ncid, varid, p->start, p->count, p->stride, p->map, b->base, b->count, b->type, call->req);
    default:
        return ncmpi_bput_varm(ncid, varid, p->start, p->count, p->stride, p->map, b->base, b->count, b->type, call->req);
    }
}

/* A rank whose arguments are wrong still reaches a collective call, with one that selects nothing: no start and an empty
 * buffer are refused. The error found here is the answer, unless that call meets one that outranks it. */
static int refuse(int err, int status)
{
    return status == NC_EINVALCOORDS || status == NC_ENULLSTART || status == NC_EIOMISMATCH ? err : status;
}

int pnc_f90_var(const pnc_f90_call *call)
{
    place p = {0}, nowhere = {0};
    buffer b = {0}, nothing = {.type = MPI_CHAR};
    pnc_f90_array array;
    int err;

    ncmpi_inq_varndims(call->ncid, call->varid, &p.ndims); /* an error will meet the call below as well */
    array = pnc_f90_array_of(call->values, p.ndims);
    err = mixes_text(call, &array) ? NC_ECHAR : make_place(call, &array, &p);
    if (err == NC_NOERR)
        err = make_buffer(call, &array, &p, &b);
    err = err == NC_NOERR ? call_varm(call, &p, &b) : refuse(err, call_varm(call, &nowhere, &nothing));
    release(&b);
    free(p.numbers);
    return err;
}

/* --- lists of blocks --- */

typedef struct places {
    int num;
    MPI_Offset *numbers, **starts, **counts;
    MPI_Offset elements;
} places;

static int check_lists(const pnc_f90_call *call, int ndims)
{
    CFI_index_t listed = call->start->dim[1].extent;

    if (call->start->dim[0].extent < ndims)
        return NC_EINVALCOORDS;
    if (call->count != NULL && call->count->dim[0].extent < ndims)
        return NC_EEDGE;
    if (listed > INT32_MAX || (call->num != NULL && *call->num > listed))
        return NC_EINVAL;
    if (call->count != NULL && call->count->dim[1].extent < (call->num != NULL ? *call->num : listed))
        return NC_EINVAL;
    return NC_NOERR;
}

static void fill_places(const pnc_f90_call *call, int ndims, places *p)
{
    MPI_Offset *at = p->numbers;

    for (int part = 0; part < p->num; part++) {
        p->starts[part] = at;
        p->counts[part] = at + ndims;
        at += 2 * ndims;
        for (int f = 0, c = ndims - 1; f < ndims; f++, c--) {
            p->starts[part][c] = number_at(call->start, f, part) - 1;
            p->counts[part][c] = call->count != NULL ? number_at(call->count, f, part) : 1;
        }
        if (elements_of(ndims, p->counts[part]) < INT64_MAX - p->elements)
            p->elements += elements_of(ndims, p->counts[part]);
    }
}

static int make_places(const pnc_f90_call *call, int ndims, places *p)
{
    int err = check_lists(call, ndims);
    size_t num;

    if (err != NC_NOERR)
        return err;
    p->num = call->num != NULL ? *call->num : (int)call->start->dim[1].extent;
    num = p->num > 0 ? (size_t)p->num : 0;
    p->numbers = calloc(num * (size_t)ndims + 1, 2 * sizeof *p->numbers);
    p->starts = calloc(2 * num + 1, sizeof *p->starts);
    if (p->numbers == NULL || p->starts == NULL)
        return NC_ENOMEM;
    p->counts = p->starts + num;
    fill_places(call, ndims, p);
    return NC_NOERR;
}

static int call_varn(const pnc_f90_call *call, const places *p, const buffer *b)
{
    int ncid = call->ncid, varid = call->varid;

    switch (call->op) {
    case PNCF90_PUT:
        return (call->collective ? ncmpi_put_varn_all : ncmpi_put_varn)(ncid, varid, p->num, p->starts, p->counts,
                                                                        b->base, b->count, b->type);
    case PNCF90_GET:
        return (call->collective ? ncmpi_get_varn_all : ncmpi_get_varn)(ncid, varid, p->num, p->starts, p->counts,
                                                                        b->base, b->count, b->type);
    case PNCF90_IPUT:
        return ncmpi_iput_varn(ncid, varid, p->num, p->starts, p->counts, b->base, b->count, b->type, call->req);
    case PNCF90_IGET:
        return ncmpi_iget_varn(ncid, varid, p->num, p->starts, p->counts, b->base, b->count, b->type, call->req);
    default:
        return ncmpi_bput_varn(ncid, varid, p->num, p->starts, p->counts, b->base, b->count, b->type, call->req);
    }
}

int pnc_f90_varn(const pnc_f90_call *call)
{
    places p = {0}, nowhere = {.num = 1};
    buffer b = {0}, nothing = {.type = MPI_CHAR};
    pnc_f90_array array;
    int ndims = 0, err;

    ncmpi_inq_varndims(call->ncid, call->varid, &ndims);
    array = pnc_f90_array_of(call->values, ndims);
    err = mixes_text(call, &array) ? NC_ECHAR : make_places(call, ndims, &p);
    if (err == NC_NOERR)
        err = call->buftype != NULL ? take_flexible(call, &array, p.elements, &b)
                                    : take_elements(&array, array.element, p.elements, &b);
    err = err == NC_NOERR ? call_varn(call, &p, &b) : refuse(err, call_varn(call, &nowhere, &nothing));
    release(&b);
    free(p.starts);
    free(p.numbers);
    return err;
}

/* --- places given as an MPI datatype --- */

static int call_vard(const pnc_f90_call *call, MPI_Datatype filetype, const buffer *b)
{
    if (call->op == PNCF90_PUT)
        return (call->collective ? ncmpi_put_vard_all : ncmpi_put_vard)(call->ncid, call->varid, filetype, b->base,
                                                                        b->count, b->type);
    return (call->collective ? ncmpi_get_vard_all : ncmpi_get_vard)(call->ncid, call->varid, filetype, b->base, b->count,
                                                                    b->type);
}

int pnc_f90_vard(const pnc_f90_call *call, MPI_Datatype filetype)
{
    pnc_f90_array array = pnc_f90_array_of(call->values, -1);
    buffer b = {0}, nothing = {.type = MPI_CHAR};
    int err = take_flexible(call, &array, pnc_f90_elements(&array), &b);

    err = err == NC_NOERR ? call_vard(call, filetype, &b) : refuse(err, call_vard(call, filetype, &nothing));
    release(&b);
    return err;
}
