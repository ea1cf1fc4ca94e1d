/* A picture as SVG. */
#include <math.h>
#include <string.h>

#include "tools/common/svg.h"
#include "tools/ncmpidump/plot.h"
#include "tools/ncmpidump/plot_ticks.h"

enum { WIDTH = 900, LEFT = 90, TOP = 78, BOTTOM = 62, BAR_SPACE = 130, RIGHT = 30, PLOT_HEIGHT = 420, LEVELS = 64 };

typedef struct plot_scale {
    double low, high;     /* values at the ends */
    double begin, length; /* pixels */
    bool is_reversed;
} plot_scale;

static double place(const plot_scale *s, double value)
{
    double part = (value - s->low) / (s->high - s->low);

    return s->begin + s->length * (s->is_reversed ? 1 - part : part);
}

/* --- colours --- */

/* Two sequences of colours that readers with any sight can distinguish: for values on one side of 0, and around it. */
static const unsigned char one_sided[][3] = {{68, 1, 84},    {72, 40, 120},  {62, 73, 137},  {49, 104, 142},
                                             {38, 130, 142}, {31, 158, 137}, {53, 183, 121}, {110, 206, 88},
                                             {181, 222, 43}, {253, 231, 37}};
static const unsigned char two_sided[][3] = {{5, 48, 97},     {33, 102, 172},  {67, 147, 195},  {146, 197, 222},
                                             {209, 229, 240}, {247, 247, 247}, {253, 219, 199}, {244, 165, 130},
                                             {214, 96, 77},   {178, 24, 43},   {103, 0, 31}};

typedef struct plot_colours {
    const unsigned char (*at)[3];
    int n;
    double low, high; /* values of the first and the last one */
} plot_colours;

static plot_colours choose_colours(const plot_picture *p)
{
    double most = fmax(-p->least, p->most);

    if (p->least < 0 && p->most > 0 && fmin(-p->least, p->most) > most / 5)
        return (plot_colours){two_sided, sizeof two_sided / sizeof *two_sided, -most, most};
    return (plot_colours){one_sided, sizeof one_sided / sizeof *one_sided, p->least, p->most};
}

static int find_level(const plot_colours *c, double value)
{
    double part = c->high > c->low ? (value - c->low) / (c->high - c->low) : 0.5;

    if (part >= 1)
        return LEVELS - 1;
    return part > 0 ? (int)(part * LEVELS) : 0;
}

static void write_colour(const plot_colours *c, int level, FILE *out)
{
    double at = (level + 0.5) / LEVELS * (c->n - 1);
    int i = (int)at;

    fputc('#', out);
    for (int k = 0; k < 3; k++)
        fprintf(out, "%02x", (int)(c->at[i][k] + (at - i) * (c->at[i + 1][k] - c->at[i][k]) + 0.5));
}

/* --- the map --- */

static double get_cell_value(const plot_picture *p, int64_t row, int64_t column)
{
    const plot_cell *c = &p->cells[row * p->x.n + column];

    return c->count == 0 ? NAN : c->sum / (double)c->count;
}

static bool has_level(const plot_picture *p, const plot_colours *c, int level, int64_t row, int64_t column)
{
    double value = get_cell_value(p, row, column);

    return isfinite(value) && find_level(c, value) == level;
}

/* A run of cells in a row. */
static void draw_run(const plot_picture *p, const plot_scale *x, const plot_scale *y, int64_t row, int64_t begin,
                     int64_t end, FILE *out)
{
    double x1 = place(x, p->x.edges[begin]), x2 = place(x, p->x.edges[end]);
    double y1 = place(y, p->y.edges[row]), y2 = place(y, p->y.edges[row + 1]);

    fprintf(out, "M%.2f,%.2fH%.2fV%.2fH%.2fz", x1, y1, x2, y2, x1);
}

