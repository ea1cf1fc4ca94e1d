/* Hints: from MPI_Info and PNETCDF_HINTS into the dataset, and back as a report. */
#include "dataset/hints.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/checksum.h"
#include "dataset/environment.h"
#include "dataset/hints_effect.h"
#include "dataset/hints_text.h"
#include "dataset/storage_hints.h"
#include "drivers/driver.h"
#include "file/log.h"
#include "io/choose/costs.h"

/* Reporters, which rows name: each writes the value in effect of a hint, at most MPI_MAX_INFO_VAL characters. */
static void report_number(const pnc_dataset *ds, const pnc_hint *hint, char *value);
static void report_alignment(const pnc_dataset *ds, const pnc_hint *hint, char *value);
static void report_reserve(const pnc_dataset *ds, const pnc_hint *hint, char *value);
static void report_word(const pnc_dataset *ds, const pnc_hint *hint, char *value);
static void report_driver(const pnc_dataset *ds, const pnc_hint *hint, char *value);
static void report_ability(const pnc_dataset *ds, const pnc_hint *hint, char *value);

/* Readers, which rows name. */
static bool read_costs(const char *text, pnc_hints *out)
{
    out->access.has_costs = pnc_io_costs_parse(text, &out->access.costs);
    return out->access.has_costs;
}

/* The text itself is read where the logs are made. */
static bool read_folder(const char *text, pnc_hints *out)
{
    (void)out;
    return text[0] != '\0';
}

/* The same, where a file that has logs is opened. */
static bool read_stamp(const char *text, pnc_hints *out)
{
    (void)out;
    return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

#define PNC_HINT_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define PNC_HINT_ROW(hint, class, given, meaning) {.name = hint, .kind = class, .value = given, .text = meaning},
#define PNC_HINT_CHOICE_ROW(hint, member, first, list, reporter, meaning) \
    {.name = hint,                                                        \
     .kind = PNC_HINT_CHOICE,                                             \
     .value = first,                                                      \
     .text = meaning,                                                     \
     .field = offsetof(pnc_hints, member),                                \
     .report = reporter,                                                  \
     .words = list},
#define PNC_HINT_SIZE_ROW(hint, member, unset, low, high, under, grain, reporter, meaning) \
    {.name = hint,                                                                         \
     .kind = PNC_HINT_SIZE,                                                                \
     .value = "",                                                                          \
     .text = meaning,                                                                      \
     .field = offsetof(pnc_hints, member),                                                 \
     .report = reporter,                                                                   \
     .otherwise = unset,                                                                   \
     .least = low,                                                                         \
     .most = high,                                                                         \
     .below = under,                                                                       \
     .multiple = grain},
#define PNC_HINT_TEXT_ROW(hint, reader, meaning) \
    {.name = hint, .kind = PNC_HINT_TEXT, .value = "", .text = meaning, .read = reader},
#define PNC_HINT_PASSED_SIZE_ROW(hint, low, high, meaning) \
    {.name = hint, .kind = PNC_HINT_NUMBER, .value = "", .text = meaning, .least = low, .most = high},
const pnc_hint pnc_hint_table[] = {
#include "spec/hint_table.h"
};
#define HINTS ((int)(sizeof pnc_hint_table / sizeof pnc_hint_table[0]))
const int pnc_hint_count = HINTS;
_Static_assert(HINTS <= PNC_HINTS_MOST, "PNC_HINTS_MOST is too small");

const pnc_hint *pnc_dataset_hint_find(const char *name)
{
    for (int i = 0; i < HINTS; i++)
        if (strcmp(pnc_hint_table[i].name, name) == 0)
            return &pnc_hint_table[i];
    return NULL;
}

int pnc_dataset_hint_find_choice(const pnc_hint *hint, const char *text)
{
    if (hint->words == pnc_driver_names)
        return pnc_driver_find(text);
    for (int i = 0; hint->words[i] != NULL; i++)
        if (strcmp(hint->words[i], text) == 0)
            return i;
    return -1;
}

bool pnc_dataset_hints_get(MPI_Info info, const char *key, char *value)
{
    int found = 0;

    return info != MPI_INFO_NULL && MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found) == MPI_SUCCESS && found;
}

