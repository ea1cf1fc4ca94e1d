/* Calls with several selections: varn, with many blocks of one variable; vard, with an MPI datatype that selects bytes
 * of the file; mput and mget, with several variables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "../expect.h"
#include "../naive.h"

enum { NY = 6, PER_RANK = 10, BLOCKS = 4, ELEMENTS = 9 };
enum { DIM_T, DIM_Y, DIM_X };

static char path[4096];
static MPI_Offset nx, mine; /* columns in all, and the first one of this rank */

/* t (unlimited), y, x with 10 columns for each rank. */
static int create_with_hints(int cmode, MPI_Info info)
{
    int ncid = -1, id;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, info, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &id) == NC_NOERR && id == DIM_T, "def_dim t");
    t_local(ncmpi_def_dim(ncid, "y", NY, &id) == NC_NOERR && id == DIM_Y, "def_dim y");
    t_local(ncmpi_def_dim(ncid, "x", nx, &id) == NC_NOERR && id == DIM_X, "def_dim x");
    return ncid;
}

static int create(int cmode)
{
    return create_with_hints(cmode, MPI_INFO_NULL);
}

static int define(int ncid, const char *name, nc_type type, int ndims, const int *dims)
{
    int id = -1;
    t_local(ncmpi_def_var(ncid, name, type, ndims, dims, &id) == NC_NOERR, "def_var %s", name);
    return id;
}

/* --- varn --- */

/* Four blocks of 2, 4, 1 and 2 elements within this rank's columns, not in the order of the file. */
struct blocks {
    MPI_Offset start[BLOCKS][2], count[BLOCKS][2], *starts[BLOCKS], *counts[BLOCKS];
};

static void make_blocks(struct blocks *b)
{
    static const MPI_Offset places[BLOCKS][4] = {{3, 5, 1, 2}, {0, 0, 2, 2}, {5, 9, 1, 1}, {4, 3, 2, 1}};
    for (int i = 0; i < BLOCKS; i++) {
        b->start[i][0] = places[i][0];
        b->start[i][1] = mine + places[i][1];
        b->count[i][0] = places[i][2];
        b->count[i][1] = places[i][3];
        b->starts[i] = b->start[i];
        b->counts[i] = b->count[i];
    }
}

/* The number of the element at a place of this rank in the order of the blocks, or -1; by hand, from the list above. */
static int number_at(int y, int x)
{
    static const int table[ELEMENTS][2] = {{3, 5}, {3, 6}, {0, 0}, {0, 1}, {1, 0}, {1, 1}, {5, 9}, {4, 3}, {5, 3}};
    for (int i = 0; i < ELEMENTS; i++)
        if (table[i][0] == y && table[i][1] == x)
            return i;
    return -1;
}

/* All of this rank's columns, read with one vara, hold -1 but for the elements of the blocks. */
static bool blocks_hold(int ncid, int varid, int first)
{
    MPI_Offset start[2] = {0, mine}, count[2] = {NY, PER_RANK};
    double got[NY][PER_RANK];
    bool same = true;
    int code = ncmpi_get_vara_double_all(ncid, varid, start, count, &got[0][0]);
    t_local(code == NC_NOERR, "get: %s", ncmpi_strerrno(code));
    for (int y = 0; y < NY; y++) {
        for (int x = 0; x < PER_RANK; x++) {
            int number = number_at(y, x), wanted = number < 0 ? -1 : first + number;
            same = t_local(got[y][x] == wanted, "place %d %d holds %g, not %d", y, x, got[y][x], wanted) && same;
        }
    }
    return same;
}

static void blank(int ncid, int varid)
{
    signed char all[NY * PER_RANK];
    MPI_Offset start[2] = {0, mine}, count[2] = {NY, PER_RANK};
    memset(all, -1, sizeof all);
    int code = ncmpi_put_vara_schar_all(ncid, varid, start, count, all);
    t_local(code == NC_NOERR, "put: %s", ncmpi_strerrno(code));
}

/* Every type of memory, into a fixed and a record variable of type double. */
static void test_types(bool collective)
{
    int ncid = create(0), dims[2] = {DIM_T, DIM_X}, ids[2];
    struct blocks b;
    make_blocks(&b);
    ids[0] = define(ncid, "fixed", NC_DOUBLE, 2, (int[]){DIM_Y, DIM_X});
    ids[1] = define(ncid, "record", NC_DOUBLE, 2, dims);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    for (int memory = M_TEXT + 1; memory < MEMORIES; memory++) {
        for (int k = 0; k < 2; k++) {
            char values[ELEMENTS * 8], got[ELEMENTS * 8];
            struct call c = {true,
                             collective,
                             false,
                             NOW,
                             VARN,
                             (enum memory)memory,
                             .num = BLOCKS,
                             .starts = b.starts,
                             .counts = b.counts,
                             .buffer = values};
            size_t size = memory_types[memory].size;
            blank(ncid, ids[k]);
            if (!collective)
                t_local(ncmpi_begin_indep_data(ncid) == NC_NOERR, "begin_indep_data");
            for (int i = 0; i < ELEMENTS; i++)
                naive_store(c.memory, values + (size_t)i * size, 10 * t_rank + i);
            memset(got, 0, sizeof got);
            t_local(call_run(ncid, ids[k], &c) == NC_NOERR, "put_varn_%s", memory_types[memory].name);
            c.put = false;
            c.buffer = got;
            t_local(call_run(ncid, ids[k], &c) == NC_NOERR, "get_varn_%s", memory_types[memory].name);
            t_local(memcmp(values, got, ELEMENTS * size) == 0, "get_varn_%s: values", memory_types[memory].name);
            if (!collective)
                t_local(ncmpi_end_indep_data(ncid) == NC_NOERR, "end_indep_data");
            blocks_hold(ncid, ids[k], 10 * t_rank);
            t_check(true, "%s varn of %s, %s variable", collective ? "collective" : "independent",
                    memory_types[memory].name, k == 0 ? "fixed" : "record");
        }
    }
    expect_ok(ncmpi_close(ncid), "close");
}

