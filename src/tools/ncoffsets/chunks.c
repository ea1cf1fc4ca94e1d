/* The lists of chunks. docs/json.md specifies the one in JSON. */
#include "tools/ncoffsets/chunks.h"

#include <inttypes.h>
#include <string.h>

#include "format/storage.h"
#include "tools/common/json.h"
#include "tools/common/message.h"
#include "tools/common/number.h"

/* --- visiting --- */

int offsets_chunks_scan(const tool_file *file, int varid, int (*visit)(void *with, const offsets_chunk *chunk),
                        void *with)
{
    pnc_reader *reader = file->reader;
    const pnc_error *error = reader->error;
    int err = pnc_references_chunks_scan(reader, &file->model, varid, visit, with);

    if (err != NC_NOERR && error->code != NC_NOERR)
        tool_error_print("%s", error->text);
    return err;
}

static int add_chunk(void *with, const offsets_chunk *chunk)
{
    offsets_chunk_sum *sum = with;

    sum->written++;
    sum->stored += chunk->place.bytes;
    sum->bytes += chunk->bytes;
    return NC_NOERR;
}

int offsets_chunks_add(const tool_file *file, int varid, offsets_chunk_sum *sum)
{
    const pnc_stored *s = pnc_formats_reader_get_stored(file->reader, varid);
    const pnc_var *var = file->model.vars[varid];

    if (s->layout == NC_CHUNKED) {
        sum->chunks += pnc_references_chunks_count(s, var->ndims);
        return offsets_chunks_scan(file, varid, add_chunk, sum);
    }
    if (s->layout == NC_UNKNOWN_STORAGE)
        return NC_NOERR;
    sum->chunks++;
    if (s->layout == NC_COMPACT || s->address >= 0) {
        sum->written++;
        sum->stored += var->size;
        sum->bytes += var->size;
    }
    return NC_NOERR;
}

void offsets_filter_format(const pnc_filter *f, char *text, size_t capacity)
{
    const char *name = pnc_filter_name_get(f->id);
    int used = strcmp(name, "filter") == 0 ? snprintf(text, capacity, "filter %d", f->id)
                                           : snprintf(text, capacity, "%s", name);

    if ((f->id == PNC_FILTER_DEFLATE || f->id == PNC_FILTER_ZSTD) && f->nparameters > 0)
        snprintf(text + used, capacity - (size_t)used, ":%d", (int)f->parameters[0]);
}

static double get_ratio(int64_t bytes, int64_t stored)
{
    return stored > 0 ? (double)bytes / (double)stored : 1;
}

/* --- text --- */

static void print_dimensions(const pnc_model *model)
{
    if (model->ndims > 0)
        puts("\ndimensions:");
    for (int i = 0; i < model->ndims; i++) {
        int64_t length = pnc_format_dim_get_length(model, i);

        putchar('\t');
        tool_text_print(model->dims[i]->name);
        if (model->dims[i]->unlimited)
            printf(" = UNLIMITED // (%" PRId64 " currently)\n", length);
        else
            printf(" = %" PRId64 "\n", length);
    }
}

static int print_place(void *with, const offsets_chunk *chunk)
{
    const int *ndims = with;

    fputs("\t       chunk (", stdout);
    for (int d = 0; d < *ndims; d++)
        printf("%s%" PRId64, d > 0 ? ", " : "", chunk->index[d]);
    printf(") at byte %12" PRId64 ", %10" PRId64 " bytes, ratio %.2f\n", chunk->place.offset, chunk->place.bytes,
           get_ratio(chunk->bytes, chunk->place.bytes));
    return NC_NOERR;
}

