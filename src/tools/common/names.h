/* Lists of names on the command line, as of -v var1,var2,... */
#ifndef PNC_TOOLS_COMMON_NAMES_H
#define PNC_TOOLS_COMMON_NAMES_H

#include "format/model.h"

typedef struct tool_names {
    char *text; /* the list, with a null character instead of each comma */
    const char **at;
    int n;
} tool_names;

/* Replaces the previous list: the last one of repeated options is used. Empty names are skipped. NC_NOERR; NC_EINVAL:
 * no name; NC_ENOMEM. The error message names the option. */
int tool_names_parse(const char *option, const char *list, tool_names *names);
void tool_names_free(tool_names *names);

/* True if the list contains the name, or is empty. */
bool tool_names_contain(const tool_names *names, const char *name);

/* Print an error that the file has no variable of this name, with the most similar name as a suggestion. Returns
 * NC_ENOTVAR. */
int tool_names_report_missing(const char *path, const char *name, int count, const char *const known[]);

/* NC_NOERR if the file has all variables of the list; NC_ENOTVAR or NC_ENOMEM after an error message. */
int tool_names_check(const tool_names *names, const char *path, const pnc_model *model);

#endif
