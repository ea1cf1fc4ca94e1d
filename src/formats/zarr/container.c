/* The chunks of a Zarr store. */
#include "formats/zarr/container.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "formats/zarr/index.h"

/* Objects of which this rank knows something; clean ones are forgotten beyond that. A guess: 2 KiB for a shard of 128
 * chunks. */
#define OBJECTS_MOST 4096
#define UNNAMED ".~new"    /* behind the key of a shard that was never flushed */
#define COMPACTED ".~less" /* of one that replaces a shard */
/* Bytes of replaced chunks that a shard keeps beside as many as it has. A guess: a write of a MiB is one request. */
#define GARBAGE_LEAST (INT64_C(1) << 20)

/* A chunk, or a shard, that this rank has written, or a shard whose index it has read. */
typedef struct zarr_object {
    pnc_chunk_item item;    /* array and number of the object */
    bool is_dirty;          /* of a shard: its index is to be written */
    bool is_unflushed;      /* the file system may lose it */
    bool is_new;            /* a shard that has no name yet */
    int64_t end;            /* of a shard: where the next chunk is put */
    pnc_zarr_place *places; /* of a shard */
} zarr_object;

typedef struct zarr_container {
    pnc_container base;
    const pnc_folder *folder;
    pnc_zarr_agreement *agree;
    void *own; /* for it */
    const pnc_zarr_chunks *chunks;
    pnc_chunk_map map;
    zarr_object *objects; /* a list */
    int64_t ndirty;
} zarr_container;

static zarr_container *zarr_container_of(const pnc_container *container)
{
    return (zarr_container *)(uintptr_t)container;
}

static pnc_stored_chunk *stored_chunk_of(pnc_chunk_item *item)
{
    return (pnc_stored_chunk *)(void *)item;
}

static zarr_object *next_object(const zarr_object *o)
{
    return (zarr_object *)(void *)o->item.next;
}

/* --- which object --- */

/* Where a chunk is: the number of its object, and its position in a shard. */
typedef struct chunk_position {
    int64_t object, within;
} chunk_position;

/* Chunks of an object along a dimension. */
static int64_t count_in_object(const pnc_zarr_array *a, int d)
{
    return a->inner == NULL ? 1 : a->chunks[d] / a->inner[d];
}

static int64_t count_objects(const pnc_zarr_chunks *k, int d)
{
    return (k->along[d] - 1) / count_in_object(k->array, d) + 1;
}

static chunk_position find_chunk_position(const pnc_zarr_chunks *k, int64_t chunk)
{
    int64_t index[PNC_ARRAY_DIMS];
    chunk_position p = {0, 0};

    if (k->array->inner == NULL)
        return (chunk_position){chunk, 0};
    for (int d = k->array->ndims - 1; d >= 0; d--) {
        index[d] = chunk % k->along[d];
        chunk /= k->along[d];
    }
    for (int d = 0; d < k->array->ndims; d++) {
        int64_t within = count_in_object(k->array, d);

        p.object = p.object * count_objects(k, d) + index[d] / within;
        p.within = p.within * within + index[d] % within;
    }
    return p;
}

/* A key of an object. */
typedef struct object_key {
    char text[PNC_FOLDER_KEY_MOST];
} object_key;

static object_key make_object_key(const pnc_zarr_chunks *k, int64_t object, const char *suffix)
{
    char end[PNC_ZARR_KEY_MOST];
    int64_t at[PNC_ARRAY_DIMS];
    object_key key;

    for (int d = k->array->ndims - 1; d >= 0; d--) {
        at[d] = object % count_objects(k, d);
        object /= count_objects(k, d);
    }
    (void)pnc_zarr_key_write(k->array, at, end);
    snprintf(key.text, sizeof key.text, "%s%s%s%s", k->array->path, k->array->path[0] == '\0' ? "" : "/", end, suffix);
    return key;
}

static object_key get_key(const zarr_container *c, const zarr_object *o)
{
    return make_object_key(&c->chunks[o->item.array], o->item.chunk, o->is_new ? UNNAMED : "");
}

/* --- objects --- */

static void free_object(zarr_object *o)
{
    pnc_memory_free(o->places);
    pnc_memory_free(o);
}

