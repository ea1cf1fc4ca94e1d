/* One row for each kind of file system. */
#include "io/choose/costs.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

/* Measured on tmpfs, 2 ranks on 2 cores, each writing every other row, us per row and rank (one write per row /
 * exchange through shared memory): 512 B 2.1 / 0.31, 4 KiB 3.5 / 2.2, 32 KiB 13 / 17. us per put and rank: 4 rows of 2
 * ranks 6.7 / 9.7, 8 rows 10.6 / 10.2; on 4 ranks that share the cores 8.5 / 21 and 12 / 22. */
static const pnc_costs local = {
    .access = 0.9e-6,         /* derived from these rows, with one writer */
    .lock_change = 0,         /* no locks of nodes */
    .run = 0.15e-6,           /* derived from the rows of 512 B, less the copy */
    .copied = 0.2e-9,         /* derived from the rows of 4 KiB: two copies of each byte */
    .sent = 0,                /* one node */
    .synchronisation = 4.6e-6 /* derived from the puts of 4 rows */
};

/* A parallel file system that one node accesses. */
static const pnc_costs servers = {
    .access = 1e-3,           /* published: 0.3 to 5 ms; a guess between them */
    .lock_change = 0,         /* one node */
    .run = 0.15e-6,           /* as above */
    .copied = 0.2e-9,         /* as above */
    .sent = 0,                /* one node */
    .synchronisation = 4.6e-6 /* as above */
};

/* The same, that several nodes access. */
static const pnc_costs nodes = {
    .access = 1e-3,          /* as above */
    .lock_change = 5e-3,     /* published: 1 to 30 ms; a guess between them */
    .run = 0.15e-6,          /* as above */
    .copied = 0.25e-9,       /* a guess: more ranks share the memory of a node */
    .sent = 0.1e-9,          /* derived: the ranks of a node share a link of 10 GB/s */
    .synchronisation = 20e-6 /* a guess: a message of 2 us for each of up to 10 steps in a tree */
};

const pnc_costs *pnc_io_costs_find(bool on_servers, int nnodes)
{
    if (nnodes > 1)
        return &nodes;
    return on_servers ? &servers : &local;
}

/* --- figures by name --- */

#define FIGURES ((int)(sizeof figures / sizeof *figures))
#define FIGURE(field, text, size) {text, size, offsetof(pnc_costs, field)},
static const struct figure {
    const char *name;
    double unit; /* seconds */
    size_t offset;
} figures[] = {PNC_COST_FIGURES(FIGURE)};
#undef FIGURE

static double *get_figure(pnc_costs *costs, int i)
{
    return (double *)(void *)((char *)costs + figures[i].offset);
}

bool pnc_io_costs_parse(const char *text, pnc_costs *out)
{
    pnc_costs costs = {0};
    char *end;

    *out = costs;
    for (;; text = end + 1) {
        size_t length = strcspn(text, ":");
        long long number;
        int i = 0;

        while (i < FIGURES && (strlen(figures[i].name) != length || strncmp(figures[i].name, text, length) != 0))
            i++;
        if (i == FIGURES || text[length] == '\0')
            return false;
        number = strtoll(text + length + 1, &end, 10);
        if (end == text + length + 1 || number <= 0)
            return false;
        *get_figure(&costs, i) = (double)number * figures[i].unit;
        if (*end == '\0')
            break;
        if (*end != ',')
            return false;
    }
    *out = costs;
    return true;
}

void pnc_io_costs_print(const pnc_costs *given, char text[PNC_COSTS_TEXT])
{
    pnc_costs costs = *given;
    int n = 0;

    for (int i = 0; i < FIGURES && n < PNC_COSTS_TEXT; i++)
        n += snprintf(text + n, (size_t)(PNC_COSTS_TEXT - n), "%s%s:%.0f", i > 0 ? "," : "", figures[i].name,
                      *get_figure(&costs, i) / figures[i].unit);
}

pnc_costs pnc_io_costs_get(const pnc_access_pattern *p)
{
    pnc_costs costs = *pnc_io_costs_find(p->on_servers, p->nnodes);

    if (p->given == NULL)
        return costs;
#define REPLACE(field, name, unit) costs.field = p->given->field > 0 ? p->given->field : costs.field;
    PNC_COST_FIGURES(REPLACE)
#undef REPLACE
    return costs;
}

/* --- what strategies take --- */

/* The kernel locks a local file for a write, so that a rank waits for the others: with 2 ranks a write takes twice as
 * long. That it takes n times as long with n ranks is an assumption. */
double pnc_io_costs_compute_seconds(const pnc_estimate *e, const pnc_access_pattern *p)
{
    const pnc_costs c = pnc_io_costs_get(p);
    double writers = p->on_servers || p->direction == PNC_GET ? 1 : p->nwriters;

    return e->accesses * c.access * writers + e->lock_changes * c.lock_change + e->runs * c.run + e->copied * c.copied +
           e->sent * c.sent * (p->nprocs / p->nnodes) +
           e->synchronisations * c.synchronisation * pnc_bits_count_doublings(p->nprocs);
}

/* Between nodes other ranks write to the first and the last stripe of a run. A get waits for these locks as well: a
 * node keeps those of what it wrote until another node needs them, also after the file was closed. */
pnc_estimate pnc_io_costs_compute_independent(const pnc_access_pattern *p, double accesses, int64_t most)
{
    pnc_estimate e = {.accesses = accesses};

    if (p->on_servers)
        e.accesses += pnc_io_accesses_count(p, most);
    if (p->nnodes > 1)
        e.lock_changes = accesses;
    return e;
}

pnc_estimate pnc_io_costs_compute_exchange(const pnc_access_pattern *p, int synchronisations, bool is_sent)
{
    pnc_estimate e = {
        .runs = (double)p->runs, .copied = (double)p->bytes, .synchronisations = (double)synchronisations};

    if (p->on_servers)
        e.accesses = 1 + pnc_io_accesses_count(p, p->buffer);
    if (p->nnodes > 1 && is_sent)
        e.sent = (double)p->bytes;
    return e;
}
