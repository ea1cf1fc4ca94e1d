/* Random variables, parts of them, and memory for their elements, for tests that compare the library with the naive
 * model (test/naive.h). */
#ifndef TEST_PLACES_H
#define TEST_PLACES_H

#include <mpi.h>
#include <stdlib.h>
#include "harness.h"
#include "naive.h"

enum { MAX_RANK = 5, MAX_RANKS = 64, MAX_RECORDS = 12, MAX_BLOCKS = 4 };

struct cell {
    wide value;
    bool known;
};

struct variable {
    char name[16];
    int type, rank, dimids[MAX_RANK];
    bool record, filled; /* filled: fill mode is on */
    MPI_Offset shape[MAX_RANK];
    MPI_Offset inner; /* elements, of one record in record variables */
    wide fill;        /* what an element out of range becomes */
    struct cell *cells;
};

/* Who may touch what while ranks work independently: indices of dimension `dim`, in blocks or cyclic. */
struct partition {
    enum { SHARED, BLOCKS, CYCLIC } way;
    int dim;
    MPI_Offset cut[MAX_RANKS + 1];
};

struct block {
    MPI_Offset start[MAX_RANK], count[MAX_RANK], stride[MAX_RANK], n;
};

/* The selection of one request: a single block, except for varn. */
struct selection {
    struct block blocks[MAX_BLOCKS];
    int nblocks;
    MPI_Offset n;
    bool single; /* varn without counts */
    MPI_Offset *starts[MAX_BLOCKS], *counts[MAX_BLOCKS];
};

/* Where the elements of a request lie in memory, in units of elements. */
struct layout {
    MPI_Offset *at, span, bufcount, imap[MAX_RANK];
    MPI_Datatype type;
    bool derived;
};

/* --- selections --- */

/* The cell of element i (in row-major order) of a block. */
static MPI_Offset cell_in(const struct variable *v, const struct block *b, MPI_Offset i)
{
    MPI_Offset cell = 0, weight = 1;
    for (int k = v->rank - 1; k >= 0; k--) {
        cell += (b->start[k] + i % b->count[k] * b->stride[k]) * weight;
        i /= b->count[k];
        weight *= v->shape[k]; /* that of the record dimension comes last and is not used */
    }
    return cell;
}

/* The cell of element i of a selection, whose blocks follow each other. */
static MPI_Offset cell_at(const struct variable *v, const struct selection *s, MPI_Offset i)
{
    const struct block *b = s->blocks;
    while (i >= b->n)
        i -= b++->n;
    return cell_in(v, b, i);
}

static struct partition draw_partition(dice *d, const struct variable *v, bool shared)
{
    struct partition p = {SHARED, 0, {0}};
    if (shared || v->rank == 0)
        return p;
    p.way = dice_chance(d, 50) ? BLOCKS : CYCLIC;
    p.dim = v->record && dice_chance(d, 40) ? 0 : (int)dice_upto(d, v->rank - 1);
    MPI_Offset length = v->record && p.dim == 0 ? MAX_RECORDS : v->shape[p.dim];
    for (int r = 1; r < t_nprocs; r++) /* cut points may coincide: some ranks own nothing */
        p.cut[r] =
            dice_from(d, p.cut[r - 1], r * length / t_nprocs > p.cut[r - 1] ? r * length / t_nprocs : p.cut[r - 1]);
    p.cut[t_nprocs] = length;
    return p;
}

/* var1 always selects an element: in a collective put each rank has its own, or all write the same one. */
static struct partition one_for_each(const struct variable *v)
{
    struct partition p = {SHARED, 0, {0}};
    for (int k = v->record; k < v->rank; k++)
        if (v->shape[k] >= t_nprocs)
            p = (struct partition){CYCLIC, k, {0}};
    return p;
}

