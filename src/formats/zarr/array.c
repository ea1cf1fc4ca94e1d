/* The document of an array. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/types.h"
#include "formats/zarr/array.h"
#include "formats/zarr/index.h"

#define LENGTH_MOST (INT64_C(1) << 60) /* of a dimension, as in netCDF-4 */

int pnc_zarr_array_reject(const pnc_zarr_context *c, pnc_zarr_array *array, const char *why, ...)
{
    char text[300];
    va_list arguments;

    if (array->refusal != NULL)
        return NC_NOERR;
    va_start(arguments, why);
    vsnprintf(text, sizeof text, why, arguments);
    va_end(arguments);
    return pnc_zarr_text_copy(c, text, (int64_t)strlen(text), &array->refusal);
}

/* --- shape and chunks --- */

static int read_shape(const pnc_zarr_context *c, void *document, pnc_zarr_array *array)
{
    int64_t *shape, values = 8; /* bytes of the largest type */

    PNC_TRY(pnc_zarr_memory_alloc(c, PNC_ZARR_DIMS_MOST, sizeof *shape, &shape));
    PNC_TRY(pnc_zarr_integers_get(c, pnc_zarr_member_get(c, document, "shape"), "shape", 0, LENGTH_MOST,
                                  PNC_ZARR_DIMS_MOST, &array->ndims, shape));
    for (int i = 0; i < array->ndims; i++)
        if (shape[i] > 0 && pnc_size_multiply(values, shape[i], &values) < 0)
            return pnc_zarr_damage_set(c, "\"shape\" has more values than 64 bits count");
    array->shape = shape;
    return NC_NOERR;
}

/* zarr-python gives a dimension of length 0 chunks of length 0 or 1. */
static int read_chunk_lengths(const pnc_zarr_context *c, void *list, const char *name, pnc_zarr_array *array)
{
    int64_t *chunks;
    int n;

    PNC_TRY(pnc_zarr_memory_alloc(c, PNC_ZARR_DIMS_MOST, sizeof *chunks, &chunks));
    PNC_TRY(pnc_zarr_integers_get(c, list, name, 0, LENGTH_MOST, PNC_ZARR_DIMS_MOST, &n, chunks));
    if (n != array->ndims)
        return pnc_zarr_damage_set(c, "\"%s\" has %d numbers, but \"shape\" %d", name, n, array->ndims);
    for (int i = 0; i < n; i++) {
        if (chunks[i] == 0 && array->shape[i] != 0)
            return pnc_zarr_damage_set(c, "number %d of \"%s\" is 0", i, name);
        chunks[i] = chunks[i] == 0 ? 1 : chunks[i];
    }
    array->chunks = chunks;
    return NC_NOERR;
}

/* What src/filter and the index of a shard can have. */
static int check_chunk_sizes(const pnc_zarr_context *c, pnc_zarr_array *array)
{
    const int64_t *chunk = array->inner != NULL ? array->inner : array->chunks;
    int64_t bytes = (int64_t)pnc_type_get_size(array->type), number = 1;

    for (int i = 0; i < array->ndims; i++) {
        if (pnc_size_multiply(bytes, chunk[i], &bytes) < 0 ||
            pnc_size_multiply(number, array->chunks[i] / chunk[i], &number) < 0)
            return pnc_zarr_array_reject(c, array, "its chunks have more bytes than 64 bits count");
    }
    if (bytes > PNC_FILTER_CHUNK_MOST)
        return pnc_zarr_array_reject(c, array, "its chunks have %lld bytes: this library reads up to %lld",
                                     (long long)bytes, (long long)PNC_FILTER_CHUNK_MOST);
    if (number > PNC_STORAGE_SHARD_CHUNKS_MOST)
        return pnc_zarr_array_reject(c, array, "its shards have %lld chunks: this library reads up to %lld",
                                     (long long)number, (long long)PNC_STORAGE_SHARD_CHUNKS_MOST);
    return NC_NOERR;
}

