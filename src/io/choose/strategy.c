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

/* PNC_DIRECT, which is always suitable, or a cheaper one before `end`. Costs are computed only to compare two: a small
 * call, which often has no choice, takes less time than an estimate. */
static pnc_strategy find_cheapest(const pnc_access_pattern *p, pnc_strategy end)
{
    pnc_strategy best = PNC_DIRECT;
    double least = -1, seconds;

    for (pnc_strategy s = PNC_DIRECT + 1; s < end; s++) {
        if (!pnc_io_strategy_is_suitable(s, p))
            continue;
        if (least < 0)
            least = pnc_io_strategy_compute_cost(best, p).seconds;
        seconds = pnc_io_strategy_compute_cost(s, p).seconds;
        if (seconds < least) {
            best = s;
            least = seconds;
        }
    }
    return best;
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
        return find_cheapest(p, PNC_SHARED);
    choice = find_cheapest(p, PNC_STRATEGIES);
    return are_collective[choice] ? PNC_STRATEGIES : choice;
}

/* If all nodes read the same bytes, the servers of these answer one after the other: so much of the time of an access
 * each. A guess: the rest is latency, which overlaps. */
#define SERVER_SHARE 0.125

/* Of a get in which all ranks want the same bytes, and do not share them: all nodes read them, or an aggregator sends
 * them to each rank. */
static double compute_unshared(const pnc_access_pattern *p, pnc_strategy own)
{
    if (own != PNC_STRATEGIES)
        return pnc_io_strategy_compute_cost(own, p).seconds * (1 + SERVER_SHARE * (p->nnodes - 1));
    return pnc_io_strategy_compute_cost(PNC_TWO_PHASE, p).seconds +
           (double)p->bytes * p->nprocs * pnc_io_costs_get(p).sent;
}

bool pnc_io_strategy_may_share(const pnc_access_pattern *p, const pnc_access_hints *hints, pnc_strategy own)
{
    pnc_access_pattern same = *p;

    same.same = true;
    if (p->direction == PNC_PUT || p->nprocs == 1 || p->bytes == 0)
        return false;
    if (hints->strategy > 0)
        return pnc_io_strategy_is_forced(PNC_SHARED, hints);
    if (get_switch(p, hints) != PNC_AUTOMATIC || !pnc_io_strategy_is_suitable(PNC_SHARED, &same))
        return false;
    return pnc_io_strategy_compute_cost(PNC_SHARED, &same).seconds < compute_unshared(p, own);
}

pnc_strategy pnc_io_strategy_choose_collective(const pnc_access_pattern *p, const pnc_access_hints *hints)
{
    pnc_strategy forced = (pnc_strategy)(hints->strategy - 1);
    pnc_strategy s = needs_aggregators(p, hints) ? PNC_WITHIN_NODES : PNC_SHARED;

    if (hints->strategy > 0 && are_collective[forced])
        return explain_impossible(forced, p) == NULL ? forced : PNC_TWO_PHASE;
    while (s < PNC_STRATEGIES && !pnc_io_strategy_is_suitable(s, p))
        s++;
    return s < PNC_STRATEGIES ? s : PNC_TWO_PHASE;
}
