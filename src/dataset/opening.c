/* What the ranks agree on before and after a file is opened.
 *
 * Collective steps: the duplication of the communicator; one reduction by which all ranks receive what rank 0 decides,
 * and whether all are ready; MPI_File_open; to read a file, the broadcast of its header; one reduction of the results.
 * The first file of a communicator takes one step more, to find the nodes. A file that takes the communicator of a
 * closed one takes one less: see file/communicator.h. A new file on Lustre takes two more, in which the driver counts
 * the nodes and shares the stripes that it chooses. Each file of several ranks takes one more under
 * MPI_THREAD_MULTIPLE, to find whether a rank has a time limit. */
#include "dataset/opening.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "dataset/caller.h"
#include "dataset/environment.h"
#include "dataset/hints.h"
#include "dataset/last_error.h"
#include "dataset/launcher.h"
#include "dataset/message.h"
#include "dataset/modes.h"
#include "dataset/statistics.h"
#include "dataset/storage_hints.h"
#include "dataset/united.h"
#include "drivers/driver.h"
#include "file/agree.h"
#include "file/communicator.h"
#include "file/log.h"
#include "file/nodes.h"
#include "file/writer.h"

#define FRONT_BYTES 4096 /* of a file that is replaced: its format is known by them */
#define LIST_BYTES 1024  /* a longer list of hints takes a broadcast of its own */

/* What rank 0 decides. Plain bytes. */
typedef struct decisions {
    int mode, format;
    bool safe, relax; /* they decide which collective calls are made, and the environments of ranks may differ */
    pnc_hints hints;
    pnc_inspection inspected;
    int64_t storage_length; /* of the hints for variables */
    int64_t list_length;    /* of PNETCDF_HINTS: launchers need not set it on all ranks */
    char list[LIST_BYTES];
} decisions;

/* Combined by MPI_BOR. Only rank 0 has decisions that are not zero: the others receive them, as from a broadcast. */
typedef struct exchange {
    decisions root;
    int64_t kind, complement; /* of the call: they have a bit in common if it differs across the ranks */
    bool failed;              /* a rank has an error */
    bool lacks_nodes;         /* a rank does not know the nodes */
    bool has_limit;           /* a rank has a time limit, and may have sent notices */
    bool frees_comm;          /* a rank cannot keep the communicator */
} exchange;
_Static_assert(sizeof(exchange) <= PNC_COMBINED_BYTES, "PNC_COMBINED_BYTES is too small");

void pnc_dataset_state_free(pnc_dataset *ds)
{
    pnc_io_context_free(&ds->io);
    pnc_io_deferred_free(&ds->deferred);
    pnc_memory_free(ds->logged_lengths);
    pnc_formats_format_free(ds->format);
    pnc_format_model_free(&ds->model);
    if (ds->info != MPI_INFO_NULL)
        MPI_Info_free(&ds->info);
    if (ds->environment != MPI_INFO_NULL)
        MPI_Info_free(&ds->environment);
    pnc_file_writer_end(&ds->file);
    pnc_file_log_free(&ds->file);
    pnc_file_maxima_free(&ds->file);
    pnc_file_comm_release(&ds->file);
    pnc_file_time_limit_free(&ds->file);
    pnc_file_watch_free(ds->file.watch);
    pnc_statistics_free(ds->file.statistics);
    pnc_memory_free(ds->storage_hints);
    pnc_dataset_united_free(ds);
    pnc_memory_free(ds->store_path);
    pnc_memory_free(ds->references_of);
    pnc_memory_free(ds->file.path);
    pnc_memory_free(ds);
}

/* MPI still uses the communicator of a file whose time limit was exceeded. */
int pnc_dataset_opening_discard(pnc_dataset *ds, int err)
{
    pnc_dataset_error_report(ds, err);
    pnc_memory_free(ds->file.store);
    if (pnc_file_time_limit_is_exceeded(&ds->file))
        ds->file.comm = MPI_COMM_NULL;
    pnc_dataset_state_free(ds);
    return err;
}

