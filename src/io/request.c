/* Makes a request from the arguments of a call: checks in the documented order of precedence. */
#include "io/request.h"

#include <assert.h>

#include "base/memory.h"
#include "io/array.h"
#include "io/request_extents.h"
#include "io/request_memory.h"

/* MPI_Offset and int64_t may be distinct types of the same size. */
static void copy_numbers(int64_t *to, const MPI_Offset *from, int64_t otherwise, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from == NULL ? otherwise : from[i];
}

static bool has_stride(const pnc_call *call)
{
    return (call->shape == PNC_VARS || call->shape == PNC_VARM) && call->stride != NULL;
}

static int64_t count_slabs(const pnc_call *call)
{
    if (call->shape != PNC_VARN)
        return 1;
    return call->num > 0 ? call->num : 0;
}

#define PIECES_NUMBERS (int64_t)((sizeof(pnc_pieces) + sizeof(int64_t) - 1) / sizeof(int64_t))

/* All numbers of a call. */
static int64_t count_all(const pnc_io_context *io, const pnc_call *call)
{
    int ndims = io->model->vars[call->varid]->ndims;

    return count_slabs(call) * (ndims > 0 ? ndims : 1) * (has_stride(call) ? 3 : 2);
}

/* A pending request must not depend on the caller's arrays. */
static bool is_long(const pnc_io_context *io, const pnc_call *call)
{
    bool is_blocking = call->op == PNC_OP_PUT || call->op == PNC_OP_GET;

    return is_blocking && call->shape == PNC_VARN && count_all(io, call) > PNC_PIECES_NUMBERS;
}

int64_t pnc_io_request_count_numbers(const pnc_io_context *io, const pnc_call *call)
{
    if (call->varid < 0 || call->varid >= io->model->nvars)
        return 0;
    if (!is_long(io, call))
        return count_all(io, call);
    return PNC_PIECES_NUMBERS + PIECES_NUMBERS + 2 * io->model->vars[call->varid]->ndims;
}

int64_t pnc_io_request_count_used(const pnc_request *r)
{
    if (r->has_extents)
        return r->nslabs * 2;
    return r->nslabs * r->ndims * (r->strided ? 3 : 2);
}

/* --- hyperslabs --- */

#define SHAPE_INLINE 16

/* On the stack up to SHAPE_INLINE dimensions. */
typedef struct shape_memory {
    int64_t few[SHAPE_INLINE], *many;
} shape_memory;

static int64_t *take_shape(shape_memory *memory, int ndims)
{
    memory->many = ndims > SHAPE_INLINE ? pnc_memory_alloc(ndims, sizeof(int64_t)) : NULL;
    return ndims > SHAPE_INLINE ? memory->many : memory->few;
}

static void free_shape(shape_memory *memory)
{
    pnc_memory_free(memory->many);
}

/* The arguments of hyperslab i of the call; NULL where the call has none. */
typedef struct slab_arguments {
    const MPI_Offset *start, *count, *stride;
} slab_arguments;

static slab_arguments arguments_of(const pnc_call *call, int64_t i)
{
    if (call->shape == PNC_VARN)
        return (slab_arguments){call->starts == NULL ? NULL : call->starts[i],
                                call->counts == NULL ? NULL : call->counts[i], NULL};
    return (slab_arguments){call->start, call->count, has_stride(call) ? call->stride : NULL};
}

/* CDF-1 and CDF-2 store the number of records in 4 bytes. */
int pnc_io_request_check_records(pnc_io_context *io, const pnc_var *var, int64_t first, int64_t records)
{
    int64_t most = INT32_MAX;

    if (io->model->format == 5 || records <= most)
        return NC_NOERR;
    return pnc_error_set(io->file->error, first >= most ? NC_EINVALCOORDS : NC_EEDGE,
                         "variable \"%s\": a CDF-%d file holds "
                         "at most %lld records, the request needs %lld: use NC_64BIT_DATA",
                         var->name, io->model->format, (long long)most, (long long)records);
}

