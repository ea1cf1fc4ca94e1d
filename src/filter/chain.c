/* A chunk through the filters of its chain, and back. */
#include "filter/kind.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/minmax.h"

static const pnc_filter_kind *const filter_kinds[] = {
    &pnc_filter_kind_shuffle,  &pnc_filter_kind_deflate,     &pnc_filter_kind_fletcher32, &pnc_filter_kind_szip,
    &pnc_filter_kind_nbit,     &pnc_filter_kind_scaleoffset, &pnc_filter_kind_zstd,       &pnc_filter_kind_lzf,
    &pnc_filter_kind_number,   &pnc_filter_kind_gzip,        &pnc_filter_kind_blosc,      &pnc_filter_kind_crc32c,
    &pnc_filter_kind_transpose};

/* Names for messages, as registered with The HDF Group. */
static const struct {
    int id;
    const char *name;
} other_filters[] = {{307, "bzip2"}, {32001, "blosc"}, {32004, "lz4"}, {32008, "bitshuffle"},
                     {32013, "zfp"}, {32017, "sz"},    {32024, "sz3"}, {32026, "blosc2"}};

static const pnc_filter_kind *find_kind(int id)
{
    for (size_t k = 0; k < sizeof filter_kinds / sizeof *filter_kinds; k++)
        if (filter_kinds[k]->id == id)
            return filter_kinds[k];
    return &pnc_filter_kind_plugin;
}

const char *pnc_filter_name_get(int id)
{
    const pnc_filter_kind *kind = find_kind(id);

    if (kind != &pnc_filter_kind_plugin)
        return kind->name;
    for (size_t k = 0; k < sizeof other_filters / sizeof *other_filters; k++)
        if (other_filters[k].id == id)
            return other_filters[k].name;
    return pnc_filter_kind_plugin.name;
}

bool pnc_filter_is_own(int id)
{
    return find_kind(id) != &pnc_filter_kind_plugin;
}

bool pnc_filter_is_encoded(int id)
{
    return find_kind(id)->encode != NULL;
}

const char *pnc_filter_chain_find_refusal(const pnc_filter_chain *chain)
{
    for (int i = 0; i < chain->nfilters; i++) {
        if (chain->filters[i].id == PNC_FILTER_NUMBER)
            return PNC_FILTER_NUMBER_REFUSAL;
        if (!pnc_filter_is_encoded(chain->filters[i].id))
            return "its filter, nbit or scaleoffset, is one that this library decodes, but does not encode";
    }
    return NULL;
}

int pnc_filter_parameters_check(const pnc_filter *filter, int least, int most, pnc_error *error)
{
    if (filter->nparameters >= least && filter->nparameters <= most)
        return NC_NOERR;
    return pnc_error_set(error, NC_EFILTER, "%s has %d parameters, but must have %d to %d",
                         pnc_filter_name_get(filter->id), filter->nparameters, least, most);
}

int pnc_filter_damage_set(const pnc_filter_step *step, const char *what)
{
    return pnc_error_set(step->error, NC_EHDFERR, "%s: the stored chunk (%lld bytes) %s",
                         pnc_filter_name_get(step->filter->id), (long long)step->in_bytes, what);
}

int pnc_filter_bytes_take(pnc_filter_step *step)
{
    if (step->in_bytes > step->capacity)
        return pnc_filter_damage_set(step, "has more bytes than the chunk");
    step->result = step->in;
    step->result_bytes = step->in_bytes;
    return NC_NOERR;
}

/* The mask has a bit for each filter of the file. */
static bool is_applied(const pnc_filter_chain *chain, uint32_t mask, int i)
{
    int bit = chain->filters[0].id == PNC_FILTER_NUMBER ? i - 1 : i;

    return bit < 0 || (mask >> bit & 1) == 0;
}

static int fail_without_plugin(int id, const pnc_codecs *codecs, pnc_error *error)
{
    char folders[200] = "";

    if (codecs->plugins != NULL)
        codecs->plugins->list_folders(folders, sizeof folders);
    return pnc_error_set(error, NC_EFILTER,
                         "%s (id %d): no plugin of HDF5%s%s has this filter: set HDF5_PLUGIN_PATH to the folder of one",
                         pnc_filter_name_get(id), id, folders[0] != '\0' ? " in " : "", folders);
}

/* " (id 4)"; codecs of Zarr have no number that users know. */
typedef struct id_text {
    char text[24];
} id_text;

static id_text print_id(int id)
{
    id_text out = {""};

    if (id < PNC_FILTER_GZIP)
        snprintf(out.text, sizeof out.text, " (id %d)", id);
    return out;
}

static int check_filter(const pnc_filter *filter, const pnc_codecs *codecs, pnc_error *error)
{
    const pnc_filter_kind *kind = find_kind(filter->id);
    bool has_library = kind->has_library == NULL || kind->has_library(codecs, filter->id);

    if (kind == &pnc_filter_kind_plugin && !has_library)
        return fail_without_plugin(filter->id, codecs, error);
    PNC_TRY(kind->check(filter, error));
    if (!has_library)
        return pnc_error_set(error, NC_EFILTER, "%s%s needs %s, which is not installed (Debian: apt install %s)",
                             kind->name, print_id(kind->id).text, kind->library, kind->package);
    return NC_NOERR;
}

