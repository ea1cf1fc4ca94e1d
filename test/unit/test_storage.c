/* Rules of the storage of a variable against the codes that netCDF-C 4.9.0 returns for the same calls on a netCDF-4
 * file. Where it accepts what no file can have (a deflate level of 10, a negative length, a byte order of 9), the
 * documented errors are expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/quantization.h"
#include "format/storage.h"

enum { FIXED, RECORDS, SCALAR, LETTERS, NVARS };

static pnc_model model;
static pnc_error error;

static int prepare(void **state)
{
    const int dims[] = {0, 1};

    (void)state;
    assert_int_equal(pnc_format_model_init(&model, 5, &error), NC_NOERR);
    assert_int_equal(pnc_format_dim_add(&model, "t", NC_UNLIMITED, &error), NC_NOERR);
    assert_int_equal(pnc_format_dim_add(&model, "x", 10, &error), NC_NOERR);
    assert_int_equal(pnc_format_var_add(&model, "v", NC_FLOAT, 1, &dims[1], &error), NC_NOERR);
    assert_int_equal(pnc_format_var_add(&model, "r", NC_DOUBLE, 2, dims, &error), NC_NOERR);
    assert_int_equal(pnc_format_var_add(&model, "s", NC_FLOAT, 0, NULL, &error), NC_NOERR);
    assert_int_equal(pnc_format_var_add(&model, "c", NC_CHAR, 1, &dims[1], &error), NC_NOERR);
    for (int i = 0; i < NVARS; i++)
        assert_int_equal(pnc_format_storage_add(&model, model.vars[i], &error), NC_NOERR);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    pnc_format_model_free(&model);
    return 0;
}

static int set_layout(int varid, int layout, const int64_t *chunks)
{
    return pnc_format_storage_set_layout(&model, model.vars[varid], layout, chunks, &error);
}

static int set_filter(int varid, int id, unsigned parameter)
{
    const pnc_filter filter = {.id = id, .nparameters = 1, .parameters = &parameter};

    return pnc_format_storage_set_filter(&model, model.vars[varid], &filter, &error);
}

/* --- layouts --- */

static void test_layouts(void **state)
{
    const int64_t good[] = {1, 2}, zeros[] = {0, 0}, long_one[] = {1, 99}, negative[] = {-1, 2};
    const int64_t most[] = {INT64_C(0xFFFFFFFF) / 8, 1}, too_many[] = {INT64_C(0x100000000) / 8, 1};
    const int64_t overflow[] = {INT64_MAX, 10};

    (void)state;
    assert_int_equal(model.vars[FIXED]->storage->layout, NC_CONTIGUOUS);
    assert_int_equal(model.vars[RECORDS]->storage->layout, NC_CHUNKED);
    assert_int_equal(model.vars[SCALAR]->storage->layout, NC_CONTIGUOUS);
    assert_int_equal(set_layout(RECORDS, NC_CHUNKED, good), NC_NOERR);
    assert_int_equal(set_layout(RECORDS, NC_CHUNKED, long_one), NC_EBADCHUNK);
    assert_int_equal(set_layout(RECORDS, NC_CHUNKED, negative), NC_EBADCHUNK);
    assert_int_equal(set_layout(RECORDS, NC_CHUNKED, too_many), NC_EBADCHUNK);
    assert_int_equal(set_layout(RECORDS, NC_CHUNKED, overflow), NC_EBADCHUNK);
    assert_int_equal(set_layout(RECORDS, NC_CONTIGUOUS, NULL), NC_EINVAL);
    assert_int_equal(set_layout(RECORDS, NC_COMPACT, NULL), NC_EINVAL);
    assert_int_equal(set_layout(RECORDS, 77, NULL), NC_EINVAL);
    assert_memory_equal(model.vars[RECORDS]->storage->chunks, good, sizeof good); /* errors change nothing */
    assert_int_equal(set_layout(RECORDS, NC_CHUNKED, zeros), NC_NOERR);
    assert_int_equal(set_layout(RECORDS, NC_CHUNKED, most), NC_NOERR);
    assert_int_equal(set_layout(RECORDS, NC_CHUNKED, NULL), NC_NOERR);
    assert_null(model.vars[RECORDS]->storage->chunks);
    assert_int_equal(set_layout(FIXED, NC_COMPACT, NULL), NC_NOERR);
    assert_int_equal(set_layout(SCALAR, NC_CHUNKED, good), NC_EINVAL);
    assert_int_equal(set_layout(SCALAR, NC_CONTIGUOUS, good), NC_NOERR);
    assert_null(model.vars[SCALAR]->storage->chunks);
}

