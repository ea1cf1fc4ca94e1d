/* Changing the header of a file: at the end of define mode, and names and attributes in data mode. */
#include "dataset/header_change.h"

#include <stdio.h>

#include "base/memory.h"
#include "dataset/file_end.h"
#include "dataset/growing.h"
#include "dataset/header_check.h"
#include "dataset/headerio.h"
#include "dataset/message.h"
#include "dataset/modes.h"
#include "dataset/records.h"
#include "file/agree.h"
#include "format/codec.h"
#include "growth/fill.h"
#include "growth/patch.h"

/* For a change that may have a journal. The hint nc_repair=assume_dead is for repairs: a change never ignores that
 * another program holds the file. */
static pnc_growth_io get_io(pnc_dataset *ds)
{
    pnc_growth_io io = pnc_dataset_growing_get_io(&ds->file);

    io.life = &ds->life;
    return io;
}

/* All ranks know then what the file has: so many bytes at least. */
static void finish(pnc_dataset *ds, int64_t size)
{
    pnc_file_end_raise(&ds->file, size);
    pnc_dataset_numrecs_commit(ds);
}

int pnc_dataset_header_create(pnc_dataset *ds, const char *header, int64_t n)
{
    pnc_growth_io io = pnc_dataset_growing_get_io(&ds->file);
    int err = NC_NOERR;

    PNC_TRY(pnc_growth_vars_fill(&io, &ds->model, 0));
    if (ds->file.rank == 0)
        err = pnc_file_range_write(&ds->file, (pnc_extent){0, n}, header);
    PNC_TRY(pnc_file_status_broadcast(&ds->file, err));
    finish(ds, n);
    return NC_NOERR;
}

/* --- a part of a header --- */

/* Bytes of the header that change. */
typedef struct part {
    pnc_extent where;
    int64_t old_size, new_size; /* of the file, if a journal is needed */
    const char *was, *becomes;  /* of use on rank 0 */
} part;

/* The journal is behind all data: new variables may have been filled, and another handle may put values meanwhile. */
static int64_t get_new_size(const pnc_dataset *ds, int64_t old_size)
{
    int64_t end = pnc_format_layout_get_file_end(&ds->model);

    return end > old_size ? end : old_size;
}

/* From the first to the last byte that differs, of n at `offset`. */
static pnc_extent find_change(int64_t offset, const char *was, const char *becomes, int64_t n)
{
    int64_t first = 0, end = n;

    while (first < n && was[first] == becomes[first])
        first++;
    while (end > first && was[end - 1] == becomes[end - 1])
        end--;
    return (pnc_extent){offset + first, end - first};
}

/* Whether a death could leave a part of one write: if the process is killed, the kernel has written bytes of one page
 * all or not at all. */
static bool needs_journal(pnc_extent where)
{
    return where.length > 0 && where.offset / PNC_HEADER_PAGE != (where.offset + where.length - 1) / PNC_HEADER_PAGE;
}

/* A write to the header has failed, and may have written a part. The message reports if the old bytes cannot be written
 * again. */
static void repair(pnc_dataset *ds, const part *p)
{
    pnc_error cause = ds->error;
    int err = pnc_file_range_write(&ds->file, p->where, p->was);

    pnc_error_clear(&ds->error);
    if (err == NC_NOERR)
        ds->error = cause;
    else
        pnc_error_set(&ds->error, cause.code, "%.300s; writing the old header again failed too: the file is damaged",
                      cause.text);
}

/* Rank 0. */
static int write_at_once(pnc_dataset *ds, const part *p)
{
    int err = p->where.length == 0 ? NC_NOERR : pnc_file_range_write(&ds->file, p->where, p->becomes);

    if (err != NC_NOERR)
        repair(ds, p);
    return err;
}

/* The extent and the sizes are the same on all ranks. */
static int write_with_journal(pnc_dataset *ds, const part *p)
{
    int err;

    ds->patch = (pnc_growth_patch){.format = ds->model.format,
                                   .where = p->where,
                                   .before = p->was,
                                   .after = p->becomes,
                                   .old_size = p->old_size,
                                   .new_size = p->new_size};
    err = pnc_growth_patch_execute(&ds->growth_io, &ds->patch);
    if (err != NC_NOERR && pnc_growth_patch_undo(&ds->growth_io, &ds->patch) != NC_NOERR) {
        ds->unrestored = PNC_UNRESTORED_PATCH;
        pnc_growth_patch_keep(&ds->growth_io, &ds->patch);
    }
    pnc_statistics_add(ds->file.statistics, PNC_COUNT_HEADER_BYTES, ds->file.rank == 0 ? p->where.length : 0);
    return err;
}

