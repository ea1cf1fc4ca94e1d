/* crc32c of Zarr: CRC-32C in 4 bytes behind the others, little-endian. It has no parameters. */
#include "filter/kernels.h"
#include "filter/kind.h"

enum { CRC_BYTES = 4 };

/* Table k has for each byte what it adds to the sum when k more bytes follow: a sum of what its bits add. */
#define BIT_OF(n, bit, c) (((n) >> (bit)&1) != 0 ? UINT32_C(c) : 0)
#define ENTRY(n, a, b, c, d, e, f, g, h)                                                                        \
    BIT_OF(n, 0, a) ^ BIT_OF(n, 1, b) ^ BIT_OF(n, 2, c) ^ BIT_OF(n, 3, d) ^ BIT_OF(n, 4, e) ^ BIT_OF(n, 5, f) ^ \
        BIT_OF(n, 6, g) ^ BIT_OF(n, 7, h)
#define FOUR(n, ...) \
    ENTRY(n, __VA_ARGS__), ENTRY(n + 1, __VA_ARGS__), ENTRY(n + 2, __VA_ARGS__), ENTRY(n + 3, __VA_ARGS__)
#define SIXTEEN(n, ...) \
    FOUR(n, __VA_ARGS__), FOUR(n + 4, __VA_ARGS__), FOUR(n + 8, __VA_ARGS__), FOUR(n + 12, __VA_ARGS__)
#define SIXTY_FOUR(n, ...) \
    SIXTEEN(n, __VA_ARGS__), SIXTEEN(n + 16, __VA_ARGS__), SIXTEEN(n + 32, __VA_ARGS__), SIXTEEN(n + 48, __VA_ARGS__)
#define TABLE(...)                                                                             \
    {                                                                                          \
        SIXTY_FOUR(0, __VA_ARGS__), SIXTY_FOUR(64, __VA_ARGS__), SIXTY_FOUR(128, __VA_ARGS__), \
            SIXTY_FOUR(192, __VA_ARGS__)                                                       \
    }
static const uint32_t crc_tables[8][256] = {
    TABLE(0xF26B8303, 0xE13B70F7, 0xC79A971F, 0x8AD958CF, 0x105EC76F, 0x20BD8EDE, 0x417B1DBC, 0x82F63B78),
    TABLE(0x13A29877, 0x274530EE, 0x4E8A61DC, 0x9D14C3B8, 0x3FC5F181, 0x7F8BE302, 0xFF17C604, 0xFBC3FAF9),
    TABLE(0xA541927E, 0x4F6F520D, 0x9EDEA41A, 0x38513EC5, 0x70A27D8A, 0xE144FB14, 0xC76580D9, 0x8B277743),
    TABLE(0xDD45AAB8, 0xBF672381, 0x7B2231F3, 0xF64463E6, 0xE964B13D, 0xD725148B, 0xABA65FE7, 0x52A0C93F),
    TABLE(0x38116FAC, 0x7022DF58, 0xE045BEB0, 0xC5670B91, 0x8F2261D3, 0x1BA8B557, 0x37516AAE, 0x6EA2D55C),
    TABLE(0xEF306B19, 0xDB8CA0C3, 0xB2F53777, 0x6006181F, 0xC00C303E, 0x85F4168D, 0x0E045BEB, 0x1C08B7D6),
    TABLE(0x68032CC8, 0xD0065990, 0xA5E0C5D1, 0x4E2DFD53, 0x9C5BFAA6, 0x3D5B83BD, 0x7AB7077A, 0xF56E0EF4),
    TABLE(0x493C7D27, 0x9278FA4E, 0x211D826D, 0x423B04DA, 0x847609B4, 0x0D006599, 0x1A00CB32, 0x34019664)};

/* Eight bytes at a time ("slicing by 8" of Kounavis and Berry). */
uint32_t pnc_filter_crc32c_compute(const void *bytes, int64_t n)
{
    const unsigned char *in = bytes;
    uint32_t sum = 0xFFFFFFFF;

    for (; n >= 8; in += 8, n -= 8) {
        uint32_t low = sum ^ ((uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24);

        sum = crc_tables[7][low & 255] ^ crc_tables[6][low >> 8 & 255] ^ crc_tables[5][low >> 16 & 255] ^
              crc_tables[4][low >> 24] ^ crc_tables[3][in[4]] ^ crc_tables[2][in[5]] ^ crc_tables[1][in[6]] ^
              crc_tables[0][in[7]];
    }
    for (; n > 0; in++, n--)
        sum = sum >> 8 ^ crc_tables[0][(sum ^ *in) & 255];
    return ~sum;
}

static int check_crc32c(const pnc_filter *filter, pnc_error *error)
{
    return pnc_filter_parameters_check(filter, 0, 0, error);
}

static int encode_crc32c(pnc_filter_step *step)
{
    uint32_t sum = pnc_filter_crc32c_compute(step->in, step->in_bytes);

    assert(step->capacity >= step->in_bytes + CRC_BYTES);
    memcpy(step->out, step->in, (size_t)step->in_bytes);
    for (int i = 0; i < CRC_BYTES; i++)
        step->out[step->in_bytes + i] = (unsigned char)(sum >> 8 * i);
    step->result_bytes = step->in_bytes + CRC_BYTES;
    return NC_NOERR;
}

static int decode_crc32c(pnc_filter_step *step)
{
    int64_t bytes = step->in_bytes - CRC_BYTES;
    uint32_t stored = 0, sum;

    if (bytes < 0)
        return pnc_filter_damage_set(step, "has less bytes than a checksum");
    if (bytes > step->capacity)
        return pnc_filter_damage_set(step, "has more bytes than the chunk");
    for (int i = 0; i < CRC_BYTES; i++)
        stored |= (uint32_t)step->in[bytes + i] << 8 * i;
    sum = pnc_filter_crc32c_compute(step->in, bytes);
    if (stored != sum)
        return pnc_error_set(step->error, NC_EHDFERR,
                             "crc32c: the bytes have checksum %08x, but %08x is stored: they are damaged",
                             (unsigned)sum, (unsigned)stored);
    step->result = step->in;
    step->result_bytes = bytes;
    return NC_NOERR;
}

const pnc_filter_kind pnc_filter_kind_crc32c = {
    .id = PNC_FILTER_CRC32C,
    .name = "crc32c",
    .added = CRC_BYTES,
    .check = check_crc32c,
    .encode = encode_crc32c,
    .decode = decode_crc32c,
};
