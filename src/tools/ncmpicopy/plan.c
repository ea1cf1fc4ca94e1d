/* The plan is computed from headers only, and is the same on every rank. */
#include "tools/ncmpicopy/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "base/types.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/ncmpicopy/coordinates.h"
#include "tools/ncmpicopy/edit.h"
#include "tools/ncmpicopy/guard.h"
#include "tools/ncmpicopy/quantize.h"
#include "tools/ncmpicopy/storage.h"
#include "tools/ncmpicopy/where.h"

int copy_error_print(const copy_plan *plan, int code, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (plan->rank == 0)
        tool_error_print("%s", text);
    return code;
}

int copy_failure_print(const copy_plan *plan, const char *path, int code)
{
    if (plan->rank == 0)
        tool_error_print_last(path, code);
    return code;
}

/* With what is in groups of a netCDF-4 file. */
int copy_input_open(const copy_plan *plan, const char *path, int *ncid)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_groups", "all");
    int err = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, ncid);
    MPI_Info_free(&info);
    return err == NC_NOERR ? err : copy_failure_print(plan, path, err);
}

/* --- the first input --- */

static int load_var(int ncid, copy_var *var)
{
    nc_type type;
    PNC_TRY(ncmpi_inq_var(ncid, var->id, var->name, &type, &var->ndims, NULL, &var->natts));
    var->type = var->to = type;
    var->dimids = pnc_memory_alloc(var->ndims, sizeof *var->dimids);
    var->shape = pnc_memory_alloc(var->ndims, sizeof *var->shape);
    if (var->dimids == NULL || var->shape == NULL)
        return NC_ENOMEM;
    return ncmpi_inq_vardimid(ncid, var->id, var->dimids);
}

/* Why values of a type are not copied, and how they would be; NULL: they are. */
static const char *find_obstacle(const copy_plan *plan, int type)
{
    bool has_strings = plan->format == NC_FORMAT_NETCDF4 && !plan->options->is_store;
    if (type <= NC_UINT64 || (type == NC_STRING && has_strings))
        return NULL;
    return type == NC_STRING ? "strings, which need a netCDF-4 output without the classic model: -k netcdf4"
                             : "a type of its user, and only numbers, characters and strings are copied";
}

/* A variable of a netCDF-4 file whose values the output cannot have: after a warning. */
static bool is_left_out(copy_plan *plan, int ncid, int varid)
{
    char name[NC_MAX_NAME + 1];
    nc_type type;
    if (ncmpi_inq_var(ncid, varid, name, &type, NULL, NULL, NULL) != NC_NOERR || find_obstacle(plan, type) == NULL)
        return false;
    plan->changed = true;
    if (plan->rank == 0)
        tool_warning_print("warning: %s: variable %s is left out: it is of %s", plan->options->inputs[0], name,
                           find_obstacle(plan, type));
    return true;
}

/* All variables, or those of -v and their coordinates, in the order of the file. */
static int load_vars(int ncid, int nvars, copy_plan *plan)
{
    const tool_names *names = &plan->options->variables;
    plan->vars = pnc_memory_alloc_zeroed(nvars, sizeof *plan->vars);
    bool *wanted = pnc_memory_alloc_zeroed(nvars, sizeof *wanted);
    int err = plan->vars != NULL && wanted != NULL ? NC_NOERR : NC_ENOMEM, varid;
    for (int i = 0; err == NC_NOERR && i < names->n; i++)
        if (ncmpi_inq_varid(ncid, names->at[i], &varid) == NC_NOERR) /* missing names were reported before */
            wanted[varid] = true;
    if (err == NC_NOERR && names->n > 0 && !plan->options->no_coordinates)
        err = copy_coordinates_add(ncid, nvars, wanted);
    for (int i = 0; err == NC_NOERR && i < nvars; i++) {
        if ((names->n > 0 && !wanted[i]) || is_left_out(plan, ncid, i))
            continue;
        plan->vars[plan->nvars].id = i;
        err = load_var(ncid, &plan->vars[plan->nvars++]);
    }
    pnc_memory_free(wanted);
    return err;
}

