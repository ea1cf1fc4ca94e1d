/* PNETCDF_HINTS_DISPLAY: the hints of a file with value, origin and effect, first those that were set; and a remark
 * about those that cannot be used. */
#include "dataset/hints_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "dataset/hints.h"
#include "dataset/hints_effect.h"
#include "dataset/last_error.h"
#include "dataset/storage_hints.h"

/* One line of the display: `value` is used or ignored as `effect` says. */
typedef struct line {
    const char *name, *origin;
    char value[MPI_MAX_INFO_VAL + 1];
    char effect[MPI_MAX_INFO_VAL + 512];
} line;

typedef struct display {
    pnc_dataset *ds;
    MPI_Info in_use; /* as ncmpi_inq_file_info reports */
    MPI_Info by_mpi; /* as the MPI library reports */
    bool shows_set;  /* hints that program or environment have set; otherwise all others */
    int left_out;
} display;

/* The variable of the environment that gives a hint: PNETCDF_HINTS outranks the others. */
static const char *find_variable(const char *name)
{
    const char *list = getenv("PNETCDF_HINTS");
    char given[40];

    snprintf(given, sizeof given, "%s=", name);
    if (list != NULL && strstr(list, given) != NULL)
        return "PNETCDF_HINTS";
    if (strncmp(name, "nc_timeout", strlen("nc_timeout")) == 0 && getenv("PNETCDF_TIMEOUT") != NULL)
        return "PNETCDF_TIMEOUT";
    return strcmp(name, "nc_stats") == 0 && getenv("PNETCDF_STATS") != NULL ? "PNETCDF_STATS" : "PNETCDF_HINTS";
}

/* Set the given value of a hint and its origin; the value is empty if none was given. */
static void find_given(const display *d, line *l)
{
    l->value[0] = '\0';
    if (pnc_dataset_hints_get(d->ds->environment, l->name, l->value))
        l->origin = find_variable(l->name);
    else if (pnc_dataset_hints_get(d->ds->info, l->name, l->value))
        l->origin = "MPI_Info";
    else
        l->origin = "default";
}

/* The effect of a hint with a value that it can have. used: the number that the library reports, or NULL. */
static void explain_use(const display *d, bool given, const char *used, line *l)
{
    char text[PNC_HINT_EFFECT_BYTES];

    if (pnc_dataset_hint_is_overruled(d->ds, l->name, text))
        snprintf(l->effect, sizeof l->effect, "%s: %s", given ? "ignored" : "no effect", text);
    else if (pnc_dataset_hint_is_limited(d->ds, l->name, text))
        snprintf(l->effect, sizeof l->effect, "used as %s", text);
    else if (given && used != NULL && strcmp(l->value, used) != 0)
        snprintf(l->effect, sizeof l->effect, "used as %s", used);
    else if (given && pnc_dataset_hint_has_scope(d->ds, l->name, text))
        snprintf(l->effect, sizeof l->effect, "used for variables %s", text);
    else
        snprintf(l->effect, sizeof l->effect, "used");
}

static void explain_size(const display *d, const pnc_hint *hint, line *l)
{
    char used[MPI_MAX_INFO_VAL + 1] = "";
    const char *source;
    int64_t number;
    const pnc_hint *decisive = pnc_dataset_hint_find_decisive(d->ds, hint, &source, &number);
    bool given = l->value[0] != '\0';

    pnc_dataset_hints_get(d->in_use, hint->name, used);
    if (given && !pnc_dataset_hint_parse_size(hint, l->value, &number))
        snprintf(l->effect, sizeof l->effect, "ignored: must be an integer of at least %lld; %s is used",
                 (long long)hint->least, used);
    else if (given && decisive != hint)
        snprintf(l->effect, sizeof l->effect, "ignored: %s from %s is used, %s", decisive->name, source, used);
    else if (!given && decisive != NULL)
        snprintf(l->effect, sizeof l->effect, "set by %s", decisive->name);
    else
        explain_use(d, given, used, l);
    if (!given && decisive != NULL)
        l->origin = source;
    if (!given)
        snprintf(l->value, sizeof l->value, "%s", used);
}

