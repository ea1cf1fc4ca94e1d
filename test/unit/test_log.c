/* The log of a burst buffer and its mark: what was appended is read, up to the first record that is torn or damaged,
 * and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/memory.h"
#include "log/mark.h"
#include "log/reader.h"
#include "log/values.h"

enum { MOST = 200000, RECORDS = 40 };

/* A log in memory, and what was appended. */
static char bytes[MOST];
static int64_t size;
static pnc_log_record appended[RECORDS];
static int64_t begins[RECORDS + 1];
static int n;

static const pnc_log_front front = {
    .stamp = 0x1234567890abcdefu, .rank = 3, .nranks = 8, .lap = 2, .call = 10, .numrecs = 5};

static bool read_memory(void *file, int64_t at, void *to, int64_t length)
{
    const int64_t *end = file;

    if (at < 0 || length < 0 || at > *end - length)
        return false;
    memcpy(to, bytes + at, (size_t)length);
    return true;
}

static int64_t length_of(int i)
{
    return i % 5 == 4 ? 0 : 1 + i * i * 7 % 300;
}

/* Blocks of which the bytes follow from their position, and each fifth time the end of a call. */
static void append(const pnc_log_front *of, int i, char salt)
{
    pnc_log_record record = {.kind = i % 5 == 4 ? PNC_LOG_END : PNC_LOG_BLOCK,
                             .call = of->call + 1 + i / 5,
                             .extent = {i % 5 == 4 ? 0 : 1000 + 300 * i, length_of(i)},
                             .numrecs = i % 5 == 4 ? 6 + i / 5 : 0};
    char *to = bytes + size + PNC_LOG_RECORD_BYTES;

    for (int64_t k = 0; k < record.extent.length; k++)
        to[k] = (char)(k * 31 + i + salt);
    pnc_log_record_encode(of, &record, to, bytes + size);
    size += PNC_LOG_RECORD_BYTES + record.extent.length;
    appended[n] = record;
    begins[++n] = size;
}

static void put_front(const pnc_log_front *of)
{
    pnc_log_front_encode(of, bytes);
    pnc_log_front_encode(of, bytes + PNC_LOG_SLOT_BYTES);
}

static void make_log(void)
{
    size = PNC_LOG_FRONT_BYTES;
    n = 0;
    begins[0] = size;
    put_front(&front);
    while (n < RECORDS)
        append(&front, n, 0);
}

static pnc_log_reader begin(int64_t *end)
{
    pnc_log_reader reader = {.file = end, .read = read_memory, .size = *end};

    assert_true(pnc_log_reader_begin(&reader));
    return reader;
}

/* The first records up to byte `end`. */
static int count_before(int64_t end)
{
    int count = 0;

    while (count < n && begins[count + 1] <= end)
        count++;
    return count;
}

static int count_read(int64_t end)
{
    pnc_log_reader reader = begin(&end);
    int count = 0;

    for (; pnc_log_reader_find_next(&reader); count++) {
        assert_in_range(count, 0, n - 1);
        assert_int_equal(reader.record.kind, appended[count].kind);
        assert_int_equal(reader.record.call, appended[count].call);
        assert_int_equal(reader.record.extent.offset, appended[count].extent.offset);
        assert_int_equal(reader.record.extent.length, appended[count].extent.length);
        assert_int_equal(reader.bytes_at, begins[count] + PNC_LOG_RECORD_BYTES);
    }
    return count;
}

static void test_whole(void **unused)
{
    pnc_log_reader reader;
    pnc_log_summary s;
    int64_t blocks = 0, sum = 0;

    (void)unused;
    make_log();
    for (int i = 0; i < RECORDS; i++) {
        blocks += i % 5 != 4;
        sum += length_of(i);
    }
    assert_int_equal(count_read(size), RECORDS);
    reader = begin(&size);
    assert_int_equal(reader.front.rank, 3);
    pnc_log_reader_examine(&reader, &s);
    assert_int_equal(s.blocks, blocks);
    assert_int_equal(s.bytes, sum);
    assert_int_equal(s.first, 11);
    assert_int_equal(s.last, 18);
    assert_int_equal(s.call, 18);
    assert_int_equal(s.numrecs, 13);
    assert_int_equal(s.end, size);
    assert_false(s.is_damaged);
}

