/* A model of a parallel file system: how long an access takes.
 *
 * A file is divided into stripes, which are distributed over the servers in turn. An access becomes one request for
 * each stripe. A request passes the link of its node, then waits until its server is free. A stripe has a lock: a node
 * that writes to a stripe that another node wrote last, or reads what another node wrote last, waits until the lock has
 * moved. The clocks of links and servers, and the locks, are in shared memory, so that the accesses of all ranks delay
 * each other. */
#define _GNU_SOURCE
#include "parallel_fs.h"

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
    int64_t link_free[MAX_NODES], server_free[MAX_SERVERS];
    int nfiles;
    ino_t files[MAX_FILES];
    int writer[MAX_FILES][MAX_STRIPES]; /* the node that wrote last, plus 1; 0: none, or another node has read since */
} state;

/* Times in nanoseconds of the clock, that is after the slowdown. */
typedef struct settings {
    int rank, ranks_per_node, node, servers;
    int64_t stripe, latency, request, lock;
    double server_byte, link_byte;
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
        .servers = (int)number("PARALLEL_FS_SERVERS", 8, 1),
        .stripe = (int64_t)number("PARALLEL_FS_STRIPE", 1 << 20, 1),
        .latency = (int64_t)(number("PARALLEL_FS_LATENCY_US", 500, 0) * microsecond),
        .request = (int64_t)(number("PARALLEL_FS_REQUEST_US", 100, 0) * microsecond),
        .lock = (int64_t)(number("PARALLEL_FS_LOCK_US", 5000, 0) * microsecond),
        .server_byte = slow * 1e3 / number("PARALLEL_FS_SERVER_MBS", 3000, 1e-3),
        .link_byte = slow * 1e3 / number("PARALLEL_FS_LINK_MBS", 8000, 1e-3),
        .slowdown = slow,
    };
    set.node = set.rank / set.ranks_per_node;
    if (set.servers > MAX_SERVERS || set.node >= MAX_NODES)
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

/* Whether the lock of a stripe must move for this access. */
static bool move_lock(int *writer, direction direction)
{
    int own = set.node + 1, last = *writer;

    if (direction == WRITE)
        *writer = own;
    else if (last != own)
        *writer = 0;
    return last != 0 && last != own;
}

/* A resource that serves one request at a time is free again at *clock. The request occupies it from `from` on. */
static int64_t occupy(int64_t *clock, int64_t from, int64_t duration)
{
    *clock = (*clock > from ? *clock : from) + duration;
    return *clock;
}

/* The part of an access in one stripe: when it ends. */
static int64_t send_request(int *writer, const file_access *part, int64_t now, int *lock_moves)
{
    int64_t stripe = part->offset / set.stripe, sent, service;

    if (stripe >= MAX_STRIPES)
        fail("more stripes than the simulation has memory for");
    sent = occupy(&shared->link_free[set.node], now, (int64_t)((double)part->length * set.link_byte));
    service = set.request + (int64_t)((double)part->length * set.server_byte);
    if (move_lock(&writer[stripe], part->direction)) {
        service += set.lock;
        ++*lock_moves;
    }
    return occupy(&shared->server_free[stripe % set.servers], sent, service) + set.latency;
}

outcome model_access(const file_access *access)
{
    file_access part = *access;
    int64_t now = model_now(), last = access->offset + access->length;
    outcome result = {.end = now};

    while (atomic_flag_test_and_set(&shared->busy))
        sched_yield();
    int *writer = shared->writer[find_file(access->file)];
    for (; part.offset < last; part.offset += part.length) {
        int64_t rest = last - part.offset, end;

        part.length = set.stripe - part.offset % set.stripe;
        part.length = part.length < rest ? part.length : rest;
        end = send_request(writer, &part, now, &result.lock_moves);
        result.end = end > result.end ? end : result.end;
    }
    atomic_flag_clear(&shared->busy);
    result.delay = (int64_t)((double)(result.end - now) / set.slowdown);
    return result;
}
