/* Zarr metadata, and the division of variables into chunks. */
#include "references/zarr.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convert/convert.h"
#include "format/real.h"
#include "references/json.h"

/* --- chunks --- */

/* The largest divisor of n that is not above `most`; 1 at least. */
static int64_t find_divisor_below(int64_t n, int64_t most)
{
    int64_t best = 1;

    for (int64_t d = 1; d <= n / d; d++) {
        if (n % d != 0)
            continue;
        if (n / d <= most)
            return n / d;
        if (d <= most)
            best = d;
    }
    return best;
}

/* The smallest divisor of n that is not below `least`, which is n at most. */
static int64_t find_divisor_above(int64_t n, int64_t least)
{
    int64_t best = n;

    for (int64_t d = 1; d <= n / d; d++) {
        if (n % d != 0)
            continue;
        if (d >= least)
            return d;
        if (n / d >= least)
            best = n / d;
    }
    return best;
}

/* Indices of a dimension of length n in a chunk, if each index has `bytes` bytes. A length without a divisor that fits,
 * such as a prime number, makes a chunk that is too large rather than thousands of small ones. */
static int64_t choose_length(int64_t n, int64_t bytes, int64_t most)
{
    enum { TOO_SMALL = 16 }; /* below this part of `most` */
    int64_t length = find_divisor_below(n, most / bytes);

    return length * bytes < most / TOO_SMALL ? find_divisor_above(n, most / bytes + 1) : length;
}

void pnc_references_chunks_choose(const pnc_var *var, int64_t most, pnc_zarr_chunks *chunks)
{
    int64_t bytes = var->size;
    int d = var->is_record;

    *chunks = (pnc_zarr_chunks){.split = var->is_record, .length = 1, .along = 1, .number = 1, .size = var->size};
    if (d < var->ndims)
        chunks->length = var->shape[d];
    for (; d < var->ndims && chunks->size > most; d++) {
        bytes /= var->shape[d];
        if (d + 1 < var->ndims && bytes > most) {
            chunks->number *= var->shape[d];
            continue;
        }
        chunks->split = d;
        chunks->length = choose_length(var->shape[d], bytes, most);
        chunks->along = var->shape[d] / chunks->length;
        chunks->number *= chunks->along;
        chunks->size = chunks->length * bytes;
        return;
    }
}

void pnc_references_key_write(FILE *out, const pnc_var *var, const pnc_zarr_chunks *chunks, int64_t record,
                              int64_t number)
{
    int64_t below = chunks->number;

    if (var->ndims == 0)
        fputc('0', out);
    if (var->is_record)
        fprintf(out, "%" PRId64, record);
    for (int d = var->is_record; d < var->ndims; d++) {
        fputs(d > 0 ? "." : "", out);
        if (d <= chunks->split)
            below /= d < chunks->split ? var->shape[d] : chunks->along;
        fprintf(out, "%" PRId64, number / below);
        number %= below;
    }
}

/* --- metadata --- */

/* A value of single precision is written as the double that it equals: JSON has no other numbers. */
static void write_finite(FILE *out, double value)
{
    char text[PNC_REAL_TEXT];

    fputs(pnc_format_real_print(NC_DOUBLE, value, text), out);
    if (text[strspn(text, "-0123456789")] == '\0')
        fputs(".0", out); /* Python would read an integer */
}

/* Python, which reads these documents, accepts NaN and infinities as numbers in attributes; the fill value has them as
 * strings. */
static void write_real(FILE *out, double value, const char *quote)
{
    const char *name = value < 0 ? "-Infinity" : "Infinity";

    if (isfinite(value))
        write_finite(out, value);
    else
        fprintf(out, "%s%s%s", quote, isnan(value) ? "NaN" : name, quote);
}

static bool is_unsigned(int type)
{
    return type == NC_UBYTE || type == NC_USHORT || type == NC_UINT || type == NC_UINT64;
}

