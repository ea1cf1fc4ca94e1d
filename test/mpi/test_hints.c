/* Hints: the syntax of PNETCDF_HINTS, the precedence of sources, invalid values, reports and display, and the effect of
 * each hint. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../expect.h"
#include "dataset/hints.h"
#include "dataset/hints_text.h"
#include "dataset/registry.h"

static char path[4096];

/* --- the text of PNETCDF_HINTS --- */

/* "a=1 b=2" in the order of an MPI_Info that was given them in alphabetical order. */
static void flatten(MPI_Info info, char *out, size_t room)
{
    int n = 0;
    out[0] = '\0';
    MPI_Info_get_nkeys(info, &n);
    for (char letter = 'a'; letter <= 'z'; letter++) {
        for (int i = 0; i < n; i++) {
            char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1] = "";
            int flag;
            MPI_Info_get_nthkey(info, i, key);
            MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
            const char *pieces[] = {out[0] ? " " : "", key, "=", value};
            for (int k = 0; key[0] == letter && k < 4; k++)
                strncat(out, pieces[k], room - strlen(out) - 1);
        }
    }
}

static void test_grammar(void)
{
    static const struct {
        const char *list, *path, *hints;
    } rows[] = {
        {"", "x.nc", ""},
        {"a=1", "x.nc", "a=1"},
        {" a = 1 ; b=2;", "x.nc", "a=1 b=2"},
        {"a=1;a=2", "x.nc", "a=2"},
        {";;a=1;", "x.nc", "a=1"},
        {"a;b=2;=3;c=", "x.nc", "b=2"},
        {"a=*:1;b=x:2,y:3", "x.nc", "a=*:1 b=x:2,y:3"}, /* the ':' comes after the '=': no pattern */
        {"a=b=c", "x.nc", "a=b=c"},
        {"*.nc:a=1", "x.nc", "a=1"},
        {"*.nc:a=1", "x.h5", ""},
        {"*.nc:a=1:b=2,other*.nc:a=3", "other.nc", "a=1 b=2"}, /* the first match wins */
        {"other*.nc:a=3,*.nc:a=1:b=2", "other.nc", "a=3"},
        {"other*.nc:a=3,*.nc:a=1:b=2", "out.nc", "a=1 b=2"},
        {" *.nc : a = 1 : b = 2 ", "x.nc", "a=1 b=2"},
        {"*.nc:a=1", "/scratch/run/x.nc", "a=1"},
        {"x*.nc:a=1", "/scratch/run/x.nc", "a=1"}, /* without '/': the last part of the path serves */
        {"/scratch/*.nc:a=1", "/scratch/run/x.nc", "a=1"},
        {"run/x.nc:a=1", "/scratch/run/x.nc", ""},
        {"x[0-9].nc:a=1,x?.nc:a=2", "x7.nc", "a=1"},
        {"x[0-9].nc:a=1,x?.nc:a=2", "xy.nc", "a=2"},
        {"x.nc:,*.nc:a=1", "x.nc", ""}, /* a pattern without hints keeps a file from the later ones */
        {"x.nc:,*.nc:a=1", "y.nc", "a=1"},
        {"a=1;*.nc:a=2;b=3", "x.nc", "a=2 b=3"}, /* both forms: patterns outrank what is for all files */
        {"*.nc:a=2;a=1", "x.nc", "a=2"},
        {"y.nc:a=1;x.nc:a=2;*.nc:a=3", "x.nc", "a=2"},
        {"*.nc:a=1:bad:b=2", "x.nc", "a=1 b=2"},
        {"bad,*.nc:a=1", "x.nc", "a=1"},
        {"y.nc:a=1,bad,*.nc:a=3", "x.nc", "a=3"},
        {"*.nc:a=zstd:3:b=deflate:1,*.h5:a=2", "x.nc", "a=zstd:3 b=deflate:1"}, /* an integer belongs to the value */
        {"*.nc:a=zstd:-3:b=2", "x.nc", "a=zstd:-3 b=2"},
        {"*.nc:a=1:3x:b=2", "x.nc", "a=1 b=2"},
        {"*.nc:nc_chunks=10,20:a=1,*.h5:a=2", "x.nc", "a=1 nc_chunks=10,20"}, /* and lengths of chunks */
        {"*.nc:nc_chunks=10,20:a=1,*.h5:a=2", "x.h5", "a=2"},
        {"*.nc:nc_chunks@T*=x/10,y/20,*.h5:a=2", "x.nc", "nc_chunks@T*=x/10,y/20"},
        {"*.nc:nc_chunks@T*=x/10,y/20,*.h5:a=2", "x.h5", "a=2"},
        {"*.nc:a=10,20:a=3", "20", "a=3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char got[256];
        MPI_Info info;
        MPI_Info_create(&info);
        int err = pnc_dataset_hints_parse(rows[i].list, rows[i].path, false, info, NULL);
        flatten(info, got, sizeof got);
        MPI_Info_free(&info);
        t_check(err == NC_NOERR && strcmp(got, rows[i].hints) == 0, "PNETCDF_HINTS='%s' for %s: %s (expected %s)",
                rows[i].list, rows[i].path, got, rows[i].hints);
    }
}

/* --- values --- */

static MPI_Info one_hint(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (key != NULL)
        MPI_Info_set(info, key, value);
    return info;
}

/* The value that ncmpi_inq_file_info returns for a key; empty if it returns none. */
static const char *get_reported(int ncid, const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info used = MPI_INFO_NULL;
    int flag = 0;
    value[0] = '\0';
    if (ncmpi_inq_file_info(ncid, &used) != NC_NOERR)
        return "(failed)";
    MPI_Info_get(used, key, MPI_MAX_INFO_VAL, value, &flag);
    MPI_Info_free(&used);
    return flag ? value : "";
}

static int create(MPI_Comm comm, MPI_Info info)
{
    int ncid = -1;
    expect_ok(ncmpi_create(comm, path, NC_CLOBBER | NC_64BIT_DATA, info, &ncid), "create");
    return ncid;
}

static void test_values(void)
{
    static const struct {
        const char *key, *given, *reported;
    } rows[] = {
        {"nc_var_align_size", NULL, "512"},
        {"nc_var_align_size", "1024", "1024"},
        {"nc_var_align_size", "1021", "1024"},
        {"nc_var_align_size", "0", "512"},
        {"nc_var_align_size", "-4", "512"},
        {"nc_var_align_size", "4k", "512"},
        {"nc_header_align_size", NULL, "512"},
        {"nc_header_align_size", "256", "256"},
        {"nc_record_align_size", NULL, "512"},
        {"nc_record_align_size", " 6 ", "8"},
        {"nc_record_align_size", "0", "512"},
        {"nc_header_read_chunk_size", NULL, "262144"},
        {"nc_header_read_chunk_size", "1", "48"},
        {"nc_header_read_chunk_size", "50", "52"},
        {"nc_data_move_chunk_size", NULL, "1048576"},
        {"nc_data_move_chunk_size", "-1", "268435456"}, /* one chunk, as large as they get */
        {"nc_data_move_chunk_size", "1", "4096"},       /* smaller pieces take too long */
        {"nc_data_move_chunk_size", "0", "4096"},
        {"nc_data_move_chunk_size", "4097", "4097"},
        {"nc_ibuf_size", NULL, "16777216"},
        {"nc_ibuf_size", "0", "65536"},
        {"nc_ibuf_size", "99999999999999999999", "16777216"},
        {"nc_in_place_swap", "enable", "disable"},
        {"nc_num_aggrs_per_node", "2", "2"},
        {"nc_hash_size_dim", NULL, "256"},
        {"nc_hash_size_var", "17", "17"},
        {"nc_burst_buf_shared_logs", "enable", "disable"},
        {"pnetcdf_subfiling", "enable", "disable"},
        {"nc_num_subfiles", "2", "0"},
        {"nc_driver", NULL, "mpiio"},
        {"nc_driver", "gio", "mpiio"},
        {"nc_driver", "stone-tablet", "mpiio"},
        {"nc_short_file", NULL, "zero"},
        {"nc_short_file", "error", "error"},
        {"nc_short_file", "Error", "zero"},
        {"cb_buffer_size", "1234567", "1234567"},
        {"nc_ina_node_list", "x", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        MPI_Info info = one_hint(rows[i].given != NULL ? rows[i].key : NULL, rows[i].given);
        int ncid = create(MPI_COMM_WORLD, info);
        MPI_Info_free(&info);
        const char *value = get_reported(ncid, rows[i].key);
        t_check(strcmp(value, rows[i].reported) == 0, "%s=%s: in use is %s (expected %s)", rows[i].key,
                rows[i].given != NULL ? rows[i].given : "(not given)", value, rows[i].reported);
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    }
}

/* Offset of a fixed-size variable in a new file: a multiple of the alignment that counts, the header being small. */
static void try_precedence(const char *environment, const char *hint, MPI_Offset argument, MPI_Offset expected)
{
    MPI_Info info = one_hint(hint != NULL ? "nc_var_align_size" : NULL, hint);
    MPI_Offset offset = -1;
    int varid, dim, ncid;
    if (environment != NULL && t_rank == 0) /* rank 0's counts */
        setenv("PNETCDF_HINTS", environment, 1);
    if (environment != NULL && t_rank == 1)
        setenv("PNETCDF_HINTS", "nc_var_align_size=65536", 1);
    ncid = create(MPI_COMM_WORLD, info);
    MPI_Info_free(&info);
    unsetenv("PNETCDF_HINTS");
    t_local(ncmpi_def_dim(ncid, "x", 10, &dim) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &varid) == NC_NOERR, "def_var");
    t_local(ncmpi__enddef(ncid, 0, argument, 0, 0) == NC_NOERR, "_enddef");
    t_local(ncmpi_inq_varoffset(ncid, varid, &offset) == NC_NOERR, "inq_varoffset");
    t_check(offset == expected, "environment %s, info %s, argument %lld: the variable begins at %lld (expected %lld)",
            environment != NULL ? environment : "-", hint != NULL ? hint : "-", (long long)argument, (long long)offset,
            (long long)expected);
    t_check(atoll(get_reported(ncid, "nc_var_align_size")) == expected,
            "and nc_var_align_size is reported with this value (%s)", get_reported(ncid, "nc_var_align_size"));
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

static void test_precedence(void)
{
    try_precedence(NULL, NULL, 0, 512);
    try_precedence(NULL, NULL, 4096, 4096);
    try_precedence(NULL, "1024", 4096, 1024);
    try_precedence("nc_var_align_size=2048", "1024", 4096, 2048);
    try_precedence("nc_var_align_size=2048;*.nc:nc_var_align_size=8192", "1024", 4096, 8192);
    try_precedence("*.h5:nc_var_align_size=8192,other.nc:nc_var_align_size=2048", "1024", 4096, 1024);
    try_precedence("nc_var_align_size=nonsense", NULL, 4096, 4096);
}

/* Two names of one hint: within a source nc_var_align_size counts, then PNETCDF_HINTS outranks the MPI_Info. */
static void test_synonyms(void)
{
    static const struct {
        const char *environment, *var, *header;
        MPI_Offset expected;
    } rows[] = {
        {"", "44", "68", 44},
        {"", "x", "68", 68},
        {"nc_header_align_size=1048;nc_var_align_size=1044", NULL, NULL, 1044},
        {"nc_var_align_size=1044;nc_header_align_size=1048", NULL, NULL, 1044},
        {"nc_header_align_size=1068", "1044", NULL, 1068},
        {"nc_header_align_size=1068", "1044", "1048", 1068},
        {"nc_var_align_size=1068", NULL, "1044", 1068},
        {"nc_var_align_size=x;nc_header_align_size=1068", "1044", NULL, 1068},
        {"nc_header_align_size=x", "1044", NULL, 1044},
        {"nc_header_align_size=0", "1044", NULL, 1044},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        MPI_Info info = one_hint(rows[i].var != NULL ? "nc_var_align_size" : NULL, rows[i].var);
        MPI_Offset offset = -1, expected = rows[i].expected;
        int varid, ncid;

        if (rows[i].header != NULL)
            MPI_Info_set(info, "nc_header_align_size", rows[i].header);
        setenv("PNETCDF_HINTS", rows[i].environment, 1);
        ncid = create(MPI_COMM_WORLD, info);
        unsetenv("PNETCDF_HINTS");
        MPI_Info_free(&info);
        t_local(ncmpi_def_var(ncid, "v", NC_INT, 0, NULL, &varid) == NC_NOERR, "def_var");
        t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
        t_local(ncmpi_inq_varoffset(ncid, varid, &offset) == NC_NOERR, "inq_varoffset");
        while (expected < 100) /* bytes of the header */
            expected += rows[i].expected;
        t_check(offset == expected, "environment '%s', info %s, %s: the variable begins at %lld (expected %lld)",
                rows[i].environment, rows[i].var != NULL ? rows[i].var : "-",
                rows[i].header != NULL ? rows[i].header : "-", (long long)offset, (long long)expected);
        t_check(atoll(get_reported(ncid, "nc_var_align_size")) == rows[i].expected &&
                    atoll(get_reported(ncid, "nc_header_align_size")) == rows[i].expected,
                "both names are reported with %lld", (long long)rows[i].expected);
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    }
}

/* --- what hints do --- */

static const int constant[4] = {1, 2, 3, 4}; /* in memory that cannot be written */

static void test_in_place_swap(void)
{
    MPI_Info info = one_hint("nc_in_place_swap", "enable");
    MPI_Offset start = 4 * t_rank, count = 4;
    int ncid = create(MPI_COMM_WORLD, info), dim, varid;
    MPI_Info_free(&info);
    ncmpi_def_dim(ncid, "x", 4 * t_nprocs, &dim);
    ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &varid);
    ncmpi_enddef(ncid);
    expect_ok(ncmpi_put_vara_int_all(ncid, varid, &start, &count, constant),
              "nc_in_place_swap=enable: a constant buffer is written, and not swapped");
    expect_ok(ncmpi_close(ncid), "close");
}

/* ROMIO then reports striping on some ranks only; MPI opens the file a second time, with the hints of the first. */
static void test_no_independent(void)
{
    MPI_Info info = one_hint("romio_no_indep_rw", "true");
    MPI_Offset start = t_rank, count = 4, stride = t_nprocs;
    int dim, varid, ncid, values[4];

    MPI_Info_set(info, "nc_strategy", "mpi_io");
    ncid = create(MPI_COMM_WORLD, info);
    MPI_Info_free(&info);
    ncmpi_def_dim(ncid, "x", 4 * t_nprocs, &dim);
    ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &varid);
    ncmpi_enddef(ncid);
    expect_ok(ncmpi_put_vars_int_all(ncid, varid, &start, &count, &stride, constant), "put without independent access");
    expect_ok(ncmpi_get_vars_int_all(ncid, varid, &start, &count, &stride, values), "get without independent access");
    t_check(memcmp(values, constant, sizeof values) == 0, "the values of the put");
    expect_ok(ncmpi_close(ncid), "close");
}

