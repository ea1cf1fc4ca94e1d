/* Names: the character rules of the NetCDF Classic Format Specification; utf8proc validates UTF-8 and normalises to
 * NFC. */
#include "base/name.h"

#include <stdbool.h>
#include <string.h>
#include <utf8proc.h>

#include "base/memory.h"

static bool is_ascii(const char *name)
{
    for (; *name != '\0'; name++)
        if ((unsigned char)*name >= 0x80)
            return false;
    return true;
}

static bool is_alphanumeric(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The NFC form of a name, freed by pnc_memory_free (utf8proc_map uses malloc). NULL for invalid UTF-8 or if
 * allocation fails; *code is the error. */
static char *to_nfc(const char *name, int *code)
{
    utf8proc_uint8_t *out = NULL;
    utf8proc_ssize_t n =
        utf8proc_map((const utf8proc_uint8_t *)name, 0, &out, UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_COMPOSE);

    if (n >= 0)
        return pnc_memory_take(out);
    *code = n == UTF8PROC_ERROR_NOMEM ? NC_ENOMEM : NC_EBADNAME;
    return NULL;
}

static int check_characters(const char *name, pnc_error *error)
{
    unsigned char first = (unsigned char)name[0];
    size_t n = strlen(name);

    if (first < 0x80 && first != '_' && !is_alphanumeric(first))
        return pnc_error_set(error, NC_EBADNAME,
                             "name \"%.60s\" starts with character 0x%02x: begin it with a letter, a digit or '_'",
                             name, first);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c < 0x20 || c == 0x7f || c == '/')
            return pnc_error_set(error, NC_EBADNAME, "name \"%.60s\" has the illegal character 0x%02x at position %zu",
                                 name, c, i + 1);
    }
    if (name[n - 1] == ' ')
        return pnc_error_set(error, NC_EBADNAME, "name \"%.60s\" ends with a blank: remove it", name);
    return NC_NOERR;
}

int pnc_name_normalise(const char *name, char **out, pnc_error *error)
{
    char *nfc;
    int code = NC_ENOMEM;

    if (name == NULL || name[0] == '\0')
        return pnc_error_set(error, NC_EBADNAME, "a name is %s: must have at least one character",
                             name != NULL ? "empty" : "NULL");
    if (strlen(name) > NC_MAX_NAME)
        return pnc_error_set(error, NC_EMAXNAME, "name \"%.40s...\" has %zu bytes: at most %d are allowed", name,
                             strlen(name), NC_MAX_NAME);
    PNC_TRY(check_characters(name, error));
    nfc = is_ascii(name) ? pnc_string_copy(name) : to_nfc(name, &code);
    if (nfc == NULL)
        return pnc_error_set(
            error, code, code == NC_ENOMEM ? "no memory for the name \"%.60s\"" : "name \"%.60s\" is not valid UTF-8",
            name);
    /* composition exclusions: a few characters are longer in NFC */
    if (strlen(nfc) > NC_MAX_NAME) {
        code = pnc_error_set(error, NC_EMAXNAME,
                             "name \"%.40s...\" has %zu bytes in normal form C: at most %d are allowed", name,
                             strlen(nfc), NC_MAX_NAME);
        pnc_memory_free(nfc);
        return code;
    }
    *out = nfc;
    return NC_NOERR;
}

bool pnc_name_is_text(const char *name, size_t n)
{
    size_t i = 0;

    while (i < n) {
        utf8proc_int32_t character;
        utf8proc_ssize_t bytes = 1;

        if ((unsigned char)name[i] >= 0x80)
            bytes = utf8proc_iterate((const utf8proc_uint8_t *)name + i, (utf8proc_ssize_t)(n - i), &character);
        if (bytes <= 0)
            return false;
        i += (size_t)bytes;
    }
    return n > 0;
}

const char *pnc_name_make_key(const char *name, char **owned)
{
    int code;

    *owned = is_ascii(name) ? NULL : to_nfc(name, &code);
    return *owned != NULL ? *owned : name;
}

int pnc_name_explain_missing(const char *name, int otherwise)
{
    int code = otherwise;

    if (name == NULL || name[0] == '\0')
        return NC_EBADNAME;
    if (strlen(name) > NC_MAX_NAME)
        return NC_EMAXNAME;
    if (!is_ascii(name))
        pnc_memory_free(to_nfc(name, &code));
    return code == NC_EBADNAME ? code : otherwise;
}

int pnc_name_find(const pnc_table *table, const char *name)
{
    char *owned;
    int index;

    if (name == NULL)
        return -1;
    index = pnc_table_find(table, pnc_name_make_key(name, &owned));
    if (index < 0 && owned != NULL)
        index = pnc_table_find(table, name);
    pnc_memory_free(owned);
    return index;
}
