/* The header model: its allocation and release, its dimensions, and functions that all its lists use. */
#include "format/entries.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/name.h"
#include "format/groups.h"
#include "format/storage.h"

int pnc_format_list_reserve(pnc_region *region, void ***at, int n, int *capacity, int wanted)
{
    void **grown;

    assert(n >= 0 && n <= *capacity);
    if (wanted <= *capacity)
        return NC_NOERR;
    grown = pnc_region_alloc(region, wanted * (int64_t)sizeof *grown);
    if (grown == NULL)
        return NC_ENOMEM;
    if (n > 0)
        memcpy(grown, *at, (size_t)n * sizeof *grown);
    *at = grown;
    *capacity = wanted;
    return NC_NOERR;
}

int pnc_format_list_grow(pnc_region *region, void ***at, int n, int *capacity)
{
    int wanted = n < *capacity ? *capacity : pnc_memory_grow_capacity(n);

    return wanted > n ? pnc_format_list_reserve(region, at, n, capacity, wanted) : NC_ENOMEM;
}

/* A key that is removed makes space for another one. Short lists have no table; in files of other writers, an earlier
 * entry may have the same name and the key. */
static int set_name(pnc_table *names, int index, char **name, char *to)
{
    if (pnc_table_find(names, *name) == index)
        pnc_table_remove(names, *name);
    if (names->slots != NULL && pnc_table_add(names, to, index) == NC_ENOMEM)
        return NC_ENOMEM;
    *name = to;
    return NC_NOERR;
}

int pnc_format_name_replace(pnc_model *model, pnc_table *names, int index, char **name, const char *to)
{
    char *copy = pnc_region_text_copy(&model->region, to, (int64_t)strlen(to));

    return copy == NULL ? NC_ENOMEM : set_name(names, index, name, copy);
}

void pnc_format_name_undo(pnc_table *names, int index, char **name, char *old)
{
    if (*name != old)
        (void)set_name(names, index, name, old);
}

int pnc_format_entry_rename(pnc_model *model, pnc_entry entry, const char *name, pnc_error *error)
{
    if (entry.dimid >= 0)
        return pnc_format_dim_rename(model, entry.dimid, name, error);
    if (entry.att < 0)
        return pnc_format_var_rename(model, entry.varid, name, error);
    return pnc_format_atts_rename(model, pnc_format_atts_get(model, entry.varid), entry.att, name, error);
}

/* The length of a dimension is a signed number of 32 (CDF-1, CDF-2) or 64 bits. CDF-2 files of other libraries may have
 * longer ones. */
static const pnc_rules *get_classic_rules(int format)
{
#define OF_CDF_1_AND_2(cdf)                                                                                        \
    {                                                                                                              \
        .name = cdf, .last_type = NC_DOUBLE, .type_error = NC_ESTRICTCDF2, .wider = "CDF-5",                       \
        .cure = "create the file with NC_64BIT_DATA", .most_dim_length = NC_MAX_INT, .most_att_length = INT32_MAX, \
        .most_var_dims = PNC_VAR_DIMS_MAX, .one_unlimited = true                                                   \
    }
    static const pnc_rules rules[] = {OF_CDF_1_AND_2("CDF-1"),
                                      OF_CDF_1_AND_2("CDF-2"),
                                      {.name = "CDF-5",
                                       .last_type = NC_UINT64,
                                       .most_dim_length = INT64_MAX,
                                       .most_att_length = INT64_MAX / 16,
                                       .most_var_dims = PNC_VAR_DIMS_MAX,
                                       .one_unlimited = true}};

    return &rules[format == NC_FORMAT_CDF5 ? 2 : format == NC_FORMAT_CDF2];
}

const pnc_rules *pnc_format_model_get_rules(const pnc_model *model)
{
    return model->rules != NULL ? model->rules : get_classic_rules(model->format);
}

void pnc_format_model_init_rules(pnc_model *model, int format, const pnc_rules *rules)
{
    *model = (pnc_model){.format = format, .rules = rules, .recdim = -1};
}

