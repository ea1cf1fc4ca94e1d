/* The generics that put and get values. Each makes one call of the C interface: of a flexible function with an MPI
 * datatype for an array section, of the typed function for all else. A rank with invalid arguments makes that call too,
 * which is collective, with the error in the caller. */
#include "binding/f90/f90.h"

#include <stdint.h>
#include <stdlib.h>

/* --- the buffer --- */

static void release_buffer(pnc_f90_buffer *b)
{
    if (b->owned)
        MPI_Type_free(&b->type);
}

/* The first n elements of an array, of a type that has their size. If the array has fewer, *b has its actual size, and
 * the C interface returns the error. */
static int take_elements(const pnc_f90_array *array, MPI_Datatype element, MPI_Offset n, pnc_f90_buffer *b,
                         pnc_error *error)
{
    MPI_Offset held = pnc_f90_array_count_elements(array);
    int err;

    if (n <= 1 || n > held || pnc_f90_array_is_contiguous(array)) {
        *b = (pnc_f90_buffer){.base = array->base, .count = n > held ? held : n, .type = element};
        return NC_NOERR;
    }
    *b = (pnc_f90_buffer){.base = array->base, .count = 1};
    err = pnc_f90_array_create_type(array, element, n, &b->type);
    if (err != NC_NOERR)
        return pnc_error_set(error, err, "no memory for the MPI datatype of an array section");
    b->owned = true;
    return NC_NOERR;
}

/* The same, of the array's own type; if it is contiguous, for the function of that type. */
static int take_values(const pnc_f90_array *array, MPI_Offset n, pnc_f90_buffer *b, pnc_error *error)
{
    PNC_TRY(take_elements(array, array->element, n, b, error));
    if (!b->owned && b->count == n)
        b->kind = array->kind;
    return NC_NOERR;
}

