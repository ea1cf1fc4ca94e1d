/* The table of machines. */
#include "tools/plan/machine.h"

#include <stddef.h>
#include <string.h>

#define MIB (1 << 20)

/* clang-format off */
static const plan_machine machines[] = {
    /* name       nodes   ranks servers  stripe  known   server    link network latency request lock message */
    {"aurora",     10624,  104,   1024,     MIB, false, 30270.0, 50000, 200000,    500,    100,    0,    2},
    {"frontier",    9408,   64,    900,     MIB, true,   5110.0, 25000, 100000,    500,    100, 5000,    2},
    {"fugaku",    158976,   48,    300,     MIB, true,   5000.0,    65,  40800,    500,    100, 5000,    2},
    {"intrepid",   40960,    4,    128, 4 * MIB, false,   687.5,  13.3,   2550,    500,    100,    0,    4},
};
/* clang-format on */

const plan_machine *plan_machine_get(int i)
{
    return i < (int)(sizeof machines / sizeof *machines) ? &machines[i] : NULL;
}

const plan_machine *plan_machine_find(const char *name)
{
    const plan_machine *m;

    for (int i = 0; (m = plan_machine_get(i)) != NULL; i++)
        if (strcmp(m->name, name) == 0)
            return m;
    return NULL;
}
