/* Hints for the storage of variables. Rank 0 collects them as lines of text, which it sends to the others:
 *
 *     line = origin hint ["@" pattern] "=" value "\n"      origin: E for PNETCDF_HINTS, I for the MPI_Info,
 *                                                                   F for the format
 *
 * For a variable and a hint one line decides: those of the first origin first, then the pattern with most characters
 * that are not wildcards, then the first in alphabetical order. A line without a pattern comes last. */
#include "dataset/storage_hints.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "convert/quantize.h"
#include "dataset/hints.h"
#include "dataset/hints_effect.h"
#include "dataset/last_error.h"
#include "file/agree.h"
#include "filter/text.h"
#include "format/coordinates.h"
#include "format/quantization.h"
#include "format/storage.h"

#define MOST_CHUNK_LENGTH INT64_C(0xffffffff)

static const char *const hint_names[] = {"nc_compression", "nc_shuffle", "nc_chunks", "nc_quantize", "nc_error"};
enum { NAMES = sizeof hint_names / sizeof *hint_names };

/* --- values --- */

typedef struct quantization {
    int mode, nsd;
} quantization;

/* WORD or WORD:NUMBER. *text moves behind the number; `number` keeps its value without one. */
static bool take_word(const char *text, const char *word, int least, int most, int *number)
{
    size_t n = strlen(word);
    char *end;
    long value;

    if (strncmp(text, word, n) != 0)
        return false;
    if (text[n] == '\0')
        return *number >= least;
    if (text[n] != ':' || !(isdigit((unsigned char)text[n + 1]) || text[n + 1] == '-'))
        return false;
    value = strtol(text + n + 1, &end, 10);
    if (*end != '\0' || value < least || value > most)
        return false;
    *number = (int)value;
    return true;
}

static pnc_filter get_filter(const pnc_filter_text *text)
{
    return (pnc_filter){.id = text->id, .nparameters = text->nparameters, .parameters = text->parameters};
}

/* A file is not to fail because of a hint. Sets an error without its library or plugin. */
static bool is_installed(const pnc_filter_text *text, pnc_error *error)
{
    const pnc_filter filter = get_filter(text);

    return text->id == 0 || pnc_formats_filter_check(&filter, error) == NC_NOERR;
}

bool pnc_dataset_compression_parse(const char *text, pnc_hints *out)
{
    pnc_filter_text given;

    (void)out;
    return pnc_filter_text_parse(text, &given) && is_installed(&given, NULL);
}

bool pnc_dataset_shuffle_parse(const char *text, pnc_hints *out)
{
    (void)out;
    return strcmp(text, "automatic") == 0 || strcmp(text, "enable") == 0 || strcmp(text, "disable") == 0;
}

bool pnc_dataset_threads_parse(const char *text, pnc_hints *out)
{
    char *end;
    long n = strtol(text, &end, 10);
    bool is_number = end != text && *end == '\0' && n >= 0 && n <= PNC_FORMAT_THREADS_MOST;

    out->format.filter_threads = is_number ? n + 1 : -1;
    return is_number || strcmp(text, "auto") == 0;
}

static bool parse_quantization(const char *text, quantization *out)
{
    static const struct {
        const char *word;
        int mode;
    } modes[] = {
        {"bitgroom", NC_QUANTIZE_BITGROOM}, {"granular", NC_QUANTIZE_GRANULARBR}, {"bitround", NC_QUANTIZE_BITROUND}};

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        int most = pnc_convert_quantizer_get_most((pnc_quantization)modes[i].mode, NC_DOUBLE);

        *out = (quantization){modes[i].mode, 0};
        if (take_word(text, modes[i].word, 1, most, &out->nsd))
            return true;
    }
    *out = (quantization){NC_NOQUANTIZE, 0};
    return strcmp(text, "none") == 0;
}

bool pnc_dataset_quantize_parse(const char *text, pnc_hints *out)
{
    quantization unused;

    (void)out;
    return parse_quantization(text, &unused);
}

typedef struct error_bound {
    pnc_quantization mode; /* 0: none */
    double most;
} error_bound;

static bool parse_error(const char *text, error_bound *out)
{
    bool is_absolute = strncmp(text, "abs:", 4) == 0;

    *out = (error_bound){0, 0};
    if (!is_absolute && strncmp(text, "rel:", 4) != 0)
        return strcmp(text, "none") == 0;
    out->mode = is_absolute ? PNC_ABSOLUTE_ERROR : PNC_RELATIVE_ERROR;
    return pnc_text_decimal_parse(text + 4, &out->most) && pnc_convert_error_bound_is_valid(out->mode, out->most);
}

