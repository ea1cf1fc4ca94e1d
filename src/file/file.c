/* Bytes between memory and an open file; without MPI. */
#include "file/file.h"

#include <string.h>

#include "base/minmax.h"
#include "base/path.h"
#include "host/host.h"

#define LARGEST_PORTION (INT64_C(1) << 29) /* bytes per operation of the store */

int pnc_file_extents_read(pnc_file *file, const pnc_extent *extents, int64_t n, void *bytes, int64_t *got)
{
    pnc_counter before = pnc_statistics_begin(file->statistics, PNC_COUNT_TIME_READ);
    int err = file->store->ops->read(file->store, extents, n, bytes, got, file->error);

    pnc_statistics_end(file->statistics, before);
    return err;
}

int pnc_file_extents_peek(pnc_file *file, const pnc_extent *extents, int64_t n, void *bytes)
{
    return file->store->ops->read(file->store, extents, n, bytes, NULL, NULL);
}

void pnc_file_end_adopt(pnc_file *file, int64_t size)
{
    if (file->store->nnodes == 1 && !file->store->striping.on_servers)
        pnc_file_end_raise(file, size);
}

/* After a write: it has extended the file, or the file was longer. */
static void note_end(pnc_file *file, const pnc_extent *extents, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (extents[i].length > 0)
            pnc_file_end_raise(file, extents[i].offset + extents[i].length);
}

int pnc_file_extents_write(pnc_file *file, const pnc_extent *extents, int64_t n, const void *bytes)
{
    pnc_counter before = pnc_statistics_begin(file->statistics, PNC_COUNT_TIME_WRITE);
    int err;

    file->unsynced = true;
    err = file->store->ops->write(file->store, extents, n, bytes, file->error);
    if (err == NC_NOERR)
        note_end(file, extents, n);
    pnc_statistics_end(file->statistics, before);
    return err;
}

/* Another program may hold a lock for as long as it writes. */
bool pnc_file_span_lock(pnc_file *file, pnc_extent span)
{
    pnc_counter before = pnc_statistics_begin(file->statistics, PNC_COUNT_TIME_WRITE);
    bool is_locked = file->store->ops->lock != NULL && file->store->ops->lock(file->store, span);

    pnc_statistics_end(file->statistics, before);
    return is_locked;
}

int pnc_file_span_unlock(pnc_file *file, pnc_extent span)
{
    return file->store->ops->unlock(file->store, span, file->error);
}

void pnc_file_transfer_start(pnc_file *file, bool is_write, pnc_extent extent, void *bytes, pnc_store_transfer *out)
{
    file->unsynced |= is_write;
    file->store->ops->start(file->store, is_write, extent, bytes, out);
}

int pnc_file_transfer_finish(pnc_file *file, pnc_store_transfer *transfer)
{
    pnc_counter before =
        pnc_statistics_begin(file->statistics, transfer->is_write ? PNC_COUNT_TIME_WRITE : PNC_COUNT_TIME_READ);
    int err = file->store->ops->finish(file->store, transfer, file->error);

    if (err == NC_NOERR && transfer->is_write)
        note_end(file, &transfer->extent, 1);
    pnc_statistics_end(file->statistics, before);
    return err;
}

int pnc_file_extents_read_all(pnc_file *file, const pnc_extent *extents, int64_t n, void *bytes)
{
    pnc_counter before = pnc_statistics_begin(file->statistics, PNC_COUNT_TIME_READ);
    int err = file->store->ops->read_all(file->store, extents, n, bytes, NULL, file->error);

    pnc_statistics_end(file->statistics, before);
    return err;
}

int pnc_file_extents_write_all(pnc_file *file, const pnc_extent *extents, int64_t n, const void *bytes)
{
    pnc_counter before = pnc_statistics_begin(file->statistics, PNC_COUNT_TIME_WRITE);
    int err;

    file->unsynced = true;
    err = file->store->ops->write_all(file->store, extents, n, bytes, file->error);
    if (err == NC_NOERR)
        note_end(file, extents, n);
    pnc_statistics_end(file->statistics, before);
    return err;
}

static pnc_extent take_header_portion(pnc_extent *rest)
{
    pnc_extent portion = {rest->offset, pnc_min64(rest->length, LARGEST_PORTION)};

    rest->offset += portion.length;
    rest->length -= portion.length;
    return portion;
}

int pnc_file_range_read(pnc_file *file, pnc_extent extent, char *bytes)
{
    while (extent.length > 0) {
        pnc_extent portion = take_header_portion(&extent);

        PNC_TRY(pnc_file_extents_read(file, &portion, 1, bytes, NULL));
        file->get_size += portion.length;
        pnc_statistics_add(file->statistics, PNC_COUNT_HEADER_BYTES, portion.length);
        bytes += portion.length;
    }
    return NC_NOERR;
}

int pnc_file_range_write(pnc_file *file, pnc_extent extent, const char *bytes)
{
    while (extent.length > 0) {
        pnc_extent portion = take_header_portion(&extent);

        PNC_TRY(pnc_file_extents_write(file, &portion, 1, bytes));
        file->put_size += portion.length;
        pnc_statistics_add(file->statistics, PNC_COUNT_HEADER_BYTES, portion.length);
        bytes += portion.length;
    }
    return NC_NOERR;
}

int pnc_file_span_read(pnc_file *file, int64_t size, pnc_extent span, char *bytes)
{
    int64_t present = pnc_min64(pnc_max64(size - span.offset, 0), span.length);

    memset(bytes + present, 0, (size_t)(span.length - present));
    if (present == 0)
        return NC_NOERR;
    return pnc_file_extents_read(file, &(pnc_extent){span.offset, present}, 1, bytes, NULL);
}

pnc_held pnc_file_hold_set(pnc_file *file, pnc_hold hold)
{
    return file->store->ops->hold == NULL ? PNC_HELD_UNKNOWN : file->store->ops->hold(file->store, hold);
}

int64_t pnc_file_get_change(const pnc_file *file)
{
    const char *path = file->store->full_path;

    return pnc_host_path_get_change(path != NULL ? path : pnc_path_strip(file->path));
}

int pnc_file_get_size(pnc_file *file, int64_t *size)
{
    return file->store->ops->size(file->store, size, file->error);
}

int pnc_file_data_sync(pnc_file *file)
{
    pnc_counter before = pnc_statistics_begin(file->statistics, PNC_COUNT_TIME_WRITE);
    int err = file->store->ops->sync(file->store, file->error);

    if (err == NC_NOERR)
        file->unsynced = false;
    pnc_statistics_add(file->statistics, PNC_COUNT_SYNCS, 1);
    pnc_statistics_end(file->statistics, before);
    return err;
}
