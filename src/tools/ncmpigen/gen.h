/* What CDL can become: each kind of output is a sink of the reader of CDL. */
#ifndef PNC_TOOLS_NCMPIGEN_GEN_H
#define PNC_TOOLS_NCMPIGEN_GEN_H

#include <stdbool.h>
#include <stdio.h>

#include "format/cdl.h"
#include "tools/ncmpigen/options.h"

/* Begin makes *sink; finish is called after the text was read to its end, with the model as it is then; discard after a
 * failure of anything but begin. All but discard return a code, after a word to error. */
typedef struct gen_kind {
    int (*begin)(const gen_options *options, pnc_cdl_sink *sink, pnc_error *error);
    int (*finish)(void *with, const pnc_model *model, pnc_error *error);
    void (*discard)(void *with);
} gen_kind;

extern const gen_kind gen_check;   /* nothing: the text is only read */
extern const gen_kind gen_binary;  /* a netCDF file */
extern const gen_kind gen_c;       /* a C program that creates the file */
extern const gen_kind gen_fortran; /* the same in Fortran 77 */

/* Elements of a variable, or of one record of it. */
int64_t gen_var_count_elements(const pnc_var *var);
/* The file's name, to be freed: that of -o, or made of the dataset's name. NULL after a word to error. */
char *gen_path_make(const gen_options *options, const char *name, const char *extension, pnc_error *error);

#endif
