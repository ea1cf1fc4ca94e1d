/* The header model's rules: codes against the table of error precedence, contents against the definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "format/entries.h"
#include "format/model.h"

static pnc_model model;

static int start(void **state)
{
    (void)state;
    return pnc_format_model_init(&model, 5, NULL);
}

static int finish(void **state)
{
    (void)state;
    pnc_format_model_free(&model);
    return 0;
}

/* Every failure must carry a message that names its object. */
static void assert_code(int code, int expected, pnc_error *error, const char *named)
{
    assert_int_equal(code, expected);
    assert_int_equal(error->code, expected);
    assert_non_null(strstr(error->text, named));
    pnc_error_clear(error);
}

static void test_init(void **state)
{
    pnc_model other;
    (void)state;

    assert_int_equal(pnc_format_model_init(&other, 3, NULL), NC_EINVAL);
    pnc_format_model_free(&other);
    assert_int_equal(model.format, 5);
    assert_int_equal(model.recdim, -1);
    assert_int_equal(model.ndims + model.nvars + model.gatts.n, 0);
}

static void test_dims(void **state)
{
    pnc_error error = {0};
    (void)state;

    assert_int_equal(pnc_format_dim_add(&model, "x", 10, &error), NC_NOERR);
    assert_int_equal(model.ndims, 1);
    assert_code(pnc_format_dim_add(&model, "", -1, &error), NC_EBADNAME, &error, "name");
    assert_code(pnc_format_dim_add(&model, "x", -1, &error), NC_EDIMSIZE, &error, "\"x\"");
    assert_code(pnc_format_dim_add(&model, "x", 3, &error), NC_ENAMEINUSE, &error, "\"x\"");
    assert_int_equal(pnc_format_dim_add(&model, "time", NC_UNLIMITED, &error), NC_NOERR);
    assert_int_equal(model.recdim, 1);
    assert_code(pnc_format_dim_add(&model, "x", NC_UNLIMITED, &error), NC_EUNLIMIT, &error, "\"time\"");
    assert_int_equal(model.ndims, 2);
    assert_int_equal(pnc_format_dim_add(&model, "cafe\xcc\x81", 2, &error), NC_NOERR);
    assert_string_equal(model.dims[2]->name, "caf\xc3\xa9");
    assert_int_equal(pnc_format_dim_find(&model, "caf\xc3\xa9"), 2);
    assert_int_equal(pnc_format_dim_find(&model, "cafe\xcc\x81"), 2);
    assert_int_equal(pnc_format_dim_find(&model, NULL), -1);
    assert_int_equal(pnc_format_dim_find(&model, "\xff"), -1);
    model.numrecs = 42;
    assert_int_equal(pnc_format_dim_get_length(&model, 1), 42);
    assert_int_equal(pnc_format_dim_get_length(&model, 0), 10);

    assert_code(pnc_format_dim_rename(&model, 9, "", &error), NC_EBADNAME, &error, "name");
    assert_code(pnc_format_dim_rename(&model, 9, "y", &error), NC_EBADDIM, &error, "9");
    assert_code(pnc_format_dim_rename(&model, 0, "time", &error), NC_ENAMEINUSE, &error, "\"x\"");
    assert_int_equal(pnc_format_dim_rename(&model, 0, "x", &error), NC_NOERR);
    assert_int_equal(pnc_format_dim_rename(&model, 0, "longer_name", &error), NC_NOERR);
    assert_int_equal(pnc_format_dim_find(&model, "x"), -1);
    assert_int_equal(pnc_format_dim_find(&model, "longer_name"), 0);
}

