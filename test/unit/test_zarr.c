/* Documents of Zarr by hand: keys and indexes of shards against bytes by hand, what messages say about damaged
 * documents, rules for dimensions and types, filters of netCDF as codecs. test_zarr_documents.py compares with other
 * programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "drivers/folder/folder.h"
#include "formats/zarr/changes.h"
#include "formats/zarr/document.h"
#include "formats/zarr/index.h"
#include "host/codecs.h"
#include "host/json.h"

/* --- keys --- */

static void check_key(bool has_prefix, char separator, int ndims, const char *key)
{
    static const int64_t shape[] = {100, 7, INT64_C(1) << 60}, chunks[] = {10, 7, 1}, at[] = {9, 0, 123456789012};
    const pnc_zarr_array array = {
        .ndims = ndims, .shape = shape, .chunks = chunks, .has_prefix = has_prefix, .separator = separator};
    char text[PNC_ZARR_KEY_MOST];
    int64_t back[3] = {-1, -1, -1};

    assert_int_equal(pnc_zarr_key_write(&array, at, text), strlen(key));
    assert_string_equal(text, key);
    assert_true(pnc_zarr_key_parse(&array, key, back));
    for (int i = 0; i < ndims; i++)
        assert_int_equal(back[i], at[i]);
}

static void test_keys(void **state)
{
    static const int64_t shape[] = {100, 7}, chunks[] = {10, 7};
    static const char *const bad[] = {"c/9", "c/9/0/0", "c/10/0", "c/-1/0", "c/09/0", "c/9/1",
                                      "9/0", "c/9.0",   "c/9/",   "c//0",   "c/9/0 ", "c/99999999999999999999/0"};
    const pnc_zarr_array array = {.ndims = 2, .shape = shape, .chunks = chunks, .has_prefix = true, .separator = '/'};
    int64_t at[2];

    (void)state;
    check_key(true, '/', 3, "c/9/0/123456789012");
    check_key(true, '.', 2, "c.9.0");
    check_key(false, '.', 2, "9.0");
    check_key(false, '/', 1, "9");
    check_key(true, '/', 0, "c");
    check_key(false, '.', 0, "0");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(pnc_zarr_key_parse(&array, bad[i], at));
    assert_true(pnc_zarr_key_is_safe("a/b.c/..d") && pnc_zarr_key_is_safe("a"));
    assert_false(pnc_zarr_key_is_safe("") || pnc_zarr_key_is_safe("/a") || pnc_zarr_key_is_safe("a/../b"));
    assert_false(pnc_zarr_key_is_safe("..") || pnc_zarr_key_is_safe("a//b") || pnc_zarr_key_is_safe("a/") ||
                 pnc_zarr_key_is_safe("./a") || pnc_zarr_key_is_safe("a\nb"));
}

static void test_names(void **state)
{
    static const char *const bad[] = {"__a", "a/__b", "zarr.json", "a/zarr.json", ".", "..", "..."};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(pnc_zarr_name_check(bad[i], NULL), NC_EBADNAME);
    assert_int_equal(pnc_zarr_name_check("_a/b.c/c", NULL), NC_NOERR);
    assert_int_equal(pnc_zarr_name_check("zarr.json2", NULL), NC_NOERR);
}

/* --- indexes --- */

static const int64_t shard_chunks[] = {4, 2}, shard_inner[] = {2, 2};
/* Chunks 0 and 1, at 100 with 7 bytes, and absent; the checksum is that of google-crc32c. */
static const unsigned char index_bytes[] = {100,  0,    0,    0,    0,    0,    0,    0,    7,    0,    0,    0,
                                            0,    0,    0,    0,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xED, 0xE9, 0x83, 0x0A};

