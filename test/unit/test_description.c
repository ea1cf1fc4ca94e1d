/* The description of a netCDF-4 file: what is written is decoded, and whatever the bytes are, decoding ends with a code
 * and without a wrong access. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "formats/netcdf4/description.h"

#define FILE_SIZE 100000

static const int64_t lengths[] = {5, 7}, chunk[] = {2, 4};
static const uint32_t level[] = {1};
static const pnc_filter filters[] = {{PNC_FILTER_SHUFFLE, true, 0, NULL}, {PNC_FILTER_DEFLATE, true, 1, level}};

/* Two dimensions; a global attribute; a contiguous, a compact, a chunked and an unreadable variable. */
static pnc_netcdf4_writer write_sample(void)
{
    static pnc_chunk_place places[6] = {{1000, 20, 0}, {-1, 0, 0}, {1020, 30, 1},
                                        {1050, 1, 0},  {-1, 0, 0}, {2000, 9, 2}};
    pnc_netcdf4_storage s = {.layout = PNC_NETCDF4_CONTIGUOUS, .path = "a", .extent = lengths, .address = 4096};
    const int64_t ids[] = {0, 1};
    pnc_netcdf4_writer w = {0};
    char group[] = "forecast", *paths[] = {group};
    const pnc_groups groups = {.exist = true, .ndims = 1, .nvars = 2, .n = 1, .paths = paths};
    char title[] = "h\n\nlo";

    pnc_netcdf4_head_write(&w, NC_FORMAT_NETCDF4, 2, 4, &groups);
    pnc_netcdf4_dim_write(&w, "time", 5, true);
    pnc_netcdf4_dim_write(&w, "x", 7, false);
    pnc_netcdf4_count_write(&w, 1);
    pnc_netcdf4_att_write(
        &w, "title",
        &(pnc_att){.type = NC_CHAR, .len = 5, .value = title, .strings = {3, (const int64_t[]){1, -1, 2}}});
    pnc_netcdf4_var_write(&w, "a", NC_FLOAT, 2, ids);
    pnc_netcdf4_count_write(&w, 0);
    pnc_netcdf4_storage_write(&w, &s, 2);
    pnc_netcdf4_var_write(&w, "b", NC_SHORT, 1, ids + 1);
    pnc_netcdf4_count_write(&w, 1);
    pnc_netcdf4_att_write(&w, "numbers", &(pnc_att){.type = NC_INT, .len = 2, .value = (int[]){-3, 70000}});
    s = (pnc_netcdf4_storage){.layout = PNC_NETCDF4_COMPACT,
                              .is_big_endian = true,
                              .path = "b",
                              .extent = lengths + 1,
                              .address = -1,
                              .nbytes = 14,
                              .bytes = (const unsigned char *)"abcdefghijklmn"};
    pnc_netcdf4_storage_write(&w, &s, 1);
    pnc_netcdf4_var_write(&w, "c", NC_DOUBLE, 2, ids);
    pnc_netcdf4_count_write(&w, 0);
    s = (pnc_netcdf4_storage){.layout = PNC_NETCDF4_CHUNKED,
                              .path = "_nc4_non_coord_c",
                              .extent = lengths,
                              .address = -1,
                              .chunk = chunk,
                              .filters = {2, filters},
                              .nplaces = 6,
                              .places = places};
    pnc_netcdf4_storage_write(&w, &s, 2);
    pnc_netcdf4_var_write(&w, "d", NC_STRING, 1, ids);
    pnc_netcdf4_count_write(&w, 0);
    s = (pnc_netcdf4_storage){.layout = PNC_NETCDF4_UNREADABLE, .path = "d", .extent = lengths, .address = -1};
    pnc_netcdf4_storage_write(&w, &s, 1);
    assert_false(w.failed);
    return w;
}

static int decode(const char *bytes, int64_t n, int64_t file_size, pnc_model *model, pnc_region *region,
                  pnc_netcdf4_storage **storage)
{
    pnc_error error = {0};

    return pnc_netcdf4_description_decode(bytes, n, file_size, model, region, storage, &error);
}

