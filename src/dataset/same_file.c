/* Several handles of this process on one netCDF-4 file. */
#include "dataset/same_file.h"

#include <sys/stat.h>

#include "base/path.h"
#include "dataset/deferred.h"
#include "dataset/message.h"
#include "dataset/registry.h"
#include "drivers/driver.h"
#include "file/behind.h"

/* --- which --- */

static bool has_unwritten(const pnc_dataset *ds)
{
    return ds->same_file.has_put || ds->deferred.calls > 0;
}

/* The device is known on rank 0 only. */
static bool is_same(const pnc_identity *a, const pnc_identity *b)
{
    return a->inode != 0 && a->inode == b->inode && (a->device == b->device || a->device == 0 || b->device == 0);
}

/* The next one from *at on that is this file, but for `own`; NULL: none. */
static pnc_dataset *find_other(const pnc_identity *identity, const pnc_dataset *own, int *at)
{
    while (*at < NC_MAX_NFILES) {
        pnc_dataset *ds = pnc_dataset_registry_peek((*at)++);

        if (ds != NULL && ds != own && ds->format->ops->has_storage && is_same(identity, &ds->file.store->identity))
            return ds;
    }
    return NULL;
}

/* --- what others have --- */

/* Of a call for another handle: an error can be shown, but not returned. Its next flush tries again what can be
 * written. */
static void show_error(pnc_dataset *ds)
{
    if (!ds->same_file.has_warned)
        pnc_dataset_warning_print(ds, "values that another handle of this process reads cannot be written: %s",
                                  ds->error.text);
    ds->same_file.has_warned = true;
    pnc_error_clear(&ds->error);
}

static bool write_one(pnc_dataset *ds)
{
    int err;

    if (ds->file.nprocs > 1 || ds->mode == PNC_DEFINE)
        return false;
    err = pnc_dataset_deferred_write(ds);
    if (err == NC_NOERR)
        err = ds->format->ops->flush(ds->format, NC_NOERR, NULL);
    if (err == NC_NOERR)
        ds->same_file.has_put = false;
    else
        show_error(ds);
    return err == NC_NOERR;
}

/* Returns whether the file has all of it. */
static bool write_others(const pnc_identity *identity, const pnc_dataset *own)
{
    pnc_dataset *ds;
    bool good = true;
    int at = 0;

    while ((ds = find_other(identity, own, &at)) != NULL)
        if (has_unwritten(ds) && !write_one(ds))
            good = false;
    return good;
}

/* Once for each handle that reads, on its first rank. */
static void warn(pnc_dataset *reader, const char *what)
{
    if (!reader->same_file.has_warned && reader->file.rank == 0)
        pnc_dataset_warning_print(reader, "%s", what);
    reader->same_file.has_warned = true;
}

/* --- calls --- */

void pnc_dataset_same_file_write(const char *path)
{
    struct stat facts;
    bool has = false;

    if (path == NULL || pnc_driver_has_threads())
        return;
    for (int i = 0; i < NC_MAX_NFILES && !has; i++) {
        const pnc_dataset *ds = pnc_dataset_registry_peek(i);

        has = ds != NULL && ds->format->ops->has_storage && has_unwritten(ds);
    }
    if (has && stat(pnc_path_strip(path), &facts) == 0)
        (void)write_others(&(pnc_identity){(int64_t)facts.st_dev, (int64_t)facts.st_ino}, NULL);
}

void pnc_dataset_same_file_find(pnc_dataset *ds)
{
    pnc_dataset *other;
    int at = 0;

    if (!ds->format->ops->has_storage || pnc_driver_has_threads())
        return;
    while ((other = find_other(&ds->file.store->identity, ds, &at)) != NULL)
        ds->same_file.is_shared = other->same_file.is_shared = true;
}

static void begin_put(pnc_dataset *ds)
{
    pnc_dataset *other;
    int at = 0;

    ds->same_file.has_put = true;
    if (!ds->same_file.is_shared)
        return;
    while ((other = find_other(&ds->file.store->identity, ds, &at)) != NULL)
        other->same_file.is_stale = true;
}

static void begin_get(pnc_dataset *ds)
{
    if (!ds->same_file.is_shared)
        return;
    if (!write_others(&ds->file.store->identity, ds)) {
        warn(ds,
             "another handle of this process has put values that are not in the file yet, and may read as fill "
             "values: call ncmpi_sync for that handle first");
        return;
    }
    if (!ds->same_file.is_stale)
        return;
    pnc_file_ahead_discard(&ds->file);
    if (!ds->format->ops->renew(ds->format))
        warn(ds,
             "another handle of this process has put values since this one was opened, which may read what was there "
             "before: open the file again");
    ds->same_file.is_stale = false;
}

void pnc_dataset_same_file_begin(pnc_dataset *ds, pnc_direction direction)
{
    if (direction == PNC_PUT)
        begin_put(ds);
    else
        begin_get(ds);
}
