/* Shuffle: the bytes of elements in another order, which compressors make more of. Its parameter is the size of an
 * element. */
#include "filter/kernels.h"
#include "filter/kind.h"

static int check_shuffle(const pnc_filter *filter, pnc_error *error)
{
    PNC_TRY(pnc_filter_parameters_check(filter, 1, 1, error));
    if (filter->parameters[0] == 0)
        return pnc_error_set(error, NC_EFILTER, "shuffle: the size of an element is 0");
    return NC_NOERR;
}

static int encode_shuffle(pnc_filter_step *step)
{
    assert(step->capacity >= step->in_bytes);
    pnc_filter_shuffle_encode(step->out, step->in, step->in_bytes, step->filter->parameters[0]);
    step->result_bytes = step->in_bytes;
    return NC_NOERR;
}

static int decode_shuffle(pnc_filter_step *step)
{
    if (step->in_bytes > step->capacity)
        return pnc_filter_damage_set(step, "has more bytes than the chunk");
    pnc_filter_shuffle_decode(step->out, step->in, step->in_bytes, step->filter->parameters[0]);
    step->result_bytes = step->in_bytes;
    return NC_NOERR;
}

const pnc_filter_kind pnc_filter_kind_shuffle = {
    .id = PNC_FILTER_SHUFFLE,
    .name = "shuffle",
    .check = check_shuffle,
    .encode = encode_shuffle,
    .decode = decode_shuffle,
};
