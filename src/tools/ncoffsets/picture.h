/* The elements of a picture, shared by the files that draw the whole file and the records. */
#ifndef PNC_TOOLS_NCOFFSETS_PICTURE_H
#define PNC_TOOLS_NCOFFSETS_PICTURE_H

#include "tools/ncoffsets/offsets.h"
#include "tools/common/svg.h"

enum { PICTURE_WIDTH = 1040, PICTURE_MARGIN = 30, PICTURE_ROW = 24, PICTURE_ROWS = 40 };

/* A part is an extent of the file that the picture shows as one rectangle and one row. */
typedef enum part_kind { PART_HEADER, PART_FREE, PART_VARIABLE, PART_RECORDS, PART_BEHIND } part_kind;

typedef struct part {
    part_kind kind;
    int varid;       /* of PART_VARIABLE; -1: a group of small variables shown as one part */
    int nvars;       /* number of variables in the part */
    int first, last; /* ids of the first and last one */
    int group;       /* number of the group */
    int64_t begin, end;
} part;

/* The style of a variable. There are ten colours; the eleventh variable has the first one again. */
const char *offsets_picture_get_colour(int varid);

/* "float temp(time, lat)" */
void offsets_picture_format_variable(const pnc_model *model, const pnc_var *var, char *text, size_t capacity);

/* Draw the records below y. Returns the y at which the drawing ends. With out NULL nothing is drawn, only measured. */
double offsets_picture_draw_records(const tool_file *file, double y, FILE *out);

#endif
