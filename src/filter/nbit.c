/* nbit of HDF5: the bits of numbers that their type uses, one number behind the other. Only decoded.
 *
 * Parameters: their number; 1 if all bits are used, so that the chunk is stored as it is; the number of elements; and
 * of their type: 1 for a number, its bytes, 1 for big-endian, its bits, and the position of the lowest one; or 4 and
 * the bytes of a type that is stored as it is. Types of several parts (2 and 3) are none that netCDF has. */
#include "filter/bits.h"
#include "filter/kind.h"

enum { NPARAMETERS, IS_WHOLE, ELEMENTS, CLASS, SIZE, ORDER, PRECISION, OFFSET, PARAMETERS };
enum { NUMBER = 1, ANY = 4, SIZE_MOST = 8 };

static int check_nbit(const pnc_filter *filter, pnc_error *error)
{
    const uint32_t *p = filter->parameters;

    PNC_TRY(pnc_filter_parameters_check(filter, SIZE + 1, PARAMETERS, error));
    if (p[IS_WHOLE] == 1 || p[CLASS] == ANY)
        return NC_NOERR;
    if (p[CLASS] != NUMBER || filter->nparameters != PARAMETERS)
        return pnc_error_set(error, NC_EFILTER, "nbit: this library decodes numbers, not types of several parts");
    if (p[SIZE] < 1 || p[SIZE] > SIZE_MOST || p[ORDER] > 1 || p[PRECISION] < 1 || p[PRECISION] > 8 * p[SIZE] ||
        p[OFFSET] > 8 * p[SIZE] - p[PRECISION])
        return pnc_error_set(error, NC_EFILTER,
                             "nbit: invalid parameters: %lu bits from bit %lu on, in numbers of %lu bytes (at most %d)",
                             (unsigned long)p[PRECISION], (unsigned long)p[OFFSET], (unsigned long)p[SIZE], SIZE_MOST);
    return NC_NOERR;
}

static int decode_nbit(pnc_filter_step *step)
{
    const uint32_t *p = step->filter->parameters;
    pnc_bit_reader reader = {step->in, 8};
    int64_t n;

    if (p[IS_WHOLE] == 1 || p[CLASS] == ANY)
        return pnc_filter_bytes_take(step);
    n = step->capacity / p[SIZE];
    if (p[ELEMENTS] > n)
        return pnc_filter_damage_set(step, "has more numbers than the chunk");
    n = p[ELEMENTS];
    if (n * p[PRECISION] > step->in_bytes * 8)
        return pnc_filter_damage_set(step, "ends early");
    for (int64_t i = 0; i < n; i++)
        pnc_filter_bytes_write(step->out + i * p[SIZE], (int)p[SIZE], p[ORDER] == 1,
                               pnc_filter_bits_read(&reader, (int)p[PRECISION]) << p[OFFSET]);
    step->result_bytes = n * p[SIZE];
    return NC_NOERR;
}

const pnc_filter_kind pnc_filter_kind_nbit = {
    .id = PNC_FILTER_NBIT,
    .name = "nbit",
    .compresses = true,
    .check = check_nbit,
    .decode = decode_nbit,
};
