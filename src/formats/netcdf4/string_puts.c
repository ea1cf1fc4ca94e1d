/* Strings that are put: rank 0 writes them by libhdf5, which keeps them in memory until they are committed, as it does
 * with metadata. Those of independent puts wait at their rank. */
#include <string.h>

#include "array/walk.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"
#include "file/gather.h"
#include "formats/netcdf4/netcdf4.h"
#include "formats/netcdf4/string_part.h"

/* Of a part, unless it has one string that is longer. */
#define PART_BYTES (INT64_C(1) << 20)
/* What rank 0 gets before it looks whether it has too much. */
#define ROUND_BYTES (INT64_C(8) << 20)
/* What it has at most when a round begins; then it commits. A guess: a commit takes some synchronous writes. */
#define UNCOMMITTED_BYTES (INT64_C(32) << 20)

/* Parts of this rank, in order: of a put, or those that wait. */
typedef struct part_source {
    pnc_netcdf4 *n;
    const pnc_format_string_put *put; /* NULL: those that wait */
    int64_t at;                       /* strings of the put, or bytes of those that wait, that were taken */
    int64_t left, allowed;            /* bytes: of all that follow, and of this round */
    int64_t given;                    /* of `at`: what rank 0 has given to libhdf5 */
    char *part;                       /* the last one of a put */
    int64_t capacity;
    int err; /* of this rank: no memory for a part, or of rank 0 when it writes */
} part_source;

/* --- parts --- */

/* The next part of a put, from string `first` on, appended to the bytes. The number of its strings; 0 without memory,
 * and for a part that is too large. */
static int64_t append_part(const pnc_netcdf4 *n, const pnc_format_string_put *put, int64_t first, char **bytes,
                           int64_t *used, int64_t *capacity)
{
    const int ndims = n->format.model->vars[put->varid]->ndims;
    int64_t start[PNC_STORAGE_DIMS_MOST], count[PNC_STORAGE_DIMS_MOST], taken = put->n - first, size;
    char *const *strings = put->strings + first;

    (void)pnc_netcdf4_string_part_count(strings, &taken, PART_BYTES);
    taken = pnc_array_range_take(ndims, put->count, first, taken, start, count);
    for (int d = 0; d < ndims; d++)
        start[d] += put->start[d];
    size = pnc_netcdf4_string_part_get_bytes(ndims, pnc_netcdf4_string_part_count(strings, &taken, INT64_MAX));
    if (!pnc_memory_grow(bytes, capacity, *used + size, 1))
        return 0;
    pnc_netcdf4_string_part_encode(put->varid, ndims, start, count, taken, strings, size, *bytes + *used);
    *used += size;
    return taken;
}

static bool next_put_part(part_source *s, const char **bytes, int64_t *size)
{
    int64_t used = 0, taken;

    if (s->at == s->put->n)
        return false;
    taken = append_part(s->n, s->put, s->at, &s->part, &used, &s->capacity);
    if (taken == 0) {
        s->err = pnc_formats_memory_fail(&s->n->format, PART_BYTES);
        return false;
    }
    s->left -= pnc_netcdf4_string_part_count(s->put->strings + s->at, &taken, INT64_MAX);
    s->at += taken;
    *bytes = s->part;
    *size = used;
    return true;
}

static bool next_waiting_part(part_source *s, const char **bytes, int64_t *size)
{
    pnc_string_part part;

    if (s->left == 0)
        return false;
    *bytes = s->n->strings.parts + s->at;
    *size = pnc_netcdf4_string_part_decode(*bytes, &part);
    s->at += *size;
    s->left -= *size;
    return true;
}

static bool next_source_part(void *own, const char **bytes, int64_t *size)
{
    part_source *s = own;
    const int64_t before = s->left;
    bool has = s->err == NC_NOERR && s->allowed > 0 &&
               (s->put != NULL ? next_put_part(s, bytes, size) : next_waiting_part(s, bytes, size));

    s->allowed -= before - s->left; /* without the head of a part, as the ranks have added them up */
    return has;
}

/* --- rank 0 --- */

