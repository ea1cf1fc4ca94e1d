/* Statistics of a dataset: what calls add, and the report of all ranks. */
#include "dataset/statistics.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/path.h"
#include "dataset/hints_effect.h"
#include "dataset/report_file.h"
#include "file/behind.h"
#include "format/storage.h"
#include "statistics/summary.h"
#include "statistics/trace.h"

#define PATH_BYTES 4096
#define VARS_AT_A_TIME 128

/* --- destinations --- */

/* The text after `key` in PNETCDF_STATS, whose items have commas between them; false if there is no such item. */
static bool find_item(const char *key, char *value, size_t capacity)
{
    const char *at = getenv("PNETCDF_STATS");
    size_t length = strlen(key);

    while (at != NULL && *at != '\0') {
        size_t n = strcspn(at, ",");

        if (strncmp(at, key, length) == 0) {
            snprintf(value, capacity, "%.*s", (int)(n - length), at + length);
            return true;
        }
        at += n + (at[n] == ',');
    }
    return false;
}

static const char *job_of(void)
{
    static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) != NULL)
            return getenv(names[i]);
    return "0";
}

/* Replace %p by the rank, %f by the name of the file, %j by the number of the job. Returns which of
 * the letters there were, as bits. */
enum { HAS_RANK = 1, HAS_FILE = 2 };
static int expand_path(const pnc_dataset *ds, int rank, const char *pattern, char *path, size_t capacity)
{
    int found = 0;
    size_t n = 0;

    path[0] = '\0';
    for (; *pattern != '\0' && n + 1 < capacity; pattern++, n = strlen(path)) {
        char kind = pattern[0] == '%' ? pattern[1] : '\0';

        if (kind == 'p')
            found |= HAS_RANK;
        if (kind == 'f')
            found |= HAS_FILE;
        if (kind == 'p')
            snprintf(path + n, capacity - n, "%d", rank);
        else if (kind == 'f')
            snprintf(path + n, capacity - n, "%s", pnc_path_get_name(ds->file.path));
        else if (kind == 'j')
            snprintf(path + n, capacity - n, "%s", job_of());
        else
            snprintf(path + n, capacity - n, "%c", pattern[0]);
        pattern += kind == 'p' || kind == 'f' || kind == 'j';
    }
    return found;
}

/* The path of an item of PNETCDF_STATS for this file; false if there is no such item. The second and later files of a
 * process have a number, unless the path has the name of the file. */
static bool find_path(const pnc_dataset *ds, const char *key, bool by_rank, char path[PATH_BYTES])
{
    char pattern[PATH_BYTES - 32];
    int found, rank = 0;

    if (!find_item(key, pattern, sizeof pattern))
        return false;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    found = expand_path(ds, rank, pattern, path, sizeof pattern);
    if (by_rank && !(found & HAS_RANK))
        snprintf(path + strlen(path), 16, ".%d", rank);
    if (ds->file.statistics->number > 1 && !(found & HAS_FILE))
        snprintf(path + strlen(path), 16, ".%d", ds->file.statistics->number);
    return true;
}

/* Each rank writes a file of its own. */
static void start_trace(pnc_dataset *ds)
{
    char path[PATH_BYTES];
    FILE *file;

    if (!find_path(ds, "trace:", ds->file.nprocs > 1, path))
        return;
    file = pnc_dataset_report_file_open(ds, "timeline", path);
    if (file == NULL)
        return;
    ds->file.statistics->trace = pnc_trace_create(file, ds->file.nodes->ranks[0], ds->file.rank);
    if (ds->file.statistics->trace == NULL)
        pnc_dataset_report_file_warn(ds, "timeline", path);
}

/* --- counting --- */

static atomic_int files; /* of this process that have had statistics */

int64_t pnc_dataset_statistics_choose(int64_t hint)
{
    char path[PATH_BYTES];

    return hint == PNC_STATS_KEPT && find_item("json:", path, sizeof path) ? PNC_STATS_WRITTEN : hint;
}

