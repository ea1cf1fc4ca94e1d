/* Reads maps. */
#include "config.h" /* system extensions */

#include "tools/plan/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tools/common/message.h"

static int fail_line(const char *path, int64_t line, const char *what)
{
    tool_error_print("%s:%lld: %s", path, (long long)line, what);
    return NC_EINVAL;
}

static int reserve(plan_map *map)
{
    if (!pnc_memory_grow(&map->slabs, &map->capacity, map->n + 1, sizeof *map->slabs))
        return NC_ENOMEM;
    if (!pnc_memory_grow(&map->numbers, &map->numbers_capacity, map->nnumbers + 2 * (int64_t)map->ndims,
                         sizeof *map->numbers))
        return NC_ENOMEM;
    return NC_NOERR;
}

/* Numbers with commas between them. Returns the text behind them, or NULL. */
static const char *parse_numbers(const char *text, int n, int64_t *out)
{
    for (int i = 0; i < n; i++) {
        char *end;

        if (i > 0 && *text++ != ',')
            return NULL;
        errno = 0;
        out[i] = strtoll(text, &end, 10);
        if (end == text || out[i] < 0 || errno != 0)
            return NULL;
        text = end;
    }
    return text;
}

static const char *check_bounds(const plan_map *map, const pnc_var *var, const int64_t *start)
{
    for (int i = 0; i < map->ndims; i++)
        if (!(var->is_record && i == 0) && start[i] > var->shape[i] - start[map->ndims + i])
            return "the hyperslab exceeds the variable";
    return NULL;
}

/* rank start count */
static const char *parse_line(plan_map *map, const pnc_var *var, const char *text)
{
    int64_t *start = map->numbers + map->nnumbers, rank;

    text = parse_numbers(text, 1, &rank);
    if (text == NULL || rank >= PLAN_MOST_RANKS)
        return "must begin with a rank";
    text = parse_numbers(text, map->ndims, start);
    if (text != NULL)
        text = parse_numbers(text, map->ndims, start + map->ndims);
    if (text == NULL || text[strspn(text, " \t\r\n")] != '\0')
        return "must be a rank, a start and a count, such as: 3 0,8,0 1,4,16";
    map->slabs[map->n++] = (plan_slab){.rank = (int)rank, .at = map->nnumbers};
    map->nnumbers += 2 * map->ndims;
    map->nranks = rank >= map->nranks ? (int)rank + 1 : map->nranks;
    return check_bounds(map, var, start);
}

static int compare_slabs(const void *a, const void *b)
{
    const plan_slab *x = a, *y = b;

    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : (x->at > y->at) - (x->at < y->at);
}

static int read_lines(FILE *file, const char *path, const pnc_var *var, plan_map *map)
{
    char *line = NULL;
    size_t capacity = 0;
    int err = NC_NOERR;

    for (int64_t number = 1; err == NC_NOERR && getline(&line, &capacity, file) >= 0; number++) {
        const char *text = line + strspn(line, " \t\r\n"), *wrong = NULL;

        if (*text == '\0' || *text == '#')
            continue;
        err = reserve(map);
        if (err == NC_NOERR)
            wrong = parse_line(map, var, text);
        if (wrong != NULL)
            err = fail_line(path, number, wrong);
    }
    if (err == NC_NOERR && ferror(file)) {
        tool_error_print("%s: cannot be read: %s", path, strerror(errno));
        err = NC_EREAD;
    }
    free(line);
    if (err == NC_ENOMEM)
        tool_error_print("%s: no memory for this map", path);
    return err;
}

int plan_map_read(const char *path, const pnc_var *var, plan_map **out)
{
    FILE *file = fopen(path, "r");
    plan_map *map;
    int err;

    if (file == NULL) {
        tool_error_print("%s: %s", path, strerror(errno));
        return NC_EFILE;
    }
    map = pnc_memory_alloc_zeroed(1, sizeof *map);
    if (map == NULL) {
        fclose(file);
        tool_error_print("%s: no memory for this map", path);
        return NC_ENOMEM;
    }
    map->ndims = var->ndims;
    err = read_lines(file, path, var, map);
    fclose(file);
    if (err == NC_NOERR && map->n == 0) {
        tool_error_print("%s: no hyperslab", path);
        err = NC_EINVAL;
    }
    if (err != NC_NOERR) {
        plan_map_free(map);
        return err;
    }
    qsort(map->slabs, (size_t)map->n, sizeof *map->slabs, compare_slabs);
    *out = map;
    return NC_NOERR;
}

void plan_map_free(plan_map *map)
{
    if (map == NULL)
        return;
    pnc_memory_free(map->slabs);
    pnc_memory_free(map->numbers);
    pnc_memory_free(map);
}

/* The first hyperslab of this rank or of a later one. */
static int64_t find_first(const plan_map *map, int rank)
{
    int64_t low = 0, high = map->n;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (map->slabs[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void plan_map_find(const plan_map *map, int rank, int64_t *first, int64_t *end)
{
    *first = find_first(map, rank);
    *end = find_first(map, rank + 1);
}
