/* Where others have written chunks that are not registered, so that ranks can read them without a change of the
 * metadata in the file: bounded. */
#include "drivers/chunks/chunk_store.h"

#include <string.h>

#include "base/memory.h"

/* Chunks of all ranks, in the order of ranks. */
typedef struct shared_records {
    pnc_chunk_record *at; /* `most` of them */
    int64_t n, own, first;
    bool lacks_memory; /* any rank */
} shared_records;

/* Collective. How many there are, and where those of this rank begin. After an error of MPI, too, the rank takes part
 * in the steps that follow. */
static int count_shared(pnc_chunk_store *s, shared_records *r, pnc_error *error)
{
    int64_t sums[2] = {r->own, r->at == NULL};
    int summed = MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, s->store.comm);
    int scanned = MPI_Exscan(&r->own, &r->first, 1, MPI_INT64_T, MPI_SUM, s->store.comm);

    pnc_statistics_add(s->store.statistics, PNC_COUNT_AGREEMENTS, 1);
    r->n = sums[0];
    r->lacks_memory = sums[1] > 0;
    if (s->store.rank == 0) /* MPI_Exscan sets nothing there */
        r->first = 0;
    if (summed == MPI_SUCCESS && scanned == MPI_SUCCESS)
        return NC_NOERR;
    r->own = 0;
    return pnc_error_set(error, NC_EMPI, "%s of the number of chunks failed",
                         summed != MPI_SUCCESS ? "MPI_Allreduce" : "MPI_Exscan");
}

/* Local. */
static int adopt_shared(pnc_chunk_store *s, const shared_records *r, pnc_error *error)
{
    pnc_chunks_places_free(&s->shared);
    for (int64_t i = 0; i < r->n; i++) {
        const pnc_chunk_item item = {r->at[i].array, r->at[i].chunk, 0, NULL};

        if ((i >= r->first && i < r->first + r->own) || r->at[i].place.bytes == 0) /* of a rank whose step has failed */
            continue;
        if (!pnc_chunks_places_reserve(&s->shared, &item))
            return pnc_error_set(error, NC_ENOMEM, "no memory for the places of chunks");
        pnc_chunks_places_set(&s->shared, &item, &r->at[i].place);
    }
    pnc_chunks_others_discard(s);
    return NC_NOERR;
}

/* Collective, if there are any. */
static int exchange_shared(pnc_chunk_store *s, shared_records *r, const pnc_chunk_record *own, pnc_error *error)
{
    if (r->n > 0) {
        memset(r->at, 0, (size_t)r->n * sizeof *r->at);
        if (r->own > 0)
            memcpy(r->at + r->first, own, (size_t)r->own * sizeof *own);
        if (MPI_Allreduce(MPI_IN_PLACE, r->at, (int)(r->n * (int64_t)sizeof *r->at), MPI_BYTE, MPI_BOR,
                          s->store.comm) != MPI_SUCCESS)
            return pnc_error_set(error, NC_EMPI, "MPI_Allreduce of the places of chunks failed");
    }
    return adopt_shared(s, r, error);
}

int pnc_chunks_store_share(pnc_store *store, int64_t most, bool *is_shared, pnc_error *error)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    const pnc_chunk_record *own;
    shared_records r = {.n = 0};
    int err = NC_NOERR, later;

    *is_shared = true;
    if (store->owned_from == 0 || store->nprocs == 1)
        return NC_NOERR;
    pnc_chunks_places_peek(&s->places, &own, &r.own);
    r.at = pnc_memory_alloc(most, sizeof *r.at);
    if (r.at == NULL)
        err = pnc_error_set(error, NC_ENOMEM, "no memory for the places of chunks");
    later = count_shared(s, &r, error);
    err = pnc_error_keep_first(err, later);
    *is_shared = r.n <= most;
    if (*is_shared && !r.lacks_memory) {
        later = exchange_shared(s, &r, own, error);
        err = pnc_error_keep_first(err, later);
    }
    pnc_memory_free(r.at);
    return err;
}
