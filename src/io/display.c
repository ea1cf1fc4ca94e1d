/* The display of strategies and aggregators. */
#include "io/display.h"

#include <stdio.h>

#include "base/memory.h"
#include "io/choose/costs.h"

static const char *get_strategy_name(pnc_strategy strategy)
{
    return pnc_strategy_names[strategy + 1];
}

static const char *get_direction_word(pnc_direction direction)
{
    return direction == PNC_PUT ? "put" : "get";
}

static const char *get_plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* True if the choice is not yet displayed for the class. */
static bool is_news(int *shown, pnc_strategy choice)
{
    bool differs = *shown != (int)choice + 1;

    *shown = (int)choice + 1;
    return differs;
}

static void print_costs(const pnc_access_pattern *p)
{
    const pnc_costs costs = pnc_io_costs_get(p);
    const char *kind = p->on_servers ? "a file on servers, one node" : "a local file";
    char text[PNC_COSTS_TEXT];

    pnc_io_costs_print(&costs, text);
    fprintf(stderr, "    costs (%s): %s\n", p->nnodes > 1 ? "a file on servers, several nodes" : kind, text);
    fprintf(stderr, "    %-14s %12s %10s %10s %12s %12s %6s  %s\n", "strategy", "ms", "accesses", "locks",
            "bytes copied", "bytes sent", "syncs", "suitable");
    for (pnc_strategy s = 0; s < PNC_STRATEGIES; s++) {
        pnc_estimate e = pnc_io_strategy_compute_cost(s, p);
        const char *why = pnc_io_strategy_explain_rejection(s, p);

        fprintf(stderr, "    %-14s %12.3f %10.0f %10.0f %12.0f %12.0f %6.0f  %s%s\n", get_strategy_name(s),
                e.seconds * 1e3, e.accesses, e.lock_changes, e.copied, e.sent, e.synchronisations,
                why == NULL ? "yes" : "no: ", why == NULL ? "" : why);
    }
}

void pnc_io_strategy_display(pnc_io_context *io, const pnc_access_pattern *p, pnc_strategy choice)
{
    bool is_collective = p->nprocs > 1;

    if (!io->hints->display || io->file->rank != 0 || p->runs == 0 ||
        !is_news(&io->shown[p->direction == PNC_PUT][is_collective], choice))
        return;
    flockfile(stderr); /* other threads do not print between the lines */
    fprintf(stderr, "PnetCDF: %s: %s %s of %lld run%s, %lld bytes on rank 0, %d rank%s on %d node%s, %s: %s%s\n",
            io->file->path, is_collective ? "collective" : "independent", get_direction_word(p->direction),
            (long long)p->runs, get_plural(p->runs), (long long)p->bytes, p->nprocs, get_plural(p->nprocs), p->nnodes,
            get_plural(p->nnodes), p->on_servers ? "a file on servers" : "a local file", get_strategy_name(choice),
            io->hints->strategy > 0 ? " (by hint)" : "");
    print_costs(p);
    funlockfile(stderr);
}

bool pnc_io_collective_display(pnc_io_context *io, pnc_direction direction, pnc_strategy choice)
{
    int nnodes = io->file->store->nnodes;

    if (!io->hints->display || !is_news(&io->shown_collective[direction == PNC_PUT], choice))
        return false;
    if (io->file->rank == 0)
        fprintf(stderr, "PnetCDF: %s: %s by agreement of %d rank%s, on %d node%s: %s\n", io->file->path,
                get_direction_word(direction), io->file->nprocs, get_plural(io->file->nprocs), nnodes,
                get_plural(nnodes), get_strategy_name(choice));
    return true;
}

/* --- aggregators --- */

typedef struct place {
    int rank, node;
    char name[64];
} place;

static void print_places(const pnc_file *file, const place *places, const pnc_file_domains *d)
{
    flockfile(stderr);
    fprintf(stderr, "PnetCDF: %s: %d aggregator%s; windows of %lld bytes; a window is divided into %s\n", file->path,
            d->naggregators, get_plural(d->naggregators), (long long)(d->window * d->unit),
            d->cyclic ? "units, in turn" : "one block for each aggregator");
    for (int i = 0; i < d->naggregators; i++)
        fprintf(stderr, "    aggregator %-6d rank %-8d node %-6d %-20s first block at byte %lld\n", i, places[i].rank,
                places[i].node, places[i].name, (long long)pnc_io_file_domains_find_block_at(d, i, 0).low);
    funlockfile(stderr);
}

/* One list of all aggregators: only the display needs it. */
void pnc_io_aggregators_display(const pnc_file *file, const pnc_node *node, const pnc_file_domains *domains)
{
    place own = {file->rank, node->index, ""}, *all = NULL;
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length, rank, n;

    MPI_Comm_rank(node->delegates, &rank);
    MPI_Comm_size(node->delegates, &n);
    MPI_Get_processor_name(name, &length);
    snprintf(own.name, sizeof own.name, "%.63s", name);
    if (rank == 0)
        all = pnc_memory_alloc_zeroed(n, sizeof *all);
    n = all != NULL;
    MPI_Bcast(&n, 1, MPI_INT, 0, node->delegates);
    if (n && MPI_Gather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, 0, node->delegates) == MPI_SUCCESS &&
        rank == 0)
        print_places(file, all, domains);
    pnc_memory_free(all);
}
