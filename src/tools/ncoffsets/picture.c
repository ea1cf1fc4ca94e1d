/* A picture of a file. On the left a strip shows the whole file to scale; on the right each part has a row of its own,
 * so that small parts can be read too. Lines connect both. The records follow below. */
#include "tools/ncoffsets/picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "format/layout.h"

enum { TOP = 110, STRIP_X = 110, STRIP_WIDTH = 90, ROWS_X = 290, LEAST_HEIGHT = 420 };

typedef struct picture {
    const tool_file *file;
    FILE *out;
    part *parts;
    int n;
    int64_t total; /* bytes drawn: the file, and missing data of a truncated one */
    double height; /* of the strip */
    double row;    /* distance between rows */
} picture;

const char *offsets_picture_get_colour(int varid)
{
    static const char *const colours[] = {
        "fill=\"#4e79a7\"", "fill=\"#f28e2b\"", "fill=\"#59a14f\"", "fill=\"#e15759\"", "fill=\"#76b7b2\"",
        "fill=\"#edc948\"", "fill=\"#b07aa1\"", "fill=\"#9c755f\"", "fill=\"#ff9da7\"", "fill=\"#2f4b7c\""};

    return colours[varid % 10];
}

/* Groups that follow each other differ. */
static const char *get_group_style(const part *p)
{
    static const char *const colours[] = {"fill=\"#8899aa\"", "fill=\"#b4bfc9\"", "fill=\"#a3a08a\"",
                                          "fill=\"#cbc8b8\""};

    return p->nvars == 1 ? offsets_picture_get_colour(p->first) : colours[p->group % 4];
}

static const char *style_of(const part *p)
{
    switch (p->kind) {
    case PART_HEADER: return "fill=\"#444\"";
    case PART_FREE: return "fill=\"url(#free)\" stroke=\"#999\" stroke-width=\"0.5\"";
    case PART_RECORDS: return "fill=\"#c9d8ea\"";
    case PART_BEHIND: return "fill=\"#ddd\"";
    default: return p->varid < 0 ? get_group_style(p) : offsets_picture_get_colour(p->varid);
    }
}

void offsets_picture_format_variable(const pnc_model *model, const pnc_var *var, char *text, size_t capacity)
{
    size_t used = (size_t)snprintf(text, capacity, "%s %s", pnc_type_get_name(var->type), var->name);

    for (int i = 0; i < var->ndims && used < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%s", i > 0 ? ", " : "(",
                                 model->dims[var->dimids[i]]->name);
    if (var->ndims > 0 && used < capacity)
        snprintf(text + used, capacity - used, ")");
}

/* --- parts --- */

static void add(picture *p, part_kind kind, int varid, int64_t begin, int64_t end)
{
    if (end > begin)
        p->parts[p->n++] = (part){kind, varid, varid >= 0, varid, varid, 0, begin, end};
}

/* A gap of less than 4 bytes is padding. */
static void add_gap(picture *p, int64_t begin, int64_t end)
{
    if (end - begin >= 4)
        add(p, PART_FREE, -1, begin, end);
}

static void find_parts(picture *p)
{
    const pnc_model *model = &p->file->model;
    int64_t at = model->classic.header_size, end = pnc_format_layout_get_file_end(model), size = p->file->size;

    p->total = end > size ? end : size;
    add(p, PART_HEADER, -1, 0, model->classic.header_size);
    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];

        if (var->is_record)
            continue;
        add_gap(p, at, var->classic.begin);
        add(p, PART_VARIABLE, i, var->classic.begin, var->classic.begin + var->size);
        at = var->classic.begin + var->size;
    }
    if (model->nrecvars > 0 && model->numrecs > 0) {
        add_gap(p, at, model->classic.begin_rec);
        add(p, PART_RECORDS, -1, model->classic.begin_rec,
            model->classic.begin_rec + model->numrecs * model->classic.recsize);
    }
    add(p, PART_BEHIND, -1, end, size);
}

static int compare_sizes_descending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x < y) - (x > y);
}

static bool is_small(const part *p, int64_t least)
{
    return (p->kind == PART_VARIABLE || p->kind == PART_FREE) && p->end - p->begin < least;
}

