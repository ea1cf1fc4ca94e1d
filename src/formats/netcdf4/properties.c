/* What programs see of the storage of variables (format/storage.h), from what the file has. */
#include "format/storage.h"
#include "formats/netcdf4/netcdf4.h"

static int read_int(const pnc_model *model, const unsigned char *b)
{
    uint32_t n = model->little ? (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0]
                               : (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];

    return (int)n;
}

/* netCDF-C writes the number of digits into an attribute, whose name says how values were quantized. The first name is
 * that of files; NC_QUANTIZE_BITGROOM_ATT_NAME of pnetcdf.h spells it in another way. */
static void set_quantization(const pnc_model *model, pnc_var *var)
{
    static const struct {
        const char *name;
        int mode;
    } names[] = {{"_QuantizeBitGroomNumberOfSignificantDigits", NC_QUANTIZE_BITGROOM},
                 {NC_QUANTIZE_GRANULARBR_ATT_NAME, NC_QUANTIZE_GRANULARBR},
                 {NC_QUANTIZE_BITROUND_ATT_NAME, NC_QUANTIZE_BITROUND}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int at = pnc_format_atts_find(&var->atts, names[i].name);
        const pnc_att *att = at < 0 ? NULL : var->atts.at[at];

        if (att == NULL || att->type != NC_INT || att->len != 1)
            continue;
        var->storage->quantize_mode = names[i].mode;
        var->storage->nsd = read_int(model, att->value);
    }
}

static int set_filters(pnc_model *model, pnc_var *var, const pnc_filter_chain *chain, pnc_error *error)
{
    for (int i = 0; var->ndims > 0 && i < chain->nfilters; i++)
        PNC_TRY(pnc_format_storage_set_filter(model, var, &chain->filters[i], error));
    return NC_NOERR;
}

int pnc_netcdf4_properties_set(pnc_model *model, const pnc_netcdf4_storage *storage, pnc_error *error)
{
    static const int layouts[PNC_NETCDF4_LAYOUTS] = {[PNC_NETCDF4_CONTIGUOUS] = NC_CONTIGUOUS,
                                                     [PNC_NETCDF4_COMPACT] = NC_COMPACT,
                                                     [PNC_NETCDF4_CHUNKED] = NC_CHUNKED,
                                                     [PNC_NETCDF4_UNREADABLE] = NC_UNKNOWN_STORAGE};

    for (int i = 0; i < model->nvars; i++) {
        const pnc_netcdf4_storage *found = &storage[i];
        pnc_var *var = model->vars[i];

        PNC_TRY(pnc_format_storage_add(model, var, error));
        PNC_TRY(set_filters(model, var, &found->filters, error));
        var->storage->layout = layouts[found->layout];
        var->storage->chunks = found->layout == PNC_NETCDF4_CHUNKED ? found->chunk : NULL;
        if (var->type != NC_CHAR)
            var->storage->endian = var->little ? NC_ENDIAN_LITTLE : NC_ENDIAN_BIG;
        set_quantization(model, var);
    }
    return NC_NOERR;
}
