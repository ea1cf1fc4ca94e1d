/* Changing bytes of several pages of a header, so that no death leaves a part of them. */
#include "growth/patch.h"

#include <string.h>

#include "base/memory.h"
#include "format/codec.h"
#include "growth/life.h"
#include "growth/number.h"

enum { NUMBERS = 3, FOOT = 8 + 8 * NUMBERS + 8 };

/* With slots for the owner, and without. */
static const char magic_of_patch[9] = "PNCpatc2", magic_without[9] = "PNCpatc1";

/* --- the journal --- */

/* Read from a file. */
typedef struct found_patch {
    pnc_growth_patch patch;
    char *bytes; /* before, after, and the foot */
} found_patch;

/* Bytes that the digest is of, and the digest. */
static int64_t measure_body(int64_t length)
{
    return 2 * length + FOOT;
}

static int64_t measure_journal(const pnc_growth_patch *p)
{
    return measure_body(p->where.length) + (p->has_owner ? PNC_OWNER_BYTES : 0);
}

/* digest: of the bytes before and after. */
static void encode_foot(const pnc_growth_patch *p, pnc_growth_digest *digest, char *foot)
{
    const int64_t numbers[NUMBERS] = {p->new_size, p->where.offset, p->where.length};
    char *to = foot + 8;

    memcpy(foot, p->has_owner ? magic_of_patch : magic_without, 8);
    for (size_t i = 0; i < NUMBERS; i++)
        to = pnc_growth_number_encode(to, numbers[i]);
    pnc_growth_digest_add(digest, foot, to - foot);
    pnc_growth_number_encode(to, pnc_growth_digest_end(digest));
}

/* No number of a damaged file leads to an overflow or to more memory than the file has bytes. */
static bool decode_foot(const char *foot, int64_t file_size, pnc_growth_patch *out)
{
    pnc_growth_patch p = {.new_size = pnc_growth_number_decode(foot + 8),
                          .where = {pnc_growth_number_decode(foot + 16), pnc_growth_number_decode(foot + 24)},
                          .has_owner = memcmp(foot, magic_of_patch, 8) == 0};

    if ((!p.has_owner && memcmp(foot, magic_without, 8) != 0) || p.where.offset < PNC_MAGIC_BYTES ||
        p.where.length <= 0 || p.where.length > (file_size - FOOT) / 2 ||
        p.new_size != file_size - measure_journal(&p) || p.where.offset > p.new_size - p.where.length)
        return false;
    *out = p;
    return true;
}

static void discard(found_patch *found)
{
    pnc_memory_free(found->bytes);
    found->bytes = NULL;
}

/* out->bytes stays NULL after an error, and if the file does not end with a journal that is whole. */
static int read_journal(const pnc_growth_io *io, int64_t file_size, found_patch *out)
{
    char foot[FOOT];
    pnc_extent extent = {file_size - FOOT, FOOT};
    int64_t n;
    int err;

    if (extent.offset < 0)
        return NC_NOERR;
    PNC_TRY(io->read(io->file, &extent, 1, foot));
    if (!decode_foot(foot, file_size, &out->patch))
        return NC_NOERR;
    n = measure_body(out->patch.where.length);
    out->bytes = pnc_memory_alloc(n, 1);
    if (out->bytes == NULL)
        return pnc_growth_memory_fail(io, n);
    err = pnc_growth_bytes_read(io, file_size - n, out->bytes, n);
    if (err != NC_NOERR || pnc_growth_number_decode(out->bytes + n - 8) != pnc_growth_digest_get(out->bytes, n - 8))
        discard(out);
    return err;
}

/* --- change and undo --- */

static int put_journal(const pnc_growth_io *io, const pnc_growth_patch *p)
{
    char owner[PNC_OWNER_BYTES], foot[FOOT];
    pnc_growth_writer w;

    pnc_growth_life_encode(io, owner);
    pnc_growth_writer_begin(&w, io, p->new_size);
    PNC_TRY(pnc_growth_writer_put(&w, owner, PNC_OWNER_BYTES));
    w.digest = pnc_growth_digest_begin(); /* records of owners have their own */
    PNC_TRY(pnc_growth_writer_put(&w, p->before, p->where.length));
    PNC_TRY(pnc_growth_writer_put(&w, p->after, p->where.length));
    encode_foot(p, &w.digest, foot);
    PNC_TRY(pnc_growth_writer_put(&w, foot, FOOT));
    PNC_TRY(pnc_growth_writer_end(&w));
    io->life->at = p->new_size;
    return NC_NOERR;
}

/* The file has the journal. */
static int put_bytes(const pnc_growth_io *io, const pnc_growth_patch *p, const char *bytes)
{
    PNC_TRY(pnc_growth_mark_write(io, p->format, true));
    PNC_TRY(pnc_growth_bytes_write(io, p->where.offset, bytes, p->where.length));
    return pnc_growth_mark_write(io, p->format, false);
}

int pnc_growth_patch_execute(const pnc_growth_io *io, pnc_growth_patch *p)
{
    int err;

    p->has_owner = true;
    p->is_exposed = false;
    err = io->rank == 0 ? put_journal(io, p) : NC_NOERR;
    PNC_TRY(io->agree(io->file, err));
    p->is_exposed = true;
    if (io->rank == 0)
        err = put_bytes(io, p, p->after);
    if (io->rank == 0 && err == NC_NOERR)
        err = pnc_growth_life_check(io);
    PNC_TRY(io->agree(io->file, err));
    return io->set_size(io->file, p->new_size);
}

