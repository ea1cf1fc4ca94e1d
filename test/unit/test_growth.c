/* Growing a header in front of data on a disk in memory, which loses its power or its writer at any write, also within
 * one. Whatever is left is read as the old or the new dataset with all old values, or refused and then repaired. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/digest.h"
#include "format/codec.h"
#include "format/layout.h"
#include "growth/fill.h"
#include "growth/growth.h"
#include "growth/life.h"
#include "growth/number.h"
#include "growth/patch.h"
#include "random.h"

enum { SECTOR = 512, MOST = 1 << 17, SECTORS = MOST / SECTOR, NEVER = -1 };

/* --- the disk --- */

typedef struct operation {
    int64_t at, n; /* n < 0: the size is set to `at` */
    char *bytes;
} operation;

typedef struct image {
    char bytes[MOST];
    int64_t size;
} image;

typedef struct disk {
    image durable, now;
    operation pending[4000]; /* since the last flush */
    int n;
    int64_t count, dies_at, fails_at; /* writes, flushes and changes of the size */
    int64_t reads, fails_to_read_at;
    bool dead, torn, is_volatile;
    pnc_held held;                /* the answer to who asks for the lock */
    bool is_shared, assumes_dead; /* by nodes; see pnc_growth_io */
    int64_t node, next_id;        /* of who asks */
    pnc_growth_life life;
    int64_t taken_over_at; /* the read before which another program takes the file over */
    image *taken_over;     /* the file then */
} disk;

static disk the_disk; /* large */

static void apply(image *to, const operation *o)
{
    if (o->n >= 0) {
        assert_true(o->at >= 0 && o->at + o->n <= MOST);
        memcpy(to->bytes + o->at, o->bytes, (size_t)o->n);
        if (o->at + o->n > to->size)
            to->size = o->at + o->n;
        return;
    }
    memset(to->bytes + o->at, 0, (size_t)(MOST - o->at));
    to->size = o->at;
}

static void forget(disk *d)
{
    for (int i = 0; i < d->n; i++)
        free(d->pending[i].bytes);
    d->n = 0;
}

static void start_disk(disk *d, const image *from)
{
    forget(d);
    d->durable = d->now = *from;
    d->count = d->reads = 0;
    d->dies_at = d->fails_at = d->fails_to_read_at = d->taken_over_at = NEVER;
    d->dead = d->torn = false;
}

/* Returns the share of the operation that is done, or a code. */
static int begin(disk *d, int64_t *n)
{
    if (d->dead)
        return NC_EWRITE;
    if (d->count == d->dies_at) {
        d->dead = true;
        *n = d->torn ? *n / 2 : 0;
    } else if (d->count == d->fails_at) {
        *n /= 2;
    }
    d->count++;
    return NC_NOERR;
}

static int end(const disk *d)
{
    return d->dead || d->count - 1 == d->fails_at ? NC_EWRITE : NC_NOERR;
}

static int write_unnoticed(void *file, const pnc_extent *extents, int64_t n, const void *bytes)
{
    disk *d = file;

    assert_int_equal(n, 1);
    memcpy(d->now.bytes + extents[0].offset, bytes, (size_t)extents[0].length);
    return NC_NOERR;
}

static void log_operation(disk *d, operation o, const char *bytes)
{
    if (d->is_volatile) { /* it only loses its writer */
        o.bytes = (char *)bytes;
        apply(&d->now, &o);
        return;
    }
    assert_true(d->n < (int)(sizeof d->pending / sizeof *d->pending));
    if (o.n > 0) {
        o.bytes = malloc((size_t)o.n);
        memcpy(o.bytes, bytes, (size_t)o.n);
    }
    d->pending[d->n++] = o;
    apply(&d->now, &o);
}

/* As a repair does first. A record of the owner is known by the place that the program has noted. */
static void take_file_over(disk *d)
{
    pnc_growth_io io = {.file = d, .write = write_unnoticed};
    pnc_growth_life other = d->life;

    *d->taken_over = d->now;
    if (other.at < 0)
        return;
    other.owner.id += 1000;
    other.seq = 1;
    io.life = &other;
    assert_int_equal(pnc_growth_owner_replace(&io), NC_NOERR);
    *d->taken_over = d->now;
}

static int disk_read(void *file, const pnc_extent *extents, int64_t n, void *bytes)
{
    disk *d = file;
    char *to = bytes;

    if (d->reads++ == d->fails_to_read_at)
        return NC_EREAD;
    if (d->reads - 1 == d->taken_over_at)
        take_file_over(d);
    for (int64_t i = 0; i < n; to += extents[i++].length) {
        assert_true(extents[i].offset >= 0 && extents[i].offset + extents[i].length <= MOST);
        memcpy(to, d->now.bytes + extents[i].offset, (size_t)extents[i].length);
    }
    return d->dead ? NC_EREAD : NC_NOERR;
}

static int disk_write(void *file, const pnc_extent *extents, int64_t n, const void *bytes)
{
    disk *d = file;
    const char *from = bytes;

    for (int64_t i = 0; i < n; from += extents[i++].length) {
        int64_t length = extents[i].length;

        if (begin(d, &length) != NC_NOERR)
            return NC_EWRITE;
        if (length > 0)
            log_operation(d, (operation){extents[i].offset, length, NULL}, from);
        if (end(d) != NC_NOERR)
            return NC_EWRITE;
    }
    return NC_NOERR;
}

static int disk_sync(void *file)
{
    disk *d = file;
    int64_t all = 2;

    assert_false(d->is_volatile);
    if (begin(d, &all) != NC_NOERR || end(d) != NC_NOERR)
        return NC_EWRITE;
    d->durable = d->now;
    forget(d);
    return NC_NOERR;
}

static int disk_set_size(void *file, int64_t size)
{
    disk *d = file;
    int64_t all = 2;

    if (begin(d, &all) != NC_NOERR || end(d) != NC_NOERR)
        return NC_EWRITE;
    log_operation(d, (operation){size, -1, NULL}, NULL);
    return NC_NOERR;
}

static int agree(void *file, int err)
{
    (void)file;
    return err;
}

static pnc_held disk_hold(void *file, pnc_hold hold)
{
    (void)hold;
    return ((disk *)file)->held;
}

static void disk_identify(void *file, pnc_growth_program *own)
{
    disk *d = file;

    own->id = ++d->next_id;
    own->node[0] = d->node;
    own->is_local = !d->is_shared;
}

static pnc_growth_io io_of(disk *d)
{
    return (pnc_growth_io){.file = d,
                           .path = "disk",
                           .nprocs = 1,
                           .is_volatile = d->is_volatile,
                           .assumes_dead = d->assumes_dead,
                           .life = &d->life,
                           .read = disk_read,
                           .write = disk_write,
                           .agree = agree,
                           .sync = disk_sync,
                           .set_size = disk_set_size,
                           .hold = disk_hold,
                           .identify = disk_identify};
}

