/* Numbers of documents. */
#include "formats/zarr/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format/real.h"

/* --- base64 --- */

static const char digits64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void pnc_zarr_base64_encode(const void *bytes, int n, char *text)
{
    const unsigned char *in = bytes;

    for (int i = 0; i < n; i += 3) {
        int left = n - i < 3 ? n - i : 3;
        uint32_t word = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) | (left > 2 ? in[i + 2] : 0);

        for (int k = 0; k < 4; k++)
            *text++ = k <= left ? digits64[word >> (18 - 6 * k) & 63] : '=';
    }
    *text = '\0';
}

bool pnc_zarr_base64_decode(const char *text, int n, void *bytes)
{
    unsigned char *out = bytes;

    if (strlen(text) != (size_t)((n + 2) / 3 * 4))
        return false;
    for (int i = 0; i < n; i += 3) {
        int left = n - i < 3 ? n - i : 3;
        uint32_t word = 0;

        for (int k = 0; k < 4; k++, text++) {
            const char *digit = *text != '\0' ? strchr(digits64, *text) : NULL;

            if (k <= left ? digit == NULL : *text != '=')
                return false;
            word = word << 6 | (k <= left ? (uint32_t)(digit - digits64) : 0);
        }
        for (int k = 0; k < left; k++)
            *out++ = (unsigned char)(word >> (16 - 8 * k));
    }
    return true;
}

/* --- numbers to JSON --- */

/* printf writes the point of the program's locale, which may have several bytes. */
static void set_point(char *text)
{
    bool was_digit = true;
    char *to = text;

    for (const char *at = text; *at != '\0'; at++) {
        bool is_digit = strchr("0123456789+-e", *at) != NULL;

        if (is_digit || was_digit)
            *to++ = is_digit ? *at : '.';
        was_digit = is_digit;
    }
    *to = '\0';
}

static void *make_json_real(const pnc_zarr_context *c, double number)
{
    char text[PNC_REAL_TEXT + 2];

    if (isnan(number))
        return c->json->new_string("NaN", 3);
    if (isinf(number))
        return number > 0 ? c->json->new_string("Infinity", 8) : c->json->new_string("-Infinity", 9);
    pnc_format_real_print(NC_DOUBLE, number, text);
    set_point(text);
    if (strpbrk(text, ".e") == NULL) /* else readers take it for an integer */
        strcat(text, ".0");
    return c->json->new_double(number, text);
}

/* The bits of a NaN that is not the usual one. False: it is, or is no NaN. */
static bool print_bits(int type, const void *number, char *text, size_t capacity)
{
    uint64_t bits = 0;
    uint32_t word;
    double value;
    float single;

    if (type == NC_FLOAT) {
        memcpy(&word, number, sizeof word);
        memcpy(&single, number, sizeof single);
        snprintf(text, capacity, "0x%08" PRIx32, word);
        return isnan(single) && word != UINT32_C(0x7FC00000);
    }
    memcpy(&bits, number, sizeof bits);
    memcpy(&value, number, sizeof value);
    snprintf(text, capacity, "0x%016" PRIx64, bits);
    return isnan(value) && bits != UINT64_C(0x7FF8000000000000);
}

/* An integer of a type other than NC_UINT64. */
static int64_t load_integer(int type, const void *number)
{
    int64_t wide;
    uint32_t word;
    int32_t half;
    uint16_t small;
    int16_t quarter;

    switch (type) {
    case NC_BYTE: return *(const signed char *)number;
    case NC_SHORT: memcpy(&quarter, number, sizeof quarter); return quarter;
    case NC_USHORT: memcpy(&small, number, sizeof small); return small;
    case NC_INT: memcpy(&half, number, sizeof half); return half;
    case NC_UINT: memcpy(&word, number, sizeof word); return word;
    case NC_INT64: memcpy(&wide, number, sizeof wide); return wide;
    default: return *(const unsigned char *)number;
    }
}

void *pnc_zarr_number_make(const pnc_zarr_context *c, int type, const void *number, bool is_exact)
{
    char bits[24];
    uint64_t wide;
    double value;
    float single;

    if (type == NC_UINT64) {
        memcpy(&wide, number, sizeof wide);
        return c->json->new_uint64(wide);
    }
    if (type != NC_FLOAT && type != NC_DOUBLE)
        return c->json->new_int64(load_integer(type, number));
    if (is_exact && print_bits(type, number, bits, sizeof bits))
        return c->json->new_string(bits, (int)strlen(bits));
    if (type == NC_DOUBLE)
        memcpy(&value, number, sizeof value);
    else
        memcpy(&single, number, sizeof single);
    return make_json_real(c, type == NC_DOUBLE ? value : (double)single);
}

