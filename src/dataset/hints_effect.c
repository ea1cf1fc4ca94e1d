/* What decides in place of a hint: PNETCDF_HINTS_DISPLAY shows it. */
#include "dataset/hints_effect.h"

#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "dataset/checksum.h"
#include "file/behind.h"
#include "file/log.h"

#define SAY(...) (snprintf(why, PNC_HINT_EFFECT_BYTES, __VA_ARGS__), true)

/* --- what overrules hints --- */

static bool by_single_rank(const pnc_dataset *ds, char *why)
{
    return ds->file.nprocs == 1 && SAY("one rank has the file");
}

static bool by_strategy(const pnc_dataset *ds, char *why)
{
    int64_t forced = ds->hints.access.strategy;

    return forced > 0 && SAY("nc_strategy=%s is used", pnc_strategy_names[forced]);
}

static bool by_independent_strategy(const pnc_dataset *ds, char *why)
{
    int64_t forced = ds->hints.access.strategy;

    return forced > 0 && !pnc_io_strategy_is_collective((pnc_strategy)(forced - 1)) && by_strategy(ds, why);
}

static bool is_collective_for_one(const pnc_dataset *ds, char *why)
{
    int64_t forced = ds->hints.access.strategy;

    return forced > 0 && pnc_io_strategy_is_collective((pnc_strategy)(forced - 1)) && by_single_rank(ds, why);
}

static bool by_no_independent(const pnc_dataset *ds, char *why)
{
    return ds->hints.access.no_independent != 0 && SAY("romio_no_indep_rw=true is used");
}

static bool by_aggregators(const pnc_dataset *ds, char *why)
{
    return ds->hints.access.aggregators > 0 && SAY("cb_nodes=%lld is used", (long long)ds->hints.access.aggregators);
}

static bool by_local_file(const pnc_dataset *ds, char *why)
{
    return !pnc_io_context_is_on_servers(&ds->io) && SAY("the file is local");
}

static bool by_reading(const pnc_dataset *ds, char *why)
{
    return ds->file.read_only && SAY("the file is opened for reading only");
}

static bool by_opening(const pnc_dataset *ds, char *why)
{
    return !ds->format->is_new && SAY("the file is not new");
}

static bool by_file_system(const pnc_dataset *ds, char *why)
{
    return ds->file.store->new_striping.choice.reason == PNC_STRIPING_UNASKED && SAY("the file is not on Lustre");
}

static bool by_file_that_existed(const pnc_dataset *ds, char *why)
{
    return ds->file.store->new_striping.choice.reason == PNC_STRIPING_KEPT && SAY("the file existed");
}

static bool by_inheritance(const pnc_dataset *ds, char *why)
{
    return ds->hints.inherits_striping != 0 && SAY("file_striping=inherit is used");
}

static bool by_classic_format(const pnc_dataset *ds, char *why)
{
    return !ds->format->ops->has_storage && SAY("the file is not netCDF-4 (nc_format=netcdf4 makes new ones so)");
}

static bool by_netcdf4_format(const pnc_dataset *ds, char *why)
{
    return ds->format->ops->has_storage && SAY("the file is netCDF-4");
}

static bool by_creation(const pnc_dataset *ds, char *why)
{
    return ds->format->is_new && SAY("a new file has no header to read");
}

static bool by_no_timeout(const pnc_dataset *ds, char *why)
{
    return ds->hints.timeout == 0 && SAY("nc_timeout is not set");
}

static bool by_driver_without_names(const pnc_dataset *ds, char *why)
{
    return ds->file.store->ops->publish == NULL && SAY("the driver %s cannot rename a file", ds->file.driver->name);
}

static bool by_driver_without_file(const pnc_dataset *ds, char *why)
{
    return ds->file.driver->local_path == NULL && SAY("the driver %s keeps no file", ds->file.driver->name);
}

static bool by_driver_without_overlap(const pnc_dataset *ds, char *why)
{
    return !pnc_file_has_overlap(&ds->file) &&
           SAY("the driver %s has no accesses in the background", ds->file.driver->name);
}

