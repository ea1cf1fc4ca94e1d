/* Requests below the public API, over a store that counts accesses and fails on demand: ranks with interleaved columns
 * make large writes together, a failure on one rank is an error on all, a wrong argument is an error on its rank only.
 * There is a file and a model, but no dataset. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/driver.h"
#include "drivers/wrapper.h"
#include "format/layout.h"
#include "format/mapping.h"
#include "io/request/bundle.h"
#include "io/transfer.h"
#include "../harness.h"

/* A wrapper of the MPI-IO driver. */
typedef struct spy {
    pnc_store store;
    int calls;
    int64_t most_bytes, most_extents;
    bool fail;
    int64_t readable; /* if not 0: a read fails after so many bytes */
} spy;

static void note(spy *s, const pnc_extent *extents, int64_t n)
{
    int64_t bytes = 0;

    for (int64_t i = 0; i < n; i++)
        bytes += extents[i].length;
    s->calls++;
    s->most_bytes = bytes > s->most_bytes ? bytes : s->most_bytes;
    s->most_extents = n > s->most_extents ? n : s->most_extents;
}

static int spy_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    spy *s = (spy *)store;

    note(s, extents, n);
    if (s->fail)
        return pnc_error_set(error, NC_ENO_SPACE, "the disk is full");
    return pnc_wrapper_write(store, extents, n, buf, error);
}

static int spy_read(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got, pnc_error *error)
{
    spy *s = (spy *)store;
    char all[4096];
    int err;

    note(s, extents, n);
    if (s->readable == 0)
        return pnc_wrapper_read(store, extents, n, buf, got, error);
    assert(s->most_bytes <= (int64_t)sizeof all);
    err = pnc_wrapper_read(store, extents, n, all, got, error);
    memcpy(buf, all, (size_t)s->readable);
    *got = s->readable;
    return err != NC_NOERR ? err : pnc_error_set(error, NC_EREAD, "the disk is broken");
}

static const pnc_store_ops spy_wrapper = {
    .name = "spy",
    .store_bytes = sizeof(spy),
    .is_wrapper = true,
    .write = spy_write,
    .read = spy_read,
};
static pnc_store_ops spy_ops; /* in front of MPI-IO */

/* All accesses are by the two functions: none is in the background, and no span is locked. */
static void make_driver(void)
{
    pnc_wrapper_join(&spy_wrapper, &pnc_store_mpiio, "spy:mpiio", &spy_ops);
    spy_ops.start = NULL;
    spy_ops.lock = NULL;
}

#define ROWS 3000
#define WIDTH 16 /* ints of a row that belong to one rank */

static spy *eye;
static int column_var, record_var;

static pnc_model model;
static pnc_file file;
static pnc_io_context io;
static pnc_error error;

static void add_variable(const char *name, int dimid, int column, int *varid)
{
    const int dims[2] = {dimid, column};

    *varid = model.nvars;
    t_local(pnc_format_var_add(&model, name, NC_INT, 2, dims, &error) == NC_NOERR, "var_add: %s", error.text);
}

/* int variables columns(row, nprocs * WIDTH) and history(time, nprocs * WIDTH) */
static void make_model(void)
{
    const pnc_layout_hints defaults = {0, 0, 0, 0};
    const int row = 0, column = 1, time = 2;

    t_local(pnc_format_model_init(&model, 1, &error) == NC_NOERR, "model_init");
    pnc_format_dim_add(&model, "row", ROWS, &error);
    pnc_format_dim_add(&model, "column", t_nprocs * WIDTH, &error);
    pnc_format_dim_add(&model, "time", NC_UNLIMITED, &error);
    add_variable("columns", row, column, &column_var);
    add_variable("history", time, column, &record_var);
    t_local(pnc_format_layout_compute(&model, NULL, &defaults, &error) == NC_NOERR, "layout: %s", error.text);
}

