/* What the files that read CDL share: tokens with their places in the text, and numbers. */
#ifndef PNC_FORMAT_CDL_PARTS_H
#define PNC_FORMAT_CDL_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"

typedef enum pnc_cdl_kind {
    PNC_CDL_END,
    PNC_CDL_NAME,      /* also a keyword, a type, NaN and Infinity */
    PNC_CDL_NUMBER,    /* begins like one; may be malformed */
    PNC_CDL_STRING,    /* between double quotes */
    PNC_CDL_CHARACTER, /* between single quotes */
    PNC_CDL_MARK       /* any other single byte */
} pnc_cdl_kind;

typedef struct pnc_cdl_scan {
    const char *text;
    int64_t size;
    pnc_error *error;
    int format; /* named by a comment so far, or 0 */
    /* the current token: bytes begin..end of text, with the quotes */
    pnc_cdl_kind kind;
    int64_t begin, end;
    bool escaped;               /* a backslash in a name: it is no keyword */
    char name[NC_MAX_NAME + 2]; /* without its escapes; cut where it is too long for any name, but not short enough */
} pnc_cdl_scan;

/* Fail with the line and the column of a byte of the text. Returns code. */
int pnc_cdl_fail(const pnc_cdl_scan *scan, int64_t at, int code, const char *format, ...) PNC_PRINTF(4, 5);
/* Fail with NC_ENOTNC because the current token is not what should stand there. */
int pnc_cdl_expected(const pnc_cdl_scan *scan, const char *what);

/* Go to the next token. NC_NOERR or NC_ENOTNC. */
int pnc_cdl_next(pnc_cdl_scan *scan);
bool pnc_cdl_is(const pnc_cdl_scan *scan, char mark);
/* Go past the mark, which must be the current token. */
int pnc_cdl_pass(pnc_cdl_scan *scan, char mark);
/* Make the next brace the current token, whatever stands before it; a backslash hides one. */
int pnc_cdl_seek_brace(pnc_cdl_scan *scan);

/* The bytes that the current string or character stands for; out may be NULL to learn their number. */
int pnc_cdl_text(const pnc_cdl_scan *scan, char *out, int64_t *len);

typedef struct pnc_cdl_number {
    int type;  /* by its suffix, or the smallest from int up that holds it */
    bool real; /* has value and single, else magnitude and negative */
    bool negative;
    uint64_t magnitude;
    double value;
    float single; /* rounded once, from the text */
} pnc_cdl_number;

/* The number that the current token is: a number, a name such as NaN, or a character, whose code is a byte. */
int pnc_cdl_number_read(const pnc_cdl_scan *scan, pnc_cdl_number *out);
/* External bytes of the current token's number as a value of an external type other than NC_CHAR. NC_ERANGE. */
int pnc_cdl_number_store(const pnc_cdl_scan *scan, const pnc_cdl_number *number, int type, void *out);
/* The type that values of two types share. */
int pnc_cdl_number_join(int a, int b);

#endif
