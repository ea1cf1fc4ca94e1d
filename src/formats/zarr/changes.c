/* Changes of a store, and the log of them. */
#include "formats/zarr/changes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/minmax.h"

#define MAGIC INT64_C(0x31474f4c525a434e) /* NCZRLOG1 in little-endian order */

typedef struct log_head {
    int64_t magic, id, n, count;
    uint64_t sum, digest; /* digest: of what is before it */
} log_head;

/* Behind it are the key, with its NUL, and the bytes. */
typedef struct change_head {
    uint64_t digest; /* of all that follows */
    int64_t kind, key_bytes, n;
} change_head;

pnc_zarr_key pnc_zarr_temporary_make(const char *key, int64_t id)
{
    pnc_zarr_key made;

    snprintf(made.text, sizeof made.text, "%.4000s" PNC_ZARR_MARK "%016" PRIx64, key, id);
    return made;
}

/* --- lists --- */

static uint64_t get_digest(const change_head *head, const void *key, const void *bytes)
{
    uint64_t hash = pnc_digest_add(PNC_DIGEST_START, &head->kind, 3 * (int64_t)sizeof head->kind);

    return pnc_digest_add(pnc_digest_add(hash, key, head->key_bytes), bytes, head->n);
}

int pnc_zarr_changes_add(pnc_zarr_changes *changes, pnc_zarr_change_kind kind, const char *key, const void *bytes,
                         int64_t n, pnc_error *error)
{
    change_head head = {.kind = kind, .key_bytes = (int64_t)strlen(key) + 1, .n = n};
    int64_t total = (int64_t)sizeof head + head.key_bytes + n;
    char *to;

    assert(total <= PNC_ZARR_CHANGE_MOST);
    if (!pnc_memory_grow(&changes->at, &changes->capacity, changes->n + total, 1))
        return pnc_error_set(error, NC_ENOMEM, "no memory for a list of what changes in the store");
    head.digest = get_digest(&head, key, bytes);
    to = changes->at + changes->n;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, key, (size_t)head.key_bytes);
    if (n > 0)
        memcpy(to + sizeof head + head.key_bytes, bytes, (size_t)n);
    changes->n += total;
    changes->count++;
    changes->nindexes += kind == PNC_ZARR_CHANGE_INDEX;
    changes->sum += head.digest;
    return NC_NOERR;
}

void pnc_zarr_changes_free(pnc_zarr_changes *changes)
{
    pnc_memory_free(changes->at);
    *changes = (pnc_zarr_changes){.n = 0};
}

/* The next change of a list; false: there is none, or it is damaged. */
static bool take_change(const pnc_zarr_changes *changes, int64_t *at, change_head *head, const char **key)
{
    int64_t left = changes->n - *at - (int64_t)sizeof *head;

    if (left < 0)
        return false;
    memcpy(head, changes->at + *at, sizeof *head);
    *key = changes->at + *at + sizeof *head;
    if (head->key_bytes < 2 || head->key_bytes > left || head->key_bytes > PNC_OBJECTS_KEY_MOST || head->n < 0 ||
        head->n > left - head->key_bytes || (*key)[head->key_bytes - 1] != '\0' ||
        strlen(*key) + 1 != (size_t)head->key_bytes ||
        (head->kind != PNC_ZARR_CHANGE_NAME && head->kind != PNC_ZARR_CHANGE_INDEX))
        return false;
    *at += (int64_t)sizeof *head + head->key_bytes + head->n;
    return head->digest == get_digest(head, *key, *key + head->key_bytes);
}

/* --- making changes --- */

/* It may have been done before. */
static int give_name(const pnc_objects *objects, int64_t id, const char *key, pnc_error *error)
{
    pnc_zarr_key from = pnc_zarr_temporary_make(key, id);
    int64_t size;

    PNC_TRY(objects->ops->find(objects, from.text, &size, error));
    if (size >= 0)
        return objects->ops->rename(objects, from.text, key, error);
    PNC_TRY(objects->ops->find(objects, key, &size, error));
    if (size >= 0)
        return NC_NOERR;
    return pnc_error_set(error, NC_ENCZARR, "%s/%s: it is lost, and so is the object that was to replace it",
                         objects->path, key);
}

