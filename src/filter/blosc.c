/* Blosc of Zarr: shuffle and a compressor, by libblosc. A chunk says itself how it is decoded. */
#include "base/minmax.h"
#include "filter/kind.h"

/* Of blosc.h. */
enum { BLOSC_OVERHEAD = 16 };
#define BLOSC_MOST ((int64_t)INT32_MAX - BLOSC_OVERHEAD)

static const char *const codec_names[PNC_BLOSC_CODECS] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};

const char *pnc_filter_blosc_codec_get_name(pnc_blosc_codec codec)
{
    return codec_names[codec];
}

static bool has_libblosc(const pnc_codecs *codecs, int id)
{
    (void)id;
    return codecs->load_blosc() != NULL;
}

static int check_blosc(const pnc_filter *filter, pnc_error *error)
{
    const uint32_t *p = filter->parameters;

    PNC_TRY(pnc_filter_parameters_check(filter, PNC_BLOSC_PARAMETERS, PNC_BLOSC_PARAMETERS, error));
    if (p[PNC_BLOSC_CODEC] >= PNC_BLOSC_CODECS || p[PNC_BLOSC_LEVEL] > PNC_BLOSC_LEVEL_MOST ||
        p[PNC_BLOSC_SHUFFLE] >= PNC_BLOSC_SHUFFLES || p[PNC_BLOSC_TYPE_SIZE] < 1 ||
        p[PNC_BLOSC_TYPE_SIZE] > PNC_BLOSC_TYPE_SIZE_MOST || p[PNC_BLOSC_BLOCK] > INT32_MAX)
        return pnc_error_set(
            error, NC_EFILTER,
            "blosc: one of codec %lu, level %lu, shuffle %lu, type size %lu and block %lu is not valid",
            (unsigned long)p[PNC_BLOSC_CODEC], (unsigned long)p[PNC_BLOSC_LEVEL], (unsigned long)p[PNC_BLOSC_SHUFFLE],
            (unsigned long)p[PNC_BLOSC_TYPE_SIZE], (unsigned long)p[PNC_BLOSC_BLOCK]);
    return NC_NOERR;
}

static int64_t get_bound_of_blosc(const pnc_filter *filter, int64_t bytes)
{
    (void)filter;
    return bytes + BLOSC_OVERHEAD;
}

static int encode_blosc(pnc_filter_step *step)
{
    const uint32_t *p = step->filter->parameters;
    const char *codec = codec_names[p[PNC_BLOSC_CODEC]];
    int bytes;

    if (step->in_bytes > BLOSC_MOST)
        return pnc_error_set(step->error, NC_EFILTER, "blosc: a chunk of %lld bytes, but it takes at most %lld",
                             (long long)step->in_bytes, (long long)BLOSC_MOST);
    bytes = step->worker->codecs->load_blosc()->compress(
        (int)p[PNC_BLOSC_LEVEL], (int)p[PNC_BLOSC_SHUFFLE], p[PNC_BLOSC_TYPE_SIZE], (size_t)step->in_bytes, step->in,
        step->out, (size_t)pnc_min64(step->capacity, INT32_MAX), codec, p[PNC_BLOSC_BLOCK], 1);
    if (bytes < 0)
        return pnc_error_set(step->error, NC_EFILTER, "blosc: this libblosc does not have the codec %s", codec);
    step->result_bytes = bytes;
    return bytes > 0 ? NC_NOERR : NC_EFILTER;
}

static int decode_blosc(pnc_filter_step *step)
{
    const pnc_blosc_functions *f = step->worker->codecs->load_blosc();
    size_t bytes = 0;
    int result;

    if (f->validate(step->in, (size_t)step->in_bytes, &bytes) != 0)
        return pnc_filter_damage_set(step, "is damaged: its header is not that of Blosc");
    if (bytes > (size_t)step->capacity)
        return pnc_filter_damage_set(step, "decompresses to more bytes than the chunk has");
    result = f->decompress(step->in, step->out, bytes, 1);
    if (result < 0 || (size_t)result != bytes)
        return pnc_filter_damage_set(step, "is damaged, or has a codec that this libblosc does not have");
    step->result_bytes = result;
    return NC_NOERR;
}

const pnc_filter_kind pnc_filter_kind_blosc = {
    .id = PNC_FILTER_ZARR_BLOSC,
    .name = "blosc",
    .library = PNC_LIBBLOSC,
    .package = "libblosc1",
    .compresses = true,
    .get_bound = get_bound_of_blosc,
    .has_library = has_libblosc,
    .check = check_blosc,
    .encode = encode_blosc,
    .decode = decode_blosc,
};
