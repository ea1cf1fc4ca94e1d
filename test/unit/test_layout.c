/* Offsets against those measured on PnetCDF 1.12 for the same definitions, against the documented formulas where it
 * differs from 1.15, and limits against a measured table. */
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
#include "format/shortage.h"

/* Recordings, one step a line: C format; D length; A name length (a global text attribute); V name type ndims dimids;
 * X name (the attribute is deleted); E h_minfree v_align v_minfree r_align header_size header_extent recsize begins
 * (0 = not given). */
static const char *const recordings[] = {
    "C 2\n"
    "D 0\n"
    "V v0 6 0\n"
    "E 0 0 0 0 80 512 0 512\n"
    "V v1 6 0\n"
    "E 0 0 0 0 116 512 0 512 520\n"
    "A a2 19\n"
    "V v2 6 0\n"
    "V v3 1 1 0\n"
    "E 358 5 0 513 228 592 1 592 600 608 1032\n",

    "C 5\n"
    "D 0\n"
    "D 2\n"
    "D 3\n"
    "A a2 22\n"
    "V v0 11 2 1 1\n"
    "V v1 5 1 0\n"
    "V v2 10 2 0 2\n"
    "E 1956 512 1666 0 352 2560 28 2560 4260 4264\n"
    "E 0 1 0 4 352 2560 28 2560 4260 4264\n"
    "V v3 9 0\n"
    "V v4 3 2 1 1\n"
    "V v5 9 2 1 1\n"
    "E 0 4096 1418 7 540 4096 28 4096 5576 5580 4128 4132 4140\n",

    "C 1\n"
    "D 0\n"
    "D 9\n"
    "A a0 86\n"
    "E 0 0 0 0 160 160 0\n"
    "V v0 6 1 1\n"
    "V v1 2 0\n"
    "E 0 0 0 0 228 512 0 512 584\n"
    "V v2 4 0\n"
    "V v3 4 2 0 1\n"
    "E 60 1 813 512 300 512 36 512 584 588 1536\n",

    "C 1\n"
    "D 0\n"
    "A a1 659\n"
    "E 1415 16 0 2 720 720 0\n"
    "A a0 523\n"
    "V v0 3 0\n"
    "V v1 6 1 0\n"
    "V v2 3 1 0\n"
    "E 0 0 0 0 1364 1536 12 1536 1540 1548\n"
    "V v3 2 1 0\n"
    "V v4 6 1 0\n"
    "E 0 0 0 0 1436 1536 24 1536 1540 1548 1552 1556\n",

    "C 5\n"
    "D 0\n"
    "D 1\n"
    "D 6\n"
    "E 465 512 0 4096 108 108 0\n"
    "V v0 7 0\n"
    "V v1 11 0\n"
    "V v2 2 2 0 2\n"
    "E 0 0 0 0 280 512 6 512 516 524\n"
    "V v3 8 0\n"
    "E 0 4 745 0 332 512 6 512 516 1276 524\n"
    "E 1385 100 0 0 332 1800 6 1800 1804 1816 1812\n",

    "C 1\n"
    "D 0\n"
    "D 1\n"
    "D 5\n"
    "V v0 2 1 2\n"
    "V v1 1 2 0 2\n"
    "V v2 1 1 2\n"
    "E 0 100 1401 0 180 200 5 200 1620 208\n"
    "V v3 3 0\n"
    "V v4 1 0\n"
    "V v5 4 0\n"
    "E 1036 1000 0 16 276 2000 5 2000 2032 2008 2016 2020 2024\n",

    "C 2\n"
    "D 0\n"
    "D 6\n"
    "V v0 6 0\n"
    "E 0 2 158 512 92 92 0 92\n"
    "V v1 6 0\n"
    "V v2 4 0\n"
    "V v3 6 1 0\n"
    "E 638 2 0 2 204 844 8 844 852 860 864\n"
    "A a0 13\n"
    "V v4 4 0\n"
    "E 1480 5 0 513 272 1752 8 1752 1760 1768 2064 1772\n",

    /* fixed variables added to a file of records only go where the records stood */
    "C 2\n"
    "D 0\n"
    "V v0 4 1 0\n"
    "E 0 512 0 4096 84 4096 4 4096\n"
    "V v1 4 0\n"
    "E 0 512 0 4 120 4096 4 4100 4096\n",

    /* by the formulas: without fixed variables v_align and v_minfree do not count, and r_align is 512 by default */
    "C 1\n"
    "D 0\n"
    "V v0 4 1 0\n"
    "E 0 0 0 0 80 512 4 512\n",
    "C 1\n"
    "D 0\n"
    "V v0 4 1 0\n"
    "E 100 4096 999 16 80 192 4 192\n",
    "C 1\n"
    "D 0\n"
    "V v0 4 1 0\n"
    "E 0 0 0 3 80 80 4 80\n",
    /* by the formulas: a section that stays is aligned too */
    "C 1\n"
    "V v0 4 0\n"
    "E 0 1000 0 0 64 1000 0 1000\n"
    "E 0 512 0 0 64 1024 0 1024\n",
    /* the first variables, when an attribute of the header is deleted: after the old header, which is longer */
    "C 1\n"
    "A a0 1000\n"
    "E 0 0 0 0 1048 1048 0\n"
    "X a0\n"
    "V v0 4 0\n"
    "E 0 4 0 0 64 1048 0 1048\n",
    "C 1\n"
    "D 0\n"
    "A a0 1000\n"
    "E 0 0 0 0 1060 1060 0\n"
    "X a0\n"
    "V v0 4 1 0\n"
    "E 0 0 0 4 80 1060 4 1060\n",
};

