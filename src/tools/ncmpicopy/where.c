/* Every rank reads the coordinate, block by block, and finds the same indices. */
#include "tools/ncmpicopy/where.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/blocks.h"
#include "tools/common/message.h"
#include "tools/common/moment.h"
#include "tools/common/number.h"
#include "tools/common/parallel.h"
#include "tools/ncmpicopy/bounds.h"
#include "tools/ncmpicopy/guard.h"
#include "tools/ncmpicopy/longitude.h"

enum { MOST_TURNS = 2 };

int copy_where_parse(const char *text, copy_options *options)
{
    const char *equals = strchr(text, '=');
    bool nearest = equals == NULL;
    if (nearest)
        equals = strrchr(text, '~');
    if (equals == NULL || equals == text || strlen(equals + 1) >= COPY_WORD_SIZE) {
        tool_error_print(
            "--where must be coordinate=first:last, with numbers or dates, of which one may be empty, or "
            "coordinate~value for the nearest one: %s",
            text);
        return COPY_FAILED;
    }
    copy_where *more = pnc_memory_resize(options->wheres, options->nwheres + 1, sizeof *more);
    if (more != NULL)
        options->wheres = more;
    char *name = more != NULL ? pnc_string_copy(text) : NULL;
    if (name == NULL) {
        tool_error_print("not enough memory for --where: %s", text);
        return COPY_FAILED;
    }
    name[equals - text] = '\0';
    options->wheres[options->nwheres++] =
        (copy_where){.name = name, .range = name + (equals - text) + 1, .nearest = nearest};
    return -1;
}

/* --- the values of a coordinate --- */

typedef struct search {
    const copy_plan *plan;
    const copy_where *where;
    const copy_var *var;
    copy_scale scale;
    copy_range range;
    copy_runs runs;
    int64_t n, rises;                  /* of all values: how many, and how many are larger than the one before */
    double least, most, first, before; /* of all values; the first one, the last one */
    double wanted, distance;           /* of the nearest value */
    int bounds;                        /* the variable of the cell boundaries of a longitude, if it is copied, or -1 */
    bool is_turnable;                  /* longitudes, and their bounds, can have other values */
    char *values;
} search;

static bool is_in_range(const search *s, double value)
{
    const copy_range *r = &s->range;
    if (s->scale.is_time)
        return value >= r->least - TOOL_HOURS_ROUNDING && value < r->most - TOOL_HOURS_ROUNDING;
    if (s->var->type == NC_FLOAT && s->scale.factor == 1 && s->scale.offset == 0)
        return value >= (float)r->least && value <= (float)r->most;
    return value >= r->least && value <= r->most;
}

/* Of a difference of longitudes. */
static double get_rounding(const search *s)
{
    return 360 * (s->var->type == NC_FLOAT ? FLT_EPSILON : DBL_EPSILON);
}

/* After how many full turns a longitude is in the range, the fewest that are not 0; 0: it is not after MOST_TURNS. */
static int find_turns(const search *s, double value)
{
    double rounding = get_rounding(s);
    double least = ceil((s->range.least - rounding - value) / 360);
    double most = floor((s->range.most + rounding - value) / 360);
    if (!(least <= most)) /* also if the value is NaN */
        return 0;
    double turns = least < 0 ? -1 : fmin(most, 1);
    if (least > 0 || most < 0)
        turns = least > 0 ? least : most;
    return fabs(turns) <= MOST_TURNS ? (int)turns : 0;
}

static void test_range(search *s, int64_t index, double value)
{
    if (is_in_range(s, value))
        copy_runs_add(&s->runs, index, value, 0);
    else if (s->scale.is_longitude && find_turns(s, value) != 0)
        copy_runs_add(&s->runs, index, value, find_turns(s, value));
}

/* Of several that are equally near, the first one. */
static void test_distance(search *s, int64_t index, double value)
{
    double distance = fabs(value - s->wanted);
    if (s->scale.is_longitude) {
        distance = fmod(distance, 360);
        distance = fmin(distance, 360 - distance);
    }
    if (distance < s->distance) {
        s->distance = distance;
        s->runs = (copy_runs){0};
        copy_runs_add(&s->runs, index, value, 0);
    }
}

