/* Blocks are as many whole rows, planes ... as fit, or parts of a row. */
#include "tools/ncmpidump/reader.h"

#include <stdlib.h>

enum { BLOCK_ELEMENTS = 1 << 19 }; /* 4 MiB of doubles; more does not make reading any faster */

int dump_reader_start(const dump_file *file, const dump_variable *variable, const MPI_Offset *shape,
                      dump_reader *reader)
{
    size_t ndims = (size_t)variable->ndims;
    *reader = (dump_reader){.ncid = file->ncid, .varid = variable->id, .ndims = variable->ndims,
                            .type = variable->type, .shape = shape};
    MPI_Offset whole = 1; /* elements for one index of dimension split */
    reader->split = variable->ndims - 1;
    while (reader->split > 0 && shape[reader->split] <= BLOCK_ELEMENTS / whole)
        whole *= shape[reader->split--];
    reader->split_length = BLOCK_ELEMENTS / whole;
    MPI_Offset largest = whole;
    if (ndims > 0 && shape[reader->split] < reader->split_length)
        largest *= shape[reader->split];
    else if (ndims > 0)
        largest *= reader->split_length;
    reader->start = calloc(2 * ndims + 1, sizeof *reader->start);
    reader->block = malloc((size_t)largest * variable->type->size);
    if (!reader->start || !reader->block)
        return NC_ENOMEM;
    reader->count = reader->start + ndims;
    return NC_NOERR;
}

/* Moves start behind the block just read; sets end when there is nothing more. */
static void advance(dump_reader *reader)
{
    int i = reader->split;
    if (reader->ndims > 0)
        reader->start[i] += reader->count[i];
    while (i > 0 && reader->start[i] == reader->shape[i]) {
        reader->start[i] = 0;
        reader->start[--i]++;
    }
    reader->end = reader->ndims == 0 || reader->start[0] == reader->shape[0];
}

int dump_reader_next(dump_reader *reader)
{
    reader->length = 0;
    if (reader->end)
        return NC_NOERR;
    MPI_Offset length = 1;
    for (int i = 0; i < reader->ndims; i++) {
        MPI_Offset left = reader->shape[i] - reader->start[i];
        reader->count[i] = i < reader->split ? 1 : left;
        if (i == reader->split && left > reader->split_length)
            reader->count[i] = reader->split_length;
        length *= reader->count[i];
    }
    int err = ncmpi_get_vara_all(reader->ncid, reader->varid, reader->start, reader->count, reader->block, length,
                                 cdl_type_mpi(reader->type));
    if (err != NC_NOERR)
        return err;
    reader->length = (size_t)length;
    advance(reader);
    return NC_NOERR;
}

void dump_reader_free(dump_reader *reader)
{
    free(reader->start);
    free(reader->block);
}
