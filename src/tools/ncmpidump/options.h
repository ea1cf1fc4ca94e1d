/* The command line of ncmpidump. */
#ifndef PNC_TOOLS_NCMPIDUMP_OPTIONS_H
#define PNC_TOOLS_NCMPIDUMP_OPTIONS_H

#include <stdbool.h>

#include "tools/common/names.h"

typedef struct dump_options {
    char **paths;
    int npaths;
    const char *path; /* the one that is printed */
    const char *name; /* NULL: made from path */
    tool_names variables;
    bool header_only, coordinates_only;
    bool brief, full, fortran; /* comments with indices: one per row; after every value; in Fortran's order, from 1 */
    int line_length;
    int float_digits, double_digits;
    bool float_digits_given, double_digits_given;
    char dates;   /* the separator of date and time; '\0': print times as numbers */
    bool special; /* print the virtual attribute _Format too */
    bool json, progress;
    bool kind, version; /* print only the kind, or the version, of the format */
    bool checksum;      /* print a manifest of checksums instead */
    bool stats;         /* print statistics of the variables instead */
    bool bits;          /* with these: how many bits carry information */
    const char *plot;   /* VARIABLE,DIMENSION=INDEX,...: draw a picture instead; NULL: no */
    const char *output; /* the file of the picture; NULL: standard output */
    bool follow;        /* print records as they appear */
    long long from;     /* the first one; negative: from the end */
    double idle;        /* seconds after which the file counts as complete; 0: never */
} dump_options;

/* Returns -1 if there is a file to dump, else the exit status, after all output. */
int dump_options_parse(int argc, char **argv, dump_options *options);
void dump_options_free(dump_options *options);

#endif
