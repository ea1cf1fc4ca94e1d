/* The rules of the strategies: where each is possible and suitable, and what it costs. */
#include <stddef.h>

#include "io/choose/costs.h"
#include "io/choose/sizes.h"

/* --- direct: each request on its own. Always suitable --- */

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

/* --- merged: the requests of a rank in the order of the file --- */

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

/* --- shared: few ranks read what all want, and send it to the others --- */

static const char *prevent_shared(const pnc_access_pattern *p)
{
    return p->same ? NULL : "ranks not known to get the same bytes";
}

/* The ranks of a node read through its page cache, which has the bytes once. */
static const char *reject_shared(const pnc_access_pattern *p)
{
    return p->nnodes == 1 ? "one node" : NULL;
}

/* The readers of a step work at the same time; a node receives the bytes once, and its ranks copy them. */
static pnc_estimate estimate_shared(const pnc_access_pattern *p)
{
    int nreaders = pnc_io_shared_count_readers(p->bytes, PNC_SHARED_BYTES, p->nnodes, p->striping_unit);
    double reads = p->reads > 0 ? (double)p->reads : 1;
    double at_once = (double)p->bytes / reads >= PNC_SHARED_LONG ? PNC_TRANSFERS_AT_ONCE : 1;
    double rest = (reads - 1) / at_once + pnc_io_accesses_count(p, PNC_SHARED_BYTES);

    return (pnc_estimate){.accesses = 1 + rest / nreaders,
                          .copied = (double)p->bytes,
                          .sent = (double)p->bytes * p->nnodes / p->nprocs,
                          .synchronisations = 2 + (double)p->bytes / PNC_SHARED_BYTES};
}

const pnc_strategy_rule pnc_io_shared_rule = {
    .prevent = prevent_shared, .reject = reject_shared, .estimate = estimate_shared};

/* --- separate: each rank on its own, with data sieving, as its range of the file is its own --- */

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

/* --- within_nodes: aggregators merge the requests of their node --- */

/* Nodes read without exchange if that reads at most so many times the bytes of the range. A guess: halos of a quarter
 * of its part on each side of a node. */
#define READS_OF_NODES 1.5

static const char *prevent_within_nodes(const pnc_access_pattern *p)
{
    return p->all_nodes ? NULL : "a node without aggregator";
}

/* Nodes may read the same parts of the file. With two-phase I/O the data would cross the network, in each round to few
 * nodes only. */
static const char *reject_within_nodes(const pnc_access_pattern *p)
{
    bool are_close = p->direction == PNC_GET && p->nodes_range > 0 && p->nodes_range <= READS_OF_NODES;

    if (p->nnodes == 1)
        return "one node";
    return p->nodes_apart || are_close ? NULL : "ranges of nodes not known to be apart";
}

static pnc_estimate estimate_within_nodes(const pnc_access_pattern *p)
{
    return pnc_io_costs_compute_exchange(p, 2, false);
}

const pnc_strategy_rule pnc_io_within_nodes_rule = {
    .prevent = prevent_within_nodes, .reject = reject_within_nodes, .estimate = estimate_within_nodes};

/* --- two_phase: ranks and aggregators of all nodes exchange data. Always possible --- */

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

/* --- mpi_io: collective calls of MPI-IO --- */

static const char *prevent_mpi_io(const pnc_access_pattern *p)
{
    return p->has_mpi_io ? NULL : "not ROMIO, or not opened";
}

/* If a write fails (a full disk) in a collective call of ROMIO that takes several rounds of its own, then ROMIO blocks
 * forever (seen with MPICH 4.0.2). */
static const char *reject_mpi_io(const pnc_access_pattern *p)
{
    (void)p;
    return "by hint only";
}

/* MPI-IO agrees on the ranges of the ranks, and on file views. */
static pnc_estimate estimate_mpi_io(const pnc_access_pattern *p)
{
    return pnc_io_costs_compute_exchange(p, 4, true);
}

const pnc_strategy_rule pnc_io_mpi_io_rule = {
    .prevent = prevent_mpi_io, .reject = reject_mpi_io, .estimate = estimate_mpi_io};