bool pnc_dataset_error_parse(const char *text, pnc_hints *out)
{
    error_bound unused;

    (void)out;
    return parse_error(text, &unused);
}

/* One item of nc_chunks: [NAME/]LENGTH, up to the next comma. Returns what follows, or NULL if it is malformed. */
static const char *take_chunk_length(const char *text, const char **name, int *name_length, int64_t *length)
{
    const char *end = text + strcspn(text, ","), *number = text;
    int64_t value = 0;

    for (const char *at = text; at < end; at++)
        if (*at == '/')
            number = at + 1;
    *name = text;
    *name_length = number > text ? (int)(number - 1 - text) : 0;
    if (number == end || number == text + 1)
        return NULL;
    for (; number < end; number++) {
        if (!isdigit((unsigned char)*number) || value > MOST_CHUNK_LENGTH)
            return NULL;
        value = 10 * value + (*number - '0');
    }
    *length = value;
    return value > MOST_CHUNK_LENGTH ? NULL : end + (*end == ',');
}

/* All items have a name, or none has one. */
bool pnc_dataset_chunks_parse(const char *text, pnc_hints *out)
{
    int named = 0, n = 0;

    (void)out;
    if (strcmp(text, "auto") == 0)
        return true;
    if (text[0] == '\0' || text[strlen(text) - 1] == ',')
        return false;
    for (const char *at = text, *name; *at != '\0'; n++) {
        int name_length;
        int64_t length;

        at = take_chunk_length(at, &name, &name_length, &length);
        if (at == NULL)
            return false;
        named += name_length > 0;
    }
    return named == 0 || named == n;
}

void pnc_dataset_storage_hint_explain(const char *key, const char *value, char *out, size_t capacity)
{
    static const char *const forms[NAMES] = {
        "must be none, deflate:1 to deflate:9, zstd:LEVEL, or a filter of a plugin, "
        "such as blosc:zstd:1 or ID:PARAMETER:PARAMETER",
        "must be automatic, enable or disable",
        "must be auto, lengths as in 1,180,360, or dimensions with lengths as in "
        "lat/180,lon/360",
        "must be none, bitround:BITS (at most 52), granular:DIGITS or "
        "bitgroom:DIGITS (at most 15)",
        "must be none, abs:NUMBER (greater than 0), or rel:NUMBER (greater than "
        "0, less than 1)"};
    const char *name = pnc_dataset_storage_hint_find(key);
    pnc_filter_text given;
    pnc_error error = {0};

    out[0] = '\0';
    if (name != NULL && key[strlen(name) + 1] == '\0') {
        snprintf(out, capacity, "the names of variables, or a pattern of them, must follow the @");
        return;
    }
    name = name == NULL ? key : name;
    for (int i = 0; i < NAMES; i++)
        if (strcmp(name, hint_names[i]) == 0)
            snprintf(out, capacity, "%s", forms[i]);
    if (strcmp(name, hint_names[0]) == 0 && pnc_filter_text_parse(value, &given) && !is_installed(&given, &error))
        snprintf(out, capacity, "%s", error.text);
}

/* --- collecting --- */

const char *pnc_dataset_storage_hint_find(const char *key)
{
    for (int i = 0; i < NAMES; i++) {
        size_t n = strlen(hint_names[i]);

        if (strncmp(key, hint_names[i], n) == 0 && key[n] == '@')
            return hint_names[i];
    }
    return NULL;
}

bool pnc_dataset_storage_pattern_is_valid(const char *key, const char *value)
{
    const char *name = pnc_dataset_storage_hint_find(key);

    return name != NULL && key[strlen(name) + 1] != '\0' &&
           pnc_dataset_hint_is_valid(pnc_dataset_hint_find(name), value);
}

static bool is_storage_hint(const char *key, const char *value)
{
    for (int i = 0; i < NAMES; i++)
        if (strcmp(key, hint_names[i]) == 0)
            return pnc_dataset_hint_is_valid(pnc_dataset_hint_find(key), value);
    return pnc_dataset_storage_pattern_is_valid(key, value);
}

