/* File domains: the arithmetic. */
#include "io/file_domains.h"

#define LEAST_BLOCK 4096

static int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

void pnc_io_file_domains_init(pnc_file_domains *d, const pnc_domain_shape *shape, int64_t low, int64_t high)
{
    int64_t buffer = shape->buffer < LEAST_BLOCK ? LEAST_BLOCK : shape->buffer, n = shape->naggregators, share;

    *d = (pnc_file_domains){.naggregators = shape->naggregators, .blocks = 1};
    if (shape->cyclic && shape->striping_unit <= buffer) {
        d->block = shape->striping_unit;
        d->unit = shape->striping_unit * n; /* a stripe has the same aggregator in every call */
        share = round_up(high - low / d->unit * d->unit, d->unit) / d->unit;
        d->blocks = buffer / shape->striping_unit < share ? buffer / shape->striping_unit : share;
    } else {
        share = (high - low / shape->striping_unit * shape->striping_unit + n - 1) / n;
        d->block = round_up(share, shape->striping_unit);
        if (d->block > buffer)
            d->block = shape->striping_unit <= buffer ? buffer / shape->striping_unit * shape->striping_unit : buffer;
        d->unit = d->block % shape->striping_unit == 0 ? shape->striping_unit : d->block;
    }
    if (d->blocks < 1)
        d->blocks = 1;
    pnc_io_file_domains_start(d, low);
}

void pnc_io_file_domains_start(pnc_file_domains *d, int64_t offset)
{
    d->first = offset / d->unit * d->unit;
}
