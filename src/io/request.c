/* Makes a request from the arguments of a call: checks in the documented order of precedence. */
#include "io/request.h"

#include <string.h>

#include "base/memory.h"
#include "dataset/modes.h"
#include "mpitype/flatten.h"

/* MPI_Offset and int64_t may be distinct types of the same size. */
static int64_t *copy_numbers(int64_t *to, const MPI_Offset *from, int64_t otherwise, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from == NULL ? otherwise : from[i];
    return to + n;
}

static bool has_stride(const pnc_call *call)
{
    return (call->shape == PNC_VARS || call->shape == PNC_VARM) && call->stride != NULL;
}

static int64_t count_slabs(const pnc_call *call)
{
    return call->shape == PNC_VARN ? (call->num > 0 ? call->num : 0) : 1;
}

int64_t pnc_io_request_count_numbers(const pnc_dataset *ds, const pnc_call *call)
{
    if (call->varid < 0 || call->varid >= ds->model.nvars)
        return 0;
    return count_slabs(call) * ds->model.vars[call->varid]->ndims * (has_stride(call) ? 3 : 2);
}

/* --- hyperslabs --- */

/* A variable as input of src/select; `shape` has capacity for its dimensions. */
static pnc_array array_of(const pnc_dataset *ds, const pnc_var *var, int64_t *shape)
{
    for (int i = 0; i < var->ndims; i++)
        shape[i] = var->is_record && i == 0 ? ds->model.numrecs : var->shape[i];
    return (pnc_array){.name = var->name,
                       .begin = var->begin,
                       .elem_size = (int)pnc_type_get_size(var->type),
                       .ndims = var->ndims,
                       .shape = shape,
                       .is_record = var->is_record,
                       .recsize = ds->model.recsize};
}

#define SHAPE_INLINE 16

/* on the stack up to SHAPE_INLINE dimensions. */
typedef struct shape_memory {
    int64_t few[SHAPE_INLINE], *many;
} shape_memory;

static int64_t *take_shape(shape_memory *capacity, int ndims)
{
    capacity->many = ndims > SHAPE_INLINE ? pnc_memory_alloc(ndims, sizeof(int64_t)) : NULL;
    return ndims > SHAPE_INLINE ? capacity->many : capacity->few;
}

