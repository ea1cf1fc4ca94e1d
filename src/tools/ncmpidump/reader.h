/* Read a variable from its first element to its last, a bounded block at a time. */
#ifndef PNC_TOOLS_NCMPIDUMP_READER_H
#define PNC_TOOLS_NCMPIDUMP_READER_H

#include "tools/ncmpidump/dump.h"

typedef struct dump_reader {
    int ncid, varid, ndims;
    const cdl_type *type;
    const MPI_Offset *shape; /* the caller's */
    MPI_Offset *start, *count;
    int split; /* the dimension that blocks cut; those after it are read whole */
    MPI_Offset split_length; /* at most so many of its indices at once */
    bool end;
    char *block;
    size_t length; /* elements in block */
} dump_reader;

/* No dimension of shape may be 0. Returns NC_NOERR or NC_ENOMEM; the reader may be freed in any case. */
int dump_reader_start(const dump_file *file, const dump_variable *variable, const MPI_Offset *shape,
                      dump_reader *reader);
/* The next block; length is 0 after the last one. Returns NC_NOERR or the library's code. */
int dump_reader_next(dump_reader *reader);
void dump_reader_free(dump_reader *reader);

#endif
