/* CDL, the text form of netCDF as ncmpidump and ncdump print it, to a model and, where asked for, the data.
 *
 * cdl_tokens.l has the words, cdl_grammar.y the sentences; what they mean is in cdl_header.c, cdl_data.c and
 * cdl_value.c. Text is read piece by piece: what is kept is the header and one word. */
#ifndef PNC_FORMAT_CDL_H
#define PNC_FORMAT_CDL_H

#include "format/model.h"

/* Where the text comes from. */
typedef struct pnc_cdl_source {
    const char *name; /* messages begin with "name:line:column: "; NULL: with "line l, column c: " */
    int format;       /* that the file shall have; 0: the one that the text names in a comment "// file format: CDF-n"
                         before the first definition or in an attribute :_Format, else the smallest that holds it all */
    /* At most room next bytes; 0 at the end; negative: a code, after a word to error. */
    int64_t (*read)(void *with, void *bytes, int64_t capacity, pnc_error *error);
    void *with;
} pnc_cdl_source;

/* Who takes the data. Each function may be NULL, and returns NC_NOERR, or a code after a word to error, which ends the
 * reading. */
typedef struct pnc_cdl_sink {
    /* The header is complete, laid out and will not change. name: the word after "netcdf". */
    int (*header)(void *with, const pnc_model *model, const char *name, pnc_error *error);
    /* The next n elements of a variable, external bytes, from its element first. */
    int (*values)(void *with, int varid, int64_t first, const void *bytes, int64_t n, pnc_error *error);
    /* The elements up to n, the whole variable or whole records, have come. Records may follow at the end. */
    int (*end)(void *with, int varid, int64_t n, pnc_error *error);
    void *with;
} pnc_cdl_sink;

/* Read CDL. Without a sink reading ends at "data:" or at the last brace, and layout is left to the caller; with one it
 * goes through the data, and model->numrecs is set at the end.
 *
 * Where the values of a variable end within a row, a text is followed by null characters, as the dumping tools drop
 * them; else the rest of the variable, or of its last record, is filled.
 *
 * On failure the model is empty and the message begins with the place (columns count characters). NC_ENOTNC: the text
 * is not CDL; NC_ECHAR: text and numbers are mixed; NC_ERANGE: a number does not fit its type; NC_EEDGE: more values
 * than the variable has; NC_ENOTVAR, NC_EBADDIM, NC_EBADTYPE: a name that stands for nothing; else the codes of the
 * model's functions. */
int pnc_format_cdl_read(const pnc_cdl_source *source, const pnc_cdl_sink *sink, pnc_model *model, pnc_error *error);

/* The same from memory and without a sink. */
int pnc_format_cdl_parse(const char *text, int64_t size, pnc_model *model, pnc_error *error);

#endif