static int append_line(pnc_dataset *ds, char origin, const char *key, const char *value)
{
    size_t used = ds->storage_hints == NULL ? 0 : strlen(ds->storage_hints), more = strlen(key) + strlen(value) + 4;
    char *longer = pnc_memory_resize(ds->storage_hints, (int64_t)(used + more), 1);

    if (longer == NULL)
        return pnc_error_set(&ds->error, NC_ENOMEM, "%s: no memory for the hints", ds->file.path);
    ds->storage_hints = longer;
    snprintf(longer + used, more, "%c%s=%s\n", origin, key, value);
    return NC_NOERR;
}

/* The hints of an info that are not in `but`, whose values replace them. */
static int collect_hints(pnc_dataset *ds, char origin, MPI_Info from, MPI_Info but)
{
    int n = 0;

    if (from == MPI_INFO_NULL)
        return NC_NOERR;
    MPI_Info_get_nkeys(from, &n);
    for (int i = 0; i < n; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1], unused[MPI_MAX_INFO_VAL + 1];

        if (MPI_Info_get_nthkey(from, i, key) != MPI_SUCCESS || !pnc_dataset_hints_get(from, key, value) ||
            !is_storage_hint(key, value) || pnc_dataset_hints_get(but, key, unused))
            continue;
        PNC_TRY(append_line(ds, origin, key, value));
    }
    return NC_NOERR;
}

int pnc_dataset_storage_hints_read(pnc_dataset *ds)
{
    PNC_TRY(collect_hints(ds, 'E', ds->environment, MPI_INFO_NULL));
    return collect_hints(ds, 'I', ds->info, ds->environment);
}

int pnc_dataset_storage_hints_add_default(pnc_dataset *ds, const char *driver)
{
    const char *value = pnc_formats_driver_choose_compression(driver);

    return value == NULL ? NC_NOERR : append_line(ds, 'F', "nc_compression", value);
}

int pnc_dataset_storage_hints_share(pnc_dataset *ds, int64_t length)
{
    int err = NC_NOERR;

    if (length == 0 || ds->file.nprocs == 1)
        return NC_NOERR;
    if (ds->file.rank != 0)
        ds->storage_hints = pnc_memory_alloc_zeroed(length + 1, 1);
    if (ds->storage_hints == NULL)
        err = pnc_error_set(&ds->error, NC_ENOMEM, "%s: no memory for the hints", ds->file.path);
    PNC_TRY(pnc_file_status_agree(&ds->file, err));
    pnc_file_bytes_broadcast(&ds->file, ds->storage_hints, length, "the hints for variables");
    return NC_NOERR;
}

/* --- which one decides --- */

static const char origins[] = "EIF";

typedef struct line {
    char origin;
    char pattern[MPI_MAX_INFO_KEY + 1];
    bool has_pattern;
    int literals;
    char value[MPI_MAX_INFO_VAL + 1];
} line;

/* Read the line at `text` if it is one of the hint. */
static bool read_line(const char *text, const char *hint, line *out)
{
    size_t n = strlen(hint);
    const char *equals = strchr(text, '='), *end = strchr(text, '\n');

    if (equals == NULL || end == NULL || end < equals || strncmp(text + 1, hint, n) != 0 ||
        (text[1 + n] != '@' && text[1 + n] != '='))
        return false;
    out->origin = text[0];
    out->has_pattern = text[1 + n] == '@';
    snprintf(out->pattern, sizeof out->pattern, "%.*s", out->has_pattern ? (int)(equals - text - 2 - (int)n) : 0,
             text + 2 + n);
    snprintf(out->value, sizeof out->value, "%.*s", (int)(end - equals - 1), equals + 1);
    out->literals = 0;
    for (const char *at = out->pattern; *at != '\0'; at++)
        out->literals += strchr("*?[]", *at) == NULL;
    return true;
}

static bool is_before(const line *a, const line *b)
{
    if (a->origin != b->origin)
        return strchr(origins, a->origin) < strchr(origins, b->origin);
    if (a->has_pattern != b->has_pattern)
        return a->has_pattern;
    if (a->literals != b->literals)
        return a->literals > b->literals;
    return strcmp(a->pattern, b->pattern) < 0;
}

/* The line that decides a hint for a variable; false without one. */
static bool find_line(const pnc_dataset *ds, const char *hint, const pnc_var *var, line *out)
{
    bool found = false;
    line one;

    for (const char *text = ds->storage_hints; text != NULL && *text != '\0'; text = strchr(text, '\n') + 1) {
        if (!read_line(text, hint, &one) || (one.has_pattern && fnmatch(one.pattern, var->name, 0) != 0))
            continue;
        if (!found || is_before(&one, out))
            *out = one;
        found = true;
    }
    return found;
}

