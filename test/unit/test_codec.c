/* The codec against headers written by hand from the NetCDF Classic Format Specification, against damaged ones, and
 * against real files. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/codec.h"
#include "format/layout.h"
#include "format/observe.h"

enum { ROOM = 512 };

/* 3 records; dimensions t (unlimited), x = 5; an attribute; a fixed variable with two attributes, two record ones */
static const char cdf1[] =
    "43444601 00000003"
    "0000000a 00000002  00000001 74000000 00000000  00000001 78000000 00000005"
    "0000000c 00000001  00000005 7469746c 65000000 00000002 00000003 61626300"
    "0000000b 00000003"
    "00000003 66697800  00000001 00000001"
    "  0000000c 00000002  00000001 75000000 00000003 00000003 00010002 00030000  00000001 65000000 00000004 00000000"
    "  00000003 0000000c 000000e8"
    "00000002 72620000  00000002 00000000 00000001  00000000 00000000  00000001 00000008 000000f4"
    "00000002 72640000  00000001 00000000           00000000 00000000  00000006 00000008 000000fc";
/* the same in CDF-2: offsets have 8 bytes */
static const char cdf2[] =
    "43444602 00000003"
    "0000000a 00000002  00000001 74000000 00000000  00000001 78000000 00000005"
    "0000000c 00000001  00000005 7469746c 65000000 00000002 00000003 61626300"
    "0000000b 00000003"
    "00000003 66697800  00000001 00000001"
    "  0000000c 00000002  00000001 75000000 00000003 00000003 00010002 00030000  00000001 65000000 00000004 00000000"
    "  00000003 0000000c 00000000000000f4"
    "00000002 72620000  00000002 00000000 00000001  00000000 00000000  00000001 00000008 0000000000000100"
    "00000002 72640000  00000001 00000000           00000000 00000000  00000006 00000008 0000000000000108";
/* 2 records of a single ubyte variable: packed, though vsize is rounded up */
static const char cdf5[] =
    "43444605 0000000000000002"
    "0000000a 0000000000000001  0000000000000001 74000000 0000000000000000"
    "00000000 0000000000000000"
    "0000000b 0000000000000001"
    "0000000000000001 76000000  0000000000000001 0000000000000000"
    "  0000000c 0000000000000001  0000000000000001 61000000 0000000a 0000000000000001 0102030405060708"
    "  00000007 0000000000000004 00000000000000a0";

static int64_t from_hex(const char *hex, unsigned char *out)
{
    int64_t n = 0;
    unsigned byte;

    for (; *hex != '\0'; hex++) {
        if (*hex == ' ')
            continue;
        if (sscanf(hex, "%2x", &byte) != 1)
            fail_msg("bad hex text at \"%.8s\"", hex);
        out[n++] = (unsigned char)byte;
        hex++;
    }
    return n;
}

static void put_word(unsigned char *at, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(word >> (24 - 8 * i));
}

static void assert_encodes_to(pnc_model *model, const unsigned char *bytes, int64_t n)
{
    unsigned char *out = malloc((size_t)n + 1);

    assert_int_equal(pnc_format_header_get_size(model), n);
    out[n] = 0xee;
    pnc_format_header_encode(model, out);
    assert_int_equal(out[n], 0xee);
    assert_memory_equal(out, bytes, (size_t)n);
    free(out);
}

/* What cdf1 and cdf2 say; only offsets differ. */
static void check_sample(const pnc_model *m, int format)
{
    const int64_t step = format == 2 ? 12 : 0, wider = format == 2 ? 4 : 0;

    assert_int_equal(m->format, format);
    assert_int_equal(m->numrecs, 3);
    assert_int_equal(m->ndims, 2);
    assert_int_equal(m->recdim, 0);
    assert_string_equal(m->dims[1]->name, "x");
    assert_int_equal(m->dims[1]->len, 5);
    assert_int_equal(m->gatts.n, 1);
    assert_string_equal(m->gatts.at[0]->name, "title");
    assert_memory_equal(m->gatts.at[0]->value, "abc", 3);
    assert_int_equal(m->nvars, 3);
    assert_int_equal(m->nrecvars, 2);
    assert_int_equal(m->vars[0]->type, NC_SHORT);
    assert_int_equal(m->vars[0]->size, 10);
    assert_int_equal(m->vars[0]->atts.n, 2);
    assert_memory_equal(m->vars[0]->atts.at[0]->value, "\0\1\0\2\0\3", 6);
    assert_int_equal(m->vars[0]->atts.at[1]->len, 0);
    assert_int_equal(m->vars[1]->ndims, 2);
    assert_true(m->vars[1]->is_record && m->vars[1]->size == 5 && m->vars[1]->shape[1] == 5);
    assert_int_equal(m->vars[0]->classic.begin, 232 + step);
    assert_int_equal(m->vars[2]->classic.begin, 252 + step);
    assert_int_equal(m->classic.header_size, 232 + step);
    assert_int_equal(m->classic.header_extent, 232 + step);
    assert_int_equal(m->classic.begin_rec, 244 + step);
    assert_int_equal(m->classic.recsize, 16);
    assert_int_equal(pnc_format_layout_get_data_end(m), 244 + step + 3 * 16);
    assert_int_equal(m->dims[0]->classic.where, 16);
    assert_int_equal(m->dims[1]->classic.where, 28);
    assert_int_equal(m->gatts.at[0]->classic.where, 48);
    assert_int_equal(m->vars[0]->classic.where, 80);
    assert_int_equal(m->vars[0]->atts.at[0]->classic.where, 104);
    assert_int_equal(m->vars[0]->atts.at[1]->classic.where, 128);
    assert_int_equal(m->vars[1]->classic.where, 156 + wider);
    assert_int_equal(m->vars[2]->classic.where, 196 + 2 * wider);
}

