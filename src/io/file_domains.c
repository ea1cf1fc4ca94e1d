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
    if (shape->cyclic && shape->stripe <= buffer) {
        d->block = shape->stripe;
        d->unit = shape->stripe * n; /* a stripe has the same aggregator in every call */
        share = round_up(high - low / d->unit * d->unit, d->unit) / d->unit;
        d->blocks = buffer / shape->stripe < share ? buffer / shape->stripe : share;
    } else {
        share = (high - low / shape->stripe * shape->stripe + n - 1) / n;
        d->block = round_up(share, shape->stripe);
        if (d->block > buffer)
            d->block = shape->stripe <= buffer ? buffer / shape->stripe * shape->stripe : buffer;
        d->unit = d->block % shape->stripe == 0 ? shape->stripe : d->block;
    }
    if (d->blocks < 1)
        d->blocks = 1;
    pnc_io_file_domains_start(d, low);
}

void pnc_io_file_domains_start(pnc_file_domains *d, int64_t offset)
{
    d->first = offset / d->unit * d->unit;
}