static void test_indexes(void **state)
{
    pnc_zarr_array array = {.ndims = 2, .chunks = shard_chunks, .inner = shard_inner, .index = {.has_sum = true}};
    pnc_zarr_place places[2] = {{100, 7}, {-1, 0}};
    unsigned char out[sizeof index_bytes], damaged[sizeof index_bytes];
    pnc_error error = {0};

    (void)state;
    assert_int_equal(pnc_zarr_index_count(&array), 2);
    assert_int_equal(pnc_zarr_index_get_bytes(&array), sizeof index_bytes);
    assert_int_equal(pnc_zarr_index_get_offset(&array, 150), 150 - (int)sizeof index_bytes);
    assert_true(pnc_zarr_index_get_offset(&array, 35) < 0);
    pnc_zarr_index_encode(&array, places, out);
    assert_memory_equal(out, index_bytes, sizeof out);
    memset(places, 0, sizeof places);
    assert_int_equal(pnc_zarr_index_decode(&array, index_bytes, 143, places, &error), NC_NOERR);
    assert_true(places[0].offset == 100 && places[0].bytes == 7 && places[1].offset == -1);
    assert_int_equal(pnc_zarr_index_decode(&array, index_bytes, 142, places, &error), NC_ENCZARR);
    assert_non_null(strstr(error.text, "chunk 0 has 7 bytes at 100"));
    array.index.is_at_start = true;
    assert_int_equal(pnc_zarr_index_get_offset(&array, 150), 0);
    assert_int_equal(pnc_zarr_index_decode(&array, index_bytes, 107, places, NULL), NC_NOERR);
    assert_int_equal(pnc_zarr_index_decode(&array, index_bytes, 106, places, NULL), NC_ENCZARR);
    for (size_t i = 0; i < sizeof damaged; i++) {
        memcpy(damaged, index_bytes, sizeof damaged);
        damaged[i] ^= 1;
        assert_int_equal(pnc_zarr_index_decode(&array, damaged, 150, places, NULL), NC_ENCZARR);
    }
    array.index = (pnc_zarr_index){.is_at_start = true, .is_big_endian = true};
    places[0] = (pnc_zarr_place){31, 1};
    places[1] = (pnc_zarr_place){32, 0};
    pnc_zarr_index_encode(&array, places, out);
    assert_int_equal(out[7], 31);
    assert_int_equal(pnc_zarr_index_decode(&array, out, 150, places, NULL), NC_ENCZARR); /* it overlaps the index */
    places[0] = (pnc_zarr_place){32, 1};
    pnc_zarr_index_encode(&array, places, out);
    pnc_error_clear(&error);
    assert_int_equal(pnc_zarr_index_decode(&array, out, 150, places, &error), NC_ENCZARR);
    assert_non_null(strstr(error.text, "chunk 1 has no bytes"));
}

/* --- documents --- */

#define GROUP "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {"
#define ARRAY(shape, more)                                                                                         \
    "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": " shape                                             \
    ", \"data_type\": \"float32\", \"chunk_grid\": "                                                               \
    "{\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [2, 3]}}, \"chunk_key_encoding\": \"default\", " \
    "\"fill_value\": 0" more "}"
#define BYTES ", \"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]"
#define NAMES ", \"dimension_names\": [\"y\", \"x\"]"

static int decode(const char *group, const char *a, const char *b, pnc_region *region, pnc_zarr_store *store,
                  pnc_error *error)
{
    const pnc_zarr_document documents[] = {{"b/zarr.json", b, (int64_t)strlen(b), false},
                                           {"zarr.json", group, (int64_t)strlen(group), false},
                                           {"a/zarr.json", a, (int64_t)strlen(a), false}};

    pnc_error_clear(error);
    return pnc_zarr_store_decode(pnc_host_json_get(), documents, 3, PNC_ZARR_GROUPS_BY_PATH, region, store, error);
}

static void skip_without_json(void)
{
    pnc_error error = {0};

    if (pnc_host_json_get() != NULL)
        return;
    assert_int_equal(decode("", "", "", NULL, NULL, &error), NC_ENOTBUILT);
    skip();
}

