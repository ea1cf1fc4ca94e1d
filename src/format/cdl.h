/* Read CDL, the text form of netCDF that ncmpidump and ncdump print, into a model and, with a sink, its data.
 *
 * cdl_tokens.l has the scanner, cdl_grammar.y the parser; cdl_header.c, cdl_data.c and cdl_value.c their actions.
 * Memory holds the header and one token: data are passed on in blocks. */
#ifndef PNC_FORMAT_CDL_H
#define PNC_FORMAT_CDL_H

#include "format/model.h"

/* The input. */
typedef struct pnc_cdl_source {
    const char *name; /* messages begin with "name:line:column: "; NULL: with "line l, column c: " */
    int format;       /* format to create; 0: the one that the text gives in a comment "// file format: CDF-n" before
                         the first definition or in an attribute :_Format, else the smallest classic one that can hold
                         the data. Without a sink, only a classic one */
    /* Reads at most capacity bytes; returns their number, 0 at the end, or a negative code with a message in error. */
    int64_t (*read)(void *with, void *bytes, int64_t capacity, pnc_error *error);
    void *with;
} pnc_cdl_source;

/* The receiver of the data. Each function may be NULL, and returns NC_NOERR, or a code with a message in error, which
 * ends reading. */
typedef struct pnc_cdl_sink {
    /* The header is complete, has its layout, and does not change any more. name: the word after "netcdf". */
    int (*header)(void *with, const pnc_model *model, const char *name, pnc_error *error);
    /* The next n elements of a variable as external bytes, starting with element `first`. */
    int (*values)(void *with, int varid, int64_t first, const void *bytes, int64_t n, pnc_error *error);
    /* The variable is complete up to element n: as a whole, or whole records. More records may follow at the end. */
    int (*end)(void *with, int varid, int64_t n, pnc_error *error);
    void *with;
} pnc_cdl_sink;

/* A text for a netCDF-4 file gives a model by the rules of CDF-5, whose format is NC_FORMAT_NETCDF4 or _CLASSIC from
 * sink->header on. Its layout is that of a CDF-5 file with the same values. Variables have a storage where special
 * attributes say how they are stored.
 *
 * Read CDL. Without a sink, reading ends at "data:" or at the last brace, and the caller computes the layout; with a
 * sink, the data are read too, and model->numrecs is set at the end.
 *
 * If the values of a variable end within a row, a text is padded with null characters, because the dumping tools drop
 * them; otherwise the rest of the variable, or of its last record, is filled.
 *
 * After an error the model is empty, and the message begins with line and column (columns count characters). NC_ENOTNC:
 * the text is not CDL; NC_ECHAR: text and numbers are mixed; NC_ERANGE: a number does not fit its type; NC_EEDGE: more
 * values than the variable has; NC_ENOTVAR, NC_EBADDIM, NC_EBADTYPE: unknown name; else the codes of the model's
 * functions. */
int pnc_format_cdl_read(const pnc_cdl_source *source, const pnc_cdl_sink *sink, pnc_model *model, pnc_error *error);

/* As above, from memory and without a sink. */
int pnc_format_cdl_parse(const char *text, int64_t size, pnc_model *model, pnc_error *error);

#endif
