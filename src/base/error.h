/* The error object: a code from the public table and a message.
 *
 * The function that detects an error sets the message (file, name, index, bound, cure); its callers return the code.
 * Every pnc_error pointer in the library may be NULL. */
#ifndef PNC_BASE_ERROR_H
#define PNC_BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/language.h"
#include "spec/constants.h" /* generated: NC_* codes, types, modes; no MPI */

#if defined(__GNUC__)
#define PNC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define PNC_RARE __attribute__((cold, noinline)) /* rarely called: not inlined into its caller */
#else
#define PNC_PRINTF(fmt, args)
#define PNC_RARE
#endif

/* Ordered so that few stores clear it, which each call does. */
typedef struct pnc_error {
    int code;                             /* NC_NOERR while nothing has failed */
    pnc_language language;                /* of the call in progress */
    int64_t others;                       /* ranks that have the same error, and do not report it */
    const struct pnc_error *of_arguments; /* what the binding of another language has found in its arguments, or NULL */
    bool remote;                          /* another rank reports it, as it has found the error, too or alone */
    char text[512];                       /* empty, or a message without a final newline */
} pnc_error;

/* Set code and message unless an error is already set. Returns code, so that callers can write `return
 * pnc_error_set(...)`. The format has names of C, which become those of the error's language. */
int pnc_error_set(pnc_error *error, int code, const char *format, ...) PNC_PRINTF(3, 4);

/* The same for an error of another rank. */
int pnc_error_set_remote(pnc_error *error, int code, const char *format, ...) PNC_PRINTF(3, 4);

/* Of the error that is set: `others` more ranks have it, too; if it is negative, another rank reports it. */
void pnc_error_share(pnc_error *error, int64_t others);

/* Set the error of `from`, if it has one, which this rank has found or received from another rank. Returns its code. */
int pnc_error_copy(pnc_error *error, const pnc_error *from, bool remote);

static inline pnc_language pnc_error_get_language(const pnc_error *error)
{
    return error == NULL ? PNC_LANGUAGE_C : error->language;
}

/* An argument of a message with the names of its language; formats have them without it. */
typedef struct pnc_translation {
    char text[200];
} pnc_translation;
pnc_translation pnc_error_translate(const pnc_error *error, const char *text);

/* Put context before the message that is set: "context: message". Without an error: nothing. */
void pnc_error_add_context(pnc_error *error, const char *format, ...) PNC_PRINTF(2, 3);

/* Language and error of arguments stay. */
static inline void pnc_error_clear(pnc_error *error)
{
    if (error == NULL)
        return;
    error->code = NC_NOERR;
    error->remote = false;
    error->others = 0;
    error->text[0] = '\0';
}

/* NC_NOERR, or set the error that a binding has found in the arguments, and return its code. A function makes this
 * check after those of mode and variable, and before it changes anything. */
static inline int pnc_error_check_arguments(pnc_error *error)
{
    const pnc_error *found = error != NULL ? error->of_arguments : NULL;

    return found == NULL || found->code == NC_NOERR ? NC_NOERR : pnc_error_set(error, found->code, "%s", found->text);
}

/* Numbers of C for a message in the language of the error: an id; an index along a dimension; the position of a
 * dimension, 0 for the slowest of `ndims`, in the program's arrays. Out of bounds too, no number overflows. */
int pnc_error_get_id(const pnc_error *error, int id);
int64_t pnc_error_get_index(const pnc_error *error, int64_t index);
int pnc_error_get_position(const pnc_error *error, int dim, int ndims);

/* What a message says after a number that the program passed as an integer of 8 bytes: in Fortran, if it is what two
 * integers of 4 bytes look like, a question about its kind; else nothing. */
const char *pnc_error_explain_kind(const pnc_error *error, int64_t number);

/* The first of two codes that is an error. Both arguments are evaluated:
 * pnc_error_keep_first(err, close(...)) closes in any case and returns the older error. */
static inline int pnc_error_keep_first(int first, int second)
{
    return first != NC_NOERR ? first : second;
}

/* Return from the calling function if the expression is an error. For functions that have nothing to undo, and never
 * between two collective calls of which the other ranks make both. */
#define PNC_TRY(expression)          \
    do {                             \
        int pnc_try_ = (expression); \
        if (pnc_try_ != NC_NOERR)    \
            return pnc_try_;         \
    } while (0)

/* The text and the name of a code; never NULL. Unknown codes give "Unknown Error ..." */
const char *pnc_error_get_text(int code);
const char *pnc_error_get_name(int code);

#endif
