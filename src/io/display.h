/* PNETCDF_HINTS_DISPLAY: how the library accesses the file, and why. Rank 0 prints on stderr. */
#ifndef PNC_IO_DISPLAY_H
#define PNC_IO_DISPLAY_H

#include "io/context.h"
#include "io/two_phase/node.h"

/* Show the strategy that rank 0 uses for its part of a call, with the cost of each, if it differs from that of the last
 * call of the same class (put or get, collective or independent). */
void pnc_io_strategy_display(pnc_io_context *io, const pnc_access_pattern *pattern, pnc_strategy choice);
/* Show the strategy that all ranks have agreed on, if it differs from that of the last call. Returns whether it does.
 */
bool pnc_io_collective_display(pnc_io_context *io, pnc_direction direction, pnc_strategy choice);
/* Collective over the delegates: show the rank, node and file domain of each aggregator. */
void pnc_io_aggregators_display(const pnc_file *file, const pnc_node *node, const pnc_file_domains *domains);

#endif