int pnc_filter_chain_check(const pnc_filter_chain *chain, uint32_t mask, const pnc_codecs *codecs, pnc_error *error)
{
    if (chain->nfilters < 0 || chain->nfilters > PNC_FILTER_MOST)
        return pnc_error_set(error, NC_EFILTER, "%d filters: a chunk passes at most %d", chain->nfilters,
                             PNC_FILTER_MOST);
    for (int i = 1; i < chain->nfilters; i++)
        if (chain->filters[i].id == PNC_FILTER_NUMBER)
            return pnc_error_set(error, NC_EFILTER, "filter %d has the id 0, which HDF5 does not have", i);
    for (int i = 0; i < chain->nfilters; i++)
        if (is_applied(chain, mask, i))
            PNC_TRY(check_filter(&chain->filters[i], codecs, error));
    return NC_NOERR;
}

/* The most bytes after a filter. A compressor that is not optional may make a chunk larger: zlib's bound is
 * n + n / 1000 + 12, that of zstd n + n / 256 + 64, of lzf n + n / 32 + 1. */
static int64_t get_step_bound(const pnc_filter *filter, int64_t bytes)
{
    const pnc_filter_kind *kind = find_kind(filter->id);

    if (kind->get_bound != NULL)
        return pnc_min64(PNC_FILTER_CHUNK_MOST, kind->get_bound(filter, bytes));
    return kind->compresses ? bytes + bytes / 32 + 128 : bytes + kind->added;
}

int64_t pnc_filter_chain_get_bound(const pnc_filter_chain *chain, int64_t bytes)
{
    for (int i = 0; i < chain->nfilters; i++)
        bytes = get_step_bound(&chain->filters[i], bytes);
    return bytes;
}

void pnc_filter_worker_init(pnc_filter_worker *worker, const pnc_codecs *codecs)
{
    *worker = (pnc_filter_worker){.codecs = codecs};
}

void pnc_filter_worker_free(pnc_filter_worker *worker)
{
    const pnc_codecs *codecs = worker->codecs;

    if (worker->deflater != NULL)
        codecs->load_deflate()->free_compressor(worker->deflater);
    if (worker->inflater != NULL)
        codecs->load_deflate()->free_decompressor(worker->inflater);
    if (worker->zstd_writer != NULL)
        codecs->load_zstd()->free_compressor(worker->zstd_writer);
    if (worker->zstd_reader != NULL)
        codecs->load_zstd()->free_decompressor(worker->zstd_reader);
    pnc_memory_free(worker->igzip);
    for (int i = 0; i < 2; i++)
        pnc_memory_free(worker->buffers[i]);
    *worker = (pnc_filter_worker){.codecs = codecs};
}

/* Make buffer i hold `bytes`; its contents are lost. */
static int reserve_buffer(pnc_filter_worker *worker, int i, int64_t bytes, pnc_error *error)
{
    if (bytes <= worker->capacities[i])
        return NC_NOERR;
    pnc_memory_free(worker->buffers[i]);
    worker->buffers[i] = pnc_memory_alloc_array(bytes, 1);
    worker->capacities[i] = worker->buffers[i] != NULL ? bytes : 0;
    if (worker->buffers[i] == NULL)
        return pnc_error_set(error, NC_ENOMEM, "no memory for the filters of a chunk: %lld bytes", (long long)bytes);
    return NC_NOERR;
}

static int check_chunk_bytes(int64_t bytes, pnc_error *error)
{
    if (bytes >= 1 && bytes <= PNC_FILTER_CHUNK_MOST)
        return NC_NOERR;
    return pnc_error_set(error, NC_EINVAL, "a chunk of %lld bytes: it must have 1 to %lld", (long long)bytes,
                         (long long)PNC_FILTER_CHUNK_MOST);
}

/* Encode with one filter, from step->in, which *used says to be in that buffer (-1: in none), to the other one. Without
 * a result the filter is left out. */
static int encode_step(pnc_filter_step *step, int *used)
{
    const pnc_filter_kind *kind = find_kind(step->filter->id);
    bool is_optional = kind->compresses && step->filter->is_optional;
    bool must_shrink = is_optional && kind != &pnc_filter_kind_plugin; /* plugins fail where they do not help */
    int into = *used == 0 ? 1 : 0, err;

    step->result = NULL;
    step->capacity = must_shrink ? step->in_bytes - 1 : get_step_bound(step->filter, step->in_bytes);
    if (step->capacity == 0)
        return NC_NOERR;
    PNC_TRY(reserve_buffer(step->worker, into, step->capacity, step->error));
    step->out = step->worker->buffers[into];
    err = kind->encode(step);
    if (err == NC_EFILTER)
        return is_optional ? NC_NOERR
                           : pnc_error_set(step->error, NC_EFILTER, "%s%s cannot encode a chunk of %lld bytes",
                                           pnc_filter_name_get(step->filter->id), print_id(step->filter->id).text,
                                           (long long)step->in_bytes);
    PNC_TRY(err);
    assert(step->result_bytes <= step->capacity);
    step->result = step->out;
    *used = into;
    return NC_NOERR;
}

