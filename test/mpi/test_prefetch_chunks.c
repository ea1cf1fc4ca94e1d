/* Reading ahead of variables in chunks (nc_prefetch=enable): how many bytes, against the sizes of the chunks that the
 * gets need; and the values, against a formula. The system's reads are replaced here, so that those of the worker,
 * which no other thread makes, can be counted, and reads fail or return wrong bytes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FILE_OFFSET_BITS /* on 32-bit processors it makes one name of pread and pread64 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../expect.h"

enum { TIMES = 12, NY = 32, NX = 128, CY = 2, CX = 8, CHUNK = CY * CX * (int)sizeof(int), MANY = NY / CY * (NX / CX) };
typedef enum fault { NONE, FAIL_WORKER, FAIL_ALL, WRONG, WRONG_WORKER } fault;

static pthread_t program;
static atomic_int fault_kind;
static atomic_llong worker_bytes;

/* --- the system --- */

static bool is_worker(void)
{
    return !pthread_equal(pthread_self(), program);
}

static ssize_t finish_read(char *bytes, ssize_t n)
{
    if (n > 0 && is_worker())
        worker_bytes += n;
    for (ssize_t i = 0; i < n && (fault_kind == WRONG || (fault_kind == WRONG_WORKER && is_worker())); i++)
        bytes[i] = (char)(bytes[i] ^ 0x55);
    return n;
}

/* clang-format off */
#define ACCESS(name, position)                                                    \
    ssize_t name(int fd, void *bytes, size_t n, position offset)                  \
    {                                                                             \
        static ssize_t (*real)(int, void *, size_t, position);                    \
                                                                                  \
        if (real == NULL)                                                         \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                            \
        if (fault_kind == FAIL_ALL || (fault_kind == FAIL_WORKER && is_worker())) \
            return errno = EIO, -1;                                               \
        return finish_read(bytes, real(fd, bytes, n, offset));                    \
    }
ACCESS(pread, off_t)
ACCESS(pread64, off64_t)
/* clang-format on */

/* --- the file: plain(time, y, x) without filters, packed the same with deflate and Fletcher-32 --- */

enum { PLAIN, PACKED };
static int version[2][TIMES]; /* of the values at a time */

static int value_of(int varid, int t, int y, int x)
{
    return 1000003 * version[varid][t] + 20000 * t + 4000 * varid + (y * NX + x) * (x % 7 + 1);
}

typedef struct box {
    int t, nt, dt, y, ny, x, nx; /* dt: the stride along time */
} box;

static const box whole = {0, 1, 1, 0, NY, 0, NX};

/* All ranks, or one, access a box. Returns the error. */
static int access_box(int ncid, int varid, const box *b, bool puts, bool collective)
{
    MPI_Offset start[3] = {b->t, b->y, b->x}, count[3] = {b->nt, b->ny, b->nx}, stride[3] = {b->dt, 1, 1};
    int n = b->nt * b->ny * b->nx, *values = malloc(sizeof *values * (size_t)n), wrong = 0, err;

    for (int i = 0; i < n; i++)
        values[i] = puts ? value_of(varid, b->t, b->y + i / b->nx % b->ny, b->x + i % b->nx) : -1;
    if (puts)
        err = ncmpi_put_vars_int_all(ncid, varid, start, count, stride, values);
    else if (collective)
        err = ncmpi_get_vars_int_all(ncid, varid, start, count, stride, values);
    else
        err = ncmpi_get_vars_int(ncid, varid, start, count, stride, values);
    for (int i = 0; i < n && err == NC_NOERR; i++)
        wrong +=
            values[i] != value_of(varid, b->t + i / b->nx / b->ny * b->dt, b->y + i / b->nx % b->ny, b->x + i % b->nx);
    t_local(wrong == 0, "time %d, y %d, x %d of variable %d: %d wrong", b->t, b->y, b->x, varid, wrong);
    free(values);
    return err;
}

static void get_box(int ncid, int varid, box b, int t, bool collective)
{
    int err;

    b.t = t;
    err = access_box(ncid, varid, &b, false, collective);
    t_local(err == NC_NOERR, "get at time %d: %s", t, ncmpi_strerrno(err));
}

static void put_time(int ncid, int varid, int t)
{
    box b = {t, 1, 1, NY * t_rank / t_nprocs, NY / t_nprocs, 0, NX};

    version[varid][t]++;
    t_local(access_box(ncid, varid, &b, true, true) == NC_NOERR, "put at time %d", t);
}