int pnc_format_model_init(pnc_model *model, int format, pnc_error *error)
{
    memset(model, 0, sizeof *model);
    model->recdim = -1;
    if (format != 1 && format != 2 && format != 5)
        return pnc_error_set(error, NC_EINVAL, "format %d is not a classic format: choose CDF-1, CDF-2 or CDF-5",
                             format);
    model->format = format;
    return NC_NOERR;
}

void pnc_format_model_free(pnc_model *model)
{
    pnc_table_clear(&model->dim_names);
    pnc_table_clear(&model->var_names);
    for (int i = 0; i < model->nvars; i++)
        pnc_format_atts_free(&model->vars[i]->atts);
    pnc_format_atts_free(&model->gatts);
    pnc_region_free(&model->region);
    memset(model, 0, sizeof *model);
    model->recdim = -1;
}

static int copy_dims(pnc_model *out, const pnc_model *from)
{
    for (int i = 0; i < from->ndims; i++) {
        const pnc_dim *dim = from->dims[i];

        PNC_TRY(pnc_format_dim_append(out, dim->name, (int64_t)strlen(dim->name), dim->len, dim->unlimited));
        out->dims[i]->length = dim->length;
        out->dims[i]->classic.where = dim->classic.where;
    }
    return NC_NOERR;
}

static int copy_var(pnc_model *out, const pnc_var *from)
{
    pnc_var *var = pnc_format_var_create(out, from->name, (int64_t)strlen(from->name), from->ndims);

    if (var == NULL)
        return NC_ENOMEM;
    var->type = from->type;
    var->classic = from->classic;
    var->netcdf4 = from->netcdf4;
    var->no_fill = from->no_fill;
    var->quantize_mode = from->quantize_mode;
    var->nsd = from->nsd;
    var->error_mode = from->error_mode;
    var->error_bound = from->error_bound;
    var->little = from->little;
    var->is_record = from->is_record;
    var->inner_unlimited = from->inner_unlimited;
    var->size = from->size;
    memcpy(var->dimids, from->dimids, (size_t)from->ndims * sizeof *var->dimids);
    memcpy(var->shape, from->shape, (size_t)from->ndims * sizeof *var->shape);
    PNC_TRY(pnc_format_storage_copy(out, var, from));
    PNC_TRY(pnc_format_var_append(out, var));
    return pnc_format_atts_copy(&out->region, &var->atts, &from->atts);
}

int pnc_format_model_copy(pnc_model *out, const pnc_model *from)
{
    int code;

    memset(out, 0, sizeof *out);
    out->format = from->format;
    out->rules = from->rules;
    out->numrecs = from->numrecs;
    out->recdim = -1;
    out->classic = from->classic;
    out->little = from->little;
    out->casts = from->casts;
    out->has_bad_names = from->has_bad_names;
    code = pnc_format_groups_copy(out, from);
    if (code == NC_NOERR)
        code = pnc_format_dims_reserve(out, from->ndims);
    if (code == NC_NOERR)
        code = pnc_format_vars_reserve(out, from->nvars);
    if (code == NC_NOERR)
        code = copy_dims(out, from);
    if (code == NC_NOERR)
        code = pnc_format_atts_copy(&out->region, &out->gatts, &from->gatts);
    for (int i = 0; code == NC_NOERR && i < from->nvars; i++)
        code = copy_var(out, from->vars[i]);
    if (code != NC_NOERR)
        pnc_format_model_free(out);
    return code;
}

static int check_name(const char *what, int id, const char *name, pnc_error *error)
{
    if (pnc_name_is_text(name, strlen(name)))
        return NC_NOERR;
    return pnc_error_set(error, NC_EBADNAME,
                         "the name of %s %d is %s: the header cannot be written while it is; give it another name in "
                         "define mode",
                         what, pnc_error_get_id(error, id), name[0] == '\0' ? "empty" : "not valid UTF-8");
}

static int check_names_of_atts(const char *what, const pnc_atts *atts, pnc_error *error)
{
    for (int i = 0; i < atts->n; i++)
        PNC_TRY(check_name(what, i, atts->at[i]->name, error));
    return NC_NOERR;
}

