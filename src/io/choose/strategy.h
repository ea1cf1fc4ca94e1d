/* Strategies: how requests reach the file, and the choice among them. Pure arithmetic.
 *
 * A strategy is a row of spec/strategies.h. Its rule, in rules.c, says where it is possible,
 * where it is suitable, and what it costs: accesses of the file, bytes and synchronisations, which a row of costs.c
 * weighs. A function in another room of io executes it. A hint forces a strategy.
 *
 * In a collective call each rank finds first whether it needs others (pnc_io_strategy_choose_independent). Those that
 * do choose once, after the first agreement, by what is the same on all ranks (pnc_io_strategy_choose_collective). */
#ifndef PNC_IO_STRATEGY_H
#define PNC_IO_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>
#include "convert/convert.h"
#include "spec/strategies.h"

#define PNC_STRATEGY_ID(ID, name, ...) PNC_##ID,
typedef enum pnc_strategy { PNC_STRATEGY_ROWS(PNC_STRATEGY_ID, PNC_STRATEGY_ID, unused) PNC_STRATEGIES } pnc_strategy;
#undef PNC_STRATEGY_ID

/* The values of the hint nc_strategy: index 0 is "automatic", then the names of the strategies; ends with NULL. */
extern const char *const pnc_strategy_names[];

typedef enum pnc_switch { PNC_AUTOMATIC, PNC_ENABLE, PNC_DISABLE } pnc_switch;

/* What the steps of a call take, in seconds. FIGURE(field, its name in the hint nc_costs, the unit there). */
/* clang-format off */
#define PNC_COST_FIGURES(FIGURE) \
    FIGURE(access, "access_ns", 1e-9) /* a read or write of the file */ \
    FIGURE(lock_change, "lock_change_ns", 1e-9) /* a lock of a stripe that moves between nodes */ \
    FIGURE(run, "run_ns", 1e-9) /* a run that is merged or exchanged by itself */ \
    FIGURE(copied, "copied_ps", 1e-12) /* a byte, within a node */ \
    FIGURE(sent, "sent_ps", 1e-12) /* a byte, to another node */ \
    FIGURE(synchronisation, "synchronisation_ns", 1e-9) /* a step of a synchronisation of all ranks */
/* clang-format on */
#define PNC_COST_FIELD(field, name, unit) double field;
typedef struct pnc_costs {
    PNC_COST_FIGURES(PNC_COST_FIELD)
} pnc_costs;
#undef PNC_COST_FIELD

/* Hints about access. Zeros: none is given. */
typedef struct pnc_access_hints {
    int64_t strategy;           /* index in pnc_strategy_names */
    int64_t cb_read, cb_write;  /* pnc_switch: collective calls use aggregators */
    int64_t no_independent;     /* 1: only aggregators access the file in collective calls */
    int64_t aggregators;        /* in all */
    int64_t aggregators_a_node; /* on each node */
    int64_t buffer_size;        /* bytes of memory of each aggregator */
    int64_t no_overlap;         /* 1: complete each access before the next exchange */
    int64_t striping_unit;
    char config_list[256]; /* aggregators by name of the node */
    pnc_costs costs;       /* replace those of the kind of file system; 0: not given */
    bool has_costs;        /* some are */
    int64_t display;       /* 1: rank 0 shows strategies and aggregators on stderr */
} pnc_access_hints;

/* What a choice depends on. */
typedef struct pnc_access_pattern {
    pnc_direction direction;
    int64_t slabs, runs, bytes; /* of this rank */
    int64_t reads;              /* from servers, of this rank without others: see pnc_io_reads_count */
    int nprocs;                 /* ranks that make the call; 1 if it is independent */
    int nnodes;
    int nwriters;           /* ranks that write to a local file system at the same time */
    bool same;              /* all ranks get the same bytes */
    bool sieves;            /* the store merges accesses of close runs of one hyperslab */
    bool on_servers;        /* see pnc_io_context_is_on_servers */
    bool ranks_apart;       /* each rank accesses a range of the file of its own; between nodes, stripes of its own */
    bool nodes_apart;       /* each node does */
    bool all_nodes;         /* each node has an aggregator */
    bool has_mpi_io;        /* the file is open for collective calls of MPI-IO */
    double nodes_range;     /* bytes in the ranges of nodes, relative to the range of the call; 0: unknown */
    const pnc_costs *given; /* by a hint; NULL: none */
    int64_t striping_unit;  /* bytes */
    int64_t buffer;         /* bytes of an aggregator in a round, at most */
    int64_t window;         /* bytes of the file in a round of two-phase I/O, about; 0: not yet known */
} pnc_access_pattern;

