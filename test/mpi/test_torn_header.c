/* A write that fails after some bytes, at every byte of what a change of the header writes: the file is as it was, byte
 * for byte, and the change succeeds when it is made again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../expect.h"
#include "dataset/registry.h"

static char path[4096];

/* --- a store that fails --- */

static pnc_store_ops faulty;
static const pnc_store_ops *real;
static int64_t left; /* bytes until the failure */
static bool failed, remains;

static int faulty_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    const char *from = buf;

    for (int64_t i = 0; i < n; i++) {
        bool fails = left < extents[i].length && (remains || !failed);
        pnc_extent extent = {extents[i].offset, fails ? left : extents[i].length};
        int err = extent.length > 0 ? real->write(store, &extent, 1, from, error) : NC_NOERR;

        if (err != NC_NOERR)
            return err;
        if (!failed || fails)
            left -= extent.length;
        if (fails) {
            failed = true;
            return pnc_error_set(error, NC_EWRITE, "a failure made by the test");
        }
        from += extent.length;
    }
    return NC_NOERR;
}

static void set_failure(int ncid, int64_t at)
{
    pnc_dataset *ds = pnc_dataset_registry_peek(ncid);

    failed = false;
    left = t_rank == 0 ? at : INT64_MAX;
    real = ds->file.store->ops;
    faulty = *real;
    faulty.write = faulty_write;
    ds->file.store->ops = &faulty;
}

static void end_failure(int ncid)
{
    pnc_dataset_registry_peek(ncid)->file.store->ops = real;
}

/* --- the changes --- */

static char text[6000];

static int put_in_place(int ncid)
{
    return ncmpi_put_att_text(ncid, NC_GLOBAL, "note", 12, "abcdefghijkl");
}

static int rename_var(int ncid)
{
    return ncmpi_rename_var(ncid, 0, "other");
}

static int rename_dim(int ncid)
{
    return ncmpi_rename_dim(ncid, 0, "X");
}

static int rename_att(int ncid)
{
    return ncmpi_rename_att(ncid, NC_GLOBAL, "note", "memo");
}

static int shorten(int ncid)
{
    return ncmpi_put_att_text(ncid, NC_GLOBAL, "note", 4, "abcd");
}

static int put_in_parts(int ncid)
{
    return ncmpi_put_att_text(ncid, NC_GLOBAL, "pages", sizeof text, text);
}

/* With the alignment of the file, so that no data move. */
static int end_define(int ncid)
{
    return ncmpi__enddef(ncid, 0, 4, 0, 4);
}

static int define(int ncid, const char *name)
{
    int err = ncmpi_redef(ncid);

    if (err == NC_EINDEFINE) /* the first try has failed */
        err = NC_NOERR;
    if (err == NC_NOERR)
        err = ncmpi_put_att_text(ncid, NC_GLOBAL, name, 3, "new");
    return err == NC_NOERR ? end_define(ncid) : err;
}

static int add_att(int ncid)
{
    return define(ncid, "extra");
}

static int delete_att(int ncid)
{
    int err = ncmpi_redef(ncid);

    if (err == NC_NOERR)
        err = ncmpi_del_att(ncid, NC_GLOBAL, "note");
    return err == NC_NOERR || err == NC_EINDEFINE ? end_define(ncid) : err;
}

/* Filled: the file is extended before the header changes. */
static int add_var(int ncid)
{
    int id, dim = 0, err = ncmpi_redef(ncid);

    if (err == NC_NOERR)
        err = ncmpi_set_fill(ncid, NC_FILL, NULL);
    if (err == NC_NOERR)
        err = ncmpi_def_var(ncid, "more", NC_INT, 1, &dim, &id);
    return err == NC_NOERR || err == NC_EINDEFINE ? end_define(ncid) : err;
}

/* The header before the change. */
enum header { SMALL = 0, PAGES = 1, FOREIGN = 2 }; /* several pages; another encoding, which is longer */