static void test_value(search *s, int64_t index, const void *value)
{
    double parts[2];
    tool_number_load(s->var->type, value, parts);
    double number = (parts[0] + parts[1]) * s->scale.factor + s->scale.offset;
    if (s->scale.is_time)
        number = s->scale.units.base_hours + number * s->scale.units.hours;
    s->least = fmin(s->least, number);
    s->most = fmax(s->most, number);
    s->first = s->n == 0 ? number : s->first;
    s->rises += s->n > 0 && number > s->before;
    s->before = number;
    s->n++;
    if (s->where->nearest)
        test_distance(s, index, number);
    else
        test_range(s, index, number);
}

/* The values of one input, which begin at this index of all. */
static int search_input(search *s, int input, int ncid, int varid, int64_t begin, int64_t length)
{
    const copy_plan *plan = s->plan;
    const tool_adaptation *adaptation = copy_adaptation_find(plan, input, (int)(s->var - plan->vars));
    size_t size = pnc_type_get_size(s->var->type);
    tool_fault fault;
    for (int64_t done = 0, n; done < length; done += n) {
        n = length - done < TOOL_BLOCK_ELEMENTS ? length - done : TOOL_BLOCK_ELEMENTS;
        MPI_Offset start = done, count = n;
        PNC_TRY(ncmpi_get_vara_all(ncid, varid, &start, &count, s->values, n, tool_type_get_mpi(s->var->type)));
        if (adaptation != NULL && !tool_adaptation_convert(adaptation, s->values, n, &fault))
            return NC_ERANGE;
        for (int64_t i = 0; i < n; i++)
            test_value(s, begin + done + i, s->values + (size_t)i * size);
    }
    return NC_NOERR;
}

/* Longitudes may be given as 350:40. */
static bool parse_words(search *s)
{
    const char *words = s->where->range;
    s->distance = INFINITY;
    if (s->where->nearest)
        return copy_value_parse(&s->scale, words, &s->wanted);
    if (!copy_range_parse(&s->scale, words, &s->range))
        return false;
    if (s->scale.is_longitude && s->range.most < s->range.least && s->range.least - s->range.most < 720)
        s->range.most += 360 * ceil((s->range.least - s->range.most) / 360);
    return true;
}

static bool has_turning_type(int type)
{
    return type == NC_FLOAT || type == NC_DOUBLE || type == NC_SHORT || type == NC_INT || type == NC_INT64;
}

static int find_bounds(const search *s, int ncid, int varid)
{
    char name[COPY_WORD_SIZE];
    if (!copy_word_get(ncid, varid, "bounds", name))
        return -1;
    for (int i = 0; i < s->plan->nvars; i++) {
        const copy_var *var = &s->plan->vars[i];
        if (strcmp(var->name, name) == 0 && var->ndims > 0 && var->dimids[0] == s->var->dimids[0])
            return i;
    }
    return -1;
}

static void load_bounds(search *s, int ncid, int varid)
{
    copy_scale scale;
    s->bounds = find_bounds(s, ncid, varid);
    s->is_turnable = s->scale.is_plain && has_turning_type(s->var->type);
    if (s->bounds < 0)
        return;
    copy_scale_load(ncid, s->plan->vars[s->bounds].id, &scale);
    s->is_turnable = s->is_turnable && scale.is_plain && has_turning_type(s->plan->vars[s->bounds].type);
}

static int load_words(search *s, int ncid, int varid)
{
    const copy_where *where = s->where;
    copy_scale_load(ncid, varid, &s->scale);
    load_bounds(s, ncid, varid);
    if (parse_words(s))
        return NC_NOERR;
    return copy_error_print(s->plan, NC_EINVAL, "--where %s%c%s: must be %s, with %s", where->name,
                            where->nearest ? '~' : '=', where->range, where->nearest ? "a value" : "first:last",
                            s->scale.is_time ? "dates such as 2001, 2001-03 or 2001-03-05T12:30 that its calendar has"
                                             : "numbers");
}

