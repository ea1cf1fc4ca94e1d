/* ncvalidator: check a file against the rules of its format, and repair it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "log/mark.h"
#include "tools/common/json.h"
#include "tools/common/message.h"
#include "tools/common/output.h"
#include "tools/ncvalidator/checksum.h"
#include "tools/ncvalidator/stored.h"
#include "tools/ncvalidator/options.h"
#include "tools/ncvalidator/repair.h"
#include "tools/ncvalidator/report.h"

/* Examine the file at `path`. name: the name in reports, if `path` is a temporary name, else NULL. */
static int examine(const char *path, const char *name, const options *o, bool last, tool_file *file, report *r)
{
    int err = tool_file_open_bytes(path, file);

    *r = (report){.trace = o->trace && last && !o->quiet, .json = o->json, .lenient = o->lenient, .strict = o->strict};
    if (err == NC_NOERR) {
        r->reader = tool_file_find_reader(file);
        err = r->reader != NULL ? validator_stored_examine(file, r) : validator_report_make(file, r);
    }
    if (name != NULL)
        file->path = name;
    return err;
}

static void print(const tool_file *file, const report *r, const repair_log *log, const options *o)
{
    if (o->quiet)
        return;
    if (log != NULL && !o->json)
        validator_repair_print(log, false);
    validator_report_print(file, r);
    if (log != NULL && o->json)
        validator_repair_print(log, true);
    if (o->json)
        puts("\n}");
}

/* Examine and report the repaired file. */
static int conclude(const char *path, const char *name, const repair_log *log, const options *o)
{
    tool_file file;
    report r;
    int err, status = VALIDATOR_INVALID;

    if (o->json && !o->quiet)
        puts("{");
    err = examine(path, name, o, true, &file, &r);
    if (err == NC_NOERR) {
        print(&file, &r, log, o);
        if (validator_report_is_valid(&r) && (!o->checksum || validator_checksums_check(path, name, o)))
            status = log == NULL || !log->uncertain ? VALIDATOR_VALID : VALIDATOR_UNCERTAIN;
    } else if (o->json && !o->quiet) {
        fputs("  \"file\": ", stdout);
        tool_json_print_string(path);
        puts(",\n  \"valid\": false\n}");
    }
    validator_report_free(&r);
    tool_file_close(&file);
    return status;
}

static int repair_at(const tool_file *file, const report *r, const char *path, validator_hold *held, const options *o,
                     repair_log *log)
{
    return r->reader != NULL ? validator_stored_repair(r->reader, path, &o->choice, log)
                             : validator_file_repair(file, r, &o->choice, path, held, log);
}

/* Copy, repair and report. *status: the exit status if there is no error. *keep: the copy has a repair, or was asked
 * for by name. */
static int write_repaired(const tool_file *file, const report *r, const tool_output *output, const char *name,
                          const options *o, int *status, bool *keep)
{
    repair_log log = {.n = 0};

    PNC_TRY(validator_file_copy(file, output->temporary, o->quiet));
    PNC_TRY(repair_at(file, r, output->temporary, NULL, o, &log));
    *keep = log.changed || o->output != NULL;
    *status = *keep ? conclude(output->temporary, name, &log, o) : conclude(o->path, NULL, &log, o);
    return tool_output_flush(name);
}

static int repair_to_copy(const tool_file *file, const report *r, const char *name, const options *o)
{
    const tool_output_request request = {.path = name, .inputs = &o->path, .ninputs = 1};
    pnc_error error = {0};
    tool_output output;
    bool keep = false;
    int status = VALIDATOR_INVALID, err = tool_output_begin(&request, &output, &error);

    if (err == NC_NOERR) {
        err = write_repaired(file, r, &output, name, o, &status, &keep);
        if (err != NC_NOERR || !keep) {
            tool_output_discard(&output);
            return err != NC_NOERR ? VALIDATOR_INVALID : status;
        }
        err = tool_output_commit(&output, &error);
    }
    if (err == NC_NOERR)
        return status;
    tool_error_print("%s", error.text);
    return 1;
}

