/* Growing a file in steps of which each can be repeated after a death.
 *
 * The stream of data is moved from its end. A step is direct if its new extents overlap nothing that has still to move.
 * Other steps copy their data to the scratch space first. A step that overwrites data begins after a state in the
 * journal describes the data as they are then, and both are on disk. */
#include "growth/growth.h"

#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "format/codec.h"
#include "format/layout.h"
#include "growth/fill.h"
#include "growth/patch.h"
#include "growth/plausible.h"

enum {
    EXTENTS_AT_A_TIME = 512,
    CHUNKS_PER_STEP = 64,   /* at least, so that a step has few flushes for its bytes */
    CACHED_BYTES = 1 << 18, /* the chunk where a step has no flush: it and its scratch space stay in the cache */
    DIRECT_SHARE = 8, /* a direct step that is this much smaller than one through the scratch space is not worth it */
    REPAIR_CHUNK = 1 << 22
};

typedef enum place { OLD, NEW, SCRATCH } place;

/* Positions in the stream. */
typedef struct range {
    int64_t first, end; /* end: one beyond the last */
} range;

/* --- init --- */

/* Of all ranks, through the scratch space. */
static int64_t chunks_per_step(const pnc_growth_io *io)
{
    return io->is_volatile ? io->nprocs : pnc_max64(2 * (int64_t)io->nprocs, CHUNKS_PER_STEP);
}

/* Where the journal will be. The first data that move are copied beyond the end of the old file: they are not part of
 * any step. */
static void place_journal(pnc_growth_change *g, int64_t file_size, int64_t chunk)
{
    int64_t beyond = pnc_growth_stream_find(&g->stream, PNC_NEW_SIDE, file_size), chunks = chunks_per_step(g->io);
    int64_t most = chunk > INT64_MAX / PNC_JOURNAL_ALIGNMENT / chunks ? beyond : pnc_min64(beyond, chunk * chunks);
    pnc_journal *j = &g->journal;

    j->old_size = file_size;
    j->new_size = pnc_max64(file_size, pnc_format_layout_get_file_end(g->now));
    j->scratch = pnc_growth_alignment_compute(j->new_size);
    j->half = pnc_growth_alignment_compute(most);
    g->step = g->io->is_volatile ? most : j->half;
    j->owner = j->scratch + 2 * j->half;
    j->at = j->owner + PNC_OWNER_BYTES;
    j->old_header = pnc_format_header_get_size(g->old);
    j->new_header = pnc_format_header_get_size(g->now);
    j->nvars = g->now->nvars;
    g->state = (pnc_growth_state){beyond, beyond, 1};
}

static int init_buffer(pnc_growth_change *g, int64_t chunk, int err)
{
    g->chunk = pnc_min64(chunk, g->stream.total / g->io->nprocs + 1);
    if (err == NC_NOERR)
        g->buf = pnc_memory_alloc(g->chunk, 1);
    return err == NC_NOERR && g->buf != NULL ? NC_NOERR : pnc_growth_memory_fail(g->io, g->chunk);
}

int pnc_growth_change_init(pnc_growth_change *g, const pnc_growth_io *io, pnc_model *old, const pnc_model *now,
                           int64_t file_size, int64_t chunk)
{
    int err;

    *g = (pnc_growth_change){.io = io, .old = old, .now = now};
    if (io->is_volatile)
        chunk = pnc_min64(chunk, CACHED_BYTES);
    err = pnc_growth_stream_init(&g->stream, old, now, file_size);
    err = init_buffer(g, chunk, err);
    PNC_TRY(io->agree(io->file, err));
    place_journal(g, file_size, chunk);
    return NC_NOERR;
}

void pnc_growth_change_free(pnc_growth_change *g)
{
    pnc_growth_stream_free(&g->stream);
    pnc_memory_free(g->buf);
}

/* --- copies --- */

static pnc_extent extent_at(const pnc_growth_change *g, place where, int64_t position)
{
    const pnc_journal *j = &g->journal;

    if (where == SCRATCH)
        return (pnc_extent){j->scratch + g->half_in_use * j->half + position - g->in_scratch, j->half};
    return pnc_growth_stream_get_extent(&g->stream, where == OLD ? PNC_OLD_SIDE : PNC_NEW_SIDE, position);
}

