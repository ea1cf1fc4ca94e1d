/* Special attributes in CDL, as ncdump -s and ncmpidump -s print them: how a netCDF-4 file stores its variables. They
 * are kept until the header is complete, as the text may name the format last, and are applied in an order that does
 * not depend on the text: layout before filters, shuffle before compression, checksums at last. */
#include "format/cdl_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/storage.h"

typedef enum special_name {
    STORAGE,
    CHUNK_SIZES,
    SHUFFLE,
    DEFLATE_LEVEL,
    FILTER,
    FLETCHER32,
    ENDIANNESS,
    NO_FILL,
    VAR_NAMES
} special_name;

static const char *const var_names[VAR_NAMES] = {[STORAGE] = "_Storage",       [CHUNK_SIZES] = "_ChunkSizes",
                                                 [SHUFFLE] = "_Shuffle",       [DEFLATE_LEVEL] = "_DeflateLevel",
                                                 [FILTER] = "_Filter",         [FLETCHER32] = "_Fletcher32",
                                                 [ENDIANNESS] = "_Endianness", [NO_FILL] = "_NoFill"};
/* Without an effect. */
static const char *const ignored_var_names[] = {"_Codecs", NULL};
static const char *const file_names[] = {"_Format", "_NCProperties", "_IsNetcdf4", "_SuperblockVersion", NULL};

/* A special attribute of a variable: its values are at `offset` of special_values, n bytes of text or n numbers. */
typedef struct cdl_special {
    int varid, name;
    bool is_text;
    pnc_cdl_position at;
    int64_t offset, n;
} cdl_special;

static bool is_among(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static int find_var_name(const char *name)
{
    int i = 0;

    while (i < VAR_NAMES && strcmp(name, var_names[i]) != 0)
        i++;
    return i;
}

bool pnc_format_cdl_special_is(const pnc_cdl_reader *reader)
{
    if (reader->att_varid == NC_GLOBAL)
        return is_among(reader->att_name, file_names);
    return find_var_name(reader->att_name) < VAR_NAMES || is_among(reader->att_name, ignored_var_names);
}

/* --- keeping --- */

/* An attribute :_Format = "classic" (and so on) sets the format, unless the caller or a comment has set it. */
static int read_format_name(pnc_cdl_reader *reader)
{
    static const struct {
        const char *name;
        int format;
    } rows[] = {{"classic", NC_FORMAT_CLASSIC},  {"64-bit offset", NC_FORMAT_CDF2},
                {"64-bit data", NC_FORMAT_CDF5}, {"cdf5", NC_FORMAT_CDF5},
                {"netCDF-4", NC_FORMAT_NETCDF4}, {"netCDF-4 classic model", NC_FORMAT_NETCDF4_CLASSIC}};

    if (reader->format_known)
        return NC_NOERR;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == (size_t)reader->text.n &&
            memcmp(rows[i].name, reader->text.at, (size_t)reader->text.n) == 0 &&
            pnc_format_cdl_format_set(reader, rows[i].format))
            return NC_NOERR;
    return pnc_format_cdl_fail(reader, reader->att_position, NC_ENOTNC, "_Format must be %s",
                               reader->sink == NULL ? "\"classic\", \"64-bit offset\" or \"64-bit data\""
                                                    : "\"classic\", \"64-bit offset\", \"64-bit data\", \"netCDF-4\" "
                                                      "or \"netCDF-4 classic model\"");
}

static int keep_of_var(pnc_cdl_reader *reader, int name)
{
    const pnc_cdl_bytes *from = reader->att_text ? &reader->text : &reader->items;
    const cdl_special special = {.varid = reader->att_varid,
                                 .name = name,
                                 .is_text = reader->att_text,
                                 .at = reader->att_position,
                                 .offset = reader->special_values.n,
                                 .n = reader->att_text ? from->n : from->n / (int64_t)sizeof(pnc_cdl_item)};

    if (from->n > 0)
        PNC_TRY(pnc_format_cdl_bytes_append(reader, &reader->special_values, from->at, from->n));
    return pnc_format_cdl_bytes_append(reader, &reader->specials, &special, sizeof special);
}

int pnc_format_cdl_special_keep(pnc_cdl_reader *reader)
{
    int name = reader->att_varid == NC_GLOBAL ? VAR_NAMES : find_var_name(reader->att_name);

    if (name < VAR_NAMES)
        return keep_of_var(reader, name);
    return strcmp(reader->att_name, "_Format") == 0 && reader->att_varid == NC_GLOBAL ? read_format_name(reader)
                                                                                      : NC_NOERR;
}

/* --- applying --- */

static int fail_special(pnc_cdl_reader *reader, const cdl_special *s, const char *expected)
{
    return pnc_format_cdl_fail(reader, s->at, NC_EINVAL, "%s of variable \"%s\" must be %s", var_names[s->name],
                               reader->model->vars[s->varid]->name, expected);
}

