/* A variable contains times if its attribute "units" has the form "<unit> since <date>". */
#include "tools/ncmpidump/dates.h"

#include <stdlib.h>
#include <string.h>

/* The text of an attribute, to be freed by the caller. NULL if there is no such attribute, or it is not a text. */
static int load_text(const dump_file *file, int varid, const char *name, char **text)
{
    const pnc_att *att = dump_attribute_find(file, varid, name);
    void *values;
    *text = NULL;
    if (att == NULL || att->type != NC_CHAR)
        return NC_NOERR;
    PNC_TRY(dump_attribute_load(file, att, &values));
    *text = values;
    (*text)[att->len] = '\0'; /* dump_attribute_load allocates a byte for it */
    return NC_NOERR;
}

int dump_dates_find_own(const dump_file *file, int varid, cal_units *units, bool *found)
{
    char *text, *calendar = NULL;
    int err;
    *found = false;
    if (!file->options->dates || varid == NC_GLOBAL)
        return NC_NOERR;
    err = load_text(file, varid, "units", &text);
    if (err == NC_NOERR && text != NULL) {
        err = load_text(file, varid, "calendar", &calendar);
        if (err == NC_NOERR)
            *found = tool_units_parse(text, calendar, units);
        free(calendar);
    }
    free(text);
    return err;
}

/* Set *varid to the variable whose attribute `bounds` names this one. Without such a variable it stays unchanged. */
static int find_bounded_variable(const dump_file *file, const dump_variable *variable, int *varid)
{
    int err = NC_NOERR;
    bool found = false;
    for (int i = 0; err == NC_NOERR && !found && i < file->nvars; i++) {
        char *bounds;
        err = load_text(file, i, "bounds", &bounds);
        found = err == NC_NOERR && bounds != NULL && strcmp(bounds, variable->name) == 0;
        if (found)
            *varid = i;
        free(bounds);
    }
    return err;
}

int dump_dates_choose(const dump_file *file, const dump_variable *variable, cal_units *units, bool *found)
{
    int varid = variable->id;
    *found = false;
    if (!file->options->dates || variable->type->class == CDL_TEXT)
        return NC_NOERR;
    PNC_TRY(find_bounded_variable(file, variable, &varid));
    return dump_dates_find_own(file, varid, units, found);
}

static double convert_to_double(const cdl_type *type, cdl_value value)
{
    switch (type->class) {
    case CDL_REAL: return value.r;
    case CDL_SIGNED: return (double)value.i;
    default: return (double)value.u;
    }
}

void dump_date_print(const dump_file *file, const cal_units *units, const cdl_type *type, cdl_value value,
                     char out[CDL_NUMBER_SIZE])
{
    const cdl_type *number = tool_cdl_type_find(NC_DOUBLE); /* prints NaN and infinities without a suffix */
    char date[CAL_DATE_SIZE];
    double time = convert_to_double(type, value);
    cdl_format format;
    if (tool_calendar_print(units, time, file->options->dates, date)) {
        snprintf(out, CDL_NUMBER_SIZE, "\"%s\"", date);
        return;
    }
    dump_format_choose(file, number, &format);
    tool_cdl_number_print(number, &format, (cdl_value){.r = time}, out);
}

/* One or two dates follow the attribute on its line; more have lines of their own. */
void dump_dates_print_comment(const dump_file *file, const cal_units *units, const cdl_type *type, size_t length,
                              const char *values)
{
    enum { MARGIN = 21 }; /* columns before the first date of a line, tabs counted as 8 */
    bool lines = length > 2;
    size_t column = MARGIN;
    fputs(lines ? "\n\t\t  // " : " // ", file->out);
    for (size_t i = 0; i < length; i++) {
        char token[CDL_NUMBER_SIZE + 1];
        dump_date_print(file, units, type, tool_cdl_value_load(type, values + i * type->size), token);
        if (i + 1 < length)
            strcat(token, ",");
        size_t n = strlen(token);
        if (lines && i > 0 && column + n > (size_t)file->options->line_length) {
            fputs("\n\t\t  // ", file->out);
            column = MARGIN;
        } else if (i > 0) {
            fputc(' ', file->out);
        }
        fputs(token, file->out);
        column += n + 1;
    }
}
