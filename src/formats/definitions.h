/* What formats share whose definitions all ranks get from rank 0, and change in data mode as a whole. All are local. */
#ifndef PNC_FORMATS_DEFINITIONS_H
#define PNC_FORMATS_DEFINITIONS_H

#include "formats/format.h"

/* Before the definitions of rank 0 replace the model: they get what no file has, such as what the program has chosen,
 * and `overruled` and `difference` are set. */
void pnc_formats_definitions_adopt(pnc_format *f, pnc_model *found);

/* In the classic model attributes grow in define mode only, as with netCDF-C and in classic files: as check_change of
 * pnc_format_ops. */
int pnc_formats_change_check(pnc_format *f, const pnc_format_change *change);
/* As check_rename: each may. */
int pnc_formats_rename_check(pnc_format *f, int varid, const char *name);
/* The model gets a change. */
int pnc_formats_change_apply(pnc_format *f, const pnc_format_change *change);

#endif