static void explain_choice(const display *d, const pnc_hint *hint, line *l)
{
    int count = 0;
    const char *near;

    while (hint->words[count] != NULL)
        count++;
    near = pnc_name_suggest(l->value, count, hint->words);
    if (l->value[0] == '\0' || pnc_dataset_hint_find_choice(hint, l->value) >= 0)
        explain_use(d, l->value[0] != '\0', NULL, l);
    else
        snprintf(l->effect, sizeof l->effect, "ignored: not one of its values%s%s%s; %s is used",
                 near != NULL ? " (did you mean " : "", near != NULL ? near : "", near != NULL ? "?)" : "",
                 hint->value);
}

static void explain_passed(const display *d, line *l)
{
    char used[MPI_MAX_INFO_VAL + 1];
    bool given = pnc_dataset_hints_get(d->by_mpi, l->name, used);

    if (given && l->value[0] == '\0') {
        l->origin = "MPI library";
        snprintf(l->value, sizeof l->value, "%s", used);
    }
    if (!given && d->ds->file.driver->local_path == NULL)
        snprintf(l->effect, sizeof l->effect, "no effect: the driver %s does not use MPI-IO", d->ds->file.driver->name);
    else if (!given)
        snprintf(l->effect, sizeof l->effect, "passed to the MPI library, which reports no value for this file");
    else if (strcmp(used, l->value) != 0)
        snprintf(l->effect, sizeof l->effect, "the MPI library reports %s", used);
    else
        snprintf(l->effect, sizeof l->effect, "the MPI library reports it");
}

/* A hint that this library and MPI-IO use. */
static void explain_common(const display *d, const pnc_hint *hint, line *l)
{
    char by_mpi[sizeof l->effect];
    int64_t number;
    size_t n;
    bool is_valid = hint->kind == PNC_HINT_SIZE ? pnc_dataset_hint_parse_size(hint, l->value, &number)
                                                : pnc_dataset_hint_find_choice(hint, l->value) >= 0;

    explain_passed(d, l);
    if (strcmp(l->origin, "MPI library") == 0) {
        snprintf(l->effect, sizeof l->effect, "only of the MPI library, as the hint was not given");
        return;
    }
    snprintf(by_mpi, sizeof by_mpi, "%.480s", l->effect);
    if (is_valid) {
        explain_use(d, true, NULL, l);
        n = strlen(l->effect);
        snprintf(l->effect + n, sizeof l->effect - n, "; %s", by_mpi);
    } else if (hint->kind == PNC_HINT_SIZE)
        snprintf(l->effect, sizeof l->effect, "ignored: must be an integer of at least %lld; %.400s",
                 (long long)hint->least, by_mpi);
    else
        snprintf(l->effect, sizeof l->effect, "ignored: not one of its values; %.400s", by_mpi);
}

static void explain_refused_text(const line *l, char *effect, size_t capacity)
{
    char form[PNC_HINT_EFFECT_BYTES];

    pnc_dataset_storage_hint_explain(l->name, l->value, form, sizeof form);
    snprintf(effect, capacity, "ignored: %s", form[0] != '\0' ? form : "not in its form");
}

static void explain_text(const display *d, const pnc_hint *hint, line *l)
{
    if (l->value[0] == '\0' || pnc_dataset_hint_is_valid(hint, l->value))
        explain_use(d, l->value[0] != '\0', NULL, l);
    else
        explain_refused_text(l, l->effect, sizeof l->effect);
}

/* A hint for the variables that a pattern matches: a new file has none yet, and ncmpi_enddef reports a pattern without
 * any. */
static void explain_pattern(const display *d, line *l)
{
    const char *hint = pnc_dataset_storage_hint_find(l->name);
    char text[PNC_HINT_EFFECT_BYTES];
    bool has_none = !d->ds->format->is_new && pnc_dataset_storage_pattern_count_vars(d->ds, l->name) == 0;

    if (!pnc_dataset_storage_pattern_is_valid(l->name, l->value))
        explain_refused_text(l, l->effect, sizeof l->effect);
    else if (pnc_dataset_hint_is_overruled(d->ds, hint, text))
        snprintf(l->effect, sizeof l->effect, "ignored: %s", text);
    else if (pnc_dataset_hint_has_scope(d->ds, hint, text))
        snprintf(l->effect, sizeof l->effect, "used for variables whose names match and %s%s", text,
                 has_none ? ": the file has none" : "");
}

