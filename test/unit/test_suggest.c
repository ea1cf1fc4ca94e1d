/* "Did you mean": expectations written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/suggest.h"

static const char *const names[] = {"nc_var_align_size", NULL, "nc_record_align_size", "cb_nodes", "T", "u10"};
enum { COUNT = sizeof names / sizeof names[0] };

static void test_typing_errors(void **state)
{
    (void)state;
    assert_string_equal(pnc_name_suggest("nc_var_aling_size", COUNT, names), "nc_var_align_size");     /* swapped */
    assert_string_equal(pnc_name_suggest("nc_var_align_sizes", COUNT, names), "nc_var_align_size");    /* one more */
    assert_string_equal(pnc_name_suggest("nc_recrd_align_siz", COUNT, names), "nc_record_align_size"); /* 2 missing */
    assert_string_equal(pnc_name_suggest("CB_NODES", COUNT, names), "cb_nodes");                       /* case */
    assert_string_equal(pnc_name_suggest("cb_node", COUNT, names), "cb_nodes");
}

static void test_nothing_near(void **state)
{
    static const char longer[] = "a_name_of_more_than_sixty_four_letters_is_not_compared_with_anything_at_all";
    (void)state;
    assert_null(pnc_name_suggest("v10", COUNT, names)); /* a third of the letters differs */
    assert_null(pnc_name_suggest("striping", COUNT, names));
    assert_null(pnc_name_suggest("", COUNT, names));
    assert_null(pnc_name_suggest("cb_nodes", 0, names));
    assert_null(pnc_name_suggest(longer, 1, (const char *const[]){longer}));
    assert_string_equal(pnc_name_suggest("T", COUNT, names), "T");
}

/* Of equally near names the first. */
static void test_first_wins(void **state)
{
    (void)state;
    assert_string_equal(pnc_name_suggest("temp", 2, (const char *const[]){"temp1", "temp2"}), "temp1");
    assert_string_equal(pnc_name_suggest("temp", 2, (const char *const[]){"temp2", "temp1"}), "temp2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_typing_errors),
        cmocka_unit_test(test_nothing_near),
        cmocka_unit_test(test_first_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
