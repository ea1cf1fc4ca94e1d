/* Requests in the order of the file, against a naive model that writes each element on its own: random hyperslabs of
 * variables that interleave, posted in random order, overlapping or not, and taken in windows and portions of random
 * size. */
#include <string.h>

#include "io/order/file_order.h"
#include "slabs.h"

enum { MOST_REQUESTS = 12, MOST_BYTES = 1 << 15, MOST_VALUES = 4096, FAR_REQUESTS = 5000 };
enum { MANY_SINGLES = (1 << 16) + 1000 }; /* more than singles.c sorts whole */

static const slab_lengths shape = {9, 11, 7};

static pnc_model model;
static pnc_error error;
static pnc_file file;
static pnc_io_context io;

static slab slabs[MOST_REQUESTS];
static char memory[MOST_REQUESTS][MOST_VALUES];
static pnc_request requests[MOST_REQUESTS], *list[MOST_REQUESTS];
static char expected[MOST_BYTES], found[MOST_BYTES];
static bool touched[MOST_BYTES];

static void make_model(void)
{
    slabs_make_model(shape, &model);
    t_local(model.classic.begin_rec + model.numrecs * model.classic.recsize <= MOST_BYTES, "the file fits");
    file = (pnc_file){.path = (char *)"order.nc", .comm = MPI_COMM_SELF, .nprocs = 1, .error = &error};
    t_local(pnc_io_context_init(&io, &file, &model) == NC_NOERR, "context");
    io.addressing = &pnc_format_classic_addressing;
}

/* What the requests of a list are: any hyperslabs, which may be empty; parts of any rows; or of distinct rows. */
typedef enum slab_kind { ANY, ROWS, DISTINCT_ROWS, KINDS } slab_kind;

static int order_of_rows[MOST_REQUESTS];

/* Part of a row: one extent of the file. */
static void draw_row(slab *s, int place)
{
    s->varid = place % SLAB_VARIABLES;
    s->stride[0] = s->stride[1] = s->count[0] = 1;
    s->start[0] = place / SLAB_VARIABLES;
    s->start[1] = random_in(0, shape.x - 1);
    s->count[1] = random_in(1, shape.x - s->start[1]);
}

/* In random order, or that of the file. */
static void draw_order_of_rows(void)
{
    for (int i = 0; i < MOST_REQUESTS; i++)
        order_of_rows[i] = i / 3 + i % 3 * SLAB_VARIABLES;
    for (int i = MOST_REQUESTS - 1; i > 0 && random_in(0, 3) > 0; i--) {
        int k = (int)random_in(0, i), swap = order_of_rows[i];

        order_of_rows[i] = order_of_rows[k];
        order_of_rows[k] = swap;
    }
}

static void make_request(pnc_op op, slab_kind kind, int i)
{
    if (kind == ANY)
        slab_draw(shape, &slabs[i]);
    else
        draw_row(&slabs[i], kind == ROWS ? (int)random_in(0, MOST_REQUESTS - 1) : order_of_rows[i]);
    slabs[i].values = memory[i];
    for (int k = 0; k < MOST_VALUES; k++)
        memory[i][k] = (char)rand();
    slab_make_request(&slabs[i], op, &io, &requests[i]);
}

static void for_each_byte(int n, void (*access)(int64_t offset, char *value))
{
    slabs_for_each_byte(slabs, n, &model, shape, access);
}

static void write_byte(int64_t offset, char *value)
{
    expected[offset] = *value;
    touched[offset] = true;
}

static void read_byte(int64_t offset, char *value)
{
    *value = expected[offset];
}

static pnc_portion random_portion(pnc_extent *extents, char *bytes)
{
    return (pnc_portion){
        .extents = extents, .bytes = bytes, .max_extents = random_in(1, 40), .max_bytes = random_in(1, 600)};
}

