/* The table of formats, and what all formats use: the definitions before a change, and the bytes with which rank 0
 * opens a file for all. */
#include "formats/format.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"
#include "host/cores.h"

#define FORMAT_OPERATIONS(name, operations) &operations,
static const pnc_format_ops *const formats[] = {PNC_FORMATS(FORMAT_OPERATIONS)};
#define FORMATS ((int)(sizeof formats / sizeof *formats))

/* --- threads --- */

int pnc_formats_threads_count(const pnc_format_hints *hints, int nidle)
{
    return (int)pnc_min64(hints->filter_threads > 0 ? hints->filter_threads - 1 : nidle, PNC_FORMAT_THREADS_MOST);
}

int pnc_formats_threads_behind_count(const pnc_format_hints *hints, int nidle)
{
    return hints->encodes_behind ? pnc_formats_threads_ahead_count(hints, nidle) : 0;
}

int pnc_formats_threads_ahead_count(const pnc_format_hints *hints, int nidle)
{
    int n = pnc_formats_threads_count(hints, nidle);

    if (hints->filter_threads == 0)
        return 0;
    return hints->filter_threads > 0 ? n : (int)pnc_max64(n - (pnc_host_cores_count_omp() - 1), 0);
}

/* --- an open dataset --- */

pnc_format *pnc_formats_format_alloc(void)
{
    size_t most = 0;

    for (int i = 0; i < FORMATS; i++)
        most = formats[i]->bytes > most ? formats[i]->bytes : most;
    return pnc_memory_alloc_zeroed(1, most);
}

void pnc_formats_format_free(pnc_format *f)
{
    if (f == NULL)
        return;
    pnc_formats_before_free(f);
    if (f->ops != NULL)
        f->ops->free(f);
    pnc_memory_free(f);
}

int pnc_formats_filter_check(const pnc_filter *filter, pnc_error *error)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->check_filter != NULL)
            return formats[i]->check_filter(filter, error);
    return NC_NOERR;
}

int pnc_formats_before_copy(pnc_format *f)
{
    pnc_model *copy = pnc_memory_alloc(1, sizeof *copy);
    int err = copy == NULL ? NC_ENOMEM : pnc_format_model_copy(copy, f->model);

    assert(f->before == NULL);
    if (err == NC_NOERR) {
        f->before = copy;
        return NC_NOERR;
    }
    pnc_memory_free(copy);
    return pnc_error_set(f->file->error, err, "%s: no memory for a copy of the definitions", f->file->path);
}

int pnc_formats_before_keep(pnc_format *f)
{
    pnc_model copy;

    PNC_TRY(pnc_formats_before_copy(f));
    copy = *f->before;
    *f->before = *f->model;
    *f->model = copy;
    return NC_NOERR;
}

void pnc_formats_before_restore(pnc_format *f)
{
    pnc_model failed = *f->model;

    if (f->before == NULL)
        return;
    *f->model = *f->before;
    f->model->numrecs = failed.numrecs;
    for (int i = 0; i < f->model->ndims; i++) /* define mode only adds dimensions */
        f->model->dims[i]->length = failed.dims[i]->length;
    *f->before = failed;
    pnc_formats_before_free(f);
}

void pnc_formats_before_free(pnc_format *f)
{
    if (f->before != NULL)
        pnc_format_model_free(f->before);
    pnc_memory_free(f->before);
    f->before = NULL;
}

/* --- versions --- */

/* Flags that choose a format. NC_CLASSIC_MODEL changes one that is chosen. */
#define CHOICES (NC_64BIT_OFFSET | NC_64BIT_DATA | NC_NETCDF4)

/* Version k of those that modes can choose; NULL behind the last one. */
static const pnc_format_version *get_version(int k)
{
    const pnc_format_version *v;

    for (int number = 0; number < FORMATS; number++)
        for (int i = 0; i < PNC_VERSIONS_MOST; i++) {
            v = &formats[number]->versions[i];
            if (v->constant != NULL && v->model == 0 && k-- == 0)
                return v;
        }
    return NULL;
}

/* One that can be created. *number: of its format. */
static const pnc_format_version *find_version(int version, int *number)
{
    for (*number = 0; *number < FORMATS; (*number)++)
        for (int i = 0; i < PNC_VERSIONS_MOST; i++) {
            const pnc_format_version *v = &formats[*number]->versions[i];

            if (v->constant != NULL && v->version == version)
                return v;
        }
    return NULL;
}

