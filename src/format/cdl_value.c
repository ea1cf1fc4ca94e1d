/* Numbers of CDL: what their text means, and their external bytes. */
#include "format/cdl_parts.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/types.h"
#include "format/parts.h"

#define NUMBER_ROOM 512 /* more than anybody writes */

static int malformed(const pnc_cdl_scan *scan)
{
    return pnc_cdl_expected(scan, "a number");
}

static int out_of_range(const pnc_cdl_scan *scan, int type)
{
    int64_t n = scan->end - scan->begin;

    return pnc_cdl_fail(scan, scan->begin, NC_ERANGE, "%.*s%s does not fit type %s", n > 40 ? 40 : (int)n,
                        scan->text + scan->begin, n > 40 ? "..." : "", pnc_type_name(type));
}

/* Letters after the digits. CDL's "l" is as old as the 4-byte long: an int. */
static int type_of_suffix(const char *suffix)
{
    static const struct { const char *text; int type; } rows[] = {
        {"b", NC_BYTE}, {"ub", NC_UBYTE}, {"s", NC_SHORT},  {"us", NC_USHORT},  {"l", NC_INT},
        {"u", NC_UINT}, {"ul", NC_UINT},  {"ll", NC_INT64}, {"ull", NC_UINT64},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcasecmp(suffix, rows[i].text) == 0)
            return rows[i].type;
    return 0;
}

static bool fits(int type, bool negative, uint64_t magnitude)
{
    unsigned bits = 8 * (unsigned)pnc_type_size(type);

    if (type == NC_UBYTE || type == NC_USHORT || type == NC_UINT || type == NC_UINT64)
        return magnitude <= UINT64_MAX >> (64 - bits) && (!negative || magnitude == 0);
    return magnitude <= (UINT64_MAX >> (65 - bits)) + negative;
}

static int read_integer(const pnc_cdl_scan *scan, const char *digits, pnc_cdl_number *out)
{
    static const int growing[] = {NC_INT, NC_UINT, NC_INT64, NC_UINT64};
    char *suffix;

    errno = 0;
    out->magnitude = strtoull(digits, &suffix, 0);
    out->type = *suffix != '\0' ? type_of_suffix(suffix) : out->negative ? NC_INT64 : NC_UINT64;
    if (out->type == 0)
        return malformed(scan);
    if (errno == ERANGE)
        return out_of_range(scan, out->type);
    for (int i = 0; *suffix == '\0' && i < 4; i++) {
        if (fits(growing[i], out->negative, out->magnitude)) {
            out->type = growing[i];
            return NC_NOERR;
        }
    }
    return fits(out->type, out->negative, out->magnitude) ? NC_NOERR : out_of_range(scan, out->type);
}

/* How far beyond the largest number of a type its text may be: "1.79769313486232e+308" is what the tools make of the
 * largest double, and "1.80e+308" where three digits are asked for. */
#define ROUNDED_UP 1.0015

static bool is_largest_double(const char *text)
{
    const char *exponent = strpbrk(text, "eE");
    char tenth[NUMBER_ROOM + 32];

    if (exponent == NULL)
        return false;
    snprintf(tenth, sizeof tenth, "%.*se%ld", (int)(exponent - text), text, strtol(exponent + 1, NULL, 10) - 1);
    return fabs(strtod(tenth, NULL)) <= DBL_MAX / 10 * ROUNDED_UP;
}

/* One letter may follow: f makes a float; d says double, as no letter does. */
static int read_real(const pnc_cdl_scan *scan, const char *text, pnc_cdl_number *out)
{
    char *suffix;

    out->real = true;
    out->value = strtod(text, &suffix);
    out->single = strtof(text, NULL);
    if (isinf(out->value) && is_largest_double(text))
        out->value = copysign(DBL_MAX, out->value);
    if (isinf(out->single) && fabs(out->value) <= (double)FLT_MAX * ROUNDED_UP)
        out->single = copysignf(FLT_MAX, out->single);
    out->type = *suffix == 'f' || *suffix == 'F' ? NC_FLOAT : NC_DOUBLE;
    if (suffix == text || (*suffix != '\0' && (strchr("fFdD", *suffix) == NULL || suffix[1] != '\0')))
        return malformed(scan);
    if (out->type == NC_FLOAT ? isinf(out->single) : isinf(out->value))
        return out_of_range(scan, out->type);
    return NC_NOERR;
}

