/* Filters of others: plugins of HDF5, found where libhdf5 looks for them (HDF5_PLUGIN_PATH, or its default folder).
 * Their functions are called directly, by any rank and thread. */
#include "formats/netcdf4/plugins.h"

#include <pthread.h>

#include "base/memory.h"
#include "formats/netcdf4/hdf5_library.h"
#include "host/plugins.h"

/* Plugins that are open; they stay so. Under the lock. */
typedef struct open_plugin {
    int id;
    pnc_plugin_function filter;
    struct open_plugin *next;
} open_plugin;

static pthread_mutex_t plugin_lock = PTHREAD_MUTEX_INITIALIZER;
static open_plugin *open_plugins;

/* A filter that is searched. */
typedef struct plugin_search {
    int id;
    pnc_plugin_function filter;
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

static pnc_plugin_function open_new_plugin(int id)
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
    *p = (open_plugin){id, search.filter, open_plugins};
    open_plugins = p;
    return search.filter;
}

pnc_plugin_function pnc_netcdf4_plugin_load(int id)
{
    pnc_plugin_function filter = NULL;

    pthread_mutex_lock(&plugin_lock);
    for (const open_plugin *p = open_plugins; p != NULL && filter == NULL; p = p->next)
        if (p->id == id)
            filter = p->filter;
    if (filter == NULL)
        filter = open_new_plugin(id);
    pthread_mutex_unlock(&plugin_lock);
    return filter;
}
