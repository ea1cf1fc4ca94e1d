/* Groups of netCDF-4: their paths, and names with paths. */
#include "format/groups.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "format/entries.h"

int pnc_format_group_find(const pnc_model *model, const char *path, size_t n)
{
    const pnc_groups *groups = &model->groups;

    for (int i = 0; i < groups->n; i++)
        if (strncmp(groups->paths[i], path, n) == 0 && groups->paths[i][n] == '\0')
            return i;
    return -1;
}

size_t pnc_format_group_get_length(const pnc_model *model, const char *name)
{
    const char *slash = model->groups.n > 0 ? strrchr(name, '/') : NULL;
    size_t n = slash != NULL ? (size_t)(slash - name) : 0;

    return n > 0 && pnc_format_group_find(model, name, n) >= 0 ? n : 0;
}

bool pnc_format_group_has_dim(const pnc_model *model, const char *name, const char *dim)
{
    size_t n = pnc_format_group_get_length(model, dim);

    return n == 0 || (strncmp(name, dim, n) == 0 && name[n] == '/');
}

int pnc_format_group_append(pnc_model *model, const char *path, int64_t n)
{
    pnc_groups *groups = &model->groups;
    char *copy = pnc_region_text_copy(&model->region, path, n);

    if (copy == NULL)
        return NC_ENOMEM;
    PNC_TRY(pnc_format_list_grow(&model->region, (void ***)&groups->paths, groups->n, &groups->capacity));
    groups->paths[groups->n++] = copy;
    return NC_NOERR;
}

int pnc_format_groups_copy(pnc_model *out, const pnc_model *from)
{
    out->groups = from->groups;
    out->groups.paths = NULL;
    out->groups.n = out->groups.capacity = 0;
    for (int i = 0; i < from->groups.n; i++)
        PNC_TRY(pnc_format_group_append(out, from->groups.paths[i], (int64_t)strlen(from->groups.paths[i])));
    return NC_NOERR;
}

int pnc_format_group_check(const pnc_model *model, const char *name, pnc_error *error)
{
    if (pnc_format_group_find(model, name, strlen(name)) < 0)
        return NC_NOERR;
    return pnc_error_set(error, NC_ENAMEINUSE, "\"%s\" is the name of a group: choose another name", name);
}

int pnc_format_groups_check(const pnc_model *model, pnc_error *error)
{
    if (!model->groups.exist || model->groups.are_listed)
        return NC_NOERR;
    return pnc_error_set(
        error, NC_ENOTSUPPORT,
        "this file has groups: to add or rename dimensions, variables and groups, or to put attributes of "
        "groups, open it with the hint nc_groups=all, or with nc_groups=root, which hides them");
}

static int require_groups(const pnc_model *model, pnc_error *error)
{
    const pnc_rules *rules = pnc_format_model_get_rules(model);

    if (rules->is_enhanced)
        return NC_NOERR;
    return pnc_error_set(error, model->format == NC_FORMAT_NETCDF4_CLASSIC ? NC_ESTRICTNC3 : NC_ENOTNC4,
                         "groups exist in netCDF-4 files without the classic model only, and this file is %s",
                         rules->name);
}

int pnc_format_group_add(pnc_model *model, const char *path, pnc_error *error)
{
    char *nfc = NULL;
    int code;

    PNC_TRY(require_groups(model, error));
    PNC_TRY(pnc_format_groups_check(model, error));
    PNC_TRY(pnc_format_path_normalise(model, path, &nfc, error));
    code = pnc_format_group_check(model, nfc, error);
    if (code == NC_NOERR &&
        (pnc_table_find(&model->var_names, nfc) >= 0 || pnc_table_find(&model->dim_names, nfc) >= 0))
        code = pnc_error_set(error, NC_ENAMEINUSE,
                             "\"%s\" is the name of a variable or a dimension: a group must have another name", nfc);
    if (code == NC_NOERR) {
        code = pnc_format_group_append(model, nfc, (int64_t)strlen(nfc));
        if (code != NC_NOERR)
            pnc_error_set(error, code, "no memory for another group");
    }
    if (code == NC_NOERR)
        model->groups.exist = model->groups.are_listed = true;
    pnc_memory_free(nfc);
    return code;
}

/* --- renaming --- */

/* A name with a path, or the path of a group. */
typedef struct grouped_name {
    char **name, *to;
    pnc_table *names; /* NULL: it has none */
    int index;
} grouped_name;

