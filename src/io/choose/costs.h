/* What the steps of a call take on each kind of file system, and what strategies estimate with. Pure arithmetic. */
#ifndef PNC_IO_COSTS_H
#define PNC_IO_COSTS_H

#include "io/choose/strategy.h"

/* Of a local file, a file on servers that one node has opened, or one that several nodes have opened. */
const pnc_costs *pnc_io_costs_find(bool on_servers, int nnodes);
/* The same for a pattern; what a hint gives replaces its figures. */
pnc_costs pnc_io_costs_get(const pnc_access_pattern *pattern);

/* NAME:NUMBER, separated by commas: each number is an integer greater than 0. False: anything else; *out has no figures
 * then. */
bool pnc_io_costs_parse(const char *text, pnc_costs *out);
/* All figures, in the same form. */
#define PNC_COSTS_TEXT 200
void pnc_io_costs_print(const pnc_costs *costs, char text[PNC_COSTS_TEXT]);

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