static void print_storage(const pnc_stored *s, const pnc_var *var)
{
    char filter[64];

    switch (s->layout) {
    case NC_CONTIGUOUS: fputs("\t       contiguous", stdout); break;
    case NC_COMPACT: fputs("\t       compact, within the metadata", stdout); break;
    case NC_CHUNKED: fputs("\t       chunks of ", stdout); break;
    default: fputs("\t       this library does not read its values", stdout);
    }
    for (int d = 0; s->layout == NC_CHUNKED && d < var->ndims; d++)
        printf("%s%" PRId64, d > 0 ? " x " : "", s->array.chunk[d]);
    for (int i = 0; i < s->array.filters.nfilters; i++) {
        offsets_filter_format(&s->array.filters.filters[i], filter, sizeof filter);
        printf(", %s", filter);
    }
    putchar('\n');
}

static int print_variable(const tool_file *file, int varid, const options *o)
{
    const pnc_stored *s = pnc_formats_reader_get_stored(file->reader, varid);
    const pnc_var *var = file->model.vars[varid];
    offsets_chunk_sum sum = {0};
    int ndims = var->ndims;

    printf("\t%-6s ", tool_cdl_type_find(var->type)->name);
    tool_text_print(var->name);
    for (int d = 0; d < var->ndims; d++) {
        fputs(d > 0 ? ", " : "(", stdout);
        tool_text_print(file->model.dims[var->dimids[d]]->name);
    }
    puts(var->ndims > 0 ? "):" : ":");
    print_storage(s, var);
    PNC_TRY(offsets_chunks_add(file, varid, &sum));
    if (s->layout == NC_CONTIGUOUS && s->address >= 0)
        printf("\t       start file offset =%12" PRId64 "\n\t       end   file offset =%12" PRId64 "\n", s->address,
               s->address + var->size);
    else if (s->layout == NC_CONTIGUOUS)
        puts("\t       was never written");
    if (s->layout != NC_CHUNKED)
        return NC_NOERR;
    printf("\t       chunks written    =%12" PRId64 "    (of %" PRId64 ")\n", sum.written, sum.chunks);
    printf("\t       stored bytes      =%12" PRId64 "\n\t       uncompressed      =%12" PRId64 "    (ratio %.2f)\n",
           sum.stored, sum.bytes, get_ratio(sum.bytes, sum.stored));
    return o->records ? offsets_chunks_scan(file, varid, print_place, &ndims) : NC_NOERR;
}

/* Of the variables that the options select; of all without. */
static int get_varid(const tool_file *file, const options *o, int i)
{
    return o->variables.n > 0 ? pnc_format_var_find(&file->model, o->variables.at[i]) : i;
}

static int count_variables(const tool_file *file, const options *o)
{
    return o->variables.n > 0 ? o->variables.n : file->model.nvars;
}

int offsets_chunks_print(const tool_file *file, const options *o)
{
    fputs("netcdf ", stdout);
    tool_text_print(file->path);
    printf(" {\n// file format: %s\n", file->reader->ops->name);
    if (!tool_file_has_objects(file))
        printf("\nfile:\n\tsize   = %" PRId64 " bytes\n", file->size);
    print_dimensions(&file->model);
    puts("\nvariables:");
    for (int i = 0; i < count_variables(file, o); i++)
        PNC_TRY(print_variable(file, get_varid(file, o, i), o));
    puts("}");
    return NC_NOERR;
}

/* --- JSON --- */

typedef struct place_list {
    int ndims;
    int64_t n;
} place_list;

static int print_json_place(void *with, const offsets_chunk *chunk)
{
    place_list *list = with;

    fputs(list->n++ > 0 ? ",\n      {\"index\": [" : "\n      {\"index\": [", stdout);
    for (int d = 0; d < list->ndims; d++)
        printf("%s%" PRId64, d > 0 ? ", " : "", chunk->index[d]);
    printf("], \"offset\": %" PRId64 ", \"stored\": %" PRId64 ", \"ratio\": %.4f, \"left_out\": %" PRId64 "}",
           chunk->place.offset, chunk->place.bytes, get_ratio(chunk->bytes, chunk->place.bytes), chunk->place.mask);
    return NC_NOERR;
}

