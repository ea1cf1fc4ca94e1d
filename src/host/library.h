/* dlopen of libraries that programs need not have. */
#ifndef PNC_HOST_LIBRARY_H
#define PNC_HOST_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A function of a library, and where its address goes. */
typedef struct pnc_host_symbol {
    const char *name;
    size_t offset;
} pnc_host_symbol;

/* Set the members of *functions. False if the library or one of its functions is missing. */
bool pnc_host_library_load(const char *library, const pnc_host_symbol *wanted, size_t n, void *functions);

#endif