static void free_shape(shape_memory *capacity)
{
    pnc_memory_free(capacity->many);
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
int pnc_io_request_check_records(pnc_dataset *ds, const pnc_var *var, int64_t first, int64_t records)
{
    int64_t most = INT32_MAX;

    if (ds->model.format == 5 || records <= most)
        return NC_NOERR;
    return pnc_error_set(&ds->error, first >= most ? NC_EINVALCOORDS : NC_EEDGE,
                         "variable \"%s\": a CDF-%d file holds "
                         "at most %lld records, the request needs %lld: use NC_64BIT_DATA",
                         var->name, ds->model.format, (long long)most, (long long)records);
}

/* Add the elements of one hyperslab to the request's. The check assumes elements of 8 bytes, the largest in memory
 * and file, so that no size in bytes overflows later. */
static int add_elements(pnc_dataset *ds, pnc_request *r, const int64_t *count)
{
    int64_t bytes = 8;

    for (int i = 0; i < r->ndims; i++)
        if (count[i] == 0)
            return NC_NOERR;
    for (int i = 0; i < r->ndims; i++)
        if (pnc_size_multiply(bytes, count[i], &bytes) != 0)
            return pnc_error_set(&ds->error, NC_EINVAL, "variable \"%s\": the request is larger than any memory",
                                 ds->model.vars[r->varid]->name);
    if (pnc_size_add(r->elements, bytes / 8, &r->elements) != 0 || r->elements > INT64_MAX / 8)
        return pnc_error_set(&ds->error, NC_EINVAL, "variable \"%s\": the request is larger than any memory",
                             ds->model.vars[r->varid]->name);
    return NC_NOERR;
}

/* Check hyperslab i and store its numbers at `to`. */
static int take_slab(pnc_dataset *ds, const pnc_call *call, const pnc_array *array, int64_t i, int64_t *to,
                     pnc_request *r)
{
    const pnc_var *var = ds->model.vars[r->varid];
    slab_arguments given = arguments_of(call, i);
    bool put = r->way == PNC_PUT;
    int64_t *start = to, *count = copy_numbers(start, given.start, 0, r->ndims);
    int64_t *stride = copy_numbers(count, given.count, 1, r->ndims), records;
    pnc_bounds how = {.relax = ds->relax, .growing = put, .single = call->shape == PNC_VAR1 || call->shape == PNC_VARN};
    int err;

    if (r->strided)
        copy_numbers(stride, given.stride, 1, r->ndims);
    if (r->ndims > 0 && call->shape == PNC_VARN && given.start == NULL)
        return pnc_error_set(&ds->error, NC_ENULLSTART, "variable \"%s\": starts[%lld] is NULL", var->name,
                             (long long)i);
    err = pnc_select_hyperslab_check(array, given.start == NULL ? NULL : start, given.count == NULL ? NULL : count,
                                     r->strided ? stride : NULL, how, &ds->error);
    if (err != NC_NOERR)
        return err;
    if (put) {
        records = pnc_select_hyperslab_count_records(array, start, count, r->strided ? stride : NULL);
        err = records > 0 ? pnc_io_request_check_records(ds, var, start[0], records) : NC_NOERR;
        r->numrecs = records > r->numrecs ? records : r->numrecs;
    }
    return err != NC_NOERR ? err : add_elements(ds, r, count);
}

/* The whole variable: all existing records. */
static int take_whole(pnc_dataset *ds, const pnc_array *array, pnc_request *r)
{
    for (int i = 0; i < r->ndims; i++) {
        r->numbers[i] = 0;
        r->numbers[r->ndims + i] = array->shape[i];
    }
    return add_elements(ds, r, r->numbers + r->ndims);
}

static int take_slabs(pnc_dataset *ds, const pnc_call *call, pnc_request *r)
{
    const pnc_var *var = ds->model.vars[r->varid];
    shape_memory capacity;
    int64_t *shape = take_shape(&capacity, var->ndims);
    int err = NC_NOERR;

    if (shape == NULL)
        return pnc_error_set(&ds->error, NC_ENOMEM, "no memory for the shape of variable \"%s\"", var->name);
    pnc_array array = array_of(ds, var, shape);
    if (call->shape == PNC_VAR)
        err = take_whole(ds, &array, r);
    for (int64_t i = 0; call->shape != PNC_VAR && i < r->nslabs && err == NC_NOERR; i++)
        err = take_slab(ds, call, &array, i, r->numbers + i * r->ndims * (r->strided ? 3 : 2), r);
    free_shape(&capacity);
    return err;
}

/* --- memory --- */

static int check_conversion(pnc_dataset *ds, const pnc_var *var, pnc_mem_type mem)
{
    bool text = mem == PNC_TEXT;

    if (text == (var->type == NC_CHAR))
        return NC_NOERR;
    return pnc_error_set(&ds->error, NC_ECHAR, "variable \"%s\" has type %s: %s", var->name,
                         pnc_type_get_name(var->type),
                         text ? "it holds numbers, not text" : "it holds text, not numbers: use the _text functions");
}

/* No object has an address below this one: a NULL buffer whose datatype begins there is an error, not MPI_BOTTOM
 * with absolute addresses. */
#define LOWEST_ADDRESS 4096

static int check_buffer(pnc_dataset *ds, const pnc_call *call, const pnc_request *r)
{
    MPI_Aint low = 0, extent;

    if (call->buf != NULL || r->elements == 0)
        return NC_NOERR;
    if (call->mem == PNC_FLEX && call->buftype != MPI_DATATYPE_NULL)
        MPI_Type_get_true_extent(call->buftype, &low, &extent);
    if (low >= LOWEST_ADDRESS || low < 0)
        return NC_NOERR;
    return pnc_error_set(&ds->error, NC_EINVAL, "variable \"%s\": the buffer is NULL, but the request has %lld values",
                         ds->model.vars[r->varid]->name, (long long)r->elements);
}

static int no_flat_memory(pnc_dataset *ds, const pnc_request *r)
{
    return pnc_error_set(&ds->error, NC_ENOMEM, "variable \"%s\": no memory to flatten the type of the buffer",
                         ds->model.vars[r->varid]->name);
}

/* True if all elements are equally spaced. */
static bool is_regular(const pnc_flat_type *flat, pnc_memory_run *run)
{
    int64_t elements = pnc_select_flat_count_elements(flat);
    pnc_run_cursor cursor;
    bool regular;

    if (pnc_select_run_cursor_init(&cursor, flat) != NC_NOERR)
        return false;
    regular = pnc_select_run_cursor_next(&cursor, elements, run) && run->count == elements;
    pnc_select_run_cursor_free(&cursor);
    return regular;
}

/* Flatten imap over elements `stride` bytes apart, the first at `offset`. */
static int imap_over(pnc_dataset *ds, const pnc_call *call, pnc_request *r, int64_t offset, int64_t stride)
{
    int64_t most = INT64_MAX / 2 / (stride < 0 ? -stride : stride + 1), *count = r->numbers + r->ndims;
    pnc_flat_type *flat = pnc_select_flat_create_block(1, (int)pnc_mem_type_get_size(r->mem));

    for (int i = r->ndims - 1; i >= 0; i--) {
        if (call->imap[i] > most / count[i] || call->imap[i] < -most / count[i]) {
            pnc_select_flat_free(flat);
            return pnc_error_set(&ds->error, NC_EINVAL, "variable \"%s\": imap[%d] = %lld exceeds the address space",
                                 ds->model.vars[r->varid]->name, i, (long long)call->imap[i]);
        }
        flat = pnc_select_flat_create_vector(flat, count[i], call->imap[i] * stride);
    }
    r->flat = pnc_select_flat_create_shifted(flat, offset);
    return r->flat == NULL ? no_flat_memory(ds, r) : NC_NOERR;
}

/* imap indexes the elements of the datatype: its largest index must not exceed theirs. */
static bool imap_stays_inside(const pnc_call *call, const pnc_request *r)
{
    int64_t last = 0;

    for (int i = 0; i < r->ndims; i++) {
        int64_t times = r->numbers[r->ndims + i] - 1;

        if (times == 0)
            continue;
        if (call->imap[i] < 0 || call->imap[i] > (r->elements - 1 - last) / times)
            return false;
        last += call->imap[i] * times;
    }
    return true;
}

/* Flatten imap over a datatype without a regular stride; `picked` is the flattened datatype. */
static int imap_in(pnc_dataset *ds, const pnc_call *call, pnc_request *r, pnc_flat_type *picked)
{
    int64_t *imap = pnc_memory_alloc(r->ndims, sizeof *imap);

    if (imap == NULL) {
        pnc_select_flat_free(picked);
        return no_flat_memory(ds, r);
    }
    copy_numbers(imap, call->imap, 0, r->ndims);
    r->flat = pnc_select_flat_create_pick(
        pnc_select_flat_create_imap(r->ndims, r->numbers + r->ndims, imap, (int)pnc_mem_type_get_size(r->mem)), picked);
    pnc_memory_free(imap);
    return r->flat == NULL ? no_flat_memory(ds, r) : NC_NOERR;
}

/* Flatten an MPI datatype, and imap over it if given. */
static int flatten_buffer(pnc_dataset *ds, const pnc_call *call, pnc_request *r)
{
    const pnc_var *var = ds->model.vars[r->varid];
    pnc_flat_type *picked = NULL;
    pnc_memory_run run = {0, 0, 0};
    int64_t offset;
    int err;

    /* measured: no elements in an independent call, NC_EIOMISMATCH in a collective call */
    if (!call->collective && call->bufcount == 0 && call->buftype != MPI_DATATYPE_NULL)
        r->elements = r->nslabs = r->numrecs = 0;
    err = pnc_mpitype_buftype_flatten(call->bufcount, call->buftype, var->type, r->elements, &picked, &r->mem,
                                      &ds->error);
    if (err == NC_NOERR)
        err = check_conversion(ds, var, r->mem);
    if (err == NC_NOERR)
        err = check_buffer(ds, call, r);
    if (err != NC_NOERR) {
        pnc_select_flat_free(picked);
        return err;
    }
    if (call->shape == PNC_VARM && call->imap != NULL && r->elements > 0) {
        if (!is_regular(picked, &run)) {
            if (imap_stays_inside(call, r))
                return imap_in(ds, call, r, picked);
            pnc_select_flat_free(picked);
            return pnc_error_set(&ds->error, NC_EINVAL,
                                 "variable \"%s\": imap exceeds the %lld elements of the "
                                 "MPI datatype",
                                 var->name, (long long)r->elements);
        }
        pnc_select_flat_free(picked);
        return imap_over(ds, call, r, run.offset, run.count > 1 ? run.stride : (int64_t)pnc_mem_type_get_size(r->mem));
    }
    if (call->buf != NULL && pnc_select_flat_is_contiguous(picked, &offset)) {
        r->memory = (char *)call->buf + offset;
        pnc_select_flat_free(picked);
    } else {
        r->flat = picked;
    }
    return NC_NOERR;
}

int pnc_io_request_set_memory(pnc_dataset *ds, const pnc_call *call, pnc_request *r)
{
    int err;

    r->mem = call->mem;
    r->memory = call->buf;
    if (call->mem == PNC_FLEX)
        return flatten_buffer(ds, call, r);
    err = check_buffer(ds, call, r);
    if (err == NC_NOERR && call->shape == PNC_VARM && call->imap != NULL && r->elements > 0)
        err = imap_over(ds, call, r, 0, (int64_t)pnc_mem_type_get_size(r->mem));
    return err;
}

/* Check the number of blocks of varn: at most 1 for a scalar variable, which has no start. */
static int check_blocks(pnc_dataset *ds, const pnc_call *call, const pnc_var *var)
{
    if (call->num != 0 && call->starts == NULL && var->ndims > 0)
        return pnc_error_set(&ds->error, NC_ENULLSTART, "variable \"%s\": starts is NULL", var->name);
    if (call->num < 0 || (call->num > 1 && var->ndims == 0))
        return pnc_error_set(&ds->error, NC_EINVAL,
                             "variable \"%s\" with %d dimensions: num is %d: must not be "
                             "negative, and at most 1 without dimensions",
                             var->name, var->ndims, call->num);
    return NC_NOERR;
}

int pnc_io_request_check_target(pnc_dataset *ds, const pnc_call *call)
{
    int err = pnc_dataset_var_check(ds, call->varid);

    if (err == NC_NOERR && call->mem != PNC_FLEX)
        err = check_conversion(ds, ds->model.vars[call->varid], call->mem);
    return err;
}

int pnc_io_request_init(pnc_dataset *ds, const pnc_call *call, int64_t *numbers, pnc_request *r)
{
    int err = pnc_io_request_check_target(ds, call);
    const pnc_var *var;

    *r = (pnc_request){.way = pnc_io_call_get_way(call), .varid = call->varid};
    if (err != NC_NOERR)
        return err;
    var = ds->model.vars[call->varid];
    r->ndims = var->ndims;
    r->strided = has_stride(call);
    r->numbers = numbers;
    if (call->shape == PNC_VARN)
        err = check_blocks(ds, call, var);
    r->nslabs = count_slabs(call);
    if (err == NC_NOERR)
        err = take_slabs(ds, call, r);
    if (err == NC_NOERR)
        err = pnc_io_request_set_memory(ds, call, r);
    return err;
}

void pnc_io_request_free(pnc_request *r)
{
    pnc_select_flat_free(r->flat);
    pnc_select_flat_free(r->filetype);
    r->flat = r->filetype = NULL;
}

/* --- execution --- */

int64_t pnc_io_request_count_bytes(const pnc_dataset *ds, const pnc_request *r)
{
    return r->elements * (int64_t)pnc_type_get_size(ds->model.vars[r->varid]->type);
}

int pnc_io_request_get_selection(pnc_dataset *ds, const pnc_request *r, int64_t i, pnc_selection *out)
{
    const pnc_var *var = ds->model.vars[r->varid];
    shape_memory capacity;
    int64_t *shape, *start;
    int err;

    shape = take_shape(&capacity, var->ndims);
    if (shape == NULL)
        return pnc_error_set(&ds->error, NC_ENOMEM, "no memory for the shape of variable \"%s\"", var->name);
    pnc_array array = array_of(ds, var, shape);
    start = r->numbers + i * r->ndims * (r->strided ? 3 : 2);
    err = pnc_select_selection_init(out, &array, start, start + r->ndims, r->strided ? start + 2 * r->ndims : NULL);
    free_shape(&capacity);
    return err == NC_NOERR ? err
                           : pnc_error_set(&ds->error, err, "variable \"%s\": %s", var->name, pnc_error_get_text(err));
}

int pnc_io_request_init_packer(pnc_dataset *ds, const pnc_request *r, pnc_packer *packer)
{
    const pnc_var *var = ds->model.vars[r->varid];
    unsigned char fill[8];
    int err;

    if (r->external) {
        pnc_convert_packer_init_copy(packer, r->way, r->memory, (int)pnc_type_get_size(var->type));
        return NC_NOERR;
    }
    if (r->way == PNC_PUT)
        pnc_format_var_get_fill_value(var, fill);
    else
        pnc_convert_fill_get_memory(r->mem, fill);
    err = pnc_convert_packer_init(packer, r->way, r->flat, r->memory, var->type, r->mem, ds->model.format, fill);
    return err == NC_NOERR ? err
                           : pnc_error_set(&ds->error, err, "variable \"%s\": %s", var->name, pnc_error_get_text(err));
}

int pnc_io_request_report_status(pnc_dataset *ds, const pnc_request *r)
{
    const pnc_var *var = ds->model.vars[r->varid];
    const char *file = pnc_type_get_name(var->type), *memory = pnc_mem_type_get_name(r->mem);

    if (r->status == NC_NOERR)
        return NC_NOERR;
    return pnc_error_set(&ds->error, r->status,
                         "variable \"%s\": some values of type %s do not fit type %s and became "
                         "the fill value",
                         var->name, r->way == PNC_PUT ? memory : file, r->way == PNC_PUT ? file : memory);
}
