/* Modes and numbers of quantization, with the limits of netCDF-C. */
#include "format/quantization.h"

#include <string.h>

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

static int read_int(const void *bytes, bool little)
{
    const unsigned char *b = bytes;
    uint32_t n = 0;

    for (int i = 0; i < PNC_FORMAT_INT_BYTES; i++)
        n = n << 8 | b[little ? PNC_FORMAT_INT_BYTES - 1 - i : i];
    return (int)n;
}

void pnc_format_int_write(int number, bool little, unsigned char *out)
{
    for (int i = 0; i < PNC_FORMAT_INT_BYTES; i++)
        out[little ? i : PNC_FORMAT_INT_BYTES - 1 - i] = (unsigned char)((uint32_t)number >> 8 * i);
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

/* --- bounds of errors --- */

static void write_double(double number, bool little, unsigned char *out)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    for (size_t i = 0; i < sizeof bits; i++)
        out[little ? i : sizeof bits - 1 - i] = (unsigned char)(bits >> 8 * i);
}

static const pnc_att *find_bound(const pnc_var *var, pnc_quantization mode)
{
    int at = pnc_format_atts_find(&var->atts, pnc_convert_quantization_get_attribute(mode));

    return at < 0 ? NULL : var->atts.at[at];
}

static bool is_bound(const pnc_model *model, const pnc_att *att, double bound)
{
    unsigned char expected[sizeof bound];

    write_double(bound, model->little, expected);
    return att->type == NC_DOUBLE && att->len == 1 && memcmp(att->value, expected, sizeof expected) == 0;
}

bool pnc_format_error_bound_is_possible(const pnc_model *model, const pnc_var *var, pnc_quantization mode, double bound)
{
    const pnc_att *att = find_bound(var, mode),
                  *other = find_bound(var, mode == PNC_ABSOLUTE_ERROR ? PNC_RELATIVE_ERROR : PNC_ABSOLUTE_ERROR);

    return (var->type == NC_FLOAT || var->type == NC_DOUBLE) && other == NULL &&
           (att == NULL || is_bound(model, att, bound));
}

bool pnc_format_error_bound_is_stated(const pnc_model *model, const pnc_var *var, pnc_quantization mode, double bound)
{
    return find_bound(var, mode) != NULL && pnc_format_error_bound_is_possible(model, var, mode, bound);
}

static int write_bound(pnc_model *model, pnc_var *var, pnc_error *error)
{
    unsigned char value[sizeof(double)];

    write_double(var->error_bound, model->little, value);
    return pnc_format_atts_put(model, &var->atts,
                               pnc_convert_quantization_get_attribute((pnc_quantization)var->error_mode), NC_DOUBLE, 1,
                               value, error);
}

int pnc_format_quantization_write(pnc_model *model, pnc_var *var, pnc_error *error)
{
    unsigned char value[PNC_FORMAT_INT_BYTES];

    if (var->error_mode != 0)
        return write_bound(model, var, error);
    if (var->quantize_mode == NC_NOQUANTIZE)
        return NC_NOERR;
    for (int m = NC_QUANTIZE_BITGROOM; m <= NC_QUANTIZE_BITROUND; m++) {
        int at = pnc_format_atts_find(&var->atts, pnc_convert_quantization_get_attribute((pnc_quantization)m));

        if (at >= 0 && m != var->quantize_mode)
            PNC_TRY(pnc_format_atts_delete(&var->atts, at));
    }
    pnc_format_int_write(var->nsd, model->little, value);
    return pnc_format_atts_put(model, &var->atts,
                               pnc_convert_quantization_get_attribute((pnc_quantization)var->quantize_mode), NC_INT, 1,
                               value, error);
}
