/* Conversion against the rules in wide arithmetic, against values measured on PnetCDF 1.x, and every fast kernel
 * against its scalar twin. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/types.h"
#include "convert/kernels.h"
#include "../wide.h"
#include "random.h"

#define CDF5 PNC_ENCODING_CDF5
#define CDF1 ((pnc_encoding){.signless_bytes = true})
#define LITTLE ((pnc_encoding){.little = true})

/* ---- values that matter: the neighbourhood of every limit, in every type that can hold it ---- */

static const double real_values[] = {0.0,
                                     -0.0,
                                     0.5,
                                     -0.5,
                                     -0.999,
                                     1.0,
                                     -1.0,
                                     3.99,
                                     -3.99,
                                     127.0,
                                     127.5,
                                     128.0,
                                     -128.0,
                                     -128.5,
                                     -129.0,
                                     254.999,
                                     255.0,
                                     255.5,
                                     256.0,
                                     32767.0,
                                     32767.5,
                                     32768.0,
                                     -32768.0,
                                     -32768.5,
                                     -32769.0,
                                     65535.0,
                                     65535.5,
                                     65536.0,
                                     2147483520.0,
                                     2147483647.0,
                                     2147483647.5,
                                     2147483648.0,
                                     -2147483648.0,
                                     -2147483648.5,
                                     -2147483649.0,
                                     -2147483904.0,
                                     4294967040.0,
                                     4294967295.0,
                                     4294967295.5,
                                     4294967296.0,
                                     9223371487098961920.0,
                                     9223372036854774784.0,
                                     9223372036854775808.0,
                                     9223372036854777856.0,
                                     -9223372036854775808.0,
                                     -9223372036854777856.0,
                                     18446742974197923840.0,
                                     18446744073709549568.0,
                                     18446744073709551616.0,
                                     18446744073709555712.0,
                                     16777217.0,
                                     9007199254740993.0,
                                     1e-40,
                                     -1e-40,
                                     4.9e-324,
                                     DBL_MIN,
                                     DBL_MAX,
                                     -DBL_MAX,
                                     FLT_MAX,
                                     -FLT_MAX,
                                     3.4028235e38,
                                     -3.4028235e38,
                                     3.4028235677973366e38,
                                     3.5e38,
                                     FLT_MIN,
                                     1.4e-45,
                                     7e-46,
                                     1e300,
                                     INFINITY,
                                     -INFINITY,
                                     NAN,
                                     -NAN,
                                     9.9692099683868690e+36};
static const uint64_t whole_values[] = {0,
                                        1,
                                        2,
                                        100,
                                        126,
                                        127,
                                        128,
                                        129,
                                        254,
                                        255,
                                        256,
                                        257,
                                        32766,
                                        32767,
                                        32768,
                                        32769,
                                        65534,
                                        65535,
                                        65536,
                                        16777217,
                                        2147483646,
                                        2147483647,
                                        2147483648u,
                                        2147483649u,
                                        4294967294u,
                                        4294967295u,
                                        4294967296u,
                                        9007199254740993u,
                                        INT64_MAX - 1,
                                        INT64_MAX,
                                        UINT64_C(1) << 63,
                                        (UINT64_C(1) << 63) + 1,
                                        UINT64_MAX - 65536,
                                        UINT64_MAX - 65535,
                                        UINT64_MAX - 32769,
                                        UINT64_MAX - 32768,
                                        UINT64_MAX - 32767,
                                        UINT64_MAX - 129,
                                        UINT64_MAX - 128,
                                        UINT64_MAX - 127,
                                        UINT64_MAX - 2147483648u,
                                        UINT64_MAX - 2147483647u,
                                        UINT64_MAX - 1,
                                        UINT64_MAX};

#define COUNT(array) (int)(sizeof(array) / sizeof(array)[0])

