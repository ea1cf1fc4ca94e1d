/* The findings in a file, and their output. */
#ifndef PNC_TOOLS_NCVALIDATOR_REPORT_H
#define PNC_TOOLS_NCVALIDATOR_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/observe.h"
#include "tools/common/file.h"

typedef struct finding {
    pnc_severity severity;
    int code;
    int64_t at;
    int order;            /* of discovery */
    const char *expected; /* a rule of src/format */
    char *found;
} finding;

typedef struct report {
    finding *list;
    int n;
    int64_t capacity;
    int64_t errors, warnings, left_out; /* findings beyond a limit are only counted */
    int64_t padded;                     /* the warnings of padding that is not null */
    int64_t missing;                    /* the warnings of data beyond the end of the file */
    const pnc_reader_ops *reader;       /* NULL: a classic file */
    int64_t variables, chunks, bytes;   /* of a file with a reader: what was checked; bytes of chunks in the file */
    bool no_memory;
    bool trace, json, lenient, strict;
    int64_t nfields;
} report;

/* Read the header of an open file into report and file->model. The options in the report must be set before; with
 * trace, fields are printed at once. Returns NC_NOERR also for an invalid file (see report->errors), or a code after an
 * error message. */
int validator_report_make(tool_file *file, report *r);
void validator_report_free(report *r);
void validator_finding_add(report *r, const pnc_finding *found);

/* Valid: no errors, null padding unless the report is lenient, and all data if it is strict. */
bool validator_report_is_valid(const report *r);

/* Print all findings and whether the file is valid, as text or as the members of a JSON object. */
void validator_report_print(const tool_file *file, const report *r);

#endif
