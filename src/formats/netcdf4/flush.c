/* What the file lacks of the dataset: lengths of dimensions, chunks that the index does not have yet. */
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"
#include "file/behind.h"
#include "formats/arrays.h"
#include "formats/netcdf4/netcdf4.h"

/* Of chunks whose places ranks know without the index: 640 KiB. */
#define SHARED_MOST INT64_C(16384)
/* New chunks that are not registered yet: if there are as many, they are registered before the next put. Rank 0 has
 * about 60 bytes of metadata for each, three times. A guess. */
#define UNREGISTERED_MOST (INT64_C(1) << 18)

/* --- metadata, all or none --- */

static int do_nothing(pnc_redo *redo, pnc_file *file)
{
    (void)redo, (void)file;
    return NC_NOERR;
}

/* One step of rank 0, after which the file is flushed where nodes may die. */
static int take_step(pnc_netcdf4 *n, int err, int (*step)(pnc_redo *, pnc_file *))
{
    pnc_file *file = n->format.file;

    if (err == NC_NOERR && file->rank == 0)
        err = step(&n->unfinished, file);
    PNC_TRY(pnc_file_status_broadcast(file, err));
    return file->store->striping.in_memory ? NC_NOERR : pnc_file_status_agree(file, pnc_file_data_sync(file));
}

static int write_rest(pnc_netcdf4 *n)
{
    PNC_TRY(take_step(n, NC_NOERR, pnc_netcdf4_redo_write));
    return take_step(n, NC_NOERR, pnc_netcdf4_redo_finish);
}

/* The file has the metadata after that, or must be restored. A failure may be one of this moment: what could not be
 * written or flushed is written again. */
static int write_marked(pnc_netcdf4 *n)
{
    if (write_rest(n) == NC_NOERR)
        return NC_NOERR;
    pnc_error_clear(n->format.file->error);
    return write_rest(n);
}

/* Collective. The file ends where the metadata say. */
static int set_file_end(pnc_netcdf4 *n)
{
    pnc_file *file = n->format.file;
    int err;

    pnc_file_bytes_broadcast(file, &n->end, sizeof n->end, "the end of the file");
    if (n->has_chunks)
        pnc_chunks_end_raise(pnc_netcdf4_container_get(n), n->end);
    file->store->end->least_size = 0; /* the log is behind the end */
    err = file->store->ops->set_size(file->store, n->end, file->error);
    PNC_TRY(pnc_file_status_agree(file, err));
    pnc_file_end_raise(file, n->end);
    return NC_NOERR;
}

/* Other programs find, while the file has the mark, that this one runs. */
static int begin_log(pnc_redo *redo, pnc_file *file)
{
    if (pnc_file_hold_set(file, PNC_HOLD_EXCLUSIVE) == PNC_HELD_BY_OTHERS)
        return pnc_error_set(file->error, NC_EINTERRUPTED, "%s: another program is changing this file", file->path);
    return pnc_netcdf4_redo_begin(redo, file);
}

/* The metadata are in the file, and the log is behind its end: it does no harm if it stays. */
static int complete_commit(pnc_netcdf4 *n)
{
    int err;

    n->is_unfinished = n->index_dirty = n->strings.are_dirty = false;
    if (n->format.file->rank == 0) {
        pnc_file_hold_set(n->format.file, PNC_HOLD_NOTHING);
        pnc_netcdf4_redo_free(&n->unfinished);
        n->end = pnc_netcdf4_metadata_get_end(n->metadata);
        err = pnc_netcdf4_metadata_discard_writes(n->metadata);
        if (err != NC_NOERR) { /* the file is complete: it is opened again when it is needed */
            pnc_error_clear(n->format.file->error);
            pnc_netcdf4_handle_release(n);
        }
    } else {
        pnc_netcdf4_handle_release(n); /* it has read the old ones */
    }
    err = set_file_end(n);
    if (err != NC_NOERR)
        pnc_error_clear(n->format.file->error);
    if (n->format.file->rank == 0)
        pnc_netcdf4_seen_adopt(n, err == NC_NOERR);
    return NC_NOERR;
}

/* Collective, after an error, which is returned. If this fails, too, the metadata remain to be completed. */
static int remove_redo_mark(pnc_netcdf4 *n, int err)
{
    pnc_error first = *n->format.file->error;

    n->is_unfinished = take_step(n, NC_NOERR, pnc_netcdf4_mark_remove) != NC_NOERR;
    *n->format.file->error = first;
    return err;
}

