/* Rounding within a bound, beside a twin that tries one number of bits after the other in long double: no value is
 * farther from what was put than the bound, each has the fewest bits that keep it, and special values stay.
 *
 * PNC_TEST_LONG=1: 1.7 * 10^8 values of each of six cases, in place of 2 * 10^5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/quantize.h"
#include "random.h"

enum { BLOCK = 1000 };

static const float fill_single = -999, missing_single = 1e20F;

static bool is_long(void)
{
    const char *text = getenv("PNC_TEST_LONG");

    return text != NULL && strcmp(text, "1") == 0;
}

static double draw_fraction(void)
{
    return (double)(random_bits() >> 11) / (double)(UINT64_C(1) << 53);
}

/* Of a field, of all magnitudes near the bound, or any bits at all. */
static double draw_value(int kind, double bound)
{
    uint64_t bits = random_bits();
    double value;

    switch (kind) {
    case 0: return 280 + 40 * (draw_fraction() - 0.5);
    case 1: return ldexp((draw_fraction() - 0.5) * bound, (int)random_in(-3, 60));
    case 2: return random_in(0, 20) == 0 ? -999 + 0.004 * draw_fraction() : (double)random_in(-1000, 1000) / 4;
    default: memcpy(&value, &bits, sizeof value); return value;
    }
}

/* The value and the result as numbers of the type; what was put may have had more digits. */
typedef struct one_case {
    const pnc_quantizer *q;
    bool is_single;
    long double put, value, result;
} one_case;

static int count_mantissa(const one_case *c)
{
    return c->is_single ? FLT_MANT_DIG : DBL_MANT_DIG;
}

static long double allow(const one_case *c)
{
    return c->q->mode == PNC_RELATIVE_ERROR ? (long double)c->q->bound * fabsl(c->put) : (long double)c->q->bound;
}

/* The unit of the last bit. */
static long double get_unit(const one_case *c, long double value)
{
    int least = c->is_single ? FLT_MIN_EXP - FLT_MANT_DIG : DBL_MIN_EXP - DBL_MANT_DIG, exponent;

    frexpl(value, &exponent);
    return ldexpl(1, exponent - count_mantissa(c) > least ? exponent - count_mantissa(c) : least);
}

static bool is_special(const one_case *c)
{
    return c->value == 0 || !isfinite((double)c->value) || c->value == (long double)fill_single ||
           c->value == (long double)missing_single;
}

/* Whether a multiple of 2^zeros units is within the bound by a little more than the rounding of the kernel. */
static bool can_have(const one_case *c, int zeros)
{
    long double quantum = ldexpl(get_unit(c, c->value), zeros),
                nearest = floorl(fabsl(c->value) / quantum + 0.5L) * quantum,
                lost = c->q->is_converted ? get_unit(c, c->value) / 2 : 0,
                bound = c->q->mode == PNC_RELATIVE_ERROR ? c->q->bound * (fabsl(c->value) - lost) : c->q->bound;

    if (nearest > (c->is_single ? (long double)FLT_MAX : (long double)DBL_MAX))
        return false;
    return fabsl(nearest - fabsl(c->value)) <= (bound - lost) * (1 - 8 * (long double)DBL_EPSILON);
}

static bool has_zeros(const one_case *c, int zeros)
{
    return fmodl(c->result, ldexpl(get_unit(c, c->value), zeros)) == 0;
}

static bool is_kept_value(long double value)
{
    return value == (long double)fill_single || value == (long double)missing_single;
}

static void fail_case(const one_case *c, const char *why)
{
    fail_msg("%s: mode %d, bound %.17g: put %.21Lg, value %.21Lg, result %.21Lg", why, (int)c->q->mode, c->q->bound,
             c->put, c->value, c->result);
}

