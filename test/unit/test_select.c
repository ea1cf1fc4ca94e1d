/* Selections against nested loops over elements; bounds against the written rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "random.h"
#include "select/selection.h"
#include "select/sieving.h"

enum { MAX_RANK = 11, MAX_ELEMENTS = 1 << 14 };

typedef struct request {
    pnc_array array;
    int64_t shape[MAX_RANK], start[MAX_RANK], count[MAX_RANK], stride[MAX_RANK];
} request;

static void random_array(request *r, int max_rank)
{
    static const int sizes[] = {1, 2, 4, 8};
    int64_t row, limit;
    r->array = (pnc_array){.name = "v",
                           .begin = random_in(0, 5000),
                           .elem_size = sizes[random_in(0, 3)],
                           .ndims = (int)random_in(0, max_rank),
                           .shape = r->shape};
    limit = r->array.ndims > 3 ? 4 : 7;
    if (r->array.ndims > 5)
        limit = 2;
    row = r->array.elem_size;
    for (int d = r->array.ndims - 1; d >= 0; d--) {
        r->shape[d] = random_in(1, limit);
        row *= d > 0 ? r->shape[d] : 1;
    }
    r->array.is_record = r->array.ndims > 0 && random_in(0, 1);
    r->array.recsize = random_in(0, 1) ? row : (row + 3) / 4 * 4 + 4 * random_in(0, 9);
}

static void random_request(request *r, int max_rank)
{
    random_array(r, max_rank);
    for (int d = 0; d < r->array.ndims; d++) {
        int how = (int)random_in(0, 9);
        r->stride[d] = random_in(0, 2) ? 1 : random_in(1, 3);
        r->start[d] = how < 5 ? 0 : random_in(0, r->shape[d] - 1);
        int64_t most = (r->shape[d] - 1 - r->start[d]) / r->stride[d] + 1;
        r->count[d] = how < 8 ? most : random_in(how == 9 && random_in(0, 3) == 0 ? 0 : 1, most);
    }
}

/* File offsets of all elements, in order, by the definition of the format: the fastest index is the last. */
static int64_t expand(const request *r, int64_t *offset)
{
    int64_t index[MAX_RANK] = {0}, n = 0;
    for (int d = 0; d < r->array.ndims; d++)
        if (r->count[d] == 0)
            return 0;
    for (;;) {
        int64_t element = 0, record = 0;
        for (int d = 0; d < r->array.ndims; d++) {
            int64_t i = r->start[d] + index[d] * r->stride[d];
            if (d == 0 && r->array.is_record)
                record = i;
            else
                element = element * r->shape[d] + i;
        }
        assert_true(n < MAX_ELEMENTS);
        offset[n++] = r->array.begin + record * r->array.recsize + element * r->array.elem_size;
        int d = r->array.ndims - 1;
        while (d >= 0 && ++index[d] == r->count[d])
            index[d--] = 0;
        if (d < 0)
            return n;
    }
}

/* Take everything in portions of random or fixed limits; the bytes must be those of the elements, one after another. */
static void compare_portions(const request *r, const pnc_selection *s, const int64_t *offset, int64_t n, bool tiny)
{
    static pnc_extent out[64];
    pnc_selection_cursor cursor;
    const int size = r->array.elem_size;
    int64_t done = 0, taken, bytes;
    assert_int_equal(pnc_select_cursor_init(&cursor, s), NC_NOERR);
    for (;;) {
        int64_t max_extents = tiny ? random_in(1, 3) : 64;
        int64_t max_bytes = tiny ? size * random_in(1, 5) + random_in(0, size - 1) : INT64_MAX;
        taken = pnc_select_cursor_take(&cursor, max_bytes, size, out, max_extents, &bytes);
        assert_true(taken <= max_extents && bytes <= max_bytes);
        if (taken == 0)
            break;
        for (int64_t i = 0; i < taken; i++) {
            assert_true(i == 0 || out[i].offset != out[i - 1].offset + out[i - 1].length);
            assert_true(out[i].length > 0 && out[i].length % size == 0);
            bytes -= out[i].length;
            for (int64_t b = 0; b < out[i].length; b += size) {
                assert_true(done < n);
                assert_int_equal(out[i].offset + b, offset[done++]);
            }
        }
        assert_int_equal(bytes, 0);
    }
    assert_int_equal(bytes, 0);
    assert_int_equal(done, n);
    pnc_select_cursor_free(&cursor);
}

