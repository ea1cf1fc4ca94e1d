/* Fill values that each of several ranks writes to a file in memory: every byte of a variable that is filled is written
 * once, with the value of the variable, and no other byte is; few accesses, in whole elements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "format/layout.h"
#include "growth/fill.h"

enum { MOST = 1 << 23, MIB = 1 << 20 };

/* --- the file --- */

static struct {
    unsigned char bytes[MOST], written[MOST]; /* how often */
    int64_t end, accesses, agreements, fails_at;
    int64_t most; /* accesses of one rank */
} the_file;

static int write_bytes(void *file, const pnc_extent *extents, int64_t n, const void *bytes)
{
    const char *from = bytes;

    assert_ptr_equal(file, &the_file);
    for (int64_t i = 0; i < n; from += extents[i++].length) {
        assert_true(extents[i].offset >= 0 && extents[i].offset + extents[i].length <= the_file.end);
        assert_true(extents[i].length > 0 && extents[i].length <= MIB);
        memcpy(the_file.bytes + extents[i].offset, from, (size_t)extents[i].length);
        for (int64_t k = 0; k < extents[i].length; k++)
            the_file.written[extents[i].offset + k]++;
    }
    return ++the_file.accesses == the_file.fails_at ? NC_EWRITE : NC_NOERR;
}

static int agree(void *file, int err)
{
    assert_ptr_equal(file, &the_file);
    the_file.agreements++;
    return err;
}

static pnc_growth_io io_of(int rank, int nprocs)
{
    return (pnc_growth_io){
        .file = &the_file, .path = "fill.nc", .rank = rank, .nprocs = nprocs, .write = write_bytes, .agree = agree};
}

/* --- the dataset --- */

static pnc_model model;

static int start(void **state)
{
    (void)state;
    memset(&the_file, 0, sizeof the_file);
    return pnc_format_model_init(&model, 5, NULL);
}

static int finish(void **state)
{
    (void)state;
    pnc_format_model_free(&model);
    return 0;
}

static int add_var(const char *name, int type, int64_t length, bool has_records)
{
    int dims[2] = {0, model.ndims};

    assert_int_equal(pnc_format_dim_add(&model, name, length, NULL), NC_NOERR);
    assert_int_equal(pnc_format_var_add(&model, name, type, 1 + has_records, dims + !has_records, NULL), NC_NOERR);
    return model.nvars - 1;
}

static void add_records(int64_t numrecs)
{
    assert_int_equal(pnc_format_dim_add(&model, "t", NC_UNLIMITED, NULL), NC_NOERR);
    model.numrecs = numrecs;
}

static void compute_layout(void)
{
    assert_int_equal(pnc_format_layout_compute(&model, NULL, NULL, NULL), NC_NOERR);
    the_file.end = pnc_format_layout_get_file_end(&model);
    assert_true(the_file.end <= MOST);
}

/* --- what is expected --- */

static void expect_filled(const pnc_var *var, int64_t offset)
{
    size_t size = pnc_type_get_size(var->type);
    unsigned char fill[8];

    pnc_format_var_get_fill_value(&model, var, fill); /* test_model has its values */
    for (int64_t i = 0; i < var->size; i++) {
        if (the_file.written[offset + i] != 1 || the_file.bytes[offset + i] != fill[(size_t)i % size])
            fail_msg("%s: byte %lld of %lld is written %d times, as %d", var->name, (long long)i, (long long)var->size,
                     the_file.written[offset + i], the_file.bytes[offset + i]);
        the_file.written[offset + i] = 0;
    }
}

static void expect_nothing_else(void)
{
    for (int64_t i = 0; i < the_file.end; i++)
        assert_int_equal(the_file.written[i], 0);
}

/* All ranks in turn. Returns the accesses of all. */
static int64_t fill(int nprocs, int varid)
{
    the_file.accesses = the_file.agreements = the_file.most = 0;
    for (int rank = 0; rank < nprocs; rank++) {
        int64_t before = the_file.accesses, own;
        pnc_growth_io io = io_of(rank, nprocs);

        assert_int_equal(pnc_growth_vars_fill(&io, &model, varid), NC_NOERR);
        own = the_file.accesses - before;
        the_file.most = own > the_file.most ? own : the_file.most;
    }
    for (int i = varid; i < model.nvars; i++)
        for (int64_t r = 0; !model.vars[i]->no_fill && r < (model.vars[i]->is_record ? model.numrecs : 1); r++)
            expect_filled(model.vars[i], model.vars[i]->classic.begin + r * model.classic.recsize);
    expect_nothing_else();
    return the_file.accesses;
}

/* --- tests --- */

