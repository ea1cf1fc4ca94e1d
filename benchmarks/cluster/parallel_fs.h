/* What the files of the preload share: the simulated file system (model.c), the record of a run (record.c), and the
 * calls that the preload replaces (parallel_fs.c, calls.c).
 *
 * Environment; benchmarks/README.md states where the defaults come from:
 *
 *   PARALLEL_FS_FILES           pattern of fnmatch(3) for the paths of simulated files; without it nothing is simulated
 *   PARALLEL_FS_STATE           file with the state that all ranks share, in /dev/shm; absent or empty before a run
 *   PARALLEL_FS_RECORD          rank r writes the record of the run to this path with ".r" appended
 *   PARALLEL_FS_RANKS_PER_NODE  consecutive ranks of a node (8)
 *   PARALLEL_FS_SERVERS         servers, to which stripes are distributed in turn (8)
 *   PARALLEL_FS_STRIPE          bytes of a stripe (1048576)
 *   PARALLEL_FS_LATENCY_US      microseconds between a request and the begin of its answer, which nothing shares (500)
 *   PARALLEL_FS_REQUEST_US      microseconds that a server is busy with a request, beside its bytes (100)
 *   PARALLEL_FS_LOCK_US         microseconds that a server is busy to move the lock of a stripe between nodes (5000)
 *   PARALLEL_FS_SERVER_MBS      10^6 bytes that a server handles in a second (3000)
 *   PARALLEL_FS_LINK_MBS        10^6 bytes in a second between a node and all servers (8000)
 *   PARALLEL_FS_LOCAL           pattern for the paths of files on the disk of the node; without it there is none
 *   PARALLEL_FS_DISK_MBS        10^6 bytes that this disk handles in a second (2000)
 *   PARALLEL_FS_DISK_LATENCY_US microseconds of an access of it, beside its bytes (20)
 *   PARALLEL_FS_SLOWDOWN        a simulated second takes this many real ones (16) */
#ifndef PARALLEL_FS_H
#define PARALLEL_FS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum direction { READ = 'R', WRITE = 'W' } direction;

/* Where a file is: on servers that all nodes share, or on the disk of the node. */
typedef enum place { REAL, SHARED, LOCAL } place;

/* An access of a simulated file. */
typedef struct file_access {
    direction direction;
    place place;
    ino_t file;
    int64_t offset, length;
} file_access;

/* How the file system carries an access out. */
typedef struct outcome {
    int64_t end;   /* nanoseconds of CLOCK_MONOTONIC */
    int64_t delay; /* simulated nanoseconds from the begin of the access to its end */
    int lock_moves;
} outcome;

/* --- model.c --- */

int64_t model_now(void);
/* Rank of this process, before MPI_Init as well; -1: mpiexec did not start it. */
int model_rank(void);
int model_node(void); /* of this process */
/* Whether a rank is on the node of this process. */
bool model_is_local(int rank);
/* An access that begins at a time of CLOCK_MONOTONIC, now or later. */
outcome model_access(const file_access *access, int64_t begin);
/* Sleep until a time of CLOCK_MONOTONIC. */
void model_sleep_until(int64_t time);
/* The program computes for so many simulated seconds, on a core that is not needed here. */
void parallel_fs_compute(double seconds);

/* --- record.c --- */

void record_access(const file_access *access, const outcome *outcome);
void record_message(bool is_local);
/* A collective call of MPI. `name`: a literal. */
void record_collective(const char *name);
/* The program marks the phases of a run. All ranks mark the same ones; NULL ends a phase. */
void parallel_fs_phase(const char *name);

/* --- all --- */

/* Report a failure of the preload itself and end the program. */
void fail(const char *what);
/* The definition of a function after that of the preload. */
void *find_next(const char *name);

#endif
