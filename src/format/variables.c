/* Variables of the header model: their rules, shapes and fill values. */
#include "format/entries.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "format/groups.h"

/* One allocation: the variable, the lengths of its dimensions, their ids. */
pnc_var *pnc_format_var_create(pnc_model *model, const char *name, int64_t name_len, int ndims)
{
    const int64_t per_dim = sizeof *((pnc_var *)0)->shape + sizeof *((pnc_var *)0)->dimids;
    pnc_var *var = pnc_region_alloc(&model->region, (int64_t)sizeof *var + ndims * per_dim);

    if (var == NULL)
        return NULL;
    memset(var, 0, sizeof *var);
    var->shape = (int64_t *)(var + 1);
    var->dimids = (int *)(var->shape + ndims);
    var->name = pnc_region_text_copy(&model->region, name, name_len);
    var->ndims = ndims;
    var->classic.where = -1;
    return var->name != NULL ? var : NULL;
}

int pnc_format_vars_reserve(pnc_model *model, int n)
{
    PNC_TRY(pnc_table_reserve(&model->var_names, n));
    return pnc_format_list_reserve(&model->region, (void ***)&model->vars, model->nvars, &model->vars_capacity, n);
}

int pnc_format_var_derive(const pnc_model *model, pnc_var *var)
{
    var->is_record = var->ndims > 0 && model->dims[var->dimids[0]]->unlimited;
    var->inner_unlimited = false;
    var->size = (int64_t)pnc_type_get_size(var->type);
    for (int i = 0; i < var->ndims; i++) {
        assert(var->dimids[i] >= 0 && var->dimids[i] < model->ndims);
        var->shape[i] = model->dims[var->dimids[i]]->len;
        var->inner_unlimited |= i > 0 && model->dims[var->dimids[i]]->unlimited;
        if ((i > 0 || !var->is_record) && pnc_size_multiply(var->size, var->shape[i], &var->size) < 0)
            return -1;
    }
    return 0;
}

int pnc_format_var_append(pnc_model *model, pnc_var *var)
{
    int code;

    if (var == NULL)
        return NC_ENOMEM;
    PNC_TRY(pnc_format_list_grow(&model->region, (void ***)&model->vars, model->nvars, &model->vars_capacity));
    code = pnc_table_add(&model->var_names, var->name, model->nvars);
    if (code == NC_ENOMEM)
        return code;
    model->vars[model->nvars++] = var;
    model->nrecvars += var->is_record;
    return code;
}

static int check_type(const pnc_model *model, const char *name, int type, pnc_error *error)
{
    const pnc_rules *rules = pnc_format_model_get_rules(model);

    if ((type >= NC_BYTE && type <= rules->last_type) || (type == NC_STRING && rules->has_strings))
        return NC_NOERR;
    if (pnc_type_is_valid(type, NC_FORMAT_CDF5) || (type == NC_STRING && rules->type_error == NC_ESTRICTNC3))
        return pnc_error_set(
            error, rules->type_error, "variable \"%s\": type %s exists in %s only, and this file is %s: %s", name,
            pnc_type_get_name(type), rules->wider, rules->name, pnc_error_translate(error, rules->cure).text);
    return pnc_error_set(error, NC_EBADTYPE, "variable \"%s\": xtype is %s", name,
                         pnc_type_explain_invalid(type, pnc_error_get_language(error)).text);
}

static int check_dims(const pnc_model *model, const char *name, int ndims, const int *dimids, pnc_error *error)
{
    const pnc_rules *rules = pnc_format_model_get_rules(model);

    if (ndims > rules->most_var_dims)
        return pnc_error_set(error, NC_EMAXDIMS,
                             "variable \"%s\": %d dimensions are more than the %d that a variable of a %s file can "
                             "have",
                             name, ndims, rules->most_var_dims, rules->name);
    if (ndims < 0 || (ndims > 0 && dimids == NULL))
        return pnc_error_set(error, NC_EINVAL,
                             ndims < 0 ? "variable \"%s\": number of dimensions %d is negative"
                                       : "variable \"%s\": the pointer to its %d dimension ids is NULL",
                             name, ndims);
    for (int i = 0; i < ndims; i++) {
        if (dimids[i] < 0 || dimids[i] >= model->ndims)
            return pnc_error_set(error, NC_EBADDIM,
                                 "variable \"%s\": dimension id %d at position %d does not exist: there are "
                                 "%d dimensions",
                                 name, pnc_error_get_id(error, dimids[i]), pnc_error_get_position(error, i, ndims),
                                 model->ndims);
        if (!pnc_format_group_has_dim(model, name, model->dims[dimids[i]]->name))
            return pnc_error_set(error, NC_EBADDIM,
                                 "variable \"%s\": dimension \"%s\" is in another group: use those of its own group or "
                                 "of one above",
                                 name, model->dims[dimids[i]]->name);
        if (i > 0 && model->dims[dimids[i]]->unlimited && rules->one_unlimited)
            return pnc_error_set(error, NC_EUNLIMPOS,
                                 "variable \"%s\": unlimited dimension \"%s\" is at position %d: it must be "
                                 "the slowest, at position %d",
                                 name, model->dims[dimids[i]]->name, pnc_error_get_position(error, i, ndims),
                                 pnc_error_get_position(error, 0, ndims));
    }
    return NC_NOERR;
}