/* Take whole runs row by row, as many as end at or before a random offset. */
static void compare_rows(const request *r, const pnc_selection *s, const int64_t *offset)
{
    const int64_t per_run = s->run / r->array.elem_size;
    const pnc_axis *inner = &pnc_select_selection_get_axes(s)[s->rank - 1];
    pnc_selection_cursor cursor;
    int64_t done = 0, first = -1, n;

    assert_int_equal(pnc_select_cursor_init(&cursor, s), NC_NOERR);
    while (done < s->nruns) {
        int64_t next = offset[done * per_run], high = next + s->run + random_in(-20, 100);

        n = pnc_select_cursor_take_row(&cursor, high, &first);
        if (next + s->run > high) {
            assert_int_equal(n, 0);
            continue;
        }
        assert_int_equal(first, next);
        assert_true(n > 0 && done + n <= s->nruns);
        for (int64_t i = 0; i < n; i++, done++)
            assert_int_equal(offset[done * per_run], first + i * inner->stride);
        assert_true(first + (n - 1) * inner->stride + s->run <= high);
        if (done < s->nruns && done % inner->count != 0) /* the row has another run */
            assert_true(offset[done * per_run] + s->run > high);
    }
    assert_int_equal(pnc_select_cursor_take_row(&cursor, INT64_MAX, &first), 0);
    pnc_select_cursor_free(&cursor);
}

/* Go to random offsets: the next byte is the first one of an element at or after the offset. */
static void compare_seeks(const request *r, const pnc_selection *s, const int64_t *offset, int64_t n)
{
    const int size = r->array.elem_size;

    for (int round = 0; round < 5; round++) {
        int64_t to = n > 0 ? random_in(offset[0] - 5, offset[n - 1] + size + 5) : 0, next = 0, bytes;
        pnc_selection_cursor cursor;
        pnc_extent out;

        while (next < n && offset[next] + size <= to)
            next++;
        assert_int_equal(pnc_select_cursor_init(&cursor, s), NC_NOERR);
        pnc_select_cursor_seek(&cursor, to);
        assert_int_equal(pnc_select_cursor_take(&cursor, 1, 1, &out, 1, &bytes), next < n);
        if (next < n)
            assert_int_equal(out.offset, offset[next] > to ? offset[next] : to);
        pnc_select_cursor_free(&cursor);
    }
}

static void test_against_nested_loops(void **state)
{
    static int64_t offset[MAX_ELEMENTS];
    (void)state;
    for (int round = 0; round < 20000; round++) {
        request r;
        pnc_selection s;
        random_request(&r, round % 5 ? 4 : MAX_RANK);
        int64_t n = expand(&r, offset);
        assert_int_equal(pnc_select_hyperslab_check(&r.array, r.start, r.count, r.stride,
                                                    (pnc_bounds){.relax = true, .numrecs = r.shape[0]}, NULL),
                         NC_NOERR);
        assert_int_equal(pnc_select_selection_init(&s, &r.array, r.start, r.count, r.stride), NC_NOERR);
        assert_int_equal(s.bytes, n * r.array.elem_size);
        assert_int_equal(s.run * s.nruns, s.bytes);
        pnc_selection copy = s; /* plain data: a copy walks like the original */
        compare_portions(&r, &copy, offset, n, false);
        compare_portions(&r, &s, offset, n, true);
        compare_seeks(&r, &s, offset, n);
        if (s.rank > 0)
            compare_rows(&r, &s, offset);
        pnc_select_selection_free(&s);
    }
}

static void select_all(pnc_selection *s, pnc_array *a, const int64_t *count)
{
    assert_int_equal(pnc_select_selection_init(s, a, NULL, count, NULL), NC_NOERR);
}

