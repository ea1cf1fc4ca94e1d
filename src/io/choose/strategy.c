/* The choice of a strategy. */
#include "io/choose/strategy.h"

#include <stddef.h>

#include "io/choose/costs.h"

/* --- the table --- */

#define RULE(ID, name, ...) [PNC_##ID] = &pnc_io_##name##_rule,
static const pnc_strategy_rule *const rules[PNC_STRATEGIES] = {PNC_STRATEGY_ROWS(RULE, RULE, unused)};
#undef RULE

#define NAME(ID, name, ...) #name,
const char *const pnc_strategy_names[] = {"automatic", PNC_STRATEGY_ROWS(NAME, NAME, unused) NULL};
#undef NAME

#define INDEPENDENT(ID, name, ...) [PNC_##ID] = false,
#define COLLECTIVE(ID, name, ...) [PNC_##ID] = true,
static const bool are_collective[PNC_STRATEGIES] = {PNC_STRATEGY_ROWS(INDEPENDENT, COLLECTIVE, unused)};
#undef INDEPENDENT
#undef COLLECTIVE

bool pnc_io_strategy_is_collective(pnc_strategy strategy)
{
    return are_collective[strategy];
}

pnc_estimate pnc_io_strategy_compute_cost(pnc_strategy strategy, const pnc_access_pattern *p)
{
    pnc_estimate e = rules[strategy]->estimate(p);

    e.seconds = pnc_io_costs_compute_seconds(&e, p);
    return e;
}

static const char *explain_impossible(pnc_strategy strategy, const pnc_access_pattern *p)
{
    return rules[strategy]->prevent == NULL ? NULL : rules[strategy]->prevent(p);
}

const char *pnc_io_strategy_explain_rejection(pnc_strategy strategy, const pnc_access_pattern *p)
{
    const char *why = p->nprocs == 1 && are_collective[strategy] ? "one rank" : explain_impossible(strategy, p);

    return why != NULL || rules[strategy]->reject == NULL ? why : rules[strategy]->reject(p);
}

/* --- the choice --- */

/* The cheapest suitable one of [first, end); without one, `otherwise`. Costs are computed only to compare two: a small
 * call, which often has no choice, takes less time than an estimate. */
static pnc_strategy find_cheapest(const pnc_access_pattern *p, pnc_strategy first, pnc_strategy end,
                                  pnc_strategy otherwise)
{
    pnc_strategy best = PNC_STRATEGIES;
    double least = -1, seconds;

    for (pnc_strategy s = first; s < end; s++) {
        if (!pnc_io_strategy_is_suitable(s, p))
            continue;
        if (best == PNC_STRATEGIES) {
            best = s;
            continue;
        }
        if (least < 0)
            least = pnc_io_strategy_compute_cost(best, p).seconds;
        seconds = pnc_io_strategy_compute_cost(s, p).seconds;
        if (seconds < least) {
            best = s;
            least = seconds;
        }
    }
    return best == PNC_STRATEGIES ? otherwise : best;
}

/* What the hints say about aggregators. */
static pnc_switch get_switch(const pnc_access_pattern *p, const pnc_access_hints *hints)
{
    if (hints->no_independent)
        return PNC_ENABLE;
    return (pnc_switch)(p->direction == PNC_PUT ? hints->cb_write : hints->cb_read);
}

/* The hints that enable aggregators exclude accesses by other ranks. On one node, where every rank is an aggregator,
 * cb_write does not. */
static bool needs_aggregators(const pnc_access_pattern *p, const pnc_access_hints *hints)
{
    return hints->no_independent || (p->nnodes > 1 && get_switch(p, hints) == PNC_ENABLE);
}

bool pnc_io_strategy_has_separate(const pnc_access_pattern *p, const pnc_access_hints *hints)
{
    return hints->strategy > 0 ? pnc_io_strategy_is_forced(PNC_SEPARATE, hints) : !needs_aggregators(p, hints);
}

pnc_strategy pnc_io_strategy_choose_independent(const pnc_access_pattern *p, const pnc_access_hints *hints)
{
    pnc_strategy forced = (pnc_strategy)(hints->strategy - 1), choice;

    if (hints->strategy > 0 && (p->nprocs > 1 || !are_collective[forced]))
        return are_collective[forced] ? PNC_STRATEGIES : forced;
    if (p->nprocs > 1 && get_switch(p, hints) == PNC_ENABLE)
        return PNC_STRATEGIES;
    if (p->nprocs == 1 || get_switch(p, hints) == PNC_DISABLE)
        return find_cheapest(p, PNC_DIRECT, PNC_SEPARATE, PNC_DIRECT);
    choice = find_cheapest(p, PNC_DIRECT, PNC_STRATEGIES, PNC_DIRECT);
    return are_collective[choice] ? PNC_STRATEGIES : choice;
}

pnc_strategy pnc_io_strategy_choose_collective(const pnc_access_pattern *p, const pnc_access_hints *hints)
{
    pnc_strategy forced = (pnc_strategy)(hints->strategy - 1);
    pnc_access_pattern same = *p;

    if (hints->strategy > 0 && are_collective[forced])
        return explain_impossible(forced, p) == NULL ? forced : PNC_TWO_PHASE;
    same.slabs = same.runs = same.reads = same.bytes = 0;
    same.nwriters = 1; /* every estimate has one access then; its contention must not decide */
    return find_cheapest(&same, needs_aggregators(p, hints) ? PNC_WITHIN_NODES : PNC_SEPARATE, PNC_STRATEGIES,
                         PNC_TWO_PHASE);
}
