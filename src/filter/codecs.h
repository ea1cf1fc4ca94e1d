/* Functions of compression libraries. This room calls no library by name: the caller provides tables of their functions
 * (src/host opens the libraries at first use), so that programs are linked with none of them.
 *
 * The prototypes are those of the libraries' public headers, with void for types whose contents users do not see. They
 * are part of the ABI that the number of the shared library stands for. */
#ifndef PNC_FILTER_CODECS_H
#define PNC_FILTER_CODECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Files that are opened. */
#define PNC_LIBDEFLATE "libdeflate.so.0"
#define PNC_LIBISAL "libisal.so.2"
#define PNC_LIBSZ "libsz.so.2" /* part of libaec */
#define PNC_LIBZSTD "libzstd.so.1"
#define PNC_LIBBLOSC "libblosc.so.1"

/* libdeflate.h: zlib streams, and gzip. */
typedef struct pnc_deflate_functions {
    void *(*alloc_compressor)(int level);
    size_t (*compress)(void *compressor, const void *in, size_t bytes, void *out, size_t capacity); /* 0: no space */
    void (*free_compressor)(void *compressor);
    void *(*alloc_decompressor)(void);
    int (*decompress)(void *decompressor, const void *in, size_t bytes, void *out, size_t capacity, size_t *out_bytes);
    void (*free_decompressor)(void *decompressor);
    size_t (*compress_gzip)(void *compressor, const void *in, size_t bytes, void *out, size_t capacity);
    /* one member, of *in_bytes */
    int (*decompress_gzip)(void *decompressor, const void *in, size_t bytes, void *out, size_t capacity,
                           size_t *in_bytes, size_t *out_bytes);
} pnc_deflate_functions;

/* struct isal_zstream of igzip_lib.h: what users set and read, and more memory than the rest of it takes (82,320 bytes
 * in version 2.30). */
typedef struct pnc_igzip_stream {
    const unsigned char *next_in;
    uint32_t avail_in, total_in;
    unsigned char *next_out;
    uint32_t avail_out, total_out;
    void *hufftables;
    uint32_t level, level_buf_size;
    unsigned char *level_buf;
    uint16_t end_of_stream, flush, gzip_flag, hist_bits;
    uint64_t others[16384];
} pnc_igzip_stream;

/* igzip_lib.h, part of ISA-L */
typedef struct pnc_igzip_functions {
    void (*init)(pnc_igzip_stream *stream);
    int (*compress)(pnc_igzip_stream *stream); /* 0: complete */
} pnc_igzip_functions;

/* SZ_com_t of szlib.h, and its option masks. */
typedef struct pnc_szip_parameters {
    int options, bits_per_pixel, pixels_per_block, pixels_per_scanline;
} pnc_szip_parameters;

/* szlib.h */
typedef struct pnc_szip_functions {
    int (*compress)(void *out, size_t *out_bytes, const void *in, size_t bytes, pnc_szip_parameters *parameters);
    int (*decompress)(void *out, size_t *out_bytes, const void *in, size_t bytes, pnc_szip_parameters *parameters);
} pnc_szip_functions;

/* zstd.h */
typedef struct pnc_zstd_functions {
    void *(*create_compressor)(void);
    size_t (*compress)(void *compressor, void *out, size_t capacity, const void *in, size_t bytes, int level);
    size_t (*free_compressor)(void *compressor);
    void *(*create_decompressor)(void);
    size_t (*decompress)(void *decompressor, void *out, size_t capacity, const void *in, size_t bytes);
    size_t (*free_decompressor)(void *decompressor);
    unsigned (*is_error)(size_t code);
} pnc_zstd_functions;

/* blosc.h: without the state of the process that other functions of it have. */
typedef struct pnc_blosc_functions {
    int (*compress)(int level, int shuffle, size_t type_size, size_t bytes, const void *in, void *out, size_t capacity,
                    const char *codec, size_t block, int nthreads);   /* bytes; 0: no space; below 0: failed */
    int (*validate)(const void *in, size_t bytes, size_t *out_bytes); /* of the header; 0: it is valid */
    int (*decompress)(const void *in, void *out, size_t capacity, int nthreads); /* bytes; below 0: failed */
} pnc_blosc_functions;

/* Plugins of HDF5. Any thread may call the functions. */
typedef struct pnc_plugins {
    bool (*has)(int id);
    /* H5Z_func_t of H5Zpublic.h, after the id of a filter that `has` has found. It gets `bytes` in *buffer, which
     * malloc has allocated, and has its result there, perhaps in other memory, of which it sets *capacity. Returns the
     * number of bytes; 0: it has failed. Plugins need not be safe for threads: one at a time is in them. */
    size_t (*run)(int id, unsigned flags, size_t nparameters, const unsigned *parameters, size_t bytes,
                  size_t *capacity, void **buffer);
    /* The folders that are searched, with ':' between them; an empty text: none are. */
    void (*list_folders)(char *out, size_t capacity);
} pnc_plugins;

/* Each returns the functions of a library, the same in each call, or NULL if it is not installed. Any thread may call
 * them. */
typedef struct pnc_codecs {
    const pnc_deflate_functions *(*load_deflate)(void);
    const pnc_igzip_functions *(*load_igzip)(void);
    const pnc_szip_functions *(*load_szip)(void);
    const pnc_zstd_functions *(*load_zstd)(void);
    const pnc_blosc_functions *(*load_blosc)(void);
    const pnc_plugins *plugins; /* NULL: there are none */
} pnc_codecs;

#endif