/* A new file without a header. */
static void start_file(int nnodes, int64_t memory)
{
    pnc_error_clear(&error);
    make_model();
    file = (pnc_file){.path = (char *)t_path("transfer.nc"), .comm = MPI_COMM_WORLD, .error = &error};
    MPI_Comm_rank(file.comm, &file.rank);
    MPI_Comm_size(file.comm, &file.nprocs);
    pnc_open_call call = {.comm = file.comm, .path = file.path, .purpose = PNC_OPEN_REPLACE, .info = MPI_INFO_NULL};
    t_local(pnc_driver_file_open(&spy_ops, call, &file.store, &error) == NC_NOERR, "create: %s", error.text);
    file.store->nnodes = nnodes;
    t_local(pnc_file_nodes_find(file.comm, &file.nodes) == NC_NOERR, "nodes");
    int leads = file.nodes->is_leader;
    MPI_Allreduce(&leads, &file.nodes->n, 1, MPI_INT, MPI_SUM, file.comm);
    eye = (spy *)file.store;
    t_local(pnc_io_context_init(&io, &file, &model) == NC_NOERR, "context");
    io.addressing = &pnc_format_classic_addressing;
    io.relax = true;
    io.buffer_size = memory;
}

static void end_file(void)
{
    pnc_io_context_free(&io);
    t_local(file.store->ops->close(file.store, &error) == NC_NOERR, "close: %s", error.text);
    pnc_file_nodes_release(file.nodes);
    pnc_format_model_free(&model);
}

/* Execute a call as a dataset does: a rank with an error in its arguments takes part without requests. */
static int execute(const pnc_call *call)
{
    pnc_bundle bundle;
    int64_t numrecs = 0;
    int err, transferred;

    pnc_error_clear(&error);
    eye->calls = 0;
    eye->most_bytes = eye->most_extents = 0;
    err = pnc_io_bundle_init_call(&bundle, &io, call);
    transferred = pnc_io_requests_transfer(&io, &bundle.list, &numrecs);
    pnc_io_bundle_free(&bundle);
    if (transferred == NC_NOERR && numrecs > model.numrecs)
        model.numrecs = numrecs;
    return err != NC_NOERR ? err : transferred;
}

static int value_at(int64_t row, int64_t column)
{
    return (int)(row * 1000 + column);
}

/* This rank's columns of rows [first, first + rows), as double, so that there is something to convert. */
static int access_columns(pnc_op op, int varid, MPI_Offset first, MPI_Offset rows, double *buf)
{
    MPI_Offset start[2] = {first, (MPI_Offset)t_rank * WIDTH}, count[2] = {rows, WIDTH};
    pnc_call call = {.op = op,
                     .shape = PNC_VARA,
                     .collective = true,
                     .varid = varid,
                     .mem = PNC_DOUBLE,
                     .buf = buf,
                     .start = start,
                     .count = count};

    return execute(&call);
}

static void fill(double *buf, int64_t first, int64_t rows)
{
    for (int64_t i = 0; i < rows * WIDTH; i++)
        buf[i] = value_at(first + i / WIDTH, t_rank * WIDTH + i % WIDTH);
}

static bool is_filled(const double *buf, int64_t first, int64_t rows)
{
    for (int64_t i = 0; i < rows * WIDTH; i++)
        if (buf[i] != value_at(first + i / WIDTH, t_rank * WIDTH + i % WIDTH))
            return false;
    return true;
}

static void test_columns(int nnodes, int64_t memory)
{
    static double buf[ROWS * WIDTH], back[ROWS * WIDTH];
    bool exchange = t_nprocs > 1;
    int err;

    start_file(nnodes, memory);
    fill(buf, 0, ROWS);
    err = access_columns(PNC_OP_PUT, column_var, 0, ROWS, buf);
    t_check(err == NC_NOERR, "put columns, %d nodes, %d bytes of memory: %s", nnodes, (int)memory, error.text);
    t_check(file.put_size == ROWS * WIDTH * 4, "put_size %d", (int)file.put_size);
    t_check(!exchange || (eye->calls < ROWS / 100 && eye->most_extents <= 1),
            "interleaved columns become few large writes: %d, of up to %d extents", eye->calls, (int)eye->most_extents);
    memset(back, 0, sizeof back);
    err = access_columns(PNC_OP_GET, column_var, 0, ROWS, back);
    t_check(err == NC_NOERR && is_filled(back, 0, ROWS), "and get them back: %s", error.text);
    t_check(is_filled(buf, 0, ROWS), "the buffer of the put is unchanged");
    end_file();
}

