/* CDL to a Fortran 77 program that creates the file with the functions of pnetcdf.inc.
 *
 * Statements use columns 7 to 72; a character in column 6 continues the previous line, also within a string. Fortran
 * has no unsigned integers: their values are stored in the next larger type. Values without a literal are assigned by
 * their bits. */
#include "config.h" /* system extensions */

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/number.h"
#include "tools/ncmpigen/source.h"

enum { FIRST_COLUMN = 7, LAST_COLUMN = 72, PER_STATEMENT = 8, TEXT_PART = 40 };

/* Each external type in Fortran: its constant, the type in memory, and the suffix of functions. */
static const struct {
    const char *constant, *type, *suffix;
} types[] = {
    [NC_BYTE] = {"nf_byte", "integer*1", "int1"},     [NC_CHAR] = {"nf_char", "character", "text"},
    [NC_SHORT] = {"nf_short", "integer*2", "int2"},   [NC_INT] = {"nf_int", "integer", "int"},
    [NC_FLOAT] = {"nf_float", "real", "real"},        [NC_DOUBLE] = {"nf_double", "double precision", "double"},
    [NC_UBYTE] = {"nf_ubyte", "integer*2", "int2"},   [NC_USHORT] = {"nf_ushort", "integer", "int"},
    [NC_UINT] = {"nf_uint", "integer*8", "int8"},     [NC_INT64] = {"nf_int64", "integer*8", "int8"},
    [NC_UINT64] = {"nf_uint64", "integer*8", "int8"},
};

typedef struct fortran {
    gen_source source;
    int column;
    FILE *data, *bits; /* statements for the values of a block, kept until the number of values is known */
} fortran;

/* --- statements --- */

static void put(fortran *f, FILE *out, const char *text)
{
    for (; *text; text++) {
        if (f->column > LAST_COLUMN && *text != '\n') {
            fputs("\n     &", out);
            f->column = FIRST_COLUMN;
        }
        fputc(*text, out);
        f->column++;
    }
}

static void begin_statement(fortran *f, FILE *out)
{
    fprintf(out, "%*s", FIRST_COLUMN - 1, "");
    f->column = FIRST_COLUMN;
}

/* A part of a statement, at most 500 characters. */
PNC_PRINTF(3, 0) static void put_formatted(fortran *f, FILE *out, const char *format, va_list args)
{
    char text[500];
    if (vsnprintf(text, sizeof text, format, args) < 0)
        text[0] = '\0';
    put(f, out, text);
}

PNC_PRINTF(3, 4) static void putf(fortran *f, FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_formatted(f, out, format, args);
    va_end(args);
}

PNC_PRINTF(3, 4) static void write_statement(fortran *f, FILE *out, const char *format, ...)
{
    va_list args;
    begin_statement(f, out);
    va_start(args, format);
    put_formatted(f, out, format, args);
    va_end(args);
    fputc('\n', out);
}

/* Begin a program or subroutine. */
static void begin_unit(fortran *f, const char *heading)
{
    FILE *out = f->source.out;
    fputc('\n', out);
    write_statement(f, out, "%s", heading);
    write_statement(f, out, "implicit none");
    write_statement(f, out, "include 'mpif.h'");
    write_statement(f, out, "include 'pnetcdf.inc'");
}

/* A string expression: 'it''s' // char(10) // 'so' */
static void put_text(fortran *f, FILE *out, const char *bytes, int64_t n)
{
    bool quoted = true;
    put(f, out, "'");
    for (int64_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool plain = c >= 0x20 && c < 0x7f;
        if (plain != quoted)
            put(f, out, plain ? "//'" : "'");
        quoted = plain;
        if (plain)
            put(f, out, (const char[]){(char)c, c == '\'' ? '\'' : '\0', '\0'});
        else
            putf(f, out, "//char(%d)", c);
    }
    put(f, out, quoted ? "'" : "");
}

static void put_name(fortran *f, FILE *out, const char *name)
{
    put_text(f, out, name, (int64_t)strlen(name));
}

/* --- a block of values --- */

/* Integers of 8 bytes have a kind suffix. The caller excludes the most negative integers, which have no literal. */
static void put_integer(fortran *f, FILE *out, const char *suffix, int64_t value)
{
    putf(f, out, "%" PRId64 "%s", value, strcmp(suffix, "int8") == 0 ? "_8" : "");
}

static bool has_literal(int type, gen_value value)
{
    switch (type) {
    case NC_FLOAT: return isfinite(value.r) && (value.r == 0 || fabs(value.r) >= (double)FLT_MIN);
    case NC_DOUBLE: return isfinite(value.r) && (value.r == 0 || fabs(value.r) >= DBL_MIN);
    case NC_INT: return value.i != INT32_MIN;
    case NC_INT64: return value.i != INT64_MIN;
    default: return true;
    }
}

