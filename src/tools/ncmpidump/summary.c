/* Sums of values. A value is missing if it is the fill value, that of the attribute or of the type, one of
 * missing_value, outside the valid range, or not a number. */
#include <math.h>
#include <string.h>

#include "tools/ncmpidump/stats.h"

bool dump_meaning_is_packed(const tool_meaning *meaning)
{
    return meaning->scale != 1 || meaning->offset != 0;
}

/* With the error that rounding makes (Neumaier), so that the mean has the digits of a double. */
static void add_to_sum(dump_summary *s, double x)
{
    double sum = s->sum + x;

    if (!isfinite(sum))
        s->rest = 0;
    else
        s->rest += fabs(s->sum) >= fabs(x) ? (s->sum - sum) + x : (x - sum) + s->sum;
    s->sum = sum;
}

static void include_real(dump_summary *s, double x)
{
    bool is_first = s->count == s->missing;

    if (is_first || x < s->least.r)
        s->least.r = x;
    if (is_first || x > s->most.r)
        s->most.r = x;
}

/* A loop for each type: values that are missing are few, and compared as values of the type. */
#define ADD(ctype, member)                                                      \
    do {                                                                        \
        const ctype *at = values;                                               \
        ctype missing[TOOL_MISSING_MOST];                                       \
        for (int k = 0; k < m->nmissing; k++)                                   \
            memcpy(&missing[k], m->missing[k], sizeof *missing);                \
        for (int64_t i = 0; i < n; i++) {                                       \
            const ctype x = at[i];                                              \
            bool is_missing = !((double)x >= m->least && (double)x <= m->most); \
            for (int k = 0; k < m->nmissing; k++)                               \
                is_missing = is_missing || x == missing[k];                     \
            if (is_missing) {                                                   \
                s->missing++;                                                   \
            } else if (packed) {                                                \
                include_real(s, (double)x * m->scale + m->offset);              \
                add_to_sum(s, (double)x * m->scale + m->offset);                \
            } else {                                                            \
                if (s->count == s->missing || x < (ctype)s->least.member)       \
                    s->least.member = x;                                        \
                if (s->count == s->missing || x > (ctype)s->most.member)        \
                    s->most.member = x;                                         \
                add_to_sum(s, (double)x);                                       \
            }                                                                   \
            s->count++;                                                         \
        }                                                                       \
    } while (0)

void dump_summary_add(const tool_meaning *m, const void *values, int64_t n, dump_summary *s)
{
    bool packed = dump_meaning_is_packed(m);

    switch (m->type) {
    case NC_BYTE: ADD(signed char, i); break;
    case NC_UBYTE: ADD(unsigned char, u); break;
    case NC_SHORT: ADD(short, i); break;
    case NC_USHORT: ADD(unsigned short, u); break;
    case NC_INT: ADD(int, i); break;
    case NC_UINT: ADD(unsigned, u); break;
    case NC_INT64: ADD(long long, i); break;
    case NC_UINT64: ADD(unsigned long long, u); break;
    case NC_FLOAT: ADD(float, r); break;
    default: ADD(double, r); break;
    }
}

static bool is_less(const cdl_type *type, bool is_real, cdl_value a, cdl_value b)
{
    if (is_real || type->class == CDL_REAL)
        return a.r < b.r;
    return type->class == CDL_UNSIGNED ? a.u < b.u : a.i < b.i;
}

void dump_summary_join(const cdl_type *type, bool is_real, const dump_summary *other, dump_summary *s)
{
    bool is_first = s->count == s->missing;

    if (other->count > other->missing) {
        if (is_first || is_less(type, is_real, other->least, s->least))
            s->least = other->least;
        if (is_first || is_less(type, is_real, s->most, other->most))
            s->most = other->most;
    }
    s->count += other->count;
    s->missing += other->missing;
    add_to_sum(s, other->sum);
    add_to_sum(s, other->rest);
    dump_bits_join(&other->bits, &s->bits);
}
