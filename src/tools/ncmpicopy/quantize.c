/* Quantization of variables. Without names --quantize and --error are for the data: coordinates would lose their
 * meaning. */
#include "tools/ncmpicopy/quantize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/types.h"
#include "convert/convert.h"
#include "tools/common/message.h"
#include "tools/ncmpicopy/coordinates.h"

static const struct {
    const char *option, *unit;
} modes[] = {[PNC_GRANULAR_BIT_ROUND] = {"digits=", "digits"}, [PNC_BIT_ROUND] = {"bits=", "bits"}};

/* --- the option --- */

static bool parse_number(const char *text, copy_quantize *out)
{
    for (int mode = PNC_GRANULAR_BIT_ROUND; mode <= PNC_BIT_ROUND; mode++) {
        size_t length = strlen(modes[mode].option);
        char *end;
        if (strncmp(text, modes[mode].option, length) != 0)
            continue;
        errno = 0;
        long number = strtol(text + length, &end, 10);
        out->mode = mode;
        out->number = (int)number;
        return end != text + length && *end == '\0' && errno == 0 && number > 0 &&
               number <= pnc_convert_quantizer_get_most(out->mode, NC_DOUBLE);
    }
    return false;
}

/* The number behind the names of an option. */
static const char *find_number(const char *text)
{
    const char *colon = strrchr(text, ':');
    return colon != NULL ? colon + 1 : text;
}

/* Add what an option says, and the names before it. */
static int add_option(const char *option, const char *text, copy_quantize given, copy_options *options)
{
    const char *colon = strrchr(text, ':');
    copy_quantize *more = pnc_memory_resize(options->quantizes, options->nquantizes + 1, sizeof *more);
    if (more != NULL)
        options->quantizes = more;
    char *names = pnc_string_copy(text);
    if (more == NULL || names == NULL) {
        tool_error_print("not enough memory for %s: %s", option, text);
        pnc_memory_free(names);
        return COPY_FAILED;
    }
    if (colon != NULL)
        names[colon - text] = '\0';
    int err = colon != NULL ? tool_names_parse(option, names, &given.variables) : NC_NOERR;
    pnc_memory_free(names);
    if (err == NC_NOERR)
        options->quantizes[options->nquantizes++] = given;
    else
        tool_names_free(&given.variables);
    return err == NC_NOERR ? -1 : COPY_FAILED;
}

int copy_quantize_parse(const char *text, copy_options *options)
{
    copy_quantize given = {0};
    if (parse_number(find_number(text), &given))
        return add_option("--quantize", text, given, options);
    tool_error_print(
        "--quantize must be [var1,...:]bits=N, with N from 1 to 52, or [var1,...:]digits=N, with N "
        "from 1 to 15: %s",
        text);
    return COPY_FAILED;
}

int copy_error_parse(const char *text, copy_options *options)
{
    const char *number = find_number(text);
    bool is_absolute = strncmp(number, "abs=", 4) == 0, is_relative = strncmp(number, "rel=", 4) == 0;
    copy_quantize given = {.mode = is_absolute ? PNC_ABSOLUTE_ERROR : PNC_RELATIVE_ERROR};
    if ((is_absolute || is_relative) && pnc_text_decimal_parse(number + 4, &given.bound) &&
        pnc_convert_error_bound_is_valid(given.mode, given.bound))
        return add_option("--error", text, given, options);
    tool_error_print(
        "--error must be [var1,...:]abs=X, with X greater than 0, or [var1,...:]rel=X, with X less than 1, too: %s",
        text);
    return COPY_FAILED;
}

/* --- the plan --- */

/* The last option for this variable, or NULL. Options with names come before those without. */
static const copy_quantize *find_option(const copy_options *options, const copy_var *var, bool coordinate)
{
    const copy_quantize *found = NULL;
    for (int i = 0; i < options->nquantizes; i++) {
        const copy_quantize *q = &options->quantizes[i];
        bool named = q->variables.n > 0;
        if (named ? tool_names_contain(&q->variables, var->name)
                  : !coordinate && (found == NULL || found->variables.n == 0))
            found = q;
    }
    return found;
}

static int keep_fill_value(int ncid, copy_var *var)
{
    pnc_quantizer *q = &var->quantizer;
    nc_type type = NC_NAT;
    MPI_Offset length = 0;
    bool own = var->to == var->type && ncmpi_inq_att(ncid, var->id, "_FillValue", &type, &length) == NC_NOERR &&
               type == var->type && length == 1;
    if (own)
        return ncmpi_get_att(ncid, var->id, "_FillValue", q->kept[q->nkept++]);
    if (var->to != var->type)
        memcpy(q->kept[q->nkept++], var->conversion.fill_to, sizeof q->kept[0]);
    else
        pnc_convert_fill_get_memory(pnc_type_get_mem_type(var->to), q->kept[q->nkept++]);
    return NC_NOERR;
}

