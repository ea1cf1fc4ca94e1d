/* CDL to a C program that creates the file with the functions of pnetcdf.h. */
#include "config.h" /* system extensions */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/number.h"
#include "tools/ncmpigen/source.h"

enum { PER_LINE = 8, TEXT_LINE = 60 };

/* Each external type in C: its constant, the type in memory and the suffix of functions. */
static const struct {
    const char *constant, *type, *suffix;
} types[] = {
    [NC_BYTE] = {"NC_BYTE", "signed char", "schar"},
    [NC_CHAR] = {"NC_CHAR", "char", "text"},
    [NC_SHORT] = {"NC_SHORT", "short", "short"},
    [NC_INT] = {"NC_INT", "int", "int"},
    [NC_FLOAT] = {"NC_FLOAT", "float", "float"},
    [NC_DOUBLE] = {"NC_DOUBLE", "double", "double"},
    [NC_UBYTE] = {"NC_UBYTE", "unsigned char", "uchar"},
    [NC_USHORT] = {"NC_USHORT", "unsigned short", "ushort"},
    [NC_UINT] = {"NC_UINT", "unsigned int", "uint"},
    [NC_INT64] = {"NC_INT64", "long long", "longlong"},
    [NC_UINT64] = {"NC_UINT64", "unsigned long long", "ulonglong"},
};

/* Write the inside of a string literal. Other bytes than printable ASCII become three octal digits, so that a digit
 * after them is not part of the escape. */
static void write_characters(FILE *out, const char *text, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (i > 0 && i % TEXT_LINE == 0)
            fputs("\"\n        \"", out);
        if (c < 0x20 || c > 0x7e || c == '"' || c == '\\' || c == '?') /* ?? begins a trigraph */
            fprintf(out, "\\%03o", c);
        else
            fputc(c, out);
    }
}

static void write_text(FILE *out, const char *text)
{
    fputc('"', out);
    write_characters(out, text, (int64_t)strlen(text));
    fputc('"', out);
}

static void write_real(FILE *out, int type, double value)
{
    char text[CDL_NUMBER_SIZE];
    if (isnan(value)) {
        fputs("NAN", out);
        return;
    }
    if (isinf(value)) {
        fputs(value < 0 ? "-INFINITY" : "INFINITY", out);
        return;
    }
    tool_real_format(type, value, text);
    fprintf(out, "%s%s%s", text, strpbrk(text, ".e") ? "" : ".0", type == NC_FLOAT ? "f" : "");
}

/* The most negative int and long long have no literal. */
static void write_number(FILE *out, int type, const char *bytes)
{
    gen_value value = gen_value_load(type, bytes);
    switch (type) {
    case NC_FLOAT:
    case NC_DOUBLE: write_real(out, type, value.r); break;
    case NC_UINT: fprintf(out, "%" PRIu64 "U", value.bits); break;
    case NC_UINT64: fprintf(out, "%" PRIu64 "ULL", value.bits); break;
    case NC_INT64:
        if (value.i == INT64_MIN)
            fputs("-9223372036854775807LL - 1", out);
        else
            fprintf(out, "%" PRId64 "LL", value.i);
        break;
    default:
        if (value.i == INT32_MIN)
            fputs("-2147483647 - 1", out);
        else
            fprintf(out, "%" PRId64, value.i);
    }
}

/* Write n elements of an array, from element `first`, with quotes for char but without braces. */
static void write_values(FILE *out, int type, const char *bytes, int64_t first, int64_t n)
{
    size_t size = pnc_type_get_size(type);
    if (type == NC_CHAR) {
        fputs("\n        \"", out);
        write_characters(out, bytes, n);
        fputs("\"", out);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        fputs((first + i) % PER_LINE == 0 ? "\n        " : " ", out);
        write_number(out, type, bytes + (size_t)i * size);
        fputc(',', out);
    }
}

/* --- the header --- */

