/* Flattened datatypes against lists of the offset of every element, built by the same steps in the most naive way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "random.h"
#include "select/flat_node.h"

enum { MAX_ELEMENTS = 4000 };

typedef struct list {
    int64_t n, offset[MAX_ELEMENTS];
} list;

static list *list_new(void)
{
    list *l = calloc(1, sizeof *l);
    assert_non_null(l);
    return l;
}

static void list_append(list *to, const list *from, int64_t shift)
{
    for (int64_t i = 0; i < from->n; i++) {
        assert_true(to->n < MAX_ELEMENTS);
        to->offset[to->n++] = from->offset[i] + shift;
    }
}

static pnc_flat_type *random_tree(int depth, int elem_size, int64_t budget, list *expected);

static pnc_flat_type *random_block(int elem_size, int64_t budget, list *expected)
{
    int64_t count = budget > 0 && random_in(0, 9) ? random_in(1, budget < 6 ? budget : 6) : 0;
    for (int64_t i = 0; i < count; i++)
        expected->offset[expected->n++] = i * elem_size;
    return pnc_select_flat_create_block(count, elem_size);
}

static pnc_flat_type *random_vector(int depth, int elem_size, int64_t budget, list *expected)
{
    int64_t count = random_in(0, 9) ? random_in(1, budget < 5 ? budget : 5) : 0, extent;
    list *part = list_new();
    pnc_flat_type *child = random_tree(depth - 1, elem_size, count > 0 ? budget / count : budget, part);
    extent = part->n * elem_size; /* often the copies follow one another */
    int64_t stride = random_in(0, 1) ? extent : random_in(-20, 20) * elem_size;
    for (int64_t i = 0; i < count; i++)
        list_append(expected, part, i * stride);
    free(part);
    return pnc_select_flat_create_vector(child, count, stride);
}

static pnc_flat_type *random_sequence(int depth, int elem_size, int64_t budget, list *expected)
{
    int64_t n = random_in(1, 5), distance = random_in(-10, 10) * elem_size;
    pnc_flat_type *children[5];
    for (int64_t i = 0; i < n; i++) {
        list *part = list_new();
        int64_t shift = random_in(0, 1) ? distance * i : random_in(-50, 50) * elem_size;
        children[i] = random_tree(depth - 1, elem_size, budget / n, part);
        children[i] = pnc_select_flat_create_shifted(children[i], shift);
        list_append(expected, part, shift);
        free(part);
    }
    return pnc_select_flat_create_sequence(children, n);
}

static pnc_flat_type *random_shift(int depth, int elem_size, int64_t budget, list *expected)
{
    list *part = list_new();
    int64_t shift = random_in(-100, 100) * elem_size;
    pnc_flat_type *child = random_tree(depth - 1, elem_size, budget, part), *shared;
    list_append(expected, part, shift);
    free(part);
    if (random_in(0, 1))
        return pnc_select_flat_create_shifted(child, shift);
    shared = pnc_select_flat_share(child); /* the shift of one holder must not move the other's */
    child = pnc_select_flat_create_shifted(child, shift);
    shared = pnc_select_flat_create_shifted(shared, 7777);
    pnc_select_flat_free(shared);
    return child;
}

static pnc_flat_type *random_tree(int depth, int elem_size, int64_t budget, list *expected)
{
    int64_t kind = depth > 0 && budget > 0 ? random_in(0, 6) : 0;
    if (kind == 0)
        return random_block(elem_size, budget, expected);
    if (kind <= 3)
        return random_vector(depth, elem_size, budget, expected);
    if (kind <= 5)
        return random_sequence(depth, elem_size, budget, expected);
    return random_shift(depth, elem_size, budget, expected);
}