/* In the type of the output. One that this type does not have is not among its values. */
static int keep_missing_values(int ncid, copy_var *var)
{
    pnc_quantizer *q = &var->quantizer;
    nc_type type = NC_NAT;
    MPI_Offset length = 0;
    double values[PNC_KEPT_MOST];
    PNC_TRY(keep_fill_value(ncid, var));
    if (ncmpi_inq_att(ncid, var->id, "missing_value", &type, &length) != NC_NOERR || type == NC_CHAR ||
        length > PNC_KEPT_MOST - 1)
        return NC_NOERR;
    PNC_TRY(ncmpi_get_att_double(ncid, var->id, "missing_value", values));
    for (MPI_Offset i = 0; i < length; i++) {
        float single = (float)values[i];
        memcpy(q->kept[q->nkept++], var->to == NC_FLOAT ? (const void *)&single : (const void *)&values[i],
               pnc_type_get_size(var->to));
    }
    return NC_NOERR;
}

/* With what the input has lost already: errors add up. */
static int choose_bound(int ncid, const copy_plan *plan, copy_var *var, double bound)
{
    pnc_quantizer *q = &var->quantizer;
    const char *own = pnc_convert_quantization_get_attribute(q->mode),
               *other = pnc_convert_quantization_get_attribute(q->mode == PNC_ABSOLUTE_ERROR ? PNC_RELATIVE_ERROR
                                                                                             : PNC_ABSOLUTE_ERROR);
    double before = 0;
    MPI_Offset length = 0;
    nc_type type = NC_NAT;
    q->bound = bound;
    q->is_converted = pnc_convert_is_lossy(var->to, pnc_type_get_mem_type(var->type));
    var->stated_error = bound;
    if (ncmpi_inq_att(ncid, var->id, other, &type, &length) == NC_NOERR)
        return copy_error_print(plan, NC_EINVAL, "%s: --error %s=: variable %s has an attribute %s",
                                plan->options->inputs[0], q->mode == PNC_ABSOLUTE_ERROR ? "abs" : "rel", var->name,
                                other);
    if (ncmpi_inq_att(ncid, var->id, own, &type, &length) != NC_NOERR || type == NC_CHAR || length != 1)
        return NC_NOERR;
    PNC_TRY(ncmpi_get_att_double(ncid, var->id, own, &before));
    var->stated_error += before + (q->mode == PNC_RELATIVE_ERROR ? before * bound : 0);
    return NC_NOERR;
}

static int choose_quantizer(int ncid, const copy_plan *plan, copy_var *var, bool coordinate)
{
    const copy_quantize *option = find_option(plan->options, var, coordinate);
    bool is_bound = option != NULL && option->mode >= PNC_ABSOLUTE_ERROR;
    const char *name = is_bound ? "--error" : "--quantize";
    int most = option != NULL ? pnc_convert_quantizer_get_most(option->mode, var->to) : 0;
    if (option == NULL || (most == 0 && option->variables.n == 0))
        return NC_NOERR;
    if (most == 0)
        return copy_error_print(plan, NC_EINVAL, "%s: %s: variable %s has type %s: only float and double are rounded",
                                plan->options->inputs[0], name, var->name, pnc_type_get_name(var->to));
    if (!is_bound && option->number > most)
        return copy_error_print(plan, NC_EINVAL,
                                "%s: --quantize %s%d: variable %s has type %s, which has at most %d %s",
                                plan->options->inputs[0], modes[option->mode].option, option->number, var->name,
                                pnc_type_get_name(var->to), most, modes[option->mode].unit);
    var->quantizer = (pnc_quantizer){.mode = option->mode, .type = var->to, .number = option->number};
    PNC_TRY(keep_missing_values(ncid, var));
    return is_bound ? choose_bound(ncid, plan, var, option->bound) : NC_NOERR;
}

int copy_quantizers_choose(int ncid, copy_plan *plan)
{
    int nvars, err;
    if (plan->options->nquantizes == 0)
        return NC_NOERR;
    PNC_TRY(ncmpi_inq_nvars(ncid, &nvars));
    bool *coordinates = pnc_memory_alloc_zeroed(nvars, sizeof *coordinates);
    err = coordinates != NULL ? copy_coordinates_find(ncid, nvars, coordinates) : NC_ENOMEM;
    for (int i = 0; err == NC_NOERR && i < plan->nvars; i++)
        err = choose_quantizer(ncid, plan, &plan->vars[i], coordinates[plan->vars[i].id]);
    pnc_memory_free(coordinates);
    return err;
}

int copy_quantizer_put(const copy_var *var, int ncid, int varid)
{
    const pnc_quantizer *q = &var->quantizer;
    if (q->mode >= PNC_ABSOLUTE_ERROR)
        return ncmpi_put_att_double(ncid, varid, pnc_convert_quantization_get_attribute(q->mode), NC_DOUBLE, 1,
                                    &var->stated_error);
    for (int mode = PNC_ABSOLUTE_ERROR; mode <= PNC_RELATIVE_ERROR; mode++) { /* no longer true */
        int err = ncmpi_del_att(ncid, varid, pnc_convert_quantization_get_attribute((pnc_quantization)mode));
        if (err != NC_NOERR && err != NC_ENOTATT)
            return err;
    }
    return ncmpi_put_att_int(ncid, varid, pnc_convert_quantization_get_attribute(q->mode), NC_INT, 1, &q->number);
}
