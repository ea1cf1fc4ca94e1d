/* An allocation of the library that fails, and the bytes of all of them. */
#ifndef TEST_MPI_ALLOCATIONS_H
#define TEST_MPI_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

static long fails_at = -1; /* allocations of the library until one fails; -1: none fails */
static size_t allocated;   /* bytes, by the library */

/* Those of other libraries succeed: the program is linked with this one only. A sanitizer has its own functions. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_FAIL 1
extern char __executable_start, etext;
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static bool fails(const char *caller, size_t size)
{
    if (caller < &__executable_start || caller >= &etext)
        return false;
    allocated += size;
    return fails_at >= 0 && fails_at-- == 0;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0), size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0), n * size) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0), size) ? NULL : __libc_realloc(old, size);
}
#else
#define CAN_FAIL 0
#endif

#endif
