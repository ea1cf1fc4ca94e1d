/* Telling observers what the decoder sees. */
#include "format/watch.h"

#include <stdarg.h>
#include <stdio.h>

enum { SENTENCE = 512 };

static void tell(const pnc_watch *watch, pnc_severity severity, int code, int64_t at, const char *expected,
                 const char *found)
{
    pnc_finding finding = {severity, code, at, expected, found};

    if (watch->observer != NULL && watch->observer->finding != NULL)
        watch->observer->finding(watch->observer->who, &finding);
}

static void breach(const pnc_watch *watch, int64_t at, int code, const char *expected, const char *format, va_list args)
{
    char found[SENTENCE];

    vsnprintf(found, sizeof found, format, args);
    tell(watch, PNC_BREACH, code, at, expected, found);
    pnc_fail(watch->error, code, "%s", found);
}

int pnc_watch_stop(pnc_watch *watch, int64_t at, int code, const char *expected, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    breach(watch, at, code, expected, format, args);
    va_end(args);
    return code;
}

int pnc_watch_breach(pnc_watch *watch, int64_t at, int code, const char *expected, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    breach(watch, at, code, expected, format, args);
    va_end(args);
    if (watch->observer == NULL)
        return code;
    if (watch->code == NC_NOERR)
        watch->code = code;
    return NC_NOERR;
}

void pnc_watch_warn(pnc_watch *watch, int64_t at, const char *expected, const char *format, ...)
{
    char found[SENTENCE];
    va_list args;

    if (watch->observer == NULL || watch->observer->finding == NULL)
        return;
    va_start(args, format);
    vsnprintf(found, sizeof found, format, args);
    va_end(args);
    tell(watch, PNC_WARNING, NC_NOERR, at, expected, found);
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
