/* What the options say is kept as text, and read when the attribute is written: the type is then known. */
#include "config.h" /* fnmatch */

#include "tools/ncmpicopy/edit.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "format/coordinates.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"

/* --- options --- */

/* A copy of the text, in which `value` follows the first '='; NULL without one, or without memory. */
static int split(const char *wrong, const char *text, bool has_value, char **name, char **value)
{
    *name = pnc_string_copy(text);
    if (*name == NULL) {
        tool_error_print("not enough memory for %s", text);
        return NC_ENOMEM;
    }
    *value = strchr(*name, '=');
    if ((*value != NULL) != has_value || *name == *value || **name == '\0') {
        tool_error_print("%s: %s", wrong, text);
        pnc_memory_free(*name);
        return NC_EINVAL;
    }
    if (*value != NULL)
        *(*value)++ = '\0';
    return NC_NOERR;
}

static int add_edit(const char *wrong, const char *text, bool sets, copy_options *options)
{
    char *name, *value;
    if (split(wrong, text, sets, &name, &value) != NC_NOERR)
        return COPY_FAILED;
    char *colon = strrchr(name, ':');
    copy_edit *more = pnc_memory_resize(options->edits, options->nedits + 1, sizeof *more);
    if (more != NULL)
        options->edits = more;
    if (more == NULL || colon == NULL || colon[1] == '\0') {
        tool_error_print("%s: %s", more == NULL ? "not enough memory for an attribute" : wrong, text);
        pnc_memory_free(name);
        return COPY_FAILED;
    }
    *colon = '\0';
    more[options->nedits++] =
        (copy_edit){.text = name, .var = colon == name ? NULL : name, .att = colon + 1, .value = value};
    return -1;
}

int copy_att_set_parse(const char *text, copy_options *options)
{
    return add_edit("--set-att must be var:att=value, or :att=value for the file", text, true, options);
}

int copy_att_delete_parse(const char *text, copy_options *options)
{
    return add_edit("--del-att must be var:att, or :att for the file", text, false, options);
}

int copy_rename_parse(const char *text, copy_options *options)
{
    char *from, *to;
    if (split("--rename must be old=new", text, true, &from, &to) != NC_NOERR)
        return COPY_FAILED;
    copy_rename *more = pnc_memory_resize(options->renames, options->nrenames + 1, sizeof *more);
    if (more == NULL || *to == '\0') {
        tool_error_print("%s: %s", more == NULL ? "not enough memory for --rename" : "--rename must be old=new", text);
        pnc_memory_free(from);
        return COPY_FAILED;
    }
    options->renames = more;
    more[options->nrenames++] = (copy_rename){.from = from, .to = to};
    return -1;
}

/* --- checks --- */

static bool has_dim(const copy_plan *plan, const char *name)
{
    for (int i = 0; i < plan->ndims; i++)
        if (strcmp(plan->dims[i].name, name) == 0)
            return true;
    return false;
}

static int check_edit(const copy_plan *plan, const copy_edit *edit, int ncid)
{
    bool found = false, has_att = edit->var == NULL && ncmpi_inq_attid(ncid, NC_GLOBAL, edit->att, NULL) == NC_NOERR;
    for (int i = 0; edit->var != NULL && i < plan->nvars; i++)
        if (fnmatch(edit->var, plan->vars[i].name, 0) == 0) {
            found = true;
            has_att = has_att || ncmpi_inq_attid(ncid, plan->vars[i].id, edit->att, NULL) == NC_NOERR;
        }
    if (edit->var != NULL && !found)
        return copy_error_print(plan, NC_ENOTVAR, "%s: no variable that is copied has the name %s of %s",
                                plan->options->inputs[0], edit->var, edit->value != NULL ? "--set-att" : "--del-att");
    if (edit->value == NULL && !has_att)
        return copy_error_print(plan, NC_ENOTATT, "%s: --del-att: no attribute %s%s%s", plan->options->inputs[0],
                                edit->att, edit->var != NULL ? " of " : "", edit->var != NULL ? edit->var : "");
    return NC_NOERR;
}

