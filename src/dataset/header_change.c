/* Changing the header of a file: at the end of define mode, and names and attributes in data mode. */
#include "dataset/header_change.h"

#include <stdio.h>

#include "base/memory.h"
#include "dataset/environment.h"
#include "dataset/file_end.h"
#include "dataset/growing.h"
#include "dataset/headerio.h"
#include "dataset/modes.h"
#include "dataset/records.h"
#include "file/agree.h"
#include "format/codec.h"
#include "growth/fill.h"

/* No data move: until the header is written, the old one is valid. The ranks agree on the error of each step. */
int pnc_dataset_header_create(pnc_dataset *ds, const char *header, int64_t n)
{
    pnc_growth_io io = pnc_dataset_growing_get_io(&ds->file);

    PNC_TRY(pnc_growth_vars_fill(&io, &ds->model, ds->before == NULL ? 0 : ds->before->nvars));
    return pnc_dataset_header_replace(ds, header, n);
}

/* What rank 0 finds before the header of an existing dataset changes. */
typedef struct examination {
    int64_t size;              /* of the file */
    int64_t replaced_in_parts; /* a death can leave a mixture of both headers */
} examination;

static int examine_file(pnc_dataset *ds, const char *header, int64_t n, examination *found)
{
    int err = NC_NOERR;

    if (ds->file.rank == 0) {
        err = pnc_file_get_size(&ds->file, &found->size);
        if (err == NC_NOERR)
            err = pnc_dataset_file_end_check(ds, found->size);
        if (err == NC_NOERR)
            err = pnc_dataset_header_examine(ds, header, n, &found->replaced_in_parts);
    }
    PNC_TRY(pnc_file_status_broadcast(&ds->file, err));
    pnc_file_bytes_broadcast(&ds->file, found, sizeof *found, "the size of the file");
    return NC_NOERR;
}

/* The same on all ranks. */
static int check_move(pnc_dataset *ds, int64_t bytes)
{
    if (bytes <= ds->hints.data_move_limit)
        return NC_NOERR;
    pnc_error_set(&ds->error, NC_EMOVELIMIT,
                  "%s: %lld bytes of data would have to move, as the definitions have grown, but the hint "
                  "nc_data_move_limit is %lld: raise it, or reserve space in new files by the hints nc_header_reserve "
                  "and nc_var_align_size or h_minfree of ncmpi__enddef",
                  ds->file.path, (long long)bytes, (long long)ds->hints.data_move_limit);
    ds->error.remote = ds->file.rank != 0; /* one rank prints it */
    return NC_EMOVELIMIT;
}

/* Moves can take long. `text` follows the number of bytes. */
static void announce(const pnc_dataset *ds, const pnc_growth_change *growth, const char *text)
{
    if (ds->file.rank == 0 && growth->stream.total > 0 && pnc_dataset_environment_is_on("PNETCDF_VERBOSE", false))
        fprintf(stderr, "PnetCDF: %s: %s: %lld bytes of data %s\n", ds->file.call.name, ds->file.path,
                (long long)growth->stream.total, text);
}

static int change_with_journal(pnc_dataset *ds, pnc_growth_change *growth, const char *header, int64_t n)
{
    double start = MPI_Wtime(), took;
    char done[60];

    pnc_statistics_add(ds->file.statistics, PNC_COUNT_MOVED_BYTES, ds->file.rank == 0 ? growth->stream.total : 0);
    pnc_statistics_add(ds->file.statistics, PNC_COUNT_HEADER_BYTES, ds->file.rank == 0 ? n : 0);
    announce(ds, growth, "move to higher offsets, as the definitions have grown");
    PNC_TRY(pnc_growth_change_execute(growth, header));
    took = MPI_Wtime() - start;
    pnc_statistics_add(ds->file.statistics, PNC_COUNT_TIME_MOVES, (int64_t)(1e9 * took));
    snprintf(done, sizeof done, "have moved in %.1f s", took);
    announce(ds, growth, done);
    pnc_dataset_file_end_update(ds);
    pnc_dataset_numrecs_commit(ds);
    return NC_NOERR;
}

int pnc_dataset_header_update(pnc_dataset *ds, const char *header, int64_t n)
{
    pnc_growth_io io = pnc_dataset_growing_get_io(&ds->file);
    pnc_growth_change growth;
    examination found = {0};
    int err;

    PNC_TRY(examine_file(ds, header, n, &found));
    err = pnc_growth_change_init(&growth, &io, ds->before, &ds->model, found.size, ds->hints.data_move_chunk);
    if (err == NC_NOERR)
        err = check_move(ds, growth.stream.total);
    if (err != NC_NOERR)
        goto free;
    if (growth.stream.total > 0 || found.replaced_in_parts)
        err = change_with_journal(ds, &growth, header, n);
    else
        err = pnc_dataset_header_create(ds, header, n);
    if (err != NC_NOERR)
        pnc_growth_change_undo(&growth);
free:
    pnc_growth_change_free(&growth);
    return err;
}

