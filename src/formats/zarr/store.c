/* All that the documents of a store say. */
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/name.h"
#include "formats/zarr/about.h"
#include "formats/zarr/array.h"
#include "formats/zarr/dims.h"
#include "formats/zarr/nczarr.h"
#include "formats/zarr/nodes.h"
#include "formats/zarr/visible.h"

/* --- attributes --- */

bool pnc_zarr_att_is_hidden(int version, const char *path, bool is_array, const char *name)
{
    size_t group = is_array || path[0] == '\0' ? 0 : strlen(path) + 1; /* models have those of groups with paths */

    if (path[0] == '\0' && strcmp(name, PNC_ZARR_ATTRIBUTE) == 0)
        return true;
    if (version == 2 && (strcmp(name, PNC_ZARR_NAMES_V2) == 0 || strncasecmp(name, "_nczarr", 7) == 0 ||
                         strcmp(name, "_NCProperties") == 0))
        return true;
    return group + strlen(name) > NC_MAX_NAME || !pnc_name_is_text(name, strlen(name)) || strchr(name, '/') != NULL;
}

/* Attributes of a node, while they are read. */
typedef struct att_list {
    const pnc_zarr_nodes *nodes;
    const pnc_zarr_node *node;
    const pnc_zarr_about *about;
    const pnc_zarr_array *array; /* NULL: a group */
    int n;
    pnc_att *atts;
} att_list;

static bool is_listed_att(const att_list *list, const char *name)
{
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->atts[i].name, name) == 0)
            return true;
    return false;
}

/* object: of JSON, or NULL; is_odd: only those that the list does not have yet */
static int add_members(const pnc_zarr_context *c, att_list *list, void *object, bool is_odd)
{
    if (object == NULL)
        return NC_NOERR;
    PNC_ZARR_EACH_MEMBER(c, object, at)
    {
        const char *name = c->json->peek_name(&at);
        pnc_zarr_att_type type = pnc_zarr_nczarr_type_find(c, list->about, list->node, name);

        if (pnc_zarr_att_is_hidden(list->nodes->version, list->node->path, list->node->is_array, name) ||
            (is_odd && is_listed_att(list, name)))
            continue;
        PNC_TRY(pnc_zarr_att_read(c, name, c->json->peek_value(&at), list->array != NULL ? list->array->type : 0, &type,
                                  &list->atts[list->n]));
        list->n++;
    }
    return NC_NOERR;
}

/* xarray has fill values of version 2 as missing values. NCZarr has those as attributes. */
static int add_fill_value(const pnc_zarr_context *c, att_list *list)
{
    const pnc_zarr_array *array = list->array;
    pnc_att *att = &list->atts[list->n];

    if (array == NULL || array->version != 2 || !array->has_fill || array->content != PNC_ZARR_NUMBERS ||
        array->refusal != NULL || is_listed_att(list, NC_FillValue) || pnc_zarr_nczarr_array_get(c, list->node) != NULL)
        return NC_NOERR;
    *att = (pnc_att){.name = (char *)(uintptr_t)NC_FillValue, .type = array->type, .len = 1};
    PNC_TRY(pnc_zarr_memory_alloc(c, 1, sizeof array->fill, &att->value));
    memcpy(att->value, array->fill, sizeof array->fill);
    list->n++;
    return NC_NOERR;
}

static int count_atts(const pnc_zarr_context *c, void *object)
{
    return object != NULL ? c->json->object_get_length(object) : 0;
}

/* array: NULL for a group. */
static int read_node_atts(const pnc_zarr_context *c, const pnc_zarr_nodes *nodes, const pnc_zarr_node *node,
                          const pnc_zarr_about *about, const pnc_zarr_array *array, int *natts, const pnc_att **out)
{
    void *odd = pnc_zarr_about_get_attributes(c, about, node->path);
    att_list list = {.nodes = nodes, .node = node, .about = about, .array = array};

    PNC_TRY(pnc_zarr_memory_alloc(c, (int64_t)count_atts(c, node->attributes) + count_atts(c, odd) + 1,
                                  sizeof *list.atts, &list.atts));
    PNC_TRY(add_members(c, &list, node->attributes, false));
    PNC_TRY(add_members(c, &list, odd, true));
    PNC_TRY(add_fill_value(c, &list));
    *natts = list.n;
    *out = list.atts;
    return NC_NOERR;
}

/* --- groups and arrays --- */

static int read_array(pnc_zarr_context *c, const pnc_zarr_nodes *nodes, const pnc_zarr_node *node,
                      const pnc_zarr_about *about, pnc_zarr_array *out)
{
    *out = (pnc_zarr_array){.path = node->path, .version = nodes->version};
    c->key = node->key;
    PNC_TRY(
        pnc_zarr_array_read(c, node->document, nodes->version == 2 ? pnc_zarr_nczarr_array_get(c, node) : NULL, out));
    if (nodes->version == 2) {
        PNC_TRY(pnc_zarr_names_read(c, pnc_zarr_member_get(c, node->attributes, PNC_ZARR_NAMES_V2), out));
        PNC_TRY(pnc_zarr_nczarr_names_read(c, node, out));
    }
    return read_node_atts(c, nodes, node, about, out, &out->natts, &out->atts);
}

