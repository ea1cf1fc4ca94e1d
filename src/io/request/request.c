/* Makes a request from the arguments of a call: checks in the documented order of precedence. */
#include "io/request/request.h"

#include <assert.h>

#include "base/memory.h"
#include "base/minmax.h"

static pnc_slab_arguments arguments_of(const pnc_call *call)
{
    bool has_stride = call->shape == PNC_VARS || call->shape == PNC_VARM, is_list = call->shape == PNC_VARN;

    return (pnc_slab_arguments){.n = !is_list ? 1 : pnc_max64(call->num, 0),
                                .is_list = is_list,
                                .start = call->start,
                                .count = call->count,
                                .stride = has_stride ? call->stride : NULL,
                                .starts = call->starts,
                                .counts = call->counts};
}

#define ARRAYS_NUMBERS (int64_t)((sizeof(pnc_slab_arrays) + sizeof(int64_t) - 1) / sizeof(int64_t))

/* Of all hyperslabs; at least those of an extent each. */
static int64_t count_numbers(const pnc_slab_arguments *given, int ndims)
{
    return given->n * (ndims > 0 ? ndims : 1) * (given->stride != NULL ? 3 : 2);
}

/* A pending request must not depend on the caller's arrays. */
static bool is_long(const pnc_call *call, const pnc_slab_arguments *given, int ndims)
{
    bool is_blocking = call->op == PNC_OP_PUT || call->op == PNC_OP_GET;

    return given->is_list && is_blocking && count_numbers(given, ndims) > PNC_LIST_NUMBERS;
}

int64_t pnc_io_request_count_numbers(const pnc_io_context *io, const pnc_call *call)
{
    const pnc_slab_arguments given = arguments_of(call);
    int ndims;

    if (call->varid < 0 || call->varid >= io->model->nvars)
        return 0;
    ndims = io->model->vars[call->varid]->ndims;
    return is_long(call, &given, ndims) ? PNC_LIST_NUMBERS + ARRAYS_NUMBERS + 2 * ndims : count_numbers(&given, ndims);
}

/* --- hyperslabs --- */

/* Add the elements of one hyperslab to the request's. The check assumes elements of 8 bytes, the largest in memory
 * and file, so that no size in bytes overflows later. */
static int add_elements(pnc_io_context *io, pnc_elements *e, int ndims, const int64_t *count)
{
    int64_t bytes = 8;
    bool overflows = false;

    for (int i = 0; i < ndims; i++)
        if (count[i] == 0)
            return NC_NOERR;
    for (int i = 0; i < ndims && !overflows; i++)
        overflows = pnc_size_multiply(bytes, count[i], &bytes) != 0;
    if (overflows || pnc_size_add(e->count, bytes / 8, &e->count) != 0 || e->count > INT64_MAX / 8)
        return pnc_error_set(io->file->error, NC_EINVAL, "variable \"%s\": the request is larger than any memory",
                             io->model->vars[e->varid]->name);
    return NC_NOERR;
}

/* Check a hyperslab. Messages name the dimensions: the names are collected only after an error. */
static int check_bounds(pnc_io_context *io, const pnc_var *var, const pnc_array *array, const pnc_slab *s,
                        pnc_bounds how)
{
    int err = pnc_select_hyperslab_check(array, s->start, s->count, s->stride, how, NULL);
    pnc_array named;
    const char **names;

    if (err == NC_NOERR)
        return NC_NOERR;
    named = *array;
    names = pnc_memory_alloc(var->ndims, sizeof *names);
    for (int i = 0; names != NULL && i < var->ndims; i++)
        names[i] = io->model->dims[var->dimids[i]]->name;
    named.dim_names = names;
    err = pnc_select_hyperslab_check(&named, s->start, s->count, s->stride, how, io->file->error);
    pnc_memory_free(names);
    return err;
}