/* --- applying --- */

static bool is_shuffled(const pnc_dataset *ds, const pnc_var *var)
{
    line l;

    return pnc_type_get_size(var->type) > 1 &&
           !(find_line(ds, "nc_shuffle", var, &l) && strcmp(l.value, "disable") == 0);
}

/* Filters that lose bits are for measured or computed values. */
static bool takes_filter(const pnc_var *var, bool is_coordinate, bool is_named, const pnc_filter_text *f)
{
    const bool is_real = var->type == NC_FLOAT || var->type == NC_DOUBLE;

    return f->id != 0 && var->ndims > 0 && (var->type != NC_CHAR || is_named) && var->type != NC_STRING &&
           (is_real || !f->takes_reals) && !(is_coordinate && f->is_lossy) && !var->storage->chosen_filters &&
           (!var->storage->chosen_layout || var->storage->layout == NC_CHUNKED);
}

static int apply_compression(pnc_dataset *ds, pnc_var *var, bool is_coordinate)
{
    pnc_filter_text given;
    pnc_filter filter;
    line l;

    if (!find_line(ds, "nc_compression", var, &l) || !pnc_filter_text_parse(l.value, &given) ||
        !takes_filter(var, is_coordinate, l.has_pattern, &given))
        return NC_NOERR;
    if (given.shuffling == PNC_SHUFFLED_WITHIN && !is_shuffled(ds, var))
        pnc_filter_text_shuffle_remove(&given);
    if (given.shuffling == PNC_SHUFFLED_BEFORE && is_shuffled(ds, var))
        PNC_TRY(pnc_format_storage_set_shuffle(&ds->model, var, true, &ds->error));
    filter = get_filter(&given);
    return pnc_format_storage_set_filter(&ds->model, var, &filter, &ds->error);
}

/* The lengths of nc_chunks for a variable: 0 where the format chooses. False if they are not for this one. */
static bool get_chunk_lengths(const pnc_model *model, const pnc_var *var, const char *text, int64_t *lengths)
{
    int n = 0;
    bool is_named = false, is_any = false;

    for (const char *at = text, *name; at != NULL && *at != '\0'; n++) {
        int name_length;
        int64_t length = 0;

        at = take_chunk_length(at, &name, &name_length, &length);
        is_named = name_length > 0;
        for (int d = 0; d < var->ndims; d++) {
            const pnc_dim *dim = model->dims[var->dimids[d]];
            bool is_this = is_named ? strlen(dim->name) == (size_t)name_length &&
                                          strncmp(dim->name, name, (size_t)name_length) == 0
                                    : d == n;

            if (is_this)
                lengths[d] = dim->unlimited || length < dim->len ? length : dim->len;
            is_any = is_any || is_this;
        }
    }
    return is_named ? is_any : n == var->ndims;
}

static int apply_chunks(pnc_dataset *ds, pnc_var *var)
{
    int64_t lengths[PNC_STORAGE_DIMS_MOST] = {0};
    line l;

    if (var->ndims == 0 || var->ndims > PNC_STORAGE_DIMS_MOST || var->storage->chosen_layout ||
        !find_line(ds, "nc_chunks", var, &l) || strcmp(l.value, "auto") == 0 ||
        !get_chunk_lengths(&ds->model, var, l.value, lengths))
        return NC_NOERR;
    if (pnc_format_storage_set_layout(&ds->model, var, NC_CHUNKED, lengths, &ds->error) == NC_NOERR)
        return NC_NOERR;
    if (ds->error.code == NC_ENOMEM)
        return NC_ENOMEM;
    ds->error.code = NC_NOERR; /* chunks that are too large, which depends on the file */
    pnc_dataset_remark_report(ds, false);
    return NC_NOERR;
}

/* Neither the program nor a hint for fewer variables has chosen another rounding. Of two hints for the same variables
 * the one that promises something counts. */
static bool find_error(const pnc_dataset *ds, const pnc_var *var, error_bound *out)
{
    quantization quantized;
    line l, other;

    return var->quantize_mode == NC_NOQUANTIZE && !(var->storage != NULL && var->storage->chosen_quantization) &&
           find_line(ds, "nc_error", var, &l) && parse_error(l.value, out) && out->mode != 0 &&
           !(find_line(ds, "nc_quantize", var, &other) && is_before(&other, &l) &&
             parse_quantization(other.value, &quantized) && quantized.mode != NC_NOQUANTIZE);
}