typedef struct player {
    pnc_model model, before;
    bool again; /* before is in use */
    const char *line;
} player;

static void play_enddef(player *p)
{
    pnc_layout_hints hints;
    pnc_error error = {0};
    pnc_model *m = &p->model;
    long long w[4], size, extent, recsize;
    char *rest;
    int used;

    if (sscanf(p->line, "E %lld %lld %lld %lld %lld %lld %lld%n", w, w + 1, w + 2, w + 3, &size, &extent, &recsize,
               &used) != 7)
        fail_msg("bad recording: %.40s", p->line);
    hints = (pnc_layout_hints){.h_minfree = w[0], .v_align = w[1], .v_minfree = w[2], .r_align = w[3]};
    if (pnc_format_layout_compute(m, p->again ? &p->before : NULL, &hints, &error) != NC_NOERR)
        fail_msg("%s", error.text);
    if (m->classic.header_size != size || m->classic.header_extent != extent || m->classic.recsize != recsize)
        fail_msg("%.60s: got size %lld, extent %lld, record %lld", p->line, (long long)m->classic.header_size,
                 (long long)m->classic.header_extent, (long long)m->classic.recsize);
    rest = (char *)p->line + used;
    for (int i = 0; i < m->nvars; i++) {
        long long begin = strtoll(rest, &rest, 10);
        if (m->vars[i]->classic.begin != begin)
            fail_msg("%.60s: variable %d begins at %lld", p->line, i, (long long)m->vars[i]->classic.begin);
    }
    if (p->again)
        pnc_format_model_free(&p->before);
    assert_int_equal(pnc_format_model_copy(&p->before, m), NC_NOERR);
    p->again = true;
}

static void play_step(player *p)
{
    pnc_model *m = &p->model;
    char name[16];
    static const char text[2000];
    int a, b, ids[2] = {0, 0};

    switch (p->line[0]) {
    case 'C': assert_int_equal(pnc_format_model_init(m, atoi(p->line + 2), NULL), NC_NOERR); break;
    case 'D':
        snprintf(name, sizeof name, "d%d", m->ndims);
        assert_int_equal(pnc_format_dim_add(m, name, atoi(p->line + 2), NULL), NC_NOERR);
        break;
    case 'A':
        assert_int_equal(sscanf(p->line, "A %15s %d", name, &a), 2);
        assert_int_equal(pnc_format_atts_put(m, &m->gatts, name, NC_CHAR, a, text, NULL), NC_NOERR);
        break;
    case 'X':
        assert_int_equal(sscanf(p->line, "X %15s", name), 1);
        assert_int_equal(pnc_format_atts_delete(&m->gatts, pnc_format_atts_find(&m->gatts, name)), NC_NOERR);
        break;
    case 'V':
        assert_true(sscanf(p->line, "V %15s %d %d %d %d", name, &a, &b, ids, ids + 1) >= 3);
        assert_int_equal(pnc_format_var_add(m, name, a, b, ids, NULL), NC_NOERR);
        break;
    default: play_enddef(p);
    }
}

