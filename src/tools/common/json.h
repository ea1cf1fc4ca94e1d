/* JSON on stdout. */
#ifndef PNC_TOOLS_COMMON_JSON_H
#define PNC_TOOLS_COMMON_JSON_H

/* A string with its quotes. Bytes that are no UTF-8, which a foreign file's names may have, become U+FFFD. */
void tool_json_print_string(const char *text);

#endif
