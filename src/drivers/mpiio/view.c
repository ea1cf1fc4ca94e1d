/* Many small extents of one rank through a file view, where other ranks or threads may have opened the same file with
 * MPI_COMM_SELF: MPI-IO sieves them under locks, which keep the bytes safe that others write into the gaps in this way.
 * A program of one rank sieves for itself (sieve.c), at a third of the time. */
#include "drivers/mpiio/mpiio.h"

#include "base/memory.h"

/* Extents of one length at equal distances, which MPI describes in a few words (stride 2 of doubles: 24 ns an element
 * where a list of them takes 30). */
static bool regular(const pnc_extent *extents, int64_t n)
{
    int64_t step = extents[1].offset - extents[0].offset;

    for (int64_t i = 1; i < n; i++)
        if (extents[i].length != extents[0].length || extents[i].offset - extents[i - 1].offset != step)
            return false;
    return true;
}

/* A type that holds the extents, from the first one on. */
static int make_type(const pnc_extent *extents, int64_t n, MPI_Datatype *type)
{
    if (regular(extents, n))
        return MPI_Type_create_hvector((int)n, (int)extents[0].length,
                                       (MPI_Aint)(extents[1].offset - extents[0].offset), MPI_BYTE, type);
    int *lengths = pnc_memory_alloc(n, sizeof *lengths), code = MPI_ERR_NO_MEM;
    MPI_Aint *places = pnc_memory_alloc(n, sizeof *places);

    if (lengths != NULL && places != NULL) {
        for (int64_t i = 0; i < n; i++) {
            lengths[i] = (int)extents[i].length;
            places[i] = (MPI_Aint)(extents[i].offset - extents[0].offset);
        }
        code = MPI_Type_create_hindexed((int)n, lengths, places, MPI_BYTE, type);
    }
    pnc_memory_free(lengths);
    pnc_memory_free(places);
    return code;
}

/* Beyond the end of the file ROMIO's sieving reads nothing and then writes, into the gaps, whatever its buffer held
 * before. With the last byte in its place there are zeros to be read. */
static int reach(pnc_mpiio *io, pnc_extent last, const char *byte, pnc_error *error)
{
    MPI_Offset size;
    pnc_extent end = {last.offset + last.length - 1, 1};
    int code = MPI_File_get_size(io->file, &size);

    if (code != MPI_SUCCESS)
        return pnc_mpiio_error_set(error, code, NC_EWRITE, "write", io->path);
    return size > end.offset ? NC_NOERR : pnc_mpiio_extents_write(&io->store, &end, 1, byte, error);
}

int pnc_mpiio_view_write(pnc_mpiio *io, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    MPI_Datatype type;
    MPI_Status status;
    int bytes = 0, moved, code, late, err;

    for (int64_t i = 0; i < n; i++)
        bytes += (int)extents[i].length;
    err = reach(io, extents[n - 1], (const char *)buf + bytes - 1, error);
    if (err != NC_NOERR)
        return err;
    moved = bytes;
    code = make_type(extents, n, &type);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&type);
    if (code != MPI_SUCCESS)
        return pnc_mpiio_error_set(error, code, NC_EWRITE, "write", io->path);
    code = MPI_File_set_view(io->file, extents[0].offset, MPI_BYTE, type, "native", MPI_INFO_NULL);
    if (code == MPI_SUCCESS)
        code = MPI_File_write_at(io->file, 0, buf, bytes, MPI_BYTE, &status);
    if (code == MPI_SUCCESS)
        MPI_Get_count(&status, MPI_BYTE, &moved);
    MPI_Type_free(&type);
    /* all other operations use plain byte offsets */
    late = MPI_File_set_view(io->file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    if (code != MPI_SUCCESS || late != MPI_SUCCESS)
        return pnc_mpiio_error_set(error, code != MPI_SUCCESS ? code : late, NC_EWRITE, "write", io->path);
    if (moved < bytes)
        return pnc_mpiio_error_set_short(error, moved, (pnc_extent){extents[0].offset, bytes}, io->path);
    return NC_NOERR;
}
