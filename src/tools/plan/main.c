/* The program behind ncmpistat --plan: it prints plans of collective calls as JSON, which ncmpistat shows. */
#include <stdio.h>

#include "drivers/new_striping.h"
#include "tools/common/json.h"
#include "tools/common/message.h"
#include "tools/plan/chunked.h"
#include "tools/plan/plan.h"

static void print_number(const char *name, int64_t value)
{
    printf(",\n   \"%s\": %lld", name, (long long)value);
}

static void print_seconds(const char *name, double value)
{
    printf(",\n   \"%s\": %.9g", name, value);
}

static void print_text(const char *name, const char *text)
{
    printf(",\n   \"%s\": ", name);
    tool_json_print_string(text);
}

static const char *name_of(pnc_strategy strategy)
{
    return pnc_strategy_names[strategy + 1];
}

static void print_grid(const plan_decomposition *d)
{
    printf(",\n   \"grid\": ");
    if (d->map != NULL) {
        printf("null");
        return;
    }
    for (int i = 0; i < d->ngrid; i++)
        printf("%s%lld", i > 0 ? ", " : "[", (long long)d->grid[i]);
    putchar(']');
}

/* What the first rank expects of each strategy. */
static void print_costs(const pnc_access_pattern *p)
{
    printf(",\n   \"strategies\": [");
    for (pnc_strategy s = 0; s < PNC_MPI_IO; s++) {
        pnc_estimate e = pnc_io_strategy_compute_cost(s, p);

        printf(
            "%s\n    {\"name\": \"%s\", \"suitable\": %s, \"seconds\": %.9g, \"accesses\": %.9g, "
            "\"lock_changes\": %.9g, \"copied\": %.9g, \"sent\": %.9g, \"synchronisations\": %.9g}",
            s > 0 ? "," : "", name_of(s), pnc_io_strategy_is_suitable(s, p) ? "true" : "false", e.seconds, e.accesses,
            e.lock_changes, e.copied, e.sent, e.synchronisations);
    }
    printf("]");
}

typedef struct limit_row {
    const char *name;
    double seconds;
} limit_row;
#define LIMIT_ROW(name) {#name, limits->name},

/* By which of them the call is limited. */
static void print_limit_rows(const limit_row *rows, size_t n)
{
    const limit_row *most = rows;

    printf(",\n   \"limits\": {");
    for (size_t i = 0; i < n; i++) {
        printf("%s\"%s\": %.9g", i > 0 ? ", " : "", rows[i].name, rows[i].seconds);
        most = rows[i].seconds > most->seconds ? &rows[i] : most;
    }
    printf("}");
    print_text("limited_by", most->name);
}

static void print_limits(const plan_limits *limits)
{
    const limit_row rows[] = {PLAN_LIMITS(LIMIT_ROW)};

    print_limit_rows(rows, sizeof rows / sizeof *rows);
}

static void print_chunk_limits(const plan_chunk_limits *limits)
{
    const limit_row rows[] = {PLAN_CHUNK_LIMITS(LIMIT_ROW)};

    print_limit_rows(rows, sizeof rows / sizeof *rows);
}

/* What the times follow from. */
static void print_system(const plan_options *o)
{
    const plan_file_system *fs = &o->fs;

    printf(",\n \"system\": {\"machine\": ");
    if (o->machine != NULL)
        tool_json_print_string(o->machine);
    else
        printf("null");
    printf(", \"ranks_per_node\": %lld, \"servers\": %d, \"stripe\": %lld, \"stripe_count\": %lld",
           (long long)o->ranks_per_node, fs->servers, (long long)fs->unit, (long long)o->stripe_count);
    printf(", \"server_mbs\": %.9g, \"link_mbs\": %.9g, \"network_mbs\": %.9g", 1e3 / fs->server_byte,
           1e3 / fs->link_byte, 1e3 / o->network_byte);
    printf(", \"latency_us\": %.9g, \"request_us\": %.9g, \"lock_us\": %.9g, \"message_us\": %.9g}",
           1e-3 * (double)fs->latency, 1e-3 * (double)fs->request, 1e-3 * (double)fs->lock, 1e-3 * o->message);
}

static void print_counts(const plan_result *r)
{
    print_number("aggregators", r->naggregators);
    print_number("rounds", r->traffic.rounds);
    print_number("window", r->window);
    print_number("accesses", r->accesses.n);
    print_number("access_bytes", r->accesses.bytes);
    print_number("reads_of_puts", r->accesses.reads_of_puts);
    print_number("lock_moves", r->lock_moves);
    print_number("messages", r->traffic.messages);
    print_number("message_bytes", r->traffic.message_bytes);
    print_number("node_bytes", r->traffic.node_bytes);
    print_number("messages_of_rank", r->traffic.busiest);
    print_number("reductions", r->reductions);
    print_number("reduction_messages_of_rank", r->reduction_messages);
    print_number("examined", r->nexamined);
}