/* --- the end of define mode --- */

/* What rank 0 finds before the header of an existing dataset changes. */
typedef struct examination {
    int64_t size;      /* of the file */
    pnc_extent change; /* of the old header */
    int64_t beyond;    /* offset of what comes after the old header */
} examination;

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Another encoding of the same definitions may be longer: its bytes up to the end of the new header are part of what
 * changes. Beyond the end of the file they are zeros. */
static int examine_header(pnc_dataset *ds, const char *header, int64_t n, char **old, examination *found)
{
    int64_t end = pnc_format_header_get_size(ds->before);
    bool is_known = false;

    *old = pnc_memory_alloc_zeroed(end > n ? end : n, 1);
    if (*old == NULL)
        return pnc_dataset_header_memory_fail(ds, end > n ? end : n);
    PNC_TRY(pnc_dataset_header_check(ds, *old, end, &is_known));
    if (!is_known && min64(n, found->size) > end)
        PNC_TRY(pnc_file_range_read(&ds->file, (pnc_extent){end, min64(n, found->size) - end}, *old + end));
    found->beyond = is_known ? min64(end, n) : n;
    found->change = find_change(0, *old, header, found->beyond);
    return NC_NOERR;
}

/* io->life: begun before, so that no other program that begins such a change can make what is found here wrong. */
static int examine_file(pnc_dataset *ds, const pnc_growth_io *io, const char *header, int64_t n, examination *found,
                        char **old)
{
    int err = pnc_growth_life_begin(io);

    if (ds->file.rank == 0) {
        if (err == NC_NOERR)
            err = pnc_file_get_size(&ds->file, &found->size);
        if (err == NC_NOERR)
            err = pnc_dataset_file_end_check(ds, found->size);
        if (err == NC_NOERR)
            err = examine_header(ds, header, n, old, found);
    }
    PNC_TRY(pnc_file_status_broadcast(&ds->file, err));
    pnc_file_bytes_broadcast(&ds->file, found, sizeof *found, "what the file has");
    return NC_NOERR;
}

/* Add the causes for which the data move now. */
static void find_cause(pnc_dataset *ds, pnc_growth_cause *cause)
{
    if (ds->origin.header == 0) { /* an opened file */
        pnc_growth_origin_init(&ds->origin, ds->before);
        ds->origin.is_opened = true;
        ds->origin.by_hint = ds->hints.layout.h_minfree >= 0;
        if (ds->origin.by_hint)
            ds->origin.h_minfree = ds->hints.layout.h_minfree;
    }
    pnc_growth_cause_add(cause, &ds->origin, ds->before, &ds->model);
}

/* The same on all ranks. */
static int check_move(pnc_dataset *ds, int64_t bytes)
{
    pnc_growth_cause cause = {0};
    char why[400]; /* a message has space for one cause or two */

    if (bytes <= ds->hints.data_move_limit)
        return NC_NOERR;
    find_cause(ds, &cause);
    pnc_growth_cause_explain(&cause, &ds->origin, why, sizeof why);
    pnc_error_set(&ds->error, NC_EMOVELIMIT,
                  "%s: %lld bytes of data would have to move, but the hint nc_data_move_limit is %lld: raise it, or "
                  "avoid the move: %s",
                  ds->file.path, (long long)bytes, (long long)ds->hints.data_move_limit, why);
    ds->error.remote = ds->file.rank != 0; /* one rank prints it */
    return NC_EMOVELIMIT;
}

/* Moves can take long. `text` follows the number of bytes. */
static void announce(const pnc_dataset *ds, const pnc_growth_change *growth, const char *text)
{
    pnc_dataset_message_print(ds, "%lld bytes of data %s", (long long)growth->stream.total, text);
}

static void announce_end(const pnc_dataset *ds, const pnc_growth_change *growth, double took)
{
    char why[600], text[700];

    pnc_growth_cause_explain(&ds->moved_for, &ds->origin, why, sizeof why);
    snprintf(text, sizeof text, "have moved in %.1f s; to avoid it: %s", took, why);
    announce(ds, growth, text);
}

