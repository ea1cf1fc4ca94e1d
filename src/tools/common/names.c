/* Lists of names on the command line. */
#include "tools/common/names.h"

#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "tools/common/message.h"

int tool_names_parse(const char *option, const char *list, tool_names *names)
{
    char *rest;
    int64_t most = 1;

    tool_names_free(names);
    for (const char *c = list; *c != '\0'; c++)
        most += *c == ',';
    names->text = pnc_string_copy(list);
    names->at = pnc_memory_alloc(most, sizeof *names->at);
    if (names->text == NULL || names->at == NULL) {
        tool_error_print("not enough memory for the list of %s", option);
        return NC_ENOMEM;
    }
    for (char *name = strtok_r(names->text, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
        names->at[names->n++] = name;
    if (names->n > 0)
        return NC_NOERR;
    tool_error_print("%s %s: must be names of variables, separated by commas", option, list);
    return NC_EINVAL;
}

void tool_names_free(tool_names *names)
{
    pnc_memory_free(names->text);
    pnc_memory_free(names->at);
    *names = (tool_names){NULL, NULL, 0};
}

bool tool_names_contain(const tool_names *names, const char *name)
{
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->at[i], name) == 0)
            return true;
    return names->n == 0;
}

int tool_names_report_missing(const char *path, const char *name, int count, const char *const known[])
{
    const char *nearest = pnc_name_suggest(name, count, known);

    if (nearest != NULL)
        tool_error_print("%s: no variable %s in this file: did you mean %s?", path, name, nearest);
    else
        tool_error_print("%s: no variable %s in this file (ncmpidump -h lists them)", path, name);
    return NC_ENOTVAR;
}

int tool_names_check(const tool_names *names, const char *path, const pnc_model *model)
{
    const char **known;
    int err = NC_NOERR;

    for (int i = 0; i < names->n && err == NC_NOERR; i++) {
        if (pnc_format_var_find(model, names->at[i]) >= 0)
            continue;
        known = pnc_memory_alloc(model->nvars, sizeof *known);
        for (int v = 0; known != NULL && v < model->nvars; v++)
            known[v] = model->vars[v]->name;
        err = tool_names_report_missing(path, names->at[i], known != NULL ? model->nvars : 0, known);
        pnc_memory_free(known);
    }
    return err;
}