/* Longest dimensions, measured on PnetCDF. */
static void test_dim_limits(void **state)
{
    static const struct {
        int format;
        int64_t good, bad;
    } rows[] = {
        {1, 0x7fffffff, 0x80000000},
        {2, 0x7fffffff, 0x80000000},
        {5, INT64_MAX, -1},
    };
    (void)state;

    for (int i = 0; i < 3; i++) {
        pnc_model small;
        assert_int_equal(pnc_format_model_init(&small, rows[i].format, NULL), NC_NOERR);
        assert_int_equal(pnc_format_dim_add(&small, "good", rows[i].good, NULL), NC_NOERR);
        assert_int_equal(pnc_format_dim_add(&small, "bad", rows[i].bad, NULL), NC_EDIMSIZE);
        pnc_format_model_free(&small);
    }
}

static void test_vars(void **state)
{
    pnc_error error = {0};
    const int t = 0, x = 1, big = 2;
    int ids[3];
    (void)state;

    pnc_format_dim_add(&model, "t", 0, NULL);
    pnc_format_dim_add(&model, "x", 7, NULL);
    pnc_format_dim_add(&model, "big", INT64_MAX, NULL);
    ids[0] = t;
    ids[1] = x;
    ids[2] = x;
    assert_int_equal(pnc_format_var_add(&model, "v", NC_SHORT, 3, ids, &error), NC_NOERR);
    assert_int_equal(model.nvars, 1);
    assert_true(model.vars[0]->is_record && model.vars[0]->size == 98 && model.nrecvars == 1);
    assert_true(model.vars[0]->shape[0] == 0 && model.vars[0]->shape[2] == 7);
    assert_int_equal(pnc_format_var_add(&model, "scalar", NC_DOUBLE, 0, NULL, &error), NC_NOERR);
    assert_true(!model.vars[1]->is_record && model.vars[1]->size == 8);

    assert_code(pnc_format_var_add(&model, "/", 99, -1, NULL, &error), NC_EBADNAME, &error, "\"/\"");
    assert_code(pnc_format_var_add(&model, "v", 99, -1, NULL, &error), NC_EBADTYPE, &error, "99");
    assert_code(pnc_format_var_add(&model, "w", NC_INT, -1, ids, &error), NC_EINVAL, &error, "\"w\"");
    assert_code(pnc_format_var_add(&model, "w", NC_INT, 1, NULL, &error), NC_EINVAL, &error, "\"w\"");
    ids[1] = 5;
    assert_code(pnc_format_var_add(&model, "w", NC_INT, 2, ids, &error), NC_EBADDIM, &error, "5");
    ids[0] = x;
    ids[1] = t;
    assert_code(pnc_format_var_add(&model, "w", NC_INT, 2, ids, &error), NC_EUNLIMPOS, &error, "\"t\"");
    assert_code(pnc_format_var_add(&model, "v", NC_INT, 1, ids, &error), NC_ENAMEINUSE, &error, "\"v\"");
    ids[1] = big;
    assert_code(pnc_format_var_add(&model, "w", NC_INT, 2, ids, &error), NC_EVARSIZE, &error, "\"w\"");
    assert_int_equal(model.nvars, 2);

    assert_code(pnc_format_var_rename(&model, 2, "", &error), NC_ENOTVAR, &error, "2");
    assert_code(pnc_format_var_rename(&model, 0, "", &error), NC_EBADNAME, &error, "name");
    assert_code(pnc_format_var_rename(&model, 0, "v", &error), NC_ENAMEINUSE, &error, "\"v\"");
    assert_int_equal(pnc_format_var_rename(&model, 0, "u", &error), NC_NOERR);
    assert_string_equal(error.text, "");
    assert_int_equal(pnc_format_var_find(&model, "u"), 0);
    assert_int_equal(pnc_format_var_find(&model, "v"), -1);

    model.format = 2;
    assert_code(pnc_format_var_add(&model, "w", NC_INT64, 0, NULL, &error), NC_ESTRICTCDF2, &error, "int64");
}

