/* The call in progress of a program in another language: its name, its errors, and questions before it. */
#include "dataset/caller.h"

#include <string.h>

#include "dataset/last_error.h"
#include "dataset/registry.h"

atomic_bool pnc_dataset_caller_was_other; /* finding a variable of the thread takes longer than an inquiry */
static _Thread_local pnc_caller *in_progress;

void pnc_dataset_caller_begin(pnc_caller *caller, pnc_language language, const char *name, const char *function,
                              int ncid)
{
    caller->name = name;
    caller->function = function;
    caller->ncid = ncid;
    caller->error.language = language;
    caller->error.of_arguments = NULL;
    pnc_error_clear(&caller->error);
    caller->outer = in_progress;
    in_progress = caller;
    atomic_store_explicit(&pnc_dataset_caller_was_other, true, memory_order_relaxed);
}

int pnc_dataset_caller_end(pnc_caller *caller, int err)
{
    pnc_dataset *ds = pnc_dataset_registry_peek(caller->ncid);

    if (err == NC_NOERR && caller->error.code != NC_NOERR) {
        err = caller->error.code;
        if (ds == NULL) {
            pnc_dataset_error_report_call(caller->function, NULL, err, &caller->error);
        } else {
            ds->file.call.name = caller->name;
            ds->error = caller->error;
            pnc_dataset_error_report(ds, err);
        }
    }
    if (ds != NULL)
        ds->error.of_arguments = NULL;
    in_progress = caller->outer;
    return err;
}

/* A function that a profiler calls meanwhile is another one: it is a call from C. */
static bool is_carried_out_by(const pnc_caller *caller, const char *function)
{
    return caller != NULL && caller->function != NULL && strcmp(caller->function, function) == 0;
}

const char *pnc_dataset_caller_identify_other(const char *function, pnc_error *error)
{
    if (!is_carried_out_by(in_progress, function)) {
        pnc_dataset_caller_set_c(error);
        return function;
    }
    error->language = in_progress->error.language;
    error->of_arguments = &in_progress->error;
    return in_progress->name;
}

/* --- questions --- */

const char *pnc_dataset_caller_explain(pnc_language language, int code)
{
    return pnc_dataset_error_explain(code, language);
}

bool pnc_dataset_caller_inquire_var(int ncid, int varid, pnc_var_facts *facts)
{
    const pnc_dataset *ds = pnc_dataset_registry_peek(ncid);
    const pnc_var *var;

    if (ds == NULL || varid < 0 || varid >= ds->model.nvars)
        return false;
    var = ds->model.vars[varid];
    *facts = (pnc_var_facts){.name = var->name, .type = var->type, .ndims = var->ndims};
    return true;
}

bool pnc_dataset_caller_inquire_att(int ncid, int varid, const char *name, pnc_att_facts *facts)
{
    pnc_dataset *ds = pnc_dataset_registry_peek(ncid);
    const pnc_atts *atts = ds == NULL ? NULL : pnc_format_atts_get(&ds->model, varid);
    int number = atts == NULL ? -1 : pnc_format_atts_find(atts, name);

    if (number < 0)
        return false;
    *facts = (pnc_att_facts){.number = number, .type = atts->at[number]->type, .length = atts->at[number]->len};
    return true;
}

bool pnc_dataset_caller_inquire_file(int ncid, pnc_file_facts *facts)
{
    const pnc_dataset *ds = pnc_dataset_registry_peek(ncid);

    if (ds == NULL)
        return false;
    *facts = (pnc_file_facts){.format = ds->model.format, .path_length = strlen(ds->file.path)};
    return true;
}