static MPI_Info hints(const char *memory)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_prefetch", "enable");
    MPI_Info_set(info, "nc_write_behind_memory", memory);
    MPI_Info_set(info, "nc_stats", "keep");
    MPI_Info_set(info, "nc_filter_threads", "2");
    return info;
}

static const char *path(void)
{
    return t_path("prefetch_chunks.nc");
}

/* false: the build is without netCDF-4 */
static bool create_file(void)
{
    MPI_Offset shape[3] = {1, CY, CX};
    int ncid, dims[3], varid, err = ncmpi_create(MPI_COMM_WORLD, path(), NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid);

    if (err == NC_ENOTBUILT)
        return false;
    expect_ok(err, "create");
    memset(version, 0, sizeof version);
    ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "y", NY, &dims[1]);
    ncmpi_def_dim(ncid, "x", NX, &dims[2]);
    for (int i = PLAIN; i <= PACKED; i++) {
        ncmpi_def_var(ncid, i == PLAIN ? "plain" : "packed", NC_INT, 3, dims, &varid);
        expect_ok(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, shape), "chunks");
    }
    expect_ok(ncmpi_def_var_deflate(ncid, PACKED, 1, 1, 1), "deflate");
    expect_ok(ncmpi_def_var_fletcher32(ncid, PACKED, NC_FLETCHER32), "fletcher32");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    for (int t = 0; t < TIMES; t++)
        for (int i = PLAIN; i <= PACKED; i++)
            put_time(ncid, i, t);
    expect_ok(ncmpi_close(ncid), "close");
    return true;
}

static int open_file(const char *memory, int mode)
{
    MPI_Info info = hints(memory);
    int ncid = -1;

    expect_ok(ncmpi_open(MPI_COMM_WORLD, path(), mode, info, &ncid), "open");
    MPI_Info_free(&info);
    worker_bytes = 0;
    return ncid;
}

static int64_t statistic(int ncid, const char *name)
{
    MPI_Offset value = -1;

    ncmpi_inq_stats(ncid, name, &value);
    return value;
}

