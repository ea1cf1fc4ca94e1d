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
#include "../places.h"

enum { MAX_DIMS = 16, MAX_VARS = 12, MAX_ATTS = 24, MAX_INNER = 240, MAX_PENDING = 16, MAX_TOGETHER = 4 };
enum { MAX_ELEMENTS = MAX_INNER * MAX_RECORDS * MAX_BLOCKS };

struct attribute {
    int varid, type, length, serial;
};

/* The user's memory of a call, and what it must still hold after a put, or beside the elements of a get. */
struct buffer {
    struct layout layout;
    char *memory, *copy;
    size_t bytes;
};

/* A request that one rank has posted. All ranks have its description, but only that rank has the buffer. */
struct posted {
    struct variable *v;
    struct call call;
    struct selection selection;
    wide *values;    /* of a put */
    MPI_Offset room; /* in the attached buffer */
    bool nameless;   /* posted without asking for an id */
    int id;
    struct buffer buffer;
    char story[400];
};

struct file {
    dice d;
    uint64_t seed;
    char path[1024];
    int ncid, format, ndims, nvars, natts, unlimited;
    bool is_netcdf4;                                     /* with the types of CDF-5 */
    bool is_zarr;                                        /* by a hint; is_netcdf4 is set, too */
    MPI_Offset dims[MAX_DIMS], records, mine[MAX_RANKS]; /* mine: as each rank knows it in independent mode */
    struct variable vars[MAX_VARS];
    struct attribute atts[MAX_ATTS];
    struct posted *queue[MAX_RANKS][MAX_PENDING]; /* in the order of posting */
    int queued[MAX_RANKS];
    MPI_Offset attached, used[MAX_RANKS]; /* the buffer for bput, 0 without */
    bool alive;                           /* false: a call failed that the rest needs */
    long operations;
    int failures, openings;
    char story[400]; /* the operation under way, for messages */
};

static bool trace;

/* Record a failure with all that is needed to reproduce it; the run continues, so that ranks stay together. */
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