int copy_edits_check(const copy_plan *plan, int ncid)
{
    const copy_options *options = plan->options;
    for (int i = 0; i < options->nedits; i++)
        PNC_TRY(check_edit(plan, &options->edits[i], ncid));
    for (int i = 0; i < options->nrenames; i++) {
        bool found = has_dim(plan, options->renames[i].from);
        for (int v = 0; v < plan->nvars; v++)
            found = found || strcmp(plan->vars[v].name, options->renames[i].from) == 0;
        if (!found)
            return copy_error_print(plan, NC_ENOTVAR, "%s: --rename: no variable or dimension %s is copied",
                                    options->inputs[0], options->renames[i].from);
    }
    return NC_NOERR;
}

const char *copy_name_find(const copy_plan *plan, const char *name)
{
    for (int i = plan->options->nrenames - 1; i >= 0; i--)
        if (strcmp(plan->options->renames[i].from, name) == 0)
            return plan->options->renames[i].to;
    return name;
}

const copy_edit *copy_edit_find(const copy_plan *plan, const copy_var *var, const char *att)
{
    for (int i = plan->options->nedits - 1; i >= 0; i--) {
        const copy_edit *edit = &plan->options->edits[i];
        bool here = var == NULL ? edit->var == NULL : edit->var != NULL && fnmatch(edit->var, var->name, 0) == 0;
        if (here && strcmp(edit->att, att) == 0)
            return edit;
    }
    return NULL;
}

/* --- values --- */

/* The numbers of a list with commas, or 0 if any part is no number. *integers: all are integers of 64 bits. */
static int64_t parse_numbers(const char *text, double *reals, long long *whole, bool *integers)
{
    int64_t n = 0;
    *integers = true;
    for (;;) {
        char *end, *end_of_whole;
        errno = 0;
        whole[n] = strtoll(text, &end_of_whole, 10);
        *integers = *integers && errno == 0 && end_of_whole != text;
        reals[n] = strtod(text, &end);
        if (end == text || (*end != ',' && *end != '\0'))
            return 0;
        *integers = *integers && end_of_whole == end;
        n++;
        if (*end == '\0')
            return n;
        text = end + 1;
    }
}

/* The type of the values of the variable, or that of the attribute in the input, or one that suits the numbers. */
static int choose_att_type(const copy_edit *edit, int from, const copy_var *var, bool of_values, const long long *whole,
                           int64_t n, bool integers)
{
    nc_type type = NC_NAT;
    if (of_values && var != NULL)
        return var->to;
    if (ncmpi_inq_atttype(from, var != NULL ? var->id : NC_GLOBAL, edit->att, &type) == NC_NOERR && type <= NC_DOUBLE &&
        type != NC_BYTE)
        return type;
    for (int64_t i = 0; i < n; i++)
        integers = integers && whole[i] >= INT32_MIN && whole[i] <= INT32_MAX;
    return integers ? NC_INT : NC_DOUBLE;
}

static int put_text(const char *text, const char *att, int to, int varid)
{
    size_t n = strlen(text);
    bool quoted = n >= 2 && text[0] == '"' && text[n - 1] == '"';
    return ncmpi_put_att_text(to, varid, att, (MPI_Offset)(quoted ? n - 2 : n), text + quoted);
}

/* A value of a variable of strings. */
static int put_string(const char *text, const char *att, int to, int varid)
{
    size_t n = strlen(text);
    bool quoted = n >= 2 && text[0] == '"' && text[n - 1] == '"';
    char *copy = pnc_string_copy(text + quoted);
    int err = tool_status_agree(copy != NULL ? NC_NOERR : NC_ENOMEM);
    if (err == NC_NOERR) {
        copy[quoted ? n - 2 : n] = '\0';
        err = ncmpi_put_att_string(to, varid, att, 1, (const char *const[]){copy});
    }
    pnc_memory_free(copy);
    return err;
}

