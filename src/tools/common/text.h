/* Text in CDL, the text form of netCDF: names with their special characters escaped, and quoted strings. */
#ifndef PNC_TOOLS_COMMON_TEXT_H
#define PNC_TOOLS_COMMON_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* Returns the name as in CDL, to be freed by the caller, or NULL without memory. */
char *tool_cdl_name_escape(const char *name);

/* True for the name of a section: a colon after it would begin that section. */
bool tool_cdl_name_is_section(const char *name);

/* A quoted string, written piece by piece. Null characters at the end are dropped; after each newline the string is
 * split, and continues on a new line after indent. */
typedef struct cdl_string {
    FILE *out;
    const char *indent;       /* NULL: the string is not split */
    bool ascii;               /* bytes beyond ASCII are written as \ooo; else they pass as they are */
    bool held;                /* a byte that is written when the next one is known */
    unsigned long long nulls; /* seen, and not yet known to be inside the string */
} cdl_string;

void tool_cdl_string_begin(FILE *out, const char *indent, bool ascii, cdl_string *string);
void tool_cdl_string_put(cdl_string *string, char c);
void tool_cdl_string_end(cdl_string *string);

#endif
