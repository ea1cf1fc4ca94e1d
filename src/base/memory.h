/* Allocation with overflow checks. All return NULL on failure, and for a size that exceeds size_t. */
#ifndef PNC_BASE_MEMORY_H
#define PNC_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *pnc_memory_alloc(int64_t count, size_t size);             /* uninitialised; count 0 gives a valid pointer */
void *pnc_memory_alloc_zeroed(int64_t count, size_t size);      /* zeroed */
void *pnc_memory_resize(void *old, int64_t count, size_t size); /* like reallocarray */
/* Make `array`, the address of a pointer, one of at least n items; *capacity is how many it has, and doubles when it
 * grows. false without memory: nothing has changed. */
bool pnc_memory_grow(void *array, int64_t *capacity, int64_t n, size_t size);
/* `bytes`, a multiple of PNC_LARGE_PAGE, in large pages where the system has them: a page fault for each 4 KiB costs
 * more than the use of the memory. They are resident as soon as they are touched. */
#define PNC_LARGE_PAGE (INT64_C(1) << 21)
void *pnc_memory_alloc_large(int64_t bytes);
/* The same, of which perhaps little is used: it does not count as allocated. The caller counts what it uses, by
 * pnc_memory_count, and frees it by pnc_memory_pages_free. */
void *pnc_memory_reserve(int64_t bytes);
void *pnc_memory_alloc_array(int64_t count, size_t size); /* uninitialised; in large pages if it has several */
/* Let the system take the pages of memory from pnc_memory_alloc_large when it is short of memory: what it takes reads
 * as 0. The memory does not count as allocated until pnc_memory_pages_take. false: the system cannot (it has no such
 * call, or the memory is locked), and nothing has changed. */
bool pnc_memory_pages_release(void *memory, int64_t bytes);
void pnc_memory_pages_take(void *memory); /* before its bytes are written */
void pnc_memory_pages_free(void *memory); /* instead of pnc_memory_free */
char *pnc_string_copy(const char *text);
void pnc_memory_release(void *p); /* not NULL */

/* Most calls of the library have nothing to free. */
static inline void pnc_memory_free(void *p)
{
    if (p != NULL)
        pnc_memory_release(p);
}

/* The most bytes that these functions had allocated at once so far, with what malloc adds to an allocation; 0 where the
 * C library has no malloc_usable_size. */
int64_t pnc_memory_get_peak(void);
/* Count memory that is allocated elsewhere, shared memory of MPI, or used of what is reserved. Negative when it is
 * freed. */
void pnc_memory_count(int64_t bytes);
/* The same for memory that another library has from malloc, and that pnc_memory_free frees. Returns its argument, which
 * may be NULL. */
void *pnc_memory_take(void *p);

/* Begin to load the first and the last cache line of some bytes; where there is no memory this does nothing. The empty
 * statement is an effect: gcc removes calls of functions that only prefetch. */
static inline void pnc_memory_prefetch(const void *memory, int64_t bytes)
{
    __builtin_prefetch(memory);
    __builtin_prefetch((const void *)((uintptr_t)memory + (uintptr_t)(bytes - 1)));
    __asm__ volatile("");
}

/* The capacity to which a full array of n items grows: at least twice as many, or INT_MAX. 0 if n is INT_MAX. */
int pnc_memory_grow_capacity(int n);

/* Products and sums of sizes read from files or users: return 0 and set *out, or -1 on overflow or a negative input. */
int pnc_size_multiply(int64_t a, int64_t b, int64_t *out);
int pnc_size_add(int64_t a, int64_t b, int64_t *out);

#endif