/* Puts: the pieces ascend, are disjoint, and cover what the model covers. */
static bool is_right_put(int n)
{
    const pnc_request_list all = slabs_make_list(PNC_PUT, list, n);
    pnc_extent extents[40];
    char bytes[600];
    int64_t end = 0, covered = 0, limit;
    pnc_file_order order;
    bool good = pnc_io_file_order_init(&order, &io, &all) == NC_NOERR;

    for (int64_t next; good && (next = pnc_io_file_order_get_next(&order)) != PNC_END_OF_ORDER;) {
        pnc_portion p = random_portion(extents, bytes);
        const char *from = bytes;

        limit = next + random_in(1, 2000);
        good = pnc_io_file_order_take(&order, limit, PNC_VALUES_PACK, &p) == NC_NOERR && p.nextents > 0;
        for (pnc_extent *e = extents; good && e < extents + p.nextents; e++) {
            good = e->offset >= end && e->length > 0 && e->offset + e->length <= limit;
            end = e->offset + e->length;
            memcpy(found + e->offset, from, (size_t)e->length);
            from += e->length;
            covered += e->length;
        }
        good = good && from - bytes == p.nbytes;
    }
    pnc_io_file_order_free(&order);
    for (int64_t i = 0; i < MOST_BYTES; i++)
        covered -= touched[i];
    return good && covered == 0 && memcmp(found, expected, MOST_BYTES) == 0;
}

/* Gets: two orders, one for the pieces, its copy for unpacking the values. */
static bool is_right_get(int n)
{
    const pnc_request_list all = slabs_make_list(PNC_GET, list, n);
    pnc_extent extents[40];
    char bytes[600];
    pnc_file_order order, values;
    bool good = pnc_io_file_order_init(&order, &io, &all) == NC_NOERR &&
                pnc_io_file_order_init_copy(&values, &order) == NC_NOERR;

    for (int64_t next; good && (next = pnc_io_file_order_get_next(&order)) != PNC_END_OF_ORDER;) {
        pnc_portion p = random_portion(extents, bytes);
        int64_t limit = next + random_in(1, 2000);
        char *to = bytes;

        good = pnc_io_file_order_take(&order, limit, PNC_VALUES_KEEP, &p) == NC_NOERR && p.nextents > 0;
        for (pnc_extent *e = extents; good && e < extents + p.nextents; e++) {
            memcpy(to, expected + e->offset, (size_t)e->length);
            to += e->length;
        }
        good =
            good && to - bytes == p.nbytes && pnc_io_file_order_take(&values, limit, PNC_VALUES_UNPACK, &p) == NC_NOERR;
    }
    pnc_io_file_order_free(&values);
    pnc_io_file_order_free(&order);
    return good;
}

static bool try_put(slab_kind kind, int n)
{
    memset(expected, 0, sizeof expected);
    memset(found, 0, sizeof found);
    memset(touched, 0, sizeof touched);
    draw_order_of_rows();
    for (int i = 0; i < n; i++)
        make_request(PNC_OP_PUT, kind, i);
    for_each_byte(n, write_byte);
    return is_right_put(n);
}

static bool try_get(slab_kind kind, int n)
{
    static char got[MOST_REQUESTS][MOST_VALUES];
    bool good;

    for (size_t i = 0; i < sizeof expected; i++)
        expected[i] = (char)rand();
    draw_order_of_rows();
    for (int i = 0; i < n; i++)
        make_request(PNC_OP_GET, kind, i);
    good = is_right_get(n);
    for (int i = 0; i < n; i++)
        memcpy(got[i], slabs[i].values, sizeof got[i]);
    for_each_byte(n, read_byte);
    for (int i = 0; i < n; i++)
        good = good && memcmp(got[i], slabs[i].values, sizeof got[i]) == 0;
    return good;
}

/* The place of request i in the order of the file, and of posting where offsets are the same. */
static int64_t find_place(const pnc_extent *extents, int i)
{
    int64_t place = 0;

    for (int k = 0; k < FAR_REQUESTS; k++)
        place += extents[k].offset < extents[i].offset || (extents[k].offset == extents[i].offset && k < i);
    return place;
}

/* A get of one extent. */
static pnc_request request_of(pnc_extent *extent, unsigned elem_size)
{
    pnc_request r = {.direction = PNC_GET};

    r.elements.form = PNC_EXTENTS;
    r.elements.elem_size = elem_size;
    r.elements.n = 1;
    r.elements.count = extent->length / elem_size;
    r.elements.extents = extent;
    r.elements.ascends = true;
    return r;
}

