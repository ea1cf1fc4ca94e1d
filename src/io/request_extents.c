/* Makes extents of hyperslabs. */
#include "io/request_extents.h"

#include <assert.h>

#define MOST_DIMS PNC_PIECES_DIMS
/* Larger ones are left to the checks of hyperslabs, which find overflows. */
#define MOST_BYTES (INT64_MAX / 16)
#define MOST_ELEMENTS (MOST_BYTES / 8)

/* A variable. Its record dimension has the length that an index must not exceed. */
typedef struct geometry {
    int ndims;
    bool is_record;
    int64_t elem_size;
    int64_t record; /* bytes; of the variable, if it has a fixed size */
    int64_t length[MOST_DIMS], distance[MOST_DIMS];
} geometry;

static int64_t largest_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The number of records that a request may access. */
static int64_t count_records(const pnc_io_context *io, const geometry *g, pnc_direction direction)
{
    int64_t most;

    if (direction == PNC_GET)
        return io->model->numrecs;
    most = MOST_BYTES / largest_of(largest_of(io->model->recsize, g->record), 1);
    return io->model->format < 5 && most > INT32_MAX ? INT32_MAX : most;
}

/* False if the variable is too large. */
static bool init_geometry(const pnc_io_context *io, const pnc_request *r, geometry *g)
{
    const pnc_var *var = io->model->vars[r->varid];
    int64_t distance = r->elem_size;

    g->ndims = var->ndims;
    g->is_record = var->is_record;
    g->elem_size = distance;
    g->record = var->size;
    for (int i = var->ndims - 1; i >= 0; i--) {
        g->distance[i] = distance;
        g->length[i] = var->shape[i];
        distance *= var->shape[i]; /* at most var->size */
    }
    if (var->is_record)
        g->length[0] = count_records(io, g, r->direction);
    return var->size <= MOST_BYTES;
}

/* The extent of a hyperslab, and its elements; false if it is not contiguous, or not valid. count NULL: ones. */
static inline bool make_extent(const geometry *g, const MPI_Offset *start, const MPI_Offset *count, pnc_extent *out,
                               int64_t *elements)
{
    int64_t offset = 0, all = 1;
    bool whole = true; /* all elements of the inner dimensions */

    for (int i = g->ndims - 1; i >= 0; i--) {
        int64_t n = count != NULL ? count[i] : 1;

        if (start[i] < 0 || n <= 0 || start[i] > g->length[i] - n || (n > 1 && !whole))
            return false;
        offset += start[i] * g->distance[i];
        all *= n;
        whole = whole && n == g->length[i];
    }
    *out = (pnc_extent){offset, all * g->elem_size};
    *elements = all;
    return !g->is_record || count == NULL || count[0] == 1;
}

/* Extents of two records are not adjacent. */
static inline bool is_adjacent(const geometry *g, const pnc_extent *last, int64_t offset)
{
    return last->offset + last->length == offset && (!g->is_record || offset % g->record != 0);
}

/* Extents under construction. */
typedef struct builder {
    int64_t n, capacity; /* the extents may exceed it: the request then has pieces */
    pnc_extent *last, beyond;
} builder;

static void add_extent(const geometry *g, pnc_request *r, pnc_extent extent, builder *b)
{
    if (b->n > 0) {
        r->ascends = r->ascends && extent.offset >= b->last->offset + b->last->length;
        if (is_adjacent(g, b->last, extent.offset)) {
            b->last->length += extent.length;
            return;
        }
    }
    b->last = b->n < b->capacity ? &r->extents[b->n] : &b->beyond;
    *b->last = extent;
    b->n++;
}

/* Leave the extents to be computed from the pieces. */
static void compute_later(const geometry *g, pnc_request *r)
{
    pnc_pieces *p = r->pieces;

    p->ndims = g->ndims;
    p->elem_size = g->elem_size;
    for (int i = 0; i < g->ndims; i++)
        p->distance[i] = g->distance[i];
    r->has_extents = false;
    r->has_computed = true;
}

/* The extent of a call with one hyperslab, the usual case: without the steps of a list. */
static bool make_one(const geometry *g, const pnc_call *call, pnc_request *r)
{
    if (call->start == NULL && g->ndims > 0)
        return false;
    if (!make_extent(g, call->start, call->count, r->extents, &r->elements) || r->elements > MOST_ELEMENTS)
        return false;
    r->has_extents = true;
    r->ascends = true;
    if (g->is_record && r->direction == PNC_PUT)
        r->numrecs = call->start[0] + 1;
    return true;
}

/* The extents need at most as much memory as the numbers. */
static bool make_list(const geometry *g, const pnc_call *call, pnc_request *r)
{
    builder b = {.capacity = r->has_pieces ? PNC_PIECES_NUMBERS / 2 : r->nslabs};

    r->has_extents = true;
    r->ascends = true;
    for (int64_t i = 0; i < r->nslabs; i++) {
        const MPI_Offset *start = call->starts != NULL ? call->starts[i] : NULL;
        const MPI_Offset *count = call->counts != NULL ? call->counts[i] : NULL;
        int64_t elements;
        pnc_extent extent;

        if (start == NULL && g->ndims > 0)
            return false;
        if (!make_extent(g, start, count, &extent, &elements) || elements > MOST_ELEMENTS - r->elements)
            return false;
        r->elements += elements;
        add_extent(g, r, extent, &b);
        if (g->is_record && r->direction == PNC_PUT)
            r->numrecs = largest_of(r->numrecs, start[0] + 1);
    }
    if (b.n > b.capacity)
        compute_later(g, r);
    else
        r->nslabs = b.n;
    return true;
}

/* One extent of the whole variable: if it has a fixed size, also if it has many dimensions. */
static bool make_whole(const pnc_io_context *io, pnc_request *r)
{
    const pnc_var *var = io->model->vars[r->varid];

    if (var->is_record || var->size > MOST_BYTES)
        return false;
    r->has_extents = true;
    r->extents[0] = (pnc_extent){0, var->size};
    r->ascends = true;
    r->elements = var->size / r->elem_size;
    return true;
}

static bool is_candidate(const pnc_call *call, const pnc_request *r)
{
    bool has_count = call->shape == PNC_VARN || call->shape == PNC_VAR1 || call->count != NULL;

    return has_count && !r->strided && r->ndims <= MOST_DIMS && (call->shape != PNC_VARM || call->imap == NULL);
}

bool pnc_io_request_make_extents(const pnc_io_context *io, const pnc_call *call, pnc_request *r)
{
    geometry g;

    assert(!r->has_extents && r->elements == 0 && r->numrecs == 0);
    if (call->shape == PNC_VAR)
        return make_whole(io, r);
    if (is_candidate(call, r) && init_geometry(io, r, &g) &&
        (call->shape == PNC_VARN ? make_list(&g, call, r) : make_one(&g, call, r)))
        return true;
    r->has_extents = false;
    r->ascends = false;
    r->elements = r->numrecs = 0;
    return false;
}

void pnc_io_locator_init(pnc_locator *l, const pnc_io_context *io, int varid)
{
    const pnc_var *var = io->model->vars[varid];

    *l = (pnc_locator){.varid = varid,
                       .begin = var->begin,
                       .record = var->size,
                       .step = io->model->recsize,
                       .high = var->is_record ? 0 : INT64_MAX,
                       .shift = var->begin};
}

void pnc_io_locator_seek(pnc_locator *l, int64_t offset)
{
    int64_t record = offset / l->record;

    assert(offset >= 0);
    l->low = record * l->record;
    l->high = l->low + l->record;
    l->shift = l->begin + record * l->step - l->low;
}
