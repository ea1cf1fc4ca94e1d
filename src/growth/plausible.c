/* Rules that hold for every journal that this library writes. Decoding a header has checked those of one layout: its
 * variables begin after the header, in order, and do not overlap. */
#include "growth/plausible.h"

#include <string.h>

#include "format/layout.h"

/* A variable of both headers: it has the same values, at its old offset or a higher one. A record moves as one block,
 * so that its variables keep their distance from its first byte. */
static bool is_same_var(const pnc_model *old, const pnc_model *now, int i)
{
    const pnc_var *a = old->vars[i], *b = now->vars[i];

    if (a->type != b->type || a->is_record != b->is_record || a->ndims != b->ndims ||
        b->classic.begin < a->classic.begin ||
        (a->ndims > 0 && memcmp(a->shape, b->shape, (size_t)a->ndims * sizeof *a->shape) != 0))
        return false;
    return !a->is_record || b->classic.begin - now->classic.begin_rec == a->classic.begin - old->classic.begin_rec;
}

/* The file ends where the longer of both datasets does. Fill values, too, end there. */
static bool has_right_sizes(const pnc_journal *j, const pnc_model *now)
{
    int64_t end = pnc_format_layout_get_file_end(now);

    return j->new_size == (end > j->old_size ? end : j->old_size) &&
           j->scratch == pnc_growth_alignment_compute(j->new_size) && j->half % PNC_JOURNAL_ALIGNMENT == 0;
}

const char *pnc_growth_headers_find_wrong(const pnc_journal *j, const pnc_model *old, const pnc_model *now)
{
    if (old->classic.header_size != j->old_header || now->classic.header_size != j->new_header ||
        now->nvars != j->nvars)
        return "the sizes of its headers are not theirs";
    if (old->format != now->format || old->numrecs != now->numrecs || old->nvars > now->nvars)
        return "its headers are not of one dataset";
    for (int i = 0; i < old->nvars; i++)
        if (!is_same_var(old, now, i))
            return "a variable is another one after the change, or at a lower offset";
    if (!has_right_sizes(j, now))
        return "its sizes and offsets are not those of its new header";
    return NULL;
}

/* The half that is written next: a step through an empty one would not end. The number of steps, each of at least one
 * byte, is added to seq. */
const char *pnc_growth_state_find_wrong(const pnc_journal *j, const pnc_growth_state *s, int64_t seq,
                                        const pnc_growth_stream *stream, int64_t beyond)
{
    if (stream->total == 0)
        return "no data move by it";
    if (j->half > pnc_growth_alignment_compute(beyond) || (j->half == 0 && beyond > 0))
        return "its scratch space does not suit the data that move";
    if (s->first < 0 || s->end < s->first || s->end > stream->total || s->end - s->first > j->half || s->half < 0 ||
        s->half > 1)
        return "its state is not one of this move";
    if (seq > INT64_MAX / 2)
        return "its state has an impossible number";
    return NULL;
}
