/* The strategy mpi_io: aggregators make collective calls of MPI-IO. */
#ifndef PNC_IO_MPI_IO_H
#define PNC_IO_MPI_IO_H

#include "io/execution.h"

/* Collective: open the file for collective calls of MPI-IO, once. False: it is not possible. */
bool pnc_io_mpi_io_open(pnc_io_context *io);

#endif
