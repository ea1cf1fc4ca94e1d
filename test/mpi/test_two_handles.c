/* Two handles of one file that both write: what one of them changes in the header moves the places that the other one
 * knows. A later change by that one is right, or NC_ESTALE on all ranks and the file is as it was. Expected results
 * follow from the order of entries in the format: dimensions, attributes of the file, variables with theirs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
