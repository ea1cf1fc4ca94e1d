/* Fuzz target of the documents of a Zarr store: whatever they are, decoding neither crashes nor takes more than its
 * share of memory; what it accepts is what src/filter and a model can have, becomes documents again, and those are read
 * back the same. The rest of the input is the index of a shard.
 *
 * An input: documents, each a key, a newline, its bytes, and the character 0x1E.
 *
 * For longer runs with clang's libFuzzer, from a build folder, as for fuzz_codec.c:
 *     MPICH_CC=clang mpicc -g -O1 -fsanitize=fuzzer,address,undefined -I$SRC/src -Isrc -Iinclude -I$SRC/test/fuzz
 *         $SRC/test/fuzz/fuzz_zarr.c .libs/libinternal.a -lutf8proc -lm    (one command)
 * make_zarr.py writes the corpus in test/fuzz/zarr. */
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "formats/zarr/document.h"
#include "formats/zarr/index.h"
#include "host/codecs.h"
#include "host/json.h"
#include "replay.h"

enum { DOCUMENTS_MOST = 64, INDEX_MOST = 1 << 16 };

/* Cut at the separators; the bytes that remain. */
static int64_t cut(char *text, int64_t n, pnc_zarr_document *documents, int64_t *ndocuments)
{
    int64_t at = 0;

    *ndocuments = 0;
    while (at < n && *ndocuments < DOCUMENTS_MOST) {
        char *key = text + at, *end = memchr(key, 0x1E, (size_t)(n - at)), *line;

        line = end != NULL ? memchr(key, '\n', (size_t)(end - key)) : NULL;
        if (line == NULL || memchr(key, '\0', (size_t)(line - key)) != NULL)
            break;
        *line = '\0';
        documents[(*ndocuments)++] = (pnc_zarr_document){.key = key, .bytes = line + 1, .n = end - line - 1};
        at = end + 1 - text;
    }
    return at;
}

static void require_filters(const pnc_zarr_array *a)
{
    static pnc_error error;
    const pnc_filter_chain *chain = &a->filters;

    REQUIRE(chain->nfilters >= 0 && chain->nfilters <= PNC_FILTER_MOST);
    for (int i = 0; i < chain->nfilters; i++) {
        const pnc_filter_chain one = {1, &chain->filters[i]};

        pnc_error_clear(&error);
        if (pnc_filter_chain_check(&one, 0, pnc_host_codecs_get(), &error) != NC_NOERR)
            REQUIRE(strstr(error.text, "not installed") != NULL);
    }
}

static void require_array(const pnc_zarr_store *store, const pnc_zarr_array *a)
{
    int64_t size = (int64_t)pnc_type_get_size(a->type), values = size, chunk = size;
    int64_t at[PNC_ZARR_DIMS_MOST] = {0}, back[PNC_ZARR_DIMS_MOST];
    bool is_empty = false;
    char key[PNC_ZARR_KEY_MOST];

    REQUIRE(a->ndims >= 0 && a->ndims <= PNC_ZARR_DIMS_MOST && pnc_zarr_key_is_safe(a->path));
    for (int i = 0; i < a->ndims; i++) {
        const pnc_zarr_dim *dim = &store->dims[a->dimids[i]];

        REQUIRE(a->dimids[i] >= 0 && a->dimids[i] < store->ndims && a->shape[i] >= 0);
        REQUIRE(dim->is_unlimited ? a->shape[i] <= dim->length : a->shape[i] == dim->length);
        REQUIRE(pnc_size_multiply(values, a->shape[i], &values) == 0);
        is_empty = is_empty || a->shape[i] == 0;
    }
    if (a->refusal != NULL)
        return;
    REQUIRE(size > 0);
    for (int i = 0; i < a->ndims; i++) {
        REQUIRE(a->chunks[i] > 0 && (a->inner == NULL || (a->inner[i] > 0 && a->chunks[i] % a->inner[i] == 0)));
        REQUIRE(pnc_size_multiply(chunk, a->inner != NULL ? a->inner[i] : a->chunks[i], &chunk) == 0);
    }
    REQUIRE(chunk <= PNC_FILTER_CHUNK_MOST);
    require_filters(a);
    REQUIRE(pnc_zarr_key_write(a, at, key) == (int)strlen(key) && strlen(key) < sizeof key);
    REQUIRE(is_empty || (pnc_zarr_key_parse(a, key, back) && memcmp(at, back, sizeof *at * (size_t)a->ndims) == 0));
}