/* `step`: between the bytes at which a write fails, in the quick test. */
static const struct {
    const char *name;
    int (*make)(int ncid);
    int header, step;
} changes[] = {
    {"overwrite an attribute", put_in_place, SMALL, 1},
    {"rename a variable", rename_var, SMALL, 1},
    {"rename a dimension", rename_dim, SMALL, 1},
    {"rename an attribute", rename_att, SMALL, 1},
    {"shorten an attribute", shorten, SMALL, 7},
    {"redef, new attribute", add_att, SMALL, 7},
    {"redef, delete an attribute", delete_att, SMALL, 7},
    {"redef, new variable", add_var, SMALL, 23},
    {"shorten an attribute, pages", shorten, PAGES, 1511},
    {"overwrite pages", put_in_parts, PAGES, 1511},
    {"redef, pages", add_att, PAGES, 1511},
    {"redef, new variable, pages", add_var, PAGES, 1511},
    {"shorten an attribute, another encoding", shorten, FOREIGN, 7},
    {"redef, new attribute, another encoding", add_att, FOREIGN, 7},
    {"redef, delete an attribute, another encoding", delete_att, FOREIGN, 7},
    {"shorten an attribute, pages in another encoding", shorten, PAGES | FOREIGN, 1511},
    {"redef, delete an attribute, pages in another encoding", delete_att, PAGES | FOREIGN, 1511},
};

enum { NX = 30 };

/* The name of the first dimension, "x", gets four NUL bytes, which are counted: all after it is four bytes further. */
static void encode_differently(MPI_Offset header_size)
{
    enum { LENGTH = 16, AFTER = 24 };
    static char bytes[20000];
    FILE *file = fopen(path, "r+b");
    size_t n = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file);
    bool good = n > AFTER && bytes[LENGTH + 3] == 1 && bytes[LENGTH + 4] == 'x';

    bytes[LENGTH + 3] = 5;
    good = good && fseek(file, LENGTH, SEEK_SET) == 0 && fwrite(bytes + LENGTH, 1, AFTER - LENGTH, file) > 0;
    good =
        good && fwrite("\0\0\0\0", 1, 4, file) == 4 && fwrite(bytes + AFTER, 1, (size_t)header_size - AFTER, file) > 0;
    if (file != NULL)
        good = fclose(file) == 0 && good;
    t_local(good, "another encoding");
}

static int reopen_encoded_differently(int ncid)
{
    MPI_Offset header_size = 0;

    ncmpi_inq_header_size(ncid, &header_size);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    if (t_rank == 0)
        encode_differently(header_size);
    MPI_Barrier(MPI_COMM_WORLD);
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    return ncid;
}

/* With space after the header, so that nothing moves. */
static int make_file(int header)
{
    int ncid, dim, id, values[NX];
    char old[sizeof text];

    memset(old, 'o', sizeof old);
    for (int i = 0; i < NX; i++)
        values[i] = i * i;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "x", NX, &dim);
    ncmpi_put_att_text(ncid, NC_GLOBAL, "note", 12, "123456789012");
    if (header & PAGES)
        ncmpi_put_att_text(ncid, NC_GLOBAL, "pages", sizeof old, old);
    ncmpi_def_var(ncid, "value", NC_INT, 1, &dim, &id);
    t_local(ncmpi__enddef(ncid, 400, 4, 0, 4) == NC_NOERR, "enddef");
    t_local(ncmpi_put_var_int_all(ncid, id, values) == NC_NOERR, "put");
    t_local(ncmpi_sync(ncid) == NC_NOERR, "sync");
    return header & FOREIGN ? reopen_encoded_differently(ncid) : ncid;
}

typedef struct image {
    char bytes[20000];
    size_t n;
} image;

