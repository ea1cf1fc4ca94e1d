/* Which files come through the table, and what they are opened with. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding/netcdf/opening.h"

static _Thread_local pnc_door_opening in_progress;

pnc_door_opening *pnc_door_opening_take(int mode)
{
    if (!in_progress.is_set)
        in_progress = (pnc_door_opening){.comm = MPI_COMM_SELF, .info = MPI_INFO_NULL, .mode = mode, .name = "nc_open"};
    return &in_progress;
}

/* --- which files --- */

/* What libnetcdf reads by other means than the file system, or keeps in memory. */
static bool is_foreign(const char *path, int mode)
{
    return (mode & (NC_DISKLESS | NC_INMEMORY | NC_MMAP | NC_UDF0 | NC_UDF1)) != 0 || strstr(path, "://") != NULL ||
           strstr(path, "mode=") != NULL;
}

static bool matches(const char *pattern, const char *path)
{
    const char *slash = strrchr(path, '/');

    return fnmatch(pattern, path, 0) == 0 || (slash != NULL && fnmatch(pattern, slash + 1, 0) == 0);
}

/* "all", or patterns of names with colons between them. */
static bool is_listed(const char *list, const char *path)
{
    char pattern[1024];

    for (size_t n; *list != '\0'; list += n + (list[n] == ':')) {
        n = strcspn(list, ":");
        if (n > 0 && n < sizeof pattern) {
            memcpy(pattern, list, n);
            pattern[n] = '\0';
            if (strcmp(pattern, "all") == 0 || matches(pattern, path))
                return true;
        }
    }
    return false;
}

bool pnc_door_opening_is_chosen(const char *path, int mode)
{
    const char *list = getenv("PNETCDF_NETCDF");
    int is_ready = 0, is_over = 0;

    if (list == NULL || path == NULL || is_foreign(path, mode) || !is_listed(list, path))
        return false;
    MPI_Initialized(&is_ready);
    MPI_Finalized(&is_over);
    return is_ready && !is_over;
}

/* --- what is opened --- */

MPI_Info pnc_door_opening_info_create(const pnc_door_opening *o)
{
    MPI_Info info = MPI_INFO_NULL;
    char value[8];
    int is_given = 0;

    if ((o->info == MPI_INFO_NULL ? MPI_Info_create(&info) : MPI_Info_dup(o->info, &info)) != MPI_SUCCESS)
        return MPI_INFO_NULL;
    MPI_Info_get(info, "nc_groups", (int)sizeof value - 1, value, &is_given);
    if (!is_given)
        MPI_Info_set(info, "nc_groups", "all");
    return info;
}

/* For reading, each rank opens the file; for writing, one may. */
bool pnc_door_opening_check_pass(const pnc_door_file *f, const pnc_door_opening *o)
{
    return (o->mode & NC_WRITE) == 0 || f->nprocs == 1;
}

static int refuse_content(const pnc_door_file *f, pnc_door_opening *o, const char *path, const char *name,
                          const char *what)
{
    o->passes = pnc_door_opening_check_pass(f, o);
    if (o->passes)
        return NC_ENOTSUPPORT;
    return pnc_door_failure_report(NC_ENOTSUPPORT, o->name,
                                   "%s: \"%s\" %s, which libpnetcdf does not write: write this file without "
                                   "libpnetcdf-netcdf",
                                   path, name, what);
}

int pnc_door_content_check(const pnc_door_file *f, pnc_door_opening *o, const char *path)
{
    char name[NC_MAX_NAME + 1];
    int nvars, storage;
    nc_type type;

    PNC_DOOR_TRY(ncmpi_inq_nvars(f->id, &nvars));
    for (int i = 0; i < nvars; i++) {
        PNC_DOOR_TRY(ncmpi_inq_var(f->id, i, name, &type, NULL, NULL, NULL));
        PNC_DOOR_TRY(ncmpi_inq_var_chunking(f->id, i, &storage, NULL));
        if (storage == NC_UNKNOWN_STORAGE && type != NC_STRING &&
            pnc_door_opening_check_pass(f, o)) /* as virtual datasets */
            return refuse_content(f, o, path, name, "is stored in a way that libpnetcdf does not read");
        if (type > NC_STRING)
            return refuse_content(f, o, path, name, "has a user-defined type");
    }
    return NC_NOERR;
}