/* Chunks and filters of a variable of a netCDF-4 file. */
static void choose_storage(struct file *f, const struct variable *v, int varid)
{
    MPI_Offset chunk[MAX_RANK];
    if (v->rank == 0 || dice_chance(&f->d, 30))
        return;
    for (int i = 0; i < v->rank; i++) {
        MPI_Offset length = 0;
        ncmpi_inq_dimlen(f->ncid, v->dimids[i], &length);
        chunk[i] = v->dimids[i] == f->unlimited ? dice_from(&f->d, 1, 5) : dice_from(&f->d, 1, length > 1 ? length : 1);
    }
    must(f, ncmpi_def_var_chunking(f->ncid, varid, NC_CHUNKED, chunk), "def_var_chunking");
    if (dice_chance(&f->d, 50))
        must(f, ncmpi_def_var_deflate(f->ncid, varid, (int)dice_upto(&f->d, 1), 1, (int)dice_from(&f->d, 1, 9)),
             "def_var_deflate");
    if (dice_chance(&f->d, 20))
        must(f, ncmpi_def_var_fletcher32(f->ncid, varid, NC_FLETCHER32), "def_var_fletcher32");
    if (v->type != NC_CHAR && dice_chance(&f->d, 20))
        must(f, ncmpi_def_var_endian(f->ncid, varid, NC_ENDIAN_BIG), "def_var_endian");
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
        if (f->is_netcdf4)
            choose_storage(f, v, id);
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

/* --- requests --- */

static void describe(struct file *f, const struct variable *v, const struct call *c, const struct selection *s)
{
    static const char *const posts[] = {"", "i", "b"};
    int n = snprintf(f->story, sizeof f->story, "file op %ld: CDF-%d %s%s%s_%s %s%s%s(%d-D%s) records %lld",
                     f->operations, f->format, posts[c->post], c->put ? "put_" : "get_", shape_names[c->shape],
                     memory_types[c->memory].name, c->flexible ? "flexible " : "", c->collective ? "" : "independent ",
                     type_names[v->type], v->rank, v->record ? " record" : "", (long long)f->records);
    for (const struct block *b = s->blocks; b < s->blocks + s->nblocks; b++)
        for (int k = 0; k < v->rank && n < (int)sizeof f->story; k++)
            n += snprintf(f->story + n, sizeof f->story - (size_t)n, "%s%lld:%lldx%lld%s%.0lld", k == 0 ? "; " : " ",
                          (long long)b->start[k], (long long)b->count[k], (long long)b->stride[k], c->imap ? "@" : "",
                          c->imap ? (long long)c->imap[k] : 0);
    if (trace && t_rank == 0)
        printf("# %s\n", f->story);
}

static char *element(const struct buffer *b, const struct call *c, MPI_Offset i)
{
    return b->memory + (size_t)b->layout.at[i] * memory_types[c->memory].size;
}

/* The places of a selection, one by one, as a datatype of bytes from the variable's begin. */
static MPI_Datatype make_filetype(struct file *f, const struct variable *v, const struct selection *s)
{
    MPI_Offset recsize = 0;
    MPI_Aint *places = malloc(((size_t)s->n + 1) * sizeof *places);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    must(f, ncmpi_inq_recsize(f->ncid, &recsize), "inq_recsize");
    for (MPI_Offset i = 0; i < s->n; i++) {
        MPI_Offset cell = cell_at(v, s, i), record = v->record ? cell / v->inner : 0;
        places[i] = (MPI_Aint)(record * recsize + (cell - record * v->inner) * kind_of_type[v->type].bytes);
    }
    if (s->n > 0) {
        MPI_Type_create_hindexed_block((int)s->n, 1, places, memory_types[memory_of_type[v->type]].mpi, &type);
        MPI_Type_commit(&type);
    }
    free(places);
    return type;
}

static void make_buffer(struct file *f, const struct variable *v, struct call *c, const struct selection *s, dice *d,
                        struct buffer *b)
{
    draw_layout(d, v, s, c, &b->layout);
    b->bytes = (size_t)b->layout.span * memory_types[c->memory].size + 1;
    b->memory = malloc(b->bytes);
    b->copy = malloc(b->bytes);
    c->buffer = b->memory;
    if (c->shape == VARD)
        c->filetype = make_filetype(f, v, s);
}

/* Datatypes may be freed as soon as a request is posted. */
static void free_types(struct call *c, struct buffer *b)
{
    layout_free_type(&b->layout);
    if (c->shape == VARD && c->filetype != MPI_DATATYPE_NULL)
        MPI_Type_free(&c->filetype);
}

static void free_buffer(struct buffer *b)
{
    free(b->memory);
    free(b->copy);
    free(b->layout.at);
}

static void begin_put(struct file *f, const struct variable *v, struct call *c, const struct selection *s, dice *d,
                      const wide *values, struct buffer *b)
{
    make_buffer(f, v, c, s, d, b);
    memset(b->memory, 0x5b, b->bytes);
    for (MPI_Offset i = 0; i < s->n; i++)
        naive_store(c->memory, element(b, c, i), values[i]);
    memcpy(b->copy, b->memory, b->bytes);
    describe(f, v, c, s);
}

static void end_put(struct file *f, struct buffer *b, int code)
{
    expect(f, memcmp(b->copy, b->memory, b->bytes) == 0, "the put changed its buffer", code, code);
    free_buffer(b);
}

static void begin_get(struct file *f, const struct variable *v, struct call *c, const struct selection *s, dice *d,
                      struct buffer *b)
{
    make_buffer(f, v, c, s, d, b);
    memset(b->copy, 0xa4, b->bytes);
    memcpy(b->memory, b->copy, b->bytes);
    describe(f, v, c, s);
}

static bool mistakes_text(const struct variable *v, const struct call *c)
{
    return (v->type == NC_CHAR) != (c->memory == M_TEXT);
}

/* The code of text for numbers or the reverse. The datatype of a request for nothing has no effect. */
static int code_of_text(const struct variable *v, const struct call *c, const struct selection *s)
{
    bool nothing = c->flexible && c->bufcount == 0 && s->n == 0;
    return mistakes_text(v, c) && !nothing ? NC_ECHAR : NC_NOERR;
}

/* Compare the result of a get that did not fail; returns the code that the call should return. */
static int end_get(struct file *f, const struct variable *v, const struct call *c, const struct selection *s,
                   struct buffer *b, int code)
{
    bool failed = code != NC_NOERR && code != NC_ERANGE;
    int wanted = code_of_text(v, c, s);
    for (MPI_Offset i = 0; i < s->n && wanted != NC_ECHAR; i++) {
        struct cell *cell = &v->cells[cell_at(v, s, i)];
        wide value = 0, got = naive_load(c->memory, element(b, c, i));
        enum fit fit = cell->known ? naive_get(cell->value, v->type, c->memory, f->format, &value) : UNDEFINED;
        if (fit == RANGE) {
            wanted = NC_ERANGE;
            value = kind_of_memory[c->memory].fill;
        }
        if (fit != UNDEFINED && !failed && !wide_same(got, value)) {
            char what[160];
            snprintf(what, sizeof what, "element %lld of %lld is %.20Lg, not %.20Lg", (long long)i, (long long)s->n,
                     (long double)got, (long double)value);
            expect(f, false, what, code, wanted);
        }
        memset(element(b, c, i), 0xa4, memory_types[c->memory].size);
    }
    bool beside = memcmp(b->memory, b->copy, b->bytes) != 0;
    expect(f, failed || !beside, "the get wrote beside its elements", code, wanted);
    free_buffer(b);
    return wanted;
}

/* The library's own call, with everything it must leave alone checked: the put buffer, gaps of the get buffer. */
static void run_put(struct file *f, const struct variable *v, struct call *c, const struct selection *s, dice *d,
                    const wide *values, int wanted)
{
    struct buffer b;
    begin_put(f, v, c, s, d, values, &b);
    int code = call_run(f->ncid, (int)(v - f->vars), c);
    expect(f, code == wanted, "code of the put", code, wanted);
    free_types(c, &b);
    end_put(f, &b, code);
}

static void run_get(struct file *f, const struct variable *v, struct call *c, const struct selection *s, dice *d,
                    bool lenient)
{
    struct buffer b;
    begin_get(f, v, c, s, d, &b);
    int code = call_run(f->ncid, (int)(v - f->vars), c);
    free_types(c, &b);
    int wanted = end_get(f, v, c, s, &b, code);
    expect(f, code == wanted || lenient, "code of the get", code, wanted);
}

/* Draws what a put has in memory; returns the code that it must get. */
static int draw_values(struct file *f, const struct variable *v, const struct call *c, const struct selection *s,
                       dice *d, wide *values)
{
    int code = code_of_text(v, c, s);
    bool wild = dice_chance(d, 40);
    for (MPI_Offset i = 0; i < s->n; i++) {
        wide stored;
        values[i] = naive_draw(d, c->memory, v->type, wild);
        if (code != NC_ECHAR && naive_put(values[i], c->memory, v->type, f->format, &stored) == RANGE)
            code = NC_ERANGE;
    }
    return code;
}

/* A put in the model. */
static void store_values(struct file *f, struct variable *v, const struct call *c, const struct selection *s,
                         const wide *values, MPI_Offset *records)
{
    for (MPI_Offset i = 0; i < s->n; i++) {
        struct cell *cell = &v->cells[cell_at(v, s, i)];
        enum fit fit = naive_put(values[i], c->memory, v->type, f->format, &cell->value);
        cell->known = fit != UNDEFINED;
        if (fit == RANGE)
            cell->value = v->fill;
    }
    for (const struct block *b = s->blocks; b < s->blocks + s->nblocks && v->record; b++) {
        MPI_Offset end = b->n > 0 ? b->start[0] + (b->count[0] - 1) * b->stride[0] + 1 : 0;
        *records = end > *records ? end : *records;
    }
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
    if (f->is_netcdf4 && c.shape == VARD) /* filetypes cover the records of classic files */
        c.shape = VARA;
    c.flexible = dice_chance(&f->d, 30) || c.shape == VARD;
    c.memory = dice_chance(&f->d, 50) ? memory_of_type[v->type] : (enum memory)dice_upto(&f->d, MEMORIES - 1);
    if (v->type == NC_CHAR && (dice_chance(&f->d, 90) || c.shape == VARD)) /* vard of nothing does not check types */
        c.memory = M_TEXT;
    else if (v->type != NC_CHAR && c.memory == M_TEXT && (dice_chance(&f->d, 80) || c.shape == VARD))
        c.memory = M_DOUBLE;
    return c;
}

static void point(struct call *c, struct selection *s, dice *d)
{
    bool null_stride = dice_chance(d, 30);
    c->start = s->blocks[0].start;
    c->count = s->blocks[0].count;
    c->stride = s->blocks[0].stride;
    for (int k = 0; null_stride && k < MAX_RANK; k++)
        null_stride = s->blocks[0].stride[k] <= 1;
    if (null_stride)
        c->stride = NULL;
    for (int i = 0; i < s->nblocks; i++) {
        s->starts[i] = s->blocks[i].start;
        s->counts[i] = s->blocks[i].n == 1 && dice_chance(d, 20) ? NULL : s->blocks[i].count;
    }
    c->num = s->nblocks;
    c->starts = s->starts;
    c->counts = s->single ? NULL : s->counts;
}

/* A rank that owns nothing: a request without elements needs a count. */
static enum shape shape_for(enum shape shape, const struct selection *s)
{
    return shape == VAR1 && s->n == 0 ? VARA : shape;
}

/* How far a rank's puts and gets may reach in records. */
static MPI_Offset record_limit(const struct file *f, const struct call *c, int r)
{
    MPI_Offset now = c->collective ? f->records : f->mine[r];
    if (!c->put || c->shape == VAR)
        return now;
    return now + 3 < MAX_RECORDS ? now + 3 : MAX_RECORDS;
}

static struct selection draw_request(struct file *f, const struct variable *v, const struct call *c,
                                     const struct partition *part, int r)
{
    MPI_Offset limit = record_limit(f, c, r);
    return c->shape == VAR ? whole(v, limit) : draw_selection(&f->d, v, part, r, c->shape, limit);
}

/* True where ranks cannot write disjoint parts: then they write the same. */
static bool same_for_all(const struct variable *v, const struct call *c, const struct partition *part)
{
    return c->shape == VAR || v->rank == 0 || part->way == SHARED;
}

/* A put by the ranks in `who`; with one and the same selection and data where it cannot be disjoint. */
static void do_put(struct file *f, struct variable *v, struct call *c, const struct partition *part, const bool *who)
{
    MPI_Offset most = 0;
    bool same = same_for_all(v, c, part);
    uint64_t common = dice_next(&f->d);
    wide *values = malloc(sizeof *values * MAX_ELEMENTS);
    struct selection s = {.n = 0};
    for (int r = 0; r < t_nprocs; r++) {
        if (!same || r == 0)
            s = draw_request(f, v, c, part, r);
        dice mine = same ? common : dice_next(&f->d);
        if (!who[r])
            continue;
        struct call own = *c;
        own.shape = shape_for(c->shape, &s);
        int code = draw_values(f, v, &own, &s, &mine, values);
        if (code != NC_ECHAR)
            store_values(f, v, &own, &s, values, c->collective ? &most : &f->mine[r]);
        point(&own, &s, &mine);
        if (r == t_rank)
            run_put(f, v, &own, &s, &mine, values, code);
    }
    free(values);
    if (c->collective && most > f->records)
        f->records = most;
}

/* Some collective gets are those of the same values by all ranks. */
static void do_get(struct file *f, struct variable *v, struct call *c, const struct partition *part, const bool *who)
{
    struct selection s, mine = {.n = 0};
    bool lenient = false, same = c->collective && dice_chance(&f->d, 30);
    for (int r = 0; r < t_nprocs; r++) {
        if (!same || r == 0)
            s = draw_request(f, v, c, part, r);
        if (who[r] && (c->collective || r == t_rank))
            lenient |= !all_known(v, &s);
        if (r == t_rank)
            mine = s;
    }
    dice own = dice_next(&f->d) + (uint64_t)t_rank;
    if (!who[t_rank])
        return;
    c->shape = shape_for(c->shape, &mine);
    point(c, &mine, &own);
    run_get(f, v, c, &mine, &own, lenient);
}

/* --- mput and mget --- */

/* What one rank asks of each variable. */
struct bundle {
    int n, ids[MAX_TOGETHER];
    struct call calls[MAX_TOGETHER];
    struct selection selections[MAX_TOGETHER];
    struct buffer buffers[MAX_TOGETHER];
    wide *values[MAX_TOGETHER];
};

static int run_bundle(struct file *f, struct bundle *m)
{
    MPI_Offset *lists[4][MAX_TOGETHER], bufcounts[MAX_TOGETHER];
    MPI_Datatype types[MAX_TOGETHER];
    void *buffers[MAX_TOGETHER];
    const struct call *c = m->calls;
    struct multi_call multi = {c->put,   c->collective, c->flexible, c->shape, c->memory, m->n,      m->ids,
                               lists[0], lists[1],      lists[2],    lists[3], buffers,   bufcounts, types};
    for (int k = 0; k < m->n; k++, c++) {
        lists[0][k] = (MPI_Offset *)c->start;
        lists[1][k] = (MPI_Offset *)c->count;
        lists[2][k] = (MPI_Offset *)c->stride;
        lists[3][k] = (MPI_Offset *)c->imap;
        buffers[k] = c->buffer;
        bufcounts[k] = c->bufcount;
        types[k] = c->buftype;
    }
    return multi_run(f->ncid, &multi);
}

/* Variables that go together: text does not go with numbers, and a variable may be there twice. */
static void draw_bundle(struct file *f, bool put, bool collective, struct bundle *m)
{
    int first = (int)dice_upto(&f->d, f->nvars - 1), more = (int)dice_upto(&f->d, MAX_TOGETHER - 1);
    struct call c = draw_call(f, &f->vars[first], put, collective);
    if (c.shape > VARM || (c.shape == VAR && !collective))
        c.shape = VARA;
    if (mistakes_text(&f->vars[first], &c))
        c.memory = memory_of_type[f->vars[first].type];
    m->n = 1;
    m->ids[0] = first;
    for (; more > 0; more--) {
        int id = (int)dice_upto(&f->d, f->nvars - 1);
        if (!mistakes_text(&f->vars[id], &c))
            m->ids[m->n++] = id;
    }
    for (int k = 0; k < m->n; k++)
        m->calls[k] = c;
}

static void finish_bundle(struct file *f, struct bundle *m, int code, int wanted, bool lenient)
{
    for (int k = 0; k < m->n; k++) {
        struct variable *v = &f->vars[m->ids[k]];
        describe(f, v, &m->calls[k], &m->selections[k]);
        free_types(&m->calls[k], &m->buffers[k]);
        if (m->calls[k].put)
            end_put(f, &m->buffers[k], code);
        else if (end_get(f, v, &m->calls[k], &m->selections[k], &m->buffers[k], code) == NC_ERANGE)
            wanted = NC_ERANGE;
    }
    expect(f, code == wanted || lenient, "code of a call for several variables", code, wanted);
}

/* The selections of rank r, those that all ranks share drawn once, and the model's side of a put. Returns the code that
 * the rank must get. */
static int plan_bundle(struct file *f, struct bundle *m, const struct partition *parts, int r, uint64_t common,
                       MPI_Offset *most)
{
    enum shape shape = m->calls[0].shape;
    int wanted = NC_NOERR;
    for (int k = 0; k < m->n; k++) {
        const struct variable *v = &f->vars[m->ids[k]];
        bool same = m->calls[k].put && same_for_all(v, &m->calls[k], &parts[m->ids[k]]);
        if (!same || r == 0)
            m->selections[k] = draw_request(f, v, &m->calls[k], &parts[m->ids[k]], r);
        shape = shape_for(shape, &m->selections[k]);
    }
    for (int k = 0; k < m->n; k++) {
        struct variable *v = &f->vars[m->ids[k]];
        struct selection *s = &m->selections[k];
        bool same = same_for_all(v, &m->calls[k], &parts[m->ids[k]]);
        dice mine = same ? common + (uint64_t)k : dice_next(&f->d);
        struct call c = m->calls[k];
        c.shape = shape;
        if (c.put && draw_values(f, v, &c, s, &mine, m->values[k]) == NC_ERANGE)
            wanted = NC_ERANGE;
        if (c.put)
            store_values(f, v, &c, s, m->values[k], c.collective ? most : &f->mine[r]);
        if (r != t_rank)
            continue;
        point(&c, s, &mine);
        if (c.put)
            begin_put(f, v, &c, s, &mine, m->values[k], &m->buffers[k]);
        else
            begin_get(f, v, &c, s, &mine, &m->buffers[k]);
        m->calls[k] = c;
    }
    return wanted;
}

/* One call for several variables by the ranks in `who`. */
static void do_many(struct file *f, bool put, bool collective, const struct partition *parts, const bool *who)
{
    struct bundle *m = calloc(1, sizeof *m), *own = calloc(1, sizeof *own);
    uint64_t common = dice_next(&f->d);
    MPI_Offset most = 0;
    bool lenient = false;
    int own_wanted = NC_NOERR;
    draw_bundle(f, put, collective, m);
    struct call shared = m->calls[0];
    for (int k = 0; k < m->n; k++)
        m->values[k] = malloc(sizeof **m->values * MAX_ELEMENTS);
    for (int r = 0; r < t_nprocs; r++) {
        for (int k = 0; k < m->n; k++)
            m->calls[k] = shared;
        if (!who[r])
            continue;
        int wanted = plan_bundle(f, m, parts, r, common, &most);
        for (int k = 0; k < m->n && !put && (collective || r == t_rank); k++)
            lenient |= !all_known(&f->vars[m->ids[k]], &m->selections[k]);
        if (r == t_rank) {
            *own = *m;
            own_wanted = wanted;
        }
    }
    if (who[t_rank]) {
        for (int k = 0; k < own->n; k++) { /* they point into the struct that was copied */
            struct call *c = &own->calls[k];
            c->start = own->selections[k].blocks[0].start;
            c->count = own->selections[k].blocks[0].count;
            c->stride = c->stride == NULL ? NULL : own->selections[k].blocks[0].stride;
            c->imap = c->imap == NULL ? NULL : own->buffers[k].layout.imap;
        }
        finish_bundle(f, own, run_bundle(f, own), own_wanted, lenient);
    }
    for (int k = 0; k < m->n; k++)
        free(m->values[k]);
    free(m);
    free(own);
    if (collective && most > f->records)
        f->records = most;
}

/* --- nonblocking requests --- */

/* Posts a request on each rank in `who`. A put goes into the model when it is waited for. */
static void post_own(struct file *f, struct posted *q, dice *d, int wanted)
{
    struct call *c = &q->call;
    point(c, &q->selection, d);
    q->id = 12345;
    c->request = q->nameless ? NULL : &q->id;
    if (c->put)
        begin_put(f, q->v, c, &q->selection, d, q->values, &q->buffer);
    else
        begin_get(f, q->v, c, &q->selection, d, &q->buffer);
    int code = call_run(f->ncid, (int)(q->v - f->vars), c);
    expect(f, code == wanted, "code of posting", code, wanted);
    expect(f, code == NC_NOERR || code == NC_ERANGE || q->nameless || q->id == NC_REQ_NULL, "request of an error", code,
           wanted);
    free_types(c, &q->buffer);
    memcpy(q->story, f->story, sizeof q->story);
    if (c->post == BUFFERED) { /* its memory is free for other use */
        expect(f, memcmp(q->buffer.copy, q->buffer.memory, q->buffer.bytes) == 0, "bput changed its buffer", 0, 0);
        memset(q->buffer.memory, 0x33, q->buffer.bytes);
        memset(q->buffer.copy, 0x33, q->buffer.bytes);
    }
}

static void forget(struct posted *q)
{
    free(q->values);
    free(q);
}

static int plan_post(struct file *f, struct posted *q, dice *d, int r)
{
    int code = code_of_text(q->v, &q->call, &q->selection);
    if (q->call.put) {
        q->values = malloc(sizeof *q->values * (size_t)(q->selection.n + 1));
        code = draw_values(f, q->v, &q->call, &q->selection, d, q->values);
    }
    q->room = q->call.post == BUFFERED ? q->selection.n * kind_of_type[q->v->type].bytes : 0;
    if (code != NC_ECHAR && q->room > f->attached - f->used[r])
        code = NC_EINSUFFBUF;
    return code;
}

static void do_post(struct file *f, struct variable *v, struct call *c, const struct partition *part, const bool *who)
{
    for (int r = 0; r < t_nprocs; r++) {
        struct posted *q = calloc(1, sizeof *q);
        q->v = v;
        q->selection = draw_request(f, v, c, part, r);
        q->call = *c;
        q->call.shape = shape_for(c->shape, &q->selection);
        dice mine = dice_next(&f->d);
        q->nameless = dice_chance(&mine, 15);
        /* the result of reading elements that were never written is undefined, success included */
        if (!who[r] || f->queued[r] == MAX_PENDING || (!c->put && !all_known(v, &q->selection))) {
            forget(q);
            continue;
        }
        int code = plan_post(f, q, &mine, r);
        if (r == t_rank)
            post_own(f, q, &mine, code);
        if (code == NC_NOERR || code == NC_ERANGE) {
            f->used[r] += q->room;
            f->queue[r][f->queued[r]++] = q;
            continue;
        }
        if (r == t_rank)
            free_buffer(&q->buffer);
        forget(q);
    }
}

/* One rank's wait or cancel: the requests it concerns in the order of posting, and the ids in that of the call. */
struct waiting {
    int count, n, names;
    struct posted *list[MAX_PENDING], *named[2 * MAX_PENDING]; /* NULL: NC_REQ_NULL */
    bool statuses;
};

static void name(struct file *f, struct waiting *w)
{
    for (int i = 0; i < w->n; i++) {
        if (dice_chance(&f->d, 20))
            w->named[w->names++] = NULL;
        w->named[w->names++] = w->list[i];
    }
    for (int i = w->names - 1; i > 0; i--) {
        int other = (int)dice_upto(&f->d, i);
        struct posted *keep = w->named[i];
        w->named[i] = w->named[other];
        w->named[other] = keep;
    }
    w->count = w->names;
    w->statuses = dice_chance(&f->d, 70);
}

/* Takes the requests of rank r out of its queue. */
static struct waiting draw_waiting(struct file *f, int r, bool all)
{
    static const int counts[] = {NC_REQ_ALL, NC_PUT_REQ_ALL, NC_GET_REQ_ALL};
    struct waiting w = {.n = 0};
    int kind = all ? 0 : (int)dice_upto(&f->d, 5), left = 0;
    for (int i = 0; i < f->queued[r]; i++) {
        struct posted *q = f->queue[r][i];
        bool meant = kind == 0 || (kind == 1 && q->call.put) || (kind == 2 && !q->call.put);
        if (kind > 2 && !q->nameless && dice_chance(&f->d, 60))
            meant = true;
        if (meant)
            w.list[w.n++] = q;
        else
            f->queue[r][left++] = q;
        f->used[r] -= meant ? q->room : 0;
    }
    f->queued[r] = left;
    if (kind > 2)
        name(f, &w);
    else
        w.count = counts[kind];
    return w;
}

/* What a wait did to one request; returns the status that it should have had. */
static int end_posted(struct file *f, struct posted *q, bool cancelled, int code, bool *lenient)
{
    memcpy(f->story, q->story, sizeof q->story);
    if (q->call.put || cancelled) {
        end_put(f, &q->buffer, code);
        return NC_NOERR;
    }
    *lenient = *lenient || !all_known(q->v, &q->selection);
    return end_get(f, q->v, &q->call, &q->selection, &q->buffer, code);
}

typedef int wait_call(int, int, int *, int *);

static void run_waiting(struct file *f, struct waiting *w, wait_call *call)
{
    int ids[2 * MAX_PENDING], statuses[2 * MAX_PENDING], wanted = NC_NOERR;
    bool lenient = false;
    for (int i = 0; i < w->names; i++) {
        ids[i] = w->named[i] == NULL ? NC_REQ_NULL : w->named[i]->id;
        statuses[i] = 12345;
    }
    int code = call(f->ncid, w->count, w->count < 0 ? NULL : ids, w->count < 0 || !w->statuses ? NULL : statuses);
    for (int i = 0; i < w->n; i++) {
        bool loose = false;
        int status = end_posted(f, w->list[i], call == ncmpi_cancel, code, &loose), k = 0;
        while (k < w->names && w->named[k] != w->list[i])
            k++;
        if (k < w->names && w->statuses)
            expect(f, statuses[k] == status || loose, "status of a request", statuses[k], status);
        lenient |= loose;
        wanted = status != NC_NOERR ? status : wanted;
    }
    for (int k = 0; k < w->names; k++) {
        expect(f, ids[k] == NC_REQ_NULL, "an id after the wait", ids[k], NC_REQ_NULL);
        if (w->named[k] == NULL && w->statuses)
            expect(f, statuses[k] == NC_NOERR, "status of NC_REQ_NULL", statuses[k], NC_NOERR);
    }
    expect(f, code == wanted || lenient, call == ncmpi_cancel ? "code of cancel" : "code of the wait", code, wanted);
}

/* Waits for requests on the ranks in `who`, or cancels them. */
static void do_wait(struct file *f, bool collective, bool cancel, bool all, const bool *who)
{
    struct waiting w, own = {.n = 0};
    MPI_Offset most = 0;
    for (int r = 0; r < t_nprocs; r++) {
        if (!who[r])
            continue;
        w = draw_waiting(f, r, all);
        for (int i = 0; i < w.n && !cancel; i++)
            if (w.list[i]->call.put)
                store_values(f, w.list[i]->v, &w.list[i]->call, &w.list[i]->selection, w.list[i]->values,
                             collective ? &most : &f->mine[r]);
        if (r == t_rank)
            own = w;
        for (int i = 0; i < w.n && r != t_rank; i++)
            forget(w.list[i]);
    }
    snprintf(f->story, sizeof f->story, "file op %ld: wait for %d", f->operations, own.count);
    if (who[t_rank] && cancel)
        run_waiting(f, &own, ncmpi_cancel);
    else if (who[t_rank])
        run_waiting(f, &own, collective ? ncmpi_wait_all : ncmpi_wait);
    for (int i = 0; i < own.n; i++)
        forget(own.list[i]);
    f->records = most > f->records ? most : f->records;
}

/* --- operations --- */

/* A rank may read what another one wrote after both have synchronised (MPI 4.0, 14.6.1); on one machine a barrier
 * is as good as ncmpi_sync. */
static void synchronise(struct file *f)
{
    if (dice_chance(&f->d, 20))
        must(f, ncmpi_sync(f->ncid), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void collective_operation(struct file *f)
{
    bool who[MAX_RANKS], put = dice_chance(&f->d, 50), many = dice_chance(&f->d, 20);
    struct variable *v = &f->vars[dice_upto(&f->d, f->nvars - 1)];
    struct call c = draw_call(f, v, put, true);
    struct partition parts[MAX_VARS];
    for (int i = 0; i < f->nvars; i++) {
        parts[i] = draw_partition(&f->d, &f->vars[i], !put);
        if (put && c.shape == VAR1)
            parts[i] = one_for_each(&f->vars[i]);
    }
    for (int r = 0; r < t_nprocs; r++)
        who[r] = true;
    if (many)
        do_many(f, put, true, parts, who);
    else
        (put ? do_put : do_get)(f, v, &c, &parts[v - f->vars], who);
    if (put)
        synchronise(f);
}

/* A period in which ranks access their own parts; no rank reads what another one may write in it. */
struct phase {
    bool collective, reading;
    struct partition parts[MAX_VARS];
};

static void begin_phase(struct file *f, struct phase *p, bool collective)
{
    p->collective = collective;
    p->reading = dice_chance(&f->d, 30);
    if (!collective)
        must(f, ncmpi_begin_indep_data(f->ncid), "begin_indep_data");
    for (int r = 0; r < t_nprocs; r++)
        f->mine[r] = f->records;
    for (int i = 0; i < f->nvars; i++)
        p->parts[i] = draw_partition(&f->d, &f->vars[i], p->reading);
}

static void end_phase(struct file *f, struct phase *p)
{
    for (int r = 0; r < t_nprocs && !p->collective; r++)
        f->records = f->mine[r] > f->records ? f->mine[r] : f->records;
    if (!p->collective)
        must(f, ncmpi_end_indep_data(f->ncid), "end_indep_data");
    synchronise(f);
}

/* Those who take part in something that each does alone. */
static void draw_who(struct file *f, const struct phase *p, int id, bool *who)
{
    bool owned = f->vars[id].rank == 0 && t_nprocs > 1 && !p->reading;
    for (int r = 0; r < t_nprocs; r++)
        who[r] = owned ? r == id % t_nprocs : dice_chance(&f->d, 80);
}

static void everybody(bool *who)
{
    for (int r = 0; r < t_nprocs; r++)
        who[r] = true;
}

/* A blocking call, in the number that the rank likes. */
static void work(struct file *f, struct phase *p)
{
    bool who[MAX_RANKS], put = !p->reading && dice_chance(&f->d, 60);
    int id = (int)dice_upto(&f->d, f->nvars - 1);
    struct variable *v = &f->vars[id];
    struct call c = draw_call(f, v, put, p->collective);
    if (c.shape == VAR && t_nprocs > 1 && !p->reading)
        c.shape = VARA;
    draw_who(f, p, id, who);
    if (p->collective)
        everybody(who);
    if (put)
        do_put(f, v, &c, &p->parts[id], who);
    else
        do_get(f, v, &c, &p->parts[id], who);
    if (p->collective && put)
        synchronise(f);
}

static void post_something(struct file *f, struct phase *p)
{
    bool who[MAX_RANKS], put = !p->reading && dice_chance(&f->d, 65);
    int id = (int)dice_upto(&f->d, f->nvars - 1);
    struct call c = draw_call(f, &f->vars[id], put, p->collective);
    if (c.shape == VARD || (c.shape == VAR && t_nprocs > 1 && !p->reading))
        c.shape = VARA;
    c.post = put && f->attached > 0 && dice_chance(&f->d, 50) ? BUFFERED : POSTED;
    draw_who(f, p, id, who);
    do_post(f, &f->vars[id], &c, &p->parts[id], who);
}

static void redefine(struct file *f, struct phase *p)
{
    must(f, ncmpi_redef(f->ncid), "redef");
    define_atts(f);
    post_something(f, p);
    must(f, ncmpi_enddef(f->ncid), "enddef");
}

static void wait_for_some(struct file *f, struct phase *p, bool cancel, bool all)
{
    bool who[MAX_RANKS] = {false};
    for (int r = 0; r < t_nprocs; r++)
        who[r] = dice_chance(&f->d, 70) || all || (p->collective && !cancel);
    do_wait(f, p->collective, cancel, all, who);
    if (p->collective)
        synchronise(f);
}

static void independent_phase(struct file *f, long *cases)
{
    struct phase p;
    bool who[MAX_RANKS];
    begin_phase(f, &p, false);
    for (long n = dice_from(&f->d, 2, 10); n > 0 && f->alive; n--, ++*cases) {
        f->operations++;
        for (int r = 0; r < t_nprocs; r++)
            who[r] = dice_chance(&f->d, 80);
        if (p.reading && dice_chance(&f->d, 20))
            do_many(f, false, false, p.parts, who);
        else
            work(f, &p);
    }
    end_phase(f, &p);
}

/* Requests posted, waited for in any order and cancelled, with blocking calls between. */
static void nonblocking_phase(struct file *f, long *cases)
{
    struct phase p;
    begin_phase(f, &p, dice_chance(&f->d, 60));
    f->attached = dice_chance(&f->d, 60) ? dice_from(&f->d, 1, dice_chance(&f->d, 50) ? 300 : 8000) : 0;
    if (f->attached > 0)
        must(f, ncmpi_buffer_attach(f->ncid, f->attached), "buffer_attach");
    for (long n = dice_from(&f->d, 3, 25); n > 0 && f->alive; n--, ++*cases) {
        int what = (int)dice_upto(&f->d, 99);
        f->operations++;
        if (what < 65)
            post_something(f, &p);
        else if (what < 80)
            work(f, &p);
        else if (what < 92)
            wait_for_some(f, &p, false, false);
        else if (what < 96)
            wait_for_some(f, &p, true, false);
        else if (p.collective)
            redefine(f, &p);
    }
    wait_for_some(f, &p, false, true);
    if (f->attached > 0)
        must(f, ncmpi_buffer_detach(f->ncid), "buffer_detach");
    f->attached = 0;
    end_phase(f, &p);
}

/* --- the life of a file --- */

static void hint(dice *d, MPI_Info info, int percent, const char *key, int low, int high)
{
    char value[16];
    snprintf(value, sizeof value, "%d", (int)dice_from(d, low, high));
    if (dice_chance(d, percent))
        MPI_Info_set(info, key, value);
}

/* In turn: each strategy forced, two openings with other hints only, four without hints. The seed of the file and the
 * number of its openings select the turn: a file depends on its seed alone. */
static MPI_Info draw_hints(struct file *f)
{
    static const char *const swap[] = {"enable", "disable", "auto"};
    static const char *const strategies[] = {"direct",       "merged",    "shared", "separate",
                                             "within_nodes", "two_phase", "mpi_io"};
    enum { FORCED = sizeof strategies / sizeof *strategies, WITH_HINTS = FORCED + 2, TURNS = WITH_HINTS + 4 };
    uint64_t turn = (f->seed + (uint64_t)f->openings++) % TURNS;
    dice *d = &f->d;
    MPI_Info info;
    if (turn >= WITH_HINTS)
        return MPI_INFO_NULL;
    MPI_Info_create(&info);
    if (turn < FORCED)
        MPI_Info_set(info, "nc_strategy", strategies[turn]);
    hint(d, info, 30, "cb_buffer_size", 500, 500);
    hint(d, info, 30, "cb_buffer_size", 8000, 30000);
    hint(d, info, 20, "ind_rd_buffer_size", 60, 60);
    hint(d, info, 20, "ind_wr_buffer_size", 70, 70);
    hint(d, info, 40, "nc_ibuf_size", 0, 200);
    hint(d, info, 40, "nc_var_align_size", 1, 700);
    hint(d, info, 10, "nc_header_align_size", 1, 700);
    hint(d, info, 40, "nc_record_align_size", 1, 200);
    hint(d, info, 30, "nc_header_read_chunk_size", 1, 100);
    hint(d, info, 40, "nc_data_move_chunk_size", 1, 9000);
    if (dice_chance(d, 40))
        MPI_Info_set(info, "nc_in_place_swap", swap[dice_upto(d, 2)]);
    hint(d, info, 20, "cb_nodes", 1, 5);
    hint(d, info, 20, "striping_unit", 1, 12000);
    hint(d, info, 20, "nc_num_aggrs_per_node", 1, 3);
    if (dice_chance(d, 40))
        MPI_Info_set(info, "nc_write_behind", "enable");
    if (dice_chance(d, 30)) /* its logs are in the folder of the file */
        MPI_Info_set(info, "nc_burst_buf", "enable");
    hint(d, info, 20, "nc_burst_buf_size", 1, 3000000);
    if (dice_chance(d, 40))
        MPI_Info_set(info, "nc_prefetch", "enable");
    if (dice_chance(d, 30))
        MPI_Info_set(info, "nc_defer_puts", "enable");
    hint(d, info, 20, "nc_defer_puts_memory", 1, 200000);
    return info;
}

static void open_file(struct file *f, bool create)
{
    MPI_Info info = draw_hints(f);
    int cmode = 0;
    if (f->is_zarr && create) {
        if (info == MPI_INFO_NULL)
            MPI_Info_create(&info);
        MPI_Info_set(info, "nc_format", "zarr");
        hint(&f->d, info, 60, "nc_shards", 0, 5000);
    }
    if (f->format != 1)
        cmode = f->format == 5 ? NC_64BIT_DATA : NC_64BIT_OFFSET;
    if (f->is_netcdf4)
        cmode = NC_NETCDF4;
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
    expect(f, format == (f->is_netcdf4 ? NC_FORMAT_NETCDF4 : f->format), "format", code, NC_NOERR);
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
    } else if (what < 16) {
        nonblocking_phase(f, cases);
    } else if (what < 19) {
        fill_a_record(f);
    } else if (what < 20) {
        must(f, ncmpi_sync(f->ncid), "sync");
    } else {
        collective_operation(f);
        ++*cases;
    }
}

/* A build without libhdf5 cannot make such files. */
static bool has_netcdf4(void)
{
    static int known = -1;
    int ncid;
    if (known < 0) {
        known = ncmpi_create(MPI_COMM_WORLD, t_path("netcdf4.nc"), NC_NETCDF4, MPI_INFO_NULL, &ncid) == NC_NOERR;
        if (known)
            ncmpi_abort(ncid);
    }
    return known == 1;
}

/* A machine without libjson-c cannot make stores. */
static bool has_zarr(void)
{
    static int known = -1;
    MPI_Info info;
    int ncid;
    if (known < 0) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "nc_format", "zarr");
        known = ncmpi_create(MPI_COMM_WORLD, t_path("probe.zarr"), NC_CLOBBER, info, &ncid) == NC_NOERR;
        if (known) {
            known = ncmpi_enddef(ncid) == NC_NOERR;
            ncmpi_close(ncid);
        }
        MPI_Info_free(&info);
    }
    return known == 1;
}

/* The classic formats, netCDF-4, Zarr. */
static void draw_format(struct file *f)
{
    static const int formats[] = {1, 2, 5, 5, 5, 5, 5, 5};
    int choice = (int)dice_upto(&f->d, has_netcdf4() ? 5 + 2 * has_zarr() : 3);
    f->format = formats[choice];
    f->is_netcdf4 = choice > 3;
    f->is_zarr = choice > 5;
    snprintf(f->path, sizeof f->path, "%s", t_path(f->is_zarr ? "property.zarr" : "property.nc"));
}

/* One dataset from creation to deletion; returns the number of failures on this rank. */
static int run_file(uint64_t seed, long *cases)
{
    struct file *f = calloc(1, sizeof *f);
    f->d = f->seed = seed;
    f->unlimited = -1;
    f->alive = true;
    draw_format(f);
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
    long wanted = setting(argc, argv, 1, "PNC_PROPERTY_CASES", t_choose(1500, 5000, 200000));
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