/* Axes that cannot be merged: from PNC_SELECTION_INLINE on, they have memory of their own. */
static void test_many_axes(void **state)
{
    static int64_t offset[MAX_ELEMENTS];
    (void)state;

    for (int ndims = 6; ndims <= MAX_RANK; ndims++) {
        request r = {.array = {.name = "v", .begin = 60, .elem_size = 2, .ndims = ndims}};
        pnc_selection s;

        r.array.shape = r.shape;
        for (int d = 0; d < ndims; d++) {
            r.shape[d] = 3;
            r.count[d] = r.stride[d] = 2;
        }
        int64_t n = expand(&r, offset);
        assert_int_equal(pnc_select_selection_init(&s, &r.array, r.start, r.count, r.stride), NC_NOERR);
        assert_int_equal(s.rank, ndims);
        assert_int_equal(s.bytes, 2 * n);
        compare_portions(&r, &s, offset, n, false);
        compare_portions(&r, &s, offset, n, true);
        compare_seeks(&r, &s, offset, n);
        pnc_select_selection_free(&s);
    }
}

static void test_collapse(void **state)
{
    pnc_selection s;
    (void)state;
    int64_t shape[] = {1000000, 2, 3}, slab[] = {1000000, 2, 2}, rows[] = {1000, 2, 3};
    pnc_array a = {.name = "v", .begin = 100, .elem_size = 4, .ndims = 3, .shape = shape};
    select_all(&s, &a, shape);
    assert_int_equal(s.rank, 0);
    assert_int_equal(s.run, 24000000);
    select_all(&s, &a, slab); /* two of three columns: the rows of both outer dimensions are one axis */
    assert_int_equal(s.rank, 1);
    assert_int_equal(s.run, 8);
    assert_int_equal(s.nruns, 2000000);
    a.is_record = true;
    a.recsize = 24;
    select_all(&s, &a, rows); /* the only record variable: records follow one another */
    assert_int_equal(s.rank, 0);
    assert_int_equal(s.run, 24000);
    a.recsize = 100;
    select_all(&s, &a, rows);
    assert_int_equal(s.rank, 1);
    assert_int_equal(s.run, 24);
    assert_int_equal(pnc_select_selection_get_axes(&s)[0].count, 1000);
    assert_int_equal(pnc_select_selection_get_axes(&s)[0].stride, 100);
}

static void test_column_of_every_other_row(void **state)
{
    pnc_selection s;
    pnc_selection_cursor cursor;
    pnc_extent out[8];
    int64_t bytes, shape[] = {10, 10}, start[] = {1, 9}, count[] = {3, 1}, stride[] = {2, 1};
    (void)state;
    pnc_array a = {.name = "v", .begin = 1000, .elem_size = 8, .ndims = 2, .shape = shape};
    assert_int_equal(pnc_select_selection_init(&s, &a, start, count, stride), NC_NOERR);
    assert_int_equal(pnc_select_cursor_init(&cursor, &s), NC_NOERR);
    assert_int_equal(pnc_select_cursor_take(&cursor, 1 << 20, 8, out, 8, &bytes), 3);
    assert_int_equal(bytes, 24);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(out[i].offset, 1000 + 8 * ((1 + 2 * i) * 10 + 9));
        assert_int_equal(out[i].length, 8);
    }
    assert_int_equal(pnc_select_cursor_take(&cursor, 1 << 20, 8, out, 8, &bytes), 0);
    pnc_select_cursor_free(&cursor);
}

static void test_records(void **state)
{
    int64_t shape[] = {2, 5}, start[] = {7, 0}, count[] = {3, 5}, none[] = {3, 0}, stride[] = {4, 1};
    (void)state;
    pnc_array a = {.name = "v", .elem_size = 4, .ndims = 2, .shape = shape, .is_record = true, .recsize = 20};
    assert_int_equal(pnc_select_hyperslab_count_records(&a, start, count, NULL), 10);
    assert_int_equal(pnc_select_hyperslab_count_records(&a, start, count, stride), 16);
    assert_int_equal(pnc_select_hyperslab_count_records(&a, start, NULL, NULL), 8);
    assert_int_equal(pnc_select_hyperslab_count_records(&a, start, none, NULL), 0);
    a.is_record = false;
    assert_int_equal(pnc_select_hyperslab_count_records(&a, start, count, NULL), 0);
}

