/* The number of records: how it grows, what the ranks agree on, and when it is written to the file. */
#include "dataset/records.h"

#include <string.h>

#include "base/memory.h"
#include "dataset/file_end.h"
#include "dataset/modes.h"
#include "file/agree.h"
#include "format/codec.h"

#define NUMRECS_OFFSET 4 /* in the file: it follows the 4 bytes of magic */

void pnc_dataset_numrecs_update(pnc_dataset *ds, int64_t numrecs)
{
    if (numrecs <= ds->model.numrecs)
        return;
    ds->model.numrecs = ds->file.numrecs = numrecs;
    ds->numrecs_dirty = true;
}

void pnc_dataset_numrecs_commit(pnc_dataset *ds)
{
    ds->numrecs_dirty = false;
}

/* On the number of records, on whether a rank has something unsynced, and on the size that the file has at least. */
static int agree(pnc_dataset *ds, int err, bool *unsynced)
{
    int64_t values[] = {ds->model.numrecs, ds->numrecs_dirty, 0, ds->file.unsynced, ds->file.store->end->least_size};
    int mismatch;

    err = pnc_file_late_take(&ds->file, err);
    values[2] = err != NC_NOERR;
    mismatch = pnc_file_maxima_agree(&ds->file, values, 5, "the number of records");
    if (mismatch != NC_NOERR)
        return pnc_error_keep_first(err, mismatch);
    if (values[2] != 0)
        return pnc_file_status_agree(&ds->file, err);
    ds->model.numrecs = values[0];
    ds->numrecs_dirty = values[1] != 0;
    *unsynced = values[3] != 0;
    pnc_file_end_adopt(&ds->file, values[4]);
    return NC_NOERR;
}

int pnc_dataset_numrecs_agree(pnc_dataset *ds, int err)
{
    bool unsynced;

    return agree(ds, err, &unsynced);
}

/* Another program has truncated the file to less than its header, and a put has extended it since. */
static int fail_empty(pnc_dataset *ds)
{
    return pnc_error_set(&ds->error, NC_EREAD,
                         "%s was truncated while it was open: its header is gone, and the values that it had are lost",
                         ds->file.path);
}

/* Rank 0: the number of records in the file, which another handle may have raised; 0 if the file does not have one. */
static int read_on_root(pnc_dataset *ds, int64_t *out)
{
    const pnc_model *written = ds->before != NULL ? ds->before : &ds->model;
    char bytes[PNC_FRONT_BYTES];
    static const char zeros[PNC_MAGIC_BYTES];
    pnc_extent front = {0, PNC_FRONT_BYTES};
    int64_t end;

    *out = 0;
    if (ds->is_new || written->recdim < 0)
        return NC_NOERR;
    PNC_TRY(pnc_file_extents_read(&ds->file, &front, 1, bytes, NULL));
    if (memcmp(bytes, zeros, PNC_MAGIC_BYTES) == 0)
        return fail_empty(ds);
    pnc_statistics_add(ds->file.statistics, PNC_COUNT_HEADER_BYTES, PNC_FRONT_BYTES);
    *out = pnc_format_numrecs_decode(bytes, written->format);
    if (pnc_size_multiply(*out, written->recsize, &end) != 0 || pnc_size_add(end, written->begin_rec, &end) != 0)
        *out = 0; /* it is damaged */
    return NC_NOERR;
}

/* Rank 0: write model.numrecs, unless the file has more. The ranks then keep theirs until they adopt that of the file,
 * with the next header that they write. */
static int write_on_root(pnc_dataset *ds)
{
    char bytes[8];
    int n = pnc_format_numrecs_encode(&ds->model, bytes);
    int64_t in_file;

    PNC_TRY(pnc_dataset_file_end_write(ds));
    PNC_TRY(read_on_root(ds, &in_file));
    if (in_file > ds->model.numrecs)
        return NC_NOERR;
    return pnc_file_range_write(&ds->file, (pnc_extent){NUMRECS_OFFSET, n}, bytes);
}

int pnc_dataset_numrecs_merge(pnc_dataset *ds, int err)
{
    int64_t in_file = 0;

    if (err == NC_NOERR && ds->file.rank == 0)
        err = read_on_root(ds, &in_file);
    if (in_file > ds->model.numrecs)
        ds->model.numrecs = in_file;
    err = pnc_dataset_numrecs_agree(ds, err);
    if (err == NC_NOERR && ds->before != NULL && ds->before->recdim >= 0)
        ds->before->numrecs = ds->model.numrecs;
    return err;
}

/* Collective: write the number if it is not in the file yet. All ranks have the same number. */
static int write_dirty(pnc_dataset *ds)
{
    int err = NC_NOERR;

    if (!ds->numrecs_dirty)
        return NC_NOERR;
    if (ds->file.rank == 0)
        err = write_on_root(ds);
    PNC_TRY(pnc_file_status_broadcast(&ds->file, err));
    pnc_dataset_numrecs_commit(ds);
    pnc_file_end_raise(&ds->file, pnc_format_layout_get_file_end(&ds->model));
    return NC_NOERR;
}

int pnc_dataset_numrecs_flush(pnc_dataset *ds, int err)
{
    PNC_TRY(pnc_dataset_numrecs_agree(ds, err));
    return write_dirty(ds);
}

int pnc_dataset_numrecs_flush_before_sync(pnc_dataset *ds, bool *unsynced)
{
    PNC_TRY(agree(ds, NC_NOERR, unsynced));
    *unsynced |= ds->numrecs_dirty;
    return write_dirty(ds);
}

int pnc_dataset_numrecs_write(pnc_dataset *ds, int64_t numrecs)
{
    if (numrecs <= ds->model.numrecs)
        return NC_NOERR;
    pnc_dataset_numrecs_update(ds, numrecs);
    return write_dirty(ds);
}

/* In define mode the header in the file may have another layout. */
void pnc_dataset_numrecs_write_last(pnc_dataset *ds)
{
    if (ds->file.rank != 0 || ds->file.read_only || ds->mode == PNC_DEFINE)
        return;
    pnc_dataset_numrecs_update(ds, ds->file.numrecs);
    if (ds->numrecs_dirty)
        (void)write_on_root(ds);
}

static int sync_numrecs(pnc_dataset *ds)
{
    PNC_TRY(pnc_dataset_mode_check_data(ds));
    return ds->file.read_only ? NC_NOERR : pnc_dataset_numrecs_flush(ds, NC_NOERR);
}

/* In collective mode each call that changes the number of records agrees on it and writes it: all ranks know that there
 * is nothing to do. In safe mode they compare their calls. */
int pnc_dataset_sync_numrecs(pnc_dataset *ds)
{
    bool is_synced = ds->mode == PNC_COLLECTIVE && !ds->numrecs_dirty && !ds->safe;

    return is_synced ? NC_NOERR : sync_numrecs(ds);
}
