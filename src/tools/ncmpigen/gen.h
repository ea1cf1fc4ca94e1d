/* The kinds of output that are generated from CDL. Each provides a sink for the reader of CDL (format/cdl.h). */
#ifndef PNC_TOOLS_NCMPIGEN_GEN_H
#define PNC_TOOLS_NCMPIGEN_GEN_H

#include "format/cdl.h"
#include "tools/common/output.h"
#include "tools/ncmpigen/options.h"

/* begin sets *sink; finish is called at the end of the text, with the complete model; discard is called after an error
 * of the sink or of finish. begin and finish return NC_NOERR, or a code after setting error. */
typedef struct gen_kind {
    int (*begin)(const gen_options *options, pnc_cdl_sink *sink, pnc_error *error);
    int (*finish)(void *with, const pnc_model *model, pnc_error *error);
    void (*discard)(void *with);
} gen_kind;

extern const gen_kind gen_check;   /* no output: the text is only checked */
extern const gen_kind gen_binary;  /* a netCDF file */
extern const gen_kind gen_c;       /* a C program that creates the file */
extern const gen_kind gen_fortran; /* the same in Fortran 77 */

/* Number of elements of a fixed-size variable, or of one record of a record variable. */
int64_t gen_var_count_elements(const pnc_var *var);
/* The name of the file, to be freed by the caller: the argument of -o, or the name of the dataset with the extension.
 * Returns NULL after setting error. */
char *gen_path_make(const gen_options *options, const char *name, const char *extension, pnc_error *error);

/* Begin an output of this name. check: whether that of -o can be one, before the text is read. NC_NOERR, or a code
 * after setting error. */
int gen_output_begin(const gen_options *options, const char *path, tool_output *output, pnc_error *error);
int gen_output_check(const gen_options *options, pnc_error *error);

#endif
