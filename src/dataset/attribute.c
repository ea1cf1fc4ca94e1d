/* Attributes: converted between memory and external types, and stored in the header. */
#include "dataset/attribute.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "convert/convert.h"
#include "convert/misfit.h"
#include "dataset/agree.h"
#include "dataset/deferred.h"
#include "dataset/modes.h"
#include "dataset/suggestion.h"
#include "file/agree.h"
#include "format/groups.h"
#include "format/strings.h"

typedef struct new_value {
    int xtype;
    int64_t len;
    void *bytes; /* in the encoding of the model */
    int status;  /* NC_NOERR or NC_ERANGE */
    pnc_strings strings;
} new_value;

/* The name in CDL: variable:attribute, or :attribute for a global attribute. */
typedef struct label {
    char text[2 * NC_MAX_NAME + 8];
} label;

static label label_of(const pnc_dataset *ds, int varid, const char *name)
{
    label l;

    snprintf(l.text, sizeof l.text, "%.*s:%.*s", NC_MAX_NAME, varid == NC_GLOBAL ? "" : ds->model.vars[varid]->name,
             NC_MAX_NAME, name);
    return l;
}

/* Global attributes may be those of groups, and their path may begin with a slash. */
static int find_index(const pnc_dataset *ds, int varid, const char *name)
{
    const pnc_atts *atts = pnc_format_atts_get(&ds->model, varid);
    int index = pnc_format_atts_find(atts, name);

    if (index >= 0 || varid != NC_GLOBAL || name == NULL || name[0] != '/' || ds->model.groups.n == 0)
        return index;
    return pnc_format_atts_find(atts, name + 1);
}

int pnc_dataset_attribute_find(pnc_dataset *ds, int varid, const char *name, pnc_atts **atts, int *index)
{
    pnc_atts *all = pnc_format_atts_get(&ds->model, varid);
    int at;

    if (all == NULL)
        return pnc_format_var_reject(&ds->model, varid, &ds->error);
    at = find_index(ds, varid, name);
    if (at < 0)
        return pnc_error_set(
            &ds->error, pnc_name_explain_missing(name, NC_ENOTATT), "%s%s%s has no attribute \"%.*s\"%s", ds->file.path,
            varid == NC_GLOBAL ? "" : ", variable ", varid == NC_GLOBAL ? "" : ds->model.vars[varid]->name, NC_MAX_NAME,
            name == NULL ? "" : name, pnc_dataset_att_suggest(ds, all, name).text);
    *atts = all;
    *index = at;
    return NC_NOERR;
}

/* Strings are a type of netCDF-4, without its classic model. */
static int check_strings(pnc_dataset *ds, int varid, const pnc_new_att *att)
{
    const pnc_rules *rules = pnc_format_model_get_rules(&ds->model);

    if (rules->is_enhanced)
        return NC_NOERR;
    return pnc_error_set(&ds->error, rules->type_error == NC_ESTRICTNC3 ? NC_ESTRICTNC3 : NC_EBADTYPE,
                         "attribute \"%s\": attributes of strings exist in netCDF-4 files without the classic model "
                         "only, and %s is %s: put one text, with newlines between its parts",
                         label_of(ds, varid, att->name).text, ds->file.path, rules->name);
}

static int check_type(pnc_dataset *ds, int varid, const pnc_new_att *att)
{
    const pnc_rules *rules = pnc_format_model_get_rules(&ds->model);

    if (att->strings.lengths != NULL)
        return check_strings(ds, varid, att);
    if (!pnc_type_is_valid(att->xtype, NC_FORMAT_CDF5))
        return pnc_error_set(&ds->error, NC_EBADTYPE, "attribute \"%s\": xtype is %s",
                             label_of(ds, varid, att->name).text,
                             pnc_type_explain_invalid(att->xtype, ds->error.language).text);
    if (att->xtype > rules->last_type)
        return pnc_error_set(&ds->error, rules->type_error,
                             "attribute \"%s\": type %s exists in %s only, and %s is %s: %s",
                             label_of(ds, varid, att->name).text, pnc_type_get_name(att->xtype), rules->wider,
                             ds->file.path, rules->name, pnc_error_translate(&ds->error, rules->cure).text);
    if ((att->mem == PNC_TEXT) != (att->xtype == NC_CHAR))
        return pnc_error_set(&ds->error, NC_ECHAR,
                             "attribute \"%s\" of type %s: NC_CHAR values are only accessed "
                             "through the text functions",
                             label_of(ds, varid, att->name).text, pnc_type_get_name(att->xtype));
    return NC_NOERR;
}

