/* Statistics of a file: the counters of ncmpi_inq_stats against the calls of this program.
 *
 * test_statistics WHAT HOW PATH is a program for test/tools/test_statistics.py: it does WHAT in the bad or the good
 * way; HOW may also be hinted or reopened, which are bad, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../expect.h"

static long long count(int ncid, const char *name)
{
    MPI_Offset value = -1;

    t_local(ncmpi_inq_stats(ncid, name, &value) == NC_NOERR, "the counter %s", name);
    return value;
}

static void expect_count(int ncid, const char *name, long long wanted)
{
    long long found = count(ncid, name);

    t_check(found == wanted, "%s: %lld, not %lld", name, wanted, found);
}

static int create(const char *path, const char *hints[][2])
{
    MPI_Info info;
    int ncid;

    MPI_Info_create(&info);
    for (int i = 0; hints[i][0] != NULL; i++)
        MPI_Info_set(info, hints[i][0], hints[i][1]);
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &ncid), "create");
    MPI_Info_free(&info);
    return ncid;
}

/* --- counters --- */

static void test_off(void)
{
    const char *none[][2] = {{NULL, NULL}};
    int ncid = create(t_path("off.nc"), none);
    MPI_Offset value = 7;

    expect_code(ncmpi_inq_stats(ncid, "writes", &value), NC_EINVAL, "without statistics");
    t_check(value == 7, "the value is unchanged");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Each rank puts and gets values by every kind of call. */
static void test_calls(void)
{
    const char *keep[][2] = {{"nc_stats", "keep"}, {NULL, NULL}};
    int ncid = create(t_path("calls.nc"), keep), dim, var, req[2];
    MPI_Offset start = 10 * t_rank, n = 10;
    short values[10] = {0};
    long long before;

    ncmpi_def_dim(ncid, "x", 10 * t_nprocs, &dim);
    ncmpi_def_var(ncid, "v", NC_DOUBLE, 1, &dim, &var);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    before = count(ncid, "time_requests");
    expect_ok(ncmpi_put_vara_short_all(ncid, var, &start, &n, values), "a collective put");
    t_check(count(ncid, "time_requests") > before, "a put takes time for its request");
    expect_ok(ncmpi_get_vara_short_all(ncid, var, &start, &n, values), "a collective get");
    expect_ok(ncmpi_iput_vara_short(ncid, var, &start, &n, values, &req[0]), "iput");
    expect_ok(ncmpi_iget_vara_short(ncid, var, &start, &n, values, &req[1]), "iget");
    expect_ok(ncmpi_wait_all(ncid, 2, req, NULL), "wait_all");
    expect_ok(ncmpi_begin_indep_data(ncid), "independent mode");
    expect_ok(ncmpi_put_vara_short(ncid, var, &start, &n, values), "an independent put");
    expect_ok(ncmpi_get_vara_short(ncid, var, &start, &n, values), "an independent get");
    expect_ok(ncmpi_end_indep_data(ncid), "collective mode");
    expect_count(ncid, "puts_collective", 1);
    expect_count(ncid, "gets_collective", 1);
    expect_count(ncid, "puts_independent", 1);
    expect_count(ncid, "gets_independent", 1);
    expect_count(ncid, "posted", 2);
    expect_count(ncid, "waits_collective", 1);
    expect_count(ncid, "waits_independent", 0);
    expect_count(ncid, "waited", 2);
    expect_count(ncid, "put_bytes", 3 * 80);
    expect_count(ncid, "get_bytes", 3 * 80);
    expect_count(ncid, "collective_bytes", 2 * 80);
    t_check(count(ncid, "time_wait") > 0 || t_nprocs == 1, "a rank waits for others");
    t_check(count(ncid, "time_open") > 0 && count(ncid, "peak_memory") > 0, "time and memory");
    expect_code(ncmpi_inq_stats(ncid, "wirtes", NULL), NC_EINVAL, "an unknown counter");
    expect_code(ncmpi_inq_stats(ncid, NULL, NULL), NC_EINVAL, "no name");
    expect_ok(ncmpi_inq_stats(ncid, "writes", NULL), "no value");
    expect_ok(ncmpi_close(ncid), "close");
}

/* A pending bput holds its values; a wait frees them. */
static void test_memory(void)
{
    enum { BYTES = 16 << 20, MEBIBYTE = 1 << 20 };
    const char *keep[][2] = {{"nc_stats", "keep"}, {NULL, NULL}};
    int ncid = create(t_path("memory.nc"), keep), dim, var;
    char *values = calloc(BYTES, 1);
    long long before, after;

    ncmpi_def_dim(ncid, "x", BYTES, &dim);
    ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &var);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(ncmpi_buffer_attach(ncid, BYTES), "a buffer");
    expect_ok(ncmpi_begin_indep_data(ncid), "independent mode");
    before = count(ncid, "peak_memory_of_library");
    for (int i = 0; i < 3 && before > 0; i++) {
        t_local(ncmpi_bput_var(ncid, var, values, BYTES, MPI_BYTE, NULL) == NC_NOERR, "bput");
        t_local(ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL) == NC_NOERR, "wait");
    }
    after = count(ncid, "peak_memory_of_library");
    if (before == 0)
        t_skip("the C library has no malloc_usable_size");
    else
        t_check(before > 1000 && before < BYTES && after >= BYTES && after <= before + BYTES + 5 * MEBIBYTE,
                "the values of one bput at a time: %lld bytes, before them %lld", after, before);
    expect_ok(ncmpi_end_indep_data(ncid), "collective mode");
    expect_ok(ncmpi_buffer_detach(ncid), "no buffer");
    expect_ok(ncmpi_close(ncid), "close");
    free(values);
}

