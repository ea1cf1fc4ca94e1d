/* References of kerchunk: JSON, of which texts are decoded in place. Documents of Zarr in it are decoded by others. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "drivers/kerchunk/kerchunk.h"

typedef struct json_scanner {
    pnc_kerchunk *k;
    char *at, *end; /* *end is 0 */
    pnc_error *error;
} json_scanner;

static int fail_scan(const json_scanner *s, const char *what)
{
    return pnc_error_set(s->error, NC_ENCZARR, "%s: byte %lld of the references: %s", s->k->objects.path,
                         (long long)(s->at - s->k->text), what);
}

static int fail_parse_memory(const json_scanner *s)
{
    return pnc_error_set(s->error, NC_ENOMEM, "%s: no memory for its references", s->k->objects.path);
}

static void skip_spaces(json_scanner *s)
{
    while (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r')
        s->at++;
}

static bool take_character(json_scanner *s, char c)
{
    bool has;

    skip_spaces(s);
    has = *s->at == c;
    s->at += has;
    return has;
}

/* --- texts --- */

/* Behind the quote that ends the text at s->at. */
static int skip_text(json_scanner *s)
{
    for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
        s->at += *s->at == '\\' && s->at + 1 < s->end;
    if (s->at >= s->end)
        return fail_scan(s, "a text has no end");
    s->at++;
    return NC_NOERR;
}

static bool read_hexadecimal(const char *at, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef", *found;
        char c = at[i] >= 'A' && at[i] <= 'F' ? (char)(at[i] - 'A' + 'a') : at[i];

        found = c != '\0' ? strchr(digits, c) : NULL;
        if (found == NULL)
            return false;
        *out = *out << 4 | (uint32_t)(found - digits);
    }
    return true;
}

/* UTF-8, which is not longer than the escapes. */
static char *put_character(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    if (c >= 0x10000) {
        *to++ = (char)(0xF0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3F));
    } else if (c >= 0x800) {
        *to++ = (char)(0xE0 | c >> 12);
    }
    *to++ = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3F) : 0xC0 | c >> 6);
    *to++ = (char)(0x80 | (c & 0x3F));
    return to;
}

/* Behind \u: one character, or two surrogates. */
static int decode_code_point(json_scanner *s, char **to)
{
    uint32_t c, low;

    if (!read_hexadecimal(s->at, &c))
        return fail_scan(s, "\\u without four digits");
    s->at += 4;
    if (c >= 0xD800 && c < 0xDC00 && s->at[0] == '\\' && s->at[1] == 'u' && read_hexadecimal(s->at + 2, &low) &&
        low >= 0xDC00 && low < 0xE000) {
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        s->at += 6;
    }
    *to = put_character(*to, c);
    return NC_NOERR;
}

static int decode_escape(json_scanner *s, char **to)
{
    static const char names[] = "bfnrt\"\\/", characters[] = "\b\f\n\r\t\"\\/";
    const char *found = *s->at != '\0' ? strchr(names, *s->at) : NULL;

    if (*s->at == 'u') {
        s->at++;
        return decode_code_point(s, to);
    }
    if (found == NULL)
        return fail_scan(s, "an escape that JSON does not have");
    *(*to)++ = characters[found - names];
    s->at++;
    return NC_NOERR;
}

/* A text, which is decoded in place, with a 0 behind it. */
static int scan_text(json_scanner *s, char **out, int64_t *n)
{
    char *to;

    skip_spaces(s);
    if (*s->at != '"')
        return fail_scan(s, "there is no text");
    *out = to = ++s->at;
    while (s->at < s->end && *s->at != '"') {
        if (*s->at != '\\') {
            *to++ = *s->at++;
            continue;
        }
        s->at++;
        PNC_TRY(decode_escape(s, &to));
    }
    if (s->at >= s->end)
        return fail_scan(s, "a text has no end");
    s->at++;
    *to = '\0';
    *n = to - *out;
    return NC_NOERR;
}

/* --- other values --- */

/* Any value, of which brackets are counted only. */
static int skip_value(json_scanner *s)
{
    int64_t depth = 0;

    skip_spaces(s);
    do {
        char c = *s->at;

        if (s->at >= s->end)
            return fail_scan(s, "it ends within a value");
        if (c == '"') {
            PNC_TRY(skip_text(s));
        } else {
            depth += (c == '{' || c == '[') - (c == '}' || c == ']');
            s->at++;
            if (c != '{' && c != '[' && c != '}' && c != ']' && depth == 0)
                s->at += strcspn(s->at, ",]} \t\r\n");
        }
    } while (depth > 0);
    return NC_NOERR;
}

