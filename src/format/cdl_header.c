/* Dimensions, variables and attributes in CDL: add them to the model. */
#include "format/cdl_reader.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "format/entries.h"
#include "format/layout.h"

static int type_of_name(const char *name)
{
    static const struct {
        const char *name;
        int type;
    } synonyms[] = {
        {"integer", NC_INT},
        {"long", NC_INT},
        {"real", NC_FLOAT},
    };

    for (int type = NC_BYTE; type <= NC_UINT64; type++)
        if (strcmp(name, pnc_type_get_name(type)) == 0)
            return type;
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(name, synonyms[i].name) == 0)
            return synonyms[i].type;
    return 0;
}

static int fail_unknown_type(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name)
{
    return pnc_format_cdl_fail(reader, at, NC_EBADTYPE,
                               "\"%s\" is not a type of %s byte, "
                               "char, short, int, float, double, ubyte, ushort, uint, int64, uint64",
                               name,
                               reader->netcdf4 != 0 ? "this reader, which has" : "the classic formats, which are");
}

static int fail_unknown_variable(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name)
{
    return pnc_format_cdl_fail(reader, at, NC_ENOTVAR, "no variable \"%s\" is defined above", name);
}

/* --- dimensions --- */

int pnc_format_cdl_dim_read_length(pnc_cdl_reader *reader, pnc_cdl_position at, const pnc_cdl_number *number,
                                   int64_t *len)
{
    if (number->real || number->negative || number->value.magnitude == 0 || number->value.magnitude > INT64_MAX)
        return pnc_format_cdl_fail(reader, at, NC_EDIMSIZE,
                                   "the length of a dimension is a positive integer, or "
                                   "UNLIMITED");
    *len = (int64_t)number->value.magnitude;
    return NC_NOERR;
}

int pnc_format_cdl_dim_add(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name, int64_t len)
{
    pnc_error why = {0};

    if (reader->section != PNC_CDL_DIMENSIONS)
        return pnc_format_cdl_fail(reader, at, NC_ENOTNC,
                                   "a dimension is defined without \"dimensions:\" "
                                   "before it");
    return pnc_format_cdl_fail_refused(reader, at, pnc_format_dim_add(reader->model, name, len, &why), &why);
}

/* --- variables --- */

int pnc_format_cdl_vars_begin(pnc_cdl_reader *reader, pnc_cdl_position at, const char *type_name)
{
    reader->var_type = type_of_name(type_name);
    reader->ndims = 0;
    if (reader->var_type == 0)
        return fail_unknown_type(reader, at, type_name);
    if (reader->section != PNC_CDL_VARIABLES)
        return pnc_format_cdl_fail(reader, at, NC_ENOTNC, "a variable is defined without \"variables:\" before it");
    return NC_NOERR;
}

int pnc_format_cdl_dimid_add(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name)
{
    int n = reader->ndims, dimid = pnc_format_dim_find(reader->model, name);

    if (dimid < 0)
        return pnc_format_cdl_fail(reader, at, NC_EBADDIM, "no dimension \"%s\" is defined above", name);
    if (n == INT_MAX ||
        !pnc_memory_grow(&reader->dimids, &reader->dimids_capacity, (int64_t)n + 1, sizeof *reader->dimids))
        return pnc_format_cdl_fail_memory(reader);
    reader->dimids[n] = dimid;
    reader->ndims++;
    return NC_NOERR;
}

int pnc_format_cdl_var_add(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name)
{
    pnc_error why = {0};
    int err = pnc_format_var_add(reader->model, name, reader->var_type, reader->ndims, reader->dimids, &why);

    reader->ndims = 0;
    return pnc_format_cdl_fail_refused(reader, at, err, &why);
}

/* --- attributes --- */

/* Set the owner of the attribute (a variable or the file), and its type, or 0. */
static int set_owner_and_type(pnc_cdl_reader *reader, pnc_cdl_word type, pnc_cdl_word owner)
{
    reader->att_varid = NC_GLOBAL;
    reader->att_type = type.text != NULL ? type_of_name(type.text) : 0;
    if (type.text != NULL && reader->att_type == 0)
        return fail_unknown_type(reader, type.at, type.text);
    if (owner.text == NULL)
        return NC_NOERR;
    reader->att_varid = pnc_format_var_find(reader->model, owner.text);
    if (reader->att_varid >= 0)
        return NC_NOERR;
    reader->att_varid = NC_GLOBAL;
    if (type.text == NULL) /* a type without a variable: an attribute of the file */
        reader->att_type = type_of_name(owner.text);
    if (reader->att_type != 0 && type.text == NULL)
        return NC_NOERR;
    if (strcmp(owner.text, "string") == 0)
        return fail_unknown_type(reader, owner.at, owner.text);
    return fail_unknown_variable(reader, owner.at, owner.text);
}

int pnc_format_cdl_att_begin(pnc_cdl_reader *reader, pnc_cdl_word type, pnc_cdl_word owner, pnc_cdl_position at,
                             char *name)
{
    int err = set_owner_and_type(reader, type, owner);

    pnc_memory_free(reader->att_name);
    reader->att_name = name;
    reader->att_position = at;
    reader->att_typed = reader->att_type != 0;
    reader->att_text = reader->att_given = false;
    reader->text.n = reader->items.n = 0;
    return err;
}