static void put_real(fortran *f, FILE *out, int type, double value)
{
    char text[CDL_NUMBER_SIZE];
    tool_real_format(type, value, text);
    char *exponent = strchr(text, 'e');
    if (type == NC_FLOAT) {
        putf(f, out, "%s%s", text, strpbrk(text, ".e") ? "" : ".");
        return;
    }
    if (exponent != NULL)
        *exponent = 'd'; /* with 'e' the literal would have single precision */
    putf(f, out, "%s%s", text, exponent ? "" : "d0");
}

/* Assign a value without a literal by its bits. The most negative integer is written as -huge - 1. */
static void put_bits(fortran *f, int type, int64_t index, gen_value value)
{
    bool wide = type == NC_DOUBLE || type == NC_INT64;
    int64_t bits = wide ? value.i : (int64_t)(int32_t)(uint32_t)value.bits;
    if (type == NC_DOUBLE)
        bits = (int64_t)value.bits;
    begin_statement(f, f->bits);
    putf(f, f->bits, "bits(%" PRId64 ") = ", index);
    if (bits == (wide ? INT64_MIN : INT32_MIN))
        putf(f, f->bits, wide ? "-9223372036854775807_8 - 1" : "-2147483647 - 1");
    else
        put_integer(f, f->bits, wide ? "int8" : "int", bits);
    fputc('\n', f->bits);
}

static void put_number(fortran *f, int type, int64_t index, gen_value value)
{
    if (!has_literal(type, value)) {
        put_bits(f, type, index, value);
        put(f, f->data, "0");
    } else if (type == NC_FLOAT || type == NC_DOUBLE) {
        put_real(f, f->data, type, value.r);
    } else {
        put_integer(f, f->data, types[type].suffix, value.i);
    }
}

/* Write statements that set n elements of the array x, from element `index` (counted from 1). */
static int put_values(fortran *f, int type, const char *bytes, int64_t index, int64_t n, pnc_error *error)
{
    size_t size = pnc_type_get_size(type);
    for (int64_t i = 0; i < n; i++) {
        if (type == NC_CHAR) {
            int64_t part = n - i < TEXT_PART ? n - i : TEXT_PART;
            begin_statement(f, f->data);
            putf(f, f->data, "x(%" PRId64 ":%" PRId64 ") = ", index + i, index + i + part - 1);
            put_text(f, f->data, bytes + i, part);
            fputc('\n', f->data);
            i += part - 1;
            continue;
        }
        gen_value value = gen_value_load(type, bytes + (size_t)i * size);
        if (type == NC_UINT64 && value.i < 0)
            return pnc_error_set(error, NC_ERANGE,
                                 "%" PRIu64 " does not fit integer*8, the largest integer type of Fortran", value.bits);
        if (i % PER_STATEMENT == 0) {
            int64_t last = n - i < PER_STATEMENT ? n : i + PER_STATEMENT;
            begin_statement(f, f->data);
            putf(f, f->data, "data (x(i), i = %" PRId64 ", %" PRId64 ") / ", index + i, index + last - 1);
        }
        put_number(f, type, index + i, value);
        bool ends = i % PER_STATEMENT == PER_STATEMENT - 1 || i == n - 1;
        put(f, f->data, ends ? " /" : ", ");
        if (ends)
            fputc('\n', f->data);
    }
    return NC_NOERR;
}

static int open_block(fortran *f, pnc_error *error)
{
    f->data = tmpfile();
    f->bits = tmpfile();
    return f->data != NULL && f->bits != NULL ? NC_NOERR
                                              : pnc_error_set(error, NC_EFILE, "a temporary file cannot be created");
}

static void close_block(fortran *f)
{
    if (f->data != NULL)
        fclose(f->data);
    if (f->bits != NULL)
        fclose(f->bits);
    f->data = f->bits = NULL;
}

static void copy(FILE *from, FILE *to)
{
    char bytes[4096];
    size_t n;
    rewind(from);
    while ((n = fread(bytes, 1, sizeof bytes, from)) > 0)
        fwrite(bytes, 1, n, to);
}

/* Begin a subroutine with n values in x, and write its declarations. more: integers that the caller needs. */
static void begin_block(fortran *f, int type, int64_t n, const char *more)
{
    FILE *out = f->source.out;
    char heading[40];
    snprintf(heading, sizeof heading, "subroutine put%d(ncid)", f->source.blocks++);
    begin_unit(f, heading);
    write_statement(f, out, "integer ncid, i");
    write_statement(f, out, "integer*8 %s", more);
    if (type == NC_CHAR) {
        write_statement(f, out, "character*%" PRId64 " x", n > 0 ? n : 1);
    } else {
        write_statement(f, out, "%s x(%" PRId64 ")", types[type].type, n > 0 ? n : 1);
        if (ftell(f->bits) > 0) {
            write_statement(f, out, "%s bits(%" PRId64 ")", pnc_type_get_size(type) == 8 ? "integer*8" : "integer*4",
                            n);
            write_statement(f, out, "equivalence (x, bits)");
        }
        copy(f->data, out);
    }
}

