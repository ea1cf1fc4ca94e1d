/* Moving data towards the end of the file when the header or a section before it grows. */
#include "dataset/dataset.h"

#include "base/memory.h"

/* Blocks of equal size at equal distances, that move together to equal distances further up. */
typedef struct blocks {
    int64_t from, from_stride, to, to_stride, size;
} blocks;

/* One round: each rank reads its part of blocks [first, first + n), and only when all have read does any write. Work
 * that goes from the last block to the first then never overwrites what is still to be read. */
static int move_round(pnc_dataset *ds, const blocks *b, int64_t first, int64_t n, char *buf, pnc_extent *extents)
{
    int64_t share = n / ds->nprocs, extra = n % ds->nprocs;
    int64_t mine = share + (ds->rank < extra);
    int err = NC_NOERR;

    first += share * ds->rank + (ds->rank < extra ? ds->rank : extra);
    for (int64_t i = 0; i < mine; i++)
        extents[i] = (pnc_extent){b->from + (first + i) * b->from_stride, b->size};
    if (mine > 0)
        err = ds->store->ops->read(ds->store, extents, mine, buf, &ds->error);
    err = pnc_agree_worst(ds, err);
    if (err != NC_NOERR)
        return err;
    for (int64_t i = 0; i < mine; i++)
        extents[i].offset = b->to + (first + i) * b->to_stride;
    if (mine > 0)
        err = ds->store->ops->write(ds->store, extents, mine, buf, &ds->error);
    ds->get_size += mine * b->size;
    ds->put_size += mine * b->size;
    return pnc_agree_worst(ds, err);
}

/* Collective. per_rank: blocks that a rank moves in one round. */
static int move_blocks(pnc_dataset *ds, const blocks *b, int64_t n, int64_t per_rank)
{
    char *buf = pnc_alloc(per_rank, (size_t)b->size);
    pnc_extent *extents = pnc_alloc(per_rank, sizeof *extents);
    int err = NC_NOERR;

    if (buf == NULL || extents == NULL)
        err = pnc_fail(&ds->error, NC_ENOMEM, "%s: no memory to move data in pieces of %lld bytes", ds->path,
                       (long long)(per_rank * b->size));
    err = pnc_agree_worst(ds, err);
    for (int64_t left = n, most = per_rank * ds->nprocs; left > 0 && err == NC_NOERR;) {
        int64_t now = left < most ? left : most;

        left -= now;
        err = move_round(ds, b, left, now, buf, extents);
    }
    pnc_free(extents);
    pnc_free(buf);
    return err;
}

/* Data that was never written, beyond the end of the file, need not move: how many of `bytes` bytes from `from` there
 * are. Collective. */
static int bytes_present(pnc_dataset *ds, int64_t from, int64_t *bytes, int64_t *file_size)
{
    int64_t size = 0;
    int err = pnc_agree_root(ds, ds->rank == 0 ? ds->store->ops->size(ds->store, &size, &ds->error) : NC_NOERR);

    if (err == NC_NOERR && ds->nprocs > 1 && MPI_Bcast(&size, 1, MPI_INT64_T, 0, ds->comm) != MPI_SUCCESS)
        err = pnc_fail(&ds->error, NC_EMPI, "%s: the size of the file could not be sent to all ranks", ds->path);
    if (*bytes > size - from)
        *bytes = size > from ? size - from : 0;
    *file_size = size;
    return err;
}

/* Collective. The rest that is no whole piece lies at the end and goes first. */
static int move_range(pnc_dataset *ds, int64_t from, int64_t to, int64_t bytes)
{
    int64_t piece = ds->hints.data_move_chunk;
    int err = NC_NOERR;

    if (bytes == 0)
        return NC_NOERR;
    if (piece > bytes / ds->nprocs + 1)
        piece = bytes / ds->nprocs + 1;
    int64_t whole = bytes / piece, rest = bytes % piece;
    blocks tail = {from + whole * piece, rest, to + whole * piece, rest, rest};
    blocks body = {from, piece, to, piece, piece};

    if (rest > 0)
        err = move_blocks(ds, &tail, 1, 1);
    if (err == NC_NOERR && whole > 0)
        err = move_blocks(ds, &body, whole, 1);
    return err;
}

int pnc_move_up(pnc_dataset *ds, int64_t from, int64_t to, int64_t bytes)
{
    int64_t file_size;
    int err;

    if (from == to || bytes == 0)
        return NC_NOERR;
    err = bytes_present(ds, from, &bytes, &file_size);
    if (err != NC_NOERR || bytes == 0)
        return err;
    /* What goes beyond the end of the file goes first: should the disk be full, nothing is overwritten yet. */
    if (to + bytes > file_size && to < file_size) {
        int64_t beyond = to + bytes - file_size;

        err = move_range(ds, from + bytes - beyond, file_size, beyond);
        if (err != NC_NOERR) /* nor shall a later try take what is there now for data */
            ds->store->ops->set_size(ds->store, file_size, NULL);
        bytes -= beyond;
    }
    return err != NC_NOERR ? err : move_range(ds, from, to, bytes);
}
int pnc_move_records(pnc_dataset *ds)
{
    const pnc_model *old = ds->before, *now = &ds->model;
    int64_t n = old->numrecs, size = old->recsize, bytes = n * size, whole, file_size;
    int err = NC_NOERR;

    if (n == 0 || size == 0 || (old->begin_rec == now->begin_rec && size == now->recsize))
        return NC_NOERR;
    if (size == now->recsize)
        return pnc_move_up(ds, old->begin_rec, now->begin_rec, bytes);
    /* Records grew. Old variables stand first in a record, in the same places, so that each record moves as one block;
     * the last one may be cut short by the end of the file. */
    err = bytes_present(ds, old->begin_rec, &bytes, &file_size);
    whole = bytes / size;
    if (err == NC_NOERR && bytes % size > 0)
        err = pnc_move_up(ds, old->begin_rec + whole * size, now->begin_rec + whole * now->recsize, bytes % size);
    if (err != NC_NOERR || whole == 0)
        return err;
    if (size > ds->hints.data_move_chunk) {
        for (int64_t r = whole - 1; r >= 0 && err == NC_NOERR; r--)
            err = pnc_move_up(ds, old->begin_rec + r * size, now->begin_rec + r * now->recsize, size);
        return err;
    }
    blocks records = {old->begin_rec, size, now->begin_rec, now->recsize, size};
    return move_blocks(ds, &records, whole, ds->hints.data_move_chunk / size);
}
