/* A wrapper that keeps all writes in memory until it is flushed. */
#include "keeping_wrapper.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/wrapper.h"

typedef struct kept_write {
    struct kept_write *next;
    int64_t n;
    pnc_extent *extents;
    char *bytes;
} kept_write;

typedef struct keeping_store {
    pnc_store store;
    kept_write *first, *last;
} keeping_store;

int keeping_writes_kept;

static kept_write *take_first(keeping_store *keeping)
{
    kept_write *first = keeping->first;

    if (first == NULL)
        return NULL;
    keeping->first = first->next;
    keeping_writes_kept--;
    return first;
}

static void free_write(kept_write *kept)
{
    free(kept->extents);
    free(kept->bytes);
    free(kept);
}

static int keeping_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    keeping_store *keeping = (keeping_store *)store;
    kept_write *kept = calloc(1, sizeof *kept);
    int64_t bytes = 0;

    (void)error;
    for (int64_t i = 0; i < n; i++)
        bytes += extents[i].length;
    kept->n = n;
    kept->extents = malloc((size_t)n * sizeof *extents + 1);
    kept->bytes = malloc((size_t)bytes + 1);
    if (n > 0)
        memcpy(kept->extents, extents, (size_t)n * sizeof *extents);
    if (bytes > 0)
        memcpy(kept->bytes, buf, (size_t)bytes);
    if (keeping->first == NULL)
        keeping->first = kept;
    else
        keeping->last->next = kept;
    keeping->last = kept;
    keeping_writes_kept++;
    return NC_NOERR;
}

static int keeping_flush(pnc_store *store, pnc_error *error)
{
    keeping_store *keeping = (keeping_store *)store;
    int err = NC_NOERR;

    for (kept_write *kept = take_first(keeping); kept != NULL; kept = take_first(keeping)) {
        int status = pnc_wrapper_write(store, kept->extents, kept->n, kept->bytes, error);

        err = pnc_error_keep_first(err, status);
        free_write(kept);
    }
    return err;
}

static void keeping_release(pnc_store *store)
{
    for (kept_write *kept = take_first((keeping_store *)store); kept != NULL; kept = take_first((keeping_store *)store))
        free_write(kept);
}

const pnc_store_ops keeping_wrapper = {
    .name = "keeping",
    .store_bytes = sizeof(keeping_store),
    .is_wrapper = true,
    .write = keeping_write,
    .flush = keeping_flush,
    .release = keeping_release,
};
