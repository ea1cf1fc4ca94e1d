/* Reading CDL: models against their texts, external bytes written by hand, position and code of every kind of mistake,
 * and texts with random damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/cdl.h"
#include "random.h"

/* As the dumping tools print it, with what is special: names that are words of CDL, escapes, a string in pieces. */
static const char whole[] =
    "netcdf era\\ 5 {\n"
    "// file format: CDF-5 (big variables)\n"
    "dimensions:\n"
    "\ttime = UNLIMITED ; // (3 currently)\n"
    "\tlat = 241 ;\n"
    "\t\\3d\\ \\(x\\) = 7 ;\n"
    "\tcaf\xc3\xa9 = 5000000000 ;\n"
    "variables:\n"
    "\tdouble time(time) ;\n"
    "\t\ttime:units = \"hours since\",\n"
    "\t\t\t\" 1900\" ;\n"
    "\tshort wind(time, lat, \\3d\\ \\(x\\)) ;\n"
    "\t\twind:_FillValue = -32767s ;\n"
    "\t\twind:scale = 0.5f, -1.e-3f ;\n"
    "\tint data ;\n"
    "\t\tdata :levels = 1, -2, 3 ;\n"
    "\tint64 int(lat) ;\n"
    "\t\tint:a = 1b ;\n"
    "\n"
    "// global attributes:\n"
    "\t\t:title = \"a \\\"test\\\"\\n\",\n"
    "\t\t\t\"of // CDL;}\" ;\n"
    "\t\t:none = \"\" ;\n"
    "}\n";

static pnc_model model;
static pnc_error error;

static int finish(void **state)
{
    (void)state;
    pnc_format_model_free(&model);
    pnc_error_clear(&error);
    return 0;
}

/* From memory of exactly that size, so that a sanitizer detects a read beyond the end. */
static int parse(const char *text, size_t size)
{
    char *exact = malloc(size + !size);
    int code;

    assert_non_null(exact);
    memcpy(exact, text, size);
    pnc_format_model_free(&model);
    pnc_error_clear(&error);
    code = pnc_format_cdl_parse(exact, (int64_t)size, &model, &error);
    free(exact);
    assert_int_equal(code, error.code);
    return code;
}

static void assert_parses(const char *text)
{
    if (parse(text, strlen(text)) != NC_NOERR)
        fail_msg("%s\n%s", text, error.text);
}

static void assert_att(int varid, int index, const char *name, int type, int64_t len, const char *bytes)
{
    const pnc_atts *atts = pnc_format_atts_get(&model, varid);

    assert_non_null(atts);
    assert_true(index < atts->n);
    assert_string_equal(atts->at[index]->name, name);
    assert_int_equal(atts->at[index]->type, type);
    assert_int_equal(atts->at[index]->len, len);
    if (len > 0)
        assert_memory_equal(atts->at[index]->value, bytes, (size_t)len * pnc_type_get_size(type));
}

static void test_whole(void **state)
{
    static const char *const names[] = {"time", "lat", "3d (x)", "caf\xc3\xa9"};
    static const int64_t lengths[] = {NC_UNLIMITED, 241, 7, 5000000000};
    (void)state;

    assert_parses(whole);
    assert_int_equal(model.format, 5);
    assert_int_equal(model.ndims, 4);
    assert_int_equal(model.recdim, 0);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(model.dims[i]->name, names[i]);
        assert_int_equal(model.dims[i]->len, lengths[i]);
    }
    assert_int_equal(model.nvars, 4);
    assert_true(model.vars[0]->type == NC_DOUBLE && model.vars[0]->ndims == 1 && model.vars[0]->dimids[0] == 0);
    assert_true(model.vars[1]->type == NC_SHORT && model.vars[1]->ndims == 3 && model.vars[1]->dimids[2] == 2);
    assert_true(model.vars[2]->type == NC_INT && model.vars[2]->ndims == 0);
    assert_true(model.vars[3]->type == NC_INT64 && model.vars[3]->dimids[0] == 1);
    assert_string_equal(model.vars[3]->name, "int");
    assert_att(0, 0, "units", NC_CHAR, 16, "hours since 1900");
    assert_att(1, 0, "_FillValue", NC_SHORT, 1, "\x80\x01");
    assert_att(1, 1, "scale", NC_FLOAT, 2, "\x3f\0\0\0\xba\x83\x12\x6f");
    assert_att(2, 0, "levels", NC_INT, 3, "\0\0\0\1\xff\xff\xff\xfe\0\0\0\3");
    assert_att(3, 0, "a", NC_BYTE, 1, "\1");
    assert_att(NC_GLOBAL, 0, "title", NC_CHAR, 20, "a \"test\"\nof // CDL;}");
    assert_att(NC_GLOBAL, 1, "none", NC_CHAR, 0, "");
}