/* Independent puts of whole blocks, each of which is one write: sizes, gaps, order. */
static void test_accesses(void)
{
    const char *keep[][2] = {{"nc_stats", "keep"}, {NULL, NULL}};
    static char bytes[5000];
    static const MPI_Offset starts[] = {0, 5000, 20000, 10000};
    int ncid = create(t_path("accesses.nc"), keep), dim, var;
    MPI_Offset n = sizeof bytes;
    long long before, back;

    ncmpi_def_dim(ncid, "x", 30000, &dim);
    ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &var);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(ncmpi_begin_indep_data(ncid), "independent mode");
    before = count(ncid, "writes");
    back = count(ncid, "writes_back");
    for (int i = 0; i < 4; i++)
        t_local(ncmpi_put_vara(ncid, var, &starts[i], &n, bytes, n, MPI_BYTE) == NC_NOERR, "put %d", i);
    t_check(count(ncid, "writes") - before == 4, "four writes");
    expect_count(ncid, "writes_1K_10K", 4);
    expect_count(ncid, "writes_back", back + 1);
    t_check(count(ncid, "write_gap_bytes") >= 10000 && count(ncid, "write_gap_bytes") < 11000,
            "a gap of 10000 bytes, and on rank 0 that behind the header");
    t_check(count(ncid, "writes_next") == 1, "one write behind another");
    expect_ok(ncmpi_end_indep_data(ncid), "collective mode");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Ranks may end a file with definitions that differ: the report has none of them then. */
static void test_different(int mode)
{
    const char *printed[][2] = {{"nc_stats", "enable"}, {NULL, NULL}};
    int ncid = create(t_path("different.nc"), printed), dim, var;
    char name[20];

    ncmpi_def_dim(ncid, "x", 4, &dim);
    if (mode > 0) {
        expect_ok(ncmpi_enddef(ncid), "enddef");
        expect_ok(ncmpi_redef(ncid), "redef");
    }
    for (int i = 0; i < 100 + 200 * t_rank; i++) {
        snprintf(name, sizeof name, "v%d", i);
        t_local(ncmpi_def_var(ncid, name, NC_INT, 1, &dim, &var) == NC_NOERR, "def_var");
    }
    expect_ok(ncmpi_abort(ncid), "abort with other definitions on each rank");
}

/* --- variables --- */

/* Of a report, or NULL. Rank 0. */
static char *read_text(const char *path)
{
    enum { BYTES = 1 << 20 };
    char *text = calloc(BYTES + 1, 1);
    FILE *file = fopen(path, "r");

    if (file != NULL && text != NULL)
        t_local(fread(text, 1, BYTES, file) < BYTES, "%s is too long", path);
    t_local(file != NULL, "there is no report %s", path);
    if (file != NULL)
        fclose(file);
    return text;
}

/* The number after a key, behind `at`; -1 if there is none. */
static long long number_after(const char *at, const char *key)
{
    at = at == NULL ? NULL : strstr(at, key);
    return at == NULL ? -1 : atoll(at + strlen(key));
}

