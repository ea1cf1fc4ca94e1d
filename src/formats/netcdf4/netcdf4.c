/* netCDF-4 files: the operations of the format. */
#include "formats/netcdf4/netcdf4.h"

#include <string.h>

#include "base/memory.h"
#include "file/writer.h"
#include "formats/arrays.h"
#include "formats/definitions.h"
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
 * writes the head of the superblock, which has the end of the file; an error may also be of a commit that leaves it as
 * it is. */
static int check_unchanged(pnc_format *f, const pnc_format_bytes *found, int err)
{
    const pnc_netcdf4 *n = pnc_netcdf4_state_get(f);
    bool may_follow = err != NC_NOERR && f->file->read_only && pnc_file_get_change(f->file) != n->opened;
    char head[PNC_NETCDF4_FRONT];
    int64_t at;
    int later;

    if (!pnc_netcdf4_signature_find(found->at, found->n, &at) || at + PNC_NETCDF4_FRONT > found->n)
        return err;
    later = pnc_file_range_read(f->file, (pnc_extent){at, PNC_NETCDF4_FRONT}, head);
    if (later != NC_NOERR || (memcmp(head, found->at + at, PNC_NETCDF4_FRONT) == 0 && !may_follow))
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
    pnc_netcdf4_strings_free(&n->strings);
    pnc_netcdf4_content_free(&n->content);
}

/* Chunks of other ranks cannot be completed: the file has what the last flush has written. */
static void abandon_netcdf4(pnc_format *f)
{
    (void)f;
}

/* --- inquiries --- */

/* There is no header. */
static void get_record_layout(const pnc_format *f, pnc_format_layout *out)
{
    const pnc_model *in_file = f->before != NULL ? f->before : f->model;

    *out = (pnc_format_layout){.record_size = f->is_new ? 0 : pnc_formats_record_size_get(in_file)};
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

/* --- filters --- */

static int check_filter_libraries(const pnc_filter *filter, pnc_error *error)
{
    const pnc_codecs codecs = pnc_netcdf4_codecs_get();
    const pnc_filter_chain chain = {1, filter};

    return pnc_filter_chain_check(&chain, 0, &codecs, error);
}

const pnc_format_ops pnc_netcdf4_format = {
    .name = "netCDF-4",
    .bytes = sizeof(pnc_netcdf4),
    .addressing = &pnc_formats_array_addressing,
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
    .check_rename = pnc_formats_rename_check,
    .check_change = pnc_formats_change_check,
    .change = pnc_netcdf4_change_execute,
    .add_length = pnc_netcdf4_length_add,
    .write_length = pnc_formats_length_write,
    .keeps_values = pnc_formats_values_wait,
    .check_record = pnc_netcdf4_record_check,
    .fill_record = pnc_netcdf4_record_fill,
    .flush = pnc_netcdf4_chunks_flush,
    .prepare = pnc_netcdf4_chunks_publish,
    .renew = pnc_netcdf4_values_update,
    .abandon = abandon_netcdf4,
    .add_space = pnc_netcdf4_space_add,
    .restore = pnc_netcdf4_file_restore,
    .restore_before_put = pnc_netcdf4_file_restore_before_put,
    .get_strings = pnc_netcdf4_strings_get,
    .put_strings = pnc_netcdf4_strings_put,
    .get_layout = get_record_layout,
    .get_offset = get_address,
    .explain_moves = explain_nothing};
