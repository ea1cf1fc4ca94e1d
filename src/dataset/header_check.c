/* Whether the header in the file is the one that this handle knows. First bytes are compared. If they differ, the
 * header in the file is decoded: other writers encode the same definitions by other bytes. */
#include "dataset/header_check.h"

#include <string.h>

#include "base/memory.h"
#include "dataset/header_change.h"
#include "dataset/headerio.h"

enum { PORTION = 1 << 20 };

static int fail(pnc_dataset *ds)
{
    return pnc_error_set(&ds->error, NC_ESTALE,
                         "%s: another program, or another ncid, has changed the header since this ncid read it; "
                         "nothing was written: close this ncid and open the file again",
                         ds->file.path);
}

/* --- an entry --- */

static int check_decoded_entry(pnc_dataset *ds, pnc_entry entry)
{
    pnc_model found = {0};
    int err = pnc_dataset_header_load(ds, &found);

    if (err == NC_NOERR && !pnc_format_entry_is_same(&ds->model, &found, entry))
        err = fail(ds);
    pnc_format_model_free(&found);
    return err;
}

/* Read the magic number and the bytes at the place of the entry: at once, if both are in the first page. */
static int read_place(pnc_dataset *ds, pnc_extent place, char *magic, char *bytes)
{
    char page[PNC_HEADER_PAGE];
    int64_t end = place.offset + place.length;

    if (place.offset > 0 && end <= PNC_HEADER_PAGE) {
        PNC_TRY(pnc_file_range_read(&ds->file, (pnc_extent){0, end}, page));
        memcpy(magic, page, PNC_MAGIC_BYTES);
        memcpy(bytes, page + place.offset, (size_t)place.length);
        return NC_NOERR;
    }
    PNC_TRY(pnc_file_range_read(&ds->file, place, bytes));
    if (place.offset == 0) {
        memcpy(magic, bytes, PNC_MAGIC_BYTES);
        return NC_NOERR;
    }
    return pnc_file_range_read(&ds->file, (pnc_extent){0, PNC_MAGIC_BYTES}, magic);
}

/* numrecs, which follows the magic number, may differ. */
static void set_numrecs(const pnc_model *model, char *bytes)
{
    char numrecs[8];
    int n = pnc_format_numrecs_encode(model, numrecs);

    memcpy(bytes + PNC_MAGIC_BYTES, numrecs, (size_t)n);
}

int pnc_dataset_header_entry_check(pnc_dataset *ds, pnc_entry entry, bool *is_known)
{
    pnc_extent place = {pnc_format_entry_get_anchor(&ds->model, entry), 0};
    char magic[PNC_MAGIC_BYTES], *known, *found;
    int err;

    *is_known = true;
    if (ds->file.rank != 0 || ds->unrestored != PNC_RESTORED) /* the write restores what this handle knows */
        return NC_NOERR;
    place.length = pnc_format_entry_encode(&ds->model, entry, NULL);
    known = pnc_memory_alloc(place.length, 2);
    if (known == NULL)
        return pnc_dataset_header_memory_fail(ds, 2 * place.length);
    found = known + place.length;
    pnc_format_entry_encode(&ds->model, entry, known);
    err = read_place(ds, place, magic, found);
    if (err == NC_NOERR) {
        if (place.offset == 0)
            set_numrecs(&ds->model, found);
        *is_known = !pnc_format_magic_is_marked(magic) && memcmp(known, found, (size_t)place.length) == 0;
    }
    pnc_memory_free(known);
    return err != NC_NOERR || *is_known ? err : check_decoded_entry(ds, entry);
}

/* --- all of it --- */

static int compare_decoded(pnc_dataset *ds, pnc_model *found, const char *known, int64_t n)
{
    char *bytes;
    bool is_same;

    if (pnc_format_header_get_size(found) != n)
        return fail(ds);
    bytes = pnc_memory_alloc(n, 1);
    if (bytes == NULL)
        return pnc_dataset_header_memory_fail(ds, n);
    found->numrecs = ds->before->numrecs;
    pnc_format_header_encode(found, bytes);
    is_same = memcmp(known, bytes, (size_t)n) == 0;
    pnc_memory_free(bytes);
    return is_same ? NC_NOERR : fail(ds);
}

static int check_decoded(pnc_dataset *ds, const char *known, int64_t n)
{
    pnc_model found = {0};
    int err = pnc_dataset_header_load(ds, &found);

    if (err == NC_NOERR)
        err = compare_decoded(ds, &found, known, n);
    pnc_format_model_free(&found);
    return err;
}

/* Whether the file has these bytes, and any number of records, which is copied from it. Memory for a portion only: a
 * header may be large. */
static int compare_portions(pnc_dataset *ds, char *known, int64_t n, bool *is_same)
{
    int64_t most = n < PORTION ? n : PORTION;
    char *found = pnc_memory_alloc(most, 1);
    int err = found == NULL ? pnc_dataset_header_memory_fail(ds, most) : NC_NOERR;

    *is_same = true;
    for (int64_t at = 0; at < n && err == NC_NOERR && *is_same; at += most) {
        pnc_extent portion = {at, n - at < most ? n - at : most};

        err = pnc_file_range_read(&ds->file, portion, found);
        if (err == NC_NOERR && at == 0)
            memcpy(known + PNC_MAGIC_BYTES, found + PNC_MAGIC_BYTES,
                   (size_t)pnc_format_numrecs_encode(ds->before, NULL));
        *is_same = err == NC_NOERR && memcmp(known + at, found, (size_t)portion.length) == 0;
    }
    pnc_memory_free(found);
    return err;
}

int pnc_dataset_header_check(pnc_dataset *ds, char *old, int64_t n, bool *is_known)
{
    pnc_format_header_encode(ds->before, old);
    PNC_TRY(compare_portions(ds, old, n, is_known));
    if (*is_known)
        return NC_NOERR;
    set_numrecs(ds->before, old);
    PNC_TRY(check_decoded(ds, old, n));
    return pnc_file_range_read(&ds->file, (pnc_extent){0, n}, old);
}
