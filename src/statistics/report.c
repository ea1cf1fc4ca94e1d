/* The report for people: one page for a file. */
#include "statistics/summary.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "spec/constants.h"

#define AGGREGATORS 8 /* that are listed */
#define PATH_BYTES 4096

#define COUNT(name) pnc_summary_get_sum(s, PNC_COUNT_##name)

static double ratio(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static pnc_amount express_bytes(int64_t bytes)
{
    return pnc_amount_of_bytes_format((double)bytes);
}

/* --- where the time goes --- */

static void print_time(const pnc_summary *s, pnc_counter counter, FILE *file)
{
    const pnc_spread *t = &s->counters[counter];

    if (t->most == 0)
        return;
    fprintf(file, "  %-24s%12s%12s%12s   rank %d, %s\n", pnc_counter_table[counter].name + strlen("time_"),
            pnc_amount_of_time_format((double)t->least).text,
            pnc_amount_of_time_format((double)t->sum / s->nprocs).text, pnc_amount_of_time_format((double)t->most).text,
            t->at_most.rank, t->at_most.node);
}

static void print_times(const pnc_summary *s, FILE *file)
{
    fprintf(file, "  %-24s%12s%12s%12s   %s\n", "time of", "least", "average", "most", "on");
    for (int i = PNC_COUNT_TIME_DEFINE; i <= PNC_COUNT_TIME_WAIT; i++)
        print_time(s, (pnc_counter)i, file);
}

/* --- calls --- */

/* ending: of the plural. */
static void print_count(int64_t n, const char *what, const char *ending, bool *any, FILE *file)
{
    if (n == 0)
        return;
    fprintf(file, "%s%lld %s%s", *any ? ", " : "", (long long)n, what, n == 1 ? "" : ending);
    *any = true;
}

static void print_calls(const pnc_summary *s, FILE *file)
{
    bool any = false;

    fprintf(file, "  calls on all ranks: ");
    print_count(COUNT(PUTS_COLLECTIVE), "collective put", "s", &any, file);
    print_count(COUNT(PUTS_INDEPENDENT), "independent put", "s", &any, file);
    print_count(COUNT(GETS_COLLECTIVE), "collective get", "s", &any, file);
    print_count(COUNT(GETS_INDEPENDENT), "independent get", "s", &any, file);
    print_count(COUNT(POSTED), "nonblocking request", "s", &any, file);
    print_count(COUNT(WAITS_COLLECTIVE), "wait_all", "", &any, file);
    print_count(COUNT(WAITS_INDEPENDENT), "wait", "", &any, file);
    fprintf(file, "%s\n", any ? "" : "none that access values");
    fprintf(file, "  values: put %s, got %s; converted %s\n", express_bytes(COUNT(PUT_BYTES)).text,
            express_bytes(COUNT(GET_BYTES)).text, express_bytes(COUNT(CONVERTED_BYTES)).text);
    if (COUNT(DEFERRED_PUTS) > 0)
        fprintf(file, "  deferred (nc_defer_puts): %lld collective put%s, %s, written together in %lld call%s\n",
                (long long)COUNT(DEFERRED_PUTS), COUNT(DEFERRED_PUTS) == 1 ? "" : "s",
                express_bytes(COUNT(DEFERRED_BYTES)).text, (long long)COUNT(DEFERRED_WRITES),
                COUNT(DEFERRED_WRITES) == 1 ? "" : "s");
}

/* --- strategies and aggregators --- */

/* A class of calls: its name, as in its counters, and these. */
static const struct {
    const char *name;
    pnc_counter first, last;
} classes[] = {{"independent_puts", PNC_COUNT_INDEPENDENT_PUTS_DIRECT, PNC_COUNT_INDEPENDENT_PUTS_MERGED},
               {"independent_gets", PNC_COUNT_INDEPENDENT_GETS_DIRECT, PNC_COUNT_INDEPENDENT_GETS_MERGED},
               {"collective_puts", PNC_COUNT_COLLECTIVE_PUTS_DIRECT, PNC_COUNT_COLLECTIVE_PUTS_MPI_IO},
               {"collective_gets", PNC_COUNT_COLLECTIVE_GETS_DIRECT, PNC_COUNT_COLLECTIVE_GETS_MPI_IO}};

static void print_strategies(const pnc_summary *s, FILE *file)
{
    bool any = false;

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        bool any_of_class = false;

        for (int c = classes[i].first; c <= (int)classes[i].last; c++) {
            int64_t n = pnc_summary_get_sum(s, (pnc_counter)c);
            const char *name = pnc_counter_table[c].name + strlen(classes[i].name) + 1;

            if (n == 0)
                continue;
            if (!any_of_class)
                fprintf(file, "%s%.*s %s:", any ? "; " : "  strategies: ", (int)strcspn(classes[i].name, "_"),
                        classes[i].name, strchr(classes[i].name, '_') + 1);
            fprintf(file, "%s %s %lld", any_of_class ? "," : "", name, (long long)n);
            any = any_of_class = true;
        }
    }
    if (any)
        fputs("\n", file);
}

