/* Transposition of Zarr: the elements of a chunk in the order of other axes. Parameters: bytes of an element; number of
 * axes; their lengths; which axis of the chunk is each axis of what is stored. */
#include "filter/kind.h"

#include "base/memory.h"

enum { AT_SIZE, AT_NDIMS, AT_LENGTHS };

int pnc_filter_transpose_set(uint32_t size, int ndims, const int64_t *lengths, const int *order, uint32_t *parameters)
{
    parameters[AT_SIZE] = size;
    parameters[AT_NDIMS] = (uint32_t)ndims;
    for (int i = 0; i < ndims; i++) {
        parameters[AT_LENGTHS + i] = (uint32_t)lengths[i];
        parameters[AT_LENGTHS + ndims + i] = (uint32_t)order[i];
    }
    return AT_LENGTHS + 2 * ndims;
}

/* Bytes of the chunk; -1: the parameters are not valid. */
static int64_t measure_transposed(const pnc_filter *filter)
{
    const uint32_t *p = filter->parameters, n = p[AT_NDIMS];
    int64_t bytes = p[AT_SIZE];
    uint64_t seen = 0;

    if (n < 1 || n > PNC_TRANSPOSE_DIMS_MOST || filter->nparameters != AT_LENGTHS + 2 * (int)n || bytes < 1)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t axis = p[AT_LENGTHS + n + i];

        if (axis >= n || (seen >> axis & 1) != 0 || p[AT_LENGTHS + i] < 1 ||
            pnc_size_multiply(bytes, p[AT_LENGTHS + i], &bytes) < 0)
            return -1;
        seen |= UINT64_C(1) << axis;
    }
    return bytes <= PNC_FILTER_CHUNK_MOST ? bytes : -1;
}

static int check_transpose(const pnc_filter *filter, pnc_error *error)
{
    PNC_TRY(pnc_filter_parameters_check(filter, AT_LENGTHS, PNC_TRANSPOSE_PARAMETERS_MOST, error));
    if (measure_transposed(filter) < 0)
        return pnc_error_set(error, NC_EFILTER,
                             "transpose: the order of axes, or the lengths of the chunk, are invalid");
    return NC_NOERR;
}

/* An axis of the chunk, in its order. */
typedef struct axis {
    int64_t length;
    int64_t step; /* bytes in what is stored */
} axis;

static int find_axes(const pnc_filter *filter, axis *axes)
{
    const uint32_t *p = filter->parameters;
    int n = (int)p[AT_NDIMS];
    int64_t step = p[AT_SIZE];

    for (int i = n - 1; i >= 0; i--) {
        uint32_t at = p[AT_LENGTHS + n + i];

        axes[at] = (axis){p[AT_LENGTHS + at], step};
        step *= p[AT_LENGTHS + at];
    }
    return n;
}

/* The elements along the last axis: of the chunk adjacent, of what is stored at a distance. */
#define MOVE_ELEMENTS(bytes)                                           \
    for (int64_t i = 0; i < last->length; i++)                         \
    memcpy(is_decoding ? chunk + i *(bytes) : stored + i * last->step, \
           is_decoding ? stored + i * last->step : chunk + i * (bytes), (size_t)(bytes))
static void move_row(unsigned char *chunk, unsigned char *stored, const axis *last, int64_t size, bool is_decoding)
{
    switch (size) {
    case 1: MOVE_ELEMENTS(1); break;
    case 2: MOVE_ELEMENTS(2); break;
    case 4: MOVE_ELEMENTS(4); break;
    case 8: MOVE_ELEMENTS(8); break;
    default: MOVE_ELEMENTS(size);
    }
}

static void move_rows(const pnc_filter *filter, unsigned char *chunk, unsigned char *stored, bool is_decoding)
{
    axis axes[PNC_TRANSPOSE_DIMS_MOST];
    int64_t at[PNC_TRANSPOSE_DIMS_MOST] = {0}, size = filter->parameters[AT_SIZE];
    int n = find_axes(filter, axes), i;

    do {
        move_row(chunk, stored, &axes[n - 1], size, is_decoding);
        chunk += axes[n - 1].length * size;
        for (i = n - 2; i >= 0; i--) {
            stored += axes[i].step;
            if (++at[i] < axes[i].length)
                break;
            stored -= at[i] * axes[i].step;
            at[i] = 0;
        }
    } while (i >= 0);
}

/* What is read is not changed. */
static int encode_transpose(pnc_filter_step *step)
{
    if (step->in_bytes != measure_transposed(step->filter))
        return pnc_error_set(step->error, NC_EFILTER, "transpose: a chunk of %lld bytes has other lengths",
                             (long long)step->in_bytes);
    move_rows(step->filter, (unsigned char *)(uintptr_t)step->in, step->out, false);
    step->result_bytes = step->in_bytes;
    return NC_NOERR;
}

static int decode_transpose(pnc_filter_step *step)
{
    if (step->in_bytes != measure_transposed(step->filter) || step->in_bytes > step->capacity)
        return pnc_filter_damage_set(step, "has other lengths than the chunk");
    move_rows(step->filter, step->out, (unsigned char *)(uintptr_t)step->in, true);
    step->result_bytes = step->in_bytes;
    return NC_NOERR;
}

const pnc_filter_kind pnc_filter_kind_transpose = {
    .id = PNC_FILTER_TRANSPOSE,
    .name = "transpose",
    .check = check_transpose,
    .encode = encode_transpose,
    .decode = decode_transpose,
};