/* What a disk without power holds: of the operations since the last flush, each sector has the first few, and so has
 * the size. */
static void lose_power(const disk *d, image *out)
{
    bool lost[SECTORS] = {false}, size_lost = false;

    *out = d->durable;
    for (int i = 0; i < d->n; i++) {
        const operation *o = &d->pending[i];

        size_lost = size_lost || random_in(0, 5) == 0;
        if (o->n < 0) {
            out->size = size_lost ? out->size : o->at;
            continue;
        }
        for (int64_t at = o->at, n; at < o->at + o->n; at += n) {
            n = SECTOR - at % SECTOR < o->at + o->n - at ? SECTOR - at % SECTOR : o->at + o->n - at;
            lost[at / SECTOR] = lost[at / SECTOR] || random_in(0, 5) == 0;
            if (!lost[at / SECTOR])
                memcpy(out->bytes + at, o->bytes + (at - o->at), (size_t)n);
        }
        if (!size_lost && o->at + o->n > out->size)
            out->size = o->at + o->n;
    }
    memset(out->bytes + out->size, 0, (size_t)(MOST - out->size));
}

/* --- the dataset --- */

/* What is there, what is added, and what then moves. */
typedef struct growth_case {
    const char *what;
    int fixed, record, records; /* elements of 2 bytes; 0: no such variable */
    int text, new_fixed, new_record;
    int64_t chunk;
    int space;  /* reserved in the old header: nothing moves */
    int second; /* elements of another fixed-size variable */
} growth_case;