static const int num_size[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
static const char *const num_name[] = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"};

enum { WELL = -2, ANY = -1, MATTERS = 80 };
_Static_assert(COUNT(real_values) <= MATTERS && COUNT(whole_values) <= MATTERS, "all are counted");

static void store_low_bytes(uint64_t bits, int n, char *out)
{
    for (int i = 0; i < n; i++)
        out[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : n - 1 - i] = (char)(bits >> (8 * i));
}

/* A value in memory form: number k of those that matter, one that fits every type, or any bits at all. */
static void make_value(pnc_num num, int k, char *out)
{
    uint64_t bits = k == ANY ? random_bits() : (uint64_t)random_in(0, 100);
    double real = k >= 0 && k < COUNT(real_values) ? real_values[k] : (double)bits;
    if (k >= 0 && k < COUNT(whole_values))
        bits = whole_values[k];
    if (num == PNC_NUM_f64 && k != ANY) {
        memcpy(out, &real, 8);
    } else if (num == PNC_NUM_f32 && k != ANY) {
        float single = fabs(real) > FLT_MAX ? (float)copysign(INFINITY, real) : (float)real;
        memcpy(out, &single, 4);
    } else {
        store_low_bytes(bits, num_size[num], out);
    }
}

/* From memory form to external form, or back. */
static void reverse(char *p, int size, bool little)
{
    if ((__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) == little)
        return;
    char old[8];
    memcpy(old, p, (size_t)size);
    for (int i = 0; i < size; i++)
        p[i] = old[size - 1 - i];
}

/* ---- every fast kernel against its scalar twin ---- */

enum { MAX_N = 1600 };

typedef struct pair {
    pnc_kernel fast, scalar;
    pnc_num from, to;
    bool get, little;
    const char *isa;
} pair;

static char source[MAX_N * 8 + 8];

/* Value i of a round: all that matter, mostly values that fit, or only those. */
static int choose_value(int round, int64_t i)
{
    if (round % 3 == 0)
        return (int)(i % MATTERS);
    return round % 3 == 1 && random_in(0, 300) == 0 ? ANY : WELL;
}

static void set_source(const pair *p, int shift, int64_t i, int k)
{
    char *at = source + shift + i * num_size[p->from];
    make_value(p->from, k, at);
    if (p->get)
        reverse(at, num_size[p->from], p->little);
}

/* Both kernels on the same source: every byte around and in the result, and the code, must agree. */
static void compare_once(const pair *p, int shift, int64_t n)
{
    static char one[MAX_N * 8 + 16], two[MAX_N * 8 + 16];
    static const char fill[8] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x08};
    const size_t bytes = (size_t)(n + 1) * 8;
    memset(one, 0x7e, bytes);
    memset(two, 0x7e, bytes);
    int a = p->fast(one + 3, source + shift, n, fill), b = p->scalar(two + 3, source + shift, n, fill);
    if (a == b && memcmp(one, two, bytes) == 0)
        return;
    int64_t i = 0;
    while (i < (int64_t)bytes - 1 && one[i] == two[i])
        i++;
    fail_msg("%s %s%s: %s to %s differs from the scalar twin: codes %d and %d, first at element %d", p->isa,
             p->get ? "get" : "put", p->little ? ", little-endian" : "", num_name[p->from], num_name[p->to], a, b,
             (int)((i - 3) / num_size[p->to]));
}

/* One value that matters among others that are well: it must not slip through the check of the block. Then blocks of
 * all kinds, at all lengths and alignments. */
static void compare_kernels(const pair *p)
{
    for (int64_t i = 0; i < 70; i++)
        set_source(p, 1, i, WELL);
    for (int k = 0; k < MATTERS; k++) {
        int64_t at = random_in(0, 69);
        set_source(p, 1, at, k);
        compare_once(p, 1, 70);
        set_source(p, 1, at, WELL);
    }
    for (int round = 0; round < 9; round++) {
        int64_t n = round == 0 ? MAX_N : random_in(0, round < 4 ? 40 : MAX_N);
        int shift = (int)random_in(0, 7);
        for (int64_t i = 0; i < n; i++)
            set_source(p, shift, i, choose_value(round, i));
        compare_once(p, shift, n);
    }
}

