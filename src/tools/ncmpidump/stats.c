/* ncmpidump --stats: a line for each variable. The ranks share the blocks of a variable; each has one in memory. */
#include "tools/ncmpidump/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/storage.h"
#include "tools/common/json.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/ncmpidump/dates.h"
#include "tools/ncmpidump/reader.h"
#include "tools/ncmpidump/team.h"

enum { COLUMNS = 9, UNITS = COLUMNS - 1, BITS = UNITS - 1, WARNING_MOST = 160 };

/* A line of the table; NULL where there is nothing to say. */
typedef struct stats_row {
    char *cells[COLUMNS];
} stats_row;

typedef struct stats_table {
    const dump_file *file;
    tool_relations relations;
    stats_row *rows;
    int nrows;
    char *warnings; /* of --bits: lines */
    bool is_later;  /* JSON: not the first variable */
    int err;        /* of the first variable whose values cannot be read; the others are shown */
} stats_table;

/* --- values --- */

/* Blocks of whole chunks, so that each chunk is decoded once. */
static int init_blocks(const dump_file *file, const dump_variable *variable, const int64_t *shape, tool_blocks *blocks)
{
    const int64_t *chunk = variable->var->storage != NULL && variable->var->storage->layout == NC_CHUNKED
                               ? variable->var->storage->chunks
                               : NULL;

    if (file->input.reader != NULL && chunk != NULL && variable->ndims > 0)
        return tool_blocks_init_chunked(variable->ndims, shape, chunk, TOOL_CHUNKED_BLOCK_ELEMENTS, blocks);
    return tool_blocks_init(variable->ndims, shape, blocks);
}

static int add_own_blocks(const dump_file *file, const dump_variable *variable, const tool_meaning *meaning,
                          tool_blocks *blocks, dump_summary *summary)
{
    dump_team *team = file->team;
    char *values = pnc_memory_alloc(blocks->largest, variable->type->size);
    int err = values == NULL ? dump_memory_report(file, variable->name) : NC_NOERR;

    for (int64_t number = team->rank; err == NC_NOERR && tool_blocks_seek(blocks, number); number += team->nprocs) {
        err = tool_file_read_block(&file->input, variable->var, blocks->start, blocks->count, true, values);
        if (err == NC_NOERR)
            dump_summary_add(meaning, values, blocks->length, summary);
        if (err == NC_NOERR && file->options->bits && dump_type_has_bits(meaning->type))
            dump_bits_add(meaning, blocks, values, &summary->bits);
        team->done += blocks->length * (int64_t)variable->type->size * team->nprocs;
        tool_progress_update(&team->progress, team->done);
    }
    pnc_memory_free(values);
    return err;
}

/* Rank 0 gets the summary of all ranks, in their order. Lack of memory ends the file on all ranks; values that cannot
 * be read do not: *failed is the code for these, the same on all ranks. */
static int join_summaries(const dump_file *file, const dump_variable *variable, bool is_real, int err, int *failed,
                          dump_summary *summary)
{
    dump_summary own = *summary, *all = pnc_memory_alloc(file->team->nprocs, sizeof *all);

    *failed = err != NC_ENOMEM ? err : NC_NOERR;
    if (err != NC_ENOMEM)
        err = all == NULL ? dump_memory_report(file, variable->name) : NC_NOERR;
    err = dump_team_agree(file, err);
    if (err == NC_NOERR && file->team->nprocs > 1)
        *failed = tool_status_agree(*failed);
    if (err == NC_NOERR && *failed == NC_NOERR && file->team->nprocs > 1) {
        MPI_Gather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, 0, MPI_COMM_WORLD);
        for (int i = 1; file->team->rank == 0 && i < file->team->nprocs; i++)
            dump_summary_join(variable->type, is_real, &all[i], summary);
    }
    pnc_memory_free(all);
    return err;
}

static bool has_statistics(const cdl_type *type)
{
    return type->class == CDL_SIGNED || type->class == CDL_UNSIGNED || type->class == CDL_REAL;
}

