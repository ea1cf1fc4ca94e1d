/* The rule of the strategy merged: the requests of a rank in the order of the file. */
#include <stddef.h>

#include "io/choose/costs.h"
#include "io/choose/sizes.h"

/* Of small runs in a list, many are adjacent in the file. A guess: counting them takes as long as merging them. */
#define RUNS_OF_A_MERGE 8

static const char *reject_merged(const pnc_access_pattern *p)
{
    return p->slabs > 1 ? NULL : "one hyperslab";
}

static pnc_estimate estimate_merged(const pnc_access_pattern *p)
{
    double runs = (double)p->runs;
    pnc_estimate e = pnc_io_costs_compute_independent(p, 1 + runs / (p->sieves ? PNC_RUNS_OF_A_SIEVE : RUNS_OF_A_MERGE),
                                                      PNC_MERGED_BYTES);

    e.runs = runs;
    e.copied = (double)p->bytes;
    return e;
}

const pnc_strategy_rule pnc_io_merged_rule = {.reject = reject_merged, .estimate = estimate_merged};