/* Values of a global attribute and their external bytes. */
static const struct {
    const char *text;
    int type, len;
    const char *bytes;
} good_values[] = {
    {"-128b, 127B", NC_BYTE, 2, "\x80\x7f"},
    {"'a', '\\n', '\\377'", NC_BYTE, 3, "a\n\xff"},
    {"0ub, 255UB", NC_UBYTE, 2, "\0\xff"},
    {"-32768s, 32767S", NC_SHORT, 2, "\x80\0\x7f\xff"},
    {"65535US", NC_USHORT, 1, "\xff\xff"},
    {"-2147483648, +2147483647", NC_INT, 2, "\x80\0\0\0\x7f\xff\xff\xff"},
    {"7l, 8L", NC_INT, 2, "\0\0\0\7\0\0\0\x8"},
    {"4294967295U", NC_UINT, 1, "\xff\xff\xff\xff"},
    {"4294967295", NC_UINT, 1, "\xff\xff\xff\xff"},
    {"-9223372036854775808LL", NC_INT64, 1, "\x80\0\0\0\0\0\0\0"},
    {"9223372036854775807", NC_INT64, 1, "\x7f\xff\xff\xff\xff\xff\xff\xff"},
    {"18446744073709551615ULL", NC_UINT64, 1, "\xff\xff\xff\xff\xff\xff\xff\xff"},
    {"18446744073709551615", NC_UINT64, 1, "\xff\xff\xff\xff\xff\xff\xff\xff"},
    {"0x10, 010, 0xffS", NC_INT, 3, "\0\0\0\x10\0\0\0\x8\0\0\0\xff"},
    {"1.f, -0.f, .5f, 5f", NC_FLOAT, 4, "\x3f\x80\0\0\x80\0\0\0\x3f\0\0\0\x40\xa0\0\0"},
    {"NaNf, Infinityf, -Infinityf", NC_FLOAT, 3, "\x7f\xc0\0\0\x7f\x80\0\0\xff\x80\0\0"},
    {"1., 1e0, 1.d, +1.E+0", NC_DOUBLE, 4,
     "\x3f\xf0\0\0\0\0\0\0\x3f\xf0\0\0\0\0\0\0\x3f\xf0\0\0\0\0\0\0\x3f\xf0\0\0\0\0\0\0"},
    {"NaN, Infinity, -inf", NC_DOUBLE, 3, "\x7f\xf8\0\0\0\0\0\0\x7f\xf0\0\0\0\0\0\0\xff\xf0\0\0\0\0\0\0"},
    /* 1 + 2^-24 + 2^-54: rounded up from the text, but down by way of a double */
    {"1.00000005960464483304736f", NC_FLOAT, 1, "\x3f\x80\0\1"},
    /* what ncdump makes of the largest numbers, with its default number of digits, and with 3 */
    {"1.79769313486232e+308, -1.80e308", NC_DOUBLE, 2,
     "\x7f\xef\xff\xff\xff\xff\xff\xff\xff\xef\xff\xff\xff\xff\xff\xff"},
    {"-3.403e+38f", NC_FLOAT, 1, "\xff\x7f\xff\xff"},
    /* values of several types share the widest */
    {"1b, 2s", NC_SHORT, 2, "\0\1\0\2"},
    {"1, 0.5", NC_DOUBLE, 2, "\x3f\xf0\0\0\0\0\0\0\x3f\xe0\0\0\0\0\0\0"},
    {"16777217, 1.f", NC_FLOAT, 2, "\x4b\x80\0\0\x3f\x80\0\0"},
    {"", NC_CHAR, 0, ""},
    {"\"\", \"\"", NC_CHAR, 0, ""},
    {"\"ab\", \"\", \"c\"", NC_CHAR, 3, "abc"},
    {"\"\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\?\\q\"", NC_CHAR, 12, "\a\b\f\n\r\t\v\\'\"?q"},
    {"\"\\0001\\0z\\12\\101\\377\\x41g\\xfF1\"", NC_CHAR, 11,
     "\0"
     "1\0z\nA\xff"
     "Ag\xff"
     "1"},
    {"\"two\nlines\"", NC_CHAR, 9, "two\nlines"},
};

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_values / sizeof *good_values; i++) {
        char text[300];
        snprintf(text, sizeof text, "netcdf v { :a = %s ; }", good_values[i].text);
        print_message("# %s\n", text);
        assert_parses(text);
        assert_att(NC_GLOBAL, 0, "a", good_values[i].type, good_values[i].len, good_values[i].bytes);
    }
}

