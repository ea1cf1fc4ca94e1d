/* What a picture consists of, for its two parts. */
#ifndef PNC_TOOLS_NCOFFSETS_PICTURE_H
#define PNC_TOOLS_NCOFFSETS_PICTURE_H

#include "tools/ncoffsets/offsets.h"
#include "tools/ncoffsets/svg.h"

enum { PICTURE_WIDTH = 1040, PICTURE_MARGIN = 30, PICTURE_ROW = 24, PICTURE_ROWS = 40 };

/* Bytes from begin to end that belong together. */
typedef enum part_kind { PART_HEADER, PART_FREE, PART_VARIABLE, PART_RECORDS, PART_BEHIND, PART_LOST } part_kind;

typedef struct part {
    part_kind kind;
    int varid; /* of PART_VARIABLE; -1: several that are not told apart */
    int nvars;
    int64_t begin, end;
} part;

/* The style of a variable: colours come again after ten. */
const char *offsets_picture_get_colour(int varid);

/* "float temp(time, lat)" */
void offsets_picture_format_variable(const pnc_model *model, const pnc_var *var, char *text, size_t capacity);

/* The part about records, from y on; returns where it ends, or would end if out is NULL. */
double offsets_picture_draw_records(const tool_file *file, double y, FILE *out);

#endif