/* --- filters --- */

static void expect_filters(int varid, const char *wanted)
{
    char text[256] = "";
    const pnc_storage *storage = model.vars[varid]->storage;

    for (int i = 0; i < storage->nfilters; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %d", storage->filters[i].id);
    assert_string_equal(text, wanted);
}

static void test_filters(void **state)
{
    pnc_var *var = model.vars[FIXED];

    (void)state;
    assert_int_equal(set_filter(SCALAR, 1, 5), NC_EINVAL);
    assert_int_equal(set_filter(FIXED, 3, 0), NC_NOERR);
    assert_int_equal(set_filter(FIXED, 1, 5), NC_NOERR);
    assert_int_equal(pnc_format_storage_set_shuffle(&model, var, true, &error), NC_NOERR);
    expect_filters(FIXED, " 3 2 1"); /* as netCDF-C */
    assert_int_equal(var->storage->layout, NC_CHUNKED);
    assert_int_equal(set_layout(FIXED, NC_CONTIGUOUS, NULL), NC_EINVAL);
    assert_int_equal(set_filter(FIXED, 1, 9), NC_NOERR);
    expect_filters(FIXED, " 3 2 1");
    assert_int_equal(var->storage->filters[2].parameters[0], 9);
    assert_int_equal(pnc_format_storage_set_shuffle(&model, var, true, &error), NC_NOERR);
    expect_filters(FIXED, " 3 2 1");
    assert_int_equal(pnc_format_storage_set_shuffle(&model, var, false, &error), NC_NOERR);
    expect_filters(FIXED, " 3 1");
    pnc_format_storage_remove_filter(var, 3);
    pnc_format_storage_remove_filter(var, 3);
    expect_filters(FIXED, " 1");
    for (int id = 1000; id < 1000 + PNC_FILTER_MOST - 1; id++)
        assert_int_equal(set_filter(FIXED, id, 0), NC_NOERR);
    assert_int_equal(set_filter(FIXED, 2000, 0), NC_EFILTER);
    assert_int_equal(set_filter(FIXED, 1000, 3), NC_NOERR);
}

/* --- values --- */

static void test_values(void **state)
{
    (void)state;
    assert_int_equal(pnc_format_storage_set_endian(model.vars[FIXED], NC_ENDIAN_BIG, &error), NC_NOERR);
    assert_int_equal(pnc_format_storage_set_endian(model.vars[FIXED], 9, &error), NC_EINVAL);
    assert_int_equal(pnc_format_storage_set_endian(model.vars[LETTERS], NC_ENDIAN_BIG, &error), NC_EINVAL);
    assert_int_equal(model.vars[FIXED]->storage->endian, NC_ENDIAN_BIG);
    for (int mode = 1; mode <= 3; mode++) {
        int most = mode == 3 ? 23 : 7, most_of_double = mode == 3 ? 52 : 15;

        assert_int_equal(pnc_format_quantization_set(model.vars[FIXED], mode, most, &error), NC_NOERR);
        assert_int_equal(pnc_format_quantization_set(model.vars[FIXED], mode, most + 1, &error), NC_EINVAL);
        assert_int_equal(pnc_format_quantization_set(model.vars[FIXED], mode, 0, &error), NC_EINVAL);
        assert_int_equal(pnc_format_quantization_set(model.vars[RECORDS], mode, most_of_double, &error), NC_NOERR);
        assert_int_equal(pnc_format_quantization_set(model.vars[RECORDS], mode, most_of_double + 1, &error), NC_EINVAL);
        assert_int_equal(pnc_format_quantization_set(model.vars[LETTERS], mode, 3, &error), NC_EINVAL);
    }
    assert_int_equal(pnc_format_quantization_set(model.vars[FIXED], 4, 3, &error), NC_EINVAL);
    assert_int_equal(model.vars[FIXED]->nsd, 23);
    assert_int_equal(pnc_format_quantization_set(model.vars[FIXED], NC_NOQUANTIZE, 3, &error), NC_NOERR);
    assert_int_equal(model.vars[FIXED]->nsd, 0);
}

/* The attribute is that of the mode and has the number; a file may have any. */
static void test_quantization_attribute(void **state)
{
    const char *const name = "_QuantizeBitGroomNumberOfSignificantDigits";
    const unsigned char too_many[] = {0, 0, 0, 8}, negative[] = {0xff, 0xff, 0xff, 0xff}, three[] = {0, 0, 0, 3};
    pnc_var *var = model.vars[FIXED];
    int mode, nsd, at;

    (void)state;
    model.little = false;
    assert_int_equal(pnc_format_quantization_set(var, NC_QUANTIZE_BITROUND, 5, &error), NC_NOERR);
    assert_int_equal(pnc_format_quantization_write(&model, var, &error), NC_NOERR);
    assert_int_equal(pnc_format_quantization_set(var, NC_QUANTIZE_BITGROOM, 3, &error), NC_NOERR);
    assert_int_equal(pnc_format_quantization_write(&model, var, &error), NC_NOERR);
    assert_int_equal(var->atts.n, 1);
    at = pnc_format_atts_find(&var->atts, name);
    assert_int_equal(at, 0);
    assert_int_equal(var->atts.at[at]->type, NC_INT);
    assert_memory_equal(var->atts.at[at]->value, three, sizeof three);
    pnc_format_quantization_find(&model, var, &mode, &nsd);
    assert_true(mode == NC_QUANTIZE_BITGROOM && nsd == 3);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pnc_format_atts_put(&model, &var->atts, name, NC_INT, 1, i == 0 ? too_many : negative, &error),
                         NC_NOERR);
        pnc_format_quantization_find(&model, var, &mode, &nsd);
        assert_true(mode == NC_NOQUANTIZE && nsd == 0);
    }
}

