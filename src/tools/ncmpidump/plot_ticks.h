/* Ticks of an axis: round numbers, or dates. */
#ifndef PNC_TOOLS_NCMPIDUMP_PLOT_TICKS_H
#define PNC_TOOLS_NCMPIDUMP_PLOT_TICKS_H

#include "tools/common/calendar.h"

enum { PLOT_TICKS_MOST = 40, PLOT_TICK_TEXT = 64 };

typedef struct plot_ticks {
    int n;
    double at[PLOT_TICKS_MOST];
    char text[PLOT_TICKS_MOST][PLOT_TICK_TEXT];
} plot_ticks;

/* About `wanted` ticks from `low` to `high`. units: of times, or NULL. */
void dump_plot_ticks_choose(double low, double high, int wanted, const cal_units *units, plot_ticks *ticks);

#endif
