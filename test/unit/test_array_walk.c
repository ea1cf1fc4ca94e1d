/* Boxes of hyperslabs over grids, against a model that places one element at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "array/walk.h"

enum { DIMS = 4, MOST = 2000 };

static uint64_t random_state = 1;

static int64_t draw(int64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

typedef struct drawn {
    int ndims;
    int64_t shape[DIMS], chunk[DIMS], along[DIMS], start[DIMS], count[DIMS], stride[DIMS], values[DIMS];
    int64_t n, nvalues; /* elements of the hyperslab; of the array of values */
} drawn;

static drawn draw_slab(void)
{
    drawn x = {.ndims = (int)draw(DIMS + 1), .n = 1, .nvalues = 1};

    for (int d = 0; d < x.ndims; d++) {
        x.shape[d] = 1 + draw(draw(2) == 0 ? 3 : 9);
        x.chunk[d] = 1 + draw(draw(3) == 0 ? 12 : 4);
        x.along[d] = (x.shape[d] + x.chunk[d] - 1) / x.chunk[d];
        x.start[d] = draw(x.shape[d]);
        x.stride[d] = draw(2) == 0 ? 1 : 1 + draw(5);
        x.count[d] = (x.shape[d] - x.start[d] + x.stride[d] - 1) / x.stride[d];
        x.count[d] = draw(3) == 0 ? x.count[d] : 1 + draw(x.count[d]);
        x.values[d] = x.count[d] + (draw(3) == 0 ? draw(3) : 0);
        x.n *= x.count[d];
        x.nvalues *= x.values[d];
    }
    return x;
}

/* Where element k of the hyperslab is. */
static void place_element(const drawn *x, int64_t k, int64_t *chunk, int64_t *at, int64_t *value)
{
    int64_t index[DIMS] = {0};

    for (int d = x->ndims - 1; d >= 0; d--) {
        index[d] = k % x->count[d];
        k /= x->count[d];
    }
    *chunk = *at = *value = 0;
    for (int d = 0; d < x->ndims; d++) {
        int64_t i = x->start[d] + index[d] * x->stride[d];

        *chunk = *chunk * x->along[d] + i / x->chunk[d];
        *at = *at * x->chunk[d] + i % x->chunk[d];
        *value = *value * x->values[d] + index[d];
    }
}

typedef struct placed {
    int64_t chunk, at;
    int seen;
} placed;

static placed model[40 * MOST];

static void make_model(const drawn *x)
{
    memset(model, 0, sizeof model);
    for (int64_t k = 0; k < x->n; k++) {
        int64_t chunk, at, value;

        place_element(x, k, &chunk, &at, &value);
        model[value] = (placed){chunk, at, 1};
    }
}

/* All runs of a box, each element once. */
static int check_box(void *own, const pnc_box *box)
{
    pnc_box_run run = pnc_array_run_begin(box);
    int64_t n = 0;

    (void)own;
    do {
        for (int64_t i = 0; i < box->run; i++) {
            placed *p = &model[run.value + i];

            assert_int_equal(p->seen, 1);
            assert_int_equal(p->chunk, box->chunk);
            assert_int_equal(p->at, run.at + i);
            p->seen = 2;
        }
        n += box->run;
    } while (pnc_array_run_next(box, &run));
    assert_int_equal(n, box->n);
    return 0;
}

static void check_all_seen(const drawn *x)
{
    for (int64_t i = 0; i < x->nvalues; i++)
        assert_int_not_equal(model[i].seen, 1);
}

static pnc_array_walk start_walk(const drawn *x, int64_t first)
{
    const pnc_array_grid grid = {x->ndims, x->chunk, x->along};
    const pnc_array_slab slab = {x->start, x->count, x->stride, x->values, first};
    pnc_array_walk walk;

    pnc_array_walk_init(&walk, &grid, &slab);
    return walk;
}

static void finds_each_element_once(void **state)
{
    (void)state;
    for (int k = 0; k < 3000; k++) {
        drawn x = draw_slab();
        pnc_array_walk walk = start_walk(&x, 0);
        int64_t previous = -1, nboxes = 0;
        pnc_box box;

        make_model(&x);
        while (pnc_array_walk_next(&walk, &box)) {
            assert_true(box.chunk > previous); /* so each chunk once */
            previous = box.chunk;
            nboxes++;
            check_box(NULL, &box);
        }
        assert_false(pnc_array_walk_next(&walk, &box));
        assert_true(nboxes >= 1);
        check_all_seen(&x);
    }
}

static int check_part(void *own, const pnc_box *part)
{
    assert_true(part->n > 0 && part->n <= *(const int64_t *)own);
    return check_box(NULL, part);
}

