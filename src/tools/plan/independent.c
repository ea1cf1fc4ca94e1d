/* Accesses of ranks that work on their own. */
#include "base/memory.h"
#include "select/sieving.h"
#include "tools/plan/plan.h"

#define MOST_PIECES (1 << 25)   /* that are counted one by one */
#define MOST_ACCESSES (1 << 21) /* that are simulated one by one */

/* --- counts --- */

/* Extents that a list of accesses covers one by one, or with the gaps between them. few: lists of so many extents are
 * not sieved. */
static void count_sieved(const pnc_extent *extents, int64_t n, int64_t few, const pnc_sieve_limits *most, bool is_put,
                         plan_accesses *out)
{
    for (int64_t i = 0; i < n;) {
        pnc_sieved some = pnc_select_extents_count_sieved(extents + i, n - i, most);
        bool is_sieved = some.n > few;

        out->n += is_sieved ? 1 : some.n;
        out->bytes += is_sieved ? some.span.length : some.bytes;
        out->reads_of_puts += is_sieved && is_put;
        i += some.n;
    }
}

static void count_portion(const plan_call *call, const pnc_extent *extents, int64_t n, bool exclusive,
                          plan_accesses *out)
{
    const pnc_sieve_limits reads = pnc_select_sieve_get_limits(PNC_SIEVE_READ_GAP, PNC_SIEVE_READ_BYTES);
    const pnc_sieve_limits writes = pnc_select_sieve_get_limits(PNC_SIEVE_WRITE_GAP, PNC_SIEVE_WRITE_BYTES);
    bool is_put = call->options->direction == PNC_PUT;

    if (!is_put)
        count_sieved(extents, n, 1, &reads, false, out);
    else if ((call->nranks == 1 || exclusive) && n > PNC_SIEVE_MIN_EXTENTS)
        count_sieved(extents, n, PNC_SIEVE_MIN_EXTENTS, &writes, true, out);
    else
        for (int64_t i = 0; i < n; i++) {
            out->n++;
            out->bytes += extents[i].length;
        }
}

/* Bytes of a portion: values of one byte need no conversion, those of a get are converted in place. */
static int64_t get_portion_bytes(const plan_call *call, pnc_strategy strategy)
{
    const pnc_var *var = call->d->whole->vars[call->d->varids[0]];
    bool is_direct = pnc_type_get_size(var->type) == 1, in_place = call->options->direction == PNC_GET;

    if (strategy == PNC_MERGED)
        return PNC_MERGED_BYTES < call->options->most_buffer ? PNC_MERGED_BYTES : call->options->most_buffer;
    return pnc_io_portion_get_bytes(true, is_direct, in_place);
}

static int count_rank(const plan_call *call, int rank, pnc_strategy strategy, bool exclusive, pnc_extent *extents,
                      plan_actor *out, plan_accesses *accesses)
{
    int64_t most = get_portion_bytes(call, strategy), n, bytes;
    plan_accesses own = {0};
    plan_pieces pieces;
    plan_cursor cursor;

    PNC_TRY(plan_pieces_init(call->d, rank, &pieces));
    plan_cursor_begin(&cursor, &pieces);
    while ((n = plan_cursor_take(&cursor, INT64_MAX, most, PNC_PORTION_EXTENTS, extents, &bytes)) > 0)
        count_portion(call, extents, n, exclusive, &own);
    plan_cursor_end(&cursor);
    *out = (plan_actor){.node = rank / call->ranks_per_node, .n = own.n, .bytes = own.bytes, .range = pieces.range};
    plan_pieces_free(&pieces);
    accesses->n += own.n;
    accesses->bytes += own.bytes;
    accesses->reads_of_puts += own.reads_of_puts;
    return NC_NOERR;
}

/* A rank that was not counted makes the accesses of one that was, in its own range. */
static int copy_rank(const plan_call *call, int rank, const plan_actor *like, plan_actor *out)
{
    plan_pieces pieces;

    PNC_TRY(plan_pieces_init(call->d, rank, &pieces));
    *out = (plan_actor){.node = rank / call->ranks_per_node, .n = like->n, .bytes = like->bytes, .range = pieces.range};
    plan_pieces_free(&pieces);
    return NC_NOERR;
}

static bool takes_part(const plan_call *call, int rank, bool exclusive)
{
    return exclusive || call->is_independent[rank];
}

/* One of so many ranks is counted; 0 after an error message. portion: bytes. */
static int choose_step(const plan_call *call, int64_t portion)
{
    int64_t steps = call->most_runs + call->bytes / call->nranks / portion;

    if (plan_steps_check(call, steps, MOST_PIECES, "steps of a rank") != NC_NOERR)
        return 0;
    return (int)(steps * call->nranks / MOST_PIECES) + 1;
}

/* Returns the number of actors, or a negative code. */
static int make_actors(const plan_call *call, pnc_strategy strategy, bool exclusive, plan_actor *actors,
                       plan_result *out)
{
    int n = 0, every = choose_step(call, get_portion_bytes(call, strategy)), counted = 0, err;
    pnc_extent *extents = pnc_memory_alloc(PNC_PORTION_EXTENTS, sizeof *extents);
    plan_accesses accesses = {0};

    if (every == 0 || extents == NULL) {
        pnc_memory_free(extents);
        return every == 0 ? NC_EINVAL : plan_memory_fail(call);
    }
    for (int rank = 0; rank < call->nranks; rank++) {
        if (!takes_part(call, rank, exclusive))
            continue;
        if (n % every == 0)
            err = count_rank(call, rank, strategy, exclusive, extents, &actors[n], &accesses);
        else
            err = copy_rank(call, rank, &actors[n - n % every], &actors[n]);
        if (err != NC_NOERR) {
            pnc_memory_free(extents);
            return err;
        }
        counted += n++ % every == 0;
    }
    pnc_memory_free(extents);
    if (counted > 0) {
        double factor = (double)n / counted;

        out->accesses.n += (int64_t)(factor * (double)accesses.n);
        out->accesses.bytes += (int64_t)(factor * (double)accesses.bytes);
        out->accesses.reads_of_puts += (int64_t)(factor * (double)accesses.reads_of_puts);
    }
    out->nexamined = out->nexamined > 0 ? out->nexamined : counted;
    return n;
}

