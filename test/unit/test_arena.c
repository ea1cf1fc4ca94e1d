/* The arena: pieces keep their bytes and do not overlap, and released memory is used again. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/memory.h"

enum { PIECES = 20000 };

static int failures; /* of the next allocations of large pages */

int __real_posix_memalign(void **memory, size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (failures == 0)
        return __real_posix_memalign(memory, alignment, size);
    failures--;
    return ENOMEM;
}

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

enum { ORDINARY = 3 << 20 /* takes a chunk */, CHUNK = 4 << 20, CHUNK_ALIGNMENT = 2 << 20 };

static bool can_release(void)
{
    void *memory = pnc_memory_alloc_large(CHUNK);
    bool can = pnc_memory_pages_release(memory, CHUNK);

    if (can)
        pnc_memory_pages_free(memory);
    else
        pnc_memory_free(memory);
    return can;
}

/* The system takes the pages of the chunk of an allocation. */
static void lose_pages(char *piece)
{
    assert_int_equal(madvise(piece - (uintptr_t)piece % CHUNK_ALIGNMENT, CHUNK, MADV_DONTNEED), 0);
}

static void alloc_chunks(pnc_arena *arena, int n)
{
    for (int i = 0; i < n; i++)
        assert_non_null(pnc_arena_alloc(arena, ORDINARY));
}

/* Freed chunks are used again: two of them as they are, the others also after the system has taken their pages. */
static void test_spares(void **state)
{
    enum { CHUNKS = 6 };
    const int kept = can_release() ? CHUNKS : 3; /* with the current one */
    pnc_arena arena = {0};
    char *first[CHUNKS];
    int found = 0;
    (void)state;

    for (int i = 0; i < CHUNKS; i++) {
        first[i] = pnc_arena_alloc(&arena, ORDINARY);
        fill(first[i], i, ORDINARY);
    }
    pnc_arena_clear(&arena); /* the last chunk stays the current one, the two before it stay resident */
    assert_int_equal(arena.nresident, 2);
    assert_int_equal(arena.nreleased, kept - 3);
    for (int i = 0; i < kept - 3; i++)
        lose_pages(first[i]);
    for (int i = 0; i < CHUNKS; i++) {
        char *again = pnc_arena_alloc(&arena, ORDINARY);

        assert_non_null(again);
        fill(again, i, ORDINARY);
        for (int k = 0; k < CHUNKS && i < kept; k++)
            found += again == first[k];
        if (i == 1 || i == 2)
            assert_ptr_equal(again, first[i == 1 ? 3 : 4]); /* the resident ones first */
    }
    assert_int_equal(found, kept);
    assert_int_equal(arena.nresident + arena.nreleased, 0);
    pnc_arena_clear(&arena);
    for (int i = 0; i < arena.nreleased; i++)
        lose_pages((char *)arena.released[i]);
    pnc_arena_destroy(&arena);
    assert_int_equal(arena.nresident + arena.nreleased, 0);
}

/* At most 62 free chunks are kept. */
static void test_most_spares(void **state)
{
    const int kept = can_release() ? 60 : 0;
    pnc_arena arena = {0};
    (void)state;

    alloc_chunks(&arena, 80);
    pnc_arena_clear(&arena);
    assert_int_equal(arena.nresident, 2);
    assert_int_equal(arena.nreleased, kept);
    pnc_arena_destroy(&arena);
}

/* Chunks of a single allocation are not kept: they have other sizes. */
static void test_single(void **state)
{
    pnc_arena arena = {0};
    void *small = pnc_arena_alloc(&arena, 10);
    (void)state;

    for (int i = 1; i < 4; i++)
        assert_non_null(pnc_arena_alloc(&arena, i * (10 << 20)));
    pnc_arena_clear(&arena);
    assert_int_equal(arena.nresident + arena.nreleased, 0);
    assert_ptr_equal(pnc_arena_alloc(&arena, 10), small);
    pnc_arena_clear(&arena);
    pnc_arena_destroy(&arena);
}

/* Where memory ends, free chunks are freed, and the allocation is tried again. */
static void test_no_memory(void **state)
{
    enum { CHUNKS = 10, LARGE = 100 << 20 };
    pnc_arena arena = {0};
    (void)state;

    alloc_chunks(&arena, CHUNKS);
    pnc_arena_clear(&arena);
    assert_in_range(arena.nresident + arena.nreleased, 2, CHUNKS);
    failures = 1;
    assert_non_null(pnc_arena_alloc(&arena, LARGE));
    assert_int_equal(arena.nresident + arena.nreleased, 0);
    failures = 1;
    assert_null(pnc_arena_alloc(&arena, LARGE));
    assert_int_equal(failures, 0);
    pnc_arena_clear(&arena);
    pnc_arena_destroy(&arena);
}

/* Pages that the system may take do not count as allocated, nor when they are freed; those that are used again do. A
 * chunk counts as 4 to 6 MiB, as malloc aligns it. The other tests have a higher peak: this one is the first. */
static void test_counted(void **state)
{
    enum { CHUNKS = 50, KEPT = 3 /* two resident ones, and the current one */ };
    pnc_arena arena = {0}, other = {0};
    int64_t peak;
    void *more;
    (void)state;

    alloc_chunks(&arena, CHUNKS);
    if (!can_release() || pnc_memory_get_peak() == 0)
        skip();
    pnc_arena_clear(&arena);
    alloc_chunks(&other, CHUNKS);
    assert_true(pnc_memory_get_peak() < (int64_t)(2 * CHUNKS - KEPT) * CHUNK);
    alloc_chunks(&arena, CHUNKS);
    peak = pnc_memory_get_peak();
    assert_true(peak >= (int64_t)2 * CHUNKS * CHUNK);
    pnc_arena_clear(&arena);
    pnc_arena_clear(&other);
    pnc_arena_destroy(&arena);
    pnc_arena_destroy(&other);
    more = pnc_memory_alloc_large(peak - peak % CHUNK + CHUNK); /* nothing else is allocated any more */
    assert_non_null(more);
    assert_in_range(pnc_memory_get_peak(), peak - peak % CHUNK + CHUNK, peak + 2 * CHUNK);
    pnc_memory_free(more);
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
        cmocka_unit_test(test_counted),     cmocka_unit_test(test_pieces), cmocka_unit_test(test_grow),
        cmocka_unit_test(test_reuse),       cmocka_unit_test(test_clear),  cmocka_unit_test(test_spares),
        cmocka_unit_test(test_most_spares), cmocka_unit_test(test_single), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