/* Read data of a range into g->buf, or write them from there. Local. */
static int access_range(pnc_growth_change *g, place where, range rest, bool is_write)
{
    const pnc_growth_io *io = g->io;
    char *bytes = g->buf;

    while (rest.first < rest.end) {
        pnc_extent extents[EXTENTS_AT_A_TIME];
        int64_t n = 0, length = 0;

        for (; n < EXTENTS_AT_A_TIME && rest.first < rest.end; n++) {
            extents[n] = extent_at(g, where, rest.first);
            extents[n].length = pnc_min64(extents[n].length, rest.end - rest.first);
            rest.first += extents[n].length;
            length += extents[n].length;
        }
        PNC_TRY(is_write ? pnc_growth_extents_write(io, extents, n, bytes) : io->read(io->file, extents, n, bytes));
        bytes += length;
    }
    return NC_NOERR;
}

static range share_of(const pnc_growth_io *io, range all)
{
    int64_t n = all.end - all.first, share = n / io->nprocs, extra = n % io->nprocs;
    int64_t first = all.first + share * io->rank + (io->rank < extra ? io->rank : extra);

    return (range){first, first + share + (io->rank < extra)};
}

/* With the error of a copy that the ranks have not agreed on. */
static int agree(pnc_growth_change *g, int err)
{
    err = pnc_error_keep_first(g->late, err);
    g->late = NC_NOERR;
    return g->io->agree(g->io->file, err);
}

/* What is written must not overlap what is read, on any rank. Afterwards g->buf has the last chunk: all data of the
 * rank, if those of all ranks fit the buffers. */
static int copy(pnc_growth_change *g, range all, place from, place to)
{
    range mine = share_of(g->io, all);
    int err = NC_NOERR;

    for (range part = mine; part.first < mine.end && err == NC_NOERR; part.first = part.end) {
        part.end = pnc_min64(mine.end, part.first + g->chunk);
        err = access_range(g, from, part, false);
        if (err == NC_NOERR)
            err = access_range(g, to, part, true);
    }
    return agree(g, err);
}

static bool fits_buffers(const pnc_growth_change *g, range all)
{
    return all.end - all.first <= g->chunk * g->io->nprocs;
}

/* The range that was copied to the scratch space last. From the buffers: the next step up reads and writes other bytes,
 * and agrees before it writes a state. */
static int copy_from_scratch(pnc_growth_change *g, range all, place to)
{
    if (!fits_buffers(g, all))
        return copy(g, all, SCRATCH, to);
    g->late = access_range(g, to, share_of(g->io, all), true);
    return to == NEW ? NC_NOERR : agree(g, NC_NOERR);
}

/* --- what rank 0 writes --- */

static int put_mark(const pnc_growth_change *g, bool marked)
{
    return pnc_growth_mark_write(g->io, g->now->format, marked);
}

/* The bytes of the old header, to be freed, or NULL. */
static char *encode_old_header(const pnc_growth_change *g)
{
    char *bytes = pnc_memory_alloc(g->journal.old_header, 1);

    if (bytes == NULL)
        pnc_growth_memory_fail(g->io, g->journal.old_header);
    else
        pnc_format_header_encode(g->old, bytes);
    return bytes;
}

static int put_modes(const pnc_growth_change *g, pnc_growth_writer *w)
{
    char *modes = pnc_memory_alloc(g->now->nvars, 1);
    int err;

    if (modes == NULL)
        return pnc_growth_memory_fail(g->io, g->now->nvars);
    for (int i = 0; i < g->now->nvars; i++)
        modes[i] = g->now->vars[i]->no_fill;
    err = pnc_growth_writer_put(w, modes, g->now->nvars);
    pnc_memory_free(modes);
    return err;
}

/* Without a copy of it: each of its headers may be large. */
static int put_journal(pnc_growth_change *g, const char *header)
{
    const pnc_journal *j = &g->journal;
    char slots[PNC_OWNER_BYTES + PNC_JOURNAL_SLOTS] = {0}, foot[PNC_JOURNAL_FOOT], *old = encode_old_header(g);
    pnc_growth_writer w;
    int err;

    if (old == NULL)
        return NC_ENOMEM;
    pnc_growth_writer_begin(&w, g->io, j->owner);
    pnc_growth_life_encode(g->io, slots);
    pnc_growth_state_encode(&g->state, 0, slots + PNC_OWNER_BYTES);
    err = pnc_growth_writer_put(&w, slots, sizeof slots);
    w.digest = pnc_growth_digest_begin(); /* records of owners and states have their own */
    if (err == NC_NOERR)
        err = pnc_growth_writer_put(&w, old, j->old_header);
    pnc_memory_free(old);
    PNC_TRY(err);
    PNC_TRY(pnc_growth_writer_put(&w, header, j->new_header));
    PNC_TRY(put_modes(g, &w));
    pnc_growth_journal_encode_foot(j, &w.digest, foot);
    PNC_TRY(pnc_growth_writer_put(&w, foot, PNC_JOURNAL_FOOT));
    return pnc_growth_writer_end(&w);
}