/* What failed may have removed the journal. */
static int restore_bytes(const pnc_growth_io *io, const pnc_growth_patch *p)
{
    if (p->before == NULL)
        return pnc_growth_memory_fail(io, 2 * p->where.length);
    PNC_TRY(put_journal(io, p));
    return put_bytes(io, p, p->before);
}

int pnc_growth_patch_restore(const pnc_growth_io *io, pnc_growth_patch *p)
{
    bool is_lost;
    int err = NC_NOERR;

    PNC_TRY(pnc_growth_life_examine(io, &is_lost));
    if (is_lost)
        return NC_NOERR;
    if (p->is_exposed && io->rank == 0)
        err = restore_bytes(io, p);
    PNC_TRY(io->agree(io->file, err));
    p->is_exposed = false;
    pnc_growth_size_restore(io, p->old_size);
    return NC_NOERR;
}

int pnc_growth_patch_undo(const pnc_growth_io *io, pnc_growth_patch *p)
{
    pnc_error cause = pnc_growth_cause_get(io);
    int err = pnc_growth_patch_restore(io, p);

    if (err != NC_NOERR && p->is_exposed)
        pnc_growth_undo_fail(io, &cause);
    return p->is_exposed ? err : NC_NOERR;
}

void pnc_growth_patch_keep(const pnc_growth_io *io, pnc_growth_patch *p)
{
    size_t n = (size_t)p->where.length;

    p->kept = io->rank == 0 ? pnc_memory_alloc((int64_t)n, 2) : NULL;
    if (p->kept != NULL) {
        memcpy(p->kept, p->before, n);
        memcpy(p->kept + n, p->after, n);
    }
    p->before = p->kept;
    p->after = p->kept == NULL ? NULL : p->kept + n;
}

void pnc_growth_patch_free(pnc_growth_patch *p)
{
    pnc_memory_free(p->kept);
    *p = (pnc_growth_patch){.kept = NULL};
}

/* --- repair --- */

/* A death leaves each byte as it was, or as it becomes. */
static int check_bytes(const pnc_growth_io *io, const pnc_growth_patch *p)
{
    char *bytes = pnc_memory_alloc(p->where.length, 1);
    int err = bytes == NULL ? pnc_growth_memory_fail(io, p->where.length)
                            : pnc_growth_bytes_read(io, p->where.offset, bytes, p->where.length);

    for (int64_t i = 0; i < p->where.length && err == NC_NOERR; i++)
        if (bytes[i] != p->before[i] && bytes[i] != p->after[i])
            err = pnc_error_set(io->error, NC_EINTERRUPTED,
                                "%s: the journal of a change of the header, at the end of the file, is of other bytes "
                                "than byte %lld of the file; nothing was changed",
                                io->path, (long long)(p->where.offset + i));
    pnc_memory_free(bytes);
    return err;
}

static int complete(const pnc_growth_io *io, const found_patch *found, pnc_growth_outcome *outcome)
{
    PNC_TRY(check_bytes(io, &found->patch));
    PNC_TRY(pnc_growth_owner_replace(io));
    PNC_TRY(put_bytes(io, &found->patch, found->patch.after));
    *outcome = PNC_GROWTH_COMPLETED;
    return io->set_size(io->file, found->patch.new_size);
}

/* A file without the mark: the journal is removed if the file has the bytes before the change, or those after it. What
 * is before the journal stays: since the death, another program may have put values there. */
static int remove_journal(const pnc_growth_io *io, const found_patch *found, pnc_growth_outcome *outcome)
{
    const pnc_growth_patch *p = &found->patch;
    char *bytes = pnc_memory_alloc(p->where.length, 1);
    int err = bytes == NULL ? pnc_growth_memory_fail(io, p->where.length)
                            : pnc_growth_bytes_read(io, p->where.offset, bytes, p->where.length);

    if (err == NC_NOERR && memcmp(bytes, p->after, (size_t)p->where.length) == 0)
        *outcome = PNC_GROWTH_COMPLETED;
    else if (err == NC_NOERR && memcmp(bytes, p->before, (size_t)p->where.length) == 0)
        *outcome = PNC_GROWTH_REVERTED;
    pnc_memory_free(bytes);
    if (err != NC_NOERR || *outcome == PNC_GROWTH_NONE)
        return err;
    return io->set_size(io->file, p->new_size);
}

int pnc_growth_patch_repair(const pnc_growth_io *io, int64_t file_size, const char *magic, pnc_growth_outcome *outcome)
{
    found_patch found = {.bytes = NULL};
    int err = read_journal(io, file_size, &found);

    if (found.bytes != NULL) {
        found.patch.format = magic[PNC_MAGIC_BYTES - 1] & ~PNC_MAGIC_MARK;
        found.patch.before = found.bytes;
        found.patch.after = found.bytes + found.patch.where.length;
        err = pnc_format_magic_is_marked(magic) ? complete(io, &found, outcome) : remove_journal(io, &found, outcome);
        discard(&found);
    }
    return err;
}

bool pnc_growth_patch_find_owner(const char *end, int64_t file_size, int64_t *at)
{
    pnc_growth_patch patch;

    if (!decode_foot(end - FOOT, file_size, &patch))
        return false;
    *at = patch.has_owner ? patch.new_size : -1;
    return true;
}
