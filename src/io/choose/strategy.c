/* The table of strategies, and what they cost. */
#include "io/choose/strategy.h"

#include <stddef.h>

#include "base/bits.h"
#include "io/choose/sizes.h"

/* --- what things take --- */

/* Measured on tmpfs, 2 ranks on 2 cores, each writing every other row, us per row and rank (one write per row /
 * exchange through shared memory): 512 B 2.1 / 0.31, 4 KiB 3.5 / 2.2, 32 KiB 13 / 17. us per put and rank: 4 rows of 2
 * ranks 6.7 / 9.7, 8 rows 10.6 / 10.2; on 4 ranks that share the cores 8.5 / 21 and 12 / 22. The kernel locks a file
 * for a write, so that a rank waits for the others: with 2 ranks a write takes twice as long. That it takes n times as
 * long with n ranks is an assumption. */
static const pnc_costs on_one_node = {.access = 0.9e-6, .run = 0.15e-6, .copied = 0.2e-9, .synchronisation = 4.6e-6};

/* A parallel file system: an access takes 0.3 to 5 ms, and a lock that changes nodes 1 to 30 ms; ranks of a node share
 * a link of 10 GB/s. */
static const pnc_costs on_nodes = {
    .access = 1e-3, .lock_change = 5e-3, .run = 0.15e-6, .copied = 0.25e-9, .sent = 0.1e-9, .synchronisation = 20e-6};

/* Rows of 64 bytes are read 40 times as fast with data sieving as one by one. */
#define RUNS_OF_A_SIEVE 40
/* Of small runs in a list, many are adjacent in the file. A guess: counting them takes as long as merging them. */
#define RUNS_OF_A_MERGE 8
/* Nodes read without exchange if that reads at most so many times the bytes of the range. */
#define READS_OF_NODES 1.5

const pnc_costs *pnc_io_strategy_get_costs(int nnodes)
{
    return nnodes > 1 ? &on_nodes : &on_one_node;
}

static double get_seconds_of_access(const pnc_access_pattern *p)
{
    if (p->on_servers)
        return on_nodes.access;
    return on_one_node.access * (p->direction == PNC_PUT ? p->nwriters : 1);
}

static double sum_seconds(const pnc_estimate *e, const pnc_access_pattern *p)
{
    const pnc_costs *c = pnc_io_strategy_get_costs(p->nnodes);

    return e->accesses * get_seconds_of_access(p) + e->lock_changes * c->lock_change + e->runs * c->run +
           e->copied * c->copied + e->sent * c->sent * (p->nprocs / p->nnodes) +
           e->synchronisations * c->synchronisation * pnc_bits_count_doublings(p->nprocs);
}

/* --- the strategies --- */

/* Accesses of long runs: one for each stripe, or for each `most` bytes if that is less. */
static double count_accesses(const pnc_access_pattern *p, int64_t most)
{
    return (double)p->bytes / (double)(most < p->striping_unit ? most : p->striping_unit);
}

/* Between nodes other ranks write to the first and the last stripe of a run. A get waits for these locks as well: a
 * node keeps those of what it wrote until another node needs them, also after the file was closed. */
static pnc_estimate estimate_runs(const pnc_access_pattern *p, double accesses, int64_t most)
{
    pnc_estimate e = {.accesses = accesses};

    if (p->on_servers)
        e.accesses += count_accesses(p, most);
    if (p->nnodes > 1)
        e.lock_changes = accesses;
    return e;
}

/* A get from servers: the reads of data sieving, or one access of each stripe if those are more. */
static pnc_estimate estimate_sieved(const pnc_access_pattern *p)
{
    double reads = (double)p->reads, units = count_accesses(p, PNC_DIRECT_BYTES);

    return (pnc_estimate){.accesses = reads > units ? reads : units};
}

static pnc_estimate estimate_direct(const pnc_access_pattern *p)
{
    double runs = (double)p->runs, slabs = (double)p->slabs;

    if (p->sieves && p->on_servers && p->direction == PNC_GET)
        return estimate_sieved(p);
    return estimate_runs(p, p->sieves ? slabs + (runs - slabs) / RUNS_OF_A_SIEVE : runs, PNC_DIRECT_BYTES);
}

static pnc_estimate estimate_merged(const pnc_access_pattern *p)
{
    double runs = (double)p->runs;
    pnc_estimate e = estimate_runs(p, 1 + runs / (p->sieves ? RUNS_OF_A_SIEVE : RUNS_OF_A_MERGE), PNC_MERGED_BYTES);

    e.runs = runs;
    e.copied = (double)p->bytes;
    return e;
}

static pnc_estimate estimate_separate(const pnc_access_pattern *p)
{
    pnc_estimate e = {.accesses = 1 + (double)p->runs / RUNS_OF_A_SIEVE, .synchronisations = 1};

    if (p->on_servers)
        e.accesses += count_accesses(p, PNC_DIRECT_BYTES);
    return e;
}

