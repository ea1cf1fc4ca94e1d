/* Inquiry functions: local, valid in every mode. Any output pointer may be NULL. */
#include "dataset/dataset.h"

#include <limits.h>
#include <string.h>

#include "base/name.h"
#include "convert/convert.h"
#include "dataset/attribute.h"
#include "dataset/hints.h"
#include "dataset/opening.h"
#include "dataset/suggestion.h"
#include "format/strings.h"

static void set_name(char *out, const char *name)
{
    if (out != NULL)
        strcpy(out, name);
}

/* --- the dataset --- */

int pnc_dataset_inq(pnc_dataset *ds, int *ndimsp, int *nvarsp, int *ngattsp, int *unlimdimidp)
{
    int ndims = ds->model.ndims - ds->model.groups.ndims;

    PNC_SET_OUTPUT(ndimsp, ndims);
    PNC_SET_OUTPUT(nvarsp, ds->model.nvars - ds->model.groups.nvars);
    PNC_SET_OUTPUT(ngattsp, ds->model.gatts.n);
    PNC_SET_OUTPUT(unlimdimidp, ds->model.recdim < ndims ? ds->model.recdim : -1);
    return NC_NOERR;
}

int pnc_dataset_inq_ndims(pnc_dataset *ds, int *ndimsp)
{
    return pnc_dataset_inq(ds, ndimsp, NULL, NULL, NULL);
}

int pnc_dataset_inq_nvars(pnc_dataset *ds, int *nvarsp)
{
    return pnc_dataset_inq(ds, NULL, nvarsp, NULL, NULL);
}

int pnc_dataset_inq_natts(pnc_dataset *ds, int *ngattsp)
{
    return pnc_dataset_inq(ds, NULL, NULL, ngattsp, NULL);
}

int pnc_dataset_inq_unlimdim(pnc_dataset *ds, int *unlimdimidp)
{
    return pnc_dataset_inq(ds, NULL, NULL, NULL, unlimdimidp);
}

int pnc_dataset_inq_unlimdims(pnc_dataset *ds, int *nunlimdimsp, int *unlimdimidsp)
{
    int n = 0;

    for (int i = 0; i < ds->model.ndims - ds->model.groups.ndims; i++) {
        if (!ds->model.dims[i]->unlimited)
            continue;
        if (unlimdimidsp != NULL)
            unlimdimidsp[n] = i;
        n++;
    }
    PNC_SET_OUTPUT(nunlimdimsp, n);
    return NC_NOERR;
}

int pnc_dataset_inq_ngrps(pnc_dataset *ds, int *ngrpsp)
{
    PNC_SET_OUTPUT(ngrpsp, ds->model.groups.n);
    return NC_NOERR;
}

int pnc_dataset_inq_grpname(pnc_dataset *ds, int grpid, char *name)
{
    const pnc_groups *groups = &ds->model.groups;

    if (grpid < 0 || grpid >= groups->n)
        return pnc_error_set(&ds->error, NC_ENOGRP, "no group with number %d: the file has %d groups",
                             pnc_error_get_id(&ds->error, grpid), groups->n);
    set_name(name, groups->paths[grpid]);
    return NC_NOERR;
}

static bool has_unlimited_dim(const pnc_model *model, const pnc_var *var)
{
    for (int d = 0; d < var->ndims; d++)
        if (model->dims[var->dimids[d]]->unlimited)
            return true;
    return false;
}

/* In a classic file it is their first dimension that is unlimited. */
static int count_unlimited_vars(const pnc_model *model)
{
    int n = 0;

    if (!pnc_format_model_get_rules(model)->has_paths)
        return model->nrecvars;
    for (int i = 0; i < model->nvars - model->groups.nvars; i++)
        n += has_unlimited_dim(model, model->vars[i]);
    return n;
}

int pnc_dataset_inq_num_rec_vars(pnc_dataset *ds, int *nvarsp)
{
    PNC_SET_OUTPUT(nvarsp, count_unlimited_vars(&ds->model));
    return NC_NOERR;
}

int pnc_dataset_inq_num_fix_vars(pnc_dataset *ds, int *nvarsp)
{
    PNC_SET_OUTPUT(nvarsp, ds->model.nvars - ds->model.groups.nvars - count_unlimited_vars(&ds->model));
    return NC_NOERR;
}

/* A program that has the classic model by a hint sees the format that the hint names: the Python package of PnetCDF
 * refuses NC_FORMAT_NETCDF4_CLASSIC. */
int pnc_dataset_inq_format(pnc_dataset *ds, int *formatp)
{
    PNC_SET_OUTPUT(formatp, ds->format->asked != 0 ? pnc_formats_version_get_model(pnc_dataset_opening_get_hinted(ds))
                                                   : ds->model.format);
    return NC_NOERR;
}

int pnc_dataset_inq_version(pnc_dataset *ds, int *NC_mode)
{
    PNC_SET_OUTPUT(NC_mode, pnc_formats_version_get_mode(ds->model.format));
    return NC_NOERR;
}

