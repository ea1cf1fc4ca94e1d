/* File domains: the arithmetic. */
#include "io/file_domains.h"

#define LEAST_BLOCK 4096

/* Rounded up. */
static int64_t divide_by(int64_t value, int64_t by)
{
    return (value + by - 1) / by;
}

/* Block i of the file is a stripe. */
static void init_cyclic(pnc_file_domains *d, const pnc_domain_shape *shape, int64_t low, int64_t high)
{
    int64_t share;

    d->block = shape->striping_unit;
    d->unit = d->block * d->naggregators; /* a stripe has the same aggregator in every call */
    share = divide_by(high - low / d->unit * d->unit, d->unit);
    d->blocks = shape->buffer / d->block < share ? shape->buffer / d->block : share;
}

/* One block for each aggregator. A window that begins at a multiple of the block may need a larger block to reach the
 * end of the range; if that exceeds the buffer, the window begins at a stripe. */
static void init_contiguous(pnc_file_domains *d, const pnc_domain_shape *shape, int64_t low, int64_t high)
{
    int64_t unit = shape->striping_unit, n = d->naggregators, block;

    block = divide_by(divide_by(high - low / unit * unit, n), unit) * unit;
    d->block = block;
    d->unit = unit;
    if (block > shape->buffer) {
        d->block = unit <= shape->buffer ? shape->buffer / unit * unit : shape->buffer;
        d->unit = d->block;
        return;
    }
    for (; block <= shape->buffer; block += unit)
        if (low / block * block + n * block >= high) {
            d->block = d->unit = block;
            return;
        }
}

void pnc_io_file_domains_init(pnc_file_domains *d, const pnc_domain_shape *given, int64_t low, int64_t high)
{
    pnc_domain_shape shape = *given;

    if (shape.buffer < LEAST_BLOCK)
        shape.buffer = LEAST_BLOCK;
    *d = (pnc_file_domains){.naggregators = shape.naggregators, .blocks = 1};
    if (shape.cyclic && shape.striping_unit <= shape.buffer)
        init_cyclic(d, &shape, low, high);
    else
        init_contiguous(d, &shape, low, high);
    if (d->blocks < 1)
        d->blocks = 1;
    pnc_io_file_domains_start(d, low);
}

void pnc_io_file_domains_start(pnc_file_domains *d, int64_t offset)
{
    d->first = offset / d->unit * d->unit;
    d->first_aggregator = d->first % d->block == 0 ? (int)(d->first / d->block % d->naggregators) : 0;
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
