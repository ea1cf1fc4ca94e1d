/* An enddef that must move data and fails half way leaves header and data of the file unchanged, byte for byte: the
 * disk is full, a limit on the size of files is reached, or a single write fails, at any step. The next enddef succeeds
 * when the cause is removed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../expect.h"
#include "dataset/registry.h"

enum { NX = 61, RECORDS = 23, ROWS = 40 };
enum failure { DISK_FULL, FILE_LIMIT, ONE_ERROR, FAILURES };
static const char *const failure_names[FAILURES] = {"a full disk", "a limit on the file's size", "one failing write"};

/* What is defined anew, and what then must move. */
typedef struct growth {
    const char *what;
    int64_t chunk;      /* smaller than the hint allows: a small file has many pieces */
    int text;           /* bytes of a new attribute */
    bool fixed, record; /* a new variable of the kind */
    bool in_records;    /* the file has record variables */
} growth;

static char path[4096];
static char *old_bytes;
static long old_size;
static MPI_Offset header_end, data_begin; /* what lies between them means nothing */

/* --- a store that fails --- */

static pnc_store_ops faulty;
static const pnc_store_ops *real;
static enum failure kind;
static int64_t limit; /* DISK_FULL: of the file's size; ONE_ERROR: bytes that this rank still writes before it */
static bool failed;

static int64_t allowed(pnc_extent extent)
{
    if (kind == DISK_FULL && extent.offset >= limit)
        return 0;
    if (kind == DISK_FULL)
        return limit - extent.offset < extent.length ? limit - extent.offset : extent.length;
    if (failed || limit >= extent.length) {
        limit -= failed ? 0 : extent.length;
        return extent.length;
    }
    return limit;
}

static int faulty_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    const char *from = buf;

    for (int64_t i = 0; i < n; i++) {
        pnc_extent extent = {extents[i].offset, allowed(extents[i])};
        int err = extent.length > 0 ? real->write(store, &extent, 1, from, error) : NC_NOERR;

        if (err != NC_NOERR)
            return err;
        if (extent.length < extents[i].length) {
            failed = true;
            return pnc_error_set(error, NC_ENO_SPACE, "a failure made by the test");
        }
        from += extent.length;
    }
    return NC_NOERR;
}

static void set_failure(int ncid, int64_t at)
{
    struct rlimit size = {RLIM_INFINITY, RLIM_INFINITY};
    pnc_dataset *ds = pnc_dataset_registry_peek(ncid);

    getrlimit(RLIMIT_FSIZE, &size);
    failed = kind == ONE_ERROR && at % t_nprocs != t_rank;
    limit = at;
    if (kind == FILE_LIMIT) {
        size.rlim_cur = (rlim_t)at;
        t_local(setrlimit(RLIMIT_FSIZE, &size) == 0, "setrlimit");
        return;
    }
    real = ds->file.store->ops;
    faulty = *real;
    faulty.write = faulty_write;
    ds->file.store->ops = &faulty;
}

static void end_failure(int ncid)
{
    struct rlimit size;
    pnc_dataset *ds = pnc_dataset_registry_peek(ncid);

    getrlimit(RLIMIT_FSIZE, &size);
    size.rlim_cur = size.rlim_max;
    setrlimit(RLIMIT_FSIZE, &size);
    if (kind != FILE_LIMIT)
        ds->file.store->ops = real;
}

/* --- the file --- */

static int value_at(int var, int record, int x)
{
    return (var * 31 + record * 7 + x) % 101 + 1;
}

static int rows_of(int var)
{
    return var < 2 ? ROWS : RECORDS;
}

static void put_all(int ncid, int var)
{
    int values[ROWS][NX];
    MPI_Offset first = rows_of(var) * t_rank / t_nprocs, end = rows_of(var) * (t_rank + 1) / t_nprocs;
    MPI_Offset start[2] = {first, 0}, count[2] = {end - first, NX};

    for (MPI_Offset r = first; r < end; r++)
        for (int x = 0; x < NX; x++)
            values[r - first][x] = value_at(var, (int)r, x);
    t_local(ncmpi_put_vara_int_all(ncid, var, start, count, values[0]) == NC_NOERR, "put variable %d", var);
}

static void make_file(const growth *g)
{
    int ncid, dims[2], row, id;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "x", NX, &dims[1]);
    ncmpi_def_dim(ncid, "row", ROWS, &row);
    ncmpi_def_var(ncid, "fixed", NC_INT, 2, (int[]){row, dims[1]}, &id);
    ncmpi_def_var(ncid, "odd", NC_BYTE, 2, (int[]){row, dims[1]}, &id);
    if (g->in_records)
        ncmpi_def_var(ncid, "record", NC_SHORT, 2, dims, &id);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    for (int v = 0; v < (g->in_records ? 3 : 2); v++)
        put_all(ncid, v);
    ncmpi_inq_header_size(ncid, &header_end);
    ncmpi_inq_header_extent(ncid, &data_begin);
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

