/* Blocks of a variable. */
#include "tools/ncmpidump/reader.h"

#include <stdlib.h>
#include <string.h>

int dump_reader_init(const dump_file *file, const dump_variable *variable, const int64_t *shape, dump_reader *reader)
{
    *reader = (dump_reader){.input = &file->input, .variable = variable};
    PNC_TRY(tool_blocks_init(variable->ndims, shape, &reader->blocks));
    reader->block = malloc((size_t)reader->blocks.largest * variable->type->size);
    return reader->block != NULL ? NC_NOERR : NC_ENOMEM;
}

static int read_strings(dump_reader *reader)
{
    const tool_blocks *blocks = &reader->blocks;
    pnc_reader_strings *strings = &reader->strings;

    pnc_formats_strings_free(strings);
    PNC_TRY(tool_file_read_strings(reader->input, reader->variable->var, blocks->start, blocks->count, strings));
    memcpy(reader->block, strings->at, (size_t)strings->n * sizeof *strings->at);
    reader->length = (size_t)blocks->length;
    return NC_NOERR;
}

int dump_reader_read(dump_reader *reader)
{
    const tool_blocks *blocks = &reader->blocks;
    reader->length = 0;
    if (reader->variable->type->class == CDL_STRING)
        return read_strings(reader);
    PNC_TRY(
        tool_file_read_block(reader->input, reader->variable->var, blocks->start, blocks->count, true, reader->block));
    reader->length = (size_t)blocks->length;
    return NC_NOERR;
}

void dump_reader_free(dump_reader *reader)
{
    tool_blocks_free(&reader->blocks);
    pnc_formats_strings_free(&reader->strings);
    free(reader->block);
}