static void test_recordings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof recordings / sizeof recordings[0]; i++) {
        player p = {.line = recordings[i]};
        for (; *p.line != '\0'; p.line = strchr(p.line, '\n') + 1)
            play_step(&p);
        pnc_format_model_free(&p.before);
        pnc_format_model_free(&p.model);
    }
}

/* What is derived from the offsets of a file must be what the layout set, and layout twice is layout once. */
static void test_derive(void **state)
{
    static const pnc_layout_hints none = {-1, -1, -1, -1};
    (void)state;

    for (int mask = 0; mask < 8; mask++) { /* which of: a fixed, a record, another record variable */
        pnc_model m, derived, again;
        int64_t recsize = 0, data_end;
        int t = 0, x = 1;
        assert_int_equal(pnc_format_model_init(&m, 1, NULL), NC_NOERR);
        pnc_format_dim_add(&m, "t", 0, NULL);
        pnc_format_dim_add(&m, "x", 3, NULL);
        if (mask & 1)
            pnc_format_var_add(&m, "fixed", NC_BYTE, 1, &x, NULL);
        if (mask & 2)
            pnc_format_var_add(&m, "one", NC_SHORT, 1, &t, NULL);
        if (mask & 4)
            pnc_format_var_add(&m, "two", NC_SHORT, 1, &t, NULL);
        m.numrecs = mask & 6 ? 5 : 0;
        assert_int_equal(pnc_format_layout_compute(&m, NULL, &none, NULL), NC_NOERR);
        assert_int_equal(pnc_format_model_copy(&derived, &m), NC_NOERR);
        derived.classic.header_extent = derived.classic.begin_rec = derived.classic.recsize = -5;
        pnc_format_layout_derive(&derived);
        assert_int_equal(derived.classic.header_extent, m.classic.header_extent);
        assert_int_equal(derived.classic.recsize, m.classic.recsize);
        data_end = mask & 1 ? 512 + 3 : m.classic.header_size;
        if (mask & 6) {
            assert_int_equal(derived.classic.begin_rec, m.classic.begin_rec);
            recsize = (mask & 6) == 6 ? 8 : 2;
            data_end = m.classic.begin_rec + 4 * recsize + (recsize == 8 ? 4 + 2 : 2);
        }
        assert_int_equal(m.classic.recsize, recsize);
        assert_int_equal(pnc_format_layout_get_data_end(&m), data_end);
        assert_int_equal(pnc_format_model_copy(&again, &m), NC_NOERR);
        assert_int_equal(pnc_format_layout_compute(&again, &m, NULL, NULL), NC_NOERR);
        for (int i = 0; i < m.nvars; i++)
            assert_int_equal(again.vars[i]->classic.begin, m.vars[i]->classic.begin);
        pnc_format_model_free(&again);
        pnc_format_model_free(&derived);
        pnc_format_model_free(&m);
    }
}

/* Adds variables by their letters: F fixed and small, f fixed of `bytes` bytes, R and r the same by record. */
static int layout_of(int format, const char *letters, int64_t bytes, pnc_error *error)
{
    pnc_model m;
    const int t = 0, a = 1, b = 2;
    int code = pnc_format_model_init(&m, format, error);

    assert_int_equal(code, NC_NOERR);
    pnc_format_dim_add(&m, "t", 0, NULL);
    pnc_format_dim_add(&m, "a", 16, NULL);
    assert_int_equal(pnc_format_dim_add(&m, "b", bytes / 16, NULL), NC_NOERR);
    for (int i = 0; letters[i] != '\0'; i++) {
        char name[] = {letters[i], (char)('0' + i), 0};
        int ids[3], n = 0;
        if (letters[i] == 'R' || letters[i] == 'r')
            ids[n++] = t;
        ids[n++] = a;
        if (letters[i] == 'f' || letters[i] == 'r')
            ids[n++] = b;
        assert_int_equal(pnc_format_var_add(&m, name, NC_BYTE, n, ids, NULL), NC_NOERR);
    }
    code = pnc_format_layout_compute(&m, NULL, NULL, error);
    pnc_format_model_free(&m);
    return code;
}