const char *pnc_dataset_hint_explain_behind(const pnc_dataset *ds)
{
    if (ds->file.behind != NULL)
        return pnc_behind_store_explain(ds->file.behind);
    if (ds->file.read_only)
        return "the file is opened for reading only";
    if (ds->share)
        return "NC_SHARE writes at once";
    if (pnc_formats_threads_behind_count(&ds->hints.format, ds->file.nodes->nidle) > 0) /* of a store, in a folder */
        return NULL;
    return ds->format->ops->has_storage ? "without nc_filter_threads, nothing is done behind the program for a store"
                                        : "the driver is not mpiio";
}

bool pnc_dataset_behind_is_possible(const pnc_dataset *ds)
{
    return ds->hints.write_behind == 0 && ds->hints.burst_buf == 0 && !ds->file.read_only && !ds->share &&
           pnc_file_behind_is_possible(&ds->file, ds->store_path);
}

const char *pnc_dataset_hint_explain_ahead(const pnc_dataset *ds)
{
    if (ds->file.ahead != NULL && ds->file.ahead->ahead.capacity == 0)
        return "nc_write_behind_memory has less than 4 MiB for it and for what is put";
    if (ds->file.ahead != NULL)
        return pnc_behind_store_explain(ds->file.ahead);
    return ds->share ? "NC_SHARE reads what other programs write" : "the driver is not mpiio";
}

bool pnc_dataset_hint_explain_log(const pnc_dataset *ds, char why[PNC_HINT_EFFECT_BYTES])
{
    const char *reason = "the driver is not mpiio";

    if (ds->file.log.state != PNC_LOG_UNUSED)
        return pnc_file_log_explain(&ds->file, why, PNC_HINT_EFFECT_BYTES);
    if (ds->file.read_only)
        reason = "the file is opened for reading only";
    else if (ds->share)
        reason = "NC_SHARE writes at once";
    return SAY("%s", reason);
}

static bool by_file_without_log(const pnc_dataset *ds, char *why)
{
    return pnc_dataset_hint_explain_log(ds, why);
}

static bool by_no_burst_buffer(const pnc_dataset *ds, char *why)
{
    return ds->hints.burst_buf == 0 && SAY("nc_burst_buf is disabled");
}

static bool by_file_not_read_ahead(const pnc_dataset *ds, char *why)
{
    const char *reason = pnc_dataset_hint_explain_ahead(ds);

    return reason != NULL && SAY("%s", reason);
}

static bool by_file_without_delays(const pnc_dataset *ds, char *why)
{
    const char *reason = pnc_dataset_hint_explain_behind(ds);

    return reason != NULL && SAY("%s", reason);
}

static bool by_no_delays(const pnc_dataset *ds, char *why)
{
    return ds->hints.write_behind == 0 && ds->hints.prefetch == 0 &&
           SAY("nc_write_behind and nc_prefetch are disabled");
}

static bool by_neither(const pnc_dataset *ds, char *why)
{
    const char *reason = ds->hints.prefetch != 0 ? pnc_dataset_hint_explain_ahead(ds) : NULL;

    if (ds->hints.prefetch == 0 || (ds->hints.write_behind != 0 && reason != NULL))
        reason = pnc_dataset_hint_explain_behind(ds);
    return reason != NULL && SAY("%s", reason);
}

static bool by_immediate_puts(const pnc_dataset *ds, char *why)
{
    if (ds->deferred.most > 0 && !pnc_file_log_is_for_values(&ds->file))
        return false;
    if (pnc_file_log_is_for_values(&ds->file))
        return SAY("nc_burst_buf has the values in logs");
    return SAY("%s", ds->file.read_only ? "the file is opened for reading only" : "NC_SHARE writes at once");
}

static bool by_no_deferral(const pnc_dataset *ds, char *why)
{
    return ds->hints.defer_puts == 0 && SAY("nc_defer_puts is disabled");
}

static bool by_file_without_checksums(const pnc_dataset *ds, char *why)
{
    const char *reason = pnc_dataset_checksum_explain(ds);

    return reason != NULL && SAY("%s", reason);
}

static bool by_no_compression(const pnc_dataset *ds, char *why)
{
    bool has_any = ds->storage_hints != NULL && strstr(ds->storage_hints, "nc_compression") != NULL;

    return !has_any && SAY("nc_compression is not set");
}