static void apply_error(pnc_dataset *ds, pnc_var *var)
{
    error_bound given;

    if (!find_error(ds, var, &given) || !pnc_format_error_bound_is_possible(&ds->model, var, given.mode, given.most))
        return;
    var->error_mode = given.mode;
    var->error_bound = given.most;
}

/* A float of which a double's number of bits is asked for stays as it is. */
static void apply_quantization(pnc_dataset *ds, pnc_var *var)
{
    quantization given;
    line l;

    if (var->quantize_mode != NC_NOQUANTIZE || var->error_mode != 0 ||
        (var->storage != NULL && var->storage->chosen_quantization) || !find_line(ds, "nc_quantize", var, &l) ||
        !parse_quantization(l.value, &given) || given.mode == NC_NOQUANTIZE)
        return;
    if (given.nsd > pnc_convert_quantizer_get_most((pnc_quantization)given.mode, var->type))
        return;
    var->quantize_mode = given.mode;
    var->nsd = given.nsd;
}

/* --- hints for no variable --- */

int pnc_dataset_storage_pattern_count_vars(const pnc_dataset *ds, const char *key)
{
    const char *pattern = strchr(key, '@') + 1;
    int n = 0;

    for (int i = 0; i < ds->model.nvars; i++)
        n += fnmatch(pattern, ds->model.vars[i]->name, 0) == 0;
    return n;
}

/* Why a hint has changed no variable. */
typedef enum no_use { USED, NO_VARIABLE, CHOSEN } no_use;

static bool has_lengths_for(const pnc_dataset *ds, const pnc_var *var, const char *value)
{
    int64_t lengths[PNC_STORAGE_DIMS_MOST];

    return var->ndims <= PNC_STORAGE_DIMS_MOST && get_chunk_lengths(&ds->model, var, value, lengths);
}

/* What the hint decides is a choice of the program. */
static bool is_chosen(const pnc_model *model, const pnc_var *var, const char *hint, const char *value)
{
    const pnc_storage *s = var->storage;
    error_bound bound;

    if (strcmp(hint, "nc_error") == 0 && parse_error(value, &bound) && bound.mode != 0 &&
        (var->type == NC_FLOAT || var->type == NC_DOUBLE) &&
        !pnc_format_error_bound_is_possible(model, var, bound.mode, bound.most))
        return true;
    if (s == NULL)
        return false;
    if (strcmp(hint, "nc_chunks") == 0)
        return s->chosen_layout;
    if (strcmp(hint, "nc_quantize") == 0 || strcmp(hint, "nc_error") == 0)
        return s->chosen_quantization;
    return s->chosen_filters || (s->chosen_layout && s->layout != NC_CHUNKED);
}

/* The hint names variables or dimensions, and there are none such; or new ones, and the program has chosen for all of
 * them. A scalar has no chunks. */
static no_use find_no_use(const pnc_dataset *ds, const char *name, const line *l, int nbefore)
{
    bool has_shape = strcmp(name, "nc_chunks") == 0 && strcmp(l->value, "auto") != 0;
    int found = 0, chosen = 0;

    for (int i = 0; i < ds->model.nvars; i++) {
        const pnc_var *var = ds->model.vars[i];

        if ((l->has_pattern && fnmatch(l->pattern, var->name, 0) != 0) ||
            (has_shape && !has_lengths_for(ds, var, l->value)))
            continue;
        found++;
        if (i >= nbefore && is_chosen(&ds->model, var, name, l->value))
            chosen++;
        else if (i >= nbefore && var->ndims > 0)
            return USED;
    }
    if (found == 0)
        return l->has_pattern || has_shape ? NO_VARIABLE : USED;
    return chosen > 0 ? CHOSEN : USED;
}

