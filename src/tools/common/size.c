#include "tools/common/size.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

bool tool_size_parse(const char *text, int64_t least, int64_t *out)
{
    static const char suffixes[] = "kmgt";
    char *end;
    long long number;
    const char *suffix;
    int64_t unit = 1;

    errno = 0;
    number = strtoll(text, &end, 10);
    suffix = *end != '\0' ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;
    if (suffix != NULL) {
        unit <<= 10 * (suffix - suffixes + 1);
        end++;
    }
    return end != text && *end == '\0' && errno == 0 && number >= least && pnc_size_multiply(number, unit, out) == 0;
}
