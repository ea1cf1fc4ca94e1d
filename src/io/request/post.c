/* Posting of iput, iget and bput. */

#include <assert.h>

#include "base/memory.h"
#include "io/request/out_of_range.h"
#include "io/request/queue.h"

/* Some programs reuse the buffer of an iput before they wait, for example a loop that posts its index. Small puts
 * are therefore packed when they are posted: the file gets the value at the time of the iput, as with PnetCDF 1.12
 * (measured: up to 4096 bytes). A packed put costs a copy of its bytes, in memory that is touched for the first
 * time. This is small compared with the cost of the request up to TINY_PUT bytes. Larger puts, up to SMALL_PUT, are
 * packed while all pending ones occupy at most MOST_KEPT bytes. CPU time to post and wait, ns (1 rank, in the order
 * of the file, without packing / all packed): 32 bytes 730 / 860, 256 bytes 1030 / 1370, 4096 bytes 7000 / 12500. */
#define TINY_PUT 64
#define SMALL_PUT 4096
#define MOST_KEPT (1 << 20)

/* Convert block by block and discard the result: NC_ERANGE is reported by the iput, though the values are converted
 * again when the request is executed. */
static int try_conversion(pnc_io_context *io, pnc_request *r)
{
    char block[4096];
    pnc_packer packer;
    int err = pnc_io_request_init_converter(io, r, &packer);

    for (int64_t left = r->elements.count, n; err == NC_NOERR && left > 0; left -= n) {
        n = (int64_t)sizeof block / packer.ext_size;
        n = n < left ? n : left;
        pnc_convert_packer_pack(&packer, block, n);
    }
    r->status = (int8_t)(err == NC_NOERR ? packer.status : NC_NOERR);
    pnc_convert_packer_free(&packer);
    if (r->status != NC_NOERR)
        pnc_io_out_of_range_report(io, r);
    return err;
}

static int pack_values(pnc_io_context *io, pnc_request *r, char *values)
{
    pnc_packer packer;
    int err = pnc_io_request_init_converter(io, r, &packer);

    if (err == NC_NOERR)
        pnc_convert_packer_pack(&packer, values, r->elements.count);
    r->status = (int8_t)packer.status;
    pnc_convert_packer_free(&packer);
    if (r->status != NC_NOERR)
        pnc_io_out_of_range_report(io, r);
    return err;
}

/* How many of its numbers the request uses, from the beginning. */
static int64_t count_used_numbers(const pnc_io_context *io, const pnc_request *r)
{
    const pnc_elements *e = &r->elements;

    return e->n * (e->form == PNC_EXTENTS ? 2 : pnc_mapping_slab_count_numbers(e, io->model->vars[e->varid]->ndims));
}

/* Packed values are stored behind the request in the arena. */
static char *get_place_of_values(const pnc_io_context *io, const pnc_request *r)
{
    return (char *)(r->elements.numbers + count_used_numbers(io, r));
}

/* Pack the values of a put into external bytes, so that the user's buffer may be reused. Contiguous values that fit are
 * left to copy_last. */
static int keep_values(pnc_io_context *io, pnc_request **request)
{
    pnc_queue *q = io->queue;
    pnc_request *r = *request;
    int64_t bytes = pnc_io_request_count_bytes(r), used = count_used_numbers(io, r);

    r = pnc_arena_grow(&q->arena, r, (int64_t)sizeof *r + used * (int64_t)sizeof(int64_t) + bytes);
    if (r == NULL)
        return pnc_error_set(io->file->error, NC_ENOMEM, "no memory for the %lld bytes of a request", (long long)bytes);
    *request = r;
    r->elements.numbers = (int64_t *)(r + 1);
    if (r->flat != NULL || pnc_convert_may_fail(io->model->vars[r->elements.varid]->type, r->mem)) {
        PNC_TRY(pack_values(io, r, get_place_of_values(io, r)));
        pnc_io_request_free(r);
        r->memory = get_place_of_values(io, r);
    }
    r->external = true;
    return NC_NOERR;
}

/* Values at random addresses are not in the cache when they are copied. The processor waits for them, but meanwhile
 * begins the next call, and loads its values, if nothing else of this one is left to do: 100,000 iputs of 32 bytes in
 * random order took 240 ns each, and 190 with this step at the end. */
