/* The table of readers. */
#include "formats/netcdf4/reader.h"

static const pnc_reader_ops *const readers[] = {&pnc_netcdf4_reader};

const pnc_reader_ops *pnc_formats_readers_find(const char *front, int64_t n)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (readers[i]->is_format(front, n))
            return readers[i];
    return NULL;
}
