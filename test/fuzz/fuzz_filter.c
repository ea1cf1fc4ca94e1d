/* Fuzz target of filters: whatever is stored for a chunk, decoding writes nothing beyond the chunk, and either fails
 * with a message or is followed by an encoding that decodes to the same bytes.
 *
 * An input: the number of filters (at most 4); for each its position in `ids`, the number of parameters (at most 20)
 * and these, 4 bytes each, little-endian; the mask; the length of the chunk in 4 bytes (at most LARGEST); what is
 * stored.
 * Filters whose libraries are not installed fail.
 *
 * For longer runs with clang's libFuzzer, from a build folder, as for fuzz_codec.c:
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -I$SRC/src -Isrc -I$SRC/test/fuzz $SRC/test/fuzz/fuzz_filter.c
 *         $SRC/src/base/[a-z]*.c $SRC/src/filter/[a-z]*.c $SRC/src/host/codecs.c $SRC/src/host/library.c -lutf8proc
 * (one command)
 * make_chunks.py writes the corpus in test/fuzz/chunks. */
#include <string.h>

#include "filter/filter.h"
#include "host/codecs.h"
#include "replay.h"

enum { FILTERS = 4, PARAMETERS = 20, LARGEST = 1 << 17 };

static const int ids[] = {PNC_FILTER_DEFLATE, PNC_FILTER_SHUFFLE,  PNC_FILTER_FLETCHER32,
                          PNC_FILTER_SZIP,    PNC_FILTER_ZSTD,     32001,
                          PNC_FILTER_LZF,     PNC_FILTER_NBIT,     PNC_FILTER_SCALEOFFSET,
                          PNC_FILTER_NUMBER,  PNC_FILTER_GZIP,     PNC_FILTER_ZARR_BLOSC,
                          PNC_FILTER_CRC32C,  PNC_FILTER_TRANSPOSE};

typedef struct input {
    const uint8_t *at;
    size_t left;
} input;

static uint32_t take(input *in, size_t bytes)
{
    uint32_t number = 0;

    for (size_t i = 0; i < bytes && in->left > 0; i++, in->at++, in->left--)
        number |= (uint32_t)*in->at << 8 * i;
    return number;
}

/* What was decoded is a chunk, which these filters can store. */
static void require_round_trip(pnc_filter_worker *worker, const pnc_filter_chain *chain, const uint8_t *chunk,
                               int64_t bytes)
{
    const void *stored;
    int64_t stored_bytes;
    uint32_t mask;
    uint8_t *copy, *back = malloc((size_t)bytes);
    int err = pnc_filter_chunk_encode(worker, chain, chunk, bytes, &stored, &stored_bytes, &mask, NULL);

    REQUIRE(back != NULL);
    if (err == NC_NOERR) {
        copy = malloc((size_t)stored_bytes);
        REQUIRE(copy != NULL);
        REQUIRE(stored_bytes <= pnc_filter_chain_get_bound(chain, bytes));
        memcpy(copy, stored, (size_t)stored_bytes);
        REQUIRE(pnc_filter_chunk_decode(worker, chain, copy, stored_bytes, mask, back, bytes, NULL) == NC_NOERR);
        REQUIRE(memcmp(back, chunk, (size_t)bytes) == 0);
        free(copy);
    }
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t parameters[FILTERS][PARAMETERS], mask;
    pnc_filter filters[FILTERS];
    input in = {data, size};
    pnc_filter_chain chain = {(int)(take(&in, 1) % (FILTERS + 1)), filters};
    pnc_filter_worker worker;
    pnc_error error = {0};
    int64_t bytes;
    uint8_t *chunk;
    int err;

    for (int i = 0; i < chain.nfilters; i++) {
        int id = ids[take(&in, 1) % (sizeof ids / sizeof *ids)], n = (int)(take(&in, 1) % (PARAMETERS + 1));
        for (int k = 0; k < n; k++)
            parameters[i][k] = take(&in, 4);
        filters[i] = (pnc_filter){.id = id, .is_optional = true, .nparameters = n, .parameters = parameters[i]};
    }
    mask = take(&in, 1);
    bytes = take(&in, 4) % LARGEST + 1;
    chunk = malloc((size_t)bytes); /* no byte more, so that a sanitizer detects a write beyond the end */
    REQUIRE(chunk != NULL);
    pnc_filter_worker_init(&worker, pnc_host_codecs_get());
    err = pnc_filter_chunk_decode(&worker, &chain, in.at, (int64_t)in.left, mask, chunk, bytes, &error);
    REQUIRE(err == NC_NOERR ? error.text[0] == '\0' : error.text[0] != '\0');
    REQUIRE(err == NC_NOERR || err == NC_EHDFERR || err == NC_EFILTER);
    if (err == NC_NOERR)
        require_round_trip(&worker, &chain, chunk, bytes);
    pnc_filter_worker_free(&worker);
    free(chunk);
    return 0;
}

#ifdef PNC_FUZZ_REPLAY
int main(int argc, char **argv)
{
    return replay(argc, argv, "chunks");
}
#endif
