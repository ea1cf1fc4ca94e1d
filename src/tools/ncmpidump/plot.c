/* The values of a picture. */
#include "tools/ncmpidump/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "tools/common/linear.h"
#include "tools/common/message.h"
#include "tools/common/moment.h"
#include "tools/common/output.h"

enum { MOST_X = 600, MOST_Y = 400, MOST_POINTS = 1200, PORTION = 1 << 16 };
#define MOST_COORDINATES (INT64_C(1) << 24) /* of longer dimensions the axis has indices */

/* What is selected of a variable: `index` of a dimension that the picture does not show. */
typedef struct plot_selection {
    const dump_file *file;
    const pnc_model *model;
    tool_relations relations;
    const pnc_var *var;
    int varid;
    int64_t *shape, *index;
    bool *is_fixed;
    tool_meaning meaning;
} plot_selection;

static int refuse_plot(const plot_selection *s, const char *what, const char *name)
{
    tool_error_print("%s: --plot: %s %s", s->file->options->path, what, name);
    return NC_EINVAL;
}

static int lack_plot_memory(const plot_selection *s)
{
    return dump_memory_report(s->file, s->var != NULL ? s->var->name : NULL);
}

/* --- coordinates --- */

static double load_real(const tool_meaning *m, const char *value)
{
    double parts[2];

    tool_number_load(m->type, value, parts);
    return (parts[0] + parts[1]) * m->scale + m->offset;
}

static bool is_missing(const tool_meaning *m, const char *value)
{
    double parts[2], x;

    tool_number_load(m->type, value, parts);
    x = parts[0] + parts[1];
    return !(x >= m->least && x <= m->most) || tool_meaning_find(m, value) >= 0;
}

/* The coordinate variable of a dimension, or -1. */
static int find_coordinate(const pnc_model *model, int dimid)
{
    int id = pnc_format_var_find(model, model->dims[dimid]->name);

    return id >= 0 && model->vars[id]->ndims == 1 && model->vars[id]->dimids[0] == dimid &&
                   model->vars[id]->type != NC_CHAR && model->vars[id]->type <= NC_UINT64
               ? id
               : -1;
}

/* The values of a coordinate variable; false if they do not ascend or descend. */
static int read_coordinates(const plot_selection *s, int id, const tool_meaning *m, int64_t n, double *out,
                            bool *usable)
{
    const pnc_var *var = s->model->vars[id];
    size_t size = pnc_type_get_size(var->type);
    char *values = pnc_memory_alloc(n, size);
    int64_t start = 0;
    int err =
        values == NULL ? lack_plot_memory(s) : tool_file_read_block(&s->file->input, var, &start, &n, true, values);

    *usable = err == NC_NOERR;
    for (int64_t i = 0; err == NC_NOERR && i < n; i++) {
        out[i] = load_real(m, values + (size_t)i * size);
        *usable = *usable && isfinite(out[i]) && !is_missing(m, values + (size_t)i * size) &&
                  (i == 0 || (out[i] != out[i - 1] && (i == 1 || (out[i] > out[i - 1]) == (out[1] > out[0]))));
    }
    pnc_memory_free(values);
    return err;
}

/* --- VAR,dim=index,dim~value,... --- */

/* A number, or a date for a coordinate with units of time: in its units. */
static bool parse_value(const tool_meaning *m, const char *text, double *value)
{
    cal_units units;
    bool is_time = tool_units_parse(m->units, m->calendar, &units) && units.hours > 0;

    if (!tool_value_parse(is_time, m->calendar, text, value))
        return false;
    if (is_time)
        *value = (*value - units.base_hours) / units.hours;
    return isfinite(*value);
}

/* The first one of several. */
static int64_t find_nearest(const tool_meaning *m, const double *values, int64_t n, double wanted)
{
    bool is_cyclic = tool_longitude_is_unit(m->units);
    double least = INFINITY;
    int64_t found = 0;

    for (int64_t i = 0; i < n; i++) {
        double distance = fabs(values[i] - wanted);

        if (is_cyclic)
            distance = fmin(fmod(distance, 360), 360 - fmod(distance, 360));
        if (distance < least) {
            least = distance;
            found = i;
        }
    }
    return found;
}