static void print_json_storage(const pnc_stored *s, const pnc_var *var)
{
    static const char *const names[] = {[NC_CONTIGUOUS] = "contiguous",
                                        [NC_COMPACT] = "compact",
                                        [NC_CHUNKED] = "chunked",
                                        [NC_UNKNOWN_STORAGE] = "unreadable"};

    printf("], \"storage\": \"%s\"", names[s->layout]);
    if (s->layout == NC_CONTIGUOUS)
        printf(", \"begin\": %" PRId64, s->address);
    if (s->layout != NC_CHUNKED)
        return;
    fputs(", \"chunk_shape\": [", stdout);
    for (int d = 0; d < var->ndims; d++)
        printf("%s%" PRId64, d > 0 ? ", " : "", s->array.chunk[d]);
    fputs("], \"filters\": [", stdout);
    for (int i = 0; i < s->array.filters.nfilters; i++) {
        const pnc_filter *f = &s->array.filters.filters[i];

        printf("%s{\"id\": %d, \"name\": \"%s\", \"parameters\": [", i > 0 ? ", " : "", f->id,
               pnc_filter_name_get(f->id));
        for (int p = 0; p < f->nparameters; p++)
            printf("%s%" PRIu32, p > 0 ? ", " : "", f->parameters[p]);
        fputs("]}", stdout);
    }
    putchar(']');
}

static int print_json_variable(const tool_file *file, int varid, const options *o)
{
    const pnc_stored *s = pnc_formats_reader_get_stored(file->reader, varid);
    const pnc_var *var = file->model.vars[varid];
    offsets_chunk_sum sum = {0};
    place_list list = {.ndims = var->ndims};

    fputs("    {\"name\": ", stdout);
    tool_json_print_string(var->name);
    printf(", \"type\": \"%s\", \"dimensions\": [", tool_cdl_type_find(var->type)->name);
    for (int d = 0; d < var->ndims; d++) {
        fputs(d > 0 ? ", " : "", stdout);
        tool_json_print_string(file->model.dims[var->dimids[d]]->name);
    }
    print_json_storage(s, var);
    PNC_TRY(offsets_chunks_add(file, varid, &sum));
    printf(",\n     \"chunks\": %" PRId64 ", \"written\": %" PRId64 ", \"stored\": %" PRId64
           ", \"uncompressed\": %" PRId64 ", \"ratio\": %.4f",
           sum.chunks, sum.written, sum.stored, sum.bytes, get_ratio(sum.bytes, sum.stored));
    if (o->records && s->layout == NC_CHUNKED) {
        fputs(",\n     \"places\": [", stdout);
        PNC_TRY(offsets_chunks_scan(file, varid, print_json_place, &list));
        putchar(']');
    }
    putchar('}');
    return NC_NOERR;
}

int offsets_chunks_print_json(const tool_file *file, const options *o)
{
    const pnc_model *model = &file->model;
    int n = count_variables(file, o);

    fputs("{\n  \"file\": ", stdout);
    tool_json_print_string(file->path);
    printf(",\n  \"size\": %" PRId64 ",\n  \"format\": \"%s\",\n  \"dimensions\": [", file->size,
           file->reader->ops->name);
    for (int i = 0; i < model->ndims; i++) {
        fputs(i > 0 ? ",\n    {\"name\": " : "\n    {\"name\": ", stdout);
        tool_json_print_string(model->dims[i]->name);
        printf(", \"length\": %" PRId64 ", \"unlimited\": %s}", pnc_format_dim_get_length(model, i),
               model->dims[i]->unlimited ? "true" : "false");
    }
    fputs(model->ndims > 0 ? "\n  ],\n  \"variables\": [" : "],\n  \"variables\": [", stdout);
    for (int i = 0; i < n; i++) {
        fputs(i > 0 ? ",\n" : "\n", stdout);
        PNC_TRY(print_json_variable(file, get_varid(file, o, i), o));
    }
    puts(n > 0 ? "\n  ]\n}" : "]\n}");
    return NC_NOERR;
}
