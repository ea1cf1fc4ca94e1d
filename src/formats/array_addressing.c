/* Where the elements of variables are that are arrays of the store of chunks: each in an address space of its own. */
#include "formats/arrays.h"

#include "base/memory.h"
#include "format/codec.h"

/* Of a variable whose first dimension is unlimited, with the current lengths of the others; also in a file that is only
 * read, where it does not grow. */
static int64_t get_record_bytes(const pnc_model *model, const pnc_var *var)
{
    int64_t bytes = (int64_t)pnc_type_get_size(var->type);

    for (int d = 1; d < var->ndims; d++)
        if (pnc_size_multiply(bytes, pnc_format_var_get_length(model, var, d), &bytes) < 0)
            return INT64_MAX;
    return bytes;
}

/* As in a classic file with the same definitions: records are padded, unless there is one such variable. */
int64_t pnc_formats_record_size_get(const pnc_model *model)
{
    int64_t exact = 0, padded = 0;
    int n = 0;

    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        int64_t bytes;

        if (var->ndims == 0 || !model->dims[var->dimids[0]]->unlimited)
            continue;
        n++;
        bytes = get_record_bytes(model, var);
        if (bytes > INT64_MAX - 3 || pnc_size_add(padded, pnc_format_size_get_padded(bytes), &padded) < 0)
            return INT64_MAX;
        exact += bytes;
    }
    return n == 1 ? exact : padded;
}

/* Offsets in an array are those of its values in row-major order. In define mode a new variable has no array yet. */
static pnc_mapping get_array_mapping(const pnc_model *model, const pnc_var *var)
{
    const int64_t *shape = var->netcdf4.shape != NULL ? var->netcdf4.shape : var->shape;
    pnc_mapping m = {.array = {.name = var->name,
                               .begin = var->netcdf4.address,
                               .elem_size = (int)pnc_type_get_size(var->type),
                               .ndims = var->ndims,
                               .shape = shape,
                               .is_record = var->is_record,
                               .most = var->netcdf4.shape},
                     .part = var->size};

    (void)model;
    if (var->inner_unlimited) {
        m.part = m.array.elem_size;
        for (int d = var->is_record; d < var->ndims; d++)
            m.part *= shape[d];
    }
    m.array.recsize = var->is_record ? m.part : 0;
    return m;
}

static int64_t get_any_records(const pnc_model *model)
{
    (void)model;
    return INT64_MAX;
}

static int allow_records(const pnc_model *model, const pnc_var *var, int64_t first, int64_t records, pnc_error *error)
{
    (void)model, (void)var, (void)first, (void)records, (void)error;
    return NC_NOERR;
}

/* A filetype over records has those of a classic file in mind, at the distance of the record size. Here they are at
 * that of their own bytes: the same with one record variable. */
static int check_record_distance(const pnc_model *model, const pnc_var *var, int64_t end, pnc_error *error)
{
    int64_t record = get_record_bytes(model, var), distance;

    if (record > 0 && end <= record)
        return NC_NOERR;
    distance = pnc_formats_record_size_get(model);
    if (record > 0 && record == distance)
        return NC_NOERR;
    return pnc_error_set(error, NC_ETYPESIZE,
                         "variable \"%s\" has %lld bytes in each record, of %lld bytes of all variables, and the "
                         "filetype reaches byte %lld: in a netCDF-4 file it must be inside the first record: use varn "
                         "or nonblocking calls",
                         var->name, (long long)record, (long long)distance, (long long)end - 1);
}

/* Other variables are elsewhere: what is behind this one belongs to none, or to any. */
static int check_inside(const pnc_var *var, const pnc_reach *reach, bool is_record, pnc_error *error)
{
    if (reach->is_aligned && reach->first >= 0 && !var->inner_unlimited && (is_record || reach->end <= var->size))
        return NC_NOERR;
    return pnc_error_set(error, NC_ETYPESIZE,
                         "variable \"%s\" of a netCDF-4 file has %lld bytes, and the filetype covers bytes %lld to "
                         "%lld%s: must be %s",
                         var->name, (long long)var->size, (long long)reach->first, (long long)reach->end,
                         reach->is_aligned ? "" : ", also parts of elements",
                         var->inner_unlimited ? "MPI_DATATYPE_NULL, as a dimension behind the first is unlimited"
                                              : "elements inside the variable");
}

static int check_within_var(const pnc_model *model, const pnc_var *var, const pnc_reach *reach, bool is_put,
                            int64_t *numrecs, pnc_error *error)
{
    bool is_record = var->ndims > 0 && model->dims[var->dimids[0]]->unlimited;
    int64_t records, most;

    PNC_TRY(check_inside(var, reach, is_record, error));
    if (!is_record)
        return NC_NOERR;
    PNC_TRY(check_record_distance(model, var, reach->end, error));
    records = (reach->end - 1) / get_record_bytes(model, var) + 1;
    most = is_put ? var->netcdf4.shape[0] : pnc_format_dim_get_length(model, var->dimids[0]);
    if (records > most)
        return pnc_error_set(error, NC_EINVALCOORDS,
                             "variable \"%s\": the filetype extends to %lld records, but the file has %lld", var->name,
                             (long long)records, (long long)most);
    if (is_put)
        *numrecs = records;
    return NC_NOERR;
}

const pnc_addressing pnc_formats_array_addressing = {.get_mapping = get_array_mapping,
                                                     .get_most_records = get_any_records,
                                                     .check_records = allow_records,
                                                     .check_reach = check_within_var};