/* The index of the coordinate that is nearest to a value. */
static int fix_by_value(plot_selection *s, int d, const char *name, const char *text)
{
    int dimid = s->var->dimids[d], id = find_coordinate(s->model, dimid);
    bool is_read = id >= 0 && s->shape[d] <= MOST_COORDINATES, usable = false;
    double *values = is_read ? pnc_memory_alloc(s->shape[d], sizeof *values) : NULL;
    double wanted;
    tool_meaning m;
    int err = NC_NOERR;

    if (is_read && values == NULL)
        return lack_plot_memory(s);
    if (is_read) {
        tool_meaning_load(s->model, &s->relations, id, &m);
        err = read_coordinates(s, id, &m, s->shape[d], values, &usable);
    }
    if (err == NC_NOERR && !usable)
        err = refuse_plot(s, "no coordinate variable whose values ascend or descend has dimension", name);
    else if (err == NC_NOERR && !parse_value(&m, text, &wanted))
        err = refuse_plot(s, "neither a number nor a date of the calendar for this coordinate:", text);
    else if (err == NC_NOERR)
        s->index[d] = find_nearest(&m, values, s->shape[d], wanted);
    pnc_memory_free(values);
    return err;
}

static int fix_by_index(plot_selection *s, int d, const char *name, const char *text)
{
    char *end;
    long long index = strtoll(text, &end, 10);

    if (end == text || *end != '\0' || index >= s->shape[d] || index < -s->shape[d]) {
        tool_error_print(
            "%s: --plot: the indices of dimension %s are 0 to %lld, or -1 for the last one; %s~%s is the "
            "nearest value of its coordinate",
            s->file->options->path, name, (long long)s->shape[d] - 1, name, text);
        return NC_EINVALCOORDS;
    }
    s->index[d] = index < 0 ? index + s->shape[d] : index;
    return NC_NOERR;
}

static int fix_dimension(plot_selection *s, const char *part, size_t n)
{
    char text[PLOT_TEXT], *value;
    bool by_value;

    snprintf(text, sizeof text, "%.*s", (int)n, part);
    value = strpbrk(text, "=~");
    if (value == NULL || n >= sizeof text)
        return refuse_plot(s, "must be VARIABLE,DIMENSION=INDEX,DIMENSION~VALUE,..., not", text);
    by_value = *value == '~';
    *value++ = '\0';
    for (int d = 0; d < s->var->ndims; d++) {
        if (strcmp(s->model->dims[s->var->dimids[d]]->name, text) != 0 || s->is_fixed[d])
            continue;
        s->is_fixed[d] = true;
        return by_value ? fix_by_value(s, d, text, value) : fix_by_index(s, d, text, value);
    }
    return refuse_plot(s, "the variable has no dimension", text);
}

static int find_plotted(plot_selection *s)
{
    const char *text = s->file->options->plot;
    size_t n = strcspn(text, ",");
    char name[NC_MAX_NAME + 1];
    tool_names wanted = {0};
    int err;

    snprintf(name, sizeof name, "%.*s", (int)n, text);
    s->varid = pnc_format_var_find(s->model, name);
    if (s->varid < 0) {
        err = tool_names_parse("--plot", name, &wanted);
        if (err == NC_NOERR)
            err = tool_names_check(&wanted, s->file->options->path, s->model);
        tool_names_free(&wanted);
        return err != NC_NOERR ? err : NC_ENOTVAR;
    }
    s->var = s->model->vars[s->varid];
    if (s->var->type == NC_CHAR || s->var->type > NC_UINT64)
        return refuse_plot(s, "no numbers are in variable", name);
    return NC_NOERR;
}

