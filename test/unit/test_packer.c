/* The packer against element-by-element conversion: random layouts of memory, type pairs and portions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/types.h"
#include "convert/convert.h"
#include "random.h"

enum { ROOM = 1 << 17 };

#define CDF5 PNC_ENCODING_CDF5
#define CDF1 ((pnc_encoding){.signless_bytes = true})
#define LITTLE ((pnc_encoding){.little = true})

typedef struct layout {
    int ndims;
    int64_t count[3], imap[3], n, lowest;
} layout;

/* Dimensions in a random order in memory, with gaps (ghost cells), sometimes backwards. */
static void random_layout(layout *l)
{
    int order[3] = {0, 1, 2};
    int64_t distance = 1;
    *l = (layout){.ndims = (int)random_in(0, 3), .n = 1};
    for (int d = 0; d < l->ndims; d++) {
        l->count[d] = random_in(1, d == l->ndims - 1 && random_in(0, 2) == 0 ? 600 : 9);
        l->n *= l->count[d];
    }
    for (int k = l->ndims - 1; k >= 0 && random_in(0, 2) == 0; k--) {
        int other = (int)random_in(0, k), swap = order[k];
        order[k] = order[other];
        order[other] = swap;
    }
    for (int k = l->ndims - 1; k >= 0; k--) {
        int d = order[k];
        l->imap[d] = distance;
        distance *= l->count[d];
        distance += random_in(0, 1) ? random_in(0, 3) : 0;
        if (random_in(0, 9) == 0) {
            l->lowest += l->imap[d] * (l->count[d] - 1);
            l->imap[d] = -l->imap[d];
        }
    }
    if (distance * 8 > ROOM / 2)
        random_layout(l);
}

static int64_t element_of(const layout *l, int64_t k)
{
    int64_t at = l->lowest;
    for (int d = l->ndims - 1; d >= 0; d--) {
        at += k % l->count[d] * l->imap[d];
        k /= l->count[d];
    }
    return at;
}

static int random_xtype(pnc_mem_type mem)
{
    static const int numeric[] = {NC_BYTE,  NC_SHORT,  NC_INT,  NC_FLOAT, NC_DOUBLE,
                                  NC_UBYTE, NC_USHORT, NC_UINT, NC_INT64, NC_UINT64};
    return mem == PNC_TEXT ? NC_CHAR : numeric[random_in(0, 9)];
}

static void portions(pnc_packer *packer, char *ext, int64_t n, int ext_size)
{
    for (int64_t done = 0; done < n;) {
        int64_t m = random_in(0, random_in(0, 1) ? 20 : 3000);
        m = m < n - done ? m : n - done;
        if (packer->direction == PNC_PUT)
            pnc_convert_packer_pack(packer, ext + done * ext_size, m);
        else
            pnc_convert_packer_unpack(packer, ext + done * ext_size, m);
        done += m;
    }
}

static char memory[ROOM], before[ROOM], want[ROOM], ext[ROOM], wanted_ext[ROOM];

/* Any bits, but often small numbers only: both ways through the kernels. */
static void random_bytes(char *out, int64_t n, int size)
{
    bool small = random_in(0, 1);
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = small ? (uint64_t)random_in(0, 9) : random_bits();
        memcpy(out + i * size, &bits, (size_t)size);
    }
}

static void check_put(const layout *l, pnc_packer *packer, pnc_mem_type mem, int xtype, pnc_encoding encoding)
{
    pnc_kernel scalar = pnc_convert_kernel_find_scalar(PNC_PUT, xtype, mem, encoding);
    int status = NC_NOERR, size = (int)pnc_mem_type_get_size(mem), ext_size = (int)pnc_type_get_size(xtype);
    char fill[8];
    pnc_convert_fill_get_external(xtype, encoding, fill);
    random_bytes(memory, ROOM / 8, size);
    memcpy(before, memory, ROOM);
    memset(ext, 0x55, ROOM);
    memset(wanted_ext, 0x55, ROOM);
    for (int64_t k = 0; k < l->n; k++)
        if (scalar(wanted_ext + k * ext_size, memory + element_of(l, k) * size, 1, fill))
            status = NC_ERANGE;
    portions(packer, ext, l->n, ext_size);
    assert_memory_equal(memory, before, ROOM);
    assert_memory_equal(ext, wanted_ext, ROOM);
    assert_int_equal(packer->status, status);
}

