/* Which filters of netCDF become which codecs of Zarr, and back.
 *
 *     filter of netCDF                     codec of Zarr
 *     shuffle, deflate LEVEL               blosc: zlib LEVEL, shuffle
 *     deflate LEVEL                        gzip LEVEL
 *     shuffle, zstandard LEVEL             blosc: zstd, shuffle; its level is (LEVEL + 1) / 2, in 1 to 9
 *     zstandard LEVEL                      zstd LEVEL
 *     blosc (32001) CODEC, LEVEL, SHUFFLE  blosc, the same
 *     shuffle alone                        none: it would change the order of bytes only
 *     fletcher32                           crc32c
 *     others                               NC_EFILTER
 *
 * Version 3 of Zarr has no shuffle of its own, but all readers have that of blosc. Its zstd has levels 1, 3, 5 .. of
 * libzstd for its own levels 1, 2, 3 .. */
#include <string.h>

#include "base/minmax.h"
#include "base/types.h"
#include "formats/zarr/document.h"

/* The plugin of HDF5, and its parameters. */
enum { PLUGIN_BLOSC = 32001 };
enum { PLUGIN_TYPE_SIZE = 2, PLUGIN_LEVEL = 4, PLUGIN_SHUFFLE, PLUGIN_CODEC, PLUGIN_PARAMETERS };

static int append_codec(pnc_region *region, pnc_filter_chain *chain, int id, int n, const uint32_t *parameters)
{
    uint32_t *copy = n > 0 ? pnc_region_alloc(region, n * (int64_t)sizeof *copy) : NULL;
    pnc_filter *filters = (pnc_filter *)(uintptr_t)chain->filters;

    if (filters == NULL)
        filters = pnc_region_alloc(region, PNC_FILTER_MOST * (int64_t)sizeof *filters);
    if (filters == NULL || (n > 0 && copy == NULL))
        return NC_ENOMEM;
    if (n > 0)
        memcpy(copy, parameters, (size_t)n * sizeof *copy);
    filters[chain->nfilters++] = (pnc_filter){.id = id, .nparameters = n, .parameters = copy};
    chain->filters = filters;
    return NC_NOERR;
}

static int append_blosc(pnc_region *region, pnc_filter_chain *chain, int type, uint32_t codec, uint32_t level,
                        uint32_t shuffle)
{
    const uint32_t p[PNC_BLOSC_PARAMETERS] = {[PNC_BLOSC_CODEC] = codec,
                                              [PNC_BLOSC_LEVEL] = level,
                                              [PNC_BLOSC_SHUFFLE] = shuffle,
                                              [PNC_BLOSC_TYPE_SIZE] = (uint32_t)pnc_type_get_size(type)};

    return append_codec(region, chain, PNC_FILTER_ZARR_BLOSC, PNC_BLOSC_PARAMETERS, p);
}

/* --- from netCDF --- */

static uint32_t get_filter_parameter(const pnc_filter *filter, int i, uint32_t otherwise)
{
    return filter->nparameters > i ? filter->parameters[i] : otherwise;
}

static int map_deflate(const pnc_filter *filter, int type, bool is_shuffled, pnc_region *region, pnc_filter_chain *out)
{
    uint32_t level = get_filter_parameter(filter, 0, 1);

    if (is_shuffled)
        return append_blosc(region, out, type, PNC_BLOSC_ZLIB, level, PNC_BLOSC_BYTES_SHUFFLED);
    return append_codec(region, out, PNC_FILTER_GZIP, 1, &level);
}

static int map_zstd(const pnc_filter *filter, int type, bool is_shuffled, pnc_region *region, pnc_filter_chain *out)
{
    uint32_t level = get_filter_parameter(filter, 0, 0);
    int64_t blosc_level = pnc_min64(pnc_max64(((int32_t)level + 1) / 2, 1), PNC_BLOSC_LEVEL_MOST);

    if (is_shuffled)
        return append_blosc(region, out, type, PNC_BLOSC_ZSTD, (uint32_t)blosc_level, PNC_BLOSC_BYTES_SHUFFLED);
    return append_codec(region, out, PNC_FILTER_ZSTD, 1, &level);
}

static int map_blosc(const pnc_filter *filter, int type, pnc_region *region, pnc_filter_chain *out)
{
    return append_blosc(region, out, type,
                        (uint32_t)pnc_min64(get_filter_parameter(filter, PLUGIN_CODEC, 0), PNC_BLOSC_CODECS - 1),
                        (uint32_t)pnc_min64(get_filter_parameter(filter, PLUGIN_LEVEL, 5), PNC_BLOSC_LEVEL_MOST),
                        (uint32_t)pnc_min64(get_filter_parameter(filter, PLUGIN_SHUFFLE, 1), PNC_BLOSC_SHUFFLES - 1));
}