/* --- numbers from JSON --- */

static void store_real(int type, double value, void *out)
{
    float single = type == NC_FLOAT ? (float)value : 0;

    if (type == NC_FLOAT)
        memcpy(out, &single, sizeof single);
    else
        memcpy(out, &value, sizeof value);
}

static bool read_bits(int type, const char *text, void *out)
{
    size_t n = pnc_type_get_size(type);
    uint64_t bits = 0;
    uint32_t word;

    if (strlen(text) != 2 + 2 * n || strspn(text + 2, "0123456789abcdefABCDEF") != 2 * n ||
        sscanf(text + 2, "%16" SCNx64, &bits) != 1)
        return false;
    word = (uint32_t)bits;
    if (type == NC_FLOAT)
        memcpy(out, &word, sizeof word);
    else
        memcpy(out, &bits, sizeof bits);
    return true;
}

static bool read_real_text(const pnc_zarr_context *c, int type, void *value, void *out)
{
    const char *text = pnc_zarr_text_get(c, value);

    if (text == NULL)
        return false;
    if (strcmp(text, "NaN") == 0)
        return read_bits(type, type == NC_FLOAT ? "0x7fc00000" : "0x7ff8000000000000", out);
    if (strcmp(text, "Infinity") == 0)
        store_real(type, INFINITY, out);
    else if (strcmp(text, "-Infinity") == 0)
        store_real(type, -INFINITY, out);
    else
        return strncmp(text, "0x", 2) == 0 && read_bits(type, text, out);
    return true;
}

static bool read_json_real(const pnc_zarr_context *c, int type, void *value, void *out)
{
    double number;

    if (!pnc_zarr_value_is(c, value, PNC_JSON_DOUBLE) && !pnc_zarr_value_is(c, value, PNC_JSON_INT))
        return read_real_text(c, type, value, out);
    number = c->json->get_double(value);
    if (pnc_zarr_value_is(c, value, PNC_JSON_INT) && c->json->get_int64(value) < 0)
        number = (double)c->json->get_int64(value);
    if (type == NC_FLOAT && isfinite(number) && !isfinite((float)number))
        return false;
    store_real(type, number, out);
    return true;
}

static void store_integer(int type, int64_t number, void *out)
{
    int32_t word = (int32_t)number;
    int16_t half = (int16_t)number;
    signed char byte = (signed char)number;

    switch (pnc_type_get_size(type)) {
    case 1: memcpy(out, &byte, sizeof byte); break;
    case 2: memcpy(out, &half, sizeof half); break;
    case 4: memcpy(out, &word, sizeof word); break;
    default: memcpy(out, &number, sizeof number);
    }
}

/* Integers that a type has; those of NC_UINT64 above INT64_MAX apart. */
static bool has_integer(int type, int64_t number)
{
    static const struct {
        int64_t least, most;
    } ranges[] = {
        [NC_BYTE] = {INT8_MIN, INT8_MAX},    [NC_UBYTE] = {0, UINT8_MAX},       [NC_SHORT] = {INT16_MIN, INT16_MAX},
        [NC_USHORT] = {0, UINT16_MAX},       [NC_INT] = {INT32_MIN, INT32_MAX}, [NC_UINT] = {0, UINT32_MAX},
        [NC_INT64] = {INT64_MIN, INT64_MAX}, [NC_UINT64] = {0, INT64_MAX}};

    return number >= ranges[type].least && number <= ranges[type].most;
}

bool pnc_zarr_number_read(const pnc_zarr_context *c, int type, void *value, void *out)
{
    double real;
    uint64_t wide;
    int64_t number;

    if (type == NC_FLOAT || type == NC_DOUBLE)
        return read_json_real(c, type, value, out);
    if (type == NC_CHAR)
        return false;
    if (pnc_zarr_value_is(c, value, PNC_JSON_DOUBLE)) {
        real = c->json->get_double(value);
        if (!(real >= -9.2e18 && real <= 9.2e18) || real != floor(real)) /* what int64_t surely has */
            return false;
        number = (int64_t)real;
    } else if (pnc_zarr_value_is(c, value, PNC_JSON_INT)) {
        number = c->json->get_int64(value);
        wide = c->json->get_uint64(value);
        if (type == NC_UINT64 && number >= 0 && wide > INT64_MAX) {
            memcpy(out, &wide, sizeof wide);
            return true;
        }
        if (number >= 0 && wide > INT64_MAX)
            return false;
    } else {
        return false;
    }
    if (!has_integer(type, number))
        return false;
    store_integer(type, number, out);
    return true;
}
