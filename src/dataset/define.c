/* Define mode: dimensions, variables, names and fill modes. The model checks the rules of the format; this file checks
 * modes, compares the arguments of ranks, and writes changes to the file in data mode. */
#include "dataset/dataset.h"

#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "convert/convert.h"
#include "dataset/agree.h"
#include "dataset/attribute.h"
#include "dataset/header_change.h"
#include "dataset/modes.h"
#include "format/codec.h"

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
    if (varidp != NULL)
        *varidp = id;
    return NC_NOERR;
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
    pnc_kernel kernel =
        pnc_convert_kernel_find(PNC_PUT, var->type, pnc_type_get_mem_type(var->type), ds->model.format, NULL);

    kernel(external, fill_value, 1, external);
    return pnc_format_atts_put(&ds->model, &var->atts, NC_FillValue, var->type, 1, external, &ds->error);
}

static int check_def_var_fill(pnc_dataset *ds, int varid, bool has_value)
{
    PNC_TRY(pnc_dataset_mode_check_define_write(ds));
    PNC_TRY(pnc_format_var_check(&ds->model, varid, &ds->error));
    if (has_value && ds->before != NULL && varid < ds->before->nvars)
        return pnc_error_set(&ds->error, NC_ELATEFILL,
                             "variable \"%s\" existed before ncmpi_redef: its fill value cannot change any more",
                             ds->model.vars[varid]->name);
    return NC_NOERR;
}

int pnc_dataset_def_var_fill(pnc_dataset *ds, int varid, int no_fill, const void *fill_value)
{
    bool is_var = varid >= 0 && varid < ds->model.nvars, has_value = fill_value != NULL && !no_fill;
    size_t size = is_var && fill_value != NULL ? pnc_type_get_size(ds->model.vars[varid]->type) : 0;
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid},
                           {NC_EMULTIDEFINE_VAR_FILL_MODE, &no_fill, sizeof no_fill},
                           {NC_EMULTIDEFINE_VAR_FILL_VALUE, fill_value, (int64_t)size}};
    int err = check_def_var_fill(ds, varid, has_value);

    PNC_TRY(pnc_dataset_arguments_agree(ds, err, args, 3, PNC_STAYS_LOCAL));
    if (has_value)
        PNC_TRY(store_fill_value(ds, ds->model.vars[varid], fill_value));
    ds->model.vars[varid]->no_fill = no_fill != 0;
    return NC_NOERR;
}

static int check_name(pnc_dataset *ds, const char *name)
{
    char *normal = NULL;
    int err = pnc_name_normalise(name, &normal, &ds->error);

    pnc_memory_free(normal);
    return err;
}

/* The checks that the three rename functions share, and the agreement on their arguments; args[0] is the new name.
 * NC_ENAMEINUSE, which the model reports later, outranks the check of the length. */
static int agree_new_name(pnc_dataset *ds, int err, const char *old, const pnc_table *names, const pnc_argument *args,
                          int n)
{
    const char *name = args[0].bytes;
    char *normal = NULL;

    if (err == NC_NOERR)
        err = pnc_name_normalise(name, &normal, &ds->error);
    if (err == NC_NOERR && ds->mode != PNC_DEFINE)
        err = pnc_format_names_check(&ds->model, &ds->error); /* the whole header may be written */
    if (err == NC_NOERR && ds->mode != PNC_DEFINE && strlen(normal) > strlen(old) && pnc_table_find(names, normal) < 0)
        err = pnc_error_set(&ds->error, NC_ENOTINDEFINE,
                            "new name \"%s\" is longer than \"%s\": call ncmpi_redef "
                            "before renaming",
                            name, old);
    pnc_memory_free(normal);
    return pnc_dataset_arguments_agree(ds, err, args, n, ds->mode == PNC_DEFINE ? PNC_STAYS_LOCAL : PNC_CHANGES_HEADER);
}

int pnc_dataset_rename_dim(pnc_dataset *ds, int dimid, const char *name)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_DIM_NAME, name, text_length(name)},
                           {NC_EMULTIDEFINE_FNC_ARGS, &dimid, sizeof dimid}};
    int64_t old_field = 0;
    pnc_dim *dim = NULL;
    int err = pnc_dataset_mode_check_write(ds);

    if (err == NC_NOERR)
        err = check_name(ds, name); /* measured: for dimensions only, a bad name outranks a bad id */
    if (err == NC_NOERR)
        err = pnc_format_dim_check(&ds->model, dimid, &ds->error);
    if (err == NC_NOERR) {
        dim = ds->model.dims[dimid];
        old_field = pnc_format_name_encode(&ds->model, dim->name, NULL);
    }
    PNC_TRY(agree_new_name(ds, err, dim != NULL ? dim->name : "", &ds->model.dim_names, args, 2));
    err = pnc_dataset_header_change_begin(ds);
    if (err == NC_NOERR)
        err = pnc_format_dim_rename(&ds->model, dimid, name, &ds->error);
    return pnc_dataset_header_change_end(ds, err, (pnc_extent){dim->where, old_field}, dim->name, NULL);
}

int pnc_dataset_rename_var(pnc_dataset *ds, int varid, const char *name)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_VAR_NAME, name, text_length(name)},
                           {NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid}};
    int64_t old_field = 0;
    pnc_var *var = NULL;
    int err = pnc_dataset_mode_check_write(ds);

    if (err == NC_NOERR)
        err = pnc_format_var_check(&ds->model, varid, &ds->error);
    if (err == NC_NOERR) {
        var = ds->model.vars[varid];
        old_field = pnc_format_name_encode(&ds->model, var->name, NULL);
    }
    PNC_TRY(agree_new_name(ds, err, var != NULL ? var->name : "", &ds->model.var_names, args, 2));
    err = pnc_dataset_header_change_begin(ds);
    if (err == NC_NOERR)
        err = pnc_format_var_rename(&ds->model, varid, name, &ds->error);
    return pnc_dataset_header_change_end(ds, err, (pnc_extent){var->where, old_field}, var->name, NULL);
}

int pnc_dataset_rename_att(pnc_dataset *ds, int varid, const char *name, const char *newname)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_ATTR_NAME, newname, text_length(newname)},
                           {NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid},
                           {NC_EMULTIDEFINE_ATTR_NAME, name, text_length(name)}};
    int64_t old_field = 0;
    pnc_atts *atts = NULL;
    const char *old = "";
    int index = -1, err = pnc_dataset_mode_check_write(ds);

    if (err == NC_NOERR && pnc_format_atts_get(&ds->model, varid) == NULL)
        err = pnc_format_var_reject(&ds->model, varid, &ds->error);
    if (err == NC_NOERR)
        err = check_name(ds, newname);
    if (err == NC_NOERR)
        err = pnc_dataset_attribute_find(ds, varid, name, &atts, &index);
    if (err == NC_NOERR) {
        old = atts->at[index]->name;
        old_field = pnc_format_name_encode(&ds->model, old, NULL);
    }
    PNC_TRY(agree_new_name(ds, err, old, atts != NULL ? &atts->names : NULL, args, 3));
    err = pnc_dataset_header_change_begin(ds);
    if (err == NC_NOERR)
        err = pnc_format_atts_rename(&ds->model, atts, index, newname, &ds->error);
    return pnc_dataset_header_change_end(ds, err, (pnc_extent){atts->at[index]->where, old_field},
                                         atts->at[index]->name, NULL);
}
