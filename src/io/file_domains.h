/* File domains: which aggregator accesses which part of the file. Pure arithmetic.
 *
 * A round of two-phase I/O covers a window of the file. The window is divided into blocks; the next block belongs to
 * the next aggregator. Where windows begin at multiples of the block, block i of the file belongs to aggregator i mod
 * n, so that calls of the same size write a stripe from the same node: its lock stays there. On most file systems each
 * aggregator has one block in a window; where stripes are distributed over servers, a block is a stripe, so that each
 * server is accessed by as few aggregators as possible. */
#ifndef PNC_IO_FILE_DOMAINS_H
#define PNC_IO_FILE_DOMAINS_H

#include <stdbool.h>
#include <stdint.h>
#include "select/selection.h"

typedef struct pnc_file_domains {
    int naggregators;
    int64_t block;        /* bytes */
    int64_t blocks;       /* of each aggregator in a window */
    int64_t unit;         /* windows begin at multiples of it */
    int64_t first;        /* file offset at which the window begins */
    int first_aggregator; /* that of the first block */
} pnc_file_domains;

/* What the division depends on. */
typedef struct pnc_domain_shape {
    int naggregators;
    int64_t buffer;        /* bytes that an aggregator holds */
    int64_t striping_unit; /* of the file system; where it has none, the unit of alignment */
    bool cyclic;           /* stripes are distributed over servers in turn */
} pnc_domain_shape;

/* Divide the range [low, high) of the file: as few windows as the buffers allow, and all aggregators take part. */
void pnc_io_file_domains_init(pnc_file_domains *domains, const pnc_domain_shape *shape, int64_t low, int64_t high);
/* The number of aggregators for stripes on `factor` servers: a divisor or a multiple of it near `most`, so that each
 * server has few clients; `most` if there is none. */
int pnc_io_file_domains_choose_count(int most, int64_t factor);
/* Begin the window that contains `offset`. */
void pnc_io_file_domains_start(pnc_file_domains *domains, int64_t offset);

/* File offset after the window. */
static inline int64_t pnc_io_file_domains_get_end(const pnc_file_domains *d)
{
    return d->first + d->naggregators * d->block * d->blocks;
}

/* The aggregator of an offset in the window. */
static inline int pnc_io_file_domains_find_aggregator(const pnc_file_domains *d, int64_t offset)
{
    return (int)(((offset - d->first) / d->block + d->first_aggregator) % d->naggregators);
}

/* The offset at which the block that contains `offset` ends. */
static inline int64_t pnc_io_file_domains_get_block_end(const pnc_file_domains *d, int64_t offset)
{
    return offset - (offset - d->first) % d->block + d->block;
}

/* Position of an offset in the buffer of its aggregator, which holds its blocks one after the other. */
static inline int64_t pnc_io_file_domains_get_position(const pnc_file_domains *d, int64_t offset)
{
    int64_t within = offset - d->first;

    return within / d->block / d->naggregators * d->block + within % d->block;
}

/* The inverse: the file offset of a position in the buffer of an aggregator. */
static inline int64_t pnc_io_file_domains_get_offset(const pnc_file_domains *d, int aggregator, int64_t position)
{
    int index = aggregator - d->first_aggregator;

    index += index < 0 ? d->naggregators : 0;
    return d->first + (position / d->block * d->naggregators + index) * d->block + position % d->block;
}

#endif