/* Hints of one kind, in a remark, which PNETCDF_HINTS_DISPLAY prints. */
static void report_unused(pnc_dataset *ds, int nbefore, no_use why, const char *sentence)
{
    char text[sizeof ds->error.text] = "", unused[PNC_HINT_EFFECT_BYTES];
    size_t n = 0;
    line l;

    for (int i = 0; i < NAMES; i++) {
        if (pnc_dataset_hint_is_overruled(ds, hint_names[i], unused))
            continue;
        for (const char *at = ds->storage_hints; *at != '\0' && n < sizeof text; at = strchr(at, '\n') + 1) {
            int more = 0;

            if (read_line(at, hint_names[i], &l) && l.origin != 'F' &&
                find_no_use(ds, hint_names[i], &l, nbefore) == why)
                more = snprintf(text + n, sizeof text - n, "%s%.*s", n > 0 ? "; " : "", (int)strcspn(at, "\n") - 1,
                                at + 1);
            n += more > 0 ? (size_t)more : 0;
        }
    }
    if (n == 0)
        return;
    pnc_error_set(&ds->error, NC_NOERR, "%s: %s: %s", ds->file.path, sentence, text);
    pnc_dataset_remark_report(ds, ds->hints.access.display);
}

int pnc_dataset_storage_hints_apply(pnc_dataset *ds)
{
    const pnc_model *before = ds->format->before;
    int nbefore = before == NULL ? 0 : before->nvars, err = NC_NOERR;
    bool *coordinates;

    if (ds->storage_hints == NULL || ds->model.nvars == nbefore)
        return NC_NOERR;
    coordinates = pnc_memory_alloc_zeroed(ds->model.nvars, sizeof *coordinates);
    if (coordinates == NULL)
        return pnc_error_set(&ds->error, NC_ENOMEM, "%s: no memory to find coordinates", ds->file.path);
    pnc_format_coordinates_find(&ds->model, coordinates);
    for (int i = nbefore; err == NC_NOERR && i < ds->model.nvars; i++) {
        pnc_var *var = ds->model.vars[i];

        if (!coordinates[i]) {
            apply_error(ds, var);
            apply_quantization(ds, var);
        }
        if (var->storage == NULL)
            continue;
        err = apply_compression(ds, var, coordinates[i]);
        if (err == NC_NOERR)
            err = apply_chunks(ds, var);
    }
    pnc_memory_free(coordinates);
    if (err == NC_NOERR) { /* typing errors, or hints for another file or a later define mode; a program that chooses */
        report_unused(ds, nbefore, NO_VARIABLE, "no variable has the name or the dimensions for");
        report_unused(ds, nbefore, CHOSEN, "ignored, as the program has chosen for all variables of");
    }
    return err;
}

static void adopt_quantization(pnc_dataset *ds, pnc_var *var)
{
    quantization found, given;
    line l;

    pnc_format_quantization_find(&ds->model, var, &found.mode, &found.nsd);
    if (!ds->format->ops->has_storage &&
        !(find_line(ds, "nc_quantize", var, &l) && parse_quantization(l.value, &given) && given.mode == found.mode &&
          given.nsd == found.nsd))
        found = (quantization){NC_NOQUANTIZE, 0};
    var->quantize_mode = found.mode;
    var->nsd = found.nsd;
}

/* An attribute of this kind may be one of other programs, which says nothing about what is put now. */
static void adopt_error(pnc_dataset *ds, pnc_var *var)
{
    error_bound given;

    if (!find_error(ds, var, &given) || !pnc_format_error_bound_is_stated(&ds->model, var, given.mode, given.most))
        return;
    var->error_mode = given.mode;
    var->error_bound = given.most;
}

/* Without memory to find coordinates, nothing is rounded. */
static void adopt_errors(pnc_dataset *ds)
{
    bool *coordinates =
        ds->storage_hints == NULL ? NULL : pnc_memory_alloc_zeroed(ds->model.nvars, sizeof *coordinates);

    if (coordinates != NULL)
        pnc_format_coordinates_find(&ds->model, coordinates);
    for (int i = 0; i < ds->model.nvars; i++) {
        ds->model.vars[i]->error_mode = 0;
        if (coordinates != NULL && !coordinates[i])
            adopt_error(ds, ds->model.vars[i]);
    }
    pnc_memory_free(coordinates);
}

/* What a replay puts is rounded already. */
static bool is_replay(const pnc_dataset *ds)
{
    char stamp[MPI_MAX_INFO_VAL + 1];

    return pnc_dataset_hints_get(ds->info, "nc_burst_buf_replay", stamp);
}

void pnc_dataset_storage_hints_adopt(pnc_dataset *ds)
{
    adopt_errors(ds);
    if (is_replay(ds))
        return;
    if (ds->format->ops->has_storage ? !ds->format->overruled : ds->storage_hints == NULL)
        return;
    for (int i = 0; i < ds->model.nvars; i++)
        adopt_quantization(ds, ds->model.vars[i]);
}
