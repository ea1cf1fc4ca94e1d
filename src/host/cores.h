/* Processors of this node that the process may use. */
#ifndef PNC_HOST_CORES_H
#define PNC_HOST_CORES_H

#include <stdint.h>

/* A guess: of more, the others are not counted. */
#define PNC_HOST_CORES_MOST 1024

/* is_mine[i] becomes 1 for each processor of the affinity mask of this thread, else 0. Any thread may call it. */
void pnc_host_cores_list(uint16_t is_mine[PNC_HOST_CORES_MOST]);
/* How many processors the node has, at least 1. */
int pnc_host_cores_count(void);
/* How many processes of the program this node has, as the launcher says; 0: it does not. */
int pnc_host_cores_count_processes(void);

/* How many threads of OpenMP each process has, as its user says; 1: nothing is said. */
int pnc_host_cores_count_omp(void);

/* How many threads of this process find a processor that no process of the program has: the mask of this process, and
 * for each processor how many processes have it in their masks, of which there are `listed`, of nprocesses. Pure. */
int pnc_host_cores_count_idle(const uint16_t *is_mine, const uint16_t *users, int listed, int nprocesses, int ncores);

#endif
