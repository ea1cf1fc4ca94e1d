/* The parts of ncoffsets: three views of one file. */
#ifndef PNC_TOOLS_NCOFFSETS_OFFSETS_H
#define PNC_TOOLS_NCOFFSETS_OFFSETS_H

#include <stdio.h>

#include "tools/common/file.h"
#include "tools/ncoffsets/options.h"

/* The end of the data of the variable or header that lies before var in the file. */
int64_t offsets_var_find_previous_end(const pnc_model *model, int varid);

/* Are there gaps between fixed-size variables, padding included? */
bool offsets_file_has_gaps(const pnc_model *model);

void offsets_list_print(const tool_file *file, const options *o);
void offsets_alignment_print(const tool_file *file, int64_t align);

/* NC_NOERR or NC_ENOMEM. align 0: no stripes. */
int offsets_picture_draw(const tool_file *file, int64_t align, FILE *out);

#endif