/* A new file is valid when the first bytes are written, which come last: no log. Its data may end before the end. */
static int write_log(pnc_netcdf4 *n, int err)
{
    if (n->format.is_new) {
        PNC_TRY(take_step(n, err, do_nothing));
        return set_file_end(n);
    }
    PNC_TRY(take_step(n, err, begin_log));
    err = take_step(n, NC_NOERR, pnc_netcdf4_mark_write);
    if (err != NC_NOERR && !n->is_unfinished)
        return remove_redo_mark(n, err);
    n->is_unfinished = true;
    return err;
}

/* On rank 0: what will be written to the file, if it is that of the last commit; with the writes of one that has
 * failed. */
static int list_writes(pnc_netcdf4 *n)
{
    pnc_redo redo = {0};

    PNC_TRY(pnc_netcdf4_seen_check(n));
    PNC_TRY(pnc_netcdf4_metadata_list(n->metadata, &redo));
    if (n->is_unfinished)
        pnc_netcdf4_redo_append(&redo, &n->unfinished);
    pnc_netcdf4_redo_free(&n->unfinished);
    n->unfinished = redo;
    n->end = pnc_netcdf4_metadata_get_end(n->metadata);
    pnc_netcdf4_seen_derive(n);
    return NC_NOERR;
}

int pnc_netcdf4_metadata_update(pnc_netcdf4 *n, int err)
{
    if (err == NC_NOERR && n->format.file->rank == 0)
        err = list_writes(n);
    err = write_log(n, err);
    if (err == NC_NOERR)
        err = write_marked(n);
    if (err == NC_NOERR)
        return complete_commit(n);
    if (!n->is_unfinished && n->format.file->rank == 0) {
        pnc_file_hold_set(n->format.file, PNC_HOLD_NOTHING);
        pnc_netcdf4_redo_free(&n->unfinished);
    }
    return err;
}

int pnc_netcdf4_file_restore(pnc_format *f)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);
    int err;

    if (!n->is_unfinished)
        return NC_NOERR;
    err = f->file->rank == 0 ? pnc_netcdf4_seen_check(n) : NC_NOERR;
    err = take_step(n, err, pnc_netcdf4_redo_begin); /* the file may have the mark and the log of an earlier one */
    if (err == NC_NOERR)
        err = take_step(n, NC_NOERR, pnc_netcdf4_mark_write);
    if (err == NC_NOERR)
        err = write_marked(n);
    if (err == NC_NOERR)
        return complete_commit(n);
    if (err == NC_ESTALE)
        return err;
    pnc_error_add_context(f->file->error, "%s: the metadata of the file cannot be completed yet", f->file->path);
    return err;
}

/* --- lengths of dimensions --- */

void pnc_netcdf4_length_add(pnc_format *f, int dimid, int64_t length)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);

    if (!pnc_format_dim_grow(f->model, dimid, length))
        return;
    if (dimid == f->model->recdim)
        f->file->numrecs = f->model->numrecs;
    n->lengths_dirty = true;
    pnc_netcdf4_content_extend(n);
}

/* Whether the dataset in the file is shorter than the dimensions. */
static bool is_short_dataset(const pnc_netcdf4 *n, int64_t array)
{
    const pnc_netcdf4_storage *s = &n->content.storage[n->content.varids[array]];
    int ndims = n->format.model->vars[n->content.varids[array]]->ndims;

    return s->layout == PNC_NETCDF4_CHUNKED &&
           memcmp(n->content.arrays[array].extent, s->extent, (size_t)ndims * sizeof *s->extent) != 0;
}

/* Also where no dimension has grown: netCDF-C extends only the datasets that it writes. */
static bool has_short_datasets(const pnc_netcdf4 *n)
{
    bool has = false;

    for (int64_t i = 0; n->has_chunks && i < n->content.narrays && !has; i++)
        has = is_short_dataset(n, i);
    return has;
}