/* Write the statements that follow the declarations. */
static void put_block(fortran *f, int type)
{
    copy(type == NC_CHAR ? f->data : f->bits, f->source.out);
}

/* --- the header --- */

/* varid: counted from 1; 0 for the file. */
static int write_attribute(fortran *f, int varid, const pnc_att *att, pnc_error *error)
{
    FILE *out = f->source.out;
    char id[20];
    int err = open_block(f, error);
    if (err == NC_NOERR)
        err = put_values(f, att->type, att->value, 1, att->len, error);
    if (err == NC_NOERR) {
        begin_block(f, att->type, att->len, "n");
        put_block(f, att->type);
        write_statement(f, out, "n = %" PRId64, att->len);
        snprintf(id, sizeof id, "%d", varid);
        begin_statement(f, out);
        putf(f, out, "call check(nfmpi_put_att_%s(ncid, %s, ", types[att->type].suffix, varid > 0 ? id : "nf_global");
        put_name(f, out, att->name);
        if (att->type == NC_CHAR)
            put(f, out, ", n, x))\n");
        else
            putf(f, out, ", %s, n, x))\n", types[att->type].constant);
        write_statement(f, out, "end");
    }
    close_block(f);
    return err;
}

static int write_attributes(fortran *f, const pnc_model *model, pnc_error *error)
{
    int err = NC_NOERR;
    for (int v = NC_GLOBAL; err == NC_NOERR && v < model->nvars; v++) {
        const pnc_atts *atts = pnc_format_atts_get(model, v);
        for (int i = 0; err == NC_NOERR && i < atts->n; i++)
            err = write_attribute(f, v + 1, atts->at[i], error);
    }
    return err;
}

static void write_definitions(fortran *f, const pnc_model *model)
{
    FILE *out = f->source.out;
    for (int i = 0; i < model->ndims; i++) {
        write_statement(f, out, "n = %" PRId64 "_8", model->dims[i]->len); /* nf_unlimited is 0 */
        begin_statement(f, out);
        put(f, out, "call check(nfmpi_def_dim(ncid, ");
        put_name(f, out, model->dims[i]->name);
        put(f, out, ", n, id))\n");
    }
    for (int v = 0; v < model->nvars; v++) {
        const pnc_var *var = model->vars[v];
        for (int i = 0; i < var->ndims; i++)
            write_statement(f, out, "dims(%d) = %d", var->ndims - i, var->dimids[i] + 1);
        begin_statement(f, out);
        put(f, out, "call check(nfmpi_def_var(ncid, ");
        put_name(f, out, var->name);
        putf(f, out, ", %s, %d, dims, id))\n", types[var->type].constant, var->ndims);
    }
}

static void write_define(fortran *f, const pnc_model *model, int attributes)
{
    static const char *const modes[] = {
        [1] = "nf_clobber", [2] = "ior(nf_clobber, nf_64bit_offset)", [5] = "ior(nf_clobber, nf_64bit_data)"};
    FILE *out = f->source.out;
    int ndims = 1;
    for (int v = 0; v < model->nvars; v++)
        ndims = model->vars[v]->ndims > ndims ? model->vars[v]->ndims : ndims;
    begin_unit(f, "subroutine define(ncid)");
    write_statement(f, out, "integer ncid, id, dims(%d)", ndims);
    write_statement(f, out, "integer*8 n");
    begin_statement(f, out);
    put(f, out, "call check(nfmpi_create(mpi_comm_world, ");
    put_name(f, out, f->source.path);
    putf(f, out, ", %s, mpi_info_null, ncid))\n", modes[model->format]);
    if (!f->source.options->no_fill)
        write_statement(f, out, "call check(nfmpi_set_fill(ncid, nf_fill, id))");
    write_definitions(f, model);
    for (int i = 0; i < attributes; i++)
        write_statement(f, out, "call put%d(ncid)", i);
    write_statement(f, out, "call check(nfmpi_enddef(ncid))");
    write_statement(f, out, "end");
}

static int take_header(void *with, const pnc_model *model, const char *name, pnc_error *error)
{
    fortran *f = with;
    int err = gen_source_open(&f->source, model, name, error);
    if (err == NC_NOERR)
        err = write_attributes(f, model, error);
    if (err != NC_NOERR)
        return err;
    f->source.attributes = f->source.blocks;
    write_define(f, model, f->source.blocks);
    return gen_source_check(&f->source, error);
}

