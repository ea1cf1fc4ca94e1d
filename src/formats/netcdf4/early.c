/* Chunks that have fill values, by their bytes. */
#include "formats/netcdf4/early.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

static bool add_offset(pnc_offsets *offsets, int64_t offset)
{
    if (!pnc_memory_grow(&offsets->at, &offsets->capacity, offsets->n + 1, sizeof *offsets->at))
        return false;
    offsets->at[offsets->n++] = offset;
    return true;
}

static pnc_early_group *add_early_group(pnc_early *early, const void *bytes, int64_t length)
{
    pnc_early_group *group = pnc_memory_alloc_zeroed(1, sizeof *group);
    unsigned char *copy = pnc_memory_alloc(length, 1);

    if (group == NULL || copy == NULL) {
        pnc_memory_free(group);
        pnc_memory_free(copy);
        return NULL;
    }
    memcpy(copy, bytes, (size_t)length);
    *group = (pnc_early_group){.next = early->groups, .length = length, .bytes = copy};
    early->groups = group;
    return group;
}

bool pnc_netcdf4_early_add(pnc_early *early, int64_t offset, const void *bytes, int64_t length)
{
    pnc_early_group *group = early->groups;

    if (group == NULL || group->length != length || memcmp(group->bytes, bytes, (size_t)length) != 0)
        group = add_early_group(early, bytes, length);
    if (group == NULL || !add_offset(&group->chunks, offset))
        return false;
    early->n++;
    return true;
}

bool pnc_netcdf4_early_release(pnc_early *early, int64_t offset)
{
    return early->groups == NULL || offset < 0 || add_offset(&early->released, offset);
}

static int compare_offsets(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static void sort_offsets(pnc_offsets *offsets)
{
    if (offsets->n > 1)
        qsort(offsets->at, (size_t)offsets->n, sizeof *offsets->at, compare_offsets);
}

/* Both ascend. */
static void subtract_offsets(pnc_offsets *from, const pnc_offsets *released)
{
    int64_t kept = 0, k = 0;

    for (int64_t i = 0; i < from->n; i++) {
        while (k < released->n && released->at[k] < from->at[i])
            k++;
        if (k == released->n || released->at[k] != from->at[i])
            from->at[kept++] = from->at[i];
    }
    from->n = kept;
}

void pnc_netcdf4_early_remove_released(pnc_early *early)
{
    sort_offsets(&early->released);
    for (pnc_early_group *group = early->groups; group != NULL; group = group->next) {
        sort_offsets(&group->chunks);
        subtract_offsets(&group->chunks, &early->released);
    }
    early->released.n = 0;
}

void pnc_netcdf4_early_clear(pnc_early *early)
{
    for (pnc_early_group *group = early->groups, *next; group != NULL; group = next) {
        next = group->next;
        pnc_memory_free(group->chunks.at);
        pnc_memory_free(group->bytes);
        pnc_memory_free(group);
    }
    pnc_memory_free(early->released.at);
    *early = (pnc_early){0};
}
