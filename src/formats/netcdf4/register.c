/* Chunks that the index does not have yet, to the index: rank 0 gets their records from all ranks. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"
#include "formats/netcdf4/netcdf4.h"

/* Records that a step has: 2.5 MiB. */
#define BATCH (INT64_C(1) << 16)

/* --- rank 0 --- */

static int compare_records(const void *a, const void *b)
{
    const pnc_chunk_record *x = a, *y = b;

    if (x->array != y->array)
        return x->array < y->array ? -1 : 1;
    return x->chunk < y->chunk ? -1 : x->chunk > y->chunk;
}

/* Those of one array, which are sorted. */
static int register_array(pnc_netcdf4 *n, const pnc_chunk_record *records, int64_t count, bool *moves)
{
    int varid = n->content.varids[records->array], ndims = n->format.model->vars[varid]->ndims;
    int64_t *indices = pnc_memory_alloc(count * ndims, sizeof *indices);
    pnc_chunk_place *places = pnc_memory_alloc(count, sizeof *places);
    int err;

    if (indices == NULL || places == NULL) {
        err = pnc_formats_memory_fail(&n->format, count * (int64_t)sizeof *places);
    } else {
        for (int64_t i = 0; i < count; i++) {
            pnc_chunks_store_find_index(n->format.file->store, records[i].array, records[i].chunk, indices + i * ndims);
            places[i] = records[i].place;
        }
        err = pnc_netcdf4_metadata_register(n->metadata, n->content.storage[varid].path, ndims, indices, places, count,
                                            moves);
    }
    pnc_memory_free(indices);
    pnc_memory_free(places);
    return err;
}

/* Those of a rank whose step has failed are empty. */
static int64_t remove_empty(pnc_chunk_record *records, int64_t count)
{
    int64_t n = 0;

    for (int64_t i = 0; i < count; i++)
        if (records[i].place.bytes > 0)
            records[n++] = records[i];
    return n;
}

static int register_batch(pnc_netcdf4 *n, pnc_chunk_record *records, int64_t count, bool *moves)
{
    int64_t first = 0;

    count = remove_empty(records, count);
    if (count > 1)
        qsort(records, (size_t)count, sizeof *records, compare_records);
    for (int64_t i = 1; i <= count; i++) {
        if (i < count && records[i].array == records[first].array)
            continue;
        PNC_TRY(register_array(n, records + first, i - first, moves));
        first = i;
    }
    return NC_NOERR;
}

/* --- all ranks --- */

/* The records of all ranks, in the order of ranks. */
typedef struct ranked_records {
    const pnc_chunk_record *own; /* those of this rank */
    int64_t nown, first, n;
    pnc_chunk_record *batch; /* memory for BATCH of them */
} ranked_records;

/* Collective. After an error of MPI, too, the rank takes part in the steps that follow, without records. */
static void count_ranked(pnc_file *file, ranked_records *r)
{
    int code;

    r->n = r->nown;
    pnc_file_sums_agree(file, &r->n, 1, "the number of chunks");
    if (file->nprocs == 1 || r->n == 0)
        return;
    code = MPI_Exscan(&r->nown, &r->first, 1, MPI_INT64_T, MPI_SUM, file->comm);
    pnc_file_step_check(file, code, "MPI_Exscan", "the numbers of chunks");
    if (code != MPI_SUCCESS)
        r->nown = 0;
    if (file->rank == 0) /* MPI_Exscan sets nothing there */
        r->first = 0;
}

/* What this rank has of `count` records from `at` on; the others are empty. */
static void fill_batch(const ranked_records *r, int64_t at, int64_t count)
{
    int64_t low = pnc_max64(at, r->first), high = pnc_min64(at + count, r->first + r->nown);

    memset(r->batch, 0, (size_t)count * sizeof *r->batch);
    if (low < high)
        memcpy(r->batch + (low - at), r->own + (low - r->first), (size_t)(high - low) * sizeof *r->batch);
}

/* Collective. Rank 0 gets the batch of all ranks: each record is of one of them. */
static int combine_batch(pnc_file *file, const ranked_records *r, int64_t count)
{
    int bytes = (int)(count * (int64_t)sizeof *r->batch), code;

    if (file->nprocs == 1)
        return NC_NOERR;
    if (file->rank == 0)
        code = MPI_Reduce(MPI_IN_PLACE, r->batch, bytes, MPI_BYTE, MPI_BOR, 0, file->comm);
    else
        code = MPI_Reduce(r->batch, NULL, bytes, MPI_BYTE, MPI_BOR, 0, file->comm);
    if (code == MPI_SUCCESS)
        return NC_NOERR;
    return pnc_error_set(file->error, NC_EMPI, "%s: MPI_Reduce of chunks for the index failed", file->path);
}

/* Collective. The result is that of this rank. */
static int register_ranked(pnc_netcdf4 *n, ranked_records *r, bool *moves)
{
    pnc_file *file = n->format.file;
    int err = NC_NOERR, later;

    count_ranked(file, r);
    for (int64_t at = 0; at < r->n; at += BATCH) {
        int64_t count = pnc_min64(BATCH, r->n - at);

        fill_batch(r, at, count);
        later = combine_batch(file, r, count);
        err = pnc_error_keep_first(err, later);
        if (file->rank == 0 && err == NC_NOERR)
            err = register_batch(n, r->batch, count, moves);
    }
    return err;
}

int pnc_netcdf4_chunks_register(pnc_netcdf4 *n, int err, bool *any, bool *moves)
{
    pnc_file *file = n->format.file;
    ranked_records r = {.batch = pnc_memory_alloc(BATCH, sizeof *r.batch)};

    if (r.batch == NULL && err == NC_NOERR)
        err = pnc_formats_memory_fail(&n->format, BATCH * (int64_t)sizeof *r.batch);
    err = pnc_file_status_agree(file, err);
    if (err == NC_NOERR) {
        pnc_chunks_records_peek(pnc_netcdf4_container_get(n), &r.own, &r.nown);
        err = pnc_file_status_agree(file, register_ranked(n, &r, moves));
    }
    if (err == NC_NOERR)
        pnc_chunks_records_take(pnc_netcdf4_container_get(n), &r.own, &r.nown);
    *any = *any || r.n > 0;
    pnc_memory_free(r.batch);
    return err;
}