/* Only the last variable in the file may be beyond the limit: measured on PnetCDF 1.12. */
static void test_limits(void **state)
{
    static const struct {
        const char *letters;
        bool big_allowed;
    } rows[] = {
        {"f", true},   {"fF", false}, {"Ff", true},   {"ff", false}, {"fR", false}, {"Rf", false},
        {"r", true},   {"rR", false}, {"Rr", true},   {"rF", true},  {"Fr", true},  {"fr", false},
        {"rf", false}, {"rr", false}, {"FrR", false}, {"RrF", true}, {"FRr", true}, {"FRrF", true},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int expected = rows[i].big_allowed ? NC_NOERR : NC_EVARSIZE;
        pnc_error error = {0};
        assert_int_equal(layout_of(1, rows[i].letters, 0x80000010, &error), expected);
        assert_int_equal(error.text[0] != '\0', !rows[i].big_allowed);
        assert_int_equal(layout_of(1, rows[i].letters, 0x10000000, NULL), NC_NOERR);
        assert_int_equal(layout_of(2, rows[i].letters, 0x100000010, NULL), expected);
        assert_int_equal(layout_of(2, rows[i].letters, 0xfffffff0, NULL), NC_NOERR);
        assert_int_equal(layout_of(5, rows[i].letters, 0x100000010, NULL), NC_NOERR);
    }
    /* each is small enough, but the last begins beyond the 31 bits of CDF-1 */
    assert_int_equal(layout_of(1, "ffF", 0x40000000, NULL), NC_EVARSIZE);
    assert_int_equal(layout_of(1, "fff", 0x30000000, NULL), NC_NOERR);
    assert_int_equal(layout_of(2, "ffF", 0x40000000, NULL), NC_NOERR);
    assert_int_equal(layout_of(5, "ff", INT64_C(0x7000000000000000), NULL), NC_EVARSIZE);
    assert_int_equal(layout_of(5, "rr", INT64_C(0x7000000000000000), NULL), NC_EVARSIZE);
}

static void test_far_hints(void **state)
{
    static const pnc_layout_hints all_hints[] = {
        {INT64_MAX, -1, -1, -1},
        {-1, INT64_MAX, -1, -1},
        {-1, -1, INT64_MAX, -1},
        {INT64_MAX - 600, -1, 600, INT64_MAX},
    };
    pnc_model m;
    (void)state;

    assert_int_equal(pnc_format_model_init(&m, 5, NULL), NC_NOERR);
    pnc_format_var_add(&m, "v", NC_INT, 0, NULL, NULL);
    for (size_t i = 0; i < sizeof all_hints / sizeof all_hints[0]; i++) {
        pnc_error error = {0};
        assert_int_equal(pnc_format_layout_compute(&m, NULL, &all_hints[i], &error), NC_EVARSIZE);
        assert_non_null(strstr(error.text, "2^63"));
    }
    pnc_format_model_free(&m);
}

/* A model with a fixed-size variable or, with `record`, one of records, of these bytes, and an attribute. */
static void make_large(pnc_model *m, int format, int64_t bytes, bool record, int64_t att)
{
    const int ids[] = {0, 1};
    char *text = calloc(1, (size_t)att + 1);

    assert_int_equal(pnc_format_model_init(m, format, NULL), NC_NOERR);
    assert_int_equal(pnc_format_dim_add(m, "t", 0, NULL), NC_NOERR);
    assert_int_equal(pnc_format_dim_add(m, "x", bytes, NULL), NC_NOERR);
    assert_int_equal(pnc_format_var_add(m, "v", NC_BYTE, record ? 2 : 1, record ? ids : ids + 1, NULL), NC_NOERR);
    assert_int_equal(pnc_format_atts_put(m, &m->gatts, "a", NC_CHAR, att, text, NULL), NC_NOERR);
    free(text);
}

