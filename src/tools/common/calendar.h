/* Convert times to dates by the CF conventions (chapter 4.4): "<unit> since <date>" in one of their calendars. */
#ifndef PNC_TOOLS_COMMON_CALENDAR_H
#define PNC_TOOLS_COMMON_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/common/linear.h"

typedef enum cal_kind { CAL_STANDARD, CAL_GREGORIAN, CAL_JULIAN, CAL_NOLEAP, CAL_ALL_LEAP, CAL_360_DAY } cal_kind;

typedef struct cal_date {
    long long year;
    int month, day; /* from 1 */
    double hour;
} cal_date;

typedef struct cal_units {
    cal_kind calendar;
    double hours;  /* length of the unit; 0 if it is given in months */
    double months; /* length of a unit without a fixed number of hours; else 0 */
    cal_date base;
    double base_hours; /* of base, since 1970 */
} cal_units;

/* The same as integers, exactly. */
typedef struct cal_clock {
    cal_kind calendar;
    int64_t unit;              /* nanoseconds */
    int64_t days, nanoseconds; /* from 1970-01-01 of the calendar to the time 0 */
} cal_clock;

enum { CAL_DATE_SIZE = 64 };

/* The calendar of a name; NULL or "" is the default of the conventions. Returns false for a name that they do not
 * define. */
bool tool_calendar_find(const char *name, cal_kind *calendar);

/* Like tool_units_parse, but nothing is ignored or guessed: returns false for a unit without a fixed length, and if any
 * part of the date is unknown, or is not a date of the calendar. A time zone is taken into account. */
bool tool_clock_parse(const char *units, const char *calendar, cal_clock *clock);

/* Parse the attributes units and calendar; calendar may be NULL or "". Returns false if they do not define a time since
 * a date. */
bool tool_units_parse(const char *units, const char *calendar, cal_units *out);

/* How times of one clock become those of another one in the same calendar. */
void tool_clock_convert(const cal_clock *from, const cal_clock *to, tool_linear *conversion);

/* "2000-01-31", "2000-01-31 12", "2000-01-31 12:30:05" ...: parts of the time that are 0 are left out from the end;
 * separator is put between date and time. Returns false for NaN and for values beyond the range of the calendar. */
bool tool_calendar_print(const cal_units *units, double value, char separator, char out[CAL_DATE_SIZE]);

#endif
