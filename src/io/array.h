/* A variable as input of src/select. Pure. */
#ifndef PNC_IO_ARRAY_H
#define PNC_IO_ARRAY_H

#include "format/model.h"
#include "select/selection.h"

/* `shape` has capacity for the dimensions of the variable; a record variable has so many records. */
static inline pnc_array pnc_io_array_get(const pnc_model *model, const pnc_var *var, int64_t numrecs, int64_t *shape)
{
    for (int i = 0; i < var->ndims; i++)
        shape[i] = var->is_record && i == 0 ? numrecs : var->shape[i];
    return (pnc_array){.name = var->name,
                       .begin = var->begin,
                       .elem_size = (int)pnc_type_get_size(var->type),
                       .ndims = var->ndims,
                       .shape = shape,
                       .is_record = var->is_record,
                       .recsize = model->recsize};
}

#endif
