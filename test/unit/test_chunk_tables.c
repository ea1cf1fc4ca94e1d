/* The aggregators of chunks, and the tables of chunks that wait, are pending or are placed, against plain arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "drivers/chunks/aggregator.h"
#include "drivers/chunks/dirty.h"
#include "drivers/chunks/pending.h"
#include "drivers/chunks/places.h"

static uint64_t random_state = 5;

static int64_t draw(int64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

/* The most and the fewest chunks of a rank, of `n` chunks from `begin` on. */
static void count_chunks(int64_t begin, int64_t n, int64_t row, int64_t first, int nprocs, int64_t *least,
                         int64_t *most)
{
    int64_t *counts = calloc((size_t)nprocs, sizeof *counts);

    assert_non_null(counts);
    for (int64_t i = begin; i < begin + n; i++) {
        int rank = pnc_chunks_aggregator_find(i, row, first, nprocs);

        assert_in_range(rank, 0, nprocs - 1);
        assert_int_equal(rank, pnc_chunks_aggregator_find(i, row, first, nprocs));
        counts[rank]++;
    }
    *least = INT64_MAX;
    *most = 0;
    for (int rank = 0; rank < nprocs; rank++) {
        *least = counts[rank] < *least ? counts[rank] : *least;
        *most = counts[rank] > *most ? counts[rank] : *most;
    }
    free(counts);
}

static void test_balance(void **state)
{
    static const int nprocs[] = {1, 2, 3, 7, 64, 1000};
    static const int64_t rows[] = {1, 2, 5, 64, 100, 999, 1001, 12345};
    int64_t least, most;
    (void)state;

    for (int p = 0; p < 6; p++)
        for (int r = 0; r < 8; r++) {
            count_chunks(0, rows[r], rows[r], 3, nprocs[p], &least, &most); /* one row */
            assert_true(most - least <= 1);
            count_chunks(0, rows[r] * nprocs[p], rows[r], 3, nprocs[p], &least, &most); /* as many as ranks */
            assert_true(most <= 2 * (rows[r] + nprocs[p]) && least > 0);
        }
    count_chunks(0, 100000, 0, 3, 64, &least, &most); /* scattered: 1562 each, sqrt of it 40 */
    assert_true(least > 1562 - 240 && most < 1562 + 240);
}

/* Blocks of a row ascend with the ranks; a huge number does not overflow; small arrays begin at different ranks. */
static void test_blocks(void **state)
{
    int64_t row = INT64_C(1) << 61;
    int begins[4] = {0};
    (void)state;

    for (int64_t i = 1; i < 1000; i++)
        assert_true(pnc_chunks_aggregator_find(i - 1, 1000, 5, 7) <= pnc_chunks_aggregator_find(i, 1000, 5, 7));
    assert_int_equal(pnc_chunks_aggregator_find(0, row, 0, 1000000), 0);
    assert_int_equal(pnc_chunks_aggregator_find(row - 1, row, 0, 1000000), 999999);
    for (int array = 0; array < 4; array++)
        begins[pnc_chunks_aggregator_find(0, 1, array, 4)]++;
    for (int rank = 0; rank < 4; rank++)
        assert_int_equal(begins[rank], 1);
}

/* The bytes of n elements from `first` on. */
static void put_run(pnc_dirty *dirty, pnc_dirty_chunk *d, int64_t first, int64_t n, const void *bytes)
{
    pnc_packed_values packed = {bytes, d->elem_size};
    const pnc_chunk_values values = pnc_chunks_packed_get_values(&packed);
    const pnc_box box = {.at = first, .run = n, .n = n};

    pnc_chunks_dirty_put(dirty, d, &box, &values);
}

