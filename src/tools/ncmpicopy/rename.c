#include "tools/ncmpicopy/rename.h"

#include <stdio.h>
#include <string.h>

#include "tools/common/message.h"

enum { ATTEMPTS = 1000, LONGEST_SUFFIX = 7 }; /* a short has up to 6 characters */

static bool is_alphanumeric(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* From the second attempt on, all that is not ASCII is replaced: it may be invalid UTF-8. */
bool copy_name_repair(const char *name, int attempt, char *repaired)
{
    size_t n = strlen(name), longest = NC_MAX_NAME - (attempt > 1 ? LONGEST_SUFFIX : 0);
    if (attempt > 0 && n > longest)
        n = longest;
    memcpy(repaired, name, n);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c < 0x20 || c == 0x7f || c == '/' || (c >= 0x80 && attempt > 0))
            repaired[i] = '_';
    }
    if (n == 0 || ((unsigned char)repaired[0] < 0x80 && !is_alphanumeric((unsigned char)repaired[0])))
        repaired[0] = '_';
    n += n == 0;
    if (repaired[n - 1] == ' ')
        repaired[n - 1] = '_';
    repaired[n] = '\0';
    if (attempt > 1)
        snprintf(repaired + n, LONGEST_SUFFIX + 1, "_%hd", (short)attempt);
    return attempt < ATTEMPTS;
}

void copy_name_report(copy_plan *plan, const char *object, const char *name, const char *repaired)
{
    plan->changed = true;
    if (plan->rank == 0)
        tool_warning_print("warning: %s: %s \"%s\" became \"%s\": %s", plan->options->output, object, name, repaired,
                           strchr(name, '/') != NULL ? "groups are not written"
                                                     : "its name has characters that are not allowed");
}
