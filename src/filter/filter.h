/* Filters of HDF5 and netCDF-4, and codecs of Zarr: the bytes of a chunk in memory to the bytes that a file stores, and
 * back.
 *
 * Pure: no files, no MPI, no state beside a worker. A worker belongs to one thread at a time; others may run with their
 * own at the same time. */
#ifndef PNC_FILTER_FILTER_H
#define PNC_FILTER_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "filter/codecs.h"

/* Ids as registered with The HDF Group. */
enum { PNC_FILTER_DEFLATE = 1, PNC_FILTER_SHUFFLE = 2, PNC_FILTER_FLETCHER32 = 3, PNC_FILTER_SZIP = 4 };
enum { PNC_FILTER_NBIT = 5, PNC_FILTER_SCALEOFFSET = 6 };
enum { PNC_FILTER_LZF = 32000, PNC_FILTER_ZSTD = 32015 };
/* ZSTD_minCLevel(), ZSTD_maxCLevel() */
enum { PNC_FILTER_ZSTD_LEVEL_LEAST = -131072, PNC_FILTER_ZSTD_LEVEL_MOST = 22 };

/* Codecs of Zarr that HDF5 does not have, or has with other parameters: beyond its ids, of which 65535 is the last. Of
 * blosc, parameters are the first ones of pnc_blosc_parameter, of transposition those that pnc_filter_transpose_set
 * makes, of gzip the level, crc32c has none. */
enum { PNC_FILTER_GZIP = 65536, PNC_FILTER_ZARR_BLOSC, PNC_FILTER_CRC32C, PNC_FILTER_TRANSPOSE };

typedef enum pnc_blosc_parameter {
    PNC_BLOSC_CODEC, /* a pnc_blosc_codec */
    PNC_BLOSC_LEVEL, /* 0 to 9 */
    PNC_BLOSC_SHUFFLE,
    PNC_BLOSC_TYPE_SIZE, /* bytes of what is shuffled, 1 to 255 */
    PNC_BLOSC_BLOCK,     /* bytes that are compressed at a time; 0: by choice of libblosc */
    PNC_BLOSC_PARAMETERS
} pnc_blosc_parameter;
/* As in its format. */
typedef enum pnc_blosc_codec {
    PNC_BLOSC_BLOSCLZ,
    PNC_BLOSC_LZ4,
    PNC_BLOSC_LZ4HC,
    PNC_BLOSC_SNAPPY,
    PNC_BLOSC_ZLIB,
    PNC_BLOSC_ZSTD,
    PNC_BLOSC_CODECS
} pnc_blosc_codec;
enum { PNC_BLOSC_NOT_SHUFFLED, PNC_BLOSC_BYTES_SHUFFLED, PNC_BLOSC_BITS_SHUFFLED, PNC_BLOSC_SHUFFLES };
enum { PNC_BLOSC_LEVEL_MOST = 9, PNC_BLOSC_TYPE_SIZE_MOST = 255 };
/* "zstd" ..., as in documents of Zarr */
const char *pnc_filter_blosc_codec_get_name(pnc_blosc_codec codec);

/* Transposition: elements of `size` bytes, in an array of these lengths. Axis i of the array that is stored is axis
 * order[i] of this one. parameters: of PNC_TRANSPOSE_PARAMETERS_MOST. Returns their number. */
enum { PNC_TRANSPOSE_DIMS_MOST = 32, PNC_TRANSPOSE_PARAMETERS_MOST = 2 + 2 * PNC_TRANSPOSE_DIMS_MOST };
int pnc_filter_transpose_set(uint32_t size, int ndims, const int64_t *lengths, const int *order, uint32_t *parameters);

/* The checksum CRC-32C (Castagnoli) of n bytes. */
uint32_t pnc_filter_crc32c_compute(const void *bytes, int64_t n);

/* No filter of the file (HDF5 has no filter 0): the first one of a chain whose numbers have other bits in the file than
 * those of a type in memory. It has no bit in masks. Its parameters: */
#define PNC_FILTER_NUMBER 0
typedef enum pnc_number_parameter {
    PNC_NUMBER_SIZE,        /* bytes in the file, 1 to 8 */
    PNC_NUMBER_MEMORY_SIZE, /* 1, 2, 4 or 8 */
    PNC_NUMBER_ORDER,       /* of both; 1: big-endian */
    PNC_NUMBER_IS_FLOAT,
    PNC_NUMBER_IS_SIGNED, /* integers */
    PNC_NUMBER_OFFSET,    /* the position of the lowest bit that counts; of a floating-point number, of its mantissa */
    PNC_NUMBER_PRECISION, /* how many bits */
    PNC_NUMBER_SIGN_AT,   /* floating-point numbers, as H5Tget_fields and H5Tget_ebias say */
    PNC_NUMBER_EXPONENT_AT,
    PNC_NUMBER_EXPONENT_BITS,
    PNC_NUMBER_BIAS,
    PNC_NUMBER_HAS_FIRST_BIT, /* of the mantissa; else it is implied */
    PNC_NUMBER_PARAMETERS
} pnc_number_parameter;

