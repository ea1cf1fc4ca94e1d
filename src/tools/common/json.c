/* JSON strings and numbers. */
#include "tools/common/json.h"

#include <math.h>

void tool_json_print_string(const char *text)
{
    tool_json_string_write(stdout, text);
}

bool tool_json_special_write(FILE *out, const cdl_type *type, cdl_value value)
{
    if (type->class != CDL_REAL || isfinite(value.r))
        return false;
    if (isnan(value.r))
        fputs("\"NaN\"", out);
    else
        fputs(value.r < 0 ? "\"-Infinity\"" : "\"Infinity\"", out);
    return true;
}

void tool_json_number_write(FILE *out, const cdl_type *type, cdl_value value)
{
    char number[CDL_NUMBER_SIZE];

    if (tool_json_special_write(out, type, value))
        return;
    if (type->class == CDL_REAL)
        fputs(tool_real_format(type->code, value.r, number), out);
    else if (type->class == CDL_UNSIGNED)
        fprintf(out, "%llu", value.u);
    else
        fprintf(out, "%lld", value.i);
}
