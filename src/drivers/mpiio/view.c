/* Many small extents of one rank through a file view, for programs in which other ranks or threads may have opened
 * the same file with MPI_COMM_SELF: MPI-IO sieves them under locks, which protect bytes that others write into the
 * gaps by the same method. A program of one rank locks what it writes and sieves by itself (lock.c), in a third of the
 * time. */
#include "drivers/mpiio/mpiio.h"

#include <assert.h>
#include <limits.h>

/* Extend the file to the last byte of the extents. Beyond the end of the file, the data sieving of ROMIO reads
 * nothing and then writes the old content of its buffer into the gaps; after this write it reads zeros. */
static int extend_for_view(pnc_mpiio *io, pnc_extent last, const char *byte, pnc_error *error)
{
    MPI_Offset size;
    pnc_extent end = {last.offset + last.length - 1, 1};
    int code = MPI_File_get_size(io->file, &size);

    if (code != MPI_SUCCESS)
        return pnc_mpiio_error_set(error, code, NC_EWRITE, "write", io->path);
    return size > end.offset ? NC_NOERR : pnc_mpiio_extents_write(&io->store, &end, 1, byte, error);
}

/* Write `bytes` bytes to the extents. The caller restores the file view. */
static int write_through_view(pnc_mpiio *io, const pnc_extent *extents, int64_t n, const void *buf, int bytes,
                              int *moved)
{
    MPI_Datatype type;
    MPI_Status status;
    int attempts = 0, code = pnc_mpiio_filetype_create(extents, n, &type);

    if (code != MPI_SUCCESS)
        return code;
    code = MPI_File_set_view(io->file, extents[0].offset, MPI_BYTE, type, "native", MPI_INFO_NULL);
    if (code == MPI_SUCCESS) {
        do {
            code = MPI_File_write_at(io->file, 0, buf, bytes, MPI_BYTE, &status);
            if (code == MPI_SUCCESS)
                MPI_Get_count(&status, MPI_BYTE, moved);
        } while ((pnc_mpiio_error_is_interruption(code) || (code == MPI_SUCCESS && *moved == 0)) &&
                 ++attempts < PNC_MPIIO_ATTEMPTS);
    }
    MPI_Type_free(&type);
    pnc_statistics_add(io->store.statistics, PNC_COUNT_MPI_IO_CALLS, 1);
    pnc_statistics_add(io->store.statistics, PNC_COUNT_MPI_IO_BYTES, *moved);
    return code;
}

int pnc_mpiio_view_write(pnc_mpiio *io, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    int bytes = 0, moved = 0, code, late;

    assert(n > 1 && n <= INT_MAX);
    for (int64_t i = 0; i < n; i++)
        bytes += (int)extents[i].length;
    assert(bytes > 0 && bytes < PNC_STORE_BYTES_MAX);
    PNC_TRY(extend_for_view(io, extents[n - 1], (const char *)buf + bytes - 1, error));
    code = write_through_view(io, extents, n, buf, bytes, &moved);
    /* all other operations assume the default file view */
    late = MPI_File_set_view(io->file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    if (code == MPI_SUCCESS)
        code = late;
    if (code != MPI_SUCCESS)
        return pnc_mpiio_error_set(error, code, NC_EWRITE, "write", io->path);
    if (moved < bytes)
        return pnc_mpiio_error_set_short(error, moved, (pnc_extent){extents[0].offset, bytes}, io->path);
    return NC_NOERR;
}
