/* How long an access takes, by the model in src/tools/plan/file_system.h. The clocks of links and servers, and the
 * locks, are in shared memory, so that the accesses of all ranks delay each other. */
#define _GNU_SOURCE
#include "parallel_fs.h"
#include "tools/plan/file_system.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NANOSECONDS INT64_C(1000000000)

enum { MAX_SERVERS = 256, MAX_NODES = 1024, MAX_FILES = 64, MAX_STRIPES = 1 << 16 };

/* Shared by all ranks. A new state is all zeros. */
typedef struct state {
    atomic_flag busy; /* a rank computes */
    int64_t link_free[MAX_NODES], server_free[MAX_SERVERS], disk_free[MAX_NODES];
    int nfiles;
    ino_t files[MAX_FILES];
    int writer[MAX_FILES][MAX_STRIPES]; /* the node that wrote last, plus 1; 0: none, or another node has read since */
} state;

/* Times in nanoseconds of the clock, that is after the slowdown. */
typedef struct settings {
    int rank, ranks_per_node, node;
    plan_file_system fs;
    plan_disk disk; /* of each node */
    double slowdown;
} settings;

static settings set;
static state *shared;

static double number(const char *name, double otherwise, double least)
{
    const char *text = getenv(name);
    char *end = NULL;
    double value = text != NULL ? strtod(text, &end) : otherwise;

    if (text != NULL && (end == text || *end != '\0' || !(value >= least)))
        fail(name);
    return value;
}

/* Hydra, and other process managers that speak PMI, number the ranks; so does that of Open MPI. */
static int find_rank(void)
{
    const char *text = getenv("PMI_RANK");

    if (text == NULL)
        text = getenv("OMPI_COMM_WORLD_RANK");
    return text != NULL ? atoi(text) : -1;
}

static void read_settings(void)
{
    double slow = number("PARALLEL_FS_SLOWDOWN", 16, 1e-3), microsecond = 1e3 * slow;

    set = (settings){
        .rank = find_rank(),
        .ranks_per_node = (int)number("PARALLEL_FS_RANKS_PER_NODE", 8, 1),
        .fs = {.servers = (int)number("PARALLEL_FS_SERVERS", PLAN_SERVERS, 1),
               .unit = (int64_t)number("PARALLEL_FS_STRIPE", PLAN_UNIT, 1),
               .latency = (int64_t)(number("PARALLEL_FS_LATENCY_US", PLAN_LATENCY_US, 0) * microsecond),
               .request = (int64_t)(number("PARALLEL_FS_REQUEST_US", PLAN_REQUEST_US, 0) * microsecond),
               .lock = (int64_t)(number("PARALLEL_FS_LOCK_US", PLAN_LOCK_US, 0) * microsecond),
               .server_byte = slow * 1e3 / number("PARALLEL_FS_SERVER_MBS", PLAN_SERVER_MBS, 1e-3),
               .link_byte = slow * 1e3 / number("PARALLEL_FS_LINK_MBS", PLAN_LINK_MBS, 1e-3)},
        .disk = {.latency = (int64_t)(number("PARALLEL_FS_DISK_LATENCY_US", PLAN_DISK_LATENCY_US, 0) * microsecond),
                 .byte = slow * 1e3 / number("PARALLEL_FS_DISK_MBS", PLAN_DISK_MBS, 1e-3)},
        .slowdown = slow,
    };
    set.node = set.rank / set.ranks_per_node;
    if (set.fs.servers > MAX_SERVERS || set.node >= MAX_NODES)
        fail("more servers or nodes than the simulation has memory for");
}

static void map_state(void)
{
    const char *path = getenv("PARALLEL_FS_STATE");
    int fd = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

    if (fd < 0 || ftruncate(fd, sizeof(state)) != 0)
        fail("PARALLEL_FS_STATE");
    shared = mmap(NULL, sizeof(state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        fail("mmap of PARALLEL_FS_STATE");
    close(fd);
}

/* Processes that mpiexec did not start with a rank have no file system. */
__attribute__((constructor)) static void start(void)
{
    read_settings();
    if (getenv("PARALLEL_FS_FILES") != NULL && set.rank >= 0)
        map_state();
}

int64_t model_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * NANOSECONDS + time.tv_nsec;
}

int model_rank(void)
{
    return set.rank;
}

int model_node(void)
{
    return set.node;
}

bool model_is_local(int rank)
{
    return rank / set.ranks_per_node == set.node;
}

void model_sleep_until(int64_t end)
{
    struct timespec time = {.tv_sec = end / NANOSECONDS, .tv_nsec = end % NANOSECONDS};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

void parallel_fs_compute(double seconds)
{
    model_sleep_until(model_now() + (int64_t)(seconds * set.slowdown * 1e9));
}

static int find_file(ino_t file)
{
    for (int i = 0; i < shared->nfiles; i++)
        if (shared->files[i] == file)
            return i;
    if (shared->nfiles == MAX_FILES)
        fail("more files than the simulation has memory for");
    shared->files[shared->nfiles] = file;
    return shared->nfiles++;
}

static void lock_state(void)
{
    while (atomic_flag_test_and_set(&shared->busy))
        sched_yield();
}

/* What is read was written shortly before: the page cache of the node has it. */
static outcome access_disk(const file_access *access, int64_t begin)
{
    outcome result = {.end = begin};

    if (access->direction == READ)
        return result;
    lock_state();
    result.end = plan_disk_compute_end(&set.disk, &shared->disk_free[set.node], access->length, begin);
    atomic_flag_clear(&shared->busy);
    return result;
}

static outcome access_servers(const file_access *access, int64_t begin)
{
    plan_access planned = {.is_write = access->direction == WRITE,
                           .node = set.node,
                           .offset = access->offset,
                           .length = access->length,
                           .begin = begin};
    plan_clocks clocks = {.link = &shared->link_free[set.node], .server = shared->server_free};
    outcome result = {0};

    if ((access->offset + access->length) / set.fs.unit >= MAX_STRIPES)
        fail("more stripes than the simulation has memory for");
    lock_state();
    clocks.writer = shared->writer[find_file(access->file)];
    result.end = plan_access_compute_end(&set.fs, &clocks, &planned, &result.lock_moves);
    atomic_flag_clear(&shared->busy);
    return result;
}

outcome model_access(const file_access *access, int64_t begin)
{
    outcome result = access->place == LOCAL ? access_disk(access, begin) : access_servers(access, begin);

    result.delay = (int64_t)((double)(result.end - begin) / set.slowdown);
    return result;
}