int pnc_filter_chunk_encode(pnc_filter_worker *worker, const pnc_filter_chain *chain, const void *chunk, int64_t bytes,
                            const void **stored, int64_t *stored_bytes, uint32_t *mask, pnc_error *error)
{
    pnc_filter_step step = {.worker = worker, .in = chunk, .in_bytes = bytes, .error = error};
    uint32_t left_out = 0;
    int used = -1;

    PNC_TRY(check_chunk_bytes(bytes, error));
    PNC_TRY(pnc_filter_chain_check(chain, 0, worker->codecs, error));
    if (pnc_filter_chain_find_refusal(chain) != NULL)
        return pnc_error_set(error, NC_EFILTER, "%s", pnc_filter_chain_find_refusal(chain));
    for (int i = 0; i < chain->nfilters; i++) {
        step.filter = &chain->filters[i];
        PNC_TRY(encode_step(&step, &used));
        if (step.result == NULL) {
            left_out |= UINT32_C(1) << i;
            continue;
        }
        step.in = step.result;
        step.in_bytes = step.result_bytes;
    }
    PNC_TRY(check_chunk_bytes(step.in_bytes, error));
    *stored = step.in;
    *stored_bytes = step.in_bytes;
    *mask = left_out;
    return NC_NOERR;
}

bool pnc_filter_chunk_is_plain(const pnc_filter_chain *chain, uint32_t mask)
{
    for (int i = 0; i < chain->nfilters; i++)
        if (is_applied(chain, mask, i))
            return false;
    return true;
}

/* The bytes that a filter decodes to: so many, or at most so many. */
typedef struct expectation {
    int64_t bytes;
    bool is_exact;
} expectation;

/* From the first filter, whose result is the chunk, to the last one that was applied. Returns the number of those that
 * were applied; order[] has their positions. */
static int expect_lengths(const pnc_filter_chain *chain, uint32_t mask, int64_t bytes, expectation *expected,
                          int *order)
{
    expectation now = {bytes, true};
    int n = 0;

    for (int i = 0; i < chain->nfilters; i++) {
        if (is_applied(chain, mask, i)) {
            const pnc_filter_kind *kind = find_kind(chain->filters[i].id);
            order[n] = i;
            expected[n++] = now;
            now = (expectation){get_step_bound(&chain->filters[i], now.bytes), now.is_exact && !kind->compresses};
        }
    }
    return n;
}

/* Decode with one filter, into the chunk if it is not NULL, else into a buffer. */
static int decode_step(pnc_filter_step *step, const expectation *expected, unsigned char *chunk, int *used)
{
    const pnc_filter_kind *kind = find_kind(step->filter->id);
    int into = *used == 0 ? 1 : 0;

    step->capacity = expected->bytes;
    if (chunk == NULL)
        PNC_TRY(reserve_buffer(step->worker, into, step->capacity, step->error));
    step->out = chunk != NULL ? chunk : step->worker->buffers[into];
    step->result = step->out;
    PNC_TRY(kind->decode(step));
    assert(step->result_bytes <= step->capacity);
    if (expected->is_exact && step->result_bytes != expected->bytes)
        return pnc_error_set(step->error, NC_EHDFERR,
                             "%s: the stored chunk (%lld bytes) decodes to %lld bytes in place of %lld", kind->name,
                             (long long)step->in_bytes, (long long)step->result_bytes, (long long)expected->bytes);
    if (step->result == step->out)
        *used = into;
    return NC_NOERR;
}

int pnc_filter_chunk_decode(pnc_filter_worker *worker, const pnc_filter_chain *chain, const void *stored,
                            int64_t stored_bytes, uint32_t mask, void *chunk, int64_t bytes, pnc_error *error)
{
    pnc_filter_step step = {.worker = worker, .in = stored, .in_bytes = stored_bytes, .error = error};
    expectation expected[PNC_FILTER_MOST];
    int order[PNC_FILTER_MOST], used = -1, n;

    PNC_TRY(check_chunk_bytes(bytes, error));
    PNC_TRY(pnc_filter_chain_check(chain, mask, worker->codecs, error));
    n = expect_lengths(chain, mask, bytes, expected, order);
    if (n == 0 && stored_bytes != bytes)
        return pnc_error_set(error, NC_EHDFERR, "the chunk has %lld bytes, but %lld are stored, without a filter",
                             (long long)bytes, (long long)stored_bytes);
    while (n-- > 0) {
        step.filter = &chain->filters[order[n]];
        PNC_TRY(decode_step(&step, &expected[n], n == 0 ? chunk : NULL, &used));
        step.in = step.result;
        step.in_bytes = step.result_bytes;
    }
    if (step.in != chunk)
        memcpy(chunk, step.in, (size_t)bytes);
    return NC_NOERR;
}
