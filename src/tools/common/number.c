/* Numbers in CDL. */
#include "tools/common/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cdl_type types[] = {
    {NC_BYTE, CDL_SIGNED, 1, "byte", "b"},         {NC_CHAR, CDL_TEXT, 1, "char", ""},
    {NC_SHORT, CDL_SIGNED, 2, "short", "s"},       {NC_INT, CDL_SIGNED, 4, "int", ""},
    {NC_FLOAT, CDL_REAL, 4, "float", "f"},         {NC_DOUBLE, CDL_REAL, 8, "double", ""},
    {NC_UBYTE, CDL_UNSIGNED, 1, "ubyte", "UB"},    {NC_USHORT, CDL_UNSIGNED, 2, "ushort", "US"},
    {NC_UINT, CDL_UNSIGNED, 4, "uint", "U"},       {NC_INT64, CDL_SIGNED, 8, "int64", "LL"},
    {NC_UINT64, CDL_UNSIGNED, 8, "uint64", "ULL"}, {NC_STRING, CDL_STRING, sizeof(char *), "string", ""},
    {NC_VLEN, CDL_OTHER, 0, "vlen", ""},           {NC_OPAQUE, CDL_OTHER, 0, "opaque", ""},
    {NC_ENUM, CDL_OTHER, 0, "enum", ""},           {NC_COMPOUND, CDL_OTHER, 0, "compound", ""},
};

const cdl_type *tool_cdl_type_find(int code)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].code == code)
            return &types[i];
    return NULL;
}

#define LOAD(ctype, member)              \
    do {                                 \
        ctype x;                         \
        memcpy(&x, memory, sizeof x);    \
        return (cdl_value){.member = x}; \
    } while (0)

cdl_value tool_cdl_value_load(const cdl_type *type, const void *memory)
{
    switch (type->code) {
    case NC_BYTE: LOAD(signed char, i);
    case NC_SHORT: LOAD(short, i);
    case NC_INT: LOAD(int, i);
    case NC_INT64: LOAD(long long, i);
    case NC_FLOAT: LOAD(float, r);
    case NC_DOUBLE: LOAD(double, r);
    case NC_USHORT: LOAD(unsigned short, u);
    case NC_UINT: LOAD(unsigned, u);
    case NC_UINT64: LOAD(unsigned long long, u);
    case NC_CHAR: LOAD(char, i);
    default: LOAD(unsigned char, u);
    }
}

void tool_cdl_format_set_default(const cdl_type *type, int digits, cdl_format *format)
{
    if (type->class == CDL_REAL) {
        snprintf(format->text, sizeof format->text, "%%.%dg", digits);
        format->conversion = 'g';
    } else {
        format->conversion = type->class == CDL_UNSIGNED ? 'u' : 'd';
        snprintf(format->text, sizeof format->text, "%%ll%c", format->conversion);
    }
}

/* Copies the conversion after a '%', with the length modifier of our arguments. Returns the number of characters read,
 * 0 for an unsupported conversion. */
static size_t copy_conversion(const cdl_type *type, const char *text, char *out, char *conversion)
{
    const char *letters = type->class == CDL_REAL ? "eEfFgGaA" : "diouxX";
    size_t flags = strspn(text, "-+ #0");
    size_t width = strspn(text + flags, "0123456789");
    size_t length = flags + width;
    size_t precision = 0;
    if (text[length] == '.') {
        precision = strspn(text + length + 1, "0123456789");
        length += 1 + precision;
    }
    size_t modifier = strspn(text + length, "hlLqjzt");
    char letter = text[length + modifier];
    /* widths above 9999 exceed the buffer, and might overflow the count of printf */
    if (flags > 8 || width > 4 || precision > 4 || letter == '\0' || strchr(letters, letter) == NULL)
        return 0;
    memcpy(out, text, length);
    sprintf(out + length, "%s%c", type->class == CDL_REAL ? "" : "ll", letter);
    *conversion = letter;
    return length + modifier + 1;
}