/* The program died within a write. */
static void test_torn(void **unused)
{
    (void)unused;
    make_log();
    for (int64_t end = PNC_LOG_FRONT_BYTES; end <= size; end++) {
        pnc_log_reader reader = begin(&end);
        pnc_log_summary s;
        int count = count_before(end);

        assert_int_equal(count_read(end), count);
        pnc_log_reader_examine(&reader, &s);
        assert_false(s.is_damaged);
        assert_int_equal(s.end, begins[count]);
        assert_int_equal(s.call, 10 + count / 5);
        assert_int_equal(s.numrecs, 5 + count / 5);
    }
}

static void test_damaged(void **unused)
{
    (void)unused;
    make_log();
    for (int64_t at = 0; at < size; at++) {
        pnc_log_reader reader = {.file = &size, .read = read_memory, .size = size};
        pnc_log_summary s;
        int count = count_before(at);

        bytes[at] = (char)(bytes[at] ^ 1 << at % 8);
        if (at < PNC_LOG_TIMES_AT) { /* the other slot is whole */
            int64_t other = (at + PNC_LOG_SLOT_BYTES) % PNC_LOG_TIMES_AT;

            assert_int_equal(count_read(size), RECORDS);
            bytes[other] = (char)(bytes[other] ^ 1);
            assert_false(pnc_log_reader_begin(&reader));
            bytes[other] = (char)(bytes[other] ^ 1);
        } else if (at < PNC_LOG_FRONT_BYTES) {
            assert_int_equal(count_read(size), RECORDS);
        } else {
            assert_int_equal(count_read(size), count);
            reader = begin(&size);
            pnc_log_reader_examine(&reader, &s);
            assert_int_equal(s.end, begins[count]);
            assert_int_equal(s.is_damaged, count < RECORDS - 1);
        }
        bytes[at] = (char)(bytes[at] ^ 1 << at % 8);
    }
}

/* The later slot counts. */
static void test_slots(void **unused)
{
    pnc_log_front later = front;
    pnc_log_reader reader;

    (void)unused;
    make_log();
    for (int kind = 0; kind < 4; kind++) {
        later.lap = front.lap + kind % 2;
        later.call = front.call + 1;
        pnc_log_front_encode(kind < 2 ? &front : &later, bytes);
        pnc_log_front_encode(kind < 2 ? &later : &front, bytes + PNC_LOG_SLOT_BYTES);
        reader = begin(&size);
        assert_int_equal(reader.front.lap, later.lap);
        assert_int_equal(reader.front.call, later.call);
    }
}

/* Records of an older lap are behind those of this one; those of other logs, and of calls that the file has, are not
 * taken for its own. */
static void test_laps(void **unused)
{
    pnc_log_front next = front;
    pnc_log_reader reader;
    pnc_log_summary s;
    int64_t all;

    (void)unused;
    make_log();
    all = size;
    next.lap = 3;
    next.call = 18;
    put_front(&next);
    n = 0;
    assert_int_equal(count_read(all), 0);
    for (int i = 0; i < 7; i++) {
        if (i == 0)
            size = begins[0] = PNC_LOG_FRONT_BYTES;
        append(&next, i, 1);
        assert_int_equal(count_read(all), i + 1);
    }
    reader = begin(&all);
    pnc_log_reader_examine(&reader, &s);
    assert_false(s.is_damaged);
    assert_int_equal(s.call, 19);

    for (int kind = 0; kind < 3; kind++) {
        pnc_log_front other = next;

        other.stamp += kind == 0;
        other.rank -= kind == 1;
        other.call += kind == 2 ? 100 : 0;
        put_front(&other);
        assert_int_equal(count_read(all), 0);
    }
}

