/* Numbers in CDL: the eleven external types, their suffixes, digits and fill values. */
#ifndef PNC_TOOLS_COMMON_NUMBER_H
#define PNC_TOOLS_COMMON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "format/real.h"

/* CDL_STRING: of netCDF-4. CDL_OTHER: types that programs define, which this library does not read. */
typedef enum cdl_class { CDL_TEXT, CDL_SIGNED, CDL_UNSIGNED, CDL_REAL, CDL_STRING, CDL_OTHER } cdl_class;

typedef struct cdl_type {
    int code; /* NC_BYTE ... */
    cdl_class class;
    size_t size; /* of a string: of the pointer to it */
    const char *name;
    const char *suffix; /* of numbers in attributes, where only the suffix gives the type */
} cdl_type;

/* One number in memory; its class selects the member. */
typedef union cdl_value {
    long long i;
    unsigned long long u;
    double r;
} cdl_value;

enum {
    CDL_NUMBER_SIZE = 100, /* capacity for one number with its null character; longer text is cut, as in ncdump */
    CDL_FORMAT_SIZE = 256
};

/* A printf format that was checked against its type, see tool_cdl_format_set_default and tool_cdl_format_set_custom. */
typedef struct cdl_format {
    char text[CDL_FORMAT_SIZE];
    char conversion; /* its letter, or '\0' for a text without one */
} cdl_format;

/* NULL for an unknown code. */
const cdl_type *tool_cdl_type_find(int code);

cdl_value tool_cdl_value_load(const cdl_type *type, const void *memory);

/* digits: significant digits of floating point types; ignored for other types. */
void tool_cdl_format_set_default(const cdl_type *type, int digits, cdl_format *format);

/* Use a C_format attribute. Returns false, and leaves format unchanged, unless it has at most one conversion and that
 * one is valid for the type: the text comes from a file and must not reach printf unchecked. */
bool tool_cdl_format_set_custom(const cdl_type *type, const char *text, cdl_format *format);

void tool_cdl_number_print(const cdl_type *type, const cdl_format *format, cdl_value value, char out[CDL_NUMBER_SIZE]);

/* As in attributes: with suffix, and a decimal point in every finite floating point number. */
void tool_cdl_number_print_typed(const cdl_type *type, const cdl_format *format, cdl_value value,
                                 char out[CDL_NUMBER_SIZE]);

/* The digits of Python's repr. Returns out. */
static inline const char *tool_real_format(int type, double value, char out[CDL_NUMBER_SIZE])
{
    return pnc_format_real_print(type, value, out);
}

/* The value of elements that were never written. Returns false for types without a default fill value. */
bool tool_cdl_fill_get_default(const cdl_type *type, cdl_value *fill);

/* Floating point values one rounding step away from the fill value count as fill values too. */
bool tool_cdl_value_is_fill(const cdl_type *type, cdl_value value, cdl_value fill);

#endif
