/* Turns: threads make collective MPI_File_ calls one after the other.
 *
 * ROMIO, the MPI-IO of MPICH and its derivatives, holds one lock per process while a collective call, such as
 * MPI_File_open or MPI_File_write_at_all, blocks for the other ranks. Consider threads A and B on two ranks, each
 * opening a file with its counterpart on the other rank. If A holds the lock on rank 0, and B on rank 1, then both
 * calls block forever: A on rank 1 and B on rank 0 cannot enter ROMIO. (Seen with MPICH 4.0.2 within a second.) Here
 * a rank enters such a call only when all ranks of the communicator hold the lock of this file. No rank then blocks
 * in ROMIO for a rank that cannot enter. Independent reads and writes are local calls and need no turn.
 *
 * Calls of one rank take turns as well until a file has been opened: ROMIO prepares its own data in its first calls,
 * without a lock. If those of two threads coincide, MPI ends the program, or frees memory twice at the end (MPICH
 * 4.0.2). */
#include "drivers/mpiio/mpiio.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define LOCK_TIMEOUT_MS 20 /* a turn takes as long as opening a file; a longer wait may be a deadlock */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_prepared; /* MPI_File_open has opened a file */

static bool lock_within(long milliseconds)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += milliseconds * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_mutex_timedlock(&turn, &until) == 0;
}

static void pause_after_attempt(int attempt)
{
    int world_rank = 0, has_world = 0; /* MPI_COMM_WORLD does not exist with sessions only */
    long milliseconds;

    MPI_Initialized(&has_world);
    if (has_world)
        MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    /* different delays per root, so that two roots do not collide again */
    milliseconds = (long)(attempt < 20 ? attempt : 20) * (1 + world_rank % 13);
    nanosleep(&(struct timespec){.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000}, NULL);
}

/* The root takes its lock before the others try. Communicators with the same root, such as duplicates of one
 * communicator, thus get their turns in the order of arrival at the root; the other ranks only wait for the end of
 * the previous turn. Returns whether the ranks have agreed. An MPI call that fails on this rank may have succeeded on
 * the others: the result counts. */
static bool try_once(MPI_Comm comm, int rank, bool *taken)
{
    int mine = 1, all = -1;

    if (rank == 0)
        pthread_mutex_lock(&turn);
    MPI_Bcast(&mine, 1, MPI_INT, 0, comm);
    if (rank != 0)
        mine = lock_within(LOCK_TIMEOUT_MS);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    *taken = all == 1;
    if (mine && !*taken)
        pthread_mutex_unlock(&turn);
    return all >= 0;
}

bool pnc_mpiio_turn_take_local(void)
{
    return pnc_driver_has_threads() && !atomic_load(&is_prepared) && pthread_mutex_lock(&turn) == 0;
}

bool pnc_mpiio_turn_take(MPI_Comm comm)
{
    int rank, nprocs;
    bool taken = false;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nprocs);
    if (nprocs == 1)
        return pnc_mpiio_turn_take_local();
    if (!pnc_driver_has_threads())
        return false;
    for (int attempt = 1; try_once(comm, rank, &taken) && !taken; attempt++)
        if (rank == 0)
            pause_after_attempt(attempt);
    return taken;
}

void pnc_mpiio_turn_end(bool taken)
{
    if (taken)
        pthread_mutex_unlock(&turn);
}

void pnc_mpiio_turn_set_prepared(void)
{
    atomic_store(&is_prepared, true);
}