/* Of the dimensions that are not given, all but the last two with more than one element are cut at index 0. */
static int choose_shown(plot_selection *s)
{
    int shown = 0;

    for (int d = s->var->ndims - 1; d >= 0; d--) {
        if (s->shape[d] == 0)
            return refuse_plot(s, "there are no values along dimension", s->model->dims[s->var->dimids[d]]->name);
        if (s->is_fixed[d])
            continue;
        s->is_fixed[d] = shown == 2 || s->shape[d] == 1;
        shown += !s->is_fixed[d];
    }
    return shown > 0 ? NC_NOERR
                     : refuse_plot(s, "a picture needs a dimension with two elements: one value of", s->var->name);
}

static int select_values(plot_selection *s)
{
    const char *text = s->file->options->plot;

    PNC_TRY(find_plotted(s));
    s->shape = pnc_memory_alloc(s->var->ndims, sizeof *s->shape);
    s->index = pnc_memory_alloc_zeroed(s->var->ndims, sizeof *s->index);
    s->is_fixed = pnc_memory_alloc_zeroed(s->var->ndims, sizeof *s->is_fixed);
    if (s->shape == NULL || s->index == NULL || s->is_fixed == NULL ||
        tool_relations_init(s->model, &s->relations) != NC_NOERR)
        return lack_plot_memory(s);
    tool_file_get_shape(&s->file->input, s->var, s->shape);
    for (text += strcspn(text, ","); *text == ',';) {
        size_t n = strcspn(++text, ",");

        PNC_TRY(fix_dimension(s, text, n));
        text += n;
    }
    tool_meaning_load(s->model, &s->relations, s->varid, &s->meaning);
    return choose_shown(s);
}

/* --- axes --- */

/* A text attribute; "" without it. */
static void get_text_of(const pnc_var *var, const char *name, char out[PLOT_TEXT])
{
    int i = pnc_format_atts_find(&var->atts, name);
    const pnc_att *att = i >= 0 ? var->atts.at[i] : NULL;

    out[0] = '\0';
    if (att != NULL && att->type == NC_CHAR && att->len > 0)
        snprintf(out, PLOT_TEXT, "%.*s", (int)pnc_min64(att->len, PLOT_TEXT - 1), (const char *)att->value);
}

/* "air temperature (K)" */
static void name_quantity(const pnc_var *var, const tool_meaning *m, bool with_units, char out[PLOT_TEXT])
{
    char name[PLOT_TEXT];

    get_text_of(var, "long_name", name);
    if (name[0] == '\0')
        get_text_of(var, "standard_name", name);
    if (name[0] == '\0')
        snprintf(name, sizeof name, "%s", var->name);
    snprintf(out, PLOT_TEXT, "%.200s%s%.120s%s", name, with_units && m->units[0] != '\0' ? " (" : "",
             with_units ? m->units : "", with_units && m->units[0] != '\0' ? ")" : "");
}

/* Edges are between elements. */
static void place_edges(plot_axis *a, const double *at)
{
    for (int64_t i = 0; i <= a->n; i++) {
        int64_t k = pnc_min64(i * a->per_cell, a->length);

        if (at == NULL)
            a->edges[i] = (double)k - 0.5;
        else if (k == 0)
            a->edges[i] = at[0] - (at[1] - at[0]) / 2;
        else if (k == a->length)
            a->edges[i] = at[k - 1] + (at[k - 1] - at[k - 2]) / 2;
        else
            a->edges[i] = (at[k - 1] + at[k]) / 2;
    }
    for (int64_t i = 0; i < a->n; i++) {
        int64_t first = i * a->per_cell, last = pnc_min64(first + a->per_cell, a->length) - 1;

        a->middles[i] = at == NULL ? (double)(first + last) / 2 : (at[first] + at[last]) / 2;
    }
}

/* Units of pressure make a vertical coordinate that is positive downwards, also without the attribute (CF, 4.3.1). */
static bool is_pressure(const char *units)
{
    static const char *const names[] = {"Pa",       "hPa",       "kPa", "mb",      "mbar",
                                        "millibar", "millibars", "bar", "decibar", "dbar"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(units, names[i]) == 0)
            return true;
    return false;
}