static int64_t compare(const pnc_flat_type *map, const list *expected, int64_t max)
{
    pnc_run_cursor cursor;
    pnc_memory_run run;
    int64_t done = 0, runs = 0;
    assert_non_null(map);
    assert_int_equal(pnc_select_flat_count_elements(map), expected->n);
    assert_int_equal(pnc_select_run_cursor_init(&cursor, map), NC_NOERR);
    for (int64_t most; most = max > 0 ? max : random_in(1, 9), pnc_select_run_cursor_next(&cursor, most, &run);
         runs++) {
        assert_true(run.count > 0 && run.count <= most);
        for (int64_t i = 0; i < run.count; i++) {
            assert_true(done < expected->n);
            assert_int_equal(run.offset + i * run.stride, expected->offset[done++]);
        }
        assert_int_equal(cursor.done, done);
    }
    assert_int_equal(done, expected->n);
    assert_false(pnc_select_run_cursor_next(&cursor, 1, &run));
    for (int i = 0; i < 8; i++) {
        if (i == 4)
            assert_int_equal(pnc_select_index_make((pnc_flat_type *)(uintptr_t)map), NC_NOERR);
        done = random_in(0, expected->n);
        pnc_select_run_cursor_seek(&cursor, done);
        for (; pnc_select_run_cursor_next(&cursor, random_in(1, 9), &run); done += run.count)
            assert_int_equal(run.offset, expected->offset[done]);
        assert_int_equal(done, expected->n);
    }
    pnc_select_run_cursor_free(&cursor);
    return runs;
}

static void check_contiguous(const pnc_flat_type *map, const list *expected, int elem_size)
{
    int64_t offset = -1;
    bool contiguous = true;
    for (int64_t i = 1; i < expected->n; i++)
        contiguous = contiguous && expected->offset[i] == expected->offset[0] + i * elem_size;
    if (!pnc_select_flat_is_contiguous(map, &offset))
        return; /* a tree may miss it, but must never claim it wrongly */
    assert_true(contiguous);
    if (expected->n > 0)
        assert_int_equal(offset, expected->offset[0]);
}

static void test_random_trees(void **state)
{
    static const int sizes[] = {1, 2, 4, 8};
    (void)state;
    for (int round = 0; round < 20000; round++) {
        list *expected = list_new();
        int elem_size = sizes[random_in(0, 3)];
        pnc_flat_type *map = random_tree((int)random_in(0, 6), elem_size, 600, expected);
        compare(map, expected, INT64_MAX);
        compare(map, expected, 0);
        check_contiguous(map, expected, elem_size);
        pnc_select_flat_free(map);
        free(expected);
    }
}

static void test_random_imap(void **state)
{
    (void)state;
    for (int round = 0; round < 5000; round++) {
        int64_t count[4], imap[4], index[4] = {0}, n = 1;
        int ndims = (int)random_in(0, 4);
        list *expected = list_new();
        for (int d = 0; d < ndims; d++) {
            count[d] = random_in(round % 50 ? 1 : 0, 5);
            imap[d] = random_in(-30, 30);
            n *= count[d];
        }
        bool c_order = random_in(0, 4) == 0;
        for (int64_t k = 0; k < n; k++) {
            int64_t offset = 0;
            for (int d = 0; d < ndims; d++)
                offset += index[d] * imap[d];
            expected->offset[expected->n++] = 4 * (c_order ? k : offset);
            for (int d = ndims - 1; d >= 0 && ++index[d] == count[d]; d--)
                index[d] = 0;
        }
        pnc_flat_type *map = pnc_select_flat_create_imap(ndims, count, c_order ? NULL : imap, 4);
        compare(map, expected, 0);
        check_contiguous(map, expected, 4);
        pnc_select_flat_free(map);
        free(expected);
    }
}

