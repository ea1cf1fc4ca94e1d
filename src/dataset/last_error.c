/* The message of the last call that failed: kept for ncmpi_inq_last_error, and printed if PNETCDF_VERBOSE is on. */
#include "dataset/last_error.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "dataset/caller.h"
#include "dataset/environment.h"
#include "dataset/registry.h"
#include "file/agree.h"

static _Thread_local pnc_failure last_of_thread;

/* Whether a sentence contains a path as a word: "a" is not in "start". */
static bool contains_path(const char *sentence, const char *path)
{
    size_t length = strlen(path);

    for (const char *at = strstr(sentence, path); at != NULL; at = strstr(at + 1, path))
        if ((at == sentence || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

/* The text of the error may be absent, or contain the path already; path may be NULL. The name of the code is that of
 * the language of the error. */
static void compose(pnc_failure *out, const char *call, int rank, const char *path, int err, const pnc_error *error)
{
    const char *sentence = error->text[0] != '\0' ? error->text : pnc_error_get_text(err);
    bool add_path = path != NULL && path[0] != '\0' && !contains_path(sentence, path);
    char on_rank[32] = "", name[64];

    if (rank >= 0)
        snprintf(on_rank, sizeof on_rank, " on rank %d", rank);
    out->code = err;
    snprintf(out->message, sizeof out->message, "%s%s: %s%s%s (%s)", call, on_rank, add_path ? path : "",
             add_path ? ": " : "", sentence,
             pnc_language_translate(error->language, pnc_error_get_name(err), name, sizeof name));
}

/* Only the rank that detects an error prints it. */
static void print(const pnc_failure *failure, const pnc_error *error)
{
    if (pnc_dataset_environment_is_on("PNETCDF_VERBOSE", false) && !error->remote)
        fprintf(stderr, "PnetCDF: %s\n", failure->message);
}

int pnc_dataset_error_report(pnc_dataset *ds, int err)
{
    err = pnc_file_late_take(&ds->file, err);
    if (err == NC_NOERR)
        return NC_NOERR;
    compose(&ds->last, ds->file.call.name, ds->file.rank, ds->file.path, err, &ds->error);
    last_of_thread = ds->last;
    print(&ds->last, &ds->error);
    return err;
}

void pnc_dataset_remark_report(pnc_dataset *ds)
{
    compose(&ds->last, ds->file.call.name, ds->file.rank, ds->file.path, NC_NOERR, &ds->error);
    if (ds->file.rank == 0)
        print(&ds->last, &ds->error);
    pnc_error_clear(&ds->error);
}

int pnc_dataset_error_report_call(const char *call, const char *path, int err, const pnc_error *error)
{
    pnc_error named = {0};

    if (err == NC_NOERR)
        return NC_NOERR;
    if (error != NULL)
        named = *error;
    call = pnc_dataset_caller_identify(call, &named);
    compose(&last_of_thread, call, -1, path, err, &named);
    print(&last_of_thread, &named);
    return err;
}

int pnc_dataset_error_get_last(int ncid, const pnc_failure **out)
{
    const pnc_dataset *ds = pnc_dataset_registry_peek(ncid);

    if (ncid >= 0 && ds == NULL)
        return NC_EBADID;
    *out = ncid < 0 ? &last_of_thread : &ds->last;
    return NC_NOERR;
}
