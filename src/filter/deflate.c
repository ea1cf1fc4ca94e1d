/* Deflate: zlib streams, and gzip of Zarr, by libdeflate and ISA-L. Their parameter is the level, 0 to 9. */
#include "base/memory.h"
#include "base/minmax.h"
#include "filter/kind.h"

/* Of enum libdeflate_result: 0 is success. */
enum { INSUFFICIENT_SPACE = 3 };

/* Of igzip_lib.h. */
enum { IGZIP_GZIP = 1, IGZIP_ZLIB = 3, STATELESS_OVERFLOW = -1 };
enum { LEVEL_MEMORY = 331776 }; /* ISAL_DEF_LVL2_DEFAULT */

/* Levels that ISA-L encodes with one of its own, where it is installed. MB/s of one core, and ratio, for shuffled
 * chunks of 2 MiB of floats: with noise; smooth; rounded; rounded, with missing values.
 *     libdeflate 1    98  1.92    114  2.31    128  2.92    170  4.21
 *     libdeflate 2   104  1.95     92  2.36     65  3.04    134  4.33
 *     ISA-L 1        760  1.93    529  2.19    376  2.70    540  3.93
 *     ISA-L 2        551  1.94    585  2.27    378  2.84    506  4.06
 *     ISA-L 3        341  1.92    267  2.25    309  2.80    359  3.97
 * Both inflate at 350 to 950 MB/s, of small chunks libdeflate faster. */
static const int igzip_levels[10] = {[1] = 2};

/* A compressor of ISA-L. */
typedef struct pnc_igzip {
    pnc_igzip_stream stream;
    unsigned char memory[LEVEL_MEMORY];
} pnc_igzip;

static bool has_libdeflate(const pnc_codecs *codecs, int id)
{
    (void)id;
    return codecs->load_deflate() != NULL;
}

static int check_deflate(const pnc_filter *filter, pnc_error *error)
{
    PNC_TRY(pnc_filter_parameters_check(filter, 1, 1, error));
    if (filter->parameters[0] > 9)
        return pnc_error_set(error, NC_EFILTER, "%s: level %lu is not in 0 to 9", pnc_filter_name_get(filter->id),
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

static int encode_by_libdeflate(pnc_filter_step *step, int level)
{
    const pnc_deflate_functions *f = step->worker->codecs->load_deflate();
    void *deflater = get_deflater(step->worker, f, level);

    if (deflater == NULL)
        return pnc_error_set(step->error, NC_ENOMEM, "deflate: no memory for a compressor");
    step->result_bytes = (int64_t)(step->filter->id == PNC_FILTER_GZIP ? f->compress_gzip : f->compress)(
        deflater, step->in, (size_t)step->in_bytes, step->out, (size_t)step->capacity);
    return step->result_bytes > 0 ? NC_NOERR : NC_EFILTER;
}

/* NC_EFILTER: the result does not fit; NC_ENOMEM: ISA-L cannot encode it. */
static int encode_by_igzip(pnc_filter_step *step, const pnc_igzip_functions *f, int level)
{
    pnc_igzip *igzip = step->worker->igzip;
    int result;

    if (igzip == NULL)
        igzip = step->worker->igzip = pnc_memory_alloc(1, sizeof *igzip);
    if (igzip == NULL)
        return NC_ENOMEM;
    f->init(&igzip->stream);
    igzip->stream.hist_bits = 0; /* init leaves it as it is */
    igzip->stream.level = (uint32_t)level;
    igzip->stream.level_buf = igzip->memory;
    igzip->stream.level_buf_size = LEVEL_MEMORY;
    igzip->stream.gzip_flag = step->filter->id == PNC_FILTER_GZIP ? IGZIP_GZIP : IGZIP_ZLIB;
    igzip->stream.end_of_stream = 1;
    igzip->stream.next_in = step->in;
    igzip->stream.avail_in = (uint32_t)step->in_bytes; /* a chunk has at most PNC_FILTER_CHUNK_MOST */
    igzip->stream.next_out = step->out;
    igzip->stream.avail_out = (uint32_t)pnc_min64(step->capacity, UINT32_MAX);
    result = f->compress(&igzip->stream);
    step->result_bytes = igzip->stream.total_out;
    if (result == 0)
        return NC_NOERR;
    return result == STATELESS_OVERFLOW ? NC_EFILTER : NC_ENOMEM;
}

/* libdeflate encodes what ISA-L cannot, and what must be encoded though it does not become smaller: ISA-L may add more
 * bytes. */
static int encode_deflate(pnc_filter_step *step)
{
    int level = (int)step->filter->parameters[0], err = NC_ENOMEM;
    const pnc_igzip_functions *igzip = igzip_levels[level] > 0 ? step->worker->codecs->load_igzip() : NULL;

    if (igzip != NULL)
        err = encode_by_igzip(step, igzip, igzip_levels[level]);
    if (err == NC_ENOMEM || (err == NC_EFILTER && step->capacity > step->in_bytes))
        err = encode_by_libdeflate(step, level);
    return err;
}

static int begin_inflating(pnc_filter_step *step, const pnc_deflate_functions *f)
{
    if (step->worker->inflater == NULL)
        step->worker->inflater = f->alloc_decompressor();
    if (step->worker->inflater == NULL)
        return pnc_error_set(step->error, NC_ENOMEM, "deflate: no memory for a decompressor");
    return NC_NOERR;
}

static int explain_inflating(pnc_filter_step *step, int result)
{
    if (result == INSUFFICIENT_SPACE)
        return pnc_filter_damage_set(step, "decompresses to more bytes than the chunk has");
    return pnc_filter_damage_set(step, "is damaged");
}

static int decode_deflate(pnc_filter_step *step)
{
    const pnc_deflate_functions *f = step->worker->codecs->load_deflate();
    size_t bytes = 0;
    int result;

    PNC_TRY(begin_inflating(step, f));
    result = f->decompress(step->worker->inflater, step->in, (size_t)step->in_bytes, step->out, (size_t)step->capacity,
                           &bytes);
    if (result != 0)
        return explain_inflating(step, result);
    step->result_bytes = (int64_t)bytes;
    return NC_NOERR;
}

/* Members that follow each other are one (RFC 1952). */
static int decode_gzip(pnc_filter_step *step)
{
    const pnc_deflate_functions *f = step->worker->codecs->load_deflate();
    int64_t at = 0, bytes = 0;

    PNC_TRY(begin_inflating(step, f));
    do {
        size_t in = 0, out = 0;
        int result = f->decompress_gzip(step->worker->inflater, step->in + at, (size_t)(step->in_bytes - at),
                                        step->out + bytes, (size_t)(step->capacity - bytes), &in, &out);

        if (result != 0)
            return explain_inflating(step, result);
        at += (int64_t)in;
        bytes += (int64_t)out;
    } while (at < step->in_bytes);
    step->result_bytes = bytes;
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

const pnc_filter_kind pnc_filter_kind_gzip = {
    .id = PNC_FILTER_GZIP,
    .name = "gzip",
    .library = PNC_LIBDEFLATE,
    .package = "libdeflate0",
    .compresses = true,
    .has_library = has_libdeflate,
    .check = check_deflate,
    .encode = encode_deflate,
    .decode = decode_gzip,
};