/* All but the magic number, which has the mark. */
static int put_header(const pnc_growth_change *g, const char *header, int64_t n)
{
    return pnc_growth_bytes_write(g->io, PNC_MAGIC_BYTES, header + PNC_MAGIC_BYTES, n - PNC_MAGIC_BYTES);
}

static int put_old_header(const pnc_growth_change *g)
{
    char *bytes = encode_old_header(g);
    int err;

    if (bytes == NULL)
        return NC_ENOMEM;
    err = put_header(g, bytes, g->journal.old_header);
    pnc_memory_free(bytes);
    return err;
}

static int put_state(const pnc_growth_change *g, const pnc_growth_state *state)
{
    char slot[PNC_JOURNAL_SLOT];
    int64_t at = g->journal.at + pnc_growth_state_encode(state, g->seq + 1, slot);

    PNC_TRY(pnc_growth_bytes_write(g->io, at, slot, PNC_JOURNAL_SLOT));
    return g->marked ? NC_NOERR : put_mark(g, true);
}

/* --- steps --- */

static int flush(const pnc_growth_change *g)
{
    return g->io->is_volatile ? NC_NOERR : g->io->sync(g->io->file);
}

/* All that was written before is on disk before the state and the mark, and these before the function returns. After
 * a failure the last state is still true, and the next one has the slot of the one that failed: it must not replace
 * the only one that is complete. */
static int commit(pnc_growth_change *g, pnc_growth_state next)
{
    const pnc_growth_io *io = g->io;
    int err = NC_NOERR;

    PNC_TRY(flush(g));
    g->exposed = true;
    if (io->rank == 0)
        err = put_state(g, &next);
    PNC_TRY(io->agree(io->file, err));
    PNC_TRY(flush(g));
    g->marked = true;
    g->seq++;
    g->state = next;
    return NC_NOERR;
}

static int step_directly(pnc_growth_change *g, range all, place from, place to)
{
    int64_t border = to == NEW ? all.first : all.end;

    if (!g->marked)
        PNC_TRY(commit(g, g->state));
    PNC_TRY(copy(g, all, from, to));
    return commit(g, (pnc_growth_state){border, border, g->state.half});
}

static int step_through_scratch(pnc_growth_change *g, range all, place from, place to, int64_t half)
{
    g->in_scratch = all.first;
    g->half_in_use = half;
    PNC_TRY(copy(g, all, from, SCRATCH));
    PNC_TRY(commit(g, (pnc_growth_state){all.first, all.end, half}));
    return copy_from_scratch(g, all, to);
}

static int copy_scratch_to(pnc_growth_change *g, place to)
{
    g->in_scratch = g->state.first;
    g->half_in_use = g->state.half;
    return copy(g, (range){g->state.first, g->state.end}, SCRATCH, to);
}

/* Whether a direct step of these bytes is better than one through the scratch space. */
static bool is_worthwhile(const pnc_growth_change *g, int64_t bytes, bool is_last)
{
    return bytes > 0 && (is_last || bytes >= g->step / DIRECT_SHARE);
}

/* The halves are used in turns: the data of the step before may not be on disk yet. */
static int move_up(pnc_growth_change *g)
{
    while (g->state.first > 0) {
        int64_t end = g->state.first;
        int64_t above = pnc_growth_stream_get_extent(&g->stream, PNC_OLD_SIDE, end - 1).offset + 1;
        range all = {pnc_growth_stream_find(&g->stream, PNC_NEW_SIDE, above), end};

        if (is_worthwhile(g, end - all.first, all.first == 0)) {
            PNC_TRY(step_directly(g, all, OLD, NEW));
        } else {
            all.first = pnc_max64(0, end - g->step);
            PNC_TRY(step_through_scratch(g, all, OLD, NEW, 1 - g->state.half));
        }
    }
    return agree(g, NC_NOERR);
}

