/* Values in CDL: decode numbers and escape sequences, and encode numbers as external bytes. */
#include "format/cdl_reader.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/types.h"
#include "format/entries.h"

#define NUMBER_SIZE 512 /* longer than any number that programs write */

/* The token that contains the number. */
typedef struct cdl_token {
    pnc_cdl_reader *reader;
    pnc_cdl_position at;
} cdl_token;

static int fail_malformed(const cdl_token *token)
{
    return pnc_format_cdl_fail_expected(token->reader, token->at, "a number");
}

static int fail_out_of_range(const cdl_token *token, int type)
{
    return pnc_format_cdl_fail(token->reader, token->at, NC_ERANGE, "%s does not fit type %s", token->reader->shown,
                               pnc_type_get_name(type));
}

/* The type of a suffix. "l" means int, because CDL is older than longs of 8 bytes. */
static int type_of_suffix(const char *suffix)
{
    static const struct {
        const char *text;
        int type;
    } rows[] = {
        {"b", NC_BYTE}, {"ub", NC_UBYTE}, {"s", NC_SHORT},  {"us", NC_USHORT},  {"l", NC_INT},
        {"u", NC_UINT}, {"ul", NC_UINT},  {"ll", NC_INT64}, {"ull", NC_UINT64},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcasecmp(suffix, rows[i].text) == 0)
            return rows[i].type;
    return 0;
}

static bool fits_type(int type, bool negative, uint64_t magnitude)
{
    unsigned bits = 8 * (unsigned)pnc_type_get_size(type);

    if (type == NC_UBYTE || type == NC_USHORT || type == NC_UINT || type == NC_UINT64)
        return magnitude <= UINT64_MAX >> (64 - bits) && (!negative || magnitude == 0);
    return magnitude <= (UINT64_MAX >> (65 - bits)) + negative;
}

static int read_integer(const cdl_token *token, const char *digits, pnc_cdl_number *out)
{
    static const int growing[] = {NC_INT, NC_UINT, NC_INT64, NC_UINT64};
    char *suffix;

    errno = 0;
    out->value.magnitude = strtoull(digits, &suffix, 0);
    out->type = out->negative ? NC_INT64 : NC_UINT64;
    if (*suffix != '\0')
        out->type = type_of_suffix(suffix);
    if (out->type == 0)
        return fail_malformed(token);
    if (errno == ERANGE)
        return fail_out_of_range(token, out->type);
    for (int i = 0; *suffix == '\0' && i < 4; i++) {
        if (fits_type(growing[i], out->negative, out->value.magnitude)) {
            out->type = growing[i];
            return NC_NOERR;
        }
    }
    return fits_type(out->type, out->negative, out->value.magnitude) ? NC_NOERR : fail_out_of_range(token, out->type);
}

/* The factor by which a text may exceed the largest number of its type: the tools print the largest double as
 * "1.79769313486232e+308", or as "1.80e+308" with three digits. */
#define ROUNDED_UP 1.0015

static bool is_largest_double(const char *text)
{
    const char *exponent = strpbrk(text, "eE");
    char tenth[NUMBER_SIZE + 32];

    if (exponent == NULL)
        return false;
    snprintf(tenth, sizeof tenth, "%.*se%ld", (int)(exponent - text), text, strtol(exponent + 1, NULL, 10) - 1);
    return fabs(strtod(tenth, NULL)) <= DBL_MAX / 10 * ROUNDED_UP;
}

/* One letter may follow: f for float; d for double, which is also the default. */
static int read_real(const cdl_token *token, const char *text, pnc_cdl_number *out)
{
    char *suffix;
    double value = strtod(text, &suffix);

    if (isinf(value) && is_largest_double(text))
        value = copysign(DBL_MAX, value);
    out->real = true;
    out->value.real = value;
    out->single = strtof(text, NULL);
    if (isinf(out->single) && fabs(value) <= (double)FLT_MAX * ROUNDED_UP)
        out->single = copysignf(FLT_MAX, out->single);
    out->type = *suffix == 'f' || *suffix == 'F' ? NC_FLOAT : NC_DOUBLE;
    if (suffix == text || (*suffix != '\0' && (strchr("fFdD", *suffix) == NULL || suffix[1] != '\0')))
        return fail_malformed(token);
    if (out->type == NC_FLOAT ? isinf(out->single) : isinf(value))
        return fail_out_of_range(token, out->type);
    return NC_NOERR;
}

/* NaN and Infinity, with f for a float. */
static int read_special(const cdl_token *token, const char *name, pnc_cdl_number *out)
{
    static const struct {
        const char *text;
        float value;
    } rows[] = {
        {"nan", NAN},
        {"infinity", INFINITY},
        {"inf", INFINITY},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].text);
        if (strncasecmp(name, rows[i].text, n) != 0 || (name[n] != '\0' && strcasecmp(name + n, "f") != 0))
            continue;
        out->real = true;
        out->single = out->negative ? -rows[i].value : rows[i].value;
        out->value.real = (double)out->single;
        out->type = name[n] == '\0' ? NC_DOUBLE : NC_FLOAT;
        return NC_NOERR;
    }
    return fail_malformed(token);
}