static void write_opening(const gen_source *s)
{
    static const char *const modes[] = {[1] = "0", [2] = "NC_64BIT_OFFSET", [5] = "NC_64BIT_DATA"};
    fputs(
        "#include <math.h>\n#include <stdio.h>\n#include <pnetcdf.h>\n\n"
        "#define TRY(call) do { int e = (call); if (e != NC_NOERR) { \\\n"
        "    fprintf(stderr, \"%s: %s\\n\", #call, ncmpi_strerror(e)); "
        "MPI_Abort(MPI_COMM_WORLD, 1); } } while (0)\n\n",
        s->out);
    /* Compilers are slow with large functions: definitions, and each block of values, have functions of their own. */
    fputs("static const char path[] = ", s->out);
    write_text(s->out, s->path);
    fprintf(s->out, ";\n\nstatic int define(void)\n{\n    int ncid, dims[%d], var;\n    (void)dims, (void)var;\n\n",
            s->model->ndims + 1);
    fprintf(s->out, "    TRY(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | %s, MPI_INFO_NULL, &ncid));\n",
            modes[s->model->format]);
    if (!s->options->no_fill)
        fputs("    TRY(ncmpi_set_fill(ncid, NC_FILL, NULL));\n", s->out);
}

static void write_attribute(const gen_source *s, const char *varid, const pnc_att *att)
{
    FILE *out = s->out;
    bool text = att->type == NC_CHAR;
    fprintf(out, "    TRY(ncmpi_put_att_%s(ncid, %s, ", types[att->type].suffix, varid);
    write_text(out, att->name);
    if (!text)
        fprintf(out, ", %s", types[att->type].constant);
    fprintf(out, ", %" PRId64 ", ", att->len);
    if (text)
        write_values(out, NC_CHAR, att->value, 0, att->len);
    else if (att->len == 0)
        fputs("NULL", out);
    if (!text && att->len > 0) {
        fprintf(out, "(const %s[]){", types[att->type].type);
        write_values(out, att->type, att->value, 0, att->len);
        fputs("}", out);
    }
    fputs("));\n", out);
}

static void write_attributes(const gen_source *s, const char *varid, const pnc_atts *atts)
{
    for (int i = 0; i < atts->n; i++)
        write_attribute(s, varid, atts->at[i]);
}

static void write_dim(const gen_source *s, int dimid)
{
    const pnc_dim *dim = s->model->dims[dimid];
    fputs("    TRY(ncmpi_def_dim(ncid, ", s->out);
    write_text(s->out, dim->name);
    if (dim->len == NC_UNLIMITED)
        fputs(", NC_UNLIMITED", s->out);
    else
        fprintf(s->out, ", %" PRId64, dim->len);
    fprintf(s->out, ", &dims[%d]));\n", dimid);
}

static void write_var(const gen_source *s, const pnc_var *var)
{
    fputs("\n    TRY(ncmpi_def_var(ncid, ", s->out);
    write_text(s->out, var->name);
    fprintf(s->out, ", %s, %d, %s", types[var->type].constant, var->ndims, var->ndims ? "(const int[]){" : "NULL");
    for (int i = 0; i < var->ndims; i++)
        fprintf(s->out, "%sdims[%d]", i > 0 ? ", " : "", var->dimids[i]);
    fprintf(s->out, "%s, &var));\n", var->ndims ? "}" : "");
    write_attributes(s, "var", &var->atts);
}

static int take_header(void *with, const pnc_model *model, const char *name, pnc_error *error)
{
    gen_source *s = with;
    int err = gen_source_open(s, model, name, error);
    if (err != NC_NOERR)
        return err;
    write_opening(s);
    for (int i = 0; i < model->ndims; i++)
        write_dim(s, i);
    write_attributes(s, "NC_GLOBAL", &model->gatts);
    for (int i = 0; i < model->nvars; i++)
        write_var(s, model->vars[i]);
    fputs("    TRY(ncmpi_enddef(ncid));\n    return ncid;\n}\n", s->out);
    return gen_source_check(s, error);
}

