/* Moving data towards the end of the file.
 *
 * The data to move are one stream of bytes. New offsets ascend as the old ones do and are never smaller. The stream is
 * moved from its end, so that no round overwrites data that is still to be read. Data with new offsets beyond the end
 * of the old file are moved first: if the disk is full, the old file is still intact. After a later failure the moved
 * data are moved back, from the beginning of the stream. */
#include "dataset/move.h"

#include <assert.h>

#include "base/memory.h"
#include "file/agree.h"

#define EXTENTS_AT_A_TIME 512

/* Contiguous bytes of the old file. In the new file they are blocks of `block` bytes, one every `stride` bytes. */
typedef struct pnc_stretch {
    int64_t at; /* position in the stream */
    int64_t bytes;
    int64_t from, to, block, stride;
} pnc_stretch;

typedef enum side { OLD, NEW } side;

/* --- the stream --- */

static void add_stretch(pnc_move *m, int64_t from, int64_t to, int64_t bytes)
{
    assert(m->n <= m->old->nvars);
    m->stretches[m->n++] = (pnc_stretch){m->total, bytes, from, to, bytes, bytes};
    m->total += bytes;
}

/* Data beyond the end of the file was never written and is not moved. */
static int64_t bytes_present(const pnc_move *m, int64_t from, int64_t bytes)
{
    int64_t present = m->file_size > from ? m->file_size - from : 0;

    return bytes < present ? bytes : present;
}

static void add_fixed(pnc_move *m)
{
    const pnc_model *old = m->old, *now = m->now;
    int64_t shift = 0; /* of the preceding fixed-size variable */

    for (int i = 0; i < old->nvars; i++) {
        const pnc_var *var = old->vars[i];
        int64_t bytes = bytes_present(m, var->begin, var->size), step = now->vars[i]->begin - var->begin;

        if (var->is_record || bytes == 0)
            continue;
        if (step != 0 && step == shift) { /* extend the last stretch, with the padding between both */
            pnc_stretch *last = &m->stretches[m->n - 1];
            int64_t more = var->begin + bytes - (last->from + last->bytes);

            last->bytes = last->block = last->stride = last->bytes + more;
            m->total += more;
        } else if (step != 0) {
            add_stretch(m, var->begin, now->vars[i]->begin, bytes);
        }
        shift = step;
    }
}

/* Old variables come first in a record, at unchanged offsets in it, so that each record moves as one block. */
static void add_records(pnc_move *m)
{
    const pnc_model *old = m->old, *now = m->now;
    int64_t bytes = bytes_present(m, old->begin_rec, old->numrecs * old->recsize);

    if (bytes == 0 || (old->begin_rec == now->begin_rec && old->recsize == now->recsize))
        return;
    add_stretch(m, old->begin_rec, now->begin_rec, bytes);
    if (old->recsize != now->recsize) {
        m->stretches[m->n - 1].block = old->recsize;
        m->stretches[m->n - 1].stride = now->recsize;
    }
}

static const pnc_stretch *stretch_at(const pnc_move *m, int64_t position)
{
    int low = 0, high = m->n - 1;

    while (low < high) {
        int middle = low + (high - low + 1) / 2;

        if (m->stretches[middle].at <= position)
            low = middle;
        else
            high = middle - 1;
    }
    return &m->stretches[low];
}

/* The extent of the stream from a position on, as far as it is contiguous in the old or new file. */
static pnc_extent extent_at(const pnc_move *m, side where, int64_t position)
{
    const pnc_stretch *s = stretch_at(m, position);
    int64_t at = position - s->at, left = s->bytes - at, in_block = at % s->block;

    if (where == OLD)
        return (pnc_extent){s->from + at, left};
    return (pnc_extent){s->to + at / s->block * s->stride + in_block,
                        left < s->block - in_block ? left : s->block - in_block};
}

