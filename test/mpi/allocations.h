/* An allocation of the library that fails, and the bytes of all of them. */
#ifndef TEST_MPI_ALLOCATIONS_H
#define TEST_MPI_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "../harness.h"

static long fails_at = -1; /* allocations of the library until one fails; -1: none fails */
static size_t allocated;   /* bytes, by the library */

/* Those of other libraries succeed: the program is linked with this one only. A sanitizer has its own functions. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
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
#endif

/* Whether the program calls the functions above: valgrind replaces them with its own, like a sanitizer. The pointer
 * keeps the compiler from including malloc in the caller. */
static inline bool allocation_can_fail(void)
{
    void *(*volatile allocate)(size_t size) = malloc;

    allocated = 0;
    free(allocate(1));
    return allocated > 0;
}

/* One allocation of rank `rank` fails, after `position` others. The bytes are counted from here on. */
static inline void allocation_arm(int rank, long position)
{
    fails_at = t_rank == rank ? position : -1;
    allocated = 0;
}

/* Collective: no more allocations fail. Returns whether one has failed. */
static inline bool allocation_disarm(int rank)
{
    int failed = t_rank == rank && fails_at == -1;

    fails_at = -1;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return failed != 0;
}

#endif
