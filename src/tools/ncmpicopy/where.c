/* Every rank reads the coordinate, block by block, and finds the same indices. */
#include "tools/ncmpicopy/where.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/blocks.h"
#include "tools/common/calendar.h"
#include "tools/common/message.h"
#include "tools/common/number.h"
#include "tools/common/parallel.h"
#include "tools/ncmpicopy/guard.h"

enum { WORD_SIZE = 128 };
#define HOURS_ROUNDING 1e-6 /* times are sums of hours in doubles */

int copy_where_parse(const char *text, copy_options *options)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || strlen(equals + 1) >= WORD_SIZE) {
        tool_error_print("--where must be coordinate=first:last, with numbers or dates, of which one may be empty: %s",
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
    options->wheres[options->nwheres++] = (copy_where){.name = name, .range = name + (equals - text) + 1};
    return -1;
}

/* --- bounds --- */

typedef struct range {
    double least, most; /* hours since 1970 of a time */
    bool is_open;       /* `most` is not included: the end of a period */
} range;

/* How the numbers of a coordinate become values. */
typedef struct scale {
    bool is_time, is_longitude;
    cal_units units;
    char calendar[WORD_SIZE];
    double factor, offset;
} scale;

typedef struct moment {
    int parts; /* that are given: year, month, day, hour, minute, second */
    long long year;
    int month, day, hour, minute;
    double second;
} moment;

/* A number and, before it, one of the separators; the end of the text is no number. */
static bool take_part(const char **at, const char *separators, int *number)
{
    char *end;
    if (**at == '\0' || strchr(separators, **at) == NULL || !isdigit((unsigned char)(*at)[1]))
        return false;
    *number = (int)strtol(*at + 1, &end, 10);
    *at = end;
    return true;
}

/* 2001, 2001-03, 2001-03-05, 2001-03-05T12, 2001-03-05 12:30, 2001-03-05T12:30:15.5 */
static bool parse_moment(const char *text, moment *out)
{
    char *end;
    *out = (moment){.month = 1, .day = 1};
    out->year = strtoll(text, &end, 10);
    const char *at = end;
    if (at == text)
        return false;
    out->parts = 1;
    out->parts += take_part(&at, "-", &out->month);
    out->parts += out->parts == 2 && take_part(&at, "-", &out->day);
    out->parts += out->parts == 3 && take_part(&at, "T ", &out->hour);
    out->parts += out->parts == 4 && take_part(&at, ":", &out->minute);
    if (out->parts == 5 && *at == ':' && isdigit((unsigned char)at[1])) {
        out->second = strtod(at + 1, &end);
        at = end;
        out->parts = 6;
    }
    if (*at == 'Z' && out->parts > 3)
        at++;
    return *at == '\0';
}

/* Hours since 1970 in the calendar of the coordinate; false if it has no such date. */
static bool convert_moment(const scale *s, const moment *m, double *hours)
{
    char text[WORD_SIZE];
    cal_units units;
    cal_clock clock;
    snprintf(text, sizeof text, "hours since %04lld-%02d-%02d %02d:%02d:00", m->year, m->month, m->day, m->hour,
             m->minute);
    const char *calendar = s->calendar[0] != '\0' ? s->calendar : NULL;
    if (!tool_clock_parse(text, calendar, &clock) || !tool_units_parse(text, calendar, &units))
        return false;
    *hours = units.base_hours + m->second / 3600;
    return true;
}

/* The end of the period that a date with some of its parts is. */
static bool convert_end(const scale *s, moment m, double *hours)
{
    static const double lengths[] = {0, 0, 0, 24, 1, 1. / 60, 1. / 3600};
    if (m.parts == 1)
        m.year++;
    if (m.parts == 2 && ++m.month == 13) {
        m.month = 1;
        m.year++;
    }
    if (!convert_moment(s, &m, hours))
        return false;
    *hours += m.parts == 6 && m.second != floor(m.second) ? HOURS_ROUNDING : lengths[m.parts];
    return true;
}

static bool parse_number(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && !isnan(*number);
}

/* An empty bound is open. */
static bool parse_least(const scale *s, const char *text, range *r)
{
    moment m;
    if (*text == '\0')
        return true;
    return s->is_time ? parse_moment(text, &m) && convert_moment(s, &m, &r->least) : parse_number(text, &r->least);
}

static bool parse_most(const scale *s, const char *text, range *r)
{
    moment m;
    if (*text == '\0')
        return true;
    r->is_open = s->is_time;
    return s->is_time ? parse_moment(text, &m) && convert_end(s, m, &r->most) : parse_number(text, &r->most);
}

/* Times have colons, too: the range is cut where both halves are bounds. */
static bool parse_range(const scale *s, const char *text, range *r)
{
    char first[WORD_SIZE];
    for (const char *colon = strchr(text, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        *r = (range){-INFINITY, INFINITY, false};
        memcpy(first, text, (size_t)(colon - text));
        first[colon - text] = '\0';
        if (parse_least(s, first, r) && parse_most(s, colon + 1, r))
            return true;
    }
    *r = (range){-INFINITY, INFINITY, false};
    return *text != '\0' && parse_least(s, text, r) && parse_most(s, text, r);
}

/* --- the coordinate --- */

static bool get_text(int ncid, int varid, const char *name, char text[WORD_SIZE])
{
    nc_type type = NC_NAT;
    MPI_Offset length = 0;
    memset(text, 0, WORD_SIZE);
    return ncmpi_inq_att(ncid, varid, name, &type, &length) == NC_NOERR && type == NC_CHAR && length > 0 &&
           length < WORD_SIZE && ncmpi_get_att_text(ncid, varid, name, text) == NC_NOERR;
}

static double get_number(int ncid, int varid, const char *name, double otherwise)
{
    nc_type type = NC_CHAR;
    MPI_Offset length = 0;
    double number;
    bool good = ncmpi_inq_att(ncid, varid, name, &type, &length) == NC_NOERR && type != NC_CHAR && length == 1 &&
                ncmpi_get_att_double(ncid, varid, name, &number) == NC_NOERR;
    return good ? number : otherwise;
}

/* The spellings that CF conventions 4.2 have. */
static bool is_unit_of_longitude(const char *units)
{
    static const char *const names[] = {"degrees_east", "degree_east", "degree_E", "degrees_E", "degreeE", "degreesE"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found = found || strcmp(units, names[i]) == 0;
    return found;
}

static void load_scale(int ncid, int varid, scale *s)
{
    char units[WORD_SIZE];
    bool has_units = get_text(ncid, varid, "units", units);
    *s = (scale){.factor = get_number(ncid, varid, "scale_factor", 1),
                 .offset = get_number(ncid, varid, "add_offset", 0)};
    get_text(ncid, varid, "calendar", s->calendar);
    s->is_longitude = has_units && is_unit_of_longitude(units);
    s->is_time = has_units && tool_units_parse(units, s->calendar[0] != '\0' ? s->calendar : NULL, &s->units) &&
                 s->units.hours > 0;
}

typedef struct search {
    const copy_plan *plan;
    const copy_var *var;
    scale scale;
    range range;
    int64_t found, first, last; /* how many values are in the range, and the indices of two of them */
    double least, most;         /* of all values */
    int64_t turned;             /* longitudes that are in the range after a full turn only */
    double one_turned;
    char *values;
} search;

static bool is_in_range(const search *s, double value)
{
    const range *r = &s->range;
    if (s->scale.is_time)
        return value >= r->least - HOURS_ROUNDING && value < r->most - HOURS_ROUNDING;
    if (s->var->type == NC_FLOAT && s->scale.factor == 1 && s->scale.offset == 0)
        return value >= (float)r->least && value <= (float)r->most;
    return value >= r->least && value <= r->most;
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
    if (!is_in_range(s, number)) {
        if (s->scale.is_longitude && (is_in_range(s, number - 360) || is_in_range(s, number + 360))) {
            s->turned++;
            s->one_turned = number;
        }
        return;
    }
    s->first = s->found == 0 ? index : s->first;
    s->last = index;
    s->found++;
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

static int open_and_search(search *s, const copy_where *where, int input, int64_t begin)
{
    const copy_plan *plan = s->plan;
    const char *path = plan->options->inputs[input];
    const copy_dim *dim = &plan->dims[s->var->dimids[0]];
    int ncid, varid;
    PNC_TRY(copy_input_open(plan, path, &ncid));
    int err = ncmpi_inq_varid(ncid, s->var->name, &varid);
    if (err == NC_NOERR && input == 0) {
        load_scale(ncid, varid, &s->scale);
        if (!parse_range(&s->scale, where->range, &s->range)) {
            ncmpi_close(ncid);
            return copy_error_print(plan, NC_EINVAL, "--where %s=%s: must be first:last, with %s", where->name,
                                    where->range,
                                    s->scale.is_time ? "dates such as 2001, 2001-03 or 2001-03-05T12:30 that its "
                                                       "calendar has"
                                                     : "numbers");
        }
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

static int report_selection(const search *s, const copy_where *where)
{
    char least[CAL_DATE_SIZE], most[CAL_DATE_SIZE];
    explain_value(s, s->least, least);
    explain_value(s, s->most, most);
    if (s->found == 0 && s->turned > 0)
        return copy_error_print(s->plan, NC_EINVALCOORDS,
                                "--where %s=%s: no value is in this range: longitudes of this file are %s to %s: give "
                                "the range in these",
                                where->name, where->range, least, most);
    if (s->found == 0)
        return copy_error_print(s->plan, NC_EINVALCOORDS, "--where %s=%s: no value is in this range: they are %s to %s",
                                where->name, where->range, least, most);
    return copy_error_print(s->plan, NC_EINVALCOORDS,
                            "--where %s=%s: %lld values are in this range, which are not next to each other: indices "
                            "%lld to %lld have others between them",
                            where->name, where->range, (long long)s->found, (long long)s->first, (long long)s->last);
}

/* -10:10 where longitudes are 0 to 358: those from 350 on are at the other end of the dimension. */
static void warn_of_turn(const search *s, const copy_where *where)
{
    char least[CAL_DATE_SIZE], most[CAL_DATE_SIZE], one[CAL_DATE_SIZE];
    if (s->turned == 0 || s->plan->rank != 0)
        return;
    explain_value(s, s->least, least);
    explain_value(s, s->most, most);
    explain_value(s, s->one_turned, one);
    tool_warning_print(
        "warning: --where %s=%s: longitudes of this file are %s to %s: %lld that are in this range after "
        "a full turn, such as %s, are left out, as they are not next to the others",
        where->name, where->range, least, most, (long long)s->turned, one);
}

static int apply(copy_plan *plan, const copy_where *where, char *values)
{
    search s = {.plan = plan, .values = values, .least = INFINITY, .most = -INFINITY};
    int64_t begin = 0;
    for (int i = 0; i < plan->nvars && s.var == NULL; i++)
        if (strcmp(plan->vars[i].name, where->name) == 0)
            s.var = &plan->vars[i];
    if (s.var == NULL || s.var->ndims != 1 || s.var->type == NC_CHAR)
        return copy_error_print(plan, NC_ENOTVAR, "%s: --where %s: %s", plan->options->inputs[0], where->name,
                                s.var == NULL ? "no variable that is copied has this name"
                                              : "must be numbers along one dimension");
    for (int input = 0; input < (s.var->joined ? plan->options->ninputs : 1); input++) {
        PNC_TRY(open_and_search(&s, where, input, begin));
        begin += plan->lengths[input];
    }
    if (s.found == 0 || s.last - s.first + 1 != s.found)
        return report_selection(&s, where);
    warn_of_turn(&s, where);
    copy_dim *dim = &plan->dims[s.var->dimids[0]];
    int64_t first = dim->first, end = dim->first + dim->count;
    if (dim->stride != 1)
        return copy_error_print(plan, NC_EINVAL, "--where %s: -d gives a stride for dimension %s", where->name,
                                dim->name);
    dim->first = s.first > first ? s.first : first;
    dim->count = (s.last + 1 < end ? s.last + 1 : end) - dim->first;
    return dim->count > 0 ? NC_NOERR
                          : copy_error_print(plan, NC_EINVALCOORDS,
                                             "--where %s=%s: no index is in this range and in "
                                             "the others of dimension %s",
                                             where->name, where->range, dim->name);
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