/* This rank's block of whole rows of the variable, every `stride`-th element of a row. */
static int access_rows(pnc_op op, MPI_Offset stride, double *buf)
{
    MPI_Offset rows = ROWS / t_nprocs, width = (MPI_Offset)t_nprocs * WIDTH;
    MPI_Offset start[2] = {rows * t_rank, 0}, count[2] = {rows, width / stride}, strides[2] = {1, stride};
    pnc_call call = {.op = op,
                     .shape = PNC_VARS,
                     .collective = true,
                     .varid = column_var,
                     .mem = PNC_DOUBLE,
                     .buf = buf,
                     .start = start,
                     .count = count,
                     .stride = strides};

    return execute(&call);
}

/* Strided puts of ranks whose blocks do not interleave. */
static void test_blocks(void)
{
    static double whole[ROWS * WIDTH], half[ROWS * WIDTH / 2];
    int64_t n = (int64_t)(ROWS / t_nprocs) * t_nprocs * WIDTH, wrong = 0;
    int err;

    start_file(1, 1 << 20);
    for (int64_t i = 0; i < n; i++)
        whole[i] = (double)(i + t_rank);
    err = access_rows(PNC_OP_PUT, 1, whole);
    t_check(err == NC_NOERR, "put a block of rows: %s", error.text);
    for (int64_t i = 0; i < n / 2; i++)
        half[i] = -(double)(i + t_rank);
    err = access_rows(PNC_OP_PUT, 2, half);
    t_check(err == NC_NOERR, "put every second element of it: %s", error.text);
    t_check(t_nprocs == 1 || (eye->calls < ROWS / 20 && eye->most_extents <= 1),
            "few large accesses: %d, of up to %d extents", eye->calls, (int)eye->most_extents);
    err = access_rows(PNC_OP_GET, 1, whole);
    for (int64_t i = 0; i < n; i++)
        wrong += whole[i] != (i % 2 == 0 ? half[i / 2] : (double)(i + t_rank));
    t_check(err == NC_NOERR && wrong == 0, "get all: %d elements differ: %s", (int)wrong, error.text);
    end_file();
}

static void test_records(void)
{
    static double buf[20 * WIDTH], back[20 * WIDTH];
    int expected = t_nprocs == 1 ? 3 : 8, err;

    start_file(1, 1 << 20);
    err = access_columns(PNC_OP_PUT, record_var, 4, 0, buf);
    t_check(err == NC_NOERR && model.numrecs == 0, "a put of nothing makes no records: %d", (int)model.numrecs);
    fill(buf, 0, 3 + 5 * (t_rank == 1));
    err = access_columns(PNC_OP_PUT, record_var, 0, 3 + 5 * (t_rank == 1), buf);
    t_check(err == NC_NOERR && model.numrecs == expected, "all ranks know the records of the one with most: %d",
            (int)model.numrecs);
    err = access_columns(PNC_OP_GET, record_var, expected, 1, back);
    t_check(err == NC_EINVALCOORDS, "a get beyond the last record: %d", err);
    err = access_columns(PNC_OP_GET, record_var, expected, 0, back);
    t_check(err == NC_NOERR, "a get of nothing at the end: %d", err);
    err = access_columns(PNC_OP_GET, record_var, 0, t_rank == 0 ? 0 : 3, back);
    t_check(err == NC_NOERR && (t_rank == 0 || is_filled(back, 0, 3)), "rank 0 gets nothing, the others all: %d", err);
    MPI_Offset start[2] = {9 + t_rank, 0}, count[2] = {1, WIDTH};
    pnc_call alone = {.op = PNC_OP_PUT,
                      .shape = PNC_VARA,
                      .varid = record_var,
                      .mem = PNC_DOUBLE,
                      .buf = buf,
                      .start = start,
                      .count = count};
    err = execute(&alone);
    t_check(err == NC_NOERR && model.numrecs == 10 + t_rank, "an independent put counts its own records: %d",
            (int)model.numrecs);
    start[0] = (MPI_Offset)1 << 31;
    t_check(execute(&alone) == NC_EINVALCOORDS, "more records than CDF-1 can count: %s", error.text);
    end_file();
}