static int map_filter(const pnc_var *var, const pnc_filter *filter, bool is_shuffled, pnc_region *region,
                      pnc_filter_chain *out, pnc_error *error)
{
    switch (filter->id) {
    case PNC_FILTER_SHUFFLE: return NC_NOERR;
    case PNC_FILTER_DEFLATE: return map_deflate(filter, var->type, is_shuffled, region, out);
    case PNC_FILTER_ZSTD: return map_zstd(filter, var->type, is_shuffled, region, out);
    case PLUGIN_BLOSC: return map_blosc(filter, var->type, region, out);
    case PNC_FILTER_FLETCHER32: return append_codec(region, out, PNC_FILTER_CRC32C, 0, NULL);
    default:
        return pnc_error_set(
            error, NC_EFILTER,
            "variable \"%s\": Zarr has no codec for the filter %s (id %d) that its readers know: choose "
            "deflate, zstd, blosc or fletcher32",
            var->name, pnc_filter_name_get(filter->id), filter->id);
    }
}

int pnc_zarr_filters_derive(const pnc_var *var, pnc_region *region, pnc_filter_chain *out, pnc_error *error)
{
    pnc_filter_chain chain = {0, NULL};
    bool is_shuffled = false;

    for (int i = 0; var->storage != NULL && i < var->storage->nfilters; i++) {
        int err = map_filter(var, &var->storage->filters[i], is_shuffled, region, &chain, error);

        if (err == NC_ENOMEM)
            return pnc_error_set(error, NC_ENOMEM, "no memory for the filters of variable \"%s\"", var->name);
        PNC_TRY(err);
        is_shuffled = is_shuffled || var->storage->filters[i].id == PNC_FILTER_SHUFFLE;
    }
    *out = chain;
    return NC_NOERR;
}

/* --- to netCDF --- */

static int find_blosc(const uint32_t *p, pnc_region *region, pnc_filter_chain *out)
{
    uint32_t level = p[PNC_BLOSC_LEVEL], plugin[PLUGIN_PARAMETERS] = {2, 2, p[PNC_BLOSC_TYPE_SIZE], 0};
    bool is_shuffled = p[PNC_BLOSC_SHUFFLE] == PNC_BLOSC_BYTES_SHUFFLED;

    if (is_shuffled && p[PNC_BLOSC_CODEC] == PNC_BLOSC_ZLIB) {
        PNC_TRY(append_codec(region, out, PNC_FILTER_SHUFFLE, 0, NULL));
        return append_codec(region, out, PNC_FILTER_DEFLATE, 1, &level);
    }
    if (is_shuffled && p[PNC_BLOSC_CODEC] == PNC_BLOSC_ZSTD && level > 0) {
        level = 2 * level - 1;
        PNC_TRY(append_codec(region, out, PNC_FILTER_SHUFFLE, 0, NULL));
        return append_codec(region, out, PNC_FILTER_ZSTD, 1, &level);
    }
    plugin[PLUGIN_LEVEL] = level;
    plugin[PLUGIN_SHUFFLE] = p[PNC_BLOSC_SHUFFLE];
    plugin[PLUGIN_CODEC] = p[PNC_BLOSC_CODEC];
    return append_codec(region, out, PLUGIN_BLOSC, PLUGIN_PARAMETERS, plugin);
}

static int find_filter(const pnc_filter *codec, pnc_region *region, pnc_filter_chain *out)
{
    switch (codec->id) {
    case PNC_FILTER_ZARR_BLOSC: return find_blosc(codec->parameters, region, out);
    case PNC_FILTER_GZIP: return append_codec(region, out, PNC_FILTER_DEFLATE, 1, codec->parameters);
    case PNC_FILTER_CRC32C: return append_codec(region, out, PNC_FILTER_FLETCHER32, 0, NULL);
    case PNC_FILTER_SHUFFLE: return append_codec(region, out, PNC_FILTER_SHUFFLE, 0, NULL);
    case PNC_FILTER_TRANSPOSE: return NC_NOERR;
    default: return append_codec(region, out, codec->id, codec->nparameters, codec->parameters);
    }
}

int pnc_zarr_filters_find(const pnc_filter_chain *codecs, pnc_region *region, pnc_filter_chain *out, pnc_error *error)
{
    pnc_filter_chain chain = {0, NULL};

    for (int i = 0; i < codecs->nfilters; i++)
        if (chain.nfilters + 2 <= PNC_FILTER_MOST && find_filter(&codecs->filters[i], region, &chain) != NC_NOERR)
            return pnc_error_set(error, NC_ENOMEM, "no memory for the filters of a variable");
    *out = chain;
    return NC_NOERR;
}