/* One path for each colour. */
static void draw_cells(const plot_picture *p, const plot_scale *x, const plot_scale *y, const plot_colours *c,
                       FILE *out)
{
    for (int level = 0; level < LEVELS; level++) {
        bool any = false;

        for (int64_t row = 0; row < p->y.n; row++)
            for (int64_t begin = 0, end; begin < p->x.n; begin = end + 1) {
                for (end = begin; end < p->x.n && has_level(p, c, level, row, end); end++)
                    ;
                if (end == begin)
                    continue;
                if (!any) {
                    fputs("<path shape-rendering=\"crispEdges\" fill=\"", out);
                    write_colour(c, level, out);
                    fputs("\" d=\"", out);
                }
                any = true;
                draw_run(p, x, y, row, begin, end, out);
            }
        fputs(any ? "\"/>\n" : "", out);
    }
}

/* --- axes --- */

static const char axis_line[] = "stroke=\"#333\"", grid_line[] = "stroke=\"#ddd\"";

static plot_scale make_scale(const plot_axis *a, double begin, double length, bool is_up)
{
    double first = a->edges[0], last = a->edges[a->n];

    return (plot_scale){.low = fmin(first, last),
                        .high = fmax(first, last),
                        .begin = begin,
                        .length = length,
                        .is_reversed = is_up != a->is_reversed};
}

static void draw_x_axis(const plot_axis *a, const plot_scale *x, svg_box box, bool grid, FILE *out)
{
    plot_ticks ticks;
    double bottom = box.y + box.height;

    dump_plot_ticks_choose(x->low, x->high, a->is_time ? (int)(box.width / 95) : (int)(box.width / 75),
                           a->is_time ? &a->units : NULL, &ticks);
    for (int i = 0; i < ticks.n; i++) {
        double at = place(x, ticks.at[i]);

        if (grid)
            tool_svg_draw_line(out, at, box.y, at, bottom, grid_line);
        tool_svg_draw_line(out, at, bottom, at, bottom + 5, axis_line);
        tool_svg_draw_text(out, (svg_label){at, bottom + 20, SVG_MIDDLE, "", 30}, ticks.text[i]);
    }
    tool_svg_draw_text(out, (svg_label){box.x + box.width / 2, bottom + 44, SVG_MIDDLE, "", 100}, a->title);
}

static void draw_y_ticks(const plot_scale *y, const cal_units *units, svg_box box, bool grid, FILE *out)
{
    plot_ticks ticks;

    dump_plot_ticks_choose(y->low, y->high, (int)(box.height / 50) + 1, units, &ticks);
    for (int i = 0; i < ticks.n; i++) {
        double at = place(y, ticks.at[i]);

        if (grid)
            tool_svg_draw_line(out, box.x, at, box.x + box.width, at, grid_line);
        tool_svg_draw_line(out, box.x - 5, at, box.x, at, axis_line);
        tool_svg_draw_text(out, (svg_label){box.x - 8, at + 4.5, SVG_END, "", 30}, ticks.text[i]);
    }
}

static void draw_y_title(const char *title, svg_box box, FILE *out)
{
    fprintf(out, "<g transform=\"translate(18,%.1f) rotate(-90)\">", box.y + box.height / 2);
    tool_svg_draw_text(out, (svg_label){0, 0, SVG_MIDDLE, "", (int)(box.height / 7)}, title);
    fputs("</g>\n", out);
}

static void draw_titles(const plot_picture *p, FILE *out)
{
    tool_svg_draw_text(out, (svg_label){LEFT, 32, SVG_START, "title", 80}, p->title);
    tool_svg_draw_text(out, (svg_label){LEFT, 56, SVG_START, "", 110}, p->note);
}

/* --- the colour bar --- */

