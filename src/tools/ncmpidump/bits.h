/* Which bits of floating point values carry information (Kloewer and others 2021): the mutual information of each bit
 * with the same one of the adjacent value. */
#ifndef PNC_TOOLS_NCMPIDUMP_BITS_H
#define PNC_TOOLS_NCMPIDUMP_BITS_H

#include <stddef.h>

#include "tools/common/blocks.h"
#include "tools/common/meaning.h"

enum { DUMP_BITS_MOST = 64 };

/* Of pairs of values that are adjacent along the last dimension of more than one, and not missing. */
typedef struct dump_bits {
    int64_t npairs;
    /* how many have each bit, from the last one */
    int64_t first[DUMP_BITS_MOST], second[DUMP_BITS_MOST], both[DUMP_BITS_MOST];
    uint64_t any; /* bits that a value of them has */
} dump_bits;

/* Whether values of an external type have such bits. */
bool dump_type_has_bits(int type);

/* Add the pairs of a block in memory. */
void dump_bits_add(const tool_meaning *meaning, const tool_blocks *block, const void *values, dump_bits *bits);
void dump_bits_join(const dump_bits *other, dump_bits *bits);

/* The bits of the mantissa that have 99% of the information, or -1: none has any. */
int dump_bits_count(int type, const dump_bits *bits);

/* Why the number says how values were rounded before, and not what the data have; empty: nothing says that they
 * were. */
void dump_bits_explain(const pnc_var *var, const dump_bits *bits, char *out, size_t capacity);

#endif