#define MOST_RULES 4
typedef bool overruling(const pnc_dataset *ds, char *why);

bool pnc_dataset_hint_is_overruled(const pnc_dataset *ds, const char *name, char why[PNC_HINT_EFFECT_BYTES])
{
    static const struct {
        const char *name;
        overruling *by[MOST_RULES];
    } rows[] = {
        {"cb_nodes", {by_single_rank, by_independent_strategy}},
        {"cb_buffer_size", {by_single_rank, by_independent_strategy}},
        {"nc_num_aggrs_per_node", {by_single_rank, by_independent_strategy, by_aggregators}},
        {"nc_overlap", {by_driver_without_overlap, by_single_rank, by_independent_strategy, by_local_file}},
        {"romio_cb_read", {by_single_rank, by_strategy, by_no_independent}},
        {"romio_cb_write", {by_single_rank, by_strategy, by_no_independent, by_reading}},
        {"romio_no_indep_rw", {by_single_rank, by_strategy}},
        {"nc_strategy", {is_collective_for_one}},
        {"nc_timeout", {by_single_rank}},
        {"nc_timeout_action", {by_single_rank, by_no_timeout}},
        {"nc_var_align_size", {by_netcdf4_format, by_reading}},
        {"nc_header_align_size", {by_netcdf4_format, by_reading}},
        {"nc_record_align_size", {by_netcdf4_format, by_reading}},
        {"nc_header_reserve", {by_netcdf4_format, by_reading}},
        {"nc_header_read_chunk_size", {by_creation}},
        {"nc_write_behind", {by_file_without_delays}},
        {"nc_burst_buf", {by_file_without_log}},
        {"nc_burst_buf_dirname", {by_no_burst_buffer, by_file_without_log}},
        {"nc_burst_buf_size", {by_no_burst_buffer, by_file_without_log}},
        {"nc_prefetch", {by_file_not_read_ahead}},
        {"nc_write_behind_memory", {by_no_delays, by_neither}},
        {"nc_defer_puts", {by_immediate_puts}},
        {"nc_defer_puts_memory", {by_no_deferral, by_immediate_puts}},
        {"nc_data_move_chunk_size", {by_netcdf4_format, by_reading}},
        {"nc_data_move_limit", {by_netcdf4_format, by_reading}},
        {"file_striping", {by_opening, by_file_system, by_file_that_existed}},
        {"nc_expected_size", {by_opening, by_file_system, by_file_that_existed, by_inheritance}},
        {"nc_compression", {by_classic_format, by_reading}},
        {"nc_shuffle", {by_classic_format, by_reading, by_no_compression}},
        {"nc_chunks", {by_classic_format, by_reading}},
        {"nc_quantize", {by_reading}},
        {"nc_error", {by_reading}},
        {"nc_quantize_cf", {by_opening}},
        {"nc_filter_threads", {by_classic_format}},
        {"nc_checksum", {by_file_without_checksums}},
        {"nc_references", {by_driver_without_file, by_reading}},
        {"nc_whole_files", {by_driver_without_names, by_opening}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; strcmp(rows[i].name, name) == 0 && k < MOST_RULES && rows[i].by[k] != NULL; k++)
            if (rows[i].by[k](ds, why))
                return true;
    return false;
}

/* --- hints for variables --- */

bool pnc_dataset_hint_has_scope(const pnc_dataset *ds, const char *name, char scope[PNC_HINT_EFFECT_BYTES])
{
    static const struct {
        const char *name, *chosen;
        bool is_for_new;
    } rows[] = {{"nc_compression", "filters", true},
                {"nc_shuffle", "filters", true},
                {"nc_chunks", "chunks", true},
                {"nc_quantize", "quantization", false},
                {"nc_error", "quantization", false}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) {
            bool has_others = rows[i].is_for_new && !ds->format->is_new;

            snprintf(scope, PNC_HINT_EFFECT_BYTES, "%swhose %s the program does not choose",
                     has_others ? "that are defined from now on and " : "", rows[i].chosen);
            return true;
        }
    return false;
}

/* --- numbers that are limited --- */

static bool is_beyond_ranks(int64_t given, int nranks, const char *where, char *why)
{
    return given > nranks && SAY("%d (of %d ranks%s)", nranks, nranks, where);
}

static bool is_other_buffer(const pnc_dataset *ds, char *why)
{
    pnc_buffer_shape shape = pnc_io_context_get_buffer_shape(&ds->io);
    int64_t used = pnc_io_buffer_compute_size(&shape);

    return shape.given > 0 && used != shape.given && SAY("%lld", (long long)used);
}

static bool is_other_unit(const pnc_dataset *ds, char *why)
{
    int64_t given = ds->hints.access.striping_unit, used = pnc_io_context_get_striping_unit(&ds->io);
    bool is_reported = ds->file.store->striping.unit > 0 && ds->file.store->striping.unit != given;

    return given > 0 && used != given &&
           SAY("%lld%s", (long long)used, is_reported ? " (of the file system)" : " (whole pages)");
}

static bool is_other_strategy(const pnc_dataset *ds, char *why)
{
    const char *reason = "the MPI-IO is not ROMIO";

    if (ds->file.behind != NULL || ds->file.ahead != NULL)
        reason = ds->file.behind != NULL ? "nc_write_behind is enabled" : "nc_prefetch is enabled";
    if (ds->file.log.state != PNC_LOG_UNUSED)
        reason = "nc_burst_buf is enabled";
    return ds->hints.access.strategy == PNC_MPI_IO + 1 && !ds->file.store->has_collective &&
           SAY("%s (%s)", pnc_strategy_names[PNC_TWO_PHASE + 1], reason);
}

/* What all nodes share is not the disk of a node. */
static bool is_beside_file(const pnc_dataset *ds, char *why)
{
    return ds->hints.burst_buf != 0 && !ds->file.log.is_given &&
           SAY("enable, with the logs in the folder of the file: nc_burst_buf_dirname=FOLDER puts them on disks of the "
               "nodes");
}

static bool is_within_memory(const pnc_dataset *ds, char *why)
{
    int threads = pnc_formats_threads_ahead_count(&ds->hints.format, ds->file.nodes->nidle);
    int64_t most = ds->file.ahead != NULL ? ds->file.ahead->ahead.capacity >> 20 : 0;

    if (most == 0)
        return false;
    if (!ds->format->ops->has_storage)
        return SAY("enable, with at most %lld MiB", (long long)most);
    return threads > 0 ? SAY("enable, with at most %lld MiB; %d threads decompress ahead", (long long)most, threads)
                       : SAY("enable, with at most %lld MiB; gets decompress (nc_filter_threads)", (long long)most);
}

/* Without a number: as many as find processors. */
static bool is_automatic(const pnc_dataset *ds, char *why)
{
    int n = pnc_formats_threads_count(&ds->hints.format, ds->file.nodes->nidle);
    int behind = pnc_formats_threads_behind_count(&ds->hints.format, ds->file.nodes->nidle);

    if (ds->hints.format.filter_threads > 0)
        return false;
    return behind > 0
               ? SAY("%d (processors that no process of the program has), %d of them behind the program", n, behind)
               : SAY("%d (processors that no process of the program has)", n);
}

bool pnc_dataset_hint_is_limited(const pnc_dataset *ds, const char *name, char used[PNC_HINT_EFFECT_BYTES])
{
    const pnc_access_hints *hints = &ds->hints.access;

    if (strcmp(name, "cb_nodes") == 0)
        return is_beyond_ranks(hints->aggregators, ds->file.nprocs, "", used);
    if (strcmp(name, "nc_num_aggrs_per_node") == 0)
        return is_beyond_ranks(hints->aggregators_a_node, ds->file.nodes->nranks, " on this node", used);
    if (strcmp(name, "cb_buffer_size") == 0)
        return is_other_buffer(ds, used);
    if (strcmp(name, "nc_burst_buf") == 0)
        return is_beside_file(ds, used);
    if (strcmp(name, "nc_filter_threads") == 0)
        return is_automatic(ds, used);
    if (strcmp(name, "nc_prefetch") == 0)
        return is_within_memory(ds, used);
    if (strcmp(name, "nc_strategy") == 0)
        return is_other_strategy(ds, used);
    return strcmp(name, "striping_unit") == 0 && is_other_unit(ds, used);
}
