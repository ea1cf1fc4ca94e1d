/* Shared by the files that read CDL: the reader, tokens and numbers, and the action of each construct. */
#ifndef PNC_FORMAT_CDL_READER_H
#define PNC_FORMAT_CDL_READER_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "format/cdl.h"

/* Of the first character of a token or construct. */
typedef struct pnc_cdl_position {
    int64_t line, column;
} pnc_cdl_position;

/* A word of the text; NULL where an optional one is missing. */
typedef struct pnc_cdl_word {
    pnc_cdl_position at;
    const char *text;
} pnc_cdl_word;

typedef struct pnc_cdl_number {
    union {
        uint64_t magnitude; /* of an integer */
        double real;
    } value;
    float single;       /* of a real number: rounded once, from the text */
    unsigned char type; /* given by the suffix, or the smallest from int on that can hold the number */
    bool real, negative;
} pnc_cdl_number;

/* A growing array of bytes. */
typedef struct pnc_cdl_bytes {
    char *at;
    int64_t n, capacity;
} pnc_cdl_bytes;

/* A value of an attribute, kept until the types of all values are known. */
typedef struct pnc_cdl_item {
    pnc_cdl_number number;
    pnc_cdl_position position;
} pnc_cdl_item;

enum { PNC_CDL_SHOWN = 40 }; /* bytes of a token that a message quotes */

typedef struct pnc_cdl_reader {
    const pnc_cdl_source *source;
    const pnc_cdl_sink *sink; /* NULL: data are not read */
    pnc_model *model;
    pnc_error *error;
    int code; /* of the error that ends reading */
    jmp_buf *out_of_memory;
    /* the scanner */
    union pnc_cdl_block *blocks;   /* its memory */
    pnc_cdl_position next;         /* after the last token */
    pnc_cdl_position opened;       /* of the text or comment that is read */
    char shown[PNC_CDL_SHOWN + 4]; /* the last token, cut */
    bool ended;                    /* the last token was returned */
    bool too_long;                 /* a token exceeds the scanner's memory */
    bool begun;                    /* something is defined: comments no longer give the format */
    char *name;                    /* the word between netcdf and the brace */
    /* the header */
    enum { PNC_CDL_NOWHERE, PNC_CDL_DIMENSIONS, PNC_CDL_VARIABLES } section;
    bool format_known;
    int netcdf4; /* NC_FORMAT_NETCDF4 or _CLASSIC: the model is one of CDF-5 until its header is complete */
    pnc_cdl_bytes specials, special_values; /* cdl_special.c */
    int64_t records_given;                  /* by a comment */
    int var_type;                           /* of the variables between commas */
    int *dimids;
    int ndims;
    int64_t dimids_capacity;
    /* the attribute */
    int att_varid, att_type;             /* type 0: none given */
    bool att_typed, att_text, att_given; /* its type is given before it; it has text; it has a value */
    char *att_name;
    pnc_cdl_position att_position;
    pnc_cdl_bytes text, items;
    /* the data of a variable */
    bool in_data;
    int varid;
    int64_t count, limit; /* elements so far, and at most */
    int64_t first;        /* of them in block */
    int64_t row;          /* the size of a row, to which a text is padded */
    int64_t text_first;   /* of the text that is read */
    bool quoted, newline; /* the last value is a text; its last character is a newline */
    pnc_cdl_position text_end;
    pnc_cdl_bytes open_texts;
    bool records_seen; /* a variable whose values give their number was read */
    char fill[8];
    char *block;
} pnc_cdl_reader;

/* Set an error at a position. Returns code, which the reader keeps. */
int pnc_format_cdl_fail(pnc_cdl_reader *reader, pnc_cdl_position at, int code, const char *format, ...)
    PNC_PRINTF(4, 5);
/* Set NC_ENOTNC because the last token is not the expected one. */
int pnc_format_cdl_fail_expected(pnc_cdl_reader *reader, pnc_cdl_position at, const char *what);
/* The model or the sink returned an error: set its message, with the position. */
int pnc_format_cdl_fail_refused(pnc_cdl_reader *reader, pnc_cdl_position at, int code, const pnc_error *why);
int pnc_format_cdl_fail_memory(pnc_cdl_reader *reader);
int pnc_format_cdl_bytes_append(pnc_cdl_reader *reader, pnc_cdl_bytes *bytes, const void *more, int64_t n);

