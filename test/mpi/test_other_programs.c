/* What other programs do to a file while it is open: they truncate it, add records to it, move it away, or change the
 * working folder of the process. Nothing that they have written may be lost, and nothing that is lost may go unnoticed.
 * The "other program" is rank 0, by calls of the system or by another handle; expected bytes are written here. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../expect.h"

enum { NX = 50, OLD = 4, NEW = 10 };

static char path[4096];

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- the file --- */

static int value_of(int record, int x)
{
    return 1000 * (record + 1) + x;
}

static int put_records(int ncid, int varid, int from, int to)
{
    MPI_Offset start[2] = {from, 0}, count[2] = {t_rank == 0 ? to - from : 0, NX};
    int values[NEW * NX];

    for (int i = 0; i < (to - from) * NX; i++)
        values[i] = value_of(from + i / NX, i % NX);
    return ncmpi_put_vara_int_all(ncid, varid, start, count, values);
}

static void make_file(int cmode, int records)
{
    int ncid, dims[2], varid, fixed[NX];

    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, MPI_INFO_NULL, &ncid), "create");
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "x", NX, &dims[1]);
    ncmpi_def_var(ncid, "series", NC_INT, 2, dims, &varid);
    ncmpi_def_var(ncid, "fixed", NC_INT, 1, &dims[1], &varid);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    for (int x = 0; x < NX; x++)
        fixed[x] = value_of(-2, x);
    expect_ok(ncmpi_put_var_int_all(ncid, 1, fixed), "put the fixed-size variable");
    expect_ok(put_records(ncid, 0, 0, records), "put records");
    expect_ok(ncmpi_close(ncid), "close");
}

static void open_file(int mode, int *ncid)
{
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, ncid), "open");
}

/* An attribute for which the header has no space. */
static int grow_header(int ncid)
{
    char text[3000];
    int err;

    memset(text, 'g', sizeof text);
    err = ncmpi_redef(ncid);
    if (err == NC_NOERR)
        err = ncmpi_put_att_text(ncid, NC_GLOBAL, "long", sizeof text, text);
    return err == NC_NOERR ? ncmpi_enddef(ncid) : err;
}

