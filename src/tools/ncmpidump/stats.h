/* Statistics of values: minimum, maximum, mean, and how many are missing. */
#ifndef PNC_TOOLS_NCMPIDUMP_STATS_H
#define PNC_TOOLS_NCMPIDUMP_STATS_H

#include "tools/common/meaning.h"
#include "tools/common/number.h"
#include "tools/ncmpidump/bits.h"
#include "tools/ncmpidump/dump.h"

/* Of values that are not missing. Those of integers without packing are exact in `whole`. */
typedef struct dump_summary {
    int64_t count, missing; /* values; of them missing */
    cdl_value least, most;  /* in the class of the type, or unpacked numbers */
    double sum, rest;       /* the sum is that of both */
    dump_bits bits;         /* of --bits */
} dump_summary;

/* Whether values are unpacked: the summary then has real numbers. */
bool dump_meaning_is_packed(const tool_meaning *meaning);
/* Add n values in their memory type, which must be one of numbers. */
void dump_summary_add(const tool_meaning *meaning, const void *values, int64_t n, dump_summary *summary);
/* The same for values of another part; real: the members of least and most are. */
void dump_summary_join(const cdl_type *type, bool is_real, const dump_summary *other, dump_summary *summary);

/* Print the statistics of all variables that the options select. Collective. */
int dump_stats_print(const dump_file *file);

#endif