static int check_values(pnc_dataset *ds, int varid, const pnc_new_att *att)
{
    const pnc_rules *rules = pnc_format_model_get_rules(&ds->model);

    if (att->len < 0)
        return pnc_error_set(&ds->error, NC_EINVAL, "attribute \"%s\": len is %lld: must not be negative",
                             label_of(ds, varid, att->name).text, (long long)att->len);
    if (att->len > 0 && att->values == NULL)
        return pnc_error_set(&ds->error, NC_EINVAL, "attribute \"%s\": the buffer is NULL, but len is %lld",
                             label_of(ds, varid, att->name).text, (long long)att->len);
    if (att->len > rules->most_att_length)
        return pnc_error_set(&ds->error, NC_EINVAL, "attribute \"%s\": len is %lld%s: too large for %s",
                             label_of(ds, varid, att->name).text, (long long)att->len,
                             pnc_error_explain_kind(&ds->error, att->len), rules->name);
    return NC_NOERR;
}

static int check_fill_value(pnc_dataset *ds, int varid, const pnc_new_att *att)
{
    const pnc_var *var;
    long long length;
    int xtype;

    if (varid == NC_GLOBAL || strcmp(att->name, NC_FillValue) != 0)
        return NC_NOERR;
    var = ds->model.vars[varid];
    xtype = att->strings.lengths != NULL ? NC_STRING : att->xtype;
    if (xtype != var->type)
        return pnc_error_set(&ds->error, NC_EBADTYPE,
                             "attribute \"%s:_FillValue\" has type %s: must be %s, as the "
                             "variable",
                             var->name, pnc_type_get_name(xtype), pnc_type_get_name(var->type));
    length = xtype == NC_STRING ? att->strings.n : att->len;
    if (length != 1)
        return pnc_error_set(&ds->error, NC_EINVAL, "attribute \"%s:_FillValue\" has length %lld: must be 1", var->name,
                             (long long)length);
    if (ds->mode == PNC_DEFINE && !pnc_dataset_mode_allows_fill(ds, varid))
        return pnc_error_set(&ds->error, NC_ELATEFILL,
                             "variable \"%s\" existed before ncmpi_redef: its fill value "
                             "cannot change any more",
                             var->name);
    return NC_NOERR;
}

/* Data mode defines nothing new. */
static int check_old(pnc_dataset *ds, int varid, const pnc_new_att *att)
{
    int index = find_index(ds, varid, att->name);

    if (index < 0)
        return pnc_error_set(&ds->error, NC_ENOTINDEFINE, "attribute \"%s\" is new: call ncmpi_redef first",
                             label_of(ds, varid, att->name).text);
    return ds->format->ops->check_change(
        ds->format, &(pnc_format_change){.entry = {-1, varid, index}, .type = att->xtype, .len = att->len});
}