static int64_t sum(int64_t own)
{
    long long mine = own, all = 0;

    MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static int64_t sum_of(int ncid, const char *name)
{
    return sum(statistic(ncid, name));
}

/* --- how much is read --- */

/* Each get has its box, from the time `first` on, in steps. All but the first two gets use what was read ahead: all of
 * it, and nothing else was. wanted: bytes of the chunks of all ranks that a get needs; 0: as many as it has read. */
static void check_bytes(const char *what, int varid, box b, int first, int step, int gets, bool collective,
                        int64_t wanted)
{
    int ncid = open_file("67108864", NC_NOWRITE);
    int64_t before = 0, read, used, ahead;

    if (!collective)
        expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    for (int i = 0; i < gets; i++) {
        if (i == 2)
            before = statistic(ncid, "stored_bytes_read");
        get_box(ncid, varid, b, first + i * step, collective);
        usleep(1000);
    }
    wanted = wanted > 0 ? wanted * (gets - 2) : sum(statistic(ncid, "stored_bytes_read") - before);
    used = sum_of(ncid, "ahead_used");
    if (!collective)
        expect_ok(ncmpi_end_indep_data(ncid),
                  "end_indep_data"); /* what was read for a get that did not follow is known */
    else
        expect_ok(ncmpi_sync(ncid), "sync");
    ahead = sum_of(ncid, "ahead_bytes");
    read = sum(worker_bytes);
    t_check(used == wanted, "%s: gets used %lld bytes that were read ahead, of %lld", what, (long long)used,
            (long long)wanted);
    t_check(ahead == read && read == used && sum_of(ncid, "ahead_failed") == 0 && sum_of(ncid, "ahead_lacking") == 0,
            "%s: the worker has read %lld bytes, as it says: %lld", what, (long long)read, (long long)ahead);
    expect_ok(ncmpi_close(ncid), "close");
}

/* Columns of the rank: all rows, which are in chunks of all aggregators. */
static box own_columns(void)
{
    return (box){0, 1, 1, 0, NY, NX * t_rank / t_nprocs, NX / t_nprocs};
}

static void test_bytes(void)
{
    const box columns = {0, 1, 1, 0, NY, 3 * CX, CX}, strided = {0, 2, 2, 0, NY, CX, 2 * CX};
    const box corner = {0, 1, 1, 1, CY, CX - 1, 2};

    t_check(MANY > 64 * 2, "a get has %d chunks", MANY);
    check_bytes("all chunks of a time", PLAIN, whole, 0, 1, TIMES, true, (int64_t)MANY * CHUNK);
    check_bytes("all chunks of a time, compressed", PACKED, whole, 0, 1, TIMES, true, 0);
    check_bytes("a box that has few chunks of a time", PLAIN, columns, 0, 1, TIMES, true, (int64_t)NY / CY * CHUNK);
    check_bytes("the same, compressed", PACKED, columns, 0, 1, TIMES, true, 0);
    check_bytes("a box of four chunks", PLAIN, corner, 0, 1, TIMES, true, 4 * CHUNK);
    check_bytes("a box of each rank", PLAIN, own_columns(), 0, 1, TIMES, true, (int64_t)MANY * CHUNK);
    check_bytes("the same, compressed", PACKED, own_columns(), 0, 1, TIMES, true, 0);
    check_bytes("independent gets", PLAIN, columns, 0, 1, TIMES, false, (int64_t)NY / CY * CHUNK * t_nprocs);
    check_bytes("each second time", PLAIN, columns, 1, 2, TIMES / 2, true, (int64_t)NY / CY * CHUNK);
    check_bytes("backwards", PACKED, columns, TIMES - 1, -1, TIMES, true, 0);
    check_bytes("two times with a stride, compressed", PACKED, strided, 0, 4, TIMES / 4, true, 0);
    check_bytes("two times with a stride", PLAIN, strided, 0, 4, TIMES / 4, true, 2 * (int64_t)NY / CY * 2 * CHUNK);
}

/* Boxes that move along x. */
static void test_space(void)
{
    int ncid = open_file("67108864", NC_NOWRITE);
    int64_t used, wanted = (int64_t)(NX / CX - 2) * NY / CY * CHUNK;

    for (int x = 0; x < NX; x += CX) {
        const box b = {3, 1, 1, 0, NY, x, CX};

        t_local(access_box(ncid, PLAIN, &b, false, true) == NC_NOERR, "get at x %d", x);
    }
    used = sum_of(ncid, "ahead_used");
    t_check(used == wanted, "boxes along x: gets used %lld bytes that were read ahead, of %lld", (long long)used,
            (long long)wanted);
    expect_ok(ncmpi_close(ncid), "close");
}

/* Several hyperslabs of a variable in one call. */
static void test_hyperslabs(void)
{
    int ncid = open_file("67108864", NC_NOWRITE), request[2], values[2][CY][CX];
    int64_t wanted = (int64_t)(TIMES - 2) * 2 * CHUNK, used;

    for (int t = 0; t < TIMES; t++) {
        for (int i = 0; i < 2; i++) {
            MPI_Offset start[3] = {t, 0, 4 * i * CX}, count[3] = {1, CY, CX};

            ncmpi_iget_vara_int(ncid, PLAIN, start, count, values[i][0], &request[i]);
        }
        t_local(ncmpi_wait_all(ncid, 2, request, NULL) == NC_NOERR, "wait_all at time %d", t);
        for (int i = 0; i < 2; i++)
            t_local(values[i][1][1] == value_of(PLAIN, t, 1, 4 * i * CX + 1), "hyperslab %d at time %d", i, t);
    }
    used = sum_of(ncid, "ahead_used");
    t_check(used == wanted, "two hyperslabs: gets used %lld bytes that were read ahead, of %lld", (long long)used,
            (long long)wanted);
    expect_ok(ncmpi_close(ncid), "close");
}

/* Memory is bounded: what has none is read by the get, and counted. */
static void test_memory(void)
{
    enum { LONG = 600000, STEPS = 6 };
    MPI_Offset shape[2] = {1, 50000}, start[2] = {0, 0}, count[2] = {1, LONG};
    MPI_Info info = hints("2097152");
    int ncid, dims[2], varid, *values = malloc(sizeof *values * LONG);
    int64_t used, lacking, most = (int64_t)(STEPS - 2) * t_nprocs << 21;

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path(), NC_CLOBBER | NC_NETCDF4, info, &ncid), "create");
    ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "x", LONG, &dims[1]);
    ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &varid);
    expect_ok(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, shape), "chunks");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    for (start[0] = 0; start[0] < STEPS; start[0]++) {
        for (int i = 0; i < LONG; i++)
            values[i] = i * 3 + (int)start[0];
        t_local(ncmpi_put_vara_int_all(ncid, varid, start, count, values) == NC_NOERR, "put");
    }
    expect_ok(ncmpi_sync(ncid), "sync");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data"); /* each rank needs all chunks */
    for (start[0] = 0; start[0] < STEPS; start[0]++) {
        int wrong = ncmpi_get_vara_int(ncid, varid, start, count, values) != NC_NOERR;

        for (int i = 0; i < LONG; i++)
            wrong += values[i] != i * 3 + (int)start[0];
        t_local(wrong == 0, "get at time %d", (int)start[0]);
    }
    used = sum_of(ncid, "ahead_used");
    lacking = sum_of(ncid, "ahead_lacking");
    t_check(used > most / 2 && used <= most && used + lacking == (int64_t)(STEPS - 2) * t_nprocs * LONG * 4,
            "with 2 MiB of memory gets used %lld bytes, and %lld lacked memory", (long long)used, (long long)lacking);
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
    MPI_Info_free(&info);
    free(values);
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- what is decoded --- */