/* On rank 0: the datasets get the lengths of their dimensions. */
static int extend_datasets(pnc_netcdf4 *n)
{
    for (int64_t i = 0; i < n->content.narrays; i++) {
        int varid = n->content.varids[i];

        if (is_short_dataset(n, i))
            PNC_TRY(pnc_netcdf4_metadata_extend(n->metadata, n->content.storage[varid].path,
                                                n->format.model->vars[varid]->ndims, n->content.arrays[i].extent));
    }
    return NC_NOERR;
}

/* All ranks know then what the file has. */
static void adopt_extents(pnc_netcdf4 *n)
{
    for (int64_t i = 0; i < n->content.narrays; i++) {
        pnc_netcdf4_storage *s = &n->content.storage[n->content.varids[i]];
        int ndims = n->format.model->vars[n->content.varids[i]]->ndims;

        if (s->layout == PNC_NETCDF4_CHUNKED)
            memcpy((int64_t *)s->extent, n->content.arrays[i].extent, (size_t)ndims * sizeof *s->extent);
    }
    n->lengths_dirty = false;
}

/* Collective. All ranks get the values of compact variables from rank 0, if it has new ones. */
static void share_parts(pnc_netcdf4 *n)
{
    pnc_file *file = n->format.file;

    pnc_file_bytes_broadcast(file, &n->parts_dirty, sizeof n->parts_dirty, "whether compact variables change");
    for (int64_t i = 0; i < n->content.narrays && n->parts_dirty; i++) {
        const pnc_netcdf4_storage *s = &n->content.storage[n->content.varids[i]];

        if (s->layout == PNC_NETCDF4_COMPACT && s->nbytes > 0)
            pnc_file_bytes_broadcast(file, (void *)(uintptr_t)s->bytes, s->nbytes, "values of a compact variable");
    }
    n->parts_dirty = false;
}

/* --- flush --- */

/* Collective, after an error, which is returned. libhdf5 keeps what it has allocated for the index: new chunks are
 * behind that. */
static int leave_index(pnc_netcdf4 *n, int err)
{
    int64_t end = n->metadata != NULL ? pnc_netcdf4_metadata_get_end(n->metadata) : n->end;

    pnc_file_bytes_broadcast(n->format.file, &end, sizeof end, "the end of what is allocated");
    pnc_chunks_end_raise(pnc_netcdf4_container_get(n), end);
    n->index_dirty = true;
    return err;
}

/* Lengths, chunks and metadata: the file is that of the model. All ranks have the same lengths. */
static int write_index(pnc_netcdf4 *n)
{
    pnc_file *file = n->format.file;
    bool changes[2] = {n->lengths_dirty || n->index_dirty, false}; /* the index; places of chunks */
    int err = NC_NOERR;

    if (file->rank == 0) {
        err = pnc_netcdf4_handle_get(n);
        if (err == NC_NOERR)
            pnc_netcdf4_metadata_raise_end(n->metadata, pnc_chunks_end_get(pnc_netcdf4_container_get(n)));
        if (err == NC_NOERR && n->lengths_dirty)
            err = extend_datasets(n);
    }
    err = pnc_netcdf4_chunks_register(n, err, &changes[0], &changes[1]);
    if (err != NC_NOERR)
        return leave_index(n, err);
    pnc_file_bytes_broadcast(file, changes, sizeof changes, "whether the metadata change");
    if (!changes[0])
        return NC_NOERR;
    if (changes[1])
        pnc_chunks_index_reject(pnc_netcdf4_container_get(n));
    err = pnc_netcdf4_metadata_update(n, NC_NOERR);
    if (err != NC_NOERR)
        return leave_index(n, err);
    adopt_extents(n);
    share_parts(n);
    pnc_netcdf4_index_adopt(n);
    return NC_NOERR;
}

/* Local. With delayed writes, one chunk is compressed while another one is written. */
static int flush_store(pnc_file *file)
{
    int err;

    if (file->behind != NULL)
        pnc_behind_store_begin(file->behind, file->behind->call);
    err = pnc_chunks_store_flush(file->store, file->error);
    pnc_file_behind_end(file);
    return pnc_file_behind_finish(file, err);
}

/* Collective. Other ranks can read what was put, though the file does not have it in its index yet: no commit. */
static int share_index(pnc_netcdf4 *n)
{
    pnc_file *file = n->format.file;
    bool is_shared;
    int err = pnc_chunks_records_share(pnc_netcdf4_container_get(n), SHARED_MOST, &is_shared, file->error);

    PNC_TRY(pnc_file_status_agree(file, err));
    if (!is_shared)
        return write_index(n);
    pnc_chunks_store_discard(file->store);
    share_parts(n);
    return NC_NOERR;
}

