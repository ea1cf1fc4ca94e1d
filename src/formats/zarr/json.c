/* JSON of documents, by json-c. */
#include "formats/zarr/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* Of json_tokener.h and json_object.h. */
enum { FLAG_STRICT = 1, FLAG_UTF8 = 16, FLAG_PRETTY = 2, FLAG_PLAIN_SLASH = 16 };
enum { SUCCESS = 0 };

/* Objects in objects: attributes of consolidated metadata are at depth 5. A guess. */
enum { DEPTH_MOST = 64 };
/* What json-c 0.16 allocates: a table of 16 members for each object, a list of 32 pointers for each array. */
enum { OBJECT_BYTES = 900, LIST_BYTES = 450, VALUE_BYTES = 160 };
/* For all documents: enough for 20,000 arrays, and a bound for hostile ones. */
#define JSON_MEMORY_MOST (INT64_C(1) << 29)

int pnc_zarr_json_check(const pnc_json_functions *json, pnc_error *error)
{
    if (json != NULL)
        return NC_NOERR;
    return pnc_error_set(error, NC_ENOTBUILT,
                         "Zarr needs %s (json-c), which is not installed (Debian: apt install libjson-c5)",
                         PNC_LIBJSON);
}

int pnc_zarr_damage_set(const pnc_zarr_context *c, const char *what, ...)
{
    char text[400];
    va_list arguments;

    va_start(arguments, what);
    vsnprintf(text, sizeof text, what, arguments);
    va_end(arguments);
    return pnc_error_set(c->error, NC_ENCZARR, "%s: %s", c->key, text);
}

int pnc_zarr_memory_fail(const pnc_zarr_context *c)
{
    return pnc_error_set(c->error, NC_ENOMEM, "%s: no memory for what the document says", c->key);
}

int pnc_zarr_memory_alloc(const pnc_zarr_context *c, int64_t n, size_t size, void *out)
{
    int64_t bytes;
    void *memory = NULL;

    if (pnc_size_multiply(n > 0 ? n : 1, (int64_t)size, &bytes) == 0)
        memory = pnc_region_alloc(c->region, bytes);
    if (memory == NULL)
        return pnc_zarr_memory_fail(c);
    memset(memory, 0, (size_t)bytes);
    memcpy(out, &memory, sizeof memory);
    return NC_NOERR;
}

int pnc_zarr_text_copy(const pnc_zarr_context *c, const char *text, int64_t n, const char **out)
{
    char *copy = NULL;

    PNC_TRY(pnc_zarr_memory_alloc(c, n + 1, 1, &copy));
    memcpy(copy, text, (size_t)n);
    *out = copy;
    return NC_NOERR;
}

/* --- parsing --- */

/* What is outside of texts. */
typedef struct json_extent {
    int64_t nmembers, bytes; /* the latter: of memory of json-c */
    bool is_odd;             /* a character that JSON does not have there */
} json_extent;

static json_extent measure_json(const char *bytes, int64_t n)
{
    json_extent e = {.bytes = n};
    bool in_text = false;

    for (int64_t i = 0; i < n; i++) {
        switch (bytes[i]) {
        case '"': in_text = !in_text; break;
        case '\\': i += in_text; break;
        case '\0':
        case '\'': e.is_odd = e.is_odd || bytes[i] == '\0' || !in_text; break;
        case '{': e.bytes += in_text ? 0 : OBJECT_BYTES; break;
        case '[': e.bytes += in_text ? 0 : LIST_BYTES; break;
        case ',': e.bytes += in_text ? 0 : VALUE_BYTES; break;
        case ':': e.nmembers += !in_text; break;
        default: break;
        }
    }
    return e;
}

/* Recursion is as deep as json-c has allowed. */
static int64_t count_members(const pnc_zarr_context *c, void *value)
{
    int64_t n = 0;

    if (pnc_zarr_value_is(c, value, PNC_JSON_ARRAY)) {
        size_t length = c->json->array_get_length(value);

        for (size_t i = 0; i < length; i++)
            n += count_members(c, c->json->array_get(value, i));
    } else if (pnc_zarr_value_is(c, value, PNC_JSON_OBJECT)) {
        PNC_ZARR_EACH_MEMBER(c, value, at)
        n += 1 + count_members(c, c->json->peek_value(&at));
    }
    return n;
}

