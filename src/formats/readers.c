/* The table of readers. */
#include "formats/netcdf4/reader.h"
#include "formats/zarr/reader.h"

static const pnc_reader_ops *const readers[] = {&pnc_netcdf4_reader, &pnc_zarr_reader};

const pnc_reader_ops *pnc_formats_readers_find(const char *front, int64_t n)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (readers[i]->is_format != NULL && readers[i]->is_format(front, n))
            return readers[i];
    return NULL;
}

const pnc_reader_ops *pnc_formats_readers_find_folder(int fd)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (readers[i]->is_folder != NULL && readers[i]->is_folder(fd))
            return readers[i];
    return NULL;
}
