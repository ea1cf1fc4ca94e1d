/* Documents of a store. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "format/model.h"
#include "formats/zarr/about.h"
#include "formats/zarr/array.h"
#include "formats/zarr/dims.h"
#include "formats/zarr/nczarr.h"
#include "formats/zarr/nodes.h"
#include "formats/zarr/visible.h"

/* What is written, and what the store had. */
typedef struct store_writer {
    pnc_zarr_context c;
    const pnc_zarr_store *store;
    int version; /* of Zarr, and whether the root has other documents: as before */
    bool is_consolidated;
    pnc_zarr_nodes old;
    pnc_zarr_about old_about;
    const char *old_consolidated; /* the text of .zmetadata, or NULL */
    bool *is_known;               /* of old nodes: they are in the store */
    void *types, *odd;            /* for _ncmpi: types of attributes, and those that documents do not have */
    void *metadata;               /* of all nodes but the root */
    pnc_zarr_document *documents;
    int64_t n;
} store_writer;

/* --- attributes --- */

/* Whether an old attribute has the same value, and that, which the caller frees: NULL for null. */
static bool find_same(const store_writer *w, const pnc_zarr_node *old, const pnc_att *att, int type,
                      pnc_zarr_att_type *word, void **out)
{
    void *value = NULL;
    pnc_att found;

    if (old == NULL || old->attributes == NULL || pnc_zarr_att_is_odd(att, type) ||
        w->c.json->object_find(old->attributes, att->name, &value) == 0)
        return false;
    *word = pnc_zarr_nczarr_type_find(&w->c, &w->old_about, old, att->name);
    if (pnc_zarr_att_read(&w->c, att->name, value, type, word, &found) != NC_NOERR ||
        !pnc_zarr_att_is_same(att, &found))
        return false;
    *out = w->c.json->get(value);
    return true;
}

/* What an object of _ncmpi has of a node. */
static void *get_about_part(const store_writer *w, void *all, const char *path)
{
    void *part = pnc_zarr_member_get(&w->c, all, path);

    return part != NULL ? part : pnc_zarr_object_add(&w->c, all, path);
}

static int add_type(const store_writer *w, const char *path, const char *name, const pnc_zarr_att_type *type)
{
    const char *word = pnc_zarr_att_type_get_word(type);
    void *of_node = word != NULL ? get_about_part(w, w->types, path) : NULL;

    if (word == NULL)
        return NC_NOERR;
    return of_node != NULL ? pnc_zarr_text_add(&w->c, of_node, name, word) : NC_ENOMEM;
}

static int add_att(const store_writer *w, void *attributes, const char *path, const pnc_zarr_node *old,
                   const pnc_att *att, int var_type)
{
    pnc_zarr_att_type type;
    void *value;
    bool is_same = find_same(w, old, att, var_type, &type, &value);

    if (!is_same)
        PNC_TRY(pnc_zarr_att_make(&w->c, att, var_type, &value, &type));
    if (pnc_zarr_att_is_odd(att, var_type))
        attributes = get_about_part(w, w->odd, path);
    PNC_TRY(pnc_zarr_member_add(&w->c, attributes, att->name, value, is_same));
    return add_type(w, path, att->name, &type);
}

/* What models do not show. */
static int keep_hidden(const store_writer *w, void *attributes, const pnc_zarr_node *old)
{
    if (old == NULL || old->attributes == NULL)
        return NC_NOERR;
    PNC_ZARR_EACH_MEMBER(&w->c, old->attributes, at)
    {
        const char *name = w->c.json->peek_name(&at);
        void *value = w->c.json->peek_value(&at);

        if (pnc_zarr_att_is_hidden(w->old.version, old->path, old->is_array, name) &&
            strcmp(name, PNC_ZARR_ATTRIBUTE) != 0)
            PNC_TRY(pnc_zarr_member_add(&w->c, attributes, name, w->c.json->get(value), true));
    }
    return NC_NOERR;
}

