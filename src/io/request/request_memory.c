/* The memory of a request: buffer, MPI datatype and imap as runs of memory. */
#include "io/request/request.h"

#include "base/memory.h"
#include "mpitype/flatten.h"

int pnc_io_conversion_reject(pnc_io_context *io, const pnc_var *var)
{
    return pnc_error_set(
        io->file->error, NC_ECHAR, "variable \"%s\" has type %s: %s", var->name, pnc_type_get_name(var->type),
        var->type == NC_CHAR ? "it holds text, not numbers: use the _text functions" : "it holds numbers, not text");
}

/* No object has an address below this one: a NULL buffer whose datatype begins there is an error, not MPI_BOTTOM
 * with absolute addresses. */
#define LOWEST_ADDRESS 4096

static int check_buffer(pnc_io_context *io, const pnc_call *call, const pnc_request *r)
{
    MPI_Aint low = 0, extent;

    if (call->buf != NULL || r->elements.count == 0)
        return NC_NOERR;
    if (call->mem == PNC_FLEX && call->buftype != MPI_DATATYPE_NULL)
        MPI_Type_get_true_extent(call->buftype, &low, &extent);
    if (low >= LOWEST_ADDRESS || low < 0)
        return NC_NOERR;
    return pnc_error_set(io->file->error, NC_EINVAL,
                         "variable \"%s\": the buffer is NULL, but the request has %lld values",
                         io->model->vars[r->elements.varid]->name, (long long)r->elements.count);
}

static int fail_no_flat_type(pnc_io_context *io, const pnc_request *r)
{
    return pnc_error_set(io->file->error, NC_ENOMEM, "variable \"%s\": no memory to flatten the type of the buffer",
                         io->model->vars[r->elements.varid]->name);
}

static int get_ndims(const pnc_io_context *io, const pnc_request *r)
{
    return io->model->vars[r->elements.varid]->ndims;
}

/* True if all elements are equally spaced. */
static bool is_evenly_spaced(const pnc_flat_type *flat, pnc_memory_run *run)
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
static int flatten_imap(pnc_io_context *io, const pnc_call *call, pnc_request *r, int64_t offset, int64_t stride)
{
    int ndims = get_ndims(io, r);
    int64_t most = INT64_MAX / 2 / (stride < 0 ? -stride : stride + 1), *count = r->elements.numbers + ndims;
    pnc_flat_type *flat = pnc_select_flat_create_block(1, (int)pnc_mem_type_get_size(r->mem));

    for (int i = ndims - 1; i >= 0; i--) {
        if (call->imap[i] > most / count[i] || call->imap[i] < -most / count[i]) {
            pnc_select_flat_free(flat);
            return pnc_error_set(
                io->file->error, NC_EINVAL, "variable \"%s\": imap[%d] = %lld%s exceeds the address space",
                io->model->vars[r->elements.varid]->name, pnc_error_get_position(io->file->error, i, ndims),
                (long long)call->imap[i], pnc_error_explain_kind(io->file->error, call->imap[i]));
        }
        flat = pnc_select_flat_create_vector(flat, count[i], call->imap[i] * stride);
    }
    r->flat = pnc_select_flat_create_shifted(flat, offset);
    return r->flat == NULL ? fail_no_flat_type(io, r) : NC_NOERR;
}

/* imap indexes the elements of the datatype: its largest index must not exceed theirs. */
static bool is_inside_type(const pnc_io_context *io, const pnc_call *call, const pnc_request *r)
{
    int ndims = get_ndims(io, r);
    int64_t last = 0;

    for (int i = 0; i < ndims; i++) {
        int64_t times = r->elements.numbers[ndims + i] - 1;

        if (times == 0)
            continue;
        if (call->imap[i] < 0 || call->imap[i] > (r->elements.count - 1 - last) / times)
            return false;
        last += call->imap[i] * times;
    }
    return true;
}