static int reductions;

int MPI_Reduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    reductions++;
    return PMPI_Reduce(from, to, n, type, op, root, comm);
}

/* Put i + 1 values of one byte to the i-th of `ids` on each rank. */
static void put_vars(const char *path, int nvars, const int *ids, int n)
{
    const char *none[][2] = {{NULL, NULL}};
    int ncid = create(path, none), dim, varid;
    MPI_Offset start = 100 * t_rank;
    char name[20], values[100] = "";

    ncmpi_def_dim(ncid, "x", 100 * t_nprocs, &dim);
    for (int i = 0; i < nvars; i++) {
        snprintf(name, sizeof name, "v%d", i);
        t_local(ncmpi_def_var(ncid, name, NC_BYTE, 1, &dim, &varid) == NC_NOERR, "def_var");
    }
    expect_ok(ncmpi_enddef(ncid), "enddef");
    for (MPI_Offset i = 0, count = 1; i < n; i++, count++)
        t_local(ncmpi_put_vara_all(ncid, ids[i], &start, &count, values, count, MPI_BYTE) == NC_NOERR, "put %d",
                ids[i]);
    expect_ok(ncmpi_begin_indep_data(ncid), "independent mode");
    if (t_rank == t_nprocs - 1)
        t_local(ncmpi_get_var1(ncid, ids[0], &start, values, 1, MPI_BYTE) == NC_NOERR, "get on the last rank");
    expect_ok(ncmpi_end_indep_data(ncid), "collective mode");
    reductions = 0;
    expect_ok(ncmpi_close(ncid), "close");
}

/* The last rank has made a get. The parts of the file have the bytes that all ranks wrote. */
static void check_report(const char *text)
{
    const char *gets = strstr(text, "\"gets_independent\""), *at = strstr(text, "\"written\": [");
    long long sum = number_after(gets, "\"sum\": "), rank = number_after(gets, "\"rank_of_most\": ");
    long long bytes = number_after(strstr(text, "\"write_bytes\""), "\"sum\": "), written = 0;

    t_local(sum == 1 && rank == t_nprocs - 1, "%lld gets, most on rank %lld", sum, rank);
    t_local(at != NULL && bytes > 0, "%lld bytes written", bytes);
    for (at = at == NULL ? "" : strchr(at, '['); *at == '[' || *at == ','; at += 1 + strcspn(at + 1, ",]"))
        written += atoll(at + 1);
    t_local(written == bytes, "%lld bytes in all parts, not %lld", written, bytes);
}

/* The bytes of each of `ids` in the report; of the variables that have no line of their own, in the last line. */
static void check_vars(const char *path, int nvars, const int *ids, int n)
{
    enum { WITH_LINES = 4096 };
    char *text = read_text(path), line[60];
    long long bytes, time, others = 0;

    bytes = number_after(strstr(text, "\"puts_collective\""), "\"sum\": ");
    t_local(bytes == n * t_nprocs, "%lld puts", bytes);
    check_report(text);
    for (int i = 0; i < n; i++) {
        if (nvars > WITH_LINES && ids[i] >= WITH_LINES - 1) {
            others += (i + 1) * t_nprocs;
            continue;
        }
        snprintf(line, sizeof line, "\"name\": \"v%d\"", ids[i]);
        bytes = number_after(strstr(text, line), "\"put_bytes\": ");
        t_local(bytes == (i + 1) * t_nprocs, "%lld bytes of variable %d", bytes, ids[i]);
        bytes = number_after(strstr(text, line), "\"get_bytes\": ");
        t_local(bytes == (i == 0), "%lld bytes read of variable %d", bytes, ids[i]);
        time = number_after(strstr(text, line), "\"nanoseconds\": ");
        t_local(time > 100, "%lld ns for variable %d", time, ids[i]);
    }
    bytes = number_after(strstr(text, "\"(all others)\""), "\"put_bytes\": ");
    t_local(bytes == (others > 0 ? others : -1), "%lld bytes of all others", bytes);
    free(text);
}