/* What the driver memory cannot do is not in effect, and the display says so. */
static void test_ability(void)
{
    MPI_Info info = one_hint("nc_driver", "memory");
    int ncid;

    if (t_nprocs > 1)
        return;
    MPI_Info_set(info, "nc_whole_files", "enable");
    MPI_Info_set(info, "nc_overlap", "enable");
    ncid = create(MPI_COMM_SELF, info);
    t_check(strcmp(get_reported(ncid, "nc_whole_files"), "disable") == 0, "nc_whole_files is not in effect in memory");
    t_check(strcmp(get_reported(ncid, "nc_overlap"), "disable") == 0, "nc_overlap is not in effect in memory");
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_delete(path, info), "delete");
    MPI_Info_free(&info);
}

static void test_memory_driver(void)
{
    MPI_Info info = one_hint("nc_driver", "memory");
    struct stat facts;
    int ncid, value = 0;
    MPI_Offset one = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_nprocs > 1)
        expect_code(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), NC_EDRIVER,
                    "nc_driver=memory for several ranks");
    ncid = create(MPI_COMM_SELF, info);
    ncmpi_put_att_int(ncid, NC_GLOBAL, "answer", NC_INT, 1, &(int){42 + t_rank});
    t_check(strcmp(get_reported(ncid, "nc_driver"), "memory") == 0, "nc_driver=memory is reported");
    expect_ok(ncmpi_close(ncid), "close a file in memory");
    t_check(stat(path, &facts) != 0, "nothing of it is on the disk");
    expect_code(ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), NC_ENOENT,
                "the default driver has no such file");
    expect_ok(ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, info, &ncid), "nc_driver=memory opens it again");
    ncmpi_get_att_int(ncid, NC_GLOBAL, "answer", &value);
    t_check(value == 42 + t_rank, "it holds what was put (%d)", value);
    expect_ok(ncmpi_delete(path, info), "it can be deleted");
    expect_ok(ncmpi_inq_header_size(ncid, &one), "and lives on where it is open");
    expect_ok(ncmpi_close(ncid), "close");
    expect_code(ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, info, &ncid), NC_ENOENT, "it is gone");
    MPI_Info_free(&info);
}