bool tool_cdl_format_set_custom(const cdl_type *type, const char *text, cdl_format *format)
{
    cdl_format made = {.conversion = '\0'};
    size_t used = 0;
    if (*text == '\0')
        return false;
    while (*text) {
        if (used + 32 > sizeof made.text) /* a conversion takes at most 8 + 4 + 1 + 4 + 3 characters */
            return false;
        made.text[used++] = *text;
        if (*text++ != '%')
            continue;
        if (*text == '%') {
            made.text[used++] = *text++;
            continue;
        }
        size_t read = made.conversion ? 0 : copy_conversion(type, text, made.text + used, &made.conversion);
        if (read == 0)
            return false;
        text += read;
        used += strlen(made.text + used);
    }
    *format = made;
    return true;
}

/* The two functions above check the formats against the arguments; the compiler cannot. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void print_integer(const cdl_type *type, const cdl_format *format, cdl_value value, char out[CDL_NUMBER_SIZE])
{
    /* C promotes small types to int: this affects negative numbers in hexadecimal and unsigned numbers with %d. */
    bool small = type->size <= sizeof(int);
    unsigned long long u = type->class == CDL_UNSIGNED ? value.u : (unsigned long long)value.i;
    if (format->conversion == 'd' || format->conversion == 'i')
        snprintf(out, CDL_NUMBER_SIZE, format->text, small ? (long long)(int)u : (long long)u);
    else
        snprintf(out, CDL_NUMBER_SIZE, format->text, small ? (unsigned long long)(unsigned)u : u);
}

void tool_cdl_number_print(const cdl_type *type, const cdl_format *format, cdl_value value, char out[CDL_NUMBER_SIZE])
{
    if (type->class != CDL_REAL)
        print_integer(type, format, value, out);
    else if (isnan(value.r))
        snprintf(out, CDL_NUMBER_SIZE, "NaN%s", type->suffix);
    else if (isinf(value.r))
        snprintf(out, CDL_NUMBER_SIZE, "%sInfinity%s", value.r < 0 ? "-" : "", type->suffix);
    else
        snprintf(out, CDL_NUMBER_SIZE, format->text, value.r);
}
#pragma GCC diagnostic pop

void tool_cdl_number_print_typed(const cdl_type *type, const cdl_format *format, cdl_value value,
                                 char out[CDL_NUMBER_SIZE])
{
    tool_cdl_number_print(type, format, value, out);
    size_t length = strlen(out);
    if (type->class == CDL_REAL) {
        if (!isfinite(value.r))
            return;
        if (memchr(out, '.', length) == NULL) {
            size_t mantissa = strcspn(out, "e");
            memmove(out + mantissa + 1, out + mantissa, length - mantissa + 1);
            out[mantissa] = '.';
            length++;
        }
    }
    strcpy(out + length, type->suffix);
}

bool tool_cdl_fill_get_default(const cdl_type *type, cdl_value *fill)
{
    switch (type->code) {
    case NC_CHAR: fill->i = NC_FILL_CHAR; return true; /* used if characters are printed as numbers */
    case NC_SHORT: fill->i = NC_FILL_SHORT; return true;
    case NC_INT: fill->i = NC_FILL_INT; return true;
    case NC_INT64: fill->i = NC_FILL_INT64; return true;
    case NC_USHORT: fill->u = NC_FILL_USHORT; return true;
    case NC_UINT: fill->u = NC_FILL_UINT; return true;
    case NC_UINT64: fill->u = NC_FILL_UINT64; return true;
    case NC_FLOAT: fill->r = NC_FILL_FLOAT; return true;
    case NC_DOUBLE: fill->r = NC_FILL_DOUBLE; return true;
    default: return false;
    }
}

static bool near_float(float value, float fill)
{
    return fabsf(value - fill) <= fabsf(FLT_EPSILON * value);
}

static bool near_double(double value, double fill)
{
    return fabs(value - fill) <= fabs(DBL_EPSILON * value);
}

bool tool_cdl_value_is_fill(const cdl_type *type, cdl_value value, cdl_value fill)
{
    if (type->class == CDL_SIGNED || type->class == CDL_TEXT)
        return value.i == fill.i;
    if (type->class == CDL_UNSIGNED)
        return value.u == fill.u;
    if (isnan(value.r) || isnan(fill.r))
        return isnan(value.r) && isnan(fill.r);
    if (isinf(value.r) || isinf(fill.r))
        return value.r == fill.r;
    return type->code == NC_FLOAT ? near_float((float)value.r, (float)fill.r) : near_double(value.r, fill.r);
}