static bool is_named(MPI_Datatype type)
{
    int integers, addresses, types, combiner;

    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/* bufcount instances of buftype, for `wanted` elements of the file. A section is valid if buftype is the type of its
 * elements; a derived datatype requires contiguous memory. */
static int take_flexible(const pnc_f90_call *call, const pnc_f90_array *array, MPI_Offset wanted, pnc_f90_buffer *b,
                         pnc_error *error)
{
    MPI_Datatype type = MPI_Type_f2c(*call->buftype);
    MPI_Offset count = call->bufcount == NULL ? NC_COUNT_IGNORE : *call->bufcount;
    int size;

    *b = (pnc_f90_buffer){.base = array->base, .count = count, .type = type};
    if (pnc_f90_array_is_contiguous(array))
        return NC_NOERR;
    if (type == MPI_DATATYPE_NULL) {
        if (array->element == MPI_DATATYPE_NULL)
            return pnc_error_set(error, NC_EINVAL,
                                 "the values are an array section of a type that netCDF does not have");
        return take_elements(array, array->element, wanted, b, error);
    }
    MPI_Type_size(type, &size);
    if (!is_named(type) || size != array->size)
        return pnc_error_set(error, NC_EINVAL,
                             "the values are an array section: buftype must be the predefined type of its elements");
    return take_elements(array, type, count < 0 ? wanted : count, b, error);
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

static const MPI_Offset *numbers_of(const CFI_cdesc_t *optional)
{
    return optional != NULL ? optional->base_addr : NULL;
}

/* The first dimension of start, count, stride or map counts the dimensions of the variable. */
static int check_list_length(const CFI_cdesc_t *optional, const char *name, const pnc_var_facts *var, int code,
                             pnc_error *error)
{
    if (optional == NULL || optional->dim[0].extent >= var->ndims)
        return NC_NOERR;
    return pnc_error_set(error, code, "%s has %lld elements%s, but variable \"%s\" has %d dimensions", name,
                         (long long)optional->dim[0].extent, optional->rank > 1 ? " in each column" : "", var->name,
                         var->ndims);
}

/* The codes are those of the C interface for a missing argument. */
static int check_lengths(const pnc_f90_call *call, const pnc_var_facts *var, pnc_error *error)
{
    PNC_TRY(check_list_length(call->start, "start", var, NC_EINVALCOORDS, error));
    PNC_TRY(check_list_length(call->count, "count", var, NC_EEDGE, error));
    PNC_TRY(check_list_length(call->stride, "stride", var, NC_ESTRIDE, error));
    return check_list_length(call->map, "map", var, NC_EINVAL, error);
}

static pnc_f90_shape shape_of(const pnc_f90_call *call, const pnc_f90_array *array)
{
    if (call->map != NULL)
        return PNCF90_VARM;
    if (call->stride != NULL)
        return PNCF90_VARS;
    return call->count == NULL && array->rank == 0 ? PNCF90_VAR1 : PNCF90_VARA;
}

/* An absent count is the shape of the values. */
static int make_slab(const pnc_f90_call *call, const pnc_f90_array *array, const pnc_var_facts *var, pnc_f90_place *p,
                     pnc_error *error)
{
    pnc_binding_indices indices = {.start = numbers_of(call->start),
                                   .count = numbers_of(call->count),
                                   .stride = numbers_of(call->stride),
                                   .imap = numbers_of(call->map)};

    PNC_TRY(check_lengths(call, var, error));
    if (call->count == NULL) {
        indices.count = array->extent;
        indices.unit_counts = array->rank < var->ndims ? var->ndims - array->rank : 0;
    }
    return pnc_binding_hyperslab_init(&indices, var->ndims, &p->slab, error);
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

static int make_buffer(const pnc_f90_call *call, const pnc_f90_array *array, int ndims, const pnc_f90_place *p,
                       pnc_f90_buffer *b, pnc_error *error)
{
    MPI_Offset wanted = elements_of(ndims, p->slab.count), held = pnc_f90_array_count_elements(array);

    if (call->buftype != NULL)
        return take_flexible(call, array, wanted, b, error);
    if (call->map != NULL && pnc_f90_array_is_contiguous(array)) {
        *b = (pnc_f90_buffer){.kind = array->kind, .base = array->base};
        if (!map_stays_inside(ndims, p->slab.count, p->slab.imap, held))
            return pnc_error_set(error, NC_EINVAL, "map exceeds the %lld elements of the values", (long long)held);
        return NC_NOERR;
    }
    if (loses_values(call, array, ndims))
        return take_elements(array, array->element, held, b, error);
    return take_values(array, wanted, b, error);
}

/* --- the calls --- */

/* Whether the function of the type of the values rejects the call before it reads indices and values: there is no such
 * variable, or it holds text and the values are numbers, or the reverse. A flexible function would reject these after
 * the indices. */
static bool has_wrong_variable(const pnc_f90_call *call, const pnc_f90_array *array, const pnc_var_facts *var)
{
    if (var->name == NULL)
        return true;
    return call->buftype == NULL && (var->type == NC_CHAR) != (array->element == MPI_CHAR);
}

/* Placeholder for a call that C rejects before it reads values. */
static pnc_f90_buffer no_values(const pnc_f90_call *call, const pnc_f90_array *array)
{
    return (pnc_f90_buffer){.kind = call->buftype == NULL ? array->kind : NC_NAT, .type = MPI_CHAR};
}

/* The values for a variable without dimensions, which has one character: of a longer string the first one, unless
 * others would be lost. A get makes the others blank. */
static pnc_f90_array fit_string(const pnc_f90_call *call, const pnc_var_facts *var, const pnc_f90_array *array)
{
    bool is_get = call->op == PNCF90_GET || call->op == PNCF90_IGET;
    pnc_f90_array fitted = *array;

    if (var->type != NC_CHAR || var->ndims > 0 || array->element != MPI_CHAR || call->values->rank > 0 ||
        array->extent[0] <= 1 || call->buftype != NULL)
        return fitted;
    for (MPI_Offset i = 1; i < array->extent[0]; i++) {
        if (is_get)
            array->base[i] = ' ';
        else if (array->base[i] != ' ')
            return fitted;
    }
    fitted.rank = 0;
    return fitted;
}

/* Whether there are indices and values to pass to the C function. */
static bool prepare_place(const pnc_f90_call *call, const pnc_f90_array *array, const pnc_var_facts *var,
                          pnc_f90_place *p, pnc_f90_buffer *b, pnc_error *error)
{
    pnc_f90_array fitted = fit_string(call, var, array);

    p->shape = shape_of(call, &fitted);
    if (has_wrong_variable(call, &fitted, var) || make_slab(call, &fitted, var, p, error) != NC_NOERR)
        return false;
    return make_buffer(call, &fitted, var->ndims, p, b, error) == NC_NOERR;
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

static int check_columns(const CFI_cdesc_t *optional, const char *name, CFI_index_t num, pnc_error *error)
{
    if (optional == NULL || (num <= optional->dim[1].extent && num <= INT32_MAX))
        return NC_NOERR;
    return pnc_error_set(error, NC_EINVAL, "%s has %lld columns, but the call has %lld requests", name,
                         (long long)optional->dim[1].extent, (long long)num);
}

/* `elements`: of all blocks. */
static int make_list(const pnc_f90_call *call, const pnc_f90_array *array, const pnc_var_facts *var, pnc_f90_place *p,
                     MPI_Offset *elements, pnc_error *error)
{
    CFI_index_t num = requests_in(call, array);
    pnc_binding_blocks blocks = {.starts = numbers_of(call->start),
                                 .counts = numbers_of(call->count),
                                 .start_rows = (size_t)call->start->dim[0].extent};

    PNC_TRY(check_list_length(call->start, "start", var, NC_EINVALCOORDS, error));
    PNC_TRY(check_list_length(call->count, "count", var, NC_EEDGE, error));
    PNC_TRY(check_columns(call->start, "start", num, error));
    PNC_TRY(check_columns(call->count, "count", num, error));
    if (call->count != NULL)
        blocks.count_rows = (size_t)call->count->dim[0].extent;
    p->num = blocks.num = (int)num;
    PNC_TRY(pnc_binding_list_init(&blocks, var->ndims, &p->list, error));
    *elements = 0;
    for (int i = 0; i < p->num; i++) {
        MPI_Offset more = elements_of(var->ndims, p->list.counts[i]);

        if (more < INT64_MAX - *elements)
            *elements += more;
    }
    return NC_NOERR;
}

static bool prepare_varn(const pnc_f90_call *call, const pnc_f90_array *array, const pnc_var_facts *var,
                         pnc_f90_place *p, pnc_f90_buffer *b, pnc_error *error)
{
    MPI_Offset elements;

    if (has_wrong_variable(call, array, var) || make_list(call, array, var, p, &elements, error) != NC_NOERR)
        return false;
    if (call->buftype != NULL)
        return take_flexible(call, array, elements, b, error) == NC_NOERR;
    return take_values(array, elements, b, error) == NC_NOERR;
}

/* --- the calls --- */

typedef bool (*preparation)(const pnc_f90_call *call, const pnc_f90_array *array, const pnc_var_facts *var,
                            pnc_f90_place *p, pnc_f90_buffer *b, pnc_error *error);

static int execute_call(const pnc_f90_call *call, pnc_f90_shape shape, preparation prepare_shape)
{
    pnc_f90_place p = {.shape = shape};
    pnc_f90_buffer b = {0};
    pnc_var_facts var = {0}; /* without such a variable, the C function returns the error */
    pnc_f90_array array;
    pnc_caller caller;
    int err;

    pnc_dataset_caller_begin(&caller, PNC_LANGUAGE_F90, call->name, NULL, call->ncid);
    pnc_dataset_caller_inquire_var(call->ncid, call->varid, &var);
    array = pnc_f90_array_get(call->values, var.ndims);
    if (!prepare_shape(call, &array, &var, &p, &b, &caller.error))
        b = no_values(call, &array);
    err = pnc_f90_call_dispatch(call, &caller, &p, &b);
    release_buffer(&b);
    pnc_binding_hyperslab_free(&p.slab);
    pnc_binding_list_free(&p.list);
    return pnc_dataset_caller_end(&caller, err);
}

int pnc_f90_call_execute(const pnc_f90_call *call)
{
    return execute_call(call, PNCF90_VARA, prepare_place);
}

int pnc_f90_call_execute_varn(const pnc_f90_call *call)
{
    return execute_call(call, PNCF90_VARN, prepare_varn);
}

/* --- filetypes --- */

int pnc_f90_call_execute_vard(const pnc_f90_call *call, MPI_Datatype filetype)
{
    pnc_f90_array array = pnc_f90_array_get(call->values, -1);
    MPI_Offset held = pnc_f90_array_count_elements(&array);
    pnc_f90_buffer b = {0};
    pnc_caller caller;
    int err;

    pnc_dataset_caller_begin(&caller, PNC_LANGUAGE_F90, call->name, NULL, call->ncid);
    if (take_flexible(call, &array, held, &b, &caller.error) != NC_NOERR)
        b = (pnc_f90_buffer){.type = MPI_CHAR}; /* no values */
    err = pnc_f90_call_dispatch_vard(call, &caller, filetype, &b);
    release_buffer(&b);
    return pnc_dataset_caller_end(&caller, err);
}
