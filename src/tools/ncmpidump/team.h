/* Several ranks dump one file. The blocks of large variables are assigned to the ranks round robin. Each rank reads its
 * blocks and formats what does not depend on the preceding block; rank 0 receives and prints all blocks in order, so
 * that the output does not depend on the number of ranks. */
#ifndef PNC_TOOLS_NCMPIDUMP_TEAM_H
#define PNC_TOOLS_NCMPIDUMP_TEAM_H

#include "tools/common/blocks.h"
#include "tools/ncmpidump/dump.h"

/* Functions that format values. They write to file->out and are called for one block after the other. */
typedef struct dump_formatter {
    void *with;
    /* On rank 0: format and print a block of values. */
    void (*write)(void *with, const tool_blocks *block, const char *values);
    /* On other ranks: format a block as far as possible. NULL: the rank sends the values, which rank 0 writes. */
    void (*prepare)(void *with, const tool_blocks *block, const char *values);
    /* On rank 0: print a block that another rank prepared. */
    void (*finish)(void *with, const tool_blocks *block, const char *prepared, int64_t n);
} dump_formatter;

/* Print all values of a variable, in blocks of bounded size. Collective. choose is called once on each rank. */
int dump_team_write(const dump_file *file, const dump_variable *variable, const int64_t *shape,
                    dump_formatter (*choose)(void *with, const tool_blocks *blocks), void *with);

/* The worst code of all ranks. Collective until the ranks have agreed on an error: from then on it returns err without
 * communication. A rank that detects an error alone skips the remaining variables and calls it at the end, where it
 * matches the call of the other ranks at their next large variable. */
int dump_team_agree(const dump_file *file, int err);
/* Broadcast the header of rank 0, and the size of the file. The caller frees *bytes by pnc_memory_free. Collective. */
int dump_team_share(const dump_file *file, char **bytes, int64_t *n, int64_t *size);

#endif
