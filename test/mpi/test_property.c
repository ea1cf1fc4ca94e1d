/* The property test: random datasets and random requests through the library against a naive model in memory, one wide
 * number per element (test/naive.h). A case is one put or get whose code and data are compared on every rank.
 *
 * All ranks draw from one random stream and so know every rank's request; each keeps the whole model. What concerns
 * only one rank's memory (values, layout of the buffer) comes from a stream of its own.
 *
 * PNC_PROPERTY_CASES  number of cases (or first argument)
 * PNC_PROPERTY_SEED   first seed (or second argument); file i uses seed + i, and a failure prints its own
 * PNC_PROPERTY_TRACE  1: rank 0 prints every operation */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "../harness.h"
#include "../naive.h"

enum { MAX_DIMS = 16, MAX_VARS = 12, MAX_RANK = 5, MAX_ATTS = 24, MAX_RECORDS = 12, MAX_INNER = 240, MAX_RANKS = 64 };

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
    wide fill; /* what an element out of range becomes */
    struct cell *cells;
};

struct attribute {
    int varid, type, length, serial;
};

/* Who may touch what while ranks work independently: indices of dimension `dim`, in blocks or cyclic. */
struct partition {
    enum { SHARED, BLOCKS, CYCLIC } way;
    int dim;
    MPI_Offset cut[MAX_RANKS + 1];
};

struct file {
    dice d;
    uint64_t seed;
    char path[1024];
    int ncid, format, ndims, nvars, natts, unlimited;
    MPI_Offset dims[MAX_DIMS], records, mine[MAX_RANKS]; /* mine: as each rank knows it in independent mode */
    struct variable vars[MAX_VARS];
    struct attribute atts[MAX_ATTS];
    bool alive; /* false: a call failed that the rest needs */
    long operations;
    int failures;
    char story[400]; /* the operation under way, for messages */
};

struct selection {
    MPI_Offset start[MAX_RANK], count[MAX_RANK], stride[MAX_RANK], n;
};

/* Where the elements of a request lie in memory, in units of elements. */
struct layout {
    MPI_Offset *at, span, bufcount, imap[MAX_RANK];
    MPI_Datatype type;
    bool derived;
};

static bool trace;

/* Remembers a failure with all that is needed to run it again; the run goes on so that ranks stay together. */
static bool expect(struct file *f, bool ok, const char *what, int got, int wanted)
{
    if (ok)
        return true;
    f->failures++;
    t_local(false,
            "%s: %s (code %s, expected %s); again: PNC_PROPERTY_SEED=%llu PNC_PROPERTY_CASES=1 "
            "mpiexec -n %d test_property",
            f->story, what, ncmpi_strerrno(got), ncmpi_strerrno(wanted), (unsigned long long)f->seed, t_nprocs);
    return false;
}

/* A call that the rest of this file depends on. */
static void must(struct file *f, int code, const char *what)
{
    snprintf(f->story, sizeof f->story, "file op %ld", f->operations);
    if (!expect(f, code == NC_NOERR, what, code, NC_NOERR))
        f->alive = false;
}

/* --- attributes: their values follow from their serial number --- */

static void attribute_name(const struct attribute *a, char name[32])
{
    snprintf(name, 32, "attribute_%d", a->serial);
}

static int attribute_write(int ncid, const struct attribute *a)
{
    char name[32], text[128];
    double values[128];
    attribute_name(a, name);
    for (int i = 0; i < a->length; i++) {
        values[i] = (a->serial * 7 + i) % 120;
        text[i] = (char)('a' + (a->serial + i) % 26);
    }
    if (a->type == NC_CHAR)
        return ncmpi_put_att_text(ncid, a->varid, name, a->length, text);
    return ncmpi_put_att_double(ncid, a->varid, name, (nc_type)a->type, a->length, values);
}

