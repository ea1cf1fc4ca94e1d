/* From create or open to close: the dataset struct and everything that is decided once per file. */
#include "dataset/lifecycle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/memory.h"
#include "dataset/caller.h"
#include "dataset/environment.h"
#include "dataset/headerio.h"
#include "dataset/hints.h"
#include "dataset/hints_show.h"
#include "dataset/last_error.h"
#include "dataset/modes.h"
#include "dataset/records.h"
#include "dataset/registry.h"
#include "file/agree.h"
#include "io/queue.h"

/* Flags of netCDF that parallel files cannot support. Other flags without a meaning here are ignored, as programs pass
 * the same mode to other libraries. */
#define REFUSED_FLAGS (NC_DISKLESS | NC_MMAP)

static atomic_int default_format = NC_FORMAT_CLASSIC;

int pnc_dataset_default_format_get(void)
{
    return default_format;
}

int pnc_dataset_default_format_set(int format, int *old, pnc_error *error)
{
    int before;

    if (format != NC_FORMAT_CLASSIC && format != NC_FORMAT_CDF2 && format != NC_FORMAT_CDF5)
        return pnc_error_set(error, NC_EINVAL,
                             "format %d cannot be created: choose NC_FORMAT_CLASSIC, NC_FORMAT_CDF2 "
                             "or NC_FORMAT_CDF5",
                             format);
    before = atomic_exchange(&default_format, format);
    if (old != NULL)
        *old = before;
    return NC_NOERR;
}

static void free_dataset(pnc_dataset *ds)
{
    pnc_io_context_free(&ds->io);
    pnc_format_model_free(&ds->model);
    pnc_dataset_before_free(ds);
    if (ds->info != MPI_INFO_NULL)
        MPI_Info_free(&ds->info);
    if (ds->environment != MPI_INFO_NULL)
        MPI_Info_free(&ds->environment);
    if (ds->file.comm != MPI_COMM_NULL)
        MPI_Comm_free(&ds->file.comm);
    pnc_memory_free(ds->file.path);
    pnc_memory_free(ds);
}

/* At the end of a create or open that failed: report the error and free the dataset. */
static int discard(pnc_dataset *ds, int err)
{
    pnc_dataset_error_report(ds, err);
    free_dataset(ds);
    return err;
}

/* MPI libraries have a bounded number of communicators (2048 contexts in MPICH; a file takes two, for its own and for
 * that of MPI-IO). At the bound the call returns an error; the error handler of the program could abort it. */
static int dup_without_abort(MPI_Comm comm, MPI_Comm *own)
{
    MPI_Errhandler users;
    int code = MPI_Comm_get_errhandler(comm, &users);

    if (code != MPI_SUCCESS)
        return code;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    code = MPI_Comm_dup(comm, own);
    MPI_Comm_set_errhandler(comm, users);
    MPI_Errhandler_free(&users);
    return code;
}

/* Duplicate the communicator, or return an error on every rank if one of them is not ready. Each file has its own, as
 * different threads may use different files. MPI forbids concurrent collective calls on one communicator: the lock
 * allows threads to open files with MPI_COMM_SELF at once. With several ranks the caller must order the calls: a lock
 * cannot match the threads of different ranks. */
static int duplicate_communicator(MPI_Comm comm, int ready, MPI_Comm *own, pnc_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int nprocs = 0, code = MPI_SUCCESS, all = ready;

    MPI_Comm_size(comm, &nprocs);
    if (nprocs > 1)
        code = MPI_Allreduce(&ready, &all, 1, MPI_INT, MPI_MIN, comm);
    if (code != MPI_SUCCESS)
        return pnc_error_set(error, NC_EMPI, "MPI_Allreduce failed on the communicator");
    if (!all)
        return pnc_error_set(error, NC_ENOMEM, "no memory to open a file");
    if (nprocs == 1)
        pthread_mutex_lock(&lock);
    code = dup_without_abort(comm, own);
    if (nprocs == 1)
        pthread_mutex_unlock(&lock);
    if (code == MPI_SUCCESS)
        return NC_NOERR;
    *own = MPI_COMM_NULL;
    return pnc_error_set(error, NC_ENFILE,
                         "MPI_Comm_dup failed, as MPI libraries bound the number of "
                         "communicators: close files, or free communicators that are no longer needed");
}