static void report_aggregators(const pnc_summary *s, FILE *file)
{
    int printed = 0;

    if (s->naggregators == 0)
        return;
    fprintf(file, "  aggregators: %lld; a round has %s; file domains in the first one:\n", (long long)s->naggregators,
            express_bytes(s->window).text);
    for (int i = 0; i < PNC_SUMMARY_AGGREGATORS && printed < AGGREGATORS; i++) {
        const pnc_aggregator_summary *a = &s->aggregators[i];

        if (!a->is_used)
            continue;
        fprintf(file, "    rank %d, %s: ", a->place.rank, a->place.node);
        if (a->low < a->high)
            fprintf(file, "bytes %lld to %lld", (long long)a->low, (long long)a->high);
        else
            fprintf(file, "none");
        fprintf(file, "; %lld writes, %s; %lld reads, %s; %s\n", (long long)a->writes,
                express_bytes(a->write_bytes).text, (long long)a->reads, express_bytes(a->read_bytes).text,
                pnc_amount_of_time_format((double)a->nanoseconds).text);
        printed++;
    }
    if (printed < s->naggregators)
        fprintf(file, "    and %lld others\n", (long long)(s->naggregators - printed));
}

/* --- accesses --- */

/* A line below that of the accesses. before: its first words. */
static void print_sizes(const pnc_summary *s, const char *before, pnc_counter first, FILE *file)
{
    fprintf(file, "    %ssizes in bytes:", before);
    for (int i = 0; i < PNC_SIZE_CLASS_N; i++) {
        int64_t n = pnc_summary_get_sum(s, (pnc_counter)(first + i));

        if (n > 0)
            fprintf(file, " %s: %lld;", pnc_size_class_names[i], (long long)n);
    }
    fputs("\n", file);
}

static void print_accesses(const pnc_summary *s, const char *what, pnc_counter first, FILE *file)
{
    int64_t n = pnc_summary_get_sum(s, first), bytes = pnc_summary_get_sum(s, (pnc_counter)(first + 1));
    const int64_t aligned = pnc_summary_get_sum(s, (pnc_counter)(first + 2)),
                  next = pnc_summary_get_sum(s, (pnc_counter)(first + 3)),
                  back = pnc_summary_get_sum(s, (pnc_counter)(first + 4)),
                  gaps = pnc_summary_get_sum(s, (pnc_counter)(first + 5));
    char before[40];

    if (n == 0)
        return;
    fprintf(file, "  system %s: %lld, %s, on average %s; %.0f%% aligned to %s, %.0f%% consecutive, %.0f%% backwards\n",
            what, (long long)n, express_bytes(bytes).text, pnc_amount_of_bytes_format(ratio(bytes, n)).text,
            100 * ratio(aligned, n), express_bytes(s->striping_unit).text, 100 * ratio(next, n), 100 * ratio(back, n));
    snprintf(before, sizeof before, "gaps: %s; ", express_bytes(gaps).text);
    print_sizes(s, before, (pnc_counter)(first + (PNC_COUNT_WRITES_100 - PNC_COUNT_WRITES)), file);
}