static void test_damaged(void **state)
{
    static const struct {
        const char *a, *message;
    } rows[] = {{"", "a/zarr.json: at byte 0 it is not JSON"},
                {"{\"a\": 1, \"a\": 2}", "a/zarr.json: an object has a key twice"},
                {"{'a': 1}", "has a '"},
                {"[]", "it is not an object"},
                {"{\"zarr_format\": 4}", "\"zarr_format\" is not 3"},
                {"{\"zarr_format\": 3, \"node_type\": \"link\"}", "neither \"array\" nor \"group\""},
                {ARRAY("[4, -6]", BYTES), "number 1 of \"shape\" is not an integer from 0"},
                {ARRAY("[4, 6.0]", BYTES), "number 1 of \"shape\""},
                {ARRAY("[1152921504606846976, 1152921504606846976]", BYTES), "more values than 64 bits count"},
                {ARRAY("[4]", BYTES), "\"chunk_shape\" has 2 numbers, but \"shape\" 1"},
                {ARRAY("[4, 6]", ""), "it has no member \"codecs\""},
                {ARRAY("[4, 6]", ", \"codecs\": []"), "none that makes bytes"},
                {ARRAY("[4, 6]", BYTES ", \"dimension_names\": [\"y\"]"), "\"dimension_names\" is not a list of 2"},
                {ARRAY("[4, 6]",
                       ", \"codecs\": [{\"name\": \"transpose\", \"configuration\": {\"order\": [1, 1]}}, "
                       "\"bytes\"]"),
                 "each axis once"}};
    pnc_zarr_store store;
    pnc_error error = {0};

    (void)state;
    skip_without_json();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pnc_region region = {0};

        assert_int_equal(decode(GROUP "}}", rows[i].a, ARRAY("[4, 6]", BYTES), &region, &store, &error), NC_ENCZARR);
        if (strstr(error.text, rows[i].message) == NULL)
            fail_msg("%s: %s", rows[i].message, error.text);
        pnc_region_free(&region);
    }
}

static void test_deep_and_large(void **state)
{
    static char deep[2000], many[3000001];
    pnc_region region = {0};
    pnc_zarr_store store;
    pnc_error error = {0};

    (void)state;
    skip_without_json();
    memset(deep, '[', sizeof deep - 1);
    assert_int_equal(decode(deep, "", "", &region, &store, &error), NC_ENCZARR);
    memset(many, '{', sizeof many - 1); /* would be gigabytes in memory */
    assert_int_equal(decode(many, "", "", &region, &store, &error), NC_ENCZARR);
    assert_non_null(strstr(error.text, "too many values"));
    pnc_region_free(&region);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *a, *message;
    } rows[] = {{ARRAY("[4, 6]", ", \"codecs\": [\"bytes\", \"lzma\"]"), "codec \"lzma\""},
                {ARRAY("[4, 6]", ", \"codecs\": [\"bytes\", \"numcodecs.lz4\"]"), "codec \"numcodecs.lz4\""},
                {ARRAY("[4, 6]", BYTES ", \"extra\": {}"), "\"extra\""},
                {ARRAY("[4, 6]", BYTES ", \"storage_transformers\": [{\"name\": \"x\"}]"), "storage transformers"}};
    pnc_zarr_store store;
    pnc_model model = {0};
    pnc_error error = {0};

    (void)state;
    skip_without_json();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pnc_region region = {0};

        assert_int_equal(decode(GROUP "}}", rows[i].a, ARRAY("[4, 6]", BYTES), &region, &store, &error), NC_NOERR);
        assert_non_null(store.arrays[1].refusal);
        assert_null(store.arrays[0].refusal);
        assert_string_equal(store.arrays[1].path, "a");
        assert_non_null(strstr(store.arrays[1].refusal, rows[i].message));
        assert_int_equal(pnc_zarr_model_make(&store, 0, PNC_ZARR_GROUPS_BY_PATH, &model, &error), NC_NOERR);
        assert_int_equal(model.vars[1]->storage->layout, NC_UNKNOWN_STORAGE);
        pnc_format_model_free(&model);
        pnc_region_free(&region);
    }
}

