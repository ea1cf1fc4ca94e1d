/* Fuzz target of the description of a netCDF-4 file: whatever the bytes, decoding neither crashes nor takes more than
 * its share of memory; what it accepts lies within the file, can be written, and is read back the same.
 *
 * An input: the size of the file in 8 bytes, and the description, whose numbers have the order of this host.
 *
 * For longer runs with clang's libFuzzer, from a build folder, as for fuzz_codec.c:
 *     MPICH_CC=clang mpicc -g -O1 -fsanitize=fuzzer,address,undefined -I$SRC/src -Isrc -Iinclude -I$SRC/test/fuzz
 *         $SRC/test/fuzz/fuzz_description.c $SRC/src/formats/netcdf4/{description,rules}.c $SRC/src/base/[a-z]*.c
 *         $SRC/src/format/{atts,checker,coordinates,encode,ids,layout,mapping,model,offsets,quantization}.c
 *         $SRC/src/format/{rules,shortage,storage,variables}.c $SRC/src/convert/quantize.c
 *         $SRC/src/filter/[a-z]*.c -lutf8proc -lm    (one command)
 * make_descriptions.py writes the corpus in test/fuzz/descriptions. */
#include <string.h>

#include "base/memory.h"
#include "formats/netcdf4/description.h"
#include "replay.h"

/* One decoded description. */
typedef struct decoded {
    pnc_model model;
    pnc_region region;
    pnc_netcdf4_storage *storage;
} decoded;

static void write_atts(pnc_netcdf4_writer *w, const pnc_atts *atts)
{
    pnc_netcdf4_count_write(w, atts->n);
    for (int i = 0; i < atts->n; i++)
        pnc_netcdf4_att_write(w, atts->at[i]->name, atts->at[i]);
}

static void write_var(pnc_netcdf4_writer *w, const pnc_var *var, pnc_netcdf4_storage storage)
{
    int64_t *dimids = calloc((size_t)var->ndims + 1, sizeof *dimids);

    REQUIRE(dimids != NULL);
    for (int i = 0; i < var->ndims; i++)
        dimids[i] = var->dimids[i];
    pnc_netcdf4_var_write(w, var->name, var->type, var->ndims, dimids);
    write_atts(w, &var->atts);
    storage.is_big_endian = !var->little;
    pnc_netcdf4_storage_write(w, &storage, var->ndims);
    free(dimids);
}

static pnc_netcdf4_writer encode(const decoded *d)
{
    const pnc_model *model = &d->model;
    pnc_netcdf4_writer w = {0};

    pnc_netcdf4_head_write(&w, model->format, model->ndims, model->nvars, &model->groups);
    for (int i = 0; i < model->ndims; i++)
        pnc_netcdf4_dim_write(&w, model->dims[i]->name, pnc_format_dim_get_length(model, i), model->dims[i]->unlimited);
    write_atts(&w, &model->gatts);
    for (int i = 0; i < model->nvars; i++)
        write_var(&w, model->vars[i], d->storage[i]);
    REQUIRE(!w.failed);
    return w;
}

static int decode(const void *bytes, int64_t n, int64_t file_size, decoded *d, pnc_error *error)
{
    *d = (decoded){.storage = NULL};
    return pnc_netcdf4_description_decode(bytes, n, file_size, &d->model, &d->region, &d->storage, error);
}

static void free_decoded(decoded *d)
{
    pnc_format_model_free(&d->model);
    pnc_region_free(&d->region);
}

