/* Define mode: dimensions, variables, names and fill modes. The model checks the rules of the format; this file checks
 * modes, compares the arguments of ranks, and writes changes to the file in data mode. */
#include "dataset/dataset.h"

#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "convert/convert.h"
#include "dataset/agree.h"
#include "dataset/attribute.h"
#include "dataset/deferred.h"
#include "dataset/modes.h"
#include "format/groups.h"
#include "format/storage.h"
#include "format/strings.h"

static int64_t text_length(const char *text)
{
    return text == NULL ? 0 : (int64_t)strlen(text);
}

int pnc_dataset_def_dim(pnc_dataset *ds, const char *name, MPI_Offset len, int *idp)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_DIM_NAME, name, text_length(name)},
                           {NC_EMULTIDEFINE_DIM_SIZE, &len, sizeof len}};
    int id = ds->model.ndims, err = pnc_dataset_mode_check_define_write(ds);

    PNC_TRY(pnc_dataset_arguments_agree(ds, err, args, 2, PNC_STAYS_LOCAL));
    PNC_TRY(pnc_format_dim_add(&ds->model, name, len, &ds->error));
    if (idp != NULL)
        *idp = id;
    return NC_NOERR;
}

int pnc_dataset_def_var(pnc_dataset *ds, const char *name, nc_type xtype, int ndims, const int *dimids, int *varidp)
{
    int known = ndims > 0 && ndims <= PNC_VAR_DIMS_MAX && dimids != NULL ? ndims : 0; /* readable dimids */
    pnc_argument args[] = {{NC_EMULTIDEFINE_VAR_NAME, name, text_length(name)},
                           {NC_EMULTIDEFINE_VAR_TYPE, &xtype, sizeof xtype},
                           {NC_EMULTIDEFINE_VAR_NDIMS, &ndims, sizeof ndims},
                           {NC_EMULTIDEFINE_VAR_DIMIDS, dimids, known * (int64_t)sizeof *dimids}};
    int id = ds->model.nvars, err = pnc_dataset_mode_check_define_write(ds);

    PNC_TRY(pnc_dataset_arguments_agree(ds, err, args, 4, PNC_STAYS_LOCAL));
    PNC_TRY(pnc_format_var_add(&ds->model, name, xtype, ndims, dimids, &ds->error));
    ds->model.vars[id]->no_fill = ds->fill_mode == NC_NOFILL;
    if (ds->format->ops->has_storage)
        PNC_TRY(pnc_format_storage_add(&ds->model, ds->model.vars[id], &ds->error));
    if (varidp != NULL)
        *varidp = id;
    return NC_NOERR;
}

int pnc_dataset_def_grp(pnc_dataset *ds, const char *name)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, name, text_length(name)}};
    int err = pnc_dataset_mode_check_define_write(ds);

    PNC_TRY(pnc_dataset_arguments_agree(ds, err, args, 1, PNC_STAYS_LOCAL));
    return pnc_format_group_add(&ds->model, name, &ds->error);
}

int pnc_dataset_rename_grp(pnc_dataset *ds, int grpid, const char *name)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, name, text_length(name)},
                           {NC_EMULTIDEFINE_FNC_ARGS, &grpid, sizeof grpid}};
    int err = pnc_dataset_mode_check_define_write(ds);

    PNC_TRY(pnc_dataset_arguments_agree(ds, err, args, 2, PNC_STAYS_LOCAL));
    return pnc_format_group_rename(&ds->model, grpid, name, &ds->error);
}

int pnc_dataset_set_fill(pnc_dataset *ds, int fillmode, int *old_modep)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_FILL_MODE, &fillmode, sizeof fillmode}};
    int err = pnc_dataset_mode_check_define_write(ds);

    if (err == NC_NOERR && fillmode != NC_FILL && fillmode != NC_NOFILL)
        err = pnc_error_set(&ds->error, NC_EINVAL, "fillmode is %d: must be NC_FILL or NC_NOFILL", fillmode);
    PNC_TRY(pnc_dataset_arguments_agree(ds, err, args, 1, PNC_STAYS_LOCAL));
    if (old_modep != NULL)
        *old_modep = ds->fill_mode;
    ds->fill_mode = fillmode;
    for (int i = 0; i < ds->model.nvars; i++)
        ds->model.vars[i]->no_fill = fillmode == NC_NOFILL;
    return NC_NOERR;
}

/* Store a fill value, given in the memory type, in the variable's attribute. */
static int store_fill_value(pnc_dataset *ds, pnc_var *var, const void *fill_value)
{
    unsigned char external[8];
    pnc_encoding encoding = pnc_format_model_get_encoding(&ds->model);
    pnc_kernel kernel = pnc_convert_kernel_find(PNC_PUT, var->type, pnc_type_get_mem_type(var->type), encoding, NULL);

    kernel(external, fill_value, 1, external);
    return pnc_format_atts_put(&ds->model, &var->atts, NC_FillValue, var->type, 1, external, &ds->error);
}