int plan_independent_compute(const plan_call *call, pnc_strategy strategy, bool exclusive, plan_result *out)
{
    plan_actor *actors = pnc_memory_alloc(call->nranks, sizeof *actors);
    int n = actors != NULL ? make_actors(call, strategy, exclusive, actors, out) : plan_memory_fail(call);
    double seconds = 0;
    int err = n < 0 ? n : plan_actors_execute(call, actors, n, &out->lock_moves, &seconds);

    out->access += seconds;
    out->seconds += seconds;
    pnc_memory_free(actors);
    return err;
}

/* --- their time --- */

/* An actor and the time of its next access. */
typedef struct event {
    int64_t time;
    int actor;
} event;

static bool comes_before(const event *a, const event *b)
{
    return a->time != b->time ? a->time < b->time : a->actor < b->actor;
}

static void sift_down(event *heap, int n, int i)
{
    for (int child; 2 * i + 1 < n; i = child) {
        event swapped = heap[i];

        child = 2 * i + 1;
        if (child + 1 < n && comes_before(&heap[child + 1], &heap[child]))
            child++;
        if (!comes_before(&heap[child], &swapped))
            return;
        heap[i] = heap[child];
        heap[child] = swapped;
    }
}

typedef struct simulation {
    const plan_call *call;
    const plan_actor *actors;
    plan_clocks clocks;
    int64_t *links;
    int64_t *done; /* accesses, by actor */
    event *heap;
    int n, *lock_moves;
    int64_t most; /* accesses of an actor that are simulated */
} simulation;

static int64_t count_simulated(const simulation *s, const plan_actor *a)
{
    return a->n < s->most ? a->n : s->most;
}

/* Begin the next access of the actor in front. Returns when it ends. */
static int64_t step(simulation *s)
{
    event *front = &s->heap[0];
    const plan_actor *a = &s->actors[front->actor];
    int64_t i = s->done[front->actor]++, length = a->bytes / a->n > 0 ? a->bytes / a->n : 1;
    int64_t space = a->range.high - a->range.low - length;
    double distance = space > 0 && a->n > 1 ? (double)space / (double)(a->n - 1) : 0;
    plan_access access = {.is_write = s->call->options->direction == PNC_PUT,
                          .node = a->node,
                          .offset = a->range.low + (int64_t)(distance * (double)i),
                          .length = length,
                          .begin = front->time + a->pause};
    int64_t end;

    s->clocks.link = &s->links[a->node];
    end = plan_access_compute_end(&s->call->options->fs, &s->clocks, &access, s->lock_moves);
    front->time = end;
    if (s->done[front->actor] == count_simulated(s, a))
        s->heap[0] = s->heap[--s->n];
    sift_down(s->heap, s->n, 0);
    return end;
}

static int64_t simulate(simulation *s, int n)
{
    int64_t last = 0;

    for (int i = 0; i < n; i++)
        if (s->actors[i].n > 0)
            s->heap[s->n++] = (event){.time = 0, .actor = i};
    while (s->n > 0) {
        int64_t end = step(s);

        last = end > last ? end : last;
    }
    return last;
}

static int64_t find_end(const plan_actor *actors, int n)
{
    int64_t end = 0;

    for (int i = 0; i < n; i++)
        end = actors[i].range.high > end ? actors[i].range.high : end;
    return end;
}

int plan_actors_execute(const plan_call *call, const plan_actor *actors, int n, int *lock_moves, double *seconds)
{
    const plan_file_system *fs = &call->options->fs;
    simulation s = {.call = call, .actors = actors, .lock_moves = lock_moves};
    int64_t most = 0;
    int err = NC_NOERR;

    for (int i = 0; i < n; i++)
        most = actors[i].n > most ? actors[i].n : most;
    s.most = n > 0 && most > MOST_ACCESSES / n ? MOST_ACCESSES / n + 1 : most;
    s.links = pnc_memory_alloc_zeroed(call->nnodes, sizeof *s.links);
    s.done = pnc_memory_alloc_zeroed(n, sizeof *s.done);
    s.heap = pnc_memory_alloc(n, sizeof *s.heap);
    s.clocks.server = pnc_memory_alloc_zeroed(fs->servers, sizeof *s.clocks.server);
    s.clocks.writer = pnc_memory_alloc_zeroed(find_end(actors, n) / fs->unit + 2, sizeof *s.clocks.writer);
    if (s.links == NULL || s.done == NULL || s.heap == NULL || s.clocks.server == NULL || s.clocks.writer == NULL)
        err = plan_memory_fail(call);
    else if (most > 0)
        *seconds = (double)simulate(&s, n) * ((double)most / (double)s.most) / 1e9;
    pnc_memory_free(s.links);
    pnc_memory_free(s.done);
    pnc_memory_free(s.heap);
    pnc_memory_free(s.clocks.server);
    pnc_memory_free(s.clocks.writer);
    return err;
}