/* The first position whose new offset is beyond the end of the file. */
static int64_t find_beyond(const pnc_move *m)
{
    int64_t low = 0, high = m->total;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (extent_at(m, NEW, middle).offset < m->file_size)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int find_size(pnc_move *m)
{
    pnc_file *file = m->file;
    int err = NC_NOERR;

    if (file->rank == 0)
        err = pnc_file_get_size(file, &m->file_size);
    PNC_TRY(pnc_file_status_broadcast(file, err));
    pnc_file_bytes_broadcast(file, &m->file_size, sizeof m->file_size, "the size of the file");
    return NC_NOERR;
}

int pnc_dataset_move_init(pnc_move *m, pnc_file *file, const pnc_model *old, const pnc_model *now, int64_t chunk)
{
    int err = NC_NOERR;

    *m = (pnc_move){.file = file, .old = old, .now = now};
    PNC_TRY(find_size(m));
    m->stretches = pnc_memory_alloc((int64_t)old->nvars + 1, sizeof *m->stretches);
    if (m->stretches != NULL) {
        add_fixed(m);
        add_records(m);
    }
    m->moved = m->total;
    m->beyond = find_beyond(m);
    m->chunk = m->total / file->nprocs + 1;
    if (m->chunk > chunk)
        m->chunk = chunk;
    m->buf = pnc_memory_alloc(m->chunk, 1);
    if (m->stretches == NULL || m->buf == NULL)
        err = pnc_error_set(file->error, NC_ENOMEM, "%s: no memory for a buffer of %lld bytes to move data", file->path,
                            (long long)m->chunk);
    return pnc_file_status_agree(file, err);
}

void pnc_dataset_move_free(pnc_move *m)
{
    pnc_memory_free(m->stretches);
    pnc_memory_free(m->buf);
}

/* --- rounds --- */

/* Positions in the stream. */
typedef struct range {
    int64_t first, end; /* end: one beyond the last */
} range;

static range share_of(const pnc_move *m, range all)
{
    int64_t nprocs = m->file->nprocs, rank = m->file->rank;
    int64_t n = all.end - all.first, share = n / nprocs, extra = n % nprocs;
    int64_t first = all.first + share * rank + (rank < extra ? rank : extra);

    return (range){first, first + share + (rank < extra)};
}

/* The extents of the next part of a range, at most EXTENTS_AT_A_TIME; the range becomes the rest. */
static int64_t take_extents(const pnc_move *m, side where, range *rest, pnc_extent *extents, int64_t *bytes)
{
    int64_t n = 0;

    *bytes = 0;
    for (; n < EXTENTS_AT_A_TIME && rest->first < rest->end; n++) {
        extents[n] = extent_at(m, where, rest->first);
        if (extents[n].length > rest->end - rest->first)
            extents[n].length = rest->end - rest->first;
        rest->first += extents[n].length;
        *bytes += extents[n].length;
    }
    return n;
}

/* Read the data of a range into m->buf. Local. */
static int read_range(pnc_move *m, side where, range rest)
{
    char *to = m->buf;

    while (rest.first < rest.end) {
        pnc_extent extents[EXTENTS_AT_A_TIME];
        int64_t bytes, n = take_extents(m, where, &rest, extents, &bytes);

        PNC_TRY(pnc_file_extents_read(m->file, extents, n, to, NULL));
        m->file->get_size += bytes;
        to += bytes;
    }
    return NC_NOERR;
}

/* Write m->buf to a range. Local. */
static int write_range(pnc_move *m, side where, range rest)
{
    const char *from = m->buf;

    while (rest.first < rest.end) {
        pnc_extent extents[EXTENTS_AT_A_TIME];
        int64_t bytes, n = take_extents(m, where, &rest, extents, &bytes);

        PNC_TRY(pnc_file_extents_write(m->file, extents, n, from));
        m->file->put_size += bytes;
        from += bytes;
    }
    return NC_NOERR;
}

/* One round towards the end of the file. No rank writes before all ranks have read. */
static int round_forward(pnc_move *m, range all)
{
    range mine = share_of(m, all);
    int err = read_range(m, OLD, mine);

    PNC_TRY(pnc_file_status_agree(m->file, err));
    m->overwritten = m->overwritten || all.first < m->beyond;
    err = write_range(m, NEW, mine);
    err = pnc_file_status_agree(m->file, err);
    if (err != NC_NOERR && m->overwritten) /* m->buf still has the old bytes */
        m->lost = write_range(m, OLD, mine);
    return err;
}

int pnc_dataset_move_execute(pnc_move *m)
{
    int64_t most = m->chunk * m->file->nprocs;

    while (m->moved > 0) {
        range all = {m->moved > most ? m->moved - most : 0, m->moved};

        if (all.first < m->beyond && m->beyond < all.end)
            all.first = m->beyond;
        PNC_TRY(round_forward(m, all));
        m->moved = all.first;
    }
    m->overwritten = true; /* from now on: the extents that the move freed are written next */
    return NC_NOERR;
}

/* One round towards the beginning. As new offsets are never smaller than old ones, it overwrites nothing that is still
 * to be read. */
static int round_back(pnc_move *m, range all)
{
    range mine = share_of(m, all);
    int err = read_range(m, NEW, mine);

    PNC_TRY(pnc_file_status_agree(m->file, err));
    err = write_range(m, OLD, mine);
    return pnc_file_status_agree(m->file, err);
}

/* Collective: the ranks agree on the error of each step. */
static int move_back(pnc_move *m)
{
    int64_t most = m->chunk * m->file->nprocs;
    int err;

    PNC_TRY(pnc_file_status_agree(m->file, m->lost));
    while (m->overwritten && m->moved < m->total) {
        range all = {m->moved, m->total - m->moved > most ? m->moved + most : m->total};

        PNC_TRY(round_back(m, all));
        m->moved = all.end;
    }
    /* otherwise a later attempt would treat the bytes beyond the old end as data */
    err = m->file->store->ops->set_size(m->file->store, m->file_size, m->file->error);
    return pnc_file_status_agree(m->file, err);
}

void pnc_dataset_move_undo(pnc_move *m)
{
    pnc_error cause = *m->file->error;

    if (move_back(m) == NC_NOERR)
        return;
    pnc_error_clear(m->file->error);
    pnc_error_set(m->file->error, cause.code,
                  "%.300s; moving the data back failed too: the data in the file are damaged", cause.text);
}