/* Collective. On all ranks or on none, but for NC_ETIMEOUT. */
static int get_communicator(const pnc_opening *o, pnc_file *file)
{
    const bool safe = pnc_dataset_environment_is_on("PNETCDF_SAFE_MODE", false);
    pnc_hints own = {0};
    int64_t seconds;

    MPI_Comm_rank(o->comm, &file->rank);
    MPI_Comm_size(o->comm, &file->nprocs);
    if (file->nprocs == 1)
        pnc_dataset_launcher_check(file->path);
    if (file->nprocs > 1)
        pnc_dataset_hints_find_timeout(o->info, &own);
    seconds = pnc_dataset_hints_get_limit(&own);
    if (seconds > 0 && pnc_file_time_limit_set(file, seconds, own.timeout_action == PNC_TIMEOUT_ABORTS) != NC_NOERR)
        pnc_error_clear(file->error); /* without memory there is no limit */
    file->watch =
        pnc_file_watch_create(file->path, file->rank, file->nprocs, pnc_dataset_hints_get_patience(&own, safe), safe);
    if (file->limit == NULL)
        pnc_file_watch_begin(file->watch, file->call.name);
    return pnc_file_comm_take(file, o->comm);
}

/* --- the dataset --- */

static pnc_format *create_format(pnc_dataset *ds)
{
    pnc_format *f = pnc_formats_format_alloc();

    if (f == NULL)
        return NULL;
    f->file = &ds->file;
    f->model = &ds->model;
    f->hints = &ds->hints.format;
    f->announce = pnc_dataset_message_print;
    return f;
}

/* A dataset with all the memory that it needs before the file is open, or NULL. */
static pnc_dataset *create_dataset(const pnc_opening *o, const pnc_file *file)
{
    pnc_dataset *ds = pnc_memory_alloc_zeroed(1, sizeof *ds);

    if (ds == NULL)
        return NULL;
    ds->ncid = -1;
    ds->info = ds->environment = MPI_INFO_NULL;
    ds->file = *file;
    ds->error = *file->error; /* of a step that has failed */
    ds->file.error = &ds->error;
    ds->file.path = pnc_string_copy(file->path);
    ds->store_path = pnc_memory_alloc((int64_t)strlen(file->path) + PNC_SUFFIX_BYTES, 1);
    ds->file.store = pnc_driver_store_create();
    ds->format = create_format(ds);
    ds->file.call.name = pnc_dataset_caller_identify(o->call, &ds->error);
    ds->file.call.object = ds->file.path;
    ds->fill_mode = NC_NOFILL;
    if (ds->file.path != NULL && ds->store_path != NULL && ds->file.store != NULL && ds->format != NULL &&
        pnc_io_context_init(&ds->io, &ds->file, &ds->model) == NC_NOERR)
        return ds;
    ds->file.comm = MPI_COMM_NULL; /* the caller frees what it has */
    ds->file.nodes = NULL;
    ds->file.limit = NULL;
    ds->file.watch = NULL;
    pnc_memory_free(ds->file.store);
    pnc_dataset_state_free(ds);
    return NULL;
}

static int check_arguments(pnc_dataset *ds, const pnc_opening *o)
{
    if (o->ncidp == NULL)
        return pnc_error_set(&ds->error, NC_EINVAL, "ncidp is NULL");
    return ds->file.path[0] == '\0' ? pnc_error_set(&ds->error, NC_EBAD_FILE, "the file name is empty") : NC_NOERR;
}

pnc_open_purpose pnc_dataset_opening_get_purpose(const pnc_opening *o)
{
    if (o->creates)
        return (o->mode & NC_NOCLOBBER) != 0 ? PNC_OPEN_NEW : PNC_OPEN_REPLACE;
    return (o->mode & NC_WRITE) != 0 ? PNC_OPEN_UPDATE : PNC_OPEN_READ;
}

