/* Shapes and text in SVG. Lengths are in pixels. */
#ifndef PNC_TOOLS_COMMON_SVG_H
#define PNC_TOOLS_COMMON_SVG_H

#include <stdint.h>
#include <stdio.h>

typedef struct svg_box {
    double x, y, width, height;
} svg_box;

typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } svg_anchor;

/* Position and style of a text. class: "title", "head", "small" or "", from the style sheet of tool_svg_begin. */
typedef struct svg_label {
    double x, y;
    svg_anchor anchor;
    const char *class;
    int longest; /* characters shown; an ellipsis replaces the rest */
} svg_label;

void tool_svg_begin(FILE *out, double width, double height);
void tool_svg_end(FILE *out);
/* style: attributes such as fill="#eee" */
void tool_svg_draw_rect(FILE *out, svg_box box, const char *style);
void tool_svg_draw_line(FILE *out, double x1, double y1, double x2, double y2, const char *style);
void tool_svg_draw_text(FILE *out, svg_label label, const char *text);

/* "1.3 MiB" */
void tool_svg_format_bytes(int64_t bytes, char *text, size_t capacity);

#endif
