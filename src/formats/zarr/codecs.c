/* Codecs of documents as filters of src/filter, and back. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "base/types.h"
#include "formats/zarr/array.h"

/* A codec of a document, while the chain of an array grows. */
typedef struct codec_reader {
    const pnc_zarr_context *c;
    pnc_zarr_array *array;
    pnc_filter *filters;
    void *configuration;
    const int64_t *lengths; /* of the array that the next transposition gets */
} codec_reader;

/* parameters may be NULL */
static int append_filter(codec_reader *r, int id, int n, const uint32_t *parameters)
{
    uint32_t *copy = NULL;

    if (r->array->filters.nfilters == PNC_FILTER_MOST)
        return pnc_zarr_damage_set(r->c, "it has more than %d codecs", PNC_FILTER_MOST);
    PNC_TRY(pnc_zarr_memory_alloc(r->c, n, sizeof *copy, &copy));
    if (n > 0)
        memcpy(copy, parameters, (size_t)n * sizeof *copy);
    r->filters[r->array->filters.nfilters++] = (pnc_filter){.id = id, .nparameters = n, .parameters = copy};
    return NC_NOERR;
}

/* A number of the configuration; `otherwise`, where it is missing. */
static int get_codec_number(codec_reader *r, const char *name, int64_t least, int64_t most, int64_t otherwise,
                            int64_t *out)
{
    void *value = pnc_zarr_member_get(r->c, r->configuration, name);

    *out = otherwise;
    if (value == NULL || pnc_zarr_integer_get(r->c, value, least, most, out))
        return NC_NOERR;
    return pnc_zarr_damage_set(r->c, "\"%s\" of a codec is not an integer from %lld to %lld", name, (long long)least,
                               (long long)most);
}

static int read_level(codec_reader *r, int id, int64_t least, int64_t most, int64_t otherwise)
{
    int64_t level;
    uint32_t parameter;

    PNC_TRY(get_codec_number(r, "level", least, most, otherwise, &level));
    parameter = (uint32_t)level;
    return append_filter(r, id, 1, &parameter);
}

/* -1 of numcodecs: the default of zlib, 6. */
static int read_deflate(codec_reader *r, int id)
{
    void *level = pnc_zarr_member_get(r->c, r->configuration, "level");
    int64_t number;
    uint32_t parameter = 6;

    if (level != NULL && pnc_zarr_integer_get(r->c, level, -1, -1, &number))
        return append_filter(r, id, 1, &parameter);
    return read_level(r, id, 0, 9, 1);
}

static int read_gzip(codec_reader *r)
{
    return read_deflate(r, PNC_FILTER_GZIP);
}

static int read_zlib(codec_reader *r)
{
    return read_deflate(r, PNC_FILTER_DEFLATE);
}

static int read_zstd(codec_reader *r)
{
    return read_level(r, PNC_FILTER_ZSTD, PNC_FILTER_ZSTD_LEVEL_LEAST, PNC_FILTER_ZSTD_LEVEL_MOST, 0);
}

static int find_blosc_codec(codec_reader *r, uint32_t *codec)
{
    void *name = pnc_zarr_member_get(r->c, r->configuration, "cname");

    for (int i = 0; i < PNC_BLOSC_CODECS; i++)
        if (pnc_zarr_text_is(r->c, name, pnc_filter_blosc_codec_get_name((pnc_blosc_codec)i))) {
            *codec = (uint32_t)i;
            return NC_NOERR;
        }
    return pnc_zarr_damage_set(r->c, "\"cname\" of blosc is not a codec that Blosc has");
}

static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle"};