static void expect_records(int records, const char *when)
{
    MPI_Offset found = -1, start[2] = {0, 0}, count[2] = {records, NX};
    int ncid, values[NEW * NX] = {0}, wrong = 0, err;

    open_file(NC_NOWRITE, &ncid);
    ncmpi_inq_dimlen(ncid, 0, &found);
    t_check(t_local(found == records, "%lld records", (long long)found), "%s: %d records", when, records);
    err = found >= records ? ncmpi_get_vara_int_all(ncid, 0, start, count, values) : NC_EEDGE;
    for (int i = 0; i < records * NX; i++)
        wrong += values[i] != value_of(i / NX, i % NX);
    t_check(t_local(err == NC_NOERR && wrong == 0, "%s, %d wrong", ncmpi_strerrno(err), wrong), "%s: their values",
            when);
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- truncation --- */

typedef struct image {
    char bytes[1 << 16];
    size_t n;
} image;

static void read_image(image *out)
{
    FILE *file = fopen(path, "rb");

    out->n = file == NULL ? 0 : fread(out->bytes, 1, sizeof out->bytes, file);
    if (file != NULL)
        fclose(file);
}

static void cut(long bytes)
{
    barrier();
    t_local(t_rank != 0 || truncate(path, bytes) == 0, "truncate");
    barrier();
}

static void test_cut_before_move(void)
{
    static image before, after;
    MPI_Offset begin;
    int ncid;

    make_file(0, OLD);
    open_file(NC_WRITE, &ncid);
    ncmpi_inq_varoffset(ncid, 1, &begin);
    cut((long)begin + 10);
    read_image(&before);
    barrier();
    expect_code(grow_header(ncid), NC_EREAD, "cut while open: an enddef that moves data");
    barrier();
    read_image(&after);
    t_check(before.n == after.n && memcmp(before.bytes, after.bytes, before.n) == 0, "leaves the file as it is");
    expect_ok(ncmpi_abort(ncid), "abort");
}

/* A put extends the file again, with zeros where its header was. */
static void test_cut_to_nothing(void)
{
    int ncid;

    make_file(0, OLD);
    open_file(NC_WRITE, &ncid);
    cut(0);
    expect_code(put_records(ncid, 0, OLD, OLD + 1), NC_EREAD, "cut to nothing: a put of a record");
    expect_code(ncmpi_close(ncid), NC_EREAD, "close, which would write the number of records");
}

static void test_cut_before_other_changes(void)
{
    struct stat facts;
    MPI_Offset begin;
    int ncid, varid, dim = 1;

    make_file(0, OLD);
    open_file(NC_WRITE, &ncid);
    ncmpi_inq_varoffset(ncid, 0, &begin);
    cut((long)begin + 10);
    expect_ok(ncmpi_redef(ncid), "redef");
    expect_ok(ncmpi_rename_var(ncid, 1, "same"), "rename");
    expect_code(ncmpi_enddef(ncid), NC_EREAD, "cut while open: an enddef that moves no data");
    ncmpi_def_var(ncid, "more", NC_INT, 1, &dim, &varid);
    expect_code(ncmpi_enddef(ncid), NC_EREAD, "one that adds a variable");
    t_check(t_rank != 0 || (stat(path, &facts) == 0 && facts.st_size == begin + 10), "the file is not extended");
    expect_ok(ncmpi_abort(ncid), "abort");
}

/* A change of several pages, whose journal is at the end of the file. */
static void test_cut_before_attribute(void)
{
    static char text[6000];
    struct stat facts;
    MPI_Offset begin;
    int ncid;

    memset(text, 'o', sizeof text);
    make_file(0, OLD);
    open_file(NC_WRITE, &ncid);
    expect_ok(ncmpi_redef(ncid), "redef");
    expect_ok(ncmpi_put_att_text(ncid, NC_GLOBAL, "first", 3000, text), "an attribute");
    expect_ok(ncmpi_put_att_text(ncid, NC_GLOBAL, "pages", 3000, text), "another one");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    ncmpi_inq_varoffset(ncid, 0, &begin);
    cut((long)begin + 10);
    memset(text, 'n', sizeof text);
    expect_code(ncmpi_put_att_text(ncid, NC_GLOBAL, "pages", 3000, text), NC_EREAD, "cut while open: an attribute");
    t_check(t_rank != 0 || (stat(path, &facts) == 0 && facts.st_size == begin + 10), "the file is not extended");
    expect_ok(ncmpi_abort(ncid), "abort");
}

/* Short when it is opened: it is not known that anything is lost. */
static void test_short_before_open(void)
{
    MPI_Offset begin;
    int ncid, fixed[NX] = {0}, wrong = 0;

    make_file(0, 0);
    open_file(NC_NOWRITE, &ncid);
    ncmpi_inq_varoffset(ncid, 1, &begin);
    expect_ok(ncmpi_close(ncid), "close");
    cut((long)begin + 40);
    open_file(NC_WRITE, &ncid);
    expect_ok(grow_header(ncid), "short when opened: enddef moves what is there");
    expect_ok(ncmpi_get_var_int_all(ncid, 1, fixed), "get");
    for (int x = 0; x < NX; x++)
        wrong += fixed[x] != (x < 10 ? value_of(-2, x) : 0);
    t_check(t_local(wrong == 0, "%d wrong", wrong), "the values, and zeros");
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- a handle that does not know all records --- */

static void add_by_other_handle(void)
{
    int ncid;

    open_file(NC_WRITE, &ncid);
    expect_ok(put_records(ncid, 0, OLD, NEW), "another handle adds records");
    expect_ok(ncmpi_close(ncid), "and closes");
}

static void test_stale_append(int cmode)
{
    int ncid;

    make_file(cmode, OLD);
    open_file(NC_WRITE, &ncid);
    add_by_other_handle();
    expect_ok(put_records(ncid, 0, OLD, OLD + 1), "a collective put of a record");
    expect_records(NEW, "after a collective put");
    expect_ok(ncmpi_begin_indep_data(ncid), "independent mode");
    if (t_rank == t_nprocs - 1) {
        MPI_Offset start[2] = {OLD + 1, 0}, count[2] = {1, NX};
        int values[NX];

        for (int x = 0; x < NX; x++)
            values[x] = value_of(OLD + 1, x);
        t_local(ncmpi_put_vara_int(ncid, 0, start, count, values) == NC_NOERR, "independent put");
    }
    expect_ok(ncmpi_end_indep_data(ncid), "collective mode");
    expect_ok(ncmpi_sync(ncid), "sync");
    expect_records(NEW, "after an independent put");
    expect_ok(ncmpi_close(ncid), "close");
    expect_records(NEW, "after close");
}

static void test_stale_define(int cmode, bool moves)
{
    MPI_Offset records = 0;
    int ncid, err;

    make_file(cmode, OLD);
    open_file(NC_WRITE, &ncid);
    add_by_other_handle();
    if (moves) {
        err = grow_header(ncid);
    } else {
        err = ncmpi_redef(ncid);
        if (err == NC_NOERR)
            err = ncmpi_rename_var(ncid, 1, "same");
        if (err == NC_NOERR)
            err = ncmpi_enddef(ncid);
    }
    expect_ok(err, moves ? "an enddef that moves data" : "an enddef that moves none");
    t_check(t_local(ncmpi_inq_dimlen(ncid, 0, &records) == NC_NOERR && records == NEW, "%lld", (long long)records),
            "the handle knows all records");
    expect_records(NEW, "after enddef");
    expect_ok(ncmpi_close(ncid), "close");
    expect_records(NEW, "after close");
}

/* A longer value than the attribute has: data mode writes the whole header. */
static void test_stale_attribute(void)
{
    int ncid;

    make_file(0, OLD);
    open_file(NC_WRITE, &ncid);
    expect_ok(ncmpi_redef(ncid), "redef");
    ncmpi_put_att_text(ncid, NC_GLOBAL, "text", 8, "12345678");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    add_by_other_handle();
    expect_ok(ncmpi_put_att_text(ncid, NC_GLOBAL, "text", 2, "12"), "a shorter attribute in data mode");
    expect_records(NEW, "after it");
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- abort --- */

static char home[4096], room[4096], other[4200];

static void write_other(const char *where)
{
    FILE *file = fopen(where, "wb");

    if (file != NULL) {
        fputs("another program's", file);
        fclose(file);
    }
    t_local(file != NULL, "write %s", where);
}

static bool is_others(const char *where)
{
    char text[64] = "";
    FILE *file = fopen(where, "rb");

    if (file != NULL) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    return strcmp(text, "another program's") == 0;
}

/* Another folder than the working one has a file here.nc. */
static void prepare_folders(void)
{
    snprintf(room, sizeof room, "%s", t_path("elsewhere"));
    snprintf(other, sizeof other, "%s/here.nc", room);
    if (t_rank == 0) {
        mkdir(room, 0777);
        write_other(other);
    }
    barrier();
    t_local(getcwd(home, sizeof home) != NULL, "getcwd");
}

/* The path is relative, and another folder has a file of the name. */
static void test_abort_elsewhere(void)
{
    struct stat facts;
    int ncid;

    prepare_folders();
    expect_ok(ncmpi_create(MPI_COMM_WORLD, "here.nc", NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    t_local(chdir(room) == 0, "chdir");
    barrier();
    expect_ok(ncmpi_abort(ncid), "abort after chdir");
    t_check(t_rank != 0 || is_others("here.nc"), "the file of the name in the new folder is there");
    t_local(chdir(home) == 0, "chdir");
    t_check(t_rank != 0 || stat("here.nc", &facts) != 0, "that of the dataset is deleted");
    if (t_rank == 0) {
        unlink(other);
        rmdir(room);
    }
    barrier();
}

/* Another program has moved the file away, and written one of its own. */
static void test_abort_replaced(void)
{
    int ncid;

    snprintf(other, sizeof other, "%s.moved", path);
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    if (t_rank == 0) {
        t_local(rename(path, other) == 0, "rename");
        write_other(path);
    }
    barrier();
    expect_code(ncmpi_abort(ncid), NC_EFILE, "abort of a file that was replaced");
    t_check(t_rank != 0 || is_others(path), "that of the other program is there");
    t_check(t_rank != 0 || unlink(other) == 0, "and the one that was moved");
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    if (t_rank == 0)
        t_local(unlink(path) == 0, "unlink");
    barrier();
    expect_ok(ncmpi_abort(ncid), "abort of a file that was deleted");
}

/* The file at the end of a symbolic link is deleted, and not the link. */
static void test_abort_link(void)
{
    struct stat facts;
    int ncid;

    snprintf(other, sizeof other, "%s.link", path);
    if (t_rank == 0) {
        write_other(path);
        t_local(symlink(path, other) == 0, "symlink");
    }
    barrier();
    expect_ok(ncmpi_create(MPI_COMM_WORLD, other, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    expect_ok(ncmpi_abort(ncid), "abort of a file behind a link");
    t_check(t_rank != 0 || (stat(path, &facts) != 0 && lstat(other, &facts) == 0), "the link stays");
    t_local(t_rank != 0 || unlink(other) == 0, "unlink");
    barrier();
}

/* A file that is opened once more for collective calls of MPI-IO must be the same one. */
static void test_mpi_io_elsewhere(void)
{
    int ncid, dim, varid, values[4] = {1, 2, 3, 4};
    MPI_Offset start = 4 * t_rank, count = 4;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_strategy", "mpi_io");
    prepare_folders();
    expect_ok(ncmpi_create(MPI_COMM_WORLD, "here.nc", NC_CLOBBER, info, &ncid), "create");
    ncmpi_def_dim(ncid, "n", 4 * t_nprocs, &dim);
    ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &varid);
    expect_ok(ncmpi_enddef(ncid), "enddef");
    t_local(chdir(room) == 0, "chdir");
    barrier();
    expect_ok(ncmpi_put_vara_int_all(ncid, varid, &start, &count, values), "nc_strategy=mpi_io: put after chdir");
    memset(values, 0, sizeof values);
    expect_ok(ncmpi_get_vara_int_all(ncid, varid, &start, &count, values), "get");
    t_check(t_local(values[0] == 1 && values[3] == 4, "%d %d", values[0], values[3]), "the values");
    expect_ok(ncmpi_close(ncid), "close");
    t_check(t_rank != 0 || is_others("here.nc"), "the file of the name in the new folder is as it was");
    t_local(chdir(home) == 0, "chdir");
    barrier();
    if (t_rank == 0) {
        unlink(other);
        rmdir(room);
        unlink("here.nc");
    }
    MPI_Info_free(&info);
    barrier();
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("other_programs.nc"));
    test_cut_before_move();
    test_cut_before_other_changes();
    test_cut_to_nothing();
    test_cut_before_attribute();
    test_short_before_open();
    for (int cmode = 0; cmode <= NC_64BIT_DATA; cmode += NC_64BIT_DATA) {
        test_stale_append(cmode);
        test_stale_define(cmode, false);
        test_stale_define(cmode, true);
    }
    test_stale_attribute();
    test_abort_elsewhere();
    test_abort_replaced();
    test_abort_link();
    test_mpi_io_elsewhere();
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
