/* The requests of one blocking call: put and get, mput and mget, put_vard and get_vard. */
#include "io/request/bundle.h"

#include "base/memory.h"
#include "io/request/request.h"

/* What needs an initial value: not the large array of numbers, nor a request that is made later. Returns memory for the
 * numbers of all requests, or NULL. */
static int64_t *init_bundle(pnc_bundle *b, pnc_op op, bool collective, int64_t numbers)
{
    b->list = (pnc_request_list){.direction = pnc_io_op_get_direction(op), .collective = collective};
    b->single.flat = NULL; /* for a bundle that is freed after an error */
    b->single.elements.form = PNC_SLABS;
    b->selection.large = NULL;
    b->single_at = &b->single;
    b->many = NULL;
    b->many_at = NULL;
    b->many_numbers = NULL;
    if (numbers <= PNC_NUMBERS_INLINE)
        return b->few_numbers;
    b->many_numbers = pnc_memory_alloc(numbers, sizeof *b->many_numbers);
    return b->many_numbers;
}

int pnc_io_bundle_init_call(pnc_bundle *b, pnc_io_context *io, const pnc_call *call)
{
    int64_t n = pnc_io_request_count_numbers(io, call), *numbers = init_bundle(b, call->op, call->collective, n);

    if (numbers == NULL)
        return pnc_error_set(io->file->error, NC_ENOMEM, "no memory for %lld indices of a call", (long long)n);
    PNC_TRY(pnc_io_request_init(io, call, numbers, &b->selection, &b->single));
    b->list.at = &b->single_at;
    pnc_io_request_list_add(&b->list, &b->single);
    return NC_NOERR;
}

int pnc_io_bundle_init_vard(pnc_bundle *b, pnc_io_context *io, const pnc_vard *vard)
{
    (void)init_bundle(b, vard->op, vard->collective, 0);
    PNC_TRY(pnc_io_vard_request_init(io, vard, &b->single));
    b->list.at = &b->single_at;
    if (b->single.elements.count > 0)
        pnc_io_request_list_add(&b->list, &b->single);
    return NC_NOERR;
}

/* --- several variables --- */

static pnc_call call_of(const pnc_multi *m, int i)
{
    return (pnc_call){.op = m->op,
                      .shape = m->shape,
                      .collective = m->collective,
                      .varid = m->varids[i],
                      .mem = m->mem,
                      .buf = m->bufs == NULL ? NULL : m->bufs[i],
                      .start = m->starts == NULL ? NULL : m->starts[i],
                      .count = m->counts == NULL ? NULL : m->counts[i],
                      .stride = m->strides == NULL ? NULL : m->strides[i],
                      .imap = m->imaps == NULL ? NULL : m->imaps[i],
                      .bufcount = m->bufcounts == NULL ? 0 : m->bufcounts[i],
                      .buftype = m->datatypes == NULL ? MPI_DATATYPE_NULL : m->datatypes[i]};
}

/* Make a request of each variable. Returns the first error; the requests without one are in the list. */
static int fill_list(pnc_bundle *b, pnc_io_context *io, const pnc_multi *m, int64_t *numbers)
{
    int first = NC_NOERR;

    b->list.at = b->many_at;
    for (int i = 0; i < m->num; i++) {
        pnc_call call = call_of(m, i);
        pnc_request *r = &b->many[b->list.n];
        int err = pnc_io_request_init(io, &call, numbers, NULL, r);

        numbers += pnc_io_request_count_numbers(io, &call);
        if (err == NC_NOERR)
            pnc_io_request_list_add(&b->list, r);
        else
            pnc_io_request_free(r);
        first = pnc_error_keep_first(first, err);
    }
    return first;
}

static void free_requests(pnc_bundle *b)
{
    for (int64_t i = 0; i < b->list.n; i++)
        pnc_io_request_free(b->list.at[i]);
    b->list.n = 0;
    b->list.summary = (pnc_request_summary){0};
}

int pnc_io_bundle_init_multi(pnc_bundle *b, pnc_io_context *io, const pnc_multi *m)
{
    int64_t total = 0, *numbers;
    int err;

    for (int i = 0; i < m->num && m->varids != NULL; i++) {
        pnc_call call = call_of(m, i);

        total += pnc_io_request_count_numbers(io, &call);
    }
    numbers = init_bundle(b, m->op, m->collective, total);
    if (m->num < 0)
        return pnc_error_set(io->file->error, NC_EINVAL, "num is %d: must not be negative", m->num);
    if (m->num == 0)
        return NC_NOERR;
    if (m->varids == NULL)
        return pnc_error_set(io->file->error, NC_EINVAL, "varids is NULL");
    b->many = pnc_memory_alloc(m->num, sizeof *b->many);
    b->many_at = pnc_memory_alloc(m->num, sizeof *b->many_at);
    if (b->many == NULL || b->many_at == NULL || numbers == NULL)
        return pnc_error_set(io->file->error, NC_ENOMEM, "no memory for requests of %d variables", m->num);
    err = fill_list(b, io, m, numbers);
    if (err != NC_NOERR)
        free_requests(b);
    return err;
}

void pnc_io_bundle_free(pnc_bundle *b)
{
    pnc_io_request_free(&b->single);
    pnc_select_selection_free(&b->selection);
    if (b->many_at != NULL)
        free_requests(b);
    pnc_memory_free(b->many);
    pnc_memory_free(b->many_at);
    pnc_memory_free(b->many_numbers);
}
