/* File domains: which aggregator accesses which part of the file. Pure arithmetic.
 *
 * A round of two-phase I/O covers a window of the file, in striping units. The division of the window is
 *
 * balanced: of T units, aggregator i of n has those from i T / n to (i + 1) T / n. Aggregators are in the order of
 * their nodes. Where the ranks of a node have neighbouring parts of the file, most data stay on the node, whatever the
 * number of nodes. If the range of the call begins within a unit, the division may wrap: the first unit counts as the
 * last one. A balanced call that accesses what comes before in the file, another variable or record, ends in this unit:
 * its last aggregator has it too, and the lock of the stripe stays on one node. The first unit of the file does not
 * wrap: rank 0, on the node of the first aggregator, writes the header.
 *
 * cyclic: the next unit belongs to the next aggregator; unit i of the file has the same aggregator in every call. Where
 * stripes are distributed over servers, few aggregators access a server. Windows of fewer units than aggregators are
 * cyclic, too: a sequence of small calls uses all aggregators. */
#ifndef PNC_IO_FILE_DOMAINS_H
#define PNC_IO_FILE_DOMAINS_H

#include <stdbool.h>
#include <stdint.h>
#include "select/selection.h"

typedef struct pnc_file_domains {
    int naggregators;
    bool cyclic;
    bool may_wrap;      /* as in pnc_domain_shape, and units are stripes */
    bool wraps;         /* the window, which is balanced */
    int64_t unit;       /* bytes; every window begins at a multiple of it */
    int64_t first;      /* file offset at which the window begins */
    int64_t units;      /* of the window */
    int64_t window;     /* of the call: units of a window at most */
    int64_t low, limit; /* likewise: first file offset, and the one after the last */
} pnc_file_domains;

/* What the division depends on. */
typedef struct pnc_domain_shape {
    int naggregators;
    int64_t buffer;        /* bytes that an aggregator holds */
    int64_t striping_unit; /* of the file system; where it has none, the unit of alignment */
    bool cyclic;           /* stripes are distributed over servers in turn */
    bool may_wrap;         /* aggregators are on several nodes, and access whole blocks */
} pnc_domain_shape;

/* Neighbouring units of one aggregator: the range [low, high) of the file. */
typedef struct pnc_block {
    int aggregator;
    int64_t low, high;
    int64_t position; /* of `low` in the buffer of the aggregator, which holds its blocks one after the other */
} pnc_block;

/* Divide the range [low, high) of the file: as few windows as the buffers allow, of about the same size. */
void pnc_io_file_domains_init(pnc_file_domains *domains, const pnc_domain_shape *shape, int64_t low, int64_t high);
/* The number of aggregators for stripes on `factor` servers: a divisor or a multiple of it near `most`, so that each
 * server has few clients; `most` if there is none. */
int pnc_io_file_domains_choose_count(int most, int64_t factor);
/* Begin the window that contains `offset`. */
void pnc_io_file_domains_start(pnc_file_domains *domains, int64_t offset);

/* File offset after so many units of the window; the last unit of a file may end beyond the largest offset. */
static inline int64_t pnc_io_file_domains_get_offset(const pnc_file_domains *d, int64_t units)
{
    int64_t bytes = units * d->unit;

    return d->first > INT64_MAX - bytes ? INT64_MAX : d->first + bytes;
}

/* File offset after the window. */
static inline int64_t pnc_io_file_domains_get_end(const pnc_file_domains *d)
{
    return pnc_io_file_domains_get_offset(d, d->units);
}

/* The block that contains an offset of the window. */
pnc_block pnc_io_file_domains_find_block(const pnc_file_domains *d, int64_t offset);
/* The block that contains a position of the buffer of an aggregator; empty if the aggregator has none there. */
pnc_block pnc_io_file_domains_find_block_at(const pnc_file_domains *d, int aggregator, int64_t position);

#endif