/* The path of its group is replaced. False without memory. */
static bool add_grouped(pnc_model *model, char *const *paths, char **name, pnc_table *names, int index,
                        grouped_name *all, int *n)
{
    size_t own = pnc_format_group_get_length(model, *name), bytes, rest;
    const char *path;
    char *to;

    if (own == 0)
        return true;
    path = paths[pnc_format_group_find(model, *name, own)];
    bytes = strlen(path);
    rest = strlen(*name + own) + 1;
    to = pnc_region_alloc(&model->region, (int64_t)(bytes + rest));
    if (to == NULL)
        return false;
    memcpy(to, path, bytes);
    memcpy(to + bytes, *name + own, rest);
    all[(*n)++] = (grouped_name){name, to, names, index};
    return true;
}

static bool list_grouped(pnc_model *model, char *const *paths, grouped_name *all, int *n)
{
    bool good = true;

    for (int i = 0; good && i < model->ndims; i++)
        good = add_grouped(model, paths, &model->dims[i]->name, &model->dim_names, i, all, n);
    for (int i = 0; good && i < model->nvars; i++)
        good = add_grouped(model, paths, &model->vars[i]->name, &model->var_names, i, all, n);
    for (int i = 0; good && i < model->gatts.n; i++)
        good = add_grouped(model, paths, &model->gatts.at[i]->name, &model->gatts.names, i, all, n);
    for (int i = 0; good && i < model->groups.n; i++) {
        char *copy = pnc_region_text_copy(&model->region, paths[i], (int64_t)strlen(paths[i]));

        good = copy != NULL;
        all[(*n)++] = (grouped_name){&model->groups.paths[i], copy, NULL, i};
    }
    return good;
}

/* All old names leave the tables before new ones come, of which some may be old ones of others. The tables do not
 * grow. */
static void replace_grouped(const grouped_name *all, int n)
{
    for (int i = 0; i < n; i++)
        if (all[i].names != NULL && pnc_table_find(all[i].names, *all[i].name) == all[i].index)
            pnc_table_remove(all[i].names, *all[i].name);
    for (int i = 0; i < n; i++) {
        *all[i].name = all[i].to;
        if (all[i].names != NULL && all[i].names->slots != NULL)
            (void)pnc_table_add(all[i].names, all[i].to, all[i].index);
    }
}

int pnc_format_groups_replace(pnc_model *model, char *const *paths)
{
    int64_t most = (int64_t)model->ndims + model->nvars + model->gatts.n + model->groups.n;
    grouped_name *all = pnc_memory_alloc(most, sizeof *all);
    int n = 0;
    bool good = all != NULL && list_grouped(model, paths, all, &n);

    if (good)
        replace_grouped(all, n);
    pnc_memory_free(all);
    return good ? NC_NOERR : NC_ENOMEM;
}

static bool is_within_group(const char *name, const char *path)
{
    size_t n = strlen(path);

    return strncmp(name, path, n) == 0 && (name[n] == '\0' || name[n] == '/');
}

static void raise_longest(const char *name, const char *path, size_t *most)
{
    size_t n = strlen(name);

    if (n > *most && is_within_group(name, path))
        *most = n;
}

/* Names get longer with the path. */
static int check_grouped_lengths(const pnc_model *model, const char *old, size_t n, pnc_error *error)
{
    size_t most = 0, more = n > strlen(old) ? n - strlen(old) : 0;

    for (int i = 0; i < model->ndims; i++)
        raise_longest(model->dims[i]->name, old, &most);
    for (int i = 0; i < model->nvars; i++)
        raise_longest(model->vars[i]->name, old, &most);
    for (int i = 0; i < model->gatts.n; i++)
        raise_longest(model->gatts.at[i]->name, old, &most);
    for (int i = 0; i < model->groups.n; i++)
        raise_longest(model->groups.paths[i], old, &most);
    if (most + more <= NC_MAX_NAME)
        return NC_NOERR;
    return pnc_error_set(error, NC_EMAXNAME,
                         "group \"%s\" cannot be renamed: a name in it would have %zu bytes with its path, and at most "
                         "%d are allowed",
                         old, most + more, NC_MAX_NAME);
}

static int check_group_name(const pnc_model *model, const char *old, const char *nfc, pnc_error *error)
{
    if (pnc_format_group_find(model, nfc, strlen(nfc)) >= 0 || pnc_table_find(&model->var_names, nfc) >= 0 ||
        pnc_table_find(&model->dim_names, nfc) >= 0)
        return pnc_error_set(error, NC_ENAMEINUSE, "group \"%s\" cannot be renamed to \"%s\": that name is in use", old,
                             nfc);
    return check_grouped_lengths(model, old, strlen(nfc), error);
}