static void extend_group(part *group, const part *next)
{
    group->end = next->end;
    group->nvars += next->nvars;
    group->first = group->first >= 0 ? group->first : next->first;
    group->last = next->last >= 0 ? next->last : group->last;
}

/* Merge adjacent variables and gaps of less than `least` bytes to groups of at most `most` variables. Returns the
 * number of parts that remain; merged NULL: only count them. */
static int merge_parts(const picture *p, int64_t least, int most, part *merged)
{
    part group = {.kind = PART_HEADER};
    int n = 0;

    for (int i = 0; i < p->n; i++) {
        const part *next = &p->parts[i];
        bool small = is_small(next, least);

        if (small && group.kind == PART_VARIABLE && group.varid < 0 && group.nvars + next->nvars <= most) {
            extend_group(&group, next);
        } else {
            group = *next;
            if (small) {
                group.kind = PART_VARIABLE;
                group.varid = -1;
                group.group = n;
            }
            n++;
        }
        if (merged != NULL)
            merged[n - 1] = group;
    }
    return n;
}

/* With more parts than rows, the largest parts are kept and the others are merged, to groups that are as small as the
 * rows permit. */
static int limit_parts(picture *p)
{
    int64_t *sizes;
    int64_t least;
    int kept = PICTURE_ROWS / 2, most = 2; /* a group may lie between each two that are kept */

    if (p->n <= PICTURE_ROWS)
        return NC_NOERR;
    sizes = pnc_memory_alloc(p->n, sizeof *sizes);
    if (sizes == NULL)
        return NC_ENOMEM;
    for (int i = 0; i < p->n; i++)
        sizes[i] = p->parts[i].end - p->parts[i].begin;
    qsort(sizes, (size_t)p->n, sizeof *sizes, compare_sizes_descending);
    least = sizes[kept - 1] + (sizes[kept - 1] == sizes[kept]);
    pnc_memory_free(sizes);
    while (most < p->n && merge_parts(p, least, most, NULL) > PICTURE_ROWS)
        most += most / 8 + 1;
    p->n = merge_parts(p, least, most, p->parts);
    return NC_NOERR;
}

/* --- drawing --- */

/* The y of an offset in the strip. */
static double get_y(const picture *p, int64_t offset)
{
    return TOP + p->height * ((double)offset / (double)p->total);
}

static void draw_title(const picture *p)
{
    const pnc_model *model = &p->file->model;
    char size[32], text[200];

    tool_svg_format_bytes(p->file->size, size, sizeof size);
    snprintf(text, sizeof text, "CDF-%d, %" PRId64 " bytes%s%s%s, %d variable%s", model->format, p->file->size,
             p->file->size < 1024 ? "" : " (", p->file->size < 1024 ? "" : size, p->file->size < 1024 ? "" : ")",
             model->nvars, model->nvars == 1 ? "" : "s");
    tool_svg_draw_text(p->out, (svg_label){PICTURE_MARGIN, 36, SVG_START, "title", 90},
                       pnc_path_get_name(p->file->path));
    tool_svg_draw_text(p->out, (svg_label){PICTURE_MARGIN, 58, SVG_START, "", 200}, text);
    tool_svg_draw_text(p->out, (svg_label){STRIP_X + STRIP_WIDTH / 2.0, TOP - 14, SVG_MIDDLE, "head", 20}, "to scale");
    tool_svg_draw_text(p->out, (svg_label){ROWS_X + 24, TOP - 14, SVG_START, "head", 20}, "part");
    tool_svg_draw_text(p->out, (svg_label){PICTURE_WIDTH - 230, TOP - 14, SVG_END, "head", 20}, "begins at byte");
    tool_svg_draw_text(p->out, (svg_label){PICTURE_WIDTH - 110, TOP - 14, SVG_END, "head", 20}, "size");
    tool_svg_draw_text(p->out, (svg_label){PICTURE_WIDTH - PICTURE_MARGIN, TOP - 14, SVG_END, "head", 20}, "share");
}

