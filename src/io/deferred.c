/* Collective puts that a later call writes. */
#include "io/deferred.h"

#include <string.h>

#include "base/minmax.h"
#include "file/agree.h"
#include "io/request/copy.h"
#include "io/transfer.h"

/* --- copies --- */

/* With its place in the list. */
static int64_t count_memory(const pnc_io_context *io, const pnc_request *r)
{
    int64_t bytes = pnc_io_copy_count_bytes(io, r);

    return bytes < 0 ? -1 : bytes + (int64_t)sizeof r;
}

/* Whether the copies of all requests have memory. */
static bool has_memory(const pnc_io_context *io, const pnc_deferred *d, const pnc_request_list *list)
{
    int64_t left = d->most - d->bytes;

    for (int64_t i = 0; i < list->n; i++) {
        int64_t bytes = count_memory(io, list->at[i]);

        if (bytes < 0 || bytes > left)
            return false;
        left -= bytes;
    }
    return true;
}

/* A value out of range is reported by this call, and no more by the one that writes it. */
static int copy_request(pnc_io_context *io, pnc_deferred *d, pnc_request_list *list, pnc_request *r)
{
    pnc_request *copy;

    if (r->elements.count == 0)
        return NC_NOERR;
    PNC_TRY(pnc_io_copy_make(io, &d->arena, r, &copy));
    d->at[d->n++] = copy;
    d->bytes += count_memory(io, copy);
    if (r->status != NC_NOERR && list->out_of_range == NULL)
        list->out_of_range = r;
    return NC_NOERR;
}

/* All requests of the list, or none. */
static bool copy_requests(pnc_io_context *io, pnc_deferred *d, pnc_request_list *list)
{
    int64_t first = d->n;

    if (!has_memory(io, d, list) || !pnc_memory_grow(&d->at, &d->capacity, d->n + list->n, sizeof(pnc_request *)))
        return false;
    for (int64_t i = 0; i < list->n; i++) {
        if (copy_request(io, d, list, list->at[i]) == NC_NOERR)
            continue;
        pnc_error_clear(io->file->error);
        pnc_io_deferred_remove(io, d, first, d->n - first);
        list->out_of_range = NULL;
        return false;
    }
    return true;
}

pnc_request_list pnc_io_deferred_get(const pnc_deferred *d, int64_t n)
{
    pnc_request_list list = {.direction = PNC_PUT, .collective = true, .at = d->at, .is_checked = true};

    for (int64_t i = 0; i < n; i++)
        pnc_io_request_list_add(&list, d->at[i]);
    return list;
}

void pnc_io_deferred_remove(const pnc_io_context *io, pnc_deferred *d, int64_t first, int64_t n)
{
    for (int64_t i = first; i < first + n; i++) {
        d->bytes -= count_memory(io, d->at[i]);
        pnc_arena_free(&d->arena, d->at[i]);
    }
    d->n -= n;
    if (d->n > first)
        memmove(d->at + first, d->at + first + n, (size_t)(d->n - first) * sizeof *d->at);
}

void pnc_io_deferred_free(pnc_deferred *d)
{
    pnc_arena_clear(&d->arena);
    pnc_arena_destroy(&d->arena);
    pnc_memory_free(d->at);
}

/* --- agreement --- */

/* Maxima of the ranks that are those of a range: of one that has the ranges of all ranks. */
typedef struct agreed_range {
    int64_t minus_first_space, minus_low, last_space, high;
} agreed_range;

static agreed_range make_agreed_range(const pnc_behind_range *own)
{
    if (pnc_behind_range_is_empty(own))
        return (agreed_range){INT64_MIN, INT64_MIN, -1, 0};
    return (agreed_range){-own->low.space, -own->low.offset, own->high.space, own->high.offset};
}

static pnc_behind_range get_range(const agreed_range *v)
{
    if (v->last_space < 0)
        return (pnc_behind_range){.call = 0};
    return (pnc_behind_range){.low = {-v->minus_first_space, -v->minus_low}, .high = {v->last_space, v->high}};
}

/* The maxima of the ranks. */
typedef struct deferral_agreement {
    int64_t failure, numrecs, writes, own;
    agreed_range range;
} deferral_agreement;

/* They are reduced as arrays. */
enum { RANGE_VALUES = sizeof(agreed_range) / sizeof(int64_t), VALUES = sizeof(deferral_agreement) / sizeof(int64_t) };
_Static_assert(VALUES <= PNC_AGREED_VALUES, "one reduction has them");

static int agree_deferral(pnc_io_context *io, pnc_request_list *list, int own, deferral_agreement *v)
{
    pnc_file *file = io->file;
    int status = pnc_file_late_take(file, list->error == NC_ENOMEM ? NC_ENOMEM : NC_NOERR), mismatch;

    v->failure = pnc_file_failure_encode(file, status);
    v->own = pnc_file_failure_encode(file, own);
    mismatch = pnc_file_maxima_agree(file, (int64_t *)(void *)v, VALUES, "the values of a collective put");
    if (mismatch != NC_NOERR)
        return pnc_error_keep_first(status, mismatch);
    if (list->out_of_range != NULL && own != NC_NOERR)
        list->others = pnc_file_finders_count(file, own, v->own);
    else
        pnc_file_failure_count(file, own, v->own);
    return pnc_file_failure_share(file, status, v->failure, "a collective write");
}

int pnc_io_deferred_add(pnc_io_context *io, pnc_deferred *d, pnc_request_list *list, pnc_deferral *out)
{
    const pnc_behind_range range = pnc_io_list_find_range(io, list, true);
    deferral_agreement v = {.numrecs = list->summary.numrecs, .range = make_agreed_range(&range)};
    int own = list->error == NC_ENOMEM ? NC_NOERR : list->error, err;

    *out = (pnc_deferral){.first = d->n};
    out->is_copied = copy_requests(io, d, list);
    v.writes = !out->is_copied;
    err = agree_deferral(io, list, pnc_error_keep_first(own, list->out_of_range != NULL ? NC_ERANGE : NC_NOERR), &v);
    if (err != NC_NOERR) {
        pnc_io_deferred_remove(io, d, out->first, d->n - out->first);
        return err;
    }
    out->writes = v.writes != 0;
    out->numrecs = v.numrecs;
    out->range = get_range(&v.range);
    out->overlaps = d->calls > 0 && pnc_behind_pending_has_range(&d->ranges, &out->range);
    return NC_NOERR;
}

void pnc_io_deferred_keep(pnc_deferred *d, const pnc_deferral *call)
{
    pnc_behind_range range = call->range;

    range.call = ++d->calls;
    pnc_behind_pending_add(&d->ranges, range);
}

int pnc_io_deferred_agree_range(pnc_io_context *io, const pnc_request_list *list, pnc_behind_range *out)
{
    pnc_behind_range range = pnc_io_list_find_range(io, list, true);
    agreed_range v = make_agreed_range(&range);

    PNC_TRY(pnc_file_maxima_agree(io->file, (int64_t *)(void *)&v, RANGE_VALUES, "the range of a collective call"));
    *out = get_range(&v);
    return NC_NOERR;
}

int pnc_io_deferred_compare(pnc_io_context *io, const pnc_deferred *d, const pnc_request_list *list, bool *overlaps)
{
    pnc_behind_range range;

    PNC_TRY(pnc_io_deferred_agree_range(io, list, &range));
    *overlaps = pnc_behind_pending_has_range(&d->ranges, &range);
    return NC_NOERR;
}
