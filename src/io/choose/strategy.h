/* Strategies: how requests reach the file, and the choice among them. Pure arithmetic.
 *
 * A strategy is a row of a table: where it is suitable, and its estimated cost, in accesses of the file, bytes
 * and synchronisations. A second table says what these take on one node and between nodes; an access of a file
 * on servers takes the same time in both cases. A hint forces a strategy. */
#ifndef PNC_IO_STRATEGY_H
#define PNC_IO_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>
#include "convert/convert.h"

typedef enum pnc_strategy {
    PNC_DIRECT,       /* each request on its own */
    PNC_MERGED,       /* the requests of a rank in the order of the file */
    PNC_SEPARATE,     /* each rank on its own, with data sieving, as its range of the file is its own */
    PNC_WITHIN_NODES, /* aggregators merge the requests of their node */
    PNC_TWO_PHASE,    /* aggregators of all nodes exchange data, and each accesses its file domain */
    PNC_MPI_IO,       /* collective calls of MPI-IO */
    PNC_STRATEGIES
} pnc_strategy;

/* The values of the hint nc_strategy: index 0 is "automatic", then the names of the strategies; ends with NULL. */
extern const char *const pnc_strategy_names[];

typedef enum pnc_switch { PNC_AUTOMATIC, PNC_ENABLE, PNC_DISABLE } pnc_switch;

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
    int64_t display;       /* 1: rank 0 shows strategies and aggregators on stderr */
} pnc_access_hints;

/* What a choice depends on. */
typedef struct pnc_access_pattern {
    pnc_direction direction;
    int64_t slabs, runs, bytes; /* of this rank */
    int64_t reads;              /* from servers, of this rank without others: see pnc_io_reads_count */
    int nprocs;                 /* ranks that make the call; 1 if it is independent */
    int nnodes;
    int nwriters;          /* ranks that write to a local file system at the same time */
    bool sieves;           /* the store merges accesses of close runs of one hyperslab */
    bool on_servers;       /* see pnc_io_context_is_on_servers */
    bool ranks_apart;      /* each rank accesses a range of the file of its own; between nodes, stripes of its own */
    bool nodes_apart;      /* each node does */
    double nodes_range;    /* bytes in the ranges of nodes, relative to the range of the call; 0: unknown */
    int64_t striping_unit; /* bytes */
    int64_t buffer;        /* bytes of an aggregator in a round, at most */
    int64_t window;        /* bytes of the file in a round of two-phase I/O, about; 0: not yet known */
} pnc_access_pattern;

typedef struct pnc_estimate {
    double accesses;         /* reads and writes of a stripe, or of a part of it */
    double lock_changes;     /* accesses of stripes that another node wrote last */
    double runs;             /* merged or exchanged one by one */
    double copied, sent;     /* bytes: within the memory of a node, between nodes */
    double synchronisations; /* of all ranks */
    double seconds;
} pnc_estimate;

/* What things take, in seconds: an access (of a put on a local file system, nwriters times as long), a lock that moves
 * between nodes, a run, a byte that is copied within a node or sent to another one, a step of a synchronisation. */
typedef struct pnc_costs {
    double access, lock_change, run, copied, sent, synchronisation;
} pnc_costs;
const pnc_costs *pnc_io_strategy_get_costs(int nnodes);

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

/* False: the strategy is not considered unless a hint forces it. */
bool pnc_io_strategy_is_suitable(pnc_strategy strategy, const pnc_access_pattern *pattern);
/* True: the ranks must agree before they begin. */
static inline bool pnc_io_strategy_is_collective(pnc_strategy strategy)
{
    return strategy >= PNC_SEPARATE;
}

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

/* The strategy for a rank. */
pnc_strategy pnc_io_strategy_choose(const pnc_access_pattern *pattern, const pnc_access_hints *hints);
/* The collective strategy for the ranks that need one. The pattern must be the same on all ranks. */
pnc_strategy pnc_io_strategy_choose_collective(const pnc_access_pattern *pattern, const pnc_access_hints *hints);

#endif