static int summarise(const dump_file *file, const dump_variable *variable, const tool_meaning *meaning,
                     const int64_t *shape, int *failed, dump_summary *summary)
{
    tool_blocks blocks = {0};
    int err = init_blocks(file, variable, shape, &blocks);

    if (err != NC_NOERR)
        dump_memory_report(file, variable->name);
    else
        err = add_own_blocks(file, variable, meaning, &blocks, summary);
    tool_blocks_free(&blocks);
    return join_summaries(file, variable, dump_meaning_is_packed(meaning), err, failed, summary);
}

static double get_mean(const dump_summary *s)
{
    return (s->sum + s->rest) / (double)(s->count - s->missing);
}

/* --- the table --- */

static void print_shape(const dump_variable *variable, const int64_t *shape, FILE *out)
{
    for (int d = 0; d < variable->ndims; d++)
        fprintf(out, "%s%lld", d > 0 ? "x" : "", (long long)shape[d]);
}

typedef struct stats_result {
    const dump_variable *variable;
    const int64_t *shape;
    const tool_meaning *meaning;
    const dump_summary *summary;
    const cdl_type *type; /* of minimum and maximum */
    bool failed;          /* values cannot be read */
    bool as_dates;
    cal_units units;
} stats_result;

static void print_cell(const dump_file *file, const stats_result *r, const cdl_type *type, cdl_value value, FILE *out)
{
    char text[CDL_NUMBER_SIZE];
    cdl_format format;

    tool_cdl_format_set_default(type, 7, &format);
    if (r->as_dates) {
        dump_date_print(file, &r->units, type, value, text);
        text[strcspn(text + 1, "\"") + 1] = '\0'; /* without its quotes */
        tool_text_write(out, text + (text[0] == '"'));
        return;
    }
    tool_cdl_number_print(type, &format, value, text);
    fputs(text, out);
}

static int count_informed_bits(const stats_result *r)
{
    int type = r->variable->var->type;

    return dump_type_has_bits(type) ? dump_bits_count(type, &r->summary->bits) : -1;
}

static void print_bits(const stats_result *r, FILE *out)
{
    int n = count_informed_bits(r);

    if (n < 0)
        fputc('-', out);
    else
        fprintf(out, "%d", n);
}

static void write_cell(const dump_file *file, const stats_result *r, int column, FILE *out)
{
    const dump_summary *s = r->summary;
    const cdl_type *real = tool_cdl_type_find(NC_DOUBLE);
    bool has_values = s->count > s->missing;

    switch (column) {
    case 0: tool_text_write(out, r->variable->escaped); return;
    case 1: fputs(r->variable->type->name, out); return;
    case 2: print_shape(r->variable, r->shape, out); return;
    case 3: fprintf(out, "%lld", (long long)s->missing); return;
    case 4: has_values ? print_cell(file, r, r->type, s->least, out) : (void)fputc('-', out); return;
    case 5: has_values ? print_cell(file, r, r->type, s->most, out) : (void)fputc('-', out); return;
    case 6: has_values ? print_cell(file, r, real, (cdl_value){.r = get_mean(s)}, out) : (void)fputc('-', out); return;
    case BITS: print_bits(r, out); return;
    default: tool_text_write(out, r->as_dates ? "" : r->meaning->units); return;
    }
}

static int add_row(stats_table *table, const stats_result *r)
{
    stats_row *row = &table->rows[table->nrows++];

    for (int c = 0; c < COLUMNS; c++) {
        size_t size = 0;
        FILE *out = open_memstream(&row->cells[c], &size);

        if (out == NULL)
            return dump_memory_report(table->file, r->variable->name);
        if (c > 2 && c < UNITS && (r->failed || !has_statistics(r->variable->type)))
            fputc(r->failed ? '?' : '-', out);
        else
            write_cell(table->file, r, c, out);
        if (fclose(out) != 0)
            return dump_memory_report(table->file, r->variable->name);
    }
    return NC_NOERR;
}

/* Why the bits of a variable are no advice; empty: they are. */
static const char *explain_bits(const stats_result *r, char out[WARNING_MOST])
{
    out[0] = '\0';
    if (count_informed_bits(r) >= 0)
        dump_bits_explain(r->variable->var, &r->summary->bits, out, WARNING_MOST);
    return out;
}