static void check_get(const layout *l, pnc_packer *packer, pnc_mem_type mem, int xtype, pnc_encoding encoding)
{
    pnc_kernel scalar = pnc_convert_kernel_find_scalar(PNC_GET, xtype, mem, encoding);
    int status = NC_NOERR, size = (int)pnc_mem_type_get_size(mem), ext_size = (int)pnc_type_get_size(xtype);
    char fill[8];
    pnc_convert_fill_get_memory(mem, fill);
    random_bytes(ext, ROOM / 8, ext_size);
    memset(memory, 0x55, ROOM);
    memset(want, 0x55, ROOM);
    for (int64_t k = 0; k < l->n; k++)
        if (scalar(want + element_of(l, k) * size, ext + k * ext_size, 1, fill))
            status = NC_ERANGE;
    portions(packer, ext, l->n, ext_size);
    assert_memory_equal(memory, want, ROOM);
    assert_int_equal(packer->status, status);
}

static void test_random_layouts(void **state)
{
    (void)state;
    for (int round = 0; round < 1500; round++) {
        layout l;
        pnc_packer packer;
        random_layout(&l);
        pnc_mem_type mem = (pnc_mem_type)random_in(0, PNC_MEM_TYPE_COUNT - 1);
        pnc_direction direction = random_in(0, 1) ? PNC_PUT : PNC_GET;
        pnc_encoding encoding = {.little = random_in(0, 1), .signless_bytes = random_in(0, 1)};
        int xtype = random_xtype(mem), size = (int)pnc_mem_type_get_size(mem);
        pnc_flat_type *map = pnc_select_flat_create_shifted(pnc_select_flat_create_imap(l.ndims, l.count, l.imap, size),
                                                            l.lowest * size);
        assert_non_null(map);
        assert_int_equal(
            pnc_convert_packer_init(&packer, &(pnc_conversion){direction, xtype, mem, encoding, NULL}, map, memory),
            NC_NOERR);
        if (direction == PNC_PUT)
            check_put(&l, &packer, mem, xtype, encoding);
        else
            check_get(&l, &packer, mem, xtype, encoding);
        pnc_convert_packer_free(&packer);
        pnc_select_flat_free(map);
    }
}

static void test_direct_and_flat(void **state)
{
    char text[] = "salinity";
    int32_t ints[] = {1, 2, 3};
    unsigned char bytes[12];
    pnc_packer packer;
    (void)state;
    pnc_flat_type *map = pnc_select_flat_create_shifted(pnc_select_flat_create_block(6, 1), 2);
    assert_int_equal(
        pnc_convert_packer_init(&packer, &(pnc_conversion){PNC_PUT, NC_CHAR, PNC_TEXT, CDF1, NULL}, map, text),
        NC_NOERR);
    assert_ptr_equal(packer.direct, text + 2);
    assert_ptr_equal(pnc_convert_packer_take_direct(&packer, 4), text + 2);
    pnc_convert_packer_pack(&packer, bytes, 2);
    assert_memory_equal(bytes, "ty", 2);
    pnc_convert_packer_free(&packer);
    pnc_select_flat_free(map);
    map = pnc_select_flat_create_block(3, 4);
    assert_int_equal(
        pnc_convert_packer_init(&packer, &(pnc_conversion){PNC_PUT, NC_INT, PNC_INT, CDF1, NULL}, map, ints), NC_NOERR);
    /* where memory has the byte order of files, no conversion is necessary */
    assert_ptr_equal(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? packer.direct : packer.flat, (char *)ints);
    assert_null(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? packer.flat : packer.direct);
    pnc_convert_packer_pack(&packer, bytes, 3);
    assert_memory_equal(bytes, "\0\0\0\1\0\0\0\2\0\0\0\3", 12);
    pnc_convert_packer_free(&packer);
    assert_int_equal(
        pnc_convert_packer_init(&packer, &(pnc_conversion){PNC_PUT, NC_INT, PNC_INT, LITTLE, NULL}, map, ints),
        NC_NOERR);
    assert_ptr_equal(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? packer.direct : packer.flat, (char *)ints);
    pnc_convert_packer_pack(&packer, bytes, 3);
    assert_memory_equal(bytes, "\1\0\0\0\2\0\0\0\3\0\0\0", 12);
    pnc_convert_packer_free(&packer);
    pnc_select_flat_free(map);
}

