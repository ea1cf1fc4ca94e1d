/* The strategy mpi_io: aggregators make collective calls of MPI-IO. */
#ifndef PNC_IO_MPI_IO_H
#define PNC_IO_MPI_IO_H

#include "io/execution.h"
#include "io/two_phase/node.h"

/* Collective: open the file for collective calls of MPI-IO, once. buffer: bytes that a delegate holds. False: it is not
 * possible. */
bool pnc_io_mpi_io_open(pnc_io_context *io, const pnc_node *node, int64_t buffer);

#endif