/* The bytes that are specific to the place of an entry are those of the header from the anchor to `end`. */
static void check_place(const pnc_model *m, const unsigned char *bytes, pnc_entry entry, int64_t anchor, int64_t end)
{
    unsigned char out[ROOM];

    assert_int_equal(pnc_format_entry_get_anchor(m, entry), anchor);
    assert_int_equal(pnc_format_entry_encode(m, entry, NULL), end - anchor);
    assert_int_equal(pnc_format_entry_encode(m, entry, out), end - anchor);
    assert_memory_equal(out, bytes + anchor, (size_t)(end - anchor));
}

#define CHECK_DIFFERS(field, value)                              \
    do {                                                         \
        __typeof__(field) was = field;                           \
        field = value;                                           \
        assert_false(pnc_format_entry_is_same(m, &copy, entry)); \
        field = was;                                             \
        assert_true(pnc_format_entry_is_same(m, &copy, entry));  \
    } while (false)

/* A copy is the same until the offset, the name, or what else belongs to the entry is another one. */
static void check_same(const pnc_model *m, pnc_entry entry)
{
    char other[] = "other";
    pnc_model copy;
    pnc_att *att;

    assert_int_equal(pnc_format_model_copy(&copy, m), NC_NOERR);
    CHECK_DIFFERS(copy.format, 7);
    if (entry.dimid >= 0) {
        CHECK_DIFFERS(copy.ndims, entry.dimid);
        CHECK_DIFFERS(copy.dims[entry.dimid]->classic.where, 3);
        CHECK_DIFFERS(copy.dims[entry.dimid]->name, other);
    } else if (entry.varid >= 0) {
        CHECK_DIFFERS(copy.nvars, entry.varid);
        CHECK_DIFFERS(copy.vars[entry.varid]->classic.where, 3);
        CHECK_DIFFERS(copy.vars[entry.varid]->name, other);
    }
    if (entry.att >= 0) {
        att = pnc_format_atts_get(&copy, entry.varid)->at[entry.att];
        CHECK_DIFFERS(pnc_format_atts_get(&copy, entry.varid)->n, entry.att);
        CHECK_DIFFERS(att->classic.where, 3);
        CHECK_DIFFERS(att->type, NC_UINT64);
        CHECK_DIFFERS(att->len, 77);
        CHECK_DIFFERS(att->name, other);
    }
    pnc_format_model_free(&copy);
}

static void check_atts_places(const pnc_model *m, const unsigned char *bytes, int varid)
{
    const pnc_atts *atts = pnc_format_atts_get(m, varid);

    for (int k = 0; k < atts->n; k++) {
        pnc_entry entry = {-1, varid, k};

        check_place(m, bytes, entry, varid == NC_GLOBAL ? 0 : m->vars[varid]->classic.where,
                    atts->at[k]->classic.where + pnc_format_att_encode(m, atts->at[k], NULL));
        check_same(m, entry);
    }
}

/* The entry of a dimension ends with its length, that of a variable, here, with the ids of its dimensions. */
static void check_places(const pnc_model *m, const unsigned char *bytes)
{
    const int64_t count = m->format == 5 ? 8 : 4;

    for (int i = 0; i < m->ndims; i++) {
        pnc_entry entry = {i, NC_GLOBAL, -1};

        check_place(m, bytes, entry, 0,
                    m->dims[i]->classic.where + pnc_format_name_encode(m, m->dims[i]->name, NULL) + count);
        check_same(m, entry);
    }
    check_atts_places(m, bytes, NC_GLOBAL);
    for (int i = 0; i < m->nvars; i++) {
        pnc_entry entry = {-1, i, -1};

        check_place(m, bytes, entry, m->vars[i]->classic.where,
                    m->vars[i]->classic.where + pnc_format_name_encode(m, m->vars[i]->name, NULL) +
                        count * (1 + m->vars[i]->ndims));
        check_same(m, entry);
        check_atts_places(m, bytes, i);
    }
}

/* Each entry must have the bytes at its offset `where`. */
static void check_entries(const pnc_model *m, const unsigned char *bytes)
{
    unsigned char out[ROOM];
    int64_t n;

    assert_memory_equal(out, bytes + 4, (size_t)pnc_format_numrecs_encode(m, memset(out, 0xee, sizeof out)));
    check_places(m, bytes);
    for (int i = 0; i < m->ndims; i++) {
        n = pnc_format_name_encode(m, m->dims[i]->name, out);
        assert_memory_equal(out, bytes + m->dims[i]->classic.where, (size_t)n);
    }
    for (int i = 0; i < m->nvars; i++) {
        const pnc_var *var = m->vars[i];
        n = pnc_format_name_encode(m, var->name, out);
        assert_int_equal(n, pnc_format_name_encode(m, var->name, NULL));
        assert_memory_equal(out, bytes + var->classic.where, (size_t)n);
        for (int k = 0; k < var->atts.n; k++) {
            n = pnc_format_att_encode(m, var->atts.at[k], out);
            assert_memory_equal(out, bytes + var->atts.at[k]->classic.where, (size_t)n);
        }
    }
}

static void test_samples(void **state)
{
    static const char *const texts[] = {cdf1, cdf2};
    unsigned char bytes[ROOM];
    int64_t need;
    (void)state;

    for (int i = 0; i < 2; i++) {
        pnc_error error = {0};
        pnc_model m;
        int64_t n = from_hex(texts[i], bytes);
        assert_int_equal(pnc_format_kind_identify(bytes, (size_t)n), i + 1);
        assert_int_equal(pnc_format_header_decode(bytes, n, 400, &m, &need, &error), NC_NOERR);
        check_sample(&m, i + 1);
        check_entries(&m, bytes);
        assert_encodes_to(&m, bytes, n);
        check_sample(&m, i + 1); /* encoding set the same places */
        pnc_format_model_free(&m);
    }
}

