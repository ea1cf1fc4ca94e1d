/* Deflate: zlib streams, by libdeflate. Its parameter is the level, 0 to 9. */
#include "filter/kind.h"

/* Of enum libdeflate_result: 0 is success. */
enum { INSUFFICIENT_SPACE = 3 };

static bool has_libdeflate(const pnc_codecs *codecs, int id)
{
    (void)id;
    return codecs->load_deflate() != NULL;
}

static int check_deflate(const pnc_filter *filter, pnc_error *error)
{
    PNC_TRY(pnc_filter_parameters_check(filter, 1, 1, error));
    if (filter->parameters[0] > 9)
        return pnc_error_set(error, NC_EFILTER, "deflate: level %lu is not in 0 to 9",
                             (unsigned long)filter->parameters[0]);
    return NC_NOERR;
}

static void *get_deflater(pnc_filter_worker *worker, const pnc_deflate_functions *f, int level)
{
    if (worker->deflater != NULL && worker->deflater_level != level) {
        f->free_compressor(worker->deflater);
        worker->deflater = NULL;
    }
    if (worker->deflater == NULL)
        worker->deflater = f->alloc_compressor(level);
    worker->deflater_level = level;
    return worker->deflater;
}

static int encode_deflate(pnc_filter_step *step)
{
    const pnc_deflate_functions *f = step->worker->codecs->load_deflate();
    void *deflater = get_deflater(step->worker, f, (int)step->filter->parameters[0]);

    if (deflater == NULL)
        return pnc_error_set(step->error, NC_ENOMEM, "deflate: no memory for a compressor");
    step->result_bytes =
        (int64_t)f->compress(deflater, step->in, (size_t)step->in_bytes, step->out, (size_t)step->capacity);
    return step->result_bytes > 0 ? NC_NOERR : NC_EFILTER;
}

static int decode_deflate(pnc_filter_step *step)
{
    const pnc_deflate_functions *f = step->worker->codecs->load_deflate();
    size_t bytes = 0;
    int result;

    if (step->worker->inflater == NULL)
        step->worker->inflater = f->alloc_decompressor();
    if (step->worker->inflater == NULL)
        return pnc_error_set(step->error, NC_ENOMEM, "deflate: no memory for a decompressor");
    result = f->decompress(step->worker->inflater, step->in, (size_t)step->in_bytes, step->out, (size_t)step->capacity,
                           &bytes);
    if (result == INSUFFICIENT_SPACE)
        return pnc_filter_damage_set(step, "decompresses to more bytes than the chunk has");
    if (result != 0)
        return pnc_filter_damage_set(step, "is damaged");
    step->result_bytes = (int64_t)bytes;
    return NC_NOERR;
}

const pnc_filter_kind pnc_filter_kind_deflate = {
    .id = PNC_FILTER_DEFLATE,
    .name = "deflate",
    .library = PNC_LIBDEFLATE,
    .package = "libdeflate0",
    .compresses = true,
    .has_library = has_libdeflate,
    .check = check_deflate,
    .encode = encode_deflate,
    .decode = decode_deflate,
};