/* A word of version 3, or a number of version 2, where -1 is bitshuffle for elements of one byte, else shuffle. */
static int find_blosc_shuffle(codec_reader *r, uint32_t *shuffle)
{
    void *value = pnc_zarr_member_get(r->c, r->configuration, "shuffle");
    int64_t number = pnc_type_get_size(r->array->type) > 1 ? PNC_BLOSC_BYTES_SHUFFLED : PNC_BLOSC_BITS_SHUFFLED;

    for (uint32_t i = 0; i < PNC_BLOSC_SHUFFLES; i++)
        if (pnc_zarr_text_is(r->c, value, shuffles[i])) {
            *shuffle = i;
            return NC_NOERR;
        }
    if (value != NULL && !pnc_zarr_integer_get(r->c, value, -1, -1, &(int64_t){0}) &&
        !pnc_zarr_integer_get(r->c, value, 0, PNC_BLOSC_SHUFFLES - 1, &number))
        return pnc_zarr_damage_set(r->c, "\"shuffle\" of blosc is not one that Blosc has");
    *shuffle = (uint32_t)number;
    return NC_NOERR;
}

static int read_blosc(codec_reader *r)
{
    uint32_t p[PNC_BLOSC_PARAMETERS] = {0};
    int64_t size = pnc_max64((int64_t)pnc_type_get_size(r->array->type), 1), level, block;

    PNC_TRY(find_blosc_codec(r, &p[PNC_BLOSC_CODEC]));
    PNC_TRY(find_blosc_shuffle(r, &p[PNC_BLOSC_SHUFFLE]));
    PNC_TRY(get_codec_number(r, "clevel", 0, PNC_BLOSC_LEVEL_MOST, 5, &level));
    PNC_TRY(get_codec_number(r, "typesize", 1, INT32_MAX, size, &size));
    PNC_TRY(get_codec_number(r, "blocksize", 0, INT32_MAX, 0, &block));
    p[PNC_BLOSC_LEVEL] = (uint32_t)level;
    p[PNC_BLOSC_TYPE_SIZE] = size <= PNC_BLOSC_TYPE_SIZE_MOST ? (uint32_t)size : 1; /* as Blosc does */
    p[PNC_BLOSC_BLOCK] = (uint32_t)block;
    return append_filter(r, PNC_FILTER_ZARR_BLOSC, PNC_BLOSC_PARAMETERS, p);
}

/* numcodecs can have the checksum in front, too. */
static int read_crc32c(codec_reader *r)
{
    void *location = pnc_zarr_member_get(r->c, r->configuration, "location");

    if (location != NULL && !pnc_zarr_text_is(r->c, location, "end"))
        return pnc_zarr_array_reject(r->c, r->array, "its checksum crc32c is not at the end of chunks");
    return append_filter(r, PNC_FILTER_CRC32C, 0, NULL);
}

static int read_fletcher32(codec_reader *r)
{
    return append_filter(r, PNC_FILTER_FLETCHER32, 0, NULL);
}

/* 0 of NCZarr: the size of the type. */
static int read_shuffle(codec_reader *r)
{
    int64_t size;
    uint32_t parameter;

    PNC_TRY(get_codec_number(r, "elementsize", 0, INT32_MAX, 4, &size));
    parameter = (uint32_t)(size > 0 ? size : pnc_max64((int64_t)pnc_type_get_size(r->array->type), 1));
    return append_filter(r, PNC_FILTER_SHUFFLE, 1, &parameter);
}

/* Each axis once. */
static bool is_permutation(int n, const int64_t *order)
{
    uint64_t seen = 0;

    for (int i = 0; i < n; i++)
        seen |= UINT64_C(1) << order[i];
    return n == 64 ? seen == UINT64_MAX : seen == (UINT64_C(1) << n) - 1;
}

