/* Lines "xxh3-128:DIGITS  NAME", and comments that begin with #. "# netCDF checksums of PATH" begins a file. */
#include "config.h" /* system extensions */

#include "tools/common/manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "tools/common/message.h"

static const char first_words[] = "# netCDF checksums";

bool tool_manifest_is_head(const char *head, size_t n)
{
    return n >= sizeof first_words - 1 && memcmp(head, first_words, sizeof first_words - 1) == 0;
}

void tool_manifest_free(tool_manifest *m)
{
    for (int i = 0; i < m->n; i++)
        pnc_memory_free(m->names[i]);
    pnc_memory_free(m->names);
    pnc_memory_free(m->sums);
    pnc_memory_free(m->path);
    memset(m, 0, sizeof *m);
}

int tool_manifest_add(tool_manifest *m, const char *name, const char sum[PNC_CHECKSUM_TEXT])
{
    if (m->n == m->capacity) {
        int capacity = pnc_memory_grow_capacity(m->n);
        char **names = capacity > 0 ? pnc_memory_resize(m->names, capacity, sizeof *names) : NULL, *sums = NULL;

        if (names != NULL) {
            m->names = names;
            sums = pnc_memory_resize(m->sums, capacity, PNC_CHECKSUM_TEXT);
        }
        if (sums == NULL)
            return NC_ENOMEM;
        m->sums = sums;
        m->capacity = capacity;
    }
    m->names[m->n] = pnc_string_copy(name);
    if (m->names[m->n] == NULL)
        return NC_ENOMEM;
    memcpy(m->sums + (size_t)m->n * PNC_CHECKSUM_TEXT, sum, PNC_CHECKSUM_TEXT);
    m->n++;
    return NC_NOERR;
}

const char *tool_manifest_get(const tool_manifest *m, int i)
{
    return m->sums + (size_t)i * PNC_CHECKSUM_TEXT;
}

const char *tool_manifest_find(const tool_manifest *m, const char *name)
{
    for (int i = 0; i < m->n; i++)
        if (strcmp(m->names[i], name) == 0)
            return tool_manifest_get(m, i);
    return NULL;
}

void tool_manifest_write(const tool_manifest *m, const char *path, FILE *out)
{
    fprintf(out, "%s of ", first_words);
    tool_text_write(out, path);
    fputc('\n', out);
    for (int i = 0; i < m->n; i++)
        fprintf(out, "%s  %s\n", tool_manifest_get(m, i), m->names[i]);
}

/* --- reading --- */

static bool is_sum(const char *text, size_t n)
{
    static const char prefix[] = "xxh3-128:";
    size_t first = sizeof prefix - 1;

    return n == PNC_CHECKSUM_TEXT - 1 && memcmp(text, prefix, first) == 0 &&
           strspn(text + first, "0123456789abcdef") >= n - first;
}

/* The end of "# netCDF checksums of PATH", or "" */
static const char *find_path(const char *head)
{
    const char *path = strstr(head, " of ");

    return path != NULL ? path + 4 : "";
}

static int begin_file(const char *path, tool_manifests *all)
{
    if (all->n == all->capacity) {
        int capacity = pnc_memory_grow_capacity(all->n);
        tool_manifest *more = capacity > 0 ? pnc_memory_resize(all->at, capacity, sizeof *more) : NULL;

        if (more == NULL)
            return NC_ENOMEM;
        all->at = more;
        all->capacity = capacity;
    }
    all->at[all->n] = (tool_manifest){.path = pnc_string_copy(path)};
    return all->at[all->n++].path != NULL ? NC_NOERR : NC_ENOMEM;
}