void pnc_dataset_statistics_start(pnc_dataset *ds, double seconds, double waited)
{
    pnc_statistics *s;

    if (ds->hints.statistics == PNC_STATS_OFF)
        return;
    s = ds->file.statistics = ds->file.store->statistics = pnc_statistics_create();
    if (s == NULL)
        return;
    s->opened -= (int64_t)(1e9 * seconds);
    s->counts[PNC_COUNT_TIME_DEFINE] = (int64_t)(1e9 * (seconds - waited));
    s->counts[PNC_COUNT_TIME_WAIT] = (int64_t)(1e9 * waited);
    s->counts[PNC_COUNT_RANKS] = 1;
    s->number = atomic_fetch_add(&files, 1) + 1;
    pnc_statistics_call_start(s);
    (void)pnc_statistics_begin(s, PNC_COUNT_TIME_DEFINE);
}

void pnc_dataset_statistics_open(pnc_dataset *ds)
{
    if (ds->file.statistics == NULL)
        return;
    ds->file.statistics->unit = pnc_io_context_get_striping_unit(&ds->io);
    start_trace(ds);
}

void pnc_dataset_statistics_call_start(pnc_dataset *ds)
{
    (void)pnc_statistics_begin(ds->file.statistics, PNC_COUNT_TIME_REQUESTS);
}

void pnc_dataset_statistics_call_add(pnc_dataset *ds, const pnc_request_list *list)
{
    static const pnc_counter counters[2][2] = {{PNC_COUNT_GETS_INDEPENDENT, PNC_COUNT_GETS_COLLECTIVE},
                                               {PNC_COUNT_PUTS_INDEPENDENT, PNC_COUNT_PUTS_COLLECTIVE}};

    pnc_statistics_add(ds->file.statistics, counters[list->direction == PNC_PUT][list->collective], 1);
    if (list->collective)
        pnc_statistics_add(ds->file.statistics, PNC_COUNT_COLLECTIVE_BYTES, list->summary.bytes);
}

void pnc_dataset_statistics_wait_add(pnc_dataset *ds, bool collective, int64_t n)
{
    pnc_statistics_add(ds->file.statistics, collective ? PNC_COUNT_WAITS_COLLECTIVE : PNC_COUNT_WAITS_INDEPENDENT, 1);
    pnc_statistics_add(ds->file.statistics, PNC_COUNT_WAITED, n);
}

/* The lengths of the first hyperslab of a request. An extent has all of the dimensions that vary fastest. */
static void keep_lengths(const pnc_model *model, const pnc_elements *e, int64_t *out)
{
    const pnc_var *var = model->vars[e->varid];
    int64_t left = e->form == PNC_EXTENTS && e->n > 0 && !e->in_arrays ? e->extents[0].length / e->elem_size : 0;
    bool is_slab = e->form == PNC_SLABS && e->n > 0 && !e->in_arrays;
    pnc_slab slab = {NULL};

    if (var->ndims > PNC_STATISTICS_DIMS || (left == 0 && !is_slab))
        return;
    if (is_slab)
        slab = pnc_mapping_slab_get(e, var->ndims, 0);
    for (int d = var->ndims - 1; d >= 0; d--) {
        int64_t length = pnc_max64(1, pnc_format_var_get_length(model, var, d));

        out[d] = is_slab ? slab.count[d] : pnc_min64(left, length);
        left = pnc_max64(1, left / length);
    }
}

static void keep_access(pnc_dataset *ds, const pnc_request *r, bool puts, int64_t bytes)
{
    const pnc_var *var = ds->model.vars[r->elements.varid];
    pnc_chunk_statistics *of = NULL;

    if (var->storage != NULL && var->storage->layout == NC_CHUNKED)
        of = pnc_statistics_chunks_find(ds->file.statistics, r->elements.varid);
    if (of == NULL)
        return;
    of->counts.bytes_used += puts ? 0 : bytes;
    keep_lengths(&ds->model, &r->elements, of->lengths[puts]);
}

