/* The costs by which the library chooses strategies, measured on this system: one line, which is a hint.
 *
 * Each figure is the least of several runs: others were disturbed. A figure that these ranks cannot measure is left
 * out, such as those of several nodes. Usage: bench_costs [--dir FOLDER] */
#include "bench_calls.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEATS = 5, ACCESSES = 500, DISTANCE = 1 << 20, BLOCK = 1 << 20, BLOCKS = 64, RUNS = 1 << 14, RUN = 8 };

struct bench {
    int rank, nprocs, other; /* the first rank of another node than that of rank 0; 0: there is one node */
    const char *dir;
    char path[1024];
    char *from, *to; /* BLOCK bytes each */
};

static double least_of(double least, double value)
{
    return least == 0 || value < least ? value : least;
}

/* --- the file system --- */

static int open_file(const struct bench *b)
{
    int fd = open(b->path, O_RDWR | O_CREAT, 0600);
    if (fd < 0) {
        perror(b->path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return fd;
}

/* Seconds of a write at a distance from the one before, by rank 0 without the others. */
static double measure_access(const struct bench *b)
{
    double least = 0;
    if (b->rank == 0) {
        int fd = open_file(b);
        for (int k = 0; k < REPEATS; k++) {
            double begin = MPI_Wtime();
            for (int i = 0; i < ACCESSES; i++)
                if (pwrite(fd, b->from, 512, (off_t)i * DISTANCE) != 512)
                    MPI_Abort(MPI_COMM_WORLD, 1);
            least = least_of(least, (MPI_Wtime() - begin) / ACCESSES);
        }
        close(fd);
    }
    MPI_Bcast(&least, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return least;
}

/* Seconds of a write to a byte that another node wrote last, without the access itself. */
static double measure_lock_change(const struct bench *b, double access)
{
    int peer = b->rank == 0 ? b->other : 0, fd;
    double begin, seconds = 0;
    if (b->other == 0)
        return 0;
    if (b->rank == 0 || b->rank == b->other) {
        fd = open_file(b);
        begin = MPI_Wtime();
        for (int i = 0; i < ACCESSES; i++) {
            if (i % 2 == (b->rank == 0) && pwrite(fd, b->from, 512, 0) != 512)
                MPI_Abort(MPI_COMM_WORLD, 1);
            MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, 0, NULL, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        seconds = (MPI_Wtime() - begin) / ACCESSES - access;
        close(fd);
    }
    MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return seconds;
}

/* --- the library --- */

/* Seconds of a collective put with aggregators: each rank writes RUNS runs, between those of the others or behind each
 * other. */
static double put(const struct bench *b, int ncid, int varid, bool interleaved)
{
    MPI_Offset start[3] = {0, interleaved ? b->rank : 0, 0}, count[3] = {RUNS, 1, RUN};
    double begin, least = 0;
    if (!interleaved) {
        start[0] = (MPI_Offset)b->rank * (RUNS / b->nprocs);
        count[0] = RUNS / b->nprocs;
        count[1] = b->nprocs;
    }
    for (int k = 0; k < REPEATS; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        DO(ncmpi_put_vara_double_all(ncid, varid, start, count, (const double *)(void *)b->from));
        least = least_of(least, MPI_Wtime() - begin);
    }
    return least;
}

static double measure_run(const struct bench *b)
{
    int ncid, dims[3], varid;
    double seconds;
    MPI_Info info;
    if (b->nprocs == 1)
        return 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_strategy", "two_phase");
    DO(ncmpi_create(MPI_COMM_WORLD, b->path, NC_CLOBBER | NC_64BIT_DATA, info, &ncid));
    MPI_Info_free(&info);
    DO(ncmpi_def_dim(ncid, "run", RUNS, &dims[0]));
    DO(ncmpi_def_dim(ncid, "rank", b->nprocs, &dims[1]));
    DO(ncmpi_def_dim(ncid, "x", RUN, &dims[2]));
    DO(ncmpi_def_var(ncid, "v", NC_DOUBLE, 3, dims, &varid));
    DO(ncmpi_enddef(ncid));
    seconds = put(b, ncid, varid, true);
    seconds -= put(b, ncid, varid, false);
    DO(ncmpi_close(ncid));
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds / RUNS;
}

/* --- memory and network --- */

/* Seconds of a byte that is copied into an exchange and out of it. */
static double measure_copied(const struct bench *b)
{
    double least = 0;
    for (int k = 0; k < REPEATS; k++) {
        double begin = MPI_Wtime();
        for (int i = 0; i < BLOCKS; i++) {
            memcpy(b->to, b->from, BLOCK);
            memcpy(b->from, b->to, BLOCK);
        }
        least = least_of(least, (MPI_Wtime() - begin) / BLOCKS / BLOCK);
    }
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return least;
}

static double measure_sent(const struct bench *b)
{
    double begin = MPI_Wtime(), seconds;
    if (b->other == 0)
        return 0;
    for (int i = 0; i < BLOCKS; i++) {
        if (b->rank == 0)
            MPI_Send(b->from, BLOCK, MPI_BYTE, b->other, 0, MPI_COMM_WORLD);
        if (b->rank == b->other)
            MPI_Recv(b->to, BLOCK, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    seconds = (MPI_Wtime() - begin) / BLOCKS / BLOCK;
    MPI_Bcast(&seconds, 1, MPI_DOUBLE, b->other, MPI_COMM_WORLD);
    return seconds;
}

static double measure_synchronisation(const struct bench *b)
{
    int steps = 0;
    double least = 0;
    while (1 << steps < b->nprocs)
        steps++;
    for (int k = 0; k < REPEATS && steps > 0; k++) {
        double begin = MPI_Wtime();
        for (int i = 0; i < ACCESSES; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        least = least_of(least, (MPI_Wtime() - begin) / ACCESSES / steps);
    }
    return least;
}

static int find_other(int rank, int nprocs)
{
    MPI_Comm node;
    int is_first, other;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    is_first = rank == 0;
    MPI_Bcast(&is_first, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    other = is_first ? nprocs : rank;
    MPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return other < nprocs ? other : 0;
}

static void add(char *line, size_t capacity, const char *name, double number)
{
    size_t used = strlen(line);
    if (number >= 0.5)
        snprintf(line + used, capacity - used, "%s%s:%.0f", used > 0 ? "," : "", name, number);
}

int main(int argc, char **argv)
{
    struct bench b = {.dir = "/dev/shm"};
    char line[256] = "";
    double access;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.nprocs);
    if (argc == 3 && strcmp(argv[1], "--dir") == 0)
        b.dir = argv[2];
    else if (argc > 1) {
        if (b.rank == 0)
            fprintf(stderr, "usage: bench_costs [--dir FOLDER]\n");
        MPI_Finalize();
        return 2;
    }
    snprintf(b.path, sizeof b.path, "%s/bench_costs.nc", b.dir);
    b.from = calloc(BLOCK, 1);
    b.to = calloc(BLOCK, 1);
    if (b.from == NULL || b.to == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    b.other = find_other(b.rank, b.nprocs);
    access = measure_access(&b);
    add(line, sizeof line, "access_ns", 1e9 * access);
    add(line, sizeof line, "lock_change_ns", 1e9 * measure_lock_change(&b, access));
    add(line, sizeof line, "run_ns", 1e9 * measure_run(&b));
    add(line, sizeof line, "copied_ps", 1e12 * measure_copied(&b));
    add(line, sizeof line, "sent_ps", 1e12 * measure_sent(&b));
    add(line, sizeof line, "synchronisation_ns", 1e9 * measure_synchronisation(&b));
    if (b.rank == 0) {
        printf("nc_costs=%s\n", line);
        remove(b.path);
    }
    free(b.from);
    free(b.to);
    MPI_Finalize();
    return 0;
}
