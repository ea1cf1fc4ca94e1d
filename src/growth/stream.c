/* Positions in the stream of data that move, and their offsets before and after. */
#include "growth/stream.h"

#include <assert.h>

#include "base/memory.h"
#include "base/minmax.h"

/* Contiguous bytes of the old file. In the new file they are blocks of `block` bytes, one every `stride` bytes. */
typedef struct pnc_stretch {
    int64_t at; /* position in the stream */
    int64_t bytes;
    int64_t from, to, block, stride;
} pnc_stretch;

static void add_stretch(pnc_growth_stream *s, int64_t from, int64_t to, int64_t bytes)
{
    s->stretches[s->n++] = (pnc_stretch){s->total, bytes, from, to, bytes, bytes};
    s->total += bytes;
}

static int64_t bytes_present(int64_t file_size, int64_t from, int64_t bytes)
{
    return pnc_min64(bytes, pnc_max64(file_size - from, 0));
}

static void add_fixed(pnc_growth_stream *s, const pnc_model *old, const pnc_model *now, int64_t file_size)
{
    int64_t shift = 0; /* of the preceding fixed-size variable */

    for (int i = 0; i < old->nvars; i++) {
        const pnc_var *var = old->vars[i];
        int64_t bytes = bytes_present(file_size, var->classic.begin, var->size),
                step = now->vars[i]->classic.begin - var->classic.begin;

        if (var->is_record || bytes == 0)
            continue;
        if (step != 0 && step == shift) { /* extend the last stretch, with the padding between both */
            pnc_stretch *last = &s->stretches[s->n - 1];
            int64_t more = var->classic.begin + bytes - (last->from + last->bytes);

            last->bytes = last->block = last->stride = last->bytes + more;
            s->total += more;
        } else if (step != 0) {
            add_stretch(s, var->classic.begin, now->vars[i]->classic.begin, bytes);
        }
        shift = step;
    }
}

/* Old variables come first in a record, at unchanged offsets in it, so that each record moves as one block. */
static void add_records(pnc_growth_stream *s, const pnc_model *old, const pnc_model *now, int64_t file_size)
{
    int64_t bytes = bytes_present(file_size, old->classic.begin_rec, old->numrecs * old->classic.recsize);

    if (bytes == 0 ||
        (old->classic.begin_rec == now->classic.begin_rec && old->classic.recsize == now->classic.recsize))
        return;
    add_stretch(s, old->classic.begin_rec, now->classic.begin_rec, bytes);
    if (old->classic.recsize != now->classic.recsize) {
        s->stretches[s->n - 1].block = old->classic.recsize;
        s->stretches[s->n - 1].stride = now->classic.recsize;
    }
}

int pnc_growth_stream_init(pnc_growth_stream *s, const pnc_model *old, const pnc_model *now, int64_t file_size)
{
    *s = (pnc_growth_stream){.stretches = pnc_memory_alloc((int64_t)old->nvars + 1, sizeof *s->stretches)};
    if (s->stretches == NULL)
        return NC_ENOMEM;
    add_fixed(s, old, now, file_size);
    add_records(s, old, now, file_size);
    assert(s->n <= old->nvars + 1);
    return NC_NOERR;
}

void pnc_growth_stream_free(pnc_growth_stream *s)
{
    pnc_memory_free(s->stretches);
}

static const pnc_stretch *stretch_at(const pnc_growth_stream *s, int64_t position)
{
    int low = 0, high = s->n - 1;

    while (low < high) {
        int middle = low + (high - low + 1) / 2;

        if (s->stretches[middle].at <= position)
            low = middle;
        else
            high = middle - 1;
    }
    return &s->stretches[low];
}

pnc_extent pnc_growth_stream_get_extent(const pnc_growth_stream *stream, pnc_growth_side side, int64_t position)
{
    const pnc_stretch *s = stretch_at(stream, position);
    int64_t at = position - s->at, left = s->bytes - at, in_block = at % s->block;

    assert(position >= 0 && position < stream->total);
    if (side == PNC_OLD_SIDE)
        return (pnc_extent){s->from + at, left};
    return (pnc_extent){s->to + at / s->block * s->stride + in_block,
                        left < s->block - in_block ? left : s->block - in_block};
}

int64_t pnc_growth_stream_find(const pnc_growth_stream *s, pnc_growth_side side, int64_t offset)
{
    int64_t low = 0, high = s->total;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (pnc_growth_stream_get_extent(s, side, middle).offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
