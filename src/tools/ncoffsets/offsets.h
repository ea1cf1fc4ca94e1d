/* ncoffsets describes a file in three forms: a list of offsets, a report of alignment, and a picture. */
#ifndef PNC_TOOLS_NCOFFSETS_OFFSETS_H
#define PNC_TOOLS_NCOFFSETS_OFFSETS_H

#include <stdio.h>

#include "tools/common/file.h"
#include "tools/ncoffsets/options.h"

/* The end of the variable, or of the header, that precedes this variable in the file. */
int64_t offsets_var_find_previous_end(const pnc_model *model, int varid);

/* True if there are gaps between fixed-size variables. Padding is a gap. */
bool offsets_file_has_gaps(const pnc_model *model);

void offsets_list_print(const tool_file *file, const options *o);
void offsets_json_print(const tool_file *file, const options *o);
void offsets_alignment_print(const tool_file *file, int64_t align);

/* Returns NC_NOERR or NC_ENOMEM. align: size of a stripe in bytes; 0: stripes are not marked. */
int offsets_picture_draw(const tool_file *file, int64_t align, FILE *out);

#endif