static void test_dimensions(void **state)
{
    static const char about[] = GROUP
        "\"_ncmpi\": {\"version\": 1, \"dimensions\": [[\"y\", 3, true], [\"old\", 9], "
        "[\"x\", 8]], \"variables\": [\"a\", \"b\"]}}}";
    static const char hostile[] = GROUP
        "\"_ncmpi\": {\"version\": 1, \"dimensions\": [[\"k/x\", 6], [\"y\", 4], "
        "[\"x\", 6]], \"axes\": {\"a\": [\"y\", \"k/x\"], \"b\": 3}}}}";
    pnc_region region = {0};
    pnc_zarr_store store;
    pnc_model model = {0};
    pnc_error error = {0};

    (void)state;
    skip_without_json();
    /* an array of the root cannot have a dimension of a group, which may be hidden */
    assert_int_equal(
        decode(hostile, ARRAY("[4, 6]", BYTES NAMES), ARRAY("[4, 6]", BYTES NAMES), &region, &store, &error), NC_NOERR);
    assert_int_equal(pnc_zarr_model_make(&store, 0, PNC_ZARR_GROUPS_HIDDEN, &model, &error), NC_NOERR);
    assert_int_equal(model.ndims, 2);
    assert_string_equal(model.dims[model.vars[0]->dimids[1]]->name, "x");
    pnc_format_model_free(&model);
    assert_int_equal(
        decode(GROUP "}}", ARRAY("[4, 6]", BYTES NAMES), ARRAY("[5, 6]", BYTES NAMES), &region, &store, &error),
        NC_NOERR);
    assert_int_equal(store.ndims, 3);
    assert_string_equal(store.dims[0].name, "y");
    assert_string_equal(store.dims[2].name, "y_4");
    assert_int_equal(store.arrays[1].dimids[0], 2);
    /* the other program has appended along y, and made x shorter: 8 is nowhere */
    assert_int_equal(decode(about, ARRAY("[4, 6]", BYTES NAMES), ARRAY("[5, 6]", BYTES NAMES), &region, &store, &error),
                     NC_NOERR);
    assert_int_equal(store.ndims, 3);
    assert_true(store.dims[0].is_unlimited && store.dims[0].length == 5 && store.dims[2].length == 6);
    assert_string_equal(store.arrays[0].path, "a");
    assert_int_equal(pnc_zarr_model_make(&store, 0, PNC_ZARR_GROUPS_BY_PATH, &model, &error), NC_NOERR);
    assert_int_equal(model.numrecs, 5);
    assert_int_equal(model.ndims, 3);
    assert_true(model.vars[0]->is_record && model.vars[1]->is_record);
    pnc_format_model_free(&model);
    assert_int_equal(decode(GROUP "}}", ARRAY("[4, 4]", BYTES), ARRAY("[5, 0]", BYTES), &region, &store, &error),
                     NC_NOERR);
    assert_int_equal(store.ndims, 3);
    assert_string_equal(store.dims[store.arrays[1].dimids[0]].name, "dim_4");
    assert_true(store.dims[store.arrays[0].dimids[1]].is_unlimited);
    pnc_region_free(&region);
}

/* --- filters --- */

