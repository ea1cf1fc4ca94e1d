/* The header model: its allocation and release, its dimensions, and functions that all its lists use. */
#include "format/entries.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"

int pnc_format_list_grow(void ***at, int n, int *capacity)
{
    void **grown;
    int wanted;

    assert(n >= 0 && n <= *capacity);
    if (n < *capacity)
        return NC_NOERR;
    wanted = pnc_memory_grow_capacity(n);
    grown = wanted > n ? pnc_memory_resize(*at, wanted, sizeof **at) : NULL;
    if (grown == NULL)
        return NC_ENOMEM;
    *at = grown;
    *capacity = wanted;
    return NC_NOERR;
}

char *pnc_format_name_copy(const char *bytes, int64_t n)
{
    char *name = pnc_memory_alloc(n + 1, 1);

    if (name == NULL)
        return NULL;
    memcpy(name, bytes, (size_t)n);
    name[n] = '\0';
    return name;
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

static void free_dim(pnc_dim *dim)
{
    if (dim == NULL)
        return;
    pnc_memory_free(dim->name);
    pnc_memory_free(dim);
}

void pnc_format_model_free(pnc_model *model)
{
    pnc_table_clear(&model->dim_names);
    for (int i = 0; i < model->ndims; i++)
        free_dim(model->dims[i]);
    pnc_memory_free(model->dims);
    pnc_table_clear(&model->var_names);
    for (int i = 0; i < model->nvars; i++)
        pnc_format_var_free(model->vars[i]);
    pnc_memory_free(model->vars);
    pnc_format_atts_free(&model->gatts);
    memset(model, 0, sizeof *model);
    model->recdim = -1;
}

static int copy_dims(pnc_model *out, const pnc_model *from)
{
    for (int i = 0; i < from->ndims; i++) {
        PNC_TRY(pnc_format_dim_append(out, pnc_string_copy(from->dims[i]->name), from->dims[i]->len));
        out->dims[i]->where = from->dims[i]->where;
    }
    return NC_NOERR;
}

static int copy_var(pnc_model *out, const pnc_var *from)
{
    pnc_var *var = pnc_format_var_create(pnc_string_copy(from->name), from->ndims);
    int code;

    if (var == NULL)
        return NC_ENOMEM;
    var->type = from->type;
    var->begin = from->begin;
    var->where = from->where;
    var->no_fill = from->no_fill;
    var->is_record = from->is_record;
    var->size = from->size;
    memcpy(var->dimids, from->dimids, (size_t)from->ndims * sizeof *var->dimids);
    memcpy(var->shape, from->shape, (size_t)from->ndims * sizeof *var->shape);
    code = pnc_format_atts_copy(&var->atts, &from->atts);
    if (code == NC_NOERR)
        return pnc_format_var_append(out, var);
    pnc_format_var_free(var);
    return code;
}

int pnc_format_model_copy(pnc_model *out, const pnc_model *from)
{
    int code;

    memset(out, 0, sizeof *out);
    out->format = from->format;
    out->numrecs = from->numrecs;
    out->recdim = -1;
    out->header_size = from->header_size;
    out->header_extent = from->header_extent;
    out->begin_rec = from->begin_rec;
    out->recsize = from->recsize;
    code = copy_dims(out, from);
    if (code == NC_NOERR)
        code = pnc_format_atts_copy(&out->gatts, &from->gatts);
    for (int i = 0; code == NC_NOERR && i < from->nvars; i++)
        code = copy_var(out, from->vars[i]);
    if (code != NC_NOERR)
        pnc_format_model_free(out);
    return code;
}

int pnc_format_dim_append(pnc_model *model, char *name, int64_t len)
{
    pnc_dim *dim = pnc_memory_alloc_zeroed(1, sizeof *dim);

    if (dim == NULL) {
        pnc_memory_free(name);
        return NC_ENOMEM;
    }
    dim->name = name;
    dim->len = len;
    dim->where = -1;
    if (name == NULL || pnc_format_list_grow((void ***)&model->dims, model->ndims, &model->dims_capacity) != NC_NOERR ||
        pnc_table_add(&model->dim_names, name, model->ndims) != NC_NOERR) {
        free_dim(dim);
        return NC_ENOMEM;
    }
    if (len == NC_UNLIMITED)
        model->recdim = model->ndims;
    model->dims[model->ndims++] = dim;
    return NC_NOERR;
}

/* The longest fixed dimension that can be defined: the length is a signed number of 32 (CDF-1, CDF-2) or 64 bits. CDF-2
 * files of other libraries may have longer ones. */
int64_t pnc_format_dim_get_max_length(int format)
{
    return format == 5 ? INT64_MAX : NC_MAX_INT;
}

int pnc_format_dim_add(pnc_model *model, const char *name, int64_t len, pnc_error *error)
{
    char *nfc = NULL;
    int code;

    PNC_TRY(pnc_name_normalise(name, &nfc, error));
    if (len < 0 || len > pnc_format_dim_get_max_length(model->format)) {
        code = pnc_error_set(error, NC_EDIMSIZE,
                             "dimension \"%s\": length %lld is outside 0..%lld, the range of "
                             "CDF-%d%s",
                             nfc, (long long)len, (long long)pnc_format_dim_get_max_length(model->format),
                             model->format, len > 0 ? ": create the file with NC_64BIT_DATA" : "");
        goto free_name;
    }
    if (len == NC_UNLIMITED && model->recdim >= 0) {
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
    code = pnc_format_dim_append(model, nfc, len);
    if (code != NC_NOERR)
        return pnc_error_set(error, code, "no memory for another dimension");
    return NC_NOERR;
free_name:
    pnc_memory_free(nfc);
    return code;
}

int pnc_format_dim_find(const pnc_model *model, const char *name)
{
    return pnc_name_find(&model->dim_names, name);
}

int pnc_format_dim_rename(pnc_model *model, int dimid, const char *name, pnc_error *error)
{
    char *nfc = NULL;
    int other, code = NC_NOERR;

    PNC_TRY(pnc_name_normalise(name, &nfc, error));
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
    if (pnc_table_add(&model->dim_names, nfc, dimid) != NC_NOERR) {
        code = pnc_error_set(error, NC_ENOMEM, "no memory to rename dimension \"%s\"", model->dims[dimid]->name);
        goto free_name;
    }
    pnc_table_remove(&model->dim_names, model->dims[dimid]->name);
    pnc_memory_free(model->dims[dimid]->name);
    model->dims[dimid]->name = nfc;
    return NC_NOERR;
free_name:
    pnc_memory_free(nfc);
    return code;
}

int64_t pnc_format_dim_get_length(const pnc_model *model, int dimid)
{
    assert(dimid >= 0 && dimid < model->ndims);
    return dimid == model->recdim ? model->numrecs : model->dims[dimid]->len;
}

pnc_atts *pnc_format_atts_get(const pnc_model *model, int varid)
{
    if (varid == NC_GLOBAL)
        return (pnc_atts *)&model->gatts;
    return varid >= 0 && varid < model->nvars ? &model->vars[varid]->atts : NULL;
}
