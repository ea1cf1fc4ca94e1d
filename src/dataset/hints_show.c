/* PNETCDF_HINTS_DISPLAY: every hint of a file with its value, origin and effect. */
#include "dataset/hints_show.h"

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "dataset/environment.h"
#include "dataset/hints.h"

/* One line of the display. */
typedef struct line {
    const char *name, *origin;
    char value[MPI_MAX_INFO_VAL + 1];
    char fate[MPI_MAX_INFO_VAL + 512];
} line;

typedef struct sight {
    pnc_dataset *ds;
    MPI_Info in_use; /* as ncmpi_inq_file_info reports */
    MPI_Info by_mpi; /* as the MPI library reports */
} sight;

/* Set the given value of a hint and its origin; the value is empty if none was given. */
static void find_given(const sight *s, line *l)
{
    l->value[0] = '\0';
    if (pnc_dataset_hints_get(s->ds->environment, l->name, l->value))
        l->origin = "PNETCDF_HINTS";
    else if (pnc_dataset_hints_get(s->ds->info, l->name, l->value))
        l->origin = "MPI_Info";
    else
        l->origin = "default";
}

static void explain_size(const sight *s, const pnc_hint *hint, line *l)
{
    char effect[MPI_MAX_INFO_VAL + 1] = "";
    const char *source;
    int64_t number;
    const pnc_hint *decisive = pnc_dataset_hint_find_decisive(s->ds, hint, &source, &number);
    bool given = l->value[0] != '\0';

    pnc_dataset_hints_get(s->in_use, hint->name, effect);
    if (given && !pnc_dataset_hint_parse_size(hint, l->value, &number))
        snprintf(l->fate, sizeof l->fate, "ignored: must be an integer of at least %lld; %s is used",
                 (long long)hint->least, effect);
    else if (given && decisive != hint)
        snprintf(l->fate, sizeof l->fate, "ignored: %s from %s is used, %s", decisive->name, source, effect);
    else if (given && strcmp(l->value, effect) != 0)
        snprintf(l->fate, sizeof l->fate, "used as %s", effect);
    else if (!given && decisive != NULL)
        snprintf(l->fate, sizeof l->fate, "set by %s", decisive->name);
    else
        snprintf(l->fate, sizeof l->fate, "used");
    if (!given && decisive != NULL)
        l->origin = source;
    if (!given)
        snprintf(l->value, sizeof l->value, "%s", effect);
}

static void explain_choice(const pnc_hint *hint, line *l)
{
    int count = 0;
    const char *near;

    while (hint->words[count] != NULL)
        count++;
    near = pnc_name_suggest(l->value, count, hint->words);
    if (l->value[0] == '\0' || pnc_dataset_hint_find_choice(hint, l->value) >= 0)
        snprintf(l->fate, sizeof l->fate, "used");
    else
        snprintf(l->fate, sizeof l->fate, "ignored: not one of its values%s%s%s; %s is used",
                 near != NULL ? " (did you mean " : "", near != NULL ? near : "", near != NULL ? "?)" : "",
                 hint->value);
}

static void explain_passed(const sight *s, line *l)
{
    char effect[MPI_MAX_INFO_VAL + 1];
    bool given = pnc_dataset_hints_get(s->by_mpi, l->name, effect);

    if (given && l->value[0] == '\0') {
        l->origin = "MPI library";
        snprintf(l->value, sizeof l->value, "%s", effect);
    }
    if (!given)
        snprintf(l->fate, sizeof l->fate, "passed to the MPI library, which reports no value for this file");
    else if (strcmp(effect, l->value) != 0)
        snprintf(l->fate, sizeof l->fate, "the MPI library uses %s", effect);
    else
        snprintf(l->fate, sizeof l->fate, "used by the MPI library");
}

/* A hint that is not in the table: a typing error, or a hint of this MPI library. */
static void explain_other(const sight *s, line *l)
{
    const char *names[PNC_HINTS_MOST], *near;
    char effect[MPI_MAX_INFO_VAL + 1];

    for (int i = 0; i < pnc_hint_count; i++)
        names[i] = pnc_hint_table[i].name;
    near = pnc_name_suggest(l->name, pnc_hint_count, names);
    if (l->value[0] == '\0')
        explain_passed(s, l);
    else if (near != NULL)
        snprintf(l->fate, sizeof l->fate, "unknown: did you mean %s?", near);
    else if (pnc_dataset_hints_get(s->by_mpi, l->name, effect))
        explain_passed(s, l);
    else
        snprintf(l->fate, sizeof l->fate, "unknown");
}

static void print(const line *l)
{
    fprintf(stderr, "    %-28s %-18s %-14s %s\n", l->name, l->value[0] != '\0' ? l->value : "-", l->origin, l->fate);
}

static void show_ours(const sight *s, const pnc_hint *hint)
{
    line l = {.name = hint->name};
    const char *given;

    find_given(s, &l);
    given = l.value;
    switch (hint->kind) {
    case PNC_HINT_SIZE: explain_size(s, hint, &l); break;
    case PNC_HINT_CHOICE: explain_choice(hint, &l); break;
    case PNC_HINT_PASSED:
        if (*given == '\0' && !pnc_dataset_hints_get(s->by_mpi, hint->name, l.value))
            return;
        find_given(s, &l);
        explain_passed(s, &l);
        break;
    case PNC_HINT_FIXED: /* in effect if it has the value that the library always uses */
        snprintf(l.fate, sizeof l.fate, "%s: %s",
                 *given == '\0' || strcmp(given, hint->value) == 0 ? "used" : "ignored", hint->text);
        break;
    default: snprintf(l.fate, sizeof l.fate, "ignored: %s", hint->text);
    }
    if (l.value[0] == '\0')
        snprintf(l.value, sizeof l.value, "%s", hint->value);
    print(&l);
}

/* Print the hints of an info that are not in the table, except those in `but`, which are printed already. */
static void show_others(const sight *s, MPI_Info info, MPI_Info but)
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
        find_given(s, &l);
        explain_other(s, &l);
        print(&l);
    }
}

void pnc_dataset_hints_display(pnc_dataset *ds)
{
    sight s = {ds, MPI_INFO_NULL, MPI_INFO_NULL};

    if (ds->file.rank != 0 || !pnc_dataset_environment_is_on("PNETCDF_HINTS_DISPLAY", false))
        return;
    if (pnc_dataset_hints_report(ds, &s.in_use) == NC_NOERR &&
        ds->file.store->ops->hints(ds->file.store, &s.by_mpi, &ds->error) == NC_NOERR) {
        flockfile(stderr); /* keeps the lines together while other threads open files */
        fprintf(stderr, "PnetCDF: hints of %s\n", ds->file.path);
        print(&(line){.name = "hint", .value = "value", .origin = "from", .fate = "effect"});
        for (int i = 0; i < pnc_hint_count; i++)
            show_ours(&s, &pnc_hint_table[i]);
        show_others(&s, ds->info, MPI_INFO_NULL);
        show_others(&s, s.by_mpi, ds->info);
        funlockfile(stderr);
    }
    if (s.in_use != MPI_INFO_NULL)
        MPI_Info_free(&s.in_use);
    if (s.by_mpi != MPI_INFO_NULL)
        MPI_Info_free(&s.by_mpi);
    pnc_error_clear(&ds->error); /* a failure of the display is not a failure of the call */
}