/* At most `n` elements, in whole rows; with 3 ranks 64, 128, 192 become 48, 96, 192. */
static int count_in_rows(int n)
{
    return n - n % (t_nprocs * WIDTH);
}

/* Whole rows of this rank, `n` elements: one extent. */
static int access_whole_rows(pnc_op op, pnc_mem_type mem, int n, void *buf)
{
    MPI_Offset width = (MPI_Offset)t_nprocs * WIDTH, start[2] = {20 * t_rank, 0}, count[2] = {n / width, width};
    pnc_call call = {
        .op = op, .shape = PNC_VARA, .varid = column_var, .mem = mem, .buf = buf, .start = start, .count = count};

    return execute(&call);
}

/* Few values are accessed in a shorter way than many: as int, which cannot fail, and as double, which can. */
static void test_small(int n)
{
    int whole[256], back[256] = {0};
    double values[256] = {0};
    bool same = true;

    for (int i = 0; i < 256; i++)
        whole[i] = i * 7919 - t_rank;
    start_file(1, 1 << 20);
    t_local(access_whole_rows(PNC_OP_PUT, PNC_INT, n, whole) == NC_NOERR, "put: %s", error.text);
    t_local(access_whole_rows(PNC_OP_GET, PNC_DOUBLE, n, values) == NC_NOERR, "get: %s", error.text);
    for (int i = 0; i < 256; i++)
        same = same && values[i] == (i < n ? whole[i] : 0);
    t_check(same, "%d ints that were put are the doubles of a get", n);
    t_local(access_whole_rows(PNC_OP_PUT, PNC_DOUBLE, n, values) == NC_NOERR, "put: %s", error.text);
    t_local(access_whole_rows(PNC_OP_GET, PNC_INT, n, back) == NC_NOERR, "get: %s", error.text);
    for (int i = 0; i < 256; i++)
        same = same && back[i] == (i < n ? whole[i] : 0);
    t_check(same, "and the other way around");
    end_file();
}

/* A read that fails in the middle of a value. */
static void test_part(pnc_mem_type mem, int n, const char *what)
{
    int values[256], whole = n / 2;
    double numbers[256];
    bool right = true;

    start_file(1, 1 << 20);
    for (int i = 0; i < 256; i++)
        values[i] = i + 1;
    t_local(access_whole_rows(PNC_OP_PUT, PNC_INT, n, values) == NC_NOERR, "put: %s", error.text);
    for (int i = 0; i < 256; i++)
        numbers[i] = values[i] = -1;
    eye->readable = whole * 4 + 2;
    t_check(access_whole_rows(PNC_OP_GET, mem, n, mem == PNC_INT ? (void *)values : numbers) == NC_EREAD,
            "%s: a read that fails after some bytes: %s", what, error.text);
    for (int i = 0; i < 256; i++) {
        double value = mem == PNC_INT ? values[i] : numbers[i], after = i == whole && mem == PNC_INT ? 0 : -1;

        right = right && value == (i < whole ? i + 1 : after);
    }
    t_check(right, "%s: the values before are returned, none of the bytes after", what);
    eye->readable = 0;
    end_file();
}

/* `rows` chooses the way: few rows of a rank go alone, many together. */
static void test_failure(int64_t rows, const char *what)
{
    static double buf[ROWS * WIDTH];
    int err;

    start_file(1, 1 << 20);
    eye->fail = t_rank == 0; /* the aggregator of the block in which the records begin */
    fill(buf, 0, rows);
    err = access_columns(PNC_OP_PUT, record_var, 0, rows, buf);
    t_check(err == NC_ENO_SPACE && error.text[0] != '\0', "%s: a full disk on one rank is an error on all: %d \"%s\"",
            what, err, error.text);
    t_check(model.numrecs == 0, "%s: and no records are there", what);
    eye->fail = false;
    err = access_columns(PNC_OP_PUT, record_var, 0, rows, buf);
    t_check(err == NC_NOERR && model.numrecs == rows, "%s: with room again it works: %d", what, err);
    end_file();
}

