/* Convert dates to days since 1970 and back, in each calendar. Times are hours since 1970 in a double, as in ncdump, so
 * that fractions of a second are rounded in the same way. */
#include "tools/common/calendar.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "spec/constants.h"

enum { YEARS_MAX = 10000000 };
#define HOURS_MAX (24 * 366.0 * YEARS_MAX)

static long long floor_div(long long a, long long b)
{
    return a / b - (a % b < 0);
}

/* --- days --- */

static bool is_leap(cal_kind calendar, long long year)
{
    switch (calendar) {
    case CAL_NOLEAP: return false;
    case CAL_ALL_LEAP: return true;
    case CAL_JULIAN: return year % 4 == 0;
    default: return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    }
}

/* Days from the first day of year 0 to the first day of this year. */
static long long days_before_year(cal_kind calendar, long long year)
{
    long long last = year - 1;
    switch (calendar) {
    case CAL_360_DAY: return 360 * year;
    case CAL_NOLEAP: return 365 * year;
    case CAL_ALL_LEAP: return 366 * year;
    case CAL_JULIAN: return 365 * year + floor_div(last, 4) + 1;
    default: return 365 * year + floor_div(last, 4) - floor_div(last, 100) + floor_div(last, 400) + 1;
    }
}

static int days_before_month(cal_kind calendar, long long year, int month)
{
    static const short days[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    if (calendar == CAL_360_DAY)
        return 30 * (month - 1);
    return days[month - 1] + (month > 2 && is_leap(calendar, year));
}

/* Days since 1970-01-01 of the calendar; date->day may exceed the length of its month. */
static long long days_of(cal_kind calendar, const cal_date *date)
{
    return days_before_year(calendar, date->year) + days_before_month(calendar, date->year, date->month) + date->day -
           1 - days_before_year(calendar, 1970);
}

static void date_of(cal_kind calendar, long long days, cal_date *date)
{
    days += days_before_year(calendar, 1970);
    date->year = (long long)floor((double)days / 365.25);
    while (days_before_year(calendar, date->year) > days)
        date->year--;
    while (days_before_year(calendar, date->year + 1) <= days)
        date->year++;
    int rest = (int)(days - days_before_year(calendar, date->year));
    for (date->month = 12; days_before_month(calendar, date->year, date->month) > rest;)
        date->month--;
    date->day = rest - days_before_month(calendar, date->year, date->month) + 1;
}

/* The standard calendar is Julian before 15 October 1582, which is 5 October in the Julian calendar. */
static long long get_julian_shift(void)
{
    const cal_date first = {1582, 10, 15, 0}, same = {1582, 10, 5, 0};
    return days_of(CAL_GREGORIAN, &first) - days_of(CAL_JULIAN, &same);
}

static bool is_before_reform(const cal_date *date)
{
    if (date->year != 1582)
        return date->year < 1582;
    if (date->month != 10)
        return date->month < 10;
    return date->day < 15;
}

static double hours_of(cal_kind calendar, const cal_date *date)
{
    long long days;
    if (calendar != CAL_STANDARD)
        days = days_of(calendar, date);
    else if (is_before_reform(date))
        days = days_of(CAL_JULIAN, date) + get_julian_shift();
    else
        days = days_of(CAL_GREGORIAN, date);
    return (double)days * 24 + date->hour;
}

static void date_of_hours(cal_kind calendar, double hours, cal_date *date)
{
    const cal_date reform = {1582, 10, 15, 0};
    long long days = (long long)floor(hours / 24);
    date->hour = hours - (double)days * 24;
    if (calendar == CAL_STANDARD && days < days_of(CAL_GREGORIAN, &reform))
        date_of(CAL_JULIAN, days - get_julian_shift(), date);
    else
        date_of(calendar == CAL_STANDARD ? CAL_GREGORIAN : calendar, days, date);
}

/* --- units --- */

static bool find_unit(const char *text, size_t length, cal_units *out)
{
    static const struct {
        const char *names;
        double hours, months;
    } rows[] = {
        {" s sec secs second seconds ", 1 / 3600.0, 0},
        {" min mins minute minutes ", 1 / 60.0, 0},
        {" hr hour hours ", 1, 0},
        {" dy day days ", 24, 0},
        {" wk week weeks ", 168, 0},
        {" month months ", 0, 1},
        {" season seasons ", 0, 3},
        {" yr year years ", 0, 12},
    };
    char word[16];
    if (length == 0 || length > sizeof word - 3)
        return false;
    word[0] = ' ';
    for (size_t i = 0; i < length; i++)
        word[i + 1] = (char)tolower((unsigned char)text[i]);
    word[length + 1] = ' ';
    word[length + 2] = '\0';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strstr(rows[i].names, word) != NULL) {
            out->hours = rows[i].hours;
            out->months = rows[i].months;
            return true;
        }
    }
    return false;
}

