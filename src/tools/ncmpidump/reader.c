/* Blocks of a variable, read through the library. */
#include "tools/ncmpidump/reader.h"

#include <stdlib.h>

static MPI_Datatype mpi_type(nc_type type)
{
    switch (type) {
    case NC_BYTE: return MPI_SIGNED_CHAR;
    case NC_CHAR: return MPI_CHAR;
    case NC_SHORT: return MPI_SHORT;
    case NC_INT: return MPI_INT;
    case NC_FLOAT: return MPI_FLOAT;
    case NC_DOUBLE: return MPI_DOUBLE;
    case NC_UBYTE: return MPI_UNSIGNED_CHAR;
    case NC_USHORT: return MPI_UNSIGNED_SHORT;
    case NC_UINT: return MPI_UNSIGNED;
    case NC_INT64: return MPI_LONG_LONG;
    case NC_UINT64: return MPI_UNSIGNED_LONG_LONG;
    default: return MPI_DATATYPE_NULL;
    }
}

int dump_reader_start(const dump_file *file, const dump_variable *variable, const int64_t *shape,
                      dump_reader *reader)
{
    size_t ndims = (size_t)variable->ndims;
    *reader = (dump_reader){.ncid = file->ncid, .varid = variable->id, .type = variable->type};
    int err = tool_blocks_start(variable->ndims, shape, &reader->blocks);
    if (err != NC_NOERR)
        return err;
    reader->start = calloc(2 * ndims + 1, sizeof *reader->start);
    reader->block = malloc((size_t)reader->blocks.largest * variable->type->size);
    if (!reader->start || !reader->block)
        return NC_ENOMEM;
    reader->count = reader->start + ndims;
    return NC_NOERR;
}

int dump_reader_next(dump_reader *reader)
{
    const tool_blocks *blocks = &reader->blocks;
    reader->length = 0;
    if (!tool_blocks_next(&reader->blocks))
        return NC_NOERR;
    for (int i = 0; i < blocks->ndims; i++) {
        reader->start[i] = blocks->start[i];
        reader->count[i] = blocks->count[i];
    }
    int err = ncmpi_get_vara_all(reader->ncid, reader->varid, reader->start, reader->count, reader->block,
                                 blocks->length, mpi_type(reader->type->code));
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