/* Reports of files with many variables: one reduction more for each further 128, up to 4096. */
static void test_many_vars(void)
{
    static const struct {
        int nvars, n, ids[8];
    } files[] = {{127, 2, {0, 126}},
                 {128, 2, {0, 127}},
                 {129, 3, {0, 127, 128}},
                 {600, 8, {0, 127, 128, 255, 256, 384, 512, 599}},
                 {4095, 3, {1, 3968, 4094}},
                 {4096, 4, {1, 3967, 4094, 4095}},
                 {4097, 5, {1, 3967, 4094, 4095, 4096}},
                 {5000, 5, {127, 4094, 4095, 4500, 4999}}};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int parts = (files[i].nvars < 4096 ? files[i].nvars + 127 : 4096) / 128;
        char report[4096], setting[4200];

        snprintf(report, sizeof report, "%s", t_path("many.nc.77.json"));
        snprintf(setting, sizeof setting, "json:%.*s/%%f.%%j.json", (int)(strrchr(report, '/') - report), report);
        setenv("PNETCDF_STATS", setting, 1);
        setenv("SLURM_JOB_ID", "77", 1);
        put_vars(t_path("many.nc"), files[i].nvars, files[i].ids, files[i].n);
        unsetenv("PNETCDF_STATS");
        t_local(reductions == parts + 2, "%d reductions, not 2 beside those of %d parts", reductions, parts);
        if (t_rank == 0) {
            check_vars(report, files[i].nvars, files[i].ids, files[i].n);
            unlink(report);
        }
        t_check(true, "the report of %d variables", files[i].nvars);
    }
}

/* --- programs with advice --- */

enum { TIMES = 300, LARGE = 2 << 20 };
static int ncid, var;
static bool bad, hinted, reopened; /* hinted: chunks and filters are those of hints */
static char large[LARGE];

static void check(int err)
{
    if (err == NC_NOERR)
        return;
    fprintf(stderr, "test_statistics: %s\n", ncmpi_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void define(const char *path, MPI_Offset length, const char *align)
{
    const char *hints[][2] = {{align != NULL ? "nc_var_align_size" : NULL, align}, {NULL, NULL}};
    MPI_Info info;
    int dim;

    MPI_Info_create(&info);
    if (align != NULL)
        MPI_Info_set(info, hints[0][0], hints[0][1]);
    check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &ncid));
    MPI_Info_free(&info);
    check(ncmpi_def_dim(ncid, "x", length, &dim));
    check(ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &var));
}

static void do_small(const char *path, bool put)
{
    MPI_Offset n = TIMES;

    define(path, (MPI_Offset)TIMES * t_nprocs, NULL);
    check(ncmpi_enddef(ncid));
    if (bad)
        check(ncmpi_begin_indep_data(ncid));
    for (int i = 0; i < (bad ? TIMES : 1); i++) {
        MPI_Offset at = t_rank * TIMES + i;

        if (bad && put)
            check(ncmpi_put_var1(ncid, var, &at, large, 1, MPI_BYTE));
        else if (bad)
            check(ncmpi_get_var1(ncid, var, &at, large, 1, MPI_BYTE));
        else if (put)
            check(ncmpi_put_vara_all(ncid, var, &at, &n, large, n, MPI_BYTE));
        else
            check(ncmpi_get_vara_all(ncid, var, &at, &n, large, n, MPI_BYTE));
    }
    if (bad)
        check(ncmpi_end_indep_data(ncid));
}

static void do_small_writes(const char *path)
{
    do_small(path, true);
}

static void do_small_reads(const char *path)
{
    do_small(path, false);
}

