/* Numbers of bytes on the command line. */
#ifndef PNC_TOOLS_COMMON_SIZE_H
#define PNC_TOOLS_COMMON_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* A number of at least `least` bytes, perhaps with one of the suffixes k, M, G, T in either case: 1024, 1024^2 ...
 * False if the text is something else, or exceeds 64 bits. */
bool tool_size_parse(const char *text, int64_t least, int64_t *out);

#endif