static void test_types(void **state)
{
    (void)state;
    assert_parses(
        "netcdf t { variables: byte a; char b; short c; int d; float e; double f; ubyte g; ushort h; uint i; "
        "int64 j; uint64 k; long l; integer m; real n, o; }");
    assert_int_equal(model.nvars, 15);
    for (int i = 0; i < 11; i++)
        assert_int_equal(model.vars[i]->type, i + 1);
    assert_true(model.vars[11]->type == NC_INT && model.vars[12]->type == NC_INT);
    assert_true(model.vars[13]->type == NC_FLOAT && model.vars[14]->type == NC_FLOAT);

    assert_parses(
        "netcdf t { variables: float v; char c; float byte; byte :h = 3; float v:a = 1, 2b; "
        "float v:_FillValue = -999.; short v:e = ; char c:t = 'x', 'y'; int :g = 1, 2.0; "
        "int :g = 4; c:_FillValue = \"\"; short s; s:_FillValue = NaN; s:e = \"\"; }");
    assert_att(2, 0, "h", NC_INT, 1, "\0\0\0\3"); /* of the variable, as its name is there */
    assert_att(0, 0, "a", NC_FLOAT, 2, "\x3f\x80\0\0\x40\0\0\0");
    assert_att(0, 1, "_FillValue", NC_FLOAT, 1, "\xc4\x79\xc0\0");
    assert_att(0, 2, "e", NC_SHORT, 0, "");
    assert_att(1, 0, "t", NC_CHAR, 2, "xy");
    assert_att(1, 1, "_FillValue", NC_CHAR, 1, "\0"); /* the tools do not print null characters at the end */
    assert_att(3, 0, "_FillValue", NC_DOUBLE, 1, "\x7f\xf8\0\0\0\0\0\0"); /* as real files have it */
    assert_att(3, 1, "e", NC_CHAR, 0, "");
    assert_att(NC_GLOBAL, 0, "g", NC_INT, 1, "\0\0\0\4");
    /* without a type: _FillValue, and no other attribute, gets that of the variable */
    assert_parses("netcdf t { variables: short s; s:_FillValue = 5; s:a = 5; s:z = 5; s:__ = 5; }");
    assert_att(0, 0, "_FillValue", NC_SHORT, 1, "\0\5");
    for (int i = 1; i < 4; i++)
        assert_int_equal(model.vars[0]->atts.at[i]->type, NC_INT);
}

static void test_by_hand(void **state)
{
    (void)state;
    assert_parses("// a note\nnetcdf{}");
    assert_int_equal(model.ndims + model.nvars + model.gatts.n, 0);
    assert_parses(
        "netcdf not \\{ escaped well {dimensions:x=1,y=0x10;z=unlimited;:a=1;variables:int a(x),b,c(z,y);"
        "dimensions:w=2;variables:char d(w);d:u=\"m\";}//");
    assert_int_equal(model.ndims, 4);
    assert_int_equal(model.dims[1]->len, 16);
    assert_int_equal(model.nvars, 4);
    assert_true(model.vars[2]->ndims == 2 && model.vars[2]->dimids[0] == 2 && model.vars[2]->dimids[1] == 1);
    /* a whole dump: data is not looked at */
    assert_parses("netcdf a {\ndimensions:\n\tx = 2 ;\nvariables:\n\tint v(x) ;\ndata:\n\n v = _, @ ;\n}\n");
    assert_int_equal(model.nvars, 1);
}

static void test_format(void **state)
{
    static const struct {
        const char *text;
        int format;
    } rows[] = {
        {"netcdf a { }", 1},
        {"netcdf a {\n// file format: CDF-1\n}", 1},
        {"netcdf a {\n// file format: CDF-2 (large file)\n}", 2},
        {"netcdf a {\n// file format: CDF-5 (big variables)\n}", 5},
        {"netcdf a {\n// file format: CDF-7\n}", 1},
        {"netcdf a { :a = 1b, 2. ; \n// file format: CDF-5\n}", 1},
        {"netcdf a { :a = 1ub ; }", 5},
        {"netcdf a { variables: uint v; }", 5},
        {"netcdf a { variables: int v; v:a = 1LL; }", 5},
        {"netcdf a { dimensions: x = 2147483647; }", 1},
        {"netcdf a { dimensions: x = 2147483648; }", 5},
        /* CDF-1 has 4 bytes for the offset of the second variable */
        {"netcdf a { dimensions: x = 600000000; variables: int v(x), w(x); }", 2},
        {"netcdf a { dimensions: x = 2000000000; variables: int v(x), w(x); }", 5},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("# %s\n", rows[i].text);
        assert_parses(rows[i].text);
        assert_int_equal(model.format, rows[i].format);
    }
}