int pnc_format_names_check(const pnc_model *model, pnc_error *error)
{
    char what[32 + NC_MAX_NAME];

    if (!model->has_bad_names)
        return NC_NOERR;
    for (int i = 0; i < model->ndims; i++)
        PNC_TRY(check_name("dimension", i, model->dims[i]->name, error));
    for (int i = 0; i < model->nvars; i++)
        PNC_TRY(check_name("variable", i, model->vars[i]->name, error));
    PNC_TRY(check_names_of_atts("global attribute", &model->gatts, error));
    for (int i = 0; i < model->nvars; i++) {
        snprintf(what, sizeof what, "variable %.80s: attribute", model->vars[i]->name);
        PNC_TRY(check_names_of_atts(what, &model->vars[i]->atts, error));
    }
    return NC_NOERR;
}

int pnc_format_dims_reserve(pnc_model *model, int n)
{
    PNC_TRY(pnc_table_reserve(&model->dim_names, n));
    return pnc_format_list_reserve(&model->region, (void ***)&model->dims, model->ndims, &model->dims_capacity, n);
}

int pnc_format_dim_append(pnc_model *model, const char *name, int64_t name_len, int64_t len, bool unlimited)
{
    pnc_dim *dim = pnc_region_alloc(&model->region, sizeof *dim);
    int code;

    if (dim == NULL)
        return NC_ENOMEM;
    *dim = (pnc_dim){.name = pnc_region_text_copy(&model->region, name, name_len),
                     .len = len,
                     .unlimited = unlimited,
                     .classic = {-1}};
    if (dim->name == NULL)
        return NC_ENOMEM;
    PNC_TRY(pnc_format_list_grow(&model->region, (void ***)&model->dims, model->ndims, &model->dims_capacity));
    code = pnc_table_add(&model->dim_names, dim->name, model->ndims);
    if (code == NC_ENOMEM)
        return code;
    if (dim->unlimited && model->nunlimited++ == 0)
        model->recdim = model->ndims;
    model->dims[model->ndims++] = dim;
    return code;
}

int64_t pnc_format_dim_get_max_length(int format)
{
    return get_classic_rules(format)->most_dim_length;
}

static int fail_length(const pnc_model *model, const char *name, int64_t len, pnc_error *error)
{
    const pnc_rules *rules = pnc_format_model_get_rules(model);
    const char *kind = pnc_error_explain_kind(error, len);
    bool has_cure = len > 0 && kind[0] == '\0' && rules->wider != NULL;

    return pnc_error_set(error, NC_EDIMSIZE, "dimension \"%s\": length %lld%s is outside 0..%lld, the range of %s%s%s",
                         name, (long long)len, kind, (long long)rules->most_dim_length, rules->name,
                         has_cure ? ": " : "", has_cure ? pnc_error_translate(error, rules->cure).text : "");
}

int pnc_format_dim_add(pnc_model *model, const char *name, int64_t len, pnc_error *error)
{
    const pnc_rules *rules = pnc_format_model_get_rules(model);
    char *nfc = NULL;
    int code;

    PNC_TRY(pnc_format_groups_check(model, error));
    PNC_TRY(pnc_format_path_normalise(model, name, &nfc, error));
    if (len < 0 || len > rules->most_dim_length) {
        code = fail_length(model, nfc, len, error);
        goto free_name;
    }
    if (len == NC_UNLIMITED && model->recdim >= 0 && rules->one_unlimited) {
        code = pnc_error_set(error, NC_EUNLIMIT,
                             "dimension \"%s\" cannot be unlimited: \"%s\" is already, and the "
                             "classic formats have one unlimited dimension",
                             nfc, model->dims[model->recdim]->name);
        goto free_name;
    }
    if (pnc_table_find(&model->dim_names, nfc) >= 0) {
        code = pnc_error_set(error, NC_ENAMEINUSE, "dimension \"%s\" exists already: choose another name", nfc);
        goto free_name;
    }
    code = pnc_format_group_check(model, nfc, error);
    if (code != NC_NOERR)
        goto free_name;
    code = pnc_format_dim_append(model, nfc, (int64_t)strlen(nfc), len, len == NC_UNLIMITED);
    if (code != NC_NOERR)
        pnc_error_set(error, code, "no memory for another dimension");
free_name:
    pnc_memory_free(nfc);
    return code;
}

