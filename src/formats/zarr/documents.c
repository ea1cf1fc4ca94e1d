/* The documents of a store: on rank 0 from the folder and to it; their bytes in a broadcast; those of a model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "formats/zarr/zarr.h"

/* A guess: consolidated metadata of some 100,000 arrays. */
#define DOCUMENT_BYTES_MOST (INT64_C(256) << 20)

void pnc_zarr_documents_free(pnc_zarr_documents *documents)
{
    pnc_region_free(&documents->region);
    *documents = (pnc_zarr_documents){.n = 0};
}

static int fail_documents(const pnc_zarr *z)
{
    return pnc_error_set(z->format.file->error, NC_ENOMEM, "%s: no memory for its documents", z->format.file->path);
}

/* --- from the folder --- */

typedef struct document_list {
    const pnc_zarr *z;
    pnc_region *region;
    pnc_zarr_document *at; /* to be freed */
    int64_t n, capacity;
    const char *folder; /* whose names are listed */
    const char **nodes; /* of the folder; to be freed */
    int64_t nnodes, nodes_capacity;
} document_list;

static int add_document(document_list *list, const char *key)
{
    char *bytes = NULL, *kept;
    const char *name;
    int64_t n = 0;

    PNC_TRY(pnc_objects_load(list->z->objects, key, DOCUMENT_BYTES_MOST, &bytes, &n, list->z->format.file->error));
    kept = pnc_region_text_copy(list->region, bytes, n);
    name = pnc_region_text_copy(list->region, key, (int64_t)strlen(key));
    pnc_memory_free(bytes);
    if (kept == NULL || name == NULL || !pnc_memory_grow(&list->at, &list->capacity, list->n + 1, sizeof *list->at))
        return fail_documents(list->z);
    list->at[list->n++] = (pnc_zarr_document){.key = name, .bytes = kept, .n = n};
    return NC_NOERR;
}

static int note_node(void *own, const char *name, bool is_folder, pnc_error *error)
{
    document_list *list = own;
    char key[PNC_OBJECTS_KEY_MOST];
    char *kept;

    (void)error;
    if (!is_folder || strlen(list->folder) + strlen(name) + 16 > sizeof key)
        return NC_NOERR;
    snprintf(key, sizeof key, "%s%s%s", list->folder, list->folder[0] == '\0' ? "" : "/", name);
    kept = pnc_region_text_copy(list->region, key, (int64_t)strlen(key));
    if (kept == NULL || !pnc_memory_grow(&list->nodes, &list->nodes_capacity, list->nnodes + 1, sizeof *list->nodes))
        return fail_documents(list->z);
    list->nodes[list->nnodes++] = kept;
    return NC_NOERR;
}

/* Whether the store has the document of a node, which is added then. */
static int find_document_of(document_list *list, const char *node, const char *name, bool *exists)
{
    char key[PNC_OBJECTS_KEY_MOST];
    int64_t size;

    snprintf(key, sizeof key, "%.4000s%s%s", node, node[0] == '\0' ? "" : "/", name);
    PNC_TRY(list->z->objects->ops->find(list->z->objects, key, &size, list->z->format.file->error));
    *exists = size >= 0;
    return *exists ? add_document(list, key) : NC_NOERR;
}

/* Of a node that has a document; other folders, such as c of an array, have no nodes. */
static int add_node_v3(document_list *list, const char *node, bool *is_group)
{
    PNC_TRY(find_document_of(list, node, PNC_ZARR_ROOT, is_group));
    *is_group = *is_group && strstr(list->at[list->n - 1].bytes, "\"group\"") != NULL;
    return NC_NOERR;
}