static char *read_file(long *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        return NULL;
    *size = ftell(file);
    rewind(file);
    bytes = malloc((size_t)*size + 1);
    if (fread(bytes, 1, (size_t)*size, file) != (size_t)*size)
        *size = -1;
    fclose(file);
    return bytes;
}

static int open_and_define(const growth *g, int *ncid)
{
    char text[20000];
    int id, err;

    memset(text, 't', sizeof text);
    err = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, ncid);
    if (err != NC_NOERR)
        return err;
    pnc_dataset_registry_peek(*ncid)->hints.format.data_move_chunk = g->chunk;
    err = ncmpi_redef(*ncid);
    if (g->text > 0)
        ncmpi_put_att_text(*ncid, NC_GLOBAL, "note", g->text, text);
    ncmpi_set_fill(*ncid, NC_FILL, NULL);
    if (g->fixed)
        ncmpi_def_var(*ncid, "new_fixed", NC_DOUBLE, 2, (int[]){2, 1}, &id);
    if (g->record)
        ncmpi_def_var(*ncid, "new_record", NC_BYTE, 2, (int[]){0, 1}, &id);
    return err;
}

/* --- what must hold --- */

static bool is_as_before(void)
{
    long size = 0, bad = 0;
    char *bytes = t_rank == 0 ? read_file(&size) : NULL;
    bool same = true;

    if (t_rank == 0) {
        while (bytes != NULL && bad < size && bad < old_size &&
               (bytes[bad] == old_bytes[bad] || (bad >= header_end && bad < data_begin)))
            bad++;
        same = bytes != NULL && size == old_size && bad == size;
        t_local(same, "%ld bytes that were %ld, the first %ld are the same", size, old_size, bad);
    }
    free(bytes);
    MPI_Bcast(&same, 1, MPI_C_BOOL, 0, MPI_COMM_WORLD);
    return same;
}

static bool has_all_values(int ncid, const growth *g)
{
    bool good = true;

    for (int v = 0; v < (g->in_records ? 3 : 2); v++) {
        int values[ROWS][NX] = {{0}};
        MPI_Offset start[2] = {0, 0}, count[2] = {rows_of(v), NX};

        good = ncmpi_get_vara_int_all(ncid, v, start, count, values[0]) == NC_NOERR && good;
        for (int i = 0; i < rows_of(v) * NX; i++)
            good = good && values[i / NX][i % NX] == value_at(v, i / NX, i % NX);
    }
    return t_local(good, "old values");
}

/* The failure at one place. Returns whether it was met. */
static bool try_at(const growth *g, int64_t at, int *wrong)
{
    int ncid, err, again;

    t_local(open_and_define(g, &ncid) == NC_NOERR, "open");
    set_failure(ncid, at);
    err = ncmpi_enddef(ncid);
    end_failure(ncid);
    if (err == NC_NOERR) {
        t_local(has_all_values(ncid, g), "%s, at %lld: enddef succeeds", g->what, (long long)at);
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
        make_file(g);
        return false;
    }
    if (!is_as_before()) {
        *wrong += 1;
        if (t_rank == 0)
            fprintf(stderr, "# %s, %s at byte %lld\n", g->what, failure_names[kind], (long long)at);
    }
    again = ncmpi_enddef(ncid); /* after room was made on the disk */
    t_local(again == NC_NOERR && has_all_values(ncid, g), "%s, failure at %lld: a second enddef: %s", g->what,
            (long long)at, ncmpi_strerrno(again));
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    make_file(g);
    return true;
}

static void try_growth(const growth *g)
{
    int64_t steps = t_quick() ? 7 : 23, most;

    make_file(g);
    MPI_Barrier(MPI_COMM_WORLD);
    old_bytes = read_file(&old_size);
    for (kind = 0; kind < FAILURES; kind++) {
        int met = 0, wrong = 0;
        /* a full disk is met beyond the old end, the error of a write anywhere in what a rank writes */
        int64_t first = kind == ONE_ERROR ? 0 : old_size;

        most = kind == ONE_ERROR ? (old_size + g->text + 40000) / t_nprocs : 24000;
        for (int64_t i = 0; i < steps; i++)
            met += try_at(g, first + i * most / steps, &wrong);
        t_check(met > 0 && wrong == 0, "%s, %s: of %d failing calls of enddef %d changed the file", g->what,
                failure_names[kind], met, wrong);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(old_bytes);
}

int main(int argc, char **argv)
{
    const growth growths[] = {
        {"a longer header, small pieces", 100, 9000, false, false, true},
        {"a longer header, one piece", 1048576, 9000, false, false, true},
        {"a header longer than the file", 1000, 20000, false, false, false},
        {"a new record variable, small pieces", 100, 300, false, true, true},
        {"a new record variable, one piece", 1048576, 300, false, true, true},
        {"pieces smaller than a record", 50, 0, true, true, true},
        {"a new fixed variable", 4096, 0, true, false, true},
    };

    t_start(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);
    snprintf(path, sizeof path, "%s", t_path("redef_failure.nc"));
    for (size_t i = 0; i < sizeof growths / sizeof growths[0]; i++)
        try_growth(&growths[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
