/* Filters of chunks: shuffle against its formula, checksums and compressed chunks against those that h5py and the zstd
 * program wrote, chains against their reverse; what damaged chunks and missing libraries give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "filter/filter.h"
#include "filter/kernels.h"
#include "filter/text.h"
#include "host/codecs.h"
#include "random.h"

enum { CHUNK = 96, LARGE = 100000 };

static const uint32_t four[] = {4}, level_1[] = {1}, szip_int[] = {141, 16, 32, 64}, szip_byte[] = {169, 16, 8, 96};
static const pnc_filter shuffle = {PNC_FILTER_SHUFFLE, true, 1, four};
static const pnc_filter deflate = {PNC_FILTER_DEFLATE, true, 1, level_1};
static const pnc_filter fletcher32 = {PNC_FILTER_FLETCHER32, false, 0, NULL};
static const pnc_filter szip = {PNC_FILTER_SZIP, true, 4, szip_int};
static const pnc_filter zstd = {PNC_FILTER_ZSTD, false, 1, level_1};

static const pnc_filter lzf = {PNC_FILTER_LZF, false, 0, NULL};

typedef void (*kernel)(unsigned char *out, const unsigned char *in, int64_t bytes, uint32_t size);

static void test_shuffle(void **state)
{
    static const kernel encode[] = {pnc_filter_shuffle_encode, pnc_filter_scalar_shuffle_encode};
    static const kernel decode[] = {pnc_filter_shuffle_decode, pnc_filter_scalar_shuffle_decode};

    (void)state;
    for (int round = 0; round < 400; round++) {
        unsigned char in[700], out[700], back[700];
        uint32_t size = (uint32_t)random_in(1, round % 10 == 0 ? 300 : 17);
        int64_t bytes = random_in(0, sizeof in), n = bytes / size;
        for (int64_t i = 0; i < bytes; i++)
            in[i] = (unsigned char)random_bits();
        for (int twin = 0; twin < 2; twin++) {
            encode[twin](out, in, bytes, size);
            for (int64_t element = 0; element < n; element++)
                for (int64_t b = 0; b < size; b++)
                    assert_int_equal(out[b * n + element], in[element * size + b]);
            assert_memory_equal(out + n * size, in + n * size, (size_t)(bytes - n * size));
            decode[twin](back, out, bytes, size);
            assert_memory_equal(back, in, (size_t)bytes);
        }
    }
}

/* What h5py 3.7 with HDF5 1.10.8 stores. */
static void test_known_checksums(void **state)
{
    static unsigned char bytes[70001];

    (void)state;
    assert_int_equal(pnc_filter_fletcher32_compute(bytes, 8), 0);
    memset(bytes, 255, 40000);
    assert_int_equal(pnc_filter_fletcher32_compute(bytes, 6), 0xFFFFFFFF);
    assert_int_equal(pnc_filter_fletcher32_compute(bytes, 40000), 0xFFFFFFFF);
    assert_int_equal(pnc_filter_fletcher32_compute((const unsigned char *)"\1\2\3\4\5", 5), 0x0E0E0906);
    for (int i = 0; i < 70001; i++)
        bytes[i] = (unsigned char)(i * 7919 % 251);
    assert_int_equal(pnc_filter_fletcher32_compute(bytes, 70001), 0x48DDA4BB);
}

static void test_checksum_twins(void **state)
{
    static unsigned char bytes[60000];

    (void)state;
    for (int round = 0; round < 200; round++) {
        int64_t at = random_in(0, 3), n = random_in(0, round % 2 == 0 ? 50 : (int64_t)sizeof bytes - 3);
        int mode = (int)random_in(0, 3);
        for (int64_t i = 0; i < n; i++)
            bytes[at + i] = mode < 2 ? (unsigned char)random_bits() : (unsigned char)(mode == 2 ? 255 : 0);
        assert_int_equal(pnc_filter_fletcher32_compute(bytes + at, n),
                         pnc_filter_scalar_fletcher32_compute(bytes + at, n));
    }
}

static bool has_libraries(void)
{
    const pnc_codecs *codecs = pnc_host_codecs_get();

    return codecs->load_deflate() != NULL && codecs->load_szip() != NULL && codecs->load_zstd() != NULL;
}

/* Chunks of the bytes i / 16. */
static const unsigned char zlib_chunk[] = {0x78, 0x9c, 0x63, 0x60, 0x40, 0x05, 0x8c, 0x68, 0x80, 0x09, 0x0d, 0x30,
                                           0xa3, 0x01, 0x16, 0x34, 0xc0, 0x8a, 0x06, 0x00, 0x1c, 0x58, 0x00, 0xf1};
static const unsigned char zstd_chunk[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0xa5, 0x00, 0x00, 0x38,
                                           0x00, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x10, 0x00,
                                           0x9d, 0x74, 0xd7, 0xb1, 0x4e, 0xba, 0x2b, 0x63, 0x01};
static const unsigned char szip_chunk[] = {0x60, 0x00, 0x00, 0x00, 0x00, 0x08, 0xbf, 0xc4,
                                           0x7f, 0x88, 0xff, 0x11, 0xfe, 0x23, 0xfc};
static const unsigned char lzf_chunk[] = {0x01, 0x00, 0x00, 0xe0, 0x05, 0x00, 0x00, 0x01, 0xe0, 0x06, 0x00, 0x00,
                                          0x02, 0xe0, 0x06, 0x00, 0x00, 0x03, 0xe0, 0x06, 0x00, 0x00, 0x04, 0xe0,
                                          0x06, 0x00, 0x00, 0x05, 0xe0, 0x04, 0x00, 0x01, 0x05, 0x05};

/* The same by Python's gzip: one member, and two. */
static const unsigned char gzip_chunk[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x63, 0x60,
                                           0x40, 0x05, 0x8c, 0x68, 0x80, 0x09, 0x0d, 0x30, 0xa3, 0x01, 0x16, 0x34,
                                           0xc0, 0x8a, 0x06, 0x00, 0x27, 0x76, 0x0c, 0xe1, 0x60, 0x00, 0x00, 0x00};
static const unsigned char two_members[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x63, 0x60,
                                            0x40, 0x05, 0x8c, 0x68, 0x80, 0x09, 0x0a, 0x00, 0x8c, 0xf6, 0xa6, 0xc3,
                                            0x28, 0x00, 0x00, 0x00, 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00,
                                            0x02, 0x03, 0x63, 0x62, 0x82, 0x00, 0x66, 0x34, 0xc0, 0x82, 0x06, 0x58,
                                            0xd1, 0x00, 0x00, 0xfa, 0xee, 0x27, 0x48, 0x38, 0x00, 0x00, 0x00};