static int scan_number(json_scanner *s, int64_t *out)
{
    int64_t number = 0;

    skip_spaces(s);
    if (*s->at < '0' || *s->at > '9')
        return fail_scan(s, "there is no number of bytes");
    for (; *s->at >= '0' && *s->at <= '9'; s->at++) {
        if (number > (INT64_MAX - (*s->at - '0')) / 10)
            return fail_scan(s, "a number of bytes is too large");
        number = 10 * number + (*s->at - '0');
    }
    *out = number;
    return NC_NOERR;
}

/* --- references --- */

#define BASE64 "base64:"

/* Digits to bytes, in place; false: they are not base64. */
static bool decode_base64(char *text, int64_t *n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    int nbits = 0;
    char *to = text;

    for (const char *at = text; at < text + *n && *at != '='; at++) {
        const char *found = *at != '\0' ? strchr(digits, *at) : NULL;

        if (found == NULL)
            return false;
        bits = (bits << 6 | (uint32_t)(found - digits)) & 0xFFFFFF;
        nbits += 6;
        if (nbits >= 8) {
            nbits -= 8;
            *to++ = (char)(bits >> nbits);
        }
    }
    *n = to - text;
    return true;
}

static int scan_inline(json_scanner *s, pnc_kerchunk_reference *r)
{
    char *text;

    PNC_TRY(scan_text(s, &text, &r->n));
    if (strncmp(text, BASE64, strlen(BASE64)) == 0) {
        text += strlen(BASE64);
        r->n -= (int64_t)strlen(BASE64);
        if (!decode_base64(text, &r->n))
            return fail_scan(s, "what follows \"base64:\" is not base64");
    }
    r->text = text;
    return NC_NOERR;
}

/* [file], or [file, offset, length] */
static int scan_list(json_scanner *s, pnc_kerchunk_reference *r)
{
    char *url;
    int64_t n;

    s->at++;
    PNC_TRY(scan_text(s, &url, &n));
    if ((int64_t)strlen(url) != n || n == 0)
        return fail_scan(s, "the name of a file is empty, or has a character 0");
    *r = (pnc_kerchunk_reference){.key = r->key, .text = url, .is_file = true, .n = -1};
    if (take_character(s, ',')) {
        PNC_TRY(scan_number(s, &r->offset));
        if (!take_character(s, ','))
            return fail_scan(s, "an offset without a length");
        PNC_TRY(scan_number(s, &r->n));
    }
    return take_character(s, ']') ? NC_NOERR : fail_scan(s, "a reference is not [file], or [file, offset, length]");
}

/* What is no text and no list is a document, without quotes around it. */
static int scan_reference(json_scanner *s, pnc_kerchunk_reference *r)
{
    skip_spaces(s);
    if (*s->at == '"')
        return scan_inline(s, r);
    if (*s->at == '[')
        return scan_list(s, r);
    r->text = s->at;
    PNC_TRY(skip_value(s));
    r->n = s->at - r->text;
    return NC_NOERR;
}

static int scan_member(json_scanner *s)
{
    pnc_kerchunk *k = s->k;
    pnc_kerchunk_reference r = {.key = NULL};
    char *key;
    int64_t n;
    int err;

    PNC_TRY(scan_text(s, &key, &n));
    if ((int64_t)strlen(key) != n)
        return fail_scan(s, "a key has a character 0");
    if (!take_character(s, ':'))
        return fail_scan(s, "a key without a value");
    r.key = key;
    PNC_TRY(scan_reference(s, &r));
    if (k->n == INT32_MAX || !pnc_memory_grow(&k->references, &k->capacity, k->n + 1, sizeof *k->references))
        return fail_parse_memory(s);
    err = pnc_table_add(&k->keys, key, (int)k->n);
    if (err != NC_NOERR)
        return err == NC_ENAMEINUSE ? fail_scan(s, "a key that occurs twice") : fail_parse_memory(s);
    k->references[k->n++] = r;
    return NC_NOERR;
}

static int scan_members(json_scanner *s)
{
    if (!take_character(s, '{'))
        return fail_scan(s, "there is no object");
    if (take_character(s, '}'))
        return NC_NOERR;
    do {
        PNC_TRY(scan_member(s));
    } while (take_character(s, ','));
    return take_character(s, '}') ? NC_NOERR : fail_scan(s, "an object has no end");
}

/* --- the file --- */

/* Members of version 1; all else is a key of version 0. */
typedef struct file_members {
    char *refs; /* NULL: version 0 */
    bool has_templates;
} file_members;

/* An object or a list. */
static bool is_empty_value(const char *at)
{
    at += 1 + strspn(at + 1, " \t\r\n");
    return *at == '}' || *at == ']';
}

