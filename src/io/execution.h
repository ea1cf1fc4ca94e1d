/* What a strategy executes: the requests of a rank in one call. */
#ifndef PNC_IO_EXECUTION_H
#define PNC_IO_EXECUTION_H

#include "io/choose/placement.h"
#include "io/order/file_order.h"
#include "spec/strategies.h"

typedef struct pnc_execution {
    pnc_io_context *io;
    pnc_request_list *list;
    /* of a strategy that all ranks execute together: */
    pnc_file_order *order; /* of the list, of which nothing was taken */
    pnc_range range;       /* of the file, of all ranks */
    int64_t buffer;        /* bytes that an aggregator holds */
    pnc_range node_range;  /* of this node, with nodes_apart compared; else of this rank */
    bool nodes_apart;      /* no other node accesses the range of this one */
    bool is_news;          /* the display has shown the choice, and goes on with the aggregators */
} pnc_execution;

/* pnc_io_direct_execute, ...: one of each strategy, in a file of its name. The strategies of ranks together are
 * collective. Returns this rank's own error, on which the caller agrees with the other ranks. */
#define PNC_STRATEGY_FUNCTION(ID, name, ...) int pnc_io_##name##_execute(const pnc_execution *execution);
PNC_STRATEGY_ROWS(PNC_STRATEGY_FUNCTION, PNC_STRATEGY_FUNCTION, unused)
#undef PNC_STRATEGY_FUNCTION

#endif