/* The first unlimited dimension may be any one of the variable. */
static bool is_general(const pnc_io_context *io, const pnc_var *var)
{
    return io->model->nunlimited > 1 || var->inner_unlimited;
}

static int64_t count_needed(const pnc_var *var, const pnc_slab *s, int dimid)
{
    int64_t needed = 0;

    for (int i = 0; i < var->ndims; i++) {
        if (s->count[i] == 0)
            return 0;
        if (var->dimids[i] == dimid)
            needed = pnc_max64(needed, s->start[i] + (s->count[i] - 1) * (s->stride != NULL ? s->stride[i] : 1) + 1);
    }
    return needed;
}

int64_t pnc_io_list_get_length(const pnc_io_context *io, const pnc_request_list *list, int dimid)
{
    int64_t length = 0;

    for (int64_t i = 0; i < list->n; i++) {
        const pnc_elements *e = &list->at[i]->elements;
        const pnc_var *var = io->model->vars[e->varid];

        for (int64_t k = 0; e->form == PNC_SLABS && e->count > 0 && k < e->n; k++) {
            pnc_slab s = pnc_mapping_slab_get(e, var->ndims, k);

            length = pnc_max64(length, count_needed(var, &s, dimid));
        }
    }
    return length;
}

/* Store the numbers of hyperslab i and check it. */
static int take_slab(pnc_io_context *io, const pnc_slab_arguments *given, const pnc_array *array, pnc_bounds how,
                     int64_t i, pnc_request *r)
{
    const pnc_var *var = io->model->vars[r->elements.varid];
    pnc_slab s = pnc_mapping_slab_take(&r->elements, given, var->ndims, i), known = s;
    bool has_count = given->is_list ? given->counts != NULL && given->counts[i] != NULL : given->count != NULL;
    int64_t records;

    if (given->is_list && var->ndims > 0 && (given->starts == NULL || given->starts[i] == NULL))
        return pnc_error_set(io->file->error, NC_ENULLSTART, "variable \"%s\": starts[%lld] is NULL", var->name,
                             (long long)i);
    if (!given->is_list && given->start == NULL)
        known.start = NULL;
    if (!has_count)
        known.count = NULL;
    PNC_TRY(check_bounds(io, var, array, &known, how));
    if (!how.growing)
        records = 0;
    else if (is_general(io, var))
        records = count_needed(var, &s, io->model->recdim);
    else
        records = pnc_select_hyperslab_count_records(array, s.start, s.count, s.stride);
    if (records > 0)
        PNC_TRY(io->addressing->check_records(io->model, var, s.start[0], records, io->file->error));
    r->numrecs = pnc_max64(records, r->numrecs);
    return add_elements(io, &r->elements, var->ndims, s.count);
}

/* A variable of which another dimension than the first is unlimited. The caller frees `lengths`. */
static int describe_lengths(pnc_io_context *io, int varid, pnc_bounds *how)
{
    const pnc_var *var = io->model->vars[varid];
    int64_t *lengths = pnc_memory_alloc(var->ndims, sizeof *lengths + sizeof *how->unlimited);
    bool *unlimited = (bool *)(lengths + var->ndims);

    if (lengths == NULL)
        return pnc_io_request_fail(io, varid, NC_ENOMEM);
    for (int i = 0; i < var->ndims; i++) {
        lengths[i] = pnc_format_var_get_length(io->model, var, i);
        unlimited[i] = io->model->dims[var->dimids[i]]->unlimited;
    }
    how->lengths = lengths;
    how->unlimited = unlimited;
    return NC_NOERR;
}

static int take_given_slabs(pnc_io_context *io, const pnc_slab_arguments *given, const pnc_array *array, pnc_bounds how,
                            pnc_request *r)
{
    int err = NC_NOERR;

    if (io->model->vars[r->elements.varid]->inner_unlimited)
        PNC_TRY(describe_lengths(io, r->elements.varid, &how));
    for (int64_t i = 0; i < given->n && err == NC_NOERR; i++)
        err = take_slab(io, given, array, how, i, r);
    pnc_memory_free((int64_t *)how.lengths);
    return err;
}

