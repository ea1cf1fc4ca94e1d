/* Accesses of ranks that work on their own. */
#include "base/memory.h"
#include "select/sieving.h"
#include "tools/plan/plan.h"

#define MOST_STEPS (1 << 25)    /* that are counted one by one: pieces, and portions */
#define LEAST_STEPS (1 << 14)   /* of a rank, at least: the others count like these */
#define MOST_ACCESSES (1 << 21) /* that are simulated one by one */
#define MOST_REQUESTS (1 << 24) /* for stripes, of these accesses */

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

/* How ranks on their own are counted. */
typedef struct counting {
    bool exclusive;
    int64_t portion; /* bytes */
    int64_t most;    /* steps of a rank */
    int every;       /* one of so many ranks is counted */
    pnc_extent *extents;
} counting;

/* Portions at the begin; the others are like them. */
static plan_accesses count_portions(const plan_call *call, const counting *how, const plan_pieces *pieces)
{
    int64_t n, bytes, done = 0, steps = 0;
    plan_accesses own = {0};
    plan_cursor cursor;

    plan_cursor_begin(&cursor, pieces);
    while (steps < how->most &&
           (n = plan_cursor_take(&cursor, INT64_MAX, how->portion, PNC_PORTION_EXTENTS, how->extents, &bytes)) > 0) {
        count_portion(call, how->extents, n, how->exclusive, &own);
        steps += n + 1;
        done += bytes;
    }
    if (plan_cursor_peek(&cursor) != NULL) {
        double factor = (double)pieces->bytes / (double)done;

        own.n = (int64_t)(factor * (double)own.n);
        own.bytes = (int64_t)(factor * (double)own.bytes);
        own.reads_of_puts = (int64_t)(factor * (double)own.reads_of_puts);
    }
    plan_cursor_end(&cursor);
    return own;
}

static int count_rank(const plan_call *call, int rank, const counting *how, plan_actor *out, plan_accesses *accesses)
{
    plan_accesses own;
    plan_pieces pieces;

    PNC_TRY(plan_pieces_init(call->d, rank, &pieces));
    own = count_portions(call, how, &pieces);
    *out = (plan_actor){.node = rank / call->ranks_per_node,
                        .n = own.n,
                        .runs = pieces.runs,
                        .bytes = own.bytes,
                        .range = pieces.range};
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
    *out = (plan_actor){.node = rank / call->ranks_per_node,
                        .n = like->n,
                        .runs = like->runs,
                        .bytes = like->bytes,
                        .range = pieces.range};
    plan_pieces_free(&pieces);
    return NC_NOERR;
}

static bool takes_part(const plan_call *call, int rank, bool exclusive)
{
    return exclusive || call->is_independent[rank];
}

/* The steps of all ranks that are counted are at most about MOST_STEPS. */
static void choose_steps(const plan_call *call, counting *how)
{
    int64_t steps = call->most_runs + call->bytes / call->nranks / how->portion + 1, all = MOST_STEPS / call->nranks;

    how->most = all > LEAST_STEPS ? all : LEAST_STEPS;
    steps = steps < how->most ? steps : how->most;
    how->every = (int)(steps * call->nranks / MOST_STEPS) + 1;
}

static void add_accesses(const plan_accesses *counted, double factor, plan_accesses *out)
{
    out->n += (int64_t)(factor * (double)counted->n);
    out->bytes += (int64_t)(factor * (double)counted->bytes);
    out->reads_of_puts += (int64_t)(factor * (double)counted->reads_of_puts);
}

/* Returns the number of actors, or a negative code. */
static int make_actors(const plan_call *call, const counting *how, plan_actor *actors, plan_result *out)
{
    plan_accesses accesses = {0};
    int n = 0, counted = 0, err;

    for (int rank = 0; rank < call->nranks; rank++) {
        if (!takes_part(call, rank, how->exclusive))
            continue;
        if (n % how->every == 0)
            err = count_rank(call, rank, how, &actors[n], &accesses);
        else
            err = copy_rank(call, rank, &actors[n - n % how->every], &actors[n]);
        if (err != NC_NOERR)
            return err;
        counted += n++ % how->every == 0;
    }
    if (counted > 0)
        add_accesses(&accesses, (double)n / counted, &out->accesses);
    out->nexamined = out->nexamined > 0 ? out->nexamined : counted;
    return n;
}

int plan_independent_compute(const plan_call *call, pnc_strategy strategy, bool exclusive, plan_result *out)
{
    plan_actor *actors = pnc_memory_alloc(call->nranks, sizeof *actors);
    counting how = {.exclusive = exclusive,
                    .portion = get_portion_bytes(call, strategy),
                    .extents = pnc_memory_alloc(PNC_PORTION_EXTENTS, sizeof *how.extents)};
    double seconds = 0;
    int n, err;

    choose_steps(call, &how);
    n = actors != NULL && how.extents != NULL ? make_actors(call, &how, actors, out) : plan_memory_fail(call);
    err = n < 0 ? n : plan_actors_execute(call, actors, n, &out->lock_moves, &seconds);
    out->access += seconds;
    out->seconds += seconds;
    pnc_memory_free(how.extents);
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

/* Where access i begins: in a run, which has several, behind the ones before; else at about equal distances. */
static int64_t find_offset(const plan_actor *a, int64_t i, int64_t length)
{
    int64_t runs = a->runs > 0 && a->runs < a->n ? a->runs : a->n, run = i * runs / a->n;
    int64_t first = (run * a->n + runs - 1) / runs, space = a->range.high - a->range.low - a->bytes / runs;
    double distance = space > 0 && runs > 1 ? (double)space / (double)(runs - 1) : 0;

    return a->range.low + (int64_t)(distance * (double)run) + (i - first) * length;
}

/* Begin the next access of the actor in front. Returns when it ends. */
static int64_t step(simulation *s)
{
    event *front = &s->heap[0];
    const plan_actor *a = &s->actors[front->actor];
    int64_t i = s->done[front->actor]++, length = a->bytes / a->n > 0 ? a->bytes / a->n : 1;
    plan_access access = {.is_write = s->call->options->direction == PNC_PUT,
                          .node = a->node,
                          .offset = find_offset(a, i, length),
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

/* The accesses of an actor that are simulated, of `most`: its others take as long. */
static int64_t choose_simulated(const plan_call *call, const plan_actor *actors, int n, int64_t most)
{
    int64_t longest = 0, requests, all;

    for (int i = 0; i < n; i++)
        if (actors[i].n > 0 && actors[i].bytes / actors[i].n > longest)
            longest = actors[i].bytes / actors[i].n;
    requests = longest / call->options->fs.unit + 2; /* of an access */
    all = MOST_REQUESTS / requests < MOST_ACCESSES ? MOST_REQUESTS / requests : MOST_ACCESSES;
    return n > 0 && most > all / n ? all / n + 1 : most;
}

int plan_actors_execute(const plan_call *call, const plan_actor *actors, int n, int *lock_moves, double *seconds)
{
    const plan_file_system *fs = &call->options->fs;
    simulation s = {.call = call, .actors = actors, .lock_moves = lock_moves};
    int64_t most = 0;
    int err = NC_NOERR;

    for (int i = 0; i < n; i++)
        most = actors[i].n > most ? actors[i].n : most;
    s.most = choose_simulated(call, actors, n, most);
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