/* Decode with one filter into the middle of a larger array, whose other bytes must not change. */
static int decode_one(const pnc_filter *filter, const void *stored, size_t n, int64_t bytes, pnc_error *error)
{
    pnc_filter_chain chain = {1, filter};
    pnc_filter_worker worker;
    unsigned char around[3 * CHUNK];
    int err;

    memset(around, 0xEE, sizeof around);
    pnc_error_clear(error);
    pnc_filter_worker_init(&worker, pnc_host_codecs_get());
    err = pnc_filter_chunk_decode(&worker, &chain, stored, (int64_t)n, 0, around + CHUNK, bytes, error);
    pnc_filter_worker_free(&worker);
    for (int i = 0; i < 3 * CHUNK; i++) {
        if (i < CHUNK || i >= CHUNK + bytes)
            assert_int_equal(around[i], 0xEE);
        else if (err == NC_NOERR)
            assert_int_equal(around[i], (i - CHUNK) / 16);
    }
    return err;
}

static void test_chunks_of_others(void **state)
{
    static const pnc_filter filters[] = {{PNC_FILTER_DEFLATE, true, 1, level_1},
                                         {PNC_FILTER_ZSTD, true, 0, NULL},
                                         {PNC_FILTER_SZIP, true, 4, szip_byte},
                                         {PNC_FILTER_LZF, true, 0, NULL}};
    static const struct {
        const unsigned char *bytes;
        size_t n;
    } chunks[] = {{zlib_chunk, sizeof zlib_chunk},
                  {zstd_chunk, sizeof zstd_chunk},
                  {szip_chunk, sizeof szip_chunk},
                  {lzf_chunk, sizeof lzf_chunk}};
    pnc_error error = {0};

    (void)state;
    if (!has_libraries())
        skip();
    for (int i = 0; i < 4; i++) {
        unsigned char damaged[64];
        assert_int_equal(decode_one(&filters[i], chunks[i].bytes, chunks[i].n, CHUNK, &error), NC_NOERR);
        assert_int_equal(decode_one(&filters[i], chunks[i].bytes, chunks[i].n, CHUNK - 1, &error), NC_EHDFERR);
        if (filters[i].id != PNC_FILTER_SZIP) /* libaec finds the end by the length that is expected */
            assert_int_equal(decode_one(&filters[i], chunks[i].bytes, chunks[i].n, CHUNK + 1, &error), NC_EHDFERR);
        for (size_t n = 0; n < chunks[i].n / 2; n++) {
            assert_int_equal(decode_one(&filters[i], chunks[i].bytes, n, CHUNK, &error), NC_EHDFERR);
            assert_non_null(strstr(error.text, "stored chunk"));
        }
        for (size_t n = 0; n < 8 * chunks[i].n; n++) {
            memcpy(damaged, chunks[i].bytes, chunks[i].n);
            damaged[n / 8] ^= (unsigned char)(1 << n % 8);
            pnc_filter_chain chain = {1, &filters[i]};
            pnc_filter_worker worker;
            unsigned char out[CHUNK];
            pnc_filter_worker_init(&worker, pnc_host_codecs_get());
            pnc_filter_chunk_decode(&worker, &chain, damaged, (int64_t)chunks[i].n, 0, out, CHUNK, NULL);
            pnc_filter_worker_free(&worker);
        }
    }
}

static const pnc_deflate_functions *no_deflate(void)
{
    return NULL;
}

static const pnc_igzip_functions *no_igzip(void)
{
    return NULL;
}

static const pnc_szip_functions *no_szip(void)
{
    return NULL;
}

static const pnc_zstd_functions *no_zstd(void)
{
    return NULL;
}

static const pnc_blosc_functions *no_blosc(void)
{
    return NULL;
}

static const pnc_codecs no_codecs = {no_deflate, no_igzip, no_szip, no_zstd, no_blosc, NULL};

/* Chunks that HDF5 1.10.8 stores: the filter, the chunk and the values that it reads. The numbers of a row stand in
 * test_numbers. */
typedef struct number_chunk {
    int id, nparameters;
    uint32_t parameters[20];
    const char *stored, *values; /* hexadecimal */
} number_chunk;

/* The head of a scaleoffset chunk of `bits` bits whose least number begins with these bytes. */
#define SCALED(bits, least) bits "00000008" least "0000000000000000"

