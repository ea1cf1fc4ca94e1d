/* JSON strings. */
#ifndef PNC_TOOLS_COMMON_JSON_H
#define PNC_TOOLS_COMMON_JSON_H

#include <stddef.h>
#include <stdio.h>

/* n bytes as a string in quotes, or as a part of one, without them. A byte that is not valid UTF-8 becomes the
 * character of its value, as in Latin-1. */
void tool_json_write_text(FILE *out, const char *bytes, size_t n);
void tool_json_write_part(FILE *out, const char *bytes, size_t n);

/* A string in quotes, on stdout. Invalid UTF-8, possible in names of foreign files, becomes U+FFFD. */
void tool_json_print_string(const char *text);

#endif
