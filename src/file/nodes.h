/* The number of nodes that a communicator spans. It is cached in an attribute of the communicator. */
#ifndef PNC_FILE_NODES_H
#define PNC_FILE_NODES_H

#include <mpi.h>
#include <stdbool.h>

/* The cached number; 0: unknown. A duplicate has that of its original. Local. */
int pnc_file_nodes_get(MPI_Comm comm);
void pnc_file_nodes_set(MPI_Comm comm, int nnodes); /* local; without effect if MPI fails */
/* Whether this rank is the first of its node: the sum over the ranks is the number of nodes. Collective. */
bool pnc_file_node_is_led(MPI_Comm comm);

#endif