static int add_warning(stats_table *table, const stats_result *r)
{
    char why[WARNING_MOST], *line = NULL, *longer;
    size_t size = 0, used = table->warnings == NULL ? 0 : strlen(table->warnings);
    FILE *out;

    if (explain_bits(r, why)[0] == '\0')
        return NC_NOERR;
    out = open_memstream(&line, &size);
    if (out == NULL)
        return dump_memory_report(table->file, r->variable->name);
    tool_text_write(out, r->variable->escaped);
    fprintf(out, " was rounded before, and its bits are those that were kept: %s\n", why);
    if (fclose(out) != 0)
        return dump_memory_report(table->file, r->variable->name);
    longer = realloc(table->warnings, used + size + 1);
    if (longer != NULL) {
        table->warnings = longer;
        memcpy(longer + used, line, size + 1);
    }
    free(line);
    return longer == NULL ? dump_memory_report(table->file, r->variable->name) : NC_NOERR;
}

/* Row -1 is the head. */
static const char *get_cell(const stats_table *table, int row, int column)
{
    static const char *const head[COLUMNS] = {"variable", "type", "shape", "missing", "minimum",
                                              "maximum",  "mean", "bits",  "units"};

    return row < 0 ? head[column] : table->rows[row].cells[column];
}

static void print_table(const stats_table *table)
{
    int widths[COLUMNS] = {0};

    for (int i = -1; i < table->nrows; i++)
        for (int c = 0; c < COLUMNS; c++) {
            int n = (int)strlen(get_cell(table, i, c));

            widths[c] = n > widths[c] ? n : widths[c];
        }
    for (int i = -1; i < table->nrows; i++) {
        const char *units = get_cell(table, i, UNITS);

        for (int c = 0; c < UNITS; c++)
            if (c != BITS || table->file->options->bits)
                printf("%s%*s", c > 0 ? "  " : "", c < 3 ? -widths[c] : widths[c], get_cell(table, i, c));
        printf("%s%s\n", units[0] != '\0' ? "  " : "", units);
    }
}

/* --- JSON --- */

static void write_json_value(FILE *out, const char *name, const cdl_type *type, const dump_summary *s, cdl_value value)
{
    fprintf(out, ", \"%s\": ", name);
    if (type == NULL || s->count == s->missing)
        fputs("null", out);
    else
        tool_json_number_write(out, type, value);
}

static void write_json_bits(FILE *out, const stats_result *r)
{
    char why[WARNING_MOST];
    int n = count_informed_bits(r);

    fputs(", \"bits\": ", out);
    if (n < 0)
        fputs("null", out);
    else
        fprintf(out, "%d", n);
    if (explain_bits(r, why)[0] == '\0')
        return;
    fputs(", \"rounded\": ", out);
    tool_json_string_write(out, why);
}

static void write_json_row(stats_table *table, const stats_result *r)
{
    FILE *out = table->file->out;
    const dump_summary *s = r->summary;
    const cdl_type *mean = r->type != NULL ? tool_cdl_type_find(NC_DOUBLE) : NULL;
    bool has_mean = s->count > s->missing;

    fprintf(out, "%s\n    {\"name\": ", table->is_later ? "," : "");
    table->is_later = true;
    tool_json_string_write(out, r->variable->name);
    fprintf(out, ", \"type\": \"%s\", \"shape\": [", r->variable->type->name);
    for (int d = 0; d < r->variable->ndims; d++)
        fprintf(out, "%s%lld", d > 0 ? ", " : "", (long long)r->shape[d]);
    if (r->failed)
        fputs("], \"error\": true, \"missing\": null", out);
    else
        fprintf(out, "], \"missing\": %lld", (long long)s->missing);
    write_json_value(out, "minimum", r->type, s, s->least);
    write_json_value(out, "maximum", r->type, s, s->most);
    write_json_value(out, "mean", mean, s, (cdl_value){.r = has_mean ? get_mean(s) : 0});
    if (table->file->options->bits)
        write_json_bits(out, r);
    if (r->meaning->units[0] != '\0') {
        fputs(", \"units\": ", out);
        tool_json_string_write(out, r->meaning->units);
    }
    fputc('}', out);
}

