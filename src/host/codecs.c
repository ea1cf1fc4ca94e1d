/* dlopen of compression libraries: programs that are linked with this library need none of them to run. */
#include "host/codecs.h"

#include <pthread.h>
#include <stdbool.h>

#include "host/library.h"

/* What is set once, before other threads see it. */
static pthread_once_t deflate_once = PTHREAD_ONCE_INIT, igzip_once = PTHREAD_ONCE_INIT, szip_once = PTHREAD_ONCE_INIT,
                      zstd_once = PTHREAD_ONCE_INIT, blosc_once = PTHREAD_ONCE_INIT;
static bool has_deflate, has_igzip, has_szip, has_zstd, has_blosc;
static pnc_deflate_functions deflate_functions;
static pnc_igzip_functions igzip_functions;
static pnc_szip_functions szip_functions;
static pnc_zstd_functions zstd_functions;
static pnc_blosc_functions blosc_functions;

#define WANTED(type, member, name)   \
    {                                \
        name, offsetof(type, member) \
    }
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void open_libdeflate(void)
{
    static const pnc_host_symbol wanted[] = {
        WANTED(pnc_deflate_functions, alloc_compressor, "libdeflate_alloc_compressor"),
        WANTED(pnc_deflate_functions, compress, "libdeflate_zlib_compress"),
        WANTED(pnc_deflate_functions, free_compressor, "libdeflate_free_compressor"),
        WANTED(pnc_deflate_functions, alloc_decompressor, "libdeflate_alloc_decompressor"),
        WANTED(pnc_deflate_functions, decompress, "libdeflate_zlib_decompress"),
        WANTED(pnc_deflate_functions, free_decompressor, "libdeflate_free_decompressor"),
        WANTED(pnc_deflate_functions, compress_gzip, "libdeflate_gzip_compress"),
        WANTED(pnc_deflate_functions, decompress_gzip, "libdeflate_gzip_decompress_ex"),
    };

    has_deflate = pnc_host_library_load(PNC_LIBDEFLATE, wanted, COUNT(wanted), &deflate_functions);
}

static void open_libisal(void)
{
    static const pnc_host_symbol wanted[] = {
        WANTED(pnc_igzip_functions, init, "isal_deflate_stateless_init"),
        WANTED(pnc_igzip_functions, compress, "isal_deflate_stateless"),
    };

    has_igzip = pnc_host_library_load(PNC_LIBISAL, wanted, COUNT(wanted), &igzip_functions);
}

static void open_libsz(void)
{
    static const pnc_host_symbol wanted[] = {
        WANTED(pnc_szip_functions, compress, "SZ_BufftoBuffCompress"),
        WANTED(pnc_szip_functions, decompress, "SZ_BufftoBuffDecompress"),
    };

    has_szip = pnc_host_library_load(PNC_LIBSZ, wanted, COUNT(wanted), &szip_functions);
}

static void open_libzstd(void)
{
    static const pnc_host_symbol wanted[] = {
        WANTED(pnc_zstd_functions, create_compressor, "ZSTD_createCCtx"),
        WANTED(pnc_zstd_functions, compress, "ZSTD_compressCCtx"),
        WANTED(pnc_zstd_functions, free_compressor, "ZSTD_freeCCtx"),
        WANTED(pnc_zstd_functions, create_decompressor, "ZSTD_createDCtx"),
        WANTED(pnc_zstd_functions, decompress, "ZSTD_decompressDCtx"),
        WANTED(pnc_zstd_functions, free_decompressor, "ZSTD_freeDCtx"),
        WANTED(pnc_zstd_functions, is_error, "ZSTD_isError"),
    };

    has_zstd = pnc_host_library_load(PNC_LIBZSTD, wanted, COUNT(wanted), &zstd_functions);
}

static void open_libblosc(void)
{
    static const pnc_host_symbol wanted[] = {
        WANTED(pnc_blosc_functions, compress, "blosc_compress_ctx"),
        WANTED(pnc_blosc_functions, validate, "blosc_cbuffer_validate"),
        WANTED(pnc_blosc_functions, decompress, "blosc_decompress_ctx"),
    };

    has_blosc = pnc_host_library_load(PNC_LIBBLOSC, wanted, COUNT(wanted), &blosc_functions);
}

static const pnc_deflate_functions *load_libdeflate(void)
{
    pthread_once(&deflate_once, open_libdeflate);
    return has_deflate ? &deflate_functions : NULL;
}

static const pnc_igzip_functions *load_libisal(void)
{
    pthread_once(&igzip_once, open_libisal);
    return has_igzip ? &igzip_functions : NULL;
}

static const pnc_szip_functions *load_libsz(void)
{
    pthread_once(&szip_once, open_libsz);
    return has_szip ? &szip_functions : NULL;
}

static const pnc_zstd_functions *load_libzstd(void)
{
    pthread_once(&zstd_once, open_libzstd);
    return has_zstd ? &zstd_functions : NULL;
}

static const pnc_blosc_functions *load_libblosc(void)
{
    pthread_once(&blosc_once, open_libblosc);
    return has_blosc ? &blosc_functions : NULL;
}

const pnc_codecs *pnc_host_codecs_get(void)
{
    static const pnc_codecs codecs = {.load_deflate = load_libdeflate,
                                      .load_igzip = load_libisal,
                                      .load_szip = load_libsz,
                                      .load_zstd = load_libzstd,
                                      .load_blosc = load_libblosc};

    return &codecs;
}
