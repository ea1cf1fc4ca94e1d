/* The mapping of a variable of a classic file, whose address space is the file. */
#ifndef PNC_FORMAT_MAPPING_H
#define PNC_FORMAT_MAPPING_H

#include "format/model.h"
#include "mapping/mapping.h"

/* In define mode the addresses are not yet assigned, or will change. */
static inline pnc_mapping pnc_format_mapping_get(const pnc_model *model, const pnc_var *var)
{
    return (pnc_mapping){.array = {.name = var->name,
                                   .begin = var->begin,
                                   .elem_size = (int)pnc_type_get_size(var->type),
                                   .ndims = var->ndims,
                                   .shape = var->shape,
                                   .is_record = var->is_record,
                                   .recsize = model->recsize},
                         .part = var->size};
}

#endif