/* The order of the checks decides which error is returned if there are several. */
static int check_put(pnc_dataset *ds, int varid, const pnc_new_att *att)
{
    char *normal = NULL;
    int err;

    PNC_TRY(pnc_dataset_mode_check_write(ds));
    if (pnc_format_atts_get(&ds->model, varid) == NULL)
        return pnc_format_var_reject(&ds->model, varid, &ds->error);
    if (varid == NC_GLOBAL)
        err = pnc_format_path_normalise(&ds->model, att->name, &normal, &ds->error);
    else
        err = pnc_name_normalise(att->name, &normal, &ds->error);
    pnc_memory_free(normal);
    PNC_TRY(err);
    PNC_TRY(pnc_format_att_name_check(pnc_format_model_get_rules(&ds->model), att->name, &ds->error));
    PNC_TRY(check_type(ds, varid, att));
    PNC_TRY(check_values(ds, varid, att));
    PNC_TRY(check_fill_value(ds, varid, att));
    return ds->mode == PNC_DEFINE ? NC_NOERR : check_old(ds, varid, att);
}

static int convert_value(pnc_dataset *ds, const pnc_new_att *att, new_value *value)
{
    int64_t size = (int64_t)pnc_type_get_size(value->xtype);
    pnc_encoding encoding = pnc_format_model_get_encoding(&ds->model);
    unsigned char fill[8];
    pnc_kernel kernel;

    value->bytes = pnc_memory_alloc(value->len, (size_t)size);
    if (value->bytes == NULL)
        return pnc_error_set(&ds->error, NC_ENOMEM, "no memory for %lld elements of attribute \"%s\"",
                             (long long)value->len, att->name);
    pnc_convert_fill_get_external(value->xtype, encoding, fill);
    kernel = pnc_convert_kernel_find(PNC_PUT, value->xtype, att->mem, encoding, NULL);
    value->status = kernel(value->bytes, att->values, value->len, encoding.casts ? NULL : fill);
    return NC_NOERR;
}

/* Put the bytes into the model, and in data mode into the file. */
static int store_attribute(pnc_dataset *ds, int varid, const char *name, const new_value *value)
{
    pnc_atts *atts = pnc_format_atts_get(&ds->model, varid);
    pnc_format_change change = {.entry = {-1, varid, find_index(ds, varid, name)},
                                .type = value->xtype,
                                .len = value->len,
                                .value = value->bytes,
                                .strings = value->strings};

    if (ds->mode != PNC_DEFINE) {
        PNC_TRY(pnc_dataset_deferred_write(ds));
        return ds->format->ops->change(ds->format, &change);
    }
    if (value->strings.lengths != NULL)
        return pnc_format_atts_put_strings(&ds->model, atts, name, &value->strings, value->bytes, &ds->error);
    return pnc_format_atts_put(&ds->model, atts, name, value->xtype, value->len, value->bytes, &ds->error);
}

static int agree_attribute(pnc_dataset *ds, int err, int varid, const char *name, const new_value *value)
{
    int64_t bytes = value->bytes == NULL ? 0 : value->len * (int64_t)pnc_type_get_size(value->xtype);
    int xtype = value->strings.lengths != NULL ? NC_STRING : value->xtype;
    pnc_argument args[] = {
        {NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid},
        {NC_EMULTIDEFINE_ATTR_NAME, name, name == NULL ? 0 : (int64_t)strlen(name)},
        {NC_EMULTIDEFINE_ATTR_TYPE, &xtype, sizeof xtype},
        {NC_EMULTIDEFINE_ATTR_LEN, &value->len, sizeof value->len},
        {NC_EMULTIDEFINE_ATTR_LEN, value->strings.lengths, value->strings.n * (int64_t)sizeof *value->strings.lengths},
        {NC_EMULTIDEFINE_ATTR_VAL, value->bytes, bytes}};

    return pnc_dataset_arguments_agree(ds, err, args, 6, ds->mode == PNC_DEFINE ? PNC_STAYS_LOCAL : PNC_CHANGES_HEADER);
}

static int fail_range(pnc_dataset *ds, int varid, const char *name, const char *type, pnc_misfits found)
{
    return pnc_error_set(&ds->error, NC_ERANGE,
                         "attribute \"%s\": %lld value%s do%s not fit type %s and %s; the first one is %s, at index "
                         "%lld",
                         label_of(ds, varid, name).text, (long long)found.n, found.n == 1 ? "" : "s",
                         found.n == 1 ? "es" : "", type,
                         ds->model.casts ? "became other numbers" : "became the fill value", found.value.text,
                         (long long)pnc_error_get_index(&ds->error, found.first));
}