/* Without counts, and with single counts missing, a block is one element. */
static void test_null_counts(void)
{
    int ncid = create(0), values[3] = {7, 8, 9}, got[3] = {0}, text, scalar;
    struct blocks b;
    MPI_Offset *counts[3];
    int id = define(ncid, "v", NC_INT, 2, (int[]){DIM_Y, DIM_X});
    text = define(ncid, "text", NC_CHAR, 1, (int[]){DIM_X});
    scalar = define(ncid, "scalar", NC_INT, 0, NULL);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    make_blocks(&b);
    blank(ncid, id);
    expect_ok(ncmpi_put_varn_int_all(ncid, id, 3, b.starts, NULL, values), "put_varn, counts NULL");
    expect_ok(ncmpi_get_var1_int_all(ncid, id, b.start[1], got), "get the second");
    t_check(got[0] == 8, "it holds %d", got[0]);
    counts[0] = NULL;
    counts[1] = (MPI_Offset[]){1, 2};
    counts[2] = NULL;
    expect_ok(ncmpi_get_varn_int_all(ncid, id, 2, b.starts, counts, got), "get_varn, counts[0] NULL");
    t_check(got[0] == 7 && got[1] == 8 && got[2] == -1, "got %d %d %d", got[0], got[1], got[2]);
    MPI_Offset end = mine + 9, begin = mine, *places[2] = {&end, &begin};
    char two[3] = "";
    expect_ok(ncmpi_put_varn_text_all(ncid, text, 2, places, NULL, "zx"), "put_varn_text");
    expect_ok(ncmpi_get_varn_text_all(ncid, text, 2, places, NULL, two), "get_varn_text");
    char at = 0;
    t_local(ncmpi_get_var1_text_all(ncid, text, &begin, &at) == NC_NOERR && at == 'x', "first is %c", at);
    t_check(strcmp(two, "zx") == 0, "got %s", two);
    expect_ok(ncmpi_put_varn_int_all(ncid, scalar, 1, NULL, NULL, values), "put_varn to a scalar, starts NULL");
    expect_ok(ncmpi_get_varn_int_all(ncid, scalar, 1, b.starts, b.counts, got), "get_varn of a scalar");
    expect_code(ncmpi_put_varn_int_all(ncid, scalar, 2, NULL, NULL, values), NC_EINVAL, "two blocks of a scalar");
    t_check(got[0] == 7, "got %d", got[0]);
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_uneven_blocks(void)
{
    int ncid = create(0), values[64];
    int id = define(ncid, "record", NC_INT, 2, (int[]){DIM_T, DIM_X});
    MPI_Offset start[64][2], *starts[64], n = -1;
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    int num = 3 * t_rank < 64 ? 3 * t_rank : 63; /* none on rank 0 */
    for (int i = 0; i < num; i++) {
        start[i][0] = 2 * i;
        start[i][1] = mine + i % PER_RANK;
        starts[i] = start[i];
        values[i] = 1000 * t_rank + i;
    }
    expect_ok(ncmpi_put_varn_int_all(ncid, id, num, starts, NULL, values), "put_varn of 3 r blocks on rank r");
    MPI_Offset records = t_nprocs > 1 ? 2 * (3 * (t_nprocs - 1) - 1) + 1 : 0;
    t_check(ncmpi_inq_dimlen(ncid, DIM_T, &n) == NC_NOERR && n == records, "%lld records of %lld", (long long)n,
            (long long)records);
    memset(values, 0, sizeof values);
    expect_ok(ncmpi_get_varn_int_all(ncid, id, num, starts, NULL, values), "get_varn of as many");
    for (int i = 0; i < num; i++)
        t_local(values[i] == 1000 * t_rank + i, "block %d holds %d", i, values[i]);
    t_check(true, "values are right");
    expect_ok(ncmpi_put_varn_int_all(ncid, id, 0, NULL, NULL, NULL), "put_varn of no blocks anywhere");
    expect_ok(ncmpi_put_varn_all(ncid, id, 0, NULL, NULL, NULL, 0, MPI_INT), "flexible put_varn of no blocks anywhere");
    MPI_Offset none[2] = {0, 0}, *counts[1] = {none}, *zero[1] = {none};
    expect_ok(ncmpi_put_varn_int_all(ncid, id, 1, zero, counts, NULL), "put_varn of a block of nothing");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_varn_flexible(void)
{
    int ncid = create(0), id = define(ncid, "v", NC_SHORT, 2, (int[]){DIM_Y, DIM_X}), values[3 * ELEMENTS];
    struct blocks b;
    MPI_Datatype third;
    make_blocks(&b);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    MPI_Type_vector(ELEMENTS, 1, 3, MPI_INT, &third);
    MPI_Type_commit(&third);
    blank(ncid, id);
    for (int i = 0; i < 3 * ELEMENTS; i++)
        values[i] = i % 3 == 0 ? 10 * t_rank + i / 3 : -99;
    expect_ok(ncmpi_put_varn_all(ncid, id, BLOCKS, b.starts, b.counts, values, 1, third),
              "put_varn of every third int");
    t_check(blocks_hold(ncid, id, 10 * t_rank), "values are right");
    int got[3 * ELEMENTS];
    memset(got, 0x22, sizeof got);
    expect_ok(ncmpi_get_varn_all(ncid, id, BLOCKS, b.starts, b.counts, got, 1, third), "get_varn to every third int");
    for (int i = 0; i < 3 * ELEMENTS - 2; i++)
        t_local(got[i] == (i % 3 == 0 ? 10 * t_rank + i / 3 : 0x22222222), "int %d is %d", i, got[i]);
    t_check(true, "values are right, gaps as before");
    short shorts[ELEMENTS];
    expect_ok(ncmpi_get_varn_all(ncid, id, BLOCKS, b.starts, b.counts, shorts, 0, MPI_DATATYPE_NULL),
              "get_varn with MPI_DATATYPE_NULL");
    t_check(shorts[0] == 10 * t_rank && shorts[8] == 10 * t_rank + 8, "got %d ... %d", shorts[0], shorts[8]);
    expect_code(ncmpi_get_varn_all(ncid, id, BLOCKS, b.starts, b.counts, got, ELEMENTS - 1, MPI_INT), NC_EIOMISMATCH,
                "get_varn, bufcount too small");
    MPI_Type_free(&third);
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_varn_errors(void)
{
    int ncid = create(0), id = define(ncid, "v", NC_BYTE, 2, (int[]){DIM_Y, DIM_X}), values[ELEMENTS] = {0};
    struct blocks b;
    make_blocks(&b);
    expect_code(ncmpi_put_varn_int_all(ncid, id, BLOCKS, b.starts, b.counts, values), NC_EINDEFINE, "in define mode");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    blank(ncid, id);
    expect_code(ncmpi_put_varn_int(ncid, id, BLOCKS, b.starts, b.counts, values), NC_ENOTINDEP, "in collective mode");
    expect_code(ncmpi_put_varn_int_all(ncid, 99, BLOCKS, NULL, NULL, NULL), NC_ENOTVAR, "unknown variable");
    expect_code(ncmpi_put_varn_int_all(ncid, id, 1, NULL, NULL, values), NC_ENULLSTART, "starts NULL");
    expect_code(ncmpi_get_varn_int_all(ncid, id, 1, NULL, b.counts, values), NC_ENULLSTART, "get: starts NULL");
    expect_code(ncmpi_put_varn_text_all(ncid, id, BLOCKS, b.starts, b.counts, "123456789"), NC_ECHAR,
                "text to NC_BYTE");
    expect_code(ncmpi_put_varn_int_all(ncid, id, BLOCKS, b.starts, b.counts, NULL), NC_EINVAL, "buffer NULL");
    expect_code(ncmpi_put_varn_int_all(ncid, id, -1, b.starts, b.counts, values), NC_EINVAL, "-1 blocks");
    expect_code(ncmpi_mput_vara_int_all(ncid, -1, &id, b.starts, b.counts, (int *[]){values}), NC_EINVAL,
                "mput: -1 variables");
    b.count[2][0] = -1;
    expect_code(ncmpi_put_varn_int_all(ncid, id, BLOCKS, b.starts, b.counts, values), NC_ENEGATIVECNT,
                "negative count in the third block");
    b.count[2][0] = 2;
    expect_code(ncmpi_put_varn_int_all(ncid, id, BLOCKS, b.starts, b.counts, values), NC_EEDGE, "third block too high");
    b.count[2][0] = 1;
    b.start[2][0] = t_rank == 0 ? NY : 5; /* wrong on one rank: the others write */
    for (int i = 0; i < ELEMENTS; i++)
        values[i] = 10 * t_rank + i;
    expect_code(ncmpi_put_varn_int_all(ncid, id, BLOCKS, b.starts, b.counts, values),
                t_rank == 0 ? NC_EINVALCOORDS : NC_NOERR, "third block starts beyond, on rank 0");
    bool first_untouched = true;
    if (t_rank == 0) {
        signed char got[2];
        MPI_Offset start[2] = {3, 5}, count[2] = {1, 2};
        ncmpi_begin_indep_data(ncid);
        first_untouched = ncmpi_get_vara_schar(ncid, id, start, count, got) == NC_NOERR && got[0] == -1 && got[1] == -1;
    } else {
        ncmpi_begin_indep_data(ncid);
    }
    ncmpi_end_indep_data(ncid);
    t_check(first_untouched, "rank 0 wrote nothing");
    if (t_rank > 0)
        blocks_hold(ncid, id, 10 * t_rank);
    else /* a collective call that rank 0 takes part in as well */
        t_local(ncmpi_get_var1_schar_all(ncid, id, (MPI_Offset[]){0, 0}, (signed char[1]){0}) == NC_NOERR, "get");
    t_check(true, "the other ranks wrote their blocks");
    values[4] = 1000;
    b.start[2][0] = 5;
    expect_code(ncmpi_put_varn_int_all(ncid, id, BLOCKS, b.starts, b.counts, values), NC_ERANGE, "1000 to NC_BYTE");
    signed char got[ELEMENTS];
    expect_ok(ncmpi_get_varn_schar_all(ncid, id, BLOCKS, b.starts, b.counts, got), "get them");
    t_check(got[4] == -127 && got[3] == 10 * t_rank + 3 && got[5] == 10 * t_rank + 5, "stored the fill value for it");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Blocks that overlap within one call: the later one wins, in small and in large blocks. */
static void test_varn_overlap(int length)
{
    enum { N = 7 };
    MPI_Offset starts[N], counts[N], *at[N], *of[N], first = (MPI_Offset)length * N * t_rank,
                                                     all = (MPI_Offset)length * N;
    int ncid = -1, dim, id, *values = malloc((size_t)all * sizeof *values), *model = calloc((size_t)all, sizeof *model);
    int *got = calloc((size_t)all, sizeof *got);
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "x", all * t_nprocs, &dim) == NC_NOERR, "def_dim");
    id = define(ncid, "v", NC_INT, 1, &dim);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(ncmpi_put_vara_int_all(ncid, id, &first, &all, model) == NC_NOERR, "put");
    for (int i = 0; i < N; i++) {
        MPI_Offset offset = (i * 5 % N) * (MPI_Offset)length / 2;
        starts[i] = first + offset;
        counts[i] = length;
        at[i] = &starts[i];
        of[i] = &counts[i];
        for (int k = 0; k < length; k++)
            model[offset + k] = values[(MPI_Offset)i * length + k] = 1 + i * length + k;
    }
    expect_ok(ncmpi_put_varn_int_all(ncid, id, N, at, of, values), "put_varn of blocks that overlap");
    t_local(ncmpi_get_vara_int_all(ncid, id, &first, &all, got) == NC_NOERR, "get");
    t_check(memcmp(got, model, (size_t)all * sizeof *got) == 0, "the later block of %d ints wins", length);
    expect_ok(ncmpi_close(ncid), "close");
    free(values);
    free(model);
    free(got);
}

/* --- vard --- */

/* This rank's columns of all rows but the first, of one fixed variable. */
static MPI_Datatype columns(MPI_Datatype type)
{
    MPI_Datatype made;
    MPI_Type_create_subarray(2, (int[]){NY, (int)nx}, (int[]){NY - 1, PER_RANK}, (int[]){1, (int)mine}, MPI_ORDER_C,
                             type, &made);
    MPI_Type_commit(&made);
    return made;
}

static void test_vard(bool collective)
{
    int ncid = create(0), values[NY - 1][PER_RANK], got[NY - 1][PER_RANK], all[NY][PER_RANK], code;
    int id = define(ncid, "v", NC_INT, 2, (int[]){DIM_Y, DIM_X}),
        shorts = define(ncid, "s", NC_SHORT, 2, (int[]){1, 2});
    MPI_Datatype file = columns(MPI_INT), file_of_shorts = columns(MPI_SHORT);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    blank(ncid, id);
    for (int i = 0; i < (NY - 1) * PER_RANK; i++)
        values[i / PER_RANK][i % PER_RANK] = 1000 * t_rank + i;
    if (!collective)
        ncmpi_begin_indep_data(ncid);
    code = collective ? ncmpi_put_vard_all(ncid, id, file, values, (NY - 1) * PER_RANK, MPI_INT)
                      : ncmpi_put_vard(ncid, id, file, values, (NY - 1) * PER_RANK, MPI_INT);
    expect_ok(code, "put_vard with a subarray as filetype");
    code = collective ? ncmpi_get_vard_all(ncid, id, file, got, 0, MPI_DATATYPE_NULL)
                      : ncmpi_get_vard(ncid, id, file, got, 0, MPI_DATATYPE_NULL);
    expect_ok(code, "get_vard with MPI_DATATYPE_NULL as buftype");
    t_check(memcmp(got, values, sizeof got) == 0, "got what was put");
    code = collective ? ncmpi_put_vard_all(ncid, shorts, file_of_shorts, values, (NY - 1) * PER_RANK, MPI_INT)
                      : ncmpi_put_vard(ncid, shorts, file_of_shorts, values, (NY - 1) * PER_RANK, MPI_INT);
    expect_ok(code, "put_vard with conversion of ints to a variable of shorts");
    if (!collective)
        ncmpi_end_indep_data(ncid);
    t_local(ncmpi_get_vara_int_all(ncid, id, (MPI_Offset[]){0, mine}, (MPI_Offset[]){NY, PER_RANK}, all[0]) == NC_NOERR,
            "get");
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < PER_RANK; x++)
            t_local(all[y][x] == (y == 0 ? -1 : values[y - 1][x]), "place %d %d holds %d", y, x, all[y][x]);
    t_check(true, "the data is at its place");
    t_local(ncmpi_get_vara_int_all(ncid, shorts, (MPI_Offset[]){1, mine}, (MPI_Offset[]){NY - 1, PER_RANK}, got[0]) ==
                NC_NOERR,
            "get");
    t_check(memcmp(got, values, sizeof got) == 0, "shorts as well");
    MPI_Type_free(&file);
    MPI_Type_free(&file_of_shorts);
    expect_ok(ncmpi_close(ncid), "close");
}

/* Indexed filetype over records, whose distance in the file is the record size. */
static void test_vard_records(void)
{
    int ncid = create(0), values[4] = {40, 30, 20, 10}, got[4] = {0}, one = 0;
    int id = define(ncid, "v", NC_INT, 2, (int[]){DIM_T, DIM_X});
    define(ncid, "other", NC_DOUBLE, 2, (int[]){DIM_T, DIM_X});
    MPI_Offset recsize = 0, n = -1;
    MPI_Datatype file;
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(ncmpi_inq_recsize(ncid, &recsize) == NC_NOERR && recsize == nx * 12, "record of %lld", (long long)recsize);
    MPI_Aint places[4] = {4 * (mine + 1), 4 * (mine + 2), (MPI_Aint)(2 * recsize + 4 * mine), (MPI_Aint)(3 * recsize)};
    places[3] += 4 * (mine + 5);
    MPI_Type_create_hindexed_block(4, 1, places, MPI_INT, &file);
    MPI_Type_commit(&file);
    expect_code(ncmpi_get_vard_all(ncid, id, file, got, 4, MPI_INT), NC_EINVALCOORDS, "get_vard beyond the records");
    expect_ok(ncmpi_put_vard_all(ncid, id, file, values, 4, MPI_INT), "put_vard over records");
    t_check(ncmpi_inq_dimlen(ncid, DIM_T, &n) == NC_NOERR && n == 4, "4 records, got %lld", (long long)n);
    expect_ok(ncmpi_get_vard_all(ncid, id, file, got, 4, MPI_INT), "get_vard over records");
    t_check(memcmp(got, values, sizeof got) == 0, "got what was put");
    expect_ok(ncmpi_get_var1_int_all(ncid, id, (MPI_Offset[]){3, mine + 5}, &one), "get the last");
    t_check(one == 10, "it is 10, got %d", one);
    MPI_Type_free(&file);
    expect_ok(ncmpi_close(ncid), "close");
}

/* Filetypes that reach from the variable into others: this rank's columns of three fixed-size ones and of two record
 * variables, whichever is named, in one call. */
static void test_vard_several(bool collective)
{
    enum { N = 3 };
    int ncid = create(0), id[5], values[N * PER_RANK], got[N * PER_RANK], code;
    MPI_Offset at[5], recsize = 0, n = -1;
    for (int i = 0; i < N; i++)
        id[i] = define(ncid, (char[]){(char)('a' + i), 0}, NC_INT, 1, (int[]){DIM_X});
    id[3] = define(ncid, "t", NC_INT, 2, (int[]){DIM_T, DIM_X});
    id[4] = define(ncid, "u", NC_INT, 2, (int[]){DIM_T, DIM_X});
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    for (int i = 0; i < 5; i++)
        ncmpi_inq_varoffset(ncid, id[i], &at[i]);
    ncmpi_inq_recsize(ncid, &recsize);
    for (int named = 0; named < 5; named++) {
        MPI_Aint fixed[N], records[N]; /* all fixed-size variables; u of record 0, t and u of record `named` + 1 */
        MPI_Datatype file[2];
        for (int i = 0; i < N; i++)
            fixed[i] = (MPI_Aint)(at[i] - at[named] + 4 * mine);
        records[0] = (MPI_Aint)(at[4] - at[named] + 4 * mine);
        records[1] = (MPI_Aint)(at[3] + (named + 1) * recsize - at[named] + 4 * mine);
        records[2] = (MPI_Aint)(at[4] + (named + 1) * recsize - at[named] + 4 * mine);
        MPI_Type_create_hindexed_block(N, PER_RANK, fixed, MPI_INT, &file[0]);
        MPI_Type_create_hindexed_block(N, PER_RANK, records, MPI_INT, &file[1]);
        if (!collective)
            ncmpi_begin_indep_data(ncid);
        for (int k = 0; k < 2; k++) {
            MPI_Type_commit(&file[k]);
            for (int i = 0; i < N * PER_RANK; i++)
                values[i] = 100000 * named + 10000 * k + 1000 * t_rank + i;
            code = collective ? ncmpi_put_vard_all(ncid, id[named], file[k], values, N * PER_RANK, MPI_INT)
                              : ncmpi_put_vard(ncid, id[named], file[k], values, N * PER_RANK, MPI_INT);
            t_local(code == NC_NOERR, "put_vard: %s", ncmpi_strerrno(code));
            code = collective ? ncmpi_get_vard_all(ncid, id[named], file[k], got, N * PER_RANK, MPI_INT)
                              : ncmpi_get_vard(ncid, id[named], file[k], got, N * PER_RANK, MPI_INT);
            t_local(code == NC_NOERR && memcmp(got, values, sizeof got) == 0, "get_vard: %s", ncmpi_strerrno(code));
            MPI_Type_free(&file[k]);
        }
        if (!collective)
            ncmpi_end_indep_data(ncid);
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < N; i++) {
                int varid = k == 0 ? id[i] : id[i == 1 ? 3 : 4];
                MPI_Offset start[2] = {i == 0 ? 0 : named + 1, mine}, count[2] = {1, PER_RANK};
                code = k == 0 ? ncmpi_get_vara_int_all(ncid, varid, start + 1, count + 1, got)
                              : ncmpi_get_vara_int_all(ncid, varid, start, count, got);
                t_local(code == NC_NOERR, "get: %s", ncmpi_strerrno(code));
                for (int x = 0; x < PER_RANK; x++) {
                    int wanted = 100000 * named + 10000 * k + 1000 * t_rank + i * PER_RANK + x;
                    t_local(got[x] == wanted, "type %d, part %d: %d, not %d", k, i, got[x], wanted);
                }
            }
        t_check(ncmpi_inq_dimlen(ncid, DIM_T, &n) == NC_NOERR && n == named + 2,
                "%s vard of variable %d into the others: %lld records", collective ? "collective" : "independent",
                named, (long long)n);
    }
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_vard_errors(void)
{
    int ncid = create(0), values[2 * NY * PER_RANK] = {0}, id = define(ncid, "v", NC_INT, 2, (int[]){DIM_Y, DIM_X});
    int text = define(ncid, "text", NC_CHAR, 1, (int[]){DIM_X});
    MPI_Datatype file = columns(MPI_INT), floats = columns(MPI_FLOAT), beyond, before, chars, bytes;
    MPI_Type_contiguous((int)(nx * NY + nx), MPI_INT, &beyond); /* text is the last variable */
    MPI_Type_create_hindexed_block(1, 1, (MPI_Aint[]){-4}, MPI_INT, &before);
    MPI_Type_contiguous(2, MPI_CHAR, &chars);
    MPI_Type_commit(&beyond);
    MPI_Type_commit(&before);
    MPI_Type_commit(&chars);
    int n = (NY - 1) * PER_RANK;
    MPI_Type_contiguous(4 * n, MPI_BYTE, &bytes);
    MPI_Type_commit(&bytes);
    expect_code(ncmpi_put_vard_all(ncid, id, file, values, n, MPI_INT), NC_EINDEFINE, "put_vard in define mode");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    expect_code(ncmpi_put_vard(ncid, id, file, values, n, MPI_INT), NC_ENOTINDEP, "put_vard in collective mode");
    expect_code(ncmpi_put_vard_all(ncid, 99, file, values, n, MPI_INT), NC_ENOTVAR, "put_vard: unknown variable");
    expect_code(ncmpi_put_vard_all(ncid, id, floats, values, n, MPI_INT), NC_ETYPE_MISMATCH,
                "put_vard: filetype of floats for a variable of ints");
    expect_code(ncmpi_put_vard_all(ncid, id, file, values, n - 1, MPI_INT), NC_EIOMISMATCH,
                "put_vard: buffer smaller than the filetype");
    expect_code(ncmpi_put_vard_all(ncid, id, file, values, n + 1, MPI_INT), NC_EIOMISMATCH,
                "put_vard: buffer larger than the filetype");
    expect_code(ncmpi_put_vard_all(ncid, id, beyond, values, nx * NY + nx, MPI_INT), NC_ETYPESIZE,
                "put_vard: filetype that reaches beyond the last variable");
    expect_code(ncmpi_put_vard_all(ncid, id, before, values, 1, MPI_INT), NC_ETYPESIZE,
                "put_vard: filetype that begins before the first variable");
    expect_code(ncmpi_put_vard_all(ncid, id, file, NULL, n, MPI_INT), NC_EINVAL, "put_vard: buffer NULL");
    expect_code(ncmpi_put_vard_all(ncid, text, chars, values, 2, MPI_INT), NC_ECHAR, "put_vard: ints to NC_CHAR");
    expect_code(ncmpi_put_vard_all(ncid, id, bytes, values, n, MPI_INT), NC_ETYPE_MISMATCH,
                "put_vard: filetype of MPI_BYTE for a variable of ints");
    expect_ok(ncmpi_put_vard_all(ncid, id, MPI_DATATYPE_NULL, NULL, 0, MPI_INT), "put_vard of nothing");
    expect_ok(ncmpi_put_vard_all(ncid, id, file, NULL, 0, MPI_INT), "put_vard of no values, with a filetype");
    expect_ok(ncmpi_get_vard_all(ncid, id, file, NULL, 0, MPI_INT), "get_vard of no values, with a filetype");
    bool nothing = t_rank == 0; /* one rank with nothing, one with an error */
    expect_ok(ncmpi_put_vard_all(ncid, id, nothing ? MPI_DATATYPE_NULL : file, values, n, MPI_INT),
              "put_vard, of nothing on rank 0");
    expect_code(ncmpi_put_vard_all(ncid, id, nothing ? floats : file, values, n, MPI_INT),
                nothing ? NC_ETYPE_MISMATCH : NC_NOERR, "put_vard, wrong filetype on rank 0");
    MPI_Type_free(&file);
    MPI_Type_free(&floats);
    MPI_Type_free(&beyond);
    MPI_Type_free(&before);
    MPI_Type_free(&chars);
    MPI_Type_free(&bytes);
    expect_ok(ncmpi_close(ncid), "close");
}

/* Where the memory is, the buffer's datatype can say alone. */
static void test_vard_absolute(void)
{
    int ncid = create(0), values[4], got[4] = {0}, id = define(ncid, "v", NC_INT, 2, (int[]){DIM_Y, DIM_X});
    MPI_Datatype file, there[2];
    MPI_Aint place;
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    for (int i = 0; i < 4; i++)
        values[i] = 100 * t_rank + i;
    MPI_Type_create_hindexed_block(1, 4, (MPI_Aint[]){4 * mine}, MPI_INT, &file);
    for (int i = 0; i < 2; i++) {
        MPI_Get_address(i == 0 ? values : got, &place);
        MPI_Type_create_hindexed_block(1, 4, &place, MPI_INT, &there[i]);
        MPI_Type_commit(&there[i]);
    }
    MPI_Type_commit(&file);
    expect_ok(ncmpi_put_vard_all(ncid, id, file, MPI_BOTTOM, 1, there[0]), "put_vard from absolute addresses");
    expect_ok(ncmpi_get_vard_all(ncid, id, file, MPI_BOTTOM, 1, there[1]), "get_vard to absolute addresses");
    t_check(memcmp(got, values, sizeof got) == 0, "got what was put");
    for (int i = 0; i < 2; i++)
        MPI_Type_free(&there[i]);
    MPI_Type_free(&file);
    expect_ok(ncmpi_close(ncid), "close");
}

/* Sanitizers and valgrind keep what was freed. */
static bool memory_is_real(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    const char *wrapper = getenv("PNC_TEST_WRAPPER");

    return wrapper == NULL || *wrapper == '\0';
#endif
}

static long resident_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* A filetype of millions of pieces takes no memory for each of them. */
static void test_vard_memory(void)
{
    enum { PIECES = 4000000 };
    int ncid = create(NC_64BIT_DATA), dim = -1, id, wrong = 0;
    signed char *values = malloc(PIECES), *got = malloc(PIECES);
    MPI_Datatype file, pieces;
    long before;
    t_local(ncmpi_def_dim(ncid, "far", (MPI_Offset)2 * PIECES * t_nprocs, &dim) == NC_NOERR, "def_dim");
    id = define(ncid, "v", NC_BYTE, 1, &dim);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    for (int i = 0; i < PIECES; i++)
        values[i] = (signed char)(i % 101 + t_rank);
    memset(got, -1, PIECES);
    MPI_Type_vector(PIECES, 1, 2, MPI_SIGNED_CHAR, &pieces);
    MPI_Type_create_hindexed_block(1, 1, (MPI_Aint[]){(MPI_Aint)2 * PIECES * t_rank}, pieces, &file);
    MPI_Type_commit(&file);
    before = resident_kib();
    expect_ok(ncmpi_put_vard_all(ncid, id, file, values, PIECES, MPI_SIGNED_CHAR), "put_vard of 4000000 pieces");
    expect_ok(ncmpi_get_vard_all(ncid, id, file, got, PIECES, MPI_SIGNED_CHAR), "get_vard of them");
    for (int i = 0; i < PIECES; i++)
        wrong += got[i] != values[i];
    t_check(wrong == 0, "%d elements are wrong", wrong);
    if (memory_is_real())
        t_check(resident_kib() - before < 40000, "memory grew by %ld KiB", resident_kib() - before);
    else
        t_skip("the memory in use cannot be measured here");
    MPI_Type_free(&pieces);
    MPI_Type_free(&file);
    free(values);
    free(got);
    expect_ok(ncmpi_close(ncid), "close");
}

/* Long lists, of which a call takes less memory than their indices would. */
enum { LONG = 200000, LONG_WIDTH = 12 };

struct long_list {
    MPI_Offset numbers[LONG][4], *starts[LONG], *counts[LONG];
    long elements;
};

/* Pieces of 1 or 2 x 1 to 3 elements of the rows of this rank, in any order, which leave gaps or overlap. */
static void make_long_list(struct long_list *list, bool is_tall)
{
    unsigned state = 1 + (unsigned)t_rank;
    list->elements = 0;
    for (int i = 0; i < LONG; i++) {
        MPI_Offset *at = list->numbers[i];
        state = state * 1664525 + 1013904223;
        at[0] = (MPI_Offset)LONG * t_rank + (state >> 8) % (LONG - 1);
        at[1] = (state >> 4) % (LONG_WIDTH - 2);
        at[2] = is_tall ? 1 + i % 2 : 1;
        at[3] = 1 + i % 3;
        list->starts[i] = at;
        list->counts[i] = at + 2;
        list->elements += (long)(at[2] * at[3]);
    }
}

/* What a call for each element would do: values to the model, or the other way. */
static void copy_long_list(const struct long_list *list, bool put, int *values, int *model)
{
    for (int i = 0; i < LONG; i++)
        for (MPI_Offset y = 0; y < list->counts[i][0]; y++)
            for (MPI_Offset x = 0; x < list->counts[i][1]; x++, values++) {
                int *at = model + (list->starts[i][0] + y - (MPI_Offset)LONG * t_rank) * LONG_WIDTH;
                at += list->starts[i][1] + x;
                *(put ? at : values) = *(put ? values : at);
            }
}

static void test_long_list(bool is_record, bool is_tall)
{
    static struct long_list list;
    const size_t all = (size_t)LONG * LONG_WIDTH;
    MPI_Offset start[2] = {(MPI_Offset)LONG * t_rank, 0}, count[2] = {LONG, LONG_WIDTH};
    int ncid = -1, dims[2], id, *model = malloc(all * sizeof *model), *whole = malloc(all * sizeof *whole);
    int *values, *got, *wanted;
    long before;
    make_long_list(&list, is_tall);
    values = malloc((size_t)list.elements * sizeof *values);
    got = malloc((size_t)list.elements * sizeof *got);
    wanted = malloc((size_t)list.elements * sizeof *wanted);
    for (long i = 0; i < list.elements; i++) {
        values[i] = (int)i + 1;
        got[i] = wanted[i] = 0;
    }
    for (size_t i = 0; i < all; i++)
        model[i] = whole[i] = -1;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "row", is_record ? NC_UNLIMITED : (MPI_Offset)LONG * t_nprocs, &dims[0]) == NC_NOERR &&
                ncmpi_def_dim(ncid, "column", LONG_WIDTH, &dims[1]) == NC_NOERR,
            "def_dim");
    id = define(ncid, "v", NC_INT, 2, dims);
    define(ncid, "other", NC_SHORT, 1, dims);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(ncmpi_put_vara_int_all(ncid, id, start, count, model) == NC_NOERR, "put");
    before = resident_kib();
    expect_ok(ncmpi_put_varn_int_all(ncid, id, LONG, list.starts, list.counts, values), "put_varn of 200000 pieces");
    expect_ok(ncmpi_get_varn_int_all(ncid, id, LONG, list.starts, list.counts, got), "get_varn of them");
    if (memory_is_real()) /* buffers of the first call, and shared memory of the node; the whole list takes 117 MiB */
        t_check(resident_kib() - before < 16384, "memory grew by %ld KiB", resident_kib() - before);
    else
        t_skip("the memory in use cannot be measured here");
    copy_long_list(&list, true, values, model);
    copy_long_list(&list, false, wanted, model);
    t_check(memcmp(got, wanted, (size_t)list.elements * sizeof *got) == 0,
            "of pieces that overlap, the later one wins");
    t_local(ncmpi_get_vara_int_all(ncid, id, start, count, whole) == NC_NOERR, "get");
    t_check(memcmp(whole, model, all * sizeof *whole) == 0, "all elements are right");
    list.starts[LONG - 1][1] = LONG_WIDTH;
    expect_code(ncmpi_put_varn_int_all(ncid, id, LONG, list.starts, list.counts, values), NC_EINVALCOORDS,
                "the last piece starts beyond");
    expect_ok(ncmpi_close(ncid), "close");
    free(model);
    free(whole);
    free(values);
    free(got);
    free(wanted);
}

