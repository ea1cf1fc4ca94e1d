/* The header of the output. */
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/checksum.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/ncmpicopy/checksum.h"
#include "tools/ncmpicopy/copy.h"
#include "tools/ncmpicopy/edit.h"
#include "tools/ncmpicopy/quantize.h"
#include "tools/ncmpicopy/rename.h"
#include "tools/ncmpicopy/storage.h"

/* Attributes that have the type of the variable's values (CF conventions, 2.5.1). */
static bool has_type_of_values(const char *name)
{
    static const char *const names[] = {"_FillValue", "missing_value", "valid_min", "valid_max", "valid_range"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Convert a value exactly, except for rounding to a floating point type. */
static bool convert_exactly(int from, int to, const void *value, void *result)
{
    unsigned char back[8];
    copy_conversion there, again;
    if (copy_conversion_init(from, to, NULL, &there) != NC_NOERR ||
        copy_conversion_init(to, from, NULL, &again) != NC_NOERR)
        return false;
    there.has_fill = again.has_fill = false; /* here, default fill values are values */
    copy_values_convert(&there, value, 1, 0, result);
    copy_values_convert(&again, result, 1, 0, back);
    return there.misfits == 0 && (to == NC_FLOAT || memcmp(value, back, pnc_type_get_size(from)) == 0);
}

/* A _FillValue that no new file can have: readers that accept it convert it, and so does the copy. If no value of the
 * variable can be equal to it, it has no effect, and is left out. */
static int repair_fill(copy_plan *plan, int from, const copy_var *var, int to, int varid)
{
    unsigned char value[8], result[8];
    nc_type type = NC_NAT;
    MPI_Offset length = 0;
    int err = ncmpi_inq_att(from, var->id, "_FillValue", &type, &length);
    bool numbers = type != NC_CHAR && var->to != NC_CHAR && var->to != NC_STRING;
    if (err == NC_NOERR && length == 1)
        err = ncmpi_get_att(from, var->id, "_FillValue", value);
    if (err != NC_NOERR)
        return err;
    bool fits = length == 1 && numbers && convert_exactly(type, var->to, value, result);
    plan->changed = plan->changed || length != 1 || !numbers;
    if (plan->rank == 0 && fits)
        tool_warning_print("warning: %s: variable %s: _FillValue was converted from %s to %s, the type of the variable",
                           plan->options->output, var->name, pnc_type_get_name(type), pnc_type_get_name(var->to));
    else if (plan->rank == 0)
        tool_warning_print("warning: %s: variable %s: _FillValue was left out: it is not one value of type %s",
                           plan->options->output, var->name, pnc_type_get_name(var->to));
    return fits ? ncmpi_put_att(to, varid, "_FillValue", var->to, 1, result) : NC_NOERR;
}

/* A _FillValue that does not fit the new type becomes the default fill value of that type; other attributes that do not
 * fit are left out. */
static int convert_att(int from, const char *name, const copy_var *var, int to, int varid)
{
    MPI_Offset length;
    int err = ncmpi_inq_attlen(from, var->id, name, &length);
    if (err != NC_NOERR || length == 0)
        return err;
    void *values = pnc_memory_alloc(length, sizeof(double)), *results = pnc_memory_alloc(length, sizeof(double));
    copy_conversion conversion = var->conversion;
    conversion.misfits = 0;
    err = tool_status_agree(values != NULL && results != NULL ? NC_NOERR : NC_ENOMEM);
    if (err == NC_NOERR)
        err = ncmpi_get_att(from, var->id, name, values);
    if (err == NC_NOERR) {
        copy_values_convert(&conversion, values, length, 0, results);
        if (conversion.misfits == 0)
            err = ncmpi_put_att(to, varid, name, var->to, length, results);
    }
    pnc_memory_free(values);
    pnc_memory_free(results);
    return err;
}

/* Whether the variable, in the input, has a _FillValue of another type, or not one value. */
static bool has_odd_fill(int from, const copy_var *var, const char *name)
{
    nc_type type = NC_NAT;
    MPI_Offset length = 0;
    if (var->type == NC_STRING && strcmp(name, "_FillValue") == 0)
        return ncmpi_inq_att_string(from, var->id, name, &length) == NC_NOERR && length != 1;
    return strcmp(name, "_FillValue") == 0 && ncmpi_inq_att(from, var->id, name, &type, &length) == NC_NOERR &&
           (type != var->type || length != 1);
}

/* Copy an attribute under another name. */
static int put_renamed(int from, int id, const char *name, int to, int varid, const char *renamed)
{
    nc_type type;
    MPI_Offset length;
    int err = ncmpi_inq_att(from, id, name, &type, &length);
    if (err != NC_NOERR)
        return err;
    void *values = pnc_memory_alloc(length, sizeof(double));
    err = tool_status_agree(values != NULL ? NC_NOERR : NC_ENOMEM);
    if (err == NC_NOERR && length > 0)
        err = ncmpi_get_att(from, id, name, values);
    if (err == NC_NOERR)
        err = ncmpi_put_att(to, varid, renamed, type, length, values);
    pnc_memory_free(values);
    return err;
}

/* --- attributes whose type the format of the output does not have --- */

static bool is_type_error(int err)
{
    return err == NC_ESTRICTCDF2 || err == NC_ESTRICTNC3 || err == NC_EBADTYPE;
}

/* Convert n values to a type that can have all of them exactly; false if it cannot. */
static bool narrow_values(int from, int to, const char *values, int64_t n, char *results)
{
    size_t size = pnc_type_get_size(from), narrow = pnc_type_get_size(to);
    for (int64_t i = 0; i < n; i++)
        if (!convert_exactly(from, to, values + (size_t)i * size, results + (size_t)i * narrow))
            return false;
    return true;
}

static void report_narrowed(const copy_plan *plan, const char *name, const copy_var *var, int type, int to)
{
    const char *of = var != NULL ? var->name : "";
    if (plan->rank == 0 && to != NC_NAT)
        tool_warning_print("warning: %s: attribute %s:%s was converted from %s to %s, which this format has",
                           plan->options->output, of, name, pnc_type_get_name(type), pnc_type_get_name(to));
    else if (plan->rank == 0)
        tool_warning_print(
            "warning: %s: attribute %s:%s was left out: this format has no type for its values of type "
            "%s",
            plan->options->output, of, name, pnc_type_get_name(type));
}

static int put_narrowed(copy_plan *plan, int from, const char *name, const copy_var *var, int to, int varid)
{
    static const int types[] = {NC_INT, NC_DOUBLE};
    int id = var != NULL ? var->id : NC_GLOBAL, chosen = NC_NAT;
    nc_type type;
    MPI_Offset length;
    PNC_TRY(ncmpi_inq_att(from, id, name, &type, &length));
    char *values = pnc_memory_alloc(length, sizeof(double)), *results = pnc_memory_alloc(length, sizeof(double));
    int err = tool_status_agree(values != NULL && results != NULL ? NC_NOERR : NC_ENOMEM);
    if (err == NC_NOERR && length > 0)
        err = ncmpi_get_att(from, id, name, values);
    for (int i = 0; err == NC_NOERR && i < 2 && chosen == NC_NAT; i++)
        chosen = narrow_values(type, types[i], values, length, results) ? types[i] : NC_NAT;
    if (err == NC_NOERR)
        report_narrowed(plan, name, var, type, chosen);
    plan->changed = plan->changed || chosen == NC_NAT;
    if (err == NC_NOERR && chosen != NC_NAT)
        err = ncmpi_put_att(to, varid, name, chosen, length, results);
    pnc_memory_free(values);
    pnc_memory_free(results);
    return err;
}

/* Whether another name may be accepted. */
/* NC_ENOGRP: a path of a group, which the output does not have. */
static bool is_name_error(int err)
{
    return err == NC_EBADNAME || err == NC_EMAXNAME || err == NC_ENOGRP;
}

static int copy_renamed_att(copy_plan *plan, int from, const char *name, const copy_var *var, int to, int varid)
{
    char renamed[NC_MAX_NAME + 1];
    int id = var != NULL ? var->id : NC_GLOBAL, err = NC_EBADNAME;
    for (int attempt = 0; is_name_error(err) && copy_name_repair(name, attempt, renamed); attempt++)
        if (ncmpi_inq_attid(from, id, renamed, NULL) == NC_ENOTATT)
            err = put_renamed(from, id, name, to, varid, renamed);
    if (err == NC_NOERR)
        copy_name_report(plan, "attribute", name, renamed);
    return err;
}

static int copy_att(copy_plan *plan, int from, const char *name, const copy_var *var, int to, int varid)
{
    nc_type type = NC_NAT;
    const copy_edit *edit = copy_edit_find(plan, var, name);
    int err;
    if (var != NULL && strcmp(name, PNC_CHECKSUM_ATTRIBUTE) == 0 && !copy_checksum_is_copied(plan, var))
        return NC_NOERR;
    if (edit != NULL)
        return copy_edit_put(edit, from, var, to, varid, has_type_of_values(name));
    if (copy_references_put(plan, from, var, name, to, varid, &err))
        return err;
    if (var != NULL && has_odd_fill(from, var, name))
        return repair_fill(plan, from, var, to, varid);
    if (var != NULL && var->to != var->type && has_type_of_values(name) &&
        ncmpi_inq_atttype(from, var->id, name, &type) == NC_NOERR && type == var->type)
        return convert_att(from, name, var, to, varid);
    err = ncmpi_copy_att(from, var != NULL ? var->id : NC_GLOBAL, name, to, varid);
    if (is_type_error(err))
        return put_narrowed(plan, from, name, var, to, varid);
    return is_name_error(err) ? copy_renamed_att(plan, from, name, var, to, varid) : err;
}

/* The attributes of --set-att that the input does not have. */
static int add_atts(const copy_plan *plan, int from, const copy_var *var, int to, int varid)
{
    int err = NC_NOERR;
    for (int i = 0; err == NC_NOERR && i < plan->options->nedits; i++) {
        const copy_edit *edit = &plan->options->edits[i];
        bool added = copy_edit_find(plan, var, edit->att) == edit &&
                     ncmpi_inq_attid(from, var != NULL ? var->id : NC_GLOBAL, edit->att, NULL) != NC_NOERR;
        if (added)
            err = copy_edit_put(edit, from, var, to, varid, has_type_of_values(edit->att));
    }
    return err;
}

/* var NULL: attributes of the file. */
static int copy_atts(copy_plan *plan, int from, const copy_var *var, int natts, int to, int varid)
{
    int err = NC_NOERR;
    for (int i = 0; err == NC_NOERR && i < natts; i++) {
        char name[NC_MAX_NAME + 1];
        err = ncmpi_inq_attname(from, var != NULL ? var->id : NC_GLOBAL, i, name);
        if (err == NC_NOERR)
            err = copy_att(plan, from, name, var, to, varid);
    }
    return err == NC_NOERR ? add_atts(plan, from, var, to, varid) : err;
}

/* --- dimensions and variables --- */

static int define_dim(copy_plan *plan, int from, int dimid, int to)
{
    const copy_dim *dim = &plan->dims[dimid];
    MPI_Offset length = dim->unlimited ? NC_UNLIMITED : dim->count;
    char renamed[NC_MAX_NAME + 1];
    int id, err = ncmpi_def_dim(to, copy_name_find(plan, dim->name), length, &id);
    if (!is_name_error(err) || copy_name_find(plan, dim->name) != dim->name)
        return err;
    for (int attempt = 0; is_name_error(err) && copy_name_repair(dim->name, attempt, renamed); attempt++)
        if (ncmpi_inq_dimid(from, renamed, &id) == NC_EBADDIM)
            err = ncmpi_def_dim(to, renamed, length, &id);
    if (err == NC_NOERR)
        copy_name_report(plan, "dimension", dim->name, renamed);
    return err;
}

static int define_var(copy_plan *plan, int from, const copy_var *var, int to, int *id)
{
    char renamed[NC_MAX_NAME + 1];
    int other, err = ncmpi_def_var(to, copy_name_find(plan, var->name), var->to, var->ndims, var->dimids, id);
    if (!is_name_error(err) || copy_name_find(plan, var->name) != var->name)
        return err;
    for (int attempt = 0; is_name_error(err) && copy_name_repair(var->name, attempt, renamed); attempt++)
        if (ncmpi_inq_varid(from, renamed, &other) == NC_ENOTVAR)
            err = ncmpi_def_var(to, renamed, var->to, var->ndims, var->dimids, id);
    if (err == NC_NOERR)
        copy_name_report(plan, "variable", var->name, renamed);
    return err;
}

static int define_vars(copy_plan *plan, int from, int to)
{
    int err = NC_NOERR, id;
    for (int i = 0; err == NC_NOERR && i < plan->nvars; i++) {
        const copy_var *var = &plan->vars[i];
        err = define_var(plan, from, var, to, &id);
        if (err == NC_NOERR)
            err = copy_storage_define(plan, from, var, to, id);
        if (err == NC_NOERR)
            err = copy_atts(plan, from, var, var->natts, to, id);
        if (err == NC_NOERR && var->quantizer.mode != 0)
            err = copy_quantizer_put(var, to, id);
        if (err == NC_NOERR && copy_checksum_is_attribute(plan) && copy_checksum_is_possible(var))
            err = copy_checksum_define(to, id);
    }
    return err;
}

static int end_definitions(const copy_plan *plan, int ncid)
{
    const copy_options *options = plan->options;
    if (options->reserve < 0 && options->align == 0 && options->record_align == 0)
        return ncmpi_enddef(ncid);
    return ncmpi__enddef(ncid, options->reserve < 0 ? 0 : options->reserve, options->align, 0, options->record_align);
}

int copy_header_define(copy_plan *plan, int ncid, const char *path)
{
    int from;
    int err = copy_input_open(plan, plan->options->inputs[0], &from);
    if (err != NC_NOERR)
        return err;
    for (int i = 0; err == NC_NOERR && i < plan->ndims; i++)
        err = define_dim(plan, from, i, ncid);
    if (err == NC_NOERR)
        err = copy_atts(plan, from, NULL, plan->natts, ncid, NC_GLOBAL);
    if (err == NC_NOERR && !plan->options->no_history)
        err = copy_history_append(plan, ncid);
    if (err == NC_NOERR)
        err = define_vars(plan, from, ncid);
    if (err == NC_NOERR)
        err = end_definitions(plan, ncid);
    if (err != NC_NOERR && plan->rank == 0)
        tool_error_print_last(path, err);
    ncmpi_close(from);
    return err;
}
