/* Lists of extents at explicit offsets. Short extents close to each other are read through a sieve buffer (sieve.c),
 * and written through a file view (view.c). */
#include "drivers/mpiio/mpiio.h"

#include <assert.h>
#include <stddef.h>

/* After a short write, continue at the first missing byte: the next one succeeds, or has an error with the cause. Open
 * MPI (OMPIO) reports an interrupted write as a write of 0 bytes. */
int pnc_mpiio_extent_write(pnc_mpiio *io, pnc_extent extent, const char *buf, pnc_error *error)
{
    int moved, code, vain = 0;
    int64_t done = 0;

    assert(extent.offset >= 0 && extent.length >= 0 && extent.length < PNC_STORE_BYTES_MAX);
    while (done < extent.length && vain < PNC_MPIIO_ATTEMPTS) {
        MPI_Status status;

        moved = 0;
        code = MPI_File_write_at(io->file, extent.offset + done, buf + done, (int)(extent.length - done), MPI_BYTE,
                                 &status);
        if (code == MPI_SUCCESS)
            MPI_Get_count(&status, MPI_BYTE, &moved);
        else if (!pnc_mpiio_error_is_interruption(code) || vain + 1 == PNC_MPIIO_ATTEMPTS)
            return pnc_mpiio_error_set(error, code, NC_EWRITE, "write", io->path);
        pnc_statistics_access_add(io->store.statistics, true, extent.offset + done, moved);
        done += moved;
        vain = moved > 0 ? 0 : vain + 1;
    }
    if (done < extent.length)
        return pnc_mpiio_error_set_short(error, (int)done, extent, io->path);
    return NC_NOERR;
}

static int read_some(pnc_mpiio *io, pnc_extent extent, char *buf, int *moved, pnc_error *error)
{
    MPI_Status status;
    int code, attempts = 0;

    assert(extent.offset >= 0 && extent.length >= 0 && extent.length < PNC_STORE_BYTES_MAX);
    do
        code = MPI_File_read_at(io->file, extent.offset, buf, (int)extent.length, MPI_BYTE, &status);
    while (pnc_mpiio_error_is_interruption(code) && ++attempts < PNC_MPIIO_ATTEMPTS);
    if (code != MPI_SUCCESS)
        return pnc_mpiio_error_set(error, code, NC_EREAD, "read", io->path);
    MPI_Get_count(&status, MPI_BYTE, moved);
    pnc_statistics_access_add(io->store.statistics, false, extent.offset, *moved);
    return NC_NOERR;
}

/* After a short read, continue at the first missing byte while the file extends beyond it (other ranks may be
 * writing) and reads return bytes. OMPIO reports an interrupted read as a read of 0 bytes. */
int pnc_mpiio_extent_read(pnc_mpiio *io, pnc_extent rest, char *buf, int64_t *got, pnc_error *error)
{
    int64_t size = 0;
    bool more = true;
    int moved = 0, vain = 0;

    while (more) {
        PNC_TRY(read_some(io, rest, buf, &moved, error));
        *got += moved;
        buf += moved;
        rest.offset += moved;
        rest.length -= moved;
        if (rest.length == 0)
            return NC_NOERR;
        vain = moved > 0 ? 0 : vain + 1;
        PNC_TRY(pnc_mpiio_file_get_size(&io->store, &size, error));
        more = vain < PNC_MPIIO_ATTEMPTS && rest.offset < size;
    }
    PNC_TRY(pnc_store_pass_end(&io->store, io->path, rest, size, buf, error));
    *got += rest.length;
    return NC_NOERR;
}

int pnc_mpiio_extents_read(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                           pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    int64_t some = 0;
    /* As in a write, the direct call saves a return: after a system call it is mispredicted (10 ns). */
    int err = n == 1 ? pnc_mpiio_extent_read(io, extents[0], buf, &some, error)
                     : pnc_mpiio_sieve_read(io, extents, n, buf, &some, error);

    if (got != NULL)
        *got = some;
    return err;
}

int pnc_mpiio_extents_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    const pnc_sieve_limits most = pnc_select_sieve_get_limits(PNC_SIEVE_WRITE_GAP, PNC_STORE_BYTES_MAX);
    const char *from = buf;
    int err = NC_NOERR;

    if (n == 1) /* neither a view nor a loop: most calls have one extent */
        return pnc_mpiio_extent_write(io, extents[0], buf, error);
    if (store->nprocs == 1 && n > PNC_SIEVE_MIN_EXTENTS && pnc_select_extents_is_dense(extents, n, &most))
        return pnc_mpiio_view_write(io, extents, n, buf, error);
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        err = pnc_mpiio_extent_write(io, extents[i], from, error);
        from += extents[i].length;
    }
    return err;
}
