/* Zstandard, by libzstd. Its parameter is the level. */
#include "filter/kind.h"

/* The level where a file has no parameter; that of libzstd. */
enum { DEFAULT_LEVEL = 3 };

static bool has_libzstd(const pnc_codecs *codecs, int id)
{
    (void)id;
    return codecs->load_zstd() != NULL;
}

static int get_level(const pnc_filter *filter)
{
    return filter->nparameters == 0 ? DEFAULT_LEVEL : (int)filter->parameters[0];
}

static int check_zstd(const pnc_filter *filter, pnc_error *error)
{
    PNC_TRY(pnc_filter_parameters_check(filter, 0, 1, error));
    if (get_level(filter) < PNC_FILTER_ZSTD_LEVEL_LEAST || get_level(filter) > PNC_FILTER_ZSTD_LEVEL_MOST)
        return pnc_error_set(error, NC_EFILTER, "zstd: level %d is not in %d to %d", get_level(filter),
                             PNC_FILTER_ZSTD_LEVEL_LEAST, PNC_FILTER_ZSTD_LEVEL_MOST);
    return NC_NOERR;
}

static int encode_zstd(pnc_filter_step *step)
{
    const pnc_zstd_functions *f = step->worker->codecs->load_zstd();
    size_t bytes;

    if (step->worker->zstd_writer == NULL)
        step->worker->zstd_writer = f->create_compressor();
    if (step->worker->zstd_writer == NULL)
        return pnc_error_set(step->error, NC_ENOMEM, "zstd: no memory for a compressor");
    bytes = f->compress(step->worker->zstd_writer, step->out, (size_t)step->capacity, step->in, (size_t)step->in_bytes,
                        get_level(step->filter));
    if (f->is_error(bytes) != 0)
        return NC_EFILTER;
    step->result_bytes = (int64_t)bytes;
    return NC_NOERR;
}

static int decode_zstd(pnc_filter_step *step)
{
    const pnc_zstd_functions *f = step->worker->codecs->load_zstd();
    size_t bytes;

    if (step->worker->zstd_reader == NULL)
        step->worker->zstd_reader = f->create_decompressor();
    if (step->worker->zstd_reader == NULL)
        return pnc_error_set(step->error, NC_ENOMEM, "zstd: no memory for a decompressor");
    bytes =
        f->decompress(step->worker->zstd_reader, step->out, (size_t)step->capacity, step->in, (size_t)step->in_bytes);
    if (f->is_error(bytes) != 0)
        return pnc_filter_damage_set(step, "is damaged, or decompresses to more bytes than the chunk has");
    step->result_bytes = (int64_t)bytes;
    return NC_NOERR;
}

const pnc_filter_kind pnc_filter_kind_zstd = {
    .id = PNC_FILTER_ZSTD,
    .name = "zstd",
    .library = PNC_LIBZSTD,
    .package = "libzstd1",
    .compresses = true,
    .has_library = has_libzstd,
    .check = check_zstd,
    .encode = encode_zstd,
    .decode = decode_zstd,
};
