/* Attributes: converted between memory and external types, and stored in the header. */
#include "dataset/attribute.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "convert/convert.h"
#include "dataset/agree.h"
#include "dataset/headerio.h"
#include "dataset/modes.h"
#include "format/codec.h"

typedef struct new_value {
    int xtype;
    int64_t len;
    void *bytes; /* external */
    int status;  /* NC_NOERR or NC_ERANGE */
} new_value;

static bool is_fill_value(int varid, const char *name)
{
    return varid != NC_GLOBAL && strcmp(name, NC_FillValue) == 0;
}

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

/* The order of the checks decides which error is returned if there are several. */
static int check_put(pnc_dataset *ds, int varid, const char *name, nc_type xtype, int64_t len, const void *op,
                     pnc_mem_type mem)
{
    char *normal = NULL;
    int err = pnc_dataset_mode_check_write(ds);

    if (err != NC_NOERR)
        return err;
    if (pnc_format_atts_get(&ds->model, varid) == NULL)
        return pnc_format_var_reject(&ds->model, varid, &ds->error);
    err = pnc_name_normalise(name, &normal, &ds->error);
    pnc_memory_free(normal);
    if (err != NC_NOERR)
        return err;
    label l = label_of(ds, varid, name);
    if (!pnc_type_is_valid(xtype, 5))
        return pnc_error_set(&ds->error, NC_EBADTYPE, "attribute \"%s\": xtype is %d: must be an external type", l.text,
                             xtype);
    if (!pnc_type_is_valid(xtype, ds->model.format))
        return pnc_error_set(&ds->error, NC_ESTRICTCDF2,
                             "attribute \"%s\": type %s requires a CDF-5 file "
                             "(NC_64BIT_DATA), but %s is CDF-%d",
                             l.text, pnc_type_get_name(xtype), ds->file.path, ds->model.format);
    if ((mem == PNC_TEXT) != (xtype == NC_CHAR))
        return pnc_error_set(&ds->error, NC_ECHAR,
                             "attribute \"%s\" of type %s: NC_CHAR values are only accessed "
                             "through the text functions",
                             l.text, pnc_type_get_name(xtype));
    if (len < 0)
        return pnc_error_set(&ds->error, NC_EINVAL, "attribute \"%s\": len is %lld: must not be negative", l.text,
                             (long long)len);
    if (len > 0 && op == NULL)
        return pnc_error_set(&ds->error, NC_EINVAL, "attribute \"%s\": the buffer is NULL, but len is %lld", l.text,
                             (long long)len);
    if (len > (ds->model.format < 5 ? INT32_MAX : INT64_MAX / 16))
        return pnc_error_set(&ds->error, NC_EINVAL, "attribute \"%s\": len is %lld: too large for CDF-%d", l.text,
                             (long long)len, ds->model.format);
    return NC_NOERR;
}

static int check_fill_value(pnc_dataset *ds, int varid, nc_type xtype, int64_t len)
{
    const pnc_var *var = ds->model.vars[varid];

    if (xtype != var->type)
        return pnc_error_set(&ds->error, NC_EBADTYPE,
                             "attribute \"%s:_FillValue\" has type %s: must be %s, as the "
                             "variable",
                             var->name, pnc_type_get_name(xtype), pnc_type_get_name(var->type));
    if (len != 1)
        return pnc_error_set(&ds->error, NC_EINVAL, "attribute \"%s:_FillValue\" has length %lld: must be 1", var->name,
                             (long long)len);
    if (ds->mode == PNC_DEFINE && ds->before != NULL && varid < ds->before->nvars)
        return pnc_error_set(&ds->error, NC_ELATEFILL,
                             "variable \"%s\" existed before ncmpi_redef: its fill value "
                             "cannot change any more",
                             var->name);
    return NC_NOERR;
}