bool tool_calendar_find(const char *name, cal_kind *calendar)
{
    static const struct {
        const char *name;
        cal_kind calendar;
    } rows[] = {
        {"standard", CAL_STANDARD}, {"gregorian", CAL_STANDARD}, {"proleptic_gregorian", CAL_GREGORIAN},
        {"noleap", CAL_NOLEAP},     {"no_leap", CAL_NOLEAP},     {"365_day", CAL_NOLEAP},
        {"all_leap", CAL_ALL_LEAP}, {"366_day", CAL_ALL_LEAP},   {"360_day", CAL_360_DAY},
        {"julian", CAL_JULIAN},
    };
    const bool is_default = name == NULL || name[0] == '\0';
    *calendar = CAL_STANDARD;
    for (size_t i = 0; !is_default && i < sizeof rows / sizeof *rows; i++)
        if (strcasecmp(name, rows[i].name) == 0) {
            *calendar = rows[i].calendar;
            return true;
        }
    return is_default;
}

static bool is_within(int number, int least, int largest)
{
    return number >= least && number <= largest;
}

static bool is_date(const cal_date *date)
{
    return date->year > -YEARS_MAX && date->year < YEARS_MAX && is_within(date->month, 1, 12) &&
           is_within(date->day, 1, 31);
}

/* Parse year-month-day hour:minute:second. All but the year may be missing. Text after it, such as a time zone, is
 * ignored. */
static bool parse_date(const char *text, cal_date *date)
{
    int minute = 0, hour = 0, read = 0;
    double second = 0;
    *date = (cal_date){0, 1, 1, 0};
    if (sscanf(text, "%10lld%n", &date->year, &read) < 1)
        return false;
    text += read;
    if (sscanf(text, "%*1[-/]%2d%n", &date->month, &read) == 1) {
        text += read;
        if (sscanf(text, "%*1[-/]%2d%n", &date->day, &read) == 1)
            text += read;
    }
    while (*text == ' ' || *text == 'T' || *text == 't')
        text++;
    if (isdigit((unsigned char)*text))
        sscanf(text, "%2d:%2d:%15lf", &hour, &minute, &second);
    date->hour = hour + minute / 60.0 + second / 3600;
    return is_date(date) && is_within(hour, 0, 23) && is_within(minute, 0, 60) && second >= 0 && second <= 61;
}

bool tool_units_parse(const char *units, const char *calendar, cal_units *out)
{
    const char *unit = units + strspn(units, " \t");
    size_t length = strcspn(unit, " \t");
    const char *since = unit + length + strspn(unit + length, " \t");
    *out = (cal_units){.calendar = CAL_STANDARD};
    if (!find_unit(unit, length, out) || strncmp(since, "since", 5) != 0 ||
        (calendar != NULL && strcasecmp(calendar, "none") == 0))
        return false;
    tool_calendar_find(calendar, &out->calendar); /* an unknown one is taken for the default */
    since += 5;
    if (!parse_date(since + strspn(since, " \t"), &out->base))
        return false;
    out->base_hours = hours_of(out->calendar, &out->base);
    return true;
}

/* --- values --- */

/* Add whole months. As in ncdump the result is the first day of a month, except for the value 0. */
static void add_months(const cal_units *units, double value, cal_date *date)
{
    *date = units->base;
    if (value == 0)
        return;
    date_of_hours(units->calendar, units->base_hours, date);
    long long months = date->year * 12 + date->month - 1 + (long long)(value * units->months);
    *date = (cal_date){floor_div(months, 12), (int)(months - 12 * floor_div(months, 12)) + 1, 1, 0};
}

