/* Fuzz target of repairs: whatever the journal at the end of a file, its digests being right, a repair ends, and writes
 * nothing beyond the end of the file. Either it refuses the journal and the file is as it was, or it completes the
 * change.
 *
 * An input is a journal without the data and the zeros before it:
 *     'g' or 'v' (the file system is in memory), 8 numbers of the journal, 4 numbers of each of two states, the old
 *     header, the new header, the fill modes
 *     'p', 3 numbers of a patch, the bytes before and after it
 * The target puts a file together from that, and computes the digests. Numbers have 8 bytes, big-endian.
 *
 * For longer runs with clang's libFuzzer, from a build folder, as for fuzz_codec.c:
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -I$SRC/src -Isrc -I$SRC/test/fuzz $SRC/test/fuzz/fuzz_journal.c
 *         $SRC/src/base/[a-z]*.c $SRC/src/format/[a-bd-z]*.c $SRC/src/format/c[ho]*.c $SRC/src/growth/[a-z]*.c
 *         $SRC/src/select/[a-z]*.c -lutf8proc    (one command)
 * make_journals.py writes the corpus in test/fuzz/journals. */
#include <string.h>

#include "format/codec.h"
#include "growth/growth.h"
#include "growth/life.h"
#include "growth/number.h"
#include "replay.h"

enum { MOST = 1 << 18, NUMBERS = 8, STATE = 4, START = 8 * (NUMBERS + 2 * STATE), PATCH = 3, PATCH_FOOT = 40 };

/* A file in memory. */
typedef struct image {
    char *bytes;
    int64_t size, most;            /* now, and before the repair */
    int64_t accesses, transferred; /* bytes */
} image;

static int access_extents(image *f, const pnc_extent *extents, int64_t n, char *to, const char *from)
{
    for (int64_t i = 0, at = 0; i < n; at += extents[i].length, i++) {
        REQUIRE(extents[i].offset >= 0 && extents[i].length >= 0);
        REQUIRE(extents[i].offset <= f->most - extents[i].length);
        if (to != NULL)
            memcpy(to + at, f->bytes + extents[i].offset, (size_t)extents[i].length);
        else
            memcpy(f->bytes + extents[i].offset, from + at, (size_t)extents[i].length);
        f->transferred += extents[i].length;
    }
    f->accesses++;
    REQUIRE(f->accesses < f->most + 1000); /* a step of the move has at least one byte */
    REQUIRE(f->transferred < 12 * f->most + 100000);
    return NC_NOERR;
}

static int read_extents(void *file, const pnc_extent *extents, int64_t n, void *bytes)
{
    return access_extents(file, extents, n, bytes, NULL);
}

static int write_extents(void *file, const pnc_extent *extents, int64_t n, const void *bytes)
{
    return access_extents(file, extents, n, NULL, bytes);
}

static int agree(void *file, int err)
{
    (void)file;
    return err;
}

static int sync_file(void *file)
{
    return access_extents(file, NULL, 0, NULL, NULL);
}

static int set_size(void *file, int64_t size)
{
    image *f = file;

    REQUIRE(size >= 0 && size <= f->most);
    f->size = size;
    return NC_NOERR;
}

/* The program has died. */
static pnc_held hold(void *file, pnc_hold kind)
{
    (void)file;
    (void)kind;
    return PNC_HELD;
}

static void identify(void *file, pnc_growth_program *own)
{
    (void)file;
    own->id = 1;
    own->is_local = true;
}

static void put_owner(char *slots)
{
    pnc_growth_life life = {.owner = {.id = 2, .is_locked = true, .is_local = true}};
    pnc_growth_io io = {.life = &life};

    pnc_growth_life_encode(&io, slots);
}

static int repair(image *f, bool is_volatile, pnc_growth_outcome *outcome)
{
    pnc_error error = {0};
    pnc_growth_life life;
    pnc_growth_io io = {.file = f,
                        .path = "image",
                        .nprocs = 1,
                        .is_volatile = is_volatile,
                        .life = &life,
                        .error = &error,
                        .read = read_extents,
                        .write = write_extents,
                        .agree = agree,
                        .sync = sync_file,
                        .set_size = set_size,
                        .hold = hold,
                        .identify = identify};
    int err = pnc_growth_life_begin(&io);

    REQUIRE(err == NC_NOERR);
    err = pnc_growth_file_repair(&io, f->size, outcome);

    REQUIRE(err == NC_NOERR || (err == NC_EINTERRUPTED && error.text[0] != '\0'));
    return err;
}

static void require_dataset(const image *f)
{
    pnc_growth_outcome again;
    pnc_model model;
    int64_t need = 0;
    image copy = *f;

    REQUIRE(pnc_format_header_decode(f->bytes, f->size, f->size, &model, &need, NULL) == NC_NOERR);
    pnc_format_model_free(&model);
    REQUIRE(repair(&copy, false, &again) == NC_NOERR && again != PNC_GROWTH_COMPLETED);
}