/* A single number without type and suffix is converted to the variable's type, if it fits. NaN keeps its type: other
 * libraries write it as a double for a float variable, and a copy by way of a dump must be identical. */
static void adapt_fill(pnc_cdl_reader *reader, int64_t len)
{
    const pnc_cdl_item *item = (const pnc_cdl_item *)(const void *)reader->items.at;
    int type = reader->att_varid != NC_GLOBAL ? reader->model->vars[reader->att_varid]->type : NC_CHAR;
    char bytes[8];

    if (len == 1 && !reader->att_typed && type != NC_CHAR && strcmp(reader->att_name, "_FillValue") == 0 &&
        (item->number.type == NC_INT || item->number.type == NC_DOUBLE) &&
        !(item->number.real && isnan(item->number.value.real)) &&
        pnc_format_cdl_number_encode(&item->number, type, bytes))
        reader->att_type = type;
}

/* Replace the numbers by their external bytes, in the buffer of texts. */
static int store_items(pnc_cdl_reader *reader)
{
    const int64_t n = reader->items.n / (int64_t)sizeof(pnc_cdl_item);
    const pnc_cdl_item *items = (const pnc_cdl_item *)(const void *)reader->items.at;

    adapt_fill(reader, n);
    for (int64_t i = 0; i < n; i++) {
        int type = reader->att_type;
        char bytes[8];
        PNC_TRY(pnc_format_cdl_number_store(reader, items[i].position, &items[i].number, type, bytes));
        PNC_TRY(pnc_format_cdl_bytes_append(reader, &reader->text, bytes, (int64_t)pnc_type_get_size(type)));
    }
    return NC_NOERR;
}

int pnc_format_cdl_att_end(pnc_cdl_reader *reader)
{
    pnc_error why = {0};
    int err;

    if (!reader->att_given && !reader->att_typed)
        reader->att_type = NC_CHAR;
    if (pnc_format_cdl_special_is(reader))
        return pnc_format_cdl_special_keep(reader);
    if (!pnc_type_is_valid(reader->att_type, reader->model->format))
        return pnc_format_cdl_fail(reader, reader->att_position, NC_ESTRICTCDF2,
                                   "attribute \"%s\" is of type %s, which "
                                   "exists in CDF-5 only, and the file format is CDF-%d",
                                   reader->att_name, pnc_type_get_name(reader->att_type), reader->model->format);
    PNC_TRY(store_items(reader));
    /* The dumping tools drop null characters at the end of a text: an empty _FillValue was one null character. */
    if (reader->att_varid != NC_GLOBAL && strcmp(reader->att_name, "_FillValue") == 0 &&
        reader->model->vars[reader->att_varid]->type == NC_CHAR && reader->att_type == NC_CHAR && reader->text.n == 0)
        PNC_TRY(pnc_format_cdl_bytes_append(reader, &reader->text, "", 1));
    err = pnc_format_atts_put(reader->model, pnc_format_atts_get(reader->model, reader->att_varid), reader->att_name,
                              reader->att_type, reader->text.n / (int64_t)pnc_type_get_size(reader->att_type),
                              reader->text.at, &why);
    return pnc_format_cdl_fail_refused(reader, reader->att_position, err, &why);
}

/* --- the end --- */

static bool format_holds(pnc_model *model, int format, pnc_error *error)
{
    model->format = format;
    for (int i = 0; i < model->ndims; i++)
        if (model->dims[i]->len > pnc_format_dim_get_max_length(format))
            return false;
    for (int v = NC_GLOBAL; v < model->nvars; v++) {
        const pnc_atts *atts = pnc_format_atts_get(model, v);
        for (int i = 0; i < atts->n; i++)
            if (!pnc_type_is_valid(atts->at[i]->type, format))
                return false;
        if (v != NC_GLOBAL && !pnc_type_is_valid(model->vars[v]->type, format))
            return false;
    }
    return pnc_format_layout_compute(model, NULL, NULL, error) == NC_NOERR;
}

/* Choose a format if the text has none. What exceeds CDF-5 too is reported when the file is created. */
static void choose_format(pnc_model *model)
{
    if (!format_holds(model, NC_FORMAT_CLASSIC, NULL) && !format_holds(model, NC_FORMAT_CDF2, NULL))
        model->format = NC_FORMAT_CDF5;
}

int pnc_format_cdl_header_end(pnc_cdl_reader *reader, pnc_cdl_position at)
{
    pnc_model *model = reader->model;
    pnc_error why = {0};

    if (!reader->format_known)
        choose_format(model);
    reader->in_data = true;
    if (reader->sink == NULL)
        return NC_NOERR;
    if (reader->netcdf4 != 0)
        PNC_TRY(pnc_format_cdl_specials_apply(reader));
    if (!format_holds(model, model->format, &why))
        return pnc_format_cdl_fail(reader, at, why.code != NC_NOERR ? why.code : NC_ESTRICTCDF2,
                                   "CDF-%d cannot hold this: %s", model->format,
                                   why.code != NC_NOERR ? why.text : "it has types or lengths of CDF-5");
    if (reader->netcdf4 != 0)
        model->format = reader->netcdf4;
    if (reader->sink->header == NULL)
        return NC_NOERR;
    return pnc_format_cdl_fail_refused(reader, at, reader->sink->header(reader->sink->with, model, reader->name, &why),
                                       &why);
}