int pnc_dataset_inq_path(pnc_dataset *ds, int *pathlen, char *path)
{
    PNC_SET_OUTPUT(pathlen, (int)strlen(ds->file.path));
    set_name(path, ds->file.path);
    return NC_NOERR;
}

static pnc_format_layout get_layout(const pnc_dataset *ds)
{
    pnc_format_layout layout;

    ds->format->ops->get_layout(ds->format, &layout);
    return layout;
}

int pnc_dataset_inq_header_size(pnc_dataset *ds, MPI_Offset *size)
{
    PNC_SET_OUTPUT(size, get_layout(ds).header_size);
    return NC_NOERR;
}

int pnc_dataset_inq_header_extent(pnc_dataset *ds, MPI_Offset *extent)
{
    PNC_SET_OUTPUT(extent, get_layout(ds).header_extent);
    return NC_NOERR;
}

int pnc_dataset_inq_recsize(pnc_dataset *ds, MPI_Offset *recsize)
{
    PNC_SET_OUTPUT(recsize, get_layout(ds).record_size);
    return NC_NOERR;
}

int pnc_dataset_inq_put_size(pnc_dataset *ds, MPI_Offset *size)
{
    PNC_SET_OUTPUT(size, ds->file.put_size);
    return NC_NOERR;
}

int pnc_dataset_inq_get_size(pnc_dataset *ds, MPI_Offset *size)
{
    PNC_SET_OUTPUT(size, ds->file.get_size);
    return NC_NOERR;
}

int pnc_dataset_inq_file_info(pnc_dataset *ds, MPI_Info *info_used)
{
    return info_used == NULL ? NC_NOERR : pnc_dataset_hints_report(ds, info_used);
}

int pnc_dataset_get_file_info(pnc_dataset *ds, MPI_Info *info_used)
{
    return pnc_dataset_inq_file_info(ds, info_used);
}

int pnc_dataset_inq_striping(pnc_dataset *ds, int *striping_size, int *striping_count)
{
    const pnc_striping *striping = &ds->file.store->striping;

    PNC_SET_OUTPUT(striping_size, striping->unit < INT_MAX ? (int)striping->unit : INT_MAX);
    PNC_SET_OUTPUT(striping_count, striping->factor < INT_MAX ? (int)striping->factor : INT_MAX);
    return NC_NOERR;
}

/* --- dimensions --- */

int pnc_dataset_inq_dim(pnc_dataset *ds, int dimid, char *name, MPI_Offset *lenp)
{
    PNC_TRY(pnc_format_dim_check(&ds->model, dimid, &ds->error));
    set_name(name, ds->model.dims[dimid]->name);
    PNC_SET_OUTPUT(lenp, pnc_format_dim_get_length(&ds->model, dimid));
    return NC_NOERR;
}

int pnc_dataset_inq_dimname(pnc_dataset *ds, int dimid, char *name)
{
    return pnc_dataset_inq_dim(ds, dimid, name, NULL);
}

int pnc_dataset_inq_dimlen(pnc_dataset *ds, int dimid, MPI_Offset *lenp)
{
    return pnc_dataset_inq_dim(ds, dimid, NULL, lenp);
}

int pnc_dataset_inq_dimid(pnc_dataset *ds, const char *name, int *idp)
{
    int id = pnc_format_dim_find(&ds->model, name);

    if (id < 0)
        return pnc_error_set(&ds->error, pnc_name_explain_missing(name, NC_EBADDIM), "%s has no dimension \"%.*s\"%s",
                             ds->file.path, NC_MAX_NAME, name == NULL ? "" : name,
                             pnc_dataset_dim_suggest(ds, name).text);
    PNC_SET_OUTPUT(idp, id);
    return NC_NOERR;
}

/* --- variables --- */

int pnc_dataset_inq_var(pnc_dataset *ds, int varid, char *name, nc_type *xtypep, int *ndimsp, int *dimidsp, int *nattsp)
{
    const pnc_var *var;

    if (varid == NC_GLOBAL && name == NULL && xtypep == NULL && ndimsp == NULL && dimidsp == NULL)
        return pnc_dataset_inq_natts(ds, nattsp);
    PNC_TRY(pnc_format_var_check(&ds->model, varid, &ds->error));
    var = ds->model.vars[varid];
    set_name(name, var->name);
    PNC_SET_OUTPUT(xtypep, var->type);
    PNC_SET_OUTPUT(ndimsp, var->ndims);
    PNC_SET_OUTPUT(nattsp, var->atts.n);
    if (dimidsp != NULL && var->ndims > 0)
        memcpy(dimidsp, var->dimids, (size_t)var->ndims * sizeof *dimidsp);
    return NC_NOERR;
}

int pnc_dataset_inq_varid(pnc_dataset *ds, const char *name, int *varidp)
{
    int id = pnc_format_var_find(&ds->model, name);

    if (id < 0)
        return pnc_error_set(&ds->error, pnc_name_explain_missing(name, NC_ENOTVAR), "%s has no variable \"%.*s\"%s",
                             ds->file.path, NC_MAX_NAME, name == NULL ? "" : name,
                             pnc_dataset_var_suggest(ds, name).text);
    PNC_SET_OUTPUT(varidp, id);
    return NC_NOERR;
}

