/* File domains: every byte of a window has one aggregator and one position in its buffer; windows follow each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "io/file_domains.h"

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
                              .cyclic = rand() % 2};
}

/* Offsets to and fro, and the ends of blocks. */
static void check_offset(const pnc_file_domains *d, const pnc_domain_shape *shape, int64_t offset)
{
    int aggregator = pnc_io_file_domains_find_aggregator(d, offset);
    int64_t position = pnc_io_file_domains_get_position(d, offset), end = pnc_io_file_domains_get_block_end(d, offset);
    int64_t buffer = shape->buffer < 4096 ? 4096 : shape->buffer;

    assert_true(aggregator >= 0 && aggregator < shape->naggregators);
    assert_true(position >= 0 && position < buffer);
    assert_int_equal(pnc_io_file_domains_get_offset(d, aggregator, position), offset);
    assert_true(end > offset && end <= pnc_io_file_domains_get_end(d));
    assert_int_equal(pnc_io_file_domains_find_aggregator(d, end - 1), aggregator);
    assert_int_equal(pnc_io_file_domains_get_position(d, end - 1), position + (end - 1 - offset));
}

static void test_offsets(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        pnc_domain_shape shape = random_shape();
        int64_t low = random_in(0, 1 << 24), high = low + random_in(1, 1 << 24), next = low;
        pnc_file_domains d;

        pnc_io_file_domains_init(&d, &shape, low, high);
        while (next < high) {
            pnc_io_file_domains_start(&d, next);
            assert_true(d.first <= next && pnc_io_file_domains_get_end(&d) > next);
            check_offset(&d, &shape, next);
            for (int k = 0; k < 20; k++)
                check_offset(&d, &shape, random_in(d.first, pnc_io_file_domains_get_end(&d) - 1));
            next = pnc_io_file_domains_get_end(&d);
        }
    }
}

/* By hand: 8 aggregators with 16 MiB, 64 MiB of file: one window, 8 blocks of 8 MiB. */
static void test_contiguous(void **state)
{
    const pnc_domain_shape shape = {.naggregators = 8, .buffer = 16 << 20, .striping_unit = 1 << 20};
    pnc_file_domains d;
    (void)state;

    pnc_io_file_domains_init(&d, &shape, 0, 64 << 20);
    assert_int_equal(d.block, 8 << 20);
    assert_int_equal(pnc_io_file_domains_get_end(&d), 64 << 20);
    assert_int_equal(pnc_io_file_domains_find_aggregator(&d, (8 << 20) - 1), 0);
    assert_int_equal(pnc_io_file_domains_find_aggregator(&d, 8 << 20), 1);
    pnc_io_file_domains_init(&d, &shape, 1000, INT64_C(1) << 30); /* 8 rounds of 128 MiB */
    assert_int_equal(d.block, 16 << 20);
    assert_int_equal(d.first, 0);
    pnc_io_file_domains_init(&d, &shape, (5 << 20) + 7, (5 << 20) + 100); /* a small call */
    assert_int_equal(d.first, 5 << 20);
    assert_int_equal(d.block, 1 << 20);
}

/* By hand: stripes of 1 MiB over 4 aggregators: a stripe has the same aggregator in every call. */
static void test_cyclic(void **state)
{
    const pnc_domain_shape shape = {.naggregators = 4, .buffer = 4 << 20, .striping_unit = 1 << 20, .cyclic = true};
    pnc_file_domains d;
    (void)state;

    for (int64_t low = 0; low < 40; low += 3) {
        pnc_io_file_domains_init(&d, &shape, low << 20, (low + 30) << 20);
        assert_int_equal(d.block, 1 << 20);
        for (int64_t stripe = low; stripe << 20 < pnc_io_file_domains_get_end(&d); stripe++)
            assert_int_equal(pnc_io_file_domains_find_aggregator(&d, stripe << 20), stripe % 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_contiguous),
        cmocka_unit_test(test_cyclic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