/* all: also dirty ones. */
static void forget_objects(zarr_container *c, bool all)
{
    zarr_object **at = &c->objects;

    while (*at != NULL) {
        zarr_object *o = *at;

        if ((o->is_dirty || o->is_unflushed) && !all) {
            at = (zarr_object **)(void *)&o->item.next;
            continue;
        }
        *at = next_object(o);
        pnc_chunks_map_remove(&c->map, &o->item);
        free_object(o);
    }
}

static int fail_index(const pnc_zarr_chunks *k, pnc_error *error)
{
    return pnc_error_set(error, NC_ENOMEM, "variable \"%s\": no memory for what is known of its chunks", k->name);
}

/* One that the container does not have. NULL without memory. */
static zarr_object *add_object(zarr_container *c, int64_t array, int64_t number)
{
    zarr_object *o;

    if (c->map.n >= OBJECTS_MOST)
        forget_objects(c, false);
    o = pnc_memory_alloc_zeroed(1, sizeof *o);
    if (o == NULL)
        return NULL;
    o->item = (pnc_chunk_item){array, number, 0, NULL};
    if (!pnc_chunks_map_add(&c->map, &o->item)) {
        pnc_memory_free(o);
        return NULL;
    }
    o->item.next = c->objects == NULL ? NULL : &c->objects->item;
    c->objects = o;
    return o;
}

static void remove_newest(zarr_container *c)
{
    zarr_object *o = c->objects;

    c->objects = next_object(o);
    pnc_chunks_map_remove(&c->map, &o->item);
    free_object(o);
}

static void make_dirty(zarr_container *c, zarr_object *o)
{
    c->ndirty += !o->is_dirty;
    o->is_dirty = o->is_unflushed = true;
}

/* --- shards --- */

/* The index of a shard as the folder has it; one that is not there has no chunks. */
static int read_index(const zarr_container *c, zarr_object *o, pnc_error *error)
{
    const pnc_zarr_chunks *k = &c->chunks[o->item.array];
    int64_t bytes = pnc_zarr_index_get_bytes(k->array), size;
    object_key key = make_object_key(k, o->item.chunk, "");
    unsigned char *encoded;
    int err;

    PNC_TRY(pnc_folder_object_find(c->folder, key.text, &size, error));
    o->is_new = size < 0;
    o->end = o->is_new ? bytes : size;
    if (o->is_new) {
        for (int64_t i = 0; i < pnc_zarr_index_count(k->array); i++)
            o->places[i] = (pnc_zarr_place){-1, 0};
        return NC_NOERR;
    }
    if (size < bytes)
        return pnc_error_set(error, NC_ENCZARR, "%s/%s: the shard is shorter than its index", c->folder->path,
                             key.text);
    encoded = pnc_memory_alloc(bytes, 1);
    if (encoded == NULL)
        return fail_index(k, error);
    err = pnc_folder_object_read(c->folder, key.text, pnc_zarr_index_get_offset(k->array, size), encoded, bytes, error);
    if (err == NC_NOERR)
        err = pnc_zarr_index_decode(k->array, encoded, size, o->places, error);
    if (err != NC_NOERR)
        pnc_error_add_context(error, "%s/%s", c->folder->path, key.text);
    pnc_memory_free(encoded);
    return err;
}

static int load_shard(zarr_container *c, int64_t array, int64_t number, zarr_object **out, pnc_error *error)
{
    const pnc_zarr_chunks *k = &c->chunks[array];
    zarr_object *o = (zarr_object *)(void *)pnc_chunks_map_find(&c->map, array, number);
    int err;

    *out = o;
    if (o != NULL)
        return NC_NOERR;
    o = add_object(c, array, number);
    if (o == NULL)
        return fail_index(k, error);
    o->places = pnc_memory_alloc(pnc_zarr_index_count(k->array), sizeof *o->places);
    err = o->places == NULL ? fail_index(k, error) : read_index(c, o, error);
    if (err != NC_NOERR)
        remove_newest(c);
    else
        *out = o;
    return err;
}

static int write_shard_index(const zarr_container *c, const zarr_object *o, const char *key, pnc_error *error)
{
    const pnc_zarr_chunks *k = &c->chunks[o->item.array];
    int64_t bytes = pnc_zarr_index_get_bytes(k->array);
    unsigned char *encoded = pnc_memory_alloc(bytes, 1);
    int err;

    if (encoded == NULL)
        return fail_index(k, error);
    pnc_zarr_index_encode(k->array, o->places, encoded);
    err = pnc_folder_object_write(c->folder, key, 0, encoded, bytes, error);
    pnc_memory_free(encoded);
    return err;
}

