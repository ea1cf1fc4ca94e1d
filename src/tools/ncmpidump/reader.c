/* Blocks of a variable, read through the library. */
#include "tools/ncmpidump/reader.h"

#include <stdlib.h>

#include "tools/common/parallel.h"

int dump_reader_init(const dump_file *file, const dump_variable *variable, const int64_t *shape, dump_reader *reader)
{
    size_t ndims = (size_t)variable->ndims;
    *reader = (dump_reader){.ncid = file->ncid, .varid = variable->id, .type = variable->type};
    PNC_TRY(tool_blocks_init(variable->ndims, shape, &reader->blocks));
    reader->start = calloc(2 * ndims + 1, sizeof *reader->start);
    reader->block = malloc((size_t)reader->blocks.largest * variable->type->size);
    if (reader->start == NULL || reader->block == NULL)
        return NC_ENOMEM;
    reader->count = reader->start + ndims;
    return NC_NOERR;
}

int dump_reader_read(dump_reader *reader)
{
    const tool_blocks *blocks = &reader->blocks;
    reader->length = 0;
    for (int i = 0; i < blocks->ndims; i++) {
        reader->start[i] = blocks->start[i];
        reader->count[i] = blocks->count[i];
    }
    int err = ncmpi_get_vara(reader->ncid, reader->varid, reader->start, reader->count, reader->block, blocks->length,
                             tool_type_get_mpi(reader->type->code));
    if (err == NC_NOERR)
        reader->length = (size_t)blocks->length;
    return err;
}

void dump_reader_free(dump_reader *reader)
{
    tool_blocks_free(&reader->blocks);
    free(reader->start);
    free(reader->block);
}
