/* Data sieving of one rank. */
#include "io/direct/sieve.h"

#include "base/memory.h"
#include "base/minmax.h"
#include "select/sieving.h"

static bool lock_span(pnc_io_context *io, pnc_extent span)
{
    return io->exclusive || pnc_file_span_lock(io->file, span);
}

static int unlock_span(pnc_io_context *io, pnc_extent span)
{
    return io->exclusive ? NC_NOERR : pnc_file_span_unlock(io->file, span);
}

/* Read what the file has of the span; bytes beyond its end are zeros. */
static int read_span(pnc_io_context *io, pnc_extent span, char *bytes)
{
    int64_t size;

    PNC_TRY(pnc_file_get_size(io->file, &size));
    return pnc_file_span_read(io->file, size, span, bytes);
}

/* --- extents --- */

/* Write each extent by itself, or several of them with the gaps between them. */
static int write_groups(pnc_io_context *io, const pnc_extent *extents, int64_t n, const char *bytes,
                        const pnc_sieve_limits *most)
{
    while (n > 0) {
        const pnc_sieved some = pnc_select_extents_count_sieved(extents, n, most);
        const char *from = bytes;

        if (some.n > io->file->store->few_extents) {
            PNC_TRY(read_span(io, some.span, io->sieve));
            for (int64_t i = 0; i < some.n; from += extents[i++].length)
                pnc_select_extent_copy(io->sieve + (extents[i].offset - some.span.offset), from, extents[i].length);
            PNC_TRY(pnc_file_extents_write(io->file, &some.span, 1, io->sieve));
        } else {
            PNC_TRY(pnc_file_extents_write(io->file, extents, some.n, bytes));
        }
        extents += some.n;
        n -= some.n;
        bytes += some.bytes;
    }
    return NC_NOERR;
}

/* The buffer is allocated once a span is locked: most programs never get a lock. Without memory the driver writes the
 * extents. */
int pnc_io_extents_write(pnc_io_context *io, const pnc_extent *extents, int64_t n, const char *bytes)
{
    const pnc_store *store = io->file->store;
    const pnc_sieve_limits most = pnc_select_sieve_get_limits(store->sieve_write_gap, PNC_SIEVE_WRITE_BYTES);
    pnc_extent span;
    int err;

    if (n <= store->few_extents || !(io->exclusive || pnc_select_extents_is_dense(extents, n, &most)))
        return pnc_file_extents_write(io->file, extents, n, bytes);
    span = pnc_select_extents_get_span(extents, n);
    if (!lock_span(io, span))
        return pnc_file_extents_write(io->file, extents, n, bytes);
    if (io->sieve == NULL)
        io->sieve = pnc_memory_alloc(PNC_SIEVE_WRITE_BYTES, 1);
    if (io->sieve != NULL)
        err = write_groups(io, extents, n, bytes, &most);
    else
        err = pnc_file_extents_write(io->file, extents, n, bytes);
    return pnc_error_keep_first(err, unlock_span(io, span));
}

/* --- single values at equal distances --- */

typedef struct strided_access {
    pnc_io_context *io;
    pnc_direction direction;
    pnc_selection_cursor cursor;
    pnc_packer packer;
    int64_t stride; /* bytes from value to value */
} strided_access;

/* Row by row, move the values that end at or before `high` between memory and the staging buffer, which begins with the
 * byte at `low`. Returns the file offset after the last one. */
static int64_t move_values(strided_access *a, int64_t low, int64_t high)
{
    pnc_statistics *statistics = a->io->file->statistics;
    pnc_counter before = pnc_statistics_begin(statistics, PNC_COUNT_TIME_CONVERT);
    int64_t offset, n, end = low, first = a->cursor.run;

    while ((n = pnc_select_cursor_take_row(&a->cursor, high, &offset)) > 0) {
        if (a->direction == PNC_PUT)
            pnc_convert_packer_pack_strided(&a->packer, a->io->stage + (offset - low), a->stride, n);
        else
            pnc_convert_packer_unpack_strided(&a->packer, a->io->stage + (offset - low), a->stride, n);
        end = offset + (n - 1) * a->stride + a->packer.ext_size;
    }
    pnc_statistics_end(statistics, before);
    pnc_statistics_add(statistics, PNC_COUNT_CONVERTED_BYTES, (a->cursor.run - first) * a->packer.ext_size);
    return end;
}