/* The place is where a person has to look. */
static const struct {
    const char *text;
    int code, line, column;
    const char *words;
} mistakes[] = {
    {"", NC_ENOTNC, 1, 1, "netcdf"},
    {"CDF\001", NC_ENOTNC, 1, 1, "netcdf"},
    {"\n\n  netcdv a {}", NC_ENOTNC, 3, 3, "netcdf"},
    {"netcdf a", NC_ENOTNC, 1, 9, "'{'"},
    {"netcdf a \\", NC_ENOTNC, 1, 11, "'{'"},
    {"netcdf a {", NC_ENOTNC, 1, 11, "ends"},
    {"netcdf a { dimensions: x = 3 ;", NC_ENOTNC, 1, 31, "ends"},
    {"netcdf a {\n} more", NC_ENOTNC, 2, 3, "more"},
    {"netcdf a {\ndimensions:\n\tx 3 ;}", NC_ENOTNC, 3, 4, "'='"},
    {"netcdf a {\ndimensions:\n\tx = 3\n\ty = 4 ;}", NC_ENOTNC, 4, 2, "';'"},
    {"netcdf a { dimensions: 3x = 3 ;}", NC_ENOTNC, 1, 24, "3x"},
    {"netcdf a { dimensions: x = 0 ;}", NC_EDIMSIZE, 1, 28, "UNLIMITED"},
    {"netcdf a { dimensions: x = -1 ;}", NC_EDIMSIZE, 1, 28, "positive"},
    {"netcdf a { dimensions: x = 1.5 ;}", NC_EDIMSIZE, 1, 28, "integer"},
    {"netcdf a { dimensions: x = 9223372036854775808 ;}", NC_EDIMSIZE, 1, 28, "integer"},
    {"netcdf a { dimensions: x = many ;}", NC_ENOTNC, 1, 28, "many"},
    {"netcdf a { dimensions: x = 1, x = 2;}", NC_ENAMEINUSE, 1, 31, "\"x\""},
    {"netcdf a { dimensions: x = UNLIMITED; y = UNLIMITED;}", NC_EUNLIMIT, 1, 39, "\"y\""},
    {"netcdf a {\n// file format: CDF-2\ndimensions: x = 2147483648;}", NC_EDIMSIZE, 3, 13, "CDF-2"},
    {"netcdf a { dimensions: int x ;}", NC_ENOTNC, 1, 24, "variables:"},
    {"netcdf a { dimensions: a\\/b = 3 ;}", NC_EBADNAME, 1, 24, "'/'"},
    {"netcdf a { int x ;}", NC_ENOTNC, 1, 12, "variables:"},
    {"netcdf a { x = 3 ;}", NC_ENOTNC, 1, 12, "\"dimensions:\""},
    {"netcdf a { variables: v = 3 ;}", NC_ENOTNC, 1, 23, "\"dimensions:\""},
    {"netcdf a { x ;}", NC_ENOTNC, 1, 14, "':'"},
    {"netcdf a { variables: quad v ;}", NC_EBADTYPE, 1, 23, "\"quad\""},
    {"netcdf a { variables: int v(x) ;}", NC_EBADDIM, 1, 29, "\"x\""},
    {"netcdf a { dimensions: x = 1; variables: int v(x ;}", NC_ENOTNC, 1, 50, "')'"},
    {"netcdf a { dimensions: x = 1; variables: int v() ;}", NC_ENOTNC, 1, 48, "name"},
    {"netcdf a { dimensions: x = 1, t = UNLIMITED; variables: int v(x, t) ;}", NC_EUNLIMPOS, 1, 61, "\"t\""},
    {"netcdf a { variables: int v, v;}", NC_ENAMEINUSE, 1, 30, "\"v\""},
    {"netcdf a { variables: int v w;}", NC_ENOTNC, 1, 29, "';'"},
    {"netcdf a { variables: int 3;}", NC_ENOTNC, 1, 27, "name"},
    {"netcdf a {\n// file format: CDF-1\nvariables: uint v;}", NC_ESTRICTCDF2, 3, 17, "CDF-1"},
    {"netcdf a {\n// file format: CDF-2\n :a = 1ULL;}", NC_ESTRICTCDF2, 3, 3, "uint64"},
    {"netcdf a { variables: w:a = 1;}", NC_ENOTVAR, 1, 23, "\"w\""},
    {"netcdf a { int w:a = 1;}", NC_ENOTVAR, 1, 16, "\"w\""},
    {"netcdf a { :a 1;}", NC_ENOTNC, 1, 15, "'='"},
    {"netcdf a { :a = 1 2;}", NC_ENOTNC, 1, 19, "','"},
    {"netcdf a { :a = 1,;}", NC_ENOTNC, 1, 19, "value"},
    {"netcdf a { :a = foo;}", NC_ENOTNC, 1, 17, "foo"},
    {"netcdf a { :a = -foo;}", NC_ENOTNC, 1, 17, "-foo"},
    {"netcdf a { :a = 08;}", NC_ENOTNC, 1, 17, "08"},
    {"netcdf a { :a = 0x;}", NC_ENOTNC, 1, 17, "0x"},
    {"netcdf a { :a = 1x;}", NC_ENOTNC, 1, 17, "1x"},
    {"netcdf a { :a = 1.5b;}", NC_ENOTNC, 1, 17, "1.5b"},
    {"netcdf a { :a = 1.2.3;}", NC_ENOTNC, 1, 17, "1.2.3"},
    {"netcdf a { :a = .;}", NC_ENOTNC, 1, 17, "number"},
    {"netcdf a { :a = 1e400;}", NC_ERANGE, 1, 17, "double"},
    {"netcdf a { :a = 1e39f;}", NC_ERANGE, 1, 17, "float"},
    {"netcdf a { :a = 1b, 128b;}", NC_ERANGE, 1, 21, "byte"},
    {"netcdf a { :a = -129b;}", NC_ERANGE, 1, 17, "-129b"},
    {"netcdf a { :a = -1ub;}", NC_ERANGE, 1, 17, "ubyte"},
    {"netcdf a { :a = 70000s;}", NC_ERANGE, 1, 17, "short"},
    {"netcdf a { :a = 2147483648L;}", NC_ERANGE, 1, 17, "int"},
    {"netcdf a { :a = 18446744073709551616;}", NC_ERANGE, 1, 17, "uint64"},
    {"netcdf a { :a = -9223372036854775809;}", NC_ERANGE, 1, 17, "int64"},
    {"netcdf a { :a = -1, 5000000000ULL;}", NC_ERANGE, 1, 17, "uint64"},
    {"netcdf a { int :a = 1.5;}", NC_ERANGE, 1, 21, "int"},
    {"netcdf a { int :a = NaN;}", NC_ERANGE, 1, 21, "int"},
    {"netcdf a { float :a = 1e300;}", NC_ERANGE, 1, 23, "float"},
    {"netcdf a { byte :a = 200;}", NC_ERANGE, 1, 22, "byte"},
    {"netcdf a { :a = \"x\", 1;}", NC_ECHAR, 1, 22, "not both"},
    {"netcdf a { :a = 1, \"x\";}", NC_ECHAR, 1, 20, "not both"},
    {"netcdf a { int :a = \"x\";}", NC_ECHAR, 1, 21, "int"},
    {"netcdf a { char :a = 1;}", NC_ECHAR, 1, 22, "char"},
    {"netcdf a { :a = 'xy';}", NC_ENOTNC, 1, 17, "one character"},
    {"netcdf a { :a = '';}", NC_ENOTNC, 1, 17, "one character"},
    {"netcdf a {\n:b = \"\xc3\xa9\xe2\x82\xac\" 1;}", NC_ENOTNC, 2, 11, "1"},
    {"netcdf a {\n :a = \"x ;\n}\n", NC_ENOTNC, 2, 7, "closing"},
    {"netcdf a {\n :a = \"x\\", NC_ENOTNC, 2, 7, "closing"},
    {"netcdf a { :a = \"\\400\";}", NC_ERANGE, 1, 18, "\\400"},
    {"netcdf a { :a = \"\\xg\";}", NC_ENOTNC, 1, 18, "\\x"},
    {"netcdf a { :a\\", NC_ENOTNC, 1, 14, "backslash"},
    {"netcdf a { types: }", NC_ENOTNC, 1, 12, "netCDF-4"},
    {"netcdf a { group: g { } }", NC_ENOTNC, 1, 12, "netCDF-4"},
    {"netcdf a { string :a = \"x\" ; }", NC_EBADTYPE, 1, 12, "\"string\""},
    {"netcdf a { \001 }", NC_ENOTNC, 1, 12, "0x01"},
    {"netcdf a { \177 }", NC_ENOTNC, 1, 12, "0x7f"},
};