int pnc_format_path_find(const pnc_model *model, const pnc_table *names, const char *name)
{
    int index = pnc_name_find(names, name);

    if (index >= 0 || name == NULL || name[0] != '/' || !pnc_format_model_get_rules(model)->has_paths)
        return index;
    return pnc_name_find(names, name + 1);
}

int pnc_format_dim_find(const pnc_model *model, const char *name)
{
    return pnc_format_path_find(model, &model->dim_names, name);
}

int pnc_format_dim_rename(pnc_model *model, int dimid, const char *name, pnc_error *error)
{
    const char *old = dimid >= 0 && dimid < model->ndims ? model->dims[dimid]->name : "";
    char *nfc = NULL;
    int other, code = NC_NOERR;

    PNC_TRY(pnc_format_groups_check(model, error));
    PNC_TRY(pnc_format_path_replace(model, old, name, &nfc, error));
    if (dimid < 0 || dimid >= model->ndims) {
        code = pnc_error_set(error, NC_EBADDIM, "dimension id %d does not exist: there are %d dimensions",
                             pnc_error_get_id(error, dimid), model->ndims);
        goto free_name;
    }
    other = pnc_table_find(&model->dim_names, nfc);
    if (other == dimid) /* measured: allowed for dimensions, unlike variables and attributes */
        goto free_name;
    if (other >= 0) {
        code = pnc_error_set(error, NC_ENAMEINUSE, "dimension \"%s\" cannot be renamed to \"%s\": that name is in use",
                             model->dims[dimid]->name, nfc);
        goto free_name;
    }
    code = pnc_format_group_check(model, nfc, error);
    if (code != NC_NOERR)
        goto free_name;
    code = pnc_format_name_replace(model, &model->dim_names, dimid, &model->dims[dimid]->name, nfc);
    if (code != NC_NOERR)
        pnc_error_set(error, code, "no memory to rename dimension \"%s\"", model->dims[dimid]->name);
free_name:
    pnc_memory_free(nfc);
    return code;
}

int64_t pnc_format_dim_get_length(const pnc_model *model, int dimid)
{
    const pnc_dim *dim;

    assert(dimid >= 0 && dimid < model->ndims);
    dim = model->dims[dimid];
    if (dimid == model->recdim)
        return model->numrecs;
    return dim->unlimited ? dim->length : dim->len;
}

bool pnc_format_dim_grow(pnc_model *model, int dimid, int64_t length)
{
    int64_t *current = dimid == model->recdim ? &model->numrecs : &model->dims[dimid]->length;

    assert(dimid >= 0 && dimid < model->ndims && model->dims[dimid]->unlimited);
    if (length <= *current)
        return false;
    *current = length;
    return true;
}

static uint64_t add_name(uint64_t digest, const char *name)
{
    return pnc_digest_add(pnc_digest_word_add(digest, strlen(name)), name, (int64_t)strlen(name));
}

uint64_t pnc_format_model_get_digest(const pnc_model *model)
{
    uint64_t digest = pnc_digest_word_add(PNC_DIGEST_START, (uint64_t)model->ndims);

    for (int i = 0; i < model->ndims; i++) {
        const pnc_dim *dim = model->dims[i];

        digest = pnc_digest_word_add(add_name(digest, dim->name), dim->unlimited ? UINT64_MAX : (uint64_t)dim->len);
    }
    digest = pnc_digest_word_add(digest, (uint64_t)model->nvars);
    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];

        digest = pnc_digest_word_add(add_name(digest, var->name), (uint64_t)var->type);
        for (int d = 0; d < var->ndims; d++)
            digest = pnc_digest_word_add(digest, (uint64_t)var->dimids[d]);
    }
    return digest;
}

int64_t pnc_format_var_get_length(const pnc_model *model, const pnc_var *var, int dim)
{
    assert(dim >= 0 && dim < var->ndims);
    return pnc_format_dim_get_length(model, var->dimids[dim]);
}

pnc_atts *pnc_format_atts_get(const pnc_model *model, int varid)
{
    if (varid == NC_GLOBAL)
        return (pnc_atts *)&model->gatts;
    return varid >= 0 && varid < model->nvars ? &model->vars[varid]->atts : NULL;
}
