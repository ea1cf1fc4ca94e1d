/* Telling observers what the decoder sees. */
#include "format/watch.h"

#include <stdarg.h>
#include <stdio.h>

enum { SENTENCE = 512 };

PNC_PRINTF(6, 0) static void tell(const pnc_watch *watch, pnc_severity severity, int code, int64_t at,
                                  const char *expected, const char *format, va_list args)
{
    char found[SENTENCE];

    vsnprintf(found, sizeof found, format, args);
    if (watch->observer != NULL && watch->observer->finding != NULL)
        watch->observer->finding(watch->observer->who, &(pnc_finding){severity, code, at, expected, found});
    if (severity == PNC_BREACH)
        pnc_error_set(watch->error, code, "%s", found);
}

int pnc_watch_stop(pnc_watch *watch, int64_t at, int code, const char *expected, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tell(watch, PNC_BREACH, code, at, expected, format, args);
    va_end(args);
    return code;
}

int pnc_watch_breach(pnc_watch *watch, int64_t at, int code, const char *expected, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tell(watch, PNC_BREACH, code, at, expected, format, args);
    va_end(args);
    if (watch->observer == NULL)
        return code;
    if (watch->code == NC_NOERR)
        watch->code = code;
    return NC_NOERR;
}

void pnc_watch_warn(pnc_watch *watch, int64_t at, const char *expected, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tell(watch, PNC_WARNING, NC_NOERR, at, expected, format, args);
    va_end(args);
}

void pnc_watch_field(pnc_watch *watch, int64_t at, int64_t n, const char *what, const char *format, ...)
{
    char value[SENTENCE];
    va_list args;

    if (watch->observer == NULL || watch->observer->field == NULL)
        return;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    watch->observer->field(watch->observer->who, &(pnc_field){at, n, what, value});
}