static const number_chunk number_chunks[] = {
    /* 10 11 13 12 10 17 of int, without a fill value, big-endian; with 0 and with 11 as one; at least 20 bits; 32 */
    {PNC_FILTER_SCALEOFFSET,
     20,
     {2, 0, 6, 0, 4, 1, 1},
     SCALED("03", "0a00000000000000") "05a1c0",
     "0000000a0000000b0000000d0000000c0000000a00000011"},
    {PNC_FILTER_SCALEOFFSET,
     20,
     {2, 0, 6, 0, 4, 1, 0, 1},
     SCALED("04", "0a00000000000000") "01320700",
     "0a0000000b0000000d0000000c0000000a00000011000000"},
    {PNC_FILTER_SCALEOFFSET,
     20,
     {2, 0, 6, 0, 4, 1, 0, 1, 11},
     SCALED("04", "0a00000000000000") "0f320700",
     "0a0000000b0000000d0000000c0000000a00000011000000"},
    {PNC_FILTER_SCALEOFFSET,
     20,
     {2, 20, 6, 0, 4, 1, 0, 1},
     SCALED("14", "0a00000000000000") "00000000010000300002000000000700",
     "0a0000000b0000000d0000000c0000000a00000011000000"},
    {PNC_FILTER_SCALEOFFSET,
     20,
     {2, 32, 6, 0, 4, 1, 0, 1},
     "0a0000000b0000000d0000000c0000000a00000011000000",
     "0a0000000b0000000d0000000c0000000a00000011000000"},
    /* 5 5 5 5: no bits; all the fill value */
    {PNC_FILTER_SCALEOFFSET,
     20,
     {2, 0, 4, 0, 4, 1},
     SCALED("00", "0500000000000000") "00",
     "05000000050000000500000005000000"},
    {PNC_FILTER_SCALEOFFSET,
     20,
     {2, 0, 4, 0, 4, 1, 1, 1, 5},
     SCALED("01", "0000000000000000") "f0",
     "00000005000000050000000500000005"},
    /* all bits of big-endian shorts; -3 4 5; numbers from 2^63 on */
    {PNC_FILTER_SCALEOFFSET,
     20,
     {2, 0, 3, 0, 2, 0, 1, 1, 7},
     SCALED("10", "0000000000000000") "0000ffff0300",
     "0000ffff0003"},
    {PNC_FILTER_SCALEOFFSET, 20, {2, 0, 3, 0, 1, 1, 0, 1}, SCALED("04", "fdffffffffffffff") "0780", "fd0405"},
    {PNC_FILTER_SCALEOFFSET,
     20,
     {2, 0, 3, 0, 8, 0, 0, 1},
     SCALED("04", "0000000000000080") "0590",
     "000000000000008005000000000000800900000000000080"},
    /* 1.5 2.25 3.13 -1, of which -1 is the fill value or not; 1.5 2.25 3.125 -1 of double; all bits */
    {PNC_FILTER_SCALEOFFSET,
     20,
     {0, 2, 4, 1, 4, 0, 0, 0},
     SCALED("09", "000080bf00000000") "7d5173a000",
     "0000c03f00001040ec514840000080bf"},
    {PNC_FILTER_SCALEOFFSET,
     20,
     {0, 2, 4, 1, 4, 0, 1, 1, 0xbf800000},
     SCALED("08", "0000c03f00000000") "004ba3ff00",
     "3fc00000401000004048 51ecbf800000"},
    {PNC_FILTER_SCALEOFFSET,
     20,
     {0, 3, 4, 1, 8, 0, 0, 1},
     SCALED("0d", "000000000000f0bf") "4e232ca03a0000",
     "000000000000f83f00000000000002400000000000000940000000000000f0bf"},
    {PNC_FILTER_SCALEOFFSET,
     20,
     {0, 40, 4, 1, 4, 0, 0, 0},
     SCALED("20", "0000000000000000") "0000c03f0000104000004840000080bf",
     "0000c03f0000104000004840000080bf"},
    /* NaN 1 2 3, of which libhdf5 stores nothing */
    {PNC_FILTER_SCALEOFFSET,
     20,
     {0, 2, 4, 1, 4, 0, 0, 1},
     SCALED("40", "0000c07f00000000") "000000000000000000000000000000000000000000000000000000000000000000",
     "00000000000000000000000000000000"},
    /* 5 -3 100 -65536 65535 0 of 17 bits, from bit 4 on in big-endian numbers; of all bits; 12 bits in 2 bytes */
    {PNC_FILTER_NBIT,
     8,
     {8, 0, 6, 1, 4, 0, 17, 0},
     "0002ffff400c900007fff80000",
     "05000000fdff01006400000000000100ffff000000000000"},
    {PNC_FILTER_NBIT,
     8,
     {8, 0, 6, 1, 4, 1, 17, 4},
     "0002ffff400c900007fff80000",
     "00000050001fffd00000064000100000000ffff000000000"},
    {PNC_FILTER_NBIT, 8, {8, 1, 2, 1, 4, 0, 32, 0}, "05000000fdffffff", "05000000fdffffff"},
    {PNC_FILTER_NBIT, 8, {8, 0, 6, 1, 2, 0, 12, 0}, "00a00b00d00c00a01100", "0a000b000d000c000a001100"},
    {PNC_FILTER_NBIT,
     8,
     {8, 0, 4, 1, 5, 1, 20, 7},
     "3f0004040041200be00000",
     "0001f80000000202000000020900000005f00000"},
    /* the same integers as the type in memory; 1.5 2.25 3.125 -1 of 20 bits in 5 bytes; half precision: 1.5 -2.25 65504
     * 2^-24 infinity */
    {PNC_FILTER_NUMBER,
     12,
     {4, 4, 0, 0, 1, 0, 17},
     "05000000fdff01006400000000000100ffff000000000000",
     "05000000fdffffff640000000000ffffffff000000000000"},
    {PNC_FILTER_NUMBER,
     12,
     {4, 4, 1, 0, 1, 4, 17},
     "00000050001fffd00000064000100000000ffff000000000",
     "00000005fffffffd00000064ffff00000000ffff00000000"},
    {PNC_FILTER_NUMBER, 12, {3, 4, 0, 0, 1, 0, 24}, "050000fdffff640000", "05000000fdffffff64000000"},
    {PNC_FILTER_NUMBER, 12, {4, 2, 0, 0, 0, 0, 12}, "0a0000000b00f000", "0a000b00"},
    {PNC_FILTER_NUMBER,
     12,
     {5, 8, 1, 1, 0, 7, 13, 26, 20, 6, 31, 0},
     "0001f80000000202000000020900000005f00000",
     "3ff8000000000000400200000000000040090000000000 00bff0000000000000"},
    {PNC_FILTER_NUMBER,
     12,
     {2, 4, 0, 1, 0, 0, 10, 15, 10, 5, 15, 0},
     "003e80c0ff7b0100007c",
     "0000c03f000010c000e07f47000080330000807f"},
};

static int64_t read_hex(const char *text, unsigned char *out)
{
    int64_t n = 0;
    unsigned byte;

    for (; *text != '\0'; text++) {
        if (*text == ' ')
            continue;
        assert_int_equal(sscanf(text++, "%2x", &byte), 1);
        out[n++] = (unsigned char)byte;
    }
    return n;
}

static void test_numbers(void **state)
{
    pnc_filter_worker worker;

    (void)state;
    pnc_filter_worker_init(&worker, pnc_host_codecs_get());
    for (size_t i = 0; i < sizeof number_chunks / sizeof *number_chunks; i++) {
        const number_chunk *c = &number_chunks[i];
        const pnc_filter filter = {c->id, true, c->nparameters, c->parameters};
        const pnc_filter_chain chain = {1, &filter};
        unsigned char stored[CHUNK], values[CHUNK], out[CHUNK + 1];
        int64_t n = read_hex(c->stored, stored), bytes = read_hex(c->values, values);
        const void *encoded;
        uint32_t mask;

        out[bytes] = 77;
        assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, stored, n, 0, out, bytes, NULL), NC_NOERR);
        assert_memory_equal(out, values, (size_t)bytes);
        assert_int_equal(out[bytes], 77);
        assert_true(n <= pnc_filter_chain_get_bound(&chain, bytes));
        for (int64_t less = 1; less < n; less++)
            (void)pnc_filter_chunk_decode(&worker, &chain, stored, n - less, 0, out, bytes, NULL);
        assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, stored, 1, 0, out, bytes, NULL), NC_EHDFERR);
        assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, stored, n, 0, out, bytes - 1, NULL), NC_EHDFERR);
        assert_false(pnc_filter_chunk_is_plain(&chain, 0));
        assert_non_null(pnc_filter_chain_find_refusal(&chain));
        assert_int_equal(pnc_filter_chunk_encode(&worker, &chain, values, bytes, &encoded, &n, &mask, NULL),
                         NC_EFILTER);
    }
    pnc_filter_worker_free(&worker);
}

