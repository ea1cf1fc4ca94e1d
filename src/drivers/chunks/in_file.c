/* Chunks in one file. */
#include "drivers/chunks/in_file.h"

#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "drivers/chunks/places.h"

typedef struct file_container {
    pnc_container base;
    pnc_store *file;
    pnc_file_index index;
    pnc_places places;
    pnc_places shared; /* of chunks that other ranks have written, and that are not registered */
    int64_t end;
    int64_t added; /* new chunks of all ranks */
    bool is_renewed, is_distrusted;
} file_container;

static file_container *container_of(const pnc_container *container)
{
    return (file_container *)(uintptr_t)container;
}

/* --- find and read --- */

static int find_in_file(pnc_container *container, const pnc_chunk_item *chunk, const int64_t *index,
                        pnc_chunk_place *out, pnc_error *error)
{
    file_container *c = container_of(container);
    const pnc_chunk_place *own = pnc_chunks_places_find(&c->places, chunk->array, chunk->chunk);

    if (own == NULL)
        own = pnc_chunks_places_find(&c->shared, chunk->array, chunk->chunk);
    if (own == NULL)
        return c->index.find(c->index.own, chunk->array, index, !c->is_renewed, out, error);
    *out = *own;
    return NC_NOERR;
}

static int read_from_file(pnc_container *container, const pnc_chunk_item *chunk, const pnc_chunk_place *place, void *to,
                          pnc_error *error)
{
    pnc_store *file = container_of(container)->file;

    (void)chunk;
    for (int64_t n, done = 0; done < place->bytes; done += n) {
        n = pnc_min64(place->bytes - done, PNC_STORE_BYTES_MAX / 2);
        PNC_TRY(file->ops->read(file, &(pnc_extent){place->offset + done, n}, 1, (char *)to + done, NULL, error));
    }
    return NC_NOERR;
}

/* --- put --- */

/* A chunk without filters stays where it is. A filtered one always gets a new address: its length changes, and the
 * metadata in the file refer to the old bytes until they are replaced. */
static int prepare_for_file(pnc_container *container, pnc_stored_chunk *chunk, const int64_t *index, pnc_error *error)
{
    file_container *c = container_of(container);
    int64_t bytes = chunk->place.bytes;

    chunk->is_new = true;
    if (bytes > 0 && !c->is_distrusted) {
        PNC_TRY(find_in_file(container, &chunk->item, index, &chunk->place, error));
        chunk->is_new = chunk->place.offset < 0 || chunk->place.bytes != bytes;
    }
    chunk->was_written = pnc_chunks_places_find(&c->places, chunk->item.array, chunk->item.chunk) != NULL;
    if (chunk->is_new && !pnc_chunks_places_reserve(&c->places, &chunk->item))
        return pnc_error_set(error, NC_ENOMEM, "no memory for the place of a chunk");
    return NC_NOERR;
}

static pnc_stored_chunk *stored_of(pnc_chunk_item *item)
{
    return (pnc_stored_chunk *)(void *)item;
}

/* The chunks of this rank are behind those of the ranks before it. After an error of MPI, too, the rank takes part in
 * the steps that follow. */
static int place_in_file(pnc_container *container, pnc_chunk_item *chunks, bool *more, pnc_error *error)
{
    file_container *c = container_of(container);
    const pnc_store *file = c->file;
    int64_t sums[3] = {0, *more, 0}, before = 0, bytes, address; /* bytes, more, new chunks */
    int summed = MPI_SUCCESS, scanned = MPI_SUCCESS, checked;

    for (pnc_chunk_item *item = chunks; item != NULL; item = item->next) {
        sums[0] += stored_of(item)->is_new ? stored_of(item)->place.bytes : 0;
        sums[2] += stored_of(item)->is_new;
    }
    bytes = sums[0];
    if (file->nprocs > 1) {
        summed = MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INT64_T, MPI_SUM, file->comm);
        pnc_statistics_add(file->statistics, PNC_COUNT_AGREEMENTS, 1);
        if (sums[0] > 0)
            scanned = MPI_Exscan(&bytes, &before, 1, MPI_INT64_T, MPI_SUM, file->comm);
    }
    *more = sums[1] > 0;
    checked = sums[0] > 0 && c->index.check != NULL ? c->index.check(c->index.own, error) : NC_NOERR;
    if (checked != NC_NOERR) {
        *more = false;
        return checked;
    }
    address = c->end + (file->rank > 0 ? before : 0); /* MPI_Exscan sets nothing on rank 0 */
    for (pnc_chunk_item *item = chunks; item != NULL; item = item->next)
        if (stored_of(item)->is_new) {
            stored_of(item)->place.offset = address;
            address += stored_of(item)->place.bytes;
        }
    c->end += sums[0]; /* also if a write will fail: it may write a part */
    c->added += sums[2];
    if (summed == MPI_SUCCESS && scanned == MPI_SUCCESS)
        return NC_NOERR;
    return pnc_error_set(error, NC_EMPI, "%s of the bytes of chunks failed",
                         summed != MPI_SUCCESS ? "MPI_Allreduce" : "MPI_Exscan");
}