/* Numbers that are exact where they are near 2^63. */
#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 wide;
#else
typedef long double wide;
#endif

/* The rules once more, by wide numbers of the compiler and in the words of the table of precedence. */
static int expected_code(const request *r, pnc_bounds how)
{
    const bool open = r->array.is_record && how.growing;
    for (int d = 0; d < r->array.ndims; d++) {
        bool bounded = !(d == 0 && open);
        if (r->start[d] < 0 || (bounded && r->start[d] > r->shape[d]))
            return NC_EINVALCOORDS;
        if (bounded && r->start[d] == r->shape[d] && !(how.relax && r->count[d] <= 0))
            return NC_EINVALCOORDS;
    }
    for (int d = 0; d < r->array.ndims; d++) {
        wide stride = r->stride[d] > 0 ? r->stride[d] : 1;
        if (r->count[d] < 0)
            return NC_ENEGATIVECNT;
        if (r->count[d] > 0 && !(d == 0 && open) && r->start[d] + (r->count[d] - 1) * stride >= r->shape[d])
            return NC_EEDGE;
    }
    for (int d = 0; d < r->array.ndims; d++)
        if (r->stride[d] <= 0)
            return NC_ESTRIDE;
    if (open && r->count[0] > 0) {
        wide row = (wide)r->array.elem_size, first = (wide)r->start[0];
        wide last = first + (wide)(r->count[0] - 1) * (wide)r->stride[0];
        for (int d = 1; d < r->array.ndims; d++)
            row *= r->shape[d];
        if (r->array.begin + first * r->array.recsize + row > INT64_MAX)
            return NC_EINVALCOORDS;
        if (last > INT64_MAX || r->array.begin + last * r->array.recsize + row > INT64_MAX)
            return NC_EEDGE;
    }
    return NC_NOERR;
}

static int64_t hostile(int64_t usual)
{
    static const int64_t odd[] = {
        0,          -1,         1,          INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_C(1) << 62, INT64_C(1) << 32,
        4294967295, 2147483648, -2147483648};
    return random_in(0, 7) ? usual : odd[random_in(0, 10)];
}

static void test_bounds_against_rules(void **state)
{
    int seen[300] = {0};
    (void)state;
    for (int round = 0; round < 200000; round++) {
        request r;
        pnc_selection s;
        random_request(&r, 3);
        for (int d = 0; d < r.array.ndims; d++) {
            r.start[d] = hostile(random_in(0, 3) ? r.start[d] : random_in(-1, r.shape[d] + 1));
            r.count[d] = hostile(random_in(0, 3) ? r.count[d] : random_in(-1, r.shape[d] + 1));
            r.stride[d] = hostile(random_in(0, 3) ? r.stride[d] : random_in(-1, 4));
        }
        pnc_bounds how = {.relax = random_in(0, 1), .growing = random_in(0, 1), .numrecs = r.shape[0]};
        pnc_error error = {0};
        int code = pnc_select_hyperslab_check(&r.array, r.start, r.count, r.stride, how, &error);
        assert_int_equal(code, expected_code(&r, how));
        assert_int_equal(error.code, code);
        assert_true((error.text[0] != 0) == (code != NC_NOERR));
        seen[-code]++;
        if (code != NC_NOERR)
            continue;
        assert_int_equal(pnc_select_selection_init(&s, &r.array, r.start, r.count, r.stride), NC_NOERR);
        pnc_select_selection_free(&s);
    }
    assert_true(seen[0] && seen[-NC_EINVALCOORDS] && seen[-NC_EEDGE] && seen[-NC_ENEGATIVECNT] && seen[-NC_ESTRIDE]);
}