int pnc_format_cdl_number_scan(pnc_cdl_reader *reader, pnc_cdl_position at, const char *text, int64_t n,
                               pnc_cdl_number *out)
{
    const cdl_token token = {reader, at};
    char copy[NUMBER_SIZE];
    const char *digits = copy;
    size_t leading;

    memset(out, 0, sizeof *out);
    if (n >= NUMBER_SIZE)
        return pnc_format_cdl_fail(reader, at, NC_ENOTNC, "a number has more than %d characters", NUMBER_SIZE - 1);
    memcpy(copy, text, (size_t)n);
    copy[n] = '\0';
    out->negative = copy[0] == '-';
    digits += copy[0] == '-' || copy[0] == '+';
    leading = strspn(digits, "0123456789");
    if (leading == 0 && digits[0] != '.')
        return read_special(&token, digits, out);
    if (digits[leading] != '\0' && strchr(".eEfFdD", digits[leading]) != NULL)
        return read_real(&token, copy, out);
    return read_integer(&token, digits, out); /* also 0x..., because x is not one of those letters */
}

/* Returns false for a real number that is not an integer, or exceeds all types. */
static bool to_integer(const pnc_cdl_number *number, bool *negative, uint64_t *magnitude)
{
    double size;

    *negative = number->negative;
    if (!number->real) {
        *magnitude = number->value.magnitude;
        return true;
    }
    size = fabs(number->value.real);
    if (!(size < 18446744073709551616.0)) /* 2^64; false for NaN too */
        return false;
    *magnitude = (uint64_t)size;
    *negative = number->value.real < 0;
    return (double)*magnitude == size;
}

static double to_double(const pnc_cdl_number *number)
{
    if (number->real)
        return number->value.real;
    return number->negative ? -(double)number->value.magnitude : (double)number->value.magnitude;
}

/* A conversion to double and then to float would round twice. */
static float to_float(const pnc_cdl_number *number)
{
    if (number->real)
        return number->single;
    return number->negative ? -(float)number->value.magnitude : (float)number->value.magnitude;
}

bool pnc_format_cdl_number_encode(const pnc_cdl_number *number, int type, void *out)
{
    double value = to_double(number);
    float single = to_float(number);
    unsigned char bytes[8];
    uint64_t magnitude;
    bool negative;

    if (type == NC_DOUBLE) {
        pnc_format_value_encode(&value, sizeof value, out);
        return true;
    }
    if (type == NC_FLOAT) {
        pnc_format_value_encode(&single, sizeof single, out);
        return !isinf(single) || isinf(value);
    }
    if (!to_integer(number, &negative, &magnitude) || !fits_type(type, negative, magnitude))
        return false;
    if (negative) /* two's complement; the type uses the low bytes */
        magnitude = 0 - magnitude;
    pnc_format_value_encode(&magnitude, sizeof magnitude, bytes);
    memcpy(out, bytes + sizeof bytes - pnc_type_get_size(type), pnc_type_get_size(type));
    return true;
}

int pnc_format_cdl_number_store(pnc_cdl_reader *reader, pnc_cdl_position at, const pnc_cdl_number *number, int type,
                                void *out)
{
    const char *name = pnc_type_get_name(type);

    if (pnc_format_cdl_number_encode(number, type, out))
        return NC_NOERR;
    if (number->real)
        return pnc_format_cdl_fail(reader, at, NC_ERANGE, "%.15g does not fit type %s", number->value.real, name);
    return pnc_format_cdl_fail(reader, at, NC_ERANGE, "%s%" PRIu64 " does not fit type %s", number->negative ? "-" : "",
                               number->value.magnitude, name);
}

void pnc_format_cdl_number_set_byte(char c, pnc_cdl_number *out)
{
    memset(out, 0, sizeof *out);
    out->type = NC_BYTE;
    out->negative = (signed char)c < 0;
    out->value.magnitude = (uint64_t)abs((signed char)c);
}

int pnc_format_cdl_type_join(int a, int b)
{
    static const unsigned char rank[] = {
        [NC_BYTE] = 1, [NC_UBYTE] = 2, [NC_SHORT] = 3,  [NC_USHORT] = 4, [NC_INT] = 5,
        [NC_UINT] = 6, [NC_INT64] = 7, [NC_UINT64] = 8, [NC_FLOAT] = 9,  [NC_DOUBLE] = 10,
    };

    assert(rank[a] > 0 && rank[b] > 0);
    return rank[a] > rank[b] ? a : b;
}

/* --- texts --- */

int pnc_format_cdl_escape_decode(pnc_cdl_reader *reader, pnc_cdl_position at, const char *text, int64_t n, char *out)
{
    static const char letters[] = "a\ab\bf\fn\nr\rt\tv\v";
    char digits[4] = "";
    unsigned long value;

    memcpy(digits, text, n < 3 ? (size_t)n : 3);
    if (digits[0] >= '0' && digits[0] <= '7') {
        value = strtoul(digits, NULL, 8);
        if (value > 0xff)
            return pnc_format_cdl_fail(reader, at, NC_ERANGE, "octal escape \\%lo is beyond \\377", value);
        *out = (char)value;
    } else if (digits[0] == 'x') {
        if (n < 2)
            return pnc_format_cdl_fail(reader, at, NC_ENOTNC, "no hexadecimal digit follows \\x");
        *out = (char)strtoul(digits + 1, NULL, 16);
    } else {
        *out = text[0];
        for (size_t i = 0; i + 1 < sizeof letters; i += 2)
            if (text[0] == letters[i])
                *out = letters[i + 1];
    }
    return NC_NOERR;
}