/* A filter that was left out has a bit of its own, also behind numbers of other bits, which always are converted. */
static void test_mask_of_numbers(void **state)
{
    static const uint32_t twelve[] = {2, 2, 0, 0, 1, 0, 12, 0, 0, 0, 0, 0}, packed[] = {8, 0, 2, 1, 2, 0, 12, 0};
    const pnc_filter filters[] = {{PNC_FILTER_NUMBER, false, PNC_NUMBER_PARAMETERS, twelve},
                                  {PNC_FILTER_NBIT, true, 8, packed}};
    const pnc_filter_chain chain = {2, filters}, turned = {2, (const pnc_filter[]){filters[1], filters[0]}};
    static const unsigned char values[] = {0xff, 0xff, 0x05, 0x00};
    pnc_filter_worker worker;
    unsigned char out[4];

    (void)state;
    pnc_filter_worker_init(&worker, pnc_host_codecs_get());
    assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, "\xff\xf0\x05", 3, 0, out, 4, NULL), NC_NOERR);
    assert_memory_equal(out, values, 4);
    assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, "\xff\x0f\x05\xf0", 4, 1, out, 4, NULL), NC_NOERR);
    assert_memory_equal(out, values, 4);
    assert_int_equal(pnc_filter_chain_check(&turned, UINT32_MAX, &no_codecs, NULL), NC_EFILTER);
    pnc_filter_worker_free(&worker);
}

/* Some parameters and bytes of a chunk changed at random: nothing is written beyond the chunk, or read beyond what is
 * stored (malloc, so that a sanitizer sees it). */
static void test_random_numbers(void **state)
{
    const int rows = sizeof number_chunks / sizeof *number_chunks;
    int decoded = 0;

    (void)state;
    for (int round = 0; round < 60000; round++) {
        const number_chunk *c = &number_chunks[random_in(0, rows - 1)];
        uint32_t parameters[20];
        const pnc_filter filter = {c->id, false, random_in(0, 50) == 0 ? (int)random_in(0, 20) : c->nparameters,
                                   parameters};
        const pnc_filter_chain chain = {1, &filter};
        unsigned char known[2 * CHUNK] = {0}, *stored, *out;
        int64_t n = read_hex(c->stored, known), bytes = read_hex(c->values, known + CHUNK);
        pnc_filter_worker worker;
        int err;

        n = random_in(0, 2) == 0 ? random_in(1, CHUNK) : n;
        bytes = random_in(0, 2) == 0 ? random_in(1, 200) : bytes;
        stored = malloc((size_t)n);
        out = malloc((size_t)bytes);
        assert_true(stored != NULL && out != NULL);
        memcpy(stored, known, (size_t)n);
        memcpy(parameters, c->parameters, sizeof parameters);
        for (int64_t i = random_in(0, 3); i > 0; i--)
            parameters[random_in(0, c->nparameters - 1)] =
                (uint32_t)(random_in(0, 2) == 0 ? random_bits() : (uint64_t)random_in(0, 70));
        for (int64_t i = random_in(0, 3); i > 0; i--)
            stored[random_in(0, random_in(0, 1) == 0 ? n - 1 : 0)] = (unsigned char)random_in(0, 255);
        pnc_filter_worker_init(&worker, &no_codecs);
        err = pnc_filter_chunk_decode(&worker, &chain, stored, n, 0, out, bytes, NULL);
        assert_true(err == NC_NOERR || err == NC_EFILTER || err == NC_EHDFERR);
        decoded += err == NC_NOERR;
        pnc_filter_worker_free(&worker);
        free(stored);
        free(out);
    }
    assert_true(decoded > 1000);
}

static void test_checksum_is_checked(void **state)
{
    unsigned char stored[CHUNK + 4];
    uint32_t sum;
    pnc_error error = {0};

    (void)state;
    for (int i = 0; i < CHUNK; i++)
        stored[i] = (unsigned char)(i / 16);
    sum = pnc_filter_scalar_fletcher32_compute(stored, CHUNK);
    for (int quirk = 0; quirk < 2; quirk++) {
        for (int i = 0; i < 4; i++)
            stored[CHUNK + (quirk == 1 ? i ^ 1 : i)] = (unsigned char)(sum >> 8 * i);
        assert_int_equal(decode_one(&fletcher32, stored, sizeof stored, CHUNK, &error), NC_NOERR);
    }
    assert_int_equal(decode_one(&fletcher32, stored, sizeof stored - 1, CHUNK - 1, &error), NC_EHDFERR);
    assert_int_equal(decode_one(&fletcher32, stored, 3, CHUNK, &error), NC_EHDFERR);
    assert_int_equal(decode_one(&fletcher32, stored, sizeof stored, CHUNK - 1, &error), NC_EHDFERR);
    stored[7] ^= 16;
    assert_int_equal(decode_one(&fletcher32, stored, sizeof stored, CHUNK, &error), NC_EHDFERR);
    assert_non_null(strstr(error.text, "checksum"));
}

static void fill_chunk(unsigned char *chunk, int64_t bytes, int mode)
{
    for (int64_t i = 0; i < bytes; i++) {
        chunk[i] = (unsigned char)random_bits();
        if (mode > 0)
            chunk[i] = i % 4 == 0 ? chunk[i] & 7 : (unsigned char)(i >> 12);
    }
}

/* --- codecs of Zarr --- */

static const uint32_t blosc_zstd[] = {PNC_BLOSC_ZSTD, 1, PNC_BLOSC_BYTES_SHUFFLED, 4, 0};
static const uint32_t blosc_lz4[] = {PNC_BLOSC_LZ4, 5, PNC_BLOSC_BITS_SHUFFLED, 2, 0};
static const pnc_filter gzip = {PNC_FILTER_GZIP, false, 1, level_1};
static const pnc_filter crc32c = {PNC_FILTER_CRC32C, false, 0, NULL};
static const pnc_filter blosc_1 = {PNC_FILTER_ZARR_BLOSC, false, PNC_BLOSC_PARAMETERS, blosc_zstd};
static const pnc_filter blosc_2 = {PNC_FILTER_ZARR_BLOSC, false, PNC_BLOSC_PARAMETERS, blosc_lz4};

static void test_gzip_of_others(void **state)
{
    pnc_error error = {0};
    unsigned char bad[sizeof two_members];

    (void)state;
    if (!has_libraries())
        skip();
    assert_int_equal(decode_one(&gzip, gzip_chunk, sizeof gzip_chunk, CHUNK, &error), NC_NOERR);
    assert_int_equal(decode_one(&gzip, two_members, sizeof two_members, CHUNK, &error), NC_NOERR);
    assert_int_equal(decode_one(&gzip, two_members, sizeof two_members, CHUNK - 1, &error), NC_EHDFERR);
    assert_non_null(strstr(error.text, "more bytes"));
    assert_int_equal(decode_one(&gzip, two_members, sizeof two_members - 1, CHUNK, &error), NC_EHDFERR);
    assert_int_equal(decode_one(&gzip, gzip_chunk, sizeof gzip_chunk, CHUNK + 1, &error), NC_EHDFERR);
    memcpy(bad, two_members, sizeof bad);
    bad[20] ^= 1; /* of the checksum */
    assert_int_equal(decode_one(&gzip, bad, sizeof bad, CHUNK, &error), NC_EHDFERR);
    assert_non_null(strstr(error.text, "gzip"));
}

