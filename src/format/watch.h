/* Where the decoder and its rules put what they find. */
#ifndef PNC_FORMAT_WATCH_H
#define PNC_FORMAT_WATCH_H

#include "format/observe.h"

typedef struct pnc_watch {
    const pnc_observer *observer; /* NULL: the first breach ends all */
    pnc_error *error;             /* of the first breach */
    int code;                     /* of the first breach that did not end all */
} pnc_watch;

/* A breach behind which nothing can be read. Returns code. */
int pnc_watch_stop(pnc_watch *watch, int64_t at, int code, const char *expected, const char *format, ...)
    PNC_PRINTF(5, 6);
/* Another one. Returns NC_NOERR if somebody looks on, else code. */
int pnc_watch_breach(pnc_watch *watch, int64_t at, int code, const char *expected, const char *format, ...)
    PNC_PRINTF(5, 6);
void pnc_watch_warn(pnc_watch *watch, int64_t at, const char *expected, const char *format, ...) PNC_PRINTF(4, 5);
void pnc_watch_field(pnc_watch *watch, int64_t at, int64_t n, const char *what, const char *format, ...)
    PNC_PRINTF(5, 6);

/* The rules that hold between entries: where variables lie. Also derives the layout fields of the model.
 * streaming: the number of records follows from the size of the file. */
int pnc_format_offsets_check(pnc_watch *watch, pnc_model *model, int64_t file_size, bool streaming);

/* What only an observer wants to know, once the model is complete. */
void pnc_format_rules_check(pnc_watch *watch, const pnc_model *model, int64_t file_size);

#endif
