/* Two handles of one file that both write: what one of them changes in the header moves the places that the other one
 * knows. A later change by that one is right, or NC_ESTALE on all ranks and the file is as it was. Expected results
 * follow from the order of entries in the format: dimensions, attributes of the file, variables with theirs.
 *
 * Two handles of a netCDF-4 file, of which one reads: it finds what the other one has put, or there is a warning. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../expect.h"

enum { NX = 20 };

static char path[4096];

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static int put_text(int ncid, int varid, const char *name, const char *text)
{
    return ncmpi_put_att_text(ncid, varid, name, (MPI_Offset)strlen(text), text);
}

static int define(int ncid, int (*change)(int ncid))
{
    int err = ncmpi_redef(ncid);

    if (err == NC_NOERR)
        err = change(ncid);
    return err == NC_NOERR ? ncmpi_enddef(ncid) : err;
}

/* --- the file --- */

static void make_file(int cmode)
{
    int ncid, dims[2], v, w, values[NX];

    for (int i = 0; i < NX; i++)
        values[i] = 100 + i;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "x", NX, &dims[0]);
    ncmpi_def_dim(ncid, "y_has_a_long_name", 3, &dims[1]);
    put_text(ncid, NC_GLOBAL, "first", "1111");
    put_text(ncid, NC_GLOBAL, "text", "long enough to become shorter");
    put_text(ncid, NC_GLOBAL, "last", "9999");
    ncmpi_def_var(ncid, "v", NC_INT, 1, dims, &v);
    put_text(ncid, v, "units", "vvvv");
    put_text(ncid, v, "note", "some note");
    ncmpi_def_var(ncid, "w", NC_INT, 1, dims, &w);
    put_text(ncid, w, "units", "wwww");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(ncmpi_put_var_int_all(ncid, v, values) == NC_NOERR, "put v");
    t_local(ncmpi_put_var_int_all(ncid, w, values) == NC_NOERR, "put w");
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

typedef struct image {
    unsigned char bytes[1 << 16];
    size_t n;
} image;

static void read_image(image *out)
{
    FILE *file;

    barrier();
    memset(out, 0, sizeof *out);
    file = fopen(path, "rb");
    if (file != NULL) {
        out->n = fread(out->bytes, 1, sizeof out->bytes, file);
        fclose(file);
    }
    barrier();
}

/* --- what the other handle changes --- */

static int shorten_text(int ncid)
{
    return put_text(ncid, NC_GLOBAL, "text", "short");
}

static int delete_note(int ncid)
{
    return ncmpi_del_att(ncid, 0, "note");
}

static int redefine_note(int ncid)
{
    return define(ncid, delete_note);
}

static int put_value(int ncid)
{
    return put_text(ncid, 0, "units", "VVVV");
}

static int shorten_name(int ncid)
{
    return ncmpi_rename_dim(ncid, 1, "y");
}

static int add_text(int ncid)
{
    char text[2000];

    memset(text, 't', sizeof text);
    return ncmpi_put_att_text(ncid, NC_GLOBAL, "more", sizeof text, text);
}

static int grow(int ncid)
{
    return define(ncid, add_text);
}

static int add_var(int ncid)
{
    int dim = 0, varid;

    return ncmpi_def_var(ncid, "u", NC_INT, 1, &dim, &varid);
}

static int redefine_vars(int ncid)
{
    return define(ncid, add_var);
}

/* --- what the first handle does then --- */

static int put_first(int ncid)
{
    return put_text(ncid, NC_GLOBAL, "first", "1A1A");
}

static int put_last(int ncid)
{
    return put_text(ncid, NC_GLOBAL, "last", "9Z9Z");
}

static int put_units_of_v(int ncid)
{
    return put_text(ncid, 0, "units", "vBvB");
}

static int put_units_of_w(int ncid)
{
    return put_text(ncid, 1, "units", "wCwC");
}

static int rename_x(int ncid)
{
    return ncmpi_rename_dim(ncid, 0, "X");
}

static int rename_w(int ncid)
{
    return ncmpi_rename_var(ncid, 1, "W");
}

static int rename_units_of_w(int ncid)
{
    return ncmpi_rename_att(ncid, 1, "units", "Units");
}

static int shorten_last(int ncid)
{
    return put_text(ncid, NC_GLOBAL, "last", "");
}