/* --- memory --- */

/* Kilobytes on a line of /proc/self/status; -1 where there is none. */
static long status_of(const char *what)
{
    char text[256];
    long found = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(text, sizeof text, file) != NULL)
        if (strncmp(text, what, strlen(what)) == 0)
            found = atol(text + strlen(what));
    if (file != NULL)
        fclose(file);
    return found;
}

/* Linux: from now on VmHWM is the peak. */
static bool forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    bool done = file != NULL && fputs("5\n", file) >= 0;
    if (file != NULL)
        done = fclose(file) == 0 && done;
    return done && status_of("VmHWM:") - status_of("VmRSS:") < 256;
}

/* Bytes that merging many small pieces takes, beyond what was there before. */
static long merge_with(const char *memory, const int *values, MPI_Offset rows)
{
    MPI_Info info = one_hint("nc_ibuf_size", memory);
    int dims[2], varid, ncid = create(MPI_COMM_WORLD, info), err;
    MPI_Offset half = rows / 2, count[2] = {half, 16}, start[2] = {0, 16 * t_rank};
    long before, after;

    MPI_Info_free(&info);
    ncmpi_def_dim(ncid, "row", rows, &dims[0]);
    ncmpi_def_dim(ncid, "column", 16 * (t_nprocs + 1), &dims[1]);
    ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &varid);
    ncmpi_enddef(ncid);
    for (int k = 0; k < 2; k++, start[0] += half)
        ncmpi_iput_vara_int(ncid, varid, start, count, values + k * half * 16, NULL);
    forget_peak();
    before = status_of("VmRSS:");
    err = ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL);
    after = status_of("VmHWM:");
    t_local(err == NC_NOERR, "wait_all: %s", ncmpi_strerrno(err));
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    return after - before;
}