/* NaN and Infinity, with f for a float. */
static int read_special(const pnc_cdl_scan *scan, const char *name, pnc_cdl_number *out)
{
    static const struct { const char *text; float value; } rows[] = {
        {"nan", NAN}, {"infinity", INFINITY}, {"inf", INFINITY},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].text);
        if (strncasecmp(name, rows[i].text, n) != 0 || (name[n] != '\0' && strcasecmp(name + n, "f") != 0))
            continue;
        out->real = true;
        out->single = out->negative ? -rows[i].value : rows[i].value;
        out->value = (double)out->single;
        out->type = name[n] == '\0' ? NC_DOUBLE : NC_FLOAT;
        return NC_NOERR;
    }
    return malformed(scan);
}

/* The old form of a byte. */
static int read_character(const pnc_cdl_scan *scan, pnc_cdl_number *out)
{
    int64_t n;
    int code = pnc_cdl_text(scan, NULL, &n);
    char c = 0;

    if (code != NC_NOERR)
        return code;
    if (n != 1)
        return pnc_cdl_fail(scan, scan->begin, NC_ENOTNC, "single quotes hold one character: use \" for a text");
    pnc_cdl_text(scan, &c, &n);
    out->type = NC_BYTE;
    out->negative = (signed char)c < 0;
    out->magnitude = (uint64_t)abs((signed char)c);
    return NC_NOERR;
}

int pnc_cdl_number_read(const pnc_cdl_scan *scan, pnc_cdl_number *out)
{
    char text[NUMBER_ROOM];
    const char *digits = text;
    int64_t n = scan->end - scan->begin;
    size_t leading;

    memset(out, 0, sizeof *out);
    if (scan->kind == PNC_CDL_CHARACTER)
        return read_character(scan, out);
    if (scan->kind != PNC_CDL_NUMBER && scan->kind != PNC_CDL_NAME)
        return pnc_cdl_expected(scan, "a value");
    if (n >= NUMBER_ROOM)
        return pnc_cdl_fail(scan, scan->begin, NC_ENOTNC, "a number has more than %d characters", NUMBER_ROOM - 1);
    memcpy(text, scan->text + scan->begin, (size_t)n);
    text[n] = '\0';
    out->negative = text[0] == '-';
    digits += text[0] == '-' || text[0] == '+';
    leading = strspn(digits, "0123456789");
    if (leading == 0 && digits[0] != '.')
        return read_special(scan, digits, out);
    if (digits[leading] != '\0' && strchr(".eEfFdD", digits[leading]) != NULL)
        return read_real(scan, text, out);
    return read_integer(scan, digits, out); /* also 0x..., whose x is none of those letters */
}

/* False for a real number that is no integer, or beyond all types. */
static bool to_integer(const pnc_cdl_number *number, bool *negative, uint64_t *magnitude)
{
    double size = fabs(number->value);

    *negative = number->negative;
    *magnitude = number->magnitude;
    if (!number->real)
        return true;
    if (!(size < 18446744073709551616.0)) /* 2^64; false for NaN too */
        return false;
    *magnitude = (uint64_t)size;
    *negative = number->value < 0;
    return (double)*magnitude == size;
}

static double to_double(const pnc_cdl_number *number)
{
    if (number->real)
        return number->value;
    return number->negative ? -(double)number->magnitude : (double)number->magnitude;
}

/* Not by way of a double, which would round twice. */
static float to_float(const pnc_cdl_number *number)
{
    if (number->real)
        return number->single;
    return number->negative ? -(float)number->magnitude : (float)number->magnitude;
}

int pnc_cdl_number_store(const pnc_cdl_scan *scan, const pnc_cdl_number *number, int type, void *out)
{
    double value = to_double(number);
    float single = to_float(number);
    unsigned char bytes[8];
    uint64_t magnitude;
    bool negative;

    if (type == NC_DOUBLE) {
        pnc_parts_store(&value, sizeof value, out);
        return NC_NOERR;
    }
    if (type == NC_FLOAT) {
        if (isinf(single) && !isinf(value))
            return out_of_range(scan, type);
        pnc_parts_store(&single, sizeof single, out);
        return NC_NOERR;
    }
    if (!to_integer(number, &negative, &magnitude) || !fits(type, negative, magnitude))
        return out_of_range(scan, type);
    if (negative) /* two's complement, of which the type takes the low bytes */
        magnitude = 0 - magnitude;
    pnc_parts_store(&magnitude, sizeof magnitude, bytes);
    memcpy(out, bytes + sizeof bytes - pnc_type_size(type), pnc_type_size(type));
    return NC_NOERR;
}

int pnc_cdl_number_join(int a, int b)
{
    static const unsigned char rank[] = {
        [NC_BYTE] = 1, [NC_UBYTE] = 2, [NC_SHORT] = 3, [NC_USHORT] = 4, [NC_INT] = 5,
        [NC_UINT] = 6, [NC_INT64] = 7, [NC_UINT64] = 8, [NC_FLOAT] = 9, [NC_DOUBLE] = 10,
    };

    return rank[a] > rank[b] ? a : b;
}