static void test_own_fill_and_refusals(void **state)
{
    double values[] = {1e10, 5};
    const unsigned char fill[] = {0xab, 0xcd, 0xef, 0x01};
    unsigned char bytes[8];
    pnc_packer packer;
    (void)state;
    pnc_flat_type *map = pnc_select_flat_create_block(2, 8);
    assert_int_equal(
        pnc_convert_packer_init(&packer, &(pnc_conversion){PNC_PUT, NC_INT, PNC_DOUBLE, CDF1, fill}, map, values),
        NC_NOERR);
    pnc_convert_packer_pack(&packer, bytes, 2);
    assert_memory_equal(bytes, "\xab\xcd\xef\x01\0\0\0\5", 8);
    assert_int_equal(packer.status, NC_ERANGE);
    pnc_convert_packer_free(&packer);
    assert_int_equal(
        pnc_convert_packer_init(&packer, &(pnc_conversion){PNC_PUT, NC_CHAR, PNC_DOUBLE, CDF1, NULL}, map, values),
        NC_ECHAR);
    pnc_convert_packer_free(&packer);
    assert_int_equal(
        pnc_convert_packer_init(&packer, &(pnc_conversion){PNC_PUT, NC_INT, PNC_INT, CDF1, NULL}, map, values),
        NC_EINTERNAL);
    pnc_convert_packer_free(&packer);
    pnc_select_flat_free(map);
    map = pnc_select_flat_create_block(0, 8); /* no elements: no memory needed */
    assert_int_equal(
        pnc_convert_packer_init(&packer, &(pnc_conversion){PNC_GET, NC_INT, PNC_DOUBLE, CDF1, NULL}, map, NULL),
        NC_NOERR);
    pnc_convert_packer_unpack(&packer, bytes, 0);
    pnc_convert_packer_free(&packer);
    /* nor does the size of its elements matter */
    assert_int_equal(
        pnc_convert_packer_init(&packer, &(pnc_conversion){PNC_PUT, NC_INT, PNC_INT, CDF1, NULL}, map, values),
        NC_NOERR);
    pnc_convert_packer_free(&packer);
    pnc_select_flat_free(map);
}

/* Columns that lie over each other: the value that is last in the file counts. Element i of row j is at 20 i + 5 j. */
static void test_overlap(void **state)
{
    const int64_t count[] = {40, 30}, imap[] = {5, 20};
    pnc_packer packer;
    (void)state;
    pnc_flat_type *map = pnc_select_flat_create_imap(2, count, imap, 4);
    assert_int_equal(
        pnc_convert_packer_init(&packer, &(pnc_conversion){PNC_GET, NC_INT, PNC_INT, CDF1, NULL}, map, memory),
        NC_NOERR);
    memset(memory, 0x55, ROOM);
    memset(want, 0x55, ROOM);
    for (int k = 0; k < 40 * 30; k++) {
        const int32_t value = k;
        const unsigned char bytes[] = {0, 0, (unsigned char)(k >> 8), (unsigned char)k};
        memcpy(ext + k * 4, bytes, 4);
        memcpy(want + (k / 30 * 5 + k % 30 * 20) * 4, &value, 4);
    }
    pnc_convert_packer_unpack(&packer, ext, 40 * 30);
    assert_memory_equal(memory, want, ROOM);
    pnc_convert_packer_free(&packer);
    pnc_select_flat_free(map);
}

/* Memory of every kind: bytes as in the file, contiguous values to convert, scattered values. */
static const struct {
    int xtype;
    pnc_mem_type mem;
    int64_t distance; /* in elements */
} kinds[] = {{NC_BYTE, PNC_SCHAR, 1}, {NC_SHORT, PNC_INT, 1}, {NC_SHORT, PNC_INT, 3}, {NC_BYTE, PNC_SCHAR, 3}};

enum { KINDS = sizeof kinds / sizeof *kinds, N = 5000 };

static pnc_flat_type *make_kind(int k, pnc_direction direction, pnc_packer *packer)
{
    const int64_t n = N;
    pnc_flat_type *map =
        pnc_select_flat_create_imap(1, &n, &kinds[k].distance, (int)pnc_mem_type_get_size(kinds[k].mem));

    assert_non_null(map);
    assert_int_equal(pnc_convert_packer_init(
                         packer, &(pnc_conversion){direction, kinds[k].xtype, kinds[k].mem, CDF5, NULL}, map, memory),
                     NC_NOERR);
    return map;
}

