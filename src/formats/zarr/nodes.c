/* From documents to nodes. */
#include "formats/zarr/nodes.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/path.h"
#include "formats/zarr/index.h"

/* --- nodes --- */

static int append_node(pnc_zarr_context *c, pnc_zarr_nodes *nodes, const char *path, int *index)
{
    int64_t capacity = nodes->capacity;

    if (!pnc_memory_grow(&nodes->at, &capacity, nodes->n + 1, sizeof *nodes->at))
        return pnc_zarr_memory_fail(c);
    nodes->capacity = (int)capacity;
    if (pnc_table_add(&nodes->paths, path, nodes->n) != NC_NOERR)
        return pnc_zarr_memory_fail(c);
    nodes->at[nodes->n] = (pnc_zarr_node){.path = path, .key = c->key};
    *index = nodes->n++;
    return NC_NOERR;
}

/* A path of a document: "" or "tas" or "forecast/tas". Groups above it exist afterwards. */
static int check_path(const pnc_zarr_context *c, const char *path, int64_t n)
{
    if (n > NC_MAX_NAME || memchr(path, '\0', (size_t)n) != NULL || !pnc_zarr_key_is_safe(path) ||
        !pnc_name_is_text(path, (size_t)n))
        return pnc_zarr_damage_set(c,
                                   "the path of a node is not valid: it has %lld bytes, of at most %d, an empty part, "
                                   ". or .., or is not UTF-8",
                                   (long long)n, NC_MAX_NAME);
    return NC_NOERR;
}