/* imap over random trees, as far as it stays inside: each element of the order names one of the tree. */
static void test_random_pick(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; round++) {
        list *inner = list_new(), *expected = list_new();
        pnc_flat_type *tree = random_tree((int)random_in(0, 6), 4, 600, inner), *order, *map;
        int64_t count[3], imap[3], left = inner->n - 1, most;

        if (inner->n > 0) {
            for (int d = 0; d < 3; d++) {
                imap[d] = random_in(0, 7);
                most = imap[d] == 0 ? 3 : 1 + left / imap[d];
                count[d] = random_in(1, most < 14 ? most : 14);
                left -= imap[d] * (count[d] - 1);
            }
            for (int64_t i = 0; i < count[0]; i++)
                for (int64_t k = 0; k < count[1]; k++)
                    for (int64_t l = 0; l < count[2]; l++)
                        expected->offset[expected->n++] = inner->offset[i * imap[0] + k * imap[1] + l * imap[2]];
            order = pnc_select_flat_create_imap(3, count, imap, 4);
            map = pnc_select_flat_create_pick(order, pnc_select_flat_share(tree));
            compare(map, expected, INT64_MAX);
            compare(map, expected, 0);
            check_contiguous(map, expected, 4);
            pnc_select_flat_free(map);
            compare(tree, inner, 0); /* which is as it was */
        }
        pnc_select_flat_free(tree);
        free(inner);
        free(expected);
    }
    assert_null(pnc_select_flat_create_pick(NULL, pnc_select_flat_create_block(2, 4)));
    assert_null(pnc_select_flat_create_pick(pnc_select_flat_create_block(2, 4), NULL));
}

/* Number of runs of typical maps: what the simplifications are for. */
static int64_t runs_of(pnc_flat_type *map)
{
    pnc_run_cursor cursor;
    pnc_memory_run run;
    int64_t runs = 0;
    assert_non_null(map);
    assert_int_equal(pnc_select_run_cursor_init(&cursor, map), NC_NOERR);
    while (pnc_select_run_cursor_next(&cursor, INT64_MAX, &run))
        runs++;
    pnc_select_run_cursor_free(&cursor);
    pnc_select_flat_free(map);
    return runs;
}

static void test_simplification(void **state)
{
    const int64_t count[] = {100, 50, 20}, whole[] = {1000, 20, 1}, ghost[] = {1200, 24, 1};
    const int64_t transposed[] = {1, 100, 5000}, columns[] = {1040, 20, 1};
    pnc_flat_type *blocks[300];
    (void)state;
    assert_int_equal(runs_of(pnc_select_flat_create_imap(3, count, NULL, 8)), 1);
    assert_int_equal(runs_of(pnc_select_flat_create_imap(3, count, whole, 8)), 1);
    assert_int_equal(runs_of(pnc_select_flat_create_imap(3, count, columns, 8)), 100);
    assert_int_equal(runs_of(pnc_select_flat_create_imap(3, count, ghost, 8)), 5000);
    assert_int_equal(runs_of(pnc_select_flat_create_imap(3, count, transposed, 8)), 5000);
    assert_int_equal(runs_of(pnc_select_flat_create_vector(pnc_select_flat_create_block(3, 4), 5, 12)), 1);
    /* a column */
    assert_int_equal(runs_of(pnc_select_flat_create_vector(pnc_select_flat_create_block(1, 4), 1000, 40)), 1);
    for (int i = 0; i < 300; i++)
        blocks[i] = pnc_select_flat_create_shifted(pnc_select_flat_create_block(2, 4), 8 * i);
    assert_int_equal(runs_of(pnc_select_flat_create_sequence(blocks, 300)), 1);
    for (int i = 0; i < 300; i++)
        blocks[i] = pnc_select_flat_create_shifted(pnc_select_flat_create_block(1, 4), 12 * i);
    assert_int_equal(runs_of(pnc_select_flat_create_sequence(blocks, 300)), 1);
    /* of different lengths, one after the other */
    blocks[0] = pnc_select_flat_create_block(3, 4);
    blocks[1] = pnc_select_flat_create_shifted(pnc_select_flat_create_block(2, 4), 12);
    assert_int_equal(runs_of(pnc_select_flat_create_sequence(blocks, 2)), 1);
}