static void check_case(const one_case *c)
{
    int zeros = count_mantissa(c) - 1;
    double tiny = c->q->bound * fabs((double)c->value);

    if (is_special(c)) {
        if (isnan(c->value) ? !isnan(c->result) : c->value != c->result || signbit(c->value) != signbit(c->result))
            fail_case(c, "a special value has changed");
        return;
    }
    if (c->result != c->value && !(fabsl(c->result - c->put) <= allow(c)))
        fail_case(c, "beyond the bound");
    if (is_kept_value(c->result))
        fail_case(c, "has become a missing value");
    if (c->q->mode == PNC_RELATIVE_ERROR && tiny < 1e-290)
        return;
    if (c->q->mode == PNC_ABSOLUTE_ERROR && fabsl(c->put) < allow(c) * 0.999L && fabsl(c->value) > 1e-30L * allow(c) &&
        c->result != 0 && !c->q->is_converted)
        fail_case(c, "could be 0");
    while (zeros > 0 && !can_have(c, zeros))
        zeros--;
    if (!has_zeros(c, zeros) && c->result != c->value)
        fail_case(c, "could have fewer bits");
    if (c->result == c->value && !has_zeros(c, zeros) && !(fabsl(c->value - (long double)fill_single) <= allow(c)))
        fail_case(c, "could have fewer bits than all");
}

static void check_block(const pnc_quantizer *q, int kind)
{
    bool is_single = q->type == NC_FLOAT;
    float singles[BLOCK], singles_put[BLOCK];
    double doubles[BLOCK], put[BLOCK];

    for (int i = 0; i < BLOCK; i++) {
        put[i] = draw_value(kind, q->bound);
        if (is_single && (!q->is_converted || !isfinite((float)put[i])))
            put[i] = (float)put[i];
        doubles[i] = put[i];
        singles[i] = singles_put[i] = (float)put[i];
    }
    pnc_convert_values_quantize(q, is_single ? (void *)singles : (void *)doubles, BLOCK);
    for (int i = 0; i < BLOCK; i++)
        check_case(&(one_case){q, is_single, put[i], is_single ? (long double)singles_put[i] : (long double)put[i],
                               is_single ? (long double)singles[i] : (long double)doubles[i]});
}

static void keep(pnc_quantizer *q, float value)
{
    double as_double = value;

    memcpy(q->kept[q->nkept++], q->type == NC_FLOAT ? (const void *)&value : (const void *)&as_double,
           q->type == NC_FLOAT ? sizeof value : sizeof as_double);
}

static void check_values(int type, pnc_quantization mode, bool is_converted)
{
    const int64_t blocks = (is_long() ? 170000000 : 200000) / BLOCK;

    for (int64_t i = 0; i < blocks; i++) {
        pnc_quantizer q = {.mode = mode, .type = type, .is_converted = is_converted};

        q.bound = mode == PNC_RELATIVE_ERROR ? pow(10, -8 * draw_fraction() - 0.01) : pow(10, 8 * draw_fraction() - 6);
        if (i % 3 == 0)
            q.bound = mode == PNC_RELATIVE_ERROR ? 1e-4 : 0.01;
        keep(&q, fill_single);
        keep(&q, missing_single);
        check_block(&q, (int)(i % 4));
    }
}

static void test_singles(void **state)
{
    (void)state;
    check_values(NC_FLOAT, PNC_ABSOLUTE_ERROR, false);
    check_values(NC_FLOAT, PNC_RELATIVE_ERROR, false);
}

static void test_doubles(void **state)
{
    (void)state;
    check_values(NC_DOUBLE, PNC_ABSOLUTE_ERROR, false);
    check_values(NC_DOUBLE, PNC_RELATIVE_ERROR, false);
}

/* Of doubles: the bound is for both errors together. */
static void test_converted(void **state)
{
    (void)state;
    check_values(NC_FLOAT, PNC_ABSOLUTE_ERROR, true);
    check_values(NC_FLOAT, PNC_RELATIVE_ERROR, true);
}

/* By hand. */
static void test_known(void **state)
{
    pnc_quantizer q = {.mode = PNC_ABSOLUTE_ERROR, .type = NC_FLOAT, .bound = 0.25};
    float v[] = {1.3F, 0.3F, 0.25F, -0.2F, 3.99F, FLT_MAX, -0.0F, INFINITY, -100.3F, FLT_TRUE_MIN};
    const float expected[] = {1.5F, 0.25F, 0, 0, 4, FLT_MAX, -0.0F, INFINITY, -100.5F, 0};

    (void)state;
    pnc_convert_values_quantize(&q, v, 10);
    for (int i = 0; i < 10; i++)
        assert_true(v[i] == expected[i] && (signbit(v[i]) != 0) == (signbit(expected[i]) != 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_singles),
                                       cmocka_unit_test(test_doubles), cmocka_unit_test(test_converted)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
