/* Attributes of documents. */
#include <string.h>

#include "base/name.h"
#include "base/types.h"
#include "format/strings.h"
#include "formats/zarr/value.h"

/* --- words for types --- */

#define LATIN1 "latin1"
#define STRINGS "strings"

bool pnc_zarr_att_type_parse(const char *word, pnc_zarr_att_type *out)
{
    *out = (pnc_zarr_att_type){.type = NC_CHAR};
    out->is_latin1 = strcmp(word, LATIN1) == 0;
    out->is_strings = strcmp(word, STRINGS) == 0;
    if (out->is_latin1 || out->is_strings)
        return true;
    for (int type = NC_BYTE; type <= NC_UINT64; type++)
        if (strcmp(word, pnc_type_get_name(type)) == 0) {
            out->type = type;
            return true;
        }
    return false;
}

const char *pnc_zarr_att_type_get_word(const pnc_zarr_att_type *type)
{
    if (type->type == 0)
        return NULL;
    if (type->is_latin1 || type->is_strings)
        return type->is_latin1 ? LATIN1 : STRINGS;
    return pnc_type_get_name(type->type);
}

/* --- values of JSON to attributes --- */

static int copy_text(const pnc_zarr_context *c, const char *text, int64_t n, pnc_att *out)
{
    out->type = NC_CHAR;
    out->len = n;
    out->value = NULL;
    return n > 0 ? pnc_zarr_text_copy(c, text, n, (const char **)&out->value) : NC_NOERR;
}

static int copy_json(const pnc_zarr_context *c, void *value, pnc_att *out)
{
    size_t n = 0;
    const char *text = c->json->to_text(value, 0, &n);

    return text != NULL ? copy_text(c, text, (int64_t)n, out) : pnc_zarr_memory_fail(c);
}

/* Characters up to U+00FF, of two bytes from U+0080 on; false: there is another one. */
static bool narrow_text(unsigned char *text, int64_t *n)
{
    int64_t to = 0;

    for (int64_t at = 0; at < *n; at++) {
        if (text[at] >= 0x80 && (text[at] > 0xC3 || at + 1 == *n))
            return false;
        text[to++] = (unsigned char)(text[at] < 0x80 ? text[at] : (text[at] & 3) << 6 | (text[at + 1] & 0x3F));
        at += text[at] >= 0x80;
    }
    *n = to;
    return true;
}

static int read_att_text(const pnc_zarr_context *c, void *value, bool is_latin1, pnc_att *out)
{
    PNC_TRY(copy_text(c, c->json->get_string(value), c->json->get_string_length(value), out));
    if (is_latin1 && !narrow_text(out->value, &out->len))
        return copy_text(c, c->json->get_string(value), c->json->get_string_length(value), out);
    return NC_NOERR;
}

/* How a list, or one value, is read. */
typedef struct json_list {
    int64_t n;
    bool all_texts, all_booleans, all_numbers, has_reals;
    int64_t least;
    uint64_t most;
} json_list;

static void *get_item(const pnc_zarr_context *c, void *value, int64_t i)
{
    return pnc_zarr_value_is(c, value, PNC_JSON_ARRAY) ? c->json->array_get(value, (size_t)i) : value;
}

static json_list look_at_list(const pnc_zarr_context *c, void *value)
{
    json_list list = {.n = 1, .all_texts = true, .all_booleans = true, .all_numbers = true};

    if (pnc_zarr_value_is(c, value, PNC_JSON_ARRAY))
        list.n = (int64_t)c->json->array_get_length(value);
    for (int64_t i = 0; i < list.n; i++) {
        void *item = get_item(c, value, i);
        bool is_real_type = pnc_zarr_value_is(c, item, PNC_JSON_DOUBLE),
             is_integer = pnc_zarr_value_is(c, item, PNC_JSON_INT);

        list.all_texts = list.all_texts && pnc_zarr_text_get(c, item) != NULL;
        list.all_booleans = list.all_booleans && pnc_zarr_value_is(c, item, PNC_JSON_BOOLEAN);
        list.all_numbers = list.all_numbers && (is_real_type || is_integer);
        list.has_reals = list.has_reals || is_real_type;
        if (is_integer && c->json->get_int64(item) < list.least)
            list.least = c->json->get_int64(item);
        if (is_integer && c->json->get_int64(item) > 0 && c->json->get_uint64(item) > list.most)
            list.most = c->json->get_uint64(item);
    }
    return list;
}