/* One dimension of a selection, within [low, high) at indices low + k * step. */
static void draw_range(dice *d, MPI_Offset low, MPI_Offset high, MPI_Offset step, bool strides, bool one,
                       MPI_Offset *start, MPI_Offset *count, MPI_Offset *stride)
{
    MPI_Offset n = high > low ? (high - low + step - 1) / step : 0;
    MPI_Offset hop = strides && dice_chance(d, 50) ? dice_from(d, 1, 3) : 1;
    bool all = !one && dice_chance(d, 40);
    MPI_Offset skip = all || n == 0 ? 0 : dice_upto(d, n - 1);
    MPI_Offset most = n == 0 ? 0 : (n - skip + hop - 1) / hop;
    *start = n == 0 ? 0 : low + skip * step;
    *stride = step * hop;
    if (one)
        *count = n > 0;
    else if (all)
        *count = most;
    else
        *count = dice_chance(d, 4) ? 0 : dice_from(d, most > 0, most);
}

/* Strides of the call do as they like; a part that is cyclic has a stride of its own, which a call without strides
 * meets with single elements. */
static struct block draw_block(dice *d, const struct variable *v, const struct partition *p, int rank, bool strides,
                               bool one, MPI_Offset records)
{
    struct block b = {{0}, {0}, {0}, 1};
    for (int k = 0; k < v->rank; k++) {
        MPI_Offset low = 0, high = v->record && k == 0 ? records : v->shape[k], step = 1;
        if (p->way == BLOCKS && p->dim == k) {
            low = p->cut[rank];
            high = p->cut[rank + 1] < high ? p->cut[rank + 1] : high;
        } else if (p->way == CYCLIC && p->dim == k) {
            low = rank;
            step = t_nprocs;
        }
        draw_range(d, low, high, step, strides, one || (step > 1 && !strides), &b.start[k], &b.count[k], &b.stride[k]);
        if (!strides)
            b.stride[k] = 1;
        b.n *= b.count[k];
    }
    return b;
}

/* A request of one rank inside its part. */
static struct selection draw_selection(dice *d, const struct variable *v, const struct partition *p, int rank,
                                       enum shape shape, MPI_Offset records)
{
    struct selection s = {.single = shape == VARN && dice_chance(d, 25)};
    bool strides = shape == VARS || shape == VARM || shape == VARD;
    int blocks = shape == VARN ? (int)dice_upto(d, v->rank > 0 ? MAX_BLOCKS : 1) : 1;
    for (int i = 0; i < blocks; i++) {
        s.blocks[s.nblocks] = draw_block(d, v, p, rank, strides, shape == VAR1 || s.single, records);
        if (s.single && s.blocks[s.nblocks].n == 0) /* without counts nothing cannot be selected */
            continue;
        s.n += s.blocks[s.nblocks++].n;
    }
    return s;
}

static struct selection whole(const struct variable *v, MPI_Offset records)
{
    struct selection s = {.nblocks = 1};
    struct block *b = s.blocks;
    s.n = 1;
    for (int k = 0; k < v->rank; k++) {
        b->count[k] = v->record && k == 0 ? records : v->shape[k];
        b->stride[k] = 1;
        s.n *= b->count[k];
    }
    b->n = s.n;
    return s;
}

/* --- layouts of memory --- */

static MPI_Offset divisor_of(dice *d, MPI_Offset n)
{
    MPI_Offset k = dice_from(d, 1, n);
    while (n % k != 0)
        k--;
    return k;
}

/* Lists at[] for one instance with n elements of a random derived datatype; returns its extent in elements. */
static MPI_Offset draw_datatype(dice *d, MPI_Datatype base, MPI_Offset n, MPI_Offset *at, MPI_Datatype *type)
{
    int a = (int)divisor_of(d, n), b = (int)(n / a), gap = (int)dice_upto(d, 3);
    int lengths[2] = {(int)dice_from(d, 1, n > 1 ? n - 1 : 1), 0}, places[2];
    MPI_Datatype inner;
    size_t size;
    switch (dice_upto(d, 3)) {
    case 0: /* a rows of b elements, b + gap apart */
        MPI_Type_vector(a, b, b + gap, base, type);
        for (int i = 0; i < n; i++)
            at[i] = i / b * (b + gap) + i % b;
        return (MPI_Offset)(a - 1) * (b + gap) + b;
    case 1: { /* a x b out of a larger array, as for ghost cells */
        int sizes[2] = {a + gap, b + 2}, subsizes[2] = {a, b}, starts[2] = {gap / 2, 1};
        MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, base, type);
        for (int i = 0; i < n; i++)
            at[i] = (i / b + starts[0]) * sizes[1] + i % b + 1;
        return (MPI_Offset)sizes[0] * sizes[1];
    }
    case 2: /* every element followed by a gap */
        size = (size_t)(1 + gap);
        {
            int bytes;
            MPI_Type_size(base, &bytes);
            MPI_Type_create_resized(base, 0, (MPI_Aint)size * bytes, &inner);
        }
        MPI_Type_contiguous((int)n, inner, type);
        MPI_Type_free(&inner);
        for (int i = 0; i < n; i++)
            at[i] = (MPI_Offset)size * i;
        return (MPI_Offset)size * n;
    default: /* two blocks, the later one first in memory */
        lengths[1] = (int)n - lengths[0];
        places[0] = lengths[1] + gap;
        places[1] = 0;
        MPI_Type_indexed(2, lengths, places, base, type);
        for (int i = 0; i < n; i++)
            at[i] = i < lengths[0] ? places[0] + i : i - lengths[0];
        if (lengths[1] > 0)
            return n + gap;
        return at[0] > 0 ? lengths[0] : lengths[0] + gap;
    }
}

