/* Aggregators merge the requests of their node: the rounds of two-phase I/O, in each node without the others. */
#include "io/two_phase/two_phase.h"

int pnc_io_within_nodes_execute(const pnc_execution *x)
{
    return pnc_io_two_phase_execute_rounds(x->io->two_phase, x, true);
}
