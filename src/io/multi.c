/* mput and mget: several variables in one call. */
#include "base/memory.h"
#include "dataset/modes.h"
#include "io/access.h"

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

/* Memory for all requests and their numbers. */
typedef struct bundle {
    pnc_request *requests, **list;
    int64_t *numbers, n;
} bundle;

static int make_bundle(pnc_dataset *ds, const pnc_multi *m, bundle *b)
{
    int64_t total = 0;

    for (int i = 0; i < m->num; i++) {
        pnc_call call = call_of(m, i);

        total += pnc_io_request_count_numbers(ds, &call);
    }
    b->requests = pnc_memory_alloc(m->num, sizeof *b->requests);
    b->list = pnc_memory_alloc(m->num, sizeof *b->list);
    b->numbers = pnc_memory_alloc(total, sizeof *b->numbers);
    if (b->requests == NULL || b->list == NULL || b->numbers == NULL)
        return pnc_error_set(&ds->error, NC_ENOMEM, "no memory for requests of %d variables", m->num);
    return NC_NOERR;
}

/* Fill in a request per variable. Returns the first error; the caller then executes none of the requests. */
static int fill_bundle(pnc_dataset *ds, const pnc_multi *m, bundle *b)
{
    int64_t *numbers = b->numbers;
    int first = NC_NOERR;

    for (int i = 0; i < m->num; i++) {
        pnc_call call = call_of(m, i);
        pnc_request *r = &b->requests[b->n];
        int err = pnc_io_request_init(ds, &call, numbers, r);

        numbers += pnc_io_request_count_numbers(ds, &call);
        if (err == NC_NOERR)
            b->list[b->n++] = r;
        else
            pnc_io_request_free(r);
        first = first != NC_NOERR ? first : err;
    }
    return first;
}

int pnc_io_multi_execute(pnc_dataset *ds, const pnc_multi *m)
{
    pnc_direction way = m->op == PNC_OP_GET ? PNC_GET : PNC_PUT;
    bundle b = {0};
    int err = pnc_io_mode_check(ds, way, m->collective);

    if (err != NC_NOERR)
        return err;
    if (m->num < 0)
        err = pnc_error_set(&ds->error, NC_EINVAL, "num is %d: must not be negative", m->num);
    if (m->num > 0 && m->varids == NULL)
        err = pnc_error_set(&ds->error, NC_EINVAL, "varids is NULL");
    if (err == NC_NOERR && m->num > 0)
        err = make_bundle(ds, m, &b);
    if (err == NC_NOERR && m->num > 0)
        err = fill_bundle(ds, m, &b);
    err = pnc_io_requests_execute(ds, way, m->collective, b.list, err == NC_NOERR ? b.n : 0, err);
    for (int64_t i = 0; i < b.n; i++)
        pnc_io_request_free(b.list[i]);
    pnc_memory_free(b.requests);
    pnc_memory_free(b.list);
    pnc_memory_free(b.numbers);
    return err;
}