/* The half that was used before is used again: on a full disk there may be no other. */
static int move_down(pnc_growth_change *g)
{
    int64_t first = g->state.end, total = g->stream.total;

    while (first < total) {
        int64_t above = pnc_growth_stream_get_extent(&g->stream, PNC_NEW_SIDE, first).offset;
        range all = {first, pnc_growth_stream_find(&g->stream, PNC_OLD_SIDE, above)};

        if (is_worthwhile(g, all.end - first, all.end == total)) {
            PNC_TRY(step_directly(g, all, NEW, OLD));
        } else {
            PNC_TRY(commit(g, (pnc_growth_state){first, first, g->state.half}));
            all.end = pnc_min64(total, first + g->step);
            PNC_TRY(step_through_scratch(g, all, NEW, OLD, g->state.half));
        }
        first = all.end;
    }
    return NC_NOERR;
}

/* When the header and all data are on disk. */
static int remove_mark(pnc_growth_change *g)
{
    const pnc_growth_io *io = g->io;
    int err = NC_NOERR;

    PNC_TRY(flush(g));
    g->marked = false;
    if (io->rank == 0)
        err = put_mark(g, false);
    PNC_TRY(io->agree(io->file, err));
    PNC_TRY(flush(g));
    return io->agree(io->file, pnc_growth_life_check(io));
}

static int complete(pnc_growth_change *g, const char *header)
{
    int err = NC_NOERR;

    PNC_TRY(move_up(g));
    if (!g->marked)
        PNC_TRY(commit(g, g->state));
    PNC_TRY(pnc_growth_vars_fill(g->io, g->now, g->old->nvars)); /* only now there is space for them */
    if (g->io->rank == 0)
        err = put_header(g, header, g->journal.new_header);
    PNC_TRY(g->io->agree(g->io->file, err));
    PNC_TRY(remove_mark(g));
    return g->io->set_size(g->io->file, g->journal.new_size); /* without the journal */
}

int pnc_growth_change_execute(pnc_growth_change *g, const char *header)
{
    int err = NC_NOERR;

    PNC_TRY(pnc_growth_life_share(g->io));
    g->begun = true;
    if (g->io->rank == 0)
        err = put_journal(g, header);
    PNC_TRY(g->io->agree(g->io->file, err));
    g->io->life->at = g->journal.owner;
    PNC_TRY(copy(g, (range){g->state.first, g->stream.total}, OLD, NEW));
    return complete(g, header);
}

/* --- undo --- */

/* Each repetition begins with the last state that was written, which is true also if the one before has failed. */
static int restore_old(pnc_growth_change *g)
{
    const pnc_growth_io *io = g->io;
    int err = NC_NOERR;

    PNC_TRY(commit(g, g->state)); /* the step that failed may have left another one, or removed the mark */
    PNC_TRY(copy_scratch_to(g, OLD));
    PNC_TRY(move_down(g));
    if (io->rank == 0)
        err = put_old_header(g);
    PNC_TRY(io->agree(io->file, err));
    return remove_mark(g);
}

int pnc_growth_change_restore(pnc_growth_change *g)
{
    bool is_lost;

    if (!g->begun)
        return NC_NOERR;
    PNC_TRY(pnc_growth_life_examine(g->io, &is_lost));
    if (is_lost)
        return NC_NOERR;
    if (g->exposed)
        PNC_TRY(restore_old(g));
    g->exposed = false;
    pnc_growth_size_restore(g->io, g->journal.old_size);
    return NC_NOERR;
}

int pnc_growth_change_undo(pnc_growth_change *g)
{
    pnc_error cause = pnc_growth_cause_get(g->io);
    int err = pnc_growth_change_restore(g);

    if (err != NC_NOERR)
        pnc_growth_undo_fail(g->io, &cause);
    return err;
}

/* --- repair --- */

/* The last `bytes` of the file: the journal. */
static int read_journal(const pnc_growth_io *io, int64_t file_size, pnc_journal *j, char **bytes)
{
    char foot[PNC_JOURNAL_FOOT];
    pnc_extent extent = {file_size - PNC_JOURNAL_FOOT, PNC_JOURNAL_FOOT};

    *bytes = NULL;
    if (extent.offset < 0)
        return NC_NOERR;
    PNC_TRY(io->read(io->file, &extent, 1, foot));
    if (!pnc_growth_journal_decode(foot, file_size, j))
        return NC_NOERR;
    extent = (pnc_extent){j->at, pnc_growth_journal_get_size(j)};
    *bytes = pnc_memory_alloc(extent.length, 1);
    if (*bytes == NULL)
        return pnc_growth_memory_fail(io, extent.length);
    PNC_TRY(io->read(io->file, &extent, 1, *bytes));
    if (!pnc_growth_journal_is_whole(j, *bytes)) {
        pnc_memory_free(*bytes);
        *bytes = NULL;
    }
    return NC_NOERR;
}

