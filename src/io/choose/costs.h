/* What the steps of a call take on each kind of file system, and what strategies estimate with. Pure arithmetic. */
#ifndef PNC_IO_COSTS_H
#define PNC_IO_COSTS_H

#include "io/choose/strategy.h"

/* In seconds. */
typedef struct pnc_costs {
    double access;          /* a read or write of the file */
    double lock_change;     /* a lock of a stripe that moves between nodes */
    double run;             /* a run that is merged or exchanged by itself */
    double copied, sent;    /* a byte: within a node, to another one */
    double synchronisation; /* a step of a synchronisation of all ranks */
} pnc_costs;

/* Of a local file, a file on servers that one node has opened, or one that several nodes have opened. */
const pnc_costs *pnc_io_costs_find(bool on_servers, int nnodes);

double pnc_io_costs_compute_seconds(const pnc_estimate *estimate, const pnc_access_pattern *pattern);

/* --- what several strategies estimate --- */

/* Rows of 64 bytes are read 40 times as fast with data sieving as one by one (tmpfs, one rank). */
#define PNC_RUNS_OF_A_SIEVE 40

/* Accesses of long runs: one for each stripe, or for each `most` bytes if that is less. */
static inline double pnc_io_accesses_count(const pnc_access_pattern *p, int64_t most)
{
    return (double)p->bytes / (double)(most < p->striping_unit ? most : p->striping_unit);
}

/* Of a rank that works own, beside ranks of other nodes. */
pnc_estimate pnc_io_costs_compute_independent(const pnc_access_pattern *pattern, double accesses, int64_t most);
/* Of aggregators that exchange data, with as many synchronisations; is_sent: also between nodes. */
pnc_estimate pnc_io_costs_compute_exchange(const pnc_access_pattern *pattern, int synchronisations, bool is_sent);

#endif