static bool is_next_in_file(const pnc_container *container, const pnc_stored_chunk *chunk, const pnc_stored_chunk *next)
{
    (void)container;
    return next->place.offset == chunk->place.offset + chunk->place.bytes;
}

/* Not several extents at once: what is between them may be another rank's. */
static int write_to_file(pnc_container *container, const pnc_stored_chunk *chunk, const void *bytes, int64_t length,
                         pnc_error *error)
{
    pnc_store *file = container_of(container)->file;

    for (int64_t n, done = 0; done < length; done += n) {
        n = pnc_min64(length - done, PNC_STORE_BYTES_MAX / 2);
        PNC_TRY(
            file->ops->write(file, &(pnc_extent){chunk->place.offset + done, n}, 1, (const char *)bytes + done, error));
    }
    return NC_NOERR;
}

static void adopt_in_file(pnc_container *container, const pnc_stored_chunk *chunk)
{
    if (chunk->is_new)
        pnc_chunks_places_set(&container_of(container)->places, &chunk->item, &chunk->place);
}

/* --- begin and end --- */

static void free_in_file(pnc_container *container)
{
    file_container *c = container_of(container);

    pnc_chunks_places_free(&c->places);
    pnc_chunks_places_free(&c->shared);
    pnc_memory_free(c);
}

static const pnc_container_ops file_operations = {.is_in_file = true,
                                                  .find = find_in_file,
                                                  .read = read_from_file,
                                                  .prepare = prepare_for_file,
                                                  .place = place_in_file,
                                                  .joins = is_next_in_file,
                                                  .write = write_to_file,
                                                  .adopt = adopt_in_file,
                                                  .free = free_in_file};

pnc_container *pnc_chunks_file_create(pnc_store *file, const pnc_file_index *index, int64_t end)
{
    file_container *c = pnc_memory_alloc_zeroed(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->base.ops = &file_operations;
    c->file = file;
    c->index = *index;
    c->end = end;
    return &c->base;
}

/* --- records --- */

void pnc_chunks_records_take(pnc_container *container, const pnc_chunk_record **records, int64_t *n)
{
    pnc_chunks_places_take(&container_of(container)->places, records, n);
}

void pnc_chunks_records_peek(const pnc_container *container, const pnc_chunk_record **records, int64_t *n)
{
    pnc_chunks_places_peek(&container_of(container)->places, records, n);
}

bool pnc_chunks_records_has_any(const pnc_container *container)
{
    const pnc_chunk_record *records;
    int64_t n;

    pnc_chunks_records_peek(container, &records, &n);
    return n > 0;
}

/* Chunks of all ranks, in the order of ranks. */
typedef struct shared_records {
    pnc_chunk_record *at; /* `most` of them */
    int64_t n, own, first;
    bool lacks_memory; /* any rank */
} shared_records;

/* Collective. How many there are, and where those of this rank begin. After an error of MPI, too, the rank takes part
 * in the steps that follow. */
static int count_shared(const pnc_store *file, shared_records *r, pnc_error *error)
{
    int64_t sums[2] = {r->own, r->at == NULL};
    int summed = MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, file->comm);
    int scanned = MPI_Exscan(&r->own, &r->first, 1, MPI_INT64_T, MPI_SUM, file->comm);

    pnc_statistics_add(file->statistics, PNC_COUNT_AGREEMENTS, 1);
    r->n = sums[0];
    r->lacks_memory = sums[1] > 0;
    if (file->rank == 0) /* MPI_Exscan sets nothing there */
        r->first = 0;
    if (summed == MPI_SUCCESS && scanned == MPI_SUCCESS)
        return NC_NOERR;
    r->own = 0;
    return pnc_error_set(error, NC_EMPI, "%s of the number of chunks failed",
                         summed != MPI_SUCCESS ? "MPI_Allreduce" : "MPI_Exscan");
}

