/* What the command line asks for. */
#ifndef PNC_TOOLS_NCMPIDUMP_OPTIONS_H
#define PNC_TOOLS_NCMPIDUMP_OPTIONS_H

#include <stdbool.h>

#include "tools/common/names.h"

typedef struct dump_options {
    const char *path;
    const char *name; /* NULL: made from path */
    tool_names variables;
    bool header_only, coordinates_only;
    bool brief, full, fortran; /* comments with indices: one per row, after every value, counted as Fortran does */
    int line_length;
    int float_digits, double_digits;
    bool float_digits_given, double_digits_given;
    char dates;   /* what stands between date and time; '\0': times are numbers */
    bool special; /* also attributes that are not in the file, but say how it is stored */
    bool json;
    bool kind, version; /* print only these */
} dump_options;

/* Returns -1 when there is a file to be dumped, else the exit status: all is said, and nothing is left to do. */
int dump_options_parse(int argc, char **argv, dump_options *options);
void dump_options_free(dump_options *options);

#endif