static void print_chunks(const char *what, int64_t chunks, int64_t again, int64_t bytes, int64_t stored, FILE *file)
{
    if (chunks > 0)
        fprintf(file, "  chunks %s: %lld, %s, in the file %s (ratio %.2f); %lld more than once\n", what,
                (long long)chunks, express_bytes(bytes).text, express_bytes(stored).text, ratio(bytes, stored),
                (long long)again);
}

static pnc_amount express_average(const pnc_summary *s, pnc_counter time)
{
    return pnc_amount_of_time_format((double)pnc_summary_get_sum(s, time) / s->nprocs);
}

/* What was written and read in the background. Times are those of an average rank. */
static void print_behind(const pnc_summary *s, FILE *file)
{
    if (COUNT(BEHIND_QUEUED) > 0)
        fprintf(file,
                "  behind the program: %s of puts; %s in %lld writes, %s of a rank, of which %s were hidden; calls "
                "waited %s for them, and %lld times for memory; memory: %s\n",
                express_bytes(COUNT(BEHIND_QUEUED)).text, express_bytes(COUNT(BEHIND_BYTES)).text,
                (long long)COUNT(BEHIND_WRITES), express_average(s, PNC_COUNT_BEHIND_BUSY).text,
                express_average(s, PNC_COUNT_BEHIND_HIDDEN).text, express_average(s, PNC_COUNT_BEHIND_DELAY).text,
                (long long)COUNT(BEHIND_FULL), express_bytes(s->counters[PNC_COUNT_BEHIND_MEMORY].most).text);
    if (COUNT(BEHIND_WRITES) > 0)
        print_sizes(s, "", PNC_COUNT_BEHIND_WRITES_100, file);
    if (COUNT(BEHIND_ENCODED) > 0)
        fprintf(file, "  compressed behind the program: %s of values, for which threads took %s of a rank\n",
                express_bytes(COUNT(BEHIND_ENCODED)).text, express_average(s, PNC_COUNT_BEHIND_ENCODING).text);
    if (COUNT(LOG_WRITES) > 0)
        fprintf(file, "  logs: %s in %lld writes; at most %s in a log; %lld times one began again\n",
                express_bytes(COUNT(LOG_BYTES)).text, (long long)COUNT(LOG_WRITES),
                express_bytes(s->counters[PNC_COUNT_LOG_SIZE].most).text, (long long)COUNT(LOG_LAPS));
}

static void print_ahead(const pnc_summary *s, FILE *file)
{
    if (COUNT(AHEAD_BYTES) > 0)
        fprintf(file,
                "  read ahead: %s in %lld reads, %s of a rank, of which %s were hidden; gets used %s, and waited %s; "
                "%s were not used\n",
                express_bytes(COUNT(AHEAD_BYTES)).text, (long long)COUNT(AHEAD_READS),
                express_average(s, PNC_COUNT_AHEAD_BUSY).text, express_average(s, PNC_COUNT_AHEAD_HIDDEN).text,
                express_bytes(COUNT(AHEAD_USED)).text, express_average(s, PNC_COUNT_AHEAD_DELAY).text,
                express_bytes(COUNT(AHEAD_BYTES) - COUNT(AHEAD_USED)).text);
    if (COUNT(AHEAD_READS) > 0)
        print_sizes(s, "", PNC_COUNT_AHEAD_READS_100, file);
    if (COUNT(AHEAD_DECODED) > 0)
        fprintf(file, "  decompressed ahead: %s of the values of chunks that gets have used\n",
                express_bytes(COUNT(AHEAD_DECODED)).text);
    if (COUNT(AHEAD_LACKING) + COUNT(AHEAD_FAILED) > 0)
        fprintf(file,
                "  not read ahead: %s, as nc_write_behind_memory had no space; after %lld gets nothing for the next "
                "one, which was foreseen\n",
                express_bytes(COUNT(AHEAD_LACKING)).text, (long long)COUNT(AHEAD_FAILED));
}