static void test_cdf5(void **state)
{
    unsigned char bytes[ROOM];
    int64_t need, n = from_hex(cdf5, bytes);
    pnc_model m;
    (void)state;

    assert_int_equal(pnc_format_header_decode(bytes, n, n, &m, &need, NULL), NC_NOERR);
    assert_int_equal(m.format, 5);
    assert_int_equal(m.numrecs, 2);
    assert_int_equal(m.vars[0]->type, NC_UBYTE);
    assert_int_equal(m.vars[0]->classic.begin, 160);
    assert_int_equal(m.classic.header_size, 160);
    assert_int_equal(m.classic.recsize, 1);
    assert_int_equal(pnc_format_layout_get_data_end(&m), 162);
    assert_int_equal(m.dims[0]->classic.where, 24);
    assert_int_equal(m.vars[0]->classic.where, 68);
    assert_int_equal(m.vars[0]->atts.at[0]->classic.where, 108);
    assert_memory_equal(m.vars[0]->atts.at[0]->value, "\1\2\3\4\5\6\7\10", 8);
    check_entries(&m, bytes);
    assert_encodes_to(&m, bytes, n);
    pnc_format_model_free(&m);
}

static void test_empty(void **state)
{
    unsigned char bytes[ROOM];
    int64_t need, n = from_hex("43444601 00000000 00000000 00000000 00000000 00000000 00000000 00000000", bytes);
    pnc_model m;
    (void)state;

    assert_int_equal(pnc_format_header_decode(bytes, n, n, &m, &need, NULL), NC_NOERR);
    assert_int_equal(m.ndims + m.nvars + m.gatts.n, 0);
    assert_int_equal(m.classic.header_extent, 32);
    assert_int_equal(pnc_format_layout_get_data_end(&m), 32);
    assert_encodes_to(&m, bytes, n);
    pnc_format_model_free(&m);
}

/* With fewer bytes at hand than the header has, more are asked for; with fewer in the file, it is refused. */
static void test_pieces(void **state)
{
    static const char *const texts[] = {cdf1, cdf2, cdf5};
    unsigned char bytes[ROOM];
    (void)state;

    for (int i = 0; i < 3; i++) {
        int64_t total = from_hex(texts[i], bytes), file_size = total + 60;
        for (int64_t n = 0; n < total; n++) {
            unsigned char *exact = malloc((size_t)n + 1); /* so that a sanitizer detects a read beyond the end */
            pnc_error error = {0};
            int64_t need = -1;
            pnc_model m;
            memcpy(exact, bytes, (size_t)n);
            assert_int_equal(pnc_format_header_decode(exact, n, file_size, &m, &need, &error), PNC_NEED_MORE_BYTES);
            assert_in_range(need, n + 1, file_size);
            assert_true(need >= n + n / 4 || need == file_size); /* few steps, whatever the file says */
            assert_int_equal(error.code, NC_NOERR);
            assert_int_equal(m.ndims + m.nvars, 0);
            assert_true(pnc_format_header_decode(exact, n, n, &m, &need, &error) < 0);
            assert_true(error.text[0] != '\0');
            assert_int_equal(m.ndims + m.nvars, 0);
            free(exact);
        }
    }
}

static void test_streaming(void **state)
{
    static const struct {
        int64_t file_size, numrecs;
    } rows[] = {
        {244, 0}, {259, 0}, {260, 1}, {275, 1}, {276, 2}, {244 + 16 * 7, 7},
    };
    unsigned char bytes[ROOM];
    int64_t need, n = from_hex(cdf1, bytes);
    (void)state;

    put_word(bytes + 4, 0xffffffff);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pnc_model m;
        assert_int_equal(pnc_format_header_decode(bytes, n, rows[i].file_size, &m, &need, NULL), NC_NOERR);
        assert_int_equal(m.numrecs, rows[i].numrecs);
        pnc_format_model_free(&m);
    }
    n = from_hex(cdf5, bytes); /* one record variable: the last record of 1 byte needs no padding */
    memset(bytes + 4, 0xff, 8);
    for (int64_t size = 160; size < 170; size++) {
        pnc_model m;
        assert_int_equal(pnc_format_header_decode(bytes, n, size, &m, &need, NULL), NC_NOERR);
        assert_int_equal(m.numrecs, size - 160);
        pnc_format_model_free(&m);
    }
}

/* What other software writes: rubbish in the padding, a tag before an empty list, wrong vsize, names that count their
 * terminating NUL, data that are not there. */
static void test_lenient(void **state)
{
    unsigned char bytes[ROOM], good[ROOM];
    int64_t need, n = from_hex(cdf1, good);
    pnc_model m;
    (void)state;

    memcpy(bytes, good, (size_t)n);
    bytes[21] = 'Z';                   /* after the name "t" */
    bytes[71] = 'Z';                   /* after the value "abc" */
    put_word(bytes + 148, 0xffffffff); /* vsize of fix */
    put_word(bytes + 176, 0x0c);       /* attributes of rb: tag and no entries */
    assert_int_equal(pnc_format_header_decode(bytes, n, n, &m, &need, NULL), NC_NOERR);
    check_sample(&m, 1);
    assert_encodes_to(&m, good, n);
    pnc_format_model_free(&m);

    memcpy(bytes, good, (size_t)n);
    put_word(bytes + 16, 2); /* "t\0" */
    assert_int_equal(pnc_format_header_decode(bytes, n, n, &m, &need, NULL), NC_NOERR);
    assert_string_equal(m.dims[0]->name, "t");
    assert_int_equal(m.dims[0]->classic.where,
                     -1); /* entries cannot be patched where we would write them differently */
    assert_int_equal(m.vars[0]->atts.at[0]->classic.where, -1);
    assert_encodes_to(&m, good, n);
    assert_int_equal(m.dims[0]->classic.where, 16);
    pnc_format_model_free(&m);
}

typedef struct damage {
    int64_t at; /* byte of the sample where this word is put */
    uint32_t word;
    int code;
    const char *text; /* must be in the message */
} damage;