/* Offsets beside the strip, at multiples of a power of 2: five to ten of them. */
static void draw_axis(const picture *p)
{
    int64_t step = 1;
    char text[32];

    while (p->total / step > 9 && step < INT64_MAX / 2)
        step *= 2;
    for (int64_t at = 0; at <= p->total; at += step) {
        double y = get_y(p, at);

        tool_svg_format_bytes(at, text, sizeof text);
        tool_svg_draw_text(p->out, (svg_label){STRIP_X - 12, y + 4, SVG_END, "small", 30}, at == 0 ? "0" : text);
        tool_svg_draw_line(p->out, STRIP_X - 8, y, STRIP_X, y, "stroke=\"#555\" stroke-width=\"0.7\"");
        if (at > INT64_MAX - step)
            break;
    }
}

static void draw_record_borders(const picture *p, const part *records)
{
    const pnc_model *model = &p->file->model;

    for (int64_t r = 1; r < model->numrecs; r++) {
        double y = get_y(p, records->begin + r * model->classic.recsize);

        tool_svg_draw_line(p->out, STRIP_X, y, STRIP_X + STRIP_WIDTH, y, "stroke=\"#fff\" stroke-width=\"0.8\"");
    }
}

static void draw_strip(const picture *p)
{
    const pnc_model *model = &p->file->model;
    double y = get_y(p, p->file->size);

    for (int i = 0; i < p->n; i++) {
        const part *q = &p->parts[i];
        svg_box box = {STRIP_X, get_y(p, q->begin), STRIP_WIDTH, get_y(p, q->end) - get_y(p, q->begin)};

        tool_svg_draw_rect(p->out, box, style_of(q));
        if (q->kind == PART_RECORDS && box.height / (double)model->numrecs >= 3)
            draw_record_borders(p, q);
    }
    if (p->file->size < p->total)
        tool_svg_draw_rect(p->out, (svg_box){STRIP_X, y, STRIP_WIDTH, TOP + p->height - y}, "fill=\"url(#lost)\"");
    tool_svg_draw_rect(p->out, (svg_box){STRIP_X, TOP, STRIP_WIDTH, p->height}, "fill=\"none\" stroke=\"#222\"");
}

static void draw_stripes(const picture *p, int64_t align)
{
    double distance = p->height * ((double)align / (double)p->total);
    int64_t n = p->total / align + (p->total % align != 0);
    char size[32], text[200];

    tool_svg_format_bytes(align, size, sizeof size);
    snprintf(text, sizeof text, "%" PRId64 " stripe%s of %s%s", n, n == 1 ? "" : "s", size,
             distance >= 3 ? ": blue marks at the strip; names in bold begin with a stripe"
                           : ", too narrow for marks; names in bold begin with a stripe");
    tool_svg_draw_text(p->out, (svg_label){PICTURE_MARGIN, 76, SVG_START, "small", 200}, text);
    for (int64_t i = 0; distance >= 3 && i <= p->total / align; i++)
        tool_svg_draw_line(p->out, STRIP_X + STRIP_WIDTH - 8, get_y(p, i * align), STRIP_X + STRIP_WIDTH + 8,
                           get_y(p, i * align), "stroke=\"#00f\" stroke-width=\"1.2\"");
}

/* "24 variables: v001 to v024". */
static void format_group(const pnc_model *model, const part *q, char *text, size_t capacity)
{
    if (q->nvars == 0)
        snprintf(text, capacity, "free space");
    else if (q->nvars == 1)
        offsets_picture_format_variable(model, model->vars[q->first], text, capacity);
    else
        snprintf(text, capacity, "%d variables: %.40s to %.40s", q->nvars, model->vars[q->first]->name,
                 model->vars[q->last]->name);
}

static void format_part(const picture *p, const part *q, char *text, size_t capacity)
{
    const pnc_model *model = &p->file->model;

    switch (q->kind) {
    case PART_HEADER: snprintf(text, capacity, "header"); break;
    case PART_FREE: snprintf(text, capacity, "free space"); break;
    case PART_BEHIND: snprintf(text, capacity, "behind the last variable"); break;
    case PART_RECORDS:
        snprintf(text, capacity, "%" PRId64 " records of %d variable%s, see below", model->numrecs, model->nrecvars,
                 model->nrecvars == 1 ? "" : "s");
        break;
    default:
        if (q->varid >= 0)
            offsets_picture_format_variable(model, model->vars[q->varid], text, capacity);
        else
            format_group(model, q, text, capacity);
    }
}

