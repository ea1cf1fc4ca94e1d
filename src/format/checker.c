/* Reports of the decoder to an observer. */
#include "format/checker.h"

#include <stdarg.h>
#include <stdio.h>

enum { SENTENCE = 512 };

/* Report a finding whose sentence is not written yet. */
PNC_PRINTF(3, 0)
static void report_finding(const pnc_checker *checker, pnc_finding finding, const char *format, va_list args)
{
    char found[SENTENCE];

    vsnprintf(found, sizeof found, format, args);
    finding.found = found;
    if (checker->observer != NULL && checker->observer->finding != NULL)
        checker->observer->finding(checker->observer->context, &finding);
    if (finding.severity == PNC_VIOLATION)
        pnc_error_set(checker->error, finding.code, "%s", found);
}

int pnc_format_violation_fail(pnc_checker *checker, int64_t at, int code, const char *expected, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_finding(checker, (pnc_finding){PNC_VIOLATION, code, at, expected, NULL}, format, args);
    va_end(args);
    return code;
}

int pnc_format_violation_report(pnc_checker *checker, int64_t at, int code, const char *expected, const char *format,
                                ...)
{
    va_list args;

    va_start(args, format);
    report_finding(checker, (pnc_finding){PNC_VIOLATION, code, at, expected, NULL}, format, args);
    va_end(args);
    if (checker->observer == NULL)
        return code;
    if (checker->code == NC_NOERR)
        checker->code = code;
    return NC_NOERR;
}

void pnc_format_warning_report(pnc_checker *checker, int64_t at, const char *expected, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_finding(checker, (pnc_finding){PNC_WARNING, NC_NOERR, at, expected, NULL}, format, args);
    va_end(args);
}

void pnc_format_field_display(pnc_checker *checker, int64_t at, int64_t n, const char *what, const char *format, ...)
{
    char value[SENTENCE];
    va_list args;

    if (checker->observer->field == NULL)
        return;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    checker->observer->field(checker->observer->context, &(pnc_field){at, n, what, value});
}
