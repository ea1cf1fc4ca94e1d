/* Rules that turn counters into advice. Each has a condition with an estimate of the time that its cure would save on
 * an average rank, and a sentence. docs/statistics.md lists them. */
#include "statistics/summary.h"

#include <string.h>

#define COUNT(name) pnc_summary_get_sum(s, PNC_COUNT_##name)

enum {
    SMALL = 10 << 10,     /* bytes of an access that is dominated by its latency */
    SMALL_CALL = 1 << 20, /* bytes of a collective call of all ranks, likewise */
    MANY = 100,           /* what a rank does less often is not worth advice */
};

static double average_time(const pnc_summary *s, pnc_counter counter)
{
    return (double)pnc_summary_get_sum(s, counter) / s->nprocs;
}

/* Of all calls. */
static double total_time(const pnc_summary *s)
{
    double sum = 0;

    for (int i = PNC_COUNT_TIME_DEFINE; i <= PNC_COUNT_TIME_WAIT; i++)
        sum += average_time(s, (pnc_counter)i);
    return sum;
}

/* Accesses of the three smallest classes. */
static int64_t count_small(const pnc_summary *s, pnc_counter first)
{
    int64_t n = 0;

    for (int i = 0; i <= pnc_counter_class_find(SMALL); i++)
        n += pnc_summary_get_sum(s, (pnc_counter)(first + i));
    return n;
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* --- small independent accesses --- */

/* What independent calls of one direction and their system accesses are called and counted. */
typedef struct independent {
    const char *access, *call, *post;
    pnc_counter calls, accesses, smallest, time;
} independent;

static const independent independent_puts = {
    "writes", "put", "iput", PNC_COUNT_PUTS_INDEPENDENT, PNC_COUNT_WRITES, PNC_COUNT_WRITES_100, PNC_COUNT_TIME_WRITE};
static const independent independent_gets = {
    "reads", "get", "iget", PNC_COUNT_GETS_INDEPENDENT, PNC_COUNT_READS, PNC_COUNT_READS_100, PNC_COUNT_TIME_READ};

static double estimate_small(const pnc_summary *s, const independent *kind)
{
    int64_t calls = pnc_summary_get_sum(s, kind->calls), small = count_small(s, kind->smallest);
    int64_t all = pnc_summary_get_sum(s, kind->accesses);

    if (calls / s->nprocs < MANY || small < MANY || share(small, all) < 0.5 || share(small, calls) < 0.5)
        return 0;
    return average_time(s, kind->time) * share(small, all);
}

static void explain_small(const pnc_summary *s, const independent *kind, char *text)
{
    int64_t all = pnc_summary_get_sum(s, kind->accesses);
    char collective[60] = "";

    if (s->nprocs > 1)
        snprintf(collective, sizeof collective, "%s with the _all functions, or ", kind->call);
    snprintf(text, PNC_ADVICE_BYTES,
             "%.0f%% of %lld system %s had at most 10 KiB, from %lld independent %ss: %spost with %s and call "
             "ncmpi_wait_all once",
             100 * share(count_small(s, kind->smallest), all), (long long)all, kind->access,
             (long long)pnc_summary_get_sum(s, kind->calls), kind->call, collective, kind->post);
}

static double estimate_small_writes(const pnc_summary *s)
{
    return estimate_small(s, &independent_puts);
}

static void explain_small_writes(const pnc_summary *s, char *text)
{
    explain_small(s, &independent_puts, text);
}

static double estimate_small_reads(const pnc_summary *s)
{
    return estimate_small(s, &independent_gets);
}

static void explain_small_reads(const pnc_summary *s, char *text)
{
    explain_small(s, &independent_gets, text);
}

/* --- small collective calls --- */

/* Puts that nc_defer_puts has merged with others, as posting them would. */
static int64_t count_merged_puts(const pnc_summary *s)
{
    return COUNT(DEFERRED_PUTS) - COUNT(DEFERRED_WRITES);
}

static int64_t count_calls_of_rank(const pnc_summary *s)
{
    return (COUNT(PUTS_COLLECTIVE) + COUNT(GETS_COLLECTIVE) - count_merged_puts(s)) / s->nprocs;
}

static double estimate_small_calls(const pnc_summary *s)
{
    int64_t calls = count_calls_of_rank(s);

    if (s->nprocs == 1 || calls < MANY || COUNT(COLLECTIVE_BYTES) / calls > SMALL_CALL)
        return 0;
    return average_time(s, PNC_COUNT_TIME_WAIT) + average_time(s, PNC_COUNT_TIME_EXCHANGE);
}

static void explain_small_calls(const pnc_summary *s, char *text)
{
    int64_t calls = count_calls_of_rank(s);
    bool is_for_hint = COUNT(PUTS_COLLECTIVE) > COUNT(GETS_COLLECTIVE) && s->advisable.defers_puts;

    snprintf(text, PNC_ADVICE_BYTES,
             "%lld collective calls moved only %s each, of all ranks: post with iput or iget and call ncmpi_wait_all "
             "once, and the ranks wait for each other once%s",
             (long long)calls, pnc_amount_of_bytes_format((double)COUNT(COLLECTIVE_BYTES) / (double)calls).text,
             is_for_hint ? "; or set the hint nc_defer_puts=enable" : "");
}

/* --- growth of the header --- */

static double estimate_growth(const pnc_summary *s)
{
    double time = average_time(s, PNC_COUNT_TIME_MOVES);

    return time >= total_time(s) / 10 ? time : 0;
}

static void explain_growth(const pnc_summary *s, char *text)
{
    snprintf(text, PNC_ADVICE_BYTES,
             "definitions after the first ncmpi_enddef moved %s of data: define everything first, or: %s",
             pnc_amount_of_bytes_format((double)COUNT(MOVED_BYTES)).text, s->growth);
}

/* --- read-modify-write --- */

static double estimate_holes(const pnc_summary *s)
{
    if (COUNT(READS_OF_PUTS) < MANY || share(COUNT(READS_OF_PUTS), COUNT(WRITES)) < 0.1)
        return 0;
    return (average_time(s, PNC_COUNT_TIME_READ) + average_time(s, PNC_COUNT_TIME_WRITE)) / 2;
}

static void explain_holes(const pnc_summary *s, char *text)
{
    snprintf(text, PNC_ADVICE_BYTES,
             "%lld system reads belong to puts, whose calls leave holes between their values: let one collective call, "
             "or one ncmpi_wait_all, put all values of a range",
             (long long)COUNT(READS_OF_PUTS));
}

/* --- alignment --- */

static double estimate_alignment(const pnc_summary *s)
{
    bool is_large = COUNT(WRITES) > 0 && COUNT(WRITE_BYTES) / COUNT(WRITES) >= s->striping_unit;

    if (s->nnodes == 1 || !is_large || COUNT(PUTS_INDEPENDENT) < COUNT(PUTS_COLLECTIVE) ||
        share(COUNT(WRITES_ALIGNED), COUNT(WRITES)) > 0.5)
        return 0;
    return average_time(s, PNC_COUNT_TIME_WRITE) / 4;
}

static void explain_alignment(const pnc_summary *s, char *text)
{
    char hint[60] = "";

    if (s->advisable.aligns)
        snprintf(hint, sizeof hint, " and set the hint nc_var_align_size=%lld", (long long)s->striping_unit);
    snprintf(text, PNC_ADVICE_BYTES,
             "%.0f%% of the large system writes begin inside a stripe of %s, which nodes then share: put with the _all "
             "functions, or give each rank whole stripes%s",
             100 * (1 - share(COUNT(WRITES_ALIGNED), COUNT(WRITES))),
             pnc_amount_of_bytes_format((double)s->striping_unit).text, hint);
}

/* --- flushes --- */

static double estimate_flushes(const pnc_summary *s)
{
    int64_t calls = COUNT(PUTS_COLLECTIVE) + COUNT(PUTS_INDEPENDENT) + COUNT(WAITS_COLLECTIVE);

    if (COUNT(SYNCS) / s->nprocs < MANY || share(COUNT(SYNCS), calls) < 0.5)
        return 0;
    return average_time(s, PNC_COUNT_TIME_WRITE) / 2;
}

static void explain_flushes(const pnc_summary *s, char *text)
{
    snprintf(text, PNC_ADVICE_BYTES,
             "the file was flushed to disk %lld times, about as often as values were put: call ncmpi_sync only at "
             "checkpoints%s",
             (long long)(COUNT(SYNCS) / s->nprocs), s->advisable.is_shared ? ", and open without NC_SHARE" : "");
}

/* --- writes that could be hidden --- */

/* Several ranks write independent puts before they return. */
static bool has_puts_to_hide(const pnc_summary *s)
{
    int64_t collective = COUNT(PUTS_COLLECTIVE) + COUNT(WAITS_COLLECTIVE);

    return s->nprocs == 1 || COUNT(PUTS_INDEPENDENT) + COUNT(WAITS_INDEPENDENT) < collective;
}

/* In calls of a program that does something else between them. */
static double estimate_hidden(const pnc_summary *s)
{
    double open = average_time(s, PNC_COUNT_TIME_OPEN), write = average_time(s, PNC_COUNT_TIME_WRITE);
    double between = open - total_time(s);
    int64_t calls = COUNT(PUTS_COLLECTIVE) + COUNT(PUTS_INDEPENDENT) + COUNT(WAITS_COLLECTIVE);

    if (!s->advisable.writes_behind || !has_puts_to_hide(s) || COUNT(SYNCS) > calls / 2)
        return 0;
    write = write < between ? write : between;
    return write >= open / 10 ? write : 0;
}

static void explain_hidden(const pnc_summary *s, char *text)
{
    snprintf(text, PNC_ADVICE_BYTES,
             "calls wrote for %s, and between calls the program did something else for %s: the hint "
             "nc_write_behind=enable writes meanwhile",
             pnc_amount_of_time_format(average_time(s, PNC_COUNT_TIME_WRITE)).text,
             pnc_amount_of_time_format(average_time(s, PNC_COUNT_TIME_OPEN) - total_time(s)).text);
}

/* --- chunks --- */

enum { FEW_CHUNKS = 20, MANY_CHUNKS = 1000 }; /* few: advice is not worth while */

static double time_of_chunks(const pnc_summary *s, pnc_counter access)
{
    return average_time(s, PNC_COUNT_TIME_FILTERS) + average_time(s, access);
}

/* The time of accesses to chunks that were accessed before: so many of all. */
static double estimate_again(const pnc_summary *s, int64_t again, int64_t all, pnc_counter access)
{
    return again < FEW_CHUNKS || share(again, all) < 0.25 ? 0 : share(again, all) * time_of_chunks(s, access);
}

static double estimate_written_again(const pnc_summary *s)
{
    return estimate_again(s, COUNT(CHUNKS_WRITTEN_AGAIN), COUNT(CHUNKS_WRITTEN), PNC_COUNT_TIME_WRITE);
}

static void explain_written_again(const pnc_summary *s, char *text)
{
    static const char *const by[] = {"hint nc_chunks", "ncmpi_def_var_chunking", "ncmpicopy --chunks"};

    snprintf(
        text, PNC_ADVICE_BYTES,
        "%.0f%% of %lld chunks were written more than once, as puts fill them in parts, each time to new space in the "
        "file: put whole chunks in one call%s; call ncmpi_sync less often; or choose chunks of the shape of the puts "
        "(%s). A copy by ncmpicopy is compact",
        100 * share(COUNT(CHUNKS_WRITTEN_AGAIN), COUNT(CHUNKS_WRITTEN)), (long long)COUNT(CHUNKS_WRITTEN),
        count_merged_puts(s) > 0 ? "" : ", or post with iput and call ncmpi_wait_all once",
        by[s->chunked[PNC_WRITTEN_AGAIN].chunks]);
    pnc_summary_chunked_explain(&s->chunked[PNC_WRITTEN_AGAIN], PNC_WRITTEN_AGAIN, text);
}

static double estimate_read_again(const pnc_summary *s)
{
    return estimate_again(s, COUNT(CHUNKS_READ_AGAIN), COUNT(CHUNKS_READ), PNC_COUNT_TIME_READ);
}

static void explain_read_again(const pnc_summary *s, char *text)
{
    snprintf(text, PNC_ADVICE_BYTES,
             "%.0f%% of %lld chunks were read more than once, as each of many gets needs a part of them: get more in a "
             "call, with the _all functions; or copy the file to chunks of the shape of the gets (ncmpicopy --chunks)",
             100 * share(COUNT(CHUNKS_READ_AGAIN), COUNT(CHUNKS_READ)), (long long)COUNT(CHUNKS_READ));
    pnc_summary_chunked_explain(&s->chunked[PNC_READ_AGAIN], PNC_READ_AGAIN, text);
}

/* Chunks that are read once, of which gets need little. */
static double estimate_little_used(const pnc_summary *s)
{
    int64_t used = COUNT(GET_BYTES), read = COUNT(CHUNK_BYTES_READ);

    if (COUNT(CHUNKS_READ) - COUNT(CHUNKS_READ_AGAIN) < FEW_CHUNKS || COUNT(CHUNKS_MERGED) > COUNT(CHUNKS_READ) / 4 ||
        read < 4 * used || estimate_read_again(s) > 0)
        return 0;
    return (1 - share(used, read)) * time_of_chunks(s, PNC_COUNT_TIME_READ);
}

static void explain_little_used(const pnc_summary *s, char *text)
{
    static const char *const by[] = {" (hint nc_chunks)", " (ncmpi_def_var_chunking)", ""};

    snprintf(text, PNC_ADVICE_BYTES,
             "gets needed %s of the %s of chunks that they read: copy the file to smaller chunks, or to chunks of the "
             "shape of the gets (ncmpicopy --chunks), or write it so%s",
             pnc_amount_of_bytes_format((double)COUNT(GET_BYTES)).text,
             pnc_amount_of_bytes_format((double)COUNT(CHUNK_BYTES_READ)).text, by[s->chunked[PNC_LITTLE_USED].chunks]);
    pnc_summary_chunked_explain(&s->chunked[PNC_LITTLE_USED], PNC_LITTLE_USED, text);
}

/* Each chunk has its own access, entry of the index and begin of the filters. */
static double estimate_small_chunks(const pnc_summary *s)
{
    int64_t chunks = COUNT(CHUNKS_WRITTEN) + COUNT(CHUNKS_READ);
    double average = share(COUNT(CHUNK_BYTES_WRITTEN) + COUNT(CHUNK_BYTES_READ), chunks);

    if (chunks < MANY_CHUNKS || average >= PNC_SMALL_CHUNK)
        return 0;
    return (1 - average / PNC_SMALL_CHUNK) *
           (time_of_chunks(s, PNC_COUNT_TIME_WRITE) + average_time(s, PNC_COUNT_TIME_READ));
}

static void explain_small_chunks(const pnc_summary *s, char *text)
{
    static const char *const by[] = {"ncmpi_def_var_chunking, hint nc_chunks; ", "ncmpi_def_var_chunking; ", ""};
    int64_t chunks = COUNT(CHUNKS_WRITTEN) + COUNT(CHUNKS_READ);

    snprintf(text, PNC_ADVICE_BYTES,
             "%lld chunks have only %s on average: chunks of 100 KiB to 4 MiB need less time and space "
             "(%sncmpicopy --chunks for a file)",
             (long long)chunks,
             pnc_amount_of_bytes_format(share(COUNT(CHUNK_BYTES_WRITTEN) + COUNT(CHUNK_BYTES_READ), chunks)).text,
             by[s->chunked[PNC_SMALL_CHUNKS].chunks]);
    pnc_summary_chunked_explain(&s->chunked[PNC_SMALL_CHUNKS], PNC_SMALL_CHUNKS, text);
}

/* Without filters, their time is that of asking for them. A hundredth of the time is not worth advice: a guess. */
static double estimate_incompressible(const pnc_summary *s)
{
    double left = share(COUNT(STORED_BYTES_WRITTEN), COUNT(CHUNK_BYTES_WRITTEN));
    double filters = average_time(s, PNC_COUNT_TIME_FILTERS);

    if (COUNT(CHUNKS_WRITTEN) < FEW_CHUNKS || left < 0.9 || COUNT(CHUNKS_READ) > COUNT(CHUNKS_WRITTEN))
        return 0;
    return filters > total_time(s) / 100 ? filters : 0;
}

/* Integers keep all their digits. */
static void explain_incompressible(const pnc_summary *s, char *text)
{
    static const char *const quantize[] = {
        "keep fewer digits of the values (ncmpi_def_var_quantize, hint nc_quantize), or ",
        "keep fewer digits of the values (ncmpi_def_var_quantize), or ", ""};
    static const char *const compress[] = {"hint nc_compression=none", "the program has chosen the filters",
                                           "ncmpicopy --deflate 0"};
    const pnc_chunked_var *var = &s->chunked[PNC_INCOMPRESSIBLE];
    double left = share(COUNT(STORED_BYTES_WRITTEN), COUNT(CHUNK_BYTES_WRITTEN));

    snprintf(text, PNC_ADVICE_BYTES, "filters made chunks only %.0f%% smaller: %sdo not compress them (%s)",
             left < 1 ? 100 - 100 * left : 0, var->is_quantizable ? quantize[var->digits] : "", compress[var->filters]);
    pnc_summary_chunked_explain(&s->chunked[PNC_INCOMPRESSIBLE], PNC_INCOMPRESSIBLE, text);
}

/* --- waiting --- */

/* One rank waits for most of its time, another one for little of it: the ranks arrive at different times. */
static double estimate_imbalance(const pnc_summary *s)
{
    const pnc_spread *wait = &s->counters[PNC_COUNT_TIME_WAIT];

    if (s->nprocs == 1 || (double)wait->most < total_time(s) / 2 || wait->least > wait->most / 4 ||
        wait->most < 100000000)
        return 0;
    return average_time(s, PNC_COUNT_TIME_WAIT);
}

static void explain_imbalance(const pnc_summary *s, char *text)
{
    const pnc_spread *wait = &s->counters[PNC_COUNT_TIME_WAIT];

    snprintf(text, PNC_ADVICE_BYTES,
             "rank %d waited %s in collective calls for slower ranks, rank %d on %s only %s: distribute the work "
             "between the calls more evenly, or let nonblocking requests collect it",
             wait->at_most.rank, pnc_amount_of_time_format((double)wait->most).text, wait->at_least.rank,
             wait->at_least.node, pnc_amount_of_time_format((double)wait->least).text);
}

/* --- the table --- */

static const struct {
    const char *name;
    double (*estimate)(const pnc_summary *s); /* nanoseconds; 0: the rule does not apply */
    void (*explain)(const pnc_summary *s, char *text);
} rules[] = {
    {"small_writes", estimate_small_writes, explain_small_writes},
    {"small_reads", estimate_small_reads, explain_small_reads},
    {"small_calls", estimate_small_calls, explain_small_calls},
    {"growth", estimate_growth, explain_growth},
    {"holes", estimate_holes, explain_holes},
    {"alignment", estimate_alignment, explain_alignment},
    {"flushes", estimate_flushes, explain_flushes},
    {"hidden", estimate_hidden, explain_hidden},
    {"chunks_written_again", estimate_written_again, explain_written_again},
    {"chunks_read_again", estimate_read_again, explain_read_again},
    {"chunks_little_used", estimate_little_used, explain_little_used},
    {"small_chunks", estimate_small_chunks, explain_small_chunks},
    {"incompressible", estimate_incompressible, explain_incompressible},
    {"imbalance", estimate_imbalance, explain_imbalance},
};
#define RULES ((int)(sizeof rules / sizeof *rules))

/* The rule with the largest estimate below `bound`, behind `after` where several have the same; -1: none. */
static int find_next_estimate(const double *estimates, double bound, int after)
{
    int best = -1;

    for (int i = 0; i < RULES; i++)
        if (estimates[i] > 0 && (estimates[i] < bound || (estimates[i] == bound && i > after)) &&
            (best < 0 || estimates[i] > estimates[best]))
            best = i;
    return best;
}

int pnc_summary_find_advice(const pnc_summary *s, pnc_advice out[PNC_ADVICE_MOST])
{
    double estimates[RULES], bound = 1e300;
    int n = 0, length;

    for (int i = 0; i < RULES; i++)
        estimates[i] = rules[i].estimate(s);
    for (int i = find_next_estimate(estimates, bound, -1); i >= 0 && n < PNC_ADVICE_MOST;
         i = find_next_estimate(estimates, bound, i)) {
        out[n].rule = rules[i].name;
        rules[i].explain(s, out[n].text);
        length = (int)strlen(out[n].text);
        snprintf(out[n].text + length, (size_t)(PNC_ADVICE_BYTES - length), " (saves at most %s of %s in calls)",
                 pnc_amount_of_time_format(estimates[i]).text, pnc_amount_of_time_format(total_time(s)).text);
        bound = estimates[i];
        n++;
    }
    return n;
}