static bool attribute_holds(int ncid, const struct attribute *a)
{
    char name[32], text[128];
    double values[128];
    nc_type type;
    MPI_Offset length;
    attribute_name(a, name);
    if (ncmpi_inq_att(ncid, a->varid, name, &type, &length) != NC_NOERR || type != a->type || length != a->length)
        return false;
    int code = type == NC_CHAR ? ncmpi_get_att_text(ncid, a->varid, name, text)
                               : ncmpi_get_att_double(ncid, a->varid, name, values);
    for (int i = 0; i < a->length && code == NC_NOERR; i++)
        if (type == NC_CHAR ? text[i] != 'a' + (a->serial + i) % 26 : values[i] != (a->serial * 7 + i) % 120)
            return false;
    return code == NC_NOERR;
}

/* --- define mode --- */

static int draw_type(struct file *f)
{
    return (int)dice_from(&f->d, 1, f->format == 5 ? 11 : 6);
}

static void define_dims(struct file *f)
{
    for (int more = (int)dice_upto(&f->d, 4); more > 0 && f->ndims < MAX_DIMS; more--) {
        char name[16];
        bool unlimited = f->unlimited < 0 && dice_chance(&f->d, 50);
        MPI_Offset length = unlimited ? NC_UNLIMITED : dice_from(&f->d, 1, dice_chance(&f->d, 70) ? 6 : 40);
        int id;
        snprintf(name, sizeof name, "d%d", f->ndims);
        must(f, ncmpi_def_dim(f->ncid, name, length, &id), "def_dim");
        if (unlimited)
            f->unlimited = f->ndims;
        f->dims[f->ndims++] = length;
    }
}

static void choose_shape(struct file *f, struct variable *v)
{
    v->rank = f->ndims == 0 ? 0 : (int)dice_upto(&f->d, MAX_RANK);
    v->record = v->rank > 0 && f->unlimited >= 0 && dice_chance(&f->d, 60);
    v->inner = 1;
    for (int i = 0; i < v->rank; i++) {
        int id = v->record && i == 0 ? f->unlimited : (int)dice_upto(&f->d, f->ndims - 1);
        bool fits = id == f->unlimited ? v->record && i == 0 : v->inner * f->dims[id] <= MAX_INNER;
        if (!fits) {
            v->rank = i;
            break;
        }
        v->dimids[i] = id;
        v->shape[i] = f->dims[id];
        v->inner *= v->record && i == 0 ? 1 : f->dims[id];
    }
}

/* Fill mode, with the default or an own value. All cells of a fixed variable become known when the define mode ends. */
static void choose_fill(struct file *f, struct variable *v, int varid)
{
    enum memory memory = memory_of_type[v->type];
    char value[8];
    v->fill = kind_of_type[v->type].fill;
    if (!dice_chance(&f->d, 40))
        return;
    v->filled = dice_chance(&f->d, 80);
    bool own = v->filled && dice_chance(&f->d, 50);
    if (own) {
        v->fill = dice_from(&f->d, 0, 100);
        naive_store(memory, value, v->fill);
    }
    must(f, ncmpi_def_var_fill(f->ncid, varid, !v->filled, own ? value : NULL), "def_var_fill");
}

static void define_vars(struct file *f)
{
    for (int more = (int)dice_from(&f->d, f->nvars == 0, 4); more > 0 && f->nvars < MAX_VARS; more--) {
        struct variable *v = &f->vars[f->nvars];
        int id;
        memset(v, 0, sizeof *v);
        snprintf(v->name, sizeof v->name, "v%d", f->nvars);
        v->type = draw_type(f);
        choose_shape(f, v);
        must(f, ncmpi_def_var(f->ncid, v->name, v->type, v->rank, v->dimids, &id), "def_var");
        expect(f, id == f->nvars || !f->alive, "id of a new variable", id, f->nvars);
        choose_fill(f, v, f->nvars++);
        v->cells = calloc((size_t)(v->inner * (v->record ? MAX_RECORDS : 1)), sizeof *v->cells);
        for (MPI_Offset i = 0; i < v->inner && v->filled && !v->record; i++)
            v->cells[i] = (struct cell){v->fill, true};
    }
}

static void define_atts(struct file *f)
{
    for (int more = (int)dice_upto(&f->d, 4); more > 0 && f->natts < MAX_ATTS; more--) {
        struct attribute *a = &f->atts[f->natts];
        *a = (struct attribute){(int)dice_from(&f->d, -1, f->nvars - 1), draw_type(f), 0, f->natts};
        a->length = (int)dice_upto(&f->d, dice_chance(&f->d, 80) ? 6 : 120);
        must(f, attribute_write(f->ncid, a), "put_att");
        f->natts++;
    }
}

