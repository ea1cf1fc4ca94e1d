/* One guard for all tools that join files. */
#include "tools/common/join.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/types.h"
#include "tools/common/message.h"
#include "tools/common/number.h"

/* A variable in both files. */
typedef struct pair {
    const tool_join *join;
    int first, other; /* ids; other is -1 if the other file does not have it */
    const pnc_var *var, *there;
} pair;

static pair find_pair(const tool_join *join, int varid)
{
    const pnc_var *var = join->first->model.vars[varid];
    int other = pnc_format_var_find(&join->other->model, var->name);
    return (pair){join, varid, other, var, other < 0 ? NULL : join->other->model.vars[other]};
}

/* --- attributes --- */

/* An attribute in both files. */
typedef struct both {
    const char *name;
    const pnc_att *first, *other;
} both;

static both find_both(const pair *p, const char *name)
{
    const tool_join *join = p->join;
    return (both){name, tool_attribute_find(&join->first->model, join->first_relations, p->first, name),
                  tool_attribute_find(&join->other->model, join->other_relations, p->other, name)};
}

/* Length without blanks and null characters at the end of a text. */
static int64_t get_length(const pnc_att *att)
{
    const char *text = att->value;
    int64_t n = att->len;
    while (att->type == NC_CHAR && n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\0'))
        n--;
    return n;
}

static bool are_same(const both *b)
{
    if (b->first == NULL || b->other == NULL)
        return b->first == b->other;
    int64_t n = get_length(b->first);
    return b->first->type == b->other->type && n == get_length(b->other) &&
           (n == 0 || memcmp(b->first->value, b->other->value, (size_t)n * pnc_type_get_size(b->first->type)) == 0);
}

static int reject(const pair *p, const both *b, const char *why)
{
    char first[TOOL_MEANING_TEXT], other[TOOL_MEANING_TEXT];
    tool_error_print("%s: %s:%s is %s, but %s in %s: %s", p->join->other->path, p->var->name, b->name,
                     tool_attribute_explain(b->other, other), tool_attribute_explain(b->first, first),
                     p->join->first->path, why);
    return NC_EINVAL;
}

/* Attributes of which no two values mean the same, in the given list, which NULL ends. */
static int check_equal(const pair *p, const char *const *names, bool both_present, const char *why)
{
    for (; *names != NULL; names++) {
        both b = find_both(p, *names);
        bool counts = !both_present || (b.first != NULL && b.other != NULL);
        if (counts && !are_same(&b))
            return reject(p, &b, why);
    }
    return NC_NOERR;
}

/* --- types and shapes --- */

static void explain_shape(const tool_file *file, const pnc_var *var, char out[TOOL_MEANING_TEXT])
{
    size_t used = (size_t)snprintf(out, TOOL_MEANING_TEXT, "(");
    for (int d = 0; d < var->ndims && used < TOOL_MEANING_TEXT; d++)
        used += (size_t)snprintf(out + used, TOOL_MEANING_TEXT - used, "%s%s=%" PRId64, d > 0 ? ", " : "",
                                 file->model.dims[var->dimids[d]]->name,
                                 pnc_format_dim_get_length(&file->model, var->dimids[d]));
    if (used < TOOL_MEANING_TEXT)
        snprintf(out + used, TOOL_MEANING_TEXT - used, ")");
}

static bool has_same_shape(const pair *p)
{
    const pnc_model *a = &p->join->first->model, *b = &p->join->other->model;
    bool same = p->var->ndims == p->there->ndims;
    for (int d = 0; same && d < p->var->ndims; d++) {
        int x = p->var->dimids[d], y = p->there->dimids[d];
        same = strcmp(a->dims[x]->name, b->dims[y]->name) == 0 &&
               (x == p->join->dimid || pnc_format_dim_get_length(a, x) == pnc_format_dim_get_length(b, y));
    }
    return same;
}

static int check_shape(const pair *p)
{
    char first[TOOL_MEANING_TEXT], other[TOOL_MEANING_TEXT];
    if (p->var->type != p->there->type) {
        tool_error_print("%s: variable %s has type %s, but another type in %s, %s: ncmpicopy -t converts a file",
                         p->join->other->path, p->var->name, pnc_type_get_name(p->there->type), p->join->first->path,
                         pnc_type_get_name(p->var->type));
        return NC_EBADTYPE;
    }
    if (has_same_shape(p))
        return NC_NOERR;
    explain_shape(p->join->first, p->var, first);
    explain_shape(p->join->other, p->there, other);
    tool_error_print("%s: variable %s has the dimensions %s, but other dimensions in %s, %s", p->join->other->path,
                     p->var->name, other, p->join->first->path, first);
    return NC_EVARSIZE;
}

/* --- units --- */

static bool is_since(const tool_meaning *m)
{
    const char *blank = strchr(m->units, ' ');
    return blank != NULL && strncasecmp(blank + strspn(blank, " "), "since ", 6) == 0;
}

static bool has_same_calendar(const tool_meaning *a, const tool_meaning *b)
{
    cal_kind x, y;
    bool known = tool_calendar_find(a->calendar, &x) && tool_calendar_find(b->calendar, &y);
    return known ? x == y : strcasecmp(a->calendar, b->calendar) == 0;
}

/* Times since another date, or in another unit. */
static int check_clock(const pair *p, const both *units, tool_adaptation *a)
{
    if (!a->from.has_clock || !a->to.has_clock)
        return reject(p, units,
                      "times can only be converted between units of a fixed length, nanoseconds to weeks, since dates "
                      "of the calendar");
    tool_clock_convert(&a->from.clock, &a->to.clock, &a->linear);
    a->time = a->linear.scale != a->linear.divisor || a->linear.offset[0] != 0 || a->linear.offset[2] != 0;
    if (a->time && (a->packing || a->from.scale != 1 || a->from.offset != 0 || p->var->type == NC_CHAR))
        return reject(p, units, "only times that are numbers without scale_factor and add_offset are converted");
    return NC_NOERR;
}

static int check_units(const pair *p, tool_adaptation *a)
{
    both units = find_both(p, "units"), calendar = find_both(p, "calendar");
    bool same = are_same(&units) || (a->from.units[0] != '\0' && strcmp(a->from.units, a->to.units) == 0);
    if (!is_since(&a->from) || !is_since(&a->to))
        return same ? NC_NOERR
                    : reject(p, &units, "only units of time are converted: convert the values of one file first");
    if (!are_same(&calendar) && !has_same_calendar(&a->from, &a->to))
        return reject(p, &calendar, "times of different calendars cannot be one variable");
    return same ? NC_NOERR : check_clock(p, &units, a);
}

/* --- packing and missing values --- */

static int check_packing(const pair *p, const tool_adaptation *a)
{
    both scale = find_both(p, "scale_factor"), offset = find_both(p, "add_offset");
    both is_unsigned = find_both(p, "_Unsigned");
    bool usable = isfinite(a->from.scale) && isfinite(a->from.offset) && isfinite(a->to.scale) &&
                  isfinite(a->to.offset) && a->from.scale != 0 && a->to.scale != 0 && p->var->type != NC_CHAR;
    if (!a->packing || (usable && is_unsigned.first == NULL))
        return NC_NOERR;
    return reject(p, a->from.scale != a->to.scale ? &scale : &offset,
                  usable ? "values with the attribute _Unsigned are not repacked" : "values cannot be repacked so");
}

/* More missing values than are compared. */
static int check_missing(const pair *p, const tool_adaptation *a)
{
    both missing = find_both(p, "missing_value");
    bool full = a->from.nmissing == TOOL_MISSING_MOST || a->to.nmissing == TOOL_MISSING_MOST;
    return full && !are_same(&missing) ? reject(p, &missing, "there are too many values to convert") : NC_NOERR;
}

/* What would have to be converted, if it must not. */
static int check_refusal(const pair *p, const tool_adaptation *a)
{
    static const char *const of_packing[] = {"scale_factor", "add_offset", NULL};
    static const char *const of_missing[] = {"_FillValue", "missing_value", NULL};
    static const char *const of_valid[] = {"valid_range", "valid_min", "valid_max", NULL};
    both units = find_both(p, "units");
    if (p->join->refusal == NULL)
        return NC_NOERR;
    if (a->time)
        return reject(p, &units, p->join->refusal);
    if (a->packing)
        PNC_TRY(check_equal(p, of_packing, false, p->join->refusal));
    if (a->missing)
        PNC_TRY(check_equal(p, of_missing, false, p->join->refusal));
    if (a->valid)
        PNC_TRY(check_equal(p, of_valid, false, p->join->refusal));
    return NC_NOERR;
}

static void load_meanings(const pair *p, tool_adaptation *a)
{
    const tool_join *join = p->join;
    tool_meaning from, to;
    tool_meaning_load(&join->other->model, join->other_relations, p->other, &from);
    tool_meaning_load(&join->first->model, join->first_relations, p->first, &to);
    tool_adaptation_init(&from, &to, a);
}

int tool_join_check_variable(const tool_join *join, int varid, tool_adaptation *a)
{
    static const char *const always[] = {"_Unsigned", "leap_month", "leap_year", "month_lengths", NULL};
    static const char *const present[] = {"flag_values", "flag_masks", "flag_meanings", "positive", NULL};
    static const char *const of_strings[] = {"_FillValue", "missing_value", NULL};
    static const char why[] = "the values of both files cannot be one variable";
    const pair p = find_pair(join, varid);
    if (p.there == NULL) {
        tool_error_print("%s: no variable %s in this file, but in %s", join->other->path, p.var->name,
                         join->first->path);
        return NC_ENOTVAR;
    }
    PNC_TRY(check_shape(&p));
    PNC_TRY(check_equal(&p, always, false, why));
    PNC_TRY(check_equal(&p, present, true, why));
    if (p.var->type == NC_STRING) { /* strings mean what they say, but for missing ones */
        *a = (tool_adaptation){0};
        return check_equal(&p, of_strings, false, why);
    }
    load_meanings(&p, a);
    PNC_TRY(check_units(&p, a));
    PNC_TRY(check_packing(&p, a));
    PNC_TRY(check_missing(&p, a));
    return check_refusal(&p, a);
}

/* --- variables without the joined dimension --- */

static const char other_coordinates[] = "the files have different coordinates";

/* The meaning of a coordinate variable. Of a grid mapping, the attributes are the data. */
static int check_coordinate(const pair *p)
{
    static const char *const always[] = {"scale_factor", "add_offset", "_Unsigned", NULL};
    static const char *const present[] = {"positive", "grid_mapping_name", NULL};
    bool mapping = p->join->first_relations->mapping[p->first];
    tool_adaptation a;
    PNC_TRY(check_shape(p));
    PNC_TRY(check_equal(p, always, false, other_coordinates));
    PNC_TRY(check_equal(p, present, true, other_coordinates));
    load_meanings(p, &a);
    PNC_TRY(check_units(p, &a));
    both units = find_both(p, "units");
    if (a.time)
        return reject(p, &units, other_coordinates);
    for (int i = 0; mapping && i < p->var->atts.n; i++) {
        both b = find_both(p, p->var->atts.at[i]->name);
        if (b.first->type != NC_CHAR && b.other != NULL && !are_same(&b))
            return reject(p, &b, other_coordinates);
    }
    return NC_NOERR;
}

static int report_difference(const pair *p, const char *what)
{
    if (p->join->refusal != NULL) {
        tool_error_print("%s: variable %s differs from that in %s%s: %s", p->join->other->path, p->var->name,
                         p->join->first->path, what, p->join->refusal);
        return NC_EINVAL;
    }
    tool_warning_print("warning: %s: variable %s is left out, and differs from that in %s%s", p->join->other->path,
                       p->var->name, p->join->first->path, what);
    return NC_NOERR;
}

int tool_join_check_fixed(const tool_join *join, int varid, bool *compare)
{
    static const char *const names[] = {"units", "scale_factor", "add_offset"};
    const pair p = find_pair(join, varid);
    *compare = p.there != NULL;
    if (p.there == NULL)
        return NC_NOERR;
    if (join->first_relations->coordinate[varid])
        return check_coordinate(&p);
    bool same = p.var->type == p.there->type && has_same_shape(&p);
    for (size_t i = 0; same && i < sizeof names / sizeof *names; i++) {
        both b = find_both(&p, names[i]);
        same = are_same(&b);
    }
    *compare = same;
    return same ? NC_NOERR : report_difference(&p, "");
}

int64_t tool_difference_find(const char *a, const char *b, int64_t n, size_t size)
{
    if (memcmp(a, b, (size_t)n * size) == 0)
        return -1;
    for (int64_t i = 0; i < n; i++)
        if (memcmp(a + (size_t)i * size, b + (size_t)i * size, size) != 0)
            return i;
    return -1;
}

int64_t tool_string_difference_find(char *const *a, char *const *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        bool same = a[i] == NULL || b[i] == NULL ? a[i] == b[i] : strcmp(a[i], b[i]) == 0;
        if (!same)
            return i;
    }
    return -1;
}