static bool parse_integer(const char *text, int64_t *out)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno != 0 || end == text)
        return false;
    while (isspace((unsigned char)*end))
        end++;
    if (*end != '\0')
        return false;
    *out = number;
    return true;
}

bool pnc_dataset_hint_parse_size(const pnc_hint *hint, const char *text, int64_t *out)
{
    int64_t number;

    if (!parse_integer(text, &number) || (number < hint->least && hint->below == PNC_BELOW_SENSELESS))
        return false;
    if (number < hint->least)
        number = hint->below == PNC_BELOW_MOST && number < 0 ? hint->most : hint->least;
    if (number > hint->most)
        number = hint->most;
    *out = (number + hint->multiple - 1) / hint->multiple * hint->multiple;
    return true;
}

static bool is_within_limits(const pnc_hint *hint, const char *text)
{
    int64_t number;

    return parse_integer(text, &number) && number >= hint->least && number <= hint->most;
}

bool pnc_dataset_hint_is_valid(const pnc_hint *hint, const char *text)
{
    pnc_hints unused;
    int64_t number;

    switch (hint->kind) {
    case PNC_HINT_NUMBER: return is_within_limits(hint, text);
    case PNC_HINT_SIZE:
        return pnc_dataset_hint_is_passed(hint) ? is_within_limits(hint, text)
                                                : pnc_dataset_hint_parse_size(hint, text, &number);
    case PNC_HINT_CHOICE: return pnc_dataset_hint_find_choice(hint, text) >= 0;
    case PNC_HINT_TEXT: return hint->read(text, &unused);
    default: return true;
    }
}

/* --- in --- */

static int add_hints(MPI_Info from, MPI_Info to, pnc_error *error)
{
    int n = 0;

    MPI_Info_get_nkeys(from, &n);
    for (int i = 0; i < n; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];

        if (MPI_Info_get_nthkey(from, i, key) == MPI_SUCCESS && pnc_dataset_hints_get(from, key, value) &&
            MPI_Info_set(to, key, value) != MPI_SUCCESS)
            return pnc_error_set(error, NC_EMPI, "MPI_Info_set failed for hint %s=%s", key, value);
    }
    return NC_NOERR;
}

/* Create *info, unless it exists already. */
static int create_info(const pnc_dataset *ds, MPI_Info *info)
{
    if (*info != MPI_INFO_NULL || MPI_Info_create(info) == MPI_SUCCESS)
        return NC_NOERR;
    *info = MPI_INFO_NULL;
    return pnc_error_set(ds->file.error, NC_EMPI, "%s: MPI_Info_create failed for the hints", ds->file.path);
}

/* Copy the hints of the program to ds->info, which stays MPI_INFO_NULL if there are none. */
static int copy_info(pnc_dataset *ds, MPI_Info user)
{
    int n = 0;

    if (user != MPI_INFO_NULL)
        MPI_Info_get_nkeys(user, &n);
    if (n == 0 || MPI_Info_dup(user, &ds->info) == MPI_SUCCESS)
        return NC_NOERR;
    ds->info = MPI_INFO_NULL;
    return pnc_error_set(&ds->error, NC_EMPI, "%s: MPI_Info_dup failed for the hints", ds->file.path);
}

/* ds->environment holds only the hints of the list. */
int pnc_dataset_hints_merge(pnc_dataset *ds, MPI_Info user, const char *list)
{
    PNC_TRY(copy_info(ds, user));
    if (list == NULL)
        return NC_NOERR;
    PNC_TRY(create_info(ds, &ds->info));
    PNC_TRY(create_info(ds, &ds->environment));
    PNC_TRY(pnc_dataset_hints_parse(list, ds->file.path, ds->file.rank == 0, ds->environment, &ds->error));
    return add_hints(ds->environment, ds->info, &ds->error);
}

static int merge_default(pnc_dataset *ds, const char *key, const char *value)
{
    char unused[MPI_MAX_INFO_VAL + 1];

    if (value[0] == '\0' || pnc_dataset_hints_get(ds->environment, key, unused))
        return NC_NOERR;
    if (MPI_Info_set(ds->environment, key, value) == MPI_SUCCESS && MPI_Info_set(ds->info, key, value) == MPI_SUCCESS)
        return NC_NOERR;
    return pnc_error_set(&ds->error, NC_EMPI, "MPI_Info_set failed for hint %s=%s", key, value);
}