/* Of version 2, where the document has it. */
static bool is_fill_value(const pnc_zarr_array *array, const pnc_zarr_node *old, const pnc_att *att,
                          const store_writer *w)
{
    return array != NULL && array->version == 2 && array->has_fill && strcmp(att->name, NC_FillValue) == 0 &&
           att->type == array->type && att->len == 1 &&
           memcmp(att->value, array->fill, pnc_type_get_size(att->type)) == 0 &&
           pnc_zarr_member_get(&w->c, old != NULL ? old->attributes : NULL, att->name) == NULL;
}

/* array: NULL for a group. The caller frees *out, also after an error. */
static int make_attributes(const store_writer *w, const char *path, const pnc_zarr_node *old, int natts,
                           const pnc_att *atts, const pnc_zarr_array *array, void **out)
{
    void *attributes = w->c.json->new_object();

    *out = attributes;
    if (attributes == NULL)
        return pnc_zarr_memory_fail(&w->c);
    for (int i = 0; i < natts; i++)
        if (!is_fill_value(array, old, &atts[i], w))
            PNC_TRY(add_att(w, attributes, path, old, &atts[i], array != NULL ? array->type : 0));
    return keep_hidden(w, attributes, old);
}

/* --- nodes --- */

static pnc_zarr_node *find_old(const store_writer *w, const char *path)
{
    int i = path != NULL && w->old.n > 0 ? pnc_table_find(&w->old.paths, path) : -1;

    if (i < 0)
        return NULL;
    w->is_known[i] = true;
    return &w->old.at[i];
}

static int make_key(const store_writer *w, const char *path, const char *name, const char **out)
{
    char key[2 * NC_MAX_NAME];

    snprintf(key, sizeof key, "%s%s%s", path, path[0] != '\0' ? "/" : "", name);
    return pnc_zarr_text_copy(&w->c, key, (int64_t)strlen(key), out);
}

/* The text of a value that will change; NULL: there is none. */
static int keep_text(const store_writer *w, void *value, const char **out)
{
    int64_t n;

    *out = NULL;
    return value != NULL ? pnc_zarr_json_print(&w->c, value, out, &n) : NC_NOERR;
}

/* A document, and unless it has the metadata of all a part of that. before: its text until now. The nodes of a
 * consolidated document have changed by then, so that one differs if another document does: it is the last one. */
static int put_document(store_writer *w, const char *path, const char *name, void *value, const char *before)
{
    pnc_zarr_document *document = &w->documents[w->n];
    bool is_v2 = w->version == 2;

    PNC_TRY(make_key(w, path, name, &document->key));
    PNC_TRY(pnc_zarr_json_print(&w->c, value, &document->bytes, &document->n));
    document->is_unchanged = before != NULL && strcmp(before, document->bytes) == 0;
    w->n++;
    if (is_v2 ? strcmp(name, ".zmetadata") == 0 : path[0] == '\0') {
        for (int64_t i = 0; i < w->n; i++)
            document->is_unchanged = document->is_unchanged && w->documents[i].is_unchanged;
        return NC_NOERR;
    }
    return pnc_zarr_member_add(&w->c, w->metadata, is_v2 ? document->key : path, w->c.json->get(value), false);
}

/* The old document with a new member, or a new one. The caller frees it. */
static void *begin_document(const store_writer *w, const pnc_zarr_node *old)
{
    return old != NULL && old->document != NULL ? w->c.json->get(old->document) : w->c.json->new_object();
}

static int rename_dims_v2(const store_writer *w, const pnc_zarr_array *array, const pnc_zarr_node *old,
                          void *attributes)
{
    if (pnc_zarr_nczarr_array_get(&w->c, old) != NULL)
        return pnc_error_set(w->c.error, NC_ENOTSUPPORT,
                             "variable \"%s\": this library does not rename the dimensions of NCZarr", array->path);
    return pnc_zarr_names_add(&w->c, attributes, PNC_ZARR_NAMES_V2, array);
}

