/* Writes of metadata that wait for a commit: against a copy of the file in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "formats/netcdf4/unwritten.h"
#include "random.h"

enum { SPAN = 100000, WRITES = 400, READS = 200 };

static unsigned char image[SPAN], marks[SPAN];

static pnc_extent draw_extent(int64_t longest)
{
    pnc_extent extent = {random_in(0, SPAN - 1), 0};

    extent.length = random_in(0, longest);
    if (extent.length > SPAN - extent.offset)
        extent.length = SPAN - extent.offset;
    return extent;
}

static void write_at_random(pnc_unwritten *u)
{
    unsigned char bytes[SPAN];
    pnc_extent extent = draw_extent(random_in(0, 9) == 0 ? 20000 : 300);

    for (int64_t i = 0; i < extent.length; i++)
        bytes[i] = (unsigned char)random_bits();
    assert_true(pnc_netcdf4_unwritten_write(u, extent, bytes));
    memcpy(image + extent.offset, bytes, (size_t)extent.length);
    memset(marks + extent.offset, 1, (size_t)extent.length);
}

/* Bytes that were not written stay as they are in the target. */
static void compare_reads(const pnc_unwritten *u)
{
    for (int i = 0; i < READS; i++) {
        unsigned char found[SPAN];
        pnc_extent extent = draw_extent(9000);
        bool all = true;

        memset(found, 0xA5, sizeof found);
        pnc_netcdf4_unwritten_read(u, extent, found);
        for (int64_t k = 0; k < extent.length; k++) {
            int64_t at = extent.offset + k;

            all = all && marks[at];
            assert_int_equal(found[k], marks[at] ? image[at] : 0xA5);
        }
        assert_int_equal(pnc_netcdf4_unwritten_has(u, extent), all);
    }
}

static void compare_list(const pnc_unwritten *u)
{
    pnc_extent *extents;
    int64_t n, end = -1;
    char *bytes, *at;

    assert_true(pnc_netcdf4_unwritten_list(u, &extents, &n, &bytes));
    at = bytes;
    for (int64_t i = 0; i < n; i++) {
        assert_true(extents[i].offset > end); /* none touches the one before */
        for (int64_t k = end < 0 ? 0 : end; k < extents[i].offset; k++)
            assert_int_equal(marks[k], 0);
        end = extents[i].offset + extents[i].length;
        for (int64_t k = extents[i].offset; k < end; k++, at++) {
            assert_int_equal(marks[k], 1);
            assert_int_equal((unsigned char)*at, image[k]);
        }
    }
    for (int64_t k = end < 0 ? 0 : end; k < SPAN; k++)
        assert_int_equal(marks[k], 0);
    pnc_memory_free(extents);
    pnc_memory_free(bytes);
}

static void test_writes(void **state)
{
    pnc_unwritten u = {0};
    (void)state;

    for (int round = 0; round < 3; round++) {
        memset(marks, 0, sizeof marks);
        compare_list(&u);
        assert_int_equal(pnc_netcdf4_unwritten_get_bytes(&u), 0);
        for (int i = 0; i < WRITES; i++) {
            write_at_random(&u);
            if (i % 40 == 0)
                compare_list(&u);
        }
        assert_true(pnc_netcdf4_unwritten_get_bytes(&u) > 0);
        compare_reads(&u);
        compare_list(&u);
        pnc_netcdf4_unwritten_clear(&u);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_writes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
