/* Processors, by the system, and processes, by the launcher. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "host/cores.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int pnc_host_cores_count(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n > 0 && n < INT_MAX ? (int)n : 1;
}

void pnc_host_cores_list(uint16_t is_mine[PNC_HOST_CORES_MOST])
{
    int n = pnc_host_cores_count();

    for (int i = 0; i < PNC_HOST_CORES_MOST; i++)
        is_mine[i] = i < n;
#ifdef CPU_SETSIZE
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int i = 0; i < PNC_HOST_CORES_MOST; i++)
            is_mine[i] = i < CPU_SETSIZE && CPU_ISSET(i, &set);
#endif
}

/* Hydra of MPICH and Intel MPI; Open MPI; MVAPICH. */
int pnc_host_cores_count_processes(void)
{
    static const char *const names[] = {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        long n = text != NULL ? strtol(text, NULL, 10) : 0;

        if (n > 0 && n < INT_MAX)
            return (int)n;
    }
    return 0;
}

int pnc_host_cores_count_omp(void)
{
    const char *text = getenv("OMP_NUM_THREADS"); /* of each level: the first number is that of the outer one */
    long n = text != NULL ? strtol(text, NULL, 10) : 1;

    return n > 0 && n < INT_MAX ? (int)n : 1;
}

/* Processes that are not listed are taken to be bound as this one is, in turn. */
int pnc_host_cores_count_idle(const uint16_t *is_mine, const uint16_t *users, int listed, int nprocesses, int ncores)
{
    double share = 0;
    int64_t mine = 0, least = 1;

    for (int i = 0; i < PNC_HOST_CORES_MOST; i++)
        mine += is_mine[i] != 0;
    if (nprocesses > listed)
        least = (nprocesses * mine + ncores - 1) / ncores;
    for (int i = 0; i < PNC_HOST_CORES_MOST; i++)
        if (is_mine[i] != 0)
            share += 1.0 / (double)(users[i] > least ? users[i] : least);
    return share + 1e-6 > 2 ? (int)(share + 1e-6) - 1 : 0;
}