static int add_att(int ncid)
{
    return put_text(ncid, NC_GLOBAL, "new", "new");
}

static int redefine(int ncid)
{
    return define(ncid, add_att);
}

static int (*const actions[])(int ncid) = {put_first, put_last, put_units_of_v,    put_units_of_w, rename_x,
                                           rename_w,  redefine, rename_units_of_w, shorten_last};
static const char *const names[] = {"put first", "put last",         "put v:units",    "put w:units", "rename x",
                                    "rename w",  "redef and enddef", "rename w:units", "shorten last"};

enum { NACTIONS = sizeof actions / sizeof *actions };

/* For each action in the order of the list: '+' the place is the same, '-' NC_ESTALE. */
static const struct {
    const char *name, *expected;
    int (*make)(int ncid);
} changes[] = {
    {"a shorter attribute", "+---+----", shorten_text},
    {"an attribute less", "+++-+----", redefine_note},
    {"another value", "++++++-+-", put_value},
    {"a shorter name", "----+----", shorten_name},
    {"more attributes", "++--+----", grow},
    {"more variables", "++++++-+-", redefine_vars},
};

enum { NCHANGES = sizeof changes / sizeof *changes };

/* --- the cases --- */

/* The bytes that differ are those of one name or value. */
static void check_in_place(const image *before, const image *after, const char *what)
{
    size_t first = 0, end = before->n;

    t_local(before->n == after->n, "%s: the file has %zu bytes, had %zu", what, after->n, before->n);
    while (first < end && before->bytes[first] == after->bytes[first])
        first++;
    while (end > first && before->bytes[end - 1] == after->bytes[end - 1])
        end--;
    t_local(end > first && end - first <= 4, "%s: bytes %zu to %zu differ", what, first, end);
}

static void check_message(int ncid, const char *what)
{
    char message[NC_MAX_MESSAGE] = "";
    int code = 0;

    t_local(ncmpi_inq_last_error(ncid, &code, message) == NC_NOERR && code == NC_ESTALE &&
                (strstr(message, "close this ncid and open the file again") != NULL ||
                 (t_rank > 0 && strstr(message, "the call failed on rank") != NULL)),
            "%s: %d %s", what, code, message);
}

/* A fresh handle finds all values, and after an action that was right its effect. */
static void check_values(const char *what)
{
    int ncid, got[NX] = {0}, wrong = 0;

    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "%s: open", what);
    for (int varid = 0; varid < 2; varid++) {
        t_local(ncmpi_get_var_int_all(ncid, varid, got) == NC_NOERR, "%s: get", what);
        for (int i = 0; i < NX; i++)
            wrong += got[i] != 100 + i;
    }
    t_local(wrong == 0, "%s: %d values are wrong", what, wrong);
    t_local(ncmpi_close(ncid) == NC_NOERR, "%s: close", what);
}

/* All of the new value is there, also after the other handle has put one of which some bytes differ. */
static void check_units(const char *what)
{
    char units[5] = "";
    int ncid;

    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "%s: open", what);
    t_local(ncmpi_get_att_text(ncid, 0, "units", units) == NC_NOERR && strcmp(units, "vBvB") == 0, "%s: units are %s",
            what, units);
    t_local(ncmpi_close(ncid) == NC_NOERR, "%s: close", what);
}

static void test_case(int cmode, int change, int action)
{
    static image before, after, end;
    bool is_stale = changes[change].expected[action] == '-', defines = actions[action] == redefine;
    int first, second, err;
    char what[200];

    snprintf(what, sizeof what, "%s, then %s", changes[change].name, names[action]);
    make_file(cmode);
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &first) == NC_NOERR, "open");
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &second) == NC_NOERR, "open again");
    t_local(changes[change].make(second) == NC_NOERR, "%s: the change", what);
    t_local(ncmpi_close(second) == NC_NOERR, "close");
    read_image(&before);
    err = actions[action](first);
    t_local(err == (is_stale ? NC_ESTALE : NC_NOERR), "%s: %s", what, ncmpi_strerrno(err));
    read_image(&after);
    if (is_stale) {
        check_message(first, what);
        t_local(before.n == after.n && memcmp(before.bytes, after.bytes, before.n) == 0, "%s: the file has changed",
                what);
    } else {
        check_in_place(&before, &after, what);
    }
    err = is_stale && defines ? ncmpi_abort(first) : ncmpi_close(first);
    t_local(err == NC_NOERR, "%s: close: %s", what, ncmpi_strerrno(err));
    read_image(&end);
    t_local(after.n == end.n && memcmp(after.bytes, end.bytes, end.n) == 0, "%s: close has changed the file", what);
    check_values(what);
    if (actions[action] == put_units_of_v && !is_stale)
        check_units(what);
    t_check(true, "%s: %s", what, is_stale ? "NC_ESTALE" : "right");
}

