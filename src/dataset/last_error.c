/* The message of the last call that failed: kept for ncmpi_inq_last_error and ncmpi_strerror, and printed if
 * PNETCDF_VERBOSE is on. */
#include "dataset/last_error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "dataset/caller.h"
#include "dataset/environment.h"
#include "dataset/explanation.h"
#include "dataset/kept_text.h"
#include "dataset/registry.h"
#include "file/agree.h"

/* C programs copy the text of a code to arrays of their own, as the texts of codes are short. nfmpi_strerror is of type
 * character(80). */
#define C_BYTES 256
#define F77_BYTES 81

static _Thread_local pnc_failure last_of_thread;
static _Thread_local bool is_recent;   /* no other call has begun since it */
atomic_int pnc_dataset_failed_threads; /* while it is 0, calls need not find the variable of the thread */

/* A path as a word of a sentence, or NULL: "a" is not in "start". */
static const char *find_path(const char *sentence, const char *path)
{
    size_t length = path == NULL ? 0 : strlen(path);

    for (const char *at = length == 0 ? NULL : strstr(sentence, path); at != NULL; at = strstr(at + 1, path))
        if ((at == sentence || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
            return at;
    return NULL;
}

/* As snprintf, behind the characters that the message has. Returns their number. */
PNC_PRINTF(3, 4) static int append(char *message, int length, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(message + length, (size_t)(NC_MAX_MESSAGE - length), format, args);
    va_end(args);
    return length + (int)strlen(message + length);
}

/* The text of a code, with the names of a language; it may be in `out`. */
static const char *get_meaning(pnc_language language, int code, char *out, size_t capacity)
{
    return pnc_language_translate(language, pnc_error_get_text(code), out, capacity);
}

/* The text of the error may be absent, or contain the path already; path may be NULL. The name of the code is that of
 * the language of the error. */
static void compose(pnc_failure *out, const char *call, int rank, const char *path, int err, const pnc_error *error)
{
    bool has_text = error->text[0] != '\0';
    char plain[NC_MAX_MESSAGE], name[64], meaning[C_BYTES], *message = out->message;
    const char *text = has_text ? error->text : get_meaning(error->language, err, meaning, sizeof meaning);
    const char *found;
    int length = append(message, 0, "%s", call);
    bool add_path;

    snprintf(plain, sizeof plain, "%s", path != NULL ? path : "");
    pnc_text_make_plain(plain); /* as in the text */
    add_path = plain[0] != '\0' && find_path(text, plain) == NULL;
    if (rank >= 0)
        length = append(message, length, " on rank %d", rank);
    length = append(message, length, ": ");
    out->code = err;
    out->sentence = length;
    if (add_path)
        length = append(message, length, "%s", plain);
    out->sentence_length = length - out->sentence; /* the text of a code alone explains nothing */
    length = append(message, length, "%s%s", add_path ? ": " : "", text);
    if (has_text)
        out->sentence_length = length - out->sentence;
    found = find_path(message + out->sentence, plain);
    out->path = found == NULL ? 0 : (int)(found - message);
    out->path_length = found == NULL ? 0 : (int)strlen(plain);
    if (err != NC_NOERR)
        append(message, length, " (%s)",
               pnc_language_translate(error->language, pnc_error_get_name(err), name, sizeof name));
}

/* One rank prints what several have found. */
static void print(const pnc_failure *failure, const pnc_error *error)
{
    if (error->others > 0)
        fprintf(stderr, "PnetCDF: %s, and on %lld more %s\n", failure->message, (long long)error->others,
                error->others == 1 ? "rank" : "ranks");
    else
        fprintf(stderr, "PnetCDF: %s\n", failure->message);
}

/* A rank that has the error of another rank does not print it. */
static void print_if_wanted(const pnc_failure *failure, const pnc_error *error)
{
    if (!error->remote && pnc_dataset_environment_is_on("PNETCDF_VERBOSE", false))
        print(failure, error);
}

static void remember(void)
{
    if (!is_recent)
        atomic_fetch_add(&pnc_dataset_failed_threads, 1);
    is_recent = true;
}

void pnc_dataset_failure_clear(void)
{
    if (is_recent)
        atomic_fetch_sub(&pnc_dataset_failed_threads, 1);
    is_recent = false;
}

int pnc_dataset_call_end(pnc_dataset *ds, int err)
{
    pnc_statistics_call_finish(ds->file.statistics, ds->file.call.name);
    err = pnc_file_late_take(&ds->file, err);
    if (err == NC_NOERR)
        return NC_NOERR;
    compose(&ds->last, ds->file.call.name, ds->file.rank, ds->file.path, err, &ds->error);
    last_of_thread = ds->last;
    remember();
    print_if_wanted(&ds->last, &ds->error);
    return err;
}

void pnc_dataset_remark_report(pnc_dataset *ds, bool always)
{
    compose(&ds->last, ds->file.call.name, ds->file.rank, ds->file.path, NC_NOERR, &ds->error);
    if (always && ds->file.rank == 0)
        print(&ds->last, &ds->error);
    else if (ds->file.rank == 0)
        print_if_wanted(&ds->last, &ds->error);
    pnc_error_clear(&ds->error);
}

int pnc_dataset_error_report_call(const char *call, const char *path, int err, const pnc_error *error)
{
    pnc_error named = {0};

    pnc_dataset_call_begin();
    if (err == NC_NOERR)
        return NC_NOERR;
    remember();
    if (error != NULL)
        named = *error;
    call = pnc_dataset_caller_identify(call, &named);
    compose(&last_of_thread, call, -1, path, err, &named);
    print_if_wanted(&last_of_thread, &named);
    return err;
}

const char *pnc_dataset_error_explain(int code, pnc_language language)
{
    const pnc_failure *last = &last_of_thread;
    char text[NC_MAX_MESSAGE], translated[C_BYTES];
    const char *meaning;

    if (!is_recent || code == NC_NOERR || code != last->code || last->sentence_length == 0)
        return pnc_error_get_text(code);
    meaning = get_meaning(language, code, translated, sizeof translated);
    if (language == PNC_LANGUAGE_F77)
        pnc_dataset_explanation_truncate(last, meaning, text, F77_BYTES);
    else
        pnc_dataset_explanation_print(last, meaning, text, language == PNC_LANGUAGE_C ? C_BYTES : sizeof text);
    return pnc_dataset_text_keep(text, pnc_error_get_text(code));
}

int pnc_dataset_error_get_last(int ncid, const pnc_failure **out)
{
    const pnc_dataset *ds = pnc_dataset_registry_peek(ncid);

    if (ncid >= 0 && ds == NULL)
        return NC_EBADID;
    *out = ncid < 0 ? &last_of_thread : &ds->last;
    return NC_NOERR;
}
