/* The statistics of all ranks, and what is said about them. */
#ifndef PNC_STATISTICS_SUMMARY_H
#define PNC_STATISTICS_SUMMARY_H

#include <stdio.h>
#include "statistics/statistics.h"

/* A rank and its node. */
typedef struct pnc_place {
    int32_t rank;
    char node[28]; /* the start of its name */
} pnc_place;

/* A number over all ranks. The ranks combine it in one reduction: plain bytes. */
typedef struct pnc_spread {
    int64_t sum, least, most;
    pnc_place at_least, at_most; /* the lowest ranks that have these */
} pnc_spread;

void pnc_spread_init(pnc_spread *spread, int64_t value, const pnc_place *place);
void pnc_spread_merge(pnc_spread *into, const pnc_spread *other);

typedef struct pnc_var_summary {
    const char *name;
    int64_t put_bytes, get_bytes, nanoseconds; /* of all ranks */
} pnc_var_summary;
#define PNC_SUMMARY_VARS 10 /* those with most time are reported */

/* What the hints of advice would change, and what is there that advice is to avoid. */
typedef struct pnc_advisable {
    bool defers_puts, writes_behind; /* nc_defer_puts, nc_write_behind: not set, and the file can have them */
    bool aligns;                     /* nc_var_align_size: not set to whole stripes, and the variables are new */
    bool is_shared;                  /* NC_SHARE */
} pnc_advisable;

/* Who has chosen how a variable is stored: no hint changes what the program or a file has. */
typedef enum pnc_chooser { PNC_CHOSEN_BY_HINTS, PNC_CHOSEN_BY_PROGRAM, PNC_CHOSEN_BY_FILE } pnc_chooser;

/* A variable in chunks. */
typedef struct pnc_chunked_var {
    const char *name; /* NULL: none */
    pnc_chooser chunks, filters, digits;
    bool is_quantizable;  /* its values are real numbers */
    int elem_size, ndims; /* ndims 0: it has more dimensions than are kept, or no chunks now */
    const char *dims[PNC_STATISTICS_DIMS];
    int64_t shape[PNC_STATISTICS_DIMS], chunk[PNC_STATISTICS_DIMS];
    int64_t lengths[2][PNC_STATISTICS_DIMS]; /* of the last get and put of rank 0 */
    pnc_chunk_counts counts;                 /* of all ranks */
} pnc_chunked_var;

/* Rules of advice that are about the chunks of a variable: the one that has most of what the rule counts. */
#define PNC_SMALL_CHUNK (4 << 10) /* bytes of a chunk that is small */
typedef enum pnc_chunk_rule {
    PNC_WRITTEN_AGAIN,  /* chunks */
    PNC_READ_AGAIN,     /* chunks */
    PNC_LITTLE_USED,    /* bytes that were read, and that no get needed */
    PNC_SMALL_CHUNKS,   /* small chunks */
    PNC_INCOMPRESSIBLE, /* bytes in the file of chunks that are hardly smaller */
    PNC_CHUNK_RULES
} pnc_chunk_rule;

/* An aggregator; all zeros where there is none. The ranks combine these as plain bytes. */
typedef struct pnc_aggregator_summary {
    pnc_place place;
    int64_t is_used;
    int64_t low, high; /* its file domain in the first round of the last call */
    int64_t writes, write_bytes, reads, read_bytes, nanoseconds; /* of its system accesses */
} pnc_aggregator_summary;
#define PNC_SUMMARY_AGGREGATORS 64 /* the first ones are reported */

#define PNC_SUMMARY_GROWTH_BYTES 600

typedef struct pnc_summary {
    const char *path;
    int nprocs, nnodes;
    int64_t striping_unit;
    pnc_advisable advisable;
    pnc_spread counters[PNC_COUNTER_N];
    pnc_var_summary vars[PNC_SUMMARY_VARS]; /* in the order of descending time */
    int nvars;
    pnc_chunked_var chunked[PNC_CHUNK_RULES];
    pnc_heat heat;
    int64_t naggregators, window; /* of the last call of rank 0 that used them; bytes of a round */
    pnc_aggregator_summary aggregators[PNC_SUMMARY_AGGREGATORS];
    char growth[PNC_SUMMARY_GROWTH_BYTES]; /* why data moved in ncmpi_enddef, and what avoids it */
} pnc_summary;

static inline int64_t pnc_summary_get_sum(const pnc_summary *s, pnc_counter counter)
{
    return s->counters[counter].sum;
}

/* Keep the variable if it is among those with most time. */
void pnc_summary_var_add(pnc_summary *s, const pnc_var_summary *var);

/* Keep the variable in chunks for the rules of which it has most. */
void pnc_summary_chunked_add(pnc_summary *s, const pnc_chunked_var *var);
/* chunk_advice.c: how much a rule counts of it. */
int64_t pnc_summary_chunked_count(const pnc_chunked_var *var, pnc_chunk_rule rule);
/* Append to `text` of PNC_ADVICE_BYTES what its chunks are, what puts or gets have, and which chunks suit better. */
void pnc_summary_chunked_explain(const pnc_chunked_var *var, pnc_chunk_rule rule, char *text);

/* report.c: one page for people. */
void pnc_summary_print(const pnc_summary *s, FILE *file);
/* json.c: everything; docs/statistics.md describes the schema. */
void pnc_summary_write_json(const pnc_summary *s, FILE *file);

/* advice.c: sentences about what would save time, the most valuable first. */
#define PNC_ADVICE_MOST 5
#define PNC_ADVICE_BYTES (PNC_SUMMARY_GROWTH_BYTES + 600)
typedef struct pnc_advice {
    const char *rule; /* its name in docs/statistics.md */
    char text[PNC_ADVICE_BYTES];
} pnc_advice;
/* Returns their number. */
int pnc_summary_find_advice(const pnc_summary *s, pnc_advice out[PNC_ADVICE_MOST]);

/* A number of bytes with a unit, "12.5 MiB"; and a time, "1.2 s". */
typedef struct pnc_amount {
    char text[24];
} pnc_amount;
pnc_amount pnc_amount_of_bytes_format(double bytes);
pnc_amount pnc_amount_of_time_format(double nanoseconds);

#endif