static void check(image *f, bool is_volatile, bool has_headers)
{
    char *before = malloc((size_t)f->size);
    pnc_growth_outcome outcome;
    int err;

    REQUIRE(before != NULL);
    memcpy(before, f->bytes, (size_t)f->size);
    err = repair(f, is_volatile, &outcome);
    if (err != NC_NOERR)
        REQUIRE(f->size == f->most && memcmp(before, f->bytes, (size_t)f->size) == 0);
    else
        REQUIRE(outcome == PNC_GROWTH_COMPLETED);
    if (err == NC_NOERR && has_headers)
        require_dataset(f);
    free(before);
}

/* A marked file with a journal of these numbers. False: this input cannot be one. */
static bool make_growth(const uint8_t *data, int64_t size, image *f)
{
    const char *numbers = (const char *)data, *bytes = numbers + START;
    int64_t n[NUMBERS + 2 * STATE];
    pnc_growth_digest digest = pnc_growth_digest_begin();
    char *to;
    pnc_journal j;

    if (size < START + PNC_MAGIC_BYTES)
        return false;
    for (int i = 0; i < NUMBERS + 2 * STATE; i++)
        n[i] = pnc_growth_number_decode(numbers + 8 * i);
    j = (pnc_journal){.old_size = n[0],
                      .new_size = n[1],
                      .scratch = n[2],
                      .half = n[3],
                      .at = n[4],
                      .old_header = n[5],
                      .new_header = n[6],
                      .nvars = n[7]};
    if (j.at < size - START + PNC_OWNER_BYTES || j.at > MOST || j.old_header < 0 || j.old_header > size ||
        j.new_header < 0 || j.new_header > size || j.nvars < 0 || j.nvars > size ||
        j.old_header + j.new_header + j.nvars != size - START)
        return false;
    f->size = f->most = pnc_growth_journal_get_end(&j);
    f->bytes = calloc((size_t)f->size, 1);
    REQUIRE(f->bytes != NULL);
    memcpy(f->bytes, bytes, (size_t)j.old_header);
    memcpy(f->bytes, "CDF", 3);
    f->bytes[3] = (char)(bytes[3] | PNC_MAGIC_MARK);
    j.owner = j.at - PNC_OWNER_BYTES;
    put_owner(f->bytes + j.owner);
    to = f->bytes + j.at;
    for (int i = 0; i < 2; i++) {
        const int64_t *s = n + NUMBERS + i * STATE;
        pnc_growth_state_encode(&(pnc_growth_state){s[1], s[2], s[3]}, s[0], to + i * PNC_JOURNAL_SLOT);
    }
    memcpy(to + PNC_JOURNAL_SLOTS, bytes, (size_t)(size - START));
    pnc_growth_digest_add(&digest, bytes, size - START);
    pnc_growth_journal_encode_foot(&j, &digest, f->bytes + f->size - PNC_JOURNAL_FOOT);
    return true;
}

/* The bytes before and after the patch are at the end of the file, which has the former at the offset of the patch. */
static bool make_patch(const uint8_t *data, int64_t size, image *f)
{
    const char *numbers = (const char *)data, *bytes = numbers + 8 * PATCH;
    int64_t n = size - 8 * PATCH, end, offset;
    char *to;

    if (n < 0)
        return false;
    end = pnc_growth_number_decode(numbers);
    offset = pnc_growth_number_decode(numbers + 8);
    if (end < PNC_MAGIC_BYTES || end > MOST)
        end = 1000;
    f->size = f->most = end + PNC_OWNER_BYTES + n + PATCH_FOOT;
    f->bytes = calloc((size_t)f->size, 1);
    REQUIRE(f->bytes != NULL);
    if (offset >= PNC_MAGIC_BYTES && offset <= end - n / 2)
        memcpy(f->bytes + offset, bytes, (size_t)n / 2);
    memcpy(f->bytes, "CDF\x85", 4);
    put_owner(f->bytes + end);
    to = f->bytes + end + PNC_OWNER_BYTES;
    memcpy(to, bytes, (size_t)n);
    memcpy(to + n, "PNCpatc2", 8);
    memcpy(to + n + 8, numbers, 8 * PATCH);
    pnc_growth_number_encode(to + n + PATCH_FOOT - 8, pnc_growth_digest_get(to, n + PATCH_FOOT - 8));
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    image f = {NULL, 0, 0, 0, 0};
    bool is_patch = size > 0 && data[0] == 'p';

    if (size > 0 && size < MOST &&
        (is_patch ? make_patch(data + 1, (int64_t)size - 1, &f) : make_growth(data + 1, (int64_t)size - 1, &f)))
        check(&f, data[0] == 'v', !is_patch);
    free(f.bytes);
    return 0;
}

#ifdef PNC_FUZZ_REPLAY
int main(int argc, char **argv)
{
    return replay(argc, argv, "journals");
}
#endif