static void copy_last(const pnc_io_context *io, pnc_request *r)
{
    const pnc_var *var = io->model->vars[r->elements.varid];
    pnc_kernel kernel;
    char *values;

    if (!r->external)
        return;
    values = get_place_of_values(io, r);
    if (r->memory == values)
        return;
    kernel = pnc_convert_kernel_find(PNC_PUT, var->type, r->mem, pnc_format_var_get_encoding(io->model, var), NULL);
    assert(kernel != NULL); /* the types were checked */
    kernel(values, r->memory, r->elements.count, NULL);
    r->memory = values;
}

/* As PnetCDF, with a burst buffer: programs that are written for one attach no buffer. */
static bool needs_buffer(const pnc_io_context *io)
{
    return io->file->log.state == PNC_LOG_UNUSED;
}

static int keep_in_buffer(pnc_io_context *io, pnc_request **request)
{
    pnc_queue *q = io->queue;
    int64_t bytes = pnc_io_request_count_bytes(*request), left = q->buffer_size - q->buffer_used;

    if (q->buffer_size < 0) {
        PNC_TRY(keep_values(io, request));
        q->kept += bytes;
        return NC_NOERR;
    }
    if (bytes > left)
        return pnc_error_set(io->file->error, NC_EINSUFFBUF,
                             "the request needs %lld bytes, but the attached buffer has "
                             "%lld bytes left: wait for pending requests, or attach a larger buffer",
                             (long long)bytes, (long long)left);
    PNC_TRY(keep_values(io, request));
    (*request)->buffered = true;
    q->buffer_used += bytes;
    return NC_NOERR;
}

/* Pack the values of a small iput; only check the range of larger ones. */
static int keep_or_try(pnc_io_context *io, pnc_request **request)
{
    pnc_queue *q = io->queue;
    int64_t bytes = pnc_io_request_count_bytes(*request);

    if (bytes > SMALL_PUT || (bytes > TINY_PUT && q->kept + bytes > MOST_KEPT))
        return pnc_convert_may_fail(io->model->vars[(*request)->elements.varid]->type, (*request)->mem)
                   ? try_conversion(io, *request)
                   : NC_NOERR;
    PNC_TRY(keep_values(io, request));
    q->kept += bytes;
    return NC_NOERR;
}

static int make_request(pnc_io_context *io, const pnc_call *call, pnc_request **request)
{
    int64_t numbers = pnc_io_request_count_numbers(io, call);
    pnc_request *r = pnc_arena_alloc(&io->queue->arena, (int64_t)sizeof *r + numbers * (int64_t)sizeof(int64_t));

    if (r == NULL)
        return pnc_error_set(io->file->error, NC_ENOMEM, "no memory to post a request");
    *request = r;
    PNC_TRY(pnc_io_request_init(io, call, (int64_t *)(r + 1), NULL, r));
    if (r->elements.count == 0)
        return NC_NOERR;
    if (call->op == PNC_OP_BPUT)
        return keep_in_buffer(io, request);
    return r->direction == PNC_PUT ? keep_or_try(io, request) : NC_NOERR;
}

/* bput without an attached buffer is an error, but one of the variable is returned first. A rank without pieces needs
 * none: a buffer of 0 bytes cannot be attached. */
int pnc_io_call_post(pnc_io_context *io, const pnc_call *call)
{
    pnc_request *r = NULL;
    int err;

    if (call->op != PNC_OP_IGET)
        pnc_memory_prefetch(call->buf, TINY_PUT / 2); /* a small put is packed when the request is made */
    if (call->op == PNC_OP_BPUT && io->queue->buffer_size < 0 && needs_buffer(io) &&
        !(call->shape == PNC_VARN && call->num == 0)) {
        PNC_TRY(pnc_io_request_check_target(io, call));
        PNC_TRY(pnc_io_buffer_check(io));
    }
    PNC_TRY(pnc_io_queue_reserve(io->queue, io->file->error));
    err = make_request(io, call, &r);
    if (err != NC_NOERR || r->elements.count == 0) {
        if (r != NULL)
            pnc_io_queue_release(io, r);
        return err;
    }
    pnc_io_queue_add(io->queue, r);
    if (call->reqid != NULL)
        *call->reqid = r->id;
    copy_last(io, r);
    return r->direction == PNC_PUT ? r->status : NC_NOERR;
}