/* Add the elements of one hyperslab to the request's. The check assumes elements of 8 bytes, the largest in memory
 * and file, so that no size in bytes overflows later. */
static int add_elements(pnc_io_context *io, pnc_request *r, const int64_t *count)
{
    int64_t bytes = 8;
    bool overflows = false;

    for (int i = 0; i < r->ndims; i++)
        if (count[i] == 0)
            return NC_NOERR;
    for (int i = 0; i < r->ndims && !overflows; i++)
        overflows = pnc_size_multiply(bytes, count[i], &bytes) != 0;
    if (overflows || pnc_size_add(r->elements, bytes / 8, &r->elements) != 0 || r->elements > INT64_MAX / 8)
        return pnc_error_set(io->file->error, NC_EINVAL, "variable \"%s\": the request is larger than any memory",
                             io->model->vars[r->varid]->name);
    return NC_NOERR;
}

pnc_slab pnc_io_request_load_slab(const pnc_request *r, int64_t i)
{
    const pnc_pieces *p = r->pieces;

    copy_numbers(p->numbers, p->starts != NULL ? p->starts[i] : NULL, 0, r->ndims);
    copy_numbers(p->numbers + r->ndims, p->counts != NULL ? p->counts[i] : NULL, 1, r->ndims);
    return (pnc_slab){p->numbers, p->numbers + r->ndims, NULL};
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

/* Check hyperslab i and store its numbers. */
static int take_slab(pnc_io_context *io, const pnc_call *call, const pnc_array *array, int64_t i, pnc_request *r)
{
    const pnc_var *var = io->model->vars[r->varid];
    slab_arguments given = arguments_of(call, i);
    pnc_slab s = pnc_io_request_get_slab(r, i);
    bool put = r->direction == PNC_PUT;
    pnc_bounds how = {.relax = io->relax, .growing = put, .single = call->shape == PNC_VAR1 || call->shape == PNC_VARN};

    copy_numbers(s.start, given.start, 0, r->ndims);
    copy_numbers(s.count, given.count, 1, r->ndims);
    if (r->strided)
        copy_numbers(s.stride, given.stride, 1, r->ndims);
    if (r->ndims > 0 && call->shape == PNC_VARN && given.start == NULL)
        return pnc_error_set(io->file->error, NC_ENULLSTART, "variable \"%s\": starts[%lld] is NULL", var->name,
                             (long long)i);
    PNC_TRY(check_bounds(
        io, var, array,
        &(pnc_slab){given.start == NULL ? NULL : s.start, given.count == NULL ? NULL : s.count, s.stride}, how));
    if (put) {
        int64_t records = pnc_select_hyperslab_count_records(array, s.start, s.count, s.stride);

        if (records > 0)
            PNC_TRY(pnc_io_request_check_records(io, var, s.start[0], records));
        r->numrecs = records > r->numrecs ? records : r->numrecs;
    }
    return add_elements(io, r, s.count);
}

/* The whole variable: all existing records. */
static int take_whole(pnc_io_context *io, const pnc_array *array, pnc_request *r)
{
    for (int i = 0; i < r->ndims; i++) {
        r->numbers[i] = 0;
        r->numbers[r->ndims + i] = array->shape[i];
    }
    return add_elements(io, r, r->numbers + r->ndims);
}

static int take_slabs(pnc_io_context *io, const pnc_call *call, pnc_request *r)
{
    const pnc_var *var = io->model->vars[r->varid];
    shape_memory memory;
    int64_t *shape = take_shape(&memory, var->ndims);
    int err = NC_NOERR;

    if (shape == NULL)
        return pnc_error_set(io->file->error, NC_ENOMEM, "no memory for the shape of variable \"%s\"", var->name);
    pnc_array array = pnc_io_array_get(io->model, var, io->model->numrecs, shape);
    if (call->shape == PNC_VAR)
        err = take_whole(io, &array, r);
    for (int64_t i = 0; call->shape != PNC_VAR && i < r->nslabs && err == NC_NOERR; i++)
        err = take_slab(io, call, &array, i, r);
    free_shape(&memory);
    return err;
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
    PNC_TRY(pnc_format_var_check(io->model, call->varid, io->file->error));
    if (call->mem == PNC_FLEX)
        return NC_NOERR;
    return pnc_io_conversion_check(io, io->model->vars[call->varid], call->mem);
}

/* Place the description of the pieces, and the numbers of one of them, before the memory for extents. */
static void start_pieces(const pnc_call *call, pnc_request *r)
{
    r->has_pieces = true;
    r->pieces = (pnc_pieces *)(void *)r->numbers;
    *r->pieces = (pnc_pieces){.starts = call->starts, .counts = call->counts, .numbers = r->numbers + PIECES_NUMBERS};
    r->numbers = r->pieces->numbers + 2 * r->ndims;
}

int pnc_io_request_init(pnc_io_context *io, const pnc_call *call, int64_t *numbers, pnc_request *r)
{
    const pnc_var *var;

    *r = (pnc_request){.direction = pnc_io_op_get_direction(call->op), .varid = call->varid};
    PNC_TRY(pnc_io_request_check_target(io, call));
    PNC_TRY(pnc_error_check_arguments(io->file->error));
    var = io->model->vars[call->varid];
    r->elem_size = (unsigned)pnc_type_get_size(var->type);
    r->ndims = var->ndims;
    r->strided = has_stride(call);
    r->numbers = numbers;
    r->nslabs = count_slabs(call);
    if (call->shape == PNC_VARN)
        PNC_TRY(check_blocks(io, call, var));
    if (is_long(io, call))
        start_pieces(call, r);
    if (!pnc_io_request_make_extents(io, call, r))
        PNC_TRY(take_slabs(io, call, r));
    return pnc_io_request_set_memory(io, call, r);
}

void pnc_io_request_free(pnc_request *r)
{
    if (r->flat != NULL)
        pnc_select_flat_free(r->flat);
    if (r->has_filetype)
        pnc_select_flat_free(r->filetype);
    r->flat = NULL;
    r->has_filetype = false;
}

/* --- execution --- */

static int fail(pnc_io_context *io, const pnc_var *var, int err)
{
    return pnc_error_set(io->file->error, err, "variable \"%s\": %s", var->name, pnc_error_get_text(err));
}

int pnc_io_request_get_selection(pnc_io_context *io, const pnc_request *r, int64_t i, pnc_selection *out)
{
    const pnc_var *var = io->model->vars[r->varid];
    pnc_slab s = pnc_io_request_get_slab(r, i);
    shape_memory memory;
    int64_t *shape = take_shape(&memory, var->ndims);
    int err;

    assert(i < r->nslabs && r->ndims == var->ndims && !pnc_io_request_has_extents(r));
    if (shape == NULL)
        return pnc_error_set(io->file->error, NC_ENOMEM, "no memory for the shape of variable \"%s\"", var->name);
    pnc_array array = pnc_io_array_get(io->model, var, io->model->numrecs, shape);
    err = pnc_select_selection_init(out, &array, s.start, s.count, s.stride);
    free_shape(&memory);
    return err == NC_NOERR ? NC_NOERR : fail(io, var, err);
}

int pnc_io_request_init_packer(pnc_io_context *io, const pnc_request *r, pnc_packer *packer)
{
    const pnc_var *var = io->model->vars[r->varid];
    pnc_conversion conversion = {r->direction, var->type, r->mem, io->model->format, NULL};
    unsigned char fill[8];
    int err;

    if (r->external) {
        pnc_convert_packer_init_copy(packer, r->direction, r->memory, r->elem_size);
        return NC_NOERR;
    }
    if (r->direction == PNC_PUT && pnc_convert_may_fail(var->type, r->mem)) {
        pnc_format_var_get_fill_value(var, fill);
        conversion.fill = fill;
    }
    err = pnc_convert_packer_init(packer, &conversion, r->flat, r->memory);
    return err == NC_NOERR ? NC_NOERR : fail(io, var, err);
}
