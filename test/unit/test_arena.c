/* The arena: pieces keep their bytes and do not overlap, and released memory is used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/memory.h"

enum { PIECES = 20000 };

static int64_t size_of(int i)
{
    return (int64_t)(i * 37 % 400);
}

static void fill(char *piece, int i, int64_t bytes)
{
    memset(piece, i % 251, (size_t)bytes);
}

static int holds(const char *piece, int i, int64_t bytes)
{
    for (int64_t k = 0; k < bytes; k++)
        if ((unsigned char)piece[k] != i % 251)
            return 0;
    return 1;
}

/* Pieces of many chunks, each of them written to its last byte, given back in another order. */
static void test_pieces(void **state)
{
    static char *pieces[PIECES];
    pnc_arena arena = {0};
    (void)state;

    for (int i = 0; i < PIECES; i++) {
        pieces[i] = pnc_arena_alloc(&arena, size_of(i));
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(int64_t), 0);
        fill(pieces[i], i, size_of(i));
    }
    for (int i = 0; i < PIECES; i++) {
        int other = (int)((int64_t)i * 7919 % PIECES);
        assert_true(holds(pieces[other], other, size_of(other)));
        pnc_arena_free(&arena, pieces[other]);
    }
    pnc_arena_destroy(&arena);
}

static void test_grow(void **state)
{
    pnc_arena arena = {0};
    char *a = pnc_arena_alloc(&arena, 100), *b, *larger;
    (void)state;

    fill(a, 1, 100);
    assert_ptr_equal(pnc_arena_grow(&arena, a, 50), a);
    larger = pnc_arena_grow(&arena, a, 5000);
    assert_ptr_equal(larger, a); /* it was the last one */
    assert_true(holds(larger, 1, 100));
    fill(larger, 1, 5000);
    b = pnc_arena_alloc(&arena, 10);
    fill(b, 2, 10);
    larger = pnc_arena_grow(&arena, a, 9000);
    assert_ptr_not_equal(larger, a); /* b is in its way */
    assert_true(holds(larger, 1, 5000) && holds(b, 2, 10));
    fill(larger, 3, 9000);
    larger = pnc_arena_grow(&arena, larger, 10000000); /* more than any chunk has */
    assert_true(holds(larger, 3, 9000) && holds(b, 2, 10));
    fill(larger, 4, 10000000);
    assert_true(holds(b, 2, 10));
    assert_null(pnc_arena_grow(&arena, b, INT64_MAX));
    assert_true(holds(b, 2, 10));
    pnc_arena_free(&arena, b);
    pnc_arena_free(&arena, larger);
    a = pnc_arena_alloc(&arena, 100); /* large pieces come and go */
    b = pnc_arena_alloc(&arena, 1000000);
    fill(a, 5, 100);
    fill(b, 6, 1000000);
    larger = pnc_arena_grow(&arena, b, 3000000);
    assert_true(holds(larger, 6, 1000000) && holds(a, 5, 100));
    fill(larger, 7, 3000000);
    pnc_arena_free(&arena, larger);
    b = pnc_arena_alloc(&arena, 200);
    fill(b, 8, 200);
    assert_true(holds(a, 5, 100) && holds(b, 8, 200));
    pnc_arena_free(&arena, a);
    pnc_arena_free(&arena, b);
    pnc_arena_destroy(&arena);
}

/* What is taken and given back beside a piece that stays does not add up. */
static void test_reuse(void **state)
{
    pnc_arena arena = {0};
    void *kept = pnc_arena_alloc(&arena, 10), *first = pnc_arena_alloc(&arena, 1000);
    (void)state;

    pnc_arena_free(&arena, first);
    for (int i = 0; i < PIECES; i++) {
        void *again = pnc_arena_alloc(&arena, 1000);
        assert_ptr_equal(again, first);
        pnc_arena_free(&arena, again);
    }
    pnc_arena_free(&arena, kept);
    pnc_arena_destroy(&arena);
}

/* All pieces are freed at once, also those of chunks of their own, and some that were freed before. */
static void test_clear(void **state)
{
    pnc_arena arena = {0};
    void *first, *pieces[2];
    (void)state;

    pnc_arena_clear(&arena);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PIECES; i++) {
            char *piece = pnc_arena_alloc(&arena, i == PIECES / 2 ? 10000000 : size_of(i));

            fill(piece, i, size_of(i));
            if (i < 2)
                pieces[i] = piece;
        }
        pnc_arena_free(&arena, pieces[round % 2]);
        pnc_arena_clear(&arena);
    }
    first = pnc_arena_alloc(&arena, 100);
    pnc_arena_clear(&arena);
    assert_ptr_equal(pnc_arena_alloc(&arena, 100), first);
    pnc_arena_clear(&arena);
    assert_non_null(pnc_arena_alloc(&arena, 10000000)); /* the current chunk is a large one */
    pnc_arena_clear(&arena);
    pnc_arena_destroy(&arena);
}

