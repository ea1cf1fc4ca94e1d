/* The region allocator: allocations keep their bytes, do not overlap and are aligned; sizes beyond memory fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/region.h"

enum { ALLOCATIONS = 20000 };

/* Most are small; some are larger than a chunk. */
static int64_t size_of(int i)
{
    return i % 1000 == 999 ? 300000 + i : i * 37 % 400;
}

static void test_allocations(void **state)
{
    static unsigned char *at[ALLOCATIONS];
    pnc_region region = {0};
    (void)state;

    for (int i = 0; i < ALLOCATIONS; i++) {
        at[i] = pnc_region_alloc(&region, size_of(i));
        assert_non_null(at[i]);
        assert_int_equal((uintptr_t)at[i] % _Alignof(int64_t), 0);
        memset(at[i], i % 251, (size_t)size_of(i));
    }
    for (int i = 0; i < ALLOCATIONS; i++)
        for (int64_t k = 0; k < size_of(i); k++)
            if (at[i][k] != i % 251)
                fail_msg("allocation %d is overwritten", i);
    pnc_region_free(&region);
    assert_non_null(pnc_region_alloc(&region, 0)); /* an empty region is usable again */
    pnc_region_free(&region);
    pnc_region_free(&region);
}

static void test_failure(void **state)
{
    pnc_region region = {0};
    unsigned char *small = pnc_region_alloc(&region, 8);
    (void)state;

    assert_non_null(small);
    memset(small, 7, 8);
    assert_null(pnc_region_alloc(&region, INT64_MAX));
    assert_null(pnc_region_alloc(&region, INT64_MAX - 16));
    assert_ptr_equal(pnc_region_alloc(&region, 8), small + 8); /* a failure takes nothing */
    assert_int_equal(small[7], 7);
    pnc_region_free(&region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_allocations), cmocka_unit_test(test_failure)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