/* What a coordinate variable says about its axis. */
static void describe_axis(const plot_selection *s, int id, const tool_meaning *m, plot_axis *a)
{
    const pnc_var *var = s->model->vars[id];
    char positive[PLOT_TEXT];

    get_text_of(var, "positive", positive);
    a->is_reversed = strcmp(positive, "down") == 0 || (positive[0] == '\0' && is_pressure(m->units));
    a->is_degrees = strncmp(m->units, "degree", 6) == 0;
    a->is_time = tool_units_parse(m->units, m->calendar, &a->units);
    name_quantity(var, m, !a->is_time, a->title);
}

static int make_edges(const plot_selection *s, int id, plot_axis *a)
{
    double *at = id >= 0 ? pnc_memory_alloc(a->length, sizeof *at) : NULL;
    tool_meaning m;
    bool usable = false;
    int err = NC_NOERR;

    a->edges = pnc_memory_alloc(a->n + 1, sizeof *a->edges);
    a->middles = pnc_memory_alloc(a->n, sizeof *a->middles);
    if (a->edges == NULL || a->middles == NULL || (id >= 0 && at == NULL)) {
        pnc_memory_free(at);
        return lack_plot_memory(s);
    }
    if (id >= 0) {
        tool_meaning_load(s->model, &s->relations, id, &m);
        err = read_coordinates(s, id, &m, a->length, at, &usable);
    }
    if (usable)
        describe_axis(s, id, &m, a);
    place_edges(a, usable ? at : NULL);
    pnc_memory_free(at);
    return err;
}

static int init_axis(const plot_selection *s, int d, int64_t most, plot_axis *a)
{
    int dimid = s->var->dimids[d];
    int id = s->shape[d] <= MOST_COORDINATES ? find_coordinate(s->model, dimid) : -1;

    a->dim = d;
    a->length = s->shape[d];
    a->per_cell = (a->length - 1) / most + 1;
    a->n = (a->length - 1) / a->per_cell + 1;
    snprintf(a->title, sizeof a->title, "%.200s (index)", s->model->dims[dimid]->name);
    return make_edges(s, id, a);
}

/* The slower dimension is y, unless it is time. */
static int init_axes(const plot_selection *s, plot_picture *p)
{
    int first = -1, second = -1, id;
    tool_meaning m;

    for (int d = 0; d < s->var->ndims; d++)
        if (!s->is_fixed[d] && first < 0)
            first = d;
        else if (!s->is_fixed[d])
            second = d;
    p->naxes = second < 0 ? 1 : 2;
    p->y.n = 1;
    if (second < 0)
        return init_axis(s, first, MOST_POINTS, &p->x);
    id = find_coordinate(s->model, s->var->dimids[first]);
    if (id >= 0) {
        tool_meaning_load(s->model, &s->relations, id, &m);
        p->is_turned = tool_units_parse(m.units, m.calendar, &p->x.units);
    }
    PNC_TRY(init_axis(s, p->is_turned ? first : second, MOST_X, &p->x));
    return init_axis(s, p->is_turned ? second : first, MOST_Y, &p->y);
}

/* --- values --- */

static void add_to_cell(const tool_meaning *m, const char *value, plot_cell *cell)
{
    double x;

    if (is_missing(m, value))
        return;
    x = load_real(m, value);
    cell->least = cell->count == 0 || x < cell->least ? x : cell->least;
    cell->most = cell->count == 0 || x > cell->most ? x : cell->most;
    cell->sum += x;
    cell->count++;
}

/* Elements along the faster dimension, one by one where they are not adjacent: in a classic file, unless it is the last
 * one. Element i is in the cell cells[i / fast->per_cell * step]. */