/* --- data --- */

static int take_values(void *with, int varid, int64_t first, const void *bytes, int64_t n, pnc_error *error)
{
    fortran *f = with;
    int err = NC_NOERR;
    if (!f->source.in_block) {
        f->source.in_block = true;
        f->source.first = first;
        err = open_block(f, error);
    }
    if (err == NC_NOERR)
        err = put_values(f, f->source.model->vars[varid]->type, bytes, first - f->source.first + 1, n, error);
    return err == NC_NOERR && (ferror(f->data) || ferror(f->bits))
               ? pnc_error_set(error, NC_EWRITE, "a temporary file cannot be written")
               : err;
}

static int take_end(void *with, int varid, int64_t n, pnc_error *error)
{
    fortran *f = with;
    FILE *out = f->source.out;
    const pnc_var *var = f->source.model->vars[varid];
    const char *suffix = types[var->type].suffix;
    char arrays[60];
    if (!f->source.in_block)
        return NC_NOERR;
    f->source.in_block = false;
    if (n > f->source.counts[varid])
        f->source.counts[varid] = n;
    snprintf(arrays, sizeof arrays, "first(%d), many(%d)", var->ndims + 1, var->ndims + 1);
    begin_block(f, var->type, n - f->source.first, arrays);
    put_block(f, var->type);
    for (int i = 0; i < var->ndims; i++) {
        bool records = i == 0 && var->is_record;
        write_statement(f, out, "first(%d) = %" PRId64 "_8", var->ndims - i,
                        records ? f->source.first / gen_var_count_elements(var) + 1 : 1);
        write_statement(f, out, "many(%d) = %" PRId64 "_8", var->ndims - i,
                        records ? (n - f->source.first) / gen_var_count_elements(var) : var->shape[i]);
    }
    if (var->ndims > 0)
        write_statement(f, out, "call check(nfmpi_put_vara_%s_all(ncid, %d, first, many, x))", suffix, varid + 1);
    else
        write_statement(f, out, "call check(nfmpi_put_var_%s_all(ncid, %d, x))", suffix, varid + 1);
    write_statement(f, out, "end");
    close_block(f);
    return gen_source_check(&f->source, error);
}

static void write_main(fortran *f, const pnc_model *model)
{
    FILE *out = f->source.out;
    begin_unit(f, "program create");
    write_statement(f, out, "integer ncid, err");
    write_statement(f, out, "integer*8 record");
    write_statement(f, out, "call mpi_init(err)");
    write_statement(f, out, "call define(ncid)");
    for (int i = f->source.attributes; i < f->source.blocks; i++)
        write_statement(f, out, "call put%d(ncid)", i);
    for (int v = 0; v < model->nvars && !f->source.options->no_fill; v++) {
        int64_t given = f->source.counts[v] / gen_var_count_elements(model->vars[v]);
        if (!model->vars[v]->is_record || given >= model->numrecs)
            continue;
        write_statement(f, out, "do record = %" PRId64 "_8, %" PRId64 "_8", given + 1, model->numrecs);
        write_statement(f, out, "    call check(nfmpi_fill_var_rec(ncid, %d, record))", v + 1);
        write_statement(f, out, "end do");
    }
    write_statement(f, out, "call check(nfmpi_close(ncid))");
    write_statement(f, out, "call mpi_finalize(err)");
    write_statement(f, out, "end");
}

static void write_check(fortran *f)
{
    FILE *out = f->source.out;
    begin_unit(f, "subroutine check(code)");
    write_statement(f, out, "integer code, err");
    write_statement(f, out, "if (code .ne. nf_noerr) then");
    write_statement(f, out, "    print *, nfmpi_strerror(code)");
    write_statement(f, out, "    call mpi_abort(mpi_comm_world, 1, err)");
    write_statement(f, out, "end if");
    write_statement(f, out, "end");
}

static int finish(void *with, const pnc_model *model, pnc_error *error)
{
    fortran *f = with;
    write_check(f);
    write_main(f, model);
    int err = gen_source_commit(&f->source, error);
    if (err == NC_NOERR)
        pnc_memory_free(f);
    return err;
}

static void discard(void *with)
{
    fortran *f = with;
    close_block(f);
    gen_source_discard(&f->source);
    pnc_memory_free(f);
}

static int start(const gen_options *options, pnc_cdl_sink *sink, pnc_error *error)
{
    fortran *f = pnc_memory_alloc_zeroed(1, sizeof *f);
    if (f == NULL)
        return pnc_error_set(error, NC_ENOMEM, "not enough memory");
    f->source.options = options;
    *sink = (pnc_cdl_sink){.header = take_header, .values = take_values, .end = take_end, .with = f};
    return NC_NOERR;
}

const gen_kind gen_fortran = {start, finish, discard};