static void do_small_calls(const char *path)
{
    define(path, (MPI_Offset)TIMES * t_nprocs, NULL);
    check(ncmpi_enddef(ncid));
    for (int i = 0; i < TIMES; i++) {
        MPI_Offset at = t_rank * TIMES + i;

        if (bad)
            check(ncmpi_put_var1_all(ncid, var, &at, large, 1, MPI_BYTE));
        else
            check(ncmpi_iput_var1(ncid, var, &at, large, 1, MPI_BYTE, NULL));
    }
    check(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
}

/* Each call of all ranks has a range of the file behind those of the calls before. */
static void do_rows(const char *path)
{
    define(path, (MPI_Offset)TIMES * t_nprocs, NULL);
    check(ncmpi_enddef(ncid));
    for (int i = 0; i < TIMES; i++) {
        MPI_Offset at = i * t_nprocs + t_rank;

        check(ncmpi_put_var1_all(ncid, var, &at, large, 1, MPI_BYTE));
    }
}

/* There is so much to move that it takes most of the time, also where another process delays one of the calls. */
static void do_growth(const char *path)
{
    MPI_Offset at = 15 * LARGE, n = LARGE;

    define(path, at + n, NULL);
    check(ncmpi__enddef(ncid, bad ? 0 : 100000, 0, 0, 0));
    check(ncmpi_put_vara_all(ncid, var, &at, &n, large, LARGE, MPI_BYTE));
    check(ncmpi_redef(ncid));
    check(ncmpi_put_att(ncid, NC_GLOBAL, "text", NC_BYTE, 90000, large));
    check(ncmpi_enddef(ncid));
}

static void do_holes(const char *path)
{
    MPI_Offset stride = bad ? 2 : 1, n = 2000;

    define(path, 2 * 2000 * TIMES, NULL);
    check(ncmpi_enddef(ncid));
    check(ncmpi_put_var_all(ncid, var, large, 2 * 2000 * TIMES, MPI_BYTE));
    for (int i = 0; i < TIMES; i++) {
        MPI_Offset at = i * 2 * n;

        check(ncmpi_put_vars_all(ncid, var, &at, &n, &stride, large, n, MPI_BYTE));
    }
}

/* Appending records has no holes, though the number of records is read. */
static void do_appends(const char *path)
{
    int dim;

    check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid));
    check(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dim));
    check(ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &var));
    check(ncmpi_enddef(ncid));
    for (MPI_Offset i = 0; i < TIMES; i++)
        check(ncmpi_put_var1_all(ncid, var, &i, large, 1, MPI_BYTE));
}

/* The values of the ranks alternate. */
static void do_columns(const char *path)
{
    MPI_Offset at = t_rank, n = 2 * LARGE / t_nprocs, stride = t_nprocs;

    define(path, n * t_nprocs, NULL);
    check(ncmpi_enddef(ncid));
    check(ncmpi_put_vars_all(ncid, var, &at, &n, &stride, large, n, MPI_BYTE));
    check(ncmpi_begin_indep_data(ncid));
    check(ncmpi_get_var1(ncid, var, &at, large, 1, MPI_BYTE));
    check(ncmpi_end_indep_data(ncid));
}

static void do_alignment(const char *path)
{
    MPI_Offset at = (MPI_Offset)LARGE * t_rank, n = LARGE;

    define(path, (MPI_Offset)LARGE * t_nprocs, bad ? NULL : "1048576");
    check(ncmpi_enddef(ncid));
    check(ncmpi_begin_indep_data(ncid));
    for (int i = 0; i < 10; i++)
        check(ncmpi_put_vara(ncid, var, &at, &n, large, n, MPI_BYTE));
    check(ncmpi_end_indep_data(ncid));
}

/* The variable begins at a stripe, the values of the ranks do not. */
static void do_shifted(const char *path)
{
    MPI_Offset at = (MPI_Offset)LARGE * t_rank + 512, n = LARGE;

    define(path, (MPI_Offset)LARGE * (t_nprocs + 1), "1048576");
    check(ncmpi_enddef(ncid));
    check(ncmpi_begin_indep_data(ncid));
    for (int i = 0; i < 10; i++)
        check(ncmpi_put_vara(ncid, var, &at, &n, large, n, MPI_BYTE));
    check(ncmpi_end_indep_data(ncid));
}

static void do_flushes(const char *path)
{
    define(path, LARGE, NULL);
    check(ncmpi_enddef(ncid));
    for (int i = 0; i < TIMES; i++) {
        check(ncmpi_put_var_all(ncid, var, large, LARGE, MPI_BYTE));
        if (bad || i + 1 == TIMES)
            check(ncmpi_sync(ncid));
    }
}

/* The program computes as long as it puts, on fast machines and on busy ones. */
static void do_hidden(const char *path)
{
    if (!bad)
        setenv("PNETCDF_HINTS", "nc_write_behind=enable", 1);
    define(path, LARGE, NULL);
    check(ncmpi_enddef(ncid));
    for (int i = 0; i < TIMES; i++) {
        double begin = MPI_Wtime();

        check(ncmpi_put_var_all(ncid, var, large, LARGE, MPI_BYTE));
        usleep((useconds_t)(1e6 * (MPI_Wtime() - begin)));
    }
}