static void check_map(const pnc_filter *filters, int n, const char *codecs)
{
    static pnc_storage storage;
    pnc_var var = {.name = (char *)(uintptr_t) "v", .type = NC_FLOAT, .storage = &storage};
    pnc_region region = {0};
    pnc_filter_chain chain, back;
    char text[200] = "";

    storage = (pnc_storage){.nfilters = n};
    if (n > 0)
        memcpy(storage.filters, filters, (size_t)n * sizeof *filters);
    assert_int_equal(pnc_zarr_filters_derive(&var, &region, &chain, NULL), NC_NOERR);
    for (int i = 0; i < chain.nfilters; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? "/" : "",
                 pnc_filter_name_get(chain.filters[i].id));
        for (int k = 0; k < chain.filters[i].nparameters; k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), ":%d", (int)chain.filters[i].parameters[k]);
    }
    assert_string_equal(text, codecs);
    assert_int_equal(pnc_zarr_filters_find(&chain, &region, &back, NULL), NC_NOERR);
    storage.nfilters = back.nfilters;
    for (int i = 0; i < back.nfilters; i++)
        storage.filters[i] = back.filters[i];
    assert_int_equal(pnc_zarr_filters_derive(&var, &region, &back, NULL), NC_NOERR);
    assert_int_equal(back.nfilters, chain.nfilters); /* what is found becomes the same codecs */
    for (int i = 0; i < back.nfilters; i++) {
        assert_int_equal(back.filters[i].id, chain.filters[i].id);
        assert_memory_equal(back.filters[i].parameters, chain.filters[i].parameters,
                            (size_t)chain.filters[i].nparameters * sizeof(uint32_t));
    }
    pnc_region_free(&region);
}

static void test_filters(void **state)
{
    static const uint32_t four[] = {4}, minus[] = {(uint32_t)-7}, blosc[] = {2, 2, 4, 0, 7, 2, 1};
    const pnc_filter shuffle = {PNC_FILTER_SHUFFLE, true, 0, NULL}, deflate = {PNC_FILTER_DEFLATE, true, 1, four};
    const pnc_filter zstd = {PNC_FILTER_ZSTD, true, 1, four}, fletcher32 = {PNC_FILTER_FLETCHER32, false, 0, NULL};
    const pnc_filter fast = {PNC_FILTER_ZSTD, true, 1, minus}, plugin = {32001, true, 7, blosc};
    const pnc_filter szip = {PNC_FILTER_SZIP, true, 0, NULL};
    pnc_storage storage = {.nfilters = 1};
    pnc_var var = {.name = (char *)(uintptr_t) "v", .type = NC_FLOAT, .storage = &storage};
    pnc_filter_chain chain;
    pnc_region region = {0};
    pnc_error error = {0};

    (void)state;
    check_map(NULL, 0, "");
    check_map(&shuffle, 1, "");
    check_map(&deflate, 1, "gzip:4");
    check_map((const pnc_filter[]){shuffle, deflate}, 2, "blosc:4:4:1:4:0");
    check_map(&zstd, 1, "zstd:4");
    check_map(&fast, 1, "zstd:-7");
    check_map((const pnc_filter[]){shuffle, zstd}, 2, "blosc:5:2:1:4:0");
    check_map((const pnc_filter[]){shuffle, fast, fletcher32}, 3, "blosc:5:1:1:4:0/crc32c");
    check_map(&plugin, 1, "blosc:1:7:2:4:0");
    check_map(&fletcher32, 1, "crc32c");
    storage.filters[0] = szip;
    assert_int_equal(pnc_zarr_filters_derive(&var, &region, &chain, &error), NC_EFILTER);
    assert_non_null(strstr(error.text, "szip (id 4)"));
    pnc_region_free(&region);
}

/* --- the log --- */

/* A log of several portions, one change of which is larger than a portion, is executed in all; a damaged one in
 * nothing, wherever it is damaged. */
typedef struct log_fixture {
    char path[64];
    pnc_folder folder;
    pnc_zarr_changes changes;
    pnc_error error;
    char *index;
} log_fixture;

enum { LOG_KEYS = 9, SMALL_INDEX = 300 << 10, LARGE_INDEX = 5 << 19, LOG_ID = 7 };

static const char *name_key(int i)
{
    static char key[32];

    snprintf(key, sizeof key, "v/c.%d", i);
    return key;
}