/* The group that a group is in, which precedes it, has been taken. */
static bool is_parent_taken(const pnc_zarr_nodes *nodes, const char *path, const bool *is_taken)
{
    int parent = pnc_zarr_nodes_find_parent(nodes, path);

    return parent >= 0 && is_taken[parent];
}

/* The root, those that _ncmpi lists, in its order, then others. */
static int order_groups(const pnc_zarr_context *c, const pnc_zarr_nodes *nodes, const pnc_zarr_about *about,
                        const pnc_zarr_node **out, int *n)
{
    bool *is_taken;

    PNC_TRY(pnc_zarr_memory_alloc(c, nodes->n, sizeof *is_taken, &is_taken));
    out[0] = &nodes->at[0];
    is_taken[0] = true;
    *n = 1;
    for (int i = 0; i < about->ngroups + nodes->n; i++) {
        int at = i < about->ngroups ? pnc_table_find(&nodes->paths, about->groups[i]) : i - about->ngroups;

        if (at < 0 || nodes->at[at].is_array || is_taken[at] || !is_parent_taken(nodes, nodes->at[at].path, is_taken))
            continue;
        is_taken[at] = true;
        out[(*n)++] = &nodes->at[at];
    }
    return NC_NOERR;
}

static int read_group_nodes(pnc_zarr_context *c, const pnc_zarr_nodes *nodes, const pnc_zarr_about *about,
                            pnc_zarr_store *out)
{
    const pnc_zarr_node **order;
    pnc_zarr_group *groups;

    PNC_TRY(pnc_zarr_memory_alloc(c, nodes->n, sizeof *groups, &groups));
    PNC_TRY(pnc_zarr_memory_alloc(c, nodes->n, sizeof *order, &order));
    PNC_TRY(order_groups(c, nodes, about, order, &out->ngroups));
    for (int i = 0; i < out->ngroups; i++) {
        groups[i].path = order[i]->path;
        c->key = order[i]->key;
        PNC_TRY(read_node_atts(c, nodes, order[i], about, NULL, &groups[i].natts, &groups[i].atts));
    }
    out->groups = groups;
    return NC_NOERR;
}

static bool is_in_root(const pnc_zarr_node *node)
{
    return strchr(node->path, '/') == NULL;
}

/* Those that _ncmpi lists, in its order, then others; those of the root group first, unless groups are listed. *n of
 * them. */
static int order_arrays(const pnc_zarr_context *c, const pnc_zarr_nodes *nodes, const pnc_zarr_about *about,
                        pnc_zarr_groups groups, const pnc_zarr_node **out, int *n)
{
    bool *is_taken;

    PNC_TRY(pnc_zarr_memory_alloc(c, nodes->n, sizeof *is_taken, &is_taken));
    *n = 0;
    for (int takes_groups = groups == PNC_ZARR_GROUPS_LISTED; takes_groups < 2; takes_groups++)
        for (int i = 0; i < about->nvars + nodes->n; i++) {
            int at = i < about->nvars ? pnc_table_find(&nodes->paths, about->vars[i]) : i - about->nvars;

            if (at < 0 || !nodes->at[at].is_array || is_taken[at] || (!takes_groups && !is_in_root(&nodes->at[at])))
                continue;
            is_taken[at] = true;
            out[(*n)++] = &nodes->at[at];
        }
    return NC_NOERR;
}

static int read_store(pnc_zarr_context *c, const pnc_zarr_nodes *nodes, pnc_zarr_groups groups, pnc_zarr_store *out)
{
    const pnc_zarr_node **order;
    pnc_zarr_about about;
    pnc_zarr_array *arrays;

    PNC_TRY(pnc_zarr_about_read(c, pnc_zarr_member_get(c, nodes->at[0].attributes, PNC_ZARR_ATTRIBUTE), &about));
    PNC_TRY(pnc_zarr_nczarr_groups_read(c, nodes, &about));
    out->is_classic = about.is_classic;
    PNC_TRY(read_group_nodes(c, nodes, &about, out));
    PNC_TRY(pnc_zarr_memory_alloc(c, nodes->n, sizeof *order, &order));
    PNC_TRY(order_arrays(c, nodes, &about, groups, order, &out->narrays));
    PNC_TRY(pnc_zarr_memory_alloc(c, out->narrays, sizeof *arrays, &arrays));
    for (int i = 0; i < out->narrays; i++)
        PNC_TRY(read_array(c, nodes, order[i], &about, &arrays[i]));
    out->arrays = arrays;
    return pnc_zarr_dims_derive(c, &about, groups, out, arrays);
}

int pnc_zarr_store_decode(const pnc_json_functions *json, const pnc_zarr_document *documents, int64_t n,
                          pnc_zarr_groups groups, pnc_region *region, pnc_zarr_store *out, pnc_error *error)
{
    pnc_zarr_context c = {.json = json, .region = region, .error = error, .key = ""};
    pnc_zarr_nodes nodes;
    pnc_zarr_store store = {.version = 0};
    int err;

    PNC_TRY(pnc_zarr_json_check(json, error));
    err = pnc_zarr_nodes_read(&c, documents, n, &nodes);
    if (err == NC_NOERR) {
        store.version = nodes.version;
        store.is_consolidated = nodes.is_consolidated;
        err = read_store(&c, &nodes, groups, &store);
    }
    pnc_zarr_nodes_free(&c, &nodes);
    if (err == NC_NOERR)
        *out = store;
    return err;
}
