/* Writing fill values. */
#ifndef PNC_GROWTH_FILL_H
#define PNC_GROWTH_FILL_H

#include "format/model.h"
#include "growth/io.h"

/* Write fill values to variable `varid` and later ones that are filled, in all records. Collective. */
int pnc_growth_vars_fill(const pnc_growth_io *io, const pnc_model *model, int varid);
/* Write this rank's part of the fill values of one record. Local. */
int pnc_growth_record_fill(const pnc_growth_io *io, const pnc_model *model, const pnc_var *var, int64_t record);

#endif