void tool_index_explain(int ndims, const int64_t *shape, int64_t element, char *out, size_t capacity)
{
    int64_t inner = 1;
    size_t used = (size_t)snprintf(out, capacity, "[");
    for (int d = 1; d < ndims; d++)
        inner *= shape[d];
    for (int d = 0; d < ndims && used < capacity; d++) {
        used += (size_t)snprintf(out + used, capacity - used, "%s%" PRId64, d > 0 ? ", " : "", element / inner);
        element %= inner;
        inner /= d + 1 < ndims ? shape[d + 1] : 1;
    }
    if (used < capacity)
        snprintf(out + used, capacity - used, "]");
}

int tool_join_report_value(const tool_join *join, int varid, const char *index, const char *first, const char *other)
{
    const pair p = find_pair(join, varid);
    char what[3 * TOOL_MEANING_TEXT + 32];
    if (!join->first_relations->coordinate[varid]) {
        snprintf(what, sizeof what, ": %s at %s, not %s", other, index, first);
        return report_difference(&p, what);
    }
    tool_error_print("%s: coordinate variable %s has the value %s at %s, but %s in %s: %s", join->other->path,
                     p.var->name, other, index, first, join->first->path, other_coordinates);
    return NC_EINVAL;
}

bool tool_join_report_others(const tool_join *join)
{
    bool any = false;
    const pnc_model *model = &join->other->model;
    const char *name = join->first->model.dims[join->dimid]->name;
    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        bool joined = var->ndims > 0 && strcmp(model->dims[var->dimids[0]]->name, name) == 0;
        if (!joined || pnc_format_var_find(&join->first->model, var->name) >= 0)
            continue;
        any = true;
        tool_warning_print("%s: warning: variable %s is left out: %s does not have it", join->other->path, var->name,
                           join->first->path);
    }
    return any;
}

