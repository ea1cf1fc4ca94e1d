/* Bytes between memory and an open file. */
#include "file/file.h"

#include <stddef.h>

#define LARGEST_PORTION (INT64_C(1) << 29) /* bytes per operation of the store */

int pnc_file_extents_read(pnc_file *file, const pnc_extent *extents, int64_t n, void *bytes, int64_t *got)
{
    return file->store->ops->read(file->store, extents, n, bytes, got, file->error);
}

int pnc_file_extents_write(pnc_file *file, const pnc_extent *extents, int64_t n, const void *bytes)
{
    return file->store->ops->write(file->store, extents, n, bytes, file->error);
}

static pnc_extent take_portion(pnc_extent *rest)
{
    pnc_extent portion = {rest->offset, rest->length < LARGEST_PORTION ? rest->length : LARGEST_PORTION};

    rest->offset += portion.length;
    rest->length -= portion.length;
    return portion;
}

int pnc_file_range_read(pnc_file *file, pnc_extent extent, char *bytes)
{
    while (extent.length > 0) {
        pnc_extent portion = take_portion(&extent);

        PNC_TRY(pnc_file_extents_read(file, &portion, 1, bytes, NULL));
        file->get_size += portion.length;
        bytes += portion.length;
    }
    return NC_NOERR;
}

int pnc_file_range_write(pnc_file *file, pnc_extent extent, const char *bytes)
{
    while (extent.length > 0) {
        pnc_extent portion = take_portion(&extent);

        PNC_TRY(pnc_file_extents_write(file, &portion, 1, bytes));
        file->put_size += portion.length;
        bytes += portion.length;
    }
    return NC_NOERR;
}

int pnc_file_get_size(pnc_file *file, int64_t *size)
{
    return file->store->ops->size(file->store, size, file->error);
}

int pnc_file_data_sync(pnc_file *file)
{
    return file->store->ops->sync(file->store, file->error);
}
