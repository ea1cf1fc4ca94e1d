/* Text in CDL, the text form of netCDF: names with their special characters escaped, and quoted strings. */
#ifndef PNC_TOOLS_COMMON_TEXT_H
#define PNC_TOOLS_COMMON_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* Returns the name as CDL writes it, to be freed by the caller, or NULL without memory. */
char *tool_cdl_name_escape(const char *name);

/* Is this the name of a section, where a colon after it starts that section? */
bool tool_cdl_name_is_section(const char *name);

/* A quoted string, written piece by piece as its characters arrive. Null characters at the end are dropped; a string is
 * cut after each newline, and the next piece starts on a line of its own after indent. */
typedef struct cdl_string {
    FILE *out;
    const char *indent;
    bool ascii; /* bytes beyond ASCII are written as \ooo; else they pass as they are */
    unsigned long long nulls; /* seen, and not yet known to be inside the string */
} cdl_string;

void tool_cdl_string_begin(FILE *out, const char *indent, bool ascii, cdl_string *string);
void tool_cdl_string_put(cdl_string *string, char c);
void tool_cdl_string_end(cdl_string *string);

#endif
