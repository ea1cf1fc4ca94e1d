/* Rules that the decoder does not need, and rules about data after the header: findings for validators only. */
#include "format/checker.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "format/layout.h"
#include "format/shortage.h"

/* Names by the specification: a letter, a digit, '_' or a multibyte character first, no control characters, no '/', no
 * trailing blank, in normal form C. */
static void check_name(pnc_checker *checker, int64_t at, const char *what, const char *name)
{
    pnc_error error = {0};
    char *nfc = NULL;

    if (strlen(name) > NC_MAX_NAME) /* reported before */
        return;
    if (pnc_name_normalise(name, &nfc, &error) != NC_NOERR)
        pnc_format_warning_report(checker, at, "a name as the specification allows", "%s: %s", what, error.text);
    else if (strcmp(nfc, name) != 0)
        pnc_format_warning_report(checker, at, "a name in Unicode normal form C",
                                  "%s: name \"%.80s\" is not in normal form C", what, name);
    pnc_memory_free(nfc);
}

static void check_fill(pnc_checker *checker, const pnc_var *var, const pnc_att *att)
{
    if (strcmp(att->name, "_FillValue") == 0 && (att->type != var->type || att->len != 1))
        pnc_format_warning_report(checker, att->classic.where, "one fill value of the variable's type",
                                  "variable \"%.80s\": attribute _FillValue holds %" PRId64 " of type %s", var->name,
                                  att->len, pnc_type_get_name(att->type));
}

static void check_entries(pnc_checker *checker, const pnc_model *model)
{
    for (int i = 0; i < model->ndims; i++)
        check_name(checker, model->dims[i]->classic.where, "a dimension", model->dims[i]->name);
    for (int i = 0; i < model->gatts.n; i++)
        check_name(checker, model->gatts.at[i]->classic.where, "a global attribute", model->gatts.at[i]->name);
    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];

        check_name(checker, var->classic.where, "a variable", var->name);
        for (int j = 0; j < var->atts.n; j++) {
            check_name(checker, var->atts.at[j]->classic.where, "an attribute", var->atts.at[j]->name);
            check_fill(checker, var, var->atts.at[j]);
        }
        if (var->classic.begin % 4 != 0)
            pnc_format_warning_report(checker, pnc_format_var_locate_begin(model, i),
                                      "an offset that is a multiple of 4", "variable \"%.80s\" begins at byte %" PRId64,
                                      var->name, var->classic.begin);
    }
    if (model->numrecs > 0 && model->nrecvars == 0)
        pnc_format_warning_report(checker, 4, "no records where no variable has any",
                                  "the number of records is %" PRId64 ", but no variable has the unlimited dimension",
                                  model->numrecs);
}

/* Bytes of the variable's data that are beyond the end of the file, and the offset of the first of them. */
static int64_t count_missing_bytes(const pnc_model *model, const pnc_var *var, int64_t file_size, int64_t *from)
{
    int64_t total = var->is_record ? model->numrecs * var->size : var->size;
    int64_t present = pnc_format_var_count_present(model, var, file_size), first;

    if (present == total)
        return 0;
    first =
        var->classic.begin + present % var->size + (var->is_record ? present / var->size * model->classic.recsize : 0);
    *from = first > file_size ? first : file_size;
    return total - present;
}

static void check_data(pnc_checker *checker, const pnc_model *model, int64_t file_size)
{
    char text[PNC_SHORTAGE_TEXT];
    pnc_shortage shortage;

    pnc_format_shortage_find(model, file_size, &shortage);
    if (pnc_format_shortage_is_large(shortage.kind)) /* before the list of variables, which may be long */
        pnc_format_warning_report(checker, file_size, PNC_RULE_DATA, "%s",
                                  pnc_format_shortage_explain(model, &shortage, text));
    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        int64_t from, n = count_missing_bytes(model, var, file_size, &from);

        if (n > 0)
            pnc_format_warning_report(checker, from, PNC_RULE_DATA,
                                      "variable \"%.80s\" is truncated: %" PRId64 " of its %" PRId64
                                      " bytes are beyond the end of the file, and read as zeros",
                                      var->name, n, var->size * (var->is_record ? model->numrecs : 1));
    }
}

/* Check the bytes after the last variable. */
static void check_end(pnc_checker *checker, const pnc_model *model, int64_t file_size)
{
    int64_t end = pnc_format_layout_get_data_end(model), padded = pnc_format_layout_get_file_end(model), more = 0;

    if (file_size < padded && file_size >= end)
        pnc_format_warning_report(checker, file_size, "padding after the last variable",
                                  "the file ends without the %" PRId64 " bytes of padding after its last variable",
                                  padded - file_size);
    if (file_size <= padded)
        return;
    if (model->nrecvars > 0 && model->classic.recsize > 0)
        more = (file_size - padded) / model->classic.recsize;
    if (more > 0)
        pnc_format_warning_report(checker, padded, "the number of records that the file has",
                                  "the file has space for %" PRId64 " more record%s than the %" PRId64
                                  " that the header counts",
                                  more, more == 1 ? "" : "s", model->numrecs);
    else
        pnc_format_warning_report(checker, padded, "the end of the file", "%" PRId64 " bytes follow the last variable",
                                  file_size - padded);
}

void pnc_format_rules_check(pnc_checker *checker, const pnc_model *model, int64_t file_size)
{
    check_entries(checker, model);
    if (checker->code != NC_NOERR) /* sizes computed from an invalid header are meaningless */
        return;
    check_data(checker, model, file_size);
    check_end(checker, model, file_size);
}
