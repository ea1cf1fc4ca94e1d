/* netCDF-4 files: the operations of the format. */
#include "formats/netcdf4/netcdf4.h"

#include <string.h>

#include "base/memory.h"
#include "file/writer.h"
#include "format/codec.h"
#include "formats/netcdf4/plugins.h"

/* Chunks whose places all ranks get when the file is opened; for others each rank asks libhdf5. A guess: 24 bytes each
 * in the broadcast, 0.3 to 3 us each to find. */
#define PLACES_MOST INT64_C(16384)

/* --- a file whose program died while it wrote the metadata --- */

static int refuse_interrupted(pnc_format *f)
{
    return pnc_error_set(f->file->error, NC_EINTERRUPTED,
                         "%s: the metadata of this file are not complete: a program writes them now, or has died while "
                         "it wrote them: open it again, or with NC_WRITE to complete them",
                         f->file->path);
}

/* Take the file, if no program runs that changes it. A driver without locks cannot know. */
static int hold_for_repair(pnc_format *f)
{
    if (pnc_file_hold_set(f->file, PNC_HOLD_EXCLUSIVE) != PNC_HELD_BY_OTHERS || f->hints->assumes_dead != 0)
        return NC_NOERR;
    return pnc_error_set(f->file->error, NC_EINTERRUPTED,
                         "%s: another program is changing this file: wait until it has closed it", f->file->path);
}

/* It may have completed its change before the file was taken. */
static int complete_metadata(pnc_format *f, int64_t size, int64_t superblock)
{
    char head[PNC_REDO_HEAD];
    pnc_redo redo;
    int err;

    PNC_TRY(pnc_file_range_read(f->file, (pnc_extent){superblock, PNC_REDO_HEAD}, head));
    if (!pnc_netcdf4_redo_find(head, PNC_REDO_HEAD, &(int64_t){0}))
        return NC_NOERR;
    PNC_TRY(pnc_netcdf4_redo_load(&redo, f->file, size, superblock));
    err = pnc_netcdf4_redo_write(&redo, f->file);
    if (err == NC_NOERR)
        err = pnc_netcdf4_redo_finish(&redo, f->file);
    pnc_netcdf4_redo_free(&redo);
    if (err == NC_NOERR)
        f->announce(f->file, "a program died while it wrote the metadata: they are complete now");
    return err;
}

static int complete_file(pnc_format *f, int64_t size, int64_t superblock)
{
    int err;

    PNC_TRY(hold_for_repair(f));
    err = complete_metadata(f, size, superblock);
    pnc_file_hold_set(f->file, PNC_HOLD_NOTHING);
    return err;
}

/* --- opening a file --- */

static int make_description(pnc_format *f, const pnc_format_bytes *found, pnc_netcdf4_writer *out)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);

    n->end = found->file_size;
    PNC_TRY(pnc_netcdf4_handle_get(n));
    return pnc_netcdf4_metadata_describe(n->metadata, (pnc_netcdf4_scope)f->hints->groups,
                                         f->file->nprocs > 1 ? PLACES_MOST : 0, out);
}

/* Another program may have written metadata while they were read, so that some are old and others new. Each time it
 * writes the head of the superblock, which has the end of the file. */
static int check_unchanged(pnc_format *f, const pnc_format_bytes *found, int err)
{
    char head[PNC_NETCDF4_FRONT];
    int64_t at;
    int later;

    if (!pnc_netcdf4_signature_find(found->at, found->n, &at) || at + PNC_NETCDF4_FRONT > found->n)
        return err;
    later = pnc_file_range_read(f->file, (pnc_extent){at, PNC_NETCDF4_FRONT}, head);
    if (later != NC_NOERR || memcmp(head, found->at + at, PNC_NETCDF4_FRONT) == 0)
        return pnc_error_keep_first(err, later);
    pnc_error_clear(f->file->error); /* one that follows from it */
    return pnc_error_set(f->file->error, NC_EINTERRUPTED,
                         "%s: another program has written metadata of this file while they were read: open it again",
                         f->file->path);
}

/* What was read before the file was held may be another writer's of that time. */
static int begin_writing(pnc_format *f, pnc_format_bytes *found)
{
    const char *path = f->file->store->full_path;
    int64_t superblock = 0, size;

    PNC_TRY(pnc_file_writer_begin(f->file, path != NULL ? path : f->file->path));
    PNC_TRY(pnc_file_get_size(f->file, &size));
    if (size != found->file_size)
        PNC_TRY(pnc_formats_bytes_begin(f, found));
    if (pnc_netcdf4_redo_find(found->at, found->n, &superblock)) {
        PNC_TRY(complete_file(f, found->file_size, superblock));
        PNC_TRY(pnc_formats_bytes_begin(f, found));
    }
    (void)pnc_netcdf4_signature_find(found->at, found->n, &superblock);
    return pnc_netcdf4_seen_begin(pnc_netcdf4_state_get(f), found->file_size, superblock);
}