/* A handle that only its own changes have preceded: also where bytes differ from those that this library writes. */
static void test_padding(void)
{
    static image file;
    size_t at = 0;
    int ncid;

    make_file(0);
    read_image(&file);
    while (at + 8 < file.n && memcmp(file.bytes + at, "first", 5) != 0)
        at++;
    if (t_rank == 0) {
        int fd = open(path, O_WRONLY);

        t_local(fd >= 0 && pwrite(fd, "x", 1, (off_t)at + 6) == 1, "write padding");
        close(fd);
    }
    barrier();
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    for (int i = 0; i < NACTIONS; i++)
        expect_ok(actions[i](ncid), names[i]);
    expect_ok(ncmpi_close(ncid), "close a file whose padding is not null");
    check_values("padding");
}

/* Another program has died while it moved data: it has left its mark. */
static void test_mark(void)
{
    static image before, after;
    int ncid;

    make_file(0);
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    if (t_rank == 0) {
        int fd = open(path, O_WRONLY);

        t_local(fd >= 0 && pwrite(fd, "\x81", 1, 3) == 1, "write the mark");
        close(fd);
    }
    read_image(&before);
    for (int i = 0; i < NACTIONS; i++)
        if (actions[i] != redefine)
            expect_code(actions[i](ncid), NC_EINTERRUPTED, names[i]);
    expect_code(redefine(ncid), NC_EINTERRUPTED, "redef and enddef");
    read_image(&after);
    t_check(before.n == after.n && memcmp(before.bytes, after.bytes, before.n) == 0, "a marked file is as it was");
    expect_ok(ncmpi_abort(ncid), "abort");
}

/* --- netCDF-4 files: what waits in chunks --- */

enum { NV = 4, ROWS = 3 };

static char own_path[4200], warnings[4200];

static MPI_Info make_info(const char *key, const char *value)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

/* A compressed variable, a contiguous one, and two with records, of which one is in chunks of 2 records. */
static int make_chunks(MPI_Comm comm, const char *name, MPI_Info info)
{
    int ncid, dims[3], id, err = ncmpi_create(comm, name, NC_CLOBBER | NC_NETCDF4, info, &ncid);

    t_local(err == NC_NOERR, "create: %s", ncmpi_strerrno(err));
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "y", ROWS, &dims[1]);
    ncmpi_def_dim(ncid, "x", NX, &dims[2]);
    ncmpi_def_var(ncid, "deflated", NC_INT, 2, dims + 1, &id);
    ncmpi_def_var_deflate(ncid, id, 1, 1, 1);
    ncmpi_def_var(ncid, "plain", NC_INT, 2, dims + 1, &id);
    ncmpi_def_var(ncid, "record", NC_INT, 2, (int[]){dims[0], dims[2]}, &id);
    ncmpi_def_var(ncid, "chunked", NC_INT, 2, (int[]){dims[0], dims[2]}, &id);
    ncmpi_def_var_chunking(ncid, id, NC_CHUNKED, (MPI_Offset[]){2, 7});
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    return ncid;
}

/* A rank of several puts its columns. */
static void put_chunks(int ncid, int base, bool shares, bool collective)
{
    MPI_Offset first = shares ? NX * t_rank / t_nprocs : 0, end = shares ? NX * (t_rank + 1) / t_nprocs : NX;
    MPI_Offset start[2] = {0, first}, count[2] = {ROWS, end - first};
    int values[ROWS * NX];

    for (int v = 0; v < NV; v++) {
        int err;

        for (int i = 0; i < ROWS * (int)(end - first); i++)
            values[i] = base + 1000 * v + i / (int)(end - first) * NX + (int)first + i % (int)(end - first);
        err = collective ? ncmpi_put_vara_int_all(ncid, v, start, count, values)
                         : ncmpi_put_vara_int(ncid, v, start, count, values);
        t_local(err == NC_NOERR, "put %d: %s", v, ncmpi_strerrno(err));
    }
}