typedef struct hyperslab {
    const int64_t *start, *count, *stride;
} hyperslab;

static void expect(int code, const char *text, const pnc_array *a, hyperslab slab, pnc_bounds how)
{
    pnc_error error = {0};
    if (a->ndims > 0)
        how.numrecs = a->shape[0];
    assert_int_equal(pnc_select_hyperslab_check(a, slab.start, slab.count, slab.stride, how, &error), code);
    assert_string_equal(error.text, text);
}

static void test_messages(void **state)
{
    int64_t shape[] = {3, 10}, far[] = {0, 12}, zero[] = {0, 0}, neg[] = {0, -2}, one[] = {1, 1}, big[] = {1, 11};
    int64_t four[] = {1, 4}, three[] = {1, 3}, late[] = {5, 0}, nostride[] = {1, 0};
    const char *const names[] = {"time", "lat"};
    const pnc_bounds strict = {0}, var1 = {.single = true};
    pnc_array a = {.name = "temp", .elem_size = 4, .ndims = 2, .shape = shape, .recsize = 40};
    (void)state;
    expect(NC_EINVALCOORDS, "start[1] = 12, but dimension 1 of variable \"temp\" has length 10", &a,
           (hyperslab){far, one, NULL}, strict);
    a.dim_names = names;
    expect(NC_EINVALCOORDS, "start[1] = 12, but dimension \"lat\" of variable \"temp\" has length 10", &a,
           (hyperslab){far, one, NULL}, strict);
    expect(NC_EINVALCOORDS, "start[1] = -2, dimension \"lat\" of variable \"temp\": must be at least 0", &a,
           (hyperslab){neg, one, NULL}, strict);
    expect(NC_EINVALCOORDS, "start is NULL: variable \"temp\" has 2 dimensions and needs a start index for each", &a,
           (hyperslab){NULL, NULL, NULL}, var1);
    expect(NC_EEDGE, "count is NULL: variable \"temp\" has 2 dimensions and needs a count for each", &a,
           (hyperslab){zero, NULL, NULL}, strict);
    expect(NC_NOERR, "", &a, (hyperslab){zero, NULL, NULL}, var1);
    expect(NC_EEDGE,
           "count[1] = 11 from start[1] = 0, but dimension \"lat\" of variable \"temp\" has length 10: at most 10 fit",
           &a, (hyperslab){zero, big, NULL}, strict);
    expect(NC_EEDGE,
           "count[1] = 4 from start[1] = 0 with stride[1] = 4, but dimension \"lat\" of variable \"temp\" has length "
           "10: at most 3 fit",
           &a, (hyperslab){zero, four, four}, strict);
    expect(NC_NOERR, "", &a, (hyperslab){zero, three, four}, strict);
    expect(NC_ENEGATIVECNT, "count[1] = -2, dimension \"lat\" of variable \"temp\": must not be negative", &a,
           (hyperslab){zero, neg, NULL}, (pnc_bounds){0});
    expect(NC_ESTRIDE, "stride[1] = 0, dimension \"lat\" of variable \"temp\": must be positive", &a,
           (hyperslab){zero, one, nostride}, strict);
    a.is_record = true;
    expect(NC_EINVALCOORDS, "start[0] = 5, but dimension \"time\" of variable \"temp\" has 3 records", &a,
           (hyperslab){late, one, NULL}, strict);
    expect(NC_NOERR, "", &a, (hyperslab){late, one, NULL}, (pnc_bounds){.growing = true});
}