static void test_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        char place[60];
        print_message("# %s\n", mistakes[i].text);
        assert_int_equal(parse(mistakes[i].text, strlen(mistakes[i].text)), mistakes[i].code);
        print_message("#   %s\n", error.text);
        snprintf(place, sizeof place, "line %d, column %d: ", mistakes[i].line, mistakes[i].column);
        assert_memory_equal(error.text, place, strlen(place));
        assert_non_null(strstr(error.text + strlen(place), mistakes[i].words));
        assert_int_equal(model.ndims + model.nvars + model.gatts.n, 0); /* nothing remains */
        assert_null(model.dims);
    }
}

static void test_long_names(void **state)
{
    char text[2000], name[600];
    (void)state;

    memset(name, 'n', sizeof name);
    snprintf(text, sizeof text, "netcdf a { dimensions: %.*s = 1; variables: int v(%.*s); }", NC_MAX_NAME, name,
             NC_MAX_NAME, name);
    assert_parses(text);
    assert_int_equal(strlen(model.dims[0]->name), NC_MAX_NAME);
    snprintf(text, sizeof text, "netcdf a { dimensions: %.*s = 1; }", NC_MAX_NAME + 1, name);
    assert_int_equal(parse(text, strlen(text)), NC_EMAXNAME);
    snprintf(text, sizeof text, "netcdf a { :a = 1%.*s; }", 599, name);
    assert_int_equal(parse(text, strlen(text)), NC_ENOTNC);
    /* all failures can do without an error object */
    assert_int_equal(pnc_format_cdl_parse("netcdf a { dimensions: x = 0; }", 31, &model, NULL), NC_EDIMSIZE);
}