static void load_number(int type, pnc_mem_type as, bool little, const void *bytes, void *value)
{
    static const char unused[8];
    const pnc_encoding encoding = {.little = little, .signless_bytes = false};

    pnc_convert_kernel_find(PNC_GET, type, as, encoding, NULL)(value, bytes, 1, unused);
}

/* little: the byte order of the value. */
static void write_number(FILE *out, int type, bool little, const void *bytes, const char *quote)
{
    unsigned long long u;
    long long i;
    double r;

    if (type == NC_FLOAT || type == NC_DOUBLE) {
        load_number(type, PNC_DOUBLE, little, bytes, &r);
        write_real(out, r, quote);
    } else if (is_unsigned(type)) {
        load_number(type, PNC_ULONGLONG, little, bytes, &u);
        fprintf(out, "%llu", u);
    } else {
        load_number(type, PNC_LONGLONG, little, bytes, &i);
        fprintf(out, "%lld", i);
    }
}

static void write_attribute(FILE *out, const pnc_att *att, bool little)
{
    const char *bytes = att->value;
    int64_t n = att->len;

    pnc_references_string_write(out, att->name);
    fputc(':', out);
    if (att->type == NC_CHAR) {
        pnc_references_text_write(out, bytes, (size_t)n);
        return;
    }
    fputs(n != 1 ? "[" : "", out);
    for (int64_t i = 0; i < n; i++) {
        fputs(i > 0 ? "," : "", out);
        write_number(out, att->type, little, bytes + i * (int64_t)pnc_type_get_size(att->type), "");
    }
    fputs(n != 1 ? "]" : "", out);
}

const pnc_att *pnc_references_fill_value_find(const pnc_var *var)
{
    int at = pnc_format_atts_find(&var->atts, "_FillValue");
    const pnc_att *att = at >= 0 ? var->atts.at[at] : NULL;

    return att != NULL && att->type == var->type && att->len == 1 && var->type != NC_CHAR ? att : NULL;
}

/* Attributes, except `left_out` and the one that readers of Zarr expect to have the names of dimensions. */
static void write_attributes(FILE *out, const pnc_model *model, const pnc_atts *atts, const pnc_att *left_out,
                             const char *separator)
{
    for (int i = 0; i < atts->n; i++) {
        if (atts->at[i] == left_out || strcmp(atts->at[i]->name, "_ARRAY_DIMENSIONS") == 0)
            continue;
        fputs(separator, out);
        write_attribute(out, atts->at[i], model->little);
        separator = ",";
    }
}

void pnc_references_group_write_attributes(FILE *out, const pnc_model *model)
{
    fputc('{', out);
    write_attributes(out, model, &model->gatts, NULL, "");
    fputc('}', out);
}

void pnc_references_array_write_attributes(FILE *out, const pnc_model *model, const pnc_var *var)
{
    fputs("{\"_ARRAY_DIMENSIONS\":[", out);
    for (int d = 0; d < var->ndims; d++) {
        fputs(d > 0 ? "," : "", out);
        pnc_references_string_write(out, model->dims[var->dimids[d]]->name);
    }
    fputc(']', out);
    write_attributes(out, model, &var->atts, pnc_references_fill_value_find(var), ",");
    fputc('}', out);
}

static const char *get_dtype(int type)
{
    static const char *const names[] = {
        [NC_BYTE] = "|i1",  [NC_CHAR] = "|S1",   [NC_SHORT] = ">i2", [NC_INT] = ">i4",
        [NC_FLOAT] = ">f4", [NC_DOUBLE] = ">f8", [NC_UBYTE] = "|u1", [NC_USHORT] = ">u2",
        [NC_UINT] = ">u4",  [NC_INT64] = ">i8",  [NC_UINT64] = ">u8"};

    return names[type];
}

int64_t pnc_references_chunk_get_length(const pnc_var *var, const pnc_zarr_chunks *chunks, int d)
{
    if (d < chunks->split || (var->is_record && d == 0))
        return 1;
    return d == chunks->split ? chunks->length : var->shape[d];
}