/* Rounded to microseconds; a time that rounds to 24:00 becomes 00:00 of the next day. */
static void print_date(const cal_units *units, cal_date date, char separator, char out[CAL_DATE_SIZE])
{
    long long micro = llround(date.hour * 3600e6);
    if (micro >= 86400000000LL) {
        date.hour = 0;
        date_of_hours(units->calendar, hours_of(units->calendar, &date) + 24, &date);
        micro = 0;
    }
    int minutes = (int)(micro / 60000000), fraction = (int)(micro % 1000000), second = (int)(micro / 1000000 % 60);
    int used = snprintf(out, CAL_DATE_SIZE, "%s%04lld-%02d-%02d", date.year < 0 ? "-" : "", llabs(date.year),
                        date.month, date.day);
    char *time = out + used;
    size_t capacity = CAL_DATE_SIZE - (size_t)used;
    if (fraction != 0)
        snprintf(time, capacity, "%c%02d:%02d:%d.%06d", separator, minutes / 60, minutes % 60, second, fraction);
    else if (second != 0)
        snprintf(time, capacity, "%c%02d:%02d:%02d", separator, minutes / 60, minutes % 60, second);
    else if (minutes % 60 != 0)
        snprintf(time, capacity, "%c%02d:%02d", separator, minutes / 60, minutes % 60);
    else if (minutes != 0)
        snprintf(time, capacity, "%c%02d", separator, minutes / 60);
}

bool tool_calendar_print(const cal_units *units, double value, char separator, char out[CAL_DATE_SIZE])
{
    cal_date date;
    double unit = units->months != 0 ? units->months * 31 * 24 : units->hours;
    double hours = units->base_hours + (unit < 1 ? value / round(1 / unit) : value * unit);
    if (!(fabs(hours) < HOURS_MAX)) /* NaN too */
        return false;
    if (units->months != 0)
        add_months(units, value, &date);
    else
        date_of_hours(units->calendar, hours, &date);
    print_date(units, date, separator, out);
    return true;
}

/* --- exact times --- */

static const int64_t second_length = 1000000000, day_length = 86400000000000;

static int64_t find_unit_length(const char *text, size_t length, cal_kind calendar)
{
    static const struct {
        const char *names;
        int64_t nanoseconds;
    } rows[] = {
        {" ns nanosec nanosecs nanosecond nanoseconds ", 1},
        {" us microsec microsecs microsecond microseconds ", 1000},
        {" ms msec msecs millisec millisecs millisecond milliseconds ", 1000000},
        {" s sec secs second seconds ", 1000000000},
        {" min mins minute minutes ", 60000000000},
        {" h hr hrs hour hours ", 3600000000000},
        {" d dy day days ", 86400000000000},
        {" wk week weeks ", 604800000000000},
        {" month months ", 2592000000000000}, /* of the 360_day calendar */
    };
    size_t last = sizeof rows / sizeof *rows - 1;
    char word[20];
    if (length == 0 || length > sizeof word - 3)
        return 0;
    word[0] = ' ';
    for (size_t i = 0; i < length; i++)
        word[i + 1] = (char)tolower((unsigned char)text[i]);
    word[length + 1] = ' ';
    word[length + 2] = '\0';
    for (size_t i = 0; i <= last; i++)
        if (strstr(rows[i].names, word) != NULL)
            return i < last || calendar == CAL_360_DAY ? rows[i].nanoseconds : 0;
    return 0;
}

/* Take 1 to `most` digits from the text. */
static bool take_digits(const char **text, int most, int64_t *number)
{
    int n = 0;
    *number = 0;
    for (; isdigit((unsigned char)**text); ++*text, n++)
        if (n < most)
            *number = *number * 10 + (**text - '0');
    return n > 0 && n <= most;
}

static bool take_character(const char **text, char c)
{
    bool found = **text == c;
    *text += found;
    return found;
}

static int month_length(cal_kind calendar, long long year, int month)
{
    if (month < 12)
        return days_before_month(calendar, year, month + 1) - days_before_month(calendar, year, month);
    return calendar == CAL_360_DAY ? 30 : 31;
}

