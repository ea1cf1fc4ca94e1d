/* The list of offsets. Scripts parse this output: its layout must not change. */
#include "tools/ncoffsets/offsets.h"

#include <inttypes.h>

#include "tools/common/message.h"

int64_t offsets_var_find_previous_end(const pnc_model *model, int varid)
{
    const pnc_var *var = model->vars[varid];
    int64_t end = model->classic.header_size;

    for (int i = varid - 1; i >= 0; i--)
        if (model->vars[i]->is_record == var->is_record)
            return model->vars[i]->classic.begin + model->vars[i]->size;
    for (int i = model->nvars - 1; var->is_record && i >= 0; i--)
        if (!model->vars[i]->is_record)
            return model->vars[i]->classic.begin + model->vars[i]->size;
    return end;
}

bool offsets_file_has_gaps(const pnc_model *model)
{
    int64_t end = -1;

    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];

        if (var->is_record)
            continue;
        if (end >= 0 && var->classic.begin != end)
            return true;
        end = var->classic.begin + var->size;
    }
    return false;
}

static void print_header(const tool_file *file)
{
    const pnc_model *model = &file->model;

    fputs("netcdf ", stdout);
    tool_text_print(file->path);
    printf(" {\n// file format: CDF-%d\n\nfile header:\n\tsize   = %" PRId64 " bytes\n\textent = %" PRId64 " bytes\n",
           model->format, model->classic.header_size, model->classic.header_extent);
    if (model->ndims > 0)
        puts("\ndimensions:");
    for (int i = 0; i < model->ndims; i++) {
        putchar('\t');
        tool_text_print(model->dims[i]->name);
        if (i == model->recdim)
            printf(" = UNLIMITED // (%" PRId64 " currently)\n", model->numrecs);
        else
            printf(" = %" PRId64 "\n", model->dims[i]->len);
    }
}

static void print_head(const pnc_model *model, const pnc_var *var)
{
    printf("\t%-6s ", pnc_type_get_name(var->type));
    tool_text_print(var->name);
    for (int i = 0; i < var->ndims; i++) {
        fputs(i > 0 ? ", " : "(", stdout);
        tool_text_print(model->dims[var->dimids[i]]->name);
    }
    puts(var->ndims > 0 ? "):" : ":");
}

static const char *get_ordinal_ending(int64_t n)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};

    return n % 100 / 10 == 1 || n % 10 > 3 ? "th" : endings[n % 10];
}

/* The list ends at the end of the file, so that an invalid number of records cannot make it endless. */
static void print_records(const tool_file *file, const pnc_var *var, bool all)
{
    int64_t n = all ? file->model.numrecs : 1, r;

    for (r = 0; r < n && (!all || var->classic.begin + r * file->model.classic.recsize < file->size); r++) {
        int64_t begin = var->classic.begin + r * file->model.classic.recsize;

        printf("\t       start file offset =%12" PRId64 "    (%" PRId64 "%s record)\n", begin, r,
               get_ordinal_ending(r));
        printf("\t       end   file offset =%12" PRId64 "    (%" PRId64 "%s record)\n", begin + var->size, r,
               get_ordinal_ending(r));
    }
    if (r < n)
        printf("\t       %" PRId64 " record%s beyond the end of the file\n", n - r, n - r == 1 ? "" : "s");
}

static void print_variable(const tool_file *file, int varid, const options *o)
{
    const pnc_model *model = &file->model;
    const pnc_var *var = model->vars[varid];

    print_head(model, var);
    if (var->is_record) {
        print_records(file, var, o->records);
    } else {
        printf("\t       start file offset =%12" PRId64 "\n", var->classic.begin);
        printf("\t       end   file offset =%12" PRId64 "\n", var->classic.begin + var->size);
    }
    if (o->sizes)
        printf("\t       size in bytes     =%12" PRId64 "%s\n", var->size, var->is_record ? "    (of one record)" : "");
    if (o->gaps)
        printf("\t       gap from prev var =%12" PRId64 "\n",
               var->classic.begin - offsets_var_find_previous_end(model, varid));
    if (o->debug && var->classic.where >= 0)
        printf("\t       header entry at   =%12" PRId64 "\n", var->classic.where);
}

static void print_section(const tool_file *file, bool records, const options *o)
{
    const pnc_model *model = &file->model;
    int n = o->variables.n > 0 ? o->variables.n : model->nvars;
    bool any = false;

    for (int i = 0; i < n; i++) {
        int varid = o->variables.n > 0 ? pnc_format_var_find(model, o->variables.at[i]) : i;

        if (model->vars[varid]->is_record != records)
            continue;
        if (!any)
            puts(records ? "\nrecord variables:" : "\nfixed-size variables:");
        any = true;
        print_variable(file, varid, o);
    }
}

void offsets_list_print(const tool_file *file, const options *o)
{
    print_header(file);
    print_section(file, false, o);
    print_section(file, true, o);
    puts("}");
}
