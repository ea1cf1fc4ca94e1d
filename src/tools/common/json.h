/* JSON (RFC 8259): what all tools write alike. */
#ifndef PNC_TOOLS_COMMON_JSON_H
#define PNC_TOOLS_COMMON_JSON_H

#include <stdio.h>

#include "references/json.h"
#include "tools/common/number.h"

/* As in references/json.h. */
static inline void tool_json_text_write(FILE *out, const char *bytes, size_t n)
{
    pnc_references_text_write(out, bytes, n);
}

static inline void tool_json_part_write(FILE *out, const char *bytes, size_t n)
{
    pnc_references_part_write(out, bytes, n);
}

static inline void tool_json_string_write(FILE *out, const char *text)
{
    pnc_references_string_write(out, text);
}

void tool_json_print_string(const char *text); /* to stdout */

/* The shortest number that reads back exactly. NaN and infinities, which JSON does not have, are the strings "NaN",
 * "Infinity" and "-Infinity". */
void tool_json_number_write(FILE *out, const cdl_type *type, cdl_value value);
/* The same for a value that is not finite; false, and nothing written, for others. */
bool tool_json_special_write(FILE *out, const cdl_type *type, cdl_value value);

#endif