static int repair(const tool_file *file, const report *r, validator_hold *held, const options *o)
{
    repair_log log = {.n = 0};
    char *name = NULL;
    size_t capacity = strlen(o->path) + sizeof ".repaired";
    int status, err;

    if (o->padding && r->reader != NULL) {
        tool_error_print("%s is a %s file: -x repairs the padding of classic files", o->path, r->reader->name);
        return 1;
    }
    if (o->padding || o->in_place) {
        if (o->padding)
            err = validator_padding_repair(o->path, r, &log);
        else
            err = repair_at(file, r, o->path, held, o, &log);
        return err != NC_NOERR ? 1 : conclude(o->path, NULL, &log, o);
    }
    if (file->is_folder) {
        tool_error_print("%s is a folder, which is not copied: --in-place repairs it itself", o->path);
        return 1;
    }
    if (held->fd >= 0 && r->reader == NULL && validator_growth_examine(held) != NC_NOERR)
        return 1;
    if (o->output != NULL)
        return repair_to_copy(file, r, o->output, o);
    name = pnc_memory_alloc((int64_t)capacity, 1);
    if (name == NULL) {
        tool_error_print("%s: not enough memory", o->path);
        return 1;
    }
    snprintf(name, capacity, "%s.repaired", o->path);
    status = repair_to_copy(file, r, name, o);
    pnc_memory_free(name);
    return status;
}

/* A burst buffer has values that the file lacks. */
static void report_mark(const char *path)
{
    char *mark = pnc_memory_alloc((int64_t)(strlen(path) + sizeof PNC_LOG_MARK_SUFFIX), 1);

    if (mark != NULL) {
        sprintf(mark, "%s%s", pnc_path_strip(path), PNC_LOG_MARK_SUFFIX);
        if (access(mark, F_OK) == 0)
            tool_warning_print(
                "warning: %s: values that were put may be in the logs of a burst buffer only: `ncmpilog "
                "%s' says where",
                path, path);
    }
    pnc_memory_free(mark);
    tool_warnings_finish();
}

static int validate(const options *o)
{
    tool_file file;
    validator_hold held;
    report r;
    int err, status = 1;

    if (!o->quiet)
        report_mark(o->path);
    if (!o->padding && !o->repair)
        return conclude(o->path, NULL, NULL, o);
    err = validator_hold_begin(o->path, o->padding || o->in_place, o->choice.assumes_dead, &held);
    if (err == NC_NOERR) {
        err = examine(o->path, NULL, o, false, &file, &r);
        if (err == NC_NOERR)
            status = repair(&file, &r, &held, o);
        validator_report_free(&r);
        tool_file_close(&file);
    }
    validator_hold_end(&held);
    return status;
}

/* The worst status: a file that is not valid outranks one whose repair is uncertain. */
static int validate_all(options *o)
{
    int status = validator_manifests_load(o) == NC_NOERR ? VALIDATOR_VALID : VALIDATOR_INVALID;
    int n = o->npaths > 0 ? o->npaths : o->manifests.n; /* without files, all of the manifest */
    bool lists = o->json && !o->quiet && n > 1;

    if (status != VALIDATOR_VALID)
        return status;
    if (lists)
        puts("[");
    for (int i = 0; i < n; i++) {
        int of_file;

        o->path = o->npaths > 0 ? o->paths[i] : o->manifests.at[i].path;
        if (lists && i > 0)
            puts(",");
        of_file = validate(o);
        if (of_file == VALIDATOR_INVALID || status == VALIDATOR_VALID)
            status = of_file;
    }
    if (lists)
        puts("]");
    return status;
}

int main(int argc, char **argv)
{
    options o;
    int status;

    tool_program_start("ncvalidator", argv);
    status = validator_options_parse(argc, argv, &o);
    if (status < 0)
        status = validate_all(&o);
    tool_manifests_free(&o.manifests);
    return tool_program_end(tool_output_flush(NULL) == NC_NOERR ? status : 1);
}