static pnc_estimate estimate_within_nodes(const pnc_access_pattern *p)
{
    pnc_estimate e = {.runs = (double)p->runs, .copied = (double)p->bytes, .synchronisations = 2};

    if (p->on_servers)
        e.accesses = 1 + count_accesses(p, p->buffer);
    return e;
}

static pnc_estimate estimate_two_phase(const pnc_access_pattern *p)
{
    pnc_estimate e = estimate_within_nodes(p);

    if (p->nnodes > 1)
        e.sent = (double)p->bytes;
    return e;
}

/* MPI-IO agrees on the ranges of the ranks, and on file views. */
static pnc_estimate estimate_mpi_io(const pnc_access_pattern *p)
{
    pnc_estimate e = estimate_two_phase(p);

    e.synchronisations += 2;
    return e;
}

static bool suits_all(const pnc_access_pattern *p)
{
    (void)p;
    return true;
}

static bool suits_lists(const pnc_access_pattern *p)
{
    return p->slabs > 1;
}

/* Stride 2 of doubles on 2 ranks: 8 ns of CPU time per element, and 58 with an exchange. */
static bool suits_ranks_apart(const pnc_access_pattern *p)
{
    return p->nprocs > 1 && (p->nnodes > 1 || p->direction == PNC_PUT) && p->ranks_apart;
}

/* Nodes may read the same parts of the file. With two-phase I/O the data would cross the network, in each round to few
 * nodes only. */
static bool suits_nodes_apart(const pnc_access_pattern *p)
{
    bool are_close = p->direction == PNC_GET && p->nodes_range > 0 && p->nodes_range <= READS_OF_NODES;

    return p->nprocs > 1 && p->nnodes > 1 && (p->nodes_apart || are_close);
}

/* On a local file system all ranks read through the same page cache: aggregators would only add copies. */
static bool suits_ranks(const pnc_access_pattern *p)
{
    return p->nprocs > 1 && (p->on_servers || p->direction == PNC_PUT);
}

/* Only a hint chooses MPI-IO. If a write fails (a full disk) in a collective call of ROMIO that takes several rounds of
 * its own, then ROMIO blocks forever (seen with MPICH 4.0.2). */
static bool suits_none(const pnc_access_pattern *p)
{
    (void)p;
    return false;
}

/* One row for each strategy. */
static const struct row {
    bool (*is_suitable)(const pnc_access_pattern *p);
    pnc_estimate (*estimate)(const pnc_access_pattern *p);
} rows[PNC_STRATEGIES] = {
    [PNC_DIRECT] = {suits_all, estimate_direct},
    [PNC_MERGED] = {suits_lists, estimate_merged},
    [PNC_SEPARATE] = {suits_ranks_apart, estimate_separate},
    [PNC_WITHIN_NODES] = {suits_nodes_apart, estimate_within_nodes},
    [PNC_TWO_PHASE] = {suits_ranks, estimate_two_phase},
    [PNC_MPI_IO] = {suits_none, estimate_mpi_io},
};

const char *const pnc_strategy_names[] = {"automatic",    "direct",    "merged", "separate",
                                          "within_nodes", "two_phase", "mpi_io", NULL};

pnc_estimate pnc_io_strategy_compute_cost(pnc_strategy strategy, const pnc_access_pattern *p)
{
    pnc_estimate e = rows[strategy].estimate(p);

    e.seconds = sum_seconds(&e, p);
    return e;
}

bool pnc_io_strategy_is_suitable(pnc_strategy strategy, const pnc_access_pattern *p)
{
    return rows[strategy].is_suitable(p);
}

/* --- the choice --- */

/* The cheapest suitable one from `first` on; without one, `otherwise`. Costs are computed only to compare two: a small
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

pnc_strategy pnc_io_strategy_choose_collective(const pnc_access_pattern *p, const pnc_access_hints *hints)
{
    pnc_strategy forced = (pnc_strategy)(hints->strategy - 1);
    pnc_access_pattern one_writer = *p;

    if (hints->strategy > 0 && pnc_io_strategy_is_collective(forced))
        return forced;
    /* the runs may be unknown: each estimate has one access then, whose wait for other ranks must not decide */
    one_writer.nwriters = 1;
    return find_cheapest(&one_writer, needs_aggregators(p, hints) ? PNC_WITHIN_NODES : PNC_SEPARATE, PNC_STRATEGIES,
                         PNC_TWO_PHASE);
}

pnc_strategy pnc_io_strategy_choose(const pnc_access_pattern *p, const pnc_access_hints *hints)
{
    pnc_strategy forced = (pnc_strategy)(hints->strategy - 1);

    if (hints->strategy > 0 && (p->nprocs > 1 || !pnc_io_strategy_is_collective(forced)))
        return forced;
    if (p->nprocs > 1 && get_switch(p, hints) == PNC_ENABLE)
        return pnc_io_strategy_choose_collective(p, hints);
    if (p->nprocs == 1 || get_switch(p, hints) == PNC_DISABLE)
        return find_cheapest(p, PNC_DIRECT, PNC_SEPARATE, PNC_DIRECT);
    return find_cheapest(p, PNC_DIRECT, PNC_STRATEGIES, PNC_DIRECT);
}
