/* The accesses of a plan by MPI-IO alone, to compare with. */
#ifndef CLUSTER_MPI_IO_H
#define CLUSTER_MPI_IO_H

#include "plan.h"

typedef enum direction { PUT, GET } direction;

/* Collective. The hints are those of PNETCDF_HINTS. */
void mpi_io_open(const char *path, MPI_File *file);
/* Collective: n requests in one call. begins: offsets in the file, by variable; values: of the requests, in their
 * order. */
void mpi_io_access(MPI_File file, const plan *p, const request *requests, int n, const MPI_Offset *begins,
                   double *values, direction direction);

#endif