/* The next one, if any, gets the array that this one makes. */
static int append_transposition(codec_reader *r, const int64_t *order)
{
    int n = r->array->ndims, axes[PNC_ZARR_DIMS_MOST];
    uint32_t parameters[PNC_TRANSPOSE_PARAMETERS_MOST];
    int64_t *lengths;
    bool moves = false;

    PNC_TRY(pnc_zarr_memory_alloc(r->c, n, sizeof *lengths, &lengths));
    for (int i = 0; i < n; i++) {
        axes[i] = (int)order[i];
        moves = moves || order[i] != i;
        lengths[i] = r->lengths[order[i]];
    }
    if (moves)
        PNC_TRY(append_filter(
            r, PNC_FILTER_TRANSPOSE,
            pnc_filter_transpose_set((uint32_t)pnc_type_get_size(r->array->type), n, r->lengths, axes, parameters),
            parameters));
    r->lengths = lengths;
    return NC_NOERR;
}

static int read_transpose(codec_reader *r)
{
    int64_t order[PNC_ZARR_DIMS_MOST];
    int n;

    PNC_TRY(pnc_zarr_integers_get(r->c, pnc_zarr_member_get(r->c, r->configuration, "order"), "order", 0,
                                  r->array->ndims - 1, PNC_ZARR_DIMS_MOST, &n, order));
    if (n != r->array->ndims || !is_permutation(n, order))
        return pnc_zarr_damage_set(r->c, "\"order\" of transpose does not have each axis once");
    return append_transposition(r, order);
}

/* --- version 3 --- */

/* Codecs of bytes. Names with numcodecs in front are those of zarr-python for what the specification does not have. */
static const struct bytes_codec {
    const char *name;
    int (*read)(codec_reader *r);
} bytes_codecs[] = {
    {"gzip", read_gzip}, {"zstd", read_zstd},       {"blosc", read_blosc},          {"crc32c", read_crc32c},
    {"zlib", read_zlib}, {"shuffle", read_shuffle}, {"fletcher32", read_fletcher32}};
#define NUMCODECS "numcodecs."

static int read_bytes_codec(codec_reader *r, const char *name, bool is_v2)
{
    const char *own = strncmp(name, NUMCODECS, strlen(NUMCODECS)) == 0 ? name + strlen(NUMCODECS) : name;

    for (size_t i = 0; i < sizeof bytes_codecs / sizeof *bytes_codecs; i++)
        if (strcmp(own, bytes_codecs[i].name) == 0)
            return bytes_codecs[i].read(r);
    return pnc_zarr_array_reject(r->c, r->array, "its %s \"%s\" is one that this library does not have",
                                 is_v2 ? "compressor or filter" : "codec", name);
}

/* A name, or an object that has one and perhaps a configuration. */
static int begin_codec(codec_reader *r, void *value, const char **name)
{
    void *member = value;

    r->configuration = NULL;
    if (pnc_zarr_value_is(r->c, value, PNC_JSON_OBJECT)) {
        PNC_TRY(pnc_zarr_member_find(r->c, value, "name", PNC_JSON_STRING, false, &member));
        PNC_TRY(pnc_zarr_member_find(r->c, value, "configuration", PNC_JSON_OBJECT, true, &r->configuration));
    }
    *name = pnc_zarr_text_get(r->c, member);
    return *name != NULL ? NC_NOERR : pnc_zarr_damage_set(r->c, "\"codecs\" has an entry without a name");
}

static int read_order(codec_reader *r, bool *is_big_endian)
{
    void *endian = pnc_zarr_member_get(r->c, r->configuration, "endian");

    *is_big_endian = pnc_zarr_text_is(r->c, endian, "big");
    if (*is_big_endian || endian == NULL || pnc_zarr_text_is(r->c, endian, "little"))
        return NC_NOERR;
    return pnc_zarr_damage_set(r->c, "\"endian\" is neither \"little\" nor \"big\"");
}

