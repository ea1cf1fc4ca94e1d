/* Reading CDL without enough memory: each allocation fails in turn, also in the scanner and the parser. The error is
 * returned, and all memory is freed.
 *
 * The linker's --wrap replaces malloc and related functions by those in this file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/cdl.h"

static long until_failure, calls, living;
static int counting;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);

static int refuses(void)
{
    return counting && ++calls > until_failure;
}

static void *count(void *made)
{
    living += counting && made != NULL;
    return made;
}

void *__wrap_malloc(size_t size)
{
    return refuses() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return refuses() ? NULL : count(__real_calloc(n, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (refuses())
        return NULL;
    return old != NULL ? __real_realloc(old, size) : count(__real_realloc(old, size));
}

void __wrap_free(void *old)
{
    living -= counting && old != NULL;
    __real_free(old);
}

/* --- */

static int64_t read_piece(void *with, void *bytes, int64_t room, pnc_error *error)
{
    const char **rest = with;
    size_t n = strlen(*rest) < (size_t)room ? strlen(*rest) : (size_t)room;

    (void)error;
    memcpy(bytes, *rest, n);
    *rest += n;
    return (int64_t)n;
}

static int read_text(const char *text, long allocations)
{
    const pnc_cdl_source source = {.read = read_piece, .with = &text};
    const pnc_cdl_sink sink = {0}; /* data are read and dropped */
    pnc_error error = {0};
    pnc_model model;

    until_failure = allocations;
    calls = living = 0;
    counting = 1;
    int code = pnc_format_cdl_read(&source, &sink, &model, &error);
    if (code == NC_NOERR)
        pnc_format_model_free(&model);
    pnc_error_clear(&error);
    counting = 0;
    return code;
}

static void check_text(const char *text, int expected)
{
    assert_int_equal(read_text(text, INT32_MAX), expected);
    assert_int_equal(living, 0);
    long all = calls;
    assert_true(all > 10);
    for (long n = 0; n < all; n++) {
        int code = read_text(text, n);
        if (code != NC_ENOMEM || living != 0)
            fail_msg("allocation %ld of %ld fails: code %d, %ld never freed", n + 1, all, code, living);
    }
}

static void test_whole(void **state)
{
    (void)state;
    check_text(
        "netcdf a\\ b { dimensions: x = 3, y = 2 ; t = UNLIMITED ; variables: int v(t, x, y), s ; "
        "float v:f = 1, 2 ;\n"
        "v:text = \"abc\", \"d\" ; char c(t) ; :_Format = \"64-bit data\" ;\n"
        "data: v = 1, 2, _, NaN ; c = \"\" ; s = 5 ; }",
        NC_ERANGE);
    check_text(
        "netcdf a { dimensions: x = 3 ; t = UNLIMITED ; variables: int v(t, x), s ; float v:f = 1, 2 ;\n"
        "v:text = \"abc\", \"d\" ; char c(t) ; data: v = 1, 2, _ ; c = \"\" ; s = 5 ; }",
        NC_NOERR);
}

/* The scanner needs more than its first buffer, while words before wait in the parser. */
static void test_long_word(void **state)
{
    static char text[60000] = "netcdf a { variables: int v ; float v:";
    (void)state;

    memset(text + strlen(text), 'x', sizeof text - 1 - strlen(text));
    memcpy(text + sizeof text - 9, " = 1 ; }", 9);
    check_text(text, NC_EMAXNAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_long_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