/* A hint that is not in the table: a typing error, or a hint of this MPI library. */
static void explain_other(const display *d, line *l)
{
    const char *names[PNC_HINTS_MOST], *near;
    char used[MPI_MAX_INFO_VAL + 1];

    for (int i = 0; i < pnc_hint_count; i++)
        names[i] = pnc_hint_table[i].name;
    near = pnc_name_suggest(l->name, pnc_hint_count, names);
    if (l->value[0] == '\0')
        explain_passed(d, l);
    else if (near != NULL)
        snprintf(l->effect, sizeof l->effect, "unknown: did you mean %s?", near);
    else if (pnc_dataset_hints_get(d->by_mpi, l->name, used))
        explain_passed(d, l);
    else
        snprintf(l->effect, sizeof l->effect, "unknown");
}

/* An integer for MPI-IO. */
static void explain_number(const display *d, const pnc_hint *hint, line *l)
{
    bool given = l->value[0] != '\0';

    if (!given || pnc_dataset_hint_is_valid(hint, l->value))
        explain_passed(d, l);
    else
        snprintf(l->effect, sizeof l->effect, "ignored: must be an integer from %lld to %lld", (long long)hint->least,
                 (long long)hint->most);
}

static void print_line(const line *l)
{
    fprintf(stderr, "    %-28s %-18s %-14s %s\n", l->name, l->value[0] != '\0' ? l->value : "-", l->origin, l->effect);
}

/* Print a line if those of its kind are shown now. */
static void print(display *d, const line *l)
{
    bool is_set = strncmp(l->origin, "PNETCDF_", strlen("PNETCDF_")) == 0 || strcmp(l->origin, "MPI_Info") == 0;

    if (is_set == d->shows_set)
        print_line(l);
    else
        d->left_out++;
}

static void show_ours(display *d, const pnc_hint *hint)
{
    line l = {.name = hint->name};
    char unused[MPI_MAX_INFO_VAL + 1];
    bool given;

    find_given(d, &l);
    given = l.value[0] != '\0';
    if (pnc_dataset_hint_is_passed(hint)) {
        if (!given && !pnc_dataset_hints_get(d->by_mpi, hint->name, unused))
            return;
        if (hint->kind == PNC_HINT_PASSED)
            explain_passed(d, &l);
        else if (hint->kind == PNC_HINT_NUMBER)
            explain_number(d, hint, &l);
        else
            explain_common(d, hint, &l);
        print(d, &l);
        return;
    }
    switch (hint->kind) {
    case PNC_HINT_SIZE: explain_size(d, hint, &l); break;
    case PNC_HINT_CHOICE: explain_choice(d, hint, &l); break;
    case PNC_HINT_TEXT: explain_text(d, hint, &l); break;
    case PNC_HINT_FIXED: /* in effect if it has the value that the library always uses */
        snprintf(l.effect, sizeof l.effect, "%s: %s",
                 !given || strcmp(l.value, hint->value) == 0 ? "in effect" : "ignored", hint->text);
        break;
    default: snprintf(l.effect, sizeof l.effect, "ignored: %s", hint->text);
    }
    if (l.value[0] == '\0')
        snprintf(l.value, sizeof l.value, "%s", hint->value);
    print(d, &l);
}

/* Print the hints of an info that are not in the table, except those in `but`, which are printed already. */
static void show_others(display *d, MPI_Info info, MPI_Info but)
{
    int n = 0;

    if (info == MPI_INFO_NULL)
        return;
    MPI_Info_get_nkeys(info, &n);
    for (int i = 0; i < n; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
        line l = {.name = key};

        if (MPI_Info_get_nthkey(info, i, key) != MPI_SUCCESS || pnc_dataset_hint_find(key) != NULL ||
            pnc_dataset_hints_get(but, key, value))
            continue;
        find_given(d, &l);
        if (pnc_dataset_storage_hint_find(key) != NULL)
            explain_pattern(d, &l);
        else
            explain_other(d, &l);
        print(d, &l);
    }
}