static int load_description(pnc_format *f, pnc_format_bytes *found)
{
    pnc_netcdf4_writer out = {0};
    int64_t superblock;
    int err;

    if (!f->file->read_only)
        PNC_TRY(begin_writing(f, found));
    else if (pnc_netcdf4_redo_find(found->at, found->n, &superblock))
        return refuse_interrupted(f);
    err = make_description(f, found, &out);
    if (err == NC_NOERR || err == NC_EHDFERR)
        err = check_unchanged(f, found, err);
    if (err != NC_NOERR) {
        pnc_memory_free(out.bytes);
        pnc_netcdf4_handle_release(pnc_netcdf4_state_get(f));
        return err;
    }
    pnc_memory_free(found->at);
    found->at = out.bytes;
    found->n = out.n;
    found->is_estimated = false;
    return NC_NOERR;
}

static int adopt_description(pnc_format *f, pnc_format_bytes *found, const pnc_format_message *message, int err)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);

    if (f->file->nprocs > 1)
        err = pnc_formats_rest_broadcast(f, message, found, err);
    PNC_TRY(err);
    n->end = found->file_size;
    PNC_TRY(pnc_netcdf4_description_take(n, found, message));
    pnc_format_model_free(f->model);
    PNC_TRY(pnc_netcdf4_content_adopt(n, &found->at, found->n, f->model, &n->content));
    f->file->store->end->least_size = found->file_size;
    f->file->store->end->refuses_short = f->file->read_only;
    return pnc_netcdf4_store_attach(n);
}

static bool has_no_remark(pnc_format *f)
{
    (void)f;
    return false;
}

/* The store, which reads the arrays, is closed. */
static void free_netcdf4(pnc_format *f)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);

    pnc_netcdf4_handle_release(n);
    pnc_netcdf4_redo_free(&n->unfinished);
    pnc_netcdf4_content_free(&n->content);
}

/* Chunks of other ranks cannot be completed: the file has what the last flush has written. */
static void abandon_netcdf4(pnc_format *f)
{
    (void)f;
}

/* --- inquiries --- */

/* Of a variable whose first dimension is unlimited, with the current lengths of the others; also in a file that is only
 * read, where it does not grow. */
static int64_t get_record_bytes(const pnc_model *model, const pnc_var *var)
{
    int64_t bytes = (int64_t)pnc_type_get_size(var->type);

    for (int d = 1; d < var->ndims; d++)
        if (pnc_size_multiply(bytes, pnc_format_var_get_length(model, var, d), &bytes) < 0)
            return INT64_MAX;
    return bytes;
}

/* As in a classic file with the same definitions: records are padded, unless there is one such variable. */
static int64_t get_record_size(const pnc_model *model)
{
    int64_t exact = 0, padded = 0;
    int n = 0;

    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        int64_t bytes;

        if (var->ndims == 0 || !model->dims[var->dimids[0]]->unlimited)
            continue;
        n++;
        bytes = get_record_bytes(model, var);
        if (bytes > INT64_MAX - 3 || pnc_size_add(padded, pnc_format_size_get_padded(bytes), &padded) < 0)
            return INT64_MAX;
        exact += bytes;
    }
    return n == 1 ? exact : padded;
}

/* There is no header. */
static void get_record_layout(const pnc_format *f, pnc_format_layout *out)
{
    const pnc_model *in_file = f->before != NULL ? f->before : f->model;

    *out = (pnc_format_layout){.record_size = f->is_new ? 0 : get_record_size(in_file)};
}

static int64_t get_address(const pnc_format *f, int varid)
{
    const pnc_netcdf4 *n = (const pnc_netcdf4 *)f;
    const pnc_model *in_file = f->before != NULL ? f->before : f->model;
    const pnc_netcdf4_storage *s = &n->content.storage[varid];

    if (n->content.storage == NULL || varid >= in_file->nvars)
        return 0;
    return s->layout == PNC_NETCDF4_CONTIGUOUS && s->address >= 0 ? s->address : 0;
}

static void explain_nothing(const pnc_format *f, char *out, size_t capacity)
{
    (void)f;
    if (capacity > 0)
        out[0] = '\0';
}

/* --- requests --- */

/* Offsets in an array are those of its values in row-major order. In define mode a new variable has no array yet. */
static pnc_mapping get_array_mapping(const pnc_model *model, const pnc_var *var)
{
    const int64_t *shape = var->netcdf4.shape != NULL ? var->netcdf4.shape : var->shape;
    pnc_mapping m = {.array = {.name = var->name,
                               .begin = var->netcdf4.address,
                               .elem_size = (int)pnc_type_get_size(var->type),
                               .ndims = var->ndims,
                               .shape = shape,
                               .is_record = var->is_record,
                               .most = var->netcdf4.shape},
                     .part = var->size};

    (void)model;
    if (var->inner_unlimited) {
        m.part = m.array.elem_size;
        for (int d = var->is_record; d < var->ndims; d++)
            m.part *= shape[d];
    }
    m.array.recsize = var->is_record ? m.part : 0;
    return m;
}

static int64_t get_any_records(const pnc_model *model)
{
    (void)model;
    return INT64_MAX;
}

