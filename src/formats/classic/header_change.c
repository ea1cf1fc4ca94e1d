/* Changing the header of a file: at the end of define mode, and names and attributes in data mode. */
#include "formats/classic/header_change.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"
#include "file/log.h"
#include "format/codec.h"
#include "format/layout.h"
#include "formats/classic/file_end.h"
#include "formats/classic/growing.h"
#include "formats/classic/header_check.h"
#include "formats/classic/headerio.h"
#include "formats/classic/records.h"
#include "growth/fill.h"
#include "growth/patch.h"

/* For a change that may have a journal. The hint nc_repair=assume_dead is for repairs: a change never ignores that
 * another program holds the file. */
static pnc_growth_io get_growth_io(pnc_format *f)
{
    pnc_growth_io io = pnc_classic_growing_get_io(f->file);

    io.life = &pnc_classic_state_get(f)->life;
    return io;
}

/* All ranks know then what the file has: so many bytes at least. */
static void finish_change(pnc_format *f, int64_t size)
{
    pnc_file_end_raise(f->file, size);
    pnc_classic_numrecs_commit(f);
}

int pnc_classic_header_create(pnc_format *f, const char *header, int64_t n)
{
    pnc_growth_io io = pnc_classic_growing_get_io(f->file);
    int err = NC_NOERR;

    PNC_TRY(pnc_growth_vars_fill(&io, f->model, 0));
    if (f->file->rank == 0)
        err = pnc_file_range_write(f->file, (pnc_extent){0, n}, header);
    PNC_TRY(pnc_file_status_broadcast(f->file, err));
    finish_change(f, n);
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
static int64_t get_new_size(const pnc_format *f, int64_t old_size)
{
    return pnc_max64(pnc_format_layout_get_file_end(f->model), old_size);
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

/* Whether a process that dies while it writes could leave half of the bytes: those of one page the kernel writes all or
 * not at all. */
static bool needs_journal(pnc_extent where)
{
    return where.length > 0 && where.offset / PNC_HEADER_PAGE != (where.offset + where.length - 1) / PNC_HEADER_PAGE;
}

/* A write to the header has failed, and may have written a part. The message reports if the old bytes cannot be written
 * again. */
static void repair(pnc_format *f, const part *p)
{
    pnc_error cause = *f->file->error;
    int err = pnc_file_range_write(f->file, p->where, p->was);

    pnc_error_clear(f->file->error);
    if (err == NC_NOERR)
        *f->file->error = cause;
    else
        pnc_error_set(f->file->error, cause.code,
                      "%.300s; writing the old header again failed too: the file is damaged", cause.text);
}

/* Rank 0. */
static int write_at_once(pnc_format *f, const part *p)
{
    int err = p->where.length == 0 ? NC_NOERR : pnc_file_range_write(f->file, p->where, p->becomes);

    if (err != NC_NOERR)
        repair(f, p);
    return err;
}

/* The extent and the sizes are the same on all ranks. */
static int write_with_journal(pnc_format *f, const part *p)
{
    pnc_classic *c = pnc_classic_state_get(f);
    int err;

    c->patch = (pnc_growth_patch){.format = f->model->format,
                                  .where = p->where,
                                  .before = p->was,
                                  .after = p->becomes,
                                  .old_size = p->old_size,
                                  .new_size = p->new_size};
    err = pnc_growth_patch_execute(&c->growth_io, &c->patch);
    if (err != NC_NOERR && pnc_growth_patch_undo(&c->growth_io, &c->patch) != NC_NOERR) {
        c->unrestored = PNC_UNRESTORED_PATCH;
        pnc_growth_patch_keep(&c->growth_io, &c->patch);
    }
    pnc_statistics_add(f->file->statistics, PNC_COUNT_HEADER_BYTES, f->file->rank == 0 ? p->where.length : 0);
    return err;
}

/* --- the end of define mode --- */

/* What rank 0 finds before the header of an existing dataset changes. */
typedef struct examination {
    int64_t size;      /* of the file */
    pnc_extent change; /* of the old header */
    int64_t beyond;    /* offset of what comes after the old header */
} examination;

/* Another encoding of the same definitions may be longer: its bytes up to the end of the new header are part of what
 * changes. Beyond the end of the file they are zeros. */
static int examine_header(pnc_format *f, const char *header, int64_t n, char **old, examination *found)
{
    int64_t end = pnc_format_header_get_size(f->before);
    bool is_known = false;

    *old = pnc_memory_alloc_zeroed(pnc_max64(end, n), 1);
    if (*old == NULL)
        return pnc_formats_memory_fail(f, pnc_max64(end, n));
    PNC_TRY(pnc_classic_header_check(f, *old, end, &is_known));
    if (!is_known && pnc_min64(n, found->size) > end)
        PNC_TRY(pnc_file_range_read(f->file, (pnc_extent){end, pnc_min64(n, found->size) - end}, *old + end));
    found->beyond = is_known ? pnc_min64(end, n) : n;
    found->change = find_change(0, *old, header, found->beyond);
    return NC_NOERR;
}

/* io->life: begun before, so that no other program that begins such a change can make what is found here wrong. */
static int examine_file(pnc_format *f, const pnc_growth_io *io, const char *header, int64_t n, examination *found,
                        char **old)
{
    int err = pnc_growth_life_begin(io);

    if (f->file->rank == 0) {
        if (err == NC_NOERR)
            err = pnc_file_get_size(f->file, &found->size);
        if (err == NC_NOERR)
            err = pnc_classic_file_end_check(f, found->size);
        if (err == NC_NOERR)
            err = examine_header(f, header, n, old, found);
    }
    PNC_TRY(pnc_file_status_broadcast(f->file, err));
    pnc_file_bytes_broadcast(f->file, found, sizeof *found, "what the file has");
    return NC_NOERR;
}

/* Add the causes for which the data move now. */
static void find_cause(pnc_format *f, pnc_growth_cause *cause)
{
    pnc_classic *c = pnc_classic_state_get(f);

    if (c->origin.header == 0) { /* an opened file */
        pnc_growth_origin_init(&c->origin, f->before);
        c->origin.is_opened = true;
        c->origin.by_hint = f->hints->layout.h_minfree >= 0;
        if (c->origin.by_hint)
            c->origin.h_minfree = f->hints->layout.h_minfree;
    }
    pnc_growth_cause_add(cause, &c->origin, f->before, f->model);
}

/* The same on all ranks. */
static int check_move(pnc_format *f, int64_t bytes)
{
    pnc_growth_cause cause = {0};
    char why[400]; /* a message has space for one cause or two */

    if (bytes <= f->hints->data_move_limit)
        return NC_NOERR;
    find_cause(f, &cause);
    pnc_growth_cause_explain(&cause, &pnc_classic_state_get(f)->origin, why, sizeof why);
    pnc_error_set(f->file->error, NC_EMOVELIMIT,
                  "%s: %lld bytes of data would have to move, but the hint nc_data_move_limit is %lld: raise it, or "
                  "avoid the move: %s",
                  f->file->path, (long long)bytes, (long long)f->hints->data_move_limit, why);
    f->file->error->remote = f->file->rank != 0; /* one rank prints it */
    return NC_EMOVELIMIT;
}

/* Moves can take long. `text` follows the number of bytes. */
static void announce(const pnc_format *f, const pnc_growth_change *growth, const char *text)
{
    f->announce(f->file, "%lld bytes of data %s", (long long)growth->stream.total, text);
}

static void announce_end(pnc_format *f, const pnc_growth_change *growth, double took)
{
    pnc_classic *c = pnc_classic_state_get(f);
    char why[600], text[700];

    pnc_growth_cause_explain(&c->moved_for, &c->origin, why, sizeof why);
    snprintf(text, sizeof text, "have moved in %.1f s; to avoid it: %s", took, why);
    announce(f, growth, text);
}

static int grow(pnc_format *f, const char *header, int64_t n)
{
    pnc_classic *c = pnc_classic_state_get(f);
    pnc_growth_change *growth = &c->growth;
    double start = MPI_Wtime(), took;
    int err;

    pnc_statistics_add(f->file->statistics, PNC_COUNT_MOVED_BYTES, f->file->rank == 0 ? growth->stream.total : 0);
    pnc_statistics_add(f->file->statistics, PNC_COUNT_HEADER_BYTES, f->file->rank == 0 ? n : 0);
    announce(f, growth, "move to higher offsets, as the definitions have grown");
    err = pnc_growth_change_execute(growth, header);
    if (err != NC_NOERR) {
        if (pnc_growth_change_undo(growth) != NC_NOERR)
            c->unrestored = PNC_UNRESTORED_GROWTH;
        return err;
    }
    took = MPI_Wtime() - start;
    pnc_statistics_add(f->file->statistics, PNC_COUNT_TIME_MOVES, (int64_t)(1e9 * took));
    find_cause(f, &c->moved_for);
    announce_end(f, growth, took);
    return NC_NOERR;
}

/* All that needs no journal. What comes after the old header, which stays valid, is written first. */
static int write_simply(pnc_format *f, const pnc_growth_io *io, const char *header, int64_t n, int64_t beyond,
                        const part *p)
{
    int err = NC_NOERR;

    PNC_TRY(pnc_growth_vars_fill(io, f->model, f->before->nvars));
    if (f->file->rank == 0)
        err = pnc_file_range_write(f->file, (pnc_extent){beyond, n - beyond}, header + beyond);
    if (f->file->rank == 0 && err == NC_NOERR && !needs_journal(p->where))
        err = write_at_once(f, p);
    return pnc_file_status_broadcast(f->file, err);
}

/* No data move. */
static int replace(pnc_format *f, const pnc_growth_io *io, const char *header, int64_t n, const char *old,
                   const examination *found)
{
    part p = {found->change, found->size, get_new_size(f, found->size), NULL, NULL};
    int err;

    if (f->file->rank == 0) {
        p.was = old + p.where.offset;
        p.becomes = header + p.where.offset;
    }
    err = write_simply(f, io, header, n, found->beyond, &p);
    if (err == NC_NOERR)
        return needs_journal(p.where) ? write_with_journal(f, &p) : NC_NOERR;
    pnc_growth_size_restore(io, found->size); /* a full disk gets its space back */
    return err;
}

int pnc_classic_header_restore(pnc_format *f)
{
    pnc_classic *c = pnc_classic_state_get(f);
    int err;

    if (c->unrestored == PNC_RESTORED)
        return NC_NOERR;
    err = c->unrestored == PNC_UNRESTORED_PATCH ? pnc_growth_patch_restore(&c->growth_io, &c->patch)
                                                : pnc_growth_change_restore(&c->growth);
    if (err != NC_NOERR) {
        pnc_error_add_context(f->file->error,
                              "%s: the file cannot be restored yet after a change of the header that failed",
                              f->file->path);
        return err;
    }
    pnc_growth_life_end(&c->growth_io);
    pnc_classic_header_unrestored_free(f);
    return pnc_file_status_agree(f->file, NC_NOERR); /* no rank holds it when rank 0 takes it for the next change */
}

void pnc_classic_header_unrestored_free(pnc_format *f)
{
    pnc_classic *c = pnc_classic_state_get(f);

    if (c->unrestored == PNC_RESTORED)
        return;
    if (c->unrestored == PNC_UNRESTORED_PATCH)
        pnc_growth_patch_free(&c->patch);
    else
        pnc_growth_change_free(&c->growth);
    c->unrestored = PNC_RESTORED;
}

/* A put could overwrite the journal, which is behind the data. */
int pnc_classic_header_restore_before_put(pnc_format *f, bool collective)
{
    if (pnc_classic_state_get(f)->unrestored == PNC_RESTORED)
        return NC_NOERR;
    if (collective || f->file->nprocs == 1)
        return pnc_classic_header_restore(f);
    return pnc_error_set(f->file->error, NC_EINTERRUPTED,
                         "%s: the file is not restored yet after a change of the header that failed: an independent "
                         "put must wait until a collective put, ncmpi_sync or ncmpi_close restores it",
                         f->file->path);
}

/* The file is as it was before. *old, its header, is freed where data move: a header may be large. */
static int change(pnc_format *f, const char *header, int64_t n, char **old, const examination *found)
{
    pnc_classic *c = pnc_classic_state_get(f);
    int err =
        pnc_growth_change_init(&c->growth, &c->growth_io, f->before, f->model, found->size, f->hints->data_move_chunk);

    if (err == NC_NOERR)
        err = check_move(f, c->growth.stream.total);
    if (err == NC_NOERR && c->growth.stream.total > 0) {
        pnc_memory_free(*old);
        *old = NULL;
        err = grow(f, header, n);
    } else if (err == NC_NOERR) {
        err = replace(f, &c->growth_io, header, n, *old, found);
    }
    if (c->unrestored != PNC_UNRESTORED_GROWTH)
        pnc_growth_change_free(&c->growth);
    return err;
}

int pnc_classic_header_update(pnc_format *f, const char *header, int64_t n)
{
    pnc_classic *c = pnc_classic_state_get(f);
    examination found = {0};
    char *old = NULL;
    int err;

    PNC_TRY(pnc_classic_header_restore(f));
    PNC_TRY(pnc_file_log_discard(f->file));
    c->growth_io = get_growth_io(f);
    err = examine_file(f, &c->growth_io, header, n, &found, &old);
    if (err == NC_NOERR)
        err = change(f, header, n, &old, &found);
    if (err == NC_NOERR)
        finish_change(f, found.size);
    if (c->unrestored == PNC_RESTORED)
        pnc_growth_life_end(&c->growth_io);
    pnc_memory_free(old);
    return err;
}

/* --- data mode --- */

static void encode_entry(const pnc_format *f, const char *name, const pnc_att *att, char *bytes)
{
    if (att != NULL)
        pnc_format_att_encode(f->model, att, bytes);
    else
        pnc_format_name_encode(f->model, name, bytes);
}

/* What the file has: mostly what this handle knows, which takes no read. */
static int get_old_entry(pnc_format *f, const pnc_rewrite *r, char *bytes)
{
    if (!r->is_known)
        return pnc_file_range_read(f->file, r->where, bytes);
    encode_entry(f, r->old_name, r->old_att, bytes);
    return NC_NOERR;
}

/* What rank 0 has found: the part that changes, and its error. */
typedef struct entry_change {
    part part;
    int64_t err;
} entry_change;

/* Rank 0: write it, unless a journal is needed. *bytes: those before and after the change; to be freed. */
static int write_entry(pnc_format *f, const pnc_growth_io *io, const pnc_rewrite *r, char **bytes, part *p)
{
    int64_t n = r->where.length, skipped;
    char *old = *bytes = pnc_memory_alloc_zeroed(n, 2);

    if (old == NULL)
        return pnc_formats_memory_fail(f, n);
    encode_entry(f, r->name, r->att, old + n);
    PNC_TRY(get_old_entry(f, r, old));
    p->where = find_change(r->where.offset, old, old + n, n);
    skipped = p->where.offset - r->where.offset;
    p->was = old + skipped;
    p->becomes = old + n + skipped;
    if (!needs_journal(p->where))
        return write_at_once(f, p);
    PNC_TRY(pnc_growth_life_begin(io));
    PNC_TRY(pnc_file_get_size(f->file, &p->old_size));
    PNC_TRY(pnc_classic_file_end_check(f, p->old_size)); /* the journal would extend a file that was truncated */
    p->new_size = get_new_size(f, p->old_size);
    return NC_NOERR;
}

int pnc_classic_header_entry_write(pnc_format *f, int err, const pnc_rewrite *rewrite)
{
    pnc_classic *c = pnc_classic_state_get(f);
    entry_change change = {.err = NC_NOERR};
    char *bytes = NULL;

    PNC_TRY(pnc_file_status_agree(f->file, err));
    PNC_TRY(pnc_classic_header_restore(f));
    PNC_TRY(pnc_file_log_discard(f->file));
    c->life = (pnc_growth_life){.held = PNC_HELD_UNKNOWN, .at = -1};
    c->growth_io = get_growth_io(f);
    if (f->file->rank == 0)
        change.err = write_entry(f, &c->growth_io, rewrite, &bytes, &change.part);
    pnc_file_bytes_broadcast(f->file, &change, sizeof change, "what has changed in the header");
    if (change.err != NC_NOERR)
        err = pnc_file_status_broadcast(f->file, (int)change.err);
    else if (needs_journal(change.part.where))
        err = write_with_journal(f, &change.part);
    if (c->unrestored == PNC_RESTORED)
        pnc_growth_life_end(&c->growth_io);
    pnc_memory_free(bytes);
    return err;
}