static bool text_is(const pnc_cdl_reader *reader, const cdl_special *s, const char *word)
{
    return s->is_text && s->n == (int64_t)strlen(word) &&
           memcmp(reader->special_values.at + s->offset, word, (size_t)s->n) == 0;
}

/* A whole number that is not negative. */
static bool get_special_number(const pnc_cdl_reader *reader, const cdl_special *s, int64_t i, int64_t *out)
{
    pnc_cdl_item item;

    if (s->is_text || i >= s->n)
        return false;
    memcpy(&item, reader->special_values.at + s->offset + i * (int64_t)sizeof item, sizeof item);
    if (item.number.real || item.number.negative || item.number.value.magnitude > INT64_MAX)
        return false;
    *out = (int64_t)item.number.value.magnitude;
    return true;
}

static int get_flag(pnc_cdl_reader *reader, const cdl_special *s, bool *out)
{
    int64_t number = -1;

    if (text_is(reader, s, "true") || (s->n == 1 && get_special_number(reader, s, 0, &number) && number == 1))
        *out = true;
    else if (text_is(reader, s, "false") || number == 0)
        *out = false;
    else
        return fail_special(reader, s, "\"true\" or \"false\"");
    return NC_NOERR;
}

static int refuse_storage(pnc_cdl_reader *reader, const cdl_special *s, int err, const pnc_error *why)
{
    return err == NC_NOERR ? NC_NOERR
                           : pnc_format_cdl_fail(reader, s->at, err, "%s: %s", var_names[s->name], why->text);
}

static int apply_layout(pnc_cdl_reader *reader, const cdl_special *s, pnc_var *var)
{
    pnc_error why = {0};
    int layout = NC_CHUNKED;

    if (text_is(reader, s, "contiguous"))
        layout = NC_CONTIGUOUS;
    else if (text_is(reader, s, "compact"))
        layout = NC_COMPACT;
    else if (!text_is(reader, s, "chunked"))
        return fail_special(reader, s, "\"contiguous\", \"chunked\" or \"compact\"");
    return refuse_storage(reader, s, pnc_format_storage_set_layout(reader->model, var, layout, NULL, &why), &why);
}

static int apply_chunk_sizes(pnc_cdl_reader *reader, const cdl_special *s, pnc_var *var)
{
    int64_t chunks[PNC_STORAGE_DIMS_MOST];
    pnc_error why = {0};

    if (s->n != var->ndims || var->ndims > PNC_STORAGE_DIMS_MOST)
        return fail_special(reader, s, "one number for each dimension");
    for (int d = 0; d < var->ndims; d++)
        if (!get_special_number(reader, s, d, &chunks[d]) || chunks[d] == 0)
            return fail_special(reader, s, "one positive number for each dimension");
    return refuse_storage(reader, s, pnc_format_storage_set_layout(reader->model, var, NC_CHUNKED, chunks, &why), &why);
}

static int add_filter(pnc_cdl_reader *reader, const cdl_special *s, pnc_var *var, int id, int n, uint32_t *parameters)
{
    const pnc_filter filter = {.id = id, .nparameters = n, .parameters = parameters};
    pnc_error why = {0};

    var->storage->chosen_filters = true;
    return refuse_storage(reader, s, pnc_format_storage_set_filter(reader->model, var, &filter, &why), &why);
}

static int apply_deflate(pnc_cdl_reader *reader, const cdl_special *s, pnc_var *var)
{
    int64_t level;
    uint32_t parameter;

    if (s->n != 1 || !get_special_number(reader, s, 0, &level) || level > 9)
        return fail_special(reader, s, "a number from 0 to 9");
    parameter = (uint32_t)level;
    return add_filter(reader, s, var, PNC_FILTER_DEFLATE, 1, &parameter);
}

static int apply_shuffle(pnc_cdl_reader *reader, const cdl_special *s, pnc_var *var)
{
    pnc_error why = {0};
    bool on;

    PNC_TRY(get_flag(reader, s, &on));
    return refuse_storage(reader, s, pnc_format_storage_set_shuffle(reader->model, var, on, &why), &why);
}

static int apply_fletcher32(pnc_cdl_reader *reader, const cdl_special *s, pnc_var *var)
{
    bool on;

    PNC_TRY(get_flag(reader, s, &on));
    return on ? add_filter(reader, s, var, PNC_FILTER_FLETCHER32, 0, NULL) : NC_NOERR;
}

