/* Buckets of bytes over a file. */
#include "statistics/heat.h"

void pnc_statistics_heat_init(pnc_heat *heat)
{
    *heat = (pnc_heat){.shift = PNC_HEAT_LEAST_SHIFT};
}

static void merge_pairs(int64_t *bytes)
{
    for (int i = 0; i < PNC_HEAT_BUCKETS / 2; i++)
        bytes[i] = bytes[2 * i] + bytes[2 * i + 1];
    for (int i = PNC_HEAT_BUCKETS / 2; i < PNC_HEAT_BUCKETS; i++)
        bytes[i] = 0;
}

void pnc_statistics_heat_merge(pnc_heat *heat, int shift)
{
    for (; heat->shift < shift; heat->shift++) {
        merge_pairs(heat->bytes[0]);
        merge_pairs(heat->bytes[1]);
    }
}

void pnc_statistics_heat_add(pnc_heat *heat, bool is_write, int64_t offset, int64_t bytes)
{
    int64_t *to = heat->bytes[is_write], length;

    if (bytes <= 0)
        return;
    while ((offset + bytes - 1) >> heat->shift >= PNC_HEAT_BUCKETS)
        pnc_statistics_heat_merge(heat, heat->shift + 1);
    for (; bytes > 0; bytes -= length) {
        int64_t bucket = offset >> heat->shift, end = (bucket + 1) << heat->shift;

        length = bytes < end - offset ? bytes : end - offset;
        to[bucket] += length;
        offset += length;
    }
}

void pnc_statistics_heat_join(pnc_heat *heat, const pnc_heat *other)
{
    pnc_heat more = *other;

    pnc_statistics_heat_merge(&more, heat->shift);
    pnc_statistics_heat_merge(heat, more.shift);
    for (int i = 0; i < PNC_HEAT_BUCKETS; i++) {
        heat->bytes[0][i] += more.bytes[0][i];
        heat->bytes[1][i] += more.bytes[1][i];
    }
}