/* Collective, after an error. Whether any rank has values that are not in the file; if not, they are lost, as filters
 * have refused them. */
static bool has_unwritten_values(pnc_netcdf4 *n)
{
    pnc_file *file = n->format.file;
    int64_t has = pnc_chunks_store_is_dirty(file->store) || file->behind != NULL || pnc_file_is_stopped(file);

    return pnc_file_maxima_agree(file, &has, 1, "whether values are not written") != NC_NOERR || has != 0;
}

/* with_index: the file gets it, too. Chunks that cannot be written keep their values, and those that were written their
 * records: the file has none of them before it has all. */
static int flush_chunks(pnc_format *f, int err, bool *unsynced, bool with_index)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);
    int64_t values[] = {f->model->numrecs, n->lengths_dirty, 0, f->file->unsynced, 0, n->strings.n};
    int mismatch, later;

    err = pnc_file_late_take(f->file, pnc_file_behind_finish(f->file, err));
    values[2] = err != NC_NOERR;
    values[4] = n->index_dirty || n->strings.are_dirty ||
                (n->has_chunks && (pnc_chunks_store_is_dirty(f->file->store) ||
                                   pnc_chunks_records_has_any(pnc_netcdf4_container_get(n))));
    mismatch = pnc_file_maxima_agree(f->file, values, 6, "the number of records");
    if (mismatch != NC_NOERR)
        return pnc_error_keep_first(err, mismatch);
    if (values[2] != 0)
        return pnc_file_status_agree(f->file, err);
    pnc_file_behind_clear(f->file);
    PNC_TRY(pnc_netcdf4_file_restore(f));
    if (f->model->recdim >= 0)
        pnc_netcdf4_length_add(f, f->model->recdim, values[0]);
    n->lengths_dirty = values[1] != 0;
    PNC_TRY(pnc_formats_lengths_agree(f));
    if (values[5] != 0)
        PNC_TRY(pnc_netcdf4_strings_send(n));
    n->lengths_dirty = n->lengths_dirty || ((values[3] != 0 || values[4] != 0) && has_short_datasets(n));
    if (unsynced != NULL)
        *unsynced = values[3] != 0 || n->lengths_dirty || n->strings.are_dirty;
    if (!n->has_chunks || (values[3] == 0 && values[4] == 0 && !n->lengths_dirty && !n->strings.are_dirty))
        return NC_NOERR;
    err = pnc_file_status_agree(f->file, flush_store(f->file));
    if (err != NC_NOERR && has_unwritten_values(n))
        return err;
    later = with_index || n->strings.are_dirty ? write_index(n) : share_index(n);
    return pnc_error_keep_first(err, later);
}

int pnc_netcdf4_chunks_flush(pnc_format *f, int err, bool *unsynced)
{
    return flush_chunks(f, err, unsynced, true);
}

int pnc_netcdf4_chunks_publish(pnc_format *f)
{
    if (f->file->read_only || (f->file->nprocs == 1 && f->file->behind == NULL))
        return NC_NOERR;
    return flush_chunks(f, NC_NOERR, NULL, false);
}

/* Collective. New chunks are registered before they are too many. */
static int bound_index(pnc_format *f)
{
    const pnc_netcdf4 *n = pnc_netcdf4_state_get(f);

    if (!n->has_chunks || pnc_chunks_new_count(pnc_netcdf4_container_get(n)) < UNREGISTERED_MOST)
        return NC_NOERR;
    return pnc_netcdf4_chunks_flush(f, NC_NOERR, NULL);
}

int pnc_netcdf4_file_restore_before_put(pnc_format *f, bool collective)
{
    if (!pnc_netcdf4_state_get(f)->is_unfinished || collective || f->file->nprocs == 1) {
        PNC_TRY(pnc_netcdf4_file_restore(f));
        return collective || f->file->nprocs == 1 ? bound_index(f) : NC_NOERR;
    }
    return pnc_error_set(f->file->error, NC_EINTERRUPTED,
                         "%s: the metadata of the file are not completed yet after a write that failed: an independent "
                         "put must wait until a collective put, ncmpi_sync or ncmpi_close completes them",
                         f->file->path);
}