static void test_memory(void)
{
    MPI_Offset rows = 32 * 1024 * 8 / (t_nprocs + 1) / 16 * 16; /* a file of 16 MiB */
    int *values = malloc((size_t)rows * 16 * sizeof *values), can = forget_peak(), all;
    long little, much;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    can = 0;
#endif
    if (getenv("PNC_TEST_WRAPPER") != NULL && *getenv("PNC_TEST_WRAPPER") != '\0')
        can = 0;
    MPI_Allreduce(&can, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) {
        t_skip("the memory in use cannot be measured here");
        free(values);
        return;
    }
    for (MPI_Offset i = 0; i < rows * 16; i++)
        values[i] = (int)i;
    merge_with("1048576", values, rows); /* MPI's own buffers are there from then on */
    little = merge_with("1048576", values, rows);
    much = merge_with("134217728", values, rows);
    t_check(little < (1 + 4 + 2) * 1024, "nc_ibuf_size of 1 MiB: %ld KiB were taken", little);
    t_check(much < (16 + 4 + 2) * 1024, "nc_ibuf_size of 128 MiB: %ld KiB were taken", much);
    free(values);
}

/* --- every row of the table --- */

/* What ncmpi_inq_file_info reports for a hint of a new file, and the field of the dataset, where the hint has one. */
static void read_back(const pnc_hint *hint, MPI_Info info, const char *environment, char *reported, int64_t *field)
{
    MPI_Info used = MPI_INFO_NULL;
    int ncid, found = 0;

    reported[0] = '\0';
    if (environment != NULL)
        setenv("PNETCDF_HINTS", environment, 1);
    ncid = create(MPI_COMM_WORLD, info);
    unsetenv("PNETCDF_HINTS");
    t_local(ncmpi_inq_file_info(ncid, &used) == NC_NOERR, "inq_file_info");
    MPI_Info_get(used, hint->name, MPI_MAX_INFO_VAL, reported, &found);
    if (!found)
        reported[0] = '\0';
    MPI_Info_free(&used);
    if (hint->kind == PNC_HINT_SIZE || hint->kind == PNC_HINT_CHOICE)
        *field = *(int64_t *)((char *)&pnc_dataset_registry_peek(ncid)->hints + hint->field);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

/* A folder does not replace a file, nor a file a folder. */
static void remove_dataset(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        (void)ncmpi_delete(path, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* With `value` given by MPI_Info, and `other` by PNETCDF_HINTS (either may be NULL), the field and the report are as
 * wanted; a report of NULL, or one of the MPI library, is not checked. */
static void expect_row(const pnc_hint *hint, const char *value, const char *other, int64_t field, const char *report)
{
    MPI_Info info = value == NULL ? MPI_INFO_NULL : one_hint(hint->name, value);
    bool checks_report = report != NULL && !pnc_dataset_hint_is_passed(hint);
    char environment[MPI_MAX_INFO_VAL + 128], reported[MPI_MAX_INFO_VAL + 1];
    int64_t got = field;

#ifdef OPEN_MPI /* without ROMIO, another strategy takes the place of this one */
    if (strcmp(hint->name, "nc_strategy") == 0 && report != NULL && strcmp(report, "mpi_io") == 0)
        report = "two_phase";
#endif
    snprintf(environment, sizeof environment, "%s=%s", hint->name, other == NULL ? "" : other);
    read_back(hint, info, other == NULL ? NULL : environment, reported, &got);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    t_check(t_local(got == field && (!checks_report || strcmp(reported, report) == 0),
                    "field %lld, not %lld; \"%s\" reported, not \"%s\"", (long long)got, (long long)field, reported,
                    report == NULL ? "" : report),
            "%s: MPI_Info %s, PNETCDF_HINTS %s", hint->name, value == NULL ? "unset" : value,
            other == NULL ? "unset" : other);
}

static void test_number(const pnc_hint *hint)
{
    int64_t small = (hint->least + 1 + hint->multiple) / hint->multiple * hint->multiple, large = 2 * small;
    int64_t rounded = (hint->least + hint->multiple - 1) / hint->multiple * hint->multiple;
    char one[32], two[32], few[32];

    snprintf(one, sizeof one, "%lld", (long long)small);
    snprintf(two, sizeof two, "%lld", (long long)large);
    snprintf(few, sizeof few, "%lld", (long long)hint->least - 1);
    expect_row(hint, NULL, NULL, hint->otherwise, NULL);
    expect_row(hint, one, NULL, small, one);
    expect_row(hint, NULL, two, large, two);
    expect_row(hint, one, two, large, two);
    expect_row(hint, "many", NULL, hint->otherwise, NULL);
    if (hint->least > 0)
        expect_row(hint, few, NULL, hint->below == PNC_BELOW_SENSELESS ? hint->otherwise : rounded, NULL);
}

static void test_choice(const pnc_hint *hint)
{
    const char *last = hint->words[0];
    int64_t index = 0;

    t_check(hint->report == NULL || strcmp(hint->value, hint->words[0]) == 0, "%s: the default is its first word",
            hint->name);
    expect_row(hint, NULL, NULL, 0, hint->value);
    expect_row(hint, "nonsense", NULL, 0, hint->value);
    if (strcmp(hint->name, "nc_driver") == 0) /* its last word needs a single process: test_memory_driver */
        return;
    while (hint->words[index + 1] != NULL)
        last = hint->words[++index];
    if (strcmp(hint->name, "nc_format") == 0)
        remove_dataset();
    expect_row(hint, last, NULL, index, last);
    expect_row(hint, hint->words[0], last, index, last);
    if (strcmp(hint->name, "nc_format") == 0)
        remove_dataset();
}

static void test_text(const pnc_hint *hint)
{
    expect_row(hint, NULL, NULL, 0, "");
    expect_row(hint, "nonsense", NULL, 0, "");
    if (strcmp(hint->name, "nc_costs") != 0) /* test_storage_hints tests those of variables */
        return;
    expect_row(hint, "run_ns:7", NULL, 0, "run_ns:7");
    expect_row(hint, "run_ns:7", "sent_ps:1,run_ns:9", 0, "sent_ps:1,run_ns:9");
}

static void test_rows(void)
{
    for (int i = 0; i < pnc_hint_count; i++) {
        const pnc_hint *hint = &pnc_hint_table[i];

        switch (hint->kind) {
        case PNC_HINT_SIZE: test_number(hint); break;
        case PNC_HINT_CHOICE: test_choice(hint); break;
        case PNC_HINT_TEXT: test_text(hint); break;
        case PNC_HINT_FIXED:
            expect_row(hint, NULL, NULL, 0, hint->value);
            expect_row(hint, "nonsense", NULL, 0, hint->value);
            break;
        case PNC_HINT_FREE:
            expect_row(hint, NULL, NULL, 0, hint->value);
            expect_row(hint, "7", NULL, 0, "7");
            expect_row(hint, "7", "9", 0, "9");
            break;
        case PNC_HINT_OUTPUT: expect_row(hint, "7", NULL, 0, ""); break;
        case PNC_HINT_NUMBER:
        case PNC_HINT_PASSED: /* MPI-IO reports what it likes */ break;
        }
    }
}

/* --- PNETCDF_HINTS_DISPLAY --- */

static bool reads; /* show_as opens the file of the last test, for reading */

/* What rank 0 writes to stderr while a file is created. */
static char *show_as(const char *wanted, const char *environment, MPI_Info info)
{
    static char text[65536];
    char log[4096];
    int kept = dup(2), ncid;
    FILE *file;

    snprintf(log, sizeof log, "%s", t_path("stderr.txt"));
    setenv("PNETCDF_HINTS_DISPLAY", wanted, 1);
    setenv("PNETCDF_HINTS", environment, 1);
    fflush(stderr);
    if (t_rank == 0 && freopen(log, "w", stderr) == NULL)
        abort();
    if (reads)
        t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid) == NC_NOERR, "open");
    else
        ncid = create(MPI_COMM_WORLD, info);
    fflush(stderr);
    if (t_rank == 0)
        dup2(kept, 2);
    close(kept);
    unsetenv("PNETCDF_HINTS_DISPLAY");
    unsetenv("PNETCDF_HINTS");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    memset(text, 0, sizeof text);
    file = t_rank == 0 ? fopen(log, "r") : NULL;
    if (file != NULL) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    return text;
}

static char *show(const char *environment, MPI_Info info)
{
    return show_as("all", environment, info);
}

/* Rank 0 has a line that begins with the name and continues with value, origin and effect, one blank between words. */
static void expect_line(const char *text, const char *name, const char *wanted)
{
    char line[1024] = "", pattern[64];
    const char *at;
    size_t n = 0;

    snprintf(pattern, sizeof pattern, "\n    %s ", name);
    at = strstr(text, pattern);
    for (at = at == NULL ? "" : at + 5 + strlen(name); *at != '\0' && *at != '\n' && n < sizeof line - 1; at++)
        if (*at != ' ' || (n > 0 && line[n - 1] != ' '))
            line[n++] = *at;
    t_check(t_rank != 0 || strncmp(line, wanted, strlen(wanted)) == 0, "display of %s: %s (expected %s ...)", name,
            line, wanted);
}

static void test_display_of_synonyms(void)
{
    MPI_Info info = one_hint("nc_var_align_size", "44");
    const char *text = show("nc_header_align_size=68", info);

    expect_line(text, "nc_var_align_size", "44 MPI_Info ignored: nc_header_align_size from PNETCDF_HINTS is used, 68");
    expect_line(text, "nc_header_align_size", "68 PNETCDF_HINTS used");
    text = show("", info);
    expect_line(text, "nc_var_align_size", "44 MPI_Info used");
    expect_line(text, "nc_header_align_size", "44 MPI_Info set by nc_var_align_size");
    MPI_Info_set(info, "nc_header_align_size", "68");
    text = show("", info);
    expect_line(text, "nc_header_align_size", "68 MPI_Info ignored: nc_var_align_size from MPI_Info is used, 44");
    MPI_Info_free(&info);
}

/* What was set stands first, and nothing else unless the value is "all". */
static void test_display_of_set(void)
{
    MPI_Info info = one_hint("nc_strategy", "direct");
    const char *text = show_as("1", "nc_burst_buf_shared_logs=disable;cb_nodes=1", info), *set, *other;
    int lines = 0;

    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    t_check(t_rank != 0 || lines == 6, "a title, the columns, 3 hints and what is left out: %s", text);
    expect_line(text, "nc_strategy", "direct MPI_Info used");
    expect_line(text, "cb_nodes",
                t_nprocs == 1 ? "1 PNETCDF_HINTS ignored: one rank has the file"
                              : "1 PNETCDF_HINTS ignored: nc_strategy=direct is used");
    expect_line(text, "nc_burst_buf_shared_logs", "disable PNETCDF_HINTS in effect: each process has a log");
    t_check(t_rank != 0 || strstr(text, "hints that were not set: PNETCDF_HINTS_DISPLAY=all") != NULL,
            "the display says how to see the others");
    text = show("cb_nodes=1", info);
    set = strstr(text, "\n    cb_nodes ");
    other = strstr(text, "\n    nc_ibuf_size ");
    t_check(t_rank != 0 || (set != NULL && other != NULL && set < other), "what was set stands before the others");
    t_check(t_rank != 0 || strstr(text, "were not set") == NULL, "all are shown");
    MPI_Info_free(&info);
}

/* Rank 0's line for a hint begins with its value and this, for a file that is created or opened with these hints. */
static void expect_effect(const char *hints, const char *name, const char *wanted)
{
    expect_line(show_as("1", hints, MPI_INFO_NULL), name, wanted);
}

/* "used" is said of what decides something; otherwise what does. */
static void test_display_of_effect(void)
{
    char wanted[80];
    int on_node;
    MPI_Comm node;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &on_node);
    MPI_Comm_free(&node);
    expect_effect("nc_prefetch=enable;nc_write_behind_memory=8388608", "nc_prefetch",
                  "enable PNETCDF_HINTS used as enable, with at most 8 MiB");
    expect_effect("nc_prefetch=enable;nc_write_behind=enable;nc_write_behind_memory=2097152", "nc_prefetch",
                  "enable PNETCDF_HINTS ignored: nc_write_behind_memory has less than 4 MiB");
    if (t_nprocs == 1) {
        expect_effect("romio_cb_write=enable", "romio_cb_write", "enable PNETCDF_HINTS ignored: one rank has the file");
        expect_effect("nc_strategy=two_phase", "nc_strategy", "two_phase PNETCDF_HINTS ignored: one rank");
        expect_effect("nc_strategy=merged", "nc_strategy", "merged PNETCDF_HINTS used");
        expect_effect("nc_timeout=5", "nc_timeout", "5 PNETCDF_HINTS ignored: one rank has the file");
        return;
    }
    snprintf(wanted, sizeof wanted, "99 PNETCDF_HINTS used as %d (of %d ranks)", t_nprocs, t_nprocs);
    expect_effect("cb_nodes=99", "cb_nodes", wanted);
    snprintf(wanted, sizeof wanted, "99 PNETCDF_HINTS used as %d (of %d ranks on this node)", on_node, on_node);
    expect_effect("nc_num_aggrs_per_node=99", "nc_num_aggrs_per_node", wanted);
    expect_effect("cb_nodes=2;nc_num_aggrs_per_node=1", "cb_nodes", "2 PNETCDF_HINTS used");
    expect_effect("cb_nodes=2;nc_num_aggrs_per_node=1", "nc_num_aggrs_per_node",
                  "1 PNETCDF_HINTS ignored: cb_nodes=2 is used");
    expect_effect("romio_cb_write=disable", "romio_cb_write", "disable PNETCDF_HINTS used;");
    expect_effect("romio_cb_write=disable;romio_no_indep_rw=true", "romio_cb_write",
                  "disable PNETCDF_HINTS ignored: romio_no_indep_rw=true is used");
    expect_effect("romio_cb_read=enable;nc_strategy=two_phase", "romio_cb_read",
                  "enable PNETCDF_HINTS ignored: nc_strategy=two_phase is used");
    expect_effect("cb_nodes=2;nc_strategy=two_phase", "cb_nodes", "2 PNETCDF_HINTS used;");
    expect_effect("cb_buffer_size=100", "cb_buffer_size", "100 PNETCDF_HINTS used as ");
    expect_effect("striping_unit=10000", "striping_unit", "10000 PNETCDF_HINTS used as 12288");
    expect_effect("nc_timeout_action=abort", "nc_timeout_action", "abort PNETCDF_HINTS ignored: nc_timeout is not set");
    expect_effect("nc_timeout=500;nc_timeout_action=abort", "nc_timeout_action", "abort PNETCDF_HINTS used");
}

