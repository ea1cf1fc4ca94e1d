/* The table of names against a list that is searched, and its keyed hash against values that others publish. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/siphash.h"
#include "base/table.h"
#include "random.h"

enum { NAMES = 300, STEPS = 20000 };

/* The paper's example of SipHash-2-4; SipHash-1-3 with a key of zeros is hash() of bytes in Python 3.11 with
 * PYTHONHASHSEED=0. */
static void test_published(void **state)
{
    static const struct {
        const char *bytes;
        uint64_t hash;
    } rows[] = {{"a", 0x407448d2b89b1813},
                {"abcdefg", 0x6db12aae9070f506},
                {"abcdefgh", 0x3f7b849c0b8e35ea},
                {"temperature", 0x61b4e626d04540f2},
                {"variable_00017", 0x551f0aec1971e54f}};
    const pnc_siphash_key key = {0x0706050403020100, 0x0f0e0d0c0b0a0908}, zeros = {0, 0};
    unsigned char message[15];

    (void)state;
    for (int i = 0; i < 15; i++)
        message[i] = (unsigned char)i;
    assert_true(pnc_siphash_compute(key, message, 15, 2, 4) == 0xa129ca6149be45e5);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(pnc_siphash_compute(zeros, rows[i].bytes, (int64_t)strlen(rows[i].bytes), 1, 3) == rows[i].hash);
}

static void test_keys(void **state)
{
    pnc_siphash_key one = pnc_siphash_key_make(), other = pnc_siphash_key_make();

    (void)state;
    assert_true(one.low != other.low && one.high != other.high);
}

/* Names are numbers; `list` has the index of each, or -1. */
static void test_against_list(void **state)
{
    static char names[NAMES][12];
    int list[NAMES], count = 0;
    pnc_table table = {0};

    (void)state;
    for (int i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "%d", i);
        list[i] = -1;
    }
    for (int step = 0; step < STEPS; step++) {
        int i = (int)random_in(0, NAMES - 1), action = (int)random_in(0, 3);

        if (action == 0) {
            assert_int_equal(pnc_table_add(&table, names[i], step), list[i] < 0 ? NC_NOERR : NC_ENAMEINUSE);
            count += list[i] < 0;
            list[i] = list[i] < 0 ? step : list[i];
        } else if (action == 1) {
            pnc_table_remove(&table, names[i]);
            count -= list[i] >= 0;
            list[i] = -1;
        } else if (action == 2) {
            pnc_table_set(&table, names[i], step);
            list[i] = list[i] < 0 ? -1 : step;
        }
        assert_int_equal(pnc_table_find(&table, names[i]), list[i]);
        assert_int_equal(table.n, count);
    }
    for (int i = 0; i < NAMES; i++)
        assert_int_equal(pnc_table_find(&table, names[i]), list[i]);
    pnc_table_clear(&table);
    assert_int_equal(pnc_table_find(&table, "1"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_published), cmocka_unit_test(test_keys),
                                       cmocka_unit_test(test_against_list)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
