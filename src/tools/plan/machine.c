/* The table of machines. */
#include "tools/plan/machine.h"

#include <stddef.h>
#include <string.h>

#define MIB (1 << 20)

/* clang-format off */
static const plan_machine machines[] = {
    /* name       nodes   ranks servers  stripe  known   server    link network latency request lock message */
    {"aurora",     10624,  104,   1024,     MIB, false, 30270.0, 50000, 200000,    500,    100,    0,    2},
    {"cori",        2388,   32,    248,     MIB, true,   2823.0,  8000,   8000,    500,    100, 5000,    2},
    {"frontier",    9408,   64,    900,     MIB, true,   5110.0, 25000, 100000,    500,    100, 5000,    2},
    {"fugaku",    158976,   48,    300,     MIB, true,   5000.0,    65,  40800,    500,    100, 5000,    2},
    {"intrepid",   40960,    4,    128, 4 * MIB, false,   687.5,  13.3,   2550,    500,    100,    0,    4},
    {"perlmutter",  3072,  128,    298,     MIB, true,  16780.0, 25000,  25000,    500,    100, 5000,    2},
};
/* clang-format on */

const plan_machine *plan_machine_find(const char *name)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}