static void layout_flexible(dice *d, enum memory memory, MPI_Offset n, int xtype, struct layout *m)
{
    MPI_Datatype base = memory_types[memory].mpi;
    m->type = base;
    m->bufcount = n;
    if (n == 0 || dice_chance(d, 20)) {
        if (memory == memory_of_type[xtype] && dice_chance(d, 50))
            m->type = MPI_DATATYPE_NULL; /* "the buffer has the variable's type" */
        return;
    }
    MPI_Offset instances = divisor_of(d, n), each = n / instances;
    draw_datatype(d, base, each, m->at, &m->type);
    MPI_Type_commit(&m->type);
    MPI_Aint low, extent;
    int bytes;
    MPI_Type_get_extent(m->type, &low, &extent);
    MPI_Type_size(base, &bytes);
    m->derived = true;
    m->bufcount = instances;
    for (MPI_Offset i = n - 1; i >= 0; i--)
        m->at[i] = m->at[i % each] + i / each * (extent / bytes);
}

/* A permutation of the dimensions with gaps between rows. */
static void layout_imap(dice *d, const struct variable *v, const struct selection *s, struct layout *m)
{
    int order[MAX_RANK];
    MPI_Offset step = dice_from(d, 1, dice_chance(d, 70) ? 1 : 3);
    for (int k = 0; k < v->rank; k++)
        order[k] = k;
    for (int k = v->rank - 1; k > 0; k--) {
        int other = (int)dice_upto(d, k), keep = order[k];
        order[k] = order[other];
        order[other] = keep;
    }
    for (int k = v->rank - 1; k >= 0; k--) {
        m->imap[order[k]] = step;
        step = step * (s->blocks[0].count[order[k]] > 0 ? s->blocks[0].count[order[k]] : 1) +
               (dice_chance(d, 30) ? dice_upto(d, 3) : 0);
    }
    for (MPI_Offset i = 0; i < s->n; i++) {
        MPI_Offset rest = i;
        m->at[i] = 0;
        for (int k = v->rank - 1; k >= 0; k--) {
            m->at[i] += rest % s->blocks[0].count[k] * m->imap[k];
            rest /= s->blocks[0].count[k];
        }
    }
}

static void draw_layout(dice *d, const struct variable *v, const struct selection *s, struct call *c, struct layout *m)
{
    *m = (struct layout){NULL, 0, s->n, {0}, memory_types[c->memory].mpi, false};
    m->at = malloc(((size_t)s->n + 1) * sizeof *m->at);
    for (MPI_Offset i = 0; i < s->n; i++)
        m->at[i] = i;
    bool map = c->shape == VARM && v->rank > 0 && dice_chance(d, 80);
    if (map)
        layout_imap(d, v, s, m);
    else if (c->flexible && c->shape != VARM)
        layout_flexible(d, c->memory, s->n, v->type, m);
    for (MPI_Offset i = 0; i < s->n; i++)
        m->span = m->at[i] >= m->span ? m->at[i] + 1 : m->span;
    c->imap = map ? m->imap : NULL;
    c->bufcount = m->bufcount;
    c->buftype = m->type;
}

static void layout_free_type(struct layout *m)
{
    if (m->derived)
        MPI_Type_free(&m->type);
    m->derived = false;
}

#endif