static int load_dims(int ncid, copy_plan *plan)
{
    int err = NC_NOERR;
    plan->dims = pnc_memory_alloc_zeroed(plan->ndims, sizeof *plan->dims);
    if (plan->dims == NULL)
        return NC_ENOMEM;
    for (int i = 0; err == NC_NOERR && i < plan->ndims; i++) {
        MPI_Offset length = 0;
        err = ncmpi_inq_dim(ncid, i, plan->dims[i].name, &length);
        plan->dims[i].total = length;
    }
    return err;
}

static int report_missing_variable(const copy_plan *plan, int ncid, int nvars, const char *name)
{
    char(*names)[NC_MAX_NAME + 1] = pnc_memory_alloc_zeroed(nvars, sizeof *names);
    const char **known = pnc_memory_alloc_zeroed(nvars, sizeof *known);
    int n = plan->rank == 0 && names != NULL && known != NULL ? nvars : 0;
    for (int i = 0; i < n; i++)
        if (ncmpi_inq_varname(ncid, i, names[i]) == NC_NOERR)
            known[i] = names[i];
    if (plan->rank == 0)
        tool_names_report_missing(plan->options->inputs[0], name, n, known);
    pnc_memory_free(known);
    pnc_memory_free(names);
    return NC_ENOTVAR;
}

/* The file must have the variables of -v, -t and --quantize. */
static int check_names(const copy_plan *plan, int ncid, int nvars)
{
    const copy_options *options = plan->options;
    int varid;
    for (int i = 0; i < options->variables.n; i++)
        if (ncmpi_inq_varid(ncid, options->variables.at[i], &varid) != NC_NOERR)
            return report_missing_variable(plan, ncid, nvars, options->variables.at[i]);
    for (int i = 0; i < options->nretypes; i++)
        if (ncmpi_inq_varid(ncid, options->retypes[i].name, &varid) != NC_NOERR)
            return report_missing_variable(plan, ncid, nvars, options->retypes[i].name);
    for (int i = 0; i < options->nquantizes; i++)
        for (int k = 0; k < options->quantizes[i].variables.n; k++)
            if (ncmpi_inq_varid(ncid, options->quantizes[i].variables.at[k], &varid) != NC_NOERR)
                return report_missing_variable(plan, ncid, nvars, options->quantizes[i].variables.at[k]);
    return NC_NOERR;
}

