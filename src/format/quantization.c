/* Modes and numbers of quantization, with the limits of netCDF-C. */
#include "format/quantization.h"

#include <string.h>

#include "convert/quantize.h"

int pnc_format_quantization_set(pnc_var *var, int mode, int nsd, pnc_error *error)
{
    int most = pnc_convert_quantizer_get_most((pnc_quantization)mode, var->type);

    if (mode < NC_NOQUANTIZE || mode > NC_QUANTIZE_BITROUND)
        return pnc_error_set(error, NC_EINVAL,
                             "quantize_mode is %d: must be NC_NOQUANTIZE, NC_QUANTIZE_BITGROOM, "
                             "NC_QUANTIZE_GRANULARBR or NC_QUANTIZE_BITROUND",
                             mode);
    if (mode != NC_NOQUANTIZE && most == 0)
        return pnc_error_set(error, NC_EINVAL,
                             "variable \"%s\" is neither NC_FLOAT nor NC_DOUBLE: it cannot be quantized", var->name);
    if (mode != NC_NOQUANTIZE && (nsd < 1 || nsd > most))
        return pnc_error_set(error, NC_EINVAL, "nsd is %d: must be 1 to %d for variable \"%s\"", nsd, most, var->name);
    var->quantize_mode = mode;
    var->nsd = mode == NC_NOQUANTIZE ? 0 : nsd;
    return NC_NOERR;
}

/* External bytes of an NC_INT. */
#define INT_BYTES 4

static int read_int(const void *bytes, bool little)
{
    const unsigned char *b = bytes;
    uint32_t n = 0;

    for (int i = 0; i < INT_BYTES; i++)
        n = n << 8 | b[little ? INT_BYTES - 1 - i : i];
    return (int)n;
}

static void write_int(int number, bool little, unsigned char *out)
{
    for (int i = 0; i < INT_BYTES; i++)
        out[little ? i : INT_BYTES - 1 - i] = (unsigned char)((uint32_t)number >> 8 * i);
}

void pnc_format_quantization_find(const pnc_model *model, const pnc_var *var, int *mode, int *nsd)
{
    *mode = NC_NOQUANTIZE;
    *nsd = 0;
    for (int m = NC_QUANTIZE_BITGROOM; m <= NC_QUANTIZE_BITROUND; m++) {
        int number, at = pnc_format_atts_find(&var->atts, pnc_convert_quantization_get_attribute((pnc_quantization)m));
        const pnc_att *att = at < 0 ? NULL : var->atts.at[at];

        if (att == NULL || att->type != NC_INT || att->len != 1)
            continue;
        number = read_int(att->value, model->little);
        if (number < 1 || number > pnc_convert_quantizer_get_most((pnc_quantization)m, var->type))
            continue;
        *mode = m;
        *nsd = number;
    }
}

int pnc_format_quantization_write(pnc_model *model, pnc_var *var, pnc_error *error)
{
    unsigned char value[INT_BYTES];

    if (var->quantize_mode == NC_NOQUANTIZE)
        return NC_NOERR;
    for (int m = NC_QUANTIZE_BITGROOM; m <= NC_QUANTIZE_BITROUND; m++) {
        int at = pnc_format_atts_find(&var->atts, pnc_convert_quantization_get_attribute((pnc_quantization)m));

        if (at >= 0 && m != var->quantize_mode)
            PNC_TRY(pnc_format_atts_delete(&var->atts, at));
    }
    write_int(var->nsd, model->little, value);
    return pnc_format_atts_put(model, &var->atts,
                               pnc_convert_quantization_get_attribute((pnc_quantization)var->quantize_mode), NC_INT, 1,
                               value, error);
}