static bool is_blank(const char *bytes, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (strchr(" \t\r\n", bytes[i]) == NULL || bytes[i] == '\0')
            return false;
    return true;
}

static int run_tokener(const pnc_zarr_context *c, const char *bytes, int64_t n, void **out)
{
    void *tokener = c->json->tokener_new(DEPTH_MOST);
    int64_t end;
    bool is_valid;

    if (tokener == NULL)
        return pnc_zarr_memory_fail(c);
    c->json->tokener_set_flags(tokener, FLAG_STRICT | FLAG_UTF8);
    *out = c->json->tokener_parse(tokener, bytes, (int)n);
    end = (int64_t)c->json->tokener_get_end(tokener);
    is_valid = c->json->tokener_get_error(tokener) == SUCCESS && is_blank(bytes + end, n - end);
    c->json->tokener_free(tokener);
    if (is_valid)
        return NC_NOERR;
    c->json->put(*out);
    return pnc_zarr_damage_set(c, "at byte %lld it is not JSON, or nested more than %d deep", (long long)end,
                               DEPTH_MOST);
}

int pnc_zarr_json_parse(pnc_zarr_context *c, const char *bytes, int64_t n, void **out)
{
    json_extent e = measure_json(bytes, n);
    void *value = NULL;

    if (e.bytes > JSON_MEMORY_MOST - c->json_bytes)
        return pnc_zarr_damage_set(c, "this document of %lld bytes, with those before, has too many values",
                                   (long long)n);
    c->json_bytes += e.bytes;
    if (e.is_odd)
        return pnc_zarr_damage_set(c, "it is not JSON: it has a ' or a NUL outside of texts");
    PNC_TRY(run_tokener(c, bytes, n, &value));
    if (count_members(c, value) != e.nmembers) {
        c->json->put(value);
        return pnc_zarr_damage_set(c, "an object has a key twice");
    }
    *out = value;
    return NC_NOERR;
}

/* --- values --- */

bool pnc_zarr_value_is(const pnc_zarr_context *c, const void *value, pnc_json_type type)
{
    return c->json->get_type(value) == (int)type;
}

void *pnc_zarr_member_get(const pnc_zarr_context *c, const void *object, const char *name)
{
    void *value = NULL;

    if (!pnc_zarr_value_is(c, object, PNC_JSON_OBJECT) || c->json->object_find(object, name, &value) == 0)
        return NULL;
    return value;
}

int pnc_zarr_member_find(const pnc_zarr_context *c, const void *object, const char *name, pnc_json_type type,
                         bool is_optional, void **out)
{
    static const char *const types[] = {"null",      "true or false", "a number", "an integer",
                                        "an object", "a list",        "a text"};
    void *value = pnc_zarr_member_get(c, object, name);

    if (value == NULL && !is_optional)
        return pnc_zarr_damage_set(c, "it has no member \"%s\"", name);
    if (value != NULL && !pnc_zarr_value_is(c, value, type))
        return pnc_zarr_damage_set(c, "member \"%s\" is not %s", name, types[type]);
    *out = value;
    return NC_NOERR;
}

const char *pnc_zarr_text_get(const pnc_zarr_context *c, void *value)
{
    const char *text;

    if (!pnc_zarr_value_is(c, value, PNC_JSON_STRING))
        return NULL;
    text = c->json->get_string(value);
    return strlen(text) == (size_t)c->json->get_string_length(value) ? text : NULL;
}

bool pnc_zarr_text_is(const pnc_zarr_context *c, void *value, const char *text)
{
    const char *found = pnc_zarr_text_get(c, value);

    return found != NULL && strcmp(found, text) == 0;
}