static void test_too_far_and_missing(void **state)
{
    const int64_t count[] = {3, 3}, huge[] = {INT64_MAX, 1}, least[] = {INT64_MIN, 1}, many[] = {INT64_MAX, INT64_MAX};
    pnc_flat_type *children[] = {pnc_select_flat_create_block(2, 4), NULL, pnc_select_flat_create_block(2, 4)};
    (void)state;
    assert_null(pnc_select_flat_create_imap(2, count, huge, 8));
    assert_null(pnc_select_flat_create_imap(2, count, least, 8));
    assert_null(pnc_select_flat_create_imap(2, many, NULL, 8));
    assert_null(pnc_select_flat_create_block(INT64_MAX, 8));
    assert_null(pnc_select_flat_create_vector(pnc_select_flat_create_block(2, 8), INT64_MAX / 8, INT64_MAX / 8));
    assert_null(pnc_select_flat_create_shifted(pnc_select_flat_create_block(2, 8), INT64_MIN));
    assert_null(pnc_select_flat_create_vector(NULL, 2, 8));
    assert_null(pnc_select_flat_create_shifted(NULL, 8));
    assert_null(pnc_select_flat_create_sequence(children, 3));
    assert_null(pnc_select_flat_create_pick(pnc_select_flat_create_block(0, 4), pnc_select_flat_create_block(2, 4)));
}

/* The farthest element of a sequence counts, whichever of its runs has it. */
static void test_reach_of_sequences(void **state)
{
    const int64_t unit = INT64_MAX / 80 / 4 * 4; /* ten of them are beyond reach */
    (void)state;

    for (int far = 0; far < 3; far++)
        for (int distance = 1; distance < 4; distance += 2) {
            pnc_flat_type *children[3], *type;

            for (int i = 0; i < 3; i++) /* of different lengths: no vector */
                children[i] = pnc_select_flat_create_shifted(pnc_select_flat_create_block(2 + i, 4),
                                                             i == far ? 6 * unit : 40 * i);
            type = pnc_select_flat_create_vector(pnc_select_flat_create_sequence(children, 3), 2, distance * unit);
            assert_true((type == NULL) == (distance == 3));
            pnc_select_flat_free(type);
        }
}

/* A run that becomes longer reaches as far as its offset and its length. */
static void test_reach_of_runs(void **state)
{
    const int64_t unit = INT64_MAX / 80 / 4 * 4; /* ten of them are beyond reach */
    (void)state;

    for (int sign = -1; sign <= 1; sign += 2)
        for (int distance = 1; distance < 4; distance += 2) {
            pnc_flat_type *one = pnc_select_flat_create_shifted(pnc_select_flat_create_block(1, 4), sign * 6 * unit);
            pnc_flat_type *type = pnc_select_flat_create_vector(one, 2, distance * unit);

            assert_true((type == NULL) == (distance == 3));
            pnc_select_flat_free(type);
        }
}

/* What has other references stays as it is. */
static void test_shared_runs(void **state)
{
    pnc_flat_type *block = pnc_select_flat_create_block(2, 4);
    pnc_flat_type *longer = pnc_select_flat_create_vector(pnc_select_flat_share(block), 3, 8);
    (void)state;

    assert_int_equal(pnc_select_flat_count_elements(longer), 6);
    assert_int_equal(pnc_select_flat_count_elements(block), 2);
    pnc_select_flat_free(longer);
    pnc_select_flat_free(block);
}

/* Elements of two runs of five: as many runs as the order needs. */
static void test_picked_runs(void **state)
{
    const struct {
        int64_t count, imap, runs;
    } rows[] = {{10, 1, 2}, {5, 2, 2}, {6, 0, 1}, {2, 4, 1}, {2, 5, 2}, {10, -1, 10}};
    (void)state;

    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        pnc_flat_type *inner = pnc_select_flat_create_vector(pnc_select_flat_create_block(5, 4), 2, 100);
        pnc_flat_type *order = pnc_select_flat_create_imap(1, &rows[i].count, &rows[i].imap, 4);

        if (rows[i].imap < 0)
            order = pnc_select_flat_create_shifted(order, 9 * 4);
        assert_int_equal(runs_of(pnc_select_flat_create_pick(order, inner)), rows[i].runs);
    }
}

static void expect_run(pnc_run_cursor *cursor, int64_t max, int64_t offset, int64_t count)
{
    pnc_memory_run run;

    assert_true(pnc_select_run_cursor_next(cursor, max, &run));
    assert_int_equal(run.offset, offset);
    assert_int_equal(run.count, count);
}

