/* Plans of collective calls of variables in chunks. */
#ifndef PNC_TOOLS_PLAN_CHUNKED_H
#define PNC_TOOLS_PLAN_CHUNKED_H

#include "tools/plan/pieces.h"

/* What each resource takes, in seconds; filters: of the rank that has most chunks. */
/* clang-format off */
#define PLAN_CHUNK_LIMITS(LIMIT) \
    LIMIT(filters) \
    LIMIT(servers) \
    LIMIT(links) \
    LIMIT(latency) /* of the accesses that a rank makes one after the other */ \
    LIMIT(network) \
    LIMIT(messages) \
    LIMIT(agreements)
/* clang-format on */
#define PLAN_CHUNK_LIMIT_FIELD(name) double name;
typedef struct plan_chunk_limits {
    PLAN_CHUNK_LIMITS(PLAN_CHUNK_LIMIT_FIELD)
} plan_chunk_limits;
#undef PLAN_CHUNK_LIMIT_FIELD

/* Collective steps of a round, each of which takes messages for each doubling of the nodes: the end of the exchange,
 * the sum of the bytes of chunks, their addresses, and whether any rank has more. */
#define PLAN_CHUNK_STEPS 4

typedef struct plan_chunk_result {
    int nranks, nnodes, nidle, naggregators; /* ranks without values; ranks that have chunks */
    int64_t bytes, rounds;                   /* of values; of at most a buffer of each rank */
    int64_t chunk_bytes;                     /* of each chunk, decoded */
    int64_t chunks, chunks_of_rank;          /* that are written or read; the most of one rank */
    int64_t incomplete;                      /* that a put does not complete: later ones or the close write them */
    bool is_filtered;
    int64_t messages, messages_of_rank, message_bytes; /* to other nodes; of the rank with most, with its answers */
    int64_t messages_within, node_bytes;               /* within nodes */
    int64_t accesses, accesses_of_rank, access_bytes;  /* bytes: by --ratio */
    plan_chunk_limits limits;
    double exchange, access, seconds;
} plan_chunk_result;

/* A call of d->nranks ranks of a netCDF-4 file. NC_NOERR, or a code after an error message. */
int plan_chunked_compute(const plan_decomposition *d, plan_chunk_result *out);

#endif