/* --- the operations of a container --- */

static int find_in_store(pnc_container *container, const pnc_chunk_item *chunk, const int64_t *index,
                         pnc_chunk_place *out, pnc_error *error)
{
    zarr_container *c = zarr_container_of(container);
    const pnc_zarr_chunks *k = &c->chunks[chunk->array];
    chunk_position at = find_chunk_position(k, chunk->chunk);
    zarr_object *shard;

    (void)index;
    *out = (pnc_chunk_place){.offset = -1};
    if (k->array->inner == NULL) {
        PNC_TRY(pnc_folder_object_find(c->folder, make_object_key(k, at.object, "").text, &out->bytes, error));
        out->offset = out->bytes < 0 ? -1 : 0;
        return NC_NOERR;
    }
    PNC_TRY(load_shard(c, chunk->array, at.object, &shard, error));
    out->offset = shard->places[at.within].offset;
    out->bytes = shard->places[at.within].bytes;
    return NC_NOERR;
}

/* A new shard has no name yet, which only this rank knows. */
static int read_from_store(pnc_container *container, const pnc_chunk_item *chunk, const pnc_chunk_place *place,
                           void *to, pnc_error *error)
{
    zarr_container *c = zarr_container_of(container);
    const pnc_zarr_chunks *k = &c->chunks[chunk->array];
    int64_t object = find_chunk_position(k, chunk->chunk).object;
    const zarr_object *o = (const zarr_object *)(void *)pnc_chunks_map_find(&c->map, chunk->array, object);
    object_key key = make_object_key(k, object, o != NULL && o->is_new ? UNNAMED : "");

    return pnc_folder_object_read(c->folder, key.text, place->offset, to, place->bytes, error);
}

static int prepare_for_store(pnc_container *container, pnc_stored_chunk *chunk, const int64_t *index, pnc_error *error)
{
    zarr_container *c = zarr_container_of(container);
    const pnc_zarr_chunks *k = &c->chunks[chunk->item.array];
    chunk_position at = find_chunk_position(k, chunk->item.chunk);
    zarr_object *o = (zarr_object *)(void *)pnc_chunks_map_find(&c->map, chunk->item.array, at.object);

    (void)index;
    chunk->is_new = true;
    if (o == NULL && k->array->inner != NULL)
        PNC_TRY(load_shard(c, chunk->item.array, at.object, &o, error));
    else if (o == NULL)
        o = add_object(c, chunk->item.array, at.object);
    if (o == NULL)
        return fail_index(k, error);
    chunk->was_written = o->is_dirty;
    make_dirty(c, o); /* not to be forgotten before it is written */
    return NC_NOERR;
}

/* This rank has all chunks of a shard. */
static int place_in_store(pnc_container *container, pnc_chunk_item *chunks, bool *more, pnc_error *error)
{
    zarr_container *c = zarr_container_of(container);
    int err = c->agree(c->own, more, error);

    for (pnc_chunk_item *item = chunks; item != NULL; item = item->next) {
        const pnc_zarr_chunks *k = &c->chunks[item->array];
        zarr_object *o = (zarr_object *)(void *)pnc_chunks_map_find(&c->map, item->array,
                                                                    find_chunk_position(k, item->chunk).object);

        assert(o != NULL);
        stored_chunk_of(item)->place.offset = k->array->inner == NULL ? 0 : o->end;
        o->end += stored_chunk_of(item)->place.bytes; /* also if the write will fail: it may write a part */
    }
    return err;
}

static bool is_next_in_shard(const pnc_container *container, const pnc_stored_chunk *chunk,
                             const pnc_stored_chunk *next)
{
    const pnc_zarr_chunks *k = &zarr_container_of(container)->chunks[chunk->item.array];

    return k->array->inner != NULL && chunk->item.array == next->item.array &&
           find_chunk_position(k, chunk->item.chunk).object == find_chunk_position(k, next->item.chunk).object &&
           next->place.offset == chunk->place.offset + chunk->place.bytes;
}