static int put_array_v2(store_writer *w, const pnc_zarr_array *array, const pnc_zarr_node *old, void *document,
                        void *attributes)
{
    const char *before;

    PNC_TRY(keep_text(w, document, &before));
    if (array->ndims > 0) /* NCZarr has a dimension for scalars */
        PNC_TRY(pnc_zarr_integers_add(&w->c, document, "shape", array->ndims, array->shape));
    PNC_TRY(put_document(w, array->path, ".zarray", document, before));
    PNC_TRY(keep_text(w, old->attributes, &before));
    if (array->is_renamed)
        PNC_TRY(rename_dims_v2(w, array, old, attributes));
    return put_document(w, array->path, ".zattrs", attributes, before);
}

static int put_array_v3(store_writer *w, const pnc_zarr_array *array, const pnc_zarr_node *old, void *document,
                        void *attributes)
{
    const char *before = NULL;

    if (old != NULL)
        PNC_TRY(keep_text(w, document, &before));
    if (old == NULL)
        PNC_TRY(pnc_zarr_array_write(&w->c, document, array));
    else
        PNC_TRY(pnc_zarr_integers_add(&w->c, document, "shape", array->ndims, array->shape));
    if (array->is_renamed)
        PNC_TRY(pnc_zarr_names_add(&w->c, document, PNC_ZARR_NAMES, array));
    PNC_TRY(pnc_zarr_member_add(&w->c, document, "attributes", w->c.json->get(attributes), false));
    return put_document(w, array->path, "zarr.json", document, before);
}

static int put_array(store_writer *w, const pnc_zarr_array *array)
{
    const pnc_zarr_node *old = find_old(w, array->old_path);
    void *document, *attributes;
    int err;

    if (old == NULL && w->old.n > 0 && pnc_table_find(&w->old.paths, array->path) >= 0)
        return pnc_error_set(w->c.error, NC_ENAMEINUSE,
                             "\"%s\" is the name of a group that the hint nc_groups=root hides: choose another name",
                             array->path);
    if (old == NULL && w->version == 2)
        return pnc_error_set(
            w->c.error, NC_ENOTSUPPORT,
            "variable \"%s\": this store has version 2 of Zarr, in which this library changes values and "
            "attributes of variables, but adds none",
            array->path);
    document = begin_document(w, old);
    err = make_attributes(w, array->path, old, array->natts, array->atts, array, &attributes);
    if (err == NC_NOERR && document == NULL)
        err = pnc_zarr_memory_fail(&w->c);
    if (err == NC_NOERR)
        err = array->version == 2 ? put_array_v2(w, array, old, document, attributes)
                                  : put_array_v3(w, array, old, document, attributes);
    w->c.json->put(attributes);
    w->c.json->put(document);
    return err;
}

/* --- groups --- */

static int begin_group(const store_writer *w, void *document, bool is_new)
{
    if (is_new)
        PNC_TRY(pnc_zarr_integer_add(&w->c, document, "zarr_format", w->version));
    return is_new && w->version == 3 ? pnc_zarr_text_add(&w->c, document, "node_type", "group") : NC_NOERR;
}

/* What _ncmpi has of the attributes of a node, which stay as they are. */
static int keep_about(const store_writer *w, const char *path)
{
    void *types = pnc_zarr_member_get(&w->c, w->old_about.types, path);
    void *odd = pnc_zarr_about_get_attributes(&w->c, &w->old_about, path);

    if (types != NULL)
        PNC_TRY(pnc_zarr_member_add(&w->c, w->types, path, w->c.json->get(types), false));
    return odd != NULL ? pnc_zarr_member_add(&w->c, w->odd, path, w->c.json->get(odd), false) : NC_NOERR;
}

static int make_group_attributes(store_writer *w, const pnc_zarr_group *group, const pnc_zarr_node *old, void **out)
{
    if (group->natts >= 0 || old == NULL || old->attributes == NULL)
        return make_attributes(w, group->path, old, group->natts, group->atts, NULL, out);
    *out = w->c.json->get(old->attributes);
    return keep_about(w, group->path);
}

/* Whether the store has groups that a hint has hidden. */
static bool hides_groups(const store_writer *w)
{
    bool hides = false;

    for (int i = 1; i < w->old.n && !hides; i++)
        hides = !w->is_known[i] && w->old.at[i].document != NULL;
    return hides;
}