static int find_node(pnc_zarr_context *c, pnc_zarr_nodes *nodes, const char *path, int64_t n, int *index)
{
    const char *copy, *slash;
    int parent = 0;

    PNC_TRY(pnc_zarr_text_copy(c, path, n, &copy));
    *index = pnc_table_find(&nodes->paths, copy);
    if (*index >= 0)
        return NC_NOERR;
    if (n > 0)
        PNC_TRY(check_path(c, copy, n));
    for (slash = strchr(copy, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        const char *above;

        PNC_TRY(pnc_zarr_text_copy(c, copy, slash - copy, &above));
        parent = pnc_table_find(&nodes->paths, above);
        if (parent < 0)
            PNC_TRY(append_node(c, nodes, above, &parent));
    }
    return append_node(c, nodes, copy, index);
}

static int set_document(const pnc_zarr_context *c, pnc_zarr_node *node, bool is_array, void *document)
{
    if (node->document != NULL)
        return pnc_zarr_damage_set(c, "node \"%s\" has two documents", node->path);
    node->document = document;
    node->is_array = is_array;
    node->key = c->key;
    return NC_NOERR;
}

/* --- version 3 --- */

/* A zarr.json, alone or in another one. */
static int add_node(pnc_zarr_context *c, pnc_zarr_nodes *nodes, const char *path, int64_t n, void *document)
{
    void *type, *attributes;
    bool is_array;
    int index;

    if (!pnc_zarr_value_is(c, document, PNC_JSON_OBJECT))
        return pnc_zarr_damage_set(c, "it is not an object");
    if (!pnc_zarr_integer_get(c, pnc_zarr_member_get(c, document, "zarr_format"), 3, 3, &(int64_t){0}))
        return pnc_zarr_damage_set(c, "\"zarr_format\" is not 3");
    PNC_TRY(pnc_zarr_member_find(c, document, "node_type", PNC_JSON_STRING, false, &type));
    is_array = pnc_zarr_text_is(c, type, "array");
    if (!is_array && !pnc_zarr_text_is(c, type, "group"))
        return pnc_zarr_damage_set(c, "\"node_type\" is neither \"array\" nor \"group\"");
    PNC_TRY(pnc_zarr_member_find(c, document, "attributes", PNC_JSON_OBJECT, true, &attributes));
    PNC_TRY(find_node(c, nodes, path, n, &index));
    nodes->at[index].attributes = attributes;
    return set_document(c, &nodes->at[index], is_array, document);
}

/* The other nodes, if the root has them. */
static void *get_consolidated(const pnc_zarr_context *c, void *root)
{
    void *consolidated = pnc_zarr_member_get(c, root, "consolidated_metadata");

    if (!pnc_zarr_text_is(c, pnc_zarr_member_get(c, consolidated, "kind"), "inline"))
        return NULL;
    return pnc_zarr_member_get(c, consolidated, "metadata");
}

static int add_consolidated(pnc_zarr_context *c, pnc_zarr_nodes *nodes, void *metadata)
{
    const char *root = c->key, *key;
    char text[NC_MAX_NAME + 40];

    if (!pnc_zarr_value_is(c, metadata, PNC_JSON_OBJECT))
        return pnc_zarr_damage_set(c, "\"consolidated_metadata\" has no object \"metadata\"");
    nodes->is_consolidated = true;
    PNC_ZARR_EACH_MEMBER(c, metadata, at)
    {
        const char *path = c->json->peek_name(&at);

        c->key = root;
        PNC_TRY(check_path(c, path, (int64_t)strlen(path)));
        snprintf(text, sizeof text, "%s, node \"%s\"", root, path);
        PNC_TRY(pnc_zarr_text_copy(c, text, (int64_t)strlen(text), &key));
        c->key = key;
        PNC_TRY(add_node(c, nodes, path, (int64_t)strlen(path), c->json->peek_value(&at)));
    }
    c->key = root;
    return NC_NOERR;
}

/* --- version 2 --- */

static int add_part(pnc_zarr_context *c, pnc_zarr_nodes *nodes, const char *key, void *document)
{
    const char *name = pnc_path_get_name(key);
    int64_t n = name > key ? name - key - 1 : 0;
    bool is_array = strcmp(name, ".zarray") == 0, is_group = strcmp(name, ".zgroup") == 0;
    int index;

    if (!is_array && !is_group && strcmp(name, ".zattrs") != 0)
        return NC_NOERR;
    if (!pnc_zarr_value_is(c, document, PNC_JSON_OBJECT))
        return pnc_zarr_damage_set(c, "it is not an object");
    PNC_TRY(find_node(c, nodes, key, n, &index));
    if (is_array || is_group)
        return set_document(c, &nodes->at[index], is_array, document);
    nodes->at[index].attributes = document;
    return NC_NOERR;
}

static int add_consolidated_v2(pnc_zarr_context *c, pnc_zarr_nodes *nodes, void *root)
{
    const char *own = c->key, *copy;
    void *metadata;

    if (pnc_zarr_member_get(c, root, "record_size") != NULL)
        return pnc_error_set(c->error, NC_ENOTSUPPORT,
                             "these are references as Parquet, of which this library reads those as JSON: "
                             "docs/zarr.md has the lines of Python that convert them");
    PNC_TRY(pnc_zarr_member_find(c, root, "metadata", PNC_JSON_OBJECT, false, &metadata));
    nodes->is_consolidated = true;
    PNC_ZARR_EACH_MEMBER(c, metadata, at)
    {
        const char *key = c->json->peek_name(&at);

        PNC_TRY(pnc_zarr_text_copy(c, key, (int64_t)strlen(key), &copy));
        c->key = copy;
        PNC_TRY(add_part(c, nodes, copy, c->json->peek_value(&at)));
    }
    c->key = own;
    return NC_NOERR;
}

/* --- both --- */

static int parse_document(pnc_zarr_context *c, pnc_zarr_nodes *nodes, const pnc_zarr_document *document, void **value)
{
    c->key = document->key;
    PNC_TRY(pnc_zarr_json_parse(c, document->bytes, document->n, value));
    nodes->values[nodes->nvalues++] = *value;
    return NC_NOERR;
}

static const pnc_zarr_document *find_document(const pnc_zarr_document *documents, int64_t n, const char *key)
{
    for (int64_t i = 0; i < n; i++)
        if (strcmp(documents[i].key, key) == 0)
            return &documents[i];
    return NULL;
}

static int read_nodes(pnc_zarr_context *c, const pnc_zarr_document *documents, int64_t n, pnc_zarr_nodes *nodes)
{
    for (int64_t i = 0; i < n; i++) {
        const char *name = pnc_path_get_name(documents[i].key);
        bool is_document = strcmp(name, "zarr.json") == 0;
        void *value;

        if (nodes->version == 3 ? !is_document || strcmp(documents[i].key, "zarr.json") == 0
                                : is_document || strcmp(name, ".zmetadata") == 0)
            continue;
        PNC_TRY(parse_document(c, nodes, &documents[i], &value));
        PNC_TRY(nodes->version == 3 ? add_node(c, nodes, documents[i].key, name - documents[i].key - 1, value)
                                    : add_part(c, nodes, documents[i].key, value));
    }
    return NC_NOERR;
}

int pnc_zarr_nodes_find_parent(const pnc_zarr_nodes *nodes, const char *path)
{
    const char *slash = strrchr(path, '/');
    char above[NC_MAX_NAME + 1];

    snprintf(above, sizeof above, "%.*s", slash != NULL ? (int)(slash - path) : 0, path);
    return pnc_table_find(&nodes->paths, above);
}

/* An array has no nodes in it, and is not the root. */
static int check_nodes(pnc_zarr_context *c, const pnc_zarr_nodes *nodes)
{
    c->key = nodes->at[0].key;
    if (nodes->at[0].is_array)
        return pnc_zarr_damage_set(c, "the store is one array, not a group: open the folder that it is in");
    for (int i = 1; i < nodes->n; i++) {
        int parent = pnc_zarr_nodes_find_parent(nodes, nodes->at[i].path);

        c->key = nodes->at[i].key;
        if (parent >= 0 && nodes->at[parent].is_array)
            return pnc_zarr_damage_set(c, "it is in an array");
    }
    return NC_NOERR;
}

static int read_nodes_v3(pnc_zarr_context *c, const pnc_zarr_document *documents, int64_t n,
                         const pnc_zarr_document *root, pnc_zarr_nodes *out)
{
    void *value, *metadata;

    PNC_TRY(parse_document(c, out, root, &value));
    PNC_TRY(add_node(c, out, "", 0, value));
    metadata = get_consolidated(c, value);
    return metadata != NULL ? add_consolidated(c, out, metadata) : read_nodes(c, documents, n, out);
}

static int read_nodes_v2(pnc_zarr_context *c, const pnc_zarr_document *documents, int64_t n,
                         const pnc_zarr_document *consolidated, pnc_zarr_nodes *out)
{
    void *value;
    int root;

    PNC_TRY(find_node(c, out, "", 0, &root));
    if (consolidated == NULL)
        return read_nodes(c, documents, n, out);
    PNC_TRY(parse_document(c, out, consolidated, &value));
    return add_consolidated_v2(c, out, value);
}

int pnc_zarr_nodes_read(pnc_zarr_context *c, const pnc_zarr_document *documents, int64_t n, pnc_zarr_nodes *out)
{
    const pnc_zarr_document *root = find_document(documents, n, "zarr.json");
    const pnc_zarr_document *consolidated = find_document(documents, n, ".zmetadata");

    *out = (pnc_zarr_nodes){.version = root != NULL ? 3 : 2};
    c->key = "zarr.json";
    out->values = pnc_memory_alloc(n + 1, sizeof *out->values);
    if (out->values == NULL)
        return pnc_zarr_memory_fail(c);
    if (root == NULL && consolidated == NULL && find_document(documents, n, ".zgroup") == NULL &&
        find_document(documents, n, ".zarray") == NULL)
        return pnc_zarr_damage_set(c,
                                   "the folder has neither this document nor .zgroup of version 2: it is not a "
                                   "group of Zarr");
    PNC_TRY(root != NULL ? read_nodes_v3(c, documents, n, root, out)
                         : read_nodes_v2(c, documents, n, consolidated, out));
    return check_nodes(c, out);
}

void pnc_zarr_nodes_free(const pnc_zarr_context *c, pnc_zarr_nodes *nodes)
{
    for (int i = 0; i < nodes->nvalues; i++)
        c->json->put(nodes->values[i]);
    pnc_memory_free(nodes->values);
    pnc_memory_free(nodes->at);
    pnc_table_clear(&nodes->paths);
}

bool pnc_zarr_root_is_consolidated(const pnc_json_functions *json, const pnc_zarr_document *root)
{
    pnc_region region = {0};
    pnc_zarr_context c = {.json = json, .region = &region, .key = root->key};
    bool is_consolidated = strcmp(root->key, ".zmetadata") == 0;
    void *value = NULL;

    if (json == NULL || is_consolidated)
        return is_consolidated;
    if (pnc_zarr_json_parse(&c, root->bytes, root->n, &value) == NC_NOERR) {
        is_consolidated = get_consolidated(&c, value) != NULL;
        json->put(value);
    }
    pnc_region_free(&region);
    return is_consolidated;
}