/* Codecs of the index: bytes, and perhaps crc32c. */
static int read_index_codecs(codec_reader *r, void *list)
{
    const char *name;
    size_t n = list != NULL ? r->c->json->array_get_length(list) : 0;
    bool is_known = n == 1 || n == 2;

    for (size_t i = 0; i < n && is_known; i++) {
        PNC_TRY(begin_codec(r, r->c->json->array_get(list, i), &name));
        is_known = strcmp(name, i == 0 ? "bytes" : "crc32c") == 0;
        if (i == 0 && is_known)
            PNC_TRY(read_order(r, &r->array->index.is_big_endian));
    }
    r->array->index.has_sum = n == 2;
    return is_known ? NC_NOERR
                    : pnc_zarr_array_reject(r->c, r->array,
                                            "the index of its shards has codecs other than bytes and "
                                            "crc32c");
}

static int read_list(codec_reader *r, void *list, bool is_inner);

static int read_sharding(codec_reader *r, bool is_inner)
{
    void *configuration = r->configuration, *codecs, *index_codecs, *location;
    int64_t *inner;
    int n;

    if (is_inner || r->array->filters.nfilters > 0)
        return pnc_zarr_array_reject(r->c, r->array, "its shards are in shards, or transposed");
    PNC_TRY(pnc_zarr_memory_alloc(r->c, r->array->ndims, sizeof *inner, &inner));
    PNC_TRY(pnc_zarr_integers_get(r->c, pnc_zarr_member_get(r->c, configuration, "chunk_shape"), "chunk_shape", 1,
                                  INT64_MAX, r->array->ndims, &n, inner));
    for (int i = 0; i < r->array->ndims; i++)
        if (n != r->array->ndims || r->array->chunks[i] % inner[i] != 0)
            return pnc_zarr_damage_set(r->c, "\"chunk_shape\" of the shards does not divide them");
    r->array->inner = r->lengths = inner;
    location = pnc_zarr_member_get(r->c, configuration, "index_location");
    r->array->index.is_at_start = pnc_zarr_text_is(r->c, location, "start");
    if (location != NULL && !r->array->index.is_at_start && !pnc_zarr_text_is(r->c, location, "end"))
        return pnc_zarr_damage_set(r->c, "\"index_location\" is neither \"start\" nor \"end\"");
    PNC_TRY(pnc_zarr_member_find(r->c, configuration, "codecs", PNC_JSON_ARRAY, false, &codecs));
    PNC_TRY(pnc_zarr_member_find(r->c, configuration, "index_codecs", PNC_JSON_ARRAY, false, &index_codecs));
    PNC_TRY(read_index_codecs(r, index_codecs));
    return read_list(r, codecs, true);
}

/* Transpositions, one codec from an array to bytes, and codecs of bytes. */
static int read_list(codec_reader *r, void *list, bool is_inner)
{
    size_t n = r->c->json->array_get_length(list);
    bool has_bytes = false, has_shards = false;
    const char *name;

    for (size_t i = 0; i < n && r->array->refusal == NULL; i++) {
        PNC_TRY(begin_codec(r, r->c->json->array_get(list, i), &name));
        if (strcmp(name, "transpose") == 0 && !has_bytes) {
            PNC_TRY(read_transpose(r));
        } else if (strcmp(name, "bytes") == 0 && !has_bytes) {
            PNC_TRY(read_order(r, &r->array->is_big_endian));
            has_bytes = true;
        } else if (strcmp(name, "sharding_indexed") == 0 && !has_bytes) {
            PNC_TRY(read_sharding(r, is_inner));
            has_bytes = has_shards = true;
        } else if (has_shards) {
            return pnc_zarr_array_reject(r->c, r->array, "whole shards of it have the codec \"%s\"", name);
        } else if (has_bytes || strncmp(name, NUMCODECS, strlen(NUMCODECS)) == 0) {
            PNC_TRY(has_bytes ? read_bytes_codec(r, name, false)
                              : pnc_zarr_array_reject(r->c, r->array,
                                                      "its codec \"%s\" is one that this library does "
                                                      "not have",
                                                      name));
        } else {
            return pnc_zarr_array_reject(r->c, r->array, "its codec \"%s\" is one that this library does not have",
                                         name);
        }
    }
    if (!has_bytes && r->array->refusal == NULL)
        return pnc_zarr_damage_set(r->c, "\"codecs\" has none that makes bytes of an array");
    return NC_NOERR;
}

