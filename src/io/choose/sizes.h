/* Sizes of buffers, of portions and of rounds. Pure arithmetic. */
#ifndef PNC_IO_SIZES_H
#define PNC_IO_SIZES_H

#include "convert/convert.h"
#include "io/choose/file_domains.h"
#include "select/sieving.h"

/* Where neither the file system nor a hint says how long a stripe is. */
#define PNC_STRIPING_UNIT (1 << 20)
#define PNC_PAGE 4096

/* A multiple of a page, as buffers are divided into units. reported: by the file system; given: by a hint; 0: not. */
static inline int64_t pnc_io_striping_unit_compute(int64_t reported, int64_t given)
{
    int64_t unit = reported;

    if (unit <= 0)
        unit = given > 0 ? given : PNC_STRIPING_UNIT;
    return (unit + PNC_PAGE - 1) / PNC_PAGE * PNC_PAGE;
}

/* --- access without other ranks: at most so much at a time --- */

#define PNC_STAGE_BYTES (256 << 10)       /* fits the second-level cache, from conversion to system call */
#define PNC_STAGE_BYTES_SERVERS (2 << 20) /* few accesses are more important than the cache */
#define PNC_DIRECT_BYTES (512 << 20)      /* without a staging buffer; the store accepts less than 1 GiB */
#define PNC_MERGED_BYTES (1 << 20)        /* of the requests of a rank in the order of the file */
#define PNC_PORTION_EXTENTS 4096          /* 64 KiB of extents */
#define PNC_INTERLEAVED_BYTES (1 << 20)   /* of requests whose values share cache lines; see below */

/* Shorter rows of single values are accessed as a list of extents: it takes more for each value, and less for each row.
 */
#define PNC_STRIDED_LEAST_ROW 64

static inline int64_t pnc_io_stage_get_bytes(bool on_servers)
{
    return on_servers ? PNC_STAGE_BYTES_SERVERS : PNC_STAGE_BYTES;
}

/* Of a portion. is_direct: the user's memory is accessed; in_place: read into it and converted there. */
static inline int64_t pnc_io_portion_get_bytes(bool on_servers, bool is_direct, bool in_place)
{
    return is_direct || (in_place && on_servers) ? PNC_DIRECT_BYTES : pnc_io_stage_get_bytes(on_servers);
}

/* Of a portion of each of n requests that advance alternately, as their values share cache lines. One portion of all is
 * in the second-level cache: puts of 24 doubles per cell took 120 to 155 ms with the whole staging buffer for each, and
 * 77 to 110 with 16 to 64 KiB; gets 140 to 170, and 83 to 107. */
static inline int64_t pnc_io_interleaved_get_bytes(bool on_servers, int64_t n)
{
    return on_servers ? PNC_STAGE_BYTES_SERVERS : PNC_INTERLEAVED_BYTES / n / PNC_PAGE * PNC_PAGE;
}

/* Whether the runs of hyperslabs are counted for the choice of a strategy. Not if there are many small ones: each
 * counts as one run then. A guess: the analysis of a hyperslab takes about as long as it takes to merge its runs. */
static inline bool pnc_io_runs_is_counted(int64_t slabs, int64_t bytes)
{
    return slabs <= 64 || bytes / slabs >= 2048;
}

/* Whether direct/sieve.c accesses a hyperslab without a list of extents: single values in rows of some length, whose
 * gaps are cheaper to access than to skip, as they are smaller than `gap`. */
bool pnc_io_selection_is_strided(const pnc_selection *selection, int64_t elem_size, int64_t gap);
/* Reads of a hyperslab from servers: of single values in portions of the staging buffer, of other runs in
 * lists. */
int64_t pnc_io_reads_count(const pnc_selection *selection, int64_t elem_size);

/* --- gets of the same bytes by all ranks --- */

/* Of a step, in the memory of each rank. A guess: a broadcast of so many bytes reaches the rate of the network, and all
 * ranks of a node have the memory. */
#define PNC_SHARED_BYTES (4 << 20)
/* A guess: one reader has the rate of one server, and more of them mean smaller parts and more broadcasts. */
#define PNC_SHARED_READERS 4
/* Extents of so many bytes are read PNC_TRANSFERS_AT_ONCE at the same time. A guess: shorter ones cost less in a list
 * than a thread of the system takes for each. */
#define PNC_SHARED_LONG (64 << 10)

/* Ranks that read a part of each step, at most `most`: one, if one step has all bytes; else so many that a part has a
 * stripe. */
static inline int pnc_io_shared_count_readers(int64_t bytes, int64_t step, int64_t most, int64_t striping_unit)
{
    int64_t n = step / striping_unit;

    n = n < PNC_SHARED_READERS ? n : PNC_SHARED_READERS;
    n = n < most ? n : most;
    return bytes <= step || n < 1 ? 1 : (int)n;
}

/* --- collective buffers --- */

/* An access of servers costs 0.3 to 5 ms, the time of about 1 MiB. */
#define PNC_SIEVE_GAP_SERVERS (1 << 20)

/* Gaps between the pieces of a block. */
typedef struct pnc_gaps {
    int64_t n, bytes;
} pnc_gaps;

/* Whether the pieces of a block are written by one access, with the gaps between them, as far as no other rank writes
 * to these. few: up to so many extents are cheaper to access one by one. */
static inline bool pnc_io_gaps_is_small(pnc_gaps gaps, int64_t few, int64_t sieve_gap)
{
    return gaps.n == 0 || (gaps.n >= few && gaps.bytes / gaps.n <= sieve_gap);
}

/* What the buffers of aggregators depend on. */
typedef struct pnc_buffer_shape {
    int nnodes;
    bool on_servers;
    int64_t given; /* hint cb_buffer_size; 0: not given */
    int64_t most;  /* hint nc_ibuf_size */
    int64_t striping_unit;
    bool round_robin;
} pnc_buffer_shape;

/* Bytes that an aggregator holds. */
int64_t pnc_io_buffer_compute_size(const pnc_buffer_shape *buffer);

/* Accesses of an aggregator in the background, of one buffer: more wait for the oldest. */
#define PNC_TRANSFERS_AT_ONCE 8

/* What the rounds of a call depend on, besides the buffers. */
typedef struct pnc_rounds_shape {
    pnc_direction direction;
    int naggregators;
    int64_t buffer;    /* bytes that each of them holds */
    bool within_nodes; /* nodes work without each other */
    bool can_overlap;  /* accesses may take place in the background */
    int64_t length;    /* of the range of the call */
    int64_t bytes;     /* of the requests; not used for a put */
} pnc_rounds_shape;

typedef struct pnc_rounds {
    bool reads_blocks;  /* a get from servers whose requests have most bytes of the range: each block is read at once */
    bool overlaps;      /* two buffers: while one is written or read, data of the other one are exchanged */
    bool in_background; /* several accesses are in progress at the same time */
    pnc_domain_shape domains;
} pnc_rounds;

pnc_rounds pnc_io_rounds_choose(const pnc_buffer_shape *buffer, const pnc_rounds_shape *call);

#endif
