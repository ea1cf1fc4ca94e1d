/* A model of a parallel file system: when an access ends.
 *
 * A file is divided into stripes, which are distributed over the servers in turn. An access becomes one request for
 * each stripe. A request passes the link of its node, then waits until its server is free. A stripe has a lock: a node
 * that writes to a stripe that another node wrote last, or reads what another node wrote last, waits until the lock has
 * moved. The preload of benchmarks/cluster delays accesses by this model, ncmpistat --plan estimates times with it. */
#ifndef PNC_TOOLS_PLAN_FILE_SYSTEM_H
#define PNC_TOOLS_PLAN_FILE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

/* Defaults; benchmarks/README.md has their sources. */
#define PLAN_SERVERS 8
#define PLAN_UNIT (1 << 20)
#define PLAN_LATENCY_US 500
#define PLAN_REQUEST_US 100
#define PLAN_LOCK_US 5000
#define PLAN_SERVER_MBS 3000
#define PLAN_LINK_MBS 8000
#define PLAN_DISK_MBS 2000
#define PLAN_DISK_LATENCY_US 20

/* Times in nanoseconds. */
typedef struct plan_file_system {
    int servers;
    int64_t unit; /* bytes of a stripe */
    int64_t latency, request, lock;
    double server_byte, link_byte;
} plan_file_system;

/* What accesses change; all zeros at the beginning. */
typedef struct plan_clocks {
    int64_t *link;   /* when the link of the node is free */
    int64_t *server; /* likewise, by server */
    int *writer;     /* by stripe: the node that wrote last, plus 1; 0: none, or another node has read since */
} plan_clocks;

typedef struct plan_access {
    bool is_write;
    int node;
    int64_t offset, length;
    int64_t begin;
} plan_access;

/* The disk of a node, on which nothing is shared with other nodes. */
typedef struct plan_disk {
    int64_t latency;
    double byte;
} plan_disk;

/* When an access of so many bytes ends; *clock: when the disk has carried out those before it. */
int64_t plan_disk_compute_end(const plan_disk *disk, int64_t *clock, int64_t length, int64_t begin);

/* When the access ends; *lock_moves is increased by the requests that waited for a lock. */
int64_t plan_access_compute_end(const plan_file_system *fs, const plan_clocks *clocks, const plan_access *access,
                                int *lock_moves);

#endif