/* --- members of version 3 that are a name, or have one and a configuration --- */

static const char *get_extension(const pnc_zarr_context *c, void *value, void **configuration)
{
    *configuration = pnc_zarr_member_get(c, value, "configuration");
    return pnc_zarr_text_get(c, pnc_zarr_value_is(c, value, PNC_JSON_OBJECT) ? pnc_zarr_member_get(c, value, "name")
                                                                             : value);
}

static int read_grid(const pnc_zarr_context *c, void *document, pnc_zarr_array *array)
{
    void *configuration;
    const char *name = get_extension(c, pnc_zarr_member_get(c, document, "chunk_grid"), &configuration);

    if (name == NULL)
        return pnc_zarr_damage_set(c, "\"chunk_grid\" has no name");
    if (strcmp(name, "regular") != 0)
        return pnc_zarr_array_reject(c, array, "its chunk grid \"%s\" is one that this library does not have", name);
    return read_chunk_lengths(c, pnc_zarr_member_get(c, configuration, "chunk_shape"), "chunk_shape", array);
}

static int read_separator(const pnc_zarr_context *c, void *value, char otherwise, pnc_zarr_array *array)
{
    if (value != NULL && !pnc_zarr_text_is(c, value, "/") && !pnc_zarr_text_is(c, value, "."))
        return pnc_zarr_damage_set(c, "the separator of keys is neither \"/\" nor \".\"");
    array->separator = value == NULL ? otherwise : *pnc_zarr_text_get(c, value);
    return NC_NOERR;
}

static int read_keys(const pnc_zarr_context *c, void *document, pnc_zarr_array *array)
{
    void *configuration;
    const char *name = get_extension(c, pnc_zarr_member_get(c, document, "chunk_key_encoding"), &configuration);
    bool is_default = name != NULL && strcmp(name, "default") == 0;

    if (name == NULL)
        return pnc_zarr_damage_set(c, "\"chunk_key_encoding\" has no name");
    if (!is_default && strcmp(name, "v2") != 0)
        return pnc_zarr_array_reject(c, array, "its chunk keys \"%s\" are ones that this library does not have", name);
    array->has_prefix = is_default;
    return read_separator(c, pnc_zarr_member_get(c, configuration, "separator"), is_default ? '/' : '.', array);
}

/* A name that netCDF cannot have is none. */
static const char *get_name(const pnc_zarr_context *c, void *value)
{
    const char *name = pnc_zarr_text_get(c, value);
    size_t n = name != NULL ? strlen(name) : 0;

    return n > 0 && n <= NC_MAX_NAME && pnc_name_is_text(name, n) && pnc_zarr_key_is_safe(name) &&
                   strchr(name, '/') == NULL
               ? name
               : NULL;
}

int pnc_zarr_names_read(const pnc_zarr_context *c, void *list, pnc_zarr_array *array)
{
    const char **names;

    if (list == NULL)
        return NC_NOERR;
    if (!pnc_zarr_value_is(c, list, PNC_JSON_ARRAY) || c->json->array_get_length(list) != (size_t)array->ndims) {
        if (array->version == 2) /* any attribute may have this name */
            return NC_NOERR;
        return pnc_zarr_damage_set(c, "\"dimension_names\" is not a list of %d names", array->ndims);
    }
    PNC_TRY(pnc_zarr_memory_alloc(c, array->ndims, sizeof *names, &names));
    for (int i = 0; i < array->ndims; i++) {
        const char *name = get_name(c, c->json->array_get(list, (size_t)i));

        if (name != NULL)
            PNC_TRY(pnc_zarr_text_copy(c, name, (int64_t)strlen(name), &names[i]));
    }
    array->names = names;
    return NC_NOERR;
}

