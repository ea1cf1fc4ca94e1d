/* Several ranks dump one file: they take the blocks of large variables in turn, read them, and make their text as far
 * as that does not depend on the block before; rank 0 prints, so that the output is that of one rank. */
#ifndef PNC_TOOLS_NCMPIDUMP_TEAM_H
#define PNC_TOOLS_NCMPIDUMP_TEAM_H

#include "tools/common/blocks.h"
#include "tools/ncmpidump/dump.h"

/* How values become text. All functions write to file->out, and get the values of one block, blocks in order; other
 * ranks prepare their blocks only. */
typedef struct dump_formatter {
    void *with;
    void (*write)(void *with, const tool_blocks *block, const char *values);
    /* On another rank, and then what rank 0 does with these bytes. NULL: the values are sent, and written by rank 0. */
    void (*prepare)(void *with, const tool_blocks *block, const char *values);
    void (*finish)(void *with, const tool_blocks *block, const char *prepared, int64_t n);
} dump_formatter;

/* All values of a variable, in blocks of bounded size, however large it is. For all ranks. */
int dump_team_write(const dump_file *file, const dump_variable *variable, const int64_t *shape,
                    dump_formatter (*choose)(void *with, const tool_blocks *blocks), void *with);

/* Collective: the worst code of all ranks. A rank that detected an error calls it once more at the end; a rank that
 * learns of an error by it does not: other ranks block in it at their next large variable, or at the end. */
int dump_team_agree(const dump_file *file, int err);

#endif