/* SECONDS or SECONDS,ACTION; what is malformed is a hint with a value that cannot be used, and is reported as such. */
static int merge_timeout(pnc_dataset *ds, const char *given)
{
    const char *comma = strchr(given, ',');
    char seconds[40] = "", action[40] = "";

    snprintf(seconds, sizeof seconds, "%.*s", (int)strcspn(given, ","), given);
    snprintf(action, sizeof action, "%s", comma == NULL ? "" : comma + 1);
    PNC_TRY(merge_default(ds, "nc_timeout", seconds));
    return merge_default(ds, "nc_timeout_action", action);
}

static bool has_path(const char *item, size_t n, const char *key)
{
    size_t length = strlen(key);

    return n > length && strncmp(item, key, length) == 0;
}

/* 0, or a list of 1, json:PATH and trace:PATH. Anything else is a hint with a value that cannot be used, and is
 * reported as such. What the program requests remains. */
static int merge_stats(pnc_dataset *ds, const char *given)
{
    char unused[MPI_MAX_INFO_VAL + 1];
    bool prints = false;
    size_t n;

    if (strcmp(given, "0") == 0)
        return merge_default(ds, "nc_stats", "disable");
    for (const char *item = given; *item != '\0'; item += n + (item[n] == ',')) {
        n = strcspn(item, ",");
        if (n == 1 && item[0] == '1')
            prints = true;
        else if (!has_path(item, n, "json:") && !has_path(item, n, "trace:"))
            return merge_default(ds, "nc_stats", given);
    }
    if (prints)
        return merge_default(ds, "nc_stats", "enable");
    return pnc_dataset_hints_get(ds->info, "nc_stats", unused) ? NC_NOERR : merge_default(ds, "nc_stats", "keep");
}

int pnc_dataset_hints_merge_environment(pnc_dataset *ds)
{
    const char *timeout = getenv("PNETCDF_TIMEOUT"), *stats = getenv("PNETCDF_STATS");

    if (timeout == NULL && stats == NULL)
        return NC_NOERR;
    PNC_TRY(create_info(ds, &ds->info));
    PNC_TRY(create_info(ds, &ds->environment));
    if (timeout != NULL)
        PNC_TRY(merge_timeout(ds, timeout));
    return stats != NULL && stats[0] != '\0' ? merge_stats(ds, stats) : NC_NOERR;
}

/* Whether this rank has been given a time limit at all. */
static bool may_have_timeout(MPI_Info info, const char *list)
{
    char unused[MPI_MAX_INFO_VAL + 1];

    return getenv("PNETCDF_TIMEOUT") != NULL || (list != NULL && strstr(list, "nc_timeout") != NULL) ||
           pnc_dataset_hints_get(info, "nc_timeout", unused);
}

void pnc_dataset_hints_find_timeout(MPI_Info info, pnc_hints *hints)
{
    const char *list = getenv("PNETCDF_HINTS");
    pnc_dataset only = {.info = MPI_INFO_NULL, .environment = MPI_INFO_NULL};
    int err;

    if (!may_have_timeout(info, list))
        return;
    only.file = (pnc_file){.path = (char *)"", .rank = -1, .error = &only.error};
    err = pnc_dataset_hints_merge(&only, info, list);
    if (err == NC_NOERR)
        err = pnc_dataset_hints_merge_environment(&only);
    if (err == NC_NOERR)
        pnc_dataset_hints_set(&only);
    if (only.info != MPI_INFO_NULL)
        MPI_Info_free(&only.info);
    if (only.environment != MPI_INFO_NULL)
        MPI_Info_free(&only.environment);
    hints->timeout = only.hints.timeout;
    hints->timeout_action = only.hints.timeout_action;
}

int64_t pnc_dataset_hints_get_limit(const pnc_hints *hints)
{
    return hints->timeout_action == PNC_TIMEOUT_WARNS ? 0 : hints->timeout;
}