/* In the standard and in the Julian calendar programs disagree about the year 0: such dates are refused. */
static bool take_day(const char **text, cal_kind calendar, int64_t *days)
{
    int64_t year, month, day;
    bool negative = take_character(text, '-');
    if (!take_digits(text, 7, &year) || !take_character(text, '-') || !take_digits(text, 2, &month) ||
        !take_character(text, '-') || !take_digits(text, 2, &day))
        return false;
    cal_date date = {negative ? -year : year, (int)month, (int)day, 0};
    bool early = calendar == CAL_STANDARD && is_before_reform(&date);
    if (month < 1 || month > 12 || ((calendar == CAL_STANDARD || calendar == CAL_JULIAN) && date.year < 1))
        return false;
    if (day < 1 || day > month_length(early ? CAL_JULIAN : calendar, date.year, date.month))
        return false;
    if (early && date.year == 1582 && date.month == 10 &&
        date.day > 4) /* of the reform; the standard has no such day */
        return false;
    *days = (int64_t)(hours_of(calendar, &date) / 24);
    return true;
}

/* The fraction of a second, after its point. */
static bool take_fraction(const char **text, int64_t *nanoseconds)
{
    int64_t scale = second_length;
    for (; isdigit((unsigned char)**text); ++*text) {
        scale /= 10;
        if (scale == 0 && **text != '0')
            return false;
        *nanoseconds += scale * (**text - '0');
    }
    return true;
}

/* Hours, perhaps with minutes, seconds and a fraction of a second. */
static bool take_time(const char **text, int64_t *nanoseconds)
{
    int64_t hour = 0, minute = 0, second = 0, fraction = 0;
    bool good = take_digits(text, 2, &hour);
    bool more = good && take_character(text, ':');
    good = good && (!more || take_digits(text, 2, &minute));
    more = more && good && take_character(text, ':');
    good = good && (!more || take_digits(text, 2, &second));
    if (good && more && take_character(text, '.'))
        good = take_fraction(text, &fraction);
    *nanoseconds = (hour * 3600 + minute * 60 + second) * second_length + fraction;
    return good && hour < 24 && minute < 60 && second < 60;
}

/* Nothing, Z, UTC, GMT, or hours (and minutes) before UTC: -6, +5:30, +0530. */
static bool take_zone(const char **text, int64_t *nanoseconds)
{
    static const char *const names[] = {"UTC", "GMT", "Z"};
    int64_t hours, minutes = 0;
    *text += strspn(*text, " ");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(*text, names[i]) == 0) {
            *text += strlen(names[i]);
            return true;
        }
    if (**text == '\0')
        return true;
    bool negative = take_character(text, '-');
    if ((!negative && !take_character(text, '+')) || !take_digits(text, 4, &hours))
        return false;
    if (hours > 99) {
        minutes = hours % 100;
        hours /= 100;
    } else if (take_character(text, ':') && !take_digits(text, 2, &minutes)) {
        return false;
    }
    *nanoseconds -= (negative ? -1 : 1) * (hours * 60 + minutes) * 60 * second_length;
    return hours < 24 && minutes < 60;
}

bool tool_clock_parse(const char *units, const char *calendar, cal_clock *clock)
{
    const char *unit = units + strspn(units, " \t");
    size_t length = strcspn(unit, " \t");
    const char *text = unit + length + strspn(unit + length, " \t");
    *clock = (cal_clock){.unit = 0};
    if (!tool_calendar_find(calendar, &clock->calendar) || strncasecmp(text, "since", 5) != 0 || text[5] != ' ')
        return false;
    clock->unit = find_unit_length(unit, length, clock->calendar);
    text += 5;
    text += strspn(text, " ");
    if (clock->unit == 0 || !take_day(&text, clock->calendar, &clock->days))
        return false;
    if (*text == 'T' || *text == ' ') {
        text += *text == 'T' ? 1 : strspn(text, " ");
        if (*text != '\0' && (!take_time(&text, &clock->nanoseconds) || !take_zone(&text, &clock->nanoseconds)))
            return false;
    }
    return *text == '\0';
}

static int64_t get_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

void tool_clock_convert(const cal_clock *from, const cal_clock *to, tool_linear *conversion)
{
    int64_t rest = from->nanoseconds - to->nanoseconds, whole = floor_div(rest, day_length);
    int64_t days = from->days - to->days + whole;
    rest -= whole * day_length;
    int64_t common = get_divisor(get_divisor(from->unit, to->unit), rest);
    common = days != 0 ? get_divisor(common, day_length) : common;
    double length = (double)(day_length / common), product = (double)days * length;
    *conversion = (tool_linear){.scale = (double)(from->unit / common),
                                .offset = {product, fma((double)days, length, -product), (double)(rest / common)},
                                .divisor = (double)(to->unit / common)};
}
