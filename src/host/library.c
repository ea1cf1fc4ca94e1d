#include "host/library.h"

#include <dlfcn.h>
#include <string.h>

/* The address of a function is copied: ISO C has no conversion from void * to it. A library stays loaded. */
bool pnc_host_library_load(const char *library, const pnc_host_symbol *wanted, size_t n, void *functions)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        void *address = dlsym(handle, wanted[i].name);
        if (address == NULL)
            return false;
        memcpy((char *)functions + wanted[i].offset, &address, sizeof address);
    }
    return true;
}
