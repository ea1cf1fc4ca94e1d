/* Szip, by libaec: the length of the uncompressed bytes in 4 bytes, little-endian, and the compressed bytes. Its
 * parameters: options, pixels per block, bits per pixel, pixels per scanline. */
#include "filter/kind.h"

enum { OPTIONS, PIXELS_PER_BLOCK, BITS_PER_PIXEL, PIXELS_PER_SCANLINE, PARAMETERS };
/* Limits of szlib.h. libaec allocates scanlines, so they also bound its memory. */
enum { BLOCK_MOST = 32, SCANLINE_MOST = 128 * BLOCK_MOST };
enum { LENGTH = 4, OUTBUFF_FULL = 2, MEMORY_ERROR = -4 };

static bool has_libsz(const pnc_codecs *codecs, int id)
{
    (void)id;
    return codecs->load_szip() != NULL;
}

static bool are_valid(const uint32_t *p)
{
    uint32_t bits = p[BITS_PER_PIXEL], block = p[PIXELS_PER_BLOCK];

    return ((bits >= 1 && bits <= 32) || bits == 64) && block >= 2 && block <= BLOCK_MOST && block % 2 == 0 &&
           p[PIXELS_PER_SCANLINE] >= 1 && p[PIXELS_PER_SCANLINE] <= SCANLINE_MOST;
}

static int check_szip(const pnc_filter *filter, pnc_error *error)
{
    const uint32_t *p = filter->parameters;

    PNC_TRY(pnc_filter_parameters_check(filter, PARAMETERS, PARAMETERS, error));
    if (!are_valid(p))
        return pnc_error_set(error, NC_EFILTER,
                             "szip: invalid parameters: %lu bits per pixel (at most 32, or 64), %lu pixels per block "
                             "(even, at most %d), %lu pixels per scanline (at most %d)",
                             (unsigned long)p[BITS_PER_PIXEL], (unsigned long)p[PIXELS_PER_BLOCK], BLOCK_MOST,
                             (unsigned long)p[PIXELS_PER_SCANLINE], SCANLINE_MOST);
    return NC_NOERR;
}

static int64_t get_pixel_bytes(uint32_t bits)
{
    if (bits > 32)
        return 8;
    if (bits > 16)
        return 4;
    return bits > 8 ? 2 : 1;
}

/* libaec neither encodes nor decodes an incomplete pixel at the end. */
static bool has_whole_pixels(const pnc_filter *filter, int64_t bytes)
{
    return bytes % get_pixel_bytes(filter->parameters[BITS_PER_PIXEL]) == 0;
}

/* libaec drops the upper bits of pixels that have less bits than their bytes. */
static bool keeps_all_bits(const pnc_filter *filter)
{
    uint32_t bits = filter->parameters[BITS_PER_PIXEL];

    return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

static pnc_szip_parameters get_szip_parameters(const pnc_filter *filter)
{
    return (pnc_szip_parameters){.options = (int)filter->parameters[OPTIONS],
                                 .bits_per_pixel = (int)filter->parameters[BITS_PER_PIXEL],
                                 .pixels_per_block = (int)filter->parameters[PIXELS_PER_BLOCK],
                                 .pixels_per_scanline = (int)filter->parameters[PIXELS_PER_SCANLINE]};
}

static int64_t divide_up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

/* Scanlines are filled up to whole blocks. A block has at most its pixels and a number of less than 8 bits. Pixels of
 * 32 and 64 bits are encoded as bytes. */
static int64_t get_szip_bound(const pnc_filter *filter, int64_t bytes)
{
    const uint32_t *p = filter->parameters;
    int64_t block, pixel, scanlines, blocks;

    if (filter->nparameters != PARAMETERS || !are_valid(p))
        return bytes;
    block = p[PIXELS_PER_BLOCK];
    pixel = p[BITS_PER_PIXEL] == 32 || p[BITS_PER_PIXEL] == 64 ? 1 : get_pixel_bytes(p[BITS_PER_PIXEL]);
    scanlines = divide_up(divide_up(bytes, pixel), p[PIXELS_PER_SCANLINE]);
    blocks = scanlines * divide_up(p[PIXELS_PER_SCANLINE], block);
    return LENGTH + blocks * (block * pixel + 1);
}

static int encode_szip(pnc_filter_step *step)
{
    pnc_szip_parameters parameters = get_szip_parameters(step->filter);
    size_t bytes = (size_t)(step->capacity - LENGTH);
    int result;

    if (step->capacity <= LENGTH || !keeps_all_bits(step->filter) || !has_whole_pixels(step->filter, step->in_bytes))
        return NC_EFILTER;
    result = step->worker->codecs->load_szip()->compress(step->out + LENGTH, &bytes, step->in, (size_t)step->in_bytes,
                                                         &parameters);
    if (result == MEMORY_ERROR)
        return pnc_error_set(step->error, NC_ENOMEM, "szip: no memory to compress %lld bytes",
                             (long long)step->in_bytes);
    if (result != 0 || bytes > (size_t)(step->capacity - LENGTH))
        return NC_EFILTER;
    for (int i = 0; i < LENGTH; i++)
        step->out[i] = (unsigned char)(step->in_bytes >> 8 * i);
    step->result_bytes = (int64_t)bytes + LENGTH;
    return NC_NOERR;
}

static int decode_szip(pnc_filter_step *step)
{
    pnc_szip_parameters parameters = get_szip_parameters(step->filter);
    int64_t length = 0;
    size_t bytes;
    int result;

    if (step->in_bytes < LENGTH)
        return pnc_filter_damage_set(step, "has less bytes than a length");
    for (int i = 0; i < LENGTH; i++)
        length |= (int64_t)step->in[i] << 8 * i;
    if (length > step->capacity)
        return pnc_filter_damage_set(step, "decompresses to more bytes than the chunk has");
    if (!has_whole_pixels(step->filter, length))
        return pnc_filter_damage_set(step, "ends with a part of a pixel");
    bytes = (size_t)length;
    result = step->worker->codecs->load_szip()->decompress(step->out, &bytes, step->in + LENGTH,
                                                           (size_t)(step->in_bytes - LENGTH), &parameters);
    if (result == MEMORY_ERROR)
        return pnc_error_set(step->error, NC_ENOMEM, "szip: no memory to decompress %lld bytes", (long long)length);
    if (result != 0 || bytes != (size_t)length)
        return pnc_filter_damage_set(step, "is damaged");
    step->result_bytes = length;
    return NC_NOERR;
}

const pnc_filter_kind pnc_filter_kind_szip = {
    .id = PNC_FILTER_SZIP,
    .name = "szip",
    .library = PNC_LIBSZ,
    .package = "libsz2",
    .compresses = true,
    .get_bound = get_szip_bound,
    .has_library = has_libsz,
    .check = check_szip,
    .encode = encode_szip,
    .decode = decode_szip,
};