int64_t pnc_dataset_hints_get_patience(const pnc_hints *hints, bool safe)
{
    if (hints->timeout_action == PNC_TIMEOUT_WARNS && hints->timeout > 0)
        return hints->timeout;
    return safe ? PNC_WATCH_SAFE_SECONDS : PNC_WATCH_SECONDS;
}

static int64_t *field_of(pnc_hints *hints, const pnc_hint *hint)
{
    return (int64_t *)((char *)hints + hint->field);
}

static int64_t get_field(const pnc_hints *hints, const pnc_hint *hint)
{
    return *(const int64_t *)((const char *)hints + hint->field);
}

static int choice_of(MPI_Info info, const pnc_hint *hint)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int number = pnc_dataset_hints_get(info, hint->name, value) ? pnc_dataset_hint_find_choice(hint, value) : 0;

    return number < 0 ? 0 : number;
}

const pnc_hint *pnc_dataset_hint_find_decisive(const pnc_dataset *ds, const pnc_hint *hint, const char **source,
                                               int64_t *out)
{
    const struct {
        MPI_Info info;
        const char *name;
    } sources[] = {{ds->environment, "PNETCDF_HINTS"}, {ds->info, "MPI_Info"}};
    char value[MPI_MAX_INFO_VAL + 1];

    for (int k = 0; k < 2; k++)
        for (int i = 0; i < HINTS && sources[k].info != MPI_INFO_NULL; i++) {
            const pnc_hint *row = &pnc_hint_table[i];

            if (row->kind == PNC_HINT_SIZE && row->field == hint->field &&
                pnc_dataset_hints_get(sources[k].info, row->name, value) &&
                pnc_dataset_hint_parse_size(row, value, out)) {
                *source = sources[k].name;
                return row;
            }
        }
    return NULL;
}

/* Of cb_config_list the aggregators need the text. A longer one has an effect on MPI-IO only. */
static void copy_config_list(pnc_dataset *ds)
{
    char value[MPI_MAX_INFO_VAL + 1], *list = ds->hints.access.config_list;

    list[0] = '\0';
    if (pnc_dataset_hints_get(ds->info, "cb_config_list", value) && strlen(value) < sizeof ds->hints.access.config_list)
        strcpy(list, value);
}

void pnc_dataset_hints_set(pnc_dataset *ds)
{
    ds->hints.format.layout = (pnc_layout_hints){-1, -1, -1, -1};
    ds->hints.access.display = pnc_dataset_environment_is_on("PNETCDF_HINTS_DISPLAY", false);
    copy_config_list(ds);
    ds->hints.access.costs = (pnc_costs){0};
    ds->hints.access.has_costs = false;
    for (int i = 0; i < HINTS; i++) {
        const pnc_hint *hint = &pnc_hint_table[i];
        char value[MPI_MAX_INFO_VAL + 1];
        const char *source;

        if (hint->kind == PNC_HINT_SIZE &&
            pnc_dataset_hint_find_decisive(ds, hint, &source, field_of(&ds->hints, hint)) == NULL)
            *field_of(&ds->hints, hint) = hint->otherwise;
        if (hint->kind == PNC_HINT_CHOICE)
            *field_of(&ds->hints, hint) = choice_of(ds->info, hint);
        if (hint->kind == PNC_HINT_TEXT && pnc_dataset_hints_get(ds->info, hint->name, value))
            (void)hint->read(value, &ds->hints);
    }
}

/* Open MPI would report them. */
static void delete_patterns(MPI_Info info)
{
    char key[MPI_MAX_INFO_KEY + 1];
    int n = 0;

    MPI_Info_get_nkeys(info, &n);
    while (n-- > 0)
        if (MPI_Info_get_nthkey(info, n, key) == MPI_SUCCESS && pnc_dataset_storage_hint_find(key) != NULL)
            MPI_Info_delete(info, key);
}

MPI_Info pnc_dataset_hints_create_passed(const pnc_dataset *ds)
{
    char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info passed;

    if (ds->info == MPI_INFO_NULL || MPI_Info_dup(ds->info, &passed) != MPI_SUCCESS)
        return MPI_INFO_NULL;
    for (int i = 0; i < HINTS; i++) {
        const pnc_hint *hint = &pnc_hint_table[i];

        if (hint->kind != PNC_HINT_CHOICE && pnc_dataset_hint_is_passed(hint) &&
            pnc_dataset_hints_get(passed, hint->name, value) && !pnc_dataset_hint_is_valid(hint, value))
            MPI_Info_delete(passed, hint->name);
    }
    delete_patterns(passed);
    return passed;
}