bool pnc_zarr_integer_get(const pnc_zarr_context *c, const void *value, int64_t least, int64_t most, int64_t *out)
{
    int64_t number;

    if (!pnc_zarr_value_is(c, value, PNC_JSON_INT))
        return false;
    number = c->json->get_int64(value);
    if (number < least || number > most)
        return false;
    *out = number;
    return true;
}

int pnc_zarr_integers_get(const pnc_zarr_context *c, const void *list, const char *name, int64_t least, int64_t most,
                          int capacity, int *n, int64_t *out)
{
    size_t length;

    if (!pnc_zarr_value_is(c, list, PNC_JSON_ARRAY))
        return pnc_zarr_damage_set(c, "\"%s\" is not a list", name);
    length = c->json->array_get_length(list);
    if (length > (size_t)capacity)
        return pnc_zarr_damage_set(c, "\"%s\" has %lld numbers, but at most %d are possible", name, (long long)length,
                                   capacity);
    for (size_t i = 0; i < length; i++)
        if (!pnc_zarr_integer_get(c, c->json->array_get(list, i), least, most, &out[i]))
            return pnc_zarr_damage_set(c, "number %lld of \"%s\" is not an integer from %lld to %lld", (long long)i,
                                       name, (long long)least, (long long)most);
    *n = (int)length;
    return NC_NOERR;
}

/* --- writing --- */

int pnc_zarr_member_add(const pnc_zarr_context *c, void *object, const char *name, void *value, bool may_be_null)
{
    if ((value == NULL && !may_be_null) || object == NULL) {
        c->json->put(value);
        return pnc_zarr_memory_fail(c);
    }
    if (c->json->object_add(object, name, value) == 0)
        return NC_NOERR;
    c->json->put(value);
    return pnc_zarr_memory_fail(c);
}

int pnc_zarr_item_add(const pnc_zarr_context *c, void *list, void *value)
{
    if (value != NULL && list != NULL && c->json->array_add(list, value) == 0)
        return NC_NOERR;
    c->json->put(value);
    return pnc_zarr_memory_fail(c);
}

int pnc_zarr_text_add(const pnc_zarr_context *c, void *object, const char *name, const char *text)
{
    return pnc_zarr_member_add(c, object, name, c->json->new_string(text, (int)strlen(text)), false);
}

int pnc_zarr_integer_add(const pnc_zarr_context *c, void *object, const char *name, int64_t number)
{
    return pnc_zarr_member_add(c, object, name, c->json->new_int64(number), false);
}

void *pnc_zarr_object_add(const pnc_zarr_context *c, void *object, const char *name)
{
    void *value = c->json->new_object();

    return pnc_zarr_member_add(c, object, name, value, false) == NC_NOERR ? value : NULL;
}

void *pnc_zarr_list_add(const pnc_zarr_context *c, void *object, const char *name)
{
    void *value = c->json->new_array();

    return pnc_zarr_member_add(c, object, name, value, false) == NC_NOERR ? value : NULL;
}

int pnc_zarr_integers_add(const pnc_zarr_context *c, void *object, const char *name, int n, const int64_t *numbers)
{
    void *list = pnc_zarr_list_add(c, object, name);

    if (list == NULL)
        return NC_ENOMEM;
    for (int i = 0; i < n; i++)
        PNC_TRY(pnc_zarr_item_add(c, list, c->json->new_int64(numbers[i])));
    return NC_NOERR;
}

int pnc_zarr_json_print(const pnc_zarr_context *c, void *value, const char **bytes, int64_t *n)
{
    size_t length = 0;
    const char *text = c->json->to_text(value, FLAG_PRETTY | FLAG_PLAIN_SLASH, &length);
    char *copy = NULL;

    if (text == NULL)
        return pnc_zarr_memory_fail(c);
    PNC_TRY(pnc_zarr_memory_alloc(c, (int64_t)length + 2, 1, &copy));
    memcpy(copy, text, length);
    copy[length] = '\n';
    *bytes = copy;
    *n = (int64_t)length + 1;
    return NC_NOERR;
}