static int write_to_store(pnc_container *container, const pnc_stored_chunk *chunk, const void *bytes, int64_t length,
                          pnc_error *error)
{
    zarr_container *c = zarr_container_of(container);
    const pnc_zarr_chunks *k = &c->chunks[chunk->item.array];
    int64_t object = find_chunk_position(k, chunk->item.chunk).object;
    const zarr_object *o = (const zarr_object *)(void *)pnc_chunks_map_find(&c->map, chunk->item.array, object);

    if (k->array->inner != NULL)
        return pnc_folder_object_write(c->folder, get_key(c, o).text, chunk->place.offset, bytes, length, error);
    return pnc_folder_object_put(c->folder, make_object_key(k, object, "").text, bytes, length, false, error);
}

static void adopt_in_store(pnc_container *container, const pnc_stored_chunk *chunk)
{
    zarr_container *c = zarr_container_of(container);
    const pnc_zarr_chunks *k = &c->chunks[chunk->item.array];
    chunk_position at = find_chunk_position(k, chunk->item.chunk);
    zarr_object *o = (zarr_object *)(void *)pnc_chunks_map_find(&c->map, chunk->item.array, at.object);

    if (k->array->inner != NULL)
        o->places[at.within] = (pnc_zarr_place){chunk->place.offset, chunk->place.bytes};
}

static void free_store(pnc_container *container)
{
    zarr_container *c = zarr_container_of(container);

    forget_objects(c, true);
    pnc_chunks_map_free(&c->map);
    pnc_memory_free(c);
}

static const pnc_container_ops store_operations = {.find = find_in_store,
                                                   .read = read_from_store,
                                                   .prepare = prepare_for_store,
                                                   .place = place_in_store,
                                                   .joins = is_next_in_shard,
                                                   .write = write_to_store,
                                                   .adopt = adopt_in_store,
                                                   .free = free_store};

/* --- interface --- */

pnc_container *pnc_zarr_container_create(const pnc_folder *folder, const pnc_zarr_chunks *chunks,
                                         pnc_zarr_agreement *agree, void *own)
{
    zarr_container *c = pnc_memory_alloc_zeroed(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->base.ops = &store_operations;
    c->folder = folder;
    c->agree = agree;
    c->own = own;
    c->chunks = chunks;
    return &c->base;
}

/* A chunk whose write has failed is not there. */
static int flush_chunk(const zarr_container *c, const zarr_object *o, bool is_durable, pnc_error *error)
{
    object_key key = get_key(c, o);
    int64_t size;

    if (!is_durable)
        return NC_NOERR;
    PNC_TRY(pnc_folder_object_find(c->folder, key.text, &size, error));
    return size < 0 ? NC_NOERR : pnc_folder_object_sync(c->folder, key.text, error);
}

static bool has_chunk(const pnc_zarr_array *array, const zarr_object *o)
{
    for (int64_t i = 0; i < pnc_zarr_index_count(array); i++)
        if (o->places[i].offset >= 0)
            return true;
    return false;
}

/* Most of the shard are chunks that others have replaced. */
static bool is_mostly_garbage(const pnc_zarr_array *array, const zarr_object *o)
{
    int64_t used = pnc_zarr_index_get_bytes(array), n = pnc_zarr_index_count(array);

    for (int64_t i = 0; i < n; i++)
        used += o->places[i].offset < 0 ? 0 : o->places[i].bytes;
    return o->end > 2 * used + GARBAGE_LEAST;
}

/* The chunks of a shard, one behind the other, to another object. */
static int copy_chunks(const zarr_container *c, zarr_object *o, const char *from, const char *to, pnc_error *error)
{
    const pnc_zarr_array *array = c->chunks[o->item.array].array;
    int64_t at = pnc_zarr_index_get_bytes(array), n = pnc_zarr_index_count(array);
    int err = NC_NOERR;

    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        pnc_zarr_place *place = &o->places[i];
        char *bytes = place->offset < 0 ? NULL : pnc_memory_alloc(place->bytes, 1);

        if (place->offset < 0)
            continue;
        err = bytes == NULL ? fail_index(&c->chunks[o->item.array], error)
                            : pnc_folder_object_read(c->folder, from, place->offset, bytes, place->bytes, error);
        if (err == NC_NOERR)
            err = pnc_folder_object_write(c->folder, to, at, bytes, place->bytes, error);
        pnc_memory_free(bytes);
        place->offset = at;
        at += place->bytes;
    }
    o->end = at;
    return err;
}