/* ncmpi_redef copies the model: the copy has the same storage in memory of its own. */
static void test_copies(void **state)
{
    const int64_t chunks[] = {1, 2};
    pnc_model copy;

    (void)state;
    assert_int_equal(set_layout(RECORDS, NC_CHUNKED, chunks), NC_NOERR);
    assert_int_equal(set_filter(RECORDS, 1, 7), NC_NOERR);
    model.vars[SCALAR]->storage = NULL;
    assert_int_equal(pnc_format_model_copy(&copy, &model), NC_NOERR);
    pnc_format_model_free(&model);
    assert_memory_equal(copy.vars[RECORDS]->storage->chunks, chunks, sizeof chunks);
    assert_int_equal(copy.vars[RECORDS]->storage->nfilters, 1);
    assert_int_equal(copy.vars[RECORDS]->storage->filters[0].parameters[0], 7);
    assert_null(copy.vars[SCALAR]->storage);
    assert_int_equal(pnc_format_storage_find_filter(copy.vars[SCALAR], 1), -1);
    pnc_format_model_free(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_layouts, prepare, finish),
        cmocka_unit_test_setup_teardown(test_filters, prepare, finish),
        cmocka_unit_test_setup_teardown(test_quantization_attribute, prepare, finish),
        cmocka_unit_test_setup_teardown(test_values, prepare, finish),
        cmocka_unit_test_setup_teardown(test_copies, prepare, finish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
