/* Allocation and arithmetic with overflow checks, for sizes from files and users. */
#include "config.h"

#include "base/memory.h"

#include <assert.h>
#include <limits.h>
#ifdef HAVE_MALLOC_USABLE_SIZE
#include <malloc.h>
#endif
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Bytes of count items, at least 1 (malloc(0) may return NULL, which means failure). Returns -1 on overflow. */
static int total_bytes(int64_t count, size_t size, size_t *out)
{
    if (count < 0 || (size != 0 && (uint64_t)count > PTRDIFF_MAX / size))
        return -1;
    *out = (size_t)count * size;
    if (*out == 0)
        *out = 1;
    return 0;
}

/* --- how much there is --- */

static atomic_size_t held, peak; /* of the process; the order in which threads see them does not matter */

void pnc_memory_count(int64_t bytes)
{
    size_t now = atomic_fetch_add_explicit(&held, (size_t)bytes, memory_order_relaxed) + (size_t)bytes;
    size_t most = atomic_load_explicit(&peak, memory_order_relaxed);

    while (bytes > 0 && now > most &&
           !atomic_compare_exchange_weak_explicit(&peak, &most, now, memory_order_relaxed, memory_order_relaxed))
        ;
}

int64_t pnc_memory_get_peak(void)
{
    return (int64_t)atomic_load_explicit(&peak, memory_order_relaxed);
}

static int64_t size_of_block(void *p)
{
#ifdef HAVE_MALLOC_USABLE_SIZE
    return (int64_t)malloc_usable_size(p);
#else
    (void)p;
    return 0;
#endif
}

void *pnc_memory_take(void *p)
{
    if (p != NULL)
        pnc_memory_count(size_of_block(p));
    return p;
}

/* --- allocation --- */

void *pnc_memory_alloc(int64_t n, size_t size)
{
    size_t bytes;

    return total_bytes(n, size, &bytes) == 0 ? pnc_memory_take(malloc(bytes)) : NULL;
}

void *pnc_memory_alloc_zeroed(int64_t n, size_t size)
{
    size_t bytes;

    return total_bytes(n, size, &bytes) == 0 ? pnc_memory_take(calloc(1, bytes)) : NULL;
}

void *pnc_memory_resize(void *old, int64_t n, size_t size)
{
    int64_t before = size_of_block(old);
    size_t bytes;
    void *p = total_bytes(n, size, &bytes) == 0 ? realloc(old, bytes) : NULL;

    if (p != NULL)
        pnc_memory_count(size_of_block(p) - before);
    return p;
}

bool pnc_memory_grow(void *array, int64_t *capacity, int64_t n, size_t size)
{
    const int64_t least = 16, twice = *capacity <= INT64_MAX / 2 ? 2 * *capacity : n;
    int64_t wanted = n > twice ? n : twice;
    void *items;

    if (n <= *capacity)
        return true;
    if (wanted < least)
        wanted = least;
    memcpy(&items, array, sizeof items);
    items = pnc_memory_resize(items, wanted, size);
    if (items == NULL)
        return false;
    memcpy(array, &items, sizeof items);
    *capacity = wanted;
    return true;
}

void *pnc_memory_reserve(int64_t bytes)
{
    void *memory = NULL;

    assert(bytes % PNC_LARGE_PAGE == 0);
    if (posix_memalign(&memory, (size_t)PNC_LARGE_PAGE, (size_t)bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    madvise(memory, (size_t)bytes, MADV_HUGEPAGE); /* only advice */
#endif
    return memory;
}

void *pnc_memory_alloc_large(int64_t bytes)
{
    return pnc_memory_take(pnc_memory_reserve(bytes));
}

void *pnc_memory_alloc_array(int64_t n, size_t size)
{
    const size_t page = (size_t)PNC_LARGE_PAGE;
    size_t bytes;

    if (total_bytes(n, size, &bytes) != 0 || bytes > PTRDIFF_MAX - page)
        return NULL;
    return bytes < 2 * page ? pnc_memory_take(malloc(bytes))
                            : pnc_memory_alloc_large((int64_t)((bytes + page - 1) / page * page));
}

bool pnc_memory_pages_release(void *memory, int64_t bytes)
{
#ifdef MADV_FREE
    if (madvise(memory, (size_t)bytes, MADV_FREE) == 0) {
        pnc_memory_count(-size_of_block(memory));
        return true;
    }
#else
    (void)memory;
    (void)bytes;
#endif
    return false;
}

void pnc_memory_pages_take(void *memory)
{
    pnc_memory_count(size_of_block(memory));
}

void pnc_memory_pages_free(void *memory)
{
    free(memory);
}

char *pnc_string_copy(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = pnc_memory_take(malloc(bytes));

    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

void pnc_memory_release(void *p)
{
    pnc_memory_count(-size_of_block(p));
    free(p);
}

int pnc_memory_grow_capacity(int n)
{
    const int least = 4;

    assert(n >= 0);
    if (n == INT_MAX)
        return 0;
    if (n > INT_MAX / 2)
        return INT_MAX;
    return n * 2 > least ? n * 2 : least;
}

int pnc_size_multiply(int64_t a, int64_t b, int64_t *out)
{
    int64_t product;

    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product))
        return -1;
    *out = product;
    return 0;
}

int pnc_size_add(int64_t a, int64_t b, int64_t *out)
{
    if (a < 0 || b < 0 || b > INT64_MAX - a)
        return -1;
    *out = a + b;
    return 0;
}
