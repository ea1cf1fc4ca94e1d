/* Where the chunks of an array are: keys of a store, and the index of a shard. Pure. */
#ifndef PNC_ZARR_INDEX_H
#define PNC_ZARR_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/zarr/document.h"

/* The end of a key behind the path of the array and '/': "c/0/1", "c.0.1", "0.1"; of a scalar "c" or "0". at: which
 * chunk or shard, an index for each dimension. Returns its length, without the NUL; capacity: at least
 * PNC_ZARR_KEY_MOST. */
enum { PNC_ZARR_KEY_MOST = 2 + 20 * PNC_ZARR_DIMS_MOST };
int pnc_zarr_key_write(const pnc_zarr_array *array, const int64_t *at, char *out);
/* The reverse. False: it is not the key of a chunk or shard of this array, also one outside its shape. */
bool pnc_zarr_key_parse(const pnc_zarr_array *array, const char *key, int64_t *at);
/* Whether a key stays in its store: no absolute path, no empty part, "." or "..", no control character. */
bool pnc_zarr_key_is_safe(const char *key);

/* A chunk in a shard. */
typedef struct pnc_zarr_place {
    int64_t offset; /* in the shard; -1: the chunk is absent, and its values are the fill value */
    int64_t bytes;
} pnc_zarr_place;

/* Chunks of a shard, in C order the entries of its index; the bytes of the index; and where it begins in a shard of so
 * many bytes, which is negative for one that is too short. */
int64_t pnc_zarr_index_count(const pnc_zarr_array *array);
int64_t pnc_zarr_index_get_bytes(const pnc_zarr_array *array);
int64_t pnc_zarr_index_get_offset(const pnc_zarr_array *array, int64_t shard_bytes);

void pnc_zarr_index_encode(const pnc_zarr_array *array, const pnc_zarr_place *places, void *out);
/* Of a shard of so many bytes. NC_ENCZARR: the checksum differs, or a chunk has no bytes, is beyond the end of the
 * shard, or overlaps the index. Chunks may overlap each other. */
int pnc_zarr_index_decode(const pnc_zarr_array *array, const void *index, int64_t shard_bytes, pnc_zarr_place *places,
                          pnc_error *error);

#endif