static void compare_all(const pnc_kernels *set, const pnc_kernels *scalar, bool little)
{
    for (int from = 0; from < PNC_NUM_COUNT; from++)
        for (int to = 0; to < PNC_NUM_COUNT; to++) {
            const pair put = {.fast = set->put[from][to],
                              .scalar = scalar->put[from][to],
                              .from = (pnc_num)from,
                              .to = (pnc_num)to,
                              .little = little,
                              .isa = set->isa};
            pair get = put;

            get.get = true;
            get.fast = set->get[from][to];
            get.scalar = scalar->get[from][to];
            compare_kernels(&put);
            compare_kernels(&get);
        }
}

static void test_baseline_against_scalar(void **state)
{
    (void)state;
    compare_all(&pnc_kernels_base, &pnc_kernels_scalar, false);
    compare_all(&pnc_kernels_base_little, &pnc_kernels_scalar_little, true);
}

/* What this machine chose, through the public door: all type pairs. */
static int compare_chosen(pnc_direction direction, int xtype, pnc_mem_type mem, pnc_encoding encoding)
{
    static const pnc_num of_xtype[] = {0, 0, 0, 2, 4, 8, 9, 1, 3, 5, 6, 7};
    static const pnc_num of_mem[] = {0, 0, 1, 2, 3, 4, 5, sizeof(long) == 8 ? 6 : 4, 8, 9, 6, 7};
    pair p = {.fast = pnc_convert_kernel_find(direction, xtype, mem, encoding, NULL),
              .scalar = pnc_convert_kernel_find_scalar(direction, xtype, mem, encoding),
              .get = direction == PNC_GET,
              .little = encoding.little,
              .isa = pnc_convert_kernel_get_isa()};
    assert_true((p.fast == NULL) == ((xtype == NC_CHAR) != (mem == PNC_TEXT)));
    assert_true((p.fast == NULL) == (p.scalar == NULL));
    if (p.fast == NULL || mem == PNC_TEXT)
        return p.fast != NULL;
    p.from = direction == PNC_PUT ? of_mem[mem] : of_xtype[xtype];
    p.to = direction == PNC_PUT ? of_xtype[xtype] : of_mem[mem];
    compare_kernels(&p);
    return 1;
}

static void test_chosen_against_scalar(void **state)
{
    (void)state;
    int pairs = 0;
    for (int little = 0; little <= 1; little++)
        for (int direction = PNC_PUT; direction <= PNC_GET; direction++)
            for (int xtype = NC_BYTE; xtype <= NC_UINT64; xtype++)
                for (int mem = 0; mem < PNC_MEM_TYPE_COUNT; mem++)
                    pairs += compare_chosen((pnc_direction)direction, xtype, (pnc_mem_type)mem,
                                            (pnc_encoding){.little = little});
    assert_int_equal(pairs, 2 * 2 * (11 * 10 + 1));
}

/* ---- the scalar twins against the rules, in a type that holds every value of every type ---- */

typedef struct range {
    wide low, high; /* of an integer type */
    double nan;     /* what NaN becomes */
} range;

static const range ranges[] = {{-128, 127, 0},
                               {0, 255, 0},
                               {-32768, 32767, 0},
                               {0, 65535, 0},
                               {-2147483648.0L, 2147483647.0L, -2147483648.0},
                               {0, 4294967295.0L, 0},
                               {-9223372036854775808.0L, 9223372036854775807.0L, -9223372036854775808.0},
                               {0, 18446744073709551615.0L, 9223372036854775808.0}};

static wide value_of(pnc_num num, const char *p)
{
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
    switch (num) {
    case PNC_NUM_i8: memcpy(&i8, p, 1); return i8;
    case PNC_NUM_u8: memcpy(&u8, p, 1); return u8;
    case PNC_NUM_i16: memcpy(&i16, p, 2); return i16;
    case PNC_NUM_u16: memcpy(&u16, p, 2); return u16;
    case PNC_NUM_i32: memcpy(&i32, p, 4); return i32;
    case PNC_NUM_u32: memcpy(&u32, p, 4); return u32;
    case PNC_NUM_i64: memcpy(&i64, p, 8); return (wide)i64;
    case PNC_NUM_u64: memcpy(&u64, p, 8); return (wide)u64;
    case PNC_NUM_f32: memcpy(&f32, p, 4); return f32;
    default: memcpy(&f64, p, 8); return f64;
    }
}