int copy_edit_put(const copy_edit *edit, int from, const copy_var *var, int to, int varid, bool has_type_of_values)
{
    int64_t most = 1, n;
    bool integers = false;
    if (edit->value == NULL)
        return NC_NOERR;
    if (has_type_of_values && var != NULL && var->to == NC_STRING)
        return put_string(edit->value, edit->att, to, varid);
    for (const char *c = edit->value; *c != '\0'; c++)
        most += *c == ',';
    double *reals = pnc_memory_alloc(most, sizeof *reals);
    long long *whole = pnc_memory_alloc(most, sizeof *whole);
    int err = tool_status_agree(reals != NULL && whole != NULL ? NC_NOERR : NC_ENOMEM), type;
    n = err == NC_NOERR ? parse_numbers(edit->value, reals, whole, &integers) : 0;
    type = n > 0 ? choose_att_type(edit, from, var, has_type_of_values, whole, n, integers) : NC_CHAR;
    if (err == NC_NOERR && type == NC_CHAR)
        err = put_text(edit->value, edit->att, to, varid);
    else if (err == NC_NOERR && integers)
        err = ncmpi_put_att_longlong(to, varid, edit->att, type, n, whole);
    else if (err == NC_NOERR)
        err = ncmpi_put_att_double(to, varid, edit->att, type, n, reals);
    pnc_memory_free(reals);
    pnc_memory_free(whole);
    return err;
}

/* --- names in attributes --- */

static bool names_variables(const char *att)
{
    static const char *const names[] = PNC_COORDINATE_ATTRIBUTES;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], att) == 0)
            return true;
    return false;
}

/* Copy a text, with other words; words end at blanks and at a colon. Returns whether one is another. out has space for
 * the longest names. */
static bool replace_words(const copy_plan *plan, const char *text, char *out)
{
    bool any = false;
    char word[NC_MAX_NAME + 1];
    while (*text != '\0') {
        size_t blanks = strspn(text, " \t\n:"), n = strcspn(text + blanks, " \t\n:");
        memcpy(out, text, blanks);
        out += blanks;
        text += blanks;
        bool fits = n <= NC_MAX_NAME;
        memcpy(word, text, fits ? n : 0);
        word[fits ? n : 0] = '\0';
        const char *name = copy_name_find(plan, word);
        any = any || name != word;
        memcpy(out, name != word ? name : text, name != word ? strlen(name) : n);
        out += name != word ? strlen(name) : n;
        text += n;
    }
    *out = '\0';
    return any;
}

bool copy_references_put(const copy_plan *plan, int from, const copy_var *var, const char *att, int to, int varid,
                         int *err)
{
    nc_type type = NC_NAT;
    MPI_Offset length = 0;
    int id = var != NULL ? var->id : NC_GLOBAL;
    if (plan->options->nrenames == 0 || !names_variables(att) ||
        ncmpi_inq_att(from, id, att, &type, &length) != NC_NOERR || type != NC_CHAR || length == 0)
        return false;
    int64_t longest = 1;
    for (int i = 0; i < plan->options->nrenames; i++)
        longest += (int64_t)strlen(plan->options->renames[i].to);
    char *text = pnc_memory_alloc_zeroed((int64_t)length + 1, 1), *out = NULL;
    if (text != NULL && pnc_size_multiply(length + 1, longest, &longest) == 0)
        out = pnc_memory_alloc(longest, 1);
    *err = tool_status_agree(out != NULL ? NC_NOERR : NC_ENOMEM);
    if (*err == NC_NOERR)
        *err = ncmpi_get_att_text(from, id, att, text);
    bool any = *err == NC_NOERR && replace_words(plan, text, out);
    if (any)
        *err = ncmpi_put_att_text(to, varid, att, (MPI_Offset)strlen(out), out);
    pnc_memory_free(text);
    pnc_memory_free(out);
    return any || *err != NC_NOERR;
}
