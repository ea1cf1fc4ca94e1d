/* Reads windows of the file, and takes the values from there, or puts them there and writes the window, row by row. */
#include "io/direct/strided.h"

#include "base/memory.h"
#include "io/direct/sieve.h"

typedef struct strided_access {
    pnc_io_context *io;
    const pnc_selection *selection;
    pnc_selection_cursor cursor;
    pnc_packer packer;
    int64_t stride;  /* bytes from value to value */
    pnc_extent span; /* from the first to the last value */
} strided_access;

/* --- which requests --- */

static bool may_be_strided(const pnc_io_context *io, const pnc_elements *e)
{
    int ndims = io->model->vars[e->varid]->ndims;
    pnc_slab slab;

    if (e->form != PNC_SLABS || e->n != 1 || e->count < PNC_STRIDED_LEAST_ROW)
        return false;
    slab = pnc_mapping_slab_get(e, ndims, 0);
    return slab.count[ndims - 1] == 1 || (slab.stride != NULL && slab.stride[ndims - 1] > 1);
}

static bool suits_strided(const pnc_io_context *io, const pnc_request *r, const pnc_selection *s)
{
    const pnc_store *store = io->file->store;
    int64_t gap = r->direction == PNC_PUT ? store->sieve_write_gap : store->sieve_read_gap;

    return pnc_io_selection_is_strided(s, r->elements.elem_size, gap);
}

static pnc_extent find_strided_span(const pnc_selection *s)
{
    const pnc_axis *axes = pnc_select_selection_get_axes(s);
    int64_t length = s->run;

    for (int i = 0; i < s->rank; i++)
        length += (axes[i].count - 1) * axes[i].stride;
    return (pnc_extent){s->base, length};
}

/* --- execution --- */

/* Take the values that end at or before `high` from a buffer that begins with the byte at `low`. */
static void unpack_window(strided_access *g, int64_t low, int64_t high)
{
    pnc_statistics *statistics = g->io->file->statistics;
    pnc_counter before = pnc_statistics_begin(statistics, PNC_COUNT_TIME_CONVERT);
    int64_t offset, n, first = g->cursor.run;

    while ((n = pnc_select_cursor_take_row(&g->cursor, high, &offset)) > 0)
        pnc_convert_packer_unpack_strided(&g->packer, g->io->stage + (offset - low), g->stride, n);
    pnc_statistics_end(statistics, before);
    pnc_statistics_add(statistics, PNC_COUNT_CONVERTED_BYTES, (g->cursor.run - first) * g->packer.ext_size);
}

/* Put the values that end at or before `high` into a buffer that begins with the byte at `low`. Returns the file offset
 * after the last one. */
static int64_t pack_window(strided_access *g, int64_t low, int64_t high)
{
    pnc_statistics *statistics = g->io->file->statistics;
    pnc_counter before = pnc_statistics_begin(statistics, PNC_COUNT_TIME_CONVERT);
    int64_t offset, n, end = low, first = g->cursor.run;

    while ((n = pnc_select_cursor_take_row(&g->cursor, high, &offset)) > 0) {
        pnc_convert_packer_pack_strided(&g->packer, g->io->stage + (offset - low), g->stride, n);
        end = offset + (n - 1) * g->stride + g->packer.ext_size;
    }
    pnc_statistics_end(statistics, before);
    pnc_statistics_add(statistics, PNC_COUNT_CONVERTED_BYTES, (g->cursor.run - first) * g->packer.ext_size);
    return end;
}

/* As much of the rest of the request as the buffer holds. */
static pnc_extent find_window(const strided_access *g)
{
    int64_t rest = g->span.offset + g->span.length - g->cursor.offset, most = pnc_io_context_get_stage_bytes(g->io);

    return (pnc_extent){g->cursor.offset, rest < most ? rest : most};
}

/* Nothing is written after the last value of a window: the file does not end with a gap. */
static int put_windows(strided_access *g)
{
    while (g->cursor.run < g->selection->nruns) {
        pnc_extent window = find_window(g);

        PNC_TRY(pnc_io_span_read(g->io, window, g->io->stage));
        window.length = pack_window(g, window.offset, window.offset + window.length) - window.offset;
        PNC_TRY(pnc_file_extents_write(g->io->file, &window, 1, g->io->stage));
    }
    return NC_NOERR;
}

/* If a read fails, the values before the failure are still returned to the user. */
static int get_windows(strided_access *g)
{
    int err = NC_NOERR;

    while (err == NC_NOERR && g->cursor.run < g->selection->nruns) {
        pnc_extent window = find_window(g);
        int64_t got;

        err = pnc_file_extents_read(g->io->file, &window, 1, g->io->stage, &got);
        unpack_window(g, window.offset, window.offset + got);
    }
    return err;
}

static int execute_strided(pnc_io_context *io, pnc_request *r, const pnc_selection *s, pnc_extent span)
{
    strided_access g = {
        .io = io, .selection = s, .stride = pnc_select_selection_get_axes(s)[s->rank - 1].stride, .span = span};
    int err = pnc_select_cursor_init(&g.cursor, s);

    if (err == NC_NOERR && io->stage == NULL)
        io->stage = pnc_memory_alloc(pnc_io_context_get_stage_bytes(io), 1);
    if (err != NC_NOERR || io->stage == NULL)
        err = pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory for a staging buffer", io->file->path);
    else
        err = pnc_io_request_init_packer(io, r, &g.packer);
    if (err == NC_NOERR)
        err = r->direction == PNC_PUT ? put_windows(&g) : get_windows(&g);
    pnc_io_request_set_status(io, r, g.packer.status);
    pnc_convert_packer_free(&g.packer);
    pnc_select_cursor_free(&g.cursor);
    return err;
}

int pnc_io_strided_execute(pnc_io_context *io, pnc_request *r, bool *done)
{
    pnc_selection own = {0};
    const pnc_selection *selection;
    pnc_mapping mapping;
    int err;

    *done = false;
    if (!may_be_strided(io, &r->elements))
        return NC_NOERR;
    mapping = pnc_io_context_get_mapping(io, r->elements.varid);
    err = pnc_mapping_selection_get(&mapping, &r->elements, 0, &own, &selection);
    if (err != NC_NOERR)
        return pnc_io_request_fail(io, r->elements.varid, err);
    if (suits_strided(io, r, selection)) {
        pnc_extent span = find_strided_span(selection);
        bool is_put = r->direction == PNC_PUT;

        *done = !is_put || pnc_io_span_lock(io, span);
        if (*done)
            err = execute_strided(io, r, selection, span);
        if (*done && is_put)
            err = pnc_error_keep_first(err, pnc_io_span_unlock(io, span));
    }
    pnc_select_selection_free(&own);
    return err;
}