/* Extensions say whether a reader must know them. */
static int check_members(const pnc_zarr_context *c, void *document, pnc_zarr_array *array)
{
    static const char *const known[] = {
        "zarr_format", "node_type", "shape",      "data_type",       "chunk_grid",           "chunk_key_encoding",
        "fill_value",  "codecs",    "attributes", "dimension_names", "storage_transformers", "consolidated_metadata"};
    void *transformers = pnc_zarr_member_get(c, document, "storage_transformers");

    PNC_ZARR_EACH_MEMBER(c, document, at)
    {
        const char *name = c->json->peek_name(&at);
        void *must = pnc_zarr_member_get(c, c->json->peek_value(&at), "must_understand");
        bool is_known = must != NULL && pnc_zarr_value_is(c, must, PNC_JSON_BOOLEAN) && c->json->get_boolean(must) == 0;

        for (size_t i = 0; i < sizeof known / sizeof *known && !is_known; i++)
            is_known = strcmp(name, known[i]) == 0;
        if (!is_known)
            PNC_TRY(pnc_zarr_array_reject(c, array, "its document has \"%s\", which this library does not know", name));
    }
    if (transformers != NULL &&
        (!pnc_zarr_value_is(c, transformers, PNC_JSON_ARRAY) || c->json->array_get_length(transformers) > 0))
        return pnc_zarr_array_reject(c, array, "it has storage transformers, which this library does not know");
    return NC_NOERR;
}

/* value: their list, in version 2 the document. What they refuse is for want of a codec. */
static int read_codecs(const pnc_zarr_context *c, void *value, pnc_zarr_array *array)
{
    PNC_TRY(array->version == 2 ? pnc_zarr_codecs_read_v2(c, value, array) : pnc_zarr_codecs_read(c, value, array));
    array->refusal_code = array->refusal != NULL ? NC_EFILTER : 0;
    return NC_NOERR;
}

static int read_array_document(const pnc_zarr_context *c, void *document, pnc_zarr_array *array)
{
    void *codecs;

    PNC_TRY(pnc_zarr_elements_read(c, pnc_zarr_member_get(c, document, "data_type"), array));
    PNC_TRY(pnc_zarr_names_read(c, pnc_zarr_member_get(c, document, PNC_ZARR_NAMES), array));
    PNC_TRY(check_members(c, document, array));
    PNC_TRY(read_grid(c, document, array));
    PNC_TRY(read_keys(c, document, array));
    PNC_TRY(pnc_zarr_member_find(c, document, "codecs", PNC_JSON_ARRAY, false, &codecs));
    if (array->refusal == NULL)
        PNC_TRY(read_codecs(c, codecs, array));
    return array->refusal == NULL ? pnc_zarr_fill_read(c, pnc_zarr_member_get(c, document, "fill_value"), array)
                                  : NC_NOERR;
}

/* NCZarr of netCDF-C has scalars of one value along one dimension, and (4.9.0) calls characters of one byte <U1. */
static void adapt_nczarr(const pnc_zarr_context *c, void *document, void *own, pnc_zarr_array *array)
{
    if (own == NULL)
        return;
    if (array->ndims == 1 && array->shape[0] == 1 && array->chunks[0] == 1 &&
        (pnc_zarr_text_is(c, pnc_zarr_member_get(c, own, "storage"), "scalar") ||
         pnc_zarr_integer_get(c, pnc_zarr_member_get(c, own, "scalar"), 1, 1, &(int64_t){0})))
        array->ndims = 0;
    if (!pnc_zarr_text_is(c, pnc_zarr_member_get(c, document, "dtype"), "<U1"))
        return;
    array->type = NC_CHAR;
    array->content = PNC_ZARR_CHARACTERS;
    array->refusal = NULL;
}