static void print_others(const pnc_summary *s, FILE *file)
{
    print_chunks("written", COUNT(CHUNKS_WRITTEN), COUNT(CHUNKS_WRITTEN_AGAIN), COUNT(CHUNK_BYTES_WRITTEN),
                 COUNT(STORED_BYTES_WRITTEN), file);
    print_chunks("read", COUNT(CHUNKS_READ), COUNT(CHUNKS_READ_AGAIN), COUNT(CHUNK_BYTES_READ),
                 COUNT(STORED_BYTES_READ), file);
    if (COUNT(READS_OF_PUTS) > 0)
        fprintf(file, "  read-modify-write: %lld of these reads\n", (long long)COUNT(READS_OF_PUTS));
    if (COUNT(MPI_IO_CALLS) > 0)
        fprintf(file, "  MPI-IO with file views: %lld calls, %s\n", (long long)COUNT(MPI_IO_CALLS),
                express_bytes(COUNT(MPI_IO_BYTES)).text);
    if (COUNT(ROUNDS) + COUNT(NODE_BYTES) + COUNT(MESSAGES) > 0)
        fprintf(file, "  exchange: %s within nodes; %s between nodes in %lld messages\n",
                express_bytes(COUNT(NODE_BYTES)).text, express_bytes(COUNT(MESSAGE_BYTES)).text,
                (long long)COUNT(MESSAGES));
    print_behind(s, file);
    print_ahead(s, file);
    fprintf(file, "  header: %s; moved by growth: %s; flushes: %lld; agreements of a rank: %lld\n",
            express_bytes(COUNT(HEADER_BYTES)).text, express_bytes(COUNT(MOVED_BYTES)).text,
            (long long)s->counters[PNC_COUNT_SYNCS].most, (long long)s->counters[PNC_COUNT_AGREEMENTS].most);
    fprintf(file, "  peak memory of a process: %s; the library allocated at most %s\n",
            express_bytes(s->counters[PNC_COUNT_PEAK_MEMORY].most).text,
            express_bytes(s->counters[PNC_COUNT_PEAK_MEMORY_OF_LIBRARY].most).text);
}

static void print_vars(const pnc_summary *s, FILE *file)
{
    for (int i = 0; i < s->nvars; i++) {
        const pnc_var_summary *v = &s->vars[i];
        char name[NC_MAX_NAME + 1];

        snprintf(name, sizeof name, "%s", v->name);
        pnc_text_make_plain(name);
        fprintf(file, "  %-24s%12s put%12s got%12s\n", name, express_bytes(v->put_bytes).text,
                express_bytes(v->get_bytes).text, pnc_amount_of_time_format((double)v->nanoseconds / s->nprocs).text);
    }
}

void pnc_summary_print(const pnc_summary *s, FILE *file)
{
    pnc_advice advice[PNC_ADVICE_MOST];
    int n = pnc_summary_find_advice(s, advice);
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s", s->path);
    pnc_text_make_plain(path);
    fprintf(file, "PnetCDF statistics of %s: %d rank%s on %d node%s, open for %s\n", path, s->nprocs,
            s->nprocs == 1 ? "" : "s", s->nnodes, s->nnodes == 1 ? "" : "s",
            pnc_amount_of_time_format((double)s->counters[PNC_COUNT_TIME_OPEN].most).text);
    if (COUNT(RANKS) < s->nprocs)
        fprintf(file, "  %lld ranks had no memory for statistics: their calls are missing\n",
                (long long)(s->nprocs - COUNT(RANKS)));
    print_times(s, file);
    print_calls(s, file);
    print_strategies(s, file);
    print_accesses(s, "writes", PNC_COUNT_WRITES, file);
    print_accesses(s, "reads", PNC_COUNT_READS, file);
    print_others(s, file);
    report_aggregators(s, file);
    if (s->nvars > 0)
        fprintf(file, "  variables with most time (average of a rank):\n");
    print_vars(s, file);
    for (int i = 0; i < n; i++)
        fprintf(file, "  advice: %s\n", advice[i].text);
}
