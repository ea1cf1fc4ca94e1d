/* The rule of the strategy two_phase: ranks and aggregators of all nodes exchange data. Always possible. */
#include <stddef.h>

#include "io/choose/costs.h"

/* On a local file system all ranks read through the same page cache: aggregators would only add copies. */
static const char *reject_two_phase(const pnc_access_pattern *p)
{
    return p->on_servers || p->direction == PNC_PUT ? NULL : "a get of a local file";
}

static pnc_estimate estimate_two_phase(const pnc_access_pattern *p)
{
    return pnc_io_costs_compute_exchange(p, 2, true);
}

const pnc_strategy_rule pnc_io_two_phase_rule = {.reject = reject_two_phase, .estimate = estimate_two_phase};
