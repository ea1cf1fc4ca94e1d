/* Collective access to variables in chunks: rounds of bounded portions. The store exchanges the values of each chunk
 * with its aggregator in its collective operations. */
#include "io/chunked/chunked.h"

#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"

/* A round: bytes as in a round of two-phase I/O; runs of 8 bytes each would take as much memory as these extents. */
#define ROUND_EXTENTS 65536

typedef struct chunked_access {
    pnc_io_context *io;
    pnc_file_order order;
    pnc_file_order values; /* get: the same pieces, in which the values are unpacked */
    pnc_portion portion;
    int err; /* first error of this rank */
} chunked_access;

bool pnc_io_chunked_is_request(const pnc_io_context *io, const pnc_request *r)
{
    const pnc_mapping mapping = pnc_io_context_get_mapping(io, r->elements.varid);

    return io->file->store->owned_from > 0 && pnc_mapping_address_get(&mapping) >= io->file->store->owned_from;
}

static int init_access(chunked_access *x, const pnc_request_list *list, int64_t bytes)
{
    bytes = pnc_max64(8, pnc_min64(bytes, list->summary.bytes));
    x->portion = (pnc_portion){.max_extents = pnc_min64(ROUND_EXTENTS, bytes), .max_bytes = bytes};
    x->portion.extents = pnc_memory_alloc(x->portion.max_extents, sizeof *x->portion.extents);
    x->portion.bytes = pnc_memory_alloc(bytes, 1);
    if (x->portion.extents == NULL || x->portion.bytes == NULL)
        return pnc_error_set(x->io->file->error, NC_ENOMEM, "%s: no memory for %lld bytes of values", x->io->file->path,
                             (long long)bytes);
    PNC_TRY(pnc_io_file_order_init(&x->order, x->io, list));
    return list->direction == PNC_GET ? pnc_io_file_order_init_copy(&x->values, &x->order) : NC_NOERR;
}

static void put_round(chunked_access *x)
{
    pnc_portion *p = &x->portion;

    if (x->err == NC_NOERR)
        x->err = pnc_io_file_order_take(&x->order, PNC_END_OF_ORDER, PNC_VALUES_PACK, p);
    if (x->err != NC_NOERR)
        p->nextents = 0;
    x->err = pnc_error_keep_first(x->err, pnc_file_extents_write_all(x->io->file, p->extents, p->nextents, p->bytes));
}

static void get_round(chunked_access *x)
{
    pnc_portion *p = &x->portion;

    if (x->err == NC_NOERR)
        x->err = pnc_io_file_order_take(&x->order, PNC_END_OF_ORDER, PNC_VALUES_KEEP, p);
    if (x->err != NC_NOERR)
        p->nextents = 0;
    x->err = pnc_error_keep_first(x->err, pnc_file_extents_read_all(x->io->file, p->extents, p->nextents, p->bytes));
    if (x->err == NC_NOERR && p->nextents > 0)
        x->err = pnc_io_file_order_take(&x->values, PNC_END_OF_ORDER, PNC_VALUES_UNPACK, p);
}

/* Whether any rank has more. An error of the agreement is one of all ranks. */
static bool has_more(chunked_access *x)
{
    int64_t more = x->err == NC_NOERR && pnc_io_file_order_get_next(&x->order) != PNC_END_OF_ORDER;
    int err = pnc_file_maxima_agree(x->io->file, &more, 1, "whether a rank has more values");

    x->err = pnc_error_keep_first(x->err, err);
    return err == NC_NOERR && more != 0;
}

int pnc_io_chunked_execute(pnc_io_context *io, const pnc_request_list *list, int64_t bytes)
{
    chunked_access x = {.io = io, .order = {.io = io}, .values = {.io = io, .is_copy = true}};

    x.err = init_access(&x, list, bytes);
    do {
        if (list->direction == PNC_PUT)
            put_round(&x);
        else
            get_round(&x);
    } while (has_more(&x));
    pnc_io_file_order_free(&x.order);
    pnc_io_file_order_free(&x.values);
    pnc_memory_free(x.portion.extents);
    pnc_memory_free(x.portion.bytes);
    return x.err;
}