/* Layout hints of a file that is only read. */
static void test_display_of_reader(void)
{
    reads = true;
    expect_effect("nc_var_align_size=1021", "nc_var_align_size", "1021 PNETCDF_HINTS ignored: the file is opened for");
    expect_effect("nc_data_move_limit=10", "nc_data_move_limit", "10 PNETCDF_HINTS ignored: the file is opened for");
    expect_effect("nc_whole_files=enable", "nc_whole_files", "enable PNETCDF_HINTS ignored: the file is not new");
    reads = false;
    expect_effect("nc_var_align_size=1021", "nc_var_align_size", "1021 PNETCDF_HINTS used as 1024");
}

static void test_display_of_memory(void)
{
    const char *hints =
        "nc_driver=memory;nc_whole_files=enable;nc_overlap=enable;cb_config_list=*:1;ind_rd_buffer_size=9";
    char *text;

    if (t_nprocs > 1)
        return;
    text = show_as("1", hints, MPI_INFO_NULL);
    expect_line(text, "nc_whole_files", "enable PNETCDF_HINTS ignored: the driver memory cannot rename a file");
    expect_line(text, "nc_overlap",
                "enable PNETCDF_HINTS ignored: the driver memory has no accesses in the background");
    expect_line(text, "ind_rd_buffer_size", "9 PNETCDF_HINTS no effect: the driver memory does not use MPI-IO");
}

