#include "tools/common/moment.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/calendar.h"

/* A number and, before it, one of the separators; the end of the text is no number. */
static bool take_part(const char **at, const char *separators, int *number)
{
    char *end;
    if (**at == '\0' || strchr(separators, **at) == NULL || !isdigit((unsigned char)(*at)[1]))
        return false;
    *number = (int)strtol(*at + 1, &end, 10);
    *at = end;
    return true;
}

/* 2001, 2001-03, 2001-03-05, 2001-03-05T12, 2001-03-05 12:30, 2001-03-05T12:30:15.5 */
bool tool_moment_parse(const char *text, tool_moment *out)
{
    char *end;
    *out = (tool_moment){.month = 1, .day = 1};
    out->year = strtoll(text, &end, 10);
    const char *at = end;
    if (at == text)
        return false;
    out->parts = 1;
    out->parts += take_part(&at, "-", &out->month);
    out->parts += out->parts == 2 && take_part(&at, "-", &out->day);
    out->parts += out->parts == 3 && take_part(&at, "T ", &out->hour);
    out->parts += out->parts == 4 && take_part(&at, ":", &out->minute);
    if (out->parts == 5 && *at == ':' && isdigit((unsigned char)at[1])) {
        out->second = strtod(at + 1, &end);
        at = end;
        out->parts = 6;
    }
    if (*at == 'Z' && out->parts > 3)
        at++;
    return *at == '\0';
}

bool tool_moment_convert(const char *calendar, const tool_moment *m, double *hours)
{
    char text[128];
    cal_units units;
    cal_clock clock;
    snprintf(text, sizeof text, "hours since %04lld-%02d-%02d %02d:%02d:00", m->year, m->month, m->day, m->hour,
             m->minute);
    if (!tool_clock_parse(text, calendar, &clock) || !tool_units_parse(text, calendar, &units))
        return false;
    *hours = units.base_hours + m->second / 3600;
    return true;
}

bool tool_moment_convert_end(const char *calendar, const tool_moment *begin, double *hours)
{
    static const double lengths[] = {0, 0, 0, 24, 1, 1. / 60, 1. / 3600};
    tool_moment m = *begin;
    if (m.parts == 1)
        m.year++;
    if (m.parts == 2 && ++m.month == 13) {
        m.month = 1;
        m.year++;
    }
    if (!tool_moment_convert(calendar, &m, hours))
        return false;
    *hours += m.parts == 6 && m.second != floor(m.second) ? TOOL_HOURS_ROUNDING : lengths[m.parts];
    return true;
}

bool tool_value_parse(bool is_time, const char *calendar, const char *text, double *value)
{
    tool_moment m;
    char *end;
    if (is_time)
        return tool_moment_parse(text, &m) && tool_moment_convert(calendar, &m, value);
    *value = strtod(text, &end);
    return end != text && *end == '\0' && !isnan(*value);
}