/* A list on both sides of the length from which it is hashed, against a plain array of numbers. */
static void test_atts(void **state)
{
    enum { N = 60 };
    pnc_atts *atts = pnc_format_atts_get(&model, NC_GLOBAL);
    pnc_error error = {0};
    int expect[N], n = 0;
    char name[16];
    (void)state;

    for (int i = 0; i < N; i++) {
        unsigned char value[4] = {0, 0, 0, (unsigned char)i};
        snprintf(name, sizeof name, "att%d", i);
        assert_int_equal(pnc_format_atts_put(&model, atts, name, NC_INT, 1, value, &error), NC_NOERR);
        expect[n++] = i;
        if (i % 3 == 2) { /* delete one from the middle */
            int victim = n / 2;
            assert_int_equal(pnc_format_atts_delete(atts, victim), NC_NOERR);
            memmove(expect + victim, expect + victim + 1, (size_t)(--n - victim) * sizeof *expect);
        }
        assert_int_equal(atts->n, n);
        for (int k = 0; k < n; k++) {
            snprintf(name, sizeof name, "att%d", expect[k]);
            assert_int_equal(pnc_format_atts_find(atts, name), k);
            assert_int_equal(((unsigned char *)atts->at[k]->value)[3], expect[k]);
        }
    }
    assert_int_equal(pnc_format_atts_delete(atts, n), NC_ENOTATT);
    assert_int_equal(pnc_format_atts_delete(atts, -1), NC_ENOTATT);
    assert_int_equal(pnc_format_atts_find(atts, "att1000"), -1);

    assert_code(pnc_format_atts_rename(&model, atts, 0, "att59", &error), NC_ENAMEINUSE, &error, "\"att59\"");
    assert_code(pnc_format_atts_rename(&model, atts, 1, "att0", &error), NC_ENAMEINUSE, &error, "\"att0\"");
    assert_code(pnc_format_atts_rename(&model, atts, n, "y", &error), NC_ENOTATT, &error, "does not exist");
    assert_int_equal(pnc_format_atts_rename(&model, atts, 0, "first", &error), NC_NOERR);
    assert_string_equal(error.text, "");
    assert_int_equal(pnc_format_atts_find(atts, "first"), 0);
    assert_int_equal(pnc_format_atts_find(atts, "att0"), -1);
    assert_int_equal(pnc_format_atts_put(&model, atts, "first", NC_CHAR, 5, "hello", &error), NC_NOERR);
    assert_int_equal(atts->n, n);
    assert_int_equal(atts->at[0]->len, 5);
    assert_memory_equal(atts->at[0]->value, "hello", 5);
    assert_int_equal(pnc_format_atts_put(&model, atts, "first", NC_CHAR, 0, NULL, &error), NC_NOERR);
    assert_null(atts->at[0]->value);
    assert_int_equal(pnc_format_atts_find(atts, "first"), 0);

    assert_code(pnc_format_atts_put(&model, atts, "a", 12, 1, "x", &error), NC_EBADTYPE, &error, "\"a\"");
    assert_code(pnc_format_atts_put(&model, atts, "a", NC_CHAR, -1, "x", &error), NC_EINVAL, &error, "\"a\"");
    assert_code(pnc_format_atts_put(&model, atts, "a", NC_CHAR, 1, NULL, &error), NC_EINVAL, &error, "\"a\"");
    assert_null(pnc_format_atts_get(&model, 0));
    assert_null(pnc_format_atts_get(&model, -2));
}

