/* Threads that write different files at the same time.
 *
 *     mpiexec -n 4 ./threads threads.nc          # threads.nc.0 and threads.nc.1
 *
 * MPI must support MPI_THREAD_MULTIPLE. One thread at a time may use a file. Threads that open files of several ranks
 * at the same time each have a communicator of their own, as MPI could not distinguish their collective calls. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 2, N = 4 };

typedef struct job {
    int number;
    MPI_Comm comm;
    char path[1024];
} job;

static void *write_file(void *argument)
{
    job *j = argument;
    int rank, nprocs, ncid, dim, varid, values[N];
    MPI_Offset start, count = N;

    MPI_Comm_rank(j->comm, &rank);
    MPI_Comm_size(j->comm, &nprocs);
    NC_TRY(j->path, ncmpi_create(j->comm, j->path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(j->path, ncmpi_def_dim(ncid, "x", N * nprocs, &dim));
    NC_TRY(j->path, ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &varid));
    NC_TRY(j->path, ncmpi_enddef(ncid));
    start = rank * N;
    for (int i = 0; i < N; i++)
        values[i] = 1000 * j->number + rank * N + i;
    NC_TRY(j->path, ncmpi_put_vara_int_all(ncid, varid, &start, &count, values));
    NC_TRY(j->path, ncmpi_close(ncid));
    return NULL;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "threads.nc";
    int provided;
    job jobs[THREADS];
    pthread_t threads[THREADS];

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        die("this MPI library does not support MPI_THREAD_MULTIPLE");
    for (int t = 0; t < THREADS; t++) {
        jobs[t].number = t;
        snprintf(jobs[t].path, sizeof jobs[t].path, "%s.%d", path, t);
        MPI_Comm_dup(MPI_COMM_WORLD, &jobs[t].comm);
        if (pthread_create(&threads[t], NULL, write_file, &jobs[t]) != 0)
            die("cannot create a thread");
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        MPI_Comm_free(&jobs[t].comm);
    }
    return MPI_Finalize();
}