/* libhdf5 allocates behind what the ranks have put there. */
static int begin_strings(pnc_netcdf4 *n)
{
    if (n->format.file->rank != 0)
        return NC_NOERR;
    PNC_TRY(pnc_netcdf4_handle_get(n));
    pnc_netcdf4_metadata_raise_end(n->metadata, pnc_max64(n->end, pnc_chunks_end_get(pnc_netcdf4_container_get(n))));
    return NC_NOERR;
}

static void write_string_part(void *own, const char *bytes, int64_t size)
{
    part_source *s = own;
    const char **strings;
    pnc_string_part part;

    (void)size;
    (void)pnc_netcdf4_string_part_decode(bytes, &part);
    strings = s->err == NC_NOERR ? pnc_memory_alloc(part.n, sizeof *strings) : NULL;
    if (strings == NULL) {
        if (s->err == NC_NOERR)
            s->err = pnc_formats_memory_fail(&s->n->format, part.n * (int64_t)sizeof *strings);
        return;
    }
    pnc_netcdf4_string_part_list(&part, strings);
    s->err = pnc_netcdf4_metadata_write_strings(s->n->metadata, s->n->content.storage[part.varid].path, part.ndims,
                                                part.start, part.count, (char *const *)strings);
    pnc_memory_free(strings);
}

/* --- rounds --- */

/* Collective. What libhdf5 has allocated belongs to no chunk; if rank 0 has too much in memory, the file gets it. */
static int end_round(pnc_netcdf4 *n, int err)
{
    pnc_file *file = n->format.file;
    int64_t state[2] = {0}; /* the end of what is allocated; whether rank 0 commits */
    int committed = NC_NOERR;

    if (file->rank == 0 && n->metadata != NULL) {
        state[0] = pnc_netcdf4_metadata_get_end(n->metadata);
        state[1] = err == NC_NOERR && pnc_netcdf4_metadata_get_pending_bytes(n->metadata) > UNCOMMITTED_BYTES;
    }
    pnc_file_bytes_broadcast(file, state, sizeof state, "the end of what is allocated");
    pnc_chunks_end_raise(pnc_netcdf4_container_get(n), state[0]);
    n->strings.are_dirty = n->index_dirty = file->unsynced = true;
    if (state[1] != 0 && !n->format.is_new) {
        committed = pnc_netcdf4_metadata_update(n, NC_NOERR);
        n->index_dirty = committed != NC_NOERR || n->parts_dirty;
    }
    return pnc_error_keep_first(err, committed);
}

/* Collective. *more: a rank may have parts that have not been sent. */
static int take_round(part_source *s, bool *more)
{
    const pnc_gather gather = {s, next_source_part, write_string_part};
    pnc_file *file = s->n->format.file;
    int64_t before = pnc_file_sum_scan(file, s->left), sums[2] = {s->left, s->left > 0 && before < ROUND_BYTES};
    bool sends = sums[1] != 0;

    pnc_file_sums_agree(file, sums, 2, "the bytes of strings");
    *more = sums[0] > ROUND_BYTES;
    if (sums[0] == 0)
        return pnc_file_status_agree(file, NC_NOERR);
    s->allowed = ROUND_BYTES - before;
    s->err = begin_strings(s->n);
    pnc_file_bytes_gather(file, &gather, sends, sums[1]);
    s->err = pnc_file_status_agree(file, s->err);
    if (s->err == NC_NOERR)
        s->given = s->at;
    return end_round(s->n, s->err);
}

/* Collective. Rank 0 writes the parts of all ranks. */
static int take_parts(part_source *s)
{
    bool more = true;
    int err = pnc_netcdf4_file_restore(&s->n->format);

    while (err == NC_NOERR && more)
        err = take_round(s, &more);
    pnc_memory_free(s->part);
    return err;
}

/* After an error those wait that libhdf5 does not have: if the others were put again, it would be after later puts. */
int pnc_netcdf4_strings_send(pnc_netcdf4 *n)
{
    part_source s = {.n = n, .left = n->strings.n};
    int err = take_parts(&s);

    if (s.given == n->strings.n) {
        pnc_netcdf4_strings_free(&n->strings);
    } else if (s.given > 0) {
        memmove(n->strings.parts, n->strings.parts + s.given, (size_t)(n->strings.n - s.given));
        n->strings.n -= s.given;
    }
    return err;
}