/* imap transposes what a datatype without a regular stride picks: ints 0, 2 and 3 of each 5. Nothing is packed for
 * it. */
static void test_varm_memory(void)
{
    enum { ROWS = 3000, COLUMNS = 1024, TRIPLES = ROWS * COLUMNS / 3 };
    int ncid, dims[2], id, wrong = 0, *values = malloc(5 * TRIPLES * sizeof *values);
    int *got = malloc(5 * TRIPLES * sizeof *got), *row = malloc(ROWS * sizeof *row);
    MPI_Offset start[2] = {(MPI_Offset)COLUMNS * t_rank, 0}, count[2] = {COLUMNS, ROWS}, imap[2] = {1, COLUMNS};
    MPI_Datatype three, type;
    MPI_Info info;
    long before;

    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "1048576"); /* on several nodes all ranks are aggregators */
    ncid = create_with_hints(NC_64BIT_DATA, info);
    MPI_Info_free(&info);
    t_local(ncmpi_def_dim(ncid, "column", (MPI_Offset)COLUMNS * t_nprocs, &dims[0]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_dim(ncid, "row", ROWS, &dims[1]) == NC_NOERR, "def_dim");
    id = define(ncid, "v", NC_INT, 2, dims);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    for (int i = 0; i < 5 * TRIPLES; i++) {
        values[i] = i + t_rank;
        got[i] = -1;
    }
    MPI_Type_indexed(2, (int[]){1, 2}, (int[]){0, 2}, MPI_INT, &three);
    MPI_Type_create_resized(three, 0, 5 * sizeof(int), &type);
    MPI_Type_commit(&type);
    before = resident_kib();
    expect_ok(ncmpi_put_varm_all(ncid, id, start, count, NULL, imap, values, TRIPLES, type),
              "put_varm of ints 0, 2, 3 of 5");
    expect_ok(ncmpi_get_varm_all(ncid, id, start, count, NULL, imap, got, TRIPLES, type), "get_varm of them");
    if (memory_is_real())
        t_check(resident_kib() - before < 6000, "of %d KiB, memory grew by %ld KiB", 3 * TRIPLES / 256,
                resident_kib() - before);
    else
        t_skip("the memory in use cannot be measured here");
    for (int i = 0; i < 5 * TRIPLES; i++)
        wrong += got[i] != (i % 5 == 1 || i % 5 == 4 ? -1 : values[i]);
    t_check(wrong == 0, "%d elements are wrong in memory", wrong);
    start[0] += 7;
    count[0] = 1;
    expect_ok(ncmpi_get_vara_int_all(ncid, id, start, count, row), "get a column");
    for (int k = 0; k < ROWS; k++) {
        int n = k * COLUMNS + 7; /* of the elements that the datatype picks */

        wrong += row[k] != n / 3 * 5 + (n % 3 == 0 ? 0 : n % 3 + 1) + t_rank;
    }
    t_check(wrong == 0, "%d elements are wrong in the file", wrong);
    MPI_Type_free(&three);
    MPI_Type_free(&type);
    free(values);
    free(got);
    free(row);
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- mput and mget --- */

enum { NVARS = 3 };

/* Every shape: the same elements of three variables, columns mine + 1, mine + 3, ... of row 2 + k as far as the shape
 * goes; whole variables where it is VAR. */
struct many {
    int varids[NVARS];
    MPI_Offset start[NVARS][2], count[NVARS][2], stride[NVARS][2], imap[NVARS][2];
    MPI_Offset *starts[NVARS], *counts[NVARS], *strides[NVARS], *imaps[NVARS], bufcounts[NVARS];
    MPI_Datatype types[NVARS];
    int values[NVARS][NY * PER_RANK * 4];
    void *buffers[NVARS];
    MPI_Offset n;
};

static void fill_many(struct many *m, enum shape shape)
{
    MPI_Offset broad = shape == VAR1 ? 1 : PER_RANK / 2, high = shape == VAR1 ? 1 : 3;
    m->n = shape == VAR ? NY : broad * high;
    memset(m->values, 0, sizeof m->values);
    for (int k = 0; k < NVARS; k++) {
        m->start[k][0] = k;
        m->start[k][1] = mine + 1;
        m->count[k][0] = high;
        m->count[k][1] = broad;
        m->stride[k][0] = 1;
        m->stride[k][1] = shape >= VARS ? 2 : 1;
        m->imap[k][0] = 1; /* transposed */
        m->imap[k][1] = high;
        m->starts[k] = m->start[k];
        m->counts[k] = m->count[k];
        m->strides[k] = m->stride[k];
        m->imaps[k] = m->imap[k];
        m->bufcounts[k] = m->n;
        m->types[k] = MPI_INT;
        m->buffers[k] = m->values[k];
        for (int i = 0; i < m->n; i++)
            m->values[k][i] = 100 * k + i + (shape == VAR ? 0 : 1000 * t_rank);
    }
}

static void test_many(enum shape shape, bool collective, bool flexible)
{
    int ncid = create(NC_64BIT_DATA);
    static struct many m, got;
    static const nc_type types[NVARS] = {NC_INT, NC_INT64, NC_DOUBLE};
    for (int k = 0; k < NVARS; k++) /* VAR selects the whole variable: one dimension, and the same on all ranks */
        m.varids[k] = define(ncid, (char[]){(char)('a' + k), '\0'}, types[k], shape == VAR ? 1 : 2,
                             shape == VAR ? (int[]){DIM_Y}
                             : k == 2     ? (int[]){DIM_T, DIM_X}
                                          : (int[]){DIM_Y, DIM_X});
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    if (!collective)
        ncmpi_begin_indep_data(ncid);
    fill_many(&m, shape);
    struct multi_call c = {true,     collective, flexible,  shape,   M_INT,     NVARS,       m.varids,
                           m.starts, m.counts,   m.strides, m.imaps, m.buffers, m.bufcounts, m.types};
    int put = multi_run(ncid, &c), single = NC_NOERR;
    t_local(put == NC_NOERR, "mput: %s", ncmpi_strerrno(put));
    memset(&got, 0, sizeof got);
    for (int k = 0; k < NVARS; k++)
        got.buffers[k] = got.values[k];
    c.put = false;
    c.buffers = got.buffers;
    int get = multi_run(ncid, &c);
    t_local(get == NC_NOERR, "mget: %s", ncmpi_strerrno(get));
    t_local(memcmp(m.values, got.values, sizeof m.values) == 0, "mget returns what mput wrote");
    for (int k = 0; k < NVARS && single == NC_NOERR; k++) { /* the same by single calls of one variable */
        int one[NY * PER_RANK] = {0};
        struct call s = {false,      collective, false,       NOW,       shape,        M_INT,
                         m.start[k], m.count[k], m.stride[k], m.imap[k], .buffer = one};
        single = call_run(ncid, m.varids[k], &s);
        t_local(single == NC_NOERR && memcmp(one, m.values[k], (size_t)m.n * sizeof *one) == 0, "variable %d", k);
    }
    t_check(true, "m%s%s%s of three variables", shape_names[shape], flexible ? " flexible" : "",
            collective ? "_all" : "");
    if (!collective)
        ncmpi_end_indep_data(ncid);
    expect_ok(ncmpi_close(ncid), "close");
}

/* One wrong variable: its code is returned, and no variable is written. */
static void test_many_errors(void)
{
    int ncid = create(0), got[15] = {0};
    static struct many m;
    for (int k = 0; k < NVARS; k++)
        m.varids[k] =
            define(ncid, (char[]){(char)('a' + k), '\0'}, k == 1 ? NC_BYTE : NC_INT, 2, (int[]){DIM_Y, DIM_X});
    int text = define(ncid, "text", NC_CHAR, 2, (int[]){DIM_Y, DIM_X}), right = m.varids[1];
    fill_many(&m, VARA);
    int **bufs = (int **)m.buffers;
    expect_code(ncmpi_mput_vara_int_all(ncid, NVARS, m.varids, m.starts, m.counts, bufs), NC_EINDEFINE,
                "in define mode");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    expect_code(ncmpi_mput_vara_int(ncid, NVARS, m.varids, m.starts, m.counts, bufs), NC_ENOTINDEP,
                "in collective mode");
    m.varids[1] = 99;
    expect_code(ncmpi_mput_vara_int_all(ncid, NVARS, m.varids, m.starts, m.counts, bufs), NC_ENOTVAR,
                "mput: one unknown variable");
    for (int k = 0; k < NVARS; k += 2) {
        t_local(ncmpi_get_vara_int_all(ncid, m.varids[k], m.start[k], m.count[k], got) == NC_NOERR, "get");
        t_local(memcmp(got, m.values[k], sizeof got) != 0, "variable %d", k);
    }
    t_check(true, "the others are not written");
    expect_code(ncmpi_mget_vara_int_all(ncid, NVARS, m.varids, m.starts, m.counts, bufs), NC_ENOTVAR,
                "mget: one unknown variable");
    m.varids[1] = text;
    expect_code(ncmpi_mput_vara_int_all(ncid, NVARS, m.varids, m.starts, m.counts, bufs), NC_ECHAR,
                "mput: one of text");
    m.varids[1] = right;
    m.values[1][4] = 1000;
    for (int i = 0; i < 15; i++)
        m.values[1][i] = i == 4 ? 1000 : i;
    expect_code(ncmpi_mput_vara_int_all(ncid, NVARS, m.varids, m.starts, m.counts, bufs), NC_ERANGE,
                "mput: 1000 to NC_BYTE");
    t_local(ncmpi_get_vara_int_all(ncid, right, m.start[1], m.count[1], got) == NC_NOERR, "get");
    t_check(got[3] == 3 && got[4] == -127 && got[14] == 14, "stored the fill value for it");
    m.start[2][0] = t_rank == 0 ? NY : 2; /* wrong on rank 0 alone */
    m.values[1][4] = 4;
    expect_code(ncmpi_mput_vara_int_all(ncid, NVARS, m.varids, m.starts, m.counts, bufs),
                t_rank == 0 ? NC_EINVALCOORDS : NC_NOERR, "mput: one start beyond, on rank 0");
    expect_ok(ncmpi_mput_vara_int_all(ncid, 0, NULL, NULL, NULL, NULL), "mput of no variable");
    expect_ok(ncmpi_mput_vara_int_all(ncid, t_rank == 0 ? 0 : 2, m.varids, m.starts, m.counts, bufs),
              "mput of no variable on rank 0");
    m.varids[1] = m.varids[0]; /* twice the same one: the later wins */
    m.start[1][0] = m.start[0][0];
    expect_ok(ncmpi_mput_vara_int_all(ncid, 2, m.varids, m.starts, m.counts, bufs), "mput of one variable twice");
    t_local(ncmpi_get_vara_int_all(ncid, m.varids[0], m.start[0], m.count[0], got) == NC_NOERR, "get");
    t_check(memcmp(got, m.values[1], sizeof got) == 0, "the later wins");
    expect_ok(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("varn.nc"));
    nx = (MPI_Offset)PER_RANK * t_nprocs;
    mine = (MPI_Offset)PER_RANK * t_rank;
    test_types(true);
    test_types(false);
    test_null_counts();
    test_uneven_blocks();
    test_varn_flexible();
    test_varn_errors();
    test_varn_overlap(4);
    test_varn_overlap(200);
    test_varn_overlap(20000);
    test_vard(true);
    test_vard(false);
    if (t_classic()) { /* the offsets of records are those of classic files */
        test_vard_records();
        test_vard_several(true);
        test_vard_several(false);
    }
    test_vard_errors();
    test_vard_absolute();
    test_vard_memory();
    for (int i = t_choose(3, 2, 0); i < 4; i++)
        test_long_list(i % 2 == 1, i / 2 == 1);
    test_varm_memory();
    for (int shape = VAR; shape < VARN; shape++)
        for (int way = 0; way < 4; way++)
            test_many((enum shape)shape, way % 2 == 0, way / 2 == 1 && shape != VARM);
    test_many_errors();
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