static void draw_bar(const plot_picture *p, const plot_colours *c, svg_box box, FILE *out)
{
    double step = box.height / LEVELS, x = box.x + box.width + 22;
    plot_scale scale = {.low = c->low, .high = c->high, .begin = box.y, .length = box.height, .is_reversed = true};
    plot_ticks ticks;

    for (int level = 0; p->has_values && level < LEVELS; level++) {
        fprintf(out, "<rect shape-rendering=\"crispEdges\" x=\"%.2f\" y=\"%.2f\" width=\"18\" height=\"%.2f\" fill=\"",
                x, box.y + box.height - (level + 1) * step, step + 0.5);
        write_colour(c, level, out);
        fputs("\"/>\n", out);
    }
    dump_plot_ticks_choose(c->low, c->high, (int)(box.height / 45), NULL, &ticks);
    for (int i = 0; i < ticks.n && p->has_values; i++) {
        double at = place(&scale, ticks.at[i]);

        tool_svg_draw_line(out, x + 18, at, x + 22, at, axis_line);
        tool_svg_draw_text(out, (svg_label){x + 26, at + 4.5, SVG_START, "", 12}, ticks.text[i]);
    }
    if (p->has_missing) {
        tool_svg_draw_rect(out, (svg_box){x, box.y + box.height + 16, 18, 14},
                           "fill=\"url(#missing)\" stroke=\"#999\"");
        tool_svg_draw_text(out, (svg_label){x + 26, box.y + box.height + 28, SVG_START, "", 12}, "missing");
    }
    tool_svg_draw_text(out, (svg_label){box.x + box.width + BAR_SPACE - 10, box.y - 10, SVG_END, "", 40}, p->quantity);
}

/* --- pictures --- */

/* Axes in degrees have the same scale, as far as there is space. */
static svg_box choose_box(const plot_picture *p)
{
    svg_box box = {LEFT, TOP, WIDTH - LEFT - (p->naxes == 2 ? BAR_SPACE : RIGHT), PLOT_HEIGHT};
    double x, y;

    if (p->naxes == 1 || !p->x.is_degrees || !p->y.is_degrees)
        return box;
    x = fabs(p->x.edges[p->x.n] - p->x.edges[0]);
    y = fabs(p->y.edges[p->y.n] - p->y.edges[0]);
    box.height = fmax(180, fmin(560, box.width * y / x));
    box.width = fmax(240, fmin(box.width, box.height * x / y));
    return box;
}

static void begin_picture(double width, double height, FILE *out)
{
    tool_svg_begin(out, width, height);
    fputs(
        "<defs><pattern id=\"missing\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#eee\"/>"
        "<rect width=\"1.5\" height=\"6\" fill=\"#bbb\"/></pattern></defs>\n",
        out);
}

static void draw_map(const plot_picture *p, svg_box box, FILE *out)
{
    plot_scale x = make_scale(&p->x, box.x, box.width, false), y = make_scale(&p->y, box.y, box.height, true);
    plot_colours colours = choose_colours(p);

    x.is_reversed = false;
    tool_svg_draw_rect(out, box, "fill=\"url(#missing)\"");
    if (p->has_values)
        draw_cells(p, &x, &y, &colours, out);
    tool_svg_draw_rect(out, box, "fill=\"none\" stroke=\"#333\"");
    draw_x_axis(&p->x, &x, box, false, out);
    draw_y_ticks(&y, p->y.is_time ? &p->y.units : NULL, box, false, out);
    draw_y_title(p->y.title, box, out);
    draw_bar(p, &colours, box, out);
}

/* Where values are missing. */
static void draw_gaps(const plot_picture *p, const plot_scale *x, svg_box box, FILE *out)
{
    for (int64_t i = 0; i < p->x.n; i++) {
        double a = place(x, p->x.edges[i]), b;

        if (p->cells[i].count > 0)
            continue;
        while (i + 1 < p->x.n && p->cells[i + 1].count == 0)
            i++;
        b = place(x, p->x.edges[i + 1]);
        tool_svg_draw_rect(out, (svg_box){fmin(a, b), box.y, fabs(b - a), box.height}, "fill=\"url(#missing)\"");
    }
}