void pnc_netcdf4_strings_free(pnc_netcdf4_strings *strings)
{
    pnc_memory_free(strings->parts);
    strings->parts = NULL;
    strings->n = strings->capacity = 0;
}

/* --- puts --- */

static int check_string_obstacle(const pnc_netcdf4 *n, int varid)
{
    const pnc_netcdf4_storage *s = &n->content.storage[varid];
    const char *why = NULL;

    if (s->layout != PNC_NETCDF4_STRINGS)
        why = "are stored in a way in which this library only reads them";
    else if (s->obstacle == PNC_NETCDF4_HAS_LENGTH)
        why = "have one length in the file, which netCDF does not write";
    else if (s->obstacle == PNC_NETCDF4_IS_ALIAS)
        why = "are those of another variable, of which this one is a link: put them there";
    if (why == NULL)
        return NC_NOERR;
    return pnc_error_set(n->format.file->error, NC_ENOTSUPPORT, "%s: the strings of variable \"%s\" %s",
                         n->format.file->path, n->format.model->vars[varid]->name, why);
}

static uint64_t add_strings(const pnc_netcdf4 *n, const pnc_format_string_put *put, uint64_t digest)
{
    const int64_t ndims = n->format.model->vars[put->varid]->ndims;

    digest = pnc_digest_add(digest, &put->varid, sizeof put->varid);
    digest = pnc_digest_add(digest, put->start, ndims * (int64_t)sizeof *put->start);
    digest = pnc_digest_add(digest, put->count, ndims * (int64_t)sizeof *put->count);
    for (int64_t i = 0; i < put->n; i++) {
        int64_t length = put->strings[i] != NULL ? (int64_t)strlen(put->strings[i]) : -1;

        digest = pnc_digest_add(digest, &length, sizeof length);
        digest = pnc_digest_add(digest, put->strings[i], pnc_max64(length, 0));
    }
    return digest;
}

/* Collective. If all ranks with strings put the same, in the same place, the first of them does it: two digests with
 * different starts, so that no strings that differ are taken for the same ones. *wait: a rank has strings that could
 * not be put before. */
static int agree_put(pnc_netcdf4 *n, const pnc_format_string_put *put, int err, bool *sends, bool *wait)
{
    pnc_file *file = n->format.file;
    const bool has = err == NC_NOERR && put->n > 0;
    int64_t values[] = {
        0, -INT64_MAX, -INT64_MAX, -INT64_MAX, -INT64_MAX, has ? -file->rank : -file->nprocs, n->strings.n > 0};
    int mismatch;

    err = pnc_file_late_take(file, err);
    values[0] = pnc_file_failure_encode(file, err);
    for (int i = 1; has && file->nprocs > 1 && i < 5; i += 2) {
        values[i] = (int64_t)(add_strings(n, put, PNC_DIGEST_START + (uint64_t)i) >> 1);
        values[i + 1] = -values[i];
    }
    mismatch = pnc_file_maxima_agree(file, values, 7, "strings that are put");
    if (mismatch != NC_NOERR)
        return pnc_error_keep_first(err, mismatch);
    PNC_TRY(pnc_file_failure_share(file, err, values[0], "a put of strings"));
    *wait = values[6] != 0;
    *sends = has && (values[1] != -values[2] || values[3] != -values[4] || file->rank == -values[5]);
    return NC_NOERR;
}

/* What an unlimited dimension needs for the put. */
static int64_t find_length(const pnc_netcdf4 *n, const pnc_format_string_put *put, int dimid)
{
    const pnc_var *var = n->format.model->vars[put->varid];
    int64_t length = 0;

    for (int d = 0; put->n > 0 && d < var->ndims; d++)
        if (var->dimids[d] == dimid)
            length = pnc_max64(length, put->start[d] + put->count[d]);
    return length;
}

typedef struct new_lengths {
    int64_t at[PNC_AGREED_VALUES];
    int dimids[PNC_AGREED_VALUES], n;
} new_lengths;

static int agree_lengths(pnc_netcdf4 *n, new_lengths *lengths, bool collective)
{
    if (collective && lengths->n > 0)
        PNC_TRY(pnc_file_maxima_agree(n->format.file, lengths->at, lengths->n, "the lengths of dimensions"));
    for (int i = 0; i < lengths->n; i++)
        pnc_netcdf4_length_add(&n->format, lengths->dimids[i], lengths->at[i]);
    lengths->n = 0;
    return NC_NOERR;
}