/* The same with independent puts, which several ranks do not delay. */
static void do_hidden_independent(const char *path)
{
    MPI_Offset n = LARGE / 2, at = t_rank * n;

    define(path, n * t_nprocs, NULL);
    check(ncmpi_enddef(ncid));
    check(ncmpi_begin_indep_data(ncid));
    for (int i = 0; i < TIMES; i++) {
        double begin = MPI_Wtime();

        check(ncmpi_put_vara(ncid, var, &at, &n, large, n, MPI_BYTE));
        usleep((useconds_t)(1e6 * (MPI_Wtime() - begin)));
    }
    check(ncmpi_end_indep_data(ncid));
}

/* Records that the ranks share, put, synced and got one after the other: what hints of PNETCDF_HINTS let the worker
 * do. bad: the last two are not got. */
static void do_steps(const char *path)
{
    enum { STEPS = 8, STEP = 1 << 17 };
    MPI_Offset start[2] = {0, (MPI_Offset)STEP * t_rank}, count[2] = {1, STEP};
    int dims[2];

    check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    check(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    check(ncmpi_def_dim(ncid, "x", (MPI_Offset)STEP * t_nprocs, &dims[1]));
    check(ncmpi_def_var(ncid, "v", NC_BYTE, 2, dims, &var));
    check(ncmpi_enddef(ncid));
    for (start[0] = 0; start[0] < STEPS; start[0]++)
        check(ncmpi_put_vara_all(ncid, var, start, count, large, STEP, MPI_BYTE));
    check(ncmpi_sync(ncid));
    for (start[0] = 0; start[0] < (bad ? STEPS - 2 : STEPS); start[0]++)
        check(ncmpi_get_vara_all(ncid, var, start, count, large, STEP, MPI_BYTE));
}

static void do_imbalance(const char *path)
{
    define(path, LARGE, NULL);
    check(ncmpi_enddef(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) {
        if (bad && t_rank == 0)
            usleep(500000);
        check(ncmpi_put_var_all(ncid, var, large, LARGE, MPI_BYTE));
    }
}

/* --- chunks --- */

enum { CHUNK = 1 << 20, CHUNKS = 48 }; /* more than the 32 MiB that a rank keeps */

/* n of them. */
static void define_more_chunks(const char *path, MPI_Offset chunk, MPI_Offset n)
{
    int dim;

    check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid));
    check(ncmpi_def_dim(ncid, "x", n * chunk, &dim));
    check(ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &var));
    if (!hinted) {
        check(ncmpi_def_var_chunking(ncid, var, NC_CHUNKED, &chunk));
        check(ncmpi_def_var_deflate(ncid, var, 0, 1, 1));
    }
    check(ncmpi_enddef(ncid));
    if (reopened) {
        check(ncmpi_close(ncid));
        check(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid));
    }
}

static void define_chunks(const char *path, MPI_Offset chunk)
{
    define_more_chunks(path, chunk, CHUNKS);
}

/* Bytes of each chunk, by rank 0. */
static void access_chunks(MPI_Offset chunk, MPI_Offset first, MPI_Offset n, bool put)
{
    MPI_Offset count = t_rank == 0 ? n : 0;

    for (int i = 0; i < CHUNKS; i++) {
        MPI_Offset at = i * chunk + first;

        if (put)
            check(ncmpi_put_vara_all(ncid, var, &at, &count, large, count, MPI_BYTE));
        else
            check(ncmpi_get_vara_all(ncid, var, &at, &count, large, count, MPI_BYTE));
    }
}

static void do_chunks_written_again(const char *path)
{
    define_chunks(path, 1000);
    for (int i = 0; i < 5; i++) {
        access_chunks(1000, 200 * i, 200, true);
        if (bad)
            check(ncmpi_sync(ncid));
    }
}

static void do_chunks_read_again(const char *path)
{
    define_chunks(path, CHUNK);
    access_chunks(CHUNK, 0, CHUNK, true);
    check(ncmpi_sync(ncid));
    for (int i = 0; i < (bad ? 5 : 1); i++)
        access_chunks(CHUNK, 0, bad ? CHUNK / 5 : CHUNK, false);
}

static void do_chunks_little_used(const char *path)
{
    define_chunks(path, CHUNK);
    access_chunks(CHUNK, 0, CHUNK, true);
    check(ncmpi_sync(ncid));
    access_chunks(CHUNK, 0, bad ? 1000 : CHUNK, false);
}