static void expect_rejection(const char *sample, const damage *rows, size_t count)
{
    unsigned char bytes[ROOM];
    int64_t need, n = from_hex(sample, bytes);

    for (size_t i = 0; i < count; i++) {
        pnc_error error = {0};
        pnc_model m;
        from_hex(sample, bytes);
        put_word(bytes + rows[i].at, rows[i].word);
        if (pnc_format_header_decode(bytes, n, n + 60, &m, &need, &error) != rows[i].code || m.nvars != 0)
            fail_msg("0x%08x at byte %d: expected %d, got %d %s", rows[i].word, (int)rows[i].at, rows[i].code,
                     error.code, error.text);
        if (strstr(error.text, rows[i].text) == NULL)
            fail_msg("0x%08x at byte %d: \"%s\" is not in \"%s\"", rows[i].word, (int)rows[i].at, rows[i].text,
                     error.text);
    }
}

static const damage words_of_cdf1[] = {
    {0, 0x43444604, NC_ENOTNC, "not a netCDF"},
    {0, 0x43444603, NC_ENOTNC, "43 44 46 03"},
    {8, 0x0000000b, NC_ENOTNC, "byte 8"},
    {8, 0, NC_ENOTNC, "no tag"},
    {8, 0xffffffff, NC_ENOTNC, "byte 8"},
    {12, 0x7fffffff, NC_ENOTNC, "byte 12"},
    {12, 0xffffffff, NC_EMAXDIMS, "byte 12"},
    {12, 3, NC_ENOTNC, "byte 40"},
    {16, 0x00010000, NC_EMAXNAME, "byte 16"},
    {16, 0xffffffff, NC_EMAXNAME, "byte 16"},
    {32, 0x74000000, NC_ENOTNC, "byte 28"},
    {36, 0, NC_EUNLIMIT, "\"t\""},
    {40, 0x0000000b, NC_ENOTNC, "byte 40"},
    {52, 0x74006c65, NC_ENOTNC, "NUL"},
    {60, 0, NC_EBADTYPE, "byte 60"},
    {60, 7, NC_EBADTYPE, "byte 60"},
    {60, 12, NC_EBADTYPE, "CDF-1"},
    {64, 0x40000000, NC_ENOTNC, "byte 64"},
    {72, 0x0000000c, NC_ENOTNC, "byte 72"},
    {76, 0x10000000, NC_ENOTNC, "byte 76"},
    {88, 0x40000000, NC_ENOTNC, "byte 88"},
    {92, 7, NC_EBADDIM, "byte 92"},
    {92, 0xffffffff, NC_EBADDIM, "\"fix\""},
    {132, 0x75000000, NC_ENOTNC, "byte 128"},
    {144, 0, NC_EBADTYPE, "byte 144"},
    {152, 100, NC_ENOTNC, "inside the header"},
    {152, 231, NC_ENOTNC, "byte 152)"},
    {152, 0xfffffff0, NC_ENOTNC, "negative"},
    {152, 240, NC_ENOTNC, "byte 192)"},
    {160, 0x72640000, NC_ENOTNC, "byte 196"},
    {172, 0, NC_EUNLIMPOS, "byte 172"},
    {192, 252, NC_ENOTNC, "byte 228)"},
    {192, 236, NC_ENOTNC, "fixed-size"},
    {228, 256, NC_ENOTNC, "overlap"},
    {24, 5, NC_ENOTNC, "\"rd\" begins"},
    {24, 5, NC_ENOTNC, "but variable \"rb\" before it ends"},
    /* counts that no file can have, and those that this file cannot have */
    {12, 0x80000000, NC_EMAXDIMS, "byte 12"},
    {12, 0x40000000, NC_ENOTNC, "byte 12"},
    {44, 0x80000000, NC_EMAXATTS, "byte 44"},
    {44, 0xffffffff, NC_EMAXATTS, "byte 44"},
    {44, 0x7fffffff, NC_ENOTNC, "byte 44"},
    {76, 0x80000000, NC_EMAXVARS, "byte 76"},
    {76, 0xffffffff, NC_EMAXVARS, "byte 76"},
    {76, 0x7fffffff, NC_ENOTNC, "byte 76"},
    {88, 0x80000000, NC_EMAXDIMS, "byte 88"},
    {88, 0x7fffffff, NC_ENOTNC, "byte 88"},
    {100, 0x80000000, NC_EMAXATTS, "byte 100"},
    {100, 0x7fffffff, NC_ENOTNC, "byte 100"},
    {80, 257, NC_EMAXNAME, "byte 80"},
    {64, 0x80000000, NC_ENOTNC, "byte 64"},
};

static const damage words_of_cdf5[] = {
    {4, 0x80000000, NC_ENOTNC, "byte 4"},
    {16, 0x40000000, NC_EMAXDIMS, "byte 16"},
    {24, 0x40000000, NC_EMAXNAME, "byte 24"},
    {36, 0x80000000, NC_ENOTNC, "negative"},
    {60, 0x40000000, NC_EMAXVARS, "byte 60"},
    {80, 0x40000000, NC_EMAXDIMS, "byte 80"},
    {88, 0x40000000, NC_EBADDIM, "byte 88"},
    {100, 0x40000000, NC_EMAXATTS, "byte 100"},
    {108, 0xc0000000, NC_EMAXNAME, "negative"},
    {124, 0x20000000, NC_ENOTNC, "byte 124"},
    {120, 12, NC_EBADTYPE, "CDF-5"},
    {152, 0x80000000, NC_ENOTNC, "byte 152"},
    {16, 0x80000000, NC_EMAXDIMS, "negative"},
    {48, 0x80000000, NC_EMAXATTS, "negative"},
    {60, 0xffffffff, NC_EMAXVARS, "negative"},
    {80, 0x80000000, NC_EMAXDIMS, "negative"},
    {100, 0x80000000, NC_EMAXATTS, "negative"},
    {20, 0x80000000, NC_EMAXDIMS, "byte 16"},
    {20, 0x7fffffff, NC_ENOTNC, "byte 16"},
    {64, 0x80000000, NC_EMAXVARS, "byte 60"},
};

