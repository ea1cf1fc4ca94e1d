/* Grids of chunks against a model that places one element at a time, and the cache of chunks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "drivers/chunks/cache.h"
#include "drivers/chunks/grid.h"

static uint64_t random_state = 1;

static int64_t draw(int64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

/* Where the byte at an offset is: the number of its chunk, or -1, and the offset there. */
static void place_byte(const pnc_chunk_array *a, int64_t offset, int64_t *chunk, int64_t *within)
{
    int64_t element = offset / a->elem_size, index[PNC_ARRAY_DIMS], number = 0, inside = 0;

    for (int i = a->ndims - 1; i >= 0; i--) {
        index[i] = element % a->shape[i];
        element /= a->shape[i];
    }
    *chunk = 0;
    for (int i = 0; i < a->ndims; i++) {
        number = number * ((a->shape[i] + a->chunk[i] - 1) / a->chunk[i]) + index[i] / a->chunk[i];
        inside = inside * a->chunk[i] + index[i] % a->chunk[i];
        if (index[i] >= a->extent[i])
            *chunk = -1;
    }
    if (*chunk == 0)
        *chunk = number;
    *within = inside * a->elem_size + offset % a->elem_size;
}

static void check_index(const pnc_chunk_array *a, int64_t offset)
{
    int64_t chunk, within, index[PNC_ARRAY_DIMS], at = 0, found;
    bool is_partial = false;
    pnc_chunk_grid grid;

    place_byte(a, offset, &chunk, &within);
    if (chunk < 0)
        return;
    pnc_chunks_grid_init(&grid, a);
    found = pnc_chunks_grid_find_index(&grid, chunk, index);
    for (int i = 0; i < a->ndims; i++) {
        assert_int_equal(index[i] % a->chunk[i], 0);
        assert_true(index[i] < a->extent[i]);
        at = at * a->shape[i] + index[i];
        is_partial = is_partial || index[i] + a->chunk[i] > a->extent[i];
    }
    assert_int_equal(found, is_partial);
    place_byte(a, at * a->elem_size, &found, &within);
    assert_int_equal(found, chunk);
    assert_int_equal(within, 0);
}

static void test_grids(void **state)
{
    static const int sizes[] = {1, 2, 4, 8};
    (void)state;

    for (int round = 0; round < 5000; round++) {
        int64_t shape[4], extent[4], chunk[4], bytes;
        pnc_chunk_array a = {.ndims = 1 + (int)draw(4), .shape = shape, .extent = extent, .chunk = chunk};

        a.elem_size = sizes[draw(4)];
        bytes = a.elem_size;
        for (int i = 0; i < a.ndims; i++) {
            shape[i] = 1 + draw(6);
            extent[i] = draw(3) == 0 ? draw(shape[i] + 1) : shape[i];
            chunk[i] = draw(3) == 0 ? shape[i] : 1 + draw(6);
            bytes *= shape[i];
        }
        check_index(&a, draw(bytes));
    }
}

static void test_cache(void **state)
{
    pnc_chunk_cache cache = {.most = 1000};
    (void)state;

    for (int i = 0; i < 5000; i++) {
        int64_t array = draw(3), chunk = draw(40);
        unsigned char *bytes = pnc_chunks_cache_find(&cache, array, chunk);

        if (bytes == NULL) {
            bytes = pnc_chunks_cache_add(&cache, array, chunk, 100);
            assert_non_null(bytes);
            bytes[99] = (unsigned char)(array * 40 + chunk);
        }
        assert_int_equal(bytes[99], array * 40 + chunk);
        assert_true(cache.bytes <= 1000);
        assert_ptr_equal(pnc_chunks_cache_find(&cache, array, chunk), bytes); /* the last one used stays */
    }
    assert_non_null(pnc_chunks_cache_add(&cache, 9, 9, 5000)); /* larger than the bound: it is the only one */
    assert_int_equal(cache.bytes, 5000);
    pnc_chunks_cache_undo(&cache);
    assert_int_equal(cache.bytes, 0);
    assert_null(pnc_chunks_cache_find(&cache, 9, 9));
    pnc_chunks_cache_clear(&cache);
}

/* Small chunks are many, and have more memory than their bytes. */
static void test_many_in_cache(void **state)
{
    enum { MANY = 20000, MOST = 4 << 20 };
    pnc_chunk_cache cache = {.most = MOST};
    int64_t before = pnc_memory_get_peak(), found = 0;
    (void)state;

    for (int i = 0; i < MANY; i++) {
        unsigned char *bytes = pnc_chunks_cache_add(&cache, i % 7, i, 8);

        assert_non_null(bytes);
        memcpy(bytes, &i, sizeof i);
    }
    for (int i = MANY - 1; i >= 0; i--) {
        const unsigned char *bytes = pnc_chunks_cache_find(&cache, i % 7, i);

        if (bytes == NULL)
            continue;
        assert_memory_equal(bytes, &i, sizeof i);
        found++;
    }
    assert_int_equal(found, MOST / 256);
    assert_true(pnc_memory_get_peak() - before < MOST);
    pnc_chunks_cache_clear(&cache);
    for (int i = 0; i < PNC_CACHE_BUCKETS; i++)
        assert_null(cache.few[i]);
    assert_null(pnc_chunks_cache_find(&cache, 0, 0));
    assert_non_null(pnc_chunks_cache_add(&cache, 0, 0, 8));
    pnc_chunks_cache_clear(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grids), cmocka_unit_test(test_cache),
                                       cmocka_unit_test(test_many_in_cache)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
