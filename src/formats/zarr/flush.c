/* What the store lacks: chunks, lengths of dimensions. */
#include <string.h>

#include "base/memory.h"
#include "file/agree.h"
#include "formats/arrays.h"
#include "formats/zarr/zarr.h"

/* --- lengths of dimensions --- */

void pnc_zarr_length_add(pnc_format *f, int dimid, int64_t length)
{
    pnc_zarr *z = pnc_zarr_state_get(f);

    if (!pnc_format_dim_grow(f->model, dimid, length))
        return;
    if (dimid == f->model->recdim)
        f->file->numrecs = f->model->numrecs;
    z->lengths_dirty = true;
    pnc_zarr_facts_extend(z);
}

/* --- documents --- */

/* Collective. The store gets the documents of the model again, all of them. */
static int rewrite_documents(pnc_zarr *z)
{
    pnc_zarr_documents documents = {.n = 0};
    int err = NC_NOERR;

    if (z->format.file->rank == 0) {
        err = pnc_zarr_documents_make(z, &documents);
        if (err == NC_NOERR)
            err = pnc_zarr_documents_write(z, &documents);
        pnc_zarr_documents_free(&documents);
    }
    err = pnc_file_status_broadcast(z->format.file, err);
    z->is_unfinished = err != NC_NOERR;
    return err;
}

int pnc_zarr_store_restore(pnc_format *f)
{
    pnc_zarr *z = pnc_zarr_state_get(f);

    if (z->is_unapplied)
        PNC_TRY(pnc_zarr_changes_execute(z));
    return z->is_unfinished ? rewrite_documents(z) : NC_NOERR;
}

int pnc_zarr_store_restore_before_put(pnc_format *f, bool collective)
{
    const pnc_zarr *z = pnc_zarr_state_get(f);

    if (!(z->is_unfinished || z->is_unapplied) || collective || f->file->nprocs == 1)
        return pnc_zarr_store_restore(f);
    return pnc_error_set(f->file->error, NC_EINTERRUPTED,
                         "%s: changes of the store are not complete yet after a write that failed: an independent "
                         "put must wait until a collective put, ncmpi_sync or ncmpi_close completes them",
                         f->file->path);
}

/* --- flush --- */

/* Collective, after an error. Whether any rank has values that no chunk has; if not, they are lost, as filters have
 * refused them. */
static bool has_waiting_values(pnc_zarr *z)
{
    pnc_file *file = z->format.file;
    int64_t has = pnc_chunks_store_is_dirty(file->store) || pnc_file_is_stopped(file);

    return pnc_file_maxima_agree(file, &has, 1, "whether values are not written") != NC_NOERR || has != 0;
}

/* Collective. Chunks to the folder, where only this handle finds them. */
static int put_chunks(pnc_zarr *z, int *lost)
{
    pnc_file *file = z->format.file;
    int err = pnc_file_status_agree(file, pnc_chunks_store_flush(file->store, file->error));

    *lost = err;
    return err != NC_NOERR && has_waiting_values(z) ? err : NC_NOERR;
}

/* Collective. All ranks find the chunks, but no other program does. */
static int show_chunks(pnc_zarr *z)
{
    pnc_container *container = pnc_zarr_container_get(z);
    pnc_file *file = z->format.file;

    PNC_TRY(pnc_file_status_agree(file, pnc_zarr_container_display(container, file->error)));
    pnc_zarr_container_set_shown(container);
    return NC_NOERR;
}

/* Collective. */
static int flush_values(pnc_zarr *z, bool commits)
{
    int lost, err;

    PNC_TRY(put_chunks(z, &lost));
    err = commits ? pnc_zarr_changes_commit(z, z->lengths_dirty) : show_chunks(z);
    if (err == NC_NOERR) {
        pnc_chunks_store_discard(z->format.file->store);
        pnc_zarr_container_discard(pnc_zarr_container_get(z));
    }
    return pnc_error_keep_first(lost, err);
}

static bool has_changed_chunks(const pnc_zarr *z)
{
    return z->has_chunks &&
           (pnc_chunks_store_is_dirty(z->format.file->store) || pnc_zarr_container_is_dirty(pnc_zarr_container_get(z)));
}

/* Collective. with_documents: the dataset has it, also after the death of a node. Else all ranks find the chunks. */
static int flush_what_lacks(pnc_format *f, int err, bool *unsynced, bool with_documents)
{
    pnc_zarr *z = pnc_zarr_state_get(f);
    int64_t values[] = {f->model->numrecs, z->lengths_dirty, 0, f->file->unsynced, has_changed_chunks(z)};
    int mismatch;

    err = pnc_file_late_take(f->file, err);
    values[2] = err != NC_NOERR;
    mismatch = pnc_file_maxima_agree(f->file, values, 5, "the number of records");
    if (mismatch != NC_NOERR)
        return pnc_error_keep_first(err, mismatch);
    if (values[2] != 0)
        return pnc_file_status_agree(f->file, err);
    PNC_TRY(pnc_zarr_store_restore(f));
    if (f->model->recdim >= 0)
        pnc_zarr_length_add(f, f->model->recdim, values[0]);
    z->lengths_dirty = z->lengths_dirty || values[1] != 0;
    PNC_TRY(pnc_formats_lengths_agree(f));
    if (unsynced != NULL)
        *unsynced = values[3] != 0 || z->lengths_dirty;
    if (!z->has_chunks)
        return NC_NOERR;
    if (values[3] != 0 || values[4] != 0 || (with_documents && z->lengths_dirty))
        return flush_values(z, with_documents);
    return NC_NOERR;
}

int pnc_zarr_chunks_flush(pnc_format *f, int err, bool *unsynced)
{
    return flush_what_lacks(f, err, unsynced, true);
}

int pnc_zarr_chunks_publish(pnc_format *f)
{
    if (f->file->read_only || f->file->nprocs == 1)
        return NC_NOERR;
    return flush_what_lacks(f, NC_NOERR, NULL, false);
}

/* --- records that are filled --- */

/* It depends on the variable. */
int pnc_zarr_record_check(pnc_format *f, int64_t record)
{
    (void)f, (void)record;
    return NC_NOERR;
}

int pnc_zarr_record_fill(pnc_format *f, int varid, int64_t record)
{
    const pnc_var *var = f->model->vars[varid];
    int64_t array = pnc_chunks_array_find(f->file->store, varid);
    int err = NC_NOERR;

    if (record >= var->netcdf4.shape[0])
        return pnc_error_set(f->file->error, NC_EINVALCOORDS, "recno is %lld: too large for a Zarr store",
                             (long long)pnc_error_get_index(f->file->error, record));
    PNC_TRY(pnc_zarr_store_restore_before_put(f, true));
    f->file->unsynced = true;
    if (array >= 0)
        err = pnc_formats_record_part_fill(f, varid, array, record);
    err = pnc_chunks_put_end(f->file->store, true, err, f->file->error);
    PNC_TRY(pnc_file_status_agree(f->file, err));
    return pnc_formats_length_write(f, var->dimids[0], record + 1);
}