static void test_fill(void **state)
{
    static const struct {
        int type;
        const char *bytes;
    } rows[] = {
        /* table of the format specification */
        {NC_BYTE, "\x81"},
        {NC_CHAR, "\0"},
        {NC_SHORT, "\x80\x01"},
        {NC_INT, "\x80\0\0\x01"},
        {NC_FLOAT, "\x7c\xf0\0\0"},
        {NC_DOUBLE, "\x47\x9e\0\0\0\0\0\0"},
        {NC_UBYTE, "\xff"},
        {NC_USHORT, "\xff\xff"},
        {NC_UINT, "\xff\xff\xff\xff"},
        {NC_INT64, "\x80\0\0\0\0\0\0\x02"},
        {NC_UINT64, "\xff\xff\xff\xff\xff\xff\xff\xfe"},
    };
    unsigned char out[8];
    char name[16];
    (void)state;

    for (int i = 0; i < 11; i++) {
        snprintf(name, sizeof name, "v%d", i);
        assert_int_equal(pnc_format_var_add(&model, name, rows[i].type, 0, NULL, NULL), NC_NOERR);
        pnc_format_var_get_fill_value(&model, model.vars[i], out);
        assert_memory_equal(out, rows[i].bytes, pnc_type_get_size(rows[i].type));
    }
    pnc_format_atts_put(&model, &model.vars[3]->atts, "_FillValue", NC_INT, 1, "\1\2\3\4", NULL);
    pnc_format_var_get_fill_value(&model, model.vars[3], out);
    assert_memory_equal(out, "\1\2\3\4", 4);
    /* of another type: does not count */
    pnc_format_atts_put(&model, &model.vars[3]->atts, "_FillValue", NC_SHORT, 1, "\1\2", NULL);
    pnc_format_var_get_fill_value(&model, model.vars[3], out);
    assert_memory_equal(out, "\x80\0\0\x01", 4);
}

/* A format whose variables may have several unlimited dimensions, at any position, and only few types. */
static void test_rules(void **state)
{
    static const pnc_rules rules = {.name = "netCDF-4 (classic model)",
                                    .last_type = NC_DOUBLE,
                                    .type_error = NC_ESTRICTNC3,
                                    .wider = "netCDF-4",
                                    .cure = "leave NC_CLASSIC_MODEL out",
                                    .most_dim_length = 100,
                                    .most_var_dims = 3,
                                    .most_att_length = 10};
    const int dims[] = {1, 0, 2, 0}, inner[] = {0, 3}, lengths[] = {7, 100, 9};
    pnc_error error = {0};
    pnc_model m, copy;
    (void)state;

    pnc_format_model_init_rules(&m, NC_FORMAT_NETCDF4_CLASSIC, &rules);
    assert_ptr_equal(pnc_format_model_get_rules(&m), &rules);
    assert_int_equal(pnc_format_dim_add(&m, "x", 101, NULL), NC_EDIMSIZE);
    assert_int_equal(pnc_format_dim_add(&m, "x", 100, NULL), NC_NOERR);
    assert_int_equal(pnc_format_dim_add(&m, "t", NC_UNLIMITED, NULL), NC_NOERR);
    assert_int_equal(pnc_format_dim_add(&m, "s", NC_UNLIMITED, NULL), NC_NOERR);
    assert_int_equal(pnc_format_dim_append(&m, "empty", 5, 0, false), NC_NOERR);
    assert_true(m.recdim == 1 && m.nunlimited == 2);
    assert_int_equal(pnc_format_var_add(&m, "v", NC_UINT, 3, dims, &error), NC_ESTRICTNC3);
    assert_string_equal(error.text,
                        "variable \"v\": type uint exists in netCDF-4 only, and this file is netCDF-4 "
                        "(classic model): leave NC_CLASSIC_MODEL out");
    assert_int_equal(pnc_format_var_add(&m, "v", NC_INT, 4, dims, NULL), NC_EMAXDIMS);
    assert_int_equal(pnc_format_var_add(&m, "v", NC_INT, 3, dims, NULL), NC_NOERR);
    assert_int_equal(pnc_format_var_add(&m, "w", NC_INT, 2, inner, NULL), NC_NOERR);
    assert_true(m.vars[0]->is_record && m.vars[0]->inner_unlimited);
    assert_true(!m.vars[1]->is_record && !m.vars[1]->inner_unlimited && m.vars[1]->size == 0);
    assert_true(pnc_format_dim_grow(&m, 1, 7));
    assert_true(pnc_format_dim_grow(&m, 2, 9));
    assert_false(pnc_format_dim_grow(&m, 2, 8));
    assert_int_equal(pnc_format_model_copy(&copy, &m), NC_NOERR);
    pnc_format_model_free(&m);
    assert_ptr_equal(pnc_format_model_get_rules(&copy), &rules);
    assert_true(copy.recdim == 1 && copy.nunlimited == 2 && copy.vars[0]->inner_unlimited);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pnc_format_var_get_length(&copy, copy.vars[0], i), lengths[i]);
    assert_int_equal(pnc_format_dim_get_length(&copy, 3), 0);
    pnc_format_model_free(&copy);
}

