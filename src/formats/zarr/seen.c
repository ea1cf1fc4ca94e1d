/* Whether the store is still that of the last sync. A program that writes it without locks is noticed by the root
 * document: this library replaces it when definitions or lengths change, others when they consolidate metadata. */
#include <string.h>

#include "base/memory.h"
#include "formats/zarr/zarr.h"

/* Of version 2: the document with all others, if it has that. */
static const char *get_root_key(const pnc_zarr *z)
{
    static const char consolidated[] = ".zmetadata";
    const pnc_zarr_documents *d = &z->documents;

    if (strcmp(z->objects->root, PNC_ZARR_ROOT) == 0)
        return PNC_ZARR_ROOT;
    for (int64_t i = 0; i < d->n; i++)
        if (strcmp(d->at[i].key, consolidated) == 0)
            return consolidated;
    return z->objects->root;
}

static int refuse_changed(const pnc_zarr *z, const char *what)
{
    return pnc_error_set(z->format.file->error, NC_ESTALE,
                         "%s: another program or handle has %s %s since this one has read or written it last: nothing "
                         "was changed: close this ncid and open the store again",
                         z->format.file->path, what, get_root_key(z));
}

static const pnc_zarr_document *find_root_document(const pnc_zarr *z, const pnc_zarr_documents *documents)
{
    const char *key = get_root_key(z);

    for (int64_t i = 0; i < documents->n; i++)
        if (strcmp(documents->at[i].key, key) == 0)
            return &documents->at[i];
    return NULL;
}

void pnc_zarr_seen_keep(const pnc_zarr *z, pnc_zarr_documents *next)
{
    const pnc_zarr_document *old = find_root_document(z, &z->documents), *new = find_root_document(z, next);
    pnc_zarr_document *kept = (pnc_zarr_document *)(uintptr_t) new;
    char *bytes;

    if (old == NULL || new == NULL || !new->is_unchanged || z->is_unfinished)
        return;
    bytes = pnc_region_text_copy(&next->region, old->bytes, old->n);
    if (bytes == NULL)
        return;
    kept->bytes = bytes;
    kept->n = old->n;
}

/* *is: the store has these bytes. */
static int compare_root(const pnc_zarr *z, const pnc_zarr_documents *documents, int64_t size, bool *is)
{
    const pnc_zarr_document *root = find_root_document(z, documents);
    char *bytes = NULL;
    int64_t n = 0;

    *is = root != NULL && root->n == size;
    if (!*is)
        return NC_NOERR;
    PNC_TRY(pnc_objects_load(z->objects, root->key, size, &bytes, &n, z->format.file->error));
    *is = n == size && memcmp(bytes, root->bytes, (size_t)n) == 0;
    pnc_memory_free(bytes);
    return NC_NOERR;
}

int pnc_zarr_seen_check(pnc_zarr *z)
{
    pnc_objects_facts found;
    bool is_same;

    PNC_TRY(z->objects->ops->inspect(z->objects, get_root_key(z), &found, z->format.file->error));
    if (z->has_failed) /* a write that has failed may have left either document */
        return NC_NOERR;
    if (z->documents.n == 0) /* a new store */
        return found.size < 0 ? NC_NOERR : refuse_changed(z, "written");
    if (found.size < 0)
        return refuse_changed(z, "deleted");
    if (memcmp(&found, &z->seen, sizeof found) == 0)
        return NC_NOERR;
    PNC_TRY(compare_root(z, &z->documents, found.size, &is_same));
    if (!is_same && z->is_unapplied)
        PNC_TRY(compare_root(z, &z->next, found.size, &is_same));
    if (!is_same)
        return refuse_changed(z, "changed");
    z->seen = found;
    return NC_NOERR;
}