static void test_sample(void **state)
{
    pnc_netcdf4_writer w = write_sample();
    pnc_netcdf4_storage *s;
    pnc_model model = {0};
    pnc_region region = {0};
    (void)state;

    assert_int_equal(decode(w.bytes, w.n, FILE_SIZE, &model, &region, &s), NC_NOERR);
    assert_int_equal(model.format, NC_FORMAT_NETCDF4);
    assert_int_equal(model.groups.n, 1);
    assert_string_equal(model.groups.paths[0], "forecast");
    assert_int_equal(model.ndims, 2);
    assert_int_equal(model.recdim, 0);
    assert_int_equal(pnc_format_dim_get_length(&model, 0), 5);
    assert_int_equal(model.nvars, 4);
    assert_int_equal(model.vars[2]->size, 5 * 7 * 8);
    assert_memory_equal(model.gatts.at[0]->value, "h\n\nlo", 5);
    assert_int_equal(model.gatts.at[0]->strings.n, 3);
    assert_int_equal(model.gatts.at[0]->strings.lengths[1], -1);
    assert_int_equal(model.gatts.at[0]->strings.lengths[2], 2);
    assert_int_equal(((const int *)model.vars[1]->atts.at[0]->value)[1], 70000);
    assert_int_equal(s[0].address, 4096);
    assert_false(model.vars[1]->little);
    assert_memory_equal(s[1].bytes, "abcdefghijklmn", 14);
    assert_int_equal(s[2].filters.nfilters, 2);
    assert_int_equal(s[2].filters.filters[1].parameters[0], 1);
    assert_int_equal(s[2].nplaces, 6);
    assert_int_equal(s[2].places[5].offset, 2000);
    assert_string_equal(s[2].path, "_nc4_non_coord_c");
    assert_int_equal(s[3].layout, PNC_NETCDF4_UNREADABLE);
    pnc_format_model_free(&model);
    pnc_region_free(&region);
    free(w.bytes);
}

/* The bytes are copied to memory of their size, so that a sanitizer finds what reads beyond them. */
static int decode_copy(const char *bytes, int64_t n, int64_t file_size)
{
    char *copy = malloc((size_t)(n > 0 ? n : 1));
    pnc_netcdf4_storage *s;
    pnc_model model = {0};
    pnc_region region = {0};
    int err;

    assert_non_null(copy);
    memcpy(copy, bytes, (size_t)n);
    err = decode(copy, n, file_size, &model, &region, &s);
    if (err != NC_NOERR && err != NC_EHDFERR && err != NC_ENOMEM)
        fail_msg("code %d", err);
    pnc_format_model_free(&model);
    pnc_region_free(&region);
    free(copy);
    return err;
}

static void test_short(void **state)
{
    pnc_netcdf4_writer w = write_sample();
    (void)state;

    for (int64_t n = 0; n < w.n; n++)
        assert_int_equal(decode_copy(w.bytes, n, FILE_SIZE), NC_EHDFERR);
    free(w.bytes);
}

/* Data at byte 4096 do not fit into a file of 4096 bytes. */
static void test_short_file(void **state)
{
    pnc_netcdf4_writer w = write_sample();
    (void)state;

    assert_int_equal(decode_copy(w.bytes, w.n, 4096 + 140), NC_NOERR);
    assert_int_equal(decode_copy(w.bytes, w.n, 4096 + 139), NC_EHDFERR);
    assert_int_equal(decode_copy(w.bytes, w.n, 0), NC_EHDFERR);
    free(w.bytes);
}

static void test_hostile_numbers(void **state)
{
    static const int64_t numbers[] = {-1,
                                      0,
                                      1,
                                      2,
                                      3,
                                      33,
                                      1000,
                                      INT32_MAX,
                                      (int64_t)INT32_MAX + 1,
                                      UINT32_MAX,
                                      INT64_C(1) << 40,
                                      INT64_MAX / 8,
                                      INT64_MAX - 7,
                                      INT64_MAX,
                                      INT64_MIN};
    pnc_netcdf4_writer w = write_sample();
    int refused = 0;
    (void)state;

    for (int64_t at = 0; at + 8 <= w.n; at += 8)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            int64_t before;

            memcpy(&before, w.bytes + at, 8);
            memcpy(w.bytes + at, &numbers[i], 8);
            refused += decode_copy(w.bytes, w.n, FILE_SIZE) != NC_NOERR;
            memcpy(w.bytes + at, &before, 8);
        }
    assert_true(refused > 500);
    free(w.bytes);
}

static void test_damaged(void **state)
{
    pnc_netcdf4_writer w = write_sample();
    uint64_t random = 1;
    (void)state;

    for (int round = 0; round < 20000; round++) {
        char before[4];
        int64_t at[4];

        for (int i = 0; i < 4; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            at[i] = (int64_t)((random >> 33) % (uint64_t)w.n);
            before[i] = w.bytes[at[i]];
            w.bytes[at[i]] = (char)(random >> 20);
        }
        decode_copy(w.bytes, w.n, FILE_SIZE);
        for (int i = 3; i >= 0; i--)
            w.bytes[at[i]] = before[i];
    }
    assert_int_equal(decode_copy(w.bytes, w.n, FILE_SIZE), NC_NOERR);
    free(w.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sample), cmocka_unit_test(test_short),
                                       cmocka_unit_test(test_short_file), cmocka_unit_test(test_hostile_numbers),
                                       cmocka_unit_test(test_damaged)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
