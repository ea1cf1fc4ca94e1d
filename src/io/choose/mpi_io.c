/* The rule of the strategy mpi_io: collective calls of MPI-IO. */
#include <stddef.h>

#include "io/choose/costs.h"

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