/* --- the mode --- */

/* Flags of netCDF that parallel files cannot support. Other flags without a meaning here are ignored, as programs pass
 * the same mode to other libraries. */
#define REFUSED_FLAGS (NC_DISKLESS | NC_MMAP)

int pnc_dataset_opening_get_hinted(const pnc_dataset *ds)
{
    static const int hinted[] = {0, /* as the words of nc_format */
                                 NC_FORMAT_NETCDF4,
                                 NC_FORMAT_NETCDF4_CLASSIC,
                                 NC_FORMAT_CLASSIC,
                                 NC_FORMAT_CDF2,
                                 NC_FORMAT_CDF5,
                                 PNC_VERSION_ZARR};

    return hinted[ds->hints.new_format];
}

/* A program that asked for CDF-1 or CDF-2 gets the classic model, which keeps the meaning of its calls: types, unsigned
 * bytes, one unlimited dimension. */
static void apply_format_hint(const pnc_dataset *ds, pnc_opening *o)
{
    int asked = o->format;
    bool is_old = asked == NC_FORMAT_CLASSIC || asked == NC_FORMAT_CDF2;

    if (ds->hints.new_format == 0)
        return;
    o->format = pnc_dataset_opening_get_hinted(ds);
    if (is_old || asked == NC_FORMAT_NETCDF4_CLASSIC) {
        if (o->format == NC_FORMAT_NETCDF4)
            o->format = NC_FORMAT_NETCDF4_CLASSIC;
        if (o->format == PNC_VERSION_ZARR)
            o->format = PNC_VERSION_ZARR_CLASSIC;
    }
    if (pnc_formats_version_get_model(o->format) == NC_FORMAT_NETCDF4_CLASSIC && is_old)
        o->asked = asked;
}

/* o->format: the format that the hint chooses, or the mode, or the default one. */
static int check_create_mode(pnc_dataset *ds, pnc_opening *o)
{
    if (o->mode & REFUSED_FLAGS)
        return pnc_error_set(&ds->error, NC_EINVAL_CMODE,
                             "cmode has NC_DISKLESS or NC_MMAP, which parallel files "
                             "do not support: leave them out");
    PNC_TRY(pnc_formats_mode_choose(o->mode, o->format, &o->format, &ds->error));
    apply_format_hint(ds, o);
    return NC_NOERR;
}

static int check_open_mode(pnc_dataset *ds, int omode)
{
    if (omode & REFUSED_FLAGS)
        return pnc_error_set(&ds->error, NC_EINVAL_OMODE,
                             "omode has NC_DISKLESS or NC_MMAP, which parallel files "
                             "do not support: leave them out");
    return NC_NOERR;
}

int pnc_dataset_opening_check_mode(pnc_dataset *ds, pnc_opening *o)
{
    return o->creates ? check_create_mode(ds, o) : check_open_mode(ds, o->mode);
}

/* --- rank 0 --- */

/* Of a name that no other program chooses: MPI_MODE_EXCL makes it certain. */
static void choose_suffix(char *suffix)
{
    double now = MPI_Wtime();
    int64_t process = getpid();
    uint64_t hash = pnc_digest_add(pnc_digest_add(PNC_DIGEST_START, &now, sizeof now), &process, sizeof process);

    snprintf(suffix, PNC_SUFFIX_BYTES, ".part-%08lx", (unsigned long)(hash & 0xffffffff));
}

/* Before a file is replaced: another program may have it open for writing, and the old file, or the new one, may be of
 * a format that has one writer. */