static bool is_text_here(const char *at, const char *text)
{
    return strncmp(at, text, strlen(text)) == 0;
}

/* Nothing is decoded yet. */
static int find_members(json_scanner *s, file_members *out)
{
    if (!take_character(s, '{'))
        return fail_scan(s, "there is no object");
    do {
        const char *name;

        skip_spaces(s);
        if (*s->at == '}')
            break;
        name = s->at;
        if (*name != '"')
            return fail_scan(s, "there is no text");
        PNC_TRY(skip_text(s));
        if (!take_character(s, ':'))
            return fail_scan(s, "a key without a value");
        skip_spaces(s);
        if (is_text_here(name, "\"refs\"") && *s->at == '{')
            out->refs = s->at;
        if ((is_text_here(name, "\"templates\"") && *s->at == '{') || (is_text_here(name, "\"gen\"") && *s->at == '['))
            out->has_templates = out->has_templates || !is_empty_value(s->at);
        PNC_TRY(skip_value(s));
    } while (take_character(s, ','));
    return take_character(s, '}') ? NC_NOERR : fail_scan(s, "an object has no end");
}

static int parse_members(json_scanner *s)
{
    file_members members = {.refs = NULL};

    PNC_TRY(find_members(s, &members));
    s->at = s->k->text;
    if (members.refs == NULL)
        return scan_members(s);
    if (members.has_templates)
        return pnc_error_set(s->error, NC_ENOTSUPPORT,
                             "%s: its references have templates, which this library does not expand: write them anew "
                             "without, as by kerchunk.utils.consolidate, or by fsspec, which expands them",
                             s->k->objects.path);
    s->at = members.refs;
    return scan_members(s);
}

/* --- groups and arrays --- */

static int compare_node_keys(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folder of a document; NULL: of the root, or it is no document. */
static int add_node_of(json_scanner *s, const char *key)
{
    static const char *const documents[] = {".zarray", ".zgroup", "zarr.json"};
    const char *slash = strrchr(key, '/');
    pnc_kerchunk *k = s->k;
    char *node;

    for (size_t i = 0; slash != NULL && i < sizeof documents / sizeof *documents; i++) {
        if (strcmp(slash + 1, documents[i]) != 0)
            continue;
        node = pnc_memory_alloc(slash - key + 1, 1);
        if (node == NULL || !pnc_memory_grow(&k->nodes, &k->nodes_capacity, k->nnodes + 1, sizeof *k->nodes)) {
            pnc_memory_free(node);
            return fail_parse_memory(s);
        }
        memcpy(node, key, (size_t)(slash - key));
        node[slash - key] = '\0';
        k->nodes[k->nnodes++] = node;
    }
    return NC_NOERR;
}

static int find_node_keys(json_scanner *s)
{
    static const char *const roots[] = {"zarr.json", ".zgroup", ".zmetadata", ".zarray"};

    for (int64_t i = 0; i < s->k->n; i++)
        PNC_TRY(add_node_of(s, s->k->references[i].key));
    if (s->k->nnodes > 0)
        qsort(s->k->nodes, (size_t)s->k->nnodes, sizeof *s->k->nodes, compare_node_keys);
    for (size_t i = 0; s->k->objects.root == NULL && i < sizeof roots / sizeof *roots; i++)
        if (pnc_table_find(&s->k->keys, roots[i]) >= 0)
            s->k->objects.root = roots[i];
    if (s->k->objects.root != NULL)
        return NC_NOERR;
    return pnc_error_set(s->error, NC_ENCZARR,
                         "%s: this is JSON without references to a dataset: no key is .zgroup or zarr.json",
                         s->k->objects.path);
}

bool pnc_kerchunk_front_is_json(const char *front, int64_t n)
{
    int64_t at = 0;

    while (at < n && front[at] != '\0' && strchr(" \t\r\n", front[at]) != NULL)
        at++;
    return at < n && front[at] == '{';
}

int pnc_kerchunk_text_parse(pnc_kerchunk *k, const char *path, char *text, int64_t n, pnc_error *error)
{
    json_scanner s = {.k = k, .at = text, .end = text + n, .error = error};

    *k = (pnc_kerchunk){.objects = {.ops = &pnc_kerchunk_operations, .path = path}, .text = text};
    PNC_TRY(parse_members(&s));
    return find_node_keys(&s);
}

void pnc_kerchunk_references_free(pnc_kerchunk *k)
{
    for (int64_t i = 0; i < k->nnodes; i++)
        pnc_memory_free(k->nodes[i]);
    pnc_memory_free(k->nodes);
    pnc_memory_free(k->references);
    pnc_memory_free(k->text);
    pnc_table_clear(&k->keys);
    *k = (pnc_kerchunk){.n = 0};
}
