/* Puts whose values wait in a log. */
#include "io/logged.h"

#include <errno.h>

#include "base/minmax.h"
#include "io/chunked/slabs.h"
#include "log/values.h"

/* --- parts of a hyperslab, in the order of its values --- */

typedef struct slab_parts {
    const pnc_array_slab *slab;
    int ndims, dim;       /* the dimension that is divided: a part has one index of those before it */
    int64_t step;         /* indices of that dimension in a part */
    int64_t along, n, at; /* parts of that dimension; all of them; of the next one */
    int64_t start[PNC_ARRAY_DIMS], count[PNC_ARRAY_DIMS];
} slab_parts;

static void init_parts(const pnc_array_slab *slab, int ndims, int elem_size, slab_parts *p)
{
    int64_t most = (PNC_LOG_VALUES_MOST - pnc_log_values_get_head(ndims, slab->stride != NULL)) / elem_size, inner = 1;

    *p = (slab_parts){.slab = slab, .ndims = ndims, .dim = ndims - 1, .n = 1};
    for (; p->dim > 0 && slab->count[p->dim] <= most / inner; p->dim--)
        inner *= slab->count[p->dim];
    if (ndims == 0)
        return;
    p->step = most / inner;
    p->n = p->along = (slab->count[p->dim] - 1) / p->step + 1;
    for (int d = 0; d < p->dim; d++)
        p->n *= slab->count[d];
}

/* The values of the next part; 0: there is none. */
static int64_t next_part(slab_parts *p)
{
    int64_t rest = p->at, n = 1, first;

    if (p->at == p->n)
        return 0;
    p->at++;
    for (int d = p->ndims - 1; d >= 0; d--) {
        if (d > p->dim) {
            first = 0;
            p->count[d] = p->slab->count[d];
        } else if (d == p->dim) {
            first = rest % p->along * p->step;
            rest /= p->along;
            p->count[d] = pnc_min64(p->step, p->slab->count[d] - first);
        } else {
            first = rest % p->slab->count[d];
            rest /= p->slab->count[d];
            p->count[d] = 1;
        }
        p->start[d] = p->slab->start[d] + first * (p->slab->stride != NULL ? p->slab->stride[d] : 1);
        n *= p->count[d];
    }
    return n;
}

/* --- to the log --- */

static int64_t count_records(const pnc_io_context *io, const pnc_request *r, int64_t *heads)
{
    int ndims = io->model->vars[r->elements.varid]->ndims;
    int64_t n = 0;
    pnc_slab_cursor cursor;
    pnc_array_slab slab;

    if (pnc_io_slab_cursor_init(&cursor, io, r) == NC_NOERR)
        while (pnc_io_slab_cursor_next(&cursor, &slab)) {
            slab_parts parts;

            init_parts(&slab, ndims, r->elements.elem_size, &parts);
            n += parts.n;
            *heads += parts.n * pnc_log_values_get_head(ndims, slab.stride != NULL);
        }
    pnc_io_slab_cursor_free(&cursor);
    return n;
}

int64_t pnc_io_logged_count(const pnc_io_context *io, const pnc_request_list *list)
{
    int64_t records = 0, bytes = 0;

    for (int64_t i = 0; i < list->n; i++)
        if (list->at[i]->elements.count > 0) {
            records += count_records(io, list->at[i], &bytes);
            bytes += pnc_io_request_count_bytes(list->at[i]);
        }
    return pnc_file_value_log_count_bytes(records, bytes);
}

static int append_slab(pnc_io_context *io, const pnc_request *r, const pnc_array_slab *slab, pnc_packer *packer)
{
    char *buffer = pnc_file_value_log_get_buffer(io->file);
    int ndims = io->model->vars[r->elements.varid]->ndims, number = 0;
    slab_parts parts;

    init_parts(slab, ndims, r->elements.elem_size, &parts);
    for (int64_t n = next_part(&parts); n > 0 && number == 0; n = next_part(&parts)) {
        int64_t head = pnc_log_values_encode(ndims, parts.start, parts.count, slab->stride, (int64_t *)(void *)buffer);

        pnc_convert_packer_pack(packer, buffer + head, n);
        number = pnc_file_value_log_append(io->file, r->elements.varid, buffer, head + n * r->elements.elem_size);
    }
    return number;
}