static int add_node_v2(document_list *list, const char *node, bool *is_group)
{
    bool exists;

    *is_group = false;
    PNC_TRY(find_document_of(list, node, ".zarray", &exists));
    if (!exists)
        PNC_TRY(find_document_of(list, node, ".zgroup", is_group));
    return exists || *is_group ? find_document_of(list, node, ".zattrs", &exists) : NC_NOERR;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* By name: file systems have other orders. */
static int list_nodes_in(document_list *list, const char *folder)
{
    int64_t first = list->nnodes;

    list->folder = folder;
    PNC_TRY(list->z->objects->ops->list(list->z->objects, folder, list, note_node, list->z->format.file->error));
    if (list->nnodes > first)
        qsort(list->nodes + first, (size_t)(list->nnodes - first), sizeof *list->nodes, compare_texts);
    return NC_NOERR;
}

/* Nodes behind their groups. */
static int add_all_nodes(document_list *list, int version)
{
    PNC_TRY(list_nodes_in(list, ""));
    for (int64_t i = 0; i < list->nnodes; i++) {
        bool is_group;

        PNC_TRY(version == 3 ? add_node_v3(list, list->nodes[i], &is_group)
                             : add_node_v2(list, list->nodes[i], &is_group));
        if (is_group)
            PNC_TRY(list_nodes_in(list, list->nodes[i]));
    }
    return NC_NOERR;
}

static int load_version_3(document_list *list)
{
    PNC_TRY(add_document(list, PNC_ZARR_ROOT));
    return pnc_zarr_root_is_consolidated(pnc_host_json_get(), &list->at[0]) ? NC_NOERR : add_all_nodes(list, 3);
}

static int load_version_2(document_list *list)
{
    bool exists;

    PNC_TRY(find_document_of(list, "", ".zmetadata", &exists));
    if (exists)
        return NC_NOERR;
    PNC_TRY(add_node_v2(list, "", &exists));
    return add_all_nodes(list, 2);
}

static int load_all(document_list *list, pnc_zarr_documents *out)
{
    pnc_zarr_document *kept;

    PNC_TRY(strcmp(list->z->objects->root, PNC_ZARR_ROOT) == 0 ? load_version_3(list) : load_version_2(list));
    kept = pnc_region_alloc(list->region, list->n * (int64_t)sizeof *kept);
    if (kept == NULL)
        return fail_documents(list->z);
    memcpy(kept, list->at, (size_t)list->n * sizeof *kept);
    out->at = kept;
    out->n = list->n;
    return NC_NOERR;
}

int pnc_zarr_documents_load(pnc_zarr *z, pnc_zarr_documents *out)
{
    document_list list = {.z = z, .region = &out->region};
    int err = load_all(&list, out);

    pnc_memory_free(list.at);
    pnc_memory_free(list.nodes);
    if (err != NC_NOERR)
        pnc_zarr_documents_free(out);
    return err;
}

/* --- to the folder --- */

int pnc_zarr_documents_put(pnc_zarr *z, int64_t id, const pnc_zarr_documents *documents, pnc_zarr_changes *changes)
{
    pnc_error *error = z->format.file->error;

    for (int64_t i = 0; i < documents->n; i++) {
        const pnc_zarr_document *d = &documents->at[i];

        if (d->is_unchanged && !z->is_unfinished)
            continue;
        PNC_TRY(
            z->objects->ops->create(z->objects, pnc_zarr_temporary_make(d->key, id).text, d->bytes, d->n, true, error));
        PNC_TRY(pnc_zarr_changes_add(changes, PNC_ZARR_CHANGE_NAME, d->key, NULL, 0, error));
    }
    return NC_NOERR;
}

void pnc_zarr_documents_remove(const pnc_zarr *z, int64_t id, const pnc_zarr_documents *documents)
{
    for (int64_t i = 0; i < documents->n; i++)
        (void)z->objects->ops->remove(z->objects, pnc_zarr_temporary_make(documents->at[i].key, id).text, NULL);
}

void pnc_zarr_documents_adopt(pnc_zarr *z, pnc_zarr_documents *documents)
{
    pnc_zarr_seen_keep(z, documents);
    pnc_zarr_documents_free(&z->documents);
    z->seen = (pnc_objects_facts){.size = 0};
    z->documents = *documents;
    *documents = (pnc_zarr_documents){.n = 0};
}

/* The log may be one that an error has left. */
static int make_changes(pnc_zarr *z, int64_t id, const pnc_zarr_changes *changes)
{
    pnc_error *error = z->format.file->error;

    if (changes->count <= 1 && !z->has_log)
        return pnc_zarr_changes_apply(z->objects, id, changes, error);
    PNC_TRY(pnc_zarr_log_begin(z->objects, id, changes, error));
    z->has_log = true;
    PNC_TRY(pnc_zarr_changes_apply(z->objects, id, changes, error));
    PNC_TRY(pnc_zarr_log_end(z->objects, error));
    z->has_log = false;
    return NC_NOERR;
}

int pnc_zarr_documents_write(pnc_zarr *z, pnc_zarr_documents *documents)
{
    int64_t id = pnc_objects_id_create(); /* a log that an error has left has other temporary names */
    pnc_zarr_changes changes = {.n = 0};
    int err = pnc_zarr_seen_check(z);

    if (err == NC_NOERR)
        err = pnc_zarr_documents_put(z, id, documents, &changes);
    if (err == NC_NOERR && (changes.count > 1 || z->has_log))
        err = pnc_zarr_log_write(z->objects, id, 0, &changes, z->format.file->error);
    if (err == NC_NOERR) {
        err = make_changes(z, id, &changes);
        z->has_failed = err != NC_NOERR;
    }
    pnc_zarr_changes_free(&changes);
    if (err == NC_NOERR) {
        pnc_zarr_documents_adopt(z, documents);
        return NC_NOERR;
    }
    pnc_zarr_log_discard(z->objects, id);
    if (!z->has_log)
        pnc_zarr_documents_remove(z, id, documents);
    return err;
}

/* --- in a broadcast --- */

/* The id of temporary names; for each document its key, a 0, the number of its bytes as 8 bytes, and them. */
int pnc_zarr_documents_join(const pnc_zarr *z, const pnc_zarr_document *documents, int64_t n, pnc_format_bytes *out)
{
    int64_t total = (int64_t)sizeof z->id;
    char *to;

    for (int64_t i = 0; i < n; i++)
        total += (int64_t)strlen(documents[i].key) + 1 + (int64_t)sizeof(int64_t) + documents[i].n;
    pnc_memory_free(out->at);
    out->at = pnc_memory_alloc(total, 1);
    if (out->at == NULL)
        return fail_documents(z);
    out->n = total;
    out->is_estimated = false;
    memcpy(out->at, &z->id, sizeof z->id);
    to = out->at + sizeof z->id;
    for (int64_t i = 0; i < n; i++) {
        size_t length = strlen(documents[i].key) + 1;

        memcpy(to, documents[i].key, length);
        memcpy(to + length, &documents[i].n, sizeof documents[i].n);
        memcpy(to + length + sizeof documents[i].n, documents[i].bytes, (size_t)documents[i].n);
        to += length + sizeof documents[i].n + (size_t)documents[i].n;
    }
    return NC_NOERR;
}

/* Step over a document of the bytes. */
static pnc_zarr_document take_document(const char **from)
{
    pnc_zarr_document d = {.key = *from};

    *from += strlen(d.key) + 1;
    memcpy(&d.n, *from, sizeof d.n);
    d.bytes = *from + sizeof d.n;
    *from = d.bytes + d.n;
    return d;
}

int pnc_zarr_documents_divide(pnc_zarr *z, const pnc_format_bytes *bytes, pnc_zarr_documents *out)
{
    const char *begin = bytes->at + sizeof z->id, *end = bytes->at + bytes->n;
    pnc_zarr_document *at;
    int64_t n = 0;

    memcpy(&z->id, bytes->at, sizeof z->id);
    for (const char *from = begin; from < end; n++)
        (void)take_document(&from);
    at = pnc_region_alloc(&out->region, n * (int64_t)sizeof *at);
    if (at == NULL)
        return fail_documents(z);
    n = 0;
    for (const char *from = begin; from < end; n++)
        at[n] = take_document(&from);
    out->at = at;
    out->n = n;
    return NC_NOERR;
}

/* --- of a model --- */

/* Of a new variable. */
static int choose_layout(const pnc_zarr *z, const pnc_var *var, pnc_region *region, pnc_zarr_layout *out)
{
    const pnc_storage *storage = var->storage;

    *out = (pnc_zarr_layout){.chunks = storage->chunks};
    if (storage->shards != NULL)
        *out = (pnc_zarr_layout){
            .chunks = storage->shards, .inner = storage->chunks, .index = {.is_at_start = true, .has_sum = true}};
    return pnc_zarr_filters_derive(var, region, &out->filters, z->format.file->error);
}

static const pnc_zarr_array *find_existing(const pnc_zarr *z, int varid)
{
    const pnc_model *before = z->format.before != NULL ? z->format.before : z->format.model;

    if (z->format.is_new || varid >= before->nvars || varid >= z->facts.store.narrays)
        return NULL;
    return &z->facts.store.arrays[varid];
}

/* A variable is a folder of its name. */
int pnc_zarr_rename_check(pnc_format *f, int varid, const char *name)
{
    const pnc_zarr_array *existing = find_existing(pnc_zarr_state_get(f), varid);

    if (existing == NULL || strcmp(pnc_path_get_name(existing->path), name) == 0)
        return NC_NOERR;
    return pnc_error_set(
        f->file->error, NC_ENOTSUPPORT,
        "variable \"%s\" cannot become \"%s\": this library does not rename the arrays of a Zarr store", existing->path,
        name);
}

/* Whether the documents of an array need other names of dimensions: some have others now, or an unlimited one had none,
 * by which it is found when its length is another one. */
static bool needs_other_names(const pnc_zarr *z, const pnc_var *var, const pnc_zarr_array *existing)
{
    for (int i = 0; i < var->ndims; i++) {
        const pnc_dim *dim = z->format.model->dims[var->dimids[i]];

        if (strcmp(z->facts.store.dims[existing->dimids[i]].name, dim->name) != 0)
            return true;
        if (dim->unlimited && (existing->names == NULL || existing->names[i] == NULL))
            return true;
    }
    return false;
}

static int choose_all_layouts(const pnc_zarr *z, pnc_zarr_layout *layouts, pnc_region *region)
{
    const pnc_model *model = z->format.model;

    for (int i = 0; i < model->nvars; i++) {
        const pnc_zarr_array *existing = find_existing(z, i);

        if (existing != NULL)
            layouts[i] =
                (pnc_zarr_layout){.existing = existing, .is_renamed = needs_other_names(z, model->vars[i], existing)};
        else
            PNC_TRY(choose_layout(z, model->vars[i], region, &layouts[i]));
    }
    return NC_NOERR;
}

/* Variables of hidden groups have dimensions of the root by their names. */
static int check_hidden_groups(const pnc_zarr *z)
{
    const pnc_model *model = z->format.model;
    bool changes = model->groups.n > 0;

    if (z->facts.groups != PNC_ZARR_GROUPS_HIDDEN || z->facts.store.ngroups <= 1)
        return NC_NOERR;
    for (int i = 0; i < model->ndims && i < z->facts.store.ndims && !changes; i++)
        changes = strchr(z->facts.store.dims[i].name, '/') == NULL &&
                  strcmp(z->facts.store.dims[i].name, model->dims[i]->name) != 0;
    if (!changes)
        return NC_NOERR;
    return pnc_error_set(z->format.file->error, NC_ENOTSUPPORT,
                         "this store has groups, which the hint nc_groups=root hides: open it with nc_groups=all to "
                         "add groups or rename dimensions");
}

/* Groups that are new are the last ones. */
static int check_new_groups(const pnc_zarr *z)
{
    const pnc_groups *groups = &z->format.model->groups;
    int nold = z->format.is_new ? 0 : z->facts.store.ngroups - 1;

    for (int i = nold; i < groups->n; i++)
        PNC_TRY(pnc_zarr_name_check(groups->paths[i], z->format.file->error));
    return check_hidden_groups(z);
}

static int make_documents(pnc_zarr *z, pnc_zarr_layout *layouts, pnc_region *region, pnc_zarr_documents *out)
{
    pnc_error *error = z->format.file->error;
    pnc_zarr_store store;

    PNC_TRY(check_new_groups(z));
    PNC_TRY(choose_all_layouts(z, layouts, region));
    PNC_TRY(pnc_zarr_store_make(z->format.model, layouts, region, &store, error));
    return pnc_zarr_store_encode(pnc_host_json_get(), &store, z->documents.at, z->documents.n, &out->region, &out->at,
                                 &out->n, error);
}

int pnc_zarr_documents_make(pnc_zarr *z, pnc_zarr_documents *out)
{
    pnc_zarr_layout *layouts = pnc_memory_alloc(z->format.model->nvars, sizeof *layouts);
    pnc_region region = {.left = 0};
    int err = layouts == NULL ? fail_documents(z) : make_documents(z, layouts, &region, out);

    pnc_memory_free(layouts);
    pnc_region_free(&region);
    if (err != NC_NOERR)
        pnc_zarr_documents_free(out);
    if (err != NC_NOERR)
        pnc_error_add_context(z->format.file->error, "%s", z->format.file->path);
    return err;
}