static void test_arguments(void)
{
    static double buf[ROWS * WIDTH], back[ROWS * WIDTH];
    bool wrong = t_rank == t_nprocs - 1;
    int err;

    start_file(1, 1 << 20);
    fill(buf, 0, 5);
    err = access_columns(PNC_OP_PUT, record_var, wrong ? -1 : 0, 5, buf);
    t_check(err == (wrong ? NC_EINVALCOORDS : NC_NOERR), "a wrong argument is an error on its own rank: %d", err);
    t_check(model.numrecs == (t_nprocs == 1 ? 0 : 5), "the others have written: %d", (int)model.numrecs);
    err = wrong ? NC_NOERR : access_columns(PNC_OP_GET, record_var, 0, 5, back);
    if (wrong)
        access_columns(PNC_OP_GET, record_var, 99, 1, back);
    t_check(err == NC_NOERR && (wrong || is_filled(back, 0, 5)), "and read it: %d", err);
    err = access_columns(PNC_OP_PUT, wrong ? column_var : record_var, 0, 5, wrong ? NULL : buf);
    t_check(err == (wrong ? NC_EINVAL : NC_NOERR), "a NULL buffer: %s", error.text);
    end_file();
}

/* imap on top of a datatype: the datatype picks, imap orders what was picked. */
static void test_mapped(MPI_Datatype type, const int *picks, const char *what)
{
    int user[24], got[24], expected[24];
    MPI_Offset start[2] = {0, (MPI_Offset)t_rank * WIDTH}, count[2] = {3, 4}, imap[2] = {1, 3};
    pnc_call call = {.op = PNC_OP_PUT,
                     .shape = PNC_VARM,
                     .collective = true,
                     .varid = column_var,
                     .mem = PNC_FLEX,
                     .buf = user,
                     .start = start,
                     .count = count,
                     .imap = imap,
                     .bufcount = 1,
                     .buftype = type};
    bool same = true;
    int err;

    start_file(1, 1 << 20);
    for (int i = 0; i < 24; i++)
        user[i] = 100 * t_rank + i;
    err = execute(&call);
    call.shape = PNC_VARA, call.mem = PNC_INT, call.op = PNC_OP_GET, call.buf = got;
    t_local(execute(&call) == NC_NOERR, "get");
    for (int i = 0; i < 12; i++)
        same = same && got[i] == user[picks[i / 4 + 3 * (i % 4)]];
    t_check(err == NC_NOERR && same, "imap over %s, put: %d %s", what, err, error.text);
    for (int i = 0; i < 24; i++)
        expected[i] = got[i] = -1;
    for (int i = 0; i < 12; i++)
        expected[picks[i / 4 + 3 * (i % 4)]] = user[picks[i / 4 + 3 * (i % 4)]];
    call.shape = PNC_VARM, call.mem = PNC_FLEX;
    err = execute(&call);
    t_check(err == NC_NOERR && memcmp(got, expected, sizeof got) == 0, "imap over %s, get: %d", what, err);
    end_file();
}

static void test_imap(void)
{
    const int irregular[12] = {0, 1, 5, 6, 7, 9, 12, 13, 14, 20, 21, 23},
              backwards[12] = {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    int every_other[12];
    MPI_Datatype type;

    for (int i = 0; i < 12; i++)
        every_other[i] = 2 * i;
    MPI_Type_vector(12, 1, 2, MPI_INT, &type);
    test_mapped(type, every_other, "every other int");
    MPI_Type_free(&type);
    MPI_Type_create_indexed_block(12, 1, irregular, MPI_INT, &type);
    test_mapped(type, irregular, "ints here and there");
    MPI_Type_free(&type);
    MPI_Type_create_indexed_block(12, 1, backwards, MPI_INT, &type);
    test_mapped(type, backwards, "ints backwards");
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    make_driver();
    test_columns(1, 1 << 20);
    test_columns(2, 1 << 16);
    test_blocks();
    test_records();
    test_failure(ROWS, "many rows");
    test_failure(1, "one row");
    test_arguments();
    test_imap();
    for (int n = 64; n <= 192; n += 64)
        test_small(count_in_rows(n));
    test_part(PNC_INT, count_in_rows(128), "few values");
    test_part(PNC_DOUBLE, count_in_rows(128), "few values that are checked");
    test_part(PNC_INT, count_in_rows(192), "more values");
    if (t_rank == 0)
        unlink(t_path("transfer.nc"));
    return t_finish();
}
