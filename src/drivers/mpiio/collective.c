/* Collective access: each rank has a file view of its extents, and all ranks make one collective call. The MPI library
 * chooses aggregators and file domains, as its driver for the file system and its hints require. */
#include "drivers/mpiio/mpiio.h"

#include <assert.h>
#include <limits.h>

/* The extents of one rank, and the memory of their bytes. */
typedef struct access_list {
    const pnc_extent *extents;
    int64_t n, bytes;
    void *buf;
    bool is_write;
} access_list;

static access_list list_of(const pnc_extent *extents, int64_t n, void *buf, bool is_write)
{
    access_list list = {.extents = extents, .n = n, .buf = buf, .is_write = is_write};

    assert(n <= INT_MAX);
    for (int64_t i = 0; i < n; i++) {
        assert(i == 0 || extents[i].offset >= extents[i - 1].offset + extents[i - 1].length);
        list.bytes += extents[i].length;
    }
    assert(list.bytes < PNC_STORE_BYTES_MAX);
    return list;
}

/* One collective call through the view of `type`, or of no bytes. A rank on which a step fails makes the remaining
 * calls as well. Returns the first failure. */
static int access_through_view(pnc_mpiio *io, const access_list *list, MPI_Datatype type, int64_t *moved)
{
    bool turn = pnc_mpiio_turn_take(io->store.comm);
    int bytes = type == MPI_BYTE ? 0 : (int)list->bytes, count = 0, code, later;
    MPI_Offset start = type == MPI_BYTE ? 0 : list->extents[0].offset;
    MPI_Status status;

    code = MPI_File_set_view(io->file, start, MPI_BYTE, type, "native", MPI_INFO_NULL);
    if (code != MPI_SUCCESS)
        bytes = 0;
    if (list->is_write)
        later = MPI_File_write_at_all(io->file, 0, list->buf, bytes, MPI_BYTE, &status);
    else
        later = MPI_File_read_at_all(io->file, 0, list->buf, bytes, MPI_BYTE, &status);
    if (later == MPI_SUCCESS)
        MPI_Get_count(&status, MPI_BYTE, &count);
    code = code == MPI_SUCCESS ? later : code;
    /* all other operations assume the default file view */
    later = MPI_File_set_view(io->file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    pnc_mpiio_turn_end(turn);
    pnc_statistics_add(io->store.statistics, PNC_COUNT_MPI_IO_CALLS, 1);
    pnc_statistics_add(io->store.statistics, PNC_COUNT_MPI_IO_BYTES, count);
    *moved = count;
    return code == MPI_SUCCESS ? later : code;
}

/* *moved: bytes that MPI reports as written or read. Collective. */
static int access_all(pnc_mpiio *io, const access_list *list, int64_t *moved)
{
    MPI_Datatype type = MPI_BYTE;
    int failed = MPI_SUCCESS, code;

    if (list->n > 0)
        failed = pnc_mpiio_filetype_create(list->extents, list->n, &type);
    if (failed != MPI_SUCCESS)
        type = MPI_BYTE;
    code = access_through_view(io, list, type, moved);
    if (type != MPI_BYTE)
        MPI_Type_free(&type);
    return failed != MPI_SUCCESS ? failed : code;
}

/* Extend the file to the last byte of all ranks. ROMIO reads, modifies and writes where the extents leave gaps; beyond
 * the end of the file it would write the old content of its buffer into them. A write of one byte, unlike
 * MPI_File_set_size, never makes a file shorter that another program extends. Collective. */
static int extend_for_all(pnc_mpiio *io, const access_list *list, pnc_error *error)
{
    int64_t own = list->n > 0 ? list->extents[list->n - 1].offset + list->extents[list->n - 1].length : 0;
    int64_t values[2] = {own, 0}; /* end of the extents, size of the file */
    pnc_extent last = {own - 1, 1};
    int err = NC_NOERR, code;

    if (io->store.rank == 0)
        err = pnc_mpiio_file_get_size(&io->store, &values[1], error);
    code = MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INT64_T, MPI_MAX, io->store.comm);
    if (code != MPI_SUCCESS)
        err = pnc_error_set(error, NC_EMPI, "%s: MPI_Allreduce of the end of a write failed", io->path);
    if (values[0] <= values[1])
        return err;
    if (own == values[0])
        err = pnc_error_keep_first(err,
                                   pnc_mpiio_extent_write(io, last, (const char *)list->buf + list->bytes - 1, error));
    if (MPI_Barrier(io->store.comm) != MPI_SUCCESS)
        return pnc_error_set(error, NC_EMPI, "%s: MPI_Barrier after extending the file failed", io->path);
    return err;
}

int pnc_mpiio_extents_write_all(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf,
                                pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    access_list list = list_of(extents, n, (void *)buf, true);
    int err = extend_for_all(io, &list, error), code;
    int64_t moved = 0;

    code = access_all(io, &list, &moved);
    if (code != MPI_SUCCESS)
        return pnc_error_keep_first(err, pnc_mpiio_error_set(error, code, NC_EWRITE, "write", io->path));
    if (err == NC_NOERR && moved < list.bytes)
        err = pnc_mpiio_error_set_short(error, (int)moved, (pnc_extent){extents[0].offset, list.bytes}, io->path);
    return err;
}

/* The first extents, up to the first one that ends beyond `bytes` bytes of the list or beyond `end` in the file. */
static access_list front_of(const access_list *list, int64_t bytes, int64_t end)
{
    access_list front = *list;

    front.n = front.bytes = 0;
    while (front.n < list->n) {
        const pnc_extent *extent = &list->extents[front.n];

        if (front.bytes + extent->length > bytes || extent->offset + extent->length > end)
            break;
        front.bytes += extent->length;
        front.n++;
    }
    return front;
}

/* MPI libraries differ in what they report for a collective read beyond the end of the file (ROMIO reports all bytes as
 * read): only extents before the end are read by all ranks. The rest is read independently, by its rules. */
int pnc_mpiio_extents_read_all(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                               pnc_error *error)
{
    pnc_mpiio *io = (pnc_mpiio *)store;
    access_list list = list_of(extents, n, buf, false), front;
    int64_t size = 0, moved = 0, rest = 0;
    int err = pnc_mpiio_file_get_size(store, &size, error), code;

    front = front_of(&list, list.bytes, size);
    code = access_all(io, &front, &moved);
    if (code != MPI_SUCCESS)
        err = pnc_error_keep_first(err, pnc_mpiio_error_set(error, code, NC_EREAD, "read", io->path));
    front = front_of(&front, err == NC_NOERR ? moved : 0, size);
    if (err == NC_NOERR)
        err = pnc_mpiio_sieve_read(io, extents + front.n, n - front.n, (char *)buf + front.bytes, &rest, error);
    if (got != NULL)
        *got = front.bytes + rest;
    return err;
}