static int store_fill_string(pnc_dataset *ds, pnc_var *var, const char *text)
{
    const int64_t length = text_length(text);
    const pnc_strings strings = {1, &length};

    return pnc_format_atts_put_strings(&ds->model, &var->atts, NC_FillValue, &strings, text, &ds->error);
}

/* Fortran has no pointers. */
static bool is_fill_string(const pnc_dataset *ds, int varid, const void *fill_value)
{
    return fill_value != NULL && varid >= 0 && varid < ds->model.nvars && ds->model.vars[varid]->type == NC_STRING &&
           pnc_error_get_language(&ds->error) == PNC_LANGUAGE_C;
}

static int check_fill_string(pnc_dataset *ds, const pnc_var *var, int no_fill, const void *fill_value)
{
    if (fill_value != NULL && pnc_error_get_language(&ds->error) != PNC_LANGUAGE_C)
        return pnc_error_set(&ds->error, NC_EBADTYPE, "variable \"%s\" has strings, whose fill value only C can pass",
                             var->name);
    if (no_fill)
        return pnc_error_set(&ds->error, NC_EINVAL, "variable \"%s\" has strings, which always have a fill value",
                             var->name);
    if (fill_value != NULL && *(char *const *)fill_value == NULL)
        return pnc_error_set(&ds->error, NC_EINVAL, "variable \"%s\": the fill value, a string, is NULL", var->name);
    return NC_NOERR;
}

static int check_def_var_fill(pnc_dataset *ds, int varid, int no_fill, const void *fill_value)
{
    const bool has_value = fill_value != NULL && !no_fill;

    PNC_TRY(pnc_dataset_mode_check_define_write(ds));
    PNC_TRY(pnc_format_var_check(&ds->model, varid, &ds->error));
    if (ds->model.vars[varid]->type == NC_STRING)
        PNC_TRY(check_fill_string(ds, ds->model.vars[varid], no_fill, fill_value));
    if (has_value && !pnc_dataset_mode_allows_fill(ds, varid))
        return pnc_error_set(&ds->error, NC_ELATEFILL,
                             "variable \"%s\" existed before ncmpi_redef: its fill value cannot change any more",
                             ds->model.vars[varid]->name);
    return NC_NOERR;
}

/* Its bytes, for comparison: of a variable of NC_STRING those of the string. */
static pnc_argument find_fill_argument(const pnc_dataset *ds, int varid, const void *fill_value)
{
    const bool is_known = fill_value != NULL && varid >= 0 && varid < ds->model.nvars;
    const char *text = is_fill_string(ds, varid, fill_value) ? *(char *const *)fill_value : NULL;

    if (text != NULL)
        return (pnc_argument){NC_EMULTIDEFINE_VAR_FILL_VALUE, text, text_length(text)};
    return (pnc_argument){NC_EMULTIDEFINE_VAR_FILL_VALUE, fill_value,
                          is_known ? (int64_t)pnc_type_get_size(ds->model.vars[varid]->type) : 0};
}

int pnc_dataset_def_var_fill(pnc_dataset *ds, int varid, int no_fill, const void *fill_value)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid},
                           {NC_EMULTIDEFINE_VAR_FILL_MODE, &no_fill, sizeof no_fill},
                           find_fill_argument(ds, varid, fill_value)};
    int err = check_def_var_fill(ds, varid, no_fill, fill_value);

    PNC_TRY(pnc_dataset_arguments_agree(ds, err, args, 3, PNC_STAYS_LOCAL));
    if (fill_value != NULL && !no_fill && ds->model.vars[varid]->type == NC_STRING)
        PNC_TRY(store_fill_string(ds, ds->model.vars[varid], args[2].bytes));
    else if (fill_value != NULL && !no_fill)
        PNC_TRY(store_fill_value(ds, ds->model.vars[varid], fill_value));
    ds->model.vars[varid]->no_fill = no_fill != 0;
    if (ds->united.is_on && ds->model.vars[varid]->storage != NULL) /* programs that call netCDF find it in the file */
        ds->model.vars[varid]->storage->no_fill_value = no_fill != 0;
    return NC_NOERR;
}

static int check_name(pnc_dataset *ds, const char *name)
{
    char *normal = NULL;
    int err = pnc_name_normalise(name, &normal, &ds->error);

    pnc_memory_free(normal);
    return err;
}

/* An entry that gets another name. */
typedef struct renaming {
    pnc_format_change change;
    const char *old;  /* in the model */
    pnc_table *names; /* of the entries */
    pnc_atts *atts;   /* NULL: not an attribute */
    char *name;       /* the new one, normalised; to be freed */
} renaming;