/* The time of the call so far is of these requests: a wait call transfers puts before gets, and both have shares. */
void pnc_dataset_statistics_transfer_add(pnc_dataset *ds, const pnc_request_list *list)
{
    pnc_statistics *s = ds->file.statistics;
    bool puts = list->direction == PNC_PUT;
    double time;

    s->in_put = false; /* what follows is the number of records */
    pnc_statistics_add(s, puts ? PNC_COUNT_PUT_BYTES : PNC_COUNT_GET_BYTES, list->summary.bytes);
    time = (double)pnc_statistics_call_get_time(s);
    for (int64_t i = 0; i < list->n; i++) {
        const pnc_request *r = list->at[i];
        int64_t bytes = pnc_io_request_count_bytes(r);
        double share = list->summary.bytes > 0 ? (double)bytes / (double)list->summary.bytes : 0;

        pnc_statistics_var_add(s, r->elements.varid,
                               &(pnc_var_statistics){.put_bytes = puts ? bytes : 0,
                                                     .get_bytes = puts ? 0 : bytes,
                                                     .nanoseconds = (int64_t)(time * share)});
        if (ds->format->ops->has_storage && bytes > 0)
            keep_access(ds, r, puts, bytes);
    }
}

/* --- the report --- */

static void merge_spreads(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        pnc_spread_merge((pnc_spread *)inout + i, (const pnc_spread *)in + i);
}

/* At most one rank has each. */
static void merge_aggregators(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const pnc_aggregator_summary *from = in;

    (void)type;
    for (int i = 0; i < *n; i++)
        if (from[i].is_used)
            ((pnc_aggregator_summary *)inout)[i] = from[i];
}

/* One reduction of n values of so many bytes to rank 0. Returns an MPI error code. */
static int reduce(pnc_dataset *ds, MPI_User_function *merge_values, void *values, int n, size_t size)
{
    MPI_Datatype type;
    MPI_Op merge;
    int code = MPI_Type_contiguous((int)(size / sizeof(int64_t)), MPI_INT64_T, &type);

    if (code == MPI_SUCCESS) {
        code = MPI_Type_commit(&type);
        code |= MPI_Op_create(merge_values, 1, &merge);
        code |= ds->file.rank == 0 ? MPI_Reduce(MPI_IN_PLACE, values, n, type, merge, 0, ds->file.comm)
                                   : MPI_Reduce(values, NULL, n, type, merge, 0, ds->file.comm);
        MPI_Op_free(&merge);
        MPI_Type_free(&type);
    }
    return code;
}

/* This rank. Names of nodes without their domain: the system's tables have them in this form. */
static void find_place(const pnc_dataset *ds, pnc_place *out)
{
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length = 0;

    *out = (pnc_place){.rank = ds->file.rank};
    if (MPI_Get_processor_name(name, &length) == MPI_SUCCESS)
        snprintf(out->node, sizeof out->node, "%.*s", (int)strcspn(name, "."), name);
}

/* Of variables first .. first + n - 1, three numbers each. A rank that has no statistics contributes zeros. */
static void set_var_spreads(const pnc_dataset *ds, const pnc_place *place, int first, int n, pnc_spread *out)
{
    const pnc_statistics *s = ds->file.statistics;

    for (int i = 0; i < n; i++) {
        pnc_var_statistics v = s != NULL && s->vars != NULL ? s->vars[first + i] : (pnc_var_statistics){0};

        pnc_spread_init(&out[3 * i], v.put_bytes, place);
        pnc_spread_init(&out[3 * i + 1], v.get_bytes, place);
        pnc_spread_init(&out[3 * i + 2], v.nanoseconds, place);
    }
}

static void add_vars(const pnc_dataset *ds, int first, int n, const pnc_spread *spreads, pnc_summary *out)
{
    for (int i = 0; i < n; i++) {
        bool is_rest = first + i == PNC_STATISTICS_VARS - 1 && ds->model.nvars > PNC_STATISTICS_VARS;
        const pnc_var_summary var = {.name = is_rest ? "(all others)" : ds->model.vars[first + i]->name,
                                     .put_bytes = spreads[3 * i].sum,
                                     .get_bytes = spreads[3 * i + 1].sum,
                                     .nanoseconds = spreads[3 * i + 2].sum};

        pnc_summary_var_add(out, &var);
    }
}

/* --- variables in chunks --- */