static int64_t padded(int64_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

/* In data mode the header must not grow. */
static int check_size(pnc_dataset *ds, const pnc_atts *atts, int varid, const char *name, int xtype, int64_t len)
{
    int index = pnc_format_atts_find(atts, name);

    if (ds->mode == PNC_DEFINE)
        return NC_NOERR;
    if (index < 0)
        return pnc_error_set(&ds->error, NC_ENOTINDEFINE, "attribute \"%s\" is new: call ncmpi_redef first",
                             label_of(ds, varid, name).text);
    if (padded(len * (int64_t)pnc_type_get_size(xtype)) >
        padded(atts->at[index]->len * (int64_t)pnc_type_get_size(atts->at[index]->type)))
        return pnc_error_set(&ds->error, NC_ENOTINDEFINE, "attribute \"%s\" would grow: call ncmpi_redef first",
                             label_of(ds, varid, name).text);
    return NC_NOERR;
}

static int convert_value(pnc_dataset *ds, const char *name, const void *op, pnc_mem_type mem, new_value *value)
{
    int64_t size = (int64_t)pnc_type_get_size(value->xtype);
    unsigned char fill[8];
    pnc_kernel kernel;
    bool same;

    value->bytes = pnc_memory_alloc(value->len, (size_t)size);
    if (value->bytes == NULL)
        return pnc_error_set(&ds->error, NC_ENOMEM, "no memory for %lld elements of attribute \"%s\"",
                             (long long)value->len, name);
    pnc_convert_fill_get_external(value->xtype, fill);
    kernel = pnc_convert_kernel_find(PNC_PUT, value->xtype, mem, ds->model.format, &same);
    value->status = kernel(value->bytes, op, value->len, fill);
    return NC_NOERR;
}

/* Put external bytes into the model, and in data mode into the file. */
static int store_attribute(pnc_dataset *ds, pnc_atts *atts, const char *name, const new_value *value)
{
    int index = pnc_format_atts_find(atts, name), err;
    int64_t old_bytes = index < 0 ? 0 : pnc_format_att_encode(&ds->model, atts->at[index], NULL);

    err = pnc_format_atts_put(atts, name, value->xtype, value->len, value->bytes, &ds->error);
    if (err == NC_NOERR && ds->mode != PNC_DEFINE)
        err = pnc_dataset_header_update(ds, (pnc_extent){atts->at[index]->where, old_bytes}, NULL, atts->at[index]);
    return err;
}

static int agree_attribute(pnc_dataset *ds, int err, int varid, const char *name, const new_value *value)
{
    int64_t bytes = value->bytes == NULL ? 0 : value->len * (int64_t)pnc_type_get_size(value->xtype);
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid},
                           {NC_EMULTIDEFINE_ATTR_NAME, name, name == NULL ? 0 : (int64_t)strlen(name)},
                           {NC_EMULTIDEFINE_ATTR_TYPE, &value->xtype, sizeof value->xtype},
                           {NC_EMULTIDEFINE_ATTR_LEN, &value->len, sizeof value->len},
                           {NC_EMULTIDEFINE_ATTR_VAL, value->bytes, bytes}};

    return pnc_dataset_arguments_agree(ds, err, args, 5, ds->mode == PNC_DEFINE ? PNC_STAYS_LOCAL : PNC_CHANGES_HEADER);
}

int pnc_dataset_attribute_put(pnc_dataset *ds, int varid, const char *name, nc_type xtype, int64_t len, const void *op,
                              pnc_mem_type mem)
{
    new_value value = {xtype, len, NULL, NC_NOERR};
    pnc_atts *atts = pnc_format_atts_get(&ds->model, varid);
    int err = check_put(ds, varid, name, xtype, len, op, mem);

    if (err == NC_NOERR && is_fill_value(varid, name))
        err = check_fill_value(ds, varid, xtype, len);
    if (err == NC_NOERR)
        err = check_size(ds, atts, varid, name, xtype, len);
    if (err == NC_NOERR)
        err = convert_value(ds, name, op, mem, &value);
    err = agree_attribute(ds, err, varid, name, &value);
    if (err == NC_NOERR)
        err = store_attribute(ds, atts, name, &value);
    if (err == NC_NOERR && value.status != NC_NOERR)
        err = pnc_error_set(&ds->error, NC_ERANGE,
                            "attribute \"%s\": some values are out of range for type %s, the fill value is stored",
                            label_of(ds, varid, name).text, pnc_type_get_name(xtype));
    pnc_memory_free(value.bytes);
    return err;
}

