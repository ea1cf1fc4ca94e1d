#include "tools/ncmpidump/plot_ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_tick(plot_ticks *t, double at, const char *text)
{
    if (t->n == PLOT_TICKS_MOST)
        return;
    t->at[t->n] = at;
    snprintf(t->text[t->n], PLOT_TICK_TEXT, "%s", text);
    t->n++;
}

/* The round number that is at least this one: 1, 2 or 5 times a power of 10. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));

    for (int i = 0; i < 3; i++) {
        double step = (const double[]){1, 2, 5}[i] * power;

        if (step >= least * (1 - 1e-9))
            return step;
    }
    return 10 * power;
}

static void choose_numbers(double low, double high, int wanted, plot_ticks *t)
{
    double step = round_step((high - low) / wanted);

    for (double k = ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && t->n < PLOT_TICKS_MOST; k++) {
        char text[PLOT_TICK_TEXT];
        double at = fabs(k) < 0.5 ? 0 : k * step;

        snprintf(text, sizeof text, "%.6g", at);
        if (fabs(at) >= 1e5 && fabs(at) < 1e7 && step >= 1)
            snprintf(text, sizeof text, "%.0f", at);
        add_tick(t, at, text);
    }
}

/* Times of so many hours, from midnight. */
static void choose_hours(double low, double high, double step, const cal_units *units, plot_ticks *t)
{
    for (double k = ceil((low * units->hours + units->base.hour) / step - 1e-9); t->n < PLOT_TICKS_MOST; k++) {
        double at = (k * step - units->base.hour) / units->hours;
        char date[CAL_DATE_SIZE];

        if (at > high + (high - low) * 1e-9)
            return;
        if (tool_calendar_print(units, at, ' ', date))
            add_tick(t, at, date);
    }
}

/* The first days of every so many months; 12 * n: of years, whose labels have no month. */
static void choose_months(double low, double high, int months, const cal_units *units, plot_ticks *t)
{
    double first = ceil((low * units->hours + units->base.hour) / 24 - 1e-9);

    for (double k = first; t->n < PLOT_TICKS_MOST; k++) {
        double at = (k * 24 - units->base.hour) / units->hours;
        char date[CAL_DATE_SIZE];
        long long year;
        int month, day;

        if (at > high)
            return;
        if (!tool_calendar_print(units, at, ' ', date) || sscanf(date, "%lld-%d-%d", &year, &month, &day) != 3 ||
            day != 1 || (year * 12 + month - 1) % months != 0)
            continue;
        snprintf(date, sizeof date, months % 12 == 0 ? "%04lld" : "%04lld-%02d", year, month);
        add_tick(t, at, date);
    }
}

#define DAYS_MOST 400000 /* a thousand years: each day is looked at */

static void choose_dates(double low, double high, int wanted, const cal_units *units, plot_ticks *t)
{
    static const int hours[] = {1, 2, 3, 6, 12, 24, 48, 120, 240};
    static const int months[] = {1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400};
    double days = (high - low) * units->hours / 24;

    for (size_t i = 0; i < sizeof hours / sizeof *hours && t->n == 0; i++)
        if (days * 24 / hours[i] <= wanted)
            choose_hours(low, high, hours[i], units, t);
    for (size_t i = 0; i < sizeof months / sizeof *months && t->n == 0 && days < DAYS_MOST; i++)
        if (days / 30.4 / months[i] <= wanted)
            choose_months(low, high, months[i], units, t);
}

void dump_plot_ticks_choose(double low, double high, int wanted, const cal_units *units, plot_ticks *t)
{
    t->n = 0;
    if (!(high > low) || !isfinite(high - low))
        return;
    if (units != NULL && units->hours > 0)
        choose_dates(low, high, wanted, units, t);
    if (t->n == 0)
        choose_numbers(low, high, wanted, t);
}