/* What reading and writing chunks relies on. */
static void check_storage(const pnc_model *model, const pnc_var *var, const pnc_netcdf4_storage *s, int64_t file_size)
{
    int64_t stored = (int64_t)pnc_type_get_size(var->type), chunk = stored, nchunks = 1;

    REQUIRE(var->ndims >= 0 && var->ndims <= PNC_STORAGE_DIMS_MOST);
    for (int i = 0; i < var->ndims; i++) {
        REQUIRE(var->dimids[i] >= 0 && var->dimids[i] < model->ndims);
        REQUIRE(s->extent[i] >= 0);
    }
    if (s->layout == PNC_NETCDF4_UNREADABLE)
        return;
    REQUIRE(stored > 0);
    for (int i = 0; i < var->ndims; i++) {
        REQUIRE(s->extent[i] <= pnc_format_var_get_length(model, var, i));
        REQUIRE(!__builtin_mul_overflow(stored, s->extent[i], &stored));
        if (s->layout != PNC_NETCDF4_CHUNKED)
            continue;
        REQUIRE(s->chunk[i] > 0 && !__builtin_mul_overflow(chunk, s->chunk[i], &chunk));
        nchunks *= (s->extent[i] + s->chunk[i] - 1) / s->chunk[i];
    }
    if (s->layout == PNC_NETCDF4_CONTIGUOUS && s->address >= 0)
        REQUIRE(s->address <= file_size && stored <= file_size - s->address);
    if (s->layout == PNC_NETCDF4_COMPACT)
        REQUIRE(s->nbytes == stored);
    if (s->layout != PNC_NETCDF4_CHUNKED)
        return;
    REQUIRE(var->ndims > 0 && chunk <= PNC_FILTER_CHUNK_MOST && s->filters.nfilters <= PNC_FILTER_MOST);
    REQUIRE(s->nplaces == (s->places == NULL ? 0 : nchunks));
    for (int64_t i = 0; i < s->nplaces; i++)
        REQUIRE(s->places[i].offset < 0 || (s->places[i].bytes >= 0 && s->places[i].offset <= file_size &&
                                            s->places[i].bytes <= file_size - s->places[i].offset));
}

/* Written, decoded and written once more, it is the same. */
static void require_same_again(const decoded *d, int64_t file_size)
{
    pnc_netcdf4_writer one = encode(d), two;
    pnc_error error = {0};
    decoded again;

    REQUIRE(decode(one.bytes, one.n, file_size, &again, &error) == NC_NOERR);
    REQUIRE(again.model.numrecs == d->model.numrecs && again.model.recdim == d->model.recdim &&
            again.model.nrecvars == d->model.nrecvars && again.model.nunlimited == d->model.nunlimited);
    two = encode(&again);
    REQUIRE(one.n == two.n && memcmp(one.bytes, two.bytes, (size_t)one.n) == 0);
    free_decoded(&again);
    pnc_memory_free(one.bytes);
    pnc_memory_free(two.bytes);
}

static int naccepted;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t file_size, n = (int64_t)size - 8;
    pnc_error error = {0};
    decoded d;
    char *bytes;
    int err;

    if (n < 0)
        return 0;
    memcpy(&file_size, data, sizeof file_size);
    if (file_size < 0)
        return 0;
    bytes = malloc((size_t)n + !n); /* no byte more, so that a sanitizer detects a read beyond the end */
    REQUIRE(bytes != NULL);
    memcpy(bytes, data + 8, (size_t)n);
    err = decode(bytes, n, file_size, &d, &error);
    REQUIRE(err == NC_NOERR ? error.text[0] == '\0' : error.text[0] != '\0');
    REQUIRE(err == NC_NOERR || err == NC_EHDFERR || err == NC_ENOMEM);
    if (err == NC_NOERR) {
        for (int i = 0; i < d.model.nvars; i++)
            check_storage(&d.model, d.model.vars[i], &d.storage[i], file_size);
        require_same_again(&d, file_size);
        naccepted++;
    }
    free_decoded(&d);
    free(bytes);
    return 0;
}

#ifdef PNC_FUZZ_REPLAY
/* Those of make_descriptions.py that are not damaged; none has the order of a big-endian host. */
enum { KNOWN = 14 };

int main(int argc, char **argv)
{
    const uint16_t one = 1;
    int failed = replay(argc, argv, "descriptions");

    if (argc == 1 && *(const uint8_t *)&one == 1 && naccepted < KNOWN) {
        fprintf(stderr, "%d descriptions are accepted, not %d\n", naccepted, KNOWN);
        return 1;
    }
    return failed;
}
#endif