int pnc_dataset_hints_choose_driver(const char *path, MPI_Info user, pnc_driver_stack *stack, const pnc_store_ops **out,
                                    pnc_error *error)
{
    const char *list = getenv("PNETCDF_HINTS");
    char value[MPI_MAX_INFO_VAL + 1];
    const pnc_hint *hint = pnc_dataset_hint_find("nc_driver");
    int err = NC_NOERR;
    MPI_Info environment;

    *out = pnc_driver_get(pnc_driver_choose(choice_of(user, hint), path), stack);
    if (list == NULL)
        return NC_NOERR;
    if (MPI_Info_create(&environment) != MPI_SUCCESS)
        return pnc_error_set(error, NC_EMPI, "%s: MPI_Info_create failed for PNETCDF_HINTS", path);
    err = pnc_dataset_hints_parse(list, path, false, environment, error);
    if (err == NC_NOERR && pnc_dataset_hints_get(environment, "nc_driver", value))
        *out = pnc_driver_get(pnc_driver_choose(choice_of(environment, hint), path), stack);
    MPI_Info_free(&environment);
    return err;
}

/* --- out --- */

static void report_number(const pnc_dataset *ds, const pnc_hint *hint, char *value)
{
    snprintf(value, MPI_MAX_INFO_VAL, "%lld", (long long)get_field(&ds->hints, hint));
}

/* Without the hint: the argument of the last ncmpi__enddef, or the default. */
static void report_alignment(const pnc_dataset *ds, const pnc_hint *hint, char *value)
{
    bool of_records = hint->field == offsetof(pnc_hints, format.layout.r_align);
    int64_t number = get_field(&ds->hints, hint);
    pnc_format_layout layout;

    value[0] = '\0';
    if (ds->format->ops->has_storage) /* no header, no layout */
        return;
    if (number <= 0) {
        ds->format->ops->get_layout(ds->format, &layout);
        number = of_records ? layout.r_align : layout.v_align;
    }
    snprintf(value, MPI_MAX_INFO_VAL, "%lld", (long long)number);
}

/* Without the hint: the free space that the last enddef used, by its argument or by default. */
static void report_reserve(const pnc_dataset *ds, const pnc_hint *hint, char *value)
{
    int64_t given = get_field(&ds->hints, hint);

    value[0] = '\0'; /* programs pass what is reported to other files: a default would be a given value there */
    if (given >= 0 && !ds->format->ops->has_storage)
        snprintf(value, MPI_MAX_INFO_VAL, "%lld", (long long)given);
}

static void report_word(const pnc_dataset *ds, const pnc_hint *hint, char *value)
{
    snprintf(value, MPI_MAX_INFO_VAL, "%s", hint->words[get_field(&ds->hints, hint)]);
}

/* The names of the drivers, even if an alias was given. */
static void report_driver(const pnc_dataset *ds, const pnc_hint *hint, char *value)
{
    (void)hint;
    snprintf(value, MPI_MAX_INFO_VAL, "%s", ds->file.driver->name);
}