/* A checksum belongs to the last comment that begins a file: the first line is one. */
static int read_line(const char *path, int number, char *line, tool_manifests *all)
{
    size_t n = strlen(line);
    int err;

    while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
        line[--n] = '\0';
    if (tool_manifest_is_head(line, n)) {
        err = begin_file(find_path(line), all);
    } else if (n == 0 || line[0] == '#') {
        return NC_NOERR;
    } else if (n < PNC_CHECKSUM_TEXT + 2 || !is_sum(line, strcspn(line, " ")) ||
               memcmp(line + PNC_CHECKSUM_TEXT - 1, "  ", 2) != 0) {
        tool_error_print("%s: line %d is not a checksum, two blanks and the name of a variable", path, number);
        return NC_EINVAL;
    } else {
        line[PNC_CHECKSUM_TEXT - 1] = '\0';
        err = tool_manifest_add(&all->at[all->n - 1], line + PNC_CHECKSUM_TEXT + 1, line);
    }
    if (err != NC_NOERR)
        tool_error_print("%s: not enough memory", path);
    return err;
}

int tool_manifests_load(const char *path, bool *is_manifest, tool_manifests *all)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    char head[sizeof first_words];
    int err = NC_NOERR;

    *all = (tool_manifests){0};
    *is_manifest = false;
    if (file == NULL)
        return NC_NOERR; /* opening it as a netCDF file gives the message */
    *is_manifest = tool_manifest_is_head(head, fread(head, 1, sizeof head - 1, file));
    rewind(file);
    for (int i = 1; *is_manifest && err == NC_NOERR && getline(&line, &capacity, file) >= 0; i++)
        err = read_line(path, i, line, all);
    if (err == NC_NOERR && ferror(file)) {
        tool_error_print("%s: cannot be read: %s", path, strerror(errno));
        err = NC_EREAD;
    }
    free(line);
    fclose(file);
    return err;
}

void tool_manifests_free(tool_manifests *all)
{
    for (int i = 0; i < all->n; i++)
        tool_manifest_free(&all->at[i]);
    pnc_memory_free(all->at);
    *all = (tool_manifests){0};
}

tool_manifest *tool_manifests_find(const tool_manifests *all, const char *path)
{
    tool_manifest *found = NULL;
    int n = 0;

    if (all->n == 1)
        return &all->at[0];
    for (int i = 0; i < all->n; i++)
        if (strcmp(all->at[i].path, path) == 0)
            return &all->at[i];
    for (int i = 0; i < all->n; i++)
        if (strcmp(pnc_path_get_name(all->at[i].path), pnc_path_get_name(path)) == 0) {
            found = &all->at[i];
            n++;
        }
    return n == 1 ? found : NULL;
}

/* --- computing --- */

static bool take_attribute(const pnc_var *var, char sum[PNC_CHECKSUM_TEXT])
{
    int at = pnc_format_atts_find(&var->atts, PNC_CHECKSUM_ATTRIBUTE);
    const pnc_att *att = at < 0 ? NULL : var->atts.at[at];

    if (att == NULL || att->type != NC_CHAR || att->len != PNC_CHECKSUM_TEXT - 1)
        return false;
    memcpy(sum, att->value, PNC_CHECKSUM_TEXT - 1);
    sum[PNC_CHECKSUM_TEXT - 1] = '\0';
    return is_sum(sum, PNC_CHECKSUM_TEXT - 1);
}

int tool_manifest_compute(const tool_file *file, int rank, int nprocs, bool by_attributes, tool_manifest *m)
{
    *m = (tool_manifest){0};
    for (int i = 0; i < file->model.nvars; i++) {
        const pnc_var *var = file->model.vars[i];
        char sum[PNC_CHECKSUM_TEXT] = "";

        if (var->type > NC_UINT64)
            continue;
        if (m->n % nprocs == rank && !(by_attributes && take_attribute(var, sum)))
            PNC_TRY(tool_checksum_compute(file, var, sum));
        if (tool_manifest_add(m, var->name, sum) != NC_NOERR) {
            tool_error_print("%s: not enough memory", file->path);
            return NC_ENOMEM;
        }
    }
    return NC_NOERR;
}
