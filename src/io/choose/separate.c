/* The rule of the strategy separate: each rank on its own, with data sieving, as its range of the file is its own. */
#include <stddef.h>

#include "io/choose/costs.h"
#include "io/choose/sizes.h"

static const char *prevent_separate(const pnc_access_pattern *p)
{
    return p->ranks_apart ? NULL : "ranges of ranks not known to be apart";
}

/* On one node a get needs no aggregators that it could do without. Stride 2 of doubles on 2 ranks: 8 ns of CPU time per
 * element, and 58 with an exchange. */
static const char *reject_separate(const pnc_access_pattern *p)
{
    return p->nnodes > 1 || p->direction == PNC_PUT ? NULL : "a get on one node";
}

static pnc_estimate estimate_separate(const pnc_access_pattern *p)
{
    pnc_estimate e = {.accesses = 1 + (double)p->runs / PNC_RUNS_OF_A_SIEVE, .synchronisations = 1};

    if (p->on_servers)
        e.accesses += pnc_io_accesses_count(p, PNC_DIRECT_BYTES);
    return e;
}

const pnc_strategy_rule pnc_io_separate_rule = {
    .prevent = prevent_separate, .reject = reject_separate, .estimate = estimate_separate};