/* err: the result so far of this rank. */
static int put_and_agree(pnc_dataset *ds, int err, int varid, const pnc_new_att *att)
{
    new_value value = {att->xtype, att->len, NULL, NC_NOERR, att->strings};

    if (err == NC_NOERR)
        err = check_put(ds, varid, att);
    /* one kind for all memory types: ranks with different ones compare what they have made of the values */
    ds->file.call.kind = pnc_file_kind_compute("ncmpi_put_att", "", 0);
    if (err == NC_NOERR)
        err = convert_value(ds, att, &value);
    err = agree_attribute(ds, err, varid, att->name, &value);
    if (err == NC_NOERR)
        err = store_attribute(ds, varid, att->name, &value);
    if (err == NC_NOERR && value.status != NC_NOERR)
        err = fail_range(ds, varid, att->name, pnc_type_get_name(att->xtype),
                         pnc_convert_misfits_find(PNC_PUT, att->xtype, att->mem,
                                                  pnc_format_model_get_encoding(&ds->model), att->values, att->len));
    pnc_memory_free(value.bytes);
    return err;
}

int pnc_dataset_attribute_put(pnc_dataset *ds, int varid, const pnc_new_att *att)
{
    return put_and_agree(ds, NC_NOERR, varid, att);
}

int pnc_dataset_put_att(pnc_dataset *ds, int varid, const char *name, nc_type xtype, MPI_Offset nelems,
                        const void *value)
{
    /* the callee rejects an invalid xtype, whatever memory type goes with it */
    pnc_mem_type mem = pnc_type_is_valid(xtype, 5) ? pnc_type_get_mem_type(xtype) : PNC_SCHAR;

    if (xtype == NC_STRING && pnc_error_get_language(&ds->error) == PNC_LANGUAGE_C) /* Fortran has no pointers */
        return pnc_dataset_put_att_string(ds, varid, name, nelems, value);
    return pnc_dataset_attribute_put(ds, varid, &(pnc_new_att){name, xtype, nelems, value, mem, {0}});
}

/* Strings to one text. For wrong arguments the put has no values, and rejects the same ones. */
int pnc_dataset_put_att_string(pnc_dataset *ds, int varid, const char *name, MPI_Offset nelems,
                               const char *const *strings)
{
    static const int64_t none;
    bool is_valid = nelems >= 0 && nelems <= INT32_MAX && (nelems == 0 || strings != NULL);
    pnc_new_att att = {name, NC_CHAR, nelems, NULL, PNC_TEXT, {0, &none}};
    int64_t *lengths = is_valid ? pnc_memory_alloc(nelems, sizeof *lengths) : NULL;
    char *text = NULL;
    int err = NC_NOERR;

    if (lengths != NULL) {
        att.len = pnc_format_strings_join(strings, nelems, lengths, NULL);
        text = pnc_memory_alloc(att.len, 1);
    }
    if (text != NULL) {
        (void)pnc_format_strings_join(strings, nelems, lengths, text);
        att.values = text;
        att.strings = (pnc_strings){nelems, lengths};
    } else if (is_valid) {
        err = pnc_error_set(&ds->error, NC_ENOMEM, "no memory for %lld strings of an attribute", (long long)nelems);
    }
    err = put_and_agree(ds, err, varid, &att);
    pnc_memory_free(text);
    pnc_memory_free(lengths);
    return err;
}