/* --- calls --- */

typedef int (*call_on_path)(const char *path, int mode, int *ncid);

/* The function of libnetcdf that creates or opens; NULL: there is no libnetcdf. */
static call_on_path find_call(const char *name)
{
    return (call_on_path)pnc_door_real_find(name);
}

/* The format that nc_set_default_format has chosen, if the mode chooses none. */
static int add_default_format(int mode)
{
    const int flags = NC_NETCDF4 | NC_64BIT_OFFSET | NC_64BIT_DATA | NC_CLASSIC_MODEL;
    PNC_DOOR_REAL_TYPE(nc_set_default_format) set = PNC_DOOR_REAL(nc_set_default_format);
    int format = NC_FORMAT_CLASSIC, ignored;

    if ((mode & (NC_NETCDF4 | NC_64BIT_OFFSET | NC_64BIT_DATA)) != 0 || set == NULL ||
        set(NC_FORMAT_CLASSIC, &format) != NC_NOERR)
        return mode;
    set(format, &ignored);
    switch (format) {
    case NC_FORMAT_64BIT_OFFSET: return (mode & ~flags) | NC_64BIT_OFFSET;
    case NC_FORMAT_64BIT_DATA: return (mode & ~flags) | NC_64BIT_DATA;
    case NC_FORMAT_NETCDF4: return mode | NC_NETCDF4;
    case NC_FORMAT_NETCDF4_CLASSIC: return mode | NC_NETCDF4 | NC_CLASSIC_MODEL;
    default: return mode & ~NC_CLASSIC_MODEL;
    }
}

static int fail_without_netcdf(const char *name)
{
    return pnc_door_failure_report(NC_ENOTBUILT, name, "no libnetcdf is loaded");
}

/* Through netCDF-C, which calls the table. *passes: it shall do without. */
static int call_table(call_on_path call, const char *path, int flags, const pnc_door_opening *o, int *ncid,
                      bool *passes)
{
    int err;

    in_progress = *o;
    err = call(path, flags, ncid);
    *passes = in_progress.passes;
    in_progress.is_set = false;
    return err;
}

int pnc_door_opening_create(const char *path, int mode, MPI_Comm comm, MPI_Info info, const char *name, int *ncid)
{
    const pnc_door_opening o = {
        .comm = comm, .info = info, .mode = add_default_format(mode), .name = name, .is_set = true};
    call_on_path create = find_call("nc_create");
    int flag = pnc_door_table_register();
    bool passes;

    if (create == NULL)
        return fail_without_netcdf(name);
    if (flag == 0)
        return create(path, mode, ncid);
    if (path != NULL && is_foreign(path, mode))
        return pnc_door_failure_report(NC_ENOTSUPPORT, name,
                                       "%s: a URL, zarr or a file in memory: libpnetcdf does not write it: write it "
                                       "without libpnetcdf-netcdf",
                                       path);
    return call_table(create, path, flag | (mode & NC_NOCLOBBER), &o, ncid, &passes);
}

int pnc_door_opening_open(const char *path, int mode, MPI_Comm comm, MPI_Info info, const char *name, int *ncid)
{
    const pnc_door_opening o = {.comm = comm, .info = info, .mode = mode, .name = name, .is_set = true};
    call_on_path open = find_call("nc_open");
    int flag = pnc_door_table_register(), err;
    bool passes = false;

    if (open == NULL)
        return fail_without_netcdf(name);
    if (flag == 0 || (path != NULL && is_foreign(path, mode)))
        return open(path, mode, ncid);
    err = call_table(open, path, flag | (mode & NC_WRITE), &o, ncid, &passes);
    return err != NC_NOERR && passes ? open(path, mode & ~NC_SHARE, ncid) : err;
}