/* The check value of CRC-32C, and that of 32 zeros in RFC 3720. */
static void test_crc32c(void **state)
{
    static unsigned char bytes[3000], stored[CHUNK + 4];
    pnc_error error = {0};

    (void)state;
    assert_int_equal(pnc_filter_crc32c_compute("123456789", 9), 0xE3069283);
    assert_int_equal(pnc_filter_crc32c_compute(bytes, 32), 0x8A9136AA);
    for (int round = 0; round < 300; round++) {
        int64_t at = random_in(0, 9), n = random_in(0, round % 2 == 0 ? 40 : 2990);
        for (int64_t i = 0; i < n; i++)
            bytes[at + i] = (unsigned char)random_bits();
        assert_int_equal(pnc_filter_crc32c_compute(bytes + at, n), pnc_filter_scalar_crc32c_compute(bytes + at, n));
    }
    for (int i = 0; i < CHUNK; i++)
        stored[i] = (unsigned char)(i / 16);
    for (int i = 0; i < 4; i++)
        stored[CHUNK + i] = (unsigned char)(pnc_filter_scalar_crc32c_compute(stored, CHUNK) >> 8 * i);
    assert_int_equal(decode_one(&crc32c, stored, sizeof stored, CHUNK, &error), NC_NOERR);
    assert_int_equal(decode_one(&crc32c, stored, 3, CHUNK, &error), NC_EHDFERR);
    stored[9] ^= 4;
    assert_int_equal(decode_one(&crc32c, stored, sizeof stored, CHUNK, &error), NC_EHDFERR);
    assert_non_null(strstr(error.text, "checksum"));
}

/* The place of an element in what is stored, by its index. */
static int64_t find_transposed(int n, const int64_t *lengths, const int *order, const int64_t *at)
{
    int64_t place = 0;

    for (int i = 0; i < n; i++)
        place = place * lengths[order[i]] + at[order[i]];
    return place;
}

static void test_transpose(void **state)
{
    static unsigned char chunk[20000], out[20000];
    pnc_filter_worker worker;

    (void)state;
    pnc_filter_worker_init(&worker, &no_codecs);
    for (int round = 0; round < 200; round++) {
        static const uint32_t sizes[] = {1, 2, 4, 8, 3};
        uint32_t p[PNC_TRANSPOSE_PARAMETERS_MOST], size = sizes[random_in(0, 4)];
        int n = (int)random_in(1, 4), order[4];
        int64_t lengths[4], at[4] = {0}, number = 1, stored_bytes;
        pnc_filter filter = {PNC_FILTER_TRANSPOSE, false, 0, p};
        const pnc_filter_chain chain = {1, &filter};
        const void *stored;
        uint32_t mask;

        for (int i = 0; i < n; i++) {
            int64_t other = random_in(0, i);
            lengths[i] = random_in(1, 6);
            number *= lengths[i];
            order[i] = order[other];
            order[other] = i;
        }
        filter.nparameters = pnc_filter_transpose_set(size, n, lengths, order, p);
        fill_chunk(chunk, number * size, 0);
        assert_int_equal(
            pnc_filter_chunk_encode(&worker, &chain, chunk, number * size, &stored, &stored_bytes, &mask, NULL),
            NC_NOERR);
        assert_int_equal(stored_bytes, number * size);
        for (int64_t element = 0; element < number; element++) {
            int64_t place = find_transposed(n, lengths, order, at);
            assert_memory_equal(chunk + element * size, (const unsigned char *)stored + place * size, size);
            for (int i = n - 1; i >= 0 && ++at[i] == lengths[i]; i--)
                at[i] = 0;
        }
        memcpy(out, stored, (size_t)stored_bytes);
        assert_int_equal(
            pnc_filter_chunk_decode(&worker, &chain, out, stored_bytes, 0, out + 10000, stored_bytes, NULL), NC_NOERR);
        assert_memory_equal(out + 10000, chunk, (size_t)stored_bytes);
        assert_int_equal(
            pnc_filter_chunk_encode(&worker, &chain, chunk, number * size + 1, &stored, &stored_bytes, &mask, NULL),
            NC_EFILTER);
    }
    pnc_filter_worker_free(&worker);
}

static void test_damaged_blosc(void **state)
{
    static unsigned char chunk[LARGE], out[LARGE], copy[2 * LARGE];
    const pnc_filter_chain chain = {1, &blosc_1};
    pnc_filter_worker worker;
    const void *stored;
    int64_t n;
    uint32_t mask;

    (void)state;
    if (pnc_host_codecs_get()->load_blosc() == NULL)
        skip();
    fill_chunk(chunk, LARGE, 1);
    pnc_filter_worker_init(&worker, pnc_host_codecs_get());
    assert_int_equal(pnc_filter_chunk_encode(&worker, &chain, chunk, LARGE, &stored, &n, &mask, NULL), NC_NOERR);
    assert_true(n < LARGE / 2);
    memcpy(copy, stored, (size_t)n);
    assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, copy, n, 0, out, LARGE, NULL), NC_NOERR);
    assert_memory_equal(out, chunk, LARGE);
    assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, copy, n - 1, 0, out, LARGE, NULL), NC_EHDFERR);
    assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, copy, 7, 0, out, LARGE, NULL), NC_EHDFERR);
    assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, copy, n, 0, out, LARGE - 1, NULL), NC_EHDFERR);
    pnc_filter_worker_free(&worker);
}

/* Random chains, with chunks of all kinds, by one worker. */
static void test_round_trips(void **state)
{
    static const pnc_filter *const all[] = {&shuffle, &deflate, &fletcher32, &szip,    &zstd,
                                            &lzf,     &gzip,    &crc32c,     &blosc_1, &blosc_2};
    const int nknown = pnc_host_codecs_get()->load_blosc() != NULL ? 10 : 8;
    static unsigned char chunk[LARGE], out[LARGE + 1];
    pnc_filter_worker worker;

    (void)state;
    if (!has_libraries())
        skip();
    pnc_filter_worker_init(&worker, pnc_host_codecs_get());
    for (int round = 0; round < 600; round++) {
        pnc_filter filters[6];
        pnc_filter_chain chain = {(int)random_in(0, 6), filters};
        int64_t bytes = random_in(1, round % 4 == 0 ? LARGE : 40), stored_bytes;
        const void *stored;
        uint32_t mask;
        for (int i = 0; i < chain.nfilters; i++) {
            filters[i] = *all[random_in(0, nknown - 1)];
            filters[i].is_optional = random_in(0, 1) == 1;
            if (filters[i].id == PNC_FILTER_SZIP)
                filters[i].is_optional = true;
        }
        fill_chunk(chunk, bytes, (int)random_in(0, 2));
        assert_int_equal(pnc_filter_chunk_encode(&worker, &chain, chunk, bytes, &stored, &stored_bytes, &mask, NULL),
                         NC_NOERR);
        assert_true(stored_bytes <= pnc_filter_chain_get_bound(&chain, bytes));
        void *copy = malloc((size_t)stored_bytes);
        assert_non_null(copy);
        memcpy(copy, stored, (size_t)stored_bytes);
        out[bytes] = 77;
        assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, copy, stored_bytes, mask, out, bytes, NULL),
                         NC_NOERR);
        free(copy);
        assert_memory_equal(chunk, out, (size_t)bytes);
        assert_int_equal(out[bytes], 77);
    }
    pnc_filter_worker_free(&worker);
}