enum { MIB = 1 << 20 };

/* The rule of the reserve in docs/reliability.md, with offsets computed by hand: a CDF-2 header with the attribute "a"
 * of n bytes has 112 + n bytes, or 116 + n if the variable is one of records. */
static void test_reserve(void **state)
{
    static const struct {
        int64_t bytes, att;
        bool record;
        pnc_layout_hints hints;
        int64_t extent, reserve;
    } rows[] = {
        {MIB - 4, 20, false, {-1, 0, 0, 0}, 512, 0},
        {MIB - 3, 20, false, {-1, 0, 0, 0}, 8704, 8192}, /* with its padding, 1 MiB */
        {MIB, 20, false, {-1, 0, 0, 0}, 8704, 8192},     /* 132 + 8192, rounded up */
        {MIB, 81808, false, {-1, 0, 0, 0}, 90112, 8192}, /* 81920 + 8192, a multiple of 512 */
        {MIB, 100000, false, {-1, 0, 0, 0}, 110592, 10011},
        {MIB - 1, 20, true, {-1, 0, 0, 0}, 512, 0},
        {MIB, 20, true, {-1, 0, 0, 0}, 8704, 8192},
        {MIB, 20, false, {0, 0, 0, 0}, 512, 0},
        {MIB, 20, false, {1000, 0, 0, 0}, 1536, 1000},
        {MIB, 20, false, {-1, 4, 0, 0}, 132, 0},
        {MIB, 20, false, {-1, 0, 0, 4}, 8704, 8192},
        {MIB, 20, true, {-1, 4, 0, 0}, 8704, 8192},
        {MIB, 20, true, {-1, 0, 0, 4}, 136, 0},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pnc_layout_hints hints = rows[i].hints;
        pnc_model m;
        make_large(&m, 2, rows[i].bytes, rows[i].record, rows[i].att);
        assert_int_equal(pnc_format_layout_compute_new(&m, &hints, NULL), NC_NOERR);
        assert_int_equal(m.classic.header_size, (rows[i].record ? 116 : 112) + rows[i].att);
        assert_int_equal(m.classic.header_extent, rows[i].extent);
        assert_int_equal(m.vars[0]->classic.begin, rows[i].extent);
        assert_int_equal(hints.h_minfree, rows[i].reserve);
        pnc_format_model_free(&m);
    }
}

/* The reserve does not make a layout impossible that fits in the format without it. */
static void test_reserve_at_limits(void **state)
{
    static const struct {
        int format;
        int64_t bytes;
        bool fits;
        int64_t extent;
    } rows[] = {
        {1, INT32_MAX - 8703 - 512, true, 8704}, /* the second variable begins below 2^31 in any case */
        {1, INT32_MAX - 3 - 512, true, 512},     /* only without the reserve; 2^31 - 1 is no multiple of 4 */
        {5, INT64_MAX - 20000, true, 8704},      {5, INT64_MAX - 2000, true, 512}, {5, INT64_MAX - 500, false, 0},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pnc_layout_hints hints = {-1, 0, 0, 0};
        pnc_error error = {0};
        pnc_model m;
        make_large(&m, rows[i].format, rows[i].bytes, false, 20);
        assert_int_equal(pnc_format_var_add(&m, "w", NC_INT, 0, NULL, NULL), NC_NOERR);
        assert_int_equal(pnc_format_layout_compute_new(&m, &hints, &error), rows[i].fits ? NC_NOERR : NC_EVARSIZE);
        assert_int_equal(error.text[0] != '\0', !rows[i].fits);
        if (rows[i].fits) {
            assert_int_equal(m.classic.header_extent, rows[i].extent);
            assert_int_equal(hints.h_minfree, rows[i].extent > 512 ? 8192 : 0);
        }
        pnc_format_model_free(&m);
    }
}