static void show_all(display *d)
{
    for (int i = 0; i < pnc_hint_count; i++)
        show_ours(d, &pnc_hint_table[i]);
    show_others(d, d->ds->info, MPI_INFO_NULL);
    show_others(d, d->by_mpi, d->ds->info);
}

/* A user looks for what was set: the other hints follow on request only. */
static void show_in_order(display *d)
{
    const char *wanted = getenv("PNETCDF_HINTS_DISPLAY");

    d->shows_set = true;
    show_all(d);
    if (wanted == NULL || strcmp(wanted, "all") != 0) {
        fprintf(stderr, "    %d hints that were not set: PNETCDF_HINTS_DISPLAY=all shows them\n", d->left_out);
        return;
    }
    d->shows_set = false;
    show_all(d);
}

/* Of a new file, where the library chooses them. */
static void show_striping(const pnc_dataset *ds)
{
    const pnc_store *store = ds->file.store;
    char text[MPI_MAX_INFO_VAL];

    if (store->new_striping.choice.reason == PNC_STRIPING_UNASKED)
        return;
    pnc_driver_striping_describe(&store->new_striping, store->striping.factor, store->striping.unit, text, sizeof text);
    fprintf(stderr, "PnetCDF: stripes of %s: %s\n", ds->file.path, text);
}

void pnc_dataset_hints_display(pnc_dataset *ds)
{
    display d = {.ds = ds, .in_use = MPI_INFO_NULL, .by_mpi = MPI_INFO_NULL};

    if (ds->file.rank != 0 || !ds->hints.access.display)
        return;
    if (pnc_dataset_hints_report(ds, &d.in_use) == NC_NOERR &&
        ds->file.store->ops->hints(ds->file.store, &d.by_mpi, &ds->error) == NC_NOERR) {
        flockfile(stderr); /* other threads, which open files, do not print between the lines */
        fprintf(stderr, "PnetCDF: hints of %s\n", ds->file.path);
        print_line(&(line){.name = "hint", .value = "value", .origin = "from", .effect = "effect"});
        show_in_order(&d);
        show_striping(ds);
        funlockfile(stderr);
    }
    if (d.in_use != MPI_INFO_NULL)
        MPI_Info_free(&d.in_use);
    if (d.by_mpi != MPI_INFO_NULL)
        MPI_Info_free(&d.by_mpi);
    pnc_error_clear(&ds->error); /* a failure of the display is not a failure of the call */
}

/* A sentence about a value that cannot be used: of a hint, or of a variable that stands for one. */
static int explain_refusal(const pnc_hint *hint, const char *key, const char *value, bool by_user, char *out,
                           size_t capacity)
{
    const char *what = pnc_dataset_hint_is_passed(hint) ? "is not passed to MPI-IO" : "is ignored";
    const char *variable = by_user ? find_variable(hint->name) : "";

    if (strcmp(variable, "PNETCDF_STATS") == 0)
        return snprintf(out, capacity,
                        "PNETCDF_STATS: %.40s is ignored: must be 0, or a list of 1, json:PATH and trace:PATH", value);
    if (strcmp(variable, "PNETCDF_TIMEOUT") == 0)
        return snprintf(out, capacity,
                        "PNETCDF_TIMEOUT: %.40s is ignored: must be seconds, or seconds,abort or seconds,warn", value);
    if (hint->kind == PNC_HINT_CHOICE) {
        int n = snprintf(out, capacity, "hint %s=%.40s is ignored: not one of", hint->name, value);

        for (int i = 0; hint->words[i] != NULL && n > 0 && (size_t)n < capacity; i++)
            n += snprintf(out + n, capacity - (size_t)n, "%s %s", i > 0 ? "," : "", hint->words[i]);
        return n;
    }
    if (hint->kind == PNC_HINT_TEXT) {
        char form[PNC_HINT_EFFECT_BYTES];

        pnc_dataset_storage_hint_explain(key, value, form, sizeof form);
        return snprintf(out, capacity, "hint %s=%.40s is ignored: %s", key, value,
                        form[0] != '\0' ? form : "not in the form that pnetcdf_hints(7) describes");
    }
    return snprintf(out, capacity, "hint %s=%.40s %s: must be an integer from %lld to %lld", hint->name, value, what,
                    (long long)hint->least, (long long)hint->most);
}