/* --- data mode --- */

static void encode_entry(const pnc_dataset *ds, const char *name, const pnc_att *att, char *bytes)
{
    if (att != NULL)
        pnc_format_att_encode(&ds->model, att, bytes);
    else
        pnc_format_name_encode(&ds->model, name, bytes);
}

/* What the file has: mostly what this handle knows, which takes no read. */
static int get_old_entry(pnc_dataset *ds, const pnc_rewrite *r, char *bytes)
{
    if (!r->is_known)
        return pnc_file_range_read(&ds->file, r->where, bytes);
    encode_entry(ds, r->old_name, r->old_att, bytes);
    return NC_NOERR;
}

/* Rank 0. A write that fails may have written a part. */
static int write_entry(pnc_dataset *ds, const pnc_rewrite *r)
{
    char *old = pnc_memory_alloc_zeroed(r->where.length, 2), *bytes;
    pnc_extent change;
    int err;

    if (old == NULL)
        return pnc_error_set(&ds->error, NC_ENOMEM, "%s: no memory for %lld bytes of header", ds->file.path,
                             (long long)r->where.length);
    bytes = old + r->where.length;
    encode_entry(ds, r->name, r->att, bytes);
    err = get_old_entry(ds, r, old);
    change = pnc_dataset_header_find_change(r->where.offset, old, bytes, r->where.length);
    if (err == NC_NOERR && change.length > 0) {
        err = pnc_file_range_write(&ds->file, change, bytes + (change.offset - r->where.offset));
        if (err != NC_NOERR)
            pnc_dataset_header_repair(ds, change, old + (change.offset - r->where.offset));
    }
    pnc_memory_free(old);
    return err;
}

bool pnc_dataset_header_entry_is_in_place(pnc_extent old, int64_t length, pnc_extent change)
{
    return length == old.length && old.offset >= 0 && (change.length == 0 || pnc_dataset_header_is_in_page(change));
}

int pnc_dataset_header_entry_write(pnc_dataset *ds, int err, const pnc_rewrite *rewrite)
{
    PNC_TRY(pnc_file_status_agree(&ds->file, err));
    if (ds->file.rank == 0)
        err = write_entry(ds, rewrite);
    return pnc_file_status_broadcast(&ds->file, err);
}

/* The definitions before the change: until all ranks have made it, and the file has it, they may be needed again. */
static int copy_definitions(pnc_dataset *ds)
{
    pnc_model *copy = pnc_memory_alloc(1, sizeof *copy);
    int err = copy == NULL ? NC_ENOMEM : pnc_format_model_copy(copy, &ds->model);

    if (err == NC_NOERR) {
        ds->before = copy;
        return NC_NOERR;
    }
    pnc_memory_free(copy);
    return pnc_error_set(&ds->error, err, "%s: no memory for a copy of the definitions", ds->file.path);
}

int pnc_dataset_header_change_begin(pnc_dataset *ds)
{
    return ds->mode == PNC_DEFINE ? NC_NOERR : copy_definitions(ds);
}

/* The file gets a whole new header, as by enddef. */
static int change_all(pnc_dataset *ds)
{
    char *bytes;
    int64_t n;
    int err;

    PNC_TRY(pnc_dataset_numrecs_flush(ds, NC_NOERR));
    ds->before->numrecs = ds->model.numrecs;
    PNC_TRY(pnc_dataset_header_agree(ds, NC_NOERR, &bytes, &n));
    err = pnc_dataset_header_update(ds, bytes, n);
    pnc_memory_free(bytes);
    return err;
}

static void restore_definitions(pnc_dataset *ds)
{
    pnc_format_model_free(&ds->model);
    ds->model = *ds->before;
    pnc_memory_free(ds->before);
    ds->before = NULL;
}

int pnc_dataset_header_change_end(pnc_dataset *ds, int err)
{
    if (ds->mode == PNC_DEFINE)
        return err;
    err = pnc_file_status_agree(&ds->file, err);
    if (err == NC_NOERR)
        err = change_all(ds);
    if (err == NC_NOERR)
        pnc_dataset_before_free(ds);
    else if (ds->before != NULL)
        restore_definitions(ds);
    return err;
}
