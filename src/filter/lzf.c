/* lzf, as h5py writes it: the compressed format of LibLZF, without its code. Its parameters are versions and the length
 * of the chunk, which is known here.
 *
 * A chunk is a sequence of literals (a byte n below 32, and n + 1 bytes) and of copies (3 bits of the length, 5 of the
 * distance; if the length is 7, a byte that is added to it; a byte of the distance): length + 2 bytes that were decoded
 * distance + 1 bytes before. */
#include "filter/kind.h"

#include "base/minmax.h"

enum { LITERALS_MOST = 32, DISTANCE_MOST = 1 << 13, SHORT_MOST = 7, COPY_LEAST = 3, COPY_MOST = 255 + SHORT_MOST + 2 };
enum { HASH_BITS = 12 };

static int check_lzf(const pnc_filter *filter, pnc_error *error)
{
    return pnc_filter_parameters_check(filter, 0, 3, error);
}

/* --- encoding --- */

typedef struct lzf_writer {
    const unsigned char *in;
    unsigned char *at, *end;
} lzf_writer;

/* NC_EFILTER: there is no space. */
static int write_literals(lzf_writer *w, int64_t from, int64_t to)
{
    for (int64_t n; from < to; from += n) {
        n = pnc_min64(to - from, LITERALS_MOST);
        if (w->end - w->at < n + 1)
            return NC_EFILTER;
        *w->at++ = (unsigned char)(n - 1);
        memcpy(w->at, w->in + from, (size_t)n);
        w->at += n;
    }
    return NC_NOERR;
}

static int write_copy(lzf_writer *w, int64_t distance, int64_t length)
{
    int64_t shown = pnc_min64(length - 2, SHORT_MOST);

    if (w->end - w->at < 3)
        return NC_EFILTER;
    *w->at++ = (unsigned char)(shown << 5 | (distance - 1) >> 8);
    if (shown == SHORT_MOST)
        *w->at++ = (unsigned char)(length - 2 - SHORT_MOST);
    *w->at++ = (unsigned char)(distance - 1);
    return NC_NOERR;
}

static uint32_t hash_three(const unsigned char *bytes)
{
    return ((uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2]) * 2654435761u >> (32 - HASH_BITS);
}

/* How many bytes from `at` on are as at `before`; 0: too few for a copy. */
static int64_t match_bytes(const unsigned char *in, int64_t before, int64_t at, int64_t n)
{
    int64_t most = pnc_min64(n - at, COPY_MOST), length = 0;

    while (length < most && in[before + length] == in[at + length])
        length++;
    return length < COPY_LEAST ? 0 : length;
}

static int encode_lzf(pnc_filter_step *step)
{
    const unsigned char *in = step->in;
    lzf_writer w = {in, step->out, step->out + step->capacity};
    uint32_t latest[1 << HASH_BITS] = {0}; /* behind the last three bytes with this hash */
    int64_t at = 0, begin = 0;

    while (at + COPY_LEAST <= step->in_bytes) {
        uint32_t *known = &latest[hash_three(in + at)];
        int64_t before = (int64_t)*known - 1, length = 0;

        if (before >= 0 && at - before <= DISTANCE_MOST)
            length = match_bytes(in, before, at, step->in_bytes);
        *known = (uint32_t)(at + 1);
        if (length == 0) {
            at++;
            continue;
        }
        PNC_TRY(write_literals(&w, begin, at));
        PNC_TRY(write_copy(&w, at - before, length));
        at += length;
        begin = at;
    }
    PNC_TRY(write_literals(&w, begin, step->in_bytes));
    step->result_bytes = w.at - step->out;
    return NC_NOERR;
}

/* --- decoding --- */

typedef struct lzf_reader {
    const unsigned char *at, *end;
    unsigned char *begin, *to, *stop;
} lzf_reader;

static bool read_literals(lzf_reader *r, int64_t n)
{
    if (n > r->end - r->at || n > r->stop - r->to)
        return false;
    memcpy(r->to, r->at, (size_t)n);
    r->at += n;
    r->to += n;
    return true;
}

static bool read_copy(lzf_reader *r, int control)
{
    int64_t length = (control >> 5) + 2, distance = (int64_t)(control & 31) << 8;

    if (length == SHORT_MOST + 2 && r->at < r->end)
        length += *r->at++;
    if (r->at == r->end)
        return false;
    distance += *r->at++ + 1;
    if (distance > r->to - r->begin || length > r->stop - r->to)
        return false;
    for (; length > 0; length--, r->to++) /* the bytes may repeat themselves */
        *r->to = r->to[-distance];
    return true;
}

static int decode_lzf(pnc_filter_step *step)
{
    lzf_reader r = {step->in, step->in + step->in_bytes, step->out, step->out, step->out + step->capacity};
    bool is_sound = true;

    while (is_sound && r.at < r.end) {
        int control = *r.at++;

        is_sound = control < LITERALS_MOST ? read_literals(&r, control + 1) : read_copy(&r, control);
    }
    if (!is_sound)
        return pnc_filter_damage_set(step, "is damaged, or decompresses to more bytes than the chunk has");
    step->result_bytes = r.to - step->out;
    return NC_NOERR;
}

const pnc_filter_kind pnc_filter_kind_lzf = {
    .id = PNC_FILTER_LZF,
    .name = "lzf",
    .compresses = true,
    .check = check_lzf,
    .encode = encode_lzf,
    .decode = decode_lzf,
};