typedef struct pnc_estimate {
    double accesses;         /* reads and writes of a stripe, or of a part of it */
    double lock_changes;     /* accesses of stripes that another node wrote last */
    double runs;             /* merged or exchanged one by one */
    double copied, sent;     /* bytes: within the memory of a node, between nodes */
    double synchronisations; /* of all ranks */
    double seconds;
} pnc_estimate;

/* What a strategy is. The functions see the pattern only. */
typedef struct pnc_strategy_rule {
    /* Why it is not possible, also by a hint, or not suitable, unless a hint forces it. NULL: it is. NULL as a
     * function: always. */
    const char *(*prevent)(const pnc_access_pattern *pattern);
    const char *(*reject)(const pnc_access_pattern *pattern);
    /* What it takes, for one rank; the caller adds the seconds. */
    pnc_estimate (*estimate)(const pnc_access_pattern *pattern);
} pnc_strategy_rule;

/* pnc_io_direct_rule, ... */
#define PNC_STRATEGY_RULE(ID, name, ...) extern const pnc_strategy_rule pnc_io_##name##_rule;
PNC_STRATEGY_ROWS(PNC_STRATEGY_RULE, PNC_STRATEGY_RULE, unused)
#undef PNC_STRATEGY_RULE

/* The cost of a strategy for one rank. */
pnc_estimate pnc_io_strategy_compute_cost(pnc_strategy strategy, const pnc_access_pattern *pattern);
/* Whether the store merges accesses of close runs. nprocs: ranks of the program. */
static inline bool pnc_io_strategy_is_sieved(pnc_direction direction, int nprocs, int nnodes)
{
    return nnodes == 1 && (direction == PNC_GET || nprocs == 1);
}

/* Ranks of a node whose writes wait for each other. If there are more ranks than processors, some do not run. */
static inline int pnc_io_strategy_count_writers(int nranks, int nprocessors)
{
    return nranks < nprocessors ? nranks : nprocessors;
}

/* Why a strategy is not chosen unless a hint forces it; NULL: it may be. */
const char *pnc_io_strategy_explain_rejection(pnc_strategy strategy, const pnc_access_pattern *pattern);
static inline bool pnc_io_strategy_is_suitable(pnc_strategy strategy, const pnc_access_pattern *pattern)
{
    return pnc_io_strategy_explain_rejection(strategy, pattern) == NULL;
}
/* True: the ranks must agree before they begin. */
bool pnc_io_strategy_is_collective(pnc_strategy strategy);

/* True: a rank that makes a call without others chooses PNC_DIRECT, whatever the rest of the pattern is, as one
 * hyperslab has nothing to merge. A small call takes less time than the description of its pattern. */
static inline bool pnc_io_strategy_is_certain(int64_t slabs, const pnc_access_hints *hints)
{
    return slabs == 1 && hints->strategy == 0 && !hints->display;
}

static inline bool pnc_io_strategy_is_forced(pnc_strategy strategy, const pnc_access_hints *hints)
{
    return hints->strategy == (int64_t)strategy + 1;
}

/* False: the hints exclude PNC_SEPARATE. Then ranks on several nodes need not compare their ranges. */
bool pnc_io_strategy_has_separate(const pnc_access_pattern *pattern, const pnc_access_hints *hints);

/* The strategy of a rank that needs no others; PNC_STRATEGIES: it needs them, as that is cheaper, or by a hint. */
pnc_strategy pnc_io_strategy_choose_independent(const pnc_access_pattern *pattern, const pnc_access_hints *hints);
/* True: a get that takes less time as PNC_SHARED, if all other ranks want the same bytes. `own`: the strategy that it
 * takes otherwise, as pnc_io_strategy_choose_independent returns it. Then it waits until the ranks have agreed. */
bool pnc_io_strategy_may_share(const pnc_access_pattern *pattern, const pnc_access_hints *hints, pnc_strategy own);
/* The strategy of the ranks that need others: the first of the rows that is suitable, as each one synchronises and
 * sends less than those behind it. The same on all of them, as it depends on what is the same on all ranks. A strategy
 * that a hint forces, but that is not possible, becomes PNC_TWO_PHASE. */
pnc_strategy pnc_io_strategy_choose_collective(const pnc_access_pattern *pattern, const pnc_access_hints *hints);

#endif