static int fail_choice(int cmode, pnc_error *error)
{
    if ((cmode & NC_64BIT_OFFSET) && (cmode & NC_64BIT_DATA))
        return pnc_error_set(error, NC_EINVAL_CMODE, "cmode has both NC_64BIT_OFFSET and NC_64BIT_DATA: choose one");
    if (find_version(NC_FORMAT_NETCDF4, &(int){0}) != NULL)
        return pnc_error_set(error, NC_EINVAL_CMODE, "cmode has NC_NETCDF4 and a flag of classic files: choose one");
    return pnc_error_set(error, NC_ENOTBUILT,
                         "cmode has NC_NETCDF4, but this build cannot create netCDF-4 files: leave it out for a "
                         "classic file");
}

int pnc_formats_mode_choose(int cmode, int otherwise, int *version, pnc_error *error)
{
    const pnc_format_version *v;

    *version = otherwise;
    if ((cmode & CHOICES) == 0)
        return NC_NOERR;
    for (int k = 0; (v = get_version(k)) != NULL; k++) {
        if ((v->mode & CHOICES) != (cmode & CHOICES) || (v->mode & ~cmode) != 0)
            continue;
        *version = v->version;
        return NC_NOERR;
    }
    return fail_choice(cmode, error);
}

int pnc_formats_version_check(int version, pnc_error *error)
{
    const pnc_format_version *v = find_version(version, &(int){0});
    char known[200] = "";

    if (v != NULL && v->model == 0)
        return NC_NOERR;
    for (int k = 0; (v = get_version(k)) != NULL; k++) {
        const char *separator = get_version(k + 1) == NULL ? " or " : ", ";
        size_t used = strlen(known);

        snprintf(known + used, sizeof known - used, "%s%s", used == 0 ? "" : separator, v->constant);
    }
    return pnc_error_set(error, NC_EINVAL, "format %d cannot be created: choose %s", version,
                         pnc_error_translate(error, known).text);
}

int pnc_formats_version_get_mode(int version)
{
    for (int i = 0; i < FORMATS; i++)
        for (int k = 0; k < PNC_VERSIONS_MOST; k++)
            if (formats[i]->versions[k].version == version)
                return formats[i]->versions[k].mode;
    return 0;
}

int pnc_formats_version_get_model(int version)
{
    const pnc_format_version *v = find_version(version, &(int){0});

    return v != NULL && v->model != 0 ? v->model : version;
}

const char *pnc_formats_version_get_driver(int version)
{
    int number;

    return find_version(version, &number) != NULL ? formats[number]->driver : NULL;
}

const char *pnc_formats_driver_choose_compression(const char *driver)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->choose_compression != NULL && strcmp(formats[i]->driver, driver) == 0)
            return formats[i]->choose_compression();
    return NULL;
}

bool pnc_formats_version_has_one_writer(int version)
{
    int number;

    return find_version(version, &number) != NULL && formats[number]->has_one_writer;
}

bool pnc_formats_front_has_one_writer(const char *front, int64_t n)
{
    bool has = false;

    for (int i = 0; i < FORMATS && !has; i++)
        has = formats[i]->has_one_writer && formats[i]->driver == NULL && formats[i]->is_format(front, n);
    return has;
}

/* --- creating and opening --- */

int pnc_formats_file_create(pnc_format *f, int version)
{
    int number;

    if (find_version(version, &number) == NULL)
        return pnc_error_set(f->file->error, NC_EINVAL, "%s: format %d cannot be created", f->file->path, version);
    f->ops = formats[number];
    f->is_new = true;
    return f->ops->create(f, version);
}

/* A format that needs a driver of its own is one of objects, and reads those of any driver. */
static bool suits_driver(const pnc_format_ops *ops, const pnc_store_ops *driver)
{
    return (ops->driver != NULL) == (driver->get_objects != NULL);
}

static const pnc_format_ops *find_format(const pnc_format *f, const pnc_format_bytes *front)
{
    for (int i = 0; i < FORMATS; i++)
        if (suits_driver(formats[i], f->file->driver) && formats[i]->is_format(front->at, front->n))
            return formats[i];
    return formats[0];
}

static int64_t number_of(const pnc_format_ops *ops)
{
    int i = 0;

    while (i < FORMATS - 1 && formats[i] != ops)
        i++;
    return i;
}

static int load_on_root(pnc_format *f, pnc_format_bytes *found)
{
    PNC_TRY(pnc_formats_path_add(f, pnc_formats_bytes_begin(f, found)));
    f->ops = find_format(f, found);
    return f->ops->load(f, found);
}