static void hold_replaced(pnc_dataset *ds, const pnc_opening *o, pnc_inspection *found)
{
    pnc_opening checked = *o;
    char front[FRONT_BYTES];
    bool is_for_one;

    if (pnc_dataset_opening_get_purpose(o) != PNC_OPEN_REPLACE || found->error.code != NC_NOERR)
        return;
    is_for_one =
        pnc_dataset_opening_check_mode(ds, &checked) == NC_NOERR && pnc_formats_version_has_one_writer(checked.format);
    if (!is_for_one)
        is_for_one =
            pnc_formats_front_has_one_writer(front, pnc_file_front_peek(&ds->file, ds->file.path, front, sizeof front));
    pnc_error_clear(&ds->error); /* all ranks find one of the mode */
    if (is_for_one && pnc_file_writer_begin(&ds->file, ds->file.path) != NC_NOERR) {
        found->error = ds->error;
        pnc_error_clear(&ds->error);
    }
}

/* Values of a program that has died may be in logs only; those that a replay writes are named. */
static void check_mark(const pnc_dataset *ds, pnc_error *error)
{
    char stamp[MPI_MAX_INFO_VAL + 1];
    bool replays = pnc_dataset_hints_get(ds->info, "nc_burst_buf_replay", stamp);

    (void)pnc_file_log_mark_check(ds->file.path, replays ? stamp : NULL, error);
}

/* Rank 0. A dataset that is no file has a driver of its own, whatever the hint says. */
static void choose_driver(pnc_dataset *ds, const pnc_opening *o)
{
    pnc_opening checked = *o;
    const char *driver = NULL;

    if (!o->creates) {
        ds->hints.driver = pnc_driver_choose((int)ds->hints.driver, ds->file.path);
        return;
    }
    if (pnc_dataset_opening_check_mode(ds, &checked) == NC_NOERR)
        driver = pnc_formats_version_get_driver(checked.format);
    if (driver != NULL)
        ds->hints.driver = pnc_driver_of_dataset_find(driver);
    pnc_error_clear(&ds->error); /* all ranks find one of the mode */
}

/* Rank 0. */
static int decide(pnc_dataset *ds, const pnc_opening *o, decisions *d)
{
    const char *list = getenv("PNETCDF_HINTS");
    const pnc_store_ops *driver;

    PNC_TRY(pnc_dataset_hints_merge(ds, o->info, list));
    PNC_TRY(pnc_dataset_hints_merge_environment(ds));
    pnc_dataset_hints_set(ds);
    ds->hints.statistics = pnc_dataset_statistics_choose(ds->hints.statistics);
    PNC_TRY(pnc_dataset_storage_hints_read(ds));
    choose_driver(ds, o);
    driver = pnc_driver_get((int)ds->hints.driver, &ds->drivers);
    PNC_TRY(pnc_dataset_storage_hints_add_default(ds, driver->name));
    d->storage_length = ds->storage_hints == NULL ? 0 : (int64_t)strlen(ds->storage_hints);
    d->mode = o->mode;
    d->format = o->format;
    d->safe = pnc_dataset_environment_is_on("PNETCDF_SAFE_MODE", false);
    d->relax = pnc_dataset_environment_is_on("PNETCDF_RELAX_COORD_BOUND", true);
    d->hints = ds->hints;
    d->list_length = list == NULL ? 0 : (int64_t)strlen(list);
    if (d->list_length < LIST_BYTES && list != NULL)
        memcpy(d->list, list, (size_t)d->list_length);
    if (o->creates && ds->hints.whole_files != 0 && driver->publish != NULL)
        choose_suffix(d->inspected.suffix);
    if (driver->inspect != NULL)
        driver->inspect(ds->file.path, pnc_dataset_opening_get_purpose(o), &d->inspected);
    ds->file.driver = driver;
    hold_replaced(ds, o, &d->inspected);
    if (driver->local_path != NULL && pnc_dataset_opening_get_purpose(o) == PNC_OPEN_UPDATE)
        check_mark(ds, &d->inspected.error);
    return NC_NOERR;
}