static int finish_root(store_writer *w, void *document, void *attributes)
{
    static const pnc_zarr_about nothing = {.ndims = 0};
    const bool hides = hides_groups(w), lists = !hides && (w->store->ngroups <= 1 || w->store->groups[1].natts >= 0);
    const pnc_zarr_previous previous = {.about = lists ? &nothing : &w->old_about, .hides_groups = hides};
    void *about = pnc_zarr_about_make(&w->c, w->store, &previous, w->types, w->odd), *consolidated;

    if (about == NULL)
        return pnc_zarr_memory_fail(&w->c);
    PNC_TRY(pnc_zarr_member_add(&w->c, attributes, PNC_ZARR_ATTRIBUTE, about, false));
    PNC_TRY(pnc_zarr_axes_add(&w->c, w->store, hides ? &w->old_about : NULL, about));
    if (w->version == 2)
        return NC_NOERR;
    consolidated = pnc_zarr_object_add(&w->c, document, "consolidated_metadata");
    if (consolidated == NULL)
        return NC_ENOMEM;
    PNC_TRY(pnc_zarr_text_add(&w->c, consolidated, "kind", "inline"));
    PNC_TRY(pnc_zarr_member_add(&w->c, consolidated, "must_understand", w->c.json->new_boolean(0), false));
    return pnc_zarr_member_add(&w->c, consolidated, "metadata", w->c.json->get(w->metadata), false);
}

/* before: texts of the document and the attributes until now */
static int put_group_documents(store_writer *w, const pnc_zarr_group *group, void *document, void *attributes,
                               const char *const *before)
{
    if (w->version == 2) {
        PNC_TRY(put_document(w, group->path, ".zattrs", attributes, before[1]));
        return put_document(w, group->path, ".zgroup", document, before[0]);
    }
    PNC_TRY(pnc_zarr_member_add(&w->c, document, "attributes", w->c.json->get(attributes), false));
    return put_document(w, group->path, "zarr.json", document, before[0]);
}

static int check_new_group(const store_writer *w, const pnc_zarr_group *group)
{
    if (w->version == 3)
        return NC_NOERR;
    return pnc_error_set(w->c.error, NC_ENOTSUPPORT,
                         "group \"%s\": this store has version 2 of Zarr, to which this library adds no groups",
                         group->path);
}

static int put_group(store_writer *w, const pnc_zarr_group *group)
{
    const pnc_zarr_node *old = find_old(w, group->path);
    void *document = begin_document(w, old), *attributes = NULL;
    const char *before[2] = {NULL, NULL};
    bool is_root = group->path[0] == '\0';
    int err = old != NULL ? keep_text(w, old->document, &before[0]) : check_new_group(w, group);

    if (err == NC_NOERR && old != NULL)
        err = keep_text(w, old->attributes, &before[1]);
    if (err == NC_NOERR && w->version == 2)
        err = pnc_zarr_nczarr_dims_update(&w->c, old, w->store);
    if (err == NC_NOERR)
        err = make_group_attributes(w, group, old, &attributes);
    if (err == NC_NOERR && document == NULL)
        err = pnc_zarr_memory_fail(&w->c);
    if (err == NC_NOERR)
        err = begin_group(w, document, old == NULL || old->document == NULL);
    if (err == NC_NOERR && is_root)
        err = finish_root(w, document, attributes);
    if (err == NC_NOERR)
        err = put_group_documents(w, group, document, attributes, before);
    w->c.json->put(attributes);
    w->c.json->put(document);
    return err;
}

/* --- nodes that the store does not show, as a hint has hidden groups: they stay in the metadata --- */