static int read_row(const plot_selection *s, const plot_axis *fast, int64_t *start, int64_t *count, char *values,
                    plot_cell *cells, int64_t step)
{
    int d = fast->dim;
    size_t size = pnc_type_get_size(s->var->type);
    int64_t most = d == s->var->ndims - 1 || s->file->input.reader != NULL ? PORTION : 1;

    for (int64_t at = 0; at < fast->length; at += count[d]) {
        start[d] = at;
        count[d] = pnc_min64(most, fast->length - at);
        PNC_TRY(tool_file_read_block(&s->file->input, s->var, start, count, true, values));
        for (int64_t i = 0; i < count[d]; i++)
            add_to_cell(&s->meaning, values + (size_t)i * size, &cells[(at + i) / fast->per_cell * step]);
    }
    return NC_NOERR;
}

static int read_rows(const plot_selection *s, plot_picture *p, int64_t *start, int64_t *count, char *values)
{
    const plot_axis *fast = p->is_turned ? &p->y : &p->x, *slow = p->is_turned ? &p->x : &p->y;
    int64_t rows = p->naxes == 2 ? slow->length : 1;

    for (int d = 0; d < s->var->ndims; d++) {
        start[d] = s->index[d];
        count[d] = 1;
    }
    for (int64_t i = 0; i < rows; i++) {
        int64_t cell = p->naxes == 2 ? i / slow->per_cell : 0;

        if (p->naxes == 2)
            start[slow->dim] = i;
        PNC_TRY(read_row(s, fast, start, count, values, p->cells + cell * (p->is_turned ? 1 : p->x.n),
                         p->is_turned ? p->x.n : 1));
    }
    return NC_NOERR;
}

static void find_range(plot_picture *p)
{
    for (int64_t i = 0; i < p->x.n * p->y.n; i++) {
        const plot_cell *c = &p->cells[i];
        double least = p->naxes == 1 ? c->least : c->sum / (double)c->count;
        double most = p->naxes == 1 ? c->most : least;

        p->has_missing = p->has_missing || c->count == 0;
        if (c->count == 0 || !isfinite(least) || !isfinite(most))
            continue;
        p->least = p->has_values && p->least < least ? p->least : least;
        p->most = p->has_values && p->most > most ? p->most : most;
        p->has_values = true;
    }
}

static int read_cells(const plot_selection *s, plot_picture *p)
{
    int64_t *start = pnc_memory_alloc(2 * (int64_t)s->var->ndims, sizeof *start);
    char *values = pnc_memory_alloc(PORTION, pnc_type_get_size(s->var->type));
    int err;

    p->cells = pnc_memory_alloc_zeroed(p->x.n * p->y.n, sizeof *p->cells);
    if (start == NULL || values == NULL || p->cells == NULL)
        err = lack_plot_memory(s);
    else
        err = read_rows(s, p, start, start + s->var->ndims, values);
    pnc_memory_free(start);
    pnc_memory_free(values);
    if (err == NC_NOERR)
        find_range(p);
    return err;
}

/* --- texts --- */

/* Parts separated by commas, cut at the end. */
static void append_text(char out[PLOT_TEXT], const char *text)
{
    size_t used = strlen(out), n = strlen(text);

    if (used > 0 && used + 2 < PLOT_TEXT) {
        memcpy(out + used, ", ", 3);
        used += 2;
    }
    n = n < PLOT_TEXT - used ? n : PLOT_TEXT - used - 1;
    memcpy(out + used, text, n);
    out[used + n] = '\0';
}

/* "lev = 850 hPa", "time = 2001-01-31", "member = index 3" */
static int explain_index(const plot_selection *s, int d, char out[PLOT_TEXT])
{
    int dimid = s->var->dimids[d], id = find_coordinate(s->model, dimid);
    const char *name = s->model->dims[dimid]->name;
    int64_t one = 1;
    char value[8], date[CAL_DATE_SIZE], number[CDL_NUMBER_SIZE];
    cal_units units;
    tool_meaning m;

    snprintf(out, PLOT_TEXT, "%.200s = index %lld", name, (long long)s->index[d]);
    if (id < 0)
        return NC_NOERR;
    PNC_TRY(tool_file_read_block(&s->file->input, s->model->vars[id], &s->index[d], &one, true, value));
    tool_meaning_load(s->model, &s->relations, id, &m);
    if (is_missing(&m, value))
        return NC_NOERR;
    if (tool_units_parse(m.units, m.calendar, &units) && tool_calendar_print(&units, load_real(&m, value), ' ', date)) {
        snprintf(out, PLOT_TEXT, "%.200s = %s", name, date);
        return NC_NOERR;
    }
    snprintf(number, sizeof number, "%.7g", load_real(&m, value));
    snprintf(out, PLOT_TEXT, "%.200s = %.40s%s%.120s", name, number, m.units[0] != '\0' ? " " : "", m.units);
    return NC_NOERR;
}