/* A chunk that waits: random runs, then the rest from a base or the fill value. */
static void test_dirty(void **state)
{
    static const unsigned char fill[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    unsigned char expected[700], base[700], run[700];
    (void)state;

    for (int round = 0; round < 2000; round++) {
        int size = 1 << draw(4);
        int64_t n = 1 + draw((int64_t)sizeof base / size), covered = 0;
        pnc_dirty dirty = {0};
        pnc_chunk_item item = {.array = 1, .chunk = round};
        pnc_dirty_chunk *d = pnc_chunks_dirty_add(&dirty, &item, n * size, size, n);
        bool has_base = draw(2) == 0, is_covered[700] = {false};

        assert_non_null(d);
        for (int64_t i = 0; i < n * size; i++) {
            base[i] = (unsigned char)draw(256);
            expected[i] = has_base ? base[i] : fill[i % size];
        }
        for (int64_t k = draw(12); k > 0; k--) {
            int64_t first = draw(n), count = 1 + draw(n - first);

            for (int64_t i = 0; i < count * size; i++)
                run[i] = (unsigned char)draw(256);
            for (int64_t i = first; i < first + count; i++) {
                covered += !is_covered[i];
                is_covered[i] = true;
            }
            memcpy(expected + first * size, run, (size_t)(count * size));
            put_run(&dirty, d, first, count, run);
        }
        assert_int_equal(d->covered, covered);
        pnc_chunks_dirty_merge(d, has_base ? base : NULL, fill);
        assert_memory_equal(d->values, expected, (size_t)(n * size));
        assert_int_equal(dirty.waiting_bytes, n * size);
        pnc_chunks_dirty_make_ready(&dirty, d);
        assert_int_equal(dirty.waiting_bytes, 0);
        assert_ptr_equal(pnc_chunks_dirty_take_ready(&dirty), &d->stored.item);
        if (draw(2) == 0)
            pnc_chunks_dirty_remove(&dirty, d);
        pnc_chunks_dirty_free(&dirty);
    }
}

/* Those that wait are in the order in which they were used last. */
static void test_order(void **state)
{
    pnc_dirty dirty = {0};
    int used[20] = {0}, now = 0;
    (void)state;

    for (int i = 0; i < 500; i++) {
        int64_t chunk = draw(20);
        pnc_dirty_chunk *d = pnc_chunks_dirty_find(&dirty, 0, chunk);

        if (d == NULL)
            d = pnc_chunks_dirty_add(&dirty, &(pnc_chunk_item){.chunk = chunk}, 8, 4, 2);
        put_run(&dirty, d, 0, 1, "abcd");
        used[chunk] = ++now;
        for (d = dirty.oldest; d != NULL && d->newer != NULL; d = d->newer)
            assert_true(used[d->stored.item.chunk] < used[d->newer->stored.item.chunk]);
    }
    pnc_chunks_dirty_free(&dirty);
}

/* To an array of bytes. */
static int copy_box(void *own, const char *packed, int64_t head, int64_t length, pnc_error *error)
{
    pnc_packed_values bytes = {packed + head, 1};
    const pnc_chunk_values values = pnc_chunks_packed_get_values(&bytes);
    pnc_box box;

    (void)error;
    assert_int_equal(pnc_chunks_head_unpack(packed, 7, &box), head);
    assert_int_equal(box.chunk, 7);
    assert_int_equal(head + box.n, length);
    pnc_chunks_values_scatter(&box, &values, 1, own);
    return NC_NOERR;
}

/* A box of bytes on its way to a log. */
typedef struct added_bytes {
    pnc_pending *pending;
    pnc_chunk_item item;
    const pnc_chunk_values *values;
} added_bytes;

static int add_part(void *own, const pnc_box *part)
{
    const added_bytes *x = own;

    assert_true(pnc_chunks_pending_add(x->pending, &x->item, 1, part, x->values));
    return 0;
}

/* Runs of bytes, `step` bytes from each other. */
static void add_bytes(pnc_pending *pending, pnc_chunk_item item, int64_t at, int64_t run, int64_t nruns, int64_t step,
                      const unsigned char *bytes)
{
    pnc_packed_values packed = {(const char *)bytes, 1};
    const pnc_chunk_values values = pnc_chunks_packed_get_values(&packed);
    pnc_box box = {.at = at, .run = run, .n = run};

    pnc_array_axis_add(&box, nruns, step, run);
    assert_int_equal(pnc_array_box_divide(&box, PNC_BOX_BYTES, add_part, &(added_bytes){pending, item, &values}), 0);
}

/* Boxes in memory, and those that were spilled, in the order in which they were added. */
static void test_pending(void **state)
{
    static unsigned char expected[30][400], found[400];
    (void)state;

    for (int round = 0; round < 200; round++) {
        pnc_pending pending = {0};
        int64_t at[30] = {0}, nchunks = 0;
        int last = -1;
        pnc_error error = {0};

        memset(expected, 0, sizeof expected);
        for (int i = 0; i < 300; i++) {
            int chunk = (int)draw(30);
            int64_t within = draw(3) == 0 ? draw(400) : at[chunk] % 400, length = 1 + draw(400 - within);
            int64_t nruns = draw(3) == 0 ? 1 + draw(4) : 1, step = length / nruns, run = 1 + draw(step > 0 ? step : 1);
            unsigned char bytes[400];

            length = draw(2) == 0 && length > 8 ? 8 : length;
            if (nruns == 1 || step == 0) {
                nruns = 1;
                run = length;
            }
            for (int64_t k = 0; k < nruns * run; k++) {
                bytes[k] = (unsigned char)(1 + draw(255));
                expected[chunk][within + k / run * step + k % run] = bytes[k];
            }
            at[chunk] = within + run; /* the next one often follows */
            add_bytes(&pending, (pnc_chunk_item){.chunk = chunk, .aggregator = chunk % 4}, within, run, nruns, step,
                      bytes);
            if (round % 2 == 1 && draw(60) == 0) {
                assert_int_equal(pnc_chunks_pending_store(&pending, ".", &error), NC_NOERR);
                assert_int_equal(pending.bytes, 0);
            }
        }
        pending.chunks = pnc_chunks_items_sort(pending.chunks, 2);
        for (pnc_chunk_item *item = pending.chunks; item != NULL; item = item->next, nchunks++) {
            int order = (item->aggregator + 2) % 4 * 30 + (int)item->chunk; /* 2, 3, 0, 1 */

            assert_true(order > last);
            last = order;
            memset(found, 0, sizeof found);
            assert_int_equal(pnc_chunks_pending_scan(&pending, (const pnc_pending_chunk *)(const void *)item, copy_box,
                                                     found, NULL, &error),
                             NC_NOERR);
            assert_memory_equal(found, expected[item->chunk], sizeof found);
        }
        assert_int_equal(nchunks, pending.map.n);
        pnc_chunks_pending_clear(&pending);
        assert_null(pnc_chunks_map_find(&pending.map, 0, 1));
    }
}

enum { LONG = 1 << 20, SOME = 10 };

static void add_runs(pnc_pending *pending, int64_t within, int64_t length, unsigned char value)
{
    static unsigned char bytes[LONG];

    memset(bytes, value, (size_t)length);
    for (int chunk = 0; chunk < SOME; chunk++)
        add_bytes(pending, (pnc_chunk_item){.array = 2, .chunk = chunk}, within, length, 1, 0, bytes);
}

/* Whether `n` bytes from `at` have the value. */
static bool have(const unsigned char *bytes, int64_t at, int64_t n, unsigned char value)
{
    for (int64_t i = at; i < at + n; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

/* What is left of the file of spilled runs: all; what was spilled first; that without its last 10000 bytes; nothing. */
enum { ALL, FIRST, SHORT, NOTHING, CUTS };

/* Of one chunk: all of it is found that can be. Returns whether it has the end of its long run. */
static bool check_cut_chunk(const pnc_pending *pending, const pnc_pending_chunk *p, int cut)
{
    static const unsigned char values[CUTS] = {2, 1, 1, 0};
    static unsigned char found[LONG];
    pnc_error error = {0};
    int lost = NC_NOERR, wanted = cut == ALL ? NC_NOERR : NC_EREAD;
    bool has_end;

    memset(found, 0, sizeof found);
    assert_int_equal(pnc_chunks_pending_scan(pending, p, copy_box, found, NULL, &error), wanted);
    memset(found, 0, sizeof found);
    pnc_error_clear(&error);
    assert_int_equal(pnc_chunks_pending_scan(pending, p, copy_box, found, &lost, &error), NC_NOERR);
    assert_int_equal(lost, wanted);
    assert_int_equal(error.code, wanted);
    assert_true(have(found, 2000, 50, 3)); /* in memory */
    assert_true(have(found, 1000, 1000, values[cut]) && have(found, 9000, 5000, values[cut]));
    has_end = have(found, LONG - 1, 1, 1);
    if (has_end)
        assert_true(have(found, 14000, LONG - 14000, 1));
    else if (cut == SHORT) /* without the last box */
        assert_true(have(found, 14000, LONG - 14000 - 10000 - PNC_BOX_BYTES, 1) && have(found, LONG - 10000, 10000, 0));
    return has_end;
}

/* The file of spilled runs ends early: what it has is found, and what was not spilled. */
static void test_unreadable_pending(void **state)
{
    static const int nwhole[CUTS] = {SOME, SOME, SOME - 1, 0};
    pnc_pending pending = {0};
    pnc_error error = {0};
    int64_t length[CUTS] = {0};
    (void)state;

    add_runs(&pending, 0, LONG, 1);
    assert_int_equal(pnc_chunks_pending_store(&pending, ".", &error), NC_NOERR);
    length[FIRST] = pending.spill.end;
    length[SHORT] = length[FIRST] - 10000;
    add_runs(&pending, 1000, 5000, 2);
    add_runs(&pending, 9000, 5000, 2);
    assert_int_equal(pnc_chunks_pending_store(&pending, ".", &error), NC_NOERR);
    length[ALL] = pending.spill.end;
    add_runs(&pending, 2000, 50, 3);
    assert_true(length[FIRST] > SOME * LONG && length[ALL] > length[FIRST]);
    for (int cut = 0; cut < CUTS; cut++) {
        int n = 0;

        assert_int_equal(ftruncate(pending.spill.fd, (off_t)length[cut]), 0);
        for (pnc_chunk_item *item = pending.chunks; item != NULL; item = item->next)
            n += check_cut_chunk(&pending, (const pnc_pending_chunk *)(const void *)item, cut);
        assert_int_equal(n, nwhole[cut]);
    }
    pnc_chunks_pending_clear(&pending);
}

/* One record for each chunk since the last time, with its last place. */
static void test_places(void **state)
{
    pnc_places places = {0};
    int64_t offsets[200], n, changed = 0;
    bool is_changed[200] = {false};
    const pnc_chunk_record *records;
    (void)state;

    memset(offsets, -1, sizeof offsets);
    for (int i = 1; i < 5000; i++) {
        pnc_chunk_item item = {.array = 3, .chunk = draw(200)};

        assert_true(pnc_chunks_places_reserve(&places, &item));
        if (draw(4) == 0)
            continue;
        pnc_chunks_places_set(&places, &item, &(pnc_chunk_place){.offset = i, .bytes = 1});
        offsets[item.chunk] = i;
        changed += !is_changed[item.chunk];
        is_changed[item.chunk] = true;
        if (draw(50) > 0)
            continue;
        pnc_chunks_places_take(&places, &records, &n);
        assert_int_equal(n, changed);
        for (int64_t k = 0; k < n; k++) {
            assert_true(is_changed[records[k].chunk]);
            assert_int_equal(records[k].place.offset, offsets[records[k].chunk]);
        }
        memset(is_changed, 0, sizeof is_changed);
        changed = 0;
        pnc_chunks_places_take(&places, &records, &n);
        assert_int_equal(n, 0);
    }
    for (int64_t chunk = 0; chunk < 200; chunk++) {
        const pnc_chunk_place *place = pnc_chunks_places_find(&places, 3, chunk);

        assert_int_equal(place != NULL ? place->offset : -1, offsets[chunk]);
    }
    pnc_chunks_places_free(&places);
}

/* Items leave the table, and the others are still found. */
static void test_map(void **state)
{
    static pnc_chunk_item items[600];
    bool is_in[600] = {false};
    pnc_chunk_map map = {0};
    int64_t n = 0;
    (void)state;

    for (int i = 0; i < 600; i++)
        items[i] = (pnc_chunk_item){.array = i % 3, .chunk = i};
    for (int step = 0; step < 20000; step++) {
        int i = (int)draw(600);

        if (is_in[i])
            pnc_chunks_map_remove(&map, &items[i]);
        else
            assert_true(pnc_chunks_map_add(&map, &items[i]));
        n += is_in[i] ? -1 : 1;
        is_in[i] = !is_in[i];
        i = (int)draw(600);
        assert_ptr_equal(pnc_chunks_map_find(&map, i % 3, i), is_in[i] ? &items[i] : NULL);
        assert_int_equal(map.n, n);
    }
    pnc_chunks_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_balance), cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_dirty),   cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_pending), cmocka_unit_test(test_unreadable_pending),
                                       cmocka_unit_test(test_places),  cmocka_unit_test(test_map)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
