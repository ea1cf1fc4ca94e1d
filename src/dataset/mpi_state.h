/* Calls before MPI_Init and after MPI_Finalize. */
#ifndef PNC_DATASET_MPI_STATE_H
#define PNC_DATASET_MPI_STATE_H

#include <mpi.h>

/* NC_EPARINIT if a function without an ncid cannot call MPI, which would end the program without naming the call: MPI
 * is finalized, or is not initialized and the communicator is one of those that MPI_Init makes. Programs with sessions
 * have others. The error is reported, and the first one printed in any case. Local. */
int pnc_dataset_mpi_state_check(const char *call, const char *path, MPI_Comm comm);

#endif