/* --- notes --- */

static void report_packing(const pair *p, const tool_adaptation *a)
{
    char scale[2][CDL_NUMBER_SIZE], offset[2][CDL_NUMBER_SIZE], half[CDL_NUMBER_SIZE];
    tool_real_format(NC_DOUBLE, a->from.scale, scale[0]);
    tool_real_format(NC_DOUBLE, a->to.scale, scale[1]);
    tool_real_format(NC_DOUBLE, a->from.offset, offset[0]);
    tool_real_format(NC_DOUBLE, a->to.offset, offset[1]);
    snprintf(half, sizeof half, "%.6g", fabs(a->to.scale) / 2);
    tool_warning_print(
        "%s: variable %s: is repacked from scale_factor %s and add_offset %s to %s and %s, as in %s; values change by "
        "at most %s",
        p->join->other->path, p->var->name, scale[0], offset[0], scale[1], offset[1], p->join->first->path,
        p->var->type == NC_FLOAT || p->var->type == NC_DOUBLE ? "a rounding error" : half);
}

static void explain_missing(const tool_meaning *m, char out[TOOL_MEANING_TEXT])
{
    enum { SHOWN = 3 };
    char text[TOOL_MEANING_TEXT];
    size_t used = (size_t)snprintf(out, TOOL_MEANING_TEXT, "%s", m->nmissing > 0 ? "" : "none");
    for (int i = 0; i < m->nmissing && i < SHOWN && used < TOOL_MEANING_TEXT; i++)
        used += (size_t)snprintf(out + used, TOOL_MEANING_TEXT - used, "%s%s", i > 0 ? ", " : "",
                                 tool_value_explain(m->type, m->missing[i], text));
}

void tool_join_report(const tool_join *join, int varid, const tool_adaptation *a)
{
    const pair p = find_pair(join, varid);
    char from[TOOL_MEANING_TEXT], to[TOOL_MEANING_TEXT];
    if (a->time)
        tool_warning_print("%s: variable %s: times are converted from \"%s\" to \"%s\", as in %s", join->other->path,
                           p.var->name, a->from.units, a->to.units, join->first->path);
    if (a->packing)
        report_packing(&p, a);
    explain_missing(&a->from, from);
    explain_missing(&a->to, to);
    if (a->missing)
        tool_warning_print("%s: variable %s: missing values are converted from %s to %s, as in %s", join->other->path,
                           p.var->name, from, to, join->first->path);
}
