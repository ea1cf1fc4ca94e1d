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
#define SHOWN "-index" /* behind the temporary name of a shard: an index for the other ranks */
/* Bytes of replaced chunks that a shard keeps beside as many as it has. A guess: a write of a MiB is one request. */
#define GARBAGE_LEAST (INT64_C(1) << 20)

/* A chunk, or a shard, that this rank has written, or a shard whose index it has read. */
typedef struct zarr_object {
    pnc_chunk_item item;    /* array and number of the object */
    bool is_dirty;          /* it has changes that are not part of the dataset yet */
    bool is_new;            /* it has a temporary name */
    bool is_shown;          /* other ranks find it as it is */
    int64_t end;            /* of a shard: where the next chunk is put */
    int64_t inode, birth;   /* of a shard that this handle only reads; 0: not known */
    pnc_zarr_place *places; /* of a shard */
} zarr_object;

typedef struct zarr_container {
    pnc_container base;
    const pnc_objects *objects;
    int64_t id;    /* of temporary names */
    bool is_shown; /* ranks may have objects that others find by temporary names */
    pnc_zarr_agreement *agree;
    void *own; /* for it */
    const pnc_zarr_chunks *chunks;
    pnc_chunk_map map;
    zarr_object *known; /* a list */
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

static pnc_zarr_key make_object_key(const pnc_zarr_chunks *k, int64_t object)
{
    char end[PNC_ZARR_KEY_MOST];
    int64_t at[PNC_ARRAY_DIMS];
    pnc_zarr_key key;

    for (int d = k->array->ndims - 1; d >= 0; d--) {
        at[d] = object % count_objects(k, d);
        object /= count_objects(k, d);
    }
    (void)pnc_zarr_key_write(k->array, at, end);
    snprintf(key.text, sizeof key.text, "%s%s%s", k->array->path, k->array->path[0] == '\0' ? "" : "/", end);
    return key;
}

/* Where a chunk or shard is while the changes with it are not made. */
static pnc_zarr_key make_temporary_key(const zarr_container *c, const pnc_zarr_chunks *k, int64_t object)
{
    return pnc_zarr_temporary_make(make_object_key(k, object).text, c->id);
}

static pnc_zarr_key get_key(const zarr_container *c, const zarr_object *o)
{
    const pnc_zarr_chunks *k = &c->chunks[o->item.array];

    return o->is_new ? make_temporary_key(c, k, o->item.chunk) : make_object_key(k, o->item.chunk);
}

static pnc_zarr_key make_shown_key(const zarr_container *c, const zarr_object *o)
{
    pnc_zarr_key key = make_temporary_key(c, &c->chunks[o->item.array], o->item.chunk);

    strcat(key.text, SHOWN); /* temporary names leave space for it */
    return key;
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
    zarr_object **at = &c->known;

    while (*at != NULL) {
        zarr_object *o = *at;

        if (o->is_dirty && !all) {
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
    o->item.next = c->known == NULL ? NULL : &c->known->item;
    c->known = o;
    return o;
}

static void remove_newest(zarr_container *c)
{
    zarr_object *o = c->known;

    c->known = next_object(o);
    pnc_chunks_map_remove(&c->map, &o->item);
    free_object(o);
}

static void make_dirty(zarr_container *c, zarr_object *o)
{
    c->ndirty += !o->is_dirty;
    o->is_dirty = true;
    o->is_shown = false;
}

/* --- shards --- */

/* Chunks follow an index at the start; one at the end follows them. */
static int64_t get_first_offset(const pnc_zarr_array *array)
{
    return array->index.is_at_start ? pnc_zarr_index_get_bytes(array) : 0;
}

/* Where the index of a shard is. */
typedef struct index_place {
    pnc_zarr_key key;
    int64_t at;
    int64_t size; /* of the shard, with its index; -1: there is none */
} index_place;

/* An index of its own that another rank has shown: of a shard of `size` bytes. */
static int find_shown_index(const zarr_container *c, const zarr_object *o, int64_t size, index_place *out,
                            bool *is_shown, pnc_error *error)
{
    const pnc_zarr_array *array = c->chunks[o->item.array].array;
    pnc_zarr_key shown = make_shown_key(c, o);
    int64_t has;

    PNC_TRY(c->objects->ops->find(c->objects, shown.text, &has, error));
    *is_shown = has >= 0;
    if (*is_shown) /* a shard with its index at the end does not have it yet */
        *out = (index_place){.key = shown,
                             .size = size + (array->index.is_at_start ? 0 : pnc_zarr_index_get_bytes(array))};
    return NC_NOERR;
}

/* What another rank has shown of a new shard. Until then it has chunks, but no index. */
static int find_new_index(const zarr_container *c, const zarr_object *o, index_place *out, bool *is_shown,
                          pnc_error *error)
{
    const pnc_zarr_chunks *k = &c->chunks[o->item.array];

    out->key = make_temporary_key(c, k, o->item.chunk);
    PNC_TRY(c->objects->ops->find(c->objects, out->key.text, &out->size, error));
    *is_shown = false;
    return out->size < 0 ? NC_NOERR : find_shown_index(c, o, out->size, out, is_shown, error);
}

/* What another rank has shown, or else that of the dataset. */
static int find_shard_index(const zarr_container *c, zarr_object *o, index_place *out, pnc_error *error)
{
    const pnc_zarr_chunks *k = &c->chunks[o->item.array];
    bool is_shown = false;

    if (c->is_shown)
        PNC_TRY(find_new_index(c, o, out, &is_shown, error));
    o->is_new = is_shown;
    if (is_shown)
        return NC_NOERR;
    out->key = make_object_key(k, o->item.chunk);
    PNC_TRY(c->objects->ops->find(c->objects, out->key.text, &out->size, error));
    o->is_new = out->size < 0;
    out->at = o->is_new ? 0 : pnc_zarr_index_get_offset(k->array, out->size);
    if (!c->is_shown || o->is_new || !k->array->index.is_at_start)
        return NC_NOERR;
    return find_shown_index(c, o, out->size, out, &is_shown, error);
}

/* Of the object that has a name now; zeros where the container does not say, or changes it itself. */
static int find_shard_facts(const zarr_container *c, const char *key, pnc_objects_facts *facts, pnc_error *error)
{
    *facts = (pnc_objects_facts){.inode = 0};
    if (c->agree != NULL || c->objects->ops->inspect == NULL)
        return NC_NOERR;
    return c->objects->ops->inspect(c->objects, key, facts, error);
}

/* The index of a shard as the folder has it; one that is not there has no chunks. */
static int read_index(const zarr_container *c, zarr_object *o, pnc_error *error)
{
    const pnc_zarr_chunks *k = &c->chunks[o->item.array];
    int64_t bytes = pnc_zarr_index_get_bytes(k->array);
    unsigned char *encoded;
    pnc_objects_facts facts;
    index_place place;
    int err;

    PNC_TRY(find_shard_index(c, o, &place, error));
    PNC_TRY(find_shard_facts(c, place.key.text, &facts, error));
    o->inode = facts.inode;
    o->birth = facts.birth;
    o->end = place.size < 0 ? get_first_offset(k->array) : place.size;
    if (place.size < 0) {
        for (int64_t i = 0; i < pnc_zarr_index_count(k->array); i++)
            o->places[i] = (pnc_zarr_place){-1, 0};
        return NC_NOERR;
    }
    if (place.size < bytes)
        return pnc_error_set(error, NC_ENCZARR, "%s/%s: the shard is shorter than its index", c->objects->path,
                             place.key.text);
    encoded = pnc_memory_alloc(bytes, 1);
    if (encoded == NULL)
        return fail_index(k, error);
    err = c->objects->ops->read(c->objects, place.key.text, place.at, encoded, bytes, error);
    if (err == NC_NOERR)
        err = pnc_zarr_index_decode(k->array, encoded, place.size, o->places, error);
    if (err != NC_NOERR)
        pnc_error_add_context(error, "%s/%s", c->objects->path, place.key.text);
    pnc_memory_free(encoded);
    return err;
}

/* After an access to a chunk, which returned err. The writer may have made its shard anew: chunks are elsewhere. */
static int check_shard_is_same(const zarr_container *c, const zarr_object *o, const char *key, int err,
                               pnc_error *error)
{
    pnc_objects_facts facts;
    int found;

    if (o == NULL || o->inode == 0)
        return err;
    found = find_shard_facts(c, key, &facts, error);
    if (found != NC_NOERR || (facts.inode == o->inode && facts.birth == o->birth))
        return pnc_error_keep_first(err, found);
    pnc_error_clear(error); /* that is the reason of the other one */
    return pnc_error_set(error, NC_ESTALE,
                         "%s/%s: another program has written this shard anew since this one has read its index: close "
                         "this ncid and open the store again",
                         c->objects->path, key);
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

/* NULL without memory. */
static unsigned char *encode_index(const zarr_container *c, const zarr_object *o)
{
    const pnc_zarr_array *array = c->chunks[o->item.array].array;
    unsigned char *encoded = pnc_memory_alloc(pnc_zarr_index_get_bytes(array), 1);

    if (encoded != NULL)
        pnc_zarr_index_encode(array, o->places, encoded);
    return encoded;
}

/* offset: of an index that is an object of its own; or where the shard has it. */
static int write_shard_index(const zarr_container *c, const zarr_object *o, const char *key, int64_t offset,
                             pnc_error *error)
{
    const pnc_zarr_chunks *k = &c->chunks[o->item.array];
    unsigned char *encoded = encode_index(c, o);
    int err;

    if (encoded == NULL)
        return fail_index(k, error);
    err = c->objects->ops->write(c->objects, key, offset, encoded, pnc_zarr_index_get_bytes(k->array), error);
    pnc_memory_free(encoded);
    return err;
}

/* The chunks of a shard, one behind the other, to another object. */
static int copy_chunks(const zarr_container *c, zarr_object *o, const char *from, const char *to, pnc_error *error)
{
    const pnc_zarr_array *array = c->chunks[o->item.array].array;
    int64_t at = get_first_offset(array), n = pnc_zarr_index_count(array);
    int err = NC_NOERR;

    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        pnc_zarr_place *place = &o->places[i];
        char *bytes = place->offset < 0 ? NULL : pnc_memory_alloc(place->bytes, 1);

        if (place->offset < 0)
            continue;
        err = bytes == NULL ? fail_index(&c->chunks[o->item.array], error)
                            : c->objects->ops->read(c->objects, from, place->offset, bytes, place->bytes, error);
        if (err == NC_NOERR)
            err = c->objects->ops->write(c->objects, to, at, bytes, place->bytes, error);
        pnc_memory_free(bytes);
        place->offset = at;
        at += place->bytes;
    }
    o->end = at;
    return err;
}

/* The shard becomes a new one without garbage, with a temporary name. After an error it is as before. */
static int copy_shard(const zarr_container *c, zarr_object *o, pnc_error *error)
{
    const pnc_zarr_chunks *k = &c->chunks[o->item.array];
    pnc_zarr_key from = get_key(c, o), to = make_temporary_key(c, k, o->item.chunk);
    int64_t bytes = pnc_zarr_index_count(k->array) * (int64_t)sizeof *o->places;
    zarr_object old = *o;
    int err;

    PNC_TRY(c->objects->ops->remove(c->objects, to.text, error)); /* of a try that has failed */
    if (c->is_shown)                                              /* what other ranks have found is of the old one */
        PNC_TRY(c->objects->ops->remove(c->objects, make_shown_key(c, o).text, error));
    old.is_shown = o->is_shown = false;
    o->places = pnc_memory_alloc(bytes, 1);
    if (o->places == NULL) {
        *o = old;
        return fail_index(k, error);
    }
    memcpy(o->places, old.places, (size_t)bytes);
    err = copy_chunks(c, o, from.text, to.text, error);
    pnc_memory_free(err == NC_NOERR ? old.places : o->places);
    if (err != NC_NOERR)
        *o = old;
    else
        o->is_new = true;
    return err;
}

/* --- the operations of a container --- */

/* Of a chunk without a shard: the newest one that this rank may see. *bytes: -1: there is none. */
static int find_chunk_object(const zarr_container *c, int64_t array, int64_t number, pnc_zarr_key *key, int64_t *bytes,
                             pnc_error *error)
{
    const pnc_zarr_chunks *k = &c->chunks[array];
    const zarr_object *o = (const zarr_object *)(void *)pnc_chunks_map_find(&c->map, array, number);

    *key = make_temporary_key(c, k, number);
    *bytes = -1;
    if (c->is_shown || (o != NULL && o->is_new))
        PNC_TRY(c->objects->ops->find(c->objects, key->text, bytes, error));
    if (*bytes >= 0)
        return NC_NOERR;
    *key = make_object_key(k, number);
    return c->objects->ops->find(c->objects, key->text, bytes, error);
}

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
        pnc_zarr_key key;

        PNC_TRY(find_chunk_object(c, chunk->array, at.object, &key, &out->bytes, error));
        out->offset = out->bytes < 0 ? -1 : 0;
        return NC_NOERR;
    }
    PNC_TRY(load_shard(c, chunk->array, at.object, &shard, error));
    out->offset = shard->places[at.within].offset;
    out->bytes = shard->places[at.within].bytes;
    return NC_NOERR;
}

static int read_from_store(pnc_container *container, const pnc_chunk_item *chunk, const pnc_chunk_place *place,
                           void *to, pnc_error *error)
{
    zarr_container *c = zarr_container_of(container);
    const pnc_zarr_chunks *k = &c->chunks[chunk->array];
    int64_t object = find_chunk_position(k, chunk->chunk).object, bytes;
    const zarr_object *o = (const zarr_object *)(void *)pnc_chunks_map_find(&c->map, chunk->array, object);
    pnc_zarr_key key;
    int err;

    if (o != NULL ? o->is_new : c->is_shown) /* changes that were not all made may have given it its name */
        PNC_TRY(find_chunk_object(c, chunk->array, object, &key, &bytes, error));
    else
        key = make_object_key(k, object);
    err = c->objects->ops->read(c->objects, key.text, place->offset, to, place->bytes, error);
    return check_shard_is_same(c, o, key.text, err, error);
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
    if (k->array->inner != NULL && !k->array->index.is_at_start && !o->is_new)
        PNC_TRY(copy_shard(c, o, error)); /* it has no place for chunks behind its index */
    chunk->was_written = o->is_dirty && (k->array->inner == NULL || o->places[at.within].offset >= 0);
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
    zarr_object *o = (zarr_object *)(void *)pnc_chunks_map_find(&c->map, chunk->item.array, object);
    pnc_zarr_key key;

    if (k->array->inner != NULL)
        return c->objects->ops->write(c->objects, get_key(c, o).text, chunk->place.offset, bytes, length, error);
    o->is_new = false; /* until it is complete */
    key = make_temporary_key(c, k, object);
    if (c->is_shown) /* another rank may read it now: the old one, or the new one */
        return c->objects->ops->put(c->objects, key.text, bytes, length, false, error);
    return c->objects->ops->create(c->objects, key.text, bytes, length, false, error);
}

static void adopt_in_store(pnc_container *container, const pnc_stored_chunk *chunk)
{
    zarr_container *c = zarr_container_of(container);
    const pnc_zarr_chunks *k = &c->chunks[chunk->item.array];
    chunk_position at = find_chunk_position(k, chunk->item.chunk);
    zarr_object *o = (zarr_object *)(void *)pnc_chunks_map_find(&c->map, chunk->item.array, at.object);

    if (k->array->inner != NULL)
        o->places[at.within] = (pnc_zarr_place){chunk->place.offset, chunk->place.bytes};
    else
        o->is_new = true;
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

pnc_container *pnc_zarr_container_create(const pnc_objects *objects, int64_t id, const pnc_zarr_chunks *chunks,
                                         pnc_zarr_agreement *agree, void *own)
{
    zarr_container *c = pnc_memory_alloc_zeroed(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->base.ops = &store_operations;
    c->objects = objects;
    c->id = id;
    c->agree = agree;
    c->own = own;
    c->chunks = chunks;
    return &c->base;
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

/* Another program puts its chunks behind the end that this one knows. */
static int check_shard_end(const zarr_container *c, const zarr_object *o, pnc_error *error)
{
    const pnc_zarr_array *array = c->chunks[o->item.array].array;
    pnc_zarr_key key = get_key(c, o);
    int64_t size;

    PNC_TRY(c->objects->ops->find(c->objects, key.text, &size, error));
    if (size <= o->end || !array->index.is_at_start) /* one of this handle, perhaps with the index of a failed try */
        return NC_NOERR;
    return pnc_error_set(error, NC_ESTALE,
                         "%s/%s: another program or handle has put chunks into this shard since this one has read its "
                         "index: close this ncid and open the store again",
                         c->objects->path, key.text);
}

static int prepare_shard(const zarr_container *c, zarr_object *o, pnc_zarr_changes *changes, pnc_error *error)
{
    const pnc_zarr_chunks *k = &c->chunks[o->item.array];
    pnc_zarr_key name = make_object_key(k, o->item.chunk), key;
    unsigned char *encoded;
    int err;

    if (!has_chunk(k->array, o))
        return NC_NOERR;
    PNC_TRY(check_shard_end(c, o, error));
    if (!o->is_new && is_mostly_garbage(k->array, o))
        PNC_TRY(copy_shard(c, o, error));
    key = get_key(c, o);
    if (o->is_new)
        PNC_TRY(write_shard_index(c, o, key.text, k->array->index.is_at_start ? 0 : o->end, error));
    PNC_TRY(c->objects->ops->sync(c->objects, key.text, error));
    if (o->is_new)
        return pnc_zarr_changes_add(changes, PNC_ZARR_CHANGE_NAME, name.text, NULL, 0, error);
    encoded = encode_index(c, o);
    if (encoded == NULL)
        return fail_index(k, error);
    err = pnc_zarr_changes_add(changes, PNC_ZARR_CHANGE_INDEX, name.text, encoded, pnc_zarr_index_get_bytes(k->array),
                               error);
    pnc_memory_free(encoded);
    return err;
}

/* A chunk whose write has failed is not there. */
static int prepare_chunk(const zarr_container *c, const zarr_object *o, pnc_zarr_changes *changes, pnc_error *error)
{
    pnc_zarr_key name = make_object_key(&c->chunks[o->item.array], o->item.chunk);

    if (!o->is_new)
        return NC_NOERR;
    PNC_TRY(c->objects->ops->sync(c->objects, get_key(c, o).text, error));
    return pnc_zarr_changes_add(changes, PNC_ZARR_CHANGE_NAME, name.text, NULL, 0, error);
}

int pnc_zarr_container_update(pnc_container *container, pnc_zarr_changes *changes, pnc_error *error)
{
    zarr_container *c = zarr_container_of(container);

    for (zarr_object *o = c->known; o != NULL; o = next_object(o)) {
        if (!o->is_dirty)
            continue;
        if (o->places != NULL)
            PNC_TRY(prepare_shard(c, o, changes, error));
        else
            PNC_TRY(prepare_chunk(c, o, changes, error));
    }
    return NC_NOERR;
}

/* What is left of writes that failed, and of what was shown. An object that stays is garbage, which a repair deletes.
 * */
static void delete_rest(const zarr_container *c, const zarr_object *o)
{
    if (o->is_new && o->places != NULL && !has_chunk(c->chunks[o->item.array].array, o))
        (void)c->objects->ops->remove(c->objects, get_key(c, o).text, NULL);
    if (c->is_shown && o->places != NULL)
        (void)c->objects->ops->remove(c->objects, make_shown_key(c, o).text, NULL);
}

void pnc_zarr_container_finish(pnc_container *container)
{
    zarr_container *c = zarr_container_of(container);

    for (zarr_object *o = c->known; o != NULL; o = next_object(o)) {
        if (!o->is_dirty)
            continue;
        delete_rest(c, o);
        o->is_dirty = o->is_shown = false;
        o->is_new = o->is_new && o->places != NULL && !has_chunk(c->chunks[o->item.array].array, o);
    }
    c->is_shown = false;
    c->ndirty = 0;
}

/* A chunk is in an object of its own already. */
int pnc_zarr_container_display(pnc_container *container, pnc_error *error)
{
    zarr_container *c = zarr_container_of(container);

    for (zarr_object *o = c->known; o != NULL; o = next_object(o)) {
        const pnc_zarr_array *array = c->chunks[o->item.array].array;

        if (!o->is_dirty || o->is_shown || o->places == NULL || !has_chunk(array, o))
            continue;
        PNC_TRY(write_shard_index(c, o, make_shown_key(c, o).text, 0, error));
        o->is_shown = true;
    }
    return NC_NOERR;
}

void pnc_zarr_container_set_shown(pnc_container *container)
{
    zarr_container_of(container)->is_shown = true;
}

bool pnc_zarr_container_is_dirty(const pnc_container *container)
{
    return zarr_container_of(container)->ndirty > 0;
}

void pnc_zarr_container_discard(pnc_container *container)
{
    forget_objects(zarr_container_of(container), false);
}
