/* JSON on stdout. */
#ifndef PNC_TOOLS_COMMON_JSON_H
#define PNC_TOOLS_COMMON_JSON_H

/* A string in quotes. Invalid UTF-8, possible in names of foreign files, becomes U+FFFD. */
void tool_json_print_string(const char *text);

#endif