/* Damage: what comes out is a model or a message with a place, and neither depends on bytes behind the end. */
static void check_outcome(int code)
{
    if (code == NC_NOERR) {
        assert_true(model.format == 1 || model.format == 2 || model.format == 5);
        for (int v = 0; v < model.nvars; v++)
            for (int i = 0; i < model.vars[v]->ndims; i++)
                assert_in_range((uintmax_t)model.vars[v]->dimids[i], 0, (uintmax_t)model.ndims - 1);
    } else {
        assert_memory_equal(error.text, "line ", 5);
        assert_null(model.dims);
        assert_null(model.vars);
    }
}

static void test_cut(void **state)
{
    size_t last = strlen(whole) - 2; /* the closing brace */
    (void)state;

    for (size_t n = 0; n <= last; n++) {
        int code = parse(whole, n);
        check_outcome(code);
        assert_int_not_equal(code, NC_NOERR);
    }
}

static void test_damaged(void **state)
{
    static const char bytes[] = "\"'\\{}();:,=/+-.09xeEbfULns \n\t\0\xc3\xff_";
    int accepted = 0;
    (void)state;

    for (int round = 0; round < 20000; round++) {
        char text[2 * sizeof whole];
        size_t n = sizeof whole - 1;
        memcpy(text, whole, n);
        for (int64_t k = random_in(1, 3); k > 0; k--) {
            size_t at = (size_t)random_in(0, (int64_t)n - 1), from = (size_t)random_in(0, (int64_t)n - 1);
            size_t some = (size_t)random_in(1, 20);
            switch (random_in(0, 3)) {
            case 0: /* another byte */ text[at] = bytes[random_in(0, sizeof bytes - 2)]; break;
            case 1: /* any other byte */ text[at] = (char)random_in(0, 255); break;
            case 2: /* some are lost */
                some = some < n - at ? some : n - at - 1;
                memmove(text + at, text + at + some, n - at - some);
                n -= some;
                break;
            default: /* some stand twice */
                some = some < n - from ? some : n - from;
                memmove(text + at + some, text + at, n - at);
                memmove(text + at, text + from, some);
                n += some;
                break;
            }
        }
        int code = parse(text, n);
        check_outcome(code);
        accepted += code == NC_NOERR;
    }
    print_message("# %d of 20000 damaged texts are CDL still\n", accepted);
    assert_in_range((uintmax_t)accepted, 100, 19900);
}