/* --- tokens --- */

/* The number in a token of n bytes. */
int pnc_format_cdl_number_scan(pnc_cdl_reader *reader, pnc_cdl_position at, const char *text, int64_t n,
                               pnc_cdl_number *out);
/* The format, or the number of records, from a comment. */
void pnc_format_cdl_comment_read(pnc_cdl_reader *reader, const char *text, int64_t n);
/* The byte of an escape sequence; text is the part after its backslash. */
int pnc_format_cdl_escape_decode(pnc_cdl_reader *reader, pnc_cdl_position at, const char *text, int64_t n, char *out);

/* --- values --- */

/* Returns false if the number does not fit the external type (not NC_CHAR). out receives external bytes. */
bool pnc_format_cdl_number_encode(const pnc_cdl_number *number, int type, void *out);
/* A character in single quotes in place of a number: the old notation of a byte. */
void pnc_format_cdl_number_set_byte(char c, pnc_cdl_number *out);
/* Append a number as a value of an external type (not NC_CHAR). NC_ERANGE. */
int pnc_format_cdl_number_store(pnc_cdl_reader *reader, pnc_cdl_position at, const pnc_cdl_number *number, int type,
                                void *out);
/* The type that can hold values of both types. */
int pnc_format_cdl_type_join(int a, int b);

/* --- the header; names are as in the text, without escapes --- */

int pnc_format_cdl_dim_add(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name, int64_t len);
int pnc_format_cdl_dim_read_length(pnc_cdl_reader *reader, pnc_cdl_position at, const pnc_cdl_number *number,
                                   int64_t *len);
int pnc_format_cdl_vars_begin(pnc_cdl_reader *reader, pnc_cdl_position at, const char *type_name);
int pnc_format_cdl_dimid_add(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name);
int pnc_format_cdl_var_add(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name);
/* type: optional; owner: name of a variable or of a type, optional; takes ownership of name. */
int pnc_format_cdl_att_begin(pnc_cdl_reader *reader, pnc_cdl_word type, pnc_cdl_word owner, pnc_cdl_position at,
                             char *name);
int pnc_format_cdl_att_end(pnc_cdl_reader *reader);
/* Whether the attribute is about how a file is stored: the file does not contain it. keep: it ends; its effect, if the
 * file is a netCDF-4 file, is that of apply, when the header is complete. */
bool pnc_format_cdl_special_is(const pnc_cdl_reader *reader);
int pnc_format_cdl_special_keep(pnc_cdl_reader *reader);
int pnc_format_cdl_specials_apply(pnc_cdl_reader *reader);
/* Have the file this format, of any kind, unless it is known. NC_ENOTNC where the reader makes no netCDF-4 file. */
bool pnc_format_cdl_format_set(pnc_cdl_reader *reader, int format);
/* The header ends: at "data:", or at the last brace. */
int pnc_format_cdl_header_end(pnc_cdl_reader *reader, pnc_cdl_position at);

/* --- data --- */

int pnc_format_cdl_data_begin(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name);
int pnc_format_cdl_data_end(pnc_cdl_reader *reader, pnc_cdl_position at);
/* The text has ended. */
int pnc_format_cdl_reader_finish(pnc_cdl_reader *reader, pnc_cdl_position at);

/* --- values of the variable, or of the attribute --- */

int pnc_format_cdl_number_put(pnc_cdl_reader *reader, pnc_cdl_position at, const pnc_cdl_number *number);
int pnc_format_cdl_name_put(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name); /* _, NaN ... */
int pnc_format_cdl_character_put(pnc_cdl_reader *reader, pnc_cdl_position at, char c);
/* A text is passed in pieces. */
int pnc_format_cdl_text_begin(pnc_cdl_reader *reader, pnc_cdl_position at);
int pnc_format_cdl_text_put(pnc_cdl_reader *reader, pnc_cdl_position at, const char *bytes, int64_t n);
int pnc_format_cdl_text_end(pnc_cdl_reader *reader, pnc_cdl_position at);

#endif