static int damaged(const pnc_growth_io *io)
{
    return pnc_error_set(io->error, NC_EINTERRUPTED,
                         "%s: a program ended while it changed the header or data moved, and the journal at the end "
                         "of the file, with which that could be completed, is missing or damaged",
                         io->path);
}

/* NC_NOERR if nothing is wrong. Before anything was written. */
static int refuse(const pnc_growth_io *io, const char *wrong)
{
    if (wrong == NULL)
        return NC_NOERR;
    return pnc_error_set(io->error, NC_EINTERRUPTED,
                         "%s: the journal of a change of the header, at the end of the file, is not one that this "
                         "library writes: %s; nothing was changed",
                         io->path, wrong);
}

static int decode_headers(const pnc_growth_io *io, const pnc_journal *j, const char *bytes, pnc_model *old,
                          pnc_model *now)
{
    const char *modes = bytes + PNC_JOURNAL_SLOTS + j->old_header + j->new_header;
    int64_t need;

    if (pnc_format_header_decode(bytes + PNC_JOURNAL_SLOTS, j->old_header, j->old_size, old, &need, NULL) != NC_NOERR ||
        pnc_format_header_decode(bytes + PNC_JOURNAL_SLOTS + j->old_header, j->new_header, j->new_size, now, &need,
                                 NULL) != NC_NOERR)
        return damaged(io);
    PNC_TRY(refuse(io, pnc_growth_headers_find_wrong(j, old, now)));
    for (int i = 0; i < now->nvars; i++)
        now->vars[i]->no_fill = modes[i];
    return NC_NOERR;
}

/* beyond: where the data begin that move beyond the old file. */
static int adopt_state(pnc_growth_change *g, const pnc_journal *j, const char *slots, int64_t beyond)
{
    g->journal = *j;
    g->step = j->half;
    g->marked = g->exposed = true;
    if (!pnc_growth_state_decode(slots, &g->seq, &g->state))
        return damaged(g->io);
    return refuse(g->io, pnc_growth_state_find_wrong(j, &g->state, g->seq, &g->stream, beyond));
}

/* Become the owner. Until then a program that was assumed to have ended may have gone on: its last state counts. */
static int take_over(pnc_growth_change *g, const pnc_journal *j, int64_t beyond)
{
    pnc_extent start = {0, PNC_MAGIC_BYTES}, at = {j->at, PNC_JOURNAL_SLOTS};
    char magic[PNC_MAGIC_BYTES], slots[PNC_JOURNAL_SLOTS];

    PNC_TRY(pnc_growth_owner_replace(g->io));
    PNC_TRY(flush(g));
    PNC_TRY(g->io->read(g->io->file, &start, 1, magic));
    if (!pnc_format_magic_is_marked(magic))
        return pnc_error_set(g->io->error, NC_EINTERRUPTED,
                             "%s: the program that was assumed to have ended has completed its change of the header "
                             "now: open the file again",
                             g->io->path);
    PNC_TRY(g->io->read(g->io->file, &at, 1, slots));
    return adopt_state(g, j, slots, beyond);
}

/* Each repetition of this begins as the first one does, so that a death is no different from one in the growth. */
static int resume(const pnc_growth_io *io, const pnc_journal *j, const char *bytes)
{
    pnc_model old = {0}, now = {0};
    pnc_growth_change growth = {.io = io};
    int err = decode_headers(io, j, bytes, &old, &now);
    int64_t beyond;

    if (err == NC_NOERR)
        err = pnc_growth_change_init(&growth, io, &old, &now, j->old_size, REPAIR_CHUNK);
    beyond = growth.state.first; /* the first state of a growth */
    if (err == NC_NOERR)
        err = adopt_state(&growth, j, bytes, beyond);
    if (err == NC_NOERR)
        err = take_over(&growth, j, beyond);
    if (err == NC_NOERR)
        err = copy_scratch_to(&growth, NEW);
    if (err == NC_NOERR)
        err = complete(&growth, bytes + PNC_JOURNAL_SLOTS + j->old_header);
    pnc_growth_change_free(&growth);
    pnc_format_model_free(&old);
    pnc_format_model_free(&now);
    return err;
}