/* --- data --- */

enum { KEPT_BYTES = 600 };

/* What a variable was given; `end` is the number of elements at the last end of it. */
static struct {
    char bytes[KEPT_BYTES];
    int64_t n, end;
} given[4];

static int64_t read_rest(void *with, void *bytes, int64_t capacity, pnc_error *why)
{
    const char **rest = with;
    int64_t n = (int64_t)strlen(*rest) < capacity ? (int64_t)strlen(*rest) : capacity;

    (void)why;
    memcpy(bytes, *rest, (size_t)n);
    *rest += n;
    return n;
}

static int keep_values(void *with, int varid, int64_t first, const void *bytes, int64_t n, pnc_error *why)
{
    size_t size = pnc_type_get_size(model.vars[varid]->type);

    (void)with;
    (void)why;
    assert_int_equal(first, given[varid].n); /* in order, without gaps */
    assert_true(n > 0);
    if ((size_t)(first + n) * size <= KEPT_BYTES)
        memcpy(given[varid].bytes + (size_t)first * size, bytes, (size_t)n * size);
    given[varid].n += n;
    return NC_NOERR;
}

static int keep_end(void *with, int varid, int64_t n, pnc_error *why)
{
    (void)with;
    (void)why;
    assert_int_equal(n, given[varid].n);
    given[varid].end = n;
    return NC_NOERR;
}

static int read_data(const char *text)
{
    const pnc_cdl_source source = {.read = read_rest, .with = &text};
    const pnc_cdl_sink sink = {.values = keep_values, .end = keep_end};
    int code;

    memset(given, 0, sizeof given);
    pnc_format_model_free(&model);
    pnc_error_clear(&error);
    code = pnc_format_cdl_read(&source, &sink, &model, &error);
    assert_int_equal(code, error.code);
    return code;
}

/* Definitions that the rows share, and the values of one variable of them. */
#define WITH_DATA(values)                                                                                            \
    "netcdf a { dimensions: t = UNLIMITED ; // (5 currently)\n x = 3 ; y = 2 ; variables: int r(t, y) ; char c(t) ;" \
    " char text(y, x) ; byte b(x) ; data:\n" values " }"

enum { R, C, TEXT, B };

/* Elements and records by the rules that the manual of ncgen states: fill values for what is missing of a variable or
 * of a record, null characters for the rest of a text. */
static const struct {
    const char *values;
    int varid;
    int64_t numrecs, n;
    const char *bytes;
} good_data[] = {
    {"b = 1, 2, 3 ;", B, 5, 3, "\1\2\3"},
    {"b = 1 ;", B, 5, 3, "\1\x81\x81"},
    {"b = 7, _, 'a' ;", B, 5, 3,
     "\7\x81"
     "a"},
    {"r = 1, 2 ;", R, 1, 2, "\0\0\0\1\0\0\0\2"},
    {"r = 1, 2, 3 ;", R, 2, 4, "\0\0\0\1\0\0\0\2\0\0\0\3\x80\0\0\1"},
    {"b = 1 ; r = 1, 2 ;", R, 1, 2, "\0\0\0\1\0\0\0\2"},
    {"c = \"ab\" ;", C, 5, 5, "ab\0\0\0"},
    {"c = \"abcdefg\" ;", C, 7, 7, "abcdefg"},
    {"r = 1, 2, 3, 4, 5, 6 ; c = \"a\" ;", C, 3, 3, "a\0\0"},
    {"c = \"a\" ; r = 1, 2, 3, 4, 5, 6 ;", C, 3, 3, "a\0\0"},
    {"c = \"abcd\" ; r = 1, 2 ;", C, 4, 4, "abcd"},
    {"c = 'a', 'b' ;", C, 2, 2, "ab"},
    {"text = \"abc\", \"de\" ;", TEXT, 5, 6, "abcde\0"},
    {"text = \"a\", \"b\" ;", TEXT, 5, 6, "a\0\0b\0\0"},
    {"text = \"a\" ;", TEXT, 5, 6, "a\0\0\0\0\0"},
    {"text = \"\", \"b\" ;", TEXT, 5, 6, "\0\0\0b\0\0"},
    {"text = \"abcdef\" ;", TEXT, 5, 6, "abcdef"},
    {"text = \"\" ;", TEXT, 5, 6, "\0\0\0\0\0\0"},
    /* a row that the dumping tools have broken after a newline continues in column 5 of the next line */
    {"text =\n  \"a\\n\",\n    \"b\",\n  \"c\" ;", TEXT, 5, 6, "a\nbc\0\0"},
    {"text =\n  \"a\\n\",\n     \"b\" ;", TEXT, 5, 6, "a\n\0b\0\0"},
    {"text =\n  \"a\\n\",\n\n    \"b\" ;", TEXT, 5, 6, "a\n\0b\0\0"},
    {"text =\n  \"aa\",\n    \"b\" ;", TEXT, 5, 6, "aa\0b\0\0"},
};