static int append_new(pnc_model *model, const char *name, int type, int ndims, const int *dimids, pnc_error *error)
{
    pnc_var *var = pnc_format_var_create(model, name, (int64_t)strlen(name), ndims);

    if (var != NULL) {
        var->type = type;
        var->little = model->little;
        if (ndims > 0)
            memcpy(var->dimids, dimids, (size_t)ndims * sizeof *dimids);
        if (pnc_format_var_derive(model, var) < 0)
            return pnc_error_set(error, NC_EVARSIZE,
                                 "variable \"%s\" is larger than 2^63 bytes: shorten its dimensions", name);
    }
    if (pnc_format_var_append(model, var) != NC_NOERR)
        return pnc_error_set(error, NC_ENOMEM, "no memory for another variable");
    return NC_NOERR;
}

int pnc_format_var_add(pnc_model *model, const char *name, int type, int ndims, const int *dimids, pnc_error *error)
{
    char *nfc = NULL;
    int code;

    PNC_TRY(pnc_format_groups_check(model, error));
    PNC_TRY(pnc_format_path_normalise(model, name, &nfc, error));
    code = check_type(model, nfc, type, error);
    if (code == NC_NOERR)
        code = check_dims(model, nfc, ndims, dimids, error);
    if (code == NC_NOERR && pnc_table_find(&model->var_names, nfc) >= 0)
        code = pnc_error_set(error, NC_ENAMEINUSE, "variable \"%s\" exists already: choose another name", nfc);
    if (code == NC_NOERR)
        code = pnc_format_group_check(model, nfc, error);
    if (code == NC_NOERR)
        code = append_new(model, nfc, type, ndims, dimids, error);
    pnc_memory_free(nfc);
    return code;
}

int pnc_format_var_find(const pnc_model *model, const char *name)
{
    return pnc_format_path_find(model, &model->var_names, name);
}

int pnc_format_var_rename(pnc_model *model, int varid, const char *name, pnc_error *error)
{
    char *nfc = NULL;
    int code = NC_NOERR;

    if (varid < 0 || varid >= model->nvars)
        return pnc_error_set(error, NC_ENOTVAR, "variable id %d does not exist: there are %d variables",
                             pnc_error_get_id(error, varid), model->nvars);
    PNC_TRY(pnc_format_groups_check(model, error));
    PNC_TRY(pnc_format_path_replace(model, model->vars[varid]->name, name, &nfc, error));
    code = pnc_format_group_check(model, nfc, error);
    if (code != NC_NOERR)
        goto free_name;
    if (pnc_table_find(&model->var_names, nfc) >= 0) {
        code = pnc_error_set(error, NC_ENAMEINUSE, "variable \"%s\" cannot be renamed to \"%s\": that name is in use",
                             model->vars[varid]->name, nfc);
        goto free_name;
    }
    code = pnc_format_name_replace(model, &model->var_names, varid, &model->vars[varid]->name, nfc);
    if (code != NC_NOERR)
        pnc_error_set(error, code, "no memory to rename variable \"%s\"", model->vars[varid]->name);
free_name:
    pnc_memory_free(nfc);
    return code;
}

/* Copy a value from one byte order to another one. */
static void copy_value(const void *value, bool from_little, size_t n, void *out, bool to_little)
{
    const unsigned char *from = value;
    unsigned char *to = out;

    for (size_t i = 0; i < n; i++)
        to[i] = from[from_little == to_little ? i : n - 1 - i];
}

void pnc_format_value_encode(const void *value, size_t n, void *out)
{
    copy_value(value, PNC_HOST_IS_LITTLE, n, out, false);
}

static void get_default_fill(int type, bool little, void *out)
{
    switch (type) {
#define PNC_XTYPE_ROW(constant, bytes, name, ctype, fill)           \
    case constant: {                                                \
        ctype value = fill;                                         \
        copy_value(&value, PNC_HOST_IS_LITTLE, bytes, out, little); \
        break;                                                      \
    }
#include "spec/type_table.h"
    default: break;
    }
}

void pnc_format_var_get_fill_value(const pnc_model *model, const pnc_var *var, void *out)
{
    int index = pnc_format_atts_find_exact(&var->atts, "_FillValue");
    const pnc_att *att = index < 0 ? NULL : var->atts.at[index];

    if (att != NULL && att->type == var->type && att->len == 1)
        copy_value(att->value, model->little, pnc_type_get_size(var->type), out, var->little);
    else
        get_default_fill(var->type, var->little, out);
}
