/* The picture of the records: one record to scale with the variables in it, and the sequence of the records in the
 * file. */
#include "tools/ncoffsets/picture.h"

#include <inttypes.h>

enum { BAR = 34, SHOWN = 3, COLUMN = (PICTURE_WIDTH - 2 * PICTURE_MARGIN) / 2 };

/* One record at x, `width` wide. names: write the names of variables where they fit. */
static void draw_record(const tool_file *file, double x, double y, double width, bool names, FILE *out)
{
    const pnc_model *model = &file->model;
    double drawn = 0; /* variables are drawn up to here; one that is too narrow to be visible is skipped */

    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        double from =
            width * ((double)(var->classic.begin - model->classic.begin_rec) / (double)model->classic.recsize);
        double wide = width * ((double)var->size / (double)model->classic.recsize);

        if (!var->is_record || (from + wide < drawn + 0.2))
            continue;
        drawn = from + wide;
        tool_svg_draw_rect(out, (svg_box){x + from, y, wide, BAR}, offsets_picture_get_colour(i));
        if (names && wide > 30)
            tool_svg_draw_text(
                out, (svg_label){x + from + wide / 2, y + BAR / 2.0 + 4, SVG_MIDDLE, "head light", (int)(wide / 9)},
                var->name);
    }
    tool_svg_draw_rect(out, (svg_box){x, y, width, BAR}, "fill=\"none\" stroke=\"#222\"");
}

static void draw_break(double x, double y, FILE *out)
{
    tool_svg_draw_text(out, (svg_label){x, y + BAR / 2.0 + 5, SVG_MIDDLE, "title", 3}, "\xe2\x80\xa6");
}

/* The first records, a break, the last one. */
static void draw_sequence(const tool_file *file, double y, FILE *out)
{
    int64_t n = file->model.numrecs, shown = n <= SHOWN + 1 ? n : SHOWN;
    double all = PICTURE_WIDTH - 2 * PICTURE_MARGIN, gap = n > shown ? 50 : 0;
    double width = (all - gap) / (double)(shown + (n > shown));
    char text[60];

    for (int64_t r = 0; r < shown + (n > shown); r++) {
        int64_t number = r < shown ? r : n - 1;
        double x = PICTURE_MARGIN + (double)r * width + (r < shown ? 0 : gap);

        draw_record(file, x, y, width, false, out);
        snprintf(text, sizeof text, "record %" PRId64 ", byte %" PRId64, number,
                 file->model.classic.begin_rec + number * file->model.classic.recsize);
        tool_svg_draw_text(out, (svg_label){x + 2, y + BAR + 14, SVG_START, "small", 60}, text);
    }
    if (n > shown)
        draw_break(PICTURE_MARGIN + (double)shown * width + gap / 2, y, out);
}

/* Names and sizes in two columns. Returns the y at which they end. */
static double draw_legend(const tool_file *file, double y, FILE *out)
{
    const pnc_model *model = &file->model;
    int n = model->nrecvars < 2 * PICTURE_ROWS ? model->nrecvars : 2 * PICTURE_ROWS, rows = (n + 1) / 2;
    char text[600], size[32];

    for (int i = 0, k = 0; out != NULL && i < model->nvars && k < n; i++) {
        const pnc_var *var = model->vars[i];
        double x = PICTURE_MARGIN + k / rows * COLUMN, row = y + k % rows * (PICTURE_ROW - 4);

        if (!var->is_record)
            continue;
        tool_svg_draw_rect(out, (svg_box){x, row, 14, 14}, offsets_picture_get_colour(i));
        offsets_picture_format_variable(model, var, text, sizeof text);
        tool_svg_draw_text(out, (svg_label){x + 22, row + 12, SVG_START, "", 46}, text);
        tool_svg_format_bytes(var->size, size, sizeof size);
        tool_svg_draw_text(out, (svg_label){x + COLUMN - 30, row + 12, SVG_END, "", 30}, size);
        k++;
    }
    y += rows * (PICTURE_ROW - 4);
    if (model->nrecvars > n) {
        snprintf(text, sizeof text, "and %d more", model->nrecvars - n);
        if (out != NULL)
            tool_svg_draw_text(out, (svg_label){PICTURE_MARGIN, y + 12, SVG_START, "small", 40}, text);
        y += PICTURE_ROW;
    }
    return y;
}

double offsets_picture_draw_records(const tool_file *file, double y, FILE *out)
{
    const pnc_model *model = &file->model;
    char size[32], text[200];

    if (model->nrecvars == 0 || model->classic.recsize == 0)
        return y;
    y += 24;
    if (out != NULL) {
        tool_svg_format_bytes(model->classic.recsize, size, sizeof size);
        snprintf(text, sizeof text, "One record, to scale: %s, with data of each record variable (white: padding)",
                 size);
        tool_svg_draw_text(out, (svg_label){PICTURE_MARGIN, y, SVG_START, "head", 200}, text);
        draw_record(file, PICTURE_MARGIN, y + 12, PICTURE_WIDTH - 2 * PICTURE_MARGIN, true, out);
    }
    y = draw_legend(file, y + 12 + BAR + 12, out) + 30;
    if (model->numrecs == 0)
        return y - 30;
    if (out != NULL) {
        snprintf(text, sizeof text, "Sequence of records: %" PRId64 " in the file", model->numrecs);
        tool_svg_draw_text(out, (svg_label){PICTURE_MARGIN, y, SVG_START, "head", 200}, text);
        draw_sequence(file, y + 12, out);
    }
    return y + 12 + BAR + 22;
}