static void test_small(void **state)
{
    static const struct {
        int type;
        int64_t length;
    } rows[] = {{NC_BYTE, 5},  {NC_SHORT, 7},  {NC_DOUBLE, 3},  {NC_CHAR, 1}, {NC_INT64, 2},
                {NC_FLOAT, 9}, {NC_USHORT, 4}, {NC_UINT64, 11}, {NC_INT, 1},  {NC_UBYTE, 8}};
    (void)state;

    add_records(3);
    for (int i = 0; i < 20; i++) {
        char name[] = {(char)('A' + i), '\0'};

        add_var(name, rows[i / 2].type, rows[i / 2].length, i % 2 != 0);
        model.vars[i]->no_fill = i % 7 == 3;
    }
    pnc_format_atts_put(&model, &model.vars[5]->atts, "_FillValue", NC_DOUBLE, 1, "abcdefgh", NULL);
    compute_layout();
    for (int varid = 0; varid <= model.nvars; varid += 4)
        for (int nprocs = 1; nprocs < 70; nprocs += 1 + nprocs / 5)
            fill(nprocs, varid);
    assert_int_equal(fill(3, model.nvars), 0);
    assert_int_equal(the_file.agreements, 0);
    fill(3, model.nvars - 1);
    assert_int_equal(the_file.agreements, 3);
    model.numrecs = 0; /* the last variable has no elements then, which only the ranks together know */
    assert_int_equal(fill(3, model.nvars - 1), 0);
}

/* Variables side by side take one access of each rank; padding and variables without fill values divide them. */
static void test_accesses(void **state)
{
    (void)state;

    for (int i = 0; i < 8; i++)
        add_var((char[]){(char)('a' + i), '\0'}, NC_INT, 10, false);
    compute_layout();
    assert_int_equal(fill(1, 0), 1);
    assert_int_equal(fill(4, 0), 4);
    assert_int_equal(the_file.most, 1);
    model.vars[3]->no_fill = true;
    assert_int_equal(fill(1, 0), 2);
    model.vars[7]->no_fill = true;
    assert_int_equal(fill(1, 0), 2);
    add_var("odd", NC_BYTE, 3, false);
    add_var("last", NC_BYTE, 3, false);
    compute_layout();
    assert_int_equal(fill(1, 0), 4);
    assert_int_equal(fill(1, 9), 1);
}

/* Records of one byte. */
static void test_least(void **state)
{
    (void)state;

    add_records(3);
    add_var("a", NC_BYTE, 1, true);
    compute_layout();
    assert_in_range((uintmax_t)fill(1, 0), 1, 3);
}

/* Memory is bounded: what exceeds it takes several accesses. */
static void test_large(void **state)
{
    (void)state;

    add_var("a", NC_INT, 3, false);
    add_var("large", NC_DOUBLE, 3 * MIB / 8, false);
    add_var("b", NC_SHORT, 6, false);
    compute_layout();
    assert_int_equal(fill(1, 0), 1 + 3 + 1);
    for (int nprocs = 2; nprocs < 9; nprocs++)
        assert_in_range((uintmax_t)fill(nprocs, 0), 4, 2 * (uintmax_t)nprocs + 4);
    model.vars[0]->no_fill = model.vars[2]->no_fill = true;
    assert_int_equal(fill(1, 0), 3);
    assert_int_equal(fill(3, 0), 3);
    assert_int_equal(fill(6, 0), 6);
}

/* Variables that fill the buffer to its last byte. */
static void test_full_buffer(void **state)
{
    (void)state;

    for (int i = 0; i < 4; i++)
        add_var((char[]){(char)('a' + i), '\0'}, NC_INT, MIB / 16, false);
    compute_layout();
    assert_int_equal(fill(1, 0), 1);
    add_var("e", NC_INT, 1, false);
    compute_layout();
    assert_int_equal(fill(1, 0), 2);
    assert_int_equal(fill(1, 1), 1);
}

static void test_record(void **state)
{
    const pnc_var *var;
    (void)state;

    add_records(5);
    add_var("a", NC_INT, 3, true);
    var = model.vars[add_var("b", NC_SHORT, 1001, true)];
    compute_layout();
    for (int nprocs = 1; nprocs < 5; nprocs++)
        for (int64_t record = 0; record < 5; record += 2) {
            the_file.accesses = 0;
            for (int rank = 0; rank < nprocs; rank++) {
                pnc_growth_io io = io_of(rank, nprocs);

                assert_int_equal(pnc_growth_record_fill(&io, &model, var, record), NC_NOERR);
            }
            expect_filled(var, var->classic.begin + record * model.classic.recsize);
            expect_nothing_else();
            assert_int_equal(the_file.accesses, nprocs);
        }
}

/* An access that fails is the last one of its rank, and its code that of the call. */
static void test_failure(void **state)
{
    (void)state;

    add_records(2);
    add_var("a", NC_INT, 3, false);
    add_var("large", NC_DOUBLE, 3 * MIB / 8, false);
    add_var("b", NC_INT, 3, true);
    add_var("c", NC_INT, 3, true);
    model.vars[2]->no_fill = true;
    compute_layout();
    for (the_file.fails_at = 1; the_file.fails_at <= 6; the_file.fails_at++) {
        pnc_growth_io io = io_of(0, 1);

        the_file.accesses = 0;
        assert_int_equal(pnc_growth_vars_fill(&io, &model, 0), NC_EWRITE);
        assert_int_equal(the_file.accesses, the_file.fails_at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_small, start, finish),
        cmocka_unit_test_setup_teardown(test_accesses, start, finish),
        cmocka_unit_test_setup_teardown(test_least, start, finish),
        cmocka_unit_test_setup_teardown(test_large, start, finish),
        cmocka_unit_test_setup_teardown(test_full_buffer, start, finish),
        cmocka_unit_test_setup_teardown(test_record, start, finish),
        cmocka_unit_test_setup_teardown(test_failure, start, finish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