static int replace_index(const pnc_objects *objects, const char *key, const void *bytes, int64_t n, pnc_error *error)
{
    int64_t size;

    PNC_TRY(objects->ops->find(objects, key, &size, error));
    if (size < n)
        return pnc_error_set(error, NC_ENCZARR, "%s/%s: it is lost, or shorter than its index", objects->path, key);
    PNC_TRY(objects->ops->write(objects, key, 0, bytes, n, error));
    return objects->ops->sync(objects, key, error);
}

/* The folder of a key; one that is too long has no object. */
static void find_folder_of_key(const char *key, pnc_zarr_key *out)
{
    const char *slash = strrchr(key, '/');

    snprintf(out->text, sizeof out->text, "%.*s", slash == NULL ? 0 : (int)(slash - key), key);
}

/* Names that follow each other are as a rule in one folder, which is flushed once. */
int pnc_zarr_changes_apply(const pnc_objects *objects, int64_t id, const pnc_zarr_changes *changes, pnc_error *error)
{
    pnc_zarr_key flushed = {""}, parent;
    bool is_flushed = true;
    change_head head;
    const char *key;

    for (int64_t at = 0; take_change(changes, &at, &head, &key);) {
        if (head.kind == PNC_ZARR_CHANGE_INDEX) {
            PNC_TRY(replace_index(objects, key, key + head.key_bytes, head.n, error));
            continue;
        }
        find_folder_of_key(key, &parent);
        if (!is_flushed && strcmp(parent.text, flushed.text) != 0)
            PNC_TRY(objects->ops->sync_names(objects, flushed.text, error));
        PNC_TRY(give_name(objects, id, key, error));
        flushed = parent;
        is_flushed = false;
    }
    return is_flushed ? NC_NOERR : objects->ops->sync_names(objects, flushed.text, error);
}

/* --- the log --- */

int pnc_zarr_log_write(const pnc_objects *objects, int64_t id, int64_t offset, const pnc_zarr_changes *changes,
                       pnc_error *error)
{
    pnc_zarr_key key = pnc_zarr_temporary_make(PNC_ZARR_LOG, id);

    if (changes->n == 0)
        return NC_NOERR;
    PNC_TRY(objects->ops->write(objects, key.text, (int64_t)sizeof(log_head) + offset, changes->at, changes->n, error));
    return objects->ops->sync(objects, key.text, error);
}

int pnc_zarr_log_begin(const pnc_objects *objects, int64_t id, const pnc_zarr_changes *all, pnc_error *error)
{
    pnc_zarr_key key = pnc_zarr_temporary_make(PNC_ZARR_LOG, id);
    log_head head = {.magic = MAGIC, .id = id, .n = all->n, .count = all->count, .sum = all->sum};
    int err;

    head.digest = pnc_digest_add(PNC_DIGEST_START, &head, (int64_t)offsetof(log_head, digest));
    PNC_TRY(objects->ops->write(objects, key.text, 0, &head, sizeof head, error));
    PNC_TRY(objects->ops->sync(objects, key.text, error));
    PNC_TRY(objects->ops->rename(objects, key.text, PNC_ZARR_LOG, error));
    err = objects->ops->sync_names(objects, "", error);
    if (err != NC_NOERR)
        (void)objects->ops->remove(objects, PNC_ZARR_LOG, NULL);
    return err;
}

int pnc_zarr_log_end(const pnc_objects *objects, pnc_error *error)
{
    PNC_TRY(objects->ops->remove(objects, PNC_ZARR_LOG, error));
    return objects->ops->sync_names(objects, "", error);
}

void pnc_zarr_log_discard(const pnc_objects *objects, int64_t id)
{
    (void)objects->ops->remove(objects, pnc_zarr_temporary_make(PNC_ZARR_LOG, id).text, NULL);
}

