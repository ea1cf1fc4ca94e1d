/* The mapping of a variable of a classic file, whose address space is the file. */
#ifndef PNC_FORMAT_MAPPING_H
#define PNC_FORMAT_MAPPING_H

#include "format/model.h"
#include "mapping/mapping.h"

/* In define mode the addresses are not yet assigned, or will change. */
static inline pnc_mapping pnc_format_mapping_get(const pnc_model *model, const pnc_var *var)
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

/* The length of a dimension of the variable; of the record dimension, the number of records. */
static inline int64_t pnc_format_var_get_length(const pnc_model *model, const pnc_var *var, int dim)
{
    return var->is_record && dim == 0 ? model->numrecs : var->shape[dim];
}

/* 1, 2 or 5: the conversion of values depends on it. */
static inline int pnc_format_model_get_version(const pnc_model *model)
{
    return model->format;
}

/* What the number of records may be. */
int64_t pnc_format_records_get_most(const pnc_model *model);
/* Whether the file can have so many records, which a request needs; `first`: the first of them. */
int pnc_format_records_check(const pnc_model *model, const pnc_var *var, int64_t first, int64_t records,
                             pnc_error *error);
/* Whether a filetype may cover the bytes from `first` to before `end`, relative to the beginning of the variable. It
 * may extend into other variables, because one call may write several of them, but not beyond the data of the file.
 * Records are unbounded: a put sets *numrecs if it covers some of any variable, the number up to the highest one. */
int pnc_format_reach_check(const pnc_model *model, const pnc_var *var, int64_t first, int64_t end, bool is_put,
                           int64_t *numrecs, pnc_error *error);

#endif
