/* Filters of others: plugins of HDF5, found where libhdf5 looks for them (HDF5_PLUGIN_PATH, or its default folder).
 * Their functions are called directly, on any rank, while no other thread of this library is in one, or in libhdf5:
 * plugins may call that, and have states of their own (Blosc). */
#include "formats/netcdf4/plugins.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "formats/netcdf4/hdf5_library.h"
#include "host/codecs.h"
#include "host/plugins.h"

/* Plugins that are open; they stay so. Under the lock. */
typedef struct open_plugin {
    int id;
    void *handle;
    H5Z_func_t filter;
    bool is_attached;
    struct open_plugin *next;
} open_plugin;

static pthread_mutex_t plugin_lock = PTHREAD_MUTEX_INITIALIZER;
static open_plugin *open_plugins;

/* A filter that is searched. */
typedef struct plugin_search {
    int id;
    void *handle;
    H5Z_func_t filter; /* NULL: not found */
} plugin_search;

static bool is_wanted_plugin(void *own, void *handle)
{
    plugin_search *search = own;
    __typeof__(H5PLget_plugin_type) *get_type;
    __typeof__(H5PLget_plugin_info) *get_info;
    const H5Z_class2_t *found;

    if (!pnc_host_symbol_find(handle, "H5PLget_plugin_type", &get_type) || get_type() != H5PL_TYPE_FILTER ||
        !pnc_host_symbol_find(handle, "H5PLget_plugin_info", &get_info))
        return false;
    found = get_info();
    if (found == NULL || found->version != H5Z_CLASS_T_VERS || found->id != search->id || found->filter == NULL)
        return false;
    search->handle = handle;
    search->filter = found->filter;
    return true;
}

/* The folder with this number of libhdf5's list; false: there is none, or plugins are disabled. */
static bool get_plugin_folder(const pnc_hdf5 *h, unsigned i, char *path, size_t capacity)
{
    unsigned n = 0, kinds = 0;
    ssize_t length;

    if (h->pl_get_loading_state(&kinds) < 0 || (kinds & H5PL_FILTER_PLUGIN) == 0 || h->pl_size(&n) < 0 || i >= n)
        return false;
    length = h->pl_get(i, path, capacity);
    return length >= 0 && (size_t)length < capacity;
}

/* Plugins are opened while libhdf5 can be called by others: they may call it. */
static void search_folders(plugin_search *search)
{
    char path[4096];
    pnc_hdf5_visit visit;
    pnc_error error = {0};

    for (unsigned i = 0;; i++) {
        const pnc_hdf5 *h = pnc_netcdf4_library_begin(&visit, &error);
        bool has_folder;

        if (h == NULL)
            return;
        has_folder = get_plugin_folder(h, i, path, sizeof path);
        pnc_netcdf4_library_end(&visit);
        if (!has_folder || pnc_host_plugin_find(path, is_wanted_plugin, search))
            return;
    }
}

static open_plugin *open_new_plugin(int id)
{
    plugin_search search = {.id = id};
    open_plugin *p = pnc_memory_alloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    search_folders(&search);
    if (search.filter == NULL) {
        pnc_memory_free(p);
        return NULL;
    }
    *p = (open_plugin){.id = id, .handle = search.handle, .filter = search.filter, .next = open_plugins};
    open_plugins = p;
    return p;
}

/* NULL: no plugin of this machine has the filter. Under the lock. */
static open_plugin *get_plugin(int id)
{
    open_plugin *p = open_plugins;

    while (p != NULL && p->id != id)
        p = p->next;
    return p != NULL ? p : open_new_plugin(id);
}

/* --- for filters --- */

static bool has_plugin_of(int id)
{
    bool has;

    pthread_mutex_lock(&plugin_lock);
    has = get_plugin(id) != NULL;
    pthread_mutex_unlock(&plugin_lock);
    return has;
}

static size_t run_plugin_of(int id, unsigned flags, size_t nparameters, const unsigned *parameters, size_t bytes,
                            size_t *capacity, void **buffer)
{
    const open_plugin *p;
    pnc_hdf5_visit visit;
    pnc_error error = {0};
    size_t result;

    pthread_mutex_lock(&plugin_lock);
    p = get_plugin(id);
    pthread_mutex_unlock(&plugin_lock);
    if (p == NULL || pnc_netcdf4_library_begin(&visit, &error) == NULL)
        return 0;
    result = p->filter(flags, nparameters, parameters, bytes, capacity, buffer);
    pnc_netcdf4_library_end(&visit);
    return result;
}

static void list_plugin_folders(char *out, size_t capacity)
{
    char path[4096];
    pnc_hdf5_visit visit;
    pnc_error error = {0};
    const pnc_hdf5 *h = pnc_netcdf4_library_begin(&visit, &error);
    size_t used = 0;

    out[0] = '\0';
    if (h == NULL)
        return;
    for (unsigned i = 0; used < capacity && get_plugin_folder(h, i, path, sizeof path); i++) {
        int n = snprintf(out + used, capacity - used, "%s%s", i > 0 ? ":" : "", path);

        used += n > 0 ? (size_t)n : capacity;
    }
    pnc_netcdf4_library_end(&visit);
}

pnc_codecs pnc_netcdf4_codecs_get(void)
{
    static const pnc_plugins plugins = {has_plugin_of, run_plugin_of, list_plugin_folders};
    pnc_codecs codecs = *pnc_host_codecs_get();

    codecs.plugins = &plugins;
    return codecs;
}

/* --- for libhdf5 --- */

/* Those of the package hdf5plugin of PyPI are linked with no libhdf5: their init_filter gets its path. */
static void introduce_library(const open_plugin *p)
{
    char path[4096];
    pnc_hdf5_visit visit;
    pnc_error error = {0};
    const pnc_hdf5 *h;
    int (*init)(const char *library);
    bool is_known;

    if (!pnc_host_symbol_find(p->handle, "init_filter", &init))
        return;
    h = pnc_netcdf4_library_begin(&visit, &error);
    if (h == NULL)
        return;
    is_known = pnc_host_symbol_get_library(&h->open, path, sizeof path);
    pnc_netcdf4_library_end(&visit);
    if (is_known)
        (void)init(path);
}

void pnc_netcdf4_plugin_attach(int id)
{
    open_plugin *p;

    pthread_mutex_lock(&plugin_lock);
    p = get_plugin(id);
    if (p != NULL && !p->is_attached) {
        introduce_library(p);
        p->is_attached = true;
    }
    pthread_mutex_unlock(&plugin_lock);
}
