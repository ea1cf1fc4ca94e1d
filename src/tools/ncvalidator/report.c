/* Reports: findings are collected during decoding, and printed in the order of their offsets. */
#include "tools/ncvalidator/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/codec.h"
#include "tools/common/json.h"
#include "tools/common/message.h"

enum { MOST_FINDINGS = 10000, MOST_RULES = 64 };

void validator_finding_add(report *r, const pnc_finding *found)
{
    *(found->severity == PNC_VIOLATION ? &r->errors : &r->warnings) += 1;
    r->padded += strcmp(found->expected, PNC_RULE_PADDING) == 0;
    r->missing += strcmp(found->expected, PNC_RULE_DATA) == 0;
    if (r->n == MOST_FINDINGS) {
        r->left_out++;
        return;
    }
    if (!pnc_memory_grow(&r->list, &r->capacity, r->n + 1, sizeof *r->list)) {
        r->no_memory = true;
        return;
    }
    r->list[r->n] =
        (finding){found->severity, found->code, found->at, r->n, found->expected, pnc_string_copy(found->found)};
    if (r->list[r->n].found == NULL)
        r->no_memory = true;
    else
        r->n++;
}

static void take_finding(void *who, const pnc_finding *found)
{
    validator_finding_add(who, found);
}

static void take_field(void *who, const pnc_field *field)
{
    report *r = who;

    if (r->json) {
        printf("%s\n    {\"offset\": %" PRId64 ", \"bytes\": %" PRId64 ", \"what\": ", r->nfields > 0 ? "," : "",
               field->at, field->n);
        tool_json_print_string(field->what);
        fputs(", \"value\": ", stdout);
        tool_json_print_string(field->value);
        putchar('}');
    } else {
        printf("%10" PRId64 " %6" PRId64 "  %-36s ", field->at, field->n, field->what);
        tool_text_print(field->value);
        putchar('\n');
    }
    r->nfields++;
}

static int compare_offsets(const void *a, const void *b)
{
    const finding *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->order - y->order;
}

static void trace(const tool_file *file, const char *bytes, int64_t n, report *r)
{
    pnc_observer observer = {r, take_field, NULL};
    pnc_model model;
    int64_t need;

    if (r->json)
        fputs("  \"fields\": [", stdout);
    else
        printf("%10s %6s  %s\n", "byte", "length", "what");
    pnc_format_header_examine(bytes, n, file->size, &observer, &model, &need);
    pnc_format_model_free(&model);
    if (r->json)
        fputs("],\n", stdout);
}

int validator_report_make(tool_file *file, report *r)
{
    static const pnc_observer silent = {NULL, NULL, NULL};
    pnc_observer observer = {r, NULL, take_finding};
    int64_t n, need;
    char *bytes = NULL;
    int code = tool_file_read_header(file, &silent, &bytes, &n);

    if (code == NC_NOERR) {
        pnc_format_model_free(&file->model);
        code = pnc_format_header_examine(bytes, n, file->size, &observer, &file->model, &need);
        if (r->no_memory || code == NC_ENOMEM) {
            tool_error_print("%s: not enough memory for the findings in this file", file->path);
            code = NC_ENOMEM;
        } else {
            code = NC_NOERR;
            if (r->trace)
                trace(file, bytes, n, r);
        }
    }
    pnc_memory_free(bytes);
    if (r->n > 0)
        qsort(r->list, (size_t)r->n, sizeof *r->list, compare_offsets);
    return code;
}

void validator_report_free(report *r)
{
    for (int i = 0; i < r->n; i++)
        pnc_memory_free(r->list[i].found);
    pnc_memory_free(r->list);
    *r = (report){.list = NULL};
}

bool validator_report_is_valid(const report *r)
{
    return r->errors == 0 && (r->padded == 0 || r->lenient) && (r->missing == 0 || !r->strict);
}

/* Warnings of a rule. */
typedef struct fold {
    const char *expected;
    int64_t n;
} fold;