static int read_zarray(const pnc_zarr_context *c, void *document, void *own, pnc_zarr_array *array)
{
    PNC_TRY(pnc_zarr_elements_read(c, pnc_zarr_member_get(c, document, "dtype"), array));
    PNC_TRY(read_chunk_lengths(c, pnc_zarr_member_get(c, document, "chunks"), "chunks", array));
    PNC_TRY(read_separator(c, pnc_zarr_member_get(c, document, "dimension_separator"), '.', array));
    adapt_nczarr(c, document, own, array);
    if (array->refusal == NULL)
        PNC_TRY(read_codecs(c, document, array));
    return array->refusal == NULL ? pnc_zarr_fill_read(c, pnc_zarr_member_get(c, document, "fill_value"), array)
                                  : NC_NOERR;
}

int pnc_zarr_array_read(const pnc_zarr_context *c, void *document, void *own, pnc_zarr_array *array)
{
    int64_t version;

    if (!pnc_zarr_integer_get(c, pnc_zarr_member_get(c, document, "zarr_format"), array->version, array->version,
                              &version))
        return pnc_zarr_damage_set(c, "\"zarr_format\" is not %d", array->version);
    PNC_TRY(read_shape(c, document, array));
    PNC_TRY(array->version == 2 ? read_zarray(c, document, own, array) : read_array_document(c, document, array));
    return array->refusal == NULL ? check_chunk_sizes(c, array) : NC_NOERR;
}

/* --- writing --- */

static int add_grid(const pnc_zarr_context *c, void *document, const pnc_zarr_array *array)
{
    void *grid = pnc_zarr_object_add(c, document, "chunk_grid"), *configuration;

    if (grid == NULL)
        return NC_ENOMEM;
    PNC_TRY(pnc_zarr_text_add(c, grid, "name", "regular"));
    configuration = pnc_zarr_object_add(c, grid, "configuration");
    return configuration != NULL ? pnc_zarr_integers_add(c, configuration, "chunk_shape", array->ndims, array->chunks)
                                 : NC_ENOMEM;
}

static int add_keys(const pnc_zarr_context *c, void *document, const pnc_zarr_array *array)
{
    const char separator[2] = {array->separator, '\0'};
    void *keys = pnc_zarr_object_add(c, document, "chunk_key_encoding"), *configuration;

    if (keys == NULL)
        return NC_ENOMEM;
    PNC_TRY(pnc_zarr_text_add(c, keys, "name", array->has_prefix ? "default" : "v2"));
    configuration = pnc_zarr_object_add(c, keys, "configuration");
    return configuration != NULL ? pnc_zarr_text_add(c, configuration, "separator", separator) : NC_ENOMEM;
}

int pnc_zarr_names_add(const pnc_zarr_context *c, void *object, const char *member, const pnc_zarr_array *array)
{
    void *list = array->names != NULL ? pnc_zarr_list_add(c, object, member) : NULL;

    if (array->names == NULL)
        return NC_NOERR;
    for (int i = 0; i < array->ndims; i++)
        PNC_TRY(pnc_zarr_item_add(c, list, c->json->new_string(array->names[i], (int)strlen(array->names[i]))));
    return list != NULL ? NC_NOERR : NC_ENOMEM;
}

int pnc_zarr_array_write(const pnc_zarr_context *c, void *document, const pnc_zarr_array *array)
{
    PNC_TRY(pnc_zarr_integer_add(c, document, "zarr_format", 3));
    PNC_TRY(pnc_zarr_text_add(c, document, "node_type", "array"));
    PNC_TRY(pnc_zarr_integers_add(c, document, "shape", array->ndims, array->shape));
    PNC_TRY(pnc_zarr_member_add(c, document, "data_type", pnc_zarr_elements_make(c, array), false));
    PNC_TRY(add_grid(c, document, array));
    PNC_TRY(add_keys(c, document, array));
    PNC_TRY(pnc_zarr_member_add(c, document, "fill_value", pnc_zarr_fill_make(c, array), false));
    PNC_TRY(pnc_zarr_codecs_add(c, document, array));
    return pnc_zarr_names_add(c, document, PNC_ZARR_NAMES, array);
}