/* Encode a chunk, decode it by libdeflate, and compare. Returns the bytes that are stored, which `copy` gets. */
static int64_t pass_deflate(const pnc_codecs *codecs, uint32_t deflate_level, const unsigned char *chunk, int64_t bytes,
                            unsigned char *copy)
{
    static unsigned char out[LARGE];
    const pnc_filter filter = {PNC_FILTER_DEFLATE, false, 1, &deflate_level};
    const pnc_filter_chain chain = {1, &filter};
    pnc_filter_worker worker;
    const void *stored;
    int64_t n;
    uint32_t mask;

    pnc_filter_worker_init(&worker, codecs);
    for (int again = 0; again < 2; again++) /* the second time with the compressor of the first one */
        assert_int_equal(pnc_filter_chunk_encode(&worker, &chain, chunk, bytes, &stored, &n, &mask, NULL), NC_NOERR);
    memcpy(copy, stored, (size_t)n);
    memset(out, 0x5a, (size_t)bytes);
    assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, copy, n, mask, out, bytes, NULL), NC_NOERR);
    assert_memory_equal(chunk, out, (size_t)bytes);
    pnc_filter_worker_free(&worker);
    return n;
}

/* All levels, with and without ISA-L, which has level 1: the values are the same, the bytes are not. */
static void test_deflate_levels(void **state)
{
    static unsigned char chunk[LARGE], with[2 * LARGE], without[2 * LARGE];
    pnc_codecs codecs = *pnc_host_codecs_get();
    int differ[10] = {0};

    (void)state;
    if (codecs.load_deflate() == NULL || codecs.load_igzip() == NULL)
        skip();
    codecs.load_igzip = no_igzip;
    for (int round = 0; round < 300; round++) {
        uint32_t deflate_level = (uint32_t)(round % 10);
        int64_t bytes = random_in(1, round % 4 == 0 ? LARGE : 3000), n;

        fill_chunk(chunk, bytes, (int)random_in(0, 2));
        n = pass_deflate(pnc_host_codecs_get(), deflate_level, chunk, bytes, with);
        differ[deflate_level] +=
            n != pass_deflate(&codecs, deflate_level, chunk, bytes, without) || memcmp(with, without, (size_t)n) != 0;
    }
    for (int i = 0; i < 10; i++)
        assert_true((differ[i] > 0) == (i == 1));
}

/* What an optional compressor does not make smaller is stored without it; others store it larger. */
static void test_what_does_not_shrink(void **state)
{
    pnc_filter filters[] = {shuffle, deflate, fletcher32};
    pnc_filter_chain chain = {3, filters};
    pnc_filter_worker worker;
    unsigned char chunk[1000], out[1000], copy[1100];
    const void *stored;
    int64_t n;
    uint32_t mask;

    (void)state;
    if (!has_libraries())
        skip();
    fill_chunk(chunk, sizeof chunk, 0);
    pnc_filter_worker_init(&worker, pnc_host_codecs_get());
    for (int optional = 0; optional < 2; optional++) {
        filters[1].is_optional = optional == 1;
        assert_int_equal(pnc_filter_chunk_encode(&worker, &chain, chunk, 1000, &stored, &n, &mask, NULL), NC_NOERR);
        assert_int_equal(mask, optional == 1 ? 2 : 0);
        if (optional == 1)
            assert_int_equal(n, 1004);
        else
            assert_true(n > 1004);
        assert_true(n <= (int64_t)sizeof copy);
        memcpy(copy, stored, (size_t)n);
        assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, copy, n, mask, out, 1000, NULL), NC_NOERR);
        assert_memory_equal(chunk, out, 1000);
    }
    chain.nfilters = 0;
    assert_int_equal(pnc_filter_chunk_encode(&worker, &chain, chunk, 1000, &stored, &n, &mask, NULL), NC_NOERR);
    assert_true(stored == chunk && n == 1000 && mask == 0);
    assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, chunk, 999, 0, out, 1000, NULL), NC_EHDFERR);
    pnc_filter_worker_free(&worker);
}

/* Scanlines that are no whole blocks, and short blocks, make szip's result much longer than noise itself. */
static void test_szip_of_noise(void **state)
{
    static const uint32_t bits[] = {8, 16, 32, 64};
    static unsigned char chunk[LARGE], out[LARGE];
    pnc_filter_worker worker;

    (void)state;
    if (!has_libraries())
        skip();
    pnc_filter_worker_init(&worker, pnc_host_codecs_get());
    for (int round = 0; round < 400; round++) {
        uint32_t block = (uint32_t)(2 * random_in(1, 16));
        uint32_t parameters[4] = {round % 2 == 0 ? 141 : 169, block, bits[random_in(0, 3)],
                                  (uint32_t)random_in(1, 128 * block < 4096 ? 128 * block : 4096)};
        const pnc_filter filter = {PNC_FILTER_SZIP, false, 4, parameters};
        const pnc_filter_chain chain = {1, &filter};
        int64_t bytes = 8 * random_in(1, LARGE / 8), n;
        const void *stored;
        uint32_t mask;
        fill_chunk(chunk, bytes, (int)random_in(0, 1));
        assert_int_equal(pnc_filter_chunk_encode(&worker, &chain, chunk, bytes, &stored, &n, &mask, NULL), NC_NOERR);
        assert_true(mask == 0 && n <= pnc_filter_chain_get_bound(&chain, bytes));
        void *copy = malloc((size_t)n);
        assert_non_null(copy);
        memcpy(copy, stored, (size_t)n);
        assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, copy, n, mask, out, bytes, NULL), NC_NOERR);
        free(copy);
        assert_memory_equal(chunk, out, (size_t)bytes);
    }
    pnc_filter_worker_free(&worker);
}