static void draw_row(const picture *p, int i, int64_t align)
{
    const part *q = &p->parts[i];
    double y = TOP + i * p->row, middle = y + PICTURE_ROW / 2.0;
    double y0 = get_y(p, q->begin), y1 = get_y(p, q->end);
    double share = 100.0 * (double)(q->end - q->begin) / (double)p->total;
    char text[600];

    fprintf(p->out, "<path d=\"M%d %.2f L%d %.2f L%d %.2f L%d %.2f Z\" %s fill-opacity=\"0.18\"/>\n",
            STRIP_X + STRIP_WIDTH, y0, ROWS_X, y + 3, ROWS_X, y + PICTURE_ROW - 3, STRIP_X + STRIP_WIDTH, y1,
            q->kind == PART_FREE ? "fill=\"#999\"" : style_of(q));
    tool_svg_draw_line(p->out, STRIP_X + STRIP_WIDTH, (y0 + y1) / 2, ROWS_X, middle,
                       "stroke=\"#888\" stroke-width=\"0.5\"");
    tool_svg_draw_rect(p->out, (svg_box){ROWS_X, y + 3, 16, PICTURE_ROW - 6}, style_of(q));
    format_part(p, q, text, sizeof text);
    tool_svg_draw_text(
        p->out, (svg_label){ROWS_X + 24, middle + 4, SVG_START, align > 0 && q->begin % align == 0 ? "head" : "", 58},
        text);
    snprintf(text, sizeof text, "%" PRId64, q->begin);
    tool_svg_draw_text(p->out, (svg_label){PICTURE_WIDTH - 230, middle + 4, SVG_END, "", 30}, text);
    tool_svg_format_bytes(q->end - q->begin, text, sizeof text);
    tool_svg_draw_text(p->out, (svg_label){PICTURE_WIDTH - 110, middle + 4, SVG_END, "", 30}, text);
    snprintf(text, sizeof text, "%s%.1f %%", share < 0.1 ? "< " : "", share < 0.1 ? 0.1 : share);
    tool_svg_draw_text(p->out, (svg_label){PICTURE_WIDTH - PICTURE_MARGIN, middle + 4, SVG_END, "", 30}, text);
}

/* Returns the y at which the drawing of the records begins. */
static double draw_end(const picture *p)
{
    double y = TOP + p->height + 16;
    char size[32], text[200];

    if (p->file->size >= p->total)
        return y;
    tool_svg_format_bytes(p->total - p->file->size, size, sizeof size);
    snprintf(text, sizeof text, "Red: the file is truncated, %s of its data are missing.", size);
    tool_svg_draw_text(p->out, (svg_label){PICTURE_MARGIN, y + 14, SVG_START, "head", 200}, text);
    return y + 24;
}

static void draw_all(picture *p, int64_t align)
{
    double rows = p->n * PICTURE_ROW;

    p->height = rows > LEAST_HEIGHT ? rows : LEAST_HEIGHT;
    p->row = p->height / p->n > 2 * PICTURE_ROW ? 2 * PICTURE_ROW : p->height / p->n;
    tool_svg_begin(p->out, PICTURE_WIDTH,
                   offsets_picture_draw_records(p->file, TOP + p->height + 40, NULL) + PICTURE_MARGIN);
    draw_title(p);
    for (int i = 0; i < p->n; i++)
        draw_row(p, i, align);
    draw_strip(p);
    draw_axis(p);
    if (align > 0)
        draw_stripes(p, align);
    offsets_picture_draw_records(p->file, draw_end(p), p->out);
    tool_svg_end(p->out);
}

int offsets_picture_draw(const tool_file *file, int64_t align, FILE *out)
{
    picture p = {.file = file, .out = out};
    int err;

    p.parts = pnc_memory_alloc(2 * (int64_t)file->model.nvars + 4, sizeof *p.parts);
    if (p.parts == NULL)
        return NC_ENOMEM;
    find_parts(&p);
    err = limit_parts(&p);
    if (err == NC_NOERR)
        draw_all(&p, align);
    pnc_memory_free(p.parts);
    return err;
}
