/* Marks as texts. */
#include "log/mark.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"

static const char title[] = "PnetCDF burst buffer, version 2\n";
enum { LINE = 4200, DIGEST_LINE = 24 };

static int64_t put_line(char *text, int64_t at, const char *word, const char *value)
{
    char *to = text + at;
    int n = snprintf(to, LINE, "%s %s", word, value);

    n = n < LINE ? n : LINE - 1;
    for (int i = 0; i < n; i++)
        to[i] = to[i] == '\n' ? '?' : to[i];
    to[n] = '\n';
    return at + n + 1;
}

static int64_t put_number(char *text, int64_t at, const char *word, int64_t number)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%lld", (long long)number);
    return put_line(text, at, word, digits);
}

static int64_t put_hexadecimal(char *text, int64_t at, const char *word, uint64_t value)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)value);
    return put_line(text, at, word, digits);
}

static void format_digest(const char *text, int64_t n, char out[DIGEST_LINE + 1])
{
    snprintf(out, DIGEST_LINE + 1, "digest %016llx\n", (unsigned long long)pnc_digest_add(PNC_DIGEST_START, text, n));
}

char *pnc_log_mark_encode(const pnc_log_mark *mark, int64_t *n)
{
    int64_t lines = 9 * LINE + mark->nranks * (PNC_LOG_NODE_BYTES + 8), at = (int64_t)strlen(title);
    char *text = pnc_memory_alloc(lines + DIGEST_LINE + 1, 1);

    if (text == NULL)
        return NULL;
    strcpy(text, title);
    at = put_hexadecimal(text, at, "stamp", mark->stamp);
    at = put_number(text, at, "inode", mark->inode);
    at = put_number(text, at, "birth", mark->birth);
    at = put_hexadecimal(text, at, "header", mark->header);
    at = put_line(text, at, "file", mark->file);
    at = put_line(text, at, "folder", mark->folder);
    at = put_line(text, at, "job", mark->job);
    at = put_number(text, at, "ranks", mark->nranks);
    for (int64_t i = 0; i < mark->nranks; i++)
        at = put_line(text, at, "node", mark->nodes[i]);
    format_digest(text, at, text + at);
    *n = at + DIGEST_LINE;
    return text;
}

bool pnc_log_mark_format_begin(uint64_t stamp, char out[PNC_LOG_BEGIN_BYTES + 1])
{
    return snprintf(out, PNC_LOG_BEGIN_BYTES + 1, "%sstamp %016llx\n", title, (unsigned long long)stamp) ==
           PNC_LOG_BEGIN_BYTES;
}

bool pnc_log_mark_is_begin(const char *text, int64_t n)
{
    int64_t wanted = (int64_t)strlen("PnetCDF burst buffer");

    return n >= wanted && memcmp(text, title, (size_t)wanted) == 0;
}

static int fail_mark(pnc_error *error, const char *what)
{
    return pnc_error_set(error, NC_EBADLOG, "the mark of a burst buffer is damaged: %s", what);
}

/* The value of a line, which becomes a string; NULL: it begins with another word, or does not end. */
static char *take_line(char **at, const char *word)
{
    size_t n = strlen(word);
    char *value = *at + n + 1, *end;

    if (strncmp(*at, word, n) != 0 || (*at)[n] != ' ')
        return NULL;
    end = strchr(value, '\n');
    if (end == NULL)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return value;
}

static bool take_number(char **at, const char *word, int64_t *out)
{
    char *value = take_line(at, word), *end;

    if (value == NULL)
        return false;
    errno = 0;
    *out = strtoll(value, &end, 10);
    return errno == 0 && end != value && *end == '\0' && *out >= 0;
}

static bool take_hexadecimal(char **at, const char *word, uint64_t *out)
{
    char *value = take_line(at, word), *end;

    if (value == NULL)
        return false;
    *out = strtoull(value, &end, 16);
    return end == value + 16 && *end == '\0';
}

/* The text in its memory, which is a string; `left`: bytes before the digest. */
static int take_lines(char *at, int64_t left, pnc_log_mark *out, pnc_error *error)
{
    at += strlen(title);
    if (!take_hexadecimal(&at, "stamp", &out->stamp) || !take_number(&at, "inode", &out->inode) ||
        !take_number(&at, "birth", &out->birth) || !take_hexadecimal(&at, "header", &out->header))
        return fail_mark(error, "its stamp or the identity of the file");
    out->file = take_line(&at, "file");
    out->folder = out->file != NULL ? take_line(&at, "folder") : NULL;
    out->job = out->folder != NULL ? take_line(&at, "job") : NULL;
    if (out->job == NULL || !take_number(&at, "ranks", &out->nranks))
        return fail_mark(error, "the names of its logs");
    if (out->nranks == 0 || out->nranks > left / (int64_t)strlen("node \n") || strchr(out->file, '/') != NULL)
        return fail_mark(error, "its number of ranks, or the name of the file");
    out->nodes = pnc_memory_alloc_zeroed(out->nranks, sizeof *out->nodes);
    if (out->nodes == NULL)
        return pnc_error_set(error, NC_ENOMEM, "no memory for %lld ranks", (long long)out->nranks);
    for (int64_t i = 0; i < out->nranks; i++) {
        const char *node = take_line(&at, "node");

        if (node == NULL)
            return fail_mark(error, "a node is missing");
        snprintf(out->nodes[i], sizeof out->nodes[i], "%.*s", PNC_LOG_NODE_BYTES - 1, node);
    }
    return *at == '\0' ? NC_NOERR : fail_mark(error, "it has more lines");
}

/* A copy of the text that `out` keeps: its title, a null character in place of the digest. */
int pnc_log_mark_decode(const char *text, int64_t n, pnc_log_mark *out, pnc_error *error)
{
    char digest[DIGEST_LINE + 1], *copy;

    *out = (pnc_log_mark){.stamp = 0};
    if (n < (int64_t)strlen(title) + DIGEST_LINE || memcmp(text, title, strlen(title)) != 0 ||
        memchr(text, '\0', (size_t)n) != NULL)
        return fail_mark(error, "its first line");
    format_digest(text, n - DIGEST_LINE, digest);
    if (memcmp(digest, text + n - DIGEST_LINE, DIGEST_LINE) != 0)
        return fail_mark(error, "its digest");
    copy = pnc_memory_alloc(n, 1);
    if (copy == NULL)
        return pnc_error_set(error, NC_ENOMEM, "no memory for a mark of %lld bytes", (long long)n);
    memcpy(copy, text, (size_t)(n - DIGEST_LINE));
    copy[n - DIGEST_LINE] = '\0';
    out->text = copy;
    return take_lines(copy, n - DIGEST_LINE, out, error);
}

uint64_t pnc_log_header_add(uint64_t digest, int64_t at, char *bytes, int64_t n)
{
    enum { VERSION_AT = 3, NUMRECS_AT = 4, CDF5 = 5 };
    int64_t size = n > VERSION_AT && bytes[VERSION_AT] == CDF5 ? 8 : 4;

    if (at == 0 && n >= NUMRECS_AT + size)
        memset(bytes + NUMRECS_AT, 0, (size_t)size);
    return pnc_digest_add(digest, bytes, n);
}

void pnc_log_mark_free(pnc_log_mark *mark)
{
    pnc_memory_free(mark->nodes);
    pnc_memory_free(mark->text);
    *mark = (pnc_log_mark){.stamp = 0};
}