/* Returns how much the worker has decoded for gets. */
static int64_t get_decoded(void)
{
    int ncid = open_file("67108864", NC_NOWRITE);
    int64_t decoded, most = (int64_t)(TIMES - 2) * MANY * CHUNK;

    for (int t = 0; t < TIMES; t++) {
        get_box(ncid, PACKED, whole, t, true);
        usleep(30000);
    }
    decoded = sum_of(ncid, "ahead_decoded");
    t_check(decoded <= most && sum_of(ncid, "chunks_read") == (int64_t)TIMES * MANY,
            "each chunk was read once, and gets used %lld bytes that the worker had decoded, at most %lld",
            (long long)decoded, (long long)most);
    expect_ok(ncmpi_close(ncid), "close");
    return decoded;
}

/* Where threads do not get processors they pause for 200 tasks, and the worker, too. Under a wrapper such as valgrind
 * one thread runs at a time. */
static void test_decoded(void)
{
    int64_t decoded = 0;

    for (int i = 0; i < 10 && decoded == 0; i++)
        decoded = get_decoded();
    if (decoded == 0 && getenv("PNC_TEST_WRAPPER") != NULL)
        t_skip("the worker has no processor here");
    else
        t_check(decoded > 0, "the worker decodes chunks");
}

/* --- values that change --- */

/* Chunks without filters have their bytes in the file as they are in memory: find the first chunk of a time, and write
 * other values there. */
static bool overwrite_chunk(int t)
{
    struct stat facts;
    int old[CY * CX], new[CY * CX], fd = open(path(), O_RDWR);
    bool good = fd >= 0 && fstat(fd, &facts) == 0;
    char *bytes = good ? malloc((size_t)facts.st_size) : NULL, *at = NULL;

    for (int i = 0; i < CY * CX; i++)
        old[i] = value_of(PLAIN, t, i / CX, i % CX);
    version[PLAIN][t]++;
    for (int i = 0; i < CY * CX; i++)
        new[i] = value_of(PLAIN, t, i / CX, i % CX);
    if (bytes != NULL && pread(fd, bytes, (size_t)facts.st_size, 0) == facts.st_size)
        at = memmem(bytes, (size_t)facts.st_size, old, sizeof old);
    good = at != NULL && pwrite(fd, new, sizeof new, at - bytes) == (ssize_t)sizeof new;
    free(bytes);
    if (fd >= 0)
        close(fd);
    return good;
}

static const box first_chunk = {0, 1, 1, 0, CY, 0, CX};

/* docs/hidden.md: "It never returns old values". how: 0: this handle puts, 1: another handle of the process, 2: the
 * system writes. */
