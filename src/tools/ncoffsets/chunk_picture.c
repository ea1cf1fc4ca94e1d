/* The picture of a netCDF-4 file or a Zarr store: a map of its bytes, and a row for each variable with its chunks and
 * their ratio. In the map of a store its objects, chunks or shards, stand one behind the other, those of a variable
 * with the length of the longest one. */
#include "config.h" /* open_memstream */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tools/common/message.h"
#include "tools/ncoffsets/chunks.h"
#include "tools/ncoffsets/picture.h"

enum { MAP_ROWS = 20, MAP_ROW = 22, CELLS = PICTURE_WIDTH, VARIABLES_MOST = 200 };

/* Each cell of the map stands for the same number of bytes; it has the variable of the last chunk that touches it. */
typedef struct chunk_map {
    int *cells; /* MAP_ROWS * CELLS ids; -1: metadata, or nothing */
    int64_t size;
    int varid;
    const pnc_chunk_array *array;
    int64_t length, base; /* of an object of the variable, and where the first one stands; 0 in a file */
    int64_t end;          /* where the last one ends */
} chunk_map;

/* --- the objects of a store --- */

static int64_t count_objects_along(const pnc_chunk_array *a, int d)
{
    int64_t each = a->chunk[d] * (a->shard != NULL ? a->shard[d] : 1);

    return a->extent[d] > 0 ? (a->extent[d] - 1) / each + 1 : 0;
}

static int64_t find_object(const pnc_chunk_array *a, const int64_t *index)
{
    int64_t number = 0;

    for (int d = 0; d < a->ndims; d++)
        number = number * count_objects_along(a, d) + index[d] / (a->chunk[d] * (a->shard != NULL ? a->shard[d] : 1));
    return number;
}

static int measure_chunk(void *with, const offsets_chunk *chunk)
{
    chunk_map *map = with;
    int64_t end = chunk->place.offset + chunk->place.bytes, number = find_object(map->array, chunk->index) + 1;

    map->length = end > map->length ? end : map->length;
    map->base = number > map->base ? number : map->base; /* up to the last one that is there */
    return NC_NOERR;
}

/* Find where the objects of a variable stand, behind those of the one before it. */
static int place_objects(const tool_file *file, int varid, chunk_map *map)
{
    int64_t bytes;

    map->array = &pnc_formats_reader_get_stored(file->reader, varid)->array;
    map->length = map->base = 0;
    PNC_TRY(offsets_chunks_scan(file, varid, measure_chunk, map));
    if (pnc_size_multiply(map->length, map->base, &bytes) < 0 || bytes > INT64_MAX - map->end)
        bytes = INT64_MAX - map->end;
    map->base = map->end;
    map->end += bytes;
    return NC_NOERR;
}

/* --- the map --- */

static void mark_cells(chunk_map *map, int64_t offset, int64_t bytes)
{
    double each = (double)map->size / (MAP_ROWS * CELLS);
    int first = (int)((double)offset / each), last = (int)((double)(offset + bytes - 1) / each);

    for (int i = first; i <= last && i < MAP_ROWS * CELLS; i++)
        map->cells[i] = map->varid;
}

static int mark_chunk(void *with, const offsets_chunk *chunk)
{
    chunk_map *map = with;
    int64_t before = map->length > 0 ? map->base + find_object(map->array, chunk->index) * map->length : 0;

    if (chunk->place.bytes > 0)
        mark_cells(map, before + chunk->place.offset, chunk->place.bytes);
    return NC_NOERR;
}

/* Twice, as the scale of the map is known at the end. */
static int mark_objects(const tool_file *file, chunk_map *map)
{
    for (int pass = 0; pass < 2; pass++) {
        map->size = map->end;
        map->end = 0;
        for (int i = 0; i < file->model.nvars; i++) {
            if (pnc_formats_reader_get_stored(file->reader, i)->layout != NC_CHUNKED)
                continue;
            map->varid = i;
            PNC_TRY(place_objects(file, i, map));
            if (pass == 1 && map->length > 0)
                PNC_TRY(offsets_chunks_scan(file, i, mark_chunk, map));
        }
    }
    return NC_NOERR;
}

