/* A filter that this library does not have, by a plugin of HDF5. What is wrong with such a function is wrong here, too:
 * it is trusted as by libhdf5. */
#include <stdlib.h>

#include "filter/kind.h"

#define FLAG_OPTIONAL 1 /* H5Z_FLAG_OPTIONAL, H5Z_FLAG_REVERSE */
#define FLAG_REVERSE 0x100

static bool has_plugin(const pnc_codecs *codecs, int id)
{
    return codecs->plugins != NULL && codecs->plugins->has(id);
}

static int accept_parameters(const pnc_filter *filter, pnc_error *error)
{
    (void)filter, (void)error;
    return NC_NOERR;
}

/* Filters replace and free their buffer: it is malloc's. Sets the result, or else *failed. */
static int run_plugin(pnc_filter_step *step, unsigned flags, bool *failed)
{
    const pnc_filter *filter = step->filter;
    size_t capacity = (size_t)step->in_bytes, bytes;
    void *buffer = malloc(capacity);

    if (buffer == NULL)
        return pnc_error_set(step->error, NC_ENOMEM, "filter %d: no memory for %lld bytes", filter->id,
                             (long long)step->in_bytes);
    memcpy(buffer, step->in, capacity);
    flags |= filter->is_optional ? FLAG_OPTIONAL : 0;
    bytes = step->worker->codecs->plugins->run(filter->id, flags, (size_t)filter->nparameters, filter->parameters,
                                               capacity, &capacity, &buffer);
    *failed = bytes == 0 || buffer == NULL || bytes > (size_t)step->capacity;
    if (!*failed) {
        memcpy(step->out, buffer, bytes);
        step->result_bytes = (int64_t)bytes;
    }
    free(buffer);
    return NC_NOERR;
}

static int encode_by_plugin(pnc_filter_step *step)
{
    bool failed;

    PNC_TRY(run_plugin(step, 0, &failed));
    return failed ? NC_EFILTER : NC_NOERR;
}

static int decode_by_plugin(pnc_filter_step *step)
{
    bool failed;

    PNC_TRY(run_plugin(step, FLAG_REVERSE, &failed));
    return failed ? pnc_filter_damage_set(step, "is damaged, or has more bytes than the chunk") : NC_NOERR;
}

/* A guess. */
static int64_t get_bound_of_plugin(const pnc_filter *filter, int64_t bytes)
{
    (void)filter;
    return 2 * bytes + 65536;
}

const pnc_filter_kind pnc_filter_kind_plugin = {
    .id = -1,
    .name = "filter",
    .compresses = true,
    .get_bound = get_bound_of_plugin,
    .has_library = has_plugin,
    .check = accept_parameters,
    .encode = encode_by_plugin,
    .decode = decode_by_plugin,
};
