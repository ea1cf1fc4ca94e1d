/* Bits that carry information. Insignificant information, which random bits would have as well, counts as none: the
 * bound is that of Kloewer and others (2021) at 99% confidence. */
#include "tools/ncmpidump/bits.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PRESERVED 0.99    /* of the information */
#define QUANTILE 2.575829 /* of the normal distribution, for 99% */
/* Bits at the end that real data fill with noise: xbitinfo takes as many. */
#define LAST_BITS 4

bool dump_type_has_bits(int type)
{
    return type == NC_FLOAT || type == NC_DOUBLE;
}

static int count_bits(int type)
{
    return type == NC_FLOAT ? 32 : DUMP_BITS_MOST;
}

static int count_mantissa_bits(int type)
{
    return (type == NC_FLOAT ? FLT_MANT_DIG : DBL_MANT_DIG) - 1;
}

/* --- pairs --- */

/* False: it is missing. */
static bool read_bits(const tool_meaning *m, const void *values, int64_t i, uint64_t *out)
{
    double value;
    float single;
    uint32_t half;

    if (m->type == NC_FLOAT) {
        memcpy(&single, (const char *)values + i * (int64_t)sizeof single, sizeof single);
        memcpy(&half, &single, sizeof half);
        *out = half;
        value = single;
        return value >= m->least && value <= m->most && tool_meaning_find(m, &single) < 0;
    }
    memcpy(&value, (const char *)values + i * (int64_t)sizeof value, sizeof value);
    memcpy(out, &value, sizeof value);
    return value >= m->least && value <= m->most && tool_meaning_find(m, &value) < 0;
}

static void add_pair(int nbits, uint64_t a, uint64_t b, dump_bits *bits)
{
    bits->npairs++;
    bits->any |= a | b;
    for (int i = 0; i < nbits; i++) {
        bits->first[i] += (int64_t)(a >> i & 1);
        bits->second[i] += (int64_t)(b >> i & 1);
        bits->both[i] += (int64_t)(a >> i & b >> i & 1);
    }
}

/* The elements of a row of the block; behind its dimension all have length 1. */
static int64_t find_row_length(const tool_blocks *block)
{
    for (int d = block->ndims - 1; d >= 0; d--)
        if (block->shape[d] > 1)
            return block->count[d];
    return 1;
}

void dump_bits_add(const tool_meaning *meaning, const tool_blocks *block, const void *values, dump_bits *bits)
{
    int64_t row = find_row_length(block);
    int nbits = count_bits(meaning->type);
    uint64_t before = 0, own;
    bool has_before = false;

    for (int64_t i = 0; i < block->length; i++) {
        bool is_there = read_bits(meaning, values, i, &own);

        if (is_there && has_before && i % row > 0)
            add_pair(nbits, before, own, bits);
        before = own;
        has_before = is_there;
    }
}

void dump_bits_join(const dump_bits *other, dump_bits *bits)
{
    bits->npairs += other->npairs;
    bits->any |= other->any;
    for (int i = 0; i < DUMP_BITS_MOST; i++) {
        bits->first[i] += other->first[i];
        bits->second[i] += other->second[i];
        bits->both[i] += other->both[i];
    }
}

/* --- information --- */

static double weigh(double joint, double a, double b)
{
    return joint > 0 ? joint * log2(joint / (a * b)) : 0;
}

static double get_mutual_information(const dump_bits *bits, int i)
{
    double n = (double)bits->npairs, a = (double)bits->first[i] / n, b = (double)bits->second[i] / n,
           both = (double)bits->both[i] / n;

    return weigh(both, a, b) + weigh(a - both, a, 1 - b) + weigh(b - both, 1 - a, b) +
           weigh(1 - a - b + both, 1 - a, 1 - b);
}

/* What independent bits may seem to have: the entropy that a coin lacks whose share of heads is as far from a half as
 * that of n throws may be. */
static double get_least_information(const dump_bits *bits)
{
    double p = fmin(0.5 + QUANTILE / (2 * sqrt((double)bits->npairs)), 1);

    return 1 + p * log2(p) + (p < 1 ? (1 - p) * log2(1 - p) : 0);
}

static double get_information(const dump_bits *bits, int i)
{
    double information = get_mutual_information(bits, i);

    return information >= get_least_information(bits) ? information : 0;
}

int dump_bits_count(int type, const dump_bits *bits)
{
    int nbits = count_bits(type), before = nbits - count_mantissa_bits(type);
    double sum = 0, total = 0;

    for (int i = 0; bits->npairs > 0 && i < nbits; i++)
        total += get_information(bits, i);
    if (!(total > 0))
        return -1;
    for (int kept = 1; kept < nbits; kept++) {
        sum += get_information(bits, nbits - kept);
        if (sum >= PRESERVED * total)
            return kept > before ? kept - before : 0;
    }
    return nbits - before;
}

/* --- data that were rounded --- */

static const char *find_quantization(const pnc_var *var)
{
    static const char *const names[] = {"_QuantizeBitGroomNumberOfSignificantDigits",
                                        "_QuantizeGranularBitRoundNumberOfSignificantDigits",
                                        "_QuantizeBitRoundNumberOfSignificantBits",
                                        "quantization_nsb",
                                        "quantization_nsd",
                                        "maximum_absolute_error",
                                        "maximum_relative_error",
                                        "least_significant_digit"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pnc_format_atts_find(&var->atts, names[i]) >= 0)
            return names[i];
    return NULL;
}

void dump_bits_explain(const pnc_var *var, const dump_bits *bits, char *out, size_t capacity)
{
    const char *name = find_quantization(var);
    int zeros = 0, informed = 0;

    out[0] = '\0';
    while (bits->any != 0 && (bits->any >> zeros & 1) == 0)
        zeros++;
    for (int i = 0; bits->npairs > 0 && i < LAST_BITS; i++)
        informed += get_information(bits, i) > 0;
    if (name != NULL)
        snprintf(out, capacity, "it has the attribute %s", name);
    else if (zeros > 0)
        snprintf(out, capacity, "the last %d bits of all values are 0", zeros);
    else if (informed > 0)
        snprintf(out, capacity, "its last bits carry information, as those of data that were unpacked do");
}