int pnc_formats_file_load(pnc_format *f, int err)
{
    pnc_format_bytes found = {.is_first = f->file->nprocs > 1};
    pnc_format_message message;

    if (f->file->rank == 0 && err == NC_NOERR)
        err = load_on_root(f, &found);
    message.error.code = err;
    message.format = number_of(f->ops);
    if (f->file->nprocs > 1)
        err = pnc_formats_message_broadcast(f, &found, &message, err);
    if (message.error.code == NC_NOERR) {
        f->ops = formats[message.format];
        err = f->ops->adopt(f, &found, &message, err);
    }
    pnc_memory_free(found.at);
    return err;
}

/* --- bytes --- */

int pnc_formats_path_add(const pnc_format *f, int err)
{
    if (err != NC_NOERR) {
        pnc_error_set(f->file->error, err, "%s", pnc_error_get_text(err));
        pnc_error_add_context(f->file->error, "%s", f->file->path);
    }
    return err;
}

int pnc_formats_memory_fail(const pnc_format *f, int64_t bytes)
{
    return pnc_error_set(f->file->error, NC_ENOMEM, "%s: no memory for %lld bytes of header", f->file->path,
                         (long long)bytes);
}

int pnc_formats_bytes_extend(pnc_format *f, pnc_format_bytes *bytes, int64_t upto)
{
    char *larger;

    if (bytes->at != NULL && upto <= bytes->n)
        return NC_NOERR;
    larger = pnc_memory_resize(bytes->at, upto, 1);
    if (larger == NULL) /* the caller adds the path */
        return pnc_error_set(f->file->error, NC_ENOMEM, "no memory for %lld bytes of header", (long long)upto);
    bytes->at = larger;
    PNC_TRY(pnc_file_range_read(f->file, (pnc_extent){bytes->n, upto - bytes->n}, bytes->at + bytes->n));
    bytes->n = upto;
    return NC_NOERR;
}

int pnc_formats_bytes_begin(pnc_format *f, pnc_format_bytes *bytes)
{
    pnc_memory_free(bytes->at);
    bytes->at = NULL;
    bytes->n = 0;
    bytes->is_estimated = false;
    PNC_TRY(pnc_file_get_size(f->file, &bytes->file_size));
    return pnc_formats_bytes_extend(f, bytes, pnc_min64(f->hints->header_read_chunk, bytes->file_size));
}

static void fill_message(const pnc_format *f, const pnc_format_bytes *bytes, int err, pnc_format_message *message)
{
    size_t some = bytes->n < PNC_FORMAT_MESSAGE_BYTES ? (size_t)bytes->n : PNC_FORMAT_MESSAGE_BYTES;

    message->format = number_of(f->ops);
    message->n = bytes->n;
    message->file_size = bytes->file_size;
    message->is_estimated = bytes->is_estimated;
    message->error.code = err;
    memcpy(message->error.text, f->file->error->text, sizeof message->error.text);
    if (err == NC_NOERR)
        memcpy(message->bytes, bytes->at, some);
}

int pnc_formats_message_broadcast(pnc_format *f, pnc_format_bytes *bytes, pnc_format_message *message, int err)
{
    memset(message, 0, sizeof *message);
    if (f->file->rank == 0)
        fill_message(f, bytes, err, message);
    pnc_file_bytes_broadcast(f->file, message, sizeof *message, "the header");
    if (f->file->rank != 0 && err == NC_NOERR)
        err = pnc_error_copy(f->file->error, &message->error, true);
    bytes->n = message->n;
    bytes->file_size = message->file_size;
    bytes->is_estimated = message->is_estimated;
    return err;
}

int pnc_formats_rest_broadcast(pnc_format *f, const pnc_format_message *message, pnc_format_bytes *bytes, int err)
{
    const int64_t some = PNC_FORMAT_MESSAGE_BYTES;

    if (message->n <= some)
        return err;
    if (f->file->rank != 0 && err == NC_NOERR) {
        bytes->at = pnc_memory_alloc(message->n, 1);
        if (bytes->at == NULL)
            err = pnc_formats_memory_fail(f, message->n);
        else
            memcpy(bytes->at, message->bytes, (size_t)some);
    }
    PNC_TRY(pnc_file_status_agree(f->file, err));
    pnc_file_bytes_broadcast(f->file, bytes->at + some, message->n - some, "the header");
    return NC_NOERR;
}