/* Ten copies of three elements: those after one that was returned as a whole can be taken at once. */
static void test_alike(void **state)
{
    pnc_flat_type *flat = pnc_select_flat_create_vector(pnc_select_flat_create_block(3, 4), 10, 40);
    pnc_run_cursor cursor;
    pnc_memory_run run;
    int64_t distance = 0;
    (void)state;

    assert_int_equal(pnc_select_run_cursor_init(&cursor, flat), NC_NOERR);
    expect_run(&cursor, INT64_MAX, 0, 3);
    assert_int_equal(pnc_select_run_cursor_take_alike(&cursor, 3, 4, &distance), 4);
    assert_int_equal(distance, 40);
    expect_run(&cursor, 2, 200, 2);
    assert_int_equal(pnc_select_run_cursor_take_alike(&cursor, 3, 4, &distance), 0);
    expect_run(&cursor, 2, 208, 1);
    assert_int_equal(pnc_select_run_cursor_take_alike(&cursor, 1, 4, &distance), 0);
    expect_run(&cursor, 3, 240, 3);
    assert_int_equal(pnc_select_run_cursor_take_alike(&cursor, 3, 0, &distance), 0);
    assert_int_equal(pnc_select_run_cursor_take_alike(&cursor, 3, 100, &distance), 3);
    assert_int_equal(pnc_select_run_cursor_take_alike(&cursor, 3, 100, &distance), 0);
    assert_false(pnc_select_run_cursor_next(&cursor, 3, &run));
    pnc_select_run_cursor_free(&cursor);
    pnc_select_flat_free(flat);
}

/* Runs of a list, and of a pick, are not alike. */
static void test_not_alike(void **state)
{
    const int64_t count = 3, imap = 1;
    int64_t distance = 0;
    (void)state;

    for (int kind = 0; kind < 2; kind++) {
        pnc_flat_type *parts[2] = {pnc_select_flat_create_block(3, 4), NULL}, *flat;
        pnc_run_cursor cursor;

        if (kind == 0) {
            parts[1] = pnc_select_flat_create_shifted(pnc_select_flat_create_block(2, 4), 60);
            flat = pnc_select_flat_create_sequence(parts, 2);
        } else {
            flat = pnc_select_flat_create_pick(pnc_select_flat_create_imap(1, &count, &imap, 4), parts[0]);
        }
        assert_int_equal(pnc_select_run_cursor_init(&cursor, flat), NC_NOERR);
        expect_run(&cursor, INT64_MAX, 0, 3);
        assert_int_equal(pnc_select_run_cursor_take_alike(&cursor, 3, 4, &distance), 0);
        pnc_select_run_cursor_free(&cursor);
        pnc_select_flat_free(flat);
    }
}

/* Indexed types with equal distances take the memory of one vector. */
static void test_equal_distances(void **state)
{
    (void)state;

    for (int64_t last = 200; last <= 204; last += 4) {
        int64_t at[] = {8, 108, 8 + last};
        pnc_flat_type *children[3], *flat;

        for (int i = 0; i < 3; i++)
            children[i] = pnc_select_flat_create_shifted(pnc_select_flat_create_block(2, 4), at[i]);
        flat = pnc_select_flat_create_sequence(children, 3);
        assert_non_null(flat);
        assert_int_equal(flat->kind, last == 200 ? PNC_FLAT_VECTOR : PNC_FLAT_RUNS);
        assert_int_equal(flat->n, 3);
        assert_int_equal(pnc_select_flat_count_elements(flat), 6);
        pnc_select_flat_free(flat);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_trees),
        cmocka_unit_test(test_random_imap),
        cmocka_unit_test(test_random_pick),
        cmocka_unit_test(test_simplification),
        cmocka_unit_test(test_too_far_and_missing),
        cmocka_unit_test(test_reach_of_sequences),
        cmocka_unit_test(test_reach_of_runs),
        cmocka_unit_test(test_shared_runs),
        cmocka_unit_test(test_equal_distances),
        cmocka_unit_test(test_picked_runs),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_not_alike),
    };
    return cmocka_run_group_tests_name("memmap", tests, NULL, NULL);
}
