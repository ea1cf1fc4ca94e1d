/* File domains: the arithmetic. */
#include "io/choose/file_domains.h"

#define LEAST_UNIT 4096

/* Rounded up. */
static int64_t divide_by(int64_t value, int64_t by)
{
    return value / by + (value % by != 0);
}

void pnc_io_file_domains_init(pnc_file_domains *d, const pnc_domain_shape *shape, int64_t low, int64_t high)
{
    int64_t most, units;

    *d = (pnc_file_domains){.naggregators = shape->naggregators, .unit = shape->striping_unit};
    if (d->unit > shape->buffer) {
        d->unit = shape->buffer > LEAST_UNIT ? shape->buffer / LEAST_UNIT * LEAST_UNIT : LEAST_UNIT;
    } else {
        d->cyclic = shape->cyclic;
        d->may_wrap = shape->may_wrap && d->naggregators > 1;
    }
    most = shape->buffer > d->unit ? shape->buffer / d->unit * d->naggregators : d->naggregators;
    units = divide_by(high - low / d->unit * d->unit, d->unit);
    d->window = units > 0 ? divide_by(units, divide_by(units, most)) : 1;
    d->cyclic = d->cyclic || d->window < d->naggregators;
    d->low = low;
    d->limit = high;
    pnc_io_file_domains_start(d, low);
}

void pnc_io_file_domains_start(pnc_file_domains *d, int64_t offset)
{
    int64_t rest;

    d->first = offset / d->unit * d->unit;
    rest = divide_by(d->limit - d->first, d->unit);
    d->units = rest < d->window && rest > 0 ? rest : d->window;
    d->wraps = d->may_wrap && !d->cyclic && d->first > 0 && d->first < d->low;
}

/* --- balanced --- */

/* The first unit of a balanced division that belongs to the aggregator, but for the one that wraps. */
static int64_t first_unit(const pnc_file_domains *d, int aggregator)
{
    return aggregator * d->units / d->naggregators + d->wraps;
}

static pnc_block balanced_block(const pnc_file_domains *d, int aggregator)
{
    int64_t end = first_unit(d, aggregator + 1);

    return (pnc_block){.aggregator = aggregator,
                       .low = pnc_io_file_domains_get_offset(d, first_unit(d, aggregator)),
                       .high = pnc_io_file_domains_get_offset(d, end < d->units ? end : d->units)};
}

/* The unit that wraps, behind the other units of the last aggregator. */
static pnc_block wrapped_block(const pnc_file_domains *d)
{
    pnc_block others = balanced_block(d, d->naggregators - 1);

    return (pnc_block){.aggregator = others.aggregator,
                       .low = d->first,
                       .high = pnc_io_file_domains_get_offset(d, 1),
                       .position = others.high - others.low};
}

/* --- cyclic --- */

static pnc_block cyclic_block(const pnc_file_domains *d, int64_t unit)
{
    return (pnc_block){.aggregator = (int)((d->first / d->unit + unit) % d->naggregators),
                       .low = pnc_io_file_domains_get_offset(d, unit),
                       .high = pnc_io_file_domains_get_offset(d, unit + 1),
                       .position = unit / d->naggregators * d->unit};
}

/* --- both --- */

pnc_block pnc_io_file_domains_find_block(const pnc_file_domains *d, int64_t offset)
{
    int64_t unit = (offset - d->first) / d->unit;

    if (d->cyclic)
        return cyclic_block(d, unit);
    if (d->wraps && unit == 0)
        return wrapped_block(d);
    return balanced_block(d, (int)(((unit + !d->wraps) * d->naggregators - 1) / d->units));
}

pnc_block pnc_io_file_domains_find_block_at(const pnc_file_domains *d, int aggregator, int64_t position)
{
    int64_t n = d->naggregators, before = d->first / d->unit % n;
    pnc_block block = d->cyclic ? cyclic_block(d, position / d->unit * n + (aggregator - before + n) % n)
                                : balanced_block(d, aggregator);

    if (d->wraps && aggregator == n - 1 && position >= wrapped_block(d).position)
        block = wrapped_block(d);
    if (block.low >= pnc_io_file_domains_get_end(d) || position - block.position >= block.high - block.low)
        block.high = block.low;
    return block;
}

int pnc_io_file_domains_choose_count(int most, int64_t factor)
{
    if (factor <= 0)
        return most;
    if (most >= factor)
        return (int)(most / factor * factor);
    for (int n = most; 2 * n > most; n--)
        if (factor % n == 0)
            return n;
    return most;
}