/* The paths of all groups. */
static int replace_one_path(pnc_model *model, int index, const char *to)
{
    char **paths = pnc_memory_alloc_zeroed(model->groups.n, sizeof *paths);
    const char *old = model->groups.paths[index];
    int err = paths == NULL ? NC_ENOMEM : NC_NOERR;

    for (int i = 0; err == NC_NOERR && i < model->groups.n; i++) {
        const char *path = model->groups.paths[i];
        bool is_in = is_within_group(path, old);
        size_t skipped = is_in ? strlen(old) : 0, bytes = (is_in ? strlen(to) : 0) + strlen(path + skipped) + 1;

        paths[i] = pnc_region_alloc(&model->region, (int64_t)bytes);
        if (paths[i] == NULL)
            err = NC_ENOMEM;
        else
            snprintf(paths[i], bytes, "%s%s", is_in ? to : "", path + skipped);
    }
    if (err == NC_NOERR)
        err = pnc_format_groups_replace(model, paths);
    pnc_memory_free(paths);
    return err;
}

int pnc_format_group_rename(pnc_model *model, int index, const char *name, pnc_error *error)
{
    char *nfc = NULL;
    int code;

    PNC_TRY(require_groups(model, error));
    PNC_TRY(pnc_format_groups_check(model, error));
    if (!pnc_format_model_get_rules(model)->renames_groups)
        return pnc_error_set(error, NC_ENOTSUPPORT, "groups of %s keep their names",
                             pnc_format_model_get_rules(model)->name);
    if (index < 0 || index >= model->groups.n)
        return pnc_error_set(error, NC_ENOGRP, "grpid is %d, but there are %d groups", pnc_error_get_id(error, index),
                             model->groups.n);
    PNC_TRY(pnc_format_path_replace(model, model->groups.paths[index], name, &nfc, error));
    code = check_group_name(model, model->groups.paths[index], nfc, error);
    if (code == NC_NOERR) {
        code = replace_one_path(model, index, nfc);
        if (code != NC_NOERR)
            pnc_error_set(error, code, "no memory to rename group \"%s\"", model->groups.paths[index]);
    }
    pnc_memory_free(nfc);
    return code;
}

/* --- names --- */

static int join_names(const char *group, size_t n, const char *name, char **out, pnc_error *error)
{
    size_t bytes = n + 1 + strlen(name);

    if (bytes > NC_MAX_NAME)
        return pnc_error_set(error, NC_EMAXNAME,
                             "name \"%.40s...\" has %zu bytes with its path: at most %d are allowed", name, bytes,
                             NC_MAX_NAME);
    *out = pnc_memory_alloc((int64_t)bytes + 1, 1);
    if (*out == NULL)
        return pnc_error_set(error, NC_ENOMEM, "no memory for the name \"%.60s\"", name);
    snprintf(*out, bytes + 1, "%.*s/%s", (int)n, group, name);
    return NC_NOERR;
}

/* The group whose path has n bytes. */
static int find_parent(const pnc_model *model, const char *path, size_t n, const char **out, pnc_error *error)
{
    char text[NC_MAX_NAME + 1], *owned = NULL;
    int index = -1;

    if (n > 0 && n <= NC_MAX_NAME) {
        const char *key;

        memcpy(text, path, n);
        text[n] = '\0';
        key = pnc_name_make_key(text, &owned);
        index = pnc_format_group_find(model, key, strlen(key));
        pnc_memory_free(owned);
    }
    if (index < 0)
        return pnc_error_set(error, NC_ENOGRP, "no group \"%.*s\" for \"%.60s\": define it by ncmpi_def_grp first",
                             n < 60 ? (int)n : 60, path, path + n + 1);
    *out = model->groups.paths[index];
    return NC_NOERR;
}

int pnc_format_path_normalise(const pnc_model *model, const char *name, char **out, pnc_error *error)
{
    const char *from = name, *slash = name != NULL ? strrchr(name, '/') : NULL, *group;
    char *own = NULL;
    int err;

    if (slash == NULL)
        return pnc_name_normalise(name, out, error);
    if (!pnc_format_model_get_rules(model)->is_enhanced)
        return pnc_error_set(error, NC_EBADNAME,
                             "name \"%.60s\" has the illegal character '/': groups exist in netCDF-4 files without the "
                             "classic model only",
                             name);
    from += from[0] == '/';
    if (slash < from)
        return pnc_name_normalise(from, out, error);
    PNC_TRY(find_parent(model, from, (size_t)(slash - from), &group, error));
    err = pnc_name_normalise(slash + 1, &own, error);
    if (err == NC_NOERR)
        err = join_names(group, strlen(group), own, out, error);
    pnc_memory_free(own);
    return err;
}

int pnc_format_path_replace(const pnc_model *model, const char *old, const char *name, char **out, pnc_error *error)
{
    size_t n = pnc_format_group_get_length(model, old);
    char *own = NULL;
    int err;

    if (n == 0)
        return pnc_name_normalise(name, out, error);
    PNC_TRY(pnc_name_normalise(name, &own, error));
    err = join_names(old, n, own, out, error);
    pnc_memory_free(own);
    return err;
}