#define CHUNK_NUMBERS ((int)(sizeof(pnc_chunk_counts) / sizeof(int64_t)))

static pnc_chooser find_chooser(const pnc_dataset *ds, int varid, bool by_program)
{
    if (varid < ds->nvars_found)
        return PNC_CHOSEN_BY_FILE;
    return by_program ? PNC_CHOSEN_BY_PROGRAM : PNC_CHOSEN_BY_HINTS;
}

/* What rank 0 has of the variable beside the sums. */
static void describe_chunked(const pnc_dataset *ds, int varid, pnc_chunked_var *out)
{
    const pnc_var *var = ds->model.vars[varid];
    const pnc_statistics *s = ds->file.statistics;
    bool is_in_chunks = var->storage != NULL && var->storage->layout == NC_CHUNKED && var->storage->chunks != NULL;

    out->name = var->name;
    out->chunks = find_chooser(ds, varid, is_in_chunks && var->storage->chosen_layout);
    out->filters = find_chooser(ds, varid, is_in_chunks && var->storage->chosen_filters);
    out->digits = find_chooser(ds, varid, is_in_chunks && var->storage->chosen_quantization);
    out->is_quantizable = var->type == NC_FLOAT || var->type == NC_DOUBLE;
    out->elem_size = (int)pnc_type_get_size(var->type);
    out->ndims = is_in_chunks && var->ndims <= PNC_STATISTICS_DIMS ? var->ndims : 0;
    for (int d = 0; d < out->ndims; d++) {
        out->dims[d] = ds->model.dims[var->dimids[d]]->name;
        out->shape[d] = pnc_format_var_get_length(&ds->model, var, d);
        out->chunk[d] = var->storage->chunks[d];
        for (int put = 0; put < 2; put++)
            out->lengths[put][d] = s != NULL && s->chunks != NULL ? s->chunks[varid].lengths[put][d] : 0;
    }
}

/* The sums of all ranks by variable: which ones advice is about. Collective; an MPI error code. */
static int gather_chunks(const pnc_dataset *ds, int nvars, pnc_summary *out)
{
    const pnc_statistics *s = ds->file.statistics;
    int code = MPI_SUCCESS;

    for (int first = 0; ds->format->ops->has_storage && first < nvars; first += VARS_AT_A_TIME) {
        pnc_chunk_counts sums[VARS_AT_A_TIME] = {{0}};
        int n = nvars - first < VARS_AT_A_TIME ? nvars - first : VARS_AT_A_TIME;

        for (int i = 0; i < n && s != NULL && s->chunks != NULL; i++)
            sums[i] = s->chunks[first + i].counts;
        code |= ds->file.rank == 0
                    ? MPI_Reduce(MPI_IN_PLACE, sums, n * CHUNK_NUMBERS, MPI_INT64_T, MPI_SUM, 0, ds->file.comm)
                    : MPI_Reduce(sums, NULL, n * CHUNK_NUMBERS, MPI_INT64_T, MPI_SUM, 0, ds->file.comm);
        for (int i = 0; i < n && ds->file.rank == 0; i++) {
            pnc_chunked_var var = {.counts = sums[i]};

            describe_chunked(ds, first + i, &var);
            pnc_summary_chunked_add(out, &var);
        }
    }
    return code;
}

/* The variables that all ranks have: in define mode their definitions may differ. */
static int count_vars(const pnc_dataset *ds)
{
    const pnc_model *agreed = ds->mode == PNC_DEFINE ? ds->format->before : &ds->model;
    int n = agreed == NULL ? 0 : agreed->nvars;

    return n < PNC_STATISTICS_VARS ? n : PNC_STATISTICS_VARS;
}

