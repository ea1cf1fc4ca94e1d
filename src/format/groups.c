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
    return pnc_error_set(error, NC_ENOTSUPPORT,
                         "this file has groups: to add or rename dimensions, variables and groups, open it with the "
                         "hint nc_groups=all, or with nc_groups=root, which hides them");
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
