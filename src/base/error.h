/* The error object: a code from the public table and one sentence for a person.
 *
 * Whoever first decides that something is wrong writes the sentence (file, name, index, bound, cure);
 * everybody above only passes the code on. Every pnc_error pointer in the library may be NULL. */
#ifndef PNC_BASE_ERROR_H
#define PNC_BASE_ERROR_H

#include <stdbool.h>

#include "spec/constants.h" /* generated: NC_* codes, types, modes; no MPI */

#if defined(__GNUC__)
#define PNC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define PNC_PRINTF(fmt, args)
#endif

typedef struct pnc_error {
    int code;       /* NC_NOERR while nothing has failed */
    bool heard;     /* it happened on another rank, which tells it there */
    char text[512]; /* empty, or a sentence without a final newline */
} pnc_error;

/* Record code and sentence unless an earlier failure is already held. Returns code, so that callers can write
 * `return pnc_fail(...)`. */
int pnc_fail(pnc_error *error, int code, const char *format, ...) PNC_PRINTF(3, 4);

/* The same for a failure of another rank. */
int pnc_hear(pnc_error *error, int code, const char *format, ...) PNC_PRINTF(3, 4);

void pnc_error_clear(pnc_error *error);

/* The text and the name of a code; never NULL. Unknown codes give "Unknown Error ..." */
const char *pnc_code_text(int code);
const char *pnc_code_name(int code);

#endif