static void define(struct file *f)
{
    define_dims(f);
    define_vars(f);
    define_atts(f);
    if (dice_chance(&f->d, 70)) {
        must(f, ncmpi_enddef(f->ncid), "enddef");
    } else {
        MPI_Offset h = dice_upto(&f->d, 300), v = dice_from(&f->d, 1, 300), m = dice_upto(&f->d, 300);
        must(f, ncmpi__enddef(f->ncid, h, v, m, dice_from(&f->d, 1, 300)), "_enddef");
    }
}

/* --- selections --- */

/* The cell that element i (in row-major order) of a selection stands for. */
static MPI_Offset cell_at(const struct variable *v, const struct selection *s, MPI_Offset i)
{
    MPI_Offset cell = 0, weight = 1;
    for (int k = v->rank - 1; k >= 0; k--) {
        cell += (s->start[k] + i % s->count[k] * s->stride[k]) * weight;
        i /= s->count[k];
        weight *= v->shape[k]; /* that of the record dimension comes last and is not used */
    }
    return cell;
}

static struct partition draw_partition(struct file *f, const struct variable *v, bool shared)
{
    struct partition p = {SHARED, 0, {0}};
    if (shared || v->rank == 0)
        return p;
    p.way = dice_chance(&f->d, 50) ? BLOCKS : CYCLIC;
    p.dim = v->record && dice_chance(&f->d, 40) ? 0 : (int)dice_upto(&f->d, v->rank - 1);
    MPI_Offset length = v->record && p.dim == 0 ? MAX_RECORDS : v->shape[p.dim];
    for (int r = 1; r < t_nprocs; r++) /* cut points may coincide: some ranks own nothing */
        p.cut[r] =
            dice_from(&f->d, p.cut[r - 1], r * length / t_nprocs > p.cut[r - 1] ? r * length / t_nprocs : p.cut[r - 1]);
    p.cut[t_nprocs] = length;
    return p;
}

/* var1 cannot ask for nothing, so in a collective put each rank needs an element, or all write the same one. */
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
    *count = one ? (n > 0) : all ? most : dice_chance(d, 4) ? 0 : dice_from(d, most > 0, most);
}

/* A request of one rank inside its part; unit stride unless the shape of the call has strides. */
static struct selection draw_selection(struct file *f, const struct variable *v, const struct partition *p, int rank,
                                       enum shape shape, MPI_Offset records)
{
    struct selection s = {{0}, {0}, {0}, 1};
    for (int k = 0; k < v->rank; k++) {
        MPI_Offset low = 0, high = v->record && k == 0 ? records : v->shape[k], step = 1;
        bool strides = shape == VARS || shape == VARM;
        if (p->way == BLOCKS && p->dim == k) {
            low = p->cut[rank];
            high = p->cut[rank + 1] < high ? p->cut[rank + 1] : high;
        } else if (p->way == CYCLIC && p->dim == k) {
            low = rank;
            step = t_nprocs;
        }
        draw_range(&f->d, low, high, step, strides, shape == VAR1 || (step > 1 && !strides), &s.start[k], &s.count[k],
                   &s.stride[k]);
        if (!strides)
            s.stride[k] = 1;
        s.n *= s.count[k];
    }
    return s;
}