static void test_damage(void **state)
{
    (void)state;

    expect_rejection(cdf1, words_of_cdf1, sizeof words_of_cdf1 / sizeof words_of_cdf1[0]);
    expect_rejection(cdf5, words_of_cdf5, sizeof words_of_cdf5 / sizeof words_of_cdf5[0]);
}

/* Two variables of bytes in CDF-1 and CDF-2: "a" has the dimension x, "b" the dimension y. A y of length 0 makes "b" a
 * record variable. Codes as measured on PnetCDF. */
static void test_too_large(void **state)
{
    static const char hex[2][400] = {
        "43444601 00000000  0000000a 00000002 00000001 78000000 00000001 00000001 79000000 00000001  00000000 00000000"
        "0000000b 00000002  00000001 61000000 00000001 00000000 00000000 00000000 00000001 00000004 00000100"
        "                   00000001 62000000 00000001 00000001 00000000 00000000 00000001 00000004 00000104",
        "43444602 00000000  0000000a 00000002 00000001 78000000 00000001 00000001 79000000 00000001  00000000 00000000"
        "0000000b 00000002  00000001 61000000 00000001 00000000 00000000 00000000 00000001 00000004 0000000000000100"
        "                   00000001 62000000 00000001 00000001 00000000 00000000 00000001 00000004 0000000000000104"};
    static const struct {
        int format;
        uint32_t x, y;
        int code;
    } rows[] = {
        {1, 4, 4, NC_NOERR},
        {1, 4, 0xffffffff, NC_NOERR},
        {1, 4, 0x80000000, NC_NOERR},
        {1, 0x7ffffefc, 4, NC_NOERR},
        {1, 0x7ffffffd, 4, NC_EVARSIZE},
        {1, 0x7ffffffd, 0, NC_EVARSIZE},
        {1, 0xffffffff, 4, NC_EVARSIZE},
        {2, 4, 4, NC_NOERR},
        {2, 4, 0xffffffff, NC_NOERR},
        {2, 0xfffffffc, 4, NC_NOERR},
        {2, 0xfffffffd, 4, NC_EVARSIZE},
        {2, 0xfffffffd, 0, NC_EVARSIZE},
        {2, 0xffffffff, 0xffffffff, NC_EVARSIZE},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned char bytes[ROOM];
        int64_t need, n = from_hex(hex[rows[i].format - 1], bytes);
        uint64_t begin = (0x100 + (uint64_t)rows[i].x + 3) / 4 * 4;
        pnc_error error = {0};
        pnc_model m;
        int code;

        put_word(bytes + 24, rows[i].x);
        put_word(bytes + 36, rows[i].y);
        put_word(bytes + n - 4, (uint32_t)begin);
        if (rows[i].format == 2)
            put_word(bytes + n - 8, (uint32_t)(begin >> 32));
        code = pnc_format_header_decode(bytes, n, n + 60, &m, &need, &error);
        if (code != rows[i].code)
            fail_msg("CDF-%d, a of %u and b of %u bytes: %d (expected %d) %s", rows[i].format, rows[i].x, rows[i].y,
                     code, rows[i].code, error.text);
        if (code == NC_NOERR)
            pnc_format_model_free(&m);
        else
            assert_non_null(strstr(error.text, "\"a\" (byte 56)"));
    }
}

/* Sums and products beyond 64 bits. */
static void test_overflow(void **state)
{
    unsigned char bytes[ROOM];
    int64_t need, n;
    pnc_error error = {0};
    pnc_model m;
    (void)state;

    n = from_hex(cdf5, bytes);
    memcpy(bytes + 152, "\x7f\xff\xff\xff\xff\xff\xff\xff", 8); /* begin: the 1 byte ends beyond */
    assert_int_equal(pnc_format_header_decode(bytes, n, n, &m, &need, &error), NC_ENOTNC);
    assert_non_null(strstr(error.text, "2^63"));
    pnc_error_clear(&error);
    n = from_hex(cdf5, bytes);
    memcpy(bytes + 4, "\x7f\xff\xff\xff\xff\xff\xff\xff", 8); /* numrecs */
    assert_int_equal(pnc_format_header_decode(bytes, n, n, &m, &need, &error), NC_ENOTNC);
    assert_non_null(strstr(error.text, "9223372036854775807 records"));
    pnc_error_clear(&error);
    n = from_hex(cdf1, bytes);
    put_word(bytes + 36, 0xffffffff); /* x: too long for an overflow in CDF-1, but rb then has 4 GiB: before rd */
    assert_int_equal(pnc_format_header_decode(bytes, n, n, &m, &need, &error), NC_EVARSIZE);
}

static void test_foreign(void **state)
{
    static const unsigned char hdf5[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 0, 0, 0, 0};
    pnc_error error = {0};
    int64_t need;
    pnc_model m;
    (void)state;

    assert_int_equal(pnc_format_kind_identify(hdf5, sizeof hdf5), PNC_KIND_HDF5);
    assert_int_equal(pnc_format_kind_identify(hdf5, 7), PNC_KIND_UNKNOWN);
    assert_int_equal(pnc_format_kind_identify("CDF", 3), PNC_KIND_UNKNOWN);
    assert_int_equal(pnc_format_kind_identify("CDF\5", 4), PNC_KIND_CDF5);
    assert_int_equal(pnc_format_header_decode(hdf5, sizeof hdf5, sizeof hdf5, &m, &need, &error), NC_ENOTBUILT);
    assert_non_null(strstr(error.text, "HDF5"));
    pnc_error_clear(&error);
    assert_int_equal(pnc_format_header_decode(hdf5, 5, sizeof hdf5, &m, &need, &error), PNC_NEED_MORE_BYTES);
    assert_int_equal(pnc_format_header_decode("", 0, 0, &m, &need, &error), NC_ENOTNC);
    pnc_error_clear(&error);
    assert_int_equal(pnc_format_header_decode("#!/bin/sh", 9, 9, &m, &need, &error), NC_ENOTNC);
}