static void test_data(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_data / sizeof *good_data; i++) {
        char text[400];
        int varid = good_data[i].varid;

        snprintf(text, sizeof text, WITH_DATA("%s"), good_data[i].values);
        print_message("# %s\n", good_data[i].values);
        if (read_data(text) != NC_NOERR)
            fail_msg("%s", error.text);
        assert_int_equal(model.numrecs, good_data[i].numrecs);
        assert_int_equal(given[varid].n, good_data[i].n);
        assert_int_equal(given[varid].end, good_data[i].n);
        assert_memory_equal(given[varid].bytes, good_data[i].bytes,
                            (size_t)good_data[i].n * pnc_type_get_size(model.vars[varid]->type));
    }
    /* the comment counts only where there is an unlimited dimension */
    assert_int_equal(read_data("netcdf a { dimensions: x = 3 ; // (5 currently)\n variables: int v(x) ; data: }"), 0);
    assert_int_equal(model.numrecs, 0);
}

/* More values than a block has bytes. */
static void test_blocks(void **state)
{
    enum { N = (1 << 18) + 5 };
    static char text[200 + 3 * N];
    size_t at;
    (void)state;

    snprintf(text, sizeof text, "netcdf a { dimensions: x = %d ; variables: double v(x) ; byte w(x) ; data: w = ", N);
    at = strlen(text);
    for (int i = 0; i < N; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%d%s", i % 10, i < N - 1 ? "," : "; v = 1 ; }");
    assert_int_equal(read_data(text), NC_NOERR);
    for (int varid = 0; varid < 2; varid++) {
        assert_int_equal(given[varid].n, N);
        assert_int_equal(given[varid].end, N);
    }
}

static void test_wrong_data(void **state)
{
    static const struct {
        const char *values;
        int code;
        const char *words;
    } rows[] = {
        {"b = 1, 2, 3, 4 ;", NC_EEDGE, "\"b\" has 3"},
        {"text = \"abcdefg\" ;", NC_EEDGE, "\"text\" has 6"},
        {"text = 1 ;", NC_ECHAR, "\"text\""},
        {"b = \"a\" ;", NC_ECHAR, "\"b\""},
        {"b = 128 ;", NC_ERANGE, "byte"},
        {"b = 1.5 ;", NC_ERANGE, "byte"},
        {"none = 1 ;", NC_ENOTVAR, "\"none\""},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[400];

        snprintf(text, sizeof text, WITH_DATA("%s"), rows[i].values);
        print_message("# %s\n", rows[i].values);
        assert_int_equal(read_data(text), rows[i].code);
        assert_non_null(strstr(error.text, rows[i].words));
    }
    /* an attribute sets the format when the types are known already */
    assert_int_equal(read_data("netcdf a { variables: uint v ; :_Format = \"classic\" ; data: }"), NC_ESTRICTCDF2);
    assert_non_null(strstr(error.text, "CDF-1 cannot hold this"));
    assert_int_equal(read_data("netcdf a { dimensions: x = 530000000 ; variables: int v(x), w(x), u(x) ; "
                               ":_Format = \"classic\" ; data: }"),
                     NC_EVARSIZE);
    assert_non_null(strstr(error.text, "\"u\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_whole, finish),      cmocka_unit_test_teardown(test_values, finish),
        cmocka_unit_test_teardown(test_types, finish),      cmocka_unit_test_teardown(test_by_hand, finish),
        cmocka_unit_test_teardown(test_format, finish),     cmocka_unit_test_teardown(test_mistakes, finish),
        cmocka_unit_test_teardown(test_long_names, finish), cmocka_unit_test_teardown(test_cut, finish),
        cmocka_unit_test_teardown(test_damaged, finish),    cmocka_unit_test_teardown(test_data, finish),
        cmocka_unit_test_teardown(test_blocks, finish),     cmocka_unit_test_teardown(test_wrong_data, finish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