void pnc_references_array_write(FILE *out, const pnc_model *model, const pnc_var *var, const pnc_zarr_chunks *chunks,
                                int64_t numrecs)
{
    const pnc_att *fill = pnc_references_fill_value_find(var);

    fputs("{\"zarr_format\":2,\"shape\":[", out);
    for (int d = 0; d < var->ndims; d++)
        fprintf(out, "%s%" PRId64, d > 0 ? "," : "", d == 0 && var->is_record ? numrecs : var->shape[d]);
    fputs("],\"chunks\":[", out);
    for (int d = 0; d < var->ndims; d++)
        fprintf(out, "%s%" PRId64, d > 0 ? "," : "", pnc_references_chunk_get_length(var, chunks, d));
    fprintf(out, "],\"dtype\":\"%s\",\"compressor\":null,\"filters\":null,\"order\":\"C\",\"fill_value\":",
            get_dtype(var->type));
    if (fill != NULL)
        write_number(out, var->type, model->little, fill->value, "\"");
    else
        fputs("null", out);
    fputc('}', out);
}

/* --- netCDF-4 --- */

bool pnc_references_filter_is_known(int id)
{
    return id == PNC_FILTER_DEFLATE || id == PNC_FILTER_SHUFFLE || id == PNC_FILTER_FLETCHER32 || id == PNC_FILTER_ZSTD;
}

/* As numcodecs names it. */
static void write_filter(FILE *out, const pnc_filter *f, int size)
{
    int parameter = f->nparameters > 0 ? (int)f->parameters[0] : 0;

    switch (f->id) {
    case PNC_FILTER_DEFLATE: fprintf(out, "{\"id\":\"zlib\",\"level\":%d}", parameter); break;
    case PNC_FILTER_SHUFFLE: fprintf(out, "{\"id\":\"shuffle\",\"elementsize\":%d}", size); break;
    case PNC_FILTER_ZSTD: fprintf(out, "{\"id\":\"zstd\",\"level\":%d}", parameter); break;
    default: fputs("{\"id\":\"fletcher32\"}", out);
    }
}

static void write_filter_list(FILE *out, const pnc_zarr_array *a)
{
    const pnc_filter_chain *chain = &a->storage->array.filters;

    if (!a->has_filters || chain->nfilters == 0) {
        fputs("null", out);
        return;
    }
    for (int i = 0; i < chain->nfilters; i++) {
        fputc(i > 0 ? ',' : '[', out);
        write_filter(out, &chain->filters[i], (int)pnc_type_get_size(a->var->type));
    }
    fputc(']', out);
}

void pnc_references_stored_array_write(FILE *out, const pnc_model *model, const pnc_zarr_array *a)
{
    const pnc_att *fill = pnc_references_fill_value_find(a->var);
    int type = a->var->type;
    bool is_little = a->var->little && pnc_type_get_size(type) > 1;

    fputs("{\"zarr_format\":2,\"shape\":[", out);
    for (int d = 0; d < a->var->ndims; d++)
        fprintf(out, "%s%" PRId64, d > 0 ? "," : "", d == 0 ? a->first : a->var->shape[d]);
    fputs("],\"chunks\":[", out);
    for (int d = 0; d < a->var->ndims; d++)
        fprintf(out, "%s%" PRId64, d > 0 ? "," : "", a->lengths[d]);
    fprintf(out, "],\"dtype\":\"%s%s\",\"compressor\":null,\"filters\":", is_little ? "<" : "",
            get_dtype(type) + is_little);
    write_filter_list(out, a);
    fputs(",\"order\":\"C\",\"fill_value\":", out);
    if (fill != NULL)
        write_number(out, type, model->little, fill->value, "\"");
    else if (a->has_gaps && type != NC_CHAR)
        write_number(out, type, a->is_short ? a->var->little : PNC_HOST_IS_LITTLE,
                     a->is_short ? a->storage->array.beyond : a->storage->fill, "\"");
    else
        fputs("null", out);
    fputc('}', out);
}