/* Flatten imap over a datatype without a regular stride; `picked` is the flattened datatype. */
static int flatten_imap_by_pick(pnc_io_context *io, const pnc_call *call, pnc_request *r, pnc_flat_type *picked)
{
    int ndims = get_ndims(io, r);
    int64_t *imap = pnc_memory_alloc(ndims, sizeof *imap);

    if (imap == NULL) {
        pnc_select_flat_free(picked);
        return fail_no_flat_type(io, r);
    }
    for (int i = 0; i < ndims; i++)
        imap[i] = call->imap[i];
    r->flat = pnc_select_flat_create_pick(
        pnc_select_flat_create_imap(ndims, r->elements.numbers + ndims, imap, (int)pnc_mem_type_get_size(r->mem)),
        picked);
    pnc_memory_free(imap);
    return r->flat == NULL ? fail_no_flat_type(io, r) : NC_NOERR;
}

/* Flatten imap over the elements of a flattened datatype, which is freed or becomes part of the result. */
static int flatten_imap_over_type(pnc_io_context *io, const pnc_call *call, pnc_request *r, pnc_flat_type *picked)
{
    pnc_memory_run run = {0, 0, 0};

    if (is_evenly_spaced(picked, &run)) {
        pnc_select_flat_free(picked);
        return flatten_imap(io, call, r, run.offset,
                            run.count > 1 ? run.stride : (int64_t)pnc_mem_type_get_size(r->mem));
    }
    if (is_inside_type(io, call, r))
        return flatten_imap_by_pick(io, call, r, picked);
    pnc_select_flat_free(picked);
    return pnc_error_set(io->file->error, NC_EINVAL,
                         "variable \"%s\": imap exceeds the %lld elements of the "
                         "MPI datatype",
                         io->model->vars[r->elements.varid]->name, (long long)r->elements.count);
}

/* Flatten an MPI datatype, and imap over it if given. */
static int flatten_buffer(pnc_io_context *io, const pnc_call *call, pnc_request *r)
{
    const pnc_var *var = io->model->vars[r->elements.varid];
    pnc_flat_type *picked = NULL;
    pnc_mem_type mem;
    int64_t offset;
    int err;

    /* measured: no elements in an independent call, NC_EIOMISMATCH in a collective call */
    if (!call->collective && call->bufcount == 0 && call->buftype != MPI_DATATYPE_NULL)
        r->elements.count = r->elements.n = r->numrecs = 0;
    err = pnc_mpitype_buffer_flatten((pnc_mpi_buffer){call->bufcount, call->buftype}, var->type, r->elements.count,
                                     &picked, &mem, io->file->error);
    if (err == NC_NOERR)
        err = pnc_io_conversion_check(io, var, mem);
    if (err == NC_NOERR)
        err = check_buffer(io, call, r);
    if (err != NC_NOERR) {
        pnc_select_flat_free(picked);
        return err;
    }
    r->mem = (uint8_t)mem;
    if (call->shape == PNC_VARM && call->imap != NULL && r->elements.count > 0)
        return flatten_imap_over_type(io, call, r, picked);
    if (call->buf == NULL || !pnc_select_flat_is_contiguous(picked, &offset)) {
        r->flat = picked;
        return NC_NOERR;
    }
    r->memory = (char *)call->buf + offset;
    pnc_select_flat_free(picked);
    return NC_NOERR;
}

/* With a datatype, an imap, or a NULL buffer. */
static int describe_memory(pnc_io_context *io, const pnc_call *call, pnc_request *r)
{
    pnc_mem_type mem = call->mem;

    if (mem == PNC_FLEX) {
        mem = pnc_mpitype_buffer_find_type((pnc_mpi_buffer){call->bufcount, call->buftype}, r->elements.count);
        if (mem == PNC_MEM_TYPE_COUNT)
            return flatten_buffer(io, call, r);
        PNC_TRY(pnc_io_conversion_check(io, io->model->vars[r->elements.varid], mem));
    }
    r->mem = (uint8_t)mem;
    PNC_TRY(check_buffer(io, call, r));
    if (call->shape == PNC_VARM && call->imap != NULL && r->elements.count > 0)
        return flatten_imap(io, call, r, 0, (int64_t)pnc_mem_type_get_size(r->mem));
    return NC_NOERR;
}

int pnc_io_request_set_memory(pnc_io_context *io, const pnc_call *call, pnc_request *r)
{
    r->memory = call->buf;
    if (call->mem == PNC_FLEX || call->buf == NULL || (call->shape == PNC_VARM && call->imap != NULL))
        return describe_memory(io, call, r);
    r->mem = (uint8_t)call->mem; /* most calls: values of one type, next to each other */
    return NC_NOERR;
}