static void read_image(image *out)
{
    FILE *file;

    MPI_Barrier(MPI_COMM_WORLD);
    memset(out, 0, sizeof *out);
    file = fopen(path, "rb");
    if (file != NULL) {
        out->n = fread(out->bytes, 1, sizeof out->bytes, file);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Free space after the header may differ. */
static bool is_same(const image *a, const image *b, MPI_Offset header, MPI_Offset data)
{
    return a->n == b->n && memcmp(a->bytes, b->bytes, (size_t)header) == 0 &&
           memcmp(a->bytes + data, b->bytes + data, a->n - (size_t)data) == 0;
}

/* Returns false when the change writes fewer bytes. */
static bool try_at(int k, int64_t at)
{
    static image before, after;
    int ncid = make_file(changes[k].header), err, met;
    MPI_Offset header = 0, data = 0;

    ncmpi_inq_header_size(ncid, &header);
    ncmpi_inq_header_extent(ncid, &data);
    read_image(&before);
    set_failure(ncid, at);
    err = changes[k].make(ncid);
    end_failure(ncid);
    met = failed;
    MPI_Bcast(&met, 1, MPI_INT, 0, MPI_COMM_WORLD);
    t_local(err == (met ? NC_EWRITE : NC_NOERR), "%s, byte %lld: %s", changes[k].name, (long long)at,
            ncmpi_strerrno(err));
    if (met) {
        read_image(&after);
        t_local(is_same(&before, &after, header, data), "%s, byte %lld: the file has changed", changes[k].name,
                (long long)at);
        t_local(changes[k].make(ncid) == NC_NOERR, "%s, byte %lld: the second time", changes[k].name, (long long)at);
    }
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    return met;
}

/* The effect of each change, in a file that is opened again. */
static void check_effect(int k)
{
    char got[sizeof text] = "", name[NC_MAX_NAME + 1] = "";
    int ncid, values[NX] = {0}, wrong = 0;
    bool good = true;

    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    if (changes[k].make == put_in_place || changes[k].make == shorten)
        good = ncmpi_get_att_text(ncid, NC_GLOBAL, "note", got) == NC_NOERR && memcmp(got, "abcd", 4) == 0;
    else if (changes[k].make == rename_var)
        good = ncmpi_inq_varname(ncid, 0, name) == NC_NOERR && strcmp(name, "other") == 0;
    else if (changes[k].make == rename_dim)
        good = ncmpi_inq_dimname(ncid, 0, name) == NC_NOERR && strcmp(name, "X") == 0;
    else if (changes[k].make == rename_att)
        good = ncmpi_inq_attname(ncid, NC_GLOBAL, 0, name) == NC_NOERR && strcmp(name, "memo") == 0;
    else if (changes[k].make == put_in_parts)
        good = ncmpi_get_att_text(ncid, NC_GLOBAL, "pages", got) == NC_NOERR && memcmp(got, text, sizeof got) == 0;
    else if (changes[k].make == delete_att)
        good = ncmpi_inq_att(ncid, NC_GLOBAL, "note", NULL, NULL) == NC_ENOTATT;
    else if (changes[k].make == add_var)
        good = ncmpi_get_var_int_all(ncid, 1, values) == NC_NOERR && values[0] == NC_FILL_INT &&
               values[NX - 1] == NC_FILL_INT;
    else
        good = ncmpi_get_att_text(ncid, NC_GLOBAL, "extra", got) == NC_NOERR && memcmp(got, "new", 3) == 0;
    t_local(ncmpi_get_var_int_all(ncid, 0, values) == NC_NOERR, "get");
    for (int i = 0; i < NX; i++)
        wrong += values[i] != i * i;
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    t_check(good && wrong == 0, "%s: its effect, and the values (%d wrong)", changes[k].name, wrong);
}

/* What fails for good cannot be restored: the message reports it. */
static void test_damage(void)
{
    char message[NC_MAX_MESSAGE] = "";
    int ncid = make_file(SMALL);

    remains = true;
    set_failure(ncid, 2); /* of the 12 bytes that change */
    expect_code(put_in_place(ncid), NC_EWRITE, "a disk that fails for good");
    end_failure(ncid);
    remains = false;
    t_check(ncmpi_inq_last_error(ncid, NULL, message) == NC_NOERR && strstr(message, "the file is damaged") != NULL,
            "the message reports that the file is damaged");
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- an undo that fails, too --- */

enum { STOPS = 4 };
static const char *const stop_names[STOPS] = {"a collective put", "sync", "close", "another rename"};

static bool is_marked(void)
{
    unsigned char magic[4] = {0};
    FILE *file = fopen(path, "rb");
    bool marked = file != NULL && fread(magic, 1, 4, file) == 4 && magic[3] >= 0x80;

    if (file != NULL)
        fclose(file);
    MPI_Barrier(MPI_COMM_WORLD);
    return marked;
}

/* What restores the file after space was freed. */
static int go_on(int ncid, int stop)
{
    MPI_Offset start = t_rank, one = 1;
    int value = t_rank * t_rank;

    switch (stop) {
    case 0: return ncmpi_put_vara_int_all(ncid, 0, &start, &one, &value);
    case 1: return ncmpi_sync(ncid);
    case 2: return NC_NOERR;
    default: return rename_var(ncid);
    }
}

/* In data mode: a change of several pages fails after `at` bytes, and so does its undo. Puts do not overwrite the
 * journal meanwhile. Returns whether the file kept its mark. */
static bool try_unrestored(int64_t at, int stop)
{
    static int values[NX];
    MPI_Offset start = 0, one = 1;
    int ncid = make_file(PAGES), wrong = 0, zero = 0, err, format;
    bool marked;

    t_local(ncmpi_begin_indep_data(ncid) == NC_NOERR, "begin_indep_data");
    remains = true;
    set_failure(ncid, at);
    err = put_in_parts(ncid);
    marked = err != NC_NOERR && is_marked();
    if (err != NC_NOERR && t_nprocs > 1)
        t_local(ncmpi_put_vara_int(ncid, 0, &start, &one, &zero) == (marked ? NC_EINTERRUPTED : NC_EWRITE) ||
                    t_rank > 0,
                "an independent put");
    t_local(ncmpi_end_indep_data(ncid) == NC_NOERR, "end_indep_data");
    end_failure(ncid);
    remains = false;
    t_local(go_on(ncid, stop) == NC_NOERR, "%s restores the file", stop_names[stop]);
    t_local(stop == 2 || !is_marked(), "%s: no mark", stop_names[stop]);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    t_local(!is_marked(), "no mark after close");
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    t_local(ncmpi_inq_format(ncid, &format) == NC_NOERR && ncmpi_get_var_int_all(ncid, 0, values) == NC_NOERR, "get");
    for (int i = 0; i < NX; i++)
        wrong += values[i] != i * i;
    t_local(wrong == 0 && ncmpi_close(ncid) == NC_NOERR, "%s: %d values are wrong", stop_names[stop], wrong);
    return marked;
}

static void test_unrestored(void)
{
    for (int stop = 0; stop < STOPS; stop++) {
        int met = 0;

        for (int64_t at = 0; at < 19000; at += t_quick() ? 1511 : 151)
            met += try_unrestored(at, stop);
        t_check(met > 0, "%s restores a file whose change could not be undone (%d times)", stop_names[stop], met);
    }
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("torn_header.nc"));
    memset(text, 'n', sizeof text);
    for (int k = 0; k < (int)(sizeof changes / sizeof *changes); k++) {
        int64_t at = 0, step = t_quick() ? changes[k].step : 1 + changes[k].step / 10;

        while (try_at(k, at))
            at += step;
        t_check(at > 0, "%s: failures at each of %lld bytes, step %lld", changes[k].name, (long long)at,
                (long long)step);
        check_effect(k);
    }
    test_damage();
    test_unrestored();
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