/* PNC_VAR: the whole variable, all existing records. */
static int take_slabs(pnc_io_context *io, const pnc_call *call, const pnc_slab_arguments *given,
                      const pnc_mapping *mapping, pnc_request *r)
{
    const pnc_var *var = io->model->vars[call->varid];
    int64_t *start = r->elements.numbers, *count = start + mapping->array.ndims;
    pnc_bounds how = {.relax = io->relax,
                      .growing = r->direction == PNC_PUT,
                      .single = call->shape == PNC_VAR1 || call->shape == PNC_VARN,
                      .numrecs = pnc_format_var_get_records(io->model, var)};

    if (call->shape != PNC_VAR)
        return take_given_slabs(io, given, &mapping->array, how, r);
    for (int i = 0; i < mapping->array.ndims; i++) {
        start[i] = 0;
        count[i] = pnc_format_var_get_length(io->model, var, i);
    }
    return add_elements(io, &r->elements, mapping->array.ndims, count);
}

/* Make the selection of the only hyperslab, of a call that is executed at once. */
static int make_ready(pnc_io_context *io, const pnc_mapping *mapping, pnc_elements *e, pnc_selection *ready)
{
    const pnc_selection *made;
    int err;

    if (e->form != PNC_SLABS || e->n != 1 || e->in_arrays || e->count == 0)
        return NC_NOERR;
    err = pnc_mapping_selection_get(mapping, e, 0, ready, &made);
    if (err != NC_NOERR)
        return pnc_io_request_fail(io, e->varid, err);
    e->selection = made;
    e->is_ready = true;
    return NC_NOERR;
}

static bool make_extents(const pnc_io_context *io, const pnc_call *call, const pnc_slab_arguments *given,
                         const pnc_mapping *mapping, pnc_request *r)
{
    bool has_count = call->shape == PNC_VARN || call->shape == PNC_VAR1 || call->count != NULL;
    const pnc_var *var = io->model->vars[call->varid];
    int64_t most, records;

    if (is_general(io, var))
        return false;
    if (call->shape == PNC_VAR)
        return pnc_mapping_extent_make_whole(mapping, &r->elements);
    if (!has_count || given->stride != NULL || (call->shape == PNC_VARM && call->imap != NULL))
        return false;
    most = r->direction == PNC_GET ? pnc_format_var_get_records(io->model, var)
                                   : io->addressing->get_most_records(io->model);
    if (!pnc_mapping_extents_make(mapping, given, most, r->elements.in_arrays ? PNC_LIST_NUMBERS / 2 : given->n,
                                  &r->elements, &records))
        return false;
    r->numrecs = r->direction == PNC_PUT ? records : 0;
    return true;
}

/* Check the number of blocks of varn: at most 1 for a scalar variable, which has no start. */
static int check_blocks(pnc_io_context *io, const pnc_call *call, const pnc_var *var)
{
    if (call->num != 0 && call->starts == NULL && var->ndims > 0)
        return pnc_error_set(io->file->error, NC_ENULLSTART, "variable \"%s\": starts is NULL", var->name);
    if (call->num < 0 || (call->num > 1 && var->ndims == 0))
        return pnc_error_set(io->file->error, NC_EINVAL,
                             "variable \"%s\" with %d dimensions: num is %d: must not be "
                             "negative, and at most 1 without dimensions",
                             var->name, var->ndims, call->num);
    return NC_NOERR;
}

int pnc_io_request_check_target(pnc_io_context *io, const pnc_call *call)
{
    const pnc_var *var;

    PNC_TRY(pnc_format_var_check(io->model, call->varid, io->file->error));
    var = io->model->vars[call->varid];
    if (pnc_type_get_size(var->type) == 0) /* of a netCDF-4 file: inquiries know it */
        return pnc_error_set(io->file->error, NC_EBADTYPE, "variable \"%s\" has type %s", var->name,
                             pnc_type_explain_invalid(var->type, pnc_error_get_language(io->file->error)).text);
    if (call->mem == PNC_FLEX)
        return NC_NOERR;
    return pnc_io_conversion_check(io, var, call->mem);
}