static void test_rewritten(int how)
{
    static const char *const by[] = {"this handle", "another handle", "another program"};
    int ncid = open_file("67108864", how == 0 ? NC_WRITE : NC_NOWRITE), other;
    int last = how == 0 || (how == 1 && t_nprocs == 1) ? PACKED : PLAIN; /* several ranks do not learn of new places */

    for (int i = PLAIN; i <= last; i++)
        for (int t = 0; t + 2 < TIMES; t += 3) {
            const box *b = how == 2 ? &first_chunk : &whole;

            get_box(ncid, i, *b, t, true);
            get_box(ncid, i, *b, t + 1, true);
            usleep(20000); /* the worker reads and decodes the next one, and the time of the file advances */
            MPI_Barrier(MPI_COMM_WORLD);
            if (how == 0) {
                put_time(ncid, i, t + 2);
            } else if (how == 1) {
                expect_ok(ncmpi_open(MPI_COMM_WORLD, path(), NC_WRITE, MPI_INFO_NULL, &other), "open");
                put_time(other, i, t + 2);
                expect_ok(ncmpi_close(other), "close");
            } else if (t_rank == 0) {
                t_local(overwrite_chunk(t + 2), "write by the system");
            } else {
                version[PLAIN][t + 2]++;
            }
            MPI_Barrier(MPI_COMM_WORLD);
            get_box(ncid, i, *b, t + 2, true);
        }
    t_check(true, "gets of what %s has written", by[how]);
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- errors --- */

/* What the worker cannot read, the get reads. */
static void test_failing_worker(void)
{
    int ncid = open_file("67108864", NC_NOWRITE);

    fault_kind = FAIL_WORKER;
    for (int t = 0; t < TIMES; t++)
        get_box(ncid, PACKED, whole, t, true);
    fault_kind = NONE;
    t_check(sum_of(ncid, "ahead_used") == 0, "gets after reads of the worker that have failed");
    expect_ok(ncmpi_close(ncid), "close");
}

/* An error is that of the get that needs the chunk: not of the one before, and not of one of other chunks. */
static void test_error(fault kind, const char *what)
{
    int ncid = open_file("67108864", NC_NOWRITE), err;
    box b = whole;

    for (int t = 0; t < 3; t++)
        get_box(ncid, PACKED, whole, t, true);
    expect_ok(ncmpi_sync(ncid), "sync"); /* nothing is read ahead now */
    MPI_Barrier(MPI_COMM_WORLD);
    get_box(ncid, PACKED, whole, 4, true);
    get_box(ncid, PACKED, whole, 5, true); /* the worker reads time 6 */
    expect_ok(ncmpi_sync(ncid), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
    fault_kind = kind;
    b.t = 6;
    err = access_box(ncid, PACKED, &b, false, true);
    fault_kind = NONE;
    MPI_Barrier(MPI_COMM_WORLD);
    t_check(err != NC_NOERR, "%s: the get that needs them fails: %s", what, ncmpi_strerrno(err));
    for (int t = 3; t < TIMES; t++)
        get_box(ncid, PACKED, whole, t, true);
    t_check(true, "%s: gets afterwards", what);
    expect_ok(ncmpi_close(ncid), "close");
}

/* The worker reads wrong bytes for a get: the one before it has no error. */
static void test_wrong_bytes(void)
{
    int ncid = open_file("67108864", NC_NOWRITE), err;
    box b = whole;

    get_box(ncid, PACKED, whole, 0, true);
    fault_kind = WRONG_WORKER;
    get_box(ncid, PACKED, whole, 1, true);
    for (int i = 0; i < 10000 && worker_bytes == 0; i++)
        usleep(1000);
    b.t = 2;
    err = access_box(ncid, PACKED, &b, false, true);
    fault_kind = NONE;
    t_check(err != NC_NOERR, "what the worker has read is checked: %s", ncmpi_strerrno(err));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int t = 2; t < TIMES; t++)
        get_box(ncid, PACKED, whole, t, true);
    t_check(true, "gets afterwards");
    expect_ok(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    program = pthread_self();
    if (NX % t_nprocs != 0 || NY % t_nprocs != 0) {
        t_skip("the number of ranks divides no row of the variables");
        return t_finish();
    }
    if (!create_file()) {
        t_skip("the build is without netCDF-4");
        return t_finish();
    }
    test_bytes();
    test_space();
    test_hyperslabs();
    test_decoded();
    test_failing_worker();
    test_error(FAIL_ALL, "reads that fail");
    test_error(WRONG, "wrong bytes");
    test_wrong_bytes();
    for (int how = 0; how < 3; how++)
        test_rewritten(how);
    test_memory();
    if (t_rank == 0)
        unlink(path());
    return t_finish();
}
