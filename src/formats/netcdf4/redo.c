/* Writes of metadata, one after the other. The file reaches to the end of what is allocated: libhdf5 refuses a shorter
 * one. */
#include "formats/netcdf4/redo.h"

static int extend_to_end(pnc_file *file, int64_t end)
{
    int64_t size;

    PNC_TRY(pnc_file_get_size(file, &size));
    return size >= end ? NC_NOERR : pnc_file_range_write(file, (pnc_extent){end - 1, 1}, "");
}

int pnc_netcdf4_redo_apply(pnc_file *file, const pnc_extent *extents, int64_t n, const char *bytes, int64_t end,
                           bool durable)
{
    (void)durable;
    for (int64_t i = 0; i < n; i++) {
        PNC_TRY(pnc_file_range_write(file, extents[i], bytes));
        bytes += extents[i].length;
    }
    return extend_to_end(file, end);
}