/* A log that is read in portions of whole changes. */
typedef struct log_reader {
    const pnc_objects *objects;
    log_head head;
    pnc_error *error;
    int64_t at; /* bytes of changes that were read */
    char *bytes;
    int64_t capacity;
} log_reader;

static int fail_log(const log_reader *r)
{
    return pnc_error_set(r->error, NC_ENCZARR,
                         "%s/" PNC_ZARR_LOG
                         ": the log of a program that has died while it changed the store is damaged: some values "
                         "may be old and others new; delete it to keep the store as it is",
                         r->objects->path);
}

static int read_log_head(log_reader *r, int64_t size)
{
    log_head *head = &r->head;

    if (size < (int64_t)sizeof *head)
        return fail_log(r);
    PNC_TRY(r->objects->ops->read(r->objects, PNC_ZARR_LOG, 0, head, sizeof *head, r->error));
    if (head->magic != MAGIC || head->digest != pnc_digest_add(PNC_DIGEST_START, head, offsetof(log_head, digest)) ||
        head->n < 0 || head->n > size - (int64_t)sizeof *head)
        return fail_log(r);
    return NC_NOERR;
}

/* The whole changes at the start of these bytes. */
static void count_whole(const char *bytes, int64_t n, pnc_zarr_changes *out)
{
    const pnc_zarr_changes all = {.at = (char *)(uintptr_t)bytes, .n = n};
    change_head change;
    const char *key;

    *out = (pnc_zarr_changes){.at = all.at};
    while (take_change(&all, &out->n, &change, &key)) {
        out->sum += change.digest;
        out->count++;
    }
}

/* The next changes: as many as a portion has, or one that is larger. */
static int read_log_portion(log_reader *r, pnc_zarr_changes *out)
{
    int64_t left = r->head.n - r->at, n = pnc_min64(left, PNC_ZARR_PORTION);

    for (;; n = pnc_min64(pnc_min64(left, PNC_ZARR_CHANGE_MOST), 8 * n)) {
        if (!pnc_memory_grow(&r->bytes, &r->capacity, n, 1))
            return pnc_error_set(r->error, NC_ENOMEM, "%s/" PNC_ZARR_LOG ": no memory to read it", r->objects->path);
        PNC_TRY(
            r->objects->ops->read(r->objects, PNC_ZARR_LOG, (int64_t)sizeof r->head + r->at, r->bytes, n, r->error));
        count_whole(r->bytes, n, out);
        if (out->count > 0)
            break;
        if (n == left || n == PNC_ZARR_CHANGE_MOST)
            return fail_log(r);
    }
    r->at += out->n;
    return NC_NOERR;
}

/* Nothing is changed before all of the log has been found to be whole. */
static int check_log(log_reader *r)
{
    pnc_zarr_changes portion;
    int64_t count = 0;
    uint64_t sum = 0;

    for (r->at = 0; r->at < r->head.n; count += portion.count, sum += portion.sum)
        PNC_TRY(read_log_portion(r, &portion));
    return count == r->head.count && sum == r->head.sum ? NC_NOERR : fail_log(r);
}

static int complete_log(log_reader *r, int64_t size)
{
    pnc_zarr_changes portion;

    PNC_TRY(read_log_head(r, size));
    PNC_TRY(check_log(r));
    for (r->at = 0; r->at < r->head.n;) {
        PNC_TRY(read_log_portion(r, &portion));
        PNC_TRY(pnc_zarr_changes_apply(r->objects, r->head.id, &portion, r->error));
    }
    return pnc_zarr_log_end(r->objects, r->error);
}

int pnc_zarr_log_execute(const pnc_objects *objects, bool *found, pnc_error *error)
{
    log_reader r = {.objects = objects, .error = error};
    int64_t size = 0;
    int err;

    PNC_TRY(objects->ops->find(objects, PNC_ZARR_LOG, &size, error));
    *found = size >= 0;
    if (!*found)
        return NC_NOERR;
    err = complete_log(&r, size);
    pnc_memory_free(r.bytes);
    return err;
}