/* Of a new file on Lustre, whose folder has no layout. */
static void print_striping(const plan_options *o, const plan_result *r)
{
    pnc_striping_case c = {.nnodes = r->nnodes, .servers = o->fs.servers};
    pnc_striping_choice choice = pnc_driver_striping_choose(&c);

    printf(",\n   \"new_file\": {\"stripes\": %lld, \"stripe\": %lld, \"on_server\": %lld, \"reason\": ",
           (long long)choice.factor, (long long)choice.unit, (long long)choice.on_server);
    tool_json_print_string(pnc_driver_striping_explain(choice.reason));
    putchar('}');
}

static void print_plan(const plan_decomposition *d, const plan_result *r)
{
    printf("  {\"ranks\": %d", r->nranks);
    print_number("nodes", r->nnodes);
    print_grid(d);
    print_number("bytes", r->bytes);
    print_number("low", r->range.low);
    print_number("high", r->range.high);
    print_text("strategy", name_of(r->strategy));
    print_number("independent_ranks", r->nindependent);
    print_number("ranks_without_values", r->nidle);
    print_counts(r);
    print_seconds("exchange_seconds", r->exchange);
    print_seconds("access_seconds", r->access);
    print_seconds("seconds", r->seconds);
    print_seconds("hidden_seconds", r->hidden);
    print_seconds("hidden_by_logs_seconds", r->hidden_by_logs);
    print_limits(&r->limits);
    printf(",\n   \"overlaps\": %s", r->overlaps ? "true" : "false");
    printf(",\n   \"accesses_are_estimated\": %s", r->is_estimate ? "true" : "false");
    print_number("memory_of_aggregator", r->memory_aggregator);
    print_number("memory_of_rank", r->memory_rank);
    print_number("memory_of_delays", r->memory_behind);
    print_striping(d->options, r);
    print_costs(&r->pattern);
    putchar('}');
}

static void print_chunk_plan(const plan_decomposition *d, const plan_chunk_result *r)
{
    printf("  {\"ranks\": %d", r->nranks);
    print_number("nodes", r->nnodes);
    print_grid(d);
    print_number("bytes", r->bytes);
    print_number("ranks_without_values", r->nidle);
    print_number("chunk_bytes", r->chunk_bytes);
    print_number("chunks", r->chunks);
    print_number("chunks_of_rank", r->chunks_of_rank);
    print_number("incomplete_chunks", r->incomplete);
    print_number("aggregators", r->naggregators);
    print_number("rounds", r->rounds);
    print_number("accesses", r->accesses);
    print_number("accesses_of_rank", r->accesses_of_rank);
    print_number("access_bytes", r->access_bytes);
    printf(",\n   \"access_bytes_are_estimated\": %s", r->is_filtered ? "true" : "false");
    print_number("messages", r->messages);
    print_number("messages_of_rank", r->messages_of_rank);
    print_number("message_bytes", r->message_bytes);
    print_number("messages_within_nodes", r->messages_within);
    print_number("node_bytes", r->node_bytes);
    print_seconds("exchange_seconds", r->exchange);
    print_seconds("filter_seconds", r->limits.filters);
    print_seconds("access_seconds", r->access);
    print_seconds("seconds", r->seconds);
    print_chunk_limits(&r->limits);
    putchar('}');
}

static void print_head(const plan_options *o)
{
    printf("{\"schema\": \"pnetcdf-plan\", \"version\": 1,\n \"file\": ");
    tool_json_print_string(o->path);
    printf(", \"call\": \"%s\",\n \"variables\": [", o->direction == PNC_PUT ? "put" : "get");
    for (int i = 0; i < o->variables.n; i++) {
        fputs(i > 0 ? ", " : "", stdout);
        tool_json_print_string(o->variables.at[i]);
    }
    printf("]");
    print_system(o);
    printf(",\n \"plans\": [\n");
}

static void begin_plan(const plan_options *o, int i)
{
    if (i == 0)
        print_head(o);
    else
        puts(",");
}

/* The first plan comes before the head: an error message is then the only output. */
static int print_plans(plan_decomposition *d)
{
    const plan_options *o = d->options;

    for (int i = 0; i == 0 || i < o->nranks; i++) {
        plan_result result;
        plan_chunk_result chunks;

        PNC_TRY(plan_decomposition_start(d, o->nranks > 0 ? o->ranks[i] : 0));
        if (d->file.reader != NULL)
            PNC_TRY(plan_chunked_compute(d, &chunks));
        else
            PNC_TRY(plan_call_compute(d, &result));
        begin_plan(o, i);
        if (d->file.reader != NULL)
            print_chunk_plan(d, &chunks);
        else
            print_plan(d, &result);
    }
    puts("]}");
    return NC_NOERR;
}

int main(int argc, char **argv)
{
    plan_options options;
    plan_decomposition d;
    int status;

    tool_program_start("ncmpistat", argv);
    status = plan_options_parse(argc, argv, &options);
    if (status < 0) {
        int err = plan_decomposition_open(&options, &d);

        if (err == NC_NOERR)
            err = print_plans(&d);
        status = err != NC_NOERR;
        plan_decomposition_free(&d);
    }
    tool_names_free(&options.variables);
    return tool_program_end(tool_output_flush(NULL) == NC_NOERR ? status : 1);
}