static void test_display(void)
{
    MPI_Info info = one_hint("nc_ibuf_size", "10");
    MPI_Info_set(info, "nc_var_algin_size", "7");
    MPI_Info_set(info, "cb_buffer_size", "1234567");
    MPI_Info_set(info, "nc_in_place_swap", "enable");
    MPI_Info_set(info, "nc_driver", "mpio");
    MPI_Info_set(info, "nc_record_align_size", "1024");
    MPI_Info_set(info, "quite_unheard_of", "1");
    char *text = show("nc_header_align_size=x;*.nc:nc_record_align_size=2048:cb_nodes=1;nonsense", info);
    MPI_Info_free(&info);
    t_check(t_rank != 0 || strstr(text, path) != NULL, "the display names the file");
    t_check(t_rank != 0 || strstr(text, "\"nonsense\"") != NULL, "an ill-formed entry is complained about");
    t_check(t_rank != 0 ||
                strstr(text, "hint nc_header_align_size=x is ignored: must be an integer from 1 to ") != NULL,
            "a value of PNETCDF_HINTS that cannot be used is complained about");
    expect_line(text, "nc_var_align_size", "512 default used");
    expect_line(text, "nc_header_align_size", "x PNETCDF_HINTS ignored: must be an integer of at least 1; 512 is used");
    expect_line(text, "nc_record_align_size", "2048 PNETCDF_HINTS used");
    expect_line(text, "nc_ibuf_size", "10 MPI_Info used as 65536");
    expect_line(text, "nc_in_place_swap", "enable MPI_Info ignored: the library never changes the buffer of a put");
    expect_line(text, "nc_hash_size_dim", "256 default ignored:");
    expect_line(text, "nc_driver", "mpio MPI_Info ignored: not one of its values (did you mean mpiio?); mpiio is used");
    expect_line(text, "cb_nodes",
                t_nprocs == 1 ? "1 PNETCDF_HINTS ignored: one rank has the file; the MPI library reports it"
                              : "1 PNETCDF_HINTS used; the MPI library reports it");
    expect_line(text, "nc_var_algin_size", "7 MPI_Info unknown: did you mean nc_var_align_size?");
    for (int i = 0; i < pnc_hint_count; i++) {
        char line[64];
        snprintf(line, sizeof line, "\n    %s ", pnc_hint_table[i].name);
        if (!pnc_dataset_hint_is_passed(&pnc_hint_table[i]))
            t_check(t_rank != 0 || strstr(text, line) != NULL, "%s is displayed", pnc_hint_table[i].name);
    }
    test_display_of_synonyms();
    test_display_of_set();
    test_display_of_effect();
    test_display_of_reader();
    test_display_of_memory();
    t_check(*show("nc_ibuf_size=100000", MPI_INFO_NULL) == '\0' || t_rank == 0, "ranks other than 0 display nothing");
    unsetenv("PNETCDF_HINTS_DISPLAY");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("hints.nc"));
    test_grammar();
    test_values();
    test_precedence();
    test_synonyms();
    test_in_place_swap();
    test_no_independent();
    test_memory_driver();
    test_ability();
    test_memory();
    test_rows();
    test_display();
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