static int allow_records(const pnc_model *model, const pnc_var *var, int64_t first, int64_t records, pnc_error *error)
{
    (void)model, (void)var, (void)first, (void)records, (void)error;
    return NC_NOERR;
}

/* A filetype over records has those of a classic file in mind, at the distance of the record size. Here they are at
 * that of their own bytes: the same with one record variable. */
static int check_record_distance(const pnc_model *model, const pnc_var *var, int64_t end, pnc_error *error)
{
    int64_t record = get_record_bytes(model, var), distance;

    if (record > 0 && end <= record)
        return NC_NOERR;
    distance = get_record_size(model);
    if (record > 0 && record == distance)
        return NC_NOERR;
    return pnc_error_set(error, NC_ETYPESIZE,
                         "variable \"%s\" has %lld bytes in each record, of %lld bytes of all variables, and the "
                         "filetype reaches byte %lld: in a netCDF-4 file it must be inside the first record: use varn "
                         "or nonblocking calls",
                         var->name, (long long)record, (long long)distance, (long long)end - 1);
}

/* Other variables are elsewhere: what is behind this one belongs to none, or to any. */
static int check_inside(const pnc_var *var, const pnc_reach *reach, bool is_record, pnc_error *error)
{
    if (reach->is_aligned && reach->first >= 0 && !var->inner_unlimited && (is_record || reach->end <= var->size))
        return NC_NOERR;
    return pnc_error_set(error, NC_ETYPESIZE,
                         "variable \"%s\" of a netCDF-4 file has %lld bytes, and the filetype covers bytes %lld to "
                         "%lld%s: must be %s",
                         var->name, (long long)var->size, (long long)reach->first, (long long)reach->end,
                         reach->is_aligned ? "" : ", also parts of elements",
                         var->inner_unlimited ? "MPI_DATATYPE_NULL, as a dimension behind the first is unlimited"
                                              : "elements inside the variable");
}

static int check_within_var(const pnc_model *model, const pnc_var *var, const pnc_reach *reach, bool is_put,
                            int64_t *numrecs, pnc_error *error)
{
    bool is_record = var->ndims > 0 && model->dims[var->dimids[0]]->unlimited;
    int64_t records, most;

    PNC_TRY(check_inside(var, reach, is_record, error));
    if (!is_record)
        return NC_NOERR;
    PNC_TRY(check_record_distance(model, var, reach->end, error));
    records = (reach->end - 1) / get_record_bytes(model, var) + 1;
    most = is_put ? var->netcdf4.shape[0] : pnc_format_dim_get_length(model, var->dimids[0]);
    if (records > most)
        return pnc_error_set(error, NC_EINVALCOORDS,
                             "variable \"%s\": the filetype extends to %lld records, but the file has %lld", var->name,
                             (long long)records, (long long)most);
    if (is_put)
        *numrecs = records;
    return NC_NOERR;
}

static const pnc_addressing netcdf4_addressing = {.get_mapping = get_array_mapping,
                                                  .get_most_records = get_any_records,
                                                  .check_records = allow_records,
                                                  .check_reach = check_within_var};

static int check_filter_libraries(const pnc_filter *filter, pnc_error *error)
{
    const pnc_codecs codecs = pnc_netcdf4_codecs_get();
    const pnc_filter_chain chain = {1, filter};

    return pnc_filter_chain_check(&chain, 0, &codecs, error);
}

const pnc_format_ops pnc_netcdf4_format = {
    .name = "netCDF-4",
    .bytes = sizeof(pnc_netcdf4),
    .addressing = &netcdf4_addressing,
    .has_storage = true,
    .check_filter = check_filter_libraries,
    .has_one_writer = true,
    .versions = {{NC_FORMAT_NETCDF4_CLASSIC, NC_NETCDF4 | NC_CLASSIC_MODEL, "NC_FORMAT_NETCDF4_CLASSIC"},
                 {NC_FORMAT_NETCDF4, NC_NETCDF4, "NC_FORMAT_NETCDF4"}},
    .is_format = pnc_netcdf4_front_is_known,
    .create = pnc_netcdf4_model_create,
    .load = load_description,
    .adopt = adopt_description,
    .remark = has_no_remark,
    .free = free_netcdf4,
    .redef = pnc_netcdf4_definitions_begin,
    .enddef = pnc_netcdf4_definitions_end,
    .check_change = pnc_netcdf4_change_check,
    .change = pnc_netcdf4_change_execute,
    .add_length = pnc_netcdf4_length_add,
    .write_length = pnc_netcdf4_length_write,
    .keeps_values = pnc_netcdf4_values_wait,
    .check_record = pnc_netcdf4_record_check,
    .fill_record = pnc_netcdf4_record_fill,
    .flush = pnc_netcdf4_chunks_flush,
    .prepare = pnc_netcdf4_chunks_publish,
    .renew = pnc_netcdf4_values_update,
    .abandon = abandon_netcdf4,
    .add_space = pnc_netcdf4_space_add,
    .restore = pnc_netcdf4_file_restore,
    .restore_before_put = pnc_netcdf4_file_restore_before_put,
    .get_layout = get_record_layout,
    .get_offset = get_address,
    .explain_moves = explain_nothing};