/* In portions of the staging buffer. A put writes nothing after the last value of a portion: the file does not end with
 * a gap. If a read of a get fails, the values before the failure are still returned to the user. */
static int sieve_values(strided_access *a, pnc_extent span)
{
    int64_t most = pnc_io_context_get_stage_bytes(a->io), end = span.offset + span.length, got;
    int err = NC_NOERR;

    while (err == NC_NOERR && a->cursor.run < a->cursor.selection->nruns) {
        pnc_extent portion = {a->cursor.offset, pnc_min64(end - a->cursor.offset, most)};

        if (a->direction == PNC_GET) {
            err = pnc_file_extents_read(a->io->file, &portion, 1, a->io->stage, &got);
            move_values(a, portion.offset, portion.offset + got);
            continue;
        }
        PNC_TRY(read_span(a->io, portion, a->io->stage));
        portion.length = move_values(a, portion.offset, portion.offset + portion.length) - portion.offset;
        err = pnc_file_extents_write(a->io->file, &portion, 1, a->io->stage);
    }
    return err;
}

static int execute_strided(pnc_io_context *io, pnc_request *r, const pnc_selection *s, pnc_extent span)
{
    strided_access a = {.io = io,
                        .direction = (pnc_direction)r->direction,
                        .stride = pnc_select_selection_get_axes(s)[s->rank - 1].stride};
    int err = pnc_select_cursor_init(&a.cursor, s);

    if (err == NC_NOERR && io->stage == NULL)
        io->stage = pnc_memory_alloc(pnc_io_context_get_stage_bytes(io), 1);
    if (err != NC_NOERR || io->stage == NULL)
        err = pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory for a staging buffer", io->file->path);
    else
        err = pnc_io_request_init_packer(io, r, &a.packer);
    if (err == NC_NOERR)
        err = sieve_values(&a, span);
    pnc_io_request_set_status(io, r, a.packer.status);
    pnc_convert_packer_free(&a.packer);
    pnc_select_cursor_free(&a.cursor);
    return err;
}

/* The numbers of the hyperslab show in most cases that it is no such access, without a selection. */
int pnc_io_strided_execute(pnc_io_context *io, pnc_request *r, bool *done)
{
    const pnc_elements *e = &r->elements;
    bool is_put = r->direction == PNC_PUT;
    int64_t gap = is_put ? io->file->store->sieve_write_gap : io->file->store->sieve_read_gap;
    pnc_selection own = {0};
    const pnc_selection *selection;
    int err, ndims = io->model->vars[e->varid]->ndims;
    pnc_mapping mapping;
    pnc_extent span;

    *done = false;
    if (e->form != PNC_SLABS || e->n != 1 || e->count < PNC_STRIDED_LEAST_ROW)
        return NC_NOERR;
    if (e->numbers[2 * ndims - 1] != 1 && (!e->strided || e->numbers[3 * ndims - 1] <= 1))
        return NC_NOERR;
    mapping = pnc_io_context_get_mapping(io, e->varid);
    err = pnc_mapping_selection_get(&mapping, e, 0, &own, &selection);
    if (err != NC_NOERR)
        return pnc_io_request_fail(io, e->varid, err);
    if (pnc_io_selection_is_strided(selection, e->elem_size, gap)) {
        const pnc_axis *axes = pnc_select_selection_get_axes(selection);

        span = (pnc_extent){selection->base, selection->run};
        for (int i = 0; i < selection->rank; i++)
            span.length += (axes[i].count - 1) * axes[i].stride;
        *done = !is_put || lock_span(io, span);
        if (*done)
            err = execute_strided(io, r, selection, span);
        if (*done && is_put)
            err = pnc_error_keep_first(err, unlock_span(io, span));
    }
    pnc_select_selection_free(&own);
    return err;
}