static int grow(pnc_dataset *ds, const char *header, int64_t n)
{
    pnc_growth_change *growth = &ds->growth;
    double start = MPI_Wtime(), took;
    int err;

    pnc_statistics_add(ds->file.statistics, PNC_COUNT_MOVED_BYTES, ds->file.rank == 0 ? growth->stream.total : 0);
    pnc_statistics_add(ds->file.statistics, PNC_COUNT_HEADER_BYTES, ds->file.rank == 0 ? n : 0);
    announce(ds, growth, "move to higher offsets, as the definitions have grown");
    err = pnc_growth_change_execute(growth, header);
    if (err != NC_NOERR) {
        if (pnc_growth_change_undo(growth) != NC_NOERR)
            ds->unrestored = PNC_UNRESTORED_GROWTH;
        return err;
    }
    took = MPI_Wtime() - start;
    pnc_statistics_add(ds->file.statistics, PNC_COUNT_TIME_MOVES, (int64_t)(1e9 * took));
    find_cause(ds, &ds->moved_for);
    announce_end(ds, growth, took);
    return NC_NOERR;
}

/* All that needs no journal. What comes after the old header, which stays valid, is written first. */
static int write_simply(pnc_dataset *ds, const pnc_growth_io *io, const char *header, int64_t n, int64_t beyond,
                        const part *p)
{
    int err = NC_NOERR;

    PNC_TRY(pnc_growth_vars_fill(io, &ds->model, ds->before->nvars));
    if (ds->file.rank == 0)
        err = pnc_file_range_write(&ds->file, (pnc_extent){beyond, n - beyond}, header + beyond);
    if (ds->file.rank == 0 && err == NC_NOERR && !needs_journal(p->where))
        err = write_at_once(ds, p);
    return pnc_file_status_broadcast(&ds->file, err);
}

/* No data move. */
static int replace(pnc_dataset *ds, const pnc_growth_io *io, const char *header, int64_t n, const char *old,
                   const examination *found)
{
    part p = {found->change, found->size, get_new_size(ds, found->size), NULL, NULL};
    int err;

    if (ds->file.rank == 0) {
        p.was = old + p.where.offset;
        p.becomes = header + p.where.offset;
    }
    err = write_simply(ds, io, header, n, found->beyond, &p);
    if (err == NC_NOERR)
        return needs_journal(p.where) ? write_with_journal(ds, &p) : NC_NOERR;
    pnc_growth_size_restore(io, found->size); /* a full disk gets its space back */
    return err;
}

int pnc_dataset_header_restore(pnc_dataset *ds)
{
    int err;

    if (ds->unrestored == PNC_RESTORED)
        return NC_NOERR;
    err = ds->unrestored == PNC_UNRESTORED_PATCH ? pnc_growth_patch_restore(&ds->growth_io, &ds->patch)
                                                 : pnc_growth_change_restore(&ds->growth);
    if (err != NC_NOERR) {
        pnc_error_add_context(
            &ds->error, "%s: the file cannot be restored yet after a change of the header that failed", ds->file.path);
        return err;
    }
    pnc_growth_life_end(&ds->growth_io);
    pnc_dataset_header_unrestored_free(ds);
    return pnc_file_status_agree(&ds->file, NC_NOERR); /* no rank holds it when rank 0 takes it for the next change */
}

void pnc_dataset_header_unrestored_free(pnc_dataset *ds)
{
    if (ds->unrestored == PNC_RESTORED)
        return;
    if (ds->unrestored == PNC_UNRESTORED_PATCH)
        pnc_growth_patch_free(&ds->patch);
    else
        pnc_growth_change_free(&ds->growth);
    ds->unrestored = PNC_RESTORED;
}

/* A put could overwrite the journal, which is behind the data. */
int pnc_dataset_header_restore_before_put(pnc_dataset *ds, bool collective)
{
    if (ds->unrestored == PNC_RESTORED || collective || ds->file.nprocs == 1)
        return pnc_dataset_header_restore(ds);
    return pnc_error_set(&ds->error, NC_EINTERRUPTED,
                         "%s: the file is not restored yet after a change of the header that failed: an independent "
                         "put must wait until a collective put, ncmpi_sync or ncmpi_close restores it",
                         ds->file.path);
}

