/* The rule of the strategy direct: each request on its own. Always suitable. */
#include "io/choose/costs.h"
#include "io/choose/sizes.h"

/* A get from servers: the reads of data sieving, or one access of each stripe if those are more. */
static pnc_estimate estimate_sieved_reads(const pnc_access_pattern *p)
{
    double reads = (double)p->reads, units = pnc_io_accesses_count(p, PNC_DIRECT_BYTES);

    return (pnc_estimate){.accesses = reads > units ? reads : units};
}

static pnc_estimate estimate_direct(const pnc_access_pattern *p)
{
    double runs = (double)p->runs, slabs = (double)p->slabs;

    if (p->sieves && p->on_servers && p->direction == PNC_GET)
        return estimate_sieved_reads(p);
    return pnc_io_costs_compute_independent(p, p->sieves ? slabs + (runs - slabs) / PNC_RUNS_OF_A_SIEVE : runs,
                                            PNC_DIRECT_BYTES);
}

const pnc_strategy_rule pnc_io_direct_rule = {.estimate = estimate_direct};