static int open_and_search(search *s, int input, int64_t begin)
{
    const copy_plan *plan = s->plan;
    const char *path = plan->options->inputs[input];
    const copy_dim *dim = &plan->dims[s->var->dimids[0]];
    int ncid, varid;
    PNC_TRY(copy_input_open(plan, path, &ncid));
    int err = ncmpi_inq_varid(ncid, s->var->name, &varid);
    if (err == NC_NOERR && input == 0 && load_words(s, ncid, varid) != NC_NOERR) {
        ncmpi_close(ncid);
        return NC_EINVAL;
    }
    if (err == NC_NOERR)
        err = search_input(s, input, ncid, varid, begin, s->var->joined ? plan->lengths[input] : dim->total);
    if (err != NC_NOERR)
        copy_failure_print(plan, path, err);
    ncmpi_close(ncid);
    return err;
}

static void explain_value(const search *s, double value, char out[CAL_DATE_SIZE])
{
    const cal_units *units = &s->scale.units;
    char number[CDL_NUMBER_SIZE];
    if (s->scale.is_time && tool_calendar_print(units, (value - units->base_hours) / units->hours, 'T', out))
        return;
    snprintf(out, CAL_DATE_SIZE, "%s", isfinite(value) ? tool_real_format(NC_DOUBLE, value, number) : "no number");
}

/* Why nothing, or no part of the dimension, is selected. */
static int report_selection(const search *s)
{
    char least[CAL_DATE_SIZE], most[CAL_DATE_SIZE];
    const copy_where *where = s->where;
    const copy_runs *r = &s->runs;
    explain_value(s, s->least, least);
    explain_value(s, s->most, most);
    if (r->found == 0)
        return copy_error_print(s->plan, NC_EINVALCOORDS, "--where %s%c%s: no value is %s: they are %s to %s",
                                where->name, where->nearest ? '~' : '=', where->range,
                                where->nearest ? "near it" : "in this range", least, most);
    return copy_error_print(
        s->plan, NC_EINVALCOORDS,
        "--where %s=%s: %lld values are in this range, which are not next to each other: from index "
        "%lld on, others are between them",
        where->name, where->range, (long long)r->found, (long long)r->at[0].first);
}

/* A value beyond the ends of the coordinate may be a mistake. */
static void warn_of_distance(const search *s)
{
    char least[CAL_DATE_SIZE], most[CAL_DATE_SIZE], value[CAL_DATE_SIZE];
    bool is_between = s->wanted >= s->least && s->wanted <= s->most;
    double spacing = s->n > 1 ? (s->most - s->least) / (double)(s->n - 1) : 0;
    if (!s->where->nearest || is_between || s->distance <= spacing || s->plan->rank != 0)
        return;
    explain_value(s, s->least, least);
    explain_value(s, s->most, most);
    explain_value(s, s->runs.at[0].first_value, value);
    tool_warning_print("warning: --where %s~%s: the values are %s to %s: the nearest is %s", s->where->name,
                       s->where->range, least, most, value);
}

/* --- longitudes that are turned --- */

static void set_turns(const copy_runs *runs, copy_var *var)
{
    var->nturns = 0;
    for (int i = 0; i < runs->n; i++) {
        const copy_run *run = &runs->at[i];
        if (run->turns != 0)
            var->turns[var->nturns++] = (copy_turn){run->first, run->last, 360 * run->turns};
    }
}

/* The turns of the coordinate, and of its bounds: of both, or of neither. Of several options for a coordinate, the last
 * one that turns it counts. */
static void mark_turned(copy_plan *plan, const search *s)
{
    if (!s->is_turnable)
        return;
    set_turns(&s->runs, &plan->vars[s->var - plan->vars]);
    if (s->bounds >= 0)
        set_turns(&s->runs, &plan->vars[s->bounds]);
}

static void report_turned(const search *s, const copy_run *first, const copy_run *last)
{
    char text[4][CAL_DATE_SIZE];
    explain_value(s, first->first_value, text[0]);
    explain_value(s, last->last_value, text[1]);
    explain_value(s, first->first_value + 360 * first->turns, text[2]);
    explain_value(s, last->last_value + 360 * last->turns, text[3]);
    tool_warning_print(s->is_turnable
                           ? "--where %s=%s: longitudes %s to %s become %s to %s"
                           : "warning: --where %s=%s: longitudes %s to %s stay as they are, as attributes or the type "
                             "of this file do not allow %s to %s",
                       s->where->name, s->where->range, text[0], text[1], text[2], text[3]);
}