static int explain_picture(const plot_selection *s, plot_picture *p)
{
    char text[PLOT_TEXT];

    name_quantity(s->var, &s->meaning, false, p->title);
    snprintf(p->quantity, sizeof p->quantity, "%.200s%s%.120s", s->var->name, s->meaning.units[0] != '\0' ? " in " : "",
             s->meaning.units);
    for (int d = 0; d < s->var->ndims; d++)
        if (s->is_fixed[d]) {
            PNC_TRY(explain_index(s, d, text));
            append_text(p->note, text);
        }
    if (p->naxes == 2 && (p->x.per_cell > 1 || p->y.per_cell > 1)) {
        snprintf(text, sizeof text, "means of %lld x %lld values", (long long)p->y.per_cell, (long long)p->x.per_cell);
        append_text(p->note, text);
    } else if (p->x.per_cell > 1) {
        snprintf(text, sizeof text, "means of %lld values, with their range", (long long)p->x.per_cell);
        append_text(p->note, text);
    }
    return NC_NOERR;
}

/* --- the picture --- */

int dump_plot_load(const dump_file *file, plot_picture *p)
{
    plot_selection s = {.file = file, .model = &file->input.model};
    int err;

    memset(p, 0, sizeof *p);
    err = select_values(&s);
    if (err == NC_NOERR)
        err = init_axes(&s, p);
    if (err == NC_NOERR)
        err = read_cells(&s, p);
    if (err == NC_NOERR)
        err = explain_picture(&s, p);
    tool_relations_free(&s.relations);
    pnc_memory_free(s.shape);
    pnc_memory_free(s.index);
    pnc_memory_free(s.is_fixed);
    return err;
}

void dump_plot_free(plot_picture *p)
{
    pnc_memory_free(p->x.edges);
    pnc_memory_free(p->y.edges);
    pnc_memory_free(p->x.middles);
    pnc_memory_free(p->y.middles);
    pnc_memory_free(p->cells);
}

static bool is_svg(const char *head, size_t n)
{
    return (n >= 5 && memcmp(head, "<?xml", 5) == 0) || (n >= 4 && memcmp(head, "<svg", 4) == 0);
}

static int write_to_file(const dump_file *file, const plot_picture *p)
{
    const tool_output_request request = {.path = file->options->output,
                                         .inputs = &file->options->path,
                                         .ninputs = 1,
                                         .streams = true,
                                         .is_kind = is_svg,
                                         .kind = "an SVG file"};
    tool_output output;
    pnc_error error = {0};
    FILE *out;
    int err = tool_output_begin(&request, &output, &error);

    if (err == NC_NOERR) {
        out = fopen(output.temporary, "w");
        if (out != NULL)
            dump_plot_draw(p, out);
        if (out == NULL || (ferror(out) != 0) + (fclose(out) != 0) > 0) {
            err = pnc_error_set(&error, NC_EWRITE, "%s: cannot be written", file->options->output);
            tool_output_discard(&output);
        } else {
            err = tool_output_commit(&output, &error);
        }
    }
    if (err != NC_NOERR)
        tool_error_print("%s", error.text);
    return err;
}

int dump_plot_write(const dump_file *file)
{
    plot_picture picture;
    int err = dump_plot_load(file, &picture);

    if (err == NC_NOERR && file->options->output != NULL)
        err = write_to_file(file, &picture);
    else if (err == NC_NOERR)
        dump_plot_draw(&picture, stdout);
    dump_plot_free(&picture);
    return err;
}
