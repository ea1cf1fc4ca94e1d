/* Times as dates, by the rules of the CF conventions (chapter 4.4): "<unit> since <date>" in one of their calendars. */
#ifndef PNC_TOOLS_NCMPIDUMP_CALENDAR_H
#define PNC_TOOLS_NCMPIDUMP_CALENDAR_H

#include <stdbool.h>

typedef enum cal_kind { CAL_STANDARD, CAL_GREGORIAN, CAL_JULIAN, CAL_NOLEAP, CAL_ALL_LEAP, CAL_360_DAY } cal_kind;

typedef struct cal_date {
    long long year;
    int month, day; /* from 1 */
    double hour;
} cal_date;

typedef struct cal_units {
    cal_kind calendar;
    double hours;  /* of the unit, or 0 */
    double months; /* of a unit that has no fixed number of hours, or 0 */
    cal_date base;
    double base_hours; /* since 1970 */
} cal_units;

enum { CAL_DATE_SIZE = 64 };

/* From the attributes units and calendar; calendar may be NULL. False where they are no time since a date. */
bool dump_units_parse(const char *units, const char *calendar, cal_units *out);

/* "2000-01-31", "2000-01-31 12", "2000-01-31 12:30:05" ...: no more of the time than is needed; separator stands
 * between date and time. False for a value that is no date. */
bool dump_calendar_print(const cal_units *units, double value, char separator, char out[CAL_DATE_SIZE]);

#endif
