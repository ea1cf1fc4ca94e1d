/* The report for programs. */
#include "statistics/summary.h"

#include <string.h>

#include "base/name.h"

#define SCHEMA_VERSION 1

/* A string. Paths need not be UTF-8: if one is not, its bytes above 127 become those characters. */
static void write_string(const char *text, FILE *file)
{
    bool is_text = pnc_name_is_text(text, strlen(text));

    fputc('"', file);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20 || c == 0x7f || (c > 0x7f && !is_text))
            fprintf(file, "\\u%04x", c);
        else if (c == 0xc2 && (unsigned char)text[1] < 0xa0) /* a control character of Unicode */
            fprintf(file, "\\u%04x", (unsigned char)*++text);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

static void write_place(const char *of, const pnc_place *place, FILE *file)
{
    fprintf(file, ", \"rank_of_%s\": %d, \"node_of_%s\": ", of, place->rank, of);
    write_string(place->node, file);
}

static void write_counters(const pnc_summary *s, FILE *file)
{
    for (int i = 0; i < PNC_COUNTER_N; i++) {
        const pnc_spread *c = &s->counters[i];

        fprintf(file, "    \"%s\": {\"sum\": %lld, \"least\": %lld, \"most\": %lld", pnc_counter_table[i].name,
                (long long)c->sum, (long long)c->least, (long long)c->most);
        write_place("least", &c->at_least, file);
        write_place("most", &c->at_most, file);
        fprintf(file, "}%s\n", i + 1 < PNC_COUNTER_N ? "," : "");
    }
}

static void write_vars(const pnc_summary *s, FILE *file)
{
    for (int i = 0; i < s->nvars; i++) {
        const pnc_var_summary *v = &s->vars[i];

        fprintf(file, "    {\"name\": ");
        write_string(v->name, file);
        fprintf(file, ", \"put_bytes\": %lld, \"get_bytes\": %lld, \"nanoseconds\": %lld}%s\n", (long long)v->put_bytes,
                (long long)v->get_bytes, (long long)v->nanoseconds, i + 1 < s->nvars ? "," : "");
    }
}

static int count_used_regions(const pnc_heat *heat)
{
    int n = PNC_HEAT_BUCKETS;

    while (n > 0 && heat->bytes[0][n - 1] == 0 && heat->bytes[1][n - 1] == 0)
        n--;
    return n;
}

static void write_buckets(const char *name, const int64_t *bytes, int n, FILE *file)
{
    fprintf(file, ", \"%s\": [", name);
    for (int i = 0; i < n; i++)
        fprintf(file, "%s%lld", i > 0 ? ", " : "", (long long)bytes[i]);
    fputc(']', file);
}

static void write_heat(const pnc_heat *heat, FILE *file)
{
    int n = count_used_regions(heat);

    fprintf(file, "{\"bucket\": %lld", (long long)(INT64_C(1) << heat->shift));
    write_buckets("written", heat->bytes[1], n, file);
    write_buckets("read", heat->bytes[0], n, file);
    fputc('}', file);
}

static void write_aggregators(const pnc_summary *s, FILE *file)
{
    const char *before = "";

    fprintf(file, "{\"number\": %lld, \"window\": %lld, \"first\": [", (long long)s->naggregators,
            (long long)s->window);
    for (int i = 0; i < PNC_SUMMARY_AGGREGATORS; i++) {
        const pnc_aggregator_summary *a = &s->aggregators[i];

        if (!a->is_used)
            continue;
        fprintf(file, "%s\n    {\"rank\": %d, \"node\": ", before, a->place.rank);
        write_string(a->place.node, file);
        fprintf(file,
                ", \"low\": %lld, \"high\": %lld, \"writes\": %lld, \"write_bytes\": %lld, \"reads\": %lld, "
                "\"read_bytes\": %lld, \"nanoseconds\": %lld}",
                (long long)a->low, (long long)a->high, (long long)a->writes, (long long)a->write_bytes,
                (long long)a->reads, (long long)a->read_bytes, (long long)a->nanoseconds);
        before = ",";
    }
    fprintf(file, "]}");
}

static void write_advice(const pnc_summary *s, FILE *file)
{
    pnc_advice advice[PNC_ADVICE_MOST];
    int n = pnc_summary_find_advice(s, advice);

    for (int i = 0; i < n; i++) {
        fprintf(file, "    {\"rule\": \"%s\", \"text\": ", advice[i].rule);
        write_string(advice[i].text, file);
        fprintf(file, "}%s\n", i + 1 < n ? "," : "");
    }
}

void pnc_summary_write_json(const pnc_summary *s, FILE *file)
{
    fprintf(file, "{\n  \"schema\": \"pnetcdf-statistics\",\n  \"version\": %d,\n  \"file\": ", SCHEMA_VERSION);
    write_string(s->path, file);
    fprintf(file, ",\n  \"ranks\": %d,\n  \"nodes\": %d,\n  \"striping_unit\": %lld,\n  \"counters\": {\n", s->nprocs,
            s->nnodes, (long long)s->striping_unit);
    write_counters(s, file);
    fprintf(file, "  },\n  \"variables\": [\n");
    write_vars(s, file);
    fprintf(file, "  ],\n  \"heat\": ");
    write_heat(&s->heat, file);
    fprintf(file, ",\n  \"aggregators\": ");
    write_aggregators(s, file);
    fprintf(file, ",\n  \"advice\": [\n");
    write_advice(s, file);
    fprintf(file, "  ]\n}\n");
}
