/* Dates on the command line, of which parts may be left out. */
#ifndef PNC_TOOLS_COMMON_MOMENT_H
#define PNC_TOOLS_COMMON_MOMENT_H

#include <stdbool.h>

#define TOOL_HOURS_ROUNDING 1e-6 /* times are sums of hours in doubles */

typedef struct tool_moment {
    int parts; /* that are given: year, month, day, hour, minute, second */
    long long year;
    int month, day, hour, minute;
    double second;
} tool_moment;

bool tool_moment_parse(const char *text, tool_moment *out);

/* Hours since 1970 in a calendar, NULL or "" for the standard one; false if it has no such date. */
bool tool_moment_convert(const char *calendar, const tool_moment *moment, double *hours);
/* The end of the year, month .. that a date is which has no more parts. */
bool tool_moment_convert_end(const char *calendar, const tool_moment *moment, double *hours);

/* A number or, of a time, the hours of a date in a calendar. False for NaN. */
bool tool_value_parse(bool is_time, const char *calendar, const char *text, double *value);

#endif
