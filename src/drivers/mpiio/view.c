/* Extents through a file view: MPI-IO sorts and merges them, between the ranks (two-phase) or for one rank alone (data
 * sieving, with the locks that keep other programs' bytes in the gaps safe). */
#include "drivers/mpiio/mpiio.h"

#include "base/memory.h"

/* A committed file type that holds the extents. */
static int make_type(const pnc_extent *extents, int64_t n, MPI_Datatype *type)
{
    int *lengths = pnc_alloc(n, sizeof *lengths), code = MPI_ERR_NO_MEM;
    MPI_Aint *places = pnc_alloc(n, sizeof *places);

    if (lengths != NULL && places != NULL) {
        for (int64_t i = 0; i < n; i++) {
            lengths[i] = (int)extents[i].length;
            places[i] = (MPI_Aint)extents[i].offset;
        }
        code = MPI_Type_create_hindexed((int)n, lengths, places, MPI_BYTE, type);
        if (code == MPI_SUCCESS)
            code = MPI_Type_commit(type);
    }
    pnc_free(lengths);
    pnc_free(places);
    return code;
}

static int64_t total(const pnc_extent *extents, int64_t n)
{
    int64_t bytes = 0;

    for (int64_t i = 0; i < n; i++)
        bytes += extents[i].length;
    return bytes;
}

static int move(pnc_mpiio *io, pnc_mpiio_way way, bool all, void *buf, int bytes, int *moved)
{
    MPI_Status status;
    int code;

    if (way == PNC_MPIIO_PUT)
        code = all ? MPI_File_write_at_all(io->file, 0, buf, bytes, MPI_BYTE, &status)
                   : MPI_File_write_at(io->file, 0, buf, bytes, MPI_BYTE, &status);
    else
        code = all ? MPI_File_read_at_all(io->file, 0, buf, bytes, MPI_BYTE, &status)
                   : MPI_File_read_at(io->file, 0, buf, bytes, MPI_BYTE, &status);
    *moved = bytes;
    if (code == MPI_SUCCESS)
        MPI_Get_count(&status, MPI_BYTE, moved);
    return code;
}

int pnc_mpiio_through_view(pnc_mpiio *io, pnc_mpiio_way way, bool all, const pnc_extent *extents, int64_t n, void *buf,
                           pnc_error *error)
{
    const char *what = way == PNC_MPIIO_PUT ? "write" : "read";
    int otherwise = way == PNC_MPIIO_PUT ? NC_EWRITE : NC_EREAD;
    MPI_Datatype type = MPI_BYTE;
    int bytes = (int)total(extents, n), moved = 0, code, err = NC_NOERR;

    if (n > 0 && (code = make_type(extents, n, &type)) != MPI_SUCCESS) {
        err = pnc_mpiio_fail(error, code, otherwise, what, io->path);
        type = MPI_BYTE;
        bytes = 0;
    }
    if (err != NC_NOERR && !all)
        return err;
    code = MPI_File_set_view(io->file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
    if (code != MPI_SUCCESS) {
        err = pnc_mpiio_fail(error, code, otherwise, what, io->path);
        bytes = 0; /* the view is not ours: touch nothing */
    }
    code = move(io, way, all, buf, bytes, &moved);
    if (code != MPI_SUCCESS)
        err = pnc_mpiio_fail(error, code, otherwise, what, io->path);
    else if (moved < bytes)
        err = pnc_fail(error, otherwise, "%s: only %d of %d bytes at offset %lld could be %s", io->path, moved, bytes,
                       (long long)extents[0].offset, way == PNC_MPIIO_PUT ? "written" : "read");
    /* all other operations use plain byte offsets */
    code = MPI_File_set_view(io->file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    if (code != MPI_SUCCESS)
        err = pnc_mpiio_fail(error, code, otherwise, what, io->path);
    if (type != MPI_BYTE)
        MPI_Type_free(&type);
    return err;
}
