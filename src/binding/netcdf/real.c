/* libnetcdf: found at run time, so that this library may be preloaded into any program, with any version of it. */
#include "config.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "binding/netcdf/door.h"

/* A library that was loaded by dlopen alone, as Python does, is not among those that follow this one. */
static int find_netcdf_library(struct dl_phdr_info *info, size_t size, void *handle)
{
    const char *name = info->dlpi_name != NULL ? strrchr(info->dlpi_name, '/') : NULL;

    (void)size;
    if (name == NULL || strncmp(name, "/libnetcdf", 10) != 0 || (name[10] != '.' && name[10] != '-' && name[10] != '_'))
        return 0;
    *(void **)handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    return *(void **)handle != NULL;
}

pnc_door_function pnc_door_real_find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name), *library = NULL;
    pnc_door_function function;

    if (found == NULL && dl_iterate_phdr(find_netcdf_library, &library) != 0) {
        found = dlsym(library, name);
        dlclose(library);
    }
    memcpy(&function, &found, sizeof function); /* ISO C has no cast between these */
    return function;
}
