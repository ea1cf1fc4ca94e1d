/* Collects what the decoder and the rules find. */
#ifndef PNC_FORMAT_CHECKER_H
#define PNC_FORMAT_CHECKER_H

#include "format/observe.h"

typedef struct pnc_checker {
    const pnc_observer *observer; /* NULL: the first violation ends decoding */
    pnc_error *error;             /* of the first violation */
    int code;                     /* of the first violation that did not end decoding */
} pnc_checker;

/* A violation that ends decoding. Returns code. */
int pnc_format_violation_fail(pnc_checker *checker, int64_t at, int code, const char *expected, const char *format, ...)
    PNC_PRINTF(5, 6);
/* A violation after which decoding can continue. Returns NC_NOERR with an observer, else code. */
int pnc_format_violation_report(pnc_checker *checker, int64_t at, int code, const char *expected, const char *format,
                                ...) PNC_PRINTF(5, 6);
void pnc_format_warning_report(pnc_checker *checker, int64_t at, const char *expected, const char *format, ...)
    PNC_PRINTF(4, 5);
void pnc_format_field_display(pnc_checker *checker, int64_t at, int64_t n, const char *what, const char *format, ...)
    PNC_PRINTF(5, 6);
/* Decoding without an observer, which ncmpi_open does, must not spend time on the arguments. */
#define pnc_format_field_report(checker, ...) \
    ((checker)->observer != NULL ? pnc_format_field_display((checker), __VA_ARGS__) : (void)0)

/* Rules about the offsets of variables. Also derives the layout fields of the model. streaming: the number of records
 * follows from the size of the file. */
int pnc_format_offsets_check(pnc_checker *checker, pnc_model *model, int64_t file_size, bool streaming);

/* Rules that are checked for an observer only, on a complete model. */
void pnc_format_rules_check(pnc_checker *checker, const pnc_model *model, int64_t file_size);

#endif