int pnc_dataset_put_att(pnc_dataset *ds, int varid, const char *name, nc_type xtype, MPI_Offset nelems,
                        const void *value)
{
    /* the callee rejects an invalid xtype, whatever memory type goes with it */
    return pnc_dataset_attribute_put(ds, varid, name, xtype, nelems, value,
                                     pnc_type_is_valid(xtype, 5) ? pnc_type_get_mem_type(xtype) : PNC_SCHAR);
}

int pnc_dataset_attribute_get(pnc_dataset *ds, int varid, const char *name, void *ip, pnc_mem_type mem)
{
    pnc_atts *atts;
    const pnc_att *att;
    unsigned char fill[8];
    bool same;
    int index, err = pnc_dataset_att_find(ds, varid, name, &atts, &index);

    if (err != NC_NOERR)
        return err;
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
    err = pnc_convert_kernel_find(PNC_GET, att->type, mem, ds->model.format, &same)(ip, att->value, att->len, fill);
    if (err != NC_NOERR)
        pnc_error_set(&ds->error, err, "attribute \"%s\": some values are out of range for type %s in memory",
                      label_of(ds, varid, name).text, pnc_mem_type_get_name(mem));
    return err;
}

int pnc_dataset_get_att(pnc_dataset *ds, int varid, const char *name, void *value)
{
    pnc_atts *atts;
    int index, err = pnc_dataset_att_find(ds, varid, name, &atts, &index);

    return err != NC_NOERR
               ? err
               : pnc_dataset_attribute_get(ds, varid, name, value, pnc_type_get_mem_type(atts->at[index]->type));
}

int pnc_dataset_attribute_copy(pnc_dataset *from, int varid_in, const char *name, pnc_dataset *to, int varid_out)
{
    pnc_atts *source, *target;
    new_value value = {NC_CHAR, 0, NULL, NC_NOERR};
    bool onto_itself = from == to && varid_in == varid_out; /* changes nothing */
    int index, err = pnc_dataset_mode_check_write(to);

    if (err == NC_NOERR && pnc_format_atts_get(&from->model, varid_in) != NULL &&
        pnc_format_atts_get(&to->model, varid_out) == NULL)
        err = pnc_format_var_reject(&to->model, varid_out, &to->error);
    if (err == NC_NOERR && pnc_dataset_att_find(from, varid_in, name, &source, &index) != NC_NOERR)
        err = pnc_error_set(&to->error, from->error.code, "%s", from->error.text);
    if (err == NC_NOERR) {
        const pnc_att *att = source->at[index];

        value.xtype = att->type;
        value.len = att->len;
        value.bytes = att->value;
        /* the checks of a put, but for a NULL buffer */
        if (!onto_itself)
            err = check_put(to, varid_out, name, att->type, att->len, att->len > 0 ? att->value : "",
                            pnc_type_get_mem_type(att->type));
    }
    target = pnc_format_atts_get(&to->model, varid_out);
    if (err == NC_NOERR && !onto_itself && is_fill_value(varid_out, name))
        err = check_fill_value(to, varid_out, value.xtype, value.len);
    if (err == NC_NOERR)
        err = check_size(to, target, varid_out, name, value.xtype, value.len);
    err = agree_attribute(to, err, varid_out, name, &value);
    return err != NC_NOERR || onto_itself ? err : store_attribute(to, target, name, &value);
}

int pnc_dataset_del_att(pnc_dataset *ds, int varid, const char *name)
{
    pnc_atts *atts = NULL;
    int index = -1, err = pnc_dataset_mode_check_define_write(ds);

    if (err == NC_NOERR)
        err = pnc_dataset_att_find(ds, varid, name, &atts, &index);
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid},
                           {NC_EMULTIDEFINE_ATTR_NAME, name, name == NULL ? 0 : (int64_t)strlen(name)}};
    err = pnc_dataset_arguments_agree(ds, err, args, 2, PNC_STAYS_LOCAL);
    return err != NC_NOERR ? err : pnc_format_atts_delete(atts, index);
}