/* Collective. All ranks return an error, or none does. */
static int exchange_decisions(pnc_file *file, exchange *x, int err)
{
    int late;

    err = pnc_file_late_take(file, err);
    x->kind = file->call.kind;
    x->complement = ~x->kind;
    x->failed = err != NC_NOERR;
    x->has_limit = file->limit != NULL;
    late = pnc_file_bits_agree(file, x, (int)sizeof *x, "the decisions of rank 0");
    if (late != NC_NOERR)
        return pnc_error_keep_first(err, late);
    if (x->has_limit) /* the limit of rank 0, which is not known here, replaces it; or opening fails */
        pnc_file_time_limit_end(file);
    if (file->nprocs > 1 && (x->kind & x->complement) != 0)
        return pnc_error_keep_first(err, pnc_file_mismatch_report(file));
    return x->failed ? pnc_file_status_agree(file, err) : NC_NOERR;
}

/* --- after the exchange --- */

/* Merge the hints on a rank that has received the list. Collective if the list is long. */
static int adopt_list(pnc_dataset *ds, const pnc_opening *o, const decisions *d)
{
    bool has_it = ds->file.rank == 0;
    char *list = NULL;
    int err = NC_NOERR;

    if (d->list_length < LIST_BYTES)
        return has_it ? NC_NOERR : pnc_dataset_hints_merge(ds, o->info, d->list_length > 0 ? d->list : NULL);
    list = has_it ? pnc_string_copy(getenv("PNETCDF_HINTS")) : pnc_memory_alloc_zeroed(d->list_length + 1, 1);
    if (list == NULL)
        err = pnc_error_set(&ds->error, NC_ENOMEM, "no memory to read PNETCDF_HINTS");
    err = pnc_file_status_agree(&ds->file, err);
    if (err == NC_NOERR)
        pnc_file_bytes_broadcast(&ds->file, list, d->list_length, "PNETCDF_HINTS");
    if (err == NC_NOERR && !has_it)
        err = pnc_dataset_hints_merge(ds, o->info, list);
    pnc_memory_free(list);
    return err;
}

/* Adopt rank 0's mode. Returns a code if this rank has passed a different one. */
static int adopt_mode(pnc_opening *o, const decisions *d)
{
    int mismatch = NC_NOERR;

    if (o->mode != d->mode)
        mismatch = o->creates ? NC_EMULTIDEFINE_CMODE : NC_EMULTIDEFINE_OMODE;
    o->mode = d->mode;
    o->format = d->format;
    return mismatch;
}

/* With NC_SHARE each collective put waits for its writes, so that there is nothing to delay. */
static bool delays_writes(const pnc_dataset *ds, const pnc_opening *o)
{
    bool writes = o->creates || (o->mode & NC_WRITE) != 0;

    return (ds->hints.write_behind != 0 || ds->hints.burst_buf != 0) && writes && (o->mode & NC_SHARE) == 0;
}

/* What another program changes is to be seen at once with NC_SHARE. */
static bool reads_ahead(const pnc_dataset *ds, const pnc_opening *o)
{
    return ds->hints.prefetch != 0 && (o->mode & NC_SHARE) == 0;
}

/* Rank 0 decides; this rank may have had no watch. */
static void watch_waits(pnc_dataset *ds)
{
    pnc_file *file = &ds->file;
    int64_t seconds = pnc_dataset_hints_get_patience(&ds->hints, ds->safe);

    if (file->watch == NULL && ds->safe)
        file->watch = pnc_file_watch_create(file->path, file->rank, file->nprocs, seconds, true);
    pnc_file_watch_set(file->watch, seconds);
}