/* Requests of one byte anywhere in a file of 2^61 bytes, some of them at the same offset. */
static bool sorts_far_offsets(void)
{
    static pnc_extent extents[FAR_REQUESTS];
    static pnc_request far[FAR_REQUESTS], *all[FAR_REQUESTS];
    pnc_request_list posted;
    pnc_file_order order;
    int64_t place = 0;
    bool good;

    for (int i = 0; i < FAR_REQUESTS; i++) {
        extents[i] = (pnc_extent){(int64_t)rand() << random_in(0, 30), 1};
        if (i % 3 == 2)
            extents[i] = extents[random_in(0, i - 1)];
        far[i] = request_of(&extents[i], 1);
        all[i] = &far[i];
    }
    posted = slabs_make_list(PNC_GET, all, FAR_REQUESTS);
    good = pnc_io_file_order_init(&order, &io, &posted) == NC_NOERR;
    while (good && order.stretch != NULL) {
        for (int64_t k = 0; good && k < order.stretch->n; k++)
            good = find_place(extents, (int)pnc_io_source_stretch_get(order.stretch, k)->request) == place++;
        good = good && pnc_io_source_stretch_move(order.sorter, &order.stretch) == NC_NOERR;
    }
    good = good && place == FAR_REQUESTS;
    pnc_io_file_order_free(&order);
    return good;
}

/* Requests of 16 bytes each, apart, in random order, in a file of 2^shift times as many blocks as requests. */
static bool sorts_singles(int n, int shift)
{
    static pnc_extent extents[MANY_SINGLES];
    static pnc_request far[MANY_SINGLES], *all[MANY_SINGLES];
    static bool is_seen[MANY_SINGLES];
    int64_t end = 0, begin = model.vars[0]->classic.begin;
    pnc_request_list posted;
    pnc_file_order order;
    bool good;

    for (int i = 0; i < n; i++) {
        int64_t block = (int64_t)i * 1237 % n; /* a prime: each block once */

        extents[i] = (pnc_extent){((block << shift) + random_in(0, (INT64_C(1) << shift) - 1)) * 16, 16};
        far[i] = request_of(&extents[i], 2);
        all[i] = &far[i];
        is_seen[i] = false;
    }
    posted = slabs_make_list(PNC_GET, all, n);
    good = pnc_io_file_order_init(&order, &io, &posted) == NC_NOERR && order.singles.n == n;
    for (int64_t i = 0; good && i < n; i++) {
        pnc_single next = pnc_io_singles_get(&order.singles, &io, &order.target, i);
        int64_t request = next.index;

        good = next.first >= end && next.first == extents[request].offset + begin && !is_seen[request];
        is_seen[request] = true;
        end = next.first + 16;
    }
    pnc_io_file_order_free(&order);
    return good;
}

int main(int argc, char **argv)
{
    bool sorts = true;
    int cases, wrong_puts = 0, wrong_gets = 0;

    t_start(&argc, &argv);
    cases = t_choose(1200, 2400, 20000);
    srand(20 + (unsigned)t_rank);
    make_model();
    for (int i = 0; i < MOST_REQUESTS; i++)
        list[i] = &requests[i];
    for (int i = 0; i < cases; i++) {
        wrong_puts += !try_put((slab_kind)(i % KINDS), (int)random_in(0, MOST_REQUESTS));
        wrong_gets += !try_get((slab_kind)(i % KINDS), (int)random_in(0, MOST_REQUESTS));
    }
    t_check(wrong_puts == 0, "%d random lists of puts: %d differ from the model", cases, wrong_puts);
    t_check(wrong_gets == 0, "%d random lists of gets: %d differ from the model", cases, wrong_gets);
    t_check(sorts_far_offsets(), "%d requests in a file of any size are sorted", FAR_REQUESTS);
    for (int shift = 0; shift < 40; shift++)
        sorts = sorts && sorts_singles(2 + (int)random_in(0, 200), shift) && sorts_singles(MANY_SINGLES, shift);
    t_check(sorts, "single requests are sorted, in files of any size");
    pnc_io_context_free(&io);
    pnc_format_model_free(&model);
    return t_finish();
}