static int keep_node(store_writer *w, const pnc_zarr_node *node)
{
    const char *key;

    PNC_TRY(keep_about(w, node->path));
    if (w->version == 3)
        return pnc_zarr_member_add(&w->c, w->metadata, node->path, w->c.json->get(node->document), false);
    PNC_TRY(make_key(w, node->path, node->is_array ? ".zarray" : ".zgroup", &key));
    PNC_TRY(pnc_zarr_member_add(&w->c, w->metadata, key, w->c.json->get(node->document), false));
    PNC_TRY(make_key(w, node->path, ".zattrs", &key));
    return node->attributes != NULL
               ? pnc_zarr_member_add(&w->c, w->metadata, key, w->c.json->get(node->attributes), false)
               : NC_NOERR;
}

static int keep_others(store_writer *w)
{
    for (int i = 1; i < w->old.n; i++)
        if (!w->is_known[i] && w->old.at[i].document != NULL)
            PNC_TRY(keep_node(w, &w->old.at[i]));
    return NC_NOERR;
}

/* .zmetadata of version 2. */
static int put_consolidated_v2(store_writer *w)
{
    void *document = w->c.json->new_object();
    int err = pnc_zarr_member_add(&w->c, document, "metadata", w->c.json->get(w->metadata), false);

    if (err == NC_NOERR)
        err = pnc_zarr_integer_add(&w->c, document, "zarr_consolidated_format", 1);
    if (err == NC_NOERR)
        err = put_document(w, "", ".zmetadata", document, w->old_consolidated);
    w->c.json->put(document);
    return err;
}

static int put_documents(store_writer *w)
{
    const pnc_zarr_store *store = w->store;

    PNC_TRY(pnc_zarr_memory_alloc(&w->c, 2 * ((int64_t)store->narrays + store->ngroups) + 1, sizeof *w->documents,
                                  &w->documents));
    w->types = w->c.json->new_object();
    w->odd = w->c.json->new_object();
    w->metadata = w->c.json->new_object();
    if (w->types == NULL || w->odd == NULL || w->metadata == NULL)
        return pnc_zarr_memory_fail(&w->c);
    for (int i = 0; i < store->narrays; i++)
        PNC_TRY(put_array(w, &store->arrays[i]));
    for (int i = 1; i < store->ngroups; i++)
        PNC_TRY(put_group(w, &store->groups[i]));
    PNC_TRY(keep_others(w));
    PNC_TRY(put_group(w, &store->groups[0]));
    return w->version == 2 && w->is_consolidated ? put_consolidated_v2(w) : NC_NOERR;
}

static int read_old(store_writer *w, const pnc_zarr_document *old, int64_t nold)
{
    void *about;

    w->version = w->store->version;
    w->is_consolidated = w->store->is_consolidated;
    if (nold == 0)
        return NC_NOERR;
    PNC_TRY(pnc_zarr_nodes_read(&w->c, old, nold, &w->old));
    w->version = w->old.version;
    w->is_consolidated = w->old.is_consolidated;
    PNC_TRY(pnc_zarr_memory_alloc(&w->c, w->old.n, sizeof *w->is_known, &w->is_known));
    if (w->old.version == 2 && w->old.is_consolidated)
        PNC_TRY(keep_text(w, w->old.values[0], &w->old_consolidated));
    about = pnc_zarr_member_get(&w->c, w->old.at[0].attributes, PNC_ZARR_ATTRIBUTE);
    return pnc_zarr_about_read(&w->c, about, &w->old_about);
}

int pnc_zarr_store_encode(const pnc_json_functions *json, const pnc_zarr_store *store, const pnc_zarr_document *old,
                          int64_t nold, pnc_region *region, const pnc_zarr_document **out, int64_t *n, pnc_error *error)
{
    store_writer w = {.c = {.json = json, .region = region, .error = error, .key = "zarr.json"}, .store = store};
    int err;

    PNC_TRY(pnc_zarr_json_check(json, error));
    err = read_old(&w, old, nold);
    w.c.key = "zarr.json";
    if (err == NC_NOERR)
        err = put_documents(&w);
    json->put(w.types);
    json->put(w.odd);
    json->put(w.metadata);
    pnc_zarr_nodes_free(&w.c, &w.old);
    if (err != NC_NOERR)
        return err;
    *out = w.documents;
    *n = w.n;
    return NC_NOERR;
}
