#include "references/chunks.h"

#include "array/walk.h"

/* 0.3 to 3 us each: half a minute at most. */
#define CHUNKS_MOST (INT64_C(1) << 24)

int64_t pnc_references_chunks_count(const pnc_stored *s, int ndims)
{
    int64_t along[PNC_ARRAY_DIMS];

    return pnc_array_chunks_count(ndims, s->array.extent, s->array.chunk, along);
}

int64_t pnc_references_chunk_bytes_count(const pnc_stored *s, const pnc_var *var)
{
    int64_t bytes = (int64_t)pnc_type_get_size(var->type); /* of a chunk: at most 4 GiB */

    for (int d = 0; d < var->ndims; d++)
        bytes *= s->array.chunk[d];
    return bytes;
}

int pnc_references_chunks_scan(pnc_reader *reader, const pnc_model *model, int varid,
                               int (*visit)(void *with, const pnc_references_chunk *chunk), void *with)
{
    const pnc_stored *s = pnc_formats_reader_get_stored(reader, varid);
    const pnc_var *var = model->vars[varid];
    int64_t index[PNC_ARRAY_DIMS], along[PNC_ARRAY_DIMS];
    int64_t n = pnc_array_chunks_count(var->ndims, s->array.extent, s->array.chunk, along);
    const pnc_array_grid grid = {var->ndims, s->array.chunk, along};
    pnc_references_chunk chunk = {.index = index, .bytes = pnc_references_chunk_bytes_count(s, var)};

    if (n > CHUNKS_MOST)
        return pnc_error_set(reader->error, NC_EINVAL, "variable %s has %lld chunks: at most %lld are listed",
                             var->name, (long long)n, (long long)CHUNKS_MOST);
    for (int64_t i = 0; i < n; i++) {
        pnc_array_index_find(&grid, i, index);
        PNC_TRY(pnc_formats_reader_find_chunk(reader, varid, index, &chunk.place));
        if (chunk.place.offset >= 0)
            PNC_TRY(visit(with, &chunk));
    }
    return NC_NOERR;
}