/* The mask of a chunk has a bit for each filter; HDF5 has the same bound. */
#define PNC_FILTER_MOST 32
/* HDF5 stores the length of a chunk in 32 bits. */
#define PNC_FILTER_CHUNK_MOST INT64_C(0xFFFFFFFF)

typedef struct pnc_filter {
    int id;
    bool is_optional; /* a chunk that this filter does not make smaller is stored without it */
    int nparameters;
    const uint32_t *parameters; /* the caller's; as the file has them (cd_values of HDF5) */
} pnc_filter;

/* In the order in which a chunk passes them when it is written. */
typedef struct pnc_filter_chain {
    int nfilters;
    const pnc_filter *filters; /* the caller's */
} pnc_filter_chain;

/* What is kept from one chunk to the next: two buffers, and the states of compressors. */
typedef struct pnc_filter_worker {
    const pnc_codecs *codecs;
    unsigned char *buffers[2];
    int64_t capacities[2];
    void *deflater, *inflater;       /* of libdeflate */
    int deflater_level;              /* of `deflater` */
    struct pnc_igzip *igzip;         /* of ISA-L */
    void *zstd_writer, *zstd_reader; /* of libzstd */
} pnc_filter_worker;

/* The name of a filter; "filter" for those that this library does not have. */
const char *pnc_filter_name_get(int id);

/* Whether this library has a filter itself; others are plugins of HDF5. */
bool pnc_filter_is_own(int id);

/* Whether this library has all filters of a chain, with valid parameters, and their libraries are installed. Filters
 * whose bit is set in `mask` are not checked. NC_EFILTER with a message. */
int pnc_filter_chain_check(const pnc_filter_chain *chain, uint32_t mask, const pnc_codecs *codecs, pnc_error *error);

/* Whether this library encodes a filter that it has, or plugins may: not nbit and scaleoffset. */
bool pnc_filter_is_encoded(int id);
/* Why values cannot be put: the end of a sentence that begins with their variable. */
#define PNC_FILTER_NUMBER_REFUSAL \
    "its numbers have other bits than those of a type of netCDF: this library does not write them"
/* Why chunks can be decoded but not encoded: the end of a sentence that begins with their variable. NULL: they can. */
const char *pnc_filter_chain_find_refusal(const pnc_filter_chain *chain);

/* Whether a chunk with this mask is stored as it is: no filter was applied. */
bool pnc_filter_chunk_is_plain(const pnc_filter_chain *chain, uint32_t mask);

/* The most bytes that are stored for a chunk of this many bytes. */
int64_t pnc_filter_chain_get_bound(const pnc_filter_chain *chain, int64_t bytes);

void pnc_filter_worker_init(pnc_filter_worker *worker, const pnc_codecs *codecs);
void pnc_filter_worker_free(pnc_filter_worker *worker);

/* Apply the filters to a chunk of `bytes`, 1 to PNC_FILTER_CHUNK_MOST. *stored belongs to the worker, and is valid
 * until its next call; without filters it is the chunk itself. A bit of *mask is set for each optional filter that was
 * left out. NC_EFILTER: as pnc_filter_chain_check, or a filter that is not optional fails; NC_EINVAL: the length;
 * NC_ENOMEM. */
int pnc_filter_chunk_encode(pnc_filter_worker *worker, const pnc_filter_chain *chain, const void *chunk, int64_t bytes,
                            const void **stored, int64_t *stored_bytes, uint32_t *mask, pnc_error *error);

/* The reverse; nothing about `stored` and `mask` is trusted. Writes exactly `bytes` at chunk, or fails: NC_EHDFERR for
 * bytes that are damaged, others as above. After a failure the contents of chunk are undefined. Memory: at most two
 * buffers of pnc_filter_chain_get_bound bytes, what the libraries have for their states (less than 1 MiB; none keeps a
 * window), and for szip one more of the chunk's length and 32 KiB. */
int pnc_filter_chunk_decode(pnc_filter_worker *worker, const pnc_filter_chain *chain, const void *stored,
                            int64_t stored_bytes, uint32_t mask, void *chunk, int64_t bytes, pnc_error *error);

#endif