static int adopt_decisions(pnc_dataset *ds, pnc_opening *o, const decisions *d)
{
    int err, shared, limited;

    ds->safe = ds->file.is_safe = d->safe;
    ds->io.relax = d->relax;
    ds->hints = d->hints;
    ds->io.buffer_size = ds->hints.buffer_size;
    ds->io.hints = &ds->hints.access;
    ds->file.driver = pnc_driver_get((int)ds->hints.driver, &ds->drivers);
    o->inspected = d->inspected;
    sprintf(ds->store_path, "%s%s", ds->file.path, o->inspected.suffix);
    ds->suffix = (int)strlen(o->inspected.suffix);
    o->mismatch = adopt_mode(o, d);
    o->delays = delays_writes(ds, o);
    o->reads_ahead = reads_ahead(ds, o);
    if (o->delays || o->reads_ahead)
        ds->file.driver = pnc_driver_behind_add(ds->file.driver, &ds->drivers);
    if (ds->safe)
        o->mismatch = pnc_file_status_agree(&ds->file, o->mismatch);
    err = adopt_list(ds, o, d);
    shared = pnc_dataset_storage_hints_share(ds, d->storage_length);
    err = pnc_error_keep_first(err, shared);
    watch_waits(ds);
    limited = pnc_file_time_limit_set(&ds->file, pnc_dataset_hints_get_limit(&ds->hints),
                                      ds->hints.timeout_action == PNC_TIMEOUT_ABORTS);
    return pnc_error_keep_first(err, limited);
}

/* --- begin and end --- */

/* What a rank does before the exchange. Local. */
static int prepare(pnc_dataset *ds, pnc_opening *o, pnc_file *file, exchange *x)
{
    if (ds == NULL)
        return pnc_error_set(file->error, NC_ENOMEM, "no memory to open a file");
    PNC_TRY(check_arguments(ds, o));
    PNC_TRY(pnc_file_comm_check_spare(&ds->file, ds->file.nodes == NULL ? PNC_COMMS_FOR_NODES : PNC_COMMS_FOR_FILE));
    PNC_TRY(pnc_file_maxima_init(&ds->file));
    x->lacks_nodes = ds->file.nodes == NULL;
    x->frees_comm = !pnc_file_comm_can_keep();
    return ds->file.rank == 0 ? decide(ds, o, &x->root) : NC_NOERR;
}

/* Without a dataset: this rank lacks the memory for one. */
static int give_up(const pnc_opening *o, pnc_dataset *ds, pnc_file *file, int err)
{
    if (ds != NULL)
        return pnc_dataset_opening_discard(ds, err);
    if (pnc_file_time_limit_is_exceeded(file))
        file->comm = MPI_COMM_NULL;
    pnc_file_comm_release(file);
    pnc_file_time_limit_free(file);
    pnc_file_watch_free(file->watch);
    return pnc_dataset_error_report_call(o->call, o->path, err, file->error);
}

/* A rank that knows the nodes takes part for one that does not. Collective; the code is that of this rank. */
static int find_nodes(pnc_dataset *ds, const pnc_opening *o)
{
    int err;

    if (!o->finds_nodes)
        return NC_NOERR;
    pnc_file_nodes_release(ds->file.nodes);
    ds->file.nodes = NULL;
    err = pnc_file_nodes_find(ds->file.comm, &ds->file.nodes);
    if (err == NC_NOERR)
        return err;
    return pnc_error_set(&ds->error, err, "%s: cannot find the ranks that share a node: %s", ds->file.path,
                         pnc_error_get_text(err));
}

