/* The number of records: how it grows, what the ranks agree on, and when it is written to the file. */
#include "formats/classic/records.h"

#include <string.h>

#include "base/memory.h"
#include "file/agree.h"
#include "file/behind.h"
#include "format/codec.h"
#include "format/layout.h"
#include "formats/classic/file_end.h"

#define NUMRECS_OFFSET 4 /* in the file: it follows the 4 bytes of magic */

void pnc_classic_numrecs_update(pnc_format *f, int64_t numrecs)
{
    if (numrecs <= f->model->numrecs)
        return;
    f->model->numrecs = f->file->numrecs = numrecs;
    f->numrecs_dirty = true;
}

void pnc_classic_numrecs_commit(pnc_format *f)
{
    f->numrecs_dirty = false;
}

/* On the number of records, on whether a rank has something unsynced, and on the size that the file has at least. */
static int agree_numrecs(pnc_format *f, int err, bool *unsynced)
{
    int64_t values[] = {f->model->numrecs, f->numrecs_dirty, 0, f->file->unsynced, f->file->store->end->least_size};
    int mismatch;

    err = pnc_file_late_take(f->file, err);
    values[2] = err != NC_NOERR;
    mismatch = pnc_file_maxima_agree(f->file, values, 5, "the number of records");
    if (mismatch != NC_NOERR)
        return pnc_error_keep_first(err, mismatch);
    if (values[2] != 0)
        return pnc_file_status_agree(f->file, err);
    f->model->numrecs = values[0];
    f->numrecs_dirty = values[1] != 0;
    *unsynced = values[3] != 0;
    pnc_file_end_adopt(f->file, values[4]);
    return NC_NOERR;
}

int pnc_classic_numrecs_agree(pnc_format *f, int err)
{
    bool unsynced;

    return agree_numrecs(f, err, &unsynced);
}

/* Another program has truncated the file to less than its header, and a put has extended it since. */
static int fail_truncated(pnc_format *f)
{
    return pnc_error_set(f->file->error, NC_EREAD,
                         "%s was truncated while it was open: its header is gone, and the values that it had are lost",
                         f->file->path);
}

/* Rank 0: the number of records in the file, which another handle may have raised; 0 if the file does not have one. */
static int read_numrecs_on_root(pnc_format *f, int64_t *out)
{
    const pnc_model *written = f->before != NULL ? f->before : f->model;
    char bytes[PNC_FRONT_BYTES];
    static const char zeros[PNC_MAGIC_BYTES];
    pnc_extent front = {0, PNC_FRONT_BYTES};
    int64_t end;

    *out = 0;
    if (f->is_new || written->recdim < 0)
        return NC_NOERR;
    PNC_TRY(pnc_file_extents_read(f->file, &front, 1, bytes, NULL));
    if (memcmp(bytes, zeros, PNC_MAGIC_BYTES) == 0)
        return fail_truncated(f);
    pnc_statistics_add(f->file->statistics, PNC_COUNT_HEADER_BYTES, PNC_FRONT_BYTES);
    *out = pnc_format_numrecs_decode(bytes, written->format);
    if (pnc_size_multiply(*out, written->classic.recsize, &end) != 0 ||
        pnc_size_add(end, written->classic.begin_rec, &end) != 0)
        *out = 0; /* it is damaged */
    return NC_NOERR;
}

/* Rank 0: write model.numrecs, unless the file has more. The ranks then keep theirs until they adopt that of the file,
 * with the next header that they write. */
static int write_numrecs_on_root(pnc_format *f)
{
    char bytes[8];
    int n = pnc_format_numrecs_encode(f->model, bytes);
    int64_t in_file;

    PNC_TRY(pnc_classic_file_end_write(f));
    PNC_TRY(read_numrecs_on_root(f, &in_file));
    if (in_file > f->model->numrecs)
        return NC_NOERR;
    return pnc_file_range_write(f->file, (pnc_extent){NUMRECS_OFFSET, n}, bytes);
}

int pnc_classic_numrecs_merge(pnc_format *f, int err)
{
    int64_t in_file = 0;

    if (err == NC_NOERR && f->file->rank == 0)
        err = read_numrecs_on_root(f, &in_file);
    if (in_file > f->model->numrecs)
        f->model->numrecs = in_file;
    err = pnc_classic_numrecs_agree(f, err);
    if (err == NC_NOERR && f->before != NULL && f->before->recdim >= 0)
        f->before->numrecs = f->model->numrecs;
    return err;
}

/* Collective: write the number if it is not in the file yet. All ranks have the same number. */
static int write_dirty(pnc_format *f)
{
    int err = NC_NOERR;

    if (!f->numrecs_dirty)
        return NC_NOERR;
    if (f->file->rank == 0)
        err = write_numrecs_on_root(f);
    PNC_TRY(pnc_file_status_broadcast(f->file, err));
    pnc_classic_numrecs_commit(f);
    pnc_file_end_raise(f->file, pnc_format_layout_get_file_end(f->model));
    return NC_NOERR;
}

int pnc_classic_numrecs_flush(pnc_format *f, int err, bool *unsynced)
{
    bool any = false;

    PNC_TRY(agree_numrecs(f, pnc_file_behind_finish(f->file, err), &any));
    pnc_file_behind_clear(f->file);
    if (unsynced != NULL)
        *unsynced = any || f->numrecs_dirty;
    return write_dirty(f);
}

int pnc_classic_numrecs_write(pnc_format *f, int64_t numrecs)
{
    if (numrecs <= f->model->numrecs)
        return NC_NOERR;
    pnc_classic_numrecs_update(f, numrecs);
    return f->file->behind == NULL ? write_dirty(f) : NC_NOERR; /* the file gets it when the records are written */
}

int pnc_classic_numrecs_write_late(pnc_format *f)
{
    return f->file->behind != NULL && !pnc_file_is_stopped(f->file) ? write_dirty(f) : NC_NOERR;
}

/* In define mode the header in the file may have another layout. */
void pnc_classic_numrecs_write_last(pnc_format *f)
{
    if (pnc_file_behind_finish(f->file, NC_NOERR) != NC_NOERR || f->file->rank != 0 || f->file->read_only ||
        f->is_new || f->before != NULL)
        return;
    pnc_classic_numrecs_update(f, f->file->numrecs);
    if (f->numrecs_dirty)
        (void)write_numrecs_on_root(f);
}