/* The longest name, and one of a byte more. */
static void test_long_names(void **state)
{
    (void)state;
    for (uint32_t length = NC_MAX_NAME; length <= NC_MAX_NAME + 1; length++) {
        unsigned char bytes[400] = {'C', 'D', 'F', 1};
        int64_t need, n = 20 + (length + 3) / 4 * 4;
        pnc_error error = {0};
        pnc_model m;

        put_word(bytes + 8, 10); /* a list of one dimension */
        put_word(bytes + 12, 1);
        put_word(bytes + 16, length);
        memset(bytes + 20, 'n', length);
        put_word(bytes + n, 3);
        n += 20; /* no attributes, no variables */
        if (length > NC_MAX_NAME) {
            assert_int_equal(pnc_format_header_decode(bytes, n, n, &m, &need, &error), NC_EMAXNAME);
            continue;
        }
        assert_int_equal(pnc_format_header_decode(bytes, n, n, &m, &need, &error), NC_NOERR);
        assert_int_equal(strlen(m.dims[0]->name), NC_MAX_NAME);
        pnc_format_model_free(&m);
    }
}

/* Every entry of a long header keeps its place; attribute lists go through their hashed form. */
static void test_many(void **state)
{
    enum { N = 3000, ATTS = 20 };
    pnc_model m, back;
    unsigned char *bytes;
    char name[24];
    int64_t need, n;
    (void)state;

    assert_int_equal(pnc_format_model_init(&m, 2, NULL), NC_NOERR);
    assert_int_equal(pnc_format_dim_add(&m, "x", 4, NULL), NC_NOERR);
    for (int i = 0; i < N; i++) {
        int dimid = 0;
        snprintf(name, sizeof name, "variable%d", i);
        assert_int_equal(pnc_format_var_add(&m, name, NC_INT, 1, &dimid, NULL), NC_NOERR);
        for (int k = 0; k < ATTS; k++) {
            snprintf(name, sizeof name, "attribute%d", k);
            assert_int_equal(pnc_format_atts_put(&m, &m.vars[i]->atts, name, NC_CHAR, k, "abcdefghijklmnopqrst", NULL),
                             NC_NOERR);
        }
    }
    assert_int_equal(pnc_format_layout_compute(&m, NULL, NULL, NULL), NC_NOERR);
    n = pnc_format_header_get_size(&m);
    bytes = malloc((size_t)n);
    pnc_format_header_encode(&m, bytes);
    assert_int_equal(pnc_format_header_decode(bytes, n, n, &back, &need, NULL), NC_NOERR);
    assert_int_equal(back.nvars, N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(back.vars[i]->classic.where, m.vars[i]->classic.where);
        assert_int_equal(pnc_format_var_find(&back, m.vars[i]->name), i);
        assert_int_equal(pnc_format_atts_find(&back.vars[i]->atts, "attribute17"), 17);
        assert_int_equal(back.vars[i]->atts.at[17]->classic.where, m.vars[i]->atts.at[17]->classic.where);
    }
    assert_encodes_to(&back, bytes, n);
    pnc_format_model_free(&back);
    pnc_format_model_free(&m);
    free(bytes);
}

/* The beginning of a header of many variables suffices to estimate its size; a number of variables that is a lie asks
 * for no more than a bounded multiple of the bytes at hand. */
static void test_estimate(void **state)
{
    enum { N = 1000, START = 2000 };
    const int64_t file_size = INT64_MAX / 2;
    pnc_model m, back;
    unsigned char *bytes;
    char name[24];
    int64_t need = 0, n;
    (void)state;

    assert_int_equal(pnc_format_model_init(&m, 5, NULL), NC_NOERR);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "v%d", i);
        assert_int_equal(pnc_format_var_add(&m, name, NC_INT, 0, NULL, NULL), NC_NOERR);
    }
    assert_int_equal(pnc_format_layout_compute(&m, NULL, NULL, NULL), NC_NOERR);
    n = pnc_format_header_get_size(&m);
    bytes = malloc((size_t)n);
    pnc_format_header_encode(&m, bytes);
    assert_int_equal(pnc_format_header_decode(bytes, START, file_size, &back, &need, NULL), PNC_NEED_MORE_BYTES);
    assert_in_range(need, n, n + n / 8);
    put_word(bytes + 44, 0x00ffffff); /* the lower half of the number of variables */
    assert_int_equal(pnc_format_header_decode(bytes, START, file_size, &back, &need, NULL), PNC_NEED_MORE_BYTES);
    assert_in_range(need, START + 1, 256 * START);
    pnc_format_model_free(&m);
    free(bytes);
}

/* The second variable that is decoded makes an estimate possible; before that the bytes are doubled. */
static void test_first_estimate(void **state)
{
    enum { N = 400, WIDTH = 200, ONE = 350, TWO = 650 };
    const int64_t file_size = INT64_MAX / 2;
    pnc_model m, back;
    unsigned char *bytes;
    char name[WIDTH + 1];
    int64_t need = 0, n;
    (void)state;

    assert_int_equal(pnc_format_model_init(&m, 5, NULL), NC_NOERR);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "v%0*d", WIDTH - 1, i);
        assert_int_equal(pnc_format_var_add(&m, name, NC_INT, 0, NULL, NULL), NC_NOERR);
    }
    assert_int_equal(pnc_format_layout_compute(&m, NULL, NULL, NULL), NC_NOERR);
    n = pnc_format_header_get_size(&m);
    bytes = malloc((size_t)n);
    pnc_format_header_encode(&m, bytes);
    assert_true(m.vars[1]->classic.where < ONE && m.vars[2]->classic.where < TWO && m.vars[2]->classic.where > ONE &&
                m.vars[3]->classic.where > TWO);
    assert_int_equal(pnc_format_header_decode(bytes, ONE, file_size, &back, &need, NULL), PNC_NEED_MORE_BYTES);
    assert_int_equal(need, 2 * ONE);
    assert_int_equal(pnc_format_header_decode(bytes, TWO, file_size, &back, &need, NULL), PNC_NEED_MORE_BYTES);
    assert_in_range(need, n, n + n / 8);
    pnc_format_model_free(&m);
    free(bytes);
}

