/* Fletcher32: a checksum of 4 bytes behind the others, little-endian. */
#include "filter/kernels.h"
#include "filter/kind.h"

enum { SUM = 4 };

static int check_fletcher32(const pnc_filter *filter, pnc_error *error)
{
    (void)filter; /* HDF5 ignores parameters */
    (void)error;
    return NC_NOERR;
}

static int encode_fletcher32(pnc_filter_step *step)
{
    uint32_t sum = pnc_filter_fletcher32_compute(step->in, step->in_bytes);

    assert(step->capacity >= step->in_bytes + SUM);
    memcpy(step->out, step->in, (size_t)step->in_bytes);
    for (int i = 0; i < SUM; i++)
        step->out[step->in_bytes + i] = (unsigned char)(sum >> 8 * i);
    step->result_bytes = step->in_bytes + SUM;
    return NC_NOERR;
}

/* HDF5 before 1.6.3 exchanged the bytes of both sums on little-endian machines; its readers accept both. */
static uint32_t exchange_bytes(uint32_t sum)
{
    return (sum & 0x00FF00FF) << 8 | (sum >> 8 & 0x00FF00FF);
}

static int decode_fletcher32(pnc_filter_step *step)
{
    int64_t bytes = step->in_bytes - SUM;
    uint32_t stored = 0, sum;

    if (bytes < 0)
        return pnc_filter_damage_set(step, "has less bytes than a checksum");
    if (bytes > step->capacity)
        return pnc_filter_damage_set(step, "has more bytes than the chunk");
    for (int i = 0; i < SUM; i++)
        stored |= (uint32_t)step->in[bytes + i] << 8 * i;
    sum = pnc_filter_fletcher32_compute(step->in, bytes);
    if (stored != sum && stored != exchange_bytes(sum))
        return pnc_error_set(step->error, NC_EHDFERR,
                             "fletcher32: the bytes have checksum %08x, but %08x is stored: they are damaged",
                             (unsigned)sum, (unsigned)stored);
    step->result = step->in;
    step->result_bytes = bytes;
    return NC_NOERR;
}

const pnc_filter_kind pnc_filter_kind_fletcher32 = {
    .id = PNC_FILTER_FLETCHER32,
    .name = "fletcher32",
    .added = SUM,
    .check = check_fletcher32,
    .encode = encode_fletcher32,
    .decode = decode_fletcher32,
};