int pnc_dataset_attribute_get(pnc_dataset *ds, int varid, const char *name, pnc_mem_type mem, void *ip)
{
    pnc_atts *atts;
    const pnc_att *att;
    pnc_encoding encoding = pnc_format_model_get_encoding(&ds->model);
    pnc_kernel kernel;
    unsigned char fill[8];
    int index, err;

    PNC_TRY(pnc_dataset_attribute_find(ds, varid, name, &atts, &index));
    att = atts->at[index];
    if (att->len == 0) /* before the check of types: without values, text and numbers are the same */
        return NC_NOERR;
    if ((mem == PNC_TEXT) != (att->type == NC_CHAR))
        return pnc_error_set(&ds->error, NC_ECHAR,
                             "attribute \"%s\" has type %s: NC_CHAR values are only accessed "
                             "through the text functions",
                             label_of(ds, varid, name).text, pnc_type_get_name(att->type));
    if (ip == NULL)
        return pnc_error_set(&ds->error, NC_EINVAL, "attribute \"%s\": the buffer is NULL",
                             label_of(ds, varid, name).text);
    pnc_convert_fill_get_memory(mem, fill);
    kernel = pnc_convert_kernel_find(PNC_GET, att->type, mem, encoding, NULL);
    err = kernel(ip, att->value, att->len, encoding.casts ? NULL : fill);
    if (err != NC_NOERR)
        fail_range(ds, varid, name, pnc_mem_type_get_name(mem),
                   pnc_convert_misfits_find(PNC_GET, att->type, mem, encoding, att->value, att->len));
    return err;
}

int pnc_dataset_get_att(pnc_dataset *ds, int varid, const char *name, void *value)
{
    pnc_atts *atts;
    int index;

    PNC_TRY(pnc_dataset_attribute_find(ds, varid, name, &atts, &index));
    return pnc_dataset_attribute_get(ds, varid, name, pnc_type_get_mem_type(atts->at[index]->type), value);
}

int pnc_dataset_inq_att_string(pnc_dataset *ds, int varid, const char *name, MPI_Offset *nstrings)
{
    pnc_atts *atts;
    int index;

    PNC_TRY(pnc_dataset_attribute_find(ds, varid, name, &atts, &index));
    if (nstrings != NULL)
        *nstrings = atts->at[index]->strings.lengths != NULL ? atts->at[index]->strings.n : -1;
    return NC_NOERR;
}

static int give_strings(pnc_dataset *ds, const pnc_att *att, char **out)
{
    const char *text = att->value;

    for (int64_t i = 0; i < att->strings.n; i++) {
        int64_t own = att->strings.lengths[i];

        out[i] = own >= 0 ? pnc_memory_alloc(own + 1, 1) : NULL;
        if (own >= 0 && out[i] == NULL) {
            for (int64_t k = 0; k < i; k++)
                pnc_memory_free(out[k]);
            return pnc_error_set(&ds->error, NC_ENOMEM, "no memory for %lld strings of attribute \"%s\"",
                                 (long long)att->strings.n, att->name);
        }
        own = own >= 0 ? own : 0;
        if (own > 0)
            memcpy(out[i], text, (size_t)own);
        if (out[i] != NULL)
            out[i][own] = '\0';
        text = text != NULL ? text + own + 1 : NULL;
    }
    return NC_NOERR;
}

int pnc_dataset_get_att_string(pnc_dataset *ds, int varid, const char *name, char **strings)
{
    const pnc_att *att;
    pnc_atts *atts;
    int index;

    PNC_TRY(pnc_dataset_attribute_find(ds, varid, name, &atts, &index));
    att = atts->at[index];
    if (att->strings.lengths == NULL)
        return pnc_error_set(&ds->error, NC_EBADTYPE, "attribute \"%s\" has type %s, and no strings: see ncmpi_inq_att",
                             label_of(ds, varid, name).text, pnc_type_get_name(att->type));
    if (att->strings.n > 0 && strings == NULL)
        return pnc_error_set(&ds->error, NC_EINVAL, "attribute \"%s\": the buffer is NULL",
                             label_of(ds, varid, name).text);
    return give_strings(ds, att, strings);
}

