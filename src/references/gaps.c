/* Chunks that were never written, where fill_value of their array would be wrong. */
#include "config.h" /* open_memstream */

#include <stdlib.h>
#include <string.h>

#include "array/walk.h"
#include "base/memory.h"
#include "references/chunks.h"
#include "references/json.h"
#include "references/stored_var.h"
#include "references/zarr.h"

#define TEXT_MOST (64 << 20) /* bytes of references to such chunks of a variable, in a file */

/* A value that such chunks have, and the reference that is a chunk of it. */
typedef struct gap_value {
    const unsigned char *value; /* as in the file */
    char *text;
    size_t length;
} gap_value;

/* fill_value has these bits, or is null for zeros. */
static bool is_gap_implied(const pnc_references_var *r, const unsigned char *value)
{
    const pnc_att *fill = pnc_references_fill_value_find(r->var);
    int size = r->storage->array.elem_size;
    bool is_turned = r->all->model->little != r->var->little;

    for (int i = 0; i < size; i++) {
        unsigned char byte = 0;

        if (fill != NULL)
            byte = ((const unsigned char *)fill->value)[is_turned ? size - 1 - i : i];
        if (value[i] != byte)
            return false;
    }
    return true;
}

static int refuse_gaps(const pnc_references_var *r, int64_t n)
{
    return pnc_error_set(r->all->error, NC_ENOTSUPPORT,
                         "%s: variable %s: %lld chunks were never written, and have another value than its _FillValue, "
                         "which readers of Zarr would find there: copy the file with ncmpicopy, which writes them",
                         r->all->path, r->var->name, (long long)n);
}

static int fail_for_gap_memory(const pnc_references_var *r)
{
    return pnc_error_set(r->all->error, NC_ENOMEM, "%s: variable %s: not enough memory for a chunk", r->all->path,
                         r->var->name);
}

static int make_gap_text(pnc_references_var *r, int64_t bytes, gap_value *gap)
{
    int size = r->storage->array.elem_size;
    unsigned char *values = pnc_memory_alloc(bytes, 1);
    const void *stored;
    FILE *stream;
    int64_t n;
    int err;

    if (values == NULL)
        return fail_for_gap_memory(r);
    for (int64_t i = 0; i < bytes; i += size)
        memcpy(values + i, gap->value, (size_t)size);
    err = pnc_references_chunk_encode(r, values, bytes, &stored, &n);
    if (err == NC_NOERR) {
        stream = open_memstream(&gap->text, &gap->length);
        if (stream != NULL)
            pnc_references_base64_write(stream, stored, n);
        if (stream == NULL || ferror(stream) != 0 || fclose(stream) != 0)
            err = fail_for_gap_memory(r);
    }
    pnc_memory_free(values);
    return err;
}

/* Make the reference of n chunks of `bytes`, unless fill_value is right, or all of them would be too long. */
static int prepare_gap(pnc_references_var *r, int64_t bytes, int64_t n, gap_value *gap, bool *left)
{
    if (is_gap_implied(r, gap->value))
        return NC_NOERR;
    if (r->storage->array.filters.nfilters > 0 || bytes <= TEXT_MOST)
        PNC_TRY(make_gap_text(r, bytes, gap));
    if (gap->text != NULL && (int64_t)gap->length <= TEXT_MOST / n)
        return NC_NOERR;
    free(gap->text);
    gap->text = NULL;
    *left = true;
    return pnc_references_fill_value_find(r->var) != NULL ? refuse_gaps(r, n) : NC_NOERR;
}

static void write_gap_text(const pnc_references_var *r, const gap_value *gap)
{
    fputs("\": ", r->out);
    fwrite(gap->text, 1, gap->length, r->out);
}

static bool is_gap_beyond(const pnc_references_var *r, const int64_t *index)
{
    for (int d = 0; d < r->var->ndims; d++)
        if (index[d] >= r->storage->array.extent[d])
            return true;
    return false;
}

/* The chunks that were never written, within the extent or beyond it. */
static int write_gaps(const pnc_references_var *r, const pnc_array_grid *grid, int64_t n, bool beyond,
                      const gap_value *gap)
{
    int64_t index[PNC_ARRAY_DIMS];
    pnc_chunk_place place;

    for (int64_t i = 0; i < n && gap->text != NULL; i++) {
        pnc_array_index_find(grid, i, index);
        if (is_gap_beyond(r, index) != beyond)
            continue;
        if (!beyond)
            PNC_TRY(pnc_formats_reader_find_chunk(r->reader, r->varid, index, &place));
        if (!beyond && place.offset >= 0)
            continue;
        pnc_references_chunk_begin(r, index);
        write_gap_text(r, gap);
    }
    return NC_NOERR;
}

int pnc_references_gaps_write(pnc_references_var *r, bool *left)
{
    const pnc_chunk_array *a = &r->storage->array;
    int64_t along[PNC_ARRAY_DIMS], bytes = pnc_references_chunk_bytes_count(r->storage, r->var);
    int64_t n = pnc_array_chunks_count(a->ndims, r->var->shape, a->chunk, along);
    const pnc_array_grid grid = {a->ndims, a->chunk, along};
    gap_value within = {.value = a->fill}, beyond = {.value = a->beyond};
    bool has_within = r->written < pnc_references_chunks_count(r->storage, a->ndims);
    bool has_beyond = n > pnc_references_chunks_count(r->storage, a->ndims);
    int err = NC_NOERR;

    if (has_within)
        err = prepare_gap(r, bytes, n - r->written, &within, left);
    if (err == NC_NOERR && has_beyond)
        err = prepare_gap(r, bytes, n - r->written, &beyond, left);
    if (err == NC_NOERR)
        err = write_gaps(r, &grid, n, false, &within);
    if (err == NC_NOERR)
        err = write_gaps(r, &grid, n, true, &beyond);
    free(within.text);
    free(beyond.text);
    return err;
}

int pnc_references_gap_parts_write(pnc_references_var *r, const pnc_zarr_chunks *chunks, bool *left)
{
    gap_value gap = {.value = r->storage->array.fill};
    int err = chunks->number > 0 ? prepare_gap(r, chunks->size, chunks->number, &gap, left) : NC_NOERR;

    for (int64_t i = 0; gap.text != NULL && i < chunks->number; i++) {
        pnc_references_key_begin(r->all, r->var);
        pnc_references_key_write(r->out, r->var, chunks, 0, i);
        write_gap_text(r, &gap);
    }
    free(gap.text);
    return err;
}