/* The orders of values of the file and of attributes are two things. */
static void test_byte_order(void **state)
{
    unsigned char out[8];
    pnc_model copy;
    (void)state;

    assert_int_equal(pnc_format_var_add(&model, "v", NC_INT, 0, NULL, NULL), NC_NOERR);
    model.vars[0]->little = true;
    pnc_format_var_get_fill_value(&model, model.vars[0], out);
    assert_memory_equal(out, "\x01\0\0\x80", 4);
    pnc_format_atts_put(&model, &model.vars[0]->atts, "_FillValue", NC_INT, 1, "\1\2\3\4", NULL);
    pnc_format_var_get_fill_value(&model, model.vars[0], out);
    assert_memory_equal(out, "\4\3\2\1", 4);
    model.little = true;
    pnc_format_var_get_fill_value(&model, model.vars[0], out);
    assert_memory_equal(out, "\1\2\3\4", 4);
    model.vars[0]->little = false;
    pnc_format_var_get_fill_value(&model, model.vars[0], out);
    assert_memory_equal(out, "\4\3\2\1", 4);
    model.vars[0]->little = true;
    assert_int_equal(pnc_format_model_copy(&copy, &model), NC_NOERR);
    assert_true(pnc_format_model_get_encoding(&copy).little);
    assert_true(pnc_format_var_get_encoding(&copy, copy.vars[0]).little);
    pnc_format_model_free(&copy);
}

static void test_copy(void **state)
{
    pnc_model copy;
    const int ids[2] = {0, 1};
    (void)state;

    pnc_format_dim_add(&model, "t", 0, NULL);
    pnc_format_dim_add(&model, "x", 3, NULL);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        pnc_format_var_add(&model, name, NC_INT, 2 - i % 2, ids + i % 2, NULL);
        pnc_format_atts_put(&model, pnc_format_atts_get(&model, 0), name, NC_CHAR, 3, "abc", NULL);
    }
    pnc_format_atts_put(&model, &model.gatts, "title", NC_CHAR, 5, "hello", NULL);
    model.numrecs = 9;
    model.vars[3]->no_fill = true;
    model.vars[5]->classic.begin = 555;
    model.classic.begin_rec = 77;
    assert_int_equal(pnc_format_model_copy(&copy, &model), NC_NOERR);

    pnc_format_var_rename(&model, 5, "other", NULL); /* the copy must not feel it */
    assert_int_equal(pnc_format_atts_delete(&model.gatts, 0), NC_NOERR);
    assert_int_equal(model.gatts.n, 0);
    assert_int_equal(copy.nvars, 40);
    assert_int_equal(copy.nrecvars, 20);
    assert_int_equal(copy.recdim, 0);
    assert_true(copy.numrecs == 9 && copy.classic.begin_rec == 77 && copy.vars[5]->classic.begin == 555);
    assert_true(copy.vars[3]->no_fill && !copy.vars[4]->no_fill);
    assert_int_equal(pnc_format_var_find(&copy, "v5"), 5);
    assert_int_equal(copy.vars[5]->dimids[0], 1);
    assert_int_equal(copy.vars[4]->shape[1], 3);
    assert_int_equal(pnc_format_atts_find(&copy.vars[0]->atts, "v39"), 39);
    assert_memory_equal(copy.gatts.at[0]->value, "hello", 5);
    pnc_format_model_free(&copy);
    assert_int_equal(copy.nvars, 0);
}

