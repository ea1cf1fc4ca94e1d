/* The log of metadata, and the mark of a file that has one. Numbers have 8 bytes, the lowest one first. */
#include "formats/netcdf4/redo.h"

#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/minmax.h"

static const char mark_signature[] = "\211PNCRED\n"; /* in place of "\211HDF\r\n\032\n" */

enum { ALIGNMENT = 4096, NUMBERS = 5, LOG_HEAD = NUMBERS * 8, SIGNATURE = 8 };

#define LOG_MAGIC INT64_C(0x314f444552434e50) /* PNCREDO1 */

static void put_log_number(char *to, int64_t number)
{
    for (int i = 0; i < 8; i++)
        to[i] = (char)((uint64_t)number >> (8 * i));
}

static int64_t get_log_number(const char *from)
{
    uint64_t number = 0;

    for (int i = 0; i < 8; i++)
        number |= (uint64_t)(unsigned char)from[i] << (8 * i);
    return (int64_t)number;
}

/* Of the log without its first numbers, and of those that matter. */
static int64_t compute_digest(const pnc_redo *r)
{
    uint64_t digest = pnc_digest_add(PNC_DIGEST_START, r->head, sizeof r->head);
    char number[8];

    for (int64_t i = 0; i < r->n; i++) {
        put_log_number(number, r->extents[i].offset);
        digest = pnc_digest_add(digest, number, sizeof number);
        put_log_number(number, r->extents[i].length);
        digest = pnc_digest_add(digest, number, sizeof number);
    }
    return (int64_t)pnc_digest_add(digest, r->bytes, r->nbytes);
}

static int lack_redo_memory(pnc_redo *r, pnc_file *file)
{
    pnc_netcdf4_redo_free(r);
    return pnc_error_set(file->error, NC_ENOMEM, "%s: no memory for the log of its metadata", file->path);
}

static int alloc_redo(pnc_redo *r, pnc_file *file, int64_t n, int64_t nbytes)
{
    r->n = n;
    r->nbytes = nbytes;
    r->extents = pnc_memory_alloc(n, sizeof *r->extents);
    r->bytes = pnc_memory_alloc(nbytes, 1);
    return r->extents == NULL || r->bytes == NULL ? lack_redo_memory(r, file) : NC_NOERR;
}

void pnc_netcdf4_redo_apply(const pnc_redo *r, pnc_extent extent, char *bytes)
{
    const char *from = r->bytes;

    for (int64_t i = 0; i < r->n; from += r->extents[i++].length) {
        int64_t low = pnc_max64(r->extents[i].offset, extent.offset);
        int64_t high = pnc_min64(r->extents[i].offset + r->extents[i].length, extent.offset + extent.length);

        if (low < high)
            memcpy(bytes + (low - extent.offset), from + (low - r->extents[i].offset), (size_t)(high - low));
    }
}

/* The part of an extent that is in front of or behind the head of the superblock is written at once. */
static void take_head(pnc_redo *r)
{
    pnc_netcdf4_redo_apply(r, (pnc_extent){r->superblock, PNC_REDO_HEAD}, r->head);
}

void pnc_netcdf4_redo_init(pnc_redo *r, pnc_extent *extents, int64_t n, char *bytes, int64_t end, int64_t superblock)
{
    *r = (pnc_redo){
        .extents = extents, .n = n, .bytes = bytes, .superblock = superblock, .log = (end / ALIGNMENT + 1) * ALIGNMENT};
    for (int64_t i = 0; i < n; i++)
        r->nbytes += extents[i].length;
    r->length = LOG_HEAD + PNC_REDO_HEAD + 16 * n + r->nbytes;
    take_head(r);
}

