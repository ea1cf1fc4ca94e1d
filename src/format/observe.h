/* An observer of the decoder: receives each field that is decoded, and every violation of the format's rules. */
#ifndef PNC_FORMAT_OBSERVE_H
#define PNC_FORMAT_OBSERVE_H

#include "format/model.h"

typedef enum pnc_severity {
    PNC_WARNING,  /* against the specification, but readers accept it */
    PNC_VIOLATION /* readers reject the file, or cannot read some of the data */
} pnc_severity;

typedef struct pnc_finding {
    pnc_severity severity;
    int code;             /* what ncmpi_open would return; NC_NOERR for a warning */
    int64_t at;           /* offset in the file */
    const char *expected; /* the rule */
    const char *found;    /* what the file has instead, as a sentence */
} pnc_finding;

/* Texts of some rules, as in `expected`. Padding ends at the next multiple of 4. */
#define PNC_RULE_MAGIC "\"CDF\" and the byte 1, 2 or 5"
#define PNC_RULE_PADDING "padding of null bytes"
#define PNC_RULE_DATA "a file that contains all data"
#define PNC_RULE_VSIZE "the size that follows from type and dimensions"

/* n bytes of the header from offset `at`: their meaning, and their value as text. Strings are valid during the call. */
typedef struct pnc_field {
    int64_t at, n;
    const char *what, *value;
} pnc_field;

typedef struct pnc_observer {
    void *context;                                              /* the first argument of both */
    void (*field)(void *context, const pnc_field *field);       /* may be NULL */
    void (*finding)(void *context, const pnc_finding *finding); /* may be NULL */
} pnc_observer;

/* As pnc_format_header_decode, but continues after a violation where it can, reports all violations to the observer,
 * and also checks rules that readers do not need. *out must be freed in any case; it satisfies the invariants of the
 * model only after NC_NOERR. Each PNC_NEED_MORE_BYTES makes the next call report from the beginning: call first with an
 * observer without functions, to get the number of bytes needed. */
int pnc_format_header_examine(const void *bytes, int64_t n, int64_t file_size, const pnc_observer *observer,
                              pnc_model *out, int64_t *need);

/* Offset in the header of the field `begin` of variable varid. */
int64_t pnc_format_var_locate_begin(const pnc_model *model, int varid);

#endif
