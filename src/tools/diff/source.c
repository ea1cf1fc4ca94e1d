/* Memory for the header of a file that is compared. */
#include "tools/diff/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"

static int code(const void *memory)
{
    return memory != NULL ? NC_NOERR : NC_ENOMEM;
}

int diff_source_alloc(diff_source *source, int ndims, int nvars)
{
    source->dims = pnc_memory_alloc_zeroed(ndims, sizeof *source->dims);
    source->vars = pnc_memory_alloc_zeroed(nvars, sizeof *source->vars);
    source->ndims = source->dims != NULL ? ndims : 0;
    source->nvars = source->vars != NULL ? nvars : 0;
    return source->dims != NULL && source->vars != NULL ? NC_NOERR : NC_ENOMEM;
}

int diff_var_alloc(diff_var *var, const char *name, int type, int ndims)
{
    var->name = pnc_string_copy(name);
    var->type = type;
    var->ndims = ndims;
    var->dimids = pnc_memory_alloc_zeroed(ndims, sizeof *var->dimids);
    var->shape = pnc_memory_alloc_zeroed(ndims, sizeof *var->shape);
    return var->name != NULL && var->dimids != NULL && var->shape != NULL ? NC_NOERR : NC_ENOMEM;
}

int diff_atts_alloc(diff_atts *atts, int n)
{
    atts->at = pnc_memory_alloc_zeroed(n, sizeof *atts->at);
    atts->n = atts->at != NULL ? n : 0;
    return code(atts->at);
}

int diff_att_alloc(diff_att *att, const char *name, int type, int64_t length)
{
    att->name = pnc_string_copy(name);
    att->type = type;
    att->length = length;
    att->nstrings = -1;
    att->values = pnc_memory_alloc_zeroed(length, pnc_type_get_size(type));
    return att->name != NULL && att->values != NULL ? NC_NOERR : NC_ENOMEM;
}

int diff_att_alloc_lengths(diff_att *att, int64_t n)
{
    att->nstrings = n;
    att->lengths = pnc_memory_alloc_zeroed(n, sizeof *att->lengths);
    return code(att->lengths);
}

typedef struct storage_text {
    char *at;
    size_t n, capacity;
} storage_text;

static void add_text(storage_text *text, const char *format, ...) PNC_PRINTF(2, 3);

static void add_text(storage_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text->n += (size_t)vsnprintf(text->at + text->n, text->capacity - text->n, format, args);
    va_end(args);
}

static void add_filter(storage_text *text, const pnc_filter *f)
{
    add_text(text, " %s", pnc_filter_name_get(f->id));
    if (strcmp(pnc_filter_name_get(f->id), "filter") == 0)
        add_text(text, " %d", f->id);
    for (int i = 0; i < f->nparameters && f->id != PNC_FILTER_SHUFFLE; i++)
        add_text(text, "%c%lu", i > 0 ? ',' : ':', (unsigned long)f->parameters[i]);
}

char *diff_storage_describe(const diff_storage *s)
{
    enum { LONGEST = 24 }; /* a number, a word, or a name */
    static const char *const layouts[] = {
        [NC_CHUNKED] = "chunked", [NC_CONTIGUOUS] = "contiguous", [NC_COMPACT] = "compact"};
    static const char *const orders[] = {
        [NC_ENDIAN_NATIVE] = "", [NC_ENDIAN_LITTLE] = " little-endian", [NC_ENDIAN_BIG] = " big-endian"};
    bool known = s->layout == NC_CHUNKED || s->layout == NC_CONTIGUOUS || s->layout == NC_COMPACT;
    storage_text text = {.capacity = (size_t)(4 + s->ndims + 2 * s->nfilters) * LONGEST};
    for (int i = 0; i < s->nfilters; i++)
        text.capacity += (size_t)s->filters[i].nparameters * LONGEST;
    text.at = pnc_memory_alloc((int64_t)text.capacity, 1);
    if (text.at == NULL)
        return NULL;
    add_text(&text, "%s", known ? layouts[s->layout] : "unknown");
    for (int d = 0; s->chunks != NULL && d < s->ndims; d++)
        add_text(&text, "%c%lld", d > 0 ? 'x' : ' ', (long long)s->chunks[d]);
    for (int i = 0; i < s->nfilters; i++)
        add_filter(&text, &s->filters[i]);
    add_text(&text, "%s", orders[s->endian >= 0 && s->endian <= NC_ENDIAN_BIG ? s->endian : 0]);
    return text.at;
}

static int name_atts(diff_atts *atts)
{
    int err = NC_NOERR;
    for (int i = 0; err == NC_NOERR && i < atts->n; i++)
        err = pnc_table_add(&atts->names, atts->at[i].name, i);
    return err;
}

int diff_source_finish(diff_source *source)
{
    int err = name_atts(&source->atts);
    for (int i = 0; err == NC_NOERR && i < source->ndims; i++)
        err = pnc_table_add(&source->dim_names, source->dims[i].name, i);
    for (int i = 0; err == NC_NOERR && i < source->nvars; i++) {
        diff_var *var = &source->vars[i];
        err = pnc_table_add(&source->var_names, var->name, i);
        if (err == NC_NOERR)
            err = name_atts(&var->atts);
        for (int d = 0; d < var->ndims; d++)
            var->shape[d] = source->dims[var->dimids[d]].length;
    }
    return err;
}

static void free_atts(diff_atts *atts)
{
    pnc_table_clear(&atts->names);
    for (int i = 0; i < atts->n; i++) {
        pnc_memory_free(atts->at[i].name);
        pnc_memory_free(atts->at[i].values);
        pnc_memory_free(atts->at[i].lengths);
    }
    pnc_memory_free(atts->at);
}

void diff_source_free(diff_source *source)
{
    pnc_table_clear(&source->dim_names);
    pnc_table_clear(&source->var_names);
    for (int i = 0; i < source->ndims; i++)
        pnc_memory_free(source->dims[i].name);
    for (int i = 0; i < source->nvars; i++) {
        diff_var *var = &source->vars[i];
        pnc_memory_free(var->name);
        pnc_memory_free(var->dimids);
        pnc_memory_free(var->shape);
        pnc_memory_free(var->storage);
        free_atts(&var->atts);
    }
    free_atts(&source->atts);
    pnc_memory_free(source->dims);
    pnc_memory_free(source->vars);
    *source = (diff_source){0};
}
