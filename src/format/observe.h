/* For those who want to know more of a header than its model: each field as the decoder passes it, and each violation
 * of the format's rules, not only the first. */
#ifndef PNC_FORMAT_OBSERVE_H
#define PNC_FORMAT_OBSERVE_H

#include "format/model.h"

typedef enum pnc_severity {
    PNC_WARNING,  /* against the specification, but readers go on */
    PNC_VIOLATION /* readers refuse the file, or cannot get at some of the data */
} pnc_severity;

typedef struct pnc_finding {
    pnc_severity severity;
    int code;             /* what ncmpi_open would return for it; NC_NOERR for a warning */
    int64_t at;           /* byte of the file */
    const char *expected; /* the rule */
    const char *found;    /* a sentence */
} pnc_finding;

/* Some of the rules, as `expected` has them. Padding ends at the next multiple of 4. */
#define PNC_RULE_MAGIC "\"CDF\" and the byte 1, 2 or 5"
#define PNC_RULE_PADDING "padding of null bytes"
#define PNC_RULE_VSIZE "the size that type and dimensions make"

/* n bytes of the header from `at` on: what they are, and their value as text. Strings live as long as the call. */
typedef struct pnc_field {
    int64_t at, n;
    const char *what, *value;
} pnc_field;

typedef struct pnc_observer {
    void *who; /* the first argument of both */
    void (*field)(void *who, const pnc_field *field);       /* may be NULL */
    void (*finding)(void *who, const pnc_finding *finding); /* may be NULL */
} pnc_observer;

/* As pnc_format_header_decode, but it goes on where reading can go on, tells of all it sees, and looks for what is
 * merely against the specification too. What could be read is in *out, which is to be freed whatever is returned, and
 * which holds to the model's promises only if that is NC_NOERR. Each PNC_NEED_MORE_BYTES tells from the beginning
 * again: find out first, with an observer that has no functions, how many bytes are needed. */
int pnc_format_header_examine(const void *bytes, int64_t n, int64_t file_size, const pnc_observer *observer,
                              pnc_model *out, int64_t *need, pnc_error *error);

/* Where the offset of variable varid stands in the header. */
int64_t pnc_format_var_locate_begin(const pnc_model *model, int varid);

#endif
