/* What the CF conventions have for quantized variables (8.4, since CF 1.12): a variable without values for each
 * algorithm, and attributes of what is quantized, which name it. */
#include "format/quantization.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "format/coordinates.h"
#include "format/storage.h"

#define ALGORITHM_MOST 32 /* bytes of its name */

static const char *get_algorithm(int mode)
{
    switch (mode) {
    case NC_QUANTIZE_BITGROOM: return "bitgroom";
    case NC_QUANTIZE_GRANULARBR: return "granular_bitround";
    default: return "bitround";
    }
}

static int put_text(pnc_model *model, pnc_var *var, const char *name, const char *text, pnc_error *error)
{
    return pnc_format_atts_put(model, &var->atts, name, NC_CHAR, (int64_t)strlen(text), text, error);
}

/* A variable of the program may have the name: others are tried. */
static int add_container(pnc_model *model, const char *algorithm, bool has_storage, const char **name, pnc_error *error)
{
    char text[ALGORITHM_MOST + sizeof "quantization__2147483647"];
    pnc_var *var;

    snprintf(text, sizeof text, "quantization_%s", algorithm);
    for (int i = 1; pnc_format_var_find(model, text) >= 0; i++)
        snprintf(text, sizeof text, "quantization_%s_%d", algorithm, i);
    PNC_TRY(pnc_format_var_add(model, text, NC_CHAR, 0, NULL, error));
    var = model->vars[model->nvars - 1];
    if (has_storage)
        PNC_TRY(pnc_format_storage_add(model, var, error));
    PNC_TRY(put_text(model, var, "algorithm", algorithm, error));
    PNC_TRY(put_text(model, var, "implementation", "PnetCDF version " PACKAGE_VERSION, error));
    *name = var->name;
    return NC_NOERR;
}

static int describe_var(pnc_model *model, pnc_var *var, const char *container, pnc_error *error)
{
    const char *number = var->quantize_mode == NC_QUANTIZE_BITROUND ? "quantization_nsb" : "quantization_nsd";
    unsigned char value[PNC_FORMAT_INT_BYTES];

    pnc_format_int_write(var->nsd, model->little, value);
    PNC_TRY(put_text(model, var, "quantization", container, error));
    return pnc_format_atts_put(model, &var->atts, number, NC_INT, 1, value, error);
}

static bool is_described(const pnc_var *var, const bool *coordinates, int i)
{
    return var->quantize_mode != NC_NOQUANTIZE && !coordinates[i] &&
           pnc_format_atts_find(&var->atts, "quantization") < 0;
}

static int describe_quantized_vars(pnc_model *model, const bool *coordinates, bool has_storage, pnc_error *error)
{
    const char *containers[NC_QUANTIZE_BITROUND + 1] = {NULL};
    int nvars = model->nvars;

    for (int i = 0; i < nvars; i++) {
        pnc_var *var = model->vars[i];
        const char **container = &containers[var->quantize_mode];

        if (!is_described(var, coordinates, i))
            continue;
        if (*container == NULL)
            PNC_TRY(add_container(model, get_algorithm(var->quantize_mode), has_storage, container, error));
        PNC_TRY(describe_var(model, var, *container, error));
    }
    return NC_NOERR;
}

int pnc_format_quantization_describe(pnc_model *model, bool has_storage, pnc_error *error)
{
    bool *coordinates = pnc_memory_alloc_zeroed(model->nvars, sizeof *coordinates);
    int err;

    if (coordinates == NULL)
        return pnc_error_set(error, NC_ENOMEM, "no memory to find coordinates");
    pnc_format_coordinates_find(model, coordinates);
    err = describe_quantized_vars(model, coordinates, has_storage, error);
    pnc_memory_free(coordinates);
    return err;
}