/* By the rules of document.h. */
static int choose_number_type(const json_list *list)
{
    if (list->has_reals)
        return NC_DOUBLE;
    if (list->most > INT64_MAX)
        return list->least < 0 ? NC_DOUBLE : NC_UINT64;
    return list->least < INT32_MIN || list->most > INT32_MAX ? NC_INT64 : NC_INT;
}

/* *fits: each value is one of the type. */
static int read_att_numbers(const pnc_zarr_context *c, void *value, int64_t n, int type, pnc_att *out, bool *fits)
{
    size_t size = pnc_type_get_size(type);

    *out = (pnc_att){.name = out->name, .type = type, .len = n};
    *fits = true;
    if (n > 0)
        PNC_TRY(pnc_zarr_memory_alloc(c, n, size, &out->value));
    for (int64_t i = 0; i < n && *fits; i++)
        *fits = pnc_zarr_number_read(c, type, get_item(c, value, i), (char *)out->value + i * (int64_t)size);
    return NC_NOERR;
}

static int read_booleans(const pnc_zarr_context *c, void *value, int64_t n, pnc_att *out)
{
    PNC_TRY(copy_text(c, "", 0, out));
    out->type = NC_BYTE;
    out->len = n;
    PNC_TRY(pnc_zarr_memory_alloc(c, n, 1, &out->value));
    for (int64_t i = 0; i < n; i++)
        ((char *)out->value)[i] = c->json->get_boolean(get_item(c, value, i)) != 0;
    return NC_NOERR;
}

static int read_att_texts(const pnc_zarr_context *c, void *value, int64_t n, pnc_att *out)
{
    const char **strings;
    int64_t *lengths, bytes;
    char *text;

    PNC_TRY(pnc_zarr_memory_alloc(c, n, sizeof *strings, &strings));
    PNC_TRY(pnc_zarr_memory_alloc(c, n, sizeof *lengths, &lengths));
    for (int64_t i = 0; i < n; i++)
        strings[i] = pnc_zarr_text_get(c, get_item(c, value, i));
    bytes = pnc_format_strings_join(strings, n, lengths, NULL);
    PNC_TRY(pnc_zarr_memory_alloc(c, bytes + 1, 1, &text));
    pnc_format_strings_join(strings, n, lengths, text);
    *out = (pnc_att){.name = out->name,
                     .type = NC_CHAR,
                     .len = bytes,
                     .value = bytes > 0 ? text : NULL,
                     .strings = {.n = n, .lengths = lengths}};
    return NC_NOERR;
}

static int read_by_rules(const pnc_zarr_context *c, void *value, pnc_att *out)
{
    json_list list = look_at_list(c, value);
    bool is_list = pnc_zarr_value_is(c, value, PNC_JSON_ARRAY), fits = false;

    if (!is_list && pnc_zarr_value_is(c, value, PNC_JSON_STRING))
        return read_att_text(c, value, false, out);
    if (list.n == 0 || list.all_numbers)
        PNC_TRY(read_att_numbers(c, value, list.n, choose_number_type(&list), out, &fits));
    if (fits)
        return NC_NOERR;
    if (list.all_booleans)
        return read_booleans(c, value, list.n, out);
    if (is_list && list.all_texts)
        return read_att_texts(c, value, list.n, out);
    return copy_json(c, value, out);
}

static int read_by_type(const pnc_zarr_context *c, void *value, const pnc_zarr_att_type *type, pnc_att *out,
                        bool *suits)
{
    json_list list = look_at_list(c, value);

    *suits = false;
    if (type->type == 0)
        return NC_NOERR;
    if (type->type != NC_CHAR)
        return read_att_numbers(c, value, list.n, type->type, out, suits);
    *suits = type->is_strings ? list.all_texts : pnc_zarr_value_is(c, value, PNC_JSON_STRING);
    if (!*suits)
        return NC_NOERR;
    return type->is_strings ? read_att_texts(c, value, list.n, out) : read_att_text(c, value, type->is_latin1, out);
}

