/* What the command line asks for. */
#ifndef PNC_TOOLS_NCMPIGEN_OPTIONS_H
#define PNC_TOOLS_NCMPIGEN_OPTIONS_H

#include <stdbool.h>

typedef struct gen_options {
    const char *input;  /* NULL: standard input */
    const char *output; /* NULL: made of the dataset's name, or standard output */
    bool binary, c, fortran;
    bool cdf; /* the extension is .cdf */
    bool no_fill;
    int format; /* 1, 2, 5, or 0 for the one that the text asks for */
} gen_options;

/* Returns -1 when there is something to do, else the exit status: all is said. */
int gen_options_parse(int argc, char **argv, gen_options *options);

#endif