/* All dimension ids of a variable are asked for at once, but no more than the file can have. */
static void test_many_ids(void **state)
{
    enum { N = 1000 };
    const int64_t file_size = INT64_MAX / 2;
    int ids[N] = {0};
    pnc_model m, back;
    unsigned char *bytes;
    int64_t need = 0, n, at;
    (void)state;

    assert_int_equal(pnc_format_model_init(&m, 5, NULL), NC_NOERR);
    assert_int_equal(pnc_format_dim_add(&m, "x", 1, NULL), NC_NOERR);
    assert_int_equal(pnc_format_var_add(&m, "v", NC_INT, N, ids, NULL), NC_NOERR);
    assert_int_equal(pnc_format_layout_compute(&m, NULL, NULL, NULL), NC_NOERR);
    n = pnc_format_header_get_size(&m);
    bytes = malloc((size_t)n);
    pnc_format_header_encode(&m, bytes);
    at = m.vars[0]->classic.where + 8 + 4 + 8; /* name, number of dimensions */
    for (int64_t start = at; start < at + 8 * N; start += 8 * N / 5) {
        int64_t doubled = 2 * start, ends = at + 8 * N;

        assert_int_equal(pnc_format_header_decode(bytes, start, file_size, &back, &need, NULL), PNC_NEED_MORE_BYTES);
        assert_int_equal(need, doubled > ends ? doubled : ends);
    }
    pnc_format_model_free(&m);
    free(bytes);
}

/* The signature of HDF5 has 8 bytes: fewer are not enough to decide, if the file has more. */
static void test_signature(void **state)
{
    const char hdf5[] = "\x89HDF\r\n\x1a\n";
    pnc_model m;
    int64_t need = 0;
    (void)state;

    assert_int_equal(pnc_format_header_decode(hdf5, 4, 8, &m, &need, NULL), PNC_NEED_MORE_BYTES);
    assert_int_equal(need, 8);
    assert_int_equal(pnc_format_header_decode(hdf5, 4, 7, &m, &need, NULL), NC_ENOTNC);
    assert_int_equal(pnc_format_header_decode("CDF\7", 4, 8, &m, &need, NULL), NC_ENOTNC);
}

/* --- findings --- */

typedef struct findings {
    int n;
    int64_t at; /* of the last one */
    char found[500];
} findings;

static void keep_finding(void *context, const pnc_finding *finding)
{
    findings *f = context;

    f->n++;
    f->at = finding->at;
    snprintf(f->found, sizeof f->found, "%s", finding->found);
}

/* Several, from the second element of an array on; the first one counts. */
static void keep_each(void *context, const pnc_finding *finding)
{
    findings *all = context;

    assert_true(all[0].n < 7);
    all[0].n++;
    keep_finding(&all[all[0].n], finding);
}

static findings examine(const unsigned char *bytes, int64_t n, int64_t file_size)
{
    findings found = {0, -1, ""};
    pnc_observer observer = {&found, NULL, keep_finding};
    int64_t need;
    pnc_model m;

    assert_int_equal(pnc_format_header_examine(bytes, n, file_size, &observer, &m, &need), NC_NOERR);
    pnc_format_model_free(&m);
    return found;
}

static void test_no_findings(void **state)
{
    static const struct {
        const char *text;
        int64_t end;
    } samples[] = {{cdf1, 292}, {cdf2, 304}};
    unsigned char bytes[ROOM];
    (void)state;

    for (int i = 0; i < 2; i++) {
        int64_t n = from_hex(samples[i].text, bytes);

        assert_int_equal(examine(bytes, n, samples[i].end).n, 0);
    }
}

static void test_findings(void **state)
{
    static const struct {
        int64_t at; /* where this word is put */
        uint32_t word;
        int64_t found_at;
        const char *found;
    } rows[] = {
        {20, 0x745a0000, 21, "padding that is not null: 0x5a first, 3 bytes in all"},
        {16, 2, 16, "counts 1 NUL byte at its end"},
        {16, 4, 16, "counts 3 NUL bytes at its end"},
        {148, 13, 148, "13"},
        {188, 9, 188, "9"}, /* of a variable of bytes */
        {152, 234, 152, "variable \"fix\" begins at byte 234"},
    };
    unsigned char bytes[ROOM];
    (void)state;

    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        int64_t n = from_hex(cdf1, bytes);
        findings found;

        put_word(bytes + rows[i].at, rows[i].word);
        found = examine(bytes, n, 292);
        if (found.n != 1 || found.at != rows[i].found_at || strstr(found.found, rows[i].found) == NULL)
            fail_msg("word %d: %d findings, at %d: %s", (int)rows[i].at, found.n, (int)found.at, found.found);
    }
}

/* "rb" has records of 5 bytes at 244, 260 and 276. Of the variable after it all of the last record is missing. */
/* _FillValue has one value of the variable's type. */
static void test_fill_values(void **state)
{
    static const struct {
        int type, n, findings;
    } rows[] = {{NC_INT, 1, 0}, {NC_SHORT, 1, 1}, {NC_INT, 2, 1}};
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char bytes[ROOM];
        pnc_model m;

        assert_int_equal(pnc_format_model_init(&m, 1, NULL), NC_NOERR);
        assert_int_equal(pnc_format_var_add(&m, "v", NC_INT, 0, NULL, NULL), NC_NOERR);
        assert_int_equal(
            pnc_format_atts_put(&m, &m.vars[0]->atts, "_FillValue", rows[i].type, rows[i].n, "abcdefgh", NULL),
            NC_NOERR);
        assert_int_equal(pnc_format_layout_compute(&m, NULL, NULL, NULL), NC_NOERR);
        pnc_format_header_encode(&m, bytes);
        assert_int_equal(examine(bytes, m.vars[0]->classic.begin, m.vars[0]->classic.begin + 4).n, rows[i].findings);
        pnc_format_model_free(&m);
    }
}