/* Whether the file begins with these bytes. */
static int begins_with(const pnc_growth_io *io, const char *bytes, int64_t n, bool *same)
{
    pnc_extent extent = {0, n};
    char *found = pnc_memory_alloc(n, 1);
    int err = found == NULL ? pnc_growth_memory_fail(io, n) : io->read(io->file, &extent, 1, found);

    *same = err == NC_NOERR && memcmp(found, bytes, (size_t)n) == 0;
    pnc_memory_free(found);
    return err;
}

/* Cut the journal of a file that has the old or the new header. A file that ended before its data had a journal since:
 * the next program may have put values there. */
static int cut(const pnc_growth_io *io, const pnc_journal *j, const char *bytes, bool is_new)
{
    pnc_model old = {0}, now = {0};
    int err = decode_headers(io, j, bytes, &old, &now);

    if (err == NC_NOERR)
        err =
            io->set_size(io->file, is_new ? j->new_size : pnc_max64(j->old_size, pnc_format_layout_get_file_end(&old)));
    pnc_format_model_free(&old);
    pnc_format_model_free(&now);
    return err;
}

/* A file without the mark: the journal is removed if the header is one of those in it. Otherwise, and if it is not one
 * that this library writes, it is no more than bytes after the data. */
static int remove_journal(const pnc_growth_io *io, const pnc_journal *j, const char *bytes, pnc_growth_outcome *outcome)
{
    const char *old = bytes + PNC_JOURNAL_SLOTS;
    bool is_new, is_old = false;
    int err;

    PNC_TRY(begins_with(io, old + j->old_header, j->new_header, &is_new));
    if (!is_new)
        PNC_TRY(begins_with(io, old, j->old_header, &is_old));
    if (!is_new && !is_old)
        return NC_NOERR;
    err = cut(io, j, bytes, is_new);
    if (err == NC_NOERR)
        *outcome = is_new ? PNC_GROWTH_COMPLETED : PNC_GROWTH_REVERTED;
    if (err != NC_EINTERRUPTED)
        return err;
    pnc_error_clear(io->error);
    return NC_NOERR;
}

/* Where the journal at the end of the file, of either kind, has the slots for its owner: -1 if nowhere. */
static int find_owner(const pnc_growth_io *io, int64_t file_size, bool *has_journal, int64_t *at)
{
    char foot[PNC_JOURNAL_FOOT];
    pnc_extent extent = {file_size - PNC_JOURNAL_FOOT, PNC_JOURNAL_FOOT};
    pnc_journal journal;

    *at = -1;
    *has_journal = false;
    if (extent.offset < 0)
        return NC_NOERR;
    PNC_TRY(io->read(io->file, &extent, 1, foot));
    *has_journal = pnc_growth_journal_decode(foot, file_size, &journal);
    if (*has_journal)
        *at = journal.owner;
    else
        *has_journal = pnc_growth_patch_find_owner(foot + PNC_JOURNAL_FOOT, file_size, at);
    return NC_NOERR;
}

int pnc_growth_file_examine(const pnc_growth_io *io, int64_t file_size)
{
    bool has_journal;
    int64_t at;

    PNC_TRY(find_owner(io, file_size, &has_journal, &at));
    return has_journal ? pnc_growth_owner_examine(io, at) : NC_NOERR;
}

int pnc_growth_file_repair(const pnc_growth_io *io, int64_t file_size, pnc_growth_outcome *outcome)
{
    pnc_extent start = {0, PNC_MAGIC_BYTES};
    char magic[PNC_MAGIC_BYTES] = "", *bytes;
    pnc_journal journal;
    int err;

    *outcome = PNC_GROWTH_NONE;
    if (file_size < PNC_MAGIC_BYTES)
        return NC_NOERR;
    PNC_TRY(pnc_growth_file_examine(io, file_size));
    PNC_TRY(io->read(io->file, &start, 1, magic));
    PNC_TRY(pnc_growth_patch_repair(io, file_size, magic, outcome));
    if (*outcome != PNC_GROWTH_NONE)
        return NC_NOERR;
    err = read_journal(io, file_size, &journal, &bytes);
    if (err == NC_NOERR && pnc_format_magic_is_marked(magic)) {
        err = bytes == NULL ? damaged(io) : resume(io, &journal, bytes);
        if (err == NC_NOERR)
            *outcome = PNC_GROWTH_COMPLETED;
    } else if (err == NC_NOERR && bytes != NULL) {
        err = remove_journal(io, &journal, bytes, outcome);
    }
    pnc_memory_free(bytes);
    return err;
}