/* Count the warning. True if there were so many of its rule before that it is not shown. */
static bool fold_warning(const finding *f, fold *folds)
{
    int i = 0;

    if (f->severity != PNC_WARNING)
        return false;
    while (folds[i].expected != NULL && strcmp(folds[i].expected, f->expected) != 0)
        i++;
    if (i == MOST_RULES)
        return false;
    folds[i].expected = f->expected;
    return ++folds[i].n > TOOL_WARNINGS_SHOWN;
}

static void print_findings(const report *r)
{
    fold folds[MOST_RULES + 1] = {{NULL, 0}};

    for (int i = 0; i < r->n; i++) {
        const finding *f = &r->list[i];

        if (fold_warning(f, folds))
            continue;
        printf("%s at byte %" PRId64 ": ", f->severity == PNC_VIOLATION ? "Error" : "Warning", f->at);
        tool_text_print(f->found);
        printf(" (expected: %s)\n", f->expected);
    }
    for (int i = 0; i < MOST_RULES && folds[i].expected != NULL; i++)
        if (folds[i].n > TOOL_WARNINGS_SHOWN)
            printf("Warning: and %" PRId64 " more like it (expected: %s); --json shows all.\n",
                   folds[i].n - TOOL_WARNINGS_SHOWN, folds[i].expected);
}

static void print_stored_result(const report *r)
{
    if (validator_report_is_valid(r))
        printf("is a %s file without errors: %" PRId64 " variables were checked, and %" PRId64
               " chunks, which have %" PRId64 " bytes, were decoded.\n",
               r->reader->name, r->variables, r->chunks, r->bytes);
    else
        printf("is a %s file that is damaged or not complete.\n", r->reader->name);
}

static void print_text(const tool_file *file, const report *r)
{
    print_findings(r);
    if (r->left_out > 0)
        printf("%" PRId64 " more errors and warnings are not shown.\n", r->left_out);
    printf("File \"");
    tool_text_print(file->path);
    printf("\" ");
    if (r->reader != NULL)
        print_stored_result(r);
    else if (file->model.format == 0)
        puts("is not a NetCDF classic file.");
    else if (validator_report_is_valid(r))
        printf("is a valid NetCDF classic CDF-%d file.\n", file->model.format);
    else if (r->errors == 0 && (r->padded == 0 || r->lenient))
        printf("is a valid NetCDF classic CDF-%d file, but lacks data, which --strict rejects.\n", file->model.format);
    else
        printf("fails to conform with classic CDF-%d file format specifications%s.\n", file->model.format,
               r->errors == 0 ? " in its padding only; -x repairs it, and --lenient accepts it" : "");
}

static void print_json(const tool_file *file, const report *r)
{
    fputs("  \"file\": ", stdout);
    tool_json_print_string(file->path);
    printf(",\n  \"size\": %" PRId64 ",\n  \"format\": ", file->size);
    if (r->reader != NULL)
        printf("\"%s\",\n  \"variables\": %" PRId64 ",\n  \"chunks\": %" PRId64 ",\n  \"chunk_bytes\": %" PRId64,
               r->reader->name, r->variables, r->chunks, r->bytes);
    else if (file->model.format != 0)
        printf("\"CDF-%d\"", file->model.format);
    else
        fputs("null", stdout);
    printf(",\n  \"valid\": %s,\n  \"errors\": %" PRId64 ",\n  \"warnings\": %" PRId64 ",\n  \"findings\": [",
           validator_report_is_valid(r) ? "true" : "false", r->errors, r->warnings);
    for (int i = 0; i < r->n; i++) {
        const finding *f = &r->list[i];

        printf("%s\n    {\"severity\": \"%s\", \"offset\": %" PRId64 ", \"code\": \"%s\", \"expected\": ",
               i > 0 ? "," : "", f->severity == PNC_VIOLATION ? "error" : "warning", f->at,
               pnc_error_get_name(f->code));
        tool_json_print_string(f->expected);
        fputs(", \"found\": ", stdout);
        tool_json_print_string(f->found);
        putchar('}');
    }
    putchar(']');
}

void validator_report_print(const tool_file *file, const report *r)
{
    if (r->json)
        print_json(file, r);
    else
        print_text(file, r);
}