/* Numbers of a record that is digested well and makes no sense. */
static void test_forged(void **unused)
{
    static const pnc_log_record forged[] = {
        {PNC_LOG_BLOCK, 11, {-1, 8}, 0},  {PNC_LOG_BLOCK, 11, {INT64_MAX - 3, 8}, 0}, {PNC_LOG_BLOCK, 10, {0, 8}, 0},
        {PNC_LOG_BLOCK, -5, {0, 8}, 0},   {PNC_LOG_BLOCK, INT64_MAX, {0, 8}, 0},      {PNC_LOG_END, 11, {5, 0}, 0},
        {PNC_LOG_END, 11, {0, 0}, -1},    {PNC_LOG_VALUES, 11, {-1, 8}, 0},           {PNC_LOG_VALUES, 11, {0, 0}, 0},
        {(pnc_log_kind)0, 11, {0, 8}, 0}, {(pnc_log_kind)77, 11, {0, 8}, 0},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        make_log();
        memset(bytes + size, 0, 100);
        pnc_log_record_encode(&front, &forged[i], bytes + PNC_LOG_FRONT_BYTES + PNC_LOG_RECORD_BYTES,
                              bytes + PNC_LOG_FRONT_BYTES);
        assert_int_equal(count_read(PNC_LOG_FRONT_BYTES + PNC_LOG_RECORD_BYTES + 8), 0);
    }
    n = 0;
    size = begins[0] = PNC_LOG_FRONT_BYTES;
    append(&front, 30, 0); /* a call that is earlier follows */
    append(&front, 0, 0);
    assert_int_equal(count_read(size), 1);
}

/* The later time counts, and the other one if it is damaged, or of another log. */
static void test_times(void **unused)
{
    pnc_log_front other = front;
    int64_t end = PNC_LOG_FRONT_BYTES;
    char *first = bytes + PNC_LOG_TIMES_AT, *second = first + PNC_LOG_SLOT_BYTES;

    (void)unused;
    memset(bytes, 0, PNC_LOG_FRONT_BYTES);
    put_front(&front);
    assert_int_equal(begin(&end).time, 0);
    pnc_log_time_encode(&front, 1700000000000000001, first);
    assert_int_equal(begin(&end).time, 1700000000000000001);
    pnc_log_time_encode(&front, 1700000000000000002, second);
    assert_int_equal(begin(&end).time, 1700000000000000002);
    pnc_log_time_encode(&front, 1700000000000000003, first);
    assert_int_equal(begin(&end).time, 1700000000000000003);
    for (int i = 0; i < PNC_LOG_SLOT_BYTES; i++) {
        first[i] ^= 1;
        assert_int_equal(begin(&end).time, 1700000000000000002);
        first[i] ^= 1;
    }
    other.stamp++;
    put_front(&other);
    assert_int_equal(begin(&end).time, 0);
}

/* --- marks --- */

/* Of a header all bytes count but for the number of records. */
static void test_header(void **unused)
{
    (void)unused;
    for (int version = 1; version <= 5; version += version == 2 ? 3 : 1) {
        char header[100] = {'C', 'D', 'F', (char)version}, copy[100];
        uint64_t whole;

        for (int i = 4; i < 100; i++)
            header[i] = (char)(i * 7);
        memcpy(copy, header, sizeof copy);
        whole = pnc_log_header_add(PNC_DIGEST_START, 0, copy, 100);
        memcpy(copy, header, sizeof copy);
        assert_true(pnc_log_header_add(pnc_log_header_add(PNC_DIGEST_START, 0, copy, 64), 64, copy + 64, 36) == whole);
        for (int i = 0; i < 100; i++) {
            bool is_number = i >= 4 && i < (version == 5 ? 12 : 8);

            memcpy(copy, header, sizeof copy);
            copy[i] ^= 16;
            assert_true((pnc_log_header_add(PNC_DIGEST_START, 0, copy, 100) == whole) == is_number);
        }
    }
}

