/* Convert times to dates by the CF conventions (chapter 4.4): "<unit> since <date>" in one of their calendars. */
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
    double hours;  /* length of the unit; 0 if it is given in months */
    double months; /* length of a unit without a fixed number of hours; else 0 */
    cal_date base;
    double base_hours; /* of base, since 1970 */
} cal_units;

enum { CAL_DATE_SIZE = 64 };

/* Parse the attributes units and calendar; calendar may be NULL. Returns false if they do not define a time since a
 * date. */
bool dump_units_parse(const char *units, const char *calendar, cal_units *out);

/* "2000-01-31", "2000-01-31 12", "2000-01-31 12:30:05" ...: parts of the time that are 0 are left out from the end;
 * separator is put between date and time. Returns false for NaN and for values beyond the range of the calendar. */
bool dump_calendar_print(const cal_units *units, double value, char separator, char out[CAL_DATE_SIZE]);

#endif
