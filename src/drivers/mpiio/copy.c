/* Copies within a file by the system, on a file descriptor of background.c: bytes are copied once, from page to
 * page, where a read and a write copy them twice. */
#define _GNU_SOURCE /* copy_file_range */
#include "drivers/mpiio/mpiio.h"

#include <unistd.h>

#define LEAST_COPY 4096 /* bytes; a read and a write of fewer are not slower */

int64_t pnc_mpiio_extent_copy(pnc_store *store, pnc_extent from, int64_t to)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    off64_t source = from.offset, target = to;
    int64_t copied = 0;
    ssize_t n = 1;
    int fd = from.length < LEAST_COPY ? PNC_MPIIO_NO_BACKGROUND : pnc_mpiio_background_open(io);

    if (fd < 0)
        return 0;
    for (; copied < from.length && n > 0; copied += n > 0 ? n : 0)
        n = copy_file_range(fd, &source, fd, &target, (size_t)(from.length - copied), 0);
    if (copied > 0) {
        pnc_statistics_access_add(store->statistics, false, from.offset, copied);
        pnc_statistics_access_add(store->statistics, true, to, copied);
    }
    return copied;
}