/* Space where data move, by the rule in docs/reliability.md: the attribute grows from 20 to 2000 bytes, so that the
 * header has 2112 bytes, or 2116 if the variable is one of records, and the first variable moves from byte 512. */
static void test_space_of_moves(void **state)
{
    static const struct {
        int64_t bytes, numrecs; /* of each record; 0: a fixed-size variable */
        pnc_layout_hints hints;
        int64_t extent, free; /* h_minfree */
    } rows[] = {
        {MIB - 1, 0, {-1, 0, -1, 0}, 2560, 0},
        {MIB, 0, {-1, 0, -1, 0}, 35328, 448 + 32768}, /* 2560 + 32768 */
        {3 * MIB, 0, {-1, 0, -1, 0}, 100864, 448 + 98304},
        {MIB + 320, 0, {-1, 0, -1, 0}, 35840, 448 + 32778}, /* a multiple of 512 */
        {MIB, 0, {0, 0, -1, 0}, 2560, 0},
        {MIB, 0, {-1, 0, 0, 0}, 2560, 0},
        {MIB, 0, {-1, 4, -1, 0}, 2112, 0},
        {MIB, 0, {-1, 0, -1, 4}, 2560, 0},
        {MIB, 0, {1000, 0, 0, 0}, 3584, 1000},
        {MIB / 8, 7, {-1, 0, -1, 0}, 2560, 0},
        {MIB / 8, 8, {-1, 0, -1, 0}, 35328, 444 + 32768},
        /* CDF-5, in which the header is longer by 60 bytes, or 64 with records; at most 1 GiB */
        {INT64_C(32) << 30, 0, {-1, 0, -1, 0}, (1 << 30) + 2560, 388 + (1 << 30)},
        {INT64_C(64) << 30, 0, {-1, 0, -1, 0}, (1 << 30) + 2560, 388 + (1 << 30)},
        /* with it, or without it, the records end before byte 2^63 - 3 */
        {INT64_C(1) << 32, (INT64_C(1) << 31) - 2, {-1, 0, -1, 0}, (1 << 30) + 2560, 380 + (1 << 30)},
        {MIB, (INT64_C(1) << 43) - 101, {-1, 0, -1, 0}, 2560, 0},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pnc_layout_hints hints = rows[i].hints;
        int format = rows[i].bytes > INT32_MAX ? 5 : 2;
        pnc_model before, now;
        make_large(&before, format, rows[i].bytes, rows[i].numrecs > 0, 20);
        make_large(&now, format, rows[i].bytes, rows[i].numrecs > 0, 2000);
        before.numrecs = now.numrecs = rows[i].numrecs;
        assert_int_equal(pnc_format_layout_compute(&before, NULL, NULL, NULL), NC_NOERR);
        assert_int_equal(pnc_format_layout_compute_changed(&now, &before, &hints, NULL), NC_NOERR);
        assert_int_equal(before.vars[0]->classic.begin, 512);
        assert_int_equal(now.vars[0]->classic.begin, rows[i].extent);
        assert_int_equal(hints.h_minfree, rows[i].free);
        assert_int_equal(hints.v_minfree, 0);
        pnc_format_model_free(&before);
        pnc_format_model_free(&now);
    }
}

/* The last of 2^43 - 1 records of 1 MiB must end before byte 2^63. */
static void test_too_many_records(void **state)
{
    const pnc_layout_hints near = {MIB - 1024, 0, 0, 0}, far = {MIB - 100, 0, 0, 0};
    pnc_error error = {0};
    pnc_model m;
    (void)state;

    make_large(&m, 5, MIB, true, 20);
    m.numrecs = (INT64_C(1) << 43) - 1;
    assert_int_equal(pnc_format_layout_compute(&m, NULL, &near, &error), NC_NOERR);
    assert_int_equal(m.classic.begin_rec, MIB - 512);
    assert_int_equal(pnc_format_layout_compute(&m, NULL, &far, &error), NC_EVARSIZE);
    assert_non_null(strstr(error.text, "8796093022207 records of 1048576 bytes"));
    pnc_format_model_free(&m);
}

