/* Where the decoder and its rules put what they find. */
#ifndef PNC_FORMAT_CHECKER_H
#define PNC_FORMAT_CHECKER_H

#include "format/observe.h"

typedef struct pnc_checker {
    const pnc_observer *observer; /* NULL: the first violation ends all */
    pnc_error *error;             /* of the first violation */
    int code;                     /* of the first violation that did not end all */
} pnc_checker;

/* A violation that ends the reading. Returns code. */
int pnc_format_violation_fail(pnc_checker *checker, int64_t at, int code, const char *expected, const char *format, ...)
    PNC_PRINTF(5, 6);
/* Another one. Returns NC_NOERR with an observer, else code. */
int pnc_format_violation_report(pnc_checker *checker, int64_t at, int code, const char *expected, const char *format,
                                ...)
    PNC_PRINTF(5, 6);
void pnc_format_warning_report(pnc_checker *checker, int64_t at, const char *expected, const char *format,
                               ...) PNC_PRINTF(4, 5);
void pnc_format_field_report(pnc_checker *checker, int64_t at, int64_t n, const char *what, const char *format, ...)
    PNC_PRINTF(5, 6);

/* The rules that hold between entries: where variables lie. Also derives the layout fields of the model.
 * streaming: the number of records follows from the size of the file. */
int pnc_format_offsets_check(pnc_checker *checker, pnc_model *model, int64_t file_size, bool streaming);

/* What only an observer wants to know, once the model is complete. */
void pnc_format_rules_check(pnc_checker *checker, const pnc_model *model, int64_t file_size);

#endif