void pnc_netcdf4_redo_append(pnc_redo *r, const pnc_redo *unfinished)
{
    int64_t end = (unfinished->log + unfinished->length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    r->has_old_head = true;
    r->log = pnc_max64(r->log, end);
    memcpy(r->old_head, unfinished->head, PNC_REDO_HEAD);
}

void pnc_netcdf4_redo_free(pnc_redo *r)
{
    pnc_memory_free(r->extents);
    pnc_memory_free(r->bytes);
    memset(r, 0, sizeof *r);
}

/* --- steps --- */

int pnc_netcdf4_redo_begin(pnc_redo *r, pnc_file *file)
{
    const int64_t front = r->length - r->nbytes;
    int64_t numbers[NUMBERS] = {LOG_MAGIC, r->length, r->n, r->nbytes, 0};
    char *head;
    int err;

    if (!r->has_old_head)
        PNC_TRY(pnc_file_range_read(file, (pnc_extent){r->superblock, PNC_REDO_HEAD}, r->old_head));
    r->has_old_head = true;
    memcpy(r->head, r->old_head, PNC_REDO_HEAD);
    take_head(r);
    head = pnc_memory_alloc(front, 1);
    if (head == NULL)
        return pnc_error_set(file->error, NC_ENOMEM, "%s: no memory for the log of its metadata", file->path);
    numbers[NUMBERS - 1] = compute_digest(r);
    for (int i = 0; i < NUMBERS; i++)
        put_log_number(head + 8 * i, numbers[i]);
    memcpy(head + LOG_HEAD, r->head, PNC_REDO_HEAD);
    for (int64_t i = 0; i < r->n; i++) {
        put_log_number(head + LOG_HEAD + PNC_REDO_HEAD + 16 * i, r->extents[i].offset);
        put_log_number(head + LOG_HEAD + PNC_REDO_HEAD + 16 * i + 8, r->extents[i].length);
    }
    err = pnc_file_range_write(file, (pnc_extent){r->log, front}, head);
    if (err == NC_NOERR && r->nbytes > 0)
        err = pnc_file_range_write(file, (pnc_extent){r->log + front, r->nbytes}, r->bytes);
    pnc_memory_free(head);
    return err;
}

void pnc_netcdf4_mark_make(const pnc_redo *r, char *mark)
{
    memcpy(mark, mark_signature, SIGNATURE);
    put_log_number(mark + 8, r->log);
    put_log_number(mark + 16, r->length);
    put_log_number(mark + 24, compute_digest(r));
}

int pnc_netcdf4_mark_write(pnc_redo *r, pnc_file *file)
{
    char mark[PNC_REDO_HEAD];

    pnc_netcdf4_mark_make(r, mark);
    return pnc_file_range_write(file, (pnc_extent){r->superblock, PNC_REDO_HEAD}, mark);
}

int pnc_netcdf4_mark_remove(pnc_redo *r, pnc_file *file)
{
    return pnc_file_range_write(file, (pnc_extent){r->superblock, PNC_REDO_HEAD}, r->old_head);
}

static int write_part(pnc_file *file, const char *from, pnc_extent e, int64_t low, int64_t high)
{
    low = pnc_max64(low, e.offset);
    high = pnc_min64(high, e.offset + e.length);
    return low < high ? pnc_file_range_write(file, (pnc_extent){low, high - low}, from + (low - e.offset)) : NC_NOERR;
}

int pnc_netcdf4_redo_write(pnc_redo *r, pnc_file *file)
{
    const char *from = r->bytes;

    for (int64_t i = 0; i < r->n; from += r->extents[i++].length) {
        PNC_TRY(write_part(file, from, r->extents[i], 0, r->superblock));
        PNC_TRY(write_part(file, from, r->extents[i], r->superblock + PNC_REDO_HEAD, INT64_MAX));
    }
    return NC_NOERR;
}

int pnc_netcdf4_redo_finish(pnc_redo *r, pnc_file *file)
{
    return pnc_file_range_write(file, (pnc_extent){r->superblock, PNC_REDO_HEAD}, r->head);
}

/* --- a file that was interrupted --- */

bool pnc_netcdf4_redo_find(const char *front, int64_t n, int64_t *superblock)
{
    for (int64_t at = 0; at <= n - PNC_REDO_HEAD; at = at == 0 ? 512 : 2 * at)
        if (memcmp(front + at, mark_signature, SIGNATURE) == 0) {
            *superblock = at;
            return true;
        }
    return false;
}

/* The signature is at byte 0, 512, 1024, 2048 ..: what is in front of it is the program's own. */
bool pnc_netcdf4_signature_find(const char *front, int64_t n, int64_t *superblock)
{
    static const char signature[] = "\211HDF\r\n\032\n";
    const int64_t length = sizeof signature - 1;

    for (int64_t at = 0; at <= n - length; at = at == 0 ? 512 : 2 * at)
        if (memcmp(front + at, signature, (size_t)length) == 0) {
            *superblock = at;
            return true;
        }
    return false;
}

/* HDF5 File Format Specification, II.A. */
int64_t pnc_netcdf4_front_get_length(const char *front, int64_t n)
{
    static const struct {
        int size, end; /* where the size of addresses is, and the address behind the last byte */
    } places[] = {{13, 40}, {13, 44}, {9, 28}, {9, 28}};
    const int most = sizeof places / sizeof *places, version = n < PNC_REDO_FRONT ? most : front[8];
    int64_t superblock;

    if (version < 0 || version >= most || front[places[version].size] != 8 ||
        !pnc_netcdf4_signature_find(front, n, &superblock) || superblock != 0)
        return 0;
    return get_log_number(front + places[version].end);
}

bool pnc_netcdf4_front_is_known(const char *front, int64_t n)
{
    int64_t superblock;

    return pnc_netcdf4_redo_find(front, n, &superblock) || pnc_netcdf4_signature_find(front, n, &superblock);
}

static int refuse_log(pnc_redo *r, pnc_file *file)
{
    pnc_netcdf4_redo_free(r);
    return pnc_error_set(file->error, NC_EHDFERR,
                         "%s: a program died while it wrote the metadata, and the log that would complete them is "
                         "damaged",
                         file->path);
}

/* Nothing in the log is trusted before its digest is right. */
static int decode_log(pnc_redo *r, pnc_file *file, int64_t size)
{
    int64_t at = r->log, sum = 0, last = 0;
    char numbers[LOG_HEAD];

    PNC_TRY(pnc_file_range_read(file, (pnc_extent){at, LOG_HEAD}, numbers));
    if (get_log_number(numbers) != LOG_MAGIC || get_log_number(numbers + 8) != r->length)
        return refuse_log(r, file);
    r->n = get_log_number(numbers + 16);
    r->nbytes = get_log_number(numbers + 24);
    if (r->n < 0 || r->n > r->length / 16 || r->nbytes < 0 ||
        r->nbytes != r->length - LOG_HEAD - PNC_REDO_HEAD - 16 * r->n)
        return refuse_log(r, file);
    PNC_TRY(alloc_redo(r, file, r->n, r->nbytes));
    PNC_TRY(pnc_file_range_read(file, (pnc_extent){at + LOG_HEAD, PNC_REDO_HEAD}, r->head));
    at += LOG_HEAD + PNC_REDO_HEAD;
    for (int64_t i = 0; i < r->n; i++, at += 16) {
        char pair[16];

        PNC_TRY(pnc_file_range_read(file, (pnc_extent){at, 16}, pair));
        r->extents[i] = (pnc_extent){get_log_number(pair), get_log_number(pair + 8)};
        if (r->extents[i].offset < last || r->extents[i].length < 0 || r->extents[i].length > r->nbytes - sum ||
            r->extents[i].offset > INT64_MAX - r->extents[i].length)
            return refuse_log(r, file);
        last = r->extents[i].offset + r->extents[i].length;
        sum += r->extents[i].length;
    }
    if (sum != r->nbytes || last > r->log || size - at < r->nbytes)
        return refuse_log(r, file);
    return pnc_file_range_read(file, (pnc_extent){at, r->nbytes}, r->bytes);
}

int pnc_netcdf4_redo_load(pnc_redo *r, pnc_file *file, int64_t size, int64_t superblock)
{
    char mark[PNC_REDO_HEAD];

    *r = (pnc_redo){.superblock = superblock};
    PNC_TRY(pnc_file_range_read(file, (pnc_extent){superblock, PNC_REDO_HEAD}, mark));
    r->log = get_log_number(mark + 8);
    r->length = get_log_number(mark + 16);
    if (r->log < superblock + PNC_REDO_HEAD || r->log > size || r->length < LOG_HEAD + PNC_REDO_HEAD ||
        r->length > size - r->log)
        return refuse_log(r, file);
    PNC_TRY(decode_log(r, file, size));
    return compute_digest(r) == get_log_number(mark + 24) ? NC_NOERR : refuse_log(r, file);
}