/* --- data --- */

static int take_values(void *with, int varid, int64_t first, const void *bytes, int64_t n, pnc_error *error)
{
    gen_source *s = with;
    int type = s->model->vars[varid]->type;
    if (!s->in_block) {
        s->in_block = true;
        s->first = first;
        fprintf(s->out, "\n/* %s */\nstatic const %s values_%d[] =%s", s->model->vars[varid]->name, types[type].type,
                s->blocks, type == NC_CHAR ? "" : " {");
    }
    write_values(s->out, type, bytes, first, n);
    return gen_source_check(s, error);
}

static int take_end(void *with, int varid, int64_t n, pnc_error *error)
{
    gen_source *s = with;
    const pnc_var *var = s->model->vars[varid];
    if (!s->in_block)
        return NC_NOERR;
    s->in_block = false;
    s->counts[varid] = n > s->counts[varid] ? n : s->counts[varid];
    fprintf(s->out, "%s;\n\nstatic void put_%d(int ncid)\n{\n", var->type == NC_CHAR ? "" : "}", s->blocks);
    if (var->ndims == 0) {
        fprintf(s->out, "    TRY(ncmpi_put_var_%s_all(ncid, %d, values_%d));\n}\n", types[var->type].suffix, varid,
                s->blocks++);
        return gen_source_check(s, error);
    }
    fprintf(s->out, "    const MPI_Offset start[%d] = {%" PRId64 "};\n    const MPI_Offset count[] = {", var->ndims,
            s->first / gen_var_count_elements(var));
    for (int i = 0; i < var->ndims; i++)
        fprintf(s->out, "%s%" PRId64, i > 0 ? ", " : "",
                i == 0 && var->is_record ? (n - s->first) / gen_var_count_elements(var) : var->shape[i]);
    fprintf(s->out, "};\n    TRY(ncmpi_put_vara_%s_all(ncid, %d, start, count, values_%d));\n}\n",
            types[var->type].suffix, varid, s->blocks++);
    return gen_source_check(s, error);
}

static int finish(void *with, const pnc_model *model, pnc_error *error)
{
    gen_source *s = with;
    fputs("\nint main(int argc, char **argv)\n{\n    int ncid;\n\n    MPI_Init(&argc, &argv);\n    ncid = define();\n",
          s->out);
    for (int i = 0; i < s->blocks; i++)
        fprintf(s->out, "    put_%d(ncid);\n", i);
    for (int i = 0; i < model->nvars && !s->options->no_fill; i++) {
        int64_t given = s->counts[i] / gen_var_count_elements(model->vars[i]);
        if (model->vars[i]->is_record && given < model->numrecs)
            fprintf(s->out,
                    "    for (MPI_Offset record = %" PRId64 "; record < %" PRId64
                    "; record++)\n"
                    "        TRY(ncmpi_fill_var_rec(ncid, %d, record));\n",
                    given, model->numrecs, i);
    }
    fputs("    TRY(ncmpi_close(ncid));\n    return MPI_Finalize();\n}\n", s->out);
    int err = gen_source_commit(s, error);
    if (err == NC_NOERR)
        pnc_memory_free(s);
    return err;
}

static void discard(void *with)
{
    gen_source_discard(with);
    pnc_memory_free(with);
}

static int begin(const gen_options *options, pnc_cdl_sink *sink, pnc_error *error)
{
    gen_source *s = pnc_memory_alloc_zeroed(1, sizeof *s);
    if (s == NULL)
        return pnc_error_set(error, NC_ENOMEM, "not enough memory");
    s->options = options;
    *sink = (pnc_cdl_sink){.header = take_header, .values = take_values, .end = take_end, .with = s};
    return NC_NOERR;
}

const gen_kind gen_c = {begin, finish, discard};