/* Local. */
static int adopt_shared(file_container *c, const shared_records *r, pnc_error *error)
{
    pnc_chunks_places_free(&c->shared);
    for (int64_t i = 0; i < r->n; i++) {
        const pnc_chunk_item item = {r->at[i].array, r->at[i].chunk, 0, NULL};

        if ((i >= r->first && i < r->first + r->own) || r->at[i].place.bytes == 0) /* of a rank whose step has failed */
            continue;
        if (!pnc_chunks_places_reserve(&c->shared, &item))
            return pnc_error_set(error, NC_ENOMEM, "no memory for the places of chunks");
        pnc_chunks_places_set(&c->shared, &item, &r->at[i].place);
    }
    return NC_NOERR;
}

/* Collective, if there are any. */
static int exchange_shared(file_container *c, shared_records *r, const pnc_chunk_record *own, pnc_error *error)
{
    if (r->n > 0) {
        memset(r->at, 0, (size_t)r->n * sizeof *r->at);
        if (r->own > 0)
            memcpy(r->at + r->first, own, (size_t)r->own * sizeof *own);
        if (MPI_Allreduce(MPI_IN_PLACE, r->at, (int)(r->n * (int64_t)sizeof *r->at), MPI_BYTE, MPI_BOR,
                          c->file->comm) != MPI_SUCCESS)
            return pnc_error_set(error, NC_EMPI, "MPI_Allreduce of the places of chunks failed");
    }
    return adopt_shared(c, r, error);
}

int pnc_chunks_records_share(pnc_container *container, int64_t most, bool *is_shared, pnc_error *error)
{
    file_container *c = container_of(container);
    const pnc_chunk_record *own;
    shared_records r = {.n = 0};
    int err = NC_NOERR, later;

    *is_shared = true;
    if (c->file->nprocs == 1)
        return NC_NOERR;
    pnc_chunks_places_peek(&c->places, &own, &r.own);
    r.at = pnc_memory_alloc(most, sizeof *r.at);
    if (r.at == NULL)
        err = pnc_error_set(error, NC_ENOMEM, "no memory for the places of chunks");
    later = count_shared(c->file, &r, error);
    err = pnc_error_keep_first(err, later);
    *is_shared = r.n <= most;
    if (*is_shared && !r.lacks_memory) {
        later = exchange_shared(c, &r, own, error);
        err = pnc_error_keep_first(err, later);
    }
    pnc_memory_free(r.at);
    return err;
}

/* --- what the caller says and asks --- */

void pnc_chunks_index_reject(pnc_container *container)
{
    container_of(container)->is_distrusted = true;
}

void pnc_chunks_index_adopt(pnc_container *container, int64_t end)
{
    file_container *c = container_of(container);

    c->end = end;
    c->is_renewed = true;
    c->added = 0;
    if (c->places.is_taken && (c->is_distrusted || c->places.map.n > PNC_CHUNKS_PLACES_MOST)) /* the index has them */
        pnc_chunks_places_free(&c->places);
    c->is_distrusted = false;
    pnc_chunks_places_free(&c->shared);
}

void pnc_chunks_end_raise(pnc_container *container, int64_t end)
{
    file_container *c = container_of(container);

    c->end = pnc_max64(c->end, end);
}

int64_t pnc_chunks_end_get(const pnc_container *container)
{
    return container_of(container)->end;
}

int64_t pnc_chunks_new_count(const pnc_container *container)
{
    return container_of(container)->added;
}