/* What a driver cannot do is not in effect. */
static void report_ability(const pnc_dataset *ds, const pnc_hint *hint, char *value)
{
    const pnc_store *store = ds->file.store;
    int64_t used = get_field(&ds->hints, hint);
    char why[PNC_HINT_EFFECT_BYTES];

    if (hint->field == offsetof(pnc_hints, whole_files) && store->ops->publish == NULL)
        used = 0;
    if (hint->field == offsetof(pnc_hints, write_behind) && pnc_dataset_hint_explain_behind(ds) != NULL)
        used = 0;
    if (hint->field == offsetof(pnc_hints, burst_buf) && pnc_dataset_hint_explain_log(ds, why))
        used = 0;
    if (hint->field == offsetof(pnc_hints, defer_puts) &&
        (ds->deferred.most == 0 || pnc_file_log_is_for_values(&ds->file)))
        used = 0;
    if (hint->field == offsetof(pnc_hints, references) && (ds->file.driver->local_path == NULL || ds->file.read_only))
        used = 0;
    if (hint->field == offsetof(pnc_hints, checksum) && pnc_dataset_checksum_explain(ds) != NULL)
        used = 0;
    if (hint->field == offsetof(pnc_hints, prefetch) && pnc_dataset_hint_explain_ahead(ds) != NULL)
        used = 0;
    if (hint->field == offsetof(pnc_hints, access.no_overlap) && !pnc_file_has_overlap(&ds->file))
        used = 1;
    if (hint->field == offsetof(pnc_hints, access.strategy) && used == PNC_MPI_IO + 1 && !store->has_collective)
        used = PNC_TWO_PHASE + 1;
    snprintf(value, MPI_MAX_INFO_VAL, "%s", hint->words[used]);
}

/* The value in effect of a hint of the library; false if there is none to report. */
static bool in_effect(const pnc_dataset *ds, const pnc_hint *hint, char *value)
{
    char why[PNC_HINT_EFFECT_BYTES];

    switch (hint->kind) {
    case PNC_HINT_SIZE:
    case PNC_HINT_CHOICE:
        if (hint->report == NULL)
            return false;
        hint->report(ds, hint, value);
        return *value != '\0';
    case PNC_HINT_TEXT:
        return pnc_dataset_hints_get(ds->info, hint->name, value) && pnc_dataset_hint_is_valid(hint, value) &&
               !pnc_dataset_hint_is_overruled(ds, hint->name, why);
    case PNC_HINT_FREE:
        if (!pnc_dataset_hints_get(ds->info, hint->name, value))
            snprintf(value, MPI_MAX_INFO_VAL, "%s", hint->value);
        return *value != '\0';
    case PNC_HINT_FIXED: snprintf(value, MPI_MAX_INFO_VAL, "%s", hint->value); return true;
    default: return false;
    }
}

/* Those with a pattern of variables. */
static int report_patterns(pnc_dataset *ds, MPI_Info out)
{
    int n = 0;

    if (ds->info != MPI_INFO_NULL)
        MPI_Info_get_nkeys(ds->info, &n);
    for (int i = 0; i < n; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1], why[PNC_HINT_EFFECT_BYTES];
        const char *base =
            MPI_Info_get_nthkey(ds->info, i, key) == MPI_SUCCESS ? pnc_dataset_storage_hint_find(key) : NULL;

        if (base == NULL || !pnc_dataset_hints_get(ds->info, key, value) ||
            !pnc_dataset_storage_pattern_is_valid(key, value) || pnc_dataset_hint_is_overruled(ds, base, why))
            continue;
        if (MPI_Info_set(out, key, value) != MPI_SUCCESS)
            return pnc_error_set(&ds->error, NC_EMPI, "%s: MPI_Info_set failed for hint %s", ds->file.path, key);
    }
    return NC_NOERR;
}

int pnc_dataset_hints_report(pnc_dataset *ds, MPI_Info *out)
{
    int err = ds->file.store->ops->hints(ds->file.store, out, &ds->error);

    for (int i = 0; i < HINTS && err == NC_NOERR; i++) {
        const pnc_hint *hint = &pnc_hint_table[i];
        char value[MPI_MAX_INFO_VAL + 1];
        int status = MPI_SUCCESS;

        if (in_effect(ds, hint, value))
            status = MPI_Info_set(*out, hint->name, value);
        else if (!pnc_dataset_hint_is_passed(hint) && pnc_dataset_hints_get(*out, hint->name, value))
            status = MPI_Info_delete(*out, hint->name); /* Open MPI reports all hints that it was given */
        if (status != MPI_SUCCESS) {
            MPI_Info_free(out);
            err = pnc_error_set(&ds->error, NC_EMPI, "%s: MPI_Info_set or MPI_Info_delete failed for hint %s",
                                ds->file.path, hint->name);
        }
    }
    if (err != NC_NOERR)
        return err;
    err = report_patterns(ds, *out);
    if (err != NC_NOERR)
        MPI_Info_free(out);
    return err;
}