/* Bytes by bucket, of the longest buckets that a rank has. Collective; an MPI error code. */
static int gather_heat(const pnc_dataset *ds, pnc_heat *out)
{
    int shift, code;

    pnc_statistics_heat_init(out);
    if (ds->file.statistics != NULL)
        *out = ds->file.statistics->heat;
    code = MPI_Allreduce(&out->shift, &shift, 1, MPI_INT, MPI_MAX, ds->file.comm);
    if (code != MPI_SUCCESS)
        shift = out->shift;
    pnc_statistics_heat_merge(out, shift);
    code |= ds->file.rank == 0
                ? MPI_Reduce(MPI_IN_PLACE, out->bytes, 2 * PNC_HEAT_BUCKETS, MPI_INT64_T, MPI_SUM, 0, ds->file.comm)
                : MPI_Reduce(out->bytes, NULL, 2 * PNC_HEAT_BUCKETS, MPI_INT64_T, MPI_SUM, 0, ds->file.comm);
    return code;
}

/* Of calls, and of the worker while none waited for it. */
static int64_t sum_access_times(const int64_t *counts)
{
    return counts[PNC_COUNT_TIME_WRITE] + counts[PNC_COUNT_TIME_READ] + counts[PNC_COUNT_BEHIND_HIDDEN] +
           counts[PNC_COUNT_AHEAD_HIDDEN];
}

/* Each rank that is one of the first aggregators sets its entry. Collective; an MPI error code. */
static int gather_aggregators(pnc_dataset *ds, const pnc_place *place, pnc_summary *out)
{
    const pnc_statistics *s = ds->file.statistics;
    const int64_t *counts = s != NULL ? s->counts : NULL;

    if (s != NULL) {
        out->naggregators = s->aggregation.n;
        out->window = s->aggregation.window;
    }
    if (s != NULL && s->aggregation.n > 0 && s->aggregation.number >= 0 &&
        s->aggregation.number < PNC_SUMMARY_AGGREGATORS)
        out->aggregators[s->aggregation.number] =
            (pnc_aggregator_summary){.place = *place,
                                     .is_used = 1,
                                     .low = s->aggregation.low,
                                     .high = s->aggregation.high,
                                     .writes = counts[PNC_COUNT_WRITES] + counts[PNC_COUNT_BEHIND_WRITES],
                                     .write_bytes = counts[PNC_COUNT_WRITE_BYTES] + counts[PNC_COUNT_BEHIND_BYTES],
                                     .reads = counts[PNC_COUNT_READS] + counts[PNC_COUNT_AHEAD_READS],
                                     .read_bytes = counts[PNC_COUNT_READ_BYTES] + counts[PNC_COUNT_AHEAD_BYTES],
                                     .nanoseconds = sum_access_times(counts)};
    return reduce(ds, merge_aggregators, out->aggregators, PNC_SUMMARY_AGGREGATORS, sizeof *out->aggregators);
}

/* What the hints that advice names can still change. Rank 0. */
static pnc_advisable find_advisable(const pnc_dataset *ds)
{
    int64_t unit = pnc_io_context_get_striping_unit(&ds->io), align = ds->hints.format.layout.v_align;
    bool puts_wait = !ds->file.read_only && !ds->share;
    char why[PNC_HINT_EFFECT_BYTES];

    return (pnc_advisable){.defers_puts = puts_wait && ds->hints.defer_puts == 0,
                           .writes_behind = pnc_dataset_behind_is_possible(ds),
                           .aligns = ds->nvars_found == 0 && (align <= 0 || align % unit != 0) &&
                                     !pnc_dataset_hint_is_overruled(ds, "nc_var_align_size", why),
                           .is_shared = ds->share};
}

/* One reduction has the counters and the first variables; files with many variables take more. No memory is allocated,
 * so that no rank lacks it. Collective; an MPI error code. */
