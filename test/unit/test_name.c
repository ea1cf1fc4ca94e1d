/* Names against the character rules of the classic format and known NFC pairs; also the other small parts of src/base.
 * */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/types.h"
#include "random.h"

static int code_of(const char *name)
{
    char *out = NULL;
    pnc_error error = {0};
    int code = pnc_name_normalise(name, &out, &error);

    assert_int_equal(error.code, code);
    assert_int_equal(error.text[0] != '\0', code != NC_NOERR);
    assert_int_equal(out != NULL, code == NC_NOERR);
    pnc_memory_free(out);
    return code;
}

/* Every ASCII character in first, middle and last place, by the grammar of the specification: ID1 is alphanumeric or
 * '_'; later ones are printable but '/'; a blank may not end a name. */
static void test_ascii(void **state)
{
    const char *first = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    (void)state;

    for (int c = 1; c < 128; c++) {
        char head[] = {(char)c, 'a', 0}, middle[] = {'a', (char)c, 'b', 0}, tail[] = {'a', (char)c, 0};
        int printable = c >= 0x20 && c < 0x7f && c != '/';
        assert_int_equal(code_of(head), strchr(first, c) ? NC_NOERR : NC_EBADNAME);
        assert_int_equal(code_of(middle), printable ? NC_NOERR : NC_EBADNAME);
        assert_int_equal(code_of(tail), printable && c != ' ' ? NC_NOERR : NC_EBADNAME);
    }
}