static const growth_case cases[] = {
    {"a distance shorter than a step", 6000, 0, 0, 120, 0, 0, 64, 0, 0},
    {"the same, with records", 4000, 301, 9, 200, 0, 0, 70, 0, 0},
    {"a distance as long as direct steps", 6000, 101, 9, 1500, 0, 0, 512, 0, 0},
    {"a distance longer than the data", 2000, 11, 9, 9000, 0, 0, 64, 0, 0},
    {"a new fixed-size variable before records", 100, 250, 20, 0, 700, 0, 64, 0, 0},
    {"a longer record", 100, 301, 15, 0, 0, 40, 64, 0, 0},
    {"a much longer record", 100, 101, 15, 0, 0, 400, 64, 0, 0},
    {"a second record variable after one without padding", 0, 101, 30, 50, 0, 3, 64, 0, 0},
    {"all of them", 1500, 101, 20, 300, 100, 41, 64, 0, 0},
    {"no step: all data are beyond the old end", 40, 0, 0, 900, 0, 0, 64, 0, 0},
    {"two variables by one distance", 1500, 0, 0, 300, 0, 0, 64, 0, 700},
    {"two variables and records", 1501, 101, 9, 300, 100, 41, 64, 0, 703},
    {"no data move", 100, 101, 9, 700, 0, 0, 64, 2000, 0},
    {"no data move, and a new variable", 500, 0, 0, 0, 300, 0, 64, 2000, 0},
    {"a distance shorter than a step, also in memory", 6000, 0, 0, 120, 0, 0, 2000, 0, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

static char byte_of(int var, int64_t at)
{
    uint64_t x = ((uint64_t)at + 1) * 0x9e3779b97f4a7c15u ^ ((uint64_t)var + 7) * 0xbf58476d1ce4e5b9u;

    return (char)((x ^ x >> 31) * 0x94d049bb133111ebu >> 56);
}

static void add_var(pnc_model *model, const char *name, bool record, int n)
{
    int dims[2] = {0, model->ndims}, err;
    char dim[40];

    if (n == 0)
        return;
    snprintf(dim, sizeof dim, "%s_x", name);
    pnc_format_dim_add(model, dim, n, NULL);
    err = pnc_format_var_add(model, name, NC_SHORT, record ? 2 : 1, record ? dims : dims + 1, NULL);
    assert_int_equal(err, NC_NOERR);
}

static void make_models(const growth_case *c, pnc_model *old, pnc_model *now)
{
    const pnc_layout_hints close = {0, 4, 0, 4}, spacious = {c->space, 4, 0, 4};
    static const char text[10000];

    assert_int_equal(pnc_format_model_init(old, 5, NULL), NC_NOERR);
    pnc_format_dim_add(old, "t", 0, NULL);
    add_var(old, "fixed", false, c->fixed);
    add_var(old, "second", false, c->second);
    add_var(old, "record", true, c->record);
    old->numrecs = c->records;
    assert_int_equal(pnc_format_layout_compute(old, NULL, &spacious, NULL), NC_NOERR);
    assert_int_equal(pnc_format_model_copy(now, old), NC_NOERR);
    if (c->text > 0)
        pnc_format_atts_put(now, &now->gatts, "text", NC_CHAR, c->text, text, NULL);
    add_var(now, "new_fixed", false, c->new_fixed);
    add_var(now, "new_record", true, c->new_record);
    assert_int_equal(pnc_format_layout_compute(now, old, &close, NULL), NC_NOERR);
}

static int count_old_vars(const growth_case *c)
{
    return (c->fixed > 0) + (c->second > 0) + (c->record > 0);
}

/* The offset of byte `at` of a variable, its records one after the other. */
static int64_t offset_of(const pnc_model *model, int var, int64_t at)
{
    const pnc_var *v = model->vars[var];

    return v->is_record ? v->classic.begin + at / v->size * model->classic.recsize + at % v->size
                        : v->classic.begin + at;
}

static int64_t bytes_of(const pnc_model *model, int var)
{
    const pnc_var *v = model->vars[var];

    return v->is_record ? v->size * model->numrecs : v->size;
}

static void make_file(pnc_model *model, image *out)
{
    memset(out, 0, sizeof *out);
    pnc_format_header_encode(model, out->bytes);
    for (int v = 0; v < model->nvars; v++)
        for (int64_t i = 0; i < bytes_of(model, v); i++)
            out->bytes[offset_of(model, v, i)] = byte_of(v, i);
    out->size = pnc_format_layout_get_file_end(model);
}

/* What a reader finds: -1 if it refuses the file; the number of wrong bytes, of old variables, and of new ones that are
 * not filled; and whether the definitions are the new ones. */
static int64_t count_wrong(const image *file, int old_vars, bool *is_new)
{
    static const char fill[2] = {(char)0x80, 0x01}; /* NC_FILL_SHORT */
    pnc_model model;
    int64_t need, wrong = 0;

    if (pnc_format_header_decode(file->bytes, file->size, file->size, &model, &need, NULL) != NC_NOERR)
        return -1;
    *is_new = model.nvars > old_vars || model.gatts.n > 0;
    for (int v = 0; v < model.nvars; v++)
        for (int64_t i = 0; i < bytes_of(&model, v); i++) {
            char expected = v < old_vars ? byte_of(v, i) : fill[i % 2];
            int64_t at = offset_of(&model, v, i);

            wrong += at >= file->size || file->bytes[at] != expected;
        }
    pnc_format_model_free(&model);
    return wrong;
}

/* --- deaths --- */

static image before, left; /* large */
static int64_t old_readable, new_readable, refused;

static void check_place(const pnc_growth_change *g)
{
    const pnc_journal *j = &g->journal;

    assert_true(j->scratch >= j->new_size && j->scratch < j->new_size + 4096 && j->scratch % 4096 == 0);
    assert_true(j->half % 4096 == 0 && g->step <= j->half && j->owner == j->scratch + 2 * j->half &&
                j->at == j->owner + PNC_OWNER_BYTES);
}

static int move(const growth_case *c, const pnc_growth_io *io, int64_t size, pnc_model *old, const pnc_model *now,
                const char *header)
{
    pnc_growth_change growth;
    int err = pnc_growth_change_init(&growth, io, old, now, size, c->chunk);

    assert_int_equal(err, NC_NOERR);
    assert_true(growth.stream.total > 0);
    check_place(&growth);
    err = pnc_growth_change_execute(&growth, header);
    if (err != NC_NOERR)
        pnc_growth_change_undo(&growth);
    pnc_growth_change_free(&growth);
    return err;
}

/* No data move: the rest of the new header first, then the bytes of the old one that change. */
static int replace(const pnc_growth_io *io, int64_t size, pnc_model *old, const pnc_model *now, const char *header)
{
    int64_t n = pnc_format_header_get_size(old), more = pnc_format_header_get_size(now) - n;
    int64_t end = pnc_format_layout_get_file_end(now);
    char *was = malloc((size_t)n);
    pnc_growth_patch patch = {.format = 5,
                              .where = {PNC_MAGIC_BYTES, n - PNC_MAGIC_BYTES},
                              .before = was + PNC_MAGIC_BYTES,
                              .after = header + PNC_MAGIC_BYTES,
                              .old_size = size,
                              .new_size = size > end ? size : end};
    int err = pnc_growth_vars_fill(io, now, old->nvars);

    pnc_format_header_encode(old, was);
    if (err == NC_NOERR)
        err = io->agree(io->file, io->rank == 0 ? pnc_growth_bytes_write(io, n, header + n, more) : NC_NOERR);
    if (err == NC_NOERR)
        err = pnc_growth_patch_execute(io, &patch);
    if (err != NC_NOERR)
        pnc_growth_patch_undo(io, &patch);
    free(was);
    return err;
}

/* Change a file of these bytes. With an operation that fails, the change is undone. */
static int change(const growth_case *c, const pnc_growth_io *io, int64_t size)
{
    pnc_model old, now;
    char *header;
    int err;

    make_models(c, &old, &now);
    header = malloc((size_t)pnc_format_header_get_size(&now));
    pnc_format_header_encode(&now, header);
    err = c->space > 0 ? replace(io, size, &old, &now, header) : move(c, io, size, &old, &now, header);
    free(header);
    pnc_format_model_free(&old);
    pnc_format_model_free(&now);
    return err;
}

/* Until the disk dies. */
static int grow(const growth_case *c, disk *d)
{
    pnc_growth_io io = io_of(d);
    int err = pnc_growth_life_begin(&io);

    if (err == NC_NOERR)
        err = change(c, &io, d->now.size);
    pnc_growth_life_end(&io);
    return err;
}

static int repair(disk *d, pnc_growth_outcome *outcome)
{
    pnc_growth_io io = io_of(d);
    int err = pnc_growth_life_begin(&io);

    *outcome = PNC_GROWTH_NONE;
    if (err == NC_NOERR)
        err = pnc_growth_file_repair(&io, d->now.size, outcome);
    pnc_growth_life_end(&io);
    return err;
}

static void take_what_is_left(const disk *d, bool power)
{
    if (power)
        lose_power(d, &left);
    else
        left = d->now;
}

/* A reader must not take `left` for something else than the old or the new dataset; after a repair, which may die too,
 * it is one of them. */
static void check_left(const growth_case *c, int old_vars, bool power)
{
    pnc_growth_outcome outcome;
    bool is_new = false;
    int64_t wrong = count_wrong(&left, old_vars, &is_new), size;

    if (wrong > 0)
        fail_msg("%s: a reader finds %lld wrong bytes", c->what, (long long)wrong);
    refused += wrong < 0;
    old_readable += wrong == 0 && !is_new;
    new_readable += wrong == 0 && is_new;
    start_disk(&the_disk, &left);
    the_disk.dies_at = random_in(0, 60);
    the_disk.torn = random_in(0, 1);
    repair(&the_disk, &outcome);
    take_what_is_left(&the_disk, power);
    if (count_wrong(&left, old_vars, &is_new) > 0)
        fail_msg("%s: wrong bytes after a repair that was interrupted", c->what);
    start_disk(&the_disk, &left);
    assert_int_equal(repair(&the_disk, &outcome), NC_NOERR);
    size = the_disk.now.size;
    if (count_wrong(&the_disk.now, old_vars, &is_new) != 0)
        fail_msg("%s: wrong bytes after a repair", c->what);
    assert_int_equal(repair(&the_disk, &outcome), NC_NOERR);
    assert_true(outcome == PNC_GROWTH_NONE && the_disk.now.size == size);
}

/* Every operation is the last one, with power and, where data move, without; `fails_at`: one that fails before, NEVER,
 * so that the growth is undone from there. */
static int64_t die_everywhere(const growth_case *c, int64_t fails_at, int64_t step)
{
    int64_t deaths = 0, first = fails_at == NEVER ? 0 : fails_at + 1;
    pnc_model old, now;
    bool dies = true;
    int old_vars;

    make_models(c, &old, &now);
    old_vars = old.nvars;
    make_file(&old, &before);
    pnc_format_model_free(&old);
    pnc_format_model_free(&now);
    for (int64_t at = first; dies; at += step)
        for (int how = 0; how < (c->space > 0 || the_disk.is_volatile ? 2 : 4) && dies; how++) {
            start_disk(&the_disk, &before);
            the_disk.dies_at = at;
            the_disk.fails_at = fails_at;
            the_disk.torn = how % 2;
            grow(c, &the_disk);
            dies = the_disk.dead;
            deaths += dies;
            take_what_is_left(&the_disk, how >= 2);
            if (dies)
                check_left(c, old_vars, how >= 2);
        }
    return deaths;
}

static void kill_all(void)
{
    for (int i = 0; i < CASES; i++) {
        int64_t deaths;
        bool is_new = false;

        old_readable = new_readable = refused = 0;
        deaths = die_everywhere(&cases[i], NEVER, 1);
        printf("# %s: %lld deaths: the old dataset %lld, the new one %lld, refused and repaired %lld\n", cases[i].what,
               (long long)deaths, (long long)old_readable, (long long)new_readable, (long long)refused);
        assert_true(deaths > (cases[i].space > 0 || the_disk.is_volatile ? 10 : 30) && old_readable > 0 && refused > 0);
        start_disk(&the_disk, &before);
        assert_int_equal(grow(&cases[i], &the_disk), NC_NOERR);
        assert_int_equal(count_wrong(&the_disk.now, count_old_vars(&cases[i]), &is_new), 0);
        assert_true(is_new);
    }
}

static void test_deaths(void **state)
{
    (void)state;
    kill_all();
}

/* Without flushes, and with less scratch space. */
static void run_in_memory(void (*run)(void))
{
    the_disk.is_volatile = true;
    run();
    the_disk.is_volatile = false;
}

static void test_deaths_in_memory(void **state)
{
    (void)state;
    run_in_memory(kill_all);
}

/* An operation fails, and the growth is undone: the old dataset is there again, also if that dies. */
static void fail_all(void)
{
    for (int i = 0; i < CASES; i++) {
        const growth_case *c = &cases[i];
        int64_t failures = 0, deaths = 0, at = 0;
        int old_vars = count_old_vars(c), err = NC_EWRITE;
        bool is_new = false;

        for (; err != NC_NOERR; at += c->space > 0 || the_disk.is_volatile ? 1 : random_in(1, 9)) {
            deaths += die_everywhere(c, at, random_in(1, 40)); /* also makes the file */
            start_disk(&the_disk, &before);
            the_disk.fails_at = at;
            err = grow(c, &the_disk);
            if (count_wrong(&the_disk.now, old_vars, &is_new) != 0)
                fail_msg("%s: wrong bytes after operation %lld failed", c->what, (long long)at);
            assert_int_equal(is_new, err == NC_NOERR);
            assert_true(is_new || the_disk.now.size == before.size);
            failures += err != NC_NOERR;
        }
        printf("# %s: %lld failures undone, %lld deaths after one\n", c->what, (long long)failures, (long long)deaths);
        assert_true(failures > 1 && deaths > 0);
    }
}

static void test_undo(void **state)
{
    (void)state;
    fail_all();
}

static void test_undo_in_memory(void **state)
{
    (void)state;
    run_in_memory(fail_all);
}

/* --- journals that cannot be used --- */

/* A file that a reader refuses. */
static void leave_marked(const growth_case *c)
{
    bool is_new;
    int old_vars = count_old_vars(c);

    for (int64_t at = 0; at == 0 || count_wrong(&left, old_vars, &is_new) >= 0; at++) {
        start_disk(&the_disk, &before);
        the_disk.dies_at = at;
        grow(c, &the_disk);
        left = the_disk.now;
    }
}

static void check_refused(const char *what)
{
    pnc_growth_outcome outcome;
    static image as_it_was; /* large */

    as_it_was = left;
    start_disk(&the_disk, &left);
    if (repair(&the_disk, &outcome) != NC_EINTERRUPTED)
        fail_msg("%s: not refused", what);
    assert_true(the_disk.now.size == as_it_was.size);
    assert_memory_equal(the_disk.now.bytes, as_it_was.bytes, MOST);
}

static void check_damaged(const growth_case *c)
{
    die_everywhere(c, NEVER, 100000); /* makes the file */
    leave_marked(c);
    left.size -= 1;
    check_refused("a file without its last byte");
    for (int n = 1; n <= PNC_JOURNAL_FOOT + 100; n++) {
        leave_marked(c);
        left.bytes[left.size - n] ^= 0x10;
        check_refused("a journal with a changed bit");
    }
    leave_marked(c);
    left.size = 6;
    check_refused("a file of 6 bytes");
}

static void test_damaged_journals(void **state)
{
    (void)state;
    check_damaged(&cases[1]);
    check_damaged(&cases[12]); /* no data move */
}

/* The journal is there, and no mark. */
static void leave_unmarked(const growth_case *c, int64_t count)
{
    start_disk(&the_disk, &before);
    the_disk.dies_at = count;
    grow(c, &the_disk);
    left = the_disk.now;
    assert_true(left.bytes[3] == 5 && left.size > before.size);
}

/* A journal after another dataset, which has replaced the first one. */
static void check_foreign(const growth_case *c, int64_t count)
{
    pnc_growth_outcome outcome;
    int64_t size;

    die_everywhere(c, NEVER, 100000);
    leave_unmarked(c, count);
    left.bytes[30] ^= 1; /* of the header */
    size = left.size;
    start_disk(&the_disk, &left);
    assert_int_equal(repair(&the_disk, &outcome), NC_NOERR);
    assert_true(outcome == PNC_GROWTH_NONE && the_disk.now.size == size && the_disk.count == 0);
    left.bytes[30] ^= 1;
    start_disk(&the_disk, &left);
    assert_int_equal(repair(&the_disk, &outcome), NC_NOERR);
    assert_true(outcome == PNC_GROWTH_REVERTED && the_disk.now.size == before.size);
}

/* A read that fails: the file stays as it was, and the next repair completes it. */
static void check_reads(const growth_case *c)
{
    static image as_it_was; /* large */
    int64_t failures = 0;
    pnc_growth_outcome outcome;
    bool is_new;

    die_everywhere(c, NEVER, 100000); /* makes the file */
    leave_marked(c);
    as_it_was = left;
    for (int err = NC_EREAD; err != NC_NOERR; failures++) {
        start_disk(&the_disk, &as_it_was);
        the_disk.fails_to_read_at = failures;
        err = repair(&the_disk, &outcome);
        assert_true(err == NC_NOERR || err == NC_EREAD);
        if (err != NC_NOERR && the_disk.count == 0)
            assert_memory_equal(the_disk.now.bytes, as_it_was.bytes, MOST);
        left = the_disk.now;
        start_disk(&the_disk, &left);
        assert_int_equal(repair(&the_disk, &outcome), NC_NOERR);
        assert_int_equal(count_wrong(&the_disk.now, count_old_vars(c), &is_new), 0);
    }
    assert_true(failures > 3);
}

static void test_reads(void **state)
{
    (void)state;
    check_reads(&cases[1]);
    check_reads(&cases[12]);
}

static void test_foreign_journal(void **state)
{
    (void)state;
    check_foreign(&cases[0], 3);
    check_foreign(&cases[12], 2);
}

/* Before the change, the last values were not in the file. The next program puts them, and leaves the journal. */
static void check_short(const growth_case *c, int64_t count)
{
    enum { MISSING = 100 };
    pnc_growth_outcome outcome;
    image whole;
    bool is_new;

    die_everywhere(c, NEVER, 100000);
    whole = before;
    before.size -= MISSING;
    memset(before.bytes + before.size, 0, MISSING);
    leave_unmarked(c, count);
    memcpy(left.bytes + before.size, whole.bytes + before.size, MISSING);
    start_disk(&the_disk, &left);
    assert_int_equal(repair(&the_disk, &outcome), NC_NOERR);
    assert_int_equal(outcome, PNC_GROWTH_REVERTED);
    assert_int_equal(the_disk.now.size, whole.size);
    assert_int_equal(count_wrong(&the_disk.now, count_old_vars(c), &is_new), 0);
}

static void test_short_files(void **state)
{
    (void)state;
    check_short(&cases[0], 1);
    check_short(&cases[12], 2);
}

/* A journal with the right digest and these numbers, at the end of `left`, which has 400 bytes before. */
static void write_patch(int64_t offset, int64_t length, int64_t new_size)
{
    pnc_growth_io io = io_of(&the_disk);
    const int64_t numbers[] = {new_size, offset, length};
    int64_t n = length == 400 ? 400 : 8;
    char *to = left.bytes + 400 + PNC_OWNER_BYTES, *end = to + 2 * n;

    memset(&left, 0, sizeof left);
    the_disk.life.owner = (pnc_growth_program){.id = 1, .is_locked = true, .is_local = true};
    pnc_growth_life_encode(&io, left.bytes + 400);
    memset(to + n, 'a', (size_t)n); /* after the change */
    memcpy(left.bytes, "CDF\x85", 4);
    memcpy(end, "PNCpatc2", 8);
    end += 8;
    for (int i = 0; i < 3; i++)
        end = pnc_growth_number_encode(end, numbers[i]);
    end = pnc_growth_number_encode(end, (int64_t)pnc_digest_add(PNC_DIGEST_START, to, end - to));
    left.size = end - left.bytes;
}

static void test_impossible_patches(void **state)
{
    static const struct {
        int64_t offset, length, new_size;
    } rows[] = {{3, 8, 400},          {-1, 8, 400},        {40, 0, 400},  {40, -1, 400},
                {396, 8, 400},        {INT64_MAX, 8, 400}, {40, 8, 1000}, {40, 400, 400},
                {40, INT64_MAX, 400}, {40, 8, INT64_MAX},  {40, 8, 399},  {40, 8, -1}};
    pnc_growth_outcome outcome;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_patch(rows[i].offset, rows[i].length, rows[i].new_size);
        check_refused("impossible numbers");
    }
    write_patch(40, 8, 400); /* it is not for another reason that those are refused */
    start_disk(&the_disk, &left);
    assert_int_equal(repair(&the_disk, &outcome), NC_NOERR);
    assert_true(outcome == PNC_GROWTH_COMPLETED && the_disk.now.size == 400 && the_disk.now.bytes[3] == 5);
}

/* Between the death and the repair, another program may put values before the journal, or append records where a new
 * variable would have been. */
static void test_appended(void **state)
{
    pnc_growth_outcome outcome;

    (void)state;
    write_patch(40, 8, 400);
    left.bytes[3] = 5;
    start_disk(&the_disk, &left);
    assert_int_equal(repair(&the_disk, &outcome), NC_NOERR);
    assert_true(outcome == PNC_GROWTH_REVERTED && the_disk.now.size == 400);
    die_everywhere(&cases[13], NEVER, 100000);
    leave_unmarked(&cases[13], 3);
    left.bytes[11] = 1; /* the number of records */
    start_disk(&the_disk, &left);
    assert_int_equal(repair(&the_disk, &outcome), NC_NOERR);
    assert_true(outcome == PNC_GROWTH_NONE && the_disk.count == 0);
}

/* --- journals with right digests that no writer leaves --- */

typedef struct forgery {
    pnc_journal j;
    pnc_model old, now;
    pnc_growth_state state;
    int64_t seq, slot; /* of the state: it is in the slot with this number */
} forgery;

/* What a writer has left. */
static void begin_forgery(const growth_case *c, forgery *f)
{
    die_everywhere(c, NEVER, 100000); /* makes the file */
    leave_marked(c);
    make_models(c, &f->old, &f->now);
    assert_true(pnc_growth_journal_decode(left.bytes + left.size - PNC_JOURNAL_FOOT, left.size, &f->j));
    assert_true(pnc_growth_state_decode(left.bytes + f->j.at, &f->seq, &f->state));
    f->slot = f->seq % 2;
    memset(left.bytes + f->j.owner, 0, (size_t)(MOST - f->j.owner));
}

static void end_forgery(forgery *f)
{
    pnc_format_model_free(&f->old);
    pnc_format_model_free(&f->now);
}

/* To the end of `left`. All variables of the new header are filled. */
static void write_forgery(forgery *f)
{
    pnc_growth_io io = io_of(&the_disk);
    pnc_growth_digest digest = pnc_growth_digest_begin();
    char *slots, *to;

    f->j.owner = f->j.scratch + 2 * f->j.half;
    f->j.at = f->j.owner + PNC_OWNER_BYTES;
    f->j.old_header = pnc_format_header_get_size(&f->old);
    f->j.new_header = pnc_format_header_get_size(&f->now);
    left.size = pnc_growth_journal_get_end(&f->j);
    assert_true(left.size <= MOST);
    the_disk.life.owner = (pnc_growth_program){.id = 1, .is_locked = true, .is_local = true};
    pnc_growth_life_encode(&io, left.bytes + f->j.owner);
    slots = left.bytes + f->j.at;
    to = slots + PNC_JOURNAL_SLOTS;
    pnc_growth_state_encode(&f->state, f->seq, slots + f->slot * PNC_JOURNAL_SLOT);
    pnc_format_header_encode(&f->old, to);
    pnc_format_header_encode(&f->now, to + f->j.old_header);
    pnc_growth_digest_add(&digest, to, f->j.old_header + f->j.new_header + f->j.nvars);
    pnc_growth_journal_encode_foot(&f->j, &digest, left.bytes + left.size - PNC_JOURNAL_FOOT);
}

static void empty_half(forgery *f)
{
    f->j.half = 0;
    f->state = (pnc_growth_state){f->state.first, f->state.first, 1};
}

static void odd_half(forgery *f)
{
    f->j.half += 100;
}

static void half_longer_than_data(forgery *f)
{
    f->j.half += 1 << 14;
}

static void scratch_far_away(forgery *f)
{
    f->j.scratch += PNC_JOURNAL_SLOT;
}

static void longer_file(forgery *f)
{
    f->j.new_size += 4;
}

static void shorter_file(forgery *f)
{
    f->j.new_size -= 4;
}

static void more_modes(forgery *f)
{
    f->j.nvars++;
}

static void exchanged_headers(forgery *f)
{
    pnc_model old = f->old;

    f->old = f->now;
    f->now = old;
    f->j.nvars = f->now.nvars;
}

static void same_headers(forgery *f)
{
    pnc_format_model_free(&f->old);
    assert_int_equal(pnc_format_model_copy(&f->old, &f->now), NC_NOERR);
}

static void vast_variable(forgery *f)
{
    f->now.dims[f->now.ndims - 1]->len = (int64_t)1 << 40;
}

static void other_shape(forgery *f)
{
    f->now.dims[1]->len--;
}

static void other_type(forgery *f)
{
    f->now.vars[0]->type = NC_USHORT;
}

static void another_record(forgery *f)
{
    f->now.numrecs++;
}

static void many_records(forgery *f)
{
    f->old.numrecs = f->now.numrecs = (int64_t)1 << 30;
}

static void records_apart(forgery *f)
{
    f->now.vars[f->old.nvars - 1]->classic.begin += 4;
}

static void last_number(forgery *f)
{
    f->seq = INT64_MAX;
    f->slot = 1;
}

static void other_slot(forgery *f)
{
    f->slot = 1 - f->slot;
}

static void negative_first(forgery *f)
{
    f->state.first = -1;
}

static void end_before_first(forgery *f)
{
    f->state.end = f->state.first - 1;
}

static void end_beyond_data(forgery *f)
{
    f->state.end = (int64_t)1 << 40;
}

static void more_than_half(forgery *f)
{
    f->state.first = f->state.end - f->j.half - 1;
}

static void third_half(forgery *f)
{
    f->state.half = 2;
}

static void negative_half(forgery *f)
{
    f->state.half = -1;
}

static void check_forgeries(const growth_case *c)
{
    static const struct {
        const char *what;
        void (*spoil)(forgery *f);
    } rows[] = {{"no scratch space", empty_half},
                {"halves of an odd size", odd_half},
                {"halves longer than the data", half_longer_than_data},
                {"scratch space at an odd offset", scratch_far_away},
                {"a file that is too long", longer_file},
                {"a file that is too short", shorter_file},
                {"more fill modes than variables", more_modes},
                {"the headers in the other order", exchanged_headers},
                {"no data move", same_headers},
                {"a new variable larger than the file", vast_variable},
                {"another shape", other_shape},
                {"another type", other_type},
                {"another number of records", another_record},
                {"more records than the file", many_records},
                {"a record whose variables move apart", records_apart},
                {"the last number of a state", last_number},
                {"a state in the wrong slot", other_slot},
                {"a negative position", negative_first},
                {"an end before the first position", end_before_first},
                {"an end beyond the data", end_beyond_data},
                {"a state longer than its half", more_than_half},
                {"a third half", third_half},
                {"a negative half", negative_half}};
    pnc_growth_outcome outcome;
    forgery f;
    bool is_new;

    begin_forgery(c, &f);
    write_forgery(&f);
    start_disk(&the_disk, &left);
    assert_int_equal(repair(&the_disk, &outcome), NC_NOERR); /* it is not for another reason that those are refused */
    assert_true(outcome == PNC_GROWTH_COMPLETED);
    assert_int_equal(count_wrong(&the_disk.now, count_old_vars(c), &is_new), 0);
    end_forgery(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin_forgery(c, &f);
        rows[i].spoil(&f);
        write_forgery(&f);
        check_refused(rows[i].what);
        end_forgery(&f);
    }
}

static void test_forged_journals(void **state)
{
    static const growth_case c = {"all kinds of variables", 1000, 251, 9, 120, 30, 0, 64, 0, 0};

    (void)state;
    check_forgeries(&c);
}

/* Without the mark it is no more than bytes after the data. */
static void test_unmarked_forgery(void **state)
{
    const growth_case *c = &cases[4];
    pnc_growth_outcome outcome;
    forgery f;

    (void)state;
    begin_forgery(c, &f);
    shorter_file(&f);
    write_forgery(&f);
    left.bytes[3] = 5;
    start_disk(&the_disk, &left);
    assert_int_equal(repair(&the_disk, &outcome), NC_NOERR);
    assert_true(outcome == PNC_GROWTH_NONE && the_disk.count == 0);
    end_forgery(&f);
}

/* The digest of a text does not depend on its pieces. */
static void test_digest(void **state)
{
    char bytes[100];
    int64_t whole;

    (void)state;
    for (int i = 0; i < 100; i++)
        bytes[i] = (char)random_in(0, 255);
    whole = pnc_growth_digest_get(bytes, sizeof bytes);
    for (int times = 0; times < 2000; times++) {
        pnc_growth_digest digest = pnc_growth_digest_begin();

        for (int64_t at = 0, n; at < (int64_t)sizeof bytes; at += n) {
            n = random_in(0, random_in(0, 1) == 0 ? 5 : 60);
            n = n < (int64_t)sizeof bytes - at ? n : (int64_t)sizeof bytes - at;
            pnc_growth_digest_add(&digest, bytes + at, n);
        }
        assert_true(pnc_growth_digest_end(&digest) == whole);
    }
}

/* The file has other bytes than those before the change, or after it. */
static void test_foreign_patch(void **state)
{
    (void)state;
    write_patch(40, 8, 400);
    left.bytes[41] = 'b';
    check_refused("a patch of other bytes");
}

/* --- whether the program still runs --- */

/* A file that is marked, left by a program that found locks like this. */
static void leave_marked_by(const growth_case *c, pnc_held held, bool is_shared)
{
    the_disk.held = held;
    the_disk.is_shared = is_shared;
    the_disk.node = 7;
    die_everywhere(c, NEVER, 100000); /* makes the file */
    leave_marked(c);
    the_disk.held = PNC_HELD;
    the_disk.is_shared = false;
    the_disk.node = 0;
}

static void expect_repair(const char *what, const growth_case *c, bool succeeds)
{
    static image as_it_was; /* large */
    pnc_growth_outcome outcome;
    bool is_new;

    as_it_was = left;
    if (!succeeds) {
        check_refused(what);
    } else {
        start_disk(&the_disk, &left);
        if (repair(&the_disk, &outcome) != NC_NOERR || outcome != PNC_GROWTH_COMPLETED)
            fail_msg("%s: refused", what);
        assert_int_equal(count_wrong(&the_disk.now, count_old_vars(c), &is_new), 0);
        assert_true(is_new);
    }
    left = as_it_was;
}

static void check_trust(const growth_case *c)
{
    leave_marked_by(c, PNC_HELD, false);
    expect_repair("a free lock of a local file", c, true);
    the_disk.node = 8;
    expect_repair("the same, after the node was started again", c, true);
    the_disk.held = PNC_HELD_BY_OTHERS;
    expect_repair("a lock that others have", c, false);
    the_disk.assumes_dead = true;
    expect_repair("the same, but the user takes them for dead", c, false);
    the_disk.assumes_dead = false;
    the_disk.held = PNC_HELD_UNKNOWN;
    expect_repair("no locks any more", c, false);
    the_disk.held = PNC_HELD;
    the_disk.is_shared = true;
    expect_repair("a file that was local, and is shared", c, false);
    leave_marked_by(c, PNC_HELD, true);
    expect_repair("a file that was shared, and is local", c, false);
    the_disk.is_shared = true;
    the_disk.node = 8;
    expect_repair("another node", c, false);
    the_disk.held = PNC_HELD_BY_OTHERS;
    expect_repair("another node, and a lock that others have", c, false);
    the_disk.assumes_dead = true;
    expect_repair("the same, but the user takes them for dead", c, true);
    the_disk.node = 7;
    expect_repair("the same on the node of the others", c, false);
    the_disk.assumes_dead = false;
    the_disk.held = PNC_HELD;
    expect_repair("a free lock on that node", c, true);
    leave_marked_by(c, PNC_HELD_UNKNOWN, false);
    expect_repair("a writer without locks", c, false);
    the_disk.assumes_dead = true;
    expect_repair("the same, but the user takes it for dead", c, true);
    the_disk.assumes_dead = false;
}

static void test_trust(void **state)
{
    (void)state;
    check_trust(&cases[1]);
    check_trust(&cases[12]);
}

/* Another program becomes the owner of the journal before an access of this one, which then stops: no byte changes. */
static int64_t take_over(const growth_case *c, int64_t reads)
{
    static image taken; /* large */
    int64_t found = 0;

    start_disk(&the_disk, &before);
    the_disk.taken_over_at = reads;
    the_disk.taken_over = &taken;
    if (grow(c, &the_disk) != NC_NOERR) {
        assert_true(the_disk.now.size == taken.size);
        assert_memory_equal(the_disk.now.bytes, taken.bytes, MOST);
        found = 1;
    }
    the_disk.taken_over_at = NEVER;
    return found;
}

static void check_owner(const growth_case *c)
{
    int64_t times = 0;

    the_disk.held = PNC_HELD_UNKNOWN;
    die_everywhere(c, NEVER, 100000); /* makes the file */
    for (int64_t reads = 0; reads < 2000; reads += 1 + reads / 20)
        times += take_over(c, reads);
    the_disk.held = PNC_HELD;
    assert_true(times > 2);
}

static void test_owner(void **state)
{
    (void)state;
    check_owner(&cases[1]);
    check_owner(&cases[12]);
}

/* Journals of the version before have no owner: whether it runs is not known. */
static void test_old_version(void **state)
{
    pnc_growth_outcome outcome;

    (void)state;
    write_patch(40, 8, 400);
    memmove(left.bytes + 400, left.bytes + 400 + PNC_OWNER_BYTES, 16 + 40);
    left.size -= PNC_OWNER_BYTES;
    memcpy(left.bytes + 416, "PNCpatc1", 8);
    pnc_growth_number_encode(left.bytes + left.size - 8,
                             (int64_t)pnc_digest_add(PNC_DIGEST_START, left.bytes + 400, 48));
    memset(left.bytes + left.size, 0, (size_t)(MOST - left.size));
    check_refused("a journal without an owner");
    the_disk.assumes_dead = true;
    start_disk(&the_disk, &left);
    assert_int_equal(repair(&the_disk, &outcome), NC_NOERR);
    assert_true(outcome == PNC_GROWTH_COMPLETED && the_disk.now.size == 400 && the_disk.now.bytes[3] == 5);
    the_disk.assumes_dead = false;
}

/* --- several ranks --- */

enum { RANKS = 5, MAXIMA = 4 };

static struct {
    pthread_mutex_t lock;
    pthread_barrier_t barrier;
    int err; /* the least of the ranks, as codes are negative */
    int64_t maxima[MAXIMA];
} ranks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int read_shared(void *file, const pnc_extent *extents, int64_t n, void *bytes)
{
    pthread_mutex_lock(&ranks.lock);
    int err = disk_read(file, extents, n, bytes);
    pthread_mutex_unlock(&ranks.lock);
    return err;
}

static int write_shared(void *file, const pnc_extent *extents, int64_t n, const void *bytes)
{
    pthread_mutex_lock(&ranks.lock);
    int err = disk_write(file, extents, n, bytes);
    pthread_mutex_unlock(&ranks.lock);
    return err;
}

static int agree_shared(void *file, int err)
{
    (void)file;
    pthread_barrier_wait(&ranks.barrier);
    pthread_mutex_lock(&ranks.lock);
    ranks.err = err < ranks.err ? err : ranks.err;
    pthread_mutex_unlock(&ranks.lock);
    pthread_barrier_wait(&ranks.barrier);
    err = ranks.err;
    if (pthread_barrier_wait(&ranks.barrier) != 0) /* one of them */
        ranks.err = NC_NOERR;
    return err;
}

static int maximize_shared(void *file, int64_t *values, int n)
{
    (void)file;
    assert_true(n <= MAXIMA);
    pthread_barrier_wait(&ranks.barrier);
    pthread_mutex_lock(&ranks.lock);
    for (int i = 0; i < n; i++)
        ranks.maxima[i] = values[i] > ranks.maxima[i] ? values[i] : ranks.maxima[i];
    pthread_mutex_unlock(&ranks.lock);
    pthread_barrier_wait(&ranks.barrier);
    memcpy(values, ranks.maxima, (size_t)n * sizeof *values);
    if (pthread_barrier_wait(&ranks.barrier) != 0)
        memset(ranks.maxima, 0, sizeof ranks.maxima);
    pthread_barrier_wait(&ranks.barrier);
    return NC_NOERR;
}

static int sync_shared(void *file)
{
    return agree_shared(file, pthread_barrier_wait(&ranks.barrier) != 0 ? disk_sync(file) : NC_NOERR);
}

static int set_size_shared(void *file, int64_t size)
{
    return agree_shared(file, pthread_barrier_wait(&ranks.barrier) != 0 ? disk_set_size(file, size) : NC_NOERR);
}

typedef struct rank_of_case {
    const growth_case *c;
    int rank, nprocs, err;
    int64_t size;
} rank_of_case;

static void *grow_on_rank(void *with)
{
    rank_of_case *r = with;
    pnc_growth_life life;
    pnc_growth_io io = io_of(&the_disk);

    io.rank = r->rank;
    io.nprocs = r->nprocs;
    io.read = read_shared;
    io.write = write_shared;
    io.agree = agree_shared;
    io.sync = sync_shared;
    io.set_size = set_size_shared;
    io.maximize = maximize_shared;
    io.life = &life;
    r->err = pnc_growth_life_begin(&io);
    if (r->err == NC_NOERR)
        r->err = change(r->c, &io, r->size);
    pnc_growth_life_end(&io);
    return NULL;
}

/* The ranks are threads. Returns the code that all of them return. */
static int grow_on_ranks(const growth_case *c, int nprocs)
{
    pthread_t threads[RANKS];
    rank_of_case all[RANKS];
    int64_t size = the_disk.now.size; /* before any of them writes */

    ranks.err = NC_NOERR;
    assert_int_equal(pthread_barrier_init(&ranks.barrier, NULL, (unsigned)nprocs), 0);
    for (int rank = 0; rank < nprocs; rank++) {
        all[rank] = (rank_of_case){c, rank, nprocs, 0, size};
        assert_int_equal(pthread_create(&threads[rank], NULL, grow_on_rank, &all[rank]), 0);
    }
    for (int rank = 0; rank < nprocs; rank++)
        assert_int_equal(pthread_join(threads[rank], NULL), 0);
    pthread_barrier_destroy(&ranks.barrier);
    for (int rank = 1; rank < nprocs; rank++)
        assert_int_equal(all[rank].err, all[0].err);
    return all[0].err;
}

/* The same file as from one rank; after a failure the old one. */
static void test_ranks(void **state)
{
    static image whole; /* large */
    (void)state;

    for (int i = 0; i < 2 * CASES; i++) {
        const growth_case *c = &cases[i / 2];
        bool is_new = false;

        the_disk.is_volatile = i % 2 != 0;
        die_everywhere(c, NEVER, 100000); /* makes the file */
        start_disk(&the_disk, &before);
        assert_int_equal(grow(c, &the_disk), NC_NOERR);
        whole = the_disk.now;
        for (int nprocs = 2; nprocs <= RANKS; nprocs++) {
            start_disk(&the_disk, &before);
            assert_int_equal(grow_on_ranks(c, nprocs), NC_NOERR);
            assert_int_equal(the_disk.now.size, whole.size);
            assert_memory_equal(the_disk.now.bytes, whole.bytes, (size_t)whole.size);
            for (int64_t at = 0; at < 200; at += 7) {
                start_disk(&the_disk, &before);
                the_disk.fails_at = at;
                if (grow_on_ranks(c, nprocs) == NC_NOERR)
                    break;
                assert_int_equal(count_wrong(&the_disk.now, count_old_vars(c), &is_new), 0);
                if (is_new || the_disk.now.size != before.size)
                    fail_msg("%s, %d ranks: operation %lld failed, %s, %lld bytes", c->what, nprocs, (long long)at,
                             is_new ? "new" : "old", (long long)the_disk.now.size);
            }
        }
    }
    the_disk.is_volatile = false;
}

/* --- sizes --- */

static int do_nothing(void *file, int err)
{
    (void)file;
    return err;
}

/* docs/reliability.md: the size of a step, of one chunk of each rank, and of a half of the scratch space. */
static void test_sizes(void **state)
{
    enum { KIB = 1024, MIB = 1024 * 1024 };
    static const struct {
        bool is_volatile;
        int nprocs;
        int64_t chunk, bytes; /* of the hint; of data */
        int64_t own, step;
    } rows[] = {
        {false, 1, MIB, 1000 * MIB, MIB, 64 * MIB},
        {false, 8, MIB, 1000 * MIB, MIB, 64 * MIB},
        {false, 32, MIB, 1000 * MIB, MIB, 64 * MIB},
        {false, 40, MIB, 1000 * MIB, MIB, 80 * MIB},
        {false, 4, MIB, 40 * KIB, 10 * KIB + 1, 40 * KIB},
        {true, 1, MIB, 1000 * MIB, 256 * KIB, 256 * KIB},
        {true, 6, MIB, 1000 * MIB, 256 * KIB, 6 * 256 * KIB},
        {true, 1, 100 * KIB, 1000 * MIB, 100 * KIB, 100 * KIB},
        {false, 2, INT64_MAX, 1000 * MIB, 500 * MIB + 1, 1000 * MIB},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pnc_growth_io io = {
            .path = "sizes", .nprocs = rows[i].nprocs, .is_volatile = rows[i].is_volatile, .agree = do_nothing};
        const growth_case c = {.fixed = (int)(rows[i].bytes / 2), .text = 1};
        pnc_growth_change growth;
        pnc_model old, now;
        int64_t size, beyond;

        make_models(&c, &old, &now);
        size = pnc_format_layout_get_file_end(&old);
        beyond = pnc_format_layout_get_file_end(&now) - size; /* copied before the first step */
        assert_int_equal(pnc_growth_change_init(&growth, &io, &old, &now, size, rows[i].chunk), NC_NOERR);
        assert_int_equal(growth.stream.total, rows[i].bytes);
        assert_int_equal(growth.chunk, rows[i].own);
        if (rows[i].step < rows[i].bytes)
            assert_int_equal(growth.step, rows[i].step);
        else
            assert_in_range((uintmax_t)growth.step, (uintmax_t)(rows[i].bytes - beyond),
                            (uintmax_t)rows[i].bytes + 4096);
        check_place(&growth);
        pnc_growth_change_free(&growth);
        pnc_format_model_free(&old);
        pnc_format_model_free(&now);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_deaths),
                                       cmocka_unit_test(test_undo),
                                       cmocka_unit_test(test_deaths_in_memory),
                                       cmocka_unit_test(test_undo_in_memory),
                                       cmocka_unit_test(test_damaged_journals),
                                       cmocka_unit_test(test_foreign_journal),
                                       cmocka_unit_test(test_reads),
                                       cmocka_unit_test(test_appended),
                                       cmocka_unit_test(test_short_files),
                                       cmocka_unit_test(test_forged_journals),
                                       cmocka_unit_test(test_unmarked_forgery),
                                       cmocka_unit_test(test_foreign_patch),
                                       cmocka_unit_test(test_trust),
                                       cmocka_unit_test(test_owner),
                                       cmocka_unit_test(test_old_version),
                                       cmocka_unit_test(test_digest),
                                       cmocka_unit_test(test_impossible_patches),
                                       cmocka_unit_test(test_ranks),
                                       cmocka_unit_test(test_sizes)};
    int failures = cmocka_run_group_tests(tests, NULL, NULL);

    forget(&the_disk);
    return failures;
}
