/* File domains: every byte of a window has one aggregator and one position in its buffer; windows follow each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "io/choose/file_domains.h"

static int64_t random_in(int64_t low, int64_t high)
{
    return low + rand() % (high - low + 1);
}

static pnc_domain_shape random_shape(void)
{
    static const int64_t stripes[] = {4096, 65536, 1 << 20};

    return (pnc_domain_shape){.naggregators = (int)random_in(1, 9),
                              .buffer = random_in(1, 40) * 65536,
                              .striping_unit = stripes[random_in(0, 2)],
                              .cyclic = rand() % 2,
                              .may_wrap = rand() % 2};
}

/* From an offset to its block, and back from its position. */
static void check_offset(const pnc_file_domains *d, const pnc_domain_shape *shape, int64_t offset)
{
    pnc_block block = pnc_io_file_domains_find_block(d, offset), again;
    int64_t position = block.position + (offset - block.low), end = block.position + (block.high - block.low);

    assert_true(block.aggregator >= 0 && block.aggregator < shape->naggregators);
    assert_true(block.low <= offset && offset < block.high);
    assert_true(block.low >= d->first && block.high <= pnc_io_file_domains_get_end(d));
    assert_true(block.position >= 0 && end <= shape->buffer);
    again = pnc_io_file_domains_find_block_at(d, block.aggregator, position);
    assert_true(again.low == block.low && again.high == block.high && again.position == block.position);
    again = pnc_io_file_domains_find_block(d, block.high - 1);
    assert_true(again.low == block.low && again.aggregator == block.aggregator);
}

/* The blocks of all aggregators have every byte of the window once. */
static void check_sum(const pnc_file_domains *d, int64_t buffer)
{
    int64_t sum = 0;

    for (int i = 0; i < d->naggregators; i++)
        for (int64_t at = 0; at < buffer;) {
            pnc_block block = pnc_io_file_domains_find_block_at(d, i, at);

            if (block.low == block.high)
                break;
            sum += block.high - block.low;
            at += block.high - block.low;
        }
    assert_int_equal(sum, pnc_io_file_domains_get_end(d) - d->first);
}

static void test_offsets(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        pnc_domain_shape shape = random_shape();
        int64_t base =
            i % 2 == 0 ? 0 : INT64_MAX - (1 << 25); /* units at the end of a file exceed the largest offset */
        int64_t low = base + random_in(0, 1 << 24), high = low + random_in(1, 1 << 24), next = low;
        pnc_file_domains d;

        pnc_io_file_domains_init(&d, &shape, low, high);
        while (next < high) {
            pnc_io_file_domains_start(&d, next);
            assert_true(d.first <= next && pnc_io_file_domains_get_end(&d) > next);
            check_offset(&d, &shape, next);
            check_sum(&d, shape.buffer);
            for (int k = 0; k < 20; k++)
                check_offset(&d, &shape, random_in(d.first, pnc_io_file_domains_get_end(&d) - 1));
            next = pnc_io_file_domains_get_end(&d);
        }
    }
}

static int aggregator_of(const pnc_file_domains *d, int64_t offset)
{
    return pnc_io_file_domains_find_block(d, offset).aggregator;
}

/* By hand: 8 aggregators with 17 MiB, 128 MiB of file behind a header: one window; the MiB too many is in the last
 * block, so that 16 MiB of a node have two aggregators, whatever the number of nodes. */
static void test_balanced(void **state)
{
    const pnc_domain_shape shape = {.naggregators = 8, .buffer = 17 << 20, .striping_unit = 1 << 20};
    pnc_file_domains d;
    (void)state;

    pnc_io_file_domains_init(&d, &shape, 1000, 1000 + (128 << 20));
    assert_int_equal(pnc_io_file_domains_get_end(&d), 129 << 20);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(aggregator_of(&d, (16 << 20) * i), i);
        assert_int_equal(aggregator_of(&d, (16 << 20) * (i + 1) - 1), i);
    }
    assert_int_equal(aggregator_of(&d, 128 << 20), 7);
}

/* By hand: 4 aggregators on several nodes, and two calls of 16 MiB each, the second one behind the first. MiB 17, in
 * which both have bytes, has the last aggregator in both. Behind it the second one has 16 MiB, 17 with the one that
 * wraps: 4, 4, 4 and 4 + 1. */
