/* Keys of chunks, and the index of a shard. */
#include "formats/zarr/index.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "filter/filter.h"

/* --- keys --- */

int pnc_zarr_key_write(const pnc_zarr_array *array, const int64_t *at, char *out)
{
    int n = 0;

    if (array->has_prefix || array->ndims == 0)
        n += snprintf(out, PNC_ZARR_KEY_MOST, "%s", array->has_prefix ? "c" : "0");
    for (int i = 0; i < array->ndims; i++) {
        if (n > 0)
            out[n++] = array->separator;
        n += snprintf(out + n, (size_t)(PNC_ZARR_KEY_MOST - n), "%" PRId64, at[i]);
    }
    return n;
}

/* A number as it is written: no sign, no zeros in front. */
static bool parse_index(const char **key, int64_t most, int64_t *out)
{
    const char *digit = *key;
    int64_t number = 0;

    if (*digit == '0' && digit[1] >= '0' && digit[1] <= '9')
        return false;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        if (number > (most - (*digit - '0')) / 10)
            return false;
        number = 10 * number + (*digit - '0');
    }
    *out = number;
    if (digit == *key || number > most)
        return false;
    *key = digit;
    return true;
}

bool pnc_zarr_key_parse(const pnc_zarr_array *array, const char *key, int64_t *at)
{
    if (array->ndims == 0)
        return strcmp(key, array->has_prefix ? "c" : "0") == 0;
    if (array->has_prefix && *key++ != 'c')
        return false;
    for (int i = 0; i < array->ndims; i++) {
        int64_t number = array->shape[i] / array->chunks[i] + (array->shape[i] % array->chunks[i] != 0);

        if ((i > 0 || array->has_prefix) && *key++ != array->separator)
            return false;
        if (number == 0 || !parse_index(&key, number - 1, &at[i]))
            return false;
    }
    return *key == '\0';
}

bool pnc_zarr_key_is_safe(const char *key)
{
    const char *part = key;

    for (const char *c = key;; c++) {
        size_t n = (size_t)(c - part);

        if (*c != '/' && *c != '\0') {
            if ((unsigned char)*c < ' ' || *c == 0x7F)
                return false;
            continue;
        }
        if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        part = c + 1;
        if (*c == '\0')
            return true;
    }
}

/* --- indexes --- */

enum { ENTRY_BYTES = 16, SUM_BYTES = 4 };

int64_t pnc_zarr_index_count(const pnc_zarr_array *array)
{
    int64_t n = 1;

    assert(array->inner != NULL);
    for (int i = 0; i < array->ndims; i++)
        n *= array->chunks[i] / array->inner[i];
    return n;
}

int64_t pnc_zarr_index_get_bytes(const pnc_zarr_array *array)
{
    return pnc_zarr_index_count(array) * ENTRY_BYTES + (array->index.has_sum ? SUM_BYTES : 0);
}

int64_t pnc_zarr_index_get_offset(const pnc_zarr_array *array, int64_t shard_bytes)
{
    int64_t end = shard_bytes - pnc_zarr_index_get_bytes(array);

    return array->index.is_at_start && end > 0 ? 0 : end;
}

static void store_index_number(uint64_t number, bool is_big_endian, unsigned char *out)
{
    for (int i = 0; i < 8; i++)
        out[is_big_endian ? 7 - i : i] = (unsigned char)(number >> 8 * i);
}

static uint64_t load_index_number(const unsigned char *in, bool is_big_endian)
{
    uint64_t number = 0;

    for (int i = 0; i < 8; i++)
        number |= (uint64_t)in[is_big_endian ? 7 - i : i] << 8 * i;
    return number;
}

static uint32_t load_sum(const unsigned char *in)
{
    return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

void pnc_zarr_index_encode(const pnc_zarr_array *array, const pnc_zarr_place *places, void *out)
{
    int64_t n = pnc_zarr_index_count(array);
    unsigned char *at = out;
    uint32_t sum;

    for (int64_t i = 0; i < n; i++, at += ENTRY_BYTES) {
        bool is_absent = places[i].offset < 0;

        store_index_number(is_absent ? UINT64_MAX : (uint64_t)places[i].offset, array->index.is_big_endian, at);
        store_index_number(is_absent ? UINT64_MAX : (uint64_t)places[i].bytes, array->index.is_big_endian, at + 8);
    }
    sum = pnc_filter_crc32c_compute(out, n * ENTRY_BYTES);
    for (int i = 0; array->index.has_sum && i < SUM_BYTES; i++)
        at[i] = (unsigned char)(sum >> 8 * i);
}

/* Whether chunk i lies in the shard, beside the index. */
static int check_place(const pnc_zarr_array *array, int64_t i, uint64_t offset, uint64_t bytes, int64_t shard_bytes,
                       pnc_error *error)
{
    uint64_t index_bytes = (uint64_t)pnc_zarr_index_get_bytes(array), size = (uint64_t)shard_bytes;
    uint64_t first = array->index.is_at_start ? index_bytes : 0;
    uint64_t last = array->index.is_at_start ? size : size - index_bytes;

    if (bytes == 0)
        return pnc_error_set(error, NC_ENCZARR, "the index of the shard is damaged: chunk %lld has no bytes",
                             (long long)i);
    if (offset >= first && offset <= last && bytes <= last - offset)
        return NC_NOERR;
    return pnc_error_set(
        error, NC_ENCZARR,
        "the index of the shard is damaged: chunk %lld has %llu bytes at %llu, but chunks are in %llu to "
        "%llu",
        (long long)i, (unsigned long long)bytes, (unsigned long long)offset, (unsigned long long)first,
        (unsigned long long)last);
}

int pnc_zarr_index_decode(const pnc_zarr_array *array, const void *index, int64_t shard_bytes, pnc_zarr_place *places,
                          pnc_error *error)
{
    int64_t n = pnc_zarr_index_count(array);
    const unsigned char *at = index, *end = at + n * ENTRY_BYTES;

    if (pnc_zarr_index_get_offset(array, shard_bytes) < 0)
        return pnc_error_set(error, NC_ENCZARR, "the shard is damaged: it has %lld bytes, less than its index",
                             (long long)shard_bytes);
    if (array->index.has_sum && load_sum(end) != pnc_filter_crc32c_compute(index, n * ENTRY_BYTES))
        return pnc_error_set(error, NC_ENCZARR, "the index of the shard is damaged: its checksum is another one");
    for (int64_t i = 0; i < n; i++, at += ENTRY_BYTES) {
        uint64_t offset = load_index_number(at, array->index.is_big_endian);
        uint64_t bytes = load_index_number(at + 8, array->index.is_big_endian);

        places[i] = (pnc_zarr_place){-1, 0};
        if (offset == UINT64_MAX && bytes == UINT64_MAX)
            continue;
        PNC_TRY(check_place(array, i, offset, bytes, shard_bytes, error));
        places[i] = (pnc_zarr_place){(int64_t)offset, (int64_t)bytes};
    }
    return NC_NOERR;
}