/* A fixed-size variable of 1 MiB, 8 records of 128 KiB, and an attribute of `att` bytes. */
static void make_with_records(pnc_model *m, int format, int64_t att)
{
    const int ids[] = {0, 2};

    make_large(m, format, MIB, false, att);
    assert_int_equal(pnc_format_dim_add(m, "z", MIB / 8, NULL), NC_NOERR);
    assert_int_equal(pnc_format_var_add(m, "r", NC_BYTE, 2, ids, NULL), NC_NOERR);
    m->numrecs = 8;
}

/* A file with a fixed-size variable of 1 MiB at 512 and 8 records of 128 KiB after it, and then with another variable
 * of `added` bytes; the records follow it, and the space. In CDF-1 there is none if the records then begin too far. */
static void test_space_before_records(void **state)
{
    static const int64_t first_end = 512 + MIB, much = INT32_MAX - 3 - 1000 - MIB;
    const struct {
        int format;
        int64_t added, begin_rec, space;
    } rows[] = {
        {1, 0, first_end, 0},
        {1, 8, first_end + 8 + MIB / 32, MIB / 32},
        {1, much, first_end + much, 0},
        {5, much, first_end + much + MIB / 32, MIB / 32},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int added = 3;
        pnc_layout_hints hints = {-1, 0, -1, 0};
        pnc_model before, now;
        make_with_records(&before, rows[i].format, 20);
        make_with_records(&now, rows[i].format, 20);
        assert_int_equal(pnc_format_layout_compute(&before, NULL, NULL, NULL), NC_NOERR);
        assert_int_equal(before.classic.begin_rec, first_end);
        if (rows[i].added > 0) {
            assert_int_equal(pnc_format_dim_add(&now, "w", rows[i].added, NULL), NC_NOERR);
            assert_int_equal(pnc_format_var_add(&now, "w", NC_BYTE, 1, &added, NULL), NC_NOERR);
        }
        assert_int_equal(pnc_format_layout_compute_changed(&now, &before, &hints, NULL), NC_NOERR);
        assert_int_equal(now.vars[0]->classic.begin, 512);
        assert_int_equal(now.classic.begin_rec, rows[i].begin_rec);
        assert_int_equal(hints.h_minfree, 0);
        assert_int_equal(hints.v_minfree, rows[i].space);
        pnc_format_model_free(&before);
        pnc_format_model_free(&now);
    }
}

/* A variable of 1 MiB moves up by 2 KiB into a gap before 8 records of 128 KiB. The records do not move for the space
 * of 32 KiB alone. */
static void test_space_within_gap(void **state)
{
    static const struct {
        int64_t gap, begin, begin_rec;
    } rows[] = {
        {0, 68096, 68096 + MIB},             /* both move: 2560 + 65536 */
        {8192, 2560, 512 + 8192 + MIB},      /* the records stay */
        {32768, 2560, 512 + 32768 + MIB},    /* likewise */
        {34812, 2560, 512 + 34812 + MIB},    /* likewise: 4 bytes too few for the space */
        {34816, 35328, 512 + 34816 + MIB},   /* 35328 - 512: the gap is full */
        {100000, 35328, 512 + 100000 + MIB}, /* it is not */
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const pnc_layout_hints with_gap = {0, 0, rows[i].gap, 0};
        pnc_layout_hints hints = {-1, 0, -1, 0};
        pnc_model before, now;
        make_with_records(&before, 2, 20);
        make_with_records(&now, 2, 2000);
        assert_int_equal(pnc_format_layout_compute(&before, NULL, &with_gap, NULL), NC_NOERR);
        assert_int_equal(before.classic.begin_rec, 512 + rows[i].gap + MIB);
        assert_int_equal(pnc_format_layout_compute_changed(&now, &before, &hints, NULL), NC_NOERR);
        assert_int_equal(now.vars[0]->classic.begin, rows[i].begin);
        assert_int_equal(now.classic.begin_rec, rows[i].begin_rec);
        pnc_format_model_free(&before);
        pnc_format_model_free(&now);
    }
}