/* The expected value, or false where it is out of range. */
static bool expected(pnc_num from, pnc_num to, wide v, wide *out)
{
    const bool real = from >= PNC_NUM_f32;
    *out = v;
    if (to == PNC_NUM_f64 || (to == PNC_NUM_f32 && from == PNC_NUM_f32))
        *out = to == PNC_NUM_f64 ? (double)v : v;
    else if (to == PNC_NUM_f32 && from == PNC_NUM_f64 && !wide_is_nan(v) && (v > FLT_MAX || v < -FLT_MAX))
        return false;
    else if (to == PNC_NUM_f32)
        *out = (float)v;
    else if (wide_is_nan(v))
        *out = ranges[to].nan;
    else if (!real)
        return v >= ranges[to].low && v <= ranges[to].high;
    else if (v < ranges[to].low || v > ranges[to].high)
        return false;
    else
        *out = wide_whole(v);
    return true;
}

static void check_rule(pnc_num from, pnc_num to, int k, const char *fill, bool little)
{
    const pnc_kernels *set = little ? &pnc_kernels_scalar_little : &pnc_kernels_scalar;
    char src[8], dst[8], ext[8];
    wide want, v;
    make_value(from, k, src);
    v = value_of(from, src);
    bool fits = expected(from, to, v, &want);
    if (to < PNC_NUM_f32 && want == 0)
        want = 0; /* integers have no negative zero */
    int status = set->put[from][to](dst, src, 1, fill);
    assert_int_equal(status, fits ? NC_NOERR : NC_ERANGE);
    if (!fits) {
        assert_memory_equal(dst, fill, num_size[to]);
    } else {
        reverse(dst, num_size[to], little);
        if (!wide_same(value_of(to, dst), want))
            fail_msg("put %s %.20Lg as %s gives %.20Lg, not %.20Lg", num_name[from], (long double)v, num_name[to],
                     (long double)value_of(to, dst), (long double)want);
    }
    memcpy(ext, src, 8);
    reverse(ext, num_size[from], little);
    status = set->get[from][to](dst, ext, 1, fill);
    assert_int_equal(status, fits ? NC_NOERR : NC_ERANGE);
    if (!fits)
        assert_memory_equal(dst, fill, num_size[to]);
    else
        assert_true(wide_same(value_of(to, dst), want));
}

static void test_scalar_against_rules(void **state)
{
    static const char fill[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)state;
    for (int from = 0; from < PNC_NUM_COUNT; from++)
        for (int to = 0; to < PNC_NUM_COUNT; to++) {
            for (int k = 0; k < COUNT(real_values) || k < COUNT(whole_values); k++)
                for (int little = 0; little <= 1; little++)
                    check_rule((pnc_num)from, (pnc_num)to, k, fill, little);
            for (int k = 0; k < 2000; k++)
                check_rule((pnc_num)from, (pnc_num)to, ANY, fill, k % 2 == 1);
        }
}

/* ---- single facts ---- */

static int put1(int xtype, pnc_mem_type mem, pnc_encoding encoding, const void *value, void *ext)
{
    char fill[8];
    pnc_convert_fill_get_external(xtype, encoding, fill);
    return pnc_convert_kernel_find(PNC_PUT, xtype, mem, encoding, NULL)(ext, value, 1, fill);
}

