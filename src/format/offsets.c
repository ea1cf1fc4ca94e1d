/* Rules about the offsets of variables, checked on a decoded header before data are accessed. */
#include "format/checker.h"

#include <inttypes.h>

#include "base/memory.h"
#include "format/entries.h"
#include "format/layout.h"

/* `begin` is the last field of a variable's entry. */
int64_t pnc_format_var_locate_begin(const pnc_model *model, int varid)
{
    int64_t end = varid + 1 < model->nvars ? model->vars[varid + 1]->classic.where : model->classic.header_size;

    return end - pnc_format_offset_get_size(model->format);
}

static int check_sizes(pnc_checker *checker, const pnc_model *model)
{
    int large = pnc_format_layout_find_too_large(model);
    const pnc_var *var = large >= 0 ? model->vars[large] : NULL;

    if (var == NULL)
        return NC_NOERR;
    return pnc_format_violation_report(
        checker, var->classic.where, NC_EVARSIZE, "variables within the limits of this format",
        "variable \"%.80s\" (byte %" PRId64 ") has %" PRId64 " bytes%s: CDF-%d allows %" PRId64
        " to all variables but the last one in the file",
        var->name, var->classic.where, var->size, var->is_record ? " a record" : "", model->format,
        pnc_format_layout_get_max_size(model->format));
}

/* A variable must begin after the header and after `floor`, the end of the variable `previous` (-1: of the fixed-size
 * variables). */
static int check_begin(pnc_checker *checker, const pnc_model *model, int varid, int previous, int64_t floor)
{
    const pnc_var *var = model->vars[varid];
    int64_t at = pnc_format_var_locate_begin(model, varid);

    if (var->classic.begin < 0)
        return pnc_format_violation_report(checker, at, NC_ENOTNC, "an offset after the header",
                                           "variable \"%.80s\": its offset at byte %" PRId64 " is negative (%" PRId64
                                           ")",
                                           var->name, at, var->classic.begin);
    if (var->classic.begin < model->classic.header_size)
        return pnc_format_violation_report(checker, at, NC_ENOTNC, "an offset after the header",
                                           "variable \"%.80s\" begins at byte %" PRId64 " (stored at byte %" PRId64
                                           "), inside the header, which ends at byte %" PRId64,
                                           var->name, var->classic.begin, at, model->classic.header_size);
    if (var->classic.begin < floor)
        return pnc_format_violation_report(
            checker, at, NC_ENOTNC,
            "fixed-size variables, then those of a record, in the order of their "
            "definition",
            "variable \"%.80s\" begins at byte %" PRId64 " (stored at byte %" PRId64
            "), but %s%.80s%s before it end%s at byte %" PRId64,
            var->name, var->classic.begin, at, previous < 0 ? "the fixed-size variables" : "variable \"",
            previous < 0 ? "" : model->vars[previous]->name, previous < 0 ? "" : "\"", previous < 0 ? "" : "s", floor);
    return NC_NOERR;
}

/* Fixed-size (or record) variables must begin after `floor`, in order of definition, without overlap. *floor becomes
 * the end of the last one. */
static int check_order(pnc_checker *checker, pnc_model *model, bool records, int64_t *floor)
{
    int previous = -1;

    for (int i = 0; i < model->nvars; i++) {
        pnc_var *var = model->vars[i];

        if (var->is_record != records)
            continue;
        PNC_TRY(check_begin(checker, model, i, previous, *floor));
        if (var->classic.begin < 0) /* with an observer decoding continues */
            var->classic.begin = 0;
        if (pnc_size_add(var->classic.begin, var->size, floor) < 0)
            return pnc_format_violation_fail(
                checker, pnc_format_var_locate_begin(model, i), NC_ENOTNC, "data below byte 2^63",
                "variable \"%.80s\" begins at byte %" PRId64 " (stored at byte %" PRId64 ") and ends beyond byte 2^63",
                var->name, var->classic.begin, pnc_format_var_locate_begin(model, i));
        previous = i;
    }
    return NC_NOERR;
}

/* The record size, which may overflow in an invalid header. */
static int compute_record_size(const pnc_model *model, int64_t *out)
{
    *out = 0;
    for (int i = 0; i < model->nvars; i++)
        if (model->vars[i]->is_record &&
            pnc_size_add(*out, pnc_format_var_get_padded_size(model, model->vars[i]), out) < 0)
            return -1;
    return 0;
}

/* One record of all variables must fit in the record size, and all records must end below 2^63. */
static int check_records(pnc_checker *checker, pnc_model *model, int64_t end_of_first, int64_t file_size,
                         bool streaming)
{
    int64_t bytes, used = end_of_first - model->classic.begin_rec;

    if (used > model->classic.recsize)
        PNC_TRY(pnc_format_violation_report(checker, model->classic.begin_rec, NC_ENOTNC,
                                            "the variables of a record side by side",
                                            "the variables of a record occupy %" PRId64 " bytes from byte %" PRId64
                                            ", but the next record begins after %" PRId64 ": they overlap",
                                            used, model->classic.begin_rec, model->classic.recsize));
    if (streaming &&
        model->classic.recsize > 0) /* the padding after the last variable of the last record may be missing */
        model->numrecs = file_size < end_of_first ? 0 : (file_size - end_of_first) / model->classic.recsize + 1;
    if (pnc_size_multiply(model->numrecs, model->classic.recsize, &bytes) < 0 ||
        pnc_size_add(bytes, model->classic.begin_rec, &bytes) < 0)
        return pnc_format_violation_fail(checker, 4, NC_ENOTNC, "data below byte 2^63",
                                         "%" PRId64 " records (byte 4) of %" PRId64 " bytes reach beyond byte 2^63",
                                         model->numrecs, model->classic.recsize);
    return NC_NOERR;
}

int pnc_format_offsets_check(pnc_checker *checker, pnc_model *model, int64_t file_size, bool streaming)
{
    int64_t floor = model->classic.header_size, recsize;

    PNC_TRY(check_sizes(checker, model)); /* before the offsets: a CDF-1 offset cannot exceed such a variable */
    PNC_TRY(check_order(checker, model, false, &floor));
    PNC_TRY(check_order(checker, model, true, &floor));
    if (compute_record_size(model, &recsize) < 0)
        return pnc_format_violation_fail(checker, model->classic.header_size, NC_ENOTNC,
                                         "records of less than 2^63 bytes",
                                         "the variables of one record have more than 2^63 bytes in total");
    pnc_format_layout_derive(model);
    return model->nrecvars > 0 ? check_records(checker, model, floor, file_size, streaming) : NC_NOERR;
}
