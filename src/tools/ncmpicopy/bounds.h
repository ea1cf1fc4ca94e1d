/* The ends of --where: numbers, or dates of the calendar of a coordinate. */
#ifndef PNC_TOOLS_NCMPICOPY_BOUNDS_H
#define PNC_TOOLS_NCMPICOPY_BOUNDS_H

#include <stdbool.h>

#include "tools/common/calendar.h"

enum { COPY_WORD_SIZE = 128 };

typedef struct copy_range {
    double least, most; /* of a time hours since 1970, and `most` is not included: the end of a period */
} copy_range;

/* How the numbers of a coordinate become values. */
typedef struct copy_scale {
    bool is_time, is_longitude;
    bool is_plain; /* numbers are values, and any of its type can be one: nothing packs or limits them */
    cal_units units;
    char calendar[COPY_WORD_SIZE];
    double factor, offset;
} copy_scale;

void copy_scale_load(int ncid, int varid, copy_scale *s);

/* first:last, of which one may be empty, or a value; the text is shorter than COPY_WORD_SIZE. */
bool copy_range_parse(const copy_scale *s, const char *text, copy_range *r);
/* A value, or the start of a date of which parts are given. */
bool copy_value_parse(const copy_scale *s, const char *text, double *value);
/* A text attribute of a variable that is shorter than a word. */
bool copy_word_get(int ncid, int varid, const char *name, char text[COPY_WORD_SIZE]);

#endif
