/* The header of the output. */
#include <string.h>

#include "base/memory.h"
#include "tools/common/parallel.h"
#include "tools/ncmpicopy/copy.h"

/* Attributes that have the type of the variable's values (CF conventions, 2.5.1). */
static bool has_type_of_values(const char *name)
{
    static const char *const names[] = {"_FillValue", "missing_value", "valid_min", "valid_max", "valid_range"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
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

static int copy_att(int from, const char *name, const copy_var *var, int to, int varid)
{
    nc_type type = NC_NAT;
    if (var != NULL && var->to != var->type && has_type_of_values(name) &&
        ncmpi_inq_atttype(from, var->id, name, &type) == NC_NOERR && type == var->type)
        return convert_att(from, name, var, to, varid);
    return ncmpi_copy_att(from, var != NULL ? var->id : NC_GLOBAL, name, to, varid);
}

/* var NULL: attributes of the file. */
static int copy_atts(int from, const copy_var *var, int natts, int to, int varid)
{
    int err = NC_NOERR;
    for (int i = 0; err == NC_NOERR && i < natts; i++) {
        char name[NC_MAX_NAME + 1];
        err = ncmpi_inq_attname(from, var != NULL ? var->id : NC_GLOBAL, i, name);
        if (err == NC_NOERR)
            err = copy_att(from, name, var, to, varid);
    }
    return err;
}

static int define_vars(const copy_plan *plan, int from, int to)
{
    int err = NC_NOERR, id;
    for (int i = 0; err == NC_NOERR && i < plan->nvars; i++) {
        const copy_var *var = &plan->vars[i];
        err = ncmpi_def_var(to, var->name, var->to, var->ndims, var->dimids, &id);
        if (err == NC_NOERR)
            err = copy_atts(from, var, var->natts, to, id);
    }
    return err;
}

static int end_definitions(const copy_plan *plan, int ncid)
{
    const copy_options *options = plan->options;
    if (options->reserve == 0 && options->align == 0 && options->record_align == 0)
        return ncmpi_enddef(ncid);
    return ncmpi__enddef(ncid, options->reserve, options->align, 0, options->record_align);
}

int copy_header_define(const copy_plan *plan, int ncid, const char *path)
{
    int from, id;
    int err = copy_input_open(plan, plan->options->inputs[0], &from);
    if (err != NC_NOERR)
        return err;
    for (int i = 0; err == NC_NOERR && i < plan->ndims; i++)
        err = ncmpi_def_dim(ncid, plan->dims[i].name, i == plan->record ? NC_UNLIMITED : plan->dims[i].count, &id);
    if (err == NC_NOERR)
        err = copy_atts(from, NULL, plan->natts, ncid, NC_GLOBAL);
    if (err == NC_NOERR)
        err = define_vars(plan, from, ncid);
    if (err == NC_NOERR)
        err = end_definitions(plan, ncid);
    if (err != NC_NOERR && plan->rank == 0)
        tool_error_print_last(path, err);
    ncmpi_close(from);
    return err;
}