static void test_mark(void **unused)
{
    char nodes[3][PNC_LOG_NODE_BYTES] = {"n1", "n1", "other node"};
    const pnc_log_mark mark = {.stamp = 0xfedcba0987654321u,
                               .inode = 77,
                               .birth = 1234567890123456789,
                               .header = 0x8000000000000001u,
                               .nranks = 3,
                               .file = "a b.nc",
                               .folder = "/local/x\ny",
                               .job = "",
                               .nodes = nodes};
    pnc_error error = {0};
    pnc_log_mark got;
    int64_t length, wrong = 0;
    char *text = pnc_log_mark_encode(&mark, &length);

    (void)unused;
    assert_non_null(text);
    assert_int_equal(pnc_log_mark_decode(text, length, &got, &error), NC_NOERR);
    assert_true(got.stamp == mark.stamp && got.inode == 77 && got.birth == mark.birth && got.nranks == 3);
    assert_true(got.header == mark.header);
    assert_string_equal(got.file, "a b.nc");
    assert_string_equal(got.folder, "/local/x?y");
    assert_string_equal(got.job, "");
    assert_string_equal(got.nodes[2], "other node");
    pnc_log_mark_free(&got);
    assert_true(pnc_log_mark_is_begin(text, length));
    for (int64_t at = 0; at < length; at++) {
        pnc_error found = {0};

        wrong += pnc_log_mark_decode(text, at, &got, &found) == NC_NOERR;
        pnc_log_mark_free(&got);
        text[at] = (char)(text[at] ^ 1 << at % 7);
        found = (pnc_error){0};
        wrong += pnc_log_mark_decode(text, length, &got, &found) == NC_NOERR;
        pnc_log_mark_free(&got);
        text[at] = (char)(text[at] ^ 1 << at % 7);
    }
    assert_int_equal(wrong, 0);
    pnc_memory_free(text);
}

static void test_name(void **unused)
{
    char name[PNC_LOG_NAME_BYTES], file[400];

    (void)unused;
    pnc_log_name_format("/a/b/c.nc", 0xabc, 12, name);
    assert_string_equal(name, "c.nc.0000000000000abc.12.log");
    memset(file, 'x', sizeof file);
    file[sizeof file - 1] = '\0';
    pnc_log_name_format(file, UINT64_MAX, INT64_MAX, name);
    assert_true(strlen(name) < PNC_LOG_NAME_BYTES - 1);
}

/* Numbers as they are written by hand, with and without strides, and hyperslabs at borders. */
static void test_values(void **unused)
{
    static const int64_t start[] = {5, 0}, count[] = {2, 3}, stride[] = {4, 2}, by_hand[] = {3, 5, 0, 2, 3, 4, 2};
    int64_t numbers[10] = {0};
    pnc_log_values v;

    (void)unused;
    assert_int_equal(pnc_log_values_encode(2, start, count, stride, numbers), sizeof by_hand);
    assert_memory_equal(numbers, by_hand, sizeof by_hand);
    assert_true(pnc_log_values_decode(numbers, 7 * 8 + 12, 2, 2, &v));
    assert_true(v.n == 6 && v.start[0] == 5 && v.count[1] == 3 && v.stride[0] == 4 && v.bytes == (char *)&numbers[7]);
    assert_false(pnc_log_values_decode(numbers, 7 * 8 + 12, 2, 4, &v));
    assert_false(pnc_log_values_decode(numbers, 7 * 8 + 12, 3, 2, &v));
    assert_true(pnc_log_values_decode(numbers, 7 * 8 + 12, 2, 2, &v));
    assert_true(pnc_log_values_is_inside(&v, 2, (int64_t[]){10, 5}));
    assert_true(pnc_log_values_is_inside(&v, 2, (int64_t[]){-1, 5}));
    assert_false(pnc_log_values_is_inside(&v, 2, (int64_t[]){9, 5}));
    assert_false(pnc_log_values_is_inside(&v, 2, (int64_t[]){10, 4}));
    assert_int_equal(pnc_log_values_encode(2, start, count, NULL, numbers), 5 * 8);
    assert_true(pnc_log_values_decode(numbers, 5 * 8 + 6, 2, 1, &v) && v.stride == NULL && v.n == 6);
    assert_true(pnc_log_values_is_inside(&v, 2, (int64_t[]){7, 3}));
    assert_false(pnc_log_values_is_inside(&v, 2, (int64_t[]){6, 3}));
    assert_int_equal(pnc_log_values_encode(0, NULL, NULL, NULL, numbers), 8);
    assert_true(pnc_log_values_decode(numbers, 16, 0, 8, &v) && v.n == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole), cmocka_unit_test(test_torn),   cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_slots), cmocka_unit_test(test_laps),   cmocka_unit_test(test_forged),
        cmocka_unit_test(test_times), cmocka_unit_test(test_header), cmocka_unit_test(test_mark),
        cmocka_unit_test(test_name),  cmocka_unit_test(test_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