/* Measured on PnetCDF 1.12.3, x86-64: doubles put into each type. */
static void test_measured_values(void **state)
{
    static const struct {
        double value;
        int xtype, code;
        unsigned char bytes[8];
    } fact[] = {{3.99, NC_INT, NC_NOERR, {0, 0, 0, 3}},
                {127.5, NC_BYTE, NC_ERANGE, {0x81}},
                {-0.999, NC_BYTE, NC_NOERR, {0}},
                {-0.5, NC_UBYTE, NC_ERANGE, {255}},
                {254.9, NC_UBYTE, NC_NOERR, {254}},
                {NAN, NC_BYTE, NC_NOERR, {0}},
                {NAN, NC_USHORT, NC_NOERR, {0, 0}},
                {NAN, NC_INT, NC_NOERR, {0x80, 0, 0, 0}},
                {NAN, NC_UINT, NC_NOERR, {0, 0, 0, 0}},
                {NAN, NC_INT64, NC_NOERR, {0x80, 0, 0, 0, 0, 0, 0, 0}},
                {NAN, NC_UINT64, NC_NOERR, {0x80, 0, 0, 0, 0, 0, 0, 0}},
                {2147483647.0, NC_INT, NC_NOERR, {0x7f, 0xff, 0xff, 0xff}},
                {2147483647.5, NC_INT, NC_ERANGE, {0x80, 0, 0, 1}},
                {-2147483648.0, NC_INT, NC_NOERR, {0x80, 0, 0, 0}},
                {-2147483648.5, NC_INT, NC_ERANGE, {0x80, 0, 0, 1}},
                {-9223372036854777856.0, NC_INT64, NC_ERANGE, {0x80, 0, 0, 0, 0, 0, 0, 2}},
                {18446744073709555712.0, NC_UINT64, NC_ERANGE, {255, 255, 255, 255, 255, 255, 255, 254}},
                {INFINITY, NC_FLOAT, NC_ERANGE, {0x7c, 0xf0, 0, 0}},
                {1e300, NC_FLOAT, NC_ERANGE, {0x7c, 0xf0, 0, 0}},
                {3.4028235e38, NC_FLOAT, NC_ERANGE, {0x7c, 0xf0, 0, 0}}, /* would round to FLT_MAX, yet is larger */
                {1.0, NC_FLOAT, NC_NOERR, {0x3f, 0x80, 0, 0}},
                {1.0, NC_DOUBLE, NC_NOERR, {0x3f, 0xf0, 0, 0, 0, 0, 0, 0}},
                {INFINITY, NC_DOUBLE, NC_NOERR, {0x7f, 0xf0, 0, 0, 0, 0, 0, 0}}};
    unsigned char ext[8];
    (void)state;
    for (int i = 0; i < COUNT(fact); i++) {
        assert_int_equal(put1(fact[i].xtype, PNC_DOUBLE, CDF5, &fact[i].value, ext), fact[i].code);
        assert_memory_equal(ext, fact[i].bytes, pnc_type_get_size(fact[i].xtype));
    }
    float inf = INFINITY;
    assert_int_equal(put1(NC_FLOAT, PNC_FLOAT, CDF5, &inf, ext), NC_NOERR);
    assert_memory_equal(ext, "\x7f\x80\0\0", 4);
}

static void test_byte_through_uchar(void **state)
{
    const unsigned char value = 200;
    unsigned char ext, back, fill[8];
    bool same;
    (void)state;
    assert_int_equal(put1(NC_BYTE, PNC_UCHAR, CDF1, &value, &ext), NC_NOERR);
    assert_int_equal(ext, 200);
    assert_int_equal(put1(NC_BYTE, PNC_UCHAR, CDF1, &value, &ext), NC_NOERR);
    assert_int_equal(put1(NC_BYTE, PNC_UCHAR, CDF5, &value, &ext), NC_ERANGE);
    assert_int_equal(ext, 0x81);
    pnc_convert_fill_get_memory(PNC_UCHAR, fill);
    ext = 0xfe;
    assert_int_equal(pnc_convert_kernel_find(PNC_GET, NC_BYTE, PNC_UCHAR, CDF1, &same)(&back, &ext, 1, fill), NC_NOERR);
    assert_int_equal(back, 0xfe);
    assert_true(same);
    assert_int_equal(pnc_convert_kernel_find(PNC_GET, NC_BYTE, PNC_UCHAR, CDF5, &same)(&back, &ext, 1, fill),
                     NC_ERANGE);
    assert_int_equal(back, 255);
    assert_false(same);
}

