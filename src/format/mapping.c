/* What requests of a variable of a classic file depend on: records, and what a filetype may reach. */
#include "format/mapping.h"

#include "format/layout.h"

pnc_mapping pnc_format_mapping_get(const pnc_model *model, const pnc_var *var)
{
    return (pnc_mapping){.array = {.name = var->name,
                                   .begin = var->classic.begin,
                                   .elem_size = (int)pnc_type_get_size(var->type),
                                   .ndims = var->ndims,
                                   .shape = var->shape,
                                   .is_record = var->is_record,
                                   .recsize = model->classic.recsize},
                         .part = var->size};
}

/* CDF-1 and CDF-2 store the number of records in 4 bytes. */
int64_t pnc_format_records_get_most(const pnc_model *model)
{
    return model->format == 5 ? INT64_MAX : INT32_MAX;
}

int pnc_format_records_check(const pnc_model *model, const pnc_var *var, int64_t first, int64_t records,
                             pnc_error *error)
{
    int64_t most = pnc_format_records_get_most(model);
    const char *kind;

    if (records <= most)
        return NC_NOERR;
    kind = pnc_error_explain_kind(error, records);
    return pnc_error_set(error, first >= most ? NC_EINVALCOORDS : NC_EEDGE,
                         kind[0] == '\0' ? "the request needs %lld records%s, but variable \"%s\" of a CDF-%d file has "
                                           "at most %lld: use NC_64BIT_DATA"
                                         : "the request needs %lld records%s, but variable \"%s\" of a CDF-%d file has "
                                           "at most %lld",
                         (long long)records, kind, var->name, model->format, (long long)most);
}

int pnc_format_reach_check(const pnc_model *model, const pnc_var *var, const pnc_reach *reach, bool is_put,
                           int64_t *numrecs, pnc_error *error)
{
    int64_t low = model->classic.header_extent, first = reach->first, end = reach->end, records;
    int64_t high = model->classic.recsize > 0 ? INT64_MAX : pnc_format_layout_get_file_end(model);

    if (first < low - var->classic.begin || end > high - var->classic.begin)
        return pnc_error_set(
            error, NC_ETYPESIZE,
            "variable \"%s\" begins at byte %lld of the file, and the filetype covers bytes %lld to %lld "
            "relative to it: must be inside the data of the file, bytes %lld to %lld",
            var->name, (long long)var->classic.begin, (long long)first, (long long)end, (long long)low,
            (long long)high);
    if (model->classic.recsize == 0 || var->classic.begin + end <= model->classic.begin_rec)
        return NC_NOERR;
    records = (var->classic.begin + end - model->classic.begin_rec - 1) / model->classic.recsize + 1;
    if (is_put) {
        *numrecs = records;
        return pnc_format_records_check(model, var, records - 1, records, error);
    }
    if (records > model->numrecs)
        return pnc_error_set(error, NC_EINVALCOORDS,
                             "variable \"%s\": the filetype extends to %lld records, but the file has %lld", var->name,
                             (long long)records, (long long)model->numrecs);
    return NC_NOERR;
}

const pnc_addressing pnc_format_classic_addressing = {.get_mapping = pnc_format_mapping_get,
                                                      .get_most_records = pnc_format_records_get_most,
                                                      .check_records = pnc_format_records_check,
                                                      .check_reach = pnc_format_reach_check};
