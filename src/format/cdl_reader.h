/* What the files that read CDL share: the reader, its tokens and numbers, and the meaning of each construct. */
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

typedef struct pnc_cdl_number {
    union {
        uint64_t magnitude; /* of an integer */
        double real;
    } value;
    float single;       /* of a real number: rounded once, from the text */
    unsigned char type; /* by its suffix, or the smallest from int up that holds it */
    bool real, negative;
} pnc_cdl_number;

/* Bytes that grow. */
typedef struct pnc_cdl_bytes {
    char *at;
    int64_t n, capacity;
} pnc_cdl_bytes;

/* A value of an attribute, until the type of all is known. */
typedef struct pnc_cdl_item {
    pnc_cdl_number number;
    pnc_cdl_position position;
} pnc_cdl_item;

enum { PNC_CDL_SHOWN = 40 }; /* bytes of a token that a message repeats */

typedef struct pnc_cdl_reader {
    const pnc_cdl_source *source;
    const pnc_cdl_sink *sink; /* NULL: data are not read */
    pnc_model *model;
    pnc_error *error;
    int code;             /* of the failure that ends the reading */
    jmp_buf *out_of_memory;
    /* the scanner */
    union pnc_cdl_block *blocks; /* its memory */
    pnc_cdl_position next;   /* behind the last token */
    pnc_cdl_position opened; /* of the text or comment that is being read */
    char shown[PNC_CDL_SHOWN + 4]; /* the last token, cut */
    bool ended;           /* there are no more tokens */
    bool too_long;        /* a word fills the memory that the scanner may have */
    bool begun;           /* something is defined: comments no longer tell the format */
    char *name;           /* what stands between netcdf and the brace */
    /* the header */
    enum { PNC_CDL_NOWHERE, PNC_CDL_DIMENSIONS, PNC_CDL_VARIABLES } section;
    bool format_known;
    int64_t records_given; /* by a comment */
    int var_type;          /* of the variables between commas */
    int *dimids;
    int ndims, dimids_capacity;
    /* the attribute */
    int att_varid, att_type; /* type 0 while there is none */
    bool att_typed, att_text, att_given; /* its type stands before it; it holds text; it has a value */
    char *att_name;
    pnc_cdl_position att_place;
    pnc_cdl_bytes text, items;
    /* the data of a variable */
    bool in_data;
    int varid;
    int64_t count, limit; /* elements so far, and at most */
    int64_t first;        /* of them in block */
    int64_t row;          /* that a text fills up */
    int64_t text_first;   /* of the text that is being read */
    bool quoted, newline; /* the last value is a text; its last character is a newline */
    pnc_cdl_position text_end;
    pnc_cdl_bytes open_texts;
    bool records_seen;    /* by values of a variable that tells their number */
    char fill[8];
    char *block;
} pnc_cdl_reader;

/* Fail at a place. Returns code, which the reader keeps. */
int pnc_format_cdl_fail(pnc_cdl_reader *reader, pnc_cdl_position at, int code, const char *format,
                        ...) PNC_PRINTF(4, 5);
/* Fail with NC_ENOTNC because the last token is not what should stand there. */
int pnc_format_cdl_fail_expected(pnc_cdl_reader *reader, pnc_cdl_position at, const char *what);
/* The model or the sink refused what stands at a place: its message, with the place. */
int pnc_format_cdl_fail_refused(pnc_cdl_reader *reader, pnc_cdl_position at, int code, const pnc_error *why);
int pnc_format_cdl_fail_memory(pnc_cdl_reader *reader);
int pnc_format_cdl_bytes_append(pnc_cdl_reader *reader, pnc_cdl_bytes *bytes, const void *more, int64_t n);

/* --- tokens --- */

/* The number in a token of n bytes. */
int pnc_format_cdl_number_scan(pnc_cdl_reader *reader, pnc_cdl_position at, const char *text, int64_t n,
                               pnc_cdl_number *out);
/* What a comment says: its format, or how many records there were. */
void pnc_format_cdl_comment_read(pnc_cdl_reader *reader, const char *text, int64_t n);
/* The byte that an escape stands for; text is behind its backslash. */
int pnc_format_cdl_escape_decode(pnc_cdl_reader *reader, pnc_cdl_position at, const char *text, int64_t n, char *out);

/* --- values --- */

/* False where a number does not fit an external type other than NC_CHAR. out receives its external bytes. */
bool pnc_format_cdl_number_encode(const pnc_cdl_number *number, int type, void *out);
/* A character in single quotes where numbers stand: the old form of a byte. */
void pnc_format_cdl_number_set_byte(char c, pnc_cdl_number *out);
/* External bytes of a number as a value of an external type other than NC_CHAR. NC_ERANGE. */
int pnc_format_cdl_number_store(pnc_cdl_reader *reader, pnc_cdl_position at, const pnc_cdl_number *number, int type,
                                void *out);
/* The type that values of two types share. */
int pnc_format_cdl_type_join(int a, int b);

/* --- the header; names are those in the text, without escapes --- */

int pnc_format_cdl_dim_add(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name, int64_t len);
int pnc_format_cdl_dim_read_length(pnc_cdl_reader *reader, pnc_cdl_position at, const pnc_cdl_number *number,
                                   int64_t *len);
int pnc_format_cdl_vars_begin(pnc_cdl_reader *reader, pnc_cdl_position at, const char *type_name);
int pnc_format_cdl_dimid_add(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name);
int pnc_format_cdl_var_add(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name);
/* owner: of a variable or type, or NULL; type_name: NULL if none stands before the owner; name: is taken over. */
int pnc_format_cdl_att_begin(pnc_cdl_reader *reader, pnc_cdl_position owner_at, const char *owner,
                             pnc_cdl_position type_at, const char *type_name, pnc_cdl_position at, char *name);
int pnc_format_cdl_att_end(pnc_cdl_reader *reader);
/* The header ends: at "data:", or at the last brace. */
int pnc_format_cdl_header_end(pnc_cdl_reader *reader, pnc_cdl_position at);

/* --- data --- */

int pnc_format_cdl_data_begin(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name);
int pnc_format_cdl_data_end(pnc_cdl_reader *reader, pnc_cdl_position at);
/* The text is complete. */
int pnc_format_cdl_reader_finish(pnc_cdl_reader *reader, pnc_cdl_position at);

/* --- values of the variable, or of the attribute --- */

int pnc_format_cdl_number_put(pnc_cdl_reader *reader, pnc_cdl_position at, const pnc_cdl_number *number);
int pnc_format_cdl_name_put(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name); /* _, NaN ... */
int pnc_format_cdl_character_put(pnc_cdl_reader *reader, pnc_cdl_position at, char c);
/* A text comes in pieces. */
int pnc_format_cdl_text_begin(pnc_cdl_reader *reader, pnc_cdl_position at);
int pnc_format_cdl_text_put(pnc_cdl_reader *reader, pnc_cdl_position at, const char *bytes, int64_t n);
int pnc_format_cdl_text_end(pnc_cdl_reader *reader, pnc_cdl_position at);

#endif