static int count_wrong(int ncid, int base)
{
    int got[ROWS * NX], wrong = 0;

    for (int v = 0; v < NV; v++) {
        int err = ncmpi_get_vara_int_all(ncid, v, (MPI_Offset[]){0, 0}, (MPI_Offset[]){ROWS, NX}, got);

        t_local(err == NC_NOERR, "get %d: %s", v, ncmpi_strerrno(err));
        for (int i = 0; i < ROWS * NX; i++)
            wrong += got[i] != base + 1000 * v + i;
    }
    return wrong;
}

static int open_own(MPI_Comm comm, const char *name)
{
    int ncid, err = ncmpi_open(comm, name, NC_NOWRITE, MPI_INFO_NULL, &ncid);

    t_local(err == NC_NOERR, "open: %s", ncmpi_strerrno(err));
    return ncid;
}

/* A handle of this rank alone puts, and another one reads: opened after the put, and before the next ones. */
static void test_own_handles(const char *key, const char *value, bool collective)
{
    MPI_Info info = key == NULL ? MPI_INFO_NULL : make_info(key, value);
    int writer = make_chunks(MPI_COMM_SELF, own_path, info), reader, wrong;

    if (!collective)
        t_local(ncmpi_begin_indep_data(writer) == NC_NOERR, "begin_indep_data");
    put_chunks(writer, 5, false, collective);
    reader = open_own(MPI_COMM_SELF, own_path);
    wrong = count_wrong(reader, 5);
    t_local(wrong == 0, "after the open %d values are wrong", wrong);
    for (int base = 10; base < 13; base++) {
        put_chunks(writer, base, false, collective);
        wrong = count_wrong(reader, base);
        t_local(wrong == 0, "after put %d %d values are wrong", base, wrong);
    }
    put_chunks(writer, 20, false, collective);
    t_local(ncmpi_close(writer) == NC_NOERR, "close the writer");
    wrong = count_wrong(reader, 20);
    t_local(wrong == 0, "after the close %d values are wrong", wrong);
    t_local(ncmpi_close(reader) == NC_NOERR, "close the reader");
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    t_check(true, "a second handle reads what the first has put: %s%s", key == NULL ? "no hints" : key,
            collective ? "" : ", independent");
}

/* What is printed on stderr between both calls goes to a file. */
static int begin_warnings(void)
{
    int kept = dup(2), fd = open(warnings, O_RDWR | O_CREAT | O_TRUNC, 0600);

    fflush(stderr);
    dup2(fd, 2);
    close(fd);
    return kept;
}

static int end_warnings(int kept)
{
    static char text[20000];
    FILE *file;
    size_t n = 0;
    int found = 0;

    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    file = fopen(warnings, "rb");
    if (file != NULL) {
        n = fread(text, 1, sizeof text - 1, file);
        fclose(file);
    }
    text[n] = '\0';
    for (const char *at = text; (at = strstr(at, "another handle of this process")) != NULL; at++)
        found++;
    unlink(warnings);
    return found;
}

/* A handle of all ranks needs all of them: a warning, until ncmpi_sync. */
static void test_common_handle(void)
{
    int writer, reader, kept, wrong, printed;

    writer = make_chunks(MPI_COMM_WORLD, path, MPI_INFO_NULL);
    put_chunks(writer, 5, true, true);
    t_local(ncmpi_sync(writer) == NC_NOERR, "sync");
    kept = begin_warnings();
    reader = open_own(MPI_COMM_SELF, path);
    wrong = count_wrong(reader, 5);
    printed = end_warnings(kept);
    t_check(printed == 0 && wrong == 0, "after a sync no warning (%d), and %d wrong values", printed, wrong);
    barrier();
    put_chunks(writer, 10, true, true);
    kept = begin_warnings();
    wrong = count_wrong(reader, 10);
    (void)count_wrong(reader, 10);
    printed = end_warnings(kept);
    t_check(printed == (t_nprocs > 1) && (t_nprocs > 1 || wrong == 0), "%d warnings before the sync", printed);
    barrier();
    t_local(ncmpi_sync(writer) == NC_NOERR, "sync");
    wrong = count_wrong(reader, 10);
    t_check(wrong == 0, "after the sync %d values are wrong", wrong);
    t_local(ncmpi_close(reader) == NC_NOERR, "close the reader");
    expect_ok(ncmpi_close(writer), "close");
}