/* The longitudes that are in the range after full turns. */
static void turn(copy_plan *plan, const search *s)
{
    const copy_run *first = NULL, *last = NULL;
    for (int i = 0; i < s->runs.n; i++) {
        const copy_run *run = &s->runs.at[i];
        if (run->turns == 0)
            continue;
        first = first == NULL ? run : first;
        last = run;
    }
    if (first == NULL)
        return;
    mark_turned(plan, s);
    if (plan->rank == 0)
        report_turned(s, first, last);
}

/* --- the selection --- */

/* The indices first to first + count - 1, of which some are behind the end, from index 0 on. */
static int take_indices(const search *s, const copy_selection *selected, copy_dim *dim)
{
    const copy_where *where = s->where;
    int64_t first = dim->first, end = dim->first + dim->count, most = selected->first + selected->count;
    if (dim->stride != 1)
        return copy_error_print(s->plan, NC_EINVAL, "--where %s: -d gives a stride for dimension %s", where->name,
                                dim->name);
    if (dim->wrapped > 0 || (selected->wrapped > 0 && dim->count != dim->total))
        return copy_error_print(s->plan, NC_EINVAL,
                                "--where %s=%s: a range goes beyond the end of dimension %s, of which another option "
                                "selects a part",
                                where->name, where->range, dim->name);
    for (int i = 0; selected->wrapped > 0 && i < s->plan->ndims; i++)
        if (s->plan->dims[i].wrapped > 0)
            return copy_error_print(s->plan, NC_EINVAL,
                                    "--where %s=%s: the range goes beyond the end of dimension %s, as another one does",
                                    where->name, where->range, dim->name);
    dim->wrapped = selected->wrapped;
    dim->first = selected->first > first ? selected->first : first;
    dim->count = selected->count;
    if (selected->wrapped == 0)
        dim->count = (most < end ? most : end) - dim->first;
    return dim->count > 0 ? NC_NOERR
                          : copy_error_print(s->plan, NC_EINVALCOORDS,
                                             "--where %s=%s: no index is in this range and in "
                                             "the others of dimension %s",
                                             where->name, where->range, dim->name);
}

static int apply(copy_plan *plan, const copy_where *where, char *values)
{
    search s = {.plan = plan, .where = where, .values = values, .least = INFINITY, .most = -INFINITY};
    copy_selection selected;
    int64_t begin = 0;
    for (int i = 0; i < plan->nvars && s.var == NULL; i++)
        if (strcmp(plan->vars[i].name, where->name) == 0)
            s.var = &plan->vars[i];
    if (s.var == NULL || s.var->ndims != 1 || s.var->type == NC_CHAR || s.var->type == NC_STRING)
        return copy_error_print(plan, NC_ENOTVAR, "%s: --where %s: %s", plan->options->inputs[0], where->name,
                                s.var == NULL ? "no variable that is copied has this name"
                                              : "must be numbers along one dimension");
    for (int input = 0; input < (s.var->joined ? plan->options->ninputs : 1); input++) {
        PNC_TRY(open_and_search(&s, input, begin));
        begin += plan->lengths[input];
    }
    copy_dim *dim = &plan->dims[s.var->dimids[0]];
    const copy_cycle cycle = {.length = dim->total,
                              .is_cyclic = s.scale.is_longitude && !s.var->joined,
                              .is_closed = fabs(fabs(s.before - s.first) - 360) <= get_rounding(&s),
                              .ascends = 2 * s.rises + 1 >= s.n};
    if (!copy_runs_join(&s.runs, &cycle, &selected))
        return report_selection(&s);
    warn_of_distance(&s);
    PNC_TRY(take_indices(&s, &selected, dim));
    turn(plan, &s);
    return NC_NOERR;
}

int copy_where_apply(copy_plan *plan)
{
    if (plan->options->nwheres == 0)
        return NC_NOERR;
    char *values = pnc_memory_alloc(TOOL_BLOCK_ELEMENTS, sizeof(double));
    int err = tool_status_agree(values != NULL ? NC_NOERR : NC_ENOMEM);
    if (err != NC_NOERR)
        copy_error_print(plan, err, "not enough memory for --where");
    for (int i = 0; err == NC_NOERR && i < plan->options->nwheres; i++)
        err = apply(plan, &plan->options->wheres[i], values);
    pnc_memory_free(values);
    return err;
}