static void test_missing_libraries(void **state)
{
    static const struct {
        const pnc_filter *filter;
        const char *library, *package;
    } rows[] = {{&deflate, "libdeflate.so.0", "libdeflate0"},
                {&szip, "libsz.so.2", "libsz2"},
                {&zstd, "libzstd.so.1", "libzstd1"},
                {&gzip, "libdeflate.so.0", "libdeflate0"},
                {&blosc_1, "libblosc.so.1", "libblosc1"}};
    pnc_filter_worker worker;
    unsigned char out[4];

    (void)state;
    pnc_filter_worker_init(&worker, &no_codecs);
    for (int i = 0; i < 5; i++) {
        pnc_filter_chain chain = {1, rows[i].filter};
        pnc_error error = {0};
        assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, "abcd", 4, 0, out, 4, &error), NC_EFILTER);
        assert_non_null(strstr(error.text, rows[i].library));
        assert_non_null(strstr(error.text, rows[i].package));
        assert_non_null(strstr(error.text, pnc_filter_name_get(rows[i].filter->id)));
        assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, "abcd", 4, 1, out, 4, NULL), NC_NOERR);
        assert_memory_equal(out, "abcd", 4);
    }
    pnc_filter_worker_free(&worker);
}

static void test_invalid_chains(void **state)
{
    static const uint32_t zero[] = {0}, ten[] = {10},
                          bad_szip[][4] = {{141, 16, 32, 4097}, {141, 16, 32, 0},  {141, 34, 32, 64},
                                           {141, 15, 32, 64},   {141, 16, 33, 64}, {141, 0, 32, 64}};
    const pnc_filter bad[] = {{32001, true, 0, NULL},
                              {PNC_FILTER_SHUFFLE, true, 0, NULL},
                              {PNC_FILTER_SHUFFLE, true, 1, zero},
                              {PNC_FILTER_DEFLATE, true, 1, ten},
                              {PNC_FILTER_DEFLATE, true, 0, NULL},
                              {PNC_FILTER_ZSTD, true, 1, (const uint32_t[]){23}},
                              {PNC_FILTER_SZIP, true, 3, szip_int},
                              {PNC_FILTER_LZF, true, 4, szip_int},
                              {PNC_FILTER_GZIP, true, 1, ten},
                              {PNC_FILTER_CRC32C, true, 1, ten},
                              {PNC_FILTER_ZARR_BLOSC, true, 4, blosc_zstd},
                              {PNC_FILTER_ZARR_BLOSC, true, 5, (const uint32_t[]){6, 1, 1, 4, 0}},
                              {PNC_FILTER_ZARR_BLOSC, true, 5, (const uint32_t[]){5, 10, 1, 4, 0}},
                              {PNC_FILTER_ZARR_BLOSC, true, 5, (const uint32_t[]){5, 1, 3, 4, 0}},
                              {PNC_FILTER_ZARR_BLOSC, true, 5, (const uint32_t[]){5, 1, 1, 0, 0}},
                              {PNC_FILTER_TRANSPOSE, true, 6, (const uint32_t[]){4, 2, 3, 3, 0, 0}},
                              {PNC_FILTER_TRANSPOSE, true, 6, (const uint32_t[]){4, 2, 3, 0, 1, 0}},
                              {PNC_FILTER_TRANSPOSE, true, 6, (const uint32_t[]){4, 2, 65536, 65536, 1, 0}},
                              {PNC_FILTER_TRANSPOSE, true, 5, (const uint32_t[]){4, 2, 3, 3, 0}}};
    pnc_filter many[PNC_FILTER_MOST + 1];
    pnc_filter_chain chain = {PNC_FILTER_MOST + 1, many};
    pnc_error error = {0};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(pnc_filter_chain_check(&(pnc_filter_chain){1, &bad[i]}, 0, &no_codecs, NULL), NC_EFILTER);
        assert_int_equal(pnc_filter_chain_check(&(pnc_filter_chain){1, &bad[i]}, 1, &no_codecs, NULL), NC_NOERR);
    }
    for (size_t i = 0; i < sizeof bad_szip / sizeof *bad_szip; i++) {
        const pnc_filter one = {PNC_FILTER_SZIP, true, 4, bad_szip[i]};
        pnc_error_clear(&error);
        assert_int_equal(pnc_filter_chain_check(&(pnc_filter_chain){1, &one}, 0, &no_codecs, &error), NC_EFILTER);
        assert_non_null(strstr(error.text, "invalid parameters"));
    }
    for (int i = 0; i <= PNC_FILTER_MOST; i++)
        many[i] = fletcher32;
    assert_int_equal(pnc_filter_chain_check(&chain, 0, &no_codecs, NULL), NC_EFILTER);
    chain.nfilters--;
    assert_int_equal(pnc_filter_chain_check(&chain, 0, &no_codecs, NULL), NC_NOERR);
    assert_int_equal(pnc_filter_chain_get_bound(&chain, 100), 100 + 4 * PNC_FILTER_MOST);
    assert_string_equal(pnc_filter_name_get(32001), "blosc");
    assert_string_equal(pnc_filter_name_get(-1), "filter");
}