/* "id,parameter,parameter": *text is moved to the end of the filter. */
static int read_filter(pnc_cdl_reader *reader, const cdl_special *s, pnc_var *var, const char **text)
{
    enum { MOST = 64 };
    uint32_t numbers[MOST];
    int n = 0;

    for (;; (*text)++) {
        char *end;
        unsigned long number;

        *text += strspn(*text, " ");
        number = strtoul(*text, &end, 0);
        if (**text < '0' || **text > '9' || n == MOST || number > UINT32_MAX)
            return fail_special(reader, s, "\"ID,PARAMETER,...\", numbers of at most 32 bits; more filters after |");
        numbers[n++] = (uint32_t)number;
        *text = end + (*end == 'u' || *end == 'U');
        *text += strspn(*text, " ");
        if (**text != ',')
            break;
    }
    if (numbers[0] == 0 || numbers[0] > INT32_MAX)
        return fail_special(reader, s, "the id of a filter, and its parameters");
    return add_filter(reader, s, var, (int)numbers[0], n - 1, numbers + 1);
}

static int apply_filters(pnc_cdl_reader *reader, const cdl_special *s, pnc_var *var)
{
    char *text = s->is_text ? pnc_memory_alloc(s->n + 1, 1) : NULL;
    const char *next = text;
    int err;

    if (!s->is_text)
        return fail_special(reader, s, "a text \"ID,PARAMETER,...\"");
    if (text == NULL)
        return pnc_format_cdl_fail_memory(reader);
    if (s->n > 0)
        memcpy(text, reader->special_values.at + s->offset, (size_t)s->n);
    text[s->n] = '\0';
    do
        err = read_filter(reader, s, var, &next);
    while (err == NC_NOERR && *next++ == '|');
    if (err == NC_NOERR && next[-1] != '\0')
        err = fail_special(reader, s, "\"ID,PARAMETER,...\", numbers of at most 32 bits; more filters after |");
    pnc_memory_free(text);
    return err;
}

static int apply_endianness(pnc_cdl_reader *reader, const cdl_special *s, pnc_var *var)
{
    static const char *const words[] = {
        [NC_ENDIAN_NATIVE] = "native", [NC_ENDIAN_LITTLE] = "little", [NC_ENDIAN_BIG] = "big"};

    for (int endian = NC_ENDIAN_NATIVE; endian <= NC_ENDIAN_BIG; endian++)
        if (text_is(reader, s, words[endian])) {
            var->storage->endian = endian;
            return NC_NOERR;
        }
    return fail_special(reader, s, "\"little\", \"big\" or \"native\"");
}

static int apply_no_fill(pnc_cdl_reader *reader, const cdl_special *s, pnc_var *var)
{
    return get_flag(reader, s, &var->storage->no_fill_value);
}

static int apply_special(pnc_cdl_reader *reader, const cdl_special *s)
{
    static int (*const by_name[VAR_NAMES])(pnc_cdl_reader *, const cdl_special *, pnc_var *) = {
        [STORAGE] = apply_layout,        [CHUNK_SIZES] = apply_chunk_sizes, [SHUFFLE] = apply_shuffle,
        [DEFLATE_LEVEL] = apply_deflate, [FILTER] = apply_filters,          [FLETCHER32] = apply_fletcher32,
        [ENDIANNESS] = apply_endianness, [NO_FILL] = apply_no_fill};
    pnc_var *var = reader->model->vars[s->varid];
    pnc_error why = {0};

    if (var->storage == NULL)
        PNC_TRY(refuse_storage(reader, s, pnc_format_storage_add(reader->model, var, &why), &why));
    return by_name[s->name](reader, s, var);
}

/* NaN without a type is a double; the fill value of a netCDF-4 variable has the type of the variable. */
static int adapt_nan(pnc_cdl_reader *reader, pnc_var *var)
{
    static const char nan[] = {'\x7f', '\xf8', 0, 0, 0, 0, 0, 0};
    int i = pnc_format_atts_find(&var->atts, "_FillValue");
    pnc_error why = {0};
    int err;

    if (i < 0 || var->type != NC_FLOAT || var->atts.at[i]->type != NC_DOUBLE || var->atts.at[i]->len != 1 ||
        memcmp(var->atts.at[i]->value, nan, sizeof nan) != 0)
        return NC_NOERR;
    err = pnc_format_atts_put(reader->model, &var->atts, "_FillValue", NC_FLOAT, 1, "\x7f\xc0\0", &why);
    return pnc_format_cdl_fail_refused(reader, reader->next, err, &why);
}

int pnc_format_cdl_specials_apply(pnc_cdl_reader *reader)
{
    const cdl_special *specials = (const cdl_special *)(const void *)reader->specials.at;
    const int64_t n = reader->specials.n / (int64_t)sizeof *specials;

    for (int name = 0; name < VAR_NAMES; name++)
        for (int64_t i = 0; i < n; i++)
            if (specials[i].name == name)
                PNC_TRY(apply_special(reader, &specials[i]));
    for (int i = 0; i < reader->model->nvars; i++)
        PNC_TRY(adapt_nan(reader, reader->model->vars[i]));
    return NC_NOERR;
}