static int refuse_part(void *own, const pnc_box *part)
{
    (void)part;
    return --*(int64_t *)own == 0 ? -7 : 0;
}

static void divides_boxes(void **state)
{
    (void)state;
    for (int k = 0; k < 3000; k++) {
        drawn x = draw_slab();
        pnc_array_walk walk = start_walk(&x, 0);
        int64_t most = 1 + draw(20), once = 1;
        pnc_box box;

        make_model(&x);
        while (pnc_array_walk_next(&walk, &box)) {
            assert_int_equal(pnc_array_box_divide(&box, most, check_part, &most), 0);
            once = 1;
            assert_int_equal(pnc_array_box_divide(&box, most, refuse_part, &once), -7);
        }
        check_all_seen(&x);
    }
}

/* Whole rows and planes become one run. */
static void joins_what_is_adjacent(void **state)
{
    const int64_t chunk[] = {2, 3, 4}, along[] = {2, 1, 1}, start[] = {0, 0, 0}, count[] = {4, 3, 4};
    const pnc_array_grid grid = {3, chunk, along};
    const pnc_array_slab slab = {start, count, NULL, NULL, 100};
    pnc_array_walk walk;
    pnc_box box;

    (void)state;
    pnc_array_walk_init(&walk, &grid, &slab);
    for (int64_t i = 0; i < 2; i++) {
        assert_true(pnc_array_walk_next(&walk, &box));
        assert_int_equal(box.chunk, i);
        assert_int_equal(box.at, 0);
        assert_int_equal(box.value, 100 + i * 24);
        assert_int_equal(box.run, 24);
        assert_int_equal(box.naxes, 0);
    }
    assert_false(pnc_array_walk_next(&walk, &box));
}

/* A block that is wider than a chunk: one box for each chunk, however many rows it has. */
static void has_a_box_for_each_chunk(void **state)
{
    const int64_t chunk[] = {1, 64, 64}, along[] = {9, 4, 3}, start[] = {5, 128, 0}, count[] = {1, 64, 192};
    const pnc_array_grid grid = {3, chunk, along};
    const pnc_array_slab slab = {start, count, NULL, NULL, 0};
    pnc_array_walk walk;
    pnc_box box;

    (void)state;
    pnc_array_walk_init(&walk, &grid, &slab);
    for (int64_t i = 0; i < 3; i++) {
        assert_true(pnc_array_walk_next(&walk, &box));
        assert_int_equal(box.chunk, (5 * 4 + 2) * 3 + i);
        assert_int_equal(box.n, 64 * 64);
        assert_int_equal(box.run, 64);
        assert_int_equal(box.naxes, 1);
    }
    assert_false(pnc_array_walk_next(&walk, &box));
}

static void has_no_box_without_elements(void **state)
{
    const int64_t chunk[] = {2, 3}, along[] = {2, 1}, start[] = {0, 3}, count[] = {4, 0};
    const pnc_array_grid grid = {2, chunk, along};
    const pnc_array_slab slab = {start, count, NULL, NULL, 0};
    pnc_array_walk walk;
    pnc_box box;

    (void)state;
    pnc_array_walk_init(&walk, &grid, &slab);
    assert_false(pnc_array_walk_next(&walk, &box));
}

/* A range of elements in row-major order is few hyperslabs, one behind the other. */
static void divides_ranges(void **state)
{
    (void)state;
    for (int k = 0; k < 5000; k++) {
        drawn x = draw_slab();
        int64_t total = 1, first, n, pieces = 0, start[DIMS], count[DIMS];

        for (int d = 0; d < x.ndims; d++)
            total *= x.shape[d];
        first = draw(total);
        n = 1 + draw(total - first);
        for (int64_t taken; n > 0; first += taken, n -= taken, pieces++) {
            int64_t at = 0, last = 0, product = 1;

            taken = pnc_array_range_take(x.ndims, x.shape, first, n, start, count);
            assert_true(taken > 0 && taken <= n);
            for (int d = 0; d < x.ndims; d++) {
                assert_true(start[d] >= 0 && count[d] > 0 && start[d] + count[d] <= x.shape[d]);
                at = at * x.shape[d] + start[d];
                last = last * x.shape[d] + start[d] + count[d] - 1;
                product *= count[d];
            }
            assert_int_equal(product, taken);
            assert_int_equal(at, first);
            assert_int_equal(last, first + taken - 1); /* so without gaps */
        }
        assert_true(pieces <= 2 * x.ndims + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_each_element_once),     cmocka_unit_test(divides_boxes),

        cmocka_unit_test(joins_what_is_adjacent),      cmocka_unit_test(has_a_box_for_each_chunk),
        cmocka_unit_test(has_no_box_without_elements), cmocka_unit_test(divides_ranges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