/* A put adds records, as long as offsets have 63 bits: (2^63 - 1 - 40) / 40 + 1 records of 40 bytes. */
static void test_most_records(void **state)
{
    int64_t shape[] = {3, 10}, last[] = {230584300921369394L, 0}, beyond[] = {230584300921369395L, 0}, one[] = {1, 1},
            two[] = {2, 1};
    int64_t first[] = {0, 0}, far[] = {230584300921369394L, 1};
    const char *const names[] = {"time", "lat"};
    const pnc_bounds growing = {.growing = true};
    pnc_array a = {.name = "temp",
                   .elem_size = 4,
                   .ndims = 2,
                   .shape = shape,
                   .is_record = true,
                   .recsize = 40,
                   .dim_names = names};
    (void)state;

    expect(NC_NOERR, "", &a, (hyperslab){last, one, NULL}, growing);
    expect(
        NC_EINVALCOORDS,
        "start[0] = 230584300921369395, but a file can hold at most 230584300921369395 records: dimension \"time\" of "
        "variable \"temp\"",
        &a, (hyperslab){beyond, one, NULL}, growing);
    expect(NC_EEDGE,
           "count[0] = 2 from start[0] = 230584300921369394, but a file can hold at most 230584300921369395 records: "
           "dimension \"time\" of variable \"temp\"",
           &a, (hyperslab){last, two, NULL}, growing);
    expect(NC_NOERR, "", &a, (hyperslab){first, two, far}, growing);
    far[0]++;
    expect(NC_EEDGE,
           "count[0] = 2 from start[0] = 0, but a file can hold at most 230584300921369395 records: "
           "dimension \"time\" of variable \"temp\"",
           &a, (hyperslab){first, two, far}, growing);
}

static void test_scalar_ignores_arguments(void **state)
{
    pnc_selection s;
    pnc_array a = {.name = "s", .begin = 77, .elem_size = 8};
    (void)state;
    assert_int_equal(pnc_select_hyperslab_check(&a, NULL, NULL, NULL, (pnc_bounds){0}, NULL), NC_NOERR);
    assert_int_equal(pnc_select_selection_init(&s, &a, NULL, NULL, NULL), NC_NOERR);
    assert_int_equal(s.base, 77);
    assert_int_equal(s.bytes, 8);
    assert_int_equal(s.nruns, 1);
}

static void test_offsets_beyond_reach(void **state)
{
    pnc_selection s;
    int64_t shape[] = {0}, start[] = {INT64_MAX / 2}, count[] = {5}, zero[] = {0}, stride[] = {INT64_MAX / 4};
    pnc_array a = {
        .name = "v", .begin = 512, .elem_size = 8, .ndims = 1, .shape = shape, .is_record = true, .recsize = 8};
    (void)state;
    assert_int_equal(pnc_select_selection_init(&s, &a, start, count, NULL), NC_EINVALCOORDS);
    assert_int_equal(pnc_select_selection_init(&s, &a, zero, count, stride), NC_EINVALCOORDS);
    assert_int_equal(s.bytes, 0);
    /* the length of the slowest dimension does not matter */
    shape[0] = INT64_MAX;
    start[0] = 7;
    count[0] = 1;
    a.is_record = false;
    assert_int_equal(pnc_select_selection_init(&s, &a, start, count, NULL), NC_NOERR);
    assert_int_equal(s.base, 512 + 7 * 8);
}

static void expect_sieved(const pnc_extent *extents, int64_t n, int64_t some, int64_t bytes, int64_t end)
{
    const pnc_sieve_limits most = {.gap = 10, .extent = 100, .span = 200};
    pnc_sieved found = pnc_select_extents_count_sieved(extents, n, &most);

    assert_int_equal(found.n, some);
    assert_int_equal(found.bytes, bytes);
    assert_int_equal(found.span.offset, extents[0].offset);
    assert_int_equal(found.span.offset + found.span.length, end);
}

/* Offsets of n runs of 8 bytes along three axes. */
static int64_t list_runs(const pnc_axis *axes, pnc_extent *out)
{
    int64_t n = 0;

    for (int64_t i = 0; i < axes[0].count; i++)
        for (int64_t j = 0; j < axes[1].count; j++)
            for (int64_t k = 0; k < axes[2].count; k++)
                out[n++] = (pnc_extent){i * axes[0].stride + j * axes[1].stride + k * axes[2].stride, 8};
    return n;
}