static void decode_index(const pnc_zarr_array *a, const char *bytes, int64_t n)
{
    pnc_zarr_place *places;
    pnc_error error = {0};
    char *index;
    int64_t nplaces;

    if (a->refusal != NULL || a->inner == NULL || pnc_zarr_index_get_bytes(a) > n || n > INDEX_MOST)
        return;
    nplaces = pnc_zarr_index_count(a);
    places = malloc((size_t)nplaces * sizeof *places);
    index = malloc((size_t)pnc_zarr_index_get_bytes(a));
    REQUIRE(places != NULL && index != NULL);
    memcpy(index, bytes, (size_t)pnc_zarr_index_get_bytes(a));
    if (pnc_zarr_index_decode(a, index, n, places, &error) == NC_NOERR)
        for (int64_t i = 0; i < nplaces; i++)
            REQUIRE(places[i].offset < 0 || (places[i].bytes > 0 && places[i].offset <= n - places[i].bytes));
    free(index);
    free(places);
}

static bool is_same_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void require_same(const pnc_zarr_store *a, const pnc_zarr_store *b)
{
    REQUIRE(a->ndims == b->ndims && a->narrays == b->narrays && a->ngroups == b->ngroups);
    for (int i = 0; i < a->ndims; i++)
        REQUIRE(is_same_text(a->dims[i].name, b->dims[i].name) && a->dims[i].length == b->dims[i].length &&
                a->dims[i].is_unlimited == b->dims[i].is_unlimited);
    for (int i = 0; i < a->narrays; i++) {
        const pnc_zarr_array *x = &a->arrays[i], *y = &b->arrays[i];

        REQUIRE(is_same_text(x->path, y->path) && x->type == y->type && x->ndims == y->ndims && x->natts == y->natts);
        for (int k = 0; k < x->natts; k++)
            REQUIRE(is_same_text(x->atts[k].name, y->atts[k].name) && x->atts[k].type == y->atts[k].type &&
                    x->atts[k].len == y->atts[k].len);
    }
}

/* Through a model, and back. */
static void encode_again(const pnc_zarr_document *documents, int64_t n, const pnc_zarr_store *store,
                         pnc_zarr_groups groups, pnc_region *region)
{
    pnc_model model = {0};
    pnc_error error = {0};
    pnc_zarr_store made, back;
    const pnc_zarr_document *out;
    pnc_zarr_layout *layouts = calloc((size_t)store->narrays + 1, sizeof *layouts);
    int64_t nout;

    REQUIRE(layouts != NULL);
    REQUIRE(pnc_zarr_model_make(store, NC_FORMAT_64BIT_DATA, groups, &model, &error) == NC_NOERR);
    REQUIRE(groups == PNC_ZARR_GROUPS_HIDDEN || (model.nvars == store->narrays && model.ndims == store->ndims));
    for (int i = 0; i < store->narrays; i++)
        layouts[i].existing = &store->arrays[i];
    REQUIRE(pnc_zarr_store_make(&model, layouts, region, &made, &error) == NC_NOERR);
    REQUIRE(pnc_zarr_store_encode(pnc_host_json_get(), &made, documents, n, region, &out, &nout, &error) == NC_NOERR);
    if (pnc_zarr_store_decode(pnc_host_json_get(), out, nout, groups, region, &back, &error) != NC_NOERR)
        fprintf(stderr, "%s\n", error.text);
    REQUIRE(error.code == NC_NOERR);
    if (groups != PNC_ZARR_GROUPS_HIDDEN) /* dimensions of groups that are not there go */
        require_same(store, &back);
    pnc_format_model_free(&model);
    free(layouts);
}

static int naccepted;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pnc_zarr_document documents[DOCUMENTS_MOST];
    char *bytes = malloc(size + 1);
    pnc_region region = {0};
    pnc_error error = {0};
    pnc_zarr_store store;
    const pnc_zarr_groups groups = (pnc_zarr_groups)(size % 3);
    int64_t n, rest;
    int err;

    REQUIRE(bytes != NULL);
    memcpy(bytes, data, size);
    rest = cut(bytes, (int64_t)size, documents, &n);
    err = pnc_zarr_store_decode(pnc_host_json_get(), documents, n, groups, &region, &store, &error);
    REQUIRE(err == NC_NOERR ? error.text[0] == '\0' : error.text[0] != '\0');
    REQUIRE(err == NC_NOERR || err == NC_ENCZARR || err == NC_ENOMEM || err == NC_ENOTBUILT);
    if (err == NC_NOERR) {
        for (int i = 0; i < store.narrays; i++) {
            require_array(&store, &store.arrays[i]);
            decode_index(&store.arrays[i], bytes + rest, (int64_t)size - rest);
        }
        encode_again(documents, n, &store, groups, &region);
        naccepted++;
    }
    pnc_region_free(&region);
    free(bytes);
    return 0;
}

#ifdef PNC_FUZZ_REPLAY
enum { KNOWN = 12 }; /* of make_zarr.py that are not damaged */

int main(int argc, char **argv)
{
    int failed = replay(argc, argv, "zarr");

    if (argc == 1 && pnc_host_json_get() != NULL && naccepted < KNOWN) {
        fprintf(stderr, "%d stores are accepted, not %d\n", naccepted, KNOWN);
        return 1;
    }
    return failed;
}
#endif
