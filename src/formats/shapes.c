/* The shapes of chunks that no user has chosen, and of arrays that grow. */
#include "base/memory.h"
#include "base/minmax.h"
#include "format/storage.h"
#include "formats/arrays.h"

/* Bytes of a chunk at most. Large enough that a chunk takes few requests to the servers of a file system, small enough
 * that many ranks can compress at the same time, and that readers have several in memory. */
#define CHUNK_BYTES (INT64_C(2) << 20)
/* Of records that are smaller than this, a chunk has several: a chunk of one small record costs a reader more for the
 * index than for the values. netCDF-C has 4 KiB for such variables of one dimension. A guess. */
#define RECORDS_BYTES (INT64_C(16) << 10)

/* Elements of a chunk; 0 lengths count as 1. INT64_MAX: more than that. */
static int64_t measure_shape(const int64_t *chunk, int ndims, int64_t elem_size)
{
    int64_t bytes = elem_size;

    for (int d = 0; d < ndims; d++)
        if (pnc_size_multiply(bytes, pnc_max64(chunk[d], 1), &bytes) < 0)
            return INT64_MAX;
    return bytes;
}

/* Unlimited dimensions have 1, others all their elements, given ones what the program says. */
static void start_shape(const pnc_model *model, const pnc_var *var, const int64_t *given, int64_t *chunk)
{
    for (int d = 0; d < var->ndims; d++) {
        const pnc_dim *dim = model->dims[var->dimids[d]];

        if (given != NULL && given[d] > 0)
            chunk[d] = given[d];
        else
            chunk[d] = dim->unlimited ? 1 : pnc_max64(dim->len, 1);
    }
}

/* Cut the dimensions that vary slowest first, into parts of nearly the same length. */
static void cut_shape(const pnc_var *var, const int64_t *given, int64_t elem_size, int64_t *chunk)
{
    for (int d = 0; d < var->ndims; d++) {
        int64_t bytes = measure_shape(chunk, var->ndims, elem_size), parts;

        if (bytes <= CHUNK_BYTES)
            return;
        if (given != NULL && given[d] > 0)
            continue;
        parts = pnc_min64(chunk[d], bytes / CHUNK_BYTES + (bytes % CHUNK_BYTES != 0));
        chunk[d] = chunk[d] / parts + (chunk[d] % parts != 0);
    }
}

/* Several small records in a chunk. */
static void fit_records(const pnc_model *model, const pnc_var *var, const int64_t *given, int64_t elem_size,
                        int64_t *chunk)
{
    int64_t bytes = measure_shape(chunk, var->ndims, elem_size);

    if (model->dims[var->dimids[0]]->unlimited && (given == NULL || given[0] == 0))
        chunk[0] = pnc_max64(1, RECORDS_BYTES / bytes);
}

void pnc_formats_chunk_find(const pnc_model *model, const pnc_var *var, int64_t *chunk)
{
    const int64_t *given = var->storage->chunks, elem_size = pnc_format_storage_get_elem_size(var);

    start_shape(model, var, given, chunk);
    cut_shape(var, given, elem_size, chunk);
    if (var->ndims > 0)
        fit_records(model, var, given, elem_size, chunk);
}

static int choose_chunks(pnc_model *model, pnc_var *var, pnc_error *error)
{
    int64_t chunk[PNC_STORAGE_DIMS_MOST];

    pnc_formats_chunk_find(model, var, chunk);
    return pnc_format_storage_set_layout(model, var, NC_CHUNKED, chunk, error);
}

static bool has_choice(const pnc_var *var)
{
    for (int d = 0; var->storage->chunks != NULL && d < var->ndims; d++)
        if (var->storage->chunks[d] == 0)
            return true;
    return var->storage->chunks == NULL;
}

int pnc_formats_chunks_choose(pnc_model *model, int varid, pnc_error *error)
{
    for (int i = varid; i < model->nvars; i++) {
        pnc_var *var = model->vars[i];

        if (var->storage->layout == NC_CHUNKED && has_choice(var))
            PNC_TRY(choose_chunks(model, var, error));
    }
    return NC_NOERR;
}

/* --- arrays that grow --- */

static int log2_of(int64_t n)
{
    int log = 0;

    while (n > 1) {
        n >>= 1;
        log++;
    }
    return log;
}

/* Each unlimited dimension gets the same number of bits, the first one what is left. */
bool pnc_formats_array_shape_choose(const pnc_model *model, const pnc_var *var, int64_t *shape)
{
    int64_t fixed = pnc_max64(1, (int64_t)pnc_type_get_size(var->type)); /* netCDF does not know that of some types */
    int unlimited = 0, bits;

    for (int d = 0; d < var->ndims; d++) {
        unlimited += model->dims[var->dimids[d]]->unlimited;
        if (var->shape[d] > 0 && pnc_size_multiply(fixed, var->shape[d], &fixed) < 0)
            return false;
    }
    if (fixed > PNC_FORMATS_ARRAY_BYTES_MOST)
        return false;
    bits = log2_of(PNC_FORMATS_ARRAY_BYTES_MOST / fixed);
    for (int d = var->ndims - 1; d >= 0; d--) {
        shape[d] = var->shape[d];
        if (!model->dims[var->dimids[d]]->unlimited)
            continue;
        shape[d] = INT64_C(1) << bits / unlimited;
        bits -= bits / unlimited--;
        if (shape[d] < pnc_format_var_get_length(model, var, d))
            return false;
    }
    return true;
}

uint32_t pnc_formats_array_growing_find(const pnc_model *model, const pnc_var *var)
{
    uint32_t growing = 0;

    for (int d = 0; d < var->ndims; d++)
        growing |= (uint32_t)model->dims[var->dimids[d]]->unlimited << d;
    return growing;
}