static int64_t count_reads(const pnc_axis *axes, pnc_extent *runs)
{
    const pnc_sieve_limits most = pnc_select_sieve_get_limits(PNC_SIEVE_READ_GAP, PNC_SIEVE_READ_BYTES);
    int64_t n = list_runs(axes, runs), reads = 0;

    for (int64_t i = 0; i < n; reads++)
        i += pnc_select_extents_count_sieved(runs + i, n - i, &most).n;
    return reads;
}

/* As many reads as of the list of runs; if a sieve buffer does not end with a run, one of a hundred less. */
static void test_reads(void **state)
{
    enum { N = 40, DENSE = 16, FAR = PNC_SIEVE_READ_GAP + 8 };
    static const pnc_axis cases[][3] = {
        {{1, 0}, {1, 0}, {N, DENSE}},                             /* one line */
        {{1, 0}, {1, 0}, {N, FAR}},                               /* gaps are not read */
        {{1, 0}, {1, 0}, {N, FAR - 1}},                           /* the longest gap that is read */
        {{1, 0}, {N, N * DENSE}, {N, DENSE}},                     /* lines with small gaps between them */
        {{1, 0}, {N, N * DENSE + FAR}, {N, DENSE}},               /* a read of each line */
        {{1, 0}, {N, N * FAR}, {N, FAR}},                         /* a read of each run */
        {{N, N * N * DENSE}, {N, N * DENSE}, {N, DENSE}},         /* two buffers */
        {{N, N * N * FAR}, {N, N * DENSE}, {N, DENSE}},           /* a read of each plane */
        {{N, 2 * N * N * FAR}, {N, 2 * N * FAR}, {N, 2 * DENSE}}, /* a read of each line */
        {{N, 8}, {N, N * DENSE}, {N, DENSE * N * N}},             /* transposed: runs do not ascend */
        {{1, 0}, {N, 8}, {N, DENSE}},                             /* lines that overlap */
    };
    pnc_extent *runs = malloc(sizeof *runs * N * N * N);
    pnc_selection s;

    (void)state;
    assert_non_null(runs);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const pnc_axis *a = cases[i];
        int64_t reads = count_reads(a, runs), found;

        s = (pnc_selection){
            .run = 8, .nruns = a[0].count * a[1].count * a[2].count, .rank = 3, .small = {a[0], a[1], a[2]}};
        found = pnc_select_selection_count_reads(&s, PNC_SIEVE_READ_BYTES);
        assert_in_range(found, reads - reads / 100, reads);
    }
    free(runs);
    s = (pnc_selection){.nruns = 0};
    assert_int_equal(pnc_select_selection_count_reads(&s, 1 << 20), 0);
    s = (pnc_selection){.run = 1 << 30, .nruns = 1};
    assert_int_equal(pnc_select_selection_count_reads(&s, 1 << 20), 1);
    s = (pnc_selection){.run = PNC_SIEVE_LARGE, .nruns = 10, .rank = 1, .small = {{10, PNC_SIEVE_LARGE + 8}}};
    assert_int_equal(pnc_select_selection_count_reads(&s, 1 << 20), 10);
    s.run = PNC_SIEVE_LARGE - 1;
    assert_int_equal(pnc_select_selection_count_reads(&s, 1 << 20), 1);
    assert_int_equal(pnc_select_selection_count_reads(&s, 10000), 5);
}

static void test_sieved(void **state)
{
    (void)state;
    expect_sieved((pnc_extent[]){{5, 8}}, 1, 1, 8, 13);
    expect_sieved((pnc_extent[]){{5, 8}, {13, 8}, {31, 8}}, 3, 3, 24, 39);   /* gaps of 0 and of 10 */
    expect_sieved((pnc_extent[]){{5, 8}, {24, 8}}, 2, 1, 8, 13);             /* a gap of 11 */
    expect_sieved((pnc_extent[]){{5, 8}, {12, 8}}, 2, 1, 8, 13);             /* they overlap */
    expect_sieved((pnc_extent[]){{5, 100}, {105, 100}}, 2, 2, 200, 205);     /* the longest extents and span */
    expect_sieved((pnc_extent[]){{5, 100}, {106, 100}}, 2, 1, 100, 105);     /* a span of 201 */
    expect_sieved((pnc_extent[]){{5, 101}, {106, 8}}, 2, 1, 101, 106);       /* the first is too long */
    expect_sieved((pnc_extent[]){{5, 8}, {13, 101}, {114, 8}}, 3, 1, 8, 13); /* the second is too long */
}