/* Find the attribute to copy. */
static int find_source(const pnc_att_copy *copy, const pnc_att **att)
{
    pnc_dataset *from = copy->from, *to = copy->to;
    pnc_atts *atts;
    int index;

    PNC_TRY(pnc_dataset_mode_check_write(to));
    if (pnc_format_atts_get(&from->model, copy->varid_in) != NULL &&
        pnc_format_atts_get(&to->model, copy->varid_out) == NULL)
        return pnc_format_var_reject(&to->model, copy->varid_out, &to->error);
    if (pnc_dataset_attribute_find(from, copy->varid_in, copy->name, &atts, &index) != NC_NOERR)
        return pnc_error_set(&to->error, from->error.code, "%s", from->error.text);
    *att = atts->at[index];
    return NC_NOERR;
}

/* Where the datasets store values in different byte orders: *reordered has those of the other one. */
static int reorder_value(const pnc_att_copy *copy, const pnc_att *att, new_value *value, void **reordered)
{
    pnc_mem_type mem = pnc_type_get_mem_type(att->type);
    pnc_encoding encoding = pnc_format_model_get_encoding(&copy->from->model);
    void *values;
    int err;

    if (encoding.little == copy->to->model.little || att->len == 0)
        return NC_NOERR;
    values = pnc_memory_alloc(att->len, pnc_mem_type_get_size(mem));
    if (values == NULL)
        return pnc_error_set(&copy->to->error, NC_ENOMEM, "no memory for %lld elements of attribute \"%s\"",
                             (long long)att->len, copy->name);
    pnc_convert_kernel_find(PNC_GET, att->type, mem, encoding, NULL)(values, att->value, att->len, NULL);
    err = convert_value(copy->to, &(pnc_new_att){copy->name, att->type, att->len, values, mem, {0}}, value);
    pnc_memory_free(values);
    *reordered = value->bytes;
    return err;
}

int pnc_dataset_attribute_copy(const pnc_att_copy *copy)
{
    bool onto_itself = copy->from == copy->to && copy->varid_in == copy->varid_out; /* changes nothing */
    new_value value = {NC_CHAR, 0, NULL, NC_NOERR, {0}};
    const pnc_att *att = NULL;
    void *reordered = NULL;
    int err = find_source(copy, &att);

    if (err == NC_NOERR) { /* strings become one text where there are no strings */
        value = (new_value){att->type, att->len, att->value, NC_NOERR, {0}};
        if (pnc_format_model_get_rules(&copy->to->model)->is_enhanced)
            value.strings = att->strings;
    }
    if (err == NC_NOERR && !onto_itself) { /* the checks of a put; no values are not a NULL buffer */
        const void *values = att->len > 0 ? att->value : "";
        pnc_new_att put = {copy->name, att->type, att->len, values, pnc_type_get_mem_type(att->type), value.strings};

        err = check_put(copy->to, copy->varid_out, &put);
        if (err == NC_NOERR)
            err = reorder_value(copy, att, &value, &reordered);
    }
    err = agree_attribute(copy->to, err, copy->varid_out, copy->name, &value);
    if (err == NC_NOERR && !onto_itself)
        err = store_attribute(copy->to, copy->varid_out, copy->name, &value);
    pnc_memory_free(reordered);
    return err;
}

int pnc_dataset_del_att(pnc_dataset *ds, int varid, const char *name)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid},
                           {NC_EMULTIDEFINE_ATTR_NAME, name, name == NULL ? 0 : (int64_t)strlen(name)}};
    pnc_atts *atts = NULL;
    int index = -1, err = pnc_dataset_mode_check_define_write(ds);

    if (err == NC_NOERR)
        err = pnc_dataset_attribute_find(ds, varid, name, &atts, &index);
    err = pnc_dataset_arguments_agree(ds, err, args, 2, PNC_STAYS_LOCAL);
    return err != NC_NOERR ? err : pnc_format_atts_delete(atts, index);
}
