/* The strategies: how requests reach the file, once. This list makes the values of the hint nc_strategy, the table of
 * rules (src/io/choose/strategy.c), that of functions which execute them (src/io/transfer.c), and the counters
 * (src/statistics/counters.h). A strategy without one of these does not compile, or does not link. */
#ifndef PNC_SPEC_STRATEGIES_H
#define PNC_SPEC_STRATEGIES_H

/* INDEPENDENT(identifier, name, ...): a rank needs no others; COLLECTIVE(identifier, name, ...): all ranks agree
 * first. */
/* clang-format off */
#define PNC_STRATEGY_ROWS(INDEPENDENT, COLLECTIVE, ...) \
    INDEPENDENT(DIRECT, direct, __VA_ARGS__) /* each request on its own */ \
    INDEPENDENT(MERGED, merged, __VA_ARGS__) /* the requests of a rank in the order of the file */ \
    COLLECTIVE(SHARED, shared, __VA_ARGS__) /* a get: all ranks want the same bytes, which few of them read */ \
    COLLECTIVE(SEPARATE, separate, __VA_ARGS__) /* each rank on its own, with data sieving, in a range of its own */ \
    COLLECTIVE(WITHIN_NODES, within_nodes, __VA_ARGS__) /* aggregators merge the requests of their node */ \
    COLLECTIVE(TWO_PHASE, two_phase, __VA_ARGS__) /* ranks and aggregators of all nodes exchange data */ \
    COLLECTIVE(MPI_IO, mpi_io, __VA_ARGS__) /* collective calls of MPI-IO */
/* clang-format on */

#endif