/* The shard becomes a new one without garbage, which replaces it. After an error it is as before. */
static int compact_shard(const zarr_container *c, zarr_object *o, bool is_durable, pnc_error *error)
{
    const pnc_zarr_chunks *k = &c->chunks[o->item.array];
    object_key from = get_key(c, o), to = make_object_key(k, o->item.chunk, COMPACTED);
    int64_t bytes = pnc_zarr_index_count(k->array) * (int64_t)sizeof *o->places;
    zarr_object old = *o;
    int err;

    PNC_TRY(pnc_folder_object_delete(c->folder, to.text, error)); /* one of a program that died */
    o->places = pnc_memory_alloc(bytes, 1);
    if (o->places == NULL) {
        *o = old;
        return fail_index(k, error);
    }
    memcpy(o->places, old.places, (size_t)bytes);
    err = copy_chunks(c, o, from.text, to.text, error);
    if (err == NC_NOERR)
        err = write_shard_index(c, o, to.text, error);
    if (err == NC_NOERR && is_durable)
        err = pnc_folder_object_sync(c->folder, to.text, error);
    if (err == NC_NOERR)
        err = pnc_folder_object_rename(c->folder, to.text, make_object_key(k, o->item.chunk, "").text, error);
    pnc_memory_free(err == NC_NOERR ? old.places : o->places);
    if (err != NC_NOERR)
        *o = old;
    else if (old.is_new)
        (void)pnc_folder_object_delete(c->folder, from.text, NULL); /* it has no name that readers know */
    o->is_new = o->is_new && err != NC_NOERR;
    return err;
}

/* The chunks, then the index, then the name. */
static int flush_shard(const zarr_container *c, zarr_object *o, bool is_durable, pnc_error *error)
{
    const pnc_zarr_chunks *k = &c->chunks[o->item.array];
    object_key key = get_key(c, o);

    if (!has_chunk(k->array, o))
        return NC_NOERR;
    if (o->is_dirty && is_mostly_garbage(k->array, o))
        return compact_shard(c, o, is_durable, error);
    if (is_durable)
        PNC_TRY(pnc_folder_object_sync(c->folder, key.text, error));
    if (!o->is_dirty)
        return NC_NOERR;
    PNC_TRY(write_shard_index(c, o, key.text, error));
    if (is_durable)
        PNC_TRY(pnc_folder_object_sync(c->folder, key.text, error));
    if (o->is_new)
        PNC_TRY(pnc_folder_object_rename(c->folder, key.text, make_object_key(k, o->item.chunk, "").text, error));
    o->is_new = false;
    return NC_NOERR;
}

static bool has_to_flush(const zarr_object *o, bool is_durable)
{
    return o->is_dirty || (is_durable && o->is_unflushed);
}

/* The names of objects. */
static int flush_names(const zarr_container *c, pnc_error *error)
{
    int64_t array = -1;

    for (const zarr_object *o = c->objects; o != NULL; o = next_object(o)) {
        if (has_to_flush(o, true) && o->item.array != array)
            PNC_TRY(pnc_folder_key_sync(c->folder, c->chunks[o->item.array].array->path, error));
        array = o->item.array;
    }
    return NC_NOERR;
}

int pnc_zarr_container_flush(pnc_container *container, bool is_durable, pnc_error *error)
{
    zarr_container *c = zarr_container_of(container);

    for (zarr_object *o = c->objects; o != NULL; o = next_object(o)) {
        if (!has_to_flush(o, is_durable))
            continue;
        if (o->places != NULL)
            PNC_TRY(flush_shard(c, o, is_durable, error));
        else
            PNC_TRY(flush_chunk(c, o, is_durable, error));
    }
    if (is_durable)
        PNC_TRY(flush_names(c, error));
    for (zarr_object *o = c->objects; o != NULL; o = next_object(o)) {
        o->is_dirty = false;
        o->is_unflushed = o->is_unflushed && !is_durable;
    }
    c->ndirty = 0;
    return NC_NOERR;
}

bool pnc_zarr_container_is_dirty(const pnc_container *container)
{
    return zarr_container_of(container)->ndirty > 0;
}

void pnc_zarr_container_discard(pnc_container *container)
{
    forget_objects(zarr_container_of(container), false);
}
