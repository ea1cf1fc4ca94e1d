/* scaleoffset of HDF5: numbers as their distances from the least one, in as few bits as the largest needs; those of
 * floating point are multiplied by a power of 10 before. Only decoded.
 *
 * Parameters: the scale (0: the next one is the power of 10; 2: it is the number of bits, 0 if each chunk has its own);
 * the number of elements; 1 for floating point; their bytes; 1 for signed; 1 for big-endian; 1 if there is a fill
 * value, and its bytes, the lowest first. A chunk: the number of bits in 4 bytes, little-endian; how many bytes the
 * least number has, and that number; from byte 21 on the distances. With all bits set a distance stands for the fill
 * value. If they have as many bits as the numbers, these are there instead. */

#include "filter/bits.h"
#include "filter/kind.h"

enum { SCALE, FACTOR, ELEMENTS, IS_FLOAT, SIZE, IS_SIGNED, ORDER, HAS_FILL, FILL, PARAMETERS = 20 };
enum { OF_FLOAT = 0, OF_INTEGER = 2, LEAST_AT = 5, HEAD = 21 };
/* What libhdf5 writes for floats of which the first one is no number: it stores none of their values, and reads all as
 * fill values. */
enum { LOST = 64 };

static int check_scaleoffset(const pnc_filter *filter, pnc_error *error)
{
    const uint32_t *p = filter->parameters;
    uint32_t size;

    PNC_TRY(pnc_filter_parameters_check(filter, PARAMETERS, PARAMETERS, error));
    size = p[SIZE];
    if ((size != 1 && size != 2 && size != 4 && size != 8) || p[IS_FLOAT] > 1 || (p[IS_FLOAT] == 1 && size < 4) ||
        p[SCALE] != (p[IS_FLOAT] == 1 ? OF_FLOAT : OF_INTEGER) || p[ORDER] > 1 || p[HAS_FILL] > 1 ||
        p[FACTOR] > INT32_MAX)
        return pnc_error_set(error, NC_EFILTER,
                             "scaleoffset: invalid parameters: scale %lu with factor %lu, of numbers of class %lu with "
                             "%lu bytes",
                             (unsigned long)p[SCALE], (unsigned long)p[FACTOR], (unsigned long)p[IS_FLOAT],
                             (unsigned long)size);
    return NC_NOERR;
}

/* What is the same for all numbers of a chunk. */
typedef struct scaled_chunk {
    int size, bits;
    bool is_big_endian;
    uint64_t least; /* of integers; of others its bytes */
    uint64_t marks; /* the distance that stands for the fill value */
    bool has_fill;
    uint64_t fill;
    double power; /* of 10 */
} scaled_chunk;

/* 10 to this power, exact up to 22, infinite from 309 on: without pow, for which programs that link a static library
 * would need libm. */
static double raise_ten(uint32_t power)
{
    double result = 1;

    for (uint32_t i = 0; i < power && i < 309; i++)
        result *= 10;
    return result;
}

/* As libhdf5 computes them: in the type of the values. */
static uint64_t restore_number(const scaled_chunk *c, bool is_float, uint64_t distance)
{
    uint64_t number = 0;
    uint32_t half;
    double value;
    float small;

    if (c->has_fill && distance == c->marks)
        return c->fill;
    if (!is_float)
        return c->least + distance;
    if (c->size == 8) {
        memcpy(&value, &c->least, sizeof value);
        value = (double)(int64_t)distance / c->power + value;
        memcpy(&number, &value, sizeof number);
        return number;
    }
    half = (uint32_t)c->least;
    memcpy(&small, &half, sizeof small);
    small = (float)(int32_t)distance / (float)c->power + small;
    memcpy(&half, &small, sizeof half);
    return half;
}

static void read_chunk_head(const pnc_filter_step *step, scaled_chunk *c)
{
    const uint32_t *p = step->filter->parameters;
    int bytes = step->in[4] < 8 ? step->in[4] : 8;

    c->size = (int)p[SIZE];
    c->is_big_endian = p[ORDER] == 1;
    c->least = pnc_filter_bytes_read(step->in + LEAST_AT, bytes, false);
    c->marks = pnc_filter_mask_get(c->bits);
    c->has_fill = p[HAS_FILL] == 1;
    c->fill = p[FILL] | (uint64_t)p[FILL + 1] << 32;
    c->power = p[IS_FLOAT] == 1 ? raise_ten(p[FACTOR]) : 1;
}

static int decode_distances(pnc_filter_step *step, uint32_t bits, int64_t n)
{
    scaled_chunk c = {.bits = (int)bits};
    bool is_float = step->filter->parameters[IS_FLOAT] == 1;
    bool is_whole = bits == 8 * step->filter->parameters[SIZE];
    pnc_bit_reader reader = {step->in + HEAD, 8};

    read_chunk_head(step, &c);
    for (int64_t i = 0; i < n; i++) {
        uint64_t number;

        if (is_whole) /* in the byte order of the writer: nearly all are little-endian */
            number = pnc_filter_bytes_read(step->in + HEAD + i * c.size, c.size, false);
        else
            number = restore_number(&c, is_float, pnc_filter_bits_read(&reader, c.bits));
        pnc_filter_bytes_write(step->out + i * c.size, c.size, c.is_big_endian, number);
    }
    step->result_bytes = n * c.size;
    return NC_NOERR;
}

/* With as many bits as the numbers have the program has asked for nothing. */
static bool is_stored_plainly(const uint32_t *p)
{
    return p[IS_FLOAT] == 0 && p[FACTOR] == 8 * p[SIZE];
}

static int decode_scaleoffset(pnc_filter_step *step)
{
    const uint32_t *p = step->filter->parameters;
    uint32_t bits;

    if (is_stored_plainly(p))
        return pnc_filter_bytes_take(step);
    if (step->in_bytes < HEAD)
        return pnc_filter_damage_set(step, "has less bytes than its head");
    bits = (uint32_t)pnc_filter_bytes_read(step->in, 4, false);
    if (bits == LOST && p[IS_FLOAT] == 1 && p[SIZE] == 4)
        bits = 0;
    if (bits > 8 * p[SIZE])
        return pnc_filter_damage_set(step, "has more bits than its numbers");
    if (p[ELEMENTS] > step->capacity / p[SIZE])
        return pnc_filter_damage_set(step, "has more numbers than the chunk");
    if ((int64_t)p[ELEMENTS] * bits > (step->in_bytes - HEAD) * 8)
        return pnc_filter_damage_set(step, "ends early");
    return decode_distances(step, bits, p[ELEMENTS]);
}

const pnc_filter_kind pnc_filter_kind_scaleoffset = {
    .id = PNC_FILTER_SCALEOFFSET,
    .name = "scaleoffset",
    .compresses = true,
    .check = check_scaleoffset,
    .decode = decode_scaleoffset,
};