static int append_request(pnc_io_context *io, pnc_request *r)
{
    pnc_slab_cursor cursor;
    pnc_array_slab slab;
    pnc_packer packer;
    int number = pnc_io_request_init_packer(io, r, &packer) == NC_NOERR ? 0 : ENOMEM;

    if (pnc_io_slab_cursor_init(&cursor, io, r) != NC_NOERR)
        number = ENOMEM;
    while (number == 0 && pnc_io_slab_cursor_next(&cursor, &slab))
        number = append_slab(io, r, &slab, &packer);
    pnc_io_slab_cursor_free(&cursor);
    pnc_io_request_set_status(io, r, packer.status);
    pnc_convert_packer_free(&packer);
    return number;
}

int pnc_io_logged_append(pnc_io_context *io, pnc_request_list *list)
{
    int number = 0;

    for (int64_t i = 0; i < list->n && number == 0; i++) {
        pnc_request *r = list->at[i];

        if (r->elements.count > 0)
            number = append_request(io, r);
        if (r->status != NC_NOERR && list->out_of_range == NULL)
            list->out_of_range = r;
    }
    return number;
}

/* --- from the log --- */

/* The length of the first unlimited dimension after it; 0: the variable does not begin with it. */
static int64_t compute_records(const pnc_io_context *io, const pnc_var *var, const pnc_log_values *v)
{
    if (var->ndims == 0 || var->dimids[0] != io->model->recdim)
        return 0;
    return v->start[0] + (v->count[0] - 1) * (v->stride != NULL ? v->stride[0] : 1) + 1;
}

static bool make_logged_request(const pnc_io_context *io, const pnc_log_record *record, const char *bytes,
                                pnc_request *r)
{
    int varid = (int)record->extent.offset;
    const pnc_var *var = io->model->vars[varid];
    int elem_size = (int)pnc_type_get_size(var->type);
    pnc_log_values v;

    if (!pnc_log_values_decode((const int64_t *)(const void *)bytes, record->extent.length, var->ndims, elem_size, &v))
        return false;
    *r = (pnc_request){.elements = {.n = 1,
                                    .count = v.n,
                                    .numbers = (int64_t *)(uintptr_t)v.start,
                                    .varid = varid,
                                    .form = PNC_SLABS,
                                    .elem_size = (uint8_t)elem_size,
                                    .strided = v.stride != NULL},
                       .numrecs = compute_records(io, var, &v),
                       .memory = (char *)(uintptr_t)v.bytes,
                       .direction = PNC_PUT,
                       .mem = (uint8_t)pnc_type_get_mem_type(var->type),
                       .external = true,
                       .is_quantized = true};
    return true;
}

int pnc_io_logged_batch_load(const pnc_io_context *io, pnc_logged_batch *batch)
{
    char *buffer = pnc_file_value_log_get_buffer(io->file);
    int64_t used = 0;
    pnc_log_record record;
    int number = 0;

    batch->n = 0;
    batch->call = INT64_MAX;
    while (batch->n < PNC_LOGGED_MOST && pnc_file_value_log_find(io->file, &batch->at, &record, &number)) {
        if (used + record.extent.length > PNC_BEHIND_LOG_PORTION || (batch->n > 0 && record.call != batch->call))
            break;
        number = pnc_file_value_log_read(io->file, batch->at, &record, buffer + used);
        if (number == 0 && (record.extent.offset >= io->model->nvars ||
                            !make_logged_request(io, &record, buffer + used, &batch->requests[batch->n])))
            number = EIO;
        if (number != 0)
            break;
        batch->call = record.call;
        batch->n++;
        used += (record.extent.length + 7) / 8 * 8;
        batch->at = pnc_file_value_log_get_next(batch->at, &record);
    }
    return number;
}

pnc_request_list pnc_io_logged_batch_get(pnc_logged_batch *batch)
{
    pnc_request_list list = {.direction = PNC_PUT, .collective = true, .at = batch->pointers, .is_checked = true};

    for (int64_t i = 0; i < batch->n; i++)
        pnc_io_request_list_add(&list, &batch->requests[i]);
    return list;
}