int pnc_dataset_inq_varname(pnc_dataset *ds, int varid, char *name)
{
    return pnc_dataset_inq_var(ds, varid, name, NULL, NULL, NULL, NULL);
}

int pnc_dataset_inq_vartype(pnc_dataset *ds, int varid, nc_type *xtypep)
{
    return pnc_dataset_inq_var(ds, varid, NULL, xtypep, NULL, NULL, NULL);
}

int pnc_dataset_inq_varndims(pnc_dataset *ds, int varid, int *ndimsp)
{
    return pnc_dataset_inq_var(ds, varid, NULL, NULL, ndimsp, NULL, NULL);
}

int pnc_dataset_inq_vardimid(pnc_dataset *ds, int varid, int *dimidsp)
{
    return pnc_dataset_inq_var(ds, varid, NULL, NULL, NULL, dimidsp, NULL);
}

int pnc_dataset_inq_varnatts(pnc_dataset *ds, int varid, int *nattsp)
{
    return pnc_dataset_inq_var(ds, varid, NULL, NULL, NULL, NULL, nattsp);
}

static int get_fill_string(pnc_dataset *ds, const pnc_var *var, char **out)
{
    *out = pnc_format_strings_make_fill(var);
    return *out != NULL ? NC_NOERR : pnc_error_set(&ds->error, NC_ENOMEM, "no memory for a fill value");
}

int pnc_dataset_inq_var_fill(pnc_dataset *ds, int varid, int *no_fill, void *fill_value)
{
    const pnc_var *var;

    PNC_TRY(pnc_format_var_check(&ds->model, varid, &ds->error));
    var = ds->model.vars[varid];
    PNC_SET_OUTPUT(no_fill, var->no_fill && var->type != NC_STRING);
    if (fill_value != NULL && var->type == NC_STRING && pnc_error_get_language(&ds->error) == PNC_LANGUAGE_C)
        return get_fill_string(ds, var, fill_value);
    if (fill_value != NULL && pnc_type_get_size(var->type) == 0)
        return pnc_error_set(&ds->error, NC_EBADTYPE, "variable \"%s\" has type %s", var->name,
                             pnc_type_explain_invalid(var->type, pnc_error_get_language(&ds->error)).text);
    if (fill_value != NULL) {
        unsigned char external[8], unused[8] = {0};
        pnc_encoding encoding = pnc_format_var_get_encoding(&ds->model, var);
        pnc_kernel kernel =
            pnc_convert_kernel_find(PNC_GET, var->type, pnc_type_get_mem_type(var->type), encoding, NULL);

        pnc_format_var_get_fill_value(&ds->model, var, external);
        kernel(fill_value, external, 1, unused);
    }
    return NC_NOERR;
}

int pnc_dataset_inq_varoffset(pnc_dataset *ds, int varid, MPI_Offset *offset)
{
    PNC_TRY(pnc_format_var_check(&ds->model, varid, &ds->error));
    PNC_SET_OUTPUT(offset, ds->format->ops->get_offset(ds->format, varid));
    return NC_NOERR;
}

/* --- attributes --- */

int pnc_dataset_inq_att(pnc_dataset *ds, int varid, const char *name, nc_type *xtypep, MPI_Offset *lenp)
{
    pnc_atts *atts;
    int index;

    PNC_TRY(pnc_dataset_attribute_find(ds, varid, name, &atts, &index));
    PNC_SET_OUTPUT(xtypep, atts->at[index]->type);
    PNC_SET_OUTPUT(lenp, atts->at[index]->len);
    return NC_NOERR;
}

int pnc_dataset_inq_atttype(pnc_dataset *ds, int varid, const char *name, nc_type *xtypep)
{
    return pnc_dataset_inq_att(ds, varid, name, xtypep, NULL);
}

int pnc_dataset_inq_attlen(pnc_dataset *ds, int varid, const char *name, MPI_Offset *lenp)
{
    return pnc_dataset_inq_att(ds, varid, name, NULL, lenp);
}

int pnc_dataset_inq_attid(pnc_dataset *ds, int varid, const char *name, int *idp)
{
    pnc_atts *atts;
    int index;

    PNC_TRY(pnc_dataset_attribute_find(ds, varid, name, &atts, &index));
    PNC_SET_OUTPUT(idp, index);
    return NC_NOERR;
}

int pnc_dataset_inq_attname(pnc_dataset *ds, int varid, int attnum, char *name)
{
    const pnc_atts *atts = pnc_format_atts_get(&ds->model, varid);

    if (atts == NULL)
        return pnc_format_var_reject(&ds->model, varid, &ds->error);
    if (attnum < 0 || attnum >= atts->n)
        return pnc_error_set(&ds->error, NC_ENOTATT, "%s: attnum is %d, but there are %d attributes", ds->file.path,
                             pnc_error_get_id(&ds->error, attnum), atts->n);
    set_name(name, atts->at[attnum]->name);
    return NC_NOERR;
}