static void test_utf8(void **state)
{
    static const char *const bad[] = {"\xc3",  "a\xff",   "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                      "a\x80", "\xe2\x82"};
    static const char *const pairs[][2] = {
        {"e\xcc\x81t\xc3\xa9", "\xc3\xa9t\xc3\xa9"},              /* e + acute */
        {"\xe2\x84\xab", "\xc3\x85"},                             /* Angstrom sign */
        {"\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", "\xed\x95\x9c"}, /* Hangul */
        {"q\xcc\x87\xcc\xa3", "q\xcc\xa3\xcc\x87"},               /* order of marks */
        {"\xe6\xb8\xa9\xe5\xba\xa6", "\xe6\xb8\xa9\xe5\xba\xa6"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(code_of(bad[i]), NC_EBADNAME);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char *out;
        assert_int_equal(pnc_name_normalise(pairs[i][0], &out, NULL), NC_NOERR);
        assert_string_equal(out, pairs[i][1]);
        pnc_memory_free(out);
    }
}

static void test_length(void **state)
{
    char name[NC_MAX_NAME + 2];
    (void)state;

    assert_int_equal(code_of(NULL), NC_EBADNAME);
    assert_int_equal(code_of(""), NC_EBADNAME);
    memset(name, 'x', sizeof name);
    name[NC_MAX_NAME] = '\0';
    assert_int_equal(code_of(name), NC_NOERR);
    name[NC_MAX_NAME] = 'x';
    name[NC_MAX_NAME + 1] = '\0';
    assert_int_equal(code_of(name), NC_EMAXNAME);
    name[0] = '/'; /* measured: the length is looked at first */
    assert_int_equal(code_of(name), NC_EMAXNAME);
    /* U+0344 is longer in NFC: 2 bytes become 4 */
    for (int i = 0; i < NC_MAX_NAME; i += 2)
        memcpy(name + i, "\xcd\x84", 2);
    name[0] = 'a';
    name[1] = 'b';
    name[NC_MAX_NAME] = '\0';
    assert_int_equal(code_of(name), NC_EMAXNAME);
}

/* Returns first, and reaches the next statement only if first is NC_NOERR. */
static int try_twice(int first, pnc_error *error)
{
    PNC_TRY(first);
    pnc_error_set(error, NC_EPERM, "reached");
    return NC_NOERR;
}

static void test_error(void **state)
{
    pnc_error error = {0};
    char longer[600];
    (void)state;

    assert_int_equal(pnc_error_set(NULL, NC_EINVAL, "not read"), NC_EINVAL);
    assert_int_equal(pnc_error_set(&error, NC_EINVAL, "first %d", 1), NC_EINVAL);
    assert_int_equal(pnc_error_set(&error, NC_EBADID, "second"), NC_EBADID);
    assert_int_equal(error.code, NC_EINVAL);
    assert_string_equal(error.text, "first 1");
    pnc_error_add_context(&error, "file %s", "a.nc");
    assert_string_equal(error.text, "file a.nc: first 1");
    pnc_error_clear(&error);
    assert_int_equal(error.code, NC_NOERR);
    pnc_error_add_context(&error, "without an error");
    pnc_error_add_context(NULL, "without an object");
    assert_string_equal(error.text, "");
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    pnc_error_set(&error, NC_EINVAL, "%s", longer);
    pnc_error_add_context(&error, "cut");
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    pnc_error_clear(&error);
    assert_int_equal(pnc_error_keep_first(NC_NOERR, NC_EPERM), NC_EPERM);
    assert_int_equal(pnc_error_keep_first(NC_EINVAL, NC_EPERM), NC_EINVAL);
    assert_int_equal(try_twice(NC_NOERR, &error), NC_NOERR);
    assert_int_equal(error.code, NC_EPERM);
    pnc_error_clear(&error);
    assert_int_equal(try_twice(NC_EINVAL, &error), NC_EINVAL);
    assert_int_equal(error.code, NC_NOERR);

    assert_string_equal(pnc_error_get_text(NC_NOERR), "No error");
    assert_string_equal(pnc_error_get_text(-33), "NetCDF: Not a valid ID");
    assert_string_equal(pnc_error_get_name(-33), "NC_EBADID");
    assert_string_equal(pnc_error_get_name(NC_EMULTIDEFINE_CMODE), "NC_EMULTIDEFINE_CMODE");
    assert_string_equal(pnc_error_get_text(-9999), "Unknown Error -9999");
    assert_string_equal(pnc_error_get_name(-9999), "Unknown Error -9999");
    assert_string_equal(pnc_error_get_text(ENOENT), strerror(ENOENT));
}

static void test_memory(void **state)
{
    int64_t out = -7;
    void *p = pnc_memory_alloc(0, 8);
    (void)state;

    assert_non_null(p);
    pnc_memory_free(p);
    assert_null(pnc_memory_alloc(-1, 1));
    assert_null(pnc_memory_alloc(INT64_MAX, 2));
    assert_null(pnc_memory_alloc_zeroed(INT64_MAX / 4, 8));
    assert_null(pnc_memory_resize(NULL, INT64_MAX, 8));
    assert_int_equal(pnc_size_multiply(INT64_MAX, 2, &out), -1);
    assert_int_equal(pnc_size_multiply(-1, 2, &out), -1);
    assert_int_equal(pnc_size_add(INT64_MAX, 1, &out), -1);
    assert_int_equal(pnc_size_add(1, -1, &out), -1);
    assert_true(out == -7);
    assert_int_equal(pnc_size_multiply(INT64_MAX, 0, &out), 0);
    assert_true(out == 0);
    assert_int_equal(pnc_size_multiply(3037000499, 3037000499, &out), 0);
    assert_true(out == INT64_C(9223372030926249001));
    assert_int_equal(pnc_size_add(INT64_MAX - 1, 1, &out), 0);
    assert_true(out == INT64_MAX);
}

/* A name that is not ASCII has memory of libutf8proc. What is counted at its end is also counted at its begin: the sum
 * would become negative, a huge number. */
static void test_memory_of_names(void **state)
{
    (void)state;
    for (int i = 0; i < 10000; i++)
        assert_int_equal(code_of("e\xcc\x81"), NC_NOERR);
    pnc_memory_free(pnc_memory_alloc(1000, 1));
    assert_in_range((uintmax_t)pnc_memory_get_peak(), 0, 1 << 20);
}

static void test_types(void **state)
{
    static const size_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8, 0};
    static const char *const names[] = {"byte",  "char",   "short", "int",   "float", "double",
                                        "ubyte", "ushort", "uint",  "int64", "uint64"};
    static const pnc_mem_type mems[] = {PNC_SCHAR, PNC_TEXT,   PNC_SHORT, PNC_INT,      PNC_FLOAT,    PNC_DOUBLE,
                                        PNC_UCHAR, PNC_USHORT, PNC_UINT,  PNC_LONGLONG, PNC_ULONGLONG};
    (void)state;

    for (int type = 0; type <= 12; type++) {
        assert_int_equal(pnc_type_get_size(type), sizes[type]);
        assert_int_equal(pnc_type_is_valid(type, 5), type >= 1 && type <= 11);
        assert_int_equal(pnc_type_is_valid(type, 1), type >= 1 && type <= 6);
        assert_int_equal(pnc_type_is_valid(type, 2), type >= 1 && type <= 6);
    }
    assert_int_equal(pnc_type_get_size(-1), 0);
    for (int i = 0; i < 11; i++) {
        assert_string_equal(pnc_type_get_name(i + 1), names[i]);
        assert_int_equal(pnc_type_get_mem_type(i + 1), mems[i]);
        assert_int_equal(pnc_mem_type_get_size(mems[i]), sizes[i + 1]);
    }
    assert_int_equal(pnc_mem_type_get_size(PNC_LONG), sizeof(long));
    assert_string_equal(pnc_mem_type_get_name(PNC_ULONGLONG), "ulonglong");
}

static void test_table(void **state)
{
    enum { N = 5000 };
    static char names[N][16];
    pnc_table table = {0};
    (void)state;

    assert_int_equal(pnc_table_find(&table, "x"), -1);
    for (int i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "name%d", i);
        assert_int_equal(pnc_table_add(&table, names[i], i), NC_NOERR);
    }
    for (int i = 0; i < N; i += 2)
        pnc_table_remove(&table, names[i]);
    pnc_table_remove(&table, "never there");
    pnc_table_set(&table, "name1", 77);
    pnc_table_set(&table, "name2", 78);
    for (int i = 2; i < N; i++)
        assert_int_equal(pnc_table_find(&table, names[i]), i % 2 ? i : -1);
    assert_int_equal(pnc_table_find(&table, "name1"), 77);
    pnc_table_clear(&table);
    assert_int_equal(pnc_table_find(&table, "name1"), -1);
    pnc_table_clear(&table);
}

/* Small tables, as full as they become, so that searches pass many slots and wrap around: after each change, all names
 * are found or missing as an array says. */
static void test_table_changes(void **state)
{
    enum { N = 24, CHANGES = 20000 };
    char names[N][24];
    bool is_there[N] = {false};
    pnc_table table = {0};
    (void)state;

    for (int i = 0; i < N; i++)
        snprintf(names[i], sizeof names[i], "level_%03d", i);
    for (int change = 0; change < CHANGES; change++) {
        int k = (int)random_in(0, N - 1);

        if (is_there[k])
            pnc_table_remove(&table, names[k]);
        else
            assert_int_equal(pnc_table_add(&table, names[k], k), NC_NOERR);
        is_there[k] = !is_there[k];
        for (int i = 0; i < N; i++)
            assert_int_equal(pnc_table_find(&table, names[i]), is_there[i] ? i : -1);
    }
    pnc_table_clear(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascii), cmocka_unit_test(test_utf8),   cmocka_unit_test(test_length),
        cmocka_unit_test(test_error), cmocka_unit_test(test_memory), cmocka_unit_test(test_memory_of_names),
        cmocka_unit_test(test_types), cmocka_unit_test(test_table),  cmocka_unit_test(test_table_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