static int begin_chain(const pnc_zarr_context *c, pnc_zarr_array *array, codec_reader *r)
{
    *r = (codec_reader){.c = c, .array = array, .lengths = array->chunks};
    PNC_TRY(pnc_zarr_memory_alloc(c, PNC_FILTER_MOST, sizeof *r->filters, &r->filters));
    array->filters = (pnc_filter_chain){0, r->filters};
    return NC_NOERR;
}

int pnc_zarr_codecs_read(const pnc_zarr_context *c, void *list, pnc_zarr_array *array)
{
    codec_reader r;

    PNC_TRY(begin_chain(c, array, &r));
    return read_list(&r, list, false);
}

/* --- version 2 --- */

static int read_codec_v2(codec_reader *r, void *value)
{
    void *name;

    PNC_TRY(pnc_zarr_member_find(r->c, value, "id", PNC_JSON_STRING, false, &name));
    r->configuration = value;
    return read_bytes_codec(r, r->c->json->get_string(name), true);
}

int pnc_zarr_codecs_read_v2(const pnc_zarr_context *c, void *document, pnc_zarr_array *array)
{
    void *order = pnc_zarr_member_get(c, document, "order"), *filters, *compressor;
    int64_t axes[PNC_ZARR_DIMS_MOST];
    codec_reader r;

    PNC_TRY(begin_chain(c, array, &r));
    if (order != NULL && !pnc_zarr_text_is(c, order, "C") && !pnc_zarr_text_is(c, order, "F"))
        return pnc_zarr_damage_set(c, "\"order\" is neither \"C\" nor \"F\"");
    for (int i = 0; i < array->ndims; i++)
        axes[i] = array->ndims - 1 - i;
    if (pnc_zarr_text_is(c, order, "F"))
        PNC_TRY(append_transposition(&r, axes));
    PNC_TRY(pnc_zarr_member_find(c, document, "filters", PNC_JSON_ARRAY, true, &filters));
    for (size_t i = 0; filters != NULL && i < c->json->array_get_length(filters) && array->refusal == NULL; i++)
        PNC_TRY(read_codec_v2(&r, c->json->array_get(filters, i)));
    PNC_TRY(pnc_zarr_member_find(c, document, "compressor", PNC_JSON_OBJECT, true, &compressor));
    return compressor != NULL && array->refusal == NULL ? read_codec_v2(&r, compressor) : NC_NOERR;
}

/* --- writing, version 3 --- */

/* {"name": .., "configuration": {..}}; the configuration, or NULL without memory */
static void *add_codec(const pnc_zarr_context *c, void *list, const char *name)
{
    void *codec = c->json->new_object();

    if (pnc_zarr_item_add(c, list, codec) != NC_NOERR || pnc_zarr_text_add(c, codec, "name", name) != NC_NOERR)
        return NULL;
    return pnc_zarr_object_add(c, codec, "configuration");
}

static int add_blosc(const pnc_zarr_context *c, void *configuration, const uint32_t *p)
{
    PNC_TRY(pnc_zarr_text_add(c, configuration, "cname",
                              pnc_filter_blosc_codec_get_name((pnc_blosc_codec)p[PNC_BLOSC_CODEC])));
    PNC_TRY(pnc_zarr_integer_add(c, configuration, "clevel", p[PNC_BLOSC_LEVEL]));
    PNC_TRY(pnc_zarr_text_add(c, configuration, "shuffle", shuffles[p[PNC_BLOSC_SHUFFLE]]));
    PNC_TRY(pnc_zarr_integer_add(c, configuration, "typesize", p[PNC_BLOSC_TYPE_SIZE]));
    return pnc_zarr_integer_add(c, configuration, "blocksize", p[PNC_BLOSC_BLOCK]);
}