/* The parameters are those of the package hdf5plugin 7.1.0 for the same filter. */
static void test_texts(void **state)
{
    static const struct {
        const char *text;
        int id, n;
        uint32_t parameters[9];
    } good[] = {{"none", 0, 0, {0}},
                {"deflate", 1, 1, {1}},
                {"deflate:9", 1, 1, {9}},
                {"zstd", 32015, 1, {3}},
                {"zstd:-5", 32015, 1, {(uint32_t)-5}},
                {"bzip2", 307, 1, {9}},
                {"lz4", 32004, 1, {0}},
                {"blosc:zstd:1", 32001, 7, {0, 0, 0, 0, 1, 1, 5}},
                {"blosc:snappy", 32001, 7, {0, 0, 0, 0, 5, 1, 3}},
                {"blosc2:lz4hc:0", 32026, 7, {0, 0, 0, 0, 0, 1, 2}},
                {"bitshuffle:lz4", 32008, 2, {0, 2}},
                {"bitshuffle:zstd", 32008, 3, {0, 3, 3}},
                {"zfp:accuracy:0.01", 32013, 6, {3, 0, 1202590843, 1065646817, 0, 0}},
                {"zfp:rate:12.5", 32013, 6, {1, 0, 0, 1076428800, 0, 0}},
                {"zfp:precision:20", 32013, 6, {2, 0, 20, 0, 0, 0}},
                {"zfp:reversible", 32013, 6, {5, 0, 0, 0, 0, 0}},
                {"sz3:abs:0.01", 32024, 9, {0, 1065646817, 1202590843, 0, 0, 0, 0, 0, 0}},
                {"sz3:rel:1e-3", 32024, 9, {1, 0, 0, 1062232653, 3539053052, 0, 0, 0, 0}},
                {"sz3:rel:.1E-2", 32024, 9, {1, 0, 0, 1062232653, 3539053052, 0, 0, 0, 0}},
                {"32013:4294967295:-1", 32013, 2, {UINT32_MAX, UINT32_MAX}},
                {"307", 307, 0, {0}}};
    static const char *const bad[] = {
        "",          "non",         "none:1",      "deflate:",     "deflate:0",    "deflate:10",    "deflate:1:2",
        "zstd:23",   "zstd:x",      "zstd:1 ",     "blosc",        "blosc:zstd:",  "blosc:zstd:10", "blosc2:snappy",
        "blosc:gz",  "bitshuffle",  "bzip2:0",     "lz4:1",        "zfp",          "zfp:accuracy",  "zfp:accuracy:0",
        "zfp:rate:", "zfp:rate:65", "zfp:rate:-1", "zfp:rate:1,5", "sz3:abs:1e",   "sz3:abs:1e99",  "sz3:abs:.",
        "0",         "1:5",         "32015:3",     "65536",        "307:",         "307:x",         "307:4294967296",
        ":307",      "-307",        "307:1.5",     "sz3:abs:nan",  "sz3:abs:1e-+1"};
    pnc_filter_text found;
    char longest[1030], many[200] = "307";

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(pnc_filter_text_parse(good[i].text, &found));
        assert_int_equal(found.id, good[i].id);
        assert_int_equal(found.nparameters, good[i].n);
        assert_memory_equal(found.parameters, good[i].parameters, (size_t)good[i].n * sizeof(uint32_t));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (pnc_filter_text_parse(bad[i], &found))
            fail_msg("\"%s\" is taken for a filter", bad[i]);
    memset(longest, '1', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_false(pnc_filter_text_parse(longest, &found));
    for (int i = 0; i < PNC_FILTER_TEXT_PARAMETERS; i++)
        strcat(many, ":1");
    assert_true(pnc_filter_text_parse(many, &found));
    assert_int_equal(found.nparameters, PNC_FILTER_TEXT_PARAMETERS);
    assert_false(pnc_filter_text_parse(strcat(many, ":1"), &found));
}

static void test_given_parameters(void **state)
{
    static const uint32_t bitshuffle[] = {0, 4, 4, 0, 3, 3}, sz3[] = {2, 0, 20, 5, 0, 1, 2, 0, 0, 0, 0, 0, 0};
    int n = 6;

    (void)state;
    assert_ptr_equal(pnc_filter_text_find_given(32008, bitshuffle, &n), bitshuffle + 3);
    assert_int_equal(n, 3);
    n = 2;
    pnc_filter_text_find_given(32008, bitshuffle, &n);
    assert_int_equal(n, 0);
    n = 13;
    assert_ptr_equal(pnc_filter_text_find_given(32024, sz3, &n), sz3 + 4);
    assert_int_equal(n, 9);
    assert_ptr_equal(pnc_filter_text_find_given(32024, sz3 + 4, &n), sz3 + 4);
    assert_int_equal(n, 9);
    assert_ptr_equal(pnc_filter_text_find_given(32001, sz3, &n), sz3);
}

/* A plugin whose parameter is the byte that it cannot encode. */
static bool has_test_plugin(int id)
{
    return id == 33000;
}

static size_t run_test_plugin(int id, unsigned flags, size_t n, const unsigned *parameters, size_t bytes,
                              size_t *capacity, void **buffer)
{
    unsigned char *at = *buffer;

    assert_int_equal(id, 33000);
    assert_int_equal(n, 1);
    assert_true(*capacity >= bytes);
    if ((flags & 0x100) == 0 && at[0] == parameters[0])
        return 0;
    for (size_t i = 0; i < bytes; i++)
        at[i] ^= 1;
    return bytes;
}

static void list_test_folders(char *out, size_t capacity)
{
    snprintf(out, capacity, "/a:/b");
}

/* Optional filters of plugins are left out where they fail, and not where a chunk becomes no smaller. */
static void test_plugins(void **state)
{
    static const pnc_plugins plugins = {has_test_plugin, run_test_plugin, list_test_folders};
    static const uint32_t seven[] = {7};
    const pnc_codecs codecs = {no_deflate, no_igzip, no_szip, no_zstd, no_blosc, &plugins};
    pnc_filter filter = {33000, true, 1, seven}, missing = {33001, true, 0, NULL};
    pnc_filter_chain chain = {1, &filter};
    pnc_filter_worker worker;
    pnc_error error = {0};
    const void *stored;
    char back[3];
    int64_t n;
    uint32_t mask;

    (void)state;
    pnc_filter_worker_init(&worker, &codecs);
    assert_int_equal(pnc_filter_chunk_encode(&worker, &chain, "abc", 3, &stored, &n, &mask, NULL), NC_NOERR);
    assert_int_equal(mask, 0);
    assert_int_equal(n, 3);
    assert_memory_equal(stored, "`cb", 3);
    assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, "`cb", 3, 0, back, 3, NULL), NC_NOERR);
    assert_memory_equal(back, "abc", 3);
    assert_int_equal(pnc_filter_chunk_encode(&worker, &chain, "\7bc", 3, &stored, &n, &mask, NULL), NC_NOERR);
    assert_int_equal(mask, 1);
    assert_memory_equal(stored, "\7bc", 3);
    filter.is_optional = false;
    assert_int_equal(pnc_filter_chunk_encode(&worker, &chain, "\7bc", 3, &stored, &n, &mask, &error), NC_EFILTER);
    assert_non_null(strstr(error.text, "33000"));
    pnc_error_clear(&error);
    chain.filters = &missing;
    assert_int_equal(pnc_filter_chain_check(&chain, 0, &codecs, &error), NC_EFILTER);
    assert_non_null(strstr(error.text, "no plugin of HDF5 in /a:/b has this filter"));
    pnc_filter_worker_free(&worker);
}

static void test_chunk_lengths(void **state)
{
    pnc_filter_chain chain = {1, &fletcher32};
    pnc_filter_worker worker;
    const void *stored;
    int64_t n;
    uint32_t mask;

    (void)state;
    pnc_filter_worker_init(&worker, &no_codecs);
    for (int i = 0; i < 3; i++) {
        const int64_t wrong[] = {0, -1, PNC_FILTER_CHUNK_MOST + 1};
        assert_int_equal(pnc_filter_chunk_encode(&worker, &chain, "", wrong[i], &stored, &n, &mask, NULL), NC_EINVAL);
        assert_int_equal(pnc_filter_chunk_decode(&worker, &chain, "", 1, 0, NULL, wrong[i], NULL), NC_EINVAL);
    }
    pnc_filter_worker_free(&worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffle),
        cmocka_unit_test(test_known_checksums),
        cmocka_unit_test(test_checksum_twins),
        cmocka_unit_test(test_chunks_of_others),
        cmocka_unit_test(test_checksum_is_checked),
        cmocka_unit_test(test_gzip_of_others),
        cmocka_unit_test(test_crc32c),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_damaged_blosc),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_deflate_levels),
        cmocka_unit_test(test_what_does_not_shrink),
        cmocka_unit_test(test_szip_of_noise),
        cmocka_unit_test(test_missing_libraries),
        cmocka_unit_test(test_invalid_chains),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_given_parameters),
        cmocka_unit_test(test_plugins),
        cmocka_unit_test(test_chunk_lengths),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_mask_of_numbers),
        cmocka_unit_test(test_random_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
