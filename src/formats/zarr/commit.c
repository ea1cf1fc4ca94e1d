/* Chunks and documents become those of the store: all of them, or after an error or a death none.
 *
 * Each rank lists its changes. If there are several, the lists are written to the log, each by its rank, and when all
 * are flushed rank 0 makes it count. Then each rank makes its changes, rank 0 those of documents last, and deletes the
 * log. */
#include "file/agree.h"
#include "formats/zarr/zarr.h"

/* Local. The changes of this rank. */
static int prepare_changes(pnc_zarr *z, bool with_lengths)
{
    pnc_file *file = z->format.file;

    if (file->rank == 0)
        PNC_TRY(pnc_zarr_seen_check(z));
    if (z->has_chunks)
        PNC_TRY(pnc_zarr_container_update(pnc_zarr_container_get(z), &z->changes, file->error));
    if (file->rank != 0 || !with_lengths)
        return NC_NOERR;
    PNC_TRY(pnc_zarr_documents_make(z, &z->next));
    return pnc_zarr_documents_put(z, z->id, &z->next, &z->staged);
}

static void forget_changes(pnc_zarr *z)
{
    pnc_zarr_changes_free(&z->changes);
    pnc_zarr_changes_free(&z->staged);
    pnc_zarr_documents_free(&z->next);
}

/* Nothing was changed. What is flushed stays, to be listed again. */
static int give_changes_up(pnc_zarr *z, int err)
{
    if (z->format.file->rank == 0) {
        pnc_zarr_log_discard(z->objects, z->id);
        if (!z->has_log) /* else the log may name them */
            pnc_zarr_documents_remove(z, z->id, &z->next);
    }
    forget_changes(z);
    return err;
}

/* Collective. Changes of all ranks: all->at is NULL. *offset: of those of this rank; those of documents are last.
 * *has_log: the store has one already, which is to be replaced. */
static int count_changes(pnc_zarr *z, pnc_zarr_changes *all, int64_t *offset, bool *has_log)
{
    pnc_file *file = z->format.file;
    int64_t sums[] = {z->changes.n + z->staged.n, z->changes.count + z->staged.count, z->changes.nindexes,
                      (int64_t)(z->changes.sum + z->staged.sum), z->has_log};
    int64_t own = z->changes.n, before = 0;
    int code = MPI_SUCCESS;

    if (file->nprocs > 1)
        code = MPI_Exscan(&own, &before, 1, MPI_INT64_T, MPI_SUM, file->comm);
    *offset = file->rank == 0 ? 0 : before;
    pnc_file_sums_agree(file, sums, 5, "what changes in the store");
    *all = (pnc_zarr_changes){.n = sums[0], .count = sums[1], .nindexes = sums[2], .sum = (uint64_t)sums[3]};
    *has_log = sums[4] != 0;
    pnc_file_step_check(file, code, "MPI_Exscan", "what changes in the store");
    return pnc_file_late_take(file, NC_NOERR);
}

/* Collective. */
static int write_all_logs(pnc_zarr *z, const pnc_zarr_changes *all, int64_t offset, int err)
{
    pnc_file *file = z->format.file;

    if (err == NC_NOERR)
        err = pnc_zarr_log_write(z->objects, z->id, offset, &z->changes, file->error);
    if (err == NC_NOERR && file->rank == 0)
        err = pnc_zarr_log_write(z->objects, z->id, all->n - z->staged.n, &z->staged, file->error);
    PNC_TRY(pnc_file_status_agree(file, err));
    if (file->rank == 0) {
        err = pnc_zarr_log_begin(z->objects, z->id, all, file->error);
        z->has_log = z->has_log || err == NC_NOERR;
    }
    return pnc_file_status_broadcast(file, err);
}

int pnc_zarr_changes_execute(pnc_zarr *z)
{
    pnc_file *file = z->format.file;
    int err = file->rank == 0 && z->is_unapplied ? pnc_zarr_seen_check(z) : NC_NOERR;

    if (err == NC_NOERR)
        err = pnc_zarr_changes_apply(z->objects, z->id, &z->changes, file->error);
    z->is_unapplied = true;
    PNC_TRY(pnc_file_status_agree(file, err));
    if (file->rank == 0) {
        err = pnc_zarr_changes_apply(z->objects, z->id, &z->staged, file->error);
        if (err == NC_NOERR && z->has_log)
            err = pnc_zarr_log_end(z->objects, file->error);
        z->has_log = z->has_log && err != NC_NOERR;
    }
    PNC_TRY(pnc_file_status_broadcast(file, err));
    if (file->rank == 0 && z->next.n > 0)
        pnc_zarr_documents_adopt(z, &z->next);
    if (z->has_chunks)
        pnc_zarr_container_finish(pnc_zarr_container_get(z));
    forget_changes(z);
    z->is_unapplied = z->lengths_dirty = false;
    return NC_NOERR;
}

/* One name is given by one call. */
static bool needs_log(const pnc_zarr_changes *all, bool has_log)
{
    return all->count > 1 || all->nindexes > 0 || (has_log && all->count > 0);
}

int pnc_zarr_changes_commit(pnc_zarr *z, bool with_lengths)
{
    pnc_zarr_changes all;
    int64_t offset;
    bool has_log;
    int err;

    forget_changes(z);
    err = pnc_file_status_agree(z->format.file, prepare_changes(z, with_lengths));
    if (err != NC_NOERR)
        return give_changes_up(z, err);
    err = count_changes(z, &all, &offset, &has_log);
    err = needs_log(&all, has_log) ? write_all_logs(z, &all, offset, err) : pnc_file_status_agree(z->format.file, err);
    return err != NC_NOERR ? give_changes_up(z, err) : pnc_zarr_changes_execute(z);
}