static void test_wrapped(void **state)
{
    const pnc_domain_shape shape = {.naggregators = 4, .buffer = 16 << 20, .striping_unit = 1 << 20, .may_wrap = true};
    static const int first[] = {18, 22, 26, 30, 34};
    pnc_file_domains d;
    pnc_block block;
    (void)state;

    pnc_io_file_domains_init(&d, &shape, (1 << 20) + (1 << 19), (17 << 20) + (1 << 19));
    assert_int_equal(aggregator_of(&d, 17 << 20), 3);
    pnc_io_file_domains_init(&d, &shape, (17 << 20) + (1 << 19), (33 << 20) + (1 << 19));
    assert_int_equal(aggregator_of(&d, 17 << 20), 3);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(aggregator_of(&d, first[i] << 20), i);
        assert_int_equal(aggregator_of(&d, (first[i + 1] << 20) - 1), i);
    }
    block = pnc_io_file_domains_find_block_at(&d, 3, 4 << 20);
    assert_int_equal(block.low, 17 << 20);
    assert_int_equal(block.position, 4 << 20);
}

/* Where the header is, in calls that begin with a unit, and on one node, nothing wraps. */
static void test_not_wrapped(void **state)
{
    pnc_domain_shape shape = {.naggregators = 4, .buffer = 16 << 20, .striping_unit = 1 << 20, .may_wrap = true};
    pnc_file_domains d;
    (void)state;

    pnc_io_file_domains_init(&d, &shape, 1000, 16 << 20);
    assert_int_equal(aggregator_of(&d, 1000), 0);
    pnc_io_file_domains_init(&d, &shape, 16 << 20, 32 << 20);
    assert_int_equal(aggregator_of(&d, 16 << 20), 0);
    shape.may_wrap = false;
    pnc_io_file_domains_init(&d, &shape, (16 << 20) + 1, 32 << 20);
    assert_int_equal(aggregator_of(&d, 16 << 20), 0);
}

/* By hand: 1 GiB are 8 windows of 2^30 / 8 bytes, not 7 large ones and a small one. */
static void test_windows(void **state)
{
    const pnc_domain_shape shape = {.naggregators = 8, .buffer = 17 << 20, .striping_unit = 1 << 20};
    pnc_file_domains d;
    (void)state;

    pnc_io_file_domains_init(&d, &shape, 0, INT64_C(1) << 30);
    assert_int_equal(pnc_io_file_domains_get_end(&d), 128 << 20);
    pnc_io_file_domains_start(&d, INT64_C(7) << 27);
    assert_int_equal(pnc_io_file_domains_get_end(&d), INT64_C(1) << 30);
}

/* By hand: a small call uses the aggregator of its unit of the file. */
static void test_small(void **state)
{
    const pnc_domain_shape shape = {.naggregators = 8, .buffer = 16 << 20, .striping_unit = 1 << 20};
    pnc_file_domains d;
    (void)state;

    pnc_io_file_domains_init(&d, &shape, (13 << 20) + 7, (13 << 20) + 100);
    assert_int_equal(d.first, 13 << 20);
    assert_int_equal(pnc_io_file_domains_get_end(&d), 14 << 20);
    assert_int_equal(aggregator_of(&d, (13 << 20) + 50), 5);
}

/* By hand: stripes of 1 MiB over 4 aggregators: a stripe has the same aggregator in every call. */
static void test_cyclic(void **state)
{
    const pnc_domain_shape shape = {.naggregators = 4, .buffer = 4 << 20, .striping_unit = 1 << 20, .cyclic = true};
    pnc_file_domains d;
    (void)state;

    for (int64_t low = 0; low < 40; low += 3) {
        pnc_io_file_domains_init(&d, &shape, low << 20, (low + 30) << 20);
        for (int64_t stripe = low; stripe << 20 < pnc_io_file_domains_get_end(&d); stripe++)
            assert_int_equal(aggregator_of(&d, stripe << 20), stripe % 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets),     cmocka_unit_test(test_balanced), cmocka_unit_test(test_wrapped),
        cmocka_unit_test(test_not_wrapped), cmocka_unit_test(test_windows),  cmocka_unit_test(test_small),
        cmocka_unit_test(test_cyclic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