/* Allocate the struct and duplicate the communicator. Collective; returns an error on every rank if one of them has no
 * memory. */
static int create_dataset(MPI_Comm comm, const char *path, const char *call, pnc_dataset **out, pnc_error *error)
{
    pnc_dataset *ds = pnc_memory_alloc_zeroed(1, sizeof *ds);
    bool ready = false;
    MPI_Comm own;
    int err;

    if (ds != NULL) {
        ds->info = ds->environment = MPI_INFO_NULL;
        ds->file.comm = MPI_COMM_NULL;
        ds->file.path = pnc_string_copy(path);
        ds->file.error = &ds->error;
        ds->call = pnc_dataset_caller_identify(call, &ds->error);
        ds->fill_mode = NC_NOFILL;
        ds->safe = pnc_dataset_environment_is_on("PNETCDF_SAFE_MODE", false);
        ready = ds->file.path != NULL && pnc_io_context_init(&ds->io, &ds->file, &ds->model) == NC_NOERR;
        ds->io.relax = pnc_dataset_environment_is_on("PNETCDF_RELAX_COORD_BOUND", true);
    }
    err = duplicate_communicator(comm, ready, &own, error);
    if (err != NC_NOERR) {
        if (ds != NULL)
            free_dataset(ds);
        return err;
    }
    ds->file.comm = own;
    MPI_Comm_set_errhandler(ds->file.comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(ds->file.comm, &ds->file.rank);
    MPI_Comm_size(ds->file.comm, &ds->file.nprocs);
    *out = ds;
    return NC_NOERR;
}

/* Adopt rank 0's mode. Returns `code` on ranks that passed a different mode; in safe mode, an error on all ranks. */
static int agree_mode(pnc_dataset *ds, int *mode, int *format, int code)
{
    int mine = *mode, root[2] = {*mode, *format}, err;

    PNC_TRY(pnc_file_bytes_broadcast(&ds->file, root, sizeof root, "the mode"));
    *mode = root[0];
    *format = root[1];
    err = mine == root[0] ? NC_NOERR : code;
    return ds->safe ? pnc_file_status_agree(&ds->file, err) : err;
}

static int check_create_mode(pnc_dataset *ds, int cmode)
{
    if ((cmode & NC_64BIT_OFFSET) && (cmode & NC_64BIT_DATA))
        return pnc_error_set(&ds->error, NC_EINVAL_CMODE,
                             "cmode has both NC_64BIT_OFFSET and NC_64BIT_DATA: choose "
                             "one");
    if (cmode & REFUSED_FLAGS)
        return pnc_error_set(&ds->error, NC_EINVAL_CMODE,
                             "cmode has NC_DISKLESS or NC_MMAP, which parallel files "
                             "do not support: leave them out");
    if (cmode & NC_NETCDF4)
        return pnc_error_set(&ds->error, NC_ENOTBUILT,
                             "cmode has NC_NETCDF4, but this build cannot create netCDF-4 "
                             "files: leave it out for a classic file");
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

static int check_arguments(pnc_dataset *ds, const int *ncidp)
{
    if (ncidp == NULL)
        return pnc_error_set(&ds->error, NC_EINVAL, "ncidp is NULL");
    return ds->file.path[0] == '\0' ? pnc_error_set(&ds->error, NC_EBAD_FILE, "the file name is empty") : NC_NOERR;
}

static int format_of(int cmode, int otherwise)
{
    if (cmode & NC_64BIT_DATA)
        return NC_FORMAT_CDF5;
    return cmode & NC_64BIT_OFFSET ? NC_FORMAT_CDF2 : otherwise;
}

/* Adopt rank 0's switches: they decide which collective calls are made, and the environments of ranks may differ. */
static int share_switches(pnc_dataset *ds)
{
    int switches[2] = {ds->safe, ds->io.relax};

    PNC_TRY(pnc_file_bytes_broadcast(&ds->file, switches, sizeof switches, "the switches of the environment"));
    ds->safe = switches[0];
    ds->io.relax = switches[1];
    return NC_NOERR;
}

/* The steps that create and open share before they access the file. Collective. */
static int prepare(MPI_Comm comm, const char *path, MPI_Info info, const int *ncidp, const char *call,
                   pnc_dataset **out)
{
    const pnc_error no_communicator = {.code = NC_EINVAL, .text = "the communicator is MPI_COMM_NULL"};
    pnc_error error = {0};
    pnc_dataset *ds;
    int err;

    if (comm == MPI_COMM_NULL) /* MPI calls would abort the program */
        return pnc_dataset_error_report_call(call, path, NC_EINVAL, &no_communicator);
    pnc_dataset_caller_identify(call, &error);
    err = create_dataset(comm, path == NULL ? "" : path, call, &ds, &error);
    if (err != NC_NOERR)
        return pnc_dataset_error_report_call(call, path, err, &error);
    err = pnc_dataset_hints_load(ds, info, check_arguments(ds, ncidp));
    if (err == NC_NOERR)
        err = share_switches(ds);
    if (err != NC_NOERR)
        return discard(ds, err);
    ds->io.buffer_size = ds->hints.buffer_size;
    *out = ds;
    return NC_NOERR;
}

/* Collective: after an error on any rank, no rank has an ncid. */
static int assign_ncid(pnc_dataset *ds, int *ncidp)
{
    int err = pnc_dataset_registry_add(ds, &ds->ncid);

    err = pnc_file_status_agree(&ds->file, err);
    if (err == NC_NOERR) {
        *ncidp = ds->ncid;
        pnc_dataset_hints_display(ds);
    } else if (ds->ncid >= 0) {
        pnc_dataset_registry_remove(ds->ncid);
    }
    return err;
}

/* At the end of a successful create or open: report different modes of ranks. */
static int report_mismatch(pnc_dataset *ds, int mismatch)
{
    if (mismatch != NC_NOERR)
        pnc_error_set(&ds->error, mismatch, "rank %d and rank 0 passed different modes: rank 0's mode is used",
                      ds->file.rank);
    return pnc_dataset_error_report(ds, mismatch);
}

int pnc_dataset_create(MPI_Comm comm, const char *path, int cmode, MPI_Info info, int *ncidp)
{
    pnc_dataset *ds;
    int format = default_format, mismatch, err;

    PNC_TRY(prepare(comm, path, info, ncidp, "ncmpi_create", &ds));
    mismatch = agree_mode(ds, &cmode, &format, NC_EMULTIDEFINE_CMODE);
    err = check_create_mode(ds, cmode);
    if (err != NC_NOERR)
        goto free;
    err = pnc_format_model_init(&ds->model, format_of(cmode, format), &ds->error);
    err = pnc_file_status_agree(&ds->file, err);
    if (err != NC_NOERR)
        goto free;
    err = ds->file.driver->create(ds->file.comm, ds->file.path, cmode, ds->info, &ds->file.store, &ds->error);
    if (err != NC_NOERR)
        goto free;
    ds->ncid = -1;
    ds->mode = PNC_DEFINE;
    ds->is_new = true;
    ds->share = (cmode & NC_SHARE) != 0;
    err = assign_ncid(ds, ncidp);
    if (err != NC_NOERR)
        goto close;
    return report_mismatch(ds, mismatch);

close:
    ds->file.store->ops->close(ds->file.store, &ds->error);
free:
    return discard(ds, err);
}

/* Other writers may leave a file that is too short: in no-fill mode, or if they were interrupted. */
static void report_short_file(pnc_dataset *ds)
{
    int64_t size = ds->file.store->end->least_size, end = pnc_format_layout_get_data_end(&ds->model);

    if (size >= end)
        return;
    pnc_error_set(&ds->error, NC_NOERR,
                  "%s ends at byte %lld, but its header describes data up to byte %lld: values "
                  "beyond the end were never written, or the file was cut short; %s",
                  ds->file.path, (long long)size, (long long)end,
                  ds->file.store->end->refuses_short ? "reading them is NC_EREAD (hint nc_short_file=error)"
                                                     : "they read as zeros");
    pnc_dataset_remark_report(ds);
}

int pnc_dataset_open(MPI_Comm comm, const char *path, int omode, MPI_Info info, int *ncidp)
{
    pnc_dataset *ds;
    int format = 0, mismatch, err;

    PNC_TRY(prepare(comm, path, info, ncidp, "ncmpi_open", &ds));
    mismatch = agree_mode(ds, &omode, &format, NC_EMULTIDEFINE_OMODE);
    err = check_open_mode(ds, omode);
    if (err != NC_NOERR)
        goto free;
    err = ds->file.driver->open(ds->file.comm, ds->file.path, omode, ds->info, &ds->file.store, &ds->error);
    if (err != NC_NOERR)
        goto free;
    ds->ncid = -1;
    ds->mode = PNC_COLLECTIVE;
    ds->read_only = !(omode & NC_WRITE);
    ds->share = (omode & NC_SHARE) != 0;
    err = pnc_dataset_header_read(ds);
    if (err != NC_NOERR)
        goto close;
    err = assign_ncid(ds, ncidp);
    if (err != NC_NOERR)
        goto close;
    report_short_file(ds);
    return report_mismatch(ds, mismatch);

close:
    ds->file.store->ops->close(ds->file.store, &ds->error);
free:
    return discard(ds, err);
}

int pnc_dataset_delete(const char *path, MPI_Info info, pnc_error *error)
{
    const pnc_store_ops *driver;

    if (path == NULL || path[0] == '\0')
        return pnc_error_set(error, NC_EBAD_FILE, "the file name is empty");
    PNC_TRY(pnc_dataset_hints_choose_driver(path, info, &driver, error));
    return driver->remove(path, info, error);
}

/* At the end of a close or abort: report the error of this rank, or that of another one, and free the dataset. */
static int finish(pnc_dataset *ds, int err)
{
    int agreed = pnc_file_status_agree(&ds->file, err);

    pnc_dataset_error_report(ds, agreed);
    pnc_dataset_registry_remove(ds->ncid);
    free_dataset(ds);
    return agreed;
}

/* Close the store and free the dataset, even if the call has failed before. */
static int close_file(pnc_dataset *ds, int err)
{
    int closed = ds->file.store->ops->close(ds->file.store, &ds->error);

    return finish(ds, pnc_error_keep_first(err, closed));
}

/* Close and delete a file whose first ncmpi_enddef has not completed. */
static int delete_file(pnc_dataset *ds)
{
    const pnc_store_ops *driver = ds->file.driver;
    int err = driver->close(ds->file.store, &ds->error);

    if (ds->file.rank == 0)
        err = pnc_error_keep_first(err, driver->remove(ds->file.path, ds->info, &ds->error));
    return finish(ds, err);
}

/* Cancel pending requests. This is reported even if close itself succeeds. */
static int cancel_pending(pnc_dataset *ds)
{
    int64_t puts, gets;

    pnc_io_queue_clear(ds->io.queue, &puts, &gets);
    if (puts + gets == 0)
        return NC_NOERR;
    fprintf(stderr,
            "PnetCDF warning: %s: %lld nonblocking put and %lld get requests still pending on process %d. "
            "Cancelling ... (call ncmpi_wait_all before ncmpi_close)\n",
            ds->file.path, (long long)puts, (long long)gets, ds->file.rank);
    pnc_error_set(&ds->error, NC_EPENDING,
                  "%s was closed with pending requests: call ncmpi_wait_all before "
                  "ncmpi_close",
                  ds->file.path);
    pnc_dataset_error_report(ds, NC_EPENDING);
    pnc_error_clear(&ds->error); /* close may set an error of its own */
    return NC_EPENDING;
}

int pnc_dataset_close(pnc_dataset *ds)
{
    int err = NC_NOERR, pending = cancel_pending(ds);

    if (ds->mode == PNC_DEFINE)
        err = pnc_dataset_enddef(ds);
    else if (!ds->read_only)
        err = pnc_dataset_numrecs_flush(ds);
    err = close_file(ds, err);
    return pnc_error_keep_first(err, pending);
}

int pnc_dataset_abort(pnc_dataset *ds)
{
    int64_t puts, gets;

    pnc_io_queue_clear(ds->io.queue, &puts, &gets); /* abort cancels pending requests without an error */
    if (ds->mode != PNC_DEFINE)
        return pnc_dataset_close(ds);
    return ds->is_new ? delete_file(ds) : close_file(ds, NC_NOERR);
}