typedef struct refusals {
    char text[sizeof((pnc_error *)0)->text];
    size_t n;
    bool any_by_user; /* programs may set hints of other libraries; a user who sets one expects its effect */
} refusals;

static bool is_refused(const pnc_hint *hint, const char *key, const char *value)
{
    bool has_pattern = pnc_dataset_storage_hint_find(key) != NULL;

    return has_pattern ? !pnc_dataset_storage_pattern_is_valid(key, value) : !pnc_dataset_hint_is_valid(hint, value);
}

/* Add what is wrong with the value that was given for a key of the hint. */
static void add_refusal(const pnc_dataset *ds, const pnc_hint *hint, const char *key, refusals *r)
{
    char value[MPI_MAX_INFO_VAL + 1];
    bool by_user;
    int more;

    if (r->n >= sizeof r->text || !pnc_dataset_hints_get(ds->info, key, value) || !is_refused(hint, key, value))
        return;
    by_user = pnc_dataset_hints_get(ds->environment, key, value);
    r->any_by_user = r->any_by_user || by_user;
    more = snprintf(r->text + r->n, sizeof r->text - r->n, "%s", r->n > 0 ? "; " : "");
    r->n += more > 0 ? (size_t)more : 0;
    more =
        r->n < sizeof r->text ? explain_refusal(hint, key, value, by_user, r->text + r->n, sizeof r->text - r->n) : 0;
    r->n += more > 0 ? (size_t)more : 0;
}

/* Keys with a pattern of variables. */
static void add_refusals_of_patterns(const pnc_dataset *ds, refusals *r)
{
    int n = 0;

    if (ds->info != MPI_INFO_NULL)
        MPI_Info_get_nkeys(ds->info, &n);
    for (int i = 0; i < n; i++) {
        char key[MPI_MAX_INFO_KEY + 1];
        const char *base =
            MPI_Info_get_nthkey(ds->info, i, key) == MPI_SUCCESS ? pnc_dataset_storage_hint_find(key) : NULL;

        if (base != NULL)
            add_refusal(ds, pnc_dataset_hint_find(base), key, r);
    }
}

/* Unknown hints of the user, other than those that MPI-IO may know. */
static void add_unknown(const pnc_dataset *ds, refusals *r)
{
    const char *names[PNC_HINTS_MOST];
    int n = 0;

    for (int i = 0; i < pnc_hint_count; i++)
        names[i] = pnc_hint_table[i].name;
    if (ds->environment != MPI_INFO_NULL)
        MPI_Info_get_nkeys(ds->environment, &n);
    for (int i = 0; i < n && r->n < sizeof r->text; i++) {
        char key[MPI_MAX_INFO_KEY + 1], name[MPI_MAX_INFO_KEY + 1];
        const char *near;
        int more;

        if (MPI_Info_get_nthkey(ds->environment, i, key) != MPI_SUCCESS || strncmp(key, "nc_", 3) != 0 ||
            pnc_dataset_hint_find(key) != NULL || pnc_dataset_storage_hint_find(key) != NULL)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(key, "@"), key);
        near = pnc_name_suggest(name, pnc_hint_count, names);
        more = snprintf(r->text + r->n, sizeof r->text - r->n, "%shint %s is unknown%s%s%s", r->n > 0 ? "; " : "", key,
                        near != NULL ? ": did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
        r->n += more > 0 ? (size_t)more : 0;
        r->any_by_user = true;
    }
}

void pnc_dataset_hints_check(pnc_dataset *ds)
{
    refusals r = {.n = 0};

    for (int i = 0; i < pnc_hint_count; i++)
        add_refusal(ds, &pnc_hint_table[i], pnc_hint_table[i].name, &r);
    add_refusals_of_patterns(ds, &r);
    add_unknown(ds, &r);
    if (r.n == 0)
        return;
    pnc_error_set(&ds->error, NC_NOERR, "%s: %s", ds->file.path, r.text);
    pnc_dataset_remark_report(ds, r.any_by_user);
}