static int gather(pnc_dataset *ds, pnc_summary *out)
{
    int nvars = count_vars(ds), code = MPI_SUCCESS;
    pnc_spread spreads[PNC_COUNTER_N + 3 * VARS_AT_A_TIME];
    pnc_place place;

    *out = (pnc_summary){.path = ds->file.path,
                         .nprocs = ds->file.nprocs,
                         .nnodes = ds->file.store->nnodes,
                         .striping_unit = pnc_io_context_get_striping_unit(&ds->io),
                         .advisable = ds->file.rank == 0 ? find_advisable(ds) : (pnc_advisable){0}};
    find_place(ds, &place);
    for (int i = 0; i < PNC_COUNTER_N; i++)
        pnc_spread_init(&spreads[i], ds->file.statistics != NULL ? ds->file.statistics->counts[i] : 0, &place);
    for (int first = 0; first == 0 || first < nvars; first += VARS_AT_A_TIME) {
        int counters = first == 0 ? PNC_COUNTER_N : 0;
        int n = nvars - first < VARS_AT_A_TIME ? nvars - first : VARS_AT_A_TIME;

        set_var_spreads(ds, &place, first, n, spreads + counters);
        code |= reduce(ds, merge_spreads, spreads, counters + 3 * n, sizeof *spreads);
        if (first == 0)
            memcpy(out->counters, spreads, sizeof out->counters);
        if (ds->file.rank == 0)
            add_vars(ds, first, n, spreads + counters, out);
    }
    ds->format->ops->explain_moves(ds->format, out->growth, sizeof out->growth);
    code |= gather_chunks(ds, (int)pnc_min64(nvars, PNC_STATISTICS_CHUNKED), out);
    code |= gather_heat(ds, &out->heat);
    code |= gather_aggregators(ds, &place, out);
    return code;
}

static void write_json(const pnc_dataset *ds, const pnc_summary *summary)
{
    char path[PATH_BYTES];
    FILE *file;
    bool failed;

    if (ds->file.statistics == NULL || !find_path(ds, "json:", false, path))
        return;
    file = pnc_dataset_report_file_open(ds, "statistics", path);
    if (file == NULL)
        return;
    pnc_summary_write_json(summary, file);
    failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        pnc_dataset_report_file_warn(ds, "statistics", path);
}

static void finish_trace(pnc_dataset *ds)
{
    pnc_statistics *s = ds->file.statistics;

    const char *failed = s->trace == NULL ? NULL : pnc_trace_close(s->trace);

    if (failed != NULL)
        pnc_dataset_report_file_explain(ds, "timeline", "of a rank", failed);
    s->trace = NULL;
}

/* At once, as several ranks may print reports of files of their own. */
static void print_report(const pnc_summary *summary)
{
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);

    if (file == NULL)
        return;
    pnc_summary_print(summary, file);
    if (fclose(file) == 0)
        fwrite(text, 1, length, stderr);
    free(text);
}

void pnc_dataset_statistics_discard(pnc_dataset *ds)
{
    if (ds->file.statistics == NULL)
        return;
    pnc_statistics_call_finish(ds->file.statistics, ds->file.call.name);
    pnc_file_behind_count(&ds->file);
    pnc_statistics_update(ds->file.statistics);
    finish_trace(ds);
}

void pnc_dataset_statistics_report(pnc_dataset *ds)
{
    pnc_summary summary;

    pnc_dataset_statistics_discard(ds);
    if (ds->hints.statistics == PNC_STATS_OFF || ds->hints.statistics == PNC_STATS_KEPT)
        return;
    if (gather(ds, &summary) != MPI_SUCCESS || ds->file.rank != 0)
        return;
    if (ds->hints.statistics == PNC_STATS_PRINTED)
        print_report(&summary);
    write_json(ds, &summary);
}

/* --- for programs --- */

int pnc_dataset_inq_stats(pnc_dataset *ds, const char *name, MPI_Offset *value)
{
    pnc_statistics *s = ds->file.statistics;
    int counter = name == NULL ? -1 : pnc_counter_find(name);

    if (s == NULL && ds->hints.statistics != PNC_STATS_OFF)
        return pnc_error_set(&ds->error, NC_ENOMEM, "%s: there was no memory for statistics", ds->file.path);
    if (s == NULL)
        return pnc_error_set(&ds->error, NC_EINVAL,
                             "%s has no statistics: set PNETCDF_STATS=1, or the hint nc_stats when the file is opened",
                             ds->file.path);
    if (counter < 0)
        return pnc_error_set(&ds->error, NC_EINVAL, "there is no counter \"%s\": docs/statistics.md lists them",
                             name == NULL ? "NULL" : name);
    pnc_file_behind_count(&ds->file);
    pnc_statistics_update(s);
    if (value != NULL)
        *value = s->counts[counter];
    return NC_NOERR;
}