static int add_lengths(pnc_netcdf4 *n, const pnc_format_string_put *put, bool collective)
{
    new_lengths lengths = {.n = 0};

    for (int i = 0; i < n->format.model->ndims; i++) {
        if (!n->format.model->dims[i]->unlimited)
            continue;
        lengths.dimids[lengths.n] = i;
        lengths.at[lengths.n++] = find_length(n, put, i);
        if (lengths.n == PNC_AGREED_VALUES)
            PNC_TRY(agree_lengths(n, &lengths, collective));
    }
    return agree_lengths(n, &lengths, collective);
}

/* Those of one rank are given to libhdf5 at once. */
static int put_collectively(pnc_netcdf4 *n, const pnc_format_string_put *put, int err)
{
    part_source s = {.n = n, .put = put};
    bool sends = false, wait = false;
    int64_t all = put->n;

    PNC_TRY(agree_put(n, put, err, &sends, &wait));
    if (wait)
        PNC_TRY(pnc_netcdf4_strings_send(n));
    PNC_TRY(add_lengths(n, put, true));
    if (sends)
        s.left = pnc_netcdf4_string_part_count(put->strings, &all, INT64_MAX);
    return take_parts(&s);
}

/* The values take effect after those before them, at the next collective step. */
static int keep_parts(pnc_netcdf4 *n, const pnc_format_string_put *put)
{
    const int64_t before = n->strings.n;

    for (int64_t i = 0, taken; i < put->n; i += taken) {
        taken = append_part(n, put, i, &n->strings.parts, &n->strings.n, &n->strings.capacity);
        if (taken > 0)
            continue;
        n->strings.n = before;
        return pnc_formats_memory_fail(&n->format, PART_BYTES);
    }
    return add_lengths(n, put, false);
}

int pnc_netcdf4_strings_put(pnc_format *f, const pnc_format_string_put *put, bool collective, int err)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);

    if (err == NC_NOERR)
        err = check_string_obstacle(n, put->varid);
    if (collective || f->file->nprocs == 1)
        return put_collectively(n, put, err);
    return err == NC_NOERR ? keep_parts(n, put) : err;
}

/* --- gets --- */

/* The place of an element among those of a hyperslab; -1: it has others only. */
static int64_t find_string_place(int ndims, const int64_t *element, const int64_t *start, const int64_t *count)
{
    int64_t place = 0;

    for (int d = 0; d < ndims; d++) {
        if (element[d] < start[d] || element[d] - start[d] >= count[d])
            return -1;
        place = place * count[d] + element[d] - start[d];
    }
    return place;
}

static void advance_element(const pnc_string_part *part, int64_t *element)
{
    int d = part->ndims - 1;

    for (; d >= 0 && ++element[d] == part->start[d] + part->count[d]; d--)
        element[d] = part->start[d];
}

static bool replace_strings(const pnc_string_part *part, const int64_t *start, const int64_t *count, char **out)
{
    int64_t element[PNC_STORAGE_DIMS_MOST];
    const char *text = part->texts;

    for (int d = 0; d < part->ndims; d++)
        element[d] = part->start[d];
    for (int64_t i = 0; i < part->n; i++, advance_element(part, element)) {
        int64_t place = find_string_place(part->ndims, element, start, count), length = pnc_max64(part->lengths[i], 0);

        if (place >= 0) {
            pnc_memory_free(out[place]);
            out[place] = part->lengths[i] >= 0 ? pnc_string_copy(text) : NULL;
            if (part->lengths[i] >= 0 && out[place] == NULL)
                return false;
        }
        text += length + 1;
    }
    return true;
}

int pnc_netcdf4_strings_replace(pnc_netcdf4 *n, int varid, const int64_t *start, const int64_t *count, char **out)
{
    pnc_string_part part;

    for (int64_t at = 0; at < n->strings.n;) {
        at += pnc_netcdf4_string_part_decode(n->strings.parts + at, &part);
        if (part.varid == varid && !replace_strings(&part, start, count, out))
            return pnc_formats_memory_fail(&n->format, PART_BYTES);
    }
    return NC_NOERR;
}
