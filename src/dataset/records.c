/* The number of records: how it grows, what the ranks agree on, and when it is written to the file. */
#include "dataset/records.h"

#include "dataset/file_end.h"
#include "dataset/modes.h"
#include "file/agree.h"
#include "format/codec.h"

#define NUMRECS_OFFSET 4 /* in the file: it follows the 4 bytes of magic */

void pnc_dataset_numrecs_update(pnc_dataset *ds, int64_t numrecs)
{
    if (numrecs <= ds->model.numrecs)
        return;
    ds->model.numrecs = numrecs;
    ds->numrecs_dirty = true;
}

void pnc_dataset_numrecs_commit(pnc_dataset *ds)
{
    ds->numrecs_dirty = false;
}

int pnc_dataset_numrecs_agree(pnc_dataset *ds, int err)
{
    int64_t values[] = {ds->model.numrecs, ds->numrecs_dirty, 0};

    err = pnc_file_late_take(&ds->file, err);
    values[2] = err != NC_NOERR;
    pnc_file_maxima_agree(&ds->file, values, 3, "the number of records");
    if (values[2] != 0)
        return pnc_file_status_agree(&ds->file, err);
    ds->model.numrecs = values[0];
    ds->numrecs_dirty = values[1] != 0;
    return NC_NOERR;
}

/* Rank 0: write model.numrecs. */
static int write_on_root(pnc_dataset *ds)
{
    char bytes[8];
    int n = pnc_format_numrecs_encode(&ds->model, bytes);

    PNC_TRY(pnc_dataset_file_end_write(ds));
    return pnc_file_range_write(&ds->file, (pnc_extent){NUMRECS_OFFSET, n}, bytes);
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
    pnc_dataset_file_end_update(ds);
    return NC_NOERR;
}

int pnc_dataset_numrecs_flush(pnc_dataset *ds)
{
    PNC_TRY(pnc_dataset_numrecs_agree(ds, NC_NOERR));
    return write_dirty(ds);
}

int pnc_dataset_numrecs_write(pnc_dataset *ds, int64_t numrecs)
{
    if (numrecs <= ds->model.numrecs)
        return NC_NOERR;
    pnc_dataset_numrecs_update(ds, numrecs);
    return write_dirty(ds);
}

int pnc_dataset_sync_numrecs(pnc_dataset *ds)
{
    PNC_TRY(pnc_dataset_mode_check_data(ds));
    return ds->file.read_only ? NC_NOERR : pnc_dataset_numrecs_flush(ds);
}