/* A rename that is undone; lists of all lengths, with and without a table. */
static void test_restore(void **state)
{
    char name[16], *old;
    (void)state;

    for (int i = 0; i < 20; i++) {
        pnc_atts *atts = &model.gatts;

        snprintf(name, sizeof name, "n%d", i);
        assert_int_equal(pnc_format_dim_add(&model, name, 3, NULL), NC_NOERR);
        assert_int_equal(pnc_format_atts_put(&model, atts, name, NC_CHAR, 1, "v", NULL), NC_NOERR);
        for (int k = 0; k <= i; k++) {
            snprintf(name, sizeof name, "n%d", k);
            old = atts->at[k]->name;
            assert_int_equal(pnc_format_atts_rename(&model, atts, k, "new", NULL), NC_NOERR);
            assert_int_equal(pnc_format_atts_find(atts, "new"), k);
            assert_int_equal(pnc_format_atts_find(atts, name), -1);
            assert_memory_equal(atts->at[k]->value, "v", 1);
            pnc_format_name_undo(&atts->names, k, &atts->at[k]->name, old);
            assert_int_equal(pnc_format_atts_find(atts, name), k);
            assert_int_equal(pnc_format_atts_find(atts, "new"), -1);
            old = model.dims[k]->name;
            assert_int_equal(pnc_format_dim_rename(&model, k, "new", NULL), NC_NOERR);
            assert_int_equal(pnc_format_dim_find(&model, "new"), k);
            pnc_format_name_undo(&model.dim_names, k, &model.dims[k]->name, old);
            pnc_format_name_undo(&model.dim_names, k, &model.dims[k]->name, old);
            assert_int_equal(pnc_format_dim_find(&model, name), k);
            assert_int_equal(pnc_format_dim_find(&model, "new"), -1);
        }
    }
}

/* In a file of another writer two dimensions have one name: searches find the first one. */
static void test_same_names(void **state)
{
    (void)state;

    assert_int_equal(pnc_format_dim_append(&model, "x", 1, 3, false), NC_NOERR);
    assert_int_equal(pnc_format_dim_append(&model, "x", 1, 4, false), NC_ENAMEINUSE);
    assert_int_equal(model.ndims, 2);
    assert_int_equal(pnc_format_dim_rename(&model, 1, "y", NULL), NC_NOERR);
    assert_int_equal(pnc_format_dim_find(&model, "x"), 0);
    assert_int_equal(pnc_format_dim_find(&model, "y"), 1);
}

/* In a file of another writer a name is not in NFC: its attribute is replaced, not added once more. */
static void test_other_form(void **state)
{
    static const char name[] = "e\xcc\x81";
    pnc_att *att = pnc_format_att_create(&model.region, name, 3, NC_CHAR, 1, "a");
    (void)state;

    assert_int_equal(pnc_format_atts_append(&model.region, &model.gatts, att), NC_NOERR);
    assert_int_equal(pnc_format_atts_put(&model, &model.gatts, name, NC_CHAR, 1, "b", NULL), NC_NOERR);
    assert_int_equal(model.gatts.n, 1);
    assert_string_equal(model.gatts.at[0]->name, name);
    assert_memory_equal(model.gatts.at[0]->value, "b", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_init, start, finish),
        cmocka_unit_test_setup_teardown(test_dims, start, finish),
        cmocka_unit_test_setup_teardown(test_dim_limits, start, finish),
        cmocka_unit_test_setup_teardown(test_vars, start, finish),
        cmocka_unit_test_setup_teardown(test_atts, start, finish),
        cmocka_unit_test_setup_teardown(test_restore, start, finish),
        cmocka_unit_test_setup_teardown(test_same_names, start, finish),
        cmocka_unit_test_setup_teardown(test_other_form, start, finish),
        cmocka_unit_test_setup_teardown(test_fill, start, finish),
        cmocka_unit_test_setup_teardown(test_byte_order, start, finish),
        cmocka_unit_test(test_rules),
        cmocka_unit_test_setup_teardown(test_copy, start, finish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