static struct selection whole(const struct variable *v, MPI_Offset records)
{
    struct selection s = {{0}, {0}, {0}, 1};
    for (int k = 0; k < v->rank; k++) {
        s.count[k] = v->record && k == 0 ? records : v->shape[k];
        s.stride[k] = 1;
        s.n *= s.count[k];
    }
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
        return lengths[1] > 0 ? n + gap : (at[0] > 0 ? lengths[0] : lengths[0] + gap);
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
        step = step * (s->count[order[k]] > 0 ? s->count[order[k]] : 1) + (dice_chance(d, 30) ? dice_upto(d, 3) : 0);
    }
    for (MPI_Offset i = 0; i < s->n; i++) {
        MPI_Offset rest = i;
        m->at[i] = 0;
        for (int k = v->rank - 1; k >= 0; k--) {
            m->at[i] += rest % s->count[k] * m->imap[k];
            rest /= s->count[k];
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

static void layout_free(struct layout *m)
{
    if (m->derived)
        MPI_Type_free(&m->type);
    free(m->at);
}

/* --- requests --- */

static void tell(struct file *f, const struct variable *v, const struct call *c, const struct selection *s)
{
    int n = snprintf(f->story, sizeof f->story, "file op %ld: CDF-%d %s%s_%s %s %s%s(%d-D%s) records %lld",
                     f->operations, f->format, c->put ? "put_" : "get_", shape_names[c->shape],
                     memory_types[c->memory].name, c->flexible ? "flexible " : "", c->collective ? "" : "independent ",
                     type_names[v->type], v->rank, v->record ? " record" : "", (long long)f->records);
    for (int k = 0; k < v->rank && n < (int)sizeof f->story; k++)
        n += snprintf(f->story + n, sizeof f->story - (size_t)n, " %lld:%lldx%lld%s%.0lld", (long long)s->start[k],
                      (long long)s->count[k], (long long)s->stride[k], c->imap ? "@" : "",
                      c->imap ? (long long)c->imap[k] : 0);
    if (trace && t_rank == 0)
        printf("# %s\n", f->story);
}

/* The library's own call, with everything it must leave alone checked: the put buffer, gaps of the get buffer. */
static void run_put(struct file *f, const struct variable *v, struct call *c, const struct selection *s, dice *d,
                    const wide *values, int wanted)
{
    struct layout m;
    draw_layout(d, v, s, c, &m);
    size_t size = memory_types[c->memory].size, bytes = (size_t)m.span * size + 1;
    char *buffer = malloc(bytes), *copy = malloc(bytes);
    memset(buffer, 0x5b, bytes);
    for (MPI_Offset i = 0; i < s->n; i++)
        naive_store(c->memory, buffer + (size_t)m.at[i] * size, values[i]);
    memcpy(copy, buffer, bytes);
    c->buffer = buffer;
    tell(f, v, c, s);
    int code = call_run(f->ncid, (int)(v - f->vars), c);
    expect(f, code == wanted, "code of the put", code, wanted);
    expect(f, memcmp(copy, buffer, bytes) == 0, "the put changed its buffer", code, wanted);
    free(copy);
    free(buffer);
    layout_free(&m);
}

static void run_get(struct file *f, const struct variable *v, struct call *c, const struct selection *s, dice *d,
                    bool lenient)
{
    struct layout m;
    draw_layout(d, v, s, c, &m);
    size_t size = memory_types[c->memory].size, bytes = (size_t)m.span * size + 1;
    char *buffer = malloc(bytes), *blank = malloc(bytes);
    int wanted = NC_NOERR;
    bool text = (v->type == NC_CHAR) != (c->memory == M_TEXT);
    memset(blank, 0xa4, bytes);
    memcpy(buffer, blank, bytes);
    c->buffer = buffer;
    tell(f, v, c, s);
    int code = call_run(f->ncid, (int)(v - f->vars), c);
    bool failed = code != NC_NOERR && code != NC_ERANGE;
    for (MPI_Offset i = 0; i < s->n && !text; i++) {
        struct cell *cell = &v->cells[cell_at(v, s, i)];
        char *at = buffer + (size_t)m.at[i] * size;
        wide value = 0, got = naive_load(c->memory, at);
        enum verdict verdict = cell->known ? naive_get(cell->value, v->type, c->memory, f->format, &value) : UNDEFINED;
        if (verdict == RANGE) {
            wanted = NC_ERANGE;
            value = kind_of_memory[c->memory].fill;
        }
        if (verdict != UNDEFINED && !failed && !wide_same(got, value)) {
            char what[160];
            snprintf(what, sizeof what, "element %lld of %lld is %.20Lg, not %.20Lg", (long long)i, (long long)s->n,
                     (long double)got, (long double)value);
            expect(f, false, what, code, wanted);
        }
        memcpy(at, blank, size);
    }
    wanted = text ? NC_ECHAR : wanted;
    expect(f, code == wanted || lenient, "code of the get", code, wanted);
    expect(f, failed || memcmp(buffer, blank, bytes) == 0, "the get wrote beside its elements", code, wanted);
    free(blank);
    free(buffer);
    layout_free(&m);
}

/* One rank's put in the model; returns the code that the rank must get. values receives what goes into memory. */
static int model_put(struct file *f, struct variable *v, const struct call *c, const struct selection *s, dice *d,
                     wide *values, MPI_Offset *records)
{
    int code = NC_NOERR;
    bool wild = dice_chance(d, 40);
    if ((v->type == NC_CHAR) != (c->memory == M_TEXT))
        code = NC_ECHAR;
    for (MPI_Offset i = 0; i < s->n; i++) {
        values[i] = naive_draw(d, c->memory, v->type, wild);
        if (code == NC_ECHAR)
            continue;
        struct cell *cell = &v->cells[cell_at(v, s, i)];
        enum verdict verdict = naive_put(values[i], c->memory, v->type, f->format, &cell->value);
        cell->known = verdict != UNDEFINED;
        if (verdict == RANGE) {
            cell->value = v->fill;
            code = NC_ERANGE;
        }
    }
    if (v->record && s->n > 0 && code != NC_ECHAR) {
        MPI_Offset end = s->start[0] + (s->count[0] - 1) * s->stride[0] + 1;
        *records = end > *records ? end : *records;
    }
    return code;
}

static bool all_known(const struct variable *v, const struct selection *s)
{
    for (MPI_Offset i = 0; i < s->n; i++)
        if (!v->cells[cell_at(v, s, i)].known)
            return false;
    return true;
}

/* What all ranks share in one operation. */
static struct call draw_call(struct file *f, const struct variable *v, bool put, bool collective)
{
    struct call c = {.put = put, .collective = collective};
    c.shape = (enum shape)dice_upto(&f->d, SHAPES - 1);
    c.flexible = dice_chance(&f->d, 30);
    c.memory = dice_chance(&f->d, 50) ? memory_of_type[v->type] : (enum memory)dice_upto(&f->d, MEMORIES - 1);
    if (v->type == NC_CHAR && dice_chance(&f->d, 90))
        c.memory = M_TEXT;
    else if (v->type != NC_CHAR && c.memory == M_TEXT && dice_chance(&f->d, 80))
        c.memory = M_DOUBLE;
    return c;
}

static void point(struct call *c, const struct selection *s, bool null_stride)
{
    c->start = s->start;
    c->count = s->count;
    c->stride = s->stride;
    for (int k = 0; null_stride && k < MAX_RANK; k++)
        null_stride = s->stride[k] <= 1;
    if (null_stride)
        c->stride = NULL;
}

/* A put by the ranks in `who`; with one and the same selection and data where it cannot be disjoint. */
static void do_put(struct file *f, struct variable *v, struct call *c, const struct partition *part, const bool *who)
{
    MPI_Offset before = f->records, most = 0;
    bool same = c->shape == VAR || v->rank == 0 || part->way == SHARED;
    uint64_t common = dice_next(&f->d);
    wide *values = malloc(sizeof *values * MAX_INNER * MAX_RECORDS);
    struct selection s = {{0}, {0}, {0}, 0};
    for (int r = 0; r < t_nprocs; r++) {
        MPI_Offset *records = c->collective ? &most : &f->mine[r];
        MPI_Offset now = c->collective ? before : f->mine[r], limit = now + 3 < MAX_RECORDS ? now + 3 : MAX_RECORDS;
        if (!same || r == 0)
            s = c->shape == VAR ? whole(v, now) : draw_selection(f, v, part, r, c->shape, limit);
        dice mine = same ? common : dice_next(&f->d);
        if (!who[r])
            continue;
        struct call own = *c;
        if (c->shape == VAR1 && s.n == 0) /* this rank owns nothing: a request without elements needs a count */
            own.shape = VARA;
        int code = model_put(f, v, &own, &s, &mine, values, records);
        point(&own, &s, dice_chance(&mine, 30));
        if (r == t_rank)
            run_put(f, v, &own, &s, &mine, values, code);
    }
    free(values);
    if (c->collective && most > f->records)
        f->records = most;
}

static void do_get(struct file *f, struct variable *v, struct call *c, const struct partition *part, const bool *who)
{
    struct selection s, mine = {{0}, {0}, {0}, 0};
    bool lenient = false;
    for (int r = 0; r < t_nprocs; r++) {
        MPI_Offset now = c->collective ? f->records : f->mine[r];
        s = c->shape == VAR ? whole(v, now) : draw_selection(f, v, part, r, c->shape, now);
        if (who[r] && (c->collective || r == t_rank))
            lenient |= !all_known(v, &s);
        if (r == t_rank)
            mine = s;
    }
    dice own = dice_next(&f->d) + (uint64_t)t_rank;
    if (!who[t_rank])
        return;
    if (c->shape == VAR1 && mine.n == 0)
        c->shape = VARA;
    point(c, &mine, dice_chance(&own, 30));
    run_get(f, v, c, &mine, &own, lenient);
}

/* What one rank wrote may be read by another after both have synchronised (MPI 4.0, 14.6.1); on one machine a barrier
 * is as good as ncmpi_sync. */
static void settle(struct file *f)
{
    if (dice_chance(&f->d, 20))
        must(f, ncmpi_sync(f->ncid), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void collective_operation(struct file *f)
{
    bool who[MAX_RANKS], put = dice_chance(&f->d, 50);
    struct variable *v = &f->vars[dice_upto(&f->d, f->nvars - 1)];
    struct call c = draw_call(f, v, put, true);
    struct partition part = draw_partition(f, v, !put);
    if (put && c.shape == VAR1)
        part = one_for_each(v);
    for (int r = 0; r < t_nprocs; r++)
        who[r] = true;
    (put ? do_put : do_get)(f, v, &c, &part, who);
    if (put)
        settle(f);
}

/* Ranks work on their own parts, in their own number of operations; nobody reads what another may write meanwhile. */
static void independent_phase(struct file *f, long *cases)
{
    bool who[MAX_RANKS], reading = dice_chance(&f->d, 30);
    struct partition parts[MAX_VARS];
    must(f, ncmpi_begin_indep_data(f->ncid), "begin_indep_data");
    for (int r = 0; r < t_nprocs; r++)
        f->mine[r] = f->records;
    for (int i = 0; i < f->nvars; i++)
        parts[i] = draw_partition(f, &f->vars[i], reading);
    for (long n = dice_from(&f->d, 2, 10); n > 0 && f->alive; n--, ++*cases) {
        int id = (int)dice_upto(&f->d, f->nvars - 1);
        bool put = !reading && dice_chance(&f->d, 60), whole_is_shared = t_nprocs > 1 && !reading;
        struct variable *v = &f->vars[id];
        struct call c = draw_call(f, v, put, false);
        f->operations++;
        if (c.shape == VAR && whole_is_shared)
            c.shape = VARA;
        for (int r = 0; r < t_nprocs; r++)
            who[r] = v->rank == 0 && whole_is_shared ? r == id % t_nprocs : dice_chance(&f->d, 80);
        (put ? do_put : do_get)(f, v, &c, &parts[id], who);
    }
    for (int r = 0; r < t_nprocs; r++)
        f->records = f->mine[r] > f->records ? f->mine[r] : f->records;
    must(f, ncmpi_end_indep_data(f->ncid), "end_indep_data");
    settle(f);
}

/* --- the life of a file --- */

static void hint(dice *d, MPI_Info info, int percent, const char *key, int low, int high)
{
    char value[16];
    snprintf(value, sizeof value, "%d", (int)dice_from(d, low, high));
    if (dice_chance(d, percent))
        MPI_Info_set(info, key, value);
}

static MPI_Info draw_hints(dice *d)
{
    static const char *const swap[] = {"enable", "disable", "auto"};
    MPI_Info info;
    if (dice_chance(d, 30))
        return MPI_INFO_NULL;
    MPI_Info_create(&info);
    hint(d, info, 30, "cb_buffer_size", 500, 500);
    hint(d, info, 20, "ind_rd_buffer_size", 60, 60);
    hint(d, info, 20, "ind_wr_buffer_size", 70, 70);
    hint(d, info, 40, "nc_ibuf_size", 0, 200);
    hint(d, info, 40, "nc_var_align_size", 1, 700);
    hint(d, info, 10, "nc_header_align_size", 1, 700);
    hint(d, info, 40, "nc_record_align_size", 1, 200);
    hint(d, info, 30, "nc_header_read_chunk_size", 1, 100);
    hint(d, info, 40, "nc_data_move_chunk_size", 1, 100);
    if (dice_chance(d, 40))
        MPI_Info_set(info, "nc_in_place_swap", swap[dice_upto(d, 2)]);
    return info;
}

static void open_file(struct file *f, bool create)
{
    MPI_Info info = draw_hints(&f->d);
    int cmode = f->format == 5 ? NC_64BIT_DATA : f->format == 2 ? NC_64BIT_OFFSET : 0;
    if (create)
        must(f, ncmpi_create(MPI_COMM_WORLD, f->path, NC_CLOBBER | cmode, info, &f->ncid), "create");
    else
        must(f, ncmpi_open(MPI_COMM_WORLD, f->path, NC_WRITE, info, &f->ncid), "open");
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}

static void check_metadata(struct file *f)
{
    int ndims, nvars, natts, unlimited, format, globals = 0;
    MPI_Offset records = 0;
    snprintf(f->story, sizeof f->story, "file op %ld: metadata", f->operations);
    int code = ncmpi_inq(f->ncid, &ndims, &nvars, &natts, &unlimited);
    for (int i = 0; i < f->natts; i++) {
        globals += f->atts[i].varid == NC_GLOBAL;
        expect(f, attribute_holds(f->ncid, &f->atts[i]), "attribute", NC_NOERR, NC_NOERR);
    }
    bool ok =
        code == NC_NOERR && ndims == f->ndims && nvars == f->nvars && unlimited == f->unlimited && natts == globals;
    expect(f, ok, "numbers of dimensions, variables, attributes", code, NC_NOERR);
    code = ncmpi_inq_format(f->ncid, &format);
    expect(f, format == f->format, "format", code, NC_NOERR);
    if (f->unlimited >= 0)
        ncmpi_inq_dimlen(f->ncid, f->unlimited, &records);
    char what[80];
    snprintf(what, sizeof what, "%lld records, model has %lld", (long long)records, (long long)f->records);
    expect(f, records == f->records, what, NC_NOERR, NC_NOERR);
    for (int i = 0; i < f->nvars; i++) {
        int rank, dimids[MAX_RANK];
        nc_type type;
        code = ncmpi_inq_var(f->ncid, i, NULL, &type, &rank, dimids, NULL);
        ok = code == NC_NOERR && type == f->vars[i].type && rank == f->vars[i].rank;
        ok = ok && memcmp(dimids, f->vars[i].dimids, (size_t)rank * sizeof *dimids) == 0;
        expect(f, ok, "definition of a variable", code, NC_NOERR);
    }
}

static void reopen(struct file *f)
{
    must(f, ncmpi_close(f->ncid), "close");
    if (f->alive)
        open_file(f, false);
    if (f->alive)
        check_metadata(f);
}

/* Every variable whole in its own type, by all ranks together or one by one. */
static void check_everything(struct file *f)
{
    check_metadata(f);
    bool collective = dice_chance(&f->d, 50);
    if (!collective)
        must(f, ncmpi_begin_indep_data(f->ncid), "begin_indep_data");
    for (int i = 0; i < f->nvars && f->alive; i++) {
        struct variable *v = &f->vars[i];
        struct selection s = whole(v, f->records);
        struct call c = {.collective = collective, .shape = VAR, .memory = memory_of_type[v->type]};
        dice d = 1;
        run_get(f, v, &c, &s, &d, !all_known(v, &s));
    }
}

/* Write every cell once, so that later gets have something to compare. */
static void initialize(struct file *f, long *cases)
{
    bool who[MAX_RANKS];
    for (int r = 0; r < t_nprocs; r++)
        who[r] = true;
    for (int i = 0; i < f->nvars; i++, ++*cases) {
        struct variable *v = &f->vars[i];
        struct selection s = whole(v, f->records);
        struct call c = {.put = true, .collective = true, .shape = VAR, .memory = memory_of_type[v->type]};
        struct partition shared = {SHARED, 0, {0}};
        if (!all_known(v, &s))
            do_put(f, v, &c, &shared, who);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void fill_a_record(struct file *f)
{
    struct variable *v = &f->vars[dice_upto(&f->d, f->nvars - 1)];
    MPI_Offset record = dice_upto(&f->d, f->records < MAX_RECORDS ? f->records : MAX_RECORDS - 1);
    if (!v->record || !v->filled)
        return;
    must(f, ncmpi_fill_var_rec(f->ncid, (int)(v - f->vars), record), "fill_var_rec");
    for (MPI_Offset i = 0; i < v->inner; i++)
        v->cells[record * v->inner + i] = (struct cell){v->fill, true};
    f->records = record + 1 > f->records ? record + 1 : f->records;
}

static void step(struct file *f, long *cases)
{
    int what = (int)dice_upto(&f->d, 99);
    f->operations++;
    if (what < 3) {
        must(f, ncmpi_redef(f->ncid), "redef");
        define(f);
        if (dice_chance(&f->d, 60))
            initialize(f, cases);
    } else if (what < 5) {
        reopen(f);
    } else if (what < 10) {
        independent_phase(f, cases);
    } else if (what < 13) {
        fill_a_record(f);
    } else if (what < 14) {
        must(f, ncmpi_sync(f->ncid), "sync");
    } else {
        collective_operation(f);
        ++*cases;
    }
}

/* One dataset from creation to deletion; returns the number of failures on this rank. */
static int run_file(uint64_t seed, long *cases)
{
    struct file *f = calloc(1, sizeof *f);
    static const int formats[] = {1, 2, 5, 5};
    f->d = f->seed = seed;
    f->unlimited = -1;
    f->alive = true;
    f->format = formats[dice_upto(&f->d, 3)];
    snprintf(f->path, sizeof f->path, "%s", t_path("property.nc"));
    open_file(f, true);
    if (f->alive)
        define(f);
    if (f->alive && dice_chance(&f->d, 70))
        initialize(f, cases);
    for (long n = dice_from(&f->d, 5, 60); n > 0 && f->alive; n--)
        step(f, cases);
    if (f->alive && dice_chance(&f->d, 50))
        reopen(f);
    if (f->alive)
        check_everything(f);
    if (f->alive)
        must(f, ncmpi_close(f->ncid), "close");
    for (int i = 0; i < f->nvars; i++)
        free(f->vars[i].cells);
    int failures = f->failures;
    free(f);
    return failures;
}

static long setting(int argc, char **argv, int position, const char *name, long otherwise)
{
    const char *text = argc > position ? argv[position] : getenv(name);
    return text != NULL ? strtol(text, NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    long wanted = setting(argc, argv, 1, "PNC_PROPERTY_CASES", t_quick() ? 1500 : 8000);
    uint64_t seed = (uint64_t)setting(argc, argv, 2, "PNC_PROPERTY_SEED", 1);
    long cases = 0, files = 0, checked = 0;
    int failed_files = 0;
    trace = getenv("PNC_PROPERTY_TRACE") != NULL;
    if (t_nprocs > MAX_RANKS) {
        t_skip("the naive model knows at most 64 ranks");
        return t_finish();
    }
    while (cases < wanted && failed_files < 5) {
        int failures = run_file(seed + (uint64_t)files++, &cases), worst;
        MPI_Allreduce(&failures, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        failed_files += worst > 0;
        if (worst > 0 || cases >= wanted || cases - checked >= (wanted + 9) / 10) {
            t_check(failures == 0, "%ld random cases in %ld files equal the model (seed %llu)", cases, files,
                    (unsigned long long)seed);
            checked = cases;
        }
    }
    if (t_rank == 0)
        unlink(t_path("property.nc"));
    return t_finish();
}
