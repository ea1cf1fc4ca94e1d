/* Files that end before the data that their header describes: what is missing, and what that may mean. */
#include "format/shortage.h"

#include <inttypes.h>
#include <stdio.h>

#include "format/layout.h"

int64_t pnc_format_data_count_present(int64_t begin, int64_t size, int64_t records, int64_t step, int64_t file_size)
{
    int64_t whole = 0, rest;

    if (file_size <= begin || size == 0 || records == 0)
        return 0;
    if (file_size - begin >= size)
        whole = step > 0 ? (file_size - begin - size) / step + 1 : 1;
    if (whole >= records)
        return records * size;
    rest = file_size - begin - whole * step;
    if (rest <= 0)
        return whole * size;
    return whole * size + (rest < size ? rest : size);
}

int64_t pnc_format_var_count_present(const pnc_model *model, const pnc_var *var, int64_t file_size)
{
    return pnc_format_data_count_present(var->classic.begin, var->size, var->is_record ? model->numrecs : 1,
                                         var->is_record ? model->classic.recsize : 0, file_size);
}

static bool has_values(const pnc_model *model, const pnc_var *var)
{
    return var->size > 0 && (!var->is_record || model->numrecs > 0);
}

static int64_t count_missing_records(const pnc_model *model, int64_t file_size)
{
    int64_t present = 0;

    if (model->nrecvars == 0 || model->classic.recsize == 0)
        return 0;
    if (file_size > model->classic.begin_rec)
        present = (file_size - model->classic.begin_rec - 1) / model->classic.recsize + 1;
    return present < model->numrecs ? model->numrecs - present : 0;
}

static void find_variables(const pnc_model *model, pnc_shortage *shortage)
{
    shortage->missing = shortage->total = 0;
    shortage->varid = -1;
    for (int i = 0; i < model->nvars; i++) {
        if (!has_values(model, model->vars[i]))
            continue;
        shortage->total++;
        if (model->vars[i]->classic.begin < shortage->file_size)
            continue;
        shortage->missing++;
        if (shortage->varid < 0)
            shortage->varid = i;
    }
}

void pnc_format_shortage_find(const pnc_model *model, int64_t file_size, pnc_shortage *out)
{
    *out = (pnc_shortage){.file_size = file_size, .data_end = pnc_format_layout_get_data_end(model), .varid = -1};
    if (file_size >= out->data_end)
        return;
    out->missing = count_missing_records(model, file_size);
    out->total = model->numrecs;
    if (out->missing > 0) {
        out->kind = PNC_SHORTAGE_RECORDS;
        return;
    }
    find_variables(model, out);
    if (out->missing == 0)
        out->kind = PNC_SHORTAGE_VALUES;
    else
        out->kind = out->missing < out->total ? PNC_SHORTAGE_VARIABLES : PNC_SHORTAGE_NO_DATA;
}

bool pnc_format_shortage_is_large(pnc_shortage_kind kind)
{
    return kind == PNC_SHORTAGE_VARIABLES || kind == PNC_SHORTAGE_RECORDS;
}

static int describe_cause(const pnc_model *model, const pnc_shortage *shortage, char *text, size_t n)
{
    switch (shortage->kind) {
    case PNC_SHORTAGE_NO_DATA:
        return snprintf(text, n, "no data were written yet, or the file was cut short after its header");
    case PNC_SHORTAGE_VARIABLES:
        if (shortage->missing == 1)
            return snprintf(text, n,
                            "variable \"%.80s\" is missing as a whole: if its writer did not leave it unwritten, the "
                            "file was cut short",
                            model->vars[shortage->varid]->name);
        return snprintf(text, n,
                        "%" PRId64
                        " variables are missing as a whole, the first is \"%.80s\": if its writer did not "
                        "leave them unwritten, the file was cut short",
                        shortage->missing, model->vars[shortage->varid]->name);
    case PNC_SHORTAGE_RECORDS:
        return snprintf(text, n,
                        "%" PRId64 " of its %" PRId64
                        " records are missing as a whole: the file was cut short, or its "
                        "writer was interrupted",
                        shortage->missing, shortage->total);
    default: return snprintf(text, n, "values beyond the end were never written, or the file was cut short");
    }
}

const char *pnc_format_shortage_explain(const pnc_model *model, const pnc_shortage *shortage,
                                        char text[PNC_SHORTAGE_TEXT])
{
    int n = snprintf(text, PNC_SHORTAGE_TEXT,
                     "the file ends at byte %" PRId64 ", but its header describes data up to byte %" PRId64 ": ",
                     shortage->file_size, shortage->data_end);

    n += describe_cause(model, shortage, text + n, (size_t)(PNC_SHORTAGE_TEXT - n));
    snprintf(text + n, (size_t)(PNC_SHORTAGE_TEXT - n), "; they read as zeros");
    return text;
}
