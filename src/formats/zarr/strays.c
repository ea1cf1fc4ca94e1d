/* Objects of a store that belong to nothing. */
#include "formats/zarr/strays.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "formats/zarr/changes.h"
#include "formats/zarr/index.h"

#define NOTHING "belongs to nothing: "

enum { KEY_FOLDERS_MOST = PNC_ZARR_DIMS_MOST + 1 }; /* of a chunk with the separator '/' */

typedef struct stray_search {
    const pnc_objects *objects;
    const pnc_zarr_store *store;
    pnc_table nodes; /* paths of groups and arrays */
    void *own;
    int (*each)(void *own, const char *key, bool is_folder, const char *why, pnc_error *error);
} stray_search;

/* A folder that is listed. */
typedef struct listed_folder {
    stray_search *search;
    const char *key;             /* of the folder */
    const pnc_zarr_array *array; /* that it is a part of, or NULL */
    int depth;                   /* below that of the array, or the group */
    bool has_others;             /* objects or folders that belong to something, or are not known */
} listed_folder;

static int search_folder(stray_search *s, const char *key, const pnc_zarr_array *array, int depth, bool *has_others,
                         pnc_error *error);

static bool is_temporary(const char *name)
{
    const char *mark = NULL, *next = strstr(name, PNC_ZARR_MARK);
    size_t n;

    for (; next != NULL; next = strstr(next + 1, PNC_ZARR_MARK))
        mark = next;
    n = mark == NULL ? 0 : strspn(mark + 2, "0123456789abcdef");

    return n > 0 && (mark[2 + n] == '\0' || mark[2 + n] == '-' || mark[2 + n] == '.');
}

/* The shape that an array would have if it could not be longer. */
static bool is_beyond_shape(const pnc_zarr_array *array, const char *end)
{
    int64_t shape[PNC_ZARR_DIMS_MOST + 1], at[PNC_ZARR_DIMS_MOST + 1];
    pnc_zarr_array endless = *array;

    if (pnc_zarr_key_parse(array, end, at))
        return false;
    for (int i = 0; i < array->ndims; i++)
        shape[i] = INT64_MAX / 2;
    endless.shape = shape;
    return pnc_zarr_key_parse(&endless, end, at);
}

/* *why: NULL: an object of an array is none. */
static int judge_chunk(const stray_search *s, const pnc_zarr_array *array, const char *key, const char **why,
                       pnc_error *error)
{
    const char *end = key + strlen(array->path) + (array->path[0] != '\0');
    int64_t at[PNC_ZARR_DIMS_MOST + 1], size;

    *why = NULL;
    if (array->refusal != NULL)
        return NC_NOERR;
    /* the array's own document may have a longer shape than consolidated metadata */
    if (!s->store->is_consolidated && is_beyond_shape(array, end))
        *why = NOTHING "a chunk outside of the shape of its array";
    if (array->inner == NULL || *why != NULL || !pnc_zarr_key_parse(array, end, at))
        return NC_NOERR;
    PNC_TRY(s->objects->ops->find(s->objects, key, &size, error));
    if (size >= 0 && size < pnc_zarr_index_get_bytes(array))
        *why = NOTHING "a shard that is shorter than its index";
    return NC_NOERR;
}

static int search_below(listed_folder *f, const char *key, pnc_error *error)
{
    bool has_others = false, is_key = f->array != NULL && f->array->separator == '/';

    if (pnc_table_find(&f->search->nodes, key) >= 0 || (is_key ? f->depth == KEY_FOLDERS_MOST : f->depth > 0)) {
        f->has_others = true;
        return NC_NOERR;
    }
    PNC_TRY(search_folder(f->search, key, f->array, f->depth + 1, &has_others, error));
    f->has_others = f->has_others || has_others;
    return has_others
               ? NC_NOERR
               : f->search->each(f->search->own, key, true, NOTHING "a folder without objects of the dataset", error);
}

static int judge_name(void *own, const char *name, bool is_folder, pnc_error *error)
{
    listed_folder *f = own;
    char key[PNC_OBJECTS_KEY_MOST];
    const char *why = NULL;
    int n = snprintf(key, sizeof key, "%s%s%s", f->key, f->key[0] == '\0' ? "" : "/", name);

    if (n < 0 || n >= (int)sizeof key) {
        f->has_others = true;
        return NC_NOERR;
    }
    if (is_folder)
        return search_below(f, key, error);
    if (strcmp(key, PNC_ZARR_LOG) == 0) {
        f->has_others = true;
        return NC_NOERR;
    }
    if (is_temporary(name))
        why = NOTHING "a temporary name of a program that has ended";
    else if (f->array != NULL)
        PNC_TRY(judge_chunk(f->search, f->array, key, &why, error));
    if (why != NULL)
        return f->search->each(f->search->own, key, false, why, error);
    f->has_others = true;
    return NC_NOERR;
}

static int search_folder(stray_search *s, const char *key, const pnc_zarr_array *array, int depth, bool *has_others,
                         pnc_error *error)
{
    listed_folder f = {.search = s, .key = key, .array = array, .depth = depth};

    PNC_TRY(s->objects->ops->list(s->objects, key, &f, judge_name, error));
    *has_others = f.has_others;
    return NC_NOERR;
}

static int add_nodes(stray_search *s)
{
    for (int i = 0; i < s->store->ngroups; i++)
        PNC_TRY(pnc_table_add(&s->nodes, s->store->groups[i].path, i));
    for (int i = 0; i < s->store->narrays; i++)
        PNC_TRY(pnc_table_add(&s->nodes, s->store->arrays[i].path, i));
    return NC_NOERR;
}

static int search_nodes(stray_search *s, pnc_error *error)
{
    bool has_others;

    if (add_nodes(s) != NC_NOERR)
        return pnc_error_set(error, NC_ENOMEM, "%s: no memory to look for objects", s->objects->path);
    for (int i = 0; i < s->store->ngroups; i++)
        PNC_TRY(search_folder(s, s->store->groups[i].path, NULL, 0, &has_others, error));
    for (int i = 0; i < s->store->narrays; i++)
        PNC_TRY(search_folder(s, s->store->arrays[i].path, &s->store->arrays[i], 0, &has_others, error));
    return NC_NOERR;
}

int pnc_zarr_strays_find(const pnc_objects *objects, const pnc_zarr_store *store, void *own,
                         int (*each)(void *own, const char *key, bool is_folder, const char *why, pnc_error *error),
                         pnc_error *error)
{
    stray_search s = {.objects = objects, .store = store, .own = own, .each = each};
    int err = search_nodes(&s, error);

    pnc_table_clear(&s.nodes);
    return err;
}
