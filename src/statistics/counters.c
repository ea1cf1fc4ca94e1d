/* The table of counters. */
#include "statistics/counters.h"

#include <string.h>

#define ROW(id, name, unit, meaning) {name, PNC_IN_##unit, meaning},
const pnc_counter_row pnc_counter_table[PNC_COUNTER_N] = {PNC_COUNTERS(ROW)};
#undef ROW

#define ROW(id, name, bytes, unused) name,
const char *const pnc_size_class_names[PNC_SIZE_CLASS_N] = {PNC_SIZE_CLASSES(ROW, )};
#undef ROW

int pnc_counter_class_find(int64_t bytes)
{
#define ROW(id, name, bytes, unused) bytes,
    static const int64_t bounds[PNC_SIZE_CLASS_N] = {PNC_SIZE_CLASSES(ROW, )};
#undef ROW
    int i = 0;

    while (i < PNC_SIZE_CLASS_N - 1 && bytes > bounds[i])
        i++;
    return i;
}

int pnc_counter_find(const char *name)
{
    for (int i = 0; i < PNC_COUNTER_N; i++)
        if (strcmp(name, pnc_counter_table[i].name) == 0)
            return i;
    return -1;
}
