/* Whether the header in the file is the one that this handle knows. First bytes are compared. If they differ, the
 * header in the file is decoded: other writers encode the same definitions by other bytes. */
#include "formats/classic/header_check.h"

#include <string.h>

#include "base/memory.h"
#include "formats/classic/header_change.h"
#include "formats/classic/headerio.h"

enum { PORTION = 1 << 20 };

static int fail_stale(pnc_format *f)
{
    return pnc_error_set(f->file->error, NC_ESTALE,
                         "%s: another program, or another ncid, has changed the header since this ncid read it; "
                         "nothing was written: close this ncid and open the file again",
                         f->file->path);
}

/* --- an entry --- */

static int check_decoded_entry(pnc_format *f, pnc_entry entry)
{
    pnc_model found = {0};
    int err = pnc_classic_header_read(f, &found);

    if (err == NC_NOERR && !pnc_format_entry_is_same(f->model, &found, entry))
        err = fail_stale(f);
    pnc_format_model_free(&found);
    return err;
}

/* Read the magic number and the bytes at the place of the entry: at once, if both are in the first page. */
static int read_place(pnc_format *f, pnc_extent place, char *magic, char *bytes)
{
    char page[PNC_HEADER_PAGE];
    int64_t end = place.offset + place.length;

    if (place.offset > 0 && end <= PNC_HEADER_PAGE) {
        PNC_TRY(pnc_file_range_read(f->file, (pnc_extent){0, end}, page));
        memcpy(magic, page, PNC_MAGIC_BYTES);
        memcpy(bytes, page + place.offset, (size_t)place.length);
        return NC_NOERR;
    }
    PNC_TRY(pnc_file_range_read(f->file, place, bytes));
    if (place.offset == 0) {
        memcpy(magic, bytes, PNC_MAGIC_BYTES);
        return NC_NOERR;
    }
    return pnc_file_range_read(f->file, (pnc_extent){0, PNC_MAGIC_BYTES}, magic);
}

/* numrecs, which follows the magic number, may differ. */
static void set_numrecs(const pnc_model *model, char *bytes)
{
    char numrecs[8];
    int n = pnc_format_numrecs_encode(model, numrecs);

    memcpy(bytes + PNC_MAGIC_BYTES, numrecs, (size_t)n);
}

int pnc_classic_header_entry_check(pnc_format *f, pnc_entry entry, bool *is_known)
{
    pnc_extent place = {pnc_format_entry_get_anchor(f->model, entry), 0};
    char magic[PNC_MAGIC_BYTES], *known, *found;
    int err;

    *is_known = true;
    if (f->file->rank != 0 ||
        pnc_classic_state_get(f)->unrestored != PNC_RESTORED) /* the write restores what this handle knows */
        return NC_NOERR;
    place.length = pnc_format_entry_encode(f->model, entry, NULL);
    known = pnc_memory_alloc(place.length, 2);
    if (known == NULL)
        return pnc_formats_memory_fail(f, 2 * place.length);
    found = known + place.length;
    pnc_format_entry_encode(f->model, entry, known);
    err = read_place(f, place, magic, found);
    if (err == NC_NOERR) {
        if (place.offset == 0)
            set_numrecs(f->model, found);
        *is_known = !pnc_format_magic_is_marked(magic) && memcmp(known, found, (size_t)place.length) == 0;
    }
    pnc_memory_free(known);
    return err != NC_NOERR || *is_known ? err : check_decoded_entry(f, entry);
}

/* --- all of it --- */

static int compare_decoded(pnc_format *f, pnc_model *found, const char *known, int64_t n)
{
    char *bytes;
    bool is_same;

    if (pnc_format_header_get_size(found) != n)
        return fail_stale(f);
    bytes = pnc_memory_alloc(n, 1);
    if (bytes == NULL)
        return pnc_formats_memory_fail(f, n);
    found->numrecs = f->before->numrecs;
    pnc_format_header_encode(found, bytes);
    is_same = memcmp(known, bytes, (size_t)n) == 0;
    pnc_memory_free(bytes);
    return is_same ? NC_NOERR : fail_stale(f);
}

static int check_decoded(pnc_format *f, const char *known, int64_t n)
{
    pnc_model found = {0};
    int err = pnc_classic_header_read(f, &found);

    if (err == NC_NOERR)
        err = compare_decoded(f, &found, known, n);
    pnc_format_model_free(&found);
    return err;
}

/* Whether the file has these bytes, and any number of records, which is copied from it. Memory for a portion only: a
 * header may be large. */
static int compare_portions(pnc_format *f, char *known, int64_t n, bool *is_same)
{
    int64_t most = n < PORTION ? n : PORTION;
    char *found = pnc_memory_alloc(most, 1);
    int err = found == NULL ? pnc_formats_memory_fail(f, most) : NC_NOERR;

    *is_same = true;
    for (int64_t at = 0; at < n && err == NC_NOERR && *is_same; at += most) {
        pnc_extent portion = {at, n - at < most ? n - at : most};

        err = pnc_file_range_read(f->file, portion, found);
        if (err == NC_NOERR && at == 0)
            memcpy(known + PNC_MAGIC_BYTES, found + PNC_MAGIC_BYTES,
                   (size_t)pnc_format_numrecs_encode(f->before, NULL));
        *is_same = err == NC_NOERR && memcmp(known + at, found, (size_t)portion.length) == 0;
    }
    pnc_memory_free(found);
    return err;
}

int pnc_classic_header_check(pnc_format *f, char *old, int64_t n, bool *is_known)
{
    pnc_format_header_encode(f->before, old);
    PNC_TRY(compare_portions(f, old, n, is_known));
    if (*is_known)
        return NC_NOERR;
    set_numrecs(f->before, old);
    PNC_TRY(check_decoded(f, old, n));
    return pnc_file_range_read(f->file, (pnc_extent){0, n}, old);
}