/* Values up to the end of a file, counted one by one. */
static void test_present(void **state)
{
    (void)state;

    for (int size = 0; size < 5; size++)
        for (int records = 0; records < 4; records++)
            for (int step = size; step < size + 3; step++)
                for (int end = 0; end < 40; end++) {
                    int64_t found = 0, last = 0, all = 0;
                    for (int r = 0; r < records; r++)
                        for (int b = 0; b < size; b++) {
                            all++;
                            if (8 + r * step + b < end)
                                last = all;
                        }
                    found = pnc_format_data_count_present(8, size, records, step, end);
                    assert_int_equal(found, last);
                }
    assert_int_equal(pnc_format_data_count_present(8, 100, 1, 0, 50), 42);
    assert_int_equal(pnc_format_data_count_present(8, 100, 1, 0, INT64_MAX), 100);
    assert_int_equal(pnc_format_data_count_present(8, 8, INT64_MAX / 8 - 1, 8, INT64_MAX), (INT64_MAX / 8 - 1) * 8);
}

/* Fixed-size variables of 8 bytes, and records of twice 8. */
static void test_shortage(void **state)
{
    static const int record[] = {0, 1};
    static const struct row {
        int64_t numrecs, size;
        pnc_shortage_kind kind;
        int64_t missing, total;
    } rows[] = {
        {3, 576, PNC_SHORTAGE_NONE, 0, 0},      {3, 575, PNC_SHORTAGE_VALUES, 0, 4},
        {3, 561, PNC_SHORTAGE_VALUES, 0, 4},    {3, 560, PNC_SHORTAGE_RECORDS, 1, 3},
        {3, 544, PNC_SHORTAGE_RECORDS, 2, 3},   {3, 200, PNC_SHORTAGE_RECORDS, 3, 3},
        {1, 536, PNC_SHORTAGE_VARIABLES, 1, 4}, {0, 528, PNC_SHORTAGE_NONE, 0, 0},
        {0, 521, PNC_SHORTAGE_VALUES, 0, 2},    {0, 520, PNC_SHORTAGE_VARIABLES, 1, 2},
        {0, 513, PNC_SHORTAGE_VARIABLES, 1, 2}, {0, 512, PNC_SHORTAGE_NO_DATA, 2, 2},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pnc_model m;
        pnc_shortage found;
        char text[PNC_SHORTAGE_TEXT];

        assert_int_equal(pnc_format_model_init(&m, 1, NULL), NC_NOERR);
        assert_int_equal(pnc_format_dim_add(&m, "t", 0, NULL), NC_NOERR);
        assert_int_equal(pnc_format_dim_add(&m, "x", 2, NULL), NC_NOERR);
        assert_int_equal(pnc_format_var_add(&m, "a", NC_INT, 1, record + 1, NULL), NC_NOERR);
        assert_int_equal(pnc_format_var_add(&m, "b", NC_INT, 1, record + 1, NULL), NC_NOERR);
        assert_int_equal(pnc_format_var_add(&m, "r", NC_INT, 2, record, NULL), NC_NOERR);
        assert_int_equal(pnc_format_var_add(&m, "s", NC_INT, 2, record, NULL), NC_NOERR);
        assert_int_equal(pnc_format_layout_compute(&m, NULL, NULL, NULL), NC_NOERR);
        assert_int_equal(m.classic.begin_rec, 528);
        m.numrecs = rows[i].numrecs;
        pnc_format_shortage_find(&m, rows[i].size, &found);
        assert_int_equal(found.kind, rows[i].kind);
        if (found.kind != PNC_SHORTAGE_NONE) {
            assert_int_equal(found.missing, rows[i].missing);
            assert_int_equal(found.total, rows[i].total);
            assert_non_null(strstr(pnc_format_shortage_explain(&m, &found, text), "the file ends at byte"));
        }
        pnc_format_model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recordings),
        cmocka_unit_test(test_derive),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_far_hints),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_reserve_at_limits),
        cmocka_unit_test(test_space_of_moves),
        cmocka_unit_test(test_space_within_gap),
        cmocka_unit_test(test_space_before_records),
        cmocka_unit_test(test_too_many_records),
        cmocka_unit_test(test_present),
        cmocka_unit_test(test_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