/* Values in the metadata are those of the open: a warning. */
static void test_compact(void)
{
    int writer, reader, dim, id, kept, got[3] = {0}, values[3] = {1, 2, 3}, printed;

    t_local(ncmpi_create(MPI_COMM_SELF, own_path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &writer) == NC_NOERR,
            "create");
    ncmpi_def_dim(writer, "x", 3, &dim);
    ncmpi_def_var(writer, "v", NC_INT, 1, &dim, &id);
    ncmpi_def_var_chunking(writer, id, NC_COMPACT, NULL);
    t_local(ncmpi_enddef(writer) == NC_NOERR, "enddef");
    reader = open_own(MPI_COMM_SELF, own_path);
    t_local(ncmpi_put_var_int_all(writer, id, values) == NC_NOERR, "put");
    kept = begin_warnings();
    t_local(ncmpi_get_var_int_all(reader, id, got) == NC_NOERR, "get");
    printed = end_warnings(kept);
    t_check(printed == 1, "a compact variable: %d warnings", printed);
    t_local(ncmpi_close(reader) == NC_NOERR, "close the reader");
    reader = open_own(MPI_COMM_SELF, own_path);
    t_local(ncmpi_get_var_int_all(reader, id, got) == NC_NOERR && got[2] == 3, "opened again: %d", got[2]);
    t_local(ncmpi_close(reader) == NC_NOERR, "close the reader");
    expect_ok(ncmpi_close(writer), "close");
}

/* What the writer has cannot be written while another handle reads: both say so, and nothing is lost. */
static void test_full(void)
{
    int writer = make_chunks(MPI_COMM_SELF, own_path, MPI_INFO_NULL), reader, kept, printed, wrong;
    struct rlimit whole, now;
    struct stat facts;

    put_chunks(writer, 5, false, true); /* the reader has the lengths of its open */
    reader = open_own(MPI_COMM_SELF, own_path);
    t_local(stat(own_path, &facts) == 0 && getrlimit(RLIMIT_FSIZE, &whole) == 0, "limits");
    now = whole;
    now.rlim_cur = (rlim_t)facts.st_size;
    put_chunks(writer, 10, false, true);
    signal(SIGXFSZ, SIG_IGN);
    t_local(setrlimit(RLIMIT_FSIZE, &now) == 0, "setrlimit");
    kept = begin_warnings();
    (void)count_wrong(reader, 10);
    printed = end_warnings(kept);
    t_local(setrlimit(RLIMIT_FSIZE, &whole) == 0, "setrlimit");
    t_check(printed == 2, "a disk that is full: %d warnings", printed);
    t_local(ncmpi_sync(writer) == NC_NOERR, "sync");
    wrong = count_wrong(reader, 10);
    t_check(wrong == 0, "with space on it %d values are wrong", wrong);
    t_local(ncmpi_close(reader) == NC_NOERR, "close the reader");
    expect_ok(ncmpi_close(writer), "close");
}

static bool has_netcdf4(void)
{
    int ncid, err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid);

    if (err == NC_NOERR)
        ncmpi_close(ncid);
    else
        t_skip("netCDF-4: the build is without HDF5");
    return err == NC_NOERR;
}

static void test_chunks(void)
{
    if (!has_netcdf4())
        return;
    snprintf(own_path, sizeof own_path, "%s.%d", path, t_rank);
    snprintf(warnings, sizeof warnings, "%s.%d.warnings", path, t_rank);
    test_own_handles(NULL, "", true);
    test_own_handles(NULL, "", false);
    test_own_handles("nc_defer_puts", "enable", true);
    test_own_handles("nc_write_behind", "enable", true);
    test_common_handle();
    test_compact();
    test_full();
    unlink(own_path);
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("two_handles.nc"));
    for (int cmode = 0; cmode <= NC_64BIT_DATA; cmode += NC_64BIT_DATA)
        for (int change = 0; change < NCHANGES; change++)
            for (int action = 0; action < NACTIONS; action++)
                if (cmode == 0 || !t_quick())
                    test_case(cmode, change, action);
    test_padding();
    test_mark();
    test_chunks();
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
