/* The stripes of a new file. One stripe is on one server: with as many as nodes, each of which has an aggregator, every
 * node writes to a server of its own, and no two of them to the same stripes. */
#include "drivers/new_striping.h"

#include <stdio.h>

#include "base/minmax.h"

#define UNIT (1 << 20)           /* as in the published runs of docs/scaling.md */
#define MOST_ON_SERVER 4         /* a guess: more add requests and locks, but no server */
#define LEAST_BYTES (16LL << 20) /* of a stripe in the whole file: what an aggregator writes in a round */

/* The same number on each server, where they are known and fewer. */
static void limit_by_servers(int64_t servers, pnc_striping_choice *c)
{
    int64_t each = servers > 0 ? c->factor / servers : 0;

    if (each == 0 || c->factor == servers)
        return;
    each = pnc_min64(each, MOST_ON_SERVER);
    while (each > 1 && each * servers > PNC_STRIPING_MOST)
        each--;
    c->factor = each * servers;
    c->on_server = each > 1 ? each : 0;
    c->reason = PNC_STRIPING_AS_SERVERS;
}

static void limit_by_bytes(int64_t expected, pnc_striping_choice *c)
{
    int64_t most = expected / LEAST_BYTES + (expected % LEAST_BYTES > 0);

    if (expected <= 0 || most >= c->factor)
        return;
    c->factor = most;
    c->reason = PNC_STRIPING_AS_BYTES;
}

/* For several nodes, if neither hint nor folder decides. */
static pnc_striping_choice choose_number(const pnc_striping_case *g)
{
    pnc_striping_choice c = {.reason = PNC_STRIPING_AS_NODES, .factor = pnc_min64(g->nnodes, PNC_STRIPING_MOST)};

    limit_by_bytes(g->expected, &c);
    limit_by_servers(g->servers, &c);
    if (g->system.factor == PNC_STRIPING_ALL && c.on_server == 0)
        return (pnc_striping_choice){.reason = PNC_STRIPING_AS_SYSTEM};
    if (g->system.factor > c.factor)
        return (pnc_striping_choice){.reason = PNC_STRIPING_AS_SYSTEM, .factor = g->system.factor};
    return c;
}

/* A folder with one stripe has what most file systems give to all files: it was not chosen for many nodes. */
static bool has_several(const pnc_striping_default *d)
{
    return d->factor == PNC_STRIPING_ALL || d->factor > 1;
}

/* Whether a file of which nothing is chosen would have several stripes. */
static bool gives_several(const pnc_striping_case *g)
{
    return g->folder.factor == 0 && has_several(&g->system);
}

/* What ends the choice. PNC_STRIPING_AS_NODES: nothing does. */
static pnc_striping_reason find_reason(const pnc_striping_case *g)
{
    bool folder_says = g->folder.factor != 0 || g->folder.is_composite;

    if (g->inherits)
        return PNC_STRIPING_INHERITED;
    if (g->is_by_mpi)
        return PNC_STRIPING_BY_MPI;
    if (g->given_factor > 0)
        return PNC_STRIPING_GIVEN;
    if (g->folder.is_composite || (!folder_says && g->system.is_composite))
        return PNC_STRIPING_COMPOSITE;
    if (has_several(&g->folder))
        return PNC_STRIPING_OF_FOLDER;
    if (g->is_of_rank && gives_several(g) && g->expected <= LEAST_BYTES)
        return PNC_STRIPING_OF_RANK;
    return g->nnodes > 1 ? PNC_STRIPING_AS_NODES : PNC_STRIPING_ONE_NODE;
}

pnc_striping_choice pnc_driver_striping_choose(const pnc_striping_case *given)
{
    pnc_striping_choice c = {.reason = find_reason(given)};

    switch (c.reason) {
    case PNC_STRIPING_GIVEN: c.factor = given->given_factor; break;
    case PNC_STRIPING_OF_RANK: c.factor = 1; break;
    case PNC_STRIPING_AS_NODES:
        c = choose_number(given);
        if (c.factor > 0)
            c.unit = pnc_max64(UNIT, pnc_max64(given->folder.unit, given->system.unit));
        break;
    default: return c;
    }
    if (given->given_unit > 0)
        c.unit = given->given_unit;
    return c;
}

const char *pnc_driver_striping_explain(pnc_striping_reason reason)
{
#define TEXT(name, text) text,
    static const char *const texts[] = {PNC_STRIPING_REASONS(TEXT)};
#undef TEXT

    return texts[reason];
}

/* "8 of 1048576 bytes", or what is known of it. */
static void print_number(int64_t factor, int64_t unit, char *text, size_t capacity)
{
    if (factor > 0 && unit > 0)
        snprintf(text, capacity, "%lld of %lld bytes", (long long)factor, (long long)unit);
    else if (factor > 0)
        snprintf(text, capacity, "%lld", (long long)factor);
    else if (unit > 0)
        snprintf(text, capacity, "of %lld bytes", (long long)unit);
    else
        snprintf(text, capacity, "unknown");
}

void pnc_driver_striping_describe(const pnc_new_striping *new_striping, int64_t factor, int64_t unit, char *text,
                                  size_t capacity)
{
    const pnc_striping_choice *c = &new_striping->choice;
    bool differs = (c->factor > 0 && c->factor != factor) || (c->unit > 0 && c->unit != unit);
    bool has_obstacle = new_striping->obstacle[0] != '\0'; /* always if the file is not created */
    char actual[64], chosen[64], on_server[64] = "";

    print_number(factor, unit, actual, sizeof actual);
    print_number(c->factor, c->unit, chosen, sizeof chosen);
    if (c->on_server > 0)
        snprintf(on_server, sizeof on_server, ", %lld on each", (long long)c->on_server);
    if (!differs)
        snprintf(text, capacity, "%s: %s%s", actual, pnc_driver_striping_explain(c->reason), on_server);
    else if (factor == 0 && unit == 0)
        snprintf(text, capacity, "%s; chosen: %s, %s%s", actual, chosen, pnc_driver_striping_explain(c->reason),
                 on_server);
    else
        snprintf(text, capacity, "%s: %s%s; chosen: %s, %s%s", actual,
                 new_striping->is_created ? "" : "the MPI library ignores the hints, and ",
                 has_obstacle ? new_striping->obstacle : "the file system gives no others", chosen,
                 pnc_driver_striping_explain(c->reason), on_server);
}
