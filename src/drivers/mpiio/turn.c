/* Threads that open and close files at once take turns.
 *
 * ROMIO, the MPI-IO of MPICH and its kin, holds one lock for the whole process while MPI_File_open, _close, _set_size
 * and _sync wait for the other ranks. Two threads A and B of two ranks, each with a file of their own, then wait for
 * ever: A of rank 0 has the lock and waits for A of rank 1, which waits for the lock that B of rank 1 has, which waits
 * for B of rank 0, which waits for the lock. (Seen with MPICH 4.0.2 within a second.) Here a rank enters such a call
 * only when all ranks of the communicator hold a lock of ours, so that nobody waits in ROMIO for one who cannot come.
 * Reads and writes are local calls and need no turn. */
#include "drivers/mpiio/mpiio.h"

#include <pthread.h>
#include <time.h>

#define PATIENCE_MS 20 /* a turn takes as long as opening a file; longer than that two may wait for each other */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static bool lock_within(long milliseconds)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += milliseconds * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_mutex_timedlock(&turn, &until) == 0;
}

static void rest(int attempt)
{
    int world_rank = 0, has_world = 0; /* none where MPI has sessions only */
    long milliseconds;

    MPI_Initialized(&has_world);
    if (has_world)
        MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    /* Roots that were in each other's way come back after different times. */
    milliseconds = (long)(attempt < 20 ? attempt : 20) * (1 + world_rank % 13);
    nanosleep(&(struct timespec){.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000}, NULL);
}

/* The root comes first: threads whose communicators share their root, as duplicates of one communicator do, get their
 * turns in the order in which they come there, and the other ranks wait for nothing but the end of the turn before. */
static int try_once(MPI_Comm comm, int rank, bool *taken)
{
    int mine = 1, all = 0, code;

    if (rank == 0)
        pthread_mutex_lock(&turn);
    code = MPI_Bcast(&mine, 1, MPI_INT, 0, comm);
    if (rank != 0)
        mine = code == MPI_SUCCESS && lock_within(PATIENCE_MS);
    if (code == MPI_SUCCESS)
        code = MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    *taken = code == MPI_SUCCESS && all;
    if (mine && !*taken)
        pthread_mutex_unlock(&turn);
    return code;
}

bool pnc_mpiio_turn_take(MPI_Comm comm)
{
    int level = MPI_THREAD_SINGLE, rank, nprocs;
    bool taken = false;

    MPI_Query_thread(&level);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nprocs);
    if (level != MPI_THREAD_MULTIPLE || nprocs == 1)
        return false;
    for (int attempt = 1; try_once(comm, rank, &taken) == MPI_SUCCESS && !taken; attempt++)
        if (rank == 0)
            rest(attempt);
    return taken;
}

void pnc_mpiio_turn_end(bool taken)
{
    if (taken)
        pthread_mutex_unlock(&turn);
}
