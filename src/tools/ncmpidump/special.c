/* Attributes that are not in the file: how it stores its variables, as ncdump -s prints it and ncmpigen reads it. */
#include <string.h>

#include "format/storage.h"
#include "formats/reader.h"
#include "tools/ncmpidump/dump.h"

static void begin_special(const dump_file *file, const dump_variable *variable, const char *name)
{
    fprintf(file->out, "\t\t%s:%s = ", variable != NULL ? variable->escaped : "", name);
}

static void write_word(const dump_file *file, const dump_variable *variable, const char *name, const char *word)
{
    begin_special(file, variable, name);
    fprintf(file->out, "\"%s\" ;\n", word);
}

static void write_layout(const dump_file *file, const dump_variable *variable, const pnc_storage *s)
{
    static const char *const names[] = {
        [NC_CHUNKED] = "chunked", [NC_CONTIGUOUS] = "contiguous", [NC_COMPACT] = "compact"};

    if (s->layout != NC_CHUNKED && s->layout != NC_CONTIGUOUS && s->layout != NC_COMPACT)
        return;
    write_word(file, variable, "_Storage", names[s->layout]);
    if (s->layout != NC_CHUNKED || s->chunks == NULL)
        return;
    begin_special(file, variable, "_ChunkSizes");
    for (int d = 0; d < variable->ndims; d++)
        fprintf(file->out, "%s%lld", d > 0 ? ", " : "", (long long)s->chunks[d]);
    fputs(" ;\n", file->out);
}

/* Filters that have no attribute of their own are in _Filter: id and parameters, separated by commas; several filters
 * by |. */
static void write_others(const dump_file *file, const dump_variable *variable, const pnc_storage *s)
{
    bool any = false;

    for (int i = 0; i < s->nfilters; i++) {
        const pnc_filter *f = &s->filters[i];

        if (f->id == PNC_FILTER_DEFLATE || f->id == PNC_FILTER_SHUFFLE || f->id == PNC_FILTER_FLETCHER32)
            continue;
        if (!any)
            begin_special(file, variable, "_Filter");
        fprintf(file->out, "%s%d", any ? "|" : "\"", f->id);
        for (int p = 0; p < f->nparameters; p++)
            fprintf(file->out, ",%lu", (unsigned long)f->parameters[p]);
        any = true;
    }
    if (any)
        fputs("\" ;\n", file->out);
}

static void write_filters(const dump_file *file, const dump_variable *variable, const pnc_storage *s)
{
    int deflate = pnc_format_storage_find_filter(variable->var, PNC_FILTER_DEFLATE);

    if (pnc_format_storage_find_filter(variable->var, PNC_FILTER_FLETCHER32) >= 0)
        write_word(file, variable, "_Fletcher32", "true");
    if (pnc_format_storage_find_filter(variable->var, PNC_FILTER_SHUFFLE) >= 0)
        write_word(file, variable, "_Shuffle", "true");
    if (deflate >= 0 && s->filters[deflate].nparameters > 0) {
        begin_special(file, variable, "_DeflateLevel");
        fprintf(file->out, "%lu ;\n", (unsigned long)s->filters[deflate].parameters[0]);
    }
    write_others(file, variable, s);
}

static void print_of_variable(const dump_file *file, const dump_variable *variable)
{
    const pnc_storage *s = variable->var->storage;

    if (file->input.reader == NULL || s == NULL || variable->type->class == CDL_OTHER)
        return;
    write_layout(file, variable, s);
    write_filters(file, variable, s);
    if (variable->type->class != CDL_STRING && variable->type->size > 1)
        write_word(file, variable, "_Endianness", variable->var->little ? "little" : "big");
    if (dump_attribute_find(file, variable->id, "_FillValue") == NULL &&
        !pnc_formats_reader_get_stored(file->input.reader, variable->id)->has_fill &&
        variable->type->class != CDL_STRING)
        write_word(file, variable, "_NoFill", "true");
}

static void print_of_file(const dump_file *file)
{
    char text[NC_MAX_NAME + 1];

    if (file->input.reader != NULL &&
        pnc_formats_reader_get_text(file->input.reader, "_NCProperties", text, sizeof text))
        write_word(file, NULL, "_NCProperties", text);
    write_word(file, NULL, "_Format", dump_format_get_name(file->format));
}

void dump_special_print(const dump_file *file, const dump_variable *variable)
{
    if (variable != NULL)
        print_of_variable(file, variable);
    else
        print_of_file(file);
}
