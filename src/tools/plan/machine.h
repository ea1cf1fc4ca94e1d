/* Machines by name: how many ranks a node has, and what its file system and its network take. docs/scaling.md has the
 * sources of the figures, and which of them are assumed. */
#ifndef PNC_TOOLS_PLAN_MACHINE_H
#define PNC_TOOLS_PLAN_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plan_machine {
    const char *name;
    int nodes, ranks_per_node; /* ranks_per_node: processor cores */
    int servers;
    int64_t unit;       /* bytes of a stripe */
    bool is_known;      /* the library is informed of the servers, as on Lustre */
    double server_mbs;  /* 10^6 bytes per second, of a server */
    double link_mbs;    /* of a node to all servers */
    double network_mbs; /* of a node to the others */
    double latency_us, request_us, lock_us, message_us;
} plan_machine;

/* The machine of that name; NULL: there is none. */
const plan_machine *plan_machine_find(const char *name);

#endif