static bool is_drawn(const plot_cell *c)
{
    return c->count > 0 && isfinite(c->sum);
}

/* From the least to the largest value of each cell, without gaps. */
static void draw_range(const plot_picture *p, const plot_scale *x, const plot_scale *y, int64_t begin, int64_t end,
                       FILE *out)
{
    fputs("<path fill=\"#2166ac\" fill-opacity=\"0.25\" d=\"", out);
    for (int64_t i = begin; i < end; i++)
        fprintf(out, "%c%.2f,%.2f", i == begin ? 'M' : 'L', place(x, p->x.middles[i]), place(y, p->cells[i].most));
    for (int64_t i = end - 1; i >= begin; i--)
        fprintf(out, "L%.2f,%.2f", place(x, p->x.middles[i]), place(y, p->cells[i].least));
    fputs("z\"/>\n", out);
}

static void draw_curve(const plot_picture *p, const plot_scale *x, const plot_scale *y, FILE *out)
{
    for (int64_t begin = 0, end; begin < p->x.n; begin = end + 1) {
        for (end = begin; end < p->x.n && is_drawn(&p->cells[end]); end++)
            ;
        if (end == begin)
            continue;
        if (p->x.per_cell > 1)
            draw_range(p, x, y, begin, end, out);
        fputs("<path fill=\"none\" stroke=\"#2166ac\" stroke-width=\"1.8\" stroke-linejoin=\"round\" d=\"", out);
        for (int64_t i = begin; i < end; i++)
            fprintf(out, "%c%.2f,%.2f", i == begin ? 'M' : 'L', place(x, p->x.middles[i]),
                    place(y, p->cells[i].sum / (double)p->cells[i].count));
        fputs("\"/>\n", out);
        for (int64_t i = begin; i < end && (p->x.n <= 60 || end == begin + 1); i++)
            fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3\" fill=\"#2166ac\"/>\n", place(x, p->x.middles[i]),
                    place(y, p->cells[i].sum / (double)p->cells[i].count));
    }
}

static void draw_line_plot(const plot_picture *p, svg_box box, FILE *out)
{
    plot_scale x = make_scale(&p->x, box.x, box.width, false), y = {.begin = box.y, .length = box.height};
    double margin = p->most > p->least ? (p->most - p->least) * 0.06 : fmax(fabs(p->most) * 0.1, 0.5);

    x.is_reversed = false;
    y.is_reversed = true;
    y.low = p->least - margin;
    y.high = p->most + margin;
    draw_gaps(p, &x, box, out);
    draw_x_axis(&p->x, &x, box, true, out);
    if (p->has_values) {
        draw_y_ticks(&y, NULL, box, true, out);
        draw_curve(p, &x, &y, out);
    }
    tool_svg_draw_rect(out, box, "fill=\"none\" stroke=\"#333\"");
    draw_y_title(p->quantity, box, out);
    if (!p->has_missing)
        return;
    tool_svg_draw_rect(out, (svg_box){box.x + box.width - 82, 44, 18, 14}, "fill=\"url(#missing)\" stroke=\"#999\"");
    tool_svg_draw_text(out, (svg_label){box.x + box.width - 58, 56, SVG_START, "", 12}, "missing");
}

void dump_plot_draw(const plot_picture *p, FILE *out)
{
    svg_box box = choose_box(p);

    begin_picture(box.x + box.width + (p->naxes == 2 ? BAR_SPACE : RIGHT), TOP + box.height + BOTTOM, out);
    draw_titles(p, out);
    if (p->naxes == 2)
        draw_map(p, box, out);
    else
        draw_line_plot(p, box, out);
    if (!p->has_values)
        tool_svg_draw_text(out, (svg_label){box.x + box.width / 2, box.y + box.height / 2, SVG_MIDDLE, "head", 60},
                           "all values are missing");
    tool_svg_end(out);
}
