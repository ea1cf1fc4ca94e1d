/* SVG 1.1 in one self-contained file: no external fonts, scripts or style sheets. */
#include "tools/common/svg.h"

#include <inttypes.h>
#include <utf8proc.h>

void tool_svg_begin(FILE *out, double width, double height)
{
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
            "<style>text { font: 13px sans-serif; fill: #222; white-space: pre } "
            ".title { font-size: 18px; font-weight: bold }\n"
            ".head { font-weight: bold } .small { font-size: 11px; fill: #555 } .light { fill: #fff }</style>\n"
            "<defs>\n"
            "<pattern id=\"free\" width=\"6\" height=\"6\" "
            "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
            "<rect width=\"6\" height=\"6\" fill=\"#fff\"/><rect width=\"1.5\" height=\"6\" fill=\"#999\"/></pattern>\n"
            "<pattern id=\"lost\" width=\"6\" height=\"6\" "
            "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
            "<rect width=\"6\" height=\"6\" fill=\"#fff\"/><rect width=\"3\" height=\"6\" fill=\"#d00\"/></pattern>\n"
            "</defs>\n"
            "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n",
            width, height, width, height, width, height);
}

void tool_svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void tool_svg_draw_rect(FILE *out, svg_box box, const char *style)
{
    fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" %s/>\n", box.x, box.y, box.width,
            box.height, style);
}

void tool_svg_draw_line(FILE *out, double x1, double y1, double x2, double y2, const char *style)
{
    fprintf(out, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" %s/>\n", x1, y1, x2, y2, style);
}

/* XML does not allow control characters, and names in files can be invalid UTF-8: U+FFFD replaces both. */
static void put_text(FILE *out, const char *text, int longest)
{
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)text;

    for (int i = 0; *at != '\0'; i++) {
        utf8proc_int32_t point;
        utf8proc_ssize_t n = utf8proc_iterate(at, -1, &point);

        if (i == longest) {
            fputs("\xe2\x80\xa6", out); /* an ellipsis */
            return;
        }
        if (n <= 0 || point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0xfffe || point == 0xffff)
            fputs("\xef\xbf\xbd", out); /* U+FFFD */
        else if (point == '&' || point == '<' || point == '>')
            fprintf(out, "&#%d;", (int)point);
        else
            fwrite(at, 1, (size_t)n, out);
        at += n > 0 ? n : 1;
    }
}

void tool_svg_draw_text(FILE *out, svg_label label, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};

    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", label.x, label.y,
            anchors[label.anchor], label.class);
    put_text(out, text, label.longest);
    fputs("</text>\n", out);
}

/* Digits after the decimal point: three significant digits at most, none for whole numbers. */
static int choose_precision(double value)
{
    if (value == (double)(int)value || value >= 100)
        return 0;
    return value < 10 ? 2 : 1;
}

void tool_svg_format_bytes(int64_t bytes, char *text, size_t capacity)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    int unit = 0;

    while (value >= 1024 && unit < 6) {
        value /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(text, capacity, "%" PRId64 " bytes", bytes);
    else
        snprintf(text, capacity, "%.*f %s", choose_precision(value), value, units[unit]);
}