static void do_small_chunks(const char *path)
{
    MPI_Offset first = 0, count = t_rank == 0 ? 2000 * 64 : 0;

    define_more_chunks(path, bad ? 64 : 8 * 64, bad ? 2000 : 250);
    check(ncmpi_put_vara_all(ncid, var, &first, &count, large, count, MPI_BYTE));
}

static void do_incompressible(const char *path)
{
    uint64_t state = 1;

    for (int i = 0; bad && i < LARGE; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        large[i] = (char)(state >> 56);
    }
    define_chunks(path, CHUNK / 8);
    access_chunks(CHUNK / 8, 0, CHUNK / 8, true);
}

/* Series of points, from a file whose chunks are maps. */
static void do_series(const char *path)
{
    enum { POINTS = 60 };
    const MPI_Offset lengths[] = {64, 32, 64}, map[] = {1, 32, 64};
    MPI_Offset start[] = {0, 0, 0}, count[] = {64, 1, 1};
    int dims[3], other;

    check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid));
    check(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
    check(ncmpi_def_dim(ncid, "lat", lengths[1], &dims[1]));
    check(ncmpi_def_dim(ncid, "lon", lengths[2], &dims[2]));
    check(ncmpi_def_var(ncid, "other", NC_DOUBLE, 3, dims, &other));
    check(ncmpi_def_var(ncid, "tas", NC_FLOAT, 3, dims, &var));
    check(ncmpi_def_var_chunking(ncid, var, NC_CHUNKED, map));
    check(ncmpi_enddef(ncid));
    check(ncmpi_put_vara_all(ncid, var, start, lengths, large, 64 * 32 * 64, MPI_FLOAT));
    check(ncmpi_put_vara_all(ncid, other, start, map, large, 32 * 64, MPI_DOUBLE));
    check(ncmpi_sync(ncid));
    for (int i = 0; i < POINTS; i++) {
        start[2] = i;
        check(ncmpi_get_vara_all(ncid, var, start, count, large, 64, MPI_FLOAT));
    }
}

/* The file is open and still empty while another one is closed, which writes the reports. */
static void do_another(const char *path)
{
    char name[4200];
    const signed char value = 1;
    const MPI_Offset first = 0;
    int other;

    snprintf(name, sizeof name, "%s.another", path);
    check(ncmpi_create(MPI_COMM_WORLD, name, NC_CLOBBER, MPI_INFO_NULL, &other));
    check(ncmpi_enddef(other));
    define(path, LARGE, NULL);
    check(ncmpi_close(other));
    check(ncmpi_enddef(ncid));
    check(ncmpi_put_var1_schar_all(ncid, var, &first, &value));
}

static void run_program(const char *what, const char *path)
{
    static const struct {
        const char *name;
        void (*run)(const char *path);
    } programs[] = {{"small_writes", do_small_writes},
                    {"small_reads", do_small_reads},
                    {"small_calls", do_small_calls},
                    {"rows", do_rows},
                    {"growth", do_growth},
                    {"holes", do_holes},
                    {"alignment", do_alignment},
                    {"appends", do_appends},
                    {"columns", do_columns},
                    {"shifted", do_shifted},
                    {"flushes", do_flushes},
                    {"hidden", do_hidden},
                    {"hidden_independent", do_hidden_independent},
                    {"steps", do_steps},
                    {"imbalance", do_imbalance},
                    {"chunks_written_again", do_chunks_written_again},
                    {"chunks_read_again", do_chunks_read_again},
                    {"series", do_series},
                    {"chunks_little_used", do_chunks_little_used},
                    {"small_chunks", do_small_chunks},
                    {"incompressible", do_incompressible},
                    {"another", do_another}};

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(what, programs[i].name) == 0)
            programs[i].run(path);
    check(ncmpi_close(ncid));
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    if (argc == 4) {
        hinted = strcmp(argv[2], "hinted") == 0;
        reopened = strcmp(argv[2], "reopened") == 0;
        bad = strcmp(argv[2], "good") != 0;
        run_program(argv[1], argv[3]);
        MPI_Finalize();
        return 0;
    }
    test_off();
    test_memory(); /* before larger buffers are made */
    test_calls();
    test_accesses();
    test_different(0);
    test_different(1);
    test_many_vars();
    return t_finish();
}