/* The file is as it was before. *old, its header, is freed where data move: a header may be large. */
static int change(pnc_dataset *ds, const char *header, int64_t n, char **old, const examination *found)
{
    int err = pnc_growth_change_init(&ds->growth, &ds->growth_io, ds->before, &ds->model, found->size,
                                     ds->hints.data_move_chunk);

    if (err == NC_NOERR)
        err = check_move(ds, ds->growth.stream.total);
    if (err == NC_NOERR && ds->growth.stream.total > 0) {
        pnc_memory_free(*old);
        *old = NULL;
        err = grow(ds, header, n);
    } else if (err == NC_NOERR) {
        err = replace(ds, &ds->growth_io, header, n, *old, found);
    }
    if (ds->unrestored != PNC_UNRESTORED_GROWTH)
        pnc_growth_change_free(&ds->growth);
    return err;
}

int pnc_dataset_header_update(pnc_dataset *ds, const char *header, int64_t n)
{
    examination found = {0};
    char *old = NULL;
    int err;

    PNC_TRY(pnc_dataset_header_restore(ds));
    ds->growth_io = get_io(ds);
    err = examine_file(ds, &ds->growth_io, header, n, &found, &old);
    if (err == NC_NOERR)
        err = change(ds, header, n, &old, &found);
    if (err == NC_NOERR)
        finish(ds, found.size);
    if (ds->unrestored == PNC_RESTORED)
        pnc_growth_life_end(&ds->growth_io);
    pnc_memory_free(old);
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

/* What rank 0 has found: the part that changes, and its error. */
typedef struct entry_change {
    part part;
    int64_t err;
} entry_change;

/* Rank 0: write it, unless a journal is needed. *bytes: those before and after the change; to be freed. */
static int write_entry(pnc_dataset *ds, const pnc_growth_io *io, const pnc_rewrite *r, char **bytes, part *p)
{
    int64_t n = r->where.length, skipped;
    char *old = *bytes = pnc_memory_alloc_zeroed(n, 2);

    if (old == NULL)
        return pnc_dataset_header_memory_fail(ds, n);
    encode_entry(ds, r->name, r->att, old + n);
    PNC_TRY(get_old_entry(ds, r, old));
    p->where = find_change(r->where.offset, old, old + n, n);
    skipped = p->where.offset - r->where.offset;
    p->was = old + skipped;
    p->becomes = old + n + skipped;
    if (!needs_journal(p->where))
        return write_at_once(ds, p);
    PNC_TRY(pnc_growth_life_begin(io));
    PNC_TRY(pnc_file_get_size(&ds->file, &p->old_size));
    PNC_TRY(pnc_dataset_file_end_check(ds, p->old_size)); /* the journal would extend a file that was truncated */
    p->new_size = get_new_size(ds, p->old_size);
    return NC_NOERR;
}

bool pnc_dataset_header_entry_is_in_place(const pnc_dataset *ds, pnc_extent old, int64_t length)
{
    return ds->mode != PNC_DEFINE && old.offset >= 0 && length == old.length;
}

int pnc_dataset_header_entry_write(pnc_dataset *ds, int err, const pnc_rewrite *rewrite)
{
    entry_change change = {.err = NC_NOERR};
    char *bytes = NULL;

    PNC_TRY(pnc_file_status_agree(&ds->file, err));
    PNC_TRY(pnc_dataset_header_restore(ds));
    ds->life = (pnc_growth_life){.held = PNC_HELD_UNKNOWN, .at = -1};
    ds->growth_io = get_io(ds);
    if (ds->file.rank == 0)
        change.err = write_entry(ds, &ds->growth_io, rewrite, &bytes, &change.part);
    pnc_file_bytes_broadcast(&ds->file, &change, sizeof change, "what has changed in the header");
    if (change.err != NC_NOERR)
        err = pnc_file_status_broadcast(&ds->file, (int)change.err);
    else if (needs_journal(change.part.where))
        err = write_with_journal(ds, &change.part);
    if (ds->unrestored == PNC_RESTORED)
        pnc_growth_life_end(&ds->growth_io);
    pnc_memory_free(bytes);
    return err;
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