/* Element i in memory. */
static void set_element(int k, int i, int value)
{
    if (kinds[k].mem == PNC_INT)
        memcpy(memory + i * kinds[k].distance * 4, &value, 4);
    else
        memory[i * kinds[k].distance] = (char)value;
}

static int get_element(int k, int i)
{
    int value;

    if (kinds[k].mem != PNC_INT)
        return (signed char)memory[i * kinds[k].distance];
    memcpy(&value, memory + i * kinds[k].distance * 4, 4);
    return value;
}

/* In the file. */
static void set_external(int k, char *to, int value)
{
    if (kinds[k].xtype == NC_SHORT)
        *to++ = (char)(value >> 8);
    *to = (char)value;
}

static void test_seek(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (int first = 0; first < N; first += 700) {
            int size = (int)pnc_type_get_size(kinds[k].xtype);
            pnc_packer packer;
            pnc_flat_type *map = make_kind(k, PNC_PUT, &packer);

            for (int i = 0; i < N; i++)
                set_element(k, i, i % 100);
            for (int i = 0; i < 30; i++)
                set_external(k, wanted_ext + i * size, (first + i) % 100);
            pnc_convert_packer_seek(&packer, first);
            pnc_convert_packer_pack(&packer, ext, 10);
            pnc_convert_packer_pack(&packer, ext + 10 * size, 20);
            assert_memory_equal(ext, wanted_ext, 30 * (size_t)size);
            pnc_convert_packer_free(&packer);
            pnc_select_flat_free(map);
        }
}

/* Values in the file at equal distances; the bytes between them are not touched. */
static void test_strided(void **state)
{
    enum { STRIDE = 7 };
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        pnc_packer packer;
        pnc_flat_type *map = make_kind(k, PNC_PUT, &packer);

        memset(ext, 0x55, ROOM);
        memset(wanted_ext, 0x55, ROOM);
        for (int i = 0; i < N; i++) {
            set_element(k, i, i % 101);
            set_external(k, wanted_ext + i * STRIDE, i % 101);
        }
        pnc_convert_packer_pack_strided(&packer, ext, STRIDE, 3);
        pnc_convert_packer_pack_strided(&packer, ext + 3 * STRIDE, STRIDE, N - 3);
        assert_memory_equal(ext, wanted_ext, ROOM);
        pnc_convert_packer_free(&packer);
        pnc_select_flat_free(map);
        map = make_kind(k, PNC_GET, &packer);
        memset(memory, 0x55, ROOM);
        pnc_convert_packer_unpack_strided(&packer, ext, STRIDE, 3);
        pnc_convert_packer_unpack_strided(&packer, ext + 3 * STRIDE, STRIDE, N - 3);
        for (int i = 0; i < N; i++)
            assert_int_equal(get_element(k, i), i % 101);
        pnc_convert_packer_free(&packer);
        pnc_select_flat_free(map);
    }
}

/* The same conversion of other memory, from its beginning. */
static void test_set_memory(void **state)
{
    static char other[4 * N];
    (void)state;
    for (int k = 0; k < 2; k++) {
        pnc_packer packer;
        pnc_flat_type *map = make_kind(k, PNC_PUT, &packer);
        int size = (int)pnc_type_get_size(kinds[k].xtype);

        for (int i = 0; i < 20; i++) {
            set_element(k, i, i);
            set_external(k, wanted_ext + i * size, i);
        }
        memcpy(other, memory, sizeof other);
        memset(memory, 0x55, ROOM);
        pnc_convert_packer_pack(&packer, ext, 7);
        pnc_convert_packer_set_memory(&packer, other);
        assert_int_equal(packer.status, NC_NOERR); /* 0x55555555 does not fit in a short */
        pnc_convert_packer_pack(&packer, ext, 20);
        assert_memory_equal(ext, wanted_ext, 20 * (size_t)size);
        assert_int_equal(packer.status, NC_NOERR);
        pnc_convert_packer_free(&packer);
        pnc_select_flat_free(map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_layouts),
        cmocka_unit_test(test_direct_and_flat),
        cmocka_unit_test(test_own_fill_and_refusals),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_seek),
        cmocka_unit_test(test_strided),
        cmocka_unit_test(test_set_memory),
    };
    return cmocka_run_group_tests_name("packer", tests, NULL, NULL);
}