/* Before the memory for extents: the arrays, and the numbers of one hyperslab. */
static void leave_in_arrays(const pnc_slab_arguments *given, int ndims, int64_t *numbers, pnc_elements *e)
{
    e->in_arrays = true;
    e->arrays = (pnc_slab_arrays *)(void *)numbers;
    *e->arrays = (pnc_slab_arrays){.given = *given, .numbers = numbers + ARRAYS_NUMBERS};
    e->numbers = e->arrays->numbers + 2 * ndims;
}

/* Extents, if all hyperslabs are contiguous, need no other checks. An invalid hyperslab has no extent: take_slabs finds
 * what is wrong, in the documented order of errors. */
static int set_elements(pnc_io_context *io, const pnc_call *call, int64_t *numbers, pnc_selection *ready,
                        pnc_request *r)
{
    const pnc_mapping mapping = pnc_io_context_get_mapping(io, call->varid);
    const pnc_slab_arguments given = arguments_of(call);
    pnc_elements *e = &r->elements;

    e->elem_size = (uint8_t)mapping.array.elem_size;
    e->strided = given.stride != NULL;
    e->numbers = numbers;
    e->n = given.n;
    if (given.is_list)
        PNC_TRY(check_blocks(io, call, io->model->vars[call->varid]));
    if (is_long(call, &given, mapping.array.ndims))
        leave_in_arrays(&given, mapping.array.ndims, numbers, e);
    if (make_extents(io, call, &given, &mapping, r))
        return NC_NOERR;
    PNC_TRY(take_slabs(io, call, &given, &mapping, r));
    return ready != NULL ? make_ready(io, &mapping, e, ready) : NC_NOERR;
}

int pnc_io_request_init(pnc_io_context *io, const pnc_call *call, int64_t *numbers, pnc_selection *ready,
                        pnc_request *r)
{
    *r = (pnc_request){.direction = pnc_io_op_get_direction(call->op), .elements = {.varid = call->varid}};
    PNC_TRY(pnc_io_request_check_target(io, call));
    PNC_TRY(pnc_error_check_arguments(io->file->error));
    PNC_TRY(set_elements(io, call, numbers, ready, r));
    return pnc_io_request_set_memory(io, call, r);
}

static int check_places_of_slabs(pnc_io_context *io, const pnc_elements *e, const pnc_mapping *mapping)
{
    const pnc_var *var = io->model->vars[e->varid];
    pnc_bounds how = {.relax = io->relax, .growing = true, .numrecs = pnc_format_var_get_records(io->model, var)};
    int err = NC_NOERR;

    if (var->inner_unlimited)
        PNC_TRY(describe_lengths(io, e->varid, &how));
    for (int64_t k = 0; k < e->n && err == NC_NOERR; k++) {
        const pnc_slab s = pnc_mapping_slab_get(e, var->ndims, k);

        err = check_bounds(io, var, &mapping->array, &s, how);
    }
    pnc_memory_free((int64_t *)how.lengths);
    return err;
}

int pnc_io_request_check_place(pnc_io_context *io, const pnc_request *r)
{
    const pnc_mapping mapping = pnc_io_context_get_mapping(io, r->elements.varid);
    int64_t most;

    if (r->elements.form == PNC_SLABS)
        return check_places_of_slabs(io, &r->elements, &mapping);
    most = pnc_mapping_records_get_most(&mapping);
    if (r->numrecs <= most)
        return NC_NOERR;
    return pnc_error_set(io->file->error, NC_EINVALCOORDS,
                         "variable \"%s\": a pending request needs %lld records, but a file can hold at most %lld",
                         mapping.array.name, (long long)r->numrecs, (long long)most);
}