/* --- all variables --- */

/* A damaged chunk does not keep other variables from being shown. */
static int summarise_if_possible(stats_table *table, stats_result *r, dump_summary *summary)
{
    int failed;

    PNC_TRY(summarise(table->file, r->variable, r->meaning, r->shape, &failed, summary));
    if (failed == NC_NOERR)
        return NC_NOERR;
    r->failed = true;
    *summary = (dump_summary){0};
    if (table->err == NC_NOERR)
        table->err = failed;
    return NC_NOERR;
}

static int show_variable(stats_table *table, const dump_variable *variable, const int64_t *shape)
{
    const dump_file *file = table->file;
    tool_meaning meaning = {0};
    dump_summary summary = {0};
    stats_result r = {.variable = variable, .shape = shape, .meaning = &meaning, .summary = &summary};

    if (has_statistics(variable->type)) {
        tool_meaning_load(&file->input.model, &table->relations, variable->id, &meaning);
        r.type = dump_meaning_is_packed(&meaning) ? tool_cdl_type_find(NC_DOUBLE) : variable->type;
        PNC_TRY(summarise_if_possible(table, &r, &summary));
        PNC_TRY(dump_dates_choose(file, variable, &r.units, &r.as_dates));
    }
    if (file->team->rank > 0)
        return NC_NOERR;
    if (!file->options->json && file->options->bits)
        PNC_TRY(add_warning(table, &r));
    if (!file->options->json)
        return add_row(table, &r);
    write_json_row(table, &r);
    return NC_NOERR;
}

static int show_variables(stats_table *table)
{
    const dump_file *file = table->file;
    int err = NC_NOERR;

    for (int i = 0; err == NC_NOERR && i < file->nvars; i++) {
        dump_variable variable;
        int64_t *shape = NULL;

        err = dump_variable_load(file, i, &variable);
        if (err == NC_NOERR && dump_variable_is_wanted(file, &variable)) {
            shape = pnc_memory_alloc(variable.ndims, sizeof *shape);
            err = shape == NULL ? dump_memory_report(file, variable.name) : NC_NOERR;
            if (err == NC_NOERR) {
                tool_file_get_shape(&file->input, variable.var, shape);
                err = show_variable(table, &variable, shape);
            }
        }
        pnc_memory_free(shape);
        dump_variable_free(&variable);
    }
    return err;
}

static void print_beginning(const dump_file *file)
{
    if (file->team->rank > 0)
        return;
    if (file->options->json) {
        fputs("{\"file\": ", file->out);
        tool_json_string_write(file->out, file->options->path);
        fputs(", \"variables\": [", file->out);
    } else if (file->options->npaths > 1) {
        tool_text_write(file->out, file->options->path);
        fputs(":\n", file->out);
    }
}

int dump_stats_print(const dump_file *file)
{
    stats_table table = {.file = file};
    int err = tool_relations_init(&file->input.model, &table.relations);

    table.rows = calloc((size_t)file->nvars + 1, sizeof *table.rows);
    if (err != NC_NOERR || table.rows == NULL)
        err = dump_memory_report(file, NULL);
    err = dump_team_agree(file, err);
    if (err == NC_NOERR) {
        print_beginning(file);
        err = show_variables(&table);
    }
    if (err == NC_NOERR && file->team->rank == 0) {
        if (file->options->json)
            fputs("\n  ]}\n", file->out);
        else
            print_table(&table);
        if (table.warnings != NULL)
            fputs(table.warnings, stdout);
    }
    free(table.warnings);
    for (int i = 0; table.rows != NULL && i < table.nrows; i++)
        for (int c = 0; c < COLUMNS; c++)
            free(table.rows[i].cells[c]);
    free(table.rows);
    tool_relations_free(&table.relations);
    return err != NC_NOERR ? err : table.err;
}
