/* What a collective call would do: counted by the library's own code for strategies, file domains, portions and
 * messages, without MPI and without data. */
#ifndef PNC_TOOLS_PLAN_PLAN_H
#define PNC_TOOLS_PLAN_PLAN_H

#include "io/choose/sizes.h"
#include "io/choose/strategy.h"
#include "tools/plan/pieces.h"

/* Accesses of the file. */
typedef struct plan_accesses {
    int64_t n, bytes;
    int64_t reads_of_puts; /* to fill gaps */
} plan_accesses;

/* Nanoseconds for which an aggregator is busy with a piece, beside its bytes. Measured with perf on two ranks with one
 * aggregator: 21 to 24 for pieces of 4 bytes, most of it to note what the buffer has. */
#define PLAN_PIECE_NS 24

/* What passes between the ranks of a call. */
typedef struct plan_traffic {
    int64_t rounds;
    int64_t messages, message_bytes; /* with values, to other nodes */
    int64_t busiest;                 /* of the rank that sends most; for a get with its answers */
    int64_t node_bytes;              /* within nodes */
} plan_traffic;

/* What each resource takes for its part of a call, in seconds, if it is always busy: the call takes about as long as
 * the largest one, or longer. */
/* clang-format off */
#define PLAN_LIMITS(LIMIT) \
    LIMIT(servers) /* their bytes and requests */ \
    LIMIT(locks) /* that servers move */ \
    LIMIT(links) /* of the nodes that access the file */ \
    LIMIT(latency) /* of rounds, or of the accesses that a rank makes one after the other */ \
    LIMIT(copies) /* of bytes and pieces by an aggregator, or of bytes by a rank */ \
    LIMIT(network) /* bytes between nodes */ \
    LIMIT(messages) /* of the busiest rank */ \
    LIMIT(agreements) /* messages of a rank for reductions */
/* clang-format on */
#define PLAN_LIMIT_FIELD(name) double name;
typedef struct plan_limits {
    PLAN_LIMITS(PLAN_LIMIT_FIELD)
} plan_limits;
#undef PLAN_LIMIT_FIELD

typedef struct plan_result {
    int nranks, nnodes;
    int64_t bytes;
    pnc_range range;            /* of the file */
    pnc_access_pattern pattern; /* of the first rank */
    pnc_strategy strategy;      /* of the ranks that need others; without any, of the first rank */
    int nindependent;           /* ranks that access the file without others */
    int nidle;                  /* of these: without values */
    int naggregators;           /* 0: the call needs none */
    int64_t buffer, window;     /* bytes: of an aggregator in a round; of the file in a round */
    bool overlaps;              /* two buffers: accesses and exchange at the same time */
    bool is_estimate;           /* the accesses are not counted: of a get that reads few bytes of its range */
    int nexamined;              /* nodes whose messages were counted, or ranks whose accesses were; the others follow */
    plan_accesses accesses;
    plan_traffic traffic;
    int64_t reductions, reduction_messages; /* between nodes, and those that a rank sends for them */
    int lock_moves;
    int64_t memory_aggregator, memory_rank; /* bytes, beside the values */
    plan_limits limits;
    double exchange, access, seconds; /* access: the time in which a part of the file is accessed */
    /* a put with nc_write_behind, of a program that computes for as long afterwards: seconds less in the call, and
     * bytes of memory of a rank that writes; with nc_burst_buf: seconds less, as these bytes go to a log */
    double hidden, hidden_by_logs;
    int64_t memory_behind;
} plan_result;

/* A call of d->nranks ranks. NC_NOERR, or a code after an error message. */
int plan_call_compute(const plan_decomposition *d, plan_result *out);

/* --- what the files of the plan share --- */

/* How the ranks are placed, and what each of them accesses. */
typedef struct plan_call {
    const plan_decomposition *d;
    const plan_options *options;
    int nranks, nnodes, ranks_per_node;
    int64_t unit;             /* striping unit, as the library knows it */
    pnc_range *ranges;        /* by rank: of those that need others */
    bool *is_independent;     /* by rank */
    pnc_strategy independent; /* what these do */
    bool waits;               /* a rank reads after the ranks have found that they do not get the same */
    int64_t runs, bytes, most_runs;
    int64_t collective_bytes;     /* of ranks that need others */
    pnc_range range;              /* of these */
    int64_t longest;              /* of their ranges, as pnc_io_range_compute_length has it */
    pnc_aggregators *aggregators; /* by node */
    int *node_of;                 /* aggregator */
} plan_call;

static inline int plan_node_count_ranks(const plan_call *call, int node)
{
    int rest = call->nranks - node * call->ranks_per_node;

    return rest < call->ranks_per_node ? rest : call->ranks_per_node;
}

int plan_memory_fail(const plan_call *call);
/* NC_NOERR, or an error message: a plan follows so many steps of a rank or of a node at most. */
int plan_steps_check(const plan_call *call, int64_t n, int64_t most, const char *what);

pnc_buffer_shape plan_call_get_buffer_shape(const plan_call *call);

/* --- rounds.c --- */

/* The rounds of all nodes, or of one node without the others. */
int plan_rounds_compute(const plan_call *call, bool in_nodes, plan_result *out);

/* --- independent.c --- */

/* The accesses of ranks on their own. exclusive: no other rank writes to the range of a rank. */
int plan_independent_compute(const plan_call *call, pnc_strategy strategy, bool exclusive, plan_result *out);

/* A rank, or a node, that makes n accesses, one after the other. */
typedef struct plan_actor {
    int node;
    int64_t n, bytes;
    int64_t runs; /* of these bytes, at equal distances; 0: each access is one */
    pnc_range range;
    int64_t pause; /* nanoseconds before each access */
} plan_actor;

/* Seconds until all have ended. */
int plan_actors_execute(const plan_call *call, const plan_actor *actors, int n, int *lock_moves, double *seconds);

#endif
