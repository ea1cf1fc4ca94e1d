/* The grammar of PNETCDF_HINTS.
 *
 *     list     = entry *(";" entry)
 *     entry    = hint                                for every file
 *              | pattern ":" [hint *(":" hint)]      for files that it matches; the first match applies
 *                *("," pattern ":" ...)
 *     hint     = key "=" value
 *
 * Keys do not contain ':': an entry with a ':' before its first '=' begins with a pattern, and the value of a hint for
 * every file may contain ':' and ','. In a hint after a pattern, a number after a ':' belongs to the value (zstd:3,
 * abs:1e-3); if the hint is nc_compression, words without '=' do, too (blosc:zstd), and so do lengths after a ',' if it
 * is nc_chunks. Blanks around tokens are ignored. */
#include "dataset/hints_text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/path.h"

typedef struct scan {
    const char *path;
    bool warn;
    MPI_Info info;
    pnc_error *error;
    char *matched; /* the hints of the first pattern that matches, or NULL */
} scan;

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (isspace((unsigned char)*text))
        text++;
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

static void warn_malformed(const scan *s, const char *entry, const char *form)
{
    if (s->warn)
        fprintf(stderr, "PnetCDF: PNETCDF_HINTS: \"%s\" is not of the form %s and is ignored\n", entry, form);
}

static int set_hint(const scan *s, char *entry)
{
    char *equals = strchr(entry, '='), *key, *value;

    entry = trim(entry);
    if (*entry == '\0')
        return NC_NOERR;
    if (equals == NULL) {
        warn_malformed(s, entry, "key=value");
        return NC_NOERR;
    }
    *equals = '\0';
    key = trim(entry);
    value = trim(equals + 1);
    if (*key == '\0' || *value == '\0' || strlen(key) >= MPI_MAX_INFO_KEY || strlen(value) >= MPI_MAX_INFO_VAL) {
        *equals = '=';
        warn_malformed(s, entry, "key=value");
        return NC_NOERR;
    }
    if (MPI_Info_set(s->info, key, value) != MPI_SUCCESS)
        return pnc_error_set(s->error, NC_EMPI, "MPI_Info_set failed for hint %s=%s", key, value);
    return NC_NOERR;
}

/* As in MPICH_MPIIO_HINTS. */
bool pnc_dataset_pattern_is_match(const char *pattern, const char *path)
{
    return fnmatch(pattern, path, 0) == 0 ||
           (strchr(pattern, '/') == NULL && fnmatch(pattern, pnc_path_get_name(path), 0) == 0);
}

/* Whether a text up to the next separator is [NAME/]LENGTH. */
static bool is_chunk_length(const char *text)
{
    const char *end = text + strcspn(text, ",:;"), *number = text;

    for (const char *at = text; at < end; at++)
        if (*at == '/')
            number = at + 1;
    if (number == end || number == text + 1)
        return false;
    for (; number < end; number++)
        if (!isdigit((unsigned char)*number))
            return false;
    return true;
}

/* The first of several patterns with their hints, which becomes a string; *rest are the others. */
static char *split_pattern(char **rest)
{
    static const char chunks[] = "nc_chunks";
    char *begin = *rest, *last = begin; /* the last hint so far */

    if (*begin == '\0')
        return NULL;
    for (char *at = begin; *at != '\0'; at++) {
        if (*at == ':' && at[1 + strcspn(at + 1, "=:,")] == '=')
            last = at + 1 + strspn(at + 1, " \t");
        if (*at != ',' || (strncmp(last, chunks, strlen(chunks)) == 0 && is_chunk_length(at + 1)))
            continue;
        *at = '\0';
        *rest = at + 1;
        return begin;
    }
    *rest = begin + strlen(begin);
    return begin;
}

#define NUMBER_MOST 64 /* bytes of a number; a longer text is none */

/* Whether a text up to the next separator is a number. */
static bool is_number(const char *text)
{
    char copy[NUMBER_MOST];
    size_t n = strcspn(text, ":");
    double value;

    snprintf(copy, sizeof copy, "%.*s", (int)(n < sizeof copy ? n : 0), text);
    return pnc_text_decimal_parse(copy, &value);
}

/* Whether a text up to the next separator is no other hint. */
static bool is_word(const char *text)
{
    return text[strcspn(text, "=:")] != '=';
}

/* The first of several hints after a pattern, which becomes a string; *rest are the others. */
static char *split_hint(char **rest)
{
    static const char compression[] = "nc_compression";
    char *begin = *rest;
    bool is_compression = strncmp(begin + strspn(begin, " \t"), compression, strlen(compression)) == 0;

    if (*begin == '\0')
        return NULL;
    for (char *at = begin; *at != '\0'; at++) {
        if (*at != ':' || is_number(at + 1) || (is_compression && is_word(at + 1)))
            continue;
        *at = '\0';
        *rest = at + 1;
        return begin;
    }
    *rest = begin + strlen(begin);
    return begin;
}

static bool has_patterns(const char *entry)
{
    return entry[strcspn(entry, "=:")] == ':';
}

/* The first of several patterns, and its hints; *rest are the others. NULL: there is none left. */
static char *split_valid_pattern(const scan *s, char **rest, char **hints)
{
    for (char *one = split_pattern(rest); one != NULL; one = split_pattern(rest)) {
        char *colon = strchr(one, ':'), *equals = strchr(one, '=');

        if (*trim(one) == '\0')
            continue;
        if (colon == NULL || (equals != NULL && equals < colon)) {
            warn_malformed(s, trim(one), "pattern:key=value:key=value");
            continue;
        }
        *colon = '\0';
        *hints = colon + 1;
        return trim(one);
    }
    return NULL;
}

static void find_match(scan *s, char *entry)
{
    char *rest = entry, *hints;

    for (char *one = split_valid_pattern(s, &rest, &hints); one != NULL; one = split_valid_pattern(s, &rest, &hints))
        if (s->matched == NULL && pnc_dataset_pattern_is_match(one, s->path))
            s->matched = hints;
}

static int parse(scan *s, char *list)
{
    char *rest = NULL;
    int err = NC_NOERR;

    for (char *entry = strtok_r(list, ";", &rest); entry != NULL && err == NC_NOERR;
         entry = strtok_r(NULL, ";", &rest)) {
        if (has_patterns(entry))
            find_match(s, entry);
        else
            err = set_hint(s, entry);
    }
    /* last, to outrank the hints for every file */
    rest = s->matched;
    for (char *hint = rest == NULL ? NULL : split_hint(&rest); hint != NULL && err == NC_NOERR;
         hint = split_hint(&rest))
        err = set_hint(s, hint);
    return err;
}

int pnc_dataset_hints_parse(const char *list, const char *path, bool warn, MPI_Info info, pnc_error *error)
{
    scan s = {.path = path, .warn = warn, .info = info, .error = error};
    char *copy = pnc_string_copy(list);
    int err;

    if (copy == NULL)
        return pnc_error_set(error, NC_ENOMEM, "no memory to read PNETCDF_HINTS");
    err = parse(&s, copy);
    pnc_memory_free(copy);
    return err;
}

int pnc_dataset_hints_list_patterns(char *list, int most, const char **patterns)
{
    const scan silent = {.warn = false};
    char *next = NULL;
    int n = 0;

    for (char *entry = strtok_r(list, ";", &next); entry != NULL; entry = strtok_r(NULL, ";", &next)) {
        char *rest = entry, *hints;

        if (!has_patterns(entry))
            continue;
        while (n < most && (patterns[n] = split_valid_pattern(&silent, &rest, &hints)) != NULL)
            n++;
    }
    return n;
}
