/* Read a variable in blocks of bounded size. */
#ifndef PNC_TOOLS_NCMPIDUMP_READER_H
#define PNC_TOOLS_NCMPIDUMP_READER_H

#include "tools/common/blocks.h"
#include "tools/ncmpidump/dump.h"

typedef struct dump_reader {
    const tool_file *input;
    const dump_variable *variable;
    tool_blocks blocks;
    char *block;
    pnc_reader_strings strings; /* of a block of strings, whose elements are pointers to them */
    size_t length;              /* elements in block; 0 before it is read */
} dump_reader;

/* Returns NC_NOERR or NC_ENOMEM; the reader may be freed in both cases. shape must exist until then. */
int dump_reader_init(const dump_file *file, const dump_variable *variable, const int64_t *shape, dump_reader *reader);
/* Read the current block of reader->blocks. Returns NC_NOERR, or a code after an error message. */
int dump_reader_read(dump_reader *reader);
void dump_reader_free(dump_reader *reader);

#endif
