/* The mapping of a variable of a classic file, whose address space is the file, and its records. */
#ifndef PNC_FORMAT_MAPPING_H
#define PNC_FORMAT_MAPPING_H

#include "format/addressing.h"

/* Of classic files. The functions below are in it. */
extern const pnc_addressing pnc_format_classic_addressing;

pnc_mapping pnc_format_mapping_get(const pnc_model *model, const pnc_var *var);
int64_t pnc_format_records_get_most(const pnc_model *model);
int pnc_format_records_check(const pnc_model *model, const pnc_var *var, int64_t first, int64_t records,
                             pnc_error *error);
int pnc_format_reach_check(const pnc_model *model, const pnc_var *var, const pnc_reach *reach, bool is_put,
                           int64_t *numrecs, pnc_error *error);

#endif
