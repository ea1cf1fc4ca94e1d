/* What programs see of the storage of variables (format/storage.h), from what the file has. */
#include "format/quantization.h"
#include "format/storage.h"
#include "formats/netcdf4/netcdf4.h"

static int set_filters(pnc_model *model, pnc_var *var, const pnc_filter_chain *chain, pnc_error *error)
{
    for (int i = 0; var->ndims > 0 && i < chain->nfilters; i++)
        if (chain->filters[i].id != PNC_FILTER_NUMBER) /* the file has no such filter */
            PNC_TRY(pnc_format_storage_set_filter(model, var, &chain->filters[i], error));
    return NC_NOERR;
}

int pnc_netcdf4_properties_set(pnc_model *model, const pnc_netcdf4_storage *storage, pnc_error *error)
{
    static const int layouts[PNC_NETCDF4_LAYOUTS] = {[PNC_NETCDF4_CONTIGUOUS] = NC_CONTIGUOUS,
                                                     [PNC_NETCDF4_COMPACT] = NC_COMPACT,
                                                     [PNC_NETCDF4_CHUNKED] = NC_CHUNKED,
                                                     [PNC_NETCDF4_UNREADABLE] = NC_UNKNOWN_STORAGE,
                                                     [PNC_NETCDF4_STRINGS] = NC_CONTIGUOUS};

    for (int i = 0; i < model->nvars; i++) {
        const pnc_netcdf4_storage *found = &storage[i];
        pnc_var *var = model->vars[i];

        PNC_TRY(pnc_format_storage_add(model, var, error));
        PNC_TRY(set_filters(model, var, &found->filters, error));
        var->no_fill = found->no_fill;
        var->storage->layout = layouts[found->layout];
        var->storage->chunks = found->chunk;
        if (found->chunk != NULL)
            var->storage->layout = NC_CHUNKED;
        if (var->type != NC_CHAR && var->type != NC_STRING)
            var->storage->endian = var->little ? NC_ENDIAN_LITTLE : NC_ENDIAN_BIG;
        pnc_format_quantization_find(model, var, &var->quantize_mode, &var->nsd);
    }
    return NC_NOERR;
}