/* A short list of attributes has no table. */
static bool is_used(const renaming *r, const char *name)
{
    return (r->atts != NULL ? pnc_format_atts_find(r->atts, name) : pnc_table_find(r->names, name)) >= 0;
}

/* In data mode a name must not grow. NC_ENAMEINUSE, which the model reports later, outranks this. */
static int check_length(pnc_dataset *ds, const renaming *r)
{
    size_t path = pnc_format_group_get_length(&ds->model, r->old);
    const char *old = r->old + path + (path > 0);

    if (strlen(r->name) <= strlen(old) || is_used(r, r->name))
        return NC_NOERR;
    return pnc_error_set(&ds->error, NC_ENOTINDEFINE,
                         "new name \"%s\" is longer than \"%s\": call ncmpi_redef before renaming", r->name, old);
}

static int check_renaming(pnc_dataset *ds, renaming *r, const char *name)
{
    PNC_TRY(pnc_name_normalise(name, &r->name, &ds->error));
    r->change.name = r->name;
    if (r->change.entry.varid >= 0 && r->change.entry.att < 0)
        PNC_TRY(ds->format->ops->check_rename(ds->format, r->change.entry.varid, r->name));
    if (ds->mode == PNC_DEFINE)
        return NC_NOERR;
    PNC_TRY(ds->format->ops->check_change(ds->format, &r->change));
    return check_length(ds, r);
}

/* In define mode the file gets the name with all definitions. */
static int change_name(pnc_dataset *ds, const renaming *r)
{
    if (ds->mode != PNC_DEFINE) {
        PNC_TRY(pnc_dataset_deferred_write(ds));
        return ds->format->ops->change(ds->format, &r->change);
    }
    return pnc_format_entry_rename(&ds->model, r->change.entry, r->name, &ds->error);
}

/* What the three rename functions share; args[0] is the new name. */
static int rename_entry(pnc_dataset *ds, int err, renaming *r, const pnc_argument *args, int n)
{
    if (err == NC_NOERR)
        err = check_renaming(ds, r, args[0].bytes);
    err = pnc_dataset_arguments_agree(ds, err, args, n, ds->mode == PNC_DEFINE ? PNC_STAYS_LOCAL : PNC_CHANGES_HEADER);
    if (err == NC_NOERR)
        err = change_name(ds, r);
    pnc_memory_free(r->name);
    return err;
}

int pnc_dataset_rename_dim(pnc_dataset *ds, int dimid, const char *name)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_DIM_NAME, name, text_length(name)},
                           {NC_EMULTIDEFINE_FNC_ARGS, &dimid, sizeof dimid}};
    renaming r = {.change.entry = {dimid, NC_GLOBAL, -1}, .names = &ds->model.dim_names};
    int err = pnc_dataset_mode_check_write(ds);

    if (err == NC_NOERR)
        err = check_name(ds, name); /* measured: for dimensions only, a bad name outranks a bad id */
    if (err == NC_NOERR)
        err = pnc_format_dim_check(&ds->model, dimid, &ds->error);
    if (err == NC_NOERR)
        r.old = ds->model.dims[dimid]->name;
    return rename_entry(ds, err, &r, args, 2);
}

int pnc_dataset_rename_var(pnc_dataset *ds, int varid, const char *name)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_VAR_NAME, name, text_length(name)},
                           {NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid}};
    renaming r = {.change.entry = {-1, varid, -1}, .names = &ds->model.var_names};
    int err = pnc_dataset_mode_check_write(ds);

    if (err == NC_NOERR)
        err = pnc_format_var_check(&ds->model, varid, &ds->error);
    if (err == NC_NOERR)
        r.old = ds->model.vars[varid]->name;
    return rename_entry(ds, err, &r, args, 2);
}

int pnc_dataset_rename_att(pnc_dataset *ds, int varid, const char *name, const char *newname)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_ATTR_NAME, newname, text_length(newname)},
                           {NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid},
                           {NC_EMULTIDEFINE_ATTR_NAME, name, text_length(name)}};
    renaming r = {.change.entry = {-1, varid, -1}};
    int index, err = pnc_dataset_mode_check_write(ds);

    if (err == NC_NOERR && pnc_format_atts_get(&ds->model, varid) == NULL)
        err = pnc_format_var_reject(&ds->model, varid, &ds->error);
    if (err == NC_NOERR)
        err = check_name(ds, newname);
    if (err == NC_NOERR)
        err = pnc_format_att_name_check(pnc_format_model_get_rules(&ds->model), newname, &ds->error);
    if (err == NC_NOERR)
        err = pnc_dataset_attribute_find(ds, varid, name, &r.atts, &index);
    if (err == NC_NOERR) {
        r.change.entry.att = index;
        r.old = r.atts->at[index]->name;
    }
    return rename_entry(ds, err, &r, args, 3);
}