static void test_same(void **state)
{
    bool same;
    (void)state;
    pnc_convert_kernel_find(PNC_PUT, NC_CHAR, PNC_TEXT, CDF1, &same);
    assert_true(same);
    pnc_convert_kernel_find(PNC_PUT, NC_BYTE, PNC_SCHAR, CDF5, &same);
    assert_true(same);
    pnc_convert_kernel_find(PNC_GET, NC_UBYTE, PNC_UCHAR, CDF5, &same);
    assert_true(same);
    pnc_convert_kernel_find(PNC_GET, NC_UBYTE, PNC_SCHAR, CDF5, &same);
    assert_false(same);
    pnc_convert_kernel_find(PNC_PUT, NC_INT, PNC_INT, CDF1, &same);
    assert_int_equal(same, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    pnc_convert_kernel_find(PNC_PUT, NC_INT, PNC_INT, LITTLE, &same);
    assert_int_equal(same, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    pnc_convert_kernel_find(PNC_PUT, NC_DOUBLE, PNC_FLOAT, LITTLE, &same);
    assert_false(same);
    assert_null(pnc_convert_kernel_find(PNC_PUT, NC_CHAR, PNC_INT, CDF1, &same));
    assert_false(same);
    assert_null(pnc_convert_kernel_find(PNC_PUT, NC_INT, PNC_TEXT, CDF1, &same));
    assert_null(pnc_convert_kernel_find(PNC_PUT, 12, PNC_INT, CDF5, &same));
    assert_null(pnc_convert_kernel_find(PNC_PUT, 0, PNC_INT, CDF5, &same));
}

/* The bytes of the default fill values as the format specification lists them. */
static void test_fill_values(void **state)
{
    static const struct {
        int xtype;
        unsigned char bytes[8];
    } fact[] = {{NC_BYTE, {0x81}},
                {NC_CHAR, {0}},
                {NC_SHORT, {0x80, 1}},
                {NC_INT, {0x80, 0, 0, 1}},
                {NC_FLOAT, {0x7c, 0xf0, 0, 0}},
                {NC_DOUBLE, {0x47, 0x9e, 0, 0, 0, 0, 0, 0}},
                {NC_UBYTE, {255}},
                {NC_USHORT, {255, 255}},
                {NC_UINT, {255, 255, 255, 255}},
                {NC_INT64, {0x80, 0, 0, 0, 0, 0, 0, 2}},
                {NC_UINT64, {255, 255, 255, 255, 255, 255, 255, 254}}};
    unsigned char out[9];
    long of_long;
    double of_double;
    (void)state;
    for (int i = 0; i < COUNT(fact); i++) {
        memset(out, 0x55, sizeof out);
        pnc_convert_fill_get_external(fact[i].xtype, CDF5, out);
        assert_memory_equal(out, fact[i].bytes, 8);
        assert_int_equal(out[8], 0x55);
        pnc_convert_fill_get_external(fact[i].xtype, LITTLE, out);
        for (int b = 0, size = (int)pnc_type_get_size(fact[i].xtype); b < size; b++)
            assert_int_equal(out[b], fact[i].bytes[size - 1 - b]);
    }
    for (int mem = 0; mem < PNC_MEM_TYPE_COUNT; mem++) {
        memset(out, 0x55, sizeof out);
        pnc_convert_fill_get_memory((pnc_mem_type)mem, out);
        for (size_t i = pnc_mem_type_get_size((pnc_mem_type)mem); i < 8; i++)
            assert_int_equal(out[i], 0);
        assert_int_equal(out[8], 0x55);
    }
    pnc_convert_fill_get_memory(PNC_LONG, out);
    memcpy(&of_long, out, sizeof of_long);
    assert_int_equal(of_long, -2147483647);
    pnc_convert_fill_get_memory(PNC_DOUBLE, out);
    memcpy(&of_double, out, 8);
    assert_true(of_double == 9.9692099683868690e+36);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar_against_rules),  cmocka_unit_test(test_baseline_against_scalar),
        cmocka_unit_test(test_chosen_against_scalar), cmocka_unit_test(test_measured_values),
        cmocka_unit_test(test_byte_through_uchar),    cmocka_unit_test(test_same),
        cmocka_unit_test(test_fill_values),
    };
    return cmocka_run_group_tests_name("convert", tests, NULL, NULL);
}
