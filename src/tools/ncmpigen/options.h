/* The command line of ncmpigen. */
#ifndef PNC_TOOLS_NCMPIGEN_OPTIONS_H
#define PNC_TOOLS_NCMPIGEN_OPTIONS_H

#include <stdbool.h>

typedef struct gen_options {
    const char *input;  /* NULL: standard input */
    const char *output; /* NULL: a file named after the dataset or, for a program, standard output */
    bool binary, c, fortran;
    bool cdf;       /* extension .cdf instead of .nc */
    bool overwrite; /* replace files of any kind */
    bool no_fill;
    int format; /* 1, 2, 5; 0: given by the text */
} gen_options;

/* Returns -1 if there is a text to read, else the exit status, after all output. */
int gen_options_parse(int argc, char **argv, gen_options *options);

#endif
