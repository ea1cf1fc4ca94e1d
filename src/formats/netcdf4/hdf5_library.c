/* dlopen of libhdf5. */
#include "formats/netcdf4/hdf5_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "config.h"

/* Of the shared library, of which configure sets HDF5_SONAME (libhdf5_serial.so.103) and HDF5_LIBRARY, its path. The
 * number is the same for all flavours of a version. */
static const char *const flavours[] = {"libhdf5", "libhdf5_serial", "libhdf5_mpich", "libhdf5_openmpi"};
#define FLAVOURS ((int)(sizeof flavours / sizeof *flavours))

static pthread_mutex_t hdf5_lock = PTHREAD_MUTEX_INITIALIZER;
static pnc_hdf5 hdf5;
static bool is_loaded;

static void name_flavour(int i, char *out, size_t capacity)
{
    const char *number = strstr(HDF5_SONAME, ".so");

    snprintf(out, capacity, "%s%s", flavours[i], number != NULL ? number : ".so");
}

/* One that the process has already: then its users and this library have the same. */
static void *find_open_library(void)
{
    char name[64];
    void *handle = dlopen(HDF5_SONAME, RTLD_NOW | RTLD_NOLOAD);

    if (handle == NULL && dlsym(RTLD_DEFAULT, "H5get_libversion") != NULL)
        handle = dlopen(NULL, RTLD_NOW);
    for (int i = 0; i < FLAVOURS && handle == NULL; i++) {
        name_flavour(i, name, sizeof name);
        handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    }
    return handle;
}

static void *open_library(void)
{
    char name[64];
    void *handle = find_open_library();

    if (handle == NULL)
        handle = dlopen(HDF5_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL && HDF5_LIBRARY[0] != '\0')
        handle = dlopen(HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < FLAVOURS && handle == NULL; i++) {
        name_flavour(i, name, sizeof name);
        handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    return handle;
}

/* ISO C has no conversion from void * to a function. */
static bool find_function(void *handle, const char *name, void *out)
{
    void *address = dlsym(handle, name);

    memcpy(out, &address, sizeof address);
    return address != NULL;
}

/* A program that uses HDF5 itself may have copies of the variables, which are those that the library uses then. */
static bool find_id_variable(void *handle, const char *name, const hid_t **out)
{
    const char *known = "H5get_libversion";
    bool is_global = dlsym(RTLD_DEFAULT, known) == dlsym(handle, known);

    *out = dlsym(is_global ? RTLD_DEFAULT : handle, name);
    return *out != NULL;
}

/* They have other values after H5close of the program. */
static int load_ids(pnc_hdf5 *h)
{
    int i = 0;

    if (h->open() < 0)
        return -1;
#define LOAD_ID(member, name) h->member = *h->id_variables[i++];
    PNC_HDF5_IDS(LOAD_ID)
#undef LOAD_ID
    return 0;
}

#define TEXT_OF(name) #name

static const char *find_symbols(void *handle, pnc_hdf5 *h)
{
    int i = 0;

#define FIND_FUNCTION(member, name)                        \
    if (!find_function(handle, TEXT_OF(name), &h->member)) \
        return TEXT_OF(name);
    PNC_HDF5_FUNCTIONS(FIND_FUNCTION)
#undef FIND_FUNCTION
#define FIND_ID(member, name)                                            \
    if (!find_id_variable(handle, TEXT_OF(name), &h->id_variables[i++])) \
        return TEXT_OF(name);
    PNC_HDF5_IDS(FIND_ID)
#undef FIND_ID
    return NULL;
}

/* Structs that are passed differ between major.minor versions. */
static int check_version(void *handle, pnc_error *error)
{
    __typeof__(H5get_libversion) *get;
    unsigned major = 0, minor = 0, release = 0;

    if (!find_function(handle, "H5get_libversion", &get) || get(&major, &minor, &release) < 0)
        return pnc_error_set(error, NC_ENOTBUILT, "libhdf5 does not say its version");
    if (major == H5_VERS_MAJOR && minor == H5_VERS_MINOR)
        return NC_NOERR;
    return pnc_error_set(error, NC_ENOTBUILT,
                         "libhdf5 has version %u.%u.%u, but this library was built with the headers of %d.%d.%d", major,
                         minor, release, H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
}

/* After a failure the next call tries again. */
static int load_library(pnc_error *error)
{
    void *handle = open_library();
    const char *missing;

    if (handle == NULL)
        return pnc_error_set(error, NC_ENOTBUILT,
                             "a netCDF-4 file: %s is needed, and was not found (Debian: apt install libhdf5-103-1)",
                             HDF5_SONAME);
    PNC_TRY(check_version(handle, error));
    missing = find_symbols(handle, &hdf5);
    if (missing != NULL)
        return pnc_error_set(error, NC_ENOTBUILT, "libhdf5 has no %s: this library cannot use it", missing);
    is_loaded = true;
    return NC_NOERR;
}

static int begin_use(pnc_error *error)
{
    return load_ids(&hdf5) == 0 ? NC_NOERR : pnc_error_set(error, NC_EHDFERR, "libhdf5 cannot be initialised");
}

const pnc_hdf5 *pnc_netcdf4_library_begin(pnc_hdf5_visit *visit, pnc_error *error)
{
    pthread_mutex_lock(&hdf5_lock);
    if ((!is_loaded && load_library(error) != NC_NOERR) || begin_use(error) != NC_NOERR) {
        pthread_mutex_unlock(&hdf5_lock);
        return NULL;
    }
    visit->is_known = hdf5.e_get_auto(H5E_DEFAULT, &visit->handler, &visit->data) >= 0;
    if (visit->is_known)
        hdf5.e_set_auto(H5E_DEFAULT, NULL, NULL);
    return &hdf5;
}

void pnc_netcdf4_library_end(const pnc_hdf5_visit *visit)
{
    hdf5.e_clear(H5E_DEFAULT);
    if (visit->is_known)
        hdf5.e_set_auto(H5E_DEFAULT, visit->handler, visit->data);
    pthread_mutex_unlock(&hdf5_lock);
}
