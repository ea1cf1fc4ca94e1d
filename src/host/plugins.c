/* dlopen of what a folder has. */
#include "config.h" /* dladdr */

#include "host/plugins.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool pnc_host_symbol_find(void *handle, const char *name, void *out)
{
    void *address = dlsym(handle, name);

    memcpy(out, &address, sizeof address);
    return address != NULL;
}

bool pnc_host_symbol_get_library(const void *pointer, char *out, size_t capacity)
{
    Dl_info info;
    void *address;
    int n;

    memcpy(&address, pointer, sizeof address);
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return false;
    n = snprintf(out, capacity, "%s", info.dli_fname);
    return n >= 0 && (size_t)n < capacity;
}

static bool try_library(const char *folder, const char *name, bool (*accepts)(void *own, void *handle), void *own)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    void *handle = n < 0 || n >= (int)sizeof path ? NULL : dlopen(path, RTLD_LAZY | RTLD_LOCAL);

    if (handle == NULL)
        return false;
    if (accepts(own, handle))
        return true;
    dlclose(handle);
    return false;
}

bool pnc_host_plugin_find(const char *folder, bool (*accepts)(void *own, void *handle), void *own)
{
    DIR *open = opendir(folder);
    const struct dirent *entry;
    bool found = false;

    if (open == NULL)
        return false;
    while (!found && (entry = readdir(open)) != NULL)
        if (strncmp(entry->d_name, "lib", 3) == 0 && strstr(entry->d_name, ".so") != NULL)
            found = try_library(folder, entry->d_name, accepts, own);
    closedir(open);
    return found;
}