static int add_zstd(const pnc_zarr_context *c, void *configuration, int level)
{
    PNC_TRY(pnc_zarr_integer_add(c, configuration, "level", level));
    return pnc_zarr_member_add(c, configuration, "checksum", c->json->new_boolean(0), false);
}

static int add_filter_codec(const pnc_zarr_context *c, void *list, const pnc_filter *filter)
{
    const char *name = pnc_filter_name_get(filter->id);
    void *configuration;

    if (filter->id != PNC_FILTER_GZIP && filter->id != PNC_FILTER_ZSTD && filter->id != PNC_FILTER_ZARR_BLOSC &&
        filter->id != PNC_FILTER_CRC32C)
        return pnc_error_set(c->error, NC_EFILTER, "%s: the filter %s is not one that readers of Zarr have", c->key,
                             name);
    configuration = add_codec(c, list, name);
    if (configuration == NULL)
        return NC_ENOMEM;
    switch (filter->id) {
    case PNC_FILTER_GZIP: return pnc_zarr_integer_add(c, configuration, "level", filter->parameters[0]);
    case PNC_FILTER_ZSTD: return add_zstd(c, configuration, (int)filter->parameters[0]);
    case PNC_FILTER_ZARR_BLOSC: return add_blosc(c, configuration, filter->parameters);
    default: return NC_NOERR;
    }
}

static int add_bytes(const pnc_zarr_context *c, void *list, bool is_big_endian)
{
    void *configuration = add_codec(c, list, "bytes");

    return configuration != NULL ? pnc_zarr_text_add(c, configuration, "endian", is_big_endian ? "big" : "little")
                                 : NC_ENOMEM;
}

/* The axes that the filter has. */
static int add_transpose(const pnc_zarr_context *c, void *list, const pnc_filter *filter)
{
    void *configuration = add_codec(c, list, "transpose");
    int64_t order[PNC_ZARR_DIMS_MOST];
    int n = (int)filter->parameters[1];

    if (configuration == NULL)
        return NC_ENOMEM;
    for (int i = 0; i < n; i++)
        order[i] = filter->parameters[2 + n + i];
    return pnc_zarr_integers_add(c, configuration, "order", n, order);
}

static int add_chain(const pnc_zarr_context *c, void *list, const pnc_zarr_array *array)
{
    int i = 0;

    for (; i < array->filters.nfilters && array->filters.filters[i].id == PNC_FILTER_TRANSPOSE; i++)
        PNC_TRY(add_transpose(c, list, &array->filters.filters[i]));
    PNC_TRY(add_bytes(c, list, array->is_big_endian));
    for (; i < array->filters.nfilters; i++)
        PNC_TRY(add_filter_codec(c, list, &array->filters.filters[i]));
    return NC_NOERR;
}

int pnc_zarr_codecs_add(const pnc_zarr_context *c, void *document, const pnc_zarr_array *array)
{
    void *list = pnc_zarr_list_add(c, document, "codecs"), *shards, *inner, *index;

    if (list == NULL)
        return NC_ENOMEM;
    if (array->inner == NULL)
        return add_chain(c, list, array);
    shards = add_codec(c, list, "sharding_indexed");
    if (shards == NULL)
        return NC_ENOMEM;
    PNC_TRY(pnc_zarr_integers_add(c, shards, "chunk_shape", array->ndims, array->inner));
    inner = pnc_zarr_list_add(c, shards, "codecs");
    index = pnc_zarr_list_add(c, shards, "index_codecs");
    if (inner == NULL || index == NULL)
        return NC_ENOMEM;
    PNC_TRY(add_chain(c, inner, array));
    PNC_TRY(add_bytes(c, index, array->index.is_big_endian));
    if (array->index.has_sum && add_codec(c, index, "crc32c") == NULL)
        return NC_ENOMEM;
    return pnc_zarr_text_add(c, shards, "index_location", array->index.is_at_start ? "start" : "end");
}