int pnc_dataset_opening_begin(pnc_opening *o, pnc_dataset **out, int *late)
{
    pnc_error error = {0};
    pnc_file file = {.path = (char *)(o->path == NULL ? "" : o->path), .comm = MPI_COMM_NULL, .error = &error};
    pnc_dataset *ds = NULL;
    exchange x;
    double begin = MPI_Wtime(), waits = begin, waited = 0;
    int err;

    pnc_dataset_call_begin();
    memset(&x, 0, sizeof x);
    file.call = (pnc_file_call){.name = pnc_dataset_caller_identify(o->call, &error),
                                .function = o->call,
                                .object = file.path,
                                .kind = pnc_file_kind_compute(o->call, file.path, (int64_t)strlen(file.path))};
    if (o->comm == MPI_COMM_NULL) /* MPI calls would abort the program */
        err = pnc_error_set(&error, NC_EINVAL, "the communicator is MPI_COMM_NULL");
    else
        err = get_communicator(o, &file);
    if (err == NC_NOERR) { /* on all ranks or on none */
        ds = create_dataset(o, &file);
        err = prepare(ds, o, &file, &x);
        waits = MPI_Wtime();
        err = exchange_decisions(ds != NULL ? &ds->file : &file, &x, err);
        waited = MPI_Wtime() - waits;
    }
    pnc_file_watch_end(file.watch);
    if (err != NC_NOERR)
        return give_up(o, ds, &file, err);
    ds->file.maxima.is_used = ds->file.maxima.exists;
    o->finds_nodes = x.lacks_nodes;
    if (!x.lacks_nodes && !x.frees_comm && !x.has_limit && pnc_dataset_hints_get_limit(&x.root.hints) == 0)
        pnc_file_comm_reserve(&ds->file);
    err = find_nodes(ds, o);
    *late = pnc_error_keep_first(err, adopt_decisions(ds, o, &x.root));
    pnc_dataset_statistics_start(ds, MPI_Wtime() - begin, waited);
    *out = ds;
    return NC_NOERR;
}

/* Ranks may pass different communicators by mistake: then no step finds it, and the others wait for this one. */
void pnc_dataset_opening_report(const pnc_dataset *ds)
{
    static atomic_flag is_reported = ATOMIC_FLAG_INIT;
    int ranks, rank;

    if (!ds->safe || ds->file.nprocs > 1)
        return;
    ranks = pnc_driver_count_world();
    if (ranks <= 1 || atomic_flag_test_and_set(&is_reported))
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pnc_dataset_warning_print(ds,
                              "rank %d of the %d of MPI_COMM_WORLD has opened it with a communicator of 1 rank (%s). "
                              "Ranks that open it with a larger communicator wait until rank %d does, too",
                              rank, ranks, ds->file.call.name, rank);
}

int pnc_dataset_opening_end(const pnc_opening *o, pnc_dataset *ds, int err)
{
    pnc_store *store = ds->file.store;
    pnc_striping root = ds->file.rank == 0 ? store->striping : (pnc_striping){0};
    int64_t inode = ds->file.rank == 0 ? store->identity.inode : 0;
    bool has_found = o->finds_nodes && ds->file.nodes != NULL;
    int64_t is_leader = has_found && ds->file.nodes->is_leader;
    int64_t nprocessors = has_found && ds->file.rank == 0 ? ds->file.nodes->nprocessors : 0;
    int64_t flags = root.round_robin | root.in_memory << 1 | root.on_servers << 2 | root.is_local << 3;
    int64_t sums[] = {0, is_leader, root.unit, root.factor, flags, inode, nprocessors};

    err = pnc_file_late_take(&ds->file, err);
    sums[0] = err != NC_NOERR;
    pnc_file_sums_agree(&ds->file, sums, 7, "the results of opening the file");
    if (sums[0] > 0)
        return pnc_file_status_agree(&ds->file, err);
    root = (pnc_striping){.unit = sums[2],
                          .factor = sums[3],
                          .round_robin = (sums[4] & 1) != 0,
                          .in_memory = (sums[4] & 2) != 0,
                          .on_servers = (sums[4] & 4) != 0,
                          .is_local = (sums[4] & 8) != 0};
    if (o->finds_nodes) {
        ds->file.nodes->n = (int)sums[1];
        ds->file.nodes->nprocessors = (int)sums[6];
        pnc_file_nodes_set(o->comm, ds->file.nodes);
    }
    pnc_store_facts_set(store, ds->file.nodes->n, (pnc_neighbours){ds->file.nodes->ranks, ds->file.nodes->nranks},
                        &root, sums[5]);
    return NC_NOERR;
}