static int mark_variables(const tool_file *file, chunk_map *map)
{
    for (int i = 0; i < file->model.nvars; i++) {
        const pnc_stored *s = pnc_formats_reader_get_stored(file->reader, i);

        map->varid = i;
        if (s->layout == NC_CHUNKED)
            PNC_TRY(offsets_chunks_scan(file, i, mark_chunk, map));
        else if (s->layout == NC_CONTIGUOUS && s->address >= 0 && file->model.vars[i]->size > 0)
            mark_cells(map, s->address, file->model.vars[i]->size);
    }
    return NC_NOERR;
}

static void draw_map(const chunk_map *map, double y, FILE *out)
{
    for (int row = 0; row < MAP_ROWS; row++, y += MAP_ROW) {
        const int *cells = map->cells + row * CELLS;

        for (int from = 0, to; from < CELLS; from = to) {
            for (to = from + 1; to < CELLS && cells[to] == cells[from]; to++)
                continue;
            tool_svg_draw_rect(out, (svg_box){PICTURE_MARGIN + from, y, to - from, MAP_ROW - 4},
                               cells[from] < 0 ? "fill=\"#ddd\"" : offsets_picture_get_colour(cells[from]));
        }
    }
}

static void describe_storage(const pnc_stored *s, const pnc_var *var, char *text, size_t capacity)
{
    static const char *const names[] = {
        [NC_CONTIGUOUS] = "contiguous", [NC_COMPACT] = "compact", [NC_CHUNKED] = "", [NC_UNKNOWN_STORAGE] = "not read"};
    size_t used = 0;

    snprintf(text, capacity, "%s", names[s->layout]);
    if (s->layout != NC_CHUNKED)
        return;
    for (int d = 0; d < var->ndims && used < capacity; d++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%" PRId64, d > 0 ? " x " : "", s->array.chunk[d]);
    for (int i = 0; i < s->array.filters.nfilters && used + 2 < capacity; i++) {
        used += (size_t)snprintf(text + used, capacity - used, ", ");
        offsets_filter_format(&s->array.filters.filters[i], text + used, capacity - used);
        used += strlen(text + used);
    }
}

/* A bar as long as the share of the uncompressed bytes that is stored. */
static int draw_variable(const tool_file *file, int varid, double y, FILE *out)
{
    enum { STORAGE_X = 340, NUMBERS_X = 925, BAR_X = 940, BAR = 120 };
    const pnc_stored *s = pnc_formats_reader_get_stored(file->reader, varid);
    const pnc_var *var = file->model.vars[varid];
    offsets_chunk_sum sum = {0};
    char text[512], stored[40], bytes[40], written[40] = "";
    double share;

    PNC_TRY(offsets_chunks_add(file, varid, &sum));
    tool_svg_draw_rect(out, (svg_box){PICTURE_MARGIN, y - 11, 12, 12}, offsets_picture_get_colour(varid));
    offsets_picture_format_variable(&file->model, var, text, sizeof text);
    tool_svg_draw_text(out, (svg_label){PICTURE_MARGIN + 20, y, SVG_START, "", 40}, text);
    describe_storage(s, var, text, sizeof text);
    tool_svg_draw_text(out, (svg_label){STORAGE_X, y, SVG_START, "small", 45}, text);
    tool_svg_format_bytes(sum.stored, stored, sizeof stored);
    tool_svg_format_bytes(sum.bytes, bytes, sizeof bytes);
    share = sum.bytes > 0 ? (double)sum.stored / (double)sum.bytes : 0;
    if (sum.written != sum.chunks)
        snprintf(written, sizeof written, "%" PRId64 " of ", sum.written);
    snprintf(text, sizeof text, "%s%" PRId64 " chunk%s, %s of %s, ratio %.2f", written, sum.chunks,
             sum.chunks == 1 ? "" : "s", stored, bytes, share > 0 ? 1 / share : 1);
    tool_svg_draw_text(out, (svg_label){NUMBERS_X, y, SVG_END, "small", 80}, text);
    tool_svg_draw_rect(out, (svg_box){BAR_X, y - 11, BAR, 12}, "fill=\"#eee\"");
    tool_svg_draw_rect(out, (svg_box){BAR_X, y - 11, BAR * (share < 1 ? share : 1), 12},
                       offsets_picture_get_colour(varid));
    return NC_NOERR;
}

static int draw_picture(const tool_file *file, const chunk_map *map, FILE *out)
{
    int shown = file->model.nvars < VARIABLES_MOST ? file->model.nvars : VARIABLES_MOST;
    double y = 90, rows = y + MAP_ROWS * MAP_ROW + 30;
    char size[40], text[200];

    tool_svg_begin(out, PICTURE_WIDTH + 2 * PICTURE_MARGIN, rows + (shown + 2) * PICTURE_ROW);
    tool_svg_draw_text(out, (svg_label){PICTURE_MARGIN, 36, SVG_START, "title", 90}, file->path);
    tool_svg_format_bytes(map->size, size, sizeof size);
    snprintf(text, sizeof text, "%s, %s: %s", file->reader->ops->name, size,
             tool_file_has_objects(file)
                 ? "shards and chunks of variables, one behind the other; grey: indexes, and free space"
                 : "chunks of variables in the order of the file; grey: metadata");
    tool_svg_draw_text(out, (svg_label){PICTURE_MARGIN, 62, SVG_START, "", 120}, text);
    draw_map(map, y, out);
    for (int i = 0; i < shown; i++, rows += PICTURE_ROW)
        PNC_TRY(draw_variable(file, i, rows, out));
    if (shown < file->model.nvars) {
        snprintf(text, sizeof text, "and %d more variables: ncoffsets --json lists all", file->model.nvars - shown);
        tool_svg_draw_text(out, (svg_label){PICTURE_MARGIN, rows, SVG_START, "", 100}, text);
    }
    tool_svg_end(out);
    return NC_NOERR;
}

int offsets_chunks_draw(const tool_file *file, const options *o, FILE *out)
{
    chunk_map map = {.cells = pnc_memory_alloc(MAP_ROWS * CELLS, sizeof(int)), .size = file->size};
    int err;

    (void)o;
    if (map.cells == NULL) {
        tool_error_print("%s: not enough memory for a picture of this file", file->path);
        return NC_ENOMEM;
    }
    for (int i = 0; i < MAP_ROWS * CELLS; i++)
        map.cells[i] = -1;
    err = tool_file_has_objects(file) ? mark_objects(file, &map) : mark_variables(file, &map);
    if (err == NC_NOERR)
        err = draw_picture(file, &map, out);
    pnc_memory_free(map.cells);
    return err;
}

/* The picture in a page, without its XML declaration. */
int offsets_chunks_write_page(const tool_file *file, const options *o, FILE *out)
{
    char *text = NULL, *picture;
    size_t length;
    FILE *memory = open_memstream(&text, &length);
    int err = memory != NULL ? offsets_chunks_draw(file, o, memory) : NC_ENOMEM;
    bool complete = memory != NULL && fclose(memory) == 0;

    picture = complete && err == NC_NOERR ? strstr(text, "<svg") : NULL;
    if (picture != NULL)
        fprintf(out,
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>%s</title></head>\n"
                "<body>\n%s</body>\n</html>\n",
                tool_file_has_objects(file) ? "Zarr store" : "netCDF-4 file", picture);
    else if (err == NC_NOERR || memory == NULL)
        tool_error_print("%s: not enough memory for a page about this file", file->path);
    free(text);
    return err != NC_NOERR || picture != NULL ? err : NC_ENOMEM;
}