/* Base64 of a double, whatever the type, or of a character; else a number. */
static int read_fill_value(const pnc_zarr_context *c, void *value, int type, pnc_att *out, bool *suits)
{
    const char *text = pnc_zarr_text_get(c, value);
    unsigned char bits[8];
    uint64_t word = 0;
    double number;

    PNC_TRY(pnc_zarr_memory_alloc(c, 1, 8, &out->value));
    out->type = type;
    out->len = 1;
    *suits = false;
    if (type == NC_CHAR) {
        *suits = text != NULL && pnc_zarr_base64_decode(text, 1, out->value);
    } else if (text != NULL && (type == NC_FLOAT || type == NC_DOUBLE) && pnc_zarr_base64_decode(text, 8, bits)) {
        for (int i = 0; i < 8; i++)
            word |= (uint64_t)bits[i] << 8 * i;
        memcpy(&number, &word, sizeof number);
        if (type == NC_DOUBLE)
            memcpy(out->value, &number, sizeof number);
        else
            *(float *)out->value = (float)number;
        *suits = true;
    } else if (!pnc_zarr_value_is(c, value, PNC_JSON_ARRAY)) {
        *suits = pnc_zarr_number_read(c, type, value, out->value);
    }
    return NC_NOERR;
}

int pnc_zarr_att_read(const pnc_zarr_context *c, const char *name, void *value, int var_type,
                      const pnc_zarr_att_type *type, pnc_att *out)
{
    bool suits = false;
    const char *copy;

    PNC_TRY(pnc_zarr_text_copy(c, name, (int64_t)strlen(name), &copy));
    *out = (pnc_att){.name = (char *)(uintptr_t)copy};
    if (strcmp(name, NC_FillValue) == 0 && var_type >= NC_BYTE && var_type <= NC_UINT64)
        PNC_TRY(read_fill_value(c, value, type->type > 0 ? type->type : var_type, out, &suits));
    if (!suits)
        PNC_TRY(read_by_type(c, value, type, out, &suits));
    return suits ? NC_NOERR : read_by_rules(c, value, out);
}

/* --- attributes to values of JSON --- */

/* Without memory NULL. */
static void *make_latin1(const pnc_zarr_context *c, const unsigned char *text, int64_t n)
{
    unsigned char *wide;
    int64_t to = 0;

    if (pnc_zarr_memory_alloc(c, 2 * n, 1, &wide) != NC_NOERR)
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        if (text[i] >= 0x80)
            wide[to++] = (unsigned char)(0xC0 | text[i] >> 6);
        wide[to++] = (unsigned char)(text[i] < 0x80 ? text[i] : 0x80 | (text[i] & 0x3F));
    }
    return to <= INT32_MAX ? c->json->new_string((const char *)wide, (int)to) : NULL;
}

/* Whether it is UTF-8 of at least one character; NULs are characters, too. */
static bool is_utf8(const char *text, int64_t n)
{
    for (int64_t at = 0; at < n;) {
        const char *zero = memchr(text + at, '\0', (size_t)(n - at));
        int64_t part = zero != NULL ? zero - (text + at) : n - at;

        if (part > 0 && !pnc_name_is_text(text + at, (size_t)part))
            return false;
        at += part + 1;
    }
    return true;
}

static void *make_text(const pnc_zarr_context *c, const pnc_att *att, pnc_zarr_att_type *type)
{
    const char *text = att->len > 0 ? att->value : "";

    if (att->len <= INT32_MAX / 2 && is_utf8(text, att->len))
        return c->json->new_string(text, (int)att->len);
    *type = (pnc_zarr_att_type){.type = NC_CHAR, .is_latin1 = true};
    return make_latin1(c, (const unsigned char *)text, att->len);
}

