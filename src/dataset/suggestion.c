/* The nearest of the names in a file. Programs test by an inquiry whether a file has an optional variable: few names
 * are compared, and none once many were missing, so that this stays fast. */
#include "dataset/suggestion.h"

#include <stdio.h>

#include "base/suggest.h"

#define MOST_NAMES 512
#define MOST_SUGGESTIONS 16 /* for a file: a program that misses more names expects that */

typedef struct name_list {
    const char *at[MOST_NAMES];
    int n;
} name_list;

static int bound(int n)
{
    return n < MOST_NAMES ? n : MOST_NAMES;
}

static pnc_suggestion suggest(pnc_dataset *ds, const char *name, const name_list *names)
{
    const char *nearest = NULL;
    pnc_suggestion s = {""};

    if (name != NULL && ds->missing_names < MOST_SUGGESTIONS) {
        ds->missing_names++;
        nearest = pnc_name_suggest(name, names->n, names->at);
    }
    if (nearest != NULL)
        snprintf(s.text, sizeof s.text, ": did you mean \"%.*s\"?", NC_MAX_NAME, nearest);
    return s;
}

pnc_suggestion pnc_dataset_dim_suggest(pnc_dataset *ds, const char *name)
{
    const pnc_model *model = &ds->model;
    name_list names;

    names.n = bound(model->ndims);
    for (int i = 0; i < names.n; i++)
        names.at[i] = model->dims[i]->name;
    return suggest(ds, name, &names);
}

pnc_suggestion pnc_dataset_var_suggest(pnc_dataset *ds, const char *name)
{
    const pnc_model *model = &ds->model;
    name_list names;

    names.n = bound(model->nvars);
    for (int i = 0; i < names.n; i++)
        names.at[i] = model->vars[i]->name;
    return suggest(ds, name, &names);
}

pnc_suggestion pnc_dataset_att_suggest(pnc_dataset *ds, const pnc_atts *atts, const char *name)
{
    name_list names;

    names.n = bound(atts->n);
    for (int i = 0; i < names.n; i++)
        names.at[i] = atts->at[i]->name;
    return suggest(ds, name, &names);
}
