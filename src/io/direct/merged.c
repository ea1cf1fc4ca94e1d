/* Small runs of one rank, merged. */
#include "io/execution.h"

#include "base/memory.h"
#include "io/direct/sieve.h"

/* Access the next portion. `values` of a get is the same order, in which the values are unpacked. */
static int access_merged_portion(pnc_file_order *order, pnc_file_order *values, pnc_portion *p)
{
    pnc_file *file = order->io->file;

    if (order->list->direction == PNC_PUT) {
        PNC_TRY(pnc_io_file_order_take(order, PNC_END_OF_ORDER, PNC_VALUES_PACK, p));
        return pnc_io_extents_write(order->io, p->extents, p->nextents, p->bytes);
    }
    PNC_TRY(pnc_io_file_order_take(order, PNC_END_OF_ORDER, PNC_VALUES_KEEP, p));
    PNC_TRY(pnc_file_extents_read(file, p->extents, p->nextents, p->bytes, NULL));
    return pnc_io_file_order_take(values, PNC_END_OF_ORDER, PNC_VALUES_UNPACK, p);
}

static int access_merged_portions(pnc_file_order *order, pnc_portion *p)
{
    bool is_get = order->list->direction == PNC_GET;
    pnc_file_order values;
    int err = is_get ? pnc_io_file_order_init_copy(&values, order) : NC_NOERR;

    while (err == NC_NOERR && pnc_io_file_order_get_next(order) != PNC_END_OF_ORDER)
        err = access_merged_portion(order, &values, p);
    if (is_get)
        pnc_io_file_order_free(&values);
    return err;
}

static int access_in_order(pnc_io_context *io, pnc_file_order *order)
{
    pnc_portion p = {.max_extents = PNC_PORTION_EXTENTS, .max_bytes = PNC_MERGED_BYTES};
    int err;

    p.max_bytes = p.max_bytes < io->buffer_size ? p.max_bytes : io->buffer_size;
    p.extents = pnc_memory_alloc(p.max_extents, sizeof *p.extents);
    p.bytes = pnc_memory_alloc(p.max_bytes, 1);
    if (p.extents != NULL && p.bytes != NULL)
        err = access_merged_portions(order, &p);
    else
        err = pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory for a staging buffer of %lld bytes",
                            io->file->path, (long long)p.max_bytes);
    pnc_memory_free(p.bytes);
    pnc_memory_free(p.extents);
    return err;
}

int pnc_io_merged_execute(const pnc_execution *x)
{
    pnc_file_order own;
    int err;

    if (x->order != NULL)
        return access_in_order(x->io, x->order);
    err = pnc_io_file_order_init(&own, x->io, x->list);
    if (err == NC_NOERR)
        err = access_in_order(x->io, &own);
    pnc_io_file_order_free(&own);
    return err;
}