void pnc_io_request_free(pnc_request *r)
{
    pnc_select_flat_free(r->flat);
    r->flat = NULL;
    if (r->elements.form == PNC_FILETYPE) {
        pnc_select_flat_free(r->elements.filetype);
        r->elements.filetype = NULL;
    }
}

int pnc_io_request_fail(pnc_io_context *io, int varid, int err)
{
    return pnc_error_set(io->file->error, err, "variable \"%s\": %s", io->model->vars[varid]->name,
                         pnc_error_get_text(err));
}

int pnc_io_request_init_converter(pnc_io_context *io, const pnc_request *r, pnc_packer *packer)
{
    const pnc_var *var = io->model->vars[r->elements.varid];
    pnc_conversion conversion = {(pnc_direction)r->direction, var->type, r->mem,
                                 pnc_format_var_get_encoding(io->model, var), NULL};
    unsigned char fill[8];
    int err;

    if (r->external) {
        pnc_convert_packer_init_copy(packer, (pnc_direction)r->direction, r->memory, r->elements.elem_size);
        return NC_NOERR;
    }
    if (r->direction == PNC_PUT && pnc_convert_may_fail(var->type, r->mem)) {
        pnc_format_var_get_fill_value(io->model, var, fill);
        conversion.fill = fill;
    }
    err = pnc_convert_packer_init(packer, &conversion, r->flat, r->memory);
    return err == NC_NOERR ? NC_NOERR : pnc_io_request_fail(io, r->elements.varid, err);
}

/* Values that mean something else than a number stay as they are. */
static void keep_special_values(const pnc_model *model, const pnc_var *var, pnc_quantizer *q)
{
    const pnc_encoding encoding = pnc_format_var_get_encoding(model, var);
    int at = pnc_format_atts_find(&var->atts, "missing_value");
    const pnc_att *missing = at < 0 ? NULL : var->atts.at[at];
    pnc_mem_type mem = pnc_type_get_mem_type(var->type);
    unsigned char fill[8];
    pnc_kernel kernel;

    pnc_format_var_get_fill_value(model, var, fill);
    pnc_convert_kernel_find(PNC_GET, var->type, mem, encoding, NULL)(q->kept[q->nkept++], fill, 1, NULL);
    if (missing == NULL)
        return;
    kernel = pnc_convert_kernel_find(PNC_GET, missing->type, mem, pnc_format_model_get_encoding(model), NULL);
    for (int64_t i = 0; kernel != NULL && i < missing->len && q->nkept < PNC_KEPT_MOST; i++)
        kernel(q->kept[q->nkept++], (char *)missing->value + i * (int64_t)pnc_type_get_size(missing->type), 1,
               q->kept[0]);
}

static pnc_quantizer make_quantizer(const pnc_model *model, const pnc_var *var, pnc_mem_type mem)
{
    pnc_quantizer q = {.mode = (pnc_quantization)var->quantize_mode, .type = var->type, .number = var->nsd};

    if (var->error_mode != 0) {
        q.mode = (pnc_quantization)var->error_mode;
        q.bound = var->error_bound;
        q.is_converted = pnc_convert_is_lossy(var->type, mem);
    }
    keep_special_values(model, var, &q);
    return q;
}

int pnc_io_request_init_packer(pnc_io_context *io, const pnc_request *r, pnc_packer *packer)
{
    const pnc_var *var = io->model->vars[r->elements.varid];
    pnc_quantizer q;

    PNC_TRY(pnc_io_request_init_converter(io, r, packer));
    if (!pnc_io_request_is_quantized(io, r))
        return NC_NOERR;
    q = make_quantizer(io->model, var, r->mem);
    pnc_convert_packer_set_quantizer(packer, &q, pnc_format_var_get_encoding(io->model, var));
    return NC_NOERR;
}