/* On average: extents of at most 100 bytes, gaps of at most 10. */
static void test_dense(void **state)
{
    const pnc_sieve_limits most = {.gap = 10, .extent = 100, .span = 200};
    (void)state;

    assert_true(pnc_select_extents_is_dense((pnc_extent[]){{5, 150}, {175, 50}}, 2, &most));  /* a gap of 20 */
    assert_false(pnc_select_extents_is_dense((pnc_extent[]){{5, 150}, {177, 50}}, 2, &most)); /* of 22 */
    assert_false(pnc_select_extents_is_dense((pnc_extent[]){{5, 150}, {155, 52}}, 2, &most)); /* too long */
    assert_false(pnc_select_extents_is_dense((pnc_extent[]){{5, 50}, {54, 50}}, 2, &most));   /* they overlap */
    assert_true(pnc_select_extents_is_dense((pnc_extent[]){{5, 50}, {55, 50}}, 2, &most));
}

static int check_cube(const pnc_array *a, pnc_bounds how, const int64_t *n, pnc_error *error)
{
    return pnc_select_hyperslab_check(a, n, n + 3, NULL, how, error);
}

/* Several unlimited dimensions: reads end at the current lengths, writes nowhere. */
static void test_unlimited_dimensions(void **state)
{
    const int64_t shape[] = {0, 5, 0}, lengths[] = {0, 0, 4};
    const bool unlimited[] = {true, false, true};
    const pnc_array a = {.name = "v", .elem_size = 4, .ndims = 3, .shape = shape, .is_record = true};
    pnc_bounds how = {.numrecs = 3, .unlimited = unlimited, .lengths = lengths};
    pnc_error error = {0};
    (void)state;

    for (int growing = 0; growing <= 1; growing++) {
        how.growing = growing;
        assert_int_equal(check_cube(&a, how, (int64_t[]){0, 0, 0, 3, 5, 4}, &error), NC_NOERR);
        assert_int_equal(check_cube(&a, how, (int64_t[]){0, 0, 0, 4, 5, 4}, &error), growing ? NC_NOERR : NC_EEDGE);
        assert_int_equal(check_cube(&a, how, (int64_t[]){0, 0, 1, 3, 5, 4}, &error), growing ? NC_NOERR : NC_EEDGE);
        assert_int_equal(check_cube(&a, how, (int64_t[]){0, 0, 4, 1, 1, 1}, &error),
                         growing ? NC_NOERR : NC_EINVALCOORDS);
        assert_int_equal(check_cube(&a, how, (int64_t[]){0, 1, 0, 1, 5, 1}, &error), NC_EEDGE);
        assert_int_equal(check_cube(&a, how, (int64_t[]){0, 0, 2, 1, 1, INT64_MAX}, &error), NC_EEDGE);
        assert_int_equal(check_cube(&a, how, (int64_t[]){0, 0, INT64_MAX, 1, 1, 1}, &error), NC_EINVALCOORDS);
    }
    how.growing = false;
    pnc_error_clear(&error);
    assert_int_equal(check_cube(&a, how, (int64_t[]){0, 0, 1, 3, 5, 4}, &error), NC_EEDGE);
    assert_non_null(strstr(error.text, "dimension 2 of variable \"v\" has length 4: at most 3 fit"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unlimited_dimensions),
        cmocka_unit_test(test_against_nested_loops),
        cmocka_unit_test(test_collapse),
        cmocka_unit_test(test_column_of_every_other_row),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_bounds_against_rules),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_scalar_ignores_arguments),
        cmocka_unit_test(test_offsets_beyond_reach),
        cmocka_unit_test(test_many_axes),
        cmocka_unit_test(test_most_records),
        cmocka_unit_test(test_sieved),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_dense),
    };
    return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