/* NULL in place of a string, which lists of texts cannot have, becomes an empty one. */
static void *make_strings(const pnc_zarr_context *c, const pnc_att *att, pnc_zarr_att_type *type)
{
    void *list = c->json->new_array();
    const char *at = att->value;
    int err = list != NULL ? NC_NOERR : NC_ENOMEM;

    if (att->strings.n == 0)
        *type = (pnc_zarr_att_type){.type = NC_CHAR, .is_strings = true};
    for (int64_t i = 0; i < att->strings.n && err == NC_NOERR; i++) {
        int64_t n = att->strings.lengths[i] < 0 ? 0 : att->strings.lengths[i];

        err = pnc_zarr_item_add(c, list, c->json->new_string(n > 0 ? at : "", (int)n));
        at += n + 1;
    }
    if (err == NC_NOERR)
        return list;
    c->json->put(list);
    return NULL;
}

static void *make_numbers(const pnc_zarr_context *c, const pnc_att *att)
{
    size_t size = pnc_type_get_size(att->type);
    void *list;
    int err = NC_NOERR;

    if (att->len == 1)
        return pnc_zarr_number_make(c, att->type, att->value, false);
    list = c->json->new_array();
    for (int64_t i = 0; i < att->len && list != NULL && err == NC_NOERR; i++)
        err = pnc_zarr_item_add(
            c, list, pnc_zarr_number_make(c, att->type, (const char *)att->value + i * (int64_t)size, false));
    if (err == NC_NOERR)
        return list;
    c->json->put(list);
    return NULL;
}

static bool is_real_type(int type)
{
    return type == NC_FLOAT || type == NC_DOUBLE;
}

bool pnc_zarr_att_is_odd(const pnc_att *att, int var_type)
{
    if (strcmp(att->name, NC_FillValue) != 0 || var_type == 0)
        return false;
    return att->len != 1 || var_type == NC_CHAR || att->type == NC_CHAR ||
           is_real_type(att->type) != is_real_type(var_type);
}

/* As xarray has it: base64 of a double. NULL: it is written like other attributes. */
static void *make_fill_value(const pnc_zarr_context *c, const pnc_att *att, int var_type)
{
    unsigned char bits[8];
    char text[16];
    double number;
    float single;
    uint64_t word;

    if (pnc_zarr_att_is_odd(att, var_type) || !is_real_type(att->type))
        return NULL;
    if (att->type == NC_FLOAT) {
        memcpy(&single, att->value, sizeof single);
        number = (double)single;
    } else {
        memcpy(&number, att->value, sizeof number);
    }
    memcpy(&word, &number, sizeof word);
    for (int i = 0; i < 8; i++)
        bits[i] = (unsigned char)(word >> 8 * i);
    pnc_zarr_base64_encode(bits, 8, text);
    return c->json->new_string(text, (int)strlen(text));
}

bool pnc_zarr_att_is_same(const pnc_att *a, const pnc_att *b)
{
    size_t size = pnc_type_get_size(a->type);

    if (a->type != b->type || a->len != b->len || a->strings.n != b->strings.n ||
        (a->strings.lengths == NULL) != (b->strings.lengths == NULL))
        return false;
    if (a->strings.lengths != NULL &&
        memcmp(a->strings.lengths, b->strings.lengths, (size_t)a->strings.n * sizeof *a->strings.lengths) != 0)
        return false;
    return a->len == 0 || memcmp(a->value, b->value, (size_t)a->len * size) == 0;
}

int pnc_zarr_att_make(const pnc_zarr_context *c, const pnc_att *att, int var_type, void **value,
                      pnc_zarr_att_type *type)
{
    pnc_att back;
    void *made = NULL;
    int err;

    *type = (pnc_zarr_att_type){.type = 0};
    if (strcmp(att->name, NC_FillValue) == 0 && var_type != 0)
        made = make_fill_value(c, att, var_type);
    if (made == NULL && att->strings.lengths != NULL)
        made = make_strings(c, att, type);
    else if (made == NULL)
        made = att->type == NC_CHAR ? make_text(c, att, type) : make_numbers(c, att);
    if (made == NULL)
        return pnc_zarr_memory_fail(c);
    err = pnc_zarr_att_read(c, att->name, made, var_type, type, &back);
    if (err == NC_NOERR && type->type == 0 && !pnc_zarr_att_is_same(att, &back))
        type->type = att->type;
    *value = made;
    if (err != NC_NOERR)
        c->json->put(made);
    return err;
}
