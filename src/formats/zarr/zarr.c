/* Zarr stores: the operations of the format. */
#include "formats/zarr/zarr.h"

#include "base/memory.h"
#include "file/writer.h"
#include "formats/arrays.h"
#include "formats/definitions.h"
#include "host/codecs.h"

/* --- opening a store --- */

/* What is in the root document is found out when it is decoded. */
static bool is_any_root(const char *front, int64_t n)
{
    (void)front, (void)n;
    return true;
}

/* The changes of a program that has died are made. Without locks it is not known whether it has. */
static int begin_writing_store(pnc_zarr *z)
{
    pnc_file *file = z->format.file;
    bool found;
    int64_t size;

    PNC_TRY(pnc_file_writer_begin(file, file->path));
    PNC_TRY(z->objects->ops->find(z->objects, PNC_ZARR_LOG, &size, file->error));
    if (size >= 0 && file->writer == NULL && z->format.hints->assumes_dead == 0)
        return pnc_error_set(file->error, NC_EINTERRUPTED,
                             "%s: a program has written to this store, and ended before it was done, or still runs: "
                             "there are no locks that show it. If it has ended, `ncvalidator --repair --in-place "
                             "--assume-dead %s', or the hint nc_repair=assume_dead, completes the store",
                             file->path, file->path);
    return pnc_zarr_log_execute(z->objects, &found, file->error);
}

static int load_store(pnc_format *f, pnc_format_bytes *found)
{
    pnc_zarr *z = pnc_zarr_state_get(f);

    z->objects = pnc_store_get_objects(f->file->store);
    z->id = pnc_objects_id_create();
    if (!f->file->read_only)
        PNC_TRY(begin_writing_store(z));
    PNC_TRY(pnc_formats_path_add(f, pnc_zarr_documents_load(z, &z->documents)));
    return pnc_zarr_documents_join(z, z->documents.at, z->documents.n, found);
}

static int adopt_store(pnc_format *f, pnc_format_bytes *found, const pnc_format_message *message, int err)
{
    pnc_zarr *z = pnc_zarr_state_get(f);

    z->objects = pnc_store_get_objects(f->file->store);
    if (f->file->nprocs > 1)
        err = pnc_formats_rest_broadcast(f, message, found, err);
    PNC_TRY(err);
    PNC_TRY(pnc_zarr_bytes_take(z, found, message));
    pnc_format_model_free(f->model);
    PNC_TRY(pnc_zarr_facts_decode(z, found, (pnc_zarr_groups)f->hints->groups, f->model, &z->facts));
    return pnc_zarr_store_attach(z);
}

static bool has_no_store_remark(pnc_format *f)
{
    (void)f;
    return false;
}

/* The store, which reads the arrays, is closed. */
static void free_zarr(pnc_format *f)
{
    pnc_zarr *z = pnc_zarr_state_get(f);

    pnc_zarr_documents_free(&z->documents);
    pnc_zarr_documents_free(&z->next);
    pnc_zarr_changes_free(&z->changes);
    pnc_zarr_changes_free(&z->staged);
    pnc_zarr_facts_free(&z->facts);
}

/* Chunks of other ranks cannot be completed: the store has what the last flush has written. */
static void abandon_zarr(pnc_format *f)
{
    (void)f;
}

/* Another handle of this process has changed values. Lengths and definitions are those of the time when this one was
 * opened. */
static bool renew_values(pnc_format *f)
{
    pnc_zarr *z = pnc_zarr_state_get(f);

    if (!f->file->read_only || f->file->nprocs > 1 || !z->has_chunks)
        return false;
    pnc_chunks_store_discard(f->file->store);
    pnc_zarr_container_discard(pnc_zarr_container_get(z));
    return true;
}

/* --- inquiries --- */

static void get_store_layout(const pnc_format *f, pnc_format_layout *out)
{
    const pnc_model *in_store = f->before != NULL ? f->before : f->model;

    *out = (pnc_format_layout){.record_size = f->is_new ? 0 : pnc_formats_record_size_get(in_store)};
}

static int64_t get_no_offset(const pnc_format *f, int varid)
{
    (void)f, (void)varid;
    return 0;
}

static void explain_no_moves(const pnc_format *f, char *out, size_t capacity)
{
    (void)f;
    if (capacity > 0)
        out[0] = '\0';
}

/* The codec that all readers of Zarr have: blosc with zstd 1 and shuffle, or zstd for bytes (filters.c). */
static const char *choose_compression(void)
{
    const pnc_codecs *codecs = pnc_host_codecs_get();

    return codecs->load_blosc() != NULL && codecs->load_zstd() != NULL ? "zstd:1" : NULL;
}

const pnc_format_ops pnc_zarr_format = {
    .name = "Zarr",
    .bytes = sizeof(pnc_zarr),
    .driver = "folder",
    .addressing = &pnc_formats_array_addressing,
    .has_storage = true,
    .has_shards = true,
    .choose_compression = choose_compression,
    .has_one_writer = true,
    .versions = {{PNC_VERSION_ZARR, NC_NETCDF4, "nc_format=zarr", NC_FORMAT_NETCDF4},
                 {PNC_VERSION_ZARR_CLASSIC, NC_NETCDF4 | NC_CLASSIC_MODEL, "nc_format=zarr",
                  NC_FORMAT_NETCDF4_CLASSIC}},
    .is_format = is_any_root,
    .create = pnc_zarr_model_create,
    .load = load_store,
    .adopt = adopt_store,
    .remark = has_no_store_remark,
    .free = free_zarr,
    .redef = pnc_zarr_definitions_begin,
    .enddef = pnc_zarr_definitions_end,
    .check_rename = pnc_zarr_rename_check,
    .check_change = pnc_formats_change_check,
    .change = pnc_zarr_change_execute,
    .add_length = pnc_zarr_length_add,
    .write_length = pnc_formats_length_write,
    .keeps_values = pnc_formats_values_wait,
    .check_record = pnc_zarr_record_check,
    .fill_record = pnc_zarr_record_fill,
    .flush = pnc_zarr_chunks_flush,
    .prepare = pnc_zarr_chunks_publish,
    .renew = renew_values,
    .abandon = abandon_zarr,
    .restore = pnc_zarr_store_restore,
    .restore_before_put = pnc_zarr_store_restore_before_put,
    .get_layout = get_store_layout,
    .get_offset = get_no_offset,
    .explain_moves = explain_no_moves};