static int64_t size_index(int i)
{
    return i == 4 ? LARGE_INDEX : SMALL_INDEX;
}

static void make_log(log_fixture *x)
{
    const pnc_objects *o = &x->folder.objects;

    strcpy(x->path, "/tmp/test_zarr.XXXXXX");
    assert_non_null(mkdtemp(x->path));
    assert_int_equal(pnc_folder_root_open(&x->folder, x->path, &x->error), NC_NOERR);
    x->index = malloc(LARGE_INDEX);
    for (int i = 0; i < LOG_KEYS; i++) {
        memset(x->index, 0, LARGE_INDEX);
        assert_int_equal(o->ops->create(o, name_key(i), x->index, size_index(i), false, &x->error), NC_NOERR);
        memset(x->index, i + 1, LARGE_INDEX);
        assert_int_equal(
            pnc_zarr_changes_add(&x->changes, PNC_ZARR_CHANGE_INDEX, name_key(i), x->index, size_index(i), &x->error),
            NC_NOERR);
    }
    assert_int_equal(pnc_zarr_log_write(o, LOG_ID, 0, &x->changes, &x->error), NC_NOERR);
    assert_int_equal(pnc_zarr_log_begin(o, LOG_ID, &x->changes, &x->error), NC_NOERR);
}

/* Whether all keys have the new bytes, or all the old ones. */
static bool have_bytes(log_fixture *x, bool is_new)
{
    const pnc_objects *o = &x->folder.objects;
    bool good = true;

    for (int i = 0; i < LOG_KEYS && good; i++) {
        assert_int_equal(o->ops->read(o, name_key(i), 0, x->index, size_index(i), &x->error), NC_NOERR);
        for (int64_t k = 0; k < size_index(i) && good; k++)
            good = x->index[k] == (is_new ? i + 1 : 0);
    }
    return good;
}

static void damage_log(log_fixture *x, int64_t at)
{
    const pnc_objects *o = &x->folder.objects;
    char byte;

    assert_int_equal(o->ops->read(o, PNC_ZARR_LOG, at, &byte, 1, &x->error), NC_NOERR);
    byte ^= 1;
    assert_int_equal(o->ops->write(o, PNC_ZARR_LOG, at, &byte, 1, &x->error), NC_NOERR);
}

static void test_log(void **state)
{
    const int64_t spots[] = {3, 200, SMALL_INDEX, 5 * SMALL_INDEX, 5 * SMALL_INDEX + LARGE_INDEX};
    log_fixture x = {.index = NULL};
    bool found = false;

    (void)state;
    make_log(&x);
    for (size_t i = 0; i < sizeof spots / sizeof *spots; i++) {
        damage_log(&x, spots[i]);
        assert_int_equal(pnc_zarr_log_execute(&x.folder.objects, &found, &x.error), NC_ENCZARR);
        assert_non_null(strstr(x.error.text, "damaged"));
        assert_true(found && have_bytes(&x, false));
        damage_log(&x, spots[i]);
    }
    assert_int_equal(pnc_zarr_log_execute(&x.folder.objects, &found, &x.error), NC_NOERR);
    assert_true(found && have_bytes(&x, true));
    assert_int_equal(pnc_zarr_log_execute(&x.folder.objects, &found, &x.error), NC_NOERR);
    assert_false(found);
    assert_int_equal(pnc_folder_content_delete(&x.folder, &x.error), NC_NOERR);
    pnc_folder_root_close(&x.folder);
    rmdir(x.path);
    pnc_zarr_changes_free(&x.changes);
    free(x.index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),       cmocka_unit_test(test_names),          cmocka_unit_test(test_indexes),
        cmocka_unit_test(test_damaged),    cmocka_unit_test(test_deep_and_large), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_dimensions), cmocka_unit_test(test_filters),        cmocka_unit_test(test_log),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