static void test_missing_data(void **state)
{
    static const struct {
        int64_t file_size, missing, from;
    } rows[] = {{292, 0, 0},   {281, 0, 0},   {280, 1, 280},  {276, 5, 276},
                {270, 5, 276}, {262, 8, 262}, {246, 13, 246}, {232, 15, 244}};
    unsigned char bytes[ROOM];
    int64_t n = from_hex(cdf1, bytes);
    (void)state;

    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        findings found[8] = {{0, -1, ""}};
        char expected[100] = "";
        bool seen = false;
        pnc_observer observer = {found, NULL, keep_each};
        int64_t need;
        pnc_model m;

        assert_int_equal(pnc_format_header_examine(bytes, n, rows[i].file_size, &observer, &m, &need), NC_NOERR);
        pnc_format_model_free(&m);
        snprintf(expected, sizeof expected, "variable \"rb\" is truncated: %d of its 15 bytes", (int)rows[i].missing);
        for (int k = 1; k <= found[0].n; k++)
            if (strstr(found[k].found, "\"rb\"") != NULL) {
                seen = true;
                assert_non_null(strstr(found[k].found, expected));
                assert_int_equal(found[k].at, rows[i].from);
            }
        assert_true(seen == (rows[i].missing > 0));
    }
}

/* Records of 16 bytes, of which the header counts 3; the last one ends at 292. */
static void test_end(void **state)
{
    static const struct {
        int64_t file_size;
        const char *found;
    } rows[] = {
        {293, "1 bytes follow the last variable"},         {307, "15 bytes follow the last variable"},
        {308, "space for 1 more record than the 3 that"},  {323, "space for 1 more record than the 3 that"},
        {324, "space for 2 more records than the 3 that"}, {292 + 160, "space for 10 more records than the 3 that"}};
    unsigned char bytes[ROOM];
    int64_t n = from_hex(cdf1, bytes);
    (void)state;

    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        findings found = examine(bytes, n, rows[i].file_size);

        if (found.n != 1 || found.at != 292 || strstr(found.found, rows[i].found) == NULL)
            fail_msg("%d bytes: %d findings, at %d: %s", (int)rows[i].file_size, found.n, (int)found.at, found.found);
    }
}

static unsigned char *read_file(const char *path, int64_t *n)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes;

    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *n = ftell(file);
    rewind(file);
    bytes = malloc((size_t)*n + 1);
    assert_int_equal(fread(bytes, 1, (size_t)*n, file), *n);
    fclose(file);
    return bytes;
}

/* Two of the files have bytes in their padding that we do not reproduce, two a name that counts its NULs. */
static bool reproducible(const char *name)
{
    static const char *const odd[] = {"eraint_uvz.nc", "ref_null_byte_padding_test.nc", "ref_nctest_classic.nc",
                                      "ref_nctest_64bit_offset.nc"};

    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        if (strcmp(name, odd[i]) == 0)
            return false;
    return true;
}

static void check_real_file(const char *folder, const char *name)
{
    char path[1024];
    pnc_error error = {0};
    pnc_model m, again;
    int64_t n, need;
    unsigned char *bytes, *out;
    int code;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    bytes = read_file(path, &n);
    code = pnc_format_header_decode(bytes, n, n, &m, &need, &error);
    if (strcmp(name, "bad_cdf5_begin.nc") == 0) {
        assert_int_equal(code, NC_ENOTNC);
        assert_non_null(strstr(error.text, "\"var_small\" begins at byte 4294967515 (stored at byte 212)"));
        free(bytes);
        return;
    }
    if (code != NC_NOERR)
        fail_msg("%s: %s", name, error.text);
    /* true of these files: nothing missing, nothing left over */
    assert_int_equal(pnc_format_layout_get_data_end(&m), n);
    if (reproducible(name))
        assert_encodes_to(&m, bytes, m.classic.header_size);
    out = malloc((size_t)pnc_format_header_get_size(&m));
    pnc_format_header_encode(&m, out);
    assert_int_equal(pnc_format_header_decode(out, pnc_format_header_get_size(&m), n, &again, &need, &error), NC_NOERR);
    assert_encodes_to(&again, out, pnc_format_header_get_size(&m));
    pnc_format_model_free(&again);
    pnc_format_model_free(&m);
    free(out);
    free(bytes);
}

static void test_real_files(void **state)
{
    const char *folder = getenv("PNC_TEST_DATA");
    DIR *dir = opendir(folder != NULL ? folder : "../shared/data");
    struct dirent *entry;
    int files = 0;
    (void)state;

    if (dir == NULL) {
        print_message("the folder of real files (PNC_TEST_DATA) is absent\n");
        skip();
    }
    while ((entry = readdir(dir)) != NULL) {
        size_t n = strlen(entry->d_name);
        if (n > 3 && strcmp(entry->d_name + n - 3, ".nc") == 0) {
            check_real_file(folder != NULL ? folder : "../shared/data", entry->d_name);
            files++;
        }
    }
    closedir(dir);
    assert_true(files > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),      cmocka_unit_test(test_cdf5),
        cmocka_unit_test(test_empty),        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_streaming),    cmocka_unit_test(test_lenient),
        cmocka_unit_test(test_damage),       cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_overflow),     cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_many),         cmocka_unit_test(test_real_files),
        cmocka_unit_test(test_estimate),     cmocka_unit_test(test_first_estimate),
        cmocka_unit_test(test_many_ids),     cmocka_unit_test(test_signature),
        cmocka_unit_test(test_no_findings),  cmocka_unit_test(test_findings),
        cmocka_unit_test(test_missing_data), cmocka_unit_test(test_end),
        cmocka_unit_test(test_long_names),   cmocka_unit_test(test_fill_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