static int find_dim(const copy_plan *plan, const char *name)
{
    const char **known = pnc_memory_alloc(plan->ndims, sizeof *known);
    const char *near = NULL;
    for (int i = 0; i < plan->ndims; i++)
        if (strcmp(plan->dims[i].name, name) == 0) {
            pnc_memory_free(known);
            return i;
        }
    for (int i = 0; known != NULL && i < plan->ndims; i++)
        known[i] = plan->dims[i].name;
    if (known != NULL)
        near = pnc_name_suggest(name, plan->ndims, known);
    copy_error_print(plan, NC_EBADDIM, "%s: no dimension %s in this file%s%s%s", plan->options->inputs[0], name,
                     near != NULL ? ": did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    pnc_memory_free(known);
    return -1;
}

/* --- unlimited dimensions --- */

/* Whether a dimension is the first one of all variables that have it. */
static bool is_first(const copy_plan *plan, int dimid)
{
    for (int i = 0; i < plan->nvars; i++)
        for (int d = 1; d < plan->vars[i].ndims; d++)
            if (plan->vars[i].dimids[d] == dimid)
                return false;
    return true;
}

/* Of the unlimited dimensions of the input, the one that every format can have. -1: none. */
static int find_suitable(const copy_plan *plan)
{
    for (int i = 0; i < plan->ndims; i++)
        if (plan->dims[i].unlimited && is_first(plan, i))
            return i;
    return -1;
}

/* Formats with one unlimited dimension: others become fixed, after a message. */
static void fix_others(copy_plan *plan, int record)
{
    for (int i = 0; i < plan->ndims; i++) {
        copy_dim *dim = &plan->dims[i];
        if (dim->unlimited && i != record && plan->rank == 0)
            tool_warning_print(
                "warning: %s: dimension %s becomes fixed: this format has one unlimited dimension, the "
                "first one of its variables",
                plan->options->output, dim->name);
        dim->unlimited = i == record;
    }
}

static int load_unlimited(int ncid, copy_plan *plan)
{
    int n = 0;
    int *ids = pnc_memory_alloc(plan->ndims, sizeof *ids);
    int err = ids != NULL ? ncmpi_inq_unlimdims(ncid, &n, ids) : NC_ENOMEM;
    for (int i = 0; err == NC_NOERR && i < n; i++)
        plan->dims[ids[i]].unlimited = true;
    pnc_memory_free(ids);
    return err;
}

static int reject_inner(const copy_plan *plan, int record)
{
    int i = 0, d = 1;
    for (i = 0; i < plan->nvars; i++) {
        for (d = 1; d < plan->vars[i].ndims && plan->vars[i].dimids[d] != record; d++)
            ;
        if (d < plan->vars[i].ndims)
            break;
    }
    return copy_error_print(plan, NC_EUNLIMPOS,
                            "%s: variable %s: dimension %s is not its first one: it cannot become the record dimension",
                            plan->options->inputs[0], plan->vars[i].name, plan->dims[record].name);
}

/* The unlimited dimensions of the output, and the dimension along which inputs are joined. */
static int choose_record(copy_plan *plan)
{
    const copy_options *options = plan->options;
    bool has_many = plan->format == NC_FORMAT_NETCDF4;
    int record = options->record != NULL ? find_dim(plan, options->record) : find_suitable(plan);
    if (options->record != NULL && record < 0)
        return NC_EBADDIM;
    plan->join = options->ninputs > 1 ? record : -1;
    if (options->ninputs > 1 && record < 0)
        return copy_error_print(plan, NC_ENORECVARS, "%s: no record dimension to join files along: choose one by -r",
                                options->inputs[0]);
    if (record >= 0 && !is_first(plan, record) && (!has_many || plan->join >= 0))
        return reject_inner(plan, record);
    for (int i = 0; i < plan->ndims && (options->fixed || options->record != NULL); i++)
        plan->dims[i].unlimited = !options->fixed && i == record;
    if (!has_many)
        fix_others(plan, options->fixed ? -1 : record);
    plan->record = -1;
    for (int i = plan->ndims - 1; i >= 0; i--)
        plan->record = plan->dims[i].unlimited ? i : plan->record;
    for (int i = 0; plan->join >= 0 && i < plan->nvars; i++)
        plan->vars[i].joined = plan->vars[i].ndims > 0 && plan->vars[i].dimids[0] == record;
    return NC_NOERR;
}

/* --- types --- */

static int load_fill(int ncid, copy_var *var)
{
    unsigned char fill[8];
    nc_type type = NC_NAT;
    MPI_Offset length = 0;
    bool own =
        ncmpi_inq_att(ncid, var->id, "_FillValue", &type, &length) == NC_NOERR && type == var->type && length == 1;
    if (own)
        PNC_TRY(ncmpi_get_att(ncid, var->id, "_FillValue", fill));
    return copy_conversion_init(var->type, var->to, own ? fill : NULL, &var->conversion);
}

static int choose_types(int ncid, copy_plan *plan)
{
    const copy_options *options = plan->options;
    for (int i = 0; i < plan->nvars; i++) {
        copy_var *var = &plan->vars[i];
        for (int r = 0; r < options->nretypes; r++)
            if (strcmp(options->retypes[r].name, var->name) == 0)
                var->to = options->retypes[r].type;
        if (var->type == NC_STRING && var->to != NC_STRING)
            return copy_error_print(plan, NC_EBADTYPE, "%s: variable %s: strings cannot be converted to %s",
                                    options->inputs[0], var->name, pnc_type_get_name(var->to));
        if (var->to != NC_STRING && !pnc_type_is_valid(var->to, plan->format))
            return copy_error_print(plan, NC_ESTRICTCDF2,
                                    "%s: variable %s: type %s needs CDF-5 or netCDF-4: choose it by -k cdf5 or "
                                    "-k netcdf4, or another type by -t",
                                    options->inputs[0], var->name, pnc_type_get_name(var->to));
        int err = var->to == var->type ? NC_NOERR : load_fill(ncid, var);
        if (err == NC_ECHAR)
            return copy_error_print(plan, err, "%s: variable %s: characters cannot be converted to numbers",
                                    options->inputs[0], var->name);
        if (err != NC_NOERR)
            return err;
    }
    return NC_NOERR;
}

/* --- lengths --- */

static int take_slab(copy_plan *plan, const copy_slab *slab)
{
    int dimid = find_dim(plan, slab->name);
    if (dimid < 0)
        return NC_EBADDIM;
    copy_dim *dim = &plan->dims[dimid];
    int64_t first = slab->first < 0 ? slab->first + dim->total : slab->first;
    int64_t last = slab->last < 0 ? slab->last + dim->total : slab->last;
    if (first < 0 || last >= dim->total || first > last)
        return copy_error_print(plan, NC_EINVALCOORDS,
                                "%s: -d %s,%lld,%lld: the indices of this dimension are 0 to %lld",
                                plan->options->inputs[0], dim->name, (long long)slab->first, (long long)slab->last,
                                (long long)dim->total - 1);
    dim->first = first;
    dim->stride = slab->stride;
    dim->count = (last - first) / slab->stride + 1;
    return NC_NOERR;
}

/* Called when the length of the joined dimension is known. */
static int choose_lengths(copy_plan *plan)
{
    int err = NC_NOERR;
    for (int i = 0; i < plan->ndims; i++) {
        plan->dims[i].stride = 1;
        plan->dims[i].count = plan->dims[i].total;
    }
    for (int i = 0; err == NC_NOERR && i < plan->options->nslabs; i++)
        err = take_slab(plan, &plan->options->slabs[i]);
    if (err == NC_NOERR)
        err = copy_where_apply(plan);
    for (int i = 0; err == NC_NOERR && i < plan->ndims; i++)
        if (plan->dims[i].count == 0 && !plan->dims[i].unlimited)
            err = copy_error_print(plan, NC_EDIMSIZE, "%s: dimension %s has length 0: only a record dimension can",
                                   plan->options->inputs[0], plan->dims[i].name);
    for (int i = 0; err == NC_NOERR && i < plan->nvars; i++)
        for (int d = 0; d < plan->vars[i].ndims; d++)
            plan->vars[i].shape[d] = plan->dims[plan->vars[i].dimids[d]].count;
    return err;
}

/* --- the other inputs --- */

static int scan_input(copy_plan *plan, copy_guard *guard, int index)
{
    const char *path = plan->options->inputs[index];
    copy_dim *join = &plan->dims[plan->join];
    MPI_Offset length = 0;
    int ncid, dimid;
    int err = copy_input_open(plan, path, &ncid);
    if (err != NC_NOERR)
        return err;
    if (ncmpi_inq_dimid(ncid, join->name, &dimid) != NC_NOERR || ncmpi_inq_dimlen(ncid, dimid, &length) != NC_NOERR)
        err = copy_error_print(plan, NC_EBADDIM, "%s: no dimension %s to join files along", path, join->name);
    plan->lengths[index] = length;
    if (err == NC_NOERR && pnc_size_add(join->total, length, &join->total) != 0)
        err = copy_error_print(plan, NC_EDIMSIZE, "%s: dimension %s becomes too long", path, join->name);
    if (err == NC_NOERR)
        err = copy_guard_check(guard, plan, index, ncid);
    ncmpi_close(ncid);
    return err;
}

/* --- the plan --- */

/* Without -k, options of netCDF-4 choose it, as with nccopy; with the classic model, if the types allow it. */
static void choose_format(copy_plan *plan)
{
    const copy_options *options = plan->options;
    bool stores = options->nstorages > 0 || options->shuffle > 0;
    if (options->format != 0 || !stores || copy_format_has_storage(plan->format))
        return;
    plan->format = plan->format == NC_FORMAT_CDF5 ? NC_FORMAT_NETCDF4 : NC_FORMAT_NETCDF4_CLASSIC;
}

static int load_first(copy_plan *plan, int ncid)
{
    int format, nvars;
    int err = ncmpi_inq(ncid, &plan->ndims, &nvars, &plan->natts, NULL);
    if (err == NC_NOERR)
        err = ncmpi_inq_format(ncid, &format);
    if (err != NC_NOERR)
        return copy_failure_print(plan, plan->options->inputs[0], err);
    plan->format = plan->options->format != 0 ? plan->options->format : format;
    err = check_names(plan, ncid, nvars);
    if (err != NC_NOERR)
        return err;
    plan->lengths = pnc_memory_alloc_zeroed(plan->options->ninputs, sizeof *plan->lengths);
    err = plan->lengths != NULL ? NC_NOERR : NC_ENOMEM;
    if (err == NC_NOERR)
        err = load_dims(ncid, plan);
    if (err == NC_NOERR)
        err = load_unlimited(ncid, plan);
    if (err == NC_NOERR)
        err = load_vars(ncid, nvars, plan);
    err = tool_status_agree(err);
    if (err != NC_NOERR)
        return copy_failure_print(plan, plan->options->inputs[0], err);
    choose_format(plan);
    err = copy_storage_check(plan);
    if (err == NC_NOERR)
        err = copy_edits_check(plan, ncid);
    if (err == NC_NOERR)
        err = choose_record(plan);
    if (err == NC_NOERR)
        err = choose_types(ncid, plan);
    return err == NC_NOERR ? copy_quantizers_choose(ncid, plan) : err;
}

/* The other inputs, beside the first one. */
static int scan_inputs(copy_plan *plan, int first)
{
    copy_guard guard;
    int err = copy_guard_init(plan, first, &guard);
    for (int i = 1; err == NC_NOERR && i < plan->options->ninputs; i++)
        err = scan_input(plan, &guard, i);
    if (plan->rank == 0)
        tool_warnings_finish();
    copy_guard_free(&guard);
    return err;
}

int copy_plan_init(const copy_options *options, copy_plan *plan)
{
    int ncid;
    *plan = (copy_plan){.options = options, .record = -1, .join = -1};
    MPI_Comm_rank(MPI_COMM_WORLD, &plan->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &plan->nprocs);
    int err = copy_input_open(plan, options->inputs[0], &ncid);
    if (err != NC_NOERR)
        return err;
    err = load_first(plan, ncid);
    if (err == NC_NOERR && plan->join >= 0)
        plan->lengths[0] = plan->dims[plan->join].total;
    if (err == NC_NOERR && options->ninputs > 1)
        err = scan_inputs(plan, ncid);
    ncmpi_close(ncid);
    return err == NC_NOERR ? choose_lengths(plan) : err;
}

void copy_plan_free(copy_plan *plan)
{
    for (int i = 0; i < plan->nvars; i++) {
        pnc_memory_free(plan->vars[i].dimids);
        pnc_memory_free(plan->vars[i].shape);
    }
    pnc_memory_free(plan->vars);
    pnc_memory_free(plan->dims);
    pnc_memory_free(plan->lengths);
    pnc_memory_free(plan->sizes);
    pnc_memory_free(plan->adapted);
}