/* Freed chunks are used again: two of them as they are, the others after the system has taken their pages. */
static void test_spares(void **state)
{
    enum { CHUNKS = 6, BYTES = 3 << 20, PAGES = 4 << 20 }; /* each allocation takes a chunk */
    pnc_arena arena = {0};
    char *first[CHUNKS];
    int found = 0;
    (void)state;

    for (int i = 0; i < CHUNKS; i++) {
        first[i] = pnc_arena_alloc(&arena, BYTES);
        fill(first[i], i, BYTES);
    }
    pnc_arena_clear(&arena); /* the last chunk stays the current one, the two before it are not released */
    assert_int_equal(arena.nspares, CHUNKS - 1);
    for (int i = 0; i < CHUNKS - 3; i++)
        assert_int_equal(madvise(first[i] - (uintptr_t)first[i] % (2 << 20), PAGES, MADV_DONTNEED), 0);
    for (int i = 0; i < CHUNKS; i++) {
        char *again = pnc_arena_alloc(&arena, BYTES);

        assert_non_null(again);
        fill(again, i, BYTES);
        for (int k = 0; k < CHUNKS; k++)
            found += again == first[k];
    }
    assert_int_equal(found, CHUNKS);
    assert_int_equal(arena.nspares, 0);
    pnc_arena_clear(&arena);
    pnc_arena_destroy(&arena);
    assert_int_equal(arena.nspares, 0);
    assert_int_equal(arena.spare_bytes, 0);
}

/* Of chunks of 4 MiB and of larger ones, at most 256 MiB are kept. */
static void test_most_spares(void **state)
{
    enum { CHUNKS = 80 };
    pnc_arena arena = {0};
    void *large = pnc_arena_alloc(&arena, 100 << 20);
    (void)state;

    pnc_arena_free(&arena, large);
    assert_int_equal(arena.nspares, 1);
    assert_ptr_equal(pnc_arena_alloc(&arena, 100 << 20), large);
    for (int i = 0; i < CHUNKS; i++)
        assert_non_null(pnc_arena_alloc(&arena, 3 << 20));
    assert_non_null(pnc_arena_alloc(&arena, 300 << 20)); /* never kept */
    pnc_arena_clear(&arena);
    assert_in_range(arena.spare_bytes, 200 << 20, 256 << 20);
    assert_true(arena.nspares < CHUNKS);
    pnc_arena_destroy(&arena);
}

/* Pages that the system may take do not count as allocated. */
static void test_counted(void **state)
{
    enum { LENGTH = 100 << 20 };
    pnc_arena arena = {0}, other = {0};
    int64_t peak;
    (void)state;

    pnc_arena_free(&arena, pnc_arena_alloc(&arena, LENGTH));
    peak = pnc_memory_get_peak();
    for (int i = 0; i < 3; i++) {
        pnc_arena_free(&other, pnc_arena_alloc(&other, LENGTH));
        pnc_arena_free(&arena, pnc_arena_alloc(&arena, LENGTH));
    }
    assert_true(pnc_memory_get_peak() - peak < LENGTH / 2);
    pnc_arena_destroy(&arena);
    pnc_arena_destroy(&other);
}

/* Large pieces have chunks of their own: small ones around them take no new chunk. */
static void test_large(void **state)
{
    pnc_arena arena = {0};
    char *small = pnc_arena_alloc(&arena, 10), *large = pnc_arena_alloc(&arena, 5 << 20), *again;
    (void)state;

    fill(large, 1, 5 << 20);
    again = pnc_arena_alloc(&arena, 10);
    assert_true(again > small && again - small < 100);
    pnc_arena_free(&arena, small);
    pnc_arena_free(&arena, again);
    assert_true(holds(large, 1, 5 << 20));
    pnc_arena_free(&arena, pnc_arena_alloc(&arena, 6 << 20));
    assert_ptr_equal(pnc_arena_alloc(&arena, 10), small);
    pnc_arena_free(&arena, large);
    pnc_arena_clear(&arena);
    pnc_arena_destroy(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),  cmocka_unit_test(test_grow),   cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_clear),   cmocka_unit_test(test_spares), cmocka_unit_test(test_most_spares),
        cmocka_unit_test(test_counted), cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
